"""The model folder of a run while it runs: saved after epochs, within them by the clock, and never at much cost."""

import time
from contextlib import contextmanager

from ..ground.errors import ConfigError, OutputError, W2vnegError
from ..ground.files.locks import owned
from .folder import check_place

MINUTES = 10.0
_RATIO = 100  # a save is followed by so many times its own time of training, at least


class Checkpoints:
    """Saves a run's model into one folder, which it owns meanwhile.

    folder : path, see `Model.save`; minutes : float, above 0, time from one save to the next within an epoch
    warn : callable, called with a sentence if a save fails; training goes on; clock : callable, returns seconds, float
    """

    def __init__(self, folder, minutes=MINUTES, warn=lambda text: None, clock=time.monotonic):
        self.folder, self.failure = folder, None
        if isinstance(minutes, bool) or not isinstance(minutes, int | float) or not 0 < minutes <= 1e6:
            raise ConfigError(f"checkpoint_every must be a number of minutes above 0, not {minutes!r}")
        self._period, self._warn, self._clock = 60.0 * minutes, warn, clock
        self._saved, self._cost = clock(), 0.0

    @contextmanager
    def owning(self):
        """Own the folder as long as the block lasts; OutputError if another process does, or it is no model's."""
        with owned(self.folder):
            check_place(self.folder)
            yield self

    def due(self, epoch_done=False):
        """Tell whether the model is to be saved now: after an epoch, or when the time has come."""
        since = self._clock() - self._saved
        return since >= _RATIO * self._cost and (epoch_done or since >= self._period)

    def save(self, model, final=False, prepare=lambda: None):
        """Save the model and return whether that went well; a failure is kept as `failure`, and ends nothing.

        final : bool, the run is over and its caller reports a failure; else it is reported here, once
        prepare : callable, called first; an error of its is a failure to save, too
        """
        begun = self._clock()
        try:
            prepare()
            model.save(self.folder)
        except Exception as error:  # a MemoryError, too: the next save may go well
            if not isinstance(error, W2vnegError):
                said = f"{type(error).__name__}: {error}".removesuffix(": ")
                error = OutputError(f"cannot write {self.folder}: {said}; nothing was left behind")
            if self.failure is None and not final:
                self._warn(f"Warning: {error}; training goes on.")
            self.failure = error
        else:
            self.failure = None
        self._saved = self._clock()
        self._cost = self._saved - begun
        return self.failure is None
