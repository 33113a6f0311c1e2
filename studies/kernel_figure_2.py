"""Bias of sampled softmax against the number of samples m (Blanc and Rendle 2018, figure 2), on skip-gram.

Figures 3 and 4, convergence by m and by sampler, show the same runs after each epoch.

A model trained with sampled softmax from m draws is evaluated by the exact loss of the full softmax over all words of
held-out text. Each sampler at each m has its own learning rate, chosen on a second held-out part; all have the same
epochs. As in the paper (§3.3), the symmetric kernels use an absolute softmax (eq. 11) for training and evaluation, the
other samplers the common one; the reference, trained by the full softmax, is run for both.

Unlike the paper: skip-gram instead of an LSTM or a deep network, one set of m draws for all positives of a centre,
draws that hit the positive are dropped (the paper draws among the negatives), and steps bounded to one unit of logit.
On the Penn Treebank the task is the paper's, to predict the next word, and bigrams use the previous word.

In addition to the paper's samplers, which correct only the negatives' log q: the same draws with neither positive nor
negatives corrected (relaxed), with log Q added to the scores afterwards, and with both corrected (large-vocab). Seconds
are training time, for loss by time; a verdict on it needs an otherwise idle machine.
"""

import math
import time

import numpy as np
import pandas as pd

from w2vneg.data.builtin import builtin_sentences
from w2vneg.ground.errors import DivergenceError
from w2vneg.objectives.law import settled

from . import STUDIES, Study, declare
from .climb import Rates
from .kernel_task import FULL as FULL_SOFTMAX
from .kernel_task import SAMPLERS, Scale, make_task, sentences_of, train_with, word_chain
from .verdicts import Claim, Unit, interval, judged

_NEAR = 0.02  # "within 2 % of the full softmax"
_ABOVE = "above full, %"

_BOTH = ("relaxed, uniform", "relaxed, unigram + log Q", "large-vocab, unigram")
_CHEAP, _TREE, _DEAR = (1, 4, 16, 64, 256, 1024), (1, 4, 16, 64, 256), (1, 4, 16, 64)
FULL = Scale(
    dict.fromkeys(("uniform", "unigram", "bigram"), _CHEAP)
    | {"quadratic": _TREE}
    | dict.fromkeys(("quartic", "softmax", *_BOTH), _DEAR),
    n_vocab=2000,
    tokens=100_000,
    dim=32,
    epochs=5,
    seeds=5,
)
PTB = Scale(
    dict.fromkeys(("uniform", "unigram", "bigram", "quadratic"), _TREE)
    | dict.fromkeys(("quartic", "softmax"), (1, 4, 16))
    | dict.fromkeys(_BOTH, _DEAR),
    n_vocab=2000,
    tokens=100_000,
    dim=32,
    epochs=5,
    window=1,
    next_word=True,
    seeds=5,
)
QUICK = Scale(
    {"uniform": (1, 64), "quadratic": (1, 64), "relaxed, unigram + log Q": (1, 64)},
    n_vocab=300,
    tokens=20_000,
    dim=12,
    epochs=3,
    rates=Rates(0.1, 2.0, (-1, 0, 1), 0),
)


def claims():
    """Return the claims: one sampler's loss is farther above the full softmax's than another's."""
    found = []
    for m in (4, 16, 64):
        for worse in ("uniform", "unigram", "bigram"):
            text = f"quadratic sampling is better than {worse} with {m}"
            found.append(Claim("kernel figure 2", text, f"{worse}, m = {m}", f"quadratic, m = {m}", _ABOVE))
    for few, many in ((4, 64), (16, 256)):
        text = f"quadratic sampling with {few} is better than uniform with {many}"
        found.append(Claim("kernel figure 2", text, f"uniform, m = {many}", f"quadratic, m = {few}", _ABOVE))
    for m in (1, 4, 16):
        for rival in ("quadratic", "unigram"):
            text = f"with neither corrected + log Q {m} draws are better than {rival} sampled softmax with {m}"
            rows = f"{rival}, m = {m}", f"relaxed, unigram + log Q, m = {m}"
            found.append(Claim("ours", text, *rows, _ABOVE))
    text = "sampling from the softmax comes within 2 % with 1"
    return [*found, Claim("kernel theorem 2.1", text, "softmax, m = 1", "full", _ABOVE, 100 * _NEAR)]


