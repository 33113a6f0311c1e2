"""Shared parts of the losses. The softmax family: logits corrected for the noise, one normaliser, its penalty.

    t_k = s_k − log q_k − c        for the negatives, c one correction for all of them
    Z = ω₀ e^{t₀} + Σ_k ω_k e^{t_k}        (without the positive's term if a loss has none)
    L = −t₀ + log Z + λ (log Z)²
    ∂L/∂s_k = (1 + 2 λ log Z) ω_k e^{t_k} / Z        ∂L/∂s₀ likewise, less 1

Self-normalisation (notes §5): the penalty keeps log Z near 0, so that e^s can be read as a probability without
summing. With a fraction γ < 1, a random share γ of the pairs gets the penalty λ/γ, which is λ on average. A loss of
this family has the fields ``penalty`` (λ/γ; 0 is none) and ``fraction`` (γ).

The logistic losses: −log σ(−x) = log(1 + e^x) and its slope σ(x), for many x and without overflow.
"""

import math
from dataclasses import dataclass

import numpy as np

from ...ground.errors import ConfigError
from ...ground.jit import LEAF, ONE, ZERO, njit
from ...kernels.functions import FULL, fast_exp, fast_log, highest
from ...kernels.rng import next_unit
from ..plugs import Loss, option

LIMIT = np.float32(80.0)  # logits are clipped to ± this, as in `exp_logits`
_RAREST = np.float32(-1e4)  # lower bound of log q: no draw is so rare, and s − log q stays finite
_MOST = np.float32(1e37)  # sums of e^t above it may be infinite
_EMPTY = np.float32(np.inf)  # log q of a place without a draw
_NOWHERE = np.float32(-1e30)  # log of a term that does not count


def parse_penalty(text):
    """Parse "λ" or "λ,fraction" into (penalty, fraction), None into (0, 1); ConfigError for any other text."""
    if text is None:
        return 0.0, 1.0
    try:
        strength, *rest = (float(part) for part in text.split(","))
        fraction = rest[0] if rest else 1.0
        fits = len(rest) <= 1 and 0 <= strength < math.inf and 0 < fraction <= 1
    except ValueError:
        fits = False
    if not fits:
        what = "LAMBDA or LAMBDA,FRACTION with LAMBDA finite, at least 0, and FRACTION above 0, at most 1"
        raise ConfigError(f"self_normalise must be {what}, got {text!r}; write 0.1 or 0.1,0.5")
    return strength / fraction, fraction


@dataclass(frozen=True, kw_only=True)
class PenaltyOptions:
    self_normalise: str | None = option(
        None,
        "Add LAMBDA (log Z)^2 to the loss, to keep Z near 1. With SHARE, add LAMBDA / SHARE on that share of the "
        "pairs only, which is the same on average.",
        default_text="off",
        check=parse_penalty,
        metavar="LAMBDA[,SHARE]",
    )


def penalty_at(loss, log_z):
    """Return the expected penalty (float) of a loss whose normaliser has this logarithm."""
    return loss.penalty * loss.fraction * log_z * log_z


class OverVocabulary(Loss, base=True, fields=True):
    """n_vocab : int; penalty, fraction : float, of self-normalisation"""

    n_vocab: int
    penalty: float = 0.0
    fraction: float = 1.0

    Options = PenaltyOptions

    @classmethod
    def from_options(cls, options, context):
        return cls(len(context.counts), *parse_penalty(options.self_normalise))

    def loss_at_init(self, n_negatives):
        """Return the value for uniform draws; for others, the log of the expected normaliser, the full softmax's."""
        log_z = math.log(self.n_vocab)
        return log_z + penalty_at(self, log_z)


@njit(borrows=True)
def penalty_now(loss, rng):
    """Return the factor on (log Z)² for this pair (float64): the penalty if the pair is chosen, else 0."""
    if loss.penalty > 0.0 and (loss.fraction >= 1.0 or next_unit(rng) < loss.fraction):
        return np.float64(loss.penalty)
    return 0.0


@njit(borrows=True)
def clipped(logit):
    """Clip a float32 logit to ±80."""
    return min(max(logit, -LIMIT), LIMIT)


@njit(borrows=True)
def corrected(logit, log_q):
    """Return s − log q (float32), finite for every finite logit and every log q but NaN and +∞."""
    return clipped(logit) - max(log_q, _RAREST)


@njit(borrows=True)
def count(weights):
    """Return how many negatives have a weight above 0 (int64)."""
    n = 0
    for k in range(1, weights.shape[0]):
        n += weights[k] > ZERO
    return n


@njit(borrows=True)
def count_drawn(log_q):
    """Return how many targets independent draws entered (int64), excluded ones included: q is b over their number."""
    n = 0
    for k in range(1, log_q.shape[0]):
        n += log_q[k] < _EMPTY
    return n


