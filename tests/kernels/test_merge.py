"""The merge of workers' private rows, and the check for rows that exploded. Runs with and without the JIT."""

import naive
import numpy as np
import pytest

from w2vneg.engines.local import private_rows
from w2vneg.kernels.merge import merge_changes, merge_round
from w2vneg.kernels.schedule import block_size, even_block


def merged(shared, copies, chunks=3, pulls=1e9, undamped=2):
    """Return (shared rows, copies) after a merge; shared (n_vocab, dim), copies (workers, n_private, dim)."""
    shared, copies = np.asarray(shared, np.float32), np.asarray(copies, np.float32)
    workers, n_private, dim = copies.shape
    replicated = np.concatenate([shared, copies.reshape(-1, dim)])
    pulls = np.broadcast_to(np.float64(pulls), n_private).copy()
    merge_round([replicated], workers, chunks, [pulls], undamped)
    return replicated[: len(shared)], replicated[len(shared) :].reshape(copies.shape)


def test_one_worker_by_hand():
    shared, copies = merged([[1, 2], [3, 4], [5, 6]], [[[1, 2.5], [3, 4]]])
    assert shared.tolist() == [[1, 2.5], [3, 4], [5, 6]]
    assert copies.tolist() == [[[1, 2.5], [3, 4]]]


def test_two_workers_by_hand():
    # both moved row 0: 1 + (3 − 1) + (0 − 1) = 2; only the second moved row 1
    shared, copies = merged([[1], [4], [7]], [[[3], [4]], [[0], [4.5]]])
    assert shared.tolist() == [[2], [4.5], [7]]
    assert copies.tolist() == [[[2], [4.5]]] * 2


def test_two_workers_by_hand_where_rows_settle_at_once():
    # row 0: both go the same way, and half of their sum is where each of them went; row 1: at right angles, the sum;
    # row 2: one alone; row 3: hardly pulled, the sum
    given = [[0, 0]] * 5, [[[2, 0], [3, 0], [1, 1], [4, 0]], [[4, 0], [0, 4], [0, 0], [4, 0]]]
    shared, copies = merged(*given, pulls=[1e9, 1e9, 1e9, 0], undamped=1)
    np.testing.assert_allclose(shared, [[6 * 20 / 36, 0], [3, 4], [1, 1], [8, 0], [0, 0]], rtol=1e-6)
    assert (copies == shared[:4]).all()


def test_three_workers_by_hand():
    # row 0: all three; ρ = 1/2 damps by (1 − 1/8) / (3/2) = 7/12: 0 + 7/12 (1 + 2 + 3) = 3.5; row 1: two, whole: 4
    given = [[0], [1], [9]], [[[1], [2]], [[2], [1]], [[3], [3]]]
    shared, copies = merged(*given, pulls=np.log(2))
    np.testing.assert_allclose(shared, [[3.5], [4], [9]], rtol=1e-6)
    assert (copies == shared[:2]).all()
    np.testing.assert_allclose(merged(*given, pulls=0)[0], [[6], [4], [9]], rtol=1e-6)  # nobody has settled: the sum
    np.testing.assert_allclose(merged(*given, pulls=1e9)[0], [[2], [4], [9]], rtol=1e-6)  # all have: the mean


@pytest.mark.parametrize("workers", [3, 8, 32])
@pytest.mark.parametrize("pull", [0.01, 0.3, 3.0])
def test_workers_side_by_side_get_as_far_as_one_after_another(workers, pull):
    """Each takes a row the part 1 − e^−pull of its way to 5."""
    shared, _ = merged([[1.0]], np.full((workers, 1, 1), 5 - 4 * np.exp(-pull)), pulls=pull)
    assert shared[0, 0] == pytest.approx(5 - 4 * np.exp(-pull * workers), rel=1e-5)


@pytest.mark.parametrize("workers", [1, 2, 3, 5])
@pytest.mark.parametrize("n_private", [1, 4, 10])
@pytest.mark.parametrize("chunks", [1, 4, 20])
def test_merge_equals_the_oracle(workers, n_private, chunks):
    rng = np.random.default_rng([workers, n_private])
    shared = rng.normal(size=(10, 7)).astype(np.float32)
    copies = np.stack([shared[:n_private]] * workers)
    moved = rng.random((workers, n_private)) < 0.6
    copies[moved] += rng.normal(size=(int(moved.sum()), 7)).astype(np.float32)
    pulls = rng.choice([0.0, 1e-8, 0.1, 2.0, 1e4], n_private)
    after, copies_after = merged(shared, copies, chunks, pulls)
    np.testing.assert_allclose(after, naive.merge(shared, copies, pulls), rtol=1e-5, atol=1e-6)
    assert (copies_after == after[:n_private]).all()
    idle = ~moved.any(axis=0)
    assert np.array_equal(after[:n_private][idle], shared[:n_private][idle])
    assert np.array_equal(after[n_private:], shared[n_private:])


def test_a_merge_of_merged_rows_changes_nothing():
    rng = np.random.default_rng(2)
    shared, copies = merged(rng.normal(size=(6, 4)), rng.normal(size=(3, 5, 4)))
    again, copies_again = merged(shared, copies)
    assert again.tobytes() == shared.tobytes()
    assert copies_again.tobytes() == copies.tobytes()


