"""Small right examples of everything that can be read: files as bytes, and folders that their own writers make."""

import io
import json
import os
import tarfile
import tempfile
import time
import zipfile
from pathlib import Path

import numpy as np
import scipy.sparse
from reading import encode_pairs

from w2vneg import Vectors, Vocabulary, Word2Vec
from w2vneg.config import TrainConfig
from w2vneg.data.encoded import encode_corpus
from w2vneg.data.phrases import Phrase
from w2vneg.ground.events import EpochDone, Interrupted
from w2vneg.ground.registry import RunContext
from w2vneg.run.model import Model
from w2vneg.run.search.trials import Trial, TrialFolder
from w2vneg.run.state import Best, LastGoodState, Progress
from w2vneg.run.validation import Metric
from w2vneg.vectors import formats
from w2vneg.vectors.formats import fasttext

WORDS = ["the", "of", "king", "queen", "zwölf", "man", "woman", "a_b", "x"]
COUNTS = np.array([90, 50, 12, 12, 9, 7, 7, 2, 1])
VOCAB = Vocabulary(WORDS, COUNTS)
MATRIX = np.random.default_rng(5).normal(size=(9, 4)).astype(np.float32)
VECTORS = Vectors(WORDS, MATRIX, COUNTS)

TEXT = "the king of the queen\nthe man of zwölf the woman\n\nof the king X x a_b\n" * 3
BASKETS = "the,of,king\nqueen, a b ,man\nof,king,the\n" * 3
RATINGS = "user\titem\trating\ttime\n" + "".join(f"u{i % 4}\ti{i % 5}\t{1 + i % 5}\t{880000 + i}\n" for i in range(24))
DATES = "".join(f"u{i % 4},i{i % 5},{1 + i % 5},2011-03-{1 + i:02d} 08:26:00\n" for i in range(24))
PAIRS = "item,target,weight\n" + "".join(f"{WORDS[i % 7]},{WORDS[(i + 2) % 9]},{1 + i % 4}\n" for i in range(20))
HELD = PAIRS.replace(",", "\t")
NAMES = "one\ntwo words\ndrei\n"
SIMILARITY = "word 1,word 2,score\n" + "".join(f"{WORDS[i]},{WORDS[i + 1]},{i * 1.5}\n" for i in range(8))
SIMLEX = "word1\tword2\tPOS\tSimLex999\n" + "".join(f"{WORDS[i]}\t{WORDS[i + 1]}\tN\t{i * 1.5}\n" for i in range(8))
ANALOGIES = ": family\nman king woman queen\nking man queen woman\n: gram1\nthe of king queen\n"
OPTIONS = 'loss = "relaxed"\ntemp = 0.5\ndim = 20\nalpha = 0.05\nlowercase = true\ndegeneracy = "popularity"\n'
TITLES = "id,title\n" + "".join(f'{word},"Thing, no. {i} (1999)"\n' for i, word in enumerate(WORDS))
DATA_MANIFEST = """[toy]
kind = "similarity"
title = "A toy"
licence = "none"
citation = "nobody"
file = "toy.txt"
size = 120
sha256 = "00ff"
mirror = "similarity/toy.txt"
tags = false
"""
SPLIT_MANIFEST = {
    "made_by": "w2vneg split",
    "format": 1,
    "options": {"by": "pair"},
    "parts": {name: {"file": f"{name}.tsv", "pairs": 3} for name in ("train", "valid", "test")},
}
SPARSE = scipy.sparse.random(6, 6, 0.5, format="csr", random_state=3)
COMMON = {"data": [1, 2], "validation": {"metric": "mpr"}, "options": {"dim": 5}}  # of a search's trials
TRIALS = [
    Trial({"alpha": alpha, "temp": "inf"}, seed, {"mpr": alpha, "nll": 2.0}, 1.5, 3.0)
    for alpha in (0.1, 0.2)
    for seed in (1, 2)
]
TRIALS += [Trial({"alpha": 3.0}, 1, {}, None, 0.5, "diverged")]


def vectors_bytes(format):
    """Return the bytes of VECTORS in a format."""
    with tempfile.TemporaryDirectory() as folder:
        formats.save(Path(folder, "v"), Vectors(WORDS, MATRIX, COUNTS), format=format)
        return Path(folder, "v").read_bytes()


