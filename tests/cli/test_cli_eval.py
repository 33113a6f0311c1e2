"""`w2vneg eval`: tables, JSON, named sets that are missing, and what goes wrong."""

import json

import numpy as np
import pytest

from w2vneg.ground.errors import DataError
from w2vneg.vectors import Vectors

PAIRS = [("Paris", "london", 8.0), ("dog", "cat", 7.0), ("dog", "paris", 1.0), ("cat", "Atlantis", 0.5)]
QUESTIONS = ": capital-world\ndog cat paris london\ncat dog london paris\n: gram1\ndog cats paris london\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder, with vectors.txt, a similarity set and analogy questions in it."""
    monkeypatch.chdir(tmp_path)
    matrix = [[1, 0, 0.1], [1, 0.2, 0], [0, 1, 0.1], [0.1, 1, 0]]
    Vectors(["dog", "cat", "paris", "london"], matrix).save("vectors.txt")
    (tmp_path / "pairs.tsv").write_text("".join("\t".join(map(str, row)) + "\n" for row in PAIRS))
    (tmp_path / "questions.txt").write_text(QUESTIONS)
    return tmp_path


@pytest.fixture
def only_men(folder, monkeypatch):
    """Named data of which only one set can be had."""
    from w2vneg.data import catalog as datasets

    real = datasets.resolve

    def resolve(name, *arguments, **options):
        if str(name) == "men":
            return folder / "pairs.tsv"
        if "." in str(name):
            return real(name, *arguments, **options)
        raise DataError(f"{name} cannot be had; download it")

    monkeypatch.setattr(datasets, "resolve", resolve)
    monkeypatch.setattr(datasets, "where", lambda name, mirror=None: ("absent", None))


def test_similarity_table_and_json(folder, run_cli):
    shown = run_cli("eval", "similarity", "--set", "pairs.tsv")
    assert shown.code == 0
    head, rule, row = shown.out.splitlines()
    interval = ["95", "%", "interval"]
    assert head.split() == ["set", "Spearman", *interval, "Pearson", *interval, "pairs"]
    assert set(rule) == {"-", " "}
    assert len(head) == len(rule) == len(row)
    expected = Vectors.load("vectors.txt").evaluate_similarity("pairs.tsv")
    assert row.split() == (
        f"pairs.tsv {expected.spearman:.3f} -1.000 … 1.000 {expected.pearson:.3f} -1.000 … 1.000 3/4".split()
    )
    document = json.loads(run_cli("eval", "similarity", "vectors.txt", "--set", "pairs.tsv", "--json").out)
    assert document["vectors"] == "vectors.txt"
    assert document["results"] == [json.loads(json.dumps(expected.as_dict()))]
    assert document["missing"] == {}


@pytest.mark.parametrize("flags", ["--loss=relaxed", "--loss=ns --cbow", "--loss=ns --l2=1 --bias=0.5"])
def test_words_of_a_vocabulary_that_were_never_trained_are_warned_of(folder, run_cli, flags):
    """The text has dog and cat alone; where a vocabulary is of the text, and where its words begin elsewhere, none."""
    (folder / "text").write_text("dog cat dog cat dog\n" * 20)
    (folder / "vocab.tsv").write_text("".join(f"{word}\t9\n" for word in ("cat", "dog", "london", "paris")))
    train = "train", "--corpus=text", "--dim=4", "--epochs=1", "--workers=1", "--subsample=0", "--quiet"
    dense = "--vocab=vocab.tsv", "--loss=softmax", "--save-model=dense"
    assert run_cli(*train, *dense).code == 0  # whose first step moves no centre
    train = *train, *flags.split()
    assert run_cli(*train, "--vocab=vocab.tsv", "--save-model=part").code == 0
    assert run_cli(*train, "--vocab=vocab.tsv", "--init=vectors.txt", "--dim=3", "--save-model=begun").code == 0
    assert run_cli(*train, "--save-model=own").code == 0
    asked = ("eval similarity {} --set pairs.tsv", "eval analogy {} --set questions.txt", "nearest dog --vectors {}")
    for command in (*asked, "analogy dog cat paris --vectors {}"):
        said = run_cli(*command.format("part").split())
        assert said.code == 0 and "Warning: 2 of 4 words of part were never trained" in said.err, said.err
    for place in ("begun", "own", "dense"):
        assert "never trained" not in run_cli("nearest", "dog", "--vectors", place).err


@pytest.mark.parametrize("arguments", [(), ("--set", "all"), ("--set", "all", "--set", "pairs.tsv")])
def test_missing_default_sets_are_noted_and_the_others_scored(only_men, run_cli, arguments):
    result = run_cli("eval", "similarity", *arguments)
    assert result.code == 0
    assert [line.split()[0] for line in result.out.splitlines()[2:]] == ["men", *arguments[3:]]
    assert "ws353, simlex999, rw, mturk287 are not scored: they are not on this machine" in result.err
    assert result.err.count("--mirror or W2VNEG_MIRROR") == 1 and "cannot be had" not in result.err
    document = json.loads(run_cli("eval", "similarity", *arguments, "--json").out)
    assert list(document["missing"]) == ["ws353", "simlex999", "rw", "mturk287"]


