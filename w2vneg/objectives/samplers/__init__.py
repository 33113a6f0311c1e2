"""Samplers: how negatives are drawn. One sampler per file.

Every file of this folder whose name does not begin with _ is imported, and registers its samplers (docs/extending.md).
"""

from ...ground.registry import Registry, import_all
from ..plugs import Sampler

SAMPLERS = Registry("sampler", Sampler)


class Nothing(Sampler):
    """Placeholder for the sampler of a loss without negatives; never called."""


import_all(__path__, __name__)
