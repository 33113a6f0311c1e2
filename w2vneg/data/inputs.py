"""What a run reads: which files, as what, and where in them to look. A model folder keeps it for the next run."""

import dataclasses
import os
from numbers import Integral, Real

from ..errors import ConfigError
from .catalog import names as known_names
from .catalog import resolve

_TABLE = ("delimiter", "header")
_PAIRS = (*_TABLE, "item_col", "target_col", "weight_col", "rectangular")
FIELDS = {  # kind -> the fields of Input that it reads, apart from `files`
    "corpus": (),
    "pairs": _PAIRS,
    "cooccurrence": (*_PAIRS, "names"),
    "baskets": ("delimiter",),
    "ratings": (
        *_TABLE,
        "user_col",
        "item_col",
        "rating_col",
        "min_rating",
        "time_col",
        "max_history",
        "rectangular",
    ),
}


_COLUMN = (str | Integral, "the name or number of a column")
_TRUTH = (bool, "true or false")
_VALUES = {  # field -> (types, in words); None stands for what is left out
    "delimiter": (str, "text"),
    "header": _TRUTH,
    **dict.fromkeys(("user_col", "item_col", "target_col", "weight_col", "rating_col", "time_col"), _COLUMN),
    "min_rating": (Real, "a number"),
    "max_history": (Integral, "a whole number"),
    "rectangular": _TRUTH,
}


def _paths(name, value):
    """Return one path or several as a tuple of str; ConfigError if it is neither."""
    paths = [value] if isinstance(value, str | os.PathLike) else value
    if not isinstance(paths, list | tuple) or not all(isinstance(path, str | os.PathLike) for path in paths):
        raise ConfigError(f"{name} of an input must be a path or a list of paths, not {str(value)[:40]!r}")
    try:
        impossible = [path for path in map(os.fsencode, paths) if b"\0" in path]
    except UnicodeEncodeError:
        impossible = paths
    if impossible:
        raise ConfigError(f"{name} of an input: no file can be called {str(value)[:40]!r}")
    return tuple(map(str, paths))


