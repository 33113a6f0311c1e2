"""Every sampler's draws against probabilities got by enumeration. Runs with and without the JIT (fewer draws)."""

import math
import os

import naive
import numpy as np
import pytest
from scipy import stats

from w2vneg.config import TrainConfig
from w2vneg.errors import ConfigError
from w2vneg.jit import njit
from w2vneg.kernels.contracts import draw, open_sampler
from w2vneg.kernels.linalg import Rows, row_of
from w2vneg.samplers import SAMPLERS, popularity
from w2vneg.samplers.boltzmann import accumulate, find
from w2vneg.setting import Setting

SLOW = os.environ.get("NUMBA_DISABLE_JIT") == "1"
compiled_only = pytest.mark.skipif(SLOW, reason="too many draws for plain Python")
V, DIM = 200, 8
COUNTS = (1e5 / np.arange(1, V + 1) ** 0.9).astype(np.int64)
EXPONENT = 0.75
DEGENERACIES = {"uniform": np.full(V, 1 / V), "popularity": naive.popularity(COUNTS, EXPONENT)}


@pytest.fixture(autouse=True)
def _wrapping_integers():
    """Plain Python warns where uint64 wraps round, which random streams do on purpose."""
    with np.errstate(over="ignore"):
        yield


@njit
def _draw_often(sampler, centre, out, rng, n, ids, log_q, logits):
    state = open_sampler(sampler, n)
    known = False
    for group in range(ids.shape[0]):
        known = draw(sampler, state, group, 0, centre, out, rng, n, ids[group], log_q[group], logits[group])
    return known


@njit
def _draw_and_watch(sampler, centre, out, rng, n, ids, log_q, logits, candidates):
    state = open_sampler(sampler, n)
    for group in range(ids.shape[0]):
        draw(sampler, state, group, 0, centre, out, rng, n, ids[group], log_q[group], logits[group])
        for k in range(candidates.shape[1]):
            candidates[group, k] = state.ids[k]


def make(name, counts=COUNTS, max_draws=10, workers=1, **options):
    """Return a sampler made as the trainer makes it."""
    config = TrainConfig(sampler=name, **options).resolved()
    return SAMPLERS[config.sampler].from_options(config, Setting(counts, DIM, workers, max_draws))


def boltzmann(method="rolling", temp=1.0, degeneracy="uniform", **options):
    for unused in {"sir": ("replaced",), "exact": ("replaced", "candidates")}.get(method, ()):
        options.pop(unused, None)  # the configuration refuses what has no effect
    return make("boltzmann", method=method, temp=temp, degeneracy=degeneracy, **options)


def model(sd, n_vocab=V, seed=5):
    """Return (centre, matrix, logits) whose logits are normal with mean 0 and standard deviation `sd`, exactly."""
    rng = np.random.default_rng(seed)
    centre = rng.normal(size=DIM).astype(np.float32)
    wanted = rng.normal(size=n_vocab)
    wanted = sd * (wanted - wanted.mean()) / wanted.std()
    matrix = rng.normal(size=(n_vocab, DIM))
    matrix += np.outer((wanted - matrix @ centre) / (centre @ centre), centre)
    matrix = matrix.astype(np.float32)
    return centre, matrix, matrix.astype(np.float64) @ centre.astype(np.float64)


def draws(sampler, groups, n=1, centre=None, out=None, seed=1, log_q=True, watch=None):
    """Return (ids, log_q, logits), each (groups, n), one centre drawn for again and again."""
    if centre is None:
        centre, matrix, _ = model(1.0)
        out = Rows(matrix, 0, len(matrix), 0)
    ids = np.full((groups, n), -1, np.int32)
    log_qs = np.full((groups, n if log_q else 0), np.nan, np.float32)
    logits = np.full((groups, n), np.nan, np.float32)
    rng = np.array([seed], np.uint64)
    if watch is None:
        _draw_often(sampler, centre, out, rng, n, ids, log_qs, logits)
    else:
        _draw_and_watch(sampler, centre, out, rng, n, ids, log_qs, logits, watch)
    return ids, log_qs, logits


