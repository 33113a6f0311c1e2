"""fastText's .bin: written and read back, by us, by fastText and by gensim; damaged files are refused."""

import gzip
import struct

import numpy as np
import pytest
from planted import two_topics

from w2vneg import Vectors, Word2Vec
from w2vneg.data.encoded import encode_corpus
from w2vneg.ground.errors import ConfigError, FileNote, InputError, UnknownNameError
from w2vneg.run.prior import WarmStart
from w2vneg.vectors.evaluation import scores_of
from w2vneg.vectors.formats import detect, fasttext

SMALL = {"loss": "ns", "dim": 8, "window": 3, "epochs": 1, "min_count": 1, "workers": 1, "subsample": 0}


@pytest.fixture(scope="module")
def models():
    corpus = encode_corpus(two_topics(200), min_count=1)
    made = {}
    for name in ("subwords", "row"):
        made[name] = Word2Vec(**SMALL, inputs=name, **({"buckets": 500} if name == "subwords" else {}))
        made[name].fit(corpus)
    return made


@pytest.fixture
def written(models, tmp_path):
    path = tmp_path / "model.bin"
    fasttext.write(path, models["subwords"].model)
    return path


def test_what_was_written_is_read_back_with_vectors_of_any_spelling(models, written):
    model = models["subwords"].model
    assert detect(written) == "fasttext"
    vectors = Vectors.load(written, oov="letters")
    assert list(vectors.words) == list(model.vocab.words)
    np.testing.assert_array_equal(vectors.counts, model.vocab.counts)
    np.testing.assert_allclose(vectors.matrix, model.vectors_in, rtol=1e-5, atol=1e-7)
    assert vectors["a1b"].shape == (8,) and vectors["a1b"].any()
    with pytest.raises(UnknownNameError):
        Vectors.load(written)["a1b"]


def test_npz_has_no_n_grams(written, tmp_path):
    command = "use the .bin that was read, or write one of a model: w2vneg export MODEL model.bin --format fasttext$"
    with pytest.raises(ConfigError, match=command):
        Vectors.load(written, oov="letters").save(tmp_path / "model.npz")


def test_a_name_that_ends_in_gz_is_written_packed(models, written, tmp_path):
    fasttext.write(tmp_path / "packed.bin.gz", models["subwords"].model)
    assert gzip.decompress((tmp_path / "packed.bin.gz").read_bytes()) == written.read_bytes()
    np.testing.assert_array_equal(Vectors.load(tmp_path / "packed.bin.gz").matrix, Vectors.load(written).matrix)


def test_the_end_of_a_line_has_no_n_grams_where_fasttext_reads_it(tmp_path):
    """Where a text has the word itself, ours has n-grams; the file has all of its vector in its own row."""
    made = Word2Vec(**SMALL, inputs="subwords", buckets=500)
    made.fit(encode_corpus([["a", "b", "c", "</s>"]] * 50, min_count=1))
    fasttext.write(tmp_path / "model.bin", made.model)
    found = Vectors.load(tmp_path / "model.bin")
    for word in ("a", "</s>"):
        row = made.model.vectors_in[made.model.vocab.id(word)]
        np.testing.assert_allclose(found[word], row, rtol=1e-5, atol=1e-7)


def test_a_model_without_n_grams(models, tmp_path):
    path = tmp_path / "row.bin"
    fasttext.write(path, models["row"].model)
    np.testing.assert_array_equal(Vectors.load(path).matrix, models["row"].model.vectors_in)
    with pytest.raises(ConfigError, match="has no n-grams"):
        Vectors.load(path, oov="letters")


