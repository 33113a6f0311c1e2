"""``w2vneg data``: named data, where they are, and how to get them."""

import os
from dataclasses import asdict

import click

from ..data import catalog
from .options import json_option, mirror_option
from .tables import echo_json, hanging

_HERE = {"gensim": "yes, with gensim", "damaged": "DAMAGED", "made on first use": "made on first use", "absent": "no"}


@click.group()
def data():
    """List, describe or fetch named corpora and evaluation sets."""


@data.command("list")
@mirror_option
@json_option
def list_(mirror, as_json):
    """List the named data and which are on this machine.

    Nothing is downloaded.
    """
    rows = []
    for name in catalog.names():
        dataset, (status, path) = catalog.info(name), catalog.where(name, mirror)
        about = {"name": name, "kind": dataset.kind, "status": status, "path": path and str(path)}
        rows.append(about | {"licence": dataset.licence, "title": dataset.title})
    if as_json:
        return echo_json(rows)
    lines = [("NAME", "KIND", "HERE", "LICENCE")]
    lines += [(row["name"], row["kind"], _here(row["status"]), row["licence"]) for row in rows]
    widths = [max(len(line[column]) for line in lines) for column in range(3)]
    for line in lines:
        cells = [cell.ljust(width) for cell, width in zip(line, widths, strict=False)]
        click.echo(hanging("  ".join([*cells, ""]), line[3]))


@data.command("info")
@click.argument("name")
@mirror_option
@json_option
def info_(name, mirror, as_json):
    """Describe NAME: file, checksum, licence, search order."""
    dataset, (status, path) = catalog.info(name), catalog.where(name, mirror)
    facts = asdict(dataset) | {"status": status, "path": path and str(path)}
    facts |= {"cache_place": str(catalog.cache_place(name)), "resolution_order": _order(dataset, mirror)}
    if as_json:
        return echo_json(facts)
    click.echo(hanging(f"{dataset.name}: ", dataset.title))
    for label, value in _shown(dataset, status, path, facts["cache_place"]):
        click.echo(hanging(f"  {label + ':':<12} ", str(value)))
    click.echo("  searched in this order:")
    for number, place in enumerate(facts["resolution_order"], 1):
        click.echo(hanging(f"    {number}. ", place))


@data.command("fetch")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@mirror_option
def fetch_(names, mirror):
    """Download each NAME, verify it, and print where it is.

    Existing files are kept; those of a mirror folder are copied into the cache.
    """
    for name in names:
        catalog.info(name)  # a misspelt last name should be detected before a long download of the first
    for name in names:
        click.echo(f"{name}: {catalog.fetch(name, mirror)}")


def _here(status):
    return _HERE.get(status, f"yes, {status}")


def _shown(dataset, status, path, cache_place):
    yield "kind", dataset.kind
    yield "here", _here(status) + (f" ({path})" if path else "")
    if dataset.made_here:
        yield "kept at", cache_place
    else:
        yield "file", f"{dataset.file}, {dataset.size:,} bytes"
        yield ("sha256", dataset.sha256) if dataset.sha256 else ("md5", dataset.md5)
        inside = f" ({dataset.member} inside it)" if dataset.member else ""
        yield "address", f"{dataset.url}{inside}" if dataset.url else "none has this file ready-made"
        yield "cache place", cache_place
    for label in ("homepage", "licence", "citation", "notes"):
        if getattr(dataset, label):
            yield label, getattr(dataset, label)
    if dataset.tags:
        yield "tags", "each word carries a part-of-speech tag, removed on reading"


def _order(dataset, mirror):
    own, kept = f"a file called {dataset.name}", catalog.cache_place(dataset.name)
    if dataset.made_here:
        return [own, str(kept), "made from the sources of Python and of packages"]
    mirror = mirror or os.environ.get("W2VNEG_MIRROR")
    folder = os.environ.get("W2VNEG_DATA") or "W2VNEG_DATA is not set"
    places = [own, f"the data folder: {folder}, data/ and eval_sets/", f"the cache: {kept}"]
    if dataset.gensim_copy:
        places.append(f"gensim's copy: gensim/test/test_data/{dataset.gensim_copy}")
    places.append(f"the mirror: {mirror or 'none is set'}, {dataset.mirror} in it")
    places.append(f"the official address: {dataset.url or 'none'}")
    return places
