"""Paradigms: planted rules are found and obeyed, shuffled spellings give none."""

import dataclasses
import itertools
import json
import tracemalloc
from collections import Counter, defaultdict

import numpy as np
import pytest

from w2vneg.ground.errors import ConfigError, InputError, UnknownNameError
from w2vneg.objectives.readout import Trained, _stems, paradigms, parse
from w2vneg.objectives.readout.paradigms import Rules, candidates, likely
from w2vneg.vectors import Vectors


def planted(shuffled=False):
    rng = np.random.default_rng(4)
    stems = ["".join(rng.choice(list("bdgklmnprtаеж日"), 5)) for _ in range(300)]
    words = [stem + end for stem in stems for end in ("", "ing", "ed")]
    offsets = np.vstack([np.zeros(30), rng.normal(size=(2, 30))])
    x = np.repeat(rng.normal(size=(300, 30)), 3, axis=0) + np.tile(offsets, (300, 1)) * 0.5
    x += 0.3 * rng.normal(size=x.shape)
    if shuffled:
        words = [words[k] for k in rng.permutation(len(words))]
    return Trained(x.astype(np.float32), None, words, np.full(len(words), 50))


def kin(given):
    z = given.vectors_in - given.vectors_in.mean(axis=0)
    z /= np.linalg.norm(z, axis=1, keepdims=True)
    return likely(z, candidates(given.words, 8, 5), given.counts)


def spread(given, vectors):
    z = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.var(z[1::3] - z[::3], axis=0).sum()


def test_kin_of_a_word():
    given = planted()
    chain = parse("in+paradigms")
    vectors = Vectors(given.words, chain.read(given), rules=chain.rules)
    stem = given.words[0]
    found = {one.word: (one.rule, one.pairs) for one in vectors.kin(stem + "ing")}
    assert found.keys() == {stem, stem + "ed"}
    assert found[stem][0] == "-ing" and found[stem + "ed"][0] == "-ing +ed" and found[stem][1] > 200
    assert [one.rule for one in vectors.kin(0) if one.word == stem + "ed"] == ["+ed"]
    with pytest.raises(UnknownNameError):
        vectors.kin("nothing")


def test_the_command_line_lists_kin(tmp_path, run_cli):
    given, chain = planted(), parse("in+paradigms")
    vectors = Vectors(given.words, chain.read(given), rules=chain.rules)
    vectors.save(tmp_path / "v.npz")
    stem = given.words[0]
    pairs = {one.word: one.pairs for one in vectors.kin(stem)}
    asked = "nearest", stem, "--vectors", tmp_path / "v.npz", "--why"
    shown = run_cli(*asked).out.splitlines()
    for end in ("ing", "ed"):
        assert f"  {stem} → {stem}{end}, +{end}, {pairs[stem + end]} pairs" in shown
    listed = json.loads(run_cli(*asked, "--json").out)["kin"][stem]
    assert listed == [one._asdict() for one in vectors.kin(stem)]


SCRIPTS = {  # letters of stems, and three endings
    "Cyrillic": ("бвгдклмнпрст", ("а", "ами", "ов")),
    "Turkish": ("bçdğklmnprşt", ("ı", "ını", "lar")),
    "Arabic": ("بتجدرسفقلمن", ("ة", "ات", "\u064b\u0627")),  # one with a combining mark
    "Devanagari": ("कगचजटडतदनपब", ("\u093e", "\u0940", "\u094b\u0902")),  # vowel signs
    "decomposed": ("bdgklmnprst", ("e\u0301", "o\u0301", "e\u0300s")),
    "beyond 16 bits": ("𐐨𐐩𐐪𐐫𐐬𐐭𐐮𐐯", ("𐐰", "𐐱𐐲", "𐐳")),
}


