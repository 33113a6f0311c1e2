"""The study of the law, in small."""

import dataclasses

import numpy as np
import pytest

from studies import STUDIES, one_law
from studies.memo import Memo


def test_every_failure_takes_the_alpha_of_an_objective_and_the_reference_is_one():
    assert {like for _, like in one_law.FAILURES.values()} | {one_law.REFERENCE} <= set(one_law.OBJECTIVES)
    assert {"ml-100k", "text", "belgian"} <= {name.removeprefix("one-law-") for name in STUDIES}


@pytest.mark.slow
def test_scores_settle_where_the_law_says(monkeypatch, tmp_path):
    few = dataclasses.replace(
        one_law.QUICK, objectives=(one_law.REFERENCE, "popularity", "popularity, T = 1"), epochs=3
    )
    monkeypatch.setattr(one_law, "QUICK", few)
    memo = Memo(tmp_path / "parts.jsonl")
    study = STUDIES["one-law-text"](lambda line: None, True, 1, memo)
    slopes = study.tables["law"].set_index("objective")["slope"].map(lambda cell: float(cell.split()[0]))
    assert slopes[["popularity", "popularity, T = 1"]].to_numpy() == pytest.approx(1.0, abs=0.15)
    along = study.tables["along λ"].set_index(["objective", "λ"])
    for name in ("popularity", "popularity, T = 1"):
        best = along.loc[name]["log-likelihood"]
        assert best[1.0] > max(best[0.0], best[1.5])
        assert along.loc[name]["P@15"][1.0] > along.loc[name]["P@15"][0.0]
    assert np.allclose(np.diff(along.loc[one_law.REFERENCE]["P@15"]), 0.0)  # no noise, no correction
    assert {"law", "along"} == set(study.figures)
    assert all(verdict.comparisons == 4 for verdict in study.verdicts[:4])
    number = len(memo)
    STUDIES["one-law-text"](lambda line: None, True, 1, memo)
    assert len(memo) == number
