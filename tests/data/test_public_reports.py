"""Tables that made trouble elsewhere, as people reported in public, each with its outcome worked out by hand.

The numbers are those of docs/journal/2026-11-25-public-reports.md, which names the reports. All inputs are our own.
"""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from click.testing import CliRunner
from reading import encode_cooccurrence, encode_edges, encode_pairs, encode_ratings

from w2vneg import Input, Word2Vec
from w2vneg.cli import cli
from w2vneg.data.encoded import read_pairs_file
from w2vneg.data.inputs import encode_input, settled
from w2vneg.data.sources import options_of
from w2vneg.data.vocab import Vocabulary
from w2vneg.ground.errors import ConfigError, DoubtError, InputError

READ = {"pairs": encode_pairs, "edges": encode_edges, "ratings": encode_ratings}
TWO = {"rectangular": True}


def written(tmp_path, lines):
    path = tmp_path / "table"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


# number -> (kind, options, rows, names of centres, names of targets or None where there is one kind)
READ_AS = {
    "r-05": (
        "ratings",
        TWO,
        ["t_dat,customer_id,article_id,price", "2018-09-01,c1,0203,0.1", "2018-09-02,c2,0204,0.2"],
        "c1 c2",
        "0203 0204",
    ),
    "r-06": (
        "pairs",
        TWO,
        ["order_id,product_id,add_to_cart_order,reordered", "1,p1,1,0", "1,p2,2,1", "2,p1,3,0"],
        "1 2",
        "p1 p2",
    ),
    "r-07": (
        "ratings",
        TWO,
        ["timestamp,visitorid,event,itemid,transactionid", "1430000000117,60,view,i1,", "1430000001117,61,view,i2,5"],
        "60 61",
        "i1 i2",
    ),
    "r-08": (
        "pairs",
        TWO,
        ["", '7,"Cities, Old",purchase,1.0,0', '8,"Cities, New",play,2.5,0'],
        "7 8",
        "Cities,_New Cities,_Old",
    ),
    "r-11": (
        "ratings",
        TWO | {"min_rating": 4},
        ["user_id,book_id,is_read,rating,is_reviewed", "0,b1,1,5,0", "0,b2,1,3,0", "1,b3,1,4,0"],
        "0 1",
        "b1 b3",
    ),
    "r-13": (
        "ratings",
        {"time_col": "timestamp"},
        ["user_id:token item_id:token timestamp:float", "u a 3.0", "u b 2.0", "u c 1.0"],
        "a b c",
        None,
    ),
    "r-18": ("pairs", TWO, ["user\titem", 'u1\todd "ed" one', "u2\ttwo"], "u1 u2", 'odd_"ed"_one two'),
    "r-23": ("edges", {}, ["9007199254740993,9007199254740992", "36893488147419103232,9007199254740993"],
             "36893488147419103232 9007199254740992 9007199254740993", None),
    "r-24": ("edges", {}, ["from,to", "NA,nan", "null,None", "-,True"], "- NA None True nan null", None),
    "r-71": ("pairs", TWO, ["user,item", 'u1,"""Other side"""', "u2,b"], "u1 u2", '"Other_side" b'),
    "r-77": ("edges", {}, ["_a ۱۲", "ნინო _a"], "_a ۱۲ ნინო", None),
    "r-78": (
        "edges",
        {},
        ["start_id,start_vertex_type,end_id,end_vertex_type", "71,comment,8,person", "72,comment,9,person"],
        "71 72 8 9",
        None,
    ),
    "r-79": ("pairs", TWO, ["user,item,title", 'u1,a,"one\ntwo"', "u2,b,three"], "u1 u2", "a b"),
    "r-81": ("pairs", TWO, ["user\titem", "u1\ti4 ", "u2\ti4", "u3\t i4", "u3\ti5"], "u1 u2 u3", "i4 i5"),
}  # fmt: skip


@pytest.mark.parametrize("number", READ_AS)
def test_names_are_read_from_the_columns_that_are_meant(number, tmp_path):
    kind, options, lines, centres, targets = READ_AS[number]
    data = READ[kind](written(tmp_path, lines), **options)
    assert " ".join(sorted(data.vocab.words)) == centres
    assert targets is None or " ".join(sorted(data.vocab_out.words)) == targets


