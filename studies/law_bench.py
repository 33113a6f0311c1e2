"""The bench of the study `one-law`: what is tried, and how a model that is trained is looked at."""

import dataclasses
import math
from dataclasses import dataclass

import numpy as np

from w2vneg.config import TrainConfig
from w2vneg.objectives.samplers.boltzmann import BoltzmannFamily
from w2vneg.vectors.evaluation import evaluate_ranking

from .climb import alpha_at, best_place
from .law_fit import binned, discriminator_weights, frequent_pairs, learned_and_predicted, line
from .next_item_runs import LIKELIHOOD, Setting, curve, train, untempered
from .tempering import fitted_scale, likelihoods

SHARES = (0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5)
REFERENCE = "full softmax"
OBJECTIVES = {
    REFERENCE: {"loss": "mle"},
    "sampled softmax": {"loss": "ss"},
    "uniform": {"loss": "us"},
    "popularity": {"loss": "ps"},
    "popularity^.75": {"loss": "ps", "noise_exponent": 0.75},
    "log-uniform": {"loss": "pops"},
    "uniform, T = 6": {"loss": "ubs", "temp": 6.0},
    "uniform, T = 1": {"loss": "ubs", "temp": 1.0},
    "uniform, T = 0.5": {"loss": "ubs", "temp": 0.5},
    "popularity, T = 6": {"loss": "pbs", "temp": 6.0},
    "popularity, T = 1": {"loss": "pbs", "temp": 1.0},
    "popularity, T = 0.5": {"loss": "pbs", "temp": 0.5},
}
_HARD = {"loss": "ubs", "temp": 0.25}
FAILURES = {  # where the law is expected to fail -> (options, the objective whose alpha it takes)
    "T = 0.25, rolling": (_HARD, "uniform, T = 0.5"),
    "T = 0.25, sir": (_HARD | {"method": "sir"}, "uniform, T = 0.5"),
    "T = 0.25, exact": (_HARD | {"method": "exact"}, "uniform, T = 0.5"),
    "T = 1, rolling": ({"loss": "ubs", "temp": 1.0}, "uniform, T = 1"),
    "T = 1, exact": ({"loss": "ubs", "temp": 1.0, "method": "exact"}, "uniform, T = 1"),
    "T = 1, one epoch": ({"loss": "ubs", "temp": 1.0, "epochs": 1}, "uniform, T = 1"),
    "popularity, one epoch": ({"loss": "ps", "epochs": 1}, "popularity"),
    "popularity, 20 epochs": ({"loss": "ps", "epochs": 20}, "popularity"),
    "popularity, shared by a centre": ({"loss": "ps", "share_negatives": "centre"}, "popularity"),
    "popularity, positive excluded": ({"loss": "ps", "exclude": "target"}, "popularity"),
}
NEGATIVES = (1, 5, 20)  # of CIS and self-play
FRESHNESS = {  # how Boltzmann negatives are drawn -> (method, centres that are drawn for ahead)
    "rolling": ("rolling", BoltzmannFamily._batch),
    "exact": ("exact", BoltzmannFamily._batch),
    "exact, fresh": ("exact", 1),
}


@dataclass(frozen=True)
class Scale:
    """dim, epochs, seeds as said; most : int, pairs drawn for an epoch; least : int, counts of a frequent pair
    steps : int, of the search for alpha; objectives, failures, negatives, shares, freshness : what is tried
    centres : int, of the test part, that are ranked
    """

    dim: int = 100
    epochs: int = 5
    most: int = 1_000_000
    seeds: int = 5
    least: int = 50
    steps: int = 3
    centres: int = 1500
    objectives: tuple = tuple(OBJECTIVES)
    failures: tuple = tuple(FAILURES)
    negatives: tuple = NEGATIVES
    shares: tuple = SHARES
    freshness: tuple = tuple(FRESHNESS)


FULL = Scale()
LARGE = dataclasses.replace(FULL, seeds=3, freshness=())  # draws for each centre anew would take hours there
QUICK = Scale(
    dim=16,
    epochs=2,
    most=20_000,
    seeds=2,
    least=10,
    steps=0,
    objectives=(REFERENCE, "uniform", "popularity", "popularity, T = 1"),
    failures=("popularity, one epoch",),
    negatives=(1,),
    shares=(0.0, 1.0, 1.5),
    freshness=(),
)


