"""Read-outs: their equations against dense linear algebra, their names, and where they go."""

import dataclasses
import itertools
import sys

import numpy as np
import pytest
from reading import change_options
from scipy import sparse

from w2vneg import Vectors, Word2Vec
from w2vneg.data.sources import TRAVERSALS
from w2vneg.ground.errors import ConfigError, InputError, UnknownNameError
from w2vneg.ground.jit import DISABLE_JIT
from w2vneg.kernels.bags import context_means
from w2vneg.objectives.plugins import _module_of, load_plugins
from w2vneg.objectives.readout import READOUTS, Trained, both, parse
from w2vneg.objectives.readout.context import _least_squares
from w2vneg.objectives.readout.letters import Letters, Spellings, gram_matrix, hashed_grams
from w2vneg.run.estimate import estimate
from w2vneg.run.model import Model

WORDS = ["walk", "walked", "walking", "talk", "talked", "talking", "king", "queen", "naïve", "naïvely", "日本", "x"]
COUNTS = np.array([900, 700, 400, 300, 200, 100, 50, 40, 9, 5, 2, 1], np.int64)


def trained(dim=5, **others):
    x, y = np.random.default_rng(1).normal(1, 1, (2, len(WORDS), dim)).astype(np.float32)
    return Trained(x, y, WORDS, COUNTS, **others)


def directions(matrix):
    matrix = matrix.astype(np.float64) - matrix.mean(axis=0, dtype=np.float64)
    return matrix / np.linalg.norm(matrix, axis=1, keepdims=True)


def axes(h, dim, q):
    """The equation of `both` by a singular value decomposition."""
    _, s, v = np.linalg.svd(h, full_matrices=False)
    return h @ v[:dim].T * (s[:dim] / s[dim - 1]) ** (-q / 2)


def same_up_to_signs(found, expected):
    signs = np.sign((found * expected).sum(axis=0))
    np.testing.assert_allclose(found * signs, expected, atol=2e-6)


@pytest.fixture(params=[3, 8192], ids=["blocks", "whole"])
def blocks(request, monkeypatch):
    monkeypatch.setattr(both, "BLOCK", request.param)


@pytest.mark.parametrize("q", [0, 0.5, 2])
def test_both_is_its_equation(blocks, q):
    given = trained()
    found = parse(f"both:whitening={q}").read(given)
    assert found.dtype == np.float32 and found.shape == (12, 5)
    h = np.hstack([directions(given.vectors_in), directions(given.vectors_out)])
    same_up_to_signs(found, axes(h, 5, q))


def test_context_is_its_equation(blocks):
    given = trained(contexts=np.random.default_rng(3).normal(size=(12, 5)).astype(np.float32))
    n = COUNTS.astype(float)
    weighted = [
        (m - n @ m / n.sum()) * np.sqrt(n)[:, None]
        for m in (given.contexts.astype(float), given.vectors_in.astype(float))
    ]
    through = np.linalg.lstsq(*weighted, rcond=None)[0]
    np.testing.assert_allclose(_least_squares(given.contexts, given.vectors_in, COUNTS), through, atol=1e-4)
    parts = [given.vectors_in, given.vectors_out, given.contexts.astype(float) @ through]
    h = np.hstack([scale * directions(part) for part, scale in zip(parts, (1, 1, 0.5), strict=True)])
    found = parse("context:weight=0.5:whitening=1").read(given)
    cosines = [z @ z.T / np.outer(*[np.linalg.norm(z, axis=1)] * 2) for z in (found, axes(h, 5, 1))]
    np.testing.assert_allclose(*cosines, atol=1e-3)


def test_matrices_are_what_they_are():
    given = trained()
    assert parse("in").read(given) is given.vectors_in
    assert parse("out").read(given) is given.vectors_out
    np.testing.assert_array_equal(parse("sum").read(given), given.vectors_in + given.vectors_out)


@pytest.mark.parametrize("x", [np.zeros((12, 5)), np.ones((12, 5)), np.eye(12, 5)], ids=["zero", "equal", "few"])
def test_rows_without_a_direction_stay_finite(x):
    given = Trained(x.astype(np.float32), np.zeros((12, 5), np.float32), WORDS, COUNTS, np.zeros((12, 5), np.float32))
    for name in ("both", "context", "both+letters"):
        assert np.isfinite(parse(name).read(given)).all()


