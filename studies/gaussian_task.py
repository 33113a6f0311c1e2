"""A mixture of Gaussians on a grid, and a model of it by minibatches (Tanielian and Vasile 2019, §2.3.2, §3.1, §3.2.1).

P(i, j) is known, so models can be compared with the truth. The column is the context i, the row the
target j. A model s = W Oᵀ is trained on pairs by minibatches, either by maximum likelihood or by the relaxed softmax
with n negatives for each pair from exact Boltzmann draws,

    Q_i(j) = D_i(j) e^{s_ij / T} / Σ_j' D_i(j') e^{s_ij' / T},

where D may depend on the context. One gradient serves both: with C_ij = dL/ds_ij summed over the minibatch,
dL/dW = C O and dL/dO = Cᵀ W. For maximum likelihood C = c_i g_ij − c_ij, c the counts of the minibatch; for the relaxed
softmax C is the share of each drawn target in its pair's normaliser, minus one for the positive.

The optimum of a relaxed softmax with unlimited capacity is known in closed form: with draws from Q it is
s = log P̂ − log Q + constant, so that

    s_ij = T / (1 + T) (log P̂(j|i) − log D_i(j)) + constant of the row.                                         (law)

The optimiser is Adam (Kingma and Ba 2015), as the paper does not name its own, with a rate that falls linearly.
"""

import math
from dataclasses import dataclass

import numpy as np
import scipy.sparse

SIZE = 1000
_DECAYS = np.float32(0.9), np.float32(0.999)
_TINY = np.float32(1e-8)


def mixture(n_components, rng, size=SIZE):
    """Return P(i, j), float64 (size, size): Gaussians with full covariance in the square, Dirichlet weights.

    Deviations are 1 to 10 % of the side. A hundredth of the mass is uniform, so that no log P is infinite.
    """
    cells = (np.arange(size) + 0.5) / size
    density = np.zeros((size, size))
    for weight in rng.dirichlet(np.full(n_components, 5.0)):
        centre, deviation = rng.uniform(0.1, 0.9, 2), rng.uniform(0.01, 0.1, 2)
        correlation = rng.uniform(-0.8, 0.8)
        x, y = (cells - centre[0]) / deviation[0], (cells - centre[1]) / deviation[1]
        rest = 1 - correlation**2
        exponent = x[:, None] ** 2 + y[None, :] ** 2 - 2 * correlation * np.outer(x, y)
        density += weight / (deviation.prod() * math.sqrt(rest)) * np.exp(-0.5 * exponent / rest)
    return 0.99 * density / density.sum() + 0.01 / density.size


@dataclass(frozen=True)
class Truth:
    """joint : float64 (size, size), P(i, j); conditional : P(j | i); popularity : (size,), P(j)"""

    joint: np.ndarray

    @property
    def conditional(self):
        return self.joint / self.joint.sum(axis=1, keepdims=True)

    @property
    def popularity(self):
        return self.joint.sum(axis=0)

    def draw(self, n_pairs, rng):
        """Draw pairs; return (contexts, targets), int64 (n_pairs,) each."""
        running = np.cumsum(self.joint.ravel())
        cells = np.minimum(np.searchsorted(running, rng.random(n_pairs) * running[-1], side="right"), running.size - 1)
        return np.divmod(cells, self.joint.shape[1])

    def log_degeneracy(self, name):
        """Return log D of `uniform`, `popularity` or `1/P`, float32, (1, size) or (size, size)."""
        if name == "uniform":
            return np.zeros((1, len(self.joint)), np.float32)
        log_d = np.log(self.popularity)[None] if name == "popularity" else -np.log(self.conditional)
        return log_d.astype(np.float32)


@dataclass(frozen=True)
class Method:
    """Relaxed softmax with n negatives from the Boltzmann law; maximum likelihood if `log_d` is None.

    log_d : float32, (1, size) or (size, size); temp : float, T; negatives : int
    corrected : bool, the popularity softmax's logits are corrected by log D (sampled softmax, eq. 3)
    """

    log_d: np.ndarray | None = None
    temp: float = math.inf
    negatives: int = 5
    corrected: bool = False

    def law(self, log_p):
        """Return the scores at the optimum for log P(j|i), float64 (size, size), with unlimited capacity."""
        if self.log_d is None or self.corrected:
            return log_p
        share = 1.0 if math.isinf(self.temp) else self.temp / (1 + self.temp)
        return share * (log_p - self.log_d)


@dataclass(frozen=True)
class Plan:
    """dim, batch, epochs : int; rate : float, initial rate of Adam"""

    rate: float
    batch: int = 512
    epochs: int = 10
    dim: int = 32


def log_softmax(scores):
    """log g(j | i) of scores float (rows, size), as float64."""
    shifted = scores.astype(np.float64) - scores.max(axis=1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))


