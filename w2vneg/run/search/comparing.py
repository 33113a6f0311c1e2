"""Compare runs over the same seeds: means with intervals, and paired differences from the first run.

Seeds often matter more than options. Two runs with the same seed share their initial draws, so their difference may
vary less than either run: its interval shows whether they differ. Intervals are Student's at 95 %, over seeds, and say
nothing about other data. The p of a difference is from a paired t-test with Holm's correction (1979) over all
differences of the table, because some of many look large by chance. If the difference is the same for all seeds, as
with ranks of few held-out pairs, neither interval nor p is defined.
"""

import re
from dataclasses import dataclass, field, replace

import numpy as np

from ...ground.errors import InputError
from ...ground.files.bounded import as_fields, read_json
from ..validation import Validation
from .trials import by_combination, key_of

SAVED = "compare.json"
_ROUNDING = 1e-12
PAIRED = (
    "Differences are from the first run, paired by seed; p is from paired t-tests with Holm's correction; – no p "
    "value: one seed, or all differences are equal."
)


@dataclass(frozen=True)
class Compared:
    """One run over its seeds, by one metric on one set of data; all numbers are None if it failed."""

    name: str
    metric: str
    data: str  # empty if there is one set only
    values: dict  # seed -> float, the metric
    mean: float | None
    low: float | None  # of the interval; None with one seed
    high: float | None
    difference: float | None  # from the first run that did not fail, over shared seeds; None for that run
    difference_low: float | None
    difference_high: float | None
    p: float | None  # of the difference
    seconds: float | None  # mean
    reason: str | None = None  # why it failed
    l2: dict = field(default_factory=dict)  # seed -> str, the penalty that a run chose, if left open


class Measures(Validation):
    """Several validations as one: an evaluation reports the figures of all, and the first one decides."""

    def __init__(self, parts):
        first = parts[0]
        how = {"patience": first.patience, "every": first.every, "score": first.score}
        super().__init__(first.held, metric=first.metric.name, **how)
        self.parts = parts

    @property
    def settings(self):
        others = [{name: kept for name, kept in part.settings.items() if name != "files"} for part in self.parts[1:]]
        return self.parts[0].settings | {"also": others}  # files may move

    def figures(self, model):
        """Return the figures of all parts (dict of str -> float)."""
        found = {}
        for part in self.parts:
            if part.metric.name not in found:
                found |= part.figures(model)
        return found


def compared(trials, combinations, names, metric, data=""):
    """Summarise the trials of several runs, in the given order: list of `Compared`, with uncorrected p.

    trials : list of `trials.Trial`; combinations : list of dict, the options of each run; names : list of str, of each
    metric : str, the figure to compare; data : str, what the trials were trained on
    """
    found, first, groups = [], {}, by_combination(trials)
    for options, name in zip(combinations, names, strict=True):
        own = groups.get(key_of(options), [])
        failed = next((trial.reason for trial in own if trial.reason is not None), None)
        if failed is not None or not own:
            found.append(Compared(name, metric, data, {}, *(None,) * 8, reason=failed or "was not run"))
            continue
        values = {trial.seed: trial.figures[metric] for trial in own}
        paired = [value - first[seed] for seed, value in values.items() if seed in first]
        first = first or values
        seconds = float(np.mean([trial.seconds for trial in own]))
        figures = *student(list(values.values()))[:3], *student(paired), seconds
        l2 = {trial.seed: trial.l2 for trial in own if trial.l2}
        found.append(Compared(name, metric, data, values, *figures, l2=l2))
    return found


def corrected(runs):
    """Return the runs (list of `Compared`) with Holm's correction of all their p: the k-th smallest times m − k + 1."""
    order = sorted((run.p, place) for place, run in enumerate(runs) if run.p is not None)
    found, least = list(runs), 0.0
    for k, (p, place) in enumerate(order):
        least = max(least, min(1.0, p * (len(order) - k)))
        found[place] = replace(runs[place], p=least)
    return found


def groups(runs):
    """Group runs by data and metric, in order: list of lists of `Compared`."""
    found = {}
    for run in runs:
        found.setdefault((run.data, run.metric), []).append(run)
    return list(found.values())


def replaced(runs):
    """Return the baselines that replace failed first runs of their data and metric (list of `Compared`)."""
    bases = [(group[0], next((run for run in group if run.reason is None), None)) for group in groups(runs)]
    return [base for first, base in bases if base is not None and base is not first]


def said_below(runs):
    """Return the notes below a table of runs: `PAIRED`, replaced baselines and chosen penalties."""
    names = dict.fromkeys((run.name, run.data) for run in replaced(runs))
    said = [f"The first run failed{f' on {on}' if on else ''}: differences are from {name}." for name, on in names]
    chosen = {(run.name, run.data): "; ".join(dict.fromkeys(run.l2.values())) for run in runs if run.l2}
    said += [f"{name} chose --l2 {l2}{f' on {on}' if on else ''}." for (name, on), l2 in chosen.items()]
    return " ".join([PAIRED, *said])


