"""How a run ends: how good the vectors are where that can be told, and what to type next; the page of a run."""

import os
import shlex

import click

from ..ground.errors import OutputError, W2vnegError
from .inputs import refuse_overwriting
from .progress import encodes
from .tables import sparkline

_SET = "ws353"  # the set that most copies of gensim carry
_LONGEST = 40  # characters of a word to type
_COMMON = 500  # words before this are too frequent to have telling neighbours


def tell_of_results(word2vec, complete, output, folder, mirror, note):
    """Say how good the vectors of a run that is over are and what to do with them; or what they are not good for."""
    from ..config.compatibility import about_cosines

    config = word2vec.model.config
    if caution := about_cosines(config):
        note(f"Note: {caution}.")
    if caution or not complete:
        return
    try:
        vectors = word2vec.wv
        if config.traversal.of_words:
            tell_how_good(vectors, mirror, note)
        tell_what_next(vectors, output, folder, config.traversal.recommends, note)
    except MemoryError:  # what was trained is kept
        note("How good the vectors are is not told: not enough memory.")


def tell_of_loss(history, note):
    """Draw the loss by epoch, if there are several. history : list of dict, of a model"""
    epochs = {record["epoch"]: record for record in history if record["event"] == "EpochDone"}
    loss = [record["loss"] for record in epochs.values()]
    if len(loss) > 1 and encodes(sparkline(loss)):
        curve = f"{loss[0]:.3f} {sparkline(loss)} {loss[-1]:.3f}"
        note(f"Loss: {curve} (at init {epochs[max(epochs)]['untrained']:.3f})")


def tell_of_doubts(trainer):
    """Warn of what may be wrong with the data of a run that is over."""
    from ..run.doubts import doubts_of
    from .progress import note

    for doubt in doubts_of(trainer) if trainer.complete else ():
        note(f"Warning: {doubt}.")


def tell_how_good(vectors, mirror, note):
    """Say how cosines agree with people, if a set of word pairs is here and the vectors know enough of its words."""
    from ..look.report.subjects import sets_at_hand
    from ..vectors.evaluation import evaluate_similarity

    for one in sets_at_hand([_SET], mirror):
        try:
            result = evaluate_similarity(vectors, one.path, one.name, one.tags)
        except W2vnegError:
            return
        if 2 * result.scored < result.total:  # of a few pairs it would say next to nothing
            return
        low, high = result.spearman_interval
        note(
            f"How good: cosines follow people's scores at {result.spearman:.2f} of 1 (Spearman, WordSim-353, "
            f"{result.scored} of {result.total} pairs; 95 % from {low:.2f} to {high:.2f})."
        )


def tell_what_next(vectors, output, folder, recommends, note):
    """Say what to type next, a command that works here.

    Parameters
    ----------
    vectors : Vectors
    output : str or None, file of the vectors
    folder : str or None, of the model
    recommends : bool, it is of things to recommend; others have neighbours
    note : callable
    """
    word = _telling(vectors)
    if word is None:
        return
    if recommends and folder:
        command = f"w2vneg recommend {shlex.quote(folder)} {word}"
    else:
        of = "" if output == "vectors.txt" else f" --vectors {shlex.quote(output or folder)}"
        command = f"w2vneg nearest {word}{of}"
    look = f"w2vneg explore {shlex.quote(folder or output)}"
    note(f"Next: {command}, or in a browser {look}")


def _telling(vectors):
    """Return a frequent word that a shell and a terminal take as it is, None if there is none.

    Words are a stranger's: what holds signs might be more than a word to either of them.
    """
    start = min(_COMMON, len(vectors) // 4)
    some = vectors.words[start : start + 1000]
    plain = [word for word in some if word.isascii() and word.isalnum() and len(word) <= _LONGEST]
    return next((word for word in plain if len(word) > 4 and word.isalpha()), plain[0] if plain else None)


def check_page(page, output, files, replace):
    """Complain now about a page that could not be written, or drawn, after training, or would take a file's place.

    output : str or None, where vectors go; files : list of str, what is read; replace : bool, whether a page that is
    there may go
    """
    from ..ground.files.atomic import check_writable
    from ..look.figures.interactive import check_installed

    refuse_overwriting("--report", page, files)
    if output and os.path.realpath(page) == os.path.realpath(output):
        raise click.UsageError(f"vectors and page cannot both be {page}; name two places")
    if os.path.lexists(page) and not replace:
        raise OutputError(f"{page} exists; replace it with --force, or name another file with --report")
    check_installed()
    check_writable(page)


def write_page(page, path, mirror, note):
    from ..look.report import make_report

    try:
        make_report([path], mirror=mirror).write(page)
    except MemoryError:
        raise OutputError(f"cannot write {page}: not enough memory; what was trained is kept in {path}") from None
    note(f"Wrote {page}; open it in a browser.")
