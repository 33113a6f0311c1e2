"""Exact Boltzmann draws by matrix products: what is drawn, what is left alone, how much memory it takes."""

import os
import tracemalloc

import naive
import numpy as np
import pytest
from scipy import special, stats

from w2vneg.ground.jit import njit
from w2vneg.ground.registry import RunContext
from w2vneg.kernels.contracts import draw as draw_one
from w2vneg.kernels.contracts import log_prob, open_sampler
from w2vneg.kernels.dense import draws
from w2vneg.kernels.dense.blas import TILE
from w2vneg.kernels.dense.draws import BoltzmannLaw, Drawn, exact_draws
from w2vneg.kernels.linalg import Rows
from w2vneg.objectives.samplers._boltzmann import BoltzmannExact


@pytest.fixture(autouse=True)
def _wrapping_integers():
    """Plain Python warns where uint64 wraps round, which random streams do on purpose, and of NaN."""
    with np.errstate(over="ignore", invalid="ignore"):
        yield


def small(n_vocab=900, dim=4, seed=1):
    """Return (vectors_in, vectors_out, log_d) of small whole numbers: products are exact whatever the order of sums."""
    rng = np.random.default_rng(seed)
    vectors_in, vectors_out = rng.integers(-2, 3, (2, n_vocab, dim)).astype(np.float32)
    log_d = np.log(naive.popularity(1e4 / np.arange(1, n_vocab + 1), 0.75)).astype(np.float32)
    return vectors_in, vectors_out / np.float32(2), log_d


def draw(centres, n_draws=50, key=5, beta=1.0, matrices=None):
    vectors_in, vectors_out, log_d = matrices or small()
    drawn = Drawn.room(len(centres), n_draws)
    drawn.ids[:], drawn.log_q[:] = -7, 99
    law = BoltzmannLaw(log_d, np.float32(beta), False)
    exact_draws(law, vectors_in, vectors_out, np.array(centres, np.int32), key, drawn)
    return drawn.ids, drawn.log_q