def read_compared(folder):
    """Read the comparison saved in a folder (list of `Compared`); InputError if it is damaged."""
    path = f"{folder}/{SAVED}"
    try:
        runs = [Compared(**as_fields(Compared, run)) for run in read_json(path)["runs"]]
        runs = [replace(run, values=_by_seed(run.values, float), l2=_by_seed(run.l2, str)) for run in runs]
        if not runs or any(run.reason is None and None in (run.values or None, run.mean, run.seconds) for run in runs):
            raise ValueError("no runs, or one without values")
        return runs
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
        raise InputError(f"{path}: not what 'w2vneg compare' writes ({error}); run it again") from error


def _by_seed(found, kind):
    return {int(seed): kind(value) for seed, value in found.items()}


def student(values):
    """Return a mean, the ends of its 95 % interval and the p for mean 0, by Student's t, four floats.

    None for values that are undefined for fewer than two numbers, or for equal ones.
    """
    if not values:
        return None, None, None, None
    mean = float(np.mean(values))
    if len(values) == 1 or np.ptp(values) <= _ROUNDING:
        return mean, None, None, None
    from scipy import stats

    found = stats.ttest_1samp(values, 0)
    return mean, *map(float, found.confidence_interval()), float(found.pvalue)


def as_rows(runs):
    """Return a header and a row of text for each run; data and metrics have columns if there are several."""
    shown = [name for name in ("data", "metric") if len({getattr(run, name) for run in runs}) > 1]
    figure = "mean" if "metric" in shown else runs[0].metric
    lines = [[*shown, "run", figure, "95 % interval", "difference", "95 % interval", "p", "seeds", "seconds"]]
    bases = replaced(runs)
    for run in runs:
        line = [*(getattr(run, name) for name in shown), run.name]
        if run.reason is not None:
            lines.append([*line, "–", run.reason, "–", "–", "–", "0", "–"])
            continue
        line += [f"{run.mean:.4f}", _span(run.low, run.high, ".4f")]
        none = "baseline" if run in bases else "–"
        line += [none if run.difference is None else f"{_rounded(run.difference):+.4f}"]
        line += [_span(run.difference_low, run.difference_high, "+.4f"), _shown_p(run.p)]
        lines.append([*line, str(len(run.values)), f"{run.seconds:.1f}"])
    return lines


def as_csv(runs):
    """Return CSV text for other programs: a line for each run and seed, with every metric and the chosen penalty."""
    import pandas

    metrics, chosen = dict.fromkeys(run.metric for run in runs), ["l2"] * any(run.l2 for run in runs)
    columns = ["data", "run", "seed", *metrics, *chosen]
    cells = [
        {"data": run.data, "run": run.name, "seed": seed, run.metric: value, "l2": run.l2.get(seed)}
        for run in runs
        for seed, value in run.values.items()
    ]
    table = pandas.DataFrame(cells, columns=columns).groupby(columns[:3], sort=False).first().reset_index()
    several = len({run.data for run in runs}) > 1
    return table.to_csv(index=False, columns=None if several else columns[1:], lineterminator="\n")


def as_latex(rows):
    """Return a header and rows of text as a LaTeX table with booktabs rules."""
    lines = [" & ".join(map(_escaped, row)) + r" \\" for row in rows]
    columns = ("l" * (rows[0].index("run") + 1)).ljust(len(rows[0]), "r")
    body = [r"\toprule", lines[0], r"\midrule", *lines[1:], r"\bottomrule"]
    return "\n".join([rf"\begin{{tabular}}{{{columns}}}", *body, r"\end{tabular}", ""])


_LATEX = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "…": r"\ldots{}", "–": "--"}
_SIGNS = str.maketrans(_LATEX | {sign: "\\" + sign for sign in "&%$#_{}"})


def _escaped(cell):
    return re.sub(r"(^| )([+-])(?=\d)", r"\1$\2$", cell.translate(_SIGNS))


def _span(low, high, layout):
    if low is None:
        return "–"
    ends = [(_rounded(end), end) for end in (low, high)]
    signed = layout.startswith("+") and any(near for near, _ in ends)  # an end that rounds to 0 shows its sign
    return " … ".join(f"{end:+.1g}" if signed and end and not near else f"{near:{layout}}" for near, end in ends)


def _shown_p(p):
    """Return p with two digits, or as many as show on which side of 0.05 it is; – for None."""
    texts = (f"{p:.{digits}g}" for digits in range(2, 18))
    return "–" if p is None else next(text for text in texts if float(text) != 0.05 or p == 0.05)


def _rounded(value):
    """Return the value rounded to four places, with 0 instead of −0."""
    return round(value, 4) + 0.0
