"""Tables as notebooks have them: nulls, labels that are numbers, categories, dates, graphs, matrices."""

import re

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from w2vneg import Input, Word2Vec
from w2vneg.data.inputs import encode_input
from w2vneg.ground.errors import ConfigError, InputError, W2vnegError

pa = pytest.importorskip("pyarrow")
LARGE = [1445678901234567890, 1445678901234567891, 1445678901234567892]
LOG = pd.DataFrame([[7, 1, 5, 100], [7, 2, 4, 50], [8, 1, 3, 20], [8, 3, 5, 10]])  # labels 0 to 3
SKIPPED = {"bad_rows": "skip", "weight_col": "weight"}


def word2vec(**options):
    return Word2Vec(min_count=1, dim=4, epochs=1, workers=1, **options)


def words(data, **options):
    encoded = word2vec(**options).encode(data)
    return sorted(encoded.vocab.words), sorted(encoded.vocab_out.words)


def test_a_null_of_a_category_is_nobody():
    table = pa.table({"user": pa.array(["a", None, "b", "b", "c"]).dictionary_encode(), "item": [*"xyxzz"]})
    with pytest.raises(InputError, match=r"row 1 .*the cell in 'user' .*is empty"):
        words(table)
    assert words(Input("pairs", table, bad_rows="skip")) == (["a", "b", "c"], ["x", "z"])
    assert words(pa.record_batch({"user": [1, 2, 2], "item": [*"xyx"]})) == (["1", "2"], ["x", "y"])


def test_large_ids_beside_a_null_stay_apart():
    frame = pd.DataFrame({"user": pd.array([*LARGE, None], dtype="Int64"), "item": [*"xyxz"]})
    for table in (frame, pa.Table.from_pandas(frame)):
        assert words(Input("pairs", table, bad_rows="skip"))[0] == list(map(str, LARGE))
    with pytest.raises(InputError, match="too large for an exact id"):
        words(Input("pairs", frame.astype({"user": float}), bad_rows="skip"))


def test_ids_in_the_index_are_named():
    log = pd.DataFrame({"customer_id": ["a", "b"], "product_id": ["x", "y"], "price": [1.5, 2.5]})
    one, both = log.set_index("customer_id"), log.set_index(["customer_id", "product_id"])
    for frame, names in ((one, "'customer_id'"), (both, "'customer_id' and 'product_id'")):
        for given in (
            lambda frame=frame: Input("ratings", frame[["price"]]),
            lambda frame=frame: Input("ratings", frame.assign(n=1)),
            lambda frame=frame: Input("ratings", frame.assign(n=1), user_col="customer_id"),
            lambda frame=frame: Input("pairs", frame.assign(n=1), rectangular=True),
        ):
            with pytest.raises((InputError, ConfigError), match=rf"[:;] the index has {names}; give TABLE.reset_index"):
                words(given())
    log.index.name = "customer"  # which is not needed
    assert words(Input("pairs", log, rectangular=True)) == (["a", "b"], ["x", "y"])
    pairs = log.set_axis(["item", "target", "price"], axis=1)
    assert words(Input("pairs", pairs)) == (["a", "b", "x", "y"],) * 2


@pytest.mark.parametrize("index", [True, False])
def test_named_tuples_have_names(index):
    frame = pd.DataFrame({"quantity": [2, 3], "product": ["x", "y"], "customer": ["a", "b"]}, [8, 9])
    given = Input("pairs", list(frame.itertuples(index=index)), rectangular=True)
    encoded = word2vec().encode(given)
    assert words(given) == (["a", "b"], ["x", "y"]) and encoded.matrix.sum() == 5


@pytest.mark.parametrize(
    ("rows", "remedy"),
    [(LOG.to_dict("records"), "ROWS"), (LOG.to_dict("list"), "ROWS"), (iter(LOG.to_dict("records")), "list(ROWS)")],
)
def test_rows_of_another_kind_name_how_they_are_given(rows, remedy):
    with pytest.raises(
        ConfigError, match=rf"list of paths, not .*; give rows as {re.escape(f'pandas.DataFrame({remedy})')}$"
    ):
        Input("pairs", rows)


