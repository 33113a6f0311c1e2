"""Baskets and histories as groups: an item is the centre, the other items of its basket are its positives.

No distance counts within a basket, only, if asked for, what comes after what. Of a long one so many others are drawn
anew each time, one from each of as many equal stretches, so that every other item is as likely and the cost of a basket
grows with its length and not with the square of it.
"""

from typing import NamedTuple

import numpy as np

from ..ground.jit import njit
from .contracts import implement_fill, implement_group
from .rng import kept_at, next_unit
from .walk import SEPARATOR, sentence_at


class Baskets(NamedTuple):
    """ids : int32, (n_tokens,); offsets : int64, (n_baskets + 1,), where baskets begin
    keep : uint64, (n_vocab,), chance to survive subsampling times 2^32
    most : int, positives of a centre; ordered : bool, only what comes after the centre
    """

    ids: np.ndarray
    offsets: np.ndarray
    keep: np.ndarray
    most: int
    ordered: bool


@implement_fill(Baskets)
def fill(source, lo, hi, epoch_key, tokens):
    """Write the kept items of the baskets that [lo, hi) touches, `SEPARATOR` after each; see `contracts`."""
    ids, offsets, keep = source.ids, source.offsets, source.keep
    basket = sentence_at(offsets, lo)
    position = offsets[basket]
    n, first, last = 0, 0, 0
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
    begin, end = position, position + 1
    while begin > 0 and tokens[begin - 1] >= 0:
        begin -= 1
    while tokens[end] >= 0:
        end += 1
    return begin, end


@implement_group(Baskets)
def group(source, tokens, position, rng, positives):
    """Collect the other items of the basket of ``tokens[position]``, or `most` of them; an item is not its own."""
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
