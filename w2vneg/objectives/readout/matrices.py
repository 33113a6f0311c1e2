"""Plain matrices: the input vectors, the output vectors, their sum; and output vectors for any share of popularity.

in: z_j = x_j        out: z_j = y_j        sum: z_j = x_j + y_j        corrected: z_j = [(1 + T) / T y_j, log D(j) − c]

The law of `objectives.law` gives T and D. [x, λ] · z_j ranks like the score corrected by the share λ, in one dot
product; c, the mean of log D, does not change the order, but a nearest-neighbour graph finds little without it.
"""

import numpy as np

from ...ground.errors import ConfigError
from . import READOUTS, About, Readout


class AsItIs(Readout):
    def memory(self, n_vocab, dim):
        return 0

    def read(self, trained, vectors):
        return getattr(trained, self.matrices[0])


@READOUTS.register("in")
class InputMatrix(AsItIs):
    matrices = ("vectors_in",)
    about = About(
        summary="the input matrix, as word2vec, gensim and fastText write it",
        equation="z_j = x_j",
        paper="Mikolov et al. 2013",
        cost="nothing",
        use="to compare objectives, and other programs, by the trained vectors themselves",
    )


@READOUTS.register("out")
class OutputMatrix(AsItIs):
    matrices = ("vectors_out",)
    about = About(
        summary="the output matrix: vectors of words as contexts, of items as targets",
        equation="z_j = y_j",
        paper="Mikolov et al. 2013",
        cost="nothing",
        use="to compare targets rather than centres",
    )


@READOUTS.register("corrected")
class CorrectedOutputs(Readout):
    matrices = ("vectors_out",)
    about = About(
        summary="the output matrix and log D: queries [x, λ] rank by scores corrected by the share λ",
        equation="z_j = [(1 + T) / T y_j, log D(j) − c]",
        paper="our own",
        cost="nothing; dim + 1 coordinates",
        use="an index that serves any share of popularity by plain dot products",
    )

    def read(self, trained, vectors):
        factor, log_noise = (1.0, None) if trained.law is None else trained.law()
        if log_noise is None or not np.ptp(log_noise):
            raise ConfigError("this objective's dot products already include popularity; use --readout out")
        columns = np.float32(factor) * trained.vectors_out, log_noise - log_noise.mean()
        return np.column_stack(columns).astype(np.float32)


@READOUTS.register("sum")
class SumOfMatrices(Readout):
    one_kind = True
    about = About(
        summary="the sum of both matrices",
        equation="z_j = x_j + y_j",
        paper="Pennington et al. 2014 (GloVe)",
        cost="nothing",
        use="for a plain sum; both is better",
    )

    def read(self, trained, vectors):
        return trained.vectors_in + trained.vectors_out
