"""Checkpoints of a run: its model folder is saved after epochs, and within epochs by the clock, at little cost."""

import time
from contextlib import contextmanager

from ..ground.errors import ConfigError, OutputError, W2vnegError
from ..ground.files.locks import owned
from .folder import check_place

MINUTES = 10.0
_RATIO = 100  # least time between saves, as a multiple of the time a save takes


class Checkpoints:
    """Saves a run's model to one folder, which is locked while the run lasts.

    folder : path, see `Model.save`; minutes : float, above 0, between saves within an epoch
    warn : callable, called with a message if a save fails; training continues; clock : callable, returns seconds, float
    """

    def __init__(self, folder, minutes=MINUTES, warn=lambda text: None, clock=time.monotonic):
        self.folder, self.failure = folder, None
        if isinstance(minutes, bool) or not isinstance(minutes, int | float) or not 0 < minutes <= 1e6:
            raise ConfigError(f"checkpoint_every must be a number of minutes above 0, not {minutes!r}")
        self._period, self._warn, self._clock = 60.0 * minutes, warn, clock
        self._saved, self._cost = clock(), 0.0

    @contextmanager
    def owning(self):
        """Lock the folder during the block; OutputError if another process has locked it, or it is not a model's."""
        with owned(self.folder):
            check_place(self.folder)
            yield self

    def due(self, epoch_done=False):
        """Return whether the model should be saved now: after an epoch, or when the time has elapsed."""
        since = self._clock() - self._saved
        return since >= _RATIO * self._cost and (epoch_done or since >= self._period)

    def save(self, model, final=False, prepare=lambda: None):
        """Save the model and return whether that succeeded; an error is kept as `failure`, not raised.

        final : bool, the run is over and the caller reports a failure; otherwise it is reported here, once
        prepare : callable, called first; if it raises, the save has failed, too
        """
        begun = self._clock()
        try:
            prepare()
            model.save(self.folder)
        except Exception as error:  # a MemoryError, too: the next save may succeed
            if not isinstance(error, W2vnegError):
                said = f"{type(error).__name__}: {error}".removesuffix(": ")
                error = OutputError(f"cannot write {self.folder}: {said}; nothing was left behind")
            if self.failure is None and not final:
                self._warn(f"Warning: {error}; training continues.")
            self.failure = error
        else:
            self.failure = None
        self._saved = self._clock()
        self._cost = self._saved - begun
        return self.failure is None
