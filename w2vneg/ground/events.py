"""Events that a run sends to listeners between rounds; they render themselves. Epochs count from 1."""

import logging
from dataclasses import asdict, dataclass
from typing import ClassVar

_WORTH_A_LINE = 1.0  # seconds of compiling


@dataclass(frozen=True)
class Event:
    """What all events have in common.

    said : str, text for a terminal, with fields in braces; logged : tuple of str, metrics, each a group and a field
    passing : bool, whether the next one replaces it: it is shown in place and not kept in the model's history
    of_search : bool, whether it is of a search, not of training one run; level : int, of Python's logging
    """

    said: ClassVar[str] = ""
    logged: ClassVar[tuple[str, ...]] = ()
    passing: ClassVar[bool] = False
    of_search: ClassVar[bool] = False
    level: ClassVar[int] = logging.INFO

    def as_dict(self):
        """Return all fields, as the history of a model stores them."""
        return {"event": type(self).__name__, **asdict(self)}

    def line(self, width=None, unit=None):
        """Return the text for a terminal of `width` columns (str), perhaps empty; unit : str, such as "words"."""
        return self.said.format_map(vars(self))

    def metrics(self):
        """Return its metrics for a tracker, by names with groups: dict of str -> float."""
        found = {name: getattr(self, name.partition("/")[2].replace(" ", "_")) for name in self.logged}
        return {name: value for name, value in found.items() if value is not None}

    def moment(self, epochs):
        """Return how many epochs (float) into a run of `epochs` it happened; None if it has no such moment."""
        fraction = getattr(self, "fraction", None)
        return getattr(self, "epoch", None) if fraction is None else fraction * epochs


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

    said = "loss {loss:.4f} (at init {untrained:.4f})"
    logged = ("train/loss", "train/alpha", "train/pairs per s")
    passing, level = True, logging.DEBUG

    @property
    def pairs_per_s(self):
        return self.pairs / max(self.seconds, 1e-9)

    def line(self, width=None, unit=None):
        rate, text = self.pairs_per_s, super().line()
        others = [f"{self.tokens / max(self.seconds, 1e-9) / 1e3:,.0f}k {unit}/s"] * bool(unit)
        others += [f"{rate / 1e6:.2f}M pairs/s" if rate >= 1e5 else f"{rate / 1e3:.1f}k pairs/s"]
        others += [f"alpha {self.alpha:.5f}"]
        if width is None:
            return ", ".join([*others, text])
        for part in others:
            if len(text) + 2 + len(part) <= width:
                text += f", {part}"
        return text


@dataclass(frozen=True)
class EpochDone(Event):
    """loss : float, mean per pair over the epoch; pairs : int, of the epoch

    tokens : int, seconds : float, since the run began or was resumed
    """

    epoch: int
    epochs: int
    tokens: int
    pairs: int
    loss: float
    untrained: float
    alpha: float
    seconds: float

    said = "epoch {epoch}/{epochs}: loss {loss:.4f} (at init {untrained:.4f}), {pairs:,} pairs, {seconds:.1f} s"
    logged = ("epoch/loss", "epoch/seconds")


