"""Click options made from the fields of `TrainConfig`, under headings, and the TOML file that may set them too."""

import dataclasses
import functools
from contextlib import suppress

import click

from ..ground.errors import ConfigError, W2vnegError
from ..ground.files.bounded import parse_toml, read_text
from ..ground.option import flag_of, kind_of, off_of

EVERYDAY = (
    *("corpus", "loss", "temp", "output", "save_model", "dim", "window", "negatives"),
    *("epochs", "alpha", "min_count", "workers"),
)
"""What help lists first, in this order."""

_DAILY = "Everyday options"
_OTHER = "Files and reports"
_HEADINGS = {  # group -> heading of the help; those of plugs come behind, by plug
    None: _OTHER,
    "items": "Columns and rows of items",
    "objective": "Objective",
    "model": "Model",
    "training": "Training",
    "corpus": "Corpus",
    "ranks": "Several machines",
}
_METAVARS = {"loss": "NAME", "sampler": "NAME", "weigher": "NAME", "plugin": "MODULE|FILE.py", "encoding": "NAME"}


class GroupedCommand(click.Command):
    """A command whose help lists its options under headings; with those of the plugs that ``--plugin`` names."""

    def __init__(self, *arguments, **attributes):
        attributes["context_settings"] = {"max_content_width": 110} | (attributes.get("context_settings") or {})
        super().__init__(*arguments, **attributes)

    def make_context(self, info_name, args, parent=None, **extra):
        plugins = _plugins_named(args)
        if plugins:
            from ..objectives.plugins import load_plugins

            load_plugins(plugins)
        return super().make_context(info_name, args, parent, **extra)

    def get_params(self, ctx):
        params = list(super().get_params(ctx))
        params += self._input_params({param.name for param in params})
        takes = getattr(self.callback, "config_options", None)
        if takes is not None:
            from ..config import TrainConfig

            have = {param.name for param in params}
            items = [item for item in dataclasses.fields(TrainConfig) if item.metadata["group"] is not None]
            params += [_option(item) for item in items if item.name not in have and takes(item)]
        return params

    def _input_params(self, have):
        """Return the options that say what is read: a flag for each source, and theirs."""
        if not getattr(self.callback, "input_options", False):
            return []
        from ..data.sources import SOURCES, options_of

        items = {}
        for kind in SOURCES:
            items = options_of(kind) | items
        made = [_source_option(kind, SOURCES[kind]) for kind in SOURCES]
        made += [_option_of_sources(item) for item in items.values()]
        return [option for option in made if option.name not in have]

    def parse_args(self, ctx, args):
        from .runfile import take_run_options

        try:
            rest = super().parse_args(ctx, args)
            take_run_options(ctx, options_of_text)
            return rest
        except click.NoSuchOption as error:
            from ..config.synonyms import FLAGS, SYNONYMS

            name = error.option_name.lstrip("-").replace("-", "_")
            flags = {flag for param in self.get_params(ctx) for flag in param.opts}
            ours = FLAGS.get(name) or "--" + SYNONYMS.get(name, "").replace("_", "-")
            if ours in flags:
                error.message = f"{error.message} It is called {ours} here."
                error.possibilities = None
            raise
        except click.UsageError as error:
            if getattr(self.callback, "input_options", False) and "unexpected extra argument" in error.message:
                error.message += '. For several files repeat the flag, or quote the pattern: --corpus "*.txt".'
            raise

    def format_options(self, ctx, formatter):
        sections = {_DAILY: []}
        everyday = [name for name in EVERYDAY if self.name == "train"]
        parameters = self.get_params(ctx)
        parameters.sort(key=lambda one: everyday.index(one.name) if one.name in everyday else len(everyday))
        for parameter in parameters:
            record = parameter.get_help_record(ctx)
            if record is not None:
                heading = _DAILY if parameter.name in everyday else getattr(parameter, "heading", None) or _OTHER
                sections.setdefault(heading, []).append(record)
        order = [_DAILY, _OTHER, *_HEADINGS.values(), *sections]
        for heading in dict.fromkeys(order):
            if sections.get(heading):
                with formatter.section(heading):
                    formatter.write_dl(sections[heading], col_max=34)


def _plugins_named(args):
    """Return what ``--plugin`` names among the arguments, or the file of ``--config`` does; None if nothing."""
    found = {}
    for flag in ("--plugin", "--config"):
        for place, word in enumerate(args):
            if word == "--":
                break
            if word == flag and place + 1 < len(args):
                found[flag] = args[place + 1]
            elif word.startswith(f"{flag}="):
                found[flag] = word.removeprefix(f"{flag}=")
    if "--plugin" not in found and "--config" in found:
        with suppress(W2vnegError):  # what is wrong with the file is said when it is read
            return options_of_text(read_text(found["--config"]), "").get("plugin")
    return found.get("--plugin")


