"""``python -m studies``: tables and figures of the papers, made again."""

import time

import click

from w2vneg.cli import main
from w2vneg.cli.tables import hanging

ALL = "all"


@click.command()
@click.argument("name", required=False)
@click.option("--out", metavar="DIR", help="Write NAME.md, a CSV for each table and a PNG for each figure here, too.")
@click.option("--quick", is_flag=True, help="The same in small, within seconds.")
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Seed of every random choice.")
def studies(name, out, quick, seed):
    """Make a table or figure of the papers again; without NAME list what there is.

    Prints what was done and what came out, beside the paper's figures, as Markdown. Figures need matplotlib (the extra
    'plot'); without it there are the tables alone. The list says about how many minutes of one core each study takes.

    NAME all makes what is missing in --out DIR, one study after the other, and a summary of all: DIR/index.md. What is
    there of the same version, seed and size is left as it is, and a study that was interrupted goes on. Several
    processes may do so at once: each passes over what another one is making.
    """
    from . import STUDIES
    from .results import Results, markdown
    from .site import listing

    results = None if out is None else Results(out, seed, quick)
    if name is None:
        click.echo(_list(listing(results)))
        return
    if name == ALL:
        _make_all(results)
        return
    STUDIES[name]  # a name that is none is refused before anything is written
    if results is None:
        done, _ = _made(name, quick, seed, None)
    else:
        results.prepare()
        done = _made_and_kept(results, name)
    click.echo(markdown(name, done))


def _made(name, quick, seed, memo):
    """Run a study; return (Study, seconds), with those of parts that were made before."""
    from . import run_study

    begun = time.perf_counter()
    done = run_study(name, lambda text: click.echo(text, err=True), quick, seed, memo)
    seconds = time.perf_counter() - begun
    return done, seconds if memo is None else max(seconds, memo.seconds)


def _made_and_kept(results, name):
    """Run a study and write its files, while no other process does; return the Study."""
    with results.owned(name):
        done, seconds = _made(name, results.quick, results.seed, results.memo(name))
        _keep(results, name, done, seconds)
    return done


def _keep(results, name, done, seconds):
    """Write a study's files."""
    from w2vneg.ground.errors import MissingExtraError
    from w2vneg.look.figures.still import as_bytes, drawn

    try:
        images = {title: as_bytes(drawn(draw)) for title, draw in done.figures.items()}
    except MissingExtraError as error:
        click.echo(f"No figures, only tables: {error}", err=True)
        images = {}
    for path in results.write(name, done, images, seconds):
        click.echo(f"Wrote {path}.", err=True)


def _make_all(results):
    """Run every study that is not done, and write the summary after each."""
    from w2vneg.ground.errors import ConfigError, W2vnegError

    from .results import DONE
    from .site import names_in_order, write_summary

    if results is None:
        raise ConfigError("python -m studies all keeps what it makes; add --out DIR")
    results.prepare()
    failures = {}
    for name in names_in_order():
        if results.status(name) == DONE:
            continue
        click.echo(f"{name} …", err=True)
        try:
            _made_and_kept(results, name)
        except W2vnegError as error:
            failures[name] = str(error)
            click.echo(f"{name}: {error}", err=True)
        write_summary(results, failures)
    click.echo(f"Wrote {write_summary(results, failures)}.", err=True)
    if failures:
        raise W2vnegError(f"{len(failures)} studies could not be run: {', '.join(failures)}")


def _list(rows):
    """Return the list of studies, grouped by paper."""
    from . import PAPERS

    widths = [max((len(row[place]) for row in rows), default=0) for place in range(6)]
    lines = []
    for paper, title in PAPERS.items():
        own = [row for row in rows if row[0] == paper]
        lines += [f"{paper}: {title}"] if own else []
        for _, shows, name, about, status, seconds, line in own:
            cells = [name.ljust(widths[2]), shows.ljust(widths[1]), about.rjust(widths[3]), status.ljust(widths[4])]
            cells.append(seconds.rjust(widths[5]))
            lines.append(hanging("".join(f"  {cell}" for cell in cells if cell) + "  ", line))
    return "\n".join(lines or ["No study is there yet."])


def run(arguments=None):
    """Run ``python -m studies ARGUMENTS…``; errors are messages, as in ``w2vneg``."""
    main(arguments, command=studies, name="python -m studies")


if __name__ == "__main__":
    run()
