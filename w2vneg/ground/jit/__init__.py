"""The single point of access to Numba: compile options, the disk cache, threads.

Compiled code is cached in a folder named by the syntax of all files with jitted code. Numba alone checks only the file
of the outermost function, and would keep using machine code built from helpers that have changed since. Code that a
plug from outside the package is part of has the plug's files in its key (`watch_plug`).
"""

import hashlib
import os
import shutil
import sys
import time
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba import prange as prange
from numba import types as types
from numba.core import cgutils as cgutils
from numba.core import config as _numba_config
from numba.core import event as numba_events
from numba.core.compiler import Compiler
from numba.core.registry import CPUDispatcher
from numba.extending import intrinsic as intrinsic
from numba.extending import overload as _overload
from numba.extending import register_jitable as _register_jitable

from ..errors import ConfigError
from ..events import Compiled, Compiling
from ..files.caches import path_of
from .disk import digest_of_files, keep_code, syntax_digest
from .disk import not_kept as not_kept

DISABLE_JIT = bool(_numba_config.DISABLE_JIT)


ZERO, ONE = np.float32(0.0), np.float32(1.0)
"""A plain 0.0 would promote results to float64."""

LEAF = {"reassoc", "contract"}
"""fastmath flags of the innermost loops: the full speed of SIMD sums, with NaN and infinity preserved."""

_PACKAGE = Path(__file__).resolve().parents[2]
_ROOMS = (
    "ground/jit/__init__.py",
    "kernels/**/*.py",
    "objectives/losses/*.py",
    "objectives/samplers/*.py",
    "objectives/weighers/*.py",
    "objectives/inputs/*.py",
)  # all jitted code that other jitted code calls
_OPTIONS: dict[str, Any] = {"error_model": "numpy", "nogil": True, "no_cfunc_wrapper": True}  # never called from C
_INNER = {"no_cpython_wrapper": True}  # functions of hot loops are not called from Python either; compiles faster
_UNUSED_FOR = 30 * 24 * 3600  # seconds after which the machine code of other versions is deleted

_dispatchers: list = []
_outside_plugs: dict[type, dict] = {}  # class -> {str function bound to it: str digest of their files}
_CPUS = {  # values of W2VNEG_CPU -> features that a processor needs to run the code
    "generic": (),
    "x86-64-v2": ("sse4.2", "popcnt"),
    "x86-64-v3": ("avx2", "bmi2", "fma"),
    "x86-64-v4": ("avx512f", "avx512bw", "avx512dq", "avx512vl"),
}


def _choose_cpu(name):
    """Make Numba compile for any processor of a kind, so that machines can share compiled code; ConfigError if it
    cannot run here.
    """
    from llvmlite.binding import get_host_cpu_features

    if name not in _CPUS:
        raise ConfigError(f"W2VNEG_CPU={name}: expected {', '.join(_CPUS)}; unset it to compile for this processor")
    here = get_host_cpu_features()
    missing = [feature for feature in _CPUS[name] if not here.get(feature)]
    if missing:
        raise ConfigError(f"W2VNEG_CPU={name}: this processor has no {', '.join(missing)}; use generic, or unset it")
    _numba_config.CPU_NAME, _numba_config.CPU_FEATURES = name, ""


if os.environ.get("W2VNEG_CPU"):
    _choose_cpu(os.environ["W2VNEG_CPU"])


@cache
def _files_of_rooms():
    return frozenset(path for room in _ROOMS for path in _PACKAGE.glob(room))


@cache
def _place():
    """Return the folder of this version's compiled code, existing or not."""
    parent = path_of("jit")
    return parent / _package_digest(parent)


def _package_digest(parent):
    versions = f"numba {numba.__version__} {_numba_config.BOUNDSCHECK}"
    syntax = digest_of_files(_PACKAGE, _files_of_rooms(), parent)
    return hashlib.sha256(f"{versions} {syntax}".encode()).hexdigest()[:20]


@cache
def cache_folder():
    """Return the folder of this version's compiled code as a Path, or None if no cache can be written.

    ``W2VNEG_JIT_CACHE`` replaces its parent, the ``jit`` folder of the cache.
    """
    folder = _place()
    try:
        fresh = not folder.exists()
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".probe-{os.getpid()}"
        probe.touch()
        probe.unlink()
        os.utime(folder)
        if fresh:
            _sweep(folder.parent)
    except OSError:
        return None
    return folder


