"""Words by cooperative importance sampling (CIS tables 2, 3, 6 and 8): next words, neighbours, analogies at d = 150.

The paper's text8 was not available: the head of the English Wikipedia of 2015 replaces it, cut so that a run ends
within an hour. `cis-words-17m` has all of it, as much as text8, without the full softmax and with pools in place of
exact draws. Rare words are removed before the window of 1 applies, as in the paper. All methods learn from the same
pairs, drawn in proportion to their counts; each has its own learning rate, chosen by Precision@1 of the next word on
held-out text; then several seeds are run. FastText is gensim's, on the same sentences.
"""

import dataclasses
import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from w2vneg.config import TrainConfig
from w2vneg.data.catalog import resolve
from w2vneg.data.encoded import EncodedPairs
from w2vneg.ground.errors import MissingExtraError, require
from w2vneg.kernels.cooccurrence import pair_counts
from w2vneg.run.trainer import Trainer
from w2vneg.vectors.evaluation import evaluate_analogy, evaluate_ranking, scores_of
from w2vneg.vectors.vectors import Vectors

from . import STUDIES, Study, declare
from .climb import RATES, Rates
from .kernel_task import Scale, make_task, sentences_of, word_chain
from .verdicts import Claim, Unit, cell, judged

METHODS = ("unis", "fs", "pops", "selfplay", "cis")
_DRAWN = ("selfplay", "cis")  # exactly, and in separate rows in other ways
_WAYS = ("rolling", "pool")
PAPER = {  # of table 2: MPR and P@1, by vocabulary
    12_000: {"fs": (85.1, 7.2), "unis": (87.4, 6.0), "pops": (87.6, 7.2), "selfplay": (88.2, 8.9), "cis": (88.7, 8.9)},
    30_000: {"fs": (89.4, 7.5), "unis": (90.6, 5.5), "pops": (90.7, 7.1), "selfplay": (88.7, 8.6), "cis": (91.6, 9.3)},
}
QUERIES = {
    "table 3": ("assembly", "author", "australia", "true", "essay", "final"),
    "table 8": ("animals", "brother", "charles", "constantinople", "freedom"),
}


def _orders(suffixes):
    """Return the paper's claims on rows whose names end in one of `suffixes` if they draw from the model."""
    return tuple(
        Claim(
            "CIS tables 2, 6", f"{better} is better than {worse}", better + way, worse + way * (worse in _DRAWN), figure
        )
        for better, worse in (("cis", "selfplay"), ("cis", "fs"), ("selfplay", "unis"), ("cis", "unis"))
        for figure in ("P@1", "MPR", "semantic P@5", "syntactic P@5")
        for way in suffixes
    )


CLAIMS = _orders(("", ", rolling"))
CLAIMS += tuple(
    Claim("ours", f"{name}: a pool's draws are as good as exact ones", f"{name}, pool", name, "P@1", 0.5, "pool")
    for name in _DRAWN
)
CLAIMS += tuple(
    Claim(
        "ours",
        f"{name}: a pool is better than rolling candidates",
        f"{name}, pool",
        f"{name}, rolling",
        "P@1",
        draws="pool",
    )
    for name in _DRAWN
)
_UNITS = dict.fromkeys(("P@1", "MPR", "semantic P@5", "syntactic P@5"), Unit(name="points"))
_NEIGHBOURS = 6


def _full(n_vocab):
    return Scale({}, n_vocab, tokens=800_000, dim=150, epochs=5, rates=RATES, window=1, seeds=5)


_LONG = Scale(
    {}, 12_000, tokens=15_500_000, dim=150, epochs=1, rates=Rates(starts=(0,)), window=1, seeds=3, held_out=40
)
QUICK = Scale({}, 60, tokens=3_000, dim=8, epochs=1, rates=Rates(0.1, 2.0, (0, 1), 0), window=1, seeds=2)


