"""The only place that writes progress: one tqdm line on a terminal, plain lines elsewhere, always on stderr."""

import errno
import json
import math
import os
import sys
import time
from contextlib import contextmanager, nullcontext, suppress
from datetime import datetime, timezone
from functools import partialmethod

import click

from ..data.sources import TRAVERSALS
from ..ground.errors import InputError, OutputError, plain
from ..ground.events import EpochDone
from ..ground.files.atomic import appending, check_writable, passes_on
from ..ground.files.bounded import parse_json
from ..ground.progress import byte_bar

_WIDE = 200  # columns of a terminal of unknown width
_BESIDE = 30  # columns left free for the percentage, the bar and the times
_LINE_EVERY = 10.0  # seconds between plain lines
_EPOCH_EVERY = 1.0  # seconds between those of epochs; the first and the last always have one
_LONGEST_EVENT = 1 << 16  # bytes
_BEFORE = "compiling or loading the kernels"


class BestEffort:
    """A stream that never fails: if the one under it breaks (a reader that closed, a full disk, a closed terminal, no
    standard error at all), output is dropped. stream : file, None for the current standard error
    broke : callable, optional, receives the OSError or ValueError when it breaks
    """

    def __init__(self, stream=None, broke=lambda error: None):
        self._stream, self._broken, self._broke = stream, False, broke

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
            self._broke(error)
            return None

    write, flush, isatty = partialmethod(_try, "write"), partialmethod(_try, "flush"), partialmethod(_try, "isatty")

    def fileno(self):
        return (self._stream or sys.stderr).fileno()


def note(text):
    """Write a line on standard error, if it can be written to."""
    stream = BestEffort()
    stream.write(plain(text) + "\n")
    stream.flush()


def noter(quiet):
    """Return `note`, or a function that does nothing if `quiet`."""
    return (lambda text: None) if quiet else note


def _columns(stream):
    try:
        return os.get_terminal_size(stream.fileno()).columns or _WIDE
    except (OSError, ValueError, AttributeError):  # no terminal, a closed stream, none at all
        return _WIDE


class TrainingProgress:
    """A listener that shows the progress of a trainer, and a context that closes its bar; source : str, of the run."""

    def __init__(self, stream=None, source="text"):
        self.unit = TRAVERSALS[source].unit
        self.stream = BestEffort(stream)
        self.bar = None
        self.last_line, self.last_epoch = time.monotonic(), -math.inf
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
        if event.passing:
            self._round(event)
        elif isinstance(event, EpochDone) and (self.bar is not None or self._too_soon(event)):
            return  # the bar shows it, or a later one
        elif text := event.line(_columns(self.stream)):
            self._say(text)

    def _round(self, event):
        first = self.origin is None
        if first:
            self.origin = event.fraction, event.seconds
        if self.bar is not None:
            self.bar.set_description_str(event.line(_columns(self.stream) - _BESIDE, self.unit), refresh=False)
            if first:
                self.bar.initial = self.bar.n = self.bar.last_print_n = event.fraction
                self.bar.refresh()
            else:
                self.bar.update(event.fraction - self.bar.n)
        elif time.monotonic() - self.last_line >= _LINE_EVERY:
            fraction, seconds = self.origin
            done = event.fraction - fraction
            left = f", about {(event.seconds - seconds) * (1 - event.fraction) / done:.0f} s left" if done > 0 else ""
            self._say(f"{100 * event.fraction:.1f}%: {event.line(unit=self.unit)}{left}")

    def _too_soon(self, event):
        before, now = self.last_epoch, time.monotonic()
        soon = event.epoch < event.epochs and now - before < _EPOCH_EVERY
        self.last_epoch = before if soon else now
        return soon

    def _say(self, text):
        self.last_line = time.monotonic()
        if self.bar is not None:
            self.bar.write(text, file=self.stream)
        else:
            self.stream.write(text + "\n")
            self.stream.flush()


