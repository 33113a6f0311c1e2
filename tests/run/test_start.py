"""Runs that begin with the rows of another one."""

import ast
import copy
import dataclasses
import os
import re
import signal

import numpy as np
import pandas as pd
import pytest

from w2vneg import Input, Vectors, Word2Vec
from w2vneg.data.encoded import encode_corpus
from w2vneg.data.inputs import encode_input
from w2vneg.data.phrases import find_phrases
from w2vneg.data.vocab import Vocabulary
from w2vneg.ground.errors import ConfigError, FileNote, InputError
from w2vneg.ground.events import EpochDone
from w2vneg.run.model import Model, look_at_contexts
from w2vneg.run.prior import Prior, WarmStart
from w2vneg.run.trainer import Trainer
from w2vneg.vectors.formats import fasttext

OPTIONS = {"dim": 6, "epochs": 2, "min_count": 1, "workers": 1, "subsample": 0, "loss": "ns", "readout": "in"}
FIRST = [["a", "b", "c"], ["b", "c", "d"]] * 20
SECOND = [["new", "c", "d", "c"], ["e", "d", "c"]] * 20


@pytest.fixture(scope="module")
def first():
    word2vec = Word2Vec(**OPTIONS)
    word2vec.fit(FIRST)
    return word2vec


def begun(source, workers=1):
    config = Word2Vec(**OPTIONS | {"workers": workers}).config
    return Trainer(encode_corpus(SECOND, min_count=1), config, start=WarmStart.of(source))


@pytest.mark.parametrize("workers", [1, 2])
def test_rows_of_words_that_both_know_begin_there(first, tmp_path, workers):
    first.save(tmp_path / "model")
    first.vectors.save(tmp_path / "vectors.txt")
    plain = Trainer(encode_corpus(SECOND, min_count=1), first.config).model
    for source in (tmp_path / "model", str(tmp_path / "vectors.txt"), first.model, first.vectors):
        trainer = begun(source, workers)
        assert trainer.started == 2
        both = source in (tmp_path / "model", first.model) if not isinstance(source, Vectors) else False
        for word in ("c", "d", "new", "e"):
            row = trainer.model.vocab.id(word)
            known = word in first.model.vocab
            old = first.model.vocab.id(word) if known else None
            expected = first.model.vectors_in[old] if known else plain.vectors_in[row]
            assert (trainer.model.vectors_in[row] == expected).all()
            expected = first.model.vectors_out[old] if known and both else 0
            assert (trainer.model.vectors_out[row] == expected).all()
    assert np.isfinite(begun(first.model, workers).train().vectors_in).all()


def test_fit_begins_with_what_it_is_given(first, tmp_path):
    first.save(tmp_path / "model")
    loaded = Word2Vec.load(tmp_path / "model")
    with pytest.warns(UserWarning, match="fit starts from scratch .* give update=True, to resume"):
        started_over = loaded.fit(FIRST)
    assert (started_over.matrix == first.vectors.matrix).all()
    again = Word2Vec.load(tmp_path / "model")
    vectors = again.fit(FIRST, init=again.model)
    assert (vectors.matrix == Word2Vec(**OPTIONS).fit(FIRST, init=first).matrix).all()  # a Word2Vec, for its model
    assert not (vectors.matrix == started_over.matrix).all()
    again.fit(FIRST)  # a fit after a fit is a new run, as everybody expects


def test_inner_nodes_of_the_same_tree_begin_there_and_others_anew(first, tmp_path):
    options = OPTIONS | {"loss": "hierarchical"}
    word2vec = Word2Vec(**options)
    word2vec.fit(FIRST)
    word2vec.save(tmp_path / "hs")
    fasttext.write(tmp_path / "hs.bin", word2vec.model)
    for source in (word2vec.model, tmp_path / "hs"):
        again = Word2Vec(**options).trainer(encode_corpus(FIRST, min_count=1), prior=Prior.init(source))
        assert again.model.vectors_out.any() and (again.model.vectors_out == word2vec.model.vectors_out).all()
    for source, loss, sentences, said in (
        (word2vec.model, "hierarchical", SECOND, "inner nodes start fresh: those of the model are of another tree"),
        (tmp_path / "hs.bin", "hierarchical", FIRST, "inner nodes start fresh: those of .*hs.bin are fastText's"),
        (first.model, "hierarchical", FIRST, "inner nodes start fresh: those of the model are rows of words"),
        (word2vec.model, "ns", FIRST, "targets start fresh: those of the model are inner nodes of a tree"),
    ):
        with pytest.warns(FileNote, match=f"^the {said}$"):
            other = Word2Vec(**options | {"loss": loss}).trainer(
                encode_corpus(sentences, min_count=1), prior=Prior.init(source)
            )
        assert other.started and not other.model.vectors_out.any()
    assert Word2Vec(**options).trainer(encode_corpus(FIRST, min_count=1), prior=Prior.init(first.vectors)).started


