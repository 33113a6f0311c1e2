"""The input of a run: which files, of which kind, and where in them to look. A model folder stores it for reuse."""

from __future__ import annotations

import difflib
import os
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from ..ground.errors import ConfigError, InputError
from ..ground.files.bounded import is_path, scheme_of
from ..ground.option import checked
from .catalog import names as known_names
from .catalog import resolve
from .sources import SOURCES, TRAVERSALS, Traversal, options_of, readers_of
from .sources._options import PairOptions, pair_columns


def _paths(name, value):
    paths = [value] if isinstance(value, str | os.PathLike) else value
    if not isinstance(paths, list | tuple) or not all(isinstance(path, str | os.PathLike) for path in paths):
        hint = ""
        if name == "files" and hasattr(value, "__iter__"):
            rows = "ROWS" if isinstance(value, list | tuple | dict) else "list(ROWS)"
            hint = f"; give rows as pandas.DataFrame({rows})"
        raise ConfigError(f"{name} of an input must be a path or a list of paths, not {str(value)[:40]!r}{hint}")
    if not all(map(is_path, paths)):
        raise ConfigError(f"{name} of an input: invalid file name {str(value)[:40]!r}")
    return tuple(os.path.expanduser(os.fsdecode(path)) for path in paths)


def _tables(kind, data):
    """Return a table in memory as a tuple with one `readers.frames.InMemoryTable`; None if `data` is not a table."""
    one = data[0] if isinstance(data, list | tuple) and data else data
    if isinstance(one, str | os.PathLike):  # paths need no heavy imports
        return None
    if not SOURCES[kind].tables:
        known = ", ".join(name for name in SOURCES if SOURCES[name].tables)
        lists = "Input('ratings', [(n, item) for n, items in enumerate(LISTS) for item in items])"
        raise ConfigError(f"an input of {kind} takes files; tables in memory can be {known}; give lists as {lists}")
    from .readers.frames import InMemoryTable

    frame = InMemoryTable.of(one if isinstance(one, InMemoryTable) else data)
    if frame is None:
        return None
    if kind == "corpus" and isinstance(data, list | tuple) and one is not frame:
        raise ConfigError("pass lists of words directly to fit; an input of corpus takes files or a column of text")
    if kind != "corpus" and len(frame.columns) < 2:
        what = f"{frame.name}: a table of pairs needs at least two columns; this one has {len(frame.columns)}"
        raise ConfigError("; ".join(filter(None, [what, frame.in_index(("user", "item", "source", "target"))])))
    return (frame,)


