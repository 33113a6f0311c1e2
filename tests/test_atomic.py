"""Files and folders that are there whole or not at all."""

import errno
import os
import stat

import pytest

from w2vneg import atomic
from w2vneg.atomic import atomic_file, atomic_folder, check_folder_writable, check_writable
from w2vneg.errors import OutputError


@pytest.fixture
def umask():
    before = os.umask(0o027)
    yield 0o027
    os.umask(before)


def permissions(path):
    return stat.S_IMODE(os.stat(path).st_mode)


def full(*arguments, **options):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_file_appears_at_the_end_with_the_permissions_of_the_umask(tmp_path, umask):
    path = tmp_path / "a.txt"
    with atomic_file(path) as stream:
        stream.write(b"one")
        assert not path.exists()
    assert path.read_bytes() == b"one"
    assert permissions(path) == 0o666 & ~umask
    with atomic_file(str(path), "w", encoding="utf-8") as stream:
        stream.write("zwölf")
    assert path.read_text("utf-8") == "zwölf"
    assert os.listdir(tmp_path) == ["a.txt"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_an_error_inside_leaves_the_former_file_and_nothing_else(tmp_path, error):
    path = tmp_path / "a.txt"
    path.write_text("former")
    with pytest.raises(error), atomic_file(path) as stream:
        stream.write(b"half")
        raise error
    assert path.read_text() == "former"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_a_full_disk_is_told_and_leaves_nothing(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("former")
    with pytest.raises(OutputError) as caught, atomic_file(path):
        full()
    assert str(caught.value) == f"cannot write {path}: No space left on device; nothing was left behind"
    assert path.read_text() == "former"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_a_failing_rename_is_told_and_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(atomic.os, "replace", full)
    with pytest.raises(OutputError, match="No space left on device"), atomic_file(tmp_path / "a.txt") as stream:
        stream.write(b"x")
    assert os.listdir(tmp_path) == []


def test_a_missing_folder(tmp_path):
    with pytest.raises(OutputError, match="No such file or directory"), atomic_file(tmp_path / "no" / "a.txt"):
        pass
    with pytest.raises(OutputError, match=r"a\.txt: No such file or directory; choose another place"):
        check_writable(tmp_path / "no" / "a.txt")


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "b.txt").write_text("former")
    (tmp_path / "a.txt").symlink_to(tmp_path / "far" / "b.txt")
    check_writable(tmp_path / "a.txt")
    with atomic_file(tmp_path / "a.txt") as stream:
        stream.write(b"new")
    assert (tmp_path / "a.txt").is_symlink()
    assert (tmp_path / "far" / "b.txt").read_text() == "new"
    (tmp_path / "model").symlink_to(tmp_path / "far")
    with atomic_folder(tmp_path / "model") as folder:
        (folder / "c").touch()
    assert (tmp_path / "model").is_symlink()
    assert os.listdir(tmp_path / "far") == ["c"]
    assert sorted(os.listdir(tmp_path)) == ["a.txt", "far", "model"]


def test_a_pipe_is_written_to_and_not_replaced(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        check_writable(path)
        with atomic_file(path) as stream:
            stream.write(b"through")
        assert os.read(reader, 100) == b"through"
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(os.stat(path).st_mode)
    assert os.listdir(tmp_path) == ["pipe"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full on this system")
def test_devices_are_written_to_and_not_replaced():
    for device in ("/dev/null", "/dev/full"):
        check_writable(device)
    with atomic_file("/dev/null") as stream:
        stream.write(b"gone")
    with pytest.raises(OutputError, match="cannot write /dev/full: No space left"), atomic_file("/dev/full") as stream:
        stream.write(b"x")
    for device in ("/dev/null", "/dev/full"):
        assert stat.S_ISCHR(os.stat(device).st_mode)


def test_a_folder_appears_at_the_end_and_takes_the_place_of_a_former_one(tmp_path, umask):
    path = tmp_path / "deep" / "model"
    for content in ("one", "two"):
        with atomic_folder(path) as folder:
            (folder / f"{content}.txt").write_text(content)
            assert not (path / f"{content}.txt").exists()
        assert os.listdir(path) == [f"{content}.txt"]
    assert permissions(path) == 0o777 & ~umask
    assert os.listdir(tmp_path / "deep") == ["model"]


def test_others_in_a_former_folder_are_kept_on_request(tmp_path):
    path = tmp_path / "model"
    (path / "notes").mkdir(parents=True)
    (path / "notes" / "mine.txt").write_text("mine")
    (path / "a.txt").write_text("former")
    with atomic_folder(path, keep_others=True) as folder:
        (folder / "a.txt").write_text("new")
    assert (path / "a.txt").read_text() == "new"
    assert (path / "notes" / "mine.txt").read_text() == "mine"
    assert os.listdir(tmp_path) == ["model"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_error_inside_leaves_the_former_folder(tmp_path, error):
    path = tmp_path / "model"
    path.mkdir()
    (path / "a.txt").write_text("former")
    with pytest.raises(error), atomic_folder(path) as folder:
        (folder / "a.txt").write_text("half")
        raise error
    assert (path / "a.txt").read_text() == "former"
    assert os.listdir(tmp_path) == ["model"]


def test_a_former_folder_comes_back_if_the_new_one_cannot_take_its_place(tmp_path, monkeypatch):
    path = tmp_path / "model"
    path.mkdir()
    (path / "a.txt").write_text("former")
    replace, calls = os.replace, []

    def second_fails(source, target):
        calls.append(target)
        if len(calls) == 2:
            full()
        replace(source, target)

    monkeypatch.setattr(atomic.os, "replace", second_fails)
    with pytest.raises(OutputError, match="No space left"), atomic_folder(path) as folder:
        (folder / "a.txt").write_text("new")
    assert (path / "a.txt").read_text() == "former"
    assert os.listdir(tmp_path) == ["model"]


def test_files_and_folders_are_not_mixed_up(tmp_path):
    (tmp_path / "file").write_text("mine")
    (tmp_path / "folder").mkdir()
    with pytest.raises(OutputError, match="it is a folder; name a file"):
        check_writable(tmp_path / "folder")
    with pytest.raises(OutputError, match="it is a file; name a folder"):
        check_folder_writable(tmp_path / "file")
    with pytest.raises(OutputError, match="it is a file; name a folder"), atomic_folder(tmp_path / "file"):
        pass
    with pytest.raises(OutputError), atomic_file(tmp_path / "folder"):
        pass
    with pytest.raises(OutputError), atomic_folder(tmp_path / "file" / "below"):
        pass
    with pytest.raises(OutputError, match="choose another place"):
        check_folder_writable(tmp_path / "file" / "below")
    assert (tmp_path / "file").read_text() == "mine"
    assert sorted(os.listdir(tmp_path)) == ["file", "folder"]


def test_checks_leave_no_trace(tmp_path):
    check_writable(tmp_path / "a.txt")
    check_folder_writable(tmp_path / "deep" / "er" / "model")
    (tmp_path / "model").mkdir()
    check_folder_writable(tmp_path / "model")
    assert os.listdir(tmp_path) == ["model"]


@pytest.mark.parametrize("check", [check_writable, check_folder_writable])
def test_a_place_that_cannot_be_written_is_told_at_once(tmp_path, monkeypatch, check):
    def refuse(*arguments, **options):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(atomic.tempfile, "mkstemp", refuse)
    monkeypatch.setattr(atomic.tempfile, "mkdtemp", refuse)
    with pytest.raises(OutputError) as caught:
        check(tmp_path / "a")
    assert str(caught.value) == f"cannot write {tmp_path / 'a'}: Permission denied; choose another place"