def check_log(place):
    """Raise OutputError if events cannot be appended to a file, or it holds anything else. place : str"""
    check_writable(place)
    if passes_on(place):
        return
    with suppress(FileNotFoundError), open(place, "rb") as stream:
        first = stream.readline(_LONGEST_EVENT)
        cut_short, fits = not first.endswith(b"\n"), False
        with suppress(InputError):
            fits = first[:1] in b"{" if cut_short else isinstance(parse_json(first, place, lenient=True), dict)
        if not fits:
            raise OutputError(f"cannot write {place}: it holds something other than events; name another file")


@contextmanager
def json_lines(place, source="text"):
    """Yield a listener that appends each event to a file as a line of JSON; rounds only now and then.

    Each line has the time, in UTC, and the event's figures, with rates. A resumed run continues the same file. A file
    that breaks does not end the run but prints a warning; OutputError if it cannot be opened.
    place : str, of the file; "-" is standard output; source : as for `TrainingProgress`
    """

    def warn(error):
        if getattr(error, "errno", None) != errno.EPIPE:  # else its reader closed early
            reason = getattr(error, "strerror", None) or error
            note(f"Warning: cannot log to {place} ({reason}); training continues without it.")

    unit, last = TRAVERSALS[source].unit, -math.inf
    file = sys.stdout if place == "-" else appending(place)
    stream = BestEffort(file, warn)

    def listen(event):
        nonlocal last
        if event.passing:
            if time.monotonic() - last < _LINE_EVERY:
                return
            last = time.monotonic()
        about = {"time": datetime.now(timezone.utc).isoformat(timespec="milliseconds"), **event.as_dict()}
        if seconds := about.get("seconds"):
            rates = ({"tokens": f"{unit}_per_s"} if unit else {}) | {"pairs": "pairs_per_s"}
            about |= {rates[name]: round(about[name] / seconds) for name in rates if event.passing}
        stream.write(json.dumps(about) + "\n")
        stream.flush()

    try:
        yield listen
    finally:
        if place != "-":
            with suppress(OSError):
                file.close()


class _SearchProgress(TrainingProgress):
    def __call__(self, event):
        if event.of_search:
            self.origin = None
        if event.of_search or event.passing:
            super().__call__(event)


@contextmanager
def search_progress(quiet, source):
    """Yield listeners of a search: a line for each trial, and on a terminal the progress of the current one."""
    with nullcontext() if quiet else _SearchProgress(source=source) as progress:
        yield [progress] if progress else []


def report_compiling(quiet):
    """Report what the command compiles from now on, unless `quiet`."""
    if not quiet:
        click.get_current_context().with_resource(compiling_noted(note))


@contextmanager
def compiling_noted(note):
    """Report compilation in the block by calls of `note`: once when it begins, then each function that took long."""
    from ..ground.jit import cache_folder, watched

    noted = False

    def compiling(event):
        nonlocal noted
        if not noted:
            noted = True
            place = cache_folder()
            kept = "; not cached, as the cache folder cannot be written"
            if place:
                kept = f", once; kept in {place}. 'w2vneg warmup' does it in advance"
            note(f"Compiling kernels, 10–20 s{kept}.")
        if text := event.line():
            note(text)

    with watched(compiling):
        yield


@contextmanager
def byte_progress(description, stream=None, unit="B"):
    """Yield a callable (done, total or None), in bytes or another unit, that shows progress on a file.

    On a terminal it draws a line once the work has taken a second; elsewhere it writes a plain line now and then.
    """
    stream = BestEffort(stream)
    if stream.isatty():
        with byte_bar(description, stream, unit if unit == "B" else f" {unit}") as update:
            yield update
        return
    last = time.monotonic()

    def update(done, total):
        nonlocal last
        if time.monotonic() - last >= _LINE_EVERY:
            last = time.monotonic()
            size, name = (1e6, "MB") if unit == "B" else (1, unit)
            share = f" of {total / size:,.0f} {name} ({100 * done / total:.0f}%)" if total else f" {name}"
            stream.write(f"{description}: {done / size:,.0f}{share}\n")
            stream.flush()

    yield update
