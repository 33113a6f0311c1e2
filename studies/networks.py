"""Networks that end in a `SampledLoss`, trained the same way by every objective: shared code of their studies.

Adam, because only a few epochs are run; each row's learning rate is chosen on validation data (see `climb`); then other
seeds train with it, and test data are used once.
"""

import math
import time
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from w2vneg.ground.errors import require

from .climb import Rates
from .verdicts import interval

_CHUNK = 2**22  # scores held at once in an evaluation
_RATES = Rates(0.0027, 3.0, (-2, 0, 2))


@dataclass(frozen=True)
class Method:
    """options : dict, of `SampledLoss`, and log_z_start, where a learned log Z starts if not at log V
    score : how log P is computed, "raw" or "corrected" by the law
    """

    name: str
    options: dict = field(default_factory=dict)
    score: str = "raw"


@dataclass(frozen=True)
class Plan:
    """net : str, of `network`; dim, epochs, batch (rows of inputs), seeds : int; rates : Rates"""

    net: str
    dim: int
    epochs: int
    batch: int
    seeds: int
    rates: Rates = _RATES


def torch():
    """Return the module torch, or raise MissingExtraError."""
    return require("torch", "torch", "this study")


@contextmanager
def one_thread():
    """Limit PyTorch to one thread: the networks are too small for more, and runs repeat to the bit."""
    t = torch()
    former = t.get_num_threads()
    t.set_num_threads(1)
    try:
        yield
    finally:
        t.set_num_threads(former)


