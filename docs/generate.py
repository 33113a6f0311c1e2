"""Write options.md, commands.md, api.md, and tables of other pages, from the code: ``python docs/generate.py``."""

import inspect
import re
from collections import Counter
from copy import copy
from pathlib import Path

import click

HERE = Path(__file__).parent

_API = {  # heading -> modules.names, as users import them
    "Train": ["Word2Vec", "Slim", "TrainConfig", "Input", "Validate"],
    "Vectors and words": ["Vectors", "Vocabulary"],
    "Errors": ["W2vnegError", "DivergenceError"],
}


def options_page():
    """Return docs/options.md (str): options of `w2vneg train`, by section, and those of what is read."""
    from w2vneg.cli.options import SECTIONS, place_of
    from w2vneg.config.table import options_of_users
    from w2vneg.data.sources import SOURCES, options_of, readers_of

    lines = [
        "# Options",
        "",
        "Options of training are flags of `w2vneg train`, keys of `--config FILE.toml`, keywords of `Word2Vec`",
        "and of `TrainConfig`, and names for `w2vneg tune --grid`. In Python and TOML write `_` for `-`.",
        "`w2vneg train --help-all` says the same; [commands](commands.md) has the flags of the command line alone.",
        "Made by `docs/generate.py`.",
        "",
        "## Options of training",
    ]
    fields = options_of_users()
    for section in SECTIONS:
        items = [item for item in fields if place_of(item)[0] == section]
        if items:
            lines += ["", f"### {section.capitalize()}", "", *_HEAD]
            lines += [_row(item, [n for names in item.metadata["readers"].values() for n in names]) for item in items]
    lines += ["", "## Options of what is read", "", "Flags of every command that reads data, and keywords of `Input`."]
    lines += ["", "| source | what it reads |", "|---|---|"]
    lines += [f"| `--{kind}` | {_cell(SOURCES[kind].help)} |" for kind in SOURCES]
    items = {}
    for kind in SOURCES:
        items |= {name: item for name, item in options_of(kind).items() if name not in items}
    lines += ["", *_HEAD]
    lines += [_row(item, [f"`--{kind}`" for kind in readers_of(item.name)]) for item in items.values()]
    return "\n".join(lines) + "\n"


_HEAD = ["| option | default | range | what it does |", "|---|---|---|---|"]


def _row(item, readers):
    from w2vneg.cli.options import declared_flags
    from w2vneg.config.table import shown_default
    from w2vneg.ground.option import kind_of

    about = item.metadata
    flags = ", ".join(f"`{flag}`" for flag in declared_flags(item).split("/"))
    text = about["help"] + (f" For {', '.join(readers)}." if readers else "")
    what = "path, or several" if about["files"] else _range({**about, "kind": kind_of(item)})
    return f"| {flags} | {_cell(shown_default(item))} | {_cell(what)} | {_cell(text)} |"


def _range(about):
    if about["choices"]:
        return ", ".join(about["choices"])
    words = {"at_least": "from", "above": "above", "below": "below", "at_most": "to"}
    parts = [f"{words[name]} {limit:g}" for name, limit in about["limits"].items() if limit is not None]
    kinds = {int: "whole number", float: "number", str: "text", bool: "yes or no"}
    return " ".join([kinds[about["kind"]], *parts])


_SHARED = 4  # commands with an option of the same help: the page has it once


def _flag_and_help(param):
    return param.opts[0], getattr(param, "help", None)


