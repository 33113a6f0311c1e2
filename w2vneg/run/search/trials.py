"""The trials of a search and their folder, with tables and the best options.

search.json    settings that all trials of the folder share
trials.jsonl   one line per finished trial, written as it ends; results are read back from this file only
trials.csv, trials.md, best.toml   rebuilt from it after each trial
"""

import csv
import dataclasses
import io
import json
from dataclasses import dataclass
from pathlib import Path

from ...config import TrainConfig
from ...config.spec import to_toml
from ...config.table import options_of_users
from ...ground.errors import ConfigError, InputError, OutputError
from ...ground.files.atomic import atomic_file, check_folder_writable, is_hidden
from ...ground.files.bounded import parse_json, read_bytes, read_json
from ..state import difference

GIVEN_UP = "given up"


@dataclass(frozen=True)
class Trial:
    """One run of one combination."""

    options: dict
    seed: int
    figures: dict  # str -> float, of its best state on the held-out pairs; empty if it failed
    epoch: float | None  # of that state
    seconds: float
    reason: str | None = None  # why it failed
    l2: str | None = None  # the penalty that it chose, as `--l2` takes it, if left open

    @property
    def given_up(self):
        """Whether it was stopped because others were better (see `space.Tpe`)."""
        return (self.reason or "").startswith(GIVEN_UP)


def key_of(options):
    """Return a key (str) that is the same for equal combinations."""
    return json.dumps(options, sort_keys=True)


def by_combination(trials):
    """Return the trials of each combination: dict of key -> list of Trial."""
    groups = {}
    for trial in trials:
        groups.setdefault(key_of(trial.options), []).append(trial)
    return groups


@dataclass(frozen=True)
class Row:
    """A combination over its seeds: means of figures, epoch and seconds; low, high : float, the metric's extremes.

    If a trial failed, `reason` says why, figures is empty, and value, low, high and epoch are None.
    l2 : str, the distinct penalties that its trials chose, None if none did
    """

    options: dict
    seeds: int
    value: float | None
    low: float | None
    high: float | None
    epoch: float | None
    figures: dict
    seconds: float
    reason: str | None
    l2: str | None = None


def rows_of(trials, metric):
    """Summarise trials by combination, the best first (by `Metric`), failures last; list of Row."""
    rows = [_row(group, metric) for group in by_combination(trials).values()]
    return sorted(rows, key=lambda row: (row.value is None, -metric.sign * (row.value or 0.0)))


def _row(group, metric):
    n, options = len(group), group[0].options
    seconds = sum(trial.seconds for trial in group) / n
    failed = next((trial.reason for trial in group if trial.reason is not None), None)
    if failed is not None:
        return Row(options, n, None, None, None, None, {}, seconds, failed)
    values = [trial.figures[metric.name] for trial in group]
    names = [name for name in group[0].figures if all(name in trial.figures for trial in group)]
    figures = {name: sum(trial.figures[name] for trial in group) / n for name in names}
    epoch = sum(trial.epoch for trial in group) / n
    l2 = "; ".join(dict.fromkeys(trial.l2 for trial in group if trial.l2)) or None
    return Row(options, n, sum(values) / n, min(values), max(values), epoch, figures, seconds, None, l2)


