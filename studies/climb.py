"""A joint search on a grid without an edge: the best place is one whose neighbours are all worse.

A place is a tuple of whole numbers, one for each option. The search begins with all places of a first box, and goes on
from the best one to whichever of its neighbours, diagonal ones too, is better. So no winner lies at the edge of what
was tried, but where an option has a natural end.
"""

import itertools
import math

ALPHA = 0.05  # at place 0; a step is a factor 4
TEMPERATURES = (0.5, 1.0, 3.0, 6.0, 12.0, 36.0, math.inf)  # RS's grid and its limit; below, a step is a factor 2


def alpha_at(place):
    return ALPHA * 4.0**place


def temp_at(place):
    """Return T; None beyond infinity."""
    if place < 0:
        return TEMPERATURES[0] * 2.0**place
    return TEMPERATURES[place] if place < len(TEMPERATURES) else None


def best_place(value, box, steps=50):
    """Return the best place, a tuple of int.

    Parameters
    ----------
    value : callable, of a place, -> float, more is better; −inf where there is none
    box : sequence of sequences of int
        For each option the places of the first box.
    steps : int
        The most steps from the best of the box.
    """
    best = max(itertools.product(*box), key=value)
    for _ in range(steps):
        moves = itertools.product((0, -1, 1), repeat=len(best))  # staying first, so that equals end it
        better = max((tuple(map(sum, zip(best, move, strict=True))) for move in moves), key=value)
        if better == best:
            break
        best = better
    return best
