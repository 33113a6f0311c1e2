"""Reading of delimited tables: layouts detected or given, names as text, mistakes with their line."""

import bz2
import csv
import gzip
import io
import itertools
import lzma
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from w2vneg import Input
from w2vneg.data.inputs import encode_input, settled
from w2vneg.data.readers import rows as module
from w2vneg.data.readers.layout import Column, delimiter_of
from w2vneg.data.readers.tables import Tables
from w2vneg.data.sources._options import weight_column
from w2vneg.data.words import NameIndex, as_word
from w2vneg.ground.errors import ConfigError, DoubtError, InputError, MissingExtraError
from w2vneg.kernels.text.rows import scan_rows

PAIRS = [
    Column("a", "--item-col", "name", None, 1, ("user", "item", "source"), "items"),
    Column("b", "--target-col", "name", None, 2, ("item", "target", "target"), "targets"),
    Column("w", "--weight-col", "weight", None, 3, ("weight",), "weight"),
]
TIMED = [PAIRS[0], Column("t", "--time-col", "time", 2)]


@pytest.fixture
def read(tmp_path):
    """A function that writes a file and returns its columns: names as lists of str, numbers as lists of float."""

    def run(content, columns=PAIRS, encoding="utf-8", **options):
        path = tmp_path / "data.csv"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return columns_of(Tables(path, columns, SimpleNamespace(**options), encoding=encoding), columns)

    return run


def columns_of(tables, columns):
    found = {column.key: [] for column in columns}
    for batch in tables:
        for key, values in batch.columns.items():
            if values is None:
                found[key] = None
            elif isinstance(values, np.ndarray):
                found[key] += values.tolist()
            else:
                found[key] += [values.names[code] if code >= 0 else None for code in values.codes]
        assert not batch.n_rows or len(found[columns[0].key]) >= batch.n_rows
    return tuple(found.values())


@pytest.mark.parametrize("sign", ["\t", ",", ";", "|", "::", " ", "   "])
@pytest.mark.parametrize("header", [True, False])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_delimiter_and_header_are_found_out(read, sign, header, end):
    rows = [["item", "target", "weight"]] * header + [["007", "b", "2"], ["42", "x_y", "0.5"], ["7", "b", "1e1"]]
    text = end.join(sign.join(row) for row in rows)
    expected = (["007", "42", "7"], ["b", "x_y", "b"], [2.0, 0.5, 10.0])
    assert read(text) == expected
    assert read(text + end) == expected


def test_the_header_may_be_told(read):
    text = "left,right\nanna,bob\n"
    assert read(text)[:2] == (["left", "anna"], ["right", "bob"])  # nothing tells it from a row
    assert read(text, header=True)[:2] == (["anna"], ["bob"])
    assert read("a,b,w\n1,2,3\n2,1,4\n")[0] == ["1", "2"]
    assert read("1,2\n3,4\n", header=True)[0] == ["3"]
    with pytest.raises(InputError, match=r"data.csv:1: in column 3 \(--weight-col\), 'w' is not a number"):
        read("1,a,w\n1,b,3\n", [*PAIRS[:2], Column("w", "--weight-col", "weight", 3)], header=False)


def test_names_asked_for_point_to_header_and_delimiter(read):
    asked = [Column("a", "--item-col", "name", "song title"), Column("b", "--target-col", "name", "by")]
    assert read("by,song title\nx y,a b\nz,c\n", asked) == (["a b", "c"], ["x y", "z"])
    assert read("by\tsong title\n7\t8\n", asked) == (["8"], ["7"])


