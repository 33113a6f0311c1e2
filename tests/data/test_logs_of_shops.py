"""Logs as shops export them: what one odd cell, column or unit does to all other rows."""

import numpy as np
import pandas as pd
import pytest

from w2vneg import Input, Validate, Word2Vec
from w2vneg.data.inputs import encode_input
from w2vneg.ground.errors import ConfigError, DoubtError, InputError, UnknownNameError

SMALL = {"dim": 4, "epochs": 1, "workers": 1, "min_count": 1}


def ratings(table, **options):
    return encode_input(Input("ratings", table, rectangular=True, **options))


def left_out(encoded):
    return {why: n for why, n in encoded.report.left_out.items() if n}


@pytest.mark.parametrize(
    "users",
    [
        [1234567890123450001.0, 1234567890123450300.0, np.nan],
        np.array([123456789, 123456790, 1], np.float32),
        np.array([2050, 2051, 2052], np.float16),
    ],
)
def test_ids_that_floats_cannot_tell_apart_are_refused_everywhere(tmp_path, users):
    frame = pd.DataFrame({"user": users, "item": ["a", "b", "c"]})
    for table in (frame, str(tmp_path / "log.parquet")):
        if table is frame and frame["user"].dtype != np.float16:  # which Parquet of old has not
            frame.to_parquet(tmp_path / "log.parquet")
        elif frame["user"].dtype == np.float16 and table is not frame:
            continue
        with pytest.raises(InputError, match="too large for an exact id; give text or integers"):
            ratings(table)


@pytest.mark.parametrize(
    "names",
    [
        [100000000000.0, 7.0, np.nan, 1234567890123456.0],
        [True, False, True, False],
        pd.to_datetime(["2024-01-01", "2024-01-02", "2024-01-03", "2024-01-04"]),
        pd.to_datetime(["2024-01-01 10:00", "2024-01-02 00:00", "2024-01-03 00:00", "2024-01-04 00:00"]),
    ],
)
def test_names_of_parquet_are_those_of_the_same_table_in_memory(tmp_path, names):
    frame = pd.DataFrame({"user": names, "item": ["a", "b", "c", "d"]})
    frame.to_parquet(tmp_path / "log.parquet")
    here, there = ratings(frame), ratings(str(tmp_path / "log.parquet"))
    assert sorted(here.vocab.words) == sorted(there.vocab.words)


def test_quantities_that_are_text_are_quantities_in_parquet_too(tmp_path):
    frame = pd.DataFrame({"user": list("aabb"), "item": list("xyxz"), "quantity": ["1", "2", "3", "-1"]})
    frame.to_parquet(tmp_path / "log.parquet")
    for table in (frame, str(tmp_path / "log.parquet")):
        assert left_out(ratings(table)) == {"returns, of a quantity below 0": 1}


def test_returns_are_of_the_column_of_quantities(tmp_path):
    log = tmp_path / "log.csv"
    log.write_text("customer,product,weight,quantity\nc1,a,1.5,1\nc1,b,1.5,-1\nc2,b,.5,2\n")
    found = ratings(str(log))
    assert left_out(found) == {"returns, of a quantity below 0": 1} and found.matrix.sum() == 2
    said = "amounts = column 'quantity', for returns only, --rating-col quantity would use it as a weight"
    assert said in found.report.line()
    weighed = ratings(str(log), rating_col="quantity")
    assert weighed.matrix.sum() == 3 and "amounts = column 'quantity'; not used: 'weight')" in weighed.report.line()
    log.write_text("customer,product,quantity\nc1,a,1\nc1,b,2\n")
    line = encode_input(Input("ratings", str(log))).report.line()
    assert line.startswith("2 rows ") and "'quantity', for returns only): 2 items in 1 history of 2 items;" in line


@pytest.mark.parametrize("amounts", [("1,0", "2,0", "1,0"), ("a", "1", "2"), ("\\N", "1", "-")])
def test_amounts_can_be_left_out(tmp_path, amounts):
    rows = "".join(f"c{n};p{n};{amount}\n" for n, amount in enumerate(amounts))
    (tmp_path / "log.csv").write_text(f"customer;product;qty\n{rows}")
    if amounts[0] != "\\N":
        with pytest.raises(InputError, match=r"not a number.*, ignore amounts with --rating-col none, or"):
            ratings(str(tmp_path / "log.csv"))
        assert ratings(str(tmp_path / "log.csv"), rating_col="none").n_pairs == 3
    assert ratings(str(tmp_path / "log.csv"), rating_col="none").n_pairs == 3


