"""Items: common alternatives on the same split. Some held-out pairs are for choices, others for reporting.

The catalogue consists of the items in the training histories: held-out pairs with other items are dropped, and counted.
An item is never recommended for itself, so it is excluded from its own ranking, for every contender: lists of similar
items of other libraries would start with it. Validation uses a fixed sample of the pairs, the test all of them.
"""

import dataclasses
import json
import statistics
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import scipy.sparse

from w2vneg.data.encoded import EncodedCorpus, HeldOut
from w2vneg.data.vocab import Vocabulary
from w2vneg.ground.errors import ConfigError, InputError, UnknownNameError, W2vnegError, did_you_mean
from w2vneg.ground.files.atomic import atomic_file
from w2vneg.ground.files.bounded import read_json
from w2vneg.run.validation import Metric
from w2vneg.vectors.evaluation import KS, evaluate_ranking

from .item_rivals import Effort
from .item_trainers import CONTENDERS
from .speed import machine

_SAMPLED = 300_000  # occurrences of held-out pairs used in validation
_LIST = 15  # length of the lists of recall and NDCG
QUICK = Effort(pairs=200_000, dim=16, rounds=0.05)


@dataclass(frozen=True, eq=False)
class Parts:
    """One split, in ids of the items of its training histories.

    histories : EncodedCorpus; valid, test : HeldOut, without the n_unknown dropped pairs
    """

    histories: EncodedCorpus
    valid: HeldOut
    test: HeldOut

    @classmethod
    def of(cls, task):
        """Convert a `Task` that was split by user."""
        if task.histories is None:
            raise ConfigError(f"{task.name} is split by {task.by}, which leaves no histories; split it by user")
        known, counts = task.histories.vocab, np.bincount(task.histories.ids, minlength=len(task.histories.vocab))
        vocab = Vocabulary.from_counts({known.words[i]: int(counts[i]) for i in np.flatnonzero(counts)})
        new = np.full(len(known), -1, np.int64)
        new[known.words.find_all(vocab.words)] = np.arange(len(vocab))
        histories = EncodedCorpus(
            new[task.histories.ids].astype(np.int32), task.histories.offsets, vocab, source="baskets"
        )
        return cls(histories, *(_renamed(part, new) for part in (task.valid, task.test)))

    def line(self):
        """Return a one-line description of the parts (str)."""
        held = [f"{len(p):,} ({p.n_unknown:,} more have an unknown item)" for p in (self.valid, self.test)]
        return (
            f"{len(self.histories):,} items of {len(self.histories.vocab):,} kinds in {self.histories.n_sentences:,} "
            f"training histories; distinct held-out pairs: {held[0]} for choices, {held[1]} for reporting"
        )


def _renamed(held, new):
    centres, targets = new[held.centres], new[held.targets]
    known = (centres >= 0) & (targets >= 0)
    return HeldOut(
        centres[known], targets[known], held.weights[known], held.n_unknown + int((~known).sum()), held.n_read
    )


def sampled(held, most=_SAMPLED, seed=1):
    """Return the pairs, or `most` drawn in proportion to their weights if there are more: HeldOut."""
    if len(held) <= most:
        return held
    cumulated = np.cumsum(held.weights)
    drawn = np.searchsorted(cumulated, np.random.default_rng(seed).random(most) * cumulated[-1], side="right")
    pairs, counts = np.unique(drawn, return_counts=True)
    return HeldOut(held.centres[pairs], held.targets[pairs], counts.astype(np.float64), 0, held.n_read)


def evaluate(reading, held, n_items, ks):
    """Rank held-out pairs by a `Reading`, without each item itself; return a RankingResult."""
    itself = scipy.sparse.eye(n_items, format="csr")
    pairs = held.centres, held.targets, held.weights
    options = {"ks": ks, "known": itself, "logits": reading.logits, "samples": 0, "bootstrap": 0}
    return evaluate_ranking(reading.scores, pairs, n_items, **options)


