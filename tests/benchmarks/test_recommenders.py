"""Choosing options for the benchmark of recommenders: climbing until no neighbour is better."""

import json

import pytest

from benchmarks import recommenders
from benchmarks.recommenders import Method, Task, choose, climb, neighbours
from w2vneg.ground.errors import ConfigError


@pytest.fixture
def hill(monkeypatch):
    """A method whose score has its top at alpha .8 and 5 epochs; alpha above 2 diverges."""

    def train(train, setting, seed):
        if setting["alpha"] > 2:
            raise ConfigError("it diverges")
        return type("Trained", (), {"scores": setting})

    def evaluate(scores, task, part, known):
        assert part == "valid"  # test data choose nothing
        return {"NDCG@10": 1 / (1 + abs(scores["alpha"] - 0.8) + abs(scores["epochs"] - 5))}

    monkeypatch.setattr(recommenders, "evaluate", evaluate)
    method = Method("hill", train, {"alpha": 0.1, "epochs": 20}, {"alpha": 2.0, "epochs": 2.0})
    monkeypatch.setattr(recommenders, "METHODS", {"hill": method})
    return {"hill": method}


TASK = Task("made up", None, None, None)


def test_neighbours_are_one_rung_away():
    found = neighbours({"alpha": 0.1, "epochs": 1}, {"alpha": 2.0, "epochs": 2.0})
    assert found == [{"alpha": 0.2, "epochs": 1}, {"alpha": 0.05, "epochs": 1}, {"alpha": 0.1, "epochs": 2}]


def test_the_top_is_found_and_all_around_it_tried(hill):
    record = []
    best = climb(TASK, "hill", record, methods=hill)
    assert best == {"alpha": 0.8, "epochs": 5}
    tried = [trial["setting"] for trial in record]
    assert all(one in tried for one in neighbours(best, hill["hill"].ratios))
    assert len({json.dumps(one) for one in tried}) == len(tried)


def test_choosing_goes_on_with_what_is_there(hill, tmp_path, monkeypatch):
    path = tmp_path / "choices.json"
    monkeypatch.setattr(recommenders.climb, "__defaults__", (lambda text: None, hill))
    first = choose([TASK], ["hill"], path)
    before = path.read_text()
    told = []
    assert choose([TASK], ["hill"], path, told.append) == first
    assert not told and path.read_text() == before
