"""What the studies of the law and of next items are made of: each part against a closed form or brute force."""

import dataclasses
import itertools
import math

import numpy as np
import pytest
import scipy.sparse
import scipy.stats

from studies import item_runs, law_fit
from studies.climb import Rates, best_place, temp_at
from studies.item_runs import untempered
from studies.memo import Memo
from studies.verdicts import FAILS, HOLDS, OPEN, Claim, Unit, interval, judged, verdict
from w2vneg.config import TrainConfig
from w2vneg.data.vocab import Vocabulary
from w2vneg.ground.errors import OutputError
from w2vneg.run.model import Model

# ---- memo


def test_what_was_found_is_not_made_again_in_the_next_process(tmp_path):
    path, made = tmp_path / "parts.jsonl", []

    def make():
        made.append(1)
        return {"value": [1.5, math.inf, None]}

    assert Memo(path)([1, {"b": 2, "a": 1}], make) == Memo(path)([1, {"a": 1, "b": 2}], make)
    assert (len(made), len(Memo(path))) == (1, 1)


def test_seconds_of_parts_add_up_over_processes(tmp_path, monkeypatch):
    clock = iter([10.0, 12.0, 20.0, 25.0])
    monkeypatch.setattr("studies.memo.time.perf_counter", lambda: next(clock))
    Memo(tmp_path / "parts.jsonl")("a", lambda: 1)
    again = Memo(tmp_path / "parts.jsonl")
    again("b", lambda: 2)
    assert again.seconds == 7.0 == Memo(tmp_path / "parts.jsonl").seconds


def test_parts_know_the_commit_that_made_them(tmp_path):
    path = tmp_path / "parts.jsonl"
    Memo(path, commit="old")("a", int)
    memo = Memo(path, commit="new")
    memo("a", int)
    assert memo.commits == {"old"}
    memo.under("b")("c", int)
    assert memo.commits == {"old", "new"}
    assert Memo(path)(["b", "c"], None) == 0


def test_several_jobs_make_parts_once_and_in_order(tmp_path):
    memo = Memo(tmp_path / "parts.jsonl", jobs=2)
    try:
        found = memo.each(lambda n: memo(["root", n % 3], math.isqrt, 100 * (n % 3)), range(6))
        assert found == [0, 10, 14] * 2
        assert len(memo) == len(Memo(tmp_path / "parts.jsonl")) == 3
        with pytest.raises(ValueError, match="nonnegative"):
            memo("wrong", math.isqrt, -1)
        assert len(memo) == 3
    finally:
        memo.close()


def test_a_line_that_was_cut_short_is_made_again(tmp_path):
    path = tmp_path / "parts.jsonl"
    memo = Memo(path)
    memo("a", lambda: 1)
    memo("b", lambda: 2)
    path.write_bytes(path.read_bytes()[:-3])
    again = Memo(path)
    assert (len(again), again("a", None), again("b", lambda: 3)) == (1, 1, 3)
    assert Memo(path)("b", None) == 3


def test_a_memo_that_cannot_be_kept_says_so(tmp_path):
    with pytest.raises(OutputError, match="cannot write"):
        Memo(tmp_path / "nowhere" / "parts.jsonl")("a", lambda: 1)


# ---- the grid


def test_the_search_leaves_its_box_until_the_winner_has_worse_neighbours():
    asked = []

    def value(place):
        asked.append(place)
        return -((place[0] + 3) ** 2) - 0.5 * (place[0] + 3) * (place[1] - 4) - (place[1] - 4) ** 2

    best = best_place(value, [(0, 1), (1, 2)])
    assert best == (-3, 4)
    neighbours = {tuple(np.add(best, move)) for move in ((0, 1), (0, -1), (1, 0), (-1, 0))}
    assert neighbours <= set(asked)
    assert best_place(value, [(0, 1), (1, 2)], steps=0) == (0, 1)


