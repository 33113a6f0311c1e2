"""The options of a run: the only home of defaults. The command line's options are made from these fields.

A `TrainConfig` is what was requested, by flat names. An option left at None is filled in by `TrainConfig.resolved` from
the preset that the loss names, so that ``--loss relaxed`` alone means what the papers mean by it and every part can
still be chosen by itself. That makes a `RunSpec`, in which each plug has its own options: ``spec.sampler.temp``.
"""

from .spec import RunSpec, TrainConfig

__all__ = ["RunSpec", "TrainConfig"]
