"""``python -m studies``: tables and figures of the papers, made again."""

import subprocess
import time
from contextlib import closing
from pathlib import Path

import click

from w2vneg.cli import main
from w2vneg.cli.tables import hanging

ALL, PAGE = "all", "page"


@click.command()
@click.argument("name", required=False)
@click.option(
    "--out", metavar="DIR", help="Write NAME.md, a CSV for each table, a PNG for each figure and README.md here."
)
@click.option("--quick", is_flag=True, help="The same in small, within seconds.")
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Seed of every random choice.")
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Trials at once, a process each.",
)
@click.option("--commit", metavar="TEXT", help="What made the results; git's word for the checkout unless given.")
def studies(name, out, quick, seed, jobs, commit):
    """Make a table or figure of the papers again; without NAME list what there is.

    Prints what was done and what came out, beside the paper's figures, as Markdown. Figures need matplotlib (the extra
    'plot'); without it there are the tables alone. The list says about how many minutes of one core each study takes.
    A study that was interrupted goes on with the trials that are done in --out DIR.

    NAME all makes what is missing in --out DIR, one study after the other, and the page of claims after each:
    DIR/README.md. What is there of the same code, seed and size is left as it is. Several processes may do so at once:
    each passes over what another one is making. NAME page writes the page of claims alone.
    """
    from . import STUDIES
    from .memo import Memo
    from .results import Results, markdown
    from .site import listing, write_summary

    commit = commit or _commit()
    results = None if out is None else Results(out, seed, quick, jobs, commit)
    if name is None:
        click.echo(_list(listing(results)))
    elif name in (ALL, PAGE):
        _make_all(results, name == ALL)
    elif results is None:
        with closing(Memo(jobs=jobs, commit=commit)) as memo:
            click.echo(markdown(name, STUDIES[name](_emit, quick, seed, memo)))
    else:
        STUDIES[name]  # a name that is none is refused before anything is written
        results.prepare()
        done = _made_and_kept(results, name)
        write_summary(results, {})
        click.echo(markdown(name, done))


def _emit(line):
    click.echo(line, err=True)


def _commit():
    """Return git's word for the checkout, empty where there is none."""
    command = ["git", "describe", "--always", "--dirty", "--exclude", "*"]
    try:
        found = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return found.stdout.strip()


def _made_and_kept(results, name):
    """Run a study and write its files, while no other process does; return the Study."""
    from . import STUDIES

    with results.owned(name), closing(results.memo(name)) as memo:
        begun = time.perf_counter()
        done = STUDIES[name](_emit, results.quick, results.seed, memo)
        seconds = max(memo.seconds, time.perf_counter() - begun)
        _keep(results, name, done, seconds, sorted(memo.commits or {results.commit}))
    return done


def _keep(results, name, done, seconds, commits):
    """Write a study's files."""
    from w2vneg.ground.errors import MissingExtraError
    from w2vneg.look.figures.still import as_bytes, drawn

    try:
        images = {title: as_bytes(drawn(draw)) for title, draw in done.figures.items()}
    except MissingExtraError as error:
        _emit(f"No figures, only tables: {error}")
        images = {}
    for path in results.write(name, done, images, seconds, commits):
        _emit(f"Wrote {path}.")


def _make_all(results, run):
    """Run every study that is not done, and write the page of claims after each; without `run` the page alone."""
    from w2vneg.ground.errors import ConfigError, W2vnegError

    from .results import DONE
    from .site import names_in_order, write_summary

    if results is None:
        raise ConfigError("python -m studies all keeps what it makes; add --out DIR")
    results.prepare()
    failures = {}
    for name in names_in_order() if run else ():
        if results.status(name) == DONE:
            continue
        _emit(f"{name} …")
        try:
            _made_and_kept(results, name)
        except W2vnegError as error:
            failures[name] = str(error)
            _emit(f"{name}: {error}")
        write_summary(results, failures)
    _emit(f"Wrote {write_summary(results, failures)}.")
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
