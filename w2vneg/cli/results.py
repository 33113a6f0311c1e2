"""Results of a run: vectors and a model folder, each saved even if the other fails; plots; what to do next."""

import json
import os
import shlex
import tempfile
from contextlib import suppress
from itertools import count
from pathlib import Path

import click

from ..data import catalog
from ..ground.errors import MissingExtraError, OutputError, W2vnegError
from ..ground.files.atomic import passes_on
from ..ground.files.bounded import is_path, is_special
from ..ground.files.locks import keeps_others_out
from ..ground.files.packing import without_packing

_NOWHERE = "no other place took"


def as_typed(path):
    """Return a path as typed in a command (str), even if it begins with a dash or has blanks."""
    path = str(path)
    return shlex.quote(f"./{path}" if path.startswith("-") else path)


def vectors_of(given, checkpoints, model, note):
    """Return where a run writes its vectors, or None: a run that saves a model writes none unless requested.

    A resumed run writes to the same file as before, with a relative path if that is below the current folder. But a
    model folder must not choose what is overwritten: the file must hold vectors of this shape, or not exist and be
    below the current folder.
    """
    if given == "":
        raise click.UsageError("--output needs the name of a file")
    from ..vectors.formats import check_packing, suffixes

    plain, _ = without_packing(given or "")
    bare, suffix = os.path.splitext(plain)
    if (named := suffixes().get(suffix.lower(), "word2vec")) != "word2vec":
        why = f"--output writes word2vec text, and {given} has the suffix of {named}"
        command = f"w2vneg export {as_typed(f'{bare}.txt')} {as_typed(plain)}"
        raise click.UsageError(f"{why}; name it {bare}.txt, then convert it: {command}")
    check_packing(given or "", "word2vec")
    output = model.origin.output if model is not None and not given else None
    output = output if is_path(output) else None
    below = output is not None and _is_plainly_below(output)
    if output and not (_holds_vectors(output, model) if os.path.lexists(output) else below):
        note(f"No vectors are written to {output}, which the model folder names. Name a file with --output.")
        output = None
    elif below:
        output = os.path.relpath(output)
    return given or output or (None if checkpoints is not None else "vectors.txt")


def _is_plainly_below(path):
    """Return whether a path is below the current folder, links followed, and no part of it is hidden."""
    real, here = os.path.realpath(path), os.path.realpath(os.curdir)
    return real.startswith(here + os.sep) and f"{os.sep}." not in real[len(here) :]


def _holds_vectors(path, model):
    if not os.path.isfile(path):
        return False
    from ..data.readers.sources import ByteStream

    with suppress(W2vnegError), ByteStream(path) as source:  # which decompresses
        return source.first().startswith(f"{len(model.vocab)} {model.config.dim}\n".encode())
    return False


def refuse_replacing(output, checkpoints, model, resume):
    """Raise OutputError if vectors or a model would be replaced; the run in `resume` may replace its own files."""
    from ..run.folder import holds_model

    folder = checkpoints and str(checkpoints.folder)
    if folder and not _same(folder, resume) and holds_model(folder):
        resumed = os.path.exists(os.path.join(folder, "config.json"))  # a slim model cannot be resumed
        remedy = f"continue it with --resume {folder}, replace" if resumed else "replace"
        raise OutputError(f"{folder} holds a model; {remedy} it with --force, or name another folder")
    own = model is not None and _same(output, model.origin.output)
    if output and not own and os.path.lexists(output) and not passes_on(output):
        raise OutputError(f"{output} exists; replace it with --force, or name another file with --output")


def _same(path, other):
    return bool(path and other) and os.path.realpath(path) == os.path.realpath(other)


def write_results(word2vec, output, checkpoints, note):
    """Write the vectors of a `Word2Vec`, and the model folder if there is one; if that fails, save them elsewhere.

    OutputError if something is not where it was wanted; the message says where it is and what the place holds instead.
    """
    failures, vectors, written = [], None, False
    try:
        if output:
            vectors = _read_out(word2vec, failures, note)
            vectors.save(output, format="word2vec")
            written = True
            note(f"Wrote {len(word2vec.model.vocab):,} vectors of {word2vec.config.dim} numbers to {output}.")
    except Exception as error:  # of a read-out or the disk: what was trained must not be lost
        failures.append(_said(error))
    folder = checkpoints and checkpoints.folder
    if folder and checkpoints.save(word2vec.model, final=True):
        hint = "" if output else f"; to write its vectors to a file: w2vneg export {as_typed(folder)} FILE"
        note(f"Model saved in {folder}{hint}.")
        if failures:
            as_trained = " --readout in" if vectors is None or written else ""
            failures.append(f"the model folder has the vectors: w2vneg export {as_typed(folder)} FILE{as_trained}")
    elif folder:
        failures.append(str(checkpoints.failure))
        with suppress(OSError, ValueError, KeyError, TypeError):
            at = json.loads((Path(folder) / "position.json").read_text("utf-8"))
            failures.append(f"{folder} holds an earlier state: {at['epoch']} epochs and {at['round']} rounds")
        failures.append(_saved_elsewhere("model", folder, output, word2vec.save))
        if not written and failures[-1].startswith(_NOWHERE):
            wanted = output or "vectors.txt"
            failures.append(_saved_elsewhere("vectors", wanted, None, lambda path: word2vec.wv.save(path, "word2vec")))
    elif failures and vectors is None:
        failures.append(_saved_elsewhere("model", "model", output, word2vec.save))
    elif failures and not written and not is_special(output):
        failures.append(_saved_elsewhere("vectors", output, None, lambda path: vectors.save(path, "word2vec")))
    if failures:
        raise OutputError("; ".join(failures))


