"""Tables of codes and lists of tags, as hospitals and job boards export them."""

import json

import numpy as np
import pytest

from w2vneg import Input
from w2vneg.data.inputs import encode_input
from w2vneg.data.readers.layout import Column
from w2vneg.data.readers.tables import Tables
from w2vneg.ground.errors import InputError, did_you_mean


def encoded(path, lines, source="ratings", **options):
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return encode_input(Input(source, str(path), **options), min_count=1)


def test_dates_may_be_padded_with_blanks(tmp_path):
    rows = ["u,dt,code", "1,2014-02-01 ,A", '1," 2014-01-01",B', "2,2014-02-01,A", "2,2014-03-01  ,C"]
    (tmp_path / "t.csv").write_text("\n".join(rows))
    columns = [Column("u", "--user-col", "name", "u"), Column("dt", "--time-col", "time", "dt")]
    times = [batch.columns["dt"] for batch in Tables(str(tmp_path / "t.csv"), columns)]
    days = np.concatenate(times) / 86400
    assert (days - days[1]).tolist() == [31, 0, 31, 59]


@pytest.mark.parametrize("dt", ["20140101", "2014-01-01"])
def test_a_time_that_is_a_point_is_missing(tmp_path, dt):
    rows = ["u,dt,code", f"1,{dt},A", "1,.,B", f"2,{dt},A", f"2,{dt},B"]
    columns = {"user_col": "u", "item_col": "code", "time_col": "dt"}
    with pytest.raises(InputError, match=r"missing.*; leave such rows out with --bad-rows skip"):
        encoded(tmp_path / "t.csv", rows, **columns)
    encoded(tmp_path / "t.csv", rows, **columns, bad_rows="skip")


@pytest.mark.parametrize(
    ("name", "warns"), [(".", True), ("NULL", True), ("nan", True), ("NA", False), ("none", False)]
)
def test_an_item_that_may_be_missing_is_said(tmp_path, name, warns):
    found = encoded(tmp_path / "t.csv", ["user,code", "1,A", f"1,{name}", "2,A", f"2,{name}", "3,A", "3,B"])
    warning = f"2 rows have {name!r} in 'code'; if it means that the name is missing, remove them"
    assert found.report.hints == ((warning,) if warns else ())


def test_an_empty_cell_has_its_remedy(tmp_path):
    rows = ["user,code", "1,A", "1,B", "2,A", "2,", "3,A", "3,B"]
    with pytest.raises(InputError, match=r"t.csv:5: .* is empty; give it a name, or leave .* with --bad-rows skip"):
        encoded(tmp_path / "t.csv", rows)


def test_lists_of_tags_and_documents_of_lists_have_programs(tmp_path):
    with pytest.raises(InputError, match=r"lists of tags, as <a><b>.* awk "):
        encoded(tmp_path / "tags.txt", ["<python><pandas>", "<c++><qt>", "<c#><.net>"] * 10, "baskets")
    document = json.dumps([["Python", "SQL"], ["C", "C++"]] * 20)
    with pytest.raises(InputError, match=r"a JSON document of lists.* for row in json.load"):
        encoded(tmp_path / "lists.json", [document], "baskets")


def test_a_name_in_another_case_is_found_first():
    known = ["pandas", "A/B_testing", "Vendas_(B2B)"]
    assert "'A/B_testing'" in did_you_mean("a/b testing", known) and "'Vendas_(B2B)'" in did_you_mean(
        "vendas (b2b)", known
    )
