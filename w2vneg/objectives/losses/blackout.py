"""BlackOut (Ji et al. 2016; Botev, Zheng and Barber 2017, eqs. 29–30): the positive against each negative.

    p_j = z_j / Σ_l z_l,    z_j = ω_j e^{s_j} / q_j        over the positive (j = 0) and the negatives
    L = −log p₀ − Σ_k log(1 − p_k)
    r_k = p_k / (1 − p_k),    R = Σ_k r_k        k = 1 … n
    ∂L/∂s₀ = p₀ − 1 − p₀ R        ∂L/∂s_k = p_k (2 − R + r_k)

(from ∂p_k/∂s_j = p_k (δ_jk − p_j); r_k (1 − p_k) = p_k.) If one target u has nearly all of the mass, 1 − p_u is lost
to rounding and r_u overflows. So all is expressed by A = Σ_{j≠u} z_j and the lead of u over the next: 1 − p_u is
A / (z_u + A), and p_j r_u = p_j p_u / (1 − p_u) = z_j z_u / (A (z_u + A)), at most 1.

Draws that are the positive must be excluded. A weight multiplies z, so a negative of weight 0 has p = 0 and no term.
"""

import math

import numpy as np

from ...ground.jit import ONE, ZERO, njit
from ...kernels.contracts import implement_step
from ...kernels.functions import fast_exp, fast_log
from ..plugs import About, Loss
from . import LOSSES
from ._parts import clear, corrected

_TWO = np.float32(2.0)
_NOWHERE = np.float32(-1e30)
_SMALL = 1e-200  # a product of factors of at least 1/2 that must not shrink much further


@LOSSES.register("blackout")
class BlackOut(Loss):
    needs_log_q = True
    needs_exclusion = True
    needs_positive_log_q = True
    about = About(
        "discriminative softmax over positive and negatives: the positive's share up, each negative's down",
        "L = −log p₀ − Σ log(1 − p_k),  p ∝ e^{s} / q over positive and negatives",
        "Ji et al. 2016; CSS eqs. 29–30",
        "one exponential for each draw, log q of the positive",
        "as css, which it rivals; needs --exclude target",
    )

    def loss_at_init(self, n_negatives):
        return math.log(1 + n_negatives) + n_negatives * math.log(1 + 1 / n_negatives)


@njit(borrows=True)
def _log_terms(logits, log_q, weights, terms):
    """Write log z_j into `terms`, `_NOWHERE` for weights of 0; return (place of the largest, value of the second)."""
    largest, best, second = 0, _NOWHERE, _NOWHERE
    for k in range(terms.shape[0]):
        term, weight = _NOWHERE, weights[k]
        if weight > ZERO:
            term = corrected(logits[k], log_q[k])
            if weight != ONE:
                term += np.float32(fast_log(np.float64(weight)))
        terms[k] = term
        if term > best:
            largest, best, second = k, term, best
        elif term > second:
            second = term
    return largest, second


@implement_step(BlackOut)
def step(loss, centre_row, alpha, rng, logits, exp_logits, log_q, weights, gradients):
    n = gradients.shape[0]
    u, second = _log_terms(logits, log_q, weights, gradients)
    first, best = gradients[0], gradients[u]
    if second == _NOWHERE or first == _NOWHERE:
        clear(gradients)
        return 0.0
    rest = ZERO  # A, in units of the second largest
    for k in range(n):
        if k != u:
            gradients[k] = fast_exp(gradients[k] - second) if gradients[k] > _NOWHERE else ZERO
            rest += gradients[k]
    behind = fast_exp(second - best)
    share = ONE / (ONE + behind * rest)  # p_u
    ratios, product, value = ZERO, 1.0, 0.0
    for k in range(1, n):
        if k != u:
            p = gradients[k] * behind * share
            ratios += p / (ONE - p)
            product *= 1.0 - np.float64(p)
            if product < _SMALL:
                value -= fast_log(product)
                product = 1.0
    from_u = share / rest if u > 0 else ZERO  # z_k times this is p_k r_u
    for k in range(1, n):
        if k != u:
            z = gradients[k]
            p = z * behind * share
            gradients[k] = p * (_TWO - ratios + p / (ONE - p)) - z * from_u
    log_total = fast_log(1.0 + np.float64(behind) * np.float64(rest))  # log of 1 / p_u
    value += np.float64(best) - np.float64(first) + log_total - fast_log(product)
    if u == 0:
        gradients[0] = -share * (behind * rest + ratios)
    else:
        z = gradients[0]
        p = z * behind * share
        gradients[0] = p - ONE - p * ratios - z * from_u
        gradients[u] = share * (_TWO - ratios)
        value += np.float64(best) - np.float64(second) + log_total - fast_log(np.float64(rest))
    return value
