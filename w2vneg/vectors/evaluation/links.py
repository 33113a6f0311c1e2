"""Link prediction: do pairs of nodes with a held-out edge score higher than pairs without one?

The protocol of node2vec (Grover and Leskovec 2016, section 4.4): held-out edges against as many pairs of nodes drawn at
random from those without an edge in any part. A pair's score is the dot product of its two vectors, or what a logistic
regression makes of their Hadamard product u v, of |u − v| (L1) or of (u − v)² (L2), each by dimension and standardised.
The regression is fitted on a development part, never on the edges that are reported. Direction is not looked at.

Two scores need no vectors, and stand beside: the product of the degrees in the training part, and the number of
neighbours that two nodes share there.
"""

from dataclasses import asdict, dataclass

import numpy as np

from ...data.encoded import read_pairs_file
from ...ground.errors import InputError, require

DOT, DEGREES, NEIGHBOURS = "dot product", "degree product", "common neighbours"
FITTED = {
    "Hadamard": lambda u, v: u * v,
    "L1": lambda u, v: np.abs(u - v),
    "L2": lambda u, v: (u - v) ** 2,
}
NULL = (DEGREES, NEIGHBOURS)


@dataclass(frozen=True)
class LinksResult:
    """How well edges are separated from pairs without one.

    auc, ap : dict of str -> (float, float), by score: mean and standard deviation over draws of pairs without an edge
    edges : int, held-out edges that were ranked; fitted_on : int, edges of the development part
    unknown : int, rows of the held-out file with a node that has no vector; seeds : int, draws
    """

    auc: dict
    ap: dict
    edges: int
    fitted_on: int
    unknown: int
    seeds: int

    def as_dict(self):
        return asdict(self)


def evaluate_links(vectors, test, *, train, valid=None, seeds=5, seed=1):
    """Separate held-out edges from pairs of nodes without an edge.

    Parameters
    ----------
    vectors : Vectors
    test, train, valid : str, Path or table in memory
        Edges, as `data.encoded.read_pairs_file` reads pairs: those that are ranked, those that vectors were trained on,
        and those that the regressions are fitted on. Without `valid` there are none.
    seeds : int, at least 1
        Draws of pairs without an edge.
    seed : int

    Returns
    -------
    LinksResult

    Raises
    ------
    InputError
        If a file cannot be read, or the graph has too few pairs without an edge.
    MissingExtraError
        Without scikit-learn.
    """
    metrics = require("sklearn.metrics", "sklearn", "evaluating links")
    given = {"test": test, "train": train} | ({} if valid is None else {"valid": valid})
    read = {name: read_pairs_file(file, vectors, vectors) for name, file in given.items()}
    edges = {name: _numbered(held, len(vectors)) for name, held in read.items()}
    if not len(edges["test"]):
        raise InputError(f"{test}: every edge is of a node with itself")
    known = np.unique(np.concatenate(list(edges.values())))
    auc, ap = {}, {}
    for number in range(seeds):
        rng = np.random.default_rng([seed, number])
        drawn = {name: _beside(edges[name], known, len(vectors), rng) for name in edges if name != "train"}
        is_edge = np.arange(2 * len(edges["test"])) < len(edges["test"])
        for name, scores in _scores(vectors.matrix, edges["train"], drawn).items():
            auc.setdefault(name, []).append(metrics.roc_auc_score(is_edge, scores))
            ap.setdefault(name, []).append(metrics.average_precision_score(is_edge, scores))
    spread = lambda found: {name: (float(np.mean(one)), float(np.std(one))) for name, one in found.items()}  # noqa: E731
    n_fitted = len(edges.get("valid", ()))
    return LinksResult(spread(auc), spread(ap), len(edges["test"]), n_fitted, read["test"].n_unknown, seeds)


def _numbered(held, n):
    """Return different pairs of different nodes i < j as numbers i n + j, sorted (ndarray, int64)."""
    low, high = np.minimum(held.centres, held.targets), np.maximum(held.centres, held.targets)
    return np.unique((low * n + high)[low < high])


def _beside(edges, known, n, rng):
    """Return edges, and behind them as many pairs without one, as (2, n_pairs) nodes."""
    free = n * (n - 1) // 2 - len(known)
    if free < 2 * len(edges):
        raise InputError(f"only {free:,} pairs of nodes have no edge, too few to compare {len(edges):,} edges with")
    found = np.empty(0, np.int64)
    while len(found) < len(edges):
        low, high = np.sort(rng.integers(n, size=(2, 2 * len(edges))), axis=0)
        numbers = (low * n + high)[low < high]
        found = np.unique(np.concatenate([found, numbers[~np.isin(numbers, known)]]))
    return np.array(np.divmod(np.concatenate([edges, rng.permutation(found)[: len(edges)]]), n))


def _scores(matrix, train, drawn):
    """Return the scores of the pairs to be reported, by name (dict of str -> ndarray)."""
    from scipy.sparse import coo_matrix

    first, second = drawn["test"]
    found = {}
    if "valid" in drawn:
        linear = require("sklearn.linear_model", "sklearn", "evaluating links").LogisticRegression
        scaler = require("sklearn.preprocessing", "sklearn", "evaluating links").StandardScaler
        n_fitted = drawn["valid"].shape[1]
        for name, feature in FITTED.items():
            scale = scaler()
            fitted = scale.fit_transform(feature(*matrix[drawn["valid"]]))
            model = linear(max_iter=1000).fit(fitted, np.arange(n_fitted) < n_fitted // 2)
            found[name] = model.decision_function(scale.transform(feature(matrix[first], matrix[second])))
    found[DOT] = np.einsum("ij,ij->i", matrix[first], matrix[second])
    n = len(matrix)
    half = coo_matrix((np.ones(len(train)), np.divmod(train, n)), (n, n)).tocsr()
    graph = half + half.T
    degrees = np.asarray(graph.sum(axis=1)).ravel()
    found[DEGREES] = degrees[first] * degrees[second]
    found[NEIGHBOURS] = np.asarray(graph[first].multiply(graph[second]).sum(axis=1)).ravel()
    return found
