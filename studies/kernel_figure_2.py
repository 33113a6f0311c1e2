"""Bias of sampled softmax against the number of samples m (Blanc and Rendle 2018, figure 2), on skip-gram.

Figures 3 and 4, convergence by m and by sampler, are the same runs looked at after each epoch.

A model trained with sampled softmax from m draws is evaluated by the loss of the full softmax, exactly, over all words
of a text held out. Each sampler at each m has its own learning rate, chosen on another part held out; all have the same
epochs. As the paper has it (§3.3), the symmetric kernels train and are evaluated by an absolute softmax (eq. 11), the
other samplers by the common one; the reference, trained by the full softmax, is there for both.

Unlike the paper's: skip-gram instead of an LSTM or a deep network, one set of m draws for all positives of a centre, a
draw that hits the positive is left out (the paper draws among the negatives), and steps held to one unit of logit. On
the Penn Treebank the task is the paper's, to predict the next word, and bigrams are of the word before.
"""

import math

import numpy as np
import pandas as pd

from w2vneg.data.builtin import builtin_sentences
from w2vneg.ground.errors import DivergenceError

from . import STUDIES, Study, declare
from .kernel_task import SAMPLERS, Scale, best_alpha, make_task, sentences_of, train_full, train_sampled, word_chain
from .verdicts import Claim, Unit, interval, judged

_NEAR = 0.02  # "within 2 % of the full softmax"
_ABOVE = "above full, %"

_CHEAP, _TREE, _DEAR = (1, 4, 16, 64, 256, 1024), (1, 4, 16, 64, 256), (1, 4, 16, 64)
FULL = Scale(
    dict.fromkeys(("uniform", "unigram", "bigram"), _CHEAP)
    | {"quadratic": _TREE}
    | dict.fromkeys(("quartic", "softmax"), _DEAR),
    n_vocab=2000,
    tokens=100_000,
    dim=32,
    epochs=5,
    seeds=3,
)
PTB = Scale(
    dict.fromkeys(("uniform", "unigram", "bigram", "quadratic"), _TREE)
    | dict.fromkeys(("quartic", "softmax"), (1, 4, 16)),
    n_vocab=2000,
    tokens=100_000,
    dim=32,
    epochs=5,
    window=1,
    next_word=True,
    seeds=3,
)
QUICK = Scale({"uniform": (1, 64), "quadratic": (1, 64)}, 300, 20_000, 12, 3, (0.05, 0.1, 0.2))


def claims():
    """Return what the paper says: a sampler's loss is farther above the full softmax's than another one's."""
    found = []
    for m in (4, 16, 64):
        for worse in ("uniform", "unigram", "bigram"):
            text = f"quadratic sampling is better than {worse} with {m}"
            found.append(Claim("kernel figure 2", text, f"{worse}, m = {m}", f"quadratic, m = {m}", _ABOVE))
    for few, many in ((4, 64), (16, 256)):
        text = f"quadratic sampling with {few} is better than uniform with {many}"
        found.append(Claim("kernel figure 2", text, f"uniform, m = {many}", f"quadratic, m = {few}", _ABOVE))
    text = "sampling from the softmax comes within 2 % with 1"
    return [*found, Claim("kernel theorem 2.1", text, "softmax, m = 1", "full", _ABOVE, 100 * _NEAR)]


def _tried(task, train, absolute, start, seed):
    """Choose an alpha and train with it.

    train : callable(alpha, seed, look); start : int, place of the alpha tried first

    Returns
    -------
    place : int, of the alpha that the first held-out part likes best
    dev : float, its loss there; test : list of float, its loss on the other part, a run for each seed
    curve : list of float, that of the first run after each epoch
    """
    curves = {}

    def run(alpha, seed):
        """Return both parts' losses after each epoch, [(dev, test)]."""
        after = []

        def look(*matrices):
            after.append([task.loss(part, *matrices, absolute) for part in ("dev", "test")])

        try:
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                train(alpha, seed, look)
        except DivergenceError:
            after.append([math.inf, math.inf])
        return [[loss if math.isfinite(loss) else math.inf for loss in losses] for losses in after]

    def dev_loss(alpha):
        curves[alpha] = run(alpha, seed)
        return curves[alpha][-1][0]

    place = best_alpha(dev_loss, task.scale.alphas, start)
    alpha = task.scale.alphas[place]
    curve = curves[alpha]
    others = [run(alpha, seed + k)[-1][1] for k in range(1, task.scale.seeds)]
    return place, curve[-1][0], [curve[-1][1], *others], [test for _, test in curve]


def _full(task, absolute):
    return lambda alpha, seed, look: train_full(task, absolute, alpha, seed, look)


def _sampled(task, name, m):
    def train(alpha, seed, look):
        train_sampled(task, name, m, alpha, seed, lambda model: look(model.vectors_in, model.vectors_out))

    return train


