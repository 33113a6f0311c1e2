"""Rows as halves. Runs with and without the JIT."""

import numpy as np
import pytest

from w2vneg.kernels.merge import from_halves, to_halves

ALL = np.arange(1 << 16, dtype=np.uint16).reshape(-1, 64)


def halves(rows):
    rows = np.asarray(rows, np.float32)
    found, moved = np.empty(rows.shape, np.uint16), np.empty(len(rows), np.bool_)
    to_halves(rows, found, moved)
    return found, moved


def test_every_half_is_the_number_that_numpy_takes_it_for():
    rows = np.empty(ALL.shape, np.float32)
    from_halves(ALL, rows)
    expected = ALL.view(np.float16).astype(np.float32)
    known = ~np.isnan(expected)
    assert np.array_equal(rows.view(np.uint32)[known], expected.view(np.uint32)[known]) and np.isnan(rows[~known]).all()


@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid")
def test_numbers_are_rounded_to_halves_as_numpy_rounds_them():
    exact = np.sort(ALL.view(np.float16).astype(np.float32).ravel())
    exact = exact[np.isfinite(exact)]
    between = ((exact[1:].astype(np.float64) + exact[:-1]) / 2).astype(np.float32)  # ties
    beside = [np.nextafter(between, side).astype(np.float32) for side in (np.float32(-9e9), np.float32(9e9))]
    rng = np.random.default_rng(1)
    others = rng.normal(size=5000).astype(np.float32) * np.float32(10) ** rng.integers(-12, 8, 5000).astype(np.float32)
    rows = np.concatenate([exact, between, *beside, others, np.float32([np.inf, -np.inf, 65519.99, 65520, 0, -0.0])])
    found = halves(rows[:, None])[0][:, 0]
    assert np.array_equal(found, rows.astype(np.float16).view(np.uint16))
    assert np.isnan(halves([[np.nan, -np.nan]])[0].view(np.float16)).all()


def test_rows_that_are_all_zero_have_not_moved():
    assert halves([[0, -0.0], [0, 1e-30], [np.nan, 0]])[1].tolist() == [False, True, True]
