"""A CSV file: a line for each figure, with the run that it is of. Several runs may share one."""

import csv
import os
import time

from ...ground.errors import OutputError
from ...ground.files.atomic import check_writable
from . import TRACKERS, Tracker

_HEADING = ["run", "epoch", "figure", "value"]


@TRACKERS.register("csv")
class CsvFile(Tracker):
    """``csv=FILE``; lines are added to a file of former runs, and are there as they come."""

    keeps, where_to = "a line for each figure: run, epoch, figure, value; runs add to one file", "FILE"

    def check(self):
        check_writable(self.place)
        try:
            with open(self.place, encoding="utf-8", newline="") as stream:
                first = next(csv.reader(stream), _HEADING)
        except FileNotFoundError:
            return
        except (OSError, ValueError, csv.Error):
            first = None
        if first != _HEADING:
            raise OutputError(f"cannot write {self.place}: it holds something else than figures; name another file")

    def begin(self, options):
        self._run = f"{time.strftime('%Y-%m-%dT%H:%M:%S')} {os.getpid()}"
        try:
            self._stream = open(self.place, "a", encoding="utf-8", newline="", buffering=1)  # noqa: SIM115
            self._writer = csv.writer(self._stream, lineterminator="\n")
            if self._stream.tell() == 0:
                self._writer.writerow(_HEADING)
        except OSError as error:
            raise OutputError(f"cannot write {self.place}: {error.strerror}; choose another place") from error

    def log(self, epoch, figures):
        self._writer.writerows([self._run, f"{epoch:.6g}", name, repr(value)] for name, value in figures.items())

    def end(self):
        self._stream.close()