def test_a_low_rate_that_is_best_of_its_neighbourhood_alone_does_not_win():
    values = {0.003125: 1.0, 0.0125: 0.5, 0.05: 0.7, 0.2: 2.0}  # popularity at .003, a model at .2
    assert Rates().best(lambda rate: values.get(rate, 0.0)) == 0.2
    assert Rates(starts=(-2,)).best(lambda rate: values.get(rate, 0.0)) == 0.003125


def test_a_temperature_ends_at_infinity_and_nowhere_below():
    assert [temp_at(place) for place in (-2, -1, 0, 6, 7)] == [0.125, 0.25, 0.5, math.inf, None]
    assert Rates().at(-1) == 0.0125
    hot = best_place(lambda place: -math.inf if temp_at(place[0]) is None else place[0], [(2,)])
    assert temp_at(hot[0]) == math.inf


# ---- tempering


@pytest.fixture
def logits():
    return np.random.default_rng(2).normal(size=(5, 7)).astype(np.float32)


def _held(probabilities):
    rows, columns = np.indices(probabilities.shape)
    return rows.ravel(), columns.ravel(), probabilities.ravel()


def _softmax(scores):
    odds = np.exp(scores - scores.max(axis=1, keepdims=True))
    return odds / odds.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("true", [0.3, 1.0, 4.0])
def test_the_scale_that_made_the_data_is_found(logits, true):
    p = _softmax(true * logits.astype(np.float64))
    scale, value = item_runs.fitted_scale(lambda rows: logits[rows].copy(), _held(p), 7)
    assert scale == pytest.approx(true, rel=1e-3)
    assert value == pytest.approx((p * np.log(p)).sum() / 5, abs=1e-5)


def test_likelihoods_are_those_of_plain_arithmetic(logits, monkeypatch):
    monkeypatch.setattr(item_runs, "_SCORES", 14)  # two rows at a time
    weights = np.random.default_rng(3).random(logits.shape)
    held = _held(weights)
    found = item_runs.likelihoods(lambda rows: logits[rows].copy(), held, 7, (1.0, 2.0))
    for scale, (log_p, p) in zip((1.0, 2.0), found, strict=True):
        g = _softmax(scale * logits.astype(np.float64))[held[0], held[1]]
        assert log_p == pytest.approx(held[2] @ np.log(g) / held[2].sum(), abs=1e-6)
        assert p == pytest.approx(held[2] @ g / held[2].sum(), abs=1e-6)


def test_equation_9_likes_an_overconfident_model_better_than_the_truth():
    found = item_runs.improper()
    assert found[1.0][1] == pytest.approx(0.52)
    assert max(found, key=lambda scale: found[scale][0]) == 1.0
    assert max(found, key=lambda scale: found[scale][1]) == 8.0


# ---- verdicts

CLAIM = Claim("RS", "a beats b", "a", "b", "P@15")


@pytest.mark.parametrize(
    ("differences", "least", "expected"),
    [
        ([1.0, 1.1, 0.9], 0.5, HOLDS),
        ([0.1, 0.11, 0.09], 0.5, FAILS),  # ahead, but not by what matters
        ([-1.0, -1.1, -0.9], 0.0, FAILS),
        ([1.0, -1.0, 0.5], 0.0, OPEN),
    ],
)
def test_a_claim_is_judged_by_its_whole_interval(differences, least, expected):
    assert verdict(CLAIM, differences, least).verdict == expected


@pytest.mark.parametrize(
    ("differences", "expected"),
    [
        ([0.5, 0.51, 0.49], HOLDS),
        ([-0.5, -0.51, -0.49], HOLDS),
        ([-3.0, -3.1, -2.9], FAILS),
        ([1.9, 2.0, 2.1], OPEN),
    ],
)
def test_a_claim_of_equality_is_judged_by_its_margin(differences, expected):
    assert verdict(dataclasses.replace(CLAIM, margin=2.0), differences).verdict == expected


@pytest.mark.parametrize(
    ("differences", "expected"), [([5.1, 5.2, 5.3], HOLDS), ([4.0, 5.0, 6.0], OPEN), ([3.1, 3.2, 3.3], FAILS)]
)
def test_a_claim_of_a_lead_of_some_size_holds_beyond_it(differences, expected):
    assert verdict(dataclasses.replace(CLAIM, by=4.5), differences).verdict == expected


