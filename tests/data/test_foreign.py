"""Files of other programs are refused by name; ordinary text is read as it always was."""

import gzip
import io
import re
import shlex
import shutil
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.io
import scipy.sparse

from w2vneg import Input, Word2Vec
from w2vneg.data.inputs import encode_input
from w2vneg.data.readers.foreign import recognise, refuse, tag_in
from w2vneg.data.readers.item_lines import guess_delimiter, looks_like_log
from w2vneg.data.sources.corpus import _JOINED
from w2vneg.ground.errors import DoubtError, InputError

ALL = ("text", "baskets", "edges", "pairs", "ratings")
TABLES = ALL[2:]
FOREIGN = [
    ("JSON lines", ALL[:2], '{"user": "a", "item": "x"}\n{"user": "b", "item": "y"}\n'),
    ("JSON lines", ALL[:2], '{"text": "one two"}\n'),
    ("a JSON document", ALL, '[{"user": "a"}, {"user": "b"}]\n'),
    ("a JSON document", ALL, '{\n  "nodes": [\n    {"id": 1},\n    {"id": 2}\n  ]\n}\n'),
    ("a JSON document", ALL, '{"directed": false, "nodes": [{"id": 0}], "edges": [{"source": 0, "target": 0}]}\n'),
    ("JSON arrays", ALL, '["a", "b"]\n["c", "d"]\n'),
    ("networkx", ("text", "baskets", "pairs", "ratings"), "a b {'weight': 3.0}\nb c {}\n"),
    ("networkx", ("text", "baskets", "pairs", "ratings"), "#a remark\n#two\na b {}\n"),
    ("Python tuples, lists or sets", ALL, "('a', 'b')\n('b', 'c')\n"),
    ("Python tuples, lists or sets", ALL, "['tea', 'milk']\n['jam']\n"),
    ("Python dicts", ALL, "{'u': 1}\n{'v': 2}\n"),
    ("braces", ("baskets",), "{tea,milk}\n{jam,tea}\n"),
    ("XML", ALL[1:], '<?xml version="1.0"?>\n<a/>\n'),
    ("XML", ALL[1:], "<!DOCTYPE html>\n<html>\n"),
    ("GraphML", ALL, '<?xml version="1.0"?>\n<graphml xmlns="x">\n'),
    ("GEXF", ALL, '<?xml version="1.0"?>\n<gexf version="1.2">\n'),
    ("N-Triples", ALL, '<http://a> <http://p> <http://b> .\n<http://a> <http://q> "hello"@en .\n'),
    ("Turtle", ALL, "@prefix a: <http://a/> .\na:x a:y a:z .\n"),
    ("KONECT", ("text", "baskets"), "% sym unweighted\n1 2\n"),
    ("KONECT", ("edges", "pairs"), "% bip unweighted\n1 1\n"),
    ("ratings, signs", ("edges", "pairs"), "% asym signed\n1 2 -1\n"),
    ("Pajek", ALL, '*Vertices 2\n1 "a"\n2 "b"\n*Edges\n1 2\n'),
    ("GML", ALL, "graph [\n node [\n id 1\n ]\n]\n"),
    ("Pajek", ALL, '% Padgett\n/* more */\n*Vertices 2\n1 "a"\n2 "b"\n*Edges\n1 2\n'),
    ("GML", ALL, '# by hand\nCreator "igraph"\nVersion 1\ngraph\n[\n node\n [\n id 1\n ]\n]\n'),
    ("DOT", ALL, "/* made\nby hand */\n// or not\ngraph {\n a -- b;\n}\n"),
    ("DOT", ALL, "digraph g {\n a -> b;\n}\n"),
    ("DIMACS", ALL, "c a comment\nc\np sp 3 2\na 1 2 4\na 2 3 1\n"),
    ("DIMACS", ALL, "p edge 3 2\ne 1 2\ne 2 3\n"),
    ("blocks of rows", ALL[1:], "1:\n1488844,3,2005-09-06\n822109,5,2005-05-13\n2:\n885013,4,2005-10-19\n"),
    ("blocks of rows", ALL[1:], "1:\n1488844\n822109\n2:\n885013\n"),
    ("LGL", TABLES, "# a\nb 1.5\nc 2\n# b\nc 1\n# d\na 1\n"),
    ("LGL", TABLES, "# a\nb\nc\n# b\nc\n# d\na\n"),
    ("a networkx multi-line adjacency list", ALL, "#x.py\n# GMT\n#\na 2\nb {'weight': 2.0}\nc {}\nb 1\nc {}\nc 0\n"),
    ("TGF", ALL, "1 New York\n2 Rome\n3\n#\n1 2 by air\n2 3\n"),
    ("Matrix Market", ALL, "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 1\n"),
    ("LibSVM", ALL, "1 3:1 7:1\n-1 2:0.5\n"),
    ("ARFF", ALL, "@relation r\n@attribute a numeric\n@data\n1\n"),
    ("SQL", ALL, "INSERT INTO t VALUES (1, 'a');\nINSERT INTO t VALUES (2, 'b');\n"),
    ("CoNLL", ("text",), "".join(f"{i}\tw\tw\tNOUN\t_\t_\t0\troot\t_\t_\n" for i in range(1, 7))),
    ("CoNLL", ("text",), "EU B-ORG\nrejects O\nGerman B-MISC\ncall O\nto O\nboycott O\n"),
    ("METIS", TABLES, "4 4\n2 3\n1 3\n1 2 4\n3\n"),
    ("CoNLL", ("text",), "# global.columns = ID FORM LEMMA\n" + "".join(f"{i}\tw\tw\n" for i in range(1, 7))),
    ("vertical", ("text",), "The\tDT\tthe\ncat\tNN\tcat\nsat\tVBD\tsit\n.\tSENT\t.\n" * 2),
    ("vertical", ("text",), '<doc id="a b">\n<s>\n' + "ein\teine\n" * 5 + "</s>\n</doc>\n"),
    ("CoNLL", ("text",), "".join(f"{i}\tw\tw\tNN\n" for i in (1, 2, 3)).join(["", "\n", "\n"])),
    ("CoNLL", ("text",), ("".join(f"{i}\tw\tw" + "\t_" * 11 + "\n" for i in (1, 2, 3)) + "\n") * 9),
    (
        "vertical",
        ("text",),
        "<!-- #vrt positional-attributes: word ref -->\n<text>\n"
        + "one\t1\tone\tN\ta|b\t_\t0\tROOT\n" * 5
        + "</text>\n",
    ),
    ("treebank", ("text",), "(S (NP (DT the) (NN cat))\n   (VP (VBZ sees)))\n" * 4),
    ("treebank", ("text",), "(3 (2 the) (2 (2 old) (2 cat)))\n(1 (2 no) (2 cat))\n"),
    ("CHAT", ("text",), "@UTF8\n@Begin\n*CHI:\tthe cat . \n\tand so\n%mor:\tdet|the\n"),
    ("WARC", ("text",), "WARC/1.0\nWARC-Type: conversion\nContent-Length: 9\n\nthe cat\nsees it\n\n"),
    ("FASTA", ("text",), ">one a protein\nMKVLAAGIVGLCAKAYLEQH\nNNQ\n>two\nMKVL*\n"),
    ("old Macs", ALL[:2], "the cat sat\ron the mat\rand so on\r"),
    ("table with a header", ("text",), 'id,text\n1,"one, two"\n2,three\n'),
    ("table with a header", ("text",), "label\tsentence\n0\tgood film\n1\tbad film\n"),
    ("a log", ("baskets",), "user,item\na,x\nb,y\nc,x\n"),
    ("zip", ("text", "baskets"), "PK\x03\x04abc"),
    ("Parquet", ("text", "baskets"), "PAR1abc"),
    ("PDF", ALL, "%PDF-1.4\n"),
    ("RTF", ALL, "{\\rtf1\\ansi\n"),
    ("PostScript", ALL, "%!PS-Adobe-3.0\n"),
    ("tar", ALL, "a.txt".ljust(257, "\0") + "ustar"),
    ("Git LFS", ALL, "version https://git-lfs.github.com/spec/v1\noid sha256:0\n"),
    ("7-Zip", ALL, "Rar!\x1a\x07\x01\0"),
    ("SQLite", ALL, "SQLite format 3\0"),
    ("an ORC, Avro", ALL, "ORC\n\0\1"),
    ("Stata", ALL, "<stata_dta><header>\0"),
]
OF_BYTES = {"zip", "Parquet", "PDF", "RTF", "PostScript", "tar", "7-Zip", "Git LFS", "SQLite"}  # not of text
OF_BYTES |= {"an ORC, Avro", "Stata"}
CASES = [(name, where, text) for name, places, text in FOREIGN for where in places]