def test_fasttext_reads_it(models, written):
    found = pytest.importorskip("fasttext").load_model(str(written))
    model = models["subwords"].model
    assert found.get_words() == list(model.vocab.words)
    for word, row in zip(model.vocab.words, model.vectors_in, strict=True):
        np.testing.assert_allclose(found.get_word_vector(word), row, rtol=1e-4, atol=1e-6)
    unseen = Vectors.load(written, oov="letters")["a1bœ"]
    np.testing.assert_allclose(found.get_word_vector("a1bœ"), unseen, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(found.get_output_matrix(), model.vectors_out)


def test_gensim_reads_it(models, written):
    found = pytest.importorskip("gensim.models.fasttext").load_facebook_vectors(str(written))
    model = models["subwords"].model
    for word, row in zip(model.vocab.words, model.vectors_in, strict=True):
        np.testing.assert_allclose(found[word], row, rtol=1e-4, atol=1e-6)


def test_what_fasttext_writes_is_read(tmp_path):
    package = pytest.importorskip("fasttext")
    text = tmp_path / "text.txt"
    text.write_text("\n".join(" ".join(line) for line in two_topics(100)), encoding="utf-8")
    options = {"dim": 6, "minCount": 1, "epoch": 1, "bucket": 300, "thread": 1, "verbose": 0}
    model = package.train_unsupervised(str(text), **options)
    model.save_model(str(tmp_path / "theirs.bin"))
    vectors = Vectors.load(tmp_path / "theirs.bin", oov="letters")
    assert list(vectors.words) == model.get_words()
    for word in [*model.words, "quite new"]:
        np.testing.assert_allclose(vectors[word], model.get_word_vector(word), rtol=1e-4, atol=1e-6)


def test_damaged_files_and_other_models_are_refused(written, tmp_path):
    data, path = written.read_bytes(), tmp_path / "damaged.bin"
    changes = {
        "ends too early": data[:40],
        "version 9": data[:4] + struct.pack("<i", 9) + data[8:],
        "promises more": data[:8] + struct.pack("<i", 2**30) + data[12:],
        "classifier": data[:36] + struct.pack("<i", 3) + data[40:],
        "ends within its words|promises more": data[:120],
        "expected 540 rows|promises more": data[:-3000],
    }
    for message, changed in changes.items():
        path.write_bytes(changed)
        with pytest.raises(InputError, match=message):
            Vectors.load(path)


def with_label(data, model, label=b"__label__a", kind=1, last=True):
    """Return the bytes of a model with one entry more, a label, last or first."""
    words = model.vocab.words
    n, _, _, tokens, pruned = fasttext._COUNTS.unpack(data[64:92])
    entries = 92 + len(words.data) + 9 * len(words)
    place = entries if last else 92
    counts = fasttext._COUNTS.pack(n + 1, n, 1, tokens + 3, pruned)
    return data[:64] + counts + data[92:place] + label + b"\0" + struct.pack("<qb", 3, kind) + data[place:]


def test_labels_of_vectors_are_left_out(models, written, tmp_path):
    """A word of the text that begins like a label is one to fastText; the rows of n-grams begin behind the words'."""
    whole, data, path = Vectors.load(written, oov="letters"), written.read_bytes(), tmp_path / "labels.bin"
    path.write_bytes(with_label(data, models["subwords"].model))
    with pytest.warns(FileNote, match="fastText labels, .* left out: 1, such as '__label__a'"):
        vectors = Vectors.load(path, oov="letters")
    assert vectors.words == whole.words and vectors.matrix.tobytes() == whole.matrix.tobytes()
    np.testing.assert_array_equal(vectors["a1b"], whole["a1b"])
    with pytest.warns(FileNote, match="fastText labels"):
        WarmStart.of(path)
    for wrong in ({"kind": 0}, {"last": False}):
        path.write_bytes(with_label(data, models["subwords"].model, **wrong))
        with pytest.raises(InputError, match="is invalid or has no count"):
            Vectors.load(path)


def test_headers_that_promise_too_much_are_refused_before_memory_is_taken(written):
    data, most = written.read_bytes(), 2**31 - 1
    for counts in ((most, 40, most - 40, 1, -1), (most, most, 0, 1, -1), (-1, -1, 0, 1, -1), (40, 41, -1, 1, -1)):
        written.write_bytes(data[:64] + fasttext._COUNTS.pack(*counts) + data[92:])
        with pytest.raises(InputError, match=r"promises more than|is inconsistent"):
            Vectors.load(written)


def test_the_command(models, tmp_path, run_cli):
    models["subwords"].save(tmp_path / "model")
    out = tmp_path / "out.bin"
    result = run_cli("export", tmp_path / "model", out, "--format", "fasttext")
    assert result.code == 0 and "40 words, 8 dimensions, fasttext" in result.err
    assert detect(out) == "fasttext"
    result = run_cli("export", out, tmp_path / "again.bin", "--format", "fasttext")
    assert result.code == 1 and "needs a model folder" in result.err
    result = run_cli("export", out, tmp_path / "vectors.txt")
    assert result.code == 0 and (tmp_path / "vectors.txt").read_text().startswith("40 8\n")


def fasttexts_tree(counts):
    """Return the path of each word, (row, side) from the leaf up, as fastText's source builds its tree."""
    n = len(counts)
    nodes = [[int(count), -1, False] for count in counts] + [[10**15, -1, False] for _ in range(n - 1)]
    leaf, node = n - 1, n
    for made in range(n, 2 * n - 1):
        both = []
        for _ in range(2):
            if leaf >= 0 and nodes[leaf][0] < nodes[node][0]:
                both.append(leaf)
                leaf -= 1
            else:
                both.append(node)
                node += 1
        nodes[made][0] = nodes[both[0]][0] + nodes[both[1]][0]
        nodes[both[0]][1] = nodes[both[1]][1] = made
        nodes[both[1]][2] = True
    paths = []
    for place in range(n):
        path = []
        while nodes[place][1] >= 0:
            path.append((nodes[place][1] - n, nodes[place][2]))
            place = nodes[place][1]
        paths.append(path)
    return paths


def test_nodes_of_hierarchical_softmax_are_where_fasttext_looks_for_them(tmp_path):
    word2vec = Word2Vec(**SMALL | {"loss": "hierarchical", "alpha": 0.2})
    word2vec.fit(encode_corpus(two_topics(100), min_count=1))
    model, path = word2vec.model, tmp_path / "hs.bin"
    fasttext.write(path, model)
    assert struct.unpack_from("<9i", path.read_bytes(), 0)[8] == 1  # its loss: hs
    rows = np.frombuffer(path.read_bytes()[-model.vectors_out.nbytes :], "<f4").reshape(model.vectors_out.shape)
    expected = scores_of(model)(np.array([3]))[0]
    for word, steps in enumerate(fasttexts_tree(model.vocab.counts)):
        logits = [float(model.vectors_in[3] @ rows[row]) * (1 if right else -1) for row, right in steps]
        assert -np.logaddexp(0, -np.array(logits)).sum() == pytest.approx(expected[word], rel=1e-4)


def test_a_model_folder_has_vectors_of_any_spelling(models, written, tmp_path, run_cli):
    word2vec = models["subwords"]
    word2vec.save(tmp_path / "model")
    vectors = Vectors.load(tmp_path / "model", readout="in", oov="letters")
    from_bin, live = Vectors.load(written, oov="letters"), word2vec.read_out("in", oov="letters")
    for word in ("a1b", "a", "b17a2"):
        assert np.array_equal(vectors[word], from_bin[word]) and np.array_equal(vectors[word], live[word])
    zeros = (word for word in map(chr, range(0x3040, 0x30A0)) if not from_bin.spellings.vector(word).any())
    untrained = next(zeros)  # its one n-gram
    for one in (vectors, from_bin, live):
        with pytest.raises(UnknownNameError):
            one[untrained]
    for readout in (None, "out", "both"):
        with pytest.raises(ConfigError, match="subwords and readout='in'"):
            Vectors.load(tmp_path / "model", readout=readout, oov="letters")
    result = run_cli("nearest", "a1b", "--vectors", tmp_path / "model", "--readout", "in", "--oov", "letters")
    assert result.code == 0 and result.out.startswith("a1b\n")
    with pytest.raises(ConfigError, match=r"but no n-grams, unlike fastText's \.bin"):
        vectors.save(tmp_path / "vectors.npz")


def test_n_grams_of_another_vocabulary_are_refused(models, tmp_path):
    models["subwords"].save(tmp_path / "model")
    rows = np.load(tmp_path / "model" / "grams_in.npy")
    np.save(tmp_path / "model" / "grams_in.npy", rows[1:])
    with pytest.raises(InputError, match=r"grams_in.npy: .* rows do not match vocab.tsv's n-grams"):
        Vectors.load(tmp_path / "model", readout="in", oov="letters")
