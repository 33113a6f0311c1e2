"""Reading, writing and evaluation compared with gensim, and start-up time: contenders in turn, round after round.

Files written and read back come from the page cache, so the rates are those of the programs, not of a disk.
"""

import dataclasses
import gzip
import json
import lzma
import os
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import numpy as np

from w2vneg.data.encoded import encode_corpus
from w2vneg.data.readers.sources import ByteStream
from w2vneg.ground.errors import InputError, require
from w2vneg.ground.files.bounded import read_text
from w2vneg.ground.jit import available_threads
from w2vneg.vectors import Vectors
from w2vneg.vectors.evaluation import evaluate_analogy, evaluate_similarity

from .contenders import spread
from .speed import machine

_TEXT_LIMIT = 100_000_000  # bytes read of the corpus


@dataclasses.dataclass(frozen=True)
class Timing:
    """One contender in one round: seconds for `amount` of `unit`; `rival` is the contender to compare with, if any.

    `core_seconds` are those of all threads and child processes together, more reliable on a busy machine.
    """

    task: str
    repeat: int
    seconds: float
    core_seconds: float
    amount: float
    unit: str
    rival: str | None = None


@dataclasses.dataclass(frozen=True)
class Sizes:
    """Amounts of work: bytes of text, words of the exported, evaluated and searched vectors, dimension."""

    text: int
    exported: int
    evaluated: int
    searched: int
    dim: int = 100

    @classmethod
    def short(cls):
        return cls(text=20_000_000, exported=20_000, evaluated=70_000, searched=200_000)

    @classmethod
    def long(cls):
        return cls(text=_TEXT_LIMIT, exported=1_000_000, evaluated=70_000, searched=1_000_000)


def interleaved(tasks, repeats, tell=lambda text: None):
    """Time each task once per round, after an untimed round that compiles and fills the page cache.

    Parameters
    ----------
    tasks : dict of str -> (function of no argument, float, str, str or None)
        The function to time; the amount of work and its unit; the name of the rival.
    repeats : int

    Returns
    -------
    list of Timing
    """
    timings = []
    for repeat in range(-1, repeats):
        for name, (run, amount, unit, rival) in tasks.items():
            begun, cores_begun = time.perf_counter(), sum(os.times()[:4])
            run()
            seconds, core_seconds = time.perf_counter() - begun, sum(os.times()[:4]) - cores_begun
            if repeat >= 0:
                timings.append(Timing(name, repeat, seconds, core_seconds, amount, unit, rival))
            tell(f"round {repeat + 1}, {name}: {seconds:.2f} s")
    return timings


def ingestion(corpus, folder, sizes):
    """Return tasks: a text read plain and compressed, and decompressors alone (with SHA-256, which ours includes)."""
    data = _head(corpus, sizes.text)
    packers = {"plain": bytes, "gzip": lambda text: gzip.compress(text, 6), "xz": _xz}
    tasks = {}
    for name, pack in packers.items():
        path = Path(folder) / f"text-{name}"
        path.write_bytes(pack(data))
        alone = None if name == "plain" else f"{name}: unpacked alone"
        tasks[f"{name}: counted and encoded"] = (_encoding(path), len(data) / 1e6, "MB", alone)
        if alone:
            tasks[alone] = (_unpacking(path), len(data) / 1e6, "MB", None)
    return tasks


def _head(corpus, size):
    data = bytearray()
    with ByteStream(str(corpus)) as source:
        for piece in source.pieces():
            data += piece
            if len(data) >= size:
                break
    return bytes(data[:size]).rsplit(None, 1)[0] + b"\n"


