"""A CSV file with a line for each figure and its run. Several runs may share a file."""

import csv
import os
import time

from ...ground.errors import OutputError
from ...ground.files.atomic import appending, check_writable, passes_on
from . import TRACKERS, Tracker

_HEADING = ["run", "epoch", "figure", "value"]


@TRACKERS.register("csv")
class CsvFile(Tracker):
    """``csv=FILE``; lines are appended to a file of earlier runs, and written at once."""

    keeps, where_to = "a line for each figure: run, epoch, figure, value; runs append to one file", "FILE"

    def check(self):
        check_writable(self.place)
        if passes_on(self.place):
            return
        try:
            with open(self.place, encoding="utf-8", newline="") as stream:
                first = next(csv.reader(stream), _HEADING)
        except FileNotFoundError:
            return
        except (OSError, ValueError, csv.Error):
            first = None
        if first != _HEADING:
            raise OutputError(f"cannot write {self.place}: it holds something other than figures; name another file")

    def begin(self, options):
        self._run = f"{time.strftime('%Y-%m-%dT%H:%M:%S')} {os.getpid()}"
        self._stream = appending(self.place)
        self._writer = csv.writer(self._stream, lineterminator="\n")
        if os.fstat(self._stream.fileno()).st_size == 0:
            self._writer.writerow(_HEADING)

    def log(self, epoch, figures):
        self._writer.writerows([self._run, f"{epoch:.6g}", name, repr(value)] for name, value in figures.items())

    def end(self):
        self._stream.close()
