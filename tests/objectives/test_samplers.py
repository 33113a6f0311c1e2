"""Every sampler's draws against probabilities got by enumeration. Runs with and without the JIT (fewer draws)."""

import itertools
import math

import naive
import numpy as np
import pytest
from drawing import (
    COUNTS,
    DEGENERACIES,
    DIM,
    ISOLATED,
    SLOW,
    TEXT,
    V,
    boltzmann,
    compiled_only,
    distance,
    draws,
    make,
    model,
    p_value,
)
from scipy import sparse

from w2vneg.config import TrainConfig
from w2vneg.data.encoded import EncodedCorpus
from w2vneg.data.vocab import Vocabulary
from w2vneg.ground.errors import ConfigError
from w2vneg.ground.jit import njit
from w2vneg.ground.registry import RunContext
from w2vneg.kernels.ahead import pick
from w2vneg.kernels.contracts import draw, fetches, on_update, open_sampler, prescore
from w2vneg.kernels.cooccurrence import pair_counts
from w2vneg.kernels.linalg import Rows, dot, row_of, width_of
from w2vneg.objectives.samplers import SAMPLERS, popularity
from w2vneg.objectives.samplers.log_uniform import rank_at
from w2vneg.run.assembly import assemble
from w2vneg.run.model import Model


@pytest.fixture(autouse=True)
def _wrapping_integers():
    """Plain Python warns where uint64 wraps round, which random streams do on purpose."""
    with np.errstate(over="ignore"):
        yield


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


@njit
def _pick_and_draw(sampler, sizes, out, straight, handed_out, ids, none):
    rng = np.full(1, 5, np.uint64)
    for k in range(straight.shape[0]):
        straight[k] = pick(sampler, rng)
    rng[0] = 5
    state, done = open_sampler(sampler, ids.shape[0]), 0
    for n in sizes:
        draw(sampler, state, 0, 0, none, out, rng, n, ids, none, none)
        handed_out[done : done + n] = ids[:n]
        done += n


@pytest.mark.parametrize("name", ["uniform", "popularity", "log-uniform"])
@pytest.mark.parametrize("most", [1, 3, 8, 30])
def test_independent_draws_are_handed_out_in_the_order_they_were_picked(name, most):
    sampler = make(name)
    sizes = np.random.default_rng(most).integers(0, most + 1, 50)
    straight, handed_out = np.zeros((2, sizes.sum()), np.int32)
    none = np.empty(0, np.float32)
    _pick_and_draw(sampler, sizes, Rows(model(1.0)[1], 0, V, 0), straight, handed_out, np.empty(most, np.int32), none)
    assert len(set(straight)) > 1
    assert np.array_equal(straight, handed_out)


def test_who_picks_fetches():
    assert all(fetches(make(name)) for name in ("uniform", "popularity", "log-uniform"))
    assert not any(fetches(make(name)) for name in ("bigram", "bernoulli", "boltzmann"))


@pytest.mark.parametrize("name", ["uniform", "popularity"])
def test_log_q_is_left_out_when_nobody_reads_it(name):
    with_log_q, _, _ = draws(make(name), 100, n=4)
    without, _, _ = draws(make(name), 100, n=4, log_q=False)
    assert np.array_equal(with_log_q, without)


def exact_draws(sd, temp, degeneracy, n=2_000, seed=3):
    centre, matrix, logits = model(sd)
    inputs = np.stack([centre, -centre, centre]).astype(np.float32)
    sampler = boltzmann("exact", temp, degeneracy, max_draws=n, workers=2)
    centres = np.full((2, sampler.batch_groups), -1, np.int32)
    centres[0, :3], centres[1, 5] = [0, 1, 2], 0
    sampler.refresh(inputs, matrix, centres, seed)
    return sampler, centre, matrix, logits


