"""Shapes in the plane as conditional distributions (CIS paper §4.1, table 1, figures 1 and 2).

A shape is a set of cells of a square grid; column i is the centre, row j the target, and what is learned is which j
belong to which i. The paper gives neither the grid, nor the number of pairs, nor how accuracy is counted: `_TEXT` says
what is done here.
"""

import itertools
import math
from typing import NamedTuple

import numpy as np
import pandas as pd

from w2vneg.config import TrainConfig
from w2vneg.data.sources import Traversal
from w2vneg.data.vocab import Vocabulary
from w2vneg.engines.engine import Round
from w2vneg.engines.local import LocalEngine
from w2vneg.ground.registry import RunContext, Sharing
from w2vneg.kernels.exclusion import ExcludeNone, ExcludeTarget
from w2vneg.kernels.groups import LoopSpec, Plugs
from w2vneg.kernels.pairs import ListedPairs
from w2vneg.kernels.schedule import linear
from w2vneg.objectives.losses import LOSSES
from w2vneg.objectives.samplers import SAMPLERS
from w2vneg.objectives.samplers.everything import Everything
from w2vneg.objectives.weighers import WEIGHERS
from w2vneg.run.model import Model

from . import STUDIES, Study, declare
from .verdicts import Claim, verdict

GRID = 100
BLOBS = {"blobs r=0.25": 0.25, "blobs r=0.60": 0.60, "blobs r=0.75": 0.75}
CURVES = ("swiss roll", "s curve")


def blobs(ratio, rng, n_blobs=6, size=GRID):
    """Return P, float64 (size, size): overlapping Gaussians cut off at two standard deviations, covering `ratio`.

    P[i, j] = P(j | i), zero outside of the shape; a column that the shape misses is all zero.
    """
    centres, relative = rng.uniform(0.15, 0.85, (n_blobs, 2)), rng.uniform(0.5, 1.0, n_blobs)
    distance = np.linalg.norm(_cells(size)[:, :, None] - centres, axis=3)
    low, high = 0.0, 2.0
    for _ in range(40):  # the deviation at which the discs cover that much
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


_PLAIN = {"loss": "relaxed", "share_negatives": "no", "exclude": "none", "subsample": 0}
_OWN = {"sampler": "selfplay", "method": "sir", "candidates": 256}
METHODS = {  # name in the paper's table -> options; the softmax's negatives are all targets but the positive
    "FS": {"sampler": "uniform", "exclude": "target"},
    "UniS": {"sampler": "uniform"},
    "PopS": {"sampler": "log-uniform"},
    "Selfplay": _OWN,
    "CIS": {**_OWN, "weigher": "discriminator"},
}


def train_on(centres, targets, config, full_softmax=False, size=GRID):
    """Train one model on pairs and return it; `targets` are ids, sorted by falling count.

    centres, targets : int32, (n_pairs,); config : TrainConfig; full_softmax : bool, all targets are negatives
    """
    config = config.resolved()
    vocab = Vocabulary([f"row{j:03}" for j in range(size)], np.bincount(targets, minlength=size))
    n = size if full_softmax else config.negatives
    context = RunContext(vocab.counts, config.dim, 1, n)
    sampler = Everything() if full_softmax else SAMPLERS[config.sampler].from_options(config, context)
    weigher = WEIGHERS[config.weigher].from_options(config, context)
    loss = LOSSES[config.loss].from_options(config, context)
    model = Model.fresh(vocab, config)
    model.extra = {name: getattr(weigher, name) for name in weigher.parameters}
    ones = np.ones(len(centres), np.int32)
    source = ListedPairs(centres.copy(), np.arange(len(centres)), ones, targets.copy())
    exclusion = ExcludeTarget() if config.exclude == "target" else ExcludeNone()
    walk = Traversal(source, len(centres), 1, 1.0, 1, 0, vocab.counts.astype(float))
    plugs = Plugs(source, sampler, weigher, loss, exclusion)
    engine = LocalEngine(
        model, walk, plugs, LoopSpec(1, n, int(Sharing.NO), False, True), len(centres), 1, 0, config.seed
    )
    block = np.array([[0, len(centres)]])
    for epoch in range(config.epochs):
        order = np.random.default_rng([config.seed, epoch]).permutation(len(centres))
        source.centres[:], source.targets[:] = centres[order], targets[order]
        ends = [linear(config.alpha, config.min_alpha, (epoch + part) / config.epochs) for part in (0, 1)]
        engine.run(Round(epoch, 0, block), tuple(ends))
    return model


def sample(conditional, n_pairs, rng):
    """Draw pairs: a column that the shape meets uniformly, then a row. Returns int32 (n_pairs,) twice."""
    met = np.flatnonzero(conditional.any(axis=1))
    centres = np.sort(rng.choice(met, n_pairs))
    running = np.cumsum(conditional, axis=1)
    chosen = (running[centres] <= rng.random((n_pairs, 1)) * running[centres][:, -1:]).sum(axis=1)
    return centres.astype(np.int32), chosen.astype(np.int32)