class Pairs:
    """The training pairs that all methods read, and the held-out pairs of a `kernel_task.Task`."""

    def __init__(self, task):
        self.task, vocab = task, task.train.vocab
        matrix = pair_counts(task.train.ids, task.train.offsets, len(vocab), 1).astype(np.float32)
        self.train = EncodedPairs(matrix, vocab, vocab)
        self.drawn = int(matrix.sum(dtype=np.float64))

    def trained(self, options, alpha, seed):
        scale = self.task.scale
        config = TrainConfig(
            **options,
            source="pairs",
            pair_weights="sample",
            pairs_per_epoch=self.drawn,
            dim=scale.dim,
            epochs=scale.epochs,
            alpha=alpha,
            workers=1,
            seed=seed,
        )
        trainer = Trainer(self.train, config)
        model = trainer.train()
        if not trainer.complete:
            raise KeyboardInterrupt  # a partial run is not a measurement
        return model

    def next_words(self, part, model):
        """Return (MPR, P@1) in % on the pairs of a held-out part, by raw dot products as in the paper."""
        found = evaluate_ranking(
            scores_of(model), self.task.pairs[part], len(self.train.vocab), ks=(1,), samples=0, bootstrap=0
        )
        return 100 * found.mpr, 100 * found.precision[1]

    def fasttext(self, sentences, seed):
        """Return the Vectors of gensim's FastText trained on these sentences."""
        fasttext = require("gensim.models.fasttext", "gensim", "FastText").FastText
        known = set(self.train.vocab.words)
        text = [[word for word in sentence if word in known] for sentence in sentences]
        model = fasttext(
            text, vector_size=self.task.scale.dim, window=1, min_count=1, sg=1, epochs=5, workers=1, seed=seed
        )
        return _vectors(self.train.vocab, model.wv[list(self.train.vocab.words)])


def _vectors(vocab, matrix):
    return Vectors(vocab.words, matrix, vocab.counts)


def analogies(vectors, questions):
    """Return Precision at 1, 5 and 15 in % for semantic and syntactic questions (dict); NaN if none is known."""
    result = evaluate_analogy(vectors, questions)
    row = {}
    for kind in ("semantic", "syntactic"):
        score = getattr(result, kind)
        for k in (1, 5, 15):
            known = score is not None and score.precision is not None
            row[f"{kind} P@{k}"] = 100 * score.precision[k] if known else math.nan
        row[f"{kind} questions"] = 0 if score is None else score.scored
    return row


def neighbours(vectors, words):
    """Return the words nearest to each of `words` by cosine: dict of str -> str."""
    return {
        word: ", ".join(w for w, _ in vectors.most_similar(word, k=_NEIGHBOURS)) if word in vectors else "unknown"
        for word in words
    }


@dataclass(frozen=True)
class Asked:
    """Queries to vectors. questions : str or None, of analogies; words : tuple of str, for neighbours"""

    questions: str | None
    words: tuple

    def of(self, vectors):
        """Return {"analogies": dict, "neighbours": dict}."""
        found = {} if self.questions is None else analogies(vectors, self.questions)
        return {"analogies": found, "neighbours": neighbours(vectors, self.words)}


def methods_of(methods=METHODS, ways=("exact", *_WAYS)):
    """Return options by method; methods that draw from the model appear once for each of `ways` to draw."""
    found = {}
    for name in methods:
        for way in ways if name in _DRAWN else ("",):
            shown = f"{name}, {way}" if way in _WAYS else name
            found[shown] = {"loss": name} | ({"method": way} if way else {})
    return found


def trial(pairs, asked, options, alpha, seed):
    """Train, and return all figures (dict); those of the test part are used only for the chosen alpha."""
    model = pairs.trained(options, alpha, seed)
    own = _vectors(pairs.train.vocab, model.vectors_in)
    return {part: pairs.next_words(part, model) for part in ("dev", "test")} | asked.of(own)


def measure(pairs, methods, asked, tell, seed, memo):
    """Return runs, dict of (method, figure) -> one value per seed, and the neighbours by each method's first seed.

    methods : dict of name -> options
    """
    scale = pairs.task.scale

    def one(name):
        def run(alpha, seed):
            key = [*pairs.task.key(), sorted(methods[name].items()), alpha, seed]
            return memo(key, trial, pairs, asked, methods[name], alpha, seed)

        alpha = scale.rates.best(lambda alpha: run(alpha, seed)["dev"][1], memo.each)
        found = memo.each(lambda k: run(alpha, seed + k), range(scale.seeds))
        tell(f"{name}, alpha {alpha:g}: MPR {found[0]['test'][0]:.1f}, P@1 {found[0]['test'][1]:.1f}")
        return found

    runs, near = {}, {}
    for name, found in zip(methods, memo.each(one, methods), strict=True):
        near[name] = found[0]["neighbours"]
        for run in found:
            for figure, value in {"MPR": run["test"][0], "P@1": run["test"][1], **run["analogies"]}.items():
                runs.setdefault((name, figure), []).append(value)
    return runs, near


