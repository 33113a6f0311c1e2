"""What names a thing: tuples of nodes, ids that tables have as decimals, names with blanks; a number may be no row."""

import datetime
import decimal
import enum
import uuid

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from w2vneg import Input, Vectors, Word2Vec
from w2vneg.config import TrainConfig
from w2vneg.data.vocab import Vocabulary
from w2vneg.ground.errors import ConfigError, InputError, UnknownNameError
from w2vneg.run.model import Model

QUIET = pytest.mark.filterwarnings("ignore::UserWarning")


@pytest.fixture
def shop(tmp_path):
    """Users 1, 7, … and a guest, items 100, … and a hot dog."""
    rng = np.random.default_rng(1)
    users, items = (
        Vocabulary(names, [4, 3, 2, 1]) for names in (["7", "1", "30", "guest"], ["100", "2", "300", "hot_dog"])
    )
    config = TrainConfig(dim=3, source="pairs", rectangular=True).resolved()
    vectors = (rng.normal(size=(len(side), 3)).astype(np.float32) for side in (users, items))
    Model(users, config, *vectors, vocab_out=items).save(tmp_path / "shop")
    return Word2Vec.load(tmp_path / "shop")


@QUIET
def test_a_tuple_is_one_name_where_nodes_are_tuples():
    model = Word2Vec(loss="ns", dim=2, epochs=1, workers=1)
    vectors, node, name = model.fit(nx.grid_2d_graph(3, 3)), (2, 2), "(2,_2)"
    assert node in vectors and vectors.id(node) == vectors.words.index(name)
    np.testing.assert_array_equal(vectors[node], vectors[name])
    np.testing.assert_array_equal(vectors[[node, (0, 1)]], vectors[[name, "(0,_1)"]])
    assert vectors.most_similar(node) == vectors.most_similar([node]) == vectors.most_similar(name)
    assert vectors.most_similar([(node, 2.0), ((0, 1), -1.0)]) == vectors.most_similar([(name, 2), ("(0,_1)", -1)])
    assert vectors.similarity(node, (0, 1)) == vectors.similarity(name, "(0,_1)")
    np.testing.assert_array_equal(vectors.get_mean_vector([node]), vectors.get_mean_vector([name]))
    assert model.recommend(node) == model.recommend([node]) == model.recommend(name)
    assert dict(model.recommend_many(node)) == dict(model.recommend_many([node]))
    assert model.similar_items(node) == vectors.most_similar(name)
    words = Vectors(["a", "b", "c"], np.eye(3))
    np.testing.assert_array_equal(words[("a", "c")], words[["a", "c"]])  # several, where it is no name
    assert words.most_similar([("a", 1)]) == words.most_similar("a")


@pytest.mark.parametrize("kind", [float, np.float32, np.float64])
def test_ids_that_a_table_has_as_decimals_are_whole(shop, kind):
    assert shop.recommend(kind(7)) == shop.recommend([kind(7)]) == shop.recommend("7")
    for unknown in ("error", "popular"):
        lists = shop.recommend_many(pd.Series([7, 30]).astype(kind), unknown=unknown)
        assert list(lists) == list(shop.recommend_many(["7", "30"]))
    assert shop.recommend([kind(100)], new_user=True) == shop.recommend(["100"], new_user=True)
    np.testing.assert_array_equal(shop.user_vector([kind(100)], kind(7)), shop.user_vector(["100"], "7"))
    np.testing.assert_array_equal(shop.user_vector(kind(100)), shop.user_vector("100"))
    assert shop.similar_items(kind(100)) == shop.similar_items("100")
    assert shop.similar_users(kind(7)) == shop.similar_users("7")
    vectors = shop.read_out("in")
    np.testing.assert_array_equal(vectors[kind(7)], vectors["7"])
    assert vectors.most_similar(kind(7)) == vectors.most_similar("7")
    for other in (8.0, 7.5, float("nan")):  # and a decimal is no row
        assert kind(other) not in vectors and kind(other) not in Vectors(list("abcdefghijk"), np.eye(11))
        with pytest.raises(UnknownNameError):
            vectors[kind(other)]


def test_where_most_names_are_numbers_an_unknown_number_is_no_row(shop):
    for ask in (shop.recommend, shop.similar_items, shop.similar_users, shop.user_vector):
        for key in (0, [0], np.int64(3)):
            with pytest.raises(UnknownNameError):
                ask(key)
    with pytest.raises(UnknownNameError):
        shop.user_vector(["100"], user=0)
    lists = shop.recommend_many([0, 60], unknown="popular")
    assert lists.queries == ["0", "60"] and len(shop.recommend_many([0, 60, 7], unknown="skip")) == 1


def test_names_with_blanks_are_found_in_every_question(shop):
    assert shop.similar_items("hot dog") == shop.similar_items("hot_dog")
    np.testing.assert_array_equal(shop.user_vector("hot dog"), shop.user_vector(["hot_dog"]))
    vectors = Vectors(["new_york", "york", "new"], np.eye(3), lowercase=True)
    assert vectors.id("new york") == vectors.id("New York") == vectors.id(" new_york ") == 0
    assert "newyork" not in vectors
    assert Vectors(["new york", "new_york"], np.eye(2)).id("new york") == 0  # as it is written, if there is that


