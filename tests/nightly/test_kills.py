"""Whatever is killed, nothing is lost: at every file operation, at random moments, once and several times in a row."""

import os
import signal
import tempfile
from pathlib import Path

import killing
import pytest
from kill_cases import COMMANDS, LONG, N_RANDOM, Trial, fast_folder, not_on_disk
from killing import Server

pytestmark = [pytest.mark.nightly, pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="needs Linux")]

FEW = ["train, resumed", "split, over a former one", "export, out.npz"]


def assert_none(lost):
    assert not lost, "\n".join([f"{len(lost)} complaints", *lost[:20]])


@pytest.fixture(scope="module")
def folder():
    with tempfile.TemporaryDirectory(dir=fast_folder()) as name:
        yield Path(name)


def _trials(folder, **options):
    """Yield a function that returns the `Trial` of a Command, each made once."""
    made = {}
    folder.mkdir()
    server = Server(folder, options.pop("without", ()))

    def trial(command):
        if command.name not in made:
            made[command.name] = Trial(command, server, folder / str(len(made)), **options)
        return made[command.name]

    yield trial
    server.close()


@pytest.fixture(scope="module")
def trial(folder):
    yield from _trials(folder / "exchange")


@pytest.fixture(scope="module")
def trial_without_exchange(folder):
    yield from _trials(folder / "none", without=["renameat2"], recovers=True)


@pytest.mark.parametrize("name", FEW)
def test_killed_where_something_is_put_into_its_place(name, trial):
    it = trial(COMMANDS[name])
    assert_none(it.kill_at_each(it.placing()))


@pytest.mark.parametrize("name", FEW)
def test_what_is_put_into_its_place_is_on_the_disk_before(name, trial):
    assert not_on_disk(trial(COMMANDS[name]).trace) == []


def test_trainings_killed_at_random_moments(trial):
    assert_none(trial(LONG).kill_at_random(range(3)))


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_killed_at_every_operation(name, trial):
    it = trial(COMMANDS[name])
    assert_none(it.kill_at_each(it.points()))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["train, over a former model", "train, resumed", "split, over a former one"])
def test_killed_where_the_system_cannot_exchange_folders(name, trial_without_exchange):
    it = trial_without_exchange(COMMANDS[name])
    assert "ctypes.call_function" not in {kind for kind, *_ in it.trace}
    assert_none(it.kill_at_each(it.placing()))
    assert_none(it.kill_at_random(range(10)))


@pytest.mark.slow
def test_more_trainings_killed_at_random_moments(trial):
    assert_none(trial(LONG).kill_at_random(range(3, N_RANDOM)))


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_killed_several_times_in_a_row(name, trial):
    assert_none(trial(COMMANDS[name]).kill_at_random(range(8)))


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_everything_is_on_the_disk(name, trial):
    assert not_on_disk(trial(COMMANDS[name]).trace) == []


def test_a_kill_while_the_trace_is_written_leaves_the_server_alive(tmp_path, monkeypatch):
    def half_way(request, scratch):
        (scratch / "trace").touch()
        os.kill(os.getpid(), signal.SIGKILL)

    monkeypatch.setattr(killing, "_child", half_way)
    ended = killing._forked({"after": None, "limit": killing.HUNG}, tmp_path)
    assert ended == (-signal.SIGKILL, [], [], "")


def test_a_missing_sync_is_found():
    written = [["open", ".a.part", ""], ["file.write", ".a.part", ""]]
    placed = [["fsync", ".a.part", ""], ["os.rename", ".a.part", "a"]]
    synced = [["fsync", ".", ""]]
    assert not_on_disk(written + placed + synced) == []
    assert not_on_disk(written + placed) == [". is not synced after os.rename to a"]
    assert not_on_disk(placed[:1] + written + placed[1:] + synced) == [".a.part is not synced before os.rename to a"]
    assert not_on_disk(written) == [".a.part is not synced"]
