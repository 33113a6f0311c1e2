"""Files of items as encoded data: what is kept, in which order, and what is told of the rest."""

import dataclasses
import functools
import json
from collections import Counter

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from reading import encode_baskets, encode_cooccurrence, encode_edges, encode_pairs, encode_ratings

from w2vneg.data.encoded import EncodedPairs, read_pairs_file
from w2vneg.data.encoded.corpus import counted
from w2vneg.data.encoded.pairs import as_trained
from w2vneg.data.inputs import Input
from w2vneg.data.readers.layout import Column
from w2vneg.data.readers.tables import Tables
from w2vneg.data.vocab import Vocabulary
from w2vneg.ground.errors import ConfigError, DoubtError, InputError


@pytest.fixture
def file(tmp_path):
    """A function that writes lines to a file and returns its path."""

    def write(*lines, name="data", encoding="utf-8"):
        path = tmp_path / name
        path.write_bytes("".join(line + "\n" for line in lines).encode(encoding))
        return path

    return write


def as_dict(pairs):
    """Return {(row's name, column's name): weight}."""
    matrix = pairs.matrix.tocoo()
    named = zip(matrix.row, matrix.col, matrix.data, strict=True)
    return {(pairs.vocab.words[i], pairs.vocab_out.words[j]): float(w) for i, j, w in named}


def histories(corpus):
    parts = np.split(corpus.ids, corpus.offsets[1:-1])
    return [[corpus.vocab.words[i] for i in part] for part in parts]


def left_out(encoded):
    return {why: number for why, number in encoded.report.left_out.items() if number}


