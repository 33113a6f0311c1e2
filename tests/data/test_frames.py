"""Tables in memory are read as the same tables in files are, to the bit."""

import datetime

import numpy as np
import pandas as pd
import pyarrow
import pytest
import scipy.sparse

from w2vneg import Input, Validate, Word2Vec
from w2vneg.data.encoded import read_pairs_file
from w2vneg.data.inputs import as_input, encode_input
from w2vneg.data.readers.frames import InMemoryTable
from w2vneg.ground.errors import ConfigError, DoubtError, FileNote, InputError, W2vnegError

USERS = ["ann", "bob", "ann", "carl", "bob", "ann", "dora dot", "bob"]
ITEMS = [10, 11, 12, 10, 12, 11, 7, 12]
COUNTS = [1.5, 2, 1, 4, 1, 1, 3, 1]
DAYS = pd.to_datetime([f"2024-01-0{day} 10:00:00" for day in (3, 1, 2, 1, 5, 9, 1, 4)])
FRAME = pd.DataFrame({"user": USERS, "item": ITEMS, "weight": COUNTS, "time": DAYS})


def assert_same(ours, theirs):
    assert list(ours.vocab.words) == list(theirs.vocab.words)
    assert list(ours.vocab_out.words) == list(theirs.vocab_out.words)
    assert np.array_equal(ours.vocab.counts, theirs.vocab.counts)
    for one, other in zip(ours.arrays, theirs.arrays, strict=True):
        assert one.dtype == other.dtype and np.array_equal(one, other)
    assert ours.report.left_out == theirs.report.left_out


def polars(frame):
    return pytest.importorskip("polars").DataFrame({name: frame[name].to_list() for name in frame.columns})


@pytest.mark.parametrize(
    "made", [lambda frame: frame, polars, pyarrow.Table.from_pandas, lambda frame: frame.to_records(index=False)]
)
@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("pairs", {"rectangular": True}),
        ("pairs", {"item_col": "item", "target_col": "user", "weight_col": 3, "rectangular": False}),
        ("cooccurrence", {"rectangular": True}),
        ("ratings", {"time_col": "time", "rating_col": "weight", "min_rating": 1.2, "rectangular": True}),
        ("ratings", {"time_col": 4, "max_history": 2}),
    ],
)
def test_data_frames_as_files(tmp_path, made, kind, options):
    FRAME.to_csv(tmp_path / "table.csv", index=False)
    assert_same(
        encode_input(Input(kind, made(FRAME), **options)),
        encode_input(Input(kind, str(tmp_path / "table.csv"), **options)),
    )


def test_kinds_of_columns_as_files(tmp_path):
    frame = FRAME.assign(
        user=FRAME["user"].where(FRAME["user"] != "bob").astype("category"),
        item=FRAME["item"].astype("Int64"),
        time=FRAME["time"].dt.tz_localize("Europe/Paris"),
    )
    frame.to_csv(tmp_path / "table.csv", index=False)
    options = {"time_col": "time", "rectangular": True}
    found = encode_input(Input("ratings", frame, **options))
    assert found.report.left_out["rows without a user"] == 3
    assert_same(found, encode_input(Input("ratings", str(tmp_path / "table.csv"), **options)))


def test_rows_and_arrays_go_by_numbers(tmp_path):
    frame = FRAME.assign(user=[4, 5, 4, 6, 5, 4, 7, 5])
    frame[["user", "item", "weight"]].to_csv(tmp_path / "table.csv", index=False, header=False)
    expected = encode_input(Input("pairs", str(tmp_path / "table.csv"), rectangular=True))
    rows = list(zip(frame["user"], ITEMS, COUNTS, strict=True))
    for table in (rows, list(map(list, rows)), np.array(rows), pd.DataFrame(rows)):
        assert_same(encode_input(Input("pairs", table, rectangular=True)), expected)
    days = [datetime.datetime(2024, 1, 5), datetime.datetime(2024, 1, 1), datetime.datetime(2024, 1, 3)]
    timed = [("u", item, 1, day) for item, day in zip("abc", days, strict=True)]
    history = encode_input(Input("ratings", timed, time_col=4))
    assert [history.vocab.words[i] for i in history.ids] == ["b", "c", "a"]