@pytest.mark.parametrize(("name", "where", "text"), CASES)
def test_foreign(name, where, text):
    found = recognise(text.encode(), where)
    assert found is not None and name in found.name


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
def test_foreign_in_another_encoding(tmp_path, encoding):
    for name, places, text in FOREIGN:
        if text.isascii() and name not in OF_BYTES:
            for where in places:
                assert name in recognise(text.encode(encoding), where, encoding).name
    assert tag_in("<!doctype html>".encode(encoding), encoding) == "<!doctype"
    (tmp_path / "rows").write_bytes('{"user": "a", "item": "x"}\n{"user": "b", "item": "y"}\n'.encode(encoding))
    with pytest.raises(InputError, match="JSON lines"):
        encode_input(Input("corpus", str(tmp_path / "rows")), encoding=encoding)
    with pytest.raises(InputError, match="JSON lines"):
        encode_input(Input("baskets", str(tmp_path / "rows")), encoding=encoding)
    assert encode_input(Input("pairs", str(tmp_path / "rows"), rectangular=True), encoding=encoding).report.rows == 2
    (tmp_path / "milk").write_bytes("whole milk,tea\ntea,jam\njam,whole milk\n".encode(encoding))
    assert "whole_milk" in encode_input(Input("baskets", str(tmp_path / "milk")), encoding=encoding).vocab.words


