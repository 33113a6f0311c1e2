"""Text in a column of a table: files of all kinds and tables in memory read alike, and what is none is refused."""

import gzip
import json
import os
import warnings

import numpy as np
import pandas as pd
import pytest

from w2vneg import Word2Vec
from w2vneg.data.inputs import Input, as_input, encode_input
from w2vneg.ground.errors import ConfigError, InputError

TEXTS = ['The king, "the" queen;\nand all, yes', "Who is king? The queen.", None, "a, b\tc\nd", 'He said "no".']
FRAME = pd.DataFrame({"id": range(50), "review": TEXTS * 10, "stars": [1, 2, 3, 4, 5] * 10})
SMALL = {"dim": 4, "epochs": 1, "min_count": 1, "workers": 1, "subsample": 0}


def counts_of(*given, encoding="utf-8", **options):
    encoded = encode_input(Input("corpus", *given, **options), min_count=1, encoding=encoding)
    return dict(zip(encoded.vocab.words, encoded.vocab.counts.tolist(), strict=True)), encoded.n_sentences


@pytest.fixture
def texts(tmp_path):
    """The same words and sentences as FRAME's, in a plain file."""
    (tmp_path / "plain").write_text("\n".join(text for text in FRAME["review"] if isinstance(text, str)))
    return counts_of(str(tmp_path / "plain"), tokenizer="whitespace", plain=True)


def test_files_of_all_kinds_are_read_alike(tmp_path, texts):
    FRAME.to_csv(tmp_path / "a.csv", index=False)
    FRAME.to_csv(tmp_path / "a.tsv", index=False, sep="\t")
    FRAME.to_csv(tmp_path / "excel.csv", index=False, encoding="utf-8-sig", lineterminator="\r\n")
    FRAME.to_csv(tmp_path / "wide.csv", index=False, encoding="utf-16")
    FRAME[["review"]].to_csv(tmp_path / "one.csv", index=False)
    FRAME.to_json(tmp_path / "a.jsonl", orient="records", lines=True)
    rows = [
        json.dumps({"id": row.id, "review": row.review if row.review else float("nan")}) for row in FRAME.itertuples()
    ]
    (tmp_path / "nan.jsonl").write_text("\n".join(rows))
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress((tmp_path / "a.csv").read_bytes()))
    for file in ("a.csv", "a.tsv", "excel.csv", "wide.csv", "one.csv", "a.jsonl", "nan.jsonl", "a.csv.gz"):
        encoding = "utf-16" if file == "wide.csv" else "utf-8"
        options = {"text_col": "review", "tokenizer": "whitespace"}
        for _ in range(2):  # the second time from the cache
            assert counts_of(str(tmp_path / file), encoding=encoding, **options) == texts, file
    assert counts_of(str(tmp_path / "a.csv"), text_col="2", tokenizer="whitespace") == texts


def test_parquet_files_that_differ_at_the_end_are_told_apart_in_the_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("W2VNEG_CACHE", str(tmp_path / "cache"))
    pytest.importorskip("pyarrow")
    texts = {word: [*(f"the text number {row:06d}" for row in range(60_000)), f"the last is {word}"] for word in "xy"}
    for word, rows in texts.items():
        path = tmp_path / f"{word}.parquet"
        pd.DataFrame({"text": rows}).to_parquet(path, compression=None, use_dictionary=False)
        os.utime(path, (10**9, 10**9))  # settled, so that it is remembered by its times
    one, two = ((tmp_path / f"{word}.parquet").read_bytes() for word in texts)
    assert len(one) == len(two) and one[: 1 << 20] == two[: 1 << 20] and one != two
    for word in "xyx":
        counts, _ = counts_of(str(tmp_path / f"{word}.parquet"), text_col="text", tokenizer="whitespace")
        assert word in counts


def test_parquet(tmp_path, texts):
    pytest.importorskip("pyarrow")
    FRAME.to_parquet(tmp_path / "a.parquet")
    assert counts_of(str(tmp_path / "a.parquet"), text_col="review", tokenizer="whitespace") == texts
    with pytest.raises(InputError, match=r"--text-col review .*Its columns: id, review, stars.*text_col='review'"):
        counts_of(str(tmp_path / "a.parquet"))
    with pytest.raises(InputError, match=r"'id' .--text-col. holds numbers, not text"):
        counts_of(str(tmp_path / "a.parquet"), text_col="id")