def _setting(task, scale, seed):
    total = int(task.train.matrix.sum(dtype=np.float64))
    common = TrainConfig(
        source="pairs",
        pair_weights="sample",
        pairs_per_epoch=min(scale.most, 2 * total // 5),
        dim=scale.dim,
        epochs=scale.epochs,
        workers=1,
        seed=seed,
    )
    return Setting(_thinned(task, scale.centres), common, _pairs(task.valid, scale.centres // 3))


def _pairs(held, most):
    """Return (centres, targets, weights) of at most so many evenly spaced centres."""
    there = np.unique(held.centres)
    kept = np.isin(held.centres, there[np.linspace(0, len(there) - 1, min(most, len(there))).astype(int)])
    return held.centres[kept], held.targets[kept], held.weights[kept]


def _thinned(task, most):
    centres, targets, weights = _pairs(task.test, most)
    test = dataclasses.replace(task.test, centres=centres, targets=targets, weights=weights)
    return dataclasses.replace(task, test=test)


class Laboratory:
    """One task on which objectives are trained and looked at, whatever is done kept in a memo.

    Parameters
    ----------
    task : Task
    scale : Scale
    seed : int, the first of ``scale.seeds``
    memo : Memo
    """

    def __init__(self, task, scale, seed, memo):
        self.scale, self.seed, self.memo = scale, seed, memo
        self.setting = _setting(task, scale, seed)
        self.pairs = frequent_pairs(task.train.matrix, scale.least)
        test = self.setting.task.test
        self.held = test.centres, test.targets, test.weights

    def alpha(self, options):
        """Return the learning rate that validation likes best for these options."""

        def value(place):
            found = options | {"alpha": alpha_at(place[0])}
            key = self._key(found, self.seed, "validation")
            epochs = self.memo(key, lambda: curve(self.setting, found, self.seed, (1.0,)))
            return max((epoch["1"][LIKELIHOOD] for epoch in epochs), default=-math.inf)

        return alpha_at(best_place(value, [(0, 1)], self.scale.steps)[0])

    def runs(self, options, look, name):
        """Train under every seed; return what ``look(model)`` makes of each, kept under `name`."""
        found = []
        for seed in range(self.seed, self.seed + self.scale.seeds):
            key = self._key(options, seed, name)
            found.append(self.memo(key, lambda seed=seed: self._looked_at(options, seed, look)))
        return found

    def _key(self, options, seed, name):
        common = self.setting.common
        scale = [common.pairs_per_epoch, common.dim, common.epochs, self.scale.least, self.scale.centres]
        return [self.setting.task.name, len(self.setting.task.train.vocab), scale, sorted(options.items()), seed, name]

    def _looked_at(self, options, seed, look):
        found = {}
        train(self.setting, options, seed, lambda model, epoch: found.update(model=model))
        return look(found["model"])

    def against_law(self, model):
        """Return slope, R² and bins of learned against predicted scores."""
        both = learned_and_predicted(model, self.pairs)
        return line(*both) | {"bins": binned(*both)}

    def at_the_law(self, model):
        """Return what the law says, and figures of the test part for λ = 1."""
        score, factor = untempered(model, 1.0)
        return line(*learned_and_predicted(model, self.pairs)) | self.figures(score, factor, self.held)

    def along_shares(self, model):
        """Return what the law says, and figures of the test part for each λ; for λ = 0 those of raw scores, too."""
        held = self.held
        found = {"law": self.against_law(model), "shares": {}}
        for share in self.scale.shares:
            score, factor = untempered(model, share)
            found["shares"][f"{share:g}"] = self.figures(score, factor, held)
        score, _ = untempered(model, 0.0)
        found["raw"] = likelihoods(score, held, self.setting.n_targets, (1.0,))[0][0]
        return found

    def figures(self, score, factor, held):
        """Return log-likelihood at this factor, P@15 and MPR of a scoring function."""
        n_targets = self.setting.n_targets
        ranked = evaluate_ranking(score, held, n_targets, ks=(15,), logits=False, samples=0, bootstrap=0)
        value = likelihoods(score, held, n_targets, (factor,))[0][0]
        return {"log-likelihood": value, "P@15": ranked.precision[15], "MPR": ranked.mpr}

    def cooperation(self, n):
        """Return a look at a run of self-play or CIS with n negatives: figures, and what the weights are like."""

        def look(model):
            score, _ = untempered(model, 0.0)
            scale, _ = fitted_scale(score, self.setting.valid, self.setting.n_targets)
            found = self.figures(score, scale, self.held) | {"slope": self.against_law(model)["slope"]}
            if model.extra:
                found["weights"] = discriminator_weights(model, self.setting.task.train.matrix, n)
            return found

        return look