def test_third_column_is_a_weight_only_if_half_of_it_are_numbers(read):
    assert read("a,b,words\nc,d,more\n")[2] is None
    assert read("a,b\nc,d\n")[2] is None
    assert read("a,b,1,x\nc,d,2,y\n")[2] == [1, 2]
    assert read("a,b,1\nc,d,x\ne,f,y\n")[2] is None
    with pytest.raises(InputError, match=r":2: in column 3 .*'x' is not a number"):
        read("a,b,1\nc,d,x\ne,f,y\ng,h,2\n")
    assert "if half are numbers" in weight_column().metadata["default_text"]
    assert read("i,j,title\n1,2,1984\n1,3,Dune\n2,3,Emma\n")[2] is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("item,target,weight\na,b,\na,c,5\nb,a,5\n", r":2: in 'weight' .* a cell is empty"),
        ("item,target,weight\na,b,NA\na,c,5\nb,a,5\n", r":2: in 'weight' .*'NA' is not a number"),
        ("a,b,2\nb,c,good\n", r":2: in column 3 .*'good' is not a number"),
        ("item,target,count\na,b,two\n", r":2: in 'count' .*'two' is not a number"),
        ("item;target;weight\na;b;1,5\na;c;2,5\n", r"'1,5' is not a number; write decimals with a point"),
        ("x;y;w\na;b;1,5\na;c;2,5\n", r":2: in 'w' .*'1,5' is not a number"),
        ("item\ttarget\tweight\n", "no rows, or only a header"),
    ],
)
def test_weights_are_never_dropped_for_an_odd_cell(read, text, message):
    with pytest.raises(InputError, match=message):
        read(text)


def test_usual_names_are_a_header_over_columns_of_text(read):
    assert read("user,item\nu1,ABC\n") == (["u1"], ["ABC"], None)
    assert read("userId,movie_id,title\nu1,ABC,x\n")[0] == ["u1"]
    assert read("item,b\nc,d\n")[0] == ["item", "c"]
    assert read("user,item\nu1,ABC\n", header=False)[0] == ["user", "u1"]


def test_quotes_commas_and_lines_inside_cells(read):
    text = 'item,target,note\n"Hello, World","a ""b""","two\nlines"\n5" pipe,"""x""",\n\n \nlast,"y",z\n'
    assert read(text, header=True)[:2] == (["Hello, World", '5" pipe', "last"], ['a "b"', '"x"', "y"])


def test_what_looks_like_missing_or_a_number_stays_text(read):
    cells = ["NA", "nan", "null", "None", "0010", "1.0", "1e5", "True", "-", "#N/A"]
    text = "".join(f"{cell},x{i}\n" for i, cell in enumerate(cells))
    assert read(text)[0] == cells


def test_byte_order_mark_is_no_part_of_a_name(read):
    assert read("\ufeffa,b\nc,d\n")[0] == ["a", "c"]


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_packed_files_are_known_by_content(read, pack):
    assert read(pack(b"a,b,1\nc,d,2\n")) == (["a", "c"], ["b", "d"], [1, 2])


def test_zstd(read):
    zstandard = pytest.importorskip("zstandard")
    assert read(zstandard.compress(b"a,b,1\nc,d,2\n"))[0] == ["a", "c"]


def test_latin_1_and_the_hint_to_it(read):
    data = "müsli,käse\nöl,brot\n".encode("latin-1")
    assert read(data, encoding="latin-1")[0] == ["müsli", "öl"]
    with pytest.raises(InputError, match=r"data.csv:1: not utf-8.*--encoding \(latin-1"):
        read(data)


def test_times_as_numbers_and_dates(read):
    assert read("a,100\nb, 99 \nc,1e3\n", TIMED)[1] == [100, 99, 1000]
    times = read("u,t\na,2010-12-01 08:26:00\nb,1970-01-01 00:00:10\n", TIMED)[1]
    assert times == [1291191960, 10]
    assert read("a,2020-01-02\nb,2020-01-01\n", TIMED)[1] == [1577923200, 1577836800]
    assert read("a,2020-01-01T01:00:00+01:00\nb,2020-01-01T00:00:00Z\n", TIMED)[1] == [1577836800] * 2


