"""Claims that the papers make in passing, each tested on one small task: predict the next word of a text.

Every method has its own learning rate, chosen on held-out text by the log-likelihood of its logits, corrected by the
law (relaxed softmax and negative sampling: + log Q; the others as they are). Then several seeds are run, with
differences paired by seed. `verdicts` decides claims of order and of equality. Intervals are over seeds, at 95 % over
all claims together; they do not cover other texts. Whether 5 negatives are best is tested on RS's own tasks, items
(`next-item-negatives`) and word vectors (`rs-table-1-negatives`).
"""

import math
from itertools import chain

import numpy as np
import pandas as pd

from w2vneg.data.builtin import builtin_sentences
from w2vneg.ground.errors import DivergenceError
from w2vneg.objectives.law import settled
from w2vneg.vectors.evaluation.scores import scores_of

from . import STUDIES, Study, declare
from .climb import Rates
from .gaussian_task import log_softmax
from .kernel_task import RATES, Scale, make_task, train_with, word_chain
from .verdicts import Claim, Unit, judged

FULL = Scale({}, n_vocab=1000, tokens=60_000, dim=32, epochs=5, rates=RATES, window=1, next_word=True, seeds=5)
_FEW = Rates(0.05, 2.0, (0, 1), 0)
QUICK = Scale({}, n_vocab=100, tokens=6_000, dim=8, epochs=2, rates=_FEW, window=1, next_word=True, seeds=2)

_COUNTS = {"sampler": "popularity", "noise_exponent": 1.0}
_SOFTMAX = {"loss": "softmax", "batch": 32}
_SAMPLED = {"loss": "sampled-softmax", "exclude": "target", **_COUNTS}

METHODS = {  # name -> options
    "softmax": _SOFTMAX,
    "softmax, absolute": _SOFTMAX | {"absolute_softmax": True},
    "NCE, k = 5": {"loss": "nce", "negatives": 5, **_COUNTS},
    "NCE, k = 25": {"loss": "nce", "negatives": 25, **_COUNTS},
    "NCE, k = 100": {"loss": "nce", "negatives": 100, **_COUNTS},
    "BCE, n = 5": {"loss": "ns", "negatives": 5, "share_negatives": "no", **_COUNTS},
    "relaxed, n = 5": {"loss": "relaxed", "negatives": 5, **_COUNTS},
    "sampled softmax, m = 20": _SAMPLED | {"negatives": 20},
    "sampled softmax, m = 100": _SAMPLED | {"negatives": 100},
    "importance, m = 20": {"loss": "importance", "negatives": 20, **_COUNTS},
    "hierarchical": {"loss": "hierarchical"},
    "softmax, self-normalised": _SOFTMAX | {"self_normalise": "0.1"},
    "softmax, a tenth self-normalised": _SOFTMAX | {"self_normalise": "0.1,0.1"},
}
_QUICK_METHODS = ("BCE, n = 5", "relaxed, n = 5")


def _claim(paper, says, figure, one, other, margin=None):
    return Claim(paper, f"{says}: {figure}, {one} − {other}", one, other, figure, margin)


_LOSS, _P, _CORRECTED, _SPREAD = "loss, %", "P@15, %", "corrected P@15, %", "spread of log Z"
_PERPLEXITY = "log perplexity, %"
_FALL = "of the fall after 1 epoch, %"
_NCE, _BCE, _FIVE = "NCE, k = 25", "BCE, n = 5", "relaxed, n = 5"
_PENALTY, _TENTH = "softmax, self-normalised", "softmax, a tenth self-normalised"
CLAIMS = (
    _claim("notes §3", "NCE with k = 25 matches the softmax", _LOSS, _NCE, "softmax", 2.0),
    _claim("kernel §3.3", "absolute and common softmax do as well", _LOSS, "softmax, absolute", "softmax", 2.0),
    _claim("RS §3", "binary cross-entropy ranks worse", _P, _FIVE, _BCE),
    _claim("RS §3", "binary cross-entropy ranks worse, + log Q", _CORRECTED, _FIVE, _BCE),
    _claim("CSS §2.1", "importance sampling is worse", _LOSS, "importance, m = 20", "sampled softmax, m = 20"),
    Claim(
        "kernel §5.2",
        "hierarchical softmax has a perplexity over 10 % above the full softmax's",
        "hierarchical",
        "softmax",
        _PERPLEXITY,
        by=100 * math.log(1.1),
    ),
    _claim(
        "kernel §4.2.2", "as fast with fewer samples", _FALL, "sampled softmax, m = 20", "sampled softmax, m = 100", 5.0
    ),
    _claim("notes §5", "NCE with Z = 1 learns to normalise itself", _SPREAD, "softmax", _NCE),
    _claim("notes §5", "a penalty is needed to enforce it", _SPREAD, _NCE, _PENALTY),
    _claim("notes §5", "the penalty costs nothing", _LOSS, _PENALTY, "softmax", 2.0),
    _claim("notes §5", "a tenth of the pairs is enough", _SPREAD, _TENTH, _PENALTY, 0.1),
)
_UNITS = {
    _LOSS: Unit(name="%", least=1.0),
    _PERPLEXITY: Unit(name="%"),
    _SPREAD: Unit(),
    **dict.fromkeys((_P, _CORRECTED, _FALL), Unit(name="points")),
}