def _means(runs, columns, n_vocab=None):
    """Return a row for each method: means and intervals over seeds as text, and the paper's figures of `n_vocab`."""
    found = []
    for method in dict.fromkeys(method for method, _ in runs):
        row = {"method": method} | {name: cell(runs[method, name], 2) for name in columns}
        paper = PAPER.get(n_vocab, {}).get(method)
        found.append(row | ({} if paper is None else {"paper's MPR": paper[0], "paper's P@1": paper[1]}))
    return pd.DataFrame(found)


def _fasttext(pairs, asked, seed):
    """Return the queried figures of FastText's vectors of the training part."""
    task = pairs.task
    words = np.array(task.train.vocab.words)
    bounds = zip(task.train.offsets[:-1], task.train.offsets[1:], strict=True)
    return asked.of(pairs.fasttext([list(words[task.train.ids[a:b]]) for a, b in bounds], seed))


def _study(scale, methods, claims, given):
    """Return the study of one scale; methods : as of `methods_of`; given : (tell, quick, seed, memo)."""
    tell, quick, seed, memo = given
    if quick:
        scale = QUICK
        sentences = word_chain(scale.n_vocab, 2 * scale.tokens, seed)
    else:
        most = None if scale is _LONG else 3 * scale.tokens // 2
        sentences = sentences_of("enwiki2015-head", scale.n_vocab, most, seed)
    task = make_task(sentences, scale, seed)
    pairs = Pairs(task)
    queries = {"nearest": tuple(task.train.vocab.words)[:2]} if quick else QUERIES
    words = tuple(dict.fromkeys(word for part in queries.values() for word in part))
    asked = Asked(None if quick else resolve("google", kind="analogy"), words)
    methods = methods_of(METHODS[:1]) if quick else methods
    runs, near = measure(pairs, methods, asked, tell, seed, memo)
    tables, said = {"table 2": _means(runs, ("MPR", "P@1"), scale.n_vocab)}, ""
    if not quick:
        table_6 = _means(runs, [figure for method, figure in runs if method == METHODS[0] and " P@" in figure])
        try:
            found = memo([*task.key(), "FastText", seed], _fasttext, pairs, asked, seed)
            near["FastText"] = found["neighbours"]
            own = {name: f"{value:.2f}" for name, value in found["analogies"].items() if name in table_6}
            table_6 = pd.concat([table_6, pd.DataFrame([{"method": "FastText"} | own])])
        except MissingExtraError as error:
            said = f" No FastText: {error}."
        tables["table 6"] = table_6
    cis = "cis" if "cis" in near else "cis, pool"
    shown = [name for name in (cis, "FastText", "fs", "unis") if name in near]
    for name, words in queries.items():
        tables[name] = pd.DataFrame([{"word": word} | {each: near[each][word] for each in shown} for word in words])
    text = (
        f"{len(task.train):,} tokens, {len(task.train.vocab):,} words, window 1, d = {scale.dim}, {scale.epochs} "
        f"epochs of {pairs.drawn:,} pairs, {scale.seeds} seeds; {scale.rates.said()}; self-play and CIS draw "
        f"exactly, or as the row says; ± is half of a 95 % interval. In %.{said} "
        "The paper's text is text8, 17 million tokens, so orders can be compared, not figures.\n"
    )
    drawn = lambda claim: claim.draws or (claim.better.split(", ")[1:] or ["exact"])[0]  # noqa: E731
    claims = [dataclasses.replace(claim, draws=drawn(claim)) for claim in claims]
    return Study(tables, text, verdicts=judged(claims, runs, _UNITS))


@STUDIES.register("cis-words-12k")
@declare("CIS", "tables 2, 3, 6, 8, 12k", minutes=45)
def cis_words_12k(tell, quick, seed, memo):
    """Next words, neighbours and analogies of CIS and its rivals at 12,000 words (CIS tables 2, 3, 6, 8)."""
    return _study(_full(12_000), methods_of(), CLAIMS, (tell, quick, seed, memo))


@STUDIES.register("cis-words-30k")
@declare("CIS", "tables 2, 3, 6, 8, 30k", minutes=100)
def cis_words_30k(tell, quick, seed, memo):
    """The same at 30,000 words."""
    return _study(_full(30_000), methods_of(), CLAIMS, (tell, quick, seed, memo))


@STUDIES.register("cis-words-17m")
@declare("CIS", "tables 2, 3, 6, 8, 17 million tokens", minutes=60)
def cis_words_17m(tell, quick, seed, memo):
    """The same at 12,000 words on as much text as the paper's, with pools and without the full softmax."""
    methods = methods_of([name for name in METHODS if name != "fs"], ("pool",))
    return _study(_LONG, methods, _orders((", pool",)), (tell, quick, seed, memo))