def test_new_users_may_begin_beside_items_that_are_known():
    options = {"dim": 4, "epochs": 2, "workers": 1}
    old, new = ([(f"{kind}{k}", f"i{k * 7 % 9}") for k in range(60)] for kind in "uv")
    first = Word2Vec(**options)
    first.fit(Input("pairs", old, rectangular=True))
    trainer = Word2Vec(**options).trainer(
        encode_input(Input("pairs", new, rectangular=True), min_count=1), prior=Prior.init(first.model)
    )
    assert trainer.started == 9
    assert np.array_equal(
        trainer.model.vectors_out,
        first.model.vectors_out[first.model.vocab_out.words.find_all(trainer.model.vocab_out.words)],
    )
    strange = [(user, f"other {item}") for user, item in new]
    with pytest.raises(ConfigError, match="none of the 69 users and items of this run has a vector in the model"):
        Word2Vec(**options).fit(Input("pairs", strange, rectangular=True), init=first.model)


def test_rows_that_stay_have_the_first_number_of_this_run():
    rows, options = [(f"u{k % 20}", f"i{k * 7 % 9}") for k in range(60)], {"dim": 4, "epochs": 1, "workers": 1}
    first, more = Word2Vec(bias=0, **options), Input("pairs", [*rows, ("new", "i1")], rectangular=True)
    first.fit(Input("pairs", rows, rectangular=True))
    with pytest.raises(ConfigError, match=r"trained with --bias 0, but this run has 0\.8; with --freeze use --bias 0"):
        Word2Vec(**options).fit(more, init=first.model, freeze=True)
    Word2Vec(**options).fit(more, init=first.model)
    Word2Vec(bias=0, **options).fit(more, init=first.model, freeze=True)
    Word2Vec(**options).fit(more, init=Vectors(["u1"], np.ones((1, 4), np.float32)), freeze=True)


def test_what_does_not_fit_is_refused(first, tmp_path):
    with pytest.raises(ConfigError, match="the model has vectors of 6 numbers, but this run has 4; use --dim 6"):
        Word2Vec(**OPTIONS | {"dim": 4}).fit(SECOND, init=first.model)
    with pytest.raises(ConfigError, match=r"none of the 2 words .* has a vector in the vectors; .*--lowercase"):
        Word2Vec(**OPTIONS).fit([["X", "Y"]] * 9, init=first.vectors)
    with pytest.raises(InputError, match="no such file"):
        Word2Vec(**OPTIONS).fit(SECOND, init=tmp_path / "none.txt")
    for wrong in (np.eye(6), [["a", 1]], True):
        with pytest.raises(ConfigError, match=r"init takes .* not (ndarray|list|bool); build Vectors\(words, matrix\)"):
            Word2Vec(**OPTIONS).fit(SECOND, init=wrong)
    with pytest.raises(ConfigError, match="nothing is trained yet"):
        Word2Vec(**OPTIONS).fit(SECOND, init=Word2Vec(**OPTIONS))


def test_the_command_line(first, tmp_path, monkeypatch, run_cli):
    monkeypatch.chdir(tmp_path)
    first.save("model")
    (tmp_path / "text.txt").write_text("".join(" ".join(line) + "\n" for line in SECOND))
    small = ["--dim=6", "--epochs=1", "--min-count=1", "--workers=1", "--subsample=0"]
    result = run_cli("train", "--corpus", "text.txt", "--init", "model", "--save-model", "model", "--force", *small)
    assert result.code == 0 and "2 of 4 words start from their vectors in model." in result.err
    result = run_cli("train", "--resume", "model", "--init", "model")
    assert result.code == 2 and "--resume continues with the model folder's own vectors" in result.err
    result = run_cli("train", "--corpus", "text.txt", "--init", "none", *small)
    assert result.code == 1 and "none: no such file" in result.err


def test_users_and_items_begin_each_on_its_side(tmp_path):
    from w2vneg import Input

    (tmp_path / "pairs.tsv").write_text("user\titem\nu1\ti1\nu1\ti2\nu2\ti1\nu3\ti2\n" * 3)
    options = {"dim": 4, "epochs": 1, "workers": 1}
    data = Input("pairs", str(tmp_path / "pairs.tsv"), rectangular=True)
    word2vec = Word2Vec(**options)
    word2vec.fit(data)
    again = Word2Vec(**options)
    trainer = again.trainer(again.encode(data), prior=Prior.init(word2vec.model))
    assert (trainer.model.vectors_in == word2vec.model.vectors_in).all()
    assert (trainer.model.vectors_out == word2vec.model.vectors_out).all()