class TestPairs:
    def test_weights_are_summed_and_counts_are_over_both_columns(self, file):
        pairs = encode_pairs(file("a,b,2", "b,a,1", "a,b,0.5", "b,c,1"))
        assert as_dict(pairs) == {("a", "b"): 2.5, ("b", "a"): 1, ("b", "c"): 1}
        assert pairs.vocab_out is pairs.vocab
        assert dict(zip(pairs.vocab.words, pairs.vocab.counts, strict=True)) == {"b": 5, "a": 4, "c": 1}
        assert pairs.vocab.words == ["b", "a", "c"]
        assert pairs.matrix.dtype == np.float32
        assert pairs.matrix.has_canonical_format
        assert (pairs.report.rows, pairs.report.kept, pairs.report.items) == (4, 3, 3)
        assert (
            "4 rows (separated by comma; items = column 1; targets = column 2; weight = column 3): "
            "3 pairs of 3 items; left out: nothing" in pairs.report.line()
        )

    def test_equal_counts_stand_in_the_order_of_bytes(self, file):
        assert encode_pairs(file("é,z", "Z,10", "9,a")).vocab.words == ["10", "9", "Z", "a", "z", "é"]

    def test_own_pairs_and_weight_0_are_left_out_and_counted(self, file):
        pairs = encode_pairs(file("a,b,1", "c,c,9", "a,c,0", "b,a,1"))
        assert pairs.vocab.words == ["a", "b"]
        assert left_out(pairs) == {"rows with weight 0": 1, "pairs of an item with itself": 1}
        assert "left out: 1 row with weight 0; 1 pair of an item with itself" in pairs.report.line()

    def test_two_kinds_have_two_vocabularies(self, file):
        pairs = encode_pairs(file("u,u,1", "u,i,2", "v,i,4"), rectangular=True)
        assert as_dict(pairs) == {("u", "u"): 1, ("u", "i"): 2, ("v", "i"): 4}
        assert pairs.vocab.words == ["v", "u"]
        assert pairs.vocab.counts.tolist() == [4, 3]
        assert pairs.vocab_out.counts.tolist() == [6, 1]
        assert "2 centres and 2 targets" in pairs.report.line()

    def test_min_count_and_max_vocab(self, file):
        rows = file("a,b,5", "a,c,2", "b,c,1", "c,d,1", "d,e,1")
        pairs = encode_pairs(rows, min_count=3)
        assert pairs.vocab.words == ["a", "b", "c"]
        assert left_out(pairs) == {"rare items": 2, "rows with rare items": 2}
        assert encode_pairs(rows, max_vocab=2).vocab.words == ["a", "b"]
        with pytest.raises(InputError, match=r"no item reaches min_count=9 \(largest count is 7\); lower --min-count"):
            encode_pairs(rows, min_count=9)
        with pytest.raises(InputError, match=r"only one item .'a'. reaches min_count=7"):
            encode_pairs(rows, min_count=7)
        with pytest.raises(InputError, match="no pair is left: each has one of"):
            encode_pairs(file("a,c,1", "b,d,1", "a,e,1", "b,f,1"), min_count=2)

    def test_parts_of_a_count_count_as_whole(self, file):
        pairs = encode_pairs(file("a,b,0.25", "a,c,1.5"))
        assert pairs.vocab.counts.tolist() == [2, 2, 1]
        assert as_dict(pairs)["a", "b"] == 0.25

    @pytest.mark.parametrize("rectangular", [False, True])
    @pytest.mark.parametrize("weight", [0.001, 0.3, 1e-40])
    def test_small_weights_have_the_counts_of_weights_of_1(self, file, weight, rectangular):
        pairs = [f"u{u},i{i}" for u in range(30) for i in range(9 - u % 9)]
        small = encode_pairs(file(*(f"{pair},{weight}" for pair in pairs)), rectangular=rectangular, min_count=4)
        ones = encode_pairs(file(*pairs), rectangular=rectangular, min_count=4)
        assert small.vocab == ones.vocab and small.vocab_out == ones.vocab_out
        assert len(ones.vocab_out) < 39

    def test_one_small_weight_among_ones_adds_to_no_other_count(self, file):
        pairs = [f"u{u},i{i},1" for u in range(30) for i in range(9 - u % 9)]
        ones, mixed = (encode_pairs(file(*pairs, f"u0,new,{w}"), rectangular=True, min_count=2) for w in (1, 0.999999))
        assert mixed.vocab_out == ones.vocab_out and "new" not in mixed.vocab_out

    def test_the_most_seen_are_kept_where_rounded_counts_are_equal(self, file):
        rows = file("u,a,1.1", "u,b,1.2", "v,c,1.9", "v,d,3.5", "v,e,1.3")
        pairs = encode_pairs(rows, rectangular=True, max_vocab=3)
        assert pairs.vocab_out == Vocabulary(["d", "c", "e"], [4, 2, 2])

    def test_fixed_vocabularies(self, file):
        vocab = Vocabulary(["c", "a", "x"], [9, 5, 1])
        pairs = encode_pairs(file("a,c,1", "b,c,1", "c,a,1"), vocab=vocab)
        assert pairs.vocab is pairs.vocab_out is vocab
        assert pairs.matrix.shape == (3, 3)
        assert left_out(pairs) == {"unknown items": 1, "rows with unknown items": 1}
        users = Vocabulary(["v", "u"], [2, 1])
        pairs = encode_pairs(file("u,a", "w,a", "v,y"), rectangular=True, vocab=users, vocab_out=vocab)
        assert as_dict(pairs) == {("u", "a"): 1}
        with pytest.raises(InputError, match="no item of the data is in the given vocabulary"):
            encode_pairs(file("y,z"), vocab=vocab)
        with pytest.raises(ConfigError, match="a second vocabulary"):
            encode_pairs(file("a,c"), vocab=vocab, vocab_out=users)

    def test_names_keep_zeros_and_lose_white_space(self, file):
        pairs = encode_pairs(file('007,"New York, NY "', "7,Oslo"))
        assert set(pairs.vocab.words) == {"007", "7", "New_York,_NY", "Oslo"}
        with pytest.raises(InputError, match=r"the names 'New York' and 'New_York' would both become 'New_York'"):
            encode_pairs(file("a,New York", "b,New_York"))
        assert set(encode_pairs(file("A,b", "a,B"), lowercase=True).vocab.words) == {"a", "b"}

    def test_what_cannot_be_counted(self, file):
        with pytest.raises(InputError, match="no pair is left: all have weight 0 or pair an item with itself"):
            encode_pairs(file("a,a,1", "a,b,0"))
        with pytest.raises(InputError, match="more than can be counted; scale them down"):
            encode_pairs(file("a,b,1e300", "a,c,1"))
        with pytest.raises(ConfigError, match="min_count must be a whole number"):
            encode_pairs(file("a,b"), min_count=0)

    @settings(max_examples=60, deadline=None)
    @given(
        rows=st.lists(st.tuples(st.sampled_from("abcde"), st.sampled_from("abcdx"), st.integers(0, 4)), min_size=1),
        rectangular=st.booleans(),
    )
    def test_against_counters(self, tmp_path_factory, rows, rectangular):
        sums = Counter()
        for item, target, weight in rows:
            if weight and (rectangular or item != target):
                sums[item, target] += weight
        path = tmp_path_factory.mktemp("pairs") / "p"
        path.write_text("".join(f"{item}\t{target}\t{weight}\n" for item, target, weight in rows))
        sides = Counter(), Counter()
        for (item, target), weight in sums.items():
            sides[0][item] += weight
            sides[rectangular][target] += weight
        if min(len(side) for side in sides[: 1 + rectangular]) < 2:
            with pytest.raises(InputError):
                encode_pairs(path, rectangular=rectangular)
            return
        pairs = encode_pairs(path, rectangular=rectangular)
        assert as_dict(pairs) == sums
        assert pairs.vocab == Vocabulary.from_counts(sides[0])
        assert pairs.vocab_out == Vocabulary.from_counts(sides[rectangular])