def test_intervals_are_student_s_and_wider_for_more_comparisons():
    values = [1.0, 2.0, 4.0]
    expected = scipy.stats.t.interval(0.95, 2, np.mean(values), scipy.stats.sem(values))
    assert interval(values)[1:] == pytest.approx(expected)
    assert interval(values, 10)[1] < interval(values)[1]
    assert interval([3.0]) == (3.0, -math.inf, math.inf)


def test_runs_are_paired_by_seed_and_absent_rows_left_out():
    runs = {("a", "P@15"): [0.5, 0.7], ("b", "P@15"): [0.4, 0.6]}
    absent = Claim("RS", "c beats b", "c", "b", "P@15")
    (found,) = judged([CLAIM, absent], runs, {"P@15": Unit(100.0, "points")})
    assert (found.verdict, found.seeds, found.comparisons, found.unit) == (HOLDS, 2, 1, "points")
    assert (found.measure, found.draws, found.note) == ("P@15", "", "")
    told = judged(
        [dataclasses.replace(CLAIM, draws="pool")],
        runs,
        {},
        lambda row, figure: f"popularity beats {row}" * (row == "a"),
    )
    assert (told[0].draws, told[0].note) == ("pool", "popularity beats a")
    assert found.difference == pytest.approx(10.0)
    assert found.high - found.low < 1e-6  # each run has a spread of 20 points, their difference none


# ---- the law


def _gradient(s, p, q, n, weights=None):
    """Gradient of the relaxed softmax's expected loss by s, its draws and weights held fixed, by brute force."""
    v = len(s)
    odds, weights = np.exp(s), np.ones(v) if weights is None else weights
    gradient = np.zeros(v)
    for j in range(v):
        for draws in itertools.product(range(v), repeat=n):
            chance = p[j] * np.prod(q[list(draws)])
            parts = np.r_[odds[j], weights[list(draws)] * odds[list(draws)]]
            shares = chance * parts / parts.sum()
            gradient[j] += shares[0] - chance
            np.add.at(gradient, list(draws), shares[1:])
    return gradient


@pytest.mark.parametrize("n", [1, 3])
@pytest.mark.parametrize("temp", [0.5, 1.0, 6.0, math.inf])
def test_the_law_is_where_the_gradient_vanishes_for_any_number_of_negatives(n, temp):
    rng = np.random.default_rng(5)
    p, d = rng.dirichlet(np.ones(5)), rng.dirichlet(np.ones(5))
    share = 1.0 if math.isinf(temp) else temp / (1 + temp)
    s = share * (np.log(p) - np.log(d)) + 0.7
    q = d * np.exp(s / temp)
    assert np.abs(_gradient(s, p, q / q.sum(), n)).max() < 1e-12
    other = 1.1 * s
    q = d * np.exp(other / temp)
    assert np.abs(_gradient(other, p, q / q.sum(), n)).max() > 1e-4


@pytest.mark.parametrize("temp", [1.0, math.inf])
def test_with_one_negative_an_ideal_discriminator_leaves_the_law_as_it_is(temp):
    rng = np.random.default_rng(8)
    p, d = rng.dirichlet(np.ones(6)), rng.dirichlet(np.ones(6))
    s = (1.0 if math.isinf(temp) else temp / (1 + temp)) * (np.log(p) - np.log(d))
    q = d * np.exp(s / temp)
    q /= q.sum()
    assert np.abs(_gradient(s, p, q, 1, q / (p + q))).max() < 1e-12
    assert np.abs(_gradient(s, p, q, 2, 2 * q / (p + 2 * q))).max() > 1e-4  # with more, not quite


def test_the_discriminator_settles_at_the_log_ratio():
    rng = np.random.default_rng(6)
    p, g = rng.dirichlet(np.ones(6)), rng.dirichlet(np.ones(6))
    for n in (1, 4):
        d = np.log(p / (n * g))
        assert -p / (1 + np.exp(d)) + n * g / (1 + np.exp(-d)) == pytest.approx(0.0, abs=1e-12)
        assert 1 / (1 + np.exp(d)) == pytest.approx(n * g / (p + n * g))


