"""``w2vneg doctor``: does this machine have what w2vneg needs, and does the compiler's cache work?"""

import json
import os
import platform
import re
import subprocess
import sys
import tempfile
from contextlib import suppress
from importlib import metadata
from pathlib import Path

import click

from .. import __version__
from ..ground.files import caches
from ..ground.files.memory import memory_size
from .options import json_option
from .tables import echo_json, hanging

_NEEDED = ("numpy", "numba", "llvmlite", "scipy", "pandas", "click", "tqdm", "platformdirs")
_FOR_DEVELOPERS = ("docs", "test", "browser", "bench", "lint")  # extras that no command needs

# Written to a file, as Numba caches only functions of files, and compiled with the project's decorator.
_PROBE = """
import json, time
start = time.perf_counter()
from w2vneg.ground.jit import cache_folder, njit, prange
import numba

@njit
def doubled(number):
    return 2 * number

@njit(parallel=True)
def total(count):
    result = 0
    for i in prange(count):
        result += i
    return result

right = doubled(21) == 42 and total(10) == 45
stats = getattr(doubled, "stats", None)
print(json.dumps({
    "right": right,
    "compiled": stats is not None,
    "hits": sum(stats.cache_hits.values()) if stats else 0,
    "cache": cache_folder() is not None,
    "layer": numba.threading_layer() if stats else None,
    "threads": numba.config.NUMBA_NUM_THREADS,
    "cpu": numba.config.CPU_NAME or __import__("llvmlite.binding").binding.get_host_cpu_name(),
    "seconds": time.perf_counter() - start,
}))
"""


@click.command()
@json_option
@click.pass_context
def doctor(ctx, as_json):
    """Check versions, machine, cache and compiler.

    It also lists the installed extras. Exit code 0 if training can run, 1 if not.
    """
    problems, versions = [], {"w2vneg": __version__, "python": platform.python_version()}
    for package in _NEEDED:
        versions[package] = _version(package)
        if versions[package] is None:
            problems.append(f"the package {package} is missing; install it with: pip install {package}")
    extras = {package: _version(package) for package in _packages_of_extras()}
    report = {"versions": versions, "extras": extras, "machine": _machine(), "cache": _cache(problems)}
    report |= {"jit": _jit(problems), "problems": problems}
    if as_json:
        echo_json(report)
    else:
        _show(report)
    ctx.exit(1 if problems else 0)


def _version(package):
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _packages_of_extras():
    """Return the first extra that installs each package, as in setup.cfg: dict of str -> str."""
    found = {}
    with suppress(metadata.PackageNotFoundError):  # run from its folder, not installed
        for line in metadata.requires("w2vneg") or []:
            extra = re.search(r"extra *== *[\"']([\w-]+)", line)
            if extra and extra[1] not in _FOR_DEVELOPERS:
                found.setdefault(re.match(r"[\w.-]+", line)[0], extra[1])
    return found


def _machine():
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    cpu = platform.processor() or platform.machine()
    with suppress(OSError), open("/proc/cpuinfo", encoding="utf-8", errors="replace") as stream:  # of Linux
        named = (line.partition(":")[2].strip() for line in stream if line.startswith("model name"))
        cpu = next(named, cpu)
    about = {"system": platform.platform(), "cpu": cpu, "cores_available": cores, "cores": os.cpu_count()}
    return about | {"memory_bytes": memory_size(default=None)}


