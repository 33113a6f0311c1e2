"""Weighers: how much each negative counts. One weigher a file.

What a weigher may say of itself is in `w2vneg.plugs.Weigher`; docs/extending.md shows how to write one. Every file of
this folder whose name does not begin with _ is imported: its weighers register themselves.
"""

from ..plugs import Weigher
from ..registry import Registry, import_all

WEIGHERS = Registry("weigher", Weigher)

import_all(__path__, __name__)
