"""RS table 1 in small: what is chosen is chosen on development data, and the claims are judged pair by pair."""

import dataclasses

import pytest

from studies import STUDIES, rs_table_1
from studies.climb import Rates
from studies.memo import Memo

SCALE = rs_table_1.Scale(2, Rates(starts=(0,), steps=0), ((0, 1),))


@pytest.mark.slow
def test_the_table_in_small(monkeypatch):
    monkeypatch.setattr(rs_table_1, "METHODS", {name: rs_table_1.METHODS[name] for name in ("US", "UBS")})
    study = STUDIES["rs-table-1"](lambda line: None, True, 1, Memo())
    found = study.tables["table 1"].set_index("measure")
    assert list(found.columns) == ["US", "UBS"]
    assert float(found.loc["WS353", "US"].split()[0]) > 0.8  # topics are found
    assert found.loc["WS353, RS"].tolist() == ["0.38", "0.5"]
    assert found.loc["T", "US"] == "–" and found.loc["T", "UBS"] in ("1", "3")
    assert [(one.claim, one.draws) for one in study.verdicts] == [("UBS beats US", "pool")]


def test_the_test_sets_choose_nothing(monkeypatch):
    asked = []

    def trained(task, options, seed, look):
        asked.append((look, options["alpha"]))
        return options["alpha"] if look == "dev" else {"WS353": 0.0}

    monkeypatch.setattr(rs_table_1, "trained", trained)
    task = rs_table_1.Task("t", None, {}, "dev", "test")
    wide = dataclasses.replace(SCALE, rates=Rates(starts=(0, 1), steps=0), starts=((0, 1), (1, 1)))
    options, runs = rs_table_1.measure(task, rs_table_1.METHODS, wide, 1, lambda line: None, Memo())
    assert {one["alpha"] for one in options.values()} == {0.2, 0.1}  # at T = 1 half of it
    assert {alpha for look, alpha in asked if look == "test"} == {0.2, 0.1}
    assert len(runs["PBS", "WS353"]) == 2


def test_the_papers_rows_are_whole():
    assert {len(row) for row in rs_table_1.PAPER.values()} == {len(rs_table_1._PAPERS)}


def test_claims_name_rows_that_there_are():
    links = rs_table_1._claims(("MEN",), rs_table_1.METHODS)
    assert len(links) == 2 * len(rs_table_1._LINKS) and {claim.draws for claim in links} == {"pool", "rolling"}
    of_five = rs_table_1._claims(("MEN",), rs_table_1._FIVE)
    assert len(of_five) == 8 and all("n = 5" in claim.better for claim in of_five)
