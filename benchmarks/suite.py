"""Training throughput over a grid of objectives, dimensions, vocabularies and workers, with rivals and the machine.

A cell of the grid is one vocabulary, dimension and number of workers; its contenders are interleaved, and before each
round the machine's own rates are measured with as many threads. Shares and ratios are taken within a round. The
vocabularies are the most frequent 15,000 words of a corpus, all of its words, and a million words of a synthetic text
that follows Zipf's law (`contenders.zipf_text`). `operations` counts operations and bytes.
"""

import dataclasses
import json
import statistics
from dataclasses import dataclass, field
from itertools import product

from w2vneg.ground.errors import ConfigError, UnknownNameError, did_you_mean
from w2vneg.ground.jit import available_threads

from .contenders import CONTENDERS, DEAR, PER_PAIR, REFERENCE, interleaved, ratios, spread, zipf_text
from .gauges import measure_machine
from .speed import machine

VOCABULARIES = ("15k", "whole", "1M")
DIMS = (100, 300)
WINDOW = 5
_ZIPF = 1_000_000, 20_000_000  # words, tokens
_CHIEF = ("ns shared", "ns per window", "ns per pair", "relaxed shared", "relaxed per pair", REFERENCE)
_NAMES = tuple(CONTENDERS)
_LEFT_OUT = (  # from the short form
    *("us shared", "us per window", "pbs shared", "selfplay shared", "css-is shared", "css-is per window"),
    *(f"{name} per pair" for name in PER_PAIR if name != "cis"),
    *DEAR,
    "relaxed, default (n = 10)",
)
_SHORT_TOKENS, _LONG_TOKENS = 800_000, 8_000_000


@dataclass(frozen=True)
class Cell:
    """vocabulary : str, of VOCABULARIES; dim, workers : int; contenders : tuple of names"""

    vocabulary: str
    dim: int
    workers: int
    contenders: tuple


@dataclass
class Measured:
    """Results of a cell. n_vocab : int; gauges : list of Gauge; timings : list of Timing."""

    cell: Cell
    n_vocab: int
    gauges: list = field(default_factory=list)
    timings: list = field(default_factory=list)


def usual_amount(long):
    """Return the default (tokens per timing, rounds)."""
    return (_LONG_TOKENS, 3) if long else (_SHORT_TOKENS, 2)


def grid(long=False, vocabularies=(), dims=(), workers=(), names=()):
    """Return the cells to be measured.

    Parameters
    ----------
    long : bool
        The whole grid instead of the five cells of the short form.
    vocabularies, dims, workers : sequences
        Values that replace those of the grid; without `long`, the others default to the whole vocabulary, 100 numbers
        and all threads.
    names : sequence of str
        Contenders, in all cells where they can take part; by default all.

    Returns
    -------
    list of Cell

    Raises
    ------
    UnknownNameError, ConfigError
        If there is no such contender, or nothing to measure.
    """
    for name in names:
        if name not in CONTENDERS:
            raise UnknownNameError(f"unknown contender {name!r}{did_you_mean(name, CONTENDERS, shown=len(CONTENDERS))}")
    threads = available_threads()
    if not (long or vocabularies or dims or workers):
        cells = _short(threads)
    else:
        every = tuple(dict.fromkeys((1, threads)))
        choices = product(
            vocabularies or (VOCABULARIES if long else ("whole",)),
            dims or (DIMS if long else (100,)),
            workers or (every if long else (threads,)),
        )
        cells = [Cell(*choice, _NAMES) for choice in choices]
    if names:
        cells = [dataclasses.replace(cell, contenders=tuple(names)) for cell in cells]
    cells = [_with_suitable(cell, long, bool(names)) for cell in cells]
    cells = [cell for cell in cells if cell.contenders]
    if not cells:
        raise ConfigError(f"none of {', '.join(names)} can take part in these cells; itembed needs --workers 1")
    return cells


def _short(threads):
    """Return cells in each direction from the middle: the whole vocabulary, 100 numbers, all threads."""
    cells = [
        Cell("whole", 100, threads, tuple(name for name in _NAMES if name not in _LEFT_OUT)),
        Cell("whole", 100, 1, (*_CHIEF, "itembed, one thread")),
        Cell("15k", 100, threads, _CHIEF),
        Cell("whole", 300, threads, ("ns shared", "relaxed shared", REFERENCE)),
        Cell("1M", 100, threads, ("ns shared", "ns per window", "relaxed shared", REFERENCE)),
    ]
    return cells if threads > 1 else [cell for cell in cells if cell != cells[1]]


