"""Estimates of the memory, disk and time that a run would take.

Memory is the size of the arrays that the run would hold. Seconds are extrapolated from a few rounds on a separate
model, after compilation. The caller's objects are not changed and nothing is written.
"""

import dataclasses
import mmap
import time
from dataclasses import dataclass

import numpy as np

from ..config.options import without_ranks
from ..engines.engine import goes_to_disk
from ..ground.errors import ConfigError
from ..ground.events import RoundDone
from ..ground.files.memory import memory_size
from ..objectives.readout import DEFAULT, parse
from .conductor import Run
from .penalty import most_tried
from .state import files_of_known

PROGRAM = 170 * 2**20
"""Bytes of Python, NumPy, SciPy, Numba and LLVM, with compiled code; 95 MB are files that processes share."""

_PER_NUMBER = 11.7  # bytes per number of vectors in text format


@dataclass(frozen=True)
class Estimate:
    """What a run would take."""

    tokens: int  # kept tokens of a text or of baskets, or distinct pairs
    n_vocab: int  # rows of the input matrix; n_out: of the output matrix
    n_out: int
    dim: int
    workers: int
    alpha: float  # at the start
    pairs: int  # positives that the rest of the run trains on, approximately
    memory: dict  # purpose -> bytes
    room: int  # bytes of memory that this process may use
    mapped: int  # bytes of data mapped from disk, which the system can evict when memory is short
    disk: dict  # purpose -> bytes, with existing files
    seconds: float  # of the remaining training, with choosing and evaluations by held-out pairs
    choosing: float  # part of `seconds` in which --l2 is chosen; 0.0 if it is given or not open
    measured: float  # share of the run that was measured

    @property
    def peak(self):
        """Total bytes of memory, without mapped data (int)."""
        return sum(self.memory.values())

    def as_dict(self):
        return {**dataclasses.asdict(self), "peak": self.peak}


def estimate(config, encoded, *, validation=None, done=0.0, seconds=3.0, of_command=False):
    """Return the `Estimate` of a run.

    config : TrainConfig; encoded : EncodedCorpus or EncodedPairs
    validation : Validation, optional, run once to time it
    done : float, in [0, 1], share of the run that is done already; seconds : float, about how long to measure the rate
    of_command : bool, as for `Trainer.train`
    ConfigError if the available memory is clearly too small, before a model is built; W2vnegError if the run itself
        would fail
    """
    run = Run(without_ranks(config), encoded)
    matrices = 4 * config.dim * (len(encoded.vocab) + len(encoded.vocab_out))
    needed, room = PROGRAM + matrices * (1 if goes_to_disk(matrices) else 2), memory_size()  # and their snapshot
    if needed > room:
        what = f"the run would take at least {needed / 2**20:,.0f} MB of memory"
        limit = f"this process may use {room / 2**20:,.0f} MB"
        raise ConfigError(f"{what}, and {limit}; use a smaller --dim or --max-vocab, or raise the limit")
    _train(run, 0.0, of_command)  # the first round compiles or loads the kernels
    trainer, last, taken = _train(run, seconds, of_command)
    share, remaining = last.fraction, 1 - done
    left, choosing = taken * remaining / share, 0.0
    if validation is not None:
        begun = time.perf_counter()
        validation.figures(trainer.model)
        left += (time.perf_counter() - begun) * max(1.0, trainer.config.epochs * remaining / validation.every)
    if run.chooses and not done and config.engine == run.config.engine:
        choosing = taken / share * most_tried(encoded)
    model, own = trainer.model, trainer.config
    return Estimate(
        **{"tokens": len(encoded), "n_vocab": len(model.vocab), "n_out": len(model.vocab_out)},
        **{"dim": own.dim, "workers": own.workers, "alpha": own.alpha, "pairs": round(last.pairs * remaining / share)},
        memory=_memory(trainer, encoded, validation),
        room=memory_size(),
        mapped=sum(array.nbytes for array in _arrays(vars(encoded)).values() if _is_mapped(array)),
        disk=_disk(trainer, encoded, validation),
        seconds=left + choosing,
        choosing=choosing,
        measured=share,
    )


