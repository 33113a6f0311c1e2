"""Shapes in the plane as conditional distributions (CIS paper §4.1, table 1).

A shape is a set of cells of a square grid; column i is the centre, row j the target, and the task is to learn which j
belong to which i. The paper specifies neither the grid, nor the number of pairs, nor how accuracy is measured: `_TEXT`
describes our choices.
"""

import itertools

import numpy as np
import pandas as pd
import scipy.sparse

from w2vneg.config import TrainConfig
from w2vneg.data.encoded import EncodedPairs
from w2vneg.data.vocab import Vocabulary
from w2vneg.run.trainer import Trainer

from . import STUDIES, Study, declare
from .item_runs import untempered
from .verdicts import Claim, Unit, cell, judged

GRID = 100
BLOBS = {"blobs r=0.25": 0.25, "blobs r=0.60": 0.60, "blobs r=0.75": 0.75}
CURVES = ("swiss roll", "s curve")


def blobs(ratio, rng, n_blobs=6, size=GRID):
    """Return P, float64 (size, size): overlapping Gaussians cut off at two standard deviations, covering `ratio`.

    P[i, j] = P(j | i), zero outside the shape; a column that the shape misses is all zero.
    """
    centres, relative = rng.uniform(0.15, 0.85, (n_blobs, 2)), rng.uniform(0.5, 1.0, n_blobs)
    distance = np.linalg.norm(_cells(size)[:, :, None] - centres, axis=3)
    low, high = 0.0, 2.0
    for _ in range(40):  # the deviation at which the discs cover `ratio`
        scale = (low + high) / 2
        covered = (distance < 2 * scale * relative).any(axis=2).mean()
        low, high = (scale, high) if covered < ratio else (low, scale)
    deviation = scale * relative
    density = (np.exp(-0.5 * (distance / deviation) ** 2) / deviation**2).sum(axis=2)
    return _conditional(density * (distance < 2 * deviation).any(axis=2))


def along(x, y, deviation=0.03, size=GRID):
    """Return P as `blobs` does for a curve, float64 (n,) twice, with Gaussian noise cut off at two deviations."""
    points = np.stack([x, y], axis=1)
    low, high = points.min(axis=0), points.max(axis=0)
    points = 0.1 + 0.8 * (points - low) / (high - low)
    distance = np.linalg.norm(_cells(size)[:, :, None] - points, axis=3)
    density = np.exp(-0.5 * (distance / deviation) ** 2).sum(axis=2)
    return _conditional(density * (distance < 2 * deviation).any(axis=2))


def _cells(size):
    """Centres of the cells, float64 (size, size, 2)."""
    middles = (np.arange(size) + 0.5) / size
    return np.stack(np.meshgrid(middles, middles, indexing="ij"), axis=2)


def _conditional(density):
    total = density.sum(axis=1, keepdims=True)
    return np.divide(density, total, out=np.zeros_like(density), where=total > 0)


def shape_of(name, rng):
    """Return P(j | i) of a shape by name; only blobs depend on `rng`."""
    if name in BLOBS:
        return blobs(BLOBS[name], rng)
    along_it = np.linspace(0, 1, 400)
    if name == "swiss roll":
        t = 1.5 * np.pi * (1 + 2 * along_it)
        return along(t * np.cos(t), t * np.sin(t))
    t = 3 * np.pi * (along_it - 0.5)
    return along(np.sin(t), np.sign(t) * (np.cos(t) - 1))


METHODS = {  # name in the paper's table -> (options, λ of the correction for noise)
    "FS": ({"loss": "fs"}, 0.0),
    "UniS": ({"loss": "unis"}, 0.0),
    "PopS": ({"loss": "pops"}, 0.0),
    "PopS + log Q": ({"loss": "pops"}, 1.0),
    "Selfplay": ({"loss": "selfplay", "method": "exact"}, 0.0),
    "CIS": ({"loss": "cis", "method": "exact"}, 0.0),
    "Selfplay, rolling": ({"loss": "selfplay", "method": "rolling"}, 0.0),
    "CIS, rolling": ({"loss": "cis", "method": "rolling"}, 0.0),
}
_EPOCHS = (5, 10, 20, 40, 80)


