"""Measure the time of an exchange, and predict the cost for other numbers of machines."""

import dataclasses
import json

from w2vneg.run.assembly import ENOUGH
from w2vneg.run.word2vec import Word2Vec

from .contenders import zipf_text
from .speed import machine

_EVERY = 400_000  # tokens per rank between two exchanges
_LINKS = (10, 100)  # Gbit/s
_NODES = (2, 4, 8, 16, 32, 64)


@dataclasses.dataclass(frozen=True)
class Parts:
    """Measured parts of a run on Ray ranks of this machine: exchange : list of float, seconds of each; rate : float,
    tokens per second of each rank in training; ranks, n_vocab, dim, workers : int
    """

    exchange: list
    rate: float
    ranks: int
    n_vocab: int
    dim: int
    workers: int

    @property
    def share(self):
        """Share of a run's time spent in exchanges, one per 400,000 tokens of a rank (float)."""
        best = min(self.exchange)
        return best / (best + _EVERY / self.rate)

    @property
    def per_number(self):
        """Seconds a rank takes to pack, send on this machine, merge and apply one number of the model (float).

        Each number is packed, and unpacked by its owner and the rank itself, about once for any number of ranks.
        """
        return min(self.exchange) / (2 * self.n_vocab * self.dim)


def measure(n_vocab, dim, ranks, workers, repeats, tell=lambda text: None):
    """Exchange all rows of a synthetic model between ranks on this machine; return `Parts`."""
    text = zipf_text(n_vocab, max(20 * n_vocab, 4 * ranks * _EVERY))
    options = {"loss": "ns", "dim": dim, "min_count": 1, "workers": workers, "epochs": 1}
    word2vec = Word2Vec(**options, engine="ray", ranks=ranks, exchange_every=_EVERY)
    engine = word2vec.trainer(text).engine
    exchanges, rates = [], []
    engine.replica.keep()
    try:
        for _ in range(repeats):
            engine.go_back()
            exchange, epoch = engine.crew.measure(engine.n_rounds)
            exchanges.append(exchange)
            rates.append(engine.n_positions / ranks / epoch)
            tell(f"exchange {1e3 * exchange:.0f} ms, {rates[-1] / 1e6:.2f} million tokens/s a rank")
    finally:
        engine.close()
    return Parts(exchanges, max(rates), ranks, n_vocab, dim, workers)


def efficiency(nodes, n_vocab, dim, visits, rate, gbits, per_number, exchanges=ENOUGH):
    """Return the predicted share of time spent in training (float, in (0, 1)).

    nodes : int, one rank each; visits : float, tokens of the run over all epochs; rate : float, tokens per second of a
    node; gbits : float, of a node's link; per_number : float, seconds, as in `Parts`
    """
    numbers = 2 * n_vocab * dim
    wire = 2 * (nodes - 1) / nodes * numbers * 2 * 8 / (gbits * 1e9)  # float16, sent then received
    training = visits / nodes / rate
    return training / (training + exchanges * (wire + per_number * numbers))


def measured_table(parts):
    """Return the measurements as Markdown."""
    times = ", ".join(f"{1e3 * seconds:.0f}" for seconds in parts.exchange)
    rows = [
        ("rows, length, ranks, workers of each", f"{parts.n_vocab:,}, {parts.dim}, {parts.ranks}, {parts.workers}"),
        ("an exchange of all rows, ms", times),
        ("training, million tokens/s of a rank", f"{parts.rate / 1e6:.2f}"),
        (f"share of exchanges, one after {_EVERY:,} tokens", f"{parts.share:.1%}"),
    ]
    return "\n".join(["| what | measured |", "|---|---|", *(f"| {name} | {value} |" for name, value in rows)])


def predicted_table(parts, shapes, visits, rate):
    """Return the predicted share of training as Markdown, by rows, length, link and number of machines."""
    lines = [f"| rows | length | Gbit/s | {' | '.join(map(str, _NODES))} |", "|---" * (3 + len(_NODES)) + "|"]
    for n_vocab, dim in shapes:
        for gbits in _LINKS:
            cells = [efficiency(n, n_vocab, dim, visits, rate, gbits, parts.per_number) for n in _NODES]
            lines.append(f"| {n_vocab:,} | {dim} | {gbits} | {' | '.join(f'{cell:.2f}' for cell in cells)} |")
    return "\n".join(lines)


def as_json(parts):
    """Return the measurements as JSON text."""
    return json.dumps({"machine": machine(), **dataclasses.asdict(parts)}, indent=1)
