"""Weights of words from a file: a degeneracy of Boltzmann sampling that somebody else has measured."""

import numpy as np

from ...ground.errors import InputError, did_you_mean
from ...ground.files.bounded import check_regular, read_text

DEGENERACIES = ("uniform", "popularity")


def is_file_of_weights(degeneracy):
    """Tell whether the option `degeneracy` names a file."""
    return isinstance(degeneracy, str) and degeneracy not in DEGENERACIES


def read_degeneracy(path, vocab):
    """Read ``word<TAB>weight`` lines into float64 (n_vocab,); words not listed weigh 0, unknown ones are ignored."""
    weights = np.zeros(len(vocab))
    for word, weight in weights_by_word(path).items():
        if word in vocab:
            weights[vocab.id(word)] = weight
    if np.count_nonzero(weights) < 2:
        raise InputError(f"{path}: fewer than two words of the vocabulary have a weight; Boltzmann sampling needs them")
    return weights


def weights_by_word(path):
    """Read ``word<TAB>weight`` lines: dict of str -> float; InputError with the line of the first mistake."""
    by_word = {}  # str -> float
    check_regular(path)  # it is looked at before the corpus, and read after it
    text = read_text(path, f"no such file of weights, and no degeneracy{did_you_mean(path, DEGENERACIES)}")
    lines = text.replace("\r\n", "\n").removesuffix("\n").split("\n") if text else []
    for number, line in enumerate(lines, 1):
        fields = line.split("\t")
        try:
            word, weight = fields[0], float(fields[1])
            if len(fields) != 2 or not 0 <= weight < float("inf"):
                raise ValueError
        except (IndexError, ValueError):
            found = repr(line[:60])
            raise InputError(f"{path}:{number}: expected word<TAB>weight, weight 0 or more, found {found}") from None
        if word in by_word:
            raise InputError(f"{path}:{number}: the word {word!r} has a weight already; keep one of the two")
        by_word[word] = weight
    return by_word
