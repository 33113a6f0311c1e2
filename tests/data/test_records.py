"""Rows that name their own cells: JSON lines as tables, and edges as networkx writes them."""

import json
import re
import shlex
import subprocess
import sys

import pandas as pd
import pytest
from reading import encode_cooccurrence, encode_edges, encode_pairs, encode_ratings

from w2vneg import Input
from w2vneg.data.inputs import encode_input
from w2vneg.ground.errors import DoubtError, InputError


@pytest.fixture
def file(tmp_path):
    """A function from rows, or lines, to the path of a file of them."""

    def write(*rows):
        path = tmp_path / "rows"
        path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
        return str(path)

    return write


def review(user, item, stars, time):
    return {"reviewerID": user, "asin": item, "helpful": [0, 1], "overall": stars, "unixReviewTime": time}


def test_reviews_are_read_by_their_keys(file):
    path = file(review("u1", "a", 5.0, 2), "", review("u1", "b", 4.0, 1), review("u2", "a", 1.0, 3),
                review("u2", "b", 5.0, 4), review("u2", "c", 5.0, 5))  # fmt: skip
    found = encode_ratings(path, min_rating=4, time_col="unixReviewTime")
    words = found.vocab.words
    assert [[words[i] for i in found.ids[a:b]] for a, b in zip(found.offsets, found.offsets[1:], strict=False)] == [
        ["b", "a"], ["b", "c"]]  # fmt: skip
    assert "items = column 'asin'" in found.report.columns and "ratings = column 'overall'" in found.report.columns
    with pytest.raises(InputError, match=r"'overall', and a rating is not a weight"):
        encode_pairs(path, rectangular=True)


PLAYLISTS = [{"pid": 0, "tracks": ["a", "b"]}, {"pid": 1, "tracks": ["b", "c"]}]
OBJECTS = [{**row, "tracks": [{"pos": 0, "track_uri": one} for one in row["tracks"]]} for row in PLAYLISTS]
NAMED = [{"name": "of May", **row} for row in OBJECTS]
BESIDE = [{"params": [{"key": "page", "value": 1}], "other": ["x"], **row} for row in NAMED]
HALF = [{"pid": 9, "tracks": []}, *OBJECTS, {"pid": 10}]


@pytest.mark.parametrize("rows", [PLAYLISTS, OBJECTS, NAMED, BESIDE])
@pytest.mark.parametrize(
    ("kind", "options", "said"),
    [
        ("pairs", {}, "(too few keys|no key is clearly).*; one holds lists"),
        ("ratings", {}, "(too few keys|no key is clearly).*; one holds lists"),
        ("ratings", {"user_col": "pid", "item_col": "tracks"}, "'tracks' .--item-col. is nested"),
        ("corpus", {"text_col": "tracks"}, "'tracks' .--text-col. is nested"),
        ("baskets", {}, "looks like JSON lines"),
    ],
)
def test_the_remedy_for_lists_is_baskets(file, tmp_path, rows, kind, options, said):
    path = file(*rows)
    with pytest.raises(InputError, match=said) as error:
        encode_input(Input(kind, path, **options))
    command = re.search(r"python -c .* > baskets.tsv", str(error.value))[0]
    command = re.sub("^python", shlex.quote(sys.executable), command.replace("FILE", path))
    subprocess.run(command, shell=True, cwd=tmp_path, check=True)
    assert (tmp_path / "baskets.tsv").read_text() == "a\tb\nb\tc\n"


def test_the_remedy_for_lists_passes_blank_lines(file, tmp_path):
    rows = [PLAYLISTS[0], "", PLAYLISTS[1], ""]
    test_the_remedy_for_lists_is_baskets(file, tmp_path, rows, "baskets", {}, "looks like JSON lines")


def test_the_remedy_for_lists_knows_empty_and_missing_ones(file, tmp_path):
    path = file(*HALF)
    with pytest.raises(InputError, match="looks like JSON lines") as error:
        encode_input(Input("baskets", path))
    command = re.search(r"python -c .* > baskets.tsv", str(error.value))[0]
    command = re.sub("^python", shlex.quote(sys.executable), command.replace("FILE", path))
    subprocess.run(command, shell=True, cwd=tmp_path, check=True)
    assert (tmp_path / "baskets.tsv").read_text().split() == ["a", "b", "b", "c"]
    with pytest.raises(InputError, match=r"get\('KEY'\)"):
        encode_input(Input("baskets", file(*({"it's": ["a", "b"]},) * 9)))
    with pytest.raises(InputError, match=r"get\('tracks'\)"):
        encode_input(Input("baskets", file('{"tracks":["a"', *PLAYLISTS * 9)))


@pytest.mark.parametrize("options", [{}, {"user_col": "user_id", "item_col": "properties"}])
def test_the_remedy_for_keys_within_keys_is_columns(file, tmp_path, options):
    rows = [{"user_id": f"u{n}", "groups": {}, "page": {"url": "/"}, "properties": {"product_id": n}} for n in range(3)]
    with pytest.raises(InputError, match=r"holds keys of its own; write these beside .* pandas.json_normalize"):
        encode_ratings(file(*rows, {"user_id": "u0", "properties": None}), **options)
    pd.json_normalize(rows, sep="_").to_json(tmp_path / "rows.jsonl", orient="records", lines=True)
    read = encode_ratings(tmp_path / "rows.jsonl", rectangular=True, item_col="properties_product_id")
    assert read.matrix.nnz == 3 and set(read.vocab_out.words) == {"0", "1", "2"}


