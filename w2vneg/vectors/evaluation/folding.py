"""Fold-in: vectors of users that training did not see, from their items.

The output vectors v_j are fixed. The vector of a user with m items S, counted by weight, is

    x = argmin  −c Σ_{i in S} x · v_i + m log Σ_j D_j e^{c x · v_j} + ½ (x − u)ᵀ R (x − u)

a softmax over targets with the noise D and c = (1 + T) / T, see `scores_of`. Weights are scaled as in training, to the
pairs of an epoch. A model trained with an L2 penalty keeps it here, R = λ m^ν and u = 0, and its first number if that
is held. Otherwise the trained users are the prior, with their mean u and R = κ S⁻¹, S their covariance. The convex loss
is minimised by Newton steps, each solved by a few conjugate-gradient steps, which need only products with the output
vectors. A step that does not lower the loss is halved; a user whose gain is negligible is done. Other losses than a
softmax over drawn negatives (BPR, …) are treated alike, with D uniform if the noise is unknown. κ = 2 was chosen on
development data (docs/journal/2026-11-25-items.md).
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import scipy.sparse

from ...config.options import l2_strengths
from ...data.encoded.pairs import HeldOut, as_trained, count_centres, ones_of, read_pairs_file
from ...data.sources import of_users
from ...data.words import as_word, near_hint, several_hint
from ...ground.errors import ConfigError, UnknownNameError
from ...objectives.law import settled
from ...objectives.losses import LOSSES
from ..named_rows import named
from .scores import as_number

NEW_USER = "new-user"
_PRIOR = 2.0  # κ
_STEPS, _INNER, _HALVINGS = 20, 4, 12  # at most: Newton steps, conjugate-gradient steps in each, halvings
_HARDLY = 1e-6  # nats per pair; a step that gains no more is the last
_SCORES = 8_000_000  # held at a time, 32 MB
_MOST = 1e9  # largest amount of an item
_TINY = np.float32(1e-30)
_RIDGE = 1e-6  # share of the prior's mean variance that is added: S may have no inverse


class Folded(NamedTuple):
    """model : Model, with the new users added; users it knew already have new vectors
    users : ndarray, int64, (n,), ids of the users that were folded in; known : csr_matrix, (n_in, n_out), their items
    strange : list of str, users without an item that the model knows; read : HeldOut, how the table was read
    Without a table, `users`, `known` and `read` are None, and `strange` is empty.
    """

    model: object
    users: np.ndarray | None = None
    known: scipy.sparse.csr_matrix | None = None
    strange: list | None = None
    read: HeldOut | None = None


def fold_in(model, pairs):
    """Compute vectors of users from their items; other users keep theirs. Returns `Folded`.

    What users had in training stays known, in addition to the items given here.
    pairs : path, or table in memory, of (user, item[, weight]); unknown items are left out, users may be unknown. It
        is read as the model's training data were, if possible.

    ConfigError if the model has items of one kind, or its scores are not dot products; InputError if the table cannot
    be read, or is a file without a known item.
    """
    _check(model, vectors=False)
    config, unit = model.config, unit_of(model)

    def counts_and_pairs(table):
        own = count_centres(table, lowercase=config.lowercase)
        vocab, options = model.vocab.grown(own), {"lowercase": config.lowercase, "needed": False, "unit": unit}
        return own, vocab, read_pairs_file(table, vocab, model.vocab_out, **options)

    own, vocab, read = as_trained(pairs, model.origin.table, counts_and_pairs)
    shape = len(vocab), len(model.vocab_out)
    known = scipy.sparse.coo_matrix((read.weights, (read.centres, read.targets)), shape).tocsr()
    users = vocab.words.find_all(own.words).astype(np.int64)
    some = np.diff(known.indptr)[users] > 0
    users, strange = users[some], [own.words[i] for i in np.flatnonzero(~some).tolist()]
    places = vocab.words.find_all(model.vocab.words)
    has = had = None
    if model.known is not None:
        before = model.known.tocoo()
        had = scipy.sparse.coo_matrix((before.data, (places[before.row], before.col)), shape).tocsr()
        has = ones_of(had + known)
    if hasattr(model, "scoring"):  # it needs no vectors
        return Folded(replace(model, vocab=vocab, known=has, trained_on=had), users, known, strange, read)
    vectors = np.zeros((len(vocab), config.dim), np.float32)
    vectors[places] = model.vectors_in
    vectors[users] = user_vectors(model, known[users])
    folded = replace(model, vocab=vocab, vectors_in=vectors, known=has, trained_on=had)
    return Folded(folded, users, known, strange, read)


def _check(model, vectors=True):
    """Refuse a model without users, or whose scores are not dot products; or without vectors, if they are needed."""
    if model.vocab_out is model.vocab:
        raise ConfigError("this model has items of one kind and no users; recommend for several items instead")
    if hasattr(model, "scoring"):
        if vectors:
            raise ConfigError("a slim model has no vectors; call recommend with new_user=True for a list")
    elif LOSSES[model.config.loss.name].paths or model.config.absolute_softmax:
        name = model.config.loss.name
        raise ConfigError(f"new users are folded in by dot products, but the scores of loss {name} are not")


def with_users(model, pairs, note=None):
    """Return the result of `fold_in`, the same model without pairs. note : called with a line on how they were read"""
    if pairs is None:
        return Folded(model, strange=[])
    folded = fold_in(model, pairs)
    if note is not None:
        unknown = (f"left out: {folded.read.n_unknown:,} rows of unknown items",) * bool(folded.read.n_unknown)
        note(f"{pairs}: {'; '.join((*folded.read.columns, *unknown))}")
    return folded


def user_vector(model, items, user=None):
    """Return the vector of a user with these items, float32 (dim,); the model does not change.

    items : str, sequence of str, or dict of str -> amount (float)
    user : str, optional, a known user with a similar vector, as before the last purchase: then one step is enough
    """
    _check(model)
    ids = ids_of(model, items, of_items=True)
    if not len(ids):
        raise ConfigError("name at least one item of the user")
    amounts = amounts_of(items, len(ids), unit_of(model))
    has = scipy.sparse.csr_matrix((amounts, ids, [0, len(ids)]), (1, len(model.vocab_out)))
    has.sum_duplicates()
    if user is None:
        return user_vectors(model, has)[0]
    lowercase = model.config.lowercase
    (name,) = named([user], model.vocab.words, lowercase)
    return user_vectors(model, has, model.vectors_in[[model.vocab.id(as_word(name, lowercase))]])[0]


def amounts_of(items, n, unit=1.0):
    """Return the amounts of n items, float64 (n,): a dict's values, else `unit`; ConfigError if one is invalid."""
    if not isinstance(items, dict):
        return np.full(n, unit)
    amounts = {item: np.nan if isinstance(amount, str | bool) else as_number(amount) for item, amount in items.items()}
    for item, amount in amounts.items():
        if not 0 < amount <= _MOST:
            of = f"the amount of {str(item)!r:.60} must be a number above 0"
            raise ConfigError(f"{of}, at most {_MOST:g}, not {items[item]!r:.60}")
    return np.array(list(amounts.values()), np.float64)


