"""Small corpora whose answer is known, and how much of it vectors have found."""

import numpy as np

from w2vneg import Vectors
from w2vneg.objectives.readout.paradigms import Pairs, Rules


def two_topics(n_sentences=800, words=20, length=8, seed=0):
    """Return sentences (list of list of str) that take all their words from one of two disjoint sets, in turn."""
    rng = np.random.default_rng(seed)
    topics = ([f"a{i}" for i in range(words)], [f"b{i}" for i in range(words)])
    return [[topics[s % 2][i] for i in rng.integers(0, words, length)] for s in range(n_sentences)]


def two_blocks(nodes=20, inside=0.4, between=0.02, seed=0):
    """Return the edges (list of (str, str)) of a graph of two blocks of nodes, dense within and sparse between them."""
    rng = np.random.default_rng(seed)
    names = [f"{block}{i}" for block in "ab" for i in range(nodes)]
    pairs = [(one, other) for k, one in enumerate(names) for other in names[:k]]
    kept = [rng.random() < (inside if one[0] == other[0] else between) for one, other in pairs]
    return [pair for pair, keep in zip(pairs, kept, strict=True) if keep]


def random_words(n_sentences=800, words=20, length=8, seed=0):
    """Return sentences of the same words in which nothing goes with anything."""
    rng = np.random.default_rng(seed)
    both = [f"{topic}{i}" for topic in "ab" for i in range(words)]
    return [[both[i] for i in rng.integers(0, 2 * words, length)] for _ in range(n_sentences)]


def with_kin(words, *rules, dim=6):
    """Return random vectors of words that have kin. rules : a list of pairs of words for each rule"""
    rows = [(words.index(one), words.index(other), r) for r, pairs in enumerate(rules) for one, other in pairs]
    sizes = np.ones(len(rows), np.float32), np.zeros(len(rules), bool), np.ones(len(rules))
    pairs = Pairs(*np.array(rows, np.int32).T, *sizes, np.zeros((len(rules), dim), np.float32))
    return Vectors(words, np.random.default_rng(1).normal(size=(len(words), dim)), rules=Rules(words, pairs))


def same_topic(vectors, k=5):
    """Return the share, among the `k` nearest neighbours of all words, of those of the word's own topic."""
    near = [(word, other) for word in vectors.words for other, _ in vectors.most_similar(word, k=k)]
    return sum(word[0] == other[0] for word, other in near) / len(near)


def as_text(sentences):
    """Return the sentences as a text of one sentence a line."""
    return "".join(" ".join(sentence) + "\n" for sentence in sentences)