def sample(conditional, n_pairs, rng):
    """Draw pairs: a column that the shape meets uniformly, then a row. Returns int32 (n_pairs,) twice."""
    met = np.flatnonzero(conditional.any(axis=1))
    centres = np.sort(rng.choice(met, n_pairs))
    running = np.cumsum(conditional, axis=1)
    chosen = (running[centres] <= rng.random((n_pairs, 1)) * running[centres][:, -1:]).sum(axis=1)
    return centres.astype(np.int32), chosen.astype(np.int32)


def accuracies(scores, support):
    """Return the share of correct cells, for the three ways in `MEASURES` to turn scores into a support.

    scores, support : (columns, size), float and bool, of columns that the shape meets
    """
    ranks = np.argsort(np.argsort(-scores, axis=1), axis=1)
    by_size = np.mean((ranks < support.sum(axis=1, keepdims=True)) == support)
    return float(by_size), _best_cut(scores, support), _best_cut(log_softmax(scores), support)


def _best_cut(scores, support):
    """Return the share of correct cells for the single best threshold, chosen by an oracle."""
    order = np.argsort(-scores.ravel())
    inside, falling = support.ravel()[order], scores.ravel()[order]
    right = np.r_[0, np.cumsum(inside)] + (~inside).sum() - np.r_[0, np.cumsum(~inside)]
    between = np.r_[True, falling[1:] < falling[:-1], True]  # no threshold separates equal scores
    return float(right[between].max() / inside.size)


def log_softmax(scores):
    """log g(j | i) of scores float (columns, size)."""
    shifted = scores - scores.max(axis=1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))


MEASURES = ("sizes known", "one cut of s", "one cut of g")
_LINKS = (("Selfplay", "UniS"), ("CIS", "Selfplay"))  # the paper's order, link by link


def trained(conditional, n_pairs, rng, options):
    """Draw pairs, train on them, and return the scores of all cells by λ: dict of float -> float32 (size, size)."""
    size = len(conditional)
    centres, rows = sample(conditional, n_pairs, rng)
    vocabs, places = zip(*(_by_count(ids, size) for ids in (centres, rows)), strict=True)
    ids = places[0][centres], places[1][rows]
    matrix = scipy.sparse.coo_matrix((np.ones(n_pairs, np.float32), ids), (size, size)).tocsr()
    config = TrainConfig(source="pairs", dim=150, alpha=0.1, workers=1, **options)
    trainer = Trainer(EncodedPairs(matrix, *vocabs), config)
    model = trainer.train()
    if not trainer.complete:
        raise KeyboardInterrupt  # a partial run is not a measurement
    return {share: untempered(model, share)[0](places[0])[:, places[1]].copy() for share in (0.0, 1.0)}


def _by_count(ids, size):
    """Return the vocabulary of ids below `size`, by descending count, and each id's place in it."""
    counts = np.bincount(ids, minlength=size)
    order = np.argsort(-counts, kind="stable")
    return Vocabulary([f"{k:03}" for k in order], counts[order]), np.argsort(order)


def trial(shape, n_pairs, seed, options):
    """Return accuracies in % by λ, as text, after training on a draw of a shape; seed : list of int, of the draw."""
    rng = np.random.default_rng(seed)
    conditional = shape_of(shape, rng)
    met = conditional.any(axis=1)
    found = trained(conditional, n_pairs, rng, options | {"seed": sum(seed)})
    support = conditional[met] > 0
    return {f"{share:g}": [100 * one for one in accuracies(scores[met], support)] for share, scores in found.items()}