def commands_page():
    """Return docs/commands.md (str): the help of every command, without what options.md has or `train` has already."""
    from w2vneg.cli import cli
    from w2vneg.cli.options import HELP_ALL, GroupedCommand
    from w2vneg.config.table import table
    from w2vneg.data.sources import SOURCES, options_of
    from w2vneg.ground.option import flag_of

    known = {*SOURCES, *table(), "help_all"}
    known.update(name for kind in SOURCES for name in options_of(kind))
    of_train = set()  # what its flags say
    flags = Counter(_flag_and_help(param) for _, command in _commands(cli, "w2vneg") for param in command.params)
    shared = {pair for pair, times in flags.items() if times >= _SHARED and pair[1]}
    reading = {(flag_of(item), item.metadata["help"]) for kind in SOURCES for item in options_of(kind).values()}
    elsewhere = shared | reading
    lines = [
        "# Commands",
        "",
        "What `w2vneg COMMAND --help` says; of commands that train or read data, `--help-all`, without the",
        "[options](options.md) of training and of data. `-h` is `--help`. Made by `docs/generate.py`.",
        "Many commands share these:",
        "",
        "| option | what it does |",
        "|---|---|",
        *(f"| `{flag}` | {_cell(text)} |" for flag, text in sorted(shared)),
    ]
    for name, command in _commands(cli, "w2vneg"):
        context = click.Context(command, info_name=name, terminal_width=100, max_content_width=100)
        context.meta[HELP_ALL] = "all"
        shown, grouped = copy(command), isinstance(command, GroupedCommand)
        own = [param for param in command.get_params(context) if "--help" not in param.opts]
        if grouped:
            own = [param for param in own if param.name not in known and getattr(param, "help", "") not in of_train]
            of_train = of_train or {param.help for param in own}
        also = [param.opts[0] for param in own if _flag_and_help(param) in elsewhere]
        own = [param for param in own if _flag_and_help(param) not in elsewhere]
        shown.get_params = lambda context, own=own: own
        lines += ["", f"## {name}", "", "```", shown.get_help(context).rstrip(), "```"]
        lines += ["", f"Also {', '.join(f'`{flag}`' for flag in also)}."] if also else []
        if grouped:
            others = "" if command.name == "train" else "[train](#w2vneg-train) and "
            lines += ["", f"The rest is in {others}[options](options.md)."]
    return "\n".join(lines) + "\n"


def _commands(group, name):
    """Return (name, command) of all that a group holds, at any depth, groups before what is in them."""
    for own in group.list_commands(None):
        command = group.get_command(None, own)
        yield f"{name} {own}", command
        if isinstance(command, click.Group):
            yield from _commands(command, f"{name} {own}")


def _cell(text):
    return str(text).replace("|", "\\|")


_OWN = {"evaluate_similarity", "evaluate_analogy", "encode"}  # of what stands among gensim's names
_INNER = "foreign", "like", "located", "absolute", "as_dict", "from_dict", "of"  # of an Input or Validate, for runs


def api_page():
    """Return docs/api.md (str): public classes with their methods, from docstrings."""
    import w2vneg

    lines = [
        "# Python API",
        "",
        "Everything here is imported from `w2vneg`. Errors that a user can cause are `W2vnegError`s, with a",
        "message that names the remedy. Made by `docs/generate.py`.",
    ]
    for heading, names in _API.items():
        lines += ["", f"## {heading}"]
        for name in names:
            lines += ["", *_class(name, getattr(w2vneg, name))]
    lines += ["", "## Base classes of plugs", "", "From `w2vneg.objectives.plugs`; see [extending](extending.md)."]
    from w2vneg.objectives import plugs

    for name in ("Plug", "Loss", "Sampler", "Weigher", "Inputs"):
        lines += ["", *_traits(getattr(plugs, name))]
    return "\n".join(lines) + "\n"


def _class(name, cls):
    from w2vneg import Slim, Word2Vec
    from w2vneg.vectors import keyed

    signature = "" if issubclass(cls, BaseException) else _signature(cls.__init__)
    yield f"### {name}"
    yield ""
    yield f"```\n{name}{signature}\n\n{inspect.getdoc(cls)}\n```"
    gensims = vars(keyed.Keyed).keys() - _OWN if issubclass(cls, keyed.Keyed) else ()
    alike = dir(Word2Vec) if issubclass(cls, Slim) else ()  # methods that are shown already
    for method, value in _members(cls):
        if method in gensims or method in alike or (name in ("Input", "Validate") and method in _INNER):
            continue
        function = value.__func__ if isinstance(value, classmethod | staticmethod) else value
        if method.startswith("_") or not inspect.isfunction(function) or not function.__doc__:
            continue
        yield ""
        yield f"```\n{name}.{method}{_signature(function)}\n\n{inspect.getdoc(function)}\n```"
    if gensims:
        listed = ", ".join(f"`{one}`" for one in sorted(gensims) if not one.startswith("_"))
        yield ""
        yield f"As gensim's KeyedVectors have them, see `help({name})`: {listed}."