def test_data_frames_without_names_of_columns_are_doubted_as_files_are():
    heads, tails = np.random.default_rng(1).permuted(np.tile(np.arange(1, 61), (2, 5)), axis=1)
    triples = pd.DataFrame(np.transpose([heads, heads * tails % 7, tails]))
    with pytest.raises(DoubtError, match="--source-col 0 --target-col 2; or give --weight-col 2 if"):
        encode_input(Input("edges", triples))
    assert "no weights" in encode_input(Input("edges", triples, source_col=0, target_col=2)).report.line()
    timed = pd.DataFrame({0: USERS, 1: ITEMS, 2: np.arange(8) + 1_500_000_000})
    with pytest.raises(DoubtError, match=r"where weights are expected, holds times\..*weight_col='none'"):
        encode_input(Input("pairs", timed, rectangular=True))
    with pytest.raises(DoubtError, match=r"holds times.*rating_col="):
        encode_input(Input("ratings", timed, min_rating=3))
    films = timed.assign(**{"2": [5, 3, 4, 4, 1, 2, 5, 3], "3": np.arange(8) + 1_500_000_000})[[0, 1, "2", "3"]]
    films.columns = range(4)
    assert "ratings = column '2'" in encode_input(Input("ratings", films, min_rating=4)).report.line()
    for kind in ("pairs", "edges"):
        with pytest.raises(DoubtError, match="look like ratings and their times"):
            encode_input(Input(kind, films))


def test_blocks_of_rows_are_one_table(monkeypatch):
    whole = encode_input(Input("pairs", FRAME, rectangular=True))
    monkeypatch.setattr("w2vneg.data.readers.frames._ROWS", 3)
    assert_same(encode_input(Input("pairs", FRAME, rectangular=True)), whole)


def test_sparse_matrices_as_their_files(tmp_path):
    square = scipy.sparse.csr_matrix(np.array([[0, 2, 0], [1, 0, 3], [0, 0, 0.5]]))
    scipy.sparse.save_npz(tmp_path / "m.npz", square)
    (tmp_path / "names").write_text("x\ny\nz\n")
    for options in ({}, {"rectangular": True}, {"names": [str(tmp_path / "names")]}):
        of_file = encode_input(Input("cooccurrence", str(tmp_path / "m.npz"), **options))
        assert_same(encode_input(Input("cooccurrence", square, **options)), of_file)
    pairs = encode_input(Input("pairs", square.tocsc(), rectangular=True))
    for i, j in zip(*square.nonzero(), strict=True):
        assert pairs.matrix[pairs.vocab.id(str(i)), pairs.vocab_out.id(str(j))] == square[i, j]


def test_fit_takes_what_says_how_it_is_read():
    options = {"loss": "us", "dim": 8, "epochs": 1, "workers": 1}
    wide = scipy.sparse.csr_matrix(np.eye(3, 4))
    word2vec = Word2Vec(**options)
    word2vec.fit(FRAME)
    of_input = Word2Vec(**options)
    of_input.fit(Input("pairs", FRAME, rectangular=True))
    assert np.array_equal(word2vec.model.vectors_in, of_input.model.vectors_in)
    assert word2vec.model.origin.input["files"] == ["-"]
    assert list(word2vec.model.vocab.words) == ["ann", "bob", "carl", "dora_dot"]
    assert as_input(wide).rectangular
    items = as_input(FRAME.rename(columns={"user": "target"}))
    assert (items.item_col, items.target_col, items.weight_col, items.rectangular) == (
        "item",
        "target",
        "weight",
        False,
    )