def test_columns_in_memory(texts):
    for column in (FRAME["review"], FRAME[["review"]], FRAME["review"].to_numpy(), FRAME["review"].astype("string")):
        assert counts_of(column, tokenizer="whitespace") == texts
    assert counts_of(FRAME, text_col="review", tokenizer="whitespace") == texts
    assert as_input(FRAME["review"]).kind == "corpus" and as_input(np.array([1, 2])).tolist() == [1, 2]
    words = pd.Series([["the", "king"], ["the", "queen"]])
    assert as_input(words) is words  # sentences as they are
    assert "queen" in Word2Vec(loss="ns", **SMALL).fit(pd.Series(["the king", "the queen"] * 5))
    with pytest.raises(InputError, match=r"row 0 .* holds \['the', 'king'\], not text; .*or pass lists of words"):
        counts_of(words)
    with pytest.raises(ConfigError, match=r"Input\('corpus', TABLE, text_col=…\)"):
        as_input(FRAME)
    with pytest.raises(ConfigError, match="pass lists of words directly to fit"):
        Input("corpus", [["a", "b"]])


SONG = ["the old cat sees", "a dog", "no house, and no river", "who finds it"] * 8


@pytest.mark.parametrize(
    ("lines", "column"),
    [
        (['{"id": "%s", "title": "On it", "abstract": "%s"}'], "abstract"),
        (['{"review_id": "%s", "user_id": "u", "text": "%s", "date": "2016"}'], "text"),
        (['{"comment_id": "%s", "post_title": "On it", "comment_text": "%s"}'], "comment_text"),
        (['{"index": {"id": "%s"}}\n{"title": "On it", "plot": "%s"}'], "plot"),
        (['{"gold": "%s", "sentence1": "%s", "sentence1_parse": "( ( a b ) ( c d e f g ) )"}'], "sentence1"),
        (["Id,Title,Body", '%s,What is it,"%s"'], "Body"),
        (["article,highlights,id", '"%s0 ""%s""",it is so,77'], "article"),
        (["review_id\tstars\tproduct_title\treview_headline\treview_body", "%s\t5\ta b\tc d\t%s"], "review_body"),
        (["id,lyrics,name", '%s,"%s",a song'], "lyrics"),
        (['"4","%s","On it","%s"'], "4"),
        (["v1,v2,,,", 'ham %.0s,"%s",,,'], "2"),
        (["v1,v2,,,", *["ham,so it is,,,"] * 99, 'ham %.0s,"%s",,,'], "2"),
        (["Nr;Datum;Beitrag", "%s;01.02.2003;%s"], "3"),
        (["sep=;", "Nr;Datum;Beitrag", "%s;01.02.2003;%s"], "3"),
        (["auteur,texte", 'a%.0s,"%s"'], "2"),
        (["LJ001-%s|%s|x"], "2"),
        (["id,b,c,v,t", '%s,1,2,3,"%s"'], "5"),
        (["Quality\t#1 ID\t#2 ID\t#1 String\t#2 String", "1\t%s\t7\t%s\tno"], "4"),
        (["%s\t%s"], "2"),
    ],
)
def test_the_column_that_a_refusal_names_holds_the_text(tmp_path, lines, column):
    rows = [lines[-1] % (number, text) for number, text in enumerate(SONG)]
    (tmp_path / "t").write_text("\n".join([*lines[:-1], *rows]) + "\n")
    with pytest.raises(InputError, match=rf"looks like .* --text-col {column} .*text_col='{column}'"):
        counts_of(str(tmp_path / "t"))
    counts = counts_of(str(tmp_path / "t"), text_col=column)[0]
    assert counts["cat"] == counts["finds"] == 8 and "77" not in counts


