"""How much faster several workers are than one, in turns, compared with the machine's own gain from threads.

Cores that are shared with other work, or that are two threads of one core, do not always double the speed. So before
each round NumPy's product is measured with one thread and with all, and rounds in which the machine provided nearly all
of its threads are shown separately.
"""

import dataclasses
import json
import statistics

from .contenders import interleaved, spread
from .gauges import measure_machine
from .speed import machine
from .suite import WINDOW

NEARLY = 0.925
"""Share of a full thread that each must add to the product for a round to count as having all threads."""


@dataclasses.dataclass(frozen=True)
class Measured:
    """workers : int; gauges : dict of int -> list of Gauge; timings : dict of str -> dict of int -> list of Timing

    The keys are numbers of workers, 1 and `workers`; each list has one entry per round.
    """

    workers: int
    gauges: dict
    timings: dict

    def gains(self, name):
        """Return the speed-up of `workers` over one, for each round (list of float)."""
        pairs = zip(self.timings[name][self.workers], self.timings[name][1], strict=True)
        return [many.words / many.seconds / (one.words / one.seconds) for many, one in pairs]

    def products(self):
        """Return the same for NumPy's product (list of float)."""
        pairs = zip(self.gauges[self.workers], self.gauges[1], strict=True)
        return [many.product / one.product for many, one in pairs]


def measure(contenders, encoded, dim, workers, tokens, repeats, tell=lambda text: None, gauge=measure_machine):
    """Time each of our contenders with one worker and with `workers`, one after the other, round after round.

    Parameters
    ----------
    contenders : list of Contender, none of them a rival
    encoded : EncodedCorpus
    dim, workers, tokens, repeats : int

    Returns
    -------
    Measured
    """
    counts = (1, workers)
    gauges = {n: [] for n in counts}

    def before(repeat):
        for n in counts:
            gauges[n].append(gauge(repeat, dim, n))

    common = {"dim": dim, "window": WINDOW, "epochs": 1}
    variants = [_with(contender, n) for contender in contenders for n in counts]
    timings = interleaved(variants, encoded, common, repeats, tokens, before, tell)

    def of(contender, n):
        return [timing for timing in timings if timing.contender == _with(contender, n).name]

    return Measured(workers, gauges, {c.name: {n: of(c, n) for n in counts} for c in contenders})


def _with(contender, n):
    options = contender.options | {"workers": n}
    return dataclasses.replace(contender, name=f"{contender.name}, workers: {n}", options=options)


def table(measured):
    """Return Markdown: rates with one worker and with all, and the speed-up within a round."""
    n, products = measured.workers, measured.products()
    whole = [gain >= NEARLY * n for gain in products]
    lines = [
        f"| trainer | thousand words/s, 1 worker | {n} workers | times as fast, median (range) | "
        f"in the {sum(whole)} rounds whose product was {NEARLY * n:.2f} times as fast or more |",
        "|---|---|---|---|---|",
    ]

    def row(name, rates, gains, form):
        chosen = [gain for gain, one in zip(gains, whole, strict=True) if one]
        lines.append(f"| {name} | {' | '.join(rates)} | {spread(gains, form)} | {spread(chosen, form)} |")

    for name, timings in measured.timings.items():
        rates = [[t.words / t.seconds / 1e3 for t in timings[k]] for k in (1, n)]
        row(name, [f"{statistics.median(some):,.0f}" for some in rates], measured.gains(name), ".2f")
    rates = [[gauge.product / 1e9 for gauge in measured.gauges[k]] for k in (1, n)]
    row("NumPy's product, GFLOP/s", [f"{statistics.median(some):.0f}" for some in rates], products, ".2f")
    return "\n".join(lines)


def as_json(measured, tokens):
    """Return the single measurements as JSON text."""
    content = {"machine": machine(), "window": WINDOW, "tokens": tokens} | dataclasses.asdict(measured)
    return json.dumps(content, indent=1)
