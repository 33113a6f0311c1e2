"""Hill climbing on an unbounded grid, from several distant starting points.

A place is a tuple of ints, one per option. From each start the search moves to the best neighbour, one option a step
up or down, until all neighbours are worse; the best end point wins. So no winner lies at the edge of the places tried,
except if an option has a natural end. A merely local optimum, such as a rate so low that a model only learns
popularity, does not win.
"""

import math
from dataclasses import dataclass

TEMPERATURES = (0.5, 1.0, 3.0, 6.0, 12.0, 36.0, math.inf)  # RS's grid and its limit; below it, steps of factor 2


@dataclass(frozen=True)
class Rates:
    """A grid of learning rates: middle · factor ^ place; at most `steps` steps from each start."""

    middle: float = 0.05
    factor: float = 4.0
    starts: tuple = (-2, 0, 2)
    steps: int = 50

    def at(self, place):
        return self.middle * self.factor**place

    def best(self, value, each=map):
        """Return the rate with the highest ``value(rate)``, found by `best_place`."""
        starts = [(start,) for start in self.starts]
        return self.at(best_place(lambda place: value(self.at(place[0])), starts, self.steps, each)[0])

    def said(self):
        starts = ", ".join(f"{self.at(start):.3g}" for start in self.starts)
        return f"learning rates on a grid of factor {self.factor:g}, climbed from {starts}"


RATES = Rates()


def temp_at(place):
    """Return T at a place; None beyond infinity."""
    if place < 0:
        return TEMPERATURES[0] * 2.0**place
    return TEMPERATURES[place] if place < len(TEMPERATURES) else None


def warm_at(options, place, rates):
    """Return options with the alpha and T of a place, None beyond T's end.

    At temperature T scores move 1 + 1 / T times as fast, so alpha is divided by this. At T = ∞ nothing is drawn from
    the model, so the option `method` is dropped.
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
    value : callable(place) -> float, higher is better; −inf if there is none
    starts : sequence of places
    steps : int
        Maximum from each start.
    each : callable like `map`, which may compute several values at once
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