@dataclass(frozen=True)
class Trial:
    """One setting on validation. values : dict of reading -> the metric; reason : str or None, why it failed"""

    contender: str
    setting: dict
    seconds: float
    values: dict
    reason: str | None = None


@dataclass(frozen=True)
class Run:
    """A winner on the test part. reading : str; seconds : float, of training; figures : dict of str -> float or None"""

    contender: str
    setting: dict
    reading: str
    seed: int
    seconds: float
    figures: dict


@dataclass
class Record:
    """Measurements so far, and the file they are stored in.

    path : path or None; what : dict, data and options; trials : list of Trial; runs : list of Run
    """

    path: object
    what: dict
    trials: list = field(default_factory=list)
    runs: list = field(default_factory=list)

    @classmethod
    def at(cls, path, what):
        """Resume from the file at `path`, if there is one; ConfigError if it holds something else."""
        if path is None or not Path(path).exists():
            return cls(path, what)
        try:
            kept = read_json(path)
            trials, runs = [Trial(**one) for one in kept["trials"]], [Run(**one) for one in kept["runs"]]
        except (InputError, TypeError, KeyError) as error:
            raise InputError(
                f"{path}: not a record of 'python -m benchmarks items'; name another file with --out"
            ) from error
        if kept.get("what") != json.loads(json.dumps(what)):
            raise ConfigError(f"{path} holds measurements of other data or options; name another file with --out")
        return cls(path, what, trials, runs)

    def add(self, one):
        (self.trials if isinstance(one, Trial) else self.runs).append(one)
        self.write()

    def write(self):
        if self.path is None:
            return
        content = {"machine": machine(), "what": self.what, "trials": self.trials, "runs": self.runs}
        with atomic_file(self.path, "w", encoding="utf-8") as stream:
            json.dump(content, stream, indent=1, default=dataclasses.asdict)

    def tried(self, name, setting):
        return any(trial.contender == name and trial.setting == setting for trial in self.trials)

    def best(self, name, metric):
        """Return (Trial, reading) with the best value of the metric; ConfigError if every trial failed."""
        own = [trial for trial in self.trials if trial.contender == name]
        found = [(metric.sign * value, -n, key) for n, t in enumerate(own) for key, value in t.values.items()]
        if not found:
            reasons = "; ".join({trial.reason for trial in own if trial.reason})
            raise ConfigError(f"no setting of {name} could be trained: {reasons}")
        _, n, reading = max(found)
        return own[-n], reading


def find_contenders(names):
    """Return the contenders of these names, or all: dict of str -> Contender; UnknownNameError."""
    for name in names:
        if name not in CONTENDERS:
            raise UnknownNameError(f"unknown contender {name!r}{did_you_mean(name, CONTENDERS, shown=len(CONTENDERS))}")
    return {name: one for name, one in CONTENDERS.items() if not names or name in names}


def find_metric(text):
    """Return the `Metric` of this name; ConfigError if it is unknown, or needs logits, which few contenders have."""
    metric = Metric.parse(text)
    if metric.name in ("nll", "likelihood"):
        raise ConfigError(
            f"{metric.name} compares logits only, and most contenders have none; choose by mpr, prec@K, recall@K or "
            "ndcg@K"
        )
    return metric


def tune(contenders, histories, held, metric, effort, record, *, most=None, tell=lambda text: None):
    """Try every contender's settings, and evaluate every reading on the validation pairs; the record stores the trials.

    Parameters
    ----------
    contenders : dict of str -> Contender
    histories : EncodedCorpus
    held : HeldOut
        The validation pairs, or a sample of them.
    metric : validation.Metric
    effort : Effort
    record : Record
        Trials it already has are not repeated.
    most : int, optional
        Maximum number of settings per contender.
    tell : callable
        Called with a line for each trial.
    """
    for name, contender in contenders.items():
        settings = contender.settings[:most]
        for number, setting in enumerate(settings, 1):
            if record.tried(name, setting):
                continue
            trial = _try(name, contender, setting, histories, held, metric, effort)
            record.add(trial)
            values = ", ".join(f"{key} {value:.4f}" for key, value in trial.values.items())
            tell(f"{name} {number}/{len(settings)} {setting}: {trial.reason or values} ({trial.seconds:.1f} s)")