GOING_ON = OPTIONS | {"alpha": 0.03, "min_alpha": 0.03, "seed": 3}


def test_more_epochs_are_those_of_a_longer_run_where_alpha_stays(run_cli, tmp_path, monkeypatch):
    """2 epochs and 3 more are 5, to the bit, with one worker and a constant alpha."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text").write_text("\n".join(" ".join(line) for line in FIRST + SECOND))
    flags = [f"--{name.replace('_', '-')}={value}" for name, value in GOING_ON.items() if name != "epochs"]
    for folder, epochs in (("whole", 5), ("parts", 2)):
        run = run_cli("train", "--corpus=text", *flags, f"--epochs={epochs}", f"--save-model={folder}", "--quiet")
        assert run.code == 0, run.err
    result = run_cli("train", "--resume", "parts", "--epochs", 5)
    assert result.code == 0 and "Alpha continues at 0.03, as in a run of 5 epochs." in result.err
    whole, parts = Model.load("whole"), Model.load("parts")
    assert parts.config.epochs == parts.position.epoch == 5
    assert (whole.vectors_in == parts.vectors_in).all() and (whole.vectors_out == parts.vectors_out).all()
    assert [epoch["loss"] for epoch in whole.history] == [epoch["loss"] for epoch in parts.history]
    result = run_cli("train", "--resume", "parts")
    assert result.code == 0 and "for more give --epochs 6 or above" in result.err
    result = run_cli("train", "--resume", "parts", "--epochs", 4)
    assert result.code == 1 and "parts is in epoch 5 already; give --epochs 5 or more" in result.err
    result = run_cli("train", "--resume", "parts", "--epochs", 9, "--alpha", 0.1)
    assert result.code == 2 and "leave --alpha out" in result.err


@pytest.mark.slow
def test_a_run_that_ends_with_its_best_state_goes_no_further(run_cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text").write_text("\n".join(" ".join(line) for line in FIRST + SECOND))
    (tmp_path / "held").write_text("c d\nd c\n")
    flags = [f"--{name.replace('_', '-')}={value}" for name, value in OPTIONS.items()]
    run = run_cli("train", "--corpus=text", *flags, "--save-model=m", "--valid=held", "--quiet")
    assert run.code == 0, run.err
    result = run_cli("train", "--resume", "m", "--epochs", 4, "--valid=held")
    assert result.code == 1 and "start another run with --init m" in result.err


def test_the_vocabulary_grows(first, tmp_path):
    first.save(tmp_path / "model")
    word2vec = Word2Vec.load(tmp_path / "model")
    before = word2vec.model
    word2vec.fit(SECOND, update=True)
    after = word2vec.model
    assert dict(zip(after.vocab.words, after.vocab.counts, strict=True)) == {
        **{"a": 20, "b": 40, "c": 40 + 60, "d": 20 + 40, "new": 20, "e": 20}
    }
    assert after.vocab.words[0] == "c"  # ids follow the new counts
    for word in "ab":  # they were no centres
        assert (after.vectors_in[after.vocab.id(word)] == before.vectors_in[before.vocab.id(word)]).all()
    for word in "cd":
        assert (after.vectors_in[after.vocab.id(word)] != before.vectors_in[before.vocab.id(word)]).any()


@pytest.mark.parametrize(
    ("corpus", "options", "said"),
    [
        (iter(SECOND), {}, "reads the corpus twice"),
        (SECOND, {"init": "elsewhere"}, "leave init, vocab and vocab_out out"),
    ],
)
def test_what_cannot_grow_is_refused(first, corpus, options, said):
    with pytest.raises(ConfigError, match=said):
        first.fit(corpus, update=True, **options)
    with pytest.raises(ConfigError, match="nothing is trained yet"):
        Word2Vec(**OPTIONS).fit(SECOND, update=True)


def test_words_join_a_vocabulary_when_they_are_frequent():
    old = Vocabulary.from_counts({"a": 1, "b": 5})
    more = Vocabulary.from_counts({"a": 2, "c": 4, "d": 3, "e": 2})
    assert old.grown(more, 3) == Vocabulary.from_counts({"a": 3, "b": 5, "c": 4, "d": 3})
    assert old.grown(more, 1, max_vocab=3) == Vocabulary.from_counts({"a": 3, "b": 5, "c": 4})
    assert old.grown(more, 1, max_vocab=1) == Vocabulary.from_counts({"a": 3, "b": 5})


def test_a_second_topic_moves_its_own_words(tmp_path):
    """Two topics that share no word: going on with one of them moves its words, and leaves the other's."""
    rng = np.random.default_rng(1)
    topics = [[f"{name}{k}" for k in range(12)] for name in ("one", "two")]

    def text(words, group):  # neighbours come from one group of three words
        return [[words[group(start) + k] for k in rng.integers(0, 3, 8)] for start in rng.integers(0, 4, 400)]

    options = OPTIONS | {"dim": 12, "epochs": 8, "alpha": 0.05, "seed": 1}
    word2vec = Word2Vec(**options)
    word2vec.fit([line for words in topics for line in text(words, lambda start: 3 * start)])
    before = {word: word2vec.vectors[word].copy() for words in topics for word in words}
    regrouped = {f"two{k}": f"two{(k % 4) * 3 + k // 4}" for k in range(12)}
    second = [[regrouped[word] for word in line] for line in text(topics[1], lambda start: 3 * start)]
    word2vec.fit(second, update=True)
    after = word2vec.vectors
    kept = [float(before[word] @ after[word]) for word in topics[0]]
    assert min(kept) > 0.999 * min(float(before[word] @ before[word]) for word in topics[0])
    near = [{word for word, _ in after.most_similar(f"two{k}", k=2)} for k in range(12)]
    groups = [{regrouped[f"two{3 * (j // 3) + i}"] for i in range(3)} for j in range(12)]
    own = {word: group for group in groups for word in group}
    right = sum(len(found & own[f"two{k}"]) for k, found in enumerate(near))
    assert right >= 20, right  # of 24


