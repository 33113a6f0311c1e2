"""Figure 3 of the CSS paper (Botev, Zheng and Barber 2017, §6.2): a recurrent language model by every objective.

The paper's text, the English part of Europarl, was not available: this uses the Penn Treebank, cut to what two cores do
in minutes. As in the paper: a GRU, S draws from counts to the power .75 shared by a minibatch, and S' spare ones to
replace those that are the word itself. Unlike the paper: Adam for a few epochs, separate word matrices for input and
output, windows of the running text, S = 100 of 2,000 words instead of 250 of more, and held-out losses instead of
training losses. The paper's panel (b), counts to the power 1, is compared with (a) and with uniform draws, and the
main objectives with 50, 100 and 250 draws.

In addition to the figure: NCE with k = 25 noise words per word, which the notes call enough, with the normaliser fixed
or learned, from log V or from 0 (Zoph et al. 2016), or fixed with biases that start at −log V, so that Z starts near 1
(Devlin et al. 2014); and log Z of all methods, whose spread shows whether a model normalises itself. And one negative:
CSS and "IS large vocab", which correct the negatives or both by log q, against the relaxed softmax, which corrects
neither and has log Q added to its scores afterwards, by number of draws, shared by a minibatch or drawn for each word.
"""

import math

from . import STUDIES, Study, declare
from .climb import Rates
from .networks import Method, Plan, draw_curves, how, log_z, measure
from .sequences import made_up, treebank
from .verdicts import Claim, Unit, judged

_LENGTH = 20
_UNIT = {"log-likelihood": Unit(1.0, "nats", 0.01)}
CLAIMS = [
    Claim(paper, f"{better} is better than {worse}", better, worse, "log-likelihood")
    for paper, better, worse in (
        ("CSS", "CSS (IS correct class)", "IS large vocab"),
        ("CSS", "BlackOut", "IS large vocab"),
        ("CSS", "CSS (IS correct class)", "ranking"),
        ("CSS", "CSS (IS correct class)", "negative sampling"),
        ("CSS", "CSS (IS correct class)", "IS"),
        *(
            ("notes, which say equal", "full softmax", f"NCE, k = 25, {z}")
            for z in ("z = 1", "z = 1, biased", "z learned", "z learned from 0")
        ),
        *(
            ("CSS, panel b", f"{better}, α = 1", f"{worse}, α = 1")
            for better, worse in (
                ("CSS (IS correct class)", "IS large vocab"),
                ("BlackOut", "IS large vocab"),
                ("CSS (IS correct class)", "ranking"),
                ("CSS (IS correct class)", "negative sampling"),
                ("CSS (IS correct class)", "IS"),
            )
        ),
        *(
            ("ours", f"relaxed + log Q, {n}", f"{rival}, {n}")
            for n in ("1 shared", "10 shared", "50 shared", "1 each", "5 each")
            for rival in ("CSS (IS correct class)", "IS large vocab")
        ),
    )
]
_BY_DRAWS = {  # name -> (options, how log P is read off)
    "CSS (IS correct class)": ({"loss": "css", "exclude": "target"}, "raw"),
    "IS large vocab": ({"loss": "large-vocab", "exclude": "none"}, "raw"),
    "relaxed + log Q": ({"loss": "relaxed", "sampler": "popularity", "exclude": "none"}, "corrected"),
}
_SHARED, _EACH = (1, 10, 50, 250), (1, 5, 20)
_FIGURE = {  # the figure's approximations, by draws shared by a minibatch
    "CSS (IS correct class)": {"loss": "css", "exclude": "target", "spare": 10},
    "BlackOut": {"loss": "blackout", "exclude": "target", "spare": 10},
    "IS large vocab": {"loss": "large-vocab", "exclude": "none"},
    "ranking": {"loss": "ranking", "exclude": "target", "spare": 10},
    "negative sampling": {"loss": "ns", "exclude": "none"},
    "IS": {"loss": "importance", "exclude": "none"},
}


def by_noise(negatives, exponents=(0.0, 1.0), numbers=(50, 250)):
    """Return the figure's objectives with other exponents α of the noise, then with other numbers of draws S."""
    found = []
    for name, options in _FIGURE.items():
        given = options | {"negatives": negatives, "shared": True}
        found += [Method(f"{name}, α = {a:g}", given | {"noise_exponent": a}) for a in exponents]
        numbers_left = () if name in _BY_DRAWS else numbers  # `by_draws` has the others
        given |= {"noise_exponent": 0.75}
        found += [Method(f"{name}, {n} shared", given | {"negatives": n}) for n in numbers_left]
    return tuple(found)