@dataclass(frozen=True)
class Diagnosis(Event):
    """Figures of the draws of `epoch` on a fixed sample of pairs (see `diagnostics`); None if unknown.

    pairs : int, in the sample; sets : int, sets of negatives drawn for each pair; negatives : int, size of a set
    total_variation : float, between the draws and the sampler's target; variation_floor : float, the same for exact
        draws from the target; effective_size : float, of a set against the full softmax, out of `negatives`
    true_positives : float, share of the negatives that occur beside the centre; negative_gradient : float, mean norm
    cosine, relative_error : float, of the expected gradient of the centre against the full softmax's
    noise : float, spread of one set's gradient around the expected one, relative to the norm of the full softmax's
    popularity_slope, pmi_slope : float, of the dot products on log P(j) and on PMI, over frequent pairs
    drift : float, total variation between the distribution of the epoch's last draws, if made ahead, and the model's
    seconds : float, duration of the diagnosis
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
    popularity_slope: float | None
    pmi_slope: float | None
    drift: float | None
    seconds: float

    logged = (
        *("draws/total_variation", "draws/effective_size", "draws/true_positives", "draws/negative_gradient"),
        *("draws/cosine", "draws/relative_error", "draws/noise", "draws/popularity_slope", "draws/pmi_slope"),
        "draws/drift",
    )

    def line(self, width=None, unit=None):
        cells = (
            ("variation (floor)", f"{_number(self.total_variation, '.4f')} ({_number(self.variation_floor, '.4f')})"),
            ("effective size", f"{_number(self.effective_size, '.2f')} of {self.negatives}"),
            ("true positives", _number(self.true_positives, ".2%")),
            ("|gradient|", _number(self.negative_gradient, ".4f")),
            ("cosine", _number(self.cosine, ".4f")),
            ("error", _number(self.relative_error, ".3f")),
            ("noise", _number(self.noise, ".3f")),
            ("slopes", f"{_number(self.popularity_slope, '.2f')}, {_number(self.pmi_slope, '.2f')}"),
            *(() if self.drift is None else (("drift", f"{self.drift:.4f}"),)),
        )
        lines = [["", ""]]
        for pair in cells:
            pair = ["  " + cell.rjust(max(map(len, pair))) for cell in pair]
            if width and lines[-1][0] and len(lines[-1][0]) + len(pair[0]) > width:
                lines.append(["", ""])
            lines[-1] = [line + cell for line, cell in zip(lines[-1], pair, strict=True)]
        return "\n".join(line for pair in lines for line in pair)


@dataclass(frozen=True)
class Validated(Event):
    """The model was evaluated on held-out pairs after `epoch` epochs.

    epoch, best_epoch : float; metric : str, the figure that decides
    figures : dict of str -> float, this and others (see `validation`); value, best : float, the metric now and its best
    improved : bool, whether it is the best so far; stale : int, evaluations since the best; seconds : float, duration
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

    def line(self, width=None, unit=None):
        standing = "the best so far" if self.improved else f"best {self.best:.4f} at epoch {_epochs(self.best_epoch)}"
        others = ", ".join(f"{name} {value:.4f}" for name, value in self.figures.items() if name != self.metric)
        text = f"{self.metric} {self.value:.4f} ({standing}); {others}, {self.seconds:.1f} s"
        return f"epoch {_epochs(self.epoch)} evaluated: {text}"

    def metrics(self):
        return {f"valid/{name}": value for name, value in self.figures.items()}


@dataclass(frozen=True)
class BestRestored(Event):
    """The run is over and the model is back at its state after `best_epoch` epochs.

    epoch : float, epochs done; best, last : dict of str -> float, figures of the best and the last state
    early : bool, whether the run ended before all epochs were done
    """

    epoch: float
    best_epoch: float
    metric: str
    best: dict
    last: dict
    early: bool

    def line(self, width=None, unit=None):
        why = "stopped early" if self.early else "done"
        return (
            f"{why} after epoch {_epochs(self.epoch)} with {self.metric} {self.last[self.metric]:.4f}; "
            f"kept the best, epoch {_epochs(self.best_epoch)} with {self.best[self.metric]:.4f}"
        )

    def metrics(self):
        return {f"best/{name}": value for name, value in self.best.items()} | {"best/epoch": self.best_epoch}


@dataclass(frozen=True)
class PenaltyChosen(Event):
    """The L2 penalty of short histories was chosen on held-out pairs, or kept if they are inconclusive.

    l2 : str, as `--l2` takes it; metric : str; figures : dict of penalty (str) -> float, empty if inconclusive
    popularity : float, the metric of popularity alone; seconds : float, duration of the choice, before training
    """

    l2: str
    metric: str
    figures: dict
    popularity: float
    seconds: float
    epoch: int = 0

    of_search = True

    def line(self, width=None, unit=None):
        if not self.figures:
            return f"--l2 {self.l2} is kept, as the held-out pairs are inconclusive"
        found = ", ".join(f"{l2}: {figure:.4f}" for l2, figure in self.figures.items())
        return f"--l2 {self.l2} is chosen; {self.metric} on held-out pairs: {found}, popularity: {self.popularity:.4f}"


def penalty_chosen(history):
    """Return the `PenaltyChosen` record of a model's history (dict), None if it has none."""
    return next((one for one in history if one.get("event") == "PenaltyChosen"), None)


@dataclass(frozen=True)
class TrialStarted(Event):
    """A search begins trial `number` of `trials` with these options; the events of its training follow."""

    number: int
    trials: int
    options: dict
    seed: int

    of_search = True