GRAMS = OPTIONS | {"inputs": "subwords", "buckets": 300}
WORDS = [["going", "goings", "gone"], ["gone", "goings", "begone"]] * 20
NEWER = [["going", "forgone", "gone"], ["forgone", "bygone", "going"]] * 20


def trainer_of(corpus, options, start=None):
    return Trainer(encode_corpus(corpus, min_count=1), Word2Vec(**options).config, start=start)


@pytest.fixture
def with_grams(tmp_path):
    """A model with n-grams, its rows as they begin, in a folder and as fastText's .bin."""
    from w2vneg.vectors.formats import fasttext

    model = trainer_of(WORDS, GRAMS | {"seed": 9}).model
    model.vectors_out[:] = np.arange(model.vectors_out.size).reshape(model.vectors_out.shape)
    model.save(tmp_path / "model")
    fasttext.write(tmp_path / "model.bin", model)
    return model, tmp_path


@pytest.mark.parametrize("name", ["model", "model.bin"])
def test_n_grams_begin_by_their_bucket(with_grams, name):
    old, folder = with_grams
    plain = trainer_of(NEWER, GRAMS).model
    trainer = trainer_of(NEWER, GRAMS, WarmStart.of(folder / name, freeze=True))
    model = trainer.model
    assert trainer.started == 2
    before = dict(zip(old.buckets().tolist(), old.extra["grams_in"], strict=True))
    known = [bucket in before for bucket in model.buckets().tolist()]
    assert 0 < sum(known) < len(known) or name == "model.bin"
    for row, bucket in enumerate(model.buckets().tolist()):
        zeros = np.zeros(6) if name == "model.bin" else plain.extra["grams_in"][row]  # there every bucket has a row
        assert np.array_equal(model.extra["grams_in"][row], before.get(bucket, zeros))
    for word in ("going", "gone"):
        rows = [one.vocab.id(word) for one in (old, model)]
        for matrix in ("words_in", "vectors_in", "vectors_out"):
            assert np.array_equal(old.matrices()[matrix][rows[0]], model.matrices()[matrix][rows[1]])
    new = model.vocab.id("bygone")
    assert np.array_equal(model.extra["words_in"][new], plain.extra["words_in"][new])
    assert sorted(model.frozen) == ["grams_in", "vectors_out", "words_in"]
    assert model.frozen["words_in"].tolist() == [word in old.vocab for word in model.vocab.words]


@pytest.mark.parametrize("name", ["model", "model.bin"])
def test_a_run_without_n_grams_begins_with_the_means(with_grams, name):
    old, folder = with_grams
    model = trainer_of(NEWER, OPTIONS, WarmStart.of(folder / name)).model
    found = model.vectors_in[model.vocab.id("going")]
    np.testing.assert_allclose(found, old.vectors_in[old.vocab.id("going")], rtol=1e-6)


def test_other_n_grams_are_refused(with_grams, first):
    _, folder = with_grams
    with pytest.raises(ConfigError, match="use --minn 3 --maxn 6 --buckets 300"):
        trainer_of(NEWER, GRAMS | {"maxn": 4}, WarmStart.of(folder / "model"))
    with pytest.raises(ConfigError, match="builds vectors from n-grams, for which the model has no rows"):
        trainer_of(SECOND, GRAMS, WarmStart.of(first.model))


