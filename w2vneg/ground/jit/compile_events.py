"""Who wants to know when something is compiled: the first run of an objective waits for it, and should say so."""

import time
from contextlib import contextmanager

from numba.core import event as numba_events

from ..events import Compiled, Compiling


@contextmanager
def watched(*listeners):
    """Tell listeners of each function that is compiled inside, rather than found in the disk cache.

    *listeners : callables, called with a `Compiling` when it begins and a `Compiled` when it is done; what a function
    calls is compiled with it, and not told of
    """
    with numba_events.install_listener("numba:compile", _Watcher(listeners)):
        yield


class _Watcher(numba_events.Listener):
    """One at a time compiles, under Numba's lock, so that a depth is enough."""

    def __init__(self, listeners):
        self._listeners, self._depth, self._begun = listeners, 0, 0.0

    def on_start(self, event):
        self._depth += 1
        if self._depth == 1:
            self._begun = time.perf_counter()
            self._tell(Compiling(_name(event)))

    def on_end(self, event):
        self._depth -= 1
        if self._depth == 0:
            self._tell(Compiled(_name(event), time.perf_counter() - self._begun))

    def _tell(self, event):
        for listener in self._listeners:
            listener(event)


def _name(event):
    function = event.data["dispatcher"].py_func
    return f"{function.__module__.removeprefix('w2vneg.')}.{function.__name__}"
