"""Task of the kernel paper's studies: skip-gram by sampled softmax, and by the full softmax for reference.

Each model is evaluated by the exact loss of the full softmax over all words of held-out text. As in the paper (§3.3),
symmetric kernels use an absolute softmax (eq. 11) for training and evaluation, other samplers the common one.
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
from .item_runs import null_losses

RATES = Rates(0.05, 2.0, (-3, 0, 3))
_SAMPLED = {"loss": "sampled-softmax", "exclude": "target"}
_RELAXED = {"loss": "relaxed", "exclude": "none"}
_COUNTS = {"sampler": "popularity", "noise_exponent": 1.0}
FULL = {  # the full softmax by kind, 16 centres per step
    "common": {"loss": "softmax", "batch": 16},
    "absolute": {"loss": "softmax", "batch": 16, "absolute_softmax": True},
}
SAMPLERS = {  # the paper's; then neither or both of positive and negatives corrected, "+ log Q" added by the law
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
_ROWS = 1024  # centres scored at a time


@dataclass(frozen=True)
class Scale:
    """samples : dict of sampler -> values of m tried; tokens : int, of the training part; rates : Rates
    next_word : bool, the only positive is the next word; seeds : int, runs at the chosen alpha
    held_out : int, each of the two held-out parts has `tokens` / `held_out`
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
    held_out: int = 4


@dataclass(frozen=True)
class Task:
    """The training part of a text, encoded, and the pairs of two held-out parts in the same vocabulary."""

    train: object
    pairs: dict
    scale: Scale

    def nulls(self):
        """Return the losses of null models on the test part (DataFrame); the first row is popularity alone."""
        train, scale = self.train, self.scale
        matrix = pair_counts(train.ids, train.offsets, len(train.vocab), scale.window, ordered=scale.next_word).tocsr()
        return null_losses(matrix, self.pairs["dev"], self.pairs["test"])

    def key(self):
        """Return the key of this task's parts in a `Memo`: list that JSON can hold."""
        scale = self.scale
        common = [scale.dim, scale.epochs, scale.window, scale.next_word]
        return [len(self.train), len(self.train.vocab), *common]

    def loss(self, part, vectors_in, vectors_out, absolute, log_noise=None):
        """Mean full-softmax loss of a pair of `part`, nats; log_noise : float64, (n_vocab,), or None, added."""
        vectors_in, vectors_out = vectors_in.astype(np.float64), vectors_out.astype(np.float64)
        centres, contexts, counts = self.pairs[part]
        order = np.argsort(centres, kind="stable")
        distinct, starts = np.unique(centres[order], return_index=True)
        total = 0.0
        for first in range(0, len(distinct), _ROWS):
            block = distinct[first : first + _ROWS]
            scores = vectors_in[block] @ vectors_out.T
            scores = np.abs(scores) if absolute else scores if log_noise is None else scores + log_noise
            top = scores.max(axis=1)
            log_z = top + np.log(np.exp(scores - top[:, None]).sum(axis=1))
            some = order[starts[first] : starts[first + _ROWS] if first + _ROWS < len(starts) else None]
            rows = np.searchsorted(block, centres[some])
            total += ((log_z[rows] - scores[rows, contexts[some]]) * counts[some]).sum()
        return float(total / counts.sum())


def make_task(sentences, scale, seed):
    """Split sentences at random into a training part and two held-out parts, with the sizes of `scale`."""
    order = np.random.default_rng(seed).permutation(len(sentences))
    wanted = {"train": scale.tokens} | dict.fromkeys(("dev", "test"), scale.tokens // scale.held_out)
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
    """Return sentences of a named text, lists of str, in order, without words that are not kept.

    max_vocab : int, optional, number of most frequent words kept; most : int, optional, about so many tokens, of
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
    """Return sentences of a synthetic language whose next word follows a low-rank softmax (for quick runs)."""
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
        raise KeyboardInterrupt  # a partial run is not a measurement
    return model
