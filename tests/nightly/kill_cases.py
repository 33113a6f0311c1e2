"""Commands to be killed, what they find before, and what must hold afterwards.

After a kill, whatever was there before is there by its name, complete, either as it was or as the command makes it; a
user's own files are there too; and what a later operation than this one finds kept is never lost by a kill at it. Then
the same command, run again to its end, leaves the same files with the same content as if nobody had killed it, and no
other file.

Run ``python tests/nightly/kill_cases.py [WORD…]`` for a table: a line
on each command whose name holds one of the words.
"""

import os
import shlex
import shutil
import signal
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from kill_looks import Lost, contents, difference, entries, model, search, vectors, whole
from killing import SAVED_EVERY, Server
from planted import as_text, two_topics

from w2vneg.data.splitfiles import check_place
from w2vneg.ground.errors import W2vnegError
from w2vneg.run.model import Model

_SMALL = shlex.split("--dim 8 --window 3 --subsample 0 --min-count 1 --workers 1 --loss ns")
_TRAIN = ["train", "--corpus", "corpus.txt", *_SMALL, "--output", "vectors.txt", "--force"]
_FORMER = [*_TRAIN, "--epochs", "1", "--seed", "7"]
_SAVED = [*_TRAIN, "--epochs", "1", "--save-model", "model"]
_EVALUATED = ["--valid", "valid.tsv", "--metric", "nll"]
_SPLIT = shlex.split("split --corpus corpus.txt --window 2 --min-count 1 --out split")
_TUNE = ["tune", "--corpus", "corpus.txt", *_SMALL, "--epochs", "1", *_EVALUATED, "--out", "search"]
_TUNE += ["--grid", "alpha=0.02,0.05", "--seeds"]

LITTER = "run again, it leaves no more than"
N_RANDOM = 100  # trainings

