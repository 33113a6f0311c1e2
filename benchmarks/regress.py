"""Is this tree slower than a commit? Whole processes of both, interleaved, on the same text; wall and CPU seconds."""

import os
import resource
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from w2vneg.ground.errors import ConfigError

RUNS = {  # name -> options of `w2vneg train`
    "ns": ("--loss", "ns"),
    "ns shared": ("--loss", "ns", "--share-negatives"),
    "relaxed": ("--loss", "relaxed"),
    "cis": ("--loss", "cis"),
    "ns shared, --readout in": ("--loss", "ns", "--share-negatives", "--readout", "in"),
}
_SHIPPED = ("w2vneg", "data", "eval_sets", "setup.cfg", "pyproject.toml")


class Timing(NamedTuple):
    """A process: run, whether of the commit, round; wall seconds, and seconds of all cores."""

    run: str
    former: bool
    round: int
    wall: float
    user: float


def unpack_commit(commit, folder):
    """Unpack the files that training at a commit needs; ConfigError if there is no such commit here."""
    top = Path(__file__).parent.parent
    tar = Path(folder) / "commit.tar"
    command = ["git", "archive", "--output", str(tar), commit, *_SHIPPED]
    done = subprocess.run(command, cwd=top, capture_output=True, text=True)
    if done.returncode:
        raise ConfigError(f"{commit} cannot be taken from git here: {done.stderr.strip()}")
    with tarfile.open(tar) as packed:
        packed.extractall(folder, filter="data")
    tar.unlink()


def measure(trees, text, runs, options, rounds, tell=lambda text: None):
    """Time processes of both trees in turn; the first round, which compiles and encodes, is not counted.

    Parameters
    ----------
    trees : (path, path), this tree and the commit's
    text : str or path, the corpus
    runs : sequence of str, of `RUNS`
    options : sequence of str, for every process
    rounds : int

    Returns
    -------
    list of Timing
    """
    timings = []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(rounds + 1):
            for run in runs:
                for former in (False, True) if number % 2 else (True, False):
                    wall, user = _seconds(trees[former], folder, text, (*RUNS[run], *options))
                    tell(f"round {number} of {rounds}, {run}, {'commit' if former else 'this tree'}: {wall:.2f} s")
                    if number:
                        timings.append(Timing(run, former, number, wall, user))
    return timings


def _seconds(tree, folder, text, options):
    kept = Path(folder) / tree.name  # compiled code and encoded data of each tree
    environment = os.environ | {
        "PYTHONPATH": str(tree),
        "W2VNEG_CACHE": str(kept / "data"),
        "W2VNEG_JIT_CACHE": str(kept / "code"),
    }
    output = str(Path(folder) / "vectors.txt")
    command = [sys.executable, "-m", "w2vneg", "train", "--quiet", "--force", "--corpus", str(text), *options]
    begun, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([*command, "--output", output], cwd=folder, env=environment, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise ConfigError(f"{tree} cannot train with {' '.join(options)}: {done.stderr.strip()}")
    return time.perf_counter() - begun, after.ru_utime - before.ru_utime


def ratios(timings, run, of):
    """Return this tree's seconds divided by the commit's, a list with one per round; `of`: "wall" or "user"."""
    own = {(t.round, t.former): getattr(t, of) for t in timings if t.run == run}
    return [own[number, False] / own[number, True] for number in sorted({number for number, _ in own})]


def slower(timings, limit):
    """Return the runs whose median ratio of wall or CPU seconds is above 1 + `limit`, slower in over 75 % of rounds."""
    found = []
    for run in dict.fromkeys(t.run for t in timings):
        both = [ratios(timings, run, of) for of in ("wall", "user")]
        if any(statistics.median(each) > 1 + limit and sum(r > 1 for r in each) > 0.75 * len(each) for each in both):
            found.append(run)
    return found


def table(timings):
    """Return Markdown: seconds of both and their ratios, median and range, one row per run."""
    lines = ["| run | s, this tree | s, commit | ratio, wall | ratio, CPU |", "|---|---|---|---|---|"]
    for run in dict.fromkeys(t.run for t in timings):
        seconds = [statistics.median(t.wall for t in timings if (t.run, t.former) == (run, f)) for f in (False, True)]
        spreads = [
            f"{statistics.median(each):.3f} ({min(each):.3f}–{max(each):.3f})"
            for each in (ratios(timings, run, of) for of in ("wall", "user"))
        ]
        lines.append(f"| {run} | {seconds[0]:.2f} | {seconds[1]:.2f} | {' | '.join(spreads)} |")
    return "\n".join(lines)
