"""A row: every word has a vector of its own, as in skip-gram."""

from ..plugs import Inputs
from ..registry import About
from . import INPUTS


@INPUTS.register("row")
class Row(Inputs):
    """Nothing to hold: the loops of `kernels.shard` and `kernels.window` read one row themselves."""

    about = About(
        summary="the centre's own row: skip-gram",
        equation="x = v_centre",
        paper="Mikolov et al. 2013; all five papers",
        cost="nothing",
        use="whenever nothing else is asked for",
    )
    composes = False
