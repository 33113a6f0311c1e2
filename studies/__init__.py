"""Reproductions of the papers' tables and figures, one command each: ``python -m studies NAME``.

A study is a function registered in `STUDIES` under its name:

    study(tell, quick, seed, memo) -> Study

`tell` receives lines of progress; `quick` requests a small version that runs in seconds, as in the tests; `seed` is an
int; `memo` is a `memo.Memo`, which computes and stores the parts. Studies find named data through
`w2vneg.data.inputs.locate`. `declare` states a study's paper, what it shows, and about how many minutes it takes.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import pandas as pd

from w2vneg.ground.registry import Registry, import_all

STUDIES = Registry("study", listed="'python -m studies' lists all")


@dataclass(frozen=True)
class Study:
    """tables : dict of name -> DataFrame; figures : dict of name -> function that draws it on a matplotlib Figure
    text : str, the method and the results next to the paper's figures, in Markdown
    verdicts : list of verdicts.Verdict, on the paper's claims
    """

    tables: dict[str, pd.DataFrame]
    text: str
    figures: dict[str, Callable] = field(default_factory=dict)
    verdicts: list = field(default_factory=list)


@dataclass(frozen=True)
class Declared:
    """paper : str, one of `PAPERS`; shows : str, table or figure
    minutes : int or None, about how long the full study takes on one idle core
    """

    paper: str
    shows: str
    minutes: int | None = None


PAPERS = {
    "RS": "Tanielian and Vasile, *Relaxed Softmax for learning from Positive and Unlabeled data*, 2019",
    "CIS": "*Partially Mutual Exclusive Softmax for Positive and Unlabeled Data*",
    "CSS": "Botev, Zheng and Barber, *Complementary Sum Sampling*, 2017",
    "kernel": "Blanc and Rendle, *Adaptive Sampled Softmax with Kernel Based Sampling*, 2018",
    "notes": "notes on noise contrastive estimation and negative sampling",
    "ours": "what the papers do not have",
}


def declare(paper, shows, *, minutes=None):
    """Return a decorator that attaches a `Declared` to a study; it must be the innermost one."""

    def enter(study):
        study.declared = Declared(paper, shows, minutes)
        return study

    return enter


def declared(name):
    """Return the `Declared` of a study; if it has none, derive it from the name, as in css-figure-1."""
    first, _, rest = name.partition("-")
    papers = {paper.lower(): paper for paper in PAPERS}
    plain = Declared(papers.get(first, "ours"), rest.replace("-", " ") if first in papers else name)
    return getattr(STUDIES[name], "declared", plain)


import_all(__path__, __name__)  # studies register themselves