# number -> (kind, options, rows, what the message says)
REFUSED = {
    "r-01": (
        "ratings",
        {},
        ["sessionId;userId;itemId;timeframe;eventdate", "1;NA;i1;17;2016-05-09", "1;NA;i2;18;2016-05-09"],
        "several columns fit: 'sessionId' and 'userId'.*--user-col sessionId --item-col itemId",
    ),
    "r-02": (
        "ratings",
        {},
        ["1,2014-04-07T10:10:10.277Z,330,0", "1,2014-04-07T10:11:10.277Z,331,0"],
        "column 2.*holds times",
    ),
    "r-03": ("ratings", {}, ["0\t2010-10-01T01:55:27Z\t30.2\t-97.7\t228"] * 2, "column 2.*holds times"),
    "r-09": (
        "pairs",
        TWO,
        ['"User-ID";"ISBN";"Book-Rating"', '"5";"071X";"0"', '"6";"072X";"5"'],
        "a rating is not a weight",
    ),
    "r-10": (
        "ratings",
        {"min_rating": 2},
        ["user_id\titem_id\tinteraction_type\tcreated_at", "1\ti1\t2\t1450000000", "1\ti2\t1\t1450000001"],
        "no column name matches ratings.*--rating-col interaction_type",
    ),
    "r-12": ("pairs", TWO, ["0\ti1\t1\t978300760", "0\ti2\t5\t978300761"], "look like ratings and their times"),
    "r-19": ("ratings", {}, ["user\titem\tkind\ttime", "u\ta\tv\t1", "u\tb\t2"], r":3: 3 fields"),
    "r-26": ("edges", {}, ["a\tb\t2", "b\tc\t"], r":2: .*column 3.*empty"),
    "r-28": ("edges", {}, ["source,target,weight", "a,b,2", "b,c,-3"], r":3: .*not above 0"),
    "r-29": ("edges", {}, ["source,target,weight", "a,b,2", "b,c,0"], r":3: .*not above 0"),
    "r-30": ("edges", {}, ["1 2 3 4", "2 5 6", "3 5 4", "4 6 7"], r"table:\d: "),
    "r-31": (
        "edges",
        {},
        ["/m/1\t/film/of\t/m/2", "/m/2\t/film/by\t/m/3", "/m/3\t/film/of\t/m/1"],
        "column 2.*looks like relations.*--source-col 1 --target-col 3",
    ),
    "r-80": ("edges", {}, ["source;target;weight", "a;b;2,5", "b;c;3,0"], r":2: .*'2,5' is not a number"),
}  # fmt: skip


@pytest.mark.parametrize("number", REFUSED)
def test_what_is_not_clear_or_not_right_is_refused_with_a_remedy(number, tmp_path):
    kind, options, lines, message = REFUSED[number]
    with pytest.raises(InputError, match=message):
        READ[kind](written(tmp_path, lines), **options)


def test_edges_with_a_label_are_no_triples(tmp_path):
    assert encode_edges(written(tmp_path, ["a\tb\tfriend", "b\tc\tfoe"])).report.kept == 2


def test_whole_numbers_that_became_decimals_are_called_as_before(tmp_path):  # r-20, r-35
    users, items = [1.0, 2.0, 3.0], [1.0, 7.5, 2.0]
    frame = pd.DataFrame({"user": users, "item": items})
    for data in (frame, list(zip(users, items, strict=True)), frame.astype("Float64")):
        pairs = encode_input(Input("pairs", data, rectangular=True))
        assert (sorted(pairs.vocab.words), sorted(pairs.vocab_out.words)) == (["1", "2", "3"], ["1", "2", "7.5"])
    pytest.importorskip("pyarrow")
    frame.to_parquet(tmp_path / "t.parquet")
    pairs = encode_pairs(tmp_path / "t.parquet", rectangular=True)
    assert (sorted(pairs.vocab.words), sorted(pairs.vocab_out.words)) == (["1", "2", "3"], ["1", "2", "7.5"])


def test_missing_names_are_refused_or_counted(tmp_path):  # r-21
    frame = pd.DataFrame({"user": [1.0, np.nan, 2.0], "item": ["a", "b", "c"]})
    with pytest.raises(InputError, match=r"row 1.*empty"):
        encode_input(Input("pairs", frame, rectangular=True))
    assert encode_input(Input("pairs", frame, rectangular=True, bad_rows="skip")).matrix.sum() == 2
    pytest.importorskip("pyarrow")
    frame.to_parquet(tmp_path / "t.parquet")
    with pytest.raises(InputError, match="empty"):
        encode_pairs(tmp_path / "t.parquet", rectangular=True)


