"""Figure 3 of the CSS paper (Botev, Zheng and Barber 2017, §6.2): a recurrent language model by every objective.

The paper's text, the English part of Europarl, is not at hand: this is the Penn Treebank, cut to what two cores do in
minutes. As there: a GRU, S draws from counts to the power .75 shared by a minibatch, S' more to make up for those that
are the word itself. Unlike there: Adam for a few epochs, separate matrices of words for input and output, windows of
the running text, and losses on data held out instead of the training set's.

Beside the figure: NCE with k = 25 noise words for each word, which the notes take for enough, its normaliser fixed or
learned, or fixed with biases that start at −log V, so that Z starts near 1 (Devlin et al. 2014); and log Z of all
methods, whose spread says whether a model normalises itself.
"""

import math

from . import STUDIES, Study, declare
from .networks import Method, Plan, draw_curves, how, log_z, measure
from .sequences import made_up, treebank
from .verdicts import Claim, Unit, judged

_LENGTH = 20
_UNIT = {"log-likelihood": Unit(1.0, "nats", 0.01)}
CLAIMS = [
    Claim("CSS", f"{better} is better than {worse} on a recurrent net", better, worse, "log-likelihood")
    for better, worse in (
        ("CSS (IS correct class)", "IS large vocab"),
        ("BlackOut", "IS large vocab"),
        ("CSS (IS correct class)", "ranking"),
        ("CSS (IS correct class)", "negative sampling"),
        ("CSS (IS correct class)", "IS"),
    )
] + [
    Claim(
        "notes",
        f"the softmax is ahead of {name}, which the notes take for its equal",
        "full softmax",
        name,
        "log-likelihood",
    )
    for name in ("NCE, k = 25, z = 1", "NCE, k = 25, z = 1, biased", "NCE, k = 25, z learned")
]


def methods(negatives):
    """Return the objectives of the figure with so many shared draws, and what is tried beside them."""
    shared = {"negatives": negatives, "shared": True, "noise_exponent": 0.75}
    excluded = shared | {"spare": 10, "exclude": "target"}
    each = {"negatives": 25, "noise_exponent": 1.0}
    return (
        Method("full softmax", {"loss": "softmax"}),
        Method("CSS (IS correct class)", {"loss": "css"} | excluded),
        Method("BlackOut", {"loss": "blackout"} | excluded),
        Method("IS large vocab", {"loss": "large-vocab"} | shared | {"exclude": "none"}),
        Method("ranking", {"loss": "ranking"} | excluded),
        Method("negative sampling", {"loss": "ns"} | shared | {"exclude": "none"}),
        Method("negative sampling + log q", {"loss": "ns"} | shared | {"exclude": "none"}, "corrected"),
        Method("IS", {"loss": "importance"} | shared | {"exclude": "none"}),
        Method("IS, 20 each", {"loss": "importance", "negatives": 20, "noise_exponent": 0.75}),
        Method("NCE, z = 1", {"loss": "nce"} | shared),
        Method("NCE, k = 25, z = 1", {"loss": "nce"} | each),
        Method("NCE, k = 25, z = 1, biased", {"loss": "nce", "bias": True} | each),
        Method("NCE, k = 25, z learned", {"loss": "nce", "log_z": "learned"} | each),
        Method("full softmax, λ = .1", {"loss": "softmax", "self_normalise": "0.1"}),
    )


def verdicts(table, n_vocab):
    """Return what the table says beside the paper (str, Markdown)."""
    loss, reach = (dict(zip(table["method"], table[column], strict=True)) for column in ("loss", "loss ±"))
    best = sorted(("CSS (IS correct class)", "BlackOut", "IS large vocab"), key=loss.get)
    full = loss["full softmax"]
    above = {name: loss[name] - full for name in loss if name.startswith("NCE, k")}
    plain, biased, learned = above.values()
    spread = dict(zip(table["method"], table["sd of log Z"], strict=True))
    worst = max(loss, key=loss.get)
    lines = [
        f"- The paper: BlackOut and CSS are best. Here the order of the sampled softmaxes is {', '.join(best)} "
        f"({', '.join(f'{loss[name]:.3f} ± {reach[name]:.3f}' for name in best)} nats; full softmax {full:.3f}).",
        f"- The paper: ranking and negative sampling are significantly inferior. Here {loss['ranking']:.3f} and "
        f"{loss['negative sampling']:.3f}; negative sampling read off with its noise's log q "
        f"{loss['negative sampling + log q']:.3f}.",
        f"- The paper: plain importance sampling is unstable. Here it ends at {loss['IS']:.3f} at its best rate, with "
        f"20 draws for each word at {loss['IS, 20 each']:.3f}; a uniform guess has {math.log(n_vocab):.3f}. The worst "
        f"of all is {worst}.",
        "- The notes: with k = 25 noise-contrastive estimation matches the softmax. Here it is "
        f"{plain:+.3f} nats from it with z = 1, {biased:+.3f} with biases that start at −log V, {learned:+.3f} with "
        "one log z learned for all contexts.",
        f"- Self-normalisation: log Z varies over contexts by {spread['full softmax']:.2f} (sd) under the full "
        f"softmax, by {spread['full softmax, λ = .1']:.2f} with the penalty, by {spread['NCE, k = 25, z = 1']:.2f} "
        "under NCE.",
    ]
    return "\n".join(lines)


def run(task, plan, tried, given):
    """Return the study of one task; given : (tell, seed, memo)."""
    tell, seed, memo = given
    found = measure(task, plan, tried, seed, tell, memo, log_z)
    text = f"{how(task, plan)}\n\n{verdicts(found.table, task.n_vocab)}\n"
    start = math.log(task.n_vocab)
    shown = found.curves[found.curves["valid"] < 1.5 * start]
    tables = {"loss": found.table, "rates": found.rates, "curves": found.curves}
    return Study(tables, text, {"figure 3": draw_curves(shown, start)}, judged(CLAIMS, found.runs, _UNIT))


@STUDIES.register("css-figure-3")
@declare("CSS", "figure 3", minutes=10)
def css_figure_3(tell, quick, seed, memo):
    """A GRU language model by every objective of the CSS paper, on the Penn Treebank; quick: a made-up language."""
    if quick:
        task, plan = made_up(200, 6_000, 10, seed), Plan("gru", 12, 1, 20, 2, rates=(0.01, 0.03))
        return run(task, plan, methods(20), (tell, seed, memo))
    task = treebank({"train": 50_000, "valid": 10_000, "test": 20_000}, 2000, _LENGTH)
    return run(task, Plan("gru", 48, 3, 20, 8), methods(100), (tell, seed, memo))
