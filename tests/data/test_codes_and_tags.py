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


@pytest.mark.parametrize(
    ("head", "users", "items"),
    [
        ("plays.song_id,plays.user_id,plays.cnt", 1, 0),
        ("value.ts,value.item_id,value.user_id", 2, 1),
        ("events.event_id,events.user_id,events.song_id", 1, 2),
        ("pos,track_uri,pid", 2, 1),
        ("appid,steamid,playtime_forever", 1, 0),
        ("player_id,game_id,hours", 0, 1),
        ("session_id,tracks,n", 0, 1),
    ],
)
def test_columns_of_exports_are_found_by_name(tmp_path, head, users, items):
    rows = [f"{n % 7},{100 + n % 11},{1000 + n % 5}" for n in range(40)]
    found = encoded(tmp_path / "t.csv", [head, *rows], rectangular=True)
    cells = list(zip(*(row.split(",") for row in rows), strict=True))
    assert {*found.vocab.words} == {*cells[users]}
    assert {*found.vocab_out.words} == {*cells[items]}


@pytest.mark.parametrize("time", ["17000{:05}", "17000{:05}000", "202401{:02}"])
def test_times_without_a_name_are_no_users(tmp_path, time):
    rows = ["\t".join([time.format(10 + n % 20), f"{n % 7}", f"{n * n % 11}"]) for n in range(60)]
    for source in ("ratings", "pairs"):
        with pytest.raises(DoubtError, match=r"column 1, .* holds times.*-col 2 .*-col 3"):
            encoded(tmp_path / "t.tsv", rows, source)
    ids = [f"{76561197960265728 + n % 7 * 10**6}\t{n % 13}\t{n % 5}" for n in range(60)]  # of Steam
    assert len(encoded(tmp_path / "ids.tsv", ids, rectangular=True).vocab) == 7


@pytest.mark.parametrize("between", ["\t", ": "])
def test_lines_of_items_are_no_events(tmp_path, between):
    sign = "," if between == "\t" else " "
    rows = [f"s{n}{between}" + sign.join(f"t{n * k % 17}" for k in (1, 2, 3, 5)) for n in range(40)]
    with pytest.raises(DoubtError, match=r"columns hold the same names, like lines of items, which --baskets reads"):
        encoded(tmp_path / "t.txt", rows)


def test_a_row_with_an_id_that_never_recurs_is_a_header(tmp_path):
    found = encoded(tmp_path / "t.csv", ["gamer_id,level", *(f"g{n % 7},l{n % 5}" for n in range(40))])
    assert "gamer_id" not in found.vocab and len(found.vocab) == 5


def test_a_pivot_table_has_a_program_that_keeps_zeros(tmp_path):
    counts = np.random.default_rng(1).integers(0, 4, (12, 9))
    frame = pd.DataFrame(counts, [f"{n:04}" for n in range(12)], range(9)).rename_axis(index="user_id")
    frame.to_csv(tmp_path / "pivot.csv")
    with pytest.raises(DoubtError, match="looks like a matrix") as caught:
        encode_input(Input("ratings", str(tmp_path / "pivot.csv"), rectangular=True))
    command = re.search(r'(python -c "[^"]*")', str(caught.value))[1].replace("FILE", "pivot.csv")
    subprocess.run(command.replace("python", shlex.quote(sys.executable), 1), shell=True, check=True, cwd=tmp_path)
    found = pd.read_csv(tmp_path / "pairs.csv", dtype={"user": str})
    assert len(found) == np.count_nonzero(counts) and found.rating.sum() == counts.sum()
    assert found.user[0] == "0000"


def test_nested_documents_have_programs(tmp_path):
    lines = [{"session_id": f"s{n}", "user_id": f"u{n % 9}", "hits": [{"item_id": f"i{n % 5}"}]} for n in range(30)]
    path = tmp_path / "n.jsonl"
    with pytest.raises(DoubtError, match="a user and an item per row") as caught:
        encoded(path, map(json.dumps, lines), rectangular=True)
    program = re.search(r'a user and an item per row with: python -c "([^"]*)"', str(caught.value))[1]
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, input=path.read_text(), capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[3] == "u3\ti3"
    document = {"info": {"slice": "0-2"}, "playlists": [{"pid": n, "tracks": [{"track_uri": "t"}]} for n in range(3)]}
    with pytest.raises(InputError, match=r"json.load\(sys.stdin\)\['playlists'\]"):
        encoded(tmp_path / "mpd.json", json.dumps(document, indent=1).split("\n"))
    with pytest.raises(InputError, match=r"lists by name.* json.load\(sys.stdin\).values\(\).*\.items\(\)"):
        encoded(tmp_path / "by.json", [json.dumps({f"u{n}": ["a", "b"] for n in range(3)})])
    with pytest.raises(DoubtError, match="json_normalize"):
        encoded(tmp_path / "k.jsonl", [json.dumps({"value": {"user": n, "item": n}}) for n in range(9)])


def test_lists_in_brackets_and_dicts_in_cells_have_their_remedies(tmp_path):
    rows = [f"s{n}\t" + str([f"t{n * k % 41}" for k in (1, 2, 4)]) for n in range(40)]
    hint = encoded(tmp_path / "t.tsv", ["session_id\ttrack_ids", *rows], rectangular=True).report.hints[0]
    assert "map(ast.literal_eval)" in hint
    frame = pd.DataFrame({"user": ["a", "b"], "item": [{"id": 1}, {"id": 2}]})
    with pytest.raises(InputError, match="json_normalize"):
        encode_input(Input("ratings", frame))


def test_cells_with_line_feeds_are_bad_rows(tmp_path):
    (tmp_path / "t.csv").write_text('user,item\na,x\na,"y\nz"\na,w\nb,x\nb,w\n')
    given = Input("ratings", str(tmp_path / "t.csv"), quoting="csv", bad_rows="skip")
    assert {*encode_input(given, min_count=1).vocab.words} == {"x", "w"}


@pytest.mark.parametrize("row", [{"user": "u", "hits": [{}]}, {"a\0b": {"c\0d": ["x"]}, "e": 1}, {"a": {"b": [{}]}}])
def test_odd_keys_and_empty_objects_end_in_a_message(tmp_path, row):
    for source in ("ratings", "pairs", "baskets"):
        with pytest.raises(InputError, match=r"lists|keys of its own|JSON lines"):
            encoded(tmp_path / "n.jsonl", [json.dumps(row)] * 9, source)
