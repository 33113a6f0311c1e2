"""docs/migrating.md: its lines run, and its tables name everything public in gensim."""

import inspect
import re
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

from w2vneg import Vectors, Word2Vec
from w2vneg.cli.train import train

Theirs = pytest.importorskip("gensim.models").Word2Vec

PAGE = (Path(__file__).parent.parent / "docs" / "migrating.md").read_text(encoding="utf-8")


def table(heading):
    """Return what a table says, dict of gensim's name -> the second cell."""
    section = PAGE.split(f"### {heading}\n")[1].split("\n##")[0]
    rows = [line.split("|")[1:3] for line in section.splitlines() if line.startswith("| `")]
    found = [(name, here.strip()) for names, here in rows for name in re.findall(r"`(\w+)`", names)]
    assert len(found) == len(dict(found)), "a name stands in two rows"
    return dict(found)


def public(thing):
    return {name for name in [*dir(type(thing)), *vars(thing)] if not name.startswith("_")}


@pytest.fixture(scope="module")
def model():
    return Theirs([["a", "b"]] * 3, vector_size=2, min_count=1, epochs=1, workers=1)


def test_the_tables_name_everything_public_in_gensim(model):
    constructor = set(inspect.signature(Theirs).parameters)
    assert set(table("gensim's constructor")) == constructor
    ours = table("gensim's Word2Vec")
    assert not (public(model) - set(ours) - {"load"})
    ours = table("gensim's KeyedVectors")
    assert not (public(model.wv) - set(ours))


@pytest.mark.parametrize(("heading", "cls"), [("gensim's Word2Vec", Word2Vec), ("gensim's KeyedVectors", Vectors)])
def test_what_is_called_the_same_is_there_and_the_rest_is_not(heading, cls):
    for name, here in table(heading).items():
        assert hasattr(cls, name) == (here == "same"), name


def test_the_constructor_takes_what_is_called_the_same():
    signature = inspect.signature(Theirs)
    for name, here in table("gensim's constructor").items():
        if here.endswith("same"):
            value = signature.parameters[name].default
            Word2Vec(**{name: value if value is not None else 100})


def test_tables_name_no_method_that_is_not_there():
    known = {"Vectors", *public(Word2Vec()), *public(Vectors(["a"], [[1.0]]))}
    for heading in ("gensim's Word2Vec", "gensim's KeyedVectors"):
        for here in table(heading).values():
            for name in re.findall(r"`(\w+)(?:\([^`]*)?`", here):
                assert name in known, name


def test_the_lines_for_users_of_gensim_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ["king", "queen", "man", "woman", "cheese", "bread"]
    sentences = [[words[(i * step) % 6] for i in range(8)] for step in range(1, 40)]
    code = re.search(r"```python\n(.*?)```", PAGE, re.DOTALL)[1]
    names = {"sentences": sentences, "more": sentences[:5]}
    exec(code, names)
    assert isinstance(names["wv"], Vectors) and set(names["wv"]) == set(words)


def test_the_lines_for_users_of_implicit_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    seen = rng.random((20, 15)) < 0.4
    seen[:, 0] = True
    code = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)[1]
    names = {
        "user_items": scipy.sparse.csr_matrix(seen, dtype=float),
        "held_out": scipy.sparse.csr_matrix(~seen & (rng.random((20, 15)) < 0.3), dtype=float),
    }
    exec(code, names)
    found = names["found"]
    assert found.ids.shape == (8, 10)
    for user, items in found:
        assert not seen[int(user), [int(item) for item, _ in items]].any()
    assert {int(word) for word in names["model"].model.vocab.words} == set(range(20))


def test_the_lines_for_users_of_node2vec_and_pecanpy_run(tmp_path, monkeypatch, run_cli):
    monkeypatch.chdir(tmp_path)
    edges = [(i, j, 1 + i % 3) for i in range(12) for j in range(i) if (i + j) % 3 or i - j == 3]
    (tmp_path / "graph.edg").write_text("".join(f"{i}\t{j}\t{w}\n" for i, j, w in edges))
    section = PAGE.split("## node2vec and PecanPy\n")[1]
    heads, tails, weights = zip(*edges, strict=True)
    names = {"edges": edges, "matrix": scipy.sparse.coo_matrix((weights, (heads, tails)), shape=(12, 12))}
    exec(re.search(r"```python\n(.*?)```", section, re.DOTALL)[1], names)
    assert set(names["wv"]) == {str(i) for i in range(12)}
    command = re.search(r"^w2vneg (train .*)$", section, re.MULTILINE)[1]
    assert run_cli(*command.split(), "--workers", "1", "--force").code == 0
    assert len(Vectors.load("graph.txt")) == 12


@pytest.fixture
def text(tmp_path, monkeypatch):
    """data.txt, in the current folder."""
    monkeypatch.chdir(tmp_path)
    words = ["king", "queen", "man", "woman"]
    fillers = [f"w{i}" for i in range(200)]
    lines = np.random.default_rng(1).choice(words * 5 + fillers, (200, 12))
    Path("data.txt").write_text("\n".join(map(" ".join, lines)), encoding="utf-8")
    return words


def test_the_commands_for_users_of_fasttext_name_options_that_there_are(text, run_cli):
    """Each line runs as it is; of those that train the options are taken."""
    section = PAGE.split("## fastText\n")[1].split("\n## ")[0]
    lines = re.findall(r"^\| `[^|]*\| `w2vneg ([^|]*)` \|$", section, re.MULTILINE)
    assert len(lines) == 8, lines
    Path("model.vec").write_text("2 8\nking 1 2 3 4 5 6 7 8\nqueen 8 7 6 5 4 3 2 1\n", encoding="utf-8")
    trained = Word2Vec(loss="ns", dim=8, epochs=1, min_count=2, workers=1)
    trained.fit("data.txt")
    trained.save("model")
    for line in lines:
        arguments = line.split()
        if arguments[0] != "train":
            result = run_cli(*arguments)
            assert result.code == 0, result.err
            continue
        taken = train.make_context("train", arguments[1:]).params
        assert taken["corpus"] == ("data.txt",)
        assert taken["noise_exponent"] == (None if taken["loss"] == "hierarchical" else 0.5)
        assert taken["subwords"] == (not (taken["init"] or "words" in arguments))  # -maxn 0 has none
        assert taken["readout"] == (taken["output"] and "in")  # of model.vec


@pytest.mark.slow
def test_the_lines_for_users_of_fasttext_run(text):
    code = re.findall(r"```python\n(.*?)```", PAGE.split("## fastText\n")[1], re.DOTALL)[0]
    names = {}
    exec(code, names)
    vectors = names["vectors"]
    assert set(text) < set(vectors.words)
    assert np.isfinite(vectors["kings"]).all() and "kings" not in vectors
