"""``python -m benchmarks``: the measurements quoted in README and docs, one file per command or kind of command."""

import click

from .bounds import bounds
from .dense import dense
from .exchange import exchange
from .explore import explore
from .graphs import graphs
from .io import io
from .items import items, items_speed
from .long_text import long_text
from .maps import map_
from .quality import quality
from .ranks import ranks
from .recommenders import recommenders
from .regress import regress
from .scaling import scaling
from .speed import process, speed, startup
from .suite import suite
from .time_to_quality import time_to_quality
from .workers import workers


@click.group(short_help="Measure speed and quality against other trainers.")
def bench():
    """Measure speed and quality; every figure in README and docs names its command."""


_COMMANDS = (
    suite,
    quality,
    time_to_quality,
    scaling,
    bounds,
    workers,
    ranks,
    exchange,
    speed,
    process,
    startup,
    regress,
    dense,
    io,
    long_text,
    items,
    items_speed,
    recommenders,
    graphs,
    explore,
    map_,
)

for _command in _COMMANDS:
    bench.add_command(_command)