def test_lengths_of_time_are_no_amounts():
    frame = pd.DataFrame({"user": [*"aab"], "item": [*"xyx"], "plays": pd.to_timedelta([1, 2, 3], unit="s")})
    for given in (
        Input("ratings", frame, rating_col="plays", rectangular=True),
        Input("pairs", frame, weight_col="plays"),
    ):
        with pytest.raises(
            InputError,
            match=r"'plays' .*holds times, not numbers; for durations, give COLUMN\.dt\.total_seconds\(\)",
        ):
            encode_input(given)
    assert ratings(frame.assign(plays=frame["plays"].dt.total_seconds()), rating_col="plays").matrix.sum() == 6


def test_messages_on_tables_in_memory_have_names_of_python():
    frame = pd.DataFrame({"user": [*"aab"], "item": [*"xyx"], "quantity": ["1", "2", "z"]})
    with pytest.raises(InputError, match=", ignore amounts with rating_col='none', or"):
        ratings(frame, rating_col="quantity")
    with pytest.raises(InputError, match=r"below 0, but .*; leave such rows out with bad_rows='skip'$"):
        encode_input(Input("pairs", frame.assign(weight=[1, 2, -1]), weight_col="weight", rectangular=True))


def test_an_amount_that_is_missing_counts_one_in_json_lines_too(tmp_path):
    (tmp_path / "log.jsonl").write_text(
        '{"user": "a", "item": "x", "qty": 2}\n{"user": "a", "item": "y", "qty": null}\n{"user": "b", "item": "x"}\n'
    )
    assert ratings(str(tmp_path / "log.jsonl")).n_pairs == 3


class TestLogsOfWhatWasShown:
    """Rows of which a column says whether the item was taken: others are no sign of liking."""

    FRAME = pd.DataFrame({"user_id": [f"u{n % 7}" for n in range(60)], "item_id": [f"d{n % 11}" for n in range(60)]})

    @pytest.mark.parametrize("name", ["clicked", "is_click", "isClicked", "label", "Purchased"])
    @pytest.mark.parametrize("rectangular", [True, False])
    def test_they_are_asked_about(self, tmp_path, name, rectangular):
        frame = self.FRAME.assign(**{name: [int(n % 3 == 1) for n in range(60)]})
        log = str(tmp_path / "log.csv")
        frame.to_csv(log, index=False)
        frame.to_json(tmp_path / "log.jsonl", orient="records", lines=True)
        said = (
            rf"'{name}' holds 0 and 1, .*; give --rating-col {name} --min-rating 1 to .*, or --rating-col none to keep"
        )
        for path in (log, str(tmp_path / "log.jsonl")):
            with pytest.raises(DoubtError, match=said):
                encode_input(Input("ratings", path, rectangular=rectangular))
        with pytest.raises(DoubtError, match=rf"give rating_col='{name}', min_rating=1 to .*, or rating_col='none' to"):
            encode_input(Input("ratings", frame, rectangular=rectangular))
        given = Input("ratings", log, rectangular=rectangular, rating_col=name, min_rating=1)
        assert encode_input(given).report.left_out["rows rated below 1"] == 40
        assert encode_input(given.replace(rating_col="none", min_rating=None)).report.rows == 60

    @pytest.mark.parametrize("write", [bool, str, lambda answer: str(answer).lower()])
    def test_true_and_false_are_answers(self, tmp_path, write):
        frame = self.FRAME.assign(clicked=[write(n % 3 == 1) for n in range(60)])
        paths = [str(tmp_path / f"log.{suffix}") for suffix in ("csv", "jsonl", "parquet")]
        frame.to_csv(paths[0], index=False)
        frame.to_json(paths[1], orient="records", lines=True)
        frame.to_parquet(paths[2])
        for table in (frame, *paths):
            with pytest.raises(DoubtError, match=r"(?i)'clicked' holds false and true,.*rows with false would count"):
                ratings(table)
            assert ratings(table, rating_col="clicked", min_rating=1).report.left_out["rows rated below 1"] == 40

    @pytest.mark.parametrize(
        "more",
        [
            {"clicked": [1] * 60},
            {"clicked": [0] * 60},
            {"clicked": [1] * 59 + [0]},
            {"clicked": [0, 1, 2] * 20},
            {"clicked": ["no", "yes", "yes"] * 20},  # which are no ratings either
            {"mobile": [0, 1, 1] * 20},
            {"rating": [1, 2, 3, 4, 5] * 12, "liked": [0, 1, 1] * 20},
            {"purchased": [0, 1, 1] * 20, "quantity": [1, 2, 3] * 20},
            {"clicked": [0, 1, 1] * 20, "views": [1, 2, 3] * 20},
        ],
    )
    def test_other_columns_are_not(self, more):
        assert ratings(self.FRAME.assign(**more)).report.rows == 60

    def test_nor_short_logs_held_out_rows_or_those_of_a_least_rating(self):
        frame = self.FRAME.assign(clicked=[0, 1, 1] * 20, stars=[1, 2, 3, 4] * 15)
        assert ratings(frame[:15]).report.rows == 15
        assert ratings(frame, rating_col="stars", min_rating=3).report.rows == 60
        word2vec = Word2Vec(loss="us", **SMALL)
        word2vec.fit(Input("ratings", self.FRAME, rectangular=True))
        assert word2vec.evaluate_ranking(frame[["user_id", "item_id", "clicked"]], bootstrap=0).test.read == 60


