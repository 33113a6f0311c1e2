"""Compiling ahead: after it a run on files compiles nothing, whatever it reads."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from planted import as_text, two_topics

from w2vneg import config
from w2vneg.ground.errors import ConfigError
from w2vneg.ground.files.locks import CAN_WAIT
from w2vneg.objectives import presets
from w2vneg.run.warmup import beside, warm_up

pytestmark = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="about compiled code")

# Counted by signatures, so that what an earlier test has left in the disk cache does not matter.
RUN = """
import json, sys
from w2vneg.cli import main

def command(*arguments):
    try:
        main(list(arguments))
    except SystemExit as ended:
        assert not ended.code, arguments

def signatures():
    from w2vneg.ground import jit
    return {f"{d.py_func.__module__}.{d.py_func.__name__} {s}" for d in jit._dispatchers for s in d.signatures}

read, path, *options = sys.argv[1:]
command("warmup", "--for", {"--corpus": "text"}.get(read, read.lstrip("-")), "--quiet", *options)
before = signatures()
command("train", read, path, "--quiet", "--epochs", "1", "--output", path + ".vectors", *options)
print(json.dumps([len(before), sorted(signatures() - before)]))
"""


def compiled_by_train(path, read, *options):
    """Return (signatures that warmup compiled or found, those that train still had to)."""
    done = subprocess.run(
        [sys.executable, "-c", RUN, read, str(path), *options], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "data.txt"
    path.write_text(as_text(two_topics()))
    return path


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "data.tsv"
    path.write_text("".join(f"item{i}\titem{(i * i + k) % 30}\t{k}\n" for i in range(30) for k in (1, 2, 3)))
    return path


@pytest.mark.parametrize("loss", ["ns", pytest.param("softmax", marks=pytest.mark.slow)])
def test_train_on_text_compiles_nothing_more(text, loss):
    n, more = compiled_by_train(text, "--corpus", f"--loss={loss}", "--workers=2", "--dim=8")
    assert n >= 4
    assert more == []


@pytest.mark.slow
@pytest.mark.parametrize("read", ["--baskets", "--pairs"])
def test_train_on_items_compiles_nothing_more(text, table, read):
    path = table if read == "--pairs" else text
    n, more = compiled_by_train(path, read, "--loss=ns", "--workers=2", "--dim=8")
    assert n >= 4
    assert more == []


def test_it_tells_what_it_compiled_and_changes_no_cache_of_texts(run_cli, tmp_path, monkeypatch):
    monkeypatch.setenv("W2VNEG_CACHE", str(tmp_path / "cache"))
    result = run_cli("warmup", "--loss", "ns", "--workers", "1", "--dim", "8", "--json")
    assert result.code == 0, result.err
    (run,) = json.loads(result.out)
    assert (run["loss"], run["source"]) == ("ns", "text")
    assert run["seconds"] > 0
    assert "1/1: ns on text: compiling or loading the kernels" in result.err
    assert not (tmp_path / "cache" / "corpora").exists()
    again = run_cli("warmup", "--loss", "ns", "--workers", "1", "--dim", "8")
    assert "ns on text: 0 functions compiled" in again.out


def test_code_that_could_not_be_kept_is_an_error(run_cli, monkeypatch):
    from w2vneg.run import warmup

    def full(run):
        warmup.not_kept.append(OSError(28, "No space left on device"))
        return real(run)

    real = warmup.Run.trainer
    monkeypatch.setattr(warmup.Run, "trainer", full)
    result = run_cli("warmup", "--loss", "ns", "--workers", "1", "--dim", "8", "--quiet")
    assert (result.code, result.out) == (1, "")
    assert "cannot be kept in" in result.err and "(No space left on device)" in result.err
    monkeypatch.undo()
    assert run_cli("warmup", "--loss", "ns", "--workers", "1", "--dim", "8", "--quiet").code == 0


def test_all_means_every_preset(run_cli, monkeypatch):
    asked = []

    def note(config, source):
        asked.append((config.loss, source))
        return warm_up_result

    from w2vneg.run.warmup import Warmed

    warm_up_result = Warmed((), (), 0.0)
    monkeypatch.setattr("w2vneg.run.warmup.warm_up", note)
    assert run_cli("warmup", "--all", "--for", "text", "--for", "pairs").code == 0
    assert asked == [(name, source) for name in presets.PRESETS for source in ("text", "pairs")]
    assert run_cli("warmup", "--all", "--loss", "ns").code == 2


def test_without_a_place_for_compiled_code_there_is_nothing_to_do(monkeypatch, run_cli):
    monkeypatch.setattr("w2vneg.run.warmup.cache_folder", lambda: None)
    with pytest.raises(ConfigError, match="W2VNEG_JIT_CACHE"):
        warm_up(config.TrainConfig())
    result = run_cli("warmup")
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith("Error: there is no place")


class _Other:
    """Counts the processes that `beside` starts, and keeps each."""

    def __init__(self, monkeypatch):
        self.all, real = [], subprocess.Popen

        def start(*args, **options):
            self.all.append(real(*args, **options))
            return self.all[-1]

        monkeypatch.setattr("w2vneg.run.warmup.subprocess.Popen", start)


@pytest.mark.skipif(not CAN_WAIT, reason="needs locks")
def test_another_process_compiles_beside_the_first_run_until_that_ends(monkeypatch, tmp_path):
    other = _Other(monkeypatch)
    monkeypatch.setattr("w2vneg.run.warmup.cache_folder", lambda: tmp_path / "jit" / "version")
    monkeypatch.setattr("w2vneg.run.warmup.available_threads", lambda: 2)
    monkeypatch.setenv("W2VNEG_JIT_CACHE", str(tmp_path / "jit"))
    (tmp_path / "jit" / "version").mkdir(parents=True)
    (tmp_path / "pickle.py").write_text("raise SystemExit(1)")  # code of the working folder does not run
    monkeypatch.chdir(tmp_path)
    begun = time.monotonic()
    with beside(config.TrainConfig(loss="ns", dim=8), "text"):
        while not any((tmp_path / "jit").rglob("*.nbc")):
            assert other.all[0].poll() is None and time.monotonic() - begun < 120
            time.sleep(0.05)
    assert [process.poll() is None for process in other.all] == [False]
    assert not [*tmp_path.rglob("made-up.txt")]


ORPHAN = """
import sys, time
from pathlib import Path
from w2vneg import config
from w2vneg.run import warmup
warmup.cache_folder, warmup.available_threads = lambda: Path(sys.argv[1]), lambda: 2
real = warmup.subprocess.Popen

