"""Text eight bytes at a time: every byte in every place, and words of every length."""

import numpy as np
import pytest

from w2vneg.jit import njit
from w2vneg.kernels.octets import octet, plain_bytes

MAY_BE_SPACE = {*range(0x21), 0xC2, *range(0xE0, 0xE4)}


@njit
def _counted(blocks, found):
    """Count the plain bytes at the beginning of each row of `blocks`, uint8 (n, 8), at an odd address."""
    for i in range(len(blocks)):
        row = np.zeros(9, np.uint8)
        row[1:] = blocks[i]
        found[i] = plain_bytes(octet(row, np.uint64(1)))


@pytest.mark.parametrize("place", range(8))
def test_the_first_byte_that_may_be_white_space_is_found(place):
    rng = np.random.default_rng(place)
    blocks = rng.choice([ord("a"), 0x21, 0x7F, 0x80, 0xC1, 0xC3, 0xDF, 0xE4, 0xFF], (256, 8)).astype(np.uint8)
    blocks[:, place] = np.arange(256)
    blocks[:, place + 1 :] = rng.integers(0, 256, (256, 7 - place))
    found = np.zeros(256, np.int64)
    _counted(blocks, found)
    expected = [next((k for k in range(8) if row[k] in MAY_BE_SPACE), 8) for row in blocks.tolist()]
    assert found.tolist() == expected
    assert set(np.flatnonzero(found == place)) >= MAY_BE_SPACE