def figures_of(task, part, scores, factor, log_noise):
    """Return figures (dict) of scores, float (n_vocab, n_vocab), on the pairs of one part of the text.

    factor, log_noise : as returned by `settled`; log_noise may be None
    """
    centres, targets, counts = task.pairs[part]
    total = counts.sum()
    corrected = scores if log_noise is None else factor * scores + log_noise
    log_g = log_softmax(corrected)
    log_z = np.log(np.exp(scores - scores.max(axis=1, keepdims=True)).sum(axis=1)) + scores.max(axis=1)
    weights = np.bincount(centres, counts, len(scores)) / total
    mean = weights @ log_z
    found = {
        "nll": -(log_g[centres, targets] * counts).sum() / total,
        "mean log Z": mean,
        "spread of log Z": math.sqrt(weights @ (log_z - mean) ** 2),
    }
    for name, values in ((_P, scores), (_CORRECTED, corrected)):
        above = (values[centres] > values[centres, targets][:, None]).sum(axis=1)
        found[name] = 100 * ((above < 15) * counts).sum() / total
    return found


def _run(task, options, alpha, seed):
    """Train; return the figures of both held-out parts after each epoch, [{part: dict}]; [] if it diverged."""
    after = []

    def look(model):
        scores = scores_of(model)(np.arange(len(model.vectors_in))).astype(np.float64)
        factor, log_noise = (1.0, None) if options.get("absolute_softmax") else settled(model)
        after.append({part: figures_of(task, part, scores, factor, log_noise) for part in ("dev", "test")})

    try:
        train_with(task, options, alpha, seed, look)
    except DivergenceError:
        return []
    return after


def measure(task, methods, tell, seed, memo):
    """Return two tables: a row for each method and seed, and a row for each method and alpha tried."""
    untrained = math.log(len(task.train.vocab))

    def one(name):
        tried = {}

        def run(alpha, seed):
            return memo([*task.key(), name, alpha, seed], _run, task, METHODS[name], alpha, seed)

        def value(alpha):
            after = run(alpha, seed)
            loss = after[-1]["dev"]["nll"] if after else math.inf
            tried[alpha] = loss if math.isfinite(loss) else math.inf
            return -tried[alpha]

        alpha, rows = task.scale.rates.best(value, memo.each), []
        seeds = range(seed, seed + task.scale.seeds)
        for each, after in zip(seeds, memo.each(lambda each: run(alpha, each), seeds), strict=True):
            if after:
                first, last = after[0]["test"], after[-1]["test"]
                fall = 100 * (untrained - first["nll"]) / (untrained - last["nll"])
                rows.append({"method": name, "alpha": alpha, "seed": each, **last, _FALL: fall})
        found = [row["nll"] for row in rows]
        tell(f"{name}, alpha {alpha:g}: " + (f"{np.mean(found):.4f} nats" if found else "diverges"))
        return rows, [{"method": name, "alpha": alpha, "dev nll": tried[alpha]} for alpha in sorted(tried)]

    rows, tried = zip(*memo.each(one, methods), strict=True)
    return pd.DataFrame(chain(*rows)), pd.DataFrame(chain(*tried))


def by_row(runs):
    """Return (method, figure) -> one value per seed, NaN if it diverged, for `verdicts.judged`.

    Losses and perplexities are 100 times their logarithm, so differences are in %.
    """
    runs = runs.assign(**{_LOSS: 100 * np.log(runs["nll"]), _PERPLEXITY: 100 * runs["nll"]})
    found = {}
    for figure in _UNITS:
        for method, values in runs.pivot(index="seed", columns="method", values=figure).items():
            found[method, figure] = values.to_list()
    return found


def _divergence(tried, n_vocab):
    """Return a sentence with the alphas at which importance sampling and its rival end worse than untrained."""
    lost = {}
    for name in ("importance, m = 20", "sampled softmax, m = 20"):
        part = tried[tried["method"] == name]
        lost[name] = ", ".join(f"{a:g}" for a in sorted(part.loc[~(part["dev nll"] < math.log(n_vocab)), "alpha"]))
    return "Learning rates that end worse than untrained: " + "; ".join(
        f"{name}: {alphas or 'none'}" for name, alphas in lost.items()
    )


def _drawn(runs):
    def draw(figure):
        axes = figure.add_subplot()
        means = runs.groupby("method", sort=False)[["nll", "corrected P@15, %"]].mean()
        for number, (name, row) in enumerate(means.iterrows()):
            sign = "os^"[number // 7]  # colours repeat after seven
            axes.plot(row["nll"], row["corrected P@15, %"], sign, label=name)
        axes.set_xlabel("loss of the next word, nats")
        axes.set_ylabel("corrected P@15, %")
        axes.legend(fontsize="x-small")

    return draw


@STUDIES.register("claims")
@declare("ours", "claims made in passing", minutes=14)
def claims(tell, quick, seed, memo):
    """Claims made in passing: NCE with k = 25, binary cross-entropy, self-normalisation and others."""
    scale = QUICK if quick else FULL
    sentences = word_chain(scale.n_vocab, 2 * scale.tokens, seed) if quick else list(builtin_sentences())
    task = make_task(sentences, scale, seed)
    methods = _QUICK_METHODS if quick else tuple(METHODS)
    runs, tried = measure(task, methods, tell, seed, memo)
    verdicts = judged(CLAIMS, by_row(runs), _UNITS)
    columns = [name for name in runs.columns if name not in ("method", "seed")]
    means = runs.groupby("method", sort=False)[columns].mean().reset_index()
    text = (
        f"Next word of a text: {len(task.train):,} tokens, {len(task.train.vocab):,} words, d = {scale.dim}, "
        f"{scale.epochs} epochs, {scale.seeds} seeds; {scale.rates.said()}, each chosen on held-out text.\n\n"
    )
    text += "" if quick else _divergence(tried, len(task.train.vocab)) + ".\n"
    nulls = task.nulls()
    means["popularity beats it"] = np.where(means["nll"] > nulls["loss"].iloc[0], "yes", "")
    tables = {"means": means, "null models": nulls, "runs": runs, "alphas": tried}
    return Study(tables, text, {"methods": _drawn(runs)}, verdicts)
