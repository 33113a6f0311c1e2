"""One group on its way from logits to steps: what a run is made of, the arrays of a shard, the questions to the plugs.

A group is a text's centre with its m positives, which share the centre's row; or, where negatives are shared by a
window (`WindowShape`), m centres with one positive between them, the word in their middle.
"""

from typing import NamedTuple

import numpy as np

from ..jit import njit
from .contracts import Socket, exclude, step, step_group, weigh, weigh_group
from .functions import padded

_ZERO = np.float32(0.0)
_ONE = np.float32(1.0)
_EMPTY = np.float32(np.inf)
EXPLODED = np.float32(1e8)  # |x|² beyond this (or NaN) is no embedding any more


class Plugs(NamedTuple):
    """What a run is made of: the source of groups, the three plugs, and what a negative must not be (NamedTuples)."""

    source: tuple
    sampler: tuple
    weigher: tuple
    loss: tuple
    exclusion: tuple


class Shape(NamedTuple):
    """max_positives : int, pairs of the largest group; n_negatives : int, places for each pair's (or a shared group's)
    shared : bool, one set of negatives for the group; needs_log_q : bool, somebody reads log q
    bounded : bool, hold a group's steps to about one unit of logit (see `linalg.bound_steps`)
    positive_log_q : bool, the positives' log q is read too; absolute : bool, the logit is |x · y|
    gaps : bool, the sampler may leave places empty (id -1)
    weighed : bool, the weigher may change weights
    """

    max_positives: int
    n_negatives: int
    shared: bool
    needs_log_q: bool
    bounded: bool
    positive_log_q: bool = False
    absolute: bool = False
    gaps: bool = False
    weighed: bool = True


class WindowShape(Shape):
    """The shape of a run whose groups are windows: always `shared`, but each pair has logits of its own."""

    __slots__ = ()


def _pairs_of_a_centre(shape):
    return not shape.shared


def _pairs_of_a_window(shape):
    return True


_apart = Socket("apart", default=_pairs_of_a_centre)
_apart.implement(WindowShape)(_pairs_of_a_window)
apart = _apart.call  # whether each pair has its own logits of negatives


class Scratch(NamedTuple):
    """Arrays of one shard: of a group's targets (ids, rows, logits, e^logits, steps, log q, signs, ω), of one pair, of
    the group's centres (only the first, where they are one); slots and their sums for a table of a window's centres, a
    power of two of them and more than twice as many as it can have.
    """

    positives: np.ndarray
    positive_rows: np.ndarray
    positive_logits: np.ndarray
    positive_exp_logits: np.ndarray
    positive_steps: np.ndarray
    positive_log_q: np.ndarray
    positive_signs: np.ndarray
    positive_weights: np.ndarray
    negatives: np.ndarray
    negative_rows: np.ndarray
    negative_logits: np.ndarray
    negative_exp_logits: np.ndarray
    negative_steps: np.ndarray
    negative_log_q: np.ndarray
    negative_signs: np.ndarray
    negative_weights: np.ndarray
    ids: np.ndarray
    logits: np.ndarray
    exp_logits: np.ndarray
    log_q: np.ndarray
    weights: np.ndarray
    gradients: np.ndarray
    x: np.ndarray
    centres: np.ndarray
    centre_rows: np.ndarray
    norms: np.ndarray
    target_rows: np.ndarray
    slots: np.ndarray
    slot_sums: np.ndarray


_LINE = 64  # bytes


def on_own_lines(state):
    """Return a state, an array or a tuple of arrays and numbers, with its arrays copied to cache lines of its own.

    What two workers write to must not share a line, which would go from core to core at each store.
    """
    if isinstance(state, np.ndarray):
        return _on_own_lines([state])[0]
    if not isinstance(state, tuple):
        return state
    arrays = iter(_on_own_lines([part for part in state if isinstance(part, np.ndarray)]))
    make = getattr(state, "_make", tuple)
    return make(next(arrays) if isinstance(part, np.ndarray) else part for part in state)


