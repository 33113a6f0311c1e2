"""Kernel-based negatives (Blanc and Rendle 2018): close to softmax sampling; a tree avoids scoring all classes.

    q(j|h) = K(h, w_j) / Σ_l K(h, w_l),    K = α s² + 1 (quadratic, §3.3) or s⁴ + 1 (quartic, §4.2),   s = h · w_j

Both are symmetric in s: they fit the absolute softmax of eq. 11 (``--absolute-softmax``), whose logit is |s|, and draw
the same with it and without. The quadratic kernel is drawn by divide and conquer (§3.2): a node of a binary tree holds
the summed features of its classes (`kernels.tree`), so that

    Σ_{j in node} K(h, w_j) = α φ(h) · Σ_j packed(w_j w_jᵀ) + number of classes

costs D = d(d + 1)/2 products, and a draw goes from the root to a leaf of D / d classes, which are scored one by one:
O(D log V). The draws of one group share their computations. All probabilities come from the tree and its own copy of
the rows, although the model's rows have moved since: log q is exact for these draws.

`bulk`
    Tree and copy are rebuilt between launches, in O(V D), every V / 16 groups. The paper's tree follows every change
    of a row; draws from this one are as good (docs/reproductions/kernel.md).
`none`
    No tree: a matrix product gives all α s² + 1, for up to 128 centres before they are trained: half the tree's time at
    15,000 classes and 20 negatives per pair. It also gives all s⁴ + 1, whose features take d⁴/24 numbers a node.
"""

import math
from collections import namedtuple
from dataclasses import replace

import numpy as np

from ...ground.jit import LEAF, ONE, ZERO, njit
from ...ground.option import option, refuse_idle
from ...kernels.contracts import implement_draw, implement_log_prob, implement_open_sampler
from ...kernels.dense.draws import KernelLaw
from ...kernels.functions import fast_log
from ...kernels.rng import next_unit
from ...kernels.tree import (
    count_leaves,
    features_into,
    leaf_start,
    node_counts,
    node_sum,
    packed_size,
    rebuild,
    two_sums,
)
from ..plugs import About, Sampler
from . import SAMPLERS
from ._ahead import DrawnAhead, implement_ahead, place_of, score_then


class KernelTree(Sampler):
    """Quadratic kernel, sums rebuilt in bulk.

    sums : float32, (2 L, D), see `kernels.tree`; counts : float32, (2 L,), classes in each node
    rows : float32, (n_vocab, dim), source of the sums; alpha : float
    batch_groups : int, between two rebuilds
    """

    sums: np.ndarray
    counts: np.ndarray
    rows: np.ndarray
    alpha: float
    batch_groups: int

    gives_log_q = True

    def refresh(self, vectors_in, vectors_out, centre_ids, key):
        np.copyto(self.rows, vectors_out)
        rebuild(self.sums, self.rows)


class KernelAhead(DrawnAhead):
    """Either kernel, α s^power + 1, all classes scored. power : int, 2 or 4; alpha : float; then as in `DrawnAhead`"""

    power: int
    alpha: float

    @property
    def scores_all(self):  # type: ignore[override]  # it depends on the instance
        if self.power == 4:
            return "the quartic kernel", "--kernel quadratic"
        return "a kernel without a tree", "--tree bulk"

    def law(self):
        return KernelLaw(self.power, np.float32(self.alpha))


