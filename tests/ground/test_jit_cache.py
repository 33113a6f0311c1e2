"""The disk cache of compiled code: found again by the next process, never stale, and never in another plug's way."""

import json
import os
import pickle
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from numba.core.caching import NullCache

from w2vneg.ground.files.locks import CAN_WAIT
from w2vneg.ground.jit import njit, watched
from w2vneg.ground.jit.disk import keep_code, not_kept

pytestmark = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="about compiled code")

TRAIN = """
import json
from w2vneg import Word2Vec
from w2vneg.ground.jit import cache_folder
from w2vneg.kernels.shard import fill_block
from w2vneg.kernels.window import train_windows
Word2Vec(loss="ns", dim=8, window=1, epochs=1, min_count=1, workers=1, subsample=0).fit([["a", "b", "c"]] * 4)
print(json.dumps({
    "folder": str(cache_folder()),
    "hits": [sum(f.stats.cache_hits.values()) for f in (fill_block, train_windows)],
    "misses": [sum(f.stats.cache_misses.values()) for f in (fill_block, train_windows)],
}))
"""

PLUG = """
from typing import NamedTuple
from w2vneg.kernels.contracts import implement_step

class Fixed(NamedTuple):
    flavour: int = 0

@implement_step(Fixed)
def step(loss, centre_row, alpha, rng, logits, exp_logits, log_q, weights, gradients):
    return 1.0
"""

BORROWING_PLUG = """
from typing import NamedTuple
from w2vneg.kernels.contracts import implement_step
from w2vneg.objectives.losses import negative_sampling

class Fixed(NamedTuple):
    mean_negatives: bool = False

implement_step(Fixed)(negative_sampling.step)
"""

# `ask` stands for the loops of the package: it lies in a folder of its own and is known to every process
CALLER = """
import numpy as np
from w2vneg.ground.jit import njit
from w2vneg.kernels.contracts import step

@njit
def ask(loss, x):
    return step(loss, 0, x[0], x, x, x, x, x, x.copy())
"""

ASK = """
import json, sys
import numpy as np
from caller import ask
from w2vneg.ground.jit import cache_folder
from w2vneg.objectives.losses.negative_sampling import NegativeSampling
loss = NegativeSampling()
if len(sys.argv) > 1:
    import importlib
    loss = importlib.import_module(sys.argv[1]).Fixed()
value = ask(loss, np.ones(3, np.float32))
stats = ask.stats
print(json.dumps({
    "value": value, "folder": str(cache_folder()),
    "hits": sum(stats.cache_hits.values()), "misses": sum(stats.cache_misses.values()),
}))
"""

# a function that loops borrow has no entry for Python; the one with an entry must not be taken for it, nor it for that
BORROWED = """
from w2vneg.ground.jit import njit

@njit(borrows=True)
def halve(x):
    return x / 2

@njit
def ask(x):
    return halve(x) + 1
"""

CALL = """
import json, sys
import borrowed
from w2vneg.ground.jit import compilations
values = {name: getattr(borrowed, name)(3.0) for name in sys.argv[1:]}
print(json.dumps({"values": values, "compiled": sum(compiled for compiled, _ in compilations().values())}))
"""


# two processes come here, and neither begins to compile before the other is there
MEET = """
import json, sys, time
from pathlib import Path
import borrowed
from w2vneg.ground.jit import compilations
me, other = map(Path, sys.argv[1:])
me.touch()
while not other.exists():
    time.sleep(0.01)
borrowed.ask(3.0)
print(json.dumps([sum(counts) for counts in zip(*compilations().values())]))
"""


@pytest.fixture
def places(tmp_path):
    """A folder for compiled code, one for a module that every process sees, two for plugs."""
    folders = {name: tmp_path / name for name in ("compiled", "common", "plugs", "more")}
    for folder in folders.values():
        folder.mkdir()
    (folders["common"] / "caller.py").write_text(CALLER)
    return folders


def run(places, script, *arguments, paths=("common",), **variables):
    """Run a script in a process of its own and return what it printed, parsed."""
    path = os.pathsep.join([*(str(places[name]) for name in paths), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "W2VNEG_JIT_CACHE": str(places["compiled"]), "PYTHONPATH": path, **variables}
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments], env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


