"""What comes next after some items, and what items are called."""

import json

import numpy as np
import pytest
from test_ranking_evaluation import LOGITS, model_of, write

from w2vneg import Word2Vec
from w2vneg.config import TrainConfig
from w2vneg.data.readers.tables import read_titles
from w2vneg.data.vocab import Vocabulary
from w2vneg.ground.errors import ConfigError, InputError, UnknownNameError
from w2vneg.run.model import Model
from w2vneg.vectors.evaluation.recommend import recommend, recommend_many


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model_of(LOGITS).save("model")
    write(tmp_path / "train.tsv", [("a", "b", 1), ("b", "e", 1), ("c", "d", 1)])
    (tmp_path / "titles.dat").write_bytes(
        "a::Amélie (2001)::x|y\nb::Mission: Impossible::z\nd::::w\n".encode("latin-1")
    )
    return tmp_path


def test_the_targets_of_one_seed_are_its_logits_without_itself():
    assert recommend(model_of(LOGITS), "b", k=3) == [("e", 4.0), ("d", 3.0), ("c", 2.0)]
    assert [item for item, _ in recommend(model_of(LOGITS), "b", k=99)] == ["e", "d", "c", "a"]


@pytest.mark.parametrize("unknown", [[], ["--unknown=skip"], ["--unknown=popular"]])
def test_scores_of_a_loss_that_is_not_loaded_are_not_corrected(folder, run_cli, unknown):
    file = folder / "model" / "config.json"
    values = json.loads(file.read_text())
    file.write_text(json.dumps(values | {"loss": {"name": "own"}}))
    assert run_cli("recommend", "model", "a").code == 0
    result = run_cli("recommend", "model", "a", "--score=corrected", *unknown)
    assert (result.code, result.out) == (1, "") and "unknown loss 'own'" in result.err
    assert "'w2vneg --plugin FILE.py eval" in result.err


def test_several_seeds_are_a_product_of_what_each_expects():
    rng = np.random.default_rng(0)
    logits = rng.normal(size=(5, 5))
    found = recommend(model_of(logits), ["a", "c", "a"], k=5)
    shares = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    product = shares[0] ** 2 * shares[2]
    assert [item for item, _ in found] == ["abcde"[j] for j in np.argsort(-product) if j not in (0, 2)]
    assert found[0][1] == pytest.approx(max((2 * logits[0] + logits[2])[[1, 3, 4]]) / 3)


def test_users_get_items_and_what_they_have_is_left_out(folder):
    model = model_of([[0, 1, 2], [2, 1, 0]], words="uv", words_out="uyz")  # an item called as a user is
    assert [item for item, _ in recommend(model, "u")] == ["z", "y", "u"]
    model.save("users")
    write(folder / "had.tsv", [("u", "z", 1), ("v", "u", 1)])
    word2vec = Word2Vec.load("users")
    assert [item for item, _ in word2vec.recommend("u", exclude_known="had.tsv")] == ["y", "u"]
    assert [item for item, _ in word2vec.recommend(["u", "v"], exclude_known="had.tsv")] == ["y"]
    with pytest.raises(ConfigError, match="leave exclude_known out"):  # as the command says, too
        word2vec.recommend("z", exclude_known="had.tsv", new_user=True)
    assert word2vec.recommend("z", exclude_known=(), new_user=True) == word2vec.recommend("z", new_user=True)


def test_names_with_blanks_are_found_as_the_vocabulary_has_them():
    assert recommend(model_of(LOGITS, words=["big dog".replace(" ", "_"), *"bcde"]), "big dog", k=1)[0][0] == "b"


def test_unknown_and_missing_seeds_are_told():
    with pytest.raises(UnknownNameError, match="the item 'A'; did you mean 'a'"):
        recommend(model_of(LOGITS), ["b", "A"])
    for seeds, k, message in (
        ([], 3, "at least one item or user"),
        (None, 3, "by one or several names, not None"),
        (type, 3, "by one or several names, not <class 'type'>"),
        ("a", 0, "whole number of at least 1, not 0"),
        ("a", "3", "whole number of at least 1, not '3'"),
    ):
        with pytest.raises(ConfigError, match=message):
            recommend(model_of(LOGITS), seeds, k)
    assert recommend_many(model_of(LOGITS), "a").queries == ["a"]


