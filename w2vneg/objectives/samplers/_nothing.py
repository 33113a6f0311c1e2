"""No draws: what stands in a sampler's place beside a loss that has no negatives."""

from ..plugs import Sampler


class Nothing(Sampler):
    """Never asked."""
