"""Shapes in the plane as conditional distributions (CIS paper §4.1, table 1, figures 1 and 2).

A shape is a set of cells of a square grid; column i is the centre, row j the target, and what is learned is which j
belong to which i. The paper gives neither the grid, nor the number of pairs, nor how accuracy is counted; see `_TEXT`.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from ..config import TrainConfig
from ..engines.local import LocalEngine
from ..kernels.contracts import implement_draw, implement_fill, implement_group
from ..kernels.exclusion import ExcludeNone, ExcludeTarget
from ..kernels.shard import Plugs, Shape
from ..losses import LOSSES
from ..model import Model
from ..samplers import SAMPLERS
from ..schedule import linear, stream_key
from ..setting import Setting
from ..vocab import Vocabulary
from ..weighers import WEIGHERS
from . import STUDIES, Study

GRID = 100
BLOBS = {"blobs r=0.25": 0.25, "blobs r=0.60": 0.60, "blobs r=0.75": 0.75}
CURVES = ("swiss roll", "s curve")


def blobs(ratio, rng, n_blobs=6, size=GRID):
    """Return P, float64 (size, size): overlapping Gaussians cut off at two standard deviations, covering `ratio`.

    P[i, j] = P(j | i), zero outside of the shape; a column that the shape misses is all zero.
    """
    centres, relative = rng.uniform(0.15, 0.85, (n_blobs, 2)), rng.uniform(0.5, 1.0, n_blobs)
    distance = np.linalg.norm(_cells(size)[:, :, None] - centres, axis=3)
    low, high = 0.0, 2.0
    for _ in range(40):  # the deviation at which the discs cover that much
        scale = (low + high) / 2
        covered = (distance < 2 * scale * relative).any(axis=2).mean()
        low, high = (scale, high) if covered < ratio else (low, scale)
    deviation = scale * relative
    density = (np.exp(-0.5 * (distance / deviation) ** 2) / deviation**2).sum(axis=2)
    return _conditional(density * (distance < 2 * deviation).any(axis=2))


def along(x, y, deviation=0.03, size=GRID):
    """Return P as `blobs` does for a curve, float64 (n,) twice, with Gaussian noise cut off at two deviations."""
    points = np.stack([x, y], axis=1)
    low, high = points.min(axis=0), points.max(axis=0)
    points = 0.1 + 0.8 * (points - low) / (high - low)
    distance = np.linalg.norm(_cells(size)[:, :, None] - points, axis=3)
    density = np.exp(-0.5 * (distance / deviation) ** 2).sum(axis=2)
    return _conditional(density * (distance < 2 * deviation).any(axis=2))


def _cells(size):
    """Centres of the cells, float64 (size, size, 2)."""
    middles = (np.arange(size) + 0.5) / size
    return np.stack(np.meshgrid(middles, middles, indexing="ij"), axis=2)


def _conditional(density):
    total = density.sum(axis=1, keepdims=True)
    return np.divide(density, total, out=np.zeros_like(density), where=total > 0)


def shape_of(name, rng):
    """Return P(j | i) of a shape by name; only blobs depend on `rng`."""
    if name in BLOBS:
        return blobs(BLOBS[name], rng)
    along_it = np.linspace(0, 1, 400)
    if name == "swiss roll":
        t = 1.5 * np.pi * (1 + 2 * along_it)
        return along(t * np.cos(t), t * np.sin(t))
    t = 3 * np.pi * (along_it - 0.5)
    return along(np.sin(t), np.sign(t) * (np.cos(t) - 1))


class Pairs(NamedTuple):
    """A source of groups of one centre and one target: centres, targets int32 (n_pairs,)."""

    centres: np.ndarray
    targets: np.ndarray


@implement_fill(Pairs)
def fill(source, lo, hi, epoch_key, tokens):
    """Write each centre, and after it its target as −2 − id, which is no centre."""
    n = 0
    for pair in range(lo, hi):
        tokens[n] = source.centres[pair]
        tokens[n + 1] = -2 - source.targets[pair]
        n += 2
    tokens[n] = -1
    return 0, n


@implement_group(Pairs)
def group(source, tokens, position, rng, positives):
    if tokens[position] < 0:
        return 0
    positives[0] = -2 - tokens[position + 1]
    return 1


class Everything(NamedTuple):
    """A sampler that draws each of the n targets once: with the positive excluded, relaxed softmax is softmax."""

    flavour: int = 0

    gives_log_q = False


@implement_draw(Everything)
def draw(sampler, state, group, centre_id, centre, out, rng, n, ids, log_q, logits):
    for k in range(n):
        ids[k] = k
    return False