@pytest.mark.parametrize("kind", [int, np.int64])
def test_a_whole_number_is_a_name_if_there_is_one_else_a_row(tmp_path, kind):
    """The same in every question; users and items of two kinds each in their own rows."""
    model = model_of(LOGITS, words=["3", "z", "0", "x", "y"])
    model.save(tmp_path / "items")
    word2vec = Word2Vec.load(tmp_path / "items")
    for number, name in ((0, "0"), (1, "z"), (2, "0"), (3, "3"), (4, "y")):
        key = kind(number)
        assert word2vec.recommend(key) == word2vec.recommend([key]) == word2vec.recommend(name)
        assert word2vec.similar_items(key) == word2vec.similar_items(name) == word2vec.wv.most_similar(key)
        assert dict(word2vec.recommend_many([key]))[name] == word2vec.recommend(name)
    for ask in (word2vec.recommend, word2vec.similar_items, lambda key: word2vec.recommend_many([key])):
        with pytest.raises(UnknownNameError):
            ask(kind(5))
        with pytest.raises(UnknownNameError):
            ask(kind(-1))
    rng = np.random.default_rng(2)
    config = TrainConfig(dim=2, source="pairs", rectangular=True).resolved()
    sides = Vocabulary(["2", "u", "v", "w"], np.ones(4)), Vocabulary(["3", "a", "b", "c", "d"], np.ones(5))
    vectors = (rng.normal(size=(len(side), 2)).astype(np.float32) for side in sides)
    Model(sides[0], config, *vectors, vocab_out=sides[1]).save(tmp_path / "shop")
    shop = Word2Vec.load(tmp_path / "shop")
    assert shop.recommend(kind(2)) == shop.recommend("2") and shop.recommend(kind(3)) == shop.recommend("w")
    assert shop.similar_users(kind(2)) == shop.similar_users("2")
    assert shop.similar_items(kind(3)) == shop.similar_items("3")
    assert shop.similar_items(kind(2)) == shop.similar_items("b")
    assert shop.recommend([kind(3), kind(2)], new_user=True) == shop.recommend(["3", "b"], new_user=True)
    with pytest.raises(UnknownNameError, match="the item '5'"):
        shop.recommend(kind(5), new_user=True)


def test_similar_items_and_users(folder, run_cli):
    out = np.array([[1, 0, 1], [1, 0.1, 1], [0, 1, 0], [-1, 0, -1]])  # a row an item
    model = model_of(out.T, words="uvw", words_out="abcd")
    model.vectors_in[:] = [[1, 0, 0], [0, 1, 0], [1, 0.5, 0]]
    model.save("users")
    word2vec = Word2Vec.load("users")
    assert [item for item, _ in word2vec.similar_items("a")] == ["b", "c", "d"]
    assert [user for user, _ in word2vec.similar_users("u")] == ["w", "v"]
    shown = run_cli("nearest", "a", "--vectors", "users", "--readout", "out", "-k", "1")
    assert shown.out.split() == ["a", "b", "0.998"]
    for name, readout, hint in (("a", "in", "an item: give --readout out"), ("u", "out", "a user: give --readout in")):
        result = run_cli("nearest", name, "--vectors", "users", "--readout", readout)
        assert (result.code, result.out) == (1, "") and hint in result.err
    with pytest.raises(UnknownNameError, match="the user 'x'"):
        word2vec.recommend("x")
    items = Word2Vec.load("model")
    assert [item for item, _ in items.similar_items("a")] == [item for item, _ in items.vectors.most_similar("a")]
    with pytest.raises(ConfigError, match="no users"):
        items.similar_users("a")


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("1::Café::x\n02::Two, or ::y\n1::again::z\n3::::z\n".encode("latin-1"), (1, 2)),
        ("1|Café|a\n02|Two, or|b\n".encode("latin-1"), (1, 2)),
        ('Price,Id,Name\n5,1,Café\n6,02,"Two, or"\n7,1,\n'.encode(), ("Id", "Name")),
        ("n\tid\tname\n1\t1\tCafé\n2\t02\tTwo, or\n".encode("utf-8-sig"), (2, 3)),
    ],
)
def test_titles_of_several_kinds_of_file(tmp_path, text, columns):
    path = tmp_path / "titles"
    path.write_bytes(text)
    assert read_titles(path, columns) == {"1": "Café", "02": "Two, or"}


def test_ids_and_numbers_are_no_titles_unless_their_columns_are_named(tmp_path):
    path = tmp_path / "log.tsv"
    path.write_text("196\t242\t3\n186\t302\t3\n196\t12\t5\n")
    with pytest.raises(InputError, match="the titles in column 2 are numbers"):
        read_titles(path)
    assert read_titles(path, (2, 1)) == {"242": "196", "302": "186", "12": "196"}
    path.write_text("242;1,50\n302;2,00\n")  # prices
    with pytest.raises(InputError, match="the titles in column 2 are numbers"):
        read_titles(path)


