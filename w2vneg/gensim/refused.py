"""What gensim has and the face has not: refused, with what to do instead."""

import os

from ..ground.errors import ConfigError, InputError

WORD2VEC = {
    "score": "w2vneg eval likelihood scores held-out text",
    "estimate_memory": "w2vneg train --dry-run tells it",
    "scan_vocab": "call build_vocab",
    "prepare_vocab": "call build_vocab",
    "prepare_weights": "train prepares them; leave it out",
    "init_weights": "train prepares them; leave it out",
    "reset_from": "call build_vocab_from_freq with the other model's words and counts",
    "init_sims": "vectors are normalised when they are requested; leave it out",
    "raw_vocab": "wv.key_to_index and wv.get_vecattr(word, 'count') have the words that are kept",
    "running_training_loss": "call get_latest_training_loss",
    "syn1": "ours.model.vectors_out has the rows of the tree",
    "syn0": "it is wv.vectors",
    "total_train_time": "ours.model.history has the seconds of each epoch",
    "load_fasttext_format": "call load_facebook_model",
    "delete_temporary_training_data": "there is none; leave it out",
}
KEYED = {
    "vocab": "words and rows are key_to_index, counts are get_vecattr(word, 'count')",
    "index2word": "it is index_to_key",
    "index2entity": "it is index_to_key",
    "syn0": "it is vectors",
    "vectors_norm": "call get_normed_vectors",
    "init_sims": "vectors are normalised when they are requested; leave it out",
    "fill_norms": "norms is computed when it is requested; leave it out",
    "intersect_word2vec_format": "w2vneg.Word2Vec(…).fit(corpus, init=path) begins with the vectors of a file",
    "vectors_lockf": "w2vneg.Word2Vec(…).fit(corpus, init=path, freeze=True) keeps rows as they are",
    "accuracy": "call evaluate_word_analogies",
    "similarity_unseen_docs": "call n_similarity",
    "resize_vectors": "add_vectors makes room; leave it out",
    "allocate_vecattrs": "set_vecattr makes room; leave it out",
    "expandos": "call get_vecattr and set_vecattr",
}
MODULE = {
    "Text8Corpus": "LineSentence(path) cuts its one long line into sentences of 10,000 words",
    "PathLineSentences": "give corpus_file=FOLDER, all files of which are read",
    "BrownCorpus": "write its sentences to a file, a line each, and give corpus_file=FILE",
    "ENGLISH_CONNECTOR_WORDS": "leave connector_words out: phrases are of two words side by side",
    "Word2VecKeyedVectors": "it is KeyedVectors",
    "FastTextKeyedVectors": "it is KeyedVectors",
    "save_facebook_model": "model.save(FOLDER), then 'w2vneg export FOLDER model.bin --format fasttext'",
    "models": "import the class from w2vneg.gensim itself",
    "downloader": "w2vneg.Vectors.load takes its names, such as glove-wiki-gigaword-100",
    "Doc2Vec": "paragraphs have no vectors; wv.get_mean_vector(words) is the mean of their words'",
}


def attribute(thing, name, remedies):
    """Return the AttributeError for a name that `thing` has not, with the remedy where there is one."""
    hint = f"; {remedies[name]}" if name in remedies else ""
    return AttributeError(f"{type(thing).__name__!r} object has no attribute {name!r}{hint}")


def unless(default, remedy, **given):
    """Raise ConfigError if an argument, given by its name, is not `default`, the one value that has a counterpart."""
    for name, value in given.items():
        if value is not default and value != default:
            raise ConfigError(f"{name}={value!r:.60} has no counterpart; {remedy}")


def pickle_at(path, remedy):
    """Raise InputError if there is a pickle at `path`, as gensim saves."""
    if os.path.isfile(path):
        with open(path, "rb") as stream:
            if stream.read(1) == b"\x80":
                raise InputError(f"{path} is a pickle, as gensim saves; opening one may run any code. Instead {remedy}")
