"""From a configuration and a corpus to an engine that runs rounds: the plugs, how they meet, how large a round is."""

import dataclasses
import math

import numpy as np

from .dense import dense_cost
from .engines.dense import DenseEngine
from .engines.local import LocalEngine, private_rows
from .errors import ConfigError, InputError
from .events import CostEstimated
from .exclusions import make_exclusion
from .kernels.contracts import answers_log_noise
from .kernels.shard import Plugs, Shape
from .kernels.walk import TextWindows
from .losses import LOSSES
from .plugins import names_with_log_q
from .rules import NO_PRIVATE_ROWS, WITHOUT_NEGATIVES, check_plugs
from .samplers import SAMPLERS
from .schedule import block_size, keep_thresholds
from .setting import Setting
from .temperature import make_schedule
from .weighers import WEIGHERS


@dataclasses.dataclass(frozen=True)
class Assembly:
    """What a run is made of.

    engine : LocalEngine or DenseEngine; block : int, tokens of a worker's round
    untrained : float, the loss with all logits 0
    temperatures : what sets T between rounds (`temperature.make_schedule`), or None
    estimate : CostEstimated or None, to be told before a long dense run
    """

    engine: object
    block: int
    untrained: float
    temperatures: object = None
    estimate: CostEstimated | None = None


def assemble(corpus, config, model):
    """Make the engine of a run.

    Parameters
    ----------
    corpus : EncodedCorpus
    config : TrainConfig, resolved
    model : Model
        Its matrices become the engine's; gains what the plugs train for themselves, if it has none yet.

    Returns
    -------
    Assembly

    Raises
    ------
    ConfigError
        If the plugs do not go together, or a dense method is out of reach.
    UnknownNameError
        If a plug is not registered.
    InputError
        If the corpus has no pair to train on.
    """
    dense = config.loss in WITHOUT_NEGATIVES
    return (_assemble_dense if dense else _assemble_sampled)(corpus, config, model)


def _assemble_sampled(corpus, config, model):
    counts = corpus.vocab.counts
    max_positives = 2 * config.window
    slots = getattr(SAMPLERS[config.sampler], "slots", lambda options: options.negatives)(config)
    draws = slots * (1 if config.share_negatives else max_positives)
    setting = Setting(counts, config.dim, config.workers, draws, corpus.ids, corpus.offsets)
    sampler = SAMPLERS[config.sampler].from_options(config, setting)
    temperatures = make_schedule(config, sampler, counts)
    told = dataclasses.replace(setting, sampler=sampler)
    weigher = WEIGHERS[config.weigher].from_options(config, told)
    loss = LOSSES[config.loss].from_options(config, told)
    _check_together(config, loss, weigher, sampler)
    shape = Shape(
        max_positives,
        slots,
        config.share_negatives,
        loss.needs_log_q or weigher.needs_log_q,
        config.bounded_steps,
        getattr(loss, "needs_positive_log_q", False),
        config.absolute_softmax,
        slots != config.negatives,
    )
    exclusion = make_exclusion(config.exclude, corpus, config.window)
    _check_pairs(corpus)
    estimate = None
    if hasattr(sampler, "scores_all"):
        method, remedy = sampler.scores_all
        batch = sampler.batch_groups * config.workers
        estimate = _estimate(corpus, config, model, method, batch, 1, remedy)
    cost = _loop_cost(config) + getattr(SAMPLERS[config.sampler], "cost", lambda options, setting: 0.0)(config, setting)
    block = block_size(len(corpus), config.workers, cost)
    plugs = sampler, weigher, loss
    for plug in plugs:  # what they train is part of the model
        for name in getattr(plug, "parameters", ()):
            model.extra.setdefault(name, getattr(plug, name))
    plugs = Plugs(_windows(corpus, config), *plugs, exclusion)
    engine = LocalEngine(model, plugs, shape, block, config.workers, _private_rows(config, sampler, len(counts)))
    return Assembly(engine, block, loss.untrained(config.negatives), temperatures, estimate)


def _assemble_dense(corpus, config, model):
    """Prepare a loss that looks at the whole vocabulary: no sampler, no weigher, an engine of its own."""
    counts, max_positives = corpus.vocab.counts, 2 * config.window
    loss = LOSSES[config.loss].from_options(config, Setting(counts, config.dim, config.workers))
    _check_pairs(corpus)
    batch = min(config.batch, len(counts))
    remedy = "--loss sampled-softmax or --loss relaxed"
    estimate = _estimate(corpus, config, model, "the full softmax", batch, 3, remedy)
    kept = _kept_tokens(corpus, config) / len(corpus)
    fit = 2**24 // (max_positives * config.workers)  # positives of a round, 64 MB
    block = block_size(len(corpus), config.workers, 40 + kept * 0.1 * config.dim * len(counts))
    block = max(1, min(fit, max(block, math.ceil(config.batch / (kept * config.workers)))))
    engine = DenseEngine(model, _windows(corpus, config), loss, max_positives, block, config.workers, config)
    return Assembly(engine, block, loss.untrained(0), estimate=estimate)


def _check_together(config, loss, weigher, sampler):
    check_plugs(config, loss, weigher, sampler, names_with_log_q())
    if getattr(loss, "needs_positive_log_q", False) and not answers_log_noise(type(sampler)):
        raise ConfigError(
            f"loss {config.loss!r} needs the probability of the positive under the noise, which sampler "
            f"{config.sampler!r} does not tell; bind implement_log_noise to it, or choose --sampler popularity"
        )


def _check_pairs(corpus):
    if np.diff(corpus.offsets).max() < 2:
        raise InputError(
            "no pair to train on: every sentence of the corpus has one known word; give sentences of several "
            "words, or lower --min-count"
        )


def _windows(corpus, config):
    keep = keep_thresholds(corpus.vocab.counts, config.subsample)
    return TextWindows(corpus.ids, corpus.offsets, keep, config.window, config.dynamic_window)


def _private_rows(config, sampler, n_vocab):
    if hasattr(sampler, "batch_groups"):
        if config.private_rows:
            raise ConfigError(NO_PRIVATE_ROWS)
        return 0
    if config.private_rows is None:
        return private_rows(n_vocab, config.dim, config.workers)
    return config.private_rows


def _kept_tokens(corpus, config):
    """Return how many tokens of an epoch survive subsampling, on average (float, above 0)."""
    counts = corpus.vocab.counts
    return max(1.0, float(counts @ (keep_thresholds(counts, config.subsample) / 2.0**32)))


def _estimate(corpus, config, model, method, batch, products, remedy):
    """Let `dense_cost` refuse what is out of reach; return what is to be told when training starts, if anything."""
    epochs = max(0, config.epochs - model.position.epoch)
    centres, n_vocab = epochs * _kept_tokens(corpus, config), len(corpus.vocab)
    cost = dense_cost(method, n_vocab, config.dim, batch, products, centres, config.workers, remedy)
    return None if cost is None else CostEstimated(method, n_vocab, cost.bytes, cost.seconds, cost.rate)


def _loop_cost(config):
    """Rough nanoseconds that the loop itself takes for a token, to size rounds well under a second."""
    rows = config.window * (1 + config.negatives) if not config.share_negatives else config.window + config.negatives
    return 40 + 0.15 * config.dim * rows