_OLD = 1_600_000_000  # seconds; a corpus that has just been written would not be known again by its time
_COLD = 600.0  # seconds, for a run whose code may have to be compiled
_NOTHING = {"fsync", "fdatasync", "fcntl.flock", "fcntl.lockf"}  # a kill before these and one after find the same files
_PLACED = {"os.rename", "os.link", "ctypes.call_function"}  # these put something into its place
_SIGNALS = ("SIGKILL", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGINT")


@dataclass(frozen=True)
class Command:
    """A command line to be killed.

    name : str; argv : list of str
    looks : dict of str -> function of `kill_looks`, by path
    before : list of list of str, command lines whose results it finds; one that begins with a number is ended by
        SIGTERM after so many rounds
    mine : tuple of str, files of the user's, made before
    empty : bool, nothing is in the cache
    """

    name: str
    argv: list
    looks: dict
    before: tuple = ()
    mine: tuple = ()
    empty: bool = False


_OTHER = [*_FORMER, "--min-count", "2", "--output", "unused.txt"]
_BOTH = {"model": model, "vectors.txt": vectors}
_MINE = ("model/notes.txt", "model/mine/list.txt")
_ONE_MODEL = [*_FORMER, "--save-model", "model"]
_ONE_EVALUATED = [*_ONE_MODEL, *_EVALUATED]

COMMANDS = {
    command.name: command
    for command in (
        Command("train, a first model", _SAVED, _BOTH, empty=True),
        Command("train, over a former model", [*_SAVED, *_EVALUATED], _BOTH, (_ONE_EVALUATED,), _MINE),
        Command("train, resumed", ["train", "--resume", "model"], _BOTH, (["3", *_SAVED],), _MINE),
        Command("train, vectors alone", [*_TRAIN, "--epochs", "1"], {"vectors.txt": vectors}, (_FORMER,)),
        Command("split, a first one", _SPLIT, {"split": whole}),
        Command("split, over a former one", _SPLIT, {"split": whole}, ([*_SPLIT, "--seed", "7"],)),
        Command("tune, a first search", [*_TUNE, "1"], {"search": search}),
        Command("tune, one more seed", [*_TUNE, "2"], {"search": search}, ([*_TUNE, "1"],)),
        Command("encode", [*_FORMER, "--dry-run"], {"cache/corpora": entries}, (_OTHER,)),
        *(
            Command(
                f"export, {name}",
                ["export", "model", name, "--force"],
                {name: whole, "model": whole},
                (_ONE_MODEL, ["export", "vectors.txt", name], [*_ONE_MODEL, "--seed", "8"]),
            )
            for name in ("out.txt", "out.bin", "out.npz")
        ),
    )
}
LONG = Command("train, at random", [*_TRAIN, "--epochs", "3", "--save-model", "model"], _BOTH)


class Trial:
    """A command, the folder that it finds, and what becomes of it when nobody kills it.

    Parameters
    ----------
    command : Command
    server : Server
    folder : Path
        Where to make a folder for the template and one for the runs.
    recovers : bool
        The package is asked to open each place after a kill, before anything looks at it.

    Attributes
    ----------
    trace : list
        The file operations of an undisturbed run (see `killing.Operations`).
    """

    def __init__(self, command, server, folder, recovers=False):
        self.command, self.server, self.recovers = command, server, recovers
        self.template, self.root = Path(folder) / "template", Path(folder) / "root"
        self._prepare()
        self.former = self._looked_at(self.template)
        self.copy()
        began = time.perf_counter()
        ended = server.run(self.root, command.argv)
        self.seconds = time.perf_counter() - began
        assert ended.code == 0, f"{command.name}: ends with {ended.code}\n{ended.said}"
        self.trace, self.rounds = ended.trace, ended.rounds
        self.new, self.all = self._looked_at(self.root), contents(self.root)
        self.seen, self.got = {}, {}

    def _prepare(self):
        """Make the template: data, and what the commands before have left."""
        self.root.mkdir(parents=True)
        (self.root / "corpus.txt").write_text(as_text(two_topics(n_sentences=700)))
        pairs = np.random.default_rng(5).integers(0, 20, (60, 2))
        (self.root / "valid.tsv").write_text("".join(f"{t}{a}\t{t}{b}\n" for t in "ab" for a, b in pairs if a != b))
        for path in self.root.iterdir():
            os.utime(path, (_OLD, _OLD))
        before = self.command.before
        if not before and not self.command.empty:
            before = ([*_FORMER, "--output", "unused.txt"],)  # which encodes the corpus
        for argv in before:
            rounds = int(argv[0]) if argv[0].isdecimal() else 0
            ended = self.server.run(self.root, argv[bool(rounds) :], round=rounds, send="SIGTERM", limit=_COLD)
            assert ended.code == (130 if rounds else 0), f"{argv}: ends with {ended.code}\n{ended.said}"
        (self.root / "unused.txt").unlink(missing_ok=True)
        for name in self.command.mine:
            (self.root / name).parent.mkdir(exist_ok=True)
            (self.root / name).write_text("mine\n")
        self.root.rename(self.template)
        self.copy()
        quiet = [] if self.command.argv[0] == "export" else ["--quiet"]
        ended = self.server.warm(self.root, [*self.command.argv, *quiet])
        assert ended.code == 0, f"{self.command.name}: ends with {ended.code}\n{ended.said}"

    def copy(self):
        """Start anew from the template, in the same place: some files hold its path."""
        shutil.rmtree(self.root, ignore_errors=True)
        shutil.copytree(self.template, self.root, symlinks=True)

    def _looked_at(self, root):
        return {name: contents(root / name) for name in self.command.looks}

    def points(self):
        """Return the operations at which a kill may find other files than at the one before (list of int)."""
        kinds = ["", *(kind for kind, *_ in self.trace)]
        return [point for point in range(1, len(kinds)) if kinds[point - 1] not in _NOTHING]

    def placing(self):
        """Return those operations that put something into its place, and the next ones (list of int)."""
        placed = {
            number
            for number, (kind, *paths) in enumerate(self.trace, 1)
            if kind in _PLACED and not all(os.path.dirname(path).endswith(".part") for path in paths)
        }
        return [point for point in self.points() if placed & {point, point - 1}]

    def look(self):
        """Return how far each place has got (dict of str -> number); Lost if one is damaged."""
        if self.recovers:
            for name, look in self.command.looks.items():
                if look is model or name == "split":
                    with suppress(W2vnegError):
                        (Model.load if look is model else check_place)(self.root / name)
        for name in self.command.mine:
            if contents(self.root / name) != contents(self.template / name):
                raise Lost(f"the user's {name} is gone")
        return {
            name: look(self.root / name, self.former[name], self.new[name], self.seen.setdefault(name, {}))
            for name, look in self.command.looks.items()
        }

    def _check(self):
        for name, far in self.look().items():
            if far < self.got[name]:
                raise Lost(f"{name} was kept by an earlier operation and is lost by this one")
            self.got[name] = far

    def again(self, argv=None):
        """Run the command once more and to its end; Lost if that does not leave what a run without a kill leaves."""
        ended = self.server.run(self.root, argv or self.command.argv)
        if ended.code != 0:
            raise Lost(f"run again, it ends with {ended.code}: {ended.said.strip()[-300:]}")
        found = contents(self.root)
        if argv is not None:  # a resumed run brings its vocabulary, for which the cache has another entry
            found = {name: each for name, each in found.items() if name in self.all or not _is_of_cache(name)}
        if found != self.all:
            kind = LITTER if self.all.items() <= found.items() else "run again, it leaves"
            raise Lost(f"{kind} {difference(found, self.all)}")

    def kill_at_each(self, points):
        """Kill the command at each of these operations, from 1 on and upwards; return what was lost (list of str)."""
        self.got = dict.fromkeys(self.command.looks, 0)
        return [lost for point in points for lost in self._kill_at(point)]

    def _kill_at(self, point):
        self.copy()
        ended = self.server.run(self.root, self.command.argv, at=point)
        kind, *paths = self.trace[point - 1]
        where = f"{self.command.name}: operation {point} of {len(self.trace)}, {' '.join([kind, *paths]).strip()}"
        if ended.code != -9:
            return [f"{where}: it was not killed there but ended with {ended.code}: {ended.said.strip()[-300:]}"]
        return [f"{where}: {lost}" for lost in map(_lost_by, (self._check, self.again)) if lost]

    def kill_at_random(self, seeds):
        """For each seed, kill the command up to three times, at any operation, round or moment; then run it to its end.

        A training is resumed by --resume as soon as its model is there. What was trained must stay, after SIGKILL
        all but the rounds since the last checkpoint.

        Returns
        -------
        list of str, what was lost
        """
        return [lost for seed in seeds for lost in self._kill_at_random(seed)]

    def _kill_at_random(self, seed):
        rng = np.random.default_rng(seed)
        self.copy()
        for seen in self.seen.values():
            seen.pop("former", None)  # trials of another seed took other seconds
        story = []
        try:
            for _ in range(rng.integers(1, 4)):
                self._disturb(rng, story)
                self.look()
            self.again(self._next())
        except Lost as lost:
            return [f"{self.command.name}, seed {seed}: {', '.join(story)}: {lost}"]
        return []

    def _next(self):
        """Return the arguments that go on with a training, where there is one, or else those of the command."""
        resumes = self.command.argv[0] == "train" and self.command.looks.get("model") is model
        if resumes and contents(self.root / "model") != self.former["model"]:
            return ["train", "--resume", "model"]
        return self.command.argv

    def _disturb(self, rng, story):
        """Kill a run in one way of three; tell it in the `story`."""
        send, start = str(rng.choice(_SIGNALS)), self._rounds_done()
        ways = [
            {"at": int(rng.integers(1, len(self.trace) + 1)), "send": "SIGKILL"},
            {"after": float(rng.uniform(0, self.seconds)), "send": send},
            {"round": int(rng.integers(len(self.rounds) or 1)) + 1, "send": send},
        ]
        way = ways[rng.integers(3 if self.rounds else 2)]
        story.append(" ".join(f"{name} {value}" for name, value in way.items()))
        ended = self.server.run(self.root, self._next(), **way)
        orderly = "round" in way and send != "SIGKILL"
        killed = -getattr(signal, way["send"])
        if ended.code not in ((0, 130) if orderly else (0, 130, killed)):
            raise Lost(f"ended with {ended.code}: {ended.said.strip()[-300:]}")
        if "round" in way and ended.code != 0 and "model" in self.command.looks:
            done, kept = start + way["round"], self._rounds_done()
            if kept < done - (0 if orderly else SAVED_EVERY):
                raise Lost(f"{done} rounds were done, and {kept} are kept")

    def _rounds_done(self):
        """Return how many rounds the model has been through (int); 0 without one."""
        path = self.root / "model"
        if not self.rounds or not path.exists() or contents(path) == self.former.get("model"):
            return 0
        loaded = Model.load(path)
        n_rounds = round(1 / (self.rounds[-1] - self.rounds[-2]) / loaded.config.epochs)
        return loaded.position.epoch * n_rounds + loaded.position.round


def _is_of_cache(name):
    return name.startswith("cache/") and "/." not in name


def _lost_by(step):
    try:
        step()
    except Lost as lost:
        return str(lost)
    return None


def not_on_disk(trace):
    """Return what a run put into its place, or left in it, before it was sure to be on the disk (list of str).

    What is renamed or exchanged must have been synced since it was written, with everything in it, and the folder that
    then names it afterwards; what is written in place must be synced at last.
    """
    last = {}  # path -> latest position of an operation, by whether it is a sync
    synced = {}
    found = []
    for number, (kind, first, second) in enumerate(trace):
        if kind in ("fsync", "fdatasync"):
            synced[first] = number
        elif kind in ("open", "file.write", "write"):
            last[first] = number
        elif kind in ("os.remove", "os.rmdir"):
            last.pop(first, None)
        elif kind in _PLACED and second:
            inside = {path for path in last if path == first or path.startswith(first + os.sep)}
            late = sorted(path for path in inside if synced.get(path, -1) < last[path])
            found += [f"{path} is not synced before {kind} to {second}" for path in late]
            after = [path for kind, path, _ in trace[number + 1 :] if kind == "fsync"]
            parent = os.path.dirname(second) or "."
            if inside and parent not in after and not _replaced_later(parent, trace[number + 1 :]):
                found.append(f"{parent} is not synced after {kind} to {second}")
            for path in inside:
                del last[path]
    return found + [f"{path} is not synced" for path, number in last.items() if synced.get(path, -1) < number]


def _replaced_later(folder, trace):
    """Tell whether a folder is itself put into its place later, which syncs what it names."""
    return any(kind in _PLACED and first == folder for kind, first, _ in trace)


def fast_folder():
    """Return a folder in memory where there is one, for `tempfile`: nothing here needs a disk (str or None)."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def _ranges(numbers):
    """Return whole numbers as text, such as 1-3, 7."""
    runs = []
    for number in numbers:
        if runs and runs[-1][1] == number - 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(f"{first}-{last}" if last > first else f"{first}" for first, last in runs) or "none"


def main(words):
    """Print a table of commands, kills and losses, and then each loss."""
    details, kills = [], 0
    print("| command | operations | kills | lost at | litter at | seconds |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(dir=fast_folder()) as folder:
        server = Server(folder)
        for number, command in enumerate([*COMMANDS.values(), LONG]):
            if words and not any(word in command.name for word in words):
                continue
            begun = time.perf_counter()
            trial = Trial(command, server, Path(folder) / str(number))
            trial.kill_at_each([])
            kill, cases = trial._kill_at, trial.points()
            if command is LONG:
                kill, cases = trial._kill_at_random, range(N_RANDOM)
            found = {case: kill(case) for case in cases}
            litter = [case for case in cases if found[case] and all(LITTER in each for each in found[case])]
            lost = [case for case in cases if found[case] and case not in litter]
            details += [each for case in cases for each in found[case]]
            kills += len(cases)
            row = [command.name, len(trial.trace), len(cases), _ranges(lost), _ranges(litter)]
            print("|", " | ".join(map(str, row)), f"| {time.perf_counter() - begun:.0f} |", flush=True)
        server.close()
    print(f"\n{kills} kills, {len(details)} complaints", *details, sep="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
