"""Items seen together: weighted pairs, graphs for random walks, and held-out pairs.

The count of a node is the expected number of visits by walks: ten walks of 80 nodes from each node with an outgoing
edge, each step in proportion to the weights. It is computed, not sampled, so noise by popularity follows visits.
"""

import os
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np

from ...ground.errors import ConfigError, InputError, NoColumnError, W2vnegError
from ..inputs import OF_TEXT, Input
from ..readers.column_names import columns_meant, is_label
from ..readers.columns import NONE, Labels
from ..readers.frames import InMemoryTable
from ..readers.layout import Column
from ..readers.sources import find_files, is_paths
from ..readers.tables import Tables
from ..readers.text import utf8_or_latin_1
from ..sources._options import pair_columns
from ..vocab import VocabOptions, Vocabulary, choose_items
from ..words import NameIndex, as_word
from .corpus import Encoded, ItemsReport, counted, going_round

_SWITCHES = {"0", "1", "0.0", "1.0"}
ALONE = "nodes without an edge to another"  # reason for leaving them out
_WALKS, _LENGTH = 10, 80  # walks per node and nodes per walk, for the counts
_BELOW = 1 - 1e-9  # factor on scaled sums: keeps rounding errors from rounding a whole sum up
_SETTLED = 1e-4  # share of the visits that a step moves; below it, all later steps are assumed to be equal


class _Matrix(Encoded):
    def __len__(self):
        return self.matrix.nnz

    @property
    def arrays(self):
        return self.matrix.indices, self.matrix.indptr, self.matrix.data


@dataclass(frozen=True, eq=False)
class EncodedPairs(_Matrix):
    """Weighted pairs (i, j): j was seen with i. Rows are centres, columns targets.

    matrix : scipy.sparse.csr_matrix, float32, (n_in, n_out), weights above 0; columns sorted, no duplicates
    vocab : Vocabulary of the rows; counts are sums of weights, rounded up: of the row and the column of the same name
        if they are one kind of thing, else of the row; weights that are all below 1 are first scaled to a mean of 1
    vocab_out : Vocabulary of the columns; the same object as `vocab` if they are one kind of thing
    sums : (float64 (n_in,), float64 (n_out,)), row and column sums of the whole matrix in a rank's share; else None
    order, times : ndarray, int64 and float64, (nnz,), a number for each entry that rises with time within its row, and
        its time; None if no table had times
    events : (int64, float64, float64), each (n_events,), the entry, time and amount of each event, by row and time;
        None unless pairs are encoded by their first event and sum up several
    """

    matrix: object
    vocab: Vocabulary
    vocab_out: Vocabulary = None  # type: ignore[assignment]  # always given; the default hides the property
    report: ItemsReport | None = None
    sums: tuple | None = None
    order: np.ndarray | None = None
    times: np.ndarray | None = None
    events: tuple | None = None
    source = "pairs"

    @property
    def n_pairs(self):
        return float(self.matrix.sum(dtype=np.float64))

    def _share(self, slot, borders):
        """Return the rows of one rank, whose centres no other rank trains."""
        matrix = self.matrix
        mine = going_round(matrix.shape[0], borders) == slot
        kept = np.repeat(mine, np.diff(matrix.indptr))
        if not kept.any():
            raise ConfigError(
                f"{matrix.shape[0]:,} rows of pairs are too few for {len(borders) - 1} ranks; lower --ranks"
            )
        indptr = np.concatenate([[0], np.cumsum(np.diff(matrix.indptr) * mine)])
        own = type(matrix)((matrix.data[kept], matrix.indices[kept], indptr), shape=matrix.shape)
        return replace(self, matrix=own, sums=sums_of(matrix), order=None, times=None, events=None)


@dataclass(frozen=True, eq=False)
class EncodedGraph(_Matrix):
    """A graph as a sparse matrix.

    matrix : scipy.sparse.csr_matrix, float32, (n_nodes, n_nodes); row i has the weights, above 0, of the edges from
        node i; columns sorted, no duplicates, no diagonal; symmetric unless the graph is directed
    vocab : Vocabulary of the nodes, with visits as counts
    origins : ndarray, int32, (n_origins,), where walks begin; None: at every node with an outgoing edge
    """

    matrix: object
    vocab: Vocabulary
    report: ItemsReport | None = None
    directed: bool = False
    origins: np.ndarray | None = None
    source = "graph"

    def _share(self, slot, borders):
        """Return the whole graph with one rank's share of the nodes where walks begin."""
        all_origins = np.flatnonzero(np.diff(self.matrix.indptr)).astype(np.int32)
        own = all_origins[going_round(len(all_origins), borders) == slot]
        if not len(own):
            raise ConfigError(f"{len(self.vocab):,} nodes are too few for {len(borders) - 1} ranks; lower --ranks")
        return replace(self, origins=own)


