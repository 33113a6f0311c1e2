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
    limits = []
    with suppress(AttributeError, ValueError, OSError):
        size, pages = os.sysconf("SC_PAGE_SIZE"), os.sysconf("SC_PHYS_PAGES")
        if min(size, pages) > 0:  # -1 where the system does not tell
            limits.append(size * pages)
    for path in _files_of_groups():
        with suppress(OSError, ValueError), open(path, encoding="ascii") as stream:
            limits.append(int(stream.read()))  # no such group or limit, or "max", is passed over
    for kind in ("RLIMIT_AS", "RLIMIT_DATA"):
        limit = resource.getrlimit(getattr(resource, kind))[0] if hasattr(resource, kind) else None
        if limit not in (None, getattr(resource, "RLIM_INFINITY", None)):
            limits.append(limit)
    return min(limits, default=default)


def _files_of_groups():
    """Yield the files of the limits of control groups, of version 1 or 2.

    In a container the group may be named as the machine sees it; what is mounted as the root is then the container's.
    """
    lines = []
    with suppress(OSError), open(_GROUPS, "rb") as stream:
        lines = os.fsdecode(stream.read()).splitlines()
    for _, controllers, group in (line.split(":", 2) for line in lines if line.count(":") > 1):
        for controller in _LIMITS.keys() & controllers.split(","):
            place, name = os.path.split(os.path.join(_MOUNTED, _LIMITS[controller]))
            path = PurePosixPath(group.lstrip("/"))
            yield from (os.path.join(place, each, name) for each in (path, *path.parents))
