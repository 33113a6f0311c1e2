"""The state of a run besides its matrices: its progress, its data, states to return to, and the items of its users,
which lists leave out.
"""

import functools
import zlib
from dataclasses import dataclass, field, replace

import numpy as np

from ..ground.errors import InputError
from ..ground.files.npy import read_matrix

_KNOWN_BY = 1_000_000  # numbers at either end of an array that enter the fingerprint


@dataclass
class Progress:
    """How far a run has got: `round` rounds of epoch `epoch` (both from 0) are done."""

    epoch: int = 0
    round: int = 0
    alpha_factor: float = 1.0  # halved at each rollback
    loss_sum: float = 0.0  # of the epoch so far, like `pairs`
    pairs: int = 0


@dataclass
class Provenance:
    """What a run trains on."""

    n_tokens: int = 0  # kept tokens, or distinct pairs
    n_sentences: int = 0  # of a text
    fingerprint: int = 0  # of the first and last million numbers of each array
    input: dict = field(default_factory=dict)  # `Input.as_dict` of the data; empty if there is none
    names: list = field(default_factory=list)  # of the columns of a table, [] without a header
    output: str = ""  # path of the vectors to write; empty if there is none
    own_vocab: bool = False  # the vocabulary was built from these data, by the options of the run
    # how the run started from another model: init, update, freeze; of an update also alpha_share and words_before
    begun: dict = field(default_factory=dict)

    @property
    def table(self):
        """The data in the form that `data.encoded.pairs.as_trained` takes (dict)."""
        return self.input | {"names": self.names}

    @classmethod
    def of(cls, data):
        """Describe an EncodedCorpus or EncodedPairs by its arrays."""
        ends = [part for array in data.arrays for part in (array[:_KNOWN_BY], array[-_KNOWN_BY:])]
        checksum = functools.reduce(lambda value, part: zlib.crc32(part.tobytes(), value), ends, 0)
        names = getattr(data.report, "names", ())
        return cls(len(data), getattr(data, "n_sentences", 0), checksum, names=list(names))


@dataclass
class Best:
    """The evaluations of a run so far, and its best state (see `validation`)."""

    settings: dict  # how the run is evaluated; it cannot resume with others
    epoch: float | None = None  # epochs done at the best evaluation; None before the first
    figures: dict = field(default_factory=dict)  # str -> float, of the best evaluation
    last_epoch: float | None = None  # of the latest evaluation
    last_figures: dict = field(default_factory=dict)
    stale: int = 0  # evaluations since the best one
    finished: bool = False  # the run is over
    matrices: dict = field(default_factory=dict)  # of the best state; empty once the model's own are the best

    def as_dict(self):
        """Return all fields but the matrices, as JSON values."""
        return {name: value for name, value in vars(self).items() if name != "matrices"}


def difference(former, now):
    """Describe the first difference between two dicts of settings; None if they are equal."""
    for name in {**now, **former}:
        was, value = former.get(name), now.get(name)
        if isinstance(was, dict) and isinstance(value, dict):
            if found := difference(was, value):
                return found
        elif was != value:
            return _UNREADABLE.get(name, f"{_CALLED.get(name, name)} {_shown(was)}, now {_shown(value)}")
    return None


_UNREADABLE = {"data": "other training data", "held": "other held-out pairs", "known": "other known pairs"}
_CALLED = {"also": "further metrics"}


def _shown(value):
    """Return a setting as text; for further metrics, a list of settings, their names."""
    if isinstance(value, list):
        return ", ".join(one["metric"] if isinstance(one, dict) else str(one) for one in value)
    return "not given" if value is None else str(value)


@dataclass
class LastGoodState:
    """The state that a run returns to if it diverges, if that is earlier than its latest state."""

    position: Progress
    matrices: dict


KNOWN, KNOWN_WEIGHTS = "known.npy", "known_weights.npy"
_MOST = 12_500_000  # pairs that are kept, 100 MB


def known_of(data):
    """Return the weights of encoded users × items (csr_matrix); None for other data, or too many pairs."""
    if data.vocab_out is data.vocab or not 0 < data.matrix.nnz <= _MOST:
        return None
    return data.matrix


def with_known(data, earlier):
    """Add the pairs that an earlier model keeps to newer encoded pairs of users and items.

    A few passes over all pairs continue from that model; passes over the newer pairs alone would forget the others.

    data : EncodedPairs, whose vocabularies include those of the earlier `Model`; other data are returned unchanged
    """
    if earlier.known is None or data.vocab_out is data.vocab:
        return data
    from scipy.sparse import coo_matrix

    before = earlier.known.tocoo()
    rows = data.vocab.words.find_all(earlier.vocab.words)
    columns = data.vocab_out.words.find_all(earlier.vocab_out.words)
    moved = coo_matrix((before.data, (rows[before.row], columns[before.col])), data.matrix.shape).tocsr()
    return replace(data, matrix=(data.matrix + moved).tocsr(), order=None, times=None)


def merged_before(data, model):
    """Return the pairs of an update that is resumed: those its model keeps, if the encoded newer pairs are among them.

    Other data are returned unchanged, and so are newer pairs if the model keeps none.
    """
    if model.known is None or data.vocab_out is data.vocab or model.known.shape != data.matrix.shape:
        return data
    if not model.known[data.matrix.nonzero()].all():
        return data
    return replace(data, matrix=model.known, order=None, times=None)


def files_of_known(known):
    """Return the files that hold known pairs, a sparse matrix of weights or None: dict of file -> array.

    int32, (n, 2), row and column of each; float32, (n, 1), their weights, unless all are 1.
    """
    if known is None:
        return {}
    pairs = known.tocoo()
    files = {KNOWN: np.stack([pairs.row, pairs.col], axis=1).astype(np.int32)}
    return files | ({KNOWN_WEIGHTS: pairs.data[:, None].astype(np.float32)} if (pairs.data != 1).any() else {})


def read_known_pairs(folder, shape):
    """Read known pairs from a folder (csr_matrix), None if it has none; InputError if they are damaged."""
    path, of_weights = folder / KNOWN, folder / KNOWN_WEIGHTS
    if not path.exists():
        return None
    from scipy.sparse import coo_matrix

    pairs = read_matrix(path, np.int32)
    if pairs.shape[1] != 2 or pairs.min() < 0 or (pairs.max(axis=0) >= shape).any():
        raise InputError(f"{path}: not pairs of the {shape[0]:,} users and {shape[1]:,} items here; it is damaged")
    weights = read_matrix(of_weights) if of_weights.exists() else np.ones((len(pairs), 1), np.float32)
    if weights.shape != (len(pairs), 1) or not (np.isfinite(weights) & (weights > 0)).all():
        raise InputError(f"{of_weights}: not the weights of the {len(pairs):,} pairs of {KNOWN}; it is damaged")
    return coo_matrix((weights[:, 0], pairs.T), shape).tocsr()
