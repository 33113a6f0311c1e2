"""Losses: what gradient n + 1 logits give. One family a file, its equation on top.

What a loss may say of itself is in `w2vneg.objectives.plugs.Loss`.
docs/extending.md shows how to write one. Every file of
this folder whose name does not begin with _ is imported: its losses register themselves.
"""

from ...ground.registry import Registry, import_all
from ..plugs import Loss

LOSSES = Registry("loss", Loss)

import_all(__path__, __name__)
