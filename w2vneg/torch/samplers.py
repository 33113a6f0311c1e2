"""The laws of `w2vneg.objectives.samplers`, in tensors. Each class implements the plugs that it is registered for.

A sampler is called as

    ids, log_q, log_q_positive = sampler(view, n, shared, generator)

ids : int64, (B, n), or (n,) if the batch shares them; −1 in an empty place
log_q : float, in the same shape; ∞ where ids are −1
log_q_positive : (B,)

Both log q are None if the sampler gives none. No gradient flows through anything here.
"""

import math
from typing import NamedTuple

import numpy as np
import torch
from torch import nn

from ..ground.errors import ConfigError
from ..kernels.rng import alias_table
from ..objectives.samplers._boltzmann import Boltzmann, BoltzmannExact
from ..objectives.samplers.bernoulli import Bernoulli
from ..objectives.samplers.bigram import Bigram
from ..objectives.samplers.dns import HardestOfM
from ..objectives.samplers.kernel import KernelAhead
from ..objectives.samplers.log_uniform import LogUniform
from ..objectives.samplers.popularity import Popularity
from ..objectives.samplers.uniform import Uniform
from .losses import implement, logits_of

_CELLS = 2**24  # scores held at once, for a block of rows

MODULES: dict = {}  # class of a sampler -> module made of it


class View(NamedTuple):
    """The inputs of a draw, without gradients.

    hidden : (B, dim); targets : int64, (B,); context : int64, (B,), or None
    weight : (n_vocab, dim); bias : (n_vocab,) or None
    """

    hidden: torch.Tensor
    targets: torch.Tensor
    context: torch.Tensor | None
    weight: torch.Tensor
    bias: torch.Tensor | None

    def scores(self, rows=slice(None), absolute=False):
        """Logits of all targets for some rows of the batch: (rows, n_vocab)."""
        scores = (self.hidden[rows] @ self.weight.T).to(self.weight.dtype)  # autocast multiplies in lower precision
        scores = scores if self.bias is None else scores + self.bias
        return scores.abs() if absolute else scores

    def scores_of(self, ids, absolute=False):
        """Logits of ids: (B, k) for ids (k,), which all rows share, or (B, k)."""
        return logits_of(self.hidden, self.weight[ids], ids, self.bias, absolute)


class Law(nn.Module):
    """Base of the samplers. shareable : bool, it ignores the context; arrays : ndarrays by name, unsaved buffers"""

    shareable = False

    def __init__(self, **arrays):
        super().__init__()
        for name, values in arrays.items():
            self.register_buffer(name, torch.from_numpy(np.array(values)), persistent=False)


class Table(Law):
    """Draws from alias tables, uint64, of `kernels.rng`: integers only, so that draws are exact on every device."""

    def __init__(self, table):
        low, high = table & np.uint64(0xFFFFFFFF), table >> np.uint64(32)
        super().__init__(threshold=low.astype(np.int64), alias=high.astype(np.int64))

    def forward(self, shape, generator, first=0, size=None):
        """Draw int64 of this shape from the `size` slots that start at `first`: numbers, or broadcastable tensors."""
        device = self.alias.device
        if size is None:
            slots = torch.randint(self.alias.shape[0], shape, generator=generator, device=device)
        else:
            unit = torch.rand(shape, generator=generator, device=device, dtype=torch.float64)
            slots = torch.minimum((unit * size).long(), size - 1)
        place = first + slots
        coin = torch.randint(2**32, shape, generator=generator, device=device)
        return torch.where(coin < self.threshold[place], slots, self.alias[place])


@implement(MODULES, Uniform, Popularity, LogUniform)
class Fixed(Law):
    """One distribution for all contexts."""

    shareable = True

    def __init__(self, sampler, n_vocab):
        log_p = np.broadcast_to(np.asarray(sampler.log_p, np.float32), (n_vocab,))
        super().__init__(log_p=log_p)
        self.table = Table(sampler.table if isinstance(sampler, Popularity) else alias_table(np.exp(log_p)))

    def forward(self, view, n, shared, generator):
        ids = self.table((n,) if shared else (len(view.targets), n), generator)
        return ids, self.log_p[ids], self.log_p[view.targets]