def test_known_and_held_out_pairs_in_memory(tmp_path):
    word2vec = Word2Vec(loss="us", dim=8, epochs=1, workers=1)
    valid = Validate([("ann", 7), ("carl", 11)], exclude_known=FRAME)
    word2vec.fit(FRAME, valid=valid)
    assert word2vec.recommend("ann", exclude_known=FRAME) == word2vec.recommend(
        "ann", exclude_known=[("ann", 10, 1), ("ann", 11, 1), ("ann", 12, 1)]
    )
    assert [item for item, _ in word2vec.recommend("ann", exclude_known=FRAME)] == ["7"]
    FRAME.to_csv(tmp_path / "known.csv", index=False)
    held = pd.DataFrame({"user": ["ann"], "item": [7]})
    in_memory = word2vec.evaluate_ranking(held, exclude_known=FRAME, bootstrap=0)
    assert in_memory.model == word2vec.evaluate_ranking(held, exclude_known=tmp_path / "known.csv", bootstrap=0).model


RATED = FRAME.rename(columns={"weight": "rating"})[["user", "item", "rating"]]


class TestTablesAsTheDataOfTheModel:
    """Held-out pairs, those to fold in and those known go by the options of the data, in memory as in files."""

    @staticmethod
    def model(table, **options):
        word2vec = Word2Vec(loss="us", dim=8, epochs=1, workers=1)
        word2vec.fit(Input("ratings", table, rectangular=True, **options))
        return word2vec

    @staticmethod
    def read(word2vec, table):
        found = word2vec.evaluate_ranking(table, bootstrap=0, baselines=False)
        return found.model, found.test.weight

    def test_numbers_of_columns_are_those_of_files(self, tmp_path):
        (tmp_path / "plain.tsv").write_text("".join(f"u{k % 7}\ti{k * 3 % 5}\n" for k in range(40)))
        word2vec = Word2Vec(loss="us", dim=4, epochs=1, workers=1)
        word2vec.fit(Input("pairs", tmp_path / "plain.tsv", rectangular=True, item_col=1, target_col=2))
        rows = [("new", "i1"), ("new", "i2")]
        for columns in (2, 3):
            own = [(*row, 1)[:columns] for row in rows]
            lists = [word2vec.recommend_many(fold_in=table, k=2) for table in (own, pd.DataFrame(own))]
            assert np.array_equal(*(found.ids for found in lists)) and lists[0].ids.shape == (1, 2)

    @pytest.mark.parametrize("made", [lambda frame: frame, polars, pyarrow.Table.from_pandas])
    def test_ratings_that_are_too_low_are_left_out(self, tmp_path, made):
        RATED.to_csv(tmp_path / "rated.csv", index=False)
        file = str(tmp_path / "rated.csv")
        for trained_on in (file, made(RATED), Input("ratings", file, delimiter=",", header=True)):
            given = trained_on if isinstance(trained_on, Input) else Input("ratings", trained_on)
            word2vec = Word2Vec(loss="us", dim=8, epochs=1, workers=1)
            word2vec.fit(given.replace(rectangular=True, min_rating=1.5))
            assert self.read(word2vec, made(RATED)) == self.read(word2vec, file)
            assert self.read(word2vec, made(RATED))[0].pairs == 4
            one, other = (word2vec.recommend_many(["ann"], fold_in=pairs, k=2) for pairs in (made(RATED), file))
            assert np.array_equal(one.scores, other.scores)
            liked = word2vec.evaluate_ranking(file, train=made(RATED), bootstrap=0)
            assert liked.results == word2vec.evaluate_ranking(file, train=file, bootstrap=0).results
            assert word2vec.recommend("bob", exclude_known=made(RATED)) == word2vec.recommend("bob", exclude_known=file)

    def test_those_of_validation_too(self, tmp_path):
        RATED.to_csv(tmp_path / "rated.csv", index=False)
        for table in (RATED, str(tmp_path / "rated.csv")):
            given = Input("ratings", RATED, rectangular=True, min_rating=1.5)
            encoded = encode_input(given)
            with pytest.warns(FileNote, match="trained on 4 of these pairs"):
                held = Validate(table).of(encoded, own=given.as_dict()).held
            assert len(held) == 4

    def test_quantities_that_weighed_nothing_weigh_nothing(self):
        amounts = FRAME.rename(columns={"weight": "quantity"})[["user", "item", "quantity"]]
        word2vec = self.model(amounts)
        pairs = amounts.assign(quantity=1)
        one, other = (word2vec.recommend_many(["ann"], fold_in=table, k=2).scores for table in (amounts, pairs))
        assert np.array_equal(one, other)

    @pytest.mark.parametrize(
        ("table", "weight"),  # of two columns five pairs have known items, of which four are liked
        [
            (RATED[["user", "item"]], 5),
            (FRAME[["user", "item", "weight"]], 11.5),
            (RATED.set_axis(["who", "what", "n"], axis=1), 11.5),
            (RATED.set_axis([0, 1, 2], axis=1), 11.5),
            (RATED.assign(when=DAYS, title="x")[["title", "when", "rating", "item", "user"]], 4),
            (list(RATED.itertuples(index=False, name=None)), 11.5),
            (list(RATED.itertuples()), 4),
        ],
    )
    def test_tables_with_other_columns_are_read_by_these(self, table, weight):
        for options in ({}, {"user_col": "user", "item_col": "item", "rating_col": "rating"}):
            word2vec = self.model(RATED, min_rating=1.5, **options)
            assert self.read(word2vec, table)[0].pairs == weight
            assert len(word2vec.recommend_many(["ann"], fold_in=table, k=2).ids) == 1

    def test_bare_tables_are_read_as_those_of_training(self):
        bare = RATED.set_axis([0, 1, 2], axis=1)
        assert self.read(self.model(bare, min_rating=1.5), bare)[0].pairs == 4
        matrix = scipy.sparse.csr_matrix(([5, 1, 5, 1], ([0, 0, 1, 1], [0, 1, 1, 2])))
        assert self.read(self.model(matrix, min_rating=4), matrix)[0].pairs == 2

    def test_paths_in_a_list_stay_files(self, tmp_path):
        FRAME[["user", "item"]].to_csv(tmp_path / "pairs.csv", index=False)
        paths = [str(tmp_path / "pairs.csv")]
        assert len(self.model(FRAME).recommend_many(["ann"], fold_in=paths, k=2).ids) == 1


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Input("baskets", FRAME), "tables in memory can be cooccurrence, corpus, edges, pairs, ratings"),
        (lambda: Input("corpus", FRAME), "name the table's column of text: text_col="),
        (lambda: Input("pairs", FRAME, delimiter=","), "delimiter applies to files"),
        (lambda: Input("pairs", FRAME[["user"]]), "at least two columns"),
        (lambda: Input("pairs", np.arange(3)), "at least two columns"),
        (lambda: Input("pairs", np.zeros((2, 2, 2))), "two dimensions"),
        (lambda: Input("pairs", [("a", "b"), ("a",)]), r"row 1 \(from 0\)"),
        (lambda: as_input(FRAME.rename(columns={"weight": "rating"})), r"user, item, rating, time\) do not say"),
        (lambda: as_input(FRAME[["item", "weight"]]), "do not say how to read it; give Input"),
        (lambda: as_input(np.ones((4, 2))), "do not say how to read it"),
        (lambda: as_input(polars(FRAME).lazy()), r"a LazyFrame has no rows yet; give what its collect\(\) returns"),
        (lambda: as_input(scipy.sparse.eye(3)), "a square matrix is ambiguous; give Input"),
        (lambda: read(FRAME, item_col="users"), "no column is called 'users'.*did you mean 'user'"),
        (lambda: read(FRAME.assign(weight=-FRAME["weight"])), r"DataFrame: row 0 \(from 0\): in 'weight'.*below 0"),
        (lambda: read(FRAME.assign(item=FRAME["item"].where(FRAME["item"] != 12))), r"row 2 .*in 'item'.*is empty"),
        (lambda: read([("a", "b"), ("a", "c\0")]), r"list: row 1 .*NUL"),
        (lambda: read(FRAME.iloc[:0]), "there are no rows"),
        (lambda: read([("a b", 1), ("a_b", 2)]), r"row 1 .*would both become 'a_b'"),
        (lambda: encode_input(Input("edges", scipy.sparse.eye(2, 3, format="csr"))), "thing needs a square matrix"),
        (lambda: encode_input(Input("cooccurrence", scipy.sparse.eye(2, 3))), "kind of thing needs a square matrix"),
    ],
)  # fmt: skip
def test_mistakes_are_told(make, message):
    with pytest.raises(W2vnegError, match=message):
        make()