def test_draws_follow_the_enumerated_distribution_over_many_blocks_of_targets():
    vectors_in, vectors_out, log_d = small()
    assert len(vectors_out) > TILE
    q = naive.boltzmann(vectors_out.astype(float) @ vectors_in[3], np.exp(log_d.astype(float)), 2.0)
    ids, log_q = draw([3], 5_000, beta=0.5)
    np.testing.assert_allclose(log_q, np.log(q)[ids], atol=1e-4)
    order = np.argsort(-q)
    bins = np.empty(len(q), int)
    bins[order] = np.minimum(np.arange(len(q)) // 10, 30)  # ten targets of like probability to a bin
    seen, expected = np.bincount(bins[ids[0]], minlength=31), np.bincount(bins, q * ids.size)
    assert stats.chisquare(seen, expected).pvalue > 1e-6


def test_a_draws_place_within_its_tile_has_as_many_bits_as_the_choice_of_the_tile():
    """One number for both left twelve bits for the place if there were 4,096 tiles, too few for the rarest targets."""
    n_tiles, n = 4096, 2000
    totals, sums = np.ones(n_tiles, np.float32), np.ones((n_tiles, TILE // draws.LANES), np.float32)
    tiles, rests = np.empty(n, np.int32), np.empty(n, np.float32)
    running, rng = np.arange(1, n_tiles + 1, dtype=np.float32), np.full(1, 7, np.uint64)
    draws._find_tiles(n, sums, totals, running, rng, tiles, rests)
    assert stats.kstest(rests, "uniform").pvalue > 1e-6
    assert stats.chisquare(np.bincount(tiles // 256, minlength=16)).pvalue > 1e-6
    assert (rests * 4096 % 1 != 0).mean() > 0.99


def test_places_without_a_centre_are_left_alone():
    ids, log_q = draw([-1, 3, -1, -1, 0, -1])
    assert (ids[[0, 2, 3, 5]] == -7).all()
    assert (log_q[[0, 2, 3, 5]] == 99).all()
    assert (ids[[1, 4]] >= 0).all()
    assert (log_q[[1, 4]] <= 0).all()


def test_no_centre_at_all_is_no_work():
    ids, _ = draw([-1, -1])
    assert (ids == -7).all()


def test_a_places_draws_do_not_depend_on_its_neighbours():
    together, _ = draw([5, 6, 7, 8])
    alone, _ = draw([-1, -1, 7, -1])
    assert np.array_equal(together[2], alone[2])


@pytest.mark.parametrize("scores", [1, 700, 2_000, 10_000])
def test_the_size_of_chunks_changes_nothing(scores, monkeypatch):
    centres = [*range(20), -1, *range(5)]
    whole, whole_log_q = draw(centres)
    monkeypatch.setattr(draws, "_SCORES", scores)
    chunked, chunked_log_q = draw(centres)
    assert np.array_equal(chunked, whole)
    assert np.array_equal(chunked_log_q, whole_log_q)


def test_equal_keys_repeat_and_others_do_not():
    assert np.array_equal(draw([1, 2], key=8)[0], draw([1, 2], key=8)[0])
    assert not np.array_equal(draw([1, 2], key=8)[0], draw([1, 2], key=9)[0])


def test_the_largest_key_wraps_round():
    ids, _ = draw([1, 2, 3], key=np.uint64(2**64 - 2))
    assert (ids >= 0).all()


@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="too many scores for plain Python")
def test_memory_is_bounded_by_the_scores_held_at_a_time(monkeypatch):
    matrices = small(n_vocab=2_000)
    centres = list(range(1_000))
    draw(centres[:2], matrices=matrices)  # compile outside the measurement
    monkeypatch.setattr(draws, "_SCORES", 40_000)
    tracemalloc.start()
    draw(centres, n_draws=5, matrices=matrices)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3 * 40_000 * 4  # all scores at once would take 8 MB


def test_a_row_far_from_scale_changes_no_draw_of_the_others():
    vectors_in, vectors_out, log_d = small()
    alone, _ = draw([5, 6, 7], 30, matrices=(vectors_in, vectors_out, log_d))
    vectors_in[6] *= 300
    beside, log_q = draw([5, 6, 7], 30, matrices=(vectors_in, vectors_out, log_d))
    assert np.array_equal(beside[[0, 2]], alone[[0, 2]])
    exponents = log_d + vectors_out.astype(float) @ vectors_in[6]
    np.testing.assert_allclose(log_q[1], special.log_softmax(exponents)[beside[1]], atol=1e-4)


@pytest.mark.parametrize("far", [-150.0, 150.0])
def test_targets_far_below_the_best_are_never_drawn(far):
    vectors_in = np.array([[far]], np.float32)
    vectors_out = np.array([[1.0], [-1.0], [1.0]], np.float32)
    ids, log_q = draw([0], 400, matrices=(vectors_in, vectors_out, np.zeros(3, np.float32)))
    assert set(ids[0]) == ({0, 2} if far > 0 else {1})
    np.testing.assert_allclose(log_q, np.log(0.5) if far > 0 else 0, atol=1e-5)


def test_zero_degeneracy_is_never_drawn_even_at_the_ends():
    log_d = np.full(900, -np.inf, np.float32)
    log_d[[300, 301]] = 0
    ids, _ = draw([0, 1, 2], 300, matrices=(*small()[:2], log_d))
    assert set(ids.ravel()) <= {300, 301}


@pytest.mark.parametrize("begin", [0, 800])
@pytest.mark.parametrize("far", [-200.0, -79.0, 0.0, 85.0])
def test_a_tile_that_weighs_nothing_hides_no_other(begin, far):
    n_vocab, some = 2_000, np.arange(100)
    assert n_vocab > 2 * TILE
    log_d = np.full(n_vocab, -np.inf, np.float32)
    log_d[begin + some] = -np.log(100)
    vectors_in, vectors_out = np.array([[far]], np.float32), np.ones((n_vocab, 1), np.float32)
    ids, log_q = draw([0], 400, matrices=(vectors_in, vectors_out, log_d))
    assert set(ids[0]) <= set(begin + some)
    np.testing.assert_allclose(log_q, -np.log(100), atol=1e-4)


def test_at_temperature_one_and_uniform_degeneracy_draws_follow_the_softmax():
    rng = np.random.default_rng(3)
    n_vocab = 1_800  # three tiles, the last one short
    vectors_in, vectors_out = rng.normal(0, 1, (2, n_vocab, 3)).astype(np.float32)
    log_d = np.full(n_vocab, -np.log(n_vocab), np.float32)
    ids, log_q = draw([7] * 4, 5_000, matrices=(vectors_in, vectors_out, log_d))
    q = special.softmax(vectors_out.astype(float) @ vectors_in[7])
    np.testing.assert_allclose(log_q, np.log(q)[ids], atol=1e-4)
    order = np.argsort(-q)
    bins = np.empty(n_vocab, int)
    bins[order] = np.minimum(np.arange(n_vocab) // 5, 60)
    seen, expected = np.bincount(bins[ids.ravel()], minlength=61), np.bincount(bins, q * ids.size)
    assert stats.chisquare(seen, expected).pvalue > 1e-6
    assert not np.array_equal(ids[0], ids[1])  # equal centres draw for themselves


@pytest.mark.parametrize("absolute", [False, True])
def test_the_normaliser_gives_the_probability_of_any_target(absolute):
    vectors_in, vectors_out, log_d = small()
    ids, log_q, log_z = drawn = Drawn.room(2, 20)
    centres = np.array([11, 5], np.int32)
    exact_draws(BoltzmannLaw(log_d, np.float32(0.7), absolute), vectors_in, vectors_out, centres, 1, drawn)
    for row, centre in enumerate(centres):
        scores = vectors_out.astype(float) @ vectors_in[centre]
        exponents = log_d + 0.7 * (np.abs(scores) if absolute else scores)
        assert log_z[row] == pytest.approx(special.logsumexp(exponents), abs=1e-5)
        np.testing.assert_allclose(log_q[row], exponents[ids[row]] - log_z[row], atol=1e-5)


@njit
def _log_prob(sampler, worker, group, centre_id, centre, ids, logits, log_q):
    out = Rows(centre.reshape(1, -1), 0, 0, worker)
    state = open_sampler(sampler, 1)
    draw_one(
        sampler, state, group, centre_id, centre, out, np.zeros(1, np.uint64), 1, ids.copy(), log_q[:0], logits.copy()
    )
    log_prob(sampler, state, group, centre_id, ids.shape[0], ids, logits, log_q)


@pytest.mark.parametrize("absolute", [False, True])
def test_exact_sampler_tells_the_positives_probability(absolute):
    vectors_in, vectors_out, log_d = small()
    context = RunContext(
        np.ones(len(log_d)), dim=vectors_out.shape[1], workers=2, max_draws=3, n_centres=len(vectors_in)
    )
    sampler = BoltzmannExact(log_d, 0.5, absolute, *BoltzmannExact.room(4, context))
    sampler.refresh(vectors_in, vectors_out, np.array([[1, 2, -1, -1], [3, 9, 8, -1]], np.int32), 3)
    ids = np.array([0, 699, 350], np.int32)
    scores = vectors_out.astype(float) @ vectors_in[9]
    exponents = log_d + 0.5 * (np.abs(scores) if absolute else scores)
    log_q = np.zeros(3, np.float32)
    vectors_out *= 2  # as training moves them on: what was drawn from counts
    _log_prob(sampler, 1, 1, 9, 3 * vectors_in[9], ids, 6 * scores[ids].astype(np.float32), log_q)
    np.testing.assert_allclose(log_q, exponents[ids] - special.logsumexp(exponents), atol=1e-5)


def test_scores_that_are_not_numbers_still_give_ids():
    vectors_in, vectors_out, log_d = small()
    vectors_in[3] = np.nan
    vectors_out[600] = np.inf
    ids, _ = draw([3, 4], 20, matrices=(vectors_in, vectors_out, log_d))
    assert ((ids >= 0) & (ids < 900)).all()
