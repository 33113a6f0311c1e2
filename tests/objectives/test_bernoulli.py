"""Bernoulli negatives: each target by itself with its own probability, never twice. Runs with and without the JIT."""

from itertools import combinations

import naive
import numpy as np
import pytest
from drawing import COUNTS, SLOW, V, draws, make
from scipy import stats

from w2vneg.ground.errors import ConfigError
from w2vneg.kernels.linalg import Rows
from w2vneg.objectives.samplers.bernoulli import Bernoulli, inclusion, places_for


@pytest.fixture(autouse=True)
def _wrapping_integers():
    """Plain Python warns where uint64 wraps round, which random streams do on purpose."""
    with np.errstate(over="ignore"):
        yield


def sets(counts, negatives, groups, per_group=1, **options):
    """Return (sampler, ids, log_q), the arrays (groups * per_group, places): one row for each set."""
    sampler = make("bernoulli", counts, negatives=negatives, **options)
    out = Rows(np.ones((len(counts), 2), np.float32), 0, len(counts), 0)
    n = sampler.places * per_group
    ids, log_q, _ = draws(sampler, groups, n, np.ones(2, np.float32), out)
    return sampler, ids.reshape(-1, sampler.places), log_q.reshape(-1, sampler.places)


def membership(ids, n_vocab):
    """Return which targets entered which set, bool, (sets, n_vocab)."""
    entered = np.zeros((len(ids), n_vocab + 1), bool)
    entered[np.arange(len(ids))[:, None], ids] = True  # empty places fall on the last column
    return entered[:, :n_vocab]


@pytest.mark.parametrize(("expected", "exponent"), [(5, 0.75), (10, 1.0), (60, 1.0), (150, 1.5), (195, 0.75)])
def test_probabilities_follow_the_counts_up_to_the_cap_and_sum_to_the_number(expected, exponent):
    p = naive.popularity(COUNTS, exponent)
    b = inclusion(np.log(p), expected)
    assert b.sum() == pytest.approx(expected)
    assert 0 < b.min() <= b.max() <= 0.99
    free = b < 0.99
    assert free.any()
    np.testing.assert_allclose(b[free] / p[free], (b[free] / p[free])[0])
    assert (np.diff(free.astype(int)) >= 0).all()  # it is the most frequent that are capped
    assert (not free.all()) == (expected * p[0] > 0.99)


