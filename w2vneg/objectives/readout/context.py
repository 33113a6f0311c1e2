"""Both matrices and the mean context of each word in the whole text, on their first d principal axes.

    H = [u(X), u(Y), γ u(S A)],    A = argmin Σ_w n_w ‖x_w − s_w A‖²
    Z_j = (H U)_j (s_j / s_d)^(−q/2),    HᵀH = U diag(s²) Uᵀ

S_w is the mean of the output vectors within 60 words of w (`kernels.bags`), u and q are those of `both`. Training
looks at a few words around each centre; S looks further, once, after training. It captures the topic of w.
"""

import numpy as np

from . import READOUTS, About, Readout, option
from .both import Directions, blocks, principal, whitening

WINDOW = 60  # words on each side that S looks at


@READOUTS.register("context")
class WithContexts(Readout):
    class Options:
        whitening: float = whitening(0.75)
        weight: float = option(1.0, "Weight of context means relative to either matrix.", at_least=0)

    one_kind = True
    needs_contexts = True
    about = About(
        summary="both matrices and the mean context of each word in the whole text",
        equation="Z = [u(X), u(Y), γ u(S A)] U_d diag(s / s_d)^(-q/2)",
        paper="our own",
        cost="one pass over the text after training; 9 d V products",
        use="the best analogies, most of all after negative sampling; needs the text: choose it when a run begins",
    )

    def read(self, trained, vectors):
        x, s = Directions(trained.vectors_in), trained.contexts
        through = _least_squares(s, trained.vectors_in, trained.counts)
        parts = [x, Directions(trained.vectors_out), Directions(s, through, self.options.weight)]
        return principal(parts, trained.vectors_in.shape[1], self.options.whitening)


def _least_squares(s, x, counts):
    """Return A, float64 (dim, dim): the regression of centred rows of x on centred rows of s, weighted by counts."""
    n = np.asarray(counts, np.float64)
    dim = s.shape[1]
    totals = np.zeros((2, dim))
    for rows in blocks(len(s)):
        totals += n[rows] @ np.asarray(s[rows], np.float64), n[rows] @ np.asarray(x[rows], np.float64)
    means = totals / n.sum()
    left, right = np.zeros((dim, dim)), np.zeros((dim, dim))
    for rows in blocks(len(s)):
        centred = np.asarray(s[rows], np.float64) - means[0]
        weighted = centred * n[rows, None]
        left += weighted.T @ centred
        right += weighted.T @ (np.asarray(x[rows], np.float64) - means[1])
    ridge = 1e-6 * np.trace(left) / dim  # for a rank-deficient s
    return np.linalg.solve(left + (ridge + 1e-300) * np.eye(dim), right)