def test_grams_are_those_of_a_loop():
    for shortest, longest in ((3, 6), (1, 2), (4, 4)):
        expected = {}
        for row, word in enumerate(WORDS):
            marked = f"<{word}>"
            for n in range(shortest, longest + 1):
                for i in range(len(marked) - n + 1):
                    expected.setdefault(marked[i : i + n], set()).add(row)
        shared = {gram: rows for gram, rows in expected.items() if len(rows) > 1}
        grams, f = gram_matrix(WORDS, shortest, longest)
        assert f.shape == (len(WORDS), len(shared)) and len(set(grams.tolist())) == len(shared)
        assert (np.diff([column.nonzero()[0][0] for column in f.toarray().T]) >= 0).all()
        columns = [set(column.nonzero()[0].tolist()) for column in f.toarray().T]
        assert sorted(map(sorted, columns)) == sorted(map(sorted, shared.values()))
        lengths = np.sqrt(f.multiply(f).sum(axis=1)).A1 if hasattr(f.sum(axis=1), "A1") else np.sqrt((f**2).sum(axis=1))
        assert np.isin(np.round(np.asarray(lengths).ravel(), 5), [0, 1]).all()


def test_letters_are_their_equation(monkeypatch):
    monkeypatch.setattr("w2vneg.objectives.readout.letters._STEPS", 200)  # to the end
    given = trained()
    z = given.vectors_in.astype(float) - given.vectors_in.mean(axis=0)
    _, f = gram_matrix(WORDS, 3, 6)
    f = f.toarray().astype(float)
    c = COUNTS / (COUNTS + 7.0)
    b = np.linalg.solve(f.T @ (c[:, None] * f) + 0.5 * np.eye(f.shape[1]), f.T @ (c[:, None] * z))
    p = np.maximum(7 / (COUNTS + 7.0), 0.4)[:, None]
    found = parse("letters:prior=7:ridge=0.5:share=0.4").read(given)
    np.testing.assert_allclose(found, (1 - p) * z + p * (f @ b), atol=1e-5)


def test_any_spelling_has_a_vector():
    chain = parse("letters:share=1")
    found = chain.read(trained(spell=True))
    for row, word in enumerate(WORDS):
        vector = chain.spellings.vector(word)
        if vector is None:
            assert not gram_matrix(WORDS, 3, 6)[1].toarray()[row].any()
        else:
            np.testing.assert_allclose(vector, found[row], atol=1e-5)
    assert chain.spellings.vector("walks").any() and chain.spellings.vector("zzz") is None
    without = parse("letters")
    without.read(trained())
    assert without.spellings is None


def test_no_word_shares_an_n_gram():
    given = Trained(*np.ones((2, 2, 3), np.float32), ["ab", "cd"], np.array([2, 1]), spell=True)
    chain = parse("letters")
    assert np.isfinite(chain.read(given)).all() and chain.spellings.vector("ab") is None


def test_hashes_tell_grams_apart():
    words = [f"{a}{b}{c}" for a in "abcdefghij" for b in "klmnopqrst" for c in "0123456789"]
    hashes, owners = hashed_grams(words, 5, 5)
    assert len(np.unique(hashes)) == len(words) and owners.tolist() == list(range(len(words)))


@pytest.mark.parametrize("window", [1, 2, 50])
def test_contexts_are_those_of_a_loop(window):
    rng = np.random.default_rng(2)
    ids, offsets = rng.integers(0, 9, 200).astype(np.int32), np.array([0, 1, 60, 61, 200])
    keep, y = rng.random(10), rng.normal(size=(10, 3)).astype(np.float32)
    sums, weights = np.zeros((10, 3)), np.zeros(10)
    for first, last in itertools.pairwise(offsets):
        for place in range(first, last):
            for other in range(max(first, place - window), min(last, place + window + 1)):
                if other != place:
                    sums[ids[place]] += keep[ids[other]] * y[ids[other]]
                    weights[ids[place]] += keep[ids[other]]
    expected = sums / np.where(weights > 0, weights, 1)[:, None]
    np.testing.assert_allclose(context_means(ids, offsets, keep, y, window), expected, atol=1e-5)


