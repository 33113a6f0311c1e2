"""Noise-contrastive estimation (Gutmann and Hyvärinen 2010; notes eqs. 7–13; CSS §5.2, eq. 23).

    x = s − log(n q) − log z        the log-odds that a target is the observed one and not one of n noise draws
    L = −log σ(x₀) − Σ_k ω_k log σ(−x_k)
    ∂L/∂s₀ = σ(x₀) − 1        ∂L/∂s_k = ω_k σ(x_k)        ∂L/∂log z = −(∂L/∂s₀ + Σ_k ∂L/∂s_k)

n is the number of negatives that count. Of independent draws (Bernoulli) n q is b, with n the number of all that
entered, excluded ones too; a set without any still trains the positive. The noise covers all targets, including the
positive. z is the normaliser: fixed (z = 1 as in Mnih and Teh, or as set by ``--log-z``), or one log z per centre,
trained along with the vectors, as the theory requires: it starts at log V and moves by at most 1 per step.
"""

import math

import numpy as np

from ...ground.errors import ConfigError
from ...ground.jit import ONE, ZERO, njit
from ...kernels.contracts import implement_step
from ...kernels.functions import fast_log
from ..plugs import About, Loss, option
from . import LOSSES
from ._parts import clear, corrected, count, count_drawn, logistic_many, logistic_one, softplus


def _uniform_value(n, log_z):
    """Return the loss of zero logits when every −log(n q) − log z is −log n − (log z − log V)."""
    return softplus(math.log(n) + log_z) + n * softplus(-math.log(n) - log_z)


class LearnedNormaliser(Loss):
    """log_z : float32, (n_centres, 1), one for each centre; independent : bool, of the draws"""

    log_z: np.ndarray
    independent: bool = False

    needs_log_q = True
    needs_positive_log_q = True
    parameters = ("log_z",)

    def loss_at_init(self, n_negatives):
        return _uniform_value(n_negatives, 0.0)


@LOSSES.register("nce")
class NoiseContrastive(Loss):
    """log_z : float, fixed; n_vocab : int; independent : bool, of the draws"""

    log_z: float
    n_vocab: int
    independent: bool = False

    class Options:
        log_z: str = option(
            "0",
            "log Z: a number, or learned, one per centre.",
            metavar="NUMBER|learned",
            check=lambda text: text == "learned" or _number(text),
        )

    takes_absolute_logits = False
    takes_positive_weight = False
    needs_log_q = True
    needs_positive_log_q = True
    about = About(
        "logistic regression that separates the observed target from noise of known probability",
        "L = −log σ(x₀) − Σ log σ(−x_k),  x = s − log(n q) − log z",
        "Gutmann and Hyvärinen 2010; notes eqs. 7–13; CSS §5.2",
        "one exponential for each draw, log q of the positive",
        "for scores whose e^s is a probability without summing; needs many negatives, or --log-z learned",
    )

    @classmethod
    def from_options(cls, options, context):
        n_vocab = len(context.counts)
        independent = context.sampler is not None and context.sampler.independent
        if options.log_z == "learned":
            return LearnedNormaliser(np.full((context.n_centres, 1), math.log(n_vocab), np.float32), independent)
        return cls(_number(options.log_z), n_vocab, independent)

    def loss_at_init(self, n_negatives):
        return _uniform_value(n_negatives, self.log_z - math.log(self.n_vocab))


def _number(text):
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not abs(value) <= 1000:
        raise ConfigError(f"log_z must be 'learned' or a number from -1000 to 1000, got {text!r}; write 0 for Z = 1")
    return value


@njit(borrows=True)
def _contrast(log_z, independent, logits, log_q, weights, gradients):
    """Write the gradients for this log z (float32); return L, 0 if draws with replacement leave none that counts."""
    n = count_drawn(log_q) if independent else count(weights)
    if n == 0 and not independent:
        clear(gradients)
        return 0.0
    shift = np.float32(fast_log(np.float64(max(n, 1)))) + log_z
    for k in range(1, gradients.shape[0]):
        gradients[k] = corrected(logits[k], log_q[k]) - shift
    value, slope = logistic_one(shift - corrected(logits[0], log_q[0]))
    gradients[0] = -slope
    return value + logistic_many(weights, gradients)


@implement_step(NoiseContrastive)
def step(loss, centre_row, alpha, rng, logits, exp_logits, log_q, weights, gradients):
    return _contrast(np.float32(loss.log_z), loss.independent, logits, log_q, weights, gradients)


@implement_step(LearnedNormaliser)
def step_learned(loss, centre_row, alpha, rng, logits, exp_logits, log_q, weights, gradients):
    log_z = loss.log_z
    value = _contrast(log_z[centre_row, 0], loss.independent, logits, log_q, weights, gradients)
    total = ZERO
    for k in range(gradients.shape[0]):
        total += gradients[k]
    log_z[centre_row, 0] += min(max(alpha * total, -ONE), ONE)
    return value
