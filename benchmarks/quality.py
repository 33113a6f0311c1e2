"""Quality of objectives on real text, chosen on development data and reported on test data.

Development: MEN's development part, the dev half of the Google analogies, likelihood of the last 1 % of the corpus.
Test: the similarity sets with MEN's test part, all analogies and the test half separately. One call never uses both.
"""

import dataclasses
import statistics

import numpy as np

from w2vneg.config import TrainConfig
from w2vneg.ground.errors import ConfigError, did_you_mean
from w2vneg.kernels.bags import context_means
from w2vneg.kernels.schedule import keep_thresholds
from w2vneg.objectives.presets import PRESETS
from w2vneg.objectives.readout import Trained, parse
from w2vneg.objectives.readout.context import WINDOW
from w2vneg.run.trainer import Trainer
from w2vneg.vectors import Vectors
from w2vneg.vectors.evaluation import LogitScores, evaluate_likelihood

from .contenders import head
from .rivals import Seconds, now, train_fasttext, train_gensim, write_sentences

OBJECTIVES = {  # name -> options besides alpha, for objectives that are not presets
    "ns-shared": {"loss": "ns", "share_negatives": "centre"},
    "ns-per-pair": {"loss": "ns", "share_negatives": "no"},
    "relaxed-shared": {"loss": "relaxed", "share_negatives": "centre"},
    "relaxed-5": {"loss": "relaxed", "negatives": 5},
    "relaxed-5-shared": {"loss": "relaxed", "negatives": 5, "share_negatives": "centre"},
    "ubs-0.5": {"loss": "ubs", "temp": 0.5},
    "ubs-1": {"loss": "ubs", "temp": 1.0},
    "ubs-3": {"loss": "ubs", "temp": 3.0},
    "pbs-0.5": {"loss": "pbs", "temp": 0.5},
    "pbs-1": {"loss": "pbs", "temp": 1.0},
    "pbs-3": {"loss": "pbs", "temp": 3.0},
    "pbs-1-exact": {"loss": "pbs", "temp": 1.0, "method": "exact"},
    "best": {"loss": "best", "epochs": 6},
    "ns-cbow": {"loss": "ns", "inputs": "window"},
    "ns-subwords": {"loss": "ns", "inputs": "subwords"},
    "ns-cbow-subwords": {"loss": "ns", "inputs": "window+subwords"},
    "ns-cbow-root": {"loss": "ns", "inputs": "window", "noise_exponent": 0.5},  # fastText's noise
    "ns-subwords-root": {"loss": "ns", "inputs": "subwords", "noise_exponent": 0.5},
    "hierarchical-cbow": {"loss": "hierarchical", "inputs": "window"},
    "relaxed-cbow": {"loss": "relaxed", "inputs": "window"},
    "relaxed-subwords": {"loss": "relaxed", "inputs": "subwords"},
    "cis-eq10": {"loss": "cis", "weigh_positive": True},
    "cis-alternate": {"loss": "cis", "discriminator_steps": "alternate"},
    "pbs-cis": {"loss": "pbs", "weigher": "discriminator"},
    "relaxed-cis": {"loss": "relaxed", "weigher": "discriminator"},
}
RIVALS = {  # name -> default alpha
    "gensim": 0.025,
    "gensim-cbow": 0.025,
    "gensim-hs": 0.025,
    "gensim-hs-cbow": 0.025,
    "gensim-subwords": 0.025,
    "gensim-cbow-subwords": 0.025,
    "fasttext": 0.05,
    "fasttext-cbow": 0.05,
    "fasttext-subwords": 0.05,
    "fasttext-cbow-subwords": 0.05,
}


def check_objective(name):
    """Raise ConfigError if `name` is neither a rival nor known to `objective_options`."""
    if name not in RIVALS:
        objective_options(name)


def objective_options(name):
    """Return the options of `name`, one of OBJECTIVES or a preset; ConfigError if it is neither."""
    if name in OBJECTIVES:
        return OBJECTIVES[name]
    if name in PRESETS:
        return {"loss": name}
    raise ConfigError(
        f"unknown objective {name!r}{did_you_mean(name, [*RIVALS, *OBJECTIVES, *PRESETS])}; known: "
        f"{', '.join([*RIVALS, *OBJECTIVES])} and every preset of 'w2vneg objectives'"
    )


DEV = ("men-dev", "sem-dev", "syn-dev", "mean-dev", "nll")
_SETS = ("ws353", "simlex999", "rw", "men", "men-test", "mturk287")
_ANALOGIES = ("sem P@1", "sem P@5", "sem P@15", "syn P@1", "syn P@5", "syn P@15", "sem-test P@1", "syn-test P@1")
TEST = {  # correlation -> columns of the table of test scores
    "spearman": _SETS + _ANALOGIES,
    "pearson": tuple(f"{name} r" for name in _SETS) + _ANALOGIES,
}


