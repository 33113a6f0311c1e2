"""Parts of a study that are done, so that a study that was interrupted goes on where it was.

One line of JSON a part, {"key": …, "value": …, "seconds": …}, appended as they come. A line that was cut short is made
again.
"""

import json
import os
import time
from pathlib import Path

from w2vneg.ground.errors import OutputError
from w2vneg.ground.files.bounded import read_bytes


class Memo:
    """What has been found, by what it was asked for.

    Parameters
    ----------
    path : path, optional
        A file of lines, read at once and appended to; without it nothing outlives the process.

    Attributes
    ----------
    seconds : float
        What all parts took to make, also those of before.

    Raises
    ------
    OutputError
        If the file cannot be written.
    """

    def __init__(self, path=None):
        self.path, self._found = None if path is None else Path(path), {}
        self.seconds = 0.0
        if self.path is not None and self.path.exists():
            self._read()

    def __call__(self, key, make):
        """Return the value of `key`, from before or of ``make()``.

        key, value : what JSON can hold; infinities and NaN are kept
        """
        name = json.dumps(key, sort_keys=True)
        if name not in self._found:
            begun = time.perf_counter()
            value = json.loads(json.dumps(make()))
            self._append(key, value, time.perf_counter() - begun)
            self._found[name] = value
        return self._found[name]

    def under(self, *what):
        """Return a callable as this one, for parts that are known by `what` beside their key."""
        return lambda key, make: self([*what, key], make)

    def __len__(self):
        return len(self._found)

    def _read(self):
        *lines, rest = read_bytes(self.path).split(b"\n")
        for line in lines:
            entry = json.loads(line)
            self._found[json.dumps(entry["key"], sort_keys=True)] = entry["value"]
            self.seconds += entry.get("seconds", 0.0)
        if rest:
            os.truncate(self.path, sum(len(line) + 1 for line in lines))

    def _append(self, key, value, seconds):
        self.seconds += seconds
        if self.path is None:
            return
        line = json.dumps({"key": key, "value": value, "seconds": round(seconds, 3)}).encode() + b"\n"
        try:
            with open(self.path, "ab") as stream:
                stream.write(line)
        except OSError as error:
            raise OutputError(f"cannot write {self.path}: {error.strerror}; free some space and try again") from error