def read(table, **options):
    return encode_input(Input("pairs", table, rectangular=True, **options))


def test_a_rating_is_no_weight_unless_asked_for(tmp_path):
    rated = FRAME.rename(columns={"weight": "Rating"})
    rated.to_csv(tmp_path / "rated.csv", index=False)
    for table, remedy in (
        (rated, r"Input\('ratings', …\) with min_rating, or weight_col='Rating'"),
        (str(tmp_path / "rated.csv"), "--ratings with --min-rating, or --weight-col Rating"),
    ):
        with pytest.raises(InputError, match=f"'Rating'.*{remedy}"):
            read(table)
        assert read(table, weight_col="Rating").matrix.sum() == sum(COUNTS)
        vocab = read(FRAME)
        held = read_pairs_file(table, vocab.vocab, vocab.vocab_out)
        assert (held.weights == 1).all()
    assert read(FRAME).matrix.sum() == sum(COUNTS)


def test_an_input_in_memory_stays_itself():
    given = Input("pairs", FRAME, weight_col="weight")
    assert given.in_memory and not Input("pairs", "file").in_memory
    assert given.located() is given and given.absolute() is given
    assert given.replace(rectangular=True).files == given.files
    assert given.as_dict() == {"kind": "pairs", "files": ["DataFrame"], "weight_col": "weight"}
    assert (
        InMemoryTable.of("path") is None and InMemoryTable.of(["path"]) is None and InMemoryTable.of(iter("a")) is None
    )
    with pytest.raises(ConfigError, match="must be a path"):
        Input("pairs", {"a": 1})


