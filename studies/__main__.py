"""``python -m studies``: reproduce the papers' tables and figures."""

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
@click.option("--quick", is_flag=True, help="Run a small version, within seconds.")
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Seed of every random choice.")
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Trials to run in parallel, one process each.",
)
@click.option("--commit", metavar="TEXT", help="Code version to record; default: git describe.")
def studies(name, out, quick, seed, jobs, commit):
    """Reproduce a table or figure of the papers; without NAME, list all studies.

    Prints the method and the results, next to the paper's figures, as Markdown. Figures need matplotlib (extra
    'plot'); without it, only tables are written. The list shows about how many minutes each study takes on one core.
    An interrupted study resumes from the trials stored in --out DIR.

    NAME all runs the studies missing in --out DIR, one after another, and updates the page of claims, DIR/README.md,
    after each. Existing results of the same code, seed and size are kept. Several processes may do this at once: each
    skips the studies that another one is running. NAME page writes only the page of claims.
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
        STUDIES[name]  # fail on an unknown name before anything is written
        results.prepare()
        done = _made_and_kept(results, name)
        write_summary(results, {})
        click.echo(markdown(name, done))


def _emit(line):
    click.echo(line, err=True)


def _commit():
    """Return `git describe` of the checkout, or an empty string without git."""
    command = ["git", "describe", "--always", "--dirty", "--exclude", "*"]
    try:
        found = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return found.stdout.strip()


def _made_and_kept(results, name):
    """Run a study and write its files, locked against other processes; return the Study."""
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
    """Run every study that is not done, and write the page of claims after each; if not `run`, only the page."""
    from w2vneg.ground.errors import ConfigError, W2vnegError

    from .results import DONE
    from .site import names_in_order, write_summary

    if results is None:
        raise ConfigError("python -m studies all and page write files; add --out DIR")
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
    return "\n".join(lines or ["No studies yet."])


def run(arguments=None):
    """Run ``python -m studies ARGUMENTS…``; errors are printed as messages, as in ``w2vneg``."""
    main(arguments, command=studies, name="python -m studies")


if __name__ == "__main__":
    run()
