"""The folder of results: the output of each study and its provenance.

NAME.md            text, tables and figures as one page
NAME-TABLE.csv     each table
NAME-FIGURE.png    each figure
NAME.json          seed, size, code and commits that made them, seconds, verdicts: written last, to vouch for the others
parts/             parts of studies (see `memo`), and a lock for each running study
earlier.csv        verdicts of older code, if any, shown next to today's
README.md          the summary of all studies (see `site`)
"""

import ast
import csv
import dataclasses
import hashlib
import inspect
import json
import math
import os
from dataclasses import dataclass
from pathlib import Path

from w2vneg import __version__
from w2vneg.ground.errors import OutputError
from w2vneg.ground.files.atomic import atomic_file, check_writable
from w2vneg.ground.files.bounded import read_json
from w2vneg.ground.files.locks import owned

from . import STUDIES
from .memo import Memo
from .verdicts import Verdict

DONE, STALE, MISSING = "done", "from another version", "–"


@dataclass(frozen=True)
class Made:
    """Contents of NAME.json. made_by : dict that JSON can hold; seconds : float, all parts; verdicts : list of Verdict
    commits : list of str, of the code that computed its parts
    """

    made_by: dict
    seconds: float
    verdicts: list
    commits: list


class Results:
    """A folder of results.

    Parameters
    ----------
    folder : path
        Created if missing.
    seed : int; quick : bool
        Of the requested studies.
    jobs : int; commit : str
        As in `Memo`.

    Raises
    ------
    OutputError
        If the folder cannot be written.
    """

    def __init__(self, folder, seed, quick, jobs=1, commit=""):
        self.folder, self.seed, self.quick, self.jobs, self.commit = Path(folder), seed, quick, jobs, commit

    def prepare(self):
        """Create the folder; raise OutputError if it cannot be written."""
        try:
            (self.folder / "parts").mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(f"cannot write {self.folder}: {error.strerror}; choose another folder") from error
        check_writable(os.fspath(self.folder / "README.md"))

    def made_by(self, name):
        """Return the provenance of a study's results: dict that JSON can hold."""
        return {"version": __version__, "code": code_of(STUDIES[name]), "seed": self.seed, "quick": self.quick}

    def made(self, name):
        """Return the `Made` of a study, or None if it is missing or damaged."""
        path = self.folder / f"{name}.json"
        if not path.exists():
            return None
        found = read_json(path, "its results")
        try:
            return Made(**found | {"verdicts": [_verdict(one) for one in found["verdicts"]]})
        except (KeyError, TypeError):
            return None

    def status(self, name):
        """Return `DONE`, `STALE` or `MISSING`."""
        made = self.made(name)
        return MISSING if made is None else DONE if made.made_by == self.made_by(name) else STALE

    def owned(self, name):
        """Return a context manager that locks this study here; OutputError if another process runs it."""
        return owned(self.folder / "parts" / name)

    def memo(self, name):
        """Return the `Memo` of a study."""
        size = "-quick" if self.quick else ""
        path = self.folder / "parts" / f"{name}-{__version__}-seed{self.seed}{size}.jsonl"
        return Memo(path, self.jobs, self.commit)

    def earlier(self):
        """Return verdicts of older code from earlier.csv: dict of study -> list of dict of str."""
        path, found = self.folder / "earlier.csv", {}
        if path.exists():
            for row in csv.DictReader(path.read_text(encoding="utf-8").splitlines()):
                found.setdefault(row["study"], []).append(row)
        return found

    def write(self, name, study, images, seconds, commits):
        """Write the files of a study, each atomically; return their paths.

        images : dict of str -> bytes, its figures as PNG; seconds, commits : as in `Made`
        """
        made = Made(self.made_by(name), seconds, [_finite(dataclasses.asdict(one)) for one in study.verdicts], commits)
        text = markdown(name, study, self.earlier().get(name, ()))
        text += f"\n\nWritten by `python -m studies {name}`: {provenance(made)}."
        pictures = [f"![{title}]({_file_name(name, title, 'png')})" for title in images]
        files = {f"{name}.md": ("\n\n".join([text, *pictures]) + "\n").encode("utf-8")}
        for title, table in study.tables.items():
            named = any(level is not None for level in table.index.names)
            files[_file_name(name, title, "csv")] = table.to_csv(index=named).encode("utf-8")
        files |= {_file_name(name, title, "png"): image for title, image in images.items()}
        files[f"{name}.json"] = json.dumps(dataclasses.asdict(made), indent=1, ensure_ascii=False).encode("utf-8")
        paths = []
        for file, content in files.items():
            paths.append(os.fspath(self.folder / file))
            with atomic_file(paths[-1]) as stream:
                stream.write(content)
        return paths


