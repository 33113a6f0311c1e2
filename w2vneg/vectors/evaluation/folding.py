"""Fold-in: vectors of users whom training did not see, from the items that they have.

A softmax over targets j with noise D is log-linear in the user's vector v. To second order at v = 0 its log-normaliser
has the mean μ and the covariance Σ of the output vectors under D. With the trained users' vectors, of mean u and
covariance S, as the prior of a new user's, and w̄ the mean output vector of the user's m items:

    v = u + (c² m Σ + κ S⁻¹)⁻¹ c m (w̄ − μ − c Σ u)            c = (1 + T) / T, see `correction`

One d × d system a user, no compiling, and the answer depends on nobody else's items. Losses that are no softmax over
drawn negatives (BPR, …) go the same way, with D uniform where the noise is not known. κ = 2 by development data
(docs/journal/2026-11-25-items.md).
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import scipy.sparse

from ...data.encoded.heldout import count_centres, read_pairs_file
from ...data.misspelt import near_spellings
from ...data.readers.names import as_word
from ...ground.errors import ConfigError, UnknownNameError
from ...objectives.law import settled
from ...objectives.losses import LOSSES

NEW_USER = "new-user"
_PRIOR = 2.0  # κ
_RIDGE = 1e-6  # of the prior's mean variance: S may have no inverse


class Folded(NamedTuple):
    """model : Model, whose users have been joined by the new ones; those it knew already have new vectors
    users : ndarray, int64, (n,), ids of the users that were folded in; known : csr_matrix, (n_in, n_out), their items
    """

    model: object
    users: np.ndarray
    known: scipy.sparse.csr_matrix


def fold_in(model, pairs):
    """Give vectors to users, from what they have; others stay as they are.

    Parameters
    ----------
    model : Model
        Of users and items.
    pairs : path, or table in memory
        (user, item[, weight]); users may be known to the model or not, items that it does not know are left out.

    Returns
    -------
    Folded

    Raises
    ------
    ConfigError
        If the model has items of one kind, or its scores are no dot products.
    InputError
        If the table cannot be read, or has not one known item.
    """
    if model.vocab_out is model.vocab:
        raise ConfigError("this model has items of one kind and no users; ask for what goes with several items instead")
    config = model.config
    if LOSSES[config.loss].paths or config.absolute_softmax:
        raise ConfigError(f"new users are folded in by dot products, and those of loss {config.loss} are none")
    own = count_centres(pairs, lowercase=config.lowercase)
    vocab = model.vocab.grown(own)
    read = read_pairs_file(pairs, vocab, model.vocab_out, lowercase=config.lowercase)
    shape = len(vocab), len(model.vocab_out)
    known = scipy.sparse.coo_matrix((read.weights, (read.centres, read.targets)), shape).tocsr()
    users = vocab.words.find_all(own.words).astype(np.int64)
    users = users[np.diff(known.indptr)[users] > 0]
    vectors = np.zeros((len(vocab), config.dim), np.float32)
    vectors[vocab.words.find_all(model.vocab.words)] = model.vectors_in
    vectors[users] = _vectors(model, known[users])
    return Folded(replace(model, vocab=vocab, vectors_in=vectors), users, known)


def with_users(model, pairs):
    """Return `fold_in`'s answer; the model itself, None and None without pairs."""
    return Folded(model, None, None) if pairs is None else fold_in(model, pairs)


def fold_in_items(model, items):
    """Give a vector to one user, `NEW_USER`, who has these items (sequence of str); see `fold_in`.

    Raises
    ------
    UnknownNameError
        If the model does not know an item; with near spellings.
    """
    for item in items:
        if as_word(str(item), model.config.lowercase) not in model.vocab_out:
            near = near_spellings(str(item), model.vocab_out.words)
            hint = (
                f"; did you mean {' or '.join(map(repr, near))}?"
                if near
                else "; its vocab_out.tsv lists what it knows."
            )
            raise UnknownNameError(f"the model does not know the item {str(item)!r}{hint}")
    return fold_in(model, [(NEW_USER, str(item)) for item in items])


def _vectors(model, has):
    """Return the vectors of users, float32 (n, dim), from the items that they have: csr_matrix, (n, n_out)."""
    out = model.vectors_out.astype(np.float64)
    factor, mean, covariance = _noise(model, out)
    centre, inverse = _prior(model.vectors_in.astype(np.float64))
    sizes = np.diff(has.indptr)
    share = scipy.sparse.csr_matrix((1.0 / np.repeat(sizes, sizes), has.indices, has.indptr), has.shape)
    pulls = factor * sizes[:, None] * (share @ out - mean - factor * covariance @ centre)
    vectors = np.empty_like(pulls)
    for m in np.unique(sizes):  # users with as many items share their system
        alike = sizes == m
        vectors[alike] = np.linalg.solve(factor**2 * m * covariance + _PRIOR * inverse, pulls[alike].T).T
    return (centre + vectors).astype(np.float32)


def _noise(model, out):
    """Return c, and the mean and covariance of the output vectors under the noise, float64 (d,) and (d, d)."""
    try:
        factor, log_noise = settled(model)
    except ConfigError:  # not known
        factor, log_noise = 1.0, None
    weights = np.ones(len(out)) if log_noise is None else np.exp(log_noise - log_noise.max())
    weights /= weights.sum()
    mean = weights @ out
    return factor, mean, (out * weights[:, None]).T @ out - np.outer(mean, mean)


def _prior(users):
    """Return the mean of the trained users' vectors and the inverse of their covariance."""
    centre = users.mean(axis=0)
    away = users - centre
    covariance = away.T @ away / len(users)
    ridge = _RIDGE * max(np.trace(covariance) / len(centre), np.finfo(np.float32).tiny)
    return centre, np.linalg.inv(covariance + ridge * np.eye(len(centre)))