def test_what_plugs_have_learnt_goes_along():
    """Rows by word; those of a new word, and of a plug of another shape, are the plug's own."""
    models = [
        Model.fresh(encode_corpus(corpus, min_count=1).vocab, Word2Vec(**OPTIONS).config.resolved())
        for corpus in (FIRST, SECOND)
    ]
    for sign, model in zip((1, -1), models, strict=True):
        rows = np.arange(1.0, 1 + len(model.vocab), dtype=np.float32)[:, None]
        model.extra = {"log_z": sign * rows, "seen_out": sign * 10 * rows, "wide": sign * np.tile(rows, 2 + sign)}
    old, new = models
    WarmStart.of(old).begin(new)
    for row, word in enumerate(new.vocab.words):
        known = old.vocab.id(word) + 1 if word in old.vocab else -row - 1
        assert new.extra["log_z"][row, 0] == known and new.extra["seen_out"][row, 0] == 10 * known
        assert new.extra["wide"][row, 0] == -row - 1


@pytest.mark.parametrize(
    "options",
    [
        *({"loss": "hierarchical"}, {"loss": "relaxed"}, {"sampler": "uniform"}, {"inputs": "window"}, {"dim": 9}),
        *({"window": 2}, {"negatives": 20}, {"noise_exponent": 0.1}),
    ],
)
def test_the_objective_of_a_model_that_grows_is_its_own(first, options):
    ((name, value),) = options.items()
    word2vec = copy.deepcopy(first).set_params(**options)
    remedy = rf"set_params\({name}=(.*)\), or start a new run"
    with pytest.raises(ConfigError, match=rf"objective and size: {name} is .*, not {value!r}; {remedy}") as refused:
        word2vec.fit(SECOND, update=True)
    assert word2vec.model.vocab == first.model.vocab
    word2vec.set_params(**{name: ast.literal_eval(re.search(remedy, str(refused.value))[1])}).fit(SECOND, update=True)
    assert "new" in word2vec.wv
    changed = copy.deepcopy(first).set_params(min_count=2, readout="both", lowercase=True, alpha=0.1)
    changed.fit(SECOND, update=True)
    assert (changed.model.config.readout, changed.model.config.alpha) == ("both", 0.1)


def test_the_command_line_grows_a_model(first, tmp_path, monkeypatch, run_cli):
    """The same as fit(…, update=True), to the bit."""
    monkeypatch.chdir(tmp_path)
    first.save("m")
    (tmp_path / "newer").write_text("".join(" ".join(line) + "\n" for line in SECOND))
    result = run_cli("train", "--update", "m", "--corpus", "newer", "--alpha", 0.01, "--save-model", "n")
    assert result.code == 0, result.err
    assert "The 4 words of m start from their vectors; 2 are new." in result.err
    grown, other = Model.load("n"), Word2Vec.load("m", alpha=0.01)
    vectors = other.fit("newer", update=True)
    assert grown.vocab == other.model.vocab and "a" in grown.vocab and grown.vocab.counts[0] == 100
    assert np.array_equal(grown.vectors_in, vectors.matrix)
    assert grown.config.alpha == 0.01 and grown.config.min_alpha == 1e-6 and grown.config.epochs == 2
    result = run_cli("train", "--resume", "n", "--epochs", 3, "--quiet")
    assert result.code == 0, result.err


def test_newer_text_moves_what_was_learnt_as_far_as_it_weighs(first, tmp_path, monkeypatch, run_cli):
    """Alpha times the newer text's share, unless it is given; an update of an update begins anew."""
    monkeypatch.chdir(tmp_path)
    first.save("m")
    (tmp_path / "newer").write_text("a b c d\n" * 10)
    flags = "--corpus", "newer", "--min-count", 1, "--quiet"
    result = run_cli("train", "--update", "m", "--corpus", "newer", "--save-model", "n")
    assert "The newer text is 25% of all training text: --alpha 0.0125, not the model's 0.05" in result.err, result.err
    (tmp_path / "rare").write_text("a b c d\n" * 10 + "".join(f"rare{k} word{k}\n" for k in range(60)))
    result = run_cli("train", "--update", "m", "--corpus", "rare", "--min-count", 2, "--save-model", "q")
    assert "The newer text is 25% of all training text" in result.err, result.err  # words that are dropped do not count
    assert Model.load("n").config.alpha == 0.0125 and Model.load("n").config.min_alpha == 1.25e-6
    assert run_cli("train", "--update", "n", *flags, "--save-model", "o").code == 0
    assert Model.load("o").config.alpha == pytest.approx(0.05 * (40 / 200))
    assert run_cli("train", "--update", "m", *flags, "--alpha", 0.05, "--save-model", "p").code == 0
    assert Model.load("p").config.alpha == 0.05
    for changes, alpha in (({}, 0.0125), ({"alpha": 0.05}, 0.05)):
        word2vec = Word2Vec.load("m", **changes)
        word2vec.fit("newer", update=True)
        assert word2vec.model.config.alpha == alpha and word2vec.config.alpha == 0.05
    word2vec = copy.copy(first)
    word2vec.fit([["a", "b", "c", "d"]] * 10, update=True, freeze=False)
    assert word2vec.model.config.alpha == 0.0125


