"""L2 as lazy decay: the loops against the oracle, a step against finite differences, an epoch against the penalty."""

import naive
import numpy as np
import pytest
import scipy.sparse
from planted import two_topics
from scripted import Scripted, noise_of
from test_bags import bags, toy_grams
from test_kernels import assert_seen, plugs_of, replicated, stream, toy_run
from test_paths import paths_of

from w2vneg import Input, Word2Vec
from w2vneg.config import TrainConfig
from w2vneg.data.encoded import encode_corpus
from w2vneg.data.inputs import encode_input
from w2vneg.ground.errors import ConfigError
from w2vneg.ground.events import EpochDone, RoundDone
from w2vneg.ground.registry import Sharing
from w2vneg.kernels.groups import LoopSpec, Plugs
from w2vneg.kernels.pairs import ListedPairs
from w2vneg.kernels.paths import huffman_paths
from w2vneg.kernels.shard import run_shard
from w2vneg.kernels.updates import L2, shrink_all
from w2vneg.objectives.inputs.row import Row
from w2vneg.objectives.inputs.subwords import Subwords
from w2vneg.objectives.losses.hierarchical import Hierarchical
from w2vneg.objectives.samplers import Nothing
from w2vneg.objectives.samplers.exclusions import ExcludeNone
from w2vneg.objectives.weighers.none import Unweighted
from w2vneg.run.trainer import Trainer


def rates_of(*lengths):
    rng = np.random.default_rng(8)
    return [rng.uniform(0.5, 2.0, length).astype(np.float32) for length in lengths]


LOOPS = {  # how they share negatives
    "windows": Sharing.WINDOW,
    "centres, shared": Sharing.CENTRE,
    "centres": Sharing.NO,
    "pairs": Sharing.NO,
    "bags": Sharing.NO,
}
OTHERS = {"windows": "css", "centres, shared": "css", "centres": "relaxed", "pairs": "css", "bags": "relaxed"}
CASES = [(loop, "ns") for loop in LOOPS] + [pytest.param(*case, marks=pytest.mark.slow) for case in OTHERS.items()]


class Toy:
    """A few groups, a script of their draws, and both matrices."""

    def __init__(self, loop, loss, n, bounded):
        self.loop, self.loss, self.n = loop, loss, n
        source, tokens, last, self.inputs, self.outputs, self.drawn, self.log_q = toy_run(n)
        groups, places = naive.groups(source.ids, source.offsets, source.window), np.flatnonzero(tokens[:last] >= 0)
        self.groups, self.first, self.last = [(places[p], c, t) for p, c, t in groups], 0, last
        if loop == "pairs":  # a visit for each group
            _, centres, targets = zip(*groups, strict=True)
            sizes = np.array([*map(len, targets)], np.int32)
            arrays = np.array(centres, np.int32), np.cumsum(sizes) - sizes, sizes, np.concatenate(targets)
            source = ListedPairs(*arrays[:3], arrays[3].astype(np.int32))
            tokens = np.array([0, *centres, -1], np.int32)
            self.groups, self.first, self.last = [(v, *rest) for v, (_, *rest) in enumerate(groups)], 1, 1 + len(groups)
        self.source, self.tokens = source, tokens
        self.plugs = plugs_of(source, Scripted(self.drawn, self.log_q, False), loss, exclude=True)
        of_q = self.plugs.loss.needs_log_q
        self.shape = LoopSpec(4, n, int(LOOPS[loop]), of_q, bounded, positive_log_q=of_q, weighed=False)
        self.options = {"loss": loss, "weigher": "none", "n": n, "exclude": True, "noise": noise_of}

    def run(self, centres, targets, alphas, plugs=None):
        where = self.tokens, self.first, self.last
        run_shard(plugs or self.plugs, self.shape, centres, targets, *where, alphas, stream())


