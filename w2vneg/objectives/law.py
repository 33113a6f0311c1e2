"""Where raw scores settle, given the draws: s = T / (1 + T) · (log P(j|i) − log D(j)), with T = ∞ for fixed noise.

Weights ω of the negatives that depend on q or s alone move that point. Importance weights cancel Q as n grows if the
loss does not divide by q: raw scores are then log P. If it does, Q is cancelled twice. Self-adversarial weights sharpen
D by e^{s/T}, by an amount that depends on n. A single negative always weighs 1. The discriminator's weights leave the
law nearly unchanged (docs/reproductions/one-law.md). A margin stretches scores: with the logistic loss and log(V − 1),
2.5 times for a P of 30 targets; with the hinge loss they are flattened, and only their order is left.

`evaluation.scores` corrects scores by this law; a model folder keeps its constants.
"""

import numpy as np

from ..ground.errors import ConfigError, UnknownNameError
from ..ground.registry import RunContext
from .losses import LOSSES
from .plugins import how_to_load
from .samplers import SAMPLERS
from .samplers.boltzmann import log_degeneracy
from .weighers import WEIGHERS

_SAME = 1e-6
_SUM_TO_N = ("importance", "self-adversarial")  # weighers that give a single negative the weight 1


def settled(model, roughly=False):
    """Return (1 + T) / T and log D of a model; see `law_of`."""
    return law_of(model.config, np.asarray(model.vocab_out.counts), roughly)


def law_of(config, counts, roughly=False):
    """Return where scores settle with the loss, sampler and weigher of a RunSpec; ConfigError if that is not known.

    roughly : bool, also for losses with a margin, whose scores only rise and fall with those of the law

    Returns (float, (1 + T) / T; float64, (n_targets,), log D, or None if raw scores are log P).
    """
    sampler = config.sampler
    for kind, registry in (("loss", LOSSES), ("sampler", SAMPLERS), ("weigher", WEIGHERS)):
        one = getattr(config, kind)
        if one is not None and one.name not in registry:
            raise UnknownNameError(f"unknown {kind} {one.name!r}: plug-in not loaded; {how_to_load(config.plugin)}")
    loss = LOSSES[config.loss.name]
    if config.absolute_softmax:
        raise ConfigError("scores of an absolute softmax have no sign to correct; use raw scores")
    if loss.paths or sampler is None:
        return 1.0, None
    weigher = "none" if config.weigher.name in _SUM_TO_N and config.negatives == 1 else config.weigher.name
    if weigher == "importance" and not loss.needs_log_q:
        return 1.0, None
    if weigher not in ("none", "discriminator"):
        raise ConfigError(f"it is not known where scores settle with the weigher {weigher}; use raw scores")
    if loss.needs_log_q:
        return 1.0, None
    if "margin" in loss._fields and not roughly and (loss is not LOSSES["ranking"] or config.loss.margin != 0):
        what = f"it is not known where scores settle with the margin of loss {config.loss.name}"
        raise ConfigError(f"{what}; use raw scores")
    if sampler.name == "selfplay":
        return 2.0, np.zeros(len(counts))
    if sampler.name == "boltzmann":
        return (1 + sampler.temp) / sampler.temp, log_degeneracy(sampler, counts)
    plug = SAMPLERS[sampler.name]
    if not (plug.context_free and plug.gives_log_q and hasattr(plug, "log_p")):
        raise ConfigError(f"it is not known where scores settle with the sampler {sampler.name}; use raw scores")
    made = config.make("sampler", RunContext(counts, config.dim, config.workers))
    return 1.0, np.broadcast_to(np.asarray(made.log_p, np.float64), counts.shape)


def are_known(configs, counts, roughly=False):
    """Return whether it is known where scores settle with each of these options (list of RunSpec), as for `law_of`."""
    try:
        return all(law_of(config, counts, roughly) for config in configs)
    except ConfigError:
        return False


def settle_alike(configs, counts):
    """Return whether raw scores settle by the same law with all of these options (list of RunSpec)."""
    if not are_known(configs, counts):
        plugs = [(config.loss, config.sampler, config.weigher) for config in configs]
        return len({tuple(one and one.plug for one in chosen) for chosen in plugs}) < 2
    laws = [law_of(config, counts) for config in configs]
    (factor, log_noise), *others = [(c, np.zeros(len(counts)) if log_d is None else log_d) for c, log_d in laws]
    return all(c == factor and np.ptp(log_d - log_noise) < _SAME for c, log_d in others)