def test_the_newer_texts_share_is_of_the_words_trained_on(first, tmp_path, monkeypatch, run_cli):
    """Counts of a vocabulary that was fixed may be those of another text."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "words.tsv").write_text("".join(f"{word}\t100000\n" for word in "abcd"))
    (tmp_path / "older").write_text("a b c d\n" * 30)
    (tmp_path / "newer").write_text("a b c d\n" * 10)
    train = "train", "--loss", "ns", "--dim", 5, "--subsample", 0, "--workers", 1, "--epochs", 1, "--alpha", 0.05
    result = run_cli(*train, "--corpus", "older", "--vocab", "words.tsv", "--save-model", "m", "--quiet")
    assert result.code == 0, result.err
    for model, grown, share in (("m", "n", "25%"), ("n", "o", "20%")):
        result = run_cli("train", "--update", model, "--corpus", "newer", "--save-model", grown)
        assert f"The newer text is {share} of all training text: --alpha" in result.err, result.err
    assert run_cli("train", "--resume", "o", "--epochs", 2, "--quiet").code == 0
    grown = Model.load("o")
    assert grown.origin.begun["words_before"] == 160


@pytest.mark.parametrize(("flag", "noun"), [("--baskets", "item"), ("--pairs", "item"), ("--edges", "node")])
def test_newer_items_move_what_was_learnt_as_far_as_they_weigh(flag, noun, tmp_path, monkeypatch, run_cli):
    """Models of baskets, graphs and items of one kind keep no data, so an update learns from the newer alone."""
    monkeypatch.chdir(tmp_path)
    for name, n in (("older", 30), ("newer", 10)):
        lines = ["a b c d"] * n if flag == "--baskets" else ["source\ttarget", *(f"a{k}\tb{k}" for k in range(n))]
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    flags = "--loss", "ns", "--dim", 5, "--workers", 1, "--epochs", 1, "--alpha", 0.04
    result = run_cli("train", *flags, flag, "older", "--save-model", "m", "--quiet")
    assert result.code == 0, result.err
    for model, grown, share, alpha in (("m", "n", "25%", "0.01"), ("n", "o", "20%", "0.008")):
        result = run_cli("train", "--update", model, flag, "newer", "--save-model", grown)
        said = f"The newer data are {share} of all training data: --alpha {alpha}, not the model's 0.04"
        assert f"{said}, so that old {noun}s keep what they learnt." in result.err, result.err
    whole = run_cli("train", "--update", "m", flag, "older", "--save-model", "p")
    assert whole.code == 0 and "newer data" not in whole.err and Model.load("p").config.alpha == 0.04


def test_an_interrupted_update_of_users_and_items_resumes_to_the_bit(tmp_path, monkeypatch, run_cli):
    """It trains on the pairs that the model kept, too; other newer pairs are refused."""
    monkeypatch.chdir(tmp_path)
    pick = np.random.default_rng(1)
    for name, users in (("older", range(40)), ("newer", range(35, 50)), ("other", range(35, 50))):
        rows = [f"u{user}\ti{item}\n" for user in users for item in pick.choice(30, 6, replace=False)]
        (tmp_path / f"{name}.tsv").write_text("user\titem\n" + "".join(rows))
    flags = "--rectangular", "--loss", "us", "--dim", 4, "--workers", 1, "--epochs", 2, "--quiet", "--save-model", "m"
    assert run_cli("train", "--pairs", "older.tsv", *flags).code == 0
    update = "train", "--update", "m", "--pairs", "newer.tsv", "--epochs", 3, "--quiet", "--save-model", "whole"
    assert run_cli(*update).code == 0

    def interrupt(event):
        if isinstance(event, EpochDone) and event.epoch == 1:
            signal.raise_signal(signal.SIGINT)

    word2vec = Word2Vec.load("m", epochs=3)
    with pytest.warns(UserWarning, match="interrupted"):
        word2vec.fit(Input("pairs", "newer.tsv"), update=True, listeners=[interrupt], checkpoints="part")
    assert word2vec.model.position.epoch < 3
    other = run_cli("train", "--resume", "part", "--pairs", "other.tsv", "--quiet")
    assert other.code == 1 and "the model to resume was trained on other data" in other.err
    result = run_cli("train", "--resume", "part", "--quiet")
    assert result.code == 0, result.err
    part, whole = Model.load("part"), Model.load("whole")
    assert np.array_equal(part.vectors_out, whole.vectors_out) and np.array_equal(part.vectors_in, whole.vectors_in)
    assert (part.known != whole.known).nnz == 0


def test_contexts_are_those_of_the_text_before_too():
    """A mean over the occurrences in both texts; what has no neighbour in the newer one keeps its row to the bit."""
    word2vec = Word2Vec(**OPTIONS | {"readout": "context"})
    word2vec.fit(FIRST)
    before = word2vec.model
    word2vec.fit([*SECOND, ["b"]], update=True)
    after, twice = word2vec.model, copy.copy(word2vec)
    known = {word: before.contexts[before.vocab.id(word)] for word in before.vocab.words}
    alone = dataclasses.replace(after, contexts_before=None)
    look_at_contexts(alone, encode_corpus([*SECOND, ["b"]], vocab=after.vocab))
    for row, word in enumerate(after.vocab.words):
        now, found = alone.contexts[row], after.contexts[row]
        if word in ("a", "b"):
            assert not now.any() and np.array_equal(found, known[word])
        elif word in ("c", "d"):  # 40 and 20 times before
            n = {"c": 40, "d": 20}[word]
            share = n / after.vocab.counts[row]
            np.testing.assert_allclose(found, share * known[word] + (1 - share) * now, atol=1e-6)
        else:
            assert np.array_equal(found, now)
    twice.fit([["e", "new"]] * 9, update=True)
    assert np.array_equal(twice.model.contexts[twice.model.vocab.id("a")], known["a"])


def test_an_update_that_goes_on_keeps_the_contexts_of_the_text_before(run_cli, tmp_path, monkeypatch):
    """1 + 2 epochs of an update are 3, to the bit."""
    monkeypatch.chdir(tmp_path)
    word2vec = Word2Vec(**OPTIONS | {"readout": "context"})
    word2vec.fit(FIRST)
    word2vec.save("m")
    (tmp_path / "newer").write_text("".join(" ".join(line) + "\n" for line in SECOND))
    for folder, epochs in (("whole", 3), ("parts", 1)):
        flags = f"--epochs={epochs}", "--alpha=.01", "--min-alpha=.01", f"--save-model={folder}"
        assert run_cli("train", "--update=m", "--corpus=newer", *flags).code == 0
    assert run_cli("train", "--resume=parts", "--epochs=3", "--quiet").code == 0
    whole, parts = Model.load("whole"), Model.load("parts")
    assert np.array_equal(whole.contexts, parts.contexts) and whole.contexts[whole.vocab.id("a")].any()
    assert np.array_equal(Vectors.load("whole").matrix, Vectors.load("parts").matrix)
    (tmp_path / "m" / "contexts.npy").unlink()  # as of a run that was killed
    run = run_cli("train", "--update=m", "--corpus=newer", "--save-model=lacking")
    assert run.code == 0 and run.err.count("Note: the model to update has no contexts") == 1, run.err


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        ("--corpus newer --loss relaxed", "leave --loss out, or start a new run from its rows: --init m"),
        ("--corpus newer --dim 6", "leave --dim out"),
        ("--corpus newer --subwords", "leave --inputs out"),
        ("--corpus newer --init m", "give one of the two"),
        (
            "--corpus newer --vocab m/vocab.tsv",
            "--update takes its vocabulary from the model folder; leave --vocab out",
        ),
        ("--corpus newer --config c.toml", "leave --config out"),
        ("--corpus -", "standard input and pipes can be read only once"),
        ("--resume m", "leave --update out"),
        ("--pairs newer", "trained on text (--corpus), so only such data can extend it"),
        ("", "needs newer data; name a file, e.g. with --corpus"),
    ],
)
def test_what_a_model_does_not_grow_by(first, tmp_path, monkeypatch, run_cli, flags, said):
    monkeypatch.chdir(tmp_path)
    first.save("m")
    (tmp_path / "newer").write_text("c d\n")
    result = run_cli("train", "--update", "m", *flags.split())
    assert result.code in (1, 2) and said in result.err, result.err


@pytest.mark.skipif(not os.path.exists("/dev/fd/0"), reason="no /dev/fd on this system")
def test_a_pipe_can_be_read_once(first, tmp_path, monkeypatch, run_cli):
    monkeypatch.chdir(tmp_path)
    first.save("m")
    reading, writing = os.pipe()
    os.write(writing, b"c d\n")
    os.close(writing)
    pipe = f"/dev/fd/{reading}"
    result = run_cli("train", "--update", "m", "--corpus", pipe)
    assert result.code == 2 and "standard input and pipes can be read only once; name a file" in result.err
    with pytest.raises(ConfigError, match="reads the corpus twice; give a file"):
        Word2Vec.load("m").fit(pipe, update=True)
    with pytest.raises(ConfigError, match="several passes read the text several times"):
        find_phrases(pipe, passes=2)
    flags = [f"--{name.replace('_', '-')}={value}" for name, value in OPTIONS.items()]
    assert run_cli("train", "--corpus", pipe, *flags, "--save-model=p", "--quiet").code == 0
    result = run_cli("train", "--resume", "p")
    assert result.code == 2 and "p was not trained on files; name the same data again" in result.err
    os.close(reading)
    result = run_cli("train", "--resume", "p")  # the pipe is gone
    assert result.code == 2 and "p was not trained on files; name the same data again" in result.err


def test_newer_text_is_read_as_the_text_before(run_cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text").write_text("New York, new york. Old york!\n" * 9)
    (tmp_path / "newer").write_text("a new york? <b>One</b>\n" * 9)
    (tmp_path / "phrases").write_text("new york\n")
    flags = [f"--{name.replace('_', '-')}={value}" for name, value in OPTIONS.items()]
    reading = "--tokenizer=words", "--lowercase", "--phrases=phrases", "--strip=markup"
    run = run_cli("train", "--corpus=text", *flags, *reading, "--save-model=m")
    assert run.code == 0, run.err
    (tmp_path / "phrases").unlink()  # the model has them
    run = run_cli("train", "--update=m", "--corpus=newer", "--save-model=m", "--force")
    assert run.code == 0, run.err
    assert set(Model.load("m").vocab.words) == {"new_york", "old", "york", "a", "one"}
    assert run_cli("train", "--resume=m", "--epochs=3", "--quiet").code == 0


def test_users_and_items_join_each_on_its_side(run_cli, tmp_path, monkeypatch):
    """How the data are read is the model's, --rectangular among it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pairs.tsv").write_text("user\titem\nu1\ti1\nu1\ti2\nu2\ti1\nu3\ti2\n")
    (tmp_path / "newer.tsv").write_text("user\titem\nu1\ti3\nu4\ti2\nu2\ti3\n")
    run = run_cli("train", "--pairs=pairs.tsv", "--rectangular", "--dim=4", "--workers=1", "--save-model=m", "--quiet")
    assert run.code == 0, run.err
    run = run_cli("train", "--update=m", "--pairs=newer.tsv", "--save-model=n")
    assert run.code == 0, run.err
    assert "The 3 users of m start from their vectors; 1 are new." in run.err
    grown = Model.load("n")
    assert set(grown.vocab.words) == {"u1", "u2", "u3", "u4"} and set(grown.vocab_out.words) == {"i1", "i2", "i3"}