def p_value(ids, probabilities):
    """Chi-square of draws against a distribution; places expected less than five times are taken together."""
    seen = np.bincount(np.ravel(ids), minlength=len(probabilities)).astype(np.float64)
    expected = probabilities * seen.sum()
    assert seen[probabilities == 0].sum() == 0
    often = expected >= 5
    seen, expected = (np.append(a[often], a[~often].sum()) for a in (seen, expected))
    if expected[-1] < 5:
        seen, expected = seen[:-1], expected[:-1]
    return stats.chisquare(seen, expected * (seen.sum() / expected.sum())).pvalue


def distance(ids, probabilities):
    """Total variation between the draws and a distribution."""
    seen = np.bincount(np.ravel(ids), minlength=len(probabilities)) / np.size(ids)
    return 0.5 * np.abs(seen - probabilities).sum()


def test_uniform_draws_are_uniform():
    ids, log_q, _ = draws(make("uniform"), 2_000 if SLOW else 40_000, n=10)
    assert p_value(ids, DEGENERACIES["uniform"]) > 1e-6
    np.testing.assert_allclose(log_q, -math.log(V), rtol=1e-6)


@pytest.mark.parametrize("exponent", [0.0, 0.5, 0.75, 1.0, -0.3])
def test_popularity_draws_follow_counts_to_the_exponent(exponent):
    ids, log_q, _ = draws(make("popularity", noise_exponent=exponent), 2_000 if SLOW else 40_000, n=10)
    exact = naive.popularity(COUNTS, exponent)
    assert p_value(ids, exact) > 1e-6
    np.testing.assert_allclose(log_q, np.log(exact)[ids], rtol=1e-5)


def test_popularity_survives_huge_counts_and_exponents():
    log_p = popularity.log_popularity(np.array([2**62, 2**31, 1]), 5.0)
    np.testing.assert_allclose(log_p, [0, -5 * 31 * math.log(2), -5 * 62 * math.log(2)], atol=1e-12)


@pytest.mark.parametrize("name", ["uniform", "popularity"])
def test_log_q_is_left_out_when_nobody_reads_it(name):
    with_log_q, _, _ = draws(make(name), 100, n=4)
    without, _, _ = draws(make(name), 100, n=4, log_q=False)
    assert np.array_equal(with_log_q, without)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 7, 8, 63, 64, 1000])
def test_accumulate_gives_running_sums(n):
    values = np.random.default_rng(n).uniform(0, 1, n).astype(np.float32)
    expected = np.cumsum(values.astype(np.float64))
    total = accumulate(values)
    np.testing.assert_allclose(values, expected, rtol=1e-5)
    assert total == values[-1]
    assert (np.diff(values) >= 0).all()


def test_find_gives_the_stretch_a_target_falls_into():
    running = np.array([0.5, 0.5, 2.0, 3.0], np.float32)  # the second weighs nothing
    targets = [0.0, 0.49, 0.5, 1.99, 2.0, 2.99, 3.0, 9.0]
    assert [int(find(running, np.float32(t))) for t in targets] == [0, 0, 2, 2, 3, 3, 3, 3]


def exact_draws(sd, temp, degeneracy, n=2_000, seed=3):
    centre, matrix, logits = model(sd)
    inputs = np.stack([centre, -centre, centre]).astype(np.float32)
    sampler = boltzmann("exact", temp, degeneracy, max_draws=n, workers=2)
    centres = np.full((2, sampler.batch_groups), -1, np.int32)
    centres[0, :3], centres[1, 5] = [0, 1, 2], 0
    sampler.refresh(inputs, matrix, centres, seed)
    return sampler, centre, matrix, logits


