"""Which of the exclusions of `kernels.exclusion` a run uses, and the table of known pairs that one of them needs.

A pair is known if it stands within the window anywhere in the text, all tokens counted. Subsampling removes tokens and
so lets the window of training reach further now and then; what stands that far apart is not known for it.
"""

import numpy as np

from .cooccurrence import pair_counts
from .kernels.exclusion import ExcludeKnown, ExcludeNone, ExcludeTarget, ExcludeWindow


def make_exclusion(name, corpus, window):
    """Return the plug for ``--exclude name``.

    Parameters
    ----------
    name : str, none, target, window or known
    corpus : EncodedCorpus
    window : int

    Raises
    ------
    ConfigError
        If the known pairs do not fit into memory.
    """
    if name == "known":
        pairs = pair_counts(corpus.ids, corpus.offsets, len(corpus.vocab), window)
        return ExcludeKnown(pairs.indptr.astype(np.int64), pairs.indices.astype(np.int32))
    return {"none": ExcludeNone, "target": ExcludeTarget, "window": ExcludeWindow}[name]()
