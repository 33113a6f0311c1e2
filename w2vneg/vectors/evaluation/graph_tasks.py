"""Node tasks on graphs, with scikit-learn: classification and link prediction.

Classification follows DeepWalk (Perozzi, Al-Rfou and Skiena 2014, section 4): a share of the labelled nodes is drawn
for training, one logistic regression per label is fitted on their vectors, and each other node gets its most probable
labels, as many as it has. The figures are F1 over all decisions (micro) and the mean of F1 over labels (macro).
The null model uses no vectors: it predicts the most frequent labels of the training nodes.

Link prediction follows node2vec (Grover and Leskovec 2016, section 4.4): held-out edges against as many random pairs of
nodes without an edge in any part. A pair's score is the dot product of its two vectors, or the output of a logistic
regression on their Hadamard product u v, on |u − v| (L1) or on (u − v)² (L2), each by dimension and standardised. The
regression is fitted on a development part, never on the pairs that are reported. Direction is ignored. Two scores for
comparison need no vectors: the product of the degrees in the training part, and the number of neighbours that two nodes
share there.
"""

import warnings
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from scipy.sparse import coo_matrix

from ...data.encoded import read_labels_file, read_pairs_file
from ...data.encoded.pairs import edges_as_trained
from ...ground.errors import ConfigError, FileNote, InputError, require
from .lookup import Result

SHARES = (0.1, 0.5, 0.9)
DOT, DEGREES, NEIGHBOURS = "dot product", "degree product", "common neighbours"
FITTED = {"Hadamard": lambda u, v: u * v, "L1": lambda u, v: np.abs(u - v), "L2": lambda u, v: (u - v) ** 2}
NULL = (DEGREES, NEIGHBOURS)
_OTHERS = "if other columns are meant, give a table of only these two"


@dataclass(frozen=True)
class ClassesResult(Result):
    """How well labels are predicted.

    shares : dict of training share -> dict of figure -> (mean, standard deviation or None) over draws: micro and macro
        F1 of the vectors, null_micro and null_macro of the null model
    unknown : int, labelled nodes without a vector; seeds : int, draws; columns : tuple of str, how columns were read
    """

    shares: dict
    nodes: int
    labels: int
    labels_a_node: float
    unknown: int
    seeds: int
    columns: tuple = field(compare=False)


def evaluate_classes(vectors, labels, *, shares=SHARES, seeds=10, seed=1):
    """Predict the labels of nodes from their vectors; returns a `ClassesResult`.

    labels : str, Path or table in memory, with a node and a label in each row; a node with several labels has as many
        rows. Names are looked up as usual
    shares : sequence of float, in (0, 1), training shares of the labelled nodes; seeds : int, draws of each

    InputError if the file cannot be read, has fewer than two labels of two nodes or more, or too few of its nodes have
    a vector; ConfigError if a share is out of range. A `FileNote` if there are labels of a single node.
    """
    score, linear = _sklearn("metrics").f1_score, _sklearn("linear_model").LogisticRegression
    several = _sklearn("multiclass").OneVsRestClassifier
    if not all(0 < share < 1 for share in shares):
        raise ConfigError(f"training shares must be above 0 and below 1, not {', '.join(map(str, shares))}")
    read = read_labels_file(labels, lowercase=vectors.lowercase, noun=vectors.noun)
    rows = vectors.words.find_all(read.vocab.words)
    truth = read.matrix[rows >= 0].toarray() > 0
    used = truth.any(axis=0)  # labels, without a heading
    headings = int((read.matrix[rows < 0][:, ~used].sum(axis=1) > 0).sum() == 1)
    truth = truth[:, used]
    x = vectors.matrix[rows[rows >= 0]]
    where = f"{labels} ({'; '.join(read.report.columns)})"
    if truth.shape[1] < 2 or not all(0 < round(share * len(x)) < len(x) for share in shares):
        found = f"{len(x):,} of {len(rows):,} labelled {vectors.noun}s have a vector, with {truth.shape[1]} labels"
        raise InputError(f"{where}: {found}; that is too little to train and test on; {_OTHERS}")
    _check_members(where, truth.sum(axis=0), vectors.noun)
    found = {}
    for share in shares:
        runs = {}
        for number in range(seeds):
            order = np.random.default_rng([seed, number]).permutation(len(x))
            train, test = np.split(order, [round(share * len(x))])
            null = np.tile(truth[train].mean(0), (len(test), 1))
            model = several(linear(max_iter=1000))  # one logistic regression per label
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "Label .* present in all training|Label not .* is present")
                fitted = model.fit(x[train], truth[train]).predict_proba(x[test])
            for who, chances in (("", fitted), ("null_", null)):
                chosen = _chosen(chances, truth[test])
                for way in ("micro", "macro"):
                    f1 = score(truth[test], chosen, average=way, zero_division=0)
                    runs.setdefault(f"{who}{way}", []).append(f1)
        found[share] = _spread(runs)
    numbers = *truth.shape, float(truth.sum(1).mean()), int((rows < 0).sum()) - headings, seeds
    return ClassesResult(found, *numbers, read.report.columns)


def _check_members(labels, members, noun):
    """Warn of labels of a single node, as training and testing need one each; InputError if almost all are."""
    n, several = len(members), int((members > 1).sum())
    told = f"{labels}: {several:,} of {n:,} labels have two {noun}s or more; others cannot be learnt and tested"
    if several < 2:
        raise InputError(f"{told}; {_OTHERS}, or give labels that {noun}s share")
    if several < n:
        warnings.warn(f"{told}; they count as wrong", FileNote, stacklevel=3)