def _read_out(word2vec, failures, note):
    """Return the vectors of a run; if the read-out fails, the rows as trained, with a sentence added to `failures`."""
    try:
        return word2vec.wv
    except Exception as error:  # of a user's plug, or of memory: what was trained must not be lost
        if word2vec.config.readout == "in":
            raise
        vectors = word2vec.read_out("in")
        what = f"read-out {word2vec.model.config.readout} has failed"
        failures.append(f"{what}, so the vectors are the rows of --readout in: {_said(error)}")
        note(f"Warning: {failures[-1]}.")
        return vectors


def _said(error):
    if isinstance(error, MemoryError):
        return "not enough memory; a smaller --dim or --max-vocab needs less"
    return str(error) if isinstance(error, W2vnegError) else f"{type(error).__name__}: {error}"


def _saved_elsewhere(what, wanted, other, save):
    """Call `save` with other paths until one works; return where, in words. other : path, perhaps on another disk"""
    places = [os.path.dirname(os.path.realpath(other))] if other else []
    with suppress(OSError):  # the current folder may be gone
        places.append(os.getcwd())
    places += [os.path.expanduser("~"), tempfile.gettempdir()]
    name = os.path.basename(wanted.rstrip(os.sep)).strip(".")
    name = name if 0 < len(os.fsencode(name)) < 200 else what
    for place in dict.fromkeys(places):
        path = os.path.join(place, f"rescued-{name}")
        path = next(free for n in count() if not os.path.lexists(free := f"{path}.{n}" if n else path))
        try:
            save(path)
        except Exception:  # of any kind: another place may work
            continue
        return f"saved the {what} trained to this point to {path} instead"
    return f"{_NOWHERE} the {what} either: {', '.join(dict.fromkeys(places))}"


def warn_without_locks(folder, note):
    """Warn if owning a folder, as this command does now, does not keep others out."""
    if not keeps_others_out(folder):
        note(f"Note: the file system of {folder} has no locks; nothing keeps a second run from writing there too.")


def write_images(charts, folder, begun, note, suffixes=("png",)):
    """Write the charts under names that begin with `begun`; return the names (list of str), none without matplotlib."""
    from ..look.figures.still import write_figures

    try:
        return write_figures(charts, folder, suffixes, f"{begun}-")
    except MissingExtraError as error:
        note(f"No plots: {error}")
        return []


def report_results(word2vec, complete, output, folder, mirror, note):
    """Report how good the vectors of a finished run are and what to do next, or a caution about their use."""
    from ..config.compatibility import about_cosines

    config = word2vec.model.config
    if caution := about_cosines(config):
        note(f"Note: {caution}.")
    if caution or not complete:
        return
    try:
        vectors = word2vec.wv
        if config.traversal.of_words:
            report_quality(vectors, mirror, note)
        suggest_next(vectors, output, folder, config.traversal.recommends, note)
    except MemoryError:  # the results are saved
        note("The vectors are not scored: not enough memory.")


def report_loss(history, note):
    """Report the loss of the first and the last of several epochs. history : list of dict, of a model"""
    epochs = {record["epoch"]: record for record in history if record.get("event") == "EpochDone"}
    if len(epochs) > 1:
        first, *_, last = epochs.values()
        note(f"Loss: {first['loss']:.3f} … {last['loss']:.3f} (at init {last['untrained']:.3f})")


def report_quality(vectors, mirror, note):
    """Report how cosines agree with human scores, if WordSim-353 is here and enough of its words have vectors."""
    from ..vectors.evaluation import evaluate_similarity

    try:
        path = catalog.at_hand("ws353", mirror)  # the set that most copies of gensim include
        result = path and evaluate_similarity(vectors, path, "ws353", catalog.info("ws353").tags)
    except W2vnegError:
        return
    if result and 2 * result.scored >= result.total:  # a few pairs would mean next to nothing
        low, high = result.spearman_interval
        about = f"{result.scored} of {result.total} pairs; 95 % interval {low:.2f} to {high:.2f}"
        note(f"Quality: Spearman {result.spearman:.2f} with human scores of WordSim-353 ({about}).")


def plain_words(words):
    """Return the words that are safe to print and type in a shell (list of str); those of a foreign file may not be."""
    return [word for word in words if word.isascii() and word.isalnum() and len(word) <= 40]


def suggest_next(vectors, output, folder, recommends, note):
    """Suggest a next command that works here; recommends : bool, whether the model recommends items."""
    output = None if output and passes_on(output) else output  # passed on: there is nothing to read
    start = min(500, len(vectors) // 4)  # words before this are too frequent to have informative neighbours
    some = plain_words(vectors.words[start : start + 1000])
    word = next((word for word in some if len(word) > 4 and word.isalpha()), some[0] if some else None)
    if word is None or not (output or folder):
        return
    if recommends and folder:
        command = f"w2vneg recommend {as_typed(folder)} {word}"
    else:
        of = "" if output == "vectors.txt" else f" --vectors {as_typed(output or folder)}"
        command = f"w2vneg nearest {word}{of}"
    note(f"Next: {command}, or in a browser w2vneg explore {as_typed(folder or output)}")
