"""Figures 2 to 4 of Blanc and Rendle 2018 on a recurrent network: an LSTM over the Penn Treebank.

Sampled softmax with m draws for each word, by sampler and m. As in the paper, the symmetric kernels use the absolute
softmax (eq. 11) for training and evaluation, all others the common one, and draws that are the word itself do not
count. Unlike the paper: one layer, a smaller network and part of the text, Adam for a few epochs; bigrams are counted
on the training text.

Figure 2 is the final loss by m; figure 3 the loss by epoch for several m, figure 4 for several samplers. Speed of
convergence is the share of a run's own gain, from the loss of a uniform guess to its final loss, that it has made after
the first epoch: a biased sampler ends higher, but need not converge more slowly.

`kernel-mlp` is a small version of the YouTube network of §4.1.1: three items, a deep network, the next item. The
paper's data are not public; this uses MovieLens 1M, where times are available for half of the users (1 to 2999): all
items a user rated, in order of rating time, whatever the rating. One ReLU layer is on top of the three items'
embeddings; there are no other user features. Users of validation and test data are not trained on.
"""

import math

import pandas as pd

from . import STUDIES, Study, declare
from .climb import Rates
from .networks import Method, Plan, draw_curves, how, measure
from .sequences import histories, made_up, made_up_histories, treebank
from .verdicts import Claim, Unit, judged

SAMPLERS = {
    "uniform": {"loss": "sampled-softmax", "sampler": "uniform"},
    "unigram": {"loss": "sampled-softmax", "sampler": "popularity", "noise_exponent": 1.0},
    "bigram": {"loss": "sampled-softmax", "sampler": "bigram", "noise_exponent": 1.0},
    "quadratic": {"loss": "kernel-quadratic"},
    "quartic": {"loss": "kernel-quartic"},
    "softmax": {"loss": "sampled-softmax", "sampler": "selfplay", "method": "exact"},
    "relaxed + log Q": {"loss": "relaxed", "sampler": "popularity", "noise_exponent": 1.0},
    "large-vocab": {"loss": "large-vocab", "noise_exponent": 1.0},
}
_ABSOLUTE = ("quadratic", "quartic")
_GAIN = 0.5  # nats
_UNIT = {"log-likelihood": Unit(1.0, "nats", 0.01)}
_FULL = {False: "full softmax", True: "full softmax, absolute"}


def methods(samples):
    """Return the full softmaxes, then each sampler with its numbers of draws; samples : dict of sampler -> tuple."""
    tried = [Method(name, {"loss": "softmax", "absolute_softmax": absolute}) for absolute, name in _FULL.items()]
    for name, numbers in samples.items():
        score = "corrected" if name == "relaxed + log Q" else "raw"
        tried += [Method(f"{name}, m = {m}", SAMPLERS[name] | {"negatives": m}, score) for m in numbers]
    return tried


def beside_full(table):
    """Return a row for each sampler and m: loss above that of the full softmax of its kind, in per cent."""
    full = {absolute: table.loc[table["method"] == name, "loss"].iloc[0] for absolute, name in _FULL.items()}
    rows = []
    for row in table[table["method"].str.contains(", m = ")].itertuples():
        name, m = row.method.split(", m = ")
        rows.append((name, int(m), row.loss, row.perplexity, 100 * (row.loss / full[name in _ABSOLUTE] - 1)))
    return pd.DataFrame(rows, columns=["sampler", "m", "loss", "perplexity", "above full, %"])


def speed(curves, start):
    """Return the share of its own gain that each method has made after the first epoch: mean over seeds, Series.

    Only for methods that gain more than half a nat on a uniform guess; shares of less would be noise.
    """
    shares = {}
    for name, part in curves.groupby("method", sort=False):
        by_epoch = part.groupby("epoch")["valid"].mean()
        if start - by_epoch.iloc[-1] > _GAIN:
            shares[name] = (start - by_epoch.iloc[0]) / (start - by_epoch.iloc[-1])
    return pd.Series(shares, name="share after one epoch")