@pytest.mark.parametrize("per_group", [1, 4])
def test_every_combination_of_targets_comes_as_often_as_independence_says(per_group):
    counts, groups = np.array([9, 5, 4, 2, 1]), 500 if SLOW else 40_000
    for negatives in (1, 2, 4):
        sampler, ids, _ = sets(counts, negatives, groups // per_group, per_group, noise_exponent=1.0)
        entered = membership(ids, 5)
        b = np.exp(sampler.log_b.astype(np.float64))
        which = (entered * 2 ** np.arange(5)).sum(axis=1)
        chances = [np.prod([b[j] if c >> j & 1 else 1 - b[j] for j in range(5)]) for c in range(32)]
        seen, wanted = np.bincount(which, minlength=32), np.array(chances) * len(which)
        often = wanted >= 5
        seen, wanted = np.r_[seen[often], seen[~often].sum()], np.r_[wanted[often], wanted[~often].sum()]
        keep = wanted > 0
        assert stats.chisquare(seen[keep], wanted[keep] * seen.sum() / wanted.sum()).pvalue > 1e-6


def test_targets_of_a_larger_vocabulary_enter_as_often_as_they_should_and_in_pairs_by_chance():
    groups = 1_000 if SLOW else 60_000
    sampler, ids, _ = sets(COUNTS, 10, groups)
    entered = membership(ids, V)
    b = np.exp(sampler.log_b.astype(np.float64))
    z = (entered.mean(axis=0) - b) / np.sqrt(b * (1 - b) / groups)
    assert np.abs(z).max() < 5
    assert stats.chi2.sf((z**2).sum(), V) > 1e-6
    for i, j in combinations([0, 1, 2, 5, 20, 100], 2):
        both = b[i] * b[j]
        assert abs((entered[:, i] & entered[:, j]).mean() - both) < 5 * np.sqrt(both * (1 - both) / groups)
    sizes = entered.sum(axis=1)
    assert sizes.mean() == pytest.approx(10, abs=5 * np.sqrt((b * (1 - b)).sum() / groups))
    assert sizes.var() == pytest.approx((b * (1 - b)).sum(), rel=0.3 if SLOW else 0.05)


def test_sets_never_repeat_a_target_and_are_filled_from_the_front():
    _, ids, log_q = sets(np.array([50, 9, 3, 1]), 3, 200 if SLOW else 3_000, per_group=3)
    for row, logs in zip(ids, log_q, strict=True):
        n = int((row >= 0).sum())
        assert len(set(row[:n])) == n
        assert (row[n:] == -1).all()
        assert (logs[n:] == np.inf).all()
        assert np.isfinite(logs[:n]).all()


def test_number_times_q_is_the_probability_to_enter():
    sampler, ids, log_q = sets(COUNTS, 5, 300, per_group=2)
    entered = ids >= 0
    size = np.maximum(entered.sum(axis=1, keepdims=True), 1)
    nq = np.exp(log_q.astype(np.float64)) * size
    np.testing.assert_allclose(nq[entered], np.exp(sampler.log_b)[ids[entered]], rtol=1e-5)


@pytest.mark.parametrize("shared", [True, False])
def test_positives_are_told_the_number_of_the_set_they_stand_beside(shared):
    sampler = make("bernoulli", negatives=5)
    n_sets, asked = 1 if shared else 3, np.array([0, 7, 7])
    out = Rows(np.ones((V, 2), np.float32), 0, V, 0)
    noise = np.empty((40, 3), np.float32)
    ids, _, _ = draws(sampler, 40, n_sets * sampler.places, np.ones(2, np.float32), out, asked=asked, noise=noise)
    sizes = (ids.reshape(40, n_sets, -1) >= 0).sum(axis=2) + np.zeros((1, 3))
    np.testing.assert_allclose(noise, sampler.log_b[asked] - np.log(np.maximum(sizes, 1)), atol=1e-5)


def test_estimates_of_a_sum_are_unbiased_with_the_variance_of_the_paper():
    groups, terms = 1_000 if SLOW else 60_000, np.random.default_rng(2).uniform(0, 3, V)
    sampler, ids, log_q = sets(COUNTS, 20, groups)
    entered = ids >= 0
    size = np.maximum(entered.sum(axis=1, keepdims=True), 1)
    estimates = np.where(entered, terms[ids] / (size * np.exp(log_q.astype(np.float64))), 0).sum(axis=1)
    b = np.exp(sampler.log_b.astype(np.float64))
    variance = ((1 / b - 1) * terms**2).sum()  # eq. 9
    assert abs(estimates.mean() - terms.sum()) < 5 * np.sqrt(variance / groups)
    assert estimates.var() == pytest.approx(variance, rel=0.3 if SLOW else 0.05)


@pytest.mark.parametrize("expected", [1, 2, 5, 10, 64, 1000, 10_000])
def test_places_are_enough_but_for_one_set_in_a_million(expected):
    assert stats.poisson.sf(places_for(expected), expected) < 1e-6
    assert stats.poisson.sf(places_for(expected) - 3, expected) > 5e-7
    assert Bernoulli.max_negatives(expected) == places_for(expected)


def test_a_set_that_would_overflow_ends_at_its_last_place():
    sampler = make("bernoulli", negatives=20)._replace(places=6)
    out = Rows(np.ones((V, 2), np.float32), 0, V, 0)
    ids, log_q, _ = draws(sampler, 50, 4 * 6, np.ones(2, np.float32), out)
    assert (ids >= 0).mean() > 0.99
    assert all(len(set(row)) == len(row) for row in ids.reshape(-1, 6))
    assert np.isfinite(log_q).mean() > 0.99


def test_more_negatives_than_words_are_refused():
    with pytest.raises(ConfigError, match="at most 198 with sampler bernoulli"):
        make("bernoulli", negatives=199)
    _, ids, _ = sets(COUNTS, 198, 20)
    assert (ids >= 0).sum(axis=1).mean() == pytest.approx(198, abs=2)