def measure(task, tell, seed, memo):
    """Return two tables, losses of all samplers and of the full softmax, m = 0, and those after each epoch; and what
    `verdicts.judged` takes, losses above the full softmax's of the same kind, a seed each.

    memo : Memo, knows what was measured before
    """
    alphas = task.scale.alphas
    rows, curves, full, runs = [], [], {}, {}

    def add(name, kind, m, found):
        place, dev, test, curve = found
        above = 100 * (np.array(test) / full.setdefault(kind, np.array(test)) - 1)
        mean, low, _ = interval(above)
        rows.append((name, kind, m, alphas[place], dev, np.mean(test), mean, mean - low))
        runs[f"{name}, m = {m}" if m else "full", _ABOVE] = above
        curves.extend((name, kind, m, epoch, loss) for epoch, loss in enumerate(curve, 1))
        tell(f"{name}, {kind}, m = {m}: {np.mean(test):.4f} at alpha {alphas[place]:g}")
        return place

    middle, key = len(alphas) // 2, [*task.key(), task.scale.seeds]
    for kind in ("common", "absolute"):
        absolute = kind == "absolute"
        train = _full(task, absolute)
        found = memo([*key, "full", kind], lambda t=train, a=absolute: _tried(task, t, a, middle, seed))
        add("full softmax", kind, 0, found)
    for name, samples in task.scale.samples.items():
        absolute = SAMPLERS[name].get("absolute_softmax", False)
        place = middle
        for m in samples:
            train = _sampled(task, name, m)
            found = memo([*key, name, m], lambda t=train, a=absolute, p=place: _tried(task, t, a, p, seed))
            place = add(name, "absolute" if absolute else "common", m, found)
    columns = ["sampler", "softmax", "m", "alpha", "dev loss", "test loss", _ABOVE, "±"]
    table = pd.DataFrame(rows, columns=columns)
    table["perplexity"] = np.exp(table["test loss"])
    return table, pd.DataFrame(curves, columns=["sampler", "softmax", "m", "epoch", "test loss"]), runs


def speeds(curves, n_vocab):
    """Return the share in % of its fall, from log V to its last loss, that each run has behind it after one epoch."""
    rows = []
    for (name, kind, m), part in curves.groupby(["sampler", "softmax", "m"], sort=False):
        losses = part["test loss"].to_numpy()
        fall = math.log(n_vocab) - losses
        rows.append((name, kind, m, losses[0], losses[-1], 100 * fall[0] / fall[-1] if fall[-1] > 0 else math.nan))
    columns = ["sampler", "softmax", "m", "after 1 epoch", "at the end", "of the fall after 1 epoch, %"]
    return pd.DataFrame(rows, columns=columns)


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


def _verdict(needed):
    column = needed.columns[1]
    uniform, quadratic = (needed.loc[needed["sampler"] == name, column].iloc[0] for name in ("uniform", "quadratic"))
    paper = "The paper finds that quadratic sampling needs one to two orders of magnitude fewer samples than uniform."
    if quadratic == "":
        most = needed.loc[needed["sampler"] == "quadratic", "most samples"].iloc[0]
        return f"{paper} Here quadratic sampling does not come within 2 % with up to {most} samples."
    if uniform == "":
        most = needed.loc[needed["sampler"] == "uniform", "most samples"].iloc[0]
        return (
            f"{paper} Here it comes within 2 % with {quadratic}; uniform sampling does not with {most}: "
            f"a factor of more than {most / quadratic:g}."
        )
    factor = uniform / quadratic
    says = "as the paper finds" if factor >= 10 else "less than the paper finds"
    return f"{paper} Here it comes within 2 % with {quadratic}, uniform with {uniform}: a factor of {factor:g}, {says}."


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


def _draw_curves(curves, by, kept):
    """Return a function that draws the loss by epoch of the rows `kept`, a line for each value of the column `by`."""

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
    figures = {"figure 2": _draw(table)}
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
        f"d = {scale.dim}, {scale.epochs} epochs, one worker; learning rates from {scale.alphas[0]:g} to "
        f"{scale.alphas[-1]:g}, each chosen on a held-out part, losses measured on another; {scale.seeds} seeds, ± is "
        f"half of a 95 % interval over them.\n\n{_verdict(needed)}\n"
    )
    tables = {"loss": table, "samples needed": needed, "speed": speeds(curves, len(task.train.vocab)), "epochs": curves}
    verdicts = judged(claims(), runs, {_ABOVE: Unit(name="%", least=0.1)})
    return Study(tables, text, _figures(table, curves, scale), verdicts)


@STUDIES.register("kernel-figure-2")
@declare("kernel", "figures 2 to 4", minutes=45)
def kernel_figure_2(tell, quick, seed, memo):
    """Bias and convergence by m (kernel figures 2 to 4), built-in corpus; quick: a small made-up language."""
    if quick:
        sentences = word_chain(QUICK.n_vocab, 2 * QUICK.tokens, seed)
        return _study(make_task(sentences, QUICK, seed), "a made-up language", tell, seed, memo)
    return _study(make_task(list(builtin_sentences()), FULL, seed), "the built-in corpus", tell, seed, memo)


@STUDIES.register("kernel-figure-2-ptb")
@declare("kernel", "figures 2 to 4, PTB", minutes=35)
def kernel_figure_2_ptb(tell, quick, seed, memo):
    """The same on the Penn Treebank, the paper's own text: next word, bigrams of the word before; quick: as above."""
    if quick:
        return kernel_figure_2(tell, quick, seed, memo)
    return _study(make_task(sentences_of("ptb-train"), PTB, seed), "the Penn Treebank", tell, seed, memo)
