"""What the kernel paper's studies train: skip-gram by sampled softmax, and by the full softmax beside it.

Each is evaluated by the loss of the full softmax, exactly, over all words of a text held out. As the paper has it
(§3.3), symmetric kernels train and are evaluated by an absolute softmax (eq. 11), other samplers by the common one.
"""

from dataclasses import dataclass

import numpy as np

from w2vneg.config import TrainConfig
from w2vneg.data.encoded import encode_corpus
from w2vneg.data.inputs import locate
from w2vneg.ground.events import EpochDone
from w2vneg.kernels.cooccurrence import pair_counts
from w2vneg.run.trainer import Trainer

from .climb import Rates

RATES = Rates(0.05, 2.0, (-3, 0, 3))
_BATCH = 16  # centres of one step of the full softmax
_SAMPLED = {"loss": "sampled-softmax", "exclude": "target"}
_RELAXED = {"loss": "relaxed", "exclude": "none"}
_COUNTS = {"sampler": "popularity", "noise_exponent": 1.0}
SAMPLERS = {  # the paper's; then both or neither of positive and negatives corrected, "+ log Q" by the law afterwards
    "uniform": _SAMPLED | {"sampler": "uniform"},
    "unigram": _SAMPLED | _COUNTS,
    "bigram": _SAMPLED | {"sampler": "bigram"},
    "quadratic": _SAMPLED | {"sampler": "kernel", "kernel": "quadratic", "absolute_softmax": True},
    "quartic": _SAMPLED | {"sampler": "kernel", "kernel": "quartic", "absolute_softmax": True},
    "softmax": _SAMPLED | {"sampler": "boltzmann", "method": "exact", "degeneracy": "uniform", "temp": 1.0},
    "relaxed, uniform": _RELAXED | {"sampler": "uniform"},
    "relaxed, unigram + log Q": _RELAXED | _COUNTS,
    "large-vocab, unigram": {"loss": "large-vocab", "exclude": "none"} | _COUNTS,
}


@dataclass(frozen=True)
class Scale:
    """samples : dict of sampler -> the m that it is tried with; tokens : int, of the part trained on; rates : Rates
    next_word : bool, only what comes after the centre is its positive; seeds : int, runs at the alpha that was chosen
    """

    samples: dict
    n_vocab: int
    tokens: int
    dim: int
    epochs: int
    rates: Rates = RATES
    window: int = 2
    next_word: bool = False
    seeds: int = 1


@dataclass(frozen=True)
class Task:
    """Three parts of one text, encoded with the vocabulary of the first, and the pairs of the two that are held out."""

    train: object
    pairs: dict
    scale: Scale

    def key(self):
        """Return what parts of studies on this task are known by: list that JSON can hold."""
        scale = self.scale
        common = [scale.dim, scale.epochs, scale.window, scale.next_word]
        return [len(self.train), len(self.train.vocab), *common]

    def loss(self, part, vectors_in, vectors_out, absolute, log_noise=0.0):
        """Mean full-softmax loss of a pair of `part`, nats; log_noise : float64, (n_vocab,), added to scores."""
        scores = vectors_in.astype(np.float64) @ vectors_out.T.astype(np.float64)
        scores = np.abs(scores) if absolute else scores + log_noise
        top = scores.max(axis=1)
        log_z = top + np.log(np.exp(scores - top[:, None]).sum(axis=1))
        centres, contexts, counts = self.pairs[part]
        return float(((log_z[centres] - scores[centres, contexts]) * counts).sum() / counts.sum())


