"""Tables of codes and lists of tags, as hospitals and job boards export them."""

import csv
import json
import re
import shlex
import subprocess
import sys
from datetime import date, timedelta

import numpy as np
import pandas as pd
import pytest

from w2vneg import Input
from w2vneg.data.inputs import encode_input
from w2vneg.data.readers.layout import Column
from w2vneg.data.readers.tables import Tables
from w2vneg.data.splits import Until, split_data
from w2vneg.ground.errors import DoubtError, InputError, did_you_mean


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


@pytest.mark.parametrize(
    ("sign", "said"),
    [
        (" / ", r"/ stands between blanks.* awk '\{gsub\(\" \+\[/\] \+\", \"\\t\"\)\} 1'"),
        (" \u2022 ", "\u2022 stands between blanks"),
        (" | ", None),
        (", and ", "choose --delimiter comma or --delimiter blank"),
    ],
)
def test_signs_between_blanks_are_no_items(tmp_path, sign, said):
    lines = [sign.join(f"{'ABCDEFGH'[n * k % 8]}" for k in (1, 2, 3)) for n in range(1, 40)]
    if said is None:
        assert encoded(tmp_path / "b.txt", lines, "baskets").report.columns[0].startswith("separated by")
        return
    with pytest.raises(DoubtError, match=said):
        encoded(tmp_path / "b.txt", lines, "baskets")


def test_blanks_that_leave_commas_at_names_are_doubtful(tmp_path):
    lines = [f"S{n % 7}, S{n % 5}b and S{n % 3}c" if n % 3 else f"S{n % 7} and S{n % 4}d" for n in range(60)]
    with pytest.raises(DoubtError, match="comma"):
        encoded(tmp_path / "b.txt", lines, "baskets")


@pytest.mark.parametrize("header", ["id,day,DX1,DX2,DX3", "DX1,DX2,DX3", "dx_0,dx_1,dx_2,note"])
def test_the_header_of_a_wide_table_is_no_basket(tmp_path, header):
    names = header.lower().split(",")
    rows = [",".join(_cell(name, n) for name in names) for n in range(40)]
    with pytest.raises(DoubtError, match="looks like a header, with items in columns") as caught:
        encoded(tmp_path / "wide.csv", [header, *rows], "baskets")
    found = _made(str(caught.value), tmp_path / "wide.csv")
    assert len(found.vocab) == 9
    assert encoded(tmp_path / "own.csv", [header, *rows], "baskets", plain=True, delimiter=",")


