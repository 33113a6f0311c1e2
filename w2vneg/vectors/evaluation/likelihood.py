"""Held-out likelihood: how well raw dot products, normalised over the whole vocabulary, predict unseen text.

    mean NLL = −(1/N) Σ_(i,j) [ s_ij − log Σ_j' e^{s_ij'} ]

over the N pairs (i, j) of words at most `window` apart in one sentence, in both directions or, if ordered, j after i.
Unlike training losses, these values are comparable across objectives and samplers. But only softmax-like objectives
optimise them (negative sampling does not), so a low value does not prove good vectors.
"""

from dataclasses import dataclass

import numpy as np

from ...ground.errors import InputError
from ...kernels.cooccurrence import pair_counts
from .lookup import Result

_SCORES = 16_000_000  # float32 numbers held at a time


@dataclass(frozen=True)
class LikelihoodResult(Result):
    """nll : float, mean negative log-likelihood per pair, nats; perplexity : e^nll; uniform : log V, the NLL of
    a uniform distribution; pairs : int
    """

    nll: float
    perplexity: float
    uniform: float
    pairs: int


def evaluate_likelihood(score, corpus, window, ordered=False):
    """Normalise a model's scores (see `scores`) and evaluate them on held-out text; returns a `LikelihoodResult`.

    corpus : EncodedCorpus, encoded with the model's vocabulary, not trained on; InputError if it has no pair
    ordered : bool, predict only the words that follow, as a model trained with ``--ordered`` does
    """
    n_vocab = len(corpus.vocab)
    together = pair_counts(corpus.ids, corpus.offsets, n_vocab, window, ordered=ordered, remedy="give less text")
    total = int(together.sum())
    if total == 0:
        raise InputError("the held-out text has no pair of known words; give more text")
    distinct = np.flatnonzero(np.diff(together.indptr))
    rows = max(1, _SCORES // n_vocab)
    log_sum = 0.0
    for begin in range(0, len(distinct), rows):
        part = distinct[begin : begin + rows]
        scores = score(part)
        top = scores.max(axis=1)
        log_z = top + np.log(np.exp(scores - top[:, None]).sum(axis=1, dtype=np.float64))
        found = together[part].tocoo()
        log_p = scores[found.row, found.col] - log_z[found.row]
        log_sum += float((log_p * found.data).sum())
    nll = -log_sum / total
    return LikelihoodResult(nll, float(np.exp(nll)), float(np.log(n_vocab)), total)
