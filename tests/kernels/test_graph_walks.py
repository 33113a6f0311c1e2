"""Random walks on graphs: steps of node2vec and node2vec+, and the same groups as walks written out as a text."""

import math
import random
from collections import Counter, defaultdict

import numpy as np
import pytest
from reading import encode_edges
from scipy import stats
from walking import groups, wrapping_integers  # noqa: F401, a fixture of every test here

from w2vneg.config import TrainConfig
from w2vneg.data.encoded.pairs import expected_visits
from w2vneg.data.readers.frames import InMemoryTable
from w2vneg.kernels.graph import _bias
from w2vneg.kernels.walk import TextWindows

# by hand: a triangle 0 1 2, a square 2 3 4 5, a leaf 6 at 0
EDGES = {(0, 1): 1, (0, 2): 2, (1, 2): 3, (2, 3): 1, (3, 4): 5, (4, 5): 1, (5, 2): 2, (0, 6): 1}


def graph_of(edges, directed=False, weighted=True):
    rows = [(head, tail, weight if weighted else 1) for (head, tail), weight in edges.items()]
    return encode_edges(InMemoryTable.of(rows), directed=directed)


def config_of(**options):
    return TrainConfig(source="graph", **{"window": 2, "dynamic_window": False, **options}).resolved()


def walks_of(graph, config, lo=0, hi=None):
    """Return the groups of some positions, by default of an epoch's."""
    walk = graph.walk(config)
    hi = walk.n_positions if hi is None else hi
    return groups(walk.source, lo, hi, walk.room(hi - lo), walk.largest_group)


def chances(graph, p, q, before, node):
    """Return node2vec's probabilities of the next node, by its definition."""
    matrix = graph.matrix.toarray().astype(float)
    alpha = np.where(matrix[before] > 0, 1.0, 1 / q)
    alpha[before] = 1 / p
    weights = matrix[node] * alpha
    return weights / weights.sum()


def chances_plus(graph, p, q, gamma, before, node):
    """Return node2vec+'s probabilities of the next node, by the definition and edge by edge."""
    edges = {(int(i), int(j)): float(w) for (i, j), w in graph.matrix.todok().items()}
    bias = {other: bias_plus(edges, p, q, gamma, before, node, other) for one, other in edges if one == node}
    weights = np.array([edges[node, other] * bias[other] if other in bias else 0 for other in range(len(graph.vocab))])
    return weights / weights.sum()


def bias_plus(edges, p, q, gamma, before, node, other):
    """Return α of node2vec+ (float); edges : dict of (node, node) -> weight, both ways round if undirected"""
    threshold = threshold_of([weight for (_, head), weight in edges.items() if head == other], gamma)
    if other == before:
        return 1 / p
    if edges.get((before, other), 0) >= threshold:
        return 1
    if edges[node, other] < threshold_of([weight for (tail, _), weight in edges.items() if tail == node], gamma):
        return min(1, 1 / q)
    return 1 / q + (1 - 1 / q) * edges.get((before, other), 0) / threshold


def threshold_of(weights, gamma):
    mean = math.fsum(weights) / len(weights)
    return mean + gamma * math.sqrt(math.fsum((weight - mean) ** 2 for weight in weights) / len(weights))


def written_by_hand(graph, p, q, per_node, length, seed):
    """Return random walks, made in plain Python."""
    rng, matrix = random.Random(seed), graph.matrix.toarray()
    nodes = range(len(matrix))
    walks = []
    for start in nodes:
        for _ in range(per_node if matrix[start].any() else 0):
            walk = [start]
            while len(walk) < length and matrix[walk[-1]].any():
                weights = matrix[start] if len(walk) == 1 else chances(graph, p, q, walk[-2], walk[-1])
                walk.append(rng.choices(nodes, weights)[0])
            walks.append(walk)
    return walks


@pytest.mark.parametrize(("p", "q"), [(1, 1), (0.25, 4), (4, 0.25), (0.05, 0.5), (3, 3)])
@pytest.mark.parametrize(("directed", "weighted"), [(False, False), (False, True), (True, True)])
def test_steps_have_the_probabilities_of_node2vec(p, q, directed, weighted):
    edges = {**EDGES, (4, 2): 1, (2, 0): 1, (6, 5): 2} if directed else EDGES
    graph = graph_of(edges, directed, weighted)
    config = config_of(p=p, q=q, ordered=True, walks_per_node=50, walk_length=20)
    check_steps(graph, config, lambda before, node: chances(graph, p, q, before, node))


