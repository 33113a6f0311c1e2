"""Experiment trackers, as listeners of a run: ``--track tensorboard=DIR``. One tracker per file.

Each gets the options of the run once, figures by name as they arrive, and the vectors at the end. A step is a
thousandth of an epoch, so that a resumed run continues where it stopped.
"""

import warnings
from contextlib import suppress

from ...ground.errors import ConfigError, OutputError, W2vnegError, require
from ...ground.files.atomic import check_folder_writable
from ...ground.jit import available_threads
from ...ground.registry import Registry, import_all

STEPS = 1000  # in an epoch
_APART = 0.01  # of an epoch between figures of rounds: a hundred points per epoch


class Tracker:
    """Logs the figures of one run to a place.

    keeps : str, what it logs, and where_to : str, FILE or DIR, for the docs
    package : str, the package it needs, if any, imported as `module`; extra : str, its name and that of the extra
    place : str, what follows the name of the tracker
    """

    keeps, where_to, package, extra = "", "DIR", "", ""

    def __init__(self, place):
        self.place = place

    def check(self):
        """Raise MissingExtraError or OutputError, before training, if the tracker is not installed or cannot write."""
        if self.package:
            self.module = require(self.package, self.extra, f"--track {self.extra}")
            check_folder_writable(self.place)

    def begin(self, options):
        """Start logging a run with these options (dict of str -> value)."""

    def log(self, epoch, figures):
        """Log figures (dict of str -> float) at `epoch` epochs (float) into the run."""

    def keep_vectors(self, vectors, counts):
        """Log the vectors of the run (Vectors, with int64 counts of their words), if the tracker can show vectors."""

    def end(self):
        """Close it; also after an error or Ctrl-C."""


TRACKERS = Registry("tracker", Tracker)


class Tracking:
    """A listener that passes the events of a run to trackers; a context manager around the run.

    A tracker that fails is dropped for the rest of the run, as the run matters more than its log.

    trackers : sequence of str or Tracker, such as ``csv=run.csv``
    config : TrainConfig or RunSpec, the options of the run, including its source; the attribute may be set until the
        run begins, as some options may depend on the data
    warn : callable, called with a sentence when a tracker fails
    """

    def __init__(self, trackers, config, warn=warnings.warn):
        self.trackers, self._warn = [], warn
        self.config, self._logged = config.resolved(cores=available_threads()), None
        for one in trackers:
            if isinstance(one, str):
                name, _, place = one.partition("=")
                if not place:
                    known = ", ".join(TRACKERS)
                    raise ConfigError(f"--track {one}: expected NAME=PLACE, such as csv=run.csv; known: {known}")
                one = TRACKERS[name](place)
            one.check()
            self.trackers.append(one)

    def __enter__(self):
        options = {name: value for name, value in self.config.as_dict().items() if value is not None}
        for tracker in self.trackers:
            try:
                tracker.begin(options)
            except W2vnegError:
                raise
            except Exception as error:  # trackers may raise anything
                raise OutputError(f"cannot track to {tracker.place} ({error}); choose another place") from error
        return self

    def __exit__(self, *exc):
        self._call_all("end")

    def __call__(self, event):
        """Log an event of the run."""
        epoch, metrics = event.moment(self.config.epochs), event.metrics()
        if not metrics or epoch is None:
            return
        if event.passing:
            if self._logged is not None and epoch - self._logged < _APART:
                return
            self._logged = epoch
        self._call_all("log", float(epoch), metrics)

    def keep_vectors(self, vectors, counts):
        """Log the vectors. vectors : Vectors, by falling count; counts : int64 (n,), of their words"""
        self._call_all("keep_vectors", vectors, counts)

    def _call_all(self, name, *arguments):
        for tracker in list(self.trackers):
            try:
                getattr(tracker, name)(*arguments)
            except Exception as error:  # trackers may raise anything
                self.trackers.remove(tracker)
                with suppress(Exception):
                    tracker.end()
                self._warn(f"Warning: cannot track to {tracker.place} ({error}); training continues without it.")


def step_of(epoch):
    """Return the step (int) at `epoch` epochs into a run."""
    return round(STEPS * epoch)


import_all(__path__, __name__)
