"""What a run would take: memory, disk and time, without running it.

Memory is counted on the very arrays that the run would hold; seconds come from a few rounds on a model of its own, once
everything is compiled. Nothing of the caller's is changed and nothing is written.
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
"""Bytes of Python, NumPy, SciPy, Numba and LLVM, compiled code among them; 95 MB are files that processes share."""

_PER_NUMBER = 11.7  # bytes of a number in a text of vectors


@dataclass(frozen=True)
class Estimate:
    """What a run would take."""

    tokens: int  # kept ones of a text or of baskets, or distinct pairs
    n_vocab: int  # rows of the two matrices, as n_out
    n_out: int
    dim: int
    workers: int
    alpha: float  # at the start
    pairs: int  # positives that the rest of the run trains on, about
    memory: dict  # str -> bytes, by what they are for
    room: int  # bytes of memory that this process may use
    mapped: int  # bytes of data mapped from disk, which give way when memory is short
    disk: dict  # str -> bytes, with what is there already
    seconds: float  # training alone, of what is left, choosing and evaluations by held-out pairs included
    choosing: float  # seconds of these in which --l2 is chosen; 0.0 where it is given, or not open
    measured: float  # share of the run that was measured for this

    @property
    def peak(self):
        """Bytes of memory in all, the mapped data apart (int)."""
        return sum(self.memory.values())

    def as_dict(self):
        return {**dataclasses.asdict(self), "peak": self.peak}


def estimate(config, encoded, *, validation=None, done=0.0, seconds=3.0, of_command=False):
    """Return the `Estimate` of a run.

    config : TrainConfig; encoded : EncodedCorpus or EncodedPairs
    validation : Validation, optional, ranked once, to see how long that takes
    done : float, in [0, 1], share of the run that lies behind it; seconds : float, how long to measure the rate at most
    of_command : bool, as of `Trainer.train`
    ConfigError if it is clear without a model that the memory there is does not do; W2vnegError for whatever the run
        itself would refuse
    """
    run = Run(without_ranks(config), encoded)
    matrices = 4 * config.dim * (len(encoded.vocab) + len(encoded.vocab_out))
    needed, room = PROGRAM + matrices * (1 if goes_to_disk(matrices) else 2), memory_size()  # and their snapshot
    if needed > room:
        raise ConfigError(
            f"the run would take at least {needed / 2**20:,.0f} MB of memory, and this process may use "
            f"{room / 2**20:,.0f} MB; use a smaller --dim or --max-vocab, or raise the limit"
        )
    _train(_trainer(run), 0.0, of_command)  # the first round compiles or loads the kernels
    trainer = _trainer(run)
    last, taken = _train(trainer, seconds, of_command)
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


def _trainer(run):
    """Return a `Trainer` that does not go through the data for its read-out when it ends."""
    trainer = run.trainer()
    trainer.model.config = dataclasses.replace(trainer.model.config, readout=DEFAULT)
    return trainer


def _train(trainer, seconds, of_command):
    """Train until the first round that ends after so many seconds; return (RoundDone of the last one, seconds)."""
    events = []

    def listen(event):
        if isinstance(event, RoundDone):
            events.append(event)
            if time.perf_counter() - begun >= seconds:
                trainer.stop()

    trainer.listeners.append(listen)
    begun = time.perf_counter()
    trainer.train(of_command=of_command)
    if not events:
        raise KeyboardInterrupt  # the trainer has taken the signal for a wish to stop, before anything was measured
    return events[-1], time.perf_counter() - begun


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
            len(vocab.words.data) + vocab.words.offsets.nbytes + vocab.counts.nbytes + 12 * len(vocab)  # and a look-up
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
    return len(vocab.words.data) + 7 * len(vocab)  # a count or the end of a row beside each word


def _arrays(value):
    """Return the arrays that a value holds in its items, fields or buffers: dict of address -> array, none twice."""
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