class ConfigOption(click.Option):
    """An option made from a field; `heading` is where the help lists it."""

    def __init__(self, *declarations, heading, **attributes):
        super().__init__(*declarations, **attributes)
        self.heading = heading


def config_options(command, takes=lambda item: True):
    """Mark the callback of a `GroupedCommand`: it takes the options of `TrainConfig` whose fields `takes` says yes to.

    What was not given comes as None.
    """
    command.config_options = takes
    return command


def _source_option(kind, source):
    text = source.help + (" May be repeated." if source.repeatable else "")
    return click.Option([f"--{kind.replace('_', '-')}", kind], multiple=True, metavar=source.metavar, help=text)


def _option_of_sources(item):
    """Return the click option of a field that sources have."""
    from ..data.sources import readers_of as sources_of

    about, kind = item.metadata, kind_of(item)
    readers = ", ".join(f"--{name}" for name in sources_of(item.name))
    default = f"; default: {about['shown']}" if about["shown"] not in (None, "none") else ""
    low, high = about["limits"]["at_least"], about["limits"]["at_most"]
    number = click.IntRange(low, high) if kind is int else kind
    return ConfigOption(
        [declared_flags(item), item.name],
        heading=_HEADINGS["items"],
        type=None if kind is bool else number,
        is_flag=kind is bool,
        multiple=about["files"],
        default=None,
        metavar=about["metavar"],
        help=f"{about['help']}  [for {readers}{default}]",
    )


def declared_flags(item):
    """Return the flags of a field as click takes them: ``--name``, of a bool ``--name/--no-name``."""
    flag = flag_of(item)
    return f"{flag}/--{off_of(item)}" if kind_of(item) is bool and off_of(item) else flag


def _option(item):
    """Return the click option of a field."""
    return _made(item.name, item.metadata["kind"], _Metadata(item))


class _Metadata:
    """A field that a cache can tell apart from another of its name."""

    def __init__(self, item):
        self.item = item

    def __eq__(self, other):
        return self.item.metadata == other.item.metadata and self.item.default == other.item.default

    def __hash__(self):
        return hash(self.item.name)


@functools.lru_cache(maxsize=512)
def _made(name, kind, held):
    item = held.item
    about = item.metadata
    valued = {"is_flag": False, "flag_value": about["alone"]} if about["alone"] else {}
    return ConfigOption(
        [declared_flags(item), name],
        heading=_heading(item),
        type=None if kind is bool else kind,
        default=None,
        help=f"{about['help']}  [{readers_of(item)}default: {shown(item)}]",
        metavar="|".join(about["choices"]) if about["choices"] else about["metavar"] or _METAVARS.get(name),
        **valued,
    )


def _heading(item):
    readers = item.metadata["readers"]
    if not readers:
        return _HEADINGS[item.metadata["group"]]
    kind, names = next(iter(readers.items()))
    if kind == "source":
        return "Groups"
    return f"Options of the {next(iter(names))} {kind}" if len(names) == 1 else f"Options of several {_PLURAL[kind]}"


_PLURAL = {"inputs": "inputs", "sampler": "samplers", "weigher": "weighers", "loss": "losses"}


def shown(item):
    """Return a field's default as the help prints it; of a bool the flag."""
    from ..config.table import shown_default

    about = item.metadata
    if kind_of(item) is bool and about["shown"] is None and not about.get("readers") and off_of(item):
        return flag_of(item, item.default)
    return shown_default(item)


def readers_of(item):
    """Return the names of the plugs that read a field, as the help prints them before its default."""
    from ..config.compatibility import in_words

    names = [name for names in item.metadata["readers"].values() for name in names]
    return f"for {in_words(names)}; " if names else ""


def read_config(path, given):
    """Build a TrainConfig from a TOML file (or None) and the options given beside it, which win.

    What the file says of the run beside is taken when the command line is parsed (see `runfile`).
    """
    from ..config import TrainConfig

    values = {}
    if path is not None:
        values = options_in(path)
        TrainConfig.from_mapping(values, path)  # its own mistakes are reported with its name
    values |= {name: value for name, value in given.items() if value is not None}
    return TrainConfig.from_mapping(values)


def options_in(path):
    """Return the options of `TrainConfig` that a TOML file names, as they stand there (dict)."""
    from .runfile import of_run

    values = options_of_text(read_text(path, errors="surrogateescape"), path)
    return {name: value for name, value in values.items() if not of_run(name)}


def options_of_text(text, where):
    """Return the top-level names and values of TOML `text`; `where` it stands goes into messages."""
    values = parse_toml(text, where)
    nested = [name for name, value in values.items() if isinstance(value, dict)]
    if nested:
        raise ConfigError(f"{where}: options stand at the top level, not in a table like [{nested[0]}]")
    return {name.replace("-", "_"): value for name, value in values.items()}