def test_ids_that_a_gap_made_decimals_are_remarked(tmp_path):
    frame = pd.DataFrame({"Customer ID": [7, None, 8, 9, 8], "StockCode": ["1.0", "x", "2.5", "x", "1.0"]})
    for table, n_hints in ((frame, 1), (frame.astype({"Customer ID": "Int64"}), 0)):
        table.to_csv(tmp_path / "shop.csv", index=False)
        hints = encode_input(Input("ratings", str(tmp_path / "shop.csv"))).report.hints
        assert len(hints) == n_hints and all("'Customer ID' are integers with .0" in hint for hint in hints)
        assert encode_input(Input("ratings", table)).report.hints == ()


def test_labels_that_are_numbers_are_names_of_columns():
    given = Input("ratings", LOG, user_col=0, item_col=1, time_col=3)
    encoded = word2vec().encode(given)
    assert "time = column '3'" in encoded.report.line()
    assert [encoded.vocab.words[i] for i in encoded.ids[:2]] == ["2", "1"]  # by time, not by rating
    assert words(Input("edges", LOG, source_col=1, target_col=2))[0] == ["1", "2", "3", "4", "5"]
    assert words(Input("edges", LOG.to_numpy(), source_col=1, target_col=2))[0] == ["1", "2", "3", "7", "8"]


def test_a_dense_matrix_is_no_list_of_pairs():
    counts = pd.crosstab(pd.Series(np.arange(40) % 9), pd.Series(np.arange(40) % 11))
    for kind, frame in (("cooccurrence", counts), ("pairs", counts), ("edges", pd.DataFrame(np.eye(6)))):
        with pytest.raises(ConfigError, match=r"looks like a matrix.*FRAME\.stack"):
            words(Input(kind, frame))
    for row in (np.arange(4), np.arange(99)):
        with pytest.raises(ConfigError, match=r"sources above targets.*give ARRAY\.T"):
            words(Input("edges", np.stack([row, row + 1])))
    named = pd.DataFrame(np.eye(4), list("abcd"), list("abcd"))
    with pytest.raises(ConfigError, match=r"like a matrix, .* for each pair \(.*, give source_col=1, target_col=2"):
        words(Input("edges", named.reset_index()))
    features = pd.DataFrame({"user": [1, 1, 2], "item": [3, 4, 3]} | {f"f{i}": [0.5, 1, 2] for i in range(9)})
    assert words(Input("pairs", features, rectangular=True)) == (["1", "2"], ["3", "4"])


def test_a_day_is_a_day_whatever_stands_beside_it():
    days = ["2020-01-01 00:00", "2020-01-01 12:00", "2020-01-02 00:00"]
    frame = pd.DataFrame({"user": pd.to_datetime(days), "item": [*"xyx"]})
    assert words(frame)[0] == ["2020-01-01", "2020-01-01_12:00:00", "2020-01-02"]


@pytest.mark.parametrize("missing", [pd.NaT, ""])
def test_rows_without_a_time_are_skipped(missing):
    times = [missing, "2020-01-02", "2020-01-03", "2020-01-04"]
    times = pd.to_datetime(times) if missing is pd.NaT else times
    frame = pd.DataFrame({"user": [1, 1, 2, 2], "item": [*"xyxz"], "time": times})
    encoded = word2vec().encode(Input("ratings", frame, time_col="time", rectangular=True, bad_rows="skip"))
    assert encoded.matrix.nnz == 3 and encoded.report.left_out["bad rows: no valid time in 'time'"] == 1
    with pytest.raises(InputError, match="row 0"):
        words(Input("ratings", frame, time_col="time", rectangular=True))


def test_nodes_that_are_called_alike_and_nodes_without_an_edge():
    with pytest.raises(ConfigError, match="two nodes of the Graph are called '1'"):
        words(nx.Graph([(1, "1"), (2, "1")]))
    assert words(nx.grid_2d_graph(2, 2))[0] == ["(0,_0)", "(0,_1)", "(1,_0)", "(1,_1)"]
    found = word2vec().encode(nx.Graph([(1.0, 2.0), (2.0, 3.0)])).report
    assert found.items == 3 and found.left_out["nodes without an edge to another"] == 0
    few = sp.coo_matrix(([1.0, 1, 1], ([0, 5, 9], [5, 9, 10**6])), (2 * 10**6,) * 2)
    found = word2vec().encode(Input("edges", few)).report
    assert found.items == 4 and found.left_out["nodes without an edge to another"] == 2 * 10**6 - 4