class TrialFolder:
    """The trials of a search, and its folder.

    path : path, a new or empty folder, or that of an earlier search, which then resumes; None keeps nothing
    common : dict of JSON values, settings that all trials share; config : TrainConfig, options that are not searched
    metric : Metric; flags : dict, of data and validation, for best.toml
    OutputError if the folder holds something else, or cannot be written; ConfigError if it holds a search with other
        settings; InputError if a line of its trials cannot be read
    """

    def __init__(self, path, common, config, metric, flags=None):
        self.path, self.config, self.metric, self.flags = path and Path(path), config, metric, flags or {}
        self.trials = []
        if path is None:
            return
        check_folder(path)
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(f"cannot write {path}: {error.strerror}; choose another place") from error
        kept = self.path / "search.json"
        if not kept.exists():
            self._write("search.json", json.dumps(common, indent=2, allow_nan=False) + "\n")
            return
        try:
            former = read_json(kept)
        except InputError as error:
            raise InputError(f"{error}; name another folder") from error
        if not isinstance(former, dict):
            raise InputError(f"{kept}: not a search, but {str(former)[:40]}; name another folder")
        common = json.loads(json.dumps(common))
        if former != common:
            found = difference(former, common) or "of another version"
            raise ConfigError(f"{path} holds another search ({found}); name another folder with --out")
        self._read()

    def _read(self):
        path = self.path / "trials.jsonl"
        if not path.exists():
            return
        *lines, _ = read_bytes(path).split(b"\n")  # a trial whose line is incomplete runs again
        for number, line in enumerate(lines, 1):
            try:
                self.trials.append(_trial(parse_json(line, "this line"), self.metric))
            except (TypeError, ConfigError, InputError) as error:
                raise InputError(f"{path}:{number}: not a trial ({error}); remove the line to run it again") from error

    def add(self, trial):
        """Add a trial; its line is on disk when this returns."""
        self.trials.append(trial)
        if self.path is None:
            return
        lines = [json.dumps(dataclasses.asdict(one), allow_nan=False) + "\n" for one in self.trials]
        try:
            self._write("trials.jsonl", "".join(lines))
        except OutputError as error:
            said = str(error).removesuffix("nothing was left behind")
            raise OutputError(f"{said}earlier trials are kept; repeat the command to resume") from error

    def best_value(self):
        """Return the best figure so far (float); None without one."""
        values = [trial.figures[self.metric.name] for trial in self.trials if trial.reason is None]
        return max(values, key=lambda value: self.metric.sign * value, default=None)

    def write_tables(self, seeds):
        """Write trials.csv, trials.md and best.toml; return the rows (list of Row), and the best with all `seeds`.

        If none has all seeds, it is the best with fewer; None if every combination failed.
        """
        rows = rows_of(self.trials, self.metric)
        scored = [row for row in rows if row.value is not None]
        best = next((row for row in scored if row.seeds >= seeds), scored[0] if scored else None)
        if self.path is not None:
            table, lines = _table(rows, self.metric), io.StringIO()
            csv.writer(lines, lineterminator="\n").writerows(table)
            self._write("trials.csv", lines.getvalue())
            self._write("trials.md", as_markdown(table))
            if best is not None:
                self._write("best.toml", self._toml(best))
        return rows, best

    def _toml(self, best):
        """Return the options of a Row, and other options that differ from their defaults, as TOML."""
        agreed = {"l2": best.l2} if best.l2 and ";" not in best.l2 else {}  # so that it is not chosen again
        options = best.options | agreed
        config = dataclasses.replace(self.config, **options)
        spread = f", {best.low:.4f} to {best.high:.4f} over {best.seeds} seeds" if best.seeds > 1 else ""
        about = f"# {self.metric.name} {best.value:.4f}{spread}, at epoch {best.epoch:.4g}\n"
        if best.l2 and not agreed:
            about += f"# each run chose its own l2: {best.l2}\n"
        values, defaults = config.as_dict(), {item.name: item.default for item in options_of_users()}
        chosen = [name for name in defaults if values[name] != defaults[name] or name in options]
        every = {name: min(value, best.epoch) for name, value in self.flags.items() if name == "eval_every"}
        return about + to_toml(self.flags | every | {name: values[name] for name in chosen})

    def _write(self, name, text):
        with atomic_file(self.path / name) as stream:
            stream.write(text.encode("utf-8", "surrogateescape"))


def check_folder(path):
    """Raise OutputError if `path` cannot hold a search: it is a file, or a folder with other contents."""
    check_folder_writable(path)
    path = Path(path)
    strange = path.is_dir() and not (path / "search.json").exists()
    if strange and not all(is_hidden(entry.name) for entry in path.iterdir()):
        raise OutputError(f"cannot write {path}: the folder is not empty and holds no search; name another one")


def _trial(values, metric):
    """Return the Trial of a parsed line; TypeError or ConfigError if it is not a trial with this metric."""
    if not isinstance(values, dict):
        raise TypeError(f"expected an object, found {str(values)[:40]}")
    trial = Trial(**values)
    failed = trial.reason is not None
    fits = {
        "options": isinstance(trial.options, dict),
        "seed": type(trial.seed) is int,
        "figures": isinstance(trial.figures, dict) and all(map(_is_number, trial.figures.values())),
        "epoch": trial.epoch is None if failed else _is_number(trial.epoch),
        "seconds": _is_number(trial.seconds),
        "reason": not failed or isinstance(trial.reason, str),
        "l2": trial.l2 is None or isinstance(trial.l2, str),
    }
    wrong = next((name for name, fit in fits.items() if not fit), None)
    if wrong is not None:
        raise TypeError(f"{wrong} is {str(getattr(trial, wrong))[:40]}")
    if not failed and metric.name not in trial.figures:
        raise TypeError(f"it has no {metric.name}")
    TrainConfig.from_mapping(trial.options | ({} if trial.l2 is None else {"l2": trial.l2}))
    return trial


def _is_number(value):
    return type(value) in (int, float) and abs(value) < 1e300


def _table(rows, metric):
    """Return a header and a line of text for each row."""
    options = [row.options | ({"l2": row.l2} if row.l2 else {}) for row in rows]
    names = list(dict.fromkeys(name for own in options for name in own))
    others = list(dict.fromkeys(name for row in rows for name in row.figures if name != metric.name))
    low, high = f"{metric.name}_low", f"{metric.name}_high"
    table = [["rank", *names, metric.name, low, high, "seeds", "epoch", *others, "seconds", "reason"]]
    for rank, (row, own) in enumerate(zip(rows, options, strict=True), 1):
        line = [str(rank) if row.value is not None else ""]
        for value in map(own.get, names):  # None: the trial left it at its default
            line.append("" if value is None else f"{value:g}" if isinstance(value, float) else str(value))
        figure = lambda value, digits=6: "" if value is None else f"{value:.{digits}g}"  # noqa: E731
        line += [*map(figure, (row.value, row.low, row.high)), str(row.seeds), figure(row.epoch, 4)]
        line += [figure(row.figures.get(name)) for name in others]
        table.append([*line, f"{row.seconds:.2f}", row.reason or ""])
    return table


def as_markdown(table):
    """Return a header and lines of text as a Markdown table."""
    cells = [[cell.replace("|", "\\|") for cell in line] for line in table]
    lines = ["| " + " | ".join(line) + " |" for line in cells]
    return "\n".join([lines[0], "|" + "---|" * len(table[0]), *lines[1:]]) + "\n"
