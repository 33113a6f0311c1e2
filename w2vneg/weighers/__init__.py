"""Weighers: how much each negative counts. One weigher a file.

A weigher is a NamedTuple class, registered in `WEIGHERS` under its name, whose `weigh` is bound with `implement_weigh`.
The class offers ``from_options(options, context) -> instance`` (classmethod), ``needs_log_q : bool``, ``about``
(`registry.About`), and ``parameters`` (tuple of str) if it trains rows of its own.
"""

from ..kernels.contracts import regards_groups
from ..registry import Registry

__all__ = ["WEIGHERS", "regards_groups"]

WEIGHERS = Registry("weigher")

from . import discriminator, importance, none, self_adversarial  # noqa: E402, F401  (they enter themselves)
