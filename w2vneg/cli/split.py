"""``w2vneg split``: from data to training, validation and test pairs."""

import os
from dataclasses import asdict

import click

from .. import __version__
from ..data.inputs import settled
from ..data.sources import SOURCES
from ..ground.errors import ConfigError
from .flags import encode, files_of, input_of, refuse_overwriting, taken
from .options import command, mirror_option, option, quiet_or_json
from .progress import note, noter
from .tables import echo_json, table

_CONFIG = ("window", "ordered", "min_count", "max_vocab", "encoding", "lowercase", "seed")
_MANY = 2 * 10**9  # pairs, about a minute


@command("Split data into training, validation and test pairs.", takes=_CONFIG)
@option(
    "--by",
    "Unit to split by: pair, user or time. A user is also a basket or a line; time holds out the end.",
    type=click.Choice(["pair", "user", "time"]),
    default="pair",
    section="split",
)
@option("--train", "Training share.", type=float, default=0.7, section="split")
@option("--valid", "Validation share; 0 for none.", type=float, default=0.1, section="split")
@option("--test", "Test share; 0 for none.", type=float, default=0.2, section="split")
@option("--last K", "By time: test on each user's last K items. The K before validate.", type=int, section="split")
@option(
    "--until TIME",
    "By time: train up to TIME, test on what is later. Given twice, validate in between.",
    multiple=True,
    section="split",
)
@mirror_option
@option("--out DIR", "Folder of the parts. It gets train.tsv, valid.tsv, test.tsv and manifest.json.", required=True)
@quiet_or_json
def split(out, by, mirror, quiet, as_json, **given):
    """Split data into training, validation and test pairs that do not leak into one another.

    A pair is two words within --window, or any two items of a basket or history. It counts in both directions, or
    with --ordered only from first to later, weighted by how often it occurs.

    By pair: a held-out pair is not trained on in that direction. No pair of train.tsv is an answer, so leave them out
    of rankings: 'eval ranking --exclude-known', 'train --valid-exclude-known'. Edges are split in both directions at
    once, unless --directed. By user: no user, basket or line is in two parts. With --rectangular, four fifths of the
    items of each held-out user go to valid-shown.tsv and test-shown.tsv, for 'eval ranking --fold-in'. By time: the end
    of each history is held out, or of the file for baskets and text; --last and --until replace the shares.
    """
    ends = _ends({name: given.pop(name) for name in ("train", "valid", "test", "last", "until")})
    values, source = taken(given, _CONFIG), input_of(given)
    from ..config import TrainConfig
    from ..data.splitfiles import check_place, source_facts, write_split
    from ..data.splits import check_way, split_data
    from ..kernels.cooccurrence import count_pairs

    # options that the source does not use are refused
    config = TrainConfig.from_mapping(values | {"source": source.source}).resolved()
    idle = next((name for name in ("window", "ordered") if source.traversal.paired and values.get(name)), None)
    if idle:  # of walks
        raise ConfigError(f"--{idle} defines pairs, and --{source.kind} are pairs already; leave it out")
    source = settled(source, config.encoding, mirror)
    check_way(by, source.kind, source.rectangular, source.time_col is not None, ends)
    check_place(out)
    former = f"; they replace the former split in {out}" if os.path.isdir(out) and os.listdir(out) else ""
    source = source.located(mirror)
    files = files_of(source)
    refuse_overwriting("--out", out, files)
    note = noter(quiet)
    data = encode(config, source, quiet, first=by == "time" and SOURCES[source.kind].timed)
    own = config.as_dict()
    if not source.traversal.paired and (n_pairs := count_pairs(data.offsets, own["window"])) > _MANY:
        note(f"{n_pairs / 1e9:,.0f} billion pairs to process, which takes minutes; --max-history would limit them.")
    ordered = bool(own["ordered"])
    parts = split_data(data, by, ends, config.seed, kind=source.kind, window=own["window"], ordered=ordered)
    about_pairs = dict.fromkeys(("window", "ordered")) if source.traversal.paired else {}
    options = {"by": by, **asdict(ends), **{name: own[name] for name in ("seed", *_CONFIG[:-1])}, **about_pairs}
    facts = {"items": len(data.vocab)}
    if not source.traversal.paired:
        facts |= {"users": data.n_sentences, "occurrences": len(data)}
    elif data.vocab_out is not data.vocab:
        facts = {"users": len(data.vocab), "items": len(data.vocab_out)}
    if parts.repeats:
        facts["repeats"] = parts.repeats
        rows = "row that repeats" if parts.repeats == 1 else "rows that repeat"
        note(f"Left out: {parts.repeats:,} {rows} a pair of an earlier part.")
    about = {"w2vneg": __version__, "options": options, "input": source.as_dict(), "data": facts}
    about["sources"] = source_facts(files)
    manifest = write_split(out, parts, data.vocab, data.vocab_out, about)
    _warn_of_new(manifest)
    if as_json:
        echo_json(manifest, allow_nan=False)
    elif not quiet:
        _show(manifest)
        parts = manifest["parts"].values()
        files = [one["file"] for part in parts for one in (part, part.get("shown")) if one]
        note(f"Wrote {', '.join(files)} and manifest.json to {out}{former}.")