def test_comments_that_may_be_rows_are_told_with_a_remedy(tmp_path):  # r-25
    lines = ["http://a.org/x#One http://a.org/x#Two", "#cats #dogs", "# a remark", "http://a.org/x#Two b"]
    graph = encode_edges(written(tmp_path, lines))
    assert list(sorted(graph.vocab.words)) == ["b", "http://a.org/x#One", "http://a.org/x#Two"]
    (hint,) = graph.report.hints
    assert "rows that begin with # or % and a name were skipped as comments, 1 in all" in hint and "quotes" in hint
    lines[1] = '"#cats" "#dogs"'
    graph = encode_edges(written(tmp_path, lines))
    assert {"#cats", "#dogs"} < set(graph.vocab.words) and graph.report.hints == ()


def test_users_and_items_are_two_kinds_and_it_is_said(tmp_path):  # r-32
    path = written(tmp_path, ["user,item", "1,2", "2,1", "2,2"])
    run = CliRunner().invoke(cli, ["train", "--pairs", str(path), "--dry-run", "--loss", "us"])
    assert run.exit_code == 0, run.output
    assert "two kinds of things, else give --no-rectangular" in run.output and "2 users and 2 items" in run.output
    run = CliRunner().invoke(cli, ["train", "--pairs", str(path), "--dry-run", "--loss", "us", "--no-rectangular"])
    assert run.exit_code == 0, run.output
    assert "2 pairs of 2 items" in run.output and "1 pair of an item with itself" in run.output
    assert settled(Input("pairs", str(path))).rectangular is True
    assert settled(Input("pairs", str(path), rectangular=False)).rectangular is False
    assert settled(Input("pairs", pd.read_csv(path))).rectangular is True
    assert settled(Input("pairs", str(path), item_col="item", target_col="user")).rectangular is True
    with pytest.raises(DoubtError, match=r":2: 'user' and 'item' seem to be two kinds.*--no-rectangular"):
        encode_input(Input("pairs", str(path)))  # as what comes through a pipe
    words = written(tmp_path, ["word1,word2,count", "a,b,2", "b,c,1"])
    assert settled(Input("pairs", str(words))).rectangular is None
    assert encode_input(Input("pairs", str(words))).report.kept == 2


def test_nodes_that_are_users_and_items_of_the_same_names_are_told(tmp_path):  # r-32, as edges
    (hint,) = encode_edges(written(tmp_path, ["user,item", "1,2", "2,3"])).report.hints
    assert "1 names occur in both 'user' and 'item'" in hint
    assert encode_edges(written(tmp_path, ["user,item", "u1,2", "u2,3"])).report.hints == ()


def test_known_pairs_are_read_by_their_names_or_an_order_is_named(tmp_path):  # r-74
    users = Vocabulary.from_counts({"1": 1, "2": 1})
    items = Vocabulary.from_counts({"1": 1, "2": 1})
    held = read_pairs_file(written(tmp_path, ["item,user", "1,2"]), users, items)
    assert (users.words[held.centres[0]], items.words[held.targets[0]]) == ("2", "1")
    path = written(tmp_path, ["session_id,user_id,item_id", "1,2,1"])
    with pytest.raises(DoubtError, match=r"name or order the columns as item, target, weight$"):
        read_pairs_file(path, users, items)


def test_columns_of_data_frames_go_by_name(tmp_path):  # r-82
    ratings = pd.DataFrame({"timestamp": [3, 2, 1], "user_id": ["u", "u", "v"], "item_id": ["a", "b", "a"]})
    data = encode_input(Input("ratings", ratings, rectangular=True))
    assert (sorted(data.vocab.words), sorted(data.vocab_out.words)) == (["u", "v"], ["a", "b"])
    edges = pd.DataFrame({"weight": [0.5, 2.5], "target": ["t1", "t2"], "source": ["s1", "s1"]})
    graph = encode_input(Input("edges", edges))
    assert sorted(graph.vocab.words) == ["s1", "t1", "t2"] and sorted(set(graph.matrix.data)) == [0.5, 2.5]


def test_the_same_cell_twice_adds_up(tmp_path):  # r-83
    matrix = scipy.sparse.coo_matrix(([1.0, 2.0, 0.0], ([0, 0, 1], [1, 1, 2])), (3, 3))
    scipy.sparse.save_npz(tmp_path / "m.npz", matrix)
    pairs = encode_cooccurrence(tmp_path / "m.npz")
    assert (pairs.matrix.sum(), pairs.matrix.nnz) == (3, 1)


def test_nodes_without_an_edge_are_counted_in_memory_and_in_files(tmp_path):  # r-84, r-27
    matrix = np.zeros((5, 5))
    matrix[[0, 1, 2], [1, 2, 0]] = 1
    scipy.sparse.save_npz(tmp_path / "m.npz", scipy.sparse.csr_matrix(matrix))
    for data in (scipy.sparse.csr_matrix(matrix), str(tmp_path / "m.npz")):
        graph = encode_input(Input("edges", data))
        assert sorted(graph.vocab.words) == ["0", "1", "2"]
        assert graph.report.left_out["nodes without an edge to another"] == 2
    looped = encode_edges(written(tmp_path, ["a b", "c c"])).report
    assert looped.left_out["nodes without an edge to another"] == 1