def ids_of(model, names, of_items=False):
    """Return the ids of one or several keys (see `named_rows`) among the centres or the items: int64 (n,).

    UnknownNameError, with similar spellings, for an unknown key.
    """
    vocab, lowercase = model.vocab_out if of_items else model.vocab, model.config.lowercase
    names = named(names, vocab.words, lowercase)
    words = [as_word(name, lowercase) for name in names]
    ids = vocab.words.find_all(words).astype(np.int64)
    for name, word, found in zip(names, words, ids.tolist(), strict=True):
        if found < 0:
            file = "vocab_out.tsv" if of_items else "vocab.tsv"
            histories = model.vocab is model.vocab_out and of_users(model.origin.input.get("kind"))
            users = ", only items; train a model of users with --rectangular (rectangular=True)" * histories
            hint = near_hint(name, vocab.words, f"; its {file} lists what it knows{users}.")
            if several := several_hint([word], vocab.words):
                hint = f"{several}."
            if word in model.vocab_out:
                hint = ", only an item of that name; name a user listed in its vocab.tsv."
            kind = "item" if vocab is model.vocab_out else "user"
            raise UnknownNameError(f"the model does not know the {kind} {name!r}{hint}")
    return ids


def user_vectors(model, has, start=None):
    """Return the vectors of users, float32 (n, dim). has : csr_matrix, (n, n_out), weights of their items, one or more

    start : float32, (n, dim), optional, vectors close to the solution, from which one step is taken
    """
    loss = _loss_of(model)
    vectors = np.empty((has.shape[0], model.config.dim), np.float32)
    at_once = max(1, _SCORES // has.shape[1])
    for first in range(0, len(vectors), at_once):
        part = slice(first, first + at_once)
        near = np.tile(loss.mean, (len(vectors[part]), 1)) if start is None else start[part]
        vectors[part] = loss.minimum(has[part], near, _STEPS if start is None else 1)
    return vectors


def _trained(model):
    """Return the number and the summed weight of a model's training pairs, (int, float); (0, 0.0) if not kept."""
    pairs, summed = model.known if model.trained_on is None else model.trained_on, vars(model).get("_summed")
    if summed is None or summed[0] is not pairs:  # not again for each user's vector
        summed = pairs, (0, 0.0) if pairs is None else (pairs.nnz, float(pairs.data.sum(dtype=np.float64)))
        vars(model)["_summed"] = summed
    return summed[1]


def unit_of(model):
    """Return the weight of a pair given without one (float): 1, or the mean weight in training if that is less."""
    n_pairs, total = _trained(model)
    return min(1.0, total / n_pairs) if n_pairs else 1.0


def _pairs_of_1(model, penalized):
    """Return how many pairs of a training epoch a weight of 1 stands for (float); 1 if the pairs are not kept.

    penalized : bool, users had an L2 penalty in training; else the prior does not depend on --pairs-per-epoch
    """
    n_pairs, total = _trained(model)
    drawn = penalized and getattr(model.config.source, "pairs_per_epoch", None)
    return (drawn or max(n_pairs, total)) / total if n_pairs else 1.0


def _loss_of(model):
    """Return the `_Loss` of a model, kept with it until it is trained, or its matrices, pairs or options are replaced.

    Rows that are written in place do not count until then.
    """
    depends = model.config, model.vocab_out, model.vectors_in, model.vectors_out, model.known, model.trained_on
    state, kept = (*vars(model.position).values(), model.best and model.best.finished), vars(model).get("_folding")
    if kept is None or kept.state != state or any(a is not b for a, b in zip(kept.depends, depends, strict=True)):
        kept = _Loss(model)
        kept.depends, kept.state = depends, state
        vars(model)["_folding"] = kept
    return kept


class _Loss:
    """The loss that `user_vectors` minimises, for a batch of users; arrays are float32.

    out : (n_out, d), c v_j; log_noise : (n_out,), or 0; mean : (d,), u; precision : (d, d), R without its factor
    power : float, the factor is m^power; 0 for a prior that does not grow
    held : bool, whether the first number of x stays at the mean's; factor : float, see `_pairs_of_1`
    depends, state : what it was computed from, see `_loss_of`
    """

    def __init__(self, model):
        config = model.config
        try:
            factor, log_noise = settled(model, roughly=True)
        except ConfigError:  # unknown
            factor, log_noise = 1.0, None
        strength = l2_strengths(config.l2)[0]
        self.factor = _pairs_of_1(model, bool(strength))
        self.held = bool(config.bias)
        if strength:
            mean, precision, self.power = np.zeros(config.dim), strength * np.eye(config.dim), config.l2_power
            mean[0] = config.bias
        else:
            users = model.vectors_in.astype(np.float64)
            mean = users.mean(axis=0)
            away = users - mean
            covariance = away.T @ away / len(users)
            ridge = _RIDGE * max(np.trace(covariance) / len(mean), np.finfo(np.float32).tiny)
            precision, self.power = _PRIOR * np.linalg.inv(covariance + ridge * np.eye(len(mean))), 0.0
        self.mean, self.precision = mean.astype(np.float32), precision.astype(np.float32)
        self.log_noise = np.float32(0.0) if log_noise is None else log_noise.astype(np.float32)
        self.out = model.vectors_out if factor == 1.0 else np.float32(factor) * model.vectors_out

    def __reduce__(self):
        return type(None), ()  # a copied or pickled model computes it again

    def minimum(self, has, x, steps):
        """Return the minimum of each user's loss, starting at `x`. has : csr_matrix, (n, n_out); x : (n, d)"""
        has = has * self.factor
        pull, sizes = (has @ self.out).astype(np.float32), np.asarray(has.sum(axis=1), np.float32)
        prior, x, going = sizes**self.power, x.copy(), np.arange(len(x))
        for _ in range(steps):
            x[going], more = self._step(x[going], pull[going], sizes[going], prior[going])
            going = going[more]
            if not len(going):
                break
        return x

    def _step(self, x, pull, sizes, prior):
        """Return `x`, (n, d), after one step, and which users may gain from another one: bool, (n,)."""
        value, chances = self._at(x, pull, sizes, prior)
        centre = chances @ self.out
        slope = self._free(pull - sizes * centre - prior * ((x - self.mean) @ self.precision))

        def bent(u):  # the second derivative along u
            spread = (chances * (u @ self.out.T)) @ self.out - _dot(centre, u) * centre
            return self._free(sizes * spread + prior * (u @ self.precision))

        way = _conjugate_gradients(bent, slope)
        gain, length = _dot(slope, way), np.ones_like(sizes)
        far = gain > _HARDLY * sizes  # float32 does not resolve smaller gains
        for _ in range(_HALVINGS):
            worse = far & ~(self._at(x + length * way, pull, sizes, prior)[0] <= value - 1e-4 * gain * length)
            if not worse.any():
                break
            length[worse] *= 0.5
        length[worse] = 0  # nothing lower was found
        return x + length * way, (far & ~worse)[:, 0]

    def _free(self, way):
        """Return `way`, (n, d), with 0 for a number that is held; in place."""
        if self.held:
            way[:, 0] = 0
        return way

    def _at(self, x, pull, sizes, prior):
        """Return the losses at `x`, (n, 1), and probabilities, (n, n_out)."""
        scores = x @ self.out.T + self.log_noise
        top = scores.max(axis=1, keepdims=True)
        np.exp(scores - top, out=scores)
        total = scores.sum(axis=1, keepdims=True)
        scores /= total
        away = x - self.mean
        value = sizes * (top + np.log(total)) - _dot(pull, x) + 0.5 * prior * _dot(away, away @ self.precision)
        return value, scores


def _dot(a, b):
    return np.einsum("ij,ij->i", a, b)[:, None]


def _conjugate_gradients(times, right):
    """Return an approximate solution of A y = right, (n, d), with a positive definite A per row, applied by `times`."""
    found, rest = np.zeros_like(right), right.copy()
    way, size = rest.copy(), _dot(rest, rest)
    for _ in range(_INNER):
        image = times(way)
        step = size / np.maximum(_dot(way, image), _TINY)
        found += step * way
        rest -= step * image
        size, before = _dot(rest, rest), size
        way = rest + size / np.maximum(before, _TINY) * way
    return found
