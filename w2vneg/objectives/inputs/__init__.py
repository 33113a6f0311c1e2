"""Inputs: which rows make the vector that is compared with the targets. One composition a file.

What one may say of itself is in `w2vneg.objectives.plugs.Inputs`.
docs/extending.md shows how to write one. Every file of this
folder whose name does not begin with _ is imported: its compositions register themselves.
"""

from ...ground.registry import Registry, import_all
from ..plugs import Inputs

INPUTS = Registry("inputs", Inputs)

import_all(__path__, __name__)
