"""Similarity and analogies (Tanielian and Vasile 2019, table 1): which objective gives the best word vectors?

Alpha and, if the method has one, the temperature are chosen on development data: the mean over MEN's development part
and the development half of both kinds of analogies. Alpha and T are searched jointly (see `climb`). Then several seeds
train with this choice, and are evaluated on the paper's sets by Pearson's correlation, as in the paper. No choice uses
the reported sets. Vectors are the input matrix, as in the paper. UBS and PBS draw among all words, for several visits
of a centre at once; rows that end in "rolling" draw among 64 candidates.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd

from w2vneg.data.encoded import EncodedCorpus, encode_corpus
from w2vneg.ground.errors import DivergenceError
from w2vneg.run.word2vec import Word2Vec

from . import STUDIES, Study, declare
from .climb import RATES, Rates, best_place, warm_at
from .kernel_task import sentences_of
from .verdicts import Claim, Unit, cell, judged

_PAPERS = ("MLE", "SS", "US", "UBS", "PS", "PBS")  # columns of the paper's table
_WARM = {"UBS": {"method": "pool"}, "PBS": {"method": "pool"}}
METHODS = {name: {"loss": name.lower()} | _WARM.get(name, {}) for name in _PAPERS}
METHODS |= {f"{name}, rolling": {"loss": name.lower(), "method": "rolling"} for name in _WARM}
_SHORT = {"mle": {"epochs": 1}}  # for the search for alpha if a run takes a quarter of an hour
_TOKENS = 4_000_000
_SIMILARITY = {"WS353": "ws353", "SimLex999": "simlex999", "Rare Word": "rw", "Bruni men": "men", "Mturk": "mturk287"}
PAPER = {
    "WS353": (0.46, 0.44, 0.38, 0.50, 0.52, 0.55),
    "SimLex999": (0.13, 0.26, 0.25, 0.25, 0.21, 0.25),
    "Rare Word": (0.30, 0.24, 0.18, 0.30, 0.35, 0.35),
    "Bruni men": (0.42, 0.38, 0.33, 0.49, 0.52, 0.52),
    "Mturk": (0.47, 0.40, 0.34, 0.61, 0.53, 0.64),
    "semantic P@1": (15.4, 11.7, 13.5, 13.0, 13.3, 15.9),
    "semantic P@5": (29.5, 24.8, 21.9, 26.6, 25.0, 24.5),
    "semantic P@15": (39.7, 33.0, 31.3, 40.0, 39.5, 40.5),
    "syntactic P@1": (2.8, 2.0, 1.8, 4.0, 2.1, 3.2),
    "syntactic P@5": (13.2, 12.7, 11.2, 16.8, 14.8, 16.1),
    "syntactic P@15": (20.0, 17.9, 16.5, 25.1, 23.6, 26.1),
}
_LINKS = (("UBS", "US"), ("PBS", "PS"), ("PBS", "MLE"), ("UBS", "MLE"), ("PBS", "SS"))
_FIVE = {  # RS §3.2: 5 negatives are best
    f"{name}, n = {n}": METHODS[name] | {"negatives": n} for name in ("US", "PS", "UBS", "PBS") for n in (1, 5, 20)
}


@dataclass(frozen=True)
class Task:
    """name : str, unique to the data; corpus : EncodedCorpus; options : dict, of all runs
    develop : callable, Vectors -> float, criterion of choices; test : callable, Vectors -> dict of measure -> float
    """

    name: str
    corpus: EncodedCorpus
    options: dict
    develop: Callable
    test: Callable


@dataclass(frozen=True)
class Scale:
    """seeds : int; rates : Rates; starts : starting points (alpha, T) of the joint search"""

    seeds: int = 5
    rates: Rates = RATES
    starts: tuple = ((-1, 0), (1, 3))


FULL, QUICK = Scale(), Scale(2, Rates(starts=(0,), steps=0), ((0, 1), (0, 2)))


def wikipedia():
    """Return the task of the paper's table on sentences from the head of Wikipedia: 15,000 words, window 3."""
    corpus = encode_corpus(sentences_of("enwiki2015-head", 15_000, _TOKENS), min_count=1)
    name = f"{_TOKENS // 10**6} million tokens of enwiki2015-head"
    return Task(name, corpus, {"dim": 100, "window": 3, "epochs": 3}, _developed, _tested)


def _developed(vectors):
    analogy = vectors.evaluate_analogy("google", half="dev")
    parts = (
        vectors.evaluate_similarity("men-dev").pearson,
        analogy.semantic.precision[1],
        analogy.syntactic.precision[1],
    )
    return float(np.mean(parts))


def _tested(vectors):
    found = {measure: vectors.evaluate_similarity(name).pearson for measure, name in _SIMILARITY.items()}
    analogy = vectors.evaluate_analogy("google")
    for kind, half in (("semantic", analogy.semantic), ("syntactic", analogy.syntactic)):
        found |= {f"{kind} P@{k}": 100 * half.precision[k] for k in (1, 5, 15)}
    return {measure: float(value) for measure, value in found.items()}


def topics(seed, n_words=80, sentences=1500):
    """Return the task of a synthetic language of four topics: only words of the same topic are similar."""
    rng = np.random.default_rng(seed)
    by_topic = np.arange(n_words).reshape(-1, 4).T
    text = [[f"w{word}" for word in rng.choice(by_topic[rng.integers(4)], 12)] for _ in range(sentences)]
    pairs = rng.integers(0, n_words, (2, 400, 2))
    corpus = encode_corpus(text, min_count=1)
    options = {"dim": 8, "window": 3, "epochs": 2, "min_count": 1, "subsample": 0.0}
    develop, test = (partial(_likeness, part) for part in pairs)
    return Task("a made-up language", corpus, options, develop, partial(_named, test))


