"""What is measured of the explorer and of maps: each question is answered, and tables say what was found."""

import numpy as np
import pytest

from benchmarks import explore, maps


def test_made_up_vectors_have_neighbours_and_distinct_names():
    words, matrix = explore.made_up(3000, 20)
    assert len(set(words)) == 3000 and matrix.dtype == np.float32
    unit = matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
    assert np.sort(unit @ unit[0])[-2] > 0.6  # of one cluster


@pytest.mark.slow
def test_every_kind_of_question_is_answered():
    with explore.served(400, 8, lambda text: None) as (port, words):
        one_by_one = explore.measure(port, words, 2, lambda text: None)
        at_once = explore.crowd(port, words, 2, lambda text: None)
    for waits in (one_by_one, at_once):
        assert [wait.kind for wait in waits] == list(explore.KINDS)
        assert all(len(wait.seconds) == 2 and min(wait.seconds) > 0 for wait in waits)


@pytest.mark.slow
def test_a_crowd_of_a_thousand_is_answered_to_the_last(monkeypatch):
    monkeypatch.setattr(explore, "PATIENCE", 300)  # that all are answered is asked here, not how fast
    kinds = ["nearest of a word", "nearest of a misspelt word", "two words compared"]
    with explore.served(20_000, 50, lambda text: None) as (port, words):
        waits = explore.crowd(port, words, 1000, lambda text: None, kinds)
    assert [(wait.kind, len(wait.seconds)) for wait in waits] == [(kind, 1000) for kind in kinds]


def test_tables():
    (line,) = explore.table([explore.Waits("near", [0.001, 0.002, 0.003])]).splitlines()[2:]
    assert line == "| near | 3 | 2.0 | 3.0 | 3.0 |"
    look = maps.Look("report", 70_000, 70_000, 6.94, 1.0, 2.0, None, 12.34)
    assert maps.table([look]).splitlines()[2] == "| report | 70,000 | 70,000 | 6.9 | 1.0 | 2.0 | – | 12.3 |"
