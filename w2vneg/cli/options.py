"""Click options made from the fields of `TrainConfig`, and the TOML file that may set them too."""

import dataclasses

import click

from ..config import TrainConfig
from ..errors import ConfigError, InputError


def config_options(command):
    """Decorate `command` with one option per field; it receives only those that were given."""
    for item in reversed(dataclasses.fields(TrainConfig)):
        about = item.metadata
        flag = "--" + item.name.replace("_", "-")
        declared = f"{flag}/--{about['off']}" if about["kind"] is bool else flag
        shown = about["shown"]
        if shown is None:
            shown = declared.split("/")[0 if item.default else 1] if about["kind"] is bool else item.default
        text = f"{about['help']}  [default: {shown}]"
        kind = None if about["kind"] is bool else about["kind"]
        command = click.option(declared, item.name, type=kind, default=None, help=text)(command)
    return command


def read_config(path, given):
    """Build a TrainConfig from a TOML file (or None) and the options given beside it, which win."""
    values = {}
    if path is not None:
        values = _read_toml(path)
        TrainConfig.from_mapping(values, path)  # its own mistakes are told with its name
    values |= {name: value for name, value in given.items() if value is not None}
    return TrainConfig.from_mapping(values)


def _read_toml(path):
    try:
        with open(path, encoding="utf-8") as stream:
            return parse_toml(stream.read(), path)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not TOML ({error})") from error


def parse_toml(text, where):
    """Return the top-level names and values of TOML `text`; `where` it stands goes into messages."""
    try:
        import tomllib
    except ImportError:  # Python 3.10
        import tomli as tomllib
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{where}: not TOML ({error})") from error
    nested = [name for name, value in values.items() if isinstance(value, dict)]
    if nested:
        raise ConfigError(f"{where}: options stand at the top level, not in a table like [{nested[0]}]")
    return {name.replace("-", "_"): value for name, value in values.items()}
