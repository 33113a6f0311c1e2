"""The only place that writes progress: one tqdm line on a terminal, plain lines elsewhere, always on stderr."""

import os
import sys
import time
from contextlib import contextmanager

from ..data.sources import TRAVERSALS
from ..ground.events import (
    BestRestored,
    Compiled,
    CostEstimated,
    Diagnosis,
    EpochDone,
    ExchangesDone,
    ExchangesPlanned,
    Interrupted,
    RolledBack,
    RoundDone,
    TrialDone,
    TrialStarted,
    Validated,
)

_WIDE = 200  # columns of a terminal that does not say
_BESIDE = 30  # columns of the line that figures leave for the share, the bar and the times
_LINE_EVERY = 10.0  # seconds between plain lines
_WORTH_A_LINE = 1.0  # seconds of compiling
_BEFORE = "compiling or loading the kernels"


class BestEffort:
    """A stream that never fails: nothing that is reported matters more than what it is reported of.

    When the stream under it breaks (a reader that went away, a full disk, a terminal that was closed, no standard error
    at all), what is written goes nowhere.

    Parameters
    ----------
    stream : file or None
        Standard error, as it is when something is written, if None.
    """

    def __init__(self, stream=None):
        self._stream, self._broken = stream, False

    def _try(self, name, *arguments):
        stream = self._stream or sys.stderr
        if self._broken or stream is None:
            return None
        try:
            return getattr(stream, name)(*arguments)
        except RuntimeError:  # a signal came while this thread was writing, and its handler writes, too
            return None
        except (OSError, ValueError) as error:
            if isinstance(error, ValueError) and not stream.closed:
                raise
            self._broken = True
            return None

    def write(self, text):
        self._try("write", text)
        return len(text)

    def flush(self):
        self._try("flush")

    def isatty(self):
        return bool(self._try("isatty"))

    def fileno(self):
        return (self._stream or sys.stderr).fileno()


def note(text):
    """Write a line on standard error, if it can be written to."""
    stream = BestEffort()
    stream.write(text + "\n")
    stream.flush()


def encodes(text):
    """Tell whether standard error can show a text."""
    try:
        text.encode(getattr(sys.stderr, "encoding", None) or "ascii")
    except UnicodeEncodeError:
        return False
    return True


def noter(quiet):
    """Return `note`, or a function that does nothing if `quiet`."""
    return (lambda text: None) if quiet else note


def _parts(event, unit):
    """Return what is reported of a round, a list of str."""
    seconds = max(event.seconds, 1e-9)
    gone_through = [f"{event.tokens / seconds / 1e3:,.0f}k {unit}/s"] if unit else []
    rate = event.pairs / seconds
    pairs = f"{rate / 1e6:.2f}M" if rate >= 1e5 else f"{rate / 1e3:.1f}k"
    loss = f"loss {event.loss:.4f} (untrained {event.untrained:.4f})"
    return [*gone_through, f"{pairs} pairs/s", f"alpha {event.alpha:.5f}", loss]


def _figures(event, unit):
    return ", ".join(_parts(event, unit))


def _short(event, unit, room):
    """Return as many figures as there is room for, the loss first, each of them whole."""
    *others, loss = _parts(event, unit)
    text = loss
    for part in others:
        if len(text) + 2 + len(part) <= room:
            text += f", {part}"
    return text


def _columns(stream):
    """Return how wide a terminal is, in characters (int)."""
    try:
        return os.get_terminal_size(stream.fileno()).columns or _WIDE
    except (OSError, ValueError):
        return _WIDE


def _duration(seconds):
    return f"{seconds / 3600:.1f} hours" if seconds > 5400 else f"{seconds / 60:.0f} minutes"


_DIAGNOSIS = (  # heading and figure of each column
    ("variation (floor)", lambda d: f"{_number(d.total_variation, '.4f')} ({_number(d.variation_floor, '.4f')})"),
    ("effective size", lambda d: f"{_number(d.effective_size, '.2f')} of {d.negatives}"),
    ("true positives", lambda d: _number(d.true_positives, ".2%")),
    ("|gradient|", lambda d: _number(d.negative_gradient, ".4f")),
    ("cosine", lambda d: _number(d.cosine, ".4f")),
    ("error", lambda d: _number(d.relative_error, ".3f")),
    ("noise", lambda d: _number(d.noise, ".3f")),
)


def _epochs(number):
    """Return a number of epochs with two digits after the point, fewer where they are 0."""
    return f"{number:.2f}".rstrip("0").rstrip(".")


