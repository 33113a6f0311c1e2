"""Weighers: how much each negative counts. One weigher a file.

A weigher is a NamedTuple class, registered in `WEIGHERS` under its name, whose `weigh` is bound with `implement_weigh`.
The class offers ``from_options(options) -> instance`` (classmethod) and ``needs_log_q : bool``.
"""

from ..registry import Registry

WEIGHERS = Registry("weigher")

from . import importance, none  # noqa: E402, F401  (they enter themselves)