ORDINARY = [
    "the cat sat on the mat\nand so on\n",
    "anarchism originated as a term of abuse",
    "for (i = 0; i < n; i++) {\n  a[i] = {1, 2};\n}\n",
    'def f(x):\n    return {"a": x}\n',
    "[1] Smith et al. say so.\n[2] So does Brown.\n",
    '["hello", he said, and went]\nThen he came back.\n',
    "{{Infobox person\n| name = Ada\n}}\nAda was a mathematician.\n",
    '{"a": 1} is how an object begins in JSON.\nOther languages differ.\nThis is prose.\n',
    "@user thanks!\n@relation to you\n#monday\n",
    "Hello, world\nGood night, moon\nSo long, all\n",
    '"Well," he said, "go."\n"No," she said, "stay."\n',
    "c is a letter\np is another\np col\n",
    "insert into the slot; turn left\nselect a cup\n",
    "graph theory is old\nnode by node\n",
    "(applause)\n(laughter)\n(music playing)\n",
    "(I agree)\n(A lot)\n((OK then))\n" * 9,
    "(defun f (x)\n  (print x))\n(f 1)\n" * 9,
    "@Begin\n*one\n*two: three\n",
    "WARC/1.0 is a format\nof archives\n",
    "a --> b\n1 --> 2 and so on\nb --> c\n" * 9,
    "O Captain\nO my\n" * 9,
    "old cats\n- dogs\nno dogs\n" * 9,
    "3 4\n1 2\n5 6\n",
    "a,b,c\nd,e\n",
    "* Vertices and edges\n* More of them\n",
    "== History ==\nIt began in 1900: a b.\n",
    "the cat\tdie Katze\n. . .\t. . .\n" * 5,
    "cat\tKatze\ndog\tHund\n.\t.\n!\t!\ncow\tKuh\nhen\tHenne\n",
    "a\tb\nc\td\ne\tf\ng\tb\nh\tb\ni\tb\nj\tb\n",
    "C\tG\tAm\tF\tDm\t-\tE7\tC\n-\tG\tC\tF\tDm\t-\tE7\tC\n" * 9,
    "-\tE7\nC\tG\n" * 30,
    "the\t100\n,\t90\nof\t80\n" * 9,
    ("".join(f"{i}\t0.5\t{i}\t2e3\n" for i in range(1, 9)) + "\n") * 3,  # blocks of numbers, as for plots
    "<pre>\n" + "1\t2\t3\t4\t5\t6\t7\n" * 9 + "</pre>\n",
    ("".join(f"{i}\tGenesis\t1\tand so on\n" for i in range(1, 9)) + "\n") * 3,
    "".join(f"{i}\tcat\tchat\tgato\n" for i in range(1, 9)) * 2,
    ("".join(f"{i}\tcat\tchat\n" for i in range(1, 9)) + "\n") * 2,
    "".join(f"{i}\tcat\tchat\tgato\n" for i in range(1, 19)) + "\n",
    "# global.columns = none of yours\nthe cat sat on the mat\n" * 5,
    "1. one\n2. two\n\n1. three\n2. four\n\n1. five\n2. six\n",
    "one line, one end\r",
    "#monday #tuesday\n#sunday #monday\n",
    "#monday\t{tag}\n#sunday\t{tag}\nand so on\n",
    "".join(f'"I go, {name}," he said, and went.\n' for name in range(30)),
    "".join(f'"Go", he said.\n"{name}", she said.\n' for name in range(30)),
    "".join(f"we went to x{name}; you, y{name}, stayed\n" for name in range(30)),
    "".join(f"x{name}, my dear, is gone\n" for name in range(30)),
    "".join(f"x{name},y,z{name % 7}\n" for name in range(30)),
    "".join(f"n{name}\tn{name % 7}\n" for name in range(30)),
    "".join(f"on {name + 1}\tam {name} ging ich\n" for name in range(30)),
    "".join(f"{name % 20} cats\n" for name in range(30)),
    "> how are you?\nfine\n> and you?\nwell\n" * 9,
]


def test_looking_for_tags_takes_no_time_that_grows_with_the_square():
    """Half a million attributes without the end of a tag: minutes, where each began to look for one anew."""
    for text in (b"<a " + b'k="v" ' * 500_000, b"for(i=0;i<n ;i++){" + b'x="a";' * 500_000, b"<a " * 500_000):
        assert tag_in(text) == ""


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text(text):
    assert recognise(text.encode(), "text") is None


@pytest.mark.parametrize(
    ("text", "sign"),
    [
        ("whole milk,rolls/buns\nwhole milk,beer\nbeer,rolls/buns\n", ","),
        ("1 2 3\n2 3\n", " "),
        ("a,b,c,,\nb,c,,,\n", ","),
        ("red wine;tea\ntea;red wine\nred wine;jam\n", ";"),
        ("red wine|tea\ntea|red wine\nred wine|jam\n", "|"),
        ("red wine\ttea\ntea\tred wine\nred wine\tjam\n", "\t"),
    ],
)
def test_delimiter_of_baskets(text, sign):
    assert guess_delimiter("f", text.split("\n")) == sign


def test_a_line_of_delimiters_alone_is_an_empty_basket(tmp_path):
    (tmp_path / "b").write_text("tea,jam\njam,tea,milk\n" * 12 + ",,\n")
    report = encode_input(Input("baskets", str(tmp_path / "b"))).report
    assert (report.groups, report.left_out["empty baskets"]) == (24, 1)


def test_blank_lines_alone_are_no_baskets(tmp_path):
    (tmp_path / "b").write_text("\n\t\n \n")
    with pytest.raises(InputError, match=r"b: no token in 5 bytes; name a file with text"):
        encode_input(Input("baskets", str(tmp_path / "b")))


def test_delimiter_in_doubt_is_asked():
    with pytest.raises(DoubtError, match="--delimiter comma or --delimiter blank"):
        guess_delimiter("f", ["a b, c d", "a c, b d", "a d, b c", "x, a b c d"])


def test_logs():
    assert looks_like_log([[f"t{i}", f"u{i}"] for i in range(30)])
    assert looks_like_log([[str(i), "a", "b"] for i in range(30)])
    assert looks_like_log([["a", "b"], ["b", "c"]] * 20) is None
    assert "in a log by basket" in looks_like_log([[f"b{n // 5}", f"i{n * 7 % 23}"] for n in range(200)])
    assert looks_like_log([[f"i{n % 7}", f"j{n * 7 % 23}"] for n in range(200)]) is None


def test_files_are_refused_and_plain_reads_them(tmp_path):
    file = tmp_path / "rows.jsonl"
    file.write_text('{"text": "one two"}\n' * 9)
    train = Word2Vec(dim=4, epochs=1, min_count=1, workers=1)
    for kind in ("corpus", "baskets"):
        with pytest.raises(InputError, match="JSON lines"):
            train.encode(Input(kind, str(file)))
    assert train.encode(Input("corpus", str(file), plain=True)).report.lines == 9


CONLL_U = """# text = Zum Du  sagst
1-2\tZum\t_\t_\t_\t_\t_\t_\t_\t_
1\tZu\tzu\tADP\t_\t_\t0\troot\t_\t_
2\tdem\tder\tDET\t_\t_\t1\tdet\t_\t_
3\tNew York\tNew York\tPROPN\t_\t_\t1\tobj\t_\t_
3.1\tleer\tleer\tVERB\t_\t_\t_\t_\t_\t_

1\t#\t#\tSYM\t_\t_\t0\troot\t_\t_
"""
CONLL_U_PLUS = "# global.columns = ID LEMMA FORM X\n" + "".join(f"{i}\tgo\twent\t_\n" for i in (1, 2, 3, 4, 5))
CONLL_09 = "".join(f"{i}\tthe\ta" + "\t_" * 11 + "\n" for i in (1, 2, 3)) + "\n1\tend\tb" + "\t_" * 11 + "\n"
KORP = "<!-- #vrt positional-attributes: word ref -->\n" + '<sentence id="0">\none\t1\tN\na\\b\t2\tN\n</sentence>\n' * 3
VERTICAL = '<doc id="a b">\n<s>\nNew York\tNP\tNew York\nis\tVB\tbe\n.\tSENT\t.\n</s>\n<s>\n<\tSYM\t<\n</s>\n</doc>\n'
VERTICAL += "a\tDT\ta\n.\tSENT\t.\nb\tNN\tb\n\nc\tNN\tc\n" + "d\tNN\td\n" * 20
TAGGED = "-DOCSTART- O\n\nEU B-ORG\nrejects O\nGerman B-MISC\ncall O\n\nto O\n"


