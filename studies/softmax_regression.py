"""Softmax regression trained from few classes at a time: the task of the CSS paper's Figure 2 (see `css_figure_2`).

    p(c | x) = exp(w_c · x) / Σ_d exp(w_d · x)

Stochastic gradient ascent with momentum on minibatches. The gradient of each pair (point, its class and the classes
drawn) comes from a loss of this package through `step`; the draws, the sums over a minibatch and the update are here,
in NumPy.
"""

from dataclasses import dataclass

import numpy as np

from .steps import steps


@dataclass(frozen=True)
class Plan:
    """Sizes of the experiment; `samples` is S, `iterations` the length of every run in minibatches of `batch`."""

    n_classes: int = 1000
    dim: int = 100
    n_points: int = 2000
    batch: int = 50
    samples: int = 20
    iterations: int = 2000
    momentum: float = 0.99


class Problem:
    """Points with classes drawn from a softmax regression model, and noise based on the class frequencies.

    plan : Plan
    inputs : float32, (n_points, dim); parameters : float32, (n_classes, dim), the truth; both standard normal
    targets : int64, (n_points,); counts : int64, (n_classes,)
    frequency, cumulative : float64, (n_classes,), f and its running sum
    inclusion : float64, (n_classes,), b = f^exponent of Bernoulli sampling, 0 for classes without a point
    """

    def __init__(self, plan, rng):
        self.plan = plan
        self.parameters = rng.standard_normal((plan.n_classes, plan.dim), np.float32)
        self.inputs = rng.standard_normal((plan.n_points, plan.dim), np.float32)
        logits = self.inputs @ self.parameters.T
        self.targets = (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)  # equivalent to a draw from the softmax
        self.counts = np.bincount(self.targets, minlength=plan.n_classes)
        self.frequency = self.counts / plan.n_points
        self.cumulative = np.cumsum(self.counts) / plan.n_points
        self.exponent = exponent_expecting(self.frequency, plan.samples)
        self.inclusion = np.where(self.counts > 0, self.frequency**self.exponent, 0)
        with np.errstate(divide="ignore"):
            self.log_frequency = np.log(self.frequency)
            self.log_inclusion = np.log(self.inclusion)

    def log_likelihood(self, parameters):
        """Return Σ_n log p(c_n | x_n), exact, as float."""
        logits = self.inputs @ parameters.T
        top = logits.max(axis=1, keepdims=True)
        log_z = np.log(np.exp(logits - top).sum(axis=1, dtype=np.float64)) + top[:, 0]
        return float((logits[np.arange(len(logits)), self.targets] - log_z).sum())


def exponent_expecting(frequency, n_samples):
    """Return the a in [0, 1] for which Σ f^a over the classes seen is `n_samples` (bisection: the sum falls with a)."""
    seen = frequency[frequency > 0]
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if (seen**middle).sum() > n_samples else (low, middle)
    return (low + high) / 2


@dataclass(frozen=True)
class Draws:
    """Classes of many pairs, one a row, as `step` reads them; the point's own class first; an empty place has weight 0.

    ids : int64; log_q, weights : float32; each (n_pairs, 1 + places)
    """

    ids: np.ndarray
    log_q: np.ndarray
    weights: np.ndarray


def draw_all(problem, targets, rng):
    """Draw S classes for each target from f, possibly the target itself; log q is log f."""
    return _drawn_from_frequency(problem, targets, rng.random((len(targets), problem.plan.samples)))


def draw_others(problem, targets, rng):
    """Draw S classes for each target from f without the target; log q is log f; the losses correct for this."""
    own = problem.frequency[targets][:, None]
    below = problem.cumulative[targets][:, None] - own
    u = rng.random((len(targets), problem.plan.samples)) * (1 - own)
    return _drawn_from_frequency(problem, targets, np.where(u >= below, u + own, u))  # skips the target's interval


def _drawn_from_frequency(problem, targets, u):
    last = np.flatnonzero(problem.counts)[-1]
    ids = np.minimum(np.searchsorted(problem.cumulative, u, side="right"), last)
    ids = np.column_stack([targets, ids])
    return Draws(ids, problem.log_frequency[ids].astype(np.float32), np.ones(ids.shape, np.float32))


