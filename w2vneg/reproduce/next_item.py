"""Next-item prediction (Tanielian and Vasile 2019, table 2; CIS, tables 2 and 7): which objective ranks best?

Every method trains on the same pairs with counts as weights, drawn in proportion to them. Its learning rate, its
temperature where it has one, and the number of epochs are chosen on the validation part, by Precision@15 on the pairs
of a random sample of centres; then several seeds train with what was chosen, and their epoch that validation finds best
is evaluated on the whole test part. No run stops early: while alpha is high, a run may get worse before it gets better.
Ranking is by raw dot products.

Two splits. By user: baskets, histories or lines of text that training has not seen; a pair of theirs may have occurred
in training. By pair: the distinct pairs are dealt out, and those trained on are left out of each centre's catalogue.
The papers do not say which they use, and MovieLens is another one there, so figures do not compare, only orders of
methods.

Under noise Q the relaxed softmax is at its best where s_ij = log P(j|i) − log q_j, up to a constant of the row; under
Boltzmann noise q ∝ D e^{s/T} where (1 + 1/T) s_ij = log P(j|i) − log D_j. Ranking by s alone, as the papers do, then
ranks by how much more likely j is with i than elsewhere. So the methods with noise by popularity have a second row: the
same models ranked by what they know of P(j|i), "+ log Q".
"""

import dataclasses
import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
import scipy.stats

from ..config import TrainConfig
from ..data.encoded import EncodedCorpus, HeldOut
from ..data.vocab import Vocabulary
from ..evaluation import evaluate_ranking, popularity_scores, scores_of
from ..evaluation.scores import cooccurrence_scores
from ..jit import available_threads
from ..registry import RunContext
from ..samplers.log_uniform import LogUniform
from ..samplers.popularity import log_popularity
from ..search.tuning import tune
from ..training.trainer import Trainer
from ..training.validation import Validation
from . import STUDIES, Study
from .item_tasks import INPUTS, load_task, make_task
from .next_item_papers import beside_papers

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
_WARM = ("UBS", "PBS")  # methods with a temperature of their own
KS = (1, 5, 15, 50)
_METRIC = "prec@15"
_SAMPLE = 100_000  # validation pairs, of centres drawn at random