@pytest.mark.parametrize("degeneracy", ["uniform", "popularity"])
@pytest.mark.parametrize(("sd", "temp"), [(1.0, 1.0), (2.0, 1.0), (2.0, 0.5), (2.0, 3.0)])
def test_exact_draws_follow_the_enumerated_distribution(sd, temp, degeneracy):
    n = 2_000 if SLOW else 50_000
    given = DEGENERACIES[degeneracy]
    sampler, _, _, logits = exact_draws(sd, temp, degeneracy, n)
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


WIDTHS = [(1.0, 1.0), (2.0, 1.0), (1.0, 0.5), (6.0, 3.0)]  # standard deviation of the logits, T
SOME = [  # of all combinations, each of which draws for nearly a million groups
    ("sir", "uniform", (1.0, 1.0)),
    ("sir", "popularity", (2.0, 1.0)),
    ("rolling", "uniform", (1.0, 0.5)),
    ("rolling", "popularity", (6.0, 3.0)),
]


@compiled_only
@pytest.mark.parametrize(
    ("method", "degeneracy", "sd", "temp"),
    [
        pytest.param(method, degeneracy, *at, marks=[] if (method, degeneracy, at) in SOME else [pytest.mark.slow])
        for method, degeneracy, at in itertools.product(["sir", "rolling"], ["uniform", "popularity"], WIDTHS)
    ],
)
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


@njit
def _train_on_each(sampler, groups, inputs, out, rng, step, ids, log_q, logits, scores, places):
    """Draw for each of the groups and move the negatives' rows; scores : those of the candidates, by their rows."""
    n = ids.shape[1]
    state = open_sampler(sampler, n)
    steps, positives = np.empty(n, np.float32), np.empty(0, np.int32)
    for k in range(groups.shape[0]):
        row, following = groups[k]
        prescore(sampler, state, inputs, row, following, out)
        if k > 0:
            for c in range(scores.shape[1]):
                scores[k, c] = dot(out.matrix[state.ids[c]], inputs[row])
        draw(sampler, state, k, row, inputs[row], out, rng, n, ids[k], log_q[k], logits[k])
        for j in range(n):
            steps[j] = step * (1 + j)
            for i in range(inputs.shape[1]):
                out.matrix[ids[k, j], i] += steps[j] * inputs[row, i]
        on_update(sampler, state, 0, positives, n, ids[k], steps, out)
        places[k] = state.place[0]


MANY = (
    20_000  # words: none is likely to be a candidate twice, whose score would be brought up to date where it was drawn
)
UPCOMING = [  # row of the centre, row of the next one as far as known, candidates replaced behind it
    (0, 1, 3),  # the first draw: there were no candidates to score ahead
    (1, 2, 0),
    (2, 0, 6),  # scored with the one before
    (0, 0, 3),  # a row that comes again has moved by then
    (0, 2, 0),
    (1, 2, 6),  # not the one that was expected
    (2, 1, 0),
    (1, -1, 6),
    (1, -1, 3),
    (0, 2, 0),
    (0, 2, 6),
    (2, -1, 3),
    (0, 1, 0),
    (2, 1, 6),
    (0, 1, 0),
]


def train_on_each(groups, dim, candidates, replaced):
    """Return (ids, log_q, logits, scores, places) of `_train_on_each`."""
    rng, n = np.random.default_rng(8), 4
    inputs, matrix = (rng.normal(size=(rows, dim)).astype(np.float32) / 4 for rows in (3, MANY))
    counts = np.ones(MANY, np.int64)
    sampler = boltzmann("rolling", 0.5, "uniform", counts=counts, candidates=candidates, replaced=replaced)
    found = (
        np.full((len(groups), n), -2, np.int32),
        *(np.full((len(groups), size), np.nan, np.float32) for size in (n, n, candidates)),
        np.zeros(len(groups), np.int64),
    )
    out = Rows(matrix, 0, MANY, 0, width_of(dim))
    _train_on_each(sampler, np.array(groups), inputs, out, np.array([3], np.uint64), np.float32(0.3), *found)
    return found


