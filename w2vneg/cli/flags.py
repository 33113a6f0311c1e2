"""Flags that several commands share, and what they mean: read-outs, scores, titles, vocabularies, and data."""

import os
import sys
from contextlib import contextmanager, nullcontext
from pathlib import Path

import click

from ..data.inputs import Input, locate
from ..data.sources import SOURCES, options_of, readers_of
from ..data.sources.corpus import AUTO
from ..ground.errors import ConfigError, OutputError, UnknownNameError
from ..ground.files.atomic import passes_on
from .options import COUNT, declared_flags, option, together
from .progress import byte_progress, note
from .progress import note as loud

readout_option = option(
    "--readout NAME",
    "Read-out of a model folder: in, out, sum, both or context; add +letters or +paradigms.",
    default_text="as trained",
)
reads_vectors = together(
    readout_option,
    option(
        "--oov",
        "Make vectors for unknown words from spelling, by a read-out with letters or paradigms, or by n-grams with "
        "--readout in.",
        type=click.Choice(["letters"]),
    ),
)
asks_vectors = together(
    option("--vectors FILE", "Vectors or model folder.", default="vectors.txt"),
    option("-k --count", "Number of results.", name="k", type=COUNT, default=10),
    reads_vectors,
)


def load_vectors(place, **how):
    """Load vectors of a file or folder; warn of words that were never trained. how : as for `Vectors.load`"""
    from ..vectors import Vectors
    from ..vectors.formats.folder import untrained

    loaded = Vectors.load(place, **how)
    if n := untrained(Path(place)):
        which = f"{n:,} of {len(loaded):,} words of {place} were never trained, but are still scored and listed"
        note(f"Warning: {which}; train with a --vocab of words that occur in its text.")
    return loaded


def is_of_two_kinds(path):
    return os.path.isfile(os.path.join(path, "vocab_out.tsv"))


@contextmanager
def naming_sides(path, words, loaded):
    """Add to an UnknownNameError about `words` which side of a model of users and items has the name."""
    try:
        yield
    except UnknownNameError as error:
        if is_of_two_kinds(path):
            from ..data.vocab import Vocabulary

            unknown = next(word for word in words if word not in loaded)
            for kind, side, file in (("a user", "in", "vocab.tsv"), ("an item", "out", "vocab_out.tsv")):
                if unknown in Vocabulary.load(os.path.join(path, file)):
                    raise UnknownNameError(f"{error} It is the name of {kind}: give --readout {side}.") from None
        raise


def _score(text):
    if text != "raw":  # the default: nothing heavy is imported for it
        from ..vectors.evaluation.scores import fused_weight, share_of

        try:
            if fused_weight(text) is None:
                share_of(text)
        except ConfigError as error:
            raise click.BadParameter(str(error)) from None
    return text


score_option = option(
    "--score raw|corrected|LAMBDA|slim+W",
    "Rank by raw dot products, or corrected for the popularity that negatives removed; LAMBDA is a share of it. "
    "slim+W adds W times the raw scores to those of slim.",
    type=_score,
    default="raw",
    common=False,
)

fold_in_option = option(
    "--fold-in FILE",
    "Pairs of users and items. These users, new or known, get vectors made from these items, which are left out "
    "of their lists.",
)

titles_options = together(
    option("--titles FILE|NAME", "Table of item titles, UTF-8 or Latin-1, or a name of 'w2vneg data list'."),
    option("--titles-cols ID,NAME", "Columns of --titles, by number from 1 or by name.", default_text="1,2"),
)


def titles_of(titles, columns, mirror, lowercase=False, known=None):
    """Return the titles of items (dict), {} without ``--titles``; warns if none is of `known`, the items of a model."""
    if columns is not None and not titles:
        raise click.UsageError("--titles-cols says which columns of --titles to read; give --titles FILE too")
    two = [int(one) if one.isdecimal() else one for one in ("1,2" if columns is None else columns).split(",")]
    if len(two) != 2 or "" in two:
        raise click.UsageError(f"--titles-cols takes two columns with a comma between, not {columns!r}")
    if not titles:
        return {}
    from ..data.readers.tables import read_titles

    found = read_titles(locate(titles, mirror, "items"), two, lowercase)
    if known is not None and not any(item in known for item in found):
        note(f"Warning: no id of {titles} is known; see --titles-cols.")
    return found


