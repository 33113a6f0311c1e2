"""How much memory this process may use, for checks and for sizes of buffers; and a pause of the garbage collector."""

import gc
import os
from contextlib import contextmanager, suppress
from pathlib import PurePosixPath

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

_GUESS = 4 * 2**30  # if it is unknown
_GROUPS = "/proc/self/cgroup"  # a line for each hierarchy: its number, its controllers, this process's group
_MOUNTED = "/sys/fs/cgroup"
_LIMITS = {"": "memory.max", "memory": "memory/memory.limit_in_bytes"}  # of the root group; in version 2 without a name


def memory_size(default=_GUESS):
    """Return the bytes of memory this process may use (int); `default` if unknown.

    That is the minimum of the machine's memory, the limits of the process's control group and of each group above it,
    and the limits of the process itself (``ulimit -v``, ``ulimit -d``).
    """
    limits = []
    with suppress(AttributeError, ValueError, OSError):
        size, pages = os.sysconf("SC_PAGE_SIZE"), os.sysconf("SC_PHYS_PAGES")
        if min(size, pages) > 0:  # -1 if the system does not know
            limits.append(size * pages)
    for path in _files_of_groups():
        with suppress(OSError, ValueError), open(path, encoding="ascii") as stream:
            limits.append(int(stream.read()))  # a missing group or limit, or "max", is skipped
    for kind in ("RLIMIT_AS", "RLIMIT_DATA"):
        limit = resource.getrlimit(getattr(resource, kind))[0] if hasattr(resource, kind) else None
        if limit not in (None, getattr(resource, "RLIM_INFINITY", None)):
            limits.append(limit)
    return min(limits, default=default)


@contextmanager
def collector_paused():
    """Pause Python's garbage collector during the block, if it is on."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _files_of_groups():
    """Yield the files with the limits of control groups, of version 1 or 2.

    In a container the group may have the host's name for it; the mounted root is then the container's own group.
    """
    lines = []
    with suppress(OSError), open(_GROUPS, "rb") as stream:
        lines = os.fsdecode(stream.read()).splitlines()
    for _, controllers, group in (line.split(":", 2) for line in lines if line.count(":") > 1):
        for controller in _LIMITS.keys() & controllers.split(","):
            place, name = os.path.split(os.path.join(_MOUNTED, _LIMITS[controller]))
            path = PurePosixPath(group.lstrip("/"))
            yield from (os.path.join(place, each, name) for each in (path, *path.parents))