class TestTimes:
    def order(self, path, rows, **options):
        path.write_text("user,item,date\n" + "".join(f"u,i{n},{when}\n" for n, when in enumerate(rows)))
        found = encode_input(Input("ratings", str(path), time_col="date", **options))
        return [found.vocab.words[i] for i in found.ids.tolist()]

    def test_a_missing_date_does_not_turn_months_into_days(self, tmp_path):
        rows = ["03/01/2024", "", "03/14/2024", "02/28/2024"]
        with pytest.raises(InputError, match=r"log\.csv:3: the time in 'date' \(--time-col\) is missing; leave such"):
            self.order(tmp_path / "log.csv", rows)
        assert self.order(tmp_path / "log.csv", rows, bad_rows="skip") == ["i3", "i0", "i2"]

    @pytest.mark.parametrize(
        "rows",
        [
            ["2024-03-25 00:03:33 UTC", "2024-03-24 10:00:00 UTC"],
            ["03/25/2024 12:03 AM", "03/24/2024 11:59 PM"],
            ["25.03.2024 1:03:10 pm", "25.03.2024 12:03:10 pm"],
            ["2024-03-25 01:03:10 PM", "2024-03-25 12:03:10 PM"],
            ["28/Feb/2024:03:03:37 +0000", "28/Feb/2024:03:30:00 +0100"],
            ["[01/Mar/2024:00:00:01", "[29/Feb/2024:23:59:59"],
            ["Tue Apr 03 18:00:09 +0000 2012", "Tue Apr 03 12:00:09 -0500 2012"],
        ],
    )
    def test_forms(self, tmp_path, rows):
        assert self.order(tmp_path / "log.csv", rows) == ["i1", "i0"]

    def test_the_first_of_a_frame_may_be_missing(self):
        polars = pytest.importorskip("polars")
        days = [None, *(pd.Timestamp(f"2024-01-0{day}").to_pydatetime() for day in (3, 2))]
        frame = polars.DataFrame({"user": ["u"] * 3, "item": list("abc"), "when": days})
        found = encode_input(Input("ratings", frame, time_col="when", bad_rows="skip"))
        assert [found.vocab.words[i] for i in found.ids.tolist()] == ["c", "b"]

    @pytest.mark.parametrize(
        ("when", "message"),
        [
            ([pd.NaT, pd.NaT], "the time in 'when' is missing"),
            ([None, pd.Timestamp("2024-01-01"), "x"], "holds x, not a time"),
        ],
    )
    def test_objects_that_are_no_dates(self, when, message):
        frame = pd.DataFrame({"user": "u", "item": list("abc")[: len(when)], "when": pd.Series(when, dtype=object)})
        with pytest.raises(InputError, match=message):
            encode_input(Input("ratings", frame, time_col="when"))


