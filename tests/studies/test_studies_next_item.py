"""The next-item studies: in small, with the test part out of reach while choices are made."""

import dataclasses
import math

import numpy as np
import pytest
import scipy.sparse

from studies import STUDIES, item_runs, next_item
from studies.climb import Rates
from studies.item_runs import INTERPOLATED, POPULARITY, RANKING, Setting, null_model
from studies.item_tasks import INPUTS, SHARES, communities, load_task, make_task
from studies.memo import Memo
from studies.next_item_papers import PAPERS, SHOWN, UNITS, beside_papers, claims_of, negatives_claims
from w2vneg.data.splits import Shares, users_of
from w2vneg.ground.errors import DivergenceError

SCALE = dataclasses.replace(next_item.QUICK, rates=Rates(0.2, 4.0, (0,), 0), starts=((0, 2),))
FEW = {name: next_item.METHODS[name] for name in ("US (UniS)", "PBS", "PS")}


@pytest.fixture(scope="module")
def task():
    return make_task("made-up", communities(3, n_items=30, n_baskets=800), 1, "baskets")


def setting_of(task):
    valid = task.valid.centres, task.valid.targets, task.valid.weights
    return Setting(task, item_runs.pairs_config(task, SCALE, 1), valid)


def quiet(line):
    pass


def test_there_is_a_study_for_every_data_set():
    named = {name for name in STUDIES if name.startswith(("next-item-", "next-word-"))}
    assert len(named) == len(INPUTS) + 1
    assert set(PAPERS) == set(INPUTS) == set(SHOWN)
    assert {"next-item-belgian", "next-item-ml-1m", "next-word-15k", "next-item-negatives"} <= named
    assert STUDIES["next-word-12k"].__doc__.startswith("Next word: all methods of RS table 2")


def test_parts_of_a_task_share_nothing_and_training_pairs_come_from_its_histories(task):
    weights = [task.train.matrix.sum(), task.valid.weights.sum(), task.test.weights.sum()]
    assert np.array(weights) / sum(weights) == pytest.approx(SHARES, abs=0.03)
    whole = communities(3, n_items=30, n_baskets=800)
    dealt = users_of(whole, Shares(*SHARES), np.random.default_rng(1))
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


def test_draws_are_exact_and_rolling_ones_are_rows_of_their_own():
    assert {options["method"] for options in next_item.METHODS.values() if "method" in options} == {"exact"}
    added = {"UBS, rolling", "PBS, rolling", "SP, rolling", "CIS, rolling"}
    assert set(next_item.ROWS) == set(next_item.METHODS) | added
    assert next_item.ROWS["CIS, rolling"] == {"loss": "cis", "method": "rolling"}
    assert next_item.ROWS["CIS"] == {"loss": "cis", "method": "exact"}


def test_among_ten_thousand_targets_exact_draws_come_from_pools_and_nothing_else_changes():
    assert [item_runs.method_of(n) for n in (3_857, 9_999, 10_000, 15_636)] == ["exact", "exact", "pool", "pool"]
    assert item_runs.drawing(next_item.ROWS, "exact") == next_item.ROWS
    pooled = item_runs.drawing(next_item.ROWS, "pool")
    assert list(pooled) == list(next_item.ROWS)
    for name, options in next_item.ROWS.items():
        drawn = options.get("method") == "exact"
        assert pooled[name] == (options | {"method": "pool"} if drawn else options)
    for exact, pool in zip(claims_of(), claims_of("pool"), strict=True):
        assert pool == dataclasses.replace(exact, draws="pool" if exact.draws == "exact" else exact.draws)


def test_null_models_are_counts(task):
    setting = setting_of(task)
    held = setting.held
    counts = np.asarray(task.train.matrix.sum(axis=0)).ravel() + 1
    plain = null_model(setting, POPULARITY)
    expected = held[2] @ np.log(counts / counts.sum())[held[1]] / held[2].sum()
    assert plain["log-likelihood, trained"] == pytest.approx(expected, abs=1e-5)
    assert plain["weight of counts"] == 0
    hits = np.isin(held[1], np.argsort(-counts, kind="stable")[:15])
    assert plain["P@15"] == pytest.approx(held[2] @ hits / held[2].sum(), abs=0.02)
    mixed = null_model(setting, INTERPOLATED)
    assert 0 < mixed["weight of counts"] < 1
    assert mixed["log-likelihood, trained"] > plain["log-likelihood, trained"] + 0.1
    matrix = scipy.sparse.csr_matrix([[0, 3], [1, 0]])
    p = np.exp(item_runs.interpolated(matrix, 0.25)(np.array([0, 1])))
    np.testing.assert_allclose(p, [[0.75 / 3, 0.25 + 1.5 / 3], [0.25 + 0.75 / 3, 1.5 / 3]], rtol=1e-5)


@pytest.mark.slow
def test_nothing_is_chosen_by_the_test_part(task):
    rng = np.random.default_rng(1)
    other = dataclasses.replace(task.test, targets=rng.permutation(task.test.targets))
    wider = dataclasses.replace(SCALE, rates=Rates(0.2, 4.0, (0,), 1))
    chosen = []
    for own in (task, dataclasses.replace(task, test=other)):
        row = (0.0, 1.0), 1.0, RANKING
        options = {"loss": "pbs", "method": "exact"}
        chosen.append(next_item._chosen(setting_of(own), options, row, wider, Memo()))
    assert chosen[0] == chosen[1]
    assert {"loss", "alpha", "temp"} <= set(chosen[0])


