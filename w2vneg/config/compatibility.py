"""Which options go together: what nobody reads is emptied or refused, and so is what makes no sense together.

What plugs say of themselves decides (`w2vneg.objectives.plugs`); no plug is named here. Every refusal says what to do
instead, and comes before any work.
"""

import dataclasses

from ..ground.errors import ConfigError
from ..ground.option import flag_of
from ..kernels.contracts import prepares_groups
from ..objectives.inputs import INPUTS
from ..objectives.losses import LOSSES
from ..objectives.samplers import SAMPLERS
from ..objectives.weighers import WEIGHERS
from .objective import l2_strengths
from .table import KINDS, default_for

NO_PRIVATE_ROWS = (
    "draws made ahead (--method exact or pool, --sampler kernel) come from the shared rows; leave "
    "--private-rows out or give 0"
)

_OF_NEGATIVES = {  # option of negatives -> value that may stand beside a loss without any, for it changes nothing
    "sampler": None,
    "weigher": "none",
    "negatives": None,
    "share_negatives": "no",
    "exclude": "none",
    "private_rows": 0,
}


def is_dense(config):
    """Tell whether the loss of a configuration scores every word: nothing is drawn, weighed or excluded."""
    return config.loss in LOSSES and LOSSES[config.loss].dense


def is_of_paths(config):
    """Tell whether the loss decides along paths of a tree: nothing is drawn, and targets have no rows of their own."""
    return config.loss in LOSSES and LOSSES[config.loss].paths


def without_negatives(config, given):
    """Return, as None, the options of negatives if the loss has none; ConfigError if one was given."""
    if is_dense(config):
        how, instead = "scores every word", "--loss sampled-softmax for a softmax over a few"
    elif is_of_paths(config):
        how, instead = "decides along paths of a tree", "a loss that draws them, as --loss ns"
    else:
        return {}
    for item in dataclasses.fields(config):
        value = getattr(given, item.name)
        readers = item.metadata["readers"]
        others = "loss" not in readers and readers.keys() & {"sampler", "weigher"}
        if item.name == "private_rows" and not is_dense(config):
            continue
        if (item.name in _OF_NEGATIVES or others) and value is not None and value != _OF_NEGATIVES.get(item.name):
            raise ConfigError(
                f"{flag_of(item, value)} has no effect with loss {config.loss!r}, which {how} and draws no negatives; "
                f"leave it out, or take {instead}"
            )
    return dict.fromkeys(_OF_NEGATIVES.keys() - {"private_rows"})


def for_plugs(config, given):
    """Return the values of all options that belong to some plug: defaults where it is chosen, None elsewhere.

    ConfigError if one was `given` beside plugs that do not read it.
    """
    values = {}
    for item in dataclasses.fields(config):
        readers = item.metadata["readers"]
        if not readers:
            continue
        kind = next((kind for kind in readers if getattr(config, kind) in readers[kind]), None)
        if kind is None:
            if getattr(given, item.name) is not None:
                raise ConfigError(_no_reader(item, config, given))
            values[item.name] = None
        elif getattr(config, item.name) is None:
            values[item.name] = default_for(item, kind, getattr(config, kind))
    return values


def _no_reader(item, config, given):
    flag = flag_of(item, getattr(given, item.name))
    kind, readers = next(iter(item.metadata["readers"].items()))
    readers = list(readers)
    if kind == "source":
        walks = KINDS["source"]
        return f"{flag} has no effect here: it is for {in_words(walks[name].data for name in readers)}; leave it out"
    who = f"{kind} {readers[0]} reads" if len(readers) == 1 else f"{_plural(kind)} {in_words(readers)} read"
    return (
        f"{flag} has no effect with {kind} {getattr(config, kind)!r}: only {who} it; "
        f"take --{kind} {readers[0]} or leave {flag} out"
    )


def _plural(kind):
    return {"loss": "losses", "inputs": "inputs"}.get(kind, f"{kind}s")


