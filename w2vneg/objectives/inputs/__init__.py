"""Inputs: which rows make the vector that is compared with the targets. One composition a file.

Every file of this folder but those that begin with _ is imported, and registers its compositions (docs/extending.md).
"""

from ...ground.registry import Registry, import_all
from ..plugs import Inputs

INPUTS = Registry("inputs", Inputs)

import_all(__path__, __name__)
