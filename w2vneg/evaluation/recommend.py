"""What comes next: the targets that a model expects with one or several items.

For seeds i₁ … i_m the score of j is the mean of the raw logits, (1/m) Σ s_(i j) = v̄ · w_j with v̄ the seeds' mean input
vector. As a softmax it is the product of what each seed expects, its m-th root: all seeds must agree, and the score of
one seed is its logit. A seed given twice counts twice.
"""

import numpy as np

from ..data.readers.names import as_word
from ..embeddings import top_rows
from ..errors import ConfigError, UnknownNameError, near_spellings
from . import scores_of


def recommend(model, seeds, k=10, known=None):
    """Return the targets that score highest for the seeds.

    Parameters
    ----------
    model : Model
    seeds : str or sequence of str
        Names of centres; where centres and targets are of two kinds (users and items) they are centres, too.
    k : int
    known : scipy.sparse matrix, (n_in, n_out), optional
        Targets that are left out for having been seen with any of the seeds.

    Returns
    -------
    list of (str, float)
        Target and score, the best first; never a seed itself where centres and targets are one kind of thing.

    Raises
    ------
    UnknownNameError
        If the model does not know a seed; with near spellings. ConfigError without seeds or with k below 1.
    """
    seeds = [seeds] if isinstance(seeds, str) else list(seeds)
    if not seeds or k < 1:
        raise ConfigError(f"recommending needs an item or more, and k at least 1; got {len(seeds)} items, k {k}")
    ids = np.array([_id(model, seed) for seed in seeds])
    scores = scores_of(model)(ids).mean(axis=0, dtype=np.float64)
    if model.vocab_out is model.vocab:
        scores[ids] = -np.inf
    if known is not None:
        scores[known[np.unique(ids)].indices] = -np.inf
    rows = top_rows(scores, min(k, int(np.isfinite(scores).sum())))
    return [(model.vocab_out.words[row], float(scores[row])) for row in rows]


def _id(model, name):
    vocab, word = model.vocab, as_word(name, model.config.lowercase)
    if word in vocab:
        return vocab.id(word)
    near = near_spellings(name, vocab.words)
    hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else "; its vocab.tsv lists what it knows."
    if word in model.vocab_out:
        hint = ", only as a target; ask for one of the others, which its vocab.tsv lists."
    raise UnknownNameError(f"the model does not know the item {name!r}{hint}")