def test_what_excel_writes_first_is_no_row(tmp_path):
    (tmp_path / "log.csv").write_text("sep=;\nuser;item\na;x\nb;y\n")
    assert sorted(ratings(str(tmp_path / "log.csv")).vocab.words) == ["a", "b"]
    (tmp_path / "log.csv").write_text("Sales 2024;;\n;;\nuser;item;price\na;x;3,5\nb;y;2,0\n")
    assert sorted(ratings(str(tmp_path / "log.csv")).vocab.words) == ["a", "b"]
    (tmp_path / "log.csv").write_text(",product\na,x\nb,y\n")  # a header without a name for the first column
    assert sorted(ratings(str(tmp_path / "log.csv"), header=True).vocab.words) == ["a", "b"]


@pytest.mark.parametrize("sign", [",", ";", "\t", " "])
def test_dashes_below_the_header_are_no_row(tmp_path, sign):
    rows = [["item", "customer"], ["----", "--------"], ["x", "a"], ["--x", "--"]]
    for end in ("\n", "\n\n"):
        (tmp_path / "log.csv").write_text("".join(sign.join(row) + end for row in rows))
        found = ratings(str(tmp_path / "log.csv"))
        assert sorted(found.vocab.words) == ["--", "a"] and sorted(found.vocab_out.words) == ["--x", "x"]


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_the_headers_of_parts_put_together_are_no_rows(tmp_path, mark):
    log, part = tmp_path / "log.csv", "product_id,customer_id\n{0}a,c1\n{0}b,c2\n"
    for first, last in ((0, 3), (0, 5000)):  # among the first rows, and far below them
        log.write_text(mark.join(part.format(n) + "x,c1\n" * n for n in (first, last, 2)), encoding="utf-8")
        found = ratings(str(log))
        assert list(found.vocab.words) == ["c1", "c2"] and left_out(found)["headers within the rows"] == 2
    log.write_text(",user,item\n0,x,y\n,user,item\n0,z,w\n")  # as pandas writes its index
    assert list(ratings(str(log)).vocab.words) == ["x", "z"]
    for again in ('"user","item"', "user, item ", "\ufeffuser,item"):
        log.write_text(f"user,item\nx,y\n{again}\nz,w\n{again}\nz,y", encoding="utf-8")
        found = ratings(str(log), bad_rows="skip")
        assert sorted(found.vocab.words) == ["x", "z"] and left_out(found)["headers within the rows"] == 2
    log.write_text("user item\nx y\nuser y\n")  # a row that is no header says that the first is none
    assert ratings(str(log)).report.line().startswith("3 rows ")


@pytest.mark.parametrize(("kind", "kinds"), [("ratings", {}), ("pairs", {"rectangular": True}), ("edges", {})])
def test_names_with_blanks_are_counted(tmp_path, kind, kinds):
    log, rows = tmp_path / "log.csv", "user,item\nc1,Green{}Tea\nc2,Green{}Tea\nc1,Oat{}Milk\nc2, Oat{}Milk \n"
    for blank, said in ((" ", True), ("_", False)):
        log.write_text(rows.replace("{}", blank))
        line = encode_input(Input(kind, str(log), **kinds)).report.line()
        assert ("; 2 names have blanks, kept as _" in line) is said


@pytest.mark.parametrize("nobody", ["NULL", "\\N", "#N/A", "#NV", ".", "#NULL!", "NA", "nan"])
def test_rows_of_nobody_are_remarked_on(tmp_path, nobody):
    log = tmp_path / "log.csv"
    log.write_text(f"customer,product\n{nobody},x\nc1,x\n{nobody},y\nc2,{nobody}\n")
    for kind in ("ratings", "pairs"):
        found = encode_input(Input(kind, str(log), rectangular=True))
        assert nobody in found.vocab.words  # it may be a name
        (hint,) = found.report.hints
        assert hint == f"2 rows have {nobody!r} in 'customer'; if it means that the name is missing, remove them"
    log.write_text(f"word,context\n{nobody},x\nno,x\n{nobody},y\nyes,{nobody}\n")
    assert not encode_input(Input("pairs", str(log))).report.hints


