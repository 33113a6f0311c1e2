"""`w2vneg nearest` and `w2vneg analogy`."""

import json

import pytest

from w2vneg.vectors import Vectors

WORDS = ["king", "queen", "man", "woman", "été"]
MATRIX = [[3, 1, 0], [3, 0, 2], [1, 1, 0], [1, 0, 2], [-1, 0, 0]]


@pytest.fixture(autouse=True)
def vectors(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = Vectors(WORDS, MATRIX)
    made.save("vectors.txt")
    made.save("other.npz")
    return made


def test_nearest(vectors, run_cli):
    result = run_cli("nearest", "king", "été", "-k", 2)
    assert result.code == 0
    expected = []
    for word in ("king", "été"):
        expected.append([word])
        expected += [[other, f"{cosine:.3f}"] for other, cosine in vectors.most_similar(word, k=2)]
    assert [line.split() for line in result.out.splitlines() if line] == expected


def test_nearest_json(vectors, run_cli):
    document = json.loads(run_cli("nearest", "queen", "--vectors", "other.npz", "--json").out)
    found = [(item["word"], item["cosine"]) for item in document["nearest"]["queen"]]
    assert found == vectors.most_similar("queen")
    assert document["vectors"] == "other.npz"


def test_analogy(vectors, run_cli):
    result = run_cli("analogy", "man", "woman", "king", "-k", 1)
    assert result.code == 0
    assert result.out.split() == ["man", "is", "to", "woman", "as", "king", "is", "to", "queen", "0.895"]
    document = json.loads(run_cli("analogy", "man", "woman", "king", "--json").out)
    assert document["question"] == ["man", "woman", "king"]
    assert [(item["word"], item["cosine"]) for item in document["answers"]] == vectors.analogy("man", "woman", "king")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nearest", "kign"), "no vector for the word 'kign' among 5; did you mean 'king'?"),
        (("nearest", "king", "Queen"), "did you mean 'queen'?"),
        (("nearest", "king", "--vectors", "no.txt"), "no.txt: no such file; train vectors first"),
        (("analogy", "man", "womann", "king"), "did you mean 'woman'?"),
        (("analogy", "man", "woman", "king", "--vectors", "."), "expected a model folder"),
    ],
)
def test_mistakes(run_cli, arguments, message):
    result = run_cli(*arguments)
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith("Error: ")
    assert message in result.err


def test_usage_mistakes(run_cli):
    assert run_cli("nearest").code == 2
    assert run_cli("nearest", "king", "-k", 0).code == 2
    assert run_cli("analogy", "man", "woman").code == 2
    assert "Usage: w2vneg nearest" in run_cli("nearest", "--help").out
    assert "Usage: w2vneg analogy" in run_cli("analogy", "--help").out


def test_titles_stand_beside_items(vectors, run_cli, tmp_path):
    (tmp_path / "titles.csv").write_text("id,name\nking,A king\nqueen,A queen\n")
    (first, second, third) = run_cli("nearest", "king", "-k", 2, "--titles", "titles.csv").out.splitlines()
    assert first == "king (A king)" and [second.endswith("  A queen"), third.endswith("  A queen")].count(True) == 1
    found = json.loads(run_cli("nearest", "king", "-k", 2, "--titles", "titles.csv", "--json").out)["nearest"]["king"]
    assert {one["word"]: one.get("name") for one in found} == {"queen": "A queen", "man": None}
    other = run_cli("nearest", "king", "-k", 2, "--titles", "titles.csv", "--titles-cols", "2,1")
    assert other.code == 0 and "Warning: no id of titles.csv is known; see --titles-cols." in other.err
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "vocab_out.tsv").write_text("")
    refused = run_cli("nearest", "king", "--vectors", "model", "--titles", "titles.csv")
    assert refused.code == 2 and "these are users; give --readout out" in refused.err
