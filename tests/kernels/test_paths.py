"""Hierarchical softmax: its tree against an oracle, its loop against float64, its probabilities against one."""

import heapq
import itertools

import naive
import numpy as np
import pytest
from planted import same_topic, two_topics
from test_bags import toy_grams
from test_kernels import assert_seen, replicated, stream, toy_run

from w2vneg import TrainConfig, Vectors, Word2Vec
from w2vneg.data.encoded import encode_corpus
from w2vneg.ground.errors import ConfigError
from w2vneg.ground.registry import RunContext, Sharing
from w2vneg.kernels.groups import LoopSpec, Plugs
from w2vneg.kernels.paths import TILE, huffman_paths
from w2vneg.kernels.shard import run_shard
from w2vneg.objectives.inputs.row import Row
from w2vneg.objectives.inputs.subwords import Subwords
from w2vneg.objectives.inputs.window import Window
from w2vneg.objectives.losses.hierarchical import Hierarchical
from w2vneg.objectives.samplers import Nothing
from w2vneg.objectives.samplers.exclusions import ExcludeNone
from w2vneg.objectives.weighers.none import Unweighted
from w2vneg.run.model import Model
from w2vneg.vectors.evaluation import evaluate_likelihood, scores_of
from w2vneg.vectors.evaluation.scores import PathScores

SMALL = {"loss": "hierarchical", "dim": 16, "window": 2, "workers": 1, "min_count": 1, "subsample": 0, "alpha": 0.1}


def paths_of(starts, turns):
    return [[(int(t) >> 1, int(t) & 1) for t in turns[b:e]] for b, e in itertools.pairwise(starts)]


def shortest_total(counts):
    """Return the least Σ count · length that a binary tree can have: Huffman's, by a heap."""
    heap, total = list(map(int, counts)), 0
    heapq.heapify(heap)
    while len(heap) > 1:
        both = heapq.heappop(heap) + heapq.heappop(heap)
        total += both
        heapq.heappush(heap, both)
    return total


