"""A search on a grid without an edge, from several places far apart.

A place is a tuple of whole numbers, one for each option. From each start the search goes to the best neighbour, one
option a step up or down, until all neighbours are worse; the best of the ends wins. So no winner lies at the edge of
what was tried, but where an option has a natural end, and one that is the best of its neighbourhood alone, as a rate so
low that a model only learns popularity, does not win.
"""

import math

ALPHA = 0.05  # at place 0; a step is a factor 4
FAR_APART = ((-2,), (0,), (2,))  # starts for a learning rate: .003, .05, .8
TEMPERATURES = (0.5, 1.0, 3.0, 6.0, 12.0, 36.0, math.inf)  # RS's grid and its limit; below, a step is a factor 2


def alpha_at(place, temp=math.inf):
    """Return the learning rate; at a temperature scores move 1 + 1 / T times as fast, which is taken out of it."""
    return ALPHA * 4.0**place / (1 + 1 / temp)


def temp_at(place):
    """Return T; None beyond infinity."""
    if place < 0:
        return TEMPERATURES[0] * 2.0**place
    return TEMPERATURES[place] if place < len(TEMPERATURES) else None


def best_place(value, starts=FAR_APART, steps=50, each=map):
    """Return the best place, a tuple of int.

    Parameters
    ----------
    value : callable, of a place, -> float, more is better; −inf where there is none
    starts : sequence of places
    steps : int
        The most steps from each start.
    each : callable, as `map`, which may ask for several values at once
    """

    def end(best):
        for _ in range(steps):
            near = [best, *(_moved(best, option, step) for option in range(len(best)) for step in (-1, 1))]
            values = list(each(value, near))
            if values[0] >= max(values):
                break
            best = near[values.index(max(values))]
        return best

    return max(each(end, starts), key=value)


def _moved(place, option, step):
    return (*place[:option], place[option] + step, *place[option + 1 :])
