"""Presets: names for whole objectives, mostly those of the papers, as options of the three plugs.

A loss's own name is the preset with its natural sampler. The papers' numbers of negatives are kept. RS: Tanielian and
Vasile 2019. CIS: Partially Mutual Exclusive Softmax. CSS: Botev, Zheng and Barber 2017. Kernel: Blanc and Rendle 2018.
Notes: the notes on noise contrastive estimation.
"""

import math
from dataclasses import dataclass, field, replace

from ..ground.errors import ConfigError


@dataclass(frozen=True)
class Preset:
    """values : dict of option -> value, set by the preset; of_text : the same, for text only
    note : str, how this differs from the paper, and which options follow the paper
    text_alpha : float, the learning rate for text, if development data chose another than the default
    by_pairs : bool, for users and items: fewer pairs get more epochs, see `epochs_over`, and with few pairs per user,
        held-out pairs may choose a stronger l2
    equation : str, the loss with these values; "" if it is the loss's own equation
    """

    loss: str
    values: dict = field(default_factory=dict)
    summary: str = ""
    paper: str = ""
    note: str = ""
    text_alpha: float | None = None
    of_text: dict = field(default_factory=dict)
    by_pairs: bool = False
    equation: str = ""


_COMMON = {"weigher": "none", "negatives": 5, "share_negatives": "no", "alpha": 0.05, "exclude": "none"}
_COMMON |= {"absolute_softmax": False, "l2": "0", "bias": 0.0, "bounded_steps": True}

_COUNTS = {"sampler": "popularity", "noise_exponent": 1.0}  # the papers' plain popularity, or unigram
_NOT_ITSELF = {"exclude": "target"}
_BOLTZMANN = {"sampler": "boltzmann"}
_CSS = {"sampler": "popularity", "negatives": 20, **_NOT_ITSELF}
_KERNEL = {"sampler": "kernel", "negatives": 20, "absolute_softmax": True, **_NOT_ITSELF}

_AMONG = (
    "Negatives are drawn from 64 rolling candidates. --method exact scores every word, as in the paper; --method pool "
    "is nearly exact and draws for several visits of a centre at once."
)
_NO_SIGN = "A negated vector has the same |s|, so cosines of words mean nothing: use it to rank, not for similarity."
_DRAWN_ONCE = "TensorFlow's function, which the paper names, draws without replacement; here draws may repeat."

_OF_SIZES = "L = −|s₀| + log( e^{|s₀|} + Σ e^{|s_k|} / (n q_k) )"

_FULL_ALPHA = 0.0125
_MLE = Preset(
    "softmax",
    {},
    "full softmax: every other word is a negative",
    "RS eqs. 2–3 (MLE)",
    "All pairs of a batch step at once, which needs a small alpha. With 3,000 words, vectors are better at --alpha "
    "0.025, or with --batch 32 --alpha 0.05 in twice the time.",
    text_alpha=_FULL_ALPHA,
)
_UNIFORM = {"sampler": "uniform"}
_UNIFORMS = Preset("relaxed", _UNIFORM, "relaxed softmax with uniform negatives", "RS §3.2 (US)", text_alpha=0.1)
_CSS_IS = Preset(
    "css",
    _CSS | _COUNTS,
    "complementary sum sampling: the positive summed exactly, the rest by importance sampling",
    "CSS eqs. 16–20, §6.1",
    "The paper also tries counts to the power .75 (--noise-exponent 0.75) and 250 negatives shared by a mini-batch.",
)
_IS = Preset(
    "importance",
    _COUNTS | {"negatives": 20},
    "plain importance sampling of the normaliser; unstable by nature, included to show that",
    "CSS eqs. 11–12, §6.1 and §6.2 (IS)",
)