@pytest.mark.parametrize(("loop", "loss"), CASES)
@pytest.mark.parametrize(("n_private", "held"), [(0, 0.0), (4, 0.0), (0, 0.7), (4, 0.7)])
def test_the_loops_do_what_the_oracle_does(loop, loss, n_private, held):
    toy = Toy(loop, loss, 4, bounded=True)
    starts, grams, lists = toy_grams(len(toy.inputs))
    gram_rows = np.random.default_rng(5).normal(size=(7, toy.inputs.shape[1])).astype(np.float32)
    matrices = toy.inputs, toy.outputs, gram_rows
    rates = rates_of(*map(len, matrices))
    rows = [replicated(one, n_private, 3, 1)._replace(decay=rate) for one, rate in zip(matrices, rates, strict=True)]
    rows[0], rows[2] = (rows[i]._replace(held=np.float32(held)) for i in (0, 2))
    plugs, centres = toy.plugs, rows[0]
    if loop == "bags":
        inputs = Subwords(starts, grams, toy.inputs, gram_rows)
        plugs, centres = plugs._replace(inputs=inputs), (rows[0], rows[2])
    toy.run(centres, rows[1], (0.4, 0.1), plugs)

    wide, length = [matrix.astype(np.float64) for matrix in matrices], toy.last - toy.first
    alphas = 0.4 + (0.1 - 0.4) * np.arange(length) / length
    options = toy.options | {"bounded": True, "held": np.float32(held), "alphas": alphas}
    if loop == "bags":
        places = np.flatnonzero(toy.tokens[: toy.last] >= 0)
        groups = [(places[p], *rest) for p, *rest in bags("subwords", toy.source, toy.source.window, lists)]
        decay = rates[0], rates[2], rates[1]
        naive.train_bags(groups, toy.drawn, toy.log_q, wide[0], wide[2], wide[1], shared=False, decay=decay, **options)
    else:
        options |= {} if loop == "windows" else {"shared": loop == "centres, shared"}
        train = naive.train_windows if loop == "windows" else naive.train
        train(toy.groups, toy.drawn, toy.log_q, wide[0], wide[1], decay=rates[:2], **options)
    for seen, expected in zip(rows[: 3 if loop == "bags" else 2], wide, strict=False):
        assert_seen(seen, expected, rtol=2e-4, atol=2e-5)


def regularised_loss(toy, inputs, outputs, rates):
    """Return Σ loss + ½ Σ rate · pairs · ‖row‖² over all groups, a centre's pairs and a target's as a positive."""
    loss, pairs = 0.0, np.zeros((2, len(inputs)))
    for place, centre, others in toy.groups:
        ones = [(other, [centre]) for other in others] if toy.loop == "windows" else [(centre, others)]
        for x, positives in ones:
            n, shared = toy.n, toy.loop in ("windows", "centres, shared")
            draws = slice(n if shared else n * len(positives))
            given = inputs[x], outputs, positives, toy.drawn[place][draws], toy.log_q[place][draws]
            loss += naive.group_loss(toy.loss, "none", *given, n, shared, True, noise_of)[0]
            pairs[0, x] += len(positives)
            np.add.at(pairs[1], positives, 1)
    both = zip((inputs, outputs), rates, pairs, strict=True)
    return loss + sum(0.5 * float((rate * n) @ (matrix**2).sum(axis=1)) for matrix, rate, n in both)


@pytest.mark.parametrize(("loop", "loss"), [case for case in CASES if "bags" not in getattr(case, "values", case)])
def test_a_step_goes_down_the_regularised_loss(loop, loss):
    """To first order in alpha a step on all groups is its slope, by central differences."""
    toy, alpha = Toy(loop, loss, 3, bounded=False), 1e-4
    matrices = toy.inputs, toy.outputs
    rates = rates_of(*map(len, matrices))
    rows = [replicated(one, 0, 1, 0)._replace(decay=rate) for one, rate in zip(matrices, rates, strict=True)]
    toy.run(*rows, (alpha, alpha))
    wide = [matrix.astype(np.float64) for matrix in matrices]
    of_negative = toy.drawn[toy.groups[0][0]][1]
    for side, row, column in ((0, 0, 0), (0, 3, 2), (0, 9, 5), (1, 0, 0), (1, 3, 2), (1, 9, 5), (1, of_negative, 4)):
        values = []
        for step in (1e-4, -1e-4):
            moved = [matrix.copy() for matrix in wide]
            moved[side][row, column] += step
            values.append(regularised_loss(toy, *moved, rates))
        slope, moved_by = (values[0] - values[1]) / 2e-4, rows[side].matrix[row, column] - wide[side][row, column]
        assert slope and -moved_by / alpha == pytest.approx(slope, abs=0.01, rel=0.01)


def test_an_epoch_of_decay_is_the_whole_penalty():
    counts = np.array([100.0, 9.0, 1.0, 0.2])
    rates = L2(1.5, 0.0, 0.5).rates(False, counts)
    assert L2(1.5, 0.0, 0.5).rates(True, counts) is None
    np.testing.assert_allclose(rates[:3] * counts[:3], 1.5 * np.sqrt(counts[:3]), rtol=1e-6)
    assert rates[3] == rates[2]  # rarer than once an epoch
    matrix = np.ones((4, 3), np.float32)
    shrink_all(matrix, rates, np.repeat(np.arange(3), [100, 9, 1]), 0.01)
    np.testing.assert_allclose(matrix[:, 0], np.exp(-0.01 * np.append(1.5 * np.sqrt(counts[:3]), 0.0)), rtol=1e-6)