def test_returns_and_repeats_of_a_log_are_left_out_and_counted(tmp_path):
    lines = ["customer,product,quantity", "u,a,2", "u,b,1", "u,a,5", "v,a,-1", "v,b,", ",b,1", "v,c,1"]
    path = written(tmp_path, lines)
    for how in ("error", "skip"):
        report = encode_ratings(path, bad_rows=how).report
        assert {why: n for why, n in report.left_out.items() if n} == {
            "returns, of a quantity below 0": 1,
            "rows without a user": 1,
            "rows that repeat a user and an item": 1,
        }
        assert report.kept == 4 and "amounts = column 'quantity'" in report.line()
    help = options_of("ratings")["bad_rows"].metadata["help"]
    assert help.endswith("Always dropped: returns, with a quantity below 0; --ratings rows without a user.")
    plays = written(tmp_path, ["customer,product,plays", "u,a,2", "v,a,-1"])
    with pytest.raises(InputError, match=r":3: in 'plays' .*-1 is below 0.*--bad-rows skip"):
        encode_ratings(plays)
    all_returned = written(tmp_path, ["customer,product,quantity", "u,a,-2", "v,a,-1"])
    with pytest.raises(InputError, match="all 2 rows are returns"):
        encode_ratings(all_returned)


def test_of_repeats_that_count_once_the_latest_gives_its_amount(tmp_path):
    lines = ["customer,product,quantity,time", "u,a,5,20", "v,b,1,11", "u,a,2,10"]
    options = {"rectangular": True, "rating_col": "quantity", "time_col": "time", "repeats": "once"}
    pairs = encode_input(Input("ratings", written(tmp_path, lines), **options))
    assert pairs.matrix[pairs.vocab.words.index("u"), pairs.vocab_out.words.index("a")] == 5


def test_quantities_weigh_pairs_and_repeats_add_up(tmp_path):
    lines = ["customer,product,quantity", "u,a,2", "u,b,1", "u,a,5", "v,a,-1", "v,b,0", "v,c,1"]
    path = written(tmp_path, lines)

    def weights(**options):
        pairs = encode_input(Input("ratings", path, rectangular=True, **options))
        entries = pairs.matrix.tocoo()
        return {
            (pairs.vocab.words[i], pairs.vocab_out.words[j]): float(weight)
            for i, j, weight in zip(entries.row, entries.col, entries.data, strict=True)
        }, pairs.report

    found, _ = weights()
    assert found == dict.fromkeys([("u", "a"), ("u", "b"), ("v", "b"), ("v", "c")], 1.0)
    found, report = weights(repeats="count")
    assert found == {("u", "a"): 2, ("u", "b"): 1, ("v", "b"): 1, ("v", "c"): 1}
    assert report.added["rows that repeat a user and an item"] == 1
    found, report = weights(rating_col="quantity")
    assert found == {("u", "a"): 7, ("u", "b"): 1, ("v", "c"): 1}
    assert report.left_out["rows with amount 0"] == 1
    assert weights(rating_col="quantity", repeats="once")[0] == {("u", "a"): 5, ("u", "b"): 1, ("v", "c"): 1}
    for options, message in (
        ({"rating_col": "quantity"}, "give --rectangular for weighted pairs"),
        ({"repeats": "count"}, "give --rectangular for weighted pairs.*for --baskets or --corpus, which keep repeats"),
        ({"rating_col": "product", "rectangular": True}, "used only with --min-rating"),
    ):
        with pytest.raises(ConfigError, match=message):
            encode_input(Input("ratings", path, **options))


@pytest.mark.parametrize("cell", ["12,0", "abc", "inf", "-3,0"])
def test_an_amount_that_is_no_number_is_refused(tmp_path, cell):
    path = written(tmp_path, ["customer;product;quantity", *["u;a;1", "v;a;2", "w;b;"] * 3, f"u;b;{cell}"])
    for options in ({}, {"rating_col": "quantity", "rectangular": True}):
        with pytest.raises(InputError, match=rf":11: in 'quantity' .*'?{cell}'? is not a (finite )?number"):
            encode_ratings(path, **options)
    kept = encode_ratings(path, rectangular=True, rating_col="quantity", bad_rows="skip")
    assert kept.matrix.sum() == 3 + 6 + 3  # an empty cell is one
    assert kept.report.hints == ("3 of 10 rows have no amount and count as 1",)
    assert not encode_ratings(path, rectangular=True, bad_rows="skip").report.hints  # where amounts do not count