def in_words(names, last="and"):
    """Join names as a sentence does: a, b and c."""
    names = list(names)
    return f" {last} ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else "".join(names)


def settled(config, given):
    """Return what the chosen plugs make of their options (`plugs.Plug.normalise_options`)."""
    values = {}
    for kind in ("loss", "weigher", "sampler", "inputs"):
        name = getattr(config, kind)
        if name in KINDS[kind]:
            values |= KINDS[kind][name].normalise_options(config, given)
    return values


def own_negatives(config, given):
    """Return what gives each pair negatives of its own where a preset shares them by windows and that cannot be."""
    if config.share_negatives != "window" or given.share_negatives is not None:
        return {}
    if INPUTS[config.inputs].composes:
        return {"share_negatives": "no"}
    fits = config.traversal.windows and not config.ordered and config.exclude != "window"
    if fits and config.sampler in SAMPLERS and config.weigher in WEIGHERS:
        sampler, weigher = SAMPLERS[config.sampler], WEIGHERS[config.weigher]
        if sampler.context_free and not prepares_groups(weigher) and not weigher.parameters:
            return {}
    return {"share_negatives": "no"}


def check_plugs(config, loss, weigher, sampler, samplers_with_log_q=()):
    """Refuse plugs that do not go together.

    Parameters
    ----------
    config : TrainConfig, resolved
    loss, weigher, sampler : the plugs, or their classes; of a class only what holds whatever the options is looked at
    samplers_with_log_q : sequence of str, the remedy to name
    """
    for kind, plug in (("loss", loss), ("weigher", weigher)):
        if plug.needs_log_q is True and sampler.gives_log_q is False:
            others = in_words(samplers_with_log_q, "or") or "popularity"
            raise ConfigError(
                f"{kind} {getattr(config, kind)!r} needs the probabilities of its draws, which sampler "
                f"{config.sampler!r} cannot give; choose --sampler {others}"
            )
    if loss.needs_exclusion is True and config.exclude == "none":
        raise ConfigError(
            f"loss {config.loss!r} sums over the words that are not the positive, so a negative must not be it; "
            "leave --exclude none out, or take --exclude target"
        )
    if config.weigh_positive and not loss.takes_positive_weight:
        raise ConfigError(
            f"--weigh-positive has no effect with loss {config.loss!r}, which has the positive in no sum with the "
            "negatives; take a softmax (--loss relaxed) or leave it out"
        )
    if INPUTS[config.inputs].around:
        _check_around(config, {"loss": loss, "weigher": weigher, "sampler": sampler})
    if config.share_negatives == "window":
        _check_window(config, weigher, sampler)
    if config.private_rows and SAMPLERS[config.sampler].draws_ahead(config):
        raise ConfigError(NO_PRIVATE_ROWS)


def _check_window(config, weigher, sampler):
    """Refuse what cannot share negatives by a window: its pairs have several centres, and go both ways."""
    flag, instead = "--share-negatives window", "take --share-negatives centre or leave it out"
    if not config.traversal.windows:
        raise ConfigError(f"{flag} is for text and baskets: a row of pairs is no window; {instead}")
    if config.ordered:
        raise ConfigError(f"{flag} takes every pair from its other side, which --ordered forbids; {instead}")
    if not sampler.context_free:
        raise ConfigError(
            f"{flag} draws once for several centres, and sampler {config.sampler!r} draws for one; {instead}, or "
            "choose --sampler popularity"
        )
    if prepares_groups(weigher if isinstance(weigher, type) else type(weigher)) or weigher.parameters:
        raise ConfigError(f"{flag} has several centres, and weigher {config.weigher!r} looks at one; {instead}")
    if config.exclude == "window":
        raise ConfigError(
            f"--exclude window has no effect with {flag}, whose one positive is the word in the middle; take --exclude "
            "target"
        )


