"""Bigram noise, a baseline of Blanc and Rendle 2018 (section 4): the centre's neighbours in the corpus.

    q(j|i) = (1 − β) c_ij / c_i + β p_j,    p_j ∝ count_j^a

c_ij is how often j occurs directly before or after i, c_i its sum over j, and β (``--back-off``) the share drawn from
popularity, so that every target can be drawn; a centre without neighbours uses popularity alone. The paper predicts the
next word, so its bigrams condition on the word before; our groups look to both sides.

The counts are a sparse matrix with an alias table in each row: 16 bytes for each pair of neighbours that occurs. A draw
takes constant time; log q of other targets takes a binary search in the row.
"""

import numpy as np

from ...ground.errors import ConfigError
from ...ground.jit import njit
from ...kernels.contracts import implement_draw, implement_log_prob
from ...kernels.functions import fast_log, first_at_least
from ...kernels.rng import alias_draw, alias_place, alias_rows, alias_table, next_unit
from ..plugs import About, Sampler, option
from . import SAMPLERS
from .popularity import NoiseOptions, log_popularity


@SAMPLERS.register("bigram")
class Bigram(Sampler):
    """A row for each centre with an entry for each of its neighbours, sorted by id; backed off to popularity.

    starts : int64, (n_vocab + 1,); targets : int32, (n_pairs,); shares : float32, (n_pairs,), (1 − β) c_ij / c_i
    row_table : uint64, (n_pairs,), an alias table for each row; table : uint64, (n_vocab,), that of p
    p : float64, (n_vocab,); back_off : float, β
    """

    starts: np.ndarray
    targets: np.ndarray
    shares: np.ndarray
    row_table: np.ndarray
    table: np.ndarray
    p: np.ndarray
    back_off: float

    class Options(NoiseOptions):
        back_off: float = option(0.1, "Share of bigram draws made from popularity instead.", above=0, at_most=1)

    gives_log_q = True
    needs_centre = True
    needs_neighbours = True
    about = About(
        summary="the centre's own neighbours in the corpus, backed off to popularity",
        equation="Q_i(j) = (1 − b) c_ij / c_i + b p_j, c the counts of neighbours",
        paper="kernel §4, figure 2 (bigram)",
        cost="as popularity; log q takes a binary search; counting comes first, seconds for 17 million tokens",
        use="negatives that fit the centre without scoring any, with losses that correct for q",
    )

    @classmethod
    def from_options(cls, options, context):
        if context.neighbours is None:
            raise ConfigError("sampler bigram counts neighbours in a corpus and there is none; choose another sampler")
        pairs = context.neighbours()
        starts = pairs.indptr.astype(np.int64)
        sums = np.asarray(pairs.sum(axis=1)).ravel()
        shares = pairs.data * np.repeat((1.0 - options.back_off) / np.where(sums > 0, sums, 1), np.diff(starts))
        targets, rows = pairs.indices.astype(np.int32), alias_rows(starts, pairs.data)
        p = np.exp(log_popularity(context.counts, options.noise_exponent))
        return cls(starts, targets, shares.astype(np.float32), rows, alias_table(p), p, options.back_off)


@njit(borrows=True)
def log_share(sampler, centre_id, j):
    """Return log q(j|i) (float32)."""
    starts, targets = sampler.starts, sampler.targets
    low, end = starts[centre_id], starts[centre_id + 1]
    if low == end:
        return np.float32(fast_log(sampler.p[j]))
    low = first_at_least(targets, low, end, j)
    q = sampler.back_off * sampler.p[j]
    if low < end and targets[low] == j:
        q += sampler.shares[low]
    return np.float32(fast_log(q))


@implement_draw(Bigram)
def draw(sampler, state, group, centre_id, centre, out, rng, n, ids, log_q, logits):
    table, row_table, targets, back_off = sampler.table, sampler.row_table, sampler.targets, sampler.back_off
    first = sampler.starts[centre_id]
    n_neighbours = sampler.starts[centre_id + 1] - first
    reported = log_q.shape[0] > 0
    for k in range(n):
        if n_neighbours == 0 or next_unit(rng) < back_off:
            ids[k] = alias_draw(table, rng)
            if reported:
                log_q[k] = log_share(sampler, centre_id, ids[k])
        else:
            place = first + alias_place(row_table, first, n_neighbours, rng)
            ids[k] = targets[place]
            if reported:  # no need to search
                log_q[k] = np.float32(fast_log(sampler.shares[place] + back_off * sampler.p[ids[k]]))
    return False


@implement_log_prob(Bigram)
def log_prob(sampler, state, group, centre_id, n, ids, logits, log_q):
    for k in range(n):
        log_q[k] = log_share(sampler, centre_id, ids[k])