def _cell(name, n):
    if not name.startswith("dx"):
        return {"id": str(1000 + n // 2), "day": f"2024-01-{n % 28 + 1:02}", "note": ""}[name]
    at = int(name.strip("dx_"))
    return f"c{(n * (at + 2) + at) % 9}" if at != 1 or n % 4 else ""


def _made(message, path):
    """Run the command of a message on a file, and read what it writes."""
    command = re.search(r"(?:these|without it): (.*) \(give --plain", message)[1]
    command = command.replace("FILE", shlex.quote(str(path))).replace("python ", f"{shlex.quote(sys.executable)} ", 1)
    out = command.rpartition("> ")[2]
    subprocess.run(command, shell=True, check=True, cwd=path.parent)
    return encode_input(Input("baskets", str(path.parent / out)), min_count=1)


@pytest.mark.parametrize("header", [True, False])
@pytest.mark.parametrize(("sign", "delimiter"), [(";", ","), (",", "\t"), (", ", "|"), ("json", ",")])
def test_a_table_with_lists_in_its_cells_has_a_program(tmp_path, header, sign, delimiter):
    lists = [[f"k{n * k % 29}" for k in (1, 3, 4 + n // 29)][: 2 + n % 2] for n in range(1, 60)]
    cells = [json.dumps(own) if sign == "json" else sign.join(own) for own in lists]
    with (tmp_path / "t.csv").open("w", newline="") as file:
        rows = csv.writer(file, delimiter=delimiter)
        rows.writerows([["id", "day", "codes"]] * header)
        rows.writerows([n, f"2024-01-{n % 28 + 1:02}", cell] for n, cell in enumerate(cells))
    given = Input("baskets", str(tmp_path / "t.csv"))
    with pytest.raises(DoubtError, match="column 3 holds lists") as caught:
        encode_input(given, min_count=1)
    found = _made(str(caught.value), tmp_path / "t.csv")
    assert len(found.vocab) == 29
    assert found.report.groups == len(lists)


def test_first_columns_that_are_no_items_are_cut_off(tmp_path):
    rows = [f"{n},2024-01-{n % 28 + 1:02},a{n % 5},b{n % 3}" + ",c" * (n % 2) for n in range(60)]
    with pytest.raises(DoubtError, match=r"a date in the same place.*cut -d, -f3- FILE"):
        encoded(tmp_path / "b.csv", rows, "baskets")


def test_frequent_items_that_mean_missing_are_said(tmp_path):
    lines = [f"a{n % 5},b{n % 3},NA" for n in range(30)]
    found = encoded(tmp_path / "b.csv", lines, "baskets")
    assert found.report.hints == ("30 items are 'NA'; if it means that an item is missing, remove them",)
    assert encoded(tmp_path / "b.csv", [line[:-3] for line in lines], "baskets").report.hints == ()


@pytest.mark.parametrize(
    ("form", "refused"), [("%d%m%Y", True), ("%m%d%Y", True), ("%Y%m%d", False), ("%y%m%d", False)]
)
def test_dates_with_the_year_last_are_refused(tmp_path, form, refused):
    days = [date(2015, 1, 5) + timedelta(days=n) for n in range(0, 400, 9)]
    rows = ["user,item,day", *(f"u{n % 7},i{n % 5},{day:{form}}" for n, day in enumerate(days))]
    if not refused:
        assert encoded(tmp_path / "t.csv", rows, time_col="day").times is not None
        return
    with pytest.raises(InputError, match="dates with the year last, which are not in the order"):
        encoded(tmp_path / "t.csv", rows, time_col="day")


def test_rounded_ids_and_codes_read_as_floats_are_said(tmp_path):
    rows = ["user,item", *(f"u{n % 7},{n % 3 + 1}.5E+12" for n in range(30))]
    assert "3 names in 'item' look like long numbers that" in encoded(tmp_path / "t.csv", rows).report.hints[0]
    frame = pd.DataFrame({"user": [1, 1, 2, 2], "item": [250.0, 401.9, 250.0, 414.0]})
    hints = encode_input(Input("ratings", frame), min_count=1).report.hints
    assert "3 names in 'item' were floats" in hints[0]
    whole = frame.assign(item=[250.0, 401.0, 250.0, 414.0])
    assert encode_input(Input("ratings", whole), min_count=1).report.hints == ()


def test_vectors_are_no_text(tmp_path):
    lines = ["3 4", *(f"w{n} .1 -0.25 1e-05 {n}.5" for n in range(3))]
    (tmp_path / "v.vec").write_text("\n".join(lines))
    for source in ("corpus", "baskets"):
        with pytest.raises(InputError, match="looks like word vectors"):
            encode_input(Input(source, str(tmp_path / "v.vec")), min_count=1)


def test_lists_one_level_down_have_a_program(tmp_path):
    lines = [json.dumps({"id": n, "order": {"items": [{"sku": f"s{n}"}]}}) for n in range(30)]
    with pytest.raises(InputError, match=r"x\['sku'\].*get\('order'\) or \{\}\).get\('items'\)"):
        encoded(tmp_path / "o.jsonl", lines, "baskets")


def test_an_empty_part_names_dates(tmp_path):
    rows = ["user,item,t", *(f"u{n % 3},i{n % 5},2015-01-{n + 1:02}" for n in range(20))]
    data = encoded(tmp_path / "t.csv", rows, time_col="t")
    with pytest.raises(InputError, match=r"from 1420502400, 2015-01-06 to 1421712000, 2015-01-20"):
        split_data(data, "time", Until((1.7e9,)), 1, kind="ratings")


def test_a_name_in_another_case_is_found_first():
    known = ["pandas", "A/B_testing", "Vendas_(B2B)"]
    assert "'A/B_testing'" in did_you_mean("a/b testing", known) and "'Vendas_(B2B)'" in did_you_mean(
        "vendas (b2b)", known
    )
