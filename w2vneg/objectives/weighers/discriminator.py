"""The discriminator of cooperative importance sampling (CIS paper, eqs. 8–10 and algorithm 1).

A second model D(i, j) = d_i · e_j, with matrices of its own, is trained alongside the first to separate true pairs from
drawn ones, by binary cross-entropy on the same negatives (eq. 9, as a loss):

    L_D = −log σ(D(i, j₀)) − Σ_k log σ(−D(i, j_k))
    ∂L_D/∂D(i, j₀) = −σ(−D(i, j₀))        ∂L_D/∂D(i, j_k) = σ(D(i, j_k))

and each target is weighed by D's probability that it is a negative, with no gradient through the weight:

    ω_k = σ(−D(i, j_k)),    ω₀ = 1 (eq. 8) or σ(−D(i, j₀)) (eq. 10, `weigh_positive`)

So a drawn target that looks like true data counts little in a normaliser. The paper is not consistent: eq. 11 has D for
the weight in the gradient, eqs. 8 and 10 have σ(−D), which follows from the loss and is used here. A group's weights
come from D as it was before its own step on that group. Negatives shared by m positives count m times in L_D. D learns
from every draw, including excluded ones. `both` trains D and the vectors on each group. `G:D` is algorithm 1 with G
g-steps, then D d-steps, each on a group of its own; a d-step's pairs train D alone and are not counted. Each worker
takes its own turns, which restart with its share of a round. e starts at 0 and d at word2vec's small random numbers.
D's learning rate decays and its steps are bounded like the model's.
"""

from collections import namedtuple

import numpy as np

from ...ground.errors import ConfigError
from ...ground.jit import ONE, ZERO
from ...kernels.contracts import implement_open_weigher, implement_prepare_group, implement_weigh, implement_weigh_group
from ...kernels.functions import exp_into, padded
from ...kernels.linalg import bound_steps, dot, dots, fetch_row, step_rows
from ..plugs import About, Weigher, option, small_rows
from . import WEIGHERS

_TURNS = {"both": (0, 0), "alternate": (1, 1)}
_STREAM = 0xD  # separates the discriminator's initial vectors from the model's, which use the seed alone


def turns_of(text):
    """Parse "both", "alternate" or "G:D" into (g-steps, d-steps), which take turns; (0, 0) if they do not."""
    try:
        turns = _TURNS.get(text) or tuple(int(part) for part in text.split(":"))
        fits = text in _TURNS or (len(turns) == 2 and min(turns) >= 1 and max(turns) <= 10_000)
    except ValueError:
        fits = False
    if not fits:
        what = "both, alternate, or two whole numbers from 1 to 10000 such as 5:1, for vectors and discriminator"
        raise ConfigError(f"discriminator_steps must be {what}; got {text!r}")
    return turns


@WEIGHERS.register("discriminator")
class Discriminator(Weigher):
    """A second model that separates negatives from true pairs.

    discriminator_in, discriminator_out : float32, (n_in, dim) and (n_vocab, dim), trained in place
    ratio : float, its learning rate divided by the model's
    weigh_positive : bool, eq. 10
    g_steps, d_steps : int, steps of the vectors and then of D, in turn; 0: both on every group
    shared : bool, the positives of a group share its negatives; bounded : bool, D's steps are bounded
    """

    discriminator_in: np.ndarray
    discriminator_out: np.ndarray
    ratio: float
    weigh_positive: bool
    g_steps: int
    d_steps: int
    shared: bool
    bounded: bool

    class Options:
        discriminator_alpha: float | None = option(
            None, "Initial learning rate of the discriminator; it decays as alpha does.", above=0, default_text="alpha"
        )
        discriminator_steps: str = option(
            "both",
            "both: train the discriminator on every pair. G:D: take turns, G groups for the vectors, then D for the "
            "discriminator; alternate is 1:1.",
            check=turns_of,
            metavar="both|alternate|G:D",
        )
        weigh_positive: bool = option(
            False, "Let the discriminator weigh the positive too, as in CIS eq. 10; else as in eq. 8."
        )

    parameters = ("discriminator_in", "discriminator_out")
    about = About(
        summary="a second model, trained alongside, estimates how likely each draw is a true negative",
        equation="ω_k = σ(−D(i, j_k)); D maximises log σ(D(i, j_0)) + Σ log σ(−D(i, j_k))",
        paper="CIS eqs. 8–10, algorithm 1",
        cost="1 + n dot products and row updates in matrices of its own: as much again as the loss itself",
        use="with hard negatives (selfplay, boltzmann), where many draws are true targets that were not observed",
    )

    @classmethod
    def from_options(cls, options, context):
        run = context.run
        rows_in = small_rows((context.n_centres, context.dim), [_STREAM, run.seed])
        rows_out = np.zeros((len(context.counts), context.dim), np.float32)
        ratio = 1.0 if options.discriminator_alpha is None else options.discriminator_alpha / run.alpha
        turns, shared = turns_of(options.discriminator_steps), run.share_negatives == "centre"
        return cls(rows_in, rows_out, ratio, options.weigh_positive, *turns, shared, run.bounded_steps)


