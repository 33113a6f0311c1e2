"""The next-item studies: in small, with the test part out of reach while choices are made."""

import dataclasses

import numpy as np
import pytest
import scipy.sparse

from studies import STUDIES, next_item, next_item_runs
from studies.item_tasks import INPUTS, SHARES, load_task, make_task
from studies.memo import Memo
from studies.next_item_papers import CLAIMS, PAPERS, UNITS, beside_papers
from studies.next_item_runs import ranked, tempered
from w2vneg.data.encoded import HeldOut
from w2vneg.data.splits import users_of
from w2vneg.ground.errors import DivergenceError
from w2vneg.vectors.evaluation import evaluate_ranking

SCALE = dataclasses.replace(next_item.QUICK, alphas=(1,), temps=(2,), steps=0)
FEW = {name: next_item.METHODS[name] for name in ("US (UniS)", "PBS", "PS")}


@pytest.fixture(scope="module")
def task():
    return make_task("made-up", next_item.communities(3, n_items=30, n_baskets=800), "user", 1, "baskets")


def test_there_is_a_study_for_every_data_set_and_split():
    named = {name for name in STUDIES if name.startswith(("next-item-", "next-word-"))}
    assert len(named) == 2 * len(INPUTS) + 1
    assert set(PAPERS) == set(INPUTS)
    assert {"next-item-belgian", "next-item-ml-1m-by-pair", "next-word-15k"} <= named
    assert STUDIES["next-word-12k"].__doc__.startswith("Next word: all methods of RS table 2")


def test_parts_of_a_task_share_nothing_and_training_pairs_come_from_its_histories(task):
    weights = [task.train.matrix.sum(), task.valid.weights.sum(), task.test.weights.sum()]
    assert np.array(weights) / sum(weights) == pytest.approx(SHARES, abs=0.03)
    whole = next_item.communities(3, n_items=30, n_baskets=800)
    dealt = users_of(whole, SHARES, 1)
    assert sum(len(offsets) - 1 for _, offsets in dealt.values()) == whole.n_sentences
    sums = np.asarray(task.train.matrix.sum(axis=0)).ravel() * 2  # both ways: rows have the same sums
    assert np.array_equal(task.train.vocab.counts, sums)
    together = np.zeros(task.train.matrix.shape)
    history = task.histories
    for begin, end in zip(history.offsets[:-1], history.offsets[1:], strict=True):
        items = history.ids[begin:end]
        together[np.ix_(items, items)] += 1
    np.fill_diagonal(together, 0)
    assert np.array_equal(together, task.train.matrix.toarray())


@pytest.mark.slow
def test_nothing_is_chosen_by_the_test_part(task):
    rng = np.random.default_rng(1)
    other = dataclasses.replace(task.test, targets=rng.permutation(task.test.targets))
    wider = dataclasses.replace(SCALE, alphas=(0, 1), temps=(2, 3))
    chosen = []
    for own in (task, dataclasses.replace(task, test=other)):
        setting = next_item._setting(own, wider, 1)
        row = (0.0, 1.0), 1.0, next_item.RANKING
        chosen.append(next_item._chosen(setting, {"loss": "pbs"}, row, wider, Memo()))
    assert chosen[0] == chosen[1]
    assert set(chosen[0]) == {"loss", "alpha", "temp"}


@pytest.mark.slow
def test_the_tables_in_small_and_again_from_what_was_kept(task, tmp_path):
    lines, memo = [], Memo(tmp_path / "parts.jsonl")
    measured = next_item.measure(task, SCALE, 1, lines.append, memo, FEW)
    assert measured.rows == ["US (UniS)", "PBS", "PBS + log Q", "PS", "PS + log Q"]
    best = {row: np.mean(measured.runs[row, "P@15"]) for row in measured.rows}
    assert best["US (UniS)"] > best["PS"]
    assert best["PS + log Q"] > best["PS"] + 0.02
    law, trained = ("log-likelihood, law", "log-likelihood, trained")
    for row in ("PBS", "PBS + log Q"):
        assert set(measured.runs[row, "scale, law"]) == {1 + 1 / 3}
    assert measured.runs["PS", law] == pytest.approx(measured.runs["PS", trained])  # without a temperature: one scale
    fitted = np.array(measured.runs["PS + log Q", "log-likelihood, fitted"])
    assert (fitted > np.array(measured.runs["PS", "log-likelihood, fitted"])).all()
    counts = np.asarray(task.train.matrix.sum(axis=0)).ravel()
    hits = np.isin(task.test.targets, np.argsort(-counts, kind="stable")[:15])
    expected = task.test.weights @ hits / task.test.weights.sum()
    assert measured.baselines["popularity"]["P@15"] == pytest.approx(expected, abs=0.02)
    beside = beside_papers("uk", measured).set_index("method")
    assert list(beside.index) == ["US (UniS)"]
    assert beside["P@1, CIS"].tolist() == ["2.4"]
    assert float(beside["P@1, here"].iloc[0]) == pytest.approx(
        100 * np.mean(measured.runs["US (UniS)", "P@1"]), abs=0.006
    )
    beside = beside_papers("ml-1m", measured).set_index("method")
    assert beside.loc["PS + log Q", ["MPR, RS", "P@1, CIS"]].tolist() == ["–", "–"]
    assert beside.loc["PBS", "P@50, RS"] == "7.3"
    shown = next_item.ranking_table(measured)
    assert "±" in shown["P@1"].iloc[2]
    assert "±" not in shown["P@1"].iloc[0]
    again = next_item.measure(task, SCALE, 1, lines.append, Memo(tmp_path / "parts.jsonl"), FEW)
    assert again == measured
    assert len(memo) == len(Memo(tmp_path / "parts.jsonl")) > 10


