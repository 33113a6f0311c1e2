"""Next-item prediction (Tanielian and Vasile 2019, table 2; CIS, tables 2 and 7): which objective ranks best?

Every method trains on the same pairs with counts as weights, drawn in proportion to them. Noise D by popularity takes
popularity out of the scores, so such a method has several rows: the same kind of models ranked by s, and with log D
added in part or in full ("+ log Q"; see `next_item_runs`). Every row chooses for itself, on the validation part and by
its own score: learning rate and temperature together, on a grid that is widened until no winner stands at its edge,
and the epoch. It does so twice, by Precision@15 for the table of rankings and by mean log-likelihood for that of
likelihoods. Then several seeds train with what was chosen, and are evaluated on the whole test part. No run stops
early: while alpha is high, a run may get worse before it gets better.

Two splits. By user: baskets, histories or lines of text that training has not seen; a pair of theirs may have occurred
in training. By pair: the distinct pairs are dealt out, and those trained on are left out of each centre's catalogue.
The papers do not say which they use, and MovieLens is another one there, so figures do not compare, only orders of
methods.
"""

import dataclasses
import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from w2vneg.config import TrainConfig
from w2vneg.data.encoded import EncodedCorpus
from w2vneg.data.vocab import Vocabulary
from w2vneg.vectors.evaluation import popularity_scores
from w2vneg.vectors.evaluation.scores import cooccurrence_scores

from . import STUDIES, Study, declare
from .climb import TEMPERATURES, alpha_at, best_place, temp_at
from .item_tasks import INPUTS, load_task, make_task
from .memo import Memo
from .next_item_papers import CLAIMS, SHOWN, UNITS, beside_papers
from .next_item_runs import LIKELIHOOD, RANKING, Setting, curve, ranked, tested
from .verdicts import interval, judged

METHODS = {  # name -> options; FS, UniS, PopS, SP and CIS are CIS's names, the others RS's
    "FS (MLE)": {"loss": "mle"},
    "SS": {"loss": "ss"},
    "US (UniS)": {"loss": "us"},
    "UBS": {"loss": "ubs"},
    "PS": {"loss": "ps"},
    "PBS": {"loss": "pbs"},
    "PopS": {"loss": "pops"},
    "SP": {"loss": "selfplay"},
    "CIS": {"loss": "cis"},
}
_WARM = ("ubs", "pbs")  # losses with a temperature of their own
_BY_POPULARITY = ("ps", "pbs", "pops")
_BASELINES = ("popularity", "item-item co-occurrence")
_SAMPLE = 100_000  # validation pairs, of centres drawn at random