@pytest.mark.parametrize(
    "options",
    [{"loss": "ps"}, {"loss": "pbs", "temp": 2.0}, {"loss": "pops"}, {"loss": "us"}, {"loss": "mle"}, {"loss": "ubs"}],
)
def test_a_model_at_the_law_is_found_there_and_is_likely_once_corrected(options):
    rng = np.random.default_rng(4)
    counts = rng.integers(20, 500, (12, 12))
    p = counts / counts.sum(axis=1, keepdims=True)
    vocab = Vocabulary([f"i{k:02}" for k in range(12)], np.sort(rng.integers(1, 500, 12))[::-1])
    config = TrainConfig(source="pairs", dim=12, **options).resolved()
    model = Model(vocab, config, np.eye(12, dtype=np.float32), np.zeros((12, 12), np.float32))
    factor, log_noise = law_fit.settled(model)
    s = (np.log(p) - (0.0 if log_noise is None else log_noise)) / factor + rng.normal(size=(12, 1))
    model.vectors_out = np.ascontiguousarray(s.T.astype(np.float32))
    pairs = law_fit.frequent_pairs(scipy.sparse.csr_matrix(counts), least=50)
    assert len(pairs.counts) == (counts >= 50).sum()
    found = law_fit.against_law(model, pairs)
    assert np.diff(found.pop("bins"), axis=0).min() > 0
    assert found == pytest.approx({law_fit.POPULAR: 1.0, law_fit.PMI: 1.0, "R²": 1.0}, abs=1e-4)
    score, found = untempered(model, 1.0)
    assert found == factor
    np.testing.assert_allclose(_softmax(factor * score(np.arange(12)).astype(np.float64)), p, rtol=1e-4)


def test_slopes_on_popularity_and_pmi_are_told_apart():
    rng = np.random.default_rng(9)
    counts = rng.integers(50, 500, (10, 10))
    pairs = law_fit.frequent_pairs(scipy.sparse.csr_matrix(counts), least=50)
    popular = np.log(counts.sum(axis=0) / counts.sum())
    pmi = np.log(counts / counts.sum(axis=1, keepdims=True)) - popular
    scores = 0.3 * popular + 0.8 * pmi + rng.normal(size=(10, 1))
    vocab = Vocabulary([f"i{k}" for k in range(10)], np.ones(10, int))
    eye, out = np.eye(10, dtype=np.float32), np.ascontiguousarray(scores.T.astype(np.float32))
    model = Model(vocab, TrainConfig(source="pairs", dim=10, loss="mle").resolved(), eye, out)
    found = law_fit.against_law(model, pairs)
    assert (found[law_fit.POPULAR], found[law_fit.PMI]) == pytest.approx((0.3, 0.8), abs=1e-4)


def test_weights_at_the_fixed_point_are_found_there():
    rng = np.random.default_rng(7)
    counts = rng.integers(1, 50, (8, 8))
    p, s = counts / counts.sum(axis=1, keepdims=True), rng.normal(size=(8, 8))
    g, n = _softmax(s), 3
    config = TrainConfig(source="pairs", dim=8, loss="cis").resolved()
    eye = np.eye(8, dtype=np.float32)
    model = Model(Vocabulary([f"i{k}" for k in range(8)], np.ones(8, int)), config, eye, s.T.astype(np.float32).copy())
    model.extra = {"discriminator_in": eye, "discriminator_out": np.log(p / (n * g)).T.astype(np.float32)}
    found = law_fit.discriminator_weights(model, scipy.sparse.csr_matrix(counts), n)
    assert found["agreement"] == pytest.approx(1.0, abs=1e-6)
    assert found["spread of ω, learned"] == pytest.approx(found["spread of ω, fixed point"], rel=1e-5)
    more = law_fit.discriminator_weights(model, scipy.sparse.csr_matrix(counts), 100)
    assert more["spread of ω, fixed point"] < 0.2 * found["spread of ω, fixed point"]  # constant as n grows