@pytest.mark.parametrize("windows", [False, True])
def test_nodes_of_paths_shrink_for_each_pair_that_passes_them(windows):
    """At a learning rate of nearly nothing the decay of a large rate is all that moves a row."""
    source, tokens, last, inputs, outputs, *_ = toy_run(3)
    starts, turns = huffman_paths(np.arange(len(inputs), 0, -1))
    paths, rates, alpha = paths_of(starts, turns), rates_of(len(inputs), len(outputs)), 1e-6
    rates = [rate * np.float32(1e5) for rate in rates]
    rows = [replicated(m, 0, 1, 0)._replace(decay=r) for m, r in zip((inputs, outputs), rates, strict=True)]
    plugs = Plugs(source, Nothing(), Unweighted(), Hierarchical(starts, turns), ExcludeNone(), Row())
    shape = LoopSpec(4, 5, int(Sharing.WINDOW if windows else Sharing.NO), False, True, weighed=False)
    run_shard(plugs, shape, (rows[0], rows[0]), rows[1], tokens, 0, last, (alpha, alpha), stream())
    wide_in, wide_out = inputs.astype(np.float64), outputs.astype(np.float64)
    for _, centre, positives in naive.groups(source.ids, source.offsets, source.window):
        naive.shrink(wide_in, [centre] * len(positives), rates[0], alpha)
        naive.shrink(wide_out, [node for one in positives for node, _ in paths[one]], rates[1], alpha)
    np.testing.assert_allclose(rows[0].matrix, wide_in, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(rows[1].matrix, wide_out, rtol=1e-3, atol=1e-4)


PAIRS = [(f"u{k % 40}", f"i{k * 7 % 23}", 1 + k % 3) for k in range(600)]
SMALL = {"dim": 8, "epochs": 3, "workers": 1, "min_count": 1}
RUNS = {
    "windows": {"loss": "ns"},
    "centres": {"loss": "relaxed", "private_rows": 3, "workers": 2},
    "cbow": {"loss": "ns", "inputs": "window"},
    "subwords": {"loss": "ns", "inputs": "subwords", "buckets": 500},
    "paths": {"loss": "hierarchical"},
    "dense": {"loss": "softmax"},
    "ranks": {"loss": "ns", "engine": "virtual", "ranks": 2},
    "copies of all rows": {"loss": "ns", "workers": 2},
}


def lengths(corpus, **options):
    """Return the summed squares of both matrices, and the model, without a penalty and with one."""
    found = [Trainer(corpus, TrainConfig(l2=l2, **options)).train() for l2 in ("0", "3")]
    return [np.array([np.square(one).sum() for one in (model.vectors_in, model.vectors_out)]) for model in found], found


@pytest.mark.slow
@pytest.mark.parametrize("name", RUNS)
def test_rows_are_shorter_in_every_loop_and_a_resumed_run_is_the_same_to_the_bit(name):
    corpus, options = encode_corpus(two_topics(150), min_count=1), {**SMALL, "subsample": 0.0, **RUNS[name]}
    (plain, short), (_, model) = lengths(corpus, **options)
    assert (short < 0.8 * plain).all()
    if "private_rows" in options:  # workers race for the other rows
        return
    for last in (EpochDone, RoundDone):  # of an epoch, or in the middle of one
        begun = Trainer(corpus, TrainConfig(l2="3", **options))
        begun.listeners.append(lambda event, last=last, begun=begun: isinstance(event, last) and begun.stop())
        half = begun.train()
        assert half.position.epoch < 3
        whole = Trainer(corpus, half.config, model=half).train()
        assert np.array_equal(whole.vectors_in, model.vectors_in)
        assert np.array_equal(whole.vectors_out, model.vectors_out)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["baskets", "edges", "cooccurrence"])
def test_rows_are_shorter_with_every_kind_of_data(kind, tmp_path):
    (tmp_path / "baskets").write_text("".join(f"{' '.join(words[:8])}\n" for words in two_topics(150)))
    edges = [(words[k], words[k + 1]) for words in two_topics(20) for k in range(5)]
    counts = scipy.sparse.csr_matrix(np.random.default_rng(2).poisson(2.0, (30, 30)))
    given = Input(kind, {"baskets": tmp_path / "baskets", "edges": edges, "cooccurrence": counts}[kind])
    data = encode_input(given, min_count=1)
    (plain, short), _ = lengths(data, source=data.source, loss="ns", **SMALL)
    assert (short < 0.8 * plain).all()


