"""Inputs: the rows that make the vector compared with the targets. One composition per file.

Every file of this folder whose name does not begin with _ is imported; it registers its inputs (docs/extending.md).
"""

from ...ground.registry import Registry, import_all
from ..plugs import Inputs

INPUTS = Registry("inputs", Inputs)

import_all(__path__, __name__)
