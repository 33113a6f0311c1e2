"""Which of the exclusions of `kernels.exclusion` a run uses, and the table of known pairs that one of them needs.

A pair is known if it stands within the window anywhere in the text, all tokens counted; in a basket together, or in the
file of pairs. Subsampling removes tokens and
so lets the window of training reach further now and then; what stands that far apart is not known for it.
"""

import numpy as np

from ...kernels.exclusion import ExcludeKnown, ExcludeNone, ExcludeTarget, ExcludeWindow


def make_exclusion(name, data, config):
    """Return the plug for ``--exclude name``.

    Parameters
    ----------
    name : str, none, target, window or known
    data : EncodedCorpus or EncodedPairs
    config : TrainConfig, resolved

    Raises
    ------
    ConfigError
        If the known pairs do not fit into memory.
    """
    if name == "known":
        pairs = data.traversal.counts(data, config)
        return ExcludeKnown(pairs.indptr.astype(np.int64), pairs.indices.astype(np.int32))
    return {"none": ExcludeNone, "target": ExcludeTarget, "window": ExcludeWindow}[name]()
