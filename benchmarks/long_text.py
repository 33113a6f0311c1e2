"""A text too long to keep here: made up by Zipf's law, written to a file, trained on, read out, exported, searched.

Each step is a process of its own, with its peak of memory. The text says nothing, so its vectors are not scored.
"""

import functools
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from w2vneg.ground.errors import W2vnegError

from .contenders import zipf_ids
from .speed import machine

_BLOCK, _LINE = 2_000_000, 20  # tokens written at once, and of a line
_SYLLABLES = [f"{a}{b}{c}".encode() for a in "bcdfghjklmnpqrstvwxz" for b in "aeiou" for c in ("", "n", "r", "s")]
_STRIDE = 24_681_357  # odd and no multiple of 5, so that all 64 million words differ
READOUTS = "in", "both", "context", "context+letters:share=.1+paradigms"


@dataclass(frozen=True)
class Step:
    """name : str; seconds : float, of the process; cpu : float, of all its threads; memory : int, bytes at its peak
    note : str, what else there is to say
    """

    name: str
    seconds: float
    cpu: float
    memory: int
    note: str = ""


def write_text(path, n_types, n_tokens, workers):
    """Write words drawn by Zipf's law, as `contenders.zipf_text` has it, in parts side by side."""
    parts = [(seed, n_types, min(_BLOCK, n_tokens - first)) for seed, first in enumerate(range(0, n_tokens, _BLOCK))]
    with multiprocessing.get_context("spawn").Pool(workers) as pool, open(path, "wb") as stream:
        for part in pool.imap_unordered(_part, parts):  # the order of parts says nothing, either
            stream.write(part)


def _part(part):
    """Return lines of words, bytes."""
    seed, n_types, n_tokens = part
    words = _words(n_types)[zipf_ids(n_types, n_tokens, seed)]
    return b"\n".join(b" ".join(words[first : first + _LINE]) for first in range(0, n_tokens, _LINE)) + b"\n"


@functools.cache
def _words(n_types):
    return np.array([_spelling(k) for k in range(n_types)], dtype=object)


def _spelling(k):
    """Return the k-th word, bytes: three syllables, far from those of the ranks beside it."""
    k = k * _STRIDE % len(_SYLLABLES) ** 3
    return b"".join(_SYLLABLES[k // len(_SYLLABLES) ** place % len(_SYLLABLES)] for place in (2, 1, 0))


def run_step(name, arguments, note=lambda output: ""):
    """Run ``w2vneg ARGUMENTS…`` and return a Step; W2vnegError with its last lines if it fails."""
    begun = time.perf_counter()
    with tempfile.TemporaryFile() as kept:
        child = subprocess.Popen([sys.executable, "-m", "w2vneg", *arguments], stdout=kept, stderr=kept)
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - begun
        child.returncode = os.waitstatus_to_exitcode(status)
        kept.seek(0)
        output = kept.read().decode(errors="replace")
    if child.returncode:
        raise W2vnegError(f"w2vneg {' '.join(arguments)} ended with {child.returncode}:\n{output[-2000:]}")
    return Step(name, seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, note(output))


def measure(n_tokens, n_types, dim, workers, loss, options, epochs, folder=None):
    """Write the text, train, read out, export and search; yield each Step. options : tuple of str, of `w2vneg train`"""
    with tempfile.TemporaryDirectory(dir=folder) as kept:
        text, model, log = (str(Path(kept) / name) for name in ("text.txt", "model", "log.jsonl"))
        begun = time.perf_counter()
        write_text(text, n_types, n_tokens, workers)
        yield Step("text written", time.perf_counter() - begun, 0.0, 0, _size(text))
        settings = ["--loss", loss, *options, "--dim", str(dim), "--workers", str(workers), "--readout", READOUTS[-1]]
        yield run_step("compiled", ["warmup", *settings])
        train = ["train", "--corpus", text, *settings, "--epochs", str(epochs), "--save-model", model]
        yield run_step("trained", [*train, "--tokenizer", "whitespace", "--log-json", log], lambda _: _rates(log))
        npz, plain = (str(Path(kept) / name) for name in ("vectors.npz", "vectors.txt"))
        for readout in READOUTS:
            yield run_step(f"read out: {readout}", ["export", model, npz, "--readout", readout, "--force"])
        yield run_step("nearest", ["nearest", _spelling(20).decode(), "--vectors", npz])
        os.unlink(npz)
        yield run_step("exported as text", ["export", model, plain, "--readout", "in"], lambda _: _size(plain))


def _size(path):
    return f"{Path(path).stat().st_size / 1e9:.1f} GB"


def _rates(log):
    """Return what a log says of its epochs."""
    events = [json.loads(line) for line in Path(log).read_text(encoding="utf-8").splitlines()]
    found = []
    for event in events:
        if event["event"] == "EpochDone":
            rate = event["tokens"] / event["seconds"]
            found.append(
                f"epoch {event['epoch']}: {event['seconds']:.1f} s, {rate / 1e6:.2f} million words/s, "
                f"loss {event['loss']:.3f}, at init {event['untrained']:.3f}"
            )
    return "; ".join(found)


def table(steps):
    """Return Markdown, a line a step."""
    lines = ["| | s | CPU s | GB at its peak | |", "|---|---|---|---|---|"]
    for step in steps:
        memory, cpu = (f"{value:.1f}" if value else "–" for value in (step.memory / 1e9, step.cpu))
        lines.append(f"| {step.name} | {step.seconds:.1f} | {cpu} | {memory} | {step.note} |")
    return "\n".join(lines)


def as_json(steps):
    """Return all steps as JSON, with the machine they are of (str)."""
    return json.dumps({"machine": machine(), "steps": [asdict(step) for step in steps]}, indent=1)
