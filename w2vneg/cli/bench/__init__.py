"""``w2vneg bench``: the measurements that README and docs quote, one file per command or kind of command."""

import click

from .dense import dense
from .io import io
from .items import items, items_speed
from .quality import quality
from .speed import process, speed, startup
from .suite import suite
from .time_to_quality import time_to_quality
from .workers import workers


@click.group(short_help="Measure speed and quality beside other trainers.")
def bench():
    """Measure speed and quality; every figure in README and docs names one of these commands."""


for _command in (suite, quality, time_to_quality, workers, speed, process, startup, dense, io, items, items_speed):
    bench.add_command(_command)