@pytest.mark.skipif(not shutil.which("awk"), reason="awk is not here")
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        (CONLL_U, ["Zu dem New_York", "#"]),
        (VERTICAL, ["New_York is .", "<", "a .", "b", "c" + " d" * 20]),
        (CONLL_09 + "2\tof\tb" + "\t_" * 11 + "\n", ["the the the", "end of"]),
        (KORP, ["one a\\b"] * 3),
        (CONLL_U_PLUS, ["went " * 4 + "went"]),
        (TAGGED, ["EU rejects German call", "to"]),
        ("O\tbuy\nB-FOOD\ttea\n\n" * 3, ["buy tea"] * 3),
        ("the DT\ncat NN\n. .\n\n" * 4, ["the cat ."] * 4),
        ("the the DT\ncats cat NN\n. . SENT\n\n" * 4, ["the cats ."] * 4),
    ],
)
def test_the_remedy_for_tokens_with_tags_is_sentences(tmp_path, text, sentences, end):
    (tmp_path / "t").write_bytes(text.replace("\n", end).encode())
    with pytest.raises(InputError, match="looks like") as error:
        Word2Vec(dim=4, min_count=1).encode(str(tmp_path / "t"))
    command = str(error.value).split("one sentence per line: ")[1].split(" > ")[0].replace("FILE", "t")
    done = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert [" ".join(line.split()) for line in done.stdout.splitlines() if line.strip()] == sentences


@pytest.mark.skipif(not shutil.which("awk"), reason="awk is not here")
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    "text",
    [
        "1\n00:00:01,120 --> 00:00:02,000\nthe cat\nsees it\n\n2\n00:01:01,120 --> 00:01:02,000\nthe cat\nsees it\n",
        "WEBVTT\n\n" + "01:01.120 --> 01:02.000 align:end\nthe cat\nsees it\n\n" * 2,
    ],
)
def test_the_remedy_for_times_is_the_text_below(tmp_path, text, end):
    (tmp_path / "t").write_bytes(text.replace("\n", end).encode())
    out = remedy_run(tmp_path / "t", "corpus", "text.txt")[1]
    assert out.read_text().split() == ["the", "cat", "sees", "it", "the", "cat", "sees", "it"]


@pytest.mark.skipif(not shutil.which("awk"), reason="awk is not here")
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_lines_of_a_token_are_joined_up_to_blank_lines_and_sentences(tmp_path, end):
    for text in ("the\ncat\n\n", "<s>\nthe\ncat\n</s>\n", ' <s id="1">\nthe\ncat\n'):
        (tmp_path / "t").write_text((text * 3).replace("\n", end), newline="")
        command = _JOINED.partition(" > ")[0].replace("FILE", "t")
        done = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True, check=True)
        assert [line.strip() for line in done.stdout.splitlines() if line.strip()] == ["the cat"] * 3


@pytest.mark.skipif(not shutil.which("awk"), reason="awk is not here")
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_the_remedy_for_fasta_is_overlapping_letters(tmp_path, end):
    (tmp_path / "t").write_text(
        end.join([">one a protein", "MKVLAAGIVGLCAKAYLEQH", "NNQ", ">two", "MKV*", ""]), newline=""
    )
    with pytest.raises(InputError, match="looks like FASTA, not like text") as error:
        Word2Vec(dim=4, min_count=1).encode(str(tmp_path / "t"))
    command = str(error.value).split("one per line: ")[1].split(" > text")[0].replace("FILE", "t")
    done = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True, check=True)
    first, second = map(str.split, done.stdout.splitlines())
    assert len(first) == 21 and first[:2] + first[-3:] == ["MKV", "KVL", "QHN", "HNN", "NNQ"]
    assert second == ["MKV", "KV*"]


@pytest.mark.parametrize(
    ("text", "example"),
    [
        ('<doc id="12" url="https://x.org" title="A">\nA\n' + "plain text\n" * 300, '<doc id="12" url='),
        ("one<br />two\n<p>three</p>\nfour\n<b>five</b>\n", "<br />"),
        ("<!DOCTYPE html>\n<html>\none two\n", "<!DOCTYPE"),
        ("if a < b and c > d\n<s> the <unk> cat </s>\n<s> a </s>\n<user> : <url>\n" * 5, None),
        ("a <b>tag</b> in prose\nor two\n", None),
    ],
)
def test_tags_are_remarked_on_once(tmp_path, text, example):
    for name in "ab":
        (tmp_path / name).write_text(text * 2)
    for options, warned in (({"phrases": "auto"}, example), ({"strip": "urls,markup"}, None), ({"plain": True}, None)):
        with warnings.catch_warnings(record=True) as notes:
            warnings.simplefilter("always")
            Word2Vec(dim=4, min_count=1).encode(Input("corpus", str(tmp_path), tokenizer="whitespace", **options))
        assert len(notes) == bool(warned)
        if warned:
            assert example in str(notes[0].message) and "--strip markup" in str(notes[0].message)


def test_the_remedy_for_objects_over_lines_is_a_line_each(tmp_path):
    (tmp_path / "t").write_text('{\n "text": "a b",\n "of": {\n  "x": 1\n }\n}\n' * 3)
    rows = remedy_run(tmp_path / "t", "corpus", "rows.jsonl")[1]
    assert encode_input(Input("corpus", str(rows), text_col="text"), min_count=1).report.lines == 3


