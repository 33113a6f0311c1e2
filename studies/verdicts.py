"""Verdicts on claims: a claim holds, does not hold, or the runs are inconclusive.

A claim says that one row of a table exceeds another, or that two are equal within a margin. The rows' runs have the
same seeds, so differences are paired. The interval is Student's, at 95 % over all claims of a study together
(Bonferroni): with m claims each has 1 − .05 / m. A lead that is too small to matter does not count. A claim of equality
holds if the interval lies within the margin, and does not hold if it lies beyond.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.stats

HOLDS, FAILS, OPEN = "holds", "does not hold", "inconclusive"
MATTERS = 0.01  # of the other row's figure: a smaller lead does not count


class Unit(NamedTuple):
    """factor : float, converts a figure to the unit `name`
    least : float, the smallest lead that matters; a hundredth of the other row's figure if None
    """

    factor: float = 1.0
    name: str = ""
    least: float | None = None


@dataclass(frozen=True)
class Claim:
    """paper : str, place in the paper; text : str; figure : str, column
    better, worse : str, rows; the first is claimed to have the higher figure
    margin : float or None, in the figure's unit; if given, the claim is that the rows are equal within it
    by : float, in the figure's unit, the least lead claimed
    draws : str, how model-dependent noise is drawn: exact, pool, rolling; empty without such noise
    """

    paper: str
    text: str
    better: str
    worse: str
    figure: str
    margin: float | None = None
    draws: str = ""
    by: float = 0.0


@dataclass(frozen=True)
class Verdict:
    """paper, claim, verdict, measure : str; difference, low, high : float, in `unit`; seeds, comparisons : int
    draws : str, as in `Claim`; note : str, a remark on its rows
    """

    paper: str
    claim: str
    verdict: str
    measure: str
    difference: float
    low: float
    high: float
    unit: str
    seeds: int
    comparisons: int
    draws: str = ""
    note: str = ""


def verdict(claim, differences, least=0.0, comparisons=1, unit="", note=""):
    """Return the verdict on a claim that paired differences are above 0, or within a margin.

    Parameters
    ----------
    claim : Claim
    differences : sequence of float, two or more
    least : float, at least 0
        The smallest lead that matters: if all of the interval is below, the claim does not hold.
    comparisons : int
        Number of claims that share the 95 %.
    unit, note : str

    Returns
    -------
    Verdict
    """
    values = np.asarray(differences, np.float64)
    mean, low, high = interval(values, comparisons)
    if claim.margin is None:
        found = FAILS if high < max(least, claim.by) else HOLDS if low > claim.by else OPEN
    else:
        within, beyond = max(-low, high) <= claim.margin, max(low, -high) > claim.margin
        found = HOLDS if within else FAILS if beyond else OPEN
    numbers = mean, low, high, unit, len(values), comparisons
    return Verdict(claim.paper, claim.text, found, claim.figure, *numbers, claim.draws, note)


def interval(values, comparisons=1):
    """Return (mean, low, high) of Student's interval at 1 − .05 / comparisons; infinite with a single value."""
    values = np.asarray(values, np.float64)
    mean = float(values.mean())
    if len(values) < 2:
        return mean, -np.inf, np.inf
    half = scipy.stats.sem(values) * scipy.stats.t.ppf(1 - 0.025 / comparisons, len(values) - 1)
    return mean, float(mean - half), float(mean + half)


def cell(values, digits=3, factor=1.0):
    """Return the mean of values ± half of its 95 % interval, as text."""
    mean, low, high = interval(factor * np.asarray(values))
    return f"{mean:.{digits}f} ± {(high - low) / 2:.{digits}f}"


def judged(claims, runs, units, note=lambda row, figure: ""):
    """Return the verdicts on claims by tables of runs.

    Parameters
    ----------
    claims : sequence of Claim
    runs : dict of (row, figure) -> sequence of float, one per seed; NaN if missing
    units : dict of figure -> Unit
    note : callable(row, figure) -> str, a remark on a row

    Returns
    -------
    list of Verdict
        For claims whose rows exist and share a seed that finished.
    """
    there = [claim for claim in claims if {(claim.better, claim.figure), (claim.worse, claim.figure)} <= runs.keys()]
    found = []
    for claim in there:
        unit = units.get(claim.figure, Unit())
        better, worse = (unit.factor * np.array(runs[row, claim.figure]) for row in (claim.better, claim.worse))
        both = np.isfinite(better - worse)
        if both.any():
            least = MATTERS * abs(worse[both].mean()) if unit.least is None else unit.least
            notes = dict.fromkeys(note(row, claim.figure) for row in (claim.better, claim.worse))
            said = "; ".join(one for one in notes if one)
            found.append(verdict(claim, (better - worse)[both], least, len(there), unit.name, said))
    return found