@pytest.mark.parametrize(
    ("head", "rows", "refused"),
    [
        ("user;item;quantity;price", ["a;x;1.200;3,50", "b;y;5;2,00"], True),
        ("user;item;quantity;price", ["a;x;5;2", "b;y;12.000;1,25"], True),
        ("user\titem\tquantity\tkinds", ["a\tx\t1.125\t3,1", "b\ty\t2\t12,40,7"], False),
        ("user;item;quantity", ["a;x;5", "b;y;12.125"], False),
        ("user;item;quantity;price", ["a;x;1.234;1,25", "b;y;7.117;2,50"], False),
        ("user\titem\tquantity\tprice", ["a\tx\t1.200\t3,50", "b\ty\t5\t2,00"], True),
        ("user\titem\tquantity\tprice", ["a\tx\t1.200\t3.50", "b\ty\t5\t2.00"], False),
        ("user;item;quantity;price", ["a;x;1.200;3.50", "b;y;5;2.00"], False),
        ("user;item;quantity", ["a;x;1.234", "b;y;0.117"], False),
        ("user;item;quantity", ["a;x;1.234", "b;y;1.25"], False),
        ("user;item;quantity;version", ["a;x;4;1.234", "b;y;1.5;1.345"], False),
        ("user,item,quantity,price", ['a,x,1.200,"3,50"', "b,y,5,2"], False),
    ],
)
def test_thousands_with_a_point_are_no_decimals(tmp_path, head, rows, refused):
    log = tmp_path / "log.csv"
    log.write_text("\n".join([head, *rows]) + "\n")
    for kind, option in (("ratings", {"rating_col": "quantity"}), ("pairs", {"weight_col": "quantity"})):
        given = Input(kind, str(log), rectangular=True, **option)
        if refused:
            with pytest.raises(InputError, match=r"00 in 'quantity'.* write (1200, or 1\.2000|12000, or 12\.0000) if"):
                encode_input(given)
        else:
            encode_input(given)


def test_a_header_in_another_language_is_remarked_on(tmp_path):
    rows = "".join(f"{user},{item}\n" for user in ("anna", "bert", "cora", "dirk") for item in ("apfel", "birne") * 3)
    (tmp_path / "log.csv").write_text("Kunde,Artikel\n" + rows)
    (hint,) = ratings(str(tmp_path / "log.csv")).report.hints
    assert "'Kunde' and 'Artikel'" in hint and hint.endswith("--header")
    (tmp_path / "log.csv").write_text("anna,apfel\n" + rows)
    assert ratings(str(tmp_path / "log.csv")).report.hints == ()


class TestGraphs:
    EDGES = (("u1", "i1"), ("u2", "i1"), ("i2", "u2"), ("u3", "i3"))

    def test_edges_without_order_are_no_pairs(self):
        graph = pytest.importorskip("networkx").Graph(self.EDGES)
        for kind in ("pairs", "ratings"):
            with pytest.raises(ConfigError, match=r"have no direction.*bipartite=0"):
                Input(kind, graph, rectangular=True)
        assert len(encode_input(Input("edges", graph)).vocab) == 6

    def test_two_kinds_of_nodes_have_an_order(self):
        graph = pytest.importorskip("networkx").Graph()
        graph.add_nodes_from(["u1", "u2", "u3"], bipartite=0)
        graph.add_nodes_from(["i1", "i2", "i3"], bipartite=1)
        graph.add_edges_from(self.EDGES)
        found = encode_input(Input("pairs", graph, rectangular=True))
        assert sorted(found.vocab.words) == ["u1", "u2", "u3"] and sorted(found.vocab_out.words) == ["i1", "i2", "i3"]