@pytest.mark.parametrize("degeneracy", ["uniform", "popularity"])
@pytest.mark.parametrize(("sd", "temp"), [(1.0, 1.0), (2.0, 1.0), (2.0, 0.5), (2.0, 3.0), (3.0, math.inf)])
def test_exact_draws_follow_the_enumerated_distribution(sd, temp, degeneracy):
    n = 2_000 if SLOW else 50_000
    given = DEGENERACIES[degeneracy]
    name = degeneracy if math.isfinite(temp) else given  # an infinite T with a named one is another sampler
    sampler, _, _, logits = exact_draws(sd, temp, name, n)
    for worker, group, sign in [(0, 0, 1), (0, 1, -1), (0, 2, 1), (1, 5, 1)]:
        q = naive.boltzmann(sign * logits, given, temp)
        ids, log_q = sampler.ids[worker, group], sampler.log_q[worker, group]
        assert p_value(ids, q) > 1e-6
        np.testing.assert_allclose(log_q, np.log(q)[ids], rtol=1e-4, atol=1e-4)
    assert not np.array_equal(sampler.ids[0, 0], sampler.ids[0, 2])  # the same centre, other draws
    assert not np.array_equal(sampler.ids[0, 0], sampler.ids[1, 5])


def test_exact_hands_out_what_it_drew_for_the_group_and_worker():
    sampler, centre, matrix, _ = exact_draws(1.0, 1.0, "uniform", 20)
    ids, log_q, _ = draws(sampler, 3, n=5, centre=centre, out=Rows(matrix, 0, V, 0))
    assert np.array_equal(ids, sampler.ids[0, :3, :5])
    assert np.array_equal(log_q, sampler.log_q[0, :3, :5])
    ids, _, _ = draws(sampler, 6, n=5, centre=centre, out=Rows(matrix, 0, V, 1), log_q=False)
    assert np.array_equal(ids[5], sampler.ids[1, 5, :5])


BOUNDS = {  # (standard deviation of logits / T, M) -> bound on the total variation: measured, and about 40 % on top
    (1.0, 16): 0.08,
    (1.0, 64): 0.028,
    (1.0, 1024): 0.015,
    (2.0, 16): 0.30,
    (2.0, 64): 0.11,
    (2.0, 1024): 0.02,
}
EFFORT = {  # M -> centres, draws for each; rolling meets few sets of its own when M is large
    "sir": {16: (400_000, 1), 64: (400_000, 1), 1024: (25_000, 32)},
    "rolling": {16: (400_000, 1), 64: (400_000, 1), 1024: (150_000, 8)},
}


@compiled_only
@pytest.mark.parametrize("method", ["sir", "rolling"])
@pytest.mark.parametrize("degeneracy", ["uniform", "popularity"])
@pytest.mark.parametrize(("sd", "temp"), [(1.0, 1.0), (2.0, 1.0), (1.0, 0.5), (6.0, 3.0)])
def test_candidate_draws_come_nearer_to_the_enumerated_distribution_as_m_grows(method, degeneracy, sd, temp):
    centre, matrix, logits = model(sd)
    q = naive.boltzmann(logits, DEGENERACIES[degeneracy], temp)
    measured = []
    for m, (groups, n) in EFFORT[method].items():
        sampler = boltzmann(method, temp, degeneracy, candidates=m)
        ids, log_q, _ = draws(sampler, groups, n, centre, Rows(matrix, 0, V, 0))
        measured.append(distance(ids, q))
        assert measured[-1] < BOUNDS[sd / temp, m]
    assert measured[0] > 1.8 * measured[1]
    assert measured[1] > 1.2 * measured[2]
    # log q, whose candidates' mean stands for the sum over the vocabulary, is right on average when M is large
    count = np.bincount(ids.ravel(), minlength=V)
    mean_q = np.bincount(ids.ravel(), np.exp(log_q.astype(np.float64)).ravel(), V) / np.maximum(count, 1)
    np.testing.assert_allclose(mean_q[count > 2000], q[count > 2000], rtol=0.05)


@compiled_only
@pytest.mark.parametrize("degeneracy", ["uniform", "popularity"])
def test_sir_among_very_many_candidates_is_exact(degeneracy):
    centre, matrix, logits = model(1.5)
    sampler = boltzmann("sir", 1.0, degeneracy, candidates=16384)
    ids, log_q, _ = draws(sampler, 2_000, 20, centre, Rows(matrix, 0, V, 0))
    q = naive.boltzmann(logits, DEGENERACIES[degeneracy], 1.0)
    assert p_value(ids, q) > 1e-6
    np.testing.assert_allclose(log_q, np.log(q)[ids], atol=0.1)


