"""Both matrices, side by side as directions, on their first d principal axes.

    H = [u(X), u(Y)],    u(M): columns of M centred, then rows of length one
    Z_j = (H U)_j (s_j / s_d)^(−q/2),    HᵀH = U diag(s²) Uᵀ

Half of what training learns is in the output matrix: the words that can replace a word and the words around it say
different things about it. The vectors keep the model's dimension d. q whitens them in part: the first axes, along which
all words differ, count less.
"""

import numpy as np

from . import READOUTS, About, Readout, option

BLOCK = 2048  # rows


def blocks(n):
    return (slice(start, start + BLOCK) for start in range(0, n, BLOCK))


class Directions:
    """The rows of a matrix as directions: columns centred, then rows of length one. Zero rows stay zero.

    matrix : float32, (n, dim), possibly memory-mapped
    through : float64, (dim, dim), multiplies the centred rows; None for no product
    scale : float, length of the rows
    """

    def __init__(self, matrix, through=None, scale=1.0):
        self.matrix, self.through, self.scale = matrix, through, scale
        total = sum(np.asarray(matrix[rows], np.float64).sum(axis=0) for rows in blocks(len(matrix)))
        self.mean = total / len(matrix)

    def __getitem__(self, rows):
        """Return a block of rows, float64 (k, dim)."""
        part = np.asarray(self.matrix[rows], np.float64) - self.mean
        if self.through is not None:
            part = part @ self.through
        lengths = np.sqrt(np.einsum("ij,ij->i", part, part))
        return part * (self.scale / np.where(lengths > 0, lengths, 1.0))[:, None]


def principal(parts, dim, whitening):
    """Project concatenated rows onto the first principal axes of their second moments.

        H = [H_1, H_2, …],  HᵀH = U diag(s²) Uᵀ,  Z_j = (H U)_j (s_j / s_d)^(−q/2) for the first d axes

    by blocks of rows, so that only the result, float32 (n, d), is as large as a matrix.

    parts : list of Directions, H_1, H_2, …, each (n, dim_k); dim : int, d; whitening : float, q in [0, 2]
    """
    n = len(parts[0].matrix)
    moments = 0.0
    for rows in blocks(n):
        h = np.hstack([part[rows] for part in parts])
        moments = moments + h.T @ h
    values, axes = np.linalg.eigh(moments)
    s = np.sqrt(np.maximum(values[::-1][:dim], 0.0))
    axes = axes[:, ::-1][:, :dim]
    axes = axes * np.where(axes[np.abs(axes).argmax(axis=0), np.arange(dim)] < 0, -1.0, 1.0)  # fixed signs
    smallest = s[s > 1e-6 * s[0]][-1] if s[0] > 0 else 1.0
    axes = axes * (np.maximum(s, smallest) / smallest) ** (-whitening / 2)
    z = np.empty((n, dim), np.float32)
    for rows in blocks(n):
        z[rows] = np.hstack([part[rows] for part in parts]) @ axes
    return z


def whitening(default):
    return option(default, "Whitening of the principal axes: 0 none, 2 full.", at_least=0, at_most=2)


@READOUTS.register("both")
class BothMatrices(Readout):
    class Options:
        whitening: float = whitening(0.5)

    one_kind = True
    about = About(
        summary="both matrices as directions, on their first principal axes",
        equation="Z = [u(X), u(Y)] U_d diag(s / s_d)^(-q/2)",
        paper="our own",
        cost="4 d V products and an eigenproblem of 2 d numbers: a second at a million words",
        use="analogies and similarity; better than the input matrix for every objective measured here",
    )

    def read(self, trained, vectors):
        parts = [Directions(trained.vectors_in), Directions(trained.vectors_out)]
        return principal(parts, trained.vectors_in.shape[1], self.options.whitening)
