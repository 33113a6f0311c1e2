"""How far a download is, or the making of the built-in data: shown to whoever waits for it."""

import sys
from contextlib import contextmanager
from contextvars import ContextVar


@contextmanager
def byte_bar(description, stream=None, unit="B"):
    """Yield a callable (done, total or None) that draws a line on a terminal once the work has taken a second.

    stream : file, None for standard error as it is by then; unit : str, of what is counted
    """
    from tqdm import tqdm

    stream = stream or sys.stderr
    how = {"unit": unit, "unit_scale": True, "file": stream, "delay": 1.0, "dynamic_ncols": True}
    with tqdm(desc=description, disable=stream is None or not stream.isatty(), **how) as bar:

        def update(done, total):
            if total is not None:
                bar.total = total
            bar.update(done - bar.n)

        yield update


SHOW: ContextVar = ContextVar("SHOW", default=byte_bar)
"""Called with what is done (str), returns a context of a callable (done, total or None), or of None to show nothing."""