_FIXED = {"vocab": "--vocab", "vocab_out": "--vocab-out"}
_PLACE = {"part": "vocabulary", "common": False}

vocabulary_options = together(  # in a command's ``**given``, from which `fixed_of` takes them
    option(
        "--vocab FILE",
        "Use this vocabulary, such as vocab.tsv of a model folder. For rectangular data it is that of the rows.",
        **_PLACE,
    ),
    option(
        "--vocab-out FILE",
        "Use this vocabulary for the columns of rectangular data, such as vocab_out.tsv.",
        kinds=("items",),
        **_PLACE,
    ),
)


def fixed_of(given):
    """Take the vocabulary options out of `given`; return the files that they name (dict of name -> path)."""
    return {name: path for name in _FIXED if (path := given.pop(name, None))}


def check_fixed(fixed, read, way=None):
    """Raise UsageError if the files of `fixed` do not fit the `Input` `read`; way : flag that continues a model."""
    if way and fixed:
        flag = next(_FIXED[name] for name in fixed)
        raise click.UsageError(f"{way} takes its vocabulary from the model folder; leave {flag} out")
    if "vocab_out" in fixed and not read.rectangular:
        what = f"--{read.kind} has one vocabulary, set by --vocab"
        hint = "; give --rectangular if rows and columns differ" * ("rectangular" in options_of(read.kind))
        raise click.UsageError(f"--vocab-out is for columns that differ in kind from rows; {what}{hint}")


def _report_fixed(run, fixed, given, note):
    """Report words of `fixed` that do not occur, counts of another text, and what --min-count and --max-vocab did."""
    seen, vocab = getattr(run.encoded.report, "kept_types", None), run.encoded.vocab
    if "vocab" in fixed and seen is not None:
        if seen < len(vocab):
            which = f"{len(vocab) - seen:,} of {len(vocab):,} words of --vocab"
            note(f"{which} do not occur here, so nothing is learnt about them.")
        if vocab.counts[0] == vocab.counts[-1] and vocab.counts.sum() != run.encoded.report.kept_tokens:
            what = f"--vocab has a count of {vocab.counts[0]:,} for each word, unlike this text"
            remedy = "count its words, or name vocab.tsv of a model of it"
            loud(f"Warning: {what}, and noise and subsampling depend on counts: {remedy}.")
    if not fixed or (run.given.max_vocab is None and given.get("min_count") is None):
        return
    flags = " and ".join(_FIXED[name] for name in fixed)
    if not run.data.rectangular or len(fixed) == len(_FIXED):
        return note(f"The words are those of {flags}; --min-count and --max-vocab have no effect.")
    own, other = ("rows", "columns") if "vocab" in fixed else ("columns", "rows")
    note(f"The {own} are those of {flags}; --min-count and --max-vocab affect the {other} only.")


def input_of(values, needed=True):
    """Take the data (an `Input`) out of `values`, all options of a command that `reads`; its own options are left.

    needed : bool, whether there must be data. UsageError unless one source is named, with options that it reads.
    """
    sources = {kind: values.pop(kind) for kind in SOURCES if kind in values}
    items = {name: item for kind in sources for name, item in options_of(kind).items()}
    options = {name: values.pop(name, None) for name in items}
    named = [kind for kind, files in sources.items() if files]
    if not named and not needed and not any(options.values()):
        return None
    if len(named) != 1:
        which = f"{' and '.join('--' + kind for kind in named)} exclude each other" if named else "no source is named"
        raise click.UsageError(f"{which}; give one of {', '.join('--' + kind for kind in sources)}")
    kind = named[0]
    if foreign := Input.foreign(kind, options):
        readers = " and ".join(f"--{other}" for other in readers_of(foreign[0]))
        raise click.UsageError(f"{declared_flags(items[foreign[0]])} belongs to {readers}; --{kind} does not read it")
    return Input(kind, sources[kind], **{name: options[name] for name in options_of(kind) if options[name] is not None})


NO_CORPUS = "No --corpus given: training on the built-in corpus, the documentation of Python and its packages."


