"""What a training run tells whoever listens: plain records, passed to callables between rounds.

Epochs count from 1: the one that is running, or that has just ended.
"""

from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Event:
    def as_dict(self):
        return {"event": type(self).__name__, **asdict(self)}


@dataclass(frozen=True)
class RoundDone(Event):
    """fraction : float in [0, 1], of the whole run; tokens, pairs : int, trained since this run began (or resumed);
    loss : float, mean per pair of the latest rounds; untrained : float, the loss with all logits 0; seconds : float
    """

    epoch: int
    fraction: float
    tokens: int
    pairs: int
    alpha: float
    loss: float
    untrained: float
    seconds: float


@dataclass(frozen=True)
class EpochDone(Event):
    """loss : float, mean per pair over the epoch; pairs : int, of the epoch; seconds : float, since the run began"""

    epoch: int
    epochs: int
    tokens: int
    pairs: int
    loss: float
    untrained: float
    alpha: float
    seconds: float


@dataclass(frozen=True)
class CostEstimated(Event):
    """A dense method is about to start. bytes : int, for a batch's scores; seconds : float, the whole run
    rate : float, floating-point operations a second, measured just now
    """

    method: str
    n_vocab: int
    bytes: int
    seconds: float
    rate: float


@dataclass(frozen=True)
class RolledBack(Event):
    """Training left the finite numbers: the last good state is back and alpha is multiplied by `alpha_factor`."""

    epoch: int
    fraction: float
    alpha_factor: float


@dataclass(frozen=True)
class Interrupted(Event):
    epoch: int
    fraction: float