def _on_own_lines(arrays):
    sizes = [-(-array.nbytes // _LINE) * _LINE for array in arrays]
    buffer = np.empty(sum(sizes) + _LINE, np.uint8)
    first, moved = -buffer.ctypes.data % _LINE, []
    for array, size in zip(arrays, sizes, strict=True):
        own = np.ndarray(array.shape, array.dtype, buffer, first)
        own[...] = array
        moved.append(own)
        first += size
    return moved


def make_scratch(shape, dim):
    """Return a `Scratch`, on cache lines of its own."""
    m, n = shape.max_positives, shape.n_negatives
    draws, drawn = n * m if apart(shape) else n, n if shape.shared else n * m
    log_q = shape.needs_log_q
    slots = 1 << (m.bit_length() + 1) if isinstance(shape, WindowShape) else 1
    scratch = Scratch(
        np.empty(m, np.int32),
        np.empty(m, np.int64),
        np.zeros(padded(m), np.float32),
        np.zeros(padded(m), np.float32),
        np.empty(m, np.float32),
        np.zeros(m if shape.positive_log_q else 0, np.float32),
        np.empty(m if shape.absolute else 0, np.float32),
        np.empty(m if shape.weighed else 0, np.float32),
        np.empty(drawn, np.int32),
        np.empty(drawn, np.int64),
        np.zeros(padded(draws), np.float32),
        np.zeros(padded(draws), np.float32),
        np.empty(draws, np.float32),
        np.zeros(drawn if log_q else 0, np.float32),
        np.empty(draws if shape.absolute else 0, np.float32),
        np.empty(draws if shape.weighed else 0, np.float32),
        np.empty(1 + n, np.int32),
        np.empty(1 + n, np.float32),
        np.empty(1 + n, np.float32),
        np.zeros(1 + n if log_q else 0, np.float32),
        np.ones(1 + n, np.float32),
        np.empty(1 + n, np.float32),
        np.empty(dim, np.float32),
        np.empty(m, np.int32),
        np.empty(m, np.int64),
        np.empty(m, np.float32),
        np.empty(1 + n, np.int64),
        np.empty(slots, np.int64),
        np.empty(slots, np.float32),
    )
    return on_own_lines(scratch)


@njit(borrows=True)
def make_absolute(logits, n, signs):
    """Replace the first n logits by their absolute values, and keep their signs for the chain rule."""
    for k in range(n):
        signs[k] = -_ONE if logits[k] < _ZERO else _ONE
        logits[k] *= signs[k]


@njit(borrows=True)
def _gather(shape, scratch, k):
    """Bring what the k-th pair of the group is made of together: ids, logits, their e^s, log q; return the offset of
    the logits of its negatives.
    """
    n = shape.n_negatives
    offset = k * n if apart(shape) else 0
    ids, logits, exp_logits, log_q = scratch.ids, scratch.logits, scratch.exp_logits, scratch.log_q
    ids[0], logits[0], exp_logits[0] = scratch.positives[k], scratch.positive_logits[k], scratch.positive_exp_logits[k]
    if k == 0 or apart(shape):
        for j in range(n):
            logits[1 + j] = scratch.negative_logits[offset + j]
            exp_logits[1 + j] = scratch.negative_exp_logits[offset + j]
    if k == 0 or not shape.shared:
        first = 0 if shape.shared else k * n
        for j in range(n):
            ids[1 + j] = scratch.negatives[first + j]
        if shape.needs_log_q:
            for j in range(n):
                log_q[1 + j] = scratch.negative_log_q[first + j]
            if shape.gaps:
                for j in range(1, 1 + n):
                    log_q[j] = _EMPTY if ids[j] < 0 else log_q[j]
    if shape.positive_log_q:
        log_q[0] = scratch.positive_log_q[k]
    return offset


@njit(borrows=True)
def _excludes_some(exclusion, shape, scratch, turn, m):
    """Tell whether any negative of the group must not stand where it does."""
    n, ids, weights, positives = shape.n_negatives, scratch.ids, scratch.weights, scratch.positives
    for k in range(m):
        ids[0] = positives[k]
        if k == 0 or not shape.shared:
            first = 0 if shape.shared else k * n
            for j in range(n):
                ids[1 + j] = scratch.negatives[first + j]
        if exclude(exclusion, scratch.centres[k * turn], positives, m, ids, weights):
            for j in range(1 + n):
                weights[j] = _ONE
            return True
    return False


@njit(borrows=True)
def find_steps(plugs, weigher_state, shape, scratch, turn, m, alpha, rng):
    """Write the steps of a group's targets, −α dL/dlogit, from their logits; return the sum of its losses.

    turn : int, the k-th pair's centre is the ``k * turn``-th of the scratch
    """
    loss, exclusion = plugs.loss, plugs.exclusion
    positive_steps, negative_steps = scratch.positive_steps, scratch.negative_steps
    n = shape.n_negatives
    draws = n * m if apart(shape) else n
    positive_weights, negative_weights = scratch.positive_weights, scratch.negative_weights
    if not shape.gaps and (
        not shape.weighed or weigh_group(plugs.weigher, weigher_state, m, draws, positive_weights, negative_weights)
    ):
        done, value = step_group(
            loss,
            not apart(shape),
            shape.weighed,
            m,
            n,
            scratch.positive_exp_logits,
            scratch.negative_exp_logits,
            positive_weights,
            negative_weights,
            positive_steps,
            negative_steps,
        )
        if done and not _excludes_some(exclusion, shape, scratch, turn, m):
            for k in range(m):
                positive_steps[k] *= -alpha
            for k in range(draws):
                negative_steps[k] *= -alpha
            return value
    ids, logits, exp_logits, log_q = scratch.ids, scratch.logits, scratch.exp_logits, scratch.log_q
    weights, gradients, centres, centre_rows = scratch.weights, scratch.gradients, scratch.centres, scratch.centre_rows
    for k in range(draws):
        negative_steps[k] = _ZERO
    value = 0.0
    for k in range(m):
        offset = _gather(shape, scratch, k)
        changed = exclude(exclusion, centres[k * turn], scratch.positives, m, ids, weights)
        if shape.gaps:
            changed = True
            for j in range(1, 1 + n):
                if ids[j] < 0:
                    weights[j] = _ZERO
        changed |= weigh(plugs.weigher, weigher_state, k, offset, ids, logits, exp_logits, log_q, weights)
        value += step(loss, centre_rows[k * turn], alpha, rng, logits, exp_logits, log_q, weights, gradients)
        if changed:  # they come as 1 to the next pair
            for j in range(1 + n):
                weights[j] = _ONE
        positive_steps[k] = -alpha * gradients[0]
        for j in range(n):
            negative_steps[offset + j] -= alpha * gradients[1 + j]
    return value
