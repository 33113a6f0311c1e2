"""The summary of a folder of results: one page that is read in two minutes, with links to all others.

Markdown, as `mkdocs` takes it: every claim of the papers that a study judges, and every study with its state.
"""

from collections import Counter

from ..files.atomic import atomic_file
from . import PAPERS, STUDIES, declared
from .results import DONE, verdict_table
from .verdicts import FAILS, HOLDS, OPEN


def names_in_order():
    """Return the names of all studies, by paper and by what they show (list of str)."""
    papers = list(PAPERS)
    return sorted(STUDIES, key=lambda name: (papers.index(declared(name).paper), declared(name).shows, name))


def listing(results=None):
    """Return one row a study: (paper, what it shows, name, status, seconds, first line), all str.

    results : Results, optional
        Where to look for what is done.
    """
    rows = []
    for name in names_in_order():
        made = None if results is None else results.made(name)
        status = "" if results is None else results.status(name)
        seconds = "" if made is None else f"{made.seconds:.0f}"
        rows.append((declared(name).paper, declared(name).shows, name, status, seconds, first_line(STUDIES[name])))
    return rows


def first_line(study):
    lines = (study.__doc__ or "").strip().splitlines()
    return lines[0].rstrip(".") if lines else ""


def write_summary(results, failures):
    """Write index.md of a folder of results; return its path.

    failures : dict of name -> str, why a study could not be run
    """
    path = results.folder / "index.md"
    with atomic_file(path, "w", encoding="utf-8") as stream:
        stream.write(summary(results, failures))
    return path


def summary(results, failures):
    """Return the summary as Markdown."""
    made = {name: results.made(name) for name in names_in_order()}
    made = {name: one for name, one in made.items() if one is not None and results.status(name) == DONE}
    verdicts = [verdict for one in made.values() for verdict in one.verdicts]
    counts = Counter(verdict.verdict for verdict in verdicts)
    size = "in small, which proves nothing" if results.quick else "in full"
    blocks = [
        "# Five papers, made again",
        f"{len(made)} of {len(names_in_order())} studies, {size}, seed {results.seed}: of {len(verdicts)} claims "
        f"{counts[HOLDS]} hold, {counts[FAILS]} do not, {counts[OPEN]} are open. A claim holds if the whole interval "
        "of the difference that it names is above 0; it does not if all of it is below what matters, a hundredth of "
        "the figure or .005 nats. Intervals are of 95 % over all claims of a study together.",
    ]
    for paper, title in PAPERS.items():
        own = [name for name in names_in_order() if declared(name).paper == paper]
        if own:
            blocks += _paper(paper, title, own, made, failures)
    return "\n\n".join(blocks) + "\n"


def _paper(paper, title, names, made, failures):
    lines = ["| shows | study | state | seconds |", "|---|---|---|---|"]
    for name in names:
        state = "done" if name in made else failures.get(name, "not run")
        link = f"[{name}]({name}.md)" if name in made else name
        seconds = f"{made[name].seconds:.0f}" if name in made else ""
        lines.append(f"| {declared(name).shows} | {link} | {state} | {seconds} |".replace("\n", " "))
    blocks = [f"## {paper}: {title}", "\n".join(lines)]
    for name in names:
        if name in made and made[name].verdicts:
            blocks += [f"### Claims, by [{name}]({name}.md)", verdict_table(made[name].verdicts)]
    return blocks
