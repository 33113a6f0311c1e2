"""Which options go together: what is read by nobody is emptied or refused, and so is what makes no sense together.

Every refusal says what to do instead, and comes before any work.
"""

import dataclasses
import math

from ..errors import ConfigError
from .option import default_for, flag_of

DEGENERACIES = ("uniform", "popularity")
WITHOUT_NEGATIVES = ("softmax",)
"""Losses that score every word: nothing is drawn, weighed or excluded."""

NO_PRIVATE_ROWS = (
    "draws made ahead (--method exact, --sampler kernel) come from the shared rows; leave --private-rows out or give 0"
)

_OF_NEGATIVES = {  # option of negatives -> value that may stand beside a loss without any, for it changes nothing
    "sampler": None,
    "weigher": "none",
    "negatives": None,
    "share_negatives": "no",
    "exclude": "none",
    "noise_exponent": None,
    "private_rows": 0,
}
_NO_COUNTS = ("uniform", "log-uniform", "selfplay", "kernel")  # samplers that have no exponent to give to counts
_BLIND = ("uniform", "popularity", "log-uniform", "bernoulli")  # samplers that draw alike for every centre
_PAIR_BY_PAIR = ("none", "importance", "self-adversarial")  # weighers that look at no group
_DATA = {
    "text": "text (--corpus)",
    "baskets": "--baskets and --ratings without --rectangular",
    "pairs": "--pairs and --cooccurrence",
}
_NEVER_NO = ("ns", "nce")
_POSITIVE_APART = ("ns", "nce", "ranking", "hinge", "importance")  # losses in whose sum the positive does not stand
_SELFPLAY = ("temp", "temp_schedule", "temp_end", "effective_candidates", "degeneracy")  # what it is by definition


def without_negatives(config, given):
    """Return, as None, the options of negatives if the loss has none; ConfigError if one was given."""
    if config.loss not in WITHOUT_NEGATIVES:
        return {}
    for item in dataclasses.fields(config):
        value = getattr(given, item.name)
        of_negatives = item.name in _OF_NEGATIVES or (item.metadata["used_by"] or {}).keys() & {"sampler", "weigher"}
        if of_negatives and value is not None and value != _OF_NEGATIVES.get(item.name):
            raise ConfigError(
                f"{flag_of(item, value)} has no effect with loss {config.loss!r}, which scores every word and draws no "
                f"negatives; leave it out, or take --loss sampled-softmax for a softmax over a few"
            )
    return dict.fromkeys(_OF_NEGATIVES.keys() - {"private_rows"})


def for_plugs(config, given):
    """Return the values of all options that belong to some plug: defaults where it is chosen, None elsewhere.

    ConfigError if one was `given` beside plugs that do not read it.
    """
    values = {}
    for item in dataclasses.fields(config):
        used_by = item.metadata["used_by"]
        if used_by is None:
            continue
        reader = next((getattr(config, kind) for kind in used_by if getattr(config, kind) in used_by[kind]), None)
        if reader is None:
            if getattr(given, item.name) is not None:
                raise ConfigError(_no_reader(item, config, given))
            values[item.name] = None
        elif getattr(config, item.name) is None:
            values[item.name] = default_for(item, reader)
    return values


def _no_reader(item, config, given):
    flag = flag_of(item, getattr(given, item.name))
    kind, readers = next(iter(item.metadata["used_by"].items()))
    if config.sampler == "selfplay" and item.name in _SELFPLAY:
        return (
            f"{flag} has no effect with sampler 'selfplay', which is Boltzmann sampling over uniform degeneracy at "
            "T = 1; for another temperature or degeneracy take --loss ubs or --sampler boltzmann"
        )
    if kind == "source":
        return f"{flag} has no effect here: it is for {in_words(_DATA[name] for name in readers)}; leave it out"
    who = f"{kind} {readers[0]} reads" if len(readers) == 1 else f"{_plural(kind)} {in_words(readers)} read"
    return (
        f"{flag} has no effect with {kind} {getattr(config, kind)!r}: only {who} it; "
        f"take --{kind} {readers[0]} or leave {flag} out"
    )