def test_fit_with_newer_text_reads_it_as_the_text_before(tmp_path):
    first, second = tmp_path / "first.txt", tmp_path / "second.txt"
    first.write_text("New York is big, said Ann.\nNew York is old, said Bob.\n" * 9)
    second.write_text("New York is new, said Eve.\n" * 9)
    (tmp_path / "phrases").write_text("new york\n")
    read = Input("corpus", str(first), tokenizer="words", phrases=str(tmp_path / "phrases"))
    word2vec = Word2Vec(dim=4, epochs=1, min_count=1, workers=1, subsample=0, lowercase=True)
    word2vec.fit(read)
    word2vec.save(tmp_path / "model")
    (tmp_path / "phrases").unlink()  # the model has them
    texts = pd.Series(second.read_text().splitlines())
    lists = [["new", "york", "is", "new", "said", "eve"]] * 9
    for newer in (str(second), texts, pd.DataFrame({"text": texts}), lists):
        for again in (Word2Vec.load(tmp_path / "model"), copy.copy(word2vec)):  # from a folder, and from memory
            given = Input("corpus", newer) if isinstance(newer, pd.DataFrame) else newer
            words = list(again.fit(given, update=True).words)
            assert set(words) == {"new_york", "is", "said", "big", "ann", "old", "bob", "new", "eve"}
            assert again.model.vocab.counts[words.index("is")] == 27 and again.model.phrases


def test_what_is_wrong_with_options_is_said_before_anything_else(run_cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for arguments in (["--loss", "relaxd"], ["--pairs", "no.tsv", "--loss", "ns", "--temp", "2"]):
        result = run_cli("train", *arguments)
        assert result.code == 1 and result.out == "" and result.err.startswith("Error: ")