class TestFilesBesideTheTrainingData:
    """Test, known and fold-in files are read as the training data, or as their own header has it."""

    @pytest.fixture
    def model(self, tmp_path):
        def fit(text, **options):
            (tmp_path / "log.csv").write_text(text)
            given = Input("ratings", str(tmp_path / "log.csv"), rectangular=True, **options)
            word2vec = Word2Vec(loss="us", **SMALL)
            word2vec.fit(given)
            return word2vec

        return fit

    PAIRS = tuple((user, item) for user in range(1, 13) for item in range(user % 5, user % 5 + 6))
    NUMBERED = "Nr;Kunde;Artikel\n" + "".join(f"{n % 12 + 1};{u};{i}\n" for n, (u, i) in enumerate(PAIRS))

    def test_a_bad_cell_does_not_change_the_columns(self, model, tmp_path):
        word2vec = model(self.NUMBERED, user_col="Kunde", item_col="Artikel")
        known = tmp_path / "known.csv"
        known.write_text("Nr;Kunde;Artikel\n1;7;3\n1;7;4\n")
        assert not {"3", "4"} & {item for item, _ in word2vec.recommend("7", 20, exclude_known=known)}
        known.write_text(known.read_text() + "3;9;\n")
        with pytest.raises(InputError, match=r"known\.csv:4: the cell in 'Artikel'.*is empty"):
            word2vec.recommend("7", 20, exclude_known=known)

    def test_names_decide_over_the_numbers_of_another_layout(self, model, tmp_path):
        text = "".join(f"{item}\t{user}\n" for user, item in self.PAIRS)
        word2vec = model(text, user_col=2, item_col=1)
        test = pd.DataFrame({"user": [1, 2], "item": [9, 9], "weight": [3.0, 1.0]})
        test.to_csv(tmp_path / "test.tsv", sep="\t", index=False)
        here, there = (word2vec.evaluate_ranking(one, bootstrap=0).model for one in (test, tmp_path / "test.tsv"))
        assert here == there and here.pairs == 4.0

    @pytest.mark.parametrize(
        ("header", "options"),
        [
            ("user,item,category,rating", {"user_col": 1, "item_col": 3}),
            ("user,item,category,weight", {"user_col": "user", "item_col": "category"}),
            ("item,user,category,weight", {"user_col": 1, "item_col": 3}),
        ],
    )
    def test_a_table_with_the_header_of_training_is_read_alike(self, model, tmp_path, header, options):
        rows = [f"u{user},i{item},c{item},1\n" for user, item in self.PAIRS]
        word2vec = model(header + "\n" + "".join(rows), **options)
        (tmp_path / "test.csv").write_text(header + "\nu1,u2,c9,1\nu2,u1,c9,1\n")
        word2vec.save(tmp_path / "model")
        for own in (word2vec, Word2Vec.load(tmp_path / "model")):
            found = own.evaluate_ranking(tmp_path / "test.csv", bootstrap=0)
            assert found.model.pairs == 2 and found.test.unknown == 0
            assert "targets = column 'category'" in found.test.columns

    def test_the_weights_of_a_split_count(self, model, tmp_path):
        word2vec = model("user,item\n" + "".join(f"{user},{item}\n" for user, item in self.PAIRS))
        (tmp_path / "test.tsv").write_text("user\titem\tweight\n1\t9\t3\n2\t9\t1\n")
        assert word2vec.evaluate_ranking(tmp_path / "test.tsv", bootstrap=0).model.pairs == 4.0

    def test_low_ratings_are_not_what_is_wanted_but_known(self, model, tmp_path):
        stars = [1 + (user + item) % 5 for user, item in self.PAIRS]
        rows = [f"{item},{user},{star}\n" for (user, item), star in zip(self.PAIRS, stars, strict=True)]
        word2vec = model("product,customer,stars\n" + "".join(rows), min_rating=4)
        test = tmp_path / "test.csv"
        test.write_text("product,customer,stars\n9,1,5\n8,1,1\n9,2,4\n8,2,2\n")
        for table in (test, Input("ratings", str(test), min_rating=4)):
            found = word2vec.evaluate_ranking(table, exclude_known=(), bootstrap=0)
            assert found.model.pairs == 2.0 and "left out: 2 rows rated below 4" in found.test.columns
        folded = word2vec.recommend_many(fold_in=test)
        assert sorted(folded.queries) == ["1", "2"]
        assert not {"8", "9"} & {item for item, _ in word2vec.recommend("1", 20, exclude_known=test)}
        given = Input("ratings", str(tmp_path / "log.csv"), rectangular=True, min_rating=4)
        held = Validate(test).of(encode_input(given), own=given.as_dict()).held
        assert len(held) == 2
        test.write_text("product,customer,stars\n9,1,1\n")
        with pytest.raises(InputError, match=r"none of its 1 pairs .* and 1 are rows rated below 4"):
            word2vec.evaluate_ranking(test)

    def test_the_popular_list_of_a_stranger_leaves_out_what_is_known(self, model, tmp_path):
        word2vec = model("user,item\n" + "".join(f"{user},{item}\n" for user, item in self.PAIRS))
        everything = word2vec.recommend_many(["stranger", "other"], 12, unknown="popular")
        best = [item for item, _ in next(iter(everything))[1]]
        (tmp_path / "known.csv").write_text(f"user,item\nstranger,{best[0]}\nstranger,{best[2]}\n")
        found = dict(word2vec.recommend_many(["stranger", "other"], 12, tmp_path / "known.csv", unknown="popular"))
        assert [item for item, _ in found["stranger"]] == [item for item in best if item not in (best[0], best[2])]
        assert [item for item, _ in found["other"]] == best
        empty = pd.DataFrame({"user": [], "item": []})
        assert len(dict(word2vec.recommend_many(["", "1"], 5, empty, unknown="popular"))) == 2
        (tmp_path / "known.csv").write_text("user,item\nnobody,nothing\n")
        with pytest.raises(InputError, match="none of its 1 pairs has"):
            word2vec.recommend_many(["stranger", "1"], 5, tmp_path / "known.csv", unknown="popular")