@SAMPLERS.register("kernel")
class KernelFamily(Sampler):
    """Chooses the class by ``options.kernel`` and ``options.tree``."""

    class Options:
        kernel: str = option(
            "quadratic",
            "Kernel to sample by: quadratic, kernel-alpha s^2 + 1, or quartic, s^4 + 1.",
            choices=("quadratic", "quartic"),
        )
        kernel_alpha: float = option(100.0, "Factor on s^2 in the quadratic kernel.", above=0)
        tree: str = option(
            "bulk",
            "How to draw from the quadratic kernel: bulk, by a tree of sums rebuilt between launches; none, by scoring "
            "all words.",
            choices=("bulk", "none"),
        )

    gives_log_q = True
    about = About(
        summary="in proportion to a kernel of the logit, from a tree of summed features or by a matrix product",
        equation="Q_i(j) ∝ α s_ij² + 1 (quadratic) or s_ij⁴ + 1 (quartic)",
        paper="kernel §3.2–3.3, eqs. 8–10",
        cost="quadratic: about d log2(2V/d) / n + d dot products per draw at first, shared by the n draws of a group; "
        "a rebuild of V d / 2 dot products every V / 16 groups; quartic, and --tree none: "
        "V dot products per centre, as a matrix product",
        use="with sampled-softmax and --absolute-softmax, for a nearly unbiased softmax from few negatives",
    )
    _batch = 128  # centres per matrix product and worker without a tree, as for exact Boltzmann draws

    @classmethod
    def from_options(cls, options, context):
        n_vocab, dim = len(context.counts), context.dim
        if options.kernel == "quartic" or options.tree == "none":
            power, alpha = (4, 1.0) if options.kernel == "quartic" else (2, options.kernel_alpha)
            return KernelAhead(power, float(alpha), *KernelAhead.room(cls._batch, context))
        n_leaves = count_leaves(n_vocab, dim)
        sums, rows = np.zeros((2 * n_leaves, packed_size(dim)), np.float32), np.zeros((n_vocab, dim), np.float32)
        counts, groups = node_counts(n_vocab, n_leaves), max(64, n_vocab // 16)
        return KernelTree(sums, counts, rows, options.kernel_alpha, groups)

    @classmethod
    def draws_ahead(cls, options):
        return True

    @classmethod
    def normalise_options(cls, options, given):
        if options.kernel == "quartic":
            return replace(options, **refuse_idle(("kernel_alpha", "tree"), "--kernel quartic", given))
        return options

    @classmethod
    def cost(cls, options, context):
        n_vocab, dim, draws = len(context.counts), context.dim, context.max_draws
        if options.kernel == "quartic" or options.tree == "none":
            return 0.02 * dim * n_vocab
        n_leaves = count_leaves(n_vocab, dim)
        splits = min(n_leaves, draws * (2 + math.log2(max(1, n_leaves / draws))))
        return packed_size(dim) * (0.25 * splits + 0.1 * min(draws, n_leaves))


Visited = namedtuple("Visited", "centre features now split reach scored totals logits weights")
"""Scratch of one shard: what the draws of the current group have computed.

centre : float32, (dim,); features : float32, (D,), α φ(centre); now : int64, (1,), number of the group
split : int64, (2 L,), the group for which a node's children were last weighed
reach : float64, (2 L,), probability of reaching a node, valid if its parent is split
scored : int64, (L,), the group for which a leaf's classes were last scored; totals : float32, (L,), their Σ K
logits, weights : float32, (n_vocab,), s and K of the classes in scored leaves
"""


@implement_open_sampler(KernelTree)
def open_visited(sampler, n_draws):
    nodes, size = sampler.sums.shape
    n_vocab, dim = sampler.rows.shape
    centre, features, now = np.empty(dim, np.float32), np.empty(size, np.float32), np.zeros(1, np.int64)
    split, reach = np.zeros(nodes, np.int64), np.ones(nodes, np.float64)
    scored, totals = np.zeros(nodes // 2, np.int64), np.empty(nodes // 2, np.float32)
    logits, weights = np.empty(n_vocab, np.float32), np.empty(n_vocab, np.float32)
    return Visited(centre, features, now, split, reach, scored, totals, logits, weights)


@njit(borrows=True)
def _mass(form, count):
    """Return Σ K of a node; rounding can make a sum of squares negative, and a diverging vector makes it NaN."""
    return np.float64(count) + (np.float64(form) if form > ZERO else 0.0)


@njit(borrows=True)
def _split(sampler, state, node):
    """Weigh the children of a node, unless this group has done so."""
    if state.split[node] == state.now[0]:
        return
    state.split[node] = state.now[0]
    left = 2 * node
    a, b = two_sums(sampler.sums, left, state.features)
    a, b = _mass(a, sampler.counts[left]), _mass(b, sampler.counts[left + 1])
    share = a / (a + b)
    state.reach[left] = state.reach[node] * share
    state.reach[left + 1] = state.reach[node] * (1.0 - share)


@njit(fastmath=LEAF, borrows=True)
def _score(rows, begin, end, x, alpha, logits, weights):
    """Write s and α s² + 1 of the rows [begin, end); return the sum of the latter."""
    total = ZERO
    for j in range(begin, end):
        s = ZERO
        for i in range(x.shape[0]):
            s += rows[j, i] * x[i]
        logits[j] = s
        weights[j] = alpha * s * s + ONE
        total += weights[j]
    return total


@njit(borrows=True)
def _visit(sampler, state, leaf, begin, end):
    """Score the classes of a leaf, unless this group has done so; return their Σ K."""
    if state.scored[leaf] != state.now[0]:
        state.scored[leaf] = state.now[0]
        alpha = np.float32(sampler.alpha)
        state.totals[leaf] = _score(sampler.rows, begin, end, state.centre, alpha, state.logits, state.weights)
    return state.totals[leaf]


@njit(borrows=True)
def _descend(sampler, state, n_leaves, rng):
    node = 1
    while node < n_leaves:
        _split(sampler, state, node)
        went = node
        node = 2 * went
        if not np.float64(next_unit(rng)) * state.reach[went] < state.reach[node]:
            node += 1
    return node


@implement_draw(KernelTree)
def draw(sampler, state, group, centre_id, centre, out, rng, n, ids, log_q, logits):
    n_leaves, n_vocab = sampler.sums.shape[0] // 2, sampler.rows.shape[0]
    weights = state.weights
    state.now[0] += 1
    for i in range(centre.shape[0]):
        state.centre[i] = centre[i]
    features_into(centre, np.float32(sampler.alpha), state.features)
    for k in range(n):
        node = _descend(sampler, state, n_leaves, rng)
        leaf = node - n_leaves
        begin, end = leaf_start(leaf, n_leaves, n_vocab), leaf_start(leaf + 1, n_leaves, n_vocab)
        total = _visit(sampler, state, leaf, begin, end)
        target = next_unit(rng) * total
        j = begin
        while j < end - 1 and target >= weights[j]:
            target -= weights[j]
            j += 1
        ids[k] = j
        if k < log_q.shape[0]:
            log_q[k] = fast_log(state.reach[node] * np.float64(weights[j]) / np.float64(total))
    return False  # rows may have moved on since the tree was made


@implement_log_prob(KernelTree)
def log_prob(sampler, state, group, centre_id, n, ids, logits, log_q):
    alpha = np.float32(sampler.alpha)
    log_z = fast_log(_mass(node_sum(sampler.sums, 1, state.features), sampler.counts[1]))
    for k in range(n):
        j = np.int64(ids[k])
        mass = _score(sampler.rows, j, j + 1, state.centre, alpha, state.logits, state.weights)
        log_q[k] = fast_log(np.float64(mass)) - log_z


implement_ahead(KernelAhead)


@implement_log_prob(KernelAhead)
def log_prob_ahead(sampler, state, group, centre_id, n, ids, logits, log_q):
    worker, place = state[0], place_of(sampler, group)
    log_z = np.float64(sampler.log_z[worker, place])
    for k in range(n):
        score = np.float64(score_then(sampler.origin, sampler.due[worker, place], centre_id, ids[k]))
        square = score * score
        log_q[k] = fast_log(sampler.alpha * (square * square if sampler.power == 4 else square) + 1.0) - log_z
