"""One group from logits to steps: the parts of a run, the scratch arrays of a shard, and the calls to the plugs.

A group is a centre with its m positives, which share the centre's row; or, if a window shares its negatives
(`Sharing.WINDOW`), m centres with one positive in common, the middle word.
"""

from collections import namedtuple
from typing import NamedTuple

import numpy as np

from ..ground.jit import ONE, ZERO, jitable, njit
from ..ground.registry import Sharing
from .contracts import exclude, log_prob, prepare_group, step, step_group, weigh, weigh_group
from .functions import exp_into, padded

_EMPTY = np.float32(np.inf)
EXPLODED = np.float32(1e8)  # |x|² beyond this, or NaN, means divergence


class Plugs(NamedTuple):
    """The parts of a run, NamedTuples: the source of groups, the three plugs, the exclusion of negatives, and the
    inputs that make a centre's vector; None: its own row is the vector.
    """

    source: tuple
    sampler: tuple
    weigher: tuple
    loss: tuple
    exclusion: tuple
    inputs: tuple | None = None


_NO, _CENTRE, _WINDOW = (int(sharing) for sharing in Sharing)


class LoopSpec(NamedTuple):
    """max_positives : int, pairs of the largest group; n_negatives : int, slots per pair, or per group if shared
    sharing : int, of `Sharing`; needs_log_q : bool, a plug reads log q
    bounded : bool, limit a group's steps to about one unit of logit (see `linalg.bound_steps`)
    positive_log_q : bool, the positives' log q is read too; absolute : bool, the logit is |x · y|
    gaps : bool, the sampler may leave slots empty (id -1)
    weighed : bool, the weigher may change weights
    """

    max_positives: int
    n_negatives: int
    sharing: int
    needs_log_q: bool
    bounded: bool
    positive_log_q: bool = False
    absolute: bool = False
    gaps: bool = False
    weighed: bool = True


@jitable
def of_windows(shape):
    """Return the same spec with `Sharing.WINDOW`, as a compile-time constant."""
    return LoopSpec(
        shape.max_positives,
        shape.n_negatives,
        _WINDOW,
        shape.needs_log_q,
        shape.bounded,
        shape.positive_log_q,
        shape.absolute,
        shape.gaps,
        shape.weighed,
    )


@jitable
def drawn_places(shape, m):
    """Return the number of negatives drawn for a group of m pairs (int)."""
    return shape.n_negatives * (m if shape.sharing == _NO else 1)


@jitable
def logit_places(shape, m):
    """Return the number of negative logits of a group of m pairs (int): in a window, each centre has its own."""
    return shape.n_negatives * (1 if shape.sharing == _CENTRE else m)


Group = namedtuple("Group", "place word m beside")
"""The current group. place : int, its index in the launch; word : int, id of the centre, or of a window's middle word
m : int, number of pairs; beside : int, how many of the scratch's positives the exclusion reads, m in training
"""


Scratch = namedtuple(
    "Scratch",
    "positives positive_rows positive_logits positive_exp_logits positive_steps positive_log_q positive_signs "
    "positive_weights negatives negative_rows negative_logits negative_exp_logits negative_steps negative_log_q "
    "negative_signs negative_weights ids logits exp_logits log_q weights gradients x centres centre_rows norms "
    "target_rows slots slot_sums sink",
)
"""Arrays of one shard: for a group's targets (ids, rows, logits, e^logits, steps, log q, signs, ω), for one pair, and
for the group's centres (only the first if there is one). `slots` and `slot_sums` are a hash table of a window's
centres; their size is a power of two, over twice the most centres. `sink` is a row for steps that no row takes.
"""


_LINE = 64  # bytes


