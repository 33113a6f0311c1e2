"""Build the engine of a run, on this machine or on several ranks, from its configuration and data: connect the plugs,
and choose the size of a round and how often ranks exchange what they have learnt.

Quality depends on the number of exchanges in a run, not on the tokens between two. On 17 million words, 8 ranks come
close to one rank with 120 exchanges and match it with 600; with 30 they lose several points on analogies
(docs/scaling.md). Where ranks agree, the merge takes the mean of their changes, so rows move less than on one rank. A
loss that gains from it sets a factor for alpha (`Loss.rank_alpha`), which shrinks as exchanges become more frequent.
"""

import dataclasses
import functools
import math
from typing import Any, NamedTuple

import numpy as np

from ..config.compatibility import NO_PRIVATE_ROWS, check_plugs
from ..config.options import borders
from ..engines.dense import DenseEngine
from ..engines.local import LocalEngine, private_rows
from ..engines.ranks import RanksEngine, VirtualCrew
from ..engines.ray import Crew
from ..ground.errors import ConfigError
from ..ground.events import ExchangesPlanned
from ..ground.registry import RunContext, Sharing
from ..kernels.contracts import binds, require_bodies
from ..kernels.dense.blas import dense_cost
from ..kernels.dense.draws import rows_at_once
from ..kernels.groups import LoopSpec, Plugs
from ..kernels.paths import TILE
from ..kernels.schedule import block_size, even_block
from ..objectives.samplers import Nothing
from ..objectives.samplers.exclusions import make_exclusion
from ..objectives.weighers import WEIGHERS
from .model import Model

FEWEST = 120  # exchanges a run should have: with fewer, vectors get worse
ENOUGH = 500  # exchanges beyond which more gain nothing and alpha is unchanged
FEW_RANKS, MANY_RANKS = 2, 8  # ranks up to which alpha is unchanged, and from which it is raised in full
_WORTH = 0.9  # share of the time to spend on training, if the number of exchanges allows
_SHORTEST = 1000  # tokens of a rank between exchanges; below this, a round's fixed costs matter


class Assembly(NamedTuple):
    """The parts of a run."""

    engine: Any
    loss_at_init: float  # with all logits 0
    started: int  # number of words, or users and items, that start from another model's rows
    start_events: tuple  # to be reported before training: CostEstimated, ExchangesPlanned
    config: Any  # RunSpec, with the values that the data determine


def assemble_local(data, config, model, start=None, walk=None, plan=None):
    """Build the engine of a run on this machine, or of one rank; return an `Assembly`.

    data : EncodedCorpus or EncodedPairs; config : RunSpec
    model : Model; the engine takes over its matrices. Matrices that plugs train are added to it unless it has them
    start : WarmStart, optional, initial rows of a fresh model; walk : Traversal, optional, of these data
    plan : ExchangesPlanned, optional; the data are then one rank's share, and rounds are sized so that an epoch
        consists of the planned number of equal periods
    ConfigError if the plugs are incompatible, or a dense method is too expensive; UnknownNameError if a plug is not
        registered; InputError if the corpus has no pair to train on
    """
    walk, loss = walk or data.walk(config), config.loss.plug
    if loss.dense:
        plugs = ()
        make, at_init, estimate = _dense(data, config, model, walk)
    else:
        alone = plan is None or plan.ranks == 1
        parts = _paths(data, config, walk) if loss.paths else _sampled(data, config, model, walk, alone)
        plugs, shape, cost, at_init, estimate = parts
        periods = None if alone else plan.an_epoch
        make = lambda: _local(config, model, walk, plugs, shape, cost, periods)  # noqa: E731
    for plug in plugs:
        for name in getattr(plug, "parameters", ()):  # matrices that plugs train belong to the model
            model.extra.setdefault(name, getattr(plug, name))
    started = 0 if start is None else start.begin(model)
    return Assembly(make(), at_init, started, estimate, config)


