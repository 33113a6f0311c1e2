"""Pairs as groups: each centre comes with one target, and nothing is learned in the other direction."""

from typing import NamedTuple

import numpy as np

from .contracts import implement_fill, implement_group


class Pairs(NamedTuple):
    """centres, targets : int32, (n_pairs,)"""

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