def test_a_sign_of_excel_above_the_header_is_no_text(tmp_path):
    (tmp_path / "t").write_text("sep=;\nid;text\n1;a b\n2;# c, d\n")
    assert counts_of(str(tmp_path / "t"), text_col="text", tokenizer="words")[0] == dict.fromkeys("abcd", 1)
    encoded = encode_input(Input("corpus", str(tmp_path / "t"), text_col="text", tokenizer="words"), min_count=1)
    assert encoded.report.bad_rows == 0
    (tmp_path / "t").write_text("sep=;\nid;text\n1;a b\n2;c, d;e\n")
    with pytest.raises(InputError, match="t:4: 3 fields where the first row has 2"):
        counts_of(str(tmp_path / "t"), text_col="text")


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("id,text\n1,a b\n2,c d\n3,e f\n", {}, "looks like a table with a header.*--text-col text.*columns: id, text"),
        ('{"id": 1, "body": "a b"}\n' * 3, {}, "looks like JSON lines.*--text-col body.*columns: id, body"),
        ('text\n"a, b"\n"c ""d"""\n', {}, "looks like a table with a header.*--text-col text"),
        ("".join(f"n{i}\tx{i % 3}\ta b {i}\n" for i in range(30)), {}, "a table without a header.*--text-col 3 "),
        (
            "id,text\n1,a b\n2,c d\n3,e f\n",
            {"text_col": "txt"},
            "no column is called 'txt'.*did you mean 'text'.*: id, text; for plain text give --text-col none$",
        ),
        ("id,text\n1,a b\n2,c d\n3,e f\n", {"text_col": "id"}, "'id' .--text-col. holds numbers, not text"),
        ("id,text\n1,a b\n2,c, d\n", {"text_col": "text"}, "3 fields where the first row has 2"),
        ('id\ttext\n1\t"a b\n2\tc\n3\td "e" f\n', {"text_col": "text"}, "a quote opens .*--quoting none"),
        ('{"id": 1, "text": {"en": "a b"}}\n', {"text_col": "text"}, "'text' .--text-col. is nested"),
        ('[\n {\n  "text": "a b"\n },\n {\n  "text": "c d"\n }\n]\n', {"text_col": "text"}, "a JSON document"),
        ("a b c\n" * 9, {"delimiter": ","}, "delimiter applies to tables; name their column of text"),
    ],
)
def test_what_is_no_such_column_is_refused(tmp_path, text, options, message):
    (tmp_path / "t").write_text(text)
    with pytest.raises((InputError, ConfigError), match=message):
        counts_of(str(tmp_path / "t"), **options)


@pytest.mark.parametrize("cell", [{"en": "a b"}, b"a b"])
def test_cells_that_are_no_lists_of_words_have_another_remedy(cell):
    with pytest.raises(InputError, match=r"not text; write the part you need as a column of text$"):
        counts_of(pd.DataFrame({"text": [cell]}), text_col="text")


@pytest.mark.parametrize(("cell", "note"), [("a<br />b", "tags such as '<br />'"), ("a < b", None)])
def test_tags_in_a_column_are_remarked_on(tmp_path, cell, note):
    frame = pd.DataFrame({"text": [cell] * 9, "n": 1})
    frame.to_csv(tmp_path / "t.csv", index=False)
    for file in (str(tmp_path / "t.csv"), frame):
        for options, warned in (({}, note), ({"strip": "markup"}, None), ({"plain": True}, None)):
            with warnings.catch_warnings(record=True) as notes:
                warnings.simplefilter("always")
                counts_of(file, text_col="text", **options)
            assert len(notes) == bool(warned) and all(note in str(one.message) for one in notes)


def test_newer_text_is_read_from_the_same_column(tmp_path):
    FRAME.to_csv(tmp_path / "first.csv", index=False)
    (tmp_path / "newer.jsonl").write_text('{"review": "the king", "id": 1}\n' * 9)
    (tmp_path / "plain").write_text("the king\n" * 9)
    word2vec = Word2Vec(loss="ns", **SMALL)
    word2vec.fit(Input("corpus", tmp_path / "first.csv", text_col="review"))
    word2vec.save(tmp_path / "m")
    for newer in ("newer.jsonl", Input("corpus", str(tmp_path / "plain"), text_col="none"), pd.DataFrame(FRAME)):
        given = str(tmp_path / newer) if isinstance(newer, str) else newer
        given = Input("corpus", given, text_col="review") if isinstance(newer, pd.DataFrame) else given
        assert Word2Vec.load(tmp_path / "m").fit(given, update=True).counts.sum() > 200
    with pytest.raises(InputError, match="for plain text, give --text-col none"):
        Word2Vec.load(tmp_path / "m").fit(str(tmp_path / "plain"), update=True)


