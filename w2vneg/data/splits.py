"""Split encoded data into training, validation and test parts without leaks: held-out data are unseen in training.

"Unseen" means by pair, by user or by time, as docs/splits.md defines. Shares hold within each *group*: the pairs of a
centre, all users, a user's history. Of a group of m members, the parts up to cumulative share c get floor(m c + u),
with one u in [0, 1) drawn per group. So each member has exactly the requested probability of each part, and no group
deviates from its share by more than one member. Shuffling all pairs would leave rare centres without training pairs,
and evaluation is per centre.
"""

from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from itertools import pairwise

import numpy as np
import scipy.sparse

from ..ground.errors import ConfigError, InputError, did_you_mean
from ..kernels.cooccurrence import count_pairs, pair_counts
from .encoded import EncodedGraph, EncodedPairs
from .readers.layout import is_number
from .sources import SOURCES
from .splitfiles import PARTS

WAYS = ("pair", "user", "time")
_BLOCK = 1 << 22  # pairs assigned at a time
_SHOWN = 0.8  # as for held-out users of MovieLens and Netflix (Liang et al. 2018)
_FIRST = 10**8  # seconds since 1970, in 1973: the least time, once converted, for which a finer unit is assumed
_MOST = 10**12  # pairs to count: half a day
_REMEDY = "lower --max-vocab or --window (--max-history for histories), or raise --min-count"


@dataclass(frozen=True)
class Shares:
    """Of n members, the parts up to cumulative share c get floor(n c + u); u in [0, 1) is drawn for each group."""

    train: float
    valid: float
    test: float

    def check(self):
        """Raise ConfigError unless the shares are at least 0, add up to 1, and both train on and hold out something."""
        train, valid, test = shares = self.train, self.valid, self.test
        for name, share in zip(PARTS, shares, strict=True):
            if not 0 <= share <= 1:
                raise ConfigError(f"--{name} must be a share between 0 and 1, not {share:g}")
        if abs(train + valid + test - 1) > 1e-6:
            total = f"{train:g} + {valid:g} + {test:g} = {train + valid + test:g}"
            rest = 1 - valid - test
            remedy = f"; give --train {rest:g}" if rest > 0 else ""
            raise ConfigError(f"the shares --train, --valid and --test must add up to 1; {total}{remedy}")
        if train == 0:
            raise ConfigError("--train 0 leaves nothing to train on; give it a share above 0")
        if train == 1:
            raise ConfigError("--train 1 holds nothing out; give --valid or --test a share above 0")

    def shares(self):
        return {name: f"{getattr(self, name):g} of" for name in PARTS if getattr(self, name) > 0}

    def cut(self, sizes, times, rng):
        """Return where each part begins in each group of members, and the end: ndarray, int64, (n_groups, 4).

        sizes : ndarray, int, (n_groups,); rng : numpy.random.Generator
        times : ndarray, float64, (sum of sizes,), or None; times of the members, group after group, ascending in each
        """
        turn, bounds = rng.random(len(sizes)), np.round(np.cumsum([0.0, self.train, self.valid, self.test]), 12)
        cuts = np.floor(np.multiply.outer(sizes, bounds) + turn[:, None]).astype(np.int64)
        cuts[:, 0], cuts[:, -1] = 0, sizes
        return np.minimum(cuts, np.asarray(sizes)[:, None], out=cuts)


@dataclass(frozen=True)
class Last:
    """Hold out the last few of each history for testing, as many before for validation; short ones are trained on."""

    last: int
    valid: bool = True

    def check(self):
        if self.last < 1:
            raise ConfigError(f"--last must hold out at least one event per user, not {self.last}")

    def shares(self):
        return {name: f"the last {self.last} in each history of" for name in PARTS if name != "valid" or self.valid}

    def cut(self, sizes, times, rng):
        held = self.last * (1 + self.valid)
        long = sizes > held
        cuts = [np.zeros_like(sizes), sizes - held * long, sizes - self.last * long, sizes]
        return np.stack(cuts, axis=1, dtype=np.int64)


@dataclass(frozen=True)
class Until:
    """Train on events up to the first moment and test on later ones; with two moments, validate on those in between.

    until : tuple of float, one or two, ascending; in the unit of the times, seconds since 1970 if these are dates
    """

    until: tuple

    def check(self):
        if len(self.until) not in (1, 2) or not all(map(np.isfinite, self.until)):
            raise ConfigError("--until takes one time, or two: the end of training and the end of validation")
        if len(self.until) == 2 and not self.until[0] < self.until[1]:
            raise ConfigError("--until: the first time ends training, so the second must be later")

    def shares(self):
        parts = PARTS if len(self.until) == 2 else ("train", "test")
        return {name: f"events on its side of --until {_shown(self.until[-1])} by" for name in parts}

    def cut(self, sizes, times, rng):
        ends = _offsets(sizes)
        before = [np.diff(_offsets(times <= moment)[ends]) for moment in self.until]
        return np.stack([np.zeros_like(sizes), before[0], before[-1], sizes], axis=1).astype(np.int64)