_TEXT = """\
CIS paper, section 4.1 and table 1: do the vectors find the support of a shape in the plane?

The paper leaves the setting open. Here: a grid of {grid} × {grid} cells, with columns as centres and rows as
targets; {pairs:,} pairs, columns uniform, rows by the shape's density (overlapping Gaussians cut off at two deviations
that cover the share r of the grid; a noisy curve cut off likewise); dim 150, as in the paper. Vectors are trained by
the relaxed softmax, with 1 and with 10 negatives; FS has all targets as negatives. Self-play and CIS draw from the
softmax itself, or in rows that end in "rolling" among 64 candidates. PopS is log-uniform by rank; its second row has
log Q added. Alpha falls from .1, and each method has the number of epochs ({epochs}) that was best on a separate draw;
then {seeds} new draws of shape and pairs follow. No pairs are held out: the truth is known.

Accuracy is the share of correct cells, in %. "sizes known": each column's best-scored cells, as many as its true
number (evaluates only the order within columns). "one cut of s": all cells whose score exceeds the best single
threshold. "one cut of g": the same for g(j | i) = softmax of the scores. Claims use the first measure.

The paper's table 1 (%; blobs .25, .60, .75, Swiss roll): FS 69.0, 77.0, 84.5, 89.1; UniS 72.3, 70.1, 75.1, 87;
PopS 75.2, 65.0, 77.2, 88.2; Selfplay 75.7, 76.5, 84.5, 88.5; CIS 78.5, 86.1, 89.5, 90.2.
"""


def claims(shapes, numbers):
    """Return each link of CIS ≥ Selfplay ≥ UniS on each shape, with exact and with rolling draws."""
    found = []
    for shape, n, draws in itertools.product(shapes, numbers, ("exact", "rolling")):
        for better, worse in _LINKS:
            rows = [f"{shape}, n = {n}, {name}" for name in (better, worse)]
            rows = [row + ", rolling" * (draws == "rolling" and not row.endswith("UniS")) for row in rows]
            text = f"{shape}, n = {n}: {better} exceeds {worse}"
            found.append(Claim("CIS table 1", text, *rows, MEASURES[0], draws=draws))
    return found


@STUDIES.register("cis-shapes")
@declare("CIS", "table 1", minutes=15)
def cis_shapes(tell, quick, seed, memo):
    """Accuracy of the learned support by method."""
    shapes = ("blobs r=0.60",) if quick else (*BLOBS, *CURVES)
    methods = ("UniS", "Selfplay", "CIS") if quick else tuple(METHODS)
    numbers, epochs = ((1,), (40,)) if quick else ((1, 10), _EPOCHS)
    n_seeds, n_pairs = (3, 3000) if quick else (8, 3000)

    def one(shape, n, method):
        """Return (epochs, accuracies of each draw) of a row."""
        given, share = METHODS[method]
        given = given if method == "FS" else given | {"negatives": n}

        def at(number, draw):
            options, place = given | {"epochs": number}, [seed, draw]
            key = [shape, n_pairs, place, sorted(options.items())]
            return memo(key, trial, shape, n_pairs, place, options)[f"{share:g}"]

        tried = [np.mean(found) for found in memo.each(lambda number: at(number, 0), epochs)]
        best = epochs[int(np.argmax(tried))]
        found = memo.each(lambda draw: at(best, draw), range(1, 1 + n_seeds))
        tell(f"{shape}, n = {n}, {method}: {np.mean(found, axis=0)[0]:.1f} % after {best} epochs")
        return best, found

    asked = [row for row in itertools.product(shapes, numbers, methods) if row[2] != "FS" or row[1] == numbers[0]]
    rows, runs = [], {}
    for (shape, n, method), (number, found) in zip(asked, memo.each(one, *zip(*asked, strict=True)), strict=True):
        row = {"shape": shape, "negatives": "all" if method == "FS" else n, "method": method, "epochs": number}
        for measure, values in zip(MEASURES, zip(*found, strict=True), strict=True):
            runs[f"{shape}, n = {n}, {method}", measure] = values
            row[measure] = cell(values, 1)
        rows.append(row)

    text = _TEXT.format(grid=GRID, pairs=n_pairs, seeds=n_seeds, epochs=", ".join(map(str, epochs)))
    units = {MEASURES[0]: Unit(1.0, "points", 0.5)}
    return Study({"accuracy": pd.DataFrame(rows)}, text, verdicts=judged(claims(shapes, numbers), runs, units))