def boltzmann_draws(scores, log_d, temp, rows, n, rng):
    """Draw n targets for each of `rows` from D e^{s / T}, exactly; int64 (len(rows), n).

    scores : float32, (n_contexts, size); log_d : float32, the same or one row for all; temp : float, T
    rows : int64, the context of each pair
    """
    weights = scores / np.float32(temp) + log_d
    weights -= weights.max(axis=1, keepdims=True)
    np.exp(weights, out=weights)
    running = np.cumsum(weights, axis=1, out=weights)
    rows = rows[:, None]
    wanted = rng.random((len(rows), n), np.float32) * running[rows, -1]
    low, high = np.zeros(wanted.shape, np.int64), np.full(wanted.shape, scores.shape[1] - 1)
    while (low < high).any():  # for all draws at once: the first place whose running sum exceeds the wanted one
        middle = (low + high) // 2
        above = running[rows, middle] > wanted
        low, high = np.where(above, low, np.minimum(middle + 1, high)), np.where(above, middle, high)
    return low


def coefficients(scores, method, contexts, rows, targets, rng):
    """Return dL/ds summed over a minibatch, float32 (n_contexts, size), sparse if few targets were drawn.

    contexts : ids of the contexts, (n_contexts,); rows, targets : int64, per pair, rows index `contexts`
    """
    observed = _table(np.ones(len(rows), np.float32), rows, targets, scores.shape)
    if method.log_d is None:
        share = np.exp(scores - scores.max(axis=1, keepdims=True))
        share *= np.asarray(observed.sum(axis=1)) / share.sum(axis=1, keepdims=True)
        return np.asarray(share - observed)
    own = method.log_d if len(method.log_d) == 1 else method.log_d[contexts]
    chosen = np.column_stack([targets, boltzmann_draws(scores, own, method.temp, rows, method.negatives, rng)])
    logits = scores[rows[:, None], chosen]
    if method.corrected:
        logits = logits - own[0][chosen]
    share = np.exp(logits - logits.max(axis=1, keepdims=True))
    share /= share.sum(axis=1, keepdims=True)
    return _table(share.ravel(), np.repeat(rows, chosen.shape[1]), chosen.ravel(), scores.shape) - observed


def _table(values, rows, columns, shape):
    """Sums of `values` by cell, a sparse matrix."""
    return scipy.sparse.coo_matrix((values, (rows, columns)), shape).tocsr()


class _Adam:
    """Adam's moments for one matrix, and the step."""

    def __init__(self, matrix):
        self.matrix, self.steps = matrix, 0
        self.moments = np.zeros_like(matrix), np.zeros_like(matrix)

    def step(self, gradient, rate):
        self.steps += 1
        for moment, decay, value in zip(self.moments, _DECAYS, (gradient, gradient**2), strict=True):
            moment *= decay
            moment += (1 - decay) * value
        first, second = (
            moment / np.float32(1 - float(decay) ** self.steps)
            for moment, decay in zip(self.moments, _DECAYS, strict=True)
        )
        self.matrix -= np.float32(rate) * first / (np.sqrt(second) + _TINY)


def train(pairs, method, plan, seed, size=SIZE, look=None):
    """Train on (contexts, targets) and return the scores, float32 (size, size).

    look : callable(scores), optional, called after each epoch
    """
    rng = np.random.default_rng(seed)
    vectors_in = rng.normal(0, 1 / math.sqrt(plan.dim), (size, plan.dim)).astype(np.float32)
    vectors_out = rng.normal(0, 0.01, (size, plan.dim)).astype(np.float32)
    movers = _Adam(vectors_in), _Adam(vectors_out)
    contexts, targets = pairs
    n_batches = -(-len(contexts) // plan.batch)
    for epoch in range(plan.epochs):
        batches = np.array_split(rng.permutation(len(contexts)), n_batches)
        for done, batch in enumerate(batches, epoch * n_batches):
            met, rows = np.unique(contexts[batch], return_inverse=True)
            x = vectors_in[met]
            c = coefficients(x @ vectors_out.T, method, met, rows, targets[batch], rng) / np.float32(len(batch))
            gradient = np.zeros_like(vectors_in)
            gradient[met] = c @ vectors_out
            rate = plan.rate * (1 - done / (plan.epochs * n_batches))
            movers[1].step(c.T @ x, rate)
            movers[0].step(gradient, rate)
        if look is not None:
            look(vectors_in @ vectors_out.T)
    return vectors_in @ vectors_out.T


def divergences(truth, pairs, log_g):
    """Return KL(P̂_i || g_i), KL(P_i || g_i) and KL(P(i, j) || Pop(i) g_i(j)), floats, nats.

    The first two are means over the contexts met, weighted by their training counts; Pop is the truth's.
    """
    size = len(log_g)
    counts = np.bincount(pairs[0] * size + pairs[1], minlength=size * size).reshape(size, size)
    of_context = counts.sum(axis=1, keepdims=True)
    met = of_context[:, 0] > 0
    seen, weight = counts[met] / of_context[met], of_context[met, 0] / of_context.sum()
    conditional = truth.conditional
    training = _divergence(seen, log_g[met]) @ weight
    test = _divergence(conditional[met], log_g[met]) @ weight
    return float(training), float(test), float(_divergence(conditional, log_g) @ truth.joint.sum(axis=1))


def _divergence(p, log_g):
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(p > 0, p * (np.log(p) - log_g), 0).sum(axis=1)


def likelihood(pairs, log_g):
    """Mean log g of pairs, nats."""
    return float(log_g[pairs].mean())
