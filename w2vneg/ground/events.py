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
class Diagnosis(Event):
    """What the draws of `epoch` are like on a fixed sample of pairs (see `diagnostics`); None where it is not known.

    pairs : int, in the sample; sets : int, sets of negatives drawn for each pair; negatives : int, places in a set
    total_variation : float, of the draws from the sampler's target; variation_floor : float, what draws from the very
        target would show; effective_size : float, of a set against the full softmax, out of `negatives`
    true_positives : float, share of the negatives that occur beside the centre; negative_gradient : float, mean norm
    cosine, relative_error : float, of the expected gradient of the centre against the full softmax's
    noise : float, spread of one set's gradient about the expected one, against the norm of the full softmax's
    seconds : float, what the diagnosis took
    """

    epoch: int
    pairs: int
    sets: int
    negatives: int
    total_variation: float | None
    variation_floor: float | None
    effective_size: float | None
    true_positives: float | None
    negative_gradient: float | None
    cosine: float | None
    relative_error: float | None
    noise: float | None
    seconds: float


@dataclass(frozen=True)
class Validated(Event):
    """Held-out pairs have evaluated the model after `epoch` epochs.

    epoch, best_epoch : float; metric : str, the figure that decides
    figures : dict of str -> float, this and others (see `validation`); value, best : float, the metric now, at its best
    improved : bool, whether it is the best so far; stale : int, evaluations since the best; seconds : float, it took
    """

    epoch: float
    metric: str
    figures: dict
    value: float
    best: float
    best_epoch: float
    improved: bool
    stale: int
    seconds: float


@dataclass(frozen=True)
class BestRestored(Event):
    """The run is over and the model is as it was after `best_epoch` epochs.

    epoch : float, epochs done; best, last : dict of str -> float, figures of the best and the last state
    early : bool, whether the run ended before all epochs were done
    """

    epoch: float
    best_epoch: float
    metric: str
    best: dict
    last: dict
    early: bool


@dataclass(frozen=True)
class TrialStarted(Event):
    """A search begins trial `number` of `trials` with these options; the events of its training follow."""

    number: int
    trials: int
    options: dict
    seed: int


@dataclass(frozen=True)
class TrialDone(Event):
    """A trial is over. value : float, the metric of its best state, after `epoch` epochs; both None if it failed, for a
    `reason`; best : float, of all trials so far, or None; seconds : float
    """

    number: int
    trials: int
    options: dict
    seed: int
    metric: str
    value: float | None
    epoch: float | None
    best: float | None
    reason: str | None
    seconds: float


@dataclass(frozen=True)
class Compiling(Event):
    """A function is not in the disk cache, and is compiled now. function : str, its module and name"""

    function: str


@dataclass(frozen=True)
class Compiled(Event):
    """It is compiled, and kept for the next run. function : str; seconds : float"""

    function: str
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
class ExchangesPlanned(Event):
    """Several ranks are about to train.

    ranks : int; every : int, tokens of a rank between two exchanges, about
    an_epoch, exchanges : int, exchanges in an epoch and in the run; fewest : int, what a run should have
    alpha_scale : float, times alpha; efficiency : float or None, share of the time that goes to training, as predicted
    """

    ranks: int
    every: int
    an_epoch: int
    exchanges: int
    fewest: int
    alpha_scale: float
    efficiency: float | None

    @property
    def too_few(self):
        """Whether so few exchanges cost quality (bool)."""
        return self.exchanges < self.fewest


@dataclass(frozen=True)
class ExchangesDone(Event):
    """What ranks have spent their time with in an epoch.

    seconds : float, of the epoch; exchange : float, seconds in which nobody trained
    slowest : int, the rank that trained longest; slowness : float, how long against the mean of all
    lost : int, how often until now a rank was lost and started again
    """

    epoch: int
    ranks: int
    seconds: float
    exchange: float
    slowest: int
    slowness: float
    lost: int = 0


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
