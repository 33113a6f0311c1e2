"""Followers of a run of `fit`: Python's logging, always, and a tqdm bar, in a notebook or on request."""

import logging
import sys
import warnings

from ..ground.errors import ConfigError

LOG = logging.getLogger("w2vneg")
LOG.addHandler(logging.NullHandler())  # silent unless the program configures logging

_LAYOUT = "{desc} {percentage:3.0f}%|{bar}| {elapsed}<{remaining}{postfix}"


def log(event):
    """Log an event to the logger ``w2vneg`` as text, with the event itself as ``record.event``; rounds are DEBUG."""
    if LOG.isEnabledFor(event.level):
        figures = {name: value for name, value in event.as_dict().items() if value is not None}
        name = figures.pop("event")
        plain = {key: f"{value:.4g}" if isinstance(value, float) else value for key, value in figures.items()}
        text = ", ".join(f"{key} {value}" for key, value in plain.items())
        LOG.log(event.level, "%s: %s", name, text, extra={"event": event})


def say_what_was_read(report):
    """Log the summary of a reading report, and warn the caller of `fit` about its hints."""
    LOG.getChild("reading").info("%s", report.line())
    for hint in report.hints:
        warnings.warn(hint, stacklevel=3)


class Followers:
    """Follows one run; a context manager from the first round to the last.

    progress : None, bool or callable; None shows a bar in a notebook, True anywhere, False nowhere. A callable replaces
        the bar and is called with (done, total) bytes while reading.
    reading : callable or None, to be called with (done, total) bytes while reading
    """

    def __init__(self, progress=None):
        if not (progress is None or isinstance(progress, bool) or callable(progress)):
            raise ConfigError(f"progress must be True, False, None or a function, not {progress!r:.60}")
        shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
        shown = hasattr(shell, "kernel") if progress is None else progress is True  # by default in a notebook
        self.reading = self._read if shown else (progress or None)
        self._shown, self._bar = shown, None

    def __enter__(self):
        self._close()
        if self._shown:
            from tqdm.auto import tqdm

            self._bar = tqdm(total=1.0, desc="training", bar_format=_LAYOUT)
        return self

    def __exit__(self, *exc):
        self._close()

    def __call__(self, event):
        log(event)
        if self._bar is not None and event.passing:
            self._bar.set_postfix_str(f"epoch {event.epoch}, loss {event.loss:.4f}", refresh=False)
            self._bar.update(event.fraction - self._bar.n)

    def _read(self, done, total):
        if self._bar is None:
            from tqdm.auto import tqdm

            self._bar = tqdm(desc="reading", unit="B", unit_scale=True)
        if total is not None:
            self._bar.total = total
        self._bar.update(done - self._bar.n)

    def _close(self):
        if self._bar is not None:
            self._bar.close()
            self._bar = None
