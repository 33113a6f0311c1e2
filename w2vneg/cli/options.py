"""Options of commands, each with its section of the help; those of runs and of sources come from their fields.

``--help`` lists the common options, one line each; ``--help-all`` lists them all, by plug.
"""

import os
import shlex
from argparse import ArgumentParser
from contextlib import suppress
from functools import reduce
from types import SimpleNamespace

import click
from click.core import ParameterSource

from ..data.sources import SOURCES, TRAVERSALS, options_of, readers_of
from ..ground.errors import ConfigError, W2vnegError
from ..ground.files.bounded import check_regular, parse_toml, read_text
from ..ground.option import flag_of, kind_of, off_of

SECTIONS = ("data", "search", "split", "objective", "model", "run", "output")
"""Sections of the help, in their order; a command has some of them."""

_SECTION_OF = {  # section -> names of commands' own options; for others it is "run"
    "data": ("mirror", "sources", "vocab", "vocab_out"),
    "search": ("grid", "ranges", "n_random", "way", "seeds", "on"),
    "model": ("cbow", "subwords", "neighbours", "penalty", "workers"),
    "output": (
        *("output", "out", "save_model", "checkpoint_every", "force", "trackers", "log_json", "keep", "files"),
        *("quiet", "as_json", "help_all"),
    ),
}
DATA = ("text", "items", "graph")
"""Kinds of data that ``--help-all`` takes."""

_PLACES = {"corpus": ("data", "vocabulary"), "ranks": ("run", "several machines")}  # group -> section and part
_PLUGS = {"inputs": "model", "sampler": "objective", "weigher": "objective", "loss": "objective"}  # kind -> section
_PLURALS = {"inputs": "inputs", "sampler": "samplers", "weigher": "weighers", "loss": "losses"}
_METAVARS = {int: "N", click.IntRange: "N", float: "X"}  # by type
COUNT = click.IntRange(min=1)
_FLAGS_WIDTH = {False: 19, True: 34}  # of the column of flags, in the short and in the full help
_OF_RUN = (  # what a --config file may set besides sources and the options of `TrainConfig`
    *("vocab", "vocab_out", "init", "freeze", "output", "save_model", "checkpoint_every", "diagnose", "mirror"),
    *("valid", "metric", "patience", "eval_every", "valid_exclude_known"),
)
HELP_ALL = "w2vneg.help_all"  # key of a context's meta: the value of --help-all


class Option(click.Option):
    """An option and its place in the help.

    section : str, one of `SECTIONS`, by its name unless given; part : str, of the section, a heading of ``--help-all``
    common : bool, whether ``--help`` lists it, with the first sentence of its help
    kinds : those of `DATA` that the option is for; readers : str, what reads it or what it goes with, in words
    default_text : str, the default as the help prints it, if not the value itself
    """

    def __init__(
        self, *declarations, section=None, part="", common=True, kinds=DATA, readers="", default_text=None, **about
    ):
        of_type = about.get("type")
        choices = "|".join(of_type.choices) if type(of_type) is click.Choice else None
        metavars = about.get("metavar"), choices, _METAVARS.get(of_type), _METAVARS.get(type(of_type))
        super().__init__(*declarations, **about | {"metavar": next(filter(None, metavars), None)})
        self.section = section or next((one for one, names in _SECTION_OF.items() if self.name in names), "run")
        self.part, self.common, self.kinds, self.readers = part, common, kinds, readers
        plain = not (self.is_flag or self.multiple) and isinstance(self.default, str | int | float)
        self.default_text = default_text or (str(self.default) if plain else None)

    def get_help_record(self, ctx):
        flags, _ = super().get_help_record(ctx)
        default = f"default: {self.default_text}" if self.default_text else "required" if self.required else ""
        facts = "; ".join(fact for fact in (self.readers, default) if fact)
        return flags, self.help + (f"  [{facts}]" if facts else "")

    def line(self, ctx, column, width):
        """Return the flags, padded to their column, and the first sentence of the help, with the default if it fits."""
        flags, _ = super().get_help_record(ctx)
        text = self.help.partition(". ")[0].removesuffix(".") + "."
        default = "required" if self.required else self.default_text if not self.is_flag else None
        default = f" [{default}]" if default else ""
        fits = column + len(text + default) + 4 <= width  # 4: click's indent, and the gap between the columns
        return flags.partition(" / ")[0].ljust(column), text + (default if fits else "")


