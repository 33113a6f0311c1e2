"""Losses: from n + 1 logits to n + 1 gradients. One family per file, its equation on top.

Every file of this folder whose name does not begin with _ is imported, and registers its losses (docs/extending.md).
"""

from ...ground.registry import Registry, import_all
from ..plugs import Loss

LOSSES = Registry("loss", Loss)

import_all(__path__, __name__)