def accuracies(scores, support):
    """Share of the cells that are right, by the three ways to turn scores into a support that `MEASURES` names.

    scores, support : (columns, size), float and bool, of columns that the shape meets
    """
    ranks = np.argsort(np.argsort(-scores, axis=1), axis=1)
    by_size = np.mean((ranks < support.sum(axis=1, keepdims=True)) == support)
    return float(by_size), _best_cut(scores, support), _best_cut(log_softmax(scores), support)


def _best_cut(scores, support):
    """Share that is right by the one threshold that an oracle would choose."""
    order = np.argsort(-scores.ravel())
    inside, falling = support.ravel()[order], scores.ravel()[order]
    right = np.r_[0, np.cumsum(inside)] + (~inside).sum() - np.r_[0, np.cumsum(~inside)]
    between = np.r_[True, falling[1:] < falling[:-1], True]  # no threshold parts equal scores
    return float(right[between].max() / inside.size)


def log_softmax(scores):
    """log g(j | i) of scores float (columns, size)."""
    shifted = scores - scores.max(axis=1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))


MEASURES = ("sizes known", "one cut of s", "one cut of g")
_LINKS = (("Selfplay", "UniS"), ("CIS", "Selfplay"))  # the paper's order, link by link
_MATTERS = 0.5  # points: a smaller lead is none


class Task(NamedTuple):
    """P(j | i), float64 (size, size), and pairs drawn from it; `rank` takes a row to its id, by falling count."""

    conditional: np.ndarray
    centres: np.ndarray
    targets: np.ndarray
    rank: np.ndarray

    @classmethod
    def drawn(cls, shape, n_pairs, seed):
        rng = np.random.default_rng(seed)
        conditional = shape_of(shape, rng)
        centres, rows = sample(conditional, n_pairs, rng)
        order = np.argsort(-np.bincount(rows, minlength=len(conditional)), kind="stable")
        rank = np.argsort(order)
        return cls(conditional, centres, rank[rows].astype(np.int32), rank)

    def scores(self, method, negatives, seed, epochs):
        """Train `method` and return its scores, float32 (size, size), rows in their own order."""
        options = _PLAIN | METHODS[method] | {"epochs": epochs, "negatives": negatives, "seed": seed}
        config = TrainConfig(dim=150, alpha=0.1, workers=1, **options)
        model = train_on(self.centres, self.targets, config, method == "FS", len(self.rank))
        return (model.vectors_in @ model.vectors_out.T)[:, self.rank]

    def accuracies(self, scores):
        met = self.conditional.any(axis=1)
        return accuracies(scores[met], self.conditional[met] > 0)


def _tuned(shape, method, negatives, n_pairs, seed):
    """Return the number of epochs with the best mean of the three measures on a draw of its own."""
    task = Task.drawn(shape, n_pairs, [seed, 0])
    found = {n: np.mean(task.accuracies(task.scores(method, negatives, seed, n))) for n in (5, 10, 20, 40)}
    return max(found, key=found.get)


def _interval(values):
    """Return (mean, half of the 95 % interval by Student's t); NaN for a single value."""
    from scipy.stats import t

    values = np.asarray(values, np.float64)
    if len(values) < 2:
        return float(values.mean()), math.nan
    half = t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / math.sqrt(len(values))
    return float(values.mean()), float(half)


def _means(runs):
    """Mean and interval of each measure in %, one row for each shape, number of negatives and method."""
    rows = []
    for (shape, negatives, method), part in runs.groupby(["shape", "negatives", "method"], sort=False):
        row = {"shape": shape, "negatives": negatives, "method": method, "epochs": part["epochs"].iloc[0]}
        for measure in MEASURES:
            row[measure], row[f"± {measure}"] = _interval(100 * part[measure])
        rows.append(row)
    return pd.DataFrame(rows)


def _tasks(runs):
    return runs.groupby(["shape", "negatives"], sort=False)


def _differences(runs):
    """Selfplay − UniS and CIS − Selfplay in points, paired by draw: mean and interval for each measure."""
    rows = []
    for (shape, negatives), part in _tasks(runs):
        by_seed = part.pivot(index="seed", columns="method", values=list(MEASURES))
        for better, worse in _LINKS:
            row = {"shape": shape, "negatives": negatives, "difference": f"{better} − {worse}"}
            for measure in MEASURES:
                gap = 100 * (by_seed[measure, better] - by_seed[measure, worse])
                row[measure], row[f"± {measure}"] = _interval(gap)
            rows.append(row)
    return pd.DataFrame(rows)