def _xz(text):
    """Compress like the xz program with several threads: one part per thread, concatenated in one file."""
    n = available_threads()
    borders = [len(text) * k // n for k in range(n + 1)]
    with ThreadPoolExecutor(n) as threads:
        return b"".join(threads.map(lzma.compress, (text[first:last] for first, last in pairwise(borders))))


def _encoding(path):
    return lambda: encode_corpus(path, use_cache=False)


def _unpacking(path):
    def run():
        with ByteStream(str(path)) as source:
            for _ in source.pieces():
                pass

    return run


def vectors_like_trained(n, dim, words=()):
    """Return Vectors with numbers of the size of trained ones; `words` are the first words."""
    matrix = np.random.default_rng(0).normal(0, 0.3, (n, dim)).astype(np.float32)
    words = list(words)
    return Vectors(words + [f"word{i}" for i in range(n - len(words))], matrix)


def exchange(folder, sizes):
    """Return tasks: vectors written as word2vec text and read back, by w2vneg and by gensim; npz by w2vneg."""
    KeyedVectors = require("gensim.models", "bench", "measuring gensim").KeyedVectors
    vectors = vectors_like_trained(sizes.exported, sizes.dim)
    keyed = vectors.to_gensim()
    ours, theirs, npz = (str(Path(folder) / name) for name in ("ours.txt", "gensim.txt", "ours.npz"))
    vectors.save(npz)
    millions = vectors.matrix.size / 1e6
    unit = "million numbers"
    return {
        "text written": (lambda: vectors.save(ours), millions, unit, "text written by gensim"),
        "text written by gensim": (lambda: keyed.save_word2vec_format(theirs), millions, unit, None),
        "text read": (lambda: Vectors.load(ours), millions, unit, "text read by gensim"),
        "text read by gensim": (lambda: KeyedVectors.load_word2vec_format(ours), millions, unit, None),
        "npz mapped": (lambda: Vectors.load(npz), millions, unit, "text read"),
    }


def evaluation(analogies, similarity, sizes):
    """Return tasks: all questions of an analogy set, a similarity set, and the nearest of many words."""
    words = sorted({word for word in read_text(analogies).lower().split() if word != ":"})
    words += sorted({word for word in read_text(similarity).lower().split()} - set(words))
    if len(words) > sizes.evaluated:
        raise InputError(f"{analogies} and {similarity} have more than {sizes.evaluated} words; name the usual sets")
    evaluated = vectors_like_trained(sizes.evaluated, sizes.dim, words)
    many = vectors_like_trained(sizes.searched, sizes.dim)

    def afresh(evaluate):
        return lambda: evaluate(
            Vectors(evaluated.words, evaluated.matrix)
        )  # normalising the vectors is part of the work

    def first_nearest():
        many.__dict__.pop("_lengths", None)
        many.most_similar("word5")

    n_questions = evaluate_analogy(evaluated, analogies).overall.scored
    return {
        "analogies, P@1/5/15": (afresh(lambda v: evaluate_analogy(v, analogies)), n_questions, "questions", None),
        "similarity": (afresh(lambda v: evaluate_similarity(v, similarity)), 1, "set", None),
        "nearest, first query": (first_nearest, sizes.searched / 1e6, "million words", None),
        "nearest, next query": (lambda: many.most_similar("word7"), sizes.searched / 1e6, "million words", None),
    }


def starting():
    """Return tasks: a fresh process that shows help."""
    command = [sys.executable, "-m", "w2vneg", "--help"]
    return {"--help": (lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL), 1, "process", None)}


def measure(corpus, analogies, similarity, sizes, repeats, tell=lambda text: None):
    """Time everything; return a list of Timing. corpus, analogies, similarity : paths"""
    timings = []
    groups = (
        lambda folder: ingestion(corpus, folder, sizes),
        lambda folder: exchange(folder, sizes),
        lambda folder: evaluation(analogies, similarity, sizes),
        lambda folder: starting(),
    )
    for tasks in groups:
        with tempfile.TemporaryDirectory() as folder:
            timings += interleaved(tasks(folder), repeats, tell)
    return timings


def table(timings):
    """Return Markdown: seconds and rates, median and range, and multiples of the rival's rate within each round."""
    lines = [
        "| task | seconds, median (range) | core seconds | rate, median (range) | times the rival |",
        "|---|---|---|---|---|",
    ]
    seconds = {(timing.task, timing.repeat): timing.seconds for timing in timings}
    for name in dict.fromkeys(timing.task for timing in timings):
        own = [timing for timing in timings if timing.task == name]
        rates = spread([timing.amount / timing.seconds for timing in own], ".4g")
        rival = own[0].rival
        ratios = [seconds[rival, t.repeat] / t.seconds for t in own if rival]
        ratio = f"{spread(ratios, '.2f')} × {rival}" if ratios else "–"
        cores = statistics.median(timing.core_seconds for timing in own)
        lines.append(
            f"| {name} | {spread([t.seconds for t in own], '.3f')} | {cores:.2f} | {rates} {own[0].unit}/s | {ratio} |"
        )
    return "\n".join(lines)


def as_json(timings, sizes):
    """Return the single measurements as JSON text."""
    rows = [dataclasses.asdict(timing) for timing in timings]
    return json.dumps({"machine": machine(), "sizes": dataclasses.asdict(sizes), "timings": rows}, indent=1)