def remedy_run(file, kind, out, **options):
    """Run the command that the refusal of a file names, whose result is `out`; return the message and the result."""
    with pytest.raises(InputError) as error:
        encode_input(Input(kind, str(file), **options))
    command = re.search(rf"(python|awk|sed -E) .* > {out}|python -c \"[^\"]*'{out}'[^\"]*\"", str(error.value))[0]
    command = re.sub("^python", shlex.quote(sys.executable), command.replace("FILE", file.name))
    subprocess.run(command, shell=True, cwd=file.parent, capture_output=True, check=True)
    return str(error.value), file.with_name(out)


def directed(file):
    """Return the edges of a file, read as directed: set of (node, node, weight)."""
    read = encode_input(Input("edges", str(file), directed=True))
    names, cells = read.vocab.words, read.matrix.tocoo()
    return {(names[i], names[j], w) for i, j, w in zip(cells.row, cells.col, cells.data, strict=True)}


@pytest.mark.parametrize("form", ["gml", "pajek", "graphml", "gexf"])
def test_the_remedy_for_graphs_keeps_names_with_blanks(tmp_path, form):
    networkx = pytest.importorskip("networkx")
    graph = networkx.DiGraph()
    graph.add_weighted_edges_from([("New York", "Los Angeles", 2.0), ("Los Angeles", "Rome", 3.0)])
    getattr(networkx, f"write_{form}")(graph, tmp_path / "g")
    message, edges = remedy_run(tmp_path / "g", "edges", "edges.tsv")
    assert "--directed if they are directed" in message
    assert directed(edges) == {("New_York", "Los_Angeles", 2), ("Los_Angeles", "Rome", 3)}


GML = "graph [\n node [\n id 1\n{0} ]\n node [\n id 2\n{1} ]\n edge [\n source 1\n target 2\n{2} ]\n]\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (GML.format("", "", " value 3\n"), ("1", "2", 3)),
        (GML.format(' label "N 1"\n', ' label "N 2"\n', ""), ("N_1", "N_2", 1)),
        (GML.format(' name "x y"\n', ' name "z"\n', " weight 2\n"), ("x_y", "z", 2)),
        (GML.format(' label "é"\n', ' label "b"\n', " ]\n edge [\n source 1\n target 2\n"), ("é", "b", 2)),
        ("*Vertices 2\r\n*Edges\r\n 1 2\r\n", ("1", "2", 1)),
        ('/* x */\n*Vertices 3\n 1 "a b" 0.1 0.2\n 2 c\n*Arcslist\n 1 2\n', ("a_b", "c", 1)),
        ('*Vertices 2\n1 "a"\n2 "b"\n*Matrix\n0 3\n0 0\n', ("a", "b", 3)),
        ("a 1\nb {'weight': 2.0}\nb 0\n", ("a", "b", 2)),
        ('*Network x\n*Vertices 2\n1 "a"\n2 "b"\n*Arcs :1 "likes"\n1 2 4\n', ("a", "b", 4)),
    ],
)
def test_the_remedy_for_graphs_knows_their_names_and_weights(tmp_path, text, expected):
    if "graph" in text or "{" in text:
        pytest.importorskip("networkx")
    (tmp_path / "g").write_text(text, newline="")
    assert directed(remedy_run(tmp_path / "g", "edges", "edges.tsv")[1]) == {expected}


@pytest.mark.parametrize("line", ["#" * 100_000, "// " * 30_000, "/* " * 30_000, "% " * 50_000])
def test_looking_for_comments_takes_no_time_that_grows_with_the_square(line):
    assert recognise(f"{line}\n".encode() * 2, "edges") is None


def test_looking_for_triples_takes_no_time_that_grows_with_the_square():
    assert recognise(b"<a> <b> " + b'"^^<' * 60_000, "edges") is None


def test_objects_without_a_key_are_no_rows(tmp_path):
    (tmp_path / "rows").write_text("{}\n" * 3)
    for kind in TABLES:
        with pytest.raises(InputError, match="the first rows have no keys"):
            encode_input(Input(kind, str(tmp_path / "rows")))


def test_standard_input_is_no_file_in_python(tmp_path):
    rows = b'{"text": "one two"}\n' * 3
    with pytest.raises(InputError, match=r"--text-col text \(.*Its columns: text\.$"):
        refuse("standard input", rows, "text")
    (tmp_path / "rows").write_bytes(rows)
    with pytest.raises(InputError, match=r"In Python: Input\('corpus'"):
        refuse(str(tmp_path / "rows"), rows, "text")


@pytest.mark.parametrize(
    ("text", "weights"),
    [
        ("c\np sp 3 2\na 1 2 4\na 2 3 1\n", [4, 1]),
        ("p edge 3 2\ne 1 2\ne 2 3\n", [1, 1]),
        ("c x\np max 3 2\nn 1 s\nn 3 t\na 1 2 5\na 2 3 2\n", [5, 2]),
    ],
)
def test_the_remedy_for_dimacs_is_edges(tmp_path, text, weights):
    (tmp_path / "g").write_text(text)
    edges = remedy_run(tmp_path / "g", "edges", "edges.txt")[1]
    assert directed(edges) == {("1", "2", weights[0]), ("2", "3", weights[1])}


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("1:\n30,3,2005-09-06\n20,5,2005-05-13\n2:\n30,4,2005-10-19\n", {("30", "1"), ("20", "1"), ("30", "2")}),
        ("1:\r\n30\r\n20\r\n2:\r\n30\r\n", {("30", "1"), ("20", "1"), ("30", "2")}),
    ],
)
def test_the_remedy_for_blocks_of_rows_is_users_and_items(tmp_path, text, pairs):
    (tmp_path / "b").write_text(text, newline="")
    rows = remedy_run(tmp_path / "b", "ratings", "rows.txt", rectangular=True, bad_rows="skip")[1]
    read = encode_input(Input("ratings", str(rows), rectangular=True))
    cells = zip(*read.matrix.tocoo().coords, strict=True)
    assert {(read.vocab.words[i], read.vocab_out.words[j]) for i, j in cells} == pairs