@pytest.mark.parametrize("method", ["sir", "rolling"])
@pytest.mark.parametrize("temp", [1e6, math.inf])
def test_a_very_high_temperature_leaves_the_degeneracy(method, temp):
    centre, matrix, _ = model(2.0)
    given = DEGENERACIES["popularity"]
    sampler = boltzmann(method, temp, given, candidates=16, replaced=16)
    ids, log_q, _ = draws(sampler, 2_000 if SLOW else 100_000, 1, centre, Rows(matrix, 0, V, 0))
    assert p_value(ids, given) > 1e-6
    np.testing.assert_allclose(log_q, np.log(given)[ids], atol=1e-4)


def test_a_very_low_temperature_takes_the_hardest_candidate():
    centre, matrix, logits = model(1.0)
    sampler = boltzmann("sir", 1e-4, "uniform", candidates=16)
    groups, n = 100 if SLOW else 5_000, 6
    seen = np.empty((groups, 16), np.int32)
    ids, log_q, values = draws(sampler, groups, n, centre, Rows(matrix, 0, V, 0), watch=seen)
    hardest = logits[seen].max(axis=1)
    np.testing.assert_allclose(values, np.broadcast_to(hardest[:, None], ids.shape), rtol=1e-5)
    assert np.isfinite(log_q).all()


@pytest.mark.parametrize("temp", [1e-30, 1e-300])
@pytest.mark.parametrize("method", ["sir", "exact"])
def test_an_absurdly_low_temperature_still_takes_the_hardest(method, temp):
    centre, matrix, logits = model(1.0)
    sampler = boltzmann(method, temp, "uniform", candidates=64)
    if method == "exact":
        centres = np.full((1, sampler.batch_groups), -1, np.int32)
        centres[0, 0] = 0
        sampler.refresh(centre[None], matrix, centres, 1)
        ids, hardest = sampler.ids[0, 0], logits.argmax()
        assert set(ids) == {hardest}
    else:
        seen = np.empty((20, 64), np.int32)
        ids, _, values = draws(sampler, 20, 3, centre, Rows(matrix, 0, V, 0), watch=seen)
        np.testing.assert_allclose(values, np.broadcast_to(logits[seen].max(axis=1)[:, None], ids.shape), rtol=1e-5)


@pytest.mark.parametrize("method", ["sir", "rolling"])
def test_logits_are_the_dot_products_and_log_q_has_one_normaliser_a_centre(method):
    centre, matrix, logits = model(2.0)
    given, temp = DEGENERACIES["popularity"], 0.8
    seen = np.empty((50, 32), np.int32)
    sampler = boltzmann(method, temp, "popularity", candidates=32)
    ids, log_q, values = draws(sampler, 50, 10, centre, Rows(matrix, 0, V, 0), watch=seen)
    np.testing.assert_allclose(values, logits[ids], rtol=1e-4, atol=1e-5)
    means = np.log(np.exp(logits[seen] / temp).mean(axis=1))
    np.testing.assert_allclose(log_q, np.log(given)[ids] + logits[ids] / temp - means[:, None], atol=1e-4)
    assert all(set(drawn) <= set(candidates) for drawn, candidates in zip(ids, seen, strict=True))


def test_candidates_are_scored_by_the_workers_own_copies():
    centre, matrix, logits = model(2.0)
    n_private, worker = 50, 1
    tall = np.full((V + 3 * n_private, DIM), np.nan, np.float32)
    first = V + worker * n_private
    tall[n_private:V], tall[first : first + n_private] = matrix[n_private:], matrix[:n_private]
    out = Rows(tall, n_private, first, worker)
    ids, _, values = draws(boltzmann(candidates=32), 200, 5, centre, out)
    assert ids.min() < n_private < ids.max()
    np.testing.assert_allclose(values, logits[ids], rtol=1e-4, atol=1e-5)
    assert row_of(out, 3) == first + 3


