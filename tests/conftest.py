"""Shared fixtures. No test touches the user's cache; compiled code stays where the next run finds it."""

import os
import signal
from pathlib import Path
from typing import NamedTuple

import pytest

from w2vneg.cachedir import cache_dir

# Settled before any test module can import w2vneg.jit, and before W2VNEG_CACHE is turned elsewhere below.
os.environ.setdefault("W2VNEG_JIT_CACHE", str(cache_dir("jit")))

# A shell that starts the tests in its background lets them ignore Ctrl-C, and their processes after them.
signal.signal(signal.SIGINT, signal.default_int_handler)

_MIRROR = os.environ.get("W2VNEG_MIRROR")
if _MIRROR:  # absolute, because tests change the current folder
    _MIRROR = os.environ["W2VNEG_MIRROR"] = str(Path(_MIRROR).expanduser().resolve())


def pytest_collection_modifyitems(items):
    if _MIRROR:
        return
    skip = pytest.mark.skip(reason="W2VNEG_MIRROR names no mirror of the real data")
    for item in items:
        if item.get_closest_marker("realdata"):
            item.add_marker(skip)


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("W2VNEG_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture
def mirror():
    """The folder of real data that W2VNEG_MIRROR named at the start, as a Path; skipped without one."""
    if not _MIRROR:
        pytest.skip("W2VNEG_MIRROR names no mirror of the real data")
    return Path(_MIRROR)


class CliResult(NamedTuple):
    """What one run of the command line gave: exit code and the two streams."""

    code: int
    out: str
    err: str


@pytest.fixture
def run_cli(capsys):
    """A function that runs ``w2vneg ARGUMENTS…`` in this process and returns a `CliResult`."""
    from w2vneg.cli import main

    def run(*arguments):
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return CliResult(ended.value.code or 0, out, err)

    return run
