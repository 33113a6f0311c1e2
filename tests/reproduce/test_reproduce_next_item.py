"""The next-item studies: in small, with the test part out of reach while choices are made."""

import dataclasses
import math

import numpy as np
import pytest
import scipy.sparse

from w2vneg.config import TrainConfig
from w2vneg.data.encoded import HeldOut
from w2vneg.data.splits import users_of
from w2vneg.data.vocab import Vocabulary
from w2vneg.evaluation import evaluate_ranking
from w2vneg.reproduce import STUDIES, next_item
from w2vneg.reproduce.item_tasks import INPUTS, SHARES, load_task, make_task
from w2vneg.reproduce.next_item_papers import PAPERS, beside_papers
from w2vneg.search.tuning import Search
from w2vneg.training.model import Model

SCALE = dataclasses.replace(next_item.QUICK, alphas=(0.2,), temps=(3.0,), epochs=2, seeds=2)
FEW = {name: next_item.METHODS[name] for name in ("US (UniS)", "PBS", "PS")}


@pytest.fixture(scope="module")
def task():
    return make_task("made-up", next_item.communities(3, n_items=30, n_baskets=800), "user", 1, "baskets")


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(next_item, "METHODS", FEW)


def test_there_is_a_study_for_every_data_set_and_split():
    named = {name for name in STUDIES if name.startswith("next-")}
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
def test_nothing_is_chosen_by_the_test_part(task, few):
    untested = dataclasses.replace(task, test=None)
    lines = []
    with pytest.raises(AttributeError, match="centres"):  # the first look at the test part is at a baseline's row
        next_item.measure(untested, SCALE, 1, lines.append)
    valid = next_item.Validation(next_item._sampled(task.valid, 1), metric="prec@15")
    common = TrainConfig(source="pairs", pairs_per_epoch=5000, dim=8, epochs=2, workers=1)
    chosen = next_item._chosen(untested, common, {"loss": "pbs"}, SCALE, valid, True)
    assert chosen == {"loss": "pbs", "alpha": 0.2, "temp": 3.0}
    next_item._trained(untested, common, chosen, 1, valid)


@pytest.mark.slow
def test_the_table_in_small(task, few):
    lines = []
    table = next_item.measure(task, SCALE, 1, lines.append)
    assert list(table["method"]) == [
        "popularity",
        "item-item co-occurrence",
        "US (UniS)",
        "PBS",
        "PBS + log Q",
        "PS",
        "PS + log Q",
    ]
    assert len(lines) == 3
    best = table.set_index("method")["P@15"].map(lambda cell: cell[0])
    assert best["US (UniS)"] > best["PS"]
    assert best["PS + log Q"] > best["PS"] + 0.02
    counts = np.asarray(task.train.matrix.sum(axis=0)).ravel()
    hits = np.isin(task.test.targets, np.argsort(-counts, kind="stable")[:15])
    assert best["popularity"] == pytest.approx(task.test.weights @ hits / task.test.weights.sum(), abs=0.02)
    beside = beside_papers("uk", table).set_index("method")
    assert list(beside.index) == ["US (UniS)"]
    assert beside["P@1, CIS"].tolist() == ["2.4"]
    assert float(beside["P@1, here"].iloc[0]) == pytest.approx(100 * table["P@1"].iloc[2][0], abs=0.006)
    beside = beside_papers("ml-1m", table).set_index("method")
    assert beside.loc["PS + log Q", ["MPR, RS", "P@1, CIS"]].tolist() == ["–", "–"]
    assert beside.loc["PBS", "P@50, RS"] == "7.3"
    shown = next_item.printed(table)
    assert "±" in shown["P@1"].iloc[2]
    assert "±" not in shown["P@1"].iloc[0]