@pytest.mark.parametrize(
    ("frame", "options", "said"),
    [
        ({"user": [1, 1, 2], "item": [*"xyx"], "weight": [None, pd.NA, 2]}, {}, "row 0 .*'None' is not a number"),
        ({"user": [[1], 1, 2], "item": [*"xyx"]}, {}, r"row 0 .*holds \[1\], not a name"),
        ({"user": [1, 1], "item": [*"xy"], "weight": [*"ab"]}, SKIPPED, "none of the 2 rows can be used: 2 bad"),
        ({"user": [1, 2], "item": [*"xx"]}, {"rectangular": True}, "only one target"),
    ],
)
def test_mistakes_are_named(frame, options, said):
    with pytest.raises(InputError, match=said):
        words(Input("pairs", pd.DataFrame(frame), **options))


def test_records_are_no_sentences():
    with pytest.raises(InputError, match="sentence 1 is a dict, a record, not a sentence"):
        word2vec().fit([{"user": 1, "item": 2}] * 5)


def test_a_fit_does_not_depend_on_the_one_before(tmp_path):
    log = pd.DataFrame({"user": [*"aabb"], "item": [*"xyxz"]})
    text = [["a", "b", "c"]] * 30
    one = word2vec(loss="us")
    one.fit(log)
    with pytest.raises(
        ConfigError, match=r"the data are sentences; give Input\('pairs', TABLE, rectangular=True\), with col"
    ):
        one.fit(text, update=True)
    one.save(tmp_path / "model")
    one.fit(Input("ratings", log))
    assert not one.model.config.rectangular
    one.set_params(subsample=0).fit(text)
    assert one.model.config.source.name == "text"
    assert Word2Vec.load(tmp_path / "model").encode(log).vocab.words == ["a", "b"]
    with pytest.raises(ConfigError, match=r"options are for --baskets .* but the data are sentences"):
        word2vec(source="baskets").fit(text)


@pytest.mark.parametrize(
    ("options", "columns", "message"),
    [
        ({}, ["user", "item", "rating"], r"Input\('ratings', …\) with min_rating, or weight_col='rating' .*='none'"),
        ({}, ["user", "product", "item"], "choose with item_col='user', target_col='product'$"),
        ({"item_col": "who"}, ["user", "item", "n"], r"called 'who' \(item_col\)"),
        ({"target_col": 4}, ["user", "item", "n"], r"no column 4 \(target_col\)"),
    ],
)
def test_messages_about_tables_in_memory_have_options_of_python(options, columns, message):
    frame = pd.DataFrame([(1, 2, 3)] * 3, columns=columns)
    with pytest.raises(W2vnegError, match=message) as refused:
        word2vec().fit(Input("pairs", frame, **options))
    assert "--" not in str(refused.value)


def test_hints_about_tables_in_memory_have_options_of_python():
    rows = [(f"u{n}", f"i{n % 7}", 1 + n % 5) for n in range(30)] + [("u1", "i1", 5)] * 30
    with pytest.warns(UserWarning, match=r"give Input\('ratings', …\) with min_rating, or weight_col='none'"):
        word2vec().fit(Input("pairs", rows, rectangular=True))
    with pytest.warns(UserWarning, match=r"if these are not weights, give weight_col='none'"):
        word2vec(pair_weights="sample").fit(Input("pairs", [*rows, ("u1", "i1", 2000)], rectangular=True))


def test_one_purchase_updates_a_model():
    log = pd.DataFrame({"user": [*"aabb"], "item": [*"xyxz"]})
    one = word2vec()
    one.fit(log)
    one.fit(pd.DataFrame({"user": ["c"], "item": ["z"]}), update=True)
    assert sorted(one.model.vocab.words) == ["a", "b", "c"]
