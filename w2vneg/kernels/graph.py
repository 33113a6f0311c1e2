"""Random walks on a graph as groups: a node of a walk is the centre, the nodes near it in the walk are its positives.

Walks are generated on demand and never stored: the nodes of walk k depend only on k and on the key of the epoch, so a
block that begins within a walk generates it again from its start. Windows are those of a text whose sentences are the
walks (`walk.TextWindows`).

A step from v, with t the previous node (Grover and Leskovec 2016, "node2vec", equation 2 and figure 2):

    P(x | t, v) ∝ w_vx α(t, x),   α = 1/p if x = t;  1 if t has an edge to x;  1/q else

With γ, it is node2vec+ (Liu, Hirn and Krishnan 2023), following PecanPy, its authors' program:

    α = 1/p if x = t;  1 if w_tx ≥ d_x;  min(1, 1/q) if w_tx < d_x and w_vx < d_v;  1/q + (1 − 1/q) w_tx / d_x else

w_tx is 0 if t has no edge to x, and d_u is the mean plus γ standard deviations of the weights at u. In a directed
graph, d_x uses the edges that lead to x and d_v those that leave v; PecanPy accepts no directed graphs. If all weights
are equal, this is the α above.

The first step of a walk, and every step if p = q = 1, is drawn from w alone by alias tables. Other steps are drawn by
rejection (Yang et al. 2019, "KnightKing"): x by w, accepted with probability α / max(1, 1/q). The part of α(t, t) above
that maximum is an area of its own, so that a small p causes no rejections; every other α is between 1 and 1/q. No table
of pairs of edges is ever built.
"""

from collections import namedtuple

import numpy as np

from ..ground.jit import njit
from .contracts import implement_fill, implement_group, implement_prefetch_hint
from .functions import first_at_least
from .rng import below, bits_at, kept_at, mix, place_of, shuffled, step_bits, unit_of
from .walk import SEPARATOR, group, prefetch_hint

_OF_WALKS = np.uint64(0xA5A3564E8B5FA1D3)  # separates the random bits of walks from those of subsampling


GraphWalks = namedtuple(
    "GraphWalks",
    "starts targets table chances ties loose origins per_node length back away keep window dynamic ordered",
)
"""starts : int64, (n_nodes + 1,), where the edges of a node begin; targets : int32, (n_edges,), ascending in a node
table : uint64, (n_edges,), alias tables of the nodes' edges; empty if all weights are equal
chances : float32, (n_edges,), probability of each edge at a first step; empty if all weights are equal or p needs none
ties, loose : float32 and bool, (n_edges,), w / d of the node that an edge leads to, and whether w < d of the node that
    it leaves; empty if α is node2vec's
origins : int32, (n_origins,), start nodes of walks, each used `per_node` times; length : int, nodes of a walk
back, away : float, 1/p and 1/q
keep, window, dynamic, ordered : as in `walk.TextWindows`
"""


@njit(borrows=True)
def _any_edge(source, node, bits):
    """Draw an edge of `node`, which must have one, by weight; return its index."""
    first = source.starts[node]
    n = source.starts[node + 1] - first
    if source.table.shape[0] == 0:
        return first + below(bits, n)
    return first + place_of(source.table, first, n, bits)


@njit(borrows=True)
def _edge_to(source, node, other):
    """Return the index of the edge from `node` to `other`, -1 if there is none."""
    low = first_at_least(source.targets, source.starts[node], source.starts[node + 1], other)
    return low if low < source.starts[node + 1] and source.targets[low] == other else np.int64(-1)


@njit(borrows=True)
def _bias(source, before, edge):
    """Return α(t, x) (float64) for t = `before` and x, other than t, the node that edge number `edge` leads to."""
    place = _edge_to(source, before, source.targets[edge])
    if source.ties.shape[0] == 0:
        return 1.0 if place >= 0 else source.away
    tie = np.float64(source.ties[place]) if place >= 0 else 0.0
    if tie >= 1.0:
        return 1.0
    if source.loose[edge]:
        return min(1.0, source.away)
    return source.away + (1.0 - source.away) * tie


@njit(borrows=True)
def _next_node(source, before, node, state):
    """Return (the next node; the next state of the stream); `node` was reached from `before`, -1 at the start."""
    state, bits = step_bits(state)
    if before < 0 or (source.back == 1.0 and source.away == 1.0):
        return source.targets[_any_edge(source, node, bits)], state
    highest, lowest = max(1.0, source.away), min(1.0, source.away)
    beyond = 0.0  # area of the step back above `highest`
    if source.back > highest:
        place = _edge_to(source, node, before)
        if place >= 0:
            alike = source.chances.shape[0] == 0
            chance = 1.0 / (source.starts[node + 1] - source.starts[node]) if alike else source.chances[place]
            beyond = chance * (source.back - highest)
    while True:
        height = unit_of(bits) * (highest + beyond)
        if height >= highest:
            return before, state
        state, bits = step_bits(state)
        edge = _any_edge(source, node, bits)
        other = source.targets[edge]
        if other == before:
            taken = height < source.back
        elif height < lowest:
            taken = True
        else:
            taken = height < _bias(source, before, edge)
        if taken:
            return other, state
        state, bits = step_bits(state)


@implement_fill(GraphWalks)
def fill(source, lo, hi, epoch_key, tokens):
    """Write the kept nodes of the walks that [lo, hi) touches, `SEPARATOR` after each; see `contracts`.

    Positions are those of walks of full length; a walk that ends early, at a node without edges, leaves the rest empty.
    """
    length, n_origins = source.length, source.origins.shape[0]
    n_walks = n_origins * source.per_node
    key = mix(epoch_key ^ _OF_WALKS)
    n, first, last = 0, -1, -1
    for walk in range(lo // length, (hi - 1) // length + 1):
        node = source.origins[shuffled(key, walk, n_walks) % n_origins]
        before = np.int32(-1)
        state = mix(bits_at(key, walk))
        for position in range(walk * length, (walk + 1) * length):
            if position == lo:
                first = n
            if position == hi:
                last = n
            if kept_at(epoch_key, position, source.keep[node]):
                tokens[n] = node
                n += 1
            if source.starts[node] == source.starts[node + 1]:
                break
            following, state = _next_node(source, before, node, state)
            before, node = node, following
        first = n if first < 0 else first
        last = n if last < 0 and hi < (walk + 1) * length else last
        tokens[n] = SEPARATOR
        n += 1
    tokens[n] = SEPARATOR
    return first, n if last < 0 else last


implement_group(GraphWalks)(group)
implement_prefetch_hint(GraphWalks)(prefetch_hint)
