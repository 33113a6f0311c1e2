"""Node vectors compared with PecanPy's and node2vec's: held-out links, labels, and seconds of training.

Three graphs can be built anywhere: blocks, a stochastic block model; imports, Python modules that import each other,
labelled by package; films of MovieLens 100K, each linked to the ten with the most similar audience, by cosine, and
labelled by genre. All trainers use the same walks: 10 walks of 80 nodes from each node, window 10, p = 1, q = .5, 64
numbers, one epoch unless stated otherwise. Nothing is tuned. Links use a 70 : 10 : 20 split, labels the whole graph.
"""

import re
import statistics
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse

from w2vneg import Input, Vectors, Word2Vec
from w2vneg.data.inputs import encode_input
from w2vneg.data.splits import split_data
from w2vneg.ground.errors import MissingExtraError
from w2vneg.vectors.evaluation import evaluate_classes, evaluate_links
from w2vneg.vectors.evaluation.graph_tasks import NULL

DIM, WALKS, LENGTH, WINDOW, P, Q = 64, 10, 80, 10, 1.0, 0.5
SHARE = 0.5  # of the labelled nodes, for training
_TIES, _LIKED, _FEWEST = 10, 4, 10  # links per film; rating of a like; fewest likes of a film, nodes of a label


@dataclass(frozen=True)
class Graph:
    """name : str; edges : list of (str, str, float), each once; labels : list of (str, str)"""

    name: str
    edges: list
    labels: list

    def parts(self, seed=1):
        """Return the edges of each part of a split (dict of str -> list), each in one direction."""
        data = encode_input(Input("edges", self.edges), min_count=1)
        words, parts = data.vocab.words, split_data(data, "pair", (0.7, 0.1, 0.2), seed, kind="edges").matrices
        halves = {name: scipy.sparse.triu(part).tocoo() for name, part in parts.items()}
        return {
            name: [(words[i], words[j], float(w)) for i, j, w in zip(half.row, half.col, half.data, strict=True)]
            for name, half in halves.items()
        }

    def line(self):
        nodes = {node for one, other, _ in self.edges for node in (one, other)}
        n_labels = len({label for _, label in self.labels})
        return f"{self.name}: {len(nodes):,} nodes, {len(self.edges):,} edges, {n_labels} labels"


def blocks(n=1000, k=10, inside=0.06, between=0.005, seed=1):
    """A stochastic block model."""
    rng = np.random.default_rng(seed)
    block = rng.integers(k, size=n)
    one, other = np.triu_indices(n, 1)
    there = rng.random(len(one)) < np.where(block[one] == block[other], inside, between)
    edges = [(f"n{i}", f"n{j}", 1.0) for i, j in zip(one[there], other[there], strict=True)]
    return Graph("blocks", edges, [(f"n{i}", f"b{block[i]}") for i in range(n)])


def imports():
    """The built-in graph of imports; labels are packages with enough modules."""
    data = encode_input(Input("edges", "builtin").located(None), min_count=1)
    half, words = scipy.sparse.triu(data.matrix).tocoo(), data.vocab.words
    edges = [(words[i], words[j], float(w)) for i, j, w in zip(half.row, half.col, half.data, strict=True)]
    packages = Counter(word.split(".")[0] for word in words)
    labels = [(word, word.split(".")[0]) for word in words if packages[word.split(".")[0]] >= _FEWEST]
    return Graph("imports", edges, labels)


def films():
    """Films liked by the same users; the weight of an edge is the number of these users."""
    from w2vneg.data.catalog import resolve

    given = Input("ratings", "ml-100k", user_col=1, item_col=2, rating_col=3, min_rating=_LIKED, rectangular=True)
    data = encode_input(given.located(None), min_count=1)
    likes = data.matrix.sign()[:, np.asarray(data.matrix.sign().sum(axis=0)).ravel() >= _FEWEST]
    films = [word for word, many in zip(data.vocab_out.words, data.vocab_out.counts, strict=True) if many >= _FEWEST]
    both = (likes.T @ likes).toarray()
    cosines = both / np.sqrt(np.outer(np.diag(both), np.diag(both)))
    np.fill_diagonal(cosines, -1.0)
    tied = np.zeros(both.shape, bool)
    tied[np.arange(len(both))[:, None], np.argsort(-cosines, axis=1, kind="stable")[:, :_TIES]] = True
    edges = [(films[i], films[j], float(both[i, j])) for i, j in np.argwhere(np.triu(tied | tied.T)) if both[i, j]]
    rows = [line.split("|") for line in Path(resolve("ml-100k-titles")).read_text("latin-1").splitlines()]
    labels = [
        (row[0], f"genre {k}")
        for row in rows
        if row[0] in set(films)
        for k, is_of in enumerate(row[5:])
        if is_of == "1"
    ]
    return Graph("films", edges, labels)


GRAPHS = {"blocks": blocks, "imports": imports, "films": films}


def train_ours(edges, seed, threads, **options):
    """Return the Vectors of w2vneg."""
    walks = {"walks_per_node": WALKS, "walk_length": LENGTH, "window": WINDOW, "p": P, "q": Q}
    made = Word2Vec(dim=DIM, seed=seed, workers=threads, **walks, **options)
    return made.fit(Input("edges", edges, weight_col=3), progress=False)