def builtin():
    """Return the `Input` that is read if no source is named, as `NO_CORPUS` says."""
    return Input("corpus", "builtin")


def _text_option(name):
    item = options_of("corpus")[name].metadata
    kind = {"type": click.Choice(item["choices"]) if item["choices"] else str} if item["metavar"] else {}
    return option(f"--{name.replace('_', '-')} {item['metavar'] or ''}", item["help"], **kind)


text_options = together(*map(_text_option, ("tokenizer", "strip", "numbers", "text_col", "plain")))  # for `text_of`


def text_of(files, given):
    """Take `text_options` out of `given`, and return the `Input` of a text (files, names or folders)."""
    options = {name: given.pop(name) for name in options_of("corpus") if name in given}
    return Input("corpus", files, **{name: value for name, value in options.items() if value not in (None, False)})


def taken(given, names):
    """Take options of `TrainConfig` out of `given`; return those that have a value (dict)."""
    return {name: value for name in names if (value := given.pop(name)) is not None}


def files_of(located):
    """Return the files that are read (list)."""
    from ..data.readers.sources import find_files

    names = [*located.files, *located.names]
    return find_files(names) if names else []


def reading_progress(quiet):
    """Return a callable that opens a bar of the bytes read, as `Run.encode` takes it; it shows nothing if `quiet`."""
    return nullcontext if quiet else lambda: byte_progress("reading")


def encode(config, data, quiet, first=False):
    """Read a located `Input` for a command that trains no vectors, and report it; first : as for `encode_input`."""
    from ..run import conductor

    with reading_progress(quiet)() as progress:
        encoded = conductor.encode(config, data, progress=progress, first=first)
    report_reading(encoded.report, quiet)
    return encoded


def encode_run(run, fixed, given, quiet, note):
    """Read the data of a `Run`, and report what was read; fixed : as of `fixed_of`; given : dict, other options."""
    from ..data.phrases import none_found, what_was_joined
    from ..data.readers.sources import STDIN

    if not run.data.in_memory and STDIN in run.data.files and sys.stdin is not None and sys.stdin.isatty():
        remedy = "type or paste the data, then Ctrl-D; or name a file, as with --corpus"
        note(f"Reading standard input, a terminal: {remedy}.")
    encoded = run.encode(reading_progress(quiet))
    report_reading(encoded.report, quiet)
    if encoded.phrases:
        note(what_was_joined(encoded.phrases, encoded.report.joins, encoded.vocab))
    elif AUTO in (getattr(run.data, "phrases", None) or ()):
        note(f"Warning: --phrases auto found no phrases to join: {none_found()} of 'w2vneg phrases'.")
    if advice := SOURCES[run.data.kind].advice(run.data, encoded.vocab.words):
        note(f"Note: {advice}.")
    _report_fixed(run, fixed, given, note)
    return encoded


def report_reading(report, quiet):
    """Report what was read, unless `quiet`, and warn of possible problems."""
    if not quiet:
        note(report.line())
    for hint in report.hints:
        note(f"Warning: {hint}.")


def refuse_existing(place, force):
    """Raise OutputError if writing to `place` would replace a file or a folder that is not empty, unless `force`."""
    empty = os.path.isdir(place) and not os.listdir(place)
    if os.path.lexists(place) and not (force or empty or passes_on(place)):
        raise OutputError(f"{place} exists; replace it with --force, or choose another place")


def refuse_dash(flag, place):
    """Raise click.UsageError if `place`, a path or None, is ``-``, which is not meant as a file name."""
    if place == "-":
        remedy = "use /dev/stdout for standard output, ./- for a file of this name"
        raise click.UsageError(f"{flag} takes a path, not -; {remedy}")


def refuse_overwriting(flag, place, files):
    """Raise click.UsageError if `place`, a path or None, is ``-``, or writing to it would overwrite a file read."""
    refuse_dash(flag, place)
    if place is None:
        return
    written = os.path.realpath(place)
    for file in map(str, files):
        read = os.path.realpath(file)
        if read == written or read.startswith(written + os.sep):
            raise click.UsageError(f"{flag} {place} would overwrite {file}, which is read; choose another place")