def test_the_first_time_settles_the_form(read, monkeypatch):
    monkeypatch.setattr(module, "_BLOCK", 16)
    text = "".join(f"a,{day:02d}/02/2020\n" for day in (13, 1, 2, 3))
    with pytest.raises(InputError, match=r":1: '01/02/2020' .* may be %d/%m/%Y or %m/%d/%Y; write dates as YYYY-MM-DD"):
        read(text.replace("13", "01"), TIMED)
    assert np.diff(read(text, TIMED)[1]).tolist() == [-12 * 86400, 86400, 86400]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\nb\n", r":1: only one column found: no tab.*, as in 'a'; give the right --delimiter"),
        ("a,b,1\n\n\nc,d,x\n", r":4: in column 3 \(--weight-col\), 'x' is not a number"),
        ("i,t,w\na,b,1\nc,d,\n", r":3: in 'w' \(--weight-col\), a cell is empty.*; leave .* with --bad-rows skip$"),
        ("a,b,1\nc,d,-2.5\n", r":2: .* the weight -2.5 is below 0"),
        ("a,b,1\nc,d,nan\n", r":2: .* nan is not a finite number"),
        ("a,b,1600000000\nc,d,nan\ne,f,1600000009\n", r":2: .* nan is not a finite number"),
        ("a,b,1\nc,d,inf\n", r":2: .* inf is not a finite number"),
        ("a,b,1\nc,d,1e999\n", r":2: .* (inf|1e999) is not a finite number"),
        ("a,b,1\nc,d,'0,5'\n", r":2: 4 fields where the first row has 3"),
        ('a,"x\ny",1\nc,d,2\n', r":1: the name 'x\\ny' in column 2 .* contains a line feed"),
        ("a,b,1\n ,d,2\n", r":2: the cell in column 1 \(--item-col\) is empty"),
        ("a,b,1\nc,,2\n", r":2: the cell in column 2 \(--target-col\) is empty"),
        ("a,b,1\n\nc,d\n", r":3: 2 fields where the first row has 3 \(delimiter comma\), in 'c,d'"),
        ("a\tb\t1\nc, d\te\tf\t1\n", r":2: 4 fields where the first row has 3 \(delimiter tab\)"),
        ("a::b::1\nc::d::e::1\n", r":2: 4 fields .* \(delimiter ::\), in 'c::d::e::1'"),
        ('a,b,1\nc,d,2\n\n"e,f,3\ng,h,4\n', r':4: a quote opened in this row is never closed, in \'"e,f,3\''),
        ("\n \n", r"data.csv: there are no rows"),
        ("", r"data.csv: the file is empty"),
        (b"a,b\0,1\n", r":1: a NUL byte"),
    ],
)
def test_mistakes_are_told_with_their_line(read, text, message):
    with pytest.raises(InputError, match=message):
        read(text)


def test_only_a_header(read):
    with pytest.raises(InputError, match=r"data.csv: there are no rows, or only a header"):
        read("a,b\n", header=True)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (
            "usr",
            r":1: no column is called 'usr' \(--item-col\); did you mean 'user'.*: user, item, x, x",
        ),
        ("x", r":1: the columns 3 and 4 are called 'x'; give --item-col a number"),
        ("5", r":1: there is no column 5 \(--item-col\), only 4: user, item, x, x"),
        (0, r":1: there is no column 0"),
        ("item", r":1: --item-col and --target-col are both column 2"),
    ],
)
def test_columns_that_are_not_there(read, asked, message):
    columns = [Column("a", "--item-col", "name", asked), Column("b", "--target-col", "name", 2)]
    with pytest.raises(InputError, match=message):
        read("user,item,x,x\n1,2,3,4\n", columns)


def test_a_wrong_delimiter_names_the_likely_one(read):
    with pytest.raises(InputError, match=r":1: only one column found with the delimiter comma, in 'a;b'.*semicolon"):
        read("a;b\nc;d\n", delimiter=",")


@pytest.mark.parametrize("header", ["", "caller\tcallee\n"])
@pytest.mark.parametrize(
    "names",
    [("Doe, J", "Song, The"), ("std::f1", "std::f2"), ("C9;N9", "C1;N1"), ("48.0,2.0", "48.1,2.1"), ("a|b|c", "d|e|f")],
)
def test_tabs_part_names_that_hold_other_signs(read, names, header):
    text = header + "\t".join(names) + "\n"
    assert read(text + "\t".join(names[::-1]) + "\n", header=bool(header))[:2] == (list(names), list(names[::-1]))


def test_a_header_or_empty_cells_are_no_sign_of_tabs(read):
    assert read("item,target,note\na,b,x\ty\nb,c,z\tx\n")[:2] == (["a", "b"], ["b", "c"])
    assert read("a,b,1\t\nc,d,2\t\n")[:2] == (["a", "c"], ["b", "d"])
    assert read('"u1","b\t2","1"\n"u2","c\t3","1"\n')[:2] == (["u1", "u2"], ["b\t2", "c\t3"])
    assert read("u1,Tom\tA,4\nu2,Tim\tB,5\n")[:2] == (["u1", "u2"], ["Tom\tA", "Tim\tB"])


