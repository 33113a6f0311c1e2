"""Splits against definitions gone through pair by pair: nothing lost, nothing twice, nothing held out in training."""

import csv
import hashlib
import json
import math
from collections import Counter, defaultdict
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from w2vneg import Vocabulary
from w2vneg.data import splits
from w2vneg.data.encoded import EncodedCorpus, EncodedPairs
from w2vneg.data.inputs import Input, encode_input
from w2vneg.data.sources import SOURCES
from w2vneg.data.splitfiles import check_place, part_facts, source_facts, write_split
from w2vneg.data.splits import PARTS, Last, Shares, Until, check_way, moment, split_data
from w2vneg.ground.errors import ConfigError, InputError, OutputError
from w2vneg.kernels import cooccurrence

N_ITEMS = 9
NAMES = [f"i{k}" for k in range(N_ITEMS)]
VOCAB = Vocabulary(NAMES, np.full(N_ITEMS, 3))
USERS = Vocabulary([f"u{k:02}" for k in range(12)], np.ones(12))
SHARES = (0.7, 0.1, 0.2)

baskets = st.lists(st.lists(st.integers(0, N_ITEMS - 1), min_size=1, max_size=8), min_size=1, max_size=12)
seeds = st.integers(0, 10)
shares_of_any_kind = st.sampled_from([SHARES, (0.5, 0.25, 0.25), (0.8, 0.0, 0.2), (0.6, 0.4, 0.0), (0.1, 0.1, 0.8)])
slow = settings(deadline=None, max_examples=120)


def corpus(sentences):
    offsets = np.r_[0, np.cumsum([len(sentence) for sentence in sentences])].astype(np.int64)
    return EncodedCorpus(np.array([i for sentence in sentences for i in sentence], np.int32), offsets, VOCAB)


def pairs_of(sentence, window=None, ordered=False, own=False):
    """Count every pair of positions of a sentence: the definition in the documents."""
    counts = Counter()
    for a, i in enumerate(sentence):
        for b, j in enumerate(sentence):
            if a == b or (ordered and b < a):
                continue
            if (i != j or own) and (window is None or abs(a - b) <= window):
                counts[i, j] += 1
    return counts


def all_pairs(sentences, window=None, ordered=False, own=False):
    return sum((pairs_of(sentence, window, ordered, own) for sentence in sentences), Counter())


def counted(matrix):
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    entries = list(zip(rows.tolist(), matrix.indices.tolist(), strict=True))
    assert len(set(entries)) == len(entries) and entries == sorted(entries)
    assert (matrix.data > 0).all()
    return Counter(dict(zip(entries, matrix.data.tolist(), strict=True)))


def parts_of(*arguments, **options):
    """Split; skip data so small that a part is empty. Returns {part: Counter of pairs} of all three parts."""
    try:
        parts = split_data(*arguments, **options)
    except InputError:
        assume(False)
    return {name: counted(parts.matrices[name]) if name in parts.matrices else Counter() for name in PARTS}


def matrix_of(counts, shape=(N_ITEMS, N_ITEMS)):
    rows, columns = zip(*counts, strict=True)
    return scipy.sparse.csr_matrix((np.array(list(counts.values()), np.float32), (rows, columns)), shape=shape)


weighted = st.dictionaries(
    st.tuples(st.integers(0, N_ITEMS - 1), st.integers(0, N_ITEMS - 1)), st.floats(0.125, 1e6, width=32), min_size=3
)


@given(weighted, shares_of_any_kind, seeds, st.sampled_from([1, 5, 1 << 22]))
@slow
def test_by_pair_every_pair_is_in_one_part_with_all_its_weight(counts, shares, seed, block):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(splits, "_BLOCK", block)
        parts = parts_of(EncodedPairs(matrix_of(counts), VOCAB, VOCAB), "pair", shares, seed, kind="pairs")
    assert sum(map(len, parts.values())) == len(counts)
    assert sum(parts.values(), Counter()) == counts
    for i in range(N_ITEMS):  # no centre is further than one pair from its share
        own = [sum(pair[0] == i for pair in parts[name]) for name in PARTS]
        for number, share in zip(own, shares, strict=True):
            assert abs(number - share * sum(own)) < 1 + 1e-9
        if sum(own) >= 2 and shares[0] >= 0.5:
            assert own[0] >= 1