@implement(MODULES, Bernoulli)
class Independent(Law):
    """Targets are drawn independently; each set has as many places as the largest of the batch needs."""

    shareable = True

    def __init__(self, sampler, n_vocab):
        super().__init__(log_b=sampler.log_b)

    def forward(self, view, n, shared, generator):
        sets, n_vocab = 1 if shared else len(view.targets), len(self.log_b)
        block = max(1, _CELLS // n_vocab)
        found = []  # the set and the target of each draw, set by set
        for first in range(0, sets, block):
            shape = min(block, sets - first), n_vocab
            unit = torch.rand(shape, generator=generator, device=self.log_b.device)
            found.append((unit < self.log_b.exp()).nonzero(as_tuple=True))
        row = torch.cat([rows + k * block for k, (rows, _) in enumerate(found)])
        number = torch.bincount(row, minlength=sets)
        place = torch.arange(len(row), device=row.device) - (number.cumsum(0) - number)[row]
        ids = row.new_full((sets, max(1, int(number.max()))), -1)
        ids[row, place] = torch.cat([targets for _, targets in found])
        log_number = number.clamp(min=1).log()
        log_q = torch.where(ids >= 0, self.log_b[ids.clamp(min=0)] - log_number[:, None], torch.inf)
        log_q_positive = self.log_b[view.targets] - log_number
        return (ids[0], log_q[0], log_q_positive) if shared else (ids, log_q, log_q_positive)


@implement(MODULES, Bigram)
class Neighbours(Law):
    """The neighbours of the id in `context`, backed off to popularity; popularity alone if it is below 0."""

    def __init__(self, sampler, n_vocab):
        rows = np.repeat(np.arange(len(sampler.starts) - 1), np.diff(sampler.starts))
        keys, targets = rows * n_vocab + sampler.targets, sampler.targets.astype(np.int64)  # sorted keys
        p, shares = sampler.p.astype(np.float32), sampler.shares
        starts = np.append(sampler.starts, sampler.starts[-1])  # the last, empty row stands for no context
        super().__init__(starts=starts, targets=targets, keys=keys, shares=shares, p=p)
        self.table, self.row_table = Table(sampler.table), Table(sampler.row_table)
        self.n_vocab, self.back_off = n_vocab, float(sampler.back_off)

    def forward(self, view, n, shared, generator):
        if view.context is None:
            raise ConfigError("sampler bigram needs the preceding ids: call the loss as loss(hidden, targets, context)")
        context, shape, n_contexts = view.context[:, None], (len(view.targets), n), len(self.starts) - 2
        if bool((context >= n_contexts).any()):
            raise ConfigError(
                f"context must be below {n_contexts}, the number of rows of neighbours, or -1 for none; found "
                f"{int(context.max())}"
            )
        context = torch.where(context < 0, n_contexts, context)
        first = self.starts[context]
        size = self.starts[context + 1] - first
        unit = torch.rand(shape, generator=generator, device=first.device)
        back = (unit < self.back_off) | (size == 0)
        anywhere = self.table(shape, generator)
        if len(self.keys) == 0:
            ids = anywhere
        else:
            some, last = size.clamp(min=1), len(self.keys) - 1
            place = self.row_table(shape, generator, first.clamp(max=last), some)
            ids = torch.where(back, anywhere, self.targets[(first + place).clamp(max=last)])
        return ids, self._log_prob(context, ids), self._log_prob(context, view.targets[:, None]).squeeze(1)

    def _log_prob(self, context, ids):
        q = self.p[ids]
        if len(self.keys) == 0:
            return q.log()
        wanted = context.long() * self.n_vocab + ids
        place = torch.searchsorted(self.keys, wanted).clamp(max=len(self.keys) - 1)
        share = torch.where(self.keys[place] == wanted, self.shares[place], 0)
        alone = self.starts[context + 1] == self.starts[context]
        return torch.where(alone, q, self.back_off * q + share).log()


class Exact(Law):
    """Draws in proportion to weights of all logits, `log_weights`, by matrix products over blocks of rows."""

    def forward(self, view, n, shared, generator):
        block = max(1, _CELLS // view.weight.shape[0])
        found = [self._block(view, slice(a, a + block), n, generator) for a in range(0, len(view.targets), block)]
        return tuple(torch.cat(parts) for parts in zip(*found, strict=True))

    def _block(self, view, rows, n, generator):
        log_q = self.log_weights(view, rows).log_softmax(dim=1)
        ids = torch.multinomial(log_q.exp(), n, replacement=True, generator=generator)
        return ids, log_q.gather(1, ids), log_q.gather(1, view.targets[rows, None]).squeeze(1)


@implement(MODULES, BoltzmannExact)
class ExactBoltzmann(Exact):
    """D e^{s/T}."""

    def __init__(self, sampler, n_vocab):
        super().__init__(log_d=sampler.log_d)
        self.inverse_temperature, self.absolute = float(sampler.inverse_temperature), sampler.absolute

    def log_weights(self, view, rows):
        return self.log_d + view.scores(rows, self.absolute) * self.inverse_temperature


@implement(MODULES, KernelAhead)
class Kernel(Exact):
    """α s² + 1 or s⁴ + 1."""

    def __init__(self, sampler, n_vocab):
        super().__init__()
        self.power, self.alpha = sampler.power, float(sampler.alpha)

    def log_weights(self, view, rows):
        return (self.alpha * view.scores(rows) ** self.power + 1).log()


@implement(MODULES, Boltzmann)
class AmongCandidates(Law):
    """D e^{s/T} over M candidates drawn from D: per example (sir), or for the whole batch and kept (rolling).

    candidates : int64, (M,), the oldest first, −1 before the first batch; each example replaces a few of them
    """

    candidates: torch.Tensor

    def __init__(self, sampler, n_vocab):
        super().__init__(log_d=sampler.log_d)
        self.table = Table(sampler.table)
        self.inverse_temperature, self.absolute = float(sampler.inverse_temperature), sampler.absolute
        self.replaced, self.own = sampler.replaced, sampler.replaced == sampler.n_candidates
        self.register_buffer("candidates", torch.full((sampler.n_candidates,), -1), persistent=not self.own)

    def _proposed(self, batch, generator):
        m = len(self.candidates)
        if self.own:
            return self.table((batch, m), generator)
        new = m if bool(self.candidates[0] < 0) else min(m, self.replaced * batch)
        self.candidates = torch.cat([self.candidates[new:], self.table((new,), generator)])
        return self.candidates

    def forward(self, view, n, shared, generator):
        proposed = self._proposed(len(view.targets), generator)
        strengths = view.scores_of(proposed, self.absolute) * self.inverse_temperature
        chosen = torch.multinomial(strengths.softmax(dim=1), n, replacement=True, generator=generator)
        ids = proposed.gather(1, chosen) if self.own else proposed[chosen]
        log_z = strengths.logsumexp(dim=1) - math.log(strengths.shape[1])
        positive = view.scores_of(view.targets[:, None], self.absolute).squeeze(1) * self.inverse_temperature
        log_q = self.log_d[ids] + strengths.gather(1, chosen) - log_z[:, None]
        return ids, log_q, self.log_d[view.targets] + positive - log_z


@implement(MODULES, HardestOfM)
class Hardest(Law):
    """The highest score among M draws from the popularity distribution."""

    def __init__(self, sampler, n_vocab):
        super().__init__()
        self.table, self.n_candidates, self.absolute = Table(sampler.table), sampler.n_candidates, sampler.absolute

    def forward(self, view, n, shared, generator):
        batch = len(view.targets)
        ids = self.table((batch, n * self.n_candidates), generator)
        scores = view.scores_of(ids, self.absolute).view(batch, n, -1)
        return ids.view(batch, n, -1).gather(2, scores.argmax(dim=2, keepdim=True)).squeeze(2), None, None
