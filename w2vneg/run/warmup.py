"""Compile in advance what a run will need, by running it on a synthetic file. That file is read as usual, because the
compiler treats read-only memory maps as a type of their own.
"""

import dataclasses
import os
import pickle
import random
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..ground.errors import ConfigError, OutputError
from ..ground.files.locks import CAN_WAIT
from ..ground.jit import DISABLE_JIT, available_threads, cache_folder, compilations, not_kept
from ..ground.option import options_of
from ..kernels.merge import merge_round
from ..kernels.rng import alias_table
from ..vectors import Vectors
from .conductor import Run, resolve
from .word2vec import Word2Vec

_ITEMS = 60
_HERE = Path(__file__).resolve().parents[2]  # the folder that contains the package


@dataclass(frozen=True)
class Warmed:
    """Names of the functions compiled now and of those found in the cache."""

    compiled: tuple
    found: tuple
    seconds: float


def warm_up(config, source="text"):
    """Compile what a run needs into the disk cache; return a `Warmed`.

    config : TrainConfig; dim and the plugs matter, epochs and workers beyond two do not
    source : str, the source of the run, as `TrainConfig.source`
    ConfigError if the options conflict, or there is no place for compiled code; OutputError if it could not be written
        there
    """
    check_cache()
    not_kept.clear()
    before, begun = compilations(), time.perf_counter()
    config = dataclasses.replace(config, epochs=1, min_count=1, max_vocab=None, source=source, rectangular=False)
    if config.get("subsample") is None and "subsample" in options_of(config.traversal):
        config = dataclasses.replace(config, subsample=0.0)
    resolve(config)
    with tempfile.TemporaryDirectory() as folder:
        word2vec, path = Word2Vec(config), Path(folder) / "made-up.txt"
        names = [f"item{number}" for number in range(_ITEMS)]
        # compile first what a run needs last, since the main process starts with what it needs first
        alias_table(np.ones(1))
        Vectors(names, np.zeros((len(names), config.dim), np.float32)).save(Path(folder) / "zeros.txt")
        merge_round([np.zeros((3, config.dim), np.float32)], 2, 1, [np.zeros(1)])
        encoded = config.traversal.made_up(path, names, random.Random(1))
        word2vec.model = Run(config, encoded).trainer().train()
        word2vec.vectors.save(Path(folder) / "vectors.txt")
    if not_kept:
        where = f"{cache_folder()} ({not_kept[0].strerror or not_kept[0]})"
        remedy = "make room, or set W2VNEG_JIT_CACHE to another folder"
        raise OutputError(f"compiled code cannot be kept in {where}, so the next command compiles again; {remedy}")
    gains = {name: np.subtract(counts, before.get(name, (0, 0))) for name, counts in compilations().items()}
    new = tuple(name for name, (compiled, _) in gains.items() if compiled > 0)
    found = tuple(name for name, (compiled, loaded) in gains.items() if compiled <= 0 < loaded)
    return Warmed(new, found, time.perf_counter() - begun)


@contextmanager
def beside(config, source):
    """Let another process compile what a run needs while this one reads its data and compiles, too.

    Functions that both need are compiled once. Nothing is done if this version has compiled before, if there is only
    one processor or a plug-in, or if processes cannot wait for each other. The other process ends with the block.
    """
    helps = sys.executable and not DISABLE_JIT and CAN_WAIT and available_threads() > 1 and not config.plugin
    folder = cache_folder() if helps else None
    with ExitStack() as stack:
        if folder is not None and not any(folder.rglob("*.nbi")):
            with suppress(OSError, pickle.PickleError, TypeError, AttributeError):
                stack.enter_context(_another(pickle.dumps((config, source)), folder))
        yield


_CODE = f"""
import sys
sys.path[:] = [{str(_HERE)!r}, *filter(None, sys.path)]
import os, pickle, threading
job = pickle.load(sys.stdin.buffer)
threading.Thread(target=lambda: os._exit(len(os.read(0, 1))), daemon=True).start()
from w2vneg.run.warmup import warm_up
warm_up(*job)
"""


@contextmanager
def _another(job, folder):
    """Run `warm_up` in a process that prints nothing, imports nothing from the working folder, and ends with this one,
    even if that crashes.
    """
    with tempfile.TemporaryDirectory() as scratch:
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        with subprocess.Popen([sys.executable, "-c", _CODE], env=os.environ | {"TMPDIR": scratch}, **pipes) as other:
            try:
                with suppress(OSError):
                    other.stdin.write(job)
                    other.stdin.flush()
                yield
            finally:
                other.kill()
                other.wait()
                for turn in folder.rglob("*.turn"):
                    turn.unlink(missing_ok=True)


def check_cache():
    """Raise ConfigError if compiled code cannot be kept."""
    if cache_folder() is None:
        what = "there is no place to keep compiled code: the cache folder cannot be written"
        raise ConfigError(f"{what}; set W2VNEG_JIT_CACHE, or W2VNEG_CACHE, to a writable folder")