def trial(task, options, alpha, seed):
    """Train; return losses on both held-out parts after each epoch, and seconds of training.

    Returns
    -------
    dict; losses : list of [dev, test], infinite from divergence on; seconds : float
    """
    losses, absolute = [], options.get("absolute_softmax", False)
    looking, begun = 0.0, time.perf_counter()

    def look(model):
        nonlocal looking
        since, log_noise = time.perf_counter(), None if absolute else settled(model)[1]
        vectors = model.vectors_in, model.vectors_out
        found = [task.loss(part, *vectors, absolute, log_noise) for part in ("dev", "test")]
        losses.append([loss if math.isfinite(loss) else math.inf for loss in found])
        looking += time.perf_counter() - since

    try:
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            train_with(task, options, alpha, seed, look)
    except DivergenceError:
        losses.append([math.inf, math.inf])
    return {"losses": losses, "seconds": time.perf_counter() - begun - looking}


def measure(task, tell, seed, memo):
    """Return two tables, losses of all samplers and of the full softmax (m = 0) and losses after each epoch; and the
    input of `verdicts.judged`, losses above the full softmax's of the same kind, one per seed.

    memo : Memo of finished trials
    """
    scale = task.scale
    asked = [(kind, 0) for kind in FULL_SOFTMAX] + [(name, m) for name, tried in scale.samples.items() for m in tried]

    def one(name, m):
        options = {"negatives": m, "share_negatives": "centre"} if m else {}
        options |= SAMPLERS[name] if m else FULL_SOFTMAX[name]

        def run(alpha, seed):
            return memo([*task.key(), name, m, alpha, seed], trial, task, options, alpha, seed)

        alpha = scale.rates.best(lambda alpha: -run(alpha, seed)["losses"][-1][0], memo.each)
        found = memo.each(lambda k: run(alpha, seed + k), range(scale.seeds))
        tell(f"{name}, m = {m}: {np.mean([one['losses'][-1][1] for one in found]):.4f} at alpha {alpha:g}")
        return alpha, found

    found = dict(zip(asked, memo.each(one, *zip(*asked, strict=True)), strict=True))
    full = {kind: np.array([run["losses"][-1][1] for run in found[kind, 0][1]]) for kind in FULL_SOFTMAX}
    rows, curves, runs = [], [], {}
    for (name, m), (alpha, tried) in found.items():
        kind = name if name in full else "absolute" if "absolute_softmax" in SAMPLERS[name] else "common"
        name = "full softmax" if name in full else name
        test = np.array([run["losses"][-1][1] for run in tried])
        above = 100 * (test / full[kind] - 1)
        mean, low, _ = interval(above)
        seconds = float(np.median([run["seconds"] for run in tried]))
        rows.append((name, kind, m, alpha, tried[0]["losses"][-1][0], test.mean(), mean, mean - low, seconds))
        runs[f"{name}, m = {m}" if m else "full", _ABOVE] = above
        curves += [(name, kind, m, epoch, loss) for epoch, (_, loss) in enumerate(tried[0]["losses"], 1)]
    columns = ["sampler", "softmax", "m", "alpha", "dev loss", "test loss", _ABOVE, "±", "seconds"]
    table = pd.DataFrame(rows, columns=columns)
    table["perplexity"] = np.exp(table["test loss"])
    return table, pd.DataFrame(curves, columns=["sampler", "softmax", "m", "epoch", "test loss"]), runs


def samples_needed(table, near=_NEAR):
    """Return, for each sampler, the fewest samples from which on its loss stays within `near` of the full softmax's."""
    rows = []
    for name, part in table[table["m"] > 0].groupby("sampler", sort=False):
        within = (part.sort_values("m")["above full, %"] <= 100 * near).to_numpy()
        enough = len(within) - int(np.argmin(within[::-1])) if not within.all() else 0
        needed = int(part.sort_values("m")["m"].iloc[enough]) if enough < len(within) else None
        rows.append((name, "" if needed is None else needed, part["above full, %"].iloc[-1], int(part["m"].max())))
    columns = ["sampler", f"samples to within {100 * near:g} %", "above full at most samples, %", "most samples"]
    return pd.DataFrame(rows, columns=columns)


