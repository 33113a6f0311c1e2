"""``w2vneg cache``: what is in the cache folder, and how to clear it."""

import dataclasses

import click

from ..data.catalog import names_in_cache
from ..ground.files import caches
from .options import json_option
from .tables import echo_json, table


@click.group()
def cache():
    """Manage cached data, compiled code and downloads."""


@cache.command("list")
@json_option
def list_(as_json):
    """List what is cached, by kind, with sizes."""
    _show(caches.cached(caches.KINDS, names_in_cache()), as_json)


@cache.command("clear")
@click.argument("kinds", nargs=-1, metavar="[corpora|phrases|jit|data]…")
@json_option
def clear(kinds, as_json):
    """Clear the given kinds, or all but downloads.

    The next run encodes and compiles what it needs. Model folders and vectors are not in the cache.
    """
    found = caches.clear(kinds or caches.MADE_AGAIN, names_in_cache())
    _show(found, as_json)
    if not as_json:
        click.echo(f"Removed {sum(one.bytes for one in found) / 2**20:,.1f} MB.")
        for one in found:
            if one.others:
                shown = ", ".join(one.others[:3]) + ", …" * (len(one.others) > 3)
                click.echo(f"Kept in {one.path}, for w2vneg did not write them: {shown}.")


@cache.command("path")
@click.argument("kind", required=False, metavar="[corpora|phrases|jit|data]")
def path(kind):
    """Print the cache folder, or that of a kind."""
    click.echo(str(caches.path_of(kind) if kind else caches.cache_dir()))


def _show(found, as_json):
    if as_json:
        return echo_json([dataclasses.asdict(one) | {"path": str(one.path)} for one in found])
    rows = [[one.kind, f"{one.files:,}", f"{one.bytes / 2**20:,.1f} MB", one.what, str(one.path)] for one in found]
    click.echo(table([["kind", "files", "size", "what", "where"], *rows]))
