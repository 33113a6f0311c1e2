"""Character n-grams of words as fastText numbers them: FNV-1a over their UTF-8 bytes, modulo the number of buckets."""

import numpy as np

from ...ground.jit import njit

_BEGIN, _END = np.uint8(ord("<")), np.uint8(ord(">"))
_BASIS, _PRIME = np.uint32(2166136261), np.uint32(16777619)


def buckets_of(words, shortest, longest, buckets):
    """Return the buckets of the n-grams of each ``<word>``, of `shortest` to `longest` characters.

    From left to right, at each place the shortest first; a bracket alone is none; bytes from 128 on enter the hash with
    their sign, as in fastText.

    Parameters
    ----------
    words : PackedStrings
    shortest, longest, buckets : int

    Returns
    -------
    starts : int64, (n_words + 1,)
    buckets : int64, (n,), of word w ``buckets[starts[w]:starts[w + 1]]``
    """
    data = np.frombuffer(words.data, np.uint8)
    starts = np.zeros(len(words) + 1, np.int64)
    room = np.empty(int(np.diff(words.offsets).max(initial=0)) + 2, np.uint8)
    none = np.empty(0, np.int64)
    _go_through(data, words.offsets, shortest, longest, buckets, room, starts, none)
    np.cumsum(starts, out=starts)
    found = np.empty(int(starts[-1]), np.int64)
    _go_through(data, words.offsets, shortest, longest, buckets, room, starts, found)
    return starts, found


@njit
def _go_through(data, offsets, shortest, longest, buckets, room, starts, found):
    """Write the buckets, or where there is no room for them how many word w has to ``starts[w + 1]``."""
    n = 0
    for word in range(offsets.shape[0] - 1):
        room[0] = _BEGIN
        size = 1
        for place in range(offsets[word], offsets[word + 1] - 1):
            room[size] = data[place]
            size += 1
        room[size] = _END
        size += 1
        before = n
        for begin in range(size):
            if (room[begin] & 0xC0) == 0x80:
                continue
            hashed, end, characters = _BASIS, begin, 0
            while end < size and characters < longest:
                hashed = _with_byte(hashed, room[end])
                end += 1
                while end < size and (room[end] & 0xC0) == 0x80:
                    hashed = _with_byte(hashed, room[end])
                    end += 1
                characters += 1
                if characters >= shortest and not (characters == 1 and (begin == 0 or end == size)):
                    if found.shape[0] > 0:
                        found[n] = np.int64(hashed) % buckets
                    n += 1
        if found.shape[0] == 0:
            starts[word + 1] = n - before


@njit
def _with_byte(hashed, byte):
    return np.uint32((hashed ^ np.uint32(np.int32(np.int8(byte)))) * _PRIME)
