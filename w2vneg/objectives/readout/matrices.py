"""Matrices as they are: the input vectors, the output vectors, their sum.

in: z_j = x_j        out: z_j = y_j        sum: z_j = x_j + y_j
"""

from ...ground.registry import About
from . import READOUTS, Readout


class AsItIs(Readout):
    """One matrix."""

    def memory(self, n_vocab, dim):
        return 0

    def read(self, trained, vectors):
        return getattr(trained, self.matrices[0])


@READOUTS.register("in")
class InputMatrix(AsItIs):
    """The input matrix."""

    matrices = ("vectors_in",)
    about = About(
        summary="the input matrix, as word2vec, gensim and fastText write it",
        equation="z_j = x_j",
        paper="Mikolov et al. 2013",
        cost="nothing",
        use="to compare objectives by what they train, and with other programs",
    )


@READOUTS.register("out")
class OutputMatrix(AsItIs):
    """The output matrix."""

    matrices = ("vectors_out",)
    about = About(
        summary="the output matrix: vectors of words as contexts, of items as what comes next",
        equation="z_j = y_j",
        paper="Mikolov et al. 2013",
        cost="nothing",
        use="to look at what is predicted rather than at what predicts",
    )


@READOUTS.register("sum")
class SumOfMatrices(Readout):
    """The sum of both matrices."""

    one_kind = True
    about = About(
        summary="the sum of both matrices",
        equation="z_j = x_j + y_j",
        paper="Pennington et al. 2014 (GloVe)",
        cost="nothing",
        use="where a plain sum is wanted; both is better",
    )

    def read(self, trained, vectors):
        return trained.vectors_in + trained.vectors_out