class TestCooccurrence:
    def save(self, path, rows, kind=scipy.sparse.csr_matrix):
        scipy.sparse.save_npz(path, kind(np.array(rows)))
        return path

    @pytest.mark.parametrize("kind", ["csr_matrix", "coo_array", "bsr_matrix", "dia_matrix"])
    def test_a_matrix_with_names(self, tmp_path, file, kind):
        path = self.save(tmp_path / "m.npz", [[7, 2.0, 0], [2, 0, 1], [0, 1, 0]], getattr(scipy.sparse, kind))
        pairs = encode_cooccurrence(path, names=[file("one", "two words", "03", name="names")])
        assert pairs.vocab.words == ["two_words", "one", "03"]
        assert as_dict(pairs) == {
            ("one", "two_words"): 2,
            ("two_words", "one"): 2,
            ("two_words", "03"): 1,
            ("03", "two_words"): 1,
        }
        assert pairs.report.left_out["pairs of an item with itself"] == 1
        assert pairs.report.kind == "cooccurrence"
        assert encode_cooccurrence(path).vocab.words == ["1", "0", "2"]

    def test_rectangular(self, tmp_path, file):
        path = self.save(tmp_path / "m.npz", [[1, 0, 2], [3, 4, 0]])
        names = [file("u", "v", name="rows"), file("a", "b", "c", name="columns")]
        pairs = encode_cooccurrence(path, names=names, rectangular=True)
        assert as_dict(pairs) == {("u", "a"): 1, ("u", "c"): 2, ("v", "a"): 3, ("v", "b"): 4}
        with pytest.raises(InputError, match=r"m.npz: 2 rows and 3 columns: .* --rectangular"):
            encode_cooccurrence(path)
        with pytest.raises(ConfigError, match="two files of names, for rows and for columns; 1 were given"):
            encode_cooccurrence(path, names=names[:1], rectangular=True)
        with pytest.raises(InputError, match=r"rows: 2 names, but .*m.npz has 3 columns"):
            encode_cooccurrence(path, names=[names[0], names[0]], rectangular=True)

    @pytest.mark.parametrize(
        ("names", "message"),
        [
            (["a", "b"], r"names: 2 names, but .*m.npz has 3 rows"),
            (["a", "", "c"], r"names:2: the line is empty"),
            (["a", "b", "a"], r"names:3: the name 'a' is also on line 1"),
            (["a b", "x", "a_b"], r"names:3: the names 'a b' and 'a_b' would both become 'a_b'"),
        ],
    )
    def test_names_that_do_not_fit(self, tmp_path, file, names, message):
        path = self.save(tmp_path / "m.npz", np.ones((3, 3)))
        with pytest.raises(InputError, match=message):
            encode_cooccurrence(path, names=[file(*names, name="names")])

    @pytest.mark.parametrize("value", [-1.0, np.nan, np.inf])
    def test_entries_that_are_no_counts(self, tmp_path, value):
        path = self.save(tmp_path / "m.npz", [[0, 1], [value, 0]])
        with pytest.raises(InputError, match=r"m.npz: the entry in row 1, column 0 \(from 0 on\) is"):
            encode_cooccurrence(path)

    def test_other_archives(self, tmp_path):
        np.savez(tmp_path / "dense.npz", a=np.ones(3))
        np.savez(tmp_path / "objects.npz", format=np.array(["csr"], object))
        whole = self.save(tmp_path / "m.npz", np.ones((30, 30))).read_bytes()
        (tmp_path / "cut.npz").write_bytes(whole.replace(b"data", b"dada"))
        for name in ("dense.npz", "objects.npz", "cut.npz"):
            with pytest.raises(InputError, match=rf"{name}: not a sparse matrix written by scipy.sparse.save_npz"):
                encode_cooccurrence(tmp_path / name)
        self.save(tmp_path / "complex.npz", [[0, 1j], [1, 0]])
        with pytest.raises(InputError, match="not a matrix of numbers, but of complex128"):
            encode_cooccurrence(tmp_path / "complex.npz")

    def test_a_table_will_do(self, file):
        pairs = encode_cooccurrence(
            file("what;count;item", "b;2;a", "a;3;b"), item_col="item", target_col="what", weight_col="count"
        )
        assert as_dict(pairs) == {("a", "b"): 2, ("b", "a"): 3}
        assert pairs.report.kind == "cooccurrence"
        with pytest.raises(InputError, match=r"names apply only to one sparse matrix"):
            encode_cooccurrence(file("a,b,1"), names=["n"])