@pytest.mark.parametrize(
    ("text", "signs"),
    [
        ("X1|USD,X2|USD\nX2|USD,X3|USD\n", ("pipe", "comma")),
        ("/x/1?q=1,2 /x/2?q=3,4\n/x/2?q=3,4 /x/3?q=5,6\n", ("comma", "blank")),
        ("std::f1 std::f2 3\nstd::f2 std::f3 4\n", ("::", "blank")),
        ("u1,i1;i2;i3;i4,o1\nu2,i2;x;i5;y,o2\n", ("semicolon", "comma")),
    ],
)
def test_two_delimiters_that_part_rows_alike_are_asked_about(read, text, signs):
    with pytest.raises(DoubtError, match="data.csv:1: rows may be.* --delimiter {} or --delimiter {}$".format(*signs)):
        read(text)
    first = text[: text.index("," if signs[1] == "comma" else " ")]
    assert read(text, delimiter=delimiter_of(signs[1]))[0][0] == first


@pytest.mark.parametrize(
    ("text", "first", "second"),
    [
        ("a;1,5;b\nb;2,5;c\n", "ab", ["1,5", "2,5"]),
        ("Ann Lee,Tea Pot\nBob Ray,Jam Jar\n", ["Ann Lee", "Bob Ray"], ["Tea Pot", "Jam Jar"]),
        ("u1,Item 5,4.5\nu2,Item 7,3.5\n", ["u1", "u2"], ["Item 5", "Item 7"]),
        ("u1;Doe, J;i1\nu2;Roe, K;i2\n", ["u1", "u2"], ["Doe, J", "Roe, K"]),
        ("u1,Item 5,4\nu2,Item 7,3\n", ["u1", "u2"], ["Item 5", "Item 7"]),
        ("a;b;Smith,John\nb;c;Doe,Ann\n", ["a", "b"], ["b", "c"]),
        ("Smith,John;i1;5\nDoe,Ann;i2;4\n", ["Smith,John", "Doe,Ann"], ["i1", "i2"]),
        ("12;Smith,John;5\n13;Doe,Ann;4\n", ["12", "13"], ["Smith,John", "Doe,Ann"]),
        ("12::Drama|War::5\n13::War|Noir::4\n", ["12", "13"], ["Drama|War", "War|Noir"]),
        ("tt1,Tom Hanks,actor\ntt2,Ann Lee,actress\n", ["tt1", "tt2"], ["Tom Hanks", "Ann Lee"]),
        ("u1,2014-02-13 10:00,i1\nu2,2014-02-14 11:00,i2\n", ["u1", "u2"], ["2014-02-13 10:00", "2014-02-14 11:00"]),
    ],
)
def test_signs_inside_names_are_no_reason_to_ask(read, text, first, second):
    columns = [Column("a", "--item-col", "name", 1), Column("b", "--target-col", "name", 2)]
    assert read(text, columns) == (list(first), second)


def test_leaving_out_odd_rows_takes_no_time_that_grows_with_the_square(tmp_path):
    """Half a minute, where each copied all that stands behind it."""
    (tmp_path / "t").write_text("user,item\n" + "a,x\nb,x,z\na,y\nb,x\n" * 100_000)
    read = encode_input(Input("ratings", str(tmp_path / "t"), rectangular=True, bad_rows="skip"), min_count=1)
    assert read.report.left_out["bad rows: wrong number of fields"] == 100_000


LISTS = [(f"u{i}", "?".join(f"i{(i * 7 + k * k) % 23}" for k in range(2 + i % 3))) for i in range(40)]
IN_FILES = [
    *(("\n".join(f"{user}\t{own.replace('?', sign)}" for user, own in LISTS), sign) for sign in (" ", ";", ", ")),
    ("user,items\n" + "\n".join(f'{user},"{own.replace("?", ", ")}"' for user, own in LISTS), ","),
    ("\n".join(f'{{"items": "{own.replace("?", "|")}", "user": "{user}"}}' for user, own in LISTS), "|"),
]


