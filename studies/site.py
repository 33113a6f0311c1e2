"""The page of claims of a folder of results, README.md: counts by paper, then every claim.

Studies that this code has not run show the claims of older code, from earlier.csv, and are marked.
"""

from collections import Counter

from w2vneg.ground.files.atomic import atomic_file

from . import PAPERS, STUDIES, declared
from .results import DONE, as_cell, provenance, verdict_table
from .verdicts import FAILS, HOLDS, OPEN

_KINDS = {HOLDS: "What holds", FAILS: "What does not", OPEN: "What is open"}


def names_in_order():
    """Return the names of all studies, sorted by paper and by what they show (list of str)."""
    papers = list(PAPERS)
    return sorted(STUDIES, key=lambda name: (papers.index(declared(name).paper), declared(name).shows, name))


def listing(results=None):
    """Return one row per study: (paper, what it shows, name, minutes, status, seconds, first line), all str.

    results : Results, optional
        Folder whose status is shown.
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
    """Return about how long a full study takes on one core (str), empty if not declared."""
    minutes = declared(name).minutes
    return "" if minutes is None else f"~{minutes} min"


def first_line(study):
    lines = (study.__doc__ or "").strip().splitlines()
    return lines[0].rstrip(".") if lines else ""


def write_summary(results, failures):
    """Write README.md of a folder of results; return its path.

    failures : dict of name -> str, why a study could not be run
    """
    made = {name: results.made(name) for name in names_in_order()}
    alike = {"seed": results.seed, "quick": results.quick}.items()
    made = {name: one for name, one in made.items() if one is not None and alike <= one.made_by.items()}
    path = results.folder / "README.md"
    with atomic_file(path, "w", encoding="utf-8") as stream:
        stream.write(summary(results, made, failures))
    return path


def summary(results, made, failures):
    """Return the page as Markdown. made : dict of name -> Made; failures as in `write_summary`"""
    earlier = results.earlier()
    older = {name: rows for name, rows in earlier.items() if name not in made}
    done = [name for name in made if results.status(name) == DONE]
    by = {name: provenance(one) + ", the study has changed since" * (name not in done) for name, one in made.items()}
    size = "as small runs, which prove nothing" if results.quick else "in full"
    head = [
        "# The papers' claims, tried again",
        f"`python -m studies all --out DIR` writes this page and the linked ones: {len(done)} of "
        f"{len(names_in_order())} studies {size}, seed {results.seed}. Claims of studies that this code has not run "
        "are at the end, with the commit and the draws of their figures.",
        _counts(made, older),
        "A claim holds if the whole interval of its difference is above 0. It does not hold if all of the interval is "
        "below what matters: a hundredth of the figure, or .005 nats. A claim of equality holds if the interval "
        "lies within a margin. Intervals are at 95 % over all claims of a study together, differences paired by seed. "
        "*Draws* is how model-dependent noise is drawn: exact, among all targets, as in the papers; pool, "
        "the same for many visits at once; rolling, among 64 candidates.",
        _pages(results.folder, made),
    ]
    for kind, title in _KINDS.items():
        blocks = []
        for name, one in made.items():
            found = [verdict for verdict in one.verdicts if verdict.verdict == kind]
            if found:
                blocks += [f"[{name}]({name}.md), {by[name]}:", verdict_table(found, earlier.get(name, ()))]
        head += [f"## {title}", *blocks] if blocks else []
    head += ["## From older code", _older(older)] if older else []
    head += ["## Studies", _studies(made, by, failures)]
    return "\n\n".join(block for block in head if block) + "\n"


def _pages(folder, made):
    """Return links to the hand-written pages, by their first lines."""
    names = {f"{name}.md" for name in made} | {"README.md"}
    pages = sorted(path for path in folder.glob("*.md") if path.name not in names)
    titles = [path.read_text(encoding="utf-8").split("\n", 1)[0].lstrip("# ") for path in pages]
    links = [f"- [{title}]({path.name})" for path, title in zip(pages, titles, strict=True)]
    return "Discussion:\n\n" + "\n".join(links) if links else ""


def _counts(made, older):
    """Return the table of counts by paper: verdicts of this code, then of older code after a +."""
    own = Counter((_paper(verdict.paper), verdict.verdict) for one in made.values() for verdict in one.verdicts)
    old = Counter((_paper(row["paper"]), row["verdict"]) for rows in older.values() for row in rows)
    lines = ["| paper | holds | does not | open |", "|---|---|---|---|"]
    for paper, title in PAPERS.items():
        keys = [(paper, kind) for kind in _KINDS]
        if any(own[key] + old[key] for key in keys):
            cells = (f"{own[key]} + {old[key]}" if old[key] else str(own[key]) for key in keys)
            lines.append(f"| {paper}: {title} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + ("\n\nCounts after a + are from older code." if older else "")


def _paper(where):
    """Return the paper of a claim's place, such as "RS table 2"."""
    first = where.replace(",", " ").split()[0]
    return first if first in PAPERS else "ours"


def _studies(made, by, failures):
    lines = ["| paper | study | shows | state | hold, do not, open |", "|---|---|---|---|---|"]
    for name in names_in_order():
        state, judged, link = failures.get(name, f"not run; {about(name)} of one core"), "", name
        if name in made:
            counts = Counter(one.verdict for one in made[name].verdicts)
            judged = ", ".join(str(counts[kind]) for kind in _KINDS) if counts else ""
            state, link = by[name], f"[{name}]({name}.md)"
        cells = (declared(name).paper, link, declared(name).shows, state, judged)
        lines.append("| " + " | ".join(map(as_cell, cells)) + " |")
    return "\n".join(lines)


def _older(older):
    columns = (
        "paper",
        "claim",
        "verdict",
        "measure",
        "difference",
        "interval",
        "seeds",
        "comparisons",
        "draws",
        "commit",
    )
    lines = ["| study | " + " | ".join(columns) + " |", "|---" * (1 + len(columns)) + "|"]
    for name, rows in older.items():
        for row in rows:
            lines.append(f"| {name} | " + " | ".join(as_cell(row[column] or "–") for column in columns) + " |")
    return "\n".join(lines)