def hits_and_misses(places, *arguments, paths=("common", "plugs"), script=ASK):
    """Run a script; return (how often code was found, how often not)."""
    result = run(places, script, *arguments, paths=paths)
    return result["hits"], result["misses"]


def test_a_second_process_finds_the_compiled_loops(places):
    common = {"W2VNEG_JIT_CACHE": os.environ["W2VNEG_JIT_CACHE"]}  # where other tests may have left them, too
    first = run(places, TRAIN, **common)
    assert [hits + misses for hits, misses in zip(first["hits"], first["misses"], strict=True)] == [1, 1]
    second = run(places, TRAIN, **common)
    assert second == {"folder": first["folder"], "hits": [1, 1], "misses": [0, 0]}


@pytest.mark.slow
def test_a_plug_from_outside_is_found_again_until_it_says_another_thing_and_harms_nobody_without_it(places):
    path = places["plugs"] / "plug.py"
    path.write_text(PLUG)
    first = run(places, ASK, "plug", paths=("common", "plugs"))
    assert (first["value"], first["hits"], first["misses"]) == (1.0, 0, 1)
    path.write_text(f"# Always the same.\n{PLUG}")
    assert hits_and_misses(places, "plug") == (1, 0)
    path.write_text(PLUG.replace("1.0", "2.0"))
    last = run(places, ASK, "plug", paths=("common", "plugs"))
    assert (last["value"], last["hits"], last["misses"]) == (2.0, 0, 1)
    assert hits_and_misses(places, paths=["common"]) == (0, 1)  # a process that cannot import the plug
    assert hits_and_misses(places, script=f"import plug\n{ASK}") == (1, 0)  # what it does not go into, all share


@pytest.mark.slow
def test_a_plug_with_a_function_of_the_package_is_found_again(places):
    (places["plugs"] / "plug.py").write_text(BORROWING_PLUG)
    assert [hits_and_misses(places, "plug") for _ in range(2)] == [(0, 1), (1, 0)]
    assert hits_and_misses(places, paths=["common"]) == (0, 1)


@pytest.mark.slow
def test_equal_plugs_of_different_names_do_not_share_code(places):
    (places["plugs"] / "one.py").write_text(PLUG)
    (places["more"] / "other.py").write_text(PLUG)
    assert hits_and_misses(places, "one") == (0, 1)
    assert hits_and_misses(places, "other", paths=("common", "more")) == (0, 1)  # which cannot import `one`
    assert hits_and_misses(places, "one") == (1, 0)


@pytest.mark.slow
def test_a_function_outside_the_package_is_compiled_again_when_its_file_says_another_thing(places):
    path = places["common"] / "caller.py"
    assert hits_and_misses(places) == (0, 1)
    path.write_text(CALLER.replace("@njit", "# It asks.\n@njit").replace("    return", '    """Ask."""\n    return'))
    assert hits_and_misses(places) == (1, 0)
    path.write_text(CALLER.replace("loss, 0, x[0]", "loss, 1, x[0]"))
    assert hits_and_misses(places) == (0, 1)


@pytest.mark.slow
def test_bounds_checks_are_compiled_apart(places):
    plain, checked = run(places, ASK), run(places, ASK, NUMBA_BOUNDSCHECK="1")
    assert plain["folder"] != checked["folder"]


@pytest.mark.slow
def test_python_and_loops_call_the_same_function_each_its_own_code(places):
    (places["common"] / "borrowed.py").write_text(BORROWED)
    values = {"halve": 1.5, "ask": 2.5}
    assert run(places, CALL, "ask") == {"values": {"ask": 2.5}, "compiled": 2}
    assert run(places, CALL, "halve") == {"values": {"halve": 1.5}, "compiled": 1}
    assert run(places, CALL, "halve", "ask") == {"values": values, "compiled": 0}
    assert run(places, CALL, "ask", "halve") == {"values": values, "compiled": 0}