def _likeness(part, vectors):
    cosines = vectors.cosines(*([vectors.id(f"w{word}") for word in words] for words in part.T))
    return float(np.corrcoef(cosines, part[:, 0] % 4 == part[:, 1] % 4)[0, 1])


def _named(test, vectors):
    return {"WS353": test(vectors)}


def trained(task, options, seed, look):
    """Train and return ``look(vectors)``; −inf if training diverges."""
    given = task.options | options | {"readout": "in", "workers": 1, "seed": seed}
    try:
        return look(Word2Vec(**given).fit(task.corpus))
    except DivergenceError:
        return -math.inf


def chosen(task, options, scale, seed, memo):
    """Return the best options of a method on development data."""
    short = _SHORT.get(options["loss"], {})

    def value(found):
        if found is None:
            return -math.inf
        run = found | short
        return memo([task.name, "dev", sorted(run.items()), seed], trained, task, run, seed, task.develop)

    if options["loss"].upper() not in _WARM:
        return options | {"alpha": scale.rates.best(lambda alpha: value(options | {"alpha": alpha}), memo.each)}
    place = best_place(
        lambda place: value(warm_at(options, place, scale.rates)), scale.starts, scale.rates.steps, memo.each
    )
    return warm_at(options, place, scale.rates)


def measure(task, methods, scale, seed, tell, memo):
    """Return (options by method, runs: dict of (method, measure) -> list of float)."""

    def one(name):
        found = chosen(task, methods[name], scale, seed, memo)

        def run(each):
            return memo([task.name, "test", sorted(found.items()), each], trained, task, found, each, task.test)

        figures = memo.each(run, range(seed, seed + scale.seeds))
        tell(f"{name} {found}: {next(iter(figures[0].items()))}")
        return found, figures

    options, runs = {}, {}
    for name, (found, figures) in zip(methods, memo.each(one, methods), strict=True):
        options[name] = found
        runs |= {(name, measure): [each[measure] for each in figures] for measure in figures[0]}
    return options, runs


def table(options, runs):
    """Return our figures above the paper's: a row per measure, a column per method; means and intervals."""
    rows = [{"measure": "alpha"} | {name: f"{found['alpha']:.3g}" for name, found in options.items()}]
    rows.append(
        {"measure": "T"} | {name: f"{found['temp']:g}" if "temp" in found else "–" for name, found in options.items()}
    )
    for figure in dict.fromkeys(figure for _, figure in runs):
        paper = dict(zip(_PAPERS, PAPER[figure], strict=True))
        rows.append(
            {"measure": figure} | {name: cell(runs[name, figure], 1 if "P@" in figure else 3) for name in options}
        )
        if paper.keys() & options.keys():
            said = {name: f"{paper[name]:g}" if name in paper else "–" for name in options}
            rows.append({"measure": f"{figure}, RS"} | said)
    return pd.DataFrame(rows)


def _claims(measures, methods):
    """Return the paper's comparisons, with pool draws and with rolling candidates, and that 5 negatives are best."""
    found = []
    for figure in measures:
        for better, worse in _LINKS:
            ends = (f"{name}, rolling" * (name in _WARM) or name for name in (better, worse))
            text = f"{better} beats {worse}"
            found.append(Claim("RS table 1", text, better, worse, figure, draws="pool"))
            found.append(Claim("RS table 1", text, *ends, figure, draws="rolling"))
        for name in ("US", "PS", "UBS", "PBS"):
            for n in (1, 20):
                text, draws = f"5 negatives are best: better than {n}, {name}", "pool" if name in _WARM else ""
                found.append(Claim("RS §3.2", text, f"{name}, n = 5", f"{name}, n = {n}", figure, draws=draws))
    return [claim for claim in found if {claim.better, claim.worse} <= methods.keys()]


def _study(methods, given):
    tell, quick, seed, memo = given
    task, scale = (topics(seed), QUICK) if quick else (wikipedia(), FULL)
    options, runs = measure(task, methods, scale, seed, tell, memo)
    measures = dict.fromkeys(figure for _, figure in runs)
    units = {figure: Unit(name="points" if "P@" in figure else "of correlation") for figure in measures}
    text = (
        f"{task.name}: {len(task.corpus):,} tokens, {len(task.corpus.vocab):,} words; {scale.seeds} seeds, 95 % "
        f"intervals. Pearson's correlations, and precision of analogies in percent. {scale.rates.said().capitalize()}; "
        f"alpha and T were chosen on development data{', that of MLE by runs of one epoch' * ('MLE' in methods)}.\n"
    )
    return Study({"table 1": table(options, runs)}, text, verdicts=judged(_claims(measures, methods), runs, units))


@STUDIES.register("rs-table-1")
@declare("RS", "table 1", minutes=340)
def rs_table_1(tell, quick, seed, memo):
    """Similarity and analogies of word vectors, by method; alpha and T from development data."""
    return _study(METHODS, (tell, quick, seed, memo))


@STUDIES.register("rs-table-1-negatives")
@declare("RS", "§3.2, negatives", minutes=640)
def rs_table_1_negatives(tell, quick, seed, memo):
    """Are 5 negatives best? RS's four methods on word vectors with 1, 5 and 20, alpha and T chosen for each."""
    return _study(_FIVE, (tell, quick, seed, memo))