@dataclasses.dataclass(frozen=True)
class Run:
    """One trained model's scores; seconds of training, from encoded corpus to vectors; pairs trained, if reported;
    setting : dict, options in which this run differs from the others measured with it
    readout : str, how the vectors are made from both matrices; seconds include it
    cpu : float, seconds of all threads, from encoded corpus to vectors
    """

    objective: str
    alpha: float
    seed: int
    seconds: float
    scores: dict
    pairs: int | None = None
    setting: dict = dataclasses.field(default_factory=dict)
    readout: str = "in"
    cpu: float = 0.0


def development_scores(vectors, vectors_out, heldout, window, mirror=None):
    """Return the scores used for choices, as fractions; ``mean-dev`` is the mean of the first three."""
    analogy = vectors.evaluate_analogy("google", mirror=mirror, half="dev")
    scores = {
        "men-dev": vectors.evaluate_similarity("men-dev", mirror=mirror).spearman,
        "sem-dev": analogy.semantic.precision[1],
        "syn-dev": analogy.syntactic.precision[1],
    }
    scores["mean-dev"] = statistics.mean(scores.values())
    if vectors_out is not None:
        scores["nll"] = evaluate_likelihood(LogitScores(vectors.matrix, vectors_out), heldout, window).nll
    return scores


def test_scores(vectors, mirror=None):
    """Return the reported scores: Spearman's correlation by set, Pearson's as ``"set r"``, P@k as fractions."""
    scores = {}
    for name in _SETS:
        result = vectors.evaluate_similarity(name, mirror=mirror)
        scores |= {name: result.spearman, f"{name} r": result.pearson}
    for half, mark in ((None, ""), ("test", "-test")):
        analogy = vectors.evaluate_analogy("google", mirror=mirror, half=half)
        for short, total in (("sem", analogy.semantic), ("syn", analogy.syntactic)):
            scores |= {f"{short}{mark} P@{k}": total.precision[k] for k in (1, 5, 15)}
    return scores


def split(encoded, share=0.01):
    """Return (training part, held-out part) of an EncodedCorpus: the last `share` of its sentences is held out."""
    cut = int(encoded.n_sentences * (1 - share))
    border = int(encoded.offsets[cut])
    first = dataclasses.replace(encoded, ids=encoded.ids[:border], offsets=encoded.offsets[: cut + 1])
    tail = dataclasses.replace(encoded, ids=encoded.ids[border:], offsets=encoded.offsets[cut:] - border)
    return first, tail


_WARM_TOKENS = 5000
_EPOCHS = 3  # unless an objective or a call sets another number