@dataclass(frozen=True, init=False)
class Input:
    """Data of one kind and how to read them. `docs/formats.md` describes each kind.

    Parameters
    ----------
    kind : str
        A source of `data.sources.SOURCES`: "corpus" for text, "pairs", "cooccurrence", "baskets", "ratings",
        "edges" for a graph.
    files : path or list of paths, or a table
        As for `data.readers.sources.find_files`. All kinds except baskets also take a table in memory: a pandas or
        polars DataFrame, a pyarrow table, a scipy.sparse matrix, a NumPy array, a networkx graph or a list of rows. It
        is read like the same table in a file; unnamed columns are numbered from 1. Text is a DataFrame with a
        `text_col`, or a Series.
    **options
        Options of the source, such as delimiter, header, user_col, item_col, rating_col, min_rating, time_col,
        rectangular. They become attributes of the input; those not given are None, () or False.

    Raises
    ------
    ConfigError
        If the kind is unknown, no file is named, or an option does not belong to this kind or has a value of the wrong
        type.
    """

    kind: str
    files: tuple
    options: dict = field(default_factory=dict)

    def __init__(self, kind: str, files: str | os.PathLike | Sequence[Any] | Any, **options: Any) -> None:
        if not isinstance(kind, str) or kind not in SOURCES:
            known = ", ".join(SOURCES)
            hint = "create Word2Vec(plugin=…) first to use a plug-in's kind"
            raise ConfigError(f"unknown kind of input {kind!r}; known: {known}; {hint}")
        own, foreign = options_of(kind), self.foreign(kind, options)
        if foreign:
            from .vocab import VocabOptions

            near = difflib.get_close_matches(foreign[0], own, 1)
            remedy = f"did you mean {near[0]}?" if near else "leave it out"
            if foreign[0] in VocabOptions._fields:
                remedy = f"it is an option of the run: Word2Vec({foreign[0]}=…)"
            raise ConfigError(f"{foreign[0]} is not an option of {kind}; {remedy}")
        given = {name: _checked(own[name], value) for name, value in options.items() if name in own}
        tables = _tables(kind, files)
        if tables and given.get("directed") is None and "directed" in own:
            given["directed"] = tables[0].directed
        if tables and tables[0].unordered and "directed" not in own:
            raise ConfigError(
                f"the edges of a {tables[0].name} have no direction, and {kind} need one. Set bipartite=0 on its users "
                "and bipartite=1 on its items, or give a DiGraph; to train on the graph itself, use Input('edges', …)"
            )
        object.__setattr__(self, "kind", kind)
        object.__setattr__(self, "files", tables or _own(kind, _paths("files", files)))
        object.__setattr__(self, "options", {name: value for name, value in given.items() if _is_set(name, value)})
        if not self.files:
            raise ConfigError(f"an input of {kind} needs at least one file")
        of_text = [name for name in OF_TEXT if self.in_memory and name in self.options]
        if of_text:
            raise ConfigError(f"{of_text[0]} applies to files; {self.files[0]} is a table in memory, so leave it out")
        SOURCES[kind].check(self)

    def __getattr__(self, name):
        if name.startswith("_") or name in ("kind", "files", "options") or not readers_of(name):
            raise AttributeError(f"an input has no {name!r}")
        if name in self.options:
            return self.options[name]
        item = options_of(readers_of(name)[0])[name]
        return () if item.metadata["files"] else item.default

    def __hash__(self):
        return hash((self.kind, self.files, tuple(sorted(self.options.items()))))

    @property
    def in_memory(self) -> bool:
        """Whether the data are a table in memory rather than files."""
        return not all(isinstance(file, str) for file in self.files)

    def values(self) -> dict[str, Any]:
        """Return all options of the source, set or default (dict)."""
        return {name: getattr(self, name) for name in options_of(self.kind)}

    def replace(self, **changes: Any) -> Input:
        """Return a copy with other files or options."""
        return Input(self.kind, **({"files": self.files} | self.options | changes))

    def like(self, other: Input) -> Input:
        """Return a copy with unset options taken from `other`, the Input of a model's data, if of the same kind."""
        if self.kind != other.kind:
            return self
        options = dict(other.options)
        if self.in_memory:
            options = {name: value for name, value in options.items() if name not in OF_TEXT}
        return Input(self.kind, self.files, **(options | self.options))

    @staticmethod
    def foreign(kind: str, values: dict[str, Any]) -> list[str]:
        """Return the names of `values` (dict) that are set but are not options of this kind (list of str)."""
        return [name for name, value in values.items() if name not in options_of(kind) and _is_set(name, value)]

    def as_dict(self) -> dict[str, Any]:
        """Return kind, files and set options as a dict for JSON; a table in memory is represented by its name."""
        values = {"kind": self.kind, "files": tuple(map(str, self.files)), **self.options}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Input:
        """Create an input from the dict of `as_dict`; ConfigError if it has unknown names or values of wrong types."""
        if not isinstance(values, dict) or not {"kind", "files"} <= set(values):
            raise ConfigError(f"not an input; kind and files are required, found {str(values)[:60]}")
        others = values.keys() - {"kind", "files"}
        if not all(isinstance(name, str) and readers_of(name) for name in others):
            raise ConfigError(f"not an input; it has unknown options: {str(values)[:60]}")
        return cls(**values)

    def located(self, mirror: str | None = None) -> Input:
        """Return a copy with names of `w2vneg data list` resolved to paths; DataError or InputError if that fails."""
        if self.in_memory:
            return self
        catalog = SOURCES[self.kind].catalog
        return self.replace(files=tuple(str(locate(file, mirror, catalog)) for file in self.files))

    def absolute(self) -> Input:
        """Return a copy with absolute paths; catalogue names, URLs and ``-`` stay."""
        if self.in_memory:
            return self
        known = known_names(SOURCES[self.kind].catalog)
        kept = [file == "-" or scheme_of(file) or (file in known and not os.path.exists(file)) for file in self.files]
        files = [file if keep else os.path.abspath(file) for file, keep in zip(self.files, kept, strict=True)]
        others = {}
        for name, item in options_of(self.kind).items():
            if item.metadata["files"] and name in self.options:
                words = item.metadata["choices"] or ()
                others[name] = tuple(path if path in words else os.path.abspath(path) for path in self.options[name])
        return self.replace(files=tuple(files), **others)

    @property
    def source(self) -> str:
        """The name of the traversal, as in `TrainConfig.source`."""
        return SOURCES[self.kind].traversal(self)

    @property
    def traversal(self) -> type[Traversal]:
        """The class of the traversal."""
        return TRAVERSALS[self.source]


