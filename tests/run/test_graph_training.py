"""Training on the edges of a graph: every objective, the same as on walks written out, resuming, two workers."""

import numpy as np
import pytest
from plain import in_plain_python
from planted import same_topic, two_blocks

from w2vneg import Input, Word2Vec
from w2vneg.data.encoded import EncodedCorpus
from w2vneg.engines.engine import _KEPT
from w2vneg.kernels.schedule import stream_key
from w2vneg.kernels.shard import fill_block
from w2vneg.objectives.presets import PRESETS
from w2vneg.run.conductor import reading, resolve
from w2vneg.run.model import Model

SMALL = {"loss": "ns", "dim": 8, "window": 4, "walk_length": 20, "walks_per_node": 5, "epochs": 3, "workers": 1}


def graph(**options):
    return Input("edges", two_blocks(), **options)


def trained(data=None, **options):
    word2vec = Word2Vec(**SMALL | options)
    word2vec.fit(data or graph())
    return word2vec


def encoded_for(word2vec):
    return word2vec.encode(graph())


@pytest.mark.parametrize("workers", [1, 2])
def test_nodes_of_a_block_are_near_one_another(workers):
    assert same_topic(trained(workers=workers, p=0.5, q=2.0).vectors) > 0.9


@pytest.mark.parametrize("workers", [1, 2])
def test_node2vec_plus_finds_the_blocks_of_a_graph_where_all_nodes_are_tied(workers):
    names = [f"{block}{i}" for block in "ab" for i in range(20)]
    rng = np.random.default_rng(1)
    weight = lambda one, other: rng.uniform(0, 1) + 2 * (one[0] == other[0])  # noqa: E731
    edges = [(one, other, weight(one, other)) for k, one in enumerate(names) for other in names[:k]]
    assert same_topic(trained(Input("edges", edges), workers=workers, q=100.0, gamma=0.0).vectors) > 0.9


def test_an_epoch_is_one_over_the_same_walks_as_a_text():
    """Bit for bit: the walks of the first epoch, written out, and trained on as sentences."""
    word2vec = trained(epochs=1, dynamic_window=True, subsample=0.0)
    config = word2vec.model.config
    encoded = encoded_for(word2vec)
    walk = encoded.walk(config)
    tokens = np.empty(walk.room(walk.n_positions), np.int32)
    first, last = fill_block(walk.source, 0, walk.n_positions, stream_key(_KEPT, config.seed, 0), tokens)
    ids = tokens[first:last][tokens[first:last] >= 0]
    assert len(ids) == walk.n_positions == 40 * 5 * 20
    text = EncodedCorpus(ids, np.arange(0, len(ids) + 1, 20), encoded.vocab)
    shared = {name: value for name, value in SMALL.items() if not name.startswith("walk")}
    # a text of its own would choose another alpha and read-out
    same = Word2Vec(**shared | {"epochs": 1, "subsample": 0.0, "alpha": config.alpha, "readout": config.readout})
    np.testing.assert_array_equal(word2vec.vectors.matrix, same.fit(text).matrix)


def test_epochs_make_new_walks():
    word2vec = Word2Vec(**SMALL)
    encoded = encoded_for(word2vec)
    walk = encoded.walk(resolve(reading(word2vec.config, encoded)))
    tokens = np.empty((2, walk.room(walk.n_positions)), np.int32)
    for epoch in range(2):
        fill_block(walk.source, 0, walk.n_positions, stream_key(_KEPT, 1, epoch), tokens[epoch])
    assert (tokens[0, :4000] != tokens[1, :4000]).mean() > 0.8


@pytest.mark.parametrize(("workers", "options"), [(1, {}), (2, {}), (2, {"p": 2.0, "q": 0.5, "gamma": 0.0})])
def test_a_resumed_run_equals_one_in_a_piece(tmp_path, workers, options):
    data = Input("edges", [(*edge, 1.5 + k % 5) for k, edge in enumerate(two_blocks())])
    options = {"epochs": 4, "workers": workers, **options}
    whole = trained(data, **options)
    half = Word2Vec(**SMALL | options)
    encoded = half.encode(data)
    trainer = half.trainer(encoded)
    trainer.listeners.append(lambda event: trainer.stop() if type(event).__name__ == "EpochDone" else None)
    half.model = trainer.train()
    assert half.model.position.epoch == 1
    half.save(tmp_path / "model")
    model = Model.load(tmp_path / "model")
    resumed = Word2Vec(model.config_to_run("model")).trainer(encoded, model=model).train()
    np.testing.assert_array_equal(resumed.vectors_in, whole.model.vectors_in)


def test_held_out_edges_are_ranked_while_it_trains(tmp_path):
    edges = two_blocks()
    (tmp_path / "valid.tsv").write_text("".join(f"{one}\t{other}\n" for one, other in edges[::10]))
    left = [edge for k, edge in enumerate(edges) if k % 10]
    word2vec = Word2Vec(**SMALL)
    word2vec.fit(Input("edges", left), valid=tmp_path / "valid.tsv")
    assert word2vec.model.best.figures["mpr"] > 0.65  # .5 by chance


EVERY = """
import json
import numpy as np
from planted import same_topic, two_blocks
from w2vneg import Input, Word2Vec
from w2vneg.config import TrainConfig
from w2vneg.objectives.presets import PRESETS

np.seterr(over="ignore")
SMALL = {"dim": 8, "window": 3, "walk_length": 10, "walks_per_node": 4, "epochs": 1, "workers": 1}
for objective in PRESETS:
    alpha = 2 * TrainConfig(loss=objective, source="graph").resolved().alpha  # for so short a run
    word2vec = Word2Vec(loss=objective, alpha=alpha, **SMALL)
    vectors = word2vec.fit(Input("edges", two_blocks(12, 0.6)))
    print(json.dumps([objective, same_topic(vectors)]))
"""


@pytest.mark.slow
def test_every_objective_trains_on_a_graph():
    records = in_plain_python(EVERY)
    assert [objective for objective, _ in records] == list(PRESETS)
    slow = ("kernel-quadratic", "kernel-quartic", "dns")  # one epoch of 4 walks is too little for them
    assert not [record for record in records if not record[1] > (0.4 if record[0] in slow else 0.9)]


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        {"inputs": "window"},
        {"loss": "us", "exclude": "known"},
        {"readout": "context"},
        {"engine": "virtual", "ranks": 2},
    ],
)
def test_what_looks_at_the_data_beside_the_loop_goes_with_a_graph(options):
    assert same_topic(trained(**options).vectors) > 0.9