def _shown(time):
    """Return a time (float) as text, with its date if it may be in seconds since 1970."""
    date = f", {datetime(1970, 1, 1) + timedelta(seconds=time)}" if _FIRST < time < 100 * _FIRST else ""
    return f"{time:.17g}{date.removesuffix(' 00:00:00')}"


def moment(text):
    """Parse a number as it is, a date with optional time as seconds since 1970; ConfigError for any other text."""
    if is_number(text):
        return float(text)
    import pandas as pd

    try:
        when = pd.to_datetime([text], format="ISO8601", utc=True)
    except ValueError:
        raise ConfigError(f"{text!r} is not a time; write a number, or YYYY-MM-DD HH:MM:SS") from None
    return float(when.tz_localize(None).to_numpy("datetime64[us]").astype(np.int64)[0] / 1e6)


@dataclass(frozen=True, eq=False)
class Split:
    """The parts of a split by name; only those with a share above 0.

    matrices : dict of str -> csr_matrix, (n_in, n_out), weights of the pairs; columns sorted, no duplicates, no zeros
    users : dict of str -> int, users (baskets, lines, rows) with an item in the part; empty for splits by pair
    shown : dict of str -> csr_matrix, other pairs of the users in a part held out by user; only for users and items
    repeats : int, events left out because their pair is in an earlier part
    """

    matrices: dict
    users: dict
    shown: dict = field(default_factory=dict)
    repeats: int = 0


def check_way(by, kind, rectangular=False, timed=True, ends=None):
    """Raise ConfigError if data of a kind cannot be split by pair, user or time.

    rectangular : bool, rows are users; timed : bool, ratings have times; ends : Shares (None), Last or Until
    """
    for what, given, known in (("way to split", by, WAYS), ("kind of data", kind, SOURCES)):
        if given not in known:
            raise ConfigError(f"unknown {what} {given!r}{did_you_mean(given, known)}")
    source = SOURCES[kind]
    if by == "user" and source.paired and not rectangular:
        raise ConfigError(
            "pairs of items have no users, so they cannot be split by user; use --by pair, or give --ratings or "
            "--baskets, or --rectangular if the rows are users"
        )
    if by == "time" and source.paired:
        raise ConfigError(
            "pairs have no times, so they cannot be split by time; use --by pair, or give --ratings with --time-col, "
            "or --baskets in chronological order"
        )
    if by == "time" and source.timed and not timed:
        raise ConfigError("--by time needs the time of each rating; name its column with --time-col")
    if isinstance(ends, Last | Until) and (by != "time" or not source.timed):
        raise ConfigError("--last and --until hold out the end of each history; use them with --by time and --ratings")


def split_data(data, by, shares, seed, *, kind, window=None, ordered=False):
    """Split encoded data and return a `Split`; a split by time takes data encoded with `first` (`encode_input`).

    shares : tuple of float, (train, valid, test), or `Last` or `Until`; by : str, one of `WAYS`
    kind : str, the source that the data were read from; histories ("ratings") are in chronological order
    window : int, at least 1, for text: the largest distance in a pair
    ordered : bool, only (i, j) with j after i is a pair, else (j, i) is too; ignored for data that are pairs already
    ConfigError if the shares are invalid, the data cannot be split that way, or pairs do not fit into memory;
    InputError if a part would be empty
    """
    ends = Shares(*shares) if isinstance(shares, tuple) else shares
    ends.check()
    pairs = isinstance(data, EncodedPairs)
    timed = data.times is not None or not (pairs or isinstance(ends, Until))
    check_way(by, kind, rectangular=pairs and data.vocab_out is not data.vocab, timed=timed, ends=ends)
    rng, users, shown, repeats = np.random.default_rng(seed), {}, {}, 0
    if pairs and by != "pair":
        part = _pairs_by_time(data, ends, rng) if by == "time" else _pairs_by_user(data.matrix, ends, rng)
        matrix = data.matrix
        if by == "time" and data.events is not None:
            matrix, repeats = _without_repeats(data, part, ends)
        matrices = _matrices(matrix, part)
        users = {name: int(np.count_nonzero(np.diff(own.indptr))) for name, own in matrices.items()}
        if by == "user":
            shown = _matrices(data.matrix, part - len(PARTS))
    elif isinstance(data, EncodedGraph) and not data.directed:
        matrices = _of_pairs(scipy.sparse.triu(data.matrix, 1, "csr"), ends, rng)
        matrices = {name: (part + part.T).tocsr() for name, part in matrices.items()}
    elif isinstance(data, EncodedPairs | EncodedGraph):
        matrices = _of_pairs(data.matrix, ends, rng)
    else:
        _check_number(data, window)
        count = partial(_counted, len(data.vocab), window, ordered)
        if by == "pair":
            matrices = _of_pairs(count(data.ids, data.offsets), ends, rng)
        elif by == "time" and SOURCES[kind].timed:
            count = partial(_counted, len(data.vocab), window, True)  # the target comes after the centre
            matrices, users = _by_time_of_each(data, count, ordered, ends, rng)
        else:
            dealt = users_of(data, ends, rng) if by == "user" else _by_time(data, ends, rng)
            matrices = {name: count(*own) for name, own in dealt.items()}
            users = {name: len(offsets) - 1 for name, (_, offsets) in dealt.items()}
    wanted = ends.shares()
    unit = "pairs" if by == "pair" else SOURCES[kind].unit
    for name, share in wanted.items():
        if not matrices[name].nnz:
            span, cut = "", "cut elsewhere"
            if isinstance(ends, Until):  # numbers may be in another unit than seconds
                span = f"; times are from {_shown(data.times.min())} to {_shown(data.times.max())}"
                cut = _by_digits(data.times, ends.until) or _by_unit(data.times, ends.until) or cut
            raise InputError(
                f"the {name} part is empty, but should get {share} the {unit}{span}; give more data, or {cut}"
            )
    shown = {name: own for name, own in shown.items() if name != "train"}
    own = ({name: part[name] for name in wanted if name in part} for part in (matrices, users, shown))
    return Split(*own, repeats)


