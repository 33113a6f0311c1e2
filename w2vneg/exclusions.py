"""Which of the exclusions of `kernels.exclusion` a run uses, and the table of known pairs that one of them needs."""

from .kernels.exclusion import ExcludeNone, ExcludeTarget, ExcludeWindow


def make_exclusion(name, corpus, window):
    """Return the plug for ``--exclude name``.

    Parameters
    ----------
    name : str, none, target, window or known
    corpus : EncodedCorpus
    window : int
    """
    return {"none": ExcludeNone, "target": ExcludeTarget, "window": ExcludeWindow}[name]()