def _plural(kind):
    return "losses" if kind == "loss" else f"{kind}s"


def in_words(names, last="and"):
    """Join names as a sentence does: a, b and c."""
    names = list(names)
    return f" {last} ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else "".join(names)


def check_schedule(config):
    """Refuse a temperature's schedule that lacks what it needs, and what only another schedule reads."""
    schedule = config.temp_schedule
    if schedule is None:
        return
    moving = schedule in ("linear", "cosine")
    if moving and config.temp_end is None:
        raise ConfigError(f"--temp-schedule {schedule} needs the temperature at the end of the run; add --temp-end")
    if not moving and config.temp_end is not None:
        raise ConfigError(
            f"--temp-end has no effect with --temp-schedule {schedule}; add --temp-schedule linear or cosine, or leave "
            "it out"
        )
    if schedule != "constant" and math.isinf(config.temp):
        raise ConfigError(f"--temp-schedule {schedule} needs a finite temperature to start from; give another --temp")
    held, among = config.effective_candidates, config.candidates
    if schedule == "adaptive" and held is None:
        raise ConfigError(
            "--temp-schedule adaptive needs the effective number of candidates to hold; add --effective-candidates"
        )
    if schedule != "adaptive" and held is not None:
        raise ConfigError(
            f"--effective-candidates has no effect with --temp-schedule {schedule}; add --temp-schedule adaptive or "
            "leave it out"
        )
    if held is not None and among is not None and config.method != "exact" and held >= among:
        raise ConfigError(
            f"--effective-candidates ({held:g}) must be below --candidates ({among}), of which it is a part; lower it "
            "or raise --candidates"
        )


def at_infinity(config, given):
    """Return what turns Boltzmann sampling at T = ∞ into sampling from its degeneracy."""
    constant = config.temp_schedule in (None, "constant")
    if config.temp is None or not math.isinf(config.temp) or config.degeneracy not in DEGENERACIES or not constant:
        return {}
    for name in ("method", "candidates", "replaced"):
        if getattr(given, name) is not None:
            raise ConfigError(f"--{name} has no effect with --temp inf, which draws from the degeneracy; leave it out")
    unused = [
        item.name
        for item in dataclasses.fields(config)
        if "boltzmann" in (item.metadata["used_by"] or {}).get("sampler", ())
    ]
    return {"sampler": config.degeneracy} | dict.fromkeys(unused)


def unread(config, given):
    """Return what the sampler leaves of its options: None for those it has no use for, the exponent's default."""
    unused = {"sir": ("replaced",), "exact": ("candidates", "replaced")}.get(config.method, ())
    because = f"--method {config.method}"
    if config.kernel == "quartic":
        unused, because = ("kernel_alpha", "tree"), "--kernel quartic"
    for name in unused:
        if getattr(given, name) is not None:
            raise ConfigError(f"--{name.replace('_', '-')} has no effect with {because}; leave it out")
    values = dict.fromkeys(unused)
    flat = config.degeneracy is not None and config.degeneracy != "popularity"
    if config.sampler in _NO_COUNTS or flat or config.loss in WITHOUT_NEGATIVES:
        if given.noise_exponent is not None:
            where = "a degeneracy that is not popularity" if flat else f"sampler {config.sampler!r}"
            raise ConfigError(f"--noise-exponent has no effect with {where}; leave it out")
        return values | {"noise_exponent": None}
    return values | ({"noise_exponent": 0.75} if config.noise_exponent is None else {})


def own_negatives(config, given):
    """Return what gives each pair negatives of its own where a preset shares them by windows and that cannot be."""
    window = config.share_negatives == "window" and given.share_negatives is None
    fits = config.source != "pairs" and not config.ordered and config.exclude != "window"
    if window and not (fits and config.sampler in _BLIND and config.weigher in _PAIR_BY_PAIR):
        return {"share_negatives": "no"}
    return {}


