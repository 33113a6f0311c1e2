"""Tasks of the network studies: windows of text and histories of items, with the next word or item."""

from dataclasses import dataclass

import numpy as np

from w2vneg.data.encoded import encode_corpus
from w2vneg.data.inputs import Input, encode_input, locate
from w2vneg.data.splits import Shares, users_of
from w2vneg.data.vocab import Vocabulary

from .item_runs import null_losses

_NOTHING = -1  # padding, or a position without a target
_PARTS = ("train", "valid", "test")
_SHARES = (0.8, 0.1, 0.1)


@dataclass(frozen=True)
class Sequences:
    """inputs : int64, (n, length), −1 for padding; targets : int64, (n, length), −1 if there is none,
    or (n,), one for each row
    """

    inputs: np.ndarray
    targets: np.ndarray

    def __len__(self):
        return len(self.inputs)


@dataclass(frozen=True)
class Task:
    """name : str; counts : int64, (n_vocab,), of the training targets, descending except for ties
    parts : dict of train, valid, test -> Sequences
    """

    name: str
    counts: np.ndarray
    parts: dict

    @property
    def n_vocab(self):
        return len(self.counts)

    def line(self):
        """Return a one-line description of the task (str)."""
        sizes = ", ".join(f"{(part.targets >= 0).sum():,} in {name}" for name, part in self.parts.items())
        return f"{self.name}: {self.n_vocab:,} targets; {sizes.replace('in valid', 'in validation')}"

    def pairs(self, name):
        """Return each target of a part and the input before it: (inputs, targets, ones), (n,) each."""
        part = self.parts[name]
        last = part.inputs if part.targets.ndim == 2 else part.inputs[:, -1]
        there = (last >= 0) & (part.targets >= 0)
        return last[there], part.targets[there], np.ones(int(there.sum()))

    def neighbours(self):
        """Count which target follows each input: csr_matrix (n_vocab, n_vocab)."""
        import scipy.sparse

        last, targets, ones = self.pairs("train")
        return scipy.sparse.coo_matrix((ones, (last, targets)), (self.n_vocab,) * 2).tocsr()

    def nulls(self):
        """Return the losses of null models on the test part (DataFrame); the first row is popularity alone."""
        return null_losses(self.neighbours(), self.pairs("valid"), self.pairs("test"))


def language(name, texts, tokens, n_vocab, length):
    """Return the next-word task: the most frequent words of the training part, all others merged into one.

    texts : dict of train, valid, test -> list of sentences; tokens : dict of the same -> int, how many are used
    length : int, of a window; words before it are not seen
    """
    streams = {part: _stream(texts[part], tokens[part]) for part in _PARTS}
    words, counts = np.unique(streams["train"], return_counts=True)
    kept = words[np.argsort(-counts, kind="stable")[: n_vocab - 1]]
    row = {word: k for k, word in enumerate(kept)}
    ids = {part: np.array([row.get(word, len(kept)) for word in stream], np.int64) for part, stream in streams.items()}
    rank = np.argsort(-np.bincount(ids["train"], minlength=n_vocab), kind="stable")  # the rest counts as one word
    place = np.empty(n_vocab, np.int64)
    place[rank] = np.arange(n_vocab)
    ids = {part: place[stream] for part, stream in ids.items()}
    windows = {part: _windows(stream, length) for part, stream in ids.items()}
    return Task(name, np.bincount(ids["train"][1:], minlength=n_vocab), windows)


def _stream(sentences, tokens):
    found = []
    for sentence in sentences:
        found += [*sentence, "<eos>"]
        if len(found) > tokens:
            break
    return found[: tokens + 1]


def _windows(ids, length):
    n = (len(ids) - 1) // length
    return Sequences(ids[: n * length].reshape(n, length), ids[1 : n * length + 1].reshape(n, length))