def make_task(sentences, scale, seed):
    """Share sentences out at random: the training part takes `scale.tokens`, the held-out ones a quarter of it each."""
    order = np.random.default_rng(seed).permutation(len(sentences))
    wanted = {"train": scale.tokens, "dev": scale.tokens // 4, "test": scale.tokens // 4}
    parts = {name: [] for name in wanted}
    taken = dict.fromkeys(wanted, 0)
    for place in order:
        name = min(wanted, key=lambda part: taken[part] / wanted[part])
        if taken[name] >= wanted[name]:
            break
        parts[name].append(sentences[place])
        taken[name] += len(sentences[place])
    train = encode_corpus(parts["train"], min_count=1, max_vocab=scale.n_vocab)
    held_out = {name: encode_corpus(parts[name], vocab=train.vocab) for name in ("dev", "test")}
    return Task(train, {name: _pairs(part, scale) for name, part in held_out.items()}, scale)


def _pairs(corpus, scale):
    """Return the distinct pairs of a text and how often each occurs: centres, contexts, counts, (n_pairs,) each."""
    table = pair_counts(corpus.ids, corpus.offsets, len(corpus.vocab), scale.window, ordered=scale.next_word).tocoo()
    return table.row, table.col, table.data


def sentences_of(name, max_vocab=None, most=None, seed=0):
    """Return sentences of a named text, lists of str, in its order, without words that are not kept.

    max_vocab : int, optional, keep so many of the most frequent words; most : int, optional, about so many tokens, of
    sentences chosen by `seed`
    """
    whole = encode_corpus(locate(name), min_count=1, max_vocab=max_vocab)
    words, starts, ends = list(whole.vocab.words), whole.offsets[:-1], whole.offsets[1:]
    kept = np.arange(len(starts))
    if most is not None:
        order = np.random.default_rng(seed).permutation(len(starts))
        kept = np.sort(order[: 1 + np.searchsorted(np.cumsum((ends - starts)[order]), most)])
    return [[words[i] for i in whole.ids[starts[k] : ends[k]]] for k in kept]


def word_chain(n_vocab, tokens, seed):
    """Return sentences of a made-up language whose next word follows a softmax of low rank (for the quick run)."""
    rng = np.random.default_rng(seed)
    left, right = rng.normal(0, 1.1, (2, n_vocab, 4))
    p = np.exp(left @ right.T - 1.2 * np.log(np.arange(1, n_vocab + 1)))
    running = np.cumsum(p / p.sum(axis=1, keepdims=True), axis=1)
    word, chain = 0, []
    for unit in rng.random(tokens):
        word = min(int(np.searchsorted(running[word], unit)), n_vocab - 1)
        chain.append(f"w{word}")
    return [chain[k : k + 20] for k in range(0, tokens, 20)]


def train_with(task, options, alpha, seed, look=None):
    """Train with these options; return the Model.

    look : callable(Model), optional, called after each epoch
    """
    scale = task.scale
    config = TrainConfig(
        alpha=alpha,
        dim=scale.dim,
        window=scale.window,
        ordered=scale.next_word,
        dynamic_window=False,
        subsample=0.0,
        epochs=scale.epochs,
        workers=1,
        seed=1 + seed,
        min_count=1,
        **options,
    )
    trainer = Trainer(task.train, config)
    if look is not None:
        trainer.listeners.append(lambda event: look(trainer.model) if isinstance(event, EpochDone) else None)
    model = trainer.train()
    if not trainer.complete:
        raise KeyboardInterrupt  # a part of a run is no measurement
    return model


def _contexts(corpus, window, next_word=False):
    """Return the words around each token, int32 (n_tokens, 2 window), −1 beyond the sentence and on sides left out."""
    ids = np.asarray(corpus.ids)
    sentence = np.repeat(np.arange(len(corpus.offsets) - 1), np.diff(corpus.offsets))
    contexts = np.full((len(ids), 2 * window), -1, np.int32)
    for distance in range(1, window + 1):
        together = sentence[:-distance] == sentence[distance:]
        if not next_word:
            contexts[distance:, 2 * distance - 2] = np.where(together, ids[:-distance], -1)
        contexts[:-distance, 2 * distance - 1] = np.where(together, ids[distance:], -1)
    return contexts


def train_full(task, absolute, alpha, seed, look=None):
    """Train by stochastic gradient descent on the full softmax; return both matrices, float32.

    look : callable(vectors_in, vectors_out), optional, called after each epoch

    With s the scores of a centre that has n positives: dL/ds_j = n p_j − (how often j is a positive), times sign(s_j)
    for the absolute softmax. As in the engine, no centre of a batch may move a logit by more than 1 through a row.
    """
    scale = task.scale
    n_vocab = len(task.train.vocab)
    ids, contexts = np.asarray(task.train.ids), _contexts(task.train, scale.window, scale.next_word)
    rng = np.random.default_rng(seed)
    vectors_in = ((rng.random((n_vocab, scale.dim)) - 0.5) / scale.dim).astype(np.float32)
    vectors_out = np.zeros((n_vocab, scale.dim), np.float32)
    steps, done = scale.epochs * len(ids), 0
    for _ in range(scale.epochs):
        order = rng.permutation(len(ids))
        for start in range(0, len(order), _BATCH):
            batch = order[start : start + _BATCH]
            rate = np.float32(alpha * max(1e-4, 1 - done / steps))
            x = vectors_in[ids[batch]]
            scores = x @ vectors_out.T
            signs = np.where(scores < 0, np.float32(-1), np.float32(1)) if absolute else np.float32(1)
            scores *= signs
            scores -= scores.max(axis=1, keepdims=True)
            p = np.exp(scores)
            around = contexts[batch]
            row, column = np.nonzero(around >= 0)
            p *= ((around >= 0).sum(axis=1) / p.sum(axis=1))[:, None]
            np.subtract.at(p, (row, around[row, column]), np.float32(1))
            p *= signs
            norms = np.einsum("ij,ij->i", x, x)
            p *= np.minimum(1, 1 / np.maximum(rate * np.abs(p).max(axis=1) * norms, 1e-30))[:, None].astype(np.float32)
            gradient = p @ vectors_out
            vectors_out -= rate * (p.T @ x)
            np.subtract.at(vectors_in, ids[batch], rate * gradient)
            done += len(batch)
        if look is not None:
            look(vectors_in, vectors_out)
    return vectors_in, vectors_out
