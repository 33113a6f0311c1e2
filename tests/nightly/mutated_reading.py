"""How each kind of file is read, and what must hold of what was read: AssertionError if it does not."""

import hashlib
import io
import json
from collections import Counter
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import numpy as np
from mutated_examples import COMMON, MATRIX, SIMILARITY, VECTORS, VOCAB, encoded_pairs, with_cache
from reading import encode_baskets, encode_cooccurrence, encode_pairs, encode_ratings

from w2vneg import Vectors, Vocabulary, Word2Vec
from w2vneg.cli import main
from w2vneg.cli.options import read_config
from w2vneg.config import TrainConfig
from w2vneg.data.catalog import download
from w2vneg.data.catalog.places import Dataset, Form, read_manifest
from w2vneg.data.encoded import encode_corpus, read_pairs_file
from w2vneg.data.encoded.matrices import read_names
from w2vneg.data.inputs import Input
from w2vneg.data.readers.tables import read_titles
from w2vneg.data.splitfiles import known_beside
from w2vneg.ground.errors import W2vnegError
from w2vneg.run.conductor import Run
from w2vneg.run.model import Model
from w2vneg.run.prior import Prior, input_of_model
from w2vneg.run.search.trials import TrialFolder
from w2vneg.run.validation import Metric
from w2vneg.vectors import formats
from w2vneg.vectors.evaluation import LogitScores, evaluate_analogy, evaluate_ranking, evaluate_similarity

PAIRS = encoded_pairs()


def check_vocabulary(vocab):
    assert len(vocab) == len(vocab.counts) == len(set(vocab.words))
    assert (np.diff(vocab.counts) <= 0).all() and (vocab.counts >= 0).all()
    assert all(word.split() == [word] for word in vocab.words)


def check_corpus(corpus):
    ids, offsets = np.asarray(corpus.ids), np.asarray(corpus.offsets)
    check_vocabulary(corpus.vocab)
    assert offsets[0] == 0 and offsets[-1] == len(ids) > 0 and (np.diff(offsets) > 0).all()
    assert ids.min() >= 0 and ids.max() < len(corpus.vocab)
    if corpus.source == "text":
        assert np.array_equal(np.bincount(ids, minlength=len(corpus.vocab)), corpus.vocab.counts)
        assert corpus.report.kept_tokens == len(ids)
    assert corpus.report.line()


def check_pairs(pairs):
    matrix = pairs.matrix
    matrix.check_format(full_check=True)
    assert matrix.shape == (len(pairs.vocab), len(pairs.vocab_out)) and matrix.nnz > 0
    assert np.isfinite(matrix.data).all() and (matrix.data > 0).all()
    assert matrix.has_canonical_format and pairs.report.line()
    check_vocabulary(pairs.vocab)


def check_vectors(vectors):
    words, matrix = vectors.words, vectors.matrix
    assert matrix.dtype == np.float32 and matrix.shape == (len(words), vectors.dim) and matrix.size
    assert np.isfinite(matrix).all() and len(set(words)) == len(words)
    assert vectors.counts is None or (vectors.counts.shape == (len(words),) and vectors.counts.min() >= 0)


def check_figures(result, names):
    for name in names:
        value = getattr(result, name)
        assert np.isfinite(value) and -1 <= value <= 1, (name, value)
    json.dumps(result.as_dict(), allow_nan=False)


def read_text(path):
    corpus = encode_corpus(path, min_count=1, use_cache=False)
    check_corpus(corpus)
    if path.endswith(".txt"):
        try:
            tokens = Counter(Path(path).read_text("utf-8-sig").split())
        except UnicodeDecodeError:  # it has become a packed one
            return
        assert dict(zip(corpus.vocab.words, corpus.vocab.counts.tolist(), strict=True)) == tokens


def read_text_lowercase(path):
    check_corpus(encode_corpus(path, min_count=1, max_vocab=6, lowercase=True, use_cache=False))


def read_baskets(path):
    check_corpus(encode_baskets(path, delimiter="comma"))


def read_ratings(path):
    check_corpus(encode_ratings(path, min_rating=2, time_col=4, max_history=3))


def read_pairs(path):
    check_pairs(encode_pairs(path, rectangular=path.endswith("r.csv")))


def read_cooccurrence(path):
    check_pairs(encode_cooccurrence(path, rectangular=path.endswith("r.npz")))


def read_item_names(path):
    words = read_names(path)
    assert words and len(set(words)) == len(words) and all(word.split() == [word] for word in words)


def read_vectors(path):
    vectors = Vectors.load(path)
    check_vectors(vectors)
    if formats.detect(path) == "word2vec":
        lines = [line.rstrip() for line in Path(path).read_bytes().split(b"\n") if line.strip()]
        lines = lines[len(lines) - len(vectors) :]
        rows = [line.decode("latin-1").split()[-vectors.dim :] for line in lines]  # a word may have blanks
        assert np.array_equal(np.array([list(map(float, row)) for row in rows], np.float32), vectors.matrix)


def read_vocabulary(path):
    vocab = Vocabulary.load(path)
    check_vocabulary(vocab)
    assert len(vocab.digest()) == 64


