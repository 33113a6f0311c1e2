"""What a file of ``--config`` says of a run beside its options: data, held-out pairs, where it begins and goes."""

import os

import click
from click.core import ParameterSource

from ..data.sources import SOURCES, options_of
from ..ground.errors import ConfigError
from ..ground.files.bounded import read_text

_RUN = (
    *("vocab", "vocab_out", "init", "freeze", "output", "save_model", "checkpoint_every", "diagnose", "mirror"),
    *("valid", "metric", "patience", "eval_every", "valid_exclude_known"),
)


def of_run(name):
    """Tell whether an option belongs to the whole run and not to `TrainConfig`: a source, or one named above."""
    return name in _RUN or name in SOURCES or any(name in options_of(kind) for kind in SOURCES)


def file_of_run(place):
    """Return the path of a run's file: `place` itself, or that of a model folder (str)."""
    return os.path.join(place, "run.toml") if os.path.isdir(place) else place


def take_run_options(context, parse):
    """Let the options of a command have what the file of ``--config`` says of the run; the command line wins.

    A command takes those that it has; one that compares runs, from the first of them. If the command line names a
    source, the file's, with its options, is left out.

    parse : callable, called with a text and its place, returns a dict

    Raises
    ------
    ConfigError
        If a value is not what the option takes.
    """
    path = context.params.get("config_path") or next(map(file_of_run, context.params.get("runs", ())), None)
    if path is None or context.params.get("resume") or context.params.get("update"):  # these two refuse it
        return
    given = {name for name in context.params if context.get_parameter_source(name) is ParameterSource.COMMANDLINE}
    other_data = "on" in given or any(kind in given for kind in SOURCES)
    own = {param.name: param for param in context.command.get_params(context)}
    for name, value in parse(read_text(path, errors="surrogateescape"), path).items():
        if not of_run(name) or name not in own or name in given or (other_data and _of_data(name)):
            continue
        if "on" in given and name in ("valid", "valid_exclude_known"):
            continue
        try:
            context.params[name] = own[name].type_cast_value(context, _fitting(own[name], value))
        except click.BadParameter as error:
            raise ConfigError(f"{path}: {name}: {error.message}") from error


def _of_data(name):
    return name in SOURCES or any(name in options_of(kind) for kind in SOURCES)


def _fitting(param, value):
    """Return a value for click to convert, a list for what may be repeated; BadParameter if it is of another kind."""
    values = value if isinstance(value, list) and param.multiple else [value]
    whole = isinstance(param.type, click.types.IntParamType)
    kind = bool if param.is_flag else str if param.type is click.STRING else int if whole else (int, float)
    if any(not isinstance(one, kind) or (isinstance(one, bool) and kind is not bool) for one in values):
        raise click.BadParameter(f"{value!r} is not what --{param.name.replace('_', '-')} takes")
    return values if param.multiple else value
