"""Matrix products over batches of centres: what needs every score of the vocabulary.

BLAS does the products, tile by tile of the vocabulary, so that a tile's scores are still in the cache when compiled
loops turn them into weights. Memory is bounded by the batch whatever the corpus.
"""

from .blas import one_blas_thread
from .boltzmann import BoltzmannLaw
from .cost import dense_cost
from .draws import Drawn, exact_draws, scratch_size
from .groups import Groups, batch_of, collect_groups
from .kernel import KernelLaw
from .softmax import Manner, Workspace, softmax_step

__all__ = [
    "BoltzmannLaw",
    "Drawn",
    "Groups",
    "KernelLaw",
    "Manner",
    "Workspace",
    "batch_of",
    "collect_groups",
    "dense_cost",
    "exact_draws",
    "one_blas_thread",
    "scratch_size",
    "softmax_step",
]