def test_the_remedy_for_dicts_of_python_is_json_lines(tmp_path):
    rows = [{"user_id": f"u{n % 2}", "item_id": f"it's {n}", "price": None} for n in range(4)]
    (tmp_path / "d").write_text("".join(f"{row},\n" for row in rows))
    read = encode_input(Input("ratings", str(remedy_run(tmp_path / "d", "ratings", "rows.jsonl")[1]), rectangular=True))
    assert (len(read.vocab), set(read.vocab_out.words)) == (2, {f"it's_{n}" for n in range(4)})


@pytest.mark.parametrize("text", ["['a', 'b']\n\n['c', 'd']\n", '["a", "b"]\n\n["c", "d"]\n\n'])
def test_the_remedy_for_lists_passes_blank_lines(tmp_path, text):
    (tmp_path / "l").write_text(text)
    assert remedy_run(tmp_path / "l", "pairs", "table.tsv")[1].read_text() == "a\tb\nc\td\n"
    (tmp_path / "l").write_text("{'u': 1}\n\n{'u': 2}\n\n")
    assert remedy_run(tmp_path / "l", "pairs", "rows.jsonl")[1].read_text() == '{"u": 1}\n{"u": 2}\n'


@pytest.mark.skipif(not shutil.which("awk"), reason="awk is not here")
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_the_remedy_for_braces_leaves_the_items(tmp_path, end):
    (tmp_path / "b").write_text(end.join(["{tea,milk}", '"[jam,tea]"', ""]), newline="")
    assert remedy_run(tmp_path / "b", "baskets", "baskets.txt")[1].read_text().split() == ["tea,milk", "jam,tea"]


@pytest.mark.skipif(not shutil.which("awk"), reason="awk is not here")
@pytest.mark.parametrize("end", [" .\n", ".\n", " . \r\n"])
def test_the_remedy_for_triples_is_subjects_and_objects(tmp_path, end):
    triples = end.join(["<a> <p> <b>", '<a> <q> "one b"', "<b> <p> _:c", ""])
    (tmp_path / "t").write_text("# by hand\n" + triples, newline="")
    assert remedy_run(tmp_path / "t", "edges", "edges.tsv")[1].read_text() == "<a>\t<b>\n<b>\t_:c\n"


@pytest.mark.parametrize("text", ["1|2\n3|4\n2|2\n1|4\n", "a:\nb,1\n", "12:30,1\n13:30,2\n12:30,2\n", "2\n1,2\n2,1\n"])
def test_rows_that_only_look_like_blocks_are_tables(text):
    assert recognise(text.encode(), "pairs") is None


def test_comments_between_edges_are_no_other_format():
    for text in (
        "# one\n1 2\n# two\n2 3\n# three\n3 1\n",
        "# 2\n1 2\n2 3\n",
        "#\n# nodes\n#\na b\nb c\n",
        "a b\n#\nb c\n",
    ):
        assert recognise(text.encode(), "edges") is None


def test_a_line_of_sizes_above_edges_is_noticed(tmp_path):
    for first, more in (("9 30", ""), ("9 9 30", " 2")):
        rows = [first, *(f"{i % 9} {i * 7 % 8}{more}" for i in range(30))]
        (tmp_path / "g").write_text("\n".join(rows))
        assert "tail -n +2" in " ".join(encode_input(Input("edges", str(tmp_path / "g"))).report.hints)
        (tmp_path / "g").write_text("\n".join(rows[1:]))
        assert not encode_input(Input("edges", str(tmp_path / "g"))).report.hints


@pytest.mark.parametrize(("options", "sign"), [({}, "\t"), ({"delimiter": "tab"}, "\t"), ({}, " "), ({}, "|")])
@pytest.mark.parametrize("every", [1, 2])
def test_the_remedy_for_names_that_begin_as_comments_is_quotes(tmp_path, sign, every, options):
    lines = [f"{'' if i % every else '#'}a{i % 9}{sign}#b{i % 7}" for i in range(120)]
    (tmp_path / "g").write_text("# a remark\n" + "\n".join(lines) + "\n")
    message, edges = remedy_run(tmp_path / "g", "edges", "edges.txt", **options)
    assert f"{120 // every} lines, beside {120 - 120 // every} rows, begin with #" in message
    assert len(directed(edges)) == len(set(lines))
    assert "grep -v '^[#%]' FILE" in message or every == 1
    for kind in ("pairs", "ratings"):  # which have no comments but above their rows
        assert encode_input(Input(kind, str(tmp_path / "g"), rectangular=True)).report.rows == 120


@pytest.mark.parametrize("options", [{}, {"delimiter": "blank"}])
@pytest.mark.parametrize("form", ["array", "coordinate"])
def test_the_remedy_for_matrix_market_takes_both_forms(tmp_path, form, options):
    matrix = scipy.sparse.csr_matrix([[0.0, 2.0], [3.0, 0.0]])
    scipy.io.mmwrite(tmp_path / "g.mtx", matrix if form == "coordinate" else matrix.toarray())
    out = remedy_run(tmp_path / "g.mtx", "edges", "matrix.npz", **options)[1]
    assert encode_input(Input("edges", str(out), directed=True)).matrix.toarray().sum() == 5


@pytest.mark.parametrize(
    ("names", "sign"), [("abcd", ","), ("abcd", "\t"), ("0123", ","), (None, ","), (None, "\t"), (None, " ")]
)
def test_the_remedy_for_a_matrix_as_a_table_is_a_row_for_each_pair(tmp_path, names, sign):
    size = len(names) if names else 12
    matrix = np.zeros((size, size), int)
    matrix[0, 1], matrix[2, 3] = 2, 5
    labels = names and list(names)
    pd.DataFrame(matrix, labels, labels).to_csv(tmp_path / "m", sep=sign, index=bool(names), header=bool(names))
    edges = remedy_run(tmp_path / "m", "edges", "pairs.csv")[1]
    a, b, c, d = names or "0123"
    assert directed(edges) == {(a, b, 2), (c, d, 5)}