def train_pecanpy(edges, seed, threads, **options):
    """Return the Vectors of PecanPy, with its class for sparse graphs."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "graph.edg")
        path.write_text("".join(f"{one}\t{other}\t{weight}\n" for one, other, weight in edges))
        graph = _pecanpy().SparseOTF(p=P, q=Q, workers=threads, random_state=seed, **options)
        graph.read_edg(str(path), weighted=True, directed=False)
    matrix = graph.embed(dim=DIM, num_walks=WALKS, walk_length=LENGTH, window_size=WINDOW, epochs=1)
    return Vectors(graph.nodes, matrix)


def _pecanpy():
    """Import PecanPy, restoring names dropped by NumPy 2 that its unmaintained typing library needs."""
    of_one = {"bool8": np.bool_, "object0": object, "int0": np.intp, "uint0": np.uintp, "void0": np.void}
    of_one |= {"float_": np.float64, "longfloat": np.longdouble, "singlecomplex": np.complex64, "str0": np.str_}
    of_one |= dict.fromkeys(("complex_", "cfloat"), np.complex128) | dict.fromkeys(("bytes0", "string_"), np.bytes_)
    of_one |= dict.fromkeys(("longcomplex", "clongfloat"), np.clongdouble) | {"unicode_": np.str_}
    for name, kind in of_one.items():
        if name not in vars(np):
            setattr(np, name, kind)
    return _required("pecanpy.pecanpy", "pecanpy nptyping numba-progress")


def train_node2vec(edges, seed, threads):
    """Return the Vectors of the package node2vec, which walks in Python."""
    graph = _required("networkx", "networkx").Graph()
    graph.add_weighted_edges_from(edges)
    walks = {"walk_length": LENGTH, "num_walks": WALKS, "p": P, "q": Q}
    made = _required("node2vec", "node2vec").Node2Vec(graph, DIM, workers=1, quiet=True, seed=seed, **walks)
    wv = made.fit(window=WINDOW, min_count=1, epochs=1, workers=threads, seed=seed).wv
    return Vectors(wv.index_to_key, wv.vectors)


def _required(module, packages):
    from importlib import import_module

    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtraError(f"{module} cannot be imported: pip install --no-deps {packages}") from error


CONTENDERS = {
    "w2vneg": lambda *given: train_ours(*given, epochs=1),
    "w2vneg, node2vec+": lambda *given: train_ours(*given, epochs=1, gamma=0.0),
    "w2vneg, 5 epochs": train_ours,
    "w2vneg `relaxed`, 5 epochs": lambda *given: train_ours(*given, loss="relaxed"),
    "PecanPy": train_pecanpy,
    "PecanPy, node2vec+": lambda *given: train_pecanpy(*given, extend=True),
    "node2vec": train_node2vec,
}
FIGURES = ("AUC, Hadamard", "AUC, L2", "AUC, dot product", "micro F1", "macro F1")


@dataclass(frozen=True)
class Measured:
    """graph, contender : str; seed : int, None for null models; figures : dict of str -> float
    seconds : float, of training on the whole graph
    """

    graph: str
    contender: str
    seed: int | None
    figures: dict
    seconds: float = 0.0


def measure(graph, names, seeds, threads=2, tell=lambda text: None):
    """Train and evaluate contenders in turn, seed after seed; return a list of `Measured`, null models first."""
    parts, found = graph.parts(), []
    for seed in range(1, seeds + 1):
        for name in names:
            links = CONTENDERS[name](parts["train"], seed, threads)
            begun = time.perf_counter()
            whole = CONTENDERS[name](graph.edges, seed, threads)
            seconds = time.perf_counter() - begun
            told = evaluate_links(links, parts["test"], train=parts["train"], valid=parts["valid"])
            labels = evaluate_classes(whole, graph.labels, shares=[SHARE]).shares[SHARE]
            figures = {f"AUC, {score}": told.auc[score][0] for score in ("Hadamard", "L2", "dot product")}
            figures |= {f"{way} F1": labels[way][0] for way in ("micro", "macro")}
            if not found:
                found += [Measured(graph.name, score, None, {"AUC, dot product": told.auc[score][0]}) for score in NULL]
                null = {f"{way} F1": labels[f"null_{way}"][0] for way in ("micro", "macro")}
                found.append(Measured(graph.name, "most frequent labels", None, null))
            found.append(Measured(graph.name, name, seed, figures, seconds))
            tell(f"{graph.name}, {name}, seed {seed}: " + ", ".join(f"{k} {v:.3f}" for k, v in figures.items()))
    return found


def rows_of(runs, seconds=False):
    """Return a heading and a row of text for each graph and contender: means over seeds, and the least seconds."""
    rows = [["graph", "contender", *FIGURES, *["seconds"] * seconds]]
    for graph, name in dict.fromkeys((run.graph, run.contender) for run in runs):
        own = [run for run in runs if (run.graph, run.contender) == (graph, name)]
        means = [statistics.mean(run.figures[f] for run in own) if f in own[0].figures else None for f in FIGURES]
        cells = ["–" if mean is None else re.sub("^0", "", f"{mean:.3f}") for mean in means]
        rows.append([graph, name, *cells, *[f"{min(run.seconds for run in own):.1f}"] * seconds])
    return rows
