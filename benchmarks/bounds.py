"""What bounds a pair: the same training with one part of its work taken away, in turns, on one worker.

- few rows: the text's ids modulo 300, so all rows stay in the core's cache. What is saved is the wait for memory.
- half the numbers: vectors half as long. If all were arithmetic and traffic of rows, half the time would be saved.
- one negative: what is saved is the work of the others.
"""

import dataclasses
import json
import statistics

import numpy as np

from w2vneg.data.vocab import Vocabulary

from .contenders import interleaved, spread
from .suite import WINDOW

_FEW = 300
AS_IS = "as it is"
PARTS = ("few rows", "half the numbers", "one negative")


def folded(encoded, n=_FEW):
    """Return an encoded text with ids modulo n (EncodedCorpus)."""
    ids = encoded.ids % n
    counts = np.bincount(ids, minlength=n)
    order = np.argsort(-counts, kind="stable")
    rank = np.empty(n, np.int32)
    rank[order] = np.arange(n)
    vocab = Vocabulary([f"w{k:04d}" for k in range(n)], counts[order])
    return dataclasses.replace(encoded, ids=rank[ids], vocab=vocab)


def measure(contenders, encoded, dim, tokens, repeats, tell=lambda text: None):
    """Time each of our contenders as it is and without each part, round after round.

    Returns
    -------
    dict of str -> dict of str -> list of float
        Contender -> part -> nanoseconds per pair, one for each round.
    """
    texts, found = {AS_IS: encoded, PARTS[0]: folded(encoded)}, {c.name: {} for c in contenders}
    less = {PARTS[1]: {"dim": dim // 2}, PARTS[2]: {"negatives": 1}}
    common = {"window": WINDOW, "epochs": 1, "workers": 1, "subsample": 0.0}
    for _ in range(repeats):
        for contender in contenders:
            for part in (AS_IS, *PARTS):
                own = dataclasses.replace(contender, options=contender.options | {"dim": dim} | less.get(part, {}))
                timing = interleaved([own], texts.get(part, encoded), common, 1, tokens)[0]
                found[contender.name].setdefault(part, []).append(1e9 * timing.seconds / timing.pairs)
                tell(f"{contender.name}, {part}: {found[contender.name][part][-1]:.0f} ns a pair")
    return found


def table(found):
    """Return Markdown: nanoseconds per pair, and the share of them that each part takes away; medians and ranges."""
    lines = [f"| trainer | ns a pair | {' | '.join(PARTS)} |", "|---" * (2 + len(PARTS)) + "|"]
    for name, times in found.items():
        saved = ([1 - b / a for a, b in zip(times[AS_IS], times[part], strict=True)] for part in PARTS)
        cells = [f"{statistics.median(times[AS_IS]):.0f}", *(spread(own, ".0%") for own in saved)]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def as_json(found):
    """Return all times as JSON (str)."""
    return json.dumps(found)
