"""Files and folders written atomically: complete or not there."""

import ctypes
import errno
import os
import stat

import pytest

from w2vneg.ground.errors import OutputError
from w2vneg.ground.files import atomic
from w2vneg.ground.files.atomic import (
    appending,
    atomic_file,
    atomic_folder,
    check_folder_writable,
    check_writable,
    passes_on,
    recover,
    sweep,
)
from w2vneg.ground.files.locks import owned


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


def test_a_full_disk_is_told_where_numpy_says_how_much_alone(tmp_path):
    said = r"the disk is full, or .* \(9 requested and 6 written\)"
    with pytest.raises(OutputError, match=said), atomic_file(tmp_path / "a.txt"):
        raise OSError("9 requested and 6 written")


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


@pytest.fixture
def standard_output():
    """A function that turns standard output to an open file, until the test is over."""
    before = os.dup(1)
    yield lambda descriptor: os.dup2(descriptor, 1)
    os.dup2(before, 1)
    os.close(before)


needs_names_of_open_files = pytest.mark.skipif(not os.path.exists("/dev/fd/1"), reason="no /dev/fd on this system")


@needs_names_of_open_files
@pytest.mark.parametrize("append", [False, True])
@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "link"])
def test_an_open_file_is_written_to_where_it_is(tmp_path, standard_output, name, append):
    path = tmp_path / "a.txt"
    path.write_text("former\n")
    (tmp_path / "link").symlink_to("/dev/stdout")
    with open(path, "ab" if append else "wb") as stream:
        standard_output(stream.fileno())
        place = tmp_path / name
        check_writable(place)
        assert passes_on(place)
        with atomic_file(place) as out:
            out.write(b"new\n")
        with appending(place) as out:
            out.write("line\n")
        os.write(1, b"after\n")
    assert path.read_text() == "former\n" * append + "new\nline\nafter\n"
    assert not passes_on(path) and not passes_on(tmp_path)


@needs_names_of_open_files
def test_a_reader_that_is_gone_has_seen_enough(tmp_path, standard_output):
    reader, writer = os.pipe()
    standard_output(writer)
    os.close(reader)
    os.close(writer)
    with atomic_file("/dev/stdout") as stream:
        stream.write(b"x" * 100_000)
    with pytest.raises(OutputError, match="Broken pipe"), atomic_file(tmp_path / "a.txt"):
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))


def test_lines_are_added_to_whole_lines(tmp_path):
    path = tmp_path / "log"
    for former, expected in (("", "x\n"), ("a\n", "a\nx\n"), ("a\nb", "a\nb\nx\n")):
        path.write_text(former)
        with appending(path) as stream:
            stream.write("x\n")
            assert path.read_text() == expected  # at once
    with pytest.raises(OutputError, match="No such file or directory; choose another place"):
        appending(tmp_path / "no" / "log")


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
    (path / "b.txt").write_text("of no use any more")
    with atomic_folder(path, keep=lambda name: name == "notes") as folder:
        (folder / "a.txt").write_text("new")
    assert (path / "a.txt").read_text() == "new"
    assert (path / "notes" / "mine.txt").read_text() == "mine"
    assert sorted(os.listdir(path)) == ["a.txt", "notes"]
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


@pytest.fixture
def two_renames(monkeypatch):
    """A system that cannot exchange two folders."""
    monkeypatch.setattr(atomic, "exchange", lambda first, second: False)


def former_model(tmp_path):
    path = tmp_path / "model"
    path.mkdir()
    (path / "a.txt").write_text("former")
    return path


def test_without_an_exchange_two_renames_do(tmp_path, two_renames):
    path = former_model(tmp_path)
    with atomic_folder(path) as folder:
        (folder / "a.txt").write_text("new")
    assert (path / "a.txt").read_text() == "new"
    assert os.listdir(tmp_path) == ["model"]


@pytest.mark.parametrize("code", [errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP, errno.EPERM, None])
def test_a_system_call_that_is_missing_is_done_without(tmp_path, monkeypatch, code):
    def missing(first, second):
        ctypes.set_errno(code)
        return -1

    monkeypatch.setattr("w2vneg.ground.files.atomic._system_call", lambda: missing if code else None)
    path = former_model(tmp_path)
    with atomic_folder(path) as folder:
        (folder / "a.txt").write_text("new")
    assert (path / "a.txt").read_text() == "new"
    assert os.listdir(tmp_path) == ["model"]


