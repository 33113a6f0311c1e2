"""Full softmax (Tanielian and Vasile 2019, eqs. 1–3, their "MLE"; Blanc and Rendle 2018, eq. 1): every word competes.

    L = −s₀ + log Z,    Z = Σ_j e^{s_j}  over the whole vocabulary
    ∂L/∂s_j = e^{s_j} / Z − [j is the positive]

Exact, by matrix products over batches of centres (`dense.softmax`), whose pairs all step from the same vectors.

With ``--absolute-softmax`` s is |x · y| (Blanc and Rendle, eq. 11): ∂L/∂(x · y) gets the sign of x · y. With
``--self-normalise λ``, each pair's loss gets λ (log Z)² on top (Devlin et al. 2014); with a fraction γ, that share of
the pairs gets λ/γ (Andreas and Klein 2015): ∂/∂s_j = 2 λ log Z · e^{s_j} / Z.
"""

from ...ground.option import option
from ...ground.registry import About
from . import LOSSES
from ._parts import OverVocabulary, PenaltyOptions


@LOSSES.register("softmax")
class Softmax(OverVocabulary):
    class Options(PenaltyOptions):
        batch: int = option(256, "Centres per matrix product.", at_least=1, at_most=65536)

    dense = True
    about = About(
        summary="the exact softmax over the whole vocabulary",
        equation="L = −s₀ + log Σ_j e^{s_j}, j over all words",
        paper="RS eqs. 1–3 (MLE); CIS §4 (FS); kernel eq. 1",
        cost="3 V dot products' worth of BLAS for each distinct centre of a batch, whatever the number of positives",
        use="as the reference for all sampled losses, and in its own right for V of about ten thousand",
    )