def _evaluation(event):
    """Return a `Validated` in words: the metric first, then how it stands to the best, then the other figures."""
    standing = "the best so far" if event.improved else f"best {event.best:.4f} at epoch {_epochs(event.best_epoch)}"
    others = ", ".join(f"{name} {figure:.4f}" for name, figure in event.figures.items() if name != event.metric)
    return f"{event.metric} {event.value:.4f} ({standing}); {others}, {event.seconds:.1f} s"


def _exchanges(event):
    """Return an `ExchangesPlanned` in words; a warning where there are too few."""
    text = f"{event.ranks} ranks, {event.exchanges:,} exchanges, one after {event.every:,} tokens of each"
    if event.alpha_scale != 1:
        text += f"; alpha x {event.alpha_scale:.3g}"
    if event.efficiency is not None:
        text += f"; predicted: {event.efficiency:.0%} of the time is training"
    if event.too_few:
        text += (
            f"\nWarning: fewer than {event.fewest} exchanges cost quality; lower --exchange-every to "
            f"{event.every * event.exchanges // event.fewest:,}, or take fewer --ranks"
        )
    return text


def _number(value, layout):
    return "unknown" if value is None else format(value, layout)


def _table(diagnosis, width):
    """Return headings with figures under them, as many beside each other as fit into `width` columns."""
    lines = [["", ""]]
    for heading, figure in _DIAGNOSIS:
        cells = [heading, figure(diagnosis)]
        cells = ["  " + cell.rjust(max(map(len, cells))) for cell in cells]
        if lines[-1][0] and len(lines[-1][0]) + len(cells[0]) > width:
            lines.append(["", ""])
        lines[-1] = [line + cell for line, cell in zip(lines[-1], cells, strict=True)]
    return "\n".join(line for pair in lines for line in pair)


class TrainingProgress:
    """A listener of the trainer; a context manager that closes its line.

    Parameters
    ----------
    stream : file, optional
        Standard error by default.
    source : str
        What is trained on, as `TrainConfig.source`.
    """

    def __init__(self, stream=None, source="text"):
        self.unit = TRAVERSALS[source].unit
        self.stream = BestEffort(stream)
        self.bar = None
        self.told = time.monotonic()
        self.origin = None  # fraction and seconds after the first round: a resumed run begins in the middle

    def __enter__(self):
        if self.stream.isatty():
            from tqdm import tqdm

            layout = "{percentage:5.1f}%|{bar:6}|{elapsed}<{remaining} {desc}"
            self.bar = tqdm(total=1.0, file=self.stream, bar_format=layout, dynamic_ncols=True)
            self.bar.set_description_str(_BEFORE)
        else:
            self._say(_BEFORE)
        return self

    def __exit__(self, *exc):
        if self.bar is not None:
            self.bar.close()

    def __call__(self, event):
        if isinstance(event, RoundDone):
            self._round(event)
        elif isinstance(event, EpochDone):
            figures = f"loss {event.loss:.4f} (untrained {event.untrained:.4f}), {event.pairs:,} pairs"
            self._say(f"epoch {event.epoch}/{event.epochs}: {figures}, {event.seconds:.1f} s")
        elif isinstance(event, Validated):
            self._say(f"epoch {_epochs(event.epoch)} evaluated: {_evaluation(event)}")
        elif isinstance(event, BestRestored):
            why = "stopped early" if event.early else "done"
            self._say(
                f"{why} after epoch {_epochs(event.epoch)} with {event.metric} {event.last[event.metric]:.4f}; "
                f"kept the best, epoch {_epochs(event.best_epoch)} with {event.best[event.metric]:.4f}"
            )
        elif isinstance(event, CostEstimated):
            self._say(
                f"{event.method} over {event.n_vocab:,} targets: {event.bytes / 2**20:,.0f} MB for a batch's scores, "
                f"about {_duration(event.seconds)} at {event.rate / 1e9:.0f} GFLOP/s"
            )
        elif isinstance(event, ExchangesPlanned):
            self._say(_exchanges(event))
        elif isinstance(event, ExchangesDone):
            self._say(
                f"epoch {event.epoch}: {event.exchange / event.seconds:.0%} of the time in exchanges; slowest rank "
                f"{event.slowest}, {event.slowness:.2f} times the mean"
                + (f"; lost ranks: {event.lost}" if event.lost else "")
            )
        elif isinstance(event, Diagnosis):
            self._say(_table(event, _columns(self.stream)))
        elif isinstance(event, RolledBack):
            self._say(f"training diverged; went back to the last good state, alpha now x {event.alpha_factor:g}")
        elif isinstance(event, Interrupted):
            self._say(f"interrupted after {100 * event.fraction:.1f}% of the run")

    def _round(self, event):
        first = self.origin is None
        if first:
            self.origin = event.fraction, event.seconds
        if self.bar is not None:
            figures = _short(event, self.unit, _columns(self.stream) - _BESIDE)
            self.bar.set_description_str(figures, refresh=False)
            if first:
                self.bar.initial = self.bar.n = self.bar.last_print_n = event.fraction
                self.bar.refresh()
            else:
                self.bar.update(event.fraction - self.bar.n)
        elif time.monotonic() - self.told >= _LINE_EVERY:
            self._say(f"{100 * event.fraction:.1f}%: {_figures(event, self.unit)}{self._time_left(event)}")

    def _time_left(self, event):
        fraction, seconds = self.origin
        if event.fraction <= fraction:
            return ""
        left = (event.seconds - seconds) * (1 - event.fraction) / (event.fraction - fraction)
        return f", about {left:.0f} s left"

    def _say(self, text):
        self.told = time.monotonic()
        if self.bar is not None:
            self.bar.write(text, file=self.stream)
        else:
            self.stream.write(text + "\n")
            self.stream.flush()