@pytest.mark.parametrize(("m", "replaced"), [(64, 8), (10, 3), (7, 7), (5, 1), (1, 1)])
def test_rolling_replaces_its_candidates_a_few_at_a_time_in_turn(m, replaced):
    n_vocab, groups = 5_000, 60
    centre, matrix, _ = model(1.0, n_vocab)
    seen = np.empty((groups, m), np.int32)
    sampler = boltzmann(counts=np.ones(n_vocab, np.int64), candidates=m, replaced=replaced)
    draws(sampler, groups, 2, centre, Rows(matrix, 0, n_vocab, 0), watch=seen)
    renewed = 0
    for group in range(1, groups):
        turn = {place % m for place in range((group - 1) * replaced, group * replaced)}
        changed = set(np.flatnonzero(seen[group] != seen[group - 1]))
        assert changed <= turn
        renewed += len(changed)
    assert renewed > 0.97 * (groups - 1) * replaced  # now and then a place gets the same word again


def test_sir_replaces_all_candidates():
    n_vocab = 5_000
    centre, matrix, _ = model(1.0, n_vocab)
    seen = np.empty((40, 16), np.int32)
    sampler = boltzmann("sir", counts=np.ones(n_vocab, np.int64), candidates=16)
    draws(sampler, 40, 2, centre, Rows(matrix, 0, n_vocab, 0), watch=seen)
    assert (seen[1:] != seen[:-1]).mean() > 0.99


@pytest.mark.parametrize("method", ["rolling", "sir", "exact"])
def test_a_given_degeneracy_is_followed_and_its_zeros_never_drawn(method):
    centre, matrix, logits = model(1.0)
    weights = np.random.default_rng(8).uniform(0, 5, V)
    weights[::3] = 0
    q = naive.boltzmann(logits, weights, 1.0)
    if method == "exact":
        sampler = boltzmann(method, 1.0, weights, max_draws=2_000 if SLOW else 50_000)
        centres = np.full((1, sampler.batch_groups), -1, np.int32)
        centres[0, 0] = 0
        sampler.refresh(centre[None], matrix, centres, 1)
        assert p_value(sampler.ids[0, 0], q) > 1e-6
        return
    groups, m = (300, 64) if SLOW else (100_000, 512)
    sampler = boltzmann(method, 1.0, weights, candidates=m, replaced=m)
    ids, _, _ = draws(sampler, groups, 4, centre, Rows(matrix, 0, V, 0))
    assert (weights[ids] > 0).all()
    assert SLOW or distance(ids, q) < 0.015


@pytest.mark.parametrize(
    "weights", [[1.0, 2.0], np.zeros(V), np.r_[-1.0, np.ones(V - 1)], np.r_[np.nan, np.ones(V - 1)], np.full(V, np.inf)]
)
def test_a_degeneracy_that_is_none_is_refused(weights):
    with pytest.raises(ConfigError, match="degeneracy must hold 200"):
        boltzmann(degeneracy=weights)


@pytest.mark.parametrize("method", ["rolling", "sir"])
def test_a_stream_repeats_its_draws(method):
    one, again, other = (draws(boltzmann(method), 50, 3, seed=seed)[0] for seed in (1, 1, 2))
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)


@pytest.mark.parametrize("name", sorted(SAMPLERS))
def test_every_sampler_stays_within_the_vocabulary(name):
    sampler = make(name)
    centre, matrix, _ = model(3.0)
    if hasattr(sampler, "refresh"):
        centres = np.zeros((1, sampler.batch_groups), np.int32)
        sampler.refresh(centre[None], matrix, centres, 1)
    ids, log_q, _ = draws(sampler, 100, 7, centre, Rows(matrix, 0, V, 0), log_q=sampler.gives_log_q)
    assert 0 <= ids.min() <= ids.max() < V
    assert np.isfinite(log_q).all()
    assert log_q.size == 0 or log_q.max() < 1