def test_titles_with_escaped_quotes_are_refused_with_what_helps(tmp_path):
    path, text = tmp_path / "titles.csv", '"id";"title"\n"1";"Plain"\n"2";"The \\"second\\"; of two"\n'
    path.write_text(text)
    with pytest.raises(InputError, match=r"for example by: sed .* FILE > NEW, or remove such rows$"):
        read_titles(path)
    path.write_text(text.replace(r"\"", '""'))  # as sed does
    assert read_titles(path) == {"1": "Plain", "2": 'The "second"; of two'}
    path.write_text("id;title\n1;Plain\n2;Second; of two\n")
    with pytest.raises(InputError, match=r"quote names that hold the delimiter, or remove such rows$"):
        read_titles(path)


def test_titles_without_the_column_asked_for(tmp_path):
    path = tmp_path / "titles.csv"
    path.write_text("id,name\n1,x\n")
    with pytest.raises(InputError, match=r"no column is called 'title'.*--titles-cols"):
        read_titles(path, ("id", "title"))


def test_the_command_shows_names(folder, run_cli):
    shown = run_cli("recommend", "model", "b", "-k", "2")
    assert shown.out == "b\n  e     4.000\n  d     3.000\n"
    shown = run_cli("recommend", "model", "b", "--titles", "titles.dat", "--exclude-known", "train.tsv")
    assert shown.out.splitlines()[0] == "b (Mission: Impossible)"
    assert shown.out.splitlines()[1:] == ["  d     3.000", "  c     2.000", "  a     1.000  Amélie (2001)"]
    result = run_cli("recommend", "model", "a", "c", "--titles", "titles.dat", "-k", "1", "--json")
    document = json.loads(result.out)
    assert document == {
        "model": "model",
        "items": [{"item": "a", "name": "Amélie (2001)"}, {"item": "c"}],
        "known_left_out": False,
        "recommended": [{"item": "b", "name": "Mission: Impossible", "score": 2.0}],
    }


def test_titles_of_none_of_the_items_are_remarked_on(folder, run_cli):
    (folder / "other.csv").write_text("a,7,A seven\nb,8,An eight\n")
    said = "Warning: no id of other.csv is known; see --titles-cols."
    for arguments in (("b",), ("--all", "--out", "lists.csv")):
        found = run_cli("recommend", "model", *arguments, "--titles", "other.csv", "--titles-cols", "2,3")
        assert found.code == 0 and said in found.err
    assert "Warning" not in run_cli("recommend", "model", "b", "--titles", "other.csv", "--titles-cols", "1,3").err


def test_mistakes(folder, run_cli):
    for arguments, code, message in (
        (("none", "a"), 1, "none: no such model folder"),
        (("model", "B"), 1, "did you mean 'b'"),
        (("model", "amélie", "--titles", "titles.dat"), 1, "titles match: 'a' (Amélie (2001))"),
        (("model", "a", "--titles", "none.dat"), 1, "none.dat"),
        (("model", "a", "--titles", "titles.dat", "--titles-cols", "1,9"), 1, "titles.dat:1: there is no column 9"),
        (("model", "a", "--titles-cols", "1,2"), 2, "--titles"),
        (("model", "--all", "--out", "new.csv", "--titles-cols", "1,2"), 2, "--titles"),
        (("model", "a", "--titles", "titles.dat", "--titles-cols", "1"), 2, "two columns"),
        (("model",), 2, "ITEM"),
    ):
        result = run_cli("recommend", *arguments)
        assert (result.code, result.out) == (code, ""), arguments
        assert message in result.err
        assert "Traceback" not in result.err


@pytest.mark.realdata
def test_real_titles(mirror):
    folder = mirror / "recsys"
    large, small = read_titles(folder / "ml-1m" / "movies.dat"), read_titles(folder / "ml-100k" / "u.item")
    assert (len(large), len(small)) == (3883, 1682)
    assert large["1"] == small["1"] == "Toy Story (1995)"
    assert small["543"] == "Misérables, Les (1995)"
    retail = read_titles(folder / "online-retail" / "online_retail.csv.xz", ("StockCode", "Description"))
    assert retail["85123A"] == "WHITE HANGING HEART T-LIGHT HOLDER"