def draw_bernoulli(problem, targets, rng):
    """Let each class but the target enter with probability b; log q is log(b / number drawn), ∞ if empty."""
    entered = rng.random((len(targets), problem.plan.n_classes)) < problem.inclusion
    entered[np.arange(len(targets)), targets] = False
    numbers = entered.sum(axis=1)
    rows, classes = np.nonzero(entered)
    places = 1 + np.arange(len(rows)) - (np.cumsum(numbers) - numbers)[rows]
    ids = np.zeros((len(targets), 2 + numbers.max()), np.int64)  # a spare place, so that there is always one
    weights = np.zeros(ids.shape, np.float32)
    log_q = np.full(ids.shape, np.inf, np.float32)
    ids[:, 0], weights[:, 0] = targets, 1
    ids[rows, places], weights[rows, places] = classes, 1
    log_q[rows, places] = problem.log_inclusion[classes] - np.log(numbers[rows])
    return Draws(ids, log_q, weights)


DRAWS = {"all": draw_all, "others": draw_others, "bernoulli": draw_bernoulli}


def exact_coefficients(problem, parameters, points):
    """Return −∂ log p(c_n | x_n) / ∂logit of all classes, float32, (len(points), n_classes)."""
    logits = problem.inputs[points] @ parameters.T
    logits -= logits.max(axis=1, keepdims=True)
    share = np.exp(logits, out=logits)
    share /= share.sum(axis=1, keepdims=True)
    share[np.arange(len(points)), problem.targets[points]] -= 1
    return share


def relative(logits, weights, reference):
    """Return the logits less one number per row: losses that use only differences then see none beyond ±80.

    reference : str, the logit set to 0: "negatives", the highest with weight; "positive"; "" for none
    """
    if not reference:
        return logits
    zero = logits[:, 0]
    if reference == "negatives":
        top = np.max(logits[:, 1:], axis=1, where=weights[:, 1:] > 0, initial=-np.inf)
        zero = np.where(np.isfinite(top), top, zero)
    return logits - zero[:, None]


def sampled_coefficients(problem, parameters, points, loss, noise, reference, rng):
    """Return the coefficients of `loss` for classes drawn by ``DRAWS[noise]``; 0 for those not drawn."""
    drawn = DRAWS[noise](problem, problem.targets[points], rng)
    logits = np.einsum("nd,nkd->nk", problem.inputs[points], parameters[drawn.ids])
    logits = relative(logits, drawn.weights, reference)
    coefficients = np.zeros((len(points), problem.plan.n_classes), np.float32)
    rows = np.arange(len(points))[:, None]
    np.add.at(coefficients, (rows, drawn.ids), steps(loss, logits, drawn.log_q, drawn.weights))
    return coefficients


def ascend(problem, coefficients, rate, record_at, rng):
    """Train from w = 0 and return the exact log-likelihood after each number of minibatches in `record_at`.

    Parameters
    ----------
    coefficients : callable
        ``coefficients(parameters, points, rng)`` gives dL/dlogit of a minibatch's points, (len(points), n_classes).
    rate : float
        Learning rate for the sum over a minibatch, before momentum.
    record_at : list of int, sorted
    rng : Generator
        For the order of the points and the draws.

    Returns
    -------
    log_likelihoods : float64, (len(record_at),)
        −inf once it is not finite.
    """
    plan = problem.plan
    parameters = np.zeros((plan.n_classes, plan.dim), np.float32)
    velocity = np.zeros_like(parameters)
    found = np.full(len(record_at), -np.inf)
    order = rng.permutation(plan.n_points)
    per_epoch = plan.n_points // plan.batch
    with np.errstate(over="ignore", invalid="ignore"):  # too high a rate ends in infinities, which are recorded
        for iteration in range(record_at[-1]):
            place = iteration % per_epoch
            if iteration and place == 0:
                order = rng.permutation(plan.n_points)
            points = order[place * plan.batch : (place + 1) * plan.batch]
            gradient = coefficients(parameters, points, rng).T @ problem.inputs[points]
            velocity *= np.float32(plan.momentum)
            velocity -= np.float32(rate) * gradient
            parameters += velocity
            if iteration + 1 in record_at:
                value = problem.log_likelihood(parameters)
                if not np.isfinite(value):
                    break
                found[record_at.index(iteration + 1)] = value
    return found