def on_own_lines(state):
    """Return a state, an array or a tuple of arrays and numbers, with its arrays copied to cache lines of its own.

    Arrays that two workers write to must not share a line, which would move between cores at each store.
    """
    if isinstance(state, tuple):
        return getattr(state, "_make", tuple)(map(on_own_lines, state))
    if not isinstance(state, np.ndarray):
        return state
    buffer = np.empty((state.nbytes // _LINE + 2) * _LINE, np.uint8)
    own: np.ndarray = np.ndarray(state.shape, state.dtype, buffer, -buffer.ctypes.data % _LINE)
    own[...] = state
    return own


def make_scratch(shape, dim):
    """Return a `Scratch`, on cache lines of its own."""
    m, n = shape.max_positives, shape.n_negatives
    draws, drawn = logit_places(shape, m), drawn_places(shape, m)
    log_q = shape.needs_log_q
    slots = 1 << (m.bit_length() + 1) if shape.sharing == Sharing.WINDOW else 1
    scratch = Scratch(  # type: ignore[call-arg]  # the tuples end where the other fields begin
        *_of_targets(shape, m, m, m if shape.positive_log_q else 0),
        *_of_targets(shape, drawn, draws, drawn if log_q else 0),
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
        np.zeros(dim, np.float32),
    )
    return on_own_lines(scratch)


def _of_targets(shape, ids, logits, log_q):
    return (
        np.empty(ids, np.int32),
        np.empty(ids, np.int64),
        *np.zeros((2, padded(logits)), np.float32),
        np.empty(logits, np.float32),
        np.zeros(log_q, np.float32),
        np.empty(logits if shape.absolute else 0, np.float32),
        np.empty(logits if shape.weighed else 0, np.float32),
    )


@njit(borrows=True)
def make_absolute(logits, n, signs):
    """Replace the first n logits by their absolute values, and keep their signs for the chain rule."""
    for k in range(n):
        signs[k] = -ONE if logits[k] < ZERO else ONE
        logits[k] *= signs[k]


@njit(borrows=True)
def _gather(shape, scratch, k):
    """Copy the ids, logits, e^logits and log q of the group's k-th pair into the pair's arrays; return the offset of
    its negative logits.
    """
    n = shape.n_negatives
    offset = 0 if shape.sharing == _CENTRE else k * n
    ids, logits, exp_logits, log_q = scratch.ids, scratch.logits, scratch.exp_logits, scratch.log_q
    ids[0], logits[0], exp_logits[0] = scratch.positives[k], scratch.positive_logits[k], scratch.positive_exp_logits[k]
    if k == 0 or shape.sharing != _CENTRE:
        for j in range(n):
            logits[1 + j] = scratch.negative_logits[offset + j]
            exp_logits[1 + j] = scratch.negative_exp_logits[offset + j]
    if k == 0 or shape.sharing == _NO:
        first = offset if shape.sharing == _NO else 0
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


@jitable
def _centre_of(shape, k):
    """Return the index in the scratch of the k-th pair's centre (int)."""
    return k if shape.sharing == _WINDOW else 0


@njit(borrows=True)
def _excludes_some(exclusion, shape, scratch, group):
    """Return whether any negative of the group is excluded."""
    n, ids, positives = shape.n_negatives, scratch.ids, scratch.positives
    for k in range(group.m):
        ids[0] = positives[k]
        if k == 0 or shape.sharing == _NO:
            first = k * n
            for j in range(n):
                ids[1 + j] = scratch.negatives[first + j]
        centre = scratch.centres[_centre_of(shape, k)]
        if exclude(exclusion, centre, positives, group.beside, ids, scratch.weights):
            return True
    return False


@njit(borrows=True)
def _step_whole_group(plugs, weigher_state, shape, scratch, group):
    """Compute the steps of all pairs at once if the plugs can; return whether they did, and the sum of the losses."""
    m, draws = group.m, logit_places(shape, group.m)
    exp_logits = scratch.positive_exp_logits, scratch.negative_exp_logits
    weights = scratch.positive_weights, scratch.negative_weights
    log_q = scratch.positive_log_q, scratch.negative_log_q
    steps = scratch.positive_steps, scratch.negative_steps
    shared, weighed, n = shape.sharing == _CENTRE, shape.weighed, shape.n_negatives
    if shape.gaps or (shape.sharing == _WINDOW and shape.needs_log_q):  # a window has the log q of its draws once
        return False, 0.0
    if weighed and not weigh_group(plugs.weigher, weigher_state, m, draws, *weights):
        return False, 0.0
    done, value = step_group(plugs.loss, shared, weighed, m, n, exp_logits, weights, log_q, steps)
    return done and not _excludes_some(plugs.exclusion, shape, scratch, group), value


@njit(borrows=True)
def _ask_pair_by_pair(plugs, weigher_state, shape, scratch, group, alpha, rng):
    """Compute the steps pair by pair; return the sum of the losses."""
    n = shape.n_negatives
    positive_steps, negative_steps = scratch.positive_steps, scratch.negative_steps
    ids, logits, exp_logits, log_q = scratch.ids, scratch.logits, scratch.exp_logits, scratch.log_q
    weights, gradients = scratch.weights, scratch.gradients
    for k in range(logit_places(shape, group.m)):
        negative_steps[k] = ZERO
    value = 0.0
    for k in range(group.m):
        offset, centre = _gather(shape, scratch, k), _centre_of(shape, k)
        for j in range(1 + n):
            weights[j] = ONE
        exclude(plugs.exclusion, scratch.centres[centre], scratch.positives, group.beside, ids, weights)
        if shape.gaps:
            for j in range(1, 1 + n):
                if ids[j] < 0:
                    weights[j] = ZERO
        weigh(plugs.weigher, weigher_state, k, offset, ids, logits, exp_logits, log_q, weights)
        value += step(
            plugs.loss, scratch.centre_rows[centre], alpha, rng, logits, exp_logits, log_q, weights, gradients
        )
        positive_steps[k] = gradients[0]
        for j in range(n):
            negative_steps[offset + j] += gradients[1 + j]
    return value


@njit(borrows=True)
def find_gradients(plugs, states, shape, scratch, width, group, alpha, rng):
    """Compute dL/d(x · y) of every target of a group with the plugs.

    states : (state of the sampler, state of the weigher); alpha : float32, 0 if nothing may be trained
    scratch : Scratch, holds the group's ids, rows and dot products, the latter in `positive_logits` and
        `negative_logits`; the gradients are written to `positive_steps` and `negative_steps`

    Returns whether to train the two matrices on this group, and the sum of its losses: (bool, float).
    """
    sampler_state, weigher_state = states
    m, draws = group.m, logit_places(shape, group.m)
    positive_logits, negative_logits = scratch.positive_logits, scratch.negative_logits
    positive_rows, negative_rows, negatives = scratch.positive_rows, scratch.negative_rows, scratch.negatives
    centre_row = scratch.centre_rows[0]
    if shape.positive_log_q:
        log_q = scratch.positive_log_q
        log_prob(plugs.sampler, sampler_state, group.place, group.word, m, scratch.positives, positive_logits, log_q)
    if shape.absolute:
        make_absolute(positive_logits, m, scratch.positive_signs)
        make_absolute(negative_logits, draws, scratch.negative_signs)
    exp_into(positive_logits, padded(m), ONE, ZERO, scratch.positive_exp_logits)
    exp_into(negative_logits, padded(draws), ONE, ZERO, scratch.negative_exp_logits)
    trains = shape.sharing == _WINDOW or prepare_group(
        plugs.weigher, weigher_state, width, centre_row, m, positive_rows, draws, negative_rows, negatives, alpha, rng
    )
    if not trains and alpha != ZERO:  # at 0, gradients are only looked at
        return False, 0.0
    done, value = _step_whole_group(plugs, weigher_state, shape, scratch, group)
    if not done:
        value = _ask_pair_by_pair(plugs, weigher_state, shape, scratch, group, alpha, rng)
    if shape.absolute:
        for k in range(m):
            scratch.positive_steps[k] *= scratch.positive_signs[k]
        for k in range(draws):
            scratch.negative_steps[k] *= scratch.negative_signs[k]
    return trains, value


@njit(borrows=True)
def scale_steps(scratch, m, draws, factor):
    """Multiply the steps of m positives and of `draws` negatives by a factor."""
    for k in range(m):
        scratch.positive_steps[k] *= factor
    for k in range(draws):
        scratch.negative_steps[k] *= factor
