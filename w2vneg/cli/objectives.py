"""`w2vneg objectives`: list the plugs and presets, or explain one."""

import dataclasses
import re
import sys
from importlib.resources import files

import click

from .. import __version__
from ..ground.errors import ConfigError, UnknownNameError, did_you_mean
from ..ground.option import flag_of, options_of, range_of
from ..objectives.presets import PRESETS
from .options import command, declared_flags, json_option, option, shown
from .tables import echo_json, hanging

_KINDS = {  # kind -> plural, heading
    "loss": ("losses", "Losses: the gradient of the positive and its negatives (--loss)"),
    "sampler": ("samplers", "Samplers: which negatives are drawn (--sampler)"),
    "weigher": ("weighers", "Weighers: how much each negative counts (--weigher)"),
    "inputs": ("inputs", "Inputs: which rows make the vector that is compared with the targets (--inputs)"),
    "source": ("sources", "Sources: what data are read (--corpus, --pairs, ...)"),
    "readout": ("readouts", "Read-outs: how vectors are made from the two matrices (--readout)"),
    "preset": ("presets", "Presets: objectives under the names of the papers (--loss)"),
}
_FOOTER = """RS: Tanielian and Vasile 2019. CIS: Partially Mutual Exclusive Softmax. CSS: Botev, Zheng and Barber 2017.
kernel: Blanc and Rendle 2018. notes: notes on noise contrastive estimation.
w2vneg objectives NAME explains one."""
_TOLD = ("sampler", "weigher", "negatives", "exclude", "noise_exponent")  # shown for every preset
_CHECKED = ("loss", "sampler", "weigher", "inputs")


@command(
    "List or explain losses, samplers, presets and other plugs.",
    takes=lambda item: any(kind in item.metadata["readers"] for kind in _CHECKED),
    reads=(),
)
@click.argument("name", required=False)
@option("--plugin NAME|FILE", "Import a module or file first and list what it adds.", expose_value=False)
@option("--check", "Check NAME's gradients and draws; exit 1 if wrong.")
@option("--bibtex", "Print BibTeX of the papers, and of w2vneg.")
@json_option
def objectives(name, check, bibtex, as_json, **given):
    """List losses, samplers, weighers, inputs, sources, read-outs and presets, or explain one.

    A loss, a sampler and a weigher make an objective. A preset names three that belong together; explicit options
    win. With NAME: formula, options, needs, cost and when to use it.

    --check compares a loss's gradient with finite differences, a sampler's draws with its probabilities, and what
    inputs use with what they declare. Options of NAME may be given too.
    """
    if check and name is None:
        raise click.UsageError("--check needs the NAME of what to check")
    given = {option: value for option, value in given.items() if value is not None}
    if given and not check:
        raise click.UsageError(f"{_flags(given)}: options are for --check, which tries NAME with them")
    entries = _entries()
    if name is not None:
        names = sorted({entry["name"] for entry in entries})
        entries = [entry for entry in entries if entry["name"] == name]
        if not entries:
            raise UnknownNameError(_unknown(name, names))
    if check:
        return _check(name, entries, given, as_json)
    if bibtex:
        fields = {"title": "w2vneg", "author": "{The w2vneg authors}", "version": __version__}
        lines = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items())
        return click.echo("\n\n".join([*_papers(entries), f"@software{{w2vneg,\n{lines}\n}}"]))
    if as_json:
        echo_json({name: [entry for entry in entries if entry["kind"] == kind] for kind, (name, _) in _KINDS.items()})
    elif name is not None:
        click.echo("\n\n".join(_explanation(entry) for entry in entries))
    else:
        click.echo(_list(entries))


def _unknown(name, names):
    if name == "slim":
        return "slim is not part of an objective but a command, 'w2vneg slim' (Ning and Karypis 2011; Steck 2019)"
    hint = f"{did_you_mean(name, names, shown=0)} 'w2vneg objectives' lists them all."
    return f"no loss, sampler, weigher, inputs, source, read-out or preset is called {name!r}{hint}"


def _check(name, entries, given, as_json):
    """Check the plugs called `name`, or those of a preset, with the options of `given` that they read; print it."""
    from ..config import TrainConfig
    from ..config.table import options_read
    from ..run.checks import check_plug

    plugs = [(entry["kind"], entry["name"]) for entry in entries if entry["kind"] in _CHECKED]
    if not plugs and any(entry["kind"] == "preset" for entry in entries):
        config = TrainConfig(loss=name).resolved()
        plugs = [(kind, getattr(config, kind).name) for kind in _CHECKED if getattr(config, kind) is not None]
    own = {plug: {option: given[option] for option in options_read(*plug) if option in given} for plug in plugs}
    if unread := given.keys() - {option for options in own.values() for option in options}:
        raise ConfigError(f"{_flags(unread)} has no effect with {name}; 'w2vneg objectives {name}' lists its options")
    rows = []
    for (kind, plug), options in own.items():
        rows += [{"kind": kind, "name": plug, **dataclasses.asdict(one)} for one in check_plug(kind, plug, options)]
    if as_json:
        echo_json(rows)
    for row in [] if as_json else rows:
        verdict = "pass" if row["passed"] else "FAIL"
        click.echo(f"{verdict}  {row['kind']} {row['name']}: {row['what']}: {row['found']}")
    if not rows:
        click.echo(f"{name} has nothing that can be checked.", err=True)
    if not all(row["passed"] for row in rows):
        sys.exit(1)


_SHORT = {"RS": "tanielian2019", "CIS": "cis", "CSS": "botev2017", "kernel": "blanc2018"}