def by_draws(shared=_SHARED, each=_EACH):
    """Return the objectives compared by number of draws, shared by a minibatch or drawn for each word."""
    found = []
    for name, (options, score) in _BY_DRAWS.items():
        for n in shared:
            spare = {"spare": 10} if options["exclude"] == "target" else {}
            given = options | {"negatives": n, "shared": True, "noise_exponent": 0.75} | spare
            found.append(Method(f"{name}, {n} shared", given, score))
        for n in each:
            found.append(Method(f"{name}, {n} each", options | {"negatives": n, "noise_exponent": 0.75}, score))
    return tuple(found)


def methods(negatives):
    """Return the objectives of the figure with so many shared draws, and the additional ones."""
    shared = {"negatives": negatives, "shared": True, "noise_exponent": 0.75}
    each = {"negatives": 25, "noise_exponent": 1.0}
    learned = {"loss": "nce", "log_z": "learned"} | each
    return (
        Method("full softmax", {"loss": "softmax"}),
        *(Method(name, options | shared) for name, options in _FIGURE.items()),
        Method("negative sampling + log q", _FIGURE["negative sampling"] | shared, "corrected"),
        Method("IS, 20 each", {"loss": "importance", "negatives": 20, "noise_exponent": 0.75}),
        Method("NCE, z = 1", {"loss": "nce"} | shared),
        Method("NCE, k = 25, z = 1", {"loss": "nce"} | each),
        Method("NCE, k = 25, z = 1, biased", {"loss": "nce", "bias": True} | each),
        Method("NCE, k = 25, z learned", learned),
        Method("NCE, k = 25, z learned from 0", learned | {"log_z_start": 0.0}),
        Method("full softmax, λ = .1", {"loss": "softmax", "self_normalise": "0.1"}),
    )


def one_negative(table):
    """Return a row for each objective and number of draws: loss above the full softmax's in %, and seconds."""
    full = table.loc[table["method"] == "full softmax", "loss"].iloc[0]
    part = table[table["method"].str.contains("^(?:CSS|IS large|relaxed).*, [0-9]+ (?:shared|each)$")]
    part = part[["method", "loss", "loss ±", "seconds"]]
    return part.assign(**{"above full, %": 100 * (part["loss"] / full - 1)})


def run(task, plan, tried, given):
    """Return the study of one task; given : (tell, seed, memo)."""
    tell, seed, memo = given
    found = measure(task, plan, tried, seed, tell, memo, log_z)
    text = f"{how(task, plan)} A uniform guess has {math.log(task.n_vocab):.3f} nats.\n"
    start = math.log(task.n_vocab)
    drawn = {}
    for panel, end in (("3a", ""), ("3b", ", α = 1")):
        names = ["full softmax", *(name + end for name in _FIGURE)]
        drawn[f"figure {panel}"] = draw_curves(found.curves[found.curves["method"].isin(names)], start)
    tables = {"loss": found.table, "null models": found.nulls, "one negative": one_negative(found.table)}
    tables |= {"rates": found.rates, "curves": found.curves}
    return Study(tables, text, drawn, judged(CLAIMS, found.runs, _UNIT))


@STUDIES.register("css-figure-3")
@declare("CSS", "figure 3", minutes=60)
def css_figure_3(tell, quick, seed, memo):
    """A GRU language model by every objective of the CSS paper, on the Penn Treebank; quick: a made-up language."""
    if quick:
        task, plan = made_up(200, 6_000, 10, seed), Plan("gru", 12, 1, 20, 2, rates=Rates(0.01, 3.0, (0, 1), 0))
        return run(task, plan, methods(20) + by_noise(20, (1.0,), ()) + by_draws((1,), (1,)), (tell, seed, memo))
    task = treebank({"train": 50_000, "valid": 10_000, "test": 20_000}, 2000, _LENGTH)
    return run(task, Plan("gru", 48, 3, 20, 8), methods(100) + by_noise(100) + by_draws(), (tell, seed, memo))
