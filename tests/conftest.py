"""Shared fixtures. No test touches the user's cache, a network or a mirror; compiled code stays for the next run."""

import os
import re
import signal
import socket
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest

from w2vneg.ground.files.caches import cache_dir

# Settled before any test module can import w2vneg.ground.jit, and before W2VNEG_CACHE is turned elsewhere below.
os.environ.setdefault("W2VNEG_JIT_CACHE", str(cache_dir("jit")))

# What a shell says to Python, to Numba, to us, of languages and widths is not for processes that tests start.
for _name in list(os.environ):
    if re.match("PYTHON(?!PATH)|NUMBA_(?!DISABLE_JIT|CPU)|W2VNEG_(?!CACHE|JIT_CACHE|MIRROR)|LC_|LANG|COLUMNS$", _name):
        del os.environ[_name]

# Out of sight of all tests, and of the processes that they start: who reads real data asks for the fixture `mirror`.
# Processes that share the tests out inherit what the first one has seen under a name that the package does not read.
_MIRROR = os.environ.pop("W2VNEG_MIRROR", None) or os.environ.get("_TESTS_MIRROR")
if _MIRROR:  # absolute, because tests change the current folder
    _MIRROR = Path(_MIRROR).expanduser().resolve()
    os.environ["_TESTS_MIRROR"] = str(_MIRROR)
os.environ.pop("W2VNEG_DATA", None)

# A shell that starts the tests in its background lets them ignore Ctrl-C, and their processes after them.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)  # before tests are chosen by their markers
def pytest_collection_modifyitems(items):
    skip = pytest.mark.skip(reason="W2VNEG_MIRROR names no mirror of the real data")
    for item in items:
        marked = item.get_closest_marker("realdata") is not None
        if marked != ("mirror" in getattr(item, "fixturenames", ())):
            raise pytest.UsageError(f"{item.nodeid}: the marker 'realdata' and the fixture 'mirror' go together")
        if marked and not _MIRROR:
            item.add_marker(skip)


@pytest.fixture(scope="session")
def gensim():
    """gensim's models, and the sets that come with it; it has no wheel for every Python."""
    return pytest.importorskip("gensim.models")


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("W2VNEG_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session", autouse=True)
def _no_network():
    """Named data that are not on this machine would be downloaded otherwise."""
    connect = socket.create_connection

    def connect_here(address, *arguments, **options):
        if address[0] not in ("127.0.0.1", "localhost", "::1"):
            raise OSError("tests use no network")
        return connect(address, *arguments, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket, "create_connection", connect_here)
        yield


@pytest.fixture
def mirror(monkeypatch, tmp_path):
    """The folder of real data that W2VNEG_MIRROR named at the start, as a Path: for this test named data are found.

    What it fetches goes into a cache of its own, so that no other test finds it there.
    """
    monkeypatch.setenv("W2VNEG_MIRROR", str(_MIRROR))
    monkeypatch.setenv("W2VNEG_CACHE", str(tmp_path / "cache"))
    return _MIRROR


@pytest.fixture
def as_python(monkeypatch):
    """What looks at draws runs as plain Python, which needs no machine code for each plug; the sockets are the same."""
    from w2vneg.run import diagnostics

    for name in ("observe", "enumerate_noise"):
        function = getattr(diagnostics, name)
        monkeypatch.setattr(diagnostics, name, partial(_call_plain, getattr(function, "py_func", function)))


def _call_plain(function, *arguments):
    """Call what looks at draws with the loops of its modules as plain Python; what is trained beside stays compiled."""
    import numpy as np

    from w2vneg.kernels import groups, observe

    with pytest.MonkeyPatch.context() as patch, np.errstate(over="ignore"):  # random streams wrap round on purpose
        for module in (groups, observe):
            for name, value in list(vars(module).items()):
                plain = getattr(value, "py_func", None)
                if getattr(plain, "__module__", None) in (groups.__name__, observe.__name__):
                    patch.setattr(module, name, plain)
        return function(*arguments)


class CliResult(NamedTuple):
    """What one run of the command line gave: exit code and the two streams."""

    code: int
    out: str
    err: str


@pytest.fixture
def run_cli(capsys):
    """A function that runs ``w2vneg ARGUMENTS…`` in this process and returns a `CliResult`."""
    from w2vneg.cli import main

    return partial(_run_main, capsys, main)


@pytest.fixture
def run_bench(capsys):
    """The same for ``python -m benchmarks ARGUMENTS…``."""
    from benchmarks.__main__ import run

    return partial(_run_main, capsys, run)


@pytest.fixture
def run_studies(capsys):
    """The same for ``python -m studies ARGUMENTS…``."""
    from studies.__main__ import run

    return partial(_run_main, capsys, run)


_COMPILING = re.compile(r"Compiling kernels|compiled \S+ in [\d.]+ s$")  # whether depends on the cache


def _run_main(capsys, main, *arguments):
    capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    lines = [line for line in err.splitlines(keepends=True) if not _COMPILING.match(line)]
    return CliResult(ended.value.code or 0, out, "".join(lines))
