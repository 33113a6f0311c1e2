"""Weighers: how much each negative counts. One weigher a file.

What a weigher may say of itself is in `w2vneg.objectives.plugs.Weigher`.
docs/extending.md shows how to write one. Every file of
this folder whose name does not begin with _ is imported: its weighers register themselves.
"""

from ...ground.registry import Registry, import_all
from ..plugs import Weigher

WEIGHERS = Registry("weigher", Weigher)

import_all(__path__, __name__)
