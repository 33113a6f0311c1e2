"""Gradients of the losses for many pairs at once: `step`, called from outside the training loop."""

from typing import NamedTuple

import numpy as np

from w2vneg.config import TrainConfig
from w2vneg.ground.jit import njit
from w2vneg.ground.registry import RunContext
from w2vneg.kernels.contracts import step
from w2vneg.kernels.functions import exp_into

_ZERO = np.float32(0.0)
_ONE = np.float32(1.0)


@njit
def _ask(loss, rng, logits, exp_logits, log_q, weights, gradients):
    total = 0.0
    for i in range(logits.shape[0]):
        exp_into(logits[i], logits.shape[1], _ONE, _ZERO, exp_logits[i])
        total += step(loss, 0, _ZERO, rng, logits[i], exp_logits[i], log_q[i], weights[i], gradients[i])
    return total


def steps(loss, logits, log_q, weights):
    """Return dL/dlogit of many pairs, one a row, the positive in column 0.

    Parameters
    ----------
    loss : NamedTuple
        A plug of `LOSSES`.
    logits, log_q, weights : float32, (n_pairs, 1 + n_negatives)
        As in the contract of `step`; empty places have weight 0.

    Returns
    -------
    gradients : float32, (n_pairs, 1 + n_negatives)
    """
    gradients = np.zeros_like(logits)
    with np.errstate(over="ignore"):  # random streams wrap around on purpose; plain Python warns
        _ask(loss, np.zeros(1, np.uint64), logits, np.empty_like(logits), log_q, weights, gradients)
    return gradients


class Noise(NamedTuple):
    """Sampler trait that a loss reads: `independent`, each class is drawn once or not at all."""

    independent: bool


def loss_of(name, counts, independent=False, **options):
    """Return the loss `name` for classes with these counts (int64, (n_classes,)) and draws of this kind."""
    config = TrainConfig(loss=name, **options).resolved()
    return config.make("loss", RunContext(counts, sampler=Noise(independent)))
