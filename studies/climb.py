"""A search on a grid without an edge, from several places far apart.

A place is a tuple of whole numbers, one for each option. From each start the search goes to the best neighbour, one
option a step up or down, until all neighbours are worse; the best of the ends wins. So no winner lies at the edge of
what was tried, but where an option has a natural end, and one that is the best of its neighbourhood alone, as a rate so
low that a model only learns popularity, does not win.
"""

import math
from dataclasses import dataclass

TEMPERATURES = (0.5, 1.0, 3.0, 6.0, 12.0, 36.0, math.inf)  # RS's grid and its limit; below, a step is a factor 2


@dataclass(frozen=True)
class Rates:
    """A grid of learning rates: middle · factor ^ place; the search takes at most `steps` from each of the starts."""

    middle: float = 0.05
    factor: float = 4.0
    starts: tuple = (-2, 0, 2)
    steps: int = 50

    def at(self, place):
        return self.middle * self.factor**place

    def best(self, value, each=map):
        """Return the rate of the highest ``value(rate)``, as `best_place` finds it."""
        starts = [(start,) for start in self.starts]
        return self.at(best_place(lambda place: value(self.at(place[0])), starts, self.steps, each)[0])

    def said(self):
        starts = ", ".join(f"{self.at(start):.3g}" for start in self.starts)
        return f"learning rates on a grid of factor {self.factor:g}, climbed from {starts}"


RATES = Rates()


def temp_at(place):
    """Return T; None beyond infinity."""
    if place < 0:
        return TEMPERATURES[0] * 2.0**place
    return TEMPERATURES[place] if place < len(TEMPERATURES) else None


def warm_at(options, place, rates):
    """Return options with alpha and T at a place of both, None beyond T's end.

    At a temperature scores move 1 + 1 / T times as fast, which is taken out of alpha. At T = ∞ nothing is drawn from
    the model, so options of such draws go.
    """
    temp = temp_at(place[1])
    if temp is None:
        return None
    found = options | {"alpha": rates.at(place[0]) / (1 + 1 / temp), "temp": temp}
    return found if math.isfinite(temp) else {name: value for name, value in found.items() if name != "method"}


def best_place(value, starts, steps=50, each=map):
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