@pytest.mark.parametrize("script", SCRIPTS)
def test_letters_are_characters_in_any_script(script):
    letters, ends = SCRIPTS[script]
    rng = np.random.default_rng(5)
    stems = sorted({"".join(rng.choice(list(letters), 4)) for _ in range(300)})
    rows = [row for row in range(900) if row // 3 < len(stems)]
    words = [stems[row // 3] + ends[row % 3] for row in rows]
    given = planted()
    given = dataclasses.replace(given, vectors_in=given.vectors_in[rows], words=words, counts=given.counts[rows])
    rules = Rules(words, kin(given))
    both = [(one[one[0] == other[0] :], other[one[0] == other[0] :]) for one, other in itertools.combinations(ends, 2)]
    assert set(map(frozenset, rules.ends)) == set(map(frozenset, both))
    assert {one.word for one in rules.kin(words[0])} == set(words[1:3])


def test_kin_by_beginnings():
    given = planted()
    ends = ("", "un", "re")
    words = [
        end + word.removesuffix("ing").removesuffix("ed") for word, end in zip(given.words, ends * 300, strict=True)
    ]
    rules = Rules(words, kin(dataclasses.replace(given, words=words)))
    assert {one.rule for one in rules.kin(words[1])} == {"un-", "un- re+"}


def test_planted_rules_are_found_and_obeyed():
    given = planted()
    before = given.vectors_in.copy()
    pairs = kin(given)
    assert pairs.rule.max() + 1 == 3 and len(pairs.i) > 800
    after = parse("in+paradigms").read(given)
    assert spread(given, after) < 0.8 * spread(given, before - before.mean(axis=0))
    np.testing.assert_array_equal(after, parse("in+paradigms").read(given))
    np.testing.assert_array_equal(given.vectors_in, before)


def test_shuffled_spellings_move_nothing():
    given = planted(shuffled=True)
    assert len(kin(given).i) == 0
    after = parse("in+paradigms").read(given)
    np.testing.assert_allclose(after, given.vectors_in - given.vectors_in.mean(axis=0), atol=1e-5)


@pytest.mark.parametrize("readout", ["in+paradigms", "in+letters:share=.1+paradigms"])
def test_unknown_spellings_stand_at_their_rules_offset(readout, tmp_path):
    given = planted()
    hidden = np.arange(1, 900, 30)  # each with -ing
    known = np.setdiff1d(np.arange(900), hidden)
    words = [given.words[row] for row in known]
    chain = parse(readout)
    matrix = chain.read(Trained(given.vectors_in[known], None, words, given.counts[known], spell=True))
    vectors = Vectors(words, matrix, spellings=chain.spellings, rules=chain.rules)
    for row in hidden:
        word, trained = given.words[row], given.vectors_in[row] - given.vectors_in.mean(axis=0)
        made = vectors[word]
        assert made @ trained / np.linalg.norm(made) / np.linalg.norm(trained) > 0.7
        assert {one.word for one in vectors.kin(word)} >= {given.words[row - 1], given.words[row + 1]}
    vectors.save(tmp_path / "v.npz")
    again = Vectors.load(tmp_path / "v.npz", oov="letters")
    assert (again[word] == made).all() and again.kin(word) == vectors.kin(word)
    plain = Vectors.load(tmp_path / "v.npz")
    assert plain.kin(words[0]) == vectors.kin(words[0])
    with pytest.raises(UnknownNameError):
        plain.kin(word)
    vectors.with_words([word]).save(tmp_path / "more.npz")
    assert Vectors.load(tmp_path / "more.npz").kin(words[0]) == vectors.kin(words[0])
    some = vectors.vectors_for_all(words[-20:])
    assert some.kin(words[-1]) == vectors.kin(words[-1])
    some.save(tmp_path / "some.npz")  # in whose rows the rules' words do not stand
    with pytest.raises(ConfigError, match=r"no kin: .* call read_out\('both\+paradigms'\) of a model, or give"):
        Vectors.load(tmp_path / "some.npz").kin(words[-1])


@pytest.mark.parametrize("broken", ["kin_i", "kin_rule", "kin_offsets"])
def test_damaged_rules_are_told(tmp_path, broken):
    given, chain = planted(), parse("in+paradigms")
    Vectors(given.words, chain.read(given), rules=chain.rules).save(tmp_path / "v.npz")
    with np.load(tmp_path / "v.npz") as archive:
        arrays = dict(archive)
    arrays[broken] = arrays[broken][:-1] if broken == "kin_offsets" else arrays[broken] + np.int32(1000)
    np.savez(tmp_path / "v.npz", **arrays)
    with pytest.raises(InputError, match="its kin and rules do not match"):
        Vectors.load(tmp_path / "v.npz")


@pytest.mark.parametrize("text", ["paradigms:support=1", "paradigms:damping=0", "paradigms:longest=0", "paradigms:x=1"])
def test_options_out_of_range_are_refused(text):
    with pytest.raises(ValueError, match="read-out paradigms"):
        parse(text)


@pytest.mark.parametrize("dim", [1, 3, 17])
def test_any_dim(dim):
    given = planted()
    given = dataclasses.replace(given, vectors_in=np.ascontiguousarray(given.vectors_in[:, :dim]))
    after = parse("in+letters+paradigms").read(given)
    assert after.shape == (900, dim) and np.isfinite(after).all()


def test_a_few_words_without_kin():
    given = Trained(np.eye(3, dtype=np.float32), None, ["a", "bc", "def"], np.array([3, 2, 1]))
    chain = parse("in+paradigms")
    np.testing.assert_allclose(chain.read(given), given.vectors_in - given.vectors_in.mean(axis=0), atol=1e-6)
    assert not len(chain.rules.pairs.i) and not chain.rules.kin("bc") and not chain.rules.kin("unknown")


def test_it_stands_behind_letters():
    assert [part.name for part in parse("context+letters:share=.1+paradigms:damping=2").parts] == [
        "context",
        "letters",
        "paradigms",
    ]


def test_numbered_names_are_not_paired_all_with_all():
    words = [f"{letter}user{n}" for letter in "abcdefghij" for n in range(1000, 2000)]
    assert len(candidates(words, 8, 5).i) < 1_000_000  # of five million


def spelt(n_words, seed, syllables=(2, 5)):
    """Return words of some syllables (fewest, and more than most), some with beginnings and ends that others have."""
    rng, made = np.random.default_rng(seed), {}
    parts = [first + second for first in "bdkм𐐨日" for second in "aи"]
    begins, ends = ["", "", "un", "re", "𐐨"], ["", "", "ing", "ed", "s", "日日", "ия"]
    while len(made) < n_words:
        made["".join([rng.choice(begins), *rng.choice(parts, rng.integers(*syllables)), rng.choice(ends)])] = None
    return list(made)


def plain_rules(words, support, longest):
    """Return {(end, other end, are they beginnings): pairs of rows} by way of dictionaries, without a hash of ours."""
    found = defaultdict(list)
    for front in (False, True):
        by_stem = defaultdict(list)
        for row, word in enumerate(words):
            word = word[::-1] if front else word
            for n in range(longest + 1):
                if len(word) >= max(3 + n, 5 if front else 0):
                    by_stem[word[: len(word) - n]].append((word[len(word) - n :], row))
        met = Counter(end for entries in by_stem.values() for end, _ in entries)
        for entries in by_stem.values():
            entries = sorted(entry for entry in entries if met[entry[0]] >= support)
            for (one, i), (other, j) in itertools.combinations(entries if len(entries) <= 500 else [], 2):
                if one[:1] != other[:1]:
                    found[one, other, front].append((i, j))
    return {rule: pairs for rule, pairs in found.items() if len(pairs) >= support}


def plain_paradigms(x, rules, counts, damping=3.0):
    """Return what the equations of the read-out give, in float64; as it does, of chance pairs drawn alike."""
    z = x.astype(float) - x.mean(axis=0, dtype=float)
    lengths = np.linalg.norm(z, axis=1, keepdims=True)
    z /= lengths
    i, j = np.random.default_rng(0).integers(len(z), size=(2, 100_000))
    chance = (z[i[i != j]] * z[j[i != j]]).sum(axis=1)
    m0, s0 = chance.mean(), chance.std()
    i, j = np.array([pair for pairs in rules.values() for pair in pairs]).T
    rule = np.repeat(np.arange(len(rules)), list(map(len, rules.values())))
    each = lambda weights: np.bincount(rule, weights, len(rules))  # noqa: E731
    c, sure = (z[i] * z[j]).sum(axis=1), counts[i] / (counts[i] + 100) * counts[j] / (counts[j] + 100)
    m1, s1, share = m0 + 3 * s0, s0, np.full(len(rules), 0.5)
    for _ in range(20):
        density = lambda m, s: np.exp(-(((c - m) / s) ** 2) / 2) / s  # noqa: E731
        kin, other = share[rule] * density(m1, s1), (1 - share[rule]) * density(m0, s0)
        t = kin / (kin + other)
        share, w = each(sure * t) / each(sure), sure * t
        m1 = max(w @ c / w.sum(), m0 + s0)
        s1 = max(w @ (c - m1) ** 2 / w.sum(), 1e-4) ** 0.5
    kept = t >= 0.5
    kept &= (each(kept) >= 4)[rule] & (share > 0.3)[rule]
    t = np.where(kept, t, 0.0)
    total, own = each(t), z[j] - z[i]
    sums = np.zeros((len(rules), z.shape[1]))
    np.add.at(sums, rule, t[:, None] * own)
    rest = sums[rule] - t[:, None] * own
    cosine = (own * rest).sum(axis=1) / np.maximum(np.linalg.norm(own, axis=1) * np.linalg.norm(rest, axis=1), 1e-12)
    quality, squares = each(t * cosine), each(t * (own**2).sum(axis=1))
    held = quality > 0.05 * total
    total = np.maximum(total, 1e-12)
    o = sums / total[:, None]
    o *= np.minimum(3, (np.sqrt(squares / total) / np.maximum(np.linalg.norm(o, axis=1), 1e-12)) ** 0.5)[:, None]
    w = t * np.where(held, share * quality / (total + 20), 0.0)[rule]
    near = counts / (counts + 20)
    weights, step = np.zeros(len(z)), np.zeros_like(z)
    for one, other, sign in ((i, j, 1), (j, i, -1)):
        np.add.at(weights, one, w * near[other])
        np.add.at(step, one, (w * near[other])[:, None] * (z[other] - sign * o[rule]))
    scale = 1 / (damping * np.median(weights[weights > 0]))
    z = (z + scale * step) / (1 + scale * weights)[:, None]
    return z / np.linalg.norm(z, axis=1, keepdims=True) * lengths, int((kept & held[rule]).sum())


def test_rules_are_those_of_plain_dictionaries():
    words = spelt(3000, seed=1)
    found, expected = candidates(words, 6, 4), plain_rules(words, 6, 4)
    rules = Rules(words, found)
    named = [(*sorted(ends), front) for ends, front in zip(rules.ends, found.front.tolist(), strict=True)]
    pairs = defaultdict(set)
    for i, j, rule in zip(found.i.tolist(), found.j.tolist(), found.rule.tolist(), strict=True):
        pairs[named[rule]].add(frozenset((i, j)))
    turned = lambda end, front: end[::-1] if front else end  # noqa: E731
    plain = {
        (*sorted((turned(one, front), turned(other, front))), front): set(map(frozenset, of))
        for (one, other, front), of in expected.items()
    }
    assert len(plain) > 300 and {True, False} == {front for _, _, front in plain}
    assert pairs == plain and len(found.i) == sum(map(len, plain.values()))


def test_vectors_are_those_of_the_plain_equations():
    words = spelt(2000, seed=2)
    rng = np.random.default_rng(3)
    stems, ends = ({part: rng.normal(size=20) for part in {cut(word) for word in words}} for cut in (_first, _last))
    x = np.array([stems[_first(word)] + 0.6 * ends[_last(word)] for word in words]) + rng.normal(size=(2000, 20))
    counts = rng.integers(5, 1000, 2000)
    given, chain = Trained(x.astype(np.float32), None, words, counts), parse("in+paradigms")
    after = chain.read(given)
    expected, kept = plain_paradigms(given.vectors_in, plain_rules(words, 8, 5), counts)
    assert len(chain.rules.pairs.i) == kept > 500
    np.testing.assert_allclose(after, expected, atol=1e-4)
    assert np.abs(after - (given.vectors_in - given.vectors_in.mean(axis=0))).max() > 0.5


def _first(word):
    return word[:4]


def _last(word):
    return word[-2:]


@pytest.mark.parametrize("threads", [1, 3, 40])
def test_threads_change_no_bit(threads, monkeypatch):
    given = planted()
    before = parse("in+paradigms").read(given)
    monkeypatch.setattr(paradigms, "available_threads", lambda: threads)
    np.testing.assert_array_equal(parse("in+paradigms").read(given), before)


def test_memory_stays_below_that_of_a_few_matrices():
    """A word has kin by the dozen here, which no language has."""
    words, rng = spelt(20_000, seed=5, syllables=(3, 5)), np.random.default_rng(6)
    stems = defaultdict(lambda: rng.normal(size=300))
    x = (np.array([stems[word[:4]] for word in words]) + rng.normal(size=(20_000, 300))).astype(np.float32)
    chain = parse("in+paradigms")
    chain.read(planted())  # so that code is there
    tracemalloc.start()
    chain.read(Trained(x, None, words, np.full(len(words), 50)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2.5 * x.nbytes  # one of them is the result


def test_rules_of_fewest_pairs_go_where_there_were_too_many(monkeypatch):
    words = spelt(3000, seed=1)
    whole = candidates(words, 6, 4)
    monkeypatch.setattr(_stems, "_LARGE", 1)
    monkeypatch.setattr(_stems, "_MOST", 2)
    less = candidates(words, 6, 4)
    assert len(whole.i) > 6000 >= len(less.i) > 4000
    sizes = np.bincount(whole.rule)
    assert sorted(np.bincount(less.rule)) == sorted(sizes[sizes >= np.bincount(less.rule).min()])
