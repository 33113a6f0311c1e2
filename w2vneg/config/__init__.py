"""What a run can be told: the only home of defaults. The command line's options are made from these fields.

A field left at None is filled in by `TrainConfig.resolved` from the preset that the loss names, so that
``--loss relaxed`` alone means what the papers mean by it and every part can still be chosen by itself.
"""

from ..objectives.samplers.boltzmann import DEGENERACIES
from .objective import EXCLUSIONS
from .train import TrainConfig

__all__ = ["DEGENERACIES", "EXCLUSIONS", "TrainConfig"]