def option(flags, text, name=None, **attributes):
    """Decorate a command with an `Option`; `flags` includes a word for its value. Without that, a type or a default
    it is a switch.
    """
    words = flags.split()
    declared = [word for word in words if word.startswith("-")] + [name] * (name is not None)
    metavar = next((word for word in words if not word.startswith("-")), None)
    if not (metavar or attributes.keys() & {"type", "default"}):
        attributes["is_flag"] = True
    return click.option(*declared, cls=Option, help=text, metavar=metavar, **attributes)


def together(*options):
    """Return one decorator that gives a command several options, in this order."""
    return lambda command: reduce(lambda made, decorate: decorate(made), reversed(options), command)


json_option = option("--json", "Print JSON instead of text.", name="as_json")
quiet_option = option("--quiet", "Print warnings only.")
quiet_or_json = together(quiet_option, json_option)
mirror_option = option("--mirror DIR|URL", "Folder or URL with named data; or set W2VNEG_MIRROR.", common=False)


class GroupedCommand(click.Command):
    """A command whose help lists its options by section, including those of plugs that ``--plugin`` names.

    reads : tuple of `DATA`, kinds of the sources that it has, with their options, for `flags.input_of`
    takes : callable, field of `TrainConfig` -> whether the command has an option for it, or a tuple of names;
        options not given are None
    """

    def __init__(self, *arguments, reads=(), takes=(), **attributes):
        settings = {"max_content_width": 110, "help_option_names": ["-h", "--help"]}
        super().__init__(*arguments, context_settings=settings, **attributes)
        self.reads, self.takes = reads, takes if callable(takes) else lambda item: item.name in takes

    def get_params(self, ctx):
        """Return the options of sources, those of the configuration, the command's own, and help."""
        if self not in ctx.meta:
            own, made = super().get_params(ctx), _input_params(self.reads)
            from ..config.table import options_of_users

            made += [_option_of_config(item) for item in options_of_users() if self.takes(item)]
            text = f"Show every option, or those for {', '.join(DATA[:-1])} or {DATA[-1]}."
            about = {"type": click.Choice(["all", *DATA]), "metavar": "[DATA]", "is_flag": False, "flag_value": "all"}
            about |= {"is_eager": True, "expose_value": False, "callback": _show_all}
            help_all = Option(["--help-all"], help=text, **about)
            _check_flags([*own, help_all, *made], ctx.info_name)
            ctx.meta[self] = [*made, *own[:-1], help_all, own[-1]]
        return ctx.meta[self]

    def parse_args(self, ctx, args):
        plugins = _load_plugins(ctx, args)
        rest = super().parse_args(ctx, args)
        if "plugin" in ctx.params:
            ctx.params["plugin"] = plugins
        _take_run_options(ctx)
        return rest

    def format_options(self, ctx, formatter):
        requested = ctx.meta.get(HELP_ALL)  # None in the short help
        column = _FLAGS_WIDTH[bool(requested)]
        parts = {}  # (section, part) -> records
        for param in self.get_params(ctx):
            if isinstance(param, Option):
                if not (param.common if requested is None else requested not in DATA or requested in param.kinds):
                    continue
                place = param.section, param.part if requested else ""
                record = param.get_help_record(ctx) if requested else param.line(ctx, column, formatter.width)
            elif isinstance(param, click.Option):  # -h, --help
                place, record = ("output", ""), param.get_help_record(ctx)
            else:
                continue
            parts.setdefault(place, []).append(record)
        for section, part in sorted(parts, key=lambda place: (SECTIONS.index(place[0]), place[1] != "")):
            with formatter.section(section.capitalize() + (f", {part}" if part else "")):
                formatter.write_dl(parts[section, part], col_max=column)

    def format_epilog(self, ctx, formatter):
        if not ctx.meta.get(HELP_ALL):
            kinds = f", or with {', '.join(DATA[:-1])} or {DATA[-1]} for your data" * (len(self.reads) != 1)
            formatter.write_paragraph()
            formatter.write_text(f"More: '{ctx.command_path} --help-all'{kinds}.")