@dataclasses.dataclass(frozen=True)
class Input:
    """Files of one kind and how they are to be read. `docs/formats.md` tells what each kind looks like.

    Attributes
    ----------
    kind : str
        "corpus" (text), "pairs", "cooccurrence", "baskets" or "ratings".
    files : tuple of str
        As for `data.readers.sources.find_files`.
    delimiter : str, optional
        A sign or a word as tab, comma, blank; found out if None (baskets: blanks).
    header : bool, optional
        Whether the first line names the columns; found out if None.
    user_col, item_col, target_col, weight_col, rating_col, time_col : str or int, optional
        Names of columns, or their numbers from 1 on.
    min_rating : float, optional
    max_history : int, optional
    names : tuple of str
        Files of item names for a matrix: one, or two if rectangular.
    rectangular : bool
        Centres and targets are two kinds of things.

    Raises
    ------
    ConfigError
        If the kind is unknown, no file is named, or a field is set that this kind does not read, or to a value of
        another kind.
    """

    kind: str
    files: tuple
    delimiter: str | None = None
    header: bool | None = None
    user_col: str | int | None = None
    item_col: str | int | None = None
    target_col: str | int | None = None
    weight_col: str | int | None = None
    rating_col: str | int | None = None
    min_rating: float | None = None
    time_col: str | int | None = None
    max_history: int | None = None
    names: tuple = ()
    rectangular: bool = False

    def __post_init__(self):
        if not isinstance(self.kind, str) or self.kind not in FIELDS:
            raise ConfigError(f"unknown kind of input {self.kind!r}; known: {', '.join(FIELDS)}")
        for name in ("files", "names"):
            object.__setattr__(self, name, _paths(name, getattr(self, name)))
        for name, (kinds, what) in _VALUES.items():
            value = getattr(self, name)
            fits = isinstance(value, kinds) and isinstance(value, bool) == (kinds is bool) and value == value  # no NaN
            if value is not None and not fits:
                raise ConfigError(f"{name} of an input must be {what}, not {str(value)[:40]!r}")
        if not self.files:
            raise ConfigError(f"an input of {self.kind} needs at least one file")
        foreign = self.foreign(self.kind, dataclasses.asdict(self))
        if foreign:
            raise ConfigError(f"{foreign[0]} means nothing to {self.kind}; leave it out")

    @staticmethod
    def foreign(kind, values):
        """Return the names among `values` (dict) that are set, but that this kind does not read (list of str)."""
        known = ("kind", "files", *FIELDS[kind])
        unset = lambda name, value: value is None or value == () or (value is False and name != "header")  # noqa: E731
        return [name for name, value in values.items() if name not in known and not unset(name, value)]

    def as_dict(self):
        """Return what is set, as JSON can hold it (dict)."""
        values = {name: value for name, value in dataclasses.asdict(self).items() if value not in (None, ())}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}

    @classmethod
    def from_dict(cls, values):
        """Make one of what `as_dict` gave; ConfigError if it has other names or values of other kinds."""
        known = {field.name for field in dataclasses.fields(cls)}
        if not isinstance(values, dict) or not {"kind", "files"} <= set(values) <= known:
            raise ConfigError(f"not an input, which has kind and files, but {str(values)[:60]}")
        return cls(**values)

    def located(self, mirror=None):
        """Return the same with the names of `w2vneg data list` turned into paths; DataError or InputError if one is
        nowhere.
        """
        return dataclasses.replace(self, files=tuple(str(locate(file, mirror, self._named)) for file in self.files))

    def lasting(self):
        """Return the same with names and paths that mean the same from another folder."""
        known = known_names(self._named)
        kept = [file == "-" or (file in known and not os.path.exists(file)) for file in self.files]
        files = [file if keep else os.path.abspath(file) for file, keep in zip(self.files, kept, strict=True)]
        return dataclasses.replace(self, files=tuple(files), names=tuple(map(os.path.abspath, self.names)))

    @property
    def _named(self):
        return "corpus" if self.kind == "corpus" else "items"

    @property
    def source(self):
        """What the run trains on: "text", "baskets" or "pairs", as `TrainConfig.source`."""
        if self.kind == "ratings":
            return "pairs" if self.rectangular else "baskets"
        return {"corpus": "text", "baskets": "baskets"}.get(self.kind, "pairs")


def locate(name, mirror=None, kind="corpus"):
    """Turn a name of `w2vneg data list` into a path; patterns, folders, files and ``-`` stay what they are.

    kind : str, "corpus" or "items", what a name must be of
    """
    text = str(name)
    if text == "-" or any(sign in text for sign in "*?[") or os.path.exists(text):
        return name
    return resolve(text, mirror=mirror, kind=kind)


def encode_input(
    given,
    *,
    min_count=None,
    max_vocab=None,
    vocab=None,
    vocab_out=None,
    encoding="utf-8",
    lowercase=False,
    progress=None,
):
    """Read an `Input`.

    Parameters
    ----------
    given : Input
    min_count : int, optional
        5 for text and 1 for items if None.
    max_vocab : int, optional
    vocab, vocab_out : Vocabulary, optional
        Fixed ones; `vocab_out` only for rectangular data (or the same object as `vocab`).
    encoding : str
    lowercase : bool
    progress : callable, optional
        Called with (stored bytes read, stored bytes in all or None) now and then.

    Returns
    -------
    EncodedCorpus or EncodedPairs
        By `given.source`.

    Raises
    ------
    InputError, ConfigError, OutputError
        As the functions of `w2vneg.data.encoded`.
    """
    from . import encoded

    if min_count is None:
        min_count = 5 if given.kind == "corpus" else 1
    options = {"min_count": min_count, "max_vocab": max_vocab, "vocab": vocab, "encoding": encoding}
    options |= {"lowercase": lowercase, "progress": progress}
    if not given.rectangular and vocab_out is not None and vocab_out is not vocab:
        raise ConfigError("only rectangular data have a second vocabulary; leave vocab_out out")
    if given.source == "pairs" or given.kind == "ratings":
        options["vocab_out"] = vocab_out
    options |= {name: getattr(given, name) for name in FIELDS[given.kind]}
    read = getattr(encoded, f"encode_{given.kind}")
    return read(list(given.files), **options)
