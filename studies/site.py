"""The pages of claims of a folder of results: README.md counts by paper and study, verdicts.md has every claim.

Studies that this code has not run show the claims of older code, from earlier.csv, and are marked.
"""

from collections import Counter

from w2vneg.ground.files.atomic import atomic_file

from . import PAPERS, STUDIES, declared
from .results import DONE, as_cell, provenance, verdict_table
from .verdicts import FAILS, HOLDS, OPEN

_VERDICTS = "verdicts.md"
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
    """Write README.md and verdicts.md of a folder of results; return the path of the first.

    failures : dict of name -> str, why a study could not be run
    """
    made = {name: results.made(name) for name in names_in_order()}
    alike = {"seed": results.seed, "quick": results.quick}.items()
    made = {name: one for name, one in made.items() if one is not None and alike <= one.made_by.items()}
    done = [name for name in made if results.status(name) == DONE]
    by = {name: provenance(one) + ", the study has changed since" * (name not in done) for name, one in made.items()}
    earlier = results.earlier()
    for page, text in ((_VERDICTS, _verdicts(made, by, earlier)), ("README.md", _summary(results, made, by, failures))):
        with atomic_file(results.folder / page, "w", encoding="utf-8") as stream:
            stream.write(text)
    return results.folder / "README.md"


def _summary(results, made, by, failures):
    """Return README.md.

    made : dict of name -> Made; by : dict of name -> str, provenance; failures : as in `write_summary`
    """
    earlier = results.earlier()
    older = {name: rows for name, rows in earlier.items() if name not in made}
    done = sum(results.status(name) == DONE for name in made)
    size = "as small runs, which prove nothing" if results.quick else "in full"
    blocks = [
        "# The papers' claims, tried again",
        f"{done} of {len(names_in_order())} studies {size}, seed {results.seed}. [Every claim]({_VERDICTS}) has its "
        "measure, difference and interval.",
        _counts(made, older),
        "A claim holds if the whole interval of its difference is above 0. It does not hold if all of the interval is "
        "below what matters: a hundredth of the figure, or .005 nats. A claim of equality holds if the interval "
        "lies within a margin. Intervals are at 95 % over all claims of a study together, differences paired by seed. "
        "A comparison that several studies share counts once.",
        _pages(results.folder, made),
        "## Studies",
        _studies(made, by, failures),
        _changed(made, earlier),
        "`python -m studies all --out DIR` writes these pages.",
    ]
    return "\n\n".join(filter(None, blocks)) + "\n"


def _verdicts(made, by, earlier):
    """Return verdicts.md: what holds, what does not, what is open, and claims of studies that were not run."""
    older = {name: rows for name, rows in earlier.items() if name not in made}
    head = [
        "# Every claim",
        "[Counts, and when a claim holds](README.md). *Draws* is how model-dependent noise is drawn: exact, among all "
        "targets, as in the papers; pool, the same for many visits at once; rolling, among 64 candidates.",
    ]
    for kind, title in _KINDS.items():
        blocks = []
        for name, one in made.items():
            found = [verdict for verdict in one.verdicts if verdict.verdict == kind]
            if found:
                blocks += [f"[{name}]({name}.md), {by[name]}:", verdict_table(found, earlier.get(name, ()))]
        head += [f"## {title}", *blocks] if blocks else []
    head += ["## From older code", _older(older)] if older else []
    return "\n\n".join(head) + "\n"


def _changed(made, earlier):
    """Return a table of the claims that older code decided differently, empty if there is none."""
    lines = ["| study | claim | measure | before | today |", "|---|---|---|---|---|"]
    for name in (name for name in earlier if name in made):
        for row in earlier[name]:
            key = row["paper"], row["claim"], row["measure"]
            same = [one for one in made[name].verdicts if (one.paper, one.claim, one.measure) == key]
            if any(one.verdict != row["verdict"] for one in same):
                today = "; ".join(dict.fromkeys(_drawn(one.verdict, one.draws) for one in same))
                cells = (name, row["claim"], row["measure"], _drawn(row["verdict"], row["draws"]), today)
                lines.append("| " + " | ".join(map(as_cell, cells)) + " |")
    title = "## Verdicts that changed\n\nOlder code drew among 64 rolling candidates or trained for less time.\n\n"
    return title + "\n".join(lines) if len(lines) > 2 else ""


def _drawn(verdict, draws):
    return f"{verdict}, {draws}" if draws else verdict


def _pages(folder, made):
    """Return links to the hand-written pages, by their first lines."""
    names = {f"{name}.md" for name in made} | {"README.md", _VERDICTS}
    pages = sorted(path for path in folder.glob("*.md") if path.name not in names)
    titles = [path.read_text(encoding="utf-8").split("\n", 1)[0].lstrip("# ") for path in pages]
    links = [f"- [{title}]({path.name})" for path, title in zip(pages, titles, strict=True)]
    return "Discussion:\n\n" + "\n".join(links) if links else ""


def _counts(made, older):
    """Return the table of counts by paper: verdicts of this code, then of older code after a +."""
    distinct = {
        (one.paper, one.claim, one.measure, one.draws, one.difference, one.verdict)
        for study in made.values()
        for one in study.verdicts
    }
    own = Counter((_paper(paper), verdict) for paper, *_, verdict in distinct)
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