def check_logits(config):
    """Refuse |s| beside a loss that says no by a negative logit."""
    if config.absolute_softmax and config.loss in LOSSES and not LOSSES[config.loss].takes_absolute_logits:
        raise ConfigError(
            f"--absolute-softmax makes no sense with loss {config.loss!r}: it says no by a negative logit, and |s| is "
            "never one; take a softmax (--loss sampled-softmax) or leave it out"
        )


def check_inputs(config):
    """Refuse what a vector made of several rows cannot stand beside."""
    inputs, flag = INPUTS[config.inputs], f"--inputs {config.inputs}"
    if not inputs.composes:
        return
    if inputs.of_text and not config.traversal.of_words:
        noun = config.traversal.noun
        raise ConfigError(f"{flag} looks at how words are spelt, and names of {noun}s are no words; leave it out")
    if inputs.around and not config.traversal.windows:
        raise ConfigError(f"{flag} makes a vector of the words around, and pairs have none; leave it out")
    if is_dense(config):
        raise ConfigError(
            f"loss {config.loss!r} scores every word for many centres' own rows at once, which {flag} has not; "
            "take --loss sampled-softmax, or leave it out"
        )
    if config.sampler in SAMPLERS and SAMPLERS[config.sampler].draws_ahead(config):
        raise ConfigError(
            f"draws made ahead (--method exact or pool, --sampler kernel) look at the rows of centres, and {flag} "
            "has no such rows; take --sampler popularity or --method candidates, or leave it out"
        )
    if config.share_negatives == "window":
        raise ConfigError(
            f"--share-negatives window is for centres with a row of their own, not for {flag}; take --share-negatives "
            "centre or leave it out"
        )


def check_l2(config, given):
    """Refuse a power of a penalty that there is none of."""
    if given.l2_power is not None and not any(l2_strengths(config.l2)):
        raise ConfigError("--l2-power has no effect without a penalty; give --l2, or leave it out")


def check_freeze(config):
    """Refuse to freeze rows where a step is taken by whole matrices."""
    if is_dense(config):
        raise ConfigError(
            f"loss {config.loss!r} moves every row at every step, so none can be frozen; take --loss sampled-softmax, "
            "or leave --freeze out"
        )


def _check_around(config, plugs):
    """Refuse plugs that look at the one centre, where several words make the vector."""
    flag = f"--inputs {config.inputs}"
    for kind, plug in plugs.items():
        looks = kind == "weigher" and prepares_groups(plug if isinstance(plug, type) else type(plug))
        if looks or plug.needs_centre or any(not name.endswith("_out") for name in plug.parameters):
            raise ConfigError(
                f"{kind} {getattr(config, kind)!r} looks at the one centre of a group, and {flag} has several; take "
                f"another {kind} or leave it out"
            )
    if config.exclude == "known":
        raise ConfigError(
            f"--exclude known asks what stood beside the one centre, and {flag} has several; leave it out"
        )


def check_diagnose(config):
    """Refuse to diagnose a loss that draws nothing."""
    if INPUTS[config.inputs].around:
        raise ConfigError(
            f"--diagnose looks at vectors of single centres, and --inputs {config.inputs} has several; leave it out"
        )
    if config.sampler is None:
        raise ConfigError(
            f"nothing to diagnose: loss {config.loss!r} draws no negatives, and its gradient is exact; leave "
            "--diagnose out"
        )


def about_cosines(config):
    """Return what whoever compares a run's vectors must know (str): that their cosines mean nothing; else None.

    config : TrainConfig, resolved
    """
    if not config.absolute_softmax or not config.traversal.of_words:
        return None
    cost = ""
    if config.sampler == "kernel":
        cost = (
            ": an epoch of 17 million words takes 7 to 45 minutes on two cores with 15,000 words known, where --loss "
            "css-is takes half a minute and gives vectors as good"
        )
    return (
        "these vectors were trained on |x . y|, which does not change when a vector is turned round, so their cosines "
        f"mean nothing; for vectors to compare train with --signed-softmax, which takes as long{cost}"
    )
