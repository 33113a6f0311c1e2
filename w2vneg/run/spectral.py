"""Initial rows of pairs from their leading singular vectors.

Correspondence analysis (Greenacre 1984) decomposes how much more often j follows i than by chance:

    P(j|i) / P(j) − 1 = Σ_k σ_k a_ik b_jk,        a_ik = Σ_j (P(j|i) − P(j)) b_jk / σ_k

The left side is about log P(j|i) − log P(j). Raw scores of a softmax settle at log P(j|i) less the noise
(`objectives.law`), so rows start in the right directions, and top-n needs half the epochs. Row and column sums have a
constant added, because little is known about rare names. If there are many pairs, b comes from a sample of the rows; a
follows for all of them.
"""

import numpy as np

from ..data.encoded.pairs import some_rows, sums_of
from ..kernels.dense.blas import one_blas_thread
from ..objectives.law import are_known, law_of
from ..objectives.presets import epochs_over

_SHARE = 0.02  # of these scores: more of them would leave chance patterns in the rows of users with few items
_ROW, _COLUMN = 50.0, 200.0  # pairs added to the sums of rows and columns
_MOST, _FEWEST = 2_000_000, 5  # pairs of the sample, and rows of it for each axis
_EXTRA, _ROUNDS = 10, 3  # columns and power iterations of the randomised decomposition (Halko et al. 2011)
_LEAST = 1e-3  # times the largest σ; axes below are rounding errors
_BLOCK = 1 << 16  # rows of centres at once


def is_spectral(config):
    """Return whether a new run with these options (RunSpec) starts from singular vectors, which have signs."""
    wanted = getattr(config.source, "start", None) == "spectral"
    return wanted and config.dim > 1 and not config.absolute_softmax


def epochs_of(config, pairs, rows=None):
    """Return the epochs of a run that leaves them open (int). config : RunSpec; pairs : EncodedPairs

    rows : WarmStart, optional, other initial rows
    """
    return epochs_over(config.source.pairs_per_epoch or pairs.n_pairs, is_spectral(config) and rows is None)


def start_spectral(model, matrix):
    """Set the rows of a fresh model by the pairs that it is to be trained on.

    The first number of centres is constant, so that the first numbers of targets are popularity, as with ``bias``.
    Centres without a pair, and columns beyond the rank of the matrix, stay as they are.

    matrix : csr_matrix, (n_centres, n_targets), weights of the pairs
    """
    config, counts = model.config, np.asarray(model.vocab_out.counts)
    factor, log_noise = law_of(config, counts, True) if are_known([config], counts, True) else (1.0, None)
    rng = np.random.default_rng(config.seed)
    sample = some_rows(matrix, _MOST, rng, fewest=_FEWEST * config.dim)
    unit = float(np.median(sample.data))
    popularity = np.log(sums_of(matrix)[1] / unit + 1) - (0.0 if log_noise is None else log_noise)
    constant = config.bias or 1.0
    with one_blas_thread():  # more would change the last bits from machine to machine
        targets, sigma = _targets(sample, config.dim - 1, unit, rng)
    size, to_centres = len(sigma), targets / sigma
    columns = sums_of(sample)[1]
    mean = (columns / columns.sum() @ to_centres).astype(np.float32)

    def centres_of(part):
        sums = sums_of(part)[0].astype(np.float32)[:, None]
        return (part @ to_centres - sums * mean) / (sums + np.float32(_ROW * unit))

    # lengths that are alike: the product is the same
    stretch = np.sqrt(_length(targets) / _length(centres_of(sample))) if size else 1.0
    share = np.sqrt(_SHARE / factor)
    model.vectors_out[:, 0] = (popularity - popularity.mean()) / (factor * constant)
    model.vectors_out[:, 1 : 1 + size] = targets * (share / stretch)
    for first in range(0, matrix.shape[0], _BLOCK):
        block = matrix[first : first + _BLOCK]
        known = np.flatnonzero(np.diff(block.indptr))
        model.vectors_in[first + known, 0] = constant
        model.vectors_in[first + known, 1 : 1 + size] = centres_of(block[known]) * (share * stretch)


def _length(rows):
    return float(np.sqrt(np.mean(np.square(rows, dtype=np.float64))))


def _targets(matrix, most, unit, rng):
    """Return b √(σ N), float32 (n_targets, size), and σ, float32 (size,), from the largest; `most` at most.

    The singular vectors are those of the scaled matrix less its expectation, row sum × column sum / N.
    """
    from scipy.sparse import diags_array

    rows, columns = sums_of(matrix)
    total = rows.sum()
    left, right = (rows + _ROW * unit) ** -0.5, (columns + _COLUMN * unit) ** -0.5
    scaled = (diags_array(left) @ matrix @ diags_array(right)).astype(np.float32).tocsr()
    sides = scaled, scaled.T.tocsr()
    ends = [(sums / np.sqrt(total)).astype(np.float32)[:, None] for sums in (rows * left, columns * right)]
    long = int(matrix.shape[0] < matrix.shape[1])  # 0: there are more centres, 1: more targets

    def times(side, x):
        """Multiply the matrix less its expectation, or transposed if `side` is 1, by x."""
        return sides[side] @ x - ends[side] @ (ends[1 - side].T @ x)

    n_long, n_short = max(matrix.shape), min(matrix.shape)
    basis = times(1 - long, rng.standard_normal((n_long, min(most + _EXTRA, n_short)), np.float32))
    for _ in range(_ROUNDS):
        basis = times(1 - long, times(long, np.linalg.qr(basis)[0]))
    basis = np.linalg.qr(basis)[0]
    image = times(long, basis)
    squares, axes = np.linalg.eigh((image.T @ image).astype(np.float64))
    sigma = np.sqrt(np.maximum(squares[::-1][:most], 0.0))
    sigma = sigma[sigma > max(_LEAST * sigma[0], 1e-6)].astype(np.float32)
    axes = axes[:, ::-1][:, : len(sigma)].astype(np.float32)
    scores = image @ (axes / sigma) if long else basis @ axes
    return scores * np.sqrt(sigma) * (right * np.sqrt(total)).astype(np.float32)[:, None], sigma