def test_what_names_nothing_is_told():
    vectors = Vectors(list("abc"), np.eye(3))
    for wrong in (slice(0, 2), None):
        with pytest.raises(ConfigError, match=r"by one or several words, not .*; slice \.matrix for rows"):
            vectors[wrong]
    for rows in (([0], [100]), ([0], [-1]), ([0.7], [1]), ([0, 1], [0]), (["a"], ["b"])):
        with pytest.raises(ConfigError, match="of rows from 0 to 2"):
            vectors.cosines(*rows)
    assert vectors.cosines([], []).shape == (0,) and vectors.cosines([0, 1], [0, 2]).tolist() == [1, 0]
    for k in (None, 0, -2):
        with pytest.raises(ConfigError, match="k must be a whole number of at least 1"):
            vectors.compared("a", "b", k=k)
    with pytest.raises(ConfigError, match="text 1 is nan, neither a str nor a list of words"):
        vectors.encode(pd.Series(["a b", np.nan]), a=None)
    assert vectors.encode(["a b"], a=None, normalize=True).dtype == np.float32


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_vectors_that_are_not_finite_are_refused(bad):
    matrix = np.ones((6, 3), np.float32)
    matrix[[1, 4], 2] = bad
    with pytest.raises(ConfigError, match=r"the vector of 'b' \(row 1\) has a number that is NaN or infinite"):
        Vectors(list("abcdef"), matrix)
    assert len(Vectors(list("abcdef"), np.full((6, 3), 3e38)).most_similar("a", k=3)) == 3


class Text(str, enum.Enum):
    A, B, C = "u1", "u2", "u3"


class Number(enum.IntEnum):
    A, B, C = 1, 2, 3


IDS = {
    "str Enum": list(Text),
    "IntEnum": list(Number),
    "UUID": [uuid.UUID(int=i) for i in (1, 2, 3)],
    "Decimal": [decimal.Decimal(f"{i}.5") for i in (1, 2, 3)],
    "whole Decimal": [decimal.Decimal(f"{i}.00") for i in (1, 2, 3)],
    "long Decimal": [decimal.Decimal(f"12345678901234567890123456789012{i}") for i in (1, 2, 3)],
    "float": [1.5, 2.5, 3.5],
    "float32": list(np.float32([0.1, 0.2, 0.3])),
    "date": [datetime.date(2020, 1, i) for i in (1, 2, 3)],
    "datetime": [datetime.datetime(2020, 1, i, i - 1) for i in (1, 2, 3)],
    "datetime64": list(np.array(["2020-01-01", "2020-01-02T03:04:05.678", "2020-01-03"], "M8[ns]")),
    "zones": list(
        pd.to_datetime(["2020-01-01T01+0100", "2020-01-02T01:30+0100", "2020-01-03T01+0100"], format="ISO8601")
    ),
}


@QUIET
@pytest.mark.parametrize("kind", IDS)
@pytest.mark.parametrize("as_objects", [False, True])
def test_what_is_an_id_in_training_is_one_in_questions(kind, as_objects):
    ids = IDS[kind]
    users = [ids[i % 3] for i in range(60)]
    frame = pd.DataFrame({"user": pd.Series(users, dtype=object if as_objects else None)})
    frame["item"] = [f"i{i % 7}" for i in range(60)]
    model = Word2Vec(loss="ns", dim=2, epochs=1, workers=1)
    vectors = model.fit(Input("pairs", frame, item_col="user", target_col="item", rectangular=True))
    names = sorted(vectors.words)
    for key, name in zip(ids, names, strict=True):
        assert model.recommend(key, exclude_known=()) == model.recommend([key], exclude_known=())
        assert model.recommend(key, exclude_known=()) == model.recommend(name, exclude_known=())
        assert key in vectors and vectors.id(key) == vectors.words.index(name)
        np.testing.assert_array_equal(vectors[key], vectors[name])
    assert model.recommend_many(ids).queries == [name.replace("_", " ") for name in names]


@QUIET
def test_bytes_are_no_names(shop):
    vectors = shop.read_out("in")
    for key in (b"7", bytearray(b"7"), np.bytes_(b"7")):
        for question in (
            shop.recommend, shop.recommend_many, shop.user_vector, shop.similar_items, shop.similar_users,
            vectors.__getitem__, vectors.id, vectors.most_similar, vectors.__contains__,
        ):  # fmt: skip
            for given in (key, [key]) if question in (shop.recommend, shop.recommend_many) else (key,):
                with pytest.raises(ConfigError, match=r"b'7' is bytes; give NAME.decode\(\)"):
                    question(given)
    for cells in ([b"a", b"b"], ["a", b"b"]):
        with pytest.raises(InputError, match=r"holds b'.', bytes; give CELL.decode\(\)"):
            Word2Vec().fit(pd.DataFrame({"user": cells * 9, "item": ["x", "y", "z"] * 6}))


@QUIET
def test_a_record_array_is_a_table():
    frame = pd.DataFrame({"user": ["a", "b", "c"] * 6, "item": ["x", "y"] * 9})
    vectors = {Word2Vec(loss="ns", dim=2, epochs=1, workers=1).fit(table).matrix.tobytes()
               for table in (frame, frame.to_records(index=False), frame.to_records())}  # fmt: skip
    assert len(vectors) == 1


def test_vectors_of_complex_numbers_are_refused():
    for matrix in (np.array([[1 + 2j]]), [[1 + 2j]]):
        with pytest.raises(ConfigError, match="real numbers"):
            Vectors(["a"], matrix)