OF_TEXT = ("delimiter", "header", "quoting")  # options for tables in text files only


def _own(kind, files):
    """Return the files with ``builtin`` replaced by the name of the built-in data of this kind, if there are any."""
    own = f"builtin-{kind}"
    if "builtin" not in files or os.path.exists("builtin") or own not in known_names():
        return files
    return tuple(own if file == "builtin" else file for file in files)


def _is_set(name, value):
    return value is not None and value != () and (value is not False or name in ("header", "rectangular", "directed"))


def _checked(item, value):
    if value is None:
        return None
    if item.metadata["files"]:
        return _paths(item.name, value)
    try:
        return checked(item, value)
    except ConfigError as error:
        what = str(error).removeprefix(f"{item.name} ")
        raise ConfigError(f"{item.name} of an input {what}") from None


def locate(name, mirror=None, kind="corpus"):
    """Resolve a name of `w2vneg data list` to a path; paths, patterns and URLs are returned unchanged."""
    text = str(name)
    is_place = text == "-" or scheme_of(text) or any(sign in text for sign in "*?[")
    return name if is_place or os.path.exists(text) else resolve(text, mirror=mirror, kind=kind)


def as_input(data):
    """Convert the data of `fit`, a path or an unambiguous table, to an `Input`; return anything else unchanged.

    A column of texts becomes a corpus. Columns named like users and items make pairs of two kinds of things; item and
    target make pairs of one kind. A sparse matrix that is not square has two kinds. A networkx graph becomes edges.
    ConfigError, with the input to write instead, for an ambiguous table
    """
    if isinstance(data, Input):
        return data
    if isinstance(data, str | os.PathLike):
        return Input("corpus", data)
    from .readers.frames import InMemoryTable, is_graph

    if is_graph(data):
        return Input("edges", data)
    fields = getattr(getattr(data, "dtype", None), "names", None)  # structured array
    columns = hasattr(type(data), "columns") or hasattr(data, "columns")  # polars.LazyFrame computes them on access
    if not (columns or fields) and (hasattr(data, "to_numpy") or getattr(data, "ndim", 0) == 1):
        return Input("corpus", data) if any(isinstance(cell, str) for cell in islice(data, 100)) else data
    if not (fields or columns or hasattr(data, "tocoo") or getattr(data, "ndim", 1) == 2):
        return data
    from .readers.column_names import columns_meant

    frame = InMemoryTable.of(data)
    if frame is None:
        return data
    remedy = (
        "Input('pairs', TABLE, rectangular=True) for users and items, Input('pairs', TABLE) for items seen "
        "together, Input('edges', TABLE) for a graph, or Input('ratings', TABLE, min_rating=…) for ratings; item_col "
        "and target_col name the columns of pairs, source_col and target_col of edges, user_col and item_col of "
        "ratings; or Input('corpus', TABLE, text_col=…) for a column of texts"
    )
    if frame.matrix is not None:
        if data.shape[0] != data.shape[1]:
            return Input("pairs", frame, rectangular=True)
        raise ConfigError(f"a square matrix is ambiguous; give {remedy.replace('TABLE', 'MATRIX')}")
    meant = columns_meant(frame.head) if frame.named else {}
    found = {meaning: frame.head[places[0]] for meaning, places in meant.items() if len(places) == 1}
    two_kinds = {"user", "item"} <= found.keys()
    keys = {"user": "item_col", "item": "target_col"} if two_kinds else {"item": "item_col", "target": "target_col"}
    if "rating" in found or not keys.keys() <= found.keys():
        head = f" ({', '.join(frame.head)[:200]})" if frame.named else ""
        raise ConfigError(f"the columns of this {frame.name}{head} do not say how to read it; give {remedy}")
    keys |= {"weight": "weight_col"} if "weight" in found else {}
    return Input("pairs", frame, rectangular=two_kinds, **{option: found[key] for key, option in keys.items()})