@pytest.mark.parametrize(("text", "sign"), IN_FILES)
def test_lists_within_cells_are_noticed(tmp_path, text, sign):
    (tmp_path / "t").write_text(text + "\n")
    options = {"user_col": "user", "item_col": "items"} if "user" in text else {}
    read = encode_input(Input("ratings", str(tmp_path / "t"), rectangular=True, **options))
    (hint,) = read.report.hints
    assert f"look like lists separated by {sign.strip(' ') or ' '!r}, but each" in hint


def test_lists_within_cells_of_a_frame_are_noticed():
    frame = pd.DataFrame({"user": [user for user, _ in LISTS], "item": [own.replace("?", "|") for _, own in LISTS]})
    (hint,) = encode_input(Input("ratings", frame, rectangular=True)).report.hints
    names = {"t": frame, "COLUMN": "item"}
    exec(hint.split("in pandas with ")[1], names)
    read = encode_input(Input("ratings", names["t"], rectangular=True))
    assert not read.report.hints and len(read.vocab_out) == 23 and len(read.vocab) == 40
    assert read.matrix.nnz == sum(len(set(own.split("?"))) for _, own in LISTS)


FIRST, LAST = ["Ann", "Bob", "Cleo", "Dan", "Eve", "Fay"], ["Adams", "Brown", "Clark", "Davis", "Evans", "Frank"]
TITLES = [
    "The Lord of the Rings",
    "The Good the Bad and the Ugly",
    "Crouching Tiger Hidden Dragon",
    "The King of the Hill",
]


@pytest.mark.parametrize(
    "names",
    [
        [f"{last}, {first}" for last in LAST for first in FIRST],
        [f"{first} {last}" for last in LAST for first in FIRST],
        [f"{title} {part}" for title in TITLES for part in range(1, 10)],
        [f"{title}, The ({1990 + n})" for title in ("Lion, the Witch and the Wardrobe", "Jedi") for n in range(15)],
        [
            f"{n} {last} Street, {town}"
            for n in range(6)
            for last in LAST
            for town in ("Rome, NY, USA", "Paris, France")
        ],
        [f"T-SHIRT, {colour}, {size}" for colour in FIRST for size in ("S", "M", "L", "XL")],
        [f"GO:{n:07d}|GO:{n * 7:07d}" for n in range(1, 40)],
        [f"{n % 7},{n % 5}" for n in range(35)] * 2,
        [f"0.{n}1 7.{n * 3}" for n in range(1, 40)],
        [f"+49 30 {n}" for n in range(100, 140)],
        [f"2024-01-{n:02d} 10:00" for n in range(1, 30)],
    ],
)
def test_names_that_hold_signs_are_no_lists(names):
    frame = pd.DataFrame({"user": [f"u{n % 9}" for n in range(len(names))], "item": names})
    assert not encode_input(Input("ratings", frame, rectangular=True)).report.hints


def test_names_of_columns_without_a_header(read):
    with pytest.raises(ConfigError, match="without a header, give the column's number"):
        read("a,b\n", [Column("a", "--item-col", "name", "a")], header=False)


@pytest.mark.parametrize(("cell", "line"), [("soon", 2), ("2020-13-45", 3), ("", 3)])
def test_times_that_are_none(read, cell, line):
    rows = ["u,t", f"a,{cell}", "b,2020-01-01"] if line == 2 else ["u,t", "a,2020-01-01", f"b,{cell}"]
    with pytest.raises(InputError, match=rf"data.csv:{line}: .*--time-col"):
        read("\n".join(rows), TIMED, header=True)
    with pytest.raises(InputError, match=r":2: in column 2 \(--time-col\), 'x' is not a number"):
        read("a,1\nb,x\n", TIMED)


def test_words_for_delimiters():
    assert [delimiter_of(word) for word in ("tab", "\\t", "comma", "blank", "::", "#", None)] == [
        "\t",
        "\t",
        ",",
        " ",
        "::",
        "#",
        None,
    ]
    for wrong in ("ab", "", "x", '"', "\n", "é"):
        with pytest.raises(ConfigError, match="a single ASCII character"):
            delimiter_of(wrong)


