"""Who owns a place, and what another process is told."""

import errno
import json
import os
import subprocess
import sys

import pytest

from w2vneg.ground.errors import OutputError
from w2vneg.ground.files import locks
from w2vneg.ground.files.locks import claim, keeps_others_out, lock_file, owned

needs_locks = pytest.mark.skipif(locks.fcntl is None, reason="no such locks on this system")


@needs_locks
def test_a_place_has_one_owner_who_is_named(tmp_path):
    with owned(tmp_path / "deep" / "model"):
        with pytest.raises(OutputError) as caught, owned(tmp_path / "deep" / "model"):
            pass
        with owned(tmp_path / "deep" / "other"):
            pass
    assert f"model: process {os.getpid()} on " in str(caught.value)
    assert str(caught.value).endswith("is writing there; wait for it or choose another folder")
    assert os.listdir(tmp_path / "deep") == []
    with owned(tmp_path / "deep" / "model"):
        pass


@needs_locks
def test_the_lock_of_a_killed_process_is_free(tmp_path):
    code = f"""
import os
from w2vneg.ground.files.locks import owned
with owned({str(tmp_path / "model")!r}):
    os.kill(os.getpid(), 9)
"""
    assert subprocess.run([sys.executable, "-c", code]).returncode == -9
    assert lock_file(tmp_path / "model").exists()
    with owned(tmp_path / "model"):
        assert json.loads(lock_file(tmp_path / "model").read_text())["pid"] == os.getpid()
    assert os.listdir(tmp_path) == []


@needs_locks
def test_an_owner_that_cannot_be_read(tmp_path):
    with owned(tmp_path / "model"):
        lock_file(tmp_path / "model").write_text("?")
        with pytest.raises(OutputError, match="another process is writing there"), owned(tmp_path / "model"):
            pass


def test_a_file_system_without_locks_keeps_nobody_out(tmp_path, monkeypatch):
    monkeypatch.setattr(locks, "fcntl", None)
    with owned(tmp_path / "model"), owned(tmp_path / "model"):
        assert claim(0) is None
    assert os.listdir(tmp_path) == []


@needs_locks
def test_whether_others_are_kept_out_can_be_asked(tmp_path, monkeypatch):
    assert not keeps_others_out(tmp_path / "model")
    with owned(tmp_path / "model"):
        assert keeps_others_out(tmp_path / "model")
        with pytest.raises(OutputError), owned(tmp_path / "model"):  # asking has not given it away
            pass

    def unsupported(descriptor, how):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(locks.fcntl, "flock", unsupported)
    with owned(tmp_path / "model"):
        assert not keeps_others_out(tmp_path / "model")
    assert os.listdir(tmp_path) == []


def test_a_parent_that_cannot_be_made(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match="file is not a folder; choose another"), owned(tmp_path / "file" / "model"):
        pass