def network(plan, n_vocab, length):
    """Return a module from ids (rows, length), −1 for padding, to hidden states (rows, length or none, dim)."""
    nn = torch().nn

    class Network(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = nn.Embedding(n_vocab + 1, plan.dim)  # the last row is padding
            nn.init.uniform_(self.embedding.weight, -0.1, 0.1)
            kinds = {"gru": nn.GRU, "lstm": nn.LSTM, "gru-last": nn.GRU}
            self.recurrent = kinds[plan.net](plan.dim, plan.dim, batch_first=True) if plan.net in kinds else None
            width = plan.dim * (length if plan.net == "mlp" else 1)
            self.layers = nn.Sequential(nn.Linear(width, plan.dim), nn.ReLU()) if plan.net == "mlp" else nn.Identity()
            self.project = nn.Linear(plan.dim, plan.dim, bias=False)

        def forward(self, ids):
            rows = self.embedding(ids % (n_vocab + 1))
            if plan.net == "last":
                rows = rows[:, -1]
            if plan.net == "mean":
                there = (ids >= 0).to(rows.dtype)[:, :, None]
                rows = (rows * there).sum(dim=1) / there.sum(dim=1)
            if self.recurrent is not None:
                rows, _ = self.recurrent(rows)
            if plan.net == "gru-last":
                rows = rows[:, -1]
            return self.project(self.layers(rows.flatten(1) if plan.net == "mlp" else rows))

    return Network()


class Run:
    """One network with one objective: `epochs` of training, and evaluation on held-out data."""

    def __init__(self, task, plan, method, seed):
        from w2vneg.torch import SampledLoss

        t = torch()
        self.task, self.plan, self.method = task, plan, method
        t.manual_seed(seed)
        self.generator = t.Generator().manual_seed(seed)
        train = task.parts["train"]
        self.net = network(plan, task.n_vocab, train.inputs.shape[1])
        options = dict(method.options)
        log_z_start = options.pop("log_z_start", None)
        if options.get("sampler") == "bigram":
            options["neighbours"] = task.neighbours()
        self.loss = SampledLoss(task.counts, plan.dim, **options)
        t.nn.init.uniform_(self.loss.output.weight, -0.1, 0.1)
        if self.loss.output.bias is not None:
            t.nn.init.constant_(self.loss.output.bias, -math.log(task.n_vocab))
        if log_z_start is not None:
            t.nn.init.constant_(self.loss.log_z, log_z_start)
        self.parts = {
            name: tuple(t.from_numpy(np.ascontiguousarray(part)) for part in (data.inputs, data.targets))
            for name, data in task.parts.items()
        }

    def train(self, rate):
        """Train; return the loss on validation data after each epoch (list of float), infinite from divergence on."""
        t = torch()
        optimiser = t.optim.Adam([*self.net.parameters(), *self.loss.parameters()], lr=rate)
        inputs, targets = self.parts["train"]
        losses, self.seconds = [], 0.0
        while len(losses) < self.plan.epochs and math.inf not in losses:
            begun = time.perf_counter()
            order = t.randperm(len(inputs), generator=self.generator)
            for rows in order.split(self.plan.batch):
                optimiser.zero_grad()
                self._value(inputs[rows], targets[rows]).backward()
                optimiser.step()
            self.seconds += time.perf_counter() - begun
            value = self.nll("valid")
            losses.append(value if math.isfinite(value) else math.inf)
        return losses + [math.inf] * (self.plan.epochs - len(losses))

    def _value(self, inputs, targets):
        last = inputs if targets.dim() == 2 else inputs[:, -1]
        return self.loss(self.net(inputs), targets, last.clamp(min=0), generator=self.generator)

    def log_probs(self, part, score=None):
        """Yield (log-probabilities of all targets (k, n_vocab), targets (k,)) over a part, without gradients.

        score : how they are computed; None: as in the method
        """
        t = torch()
        inputs, targets = self.parts[part]
        width = inputs.shape[1] if targets.dim() == 2 else 1
        rows = max(1, _CHUNK // (self.task.n_vocab * width))
        with t.no_grad():
            for a in range(0, len(inputs), rows):
                log_p = self.loss.log_prob(self.net(inputs[a : a + rows]), score or self.method.score)
                yield log_p.reshape(-1, self.task.n_vocab), targets[a : a + rows].reshape(-1)

    def nll(self, part):
        """Mean −log p of the targets of a part, nats."""
        total, n = 0.0, 0
        for log_p, targets in self.log_probs(part):
            total -= float(log_p.gather(1, targets[:, None]).double().sum())
            n += len(targets)
        return total / n


@one_thread()
def validated(task, plan, method, seed, rate):
    """Train one network; return its loss on validation data at the end."""
    return Run(task, plan, method, seed).train(rate)[-1]


@one_thread()
def tested(task, plan, method, seed, rate, extra):
    """Train one network and evaluate it on test data: dict that JSON can hold."""
    run = Run(task, plan, method, seed)
    curve = run.train(rate)
    loss = run.nll("test")
    figures = {"loss": loss, "log-likelihood": -loss, "seconds": run.seconds} | (extra(run) if extra else {})
    return {"curve": curve, "figures": figures}


@dataclass
class Measured:
    """table : DataFrame, a row per method: rate, and for each figure its mean and half of a 95 % interval
    nulls : DataFrame, losses of popularity and of counts of the previous input on test data
    curves : DataFrame, a row per method, seed and epoch: loss on validation data
    rates : DataFrame, a row per method and rate tried: loss on validation data at the end
    runs : dict of (method, figure) -> list of float, one per seed, for `verdicts.judged`
    """

    table: pd.DataFrame
    nulls: pd.DataFrame
    curves: pd.DataFrame
    rates: pd.DataFrame
    runs: dict


def measure(task, plan, methods, seed, tell, memo, extra=None):
    """Choose a rate for each method, then train other seeds with it; return a `Measured`.

    memo : Memo of finished trials
    extra : callable(Run) -> dict of str -> float, more figures of a trained network on test data
    """
    memo = memo.under(task.line(), plan.dim, plan.epochs, plan.batch)

    def one(method):
        losses = {}

        def value(rate):
            key = [plan.net, method.name, rate, seed]
            losses[rate] = memo(key, validated, task, plan, method, seed, rate)
            return -losses[rate]

        rate = plan.rates.best(value, memo.each)

        def run(k):
            key = [plan.net, method.name, rate, seed + k, "test"]
            return memo(key, tested, task, plan, method, seed + k, rate, extra)

        found = memo.each(run, range(1, 1 + plan.seeds))
        figures = {figure: [one["figures"][figure] for one in found] for figure in found[0]["figures"]}
        tell(f"{method.name}: test {np.mean(figures['loss']):.4f} at rate {rate:.2g}")
        return rate, losses, [one["curve"] for one in found], figures

    rows, curves, rates, runs, nulls = [], [], [], {}, task.nulls()
    for method, (rate, losses, curved, figures) in zip(methods, memo.each(one, methods), strict=True):
        rates += [(method.name, tried, losses[tried]) for tried in sorted(losses)]
        curves += [(method.name, k, e, value) for k, curve in enumerate(curved, 1) for e, value in enumerate(curve, 1)]
        row = {"method": method.name, "rate": rate}
        for figure, values in figures.items():
            runs[method.name, figure] = values
            row |= {figure: float(np.median(values))} if figure == "seconds" else _summary(figure, values)
        row["popularity beats it"] = "yes" if row["loss"] > nulls["loss"].iloc[0] else ""
        rows.append(row | {"perplexity": math.exp(min(row["loss"], 700))})
    return Measured(
        pd.DataFrame(rows),
        nulls,
        pd.DataFrame(curves, columns=["method", "seed", "epoch", "valid"]),
        pd.DataFrame(rates, columns=["method", "rate", "valid"]),
        runs,
    )


def log_z(run):
    """Return mean and standard deviation of log Z over test data: dict, for `measure`."""
    t = torch()
    inputs, _ = run.parts["test"]
    found = []
    with t.no_grad():
        for rows in inputs.split(max(1, _CHUNK // (run.task.n_vocab * inputs.shape[1]))):
            found.append(run.loss.scores(run.net(rows)).logsumexp(dim=-1).flatten())
    found = t.cat(found)
    return {"log Z": float(found.mean()), "sd of log Z": float(found.std())}


def _summary(name, values):
    mean, low, _ = interval(values)
    return {name: mean, f"{name} ±": mean - low}


def draw_curves(curves, start=None):
    """Return a function that draws the validation loss of each method by epoch on a figure.

    start : float, the loss before training, at epoch 0
    """

    def draw(figure):
        axes = figure.add_subplot()
        for number, (name, part) in enumerate(curves.groupby("method", sort=False)):
            mean = part.groupby("epoch")["valid"].mean()
            places, values = mean.index.to_list(), mean.to_list()
            if start is not None:
                places, values = [0, *places], [start, *values]
            axes.plot(places, values, f"{'os'[number // 7]}-", label=name)  # colours repeat after seven
        axes.set_xlabel("epoch")
        axes.xaxis.get_major_locator().set_params(integer=True)
        axes.set_ylabel("loss on validation data, nats")
        axes.legend()

    return draw


def how(task, plan):
    """Return one paragraph on the task and the training (str)."""
    return (
        f"{task.line()}. Network {plan.net}, d = {plan.dim}, {plan.epochs} epochs, batches of {plan.batch} rows, Adam; "
        f"{plan.rates.said()}, chosen per row by validation; {plan.seeds} seeds other than that of the choice, "
        "95 % intervals by Student's t. Seconds are the median training time, regardless of other load."
    )