def _members(cls):
    """Return (name, value) of what a class has, its own first, then that of its bases in this package."""
    ours = [base for base in cls.__mro__ if base.__module__.split(".")[0] == "w2vneg"]
    return [pair for base in ours for pair in vars(base).items()]


def _signature(function):
    """Return a signature as one would write it: without `self`, quotes round annotations and module names."""
    text = str(inspect.signature(function))
    text = re.sub(r"(: |-> )'([^']*)'", r"\1\2", text).removesuffix(" -> None")
    text = re.sub(r"\bw2vneg\.[\w.]+\.(\w+)", r"\1", text)
    return re.sub(r"<function ([\w.]+) at 0x\w+>", r"\1", text).replace("(self, ", "(").replace("(self)", "()")


def _traits(cls):
    source = inspect.getsource(cls)
    yield f"### {cls.__name__}"
    yield ""
    yield (inspect.getdoc(cls) or "").replace("``", "`")
    yield ""
    yield "| trait | default | what it says |"
    yield "|---|---|---|"
    for name, default, text in re.findall(r"^    (\w+): .* = (.*)  # (.*(?:\n    # .*)*)", source, re.MULTILINE):
        text = text.replace("\n    #", "").replace("``", "`")
        yield f"| `{name}` | `{default}` | {_cell(text[0].upper() + text[1:])}. |"
    for name, value in vars(cls).items():
        function = value.__func__ if isinstance(value, classmethod) else value
        if inspect.isfunction(function) and not name.startswith("_") and name != "adopt":
            call = name + _signature(function).replace("(cls, ", "(").replace("(cls)", "()")
            yield f"| `{call}` | | {_first(function)} |"


def _first(function):
    return _cell((inspect.getdoc(function) or "").splitlines()[0]).replace("``", "`")


def formats():
    """Yield the rows of a table of what `export` writes."""
    from w2vneg.vectors.formats import FORMATS

    yield "| format | written for | holds | needs |"
    for name, one in sorted((name, FORMATS[name]) for name in FORMATS if FORMATS[name].write):
        names = ", ".join(f"`{suffix}`" for suffix in one.suffixes)
        where = names or ("a folder" if one.folder else f"any name, with `--format {name}`")
        yield f"| `{name}` | {where} | {_cell(one.holds)} | {one.extra and f'`{one.extra}`'} |"


def trackers():
    """Yield the rows of a table of what `--track` takes."""
    from w2vneg.look.tracking import TRACKERS

    yield "| tracker | keeps | needs |"
    for name in TRACKERS:
        one = TRACKERS[name]
        needs = f'`pip install "w2vneg[{one.extra}]"`' if one.extra else "nothing"
        yield f"| `{name}={one.where_to}` | {_cell(one.keeps)} | {needs} |"


def metrics_of(by_pair):
    """Return a function that yields the rows of a table of figures, of means over pairs or over centres."""

    def metrics():
        from w2vneg.vectors.evaluation import METRICS

        yield "| printed | `--metric` | definition |"
        for one in (METRICS[name] for name in METRICS if METRICS[name].by_pair == by_pair):
            chosen = one.chosen_as and f"`{one.full(one.chosen_as, 'K')}`"
            text = " ".join(inspect.getdoc(one.sums).split())
            yield f"| `{one.title.format(k='k')}` | {chosen} | {_cell(text)} |"

    return metrics


_TABLES = {"formats": formats, "trackers": trackers, "pairs": metrics_of(True), "centres": metrics_of(False)}


def _with_tables(page):
    """Return a function that returns a page as it is, but for the tables between its marks."""

    def table(found):
        head, *rows = _TABLES[found[1]]()
        rows = [head, "|---" * (head.count(" | ") + 1) + "|", *rows]
        return "\n".join([f"<!-- generated: {found[1]} -->", "", *rows, "", ""])

    def make():
        text = (HERE / page).read_text(encoding="utf-8")
        return re.sub(r"<!-- generated: (\w+) -->\n.*?(?=<!-- end -->)", table, text, flags=re.DOTALL)

    return make


PAGES = {"options.md": options_page, "commands.md": commands_page, "api.md": api_page}
PAGES |= {page: _with_tables(page) for page in ("formats.md", "ranking.md", "text.md")}

if __name__ == "__main__":
    for name, make in PAGES.items():
        (HERE / name).write_text(make(), encoding="utf-8")
