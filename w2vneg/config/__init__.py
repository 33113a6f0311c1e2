"""The options of a run and their defaults, defined only here. The command line's options are made from these fields.

A `TrainConfig` holds the requested options by flat name. `TrainConfig.resolved` fills in options left at None from the
preset that the loss names, so ``--loss relaxed`` alone follows the papers and every part can still be set separately.
The result is a `RunSpec`, in which each plug has its own options: ``spec.sampler.temp``.
"""

from .spec import RunSpec, TrainConfig

__all__ = ["RunSpec", "TrainConfig"]