@pytest.mark.parametrize("head", [["customer,product"], []])
@pytest.mark.parametrize("sign", ["; ", "| "])
def test_a_sign_inside_names_does_not_part_them(tmp_path, head, sign):
    path = written(tmp_path, [*head, *(f"u{i},Tea{sign}green {i + k}" for i in range(20) for k in (1, 2, 3))])
    pairs = encode_input(Input("ratings", path, rectangular=True))
    assert (len(pairs.vocab), len(pairs.vocab_out)) == (20, 22) and "separated by comma" in pairs.report.line()


def test_logs_are_no_baskets(tmp_path):
    rows = [f"u{i % 9},p{i % 17},{i % 3}" for i in range(60)]
    with pytest.raises(InputError, match="a log, one item per row"):
        encode_input(Input("baskets", written(tmp_path, ["customer,product,quantity", *rows])))
    timed = [f"{i % 9}\t{i % 17}\t{i % 5}\t{880000000 + i}" for i in range(60)]
    with pytest.raises(DoubtError, match="a time in the same place"):
        encode_input(Input("baskets", written(tmp_path, timed)))
    books = [f"{880000000 + i * 7 % 50}\t{870000000 + i % 7}\t{860000000 + i % 9}" for i in range(60)]
    assert len(encode_input(Input("baskets", written(tmp_path, books)), min_count=1)) == 180


def test_what_is_no_row_of_pairs_is_not_counted_as_evaluated(tmp_path):
    vocab = Vocabulary(["a", "b", "u"], np.ones(3, np.int64))
    held = read_pairs_file(written(tmp_path, ["user,item,quantity", "u,a,2", "u,b,-1", "u,a,0", "v,b,1"]), vocab, vocab)
    assert (len(held), held.n_read, held.n_unknown) == (1, 2, 1)
    assert held.columns[-2:] == ("left out: 1 return", "left out: 1 row with weight 0")


def test_a_matrix_is_no_list_of_pairs():
    for kind, matrix in (("edges", np.eye(6)), ("pairs", np.ones((40, 12)))):
        with pytest.raises(ConfigError, match=r"looks like a matrix.*csr_matrix"):
            Input(kind, matrix)


def test_returns_among_pairs_are_left_out_too(tmp_path):
    path = written(tmp_path, ["user,item,qty", "u,a,2", "u,b,-1", "v,b,3"])
    pairs = encode_input(Input("pairs", path, rectangular=True))
    assert (pairs.matrix.sum(), pairs.report.left_out["returns, of a quantity below 0"]) == (5, 1)
    path = written(tmp_path, ["user,item,weight", "u,a,2", "u,b,-1", "v,b,3"])
    with pytest.raises(InputError, match="the weight -1 is below 0"):
        encode_input(Input("pairs", path, rectangular=True))


DOUBTFUL = ["a b 1", "b c 2", "c d 1", "d a 500"]


def test_warnings_of_reading_are_printed_though_quiet(tmp_path, run_cli):
    path = written(tmp_path, DOUBTFUL)
    said = run_cli("train", "--edges", str(path), "--dry-run", "--quiet")
    assert said.code == 0, said.err
    assert said.err.startswith("Warning: the largest weight, 500") and "4 rows" not in said.err


def test_fit_warns_of_what_reading_found_and_logs_what_it_read(tmp_path, caplog):
    path = written(tmp_path, DOUBTFUL)
    word2vec = Word2Vec(dim=2, epochs=1, workers=1, walk_length=3)
    with caplog.at_level("INFO", "w2vneg"), pytest.warns(UserWarning, match="the largest weight, 500"):
        word2vec.fit(Input("edges", str(path)), progress=False)
    assert any("4 edges of 4 nodes" in record.getMessage() for record in caplog.records)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        word2vec.fit(Input("edges", str(path), weight_col=3), progress=False)


def test_newer_data_are_of_as_many_kinds_as_the_model(tmp_path):  # r-32, going on
    path = written(tmp_path, ["user,item", "1,2", "2,1", "2,2", "1,1"])
    options = {"dim": 2, "epochs": 1, "workers": 1, "loss": "us", "min_count": 1}
    for given, two in (({"rectangular": False}, False), ({}, True)):
        word2vec = Word2Vec(**options)
        word2vec.fit(Input("pairs", str(path), **given), progress=False)
        assert word2vec.model.config.rectangular is two
        word2vec.fit(Input("pairs", str(path)), update=True, progress=False)
        assert word2vec.model.config.rectangular is two
