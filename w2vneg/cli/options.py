"""Click options made from the fields of `TrainConfig`, under headings, and the TOML file that may set them too."""

import dataclasses

import click

from ..config import TrainConfig
from ..config.compatibility import in_words
from ..errors import ConfigError, InputError
from ..files.bounded import read_text

_HEADINGS = {  # group, or what reads the option -> heading of the help, in order
    None: "Files and reports",
    "items": "Columns and rows of items",
    "objective": "Objective",
    "sampler": "Options of samplers",
    "weigher": "Options of weighers",
    "loss": "Options of losses",
    "source": "Groups",
    "model": "Model",
    "training": "Training",
    "corpus": "Corpus",
}


class GroupedCommand(click.Command):
    """A command whose help lists its options under the headings above."""

    def __init__(self, *arguments, **attributes):
        attributes["context_settings"] = {"max_content_width": 110} | (attributes.get("context_settings") or {})
        super().__init__(*arguments, **attributes)

    def format_options(self, ctx, formatter):
        sections = {heading: [] for heading in _HEADINGS.values()}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                heading = getattr(parameter, "heading", None) or _HEADINGS[None]
                sections[heading].append(record)
        for heading, records in sections.items():
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records, col_max=34)


class ConfigOption(click.Option):
    """An option made from a field; `heading` is where the help lists it."""

    def __init__(self, *declarations, heading, **attributes):
        super().__init__(*declarations, **attributes)
        self.heading = heading


def config_options(command, names=None):
    """Decorate `command` with one option per field (those of `names` only); what was not given comes as None."""
    for item in reversed(dataclasses.fields(TrainConfig)):
        about = item.metadata
        if about["group"] is None or (names is not None and item.name not in names):
            continue
        flag = "--" + item.name.replace("_", "-")
        declared = f"{flag}/--{about['off']}" if about["kind"] is bool else flag
        kind = None if about["kind"] is bool else about["kind"]
        text = f"{about['help']}  [{readers_of(item)}default: {shown_default(item)}]"
        valued = {"is_flag": False, "flag_value": about["alone"]} if about["alone"] else {}
        command = click.option(
            declared,
            item.name,
            cls=ConfigOption,
            heading=_HEADINGS[next(iter(about["used_by"] or ()), about["group"])],
            type=kind,
            default=None,
            help=text,
            **valued,
            metavar="|".join(about["choices"]) if about["choices"] else _METAVARS.get(item.name),
        )(command)
    return command


_METAVARS = {
    "loss": "NAME",
    "sampler": "NAME",
    "weigher": "NAME",
    "degeneracy": "NAME|FILE",
    "plugin": "MODULE|FILE.py",
    "self_normalise": "LAMBDA[,SHARE]",
    "log_z": "NUMBER|learned",
    "encoding": "NAME",
}


def shown_default(item):
    """Return a field's default as the help prints it."""
    about = item.metadata
    if about["shown"] is not None:
        return about["shown"]
    if about["kind"] is bool:
        return "--" + (item.name.replace("_", "-") if item.default else about["off"])
    return str(item.default)


def readers_of(item):
    """Return the names of the plugs that read a field, as the help prints them before its default."""
    names = [name for names in (item.metadata["used_by"] or {}).values() for name in names]
    return f"for {in_words(names)}; " if names else ""


def read_config(path, given):
    """Build a TrainConfig from a TOML file (or None) and the options given beside it, which win."""
    values = {}
    if path is not None:
        values = parse_toml(read_text(path), path)
        TrainConfig.from_mapping(values, path)  # its own mistakes are told with its name
    values |= {name: value for name, value in given.items() if value is not None}
    return TrainConfig.from_mapping(values)


def parse_toml(text, where):
    """Return the top-level names and values of TOML `text`; `where` it stands goes into messages."""
    try:
        import tomllib
    except ImportError:  # Python 3.10
        import tomli as tomllib
    try:
        values = tomllib.loads(text.replace("\r\n", "\n"))
    except (ValueError, RecursionError) as error:  # not only of its own kind: thousands of digits, brackets
        raise InputError(f"{where}: not TOML ({error})") from error
    nested = [name for name, value in values.items() if isinstance(value, dict)]
    if nested:
        raise ConfigError(f"{where}: options stand at the top level, not in a table like [{nested[0]}]")
    return {name.replace("-", "_"): value for name, value in values.items()}