PRESETS = {
    "relaxed": Preset(
        "relaxed",
        _BOLTZMANN | {"degeneracy": "popularity", "temp": 1.0, "negatives": 10},
        "relaxed softmax with Boltzmann negatives over popularity at T = 1: the default",
        "RS eqs. 5 and 8",
        "Ten negatives and counts to the power .75 are our own choice, from measurements; --loss pbs has the paper's 5 "
        f"and plain counts. {_AMONG}",
    ),
    "best": Preset(
        "relaxed",
        _BOLTZMANN | {"degeneracy": "popularity", "temp": 1.0, "negatives": 15, "share_negatives": "centre"},
        "the best word vectors for the time spent: relaxed, negatives shared per centre, contexts, spelling",
        "RS eqs. 5 and 8; the rest by our own measurements",
        "Chosen on development data, with --epochs 6.",
        of_text={"readout": "context+letters:share=.1+paradigms", "subsample": 7e-5},
    ),
    "top-n": Preset(
        "css",
        _UNIFORM
        | _NOT_ITSELF
        | {"negatives": 16, "alpha": 0.1, "l2": "1,1.1", "bias": 0.8, "bounded_steps": False, "start": "spectral"},
        "top-n lists of items: softmax over 16 uniform negatives, corrected, with biases and an L2 penalty on rows",
        "CSS eqs. 16–20; the rest by our own measurements",
        "Rows start from the singular vectors of the pairs. The number of epochs depends on the number of pairs; it is "
        "doubled with --start random. With 2,000 pairs or more, and fewer than 40 per user on average, the run first "
        "tries up to twice the penalty on held-out pairs. To predict later events, --loss ns "
        "--noise-exponent 1 --l2 2,1 --unbounded-steps --epochs 40, ranked with --score corrected, may be better.",
        by_pairs=True,
    ),
    "next": Preset(
        "relaxed",
        _COUNTS,
        "next word or item: relaxed softmax, popularity negatives; closest to the full softmax with few negatives",
        "RS §3.2 (PS); log P(j|i) by our one law",
        "Rank with --score corrected; in PyTorch log_prob(hidden, score='corrected').",
    ),
    "mle": _MLE,
    "ss": Preset(
        "sampled-softmax",
        _COUNTS | _NOT_ITSELF | {"negatives": 50, "correct_positive": True},
        "sampled softmax with 50 popularity negatives, the positive corrected too",
        "RS §3.2 (SS)",
        _DRAWN_ONCE,
        text_alpha=0.1,
        equation="L = −s₀ + log q₀ + log( e^{s₀} / q₀ + Σ e^{s_k} / q_k )",
    ),
    "us": _UNIFORMS,
    "ps": Preset("relaxed", _COUNTS, "relaxed softmax with popularity negatives", "RS §3.2 (PS)"),
    "ubs": Preset(
        "relaxed",
        _BOLTZMANN | {"degeneracy": "uniform", "temp": 0.5},
        "relaxed softmax with Boltzmann negatives over uniform degeneracy",
        "RS eq. 8, §3.2, table 1 (UBS, T* = 0.5)",
        f"T is the paper's best on text; the paper tries 0.5, 1, 3, 6, 12 and 36. {_AMONG}",
    ),
    "pbs": Preset(
        "relaxed",
        _BOLTZMANN | {"degeneracy": "popularity", "temp": 1.0, "noise_exponent": 1.0},
        "relaxed softmax with Boltzmann negatives over popularity",
        "RS eq. 8, §3.2, table 1 (PBS, T* = 1)",
        f"T is the paper's best on text; the paper tries 0.5, 1, 3, 6, 12 and 36. {_AMONG}",
    ),
    "fs": Preset("softmax", {}, "full softmax: every other word is a negative", "CIS §4 (FS)", text_alpha=_FULL_ALPHA),
    "unis": replace(_UNIFORMS, paper="CIS §4 (UniS)"),
    "pops": Preset(
        "relaxed", {"sampler": "log-uniform"}, "relaxed softmax with negatives log-uniform by rank", "CIS §4 (PopS)"
    ),
    "selfplay": Preset(
        "relaxed",
        {"sampler": "selfplay"},
        "relaxed softmax with negatives drawn from the model's own softmax",
        "CIS §4 (SP)",
        _AMONG,
    ),
    "cis": Preset(
        "relaxed",
        {"sampler": "selfplay", "weigher": "discriminator"},
        "cooperative importance sampling: self-play weighed by a discriminator trained alongside",
        "CIS eqs. 8–10, algorithm 1",
        "The positive weighs 1 as in eq. 8; --weigh-positive follows eq. 10 instead. Both models learn from every "
        f"pair; with --discriminator-steps 1:1, 5:1 or similar they take turns, as in algorithm 1. {_AMONG}",
    ),
    "css": _CSS_IS,
    "css-is": _CSS_IS,
    "css-bernoulli": Preset(
        "css",
        _CSS | {"sampler": "bernoulli", "noise_exponent": 0.54},
        "complementary sum sampling: every other word is drawn independently, at most once",
        "CSS eqs. 7–9 and 16–20, §6.1",
        "The paper uses the power .54, at which the probabilities sum to 20; here they are scaled to --negatives.",
    ),
    "is": _IS,
    "importance": _IS,
    "nce": Preset(
        "nce",
        _COUNTS | {"negatives": 25},
        "noise-contrastive estimation with Z = 1",
        "notes eqs. 7–13, §3; CSS §5.2",
        "The noise is plain counts; CSS also tries the power .75 (--noise-exponent 0.75).",
        text_alpha=0.025,
    ),
    "ns": Preset(
        "ns",
        {"sampler": "popularity", "share_negatives": "window", **_NOT_ITSELF},
        "word2vec's negative sampling: counts to the power .75, 5 negatives",
        "notes eqs. 15–22; CSS eq. 28",
        "CSS divides the negatives' part by their number (--mean-negatives); word2vec and the notes do not. In text "
        "and baskets, all pairs of a window share one set of negatives: faster than a set for each pair "
        "(--share-negatives no), and equally good within seed noise.",
    ),
    "blackout": Preset(
        "blackout",
        _CSS,
        "BlackOut: separates the positive from the negatives, and each negative from all others",
        "CSS eqs. 29–30",
        "Counts to the power .75, one of the two exponents of CSS §6.2; --noise-exponent 1 is the other.",
    ),
    "ranking": Preset(
        "ranking",
        _CSS,
        "logistic ranking: the positive should lead by log(V - 1)",
        "CSS eqs. 25–27",
        "The margin is derived for uniform negatives (--sampler uniform); §6.2 draws by counts, as this does.",
        text_alpha=0.006,
    ),
    "bpr": Preset(
        "ranking",
        _UNIFORM | _NOT_ITSELF | {"margin": 0.0},
        "Bayesian personalised ranking: the positive should lead, by any margin",
        "CSS eq. 25 with margin 0; Rendle et al. 2009",
        "Rendle et al. draw one negative that never occurs with the centre: --negatives 1 --exclude known.",
        equation="L = −Σ log σ(s₀ − s_k)",
    ),
    "hinge": Preset("hinge", _CSS, "hinge ranking: the positive should lead by 1", "CSS eq. 24", text_alpha=0.006),
    "large-vocab": Preset(
        "large-vocab",
        _CSS,
        "softmax over the positive and the negatives, all corrected by log q",
        "CSS §6.2 (IS Large Vocab), after Jean et al. 2015",
        text_alpha=0.1,
    ),
    "sampled-softmax": Preset(
        "sampled-softmax",
        _COUNTS | _NOT_ITSELF | {"negatives": 20},
        "sampled softmax with popularity negatives, the positive left uncorrected",
        "kernel eqs. 2–5",
        "The paper trains with 10, 20, 40, … negatives; 20 is our choice.",
    ),
    "kernel-quadratic": Preset(
        "sampled-softmax",
        _KERNEL | {"kernel": "quadratic", "kernel_alpha": 100.0},
        "sampled softmax of |s| with negatives in proportion to 100 s² + 1",
        "kernel eqs. 8–11, §4.1.2",
        "The paper trains with 10, 20, 40, … negatives; 20 is our choice. The tree is rebuilt between launches; the "
        "paper's follows every step. --tree none scores all classes by a matrix product, which is faster at 15,000 "
        f"words. {_NO_SIGN}",
        equation=_OF_SIZES,
    ),
    "kernel-quartic": Preset(
        "sampled-softmax",
        _KERNEL | {"kernel": "quartic"},
        "sampled softmax of |s| with negatives in proportion to s⁴ + 1",
        "kernel eq. 8, figure 2",
        f"The paper trains with 10, 20, 40, … negatives; 20 is our choice. {_NO_SIGN}",
        equation=_OF_SIZES,
    ),
    "dns": Preset(
        "ns",
        {"sampler": "dns", **_NOT_ITSELF},
        "negative sampling with the hardest of a few candidates each time",
        "Zhang et al. 2013; Chen et al. 2018, whom RS and CIS cite",
        text_alpha=0.1,
    ),
    "softmax": _MLE,
    "hierarchical": Preset(
        "hierarchical",
        {},
        "hierarchical softmax over a Huffman tree: word2vec's hs",
        "CSS §5.1; kernel §5.2; Mikolov et al. 2013",
        "The papers discuss it as a method whose tree must be chosen in advance; it draws no negatives.",
        text_alpha=0.035,
    ),
}


