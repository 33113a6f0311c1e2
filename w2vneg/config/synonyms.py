"""Names of our options in gensim, fastText, word2vec.c, implicit, LightFM and node2vec.

Errors about these names suggest ours; `Word2Vec` accepts gensim's if they mean the same (`from_gensim`).
"""

import difflib

from ..data.sources import readers_of
from ..ground.errors import ConfigError, did_you_mean

SYNONYMS = {
    other: ours
    for ours, others in {
        "dim": ("size", "vector_size", "factors", "no_components", "n_components", "embedding_dim"),
        "window": ("ws", "window_size", "context_size"),
        "alpha": ("lr", "learning_rate", "start_alpha"),
        "min_alpha": ("end_alpha",),
        "epochs": ("iter", "epoch", "iterations", "n_iter"),
        "workers": ("threads", "thread", "num_threads", "n_jobs"),
        "negatives": ("negative", "neg", "num_sampled"),
        "noise_exponent": ("ns_exponent",),
        "subsample": ("sample", "t"),
        "buckets": ("bucket",),
        "minn": ("min_n",),
        "maxn": ("max_n",),
        "dynamic_window": ("shrink_windows",),
        "min_count": ("mincount", "min_freq"),
        "max_vocab": ("max_final_vocab", "max_vocab_size"),
        "seed": ("random_state",),
        "temp": ("temperature", "tau"),
        "loss": ("objective",),
        "l2": ("regularization", "reg", "weight_decay"),
        "walks_per_node": ("num_walks",),
    }.items()
    for other in others
}
"""Another name -> our option."""

FLAGS = {
    **{"input": "--corpus", "train": "--corpus", "save_vectors": "--output", "save_word2vec_format": "--output"},
    **{"pretrained_vectors": "--init", "hs": "--loss hierarchical", "read_vocab": "--vocab"},
}
"""Another name of a flag that only the command line has -> ours, some with a value."""

FLAGS_OF_TRAIN = {
    "binary": "To write binary vectors, convert the text: w2vneg export vectors.txt vectors.bin",
    "save_vocab": "The vocabulary is vocab.tsv in the folder of --save-model.",
}
"""Flag of other tools that `train` does not have -> what to do instead."""

COMMANDS = {
    **{"skipgram": "train", "cbow": "train --cbow", "nn": "nearest", "distance": "nearest", "analogies": "analogy"},
    **{"word-analogy": "analogy", "print-word-vectors": "export"},
}
"""Command of fastText or word2vec.c -> ours."""

GENSIM = {"vector_size", "size", "iter", "sample", "negative", "ns_exponent", "max_final_vocab", "shrink_windows"}
"""Arguments of gensim's constructor that equal an option of ours under another name."""

GENSIM_SETTINGS: dict[str, dict[int, dict[str, str]]] = {
    "sg": {1: {"inputs": "row"}, 0: {"inputs": "window"}},
    "hs": {0: {}},
    "cbow_mean": {1: {}},
    "sorted_vocab": {1: {}},
    "null_word": {0: {}},
    "compute_loss": {0: {}},
}
"""Switch of gensim's constructor -> value -> our options; other values have no counterpart."""

UNLIKE = {
    "hs": "use loss='hierarchical'; gensim also trains negative samples unless negative=0",
    "cbow_mean": "a window is always the mean of its vectors; leave it out",
    "sorted_vocab": "words are always sorted by count; leave it out",
    "null_word": "there is no null word here; leave it out",
    "compute_loss": "the loss is always computed: see model.history, or fit(…, listeners=[…]); leave it out",
    "cbow": "use inputs='window'",
    "subwords": "use inputs='subwords' or 'window+subwords'",
    "sentences": "training is done by fit: Word2Vec(…).fit(sentences)",
    "corpus_file": "training is done by fit: Word2Vec(…).fit(path)",
    "callbacks": "pass functions to fit(…, listeners=[…]); they receive the events of the run",
    "trim_rule": "words are chosen by min_count and max_vocab, or by fit(…, vocab=…)",
    "hashfxn": "initial vectors depend on the seed alone; leave it out",
    "batch_words": "workers divide the corpus automatically; leave it out",
    "seeds": "a run has one seed, a whole number; for several give --seeds N to 'w2vneg tune' or 'compare'",
    "comment": "store it beside the model; leave it out",
}
"""Argument of gensim's constructor, or flag of ours, without an equivalent option -> what to do instead."""

GENSIM_METHODS = {
    "train": "to train further, call fit(corpus, update=True)",
    "build_vocab": "fit(corpus) counts and trains; with update=True the vocabulary grows",
    "scan_vocab": "fit(corpus) counts and trains",
    "prepare_vocab": "fit(corpus) counts and trains",
    "build_vocab_from_freq": "pass a Vocabulary: fit(corpus, vocab=…)",
    "reset_from": "pass its vocabulary: fit(corpus, vocab=other.model.vocab)",
    "predict_output_word": "recommend(words) scores every word as a target",
    "get_latest_training_loss": "model.history has the loss of each epoch",
    "syn1neg": "it is model.vectors_out",
}
"""Member of gensim's Word2Vec that ours lacks -> what to do instead; docs/migrating.md has the whole list."""


def from_gensim(options):
    """Return options (dict) with gensim's names replaced by ours if they mean the same.

    ConfigError if an option is given by two names, or a switch has a value without a counterpart here
    """
    ours, named = {}, {}  # option -> value; option -> the name it was given by
    if options.get("hs") == 1 and options.get("negative") == 0:
        options = {name: value for name, value in options.items() if name not in ("hs", "negative")}
        ours["loss"], named["loss"] = "hierarchical", "hs"
    for name, value in options.items():
        if name not in GENSIM_SETTINGS:
            found: dict | None = {SYNONYMS[name] if name in GENSIM else name: value}
        else:
            found = next((meant for known, meant in GENSIM_SETTINGS[name].items() if value == known), None)
        if found is None:
            raise ConfigError(f"{name}={value!r} has no counterpart; {UNLIKE.get(name, f'{name} is 0 or 1')}")
        for option, meant in found.items():
            if option in ours:
                raise ConfigError(f"{name} and {named[option]} both set {option}; give one of the two")
            ours[option], named[option] = meant, name
    return ours


def hint_for(name, known):
    """Return a hint on an unknown option: our name for it or near spellings; it begins with ``;`` if there is any."""
    if name in UNLIKE:
        return f"; {UNLIKE[name]}"
    if readers := readers_of(name):
        return f"; it is an option of the source: Input({readers[0]!r}, …, {name}=…)"
    near = difflib.get_close_matches(name.lower(), [*SYNONYMS, *known], 1, 0.8)
    ours = SYNONYMS.get(near[0]) if near else None
    return f"; it is called {ours} here" if ours in known else did_you_mean(name, known, shown=0)


def refuse_unknown(values, known):
    """Raise ConfigError unless `values` is a dict whose names, with _ or -, are all `known`."""
    if not isinstance(values, dict):
        raise ConfigError(f"expected options by name, found {str(values)[:40]!r}")
    for name in values:
        key = name.replace("-", "_")
        if key not in known:
            raise ConfigError(f"unknown option {name!r}{hint_for(key, list(known))}")
