"""The command line: one file per command, loaded on demand. No other package imports this one."""

import codecs
import errno
import json
import os
import re
import sys
import warnings
from contextlib import contextmanager, nullcontext, suppress
from difflib import get_close_matches
from importlib import import_module
from itertools import pairwise

import click

from ..ground.errors import ConfigError, FileNote, W2vnegError, did_you_mean, plain
from ..ground.progress import SHOW
from .progress import BestEffort, byte_progress, note

_COMMANDS = (  # names of modules and of their commands; the command of `eval` is `evaluate`
    *("train", "tune", "compare", "warmup", "eval", "nearest", "analogy", "recommend", "report", "explore", "export"),
    *("slim", "split", "phrases", "data", "cache", "doctor", "objectives"),
)


class LazyGroup(click.Group):
    """A group whose commands are imported on demand."""

    def list_commands(self, ctx):
        return list(_COMMANDS)

    def get_command(self, ctx, name):
        if name not in _COMMANDS:
            return None
        return getattr(import_module(f".{name}", __name__), "evaluate" if name == "eval" else name)

    def resolve_command(self, ctx, args):
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            if args and args[0] not in _COMMANDS and not args[0].startswith("-"):
                from ..config.synonyms import COMMANDS

                below = args[0] in self.get_command(ctx, "eval").commands
                ours = f"eval {args[0]}" if below else COMMANDS.get(args[0])
                hint = f"; it is {ours!r}" if ours else did_you_mean(args[0], _COMMANDS)
                error.message = f"no command {args[0]!r}{hint}"
            raise


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="w2vneg", message="%(prog)s %(version)s")
@click.option("--plugin", multiple=True, metavar="NAME|FILE", help="Import a module or file of your own first.")
def cli(plugin):
    """Train and evaluate vectors of words, items and nodes, with a choice of objectives."""
    if plugin:
        from ..objectives.plugins import load_plugins

        load_plugins(",".join(plugin))


def main(argv=None, command=cli, name="w2vneg"):
    """Run a command line; user errors become one message on stderr and an exit code above 0."""
    _open_closed_streams()
    _escape_what_cannot_be_shown()
    try:
        status = _status(command, argv, name)
    finally:
        _let_go(sys.stdout)
        _let_go(sys.stderr)
    sys.exit(status if isinstance(status, int) else 0)


def _status(command, argv, name):
    out = sys.stdout
    try:
        _check_threads()
        with _file_notes(), _progress_shown():
            status = command.main(args=argv, prog_name=name, standalone_mode=False)
        if sys.stdout is not None:
            sys.stdout.flush()
        return status
    except W2vnegError as error:
        return _fail(error, error.exit_code)
    except click.ClickException as error:
        if isinstance(error, click.NoSuchOption):
            _explain_flag(error, _words(argv))
        elif extra := re.search(r"unexpected extra arguments? \((.*)\)", error.message):
            error.message += _why_extra(error.ctx, extra[1].split(), _words(argv))
        error.message = plain(error.message)
        error.show(BestEffort())
        return error.exit_code
    except click.exceptions.Exit as error:
        return error.exit_code
    except SystemExit as error:
        if error.code == 1 and sys.stdout is not out:  # click replaced it: its reader closed early, which is no error
            return 0
        raise
    except (Exception, KeyboardInterrupt) as error:
        if isinstance(error, click.exceptions.Abort) or _is_interrupt(error):
            note("Interrupted.")
            return 130
        plugins = sys.modules.get("w2vneg.objectives.plugins")
        if said := plugins and plugins.failure_of_plugin(error):
            return _fail(said)
        if isinstance(error, MemoryError):
            return _fail(f"not enough memory{f' ({error})' if str(error) else ''}; {_less_memory(argv)}")
        if isinstance(error, OSError):
            return _fail_by_system(error)
        raise


@contextmanager
def _file_notes():
    """Print each `FileNote` once, on a line of its own."""
    with warnings.catch_warnings():
        others, said = warnings.showwarning, set()
        warnings.simplefilter("always", FileNote)

        def show(message, category, *where):
            if category is not FileNote:
                others(message, category, *where)
            elif str(message) not in said:
                said.add(str(message))
                note(f"Note: {message}.")

        warnings.showwarning = show
        yield


@contextmanager
def _progress_shown():
    """Show the progress of downloads, unless the command is --quiet."""

    def show(what):
        context = click.get_current_context(silent=True)
        return nullcontext() if context and context.params.get("quiet") else byte_progress(what)

    token = SHOW.set(show)
    try:
        yield
    finally:
        SHOW.reset(token)


