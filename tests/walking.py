"""A source of groups gone through as a worker does, watched at the borders of its scratch."""

import numpy as np
import pytest

from w2vneg.ground.jit import njit
from w2vneg.kernels.contracts import fill, group

KEY = np.uint64(0xC0FFEE)
GUARD = -12345


@pytest.fixture(autouse=True)
def wrapping_integers():
    """Plain Python warns where uint64 wraps round, which random streams do on purpose."""
    with np.errstate(over="ignore"):
        yield


@njit
def _go(source, lo, hi, key, tokens, rng, sizes, positives):
    first, last = fill(source, lo, hi, key, tokens)
    for position in range(first, last):
        sizes[position] = group(source, tokens, position, rng, positives[position])
    return first, last


def groups(source, lo, hi, room, largest, seed=1):
    """Return [(centre, positives)] of the block [lo, hi); nothing may be written outside `room` tokens, or beyond the
    `largest` positives of a group.
    """
    memory = np.full(room + 64, GUARD, np.int32)
    tokens = memory[32 : 32 + room]
    sizes = np.zeros(room, np.int64)
    positives = np.full((room, largest + 4), GUARD, np.int32)
    rng = np.array([seed], np.uint64)
    first, last = _go(source, lo, hi, KEY, tokens, rng, sizes, positives)
    assert (memory[:32] == GUARD).all()
    assert (memory[32 + room :] == GUARD).all()
    assert (positives[:, largest:] == GUARD).all()
    return [(int(tokens[p]), positives[p, : sizes[p]].tolist()) for p in range(first, last) if sizes[p]]