def command(short_help, takes=lambda item: True, reads=DATA):
    """Make a function a `GroupedCommand`, by default with all options of sources and of `TrainConfig`."""
    return click.command(cls=GroupedCommand, short_help=short_help, takes=takes, reads=reads)


def _check_flags(params, name):
    """Raise ConfigError if an option or source, as of a plug-in, has the name of another one of the command `name`."""
    taken = set()
    for param in params:
        called = {param.name, *param.opts, *param.secondary_opts}
        if called & taken:
            which = f"{param.opts[0]}, which {name} has already"
            raise ConfigError(f"the plug-in's {param.name!r} would be {which}; choose another name")
        taken |= called


def _show_all(ctx, param, value):
    if value:
        ctx.meta[HELP_ALL] = value
        click.echo(ctx.get_help(), color=ctx.color)
        ctx.exit()


def _load_plugins(ctx, args):
    """Load the plug-ins that the command line names before and after the command; return them all (str), or None.

    Without any, load those named in option files: that of ``--config``, and RUNs.
    """
    parser = ArgumentParser(add_help=False, allow_abbrev=False)
    for flag in ("--plugin", "--config"):
        parser.add_argument(flag, nargs="?", action="append", default=[])
    named, others = parser.parse_known_args(args)
    above = ctx.find_root().params.get("plugin", ()) if ctx.parent else ()
    plugins = [",".join(filter(None, [*above, *named.plugin]))]
    runs = [one for one in others if one.endswith(".toml")] if ctx.command.name == "compare" else []
    for path in filter(None, [*(named.config[-1:] if plugins == [""] else ()), *runs]):
        with suppress(W2vnegError):  # errors in the file are reported when it is read again
            plugins.append(said_in(path).get("plugin"))
    if any(plugins):
        from ..objectives.plugins import load_plugins

        for one in plugins:
            load_plugins(one)
    return plugins[0] or None


def _data_of(kind):
    """Return which of `DATA` a source reads (str), with its options at their defaults."""
    given = SimpleNamespace(files=(), **{name: item.default for name, item in options_of(kind).items()})
    return TRAVERSALS[SOURCES[kind].traversal(given)].kind


def _input_params(data):
    kinds = [kind for kind in SOURCES if _data_of(kind) in data]
    kinds.sort(key=lambda kind: (DATA.index(_data_of(kind)), -len(options_of(kind))))
    made, items = [], {}
    for kind in kinds:
        source = SOURCES[kind]
        about = {"metavar": source.metavar, "help": source.help + " May be repeated." * source.repeatable}
        flag = f"--{kind.replace('_', '-')}"
        made.append(Option([flag, kind], section="data", kinds=(_data_of(kind),), multiple=True, **about))
        items |= {name: item for name, item in options_of(kind).items() if name not in items}
    return made + [_option_of_sources(item, kinds) for item in items.values()]


def _option_of_sources(item, kinds):
    names = [name for name in readers_of(item.name) if name in kinds]
    limits, kind = item.metadata["limits"], kind_of(item)
    part = f"--{names[0]}" if len(names) == 1 else "several sources"
    rest = {"kinds": {_data_of(name) for name in names}, "multiple": item.metadata["files"], "is_flag": kind is bool}
    if kind is int:
        rest["type"] = click.IntRange(limits["at_least"], limits["at_most"])
    return _option(item, "data", part, [f"--{name}" for name in names], item.metadata["default_text"], rest)


def declared_flags(item):
    """Return the flags of a field as click takes them: ``--name``, for a bool ``--name/--no-name``."""
    flag = flag_of(item)
    return f"{flag}/--{off_of(item)}" if kind_of(item) is bool and off_of(item) else flag


