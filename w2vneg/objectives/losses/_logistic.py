"""What the logistic losses share: −log σ(−x) = log(1 + e^x) and its slope σ(x), for many x and without overflow."""

import math

import numpy as np

from ...ground.jit import njit
from ...kernels.functions import FULL, fast_exp, fast_log

_ZERO = np.float32(0.0)
_ONE = np.float32(1.0)


def softplus(x):
    """Return log(1 + e^x) for a float, in plain Python."""
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


@njit(borrows=True)
def logistic_one(x):
    """Return (log(1 + e^x), σ(x)) as (float64, float32) for a float32."""
    small = fast_exp(-abs(x))
    return np.float64(max(x, _ZERO)) + fast_log(1.0 + np.float64(small)), (_ONE if x >= _ZERO else small) / (
        _ONE + small
    )


@njit(borrows=True)
def logistic_many(weights, gradients):
    """Replace x_k in gradients[1:] by ω_k σ(x_k); return Σ ω_k log(1 + e^{x_k}) (float64). ω_k = 0 takes any x_k."""
    value, product = 0.0, 1.0  # one logarithm for many factors
    for k in range(1, gradients.shape[0]):
        x, weight = gradients[k], weights[k]
        small = fast_exp(-abs(x))
        total = _ONE + small
        gradients[k] = weight * ((_ONE if x >= _ZERO else small) / total)
        if weight == _ONE:
            value += np.float64(max(x, _ZERO))
            product *= np.float64(total)
            if product > FULL:
                value += fast_log(product)
                product = 1.0
        elif weight > _ZERO:
            value += np.float64(weight) * (np.float64(max(x, _ZERO)) + fast_log(np.float64(total)))
    return value + fast_log(product)