def test_a_column_of_a_name_that_no_file_could_hold_is_refused():
    frame = pd.DataFrame({"user": ["a", "b"], "item": ["x", "y"]}).set_axis(
        pd.Index(["u", "\ud800"], dtype=object), axis=1
    )
    with pytest.raises(ConfigError, match=r"a column is called '\\ud800', which is not valid text"):
        Input("pairs", frame)


def test_a_weight_that_is_most_of_an_epoch_is_said():
    rows = pd.DataFrame({"user": np.arange(200), "item": np.arange(200) % 7, "weight": 1.0})
    assert read(rows).report.hints == ()
    rows.loc[3, "weight"] = 1e9
    (hint,) = read(rows).report.hints
    assert "one weight, 1e+09, is more than half of the sum of all 200" in hint and "--pairs-per-epoch" in hint


class Tensor:
    """An array as torch has them: its dtype has no names."""

    dtype, ndim = "torch.int64", 2

    def __array__(self, dtype=None, copy=None):
        return np.array([[1, 2], [2, 3], [3, 1]], dtype)


def test_a_tensor_is_an_array():
    assert [column.tolist() for column in InMemoryTable.of(Tensor()).columns] == [[1, 2, 3], [2, 3, 1]]


def test_structs_of_polars_are_no_names():
    table = pytest.importorskip("polars").DataFrame({"user": [{"a": 1}, {"a": 2}], "item": ["x", "y"]})
    with pytest.raises(InputError, match=r"'user' .* holds \{'a': 1\}, not a name; write its keys as columns"):
        encode_input(Input("ratings", table))
