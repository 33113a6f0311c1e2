"""A window: the mean of the context predicts the word in the middle, as in CBOW.

    x = (1/m) Σ_k v_k,    v_k ← v_k − α dL/dx

Each of the m rows takes the whole step, as in word2vec.c, gensim and fastText, so their mean takes it, too.
"""

from ...kernels.contracts import implement_gather
from ..plugs import About, Inputs
from . import INPUTS


@INPUTS.register("window")
class Window(Inputs):
    about = About(
        summary="the mean of the context words predicts the word in the middle: CBOW",
        equation="x = (1/m) Σ_k v_k over the context",
        paper="Mikolov et al. 2013, §3.1",
        cost="one set of negatives per word, not per pair: several times as fast as row",
        use="large corpora and little time; frequent words",
    )
    around = True
    alpha_scale = 2.0  # as in word2vec.c; best on development data, too

    def room(self, most):
        return most, 0

    def touched(self, name, walk):
        return walk.mean_group * super().touched(name, walk)


@implement_gather(Window)
def gather(inputs, tokens, position, m, positives, words, grams):
    for k in range(m):
        words[k] = positives[k]
    positives[0] = tokens[position]
    return 1, m, 0