def test_the_mean_of_a_word_that_is_everywhere_loses_nothing_to_rounding():
    n = 100_000 if DISABLE_JIT else 1_000_000  # of one sign; in float32 the mean would be off by .1 % and more
    y = np.array([[0.1, 0.1]], np.float32)
    found = context_means(np.zeros(n, np.int32), np.array([0, n]), np.ones(1), y, 1)
    np.testing.assert_allclose(found, y, rtol=1e-6)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("bth", "unknown read-out 'bth'; did you mean 'both'"),
        ("both+lettres", "unknown read-out 'lettres'; did you mean 'letters'"),
        ("both+in", "in makes its own vectors; leave out the parts before it"),
        ("both:whitning=1", "read-out both: no option 'whitning=1'; did you mean 'whitening'"),
        ("both:whitening", "read-out both: no option 'whitening'"),
        ("both:whitening=3", "read-out both: whitening must be at most 2, got 3"),
        ("both:whitening=much", "read-out both: whitening must be a number, not 'much'"),
        ("letters:minn=1.5", "read-out letters: minn must be a whole number"),
        ("in:x=1", "read-out in: no option 'x=1'; it has no options"),
        ("", "unknown read-out ''"),
    ],
)
def test_mistakes_are_told(text, message):
    with pytest.raises(ConfigError) as caught:
        parse(text)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("name", "source", "rectangular", "message"),
    [
        ("in+letters", "baskets", False, "letters is for words of a text"),
        ("both+paradigms", "baskets", False, "paradigms is for words of a text, not for items; leave it out"),
        ("both", "pairs", True, "both mixes two kinds of things"),
        ("context", "pairs", False, "needs a text or baskets, not pairs; use --readout both"),
    ],
)
def test_what_does_not_fit_is_refused(name, source, rectangular, message):
    with pytest.raises(ConfigError, match=message):
        parse(name).check(TRAVERSALS[source], rectangular)


def test_what_makes_no_row_for_each_word_is_named(monkeypatch):
    chain, x = parse("in"), np.ones((4, 3), np.float32)
    trained = Trained(x, x, list("abcd"), np.ones(4, np.int64))
    for made, said in ((x[:2], r"read-out in returns \(2, 3\)"), (None, "read-out in returns None")):
        monkeypatch.setattr(type(chain.parts[0]), "read", lambda self, trained, vectors, made=made: made)
        with pytest.raises(ConfigError, match=said):
            chain.read(trained)


TEXT = [["walk", "walked", "talk"], ["walked", "king", "queen", "king"], ["talk", "talked", "walk", "queen"]] * 30
SMALL = {"dim": 6, "epochs": 2, "min_count": 1, "workers": 1, "window": 2, "subsample": 0}


def test_text_has_both_by_default_and_other_runs_the_input_matrix():
    word2vec = Word2Vec(**SMALL)
    vectors = word2vec.fit(TEXT)
    assert word2vec.model.config.readout == "both"
    assert (vectors.matrix == word2vec.read_out("both").matrix).all()
    assert (word2vec.read_out("in").matrix == word2vec.model.vectors_in).all()
    signless = Word2Vec(absolute_softmax=True, **SMALL)
    with pytest.warns(UserWarning, match="their cosines mean nothing"):
        vectors = signless.fit(TEXT)
    assert (vectors.matrix == signless.model.vectors_in).all()


@pytest.mark.parametrize("readout", ["in", "both", "context", "context+letters"])
def test_a_model_folder_reads_out_as_the_run_did(tmp_path, readout):
    word2vec = Word2Vec(readout=readout, **SMALL)
    vectors = word2vec.fit(TEXT)
    word2vec.save(tmp_path / "model")
    assert (Vectors.load(tmp_path / "model").matrix == vectors.matrix).all()
    again = Word2Vec.load(tmp_path / "model")
    assert again.config.readout == readout
    assert (again.vectors.matrix == vectors.matrix).all()
    assert (tmp_path / "model" / "contexts.npy").exists() == ("context" in readout)


def test_contexts_are_asked_for_before_training(tmp_path):
    word2vec = Word2Vec(**SMALL)
    word2vec.fit(TEXT)
    word2vec.save(tmp_path / "model")
    with pytest.raises(ConfigError, match=r"read-out context needs sums over the data: .* use --readout both"):
        Vectors.load(tmp_path / "model", readout="context")


def test_contexts_are_of_the_state_that_is_kept(tmp_path):
    """A run that goes on drops those of the state before: killed, it leaves none rather than stale ones."""
    word2vec = Word2Vec(readout="context", **SMALL)
    word2vec.fit(TEXT)
    encoded = word2vec.encode(TEXT)
    trainer = word2vec.trainer(encoded, model=word2vec.model)
    seen = []
    trainer.config = trainer.model.config = dataclasses.replace(trainer.config, epochs=3)
    trainer.listeners.append(lambda event: seen.append(trainer.model.contexts))
    former = trainer.model.contexts
    trainer.train()
    assert seen and all(contexts is None for contexts in seen)
    assert trainer.model.contexts is not None and not (trainer.model.contexts == former).all()