class TestRatings:
    ROWS = ("u,a,5,30", "v,b,4,1", "u,b,3,10", "u,c,4,20", "v,a,5,2", "w,a,5,1")

    def test_histories_in_order_of_the_file_and_of_time(self, file):
        corpus = encode_ratings(file(*self.ROWS))
        assert histories(corpus) == [["a", "b", "c"], ["b", "a"]]
        assert histories(encode_ratings(file(*self.ROWS), time_col=4)) == [["b", "c", "a"], ["b", "a"]]
        assert left_out(corpus) == {"users with fewer than two items": 1}
        assert corpus.vocab.words == ["a", "b", "c"]
        assert corpus.vocab.counts.tolist() == [2, 2, 1]
        assert corpus.ids.dtype == np.int32
        assert corpus.offsets.dtype == np.int64
        assert not corpus.ids.flags.writeable
        report = corpus.report
        assert (report.rows, report.kept, report.groups, report.items) == (6, 5, 2, 3)
        assert (
            "6 rows (separated by comma; users = column 1; items = column 2; no times, histories in file order; "
            "not used: column 3 with 5, column 4 with 30): 5 items in 2 histories of 3 items; "
            "left out: 1 user with fewer than two items" in report.line()
        )

    def test_low_ratings_are_left_out(self, file):
        corpus = encode_ratings(file("user,item,rating", *(row.rpartition(",")[0] for row in self.ROWS)), min_rating=4)
        assert histories(corpus) == [["a", "c"], ["b", "a"]]
        assert left_out(corpus)["rows rated below 4"] == 1
        with pytest.raises(InputError, match=r"no rating reaches min_rating=6 \(the highest is 5\)"):
            encode_ratings(file(*self.ROWS), min_rating=6)
        with pytest.raises(InputError, match=r":3: in column 3 \(--rating-col\), 'good' is not a number"):
            encode_ratings(file("u,a,1", "u,b,2", "u,c,good"), min_rating=1)
        with pytest.raises(InputError, match=r"there is no column 3 \(--rating-col\), only 2"):
            encode_ratings(file("u,a", "u,b"), min_rating=1)
        with pytest.raises(InputError, match=r":3: in 'rating' \(--rating-col\), 'five' is not a number"):
            encode_ratings(file("user,item,rating", "u,a,4", "u,b,five"), min_rating=1)
        with pytest.raises(ConfigError, match="min_rating of an input must be a number, not nan"):
            encode_ratings(file(*self.ROWS), min_rating=float("nan"))
        with pytest.raises(ConfigError, match="give --min-rating too"):
            encode_ratings(file(*self.ROWS), rating_col=3)

    def test_the_latest_of_repeated_events_stays(self, file):
        rows = file("u,a,9", "u,b,2", "u,a,1", "u,c,3", "u,b,2")
        assert histories(encode_ratings(rows)) == [["a", "c", "b"]]
        corpus = encode_ratings(rows, time_col=3)
        assert histories(corpus) == [["b", "c", "a"]]
        assert left_out(corpus) == {"rows that repeat a user and an item": 2}

    def test_long_histories_keep_their_end(self, file):
        rows = file("u,a", "v,x", "u,b", "u,c", "v,y", "u,a")
        corpus = encode_ratings(rows, max_history=2)
        assert histories(corpus) == [["c", "a"], ["x", "y"]]
        assert left_out(corpus)["items before a user's latest 2"] == 1
        with pytest.raises(ConfigError, match="max_history of an input must be at least 2"):
            encode_ratings(rows, max_history=1)

    def test_equal_times_keep_the_order_of_the_file(self, file):
        rows = [f"u,{i},{i // 5}" for i in range(20)]
        assert histories(encode_ratings(file(*rows), time_col=3)) == [[str(i) for i in range(20)]]

    def test_dates(self, file):
        rows = ("user,item,at", "u,a,2021-02-03 10:00:00", "u,b,2020-12-31 23:59:59", "u,c,2021-02-03 09:59:59")
        assert histories(encode_ratings(file(*rows), time_col="at")) == [["b", "c", "a"]]
        rows = ("u,a,2021-02-03T10:00:00.25", "u,b,2021-02-03T10:00:00", "u,c,2021-02-03T09:00:00")
        assert histories(encode_ratings(file(*rows), time_col=3)) == [["c", "b", "a"]]

    def test_users_without_a_name_have_no_history(self, file):
        corpus = encode_ratings(file("u,a,1", ",b,1", "u,b,1", " ,a,1"))
        assert histories(corpus) == [["a", "b"]]
        assert left_out(corpus) == {"rows without a user": 2}
        with pytest.raises(InputError, match=r":2: the cell in column 2 \(--item-col\) is empty"):
            encode_ratings(file("u,a,1", "u,,1"))
        with pytest.raises(InputError, match="none of the 2 rows names a user"):
            encode_ratings(file(",b,1", ",a,1"))

    def test_rare_items_and_fixed_ones(self, file):
        rows = file("u,a", "u,b", "v,a", "v,b", "v,c", "w,c", "w,d")
        corpus = encode_ratings(rows, min_count=2)
        assert histories(corpus) == [["a", "b"], ["a", "b", "c"]]
        assert left_out(corpus) == {
            "rare items": 1,
            "occurrences of rare items": 1,
            "users with fewer than two items": 1,
        }
        vocab = Vocabulary(["c", "a", "d"], [3, 2, 1])
        corpus = encode_ratings(rows, vocab=vocab)
        assert corpus.vocab is vocab
        assert histories(corpus) == [["a", "c"], ["c", "d"]]
        assert histories(encode_ratings(rows, max_vocab=2)) == [["a", "b"]] * 2

    @pytest.mark.parametrize(
        ("rows", "options", "message"),
        [
            (["u,a", "v,b"], {}, r"no history of two different items is left \(2 users have only one\)"),
            (["u,a", "u,a", "v,a"], {}, "no history of two different items is left"),
            (["u,a", "u,b"], {"min_count": 2}, r"no item reaches min_count=2 \(largest count is 1\)"),
            (["u,a", "u,b", "v,a", "v,c"], {"min_count": 2}, "only one item .'a'. reaches"),
            (["u,a", "u,x", "v,b", "v,y", "w,a", "w,z", "t,b", "t,s"], {"min_count": 2}, "without the rare items"),
        ],
    )
    def test_nothing_left(self, file, rows, options, message):
        with pytest.raises(InputError, match=message):
            encode_ratings(file(*rows), **options)

    def test_rectangular(self, file):
        pairs = encode_ratings(file("u,a,5", "u,a,4", "v,b,5", "v,a,1", "w,a,5"), min_rating=2, rectangular=True)
        assert isinstance(pairs, EncodedPairs)
        assert as_dict(pairs) == {("u", "a"): 1, ("v", "b"): 1, ("w", "a"): 1}
        assert left_out(pairs) == {"rows rated below 2": 1, "rows that repeat a user and an item": 1}
        assert pairs.vocab.words == ["u", "v", "w"]
        assert "3 pairs of 3 users and 2 items" in pairs.report.line()

    @settings(max_examples=60, deadline=None)
    @given(
        rows=st.lists(
            st.tuples(st.integers(0, 3), st.integers(0, 5), st.integers(0, 4), st.integers(1, 5)), min_size=1
        ),
        timed=st.booleans(),
        max_history=st.sampled_from([None, 2, 3]),
    )
    def test_against_plain_python(self, tmp_path_factory, rows, timed, max_history):
        path = tmp_path_factory.mktemp("ratings") / "r"
        path.write_text("".join(f"u{user}\ti{item}\t{when}\t{rating}\n" for user, item, when, rating in rows))
        expected = {}
        for user, item, when, rating in rows:
            if rating >= 1:
                expected.setdefault(user, []).append((when if timed else 0, item))
        for user, events in expected.items():
            latest = {}
            for _, item in sorted(events, key=lambda event: event[0]):
                latest.pop(item, None)
                latest[item] = None
            expected[user] = [f"i{item}" for item in latest][-(max_history or len(latest)) :]
        first_seen = list(dict.fromkeys(user for user, _, _, _ in rows))
        wanted = [expected[user] for user in first_seen if len(expected.get(user, ())) > 1]
        options = {"rating_col": 4, "min_rating": 1, "time_col": 3 if timed else None, "max_history": max_history}
        if not wanted:
            with pytest.raises(InputError):
                encode_ratings(path, **options)
            return
        assert histories(encode_ratings(path, **options)) == wanted