COUNTS = [(f"S{i}", [i % 3, i * i % 4, i % 2]) for i in range(15)]


@pytest.mark.parametrize("kind", ["pairs", "edges", "ratings"])
@pytest.mark.parametrize(
    ("head", "last"),
    [
        ("site,Quercus,Fagus,Pinus", ""),
        ("# from a biom file\n#OTU ID,s0,s1,s2,taxonomy", ",k__Bacteria; p__X"),
        ("user,q1,q2,q3", ""),
    ],
)
def test_the_remedy_for_counts_below_names_is_a_row_for_each_pair(tmp_path, kind, head, last):
    (tmp_path / "m").write_text(head + "".join(f"\n{row},{','.join(map(str, own))}{last}" for row, own in COUNTS))
    pairs = remedy_run(tmp_path / "m", kind, "pairs.csv")[1].read_text().splitlines()[1:]
    names = head.split("\n")[-1].split(",")[1:4]
    assert {*pairs} == {f"{row},{name},{n}" for row, own in COUNTS for name, n in zip(names, own, strict=True) if n}


@pytest.mark.parametrize(
    "lines",
    [
        ["edge_id,node_1,node_2,n1,n2", *(f"{i},{i % 3},{i % 5},{i},1" for i in range(9))],
        ["name,near,x,y,z", *(f"a{i},a{i * 2 % 9},1,2,3" for i in range(9))],
        ["a,b,x,y,z", *(f"{i % 5},{i % 3},1,2,3" for i in range(9))],
        ["source,target,x,y", *(f"{i},{i % 3},1,2" for i in range(9))],
        ["name,p,m", *(f"{i},{i % 2},1" for i in range(4))],
    ],
)
def test_rows_with_numbers_behind_pairs_are_no_matrix(tmp_path, lines):
    (tmp_path / "m").write_text("\n".join(lines))
    assert encode_input(Input("edges", str(tmp_path / "m"))).report.rows == len(lines) - 1


def test_sources_above_targets_are_no_table(tmp_path):
    (tmp_path / "m").write_text("1,1,2,2,3,3,4,4,5\n2,3,3,4,4,5,5,6,6\n")
    with pytest.raises(DoubtError, match=r"a row for each pair \(if it is a table after all, give --source-col 1"):
        encode_input(Input("edges", str(tmp_path / "m")))


def test_a_matrix_is_read_where_columns_are_named(tmp_path):
    (tmp_path / "m").write_text("".join(f"{i} {i + 1} 0 0 0 0 0 0 0 0\n" for i in range(9)))
    read = encode_input(Input("edges", str(tmp_path / "m"), source_col=1, target_col=2, weight_col="none"))
    assert len(read.vocab) == 10


def test_sentences_that_are_sets_are_refused():
    with pytest.raises(InputError, match="whose order would differ"):
        Word2Vec(dim=4, min_count=1).encode([{"a", "b"}, {"b", "c"}])


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    "text",
    [
        "whole milk,bread,tea\n1,0,1\n1,1,0\n0,1,1\n",
        "whole milk\tbread\ttea\nTrue\tFalse\tTrue\nTrue\tTrue\tFalse\nFalse\tTrue\tTrue\n",
        ",whole milk,bread,tea\n1,T,F,T\n2,T,T,F\n3,F,T,T\n",
        '"","whole milk","bread","tea"\n"1",TRUE,FALSE,TRUE\n"2",TRUE,TRUE,FALSE\n"3",FALSE,TRUE,TRUE\n',
        "basket;whole milk;bread;tea\n1;1;0;1\n2;1;1;0\n3;0;1;1\n",
        "site,whole milk,bread,tea\nS1,12,0,1.5\nS2,2,3,0\nS3,0,1,7\n",
    ],
)
def test_the_remedy_for_a_column_for_each_item_is_names(tmp_path, text, end):
    (tmp_path / "b").write_bytes(text.replace("\n", end).encode())
    baskets = remedy_run(tmp_path / "b", "baskets", "baskets.tsv")[1]
    assert baskets.read_text() == "whole milk\ttea\nwhole milk\tbread\nbread\ttea\n"
    assert encode_input(Input("baskets", str(baskets))).report.rows == 3


SETS = [[f"g{(i * 7 + k * k) % 23}" for k in range(3 + i % 3)] for i in range(30)]


@pytest.mark.parametrize(
    ("sign", "before"),
    [
        (" ", lambda i: [str(len(SETS[i]))]),
        (" ", lambda i: [f"P{i}:"]),
        (",", lambda i: [f"set{i}"]),
        ("\t", lambda i: [f"circle{i}"]),
        ("\t", lambda i: [f"Set {i}"]),
    ],
)
@pytest.mark.skipif(not shutil.which("cut"), reason="cut is not here")
def test_what_stands_before_the_items_is_no_item(tmp_path, sign, before):
    (tmp_path / "b").write_text("".join(sign.join([*before(i), *own]) + "\n" for i, own in enumerate(SETS)))
    with pytest.raises(DoubtError, match=r"the first entries (count the others|occur once)") as error:
        encode_input(Input("baskets", str(tmp_path / "b")))
    command = re.search(r"cut -.* > baskets.txt", str(error.value))[0].replace("FILE", "b")
    subprocess.run(command, shell=True, cwd=tmp_path, check=True)
    assert (tmp_path / "baskets.txt").read_text() == "".join(sign.join(own) + "\n" for own in SETS)
    assert set(encode_input(Input("baskets", str(tmp_path / "baskets.txt"))).vocab.words) == {
        item for own in SETS for item in own
    }


@pytest.mark.parametrize(
    "lines",
    [
        [f"new{i} " + " ".join(f"x{i}y{k}" for k in range(4)) for i in range(40)],  # where hardly an item recurs
        [" ".join(sorted(own)) for own in SETS],
        [f"{2 + i % 2} " + " ".join(f"{(i * k) % 9}" for k in range(2, 5)) for i in range(40)],
        [f"{i * 37 % 40} {i * 11 % 40} {i * 3 % 40} {i * 7 % 40}" for i in range(40)],
        ["3 a b c", "2 a b", "1 c"],
    ],
)
def test_first_items_are_items(tmp_path, lines):
    (tmp_path / "b").write_text("\n".join(lines) + "\n")
    assert len(encode_input(Input("baskets", str(tmp_path / "b"))).vocab) == len({*" ".join(lines).split()})