def test_files_beside_the_data_are_read_as_such_or_name_what_can_be_done(tmp_path):
    rows = [f"u{n % 5},x{n % 7}\n" for n in range(30)]
    (tmp_path / "log").mkdir()
    for part in (0, 1):
        (tmp_path / "log" / f"part-{part}.csv").write_text("user,item\n" + "".join(rows[part::2]))
    word2vec = Word2Vec(**SMALL)
    word2vec.fit(Input("ratings", str(tmp_path / "log"), rectangular=True))
    (tmp_path / "utf-16.csv").write_text("user,item\n" + "".join(rows), encoding="utf-16")
    known = [tmp_path / "utf-16.csv", tmp_path / "log", str(tmp_path / "log" / "part-*")]
    assert len({str(word2vec.recommend("u1", 3, file)) for file in known}) == 1
    for name, text in (
        ("psql.csv", "user|item\nu1|x1\n(1 row)\n"),
        ("log.jsonl", '{"user": "u1", "item": "x1"}\n(1)\n'),
    ):
        (tmp_path / name).write_text(text)
        with pytest.raises(InputError, match=r"or remove such rows$"):
            word2vec.recommend("u1", 3, tmp_path / name)
        with pytest.raises(InputError, match=r"or leave such rows out with --bad-rows skip$"):
            ratings(str(tmp_path / name))


def test_a_model_of_items_says_how_users_are_had(tmp_path):
    (tmp_path / "log.csv").write_text("user,item\n" + "u1,x\nu1,y\nu2,x\nu2,z\n" * 9)
    for rectangular, said in ((False, r"the item 'user 77'; its vocab\.tsv .* with --rectangular"), (True, "the user")):
        word2vec = Word2Vec(loss="us", **SMALL)
        word2vec.fit(Input("ratings", str(tmp_path / "log.csv"), rectangular=rectangular))
        with pytest.raises(UnknownNameError, match=f"does not know {said}") as refused:
            word2vec.recommend("user 77")
        assert ("--rectangular" in str(refused.value)) is not rectangular


def test_names_with_blanks_are_proposed_in_quotes(tmp_path):
    rows = "".join(f"u{n % 7},i{n % 5},{n % 5 + 1},2020-01-{n % 20 + 1:02}\n" for n in range(40))
    (tmp_path / "log.csv").write_text("user,item,User Rating,Event Time\n" + rows)
    assert "--time-col 'Event Time' would order them" in ratings(str(tmp_path / "log.csv")).report.line()
    with pytest.raises(InputError, match="or --weight-col 'User Rating' to use it as a weight"):
        encode_input(Input("pairs", str(tmp_path / "log.csv"), rectangular=True))