class Evaluator:
    """Trains objectives on one corpus with common options and scores them on "dev" or "test" data.

    For "dev" the last 1 % of the corpus is held out; for "test" all of it is training data.
    """

    def __init__(self, encoded, common, part, mirror=None):
        self.corpus, self.heldout = split(encoded) if part == "dev" else (encoded, None)
        self.common, self.part, self.mirror = common, part, mirror
        self._warm = set()

    def measure(self, objective, alpha, seed, folder, **setting):
        """Train one objective, or a rival, and score it.

        Parameters
        ----------
        objective : str; alpha : float or None, its own; seed : int
        folder : Path, where rivals' input is written
        setting : options of this run besides the common ones, such as epochs

        Returns
        -------
        Run
        """
        return self.measure_all(objective, alpha, seed, folder, ("in",), **setting)[0]

    def measure_all(self, objective, alpha, seed, folder, readouts, **setting):
        """Train once and score each read-out; other parameters as in `measure`. Return a list of Run."""
        rival, pairs = objective in RIVALS, None
        options = {"epochs": _EPOCHS} | ({} if rival else objective_options(objective)) | self.common | setting
        if rival:
            alpha = alpha or RIVALS[objective]
            vectors, vectors_out, seconds = self._rival(objective, alpha, seed, folder, options)
        else:
            vectors, vectors_out, alpha, seconds, pairs = self._ours(objective, alpha, seed, options)
        runs = []
        for readout in readouts:
            made, more = self._read_out(readout, vectors, vectors_out, options.get("subsample", 1e-4))
            if self.part == "dev":
                outs = vectors_out if not rival and readout == "in" else None
                scores = development_scores(made, outs, self.heldout, options["window"], self.mirror)
            else:
                scores = test_scores(made, self.mirror)
            runs.append(
                Run(objective, alpha, seed, seconds + more, scores, pairs, setting, readout, seconds.cpu + more.cpu)
            )
        return runs

    def _read_out(self, readout, vectors, vectors_out, subsample):
        """Return the `Vectors` of a read-out, and the seconds it took."""
        begun, chain, contexts = now(), parse(readout), None
        if chain.needs_contexts:
            keep = keep_thresholds(self.corpus.vocab.counts, subsample) / 2.0**32
            contexts = context_means(self.corpus.ids, self.corpus.offsets, keep, vectors_out, WINDOW)
        if vectors_out is None and chain.reads("vectors_out"):
            raise ConfigError(f"a rival without an output matrix has no read-out {readout}; use in")
        counts = self.corpus.vocab.counts if vectors.counts is None else vectors.counts
        made = chain.read(Trained(vectors.matrix, vectors_out, vectors.words, counts, contexts))
        return Vectors(vectors.words, made, counts), Seconds.since(begun)

    def _ours(self, objective, alpha, seed, options):
        options = options | {"seed": seed} | ({} if alpha is None else {"alpha": alpha})
        if objective not in self._warm:  # compile, or load compiled code, before timing
            warm_up = Trainer(head(self.corpus, _WARM_TOKENS), TrainConfig(**options | {"epochs": 1}))
            warm_up.train()
            if not warm_up.complete:
                raise KeyboardInterrupt
            self._warm.add(objective)
        trainer = Trainer(self.corpus, TrainConfig(**options))
        begun = now()
        model = trainer.train()
        seconds = Seconds.since(begun)
        if not trainer.complete:
            raise KeyboardInterrupt  # a partial run is not a measurement
        vectors = Vectors(model.vocab.words, model.vectors_in, model.vocab.counts)
        pairs = sum(event["pairs"] for event in model.history if event["event"] == "EpochDone")
        of_words = not model.config.loss.plug.paths  # otherwise rows of the output matrix are not words
        return vectors, model.vectors_out if of_words else None, model.config.alpha, seconds, pairs

    def _rival(self, name, alpha, seed, folder, common):
        text = folder / "corpus.txt"
        if not text.exists():
            write_sentences(self.corpus, text)
        trainer, _, inputs = name.partition("-")
        common = common | {kind: kind in inputs for kind in ("cbow", "subwords", "hs")}
        if trainer == "gensim":
            model, seconds = train_gensim(text, alpha, seed, common)
            rows = [model.wv.key_to_index[word] for word in self.corpus.vocab.words]  # in the order of our ids
            words, counts = self.corpus.vocab.words, self.corpus.vocab.counts
            outs = None if common["hs"] else np.ascontiguousarray(model.syn1neg[rows])
            return Vectors(words, model.wv.vectors[rows], counts), outs, seconds
        model, seconds = train_fasttext(text, alpha, common)  # takes no seed
        words = model.get_words()
        rows = [row for row, word in enumerate(words) if word != "</s>"]  # it counts line ends as a word
        if common["subwords"]:
            matrix = np.array([model.get_word_vector(words[row]) for row in rows])
        else:
            matrix = model.get_input_matrix()[rows]
        return Vectors([words[row] for row in rows], matrix), None, seconds


def table(runs, columns):
    """Return a Markdown table: one row per objective, alpha and read-out; mean over seeds, range in brackets."""
    groups = {}
    for run in runs:
        groups.setdefault((run.objective, run.alpha, run.readout), []).append(run)
    heading = ("objective", "alpha", "read-out", "seeds", *columns, "seconds", "CPU seconds", "million pairs/s")
    lines = ["| " + " | ".join(heading) + " |", "|---" * len(heading) + "|"]
    for (objective, alpha, readout), group in groups.items():
        cells = [_spread([r.scores.get(c) for r in group], c) for c in columns]
        seconds = _spread([r.seconds for r in group], "seconds")
        cpu = _spread([r.cpu for r in group], "seconds")
        rates = [None if run.pairs is None else run.pairs / run.seconds / 1e6 for run in group]
        rate = _spread(rates, "million pairs/s")
        lines.append(
            f"| {objective} | {alpha:g} | {readout} | {len(group)} | {' | '.join(cells)} | {seconds} | {cpu} | {rate} |"
        )
    return "\n".join(lines)


_FORMS = {"seconds": "{:.1f}", "million pairs/s": "{:.2f}"}


def _spread(values, column):
    if any(v is None for v in values):
        return "–"
    percent = "P@" in column or "sem" in column or "syn" in column
    scale, form = (100, "{:.1f}") if percent else (1, _FORMS.get(column, "{:.3f}"))
    mean = form.format(scale * statistics.mean(values))
    if len(values) == 1:
        return mean
    return f"{mean} ({form.format(scale * min(values))}–{form.format(scale * max(values))})"
