"""From a configuration and a corpus to an engine that runs rounds: the plugs, how they meet, how large a round is."""

import dataclasses
import functools
import math
from typing import Any, NamedTuple

from ..config.compatibility import NO_PRIVATE_ROWS, check_plugs
from ..config.options import l2_strengths
from ..engines.dense import DenseEngine
from ..engines.local import LocalEngine, private_rows
from ..ground.errors import ConfigError
from ..ground.events import CostEstimated
from ..ground.registry import RunContext, Sharing
from ..kernels.contracts import answers_log_prob, require_bodies
from ..kernels.dense.blas import dense_cost
from ..kernels.groups import LoopSpec, Plugs
from ..kernels.paths import TILE
from ..kernels.schedule import block_size, even_block
from ..kernels.updates import L2
from ..objectives.samplers import Nothing
from ..objectives.samplers.exclusions import make_exclusion
from ..objectives.weighers import WEIGHERS


class Assembly(NamedTuple):
    """What a run is made of."""

    engine: Any
    loss_at_init: float  # with all logits 0
    started: int  # how many centres begin with rows of another model
    start_events: tuple  # to be told before training: CostEstimated, ExchangesPlanned
    config: Any  # RunSpec, with what the data chose


def assemble_local(data, config, model, start=None, walk=None, plan=None):
    """Make the engine of a run on this machine, or of one rank; return an `Assembly`.

    data : EncodedCorpus or EncodedPairs; config : RunSpec
    model : Model, its matrices become the engine's; gains what the plugs train for themselves, if it has none yet
    start : WarmStart, optional, rows that a fresh model begins with; walk : Traversal, optional, of these data
    plan : ExchangesPlanned, optional, the data are one rank's share: rounds are cut so that an epoch is so many periods
        of equal length
    ConfigError if the plugs do not go together, or a dense method is out of reach; UnknownNameError if a plug is not
        registered; InputError if the corpus has no pair to train on
    """
    walk, loss = walk or data.walk(config), config.loss.plug
    if loss.dense:
        make, at_init, estimate = _dense(data, config, model, walk)
        plugs = ()
    else:
        alone = plan is None or plan.ranks == 1
        plugs, shape, cost, at_init, estimate = (
            _paths(data, config, walk) if loss.paths else _sampled(data, config, model, walk, alone)
        )
        n_rows = max(len(data.vocab), len(data.vocab_out))
        make = functools.partial(_local, plugs, shape, cost, n_rows, None if alone else plan.an_epoch)
    for plug in plugs:
        for name in getattr(plug, "parameters", ()):  # what plugs train is a part of the model
            model.extra.setdefault(name, getattr(plug, name))
    started = 0 if start is None else start.begin(model)
    return Assembly(make(config, model, walk), at_init, started, estimate, config)


def _local(plugs, shape, cost, n_rows, periods, config, model, walk):
    """Return a `LocalEngine` of rounds well under a second; cost : float, rough nanoseconds of a position."""
    n_private = private_rows(n_rows, config.workers) if config.private_rows is None else config.private_rows
    if plugs.sampler.batch_groups:
        if config.private_rows:
            raise ConfigError(NO_PRIVATE_ROWS)
        n_private = 0
    block = block_size(walk.n_positions, config.workers, cost, n_private, n_rows)
    if periods is None:
        block = max(block, plugs.sampler.batch_groups)
    else:
        block = even_block(walk.n_positions, periods * config.workers, block)
    return LocalEngine(model, walk, plugs, shape, block, config.workers, n_private, config.seed, _l2(config))


def _whole_data():
    raise ConfigError(
        "this sampler or weigher counts in the whole data, of which each rank has a share; take another, or leave "
        "--engine out"
    )


