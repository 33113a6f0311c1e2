"""Weighers: how much each negative counts. One weigher per file.

Every file of this folder whose name does not begin with _ is imported, and registers its weighers (docs/extending.md).
"""

from ...ground.registry import Registry, import_all
from ..plugs import Weigher

WEIGHERS = Registry("weigher", Weigher)

import_all(__path__, __name__)