@pytest.mark.slow
def test_one_rank_is_this_machine_alone_to_the_bit_and_three_have_shorter_rows():
    corpus, options = encode_corpus(two_topics(150), min_count=1), {**SMALL, "subsample": 0.0, "loss": "ns"}
    local, virtual = (
        Trainer(corpus, TrainConfig(l2="1", bias=0.6, **options, **ranks)).train()
        for ranks in ({}, {"engine": "virtual", "ranks": 1})
    )
    assert np.array_equal(virtual.vectors_in, local.vectors_in)
    assert np.array_equal(virtual.vectors_out, local.vectors_out)
    (plain, short), _ = lengths(corpus, **options, engine="virtual", ranks=3)
    assert (short < 0.8 * plain).all()


@pytest.mark.parametrize("name", RUNS)
def test_the_first_number_of_centres_is_held_in_every_loop(name):
    """All else is free, targets' first numbers too: they say what all centres like."""
    corpus, options = encode_corpus(two_topics(150), min_count=1), {**SMALL, "subsample": 0.0, **RUNS[name]}
    model = Trainer(corpus, TrainConfig(l2="1", bias=0.6, **options)).train()
    centres = {"subwords": ["words_in", "grams_in", "vectors_in"]}.get(name, ["vectors_in"])
    for matrix in centres:
        np.testing.assert_allclose(model.matrices()[matrix][:, 0], 0.6, rtol=1e-6)
        assert (np.ptp(model.matrices()[matrix], axis=0)[1:] > 0).all()
    assert np.ptp(model.vectors_out[:, 0]) > 0


def test_where_there_is_nothing_but_popularity_a_bias_learns_it():
    """Items drawn by popularity alone: biases go with its logarithm, and users' own numbers say little more."""
    rng = np.random.default_rng(3)
    chances = 1 / np.arange(1, 51)
    rows = [(f"u{u}", f"i{i}") for u in range(400) for i in rng.choice(50, 6, replace=False, p=chances / chances.sum())]
    options = {"dim": 16, "workers": 1, "epochs": 100, "l2": "1,1.1"}
    figures = {}
    for bias in (0.0, 2.0):
        word2vec = Word2Vec(bias=bias, **options)
        word2vec.fit(Input("pairs", rows, rectangular=True))
        model = word2vec.model
        scores = model.vectors_in @ model.vectors_out.T
        of_popularity = np.log(np.asarray(model.vocab_out.counts))
        figures[bias] = np.corrcoef(scores, np.tile(of_popularity, (len(scores), 1)))[: len(scores), len(scores) :]
        if bias:
            assert np.corrcoef(model.vectors_out[:, 0], of_popularity)[0, 1] > 0.95
    assert figures[2.0].mean() > figures[0.0].mean() + 0.05


def test_pairs_know_how_often_their_rows_and_columns_are_trained_on():
    data = encode_input(Input("pairs", PAIRS, rectangular=True), min_count=1)
    rows, columns = data.walk(TrainConfig(source="pairs", rectangular=True).resolved()).pairs_of
    np.testing.assert_allclose(rows, np.asarray(data.matrix.sum(axis=1)).ravel(), rtol=1e-6)
    np.testing.assert_allclose(columns, np.asarray(data.matrix.sum(axis=0)).ravel(), rtol=1e-6)
    config = TrainConfig(source="pairs", rectangular=True, pair_weights="sample", pairs_per_epoch=300).resolved()
    assert data.walk(config).pairs_of[0].sum() == pytest.approx(300)
    shares = [data.share(slot, np.array([0.0, 0.5, 1.0])) for slot in range(2)]
    for share in shares:
        own = share.walk(TrainConfig(source="pairs", rectangular=True).resolved()).pairs_of
        np.testing.assert_allclose(own[0], rows, rtol=1e-6)
        np.testing.assert_allclose(own[1], columns, rtol=1e-6)


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("loss", ["ns", "hierarchical"])
def test_pairs_that_lead_one_way_are_counted_on_both_sides(loss, ranks):
    """Item "hub" is the target of most pairs, and of no pair the centre."""
    one_way = [*((f"i{k}", "hub", 1 + k) for k in range(30)), *((f"i{k}", f"i{k * 7 % 30}", 1) for k in range(1, 30))]
    data = encode_input(Input("pairs", one_way, rectangular=False), min_count=1)
    rows, columns = (np.asarray(data.matrix.sum(axis=axis), np.float64).ravel() for axis in (1, 0))
    if ranks > 1:  # a share's centres are about those of all data
        data = data.share(0, np.array([0.0, 0.5, 1.0]))
    engine = Trainer(data, TrainConfig(loss=loss, source="pairs", l2="2,3", dim=4, workers=4)).engine
    if loss == "hierarchical":
        paths, passes = paths_of(*huffman_paths(data.vocab_out.counts)), np.zeros(len(columns))
        for path, pairs in zip(paths, columns, strict=True):
            passes[[node for node, _ in path]] += pairs
        shares, columns = passes / rows.sum(), passes
    else:
        shares = columns / rows.sum()
    np.testing.assert_allclose(engine.pulls("vectors_out", 1.0, slice(None)), 0.7 * shares, rtol=1e-5)
    for name, pairs, strength in (("vectors_in", rows, 2.0), ("vectors_out", columns, 3.0)):
        np.testing.assert_allclose(engine._decay[name], strength * np.maximum(pairs, 1.0) ** -0.5, rtol=1e-5)


