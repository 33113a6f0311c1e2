"""Where raw scores settle: by how negatives are drawn, s = T / (1 + T) · (log P(j|i) − log D(j)), T = ∞ without them.

What corrects scores by this law is `evaluation.scores`; a model folder keeps its constants.
"""

import numpy as np

from ..ground.errors import ConfigError, UnknownNameError
from ..ground.registry import RunContext
from .losses import LOSSES
from .plugins import how_to_load
from .samplers import SAMPLERS
from .samplers.boltzmann import log_degeneracy

_SAME = 1e-6


def settled(model):
    """Return (1 + T) / T and log D of a model; see `law_of`."""
    return law_of(model.config, np.asarray(model.vocab_out.counts))


def law_of(config, counts):
    """Return where scores settle with the loss and sampler of a RunSpec, or ConfigError if that is not known.

    Returns (float, (1 + T) / T; float64, (n_targets,), log D, or None where raw scores are log P).
    """
    sampler = config.sampler
    for kind, one in (("loss", config.loss), ("sampler", sampler)):
        if one is not None and one.name not in (LOSSES if kind == "loss" else SAMPLERS):
            raise UnknownNameError(f"unknown {kind} {one.name!r}, of a plug-in; {how_to_load(config.plugin)}")
    loss = LOSSES[config.loss.name]
    if config.absolute_softmax:
        raise ConfigError("scores of an absolute softmax have no sign to correct; take the raw ones")
    if loss.needs_log_q or loss.paths or sampler is None:
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
        return len({(config.loss.plug, config.sampler and config.sampler.plug) for config in configs}) < 2
    laws = [law_of(config, counts) for config in configs]
    (factor, log_noise), *others = [(c, np.zeros(len(counts)) if log_d is None else log_d) for c, log_d in laws]
    return all(c == factor and np.ptp(log_d - log_noise) < _SAME for c, log_d in others)
