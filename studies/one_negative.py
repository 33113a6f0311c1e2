"""How few negatives are enough, and does that change with the number of words? Next words of Wikipedia.

Sampled softmax corrects only the negatives' log q, and so is biased with few draws, whatever q. If both positive and
negatives are corrected, or neither but log Q is added to the scores afterwards, the fixed point is log P for any number
of draws. Rows are evaluated by the exact loss of the full softmax over all words of held-out text. Each has its own
learning rate, chosen on a second held-out part.
"""

import math
import time
from dataclasses import replace

import numpy as np
import pandas as pd

from w2vneg.ground.errors import DivergenceError
from w2vneg.objectives.law import settled

from . import STUDIES, Study, declare
from .climb import Rates
from .kernel_task import FULL as FULL_SOFTMAX
from .kernel_task import SAMPLERS, Scale, make_task, sentences_of, train_with, word_chain
from .verdicts import Claim, Unit, cell, judged

_OURS, _COUNTS, _TREE = "relaxed, unigram + log Q", "unigram", "quadratic"
_LOSS = "loss, nats"
_WITH_FULL = 2_000  # largest vocabulary with a full softmax, which scores all words for each pair

FULL = Scale(
    {_OURS: (1, 4, 16), "large-vocab, unigram": (1, 16), _COUNTS: (1, 4, 16, 64), _TREE: (1, 4)},
    n_vocab=70_000,
    tokens=2_000_000,
    dim=32,
    epochs=3,
    rates=Rates(0.05, 3.0, (-1, 1)),
    window=1,
    next_word=True,
    seeds=5,
    held_out=40,
)
QUICK = Scale(
    {_OURS: (1, 16), _COUNTS: (1, 16)},
    n_vocab=300,
    tokens=20_000,
    dim=12,
    epochs=3,
    rates=Rates(0.1, 3.0, (0,), 1),
    window=1,
    next_word=True,
    seeds=2,
)


def claims(sizes, samples):
    """Return the claims for each number of words: less loss than sampled softmax with as many draws, or more."""
    found = []
    for size in sizes:
        for m in samples[_OURS]:
            ours = row_of(_OURS, m, size)
            for rival in (_TREE, _COUNTS):
                text = f"{size:,} words: neither corrected + log Q is better than {rival}, m = {m}"
                found.append(Claim("ours", text, row_of(rival, m, size), ours, _LOSS))
        text = f"{size:,} words: neither corrected + log Q with 1 draw is better than {_COUNTS} with 16"
        found.append(Claim("ours", text, row_of(_COUNTS, 16, size), row_of(_OURS, 1, size), _LOSS))
    return found


def row_of(name, m, size):
    return f"{name}, m = {m}, {size:,} words"


def trial(task, options, alpha, seed):
    """Train; return the losses on both held-out parts, infinite if it diverged, and seconds of training: list."""
    absolute, begun = options.get("absolute_softmax", False), time.perf_counter()
    try:
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            model = train_with(task, options, alpha, seed)
            seconds = time.perf_counter() - begun
            log_noise = None if absolute else settled(model)[1]
            vectors = model.vectors_in, model.vectors_out
            losses = [task.loss(part, *vectors, absolute, log_noise) for part in ("dev", "test")]
    except DivergenceError:
        return [math.inf, math.inf, time.perf_counter() - begun]
    return [*(loss if math.isfinite(loss) else math.inf for loss in losses), seconds]


def measure(task, tell, seed, memo):
    """Return a table of losses of one task, of null models, and the input of `verdicts.judged`: one loss per seed.

    memo : Memo of finished trials
    """
    scale, size = task.scale, task.scale.n_vocab
    rows = [(name, m) for name, tried in scale.samples.items() for m in tried]
    if size <= _WITH_FULL:
        rows.append(("full softmax", 0))

    def one(name, m):
        options = SAMPLERS[name] | {"negatives": m, "share_negatives": "centre"} if m else FULL_SOFTMAX["common"]

        def run(alpha, seed):
            return memo([*task.key(), name, m, alpha, seed], trial, task, options, alpha, seed)

        alpha = scale.rates.best(lambda alpha: -run(alpha, seed)[0], memo.each)
        found = memo.each(lambda k: run(alpha, seed + k), range(scale.seeds))
        tell(f"{size:,} words, {name}, m = {m}: {np.mean([losses[1] for losses in found]):.4f} at alpha {alpha:g}")
        return alpha, found

    table, runs = [], {}
    for (name, m), (alpha, found) in zip(rows, memo.each(one, *zip(*rows, strict=True)), strict=True):
        losses = np.array([losses[1] for losses in found])
        seconds = float(np.median([losses[2] for losses in found]))
        table.append((size, name, m, alpha, found[0][0], losses.mean(), cell(losses, 4), seconds))
        runs[row_of(name, m, size), _LOSS] = losses
    columns = ["words", "objective", "m", "alpha", "dev loss", "test loss", "test loss ± 95 %", "seconds"]
    nulls = task.nulls()
    nulls.insert(0, "words", size)
    table = pd.DataFrame(table, columns=columns)
    table["popularity beats it"] = np.where(table["test loss"] > nulls["loss"].iloc[0], "yes", "")
    return table, nulls, runs


def _draw(table):
    def draw(figure):
        sizes = table["words"].unique()
        for place, size in enumerate(sizes, 1):
            axes = figure.add_subplot(1, len(sizes), place)
            for name, part in table[(table["words"] == size) & (table["m"] > 0)].groupby("objective", sort=False):
                axes.plot(part["m"], part["test loss"], marker="o", label=name)
            for loss in table.loc[(table["words"] == size) & (table["m"] == 0), "test loss"]:
                axes.axhline(loss, color="0.5", linestyle="--", label="full softmax")
            axes.set(xscale="log", xlabel="draws m", title=f"{size:,} words")
            if place == 1:
                axes.set_ylabel("full-softmax loss on held-out text, nats")
                figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=3)

    return draw


@STUDIES.register("one-negative")
@declare("ours", "one negative, by words", minutes=90)
def one_negative(tell, quick, seed, memo):
    """Is one negative enough, from 2,000 to 70,000 words? Next words of Wikipedia; quick: a synthetic language."""
    scale, sizes = (QUICK, (100, 300)) if quick else (FULL, (2_000, 12_000, 70_000))
    tables, nulls, runs = [], [], {}
    for size in sizes:
        here = replace(scale, n_vocab=size)
        if quick:
            sentences = word_chain(size, 2 * scale.tokens, seed)
        else:
            sentences = sentences_of("enwiki2015-head", None, 3 * scale.tokens // 2, seed)
        table, null, found = measure(make_task(sentences, here, seed), tell, seed, memo)
        tables.append(table)
        nulls.append(null)
        runs |= found
    table = pd.concat(tables, ignore_index=True)
    text = (
        f"The next word of Wikipedia: {scale.tokens:,} tokens, only the most frequent words, d = {scale.dim}, "
        f"{scale.epochs} epochs, one worker; {scale.rates.said()}, each chosen on a held-out part, losses measured on "
        f"another; {scale.seeds} seeds. m draws for each centre. Full softmax up to {_WITH_FULL:,} words. Seconds are "
        "the median training time, regardless of other load.\n"
    )
    verdicts = judged(claims(sizes, scale.samples), runs, {_LOSS: Unit(name="nats", least=0.005)})
    tables = {"loss": table, "null models": pd.concat(nulls, ignore_index=True)}
    return Study(tables, text, {"loss by draws": _draw(table)}, verdicts)