def test_several_files_each_in_its_own_form_and_progress(tmp_path):
    (tmp_path / "1.csv").write_text("item,target,weight\n1,2,3\n")
    (tmp_path / "2.tsv").write_bytes(gzip.compress(b"4\t5\n"))
    seen = []
    tables = Tables(tmp_path, PAIRS, progress=lambda *step: seen.append(step))
    batches = list(tables)
    assert [batch.columns["w"] is None for batch in batches] == [False, True]
    assert (tables.n_files, tables.n_rows) == (2, 2)
    total = sum(path.stat().st_size for path in tmp_path.iterdir())
    assert seen[-1] == (total, total)
    assert all(before[0] <= after[0] for before, after in itertools.pairwise(seen))


def test_files_without_a_row_are_passed_over_beside_others(tmp_path):
    for number, text in enumerate(["", "item,target\n", "item,target\n1,2\n", "\n\n"]):
        (tmp_path / f"{number}.csv").write_text(text)
    tables = Tables(tmp_path, PAIRS)
    assert [batch.n_rows for batch in tables] == [1] and tables.left_out["files without a row"] == 3
    encoded = encode_input(settled(Input("pairs", str(tmp_path / "*.csv"))), min_count=1)  # which looks at the first
    assert list(encoded.vocab.words) == ["1", "2"] and "3 files without a row" in encoded.report.line()
    (tmp_path / "2.csv").unlink()
    with pytest.raises(InputError, match=r"there are no rows, or only a header"):
        list(Tables(tmp_path, PAIRS))


def test_lines_are_right_far_into_a_file_read_in_blocks(read, monkeypatch):
    monkeypatch.setattr(module, "_BLOCK", 50)
    rows = ["item,target,weight,note"]
    for i in range(60):
        rows.append(f'a{i},b,{i},"x\n\ny"' if i % 7 == 0 else f"a{i},b,{i},n")
        rows += ["", " "] * (i % 3 == 0)
    text = "\n".join(rows)
    assert read(text)[2] == list(range(60))
    wrong = text.replace("a50,b,50", "a50,b,-50")
    line = wrong[: wrong.index("a50,")].count("\n") + 1
    with pytest.raises(InputError, match=f"data.csv:{line}: "):
        read(wrong)
    wrong = text.replace("a50,b,50,n", "a50,b,50")
    with pytest.raises(InputError, match=f"data.csv:{line}: 3 fields"):
        read(wrong)


CELL = st.text(st.sampled_from("ab01é,\" ;|\t'-_.#"), min_size=1, max_size=6).filter(lambda cell: cell.strip())
ROW = st.tuples(CELL, st.text(st.sampled_from('ab,"\n '), max_size=6), CELL)


@settings(max_examples=150, deadline=None)
@given(
    rows=st.lists(ROW, min_size=1, max_size=12),
    sign=st.sampled_from(",;|\t"),
    end=st.sampled_from(["\n", "\r\n"]),
    block=st.integers(1, 60),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
)
def test_what_csv_writes_is_read_as_csv_reads_it(tmp_path_factory, rows, sign, end, block, quoting):
    rows = [("first", "", "row"), *rows]  # its end must be in the first block
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=sign, lineterminator=end, quoting=quoting).writerows(rows)
    path = tmp_path_factory.mktemp("tables") / "t"
    path.write_bytes(text.getvalue().encode())
    columns = [Column("a", "--a", "name", 1), Column("b", "--b", "name", 3)]
    text.seek(0)
    expected = list(csv.reader(text, delimiter=sign))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_BLOCK", block)
        how = SimpleNamespace(delimiter=sign, header=False, quoting="csv")
        found = columns_of(Tables(path, columns, how), columns)
    assert found == ([row[0] for row in expected], [row[2] for row in expected])


@settings(max_examples=300, deadline=None)
@given(text=st.text(st.sampled_from('ab,"\n'), max_size=30))
def test_rows_are_cut_where_csv_cuts_them(text):
    text += "\n"
    rows = [row for row in csv.reader(io.StringIO(text, newline="")) if row]
    block = np.frombuffer(text.encode(), np.uint8)
    found, end, _, _ = scan_rows(block, ord(","), True, 0, 1000)
    open_quote = bool(text[end:].strip("\n"))  # then csv gives what there is as a last row
    assert found == len(rows) - open_quote
    if found:
        n_fields = len(rows[0])
        alike = next((i for i, row in enumerate(rows[:found]) if len(row) != n_fields), found)
        count, _, _, wrong = scan_rows(block, ord(","), True, n_fields, 1000)
        assert count == alike
        assert wrong == (len(rows[alike]) if alike < found else 0)