@given(baskets, st.sampled_from([(None, "baskets"), (None, "ratings"), (2, "corpus")]), st.booleans(), seeds)
@slow
def test_by_pair_of_baskets_histories_and_text(sentences, kind, ordered, seed):
    window, kind = kind
    data = corpus(sentences)
    parts = parts_of(data, "pair", SHARES, seed, kind=kind, window=window, ordered=ordered)
    assert sum(map(len, parts.values())) == len(sum(parts.values(), Counter()))
    assert sum(parts.values(), Counter()) == all_pairs(sentences, window, ordered)


def test_by_pair_every_pair_has_the_same_chance():
    """Also those of a centre with one pair or two, which rounding would put into train for ever."""
    lengths = [1] * 30 + [2] * 15 + [3] * 10 + [30]
    rows = np.repeat(np.arange(len(lengths)), lengths)
    columns = np.concatenate([np.arange(n) for n in lengths])
    matrix = scipy.sparse.csr_matrix((np.ones(len(rows), np.float32), (rows, columns)), shape=(56, 30))
    data = EncodedPairs(matrix, None, object())
    seen = {name: np.zeros(matrix.shape) for name in PARTS}
    for seed in range(600):
        for name, part in split_data(data, "pair", SHARES, seed, kind="pairs").matrices.items():
            seen[name] += part.toarray()
    for name, share in zip(PARTS, SHARES, strict=True):
        z = (seen[name][rows, columns] - 600 * share) / math.sqrt(600 * share * (1 - share))
        assert np.abs(z).max() < 5  # of 120 pairs
        for n in (1, 2, 3):
            of_length = np.array(lengths)[rows] == n
            assert abs(z[of_length].mean() * math.sqrt(30)) < 5


