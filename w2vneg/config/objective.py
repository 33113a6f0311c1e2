"""Options of the objective: the loss, the three plugs, and what each of them reads."""

from dataclasses import dataclass

from ..errors import ConfigError
from .compatibility import DEGENERACIES
from .option import option

SHARINGS = ("no", "centre", "window")
EXCLUSIONS = ("none", "target", "window", "known")
METHODS = ("rolling", "sir", "exact")
TEMP_SCHEDULES = ("constant", "linear", "cosine", "adaptive")
KERNELS = ("quadratic", "quartic")
TREES = ("bulk", "update", "none")
DISCRIMINATOR_STEPS = ("both", "alternate")
_SOFTMAXES = ("relaxed", "sampled-softmax", "css", "importance", "large-vocab", "softmax")
_BOLTZMANNS = ("boltzmann", "selfplay")


def _weights(values):
    """Return the weights of a given degeneracy as a tuple of float, so that configurations compare."""
    try:
        return tuple(float(value) for value in values)
    except (TypeError, ValueError) as error:
        raise ConfigError(
            f"degeneracy must be {', '.join(DEGENERACIES)}, a file or one weight for each word, not {str(values)[:60]}"
        ) from error


def _sharing(value):
    """Return what true and false stand for."""
    if not isinstance(value, bool):
        raise ConfigError(f"share_negatives must be {', '.join(SHARINGS)}, true or false, not {value!r}")
    return "centre" if value else "no"