def _sweep(parent):
    for other in parent.iterdir():
        if time.time() - other.stat().st_mtime > _UNUSED_FOR:
            if other.is_dir():
                shutil.rmtree(other, ignore_errors=True)
            elif other.suffix == ".syntax":
                other.unlink(missing_ok=True)


def _keep(dispatcher):
    """Count the compilations of a dispatcher, and keep its code on disk."""
    _dispatchers.append(dispatcher)
    folder = cache_folder() or _place()  # a read-only folder may still hold code
    if not hasattr(dispatcher, "enable_caching"):
        return  # NUMBA_DISABLE_JIT
    if isinstance(dispatcher, _Borrower):
        folder /= "borrowers"  # the index of a folder distinguishes functions by source, not by options
    keep_code(dispatcher, folder, _files_of_rooms(), _outside_plugs)


def watch_plug(plug, function):
    """Make machine code that includes an outside plug depend on the files of its class and of its function.

    Sockets call it for all that is bound to them. Helpers that a plug imports from other files are not watched.
    """
    code = function.__code__
    sources = {Path(code.co_filename), Path(getattr(sys.modules.get(plug.__module__), "__file__", None) or "")}
    if all(source.resolve().is_relative_to(_PACKAGE) for source in sources):
        return
    digest = hashlib.sha256()
    for source in sorted(sources):
        known = source.is_file()
        digest.update(syntax_digest(source.read_bytes()) if known else code.co_code + repr(code.co_consts).encode())
    bound = _outside_plugs.setdefault(plug, {})
    bound[f"{function.__module__}.{function.__qualname__}"] = digest.hexdigest()


class _WithoutOverlaps(Compiler):
    """Numba's compiler, set to assume that no two arguments share memory, as in its own `prange` loops."""

    def define_pipelines(self):
        self.state.flags.noalias = True
        return super().define_pipelines()


class _Borrower(CPUDispatcher):
    """A function of hot loops, compiled without an entry point for Python, which saves an eighth of the compile time.

    A second dispatcher, with the entry point, is made when Python first calls it.
    """

    def __call__(self, *args, **kwargs):
        return self._with_entry(*args, **kwargs)

    @cached_property
    def _with_entry(self):
        dispatcher = numba.jit(**(self.targetoptions | {"no_cpython_wrapper": False}))(self.py_func)
        _keep(dispatcher)
        return dispatcher


def njit(function=None, *, fastmath=False, parallel=False, borrows=False, loop=False):
    """Compile with the project's options: NumPy's division rules, no GIL, the disk cache.

    fastmath : set of str, `LEAF` for a loop whose sums may be reordered; never True
    parallel : bool, for launchers that use `prange`
    borrows : bool, for a function of the hot loop that allocates nothing: references to its arrays are not counted,
        since counting makes workers wait for each other, and it is always inlined, since passing arrays costs as much
        as a short loop over a row
    loop : bool, for a hot loop itself, which Python calls: it allocates nothing either, and no two arrays passed to it,
        including those in NamedTuples, may overlap if one of them is written to (the compiler relies on it)
    """
    options = _OPTIONS | {"fastmath": fastmath, "_nrt": not (borrows or loop), "forceinline": borrows}
    pipeline: dict[str, Any] = {"pipeline_class": _WithoutOverlaps} if loop else {}

    def decorate(python_function):
        dispatcher = numba.njit(parallel=parallel, **options, **pipeline)(python_function)
        if borrows and not DISABLE_JIT:
            dispatcher = _Borrower(python_function, targetoptions=dispatcher.targetoptions | _INNER)
        _keep(dispatcher)
        return dispatcher

    return decorate if function is None else decorate(function)


def implementation_of(stub, choose, borrows=True):
    """Make compiled calls of `stub` run the Python function that ``choose(first argument's class)`` returns.

    The class is that of a NamedTuple, known at compile time: the choice costs nothing at run time, and the next process
    finds the result in the disk cache. `borrows` is as in `njit`.
    """
    options = _OPTIONS | _INNER | {"_nrt": not borrows, "forceinline": borrows}

    @_overload(stub, strict=False, jit_options=options, inline="never")
    def resolve(*args):
        return choose(getattr(args[0], "instance_class", None))

    return stub


def jitable(function):
    """Make a plain Python function callable from compiled code; calling it from Python compiles nothing."""
    return _register_jitable(**_OPTIONS, **_INNER, _nrt=False, forceinline=True)(function)