@njit(fastmath=LEAF, borrows=True)
def exponentiate(terms, weights, top):
    """Replace terms[1:] by ω e^{term − top}; return their sum (float32)."""
    total = ZERO
    for k in range(1, terms.shape[0]):
        term = weights[k] * fast_exp(terms[k] - top)
        terms[k] = term
        total += term
    return total


@njit(borrows=True)
def clear(gradients):
    for k in range(gradients.shape[0]):
        gradients[k] = ZERO


@njit(borrows=True)
def softmax_step(loss, rng, first, shift, positive_in, logits, log_q, weights, gradients):
    """Compute the step above; return L.

    first, shift : float32, t₀ and c
    positive_in : bool, Z includes the positive's term; without it and without a negative that counts, L is 0
    """
    n = gradients.shape[0]
    positive_in = positive_in and weights[0] > ZERO
    gradients[0] = first if positive_in else _NOWHERE
    for k in range(1, n):
        gradients[k] = corrected(logits[k], log_q[k]) - shift if weights[k] > ZERO else _NOWHERE
    top = highest(gradients, n)
    if top == _NOWHERE:
        clear(gradients)
        return 0.0
    noise = exponentiate(gradients, weights, top)
    positive = weights[0] * fast_exp(first - top) if positive_in else ZERO
    total = positive + noise
    log_z = np.float64(top) + fast_log(np.float64(total))
    strength = penalty_now(loss, rng)
    pull = np.float32(2.0 * strength * log_z)
    gradients[0] = -noise / total + pull * (positive / total) if positive_in else -ONE
    if strength == 0.0:
        for k in range(1, n):
            gradients[k] /= total  # a quotient, not a product with 1 / total: at most 1 to the last bit
    else:
        for k in range(1, n):
            gradients[k] *= (ONE + pull) / total
    return log_z - np.float64(first) + strength * log_z * log_z


@njit(fastmath=LEAF, borrows=True)
def _corrected_terms(exp_logits, log_q, first, n, terms):
    """Write e^s / q of n negatives from the `first` on; return their sum and the lowest log q (float32)."""
    total, rarest = ZERO, ZERO
    for j in range(first, first + n):
        term = exp_logits[j] * fast_exp(-log_q[j])
        terms[j] = term
        total += term
        rarest = min(rarest, log_q[j])
    return total, rarest


@njit(borrows=True)
def softmax_group(loss, shared, weighed, m, n, exp_logits, log_q, steps):
    """Compute the steps of a whole group, as `step_group` does, for L = −s₀ + log( e^{s₀} + f Σ e^{s_k} / q_k ).

    log_q : float32, of the negatives; steps : pair of arrays, of which the first holds each positive's f on entry

    Weights, a penalty, and sums beyond float32 are left to `softmax_step`.
    """
    if weighed or loss.penalty > 0.0:
        return False, 0.0
    (e_positive, e_negative), (positives, negatives) = exp_logits, steps
    value, ratio = 0.0, 1.0  # one logarithm for many quotients Z / e^{s₀}
    noise = shares = ZERO
    for k in range(m):
        first = 0 if shared else k * n
        if k == 0 or not shared:
            noise, rarest = _corrected_terms(e_negative, log_q, first, n, negatives)
            if rarest < -LIMIT:
                return False, 0.0
        factor, positive = positives[k], e_positive[k]
        total = positive + factor * noise
        if not total < _MOST:
            return False, 0.0
        positives[k] = -factor * noise / total
        share = factor / total
        if shared:
            shares += share
        else:
            for j in range(first, first + n):
                negatives[j] *= share
        ratio *= np.float64(total) / np.float64(positive)
        if ratio > FULL:
            value += fast_log(ratio)
            ratio = 1.0
    if shared:
        for j in range(n):
            negatives[j] *= shares
    return True, value + fast_log(ratio)


def softplus(x):
    """Return log(1 + e^x) for a float, in plain Python."""
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


@njit(borrows=True)
def logistic_one(x):
    """Return (log(1 + e^x), σ(x)) as (float64, float32) for a float32."""
    small = fast_exp(-abs(x))
    return np.float64(max(x, ZERO)) + fast_log(1.0 + np.float64(small)), (ONE if x >= ZERO else small) / (ONE + small)


@njit(borrows=True)
def logistic_many(weights, gradients):
    """Replace x_k in gradients[1:] by ω_k σ(x_k); return Σ ω_k log(1 + e^{x_k}) (float64); ω_k = 0 ignores x_k."""
    value, product = 0.0, 1.0  # one logarithm for many factors
    for k in range(1, gradients.shape[0]):
        x, weight = gradients[k], weights[k]
        small = fast_exp(-abs(x))
        total = ONE + small
        gradients[k] = weight * ((ONE if x >= ZERO else small) / total)
        if weight == ONE:
            value += np.float64(max(x, ZERO))
            product *= np.float64(total)
            if product > FULL:
                value += fast_log(product)
                product = 1.0
        elif weight > ZERO:
            value += np.float64(weight) * (np.float64(max(x, ZERO)) + fast_log(np.float64(total)))
    return value + fast_log(product)