def _heat_maps(task, learned):
    """Return a function that draws g(j | i) of the truth and of each method on a figure."""
    panels = {"truth": task.conditional} | {name: np.exp(log_softmax(scores)) for name, scores in learned.items()}

    def draw_on(figure):
        figure.set_size_inches(3 * len(panels), 3.2)
        top = 2 * np.quantile(task.conditional[task.conditional > 0], 0.9)
        for place, (name, shown) in enumerate(panels.items(), 1):
            axes = figure.add_subplot(1, len(panels), place)
            cells = axes.imshow(shown.T, origin="lower", vmin=0, vmax=top)
            axes.set_title(name)
            axes.set_xticks([])
            axes.set_yticks([])
        figure.supxlabel("column i (centre)", fontsize="small")
        figure.supylabel("row j (target)", fontsize="small")
        figure.colorbar(cells, ax=figure.axes, label="g(j | i)")

    return draw_on


_TEXT = """\
CIS paper, section 4.1 and table 1: do the vectors find the support of a shape in the plane?

The paper leaves the setting open. Here: a grid of {grid} × {grid} cells, the column is the centre and the row the
target; {pairs:,} pairs, columns uniform, rows by the shape's density (overlapping Gaussians cut off at two deviations
that cover the share r of the grid; a curve with noise cut off alike); dim 150, as in the paper. Vectors are the
relaxed softmax's, with 1 and with 10 negatives; FS has all targets as negatives. alpha falls from .1, and each method
has the number of epochs (5, 10, 20 or 40) that was best for it on a draw of its own; then {seeds} new draws of shape
and pairs; ± is half of the 95 % interval of the mean. No pairs are held out: the truth is known.

Accuracy is the share of cells told right. "sizes known": each column's best-scored cells, as many as there truly are
(evaluates the order within columns only). "one cut of s": all cells whose score exceeds one number, the best there is.
"one cut of g": the same for g(j | i) = softmax of the scores.

The paper's table 1 (%; blobs .25, .60, .75, Swiss roll): FS 69.0, 77.0, 84.5, 89.1; UniS 72.3, 70.1, 75.1, 87;
PopS 75.2, 65.0, 77.2, 88.2; Selfplay 75.7, 76.5, 84.5, 88.5; CIS 78.5, 86.1, 89.5, 90.2.

"""


def _verdict(differences):
    """Say of each link of CIS ≥ Selfplay ≥ UniS how often it held, and how often beyond its interval."""
    lines = []
    for (negatives, name), part in differences.groupby(["negatives", "difference"], sort=False):
        for measure in MEASURES:
            gap, half = part[measure], part[f"± {measure}"]
            above, below = int((gap - half > 0).sum()), int((gap + half < 0).sum())
            word = "negative" if negatives == 1 else "negatives"
            lines.append(
                f"- {negatives} {word}, {measure}: {name} is positive on {int((gap > 0).sum())} of {len(part)} shapes, "
                f"{above} of them beyond the interval; negative beyond it on {below}."
            )
    return "\n".join(lines) + "\n"


def _verdicts(runs):
    """Judge each link of CIS ≥ Selfplay ≥ UniS on each shape, by the first measure."""
    shares = {key: part.pivot(index="seed", columns="method", values=MEASURES[0]) for key, part in _tasks(runs)}
    found = []
    for (shape, negatives), by_seed in shares.items():
        for better, worse in _LINKS:
            claim = Claim(
                "CIS table 1", f"{shape}, n = {negatives}: {better} exceeds {worse}", better, worse, MEASURES[0]
            )
            gap = 100 * (by_seed[better] - by_seed[worse])
            found.append(verdict(claim, gap, _MATTERS, len(_LINKS) * len(shares), "points"))
    return found


@STUDIES.register("cis-shapes")
@declare("CIS", "table 1", minutes=5)
def cis_shapes(tell, quick, seed, memo):
    """Accuracy of the learned support by method, and heat maps."""
    shapes = ("blobs r=0.60",) if quick else (*BLOBS, *CURVES)
    methods = ("UniS", "Selfplay", "CIS") if quick else tuple(METHODS)
    n_seeds, n_pairs = (3, 3000) if quick else (6, 3000)
    records, figures = [], {}
    for shape, negatives in itertools.product(shapes, (1,) if quick else (1, 10)):
        learned = {}
        for method in methods:
            if method == "FS" and negatives > 1:  # it has all negatives in any case
                continue
            epochs = 40 if quick else _tuned(shape, method, negatives, n_pairs, seed)
            for run in range(1, 1 + n_seeds):
                task = Task.drawn(shape, n_pairs, [seed, run])
                scores = task.scores(method, negatives, seed + run, epochs)
                record = {"shape": shape, "negatives": negatives, "method": method, "seed": run, "epochs": epochs}
                records.append(record | dict(zip(MEASURES, task.accuracies(scores), strict=True)))
            learned[method] = scores
            tell(f"{shape}, n = {negatives}, {method}: {100 * records[-1][MEASURES[1]]:.1f} %")
        figures[f"{shape} n={negatives}".replace(" ", "-").replace("=", "")] = _heat_maps(task, learned)
    runs = pd.DataFrame(records)
    differences = _differences(runs)
    text = _TEXT.format(grid=GRID, pairs=n_pairs, seeds=n_seeds) + _verdict(differences)
    return Study({"accuracy": _means(runs), "differences": differences}, text, figures, _verdicts(runs))