def check_steps(graph, config, chances):
    """Compare the steps of an epoch with the probabilities of each node after two others."""
    seen = defaultdict(Counter)
    for node, after in walks_of(graph, config):
        if len(after) == 2:
            seen[node, after[0]][after[1]] += 1
    statistic = freedom = 0
    for (before, node), after in seen.items():
        expected = chances(before, node) * after.total()
        possible = np.flatnonzero(expected)
        assert set(after) <= set(possible.tolist())
        observed = np.array([after[other] for other in possible])
        statistic += ((observed - expected[possible]) ** 2 / expected[possible]).sum()
        freedom += len(possible) - 1
    assert len(seen) == graph.matrix.nnz
    assert stats.chi2.sf(statistic, freedom) > 1e-6


def dense(directed=False, heaviest=3.0, n=9):
    """Return a graph where nearly all nodes have edges to each other, but for a leaf and a node of two equal edges."""
    rng = np.random.default_rng(4)
    edges = {
        (i, j): heaviest ** rng.uniform(-1, 1) for i in range(n) for j in range(n) if i != j and rng.random() < 0.8
    }
    edges |= {(0, n): 1.0, (1, 2): 1.0, (1, n + 1): 0.2, (2, n + 1): 0.2}
    edges |= {(n + 1, 0): 0.5, (n, 3): 1.0} if directed else {}
    return graph_of(edges, directed)


@pytest.mark.parametrize("gamma", [0, 0.7])
@pytest.mark.parametrize(("p", "q"), [(1, 0.25), (0.25, 4), (4, 0.25), (0.05, 0.5), (1, 1)])
@pytest.mark.parametrize("directed", [False, True])
def test_steps_have_the_probabilities_of_node2vec_plus(p, q, gamma, directed):
    graph = dense(directed)
    config = config_of(p=p, q=q, gamma=gamma, ordered=True, walks_per_node=150, walk_length=20)
    check_steps(graph, config, lambda before, node: chances_plus(graph, p, q, gamma, before, node))


@pytest.mark.parametrize(("q", "gamma"), [(0.001, 0), (0.25, 0.4), (4, 0), (1000, 0.4), (1, 0)])
@pytest.mark.parametrize("heaviest", [3.0, 1e15])
@pytest.mark.parametrize("directed", [False, True])
def test_biases_are_those_of_node2vec_plus(q, gamma, heaviest, directed):
    """And between 1 and 1/q, as rejection needs it."""
    graph = dense(directed, heaviest)
    source, matrix = graph.walk(config_of(q=q, gamma=gamma)).source, graph.matrix
    edges = {(int(i), int(j)): float(w) for (i, j), w in matrix.todok().items()}
    expected, found = [], []
    for before, node in edges:
        for place in range(matrix.indptr[node], matrix.indptr[node + 1]):
            other = int(matrix.indices[place])
            if other != before:
                expected.append(bias_plus(edges, 1, q, gamma, before, node, other))
                found.append(_bias(source, np.int32(before), np.int64(place)))
    np.testing.assert_allclose(found, expected, rtol=1e-4)
    assert min(1, 1 / q) <= min(found) and max(found) <= max(1, 1 / q)
    assert q == 1 or len(np.unique(found)) > 10  # all cases occur


@pytest.mark.parametrize(
    ("edges", "p", "q"),
    [
        (dict.fromkeys(EDGES, 0.1), 0.5, 4),
        ({(i + 7 * k, j + 7 * k): (0.1, 0.7)[k] for i, j in EDGES for k in range(2)}, 0.5, 0.25),  # alike at a node
        (EDGES, 1, 1),
        (EDGES, 0.25, 1),
    ],
)
@pytest.mark.parametrize("directed", [False, True])
def test_node2vec_plus_is_node2vec_where_weights_or_q_tell_nothing(edges, p, q, directed):
    """To the draw."""
    graph = graph_of(edges, directed)
    for gamma in (0, 0.5):
        assert walks_of(graph, config_of(p=p, q=q, gamma=gamma)) == walks_of(graph, config_of(p=p, q=q))