def _option_of_config(item):
    from ..objectives.inputs import INPUTS

    about, readers = item.metadata, item.metadata["readers"]
    rest = {"is_flag": False, "flag_value": about["flag_value"]} if about["flag_value"] else {}
    if "source" in readers:
        rest["kinds"] = {TRAVERSALS[name].kind for name in readers["source"]}
    elif "inputs" in readers and all(INPUTS[name].of_text for name in readers["inputs"]):
        rest["kinds"] = {"text"}
    return _option(item, *place_of(item), [name for names in readers.values() for name in names], shown(item), rest)


def _option(item, section, part, readers, default, rest):
    """Return the click option of a field; a single reader is omitted, as it is in the heading."""
    about, kind = item.metadata, kind_of(item)
    texts = {
        "help": about["help"],
        "common": about["common"],
        "metavar": about["metavar"] or "|".join(about["choices"] or ()),
        "readers": f"for {', '.join(readers)}" if len(readers) > 1 else "",
        "default_text": None if default == "none" and not about["choices"] else default,
        "type": None if kind is bool else kind,
    }
    return Option([declared_flags(item), item.name], section=section, part=part, default=None, **texts | rest)


def place_of(item):
    """Return the section of an option of `TrainConfig`, and its part: the plugs that read it ("" for none)."""
    readers = item.metadata["readers"]
    if not readers:
        group = item.metadata["group"]
        return _PLACES.get(group, (group, ""))
    kind, names = next(iter(readers.items()))
    if kind == "source":
        return "model", f"{next(iter(names))} only" if len(names) == 1 else "contexts"
    return _PLUGS[kind], f"{kind} {next(iter(names))}" if len(names) == 1 else f"several {_PLURALS[kind]}"


def shown(item):
    """Return a field's default as the help prints it; for a bool, the flag."""
    from ..config.table import shown_default

    about = item.metadata
    if kind_of(item) is bool and about["default_text"] is None and not about.get("readers") and off_of(item):
        return flag_of(item, item.default)
    return shown_default(item)


def read_config(path, given, trains=True):
    """Build a TrainConfig from a TOML file (or None) and explicit options, which win; trains : as for `options_in`."""
    from ..config import TrainConfig

    values = {}
    if path is not None:
        values = options_in(path, trains)
        TrainConfig.from_mapping(values, path)  # errors in the file are reported with its name
    return TrainConfig.from_mapping(values | {name: value for name, value in given.items() if value is not None})


def options_in(path, trains=True):
    """Return the options of `TrainConfig` that a TOML file names, as written there (dict).

    trains : bool, whether a run starts with them; then ConfigError if they are of a run that updated a model
    """
    from ..config.table import table

    said = said_in(path)
    if trains and "update" in said:
        raise ConfigError(_of_update(path, said))
    values = {name: value for name, value in said.items() if not (name in (*_OF_RUN, "update") or of_data(name))}
    for name, value in values.items():
        kind = {int: "whole number", float: "number"}.get(kind_of(table()[name])) if name in table() else None
        if kind and isinstance(value, list):
            raise ConfigError(f"{path}: {name} is one {kind}, not {value!r}; 'w2vneg tune --grid' tries several")
    return values


def _of_update(path, said):
    """Return why the file of an update is refused (str), with the command that repeats it if a folder is named."""
    former, kind = said["update"], next((kind for kind in SOURCES if kind in said), "corpus")
    files = [said[kind]] if isinstance(said.get(kind), str) else said.get(kind) or ["-"]
    files = [shlex.quote(str(file)) if file != "-" else "FILE" for file in files]
    data = " ".join(f"--{kind} {file}" for file in files)
    again = f"w2vneg train --update {shlex.quote(str(former))} {data} --save-model DIR, with the same options"
    remedy = f"type {again}, or " * bool(former) + "leave update out of the file"
    return f"{path}: this run updated {former or 'a model in memory'}, and --config starts a new run; {remedy}"


def said_in(path):
    """Return the top-level names and values of a TOML file (dict); InputError also for a pipe, as it is read twice."""
    check_regular(path)
    values = parse_toml(read_text(path, errors="surrogateescape"), path)
    if nested := [name for name, value in values.items() if isinstance(value, dict)]:
        raise ConfigError(f"{path}: options belong at the top level, not in a table like [{nested[0]}]")
    for name in values:
        if "-" in name and (other := name.replace("-", "_")) in values:
            raise ConfigError(f"{path}: {name} and {other} are the same option; leave one out")
    return {name.replace("-", "_"): value for name, value in values.items()}


