"""What a run leaves: vectors and a model folder, each kept whatever happens to the other."""

import json
import os
import tempfile
from pathlib import Path

import click

from ..errors import OutputError, W2vnegError
from ..files.atomic import is_special


def vectors_of(model, folder):
    """Return where a run to be resumed was to write its vectors, by a short name if that is below the current folder.

    None if it was to write none, or if somebody else wrote the folder: that must not choose what is overwritten.
    """
    output = model.origin.output
    if output and not model.signed:
        if os.path.lexists("vectors.txt"):
            raise click.UsageError(
                f"{folder} was not written by you on this machine, so its vectors do not go to {output}, and "
                "vectors.txt exists; name a file with --output"
            )
        return None
    return os.path.relpath(output) if output.startswith(os.getcwd() + os.sep) else output


def write_results(word2vec, output, checkpoints, note):
    """Write vectors, and the model folder if there is one. What cannot be written goes to another place.

    Parameters
    ----------
    word2vec : Word2Vec, with its model
    output : str, file of vectors
    checkpoints : Checkpoints or None
    note : callable, called with sentences

    Raises
    ------
    OutputError
        If something is not where it was wanted; the message says where it is, and what the place holds instead.
    """
    failures = []
    try:
        word2vec.vectors.save(output, format="word2vec")
        note(f"Wrote {len(word2vec.model.vocab):,} vectors of {word2vec.config.dim} numbers to {output}.")
    except W2vnegError as error:
        failures.append(str(error))
    folder = checkpoints.folder if checkpoints is not None else None
    if folder and checkpoints.save(word2vec.model, final=True):
        note(f"Model kept in {folder}.")
        if failures:
            failures.append(f"the model folder has the vectors: w2vneg export {folder} FILE")
    elif folder:
        failures.append(str(checkpoints.failure))
        failures += _kept_before(folder)
        failures.append(_saved_elsewhere("model", folder, output, word2vec.save))
    elif failures and not is_special(output):
        failures.append(_saved_elsewhere("vectors", output, None, lambda path: word2vec.vectors.save(path, "word2vec")))
    if failures:
        raise OutputError("; ".join(failures))


def _kept_before(folder):
    """Return in words which state a model folder holds that could not be saved again (list of str, one or none)."""
    try:
        position = json.loads((Path(folder) / "position.json").read_text("utf-8"))
        return [f"{folder} keeps an earlier state: {position['epoch']} epochs and {position['round']} rounds"]
    except (OSError, ValueError, KeyError, TypeError):
        return []


def _saved_elsewhere(what, wanted, other, save):
    """Save to the first place that takes it; return in words where that is.

    what : str, "model" or "vectors"; wanted : str, the path that failed; other : str, a path on what may be another
    disk, or None; save : callable, called with a path
    """
    places = [os.path.dirname(os.path.realpath(other))] if other else []
    places += [os.getcwd(), os.path.expanduser("~"), tempfile.gettempdir()]
    for place in dict.fromkeys(places):
        path = _free(os.path.join(place, f"rescued-{os.path.basename(os.path.realpath(wanted))}"))
        try:
            save(path)
        except W2vnegError:
            continue
        return f"the {what}, trained to this point, went to {path} instead"
    return f"no other place took the {what} either: {', '.join(dict.fromkeys(places))}"


def _free(path):
    """Return the path, or one with a number behind it that names nothing yet."""
    found, number = path, 1
    while os.path.lexists(found):
        found, number = f"{path}.{number}", number + 1
    return found