def _with_suitable(cell, long, asked):
    """Return the cell without contenders that cannot take part, or are too slow there unless requested."""

    def suits(name):
        contender = CONTENDERS[name]
        if contender.one_thread and cell.workers > 1:
            return False
        if asked:
            return True
        too_many_words = contender.rival == "fasttext" and cell.vocabulary == "1M"  # its vocabulary is what it reads
        too_dear = name in DEAR and (cell.vocabulary != "15k" or not long)
        return not (too_many_words or too_dear)

    return dataclasses.replace(cell, contenders=tuple(filter(suits, cell.contenders)))


def measure_cell(cell, encoded, tokens, repeats, contenders, tell=lambda text: None, gauge=measure_machine):
    """Time a cell's contenders, interleaved; return Measured.

    Parameters
    ----------
    cell : Cell
    encoded : EncodedCorpus
    tokens, repeats : int
    contenders : collection of names, those whose packages are installed
    """
    measured = Measured(cell, len(encoded.vocab))
    chosen = [CONTENDERS[name] for name in cell.contenders if name in contenders]
    common = {"dim": cell.dim, "window": WINDOW, "epochs": 1, "workers": cell.workers}

    def before(repeat):
        measured.gauges.append(gauge(repeat, cell.dim, cell.workers))

    timings = interleaved(chosen, encoded, common, repeats, tokens, before, tell)
    measured.timings = with_expected_pairs(timings)
    return measured


def zipf_million():
    """Return the synthetic text with a million words."""
    return zipf_text(*_ZIPF)


def with_expected_pairs(timings):
    """Give rivals that report no pairs as many per word as ours: same windows, same subsampling."""
    own = [t for t in timings if t.words and t.pairs]
    if not own:
        return timings
    each = statistics.mean(t.pairs / t.words for t in own)
    return [t if t.pairs else dataclasses.replace(t, pairs=round(t.words * each)) for t in timings]


_HEADING = (
    "trainer",
    "thousand words/s, median (range)",
    "million pairs/s",
    "GFLOP/s",
    "share of the peak",
    "share of memory in order",
    "share of memory by rows",
    "peak MB (of it new)",
    "times gensim, median (range)",
)


def table(measured):
    """Return Markdown: a heading with the machine's rates, and one row per contender of a cell."""
    cell, gauges = measured.cell, measured.gauges
    rates = ", ".join(
        f"{name} {spread([getattr(gauge, of) / 1e9 for gauge in gauges], form)}"
        for name, of, form in (
            ("product GFLOP/s", "product", ".0f"),
            ("memory GB/s in order", "triad", ".1f"),
            ("by rows", "gather", ".1f"),
        )
    )
    workers = f"{cell.workers} worker{'s' if cell.workers > 1 else ''}"
    lines = [
        f"### {measured.n_vocab:,} words ({cell.vocabulary}), {cell.dim} numbers, {workers}",
        "",
        f"{rates}",
        "",
        f"| {' | '.join(_HEADING)} |",
        "|---" * len(_HEADING) + "|",
    ]
    lines += [_row(name, measured) for name in dict.fromkeys(t.contender for t in measured.timings)]
    return "\n".join(lines)


def _row(name, measured):
    own = [t for t in measured.timings if t.contender == name]
    gauges = {gauge.repeat: gauge for gauge in measured.gauges}

    def shares(amount, of):
        return [getattr(t, amount) / t.seconds / getattr(gauges[t.repeat], of) for t in own if getattr(t, amount)]

    cells = (
        name,
        spread([t.words / t.seconds / 1e3 for t in own if t.words], ",.0f"),
        _median([t.pairs / t.seconds / 1e6 for t in own if t.pairs], ".2f"),
        _median([t.operations / t.seconds / 1e9 for t in own if t.operations], ".1f"),
        _median(shares("operations", "product"), ".3f"),
        _median(shares("moved", "triad"), ".2f"),
        _median(shares("moved", "gather"), ".2f"),
        _memory(own),
        spread(ratios(measured.timings, name, lambda t: t.pairs / t.seconds), ".2f"),
    )
    return f"| {' | '.join(cells)} |"


def _memory(own):
    peak, grown = ([getattr(t, name) / 1e6 for t in own if t.memory] for name in ("memory", "grown"))
    return f"{_median(peak, ',.0f')} ({_median(grown, ',.0f')})" if peak else "–"


def _median(values, form):
    return format(statistics.median(values), form) if values else "–"


def as_json(cells, tokens):
    """Return the single measurements of a list of Measured as JSON text."""
    rows = [dataclasses.asdict(measured) for measured in cells]
    return json.dumps({"machine": machine(), "window": WINDOW, "tokens": tokens, "cells": rows}, indent=1)
