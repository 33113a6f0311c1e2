"""What gensim, fastText, word2vec.c, implicit and LightFM call our options."""

from ..errors import did_you_mean

SYNONYMS = {
    "size": "dim",
    "vector_size": "dim",
    "factors": "dim",
    "no_components": "dim",
    "n_components": "dim",
    "embedding_dim": "dim",
    "ws": "window",
    "window_size": "window",
    "lr": "alpha",
    "learning_rate": "alpha",
    "start_alpha": "alpha",
    "end_alpha": "min_alpha",
    "iter": "epochs",
    "epoch": "epochs",
    "iterations": "epochs",
    "n_iter": "epochs",
    "threads": "workers",
    "thread": "workers",
    "num_threads": "workers",
    "n_jobs": "workers",
    "negative": "negatives",
    "neg": "negatives",
    "num_sampled": "negatives",
    "ns_exponent": "noise_exponent",
    "sample": "subsample",
    "t": "subsample",
    "bucket": "buckets",
    "min_n": "minn",
    "max_n": "maxn",
    "shrink_windows": "dynamic_window",
    "mincount": "min_count",
    "min_freq": "min_count",
    "max_final_vocab": "max_vocab",
    "max_vocab_size": "max_vocab",
    "random_state": "seed",
    "temperature": "temp",
    "tau": "temp",
    "objective": "loss",
}
"""Another name -> our option."""

FLAGS = {
    "input": "--corpus",
    "train": "--corpus",
    "save_vectors": "--output",
    "save_word2vec_format": "--output",
}
"""Another name of what is a flag of the command line alone -> ours."""


def hint_for(name, known):
    """Return what to say of an unknown option: its name here, near spellings, or nothing. Begins with ``;`` or blank.

    name : str, with _ for -; known : sequence of str, options
    """
    ours = SYNONYMS.get(name.lower())
    return f"; it is called {ours} here" if ours in known else did_you_mean(name, known, shown=0)