@pytest.mark.parametrize("failing", [1, 2])
def test_a_former_folder_comes_back_if_the_new_one_cannot_take_its_place(tmp_path, monkeypatch, two_renames, failing):
    path = former_model(tmp_path)
    replace, calls = os.replace, []

    def one_fails(source, target):
        calls.append(target)
        if len(calls) == failing:
            full()
        replace(source, target)

    monkeypatch.setattr(atomic.os, "replace", one_fails)
    with pytest.raises(OutputError, match="No space left"), atomic_folder(path) as folder:
        (folder / "a.txt").write_text("new")
    assert (path / "a.txt").read_text() == "former"
    assert os.listdir(tmp_path) == ["model"]


class Killed(BaseException):
    """In the place of SIGKILL: nothing of the block's own is done after it."""


def kill_at(monkeypatch, number):
    """Let the renames from that number on, counted from 1, not take place."""
    replace, calls = os.replace, []

    def until_killed(source, target):
        calls.append(target)
        if len(calls) >= number:
            raise Killed
        replace(source, target)

    monkeypatch.setattr(atomic.os, "replace", until_killed)
    monkeypatch.setattr(atomic.shutil, "rmtree", lambda path, ignore_errors: None)


@pytest.mark.parametrize("killed_at", [1, 2])
def test_a_folder_killed_between_its_renames_is_put_back(tmp_path, monkeypatch, two_renames, killed_at):
    path = former_model(tmp_path)
    with monkeypatch.context() as patch:
        kill_at(patch, killed_at)
        with pytest.raises(Killed), atomic_folder(path) as folder:
            (folder / "a.txt").write_text("new")
    assert path.exists() == (killed_at == 1)
    assert recover(path) == (killed_at == 2)
    assert (path / "a.txt").read_text() == "former"
    sweep(path)
    assert os.listdir(tmp_path) == ["model"]


def test_what_two_renames_of_an_earlier_version_left_is_put_back(tmp_path):
    (tmp_path / ".model.abcd1234.part").mkdir()
    (tmp_path / ".model.abcd1234.former").mkdir()
    (tmp_path / ".model.abcd1234.former" / "a.txt").write_text("former")
    assert recover(tmp_path / "model")
    assert not recover(tmp_path / "model")
    assert (tmp_path / "model" / "a.txt").read_text() == "former"


def test_looking_at_a_place_sweeps_it_but_keeps_what_may_come_back(tmp_path):
    (tmp_path / ".model.abcd1234.part").mkdir()
    (tmp_path / ".model.abcd1234.former").mkdir()
    check_writable(tmp_path / "model")
    check_folder_writable(tmp_path / "model")
    assert os.listdir(tmp_path) == [".model.abcd1234.former"]
    assert recover(tmp_path / "model")


def test_an_exchange_leaves_no_moment_without_the_folder(tmp_path, monkeypatch):
    path, seen = former_model(tmp_path), []
    real = atomic.exchange

    def watched(first, second):
        seen.append((second.exists(), real(first, second), second.exists()))
        return seen[-1][1]

    monkeypatch.setattr(atomic, "exchange", watched)
    (tmp_path / "other").mkdir()
    if not real(path, tmp_path / "other") or not real(path, tmp_path / "other"):
        pytest.skip("this file system cannot exchange two folders")
    with atomic_folder(path) as folder:
        (folder / "a.txt").write_text("new")
    assert seen == [(True, True, True)]
    assert (path / "a.txt").read_text() == "new"


def test_a_process_whose_folder_is_exchanged_stays_in_it(tmp_path, monkeypatch):
    path = former_model(tmp_path)
    monkeypatch.chdir(path)
    with atomic_folder(".") as folder:
        (folder / "a.txt").write_text("new")
    with open("a.txt") as stream:
        assert stream.read() == "new"


def test_what_killed_writers_left_is_swept_by_the_next_and_nothing_else(tmp_path):
    part = tmp_path / ".model.abcd1234.part"
    (part / "deep").mkdir(parents=True)
    (tmp_path / ".model.abcd1234.former").mkdir()
    (tmp_path / ".a.txt.abcd1234.part").write_text("half")
    others = [".model.part", ".model.txt.abcd1234.part", ".models.abcd1234.part", "model.abcd1234.part", ".b.part"]
    for name in others:
        (tmp_path / name).write_text("mine")
    former_model(tmp_path)
    with atomic_folder(tmp_path / "model"), atomic_file(tmp_path / "a.txt"):
        pass
    assert sorted(os.listdir(tmp_path)) == sorted([*others, "model", "a.txt"])


