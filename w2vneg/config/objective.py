"""Options of the objective that belong to no plug: which plugs, how many negatives, and how they are shared."""

from dataclasses import dataclass

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


_INPUTS = {"cbow": "window", "skipgram": "row", "skip-gram": "row", "sg": "row", "fasttext": "subwords"}


def _check_inputs(name):
    if name in _INPUTS:
        raise ConfigError(f"inputs {name!r} is called {_INPUTS[name]!r} here")


@dataclass(frozen=True, kw_only=True)
class ObjectiveOptions:
    """Which negatives, how much each counts, what gradient they give; see each field's help."""

    loss: str | None = option(
        None,
        "Loss or preset by name; 'w2vneg objectives' lists them.",
        group="objective",
        shown="text: relaxed, graphs: ns, items: us",
    )
    sampler: str | None = option(
        None,
        "Where negatives come from; 'w2vneg objectives' lists samplers.",
        group="objective",
        shown="the preset's",
    )
    preset: str | None = option(
        None, "The name by which the objective was chosen, for reports; set by `resolved`.", group=None
    )
    inputs: str = option(
        "row",
        "What the vector of a group is made of: the centre's row, the words around (window), n-grams (subwords), or "
        "window+subwords.",
        group="objective",
        metavar="NAME",
        check=_check_inputs,
    )
    weigher: str | None = option(
        None,
        "How much each negative counts; 'w2vneg objectives' lists weighers.",
        group="objective",
        shown="the preset's, mostly none",
    )
    absolute_softmax: bool | None = option(
        None,
        "Let the logit be |x . y| (kernel paper, eq. 11).",
        off="signed-softmax",
        group="objective",
        shown="the preset's, mostly no",
    )
    plugin: str | None = option(
        None,
        "Module or file of your own, imported first, that registers losses, samplers or weighers.",
        group="objective",
        shown="none",
    )
    negatives: int | None = option(
        None,
        "Negatives for each positive (or for each centre or window, when shared).",
        at_least=1,
        at_most=10000,
        group="objective",
        shown="the preset's: ns 5, relaxed 10, …",
    )
    share_negatives: str | None = option(
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
        None,
        "Which negatives do not count: none; target, the positive itself; window, any positive of the centre; known, "
        "any word seen beside the centre in the whole corpus.",
        group="objective",
        shown="the preset's",
        choices=EXCLUSIONS,
    )