@pytest.mark.slow
def test_every_temperature_is_evaluated_with_one_alpha(task):
    table = next_item.measure_temperatures(task, SCALE, 1, lambda line: None)
    assert list(table["method"]) == ["UBS", "UBS", "PBS", "PBS + log Q", "PBS", "PBS + log Q"]
    assert table["T"].tolist() == [3.0, math.inf, 3.0, 3.0, math.inf, math.inf]
    assert set(table["alpha"]) == {0.2}
    assert next_item.METHODS["UBS"] == {"loss": "ubs"}  # what is chosen stays here


def test_by_pair_leaves_out_what_was_trained_on(monkeypatch):
    monkeypatch.setattr(next_item, "METHODS", {"US (UniS)": FEW["US (UniS)"]})
    task = make_task("made-up", next_item.communities(3, n_items=30, n_baskets=800), "pair", 1, "baskets")
    table = next_item.measure(task, SCALE, 1, lambda line: None).set_index("method")
    held = task.test.centres, task.test.targets, task.test.weights
    counts = np.asarray(task.train.matrix.sum(axis=0)).ravel()
    scores = next_item.popularity_scores(counts)
    expected = evaluate_ranking(scores, held, 30, known=task.train.matrix, samples=0, bootstrap=0)
    assert table.loc["popularity", "P@5"][0] == pytest.approx(expected.precision[5])
    assert not (task.train.matrix.multiply(scipy.sparse.coo_matrix((held[2], held[:2]), (30, 30)))).nnz


@pytest.mark.parametrize(
    ("options", "factor"),
    [({"loss": "ps"}, 1.0), ({"loss": "pbs", "temp": 2.0}, 1.5), ({"loss": "pops"}, 1.0), ({"loss": "us"}, None)],
)
def test_the_optimum_of_the_loss_ranks_by_the_conditional_once_noise_is_added(options, factor):
    rng = np.random.default_rng(4)
    counts = np.sort(rng.integers(1, 500, 12))[::-1]
    vocab = Vocabulary([f"i{k:02}" for k in range(12)], counts)
    p = rng.dirichlet(np.ones(12), 12)
    config = TrainConfig(source="pairs", dim=12, **options).resolved()
    model = Model(vocab, config, np.eye(12, dtype=np.float32), np.zeros((12, 12), np.float32))
    noise = next_item.noise_of(model)
    if factor is None:
        assert noise is None
        return
    s = np.log(p) / factor - noise  # where the gradient is 0
    model.vectors_out = np.ascontiguousarray(s.T.astype(np.float32))
    found = next_item.corrected_scores(model)(np.arange(12))
    log_p = found - np.log(np.exp(found).sum(axis=1, keepdims=True))
    np.testing.assert_allclose(log_p, np.log(p), atol=1e-4)


def test_an_interrupted_search_is_no_choice(task, monkeypatch):
    monkeypatch.setattr(next_item, "tune", lambda *args: Search([], None, False, []))
    with pytest.raises(KeyboardInterrupt):
        next_item.measure(task, SCALE, 1, lambda line: None)


def test_validation_looks_at_whole_centres():
    rng = np.random.default_rng(1)
    centres = np.repeat(np.arange(400), 1000)
    held = HeldOut(centres, rng.integers(0, 9, len(centres)), np.ones(len(centres)), 0, len(centres))
    sample = next_item._sampled(held, 7)
    assert len(sample) == pytest.approx(next_item._SAMPLE, rel=0.3)
    assert set(np.bincount(sample.centres)) <= {0, 1000}


def test_without_likelihood_there_is_a_dash():
    assert next_item._interval(math.nan, math.nan) == "–"


@pytest.mark.realdata
@pytest.mark.parametrize(("name", "items"), [("ml-100k", 1447), ("belgian", 16470)])
def test_tasks_of_named_data(mirror, name, items):
    task = load_task(name)
    assert len(task.train.vocab) == pytest.approx(items, rel=0.1)
    assert len(task.train.vocab) < items  # some are not in the training part
    assert f"{len(task.train.vocab):,} items" in task.line()