class TestBaskets:
    def test_a_basket_is_a_sentence(self, file):
        corpus = encode_baskets(file("1 2 3 ", "", "2", "03 3 1"))
        assert histories(corpus) == [["1", "2", "3"], ["2"], ["03", "3", "1"]]
        assert corpus.vocab.words == ["1", "2", "3", "03"]
        report = corpus.report
        assert (report.rows, report.groups, report.kept, report.items) == (4, 3, 7, 4)
        assert left_out(corpus) == {"empty baskets": 1, "baskets of one item, which give no pairs": 1}
        assert "4 lines: 7 items in 3 baskets of 4 items" in report.line()

    @pytest.mark.parametrize(("sign", "word"), [(",", "comma"), ("\t", "tab"), (";", ";"), ("|", "pipe")])
    def test_names_with_blanks(self, file, sign, word):
        lines = [f" whole milk {sign} eggs{sign}  {sign}", f"eggs{sign}rye\u00a0bread {sign}whole milk\r"]
        corpus = encode_baskets(file(*lines), delimiter=word)
        assert histories(corpus) == [["whole_milk", "eggs"], ["eggs", "rye_bread", "whole_milk"]]

    def test_the_cache_is_used_and_knows_the_delimiter(self, file):
        path = file("a b,c", "c,a b")
        first = encode_baskets(path, delimiter=",")
        again = encode_baskets(path, delimiter=",")
        assert (first.report.cached, again.report.cached) == (False, True)
        assert histories(again) == histories(first) == [["a_b", "c"], ["c", "a_b"]]
        assert histories(encode_baskets(path)) == [["a", "b,c"], ["c,a", "b"]]

    def test_names_that_become_one(self, file):
        with pytest.raises(InputError, match="the names 'a b' and 'a_b' would both become 'a_b'"):
            encode_baskets(file("a b,c", "a_b,c"), delimiter=",")

    @pytest.mark.parametrize("line", ['"a, b",c', 'c,"a, b"', '",b'])
    def test_quotes_that_would_cut_a_name_in_two(self, file, line):
        with pytest.raises(InputError, match=r"data:2: the item '\"a?' begins with a quote that it does not close"):
            encode_baskets(file("c,d", line), delimiter=",")
        kept = encode_baskets(file('"a",b', '5" pipe,"a"'), delimiter=",")
        assert sorted(kept.vocab.words) == ['"a"', '5"_pipe', "b"]

    def test_options_and_mistakes(self, file):
        corpus = encode_baskets(file("a b", "a c", "A b"), min_count=2)
        assert left_out(corpus)["occurrences of rare items"] == 2
        assert encode_baskets(file("a b", "A b"), lowercase=True).vocab.words == ["a", "b"]
        with pytest.raises(InputError, match=r"none of the 2 baskets has two items.*--delimiter"):
            encode_baskets(file("a,b", "c,d"))
        for sign in ("::", "_"):
            with pytest.raises(ConfigError, match="ASCII sign"):
                encode_baskets(file("a b"), delimiter=sign)

    @settings(max_examples=100, deadline=None)
    @given(
        baskets=st.lists(
            st.lists(st.text(st.sampled_from("ab é\u2003\t\v"), max_size=4), max_size=4), min_size=1, max_size=6
        ),
        piece=st.integers(1, 9),
        end=st.sampled_from(["\n", "\r\n"]),
        last=st.booleans(),
    )
    def test_pieces_may_be_cut_anywhere(self, baskets, piece, end, last):
        from w2vneg.data.readers import READERS
        from w2vneg.data.sources.baskets import basket_reader

        data = (end.join(",".join(basket) for basket in baskets) + end * last).encode()

        class Source:
            name = "baskets"

            @staticmethod
            def pieces():
                yield from (data[i : i + piece] for i in range(0, len(data), piece))

        text = b"".join(READERS[basket_reader(",")](Source)).decode()
        found = [line.split(" ") for line in text.removesuffix("\n").split("\n")]
        expected = [
            ["".join("_" if sign.isspace() else sign for sign in n.strip()) for n in b if n.strip()] for b in baskets
        ]
        while expected and not expected[-1]:
            expected.pop()
        found = [[name for name in names if name] for names in found]
        while found and not found[-1]:
            found.pop()
        assert found == expected