def _by_digits(times, until):
    """Return the flags to type if times (ndarray) are dates with all digits in one number, else "".

    until : tuple of float, seconds since 1970
    """
    ends = [f"{time:.17g}" for time in (times.min(), times.max())]
    for form, words in (("%Y%m%d%H%M%S", "YYYYMMDDhhmmss"), ("%Y%m%d", "YYYYMMDD")):
        with suppress(ValueError, OverflowError):
            dates = [datetime.strptime(end, form) for end in ends if len(end) == len(words)]
            typed = [f"{datetime(1970, 1, 1) + timedelta(seconds=moment):{form}}" for moment in until]
            inside = all(ends[0] <= one <= ends[1] for one in typed)
            if len(dates) == len(ends):
                return " ".join(f"--until {one}" for one in (typed if inside else [words])) + f", as these are {words}"
    return ""


def _by_unit(times, until):
    """Return the flags to type if times (ndarray) are in a finer unit than `until`, which is in seconds, else ""."""
    for factor, unit in ((10**3, "milliseconds"), (10**6, "microseconds"), (10**9, "nanoseconds")):
        finer = [round(moment * factor) for moment in until]
        if times.min() > factor * _FIRST and all(times.min() <= one <= times.max() for one in finer):
            return " ".join(f"--until {moment}" for moment in finer) + f", as these are {unit}"
    return ""


def _check_number(corpus, window):
    n_pairs = count_pairs(corpus.offsets, window)
    if n_pairs > _MOST:
        longest = int(np.diff(corpus.offsets).max())
        raise ConfigError(
            f"there are {n_pairs:.2g} pairs to count (the longest basket or history has {longest:,} items), which "
            "would take many hours; limit long histories with --max-history, or split long lines of --baskets"
        )


def _counted(n_vocab, window, ordered, ids, offsets):
    """Count pairs of different words; pairs of an item with itself are dropped, as readers of pairs also do."""
    counts = pair_counts(ids, offsets, n_vocab, window, ordered=ordered, remedy=_REMEDY)
    return _chosen(counts, _rows(counts) != counts.indices)


def _of_pairs(matrix, ends, rng):
    sizes = np.diff(matrix.indptr)
    borders = np.searchsorted(matrix.indptr, np.arange(0, matrix.nnz + _BLOCK, _BLOCK))  # of blocks of rows
    blocks = pairwise(np.unique(borders.clip(0, len(sizes))))
    dealt = [_dealt(sizes[start:stop], ends, rng) for start, stop in blocks]
    return _matrices(matrix, np.concatenate([*dealt, np.empty(0, np.int8)]))


def _matrices(matrix, part):
    """Return the entries of each part: dict of name -> csr_matrix. part : ndarray, the part number of each entry"""
    return {name: _chosen(matrix, part == k) for k, name in enumerate(PARTS)}


def _pairs_by_time(data, ends, rng):
    """Hold out the end of each user's row: the latest new items. With shares, a user's first item is for training."""
    sizes = np.diff(data.matrix.indptr)
    by_time = np.lexsort((data.order, _rows(data.matrix)))
    cuts = ends.cut(sizes, data.times[by_time], rng)
    if isinstance(ends, Shares):
        cuts[:, 1:] = np.maximum(cuts[:, 1:], np.minimum(sizes, 1)[:, None])
    part = np.empty(data.matrix.nnz, np.int8)
    part[by_time] = _parts(cuts, sizes)
    return part


