"""Recommendation tasks: data sets, and three ways of holding rows out.

    weak     each user's items are split 70 : 10 : 20; users are known, and validation items are known in the test
    time     rows before one moment are for training, up to another for validation, the last fifth is the test;
             for users with training rows
    strong   a tenth of the users is for validation and another for the test; four fifths of their items are shown
             to the method, and the rest is to be found

Training uses only the training part. A user's known items are excluded from the lists.
"""

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse

from w2vneg.data.encoded.pairs import ones_of
from w2vneg.data.inputs import Input, encode_input
from w2vneg.data.splits import Until, split_data
from w2vneg.ground.errors import ConfigError

WEAK, TIME, STRONG = PROTOCOLS = "weak", "time", "strong"
SYNTHETIC = "synthetic"
_USERS = 10_000  # at most; of more, a fixed sample
_MEAN, _SPREAD, _FEWEST = 2.8, 0.8, 5  # of the logarithm of a user's number of items: 23 on average
_TASTES, _GROUP, _AT_RANDOM = 3, 200, 0.2  # groups a user likes, items per group, share of other items


@dataclass(frozen=True, eq=False)
class Part:
    """Users to recommend items to. known, held : csr_matrix, float32 ones, (n, n_items), known and held-out items
    users : ndarray, int, (n,), their rows in the training part; None if they have none there
    """

    known: scipy.sparse.csr_matrix
    held: scipy.sparse.csr_matrix
    users: np.ndarray | None = None

    @classmethod
    def of(cls, known, held, asked, trained=True):
        """Take the requested users (bool, (n,)) with held-out items, or a sample of them."""
        users = np.flatnonzero(asked & (np.diff(held.indptr) > 0))
        if len(users) > _USERS:
            users = np.sort(np.random.default_rng(1).choice(users, _USERS, replace=False))
        return cls(known[users].tocsr(), held[users].tocsr(), users if trained else None)


@dataclass(frozen=True, eq=False)
class Task:
    """name : str; train : csr_matrix, float32 ones, (n_users, n_items); valid, test : Part"""

    name: str
    train: scipy.sparse.csr_matrix
    valid: Part
    test: Part

    @classmethod
    def of(cls, name, data, protocol=WEAK, seed=1):
        """Split `EncodedPairs` of users and items; ConfigError for a split by time without times."""
        data = replace(data, matrix=ones_of(data.matrix))
        if protocol == WEAK:
            split = split_data(data, "pair", (0.7, 0.1, 0.2), seed, kind="pairs")
        elif protocol == STRONG:
            split = split_data(data, "user", (0.8, 0.1, 0.1), seed, kind="pairs")
        elif data.times is None:
            raise ConfigError(f"{name} has no times; leave it out of --protocol time")
        else:
            moments = tuple(np.quantile(data.times, (0.7, 0.8)))
            split = split_data(data, "time", Until(moments), seed, kind="ratings")
        train, valid, test = (split.matrices[part] for part in ("train", "valid", "test"))
        seen = np.diff(train.indptr) > 0
        if protocol == STRONG:
            parts = (Part.of(split.shown[one], split.matrices[one], ~seen, trained=False) for one in ("valid", "test"))
            return cls(f"{name}, {protocol}", train[seen], *parts)
        asked = seen if protocol == TIME else np.ones_like(seen)
        parts = Part.of(train, valid, asked), Part.of((train + valid).tocsr(), test, asked)
        return cls(name if protocol == WEAK else f"{name}, {protocol}", train, *parts)

    def line(self):
        users, items = self.train.shape
        sizes = ", ".join(
            f"{part.held.nnz:,} pairs of {part.held.shape[0]:,} users" for part in (self.valid, self.test)
        )
        return f"{self.name}: {users:,} users, {items:,} items, {self.train.nnz:,} pairs; held out {sizes}"


DATA = {
    "ml-1m": Input("pairs", "ml-1m-pairs", rectangular=True),
    "belgian-retail": Input("baskets", "belgian-retail"),
    "ml-100k": Input("ratings", "ml-100k", rectangular=True, time_col=4),
    "online-retail": Input(
        "ratings",
        "online-retail",
        rectangular=True,
        user_col="CustomerID",
        item_col="StockCode",
        time_col="InvoiceDate",
    ),
}


def made_up(n_users, n_items, seed=1):
    """Return a log with item popularity by Zipf's law, and users who like a few groups of items each.

    A user has a log-normal number of items: four fifths from the groups they like, popular items more often, the rest
    from all items.

    Returns
    -------
    csr_matrix, float32 ones, (n_users, n_items)
    """
    rng = np.random.default_rng(seed)
    n_groups = max(_TASTES, n_items // _GROUP)
    group = np.sort(rng.integers(0, n_groups, n_items))  # items of a group are adjacent
    mass = np.cumsum(1.0 / (rng.permutation(n_items) + 10.0))  # popularity: 1 / place
    ends = np.concatenate([[0.0], mass])[np.searchsorted(group, np.arange(n_groups + 1))]
    tastes = rng.integers(0, n_groups, (n_users, _TASTES))
    sizes = np.maximum(_FEWEST, rng.lognormal(_MEAN, _SPREAD, n_users)).astype(np.int64).clip(max=n_items)
    users = np.repeat(np.arange(n_users, dtype=np.int32), sizes)
    liked = tastes[users, rng.integers(0, _TASTES, len(users))]
    anywhere = rng.random(len(users)) < _AT_RANDOM
    low, high = np.where(anywhere, 0.0, ends[liked]), np.where(anywhere, mass[-1], ends[liked + 1])
    items = np.searchsorted(mass, low + rng.random(len(users)) * (high - low), side="right").clip(max=n_items - 1)
    return ones_of(scipy.sparse.coo_matrix((np.ones(len(users), np.float32), (users, items)), (n_users, n_items)))


def load(name, protocol=WEAK, size=(1_000_000, 100_000)):
    """Return a `Task`: users of MovieLens and the movies they rated, customers of a shop (no returns), Belgian baskets
    and their items, or a synthetic log with `size` users and items.
    """
    if name == SYNTHETIC:
        return Task.of(name, encode_input(Input("pairs", made_up(*size), rectangular=True), min_count=1), protocol)
    data = encode_input(DATA[name].located(None), min_count=1)
    if protocol == TIME and data.times is not None:
        return Task.of(name, data, protocol)
    if DATA[name].kind == "baskets":
        shape = data.n_sentences, len(data.vocab)
        matrix = scipy.sparse.csr_matrix((np.ones(len(data), np.float32), data.ids, data.offsets), shape)
    else:
        matrix = data.matrix
    return Task.of(name, encode_input(Input("pairs", ones_of(matrix), rectangular=True), min_count=1), protocol)