def test_of_one_missing_set_the_whole_reason_is_told(only_men, run_cli, monkeypatch):
    places = {
        name: ("absent" if name == "rw" else "damaged", None) for name in ("ws353", "simlex999", "rw", "mturk287")
    }
    monkeypatch.setattr("w2vneg.data.catalog.where", lambda name, mirror=None: places[name])
    result = run_cli("eval", "similarity")
    assert result.err.count("is not scored: ") == 4 and "rw is not scored: rw cannot be had; download it" in result.err


def test_a_missing_set_asked_for_by_name_is_an_error(only_men, run_cli):
    result = run_cli("eval", "similarity", "--set", "all", "--set", "rw")
    assert (result.code, result.out) == (1, "")
    assert "Error: rw cannot be had; download it" in result.err


def test_no_set_at_all_is_an_error(only_men, folder, run_cli):
    (folder / "pairs.tsv").unlink()
    result = run_cli("eval", "similarity")
    assert (result.code, result.out) == (1, "")
    assert "Error: none of the sets ws353, simlex999, rw, men, mturk287 could be scored" in result.err
    assert "Traceback" not in result.err


def test_analogy_table_and_json(folder, run_cli):
    shown = run_cli("eval", "analogy", "--set", "questions.txt")
    assert shown.code == 0
    lines = [line.split() for line in shown.out.splitlines()]
    assert lines[0] == ["section", "P@1", "P@5", "P@15", "questions"]
    assert lines[2] == ["capital-world", "100.0", "100.0", "100.0", "2/2"]
    assert lines[3] == ["gram1", "–", "–", "–", "0/1"]
    assert [line[0] for line in lines[5:]] == ["semantic", "syntactic", "all"]
    assert lines[7] == ["all", "100.0", "100.0", "100.0", "2/3"]
    assert len({len(line) for line in shown.out.splitlines()}) == 1
    document = json.loads(run_cli("eval", "analogy", "--set", "questions.txt", "--half", "dev", "--json").out)
    assert (document["vectors"], document["half"], document["overall"]["total"]) == ("vectors.txt", "dev", 2)
    document = json.loads(run_cli("eval", "analogy", "--set", "questions.txt", "--json").out)
    assert document["overall"]["precision"] == {"1": 1.0, "5": 1.0, "15": 1.0}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("similarity", "none.txt", "--set", "pairs.tsv"), "none.txt: no such file; train vectors first"),
        (("similarity", "--set", "bad.tsv"), "bad.tsv:2: expected word, word, score"),
        (("similarity", "--set", "none.tsv"), "none.tsv"),
        (("similarity", "--set", "ws354"), "did you mean 'ws353"),
        (("similarity", "--set", "google"), "not similarity"),
        (("similarity", "bad.txt", "--set", "pairs.tsv"), "bad.txt:2: expected 3 numbers, found 2"),
        (("analogy", "--set", "bad.tsv"), "bad.tsv:1: expected four words"),
        (("analogy", "--set", "questions.txt", "--restrict-vocab", "2"), "none of the 3 questions"),
    ],
)
def test_mistakes(folder, run_cli, arguments, message):
    (folder / "bad.tsv").write_text("a b 1\nc\n")
    (folder / "bad.txt").write_text("1 3\na 1 2\n")
    result = run_cli("eval", *arguments)
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith("Error: ")
    assert message in result.err
    assert "Traceback" not in result.err


def test_usage_mistakes(folder, run_cli):
    assert run_cli("eval", "analogy", "--restrict-vocab", "0").code == 2
    assert run_cli("eval", "analogy", "--half", "both").code == 2
    for command in ((), ("similarity",), ("analogy",)):
        result = run_cli("eval", *command, "--help")
        assert result.code == 0
        assert "Usage: w2vneg eval" in result.out


@pytest.mark.realdata
def test_real_sets(tmp_path, monkeypatch, mirror, run_cli):
    from w2vneg.data import catalog as datasets
    from w2vneg.vectors.evaluation import read_questions

    monkeypatch.chdir(tmp_path)
    sections = read_questions(datasets.resolve("google", mirror=mirror))
    words = {word.lower() for _, questions in sections for question in questions for word in question}
    words = sorted(words | {"love", "sex", "tiger", "cat"})
    Vectors(words, np.random.default_rng(0).normal(size=(len(words), 10))).save("vectors.bin")
    result = run_cli("eval", "analogy", "vectors.bin", "--mirror", mirror)
    assert result.code == 0
    assert result.out.splitlines()[-1].endswith("19544/19544")
    result = run_cli("eval", "similarity", "vectors.bin", "--json", "--mirror", mirror)
    document = json.loads(result.out)
    assert [item["name"] for item in document["results"]] == ["ws353", "simlex999", "men", "mturk287"]
    assert " of 2034 pairs have vectors for both words" in document["missing"]["rw"]
