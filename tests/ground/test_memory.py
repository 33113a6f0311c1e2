"""How much memory a process may use: the least of what the machine, the groups above it and its own limits leave."""

from types import SimpleNamespace

import pytest

from w2vneg.ground.files import memory
from w2vneg.ground.files.memory import memory_size

GB = 2**30
NO_LIMIT = 9223372036854771712  # as version 1 says it


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A function that makes a machine of 64 GB with these groups: the lines of /proc/self/cgroup, path -> content."""
    sizes = {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 64 * GB // 4096}
    monkeypatch.setattr(memory.os, "sysconf", sizes.__getitem__)
    monkeypatch.setattr(memory, "_GROUPS", str(tmp_path / "cgroup"))
    monkeypatch.setattr(memory, "_MOUNTED", str(tmp_path / "mounted"))
    monkeypatch.setattr(memory, "resource", None)

    def make(lines, limits):
        (tmp_path / "cgroup").write_text(lines)
        for name, content in limits.items():
            path = tmp_path / "mounted" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{content}\n")

    return make


@pytest.mark.parametrize(
    ("lines", "limits", "expected"),
    [
        ("0::/\n", {}, 64),
        ("0::/\n", {"memory.max": 3 * GB}, 3),  # a container of its own namespace
        ("0::/\n", {"memory.max": "max"}, 64),
        ("0::/a/b\n", {"a/b/memory.max": 2 * GB, "a/memory.max": 5 * GB}, 2),
        ("0::/a/b\n", {"a/b/memory.max": "max", "a/memory.max": 5 * GB}, 5),
        ("0::/a/b\n", {"other/memory.max": GB}, 64),
        ("0::/a b:c\n", {"a b:c/memory.max": GB}, 1),
        ("0::/docker/123\n", {"memory.max": 4 * GB}, 4),  # named as the machine sees it
        ("0::/../../a\n", {"memory.max": 4 * GB}, 4),
        ("4:memory:/a\n0::/\n", {"memory/a/memory.limit_in_bytes": GB}, 1),
        ("4:memory:/a/b\n", {"memory/a/b/memory.limit_in_bytes": NO_LIMIT, "memory/a/memory.limit_in_bytes": GB}, 1),
        ("4:cpu,memory:/docker/123\n", {"memory/memory.limit_in_bytes": 7 * GB}, 7),
        ("4:memory:/\n", {"memory/memory.limit_in_bytes": NO_LIMIT}, 64),
        ("4:cpu:/a\n", {"memory/a/memory.limit_in_bytes": GB}, 64),  # a group of another kind
        ("4:memory:/a\n0::/b\n", {"memory/a/memory.limit_in_bytes": 9 * GB, "b/memory.max": 8 * GB}, 8),
        ("nonsense\n", {"memory.max": GB}, 64),
        ("0::/a\n", {"a/memory.max": "?"}, 64),
        ("0::/a\n", {"a/memory.max": ""}, 64),
    ],
)
def test_the_least_limit_of_the_groups_counts(machine, lines, limits, expected):
    machine(lines, limits)
    assert memory_size() == expected * GB


@pytest.mark.parametrize("kind", ["RLIMIT_AS", "RLIMIT_DATA"])
def test_the_limits_of_the_process_count(machine, monkeypatch, kind):
    limits = {"RLIMIT_AS": -1, "RLIMIT_DATA": -1, kind: 2 * GB}
    names = {name: name for name in limits}
    fake = SimpleNamespace(RLIM_INFINITY=-1, getrlimit=lambda name: (limits[name], -1), **names)
    monkeypatch.setattr(memory, "resource", fake)
    machine("0::/\n", {"memory.max": 3 * GB})
    assert memory_size() == 2 * GB
    limits[kind] = -1
    assert memory_size() == 3 * GB


def test_where_nothing_can_be_asked_a_guess_is_made(tmp_path, monkeypatch):
    monkeypatch.setattr(memory.os, "sysconf", lambda name: -1)
    monkeypatch.setattr(memory, "_GROUPS", str(tmp_path / "none"))
    monkeypatch.setattr(memory, "resource", None)
    assert memory_size() == 4 * GB
    assert memory_size(default=None) is None