def _sampled(data, config, model, walk, alone):
    counts = data.vocab_out.counts
    slots = config.sampler.plug.max_negatives(config.negatives)
    sharing = Sharing[config.share_negatives.upper()]
    draws, mean = (slots * (size if sharing == Sharing.NO else 1) for size in (walk.largest_group, walk.mean_group))
    neighbours = functools.partial(data.traversal.counts, data, config, 1) if alone else _whole_data
    sizes = {"n_centres": len(data.vocab), "mean_draws": mean}
    context = RunContext(counts, config.dim, config.workers, draws, neighbours, **sizes)
    sampler = config.make("sampler", context)
    told = dataclasses.replace(context, sampler=sampler, words=data.vocab.words)
    inputs = config.make("inputs", told) if config.inputs.plug.composes else None
    weigher, loss = config.make("weigher", told), config.make("loss", told)
    check_plugs(config, loss, weigher, sampler)
    for kind, plug in (("loss", loss), ("weigher", weigher), ("sampler", sampler)):
        require_bodies(kind, type(plug))
    require_bodies("inputs", config.inputs.plug)
    if loss.needs_positive_log_q and not answers_log_prob(type(sampler)):
        raise ConfigError(
            f"loss {config.loss.name!r} needs the probability of the positive under the noise, which sampler "
            f"{config.sampler.name!r} does not tell; bind implement_log_prob to it, or choose --sampler popularity"
        )
    told_of_noise = loss.needs_log_q or weigher.needs_log_q, config.bounded_steps, loss.needs_positive_log_q
    rest = config.absolute_softmax, slots != config.negatives, config.weigher.name != "none"
    shape = LoopSpec(walk.largest_group, slots, int(sharing), *told_of_noise, *rest)
    estimate = ()
    if sampler.scores_all is not None:
        method, remedy = sampler.scores_all
        groups = sampler.batch_groups * config.workers
        batch = min(groups, len(data.vocab))  # distinct centres
        estimate = _estimate(walk, len(counts), config, model, method, batch, 1, remedy, batch / groups)
    each = walk.mean_group
    if config.inputs.plug.around:
        rows = 2 * each + 1 + config.negatives
    else:
        rows = each + config.negatives if config.share_negatives == "centre" else each * (1 + config.negatives)
    cost = 40 + 0.15 * config.dim * rows + config.sampler.plug.cost(config.sampler, context)
    plugs = Plugs(walk.source, sampler, weigher, loss, make_exclusion(config.exclude, data, config), inputs)
    return plugs, shape, cost, loss.loss_at_init(config.negatives), estimate


def _paths(data, config, walk):
    """Prepare a loss along paths of a tree: nothing is drawn, weighed or excluded."""
    counts = data.vocab_out.counts
    context = RunContext(counts, config.dim, config.workers, words=data.vocab.words)
    inputs, loss = config.make("inputs", context), config.make("loss", context)
    both_ways = config.traversal.windows and not getattr(config.source, "ordered", False) and not inputs.composes
    sharing = Sharing.WINDOW if both_ways else Sharing.NO
    shape = LoopSpec(walk.largest_group, TILE - 1, int(sharing), False, config.bounded_steps, weighed=False)
    nodes = float(loss.touched(walk.centre_weights if data.vocab_out is data.vocab else counts).sum())
    cost = 40 + 0.15 * config.dim * nodes * (1 if inputs.around else walk.mean_group)
    plugs = Plugs(walk.source, Nothing(), WEIGHERS["none"](), loss, make_exclusion("none", data, config), inputs)
    return plugs, shape, cost, loss.loss_at_init(nodes), ()


def _dense(data, config, model, walk):
    """Prepare a loss that looks at the whole vocabulary: no sampler, no weigher, an engine of its own."""
    counts = data.vocab_out.counts
    loss = config.make("loss", RunContext(counts, config.dim, config.workers))
    batch = min(config.loss.batch, len(data.vocab))
    remedy = "--loss sampled-softmax or --loss relaxed"
    estimate = _estimate(walk, len(counts), config, model, "the full softmax", batch, 3, remedy)
    kept = _centres(walk) / walk.n_positions
    fit = 2**24 // (walk.largest_group * config.workers)  # positives of a round, 64 MB
    block = block_size(walk.n_positions, config.workers, 40 + kept * 0.1 * config.dim * len(counts))
    block = max(1, min(fit, max(block, math.ceil(config.loss.batch / (kept * config.workers)))))
    make = lambda config, model, walk: DenseEngine(model, walk, loss, block, config, _l2(config))  # noqa: E731
    return make, loss.loss_at_init(0), estimate


def _l2(config):
    strengths = l2_strengths(config.l2)
    return L2(*strengths, config.l2_power) if any(strengths) else None


def _centres(walk):
    """Return how many groups an epoch has, on average (float, above 0)."""
    return max(1.0, float(walk.centre_weights.sum()))


def _estimate(walk, n_vocab, config, model, method, batch, products, remedy, share=1.0):
    """Let `dense_cost` refuse what is out of reach; return what to tell; share : of centres with their own product."""
    centres = max(0, config.epochs - model.position.epoch) * _centres(walk) * share
    cost = dense_cost(method, n_vocab, config.dim, batch, products, centres, config.workers, remedy)
    return () if cost is None else (CostEstimated(method, n_vocab, cost.bytes, cost.seconds, cost.rate),)
