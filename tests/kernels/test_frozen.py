"""Frozen rows: the loops against the oracle, and each update by itself against NumPy."""

import naive
import numpy as np
import pytest
from scripted import Scripted
from test_bags import bags, toy_grams
from test_kernels import assert_seen, plugs_of, replicated, stream, toy_run

from w2vneg.ground.registry import Sharing
from w2vneg.kernels.groups import LoopSpec, make_scratch
from w2vneg.kernels.linalg import Rows
from w2vneg.kernels.shard import run_shard
from w2vneg.kernels.updates import stays, step_bag, step_targets, step_window
from w2vneg.objectives.inputs.subwords import Subwords


class Still(np.ndarray):
    """A matrix of which some rows, `frozen`, stay whatever is written to them."""

    @classmethod
    def of(cls, matrix, frozen):
        still = matrix.astype(np.float64).view(cls)
        still.frozen = frozen
        return still

    def __getitem__(self, key):
        found = np.asarray(self)[key]
        return found.copy() if np.ndim(key) == 0 and self.frozen[key] else found

    def __setitem__(self, key, value):
        if not self.frozen[key]:
            np.asarray(self)[key] = value


def masks(*lengths):
    rng = np.random.default_rng(4)
    return [rng.random(length) < 0.4 for length in lengths]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("loop", "shared"), [("windows", False), ("centres", True), ("centres", False), ("bags", False)]
)
@pytest.mark.parametrize("n_private", [0, 4])
@pytest.mark.parametrize("repeats", [False, True])
def test_the_loops_do_what_the_oracle_does(loop, shared, n_private, repeats):
    n = 4
    source, tokens, last, inputs, outputs, drawn, log_q = toy_run(n, repeats)
    start, end = (1e-3, 2e-4) if repeats else (0.4, 0.1)
    starts, grams, lists = toy_grams(len(inputs))
    gram_rows = np.random.default_rng(5).normal(size=(7, inputs.shape[1])).astype(np.float32)
    matrices = inputs, outputs, gram_rows
    frozen = masks(*map(len, matrices))
    rows = [
        replicated(matrix, n_private, 3, 1)._replace(frozen=mask) for matrix, mask in zip(matrices, frozen, strict=True)
    ]
    plugs = plugs_of(source, Scripted(drawn, log_q, False), "ns", exclude=True)
    sharing = Sharing.WINDOW if loop == "windows" else Sharing.CENTRE if shared else Sharing.NO
    shape = LoopSpec(2 * source.window, n, int(sharing), False, True, weighed=False)
    centres = rows[0]
    if loop == "bags":
        plugs, centres = plugs._replace(inputs=Subwords(starts, grams, inputs, gram_rows)), (rows[0], rows[2])
    value, pairs = run_shard(plugs, shape, centres, rows[1], tokens, 0, last, (start, end), stream())

    places = np.flatnonzero(tokens[:last] >= 0)
    wide = [Still.of(matrix, mask) for matrix, mask in zip(matrices, frozen, strict=True)]
    options = {"loss": "ns", "weigher": "none", "n": n, "bounded": True, "exclude": True}
    options["alphas"] = start + (end - start) * np.arange(last) / last
    if loop == "bags":
        groups = [(places[p], *rest) for p, *rest in bags("subwords", source, source.window, lists)]
        oracle = naive.train_bags(groups, drawn, log_q, wide[0], wide[2], wide[1], shared=shared, **options)
    else:
        groups = [(places[p], c, t) for p, c, t in naive.groups(source.ids, source.offsets, source.window)]
        options |= {} if loop == "windows" else {"shared": shared}
        train = naive.train_windows if loop == "windows" else naive.train
        oracle = train(groups, drawn, log_q, wide[0], wide[1], **options)
    assert pairs == oracle[1] > 0
    assert value == pytest.approx(oracle[0], rel=1e-4)
    close = {"rtol": 0, "atol": 5e-5} if repeats else {"rtol": 2e-4, "atol": 2e-5}
    for seen, expected in zip(rows[: 3 if loop == "bags" else 2], wide, strict=False):
        assert_seen(seen, np.asarray(expected), **close)
    for seen, matrix in zip(rows, matrices, strict=True):
        copies = replicated(matrix, n_private, 3, 1).matrix
        kept = [row for row in np.flatnonzero(seen.frozen) if row >= n_private]
        assert np.array_equal(seen.matrix[kept], copies[kept])


