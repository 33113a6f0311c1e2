"""Likelihood at every temperature: scores c · u as logits, and the c that held-out pairs like best.

    mean log-likelihood   E_(i,j) log g_i(j),    g_i = softmax(c · u_i)         a proper score
    RS eq. 9              E_(i,j) g_i(j)                                        not a proper one

The first is concave in c: d/dc = E[u_ij − E_g u], d²/dc² = −E Var_g u. Equation 9 rewards overconfidence: with two
targets of probabilities .6 and .4, saying the truth scores .6² + .4² = .52, and (1, 0) scores .6. So with eq. 9 a wrong
temperature alone can reorder methods. `improper` has this example in numbers.
"""

import numpy as np
import scipy.sparse

_SCORES = 4_000_000  # held at a time
_OUT = -1e4  # score of a target that is left out
_LOWEST, _HIGHEST = 0.01, 100.0
_SAME = 1e-4  # of c, where the search ends


def _blocks(score, held, n_targets, known):
    """Yield (scores, float32 (b, n_targets); rows, targets, weights of the pairs) for some centres at a time."""
    centres, targets, weights = held
    shape = int(centres.max()) + 1, n_targets
    pairs = scipy.sparse.coo_matrix((weights, (centres, targets)), shape).tocsr()
    asked = np.flatnonzero(np.diff(pairs.indptr))
    size = max(1, _SCORES // n_targets)
    for start in range(0, len(asked), size):
        part = asked[start : start + size]
        scores, own = score(part), pairs[part]
        rows = np.repeat(np.arange(len(part)), np.diff(own.indptr))
        if known is not None:
            out = known[part]
            kept = scores[rows, own.indices].copy()
            scores[np.repeat(np.arange(len(part)), np.diff(out.indptr)), out.indices] = _OUT
            scores[rows, own.indices] = kept
        yield scores, rows, own.indices, own.data


def likelihoods(score, held, n_targets, scales, known=None):
    """Return for each scale c the mean of log g and the mean of g, with g the softmax of c · score.

    Parameters
    ----------
    score : callable, as in `evaluation.scores`
    held : (centres, targets, weights), int (n,), int (n,), float (n,)
    n_targets : int
    scales : sequence of float, above 0
    known : scipy.sparse.csr_matrix, (n_centres, n_targets), optional
        Pairs to leave out of each centre's catalogue.

    Returns
    -------
    list of (float, float)
    """
    sums, total = np.zeros((len(scales), 2)), 0.0
    for scores, rows, targets, weights in _blocks(score, held, n_targets, known):
        total += weights.sum()
        scores -= scores.max(axis=1, keepdims=True)
        own = scores[rows, targets].astype(np.float64)
        for place, scale in enumerate(scales):
            log_z = np.log(np.exp(scores * np.float32(scale)).sum(axis=1, dtype=np.float64))
            log_p = scale * own - log_z[rows]
            sums[place] += weights @ log_p, weights @ np.exp(log_p)
    return [tuple(float(value) for value in pair / total) for pair in sums]


def fitted_scale(score, held, n_targets, known=None, most=_SCORES):
    """Return (c, mean log-likelihood at c) for the c that these pairs like best, by Newton's steps.

    most : int, scores that are looked at; of more pairs, those of evenly spaced centres
    """
    held = _thinned(held, max(1, most // n_targets))
    blocks = list(_blocks(lambda part: score(part).copy(), held, n_targets, known))
    total, scale = sum(weights.sum() for *_, weights in blocks), 1.0
    for scores, *_ in blocks:
        scores -= scores.max(axis=1, keepdims=True)
    for _ in range(40):
        value, slope, curve = np.sum([_derivatives(block, scale) for block in blocks], axis=0) / total
        step = slope / max(curve, 1e-12)
        new = min(max(scale + step, scale / 2, _LOWEST), scale * 2, _HIGHEST)
        if abs(new - scale) < _SAME * scale:
            break
        scale = new
    return float(scale), float(value)


def _derivatives(block, scale):
    """Return Σ w log g, its first derivative by c, and minus its second."""
    scores, rows, targets, weights = block
    g = np.exp(scores * np.float32(scale))
    z = g.sum(axis=1, dtype=np.float64)
    mean = np.einsum("ij,ij->i", g, scores, dtype=np.float64) / z
    square = np.einsum("ij,ij,ij->i", g, scores, scores, dtype=np.float64) / z
    own = scores[rows, targets].astype(np.float64)
    value = weights @ (scale * own - np.log(z)[rows])
    return np.array([value, weights @ (own - mean[rows]), weights @ (square - mean**2)[rows]])


def _thinned(held, most):
    """Return the pairs of at most so many centres."""
    centres, targets, weights = held
    there = np.unique(centres)
    if len(there) <= most:
        return held
    chosen = np.zeros(there[-1] + 1, bool)
    chosen[there[np.linspace(0, len(there) - 1, most).astype(int)]] = True
    kept = chosen[centres]
    return centres[kept], targets[kept], weights[kept]


def improper(p=0.6, scales=(0.5, 1.0, 2.0, 8.0)):
    """Return how two targets of probabilities p and 1 − p score: dict of c -> (mean log-likelihood, eq. 9).

    The logits are c · log of the truth: c = 1 says the truth.
    """
    truth, found = np.array([p, 1 - p]), {}
    for scale in scales:
        said = truth**scale / (truth**scale).sum()
        found[scale] = float(truth @ np.log(said)), float(truth @ said)
    return found