def read_ends(batches, keys, indexes, dtype=np.float64):
    """Return the numbers of both names and the weights of all rows: ndarray, (n,), int32, int32 and float.

    batches : iterable of `readers.columns.Batch`; keys : two str; indexes : two words.NameIndex, or one twice
    dtype : type of the weights of 1 for a table without weights
    """
    parts = []
    for batch in batches:
        ends = (index.number(batch.columns[key], batch.where) for key, index in zip(keys, indexes, strict=True))
        weight = batch.columns.get("weight")
        parts.append((*ends, np.ones(batch.n_rows, dtype) if weight is None else weight))
    return [np.concatenate(part) for part in zip(*parts, strict=True)]


def encode_pairs(rows, columns, weights, words, shaping, report, times=None):
    """Encode pairs as read: choose the items and sum the weights of equal pairs; return an EncodedPairs.

    rows, columns : ndarray, int32, (n,), numbers of names; weights : ndarray, float64, (n,), 0 or more
    words : (list of str, list of str), the names of rows and of columns; the same ones if they are one kind of thing
    shaping : VocabOptions; report : ItemsReport, to be completed
    times : ndarray, float64, (n,), or None; with times, pairs are distinct and chronological within a row
    InputError if too few items or no pair are left, or a sum of weights exceeds float32
    """
    left_out, rectangular, kept = dict(report.left_out), report.rectangular, weights > 0
    _check_sum(weights.sum(dtype=np.longdouble))
    left_out["rows with weight 0"] = int((~kept).sum())
    if not rectangular:
        left_out["pairs of an item with itself"] = int((kept & (rows == columns)).sum())
        kept &= rows != columns
    if not kept.all():
        rows, columns, weights = rows[kept], columns[kept], weights[kept]
    if not len(rows):
        raise InputError(
            "no pair is left: all have weight 0 or pair an item with itself; name other files or columns "
            "(--weight-col), or give --rectangular if items and targets are two kinds of things"
        )
    parts = weights  # whose sums serve as counts
    if weights.max() < 1:
        parts = weights / weights.sum() * (len(weights) * _BELOW)  # scaled to a mean of 1
    seen = [np.bincount(ids, parts, len(names)) for ids, names in zip((rows, columns), words, strict=True)]
    del parts
    if rectangular:
        vocab, ids = choose_items(words[0], seen[0], shaping, shaping.vocab, "centre")
        vocab_out, ids_out = choose_items(words[1], seen[1], shaping, shaping.vocab_out, "target")
        n_out = int(((ids < 0) & (seen[0] > 0)).sum() + ((ids_out < 0) & (seen[1] > 0)).sum())
    else:
        vocab, ids = vocab_out, ids_out = choose_items(words[0], sum(seen), shaping, shaping.vocab)
        n_out = int(((ids < 0) & (sum(seen) > 0)).sum())
    which = "rare items" if shaping.vocab is shaping.vocab_out is None else "unknown items"
    left_out[which] = n_out
    rows, columns = ids[rows], ids_out[columns]
    known = (rows >= 0) & (columns >= 0)
    left_out[f"rows with {which}"] = int(len(known) - known.sum())
    if not known.any():
        raise InputError(f"no pair is left: each has one of {n_out:,} {which}; keep more of them")
    matrix = _csr(rows[known], columns[known], weights[known], (len(vocab), len(vocab_out)))
    single = _single_precision(matrix)
    left_out["pairs with a weight too small for float32"] = matrix.nnz - single.nnz
    report = replace(report, items=len(vocab), targets=len(vocab_out), kept=single.nnz, left_out=left_out)
    if times is None:
        return EncodedPairs(single, vocab, vocab_out, report)
    order = np.lexsort((columns[known], rows[known]))  # the order of entries in a csr_matrix
    return EncodedPairs(single, vocab, vocab_out, report, order=order, times=times[known][order])