def test_one_is_said_in_the_singular(file):
    assert counted(1, "histories") == "1 history" and counted(2, "histories") == "2 histories"
    assert counted(1, "movies") == "1 movie"
    assert counted(1, "baskets of one item, which give no pairs") == "1 basket of one item, which gives no pairs"
    assert encode_edges(file("a,b")).report.line().startswith("1 row (separated by comma; sources = column 1; ")
    assert ": 1 edge of 2 nodes; " in encode_edges(file("a,b")).report.line()
    assert ": 2 items in 1 history of 2 items; " in encode_ratings(file("u,a,5", "u,b,5")).report.line()
    assert ": 2 items in 1 basket of 2 items; " in encode_baskets(file("a b")).report.line()


def test_reports_are_json(file):
    for encoded in (encode_pairs(file("a,b,1")), encode_ratings(file("u,a", "u,b")), encode_baskets(file("a b"))):
        json.dumps(dataclasses.asdict(encoded.report), allow_nan=False)


class TestHeldOut:
    VOCAB = Vocabulary(["b", "New_York", "01"], [3, 2, 1])

    def test_known_pairs_in_the_order_of_the_file(self, file):
        path = file("item\ttarget\tweight", "01\tb\t2", "b\tNew York\t1", "b\tb\t0", "1\tb\t1", "b\t01\t1.5")
        held = read_pairs_file(path, self.VOCAB, self.VOCAB)
        assert list(zip(held.centres, held.targets, held.weights, strict=True)) == [(2, 0, 2), (0, 1, 1), (0, 2, 1.5)]
        assert (held.n_unknown, held.n_read, len(held)) == (1, 4, 3)  # one has the weight 0
        assert (held.centres.dtype, held.targets.dtype, held.weights.dtype) == (np.int64, np.int64, np.float64)

    def test_only_unknown_names_are_an_error(self, file):
        with pytest.raises(InputError, match="none of its 2 pairs has a weight above 0 and two known items"):
            read_pairs_file(file("x,y", "z,x"), self.VOCAB, self.VOCAB)

    @pytest.mark.parametrize("rows", [["b,01,1e308", "01,b,1e308"], ["b,01,1e300", "b,x,1"], ["x,b,1e308", "b,01,1"]])
    def test_weights_past_counting_are_an_error(self, file, rows):
        path = file(*rows)
        with pytest.raises(InputError, match=f"{path}: the weights sum to more than can be counted; scale them down"):
            read_pairs_file(path, self.VOCAB, self.VOCAB)

    def test_names_are_lower_cased_where_the_vocabulary_is(self, file):
        path, lower = file("B,É x", "É X,b"), Vocabulary(["b", "é_x"], [1, 1])
        held = read_pairs_file(path, lower, lower, lowercase=True)
        assert (held.centres.tolist(), held.targets.tolist()) == ([0, 1], [1, 0])

    def test_latin_1(self, tmp_path):
        (tmp_path / "test.csv").write_bytes("b,Thé\n".encode("latin-1"))
        vocab = Vocabulary(["Thé", "b"], [1, 1])
        assert len(read_pairs_file(tmp_path / "test.csv", vocab, vocab)) == 1

    def test_windows_latin_1(self, tmp_path):
        (tmp_path / "test.csv").write_bytes("b,l’été\n".encode("cp1252"))
        vocab = Vocabulary(["b", "l’été"], [1, 1])
        assert len(read_pairs_file(tmp_path / "test.csv", vocab, vocab)) == 1

    def test_two_vocabularies(self, file):
        held = read_pairs_file(file("u,b", "b,u"), Vocabulary(["u", "x"], [1, 1]), self.VOCAB)
        assert (held.centres.tolist(), held.targets.tolist(), held.n_unknown) == ([0], [0], 1)

    def test_no_table(self, file):
        with pytest.raises(InputError, match=":1: only one column found"):
            read_pairs_file(file("b"), self.VOCAB, self.VOCAB)

    def as_trained(self, table, **own):
        read = functools.partial(read_pairs_file, vocab=self.VOCAB, vocab_out=self.VOCAB)
        return as_trained(table, {"kind": "edges", "files": ["graph.txt"]} | own, read)

    def test_edges_lead_both_ways_unless_the_graph_is_directed(self, file):
        rows = ("b 01 2", "# of these", "New_York b 1", "01 b 1", "b x 1", "x y 1")
        held = self.as_trained(file(*rows))
        both = [(0, 2, 3), (1, 0, 1), (2, 0, 3), (0, 1, 1)]
        assert list(zip(held.centres, held.targets, held.weights, strict=True)) == both
        assert (held.n_read, held.n_unknown, held.weight_read) == (5, 2, 12)
        assert held.columns[-1] == "edges in both directions"
        held = self.as_trained(file(*rows), directed=True)
        assert list(zip(held.centres, held.targets, held.weights, strict=True)) == [(0, 2, 2), (1, 0, 1), (2, 0, 1)]
        for table in ([("b", "01", 2)], Input("edges", [("b", "01", 2)])):
            assert (len(self.as_trained(table)), len(self.as_trained(table, directed=True))) == (2, 1)

    def test_edges_are_read_by_the_columns_of_training_if_they_are_such_a_table(self, file):
        own = {"source_col": "2", "target_col": "3", "weight_col": "none", "directed": True}
        for rows in (["7 b 01", "8 01 b"], ["item\ttarget\tweight", "b\t01\t1", "01\tb\t1"], ["b 01 {}", "01 b {}"]):
            held = self.as_trained(file(*rows), **own)
            assert list(zip(held.centres, held.targets, held.weights, strict=True)) == [(0, 2, 1), (2, 0, 1)], rows

    def test_mistakes_in_edges_name_no_flag(self, file):
        with pytest.raises(DoubtError, match=r"'time'.*order the columns as source, target, weight") as caught:
            self.as_trained(file("time,date,x", "b,01,1"))
        assert "--" not in str(caught.value)


