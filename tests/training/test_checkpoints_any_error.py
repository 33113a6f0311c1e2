"""Whatever goes wrong at a checkpoint: one warning, training goes on, and the next save is tried."""

import pytest

from w2vneg.errors import OutputError
from w2vneg.training.checkpoints import Checkpoints


@pytest.mark.parametrize("error", [MemoryError(), ValueError("odd"), UnicodeEncodeError("utf-8", "a", 0, 1, "no")])
def test_any_error_at_a_save_is_warned_of_and_the_next_is_tried(tmp_path, error):
    errors = [error, error]

    class Model:
        def save(self, folder):
            if errors:
                raise errors.pop()

    said = []
    checkpoints = Checkpoints(tmp_path / "model", warn=said.append)
    assert not checkpoints.save(model := Model())
    assert not checkpoints.save(model)
    assert isinstance(checkpoints.failure, OutputError) and type(error).__name__ in str(checkpoints.failure)
    assert len(said) == 1 and "training goes on" in said[0]
    assert checkpoints.save(model) and checkpoints.failure is None