@dataclass(frozen=True, kw_only=True)
class ObjectiveOptions:
    """Which negatives, how much each counts, what gradient they give; see each field's help."""

    loss: str | None = option(
        str,
        None,
        "Loss or preset by name; 'w2vneg objectives' lists them.",
        group="objective",
        shown="text: relaxed, items: us",
    )
    sampler: str | None = option(
        str,
        None,
        "Where negatives come from: uniform, popularity, log-uniform, bernoulli, bigram, boltzmann, selfplay, kernel, "
        "dns.",
        group="objective",
        shown="the preset's",
    )
    preset: str | None = option(
        str, None, "The name by which the objective was chosen, for reports; set by `resolved`.", group=None
    )
    weigher: str | None = option(
        str,
        None,
        "How much each negative counts: none, importance, discriminator, self-adversarial.",
        group="objective",
        shown="the preset's, mostly none",
    )
    temp: float | None = option(
        float,
        None,
        "Temperature T of Boltzmann sampling; inf leaves the degeneracy distribution alone.",
        above=0,
        infinite=True,
        group="objective",
        shown="1.0, ubs: 0.5",
        used_by={"sampler": ("boltzmann",)},
        when_used=1.0,
    )
    temp_schedule: str | None = option(
        str,
        None,
        "How T changes over the run: constant, linear or cosine (to --temp-end), adaptive (holds "
        "--effective-candidates).",
        group="objective",
        shown="constant",
        choices=TEMP_SCHEDULES,
        used_by={"sampler": ("boltzmann",)},
        when_used="constant",
    )
    temp_end: float | None = option(
        float,
        None,
        "Temperature at the end of a linear or cosine schedule.",
        above=0,
        group="objective",
        used_by={"sampler": ("boltzmann",)},
        shown="none",
    )
    effective_candidates: float | None = option(
        float,
        None,
        "Effective number of candidates, (sum w)^2 / sum w^2, that the adaptive temperature holds.",
        above=1,
        group="objective",
        used_by={"sampler": ("boltzmann",)},
        shown="none",
    )
    degeneracy: str | None = option(
        str,
        None,
        "What Boltzmann sampling multiplies e^(s/T) by: uniform, popularity (counts ^ noise-exponent), "
        "or a file of word<TAB>weight.",
        otherwise=_weights,
        group="objective",
        shown="popularity",
        used_by={"sampler": ("boltzmann",)},
        when_used="popularity",
    )
    method: str | None = option(
        str,
        None,
        "How Boltzmann negatives are drawn: rolling or sir (among candidates), exact (all words).",
        group="objective",
        shown="rolling",
        choices=METHODS,
        used_by={"sampler": _BOLTZMANNS},
        when_used="rolling",
    )
    candidates: int | None = option(
        int,
        None,
        "Candidates M among which rolling, sir and dns choose.",
        at_least=1,
        at_most=65536,
        group="objective",
        shown="64, dns: 8",
        used_by={"sampler": (*_BOLTZMANNS, "dns")},
        when_used={"dns": 8, "boltzmann": 64, "selfplay": 64},
    )
    replaced: int | None = option(
        int,
        None,
        "Candidates that rolling replaces for each centre.",
        at_least=1,
        group="objective",
        shown="2",
        used_by={"sampler": _BOLTZMANNS},
        when_used=2,
    )
    noise_exponent: float | None = option(
        float,
        None,
        "Exponent on counts in the popularity distribution.",
        at_least=-5,
        at_most=5,
        group="objective",
        shown="the preset's: ns and relaxed 0.75, …",
    )
    back_off: float | None = option(
        float,
        None,
        "Share of bigram draws that come from the popularity distribution instead.",
        above=0,
        at_most=1,
        group="objective",
        shown="0.1",
        used_by={"sampler": ("bigram",)},
        when_used=0.1,
    )
    kernel: str | None = option(
        str,
        None,
        "Kernel that q is proportional to: quadratic (kernel-alpha s^2 + 1) or quartic (s^4 + 1).",
        group="objective",
        shown="quadratic",
        choices=KERNELS,
        used_by={"sampler": ("kernel",)},
        when_used="quadratic",
    )
    kernel_alpha: float | None = option(
        float,
        None,
        "Factor of s^2 in the quadratic kernel.",
        above=0,
        group="objective",
        shown="100",
        used_by={"sampler": ("kernel",)},
        when_used=100.0,
    )
    tree: str | None = option(
        str,
        None,
        "How the quadratic kernel is drawn from: a tree of sums, rebuilt between launches (bulk) or at every step "
        "(update), or none: all classes scored by a matrix product.",
        group="objective",
        shown="bulk",
        choices=TREES,
        used_by={"sampler": ("kernel",)},
        when_used="bulk",
    )
    discriminator_alpha: float | None = option(
        float,
        None,
        "Learning rate of the discriminator at the start; it falls as alpha does.",
        above=0,
        group="objective",
        shown="alpha",
        used_by={"weigher": ("discriminator",)},
    )
    discriminator_steps: str | None = option(
        str,
        None,
        "Train the discriminator at every pair (both) or turn by turn with the vectors, group by group (alternate).",
        group="objective",
        shown="both",
        choices=DISCRIMINATOR_STEPS,
        used_by={"weigher": ("discriminator",)},
        when_used="both",
    )
    weigh_positive: bool | None = option(
        bool,
        None,
        "Let the discriminator weigh the positive too (CIS eq. 10) or not (eq. 8).",
        off="no-weigh-positive",
        group="objective",
        shown="no",
        used_by={"weigher": ("discriminator",)},
        when_used=False,
    )
    adversarial_temp: float | None = option(
        float,
        None,
        "Temperature of the self-adversarial weights: softmax of s / T over a positive's negatives.",
        above=0,
        group="objective",
        shown="1.0",
        used_by={"weigher": ("self-adversarial",)},
        when_used=1.0,
    )
    absolute_softmax: bool | None = option(
        bool,
        None,
        "Let the logit be |x . y| (kernel paper, eq. 11).",
        off="signed-softmax",
        group="objective",
        shown="the preset's, mostly no",
    )
    self_normalise: str | None = option(
        str,
        None,
        "LAMBDA or LAMBDA,FRACTION: add lambda (log Z)^2, so that Z stays near 1; on a fraction of the pairs as "
        "lambda / fraction, the same on the whole.",
        group="objective",
        shown="off",
        used_by={"loss": _SOFTMAXES},
    )
    positive_in_normaliser: bool | None = option(
        bool,
        None,
        "Let the relaxed softmax's normaliser include the positive, or take eq. 5 to the letter (unbounded below).",
        off="no-positive-in-normaliser",
        group="objective",
        shown="yes",
        used_by={"loss": ("relaxed",)},
        when_used=True,
    )
    correct_positive: bool | None = option(
        bool,
        None,
        "Let sampled softmax correct the positive's logit by its log q too.",
        off="no-correct-positive",
        group="objective",
        shown="no",
        used_by={"loss": ("sampled-softmax",)},
        when_used=False,
    )
    margin: float | None = option(
        float,
        None,
        "Margin by which the positive should lead.",
        group="objective",
        shown="ranking: log(V - 1), hinge: 1",
        used_by={"loss": ("ranking", "hinge")},
    )
    log_z: str | None = option(
        str,
        None,
        "log Z of noise-contrastive estimation: a number, or 'learned' for one for each centre.",
        group="objective",
        shown="0",
        used_by={"loss": ("nce",)},
        when_used="0",
    )
    mean_negatives: bool | None = option(
        bool,
        None,
        "Divide the negatives' part of negative sampling by their number, as CSS eq. 28 writes it.",
        off="sum-negatives",
        group="objective",
        shown="no",
        used_by={"loss": ("ns",)},
        when_used=False,
    )
    batch: int | None = option(
        int,
        None,
        "Centres in each matrix product of the full softmax.",
        at_least=1,
        at_most=65536,
        group="objective",
        shown="256",
        used_by={"loss": ("softmax",)},
        when_used=256,
    )
    plugin: str | None = option(
        str,
        None,
        "Module or file of your own, imported first, that registers losses, samplers or weighers.",
        group="objective",
        shown="none",
    )
    negatives: int | None = option(
        int,
        None,
        "Negatives for each positive (or for each centre or window, when shared).",
        at_least=1,
        at_most=10000,
        group="objective",
        shown="the preset's: ns 5, relaxed 10, …",
    )
    share_negatives: str | None = option(
        str,
        None,
        "One set of negatives for all positives of a centre (centre, which the flag alone means): fastest, for fewer "
        "comparisons; or for all words around a word, each compared with all of them (window): faster, for noise that "
        "does not depend on the centre.",
        otherwise=_sharing,
        alone="centre",
        group="objective",
        shown="no, ns: window, where it can be",
        choices=SHARINGS,
    )
    exclude: str | None = option(
        str,
        None,
        "Which negatives do not count: none; target, the positive itself; window, any positive of the centre; known, "
        "any word seen beside the centre in the whole corpus.",
        group="objective",
        shown="the preset's",
        choices=EXCLUSIONS,
    )