def test_what_a_living_writer_is_about_is_not_swept(tmp_path):
    with atomic_file(tmp_path / "a.txt") as first, atomic_file(tmp_path / "a.txt") as second:
        first.write(b"first")
        second.write(b"second")
    assert (tmp_path / "a.txt").read_bytes() == b"first"  # the inner block ends first
    with atomic_folder(tmp_path / "model") as first, atomic_folder(tmp_path / "other"):
        sweep(tmp_path / "model")
        (first / "a.txt").write_text("still there")
    assert sorted(os.listdir(tmp_path)) == ["a.txt", "model", "other"]


def test_all_is_on_the_disk_before_it_is_renamed(tmp_path, monkeypatch):
    """The order of calls is all that can be seen without cutting the power."""
    calls = []
    fsync, replace, swap = os.fsync, os.replace, atomic.exchange
    name_of = lambda descriptor: os.path.basename(os.readlink(f"/proc/self/fd/{descriptor}"))  # noqa: E731
    if not os.path.exists("/proc/self/fd"):
        pytest.skip("no names of open files on this system")
    monkeypatch.setattr(atomic.os, "fsync", lambda fd: (calls.append(("sync", name_of(fd))), fsync(fd)))
    monkeypatch.setattr(atomic.os, "replace", lambda a, b: (calls.append(("place", b.name)), replace(a, b)))
    monkeypatch.setattr(atomic, "exchange", lambda a, b: (calls.append(("place", b.name)), swap(a, b))[1])
    with atomic_file(tmp_path / "a.txt") as stream:
        stream.write(b"x")
    file, *rest = calls
    assert file[0] == "sync" and file[1].startswith(".a.txt.")
    assert rest == [("place", "a.txt"), ("sync", tmp_path.name)]
    for _ in range(2):
        calls.clear()
        with atomic_folder(tmp_path / "model") as folder:
            (folder / "b").write_text("x")
            (folder / "c").write_text("y")
        at = calls.index(("place", "model"))
        assert sorted(name for _, name in calls[:at])[-2:] == ["b", "c"]
        assert len(calls[:at]) == 3 and all(what == "sync" for what, _ in calls[:at])  # both files, and their folder
        assert calls[-1] == ("sync", tmp_path.name)


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


@pytest.mark.parametrize("check", [check_writable, check_folder_writable])
def test_links_that_lead_round_in_a_circle(tmp_path, check):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OutputError, match=f"/a: {os.strerror(errno.ELOOP)}; choose another place"):
        check(tmp_path / "a")


def test_a_write_protected_folder_is_refused(tmp_path, monkeypatch):
    path = former_model(tmp_path)
    monkeypatch.setattr(atomic.os, "access", lambda place, mode: place != path)  # root may do all
    with pytest.raises(OutputError, match="model: Permission denied; choose another place"):
        check_folder_writable(path)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root removes everything")
def test_a_write_protected_folder_that_is_replaced_leaves_nothing(tmp_path):
    path = former_model(tmp_path)
    path.chmod(0o555)
    with atomic_folder(path) as folder:
        (folder / "a.txt").write_text("new")
    assert (path / "a.txt").read_text() == "new"
    assert os.listdir(tmp_path) == ["model"]


def test_a_link_among_what_killed_writers_left_changes_nothing_where_it_leads(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine").chmod(0o555)  # whatever the umask
    (tmp_path / ".model.abcd1234.part").symlink_to("mine")
    sweep(tmp_path / "model")
    assert permissions(tmp_path / "mine") == 0o555


@pytest.mark.parametrize("what", [check_writable, check_folder_writable, atomic_file, atomic_folder, owned])
def test_a_name_that_is_too_long_is_one_sentence_and_leaves_nothing(tmp_path, what):
    said = f"^cannot write .*x: {os.strerror(errno.ENAMETOOLONG)}; "
    with pytest.raises(OutputError, match=said), what(tmp_path / ("x" * 300)):
        pass
    assert os.listdir(tmp_path) == []