def test_numbers_and_their_text_are_one_name(file):
    path = file({"user": 5, "item": 1.50, "count": 2}, '{"user": "5", "item": 1.50, "count": "3"}',
                {"item": "007", "count": 1e1, "user": True})  # fmt: skip
    found = encode_pairs(path, rectangular=True)
    assert dict(zip(found.vocab.words, found.vocab.counts, strict=True)) == {"5": 5, "true": 10}
    assert set(found.vocab_out.words) == {"1.5", "1.50", "007"}  # as they are written


def test_keys_come_in_any_order_and_some_are_not_everywhere(file):
    path = file({"source": "a", "target": "b"}, {"note": "x", "target": "c", "source": "b"})
    for encode in (encode_edges, encode_pairs, encode_cooccurrence):
        assert set(encode(path).vocab.words) == {"a", "b", "c"}


def test_keys_that_say_nothing_are_asked_about(file):
    path = file({"alpha": "a", "beta": "b"}, {"alpha": "b", "beta": "c"})
    with pytest.raises(DoubtError, match=r"1 'alpha', 2 'beta'; choose with --source-col alpha"):
        encode_edges(path)
    assert len(encode_edges(path, source_col="alpha", target_col="beta")) == 4
    with pytest.raises(DoubtError, match=r"no column name matches ratings.*--rating-col liked"):
        encode_ratings(file({"user": "a", "item": "b", "liked": 5}), min_rating=4)


WRONG = [
    ({"user": "u"}, r":3: 'item' \(--item-col\) is missing"),
    ({"user": "u", "item": None}, ":3: 'item' .* is missing"),
    ({"user": "u", "item": {"id": "7"}}, ":3: 'item' .*nested"),
    ({"user": "u", "item": ["7"]}, ":3: 'item' .*nested"),
    ({"user": "u", "item": " "}, ":3: the cell in 'item' .*is empty"),
    ({"user": "u", "item": "a\nb"}, ":3: the name .* contains a line feed"),
    ({"user": "u", "item": "\0"}, ":3: the name .* contains NUL"),
    ('{"user": "u", "it', ":3: .* is not a JSON object"),
    ('["u", "a"]', ":3: .* is not a JSON object"),
    ("[" * 100_000, ":3: .* is not a JSON object"),
]


@pytest.mark.parametrize(("row", "said"), WRONG)
def test_rows_that_are_wrong_have_their_line(file, row, said):
    good = [{"user": f"u{n % 3}", "item": f"i{n % 4}"} for n in range(30)]
    path = file(good[0], "", row, *good[1:])
    with pytest.raises(InputError, match=said):
        encode_ratings(path)


def test_wrong_rows_can_be_left_out(file):
    good = [{"user": f"u{n % 3}", "item": f"i{n % 4}"} for n in range(30)]
    path = file(*[row for row, _ in WRONG if "\\u0000" not in json.dumps(row) and "\\n" not in json.dumps(row)], *good)
    report = encode_ratings(path, bad_rows="skip").report
    assert report.left_out["bad rows: not a JSON object"] == 3
    assert report.left_out["bad rows: an empty cell in 'item'"] == 5


def visits(graph):
    return dict(zip(graph.vocab.words, graph.matrix.toarray().sum(axis=1), strict=True))


@pytest.mark.parametrize("sign", [" ", ",", ", ", "\t", ";"])
def test_edges_of_networkx_have_their_weights(file, sign):
    edges = [("a", "b", "{'weight': 100.0, 'colour': 'red'}"), ("b", "c", "{'weight': np.float64(2.0)}"),
             ("c", "a", "{'weight': 1, 'source': 'z'}")]  # fmt: skip
    graph = encode_edges(file("# made by hand", *map(sign.join, edges)))
    assert visits(graph) == {"a": 101, "b": 102, "c": 3}
    assert graph.report.columns[-1] == "not used: 'colour'"


def test_edges_of_networkx_without_weights(file):
    lines = ["a b {}", "b c {'capacity': 3}", "c d {'weight': 2}"]
    assert visits(encode_edges(file(*lines[:1]))) == {"a": 1, "b": 1}
    assert "--weight-col capacity would use that column" in encode_edges(file(*lines[:2])).report.columns[2]
    with pytest.raises(InputError, match=r":1: 'weight' .* is missing; .*--weight-col none"):
        encode_edges(file(*lines))
    assert visits(encode_edges(file(*lines), weight_col="none")) == {"a": 1, "b": 2, "c": 2, "d": 1}
    with pytest.raises(InputError, match=r":1: 'weight' .* is nested, as in \(1, 2\): it holds no text or number"):
        encode_edges(file("a b {'weight': (1, 2)}"))


def test_nothing_that_a_file_says_is_run(file, tmp_path):
    run = f"{{'weight': open({str(tmp_path / 'made')!r}, 'w')}}"
    with pytest.raises(InputError, match=r":21: .* is not a networkx edge"):
        encode_edges(file(*["a b {'weight': 1}"] * 20, f"b c {run}"))
    assert not (tmp_path / "made").exists()