def file_of_run(place):
    """Return the path of a run's option file: `place` itself, or run.toml of a model folder (str)."""
    return os.path.join(place, "run.toml") if os.path.isdir(place) else place


def _take_run_options(context):
    """Set options of a command from what the file of ``--config`` says about the run; the command line wins.

    A command that compares runs takes them from the first run.
    """
    path = context.params.get("config_path") or next(map(file_of_run, context.params.get("runs", ())), None)
    if path is None or context.params.get("resume") or context.params.get("update"):  # these two refuse it
        return
    context.params |= options_of_run(context, path)


def on_the_command_line(context):
    """Return the options that the command line names (dict of name -> value)."""
    named = lambda name: context.get_parameter_source(name) is ParameterSource.COMMANDLINE  # noqa: E731
    return {name: value for name, value in context.params.items() if named(name)}


def options_of_run(context, path):
    """Return a file's values for the options of a command that the command line leaves open (dict).

    If the command line names another kind of source than the file, the file's source and its options are ignored.
    ConfigError if an option does not take the value.
    """
    given, said, found = on_the_command_line(context), said_in(path), {}
    left_out = {"valid", "valid_exclude_known"} if "on" in given else set()
    other_data = "on" in given or any(kind in given and kind not in said for kind in SOURCES)
    own = {param.name: param for param in context.command.get_params(context)}
    for name, value in said.items():
        wanted = not other_data if of_data(name) else name in _OF_RUN
        if not wanted or name not in own or name in given or name in left_out:
            continue
        try:
            found[name] = own[name].type_cast_value(context, _fitting(own[name], value))
        except click.BadParameter as error:
            raise ConfigError(f"{path}: {name}: {error.message}") from error
        if name in ("vocab", "vocab_out"):
            found[name] = _beside(path, name, value)
    return found


def _beside(path, name, place):
    """Return the path of a vocabulary that a model folder's own file names: beside it, if the folder has moved.

    path : str, of the file; place : str, as named there, a bare name if the folder is portable
    """
    file = f"{name}.tsv"
    own, bare = os.path.join(os.path.dirname(path), file), place == file
    moved = os.path.basename(place) == file and (bare or not os.path.exists(place))
    of_model = os.path.exists(os.path.join(os.path.dirname(path), "config.json"))
    return own if moved and of_model and os.path.exists(own) else place


def refuse_beginning(place, command):
    """Raise ConfigError if an option file, or that of a model folder, starts from vectors, as `command` does not."""
    said = said_in(path := file_of_run(place))
    if name := next((name for name in ("init", "freeze") if said.get(name)), None):
        begun = f"--init {said['init']}" if name == "init" else "--freeze"
        remedy = f"name a copy of {path} without init and freeze"
        raise ConfigError(f"{place} uses {begun}, which {command} does not support; {remedy}")


def of_data(name):
    return name in SOURCES or bool(readers_of(name))


def _fitting(param, value):
    """Return a value for click to convert, a list for a repeatable option; BadParameter if it is of another kind."""
    values = value if isinstance(value, list) and param.multiple else [value]
    if not values:
        flag = f"--{param.name.replace('_', '-')}"
        raise click.BadParameter(f"the list is empty; name something for {flag}, or leave it out")
    whole = isinstance(param.type, click.types.IntParamType)
    kind = bool if param.is_flag else str if param.type is click.STRING else int if whole else (int, float)
    if any(not isinstance(one, kind) or (isinstance(one, bool) and kind is not bool) for one in values):
        takes = {bool: "true or false", str: "text", int: "a whole number"}.get(kind, "a number")
        takes += ", or several in a list" if param.multiple else ", one alone" * isinstance(value, list)
        raise click.BadParameter(f"{value!r} is not what --{param.name.replace('_', '-')} takes: {takes}")
    return values if param.multiple else value