def read_similarity(path):
    result = evaluate_similarity(VECTORS, path)
    check_figures(result, ("spearman", "pearson"))
    assert 3 <= result.scored <= result.total


def read_analogies(path):
    result = evaluate_analogy(VECTORS, path)
    assert 1 <= result.overall.scored <= result.overall.total
    assert all(0 <= share <= 1 for share in result.overall.precision.values())


def read_held_out(path):
    held = read_pairs_file(path, VOCAB, VOCAB)
    assert len(held) == len(held.targets) == len(held.weights) > 0
    for ids in (held.centres, held.targets):
        assert ids.min() >= 0 and ids.max() < len(VOCAB)
    assert np.isfinite(held.weights).all() and held.weights.min() > 0
    pairs = held.centres, held.targets, held.weights
    result = evaluate_ranking(LogitScores(MATRIX, MATRIX), pairs, len(VOCAB), ks=(1, 3), samples=0, bootstrap=0)
    check_figures(result, ("mpr", "likelihood"))


def read_options(path):
    config = read_config(path, {})
    assert np.isfinite(config.dim + (config.epochs or 0) + (config.alpha or 0))
    json.dumps(config.as_dict(), allow_nan=False)


def read_titles_table(path):
    found = read_titles(path)
    assert all(isinstance(word, str) and isinstance(title, str) and title for word, title in found.items())


def read_split(path):
    known = known_beside(Path(path).with_name("test.tsv"))
    assert known is None or isinstance(known, Path)


def read_data_manifest(path):
    for name, dataset in read_manifest(path).items():
        assert isinstance(dataset, Dataset) and dataset.name == name and (dataset.made_here or dataset.size)


def read_archive(path):
    """Take out the one file that is known, as after a download; nothing else ever arrives."""
    content, place = SIMILARITY.encode(), Path(path).with_name("s.csv")
    with open(path, "rb") as archive:
        try:
            download._take_out(
                archive, "sets/s.csv", Form("s.csv", len(content), hashlib.sha256(content).hexdigest()), place, path
            )
        finally:
            kept = {entry.name for entry in place.parent.iterdir()} - {Path(path).name}
            assert kept <= {"s.csv"} and (not kept or place.read_bytes() == content)


def read_search(path):
    metric = Metric.parse("mpr")
    folder = TrialFolder(Path(path).parent, COMMON, TrainConfig(), metric)
    rows, _ = folder.write_tables(1)
    json.dumps([row.value for row in rows], allow_nan=False)


def read_model(path):
    folder = Path(path).parent
    model = Model.load(folder)
    others = [one.matrices for one in (model.best, model.good) if one is not None and one.matrices]
    for name, matrix in model.matrices().items():
        assert matrix.dtype == np.float32 and matrix.ndim == 2 and np.isfinite(matrix).all()
        assert all(other[name].shape == matrix.shape for other in others)
    assert model.vectors_in.shape == (len(model.vocab), model.config.dim)
    assert model.vectors_out.shape == (len(model.vocab_out), model.config.dim)
    assert all(mask.dtype == bool and len(mask) == len(model.matrices()[name]) for name, mask in model.frozen.items())
    assert all(len(f"{phrase.first} {phrase.second}".split()) == 2 for phrase in model.phrases)
    check_vocabulary(model.vocab)
    assert 0 < model.position.alpha_factor <= 1
    json.dumps(model.history)  # a lost number is NaN
    json.dumps([vars(model.position), model.config.as_dict()], allow_nan=False)
    assert isinstance(input_of_model(model, str(folder)), Input)


def read_vectors_of_model(path):
    for matrix in ("in", "out", "sum"):
        check_vectors(Vectors.load(Path(path).parent, readout=matrix))


def read_to_resume(path):
    """Go as far as a run that is resumed goes before it trains."""
    folder = Path(path).parent
    model = Model.load(folder)
    Run(model.config_to_run(folder), None, Prior.resume(model, str(folder)))
    word2vec = Word2Vec(model.config)
    trainer = word2vec.trainer(PAIRS, model=model)
    assert trainer.model.position.round <= trainer.engine.n_rounds and trainer.engine.block >= 100


def read_through_cache(cache, text):
    """Encode a text whose cache is damaged: what comes out must be what comes without one."""
    encoded = with_cache(cache, lambda: encode_corpus(str(text), min_count=1))
    right = encode_corpus(str(text), min_count=1, use_cache=False)
    check_corpus(encoded)
    assert encoded.vocab == right.vocab
    assert np.array_equal(encoded.ids, right.ids) and np.array_equal(encoded.offsets, right.offsets)


def run_command(*arguments):
    """Run the command line; a refusal is raised again, as a W2vnegError."""
    out, err = io.StringIO(), io.StringIO()
    code = None
    try:
        with redirect_stdout(out), redirect_stderr(err):
            main([str(argument) for argument in arguments])
    except SystemExit as ended:
        code = ended.code or 0
    assert code in (0, 1, 2), (code, err.getvalue())  # 2: what a doubt asks
    assert "Traceback" not in err.getvalue() and err.getvalue().count("Error: ") == bool(code)
    if code:
        assert not out.getvalue()
        raise W2vnegError(err.getvalue().rpartition("Error: ")[2])
