"""A row: every word has a vector of its own, as in skip-gram."""

from ...kernels.contracts import implement_gather
from ..plugs import About, Inputs
from . import INPUTS


@INPUTS.register("row")
class Row(Inputs):
    """Holds nothing: the loops of `kernels.shard` and `kernels.window` read one row themselves; `kernels.paths` treats
    it as a bag of one.
    """

    about = About(
        summary="the centre's own row: skip-gram",
        equation="x = v_centre",
        paper="Mikolov et al. 2013; all five papers",
        cost="nothing",
        use="the default",
    )
    composes = False

    def room(self, most):
        return 1, 0


@implement_gather(Row)
def gather(inputs, tokens, position, m, positives, words, grams):
    words[0] = tokens[position]
    return m, 1, 0