def test_a_dry_run_does_not_look_at_contexts(monkeypatch):
    word2vec = Word2Vec(readout="context", **SMALL)
    monkeypatch.setattr("w2vneg.run.model.context_means", lambda *arguments: pytest.fail("went through the data"))
    found = estimate(word2vec.config, word2vec.encode(TEXT), seconds=0.0)
    assert found.memory["vectors, read out"] == 4 * found.n_vocab * found.dim


def test_a_folder_names_its_readout_as_text(tmp_path):
    word2vec = Word2Vec(**SMALL)
    word2vec.fit(TEXT)
    word2vec.save(tmp_path / "model")
    change_options(tmp_path / "model", readout=3)
    with pytest.raises(InputError, match=r"config\.json: readout must be text, not 3"):
        Vectors.load(tmp_path / "model")


def test_unknown_words_by_their_letters(tmp_path):
    word2vec = Word2Vec(readout="both+letters", **SMALL)
    word2vec.fit(TEXT)
    vectors = word2vec.read_out(oov="letters")
    assert "walks" not in vectors and vectors["walks"].shape == (6,)
    assert vectors[["walk", "walks"]].shape == (2, 6)
    assert -1 <= vectors.similarity("walks", "king") <= 1
    assert len(vectors.most_similar("walks", k=2)) == 2
    assert len(vectors.with_words(["walks", "walk", "zzz"])) == len(vectors) + 1
    with pytest.raises(UnknownNameError, match="no vector for the word 'zzz'"):
        vectors["zzz"]
    with pytest.raises(UnknownNameError):
        word2vec.vectors["walks"]
    vectors.save(tmp_path / "v.npz")
    again = Vectors.load(tmp_path / "v.npz", oov="letters")
    assert (again["walks"] == vectors["walks"]).all()
    assert Vectors.load(tmp_path / "v.npz").spellings is None
    with pytest.raises(ConfigError, match=r"needs? a read-out with letters"):
        word2vec.read_out("both", oov="letters")
    with pytest.raises(ConfigError, match="oov must be letters or None, not 'zero'"):
        Vectors.load(tmp_path / "v.npz", oov="zero")


@pytest.mark.parametrize("broken", ["grams", "gram_vectors", "gram_lengths"])
def test_damaged_spellings_are_told(tmp_path, broken):
    spellings = Spellings(np.array([1, 5], np.uint64), np.ones((2, 3), np.float32), 3, 6)
    Vectors(["a", "b"], np.ones((2, 3)), spellings=spellings).save(tmp_path / "v.npz")
    with np.load(tmp_path / "v.npz") as archive:
        arrays = dict(archive)
    arrays[broken] = arrays[broken][:1]
    np.savez(tmp_path / "v.npz", **arrays)
    with pytest.raises(InputError, match="its n-grams and their vectors do not match"):
        Vectors.load(tmp_path / "v.npz", oov="letters")


def test_the_best_state_is_read_out(tmp_path):
    word2vec = Word2Vec(readout="both", **SMALL)
    word2vec.fit(TEXT)
    model = word2vec.model
    other = Model.fresh(model.vocab, model.config)
    other.vectors_out[:] = 1
    from w2vneg.run.state import Best

    model.best = Best({}, matrices=other.matrices())
    given = Trained(other.vectors_in, other.vectors_out, model.vocab.words, model.vocab.counts)
    assert (word2vec.vectors.matrix == parse("both").read(given)).all()


def test_words_by_spelling_join_an_evaluation(tmp_path):
    pairs = [("walk", "walked", 9), ("walks", "walking", 8), ("king", "queen", 7), ("talks", "king", 1)]
    (tmp_path / "pairs.tsv").write_text("".join(f"{a}\t{b}\t{score}\n" for a, b, score in pairs))
    word2vec = Word2Vec(readout="both+letters", **SMALL)
    word2vec.fit(TEXT)
    found = word2vec.read_out(oov="letters").evaluate_similarity(tmp_path / "pairs.tsv")
    assert found.scored == 4


