"""The contenders, and the loop that times them: every contender in turn, round after round.

A noisy machine then affects all equally, and ratios are taken within a round. If a number of tokens is given, ours is
timed from the end of a run's first round, which touches memory for the first time, until the round in which it has seen
that many more, with rounds as long as in a whole run. Rivals train on a text of that many tokens, with the whole
vocabulary if they accept one (gensim, not counting the seconds it takes to prepare it).
"""

import dataclasses
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np

from w2vneg.config import TrainConfig
from w2vneg.data.encoded import EncodedCorpus
from w2vneg.data.vocab import Vocabulary
from w2vneg.ground.errors import MissingExtraError
from w2vneg.ground.events import RoundDone
from w2vneg.run.trainer import Trainer

from .gauges import peak_memory, reset_peak_memory
from .operations import Work, work_of
from .rivals import require_rival, train_fasttext, train_gensim, train_itembed, write_sentences

_ALPHA = 0.05
_WARM_TOKENS = 20_000


@dataclasses.dataclass(frozen=True)
class Contender:
    """name : str; options : dict, of ours, in addition to the common ones; or rival : str, the other trainer
    most_tokens : int or None, limit of one timing, for slow ones; one_thread : bool, it is single-threaded
    """

    name: str
    options: dict | None = None
    rival: str | None = None
    most_tokens: int | None = None
    one_thread: bool = False


REFERENCE = "gensim corpus_file"


def _ways(name, options, context_free=False):
    """Return a contender for each way to share negatives; by window only for `context_free` samplers."""
    ways = {"shared": "centre", "per window": "window", "per pair": "no"}
    return tuple(
        Contender(f"{name} {called}", options | {"share_negatives": way})
        for called, way in ways.items()
        if context_free or way != "window"
    )


PER_PAIR = (  # presets
    *("cis", "ps", "ubs", "pops", "ss", "is", "nce", "blackout", "css-bernoulli", "large-vocab"),
    *("ranking", "hinge", "bpr", "dns"),
)
DEAR = ("mle", "kernel-quadratic", "kernel-quartic")  # presets whose time grows with the vocabulary, or almost

CONTENDERS = {
    contender.name: contender
    for contender in (
        *_ways("ns", {"loss": "ns", "negatives": 5}, context_free=True),
        *_ways("relaxed", {"loss": "relaxed", "negatives": 5}),
        Contender("relaxed, default (n = 10)", {"loss": "relaxed"}),
        *_ways("us", {"loss": "us"}, context_free=True),
        *_ways("pbs", {"loss": "pbs"}),
        *_ways("selfplay", {"loss": "selfplay"}),
        *_ways("css-is", {"loss": "css-is"}, context_free=True),
        *(Contender(f"{name} per pair", {"loss": name, "share_negatives": "no"}) for name in PER_PAIR),
        *(Contender(name, {"loss": name}, most_tokens=100_000) for name in DEAR),
        Contender(REFERENCE, rival="gensim"),
        Contender("fastText maxn=0", rival="fasttext", most_tokens=2_000_000),
        Contender("itembed, one thread", rival="itembed", most_tokens=1_000_000, one_thread=True),
    )
}


@dataclasses.dataclass(frozen=True)
class Timing:
    """One contender in one round: seconds of training over `words` tokens; pairs is 0 if it is not reported, words is 0
    for trainers without windows. operations, moved : float, see `operations`, 0 if they are unknown
    memory, grown : int, peak resident bytes of the process during training, and their increase over before; 0 if the
    system does not report them
    """

    contender: str
    repeat: int
    seconds: float
    words: int
    pairs: int
    operations: float = 0.0
    moved: float = 0.0
    memory: int = 0
    grown: int = 0


def interleaved(contenders, encoded, common, repeats, tokens=None, before=lambda repeat: None, tell=lambda text: None):
    """Time each contender once per round, after an untimed run of ours that loads compiled code.

    Parameters
    ----------
    contenders : list of Contender
    encoded : EncodedCorpus
    common : dict
        dim, window, epochs, workers.
    repeats : int
    tokens : int, optional
        Approximate number for each timing; by default all of `epochs` passes.
    before : callable
        Called with the number of each round before it.

    Returns
    -------
    list of Timing
        A rival that fails in a round (fastText sometimes hits its own NaN) is left out of it.
    """
    timings = []
    for contender in contenders:
        if contender.options is not None:
            _time_ours(contender, _warm_up_text(), common | {"epochs": 1}, None)
    with tempfile.TemporaryDirectory() as folder:
        for repeat in range(repeats):
            before(repeat)
            for contender in contenders:
                try:
                    timing = time_contender(contender, encoded, common, tokens, Path(folder))
                except RuntimeError as error:
                    if contender.rival is None:
                        raise
                    tell(f"round {repeat + 1}, {contender.name}: failed ({error}); left out")
                    continue
                timings.append(dataclasses.replace(timing, repeat=repeat))
                tell(f"round {repeat + 1}, {contender.name}: {timing.seconds:.1f} s")
    return timings