EPOCHS = 5  # passes over the data, unless the user or the preset sets another number


def epochs_over(n_pairs, spectral=False):
    """Return the epochs for a number of pairs, for presets with `by_pairs`: 20 for 800,000 pairs, 58 for 32,000.

    They fall with the cube root of the number, from 100 to 5; chosen on validation parts of five data sets.

    spectral : bool, rows start from the singular vectors of the pairs, not at random, and half the epochs suffice
    """
    epochs = min(100.0, max(5.0, 20.0 * (800_000 / max(n_pairs, 1.0)) ** (1 / 3)))
    return math.ceil(epochs / 2) if spectral else round(epochs)


def register_preset(name, preset):
    """Register a preset of your own under `name`; ConfigError if the name is taken."""
    if PRESETS.get(name, preset) != preset:
        raise ConfigError(f"a preset named {name!r} is registered already; choose another name")
    check_name(name, preset)
    PRESETS[name] = preset


def check_name(name, preset):
    """Raise ConfigError if a preset has the name of a loss that is not its own: the preset would win."""
    from .losses import LOSSES

    if name in LOSSES and preset.loss != name:
        raise ConfigError(f"{name!r} would name both a loss and a preset of {preset.loss!r}; choose another name")


def preset_of(name, of_words=True):
    """Return the preset `name` with all values, for words or others; if it is none, the loss with popularity noise."""
    preset = PRESETS.get(name, Preset(name, {"sampler": "popularity"}))
    tuned = {"alpha": preset.text_alpha} if of_words and preset.text_alpha is not None else {}
    tuned |= preset.of_text if of_words else {}
    return replace(preset, values=_COMMON | tuned | preset.values)