@pytest.fixture
def toy():
    """Rows of ten ids, of which some are frozen, and a vector."""
    rng = np.random.default_rng(2)
    matrix, x = rng.normal(size=(10, 7)).astype(np.float32), rng.normal(size=7).astype(np.float32)
    return Rows(matrix, 0, 10, 0, frozen=np.isin(np.arange(10), [0, 3, 4, 9])), x


@pytest.mark.parametrize("ids", [[], [3], [1, 2], [0, 1, 2, 3, 4, 5], [9, 9, 1, 1, 9]])
def test_frozen_targets_add_to_the_sum_and_stay(toy, ids):
    rows, x = toy
    before, places = rows.matrix.copy(), np.array(ids, np.int64)
    steps, total = np.linspace(0.5, 1, len(ids)).astype(np.float32), np.ones(7, np.float32)
    given, expected, summed = steps.copy(), before.astype(np.float64), np.ones(7)
    for i, step in zip(ids, steps, strict=True):
        summed += step * expected[i]
        expected[i] += 0 if rows.frozen[i] else step * x
    step_targets(rows.frozen, rows, places.astype(np.int32), places, steps, len(ids), x, total)
    np.testing.assert_allclose(total, summed, rtol=1e-5)
    np.testing.assert_allclose(rows.matrix, expected, rtol=1e-5)
    assert np.array_equal(rows.matrix[rows.frozen], before[rows.frozen])
    assert np.array_equal(steps, np.where(rows.frozen[places], 0, given))  # as samplers are told


@pytest.mark.parametrize("ids", [[], [3], [1, 2, 1], [0, 1, 2, 3, 3, 5]])
def test_a_bag_leaves_its_frozen_rows(toy, ids):
    rows, x = toy
    expected, places = rows.matrix.copy(), np.array(ids, np.int64)
    np.add.at(expected, [i for i in ids if not rows.frozen[i]], x)
    step_bag(rows.frozen, rows, places.astype(np.int32), places.copy(), len(ids), x)
    np.testing.assert_allclose(rows.matrix, expected, rtol=1e-6)


@pytest.mark.parametrize("sides", ["in", "out", "both"])
def test_a_window_leaves_its_frozen_rows_and_reads_them_as_they_were(toy, sides):
    rows, _ = toy
    m, n, rng = 4, 3, np.random.default_rng(1)
    inputs = rows if sides != "out" else rows._replace(frozen=None)
    out = Rows(rng.normal(size=(10, 7)).astype(np.float32), 0, 10, 0, frozen=rows.frozen if sides != "in" else None)
    scratch = make_scratch(LoopSpec(m, n, int(Sharing.WINDOW), False, True, weighed=False), 7)
    scratch.centres[:] = scratch.centre_rows[:] = [1, 3, 1, 5]
    scratch.positives[:], scratch.negatives[:] = 4, [9, 2, 9]
    scratch.target_rows[:] = [4, 9, 2, 9]
    scratch.positive_steps[:], scratch.negative_steps[: m * n] = rng.normal(size=m), rng.normal(size=m * n)
    wide_in, wide_out = inputs.matrix.astype(np.float64), out.matrix.astype(np.float64)
    for k, centre in enumerate([1, 3, 1, 5]):
        x, moved = wide_in[centre].copy(), np.zeros(7)
        steps = [scratch.positive_steps[k], *scratch.negative_steps[k * n : (k + 1) * n]]
        for target, step in zip([4, 9, 2, 9], steps, strict=True):
            moved += step * wide_out[target]
            wide_out[target] += step * x * (out.frozen is None or not out.frozen[target])
        wide_in[centre] += moved * (inputs.frozen is None or not inputs.frozen[centre])
    step_window(inputs.frozen, out.frozen, inputs, out, scratch, m, n)
    np.testing.assert_allclose(inputs.matrix, wide_in, rtol=2e-5, atol=1e-6)
    np.testing.assert_allclose(out.matrix, wide_out, rtol=2e-5, atol=1e-6)


def test_nothing_stays_where_nothing_is_frozen(toy):
    rows, _ = toy
    assert [stays(rows.frozen, i) for i in (0, 1)] == [True, False]
    assert not stays(None, 0)