def _without_repeats(data, part, ends):
    """Return the pairs, weighted by their events in their own part (csr_matrix), and the number of other events."""
    entries, times, amounts = data.events
    if isinstance(ends, Until):
        now = (times > ends.until[0]).astype(np.int8) + (times > ends.until[-1])
    else:  # a part lasts until the first new item of the next one
        new = np.zeros(len(entries), bool)
        new[np.unique(entries, return_index=True)[1]] = True
        now = part[entries[new]][np.cumsum(new) - 1]
    own = now == part[entries]
    weights = np.bincount(entries[own], amounts[own], len(part)).astype(np.float32)
    matrix = data.matrix
    return type(matrix)((weights, matrix.indices, matrix.indptr), matrix.shape), int((~own).sum())


def _pairs_by_user(matrix, ends, rng):
    """Hold out users; `_SHOWN` of their pairs, at least one each, are shown instead: part number plus 3."""
    sizes = np.diff(matrix.indptr)
    part = np.repeat(_dealt(np.array([len(sizes)]), ends, rng), sizes)
    n_shown = np.maximum(np.floor(_SHOWN * sizes + rng.random(len(sizes))), np.minimum(sizes, 1))
    group = np.repeat(np.arange(len(sizes)), sizes)
    order = np.argsort(group + rng.random(len(group)))
    shown = np.empty(len(group), bool)
    shown[order] = np.arange(len(group)) - np.repeat(matrix.indptr[:-1], sizes) < n_shown[group]
    return part + len(PARTS) * (shown & (part > 0))


def users_of(corpus, ends, rng):
    """Return the baskets of each part, as `split_data` assigns them by user: dict of part -> (ids, offsets)."""
    lengths = np.diff(corpus.offsets)
    part = _dealt(np.array([len(lengths)]), ends, rng)
    own = {name: part == k for k, name in enumerate(PARTS)}
    return {name: (corpus.ids[np.repeat(kept, lengths)], _offsets(lengths[kept])) for name, kept in own.items()}


def _by_time_of_each(corpus, count, ordered, ends, rng):
    """Hold out the end of each history: targets are in it, and centres anywhere before the target."""
    lengths = np.diff(corpus.offsets)
    place = np.arange(len(corpus.ids)) - np.repeat(corpus.offsets[:-1], lengths)
    cuts = ends.cut(lengths, corpus.times, rng)
    users = dict(zip(PARTS, np.count_nonzero(np.diff(cuts), axis=0).tolist(), strict=True))
    matrices, before = {}, 0
    for name, heads in zip(PARTS, cuts.T[1:], strict=True):
        so_far = count(corpus.ids[place < np.repeat(heads, lengths)], _offsets(heads))
        matrices[name] = so_far - before  # pairs whose target is in this part
        before = so_far
    if not ordered:
        matrices["train"] += matrices["train"].T.tocsr()
    return matrices, users


def _by_time(corpus, ends, rng):
    """Cut the data in file order, text anywhere, else between baskets; return as `users_of`. No pair spans a cut."""
    anywhere = corpus.traversal.divisible
    total = len(corpus.ids) if anywhere else corpus.n_sentences
    cuts = ends.cut(np.array([total]), None, rng)[0]
    if not anywhere:
        cuts = corpus.offsets[cuts]
    spans = zip(PARTS, pairwise(cuts), strict=True)
    return {name: (corpus.ids[a:b], np.unique(corpus.offsets.clip(a, b)) - a) for name, (a, b) in spans}


def _dealt(sizes, ends, rng):
    """Assign the members of each group to parts at random: ndarray, int8, (n_members,), part numbers."""
    group = np.repeat(np.arange(len(sizes)), sizes)
    order = np.argsort(group + rng.random(len(group)))
    part = np.empty(len(group), np.int8)
    part[order] = _parts(ends.cut(sizes, None, rng), sizes)
    return part


def _parts(cuts, sizes):
    """Return the part number of each member, group after group: ndarray, int8, (n_members,)."""
    place = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    valid, test = (np.repeat(cuts[:, k], sizes) for k in (1, 2))
    return (place >= valid).astype(np.int8) + (place >= test)


def _rows(matrix):
    return np.repeat(np.arange(matrix.shape[0], dtype=np.int32), np.diff(matrix.indptr))


def _chosen(matrix, keep):
    starts = _offsets(keep)[matrix.indptr]
    return scipy.sparse.csr_matrix((matrix.data[keep], matrix.indices[keep], starts), shape=matrix.shape)


def _offsets(lengths):
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)])