@given(baskets, st.booleans(), shares_of_any_kind, seeds)
@slow
def test_by_user_no_basket_is_in_two_parts(sentences, ordered, shares, seed):
    """Baskets whose items are their own: every pair tells which basket it is from."""
    own = [[N_ITEMS * s + i for i in sentence] for s, sentence in enumerate(sentences)]
    data = corpus(own)
    names = Vocabulary([f"i{k:03}" for k in range(N_ITEMS * len(own))], np.ones(N_ITEMS * len(own)))
    data = EncodedCorpus(data.ids, data.offsets, names)
    try:
        split = split_data(data, "user", shares, seed, kind="baskets", ordered=ordered)
    except InputError:
        assume(False)
    parts = {name: counted(matrix) for name, matrix in split.matrices.items()}
    users = {name: {pair[0] // N_ITEMS for pair in part} for name, part in parts.items()}
    assert sum(map(len, users.values())) == len(set().union(*users.values()))
    for name, part in parts.items():
        assert part == all_pairs([own[u] for u in users[name]], None, ordered)
    assert sum(parts.values(), Counter()) == all_pairs(own, None, ordered)
    assert sum(split.users.values()) == len(own)
    for name, share in zip(PARTS, shares, strict=True):
        assert abs(split.users.get(name, 0) - share * len(own)) < 1 + 1e-9


def test_by_user_of_lines_of_text():
    lines = [[k % 9, (k + 1) % 9, (k + 5) % 9] for k in range(30)]
    split = split_data(corpus(lines), "user", SHARES, 3, kind="corpus", window=1)
    assert split.users == {"train": 21, "valid": 3, "test": 6}
    assert sum((counted(m) for m in split.matrices.values()), Counter()) == all_pairs(lines, 1)


@given(baskets, st.booleans(), shares_of_any_kind, seeds)
@slow
def test_by_time_nothing_trained_on_is_later_than_what_is_held_out_of_a_history(sentences, ordered, shares, seed):
    """Each token is an item of its own, so that a pair tells its places."""
    own = [list(range(10 * s, 10 * s + len(sentence))) for s, sentence in enumerate(sentences)]
    data = corpus(own)
    names = Vocabulary([f"i{k:03}" for k in range(10 * len(own))], np.ones(10 * len(own)))
    parts = parts_of(
        EncodedCorpus(data.ids, data.offsets, names), "time", shares, seed, kind="ratings", ordered=ordered
    )
    for s, sentence in enumerate(own):
        last = {name: [max(pair) for pair in part if pair[0] // 10 == s] for name, part in parts.items()}
        trained, valid, tested = (last[name] for name in PARTS)
        assert max(trained, default=-1) < min([*valid, *tested], default=math.inf)
        assert max(valid, default=-1) < min(tested, default=math.inf)
        expected = [(i, j) for i in sentence for j in sentence if i < j]
        mine = [pair for part in parts.values() for pair in part if pair[0] // 10 == s and pair[0] < pair[1]]
        assert sorted(mine) == expected  # each pair into the future is in one part
        for name, share in zip(PARTS, shares, strict=True):
            ends = {pair[1] for pair in parts[name] if pair[0] // 10 == s}
            assert len(ends) <= share * len(sentence) + 1 + 1e-9
    for name in ("valid", "test"):
        assert all(i < j for i, j in parts[name])
    backwards = {pair for pair in parts["train"] if pair[0] > pair[1]}
    assert backwards == (set() if ordered else {(j, i) for i, j in parts["train"] if i < j})


def test_by_time_of_histories_with_repeated_items():
    """An item seen again is held out again; it never goes with itself."""
    parts = split_data(corpus([[0, 1, 0, 2, 1, 0, 3, 1, 0, 4]]), "time", (0.6, 0.0, 0.4), 1, kind="ratings").matrices
    assert set(parts) == {"train", "test"}
    assert counted(parts["train"]) == pairs_of([0, 1, 0, 2, 1, 0])
    expected = Counter()
    history = [0, 1, 0, 2, 1, 0, 3, 1, 0, 4]
    for b in range(6, 10):
        expected.update((i, history[b]) for i in history[:b] if i != history[b])
    assert counted(parts["test"]) == expected


def timed_rows(rng, n_users=12, rectangular=True):
    """Return histories as a list of (user, item, time), and the same encoded; users have 1 to 9 items."""
    rows = [
        (f"u{user}", f"i{item:02}", float(when))
        for user in range(n_users)
        for item, when in zip(rng.permutation(30)[: 1 + user % 9], rng.permutation(100), strict=False)
    ]
    rows = [rows[k] for k in rng.permutation(len(rows))]
    return rows, encode_input(Input("ratings", rows, time_col=3, rectangular=rectangular))


def by_user(split, data):
    """Return {user: {part: set of items}} of what users and items were split into."""
    found = {}
    for name, matrix in split.matrices.items():
        for (u, i), _ in counted(matrix).items():
            found.setdefault(data.vocab.words[u], {}).setdefault(name, set()).add(data.vocab_out.words[i])
    return found


def sorted_items(rows, user):
    return [item for _, item, _ in sorted((row for row in rows if row[0] == user), key=lambda row: row[2])]


@pytest.mark.parametrize("valid", [True, False])
def test_the_last_of_each_user(valid):
    rows, data = timed_rows(np.random.default_rng(2))
    split = split_data(data, "time", Last(2, valid), 1, kind="ratings")
    for user, parts in by_user(split, data).items():
        items = sorted_items(rows, user)
        held = 4 if valid else 2
        if len(items) <= held:
            assert parts == {"train": set(items)}
            continue
        expected = {"train": set(items[:-held]), "test": set(items[-2:])}
        expected |= {"valid": set(items[-4:-2])} if valid else {}
        assert parts == expected
    assert sum(matrix.nnz for matrix in split.matrices.values()) == len(rows)
    assert split.users["train"] == 12


@pytest.mark.parametrize("moments", [(40.0,), (40.0, 70.0)])
def test_until_a_moment(moments):
    rows, data = timed_rows(np.random.default_rng(3))
    split = split_data(data, "time", Until(moments), 1, kind="ratings")
    part_of = {(u, i): name for u, own in by_user(split, data).items() for name, items in own.items() for i in items}
    for user, item, when in rows:
        expected = "train" if when <= 40 else "valid" if when <= moments[-1] else "test"
        assert part_of[user, item] == expected


def test_shares_of_each_users_time():
    rows, data = timed_rows(np.random.default_rng(4), n_users=60)
    split = split_data(data, "time", (0.6, 0.2, 0.2), 1, kind="ratings")
    for user, parts in by_user(split, data).items():
        items, start = sorted_items(rows, user), 0
        for name, share in zip(PARTS, (0.6, 0.2, 0.2), strict=True):
            own = parts.get(name, set())
            assert own == set(items[start : start + len(own)])  # the parts follow one another in time
            assert len(own) <= max(share * len(items) + 1, name == "train")
            start += len(own)
        assert start == len(items)
        assert parts["train"]


def test_histories_are_cut_where_rows_are():
    """Pairs of a history end where the rows of users and items are held out."""
    rows, _ = timed_rows(np.random.default_rng(5))
    rows = [row for row in rows if row[0] not in ("u0", "u9")]  # of one item, of whom there are no histories
    histories = encode_input(Input("ratings", rows, time_col=3))
    pairs = encode_input(Input("ratings", rows, time_col=3, rectangular=True))
    for ends in (Last(1), Until((30.0, 60.0))):
        ours = by_user(split_data(pairs, "time", ends, 1, kind="ratings"), pairs)
        split = split_data(histories, "time", ends, 1, kind="ratings", ordered=True)
        for name in ("valid", "test"):
            expected = Counter()
            for user, parts in ours.items():
                items = sorted_items(rows, user)
                for item in parts.get(name, ()):
                    expected.update((i, item) for i in items[: items.index(item)])
            words = histories.vocab.words
            assert Counter({(words[i], words[j]): n for (i, j), n in counted(split.matrices[name]).items()}) == expected


BOUGHT = [("a", "A", 1, 1.0), ("a", "B", 1, 2.0), ("a", "A", 5, 9.0), ("b", "A", 2, 3.0), ("b", "C", 1, 9.0)]
BOUGHT += [("b", "A", 0.5, 3.5), ("c", "B", 4, 1.0), ("c", "B", 2, 9.0)]


@pytest.mark.parametrize("ends", [Until((5.0,)), Last(1, False)])
@pytest.mark.parametrize("repeats", ["count", "once"])
def test_what_is_bought_again_is_of_the_part_where_it_was_bought_first(ends, repeats):
    frame = pd.DataFrame(BOUGHT, columns=["user", "item", "quantity", "time"])
    options = {"rating_col": "quantity", "time_col": "time", "rectangular": True, "repeats": repeats}
    data = encode_input(Input("ratings", frame, **options), first=True)
    split = split_data(data, "time", ends, 1, kind="ratings")
    train, test = (
        {
            (data.vocab.words[u], data.vocab_out.words[i]): weight
            for (u, i), weight in counted(split.matrices[n]).items()
        }
        for n in ("train", "test")
    )
    more = repeats == "count"
    expected = {("a", "A"): 1, ("a", "B"): 1, ("b", "A"): 2 + 0.5 * more, ("c", "B"): 4}
    if isinstance(ends, Last):
        assert test == {("a", "B"): expected.pop(("a", "B")), ("b", "C"): 1}
        expected["c", "B"] += 2 * more
    else:
        assert test == {("b", "C"): 1}
    assert train == expected
    assert split.repeats == more * (1 if isinstance(ends, Last) else 2)


def test_histories_hold_an_item_where_it_was_seen_first():
    rows = [(user, item, when) for user, item, _, when in BOUGHT] + [("a", "C", 9.5)]
    data = encode_input(Input("ratings", rows, time_col=3), first=True)
    parts = split_data(data, "time", Until((5.0,)), 1, kind="ratings", ordered=True).matrices
    words = data.vocab.words
    train, test = (
        {(words[i], words[j]): n for (i, j), n in counted(parts[name]).items()} for name in ("train", "test")
    )
    assert (train, test) == ({("A", "B"): 1}, {("A", "C"): 2, ("B", "C"): 1})


def test_users_of_items_are_held_out_with_four_fifths_shown():
    """No user in two parts, nothing lost, nothing both shown and held out, everyone shown with something."""
    rng = np.random.default_rng(3)
    rows = [(f"u{u:03}", f"i{i:02}") for u in range(200) for i in rng.permutation(40)[: rng.integers(1, 30)]]
    data = encode_input(Input("pairs", rows, rectangular=True), min_count=1)
    split = split_data(data, "user", SHARES, 1, kind="pairs")

    def names(matrix):
        return {(data.vocab.words[i], data.vocab_out.words[j]) for i, j in zip(*matrix.nonzero(), strict=True)}

    parts = {name: names(matrix) for name, matrix in split.matrices.items()}
    shown = {name: names(matrix) for name, matrix in split.shown.items()}
    assert sorted(shown) == ["test", "valid"]
    every = [*parts.values(), *shown.values()]
    assert sum(map(len, every)) == len(rows) and set().union(*every) == set(rows)
    users = {name: {user for user, _ in pairs | shown.get(name, set())} for name, pairs in parts.items()}
    assert sum(map(len, users.values())) == 200
    sizes = Counter(user for user, _ in rows)
    for name, share in zip(PARTS, SHARES, strict=True):
        assert abs(len(users[name]) - 200 * share) <= 1
    for name, pairs in shown.items():
        own = Counter(user for user, _ in pairs)
        assert {user for user, _ in parts[name]} <= set(own)
        assert all(max(1, math.floor(0.8 * sizes[u])) <= n <= math.floor(0.8 * sizes[u]) + 1 for u, n in own.items())
    facts = part_facts(split, False)
    assert facts["test"]["pairs_with_new_centre"] == 0 == facts["test"]["new_users"]
    for name, pairs in parts.items():
        assert (facts[name]["users"], facts[name]["items"]) == tuple(
            len(set(ends)) for ends in zip(*pairs, strict=True)
        )


def test_equal_times_follow_the_file():
    rows = [("u", item, 5.0) for item in "dacb"] + [("v", "a", 1.0)]
    data = encode_input(Input("ratings", rows, time_col=3, rectangular=True))
    assert by_user(split_data(data, "time", Last(1), 1, kind="ratings"), data) == {
        "u": {"train": {"d", "a"}, "valid": {"c"}, "test": {"b"}},
        "v": {"train": {"a"}},
    }


def test_moments():
    assert moment("12.5") == 12.5
    assert moment("1970-01-02") == 86400 == moment("1970-01-02T02:00:00+02:00")
    for text in ("soon", "12/13"):
        with pytest.raises(ConfigError, match="is not a time; write a number, or YYYY-MM-DD"):
            moment(text)
    for ends, message in (
        (Last(0), "--last must hold out at least one event per user"),
        (Until(()), "one time"),
        (Until((2.0, 1.0)), "later"),
    ):
        with pytest.raises(ConfigError, match=message):
            ends.check()
    where = r"its side of --until 200 by the users; times are from \d\S* to \d"
    with pytest.raises(InputError, match=f"the test part is empty, but should get events on {where}"):
        split_data(timed_rows(np.random.default_rng(1))[1], "time", Until((200.0,)), 1, kind="ratings")


@pytest.mark.parametrize(
    ("first", "last", "until", "said"),
    [
        (20240101000142, 20240331030337, "2024-02-28 03:03", "--until 20240228030300, as these are YYYYMMDDhhmmss"),
        (20240101, 20240331, "2024-02-28", "--until 20240228, as these are YYYYMMDD"),
        (20240101, 20240331, "2025-02-28", "--until YYYYMMDD, as these are YYYYMMDD"),
        (1704067200, 1709078300, "2024-02-28", "cut elsewhere"),
        (1704067200000, 1709078300000, "2024-02-01", "--until 1706745600000, as these are milliseconds"),
        (1704067200000, 1709078300000, "1706745600.5", "--until 1706745600500, as these are milliseconds"),
        (1704067200000, 1709078300000, "2025-02-01", "cut elsewhere"),
        (1704067200, 1709078300, "1706745.6", "cut elsewhere"),
        (1704067200 * 10**6, 1709078300 * 10**6, "2024-02-01", "--until 1706745600000000, as these are microseconds"),
    ],
)
def test_until_names_digits_where_times_are_digits(first, last, until, said):
    data = timed_rows(np.random.default_rng(1))[1]
    data = replace(data, times=np.linspace(first, last, len(data.times)).round())
    date = r"(, [-\d: ]+)?"  # beside times that may be in seconds
    with pytest.raises(InputError, match=f"; times are from {first}{date} to {last}{date}; give more data, or {said}$"):
        split_data(data, "time", Until((moment(until),)), 1, kind="ratings")


@given(baskets, st.booleans(), shares_of_any_kind, seeds)
@slow
def test_by_time_of_baskets_cuts_the_file_in_three(sentences, ordered, shares, seed):
    data = replace(corpus(sentences), source="baskets")
    try:
        split = split_data(data, "time", shares, seed, kind="baskets", ordered=ordered)
    except InputError:
        assume(False)
    start = 0
    for name, share in zip(PARTS, shares, strict=True):
        stop = start + split.users.get(name, 0)
        assert abs(stop - start - share * len(sentences)) < 1 + 1e-9
        if name in split.matrices:
            assert counted(split.matrices[name]) == all_pairs(sentences[start:stop], None, ordered)
        start = stop
    assert start == len(sentences)


@given(baskets, st.integers(1, 3), st.booleans(), seeds)
@slow
def test_by_time_of_text_cuts_it_anywhere(sentences, window, ordered, seed):
    data = corpus(sentences)
    parts = parts_of(data, "time", SHARES, seed, kind="corpus", window=window, ordered=ordered)
    n = len(data.ids)
    fits = []
    for a in range(math.floor(0.7 * n), math.floor(0.7 * n) + 2):
        for b in range(math.floor(0.8 * n), math.floor(0.8 * n) + 2):
            here, cut = 0, defaultdict(list)
            for sentence in sentences:
                for name, low, high in zip(PARTS, (0, a, b), (a, b, n), strict=True):
                    cut[name].append([i for p, i in enumerate(sentence, here) if low <= p < high])
                here += len(sentence)
            fits.append({name: all_pairs(cut[name], window, ordered) for name in PARTS})
    assert parts in fits


def test_one_long_line_of_text_is_split_by_time_but_not_by_user():
    data = corpus([list(range(9)) * 10])
    parts = split_data(data, "time", SHARES, 1, kind="corpus", window=1, ordered=True).matrices
    assert [int(parts[name].sum()) for name in PARTS] == [62, 8, 17]
    with pytest.raises(InputError, match=r"the \w+ part is empty, but should get 0\.\d of the lines; give more data"):
        split_data(data, "user", SHARES, 1, kind="corpus", window=1)


@given(baskets, st.booleans(), st.sampled_from([1, 3, 20, 1 << 22]), st.sampled_from([1, 4, 1 << 20]))
@slow
def test_pairs_of_whole_baskets_in_pieces_of_any_size(sentences, ordered, pairs, tokens):
    data = corpus(sentences)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cooccurrence, "_PAIRS", pairs)
        patch.setattr(cooccurrence, "_TOKENS", tokens)
        counts = cooccurrence.pair_counts(data.ids, data.offsets, N_ITEMS, None, ordered=ordered)
        windowed = cooccurrence.pair_counts(data.ids, data.offsets, N_ITEMS, 2, ordered=ordered)
    assert counted(counts) == all_pairs(sentences, None, ordered, own=True)
    assert counted(windowed) == all_pairs(sentences, 2, ordered, own=True)
    assert cooccurrence.count_pairs(data.offsets) == all_pairs(sentences, None, True, own=True).total()
    assert cooccurrence.count_pairs(data.offsets, 2) == all_pairs(sentences, 2, True, own=True).total()


def test_a_user_item_product_gives_the_same_counts():
    """Without repeated items, all pairs of all histories are XᵀX without its diagonal."""
    rng = np.random.default_rng(2)
    x = rng.random((200, N_ITEMS)) < 0.4
    sentences = [rng.permutation(np.flatnonzero(row)) for row in x if row.any()]
    split = split_data(corpus([list(s) for s in sentences]), "pair", SHARES, 1, kind="ratings")
    expected = x.astype(int).T @ x.astype(int)
    np.fill_diagonal(expected, 0)
    assert np.array_equal(sum(split.matrices.values()).toarray(), expected)


def test_seeds():
    data = corpus([[k % 9, (k + 3) % 9, (k * k) % 9] for k in range(60)])
    for by in ("pair", "user"):
        first, again, other = (split_data(data, by, SHARES, seed, kind="baskets") for seed in (1, 1, 2))
        same = [(first.matrices[name] != again.matrices[name]).nnz == 0 for name in PARTS]
        assert all(same)
        assert any((first.matrices[name] != other.matrices[name]).nnz for name in PARTS)


@pytest.mark.parametrize(
    ("shares", "message"),
    [
        ((0.7, 0.1, 0.1), r"must add up to 1; 0\.7 \+ 0\.1 \+ 0\.1 = 0\.9"),
        ((0.9, -0.1, 0.2), r"--valid must be a share between 0 and 1, not -0\.1"),
        ((0.7, 0.1, math.nan), "--test must be a share between 0 and 1, not nan"),
        ((0.0, 0.5, 0.5), "--train 0 leaves nothing to train on"),
        ((1.0, 0.0, 0.0), "--train 1 holds nothing out"),
    ],
)
def test_shares_that_are_none(shares, message):
    with pytest.raises(ConfigError, match=message):
        Shares(*shares).check()
    with pytest.raises(ConfigError, match=message):
        split_data(corpus([[1, 2]]), "pair", shares, 1, kind="baskets")


def test_shares_may_be_rounded():
    Shares(0.3333333, 0.3333333, 0.3333334).check()
    Shares(0.1, 0.2, 0.7).check()


@pytest.mark.parametrize(
    ("way", "options", "message"),
    [
        (("user", "pairs"), {}, "pairs of items have no users, .*give --ratings or --baskets, or --rect"),
        (("user", "ratings"), {"ends": Last(1)}, "--last and --until.*use them with --by time and --ratings"),
        (("time", "baskets"), {"ends": Until((1.0,))}, "--last and --until.*use them with --by time and --ratings"),
        (("user", "cooccurrence"), {}, "cannot be split by user"),
        (("time", "pairs"), {}, "pairs have no times, .* --ratings with --time-col"),
        (("time", "pairs"), {"rectangular": True}, "cannot be split by time"),
        (("time", "ratings"), {"timed": False}, "needs the time of each rating; name its column with --time"),
        (("users", "ratings"), {}, "unknown way to split 'users'; did you mean 'user'"),
        (("user", "rating"), {}, "unknown kind of data 'rating'; did you mean 'ratings'"),
    ],
)
def test_ways_that_do_not_fit_the_data(way, options, message):
    with pytest.raises(ConfigError, match=message):
        check_way(*way, **options)


def test_ways_that_fit():
    check_way("time", "ratings", rectangular=True)
    check_way("time", "ratings")
    for kind in SOURCES:
        check_way("pair", kind)


def test_pairs_that_are_too_many_are_refused_before_they_are_counted(monkeypatch):
    long = EncodedCorpus(np.zeros(3_000_000, np.int32), np.array([0, 3_000_000]), VOCAB)
    with pytest.raises(ConfigError, match=r"4\.5e\+12 pairs .* 3,000,000 items\).* --max-history"):
        split_data(long, "pair", SHARES, 1, kind="ratings")
    monkeypatch.setattr(cooccurrence, "memory_size", lambda: 200)
    with pytest.raises(ConfigError, match=r"do not fit: .* lower --max-vocab or --window"):
        split_data(corpus([list(range(9))] * 9), "pair", SHARES, 1, kind="baskets")


def test_an_empty_part_is_refused():
    with pytest.raises(InputError, match=r"the \w+ part is empty, but should get 0\.\d of the baskets"):
        split_data(corpus([[0, 1], [2, 3]]), "user", SHARES, 1, kind="baskets")
    with pytest.raises(InputError, match=r"the train part is empty, but should get 0.7 of the pairs"):
        split_data(corpus([[0], [1]]), "pair", SHARES, 1, kind="baskets")


# files


def read_back(path):
    with path.open(encoding="utf-8", newline="") as stream:
        header, *rows = csv.reader(stream, delimiter="\t")
    assert header == ["item", "target", "weight"]
    assert len({(i, j) for i, j, _ in rows}) == len(rows)
    return {(i, j): w for i, j, w in rows}


ODD = ['"', "007", 'a"b', "a,b", "é", "item", "nan", "#x", "'"]
ODD_VOCAB = Vocabulary.from_counts(dict.fromkeys(ODD, 2))


@given(weighted, seeds)
@settings(deadline=None, max_examples=40)
def test_files_read_back_as_they_were(tmp_path_factory, counts, seed):
    data = EncodedPairs(matrix_of(counts), ODD_VOCAB, ODD_VOCAB)
    try:
        split = split_data(data, "pair", SHARES, seed, kind="pairs")
    except InputError:
        assume(False)
    out = tmp_path_factory.mktemp("split") / "out"
    write_split(out, split, ODD_VOCAB, ODD_VOCAB, {})
    names = ODD_VOCAB.words
    for name, matrix in split.matrices.items():
        expected = {(names[i], names[j]): weight for (i, j), weight in counted(matrix).items()}
        found = read_back(out / f"{name}.tsv")
        assert found.keys() == expected.keys()
        assert all(np.float32(found[pair]) == np.float32(expected[pair]) for pair in expected)


@pytest.fixture
def split():
    return split_data(corpus([[k % 9, (k + 3) % 9, (k * k) % 9] for k in range(60)]), "user", SHARES, 1, kind="baskets")


def test_the_manifest(tmp_path, split):
    out = tmp_path / "deep" / "out"
    manifest = write_split(out, split, VOCAB, VOCAB, {"options": {"by": "user"}})
    assert sorted(entry.name for entry in out.iterdir()) == ["manifest.json", "test.tsv", "train.tsv", "valid.tsv"]
    assert json.loads((out / "manifest.json").read_text("utf-8")) == manifest
    assert manifest["made_by"] == "w2vneg split" and manifest["options"] == {"by": "user"}
    for name, part in manifest["parts"].items():
        rows = read_back(out / f"{name}.tsv")
        assert part["file"] == f"{name}.tsv"
        assert part["pairs"] == len(rows)
        assert part["weight"] == sum(map(int, rows.values()))
        assert part["items"] == len({item for pair in rows for item in pair})
        assert part["users"] == split.users[name]
        assert part["sha256"] == hashlib.sha256((out / f"{name}.tsv").read_bytes()).hexdigest()


def test_the_same_again_to_the_byte(tmp_path, split):
    for name in ("one", "two"):
        write_split(tmp_path / name, split, VOCAB, VOCAB, {})
    write_split(tmp_path / "two", split, VOCAB, VOCAB, {})  # a split takes the place of a split
    for entry in (tmp_path / "one").iterdir():
        assert entry.read_bytes() == (tmp_path / "two" / entry.name).read_bytes()


def test_a_part_that_was_not_asked_for_has_no_file(tmp_path):
    data = corpus([[k % 9, (k + 3) % 9, (k * k) % 9] for k in range(60)])
    write_split(tmp_path / "out", split_data(data, "pair", (0.8, 0, 0.2), 1, kind="baskets"), VOCAB, VOCAB, {})
    assert sorted(entry.name for entry in (tmp_path / "out").iterdir()) == ["manifest.json", "test.tsv", "train.tsv"]


def test_items_that_only_the_held_out_parts_know():
    def matrix(*pairs):
        return matrix_of(dict.fromkeys(pairs, 2.5))

    parts = {"train": matrix((0, 1), (0, 2)), "valid": matrix((1, 0), (2, 3)), "test": matrix((0, 3), (4, 3), (0, 1))}
    facts = part_facts(splits.Split(parts, {}), one_kind=True)
    assert facts["train"] == {"pairs": 2, "weight": 5, "items": 3}
    held = {"new_items": 1, "pairs_with_new": 1, "pairs_with_new_centre": 2}
    assert facts["valid"] == {"pairs": 2, "weight": 5, "items": 4, **held}
    held = {"new_items": 2, "pairs_with_new": 2, "pairs_with_new_centre": 1}
    assert facts["test"] == {"pairs": 3, "weight": 7.5, "items": 4, **held}
    facts = part_facts(splits.Split(parts, {}), one_kind=False)  # column 1 of train is another thing than row 1
    assert facts["train"] == {"pairs": 2, "weight": 5, "users": 1, "items": 2}
    held = {"new_users": 2, "new_items": 2, "pairs_with_new": 2, "pairs_with_new_centre": 2}
    assert facts["valid"] == {"pairs": 2, "weight": 5, "users": 2, "items": 2, **held}


def test_places_that_hold_something_else(tmp_path, split):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(OutputError, match="it is a file; name a folder"):
        check_place(tmp_path / "file")
    with pytest.raises(OutputError, match=r"is not a split made by w2vneg \(it holds file\)"):
        write_split(tmp_path, split, VOCAB, VOCAB, {})
    (tmp_path / "out").mkdir()
    check_place(tmp_path / "out")
    (tmp_path / "out" / "train.tsv").write_text("mine")
    with pytest.raises(OutputError, match=r"\(it holds train.tsv\); choose another folder"):
        check_place(tmp_path / "out")
    assert (tmp_path / "file").read_text() == (tmp_path / "out" / "train.tsv").read_text() == "mine"


def test_a_disk_that_fails_leaves_the_former_split(tmp_path, split, monkeypatch):
    write_split(tmp_path / "out", split, VOCAB, VOCAB, {})
    before = (tmp_path / "out" / "manifest.json").read_bytes()

    def full(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("w2vneg.data.splitfiles._write_pairs", full)
    with pytest.raises(OutputError, match="No space left on device; nothing was left behind"):
        write_split(tmp_path / "out", split, VOCAB, VOCAB, {"changed": True})
    assert (tmp_path / "out" / "manifest.json").read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["out"]


def test_sources_are_told_by_their_sums(tmp_path):
    (tmp_path / "a").write_bytes(b"x y\n" * 400_000)
    facts = source_facts([tmp_path / "a", "-"])
    digest = hashlib.sha256(b"x y\n" * 400_000).hexdigest()
    assert facts == [
        {"file": str(tmp_path / "a"), "bytes": 1_600_000, "sha256": digest},
        {"file": "-", "bytes": None, "sha256": None},
    ]
