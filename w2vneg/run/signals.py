"""Signals that ask a process to end: the first is a request, the second acts at once."""

import signal
import threading
from contextlib import contextmanager

_ENDING = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT")  # Ctrl-C, a scheduler, a dropped ssh, Ctrl-\


@contextmanager
def first_signal(request):
    """Turn the first signal that would end the process into a call of `request`; a second one acts as ever.

    Main thread only; elsewhere nothing changes. A signal that is set to be ignored (nohup, the background of a script)
    stays ignored.

    Parameters
    ----------
    request : callable
        Without arguments; called by the handler, so it must do next to nothing.
    """
    former = {}

    def handler(number, frame):
        restore()
        request()

    def restore():
        while former:
            number, before = former.popitem()
            signal.signal(number, before)

    if threading.current_thread() is threading.main_thread():
        for number in (getattr(signal, name) for name in _ENDING if hasattr(signal, name)):
            if signal.getsignal(number) not in (signal.SIG_IGN, None):
                former[number] = signal.signal(number, handler)
    try:
        yield
    finally:
        restore()
