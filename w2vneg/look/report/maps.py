"""Maps of all vectors in two dimensions, coloured by cluster; and the shape of their cloud: lengths, spectrum."""

import warnings

import numpy as np

from ...ground.errors import ConfigError, did_you_mean, require
from ..figures import GROUPS, Chart, Looks, Section, Series, Table

MAPS = ("pca", "umap", "none")
_SAMPLE = 20_000  # rows for fitting the centres of clusters
_ROUNDS = 15
_FREQUENT = 4, 20_000  # clusters are named by words of the first quarter, at most this many
_SMALL, _LARGE = 3.0, 14.0  # pixels, for the rarest and the most frequent word
_DOTS = 5000  # points of a chart that shows a trend, denser among the first rows
_TEXTS = {
    "pca": "The first two principal axes of the unit vectors. Points that are close here may differ on other axes.",
    "umap": "UMAP of the cosines. Close points are similar; distances between groups mean little.",
}


def check_way(way):
    """Raise ConfigError for an unknown map, MissingExtraError if its package is missing."""
    if way not in MAPS:
        raise ConfigError(f"unknown map {way!r}{did_you_mean(way, MAPS)}")
    if way == "umap":
        require("umap", "umap", "--map umap")


def section_of(subjects, way):
    """Maps of all words, a section of a report."""
    section = Section("Map", _TEXTS.get(way, ""))
    if way != "none":
        for number, one in enumerate(subjects):
            names = [one.title(word) for word in one.vectors.words]
            section.charts.append(map_of(one.vectors, way, one.name, names, number))
    return section


def map_of(vectors, way, title, names, number=0):
    """Return a `Chart` of all vectors by "pca" or "umap".

    names : list of str (n,), labels of the points; number : int, index of the vectors among several
    """
    at, axes = places(vectors, way), (f"{way.upper()} 1", f"{way.upper()} 2")
    series = [Series(title, at[:, 0], at[:, 1], names, like=number)]
    return Chart(f"map-{number + 1}", title, *axes, series, "map", looks=looks_of(vectors, names))


def places(vectors, way="pca", seed=1):
    """Return the position of each word on a map, float32 (n, 2); ConfigError for an unknown `way`.

    way : {"pca", "umap"}, the first two principal axes of the unit vectors, or UMAP of their cosines (McInnes et al.
        2018)
    """
    if way not in MAPS[:2]:
        raise ConfigError(f"a map is drawn by {' or '.join(MAPS[:2])}, not {way!r}")
    if way == "pca":
        _, axes = principal_axes(vectors.unit)
        flat = vectors.unit @ axes[:, :2].astype(np.float32)
        return flat if flat.shape[1] == 2 else np.column_stack([flat, np.zeros(len(flat), np.float32)])
    umap = require("umap", "umap", "--map umap")
    neighbours = max(2, min(15, len(vectors) - 1))
    maker = umap.UMAP(n_neighbors=neighbours, metric="cosine", random_state=seed, n_jobs=1)
    return maker.fit_transform(vectors.unit).astype(np.float32)


def looks_of(vectors, names):
    """Return `Looks`: clusters, each named by the three frequent words nearest its centre, and sizes by the logarithm
    of the count, or of the rank in a file.
    """
    numbers, centres = clusters(vectors)
    share, most = _FREQUENT
    first, called = numbers[: min(len(names) // share, most)], []
    for number, centre in enumerate(centres):
        own = np.flatnonzero(first == number)
        own = own if len(own) else np.flatnonzero(numbers == number)
        nearest = own[np.argsort(-(vectors.unit[own] @ centre), kind="stable")[:3]]
        short = (name if len(name) <= 20 else f"{name[:19]}…" for name in (names[row] for row in nearest.tolist()))
        called.append(" · ".join(short))
    counts = 1 / np.arange(1, len(names) + 1) if vectors.counts is None else np.maximum(vectors.counts, 1)
    heights = np.log(counts) - np.log(counts).min()
    sizes = _SMALL + (_LARGE - _SMALL) * heights / max(heights.max(), 1e-9)
    return Looks(numbers, called, sizes.astype(np.float32))


def clusters(vectors, seed=1):
    """Return the cluster of each unit vector, uint8 (n,), and the centres, float32 (k, dim).

    k-means (Lloyd 1982) on a sample of 20,000, with k-means++ starts (Arthur and Vassilvitskii 2007); the rest is
    assigned to the nearest centre. The largest cluster comes first, and none is empty.
    """
    from scipy.cluster.vq import kmeans2

    unit = vectors.unit
    rng = np.random.default_rng(seed)
    some = unit[rng.choice(len(unit), min(len(unit), _SAMPLE), replace=False)]
    some = some[np.unique(np.round(some, 6), axis=0, return_index=True)[1]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # about an empty cluster
        centres, _ = kmeans2(some, min(len(GROUPS), len(some)), iter=_ROUNDS, minit="++", rng=rng)
    numbers = (unit @ centres.T - (centres**2).sum(axis=1) / 2).argmax(axis=1)
    sizes = np.bincount(numbers, minlength=len(centres))
    order = np.argsort(-sizes, kind="stable")
    order = order[sizes[order] > 0]
    ranks = np.zeros(len(centres), np.uint8)
    ranks[order] = np.arange(len(order))
    return ranks[numbers], centres[order]


def spectrum(vectors):
    """Return the share of the variance along each principal axis, float64 (dim,), largest first."""
    values, _ = principal_axes(vectors.matrix)
    total = values.sum()
    return values / total if total > 0 else np.full(len(values), 1 / len(values))


def effective_rank(shares):
    """Return exp of the entropy of the shares (float): the equivalent number of axes with equal shares."""
    from scipy.stats import entropy

    return float(np.exp(entropy(shares)))


def principal_axes(matrix):
    """Return variances along principal axes, falling, and the axes as columns, float64 (dim, dim)."""
    centred = matrix - matrix.mean(axis=0, dtype=np.float64).astype(np.float32)
    values, axes = np.linalg.eigh((centred.T @ centred).astype(np.float64) / len(matrix))
    return np.maximum(values[::-1], 0), axes[:, ::-1]


def shape(subjects):
    """Norms and spectrum."""
    text = "An effective rank far below the dimensions means that few directions carry the variance."
    section = Section("Shape", text)
    norms, axes, rows = [], [], []
    known = all(one.vectors.counts is not None for one in subjects)
    for number, one in enumerate(subjects):
        vectors, words = one.vectors, one.vectors.words
        sizes = np.sqrt(np.einsum("ij,ij->i", vectors.matrix, vectors.matrix, dtype=np.float64))
        shares = spectrum(vectors)
        some = np.unique(np.geomspace(1, len(sizes), min(_DOTS, len(sizes))).astype(np.int64)) - 1
        at = np.maximum(vectors.counts[some], 1) if known else some + 1
        norms.append(Series(one.name, at, sizes[some], [one.title(words[i]) for i in some.tolist()], like=number))
        axes.append(Series(one.name, np.arange(1, len(shares) + 1), 100 * np.cumsum(shares), like=number))
        rows.append([one.name, f"{effective_rank(shares):.1f} of {vectors.dim}", f"{np.median(sizes):.2f}"])
    section.tables.append(Table("", ["vectors", "effective rank", "median norm"], rows))
    label = "count in the training data" if known else "rank by frequency or place in the file"
    section.charts += [
        Chart("norms", "Norm against frequency", label, "length of the vector", norms, "points", log_x=True),
        Chart("spectrum", "Spectrum", "principal axes", "cumulative variance, %", axes),
    ]
    return section
