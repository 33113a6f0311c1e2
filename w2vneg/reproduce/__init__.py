"""Tables and figures of the papers, each made again by one command: ``w2vneg reproduce NAME``. One study a file.

A study is a function registered in `STUDIES` under its name:

    study(tell, quick, seed) -> Study

`tell` is a callable for lines of progress; `quick` asks for the same in small, within seconds, as the tests do it;
`seed` is a whole number. Studies that need named data look them up as `w2vneg.data.inputs.locate` does.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import pandas as pd

from ..registry import Registry

STUDIES = Registry("study")


@dataclass(frozen=True)
class Study:
    """tables : dict of name -> DataFrame; figures : dict of name -> function that draws it on a matplotlib Figure
    text : str, what was done and what it shows beside the paper's figures, in Markdown
    """

    tables: dict[str, pd.DataFrame]
    text: str
    figures: dict[str, Callable] = field(default_factory=dict)


from . import cis_shapes, css_figure_1, css_figure_2, kernel_figure_2  # noqa: E402, F401  (they enter themselves)