def check_plugs(config, loss, weigher, sampler, samplers_with_log_q=(), regards=False):
    """Refuse plugs that do not go together.

    Parameters
    ----------
    config : TrainConfig, resolved
    loss, weigher, sampler : the plugs, or their classes; of a class only what holds whatever the options is looked at
    samplers_with_log_q : sequence of str, the remedy to name
    regards : bool, the weigher looks at whole groups
    """
    for kind, plug in (("loss", loss), ("weigher", weigher)):
        if getattr(plug, "needs_log_q", False) is True and getattr(sampler, "gives_log_q", None) is False:
            others = in_words(samplers_with_log_q, "or") or "popularity"
            raise ConfigError(
                f"{kind} {getattr(config, kind)!r} needs the probabilities of its draws, which sampler "
                f"{config.sampler!r} cannot give; choose --sampler {others}"
            )
    if getattr(loss, "needs_exclusion", False) is True and config.exclude == "none":
        raise ConfigError(
            f"loss {config.loss!r} sums over the words that are not the positive, so a negative must not be it; "
            "leave --exclude none out, or take --exclude target"
        )
    if config.absolute_softmax and config.loss in _NEVER_NO:
        raise ConfigError(
            f"--absolute-softmax makes no sense with loss {config.loss!r}: it says no by a negative logit, and |s| is "
            "never one; take a softmax (--loss sampled-softmax) or leave it out"
        )
    if config.weigh_positive and config.loss in _POSITIVE_APART:
        raise ConfigError(
            f"--weigh-positive has no effect with loss {config.loss!r}, which has the positive in no sum with the "
            "negatives; take a softmax (--loss relaxed) or leave it out"
        )
    if config.share_negatives == "window":
        _check_window(config, weigher, sampler, regards)
    if config.private_rows and (config.method == "exact" or config.sampler == "kernel"):
        raise ConfigError(NO_PRIVATE_ROWS)
    if config.tree == "update" and config.workers is not None and config.workers > 1:
        raise ConfigError(
            f"--tree update keeps one tree in step with every change of a row, which {config.workers} workers cannot "
            "share; add --workers 1 or use --tree bulk"
        )


def _check_window(config, weigher, sampler, regards):
    """Refuse what cannot share negatives by a window: its pairs have several centres, and go both ways."""
    flag, instead = "--share-negatives window", "take --share-negatives centre or leave it out"
    if config.source == "pairs":
        raise ConfigError(f"{flag} is for text and baskets: a row of pairs is no window; {instead}")
    if config.ordered:
        raise ConfigError(f"{flag} takes every pair from its other side, which --ordered forbids; {instead}")
    if not getattr(sampler, "blind", False):
        raise ConfigError(
            f"{flag} draws once for several centres, and sampler {config.sampler!r} draws for one; {instead}, or "
            "choose --sampler popularity"
        )
    if regards or getattr(weigher, "parameters", ()):
        raise ConfigError(f"{flag} has several centres, and weigher {config.weigher!r} looks at one; {instead}")
    if config.exclude == "window":
        raise ConfigError(
            f"--exclude window has no effect with {flag}, whose one positive is the word in the middle; take --exclude "
            "target"
        )


def check_diagnose(config):
    """Refuse to diagnose a loss that draws nothing."""
    if config.sampler is None:
        raise ConfigError(
            f"nothing to diagnose: loss {config.loss!r} draws no negatives, and its gradient is the full softmax's; "
            "leave --diagnose out"
        )


def about_cosines(config):
    """Return what whoever compares a run's vectors must know (str): that their cosines mean nothing; else None.

    config : TrainConfig, resolved
    """
    if not config.absolute_softmax or config.source != "text":
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
