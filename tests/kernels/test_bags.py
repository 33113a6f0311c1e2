"""The loop where several rows make the vector: against an oracle, and against the slope of its loss."""

import naive
import numpy as np
import pytest
from scripted import Scripted
from test_kernels import assert_seen, plugs_of, replicated, stream, toy_run

from w2vneg.ground.jit import njit
from w2vneg.ground.registry import Sharing
from w2vneg.kernels.groups import LoopSpec
from w2vneg.kernels.linalg import Rows, add_to_rows, sum_rows, width_of
from w2vneg.kernels.shard import run_shard
from w2vneg.objectives.inputs.subwords import Subwords, WindowSubwords
from w2vneg.objectives.inputs.window import Window


def toy_grams(n_vocab, n_grams=7):
    """Return (starts, grams): word w has the n-grams w and w + 1, modulo their number; every third word has one."""
    lists = [[w % n_grams, (w + 1) % n_grams][: 1 if w % 3 == 2 else 2] for w in range(n_vocab)]
    return np.cumsum([0, *map(len, lists)]).astype(np.int64), np.array([g for of in lists for g in of], np.int32), lists


def bags(name, source, window, lists):
    """Return the oracle's groups of a text."""
    for place, centre, around in naive.groups(source.ids, source.offsets, window):
        if name == "window":
            yield place, around, [], [centre]
        elif name == "subwords":
            yield place, [centre], lists[centre], around
        else:
            yield place, around, [g for w in around for g in lists[w]], [centre]


CASES = [  # inputs, loss, weigher, negatives, shared, bounded; each is compiled by itself
    pytest.param("window", "ns", "none", 5, False, True, marks=pytest.mark.slow),
    pytest.param("subwords", "ns", "none", 4, True, True, marks=pytest.mark.slow),
    pytest.param("window+subwords", "ns", "none", 3, False, True, marks=pytest.mark.slow),
    pytest.param("window", "relaxed", "importance", 4, False, False, marks=pytest.mark.slow),
    pytest.param("subwords", "relaxed", "none", 3, False, False, marks=pytest.mark.slow),
    pytest.param("window+subwords", "blackout", "none", 6, False, True, marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("name", "loss", "weigher", "n", "shared", "bounded"), CASES)
@pytest.mark.parametrize("n_private", [0, 4])
@pytest.mark.parametrize("repeats", [False, True])
def test_run_shard_does_what_the_oracle_does(name, loss, weigher, n, shared, bounded, n_private, repeats):
    source, tokens, last, inputs, outputs, drawn, log_q = toy_run(n, repeats)
    start, end = (1e-3, 2e-4) if repeats else (0.4, 0.1)
    starts, grams, lists = toy_grams(len(inputs))
    gram_rows = np.random.default_rng(5).normal(size=(7, inputs.shape[1])).astype(np.float32)
    plug = Window() if name == "window" else {"subwords": Subwords, "window+subwords": WindowSubwords}[name]
    if name != "window":
        plug = plug(starts, grams, inputs, gram_rows)
    plugs = plugs_of(source, Scripted(drawn, log_q, False), loss, weigher, True)._replace(inputs=plug)
    needs_log_q = plugs.weigher.needs_log_q or plugs.loss.needs_log_q
    sharing = Sharing.CENTRE if shared else Sharing.NO
    shape = LoopSpec(2 * source.window, n, int(sharing), needs_log_q, bounded, weighed=weigher != "none")
    words, rows_out = replicated(inputs, n_private, 3, 1), replicated(outputs, n_private, 3, 1)
    of_grams = words if name == "window" else replicated(gram_rows, n_private, 3, 1)
    value, pairs = run_shard(plugs, shape, (words, of_grams), rows_out, tokens, 0, last, (start, end), stream())

    places = np.flatnonzero(tokens[:last] >= 0)
    groups = [(places[p], *rest) for p, *rest in bags(name, source, source.window, lists)]
    wide = [matrix.astype(np.float64) for matrix in (inputs, gram_rows, outputs)]
    options = {"loss": loss, "weigher": weigher, "n": n, "shared": shared, "bounded": bounded, "exclude": True}
    alphas = start + (end - start) * np.arange(last) / last
    expected, expected_pairs = naive.train_bags(groups, drawn, log_q, *wide, alphas=alphas, **options)
    assert pairs == expected_pairs > 0
    assert value == pytest.approx(expected, rel=1e-4)
    close = {"rtol": 0, "atol": 5e-5} if repeats else {"rtol": 2e-4, "atol": 2e-5}
    assert_seen(words, wide[0], **close)
    assert_seen(rows_out, wide[2], **close)
    if name != "window":
        assert_seen(of_grams, wide[1], **close)


@pytest.mark.slow
def test_the_step_is_the_gradient_of_the_mean_for_each_row():
    source, tokens, _, inputs, outputs, drawn, log_q = toy_run(3)
    plugs = plugs_of(source, Scripted(drawn, log_q, False), "ns", "none", True)._replace(inputs=Window())
    shape = LoopSpec(4, 3, int(Sharing.NO), False, False, weighed=False)

    def loss_at(matrix, alpha=1e-9):
        rows = Rows(matrix.copy(), 0, len(matrix), 0), Rows(outputs.copy(), 0, len(matrix), 0)
        value, _ = run_shard(plugs, shape, (rows[0], rows[0]), rows[1], tokens, 2, 3, (alpha, alpha), stream())
        return value, rows[0].matrix

    alpha, h = 1e-2, 1e-2
    _, moved = loss_at(inputs, alpha)
    around = tokens[[0, 1, 3, 4]]
    for word in around:
        for column in range(inputs.shape[1]):
            up, down = inputs.copy(), inputs.copy()
            up[word, column] += h
            down[word, column] -= h
            slope = (loss_at(up)[0] - loss_at(down)[0]) / (
                2 * h
            )  # of the loss by one row: a fourth of that by the mean
            step = moved[word, column] - inputs[word, column]
            assert step == pytest.approx(-alpha * len(around) * slope, rel=0.02, abs=2e-5)


@njit
def sum_all(width, matrix, index, total):
    sum_rows(width, matrix, index, len(index), total)


@njit
def add_to_all(width, matrix, index, step):
    add_to_rows(width, matrix, index, len(index), step)


@pytest.mark.parametrize("dim", [7, 100, 173])
@pytest.mark.parametrize("index", [[], [2], [4, 0, 4, 4, 1]])
def test_rows_are_summed_and_added_to_one_after_the_other(dim, index):
    rng = np.random.default_rng(dim)
    matrix, vector = rng.normal(size=(5, dim)).astype(np.float32), rng.normal(size=dim + 1).astype(np.float32)
    before, places = matrix.copy(), np.array(index, np.int64)
    total = vector.copy()
    sum_all(width_of(dim), matrix, places, total[:dim])
    np.testing.assert_allclose(total[:dim], vector[:dim] + before[index].sum(axis=0), rtol=1e-5, atol=1e-5)
    assert total[dim] == vector[dim] and np.array_equal(matrix, before)
    add_to_all(width_of(dim), matrix, places, vector[:dim])
    np.add.at(before, index, vector[:dim])
    np.testing.assert_allclose(matrix, before, rtol=1e-5, atol=1e-5)
