"""What a dense method would take, reported before it starts."""

from dataclasses import dataclass

from ...ground.errors import ConfigError
from ...ground.files.memory import memory_size
from ...ground.jit import threads
from .blas import product_rate

_WORTH_A_WORD = 60.0, 2**30  # seconds, bytes; below both nobody needs to know
_TOO_LONG = 24 * 3600.0  # seconds
_GUESS = 200e9  # floating-point operations a second of a fast small machine: what it does in no time is not measured


@dataclass(frozen=True)
class DenseCost:
    """bytes : int, memory of a batch's scores; seconds : float, of the whole run; rate : float, operations a second"""

    bytes: int
    seconds: float
    rate: float


def dense_cost(method, n_vocab, dim, batch, products, centres, workers, remedy):
    """Estimate a run, and refuse one that is out of reach.

    Parameters
    ----------
    method : str, for messages
    n_vocab, dim, batch, workers : int
    products : int, matrix products for each batch of centres; centres : float, of the whole run
    remedy : str, what to use instead

    Returns
    -------
    DenseCost or None
        None if the run is too small to speak of.

    Raises
    ------
    ConfigError
        If it would need more than half of this machine's memory, or more than a day.
    """
    scores = 4 * batch * n_vocab
    room = memory_size() // 2
    if scores > room:
        raise ConfigError(
            f"{method} over {n_vocab:,} words needs {_gigabytes(scores)} for the scores of {batch} centres at a time, "
            f"more than half of this machine's memory ({_gigabytes(2 * room)}); {remedy}, or lower --max-vocab"
        )
    operations = 2.0 * products * n_vocab * dim * centres
    if operations / _GUESS < _WORTH_A_WORD[0] and scores < _WORTH_A_WORD[1]:
        return None
    with threads(workers):
        rate = product_rate(dim, min(batch, 256))
    cost = DenseCost(scores, operations / rate, rate)
    if cost.seconds > _TOO_LONG:
        raise ConfigError(
            f"{method} over {n_vocab:,} words would take about {cost.seconds / 86400:,.1f} days here: {products} "
            f"matrix product{'s' if products > 1 else ''} of {n_vocab:,} x {dim} for each of {centres:.3g} centres, at "
            f"{rate / 1e9:.0f} GFLOP/s; {remedy}, or lower --max-vocab or --epochs"
        )
    return cost


def _gigabytes(size):
    return f"{size / 2**30:,.1f} GB"