def test_rows_of_blank_separated_text():
    block = np.frombuffer(b"  a b\t c  \n\n \t\nd e\tf\n", np.uint8)
    assert scan_rows(block, 32, True, 3, 1000) == (2, block.size, 4, 0)
    assert scan_rows(block, 32, True, 3, 1) == (1, 11, 3, 0)  # the row it stops before is on the fourth line
    assert scan_rows(block, 32, True, 2, 1000) == (0, 0, 0, 3)


def test_names_become_words():
    assert [as_word(name) for name in (" a b ", "a\tb", "a\u00a0b", "007", "a  b")] == [
        "a_b",
        "a_b",
        "a_b",
        "007",
        "a__b",
    ]


class _Cells:
    def __init__(self, *names):
        self.names = list(names)
        self.codes = np.arange(len(names))


def test_names_that_become_one_word_are_refused():
    names = NameIndex()
    assert names.number(_Cells("a b", " a b", "c"), "f:{}".format).tolist() == [0, 0, 1]
    with pytest.raises(InputError, match=r"f:3: the names 'a b' and 'a_b' would both become 'a_b'"):
        names.number(_Cells("c", "d", "e", "a_b"), "f:{}".format)
    lower = NameIndex(lowercase=True)
    assert lower.number(_Cells("A b", "a B", "C"), "f:{}".format).tolist() == [0, 0, 1]
    assert lower.words == ["a_b", "c"]


def test_parquet_without_pyarrow_names_the_extra(read, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"w2vneg\[parquet\]"):
        read(b"PAR1 and more PAR1")


class TestParquet:
    """Skipped without pyarrow."""

    @pytest.fixture
    def write(self, tmp_path):
        pa = pytest.importorskip("pyarrow")
        parquet = pytest.importorskip("pyarrow.parquet")

        def run(**columns):
            parquet.write_table(pa.table(columns), tmp_path / "t.parquet")
            return tmp_path / "t.parquet"

        return run

    def test_names_weights_and_times(self, write):
        when = np.array(["2020-01-02", "2020-01-01", "2020-01-03"], "datetime64[ms]")
        path = write(u=["007", "b", "007"], i=np.array([7, 8, 7]), w=np.array([1, 2, 3], np.int8), t=when)
        columns = [*PAIRS, Column("t", "--time-col", "time", "t")]
        times = [1577923200, 1577836800, 1578009600]
        assert columns_of(Tables(path, columns), columns) == (["007", "b", "007"], ["7", "8", "7"], [1, 2, 3], times)

    def test_packed(self, write, tmp_path):
        packed = tmp_path / "t.gz"
        packed.write_bytes(gzip.compress(write(u=["a", "b"], i=["c", "d"]).read_bytes()))
        assert columns_of(Tables(packed, PAIRS), PAIRS) == (["a", "b"], ["c", "d"], None)

    def test_mistakes(self, write, tmp_path):
        with pytest.raises(InputError, match=r"t.parquet: row 2: the cell in 'u' \(--item-col\) is empty"):
            list(Tables(write(u=["a", None], i=["c", "d"]), PAIRS))
        with pytest.raises(InputError, match=r"t.parquet: row 2: in 'w' .* the weight -1 is below 0"):
            list(Tables(write(u=["a", "b"], i=["c", "d"], w=[1.0, -1.0]), PAIRS))
        with pytest.raises(InputError, match=r"row 1: in 'weight' .*'two' is not a number"):
            list(Tables(write(u=["a"], i=["c"], weight=["two"]), PAIRS))
        with pytest.raises(InputError, match=r"no column is called 'x'.*The columns are: u, i"):
            list(Tables(write(u=["a"], i=["c"]), [Column("a", "--item-col", "name", "x")]))
        broken = tmp_path / "broken"
        broken.write_bytes(b"PAR1 nothing of the kind PAR1")
        with pytest.raises(InputError, match="broken: cannot be read as Parquet"):
            list(Tables(broken, PAIRS))
