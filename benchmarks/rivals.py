"""The trainers we compare with, each at its fastest documented setting, and the text file they read."""

import time
from itertools import islice
from pathlib import Path

import numpy as np

from w2vneg.ground.errors import require


class Seconds(float):
    """Seconds of wall time, with those of all threads as `cpu`."""

    cpu = 0.0

    @classmethod
    def since(cls, begun):
        """Return the seconds since `begun`, which `now` returned."""
        seconds = cls(time.perf_counter() - begun[0])
        seconds.cpu = time.process_time() - begun[1]
        return seconds


def now():
    """Return (wall time, CPU time of all threads)."""
    return time.perf_counter(), time.process_time()


def write_sentences(encoded, path, limit=None):
    """Write the kept tokens of an EncodedCorpus as text, one sentence per line: the same input for every trainer.

    limit : int, optional, maximum number of sentences
    """
    words = np.array(encoded.vocab.words, dtype=object)
    with open(path, "w", encoding="utf-8") as stream:
        for start, end in islice(zip(encoded.offsets[:-1], encoded.offsets[1:], strict=True), limit):
            stream.write(" ".join(words[encoded.ids[start:end]]) + "\n")
    return Path(path)


_MODULES = {  # rival -> (module, name in messages)
    "gensim": ("gensim.models.word2vec", "gensim"),
    "fasttext": ("fasttext", "fastText"),
    "itembed": ("itembed", "itembed"),
}


def require_rival(name):
    """Return the module of a rival; MissingExtraError if it is not installed."""
    module, called = _MODULES[name]
    return require(module, "bench", f"measuring {called}")


def train_gensim(path, alpha, seed, options, part=None):
    """Train gensim's skip-gram, CBOW or FastText with negative sampling in `corpus_file` mode, its fastest.

    Parameters
    ----------
    path : Path, of a text written by `write_sentences`
    alpha : float; seed : int
    options : dict
        dim, window, epochs, workers; negatives, noise_exponent, dynamic_window, subsample if not the defaults;
        cbow, subwords, hs : bool, False if missing; hs is hierarchical softmax instead of negative sampling.
    part : EncodedCorpus, optional
        Source of the text, if it is part of a corpus: the model then has the whole vocabulary, and the seconds of
        training on the first sentence are subtracted. gensim prepares its vocabulary for each training, which would
        weigh far more for a part than for the whole.

    Returns
    -------
    (gensim's Word2Vec, seconds of `train`)
        Building the vocabulary is not counted: our corpus is already encoded, too.
    """
    word2vec = require_rival("gensim")
    made = word2vec.Word2Vec
    if options.get("subwords"):
        made = require("gensim.models.fasttext", "bench", "measuring gensim").FastText
    model = made(
        vector_size=options["dim"],
        window=options["window"],
        sg=0 if options.get("cbow") else 1,
        hs=int(options.get("hs", False)),
        negative=0 if options.get("hs") else options.get("negatives") or 5,
        ns_exponent=options.get("noise_exponent", 0.75),
        shrink_windows=options.get("dynamic_window", True),
        sample=options.get("subsample", 1e-4),
        alpha=alpha,
        min_alpha=alpha / 10000,
        seed=seed,
        workers=options["workers"],
        min_count=1,
    )
    if part is None:
        model.build_vocab(corpus_file=str(path))
        return model, _seconds_of_gensim(model, path, model.corpus_total_words, model.corpus_count, options["epochs"])
    model.build_vocab_from_freq(dict(zip(part.vocab.words, part.vocab.counts.tolist(), strict=True)))
    start = write_sentences(part, Path(path).with_suffix(".start"), limit=1)
    fixed = _seconds_of_gensim(model, start, int(part.offsets[1]), 1, 1)
    seconds = _seconds_of_gensim(model, path, len(part), part.n_sentences, options["epochs"])
    return model, max(seconds - fixed, 1e-3)


def _seconds_of_gensim(model, path, words, sentences, epochs):
    begun = now()
    model.train(corpus_file=str(path), total_words=words, total_examples=sentences, epochs=epochs)
    return Seconds.since(begun)


def train_fasttext(path, alpha, options):
    """Train fastText's skip-gram or CBOW, without n-grams (maxn = 0) unless ``options["subwords"]``.

    Reading the file is part of its time.

    Returns
    -------
    (model, seconds)
    """
    fasttext = require_rival("fasttext")
    begun = now()
    model = fasttext.train_unsupervised(
        str(path),
        model="cbow" if options.get("cbow") else "skipgram",
        dim=options["dim"],
        ws=options["window"],
        epoch=options["epochs"],
        minCount=1,
        neg=options.get("negatives") or 5,
        t=options.get("subsample", 1e-4),
        lr=alpha,
        maxn=6 if options.get("subwords") else 0,
        minn=3 if options.get("subwords") else 0,
        thread=options["workers"],
        verbose=0,
    )
    return model, Seconds.since(begun)


def train_itembed(encoded, alpha, options):
    """Train itembed on sentences as sets of items: for each token another of its sentence, uniform negatives.

    Its own loop, `itembed.train`, does the same with a progress bar, but swallows Ctrl-C. It has one thread.

    Parameters
    ----------
    encoded : EncodedCorpus
        Sentences of one word are skipped.
    alpha : float; options : dict, as for `train_gensim`

    Returns
    -------
    (vectors, seconds, pairs) : (float32 (n_vocab, dim), float, int)
        Pairs are those of all batches; a batch is 64 sentences, each assumed to have the mean length.
    """
    itembed = require_rival("itembed")
    sizes = np.diff(encoded.offsets)
    kept = sizes >= 2
    items = np.ascontiguousarray(encoded.ids[np.repeat(kept, sizes)], np.int32)
    offsets = np.concatenate([[0], np.cumsum(sizes[kept])]).astype(np.int32)
    vectors = [itembed.initialize_syn(len(encoded.vocab), options["dim"]) for _ in range(2)]
    task = itembed.UnsupervisedTask(items, offsets, *vectors, num_negative=options.get("negatives") or 5)
    steps = options["epochs"] * len(task)
    begun = now()
    for step in range(steps):
        task.do_batch(alpha * (1 - step / steps))
    seconds = Seconds.since(begun)
    return vectors[0], seconds, round(steps * task.batch_size * float(sizes[kept].mean()))