@pytest.mark.parametrize("dim", [DIM, 50])
def test_candidates_are_scored_for_two_centres_at_a_time_and_replaced_behind_both(dim):
    m, replaced = 16, [group[2] for group in UPCOMING]
    ids, log_q, logits, scores, places = train_on_each([group[:2] for group in UPCOMING], dim, m, 3)
    assert places.tolist() == (np.cumsum(replaced) % m).tolist()
    for k in range(1, len(ids)):  # the first candidates are drawn by the first draw
        # scored before the group before, and yet as they are by now, though that has moved some
        assert np.abs(scores[k] - logits[k][:, None]).min(axis=1).max() < 2e-5
        log_z = np.log(np.mean(np.exp(scores[k].astype(np.float64) / 0.5)))
        np.testing.assert_allclose(log_q[k], -np.log(MANY) + logits[k] / 0.5 - log_z, rtol=1e-4, atol=1e-4)


def test_no_more_candidates_are_replaced_than_there_are():
    places = train_on_each([(0, 1), (1, 2), (2, 0), (0, 1)], DIM, 16, 15)[-1]
    assert places.tolist() == [15, 15, 15, 15]  # 15, none, all 16, none


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
def test_a_very_high_temperature_leaves_the_degeneracy(method):
    centre, matrix, _ = model(2.0)
    given = DEGENERACIES["popularity"]
    sampler = boltzmann(method, 1e6, "popularity", candidates=16, replaced=16)
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
    replicated = np.full((V + 3 * n_private, DIM), np.nan, np.float32)
    first = V + worker * n_private
    replicated[n_private:V], replicated[first : first + n_private] = matrix[n_private:], matrix[:n_private]
    out = Rows(replicated, n_private, first, worker)
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
        turn = {place % m for place in range(group * replaced, (group + 1) * replaced)}
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


@pytest.mark.parametrize("method", ["rolling", "sir"])
def test_a_stream_repeats_its_draws(method):
    one, again, other = (draws(boltzmann(method), 50, 3, seed=seed)[0] for seed in (1, 1, 2))
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)


@pytest.mark.parametrize("exponent", [0.75, 1.0])
def test_dns_draws_follow_the_enumerated_distribution(exponent):
    centre, matrix, logits = model(1.0)
    out, p = Rows(matrix, 0, V, 0), naive.popularity(COUNTS, exponent)
    for absolute in (False, True):
        for m in (1, 2, 7):
            sampler = make("dns", candidates=m, noise_exponent=exponent, absolute_softmax=absolute)
            ids, _, values = draws(sampler, 300 if SLOW else 20_000, 10, centre, out, log_q=False)
            assert p_value(ids, naive.hardest_of(p, np.abs(logits) if absolute else logits, m)) > 1e-6
            np.testing.assert_allclose(values, logits[ids], rtol=1e-4, atol=1e-5)  # signed: the loop takes |s|


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("name", ["dns", "boltzmann"])
def test_rounds_are_a_fraction_of_a_second_by_what_the_draws_cost(name, shared):
    """A dot product of 100 numbers takes about 6 ns; the candidates alone of a round must not take a second."""
    n_tokens, options = 4_000_000, {"share_negatives": shared, "negatives": 10, "candidates": 64}
    corpus = EncodedCorpus(np.zeros(n_tokens, np.int32), np.array([0, n_tokens]), Vocabulary("ab", [n_tokens, 1]))
    config = TrainConfig(loss="relaxed", sampler=name, subsample=0.0, workers=1, **options).resolved()
    assembly = assemble(corpus, config, Model.fresh(corpus.vocab, config))
    sets = 1 if name == "boltzmann" else 10 * (1 if shared else 5)  # of candidates, for a centre with 5 contexts
    assert 0.05 < assembly.engine.block * sets * 64 * 6e-9 + assembly.engine.block * 100e-9 < 0.2


def test_dns_among_very_many_candidates_takes_the_hardest():
    centre, matrix, logits = model(1.0)
    sampler = make("dns", candidates=20_000, noise_exponent=0.0)
    ids, _, _ = draws(sampler, 1 if SLOW else 20, 2, centre, Rows(matrix, 0, V, 0), log_q=False)
    assert set(ids.ravel()) == {logits.argmax()}