def _trouble_with(folder):
    """Return why a folder, made if needed, cannot be written; None if it can."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder, buffering=0) as stream:
            stream.write(b"w2vneg")  # a file can still be created on a full disk
    except OSError as error:
        return error.strerror


def _cache(problems):
    folder = caches.cache_dir()
    if trouble := _trouble_with(folder):
        remedy = "set W2VNEG_CACHE to one that can"
        problems.append(f"the cache folder {folder} cannot be written ({trouble}); {remedy}")
    return {"folder": str(folder), "writable": not trouble}


def _jit(problems):
    """Run the probe in two processes; the second should find the machine code of the first."""
    parent = caches.path_of("jit")
    if trouble := _trouble_with(parent):
        problems.append(f"the folder of compiled code {parent} cannot be written ({trouble})")
    first = second = None
    try:
        with tempfile.TemporaryDirectory(prefix="w2vneg-doctor-", dir=None if trouble else parent) as name:
            probe = Path(name, "probe.py")
            probe.write_text(_PROBE, encoding="utf-8")
            first = _run_probe(probe, problems)
            second = _run_probe(probe, problems) if first else None
    except OSError as error:
        place = "the folder of temporary files" if trouble else f"the folder of compiled code {parent}"
        problems.append(f"{place} cannot be written ({error.strerror}), so the compiler was not tested")
    if not first or not second:
        return {"works": False, "disk_cache_works": False}
    if not first["compiled"]:
        problems.append("the compiler is switched off (NUMBA_DISABLE_JIT is set): training would be very slow")
    elif not second["right"]:
        problems.append("compiled code gives wrong results; reinstall numba")
    elif not second["hits"]:
        problems.append(f"compiled code is not reused from {parent}: every start compiles for several seconds")
    seconds = {f"seconds_{name}": round(one["seconds"], 2) for name, one in (("first", first), ("second", second))}
    about = {"folder": str(parent), "threading_layer": second["layer"], "threads": second["threads"]}
    works = {"works": first["compiled"] and second["right"], "disk_cache_works": bool(second["hits"])}
    return works | about | {"target_cpu": second["cpu"]} | seconds


def _run_probe(probe, problems):
    package = str(Path(__file__).resolve().parents[2])
    path = os.pathsep.join(filter(None, [package, os.environ.get("PYTHONPATH")]))
    environment = os.environ | {"W2VNEG_JIT_CACHE": str(probe.parent / "jit"), "PYTHONPATH": path}
    command = [sys.executable, str(probe)]
    options = {"env": environment, "capture_output": True, "text": True, "timeout": 300, "stdin": subprocess.DEVNULL}
    try:
        run = subprocess.run(command, **options)
        return json.loads(run.stdout)
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        last = run.stderr.strip().splitlines()[-1:] if isinstance(error, ValueError) else [str(error)]
        problems.append(f"the compiler does not work: {' '.join(last) or 'it ended without a message'}")
        return None


def _show(report):
    versions, machine, cache, jit = (report[key] for key in ("versions", "machine", "cache", "jit"))
    memory = machine["memory_bytes"]
    size = f"{memory / 2**30:.1f} GiB of memory" if memory else "memory unknown"
    extras = [f"{package} {version}" for package, version in report["extras"].items() if version]
    brought_by = _packages_of_extras()
    missing = [f"{package} [{brought_by[package]}]" for package, found in report["extras"].items() if not found]
    lines = [
        ("versions", ", ".join(f"{name} {version or 'MISSING'}" for name, version in versions.items())),
        ("extras", ", ".join(extras) or "none"),
        ("missing", f'{", ".join(missing)}; pip install "w2vneg[EXTRA]" installs one' if missing else "none"),
        ("machine", f"{machine['cpu']}, {machine['cores_available']} cores available, {size}"),
        ("system", machine["system"]),
        ("cache", f"{cache['folder']} ({'writable' if cache['writable'] else 'NOT writable'})"),
        ("compiler", _note_of(jit)),
    ]
    for label, value in lines:
        click.echo(hanging(f"{label + ':':<13} ", value))
    for problem in report["problems"]:
        click.echo(hanging("PROBLEM: ", problem))
    if not report["problems"]:
        click.echo("Everything that training needs works.")


def _note_of(jit):
    if not jit["works"]:
        return "does NOT work"
    cached = "reused by the next process" if jit["disk_cache_works"] else "NOT reused"
    seconds = f"{jit['seconds_first']} s, then {jit['seconds_second']} s"
    threads = f"threading layer {jit['threading_layer']} with {jit['threads']} threads"
    return f"works, machine code for {jit['target_cpu']} {cached} ({seconds}), {threads}"
