"""Features of gensim without a counterpart here: refused, with what to do instead."""

import os

from ..ground.errors import ConfigError, InputError

_EITHER = dict.fromkeys(("lifecycle_events", "add_lifecycle_event"), "files keep no notes; keep them elsewhere")
WORD2VEC = _EITHER | {
    "score": "w2vneg eval likelihood scores held-out text",
    "estimate_memory": "w2vneg train --dry-run estimates it",
    **dict.fromkeys(("scan_vocab", "prepare_vocab"), "call build_vocab"),
    **dict.fromkeys(
        ("prepare_weights", "init_weights", "add_null_word", "create_binary_tree", "make_cum_table"),
        "training does it; leave it out",
    ),
    "update_weights": "call build_vocab(corpus, update=True)",
    "cum_table": "negatives are drawn in proportion to wv.get_vecattr(word, 'count') ** ns_exponent",
    "seeded_vector": "initial vectors depend on seed=; set that",
    "random": "each worker has its own random stream; set seed=",
    "reset_from": "call build_vocab_from_freq with the other model's words and counts",
    "init_sims": "vectors are normalised when they are requested; leave it out",
    "raw_vocab": "wv.key_to_index and wv.get_vecattr(word, 'count') have the words that are kept",
    "effective_min_count": "it is min_count; with max_final_vocab, the rarest word kept is wv.index_to_key[-1]",
    "running_training_loss": "call get_latest_training_loss; ours.model.history has the loss of each epoch",
    "syn1": "ours.model.vectors_out has the rows of the tree",
    "syn0": "it is wv.vectors",
    "total_train_time": "ours.model.history has the seconds of each epoch",
    **dict.fromkeys(("train_count", "min_alpha_yet_reached"), "ours.model.history has every epoch"),
    "batch_words": "the text is split automatically; leave it out",
    "comment": "files keep no notes; keep them elsewhere",
    "load_fasttext_format": "call load_facebook_model",
    "delete_temporary_training_data": "there is none; leave it out",
}
WORD2VEC_SET = {
    "wv": "set its rows: wv.vectors[:] = rows",
    "syn1neg": "set its rows: syn1neg[:] = rows",
    "layer1_size": "it is vector_size",
}
FASTTEXT = WORD2VEC | {
    "callbacks": "they are not kept; pass them to train(…, callbacks=[…])",
    "load_binary_data": "call load_facebook_vectors(path)",
}
KEYED = _EITHER | {
    "vocab": "words and rows are key_to_index, counts are get_vecattr(word, 'count')",
    **dict.fromkeys(("index2word", "index2entity"), "it is index_to_key"),
    "syn0": "it is vectors",
    "vectors_norm": "call get_normed_vectors",
    "init_sims": "vectors are normalised when they are requested; leave it out",
    "fill_norms": "norms is computed when it is requested; leave it out",
    "intersect_word2vec_format": "w2vneg.Word2Vec(…).fit(corpus, init=path) starts from the vectors of a file",
    "accuracy": "call evaluate_word_analogies",
    "log_accuracy": "evaluate_word_analogies returns what it logs",
    "log_evaluate_word_pairs": "evaluate_word_pairs returns what it logs",
    "similarity_unseen_docs": "call n_similarity",
    "resize_vectors": "add_vectors allocates memory; leave it out",
    "allocate_vecattrs": "set_vecattr allocates memory; leave it out",
    "next_index": "add_vectors appends words; it is len(wv)",
    "expandos": "call get_vecattr and set_vecattr",
    "mapfile_path": "KeyedVectors.load(path) reads a file",
    **dict.fromkeys(("min_n", "max_n", "bucket"), "only FastText's vectors have n-grams"),
    **dict.fromkeys(
        ("vectors_lockf", "vectors_vocab_lockf", "vectors_ngrams_lockf"),
        "w2vneg.Word2Vec(…).fit(corpus, init=path, freeze=True) keeps rows as they are",
    ),
    "vectors_vocab": "model.ours.model.extra['words_in'] has the rows of words without their n-grams",
    "vectors_ngrams": "model.ours.model.extra['grams_in'] has the rows of n-grams",
    **dict.fromkeys(
        ("adjust_vectors", "init_post_load", "recalc_char_ngram_buckets"),
        "vectors always follow from their n-grams; leave it out",
    ),
    **dict.fromkeys(("buckets_word", "compatible_hash"), "n-grams are hashed as in fastText; call wv[word]"),
}
KEYED_SET = KEYED | {
    "vectors": "set its rows: vectors[:] = rows",
    **dict.fromkeys(("index_to_key", "key_to_index"), "vectors_for_all(words) has these words in this order"),
}
PHRASES = _EITHER | {
    **dict.fromkeys(("min_count", "threshold", "scoring"), "a file keeps only phrases and their scores"),
    **dict.fromkeys(("vocab", "corpus_word_count"), "only the counts of phrases are kept; they are in found"),
    **dict.fromkeys(("max_vocab_size", "min_reduce"), "all words and pairs are counted; min_count limits what is kept"),
    "progress_per": "nothing is logged; leave it out",
    "score_candidate": "call phrasegrams.get('new_york')",
}
MODULE = {
    "PathLineSentences": "give corpus_file=FOLDER; all of its files are read",
    "BrownCorpus": "write its sentences to a file, one per line, and give corpus_file=FILE",
    **dict.fromkeys(("Word2VecKeyedVectors", "FastTextKeyedVectors"), "it is KeyedVectors"),
    "models": "import the class from w2vneg.gensim itself",
    "downloader": "w2vneg.Vectors.load accepts its names, such as glove-wiki-gigaword-100",
    "Doc2Vec": "there are no paragraph vectors; wv.get_mean_vector(words) is the mean of the words' vectors",
}


def attribute(thing, name, remedies):
    """Return the AttributeError for a name that `thing` lacks, with the remedy if there is one."""
    hint = f"; {remedies[name]}" if name in remedies else ""
    return AttributeError(f"{type(thing).__name__!r} object has no attribute {name!r}{hint}")


def set_to(thing, name, remedies):
    """Raise AttributeError if a missing or read-only attribute of `thing` is set, as that would have no effect."""
    if name in remedies:
        raise AttributeError(f"{name} of {type(thing).__name__} cannot be set; {remedies[name]}")


def unless(default, remedy, **given):
    """Raise ConfigError if a named argument is not `default`, the only value that has a counterpart."""
    for name, value in given.items():
        if value is not default and value != default:
            raise ConfigError(f"{name}={value!r:.60} has no counterpart; {remedy}")


def pickle_at(path, remedy):
    """Raise InputError if there is a pickle at `path`, as gensim saves."""
    if os.path.isfile(path):
        with open(path, "rb") as stream:
            if stream.read(1) == b"\x80":
                raise InputError(f"{path} is a pickle, as gensim saves; opening one may run any code. Instead {remedy}")
