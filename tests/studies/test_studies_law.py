"""The study of the law, in small."""

import pytest

from studies import STUDIES, one_law
from studies.law_fit import PMI, POPULAR
from studies.memo import Memo


def test_every_failure_takes_the_alpha_of_an_objective_and_the_reference_is_first():
    objectives = one_law.objectives()
    assert {like for _, like in one_law._FAILURES.values()} <= set(objectives)
    assert next(iter(objectives)) == one_law.REFERENCE
    assert {"ml-100k", "text", "belgian"} <= {name.removeprefix("one-law-") for name in STUDIES}
    assert objectives["uniform, T = 1"]["method"] == "exact"
    assert objectives["uniform, T = 1, rolling"]["method"] == "rolling"


@pytest.mark.slow
def test_scores_settle_where_the_law_says(tmp_path):
    memo = Memo(tmp_path / "parts.jsonl")
    study = STUDIES["one-law-text"](lambda line: None, True, 1, memo)
    table = study.tables["law"].set_index("objective")
    assert list(table.index[:2]) == ["popularity", "counts and popularity"]
    table = table[table["alpha"] != "–"]
    for slope in (POPULAR, PMI):
        found = table[slope].map(lambda cell: float(cell.split()[0]))
        assert found[["popularity", "popularity, T = 1"]].to_numpy() == pytest.approx(1.0, abs=0.15)
    along = study.tables["along λ"].set_index(["objective", "λ"])
    for name in ("popularity", "popularity, T = 1"):
        best = along.loc[name]["log-likelihood"]
        assert best[1.0] > max(best[0.0], best[1.5])
        assert along.loc[name]["P@15"][1.0] > along.loc[name]["P@15"][0.0]
    assert along.loc[one_law.REFERENCE]["P@15"].nunique() == 1  # no noise, no correction
    assert {"law", "along"} == set(study.figures)
    assert {verdict.comparisons for verdict in study.verdicts} == {len(study.verdicts)}
    assert {"", "exact", "rolling"} == {verdict.draws for verdict in study.verdicts}
    number = len(memo)
    STUDIES["one-law-text"](lambda line: None, True, 1, memo)
    assert len(memo) == number