def _papers(entries):
    cited = "; ".join(entry["paper"] for entry in entries)
    begun = {_SHORT[short] for short in re.findall(r"\b(RS|CIS|CSS|kernel) (?:eq|§|algorithm)", cited)}
    begun |= {f"{first.lower()}{year}" for first, year in re.findall(r"([A-Z]\w+)(?: and \w+| et al\.) (\d{4})", cited)}
    text = files("w2vneg.objectives").joinpath("papers.bib").read_text("utf-8")
    papers = {re.search(r"\{(\w+),", paper)[1]: paper for paper in text.strip().split("\n\n")}
    return [paper for key, paper in papers.items() if key.startswith(tuple(begun))]


def _flags(names):
    return ", ".join("--" + option.replace("_", "-") for option in sorted(names))


def _entries():
    from ..objectives.plugins import REGISTRIES

    entries = [_plug(kind, name, registry[name]) for kind, registry in REGISTRIES.items() for name in registry]
    return entries + [_preset(name, preset) for name, preset in PRESETS.items()]


def _plug(kind, name, plug):
    from ..config.table import options_read, shown_default

    about = dict.fromkeys(("summary", "equation", "paper", "cost", "use"), "")
    if kind == "source":
        about["summary"], needs, flag, default = plug.help.rstrip("."), [], declared_flags, shown
    else:
        first, *_ = (plug.__doc__ or "no description").strip().splitlines()
        about |= {"summary": first.rstrip(".")} if plug.about is None else dataclasses.asdict(plug.about)
        needs, flag, default = _needs(kind, name, plug), flag_of, shown_default
    if kind == "readout":
        flag = lambda item: f"{name}:{item.name}="  # noqa: E731
    items = options_read(kind, name) if kind in _CHECKED else options_of(plug)
    options = [
        {"flag": flag(item), "help": item.metadata["help"], "default": default(item), "range": range_of(item)}
        for item in items.values()
    ]
    return {"kind": kind, "name": name, **about, "needs": needs, "options": options}


def _needs(kind, name, plug):
    """Return, as phrases, what a plug needs from others or offers them."""

    def states(trait):
        value = getattr(plug, trait, False)
        return "with some options, " if isinstance(value, property) else "" if value else None

    if kind == "sampler":
        return ["gives log q" if plug.gives_log_q else "gives no log q: not for plugs that need it"]
    if kind == "readout":
        facts = {
            "refines": f"follows another read-out: NAME+{name}",
            "one_kind": "rows and columns of one kind",
            "of_text": "words, not items",
            "needs_contexts": "the data, so it must be chosen when a run begins",
        }
        return [sentence for trait, sentence in facts.items() if getattr(plug, trait)]
    needs = {
        "needs_log_q": "needs log q of the negatives",
        "needs_positive_log_q": "needs log q of the positive",
        "needs_exclusion": "negatives must not be the positive (--exclude target, window or known)",
        "parameters": "trains rows of its own besides the vectors",
    }
    return [states(trait) + sentence for trait, sentence in needs.items() if states(trait) is not None]


def _preset(name, preset):
    from ..config import TrainConfig
    from ..config.table import table
    from ..objectives.losses import LOSSES

    values, own = (TrainConfig(loss=called).resolved().as_dict() for called in (name, preset.loss))
    flags = [f"--loss {preset.loss}"]
    for key, item in table().items():
        value = values[key]
        chosen = key in _TOLD or key in preset.values or key in preset.of_text
        if key in ("share_negatives", "alpha"):  # shown if the loss's own name would imply another value
            chosen = value != own[key]
        if not chosen or value is None:
            continue
        plain = f"{value:g}" if isinstance(value, float) else str(value)
        flags.append(flag_of(item, value) if isinstance(value, bool) else f"{flag_of(item)} {plain}")
    on_text, on_items = values["alpha"], TrainConfig(loss=name, source="pairs").resolved().alpha
    alpha = f"{on_text:g}" if on_text == on_items else f"{on_text:g} for text, {on_items:g} for items"
    about = LOSSES[preset.loss].about
    return {
        "kind": "preset",
        "name": name,
        "summary": preset.summary,
        "equation": preset.equation or ("" if about is None else about.equation),
        "paper": preset.paper,
        "same_as": " ".join(flags),
        "alpha": f"{alpha}; half for graphs, twice for CBOW",
        "note": preset.note,
    }


def _list(entries):
    blocks = []
    width = max(len(entry["name"]) for entry in entries) + 2
    for kind, (_, heading) in _KINDS.items():
        lines = [hanging("", heading)]
        for entry in entries:
            if entry["kind"] == kind:
                summary = ";  ".join(part for part in (entry["summary"], entry["equation"]) if part)
                paper = f"  [{entry['paper']}]" if entry["paper"] else ""
                lines.append(hanging(f"  {entry['name'].ljust(width)}", summary + paper))
        blocks.append("\n".join(lines))
    return "\n\n".join([*blocks, "\n".join(hanging("", line) for line in _FOOTER.splitlines())])


def _explanation(entry):
    lines = [hanging(f"{entry['name']} ({entry['kind']}): ", entry["summary"])]
    facts = {"formula": entry["equation"], "same as": entry.get("same_as")} | entry
    facts["log q" if entry["kind"] == "sampler" else "needs"] = "; ".join(entry.get("needs", ()))
    labels = ("formula", "paper", "same as", "alpha", "log q", "needs", "cost", "use", "note")
    parts = [(label, facts.get(label)) for label in labels if isinstance(facts.get(label), str)]
    for number, one in enumerate(entry.get("options", ())):
        about = "; ".join(part for part in (f"default: {one['default']}", one["range"]) if part)
        parts.append(("" if number else "options", f"{one['flag']}: {one['help']} [{about}]"))
    lines += [hanging(f"  {label:<9}", text) for label, text in parts if text]
    return "\n".join(lines)
