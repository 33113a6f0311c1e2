"""The disk cache of compiled code: found again by the next process, never stale, and never in another plug's way."""

import json
import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="about compiled code")

TRAIN = """
import json
from w2vneg import Word2Vec
from w2vneg.jit import cache_folder
from w2vneg.kernels.round import fill_block
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
def step(loss, centre_row, alpha, rng, logits, odds, log_q, weights, gradients):
    return 1.0
"""

BORROWING_PLUG = """
from typing import NamedTuple
from w2vneg.kernels.contracts import implement_step
from w2vneg.losses import negative_sampling

class Fixed(NamedTuple):
    mean: bool = False

implement_step(Fixed)(negative_sampling.step)
"""

# `ask` stands for the loops of the package: it lies in a folder of its own and is known to every process
CALLER = """
import numpy as np
from w2vneg.jit import njit
from w2vneg.kernels.contracts import step

@njit
def ask(loss, x):
    return step(loss, 0, x[0], x, x, x, x, x, x.copy())
"""

ASK = """
import json, sys
import numpy as np
from caller import ask
from w2vneg.jit import cache_folder
from w2vneg.losses.negative_sampling import NegativeSampling
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
from w2vneg.jit import njit

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
from w2vneg.jit import compilations
values = {name: getattr(borrowed, name)(3.0) for name in sys.argv[1:]}
print(json.dumps({"values": values, "compiled": sum(compiled for compiled, _ in compilations().values())}))
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


def test_a_second_process_finds_the_compiled_loops(places):
    common = {"W2VNEG_JIT_CACHE": os.environ["W2VNEG_JIT_CACHE"]}  # where other tests may have left them, too
    first = run(places, TRAIN, **common)
    assert [hits + misses for hits, misses in zip(first["hits"], first["misses"], strict=True)] == [1, 1]
    second = run(places, TRAIN, **common)
    assert second == {"folder": first["folder"], "hits": [1, 1], "misses": [0, 0]}


@pytest.mark.parametrize("text", [PLUG, BORROWING_PLUG], ids=["its own function", "a function of the package"])
def test_a_plug_from_outside_is_found_again_and_harms_no_process_without_it(places, text):
    (places["plugs"] / "plug.py").write_text(text)
    both = ("common", "plugs")
    assert run(places, ASK, "plug", paths=both)["misses"] == 1
    assert run(places, ASK, "plug", paths=both)["hits"] == 1
    run(places, ASK)  # which cannot import the plug


def test_editing_a_plug_leads_to_new_code_in_another_folder(places):
    path = places["plugs"] / "edited.py"
    both = ("common", "plugs")
    path.write_text(PLUG)
    before = run(places, ASK, "edited", paths=both)
    path.write_text(PLUG.replace("1.0", "2.0"))
    after = run(places, ASK, "edited", paths=both)
    assert (before["value"], after["value"]) == (1.0, 2.0)
    assert before["folder"] != after["folder"]


def test_equal_plugs_of_different_names_do_not_share_a_folder(places):
    (places["plugs"] / "one.py").write_text(PLUG)
    one = run(places, ASK, "one", paths=("common", "plugs"))
    (places["more"] / "other.py").write_text(PLUG)
    other = run(places, ASK, "other", paths=("common", "more"))  # which cannot import `one`
    assert one["folder"] != other["folder"]


def test_bounds_checks_are_compiled_apart(places):
    plain, checked = run(places, ASK), run(places, ASK, NUMBA_BOUNDSCHECK="1")
    assert plain["folder"] != checked["folder"]


def test_python_and_loops_call_the_same_function_each_its_own_code(places):
    (places["common"] / "borrowed.py").write_text(BORROWED)
    values = {"halve": 1.5, "ask": 2.5}
    assert run(places, CALL, "ask") == {"values": {"ask": 2.5}, "compiled": 2}
    assert run(places, CALL, "halve") == {"values": {"halve": 1.5}, "compiled": 1}
    assert run(places, CALL, "halve", "ask") == {"values": values, "compiled": 0}
    assert run(places, CALL, "ask", "halve") == {"values": values, "compiled": 0}


def test_without_a_place_to_write_training_still_works(places, tmp_path):
    (tmp_path / "file").write_text("not a folder")
    result = run(places, ASK, W2VNEG_JIT_CACHE=str(tmp_path / "file"))
    assert result["folder"] == "None"