def start(*args, **options):
    other = real(*args, **options)
    print(other.pid, flush=True)
    return other

warmup.subprocess.Popen = start
with warmup.beside(config.TrainConfig(loss="ns", dim=8), "text"):
    time.sleep(60)
"""


@pytest.mark.skipif(not CAN_WAIT, reason="needs locks")
def test_the_other_process_ends_though_the_first_is_killed(tmp_path):
    environment = {**os.environ, "W2VNEG_JIT_CACHE": str(tmp_path / "jit"), "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-c", ORPHAN, str(tmp_path)]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as first:
        other = int(first.stdout.readline())
        time.sleep(2)
        first.kill()
    begun = time.monotonic()
    while is_running(other):
        assert time.monotonic() - begun < 20
        time.sleep(0.05)


def is_running(pid):
    try:
        os.kill(pid, 0)
        return "zombie" not in Path(f"/proc/{pid}/status").read_text()
    except ProcessLookupError:
        return False
    except FileNotFoundError:  # gone meanwhile, or a system without /proc, which keeps no dead child of another
        return Path("/proc").is_dir() is False


@pytest.mark.parametrize(
    ("name", "value", "plugin"),
    [
        ("available_threads", lambda: 1, ""),
        ("cache_folder", lambda: None, ""),
        ("CAN_WAIT", False, ""),
        ("DISABLE_JIT", True, ""),
        ("sys.executable", None, ""),
        ("_ITEMS", 60, "own.py"),
    ],
)
def test_no_other_process_is_started_where_it_cannot_help(monkeypatch, tmp_path, name, value, plugin):
    other = _Other(monkeypatch)
    monkeypatch.setattr("w2vneg.run.warmup.available_threads", lambda: 2)
    monkeypatch.setattr("w2vneg.run.warmup.cache_folder", lambda: tmp_path)
    monkeypatch.setattr(name if "." in name else f"w2vneg.run.warmup.{name}", value)
    with beside(config.TrainConfig(loss="ns", dim=8, plugin=plugin), "text"):
        assert not other.all


def test_no_other_process_is_started_where_code_was_compiled_before(monkeypatch, tmp_path):
    other = _Other(monkeypatch)
    monkeypatch.setattr("w2vneg.run.warmup.cache_folder", lambda: tmp_path)
    (tmp_path / "room").mkdir()
    (tmp_path / "room" / "loop.nbi").touch()
    with beside(config.TrainConfig(loss="ns", dim=8), "text"):
        assert not other.all