CALLED = """
import json, sys
if sys.argv[1:] == ["read-only"]:
    import pathlib, tempfile
    def refuse(*arguments, **options):
        raise OSError(30, "Read-only file system")
    pathlib.Path.touch = tempfile.TemporaryFile = refuse
import borrowed
from numba import config
from w2vneg.ground.jit import cache_folder
value = borrowed.ask(3.0)
found = sum(borrowed.ask.stats.cache_hits.values())
print(json.dumps({"value": value, "found": found, "written": cache_folder() is not None, "cpu": config.CPU_NAME}))
"""


@pytest.mark.skipif(not CAN_WAIT, reason="needs locks")
def test_two_processes_at_one_time_compile_a_function_once(places):
    (places["common"] / "borrowed.py").write_text(BORROWED)
    doors = [str(places["more"] / name) for name in ("one", "two")]
    with ThreadPoolExecutor() as side_by_side:
        counts = list(side_by_side.map(lambda order: run(places, MEET, *order), (doors, doors[::-1])))
    assert sorted(counts) == [[0, 1], [2, 0]]  # compiled, found: `ask`, of which `halve` is a part
    assert not [*places["compiled"].rglob("*.turn")]


def test_code_in_a_cache_that_cannot_be_written_is_read(places):
    (places["common"] / "borrowed.py").write_text(BORROWED)
    assert run(places, CALLED)["found"] == 0
    assert run(places, CALLED, "read-only") == {"value": 2.5, "found": 1, "written": False, "cpu": None}


@pytest.mark.slow
def test_code_for_any_machine_is_kept_beside_that_of_this_one(places):
    (places["common"] / "borrowed.py").write_text(BORROWED)
    found = [run(places, CALLED, W2VNEG_CPU=cpu)["found"] for cpu in ("", "generic", "", "generic")]
    assert found == [0, 0, 1, 1] and run(places, CALLED, W2VNEG_CPU="generic")["cpu"] == "generic"


def test_without_a_place_to_write_training_still_works(places, tmp_path):
    (tmp_path / "file").write_text("not a folder")
    result = run(places, ASK, W2VNEG_JIT_CACHE=str(tmp_path / "file"))
    assert result["folder"] == "None"


def halved(x):
    return x / 2


def fresh(folder):
    """Return `halved` as a process that has just begun would have it, with its code below a folder."""
    dispatcher = njit(halved)
    dispatcher._cache = NullCache()
    keep_code(dispatcher, folder, (), {})
    return dispatcher


def found(folder, value=3.0):
    """Tell whether the code for a value was found in a folder (bool); it gives the right result in any case."""
    dispatcher = fresh(folder)
    assert dispatcher(value) == value / 2
    hits, misses = (sum(counts.values()) for counts in (dispatcher.stats.cache_hits, dispatcher.stats.cache_misses))
    assert hits + misses == 1
    return hits == 1