def encode_edges(heads, tails, weights, words, directed, shaping, report):
    """Encode edges: sum equal ones, choose the nodes and number them by visits; return an EncodedGraph.

    heads, tails : ndarray, int32, (n,); weights : ndarray, float32 or float64, (n,), above 0; words : list of str
    shaping, report, and errors : as in `encode_pairs`
    """
    _check_sum(2 * weights.sum(dtype=np.longdouble))
    ways = 1 if directed else 2  # entries of the matrix for each edge
    proper, left_out = heads != tails, dict(report.left_out)
    n_proper = int(proper.sum())
    left_out["self-loops"] = len(proper) - n_proper
    if not n_proper:
        raise InputError("no edge is left: all are self-loops; name other files or columns")
    heads, tails, weights = heads[proper], tails[proper], weights[proper]
    left_out[ALONE] = left_out.get(ALONE, 0) + len(words) - len(_those_in(heads, tails, len(words)))
    if not directed:
        heads, tails = np.concatenate([heads, tails]), np.concatenate([tails, heads])
        weights = np.concatenate([weights, weights])
    matrix = _single_precision(_csr(heads, tails, weights, (len(words),) * 2))
    del heads, tails, weights
    n_edges, visits = matrix.nnz // ways, expected_visits(matrix)
    vocab, ids = choose_items(words, visits, shaping, shaping.vocab, "node")
    matrix = matrix.tocoo()
    rows, columns = ids[matrix.row], ids[matrix.col]
    known = (rows >= 0) & (columns >= 0)
    which = "rare nodes" if shaping.vocab is None else "unknown nodes"
    left_out[which] = int(((ids < 0) & (visits > 0)).sum())
    left_out[f"edges of {which}"] = n_edges - int(known.sum()) // ways
    if not known.any():
        raise InputError(f"no edge is left: each has one of {left_out[which]:,} {which}; keep more of them")
    rows, columns, data = rows[known], columns[known], matrix.data[known]
    tied = _those_in(rows, columns, len(vocab))
    if shaping.vocab is None and len(tied) < len(vocab):  # some had only edges of rare nodes
        left_out[ALONE] += len(vocab) - len(tied)
        vocab = Vocabulary([vocab.words[i] for i in tied.tolist()], vocab.counts[tied])
        rows, columns = np.searchsorted(tied, rows), np.searchsorted(tied, columns)
    matrix = _csr(rows, columns, data, (len(vocab),) * 2)
    sizes = {"items": len(vocab), "targets": len(vocab), "kept": matrix.nnz // ways}
    added = {"rows that repeat an edge" + ", in either direction" * (not directed): n_proper - n_edges}
    return EncodedGraph(matrix, vocab, replace(report, **sizes, left_out=left_out, added=added), directed)


def _those_in(heads, tails, n):
    """Return the sorted ids (int64) of the n nodes that have an edge; heads, tails : ndarray, int, ids"""
    found = np.zeros(n, bool)
    found[heads] = found[tails] = True
    return np.flatnonzero(found)


def expected_visits(matrix):
    """Return the expected visits of each node, float64, (n_nodes,); matrix : csr_matrix, float32, edge weights

    With P the transition probabilities, walks are at node i after k steps with probability (start P^k)_i. Visits are
    the sum of these over the steps of all walks.
    """
    weights = np.asarray(matrix.sum(axis=1, dtype=np.float64)).ravel()
    here = (weights > 0).astype(np.float32)
    inverse = np.divide(1.0, weights, out=np.zeros_like(weights), where=weights > 0).astype(np.float32)
    transposed = matrix.T
    visits = here.astype(np.float64)
    for step in range(1, _LENGTH):
        before, here = here, transposed @ (here * inverse)
        if np.abs(here - before).sum(dtype=np.float64) <= _SETTLED * here.sum(dtype=np.float64):
            return _WALKS * (visits + (_LENGTH - step) * here)
        visits += here
    return _WALKS * visits


def _check_sum(weights, where=""):
    if not weights <= float(np.finfo(np.float32).max):
        raise InputError(f"{where}the weights sum to more than can be counted; scale them down")


def _csr(rows, columns, data, shape):
    from scipy.sparse import coo_matrix  # takes a quarter of a second, and text does not need it

    return coo_matrix((data, (rows, columns)), shape).tocsr()  # sums duplicates


def _single_precision(matrix):
    with np.errstate(over="ignore"):
        single = matrix.astype(np.float32)
    if np.isinf(single.data).any():
        raise InputError(f"the weights of a pair sum to {matrix.data.max():g}, too much for float32; scale them down")
    single.eliminate_zeros()
    if not single.nnz:
        raise InputError(f"the largest weight, {matrix.data.max():g}, is too small for float32; scale weights up")
    return single


def sums_of(matrix):
    """Return the row and column sums of a sparse matrix: (float64 (n_in,), float64 (n_out,))."""
    return tuple(np.asarray(matrix.sum(axis=axis, dtype=np.float64)).ravel() for axis in (1, 0))


def ones_of(matrix):
    """Return a csr_matrix, float32, with a one for each nonzero entry of a sparse matrix."""
    return (matrix.tocsr().astype(np.float32) != 0).astype(np.float32)


def some_rows(matrix, n_entries, rng, fewest=1):
    """Return random rows of a csr_matrix, at least `fewest`, with about `n_entries`; all if it has no more.

    rng : numpy.random.Generator, not used if all rows are returned
    """
    if matrix.nnz <= n_entries:
        return matrix
    order = rng.permutation(matrix.shape[0])
    n = np.searchsorted(np.cumsum(np.diff(matrix.indptr)[order]), n_entries)
    return matrix[np.sort(order[: max(fewest, n)])]


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Weighted pairs (centre, target) as ids, in file order.

    centres, targets : ndarray, int64, (n,); weights : ndarray, float64, (n,), above 0; 1 if the file has none
    n_unknown : int, rows with an unknown item, which are not among the pairs; n_read : int, known and unknown rows
    weight_read : float, sum of all weights, or None without a file
    columns : tuple of str, which column was read as what, and what was left out
    """

    centres: np.ndarray
    targets: np.ndarray
    weights: np.ndarray
    n_unknown: int
    n_read: int
    weight_read: float | None = None
    columns: tuple = ()

    def __len__(self):
        return len(self.centres)


def as_trained(path, own, read, liked=True):
    """Return the result of `read`, a callable, for pairs; use the options of the training data if the table fits them.

    A table does not fit if its header names the columns, with other names than in training, and training had columns
    by number; or if training had ratings without column options and the header has the "weight" of `split` but no
    ratings. A table in memory fits only with column names and, if training had a min_rating, with named ratings. After
    training on edges, other tables are read as edges, too, in both directions unless the graph is directed.

    path : as in `read_pairs_file`; passed to `read` if the table does not fit
    own : dict, the training data as in `Input.as_dict`, and the "names" of their columns if there were any; or empty
    liked : bool, leave out rows with a rating that was too low for training
    """
    own = dict(own)
    names = own.pop("names", ())
    if not isinstance(path, Input) and not is_paths(path):
        path = InMemoryTable.of_pairs(path)
    plain, in_memory = path, isinstance(path, InMemoryTable)
    if own.get("kind") == "edges":
        plain = path if isinstance(path, Input) else Input("edges", path)
        if plain.kind == "edges":
            plain = plain.replace(directed=bool(own.get("directed")) and plain.options.get("directed", True))
    alike = _has_columns(path, own, names) if in_memory else isinstance(path, str | os.PathLike)
    if not alike or own.get("kind") not in ("pairs", "ratings", "edges"):
        return read(plain)
    if not liked and own.get("min_rating") is not None:
        own = {name: value for name, value in own.items() if name not in ("min_rating", "rating_col")}
    seen = in_memory or os.path.isfile(path)  # what can be read only once is not inspected
    if seen and _is_another(plain, own, names):
        return read(plain)
    if in_memory:
        own = {name: value for name, value in own.items() if name not in OF_TEXT}
    try:
        return read(Input.from_dict(own | {"files": [path]}))
    except (NoColumnError, ConfigError):  # its columns differ
        return read(plain)


def _has_columns(table, own, names):
    """Return whether an InMemoryTable has column names that suit the options of the training data (bool)."""
    if not table.named or (table.nodes is not None and own.get("kind") == "edges"):  # a graph has its own directions
        return False
    if table.head == list(names):
        return True
    if any(str(value).isdecimal() for name, value in own.items() if name.endswith("_col")):  # columns of a file
        return False
    return table.nodes is None and (own.get("min_rating") is None or _is_rated(table.head, own))


def _is_rated(names, own):
    return not {"rating", own.get("rating_col")}.isdisjoint({*columns_meant(names), *names})


def edges_as_trained(path, own, read):
    """Do as `as_trained` for edges; ignore the options of training data that were neither edges nor pairs."""
    return as_trained(path, own if own.get("kind") in ("edges", "pairs") else {"kind": "edges"}, read)


def _is_another(path, own, names):
    named = [own[name] for name in ("user_col", "item_col", "source_col", "target_col") if own.get(name) is not None]
    by_numbers = own.get("header") is False or any(str(name).isdecimal() for name in named)
    if not by_numbers and (named or own["kind"] != "ratings"):
        return False
    labels = Labels()
    with suppress(W2vnegError):
        tables = _tables(path)
        next(iter(tables), None)
        labels = tables.labels
    if not labels.by_name or labels.names == tuple(names):
        return False
    return by_numbers or ("weight" in labels.names and not _is_rated(labels.names, own))


def read_pairs_file(path, vocab, vocab_out, *, lowercase=False, needed=True, unit=1.0):
    """Read pairs (item, target[, weight]) and look up their names; return a `HeldOut` of at least one pair.

    path : path or table in memory, read like `--pairs` without options: columns by name, else 1 and 2; ratings and
        times are not weights; UTF-8, else Latin-1. Or an Input of pairs; or one of ratings, without those below its
        min_rating; or one of edges: if undirected, pairs are in both directions, each once, with its weights summed.
    vocab, vocab_out : Vocabulary, of centres and of targets; lowercase : bool, their names are lower-cased
    needed : bool, raise for a table in memory without a usable pair, as for a file
    unit : float, the weight of each pair if the table has no weights
    InputError, with file and line, if the file is not such a table; or if no pair is left, or the weights overflow
    """
    tables, least = _tables(path), _least_rating(path)
    both = isinstance(path, Input) and path.kind == "edges" and not path.directed
    parts, n_unknown, n_idle, weight_read = [], 0, 0, 0.0
    path, in_memory = (path if is_paths(path) else tables.files[0]), isinstance(tables.files[0], InMemoryTable)
    for batch in _liked(tables, least):
        first, second, weights, *_ = batch.columns.values()
        weights = np.full(batch.n_rows, unit) if weights is None else weights
        known_either = np.zeros(batch.n_rows, bool)
        for ends in ((first, second), (second, first))[: 1 + both]:
            centres, targets = (
                names.words.find_all([as_word(name, lowercase) for name in end.names]).astype(np.int64)[end.codes]
                for end, names in zip(ends, (vocab, vocab_out), strict=True)
            )
            known = (centres >= 0) & (targets >= 0)
            kept = known & (weights > 0)
            parts.append((centres[kept], targets[kept], weights[kept]))
            known_either |= known
            with np.errstate(over="ignore"):
                weight_read += float(weights.sum())
        n_unknown += int((~known_either).sum())
        n_idle += int((known_either & (weights <= 0)).sum())
    _check_sum(weight_read, f"{path}: ")
    gathered = [np.concatenate(part) for part in zip(*parts, strict=True)]
    gathered = _each_once(*gathered, len(vocab_out)) if both else gathered
    n_low, n_returns, low = tables.tally["low"], tables.tally["returns"], f"rows rated below {least or 0:g}"
    found = ((n_returns, "returns"), (n_low, low), (n_idle, "rows with weight 0"))
    found += ((tables.tally["like rows"], "comment-like lines (# or %) among the rows"),)
    left_out = ["edges in both directions"] * both + [f"left out: {counted(n, which)}" for n, which in found if n]
    n_read = tables.n_rows - n_returns - n_low - n_idle
    held = HeldOut(*gathered, n_unknown, n_read, weight_read, (*tables.labels.said, *left_out))
    if not len(held) and (needed or not in_memory):
        raise InputError(
            f"{path}: none of its {tables.n_rows:,} pairs has a weight above 0 and two known items"
            f"{f', and {n_low:,} are {low}' if n_low else ''}; is it from the data that the model was trained on, with "
            "the same names?"
        )
    return held


def _each_once(centres, targets, weights, n):
    """Return distinct pairs in order of first appearance, with their weights summed."""
    _, first, place = np.unique(centres * n + targets, return_index=True, return_inverse=True)
    order = np.argsort(first)
    first = first[order]
    return centres[first], targets[first], np.bincount(place.ravel(), weights, len(order))[order]


def count_centres(path, *, lowercase=False):
    """Count how often each name comes first in a pair of a file or table, as for `read_pairs_file`: a Vocabulary."""
    counts = Counter()
    for batch in _liked(_tables(path), _least_rating(path)):
        column, *_ = batch.columns.values()
        seen = np.bincount(column.codes, minlength=len(column.names)).tolist()
        for name, count in zip(column.names, seen, strict=True):
            counts[as_word(name, lowercase)] += count
    return Vocabulary.from_counts(counts)


def read_labels_file(path, *, lowercase=False, noun="item"):
    """Read labels, one thing and label per row: an `EncodedPairs` of things and labels, as two kinds.

    path : path or table in memory, as for `read_pairs_file`; a column named like labels is used for them
    lowercase : bool, ignore case in names; noun : str, for a thing in messages
    InputError, with file and line, if the file is not such a table; or if it has a column of 0 and 1 for each label
    """
    thing, label, _ = pair_columns()
    thing = replace(thing, key=noun, option=f"the {noun}s", words=f"{noun}s")
    label = replace(label, key="label", option="the labels", words="labels", of_labels=True)
    names, labels, tables = NameIndex(lowercase), NameIndex(), _tables_of(path, [thing, label])
    gathered = read_ends(tables, (noun, "label"), (names, labels))
    if set(labels.words) <= _SWITCHES and not any(map(is_label, tables.labels.names)):
        third = replace(label, default=3, means=(), of_labels=False, may_be_empty=True)
        _refuse_one_hot(path, third, tables.labels)
    report = ItemsReport.of("pairs", tables, {names, labels}, True)
    return encode_pairs(*gathered, (names.words, labels.words), VocabOptions(min_count=1), report)


def _refuse_one_hot(path, third, labels):
    """Raise InputError if the column next to the labels also has only 0 and 1; labels : Labels"""
    if isinstance(path, str | os.PathLike) and not os.path.isfile(path):  # it can be read only once
        return
    last, found = replace(third, key="last", requested=labels.n_columns), {"label": set(), "last": set()}
    with suppress(NoColumnError):
        tables = _tables_of(path, [third, last])
        for batch in tables:
            for key, values in found.items():
                values.update(filter(str.strip, batch.columns[key].names))
        if tables.labels["label"] != labels["label"] and set() < found["label"] <= _SWITCHES:
            remedy = "write a row of name and label for each 1, or name the column to be used 'label'"
            if not found["last"] <= _SWITCHES:
                cut = r"""awk -F '[\t,;]' '{print $1 "\t" $NF}' FILE > labels.tsv"""
                remedy = f"if labels are in the last column, {tables.labels['last']}, extract it: {cut}"
            raise InputError(
                f"{path}: {labels['label']} and {tables.labels['label']} hold only 0 and 1, as in a table with a "
                f"column for each label; {remedy}"
            )


def _least_rating(path):
    return path.min_rating if isinstance(path, Input) and path.kind == "ratings" else None


def _liked(tables, least):
    """Yield batches without rows rated below `least` (float or None), which are counted in `tables.tally`."""
    for batch in tables:
        if least is not None:
            kept = batch.columns["rating"] >= least
            tables.tally["low"] += int((~kept).sum())
            batch = batch.rows(kept)
        yield batch


def _tables(path):
    if not isinstance(path, Input):
        return _tables_of(path, pair_columns())
    columns = pair_columns(path, "source", held_out=True) if path.kind == "edges" else pair_columns(path)
    if path.kind == "ratings":  # users become items, and items targets
        weight = NONE if path.min_rating is not None else path.rating_col or NONE
        named = SimpleNamespace(item_col=path.user_col, target_col=path.item_col, weight_col=weight)
        amount = Column("amount", "the amount", "amount", means=("weight",))  # below 0: a return
        columns = [*pair_columns(named), *[amount] * (weight == NONE)]
        if path.min_rating is not None:
            columns.append(Column("rating", "--rating-col", "number", path.rating_col, 3, ("rating",), "ratings"))
    return _tables_of(list(path.located().files), columns, path, comments=path.kind == "edges")


def _tables_of(path, columns, how=None, comments=False):
    files = find_files(path) if is_paths(path) else [InMemoryTable.of_pairs(path)]
    return Tables(files, columns, how, encoding=utf8_or_latin_1(files[0]), comments=comments, beside=True)
