"""How close the dense path comes to this machine's rate of plain matrix products.

Every contender runs once in each round, so that a noisy machine affects all equally; shares are taken within a round.
"""

import dataclasses
import json
import time

import numpy as np

from w2vneg.ground.jit import threads
from w2vneg.kernels.dense.blas import one_blas_thread
from w2vneg.kernels.dense.draws import BoltzmannLaw, Drawn, exact_draws, scratch_size
from w2vneg.kernels.dense.softmax import Groups, Manner, Workspace, batch_of, softmax_step

from .contenders import spread
from .speed import machine

PRODUCT = "plain product of this shape"
_SQUARE = 1024
_PAUSE = 0.1  # seconds; threads of the previous contender, BLAS's or ours, keep a core busy waiting for a while
SQUARE = f"plain product, {_SQUARE} cubed"


@dataclasses.dataclass(frozen=True)
class Timing:
    """One contender in one round: seconds, and floating-point operations of its products only."""

    contender: str
    repeat: int
    seconds: float
    operations: float

    @property
    def rate(self):
        return self.operations / self.seconds


def contenders(n_vocab, dim, batch, draws, positives=5, seed=0):
    """Return a dict of name -> (function of no argument, floating-point operations counted for it).

    All have the same `batch` distinct centres; the softmax takes real steps, too small to change the vectors much.
    """
    rng = np.random.default_rng(seed)
    vectors_in, vectors_out = (rng.normal(0, 0.1, (n_vocab, dim)).astype(np.float32) for _ in range(2))
    centres = rng.permutation(n_vocab)[:batch].astype(np.int32)
    targets = rng.integers(0, n_vocab, len(centres) * positives).astype(np.int32)
    ends = np.arange(1, len(centres) + 1) * positives
    distinct, groups = batch_of(vectors_in, Groups(centres, ends, targets, np.zeros(len(targets), np.float32)))
    work = Workspace.of(len(centres), n_vocab, dim)
    manner = Manner(np.float32(1e-4), True, False, np.float32(0))
    rows, scores = vectors_in[distinct], np.empty((len(centres), n_vocab), np.float32)
    law = BoltzmannLaw(np.full(n_vocab, -np.log(n_vocab), np.float32), np.float32(1), False)
    scratch = np.empty(scratch_size(len(centres), n_vocab), np.float32)

    def drawing(n):
        drawn = Drawn.room(len(centres), n)

        def draw():
            exact_draws(law, vectors_in, vectors_out, centres, seed, drawn, scratch)

        return draw

    def step():
        with one_blas_thread():
            softmax_step(groups, work, vectors_out, manner)

    square, result = rng.random((_SQUARE, _SQUARE), np.float32), np.empty((_SQUARE, _SQUARE), np.float32)
    product = 2.0 * n_vocab * dim * len(centres)
    return {
        PRODUCT: (lambda: np.matmul(rows, vectors_out.T, out=scores), product),
        SQUARE: (lambda: np.matmul(square, square, out=result), 2.0 * _SQUARE**3),
        "full softmax, whole step": (step, 3 * product),
        **{f"exact Boltzmann, {n} draws a centre": (drawing(n), product) for n in draws},
    }


def measure(n_vocab, dim, batch, draws, workers, repeats):
    """Time all contenders `repeats` times, interleaved; return a list of Timing.

    Each timed run follows a pause and an untimed run, so that its own threads are awake and no others.

    The plain products use NumPy's BLAS with as many threads as there are workers; the others bring their own.
    """
    runs = contenders(n_vocab, dim, batch, draws)
    timings = []
    with threads(workers) as count:
        for repeat in range(repeats):
            for name, (run, operations) in runs.items():
                timings.append(Timing(name, repeat, _seconds(run, count), operations))
    return timings


def _seconds(run, count):
    from threadpoolctl import threadpool_limits

    time.sleep(_PAUSE)
    with threadpool_limits(limits=count, user_api="blas"):
        run()
        begun = time.perf_counter()
        run()
        return time.perf_counter() - begun


def table(timings):
    """Return Markdown: GFLOP/s, median and range, and shares of the plain products' rates in the same round."""
    references = [{t.repeat: t.rate for t in timings if t.contender == name} for name in (PRODUCT, SQUARE)]
    lines = [f"| | GFLOP/s, median (range) | share of the {PRODUCT} | share of the {SQUARE} |", "|---|---|---|---|"]
    for name in dict.fromkeys(t.contender for t in timings):
        own = [t for t in timings if t.contender == name]
        rates = spread([t.rate / 1e9 for t in own], ".0f")
        shares = [spread([t.rate / rate[t.repeat] for t in own], ".2f") for rate in references]
        lines.append(f"| {name} | {rates} | {' | '.join(shares)} |")
    return "\n".join(lines)


def as_json(timings):
    """Return the single measurements as JSON text."""
    return json.dumps({"machine": machine(), "timings": [dataclasses.asdict(t) for t in timings]}, indent=1)