def flipped(data, seed):
    at = random.Random(seed).randrange(8 * len(data))
    return data[: at // 8] + bytes([data[at // 8] ^ 1 << at % 8]) + data[at // 8 + 1 :]


BROKEN = {
    "empty": lambda data: b"",
    "a byte": lambda data: data[:1],
    "cut short": lambda data: data[: len(data) // 2],
    "without its end": lambda data: data[:-1],
    "without its digest": lambda data: data[:-32],
    "longer": lambda data: data + b"\0",
    "zeros": lambda data: bytes(len(data)),
    "random": lambda data: random.Random(1).randbytes(len(data)),
    "text": lambda data: b"not what it was",
    **{f"a bit, {seed}": lambda data, seed=seed: flipped(data, seed) for seed in range(8)},
}


@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
@pytest.mark.parametrize("edit", BROKEN.values(), ids=BROKEN)
def test_a_damaged_file_of_compiled_code_is_replaced(tmp_path, suffix, edit):
    assert not found(tmp_path) and found(tmp_path)
    (path,) = tmp_path.rglob(f"*{suffix}")
    path.write_bytes(edit(path.read_bytes()))
    assert not found(tmp_path) and found(tmp_path)


@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
def test_a_file_of_compiled_code_that_is_missing_or_a_folder_stops_nothing(tmp_path, suffix):
    found(tmp_path)
    (path,) = tmp_path.rglob(f"*{suffix}")
    path.unlink()
    assert not found(tmp_path) and found(tmp_path)
    path.unlink()
    path.mkdir()
    assert not found(tmp_path) and not found(tmp_path)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads everything")
@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
def test_a_file_of_compiled_code_that_may_not_be_read_is_replaced(tmp_path, suffix):
    found(tmp_path)
    (path,) = tmp_path.rglob(f"*{suffix}")
    path.chmod(0)
    assert not found(tmp_path) and found(tmp_path)


def test_code_of_another_signature_is_never_called(tmp_path):
    """Two processes that save at one time may take the same name for what they have compiled."""
    found(tmp_path, 3.0), found(tmp_path, 3)
    one, two = sorted(tmp_path.rglob("*.nbc"))
    two.write_bytes(one.read_bytes())
    assert found(tmp_path, 3.0)
    assert not found(tmp_path, 3) and found(tmp_path, 3) and found(tmp_path, 3.0)


def test_an_index_that_names_what_cannot_be_imported_is_replaced(tmp_path):
    found(tmp_path)
    cache = fresh(tmp_path)._cache
    unknown = pickle.dumps(keep_code).replace(b"keep_code", b"kept_code")
    with cache._cache_file._open_for_write(cache._cache_file._index_path) as index:
        index.write(pickle.dumps(cache._cache_file._version) + unknown)
    assert not found(tmp_path) and found(tmp_path)


def test_a_full_disk_keeps_no_code_and_stops_nothing(tmp_path, monkeypatch):
    def full(*args):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", full)
        assert not found(tmp_path) and not_kept.pop().errno == 28 and not not_kept
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
    assert not found(tmp_path) and found(tmp_path)


def test_a_turn_is_given_back_where_the_compiler_fails(tmp_path):
    dispatcher = fresh(tmp_path)
    with pytest.raises(Exception, match="Failed in nopython mode"):
        dispatcher({"no": "number"}.keys())
    assert not dispatcher._cache._turns and not [*tmp_path.rglob("*.turn")]
    assert dispatcher(3.0) and not dispatcher._cache._turns


@pytest.mark.skipif(not CAN_WAIT or not hasattr(os, "fork"), reason="needs locks and forks")
def test_a_turn_is_given_back_though_a_child_has_its_file(tmp_path):
    from w2vneg.ground.files.locks import claim, give_up

    first, second = (os.open(tmp_path / "turn", os.O_RDWR | os.O_CREAT) for _ in range(2))
    child = subprocess.Popen(["sleep", "60"], pass_fds=[first])
    try:
        assert claim(first) and claim(second) is False
        give_up(first)
        os.close(first)
        assert claim(second)
    finally:
        child.kill()
        child.wait()
        os.close(second)


def test_without_locks_nobody_waits_and_no_file_is_left(tmp_path, monkeypatch):
    monkeypatch.setattr("w2vneg.ground.jit.disk.CAN_WAIT", False)
    monkeypatch.setattr("w2vneg.ground.jit.disk.claim", lambda turn: pytest.fail("waits"))
    assert not found(tmp_path) and found(tmp_path)


def test_seconds_of_waiting_count_as_compiling(tmp_path, monkeypatch):
    answers, events = iter([False, False, False, True]), []
    monkeypatch.setattr("w2vneg.ground.jit.disk.CAN_WAIT", True)
    monkeypatch.setattr("w2vneg.ground.jit.disk.claim", lambda turn: next(answers))
    with watched(events.append):
        assert not found(tmp_path)
    assert [type(event).__name__ for event in events] == ["Compiling", "Compiled"] * 2
    assert events[1].seconds >= 0.04 and events[1].function == events[3].function


def test_patience_with_another_process_ends(tmp_path, monkeypatch):
    monkeypatch.setattr("w2vneg.ground.jit.disk._PATIENCE", 0.1)
    monkeypatch.setattr("w2vneg.ground.jit.disk.claim", lambda turn: False)
    assert not found(tmp_path) and found(tmp_path)


def test_code_is_never_kept_beside_the_sources(tmp_path):
    """There it would outlive changes of what it was built from."""
    file = tmp_path / "file"
    file.write_text("not a folder")
    assert not found(file) and not found(file)
    assert fresh(file).stats.cache_path is None