def time_contender(contender, encoded, common, tokens, folder):
    """Train one contender once on about so many tokens; return its Timing, with round 0. Texts are kept in `folder`."""
    limit = None if tokens is None else min(tokens, contender.most_tokens or tokens)
    before = reset_peak_memory()
    if contender.rival is None:
        timing = _time_ours(contender, encoded, common, limit)
    else:
        timing = _time_rival(contender, encoded, common, limit, folder)
    peak = peak_memory()
    return dataclasses.replace(timing, memory=peak, grown=peak - before)


def _time_ours(contender, encoded, common, limit):
    rounds = []  # seconds, tokens and pairs by then

    def listen(event):
        if isinstance(event, RoundDone):
            rounds.append(np.array([time.perf_counter(), event.tokens, event.pairs]))
            if limit is not None and rounds[-1][1] - rounds[0][1] >= limit:
                trainer.stop()

    trainer = Trainer(encoded, TrainConfig(**common, **contender.options), [listen])
    begun = np.array([time.perf_counter(), 0, 0])
    trainer.train()
    if trainer.complete:
        rounds[-1][0] = time.perf_counter()
    if limit is not None and len(rounds) > 1:
        begun = rounds[0]  # the first round touches memory for the first time
    seconds, tokens, pairs = rounds[-1] - begun
    if not trainer.complete and (limit is None or tokens < limit):
        raise KeyboardInterrupt  # a partial run is not a measurement
    walk = trainer.engine.walk
    groups = float(walk.centre_weights.sum()) * tokens / walk.n_positions
    work = work_of(trainer.config, len(encoded.vocab_out), pairs, groups) or Work(0.0, 0.0)
    return Timing(contender.name, 0, float(seconds), int(tokens), int(pairs), work.operations, work.moved)


def _time_rival(contender, encoded, common, limit, folder):
    part = encoded if limit is None else head(encoded, limit)
    words = len(part) * common["epochs"]
    if contender.rival == "itembed":
        seconds, pairs = train_itembed(part, _ALPHA, common)[1:]
        return Timing(contender.name, 0, seconds, 0, pairs)
    text = folder / f"{len(part)}.txt"
    if not text.exists():
        write_sentences(part, text)
    if contender.rival == "gensim":
        seconds = train_gensim(text, _ALPHA, 1, common, None if limit is None else part)[1]
    else:
        seconds = train_fasttext(text, _ALPHA, common)[1]
    return Timing(contender.name, 0, seconds, words, 0)


def head(encoded, tokens):
    """Return the first sentences of an EncodedCorpus, about so many tokens; its vocabulary stays whole."""
    cut = max(1, int((encoded.offsets <= tokens).sum()) - 1)
    return dataclasses.replace(encoded, ids=encoded.ids[: encoded.offsets[cut]], offsets=encoded.offsets[: cut + 1])


def zipf_ids(n_vocab, n_tokens, seed):
    """Draw words by Zipf's law, as in `zipf_text`: int32 (n_tokens,)."""
    u = np.random.default_rng(seed).random(n_tokens)
    return np.minimum(np.exp(u * np.log(n_vocab + 1.0)).astype(np.int32) - 1, n_vocab - 1)


def zipf_text(n_vocab, n_tokens, seed=1, length=20):
    """Generate a text in memory: words drawn by Zipf's law, in sentences of `length`.

    Word k of 0 … V − 1 has the share log(1 + 1 / (k + 1)) / log(V + 1), which falls as 1 / (k + 1.5): (V + 1)^u rounded
    down, for uniform u. Counts are the expected ones, at least 1, so that every word of the vocabulary has one.

    Returns
    -------
    EncodedCorpus
        Its arrays are read-only, like those read from a file, so that both use the same compiled code.
    """
    ids = zipf_ids(n_vocab, n_tokens, seed)
    offsets = np.append(np.arange(0, n_tokens, length, dtype=np.int64), n_tokens)
    for array in (ids, offsets):
        array.flags.writeable = False
    shares = np.log1p(1.0 / np.arange(1, n_vocab + 1)) / np.log(n_vocab + 1.0)
    counts = np.maximum(1, np.rint(shares * n_tokens)).astype(np.int64)
    digits = len(str(n_vocab))
    return EncodedCorpus(ids, offsets, Vocabulary([f"w{k:0{digits}}" for k in range(n_vocab)], counts))


def _warm_up_text():
    return zipf_text(200, _WARM_TOKENS)


def installed(contenders, tell=lambda text: None):
    """Return the contenders whose packages are installed; report the others."""
    there = []
    for contender in contenders:
        try:
            if contender.rival is not None:
                require_rival(contender.rival)
        except MissingExtraError as error:
            tell(f"{contender.name} is left out: {error}")
        else:
            there.append(contender)
    return there


def ratios(timings, name, rate, reference=REFERENCE):
    """Return the rate of `name` as a multiple of the reference's, for each round that has both (list of float).

    rate : callable, Timing -> float
    """
    theirs = {t.repeat: rate(t) for t in timings if t.contender == reference}
    return [rate(t) / theirs[t.repeat] for t in timings if t.contender == name and theirs.get(t.repeat)]


def spread(values, form):
    """Return the median of numbers and, if there are several, their range, as text; a dash for none."""
    if not values:
        return "–"
    middle = format(statistics.median(values), form)
    return middle if len(values) == 1 else f"{middle} ({min(values):{form}}–{max(values):{form}})"
