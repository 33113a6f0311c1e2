"""What an engine holds: replicated matrices without a second copy, and a state to go back to in memory or a file."""

from types import SimpleNamespace

import numpy as np
import pytest

from w2vneg.engines.engine import Engine, Snapshot, goes_to_disk


class FakeModel(SimpleNamespace):
    def matrices(self):
        return dict(self.held)

    def adopt(self, matrices):
        self.held = dict(matrices)


def model():
    rng = np.random.default_rng(1)
    return FakeModel(held={name: rng.normal(size=(n, 4)).astype(np.float32) for name, n in (("in", 9), ("out", 7))})


def engine(model, workers, n_private):
    walk = SimpleNamespace(n_positions=8, room=lambda block: block)
    return Engine(model, walk, 4, SimpleNamespace(workers=workers, seed=1, l2="0"), n_private)


@pytest.fixture(params=["memory", "file", "no place for a file"])
def place(request, monkeypatch, tmp_path):
    if request.param != "memory":
        monkeypatch.setattr("w2vneg.engines.engine._IN_MEMORY", 0)
    cache = tmp_path / "cache"
    monkeypatch.setenv("W2VNEG_CACHE", str(cache))
    if request.param == "no place for a file":
        cache.write_text("a file")
    return request.param


@pytest.mark.parametrize(
    ("workers", "n_private"), [(1, None), (3, {}), (3, {"in": 5, "out": 5}), (3, {"out": 7}), (2, {"in": 9, "out": 7})]
)
def test_going_back_restores_shared_rows_and_copies_to_the_bit(place, workers, n_private, tmp_path):
    matrices = engine(model(), workers, n_private)
    for _ in range(2):  # the second one takes the place of the first
        for replicated in matrices.replicated.values():
            replicated += np.float32(0.5)
        matrices.keep()
    before = {name: replicated.copy() for name, replicated in matrices.replicated.items()}
    for replicated in matrices.replicated.values():
        replicated[:] = np.nan
    matrices.go_back()
    for name, replicated in matrices.replicated.items():
        np.testing.assert_array_equal(replicated, before[name])
    assert place == "no place for a file" or not list((tmp_path / "cache").glob("*"))  # the file has no name


def test_a_disk_that_fills_up_leaves_memory_to_serve(monkeypatch):
    monkeypatch.setattr("w2vneg.engines.engine._IN_MEMORY", 0)
    kept, matrix = Snapshot(16), np.arange(4, dtype=np.float32)
    kept.take([matrix])

    def full(file, matrix):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("w2vneg.engines.engine._write", full)
    kept.take([matrix + 1])
    assert kept.copies([matrix])[0].tolist() == [1, 2, 3, 4]


def test_only_large_states_go_to_disk():
    assert not goes_to_disk(2**20)
    assert goes_to_disk(2**26)


def test_one_worker_trains_the_matrices_of_the_model_themselves():
    given = model()
    held = dict(given.held)
    matrices = engine(given, 1, None)
    assert all(
        matrices.replicated[name] is held[name] and np.shares_memory(given.held[name], held[name]) for name in held
    )


def test_matrices_that_cannot_be_written_are_copied():
    given = model()
    for matrix in given.held.values():
        matrix.flags.writeable = False
    for replicated in engine(given, 1, None).replicated.values():
        replicated[0] = 1.0


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e5, -1e5])
@pytest.mark.parametrize("place", [0, 3, 8])
def test_what_is_not_finite_or_too_large_is_not_healthy(bad, place):
    matrices = engine(model(), 2, {"in": 3, "out": 3})
    assert matrices.healthy()
    matrices.replicated["in"][place, 2] = bad
    assert not matrices.healthy()