def claims(samples):
    """Return the paper's claims on samplers with the same number of draws, and on the fewest and the most."""
    pairs = [("quadratic", "uniform"), ("quadratic", "unigram"), ("quadratic", "bigram"), ("softmax", "uniform")]
    pairs += [("relaxed + log Q", rival) for rival in ("quadratic", "unigram", "large-vocab")]
    found = []
    for better, worse in pairs:
        for m in sorted({*samples.get(better, ())} & {*samples.get(worse, ())}):
            text = f"{better} sampling is better than {worse} with {m}"
            paper = "ours" if "relaxed" in better else "kernel"
            found.append(Claim(paper, text, f"{better}, m = {m}", f"{worse}, m = {m}", "log-likelihood"))
    few, most = samples["softmax"][0], samples["softmax"][-1]
    text = f"softmax sampling is better with {most} than with {few}, against what theorem 2.1 lets expect"
    if few < most:
        ends = f"softmax, m = {most}", f"softmax, m = {few}"
        found.append(Claim("kernel", text, *ends, "log-likelihood"))
    return found


def _draw_bias(bias, table):
    def draw(figure):
        axes = figure.add_subplot()
        for number, (name, part) in enumerate(bias.groupby("sampler", sort=False)):
            axes.plot(part["m"], part["perplexity"], f"{'os'[number // 7]}-", label=name)  # colours repeat after seven
        for name, style in zip(_FULL.values(), ("--", ":"), strict=True):
            value = table.loc[table["method"] == name, "perplexity"].iloc[0]
            axes.axhline(value, color="black", linestyle=style, label=name)
        axes.set(xscale="log", yscale="log", xlabel="samples m", ylabel="perplexity on test data")
        axes.legend()

    return draw


def run(task, plan, samples, given):
    """Return the study of one task; given : (tell, seed, memo)."""
    tell, seed, memo = given
    measured = measure(task, plan, methods(samples), seed, tell, memo)
    table, curves = measured.table, measured.curves
    bias, start = beside_full(table), math.log(task.n_vocab)
    shares = speed(curves, start)
    text = f"{how(task, plan)}\n"
    drawn = {"figure 2": _draw_bias(bias, table)}
    for name in ("uniform", "quadratic", "softmax"):
        of_sampler = curves[curves["method"].str.startswith(f"{name}, m = ")]
        drawn[f"figure 3, {name}"] = draw_curves(of_sampler, start)
    m = min(bias.loc[bias["sampler"] == "quadratic", "m"])
    drawn["figure 4"] = draw_curves(curves[curves["method"].str.endswith(f", m = {m}")], start)
    tables = {"loss": table, "null models": measured.nulls, "bias": bias}
    tables |= {"speed": shares.rename_axis("method").reset_index(), "rates": measured.rates, "curves": curves}
    return Study(tables, text, drawn, judged(claims(samples), measured.runs, _UNIT))


@STUDIES.register("kernel-lstm")
@declare("kernel", "figures 2–4, LSTM", minutes=35)
def kernel_lstm(tell, quick, seed, memo):
    """An LSTM over the Penn Treebank by sampler and number of samples; quick: over a synthetic language."""
    if quick:
        task, plan = made_up(200, 6_000, 10, seed), Plan("lstm", 12, 2, 20, 2, rates=Rates(0.01, 3.0, (0, 1), 0))
        return run(task, plan, {"uniform": (2, 50), "quadratic": (2, 50), "softmax": (2,)}, (tell, seed, memo))
    samples = dict.fromkeys(("uniform", "unigram", "bigram"), (5, 20, 80, 320))
    samples |= dict.fromkeys(("relaxed + log Q", "large-vocab"), (1, 5, 20, 80))
    samples |= {"quadratic": (5, 20, 80), "quartic": (5, 20), "softmax": (5, 20)}
    task = treebank({"train": 40_000, "valid": 10_000, "test": 20_000}, 2000, 20)
    return run(task, Plan("lstm", 32, 3, 20, 5), samples, (tell, seed, memo))


@STUDIES.register("kernel-mlp")
@declare("kernel", "figure 2, YouTube", minutes=30)
def kernel_mlp(tell, quick, seed, memo):
    """Three items, a deep network, the next item of MovieLens 1M by sampler; quick: synthetic histories."""
    if quick:
        task, plan = made_up_histories(150, 3, seed), Plan("mlp", 12, 1, 100, 2, rates=Rates(0.01, 3.0, (0, 1), 0))
        return run(task, plan, {"uniform": (2, 50), "quadratic": (2, 50), "softmax": (2,)}, (tell, seed, memo))
    samples = {"uniform": (5, 20, 80, 320), "quadratic": (5, 20, 80), "softmax": (5, 20)}
    samples |= dict.fromkeys(("relaxed + log Q", "large-vocab"), (1, 5, 20))
    task = histories("ml-1m-half", 3, seed, most=50_000)
    return run(task, Plan("mlp", 32, 3, 256, 5), samples, (tell, seed, memo))
