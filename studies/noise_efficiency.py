"""What the noise exponent, the temperature and the number of negatives buy: predicted, then measured.

A relaxed softmax over a positive j ~ P and n draws from q, with scores corrected by log q, classifies which of the
n + 1 was the positive (ranking NCE; Ma and Collins 2018). With r = P / q its information about log P is a
Laplacian:

    A_jk = −n P_j P_k E[1 / (r_j + r_k + R)],  j ≠ k,   R the sum of r over n − 1 draws from q;  rows sum to 0

It is the same for Boltzmann noise, q ∝ D e^(s/T), because noise that follows the scores enters the curvature and the
correction alike: (1 + 1/T) enters twice and cancels twice. At the fixed point q ∝ P^(1/(1+T)) D^(T/(1+T)). N pairs
then leave an excess loss of

    E (V − 1) / 2N,   E = tr(H A⁺) / (V − 1),   H = diag(P) − P Pᵀ, the full softmax's information: E = 1 for itself

E = 1 + 1/n for q = P. So E gives the cost of noise before any training. The study trains short runs of each noise,
each at its own alpha by validation, and tests whether corrected log-likelihood of test pairs correlates with E.
"""

import dataclasses
from dataclasses import dataclass

import numpy as np
import pandas as pd
import scipy.stats

from w2vneg.data.inputs import Input, encode_input

from . import STUDIES, Study, declare
from .climb import Rates
from .item_runs import LIKELIHOOD, best_weight, interpolated
from .item_tasks import communities, load_task, make_task
from .law_fit import PMI
from .one_law import Laboratory, Scale, at_the_law
from .verdicts import Claim, Unit, cell, judged

_DRAWS, _GRID = 2000, 100  # sums R drawn; points where E[1 / (x + R)] is computed
_CENTRES = 12  # the prediction is a mean over their P
_EXPONENTS, _TEMPERATURES, _DEGENERACIES = (0.0, 0.25, 0.5, 0.75, 1.0, 1.25), (3.0, 1.0, 0.5), (0.0, 1.0)
_FIGURE = "rank correlation"


def cost(p, q, n, seed=1):
    """Return E, the factor by which this noise needs more pairs than the full softmax for the same loss.

    p, q : float64 (V,), above 0; n : int, draws from q; seed : int, of the sums R
    """
    p, q = p / p.sum(), q / q.sum()
    r = p / q
    sums = np.zeros(1)
    if n > 1:
        sums = r[np.random.default_rng(seed).choice(len(q), (_DRAWS, n - 1), p=q)].sum(axis=1)
    pairs = np.log(np.add.outer(r, r))
    places = np.linspace(pairs.min(), pairs.max() + 1e-9, _GRID if n > 1 else 2)
    if n == 1:
        means = -pairs
    else:
        means = np.interp(pairs, places, [np.log(np.mean(1.0 / (np.exp(place) + sums))) for place in places])
    laplacian = -n * np.outer(p, p) * np.exp(means)
    np.fill_diagonal(laplacian, 0.0)
    np.fill_diagonal(laplacian, -laplacian.sum(axis=1))
    root = np.sqrt(p)  # in these coordinates H is the identity minus root rootᵀ, and root is in A's null space
    scaled = laplacian / np.outer(root, root) + np.outer(root, root)
    return float((np.trace(np.linalg.inv(scaled)) - 1.0) / (len(p) - 1))


def settled_noise(p, degeneracy, temp):
    """Return q where Boltzmann noise of temperature T settles: float64 (V,); T = ∞ is the degeneracy itself."""
    share = 0.0 if np.isinf(temp) else 1.0 / (1.0 + temp)
    q = p**share * degeneracy ** (1.0 - share)
    return q / q.sum()


@dataclass(frozen=True)
class Noise:
    """exponent : float, of counts, in the noise or its degeneracy; temp : float; negatives : int"""

    exponent: float
    temp: float
    negatives: int

    @property
    def name(self):
        warmth = "" if np.isinf(self.temp) else f", T = {self.temp:g}"
        return f"counts^{self.exponent:g}{warmth}, n = {self.negatives}"

    @property
    def options(self):
        found = {"noise_exponent": self.exponent, "negatives": self.negatives}
        own = {"loss": "ps"} if np.isinf(self.temp) else {"loss": "pbs", "temp": self.temp, "method": "exact"}
        return own | found

    def predicted(self, rows, counts):
        """Return the mean E of some centres; rows : float64 (m, V), their P; counts : float64 (V,)"""
        q = (settled_noise(p, counts**self.exponent, self.temp) for p in rows)
        return float(np.mean([cost(p, one, self.negatives) for p, one in zip(rows, q, strict=True)]))


FULL = Scale(dim=32, epochs=5, most=300_000, seeds=3, rates=Rates(0.05, 2.0, (0,)), centres=1500)
QUICK = dataclasses.replace(FULL, dim=8, epochs=2, most=10_000, seeds=2, rates=Rates(starts=(0,), steps=0), few=True)


