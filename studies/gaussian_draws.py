"""Random mixtures of Gaussians with pairs from them, trials on each, and summaries of the results."""

import dataclasses
import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from .climb import Rates
from .gaussian_task import SIZE, Method, Plan, Truth, divergences, likelihood, log_softmax, mixture, train
from .verdicts import Claim, Unit, interval, judged

_PLAN = Plan(0.01, batch=512, epochs=4)
_RATES = Rates(0.01, 2.0)


@dataclass(frozen=True)
class Scale:
    """size : int, of the grid's side; pairs, seeds, components : int; sizes, batches, temps : values tried"""

    size: int = SIZE
    pairs: int = 100_000
    components: tuple = (10, 50, 90)
    seeds: int = 3
    plan: Plan = _PLAN
    least_steps: int = 600
    temps: tuple = (0.25, 0.75, 1.0, 3.0, 10.0, math.inf)
    batches: tuple = (128, 512, 2048, 8192)
    sizes: tuple = (3_000, 10_000, 50_000, 250_000)
    rates: Rates = _RATES

    def key(self):
        """Return the key of this scale's parts in a `Memo`: dict that JSON can hold."""
        kept = dataclasses.asdict(self)
        return {name: kept[name] for name in ("size", "pairs", "components", "plan", "least_steps", "rates")}


FULL = Scale()
QUICK = Scale(
    size=60,
    pairs=4_000,
    components=(4, 8),
    seeds=2,
    plan=Plan(0.02, batch=128, epochs=4, dim=8),
    least_steps=100,
    temps=(0.75, 5.0, math.inf),
    batches=(128, 512),
    sizes=(1_000, 4_000),
    rates=Rates(0.02, 2.0, (0,), 0),
)


class Draw:
    """A truth, and pairs drawn from it: training pairs and a fifth as many held-out pairs."""

    def __init__(self, scale, seed, components=None, n_pairs=None):
        rng = np.random.default_rng([seed, 0])
        components = scale.components[len(scale.components) // 2] if components is None else components
        self.scale, self.seed = scale, seed
        self.truth = Truth(mixture(components, rng, scale.size))
        n_pairs = scale.pairs if n_pairs is None else n_pairs
        self.pairs, self.held = self.truth.draw(n_pairs, rng), self.truth.draw(n_pairs // 5, rng)

    def method(self, degeneracy, temp=math.inf, negatives=5, corrected=False):
        """Return the `Method` of a degeneracy by name, None for maximum likelihood.

        `1/P̂` is that of the training pairs, with one pair added to each cell.
        """
        if degeneracy is None:
            return Method()
        if degeneracy != "1/P̂":
            return Method(self.truth.log_degeneracy(degeneracy), temp, negatives, corrected)
        size = self.scale.size
        counts = np.bincount(self.pairs[0] * size + self.pairs[1], minlength=size * size).reshape(size, size) + 1.0
        return Method(-np.log(counts / counts.sum(axis=1, keepdims=True)).astype(np.float32), temp, negatives)

    def trained(self, method, plan, look=None):
        return train(self.pairs, method, plan, self.seed, self.scale.size, look)

    def evaluated(self, log_g):
        """Return the divergences of log g from the observed pairs and the truth, and its held-out likelihood (dict)."""
        seen, test, joint = divergences(self.truth, self.pairs, log_g)
        return {"KL(P̂||g)": seen, "KL(P||g)": test, "KL joint": joint, "log g held out": likelihood(self.held, log_g)}

    def row(self, method, plan):
        """Train, and return the figures as learned, corrected by the law, and predicted by the law from the truth."""
        scores = self.trained(method, plan)
        figures = self.evaluated(log_softmax(scores))
        corrected = divergences(self.truth, self.pairs, log_softmax(corrected_scores(scores, method)))[1]
        law = divergences(self.truth, self.pairs, log_softmax(method.law(np.log(self.truth.conditional))))[1]
        return figures | {"KL corrected": corrected, "KL of the law": law}


def corrected_scores(scores, method):
    """Return scores corrected by the law: (1 + T) / T s + log D."""
    if method.log_d is None or method.corrected:
        return scores
    return scores * (1 + 1 / method.temp) + method.log_d


def tuned(scale, method, memo, key, plan=None, n_pairs=None):
    """Return the plan with the best rate on held-out pairs, on a draw that nothing else uses.

    method : tuple, arguments of `Draw.method`; memo : Memo, stores it under `key`
    """
    plan = plan or scale.plan

    def value(rate):
        tried = dataclasses.replace(plan, rate=rate)
        return memo(["rate", key, rate], held_out, scale, method, tried, n_pairs)

    return dataclasses.replace(plan, rate=scale.rates.best(value, memo.each))


def held_out(scale, method, plan, n_pairs):
    """Return the held-out likelihood of a method on the draw used to choose rates."""
    draw = Draw(scale, 1_000_003, n_pairs=n_pairs)
    return likelihood(draw.held, log_softmax(draw.trained(draw.method(*method), plan)))


def row(scale, seed, components, method, plan):
    """Return ``Draw.row`` of a method on the draw of a seed."""
    draw = Draw(scale, seed, components)
    return draw.row(draw.method(*method), plan)


def summed_up(rows, by):
    """Return means over seeds and half of their 95 % intervals, one row per combination of the columns `by`."""
    table = pd.DataFrame(rows)
    figures = [name for name in table.columns if name not in (*by, "seed")]
    found = []
    for key, part in table.groupby(list(by), sort=False):
        row = dict(zip(by, key, strict=True))
        for name in figures:
            row[name], low, _ = interval(part[name])
            if name.startswith("KL") and name != "KL of the law":
                row[f"± {name}"] = row[name] - low
        found.append(row)
    return pd.DataFrame(found)


def nearer(where, rows, name_of, pairs):
    """Return verdicts on KL(P||g), paired by draw.

    where : str, place in the paper; rows : list of dict, draws in the same order for each name
    name_of : callable(row) -> str; pairs : of names, the first is claimed to be nearer to the truth than the second
    """
    runs, figure = {}, "KL(P||g)"
    for row in rows:
        runs.setdefault((name_of(row), figure), []).append(row[figure])
    claims = [Claim(where, f"{one} is nearer to P than {other}", other, one, figure) for one, other in pairs]
    return judged(claims, runs, {figure: Unit(name="nats", least=0.005)})