@pytest.mark.slow
def test_every_temperature_has_rows_of_its_own(monkeypatch):
    monkeypatch.setattr(next_item, "QUICK", SCALE)
    study = STUDIES["next-word-15k-temperatures"](lambda line: None, True, 1)
    table = study.tables["temperatures"]
    names = [name for name in table["method"] if "T = " in name]
    assert names[:3] == ["UBS, T = 1", "UBS, T = inf", "PBS, T = 1"]
    assert set(table["T"]) == {"", "1", "inf"}
    assert next_item.METHODS["UBS"] == {"loss": "ubs"}  # what is chosen stays here


def test_by_pair_leaves_out_what_was_trained_on():
    task = make_task("made-up", next_item.communities(3, n_items=30, n_baskets=800), "pair", 1, "baskets")
    setting = next_item._setting(task, SCALE, 1)
    held = task.test.centres, task.test.targets, task.test.weights
    scores = next_item._baseline(task, "popularity")
    expected = evaluate_ranking(scores, held, 30, known=task.train.matrix, samples=0, bootstrap=0)
    assert ranked(setting, scores)["P@5"] == pytest.approx(expected.precision[5])
    found = tempered(setting, scores, 1.0, 1.0)["log-likelihood, law"]
    assert found == pytest.approx(-expected.nll, abs=1e-4)
    assert not (task.train.matrix.multiply(scipy.sparse.coo_matrix((held[2], held[:2]), (30, 30)))).nnz


def test_an_interrupted_run_is_no_measurement(task, monkeypatch):
    class Stopped:
        complete = False

        def __init__(self, *given):
            pass

        def train(self):
            pass

    monkeypatch.setattr(next_item_runs, "Trainer", Stopped)
    with pytest.raises(KeyboardInterrupt):
        next_item.measure(task, SCALE, 1, lambda line: None)


def test_a_run_that_diverges_is_never_chosen(task, monkeypatch):
    def diverges(setting, options, seed, look):
        raise DivergenceError("too far")

    monkeypatch.setattr(next_item_runs, "train", diverges)
    assert next_item_runs.curve(next_item._setting(task, SCALE, 1), {"loss": "us"}, 1, (0.0,)) == []


def test_validation_looks_at_whole_centres():
    rng = np.random.default_rng(1)
    centres = np.repeat(np.arange(400), 1000)
    held = HeldOut(centres, rng.integers(0, 9, len(centres)), np.ones(len(centres)), 0, len(centres))
    centres, _, _ = next_item._sampled(held, 7)
    assert len(centres) == pytest.approx(next_item._SAMPLE, rel=0.3)
    assert set(np.bincount(centres)) <= {0, 1000}


def test_claims_name_rows_and_figures_that_there_are():
    names = {next_item.row_name(method, share) for method in next_item.METHODS for share in (0.0, 1.0)}
    for claim in CLAIMS:
        assert {claim.better, claim.worse} <= names
        assert claim.figure in UNITS


@pytest.mark.realdata
@pytest.mark.parametrize(("name", "items"), [("ml-100k", 1447), ("belgian", 16470)])
def test_tasks_of_named_data(mirror, name, items):
    task = load_task(name)
    assert len(task.train.vocab) == pytest.approx(items, rel=0.1)
    assert len(task.train.vocab) < items  # some are not in the training part
    assert f"{len(task.train.vocab):,} items" in task.line()
