"""Matrix products over batches of centres: what needs every score of the vocabulary.

BLAS does the products, tile by tile of the vocabulary, so that a tile's scores are still in the cache when compiled
loops turn them into weights. Memory is bounded by the batch whatever the corpus.
"""

from .blas import one_blas_thread
from .boltzmann import boltzmann_draws, scratch_size
from .cost import dense_cost
from .groups import batch_of, collect_groups
from .kernel import kernel_draws
from .softmax import Manner, Workspace, softmax_step

__all__ = [
    "Manner",
    "Workspace",
    "batch_of",
    "boltzmann_draws",
    "collect_groups",
    "dense_cost",
    "kernel_draws",
    "one_blas_thread",
    "scratch_size",
    "softmax_step",
]
