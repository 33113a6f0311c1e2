"""Held-out likelihood: how well raw dot products, normalised over the whole vocabulary, predict text not trained on.

    mean NLL = −(1/N) Σ_(i,j) [ s_ij − log Σ_j' e^{s_ij'} ]

over the N pairs (i, j) of words at most `window` apart in one sentence, both directions. Unlike training losses, these
values compare between objectives and samplers; but only softmax-like objectives aim at them (negative sampling does
not), so a low value is no proof of good vectors.
"""

from dataclasses import dataclass

import numpy as np

from ...ground.errors import InputError
from .lookup import Result

_SCORES = 16_000_000  # float32 numbers held at a time


@dataclass(frozen=True)
class LikelihoodResult(Result):
    """nll : float, mean negative log-likelihood per pair, nats; perplexity : e^nll; uniform : log V, the NLL of
    knowing nothing; pairs : int
    """

    nll: float
    perplexity: float
    uniform: float
    pairs: int


def window_pairs(ids, offsets, window):
    """Return the distinct pairs of words at most `window` apart in one sentence, and how often each occurs: centres,
    contexts and counts, int64, (n_pairs,), sorted by centre.
    """
    ids = np.asarray(ids, np.int64)
    sentence = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    n = int(ids.max()) + 1 if len(ids) else 1
    codes = []
    for distance in range(1, window + 1):
        together = sentence[:-distance] == sentence[distance:]
        left, right = ids[:-distance][together], ids[distance:][together]
        codes += [left * n + right, right * n + left]
    codes, counts = np.unique(np.concatenate(codes), return_counts=True)
    return codes // n, codes % n, counts


def evaluate_likelihood(score, corpus, window):
    """Normalise a model's scores (see `scores`) and evaluate them on held-out text; returns a `LikelihoodResult`.

    corpus : EncodedCorpus, by the model's vocabulary, not part of what was trained on; InputError if it has no pair
    """
    centres, contexts, counts = window_pairs(corpus.ids, corpus.offsets, window)
    total = int(counts.sum())
    if total == 0:
        raise InputError("the held-out text has no pair of known words; give more text")
    distinct, starts = np.unique(centres, return_index=True)
    ends = np.append(starts[1:], len(centres))
    n_vocab = len(corpus.vocab)
    rows = max(1, _SCORES // n_vocab)
    log_sum = 0.0
    for begin in range(0, len(distinct), rows):
        part = distinct[begin : begin + rows]
        scores = score(part)
        top = scores.max(axis=1)
        log_z = top + np.log(np.exp(scores - top[:, None]).sum(axis=1, dtype=np.float64))
        span = slice(starts[begin], ends[min(begin + rows, len(distinct)) - 1])
        row = np.searchsorted(part, centres[span])
        log_p = scores[row, contexts[span]] - log_z[row]
        log_sum += float((log_p * counts[span]).sum())
    nll = -log_sum / total
    return LikelihoodResult(nll, float(np.exp(nll)), float(np.log(n_vocab)), total)
