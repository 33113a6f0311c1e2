"""The command line: one file per command, loaded when it is called. Nothing imports this package."""

import errno
import os
import sys
import warnings
from contextlib import contextmanager, suppress
from importlib import import_module

import click

from ..errors import FileNote, InputError, W2vnegError
from .progress import BestEffort, note

_COMMANDS = {  # command -> (module, attribute)
    "train": (".train", "train"),
    "tune": (".tune", "tune"),
    "compare": (".compare", "compare"),
    "warmup": (".warmup", "warmup"),
    "eval": (".eval", "evaluate"),
    "nearest": (".nearest", "nearest"),
    "analogy": (".analogy", "analogy"),
    "recommend": (".recommend", "recommend"),
    "report": (".report", "report"),
    "explore": (".explore", "explore"),
    "export": (".export", "export"),
    "split": (".split", "split"),
    "phrases": (".phrases", "phrases"),
    "data": (".data", "data"),
    "cache": (".cache", "cache"),
    "doctor": (".doctor", "doctor"),
    "objectives": (".objectives", "objectives"),
    "reproduce": (".reproduce", "reproduce"),
}


_MOVED = {"bench": "; it is python -m benchmarks now, in a checkout of the project"}  # since version 0.1


class LazyGroup(click.Group):
    """A group whose commands are imported when they are asked for."""

    def list_commands(self, ctx):
        return list(_COMMANDS)

    def get_command(self, ctx, name):
        if name not in _COMMANDS:
            return None
        module, attribute = _COMMANDS[name]
        return getattr(import_module(module, __name__), attribute)

    def resolve_command(self, ctx, args):
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            from ..errors import did_you_mean

            if args and args[0] not in _COMMANDS and not args[0].startswith("-"):
                hint = _MOVED.get(args[0]) or did_you_mean(args[0], _COMMANDS)
                error.message = f"no command {args[0]!r}{hint}"
            raise


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="w2vneg", message="%(prog)s %(version)s")
def cli():
    """Train and evaluate word2vec-style embeddings with pluggable negative objectives."""


def main(argv=None, command=cli, name="w2vneg"):
    """Run a command line; errors of the user's become one message on stderr and exit code 1."""
    _open_closed_streams()
    try:
        status = _run(command, argv, name)
        if sys.stdout is not None:
            sys.stdout.flush()
    except W2vnegError as error:
        status = _fail(error)
    except MemoryError as error:
        status = _fail(f"not enough memory ({error}); use a smaller --dim or --max-vocab")
    except (click.exceptions.Abort, KeyboardInterrupt):
        note("Interrupted.")
        status = 130
    except click.ClickException as error:
        error.show(BestEffort())
        status = error.exit_code
    except click.exceptions.Exit as error:
        status = error.exit_code
    except OSError as error:
        if error.filename is not None or error.errno not in _OF_OUTPUT:
            raise
        _forget_output()
        gone = error.errno == errno.EPIPE  # its reader has seen enough: not our error
        status = 0 if gone else _fail(f"cannot write to standard output: {error.strerror}")
    sys.exit(status if isinstance(status, int) else 0)


def _run(command, argv, name):
    try:
        with _file_notes():
            return command.main(args=argv, prog_name=name, standalone_mode=False)
    except (W2vnegError, click.ClickException, click.exceptions.Exit):
        raise
    except Exception as error:
        if _is_interrupt(error):
            raise KeyboardInterrupt from error
        plugins = sys.modules.get("w2vneg.plugins")
        said = plugins and plugins.failure_of_plugin(error)
        if not said:
            raise
        raise InputError(said) from error


@contextmanager
def _file_notes():
    """Show what was read otherwise than a file has it as a line of its own."""
    with warnings.catch_warnings():
        others = warnings.showwarning
        warnings.simplefilter("always", FileNote)

        def show(message, category, *where):
            return note(f"Note: {message}.") if category is FileNote else others(message, category, *where)

        warnings.showwarning = show
        yield


def _is_interrupt(error):
    """Whether a Ctrl-C lies behind an error: Python before 3.12 wraps one that meets the making of a class."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__
    return error is not None


_OF_OUTPUT = {errno.EPIPE, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}  # of files, errors have a name


def _fail(what):
    note(f"Error: {what}")
    return 1


def _forget_output():
    """Let what standard output still holds go nowhere; else the interpreter complains of it when it ends."""
    with suppress(OSError, ValueError), open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())


def _open_closed_streams():
    """Open standard streams that the caller has closed: else the next file opened would be taken for one of them."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