def _draw(table):
    def draw(figure):
        axes = figure.add_subplot()
        for name, part in table[table["m"] > 0].groupby("sampler", sort=False):
            axes.plot(part["m"], part["test loss"], marker="o", label=name)
        for kind, style in (("common", "--"), ("absolute", ":")):
            loss = table.loc[(table["m"] == 0) & (table["softmax"] == kind), "test loss"].iloc[0]
            axes.axhline(loss, color="0.5", linestyle=style, label=f"full softmax, {kind}")
        axes.set_xscale("log")
        axes.set_xlabel("samples m")
        axes.set_ylabel("full-softmax loss on held-out text, nats")
        axes.legend()

    return draw


def _draw_seconds(table):
    def draw(figure):
        axes = figure.add_subplot()
        for name, part in table[table["m"] > 0].groupby("sampler", sort=False):
            axes.plot(part["seconds"], part[_ABOVE], marker="o", label=name)
        axes.set(xscale="log", yscale="log", xlabel="seconds of training", ylabel="loss above the full softmax's, %")
        axes.legend()

    return draw


def _draw_curves(curves, by, kept):
    """Return a function that draws the loss by epoch of the rows `kept`, one line per value of column `by`."""

    def draw(figure):
        axes = figure.add_subplot()
        for value, part in curves[kept].groupby(by, sort=False):
            axes.plot(part["epoch"], part["test loss"], marker="o", label=f"m = {value}" if by == "m" else value)
        for kind, part in curves[curves["m"] == 0].groupby("softmax", sort=False):
            style = "--" if kind == "common" else ":"
            axes.plot(part["epoch"], part["test loss"], style, color="0.5", label=f"full softmax, {kind}")
        axes.set_xlabel("epoch")
        axes.set_ylabel("full-softmax loss on held-out text, nats")
        axes.legend()

    return draw


def _figures(table, curves, scale):
    figures = {"figure 2": _draw(table), "by seconds": _draw_seconds(table)}
    for name in scale.samples:
        figures[f"figure 3 {name}"] = _draw_curves(curves, "m", curves["sampler"] == name)
    shared = sorted(set.intersection(*map(set, scale.samples.values())))
    m = shared[len(shared) // 2]
    figures[f"figure 4 m {m}"] = _draw_curves(curves, "sampler", curves["m"] == m)
    return figures


def _study(task, where, tell, seed, memo):
    table, curves, runs = measure(task, tell, seed, memo)
    needed = samples_needed(table)
    scale = task.scale
    positives = "the next word" if scale.next_word else f"window {scale.window}"
    text = (
        f"Sampled softmax on {where}: {len(task.train):,} tokens, {len(task.train.vocab):,} words, {positives}, "
        f"d = {scale.dim}, {scale.epochs} epochs, one worker; {scale.rates.said()}, each chosen on a held-out part, "
        f"losses measured on another; {scale.seeds} seeds, ± is half of a 95 % interval over them. Samples needed are "
        "by means. Seconds are the median training time, regardless of other load.\n"
    )
    nulls = task.nulls()
    table["popularity beats it"] = np.where(table["test loss"] > nulls["loss"].iloc[0], "yes", "")
    tables = {"loss": table, "null models": nulls, "samples needed": needed, "epochs": curves}
    verdicts = judged(claims(), runs, {_ABOVE: Unit(name="%", least=0.1)})
    return Study(tables, text, _figures(table, curves, scale), verdicts)


@STUDIES.register("kernel-figure-2")
@declare("kernel", "figures 2 to 4", minutes=120)
def kernel_figure_2(tell, quick, seed, memo):
    """Bias and convergence by m (kernel figures 2 to 4), built-in corpus; quick: a small synthetic language."""
    if quick:
        sentences = word_chain(QUICK.n_vocab, 2 * QUICK.tokens, seed)
        return _study(make_task(sentences, QUICK, seed), "a made-up language", tell, seed, memo)
    return _study(make_task(list(builtin_sentences()), FULL, seed), "the built-in corpus", tell, seed, memo)


@STUDIES.register("kernel-figure-2-ptb")
@declare("kernel", "figures 2 to 4, PTB", minutes=100)
def kernel_figure_2_ptb(tell, quick, seed, memo):
    """The same on the Penn Treebank, the paper's text: next word, bigrams of the previous word; quick: as above."""
    if quick:
        return kernel_figure_2(tell, quick, seed, memo)
    return _study(make_task(sentences_of("ptb-train"), PTB, seed), "the Penn Treebank", tell, seed, memo)
