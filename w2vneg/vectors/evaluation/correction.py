"""Scores corrected for how negatives were drawn.

With noise D, and Boltzmann negatives at temperature T, a softmax over drawn negatives settles where

    s = T / (1 + T) · (log P(j|i) − log D(j))          T = ∞ without them

So what is likely, rather than what is unusually likely, is the order of

    score(λ) = (1 + T) / T · s + λ log D(j)            λ = 1; with λ = 0 the order is that of raw scores

T is that of the latest round where it changes over the run. A model folder keeps c = (1 + T) / T and log D.
"""

import math
from typing import NamedTuple

import numpy as np

from ...ground.errors import ConfigError
from ...objectives.law import settled

RAW, CORRECTED = "raw", "corrected"


def share_of(score):
    """Return λ (float) for "raw", "corrected" or a number; ConfigError for anything else."""
    if score in (RAW, CORRECTED):
        return float(score == CORRECTED)
    try:
        share = float(score)
    except (TypeError, ValueError):
        share = math.nan
    if not math.isfinite(share):
        raise ConfigError(f"score must be raw, corrected or a number, not {score!r:.40}")
    return share


def corrected(model, score, share):
    """Return a scoring function with the correction for popularity added.

    Parameters
    ----------
    model : Model
    score : callable
        The model's raw scoring function; see `scores`.
    share : float
        λ, not 0.

    Raises
    ------
    ConfigError
        If it is not known where scores settle with the model's loss and sampler.
    """
    factor, log_noise = settled(model)
    return score if log_noise is None else _Corrected(score, np.float32(factor), (share * log_noise).astype(np.float32))


class _Corrected(NamedTuple):
    """factor · s + addend, of whole rows or tile by tile."""

    score: object
    factor: np.float32
    addend: np.ndarray

    @property
    def rows(self):
        return self.score.rows

    def _apply(self, scores, addend):
        scores *= self.factor
        scores += addend
        return scores

    def __call__(self, centres):
        return self._apply(self.score(centres), self.addend)

    def tiles(self, centres):
        for first, scores in self.score.tiles(centres):
            yield first, self._apply(scores, self.addend[first : first + scores.shape[1]])