@pytest.mark.slow
def test_the_tables_in_small_and_again_from_what_was_kept(task, tmp_path):
    lines, memo = [], Memo(tmp_path / "parts.jsonl", commit="abc")
    methods = {name: next_item.ROWS[name] for name in ("US (UniS)", "PBS", "PBS, rolling", "PS")}
    measured = next_item.measure(task, SCALE, 1, lines.append, memo, methods)
    assert measured.rows == [
        "US (UniS)",
        "PBS",
        "PBS + log Q",
        "PBS, rolling",
        "PBS, rolling + log Q",
        "PS",
        "PS + log Q",
    ]
    best = {row: np.mean(measured.runs[row, "P@15"]) for row in measured.rows}
    assert best["US (UniS)"] > best["PS"]
    assert best["PS + log Q"] > best["PS"] + 0.02
    law, trained = ("log-likelihood, law", "log-likelihood, trained")
    for row in ("PBS", "PBS + log Q"):
        assert set(measured.runs[row, "scale, law"]) == {1 + 1 / 3}
    assert measured.runs["PS", law] == pytest.approx(measured.runs["PS", trained])  # without a temperature: one scale
    fitted = np.array(measured.runs["PS + log Q", "log-likelihood, fitted"])
    assert (fitted > np.array(measured.runs["PS", "log-likelihood, fitted"])).all()
    low = dataclasses.replace(measured, runs={("PS", "P@15"): [0.0, 0.0]})
    assert low.beaten("PS", "P@15") == "popularity beats PS"
    assert measured.beaten("PS + log Q", "log-likelihood, fitted") == ""
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
    assert "±" not in shown["P@1"].iloc[1] and "±" in shown["P@1"].iloc[2]
    assert "PS + log Q" in set(next_item.likelihood_table(measured)["method"])
    again = Memo(tmp_path / "parts.jsonl", commit="def")
    assert next_item.measure(task, SCALE, 1, lines.append, again, methods) == measured
    assert len(memo) == len(again) > 10
    assert again.commits == {"abc"}  # nothing was made anew


@pytest.mark.slow
def test_trials_in_processes_of_their_own_find_the_same(task, tmp_path):
    methods = {"US (UniS)": FEW["US (UniS)"]}
    alone = next_item.measure(task, SCALE, 1, quiet, Memo(), methods)
    memo = Memo(jobs=2)
    try:
        found = next_item.measure(task, SCALE, 1, quiet, memo, methods)
    finally:
        memo.close()
    assert found.chosen == alone.chosen and found.runs.keys() == alone.runs.keys()
    for key, values in alone.runs.items():
        assert found.runs[key] == pytest.approx(values, rel=1e-4)


def test_an_interrupted_run_is_no_measurement(task, monkeypatch):
    class Stopped:
        complete = False

        def __init__(self, *given):
            pass

        def train(self):
            pass

    monkeypatch.setattr(item_runs, "Trainer", Stopped)
    with pytest.raises(KeyboardInterrupt):
        next_item.measure(task, SCALE, 1, quiet, Memo(), FEW)


def test_a_run_that_diverges_is_never_chosen(task, monkeypatch):
    def diverges(setting, options, seed, look):
        raise DivergenceError("too far")

    monkeypatch.setattr(item_runs, "train", diverges)
    assert item_runs.curve(setting_of(task), {"loss": "us"}, 1, (0.0,)) == []


def test_validation_looks_at_whole_centres():
    rng = np.random.default_rng(1)
    centres = np.repeat(np.arange(400), 1000)
    held = centres, rng.integers(0, 9, len(centres)), np.ones(len(centres))
    kept, _, weights = item_runs.thinned(held, 100)
    assert len(kept) == len(weights) == 100_000
    assert set(np.bincount(kept)) == {0, 1000}


def test_claims_name_rows_and_figures_that_there_are():
    names = {next_item.row_name(method, share) for method in next_item.ROWS for share in (0.0, 1.0)}
    claims = claims_of()
    for claim in claims:
        assert {claim.better, claim.worse} <= names
        assert claim.figure in UNITS
        assert (claim.draws == "rolling") == ("rolling" in claim.better + claim.worse)
    assert {claim.draws for claim in claims} == {"", "exact", "rolling"}
    assert next(claim.draws for claim in claims if claim.better == "CIS") == "exact"
    of_five = negatives_claims(("US (UniS)", "PBS"))
    assert [claim.better for claim in of_five] == ["US (UniS), n = 5"] * 2 + ["PBS, n = 5"] * 2 + [
        "PBS, n = 5 + log Q"
    ] * 2


def test_alpha_and_temperature_are_searched_together():
    from studies.climb import warm_at

    options = {"loss": "ubs", "method": "exact"}
    assert warm_at(options, (0, 1), Rates()) == options | {"alpha": 0.025, "temp": 1.0}
    assert warm_at(options, (0, 6), Rates()) == {"loss": "ubs", "alpha": 0.05, "temp": math.inf}
    assert warm_at(options, (0, 7), Rates()) is None


@pytest.mark.realdata
@pytest.mark.parametrize(("name", "items"), [("ml-100k", 1447), ("belgian", 16470)])
def test_tasks_of_named_data(mirror, name, items):
    task = load_task(name)
    assert len(task.train.vocab) == pytest.approx(items, rel=0.1)
    assert len(task.train.vocab) < items  # some are not in the training part
    assert f"{len(task.train.vocab):,} items" in task.line()
