"""Options of the objective that belong to no plug: which plugs, how many negatives, and how they are shared."""

from dataclasses import dataclass
from numbers import Real

from ..ground.errors import ConfigError
from ..ground.option import option
from ..ground.registry import Sharing

SHARINGS = tuple(sharing.name.lower() for sharing in Sharing)
EXCLUSIONS = ("none", "target", "window", "known")


def _sharing(value):
    """Return what true and false stand for."""
    if not isinstance(value, bool):
        raise ConfigError(f"share_negatives must be {', '.join(SHARINGS)}, true or false, not {value!r}")
    return "centre" if value else "no"


L2_POWER = 0.5  # where there is a penalty


def _l2(value):
    """Return what one number, or two, stand for."""
    values = value if isinstance(value, tuple | list) else [value]
    numbers = all(isinstance(one, Real) and not isinstance(one, bool) and one >= 0 for one in values)
    if not 1 <= len(values) <= 2 or not numbers:
        raise ConfigError(f"l2 must be one number or two, of centres and of targets, at least 0, not {value!r}")
    return ",".join(map(str, values))


def l2_strengths(text):
    """Return λ of the rows of centres and of targets, (float, float); ConfigError unless it is one number or two."""
    try:
        values = [float(part) for part in text.split(",")]
    except ValueError:
        values = []
    if not 1 <= len(values) <= 2 or not all(0 <= value < float("inf") for value in values):
        raise ConfigError(f"l2 {text!r} must be one number, or two with a comma between: 1.44,0.55; 0 is none")
    return values[0], values[-1]


_INPUTS = {"cbow": "window", "skipgram": "row", "skip-gram": "row", "sg": "row", "fasttext": "subwords"}


def _check_inputs(name):
    if name in _INPUTS:
        raise ConfigError(f"inputs {name!r} is called {_INPUTS[name]!r} here")


@dataclass(frozen=True, kw_only=True)
class Choices:
    """Names of plugs: what is read, whose rows, which negatives, how much each counts, what gradient they give."""

    loss: str | None = option(
        None,
        "Loss or preset; 'w2vneg objectives' lists them.",
        metavar="NAME",
        group="objective",
        common=True,
        default_text="text: relaxed, graphs: ns, items: us, users and items: top-n",
    )
    sampler: str | None = option(
        None,
        "Noise sampler; 'w2vneg objectives' lists them.",
        metavar="NAME",
        group="objective",
        common=True,
        default_text="the preset's",
    )
    inputs: str = option(
        "row",
        "What makes the input vector: row (skip-gram), window (CBOW), subwords (fastText) or window+subwords.",
        group="objective",
        metavar="NAME",
        check=_check_inputs,
    )
    weigher: str | None = option(
        None,
        "How negatives are weighted; 'w2vneg objectives' lists weighers.",
        metavar="NAME",
        group="objective",
        default_text="the preset's, mostly none",
    )
    source: str = option("text", "What is read; set by the option that names it.", group=None)


@dataclass(frozen=True, kw_only=True)
class ObjectiveOptions:
    """How many negatives, which may not be drawn, how the logit is made; see each field's help."""

    preset: str | None = option(
        None, "The name by which the objective was chosen, for reports; set by `resolved`.", group=None
    )
    absolute_softmax: bool | None = option(
        None,
        "Take |x . y| as the logit, as in eq. 11 of the kernel paper.",
        negative_flag="signed-softmax",
        group="objective",
        default_text="the preset's, mostly no",
    )
    plugin: str | None = option(
        None,
        "Import a module or file first, which registers losses, samplers or weighers of your own.",
        metavar="NAME|FILE",
        group="objective",
        default_text="none",
    )
    negatives: int | None = option(
        None,
        "Negative samples per positive. Shared ones: per centre or window.",
        at_least=1,
        at_most=10000,
        group="objective",
        common=True,
        default_text="ns: 5, relaxed: 10, …",
    )
    share_negatives: str | None = option(
        None,
        "centre: all positives of a centre share one set of negatives; fastest, with fewer comparisons. window: all "
        "words around a word share one and are each compared with all of it; faster, for noise that does not depend "
        "on the centre. The flag alone means centre.",
        coerce=_sharing,
        flag_value="centre",
        group="objective",
        default_text="no, ns: window, where it can be",
        choices=SHARINGS,
    )
    exclude: str | None = option(
        None,
        "Negatives to skip: none; target, the positive itself; window, any positive of the centre; known, any word "
        "seen near the centre anywhere in the data.",
        group="objective",
        default_text="the preset's",
        choices=EXCLUSIONS,
    )
    l2: str | None = option(
        None,
        "L2 penalty on rows of centres and targets. One number, or two as 1.44,0.55; 0 is none.",
        metavar="LU[,LV]",
        group="objective",
        common=True,
        default_text="the preset's, mostly 0",
        coerce=_l2,
        check=l2_strengths,
    )
    l2_power: float | None = option(
        None,
        "How the penalty of a row grows with its pairs c: by c to this power.",
        at_least=0.0,
        at_most=1.0,
        group="objective",
        default_text=f"{L2_POWER}",
    )
