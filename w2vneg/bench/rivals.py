"""The trainers we are measured against, each at its fastest documented setting, and the text file they read."""

import time
from pathlib import Path

import numpy as np

from ..errors import require


def write_sentences(encoded, path):
    """Write the kept tokens of an EncodedCorpus as text, one sentence a line: the same input for every trainer."""
    words = np.array(encoded.vocab.words, dtype=object)
    with open(path, "w", encoding="utf-8") as stream:
        for start, end in zip(encoded.offsets[:-1], encoded.offsets[1:], strict=True):
            stream.write(" ".join(words[encoded.ids[start:end]]) + "\n")
    return Path(path)


def train_gensim(path, alpha, seed, options):
    """Train gensim's skip-gram with negative sampling in `corpus_file` mode, its fastest.

    Returns
    -------
    (gensim's Word2Vec, seconds of `train`)
        Building the vocabulary is not counted: ours comes encoded as well.
    """
    word2vec = require("gensim.models.word2vec", "bench", "measuring gensim")
    model = word2vec.Word2Vec(
        vector_size=options["dim"],
        window=options["window"],
        sg=1,
        negative=options.get("negatives") or 5,
        ns_exponent=options.get("noise_exponent", 0.75),
        shrink_windows=options.get("dynamic_window", True),
        sample=options.get("subsample", 1e-4),
        alpha=alpha,
        min_alpha=alpha / 10000,
        seed=seed,
        workers=options["workers"],
        min_count=1,
    )
    model.build_vocab(corpus_file=str(path))
    begun = time.perf_counter()
    model.train(
        corpus_file=str(path),
        total_words=model.corpus_total_words,
        total_examples=model.corpus_count,
        epochs=options["epochs"],
    )
    return model, time.perf_counter() - begun


def train_fasttext(path, alpha, options):
    """Train fastText's skip-gram without n-grams (maxn = 0); its own reading of the file is part of the time.

    Returns
    -------
    (model, seconds)
    """
    fasttext = require("fasttext", "bench", "measuring fastText")
    begun = time.perf_counter()
    model = fasttext.train_unsupervised(
        str(path),
        model="skipgram",
        dim=options["dim"],
        ws=options["window"],
        epoch=options["epochs"],
        minCount=1,
        neg=options.get("negatives") or 5,
        t=options.get("subsample", 1e-4),
        lr=alpha,
        maxn=0,
        minn=0,
        thread=options["workers"],
        verbose=0,
    )
    return model, time.perf_counter() - begun