@dataclass(frozen=True)
class Scale:
    """alphas, temps : what is tried; dim, epochs, seeds, negatives as said
    most : int, pairs drawn for an epoch: two fifths of the occurrences, at most so many
    """

    alphas: tuple = (0.003, 0.0125, 0.05, 0.2)
    temps: tuple = (1.0, 6.0, 36.0)
    dim: int = 100
    epochs: int = 5
    most: int = 5_000_000
    seeds: int = 5

    def pairs_of(self, task):
        """Return how many pairs are drawn for an epoch of this Task."""
        total = int(task.train.matrix.sum(dtype=np.float64))
        return min(self.most, 2 * total // 5)


FULL = Scale()
TEXT = dataclasses.replace(FULL, temps=(0.5, 1.0, 3.0, 6.0, 12.0, 36.0), most=4_000_000, seeds=3)
QUICK = Scale(alphas=(0.1, 0.4), temps=(1.0, 6.0), dim=16, epochs=3, most=20_000, seeds=2)


def measure(task, scale, seed, tell):
    """Tune and train every method on one task.

    Parameters
    ----------
    task : item_tasks.Task
    scale : Scale
    seed : int, the first of ``scale.seeds``
    tell : callable, takes lines of progress

    Returns
    -------
    DataFrame
        A row for each method and each baseline; figures of the test part as (mean, half of a 95 % interval over seeds).
    """
    common, known, valid = _setting(task, scale, seed)
    rows = [_baseline_row(task, known, name) for name in ("popularity", "item-item co-occurrence")]
    for name, options in METHODS.items():
        chosen = _chosen(task, common, options, scale, valid, name in _WARM)
        models = [_trained(task, common, chosen, seed + k, valid) for k in range(scale.seeds)]
        rows += _rows(name, chosen, task, known, models)
        tell(f"{task.name}: {name} {_shown(chosen)}: P@15 {100 * rows[-1]['P@15'][0]:.2f}")
    return pd.DataFrame(rows)


def _setting(task, scale, seed):
    """Return (options that all have, EncodedPairs that are left out of the ranking or None, Validation)."""
    common = TrainConfig(
        source="pairs",
        pair_weights="sample",
        pairs_per_epoch=scale.pairs_of(task),
        dim=scale.dim,
        epochs=scale.epochs,
        workers=available_threads(),
        seed=seed,
    )
    known = task.train if task.by == "pair" else None
    return common, known, Validation(_sampled(task.valid, seed), metric=_METRIC, known=_as_held(known))


def _rows(name, chosen, task, known, models):
    """Return the row of a method, and that of the same models with log Q where their noise has one."""
    rows = [_row(name, chosen, [_figures(task, known, _scores(model)) for model in models])]
    if noise_of(models[0]) is not None:
        corrected = [_figures(task, known, corrected_scores(model)) for model in models]
        rows.append(_row(f"{name} + log Q", chosen, corrected))
    return rows


def _chosen(task, common, options, scale, valid, warm):
    """Return the options of the best trial: alphas first, then temperatures at the best alpha."""
    base = dataclasses.replace(common, **options)
    best = _best(task, base, [{"alpha": alpha} for alpha in scale.alphas], valid)
    if warm:
        best = _best(task, base, [best | {"temp": temp} for temp in scale.temps], valid)
    return options | best


def _best(task, base, combinations, valid):
    found = tune(task.train, base, combinations, valid)
    if not found.complete:
        raise KeyboardInterrupt  # a part of a search is no choice
    return found.best.options


def _trained(task, common, options, seed, valid):
    trainer = Trainer(task.train, dataclasses.replace(common, **options, seed=seed), validation=valid)
    model = trainer.train()
    if not trainer.complete:
        raise KeyboardInterrupt  # a part of a run is no measurement
    return model


def _scores(model):
    return scores_of(model)


def noise_of(model):
    """Return what to add to the logits of a relaxed softmax so that they rank by P(j|i), float64 (n_out,), or None."""
    config, counts = model.config, model.vocab_out.counts
    if config.loss != "relaxed":
        return None
    if config.sampler == "log-uniform":
        return LogUniform.from_options(config, RunContext(counts)).log_p.astype(float)
    if config.sampler == "popularity":
        return log_popularity(counts, config.noise_exponent)
    if config.sampler == "boltzmann" and config.degeneracy == "popularity":
        return log_popularity(counts, config.noise_exponent) / (1 + 1 / config.temp)
    return None


def corrected_scores(model):
    """Return the scoring function s_ij + `noise_of`."""
    score, noise = _scores(model), noise_of(model)
    factor = 1 + 1 / model.config.temp if model.config.sampler == "boltzmann" else 1.0
    return lambda centres: (score(centres) + noise) * factor


def _figures(task, known, scores, logits=True):
    held = task.test.centres, task.test.targets, task.test.weights
    left_out = None if known is None else known.matrix
    result = evaluate_ranking(
        scores, held, len(task.train.vocab_out), ks=KS, known=left_out, logits=logits, samples=0, bootstrap=0
    )
    likelihood = math.nan if result.likelihood is None else result.likelihood
    return {f"P@{k}": result.precision[k] for k in KS} | {"MPR": result.mpr, "likelihood": likelihood}


def _baseline_row(task, known, name):
    counts = np.asarray(task.train.matrix.sum(axis=0, dtype=np.float64)).ravel()
    popular = name == "popularity"
    scores = popularity_scores(counts) if popular else cooccurrence_scores(task.train.matrix, counts)
    return _row(name, {}, [_figures(task, known, scores, logits=popular)])


def _row(name, chosen, runs):
    row = {"method": name, "alpha": chosen.get("alpha", math.nan), "T": chosen.get("temp", math.nan)}
    for figure in runs[0]:
        values = [run[figure] for run in runs]
        half = scipy.stats.sem(values) * scipy.stats.t.ppf(0.975, len(values) - 1) if len(values) > 1 else math.nan
        row[figure] = float(np.mean(values)), float(half)
    return row


def _shown(chosen):
    return " ".join(f"{name}={chosen[name]:g}" for name in ("alpha", "temp") if name in chosen)


def _sampled(held, seed):
    """Return the pairs of centres drawn at random, about `_SAMPLE` of them."""
    share = min(1.0, _SAMPLE / max(len(held), 1))
    n_centres = int(held.centres.max(initial=0)) + 1
    kept = np.random.default_rng(seed).random(n_centres)[held.centres] < share
    if not kept.any():
        kept[:] = True
    return HeldOut(held.centres[kept], held.targets[kept], held.weights[kept], 0, int(kept.sum()))


def _as_held(pairs):
    if pairs is None:
        return None
    matrix = pairs.matrix.tocoo()
    return HeldOut(matrix.row.astype(np.int64), matrix.col.astype(np.int64), matrix.data.astype(float), 0, matrix.nnz)


def printed(table):
    """Return the table in percent (likelihood in 1e-4), intervals behind ±, as text."""
    shown = table[["method", "alpha", "T"]].copy()
    for column in table.columns[3:]:
        scale = 1e4 if column == "likelihood" else 100
        shown[column] = [_interval(scale * mean, scale * half) for mean, half in table[column]]
    return shown.rename(columns={"likelihood": "likelihood, 1e-4"})


def _interval(mean, half):
    if math.isnan(mean):
        return "–"
    return f"{mean:.2f}" if math.isnan(half) else f"{mean:.2f} ± {half:.2f}"


def communities(seed, n_items=60, n_baskets=3000):
    """Return made-up baskets, an EncodedCorpus: each of one of four tastes, some items more popular than others."""
    rng = np.random.default_rng(seed)
    weights = 1.0 / np.arange(1, n_items + 1)
    baskets = []
    for _ in range(n_baskets):
        own = weights * np.where(np.arange(n_items) % 4 == rng.integers(4), 1.0, 0.05)
        baskets.append(rng.choice(n_items, rng.integers(2, 6), replace=False, p=own / own.sum()))
    ids = np.concatenate(baskets)
    counts = np.bincount(ids, minlength=n_items)
    order = np.argsort(-counts, kind="stable")
    vocab = Vocabulary([f"item{k:03}" for k in range(n_items)], counts[order])
    offsets = np.cumsum([0, *map(len, baskets)]).astype(np.int64)
    return EncodedCorpus(np.argsort(order)[ids].astype(np.int32), offsets, vocab, source="baskets")


def measure_temperatures(task, scale, seed, tell):
    """Train UBS and PBS at each temperature, one seed, all at the alpha that validation likes best at T = 1.

    Parameters and result are those of `measure`; nothing is chosen by the test part, which all are evaluated on. T =
    infinity is US and PS.
    """
    common, known, valid = _setting(task, scale, seed)
    rows = []
    for name in _WARM:
        options = METHODS[name]
        base = dataclasses.replace(common, **options, temp=1.0)
        options = options | _best(task, base, [{"alpha": alpha} for alpha in scale.alphas], valid)
        for temp in (*scale.temps, math.inf):
            model = _trained(task, common, options | {"temp": temp}, seed, valid)
            rows += _rows(name, options | {"temp": temp}, task, known, [model])
            tell(f"{task.name}: {name} T = {temp:g}: P@15 {100 * rows[-1]['P@15'][0]:.2f}")
    return pd.DataFrame(rows)


def _made(name, by, quick, seed):
    """Return (Task, Scale) of a study."""
    if quick:
        return make_task("made-up baskets", communities(seed), by, seed, "baskets"), QUICK
    return load_task(name, by, seed), TEXT if name.startswith("text") else FULL


def _study(name, by, tell, quick, seed):
    task, scale = _made(name, by, quick, seed)
    tell(task.line())
    table = measure(task, scale, seed, tell)
    left_out = "; pairs trained on are left out of the ranking" if by == "pair" else ""
    text = (
        f"{task.line()}{left_out}. d = {scale.dim}, at most {scale.epochs} epochs of "
        f"{scale.pairs_of(task):,} pairs, {scale.seeds} seeds; alphas "
        f"{', '.join(f'{a:g}' for a in scale.alphas)} and temperatures {', '.join(f'{t:g}' for t in scale.temps)} (T = "
        "infinity is US and PS), chosen by validation. In percent, with 95 % intervals over seeds.\n"
    )
    return Study({by: printed(table), f"{by}-papers": beside_papers(name, table)}, text)


@STUDIES.register("next-word-15k-temperatures")
def temperatures(tell, quick, seed):
    """Next word: UBS and PBS of RS table 2 at each temperature, text-15k, split by line."""
    task, scale = _made("text-15k", "user", quick, seed)
    tell(task.line())
    text = (
        f"{task.line()}. d = {scale.dim}, at most {scale.epochs} epochs of {scale.pairs_of(task):,} pairs, one seed; "
        f"alpha, of {', '.join(f'{a:g}' for a in scale.alphas)}, chosen by validation at T = 1. In percent.\n"
    )
    return Study({"temperatures": printed(measure_temperatures(task, scale, seed, tell))}, text)


def _register(name, by):
    what = "Next word" if name.startswith("text") else "Next item"
    study_name = f"next-{'word' if name.startswith('text') else 'item'}-{name.removeprefix('text-')}"

    def study(tell, quick, seed):
        return _study(name, by, tell, quick, seed)

    study.__doc__ = f"{what}: all methods of RS table 2 and CIS tables 2 and 7 on {name}, split by {by}."
    STUDIES.register(study_name + ("-by-pair" if by == "pair" else ""))(study)


for _name in INPUTS:
    for _by in ("user", "pair"):
        _register(_name, _by)
