"""Every traversal goes through made-up data of its own: groups, counts, what occurs together, and shares of ranks."""

import random
from dataclasses import replace

import numpy as np
import pytest

from w2vneg import TrainConfig
from w2vneg.data.sources import SOURCES, TRAVERSALS, Traversal, traversal_of
from w2vneg.ground.option import options_of

NAMES = [f"item{number}" for number in range(30)]


@pytest.fixture(params=TRAVERSALS)
def made(request, tmp_path):
    """(name, config, data)"""
    config = TrainConfig(source=request.param).resolved()
    assert config.traversal is TRAVERSALS[request.param] is traversal_of(request.param)
    return request.param, config, config.traversal.made_up(tmp_path / "data", NAMES, random.Random(1))


def test_groups_of_as_many_positions_as_it_says(made):
    name, config, data = made
    walk = data.walk(config)
    assert data.source == name and data.traversal is type(walk) is config.traversal
    assert 0 < walk.mean_group <= walk.largest_group and walk.room(10) > 10 and walk.n_positions > 0
    assert len(walk.centre_weights) == len(data.vocab) and walk.centre_weights.min() >= 0


def test_counts_are_of_what_occurs_together(made):
    _, config, data = made
    either_side = {"ordered": False} if hasattr(config.source, "ordered") else {}
    counts = data.traversal.counts(data, replace(config, source=replace(config.source, **either_side)))
    assert counts.shape == (len(data.vocab), len(data.vocab_out)) and counts.nnz
    assert (data.traversal.cooccurrences(data, config, np.arange(len(data.vocab))) == counts.toarray()).all()


def test_shares_are_gone_through_as_the_whole(made):
    _, config, data = made
    assert data.share(0, [0, 1]) is data
    shares = [data.share(slot, [0, 0.5, 1]).walk(config) for slot in range(2)]
    if config.traversal.windows:  # rows of pairs make visits of their own
        assert sum(share.n_positions for share in shares) == data.walk(config).n_positions


def test_what_is_said_of_it(made):
    name, config, _ = made
    traversal = config.traversal
    assert traversal.data and traversal.noun and set(options_of(traversal)) <= set(vars(config.source))
    assert traversal.paired or traversal.example is None
    assert (config.min_count, config.readout) == (traversal.min_count, traversal.readout), name


def test_one_that_is_not_loaded_has_what_all_have():
    assert traversal_of("of a plug-in") is Traversal and not Traversal.of_words


def test_what_sources_say_of_themselves():
    for name in SOURCES:
        source = SOURCES[name]
        assert source.help.endswith(".") and source.noun and source.rows and source.unit, name
