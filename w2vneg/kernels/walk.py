"""Texts and baskets as groups. In a text, a kept token is the centre, the kept tokens in its window are its positives.

A block of tokens is first subsampled into scratch, together with the neighbours beyond its two ends, so that no window
is cut at the end of a block; only the end of a sentence ends a window. Whether a token is kept depends only on its
position and the epoch, so two blocks agree about the tokens that both read.
"""

from typing import NamedTuple

import numpy as np

from ..ground.jit import njit
from .contracts import implement_fill, implement_group, implement_prefetch_hint
from .functions import first_at_least
from .rng import kept_at, next_below, next_unit


class TextWindows(NamedTuple):
    """ids : int32, (n_tokens,); offsets : int64, (n_sentences + 1,), where sentences begin
    keep : uint64, (n_vocab,), probability of surviving subsampling, times 2^32
    window : int, tokens on each side; dynamic : bool, draw the width from 1 … window for each centre
    ordered : bool, only the right side
    """

    ids: np.ndarray
    offsets: np.ndarray
    keep: np.ndarray
    window: int
    dynamic: bool
    ordered: bool = False


SEPARATOR = np.int32(-1)


@njit
def sentence_at(offsets, position):
    """Return s with offsets[s] <= position < offsets[s + 1]."""
    return first_at_least(offsets, 0, offsets.shape[0], position + 1) - 1


@implement_fill(TextWindows)
def fill(source, lo, hi, epoch_key, tokens):
    """Write the kept tokens of [lo, hi) into `tokens`, `SEPARATOR` between sentences, context at both ends.

    Return the range of `tokens` that holds the centres of this block.
    """
    ids, offsets, keep = source.ids, source.offsets, source.keep
    sentence = sentence_at(offsets, lo)
    # context on the left, nearest first, then reversed
    n = 0
    position = lo - 1
    while n < source.window and position >= offsets[sentence]:
        if kept_at(epoch_key, position, keep[ids[position]]):
            tokens[n] = ids[position]
            n += 1
        position -= 1
    for k in range(n // 2):
        tokens[k], tokens[n - 1 - k] = tokens[n - 1 - k], tokens[k]
    first = n
    position = lo
    while position < hi:
        end = offsets[sentence + 1]
        for p in range(position, min(end, hi)):
            i = ids[p]
            if kept_at(epoch_key, p, keep[i]):
                tokens[n] = i
                n += 1
        position = min(end, hi)
        if position == end:
            tokens[n] = SEPARATOR
            n += 1
            sentence += 1
    last = n
    if hi < ids.shape[0] and hi > offsets[sentence]:
        found = 0
        position = hi
        while found < source.window and position < offsets[sentence + 1]:
            if kept_at(epoch_key, position, keep[ids[position]]):
                tokens[n] = ids[position]
                n += 1
                found += 1
            position += 1
    tokens[n] = SEPARATOR
    return first, last


@implement_group(TextWindows)
def group(source, tokens, position, rng, positives):
    """Collect the positives of ``tokens[position]``; return their number, 0 for a separator or an isolated token."""
    if tokens[position] < 0:
        return 0
    width = source.window
    if source.dynamic:
        width = 1 + next_below(rng, source.window)
    n = 0
    k = -1 if source.ordered else position - 1
    while k >= 0 and k >= position - width and tokens[k] >= 0:
        positives[n] = tokens[k]
        n += 1
        k -= 1
    k = position + 1
    while k <= position + width and tokens[k] >= 0:
        positives[n] = tokens[k]
        n += 1
        k += 1
    return n


@implement_prefetch_hint(TextWindows)
def prefetch_hint(source, tokens, position):
    return tokens[min(position + source.window + 1, tokens.shape[0] - 1)]


class Baskets(NamedTuple):
    """Baskets and histories: an item is the centre, the other items of its basket are its positives.

    Distance within a basket does not matter, and order only if requested. In a long basket, `most` of the other items
    are drawn anew each time, one from each of `most` equal spans: all of them are equally likely, and the cost of a
    basket is linear in its length, not quadratic.

    ids, offsets, keep : as in `TextWindows`
    most : int, maximum number of positives of a centre; ordered : bool, only items after the centre
    """

    ids: np.ndarray
    offsets: np.ndarray
    keep: np.ndarray
    most: int
    ordered: bool


_BEGIN, _END, _HEAD = 0, 1, 2  # entries before the items: where the basket of the latest centre begins and ends


@implement_fill(Baskets)
def fill_baskets(source, lo, hi, epoch_key, tokens):
    """Write the kept items of the baskets that [lo, hi) touches, `SEPARATOR` after each; see `contracts`."""
    ids, offsets, keep = source.ids, source.offsets, source.keep
    basket = sentence_at(offsets, lo)
    position = offsets[basket]
    tokens[_BEGIN] = tokens[_END] = 0
    n, first, last = _HEAD, _HEAD, _HEAD
    while position < hi:
        basket += 1
        end = offsets[basket]
        while position < end:
            if position == lo:
                first = n
            if position == hi:
                last = n
            i = ids[position]
            if kept_at(epoch_key, position, keep[i]):
                tokens[n] = i
                n += 1
            position += 1
        tokens[n] = SEPARATOR
        n += 1
    if position == hi:
        last = n
    tokens[n] = SEPARATOR
    return first, last


@njit(borrows=True)
def _basket_around(tokens, position):
    """Return where the basket begins and ends; it is sought once for all of its items, which come one after another."""
    if not tokens[_BEGIN] <= position < tokens[_END]:
        begin, end = position, position + 1
        while begin > _HEAD and tokens[begin - 1] >= 0:
            begin -= 1
        while tokens[end] >= 0:
            end += 1
        tokens[_BEGIN], tokens[_END] = begin, end
    return np.int64(tokens[_BEGIN]), np.int64(tokens[_END])


@implement_group(Baskets)
def group_of_basket(source, tokens, position, rng, positives):
    """Collect up to `most` other items of the basket of ``tokens[position]``, without copies of the centre."""
    centre = tokens[position]
    if centre < 0:
        return 0
    begin, end = _basket_around(tokens, position)
    if source.ordered:
        begin = position
    others = end - begin - 1
    drawn = min(others, source.most)
    n = 0
    for k in range(drawn):
        place = k
        if others > drawn:
            place = min(others - 1, np.int64((k + next_unit(rng)) * others / drawn))
        place += begin
        if place >= position:
            place += 1
        if tokens[place] != centre:
            positives[n] = tokens[place]
            n += 1
    return n
