"""Targets excluded as negatives: none, the positive itself, all positives of the group, all known pairs.

An excluded negative keeps its place with weight 0, as if it had not been drawn. A pair is known if it occurs within the
window anywhere in the text, counting all tokens, in the same basket, or in the file of pairs.
"""

from collections import namedtuple
from typing import NamedTuple

import numpy as np

from ...ground.jit import ZERO
from ...kernels.contracts import implement_exclude
from ...kernels.functions import first_at_least

ExcludeNone = namedtuple("ExcludeNone", "flavour", defaults=[0])  # compiled code has no empty tuple
ExcludeTarget = namedtuple("ExcludeTarget", "flavour", defaults=[0])
ExcludeWindow = namedtuple("ExcludeWindow", "flavour", defaults=[0])


class ExcludeKnown(NamedTuple):
    """Excludes the positive and every target that occurs with the centre anywhere in the training data.

    starts : int64, (n_vocab + 1,); targets : int32, sorted within ``[starts[i], starts[i + 1])``
    """

    starts: np.ndarray
    targets: np.ndarray


@implement_exclude(ExcludeNone)
def exclude_none(exclusion, centre_id, positives, m, ids, weights):
    return False


@implement_exclude(ExcludeTarget)
def exclude_target(exclusion, centre_id, positives, m, ids, weights):
    found = False
    for j in range(1, ids.shape[0]):
        if ids[j] == ids[0]:
            weights[j] = ZERO
            found = True
    return found


@implement_exclude(ExcludeWindow)
def exclude_window(exclusion, centre_id, positives, m, ids, weights):
    found = False
    for j in range(1, ids.shape[0]):
        for k in range(m):
            if ids[j] == positives[k]:
                weights[j] = ZERO
                found = True
    return found


@implement_exclude(ExcludeKnown)
def exclude_known(exclusion, centre_id, positives, m, ids, weights):
    starts, targets = exclusion.starts, exclusion.targets
    found = False
    for j in range(1, ids.shape[0]):
        low = first_at_least(targets, starts[centre_id], starts[centre_id + 1], ids[j])
        if ids[j] == ids[0] or (low < starts[centre_id + 1] and targets[low] == ids[j]):
            weights[j] = ZERO
            found = True
    return found


def make_exclusion(name, data, config):
    """Return the plug for ``--exclude name``; ConfigError if the known pairs do not fit into memory.

    data : EncodedCorpus or EncodedPairs; config : RunSpec
    """
    if name == "known":
        pairs = data.traversal.counts(data, config)
        return ExcludeKnown(pairs.indptr.astype(np.int64), pairs.indices.astype(np.int32))
    return {"none": ExcludeNone, "target": ExcludeTarget, "window": ExcludeWindow}[name]()