def _ends(given):
    """Return the end that is held out (`data.splits`); UsageError if options exclude each other."""
    from ..data.splits import PARTS, Last, Shares, Until, moment

    if given["last"] is None and not given["until"]:
        ends = Shares(*(given[name] for name in PARTS))
    else:
        flag = "--until" if given["last"] is None else "--last"
        source_of = click.get_current_context().get_parameter_source
        by_shares = [name for name in PARTS if source_of(name) is not click.core.ParameterSource.DEFAULT]
        if flag == "--last" and by_shares == ["valid"] and given["valid"] == 0:
            by_shares = []
        if by_shares or (given["last"] is not None and given["until"]):
            other = f"--{by_shares[0]}" if by_shares else "--until"
            raise click.UsageError(f"{flag} and {other} both set what is held out; give one of them")
        last = flag == "--last"
        ends = Last(given["last"], given["valid"] > 0) if last else Until(tuple(map(moment, given["until"])))
    ends.check()
    return ends


def _warn_of_new(manifest):
    for name, part in manifest["parts"].items():
        if not part.get("pairs_with_new"):
            continue
        n_new, n_pairs = part["new_items"] + part.get("new_users", 0), part["pairs_with_new"]
        names = f"1 name in {name}.tsv is" if n_new == 1 else f"{n_new:,} names in {name}.tsv are"
        share = n_pairs / part["pairs"]
        share = f"{share:.1%}" if share >= 0.001 else "under 0.1%"
        pairs = f"{n_pairs:,} {'pair' if n_pairs == 1 else 'pairs'} of {part['pairs']:,} ({share})"
        has = f"{'has' if n_pairs == 1 else 'have'} {'it' if n_new == 1 else 'one'}"
        note(f"Warning: {names} not in train.tsv; a model trained on train.tsv cannot rank the {pairs} that {has}.")


def _show(manifest):
    columns = ["pairs", "weight", "users", "items", "pairs_with_new", "pairs_with_new_centre"]
    parts, given = manifest["parts"], manifest["input"]
    columns = [column for column in columns if any(column in part for part in parts.values())]
    headings = {"users": SOURCES[given["kind"]].unit}
    if given.get("rectangular"):
        headings = {"pairs_with_new_centre": "pairs with new user"}
    rows = [("part", *(headings.get(column, column).replace("_", " ") for column in columns))]
    for name, part in parts.items():
        rows.append((name, *(_figure(part[column]) if column in part else "" for column in columns)))
    click.echo(table(rows))


def _figure(number):
    return f"{number:,.3f}".rstrip("0").rstrip(".") if isinstance(number, float) else f"{number:,}"