Verdicts = namedtuple("Verdicts", "positive_weights positive_steps negative_weights negative_steps x turn")
"""Scratch of one shard: float32 weights σ(−D) and steps of a group's positives and negatives, the centre's row as
it was (dim,); turn int64 (1,), the place of the next group among g-steps and d-steps."""


@implement_open_weigher(Discriminator)
def open_verdicts(weigher, max_positives, n_draws):
    m, n = padded(max_positives), padded(n_draws)
    positive, steps = np.zeros(m, np.float32), np.zeros(m, np.float32)
    negative, negative_steps = np.zeros(n, np.float32), np.zeros(n, np.float32)
    x, turn = np.empty(weigher.discriminator_in.shape[1], np.float32), np.zeros(1, np.int64)
    return Verdicts(positive, steps, negative, negative_steps, x, turn)


@implement_prepare_group(Discriminator)
def prepare_group(weigher, state, width, centre_row, m, positive_rows, n, negative_rows, negatives, alpha, rng):
    inputs, out = weigher.discriminator_in, weigher.discriminator_out
    x, centre = state.x, inputs[centre_row]
    positive_weights, negative_weights = state.positive_weights, state.negative_weights
    positive_steps, negative_steps = state.positive_steps, state.negative_steps
    for k in range(n):
        fetch_row(out, negative_rows[k])
    for i in range(x.shape[0]):
        x[i] = centre[i]
    # σ(−D) = 1 / (1 + e^D), for all targets in one pass
    dots(width, out, positive_rows, m, x, positive_steps)
    dots(width, out, negative_rows, n, x, negative_steps)
    exp_into(positive_steps, padded(m), ONE, ZERO, positive_weights)
    exp_into(negative_steps, padded(n), ONE, ZERO, negative_weights)
    for k in range(m):
        positive_weights[k] = ONE / (ONE + positive_weights[k])
    for k in range(n):
        negative_weights[k] = ONE / (ONE + negative_weights[k])
    alternate = weigher.d_steps > 0
    if alternate:
        d_step = state.turn[0] >= weigher.g_steps
        state.turn[0] = (state.turn[0] + 1) % (weigher.g_steps + weigher.d_steps)
        if not d_step:
            return True
    # −alpha · ∂L_D/∂D
    rate = alpha * np.float32(weigher.ratio)
    negative_rate = rate * np.float32(m) if weigher.shared else rate
    for k in range(m):
        positive_steps[k] = rate * positive_weights[k]
    for k in range(n):
        negative_steps[k] = negative_rate * (negative_weights[k] - ONE) if negatives[k] >= 0 else ZERO
    if weigher.bounded:
        bound_steps(positive_steps, m, negative_steps, n, dot(x, x))
    step_rows(width, out, positive_rows, positive_steps, m, x, centre)
    step_rows(width, out, negative_rows, negative_steps, n, x, centre)
    return not alternate


@implement_weigh(Discriminator)
def weigh(weigher, state, k, offset, ids, logits, exp_logits, log_q, weights):
    if weigher.weigh_positive:
        weights[0] *= state.positive_weights[k]
    negative_weights = state.negative_weights
    for j in range(1, weights.shape[0]):
        weights[j] *= negative_weights[offset + j - 1]


@implement_weigh_group(Discriminator)
def weigh_group(weigher, state, m, n, positive_weights, negative_weights):
    for k in range(m):
        positive_weights[k] = state.positive_weights[k] if weigher.weigh_positive else ONE
    for k in range(n):
        negative_weights[k] = state.negative_weights[k]
    return True