def _is_interrupt(error):
    """Return whether a Ctrl-C caused an error: Python before 3.12 wraps one that comes while a class is created."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__
    return error is not None


def _explain_flag(error, words):
    """Let a click.NoSuchOption say what to give instead, or suggest similar flags; words : list of str, as typed."""
    from ..config.synonyms import FLAGS, FLAGS_OF_TRAIN, SYNONYMS
    from ..data.sources import SOURCES

    context, command, flag = error.ctx, error.ctx.command, error.option_name
    if len(flag) == 2:  # click takes a word with one dash for flags of one letter
        whole = (found[0] for one in words if (found := re.match(r"-\w[\w-]+", one)))
        flag = next((word for word in whole if flag[1] in word), flag)
    bare = flag.lstrip("-")
    name = re.sub("(?<=[a-z])(?=[A-Z])", "_", bare).lower().replace("-", "_")
    known = {flag for param in command.get_params(context) for flag in param.opts}
    arguments = {param.name for param in command.params if isinstance(param, click.Argument)}
    sources = [f"--{kind}" for kind in SOURCES if f"--{kind}" in known]
    synonyms = {other: "--" + option.replace("_", "-") for other, option in SYNONYMS.items()}
    ours = FLAGS.get(name) or synonyms.get(name) or f"--{name.replace('_', '-')}" * (len(name) > 1)
    hint = ""
    if ours.partition(" ")[0] in known:
        hint = f" It is called {ours} here."
    elif name in FLAGS_OF_TRAIN and context.info_name == "train":
        hint = f" {FLAGS_OF_TRAIN[name]}"
    elif name in SOURCES and sources:
        hint = f" {context.info_name} reads one of {', '.join(sources)}."
    elif name in arguments or (name in _MODELS and arguments & _MODELS):
        usage = " ".join([context.command_path, *command.collect_usage_pieces(context)[1:]])
        hint = f" It is given without a flag: {usage}."
    elif name == "plugin":
        hint = " It comes first: w2vneg --plugin NAME|FILE …."
    elif name == "model" and "--vectors" in known:
        hint = " It is called --vectors here."
    similar = [one for one in error.possibilities or () if get_close_matches(bare, [one.lstrip("-")])]
    near = [synonyms[other] for other in get_close_matches(name, synonyms, 1, 0.8)]
    error.message = f"No such option {flag!r}.{hint}"
    error.possibilities = None if hint else similar or [one for one in near if one in known]


def _why_extra(context, extra, words):
    """Return a sentence that explains extra arguments, perhaps empty. extra, words : list of str"""
    params = context.command.get_params(context)
    switches = {flag for param in params if getattr(param, "is_flag", False) for flag in param.opts}
    flag = next((flag for flag, argument in pairwise(words) if flag in switches and argument in extra), None)
    if flag and _OF_A_SWITCH.fullmatch(extra[0]) and not os.path.exists(extra[0]):
        return f". {flag} is a switch: give it without a value, or not at all."
    several = '. For several files repeat the flag, or quote the pattern: --corpus "*.txt".'
    return several if getattr(context.command, "reads", ()) else ""


_OF_A_SWITCH = re.compile(r"\d+|true|false|yes|no|on|off", re.I)  # a value that other tools give a switch
_MODELS = {"model", "vectors", "source", "runs"}  # arguments that mean much the same
_OF_OUTPUT = {errno.EPIPE, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}  # errors of files have a name


def _fail(what, status=1):
    note(f"Error: {what}")
    return status


def _fail_by_system(error):
    if error.errno == errno.ENAMETOOLONG:
        return _fail(f"{error.filename}: {error.strerror}; give a shorter one")
    if error.errno == errno.ENOENT and error.filename is None:  # only calls that need the current folder
        return _fail("the current folder no longer exists; change to another one, for example with: cd")
    if error.filename is not None:
        permit = "check its permissions, or " * (error.errno in (errno.EACCES, errno.EPERM))
        return _fail(f"{error.filename}: {error.strerror or error}; {permit}choose another place")
    if error.errno not in _OF_OUTPUT:
        raise error
    gone = error.errno == errno.EPIPE  # its reader closed early, which is no error
    return 0 if gone else _fail(f"cannot write to standard output: {error.strerror}")


def _words(argv):
    return sys.argv[1:] if argv is None else argv


def _less_memory(argv):
    command = next((one for one in _words(argv) if one in _COMMANDS), None)
    if command in ("slim", "split", "phrases", "data", "cache"):
        return "read fewer files at once"
    if command in ("eval", "nearest", "analogy", "recommend", "report", "explore", "export"):
        return "use smaller vectors, trained with a smaller --max-vocab or --dim"
    return "use a smaller --dim or --max-vocab, or fewer --workers"


def _check_threads():
    given = os.environ.get("NUMBA_NUM_THREADS", "1")
    with suppress(ValueError):
        if int(given) > 0:
            return
    raise ConfigError(f"NUMBA_NUM_THREADS={given}: expected a number of threads, 1 or more; unset it to use all cores")


def _let_go(stream):
    """Flush a standard stream, or redirect it to nowhere if that fails; else the interpreter exits with code 120."""
    try:
        if stream is not None:
            stream.flush()
    except (OSError, ValueError):
        with suppress(OSError, ValueError), open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), stream.fileno())
            stream.flush()


def _escape_what_cannot_be_shown():
    """Escape characters that standard output cannot encode as JSON does, so that JSON stays valid."""
    codecs.register_error(__name__, lambda error: (json.dumps(error.object[error.start : error.end])[1:-1], error.end))
    if hasattr(sys.stdout, "reconfigure") and sys.stdout.errors in ("strict", "surrogateescape"):
        with suppress(OSError, ValueError):
            sys.stdout.reconfigure(errors=__name__)


def _open_closed_streams():
    """Open standard streams that the caller has closed; else the next file opened would take their place."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
