"""Samplers: which negatives. One sampler a file.

What a sampler may say of itself is in `w2vneg.objectives.plugs.Sampler`.
docs/extending.md shows how to write one. Every file of
this folder whose name does not begin with _ is imported: its samplers register themselves.
"""

from ...ground.registry import Registry, import_all
from ..plugs import Sampler

SAMPLERS = Registry("sampler", Sampler)

import_all(__path__, __name__)