def test_opposite_moves_cancel():
    shared, _ = merged([[1.0, 1.0]], [[[1.5, 1.0]], [[0.5, 1.0]]])
    assert shared.tolist() == [[1.0, 1.0]]


def test_workers_have_copies_of_all_rows_where_they_are_few_else_of_the_hottest():
    def of_both(n, workers):
        (chosen,) = set(private_rows({"vectors_in": n, "vectors_out": n}, n, workers).values())
        return chosen

    assert [of_both(70_419, workers) for workers in (1, 2, 4, 16)] == [0, 500, 500, 500]
    assert [of_both(8_000, workers) for workers in (1, 2, 4)] == [0, 8_000, 500]


def test_users_need_no_copies_and_items_have_more():
    n_rows = {"vectors_in": 6_040, "vectors_out": 3_706}
    found = [tuple(private_rows(n_rows, 6_040, workers, of_users=True).values()) for workers in (1, 2, 4, 8, 16)]
    assert found == [(0, 0), (6_040, 3_706), (0, 3_706), (0, 3_706), (0, 500)]
    assert tuple(private_rows(n_rows, 6_040, 4).values()) == (500, 500)


@pytest.mark.parametrize("n_targets", [300, 3_706, 9_000])
@pytest.mark.parametrize("workers", [1, 2, 4, 16])
@pytest.mark.parametrize("of_users", [True, False])
def test_rows_of_plugs_are_copied_like_the_matrix_of_their_side_which_numbers_them(n_targets, workers, of_users):
    n_rows = {"vectors_in": 9_040, "vectors_out": n_targets, "log_z": 9_040}
    n_rows |= {"discriminator_in": 9_040, "discriminator_out": n_targets}
    chosen = private_rows(n_rows, 9_040, workers, of_users)
    assert chosen["log_z"] == chosen["discriminator_in"] == chosen["vectors_in"]
    assert chosen["discriminator_out"] == chosen["vectors_out"]


def test_rounds_are_short_where_workers_have_copies_and_share_out_where_they_have_nothing_else():
    assert [block_size(10**9, workers, 100.0) for workers in (1, 4)] == [400_000, 400_000]
    assert [block_size(10**9, workers, 100.0, 500, 70_000) for workers in (2, 16)] == [65_536, 65_536]
    assert [block_size(10**9, workers, 100.0, 900, 900) for workers in (2, 16)] == [32_768, 4_096]


def exchanged(changes, pulls):
    """Return what the changes of ranks, (n_ranks, n_rows, dim), come to."""
    changes = np.asarray(changes, np.float32)
    merged = np.full(changes.shape[1:], np.nan, np.float32)
    merge_changes(changes, np.broadcast_to(np.float64(pulls), changes.shape[1]).copy(), merged)
    return merged


def test_changes_of_ranks_by_hand():
    # row 0: nobody; 1: one; 2: two that agree: the sum, whatever the pull
    # row 3: three that agree, f_a = 3 / 9, ρ = 1/2, f_d = (1 − 1/8) / (3/2) = 7/12; 4: three at right angles, f_a = 1
    a = [[0, 0, 0], [0, 0, 0], [1, 0, 0], [1, 0, 0], [2, 0, 0]]
    b = [[0, 0, 0], [3, 0, 0], [1, 0, 0], [1, 0, 0], [0, 2, 0]]
    c = [[0, 0, 0], [0, 0, 0], [0, 0, 0], [1, 0, 0], [0, 0, 2]]
    expected = [[0, 0, 0], [3, 0, 0], [2, 0, 0], [7 / 4, 0, 0], [2, 2, 2]]
    np.testing.assert_allclose(exchanged([a, b, c], np.log(2)), expected, rtol=1e-6)
    settled = exchanged([a, b, c], 1e9)[3]
    np.testing.assert_allclose(settled, [1, 0, 0], rtol=1e-6)  # both say a third: the mean
    np.testing.assert_allclose(exchanged([a, b, c], 0)[3], [3, 0, 0], rtol=1e-6)  # nobody has settled: the sum


def test_changes_that_cancel_come_to_nothing():
    assert exchanged([[[1.0, 2]], [[-1.0, -2]]], 1.0).tolist() == [[0, 0]]


@pytest.mark.parametrize("ranks", [1, 2, 3, 9])
def test_changes_of_ranks_equal_the_oracle(ranks):
    rng = np.random.default_rng(ranks)
    changes = rng.normal(size=(ranks, 20, 6)) + rng.normal(size=(20, 6)) * rng.choice([0, 3], (20, 1))
    changes[rng.random((ranks, 20)) < 0.3] = 0
    pulls = rng.choice([0.0, 1e-8, 0.1, 2.0, 1e4], 20)
    merged = exchanged(changes, pulls)
    np.testing.assert_allclose(merged, naive.merge_changes(changes.astype(np.float32), pulls), rtol=2e-5, atol=1e-6)


def test_blocks_of_a_period_are_of_equal_number():
    assert even_block(1000, 10, 400) == 100  # a block each
    assert even_block(1000, 10, 40) == 34  # three each
    assert even_block(7, 10, 400) == 1
