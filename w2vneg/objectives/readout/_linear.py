"""Linear algebra of read-outs, by blocks of rows, so that nothing but the result is as large as a matrix."""

import numpy as np

BLOCK = 2048  # rows


def blocks(n):
    """Yield slices of `BLOCK` rows that make up n."""
    for start in range(0, n, BLOCK):
        yield slice(start, min(start + BLOCK, n))


class Directions:
    """The rows of a matrix as directions: columns centred, then rows of length one. Zero rows stay zero.

    matrix : float32, (n, dim), possibly mapped
    through : float64, (dim, dim), what rows are multiplied by first; None for nothing
    scale : float, how long the rows are
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


def principal(parts, dim, whitening, progress=None):
    """Project rows that stand side by side onto the first principal axes of their second moments.

        H = [H_1, H_2, …],  HᵀH = U diag(s²) Uᵀ,  Z_j = (H U)_j (s_j / s_d)^(−q/2) for the first d axes

    Parameters
    ----------
    parts : list of Directions
        H_1, H_2, …, each (n, dim_k).
    dim : int, d
    whitening : float, q in [0, 2]; 0 keeps lengths along the axes as they are, 2 makes them all equal
    progress : callable, optional, called with (blocks done, blocks in all)

    Returns
    -------
    float32, (n, d)
    """
    n = len(parts[0].matrix)
    rows_of = list(blocks(n))
    moments = 0.0
    for done, rows in enumerate(rows_of):
        h = np.hstack([part[rows] for part in parts])
        moments = moments + h.T @ h
        if progress is not None:
            progress(done + 1, 2 * len(rows_of))
    values, axes = np.linalg.eigh(moments)
    s = np.sqrt(np.maximum(values[::-1][:dim], 0.0))
    axes = axes[:, ::-1][:, :dim]
    axes = axes * np.where(axes[np.abs(axes).argmax(axis=0), np.arange(dim)] < 0, -1.0, 1.0)  # one sign everywhere
    smallest = s[s > 1e-6 * s[0]][-1] if s[0] > 0 else 1.0
    axes = axes * (np.maximum(s, smallest) / smallest) ** (-whitening / 2)
    z = np.empty((n, dim), np.float32)
    for done, rows in enumerate(rows_of):
        z[rows] = np.hstack([part[rows] for part in parts]) @ axes
        if progress is not None:
            progress(len(rows_of) + done + 1, 2 * len(rows_of))
    return z