def test_many_flags_without_names_become_numbers_of_columns(tmp_path):
    (tmp_path / "b").write_text("1 0 1\n0 1 1\n" * 10)
    baskets = remedy_run(tmp_path / "b", "baskets", "baskets.tsv")[1]
    assert baskets.read_text() == "1\t3\n2\t3\n" * 10
    assert encode_input(Input("baskets", str(tmp_path / "b"), plain=True)).report.rows == 20


@pytest.mark.parametrize(
    "text",
    [
        "i1 i2 i3\n10 20 30\n20 10 40\n",
        "x a b\n7 0 9\n7 9 0\n",
        "0 1\n1 0\n1 0\n",
        "a b c\n1 0 1\n1 0\n",
        "a b\n0 x\n1 y\n",
        f"a{'1' * 5000} b\nb c\nc b\n",
    ],
)
def test_items_that_are_no_flags_are_baskets(tmp_path, text):
    (tmp_path / "b").write_text(text)
    assert encode_input(Input("baskets", str(tmp_path / "b"))).report.rows == 3


def test_items_in_quotes_are_asked_about(tmp_path):
    file = tmp_path / "quoted.csv"
    file.write_text('"whole milk","tea"\n"tea","jam"\n' * 3 + '"jam","whole milk","tea"\n')
    train = Word2Vec(dim=4, min_count=1)
    with pytest.raises(DoubtError, match=r"""in quotes, as in "whole milk".*tr -d '"'.*--plain --delimiter comma"""):
        train.encode(Input("baskets", str(file)))
    kept = train.encode(Input("baskets", str(file), plain=True, delimiter="comma"))
    assert set(kept.vocab.words) == {'"whole_milk"', '"tea"', '"jam"'}
    file.write_text(file.read_text().replace('"', ""))  # as the remedy does
    assert set(train.encode(Input("baskets", str(file))).vocab.words) == {"whole_milk", "tea", "jam"}


@pytest.mark.parametrize(
    ("header", "kind", "said"),
    [
        ("bip weighted", "pairs", "--ratings with --rectangular: its third column holds ratings, not weights"),
        ("bip posweighted", "pairs", "--pairs pairs.txt --rectangular --weight-col 3 (its third column holds weights)"),
        ("bip unweighted", "edges", "--pairs pairs.txt --rectangular --weight-col none (its third column holds no w"),
        ("sym weighted", "edges", "--edges edges.txt --weight-col none (its third column holds ratings)"),
        ("asym signed", "edges", "--edges edges.txt --weight-col none (its third column holds signs)"),
    ],
)
def test_konect_says_what_its_third_column_holds(tmp_path, header, kind, said):
    file = tmp_path / "out.graph"
    file.write_text(f"% {header}\n% 3 2 2\n1 1 4\n1 2 2\n2 2 5\n")
    with pytest.raises(InputError) as error:
        Word2Vec(dim=4, min_count=1).encode(
            Input(kind, str(file), **({"rectangular": True} if kind == "pairs" else {}))
        )
    assert said in str(error.value)


def test_konect_is_read_where_its_header_allows(tmp_path):
    file = tmp_path / "out.graph"
    train = Word2Vec(dim=4, min_count=1)
    file.write_text("% bip weighted\n% 3 2 2\n1 1 4\n1 2 2\n2 2 5\n")
    rated = train.encode(Input("ratings", str(file), rectangular=True, min_rating=4))
    assert rated.matrix.toarray().sum() == 2
    file.write_text("% sym posweighted\n1 2 4\n2 3 2\n")
    assert train.encode(Input("edges", str(file))).matrix.toarray().sum() == 12


class _Stdin:
    """Standard input of these bytes."""

    def __init__(self, data):
        self.buffer = io.BytesIO(data)


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_standard_input_is_looked_at_and_read(monkeypatch, pack):
    train = Word2Vec(dim=4, min_count=1)
    groceries = b"whole milk,rolls/buns\nwhole milk,beer\nbeer,rolls/buns\n" * 30_000  # more than is looked at
    monkeypatch.setattr("sys.stdin", _Stdin(pack(groceries)))
    read = train.encode(Input("baskets", "-"))
    assert set(read.vocab.words) == {"whole_milk", "rolls/buns", "beer"} and read.report.rows == 90_000
    for kind in ("corpus", "baskets"):
        monkeypatch.setattr("sys.stdin", _Stdin(pack(b'{"text": "one two"}\n' * 9)))
        with pytest.raises(InputError, match="standard input: looks like JSON lines"):
            train.encode(Input(kind, "-"))


def test_urls_are_looked_at():
    fs = pytest.importorskip("fsspec").filesystem("memory")
    fs.pipe("/foreign/rows.jsonl", b'{"text": "one two"}\n' * 9)
    fs.pipe("/foreign/milk.csv", b"whole milk,rolls/buns\nwhole milk,beer\nbeer,rolls/buns\n")
    train = Word2Vec(dim=4, min_count=1)
    try:
        with pytest.raises(InputError, match="looks like JSON lines"):
            train.encode(Input("corpus", "memory://foreign/rows.jsonl"))
        read = train.encode(Input("baskets", "memory://foreign/milk.csv"))
    finally:
        fs.rm("/foreign", recursive=True)
    assert set(read.vocab.words) == {"whole_milk", "rolls/buns", "beer"}


def test_a_table_of_text_without_a_header_is_no_corpus():
    rows = [f"D{n * 7919:07d}\thttps://www.example.org/{n}\thow old is it\tit is old" for n in range(60)]
    assert recognise("\n".join(rows).encode(), "text").name == "a table without a header"
    assert recognise("\n".join(row.split("\t", 2)[2] for row in rows).encode(), "text") is None
