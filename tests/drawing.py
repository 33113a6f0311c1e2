"""Draws from any sampler as the trainer makes it, and what they are held against."""

import os

import naive
import numpy as np
import pytest
from scipy import stats

from w2vneg.config import TrainConfig
from w2vneg.ground.jit import njit
from w2vneg.ground.registry import RunContext
from w2vneg.kernels.contracts import draw, log_prob, open_sampler, prescore
from w2vneg.kernels.cooccurrence import pair_counts
from w2vneg.kernels.linalg import Rows

SLOW = os.environ.get("NUMBA_DISABLE_JIT") == "1"
compiled_only = pytest.mark.skipif(SLOW, reason="too many draws for plain Python")
V, DIM = 200, 8
COUNTS = (1e5 / np.arange(1, V + 1) ** 0.9).astype(np.int64)
EXPONENT = 0.75
DEGENERACIES = {"uniform": np.full(V, 1 / V), "popularity": naive.popularity(COUNTS, EXPONENT)}
ISOLATED = 17  # a word of TEXT without neighbours


def _text():
    """Return (ids, offsets) of sentences over the first half of the words, their ids drawn by rank."""
    rng = np.random.default_rng(4)
    offsets = np.r_[0, np.cumsum(rng.integers(1, 30, 400))].astype(np.int64)
    ids = (np.exp(rng.uniform(0, np.log(V // 2), offsets[-1])) - 1).astype(np.int32)
    ids[ids == ISOLATED] = ISOLATED + 1
    return np.r_[ids, ISOLATED].astype(np.int32), np.r_[offsets, offsets[-1] + 1]


TEXT = _text()


@njit
def _draw_often(sampler, centre_id, centre, out, rng, n, ids, log_q, logits, asked, asked_logits, noise):
    state = open_sampler(sampler, n)
    known = False
    inputs = np.empty((2, centre.shape[0]), np.float32)
    inputs[0], inputs[1] = centre, centre
    for group in range(ids.shape[0]):
        prescore(sampler, state, inputs, group % 2, (group + 1) % 2, out)  # as in training, the next centre is known
        known = draw(sampler, state, group, centre_id, centre, out, rng, n, ids[group], log_q[group], logits[group])
        if asked.shape[0] > 0:
            log_prob(sampler, state, group, centre_id, asked.shape[0], asked, asked_logits, noise[group])
    return known


@njit
def _draw_and_watch(sampler, centre, out, rng, n, ids, log_q, logits, candidates):
    state = open_sampler(sampler, n)
    draw(sampler, state, 0, 0, centre, out, rng, n, ids[0], log_q[0], logits[0])
    for group in range(ids.shape[0]):
        for k in range(candidates.shape[1]):  # they are replaced behind each draw
            candidates[group, k] = state.ids[k]
        draw(sampler, state, group, 0, centre, out, rng, n, ids[group], log_q[group], logits[group])


def make(name, counts=COUNTS, max_draws=10, workers=1, **options):
    """Return a sampler made as the trainer makes it."""
    config = TrainConfig(sampler=name, **options).resolved()
    neighbours = (lambda: pair_counts(*TEXT, V, 1)) if len(counts) == V else None
    return config.make("sampler", RunContext(counts, DIM, workers, max_draws, neighbours))


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


def draws(
    sampler, groups, n=1, centre=None, out=None, seed=1, log_q=True, watch=None, asked=None, centre_id=0, noise=None
):
    """Return (ids, log_q, logits), each (groups, n), one centre drawn for again and again.

    watch : int32, (groups, M), takes the candidates; asked : int32, (m,), ids whose log q go to noise, (groups, m)
    """
    if centre is None:
        centre, matrix, _ = model(1.0)
        out = Rows(matrix, 0, len(matrix), 0)
    ids = np.full((groups, n), -2, np.int32)
    log_qs = np.full((groups, n if log_q else 0), np.nan, np.float32)
    logits = np.full((groups, n), np.nan, np.float32)
    rng = np.array([seed], np.uint64)
    if watch is not None:
        _draw_and_watch(sampler, centre, out, rng, n, ids, log_qs, logits, watch)
        return ids, log_qs, logits
    asked = np.zeros(0, np.int32) if asked is None else asked.astype(np.int32)
    noise = np.zeros((groups, 0), np.float32) if noise is None else noise
    asked_logits = out.matrix[asked] @ centre
    _draw_often(sampler, centre_id, centre, out, rng, n, ids, log_qs, logits, asked, asked_logits, noise)
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