def test_the_command_line(tmp_path, monkeypatch, run_cli):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text.txt").write_text("".join(" ".join(line) + "\n" for line in TEXT))
    small = ["--dim=6", "--epochs=1", "--min-count=1", "--workers=1", "--quiet", "--save-model=model", "--subsample=0"]
    small[-1:-1] = "--output=vectors.txt", "--force"
    result = run_cli("train", "--corpus", "text.txt", "--readout", "context+letters", *small)
    assert result.code == 0, result.err
    assert (Vectors.load("vectors.txt").matrix == Vectors.load("model").matrix).all()
    assert run_cli("export", "model", "in.txt", "--readout", "in").code == 0
    assert (Vectors.load("in.txt").matrix == Model.load("model").vectors_in).all()
    assert run_cli("export", "model", "out.txt", "--readout", "out").code == 0
    assert run_cli("export", "model", "v.npz", "--oov", "letters").code == 0
    for place in ("model", "v.npz"):
        assert "walk" in run_cli("nearest", "walks", "--vectors", place, "--oov", "letters").out
        assert run_cli("nearest", "walks", "--vectors", place).code == 1
    why = run_cli("nearest", "walk", "--vectors", "model", "--readout", "both+paradigms:support=4", "--why")
    assert why.code == 0 and "  no kin: no rule of spelling joins it with another word" in why.out
    for place in ("model", "v.npz"):
        refused = run_cli("nearest", "walk", "--vectors", place, "--why")
        assert refused.code == 1 and "--readout both+paradigms" in refused.err
    result = run_cli("train", "--corpus", "text.txt", "--readout", "bth", *small)
    assert result.code == 1 and "unknown read-out 'bth'; did you mean 'both'" in result.err
    (tmp_path / "pairs.tsv").write_text("a\tb\nb\tc\n")
    result = run_cli("train", "--pairs", "pairs.tsv", "--readout", "in+letters", *small[:-1])
    assert result.code == 1 and "letters is for words of a text" in result.err


OWN = '''
from w2vneg.ground.option import option
from w2vneg.objectives.readout import READOUTS, Readout

@READOUTS.register("mixed")
class Mixed(Readout):
    """A share of each matrix."""

    class Options:
        share: float = option(0.5, "Share of the output matrix.", at_least=0, at_most=1)

    def read(self, trained, vectors):
        return (1 - self.options.share) * trained.vectors_in + self.options.share * trained.vectors_out
'''


def test_a_readout_from_outside(tmp_path, run_cli):
    path = tmp_path / "mixed.py"
    path.write_text(OWN)
    try:
        word2vec = Word2Vec(plugin=str(path), readout="mixed:share=0.25", **SMALL)
        vectors = word2vec.fit(TEXT)
        model = word2vec.model
        np.testing.assert_allclose(vectors.matrix, 0.75 * model.vectors_in + 0.25 * model.vectors_out, rtol=1e-6)
        told = run_cli("objectives", "mixed").out
        assert "mixed:share=: Share of the output matrix. [default: 0.5; at least 0, at most 1]" in " ".join(
            told.split()
        )
        word2vec.save(tmp_path / "model")
        assert (Vectors.load(tmp_path / "model").matrix == vectors.matrix).all()
    finally:
        READOUTS.unregister("mixed")
    assert Model.load(tmp_path / "model").config.readout == "mixed:share=0.25"  # runs nothing
    with pytest.raises(ConfigError, match="unknown read-out 'mixed'"):
        Vectors.load(tmp_path / "model")
    del sys.modules[_module_of(str(path))]  # as in another process
    refused = run_cli("nearest", "walk", "--vectors", tmp_path / "model")
    said = f"of the plug-in {path}, which is not loaded; use --readout in, or if you trust"
    assert refused.code == 1 and said in refused.err and f"'w2vneg --plugin {path} " in refused.err
    assert len(Vectors.load(tmp_path / "model", readout="in")) == len(vectors)
    path.write_text(OWN.replace("def read(", "def reed("))
    with pytest.raises(ConfigError, match=r"other\.py:\d+: .*Mixed does not use 'reed'; did you mean read"):
        (tmp_path / "other.py").write_text(path.read_text())
        load_plugins(str(tmp_path / "other.py"))


def test_letters_of_a_sparse_matrix_that_scipy_knows():
    """The products go through SciPy: what it is given is canonical."""
    _, f = gram_matrix(WORDS, 3, 6)
    assert sparse.issparse(f) and f.has_canonical_format and f.dtype == np.float32
    assert issubclass(Letters, READOUTS["letters"])