def fasttext_bytes():
    """Return the bytes of a small model with n-grams, as fastText has it."""
    config = TrainConfig(loss="ns", inputs="subwords", buckets=11, dim=3).resolved()
    model = Model.fresh(Vocabulary(["the", "then", "of"], [9, 5, 2]), config)
    plug = config.make("inputs", RunContext(model.vocab.counts, config.dim, words=model.vocab.words))
    model.extra = {name: getattr(plug, name) for name in plug.parameters}
    with tempfile.TemporaryDirectory() as folder:
        fasttext.write(Path(folder, "v"), model)
        return Path(folder, "v").read_bytes()


def sparse_bytes(matrix):
    stream = io.BytesIO()
    scipy.sparse.save_npz(stream, matrix)
    return stream.getvalue()


def parquet_bytes():
    import pyarrow as pa
    import pyarrow.parquet

    items, targets, weights = zip(*(line.split(",") for line in PAIRS.splitlines()[1:]), strict=True)
    columns = {"item": pa.array(items).dictionary_encode(), "target": targets, "weight": [float(w) for w in weights]}
    stream = io.BytesIO()
    pa.parquet.write_table(pa.table(columns), stream, row_group_size=8)
    return stream.getvalue()


def archive_bytes(kind):
    """Return a zip or a tar.gz that holds SIMILARITY as sets/s.csv."""
    stream, content = io.BytesIO(), SIMILARITY.encode()
    if kind == "zip":
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("sets/s.csv", content)
    else:
        with tarfile.open(fileobj=stream, mode="w:gz") as archive:
            member = tarfile.TarInfo("sets/s.csv")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return stream.getvalue()


def encoded_pairs():
    """Return PAIRS as EncodedPairs."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "p.csv").write_text(PAIRS)
        return encode_pairs(str(Path(folder, "p.csv")))


def save_model(folder):
    """Put a model with all that a folder may hold there."""
    config = Word2Vec(loss="cis", dim=4, workers=1).config.resolved()
    model = Model(VOCAB, config, MATRIX.copy(), MATRIX + 1, Progress(1, 2, 0.5, 3.25, 100))
    model.extra = {"learned": np.arange(9, dtype=np.float32)[:, None]}
    model.frozen = {"vectors_in": np.arange(len(MATRIX)) % 2 == 0}
    model.phrases = Phrase("new", "york", 12.5, 7), Phrase("new_york", "times", 3.0, 2, 2)
    model.history = [EpochDone(1, 2, 9, 9, 2.5, 2.8, 0.02, 0.5).as_dict(), Interrupted(1, 0.5).as_dict()]
    model.origin.input = {"kind": "pairs", "files": ["pairs.csv"], "header": True, "item_col": 1}
    settings = {"metric": "mpr", "patience": 2, "every": 0.5, "held": 7, "known": None, "files": {"valid": "v.tsv"}}
    figures = {"mpr": 0.75, "nll": 3.0}
    model.best = Best(settings, 0.5, figures, 1.0, figures, 1, False, {n: m + 2 for n, m in model.matrices().items()})
    model.good = LastGoodState(Progress(1, 1, 1.0, 1.5, 50), {n: m - 1 for n, m in model.matrices().items()})
    model.save(folder)


def save_begun(folder):
    """Put a run that has gone a little way there."""
    model = Word2Vec(loss="relaxed", dim=4, workers=1, epochs=9).trainer(encoded_pairs()).model
    model.origin.input = {"kind": "pairs", "files": ["pairs.csv"], "header": True, "item_col": 1}
    model.position = Progress(2, 1, 0.5, 3.25, 100)
    model.save(folder)


def save_search(folder):
    former = TrialFolder(folder, COMMON, TrainConfig(), Metric.parse("mpr"))
    for trial in TRIALS:
        former.add(trial)
    (folder / "search.json").write_text(json.dumps(COMMON))


def save_cache(folder, text):
    """Write TEXT to the file `text` and encode it into a cache in `folder`."""
    text.write_text(TEXT)
    os.utime(text, (time.time() - 60,) * 2)  # what has only just changed is not remembered
    with_cache(folder, lambda: encode_corpus(str(text), min_count=1))


def with_cache(folder, call):
    """Return what `call` does while `folder` is the cache."""
    former = os.environ.get("W2VNEG_CACHE")
    os.environ["W2VNEG_CACHE"] = str(folder)
    try:
        return call()
    finally:
        if former is None:
            del os.environ["W2VNEG_CACHE"]
        else:
            os.environ["W2VNEG_CACHE"] = former
