"""How much memory there is: asked by whoever would refuse, or size, something by it."""

import os

_GUESS = 4 * 2**30  # where it cannot be asked


def memory_size(default=_GUESS):
    """Return the bytes of memory this process may use (int), a container's limit counted; `default` where unknown."""
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return default
    try:
        with open("/sys/fs/cgroup/memory.max", encoding="ascii") as stream:
            return min(memory, int(stream.read()))
    except (OSError, ValueError):  # no such limit, or "max"
        return memory