def _try(name, contender, setting, histories, held, metric, effort):
    try:
        readings, seconds = contender.train(histories, setting, 1, effort)
        results = {key: evaluate(one, held, len(histories.vocab), (metric.k,)) for key, one in readings.items()}
    except W2vnegError as error:
        return Trial(name, setting, 0.0, {}, str(error))
    return Trial(name, setting, seconds, {key: metric.figures(one)[metric.name] for key, one in results.items()})


def report(contenders, parts, metric, effort, seeds, record, *, tell=lambda text: None):
    """Train every winner once in each round, with the round's seed, and evaluate it on the test pairs."""
    n_items = len(parts.histories.vocab)
    for seed in range(1, seeds + 1):
        for name, contender in contenders.items():
            trial, reading = record.best(name, metric)
            done = any(run.contender == name and run.seed == seed for run in record.runs)
            if done or (seed > 1 and not contender.seeded):
                continue
            if name == "w2vneg" and seed == 1:  # load compiled code before timing
                contender.train(parts.histories, trial.setting, seed, dataclasses.replace(effort, pairs=1000))
            readings, seconds = contender.train(parts.histories, trial.setting, seed, effort)
            figures = figures_of(evaluate(readings[reading], parts.test, n_items, KS))
            record.add(Run(name, trial.setting, reading, seed, seconds, figures))
            tell(f"test, round {seed}, {name}: P@{_LIST} {figures[f'P@{_LIST}']:.4f} ({seconds:.1f} s)")


def figures_of(result):
    """Return the figures of a RankingResult that the table shows: dict of str -> float or None."""
    figures = {f"P@{k}": result.precision[k] for k in KS}
    figures |= {"MPR": result.mpr, "likelihood": result.likelihood}
    return figures | {f"recall@{_LIST}": result.recall[_LIST], f"NDCG@{_LIST}": result.ndcg[_LIST]}


def table(runs):
    """Return Markdown: a row for each contender, per cent, mean over seeds with the range in brackets."""
    groups = {}
    for run in runs:
        groups.setdefault(run.contender, []).append(run)
    columns = list(runs[0].figures)
    lines = [f"| trainer | runs | {' | '.join(columns)} | seconds |", "|---" * (len(columns) + 3) + "|"]
    for name, own in groups.items():
        cells = [_spread([run.figures[c] for run in own], 100, 3 if c == "likelihood" else 2) for c in columns]
        seconds = _spread([run.seconds for run in own], 1, 1)
        lines.append(f"| {CONTENDERS[name].title} | {len(own)} | {' | '.join(cells)} | {seconds} |")
    return "\n".join(lines)


def choices_table(record, names, metric):
    """Return Markdown: the choice for each contender, its value on validation, and the number of settings tried."""
    lines = [
        f"| trainer | setting | score | {metric.name} on validation | settings tried | seconds of a trial |",
        "|---|---|---|---|---|---|",
    ]
    for name in names:
        trial, reading = record.best(name, metric)
        own = [one for one in record.trials if one.contender == name]
        setting = ", ".join(f"{key} {value}" for key, value in trial.setting.items()) or "–"
        lines.append(
            f"| {CONTENDERS[name].title} | {setting} | {reading} | {trial.values[reading]:.4f} | {len(own)} | "
            f"{statistics.median(one.seconds for one in own):.1f} |"
        )
    return "\n".join(lines)


def _spread(values, scale, digits):
    if any(value is None for value in values):
        return "–"
    mean, low, high = (f"{scale * f(values):.{digits}f}" for f in (statistics.mean, min, max))
    return mean if len(values) == 1 else f"{mean} ({low}–{high})"
