"""No weighing: every negative counts once, ω = 1."""

from typing import NamedTuple

from ..kernels.contracts import implement_weigh
from . import WEIGHERS


@WEIGHERS.register("none")
class Unweighted(NamedTuple):
    """Nothing to hold (`flavour` only keeps the tuple from being empty)."""

    flavour: int = 0

    needs_log_q = False

    @classmethod
    def from_options(cls, options, setting):
        return cls()


@implement_weigh(Unweighted)
def weigh(weigher, state, k, offset, ids, logits, odds, log_q, weights):
    pass
