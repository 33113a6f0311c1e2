"""The papers' figures on next items and next words, to compare with ours: RS table 2, CIS tables 2 and 7.

Their data are larger (MovieLens with 17,128 films) or different (text8), and their splits are not described: only
orders of methods may compare, not figures. In percent; likelihood in 1e-4.
"""

import dataclasses

import numpy as np
import pandas as pd

from .verdicts import Claim, Unit

_RS = ("FS (MLE)", "SS", "US (UniS)", "UBS", "PS", "PBS")
_CIS = ("FS (MLE)", "US (UniS)", "PopS", "SP", "CIS")


def _figures(source, methods, **columns):
    return {
        f"{column.replace('_', '@')}, {source}": dict(zip(methods, row, strict=True)) for column, row in columns.items()
    }


_RS_MOVIES = _figures(
    "RS",
    _RS,
    P_5=(0.4, 0.5, 0.7, 0.7, 0.7, 1.0),
    P_15=(1.3, 1.7, 2.3, 2.6, 2.2, 3.0),
    P_50=(4.9, 5.5, 6.1, 7.0, 6.2, 7.3),
    MPR=(91.7, 91.5, 89.0, 92.5, 92.2, 92.1),
    likelihood=(5.1, 4.5, 6.0, 6.0, 6.5, 6.5),
)
_CIS_MOVIES = _figures("CIS", _CIS, P_1=(2.2, 1.4, 2.5, 2.5, 3.7))
PAPERS = {  # name of the data -> column -> method -> figure
    "belgian": _figures("CIS", _CIS, P_1=(10.8, 10.2, 10.6, 10.8, 11.2)),
    "uk": _figures("CIS", _CIS, P_1=(2.7, 2.4, 2.4, 2.5, 3.1)),
    "ml-100k": _CIS_MOVIES | _RS_MOVIES,
    "ml-1m": _CIS_MOVIES | _RS_MOVIES,
    "text-12k": _figures("CIS", _CIS, P_1=(7.2, 6.0, 7.2, 8.9, 8.9), MPR=(85.1, 87.4, 87.6, 88.2, 88.7)),
    "text-15k": _figures(
        "RS",
        _RS,
        P_5=(4.5, 4.2, 4.4, 5.1, 4.1, 4.6),
        P_15=(13.1, 12.0, 12.5, 14.2, 11.6, 14.5),
        P_50=(31.9, 31.2, 31.5, 34.2, 31.5, 34.5),
        MPR=(87.2, 88.2, 89.7, 90.7, 89.4, 90.8),
        likelihood=(165.0, 170.0, 190.0, 190.0, 180.0, 180.0),
    ),
    "text-30k": _figures("CIS", _CIS, P_1=(7.5, 5.5, 7.1, 8.6, 9.3), MPR=(89.4, 90.6, 90.7, 88.7, 91.6)),
}


SHOWN = {  # name of the data -> (paper, table, about how many minutes of one core)
    "belgian": ("CIS", "table 7", 200),
    "uk": ("CIS", "table 7", 120),
    "ml-100k": ("RS", "table 2", 35),
    "ml-1m": ("CIS", "table 7", 120),
    "text-12k": ("CIS", "table 2", 200),
    "text-15k": ("RS", "table 2", 250),
    "text-30k": ("CIS", "table 2", 400),
}

