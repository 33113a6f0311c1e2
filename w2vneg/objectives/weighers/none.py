"""No weighing: every negative counts once, ω = 1."""

from ...kernels.contracts import implement_weigh
from ..plugs import About, Weigher
from . import WEIGHERS


@WEIGHERS.register("none")
class Unweighted(Weigher):
    about = About(
        summary="every negative counts once",
        equation="ω_k = 1",
        paper="RS eq. 5",
        cost="nothing",
        use="the default",
    )


@implement_weigh(Unweighted)
def weigh(weigher, state, k, offset, ids, logits, exp_logits, log_q, weights):
    pass
