"""Text many bytes at a time: every byte in every place, at any address."""

import numpy as np
import pytest

from w2vneg.ground.jit import njit
from w2vneg.kernels.simd.octets import STRETCH, breaks, digits, octet, trailing_zeros

MAY_BE_SPACE = {*range(0x21), 0xC2, *range(0xE0, 0xE4)}


@njit
def _breaks(block, found):
    """Fill in what `breaks` says at each place of `block`."""
    for p in range(found.size):
        found[p] = breaks(block, np.uint64(p))


@njit
def _digits(block, found):
    for p in range(found.size):
        found[p] = digits(block, np.uint64(p))


@njit
def _octets(block, found):
    for p in range(found.size):
        found[p] = octet(block, np.uint64(p))


@njit
def _zeros(numbers, found):
    for i in range(numbers.size):
        found[i] = trailing_zeros(numbers[i])


@pytest.mark.parametrize(("find", "wanted"), [(_breaks, MAY_BE_SPACE), (_digits, {*b"0123456789"})])
def test_bytes_of_a_kind_are_found(find, wanted):
    rng = np.random.default_rng(1)
    block = np.concatenate([np.arange(256), rng.integers(0, 256, 1000), [0xC1] * STRETCH]).astype(np.uint8)
    found = np.zeros(block.size - STRETCH + 1, np.uint64)
    find(block, found)
    seen = [byte in wanted for byte in block.tolist()]
    assert found.tolist() == [sum(seen[p + i] << i for i in range(STRETCH)) for p in range(found.size)]


def test_eight_bytes_are_one_number():
    block = np.random.default_rng(2).integers(0, 256, 100).astype(np.uint8)
    found = np.zeros(block.size - 7, np.uint64)
    _octets(block, found)
    assert found.tolist() == [int.from_bytes(block[p : p + 8].tobytes(), "big") for p in range(found.size)]


def test_the_lowest_bit():
    numbers = np.array([0, *(1 << k for k in range(64)), *(3 << k for k in range(63)), (1 << 64) - 2], np.uint64)
    found = np.zeros(numbers.size, np.int64)
    _zeros(numbers, found)
    assert found.tolist() == [64, *range(64), *range(63), 1]
