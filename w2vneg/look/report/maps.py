"""Maps: all vectors in two dimensions, coloured by cluster, large where they are frequent."""

import warnings

import numpy as np

from ...ground.errors import ConfigError, did_you_mean, require
from ..figures.charts import GROUPS, Chart, Looks, Section, Series
from .geometry import principal_axes

MAPS = ("pca", "umap", "none")
_SAMPLE = 20_000  # rows that centres of clusters are found on
_ROUNDS = 15
_FREQUENT = 4, 20_000  # clusters are named by words of the first quarter, and by so many at most
_SMALL, _LARGE = 3.0, 14.0  # pixels, of the rarest and the most frequent
_TEXTS = {
    "pca": "The two principal axes of the vectors at length one; what is near on them need not be near on others.",
    "umap": "UMAP of the cosines. Near points are near; distances between groups mean little.",
}


def check_way(way):
    """Raise ConfigError for a map that is unknown, MissingExtraError without what makes it."""
    if way not in MAPS:
        raise ConfigError(f"no map is called {way!r}{did_you_mean(way, MAPS)}")
    if way == "umap":
        require("umap", "umap", "--map umap")


def section_of(subjects, way):
    """All words on maps, a section of a report."""
    section = Section("Map", _TEXTS.get(way, ""))
    if way != "none":
        for number, one in enumerate(subjects):
            names = [one.title(word) for word in one.vectors.words]
            section.charts.append(map_of(one.vectors, way, one.name, names, number))
    return section


def map_of(vectors, way="pca", title="", names=None, number=0):
    """Return a `Chart` of all vectors.

    Parameters
    ----------
    vectors : Vectors
    way : {"pca", "umap"}
    title : str
    names : list of str (n,), optional
        What points are called, the words unless said otherwise.
    number : int
        Of the vectors among several.
    """
    names = list(vectors.words) if names is None else names
    at, axes = places(vectors, way), (f"{way.upper()} 1", f"{way.upper()} 2")
    series = [Series(title, at[:, 0], at[:, 1], names, like=number)]
    return Chart(f"map-{number + 1}", title, *axes, series, "map", looks=looks_of(vectors, names))


def places(vectors, way="pca", seed=1):
    """Return where each word lies on a map, float32 (n, 2).

    Parameters
    ----------
    vectors : Vectors
    way : {"pca", "umap"}
        The two principal axes of the vectors at length one; or UMAP of their cosines (McInnes et al. 2018).
    seed : int

    Raises
    ------
    ConfigError
        For another way. MissingExtraError for UMAP without umap-learn.
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
    """Return `Looks`: clusters, each called by three of its frequent words that are nearest its centre, and sizes by
    the logarithm of the count, or of the place in a file.
    """
    numbers, centres = clusters(vectors)
    share, most = _FREQUENT
    first, called = numbers[: min(len(names) // share, most)], []
    for number, centre in enumerate(centres):
        own = np.flatnonzero(first == number)
        own = own if len(own) else np.flatnonzero(numbers == number)
        nearest = own[np.argsort(-(vectors.unit[own] @ centre), kind="stable")[:3]]
        called.append(" · ".join(_short(names[row]) for row in nearest.tolist()))
    counts = 1 / np.arange(1, len(names) + 1) if vectors.counts is None else np.maximum(vectors.counts, 1)
    heights = np.log(counts) - np.log(counts).min()
    sizes = _SMALL + (_LARGE - _SMALL) * heights / max(heights.max(), 1e-9)
    return Looks(numbers, called, sizes.astype(np.float32))


def _short(name):
    return name if len(name) <= 20 else f"{name[:19]}…"


def clusters(vectors, seed=1):
    """Return the cluster of each vector at length one, uint8 (n,), and their centres, float32 (k, dim).

    k-means of a sample of 20,000 (Lloyd 1982) that begins far apart (Arthur and Vassilvitskii 2007); the rest belongs
    to the nearest centre. The largest cluster comes first, and none is empty.
    """
    from scipy.cluster.vq import kmeans2

    unit = vectors.unit
    rng = np.random.default_rng(seed)
    some = unit[np.sort(rng.choice(len(unit), min(len(unit), _SAMPLE), replace=False))]
    start = some[_spread_out(some, len(GROUPS), rng)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of a cluster that is empty
        centres, _ = kmeans2(some, start, iter=_ROUNDS, minit="matrix")
    numbers = (unit @ centres.T - (centres**2).sum(axis=1) / 2).argmax(axis=1)
    sizes = np.bincount(numbers, minlength=len(centres))
    order = np.argsort(-sizes, kind="stable")
    order = order[sizes[order] > 0]
    ranks = np.zeros(len(centres), np.uint8)
    ranks[order] = np.arange(len(order))
    return ranks[numbers], centres[order]


def _spread_out(unit, k, rng):
    """Return at most `k` rows that differ, each drawn by its squared distance to the nearest before (list of int)."""
    rows = [int(rng.integers(len(unit)))]
    nearest = np.full(len(unit), np.inf)
    while len(rows) < k:
        nearest = np.minimum(nearest, np.maximum(2 - 2 * (unit @ unit[rows[-1]]).astype(np.float64), 0))
        nearest[rows] = 0
        if nearest.max() < 1e-6:
            break
        rows.append(int(rng.choice(len(unit), p=nearest / nearest.sum())))
    return rows