_FS, _US, _LL = "FS (MLE)", "US (UniS)", "log-likelihood, fitted"
_DRAWN = ("UBS", "PBS", "SP", "CIS")
_CLAIMS = (
    Claim("RS table 2", "Boltzmann noise over popularity ranks better than the full softmax", "PBS", _FS, "P@15"),
    Claim("RS table 2", "Boltzmann noise over uniform ranks better than the full softmax", "UBS", _FS, "P@15"),
    Claim("RS table 2", "popularity noise has the better MPR than uniform noise", "PS", _US, "MPR"),
    Claim("RS table 2", "Boltzmann noise improves on uniform noise", "UBS", _US, "P@15"),
    Claim("RS table 2", "Boltzmann noise improves on popularity noise", "PBS", "PS", "P@15"),
    Claim("RS table 2", "relaxed softmax is likelier than the full softmax", _US, _FS, "eq. 9, trained"),
    Claim("CIS tables 2, 7", "CIS ranks better than self-play", "CIS", "SP", "P@1"),
    Claim("CIS tables 2, 7", "CIS ranks better than the full softmax", "CIS", _FS, "P@1"),
    Claim("CIS tables 2, 7", "self-play ranks better than uniform noise", "SP", _US, "P@1"),
    Claim("ours, corrected", "popularity noise + log Q beats uniform noise", "PS + log Q", _US, "P@15"),
    Claim("ours, corrected", "popularity noise + log Q beats the full softmax", "PS + log Q", _FS, "P@15"),
    Claim("ours, corrected", "Boltzmann noise improves on popularity noise", "PBS + log Q", "PS + log Q", "P@15"),
    Claim("ours, corrected", "Boltzmann noise + log Q beats the full softmax", "PBS + log Q", _FS, "P@15"),
    Claim("ours, corrected", "popularity noise + log Q is likelier than the full softmax", "PS + log Q", _FS, _LL),
    Claim("ours, corrected", "Boltzmann noise over uniform is likelier than uniform noise", "UBS", _US, _LL),
    Claim("ours, corrected", "CIS is likelier than self-play", "CIS", "SP", _LL),
)


def rolling(row):
    """Return the name of the row with rolling candidates; unchanged if the row does not draw from the model."""
    method, added, rest = row.partition(" + ")
    return f"{method}, rolling{added}{rest}" if method in _DRAWN else row


def claims_of(method="exact"):
    """Return the claims; those on model-dependent noise twice, with draws of this method and with rolling ones."""
    found = []
    for claim in _CLAIMS:
        old = {"better": rolling(claim.better), "worse": rolling(claim.worse)}
        drawn = old != {"better": claim.better, "worse": claim.worse}
        found.append(dataclasses.replace(claim, draws=method if drawn else ""))
        found += [dataclasses.replace(claim, draws="rolling", **old)] if drawn else []
    return found


def negatives_claims(names):
    """Return RS's claim that 5 negatives are best, for each method by its own scores and with log Q added."""
    found = []
    for name in names:
        for added in ("", " + log Q") if name[0] == "P" else ("",):
            for other in (1, 20):
                better, worse = (f"{name}, n = {n}{added}" for n in (5, other))
                text = f"5 negatives are best: better than {other}, {name}{added}"
                found.append(Claim("RS §3.2", text, better, worse, "P@15", draws="exact" if name in _DRAWN else ""))
    return found


_POINTS = Unit(100.0, "points")
UNITS = {f"P@{k}": _POINTS for k in (1, 5, 15, 50)} | {
    "MPR": _POINTS,
    "eq. 9, trained": Unit(1e4, "1e-4"),
    _LL: Unit(1.0, "nats", 0.005),
}
_OURS = {"likelihood": ("eq. 9, trained", 1e4)}  # the papers' figures with another name here


def beside_papers(name, measured):
    """Return the papers' figures on these data next to the means of ours.

    Parameters
    ----------
    name : str, of `item_tasks.INPUTS`
    measured : next_item.Measured

    Returns
    -------
    DataFrame
        A row for each of our methods that a paper has, also with log Q added; a dash if the paper has no figure.
    """
    papers = PAPERS[name]
    methods = {method for column in papers.values() for method in column}
    rows = []
    for ours in measured.rows:
        if ours.removesuffix(" + log Q") not in methods:
            continue
        row = {"method": ours}
        for column, figures in papers.items():
            figure = column.split(",")[0]
            own, factor = _OURS.get(figure, (figure, 100.0))
            row[column] = f"{figures[ours]:g}" if ours in figures else "–"
            row[f"{figure}, here"] = f"{factor * np.mean(measured.runs[ours, own]):.2f}"
        rows.append(row)
    return pd.DataFrame(rows)