COUNTS = {
    "two": [3, 1],
    "even": [7] * 8,
    "odd": [7] * 11,
    "doubling": [2**k for k in range(20, -1, -1)],
    "zipf": [10_000 // k for k in range(1, 300)],
    "zeros": [5, 2, 0, 0, 0],
}


@pytest.mark.parametrize("counts", COUNTS.values(), ids=COUNTS)
def test_the_tree_is_the_shortest_and_every_target_has_a_path_of_its_own(counts):
    starts, turns = huffman_paths(counts)
    paths = paths_of(starts, turns)
    assert sum(n * len(path) for n, path in zip(counts, paths, strict=True)) == shortest_total(counts)
    assert sum(2.0 ** -len(path) for path in paths) == 1.0
    assert len(set(map(tuple, paths))) == len(counts)
    below = np.zeros(len(counts) - 1)
    sides = set()
    for n, path in zip(counts, paths, strict=True):
        assert path[0][0] == 0 and all(one < other for (one, _), (other, _) in itertools.pairwise(path))
        sides |= set(path)
        for node, _ in path:
            below[node] += n
    assert len(sides) == 2 * (len(counts) - 1)
    assert (np.diff(below) <= 0).all()


def test_one_target_has_an_empty_path():
    starts, turns = huffman_paths([4])
    assert starts.tolist() == [0, 0] and len(turns) == 0


def test_probabilities_add_up_to_one_and_are_those_of_the_path():
    rng, counts = np.random.default_rng(3), COUNTS["zipf"]
    starts, turns = huffman_paths(counts)
    x, y = (rng.normal(0, 1, (n, 8)).astype(np.float32) for n in (5, len(counts)))
    scores = PathScores(x, y, starts, turns)(np.array([4, 1]))
    np.testing.assert_allclose(np.exp(scores.astype(np.float64)).sum(axis=1), 1, rtol=1e-5)
    for row, centre in ((0, 4), (1, 1)):
        for target in (0, 7, 298):
            steps = paths_of(starts, turns)[target]
            expected = sum(-naive.softplus((2 * right - 1) * float(x[centre] @ y[node])) for node, right in steps)
            assert scores[row, target] == pytest.approx(expected, rel=1e-4)


def oracle(groups, paths, words, grams, outputs, alphas, bounded):
    """Descend group by group, changing all rows (float64) in place; return (loss, pairs)."""
    total, pairs = 0.0, 0
    for place, of_words, of_grams, positives in groups:
        x = np.mean([words[i] for i in of_words] + [grams[g] for g in of_grams], axis=0)
        slopes = {}
        for positive in positives:
            for node, right in paths[positive]:
                s = x @ outputs[node]
                slopes[node] = slopes.get(node, 0.0) + naive.sigmoid(s) - (1 - right)
                total += naive.softplus(s if right else -s)
        steps = {node: -alphas[place] * slope for node, slope in slopes.items()}
        if bounded:  # no node's logit moves by more than 1 through its own row
            scale = min(1.0, 1.0 / (max(map(abs, steps.values())) * (x @ x)))
            steps = {node: scale * step for node, step in steps.items()}
        whole = sum(step * outputs[node] for node, step in steps.items())
        for node, step in steps.items():
            outputs[node] += step * x
        for i in of_words:
            words[i] += whole
        for g in of_grams:
            grams[g] += whole
        pairs += len(positives)
    return total, pairs


def window_oracle(groups, paths, words, outputs, alphas, bounded):
    """The same where the words around are the centres of the one path: groups are (place, centres, word)."""
    total, pairs = 0.0, 0
    for place, centres, word in groups:
        path = paths[word]
        norms = (words[centres] ** 2).sum(axis=1)
        logits = words[centres] @ outputs[[node for node, _ in path]].T
        sides = np.array([right for _, right in path])
        total += sum(naive.softplus(s if right else -s) for row in logits for s, right in zip(row, sides, strict=True))
        steps = -alphas[place] * (np.vectorize(naive.sigmoid)(logits) - (1 - sides))
        if bounded:
            steps *= min(1.0, 1.0 / (np.abs(steps) * norms[:, None]).sum(axis=0).max())
        for tile in range(0, len(path), TILE):
            for k, centre in enumerate(centres):
                x, gradient = words[centre].copy(), 0.0
                for j in range(tile, min(tile + TILE, len(path))):
                    gradient = gradient + steps[k, j] * outputs[path[j][0]]
                    outputs[path[j][0]] += steps[k, j] * x
                words[centre] += gradient
        pairs += len(centres)
    return total, pairs


def run(name, n_private=0, repeats=False, alphas=(0.4, 0.1), bounded=True, last=None):
    """Return what a shard of a toy text did, and the oracle with it, as (value, pairs, rows, wide)."""
    name, _, from_around = name.partition(", ")
    source, tokens, end, inputs, outputs, *_ = toy_run(5, repeats)
    starts, turns = huffman_paths(np.sort(np.random.default_rng(8).zipf(1.3, len(inputs)))[::-1])
    gram_starts, grams, lists = toy_grams(len(inputs))
    gram_rows = np.random.default_rng(5).normal(size=(7, inputs.shape[1])).astype(np.float32)
    plug = {"row": Row(), "window": Window(), "subwords": Subwords(gram_starts, grams, inputs, gram_rows)}[name]
    plugs = Plugs(source, Nothing(), Unweighted(), Hierarchical(starts, turns), ExcludeNone(), plug)
    sharing = Sharing.WINDOW if from_around else Sharing.NO
    shape = LoopSpec(2 * source.window, TILE - 1, int(sharing), False, bounded, weighed=False)
    words, out = replicated(inputs, n_private, 3, 1), replicated(outputs, n_private, 3, 1)
    of_grams = replicated(gram_rows, n_private, 3, 1) if name == "subwords" else words
    last = end if last is None else last
    value, pairs = run_shard(plugs, shape, (words, of_grams), out, tokens, 0, last, alphas, stream())
    wide = [matrix.astype(np.float64) for matrix in (inputs, gram_rows, outputs)]
    places = np.flatnonzero(tokens[:end] >= 0)
    groups = []
    for place, centre, around in naive.groups(source.ids, source.offsets, source.window):
        centres, positives = (around, [centre]) if name == "window" else ([centre], around)
        groups.append((places[place], centres, lists[centre] if name == "subwords" else [], positives))
    groups = [group for group in groups if group[0] < last]
    by_place = alphas[0] + (alphas[1] - alphas[0]) * np.arange(last) / last
    if from_around:
        groups = [(place, around, centre[0]) for place, centre, _, around in groups]
        expected = window_oracle(groups, paths_of(starts, turns), wide[0], wide[2], by_place, bounded)
    else:
        expected = oracle(groups, paths_of(starts, turns), *wide, by_place, bounded)
    return (value, pairs), (words, of_grams, out), expected, wide


@pytest.mark.parametrize(
    "name", ["row", "row, from around", pytest.param("window", marks=pytest.mark.slow), "subwords"]
)
def test_the_loop_does_what_the_oracle_does(name):
    for n_private, repeats, bounded in ((0, False, True), (4, False, True), (4, True, True), (0, True, False)):
        alphas = (1e-3, 2e-4) if repeats else (0.4, 0.1)
        (value, pairs), rows, expected, wide = run(name, n_private, repeats, alphas, bounded)
        assert pairs == expected[1] > 0
        assert value == pytest.approx(expected[0], rel=1e-4)
        close = {"rtol": 0, "atol": 5e-5} if repeats else {"rtol": 2e-4, "atol": 2e-5}
        assert_seen(rows[0], wide[0], **close)
        assert_seen(rows[2], wide[2], **close)
        if name == "subwords":
            assert_seen(rows[1], wide[1], **close)


@pytest.fixture(scope="module")
def planted():
    return encode_corpus(two_topics(), min_count=1)


@pytest.fixture(scope="module")
def trained(planted):
    word2vec = Word2Vec(**SMALL, epochs=5)
    word2vec.fit(planted)
    return word2vec


def test_planted_topics_are_recovered_and_what_is_predicted_adds_up(trained, planted, tmp_path):
    assert same_topic(trained.vectors) >= 0.95
    ends = [record for record in trained.model.history if record["event"] == "EpochDone"]
    assert ends[-1]["loss"] < ends[0]["loss"] < ends[0]["untrained"]
    assert not trained.model.vectors_out[-1].any()
    score = scores_of(trained.model)
    everything = np.arange(len(planted.vocab))
    np.testing.assert_allclose(np.exp(score(everything).astype(np.float64)).sum(axis=1), 1, rtol=1e-4)
    result = evaluate_likelihood(score, planted, 2)
    assert result.nll < result.uniform - 0.3
    trained.save(tmp_path / "model")
    loaded = Model.load(tmp_path / "model")
    np.testing.assert_array_equal(scores_of(loaded)(everything), score(everything))
    np.testing.assert_array_equal(Vectors.load(tmp_path / "model").matrix, trained.model.vectors_in)
    with pytest.raises(ConfigError, match="read-out both would read nodes of a tree, not words"):
        Vectors.load(tmp_path / "model", readout="both")


def test_one_worker_repeats_to_the_bit_and_so_do_two_with_rows_of_their_own(planted):
    for options in ({}, {"workers": 2, "private_rows": 1000}):
        one, other = (Word2Vec(**SMALL | options, epochs=2) for _ in range(2))
        assert one.fit(planted).matrix.tobytes() == other.fit(planted).matrix.tobytes()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sampler": "uniform"}, "--sampler has no effect with loss 'hierarchical', which decides along paths"),
        ({"negatives": 5}, "--negatives has no effect"),
        ({"weigher": "importance"}, "--weigher has no effect"),
        ({"exclude": "target"}, "--exclude has no effect"),
        ({"share_negatives": "centre"}, "--share-negatives has no effect"),
        ({"temp": 2.0}, "--temp has no effect"),
        ({"absolute_softmax": True}, "--absolute-softmax makes no sense with loss 'hierarchical'"),
        ({"readout": "both"}, "use --readout in"),
        ({"readout": "context+letters"}, "use --readout in"),
    ],
)
def test_what_needs_negatives_or_targets_with_rows_is_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        Word2Vec(loss="hierarchical", **options).check()


def test_diagnosis_is_refused_and_letters_are_not():
    with pytest.raises(ConfigError, match="draws no negatives"):
        Word2Vec(loss="hierarchical").fit([["a", "b"]], diagnose=True)
    Word2Vec(loss="hierarchical", readout="in+letters").check()


def test_rows_of_frequent_nodes_are_found_in_front():
    counts = np.array(COUNTS["zipf"])
    loss = TrainConfig(loss="hierarchical").resolved().make("loss", RunContext(counts, 8, 1))
    touched = loss.touched(counts)
    assert touched[0] == pytest.approx(1) and touched[-1] == 0 and (np.diff(touched) <= 1e-12).all()
    mean = sum(n * len(path) for n, path in zip(counts, paths_of(*loss), strict=True)) / counts.sum()
    assert touched.sum() == pytest.approx(mean)
    assert loss.loss_at_init(2.5) == pytest.approx(2.5 * np.log(2))
