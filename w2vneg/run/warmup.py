"""Compile ahead what a run will need: by running it, on a made-up file, read as any file is (read-only maps are another
type to the compiler than other arrays).
"""

import dataclasses
import random
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..ground.errors import ConfigError, OutputError
from ..ground.jit import cache_folder, compilations, not_kept
from ..ground.option import options_of
from .conductor import Run, resolve
from .word2vec import Word2Vec

_ITEMS = 60


@dataclass(frozen=True)
class Warmed:
    """Functions compiled now, and those found in the cache, by their names."""

    compiled: tuple
    found: tuple
    seconds: float


def warm_up(config, source="text"):
    """Compile what a run needs, into the disk cache; return what was `Warmed`.

    config : TrainConfig; dim and the plugs matter, the number of workers beyond two and of epochs does not
    source : str, what the run will read, as `TrainConfig.source`
    ConfigError if the options do not go together, or compiled code has nowhere to stay; OutputError if it could not
        be written there
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
        encoded = config.traversal.made_up(path, [f"item{number}" for number in range(_ITEMS)], random.Random(1))
        word2vec.model = Run(config, encoded).trainer().train()
        word2vec.vectors.save(Path(folder) / "vectors.txt")
    if not_kept:
        raise OutputError(
            f"compiled code cannot be kept in {cache_folder()} ({not_kept[0].strerror or not_kept[0]}), so the next "
            "command compiles again; make room, or set W2VNEG_JIT_CACHE to another folder"
        )
    gains = {name: np.subtract(counts, before.get(name, (0, 0))) for name, counts in compilations().items()}
    new = tuple(name for name, (compiled, _) in gains.items() if compiled > 0)
    found = tuple(name for name, (compiled, loaded) in gains.items() if compiled <= 0 < loaded)
    return Warmed(new, found, time.perf_counter() - begun)


def check_cache():
    """Raise ConfigError if nothing can be compiled ahead."""
    if cache_folder() is None:
        raise ConfigError(
            "there is no place to keep compiled code: the cache folder cannot be written; set W2VNEG_JIT_CACHE, or "
            "W2VNEG_CACHE, to a folder that can"
        )
