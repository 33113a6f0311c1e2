"""Samplers: which negatives. One sampler a file.

Every file of this folder whose name does not begin with _ is imported, and registers its samplers (docs/extending.md).
"""

from ...ground.registry import Registry, import_all
from ..plugs import Sampler

SAMPLERS = Registry("sampler", Sampler)


class Nothing(Sampler):
    """What stands in a sampler's place beside a loss that has no negatives: never asked."""


import_all(__path__, __name__)