def _local(config, model, walk, plugs, shape, cost, periods):
    """Return a `LocalEngine` with rounds well under a second; cost : float, approximate nanoseconds per position."""
    n_rows = {name: len(matrix) for name, matrix in model.matrices().items()}
    n_vocab, most = max(len(model.vocab), len(model.vocab_out)), config.private_rows
    if plugs.sampler.batch_groups:
        if most:
            raise ConfigError(NO_PRIVATE_ROWS)
        most = 0
    if most is None:
        n_private = private_rows(n_rows, n_vocab, config.workers, config.rectangular)
    else:
        n_private = {name: min(most, n) if config.workers > 1 else 0 for name, n in n_rows.items()}
    block = block_size(walk.n_positions, config.workers, cost, max(n_private.values()), n_vocab)
    if periods is None:
        ahead = int(plugs.sampler.foreseen * walk.n_positions / _centres(walk))  # positions with `foreseen` centres
        block = max(block, plugs.sampler.batch_groups, min(ahead, -(-walk.n_positions // config.workers)))
    else:
        block = even_block(walk.n_positions, periods * config.workers, block)
    return LocalEngine(model, walk, plugs, shape, block, n_private, config)


def _whole_data():
    what = "this sampler or weigher counts over the whole data, and each rank has only a share"
    raise ConfigError(f"{what}; use another, or leave --engine out")


def _sampled(data, config, model, walk, alone):
    counts = data.vocab_out.counts
    slots = config.sampler.plug.max_negatives(config.negatives)
    sharing = Sharing[config.share_negatives.upper()]
    draws, mean = (slots * (size if sharing == Sharing.NO else 1) for size in (walk.largest_group, walk.mean_group))
    neighbours = functools.partial(data.traversal.counts, data, config, 1) if alone else _whole_data
    sizes = {"n_centres": len(data.vocab), "mean_draws": mean}
    context = RunContext(counts, config.dim, config.workers, draws, neighbours, **sizes)
    sampler = config.make("sampler", context)
    context = dataclasses.replace(context, sampler=sampler, words=data.vocab.words)
    inputs = config.make("inputs", context) if config.inputs.plug.composes else None
    weigher, loss = config.make("weigher", context), config.make("loss", context)
    check_plugs(config, loss, weigher, sampler)
    for kind, plug in (("loss", loss), ("weigher", weigher), ("sampler", sampler)):
        require_bodies(kind, type(plug))
    require_bodies("inputs", config.inputs.plug)
    if loss.needs_positive_log_q and not binds("log_prob", type(sampler)):
        what = f"loss {config.loss.name!r} needs the probability of the positive under the noise"
        remedy = "bind implement_log_prob to it, or choose --sampler popularity"
        raise ConfigError(f"{what}, which sampler {config.sampler.name!r} does not give; {remedy}")
    of_noise = loss.needs_log_q or weigher.needs_log_q, config.bounded_steps, loss.needs_positive_log_q
    rest = config.absolute_softmax, slots != config.negatives, config.weigher.name != "none"
    shape = LoopSpec(walk.largest_group, slots, int(sharing), *of_noise, *rest)
    estimate = ()
    if sampler.scores_all is not None:
        method, remedy = sampler.scores_all
        batch = min(sampler.batch_groups * config.workers, len(data.vocab), rows_at_once(len(counts)))
        share = sampler.products(np.asarray(walk.centre_weights, np.float64))
        estimate = _estimate(walk, len(counts), config, model, method, batch, 1, remedy, share)
    each = walk.mean_group
    if config.inputs.plug.around:
        rows = 2 * each + 1 + config.negatives
    else:
        rows = each + config.negatives if config.share_negatives == "centre" else each * (1 + config.negatives)
    cost = 40 + 0.15 * config.dim * rows + config.sampler.plug.cost(config.sampler, context)
    plugs = Plugs(walk.source, sampler, weigher, loss, make_exclusion(config.exclude, data, config), inputs)
    return plugs, shape, cost, loss.loss_at_init(config.negatives), estimate


def _paths(data, config, walk):
    """Prepare a loss along paths of a tree, without sampling, weighing or exclusion."""
    counts = data.vocab_out.counts
    context = RunContext(counts, config.dim, config.workers, words=data.vocab.words)
    inputs, loss = config.make("inputs", context), config.make("loss", context)
    both_ways = config.traversal.windows and not getattr(config.source, "ordered", False) and not inputs.composes
    sharing = Sharing.WINDOW if both_ways else Sharing.NO
    shape = LoopSpec(walk.largest_group, TILE - 1, int(sharing), False, config.bounded_steps, weighed=False)
    nodes = float(loss.touched(walk.target_weights(data)).sum())
    cost = 40 + 0.15 * config.dim * nodes * (1 if inputs.around else walk.mean_group)
    plugs = Plugs(walk.source, Nothing(), WEIGHERS["none"](), loss, make_exclusion("none", data, config), inputs)
    return plugs, shape, cost, loss.loss_at_init(nodes), ()


def _dense(data, config, model, walk):
    """Prepare a loss over the whole vocabulary, which has its own engine and neither sampler nor weigher."""
    counts = data.vocab_out.counts
    loss = config.make("loss", RunContext(counts, config.dim, config.workers))
    batch = min(config.loss.batch, len(data.vocab))
    remedy = "--loss sampled-softmax or --loss relaxed"
    estimate = _estimate(walk, len(counts), config, model, "the full softmax", batch, 3, remedy)
    kept = _centres(walk) / walk.n_positions
    fit = 2**24 // (walk.largest_group * config.workers)  # positives of a round, 64 MB
    block = block_size(walk.n_positions, config.workers, 40 + kept * 0.1 * config.dim * len(counts))
    block = max(1, min(fit, max(block, math.ceil(config.loss.batch / (kept * config.workers)))))
    return lambda: DenseEngine(model, walk, loss, block, config), loss.loss_at_init(0), estimate


def _centres(walk):
    """Return the mean number of groups in an epoch (float, above 0)."""
    return max(1.0, float(walk.centre_weights.sum()))


def _estimate(walk, n_vocab, config, model, method, batch, products, remedy, share=1.0):
    """Return the `CostEstimated` to report, if any; ConfigError if out of reach. share : of centres that are scored"""
    centres = max(0, config.epochs - model.position.epoch) * _centres(walk) * share
    cost = dense_cost(method, n_vocab, config.dim, batch, products, centres, config.workers, remedy)
    return () if cost is None else (cost,)


def plan_exchanges(config, n_positions, cost=None):
    """Choose how often ranks exchange; return ExchangesPlanned. n_positions : int, of all ranks' walks in an epoch

    cost : (float, float), optional, seconds of an exchange and of an epoch's training; without it, ``auto`` considers
        only the number of exchanges
    """
    ranks, epochs = config.ranks, config.epochs
    each = max(1, n_positions // ranks)  # positions of a rank in an epoch
    if config.exchange_every == "auto":
        wanted = ENOUGH
        if cost is not None:  # most of the time goes to training
            wanted = min(ENOUGH, max(FEWEST, int((1 / _WORTH - 1) * epochs * cost[1] / max(cost[0], 1e-9))))
        every = max(1, min(each // math.ceil(FEWEST / epochs), max(_SHORTEST, each // math.ceil(wanted / epochs))))
    else:
        every = min(each, int(config.exchange_every))
    an_epoch = -(-each // every)
    exchanges = an_epoch * epochs
    scale = rank_alpha(config.loss.plug, ranks, exchanges) if config.rank_alpha is None else config.rank_alpha
    efficiency = None if cost is None else cost[1] / (cost[1] + an_epoch * cost[0])
    return ExchangesPlanned(ranks, every, an_epoch, exchanges, FEWEST, scale, efficiency)


def rank_alpha(loss, ranks, exchanges):
    """Return the factor for alpha; loss : a `Loss` class.

    It is the loss's `rank_alpha` with at least `MANY_RANKS` ranks and at most `FEWEST` exchanges, and 1 with at most
    `FEW_RANKS` ranks or at least `ENOUGH` exchanges. In between it is interpolated by the logarithms of both numbers.
    """
    by_ranks = math.log(ranks / FEW_RANKS) / math.log(MANY_RANKS / FEW_RANKS)
    by_exchanges = math.log(ENOUGH / max(exchanges, 1)) / math.log(ENOUGH / FEWEST)
    return loss.rank_alpha ** (min(1.0, max(0.0, by_ranks)) * min(1.0, max(0.0, by_exchanges)))


def assemble(data, config, model, start=None):
    """Build the engine of a run; arguments, result and errors are those of `assemble_local`."""
    if config.engine == "local":
        return assemble_local(data, config, model, start)
    n_ranks = config.ranks
    shares = [Share(data.share(slot, borders(config))) for slot in range(n_ranks)]
    crew = VirtualCrew() if config.engine == "virtual" else Crew(n_ranks, config.workers, config.ray_address)
    with crew.beginning():
        crew.open(shares)
        n_positions = crew.ready(config)
        plan = plan_exchanges(config, n_positions)
        if config.engine == "ray" and n_ranks > 1 and config.exchange_every == "auto":
            crew.begin(plan, {})
            plan = plan_exchanges(config, n_positions, crew.measure(plan.an_epoch))
        parts = assemble_local(shares[0].data, config, model, start, plan=plan)
        crew.begin(plan, model.frozen)
        if alone := n_ranks == 1:  # no exchanges, and rounds are those of a local run
            n_rounds, scale = parts.engine.n_rounds, 1.0
        else:
            n_rounds, scale = plan.an_epoch, plan.alpha_scale
        engine = RanksEngine(crew, parts.engine, n_rounds, n_positions, scale)
    config = dataclasses.replace(config, exchange_every=str(plan.every))
    return parts._replace(engine=engine, start_events=parts.start_events + (plan,) * (not alone), config=config)


class Share:
    """A rank's data, EncodedCorpus or EncodedPairs, from which `ranks.Rank` gets its walk and engine."""

    def __init__(self, data):
        self.data = data

    def ready(self, config):
        self.config, self.walk = config, self.data.walk(config)
        return self.walk.n_positions

    def engine(self, plan, frozen):
        data, config = self.data, self.config
        model = Model.fresh(data.vocab, config, data.vocab_out)
        model.frozen = frozen
        return assemble_local(data, config, model, walk=self.walk, plan=plan).engine
