"""Paradigms: planted rules are found and obeyed, shuffled spellings give none."""

import dataclasses
import itertools

import numpy as np
import pytest

from w2vneg.ground.errors import InputError, UnknownNameError
from w2vneg.objectives.readout import Trained, parse
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


@pytest.mark.parametrize("broken", ["kin_i", "kin_rule", "kin_offsets"])
def test_damaged_rules_are_told(tmp_path, broken):
    given, chain = planted(), parse("in+paradigms")
    Vectors(given.words, chain.read(given), rules=chain.rules).save(tmp_path / "v.npz")
    with np.load(tmp_path / "v.npz") as archive:
        arrays = dict(archive)
    arrays[broken] = arrays[broken][:-1] if broken == "kin_offsets" else arrays[broken] + np.int32(1000)
    np.savez(tmp_path / "v.npz", **arrays)
    with pytest.raises(InputError, match="its kin and rules do not fit together"):
        Vectors.load(tmp_path / "v.npz")


@pytest.mark.parametrize("text", ["paradigms:support=1", "paradigms:damping=0", "paradigms:longest=0", "paradigms:x=1"])
def test_options_out_of_range_are_refused(text):
    with pytest.raises(ValueError, match="read-out paradigms"):
        parse(text)


def test_it_stands_behind_letters():
    assert [part.name for part in parse("context+letters:share=.1+paradigms:damping=2").parts] == [
        "context",
        "letters",
        "paradigms",
    ]


def test_numbered_names_are_not_paired_all_with_all():
    words = [f"{letter}user{n}" for letter in "abcdefghij" for n in range(1000, 2000)]
    assert len(candidates(words, 8, 5).i) < 1_000_000  # of five million
