"""``w2vneg doctor``: one real run, and what it says when something is missing."""

import ast
import configparser
import json
from pathlib import Path

import pytest

import w2vneg
from w2vneg.cli import doctor
from w2vneg.look.tracking import TRACKERS
from w2vneg.vectors.formats import FORMATS

_RIGHT = {
    "right": True, "compiled": True, "hits": 1, "cache": True, "layer": "workqueue", "threads": 2,
    "cpu": "generic", "seconds": 0.5,
}  # fmt: skip


@pytest.fixture
def quick(monkeypatch):
    """Replace the probe's answers; a function that sets some facts of the second run."""

    def answers(**facts):
        runs = iter([_RIGHT | {"hits": 0}, _RIGHT | facts])
        monkeypatch.setattr(doctor, "_run_probe", lambda probe, problems: next(runs))

    answers()
    return answers


def test_real_run(run_cli, monkeypatch, tmp_path):
    monkeypatch.setenv("W2VNEG_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("W2VNEG_JIT_CACHE", str(tmp_path / "jit"))
    monkeypatch.delenv("NUMBA_DISABLE_JIT", raising=False)
    result = run_cli("doctor", "--json")
    report = json.loads(result.out)
    assert report["problems"] == []
    assert (result.code, result.err) == (0, "")
    assert report["versions"]["numba"].count(".") >= 1
    assert report["machine"]["cores_available"] >= 1
    assert report["cache"] == {"folder": str(tmp_path / "cache"), "writable": True}
    assert report["jit"]["works"] and report["jit"]["disk_cache_works"]
    assert report["jit"]["threading_layer"] in ("tbb", "omp", "workqueue")
    assert list((tmp_path / "jit").iterdir()) == []


def test_lines_for_people(run_cli, quick):
    result = run_cli("doctor")
    assert result.code == 0
    for words in ("numpy", "cores available", "(writable)", "reused by the next process", "missing:"):
        assert words in result.out
    assert result.out.splitlines()[-1] == "Everything that training needs works."


def test_extras_stand_in_setup_cfg_alone(run_cli, quick):
    """What the code asks for is there; the doctor looks for all of it."""
    parser = configparser.ConfigParser()
    home = Path(w2vneg.__file__).parents[1]
    parser.read(home / "setup.cfg", encoding="utf-8")
    named = set(parser["options.extras_require"])
    calls = [
        node
        for path in Path(w2vneg.__file__).parent.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.Call) and getattr(node.func, "id", None) == "require" and len(node.args) == 3
    ]
    asked = {node.args[1].value for node in calls if isinstance(node.args[1], ast.Constant)}
    asked |= {FORMATS[name].extra for name in FORMATS} | {TRACKERS[name].extra for name in TRACKERS}
    assert len(asked) > 10 and asked - {""} <= named
    found = doctor._packages_of_extras()
    assert asked - {""} <= set(found.values()) and set(found.values()) <= named
    out = run_cli("doctor").out
    assert all(package in out for package in found)


def test_unwritable_cache(run_cli, quick, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("W2VNEG_CACHE", str(tmp_path / "file" / "cache"))
    result = run_cli("doctor")
    assert result.code == 1
    assert "NOT writable" in result.out
    assert "PROBLEM: the cache folder" in result.out
    assert "set W2VNEG_CACHE to one that can" in result.out


def test_full_disk(run_cli, quick, monkeypatch):
    def full(*args, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    result = run_cli("doctor")
    assert result.code == 1 and "cannot write to standard output" not in result.err
    assert "PROBLEM: the folder of compiled code" in result.out
    assert "cannot be written (No space left on device), so the compiler was not tested" in result.out


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"hits": 0}, "compiled code is not reused from"),
        ({"right": False}, "compiled code gives wrong results"),
    ],
)
def test_compiler_that_misbehaves(run_cli, quick, facts, words):
    quick(**facts)
    result = run_cli("doctor")
    assert result.code == 1
    assert words in result.out


def test_compiler_that_does_not_start(run_cli, monkeypatch):
    monkeypatch.setattr(doctor, "_PROBE", "raise ImportError('no compiler here')")
    result = run_cli("doctor")
    assert result.code == 1
    assert "PROBLEM: the compiler does not work: ImportError: no compiler here" in result.out


def test_missing_package(run_cli, quick, monkeypatch):
    monkeypatch.setattr(doctor, "_NEEDED", (*doctor._NEEDED, "w2vneg-needs-this"))
    result = run_cli("doctor")
    assert result.code == 1
    assert "w2vneg-needs-this MISSING" in result.out
    assert "PROBLEM: the package w2vneg-needs-this is missing" in result.out
