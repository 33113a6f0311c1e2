"""Progress of downloads and of building the built-in data."""

import sys
from contextlib import contextmanager
from contextvars import ContextVar


@contextmanager
def byte_bar(description, stream=None, unit="B"):
    """Yield a callable (done, total or None) that draws a bar on a terminal once the work has taken a second.

    stream : file, None for the current standard error; unit : str, of the count
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
"""Called with a description (str); returns a context of a callable (done, total or None), or of None to be silent."""