@dataclass(frozen=True)
class TrialDone(Event):
    """A trial is over. value : float, the metric of its best state, after `epoch` epochs; both None if it failed, for a
    `reason`; best : float, of all trials so far, or None; seconds : float, of training
    kept : bool, whether an existing model was evaluated, not retrained
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
    kept: bool = False

    of_search = True

    def line(self, width=None, unit=None):
        options = ", ".join(
            f"{name} {value:g}" if isinstance(value, float) else f"{name} {value}"
            for name, value in {**self.options, "seed": self.seed}.items()
        )
        found = self.reason
        if found is None:
            best = "the best so far" if self.value == self.best else f"best {self.best:.4f}"
            found = f"{self.metric} {self.value:.4f} at epoch {_epochs(self.epoch)} ({best})"
        took = "existing model, not retrained" if self.kept else f"{self.seconds:.1f} s"
        return f"trial {self.number}/{self.trials}: {options}: {found}, {took}"


@dataclass(frozen=True)
class Compiling(Event):
    """A function is not in the disk cache and is being compiled. function : str, its module and name"""

    function: str


@dataclass(frozen=True)
class Compiled(Event):
    """A function was compiled and cached for the next run. function : str; seconds : float"""

    function: str
    seconds: float

    said = "compiled {function} in {seconds:.1f} s"

    def line(self, width=None, unit=None):
        return super().line() if self.seconds >= _WORTH_A_LINE else ""


@dataclass(frozen=True)
class CostEstimated(Event):
    """A dense method is about to start. bytes : int, for a batch's scores; seconds : float, of the whole run
    rate : float, floating-point operations per second, measured just now
    """

    method: str
    n_vocab: int
    bytes: int
    seconds: float
    rate: float

    def line(self, width=None, unit=None):
        time = f"{self.seconds / 3600:.1f} hours" if self.seconds > 5400 else f"{self.seconds / 60:.0f} minutes"
        return (
            f"{self.method} over {self.n_vocab:,} targets: {self.bytes / 2**20:,.0f} MB for a batch's scores, "
            f"about {time} at {self.rate / 1e9:.0f} GFLOP/s"
        )


@dataclass(frozen=True)
class ExchangesPlanned(Event):
    """Several ranks are about to train.

    ranks : int; every : int, tokens of a rank between two exchanges, approximately
    an_epoch, exchanges : int, exchanges in an epoch and in the run; fewest : int, recommended minimum of a run
    alpha_scale : float, factor on alpha; efficiency : float or None, predicted share of the time spent training
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
        return self.exchanges < self.fewest

    @property
    def level(self):  # type: ignore[override]  # it depends on the instance
        return logging.WARNING if self.too_few else logging.INFO

    def line(self, width=None, unit=None):
        text = f"{self.ranks} ranks, {self.exchanges:,} exchanges, one per {self.every:,} tokens of each rank"
        if self.alpha_scale != 1:
            text += f"; alpha x {self.alpha_scale:.3g}"
        if self.efficiency is not None:
            text += f"; predicted: {self.efficiency:.0%} of time in training"
        if self.too_few:
            text += (
                f"\nWarning: fewer than {self.fewest} exchanges cost quality; lower --exchange-every to "
                f"{self.every * self.exchanges // self.fewest:,}, or use fewer --ranks"
            )
        return text


@dataclass(frozen=True)
class ExchangesDone(Event):
    """How ranks spent the time of an epoch; for `exchange` seconds of it none of them trained.

    slowest : int, the rank that trained longest; slowness : float, its training time relative to the mean
    lost : int, how often so far a rank was lost and restarted
    """

    epoch: int
    ranks: int
    seconds: float
    exchange: float
    slowest: int
    slowness: float
    lost: int = 0

    def line(self, width=None, unit=None):
        lost = f"; lost ranks: {self.lost}" if self.lost else ""
        return (
            f"epoch {self.epoch}: {self.exchange / self.seconds:.0%} of the time in exchanges; slowest rank "
            f"{self.slowest}, {self.slowness:.2f} times the mean{lost}"
        )


@dataclass(frozen=True)
class RolledBack(Event):
    """Training diverged: the last good state is restored and alpha is multiplied by `alpha_factor`."""

    epoch: int
    fraction: float
    alpha_factor: float

    said = "training diverged; went back to the last good state, alpha now x {alpha_factor:g}"
    logged, level = ("train/alpha factor",), logging.WARNING


@dataclass(frozen=True)
class Interrupted(Event):
    epoch: int
    fraction: float

    said, level = "interrupted after {fraction:.1%} of the run", logging.WARNING


EVENTS = {event.__name__: event for event in Event.__subclasses__()}


def _epochs(number):
    """Format a number of epochs with at most two decimals."""
    return f"{number:.2f}".rstrip("0").rstrip(".")


def _number(value, layout):
    return "unknown" if value is None else format(value, layout)