@pytest.mark.realdata
class TestRealData:
    """Counts of the README beside the data."""

    def test_movielens_100k(self, mirror):
        path = mirror / "recsys/ml-100k/u.data.xz"
        corpus = encode_ratings(path, time_col=4)
        assert (corpus.report.rows, corpus.report.groups, corpus.report.items) == (100_000, 943, 1682)
        assert left_out(corpus) == {}
        table = pd.read_csv(path, sep="\t", names=["user", "item", "rating", "time"], dtype={"user": str, "item": str})
        table = table.sort_values("time", kind="stable")
        by_user = {user: rows["item"].tolist() for user, rows in table.groupby("user")}
        assert sorted(histories(corpus)) == sorted(by_user.values())
        liked = encode_ratings(path, min_rating=4, time_col=4)
        assert liked.report.left_out["rows rated below 4"] == int((table["rating"] < 4).sum())
        with pytest.raises(DoubtError, match="columns 3 and 4 look like ratings and their times"):
            encode_pairs(path, rectangular=True)
        weighted = encode_pairs(path, rectangular=True, weight_col="3")
        assert weighted.matrix.sum() == table["rating"].sum()

    @pytest.mark.parametrize(
        ("name", "encoding", "rows", "second"),
        [
            ("ml-100k/u.item", "latin-1", 1682, 1664),
            ("ml-100k/u.user", "utf-8", 943, None),
            ("ml-100k/u.genre", "utf-8", 19, 19),
            ("ml-1m/movies.dat", "latin-1", 3883, None),
            ("ml-1m/users.dat", "utf-8", 6040, 2),
        ],
    )
    def test_tables_beside_them(self, mirror, name, encoding, rows, second):
        columns = [Column("a", "--a", "name", 1), Column("b", "--b", "name", 2)]
        tables = Tables(mirror / "recsys" / name, columns, encoding=encoding)
        batch = next(iter(tables))
        assert batch.n_rows == rows
        assert len(batch.columns["a"].names) == rows
        assert second is None or len(batch.columns["b"].names) == second

    def test_latin_1_is_asked_for(self, mirror):
        with pytest.raises(InputError, match=r"movies.dat:\d+: not utf-8.*--encoding"):
            encode_pairs(mirror / "recsys/ml-1m/movies.dat", rectangular=True)

    def test_movielens_1m(self, mirror):
        pairs = encode_pairs(mirror / "recsys/ml-1m/user_movie_pairs.csv.xz", rectangular=True)
        assert pairs.report.rows == pairs.matrix.nnz == 1_000_209
        assert pairs.matrix.shape == (6040, 3706)
        sizes = np.diff(pairs.matrix.indptr)
        assert (sizes.min(), sizes.max()) == (20, 2314)
        corpus = encode_ratings(mirror / "recsys/ml-1m/ratings_users_1-2999.dat.xz", time_col=4)
        assert (corpus.report.rows, corpus.report.groups, corpus.report.items) == (487_650, 2999, 3615)
        assert len(corpus) == 487_650

    def test_belgian_retail(self, mirror):
        corpus = encode_baskets(mirror / "recsys/belgian-retail/retail.dat.xz")
        assert (corpus.report.rows, corpus.n_sentences, len(corpus.vocab), len(corpus)) == (
            88_162,
            88_162,
            16_470,
            908_576,
        )
        assert np.diff(corpus.offsets).max() == 76

    def test_online_retail(self, mirror):
        path = mirror / "recsys/online-retail/online_retail.csv.xz"
        options = {"user_col": "CustomerID", "item_col": "StockCode", "time_col": "InvoiceDate"}
        report = encode_ratings(path, **options).report
        table = pd.read_csv(path, dtype=str)
        sold = table[table["Quantity"].astype(int) >= 0]
        assert report.rows == 541_909
        assert report.left_out["returns, of a quantity below 0"] == len(table) - len(sold)
        assert report.left_out["rows without a user"] == int(sold["CustomerID"].isna().sum())
        assert report.groups + report.left_out["users with fewer than two items"] == sold["CustomerID"].nunique()
        columns = [Column("invoice", "--a", "name", "InvoiceNo"), Column("code", "--b", "name", "StockCode")]
        invoices, codes = set(), set()
        for batch in Tables(path, columns):
            invoices.update(batch.columns["invoice"].names)
            codes.update(batch.columns["code"].names)
        assert (len(invoices), len(codes)) == (25_900, 4070)