@dataclass(frozen=True)
class Scale:
    """alphas, temps : places of the first box of the search (see `climb`), which goes on from there for `steps` steps
    shares : λ of the rows with noise by popularity; dim, epochs, seeds as said
    most : int, pairs drawn for an epoch: two fifths of the occurrences, at most so many
    """

    alphas: tuple = (-1, 0, 1)
    temps: tuple = (1, 4)
    steps: int = 50
    shares: tuple = (0.0, 0.5, 1.0)
    dim: int = 100
    epochs: int = 5
    most: int = 1_000_000
    seeds: int = 5

    def pairs_of(self, task):
        """Return how many pairs are drawn for an epoch of this Task."""
        total = int(task.train.matrix.sum(dtype=np.float64))
        return min(self.most, 2 * total // 5)


FULL = Scale()
TEXT = dataclasses.replace(FULL, most=2_000_000, seeds=3)
WIDE = dataclasses.replace(TEXT, most=1_000_000)  # a pair costs the full softmax as much as there are words
_SCALES = {"text-12k": TEXT, "text-15k": TEXT, "text-30k": WIDE}
_MINUTES = {"belgian": 60, "uk": 35, "ml-100k": 20, "ml-1m": 40, "text-12k": 45, "text-15k": 50, "text-30k": 60}
QUICK = Scale(alphas=(0, 1), temps=(3,), steps=1, shares=(0.0, 1.0), dim=16, epochs=2, most=20_000, seeds=2)


@dataclass(frozen=True)
class Measured:
    """What came out. chosen : dict of (row, measure) -> options; runs : dict of (row, figure) -> list of float, a seed
    each; baselines : dict of row -> dict of figure -> float
    """

    chosen: dict
    runs: dict
    baselines: dict

    @property
    def rows(self):
        """Names of the rows, in order."""
        return list(dict.fromkeys(row for row, _ in self.chosen))


def measure(task, scale, seed, tell, memo=None, methods=METHODS):
    """Tune and train every method on one task.

    Parameters
    ----------
    task : item_tasks.Task
    scale : Scale
    seed : int, the first of ``scale.seeds``
    tell : callable, takes lines of progress
    memo : Memo, optional
        Keeps what is done.
    methods : dict of name -> options

    Returns
    -------
    Measured
    """
    memo, setting = Memo() if memo is None else memo, _setting(task, scale, seed)
    measured = Measured({}, {}, {})
    for name, options in methods.items():
        shares = scale.shares if options["loss"] in _BY_POPULARITY else (0.0,)
        for share in shares:
            for by in (RANKING, LIKELIHOOD):
                found = _chosen(setting, options, (shares, share, by), scale, memo)
                measured.chosen[row_name(name, share), by] = found
                tell(f"{task.name}: {row_name(name, share)} {shown(found)}, by {by}")
        _test(setting, name, options, shares, measured, scale, memo)
        tell(f"{task.name}: {name}: P@15 {100 * np.mean(measured.runs[row_name(name, shares[-1]), 'P@15']):.2f}")
    for name in _BASELINES:
        measured.baselines[name] = memo([task.line(), name], lambda name=name: ranked(setting, _baseline(task, name)))
    return measured


def row_name(method, share):
    """Return the name of a row: the method, and how much of log Q is added."""
    return method if not share else f"{method} + log Q" if share == 1 else f"{method} + {share:g} log Q"


def _setting(task, scale, seed):
    common = TrainConfig(
        source="pairs",
        pair_weights="sample",
        pairs_per_epoch=scale.pairs_of(task),
        dim=scale.dim,
        epochs=scale.epochs,
        workers=1,
        seed=seed,
    )
    return Setting(task, common, _sampled(task.valid, seed), task.train.matrix if task.by == "pair" else None)


def _key(setting, options, seed, *rest):
    """Return what a part of the study is known by."""
    common = setting.common
    scale = [common.pairs_per_epoch, common.dim, common.epochs]
    return [setting.task.line(), scale, sorted(options.items()), seed, *rest]


def _options_at(options, place):
    """Return the options at a place of the grid, or None beyond its end."""
    found = options | {"alpha": alpha_at(place[0])}
    if len(place) == 1:
        return found
    temp = temp_at(place[1])
    return None if temp is None else found | {"temp": temp}


def _chosen(setting, options, row, scale, memo):
    """Return the options that validation likes best for a row, (all shares of its method, its own, its measure)."""
    shares, share, by = row
    seed = setting.common.seed

    def value(place):
        found = _options_at(options, place)
        if found is None:
            return -math.inf
        key = _key(setting, found, seed, "validation", list(shares))
        epochs = memo(key, lambda: curve(setting, found, seed, shares))
        return max((epoch[f"{share:g}"][by] for epoch in epochs), default=-math.inf)

    warm = options["loss"] in _WARM and "temp" not in options
    box = [scale.alphas, scale.temps] if warm else [scale.alphas]
    return _options_at(options, best_place(value, box, scale.steps))


def _test(setting, name, options, shares, measured, scale, memo):
    """Train with each choice of a method under every seed, once for all rows that share it; enter the figures."""
    wanted = {}
    for share in shares:
        for by in (RANKING, LIKELIHOOD):
            found = measured.chosen[row_name(name, share), by]
            wanted.setdefault(tuple(sorted(found.items())), []).append((share, by))
    first = setting.common.seed
    for given, rows in wanted.items():
        for seed in range(first, first + scale.seeds):
            key = _key(setting, dict(given), seed, "test", rows)
            figures = memo(key, lambda seed=seed, given=given, rows=rows: tested(setting, dict(given), seed, rows))
            for (share, by), found in zip(rows, figures, strict=True):
                for figure, value in found.items():
                    figure = f"epoch, {by}" if figure == "epoch" else figure
                    measured.runs.setdefault((row_name(name, share), figure), []).append(value)


def _baseline(task, name):
    counts = np.asarray(task.train.matrix.sum(axis=0, dtype=np.float64)).ravel()
    return popularity_scores(counts) if name == "popularity" else cooccurrence_scores(task.train.matrix, counts)


def shown(chosen):
    """Return the options that were searched, as text."""
    return " ".join(f"{name}={chosen[name]:g}" for name in ("alpha", "temp") if name in chosen)


def _sampled(held, seed):
    """Return the pairs of centres drawn at random, about `_SAMPLE` of them: (centres, targets, weights)."""
    share = min(1.0, _SAMPLE / max(len(held), 1))
    n_centres = int(held.centres.max(initial=0)) + 1
    kept = np.random.default_rng(seed).random(n_centres)[held.centres] < share
    if not kept.any():
        kept[:] = True
    return held.centres[kept], held.targets[kept], held.weights[kept]


def ranking_table(measured):
    """Return rankings as text: in percent, half of a 95 % interval over seeds behind ±."""
    figures = ("P@1", "P@5", "P@15", "P@50", "MPR")
    rows = [
        {"method": name, "alpha": "", "T": "", "epoch": ""}
        | {figure: f"{100 * values[figure]:.2f}" for figure in figures}
        for name, values in measured.baselines.items()
    ]
    rows += [_table_row(measured, row, RANKING, dict.fromkeys(figures, 100.0)) for row in measured.rows]
    return pd.DataFrame(rows)


def likelihood_table(measured):
    """Return mean log-likelihoods in nats and RS eq. 9 in 1e-4, as text: by u(λ), by the law, by a fitted scale."""
    scores = ("trained", "law", "fitted")
    figures = {"scale, law": 1.0, "scale, fitted": 1.0}
    figures |= {f"log-likelihood, {name}": 1.0 for name in scores} | {f"eq. 9, {name}": 1e4 for name in scores}
    return pd.DataFrame([_table_row(measured, row, LIKELIHOOD, figures) for row in measured.rows])


def _table_row(measured, row, by, figures):
    chosen, epochs = measured.chosen[row, by], measured.runs[row, f"epoch, {by}"]
    cells = {"method": row, "alpha": f"{chosen['alpha']:g}", "T": f"{chosen['temp']:g}" if "temp" in chosen else "–"}
    cells["epoch"] = f"{np.mean(epochs):g}"
    for figure, factor in figures.items():
        mean, low, high = interval(factor * np.array(measured.runs[row, figure]))
        digits = 4 if figure.startswith("log-") else 2
        cells[figure] = f"{mean:.{digits}f} ± {(high - low) / 2:.{digits}f}"
    return cells


def communities(seed, n_items=60, n_baskets=3000, other=0.05):
    """Return made-up baskets, an EncodedCorpus: each of one of four tastes, some items more popular than others.

    other : float, how likely an item of another taste is beside one of its own
    """
    rng = np.random.default_rng(seed)
    weights = 1.0 / np.arange(1, n_items + 1)
    baskets = []
    for _ in range(n_baskets):
        own = weights * np.where(np.arange(n_items) % 4 == rng.integers(4), 1.0, other)
        baskets.append(rng.choice(n_items, rng.integers(2, 6), replace=False, p=own / own.sum()))
    ids = np.concatenate(baskets)
    counts = np.bincount(ids, minlength=n_items)
    order = np.argsort(-counts, kind="stable")
    vocab = Vocabulary([f"item{k:03}" for k in range(n_items)], counts[order])
    offsets = np.cumsum([0, *map(len, baskets)]).astype(np.int64)
    return EncodedCorpus(np.argsort(order)[ids].astype(np.int32), offsets, vocab, source="baskets")


def _made(name, by, quick, seed):
    """Return (Task, Scale) of a study."""
    if quick:
        return make_task("made-up baskets", communities(seed), by, seed, "baskets"), QUICK
    return load_task(name, by, seed), _SCALES.get(name, FULL)


def _study(name, by, given):
    tell, quick, seed, memo = given
    task, scale = _made(name, by, quick, seed)
    tell(task.line())
    measured = measure(task, scale, seed, tell, memo)
    tables = {by: ranking_table(measured), f"{by}-likelihood": likelihood_table(measured)}
    tables[f"{by}-papers"] = beside_papers(name, measured)
    return Study(tables, _described(task, scale) + "\n", verdicts=judged(CLAIMS, measured.runs, UNITS))


def _described(task, scale):
    left_out = "; pairs trained on are left out of the ranking" if task.by == "pair" else ""
    return (
        f"{task.line()}{left_out}. d = {scale.dim}, {scale.epochs} epochs of {scale.pairs_of(task):,} pairs, "
        f"{scale.seeds} seeds. Every row chose its alpha, its T and its epoch on validation pairs by its own score: "
        f"alpha on a grid of factor 4, T on {', '.join(f'{temp:g}' for temp in TEMPERATURES)} and halves below. "
        "Rankings in percent, log-likelihoods in nats, eq. 9 in 1e-4, with 95 % intervals over seeds."
    )


@STUDIES.register("next-word-15k-temperatures")
@declare("RS", "table 2, T", resumes=True, minutes=30)
def temperatures(tell, quick, seed, memo=None):
    """Next word: UBS and PBS of RS table 2 at each temperature, text-15k, split by line."""
    task, scale = _made("text-15k", "user", quick, seed)
    tell(task.line())
    temps = (1.0, math.inf) if quick else TEMPERATURES
    methods = {f"{name}, T = {temp:g}": METHODS[name] | {"temp": temp} for name in ("UBS", "PBS") for temp in temps}
    scale = dataclasses.replace(scale, shares=(0.0, 1.0))
    measured = measure(task, scale, seed, tell, memo, methods)
    text = f"{_described(task, scale)} T is given, alpha and epoch are chosen.\n"
    return Study({"temperatures": ranking_table(measured), "likelihood": likelihood_table(measured)}, text)


def _register(name, by):
    what = "Next word" if name.startswith("text") else "Next item"
    study_name = f"next-{'word' if name.startswith('text') else 'item'}-{name.removeprefix('text-')}"

    def study(tell, quick, seed, memo=None):
        return _study(name, by, (tell, quick, seed, memo))

    study.__doc__ = f"{what}: all methods of RS table 2 and CIS tables 2 and 7 on {name}, split by {by}."
    study = declare(*SHOWN[name], resumes=True, minutes=_MINUTES[name])(study)
    STUDIES.register(study_name + ("-by-pair" if by == "pair" else ""))(study)


for _name in INPUTS:
    for _by in ("user", "pair"):
        _register(_name, _by)
