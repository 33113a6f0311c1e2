"""Changes on their way between ranks."""

import numpy as np
import pytest

from w2vneg.config.options import DTYPES
from w2vneg.engines.ranks import Packer, unpack


def pack(rows, dtype, block=13):
    packer = Packer(*rows.shape, dtype)
    for begin in range(0, len(rows), block):
        packer.add(begin, rows[begin : begin + block])
    return packer.packed()


def there(rows, dtype, block=9):
    """Return (what was sent, what arrived), packed and unpacked in blocks."""
    packed, out = pack(rows, dtype), np.full(rows.shape, np.nan, np.float32)
    for begin in range(0, len(rows), block):
        unpack(packed, begin, out[begin : begin + block])
    return packed, out


@pytest.mark.parametrize("moved", [0, 3, 60, 100])
@pytest.mark.parametrize("dtype", DTYPES)
def test_what_arrives_is_what_was_sent_but_for_rounding(dtype, moved):
    rng = np.random.default_rng(moved)
    rows = np.zeros((100, 7), np.float32)
    rows[rng.permutation(100)[:moved]] = rng.normal(size=(moved, 7)) * 10.0 ** rng.integers(-3, 3, (moved, 1))
    packed, out = there(rows, dtype)
    worst = {"float32": 0, "float16": 2.0**-11 * np.abs(rows) + 2.0**-25}[dtype]
    assert (np.abs(out - rows) <= worst).all()
    assert (packed.ids is None) == _dense(moved, dtype)
    assert not out[~rows.any(axis=1)].any()


def _dense(moved, dtype):
    width = 7 * np.dtype(dtype).itemsize
    return moved * (width + 4) >= 100 * width


def test_rows_of_a_whole_matrix_are_sent_without_their_numbers():
    rows = np.ones((100, 50), np.float32)
    ids, values = pack(rows, "float16")
    assert ids is None and values.nbytes == 100 * 50 * 2
    rows[10:] = 0
    ids, values = pack(rows, "float16")
    assert ids.nbytes + values.nbytes == 10 * (50 * 2 + 4)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("worst", [np.nan, np.inf, 1e30])
def test_what_has_exploded_arrives_so(dtype, worst):
    rows = np.ones((4, 3), np.float32)
    rows[1, 1] = worst
    out = there(rows, dtype)[1]
    assert not (np.abs(out[1]) < 1e4).all()
    assert np.abs(out[[0, 2, 3]] - 1).max() < 0.01
