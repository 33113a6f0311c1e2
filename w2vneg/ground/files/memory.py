"""How much memory there is: asked by whoever would refuse, or size, something by it."""

import os
from contextlib import suppress
from pathlib import PurePosixPath

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

_GUESS = 4 * 2**30  # where it cannot be asked
_GROUPS = "/proc/self/cgroup"  # a line for each hierarchy: its number, its controllers, this process's group
_MOUNTED = "/sys/fs/cgroup"
_LIMITS = {"": "memory.max", "memory": "memory/memory.limit_in_bytes"}  # of the root group; version 2 names nothing


def memory_size(default=_GUESS):
    """Return the bytes of memory this process may use (int); `default` where unknown.

    That is the least of the machine's memory, the limits of the process's control group and of each group above it,
    and the limits of the process itself (``ulimit -v``, ``ulimit -d``).
    """
    return min([*_physical(), *_of_groups(), *_of_process()], default=default)


def _physical():
    with suppress(AttributeError, ValueError, OSError):
        size, pages = os.sysconf("SC_PAGE_SIZE"), os.sysconf("SC_PHYS_PAGES")
        if min(size, pages) > 0:  # -1 where the system does not tell
            yield size * pages


def _of_groups():
    """Yield the limits of control groups, of version 1 or 2.

    In a container the group may be named as the machine sees it; what is mounted as the root is then the container's.
    """
    try:
        with open(_GROUPS, "rb") as stream:
            lines = os.fsdecode(stream.read()).splitlines()
    except OSError:
        return
    for _, controllers, group in (line.split(":", 2) for line in lines if line.count(":") > 1):
        for controller in _LIMITS.keys() & controllers.split(","):
            place, name = os.path.split(os.path.join(_MOUNTED, _LIMITS[controller]))
            path = PurePosixPath(group.lstrip("/"))
            for each in (path, *path.parents):
                yield from _number_in(os.path.join(place, each, name))


def _number_in(path):
    try:
        with open(path, encoding="ascii") as stream:
            return [int(stream.read())]
    except (OSError, ValueError):  # no such group or limit, or "max"
        return []


def _of_process():
    for kind in ("RLIMIT_AS", "RLIMIT_DATA"):
        if hasattr(resource, kind):
            limit, _ = resource.getrlimit(getattr(resource, kind))
            if limit != resource.RLIM_INFINITY:
                yield limit
