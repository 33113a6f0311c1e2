"""Finished parts of a study, so that an interrupted one resumes; several processes compute the missing parts.

Each part is one line of JSON, {"key": …, "value": …, "seconds": …, "commit": …}, appended when done. A truncated line
is computed again. With more than one job, parts run in worker processes with one thread each, so `make` and its
arguments must be picklable: a function of a module, not a lambda.
"""

import json
import os
import threading
import time
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context, parent_process
from pathlib import Path

from w2vneg.ground.errors import OutputError
from w2vneg.ground.files.bounded import read_bytes

_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


class Memo:
    """Values of finished parts by key.

    Parameters
    ----------
    path : path, optional
        A file of lines, read at the start and appended to; without it, nothing outlives the process.
    jobs : int
        Worker processes; with 1, parts run in this process.
    commit : str
        Of the current code.

    Attributes
    ----------
    seconds : float
        Time of all parts, including those read from the file.
    commits : set of str
        Of the code that computed the requested parts.

    Raises
    ------
    OutputError
        If the file cannot be written.
    """

    def __init__(self, path=None, jobs=1, commit=""):
        self.path, self.jobs, self.commit = None if path is None else Path(path), jobs, commit
        self.seconds, self.commits = 0.0, set()
        self._found, self._lock, self._pool = {}, threading.Lock(), None
        if self.path is not None and self.path.exists():
            self._read()

    def __call__(self, key, make, *given):
        """Return the stored value of `key`, or that of ``make(*given)``.

        key, value : JSON can hold them; infinities and NaN are kept
        """
        name = json.dumps(key, sort_keys=True)
        with self._lock:
            missing = name not in self._found
            found = self._found.setdefault(name, Future())
        if missing:
            try:
                value, seconds = self._made(make, given)
                self._append(key, value, seconds)
                found.set_result((value, self.commit))
            except BaseException as error:
                del self._found[name]
                found.set_exception(error)
        value, commit = found.result()
        self.commits.add(commit)
        return value

    def each(self, function, *items):
        """Return ``[function(*item) …]`` over zipped items, as `map` does; with several jobs, all at once."""
        if self.jobs == 1:
            return list(map(function, *items))
        items = list(zip(*items, strict=True))
        with ThreadPoolExecutor(max(1, len(items))) as threads:
            futures = [threads.submit(function, *item) for item in items]
            try:
                return [future.result() for future in futures]
            except BaseException:
                self.close()
                raise

    def under(self, *what):
        """Return a view of this memo that prefixes all keys with `what`."""
        return _Under(self, what)

    def close(self):
        """Cancel waiting parts; the processes end after the parts they are computing."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None

    def __len__(self):
        return len(self._found)

    def _made(self, make, given):
        if self.jobs == 1:
            return _timed(make, given)
        with self._lock:
            if self._pool is None:
                os.environ.update(_ONE_THREAD)  # inherited by the workers
                self._pool = ProcessPoolExecutor(self.jobs, get_context("spawn"), _begin)
            pool = self._pool
        return pool.submit(_timed, make, given).result()

    def _read(self):
        *lines, rest = read_bytes(self.path).split(b"\n")
        for line in lines:
            entry = json.loads(line)
            found = self._found[json.dumps(entry["key"], sort_keys=True)] = Future()
            found.set_result((entry["value"], entry.get("commit", "")))
            self.seconds += entry.get("seconds", 0.0)
        if rest:
            os.truncate(self.path, sum(len(line) + 1 for line in lines))

    def _append(self, key, value, seconds):
        self.seconds += seconds
        if self.path is None:
            return
        entry = {"key": key, "value": value, "seconds": round(seconds, 3), "commit": self.commit}
        try:
            with self._lock, open(self.path, "ab") as stream:
                stream.write(json.dumps(entry).encode() + b"\n")
        except OSError as error:
            raise OutputError(f"cannot write {self.path}: {error.strerror}; free some space and try again") from error


class _Under:
    """A memo whose keys share a prefix."""

    def __init__(self, memo, what):
        self.memo, self.what, self.each = memo, what, memo.each

    def __call__(self, key, make, *given):
        return self.memo([*self.what, key], make, *given)


def _begin():
    """Initialise a worker process: use one thread, and exit when the parent does."""
    import numba

    numba.set_num_threads(1)
    threading.Thread(target=lambda: (parent_process().join(), os._exit(1)), daemon=True).start()


def _timed(make, given):
    """Return (value after a JSON round trip, seconds)."""
    begun = time.perf_counter()
    value = json.loads(json.dumps(make(*given)))
    return value, time.perf_counter() - begun