def test_quotes_and_bad_rows(tmp_path):
    (tmp_path / "t.tsv").write_text('id\ttext\n1\t"a b\n2\tc\n3\td "e" f\n')
    assert counts_of(str(tmp_path / "t.tsv"), text_col="text", quoting="none", tokenizer="whitespace") == (
        {'"a': 1, '"e"': 1, "b": 1, "c": 1, "d": 1, "f": 1},
        3,
    )
    many = '1,"one, two\nthree, four\nfive"\n' * 3
    (tmp_path / "many.csv").write_text(f"id,text\n{many}")
    assert counts_of(str(tmp_path / "many.csv"), text_col="text", tokenizer="whitespace")[1] == 9
    (tmp_path / "bad.csv").write_text("id,text\n1,a b\n2,c, d\n3,b a\n")
    skipped = encode_input(Input("corpus", str(tmp_path / "bad.csv"), text_col="text", bad_rows="skip"), min_count=1)
    assert len(skipped) == 4 and "left out: 1 bad rows" in skipped.report.line()


@pytest.mark.parametrize(("sign", "said"), [(r"\ud83d", r"a lone surrogate \('\\ud83d'\)"), (r"\u0000", "NUL")])
def test_what_no_file_of_text_can_hold_is_refused_with_its_row(tmp_path, sign, said):
    rows = [r'{"text": "a b"}', "", r'{"text": "one#two"}'.replace("#", sign), r'{"text": "c \ud83d\ude00"}']
    (tmp_path / "t.jsonl").write_text("\n".join(rows))
    with pytest.raises(InputError, match=rf"t.jsonl:3: the text contains {said}.*--bad-rows skip"):
        counts_of(str(tmp_path / "t.jsonl"), text_col="text")
    skipped = encode_input(Input("corpus", str(tmp_path / "t.jsonl"), text_col="text", bad_rows="skip"), min_count=1)
    assert set(skipped.vocab.words) == {"a", "b", "c", "\U0001f600"} and skipped.report.bad_rows == 1
    with pytest.raises(InputError, match=f"row 1 .*the text contains {said}"):
        counts_of(pd.DataFrame({"text": ["a b", json.loads(f'"one{sign} two"')]}, dtype=object), text_col="text")


def test_rows_of_long_texts_and_of_missing_ones(tmp_path):
    """Each would be read wrongly in silence, or be refused for another reason than is there."""
    book = json.dumps({"text": "word " * 60_000})
    (tmp_path / "books.jsonl").write_text(f'{book}\n{{"text": "a b"}}\n')
    assert counts_of(str(tmp_path / "books.jsonl"), text_col="text")[0] == {"word": 60_000, "a": 1, "b": 1}
    (tmp_path / "nan.csv").write_text("id,text\n1,NaN\n2,hello you\n3,nan\n4,\n5,null\n")
    assert counts_of(str(tmp_path / "nan.csv"), text_col="text") == ({"hello": 1, "you": 1}, 1)
    mixed = pd.DataFrame({"text": ["a b", 5, None, np.nan, pd.NA], "n": range(5)})
    assert counts_of(mixed, text_col="text") == ({"a": 1, "b": 1, "5": 1}, 2)
    for column in (pd.to_datetime(pd.Series(["2020-01-01"])), pd.Series([b"a b"])):
        with pytest.raises(InputError, match="not text"):
            counts_of(column)
    (tmp_path / "broken.jsonl").write_text('{"text": "a b"}\n{"text": "a\n{"text": "c"}\n')
    with pytest.raises(InputError, match=r"broken\.jsonl:2: .* is not a JSON object"):
        counts_of(str(tmp_path / "broken.jsonl"), text_col="text")


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        (
            "README.md",
            b"# a data set\nof texts\n",
            r"README.md:1: expected a table with a column 'text', found .*as 'DIR/\*.parquet'",
        ),
        ("data.arrow", b"\xff\xff\xff\xff\x10\0\0\0" + bytes(99), r"Arrow stream.*load_from_disk\(DIR\)\.to_parquet"),
        ("book.xlsx", b"PK\x03\x04abcdefgh", "a zip archive or an Excel workbook"),
    ],
)
def test_a_folder_of_a_data_set_is_refused_by_its_odd_file(tmp_path, name, data, message):
    FRAME.rename(columns={"review": "text"}).to_csv(tmp_path / "train.csv", index=False)
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InputError, match=message):
        counts_of(str(tmp_path), text_col="text")
    assert counts_of(str(tmp_path / "*.csv"), text_col="text")[1] > 0
