"""Hierarchical softmax (Morin and Bengio 2005; Mikolov et al. 2013; CSS §5.1, kernel paper §5.2): a binary decision
at each inner node of a tree with the targets as leaves.

    P(j | x) = Π_v σ(±x · y_v)  over the inner nodes v on the path to j: + to the left, − to the right

    L = −log P(j | x) = Σ_v log(1 + e^{s_v}) − [left at v] s_v,    ∂L/∂s_v = σ(s_v) − [left at v]

The tree is a Huffman tree of the targets' counts, as in word2vec.c. The probabilities of all targets sum to one: it
is a model of its own, not an estimate of the softmax. Rows of the output matrix are inner nodes.
"""

import math

import numpy as np

from ...kernels.paths import huffman_paths
from ..plugs import About, Loss
from . import LOSSES


@LOSSES.register("hierarchical")
class Hierarchical(Loss):
    """starts, turns : as `kernels.paths.huffman_paths` gives them"""

    starts: np.ndarray
    turns: np.ndarray

    paths = True
    takes_absolute_logits = False
    about = About(
        summary="a binary decision at each inner node of a Huffman tree: word2vec's hs",
        equation="L = −Σ_v log σ(±s_v), v on the path to the positive",
        paper="Morin and Bengio 2005; Mikolov et al. 2013; CSS §5.1; kernel §5.2",
        cost="one dot product for each inner node on the path, about log₂ V of them and fewer for frequent words",
        use="to reproduce hs of word2vec, gensim and fastText; rare words of small texts",
    )

    @classmethod
    def from_options(cls, options, context):
        return cls(*huffman_paths(context.counts))

    def loss_at_init(self, n_negatives):
        return math.log(2.0) * n_negatives

    def touched(self, weights):
        shares = super().touched(weights)
        return np.bincount(self.turns >> 1, np.repeat(shares, np.diff(self.starts)), len(shares))