class SearchProgress(TrainingProgress):
    """A listener of a search: a line for each trial, and on a terminal how far the one that runs has got."""

    def __call__(self, event):
        if isinstance(event, TrialStarted):
            self.origin = None
        elif isinstance(event, RoundDone):
            self._round(event)
        elif isinstance(event, TrialDone):
            self._say(f"trial {event.number}/{event.trials}: {_trial(event)}, {event.seconds:.1f} s")


def _trial(event):
    """Return a `TrialDone` in words: its options, what came out, and the best so far."""
    options = ", ".join(f"{name} {_plain(value)}" for name, value in {**event.options, "seed": event.seed}.items())
    if event.reason is not None:
        return f"{options}: {event.reason}"
    best = "the best so far" if event.value == event.best else f"best {event.best:.4f}"
    return f"{options}: {event.metric} {event.value:.4f} at epoch {_epochs(event.epoch)} ({best})"


def _plain(value):
    return f"{value:g}" if isinstance(value, float) else value


@contextmanager
def compiling_told(note):
    """Tell of what is compiled inside: at once that it is, then of each function that took its time.

    note : callable, called with sentences
    """
    from ..ground.jit import cache_folder
    from ..ground.jit.watching import watched

    told = False

    def tell(event):
        nonlocal told
        if not told:
            told = True
            place = cache_folder()
            kept = f"kept in {place}" if place else "not kept, for the cache folder cannot be written"
            note(
                "Compiling what this run needs, most of it the training loop: 10 to 20 seconds of one core in all; "
                f"{kept}. 'w2vneg warmup' does it ahead."
            )
        if isinstance(event, Compiled) and event.seconds >= _WORTH_A_LINE:
            note(f"compiled {event.function} in {event.seconds:.1f} s")

    with watched(tell):
        yield


@contextmanager
def byte_progress(description, stream=None, unit="B"):
    """Yield a callable (done, total or None), in bytes or another unit, that tells of work on a file.

    On a terminal it draws a line once the work has taken a second; elsewhere it writes a plain line now and then.
    """
    stream = BestEffort(stream)
    if not stream.isatty():
        yield _plain_lines(description, stream, unit)
        return
    from tqdm import tqdm

    with tqdm(
        desc=description,
        unit=unit if unit == "B" else f" {unit}",
        unit_scale=True,
        file=stream,
        delay=1.0,
        dynamic_ncols=True,
    ) as bar:

        def update(done, total):
            if total is not None:
                bar.total = total
            bar.update(done - bar.n)

        yield update


def _plain_lines(description, stream, unit):
    told = time.monotonic()

    def update(done, total):
        nonlocal told
        if time.monotonic() - told >= _LINE_EVERY:
            told = time.monotonic()
            size, name = (1e6, "MB") if unit == "B" else (1, unit)
            share = f" of {total / size:,.0f} {name} ({100 * done / total:.0f}%)" if total else f" {name}"
            stream.write(f"{description}: {done / size:,.0f}{share}\n")
            stream.flush()

    return update