def settled(given, encoding="utf-8", mirror=None):
    """Return an `Input` with its tokenizer chosen and, if the columns show it, `rectangular` set.

    Standard input and URLs can be read only once, so they are not inspected here; reading them reports any doubt.
    """
    given = SOURCES[given.kind].settled(given, encoding, mirror)
    if not issubclass(SOURCES[given.kind].Options or object, PairOptions) or given.rectangular is not None:
        return given
    located = given.located(mirror)
    if not all(not isinstance(file, str) or os.path.isfile(file) for file in located.files):
        return given
    from .encoded.matrices import is_matrix
    from .readers.sources import find_files
    from .readers.tables import Tables

    files = find_files(list(located.files))
    if any(map(is_matrix, files)):
        return given
    tables = Tables(files, pair_columns(given), given, encoding=encoding)
    with closing(iter(tables)) as batches:
        next(batches, None)
    return given.replace(rectangular=True) if tables.labels.two_kinds else given


def of_as_many_kinds(given, config):
    """Return an `Input` that is rectangular if the model of `config` is, unless its own options decide."""
    if "rectangular" not in options_of(given.kind) or given.rectangular is not None:
        return given
    return given.replace(rectangular=config.rectangular)


def encode_input(given, *, phrases=None, grows=False, first=False, **shaping):
    """Read an `Input`; returns an EncodedCorpus, EncodedPairs or EncodedGraph, by `given.source`.

    **shaping : see `data.vocab.VocabOptions`: min_count, by default that of the traversal: 5 for text, 1 for items;
        max_vocab; vocab and vocab_out, fixed vocabularies, the second only for rectangular data or the same object;
        encoding; lowercase; progress, called periodically with (stored bytes read, total stored bytes or None)
    phrases : sequence of data.phrases.Phrase, optional, to join in a text instead of those that the Input names
    grows : bool, the data update a model, so one centre and one target are enough, as in a single purchase
    first : bool, for a split by time: a repeated item of a user is placed at its first occurrence, not its last
    InputError, ConfigError, OutputError as in `w2vneg.data.encoded`
    """
    from .encoded.corpus import EncodedCorpus, ItemsReport
    from .vocab import VocabOptions

    started = time.perf_counter()
    options = VocabOptions(**({"min_count": None} | shaping))
    if options.min_count is None:
        options = options._replace(min_count=given.traversal.min_count)
    if not given.rectangular and options.vocab_out is not None and options.vocab_out is not options.vocab:
        raise ConfigError("only rectangular data have a second vocabulary; leave vocab_out out")
    more = ({} if phrases is None else {"phrases": phrases}) | ({"first": True} if first else {})
    encoded = SOURCES[given.kind].encode(given, **options._asdict(), **more)
    report = getattr(encoded, "report", None)
    if isinstance(report, ItemsReport) and not report.cached:
        encoded = replace(encoded, report=replace(report, seconds=time.perf_counter() - started))
    if isinstance(encoded, EncodedCorpus) and not given.traversal.paired:
        return replace(encoded, source=given.source)
    source = getattr(encoded, "source", type(encoded).__name__)
    if source != given.source:
        raise ConfigError(f"source {given.kind} declares the traversal {given.source}, but encodes {source}")
    for what, vocab in (("centre", encoded.vocab), ("target", encoded.vocab_out)):
        if len(vocab) == 1 and not grows:
            only = f"only one {what} ({vocab.words[0][:60]!r}) reaches min_count={options.min_count}"
            raise InputError(f"{only}; training needs at least two: give more data, or name the right columns")
    return encoded