def _sklearn(part):
    return require(f"sklearn.{part}", "sklearn", "evaluating classes and links")


def _spread(found):
    """Return the mean and the standard deviation of each list; the latter is None for a single number."""
    return {n: (float(np.mean(one)), float(np.std(one, ddof=1)) if len(one) > 1 else None) for n, one in found.items()}


def _chosen(chances, truth):
    """Return the most probable labels of each node, as many as it has: ndarray, bool."""
    ranks = np.argsort(np.argsort(-chances, axis=1, kind="stable"), axis=1, kind="stable")
    return ranks < truth.sum(axis=1, keepdims=True)


@dataclass(frozen=True)
class LinksResult(Result):
    """How well edges are separated from pairs without one.

    auc, ap : dict of score -> (mean, standard deviation or None) over draws of pairs without an edge
    edges, known, fitted_on : int, edges that were ranked, how many of these are also in the training part, and edges
        of the development part
    unknown : int, rows of the held-out file with a node that has no vector; seeds : int, draws
    columns : dict of part -> tuple of str, how columns were read
    """

    auc: dict
    ap: dict
    edges: int
    known: int
    fitted_on: int
    unknown: int
    seeds: int
    columns: dict = field(compare=False)


def evaluate_links(vectors, test, *, train, valid=None, seeds=5, seed=1, own=None):
    """Separate held-out edges from pairs of nodes without an edge; returns a `LinksResult`.

    test, train, valid : str, Path or table in memory, edges to rank, edges that the vectors were trained on, and edges
        to fit the regressions on; without `valid` there are no regressions
    seeds : int, draws of pairs without an edge
    own : dict, optional, the vectors' training data, from `Input.as_dict`; edges are read in the same way

    InputError if a file cannot be read, or the graph has too few pairs without an edge.
    """
    metrics = _sklearn("metrics")
    given = {"test": test, "train": train} | ({} if valid is None else {"valid": valid})
    read_one = partial(read_pairs_file, vocab=vectors, vocab_out=vectors)
    read = {name: edges_as_trained(file, own or {}, read_one) for name, file in given.items()}
    edges = {name: _numbered(held, len(vectors)) for name, held in read.items()}
    if not len(edges["test"]):
        raise InputError(f"{test}: every edge connects a node with itself")
    known = np.unique(np.concatenate(list(edges.values())))
    is_edge = np.arange(2 * len(edges["test"])) < len(edges["test"])
    auc, ap = {}, {}
    for number in range(seeds):
        rng = np.random.default_rng([seed, number])
        drawn = {"test": _beside(edges["test"], known, len(vectors), rng)}
        if valid is not None:  # the regressions do not see the pairs that they are scored on
            low, high = drawn["test"]
            taken = np.union1d(known, low * len(vectors) + high)
            drawn["valid"] = _beside(edges["valid"], taken, len(vectors), rng)
        for name, scores in _scores(vectors.matrix, edges["train"], drawn).items():
            auc.setdefault(name, []).append(metrics.roc_auc_score(is_edge, scores))
            ap.setdefault(name, []).append(metrics.average_precision_score(is_edge, scores))
    n_known, n_fitted = len(np.intersect1d(edges["test"], edges["train"])), len(edges.get("valid", ()))
    numbers = len(edges["test"]), n_known, n_fitted, read["test"].n_unknown, seeds
    return LinksResult(_spread(auc), _spread(ap), *numbers, {name: held.columns for name, held in read.items()})


def _numbered(held, n):
    """Return the distinct pairs of nodes i < j as numbers i n + j, sorted (ndarray, int64)."""
    low, high = np.minimum(held.centres, held.targets), np.maximum(held.centres, held.targets)
    return np.unique((low * n + high)[low < high])


def _beside(edges, known, n, rng):
    """Return edges, followed by as many random pairs that are not among `known` numbers, as (2, n_pairs) nodes."""
    free = n * (n - 1) // 2 - len(known)
    if free < 2 * len(edges):
        few = f"only {free:,} pairs of nodes without an edge are left"
        raise InputError(f"{few}, too few to compare {len(edges):,} edges with")
    found = np.empty(0, np.int64)
    while len(found) < len(edges):
        low, high = np.sort(rng.integers(n, size=(2, 2 * len(edges))), axis=0)
        numbers = (low * n + high)[low < high]
        found = np.unique(np.concatenate([found, numbers[~np.isin(numbers, known)]]))
    return np.array(np.divmod(np.concatenate([edges, rng.permutation(found)[: len(edges)]]), n))


def _scores(matrix, train, drawn):
    """Return the scores of the test pairs, by name (dict of str -> ndarray)."""
    first, second = drawn["test"]
    found = {}
    if "valid" in drawn:
        n_fitted = drawn["valid"].shape[1]
        for name, feature in FITTED.items():
            scale = _sklearn("preprocessing").StandardScaler()
            fitted = scale.fit_transform(feature(*matrix[drawn["valid"]]))
            model = _sklearn("linear_model").LogisticRegression(max_iter=1000)
            model.fit(fitted, np.arange(n_fitted) < n_fitted // 2)
            found[name] = model.decision_function(scale.transform(feature(matrix[first], matrix[second])))
    found[DOT] = np.einsum("ij,ij->i", matrix[first], matrix[second])
    n = len(matrix)
    half = coo_matrix((np.ones(len(train)), np.divmod(train, n)), (n, n)).tocsr()
    graph = half + half.T
    degrees = np.asarray(graph.sum(axis=1)).ravel()
    found[DEGREES] = degrees[first] * degrees[second]
    found[NEIGHBOURS] = np.asarray(graph[first].multiply(graph[second]).sum(axis=1)).ravel()
    return found