def test_baselines_do_not_learn_from_what_users_show(tmp_path):
    rng = np.random.default_rng(0)
    rows = lambda users, skip: "".join(  # noqa: E731
        f"{user}\t{item}\n" for user in users for item in range(12) if rng.random() < 0.5 and (item + user) % 3 != skip
    )
    for name, users in (("train", range(40)), ("shown", range(40, 60)), ("test", range(40, 60))):
        (tmp_path / f"{name}.tsv").write_text("user\titem\n" + rows(users, 1 + (name == "test")))
    from w2vneg.run.slim import Slim

    model = Slim()
    model.fit(Input("pairs", str(tmp_path / "train.tsv"), rectangular=True))
    found = model.evaluate_ranking(
        tmp_path / "test.tsv", fold_in=tmp_path / "shown.tsv", train=[tmp_path / "train.tsv"], bootstrap=0
    )
    assert found.results["slim"].ndcg == pytest.approx(found.model.ndcg)  # the same closed form of the same file
    alone = model.evaluate_ranking(tmp_path / "test.tsv", fold_in=tmp_path / "shown.tsv", bootstrap=0)
    assert alone.results["slim"].ndcg == pytest.approx(found.model.ndcg)


@pytest.mark.parametrize("cells", [("view", "addtocart", "transaction"), ("Played", "Skipped"), ("pv", "buy", "fav")])
@pytest.mark.parametrize("head", ["user,item,kind", ""])
def test_events_that_count_alike_are_named(tmp_path, head, cells):
    rows = [f"u{i % 7},p{i % 11},{cells[i % len(cells)]}" for i in range(60)]
    (tmp_path / "log.csv").write_text("\n".join([head] * bool(head) + rows))
    given = Input("ratings", str(tmp_path / "log.csv"))
    report = encode_input(given, min_count=1).report
    (hint,) = report.hints
    label = "'kind'" if head else "column 3"
    assert hint.startswith(f"rows with {', '.join(map(repr, cells))} in {label} count alike")
    assert report.columns[-1] == ("not used: 'kind'" if head else f"not used: column 3 with {cells[0]}")
    frame = pd.read_csv(tmp_path / "log.csv", header=0 if head else None)
    kept = eval(hint.rpartition("pandas with ")[2].replace("…", repr(cells[0])), {"t": frame})
    assert len(kept) == 60 // len(cells)


def test_numbered_actions_are_named_by_their_column(tmp_path):
    for name, n_hints in (("action_type", 1), ("age_range", 0)):
        rows = [f"{i % 7},{i % 11},{i % 4}" for i in range(60)]
        (tmp_path / "log.csv").write_text("\n".join([f"user_id,item_id,{name}", *rows]))
        assert len(encode_input(Input("ratings", str(tmp_path / "log.csv")), min_count=1).report.hints) == n_hints


def test_other_kinds_are_no_events(tmp_path):
    for cells in (("Drama", "Comedy"), ("DE", "FR", "IT"), ("m", "f"), ("viewer", "Playboy")):
        rows = [f"u{i % 7},p{i % 11},{cells[i % len(cells)]}" for i in range(60)]
        (tmp_path / "log.csv").write_text("\n".join(rows))
        assert encode_input(Input("ratings", str(tmp_path / "log.csv")), min_count=1).report.hints == ()


def test_scores_of_a_hundred_are_no_weights(tmp_path):
    for scores, is_scale in (((0, 30, 70, 90, 100, 255), True), ((1, 2, 3, 50, 100, 7), False)):
        rows = [f"{i % 7}\t{i % 11}\t{scores[i % 6]}" for i in range(60)]
        (tmp_path / "log.tsv").write_text("\n".join(rows))
        hints = encode_input(Input("pairs", str(tmp_path / "log.tsv")), min_count=1).report.hints
        assert any("looks like a rating" in hint for hint in hints) == is_scale


def test_tables_of_pandas_with_labels_in_the_index():
    times = pd.Series(1, pd.MultiIndex.from_product([["a", "b"], ["p", "q"]], names=["user", "item"]))
    with pytest.raises(ConfigError, match="the index has 'user' and 'item'"):
        Input("ratings", times)
    wide = pd.DataFrame(np.eye(9), list("abcdefghi"), [f"m{i}" for i in range(9)])
    with pytest.raises(ConfigError, match="give t = FRAME") as error:
        encode_input(Input("pairs", wide))
    scope = {"FRAME": wide}
    first, second = str(error.value).rpartition("give ")[2].split("; ")
    exec(first, scope)
    encoded = encode_input(Input("pairs", eval(second, scope), rectangular=True), min_count=1)
    assert encoded.vocab.words == list("abcdefghi") and encoded.matrix.toarray().tolist() == np.eye(9).tolist()