def noises(few=False):
    """Return the kinds of `Noise` to try."""
    plain = [Noise(a, np.inf, n) for n in (1, 5, 20) for a in _EXPONENTS]
    warm = [Noise(a, temp, n) for n in (1, 5) for a in _DEGENERACIES for temp in _TEMPERATURES]
    return [plain[0], plain[3], plain[5], warm[1]] if few else plain + warm


def tried(bench, tell):
    """Return a DataFrame of all noises on one task, and their log-likelihoods: dict of name -> list, one per seed."""
    matrix = bench.setting.task.train.matrix
    shown = np.unique(np.linspace(0, matrix.shape[0] - 1, _CENTRES).astype(int))
    rows = np.exp(interpolated(matrix, best_weight(matrix, bench.setting.valid))(shown).astype(np.float64))
    counts = np.asarray(matrix.sum(axis=0, dtype=np.float64)).ravel()

    def one(noise):
        options = noise.options
        alpha = bench.alpha(options)
        runs = bench.runs(options | {"alpha": alpha}, at_the_law)
        found = [run[LIKELIHOOD] for run in runs]
        row = {"noise": noise.name, "n": noise.negatives, "exponent": noise.exponent, "T": noise.temp}
        key = [bench.name, "E", noise.name]
        row |= {"E, predicted": bench.memo(key, noise.predicted, rows, counts), "alpha": f"{alpha:g}"}
        row |= {LIKELIHOOD: cell(found, 4), PMI: cell([run[PMI] for run in runs])}
        tell(f"{bench.name}: {noise.name}: E {row['E, predicted']:.2f}, {row[LIKELIHOOD]}")
        return row, found

    made = bench.memo.each(one, noises(bench.scale.few))
    return pd.DataFrame([row for row, _ in made]), {row["noise"]: found for row, found in made}


def correlations(table, values):
    """Return Spearman's correlation of −E and log-likelihood, one per seed, for all noises and for groups."""
    plain = np.isinf(table["T"])
    groups = {"all": plain | True, "noise of counts": plain, "Boltzmann noise": ~plain}
    groups |= {f"noise of counts, n = {n}": plain & (table["n"] == n) for n in sorted(set(table["n"]))}
    found = {}
    for name, chosen in groups.items():
        part = table[chosen]
        if len(part) > 2:
            seeds = np.array([values[noise] for noise in part["noise"]]).T
            found[name] = [float(scipy.stats.spearmanr(-part["E, predicted"], one).statistic) for one in seeds]
    return found


def _draw(tables):
    def draw(figure):
        for axes, (name, table) in zip(figure.subplots(1, len(tables), squeeze=False)[0], tables.items(), strict=True):
            for marker, (n, part) in zip("os^", table.groupby("n"), strict=False):
                for warm, fill in ((False, "full"), (True, "none")):
                    some = part[np.isfinite(part["T"]) == warm]
                    if some.empty:
                        continue
                    likely = [float(text.split(" ±")[0]) for text in some[LIKELIHOOD]]
                    label = f"n = {n}" + ", Boltzmann" * warm
                    axes.plot(some["E, predicted"], likely, marker, fillstyle=fill, markersize=5, label=label)
            axes.set_title(name, fontsize=8)
            axes.set_xlabel("E, predicted")
            axes.set_ylabel("log-likelihood, corrected")
        axes.legend(fontsize=6)

    return draw


@STUDIES.register("noise-efficiency")
@declare("ours", "noise, T and n", minutes=70)
def noise_efficiency(tell, quick, seed, memo):
    """What the noise exponent, T and n buy: predicted from counts, measured on MovieLens 100K and text."""
    if quick:
        tasks = [make_task("made-up baskets", communities(seed), seed, "baskets")]
    else:
        text = encode_input(Input("corpus", "enwiki2015-head").located(), max_vocab=2000)
        tasks = [load_task("ml-100k", seed), make_task("text, 2,000 words", text, seed, "corpus", 2)]
    scale, tables, claims, runs = QUICK if quick else FULL, {}, [], {}
    for task in tasks:
        tell(task.line())
        table, values = tried(Laboratory(task, scale, seed, memo), tell)
        tables[task.name] = table
        for group, found in correlations(table, values).items():
            ends = f"{task.name}, {group}", "chance"
            runs |= {(ends[0], _FIGURE): found, ("chance", _FIGURE): [0.0] * len(found)}
            claims.append(Claim("ours", f"{ends[0]}: the lower E, the higher the likelihood", *ends, _FIGURE))
    text = (
        f"d = {scale.dim}, {scale.epochs} epochs of at most {scale.most:,} pairs, {scale.seeds} seeds; "
        f"{scale.rates.said()}, chosen by the log-likelihood of validation pairs at the end. Boltzmann noise is drawn "
        "exactly. E: how many times the full softmax's pairs this noise needs for the same loss, by the formula, from "
        f"counts of training pairs interpolated with popularity, mean of {_CENTRES} centres. Log-likelihood of test "
        "pairs in nats, corrected; rank correlations are Spearman's, one per seed.\n"
    )
    shown = {name: table.assign(**{"E, predicted": table["E, predicted"].round(3)}) for name, table in tables.items()}
    return Study(shown, text, {"along E": _draw(tables)}, judged(claims, runs, {_FIGURE: Unit(1.0, "", 0.1)}))