@pytest.mark.parametrize("method", ["rolling", "sir", "exact"])
def test_selfplay_is_boltzmann_with_a_uniform_degeneracy_at_temperature_one(method):
    centre, matrix, _ = model(2.0)
    found = []
    for sampler in make("selfplay", method=method), boltzmann(method, 1.0, "uniform"):
        if method == "exact":
            sampler.refresh(centre[None], matrix, np.zeros((1, sampler.batch_groups), np.int32), 5)
        found.append(draws(sampler, 50, 6, centre, Rows(matrix, 0, V, 0)))
    for one, other in zip(*found, strict=True):
        assert np.array_equal(one, other, equal_nan=True)
    if method != "exact":
        other = draws(boltzmann(method, 0.5), 50, 6, centre, Rows(matrix, 0, V, 0))[0]
        assert not np.array_equal(found[0][0], other)


@pytest.mark.parametrize("name", ["boltzmann", "selfplay"])
def test_absolute_logits_are_what_candidates_are_drawn_by(name):
    centre, matrix, logits = model(1.5)
    sampler = make(name, method="sir", candidates=64 if SLOW else 4096, absolute_softmax=True)
    groups, asked = 20 if SLOW else 4_000, np.arange(V)
    noise = np.empty((groups, V), np.float32)
    ids, log_q, values = draws(sampler, groups, 20, centre, Rows(matrix, 0, V, 0), asked=asked, noise=noise)
    np.testing.assert_allclose(values, logits[ids], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(log_q, np.take_along_axis(noise, ids, axis=1), atol=1e-5)
    degeneracy = DEGENERACIES["popularity" if name == "boltzmann" else "uniform"]
    q = naive.boltzmann(np.abs(logits), degeneracy, 1.0)
    offset = noise - np.log(q)  # the candidates' mean for the sum: one error a group
    np.testing.assert_allclose(offset, offset[:, :1] + np.zeros(V), atol=1e-4)
    assert SLOW or distance(ids, q) < 0.03


def test_log_uniform_draws_follow_the_ranks():
    ids, log_q, _ = draws(make("log-uniform"), 2_000 if SLOW else 40_000, n=10)
    exact = np.diff(np.log(np.arange(1, V + 2))) / math.log(V + 1)
    assert p_value(ids, exact) > 1e-6
    np.testing.assert_allclose(log_q, np.log(exact)[ids], rtol=1e-5)


@pytest.mark.parametrize("n_vocab", [1, 2, 3, 7, 200, 15_000, 70_419, 2**24 + 3, 2**31 - 2])
def test_log_uniform_reaches_both_ends_and_no_further(n_vocab):
    log_range = math.log1p(n_vocab)
    assert rank_at(0.0, log_range, n_vocab) == 0
    assert rank_at(1 - 2.0**-53, log_range, n_vocab) == n_vocab - 1
    for rank in {k for k in (1, 2, n_vocab // 2, n_vocab - 1) if 0 < k < n_vocab}:
        border = math.log(rank + 1) / log_range
        assert rank_at(border * (1 - 1e-12), log_range, n_vocab) == rank - 1
        assert rank_at(border * (1 + 1e-12), log_range, n_vocab) == rank


@pytest.mark.parametrize("back_off", [0.1, 0.6, 1.0])
def test_bigram_draws_follow_the_neighbours_and_popularity(back_off):
    sampler, text = make("bigram", back_off=back_off), naive.groups(*TEXT, 1)
    for centre_id in (0, 3, 60, ISOLATED):
        q = naive.bigram(text, centre_id, DEGENERACIES["popularity"], back_off)
        ids, log_q, _ = draws(sampler, 1_000 if SLOW else 20_000, n=10, centre_id=centre_id)
        assert p_value(ids, q) > 1e-6
        np.testing.assert_allclose(log_q, np.log(q)[ids], rtol=1e-4)


def test_bigram_of_a_text_without_neighbours_is_popularity():
    config = TrainConfig(sampler="bigram").resolved()
    ids, offsets = np.arange(V, dtype=np.int32), np.arange(V + 1)
    setting = RunContext(COUNTS, DIM, neighbours=lambda: pair_counts(ids, offsets, V, 1))
    sampler = config.make("sampler", setting)
    drawn, log_q, _ = draws(sampler, 200, 10)
    assert p_value(drawn, DEGENERACIES["popularity"]) > 1e-6
    np.testing.assert_allclose(log_q, np.log(DEGENERACIES["popularity"])[drawn], rtol=1e-4)


def test_bigram_of_weights_below_one_is_that_of_their_shares():
    counts = sparse.csr_matrix(np.arange(V * V).reshape(V, V) % 5)
    config, found = TrainConfig(sampler="bigram").resolved(), []
    for scale in (1, 2.0**-20):
        setting = RunContext(COUNTS, DIM, neighbours=lambda scale=scale: counts * scale)
        found.append(draws(config.make("sampler", setting), 200, 10, centre_id=3))
    for one, other in zip(*found, strict=True):
        assert np.array_equal(one, other, equal_nan=True)


def test_bigram_without_a_corpus_is_refused():
    with pytest.raises(ConfigError, match="choose another sampler"):
        TrainConfig(sampler="bigram").resolved().make("sampler", RunContext(COUNTS, DIM))


OPTIONS = {  # by sampler: what its log q, where it is an estimate, is good enough with
    "boltzmann": {"method": "sir", "candidates": 16_384},
    "selfplay": {"method": "sir", "candidates": 16_384},
}


@pytest.mark.parametrize("name", sorted(SAMPLERS))
def test_draws_and_noise_of_every_sampler_agree(name):
    sampler = make(name, **({} if SLOW else OPTIONS.get(name, {})))
    if not sampler.gives_log_q or sampler.batch_groups:
        pytest.skip("its draws have no log q, or are made ahead")
    config = TrainConfig(sampler=name).resolved()
    n = sampler.max_negatives(config.negatives)
    groups = 150 if SLOW else 1_500
    noise = np.empty((groups, V), np.float32)
    centre, matrix, _ = model(1.0)
    ids, log_q, _ = draws(sampler, groups, n, centre, Rows(matrix, 0, V, 0), asked=np.arange(V), noise=noise)
    full = ids >= 0
    np.testing.assert_allclose(log_q[full], np.take_along_axis(noise, np.maximum(ids, 0), axis=1)[full], atol=1e-5)
    assert (log_q[~full] == np.inf).all()
    sums = np.exp(noise.astype(np.float64)).sum(axis=1)
    if sampler.independent:  # n q sums to the expected number
        np.testing.assert_allclose(sums * full.sum(axis=1), config.negatives, rtol=1e-4)
    elif not SLOW or name not in OPTIONS:
        np.testing.assert_allclose(sums, 1, atol=0.1 if name in OPTIONS else 1e-5)
        assert p_value(ids, np.exp(noise.astype(np.float64)).mean(axis=0)) > 1e-6


@pytest.mark.parametrize("name", sorted(SAMPLERS))
def test_every_sampler_stays_within_the_vocabulary(name):
    sampler = make(name)
    centre, matrix, _ = model(3.0)
    if sampler.batch_groups:
        centres = np.zeros((1, sampler.batch_groups), np.int32)
        sampler.refresh(centre[None], matrix, centres, 1)
    ids, log_q, _ = draws(sampler, 100, 7, centre, Rows(matrix, 0, V, 0), log_q=sampler.gives_log_q)
    drawn = ids >= 0
    assert drawn.all() or sampler.independent
    assert drawn.any()
    assert ids.min() >= -1
    assert ids.max() < V
    assert log_q.size == 0 or np.isfinite(log_q[drawn]).all()
    assert log_q.size == 0 or log_q[drawn].max() < 1