def treebank(tokens, n_vocab, length):
    """Return the next-word task on the Penn Treebank with its own three parts, each cut to so many tokens."""
    texts = {}
    for part in _PARTS:
        whole = encode_corpus(locate(f"ptb-{part}"), min_count=1)
        words, ids = np.array(whole.vocab.words), np.asarray(whole.ids)
        bounds = zip(whole.offsets[:-1], whole.offsets[1:], strict=True)
        texts[part] = [words[ids[a:b]].tolist() for a, b in bounds]
    return language("Penn Treebank", texts, tokens, n_vocab, length)


HISTORIES = {
    "ml-1m-half": Input("ratings", "ml-1m-half", user_col=1, item_col=2, rating_col=3, time_col=4, min_rating=1),
    "ml-100k": Input("ratings", "ml-100k", user_col=1, item_col=2, rating_col=3, time_col=4, min_rating=4),
}


def histories(name, length, seed, most=None):
    """Return the task of the next item after up to `length` items; each user is in one part.

    most : int, number of training examples sampled at random, and a fifth of it for each other part; None: all
    """
    data = encode_input(HISTORIES[name].located())
    return next_items(name, data, length, seed, most)


def next_items(name, data, length, seed, most=None):
    """The same for an encoded corpus. Only training items count; examples whose last input is not one are dropped."""
    dealt = users_of(data, Shares(*_SHARES), np.random.default_rng(seed))
    rng = np.random.default_rng(seed)
    parts = {part: _examples(*dealt[part], length) for part in _PARTS}
    if most is not None:
        parts = {part: _sample(parts[part], most if part == "train" else most // 5, rng) for part in _PARTS}
    train = parts["train"]
    counts = np.bincount(train.targets, minlength=len(data.vocab))
    order = np.argsort(-counts, kind="stable")[: int((counts > 0).sum())]
    new = np.full(len(data.vocab) + 1, _NOTHING, np.int64)  # the last entry is for −1
    new[order] = np.arange(len(order))
    parts = {part: _renumbered(examples, new) for part, examples in parts.items()}
    return Task(name, counts[order], parts)


def _examples(ids, offsets, length):
    """Return each item but the first of a history, and up to `length` items before it, the latest last."""
    ids = np.asarray(ids, np.int64)
    start = np.repeat(offsets[:-1], np.diff(offsets))
    places = np.arange(len(ids))
    targets = np.flatnonzero(places > start)
    before = targets[:, None] + np.arange(-length, 0)
    inside = before >= start[targets][:, None]
    return Sequences(np.where(inside, ids[np.maximum(before, 0)], _NOTHING), ids[targets])


def _sample(examples, most, rng):
    chosen = np.sort(rng.permutation(len(examples))[:most])
    return Sequences(examples.inputs[chosen], examples.targets[chosen])


def _renumbered(examples, new):
    inputs, targets = new[examples.inputs], new[examples.targets]
    known = (targets >= 0) & (inputs[:, -1] >= 0)
    return Sequences(inputs[known], targets[known])


def made_up(n_vocab, tokens, length, seed):
    """Return the next-word task of a synthetic language, for quick runs: see `kernel_task.word_chain`."""
    from .kernel_figure_2 import word_chain

    sentences = word_chain(n_vocab, tokens, seed)
    cuts = int(0.7 * len(sentences)), int(0.85 * len(sentences))
    texts = dict(zip(_PARTS, (sentences[: cuts[0]], sentences[cuts[0] : cuts[1]], sentences[cuts[1] :]), strict=True))
    return language("a made-up language", texts, dict.fromkeys(_PARTS, tokens), n_vocab, length)


def made_up_histories(n_items, length, seed):
    """Return the next-item task of synthetic histories, for quick runs."""
    from .kernel_figure_2 import word_chain

    lines = word_chain(n_items, 12_000, seed)
    vocab = Vocabulary.from_counts({f"w{k}": n_items - k for k in range(n_items)})
    return next_items("made-up histories", encode_corpus(lines, vocab=vocab), length, seed)
