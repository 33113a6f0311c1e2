"""Where raw scores settle: by how negatives are drawn, s = T / (1 + T) · (log P(j|i) − log D(j)), T = ∞ without them.

Weights ω of the negatives that follow from q or s alone move that point. Importance weights undo Q as n grows, for a
loss that does not: raw scores are log P then. Where the loss divides by q, too, Q is undone twice; self-adversarial
weights sharpen D by e^{s/T}, by how much depends on n. One negative alone always weighs 1. The discriminator's weights
leave the law nearly as it is (docs/reproductions/one-law.md).

What corrects scores by this law is `evaluation.scores`; a model folder keeps its constants.
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
_SUM_TO_N = ("importance", "self-adversarial")  # weighers of which a single negative weighs 1


def settled(model):
    """Return (1 + T) / T and log D of a model; see `law_of`."""
    return law_of(model.config, np.asarray(model.vocab_out.counts))


def law_of(config, counts):
    """Return where scores settle with the loss, sampler and weigher of a RunSpec, or ConfigError if that is not known.

    Returns (float, (1 + T) / T; float64, (n_targets,), log D, or None where raw scores are log P).
    """
    sampler = config.sampler
    for kind, registry in (("loss", LOSSES), ("sampler", SAMPLERS), ("weigher", WEIGHERS)):
        one = getattr(config, kind)
        if one is not None and one.name not in registry:
            raise UnknownNameError(f"unknown {kind} {one.name!r}, of a plug-in; {how_to_load(config.plugin)}")
    loss = LOSSES[config.loss.name]
    if config.absolute_softmax:
        raise ConfigError("scores of an absolute softmax have no sign to correct; take the raw ones")
    if loss.paths or sampler is None:
        return 1.0, None
    weigher = "none" if config.weigher.name in _SUM_TO_N and config.negatives == 1 else config.weigher.name
    if weigher == "importance" and not loss.needs_log_q:
        return 1.0, None
    if weigher not in ("none", "discriminator"):
        raise ConfigError(f"where scores settle with the weigher {weigher} is not known; take the raw ones")
    if loss.needs_log_q:
        return 1.0, None
    if sampler.name == "selfplay":
        return 2.0, np.zeros(len(counts))
    if sampler.name == "boltzmann":
        return (1 + sampler.temp) / sampler.temp, log_degeneracy(sampler, counts)
    plug = SAMPLERS[sampler.name]
    if not (plug.context_free and plug.gives_log_q and hasattr(plug, "log_p")):
        raise ConfigError(f"where scores settle with the sampler {sampler.name} is not known; take the raw ones")
    made = config.make("sampler", RunContext(counts, config.dim, config.workers))
    return 1.0, np.broadcast_to(np.asarray(made.log_p, np.float64), counts.shape)


def are_known(configs, counts):
    """Tell whether it is known where scores settle with each of these options (list of RunSpec)."""
    try:
        return all(law_of(config, counts) for config in configs)
    except ConfigError:
        return False


def settle_alike(configs, counts):
    """Tell whether raw scores settle by the same law with all of these options (list of RunSpec)."""
    if not are_known(configs, counts):
        plugs = [(config.loss, config.sampler, config.weigher) for config in configs]
        return len({tuple(one and one.plug for one in chosen) for chosen in plugs}) < 2
    laws = [law_of(config, counts) for config in configs]
    (factor, log_noise), *others = [(c, np.zeros(len(counts)) if log_d is None else log_d) for c, log_d in laws]
    return all(c == factor and np.ptp(log_d - log_noise) < _SAME for c, log_d in others)
