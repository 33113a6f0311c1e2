"""From a trained model to vectors: the read-out that its configuration names, or another one."""

import numpy as np

from ..kernels.contexts import context_means
from ..kernels.schedule import keep_thresholds
from ..objectives.readout import Trained, parse
from ..objectives.readout.context import WINDOW
from ..vectors.formats.spellings import spellings_of


def read_out(model, readout=None, spell=False, progress=None):
    """Return the vectors of a model.

    Parameters
    ----------
    model : Model
    readout : str, optional
        Another one than the model's own.
    spell : bool
        Return what gives vectors to any spelling, too.
    progress : callable, optional

    Returns
    -------
    (vectors, spellings, rules) : (float32 (n_rows, dim), Spellings or None, Rules or None)
        Of a model with n-grams, their means give vectors to spellings where the read-out is ``in``.

    Raises
    ------
    ConfigError
        If the read-out is unknown, or does not fit what the model was trained on.
    """
    config = model.config
    chain = parse(readout or config.readout)
    chain.check(config.traversal, config.rectangular, config.loss.plug.paths)
    matrices = (model.best_matrix(name) for name in ("vectors_in", "vectors_out"))
    trained = Trained(*matrices, model.vocab.words, model.vocab.counts, model.contexts, spell, progress)
    vectors = chain.read(trained)
    own = config.inputs
    if spell and chain.rows_as_trained and "grams_in" in model.extra and hasattr(own, "minn"):
        rows = model.best_matrix("grams_in")
        return vectors, spellings_of(model.vocab, rows, own.minn, own.maxn, own.buckets), None
    return vectors, chain.spellings, chain.rules


def look_at_contexts(model, corpus):
    """Fill in the model's contexts from its data, an EncodedCorpus or EncodedGraph, if its read-out looks at them."""
    config = model.config
    if not parse(config.readout).needs_contexts:
        return
    keep = keep_thresholds(model.vocab.counts, getattr(config.source, "subsample", 0)).astype(np.float64) / 2**32
    model.contexts = context_means(
        *corpus.traversal.written(corpus, config), keep, model.best_matrix("vectors_out"), WINDOW
    )
