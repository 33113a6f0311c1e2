"""Tables and figures of the papers, each made again by one command: ``python -m studies NAME``. One study a file.

A study is a function registered in `STUDIES` under its name:

    study(tell, quick, seed, memo) -> Study

`tell` is a callable for lines of progress; `quick` asks for the same in small, within seconds, as the tests do it;
`seed` is a whole number; `memo` is a `memo.Memo`, which makes and keeps the parts. Studies that need named data look
them up as `w2vneg.data.inputs.locate` does. `declare` says of which paper a study is, what it shows, and about how many
minutes it takes.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import pandas as pd

from w2vneg.ground.registry import Registry, import_all

STUDIES = Registry("study", listed="'python -m studies' lists all")


@dataclass(frozen=True)
class Study:
    """tables : dict of name -> DataFrame; figures : dict of name -> function that draws it on a matplotlib Figure
    text : str, what was done and what it shows beside the paper's figures, in Markdown
    verdicts : list of verdicts.Verdict, what became of the paper's claims
    """

    tables: dict[str, pd.DataFrame]
    text: str
    figures: dict[str, Callable] = field(default_factory=dict)
    verdicts: list = field(default_factory=list)


@dataclass(frozen=True)
class Declared:
    """paper : str, one of `PAPERS`; shows : str, table or figure
    minutes : int or None, about how long the full form takes one quiet core
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
    """Return a decorator that says what a study is of, as `Declared` has it; the innermost one of a study."""

    def enter(study):
        study.declared = Declared(paper, shows, minutes)
        return study

    return enter


def declared(name):
    """Return the `Declared` of a study; one that says nothing is named for its paper, as css-figure-1."""
    first, _, rest = name.partition("-")
    papers = {paper.lower(): paper for paper in PAPERS}
    plain = Declared(papers.get(first, "ours"), rest.replace("-", " ") if first in papers else name)
    return getattr(STUDIES[name], "declared", plain)


import_all(__path__, __name__)  # studies enter themselves
