"""Both matrices, side by side as directions, on their first d principal axes.

    H = [u(X), u(Y)],    u(M): columns of M centred, then rows of length one
    Z_j = (H U)_j (s_j / s_d)^(−q/2),    HᵀH = U diag(s²) Uᵀ

Half of what training learns is in the output matrix: what stands where a word stands, and what it stands beside, say
different things of it. The vectors keep the model's own length d. q whitens them in part: the first axes, along which
all words differ, count less.
"""

from ...ground.option import option
from ...ground.registry import About
from . import READOUTS, Readout
from ._linear import Directions, principal


def whitening(default):
    """Return the option q."""
    return option(default, "Whitening of the principal axes: 0 none, 2 full.", at_least=0, at_most=2)


@READOUTS.register("both")
class BothMatrices(Readout):
    """Directions of both matrices, on their principal axes."""

    class Options:
        whitening: float = whitening(0.5)

    one_kind = True
    about = About(
        summary="both matrices as directions, on their first principal axes",
        equation="Z = [u(X), u(Y)] U_d diag(s / s_d)^(-q/2)",
        paper="our own",
        cost="4 d V products and an eigenproblem of 2 d numbers: a second at a million words",
        use="analogies and similarity; better than the input matrix at every objective measured here",
    )

    def read(self, trained, vectors):
        parts = [Directions(trained.vectors_in), Directions(trained.vectors_out)]
        return principal(parts, trained.vectors_in.shape[1], self.options.whitening, trained.progress)