def code_of(study):
    """Return a fingerprint of the syntax of a study's file (str): comments and line breaks do not count."""
    source = Path(inspect.getsourcefile(inspect.unwrap(study))).read_text(encoding="utf-8")
    return hashlib.sha256(ast.dump(ast.parse(source)).encode()).hexdigest()[:12]


def _verdict(found):
    """Return the Verdict from the fields that `_finite` returned."""
    unknown = {"low": -math.inf, "high": math.inf}
    return Verdict(**{key: unknown.get(key) if value is None else value for key, value in found.items()})


def _finite(fields):
    """Return fields with None for infinities and NaN, which JSON lacks."""
    return {
        key: None if isinstance(value, float) and not math.isfinite(value) else value for key, value in fields.items()
    }


def provenance(made):
    """Return the provenance of results as a line: commits, seed, minutes of trials."""
    commits = ", ".join(sorted(one or "unknown" for one in made.commits)) or "unknown"
    return f"commit {commits}, seed {made.made_by['seed']}, {made.seconds / 60:.0f} minutes of trials"


def markdown(name, study, earlier=()):
    """Return a study's text, verdicts and tables as one document; earlier : verdicts of older code, dicts."""
    blocks = [f"# {name}", study.text.strip()]
    if study.verdicts:
        blocks += ["## Claims", verdict_table(study.verdicts, earlier)]
    for title, table in study.tables.items():
        blocks += [f"## {title}", markdown_table(table)]
    return "\n\n".join(blocks)


_COLUMNS = ("paper", "claim", "verdict", "measure", "difference", "interval", "seeds", "comparisons", "draws")


def verdict_table(verdicts, earlier=()):
    """Return verdicts as a Markdown table, next to those of older code on the same claim."""
    before = {(row["claim"], row["measure"]): _before(row) for row in earlier}
    columns = (*_COLUMNS, "of older code") if before else _COLUMNS
    rows = [columns, ["---"] * len(columns)]
    for one in verdicts:
        claim = f"{one.claim} ({one.note})" if one.note else one.claim
        bounds = f"{as_cell(one.low)} to {as_cell(one.high)} {one.unit}"
        cells = (one.paper, claim, f"**{one.verdict}**", one.measure, one.difference, bounds, one.seeds)
        cells += (one.comparisons, one.draws or "–")
        rows.append(cells + ((before.get((one.claim, one.measure), "–"),) if before else ()))
    return "\n".join("| " + " | ".join(map(as_cell, row)) + " |" for row in rows)


def _before(row):
    """Return a verdict of older code as text."""
    draws = f"; {row['draws']}" if row["draws"] else ""
    return f"{row['verdict']}, {row['difference']} ({row['interval']}){draws}, {row['commit']}"


def markdown_table(table):
    """Return a DataFrame as a Markdown table; an unnamed index is left out."""
    named = any(name is not None for name in table.index.names)
    table = table.reset_index() if named else table
    rows = [[as_cell(column) for column in table.columns]]
    rows.append(["---:" if kind.kind in "iuf" else "---" for kind in table.dtypes])
    rows += [[as_cell(value) for value in row] for row in table.itertuples(index=False, name=None)]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def as_cell(value):
    """Return a value as a cell of a Markdown table."""
    if isinstance(value, tuple):
        return " ".join(as_cell(part) for part in value)
    if isinstance(value, float):
        return "–" if value != value else f"{value:.4g}"
    return str(value).replace("|", "\\|").replace("\n", " ")


def _file_name(name, title, ending):
    plain = title.replace("λ", "lambda")  # names of files are ASCII
    plain = "".join(sign if (sign.isascii() and sign.isalnum()) or sign in "-_." else "-" for sign in plain)
    return f"{name}-{plain}.{ending}"
