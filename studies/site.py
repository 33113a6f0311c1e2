"""The summary of a folder of results, in Markdown, as `mkdocs` takes it.

index.md is read in two minutes: every study with its state and how its claims fared, and the claims that hold.
claims.md has every claim with its interval.
"""

from collections import Counter

from w2vneg.ground.files.atomic import atomic_file

from . import PAPERS, STUDIES, declared
from .results import DONE, verdict_table
from .verdicts import FAILS, HOLDS, OPEN


def names_in_order():
    """Return the names of all studies, by paper and by what they show (list of str)."""
    papers = list(PAPERS)
    return sorted(STUDIES, key=lambda name: (papers.index(declared(name).paper), declared(name).shows, name))


def listing(results=None):
    """Return one row a study: (paper, what it shows, name, about how long, status, seconds, first line), all str.

    results : Results, optional
        Where to look for what is done.
    """
    rows = []
    for name in names_in_order():
        made = None if results is None else results.made(name)
        status = "" if results is None else results.status(name)
        seconds = "" if made is None else f"{made.seconds:.0f}"
        what = declared(name)
        rows.append((what.paper, what.shows, name, about(name), status, seconds, first_line(STUDIES[name])))
    return rows


def about(name):
    """Return about how long the full form of a study takes (str), empty where it does not say."""
    minutes = declared(name).minutes
    return "" if minutes is None else f"~{minutes} min"


def first_line(study):
    lines = (study.__doc__ or "").strip().splitlines()
    return lines[0].rstrip(".") if lines else ""


def write_summary(results, failures):
    """Write index.md and claims.md of a folder of results; return the path of the former.

    failures : dict of name -> str, why a study could not be run
    """
    made = {name: results.made(name) for name in names_in_order()}
    made = {name: one for name, one in made.items() if one is not None and results.status(name) == DONE}
    for name, text in (("claims.md", claims(made)), ("index.md", summary(results, made, failures))):
        with atomic_file(results.folder / name, "w", encoding="utf-8") as stream:
            stream.write(text)
    return results.folder / "index.md"


def claims(made):
    """Return every claim as Markdown. made : dict of name -> Made"""
    blocks = ["# Every claim"]
    for name, one in made.items():
        if one.verdicts:
            blocks += [f"## [{name}]({name}.md)", verdict_table(one.verdicts)]
    return "\n\n".join(blocks) + "\n"


def summary(results, made, failures):
    """Return the summary as Markdown. made : dict of name -> Made; failures as in `write_summary`"""
    counts, total = _counts(made.values()), len(names_in_order())
    size = "in small, which proves nothing" if results.quick else "in full"
    blocks = [
        "# Five papers, made again",
        f"{len(made)} of {total} studies, {size}, seed {results.seed}: of {sum(counts.values())} claims "
        f"{counts[HOLDS]} hold, {counts[FAILS]} do not, {counts[OPEN]} are open. [Every claim](claims.md) stands with "
        "its interval and the number of comparisons.",
        "A claim holds if the whole interval of the difference that it names is above 0. It does not if all of it is "
        "below what matters: a hundredth of the figure, or .005 nats. A claim that two are equal holds if the interval "
        "lies within a margin. Intervals are of 95 % over all claims of a study together. Times with ~ are of the "
        "full form on one quiet core.",
    ]
    for paper, title in PAPERS.items():
        own = [name for name in names_in_order() if declared(name).paper == paper]
        if own:
            blocks += [f"## {paper}: {title}", _studies(own, made, failures), *_holding(own, made)]
    return "\n\n".join(blocks) + "\n"


def _counts(made):
    return Counter(verdict.verdict for one in made for verdict in one.verdicts)


def _studies(names, made, failures):
    lines = ["| study | shows | state | time | hold, do not, open |", "|---|---|---|---|---|"]
    for name in names:
        cells = [name, declared(name).shows, failures.get(name, "not run"), about(name), ""]
        if name in made:
            counts = _counts([made[name]])
            judged = ", ".join(str(counts[kind]) for kind in (HOLDS, FAILS, OPEN)) if made[name].verdicts else ""
            cells = [f"[{name}]({name}.md)", declared(name).shows, "done", _took(made[name].seconds), judged]
        lines.append("| " + " | ".join(str(cell).replace("|", "\\|").replace("\n", " ") for cell in cells) + " |")
    return "\n".join(lines)


def _took(seconds):
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


def _holding(names, made):
    """Return a list of the claims that hold, as blocks of Markdown."""
    held = [one for name in names if name in made for one in made[name].verdicts if one.verdict == HOLDS]
    lines = [f"- {one.claim} ({one.paper}): {one.difference:+.3g} {one.unit}".rstrip() for one in held]
    return ["What holds:\n\n" + "\n".join(dict.fromkeys(lines))] if lines else []