@intrinsic
def prefetch(typing_context, array, row, column):
    """Start loading the cache line that holds ``array[row, column]``, for reading only."""

    def emit(context, builder, signature, arguments):
        import llvmlite.ir as ir

        kind = signature.args[0]
        matrix = context.make_array(kind)(context, builder, arguments[0])
        place = cgutils.get_item_pointer(context, builder, kind, matrix, [arguments[1], arguments[2]])
        pointer = builder.bitcast(place, ir.IntType(8).as_pointer())
        number = ir.IntType(32)
        kind_of = ir.FunctionType(ir.VoidType(), [pointer.type, number, number, number])
        declared = builder.module.declare_intrinsic("llvm.prefetch", [pointer.type], kind_of)
        builder.call(declared, [pointer, number(0), number(3), number(1)])
        return context.get_dummy_value()

    return types.void(array, types.intp, types.intp), emit


if DISABLE_JIT:

    def prefetch(array, row, column):
        """Do nothing: plain Python cannot prefetch."""


@contextmanager
def watched(listener):
    """Report each function that is compiled in the block, rather than found in the disk cache.

    listener : callable, receives a `Compiling` when it begins and a `Compiled` when it is done; functions that it calls
        are compiled with it and not reported
    """
    with numba_events.install_listener("numba:compile", _Watcher(listener)):
        yield


class _Watcher(numba_events.Listener):
    """Follows the depth of compilation; under Numba's lock only one thread compiles at a time."""

    def __init__(self, listener):
        self._emit, self._depth, self._begun = listener, 0, 0.0

    def on_start(self, event):
        self._depth += 1
        if self._depth == 1:
            self._begun = time.perf_counter()
            self._emit(Compiling(_shown(event.data["dispatcher"])))

    def on_end(self, event):
        self._depth -= 1
        if self._depth == 0:
            self._emit(Compiled(_shown(event.data["dispatcher"]), time.perf_counter() - self._begun))


def _shown(dispatcher):
    function = dispatcher.py_func
    return f"{function.__module__.removeprefix('w2vneg.')}.{function.__name__}"


def compilations():
    """Return how many signatures this process compiled, and found in the disk cache: dict of str, a function's name ->
    (int, int).
    """
    counts: dict[str, tuple[int, int]] = {}
    for dispatcher in _dispatchers:
        stats = getattr(dispatcher, "stats", None)
        if stats is not None and dispatcher.signatures:
            name, found = _shown(dispatcher), sum(stats.cache_hits.values())
            before = counts.get(name, (0, 0))
            counts[name] = before[0] + len(dispatcher.signatures) - found, before[1] + found
    return counts


def available_threads():
    """Return how many threads a launch may use (int)."""
    return numba.config.NUMBA_NUM_THREADS


def launch(work, count):
    """Run ``work(0)`` to ``work(count - 1)`` in parallel and return their results, a list in this order.

    They run on this and other Python threads, `available_threads` at most; a `prange` loop is no faster and takes
    twice as long to compile. Nothing is left running when an exception, such as Ctrl-C, leaves this function.
    """
    todo, results = iter(range(count)), [None] * count

    def some():
        for k in todo:
            results[k] = work(k)

    futures = []
    try:
        for _ in range(0 if DISABLE_JIT else min(count, available_threads()) - 1):
            try:
                futures.append(_helpers().submit(some))
            except RuntimeError:  # no more threads, or the interpreter is about to end: this thread does the rest
                break
        some()
    finally:
        for _ in todo:
            pass
        running = [future for future in futures if not future.cancel()]
        _wait_for(running)
    for future in running:
        future.result()
    return results


def _wait_for(futures):
    """Wait until all are done; only then raise a Ctrl-C that came meanwhile."""
    interrupt = None
    while not all(future.done() for future in futures):
        try:
            wait(futures)
        except KeyboardInterrupt as error:
            interrupt = error
    if interrupt is not None:
        raise interrupt


@cache
def _helpers():
    return ThreadPoolExecutor(available_threads(), thread_name_prefix="w2vneg")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_helpers.cache_clear)  # threads do not survive a fork


@contextmanager
def threads(count):
    """Let `prange` loops in the block use `count` threads, at most those available, and yield how many."""
    before = numba.get_num_threads()
    count = max(1, min(count, available_threads()))
    numba.set_num_threads(count)
    try:
        yield count
    finally:
        numba.set_num_threads(before)