@pytest.mark.parametrize("weight", [1, 0.001])
@pytest.mark.parametrize("rectangular", [True, False])
def test_ranks_have_the_pairs_of_the_whole_with_small_weights_and_rare_items(weight, rectangular):
    given = Input("pairs", [(user, item, weight) for user, item, _ in PAIRS], rectangular=rectangular)
    data = encode_input(given, min_count=1, max_vocab=20 if rectangular else 40)
    config = TrainConfig(source="pairs", rectangular=rectangular).resolved()
    pairs = data.walk(config).pairs_of
    assert pairs[0].sum() == pytest.approx(data.matrix.nnz)
    for slot in range(2):
        own = data.share(slot, np.array([0.0, 0.5, 1.0])).walk(config).pairs_of
        np.testing.assert_allclose(own[0], pairs[0], rtol=1e-5)
        np.testing.assert_allclose(own[1], pairs[1], rtol=1e-5)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"l2": "1,2,3"}, "l2 '1,2,3' must be a number of at least 0, or two with a comma"),
        ({"l2": "much"}, "l2 'much' must be a number of at least 0"),
        ({"l2": -1.0}, "l2 '-1.0' must be a number of at least 0, or two"),
        ({"l2": True}, "l2 'True' must be a number of at least 0, or two"),
        ({"l2_power": 0.3}, "--l2-power has no effect without a penalty"),
        ({"l2": "0", "l2_power": 0.3}, "--l2-power has no effect without a penalty"),
        ({"bias": 0.7}, "--bias needs a penalty on rows of centres; give --l2"),
        ({"bias": 0.7, "l2": "0,1"}, "--bias needs a penalty on rows of centres"),
        ({"bias": 0.7, "l2": "1", "dim": 1}, "--bias fixes the only number of --dim 1"),
    ],
)
def test_a_penalty_that_is_none_is_refused(options, words):
    with pytest.raises(ConfigError, match=words):
        TrainConfig(loss="ns", **options).resolved()


def test_a_penalty_is_one_number_or_two():
    assert [TrainConfig(l2=value).l2 for value in (1.5, (1, 2), "1,1.1", 0)] == ["1.5", "1,2", "1,1.1", "0"]
    assert TrainConfig(l2=np.float64(1.2345678)).l2 == "1.2345678"
    resolved = TrainConfig(loss="ns", l2=2).resolved()
    assert resolved.l2_power == 0.5 and resolved.resolved() == resolved
    assert TrainConfig(loss="ns").resolved().l2 == "0" and TrainConfig(loss="ns").resolved().l2_power is None


def test_users_and_items_get_the_objective_of_lists_and_epochs_by_their_pairs():
    word2vec = Word2Vec(dim=4, workers=1)
    word2vec.fit(Input("pairs", PAIRS, rectangular=True))
    config = word2vec.model.config
    assert (config.preset, config.loss.name, config.sampler.name, config.epochs) == ("top-n", "css", "uniform", 50)
    assert not config.bounded_steps and (config.l2, config.bias) == ("1,1.1", 0.8)
    assert (word2vec.model.vectors_in[:, 0] == np.float32(0.8)).all()
    for options in ({"l2": "0,1"}, {"dim": 1}):  # what does not shrink is not held, nor is all that there is
        assert TrainConfig(loss="top-n", source="pairs", **options).resolved().bias == 0
    word2vec.fit(Input("pairs", PAIRS, rectangular=False))
    assert word2vec.model.config.preset == "us"
    for source in ("text", "baskets", "graph"):  # whose pairs are those of windows
        assert TrainConfig(loss="top-n", source=source).resolved().epochs == 5