def test_a_weight_at_the_threshold_is_not_below_it():
    """Of five weights of which four are alike the other is the mean and two standard deviations, but for roundings."""
    heavy = np.random.default_rng(1).uniform(1, 9, 300)
    pairs = [(i + 6 * k, j + 6 * k) for k in range(100) for i in range(6) for j in range(i)]
    graph = graph_of({(i, j): heavy[i // 2] if i // 2 == j // 2 else 0.3 for i, j in pairs})
    source = graph.walk(config_of(q=2, gamma=2)).source
    np.testing.assert_array_equal(source.loose, graph.matrix.data < 1)
    np.testing.assert_array_equal(source.ties >= 1, ~source.loose)


def test_first_steps_follow_weights():
    graph = graph_of(EDGES)
    config = config_of(window=1, ordered=True, walks_per_node=1000, walk_length=2, p=0.1, q=10)
    seen = Counter((node, after[0]) for node, after in walks_of(graph, config) if after)
    weights = graph.matrix.toarray()
    expected = weights / weights.sum(axis=1, keepdims=True) * 1000
    observed = np.array([[seen[i, j] for j in range(7)] for i in range(7)])
    here = expected > 0
    assert (observed[~here] == 0).all()
    statistic = ((observed - expected)[here] ** 2 / expected[here]).sum()
    assert stats.chi2.sf(statistic, here.sum() - 7) > 1e-6


@pytest.mark.parametrize("n", [2, 3, 4, 5, 17, 100])
def test_each_node_begins_as_many_walks_and_their_order_is_shuffled(n):
    graph = graph_of({(i, (i + 1) % n): 1 for i in range(n)}, directed=True)
    config = config_of(window=1, ordered=True, walks_per_node=5, walk_length=2)
    starts = [node for node, after in walks_of(graph, config) if after]
    assert Counter(starts) == dict.fromkeys(range(n), 5)
    if n > 10:
        assert starts != sorted(starts)
        assert abs(stats.spearmanr(starts, range(len(starts))).statistic) < 0.5


@pytest.mark.parametrize("block", [1, 7, 20, 53])
def test_blocks_together_are_the_whole(block):
    graph = graph_of({**EDGES, (4, 6): 1}, directed=True)  # 5 and 6 have edges in and out, 2 leads to 3 only
    config = config_of(p=0.5, q=2, walks_per_node=3, walk_length=20)
    whole, n_positions = walks_of(graph, config), graph.walk(config).n_positions
    parts = []
    for lo in range(0, n_positions, block):
        parts += walks_of(graph, config, lo, min(lo + block, n_positions))
    assert parts == whole


def test_a_walk_ends_where_no_edge_leads_on():
    graph = graph_of({(0, 1): 1, (1, 2): 1}, directed=True)
    config = config_of(walks_per_node=1, walk_length=10)
    assert graph.walk(config).n_positions == 20  # nothing begins at 2
    number = [int(word) for word in graph.vocab.words]
    found = sorted((number[node], [number[other] for other in near]) for node, near in walks_of(graph, config))
    assert found == [(0, [1, 2]), (1, [0, 2]), (1, [2]), (2, [1]), (2, [1, 0])]


@pytest.mark.parametrize("subsample", [0, 0.05])
@pytest.mark.parametrize("dynamic", [False, True])
def test_groups_are_those_of_the_walks_as_a_text(subsample, dynamic):
    """The very same, to the draw, as where each walk is a sentence."""
    graph = graph_of(EDGES)
    options = {"window": 3, "dynamic_window": dynamic, "walk_length": 12, "walks_per_node": 4, "p": 0.5, "q": 2}
    walk = graph.walk(config_of(**options, subsample=subsample))
    n, room = walk.n_positions, walk.room(walk.n_positions)
    whole = graph.walk(config_of(**options | {"window": 11, "dynamic_window": False}, ordered=True, subsample=0))
    after = groups(whole.source, 0, n, room, 11)
    ids = np.array([node for first, rest in after if len(rest) == 11 for node in (first, *rest)], np.int32)
    text = TextWindows(ids, np.arange(0, n + 1, 12), walk.source.keep, 3, dynamic, False)
    assert groups(text, 0, n, room, 6, seed=5) == groups(walk.source, 0, n, room, 6, seed=5)


@pytest.mark.parametrize(("p", "q"), [(1, 1), (0.25, 2)])
def test_pairs_are_distributed_as_those_of_walks_by_hand(p, q):
    graph = graph_of(EDGES)
    config = config_of(p=p, q=q, window=3, walks_per_node=100, walk_length=15)
    ours = Counter((node, other) for node, near in walks_of(graph, config) for other in near)
    one, another = (pairs_by_hand(graph, p, q, 100, 15, seed) for seed in (1, 2))
    assert ours.total() == one.total()
    assert distance(ours, one + another) < 1.5 * distance(one, another)


def pairs_by_hand(graph, p, q, per_node, length, seed):
    pairs = Counter()
    for walk in written_by_hand(graph, p, q, per_node, length, seed):
        for i, node in enumerate(walk):
            pairs.update((node, walk[j]) for j in range(max(0, i - 3), min(length, i + 4)) if j != i)
    return pairs


def distance(one, other):
    """Return the total variation between two counters."""
    return sum(abs(one[pair] / one.total() - other[pair] / other.total()) for pair in one | other) / 2


@pytest.mark.parametrize("directed", [False, True])
def test_visits_are_those_of_walks_of_all_steps(directed):
    graph = graph_of(EDGES, directed)
    weights = graph.matrix.toarray().astype(float)
    sums = weights.sum(axis=1, keepdims=True)
    steps = np.divide(weights, sums, out=np.zeros_like(weights), where=sums > 0)
    here = (sums[:, 0] > 0).astype(float)
    expected = np.zeros(7)
    for _ in range(80):
        expected += 10 * here
        here = here @ steps
    np.testing.assert_allclose(expected_visits(graph.matrix), expected, rtol=1e-3)