def _train(run, seconds, of_command):
    """Train until a round ends after `seconds` or more; return (Trainer, RoundDone of that round, seconds taken)."""
    trainer, events = run.trainer(), []
    trainer.model.config = dataclasses.replace(trainer.model.config, readout=DEFAULT)  # needs no pass over the data

    def listen(event):
        if isinstance(event, RoundDone):
            events.append(event)
            if time.perf_counter() - begun >= seconds:
                trainer.stop()

    trainer.listeners.append(listen)
    begun = time.perf_counter()
    trainer.train(of_command=of_command)
    if not events:
        raise KeyboardInterrupt  # a signal stopped it before anything was measured
    return trainer, events[-1], time.perf_counter() - begun


def _memory(trainer, encoded, validation):
    nbytes = lambda arrays: sum(array.nbytes for array in arrays)  # noqa: E731
    engine, model = trainer.engine.replica, trainer.model
    matrices = sum(matrix.nbytes for matrix in model.matrices().values())
    replicated = {_address(matrix): matrix for matrix in engine.replicated.values()}
    data = {key: array for key, array in _arrays(vars(encoded)).items() if not _is_mapped(array)}
    plugs = _arrays([getattr(engine, "plugs", ()), vars(engine.walk), vars(engine).get("loss", ())])
    plugs = {key: array for key, array in plugs.items() if key not in replicated and key not in data}
    known = replicated.keys() | data.keys() | plugs.keys()
    scratch = [array for key, array in _arrays(vars(engine)).items() if key not in known and not _is_mapped(array)]
    vocabularies = {id(vocab): vocab for vocab in (model.vocab, model.vocab_out)}.values()
    return {
        "program": PROGRAM,
        "vocabulary": sum(
            len(vocab.words.data) + vocab.words.offsets.nbytes + vocab.counts.nbytes + 12 * len(vocab)  # and a lookup
            for vocab in vocabularies
        ),
        "data in memory": nbytes(data.values()),
        "matrices": matrices,
        "private copies of workers": nbytes(replicated.values()) - matrices,
        "snapshot to go back to": 0 if goes_to_disk(matrices) else matrices,
        "best state": 0 if validation is None else matrices,
        "tables of the plugs": nbytes(array for array in plugs.values() if not _is_mapped(array)),
        "scratch of rounds": nbytes(scratch),
        "vectors, read out": parse(trainer.config.readout).memory(len(model.vocab), trainer.config.dim),
    }


def _disk(trainer, encoded, validation):
    model = trainer.model
    matrices = sum(matrix.nbytes for matrix in model.matrices().values())
    words = sum(map(_text_size, {id(vocab): vocab for vocab in (model.vocab, model.vocab_out)}.values()))
    known = sum(array.nbytes for array in files_of_known(model.known).values())
    return {
        "encoded data": encoded.stored,
        "snapshot to go back to, while it runs": matrices if goes_to_disk(matrices) else 0,
        "vectors as text": int(model.vectors_in.size * _PER_NUMBER) + _text_size(model.vocab),
        "model folder, if kept": matrices * (1 if validation is None else 2) + words + known,
    }


def _text_size(vocab):
    return len(vocab.words.data) + 7 * len(vocab)  # and a count or line end for each word


def _arrays(value):
    """Return the distinct arrays in the items, fields or buffers of a value: dict of address -> array."""
    found, left = {}, [value]
    while left:
        item = left.pop()
        if isinstance(item, np.ndarray):
            whole = item
            while isinstance(whole.base, np.ndarray):
                whole = whole.base
            found.setdefault(_address(whole), whole)
        elif isinstance(item, dict):
            left.extend(item.values())
        elif isinstance(item, tuple | list):
            left.extend(item)
        elif hasattr(item, "indptr"):  # a sparse matrix
            left.extend((item.data, item.indices, item.indptr))
    return found


def _address(array):
    return array.__array_interface__["data"][0]


def _is_mapped(array):
    while isinstance(array, np.ndarray):
        array = array.base
    return isinstance(array, mmap.mmap)
