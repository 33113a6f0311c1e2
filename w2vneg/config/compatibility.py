"""Checks which options go together: options without a reader are cleared or refused, contradictory ones are refused.

The traits that plugs declare decide (`w2vneg.objectives.plugs`); no plug is named here. Every error says what to do
instead and is raised before any work.
"""

from ..ground.errors import ConfigError
from ..ground.option import flag_of, options_of
from ..kernels.contracts import binds
from ..objectives.samplers import SAMPLERS
from .options import OF_RANKS, l2_strengths, shares_in
from .table import KINDS, table

_AHEAD = "draws made ahead (--method exact or pool, --sampler kernel)"
NO_PRIVATE_ROWS = f"{_AHEAD} come from the shared rows; leave --private-rows out or give 0"

# option about negatives -> value allowed with a loss without negatives, as it changes nothing
_OF_NEGATIVES = dict(sampler=None, weigher="none", negatives=None, share_negatives="no", exclude="none", private_rows=0)


def without_negatives(loss):
    """Return a dict that sets the options about negatives to None if a loss class draws none; else {}."""
    return dict.fromkeys(_OF_NEGATIVES.keys() - {"private_rows"}) if loss.dense or loss.paths else {}


def refuse_unread(plugs, given):
    """Raise ConfigError if `given` has an option without a reader; plugs : dict of kind -> options, or None."""
    loss, sampled = plugs["loss"], plugs["sampler"] is not None
    read = {name for chosen in plugs.values() if chosen is not None for name in options_of(chosen.plug)}
    for name, item in table().items():
        value = given.get(name)
        if value is None:
            continue
        readers, flag = item.metadata["readers"], flag_of(item, value)
        of_negatives = name in _OF_NEGATIVES or ("loss" not in readers and readers.keys() & {"sampler", "weigher"})
        of_negatives = loss.plug.dense if name == "private_rows" else of_negatives
        if not sampled and of_negatives and value != _OF_NEGATIVES.get(name):
            how, instead = "scores every word", "--loss sampled-softmax for a softmax over a few"
            if loss.plug.paths:
                how, instead = "decides along paths of a tree", "a loss that draws them, such as --loss ns"
            what = f"{flag} has no effect with loss {loss.name!r}, which {how} and draws no negatives"
            raise ConfigError(f"{what}; leave it out, or use {instead}")
        if name in given.plugs and name not in read:
            kind, (first, *others) = next(iter(readers.items()))
            if kind == "source":
                data = in_words(KINDS[kind][name].data for name in readers[kind])
                raise ConfigError(f"{flag} has no effect here: it is for {data}; leave it out")
            plural = {"loss": "losses", "inputs": "inputs"}.get(kind, f"{kind}s")
            who = f"{plural} {in_words([first, *others])} read" if others else f"{kind} {first} reads"
            what = f"{flag} has no effect with {kind} {plugs[kind] and plugs[kind].name!r}: only {who} it"
            raise ConfigError(f"{what}; use --{kind} {first} or leave {flag} out")


def in_words(names, last="and"):
    """Join names into a list in words: a, b and c."""
    names = list(names)
    return f" {last} ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else "".join(names)


def check_plugs(config, loss, weigher, sampler):
    """Raise ConfigError if plugs, or classes of plugs, do not go together; config : RunSpec"""
    for kind, plug in (("loss", loss), ("weigher", weigher)):
        if plug.needs_log_q is True and sampler.gives_log_q is False:
            others = in_words([name for name in SAMPLERS if SAMPLERS[name].gives_log_q], "or")
            what = f"{kind} {getattr(config, kind).name!r} needs the probabilities of its draws"
            raise ConfigError(f"{what}, which sampler {config.sampler.name!r} cannot give; choose --sampler {others}")
    if loss.needs_exclusion is True and config.exclude == "none":
        what = f"loss {config.loss.name!r} sums over all words but the positive, so the positive must not be a negative"
        raise ConfigError(f"{what}; leave --exclude none out, or use --exclude target")
    if getattr(config.weigher, "weigh_positive", False) and not loss.takes_positive_weight:
        why = "which does not sum the positive with the negatives"
        remedy = "use a softmax (--loss relaxed) or leave it out"
        raise ConfigError(f"--weigh-positive has no effect with loss {config.loss.name!r}, {why}; {remedy}")
    if config.inputs.plug.around:
        flag = f"--inputs {config.inputs.name}"
        for kind, plug in (("loss", loss), ("weigher", weigher), ("sampler", sampler)):
            looks = kind == "weigher" and binds("prepare_group", _class_of(plug))
            if looks or plug.needs_centre or any(not name.endswith("_out") for name in plug.parameters):
                what = f"{kind} {getattr(config, kind).name!r} needs a single centre per group, and {flag} has several"
                raise ConfigError(f"{what}; use another {kind} or leave it out")
        if config.exclude == "window":
            what = f"--exclude window has no effect with {flag}, whose one positive is the word in the middle"
            raise ConfigError(f"{what}; use --exclude target")
        if config.exclude == "known":
            what = "--exclude known looks up the neighbours of a single centre"
            raise ConfigError(f"{what}, and {flag} has several; leave it out")
    if config.share_negatives == "window" and (reason := no_window(config, weigher, sampler)):
        raise ConfigError(reason)
    if config.private_rows and config.sampler.plug.draws_ahead(config.sampler):
        raise ConfigError(NO_PRIVATE_ROWS)


def no_window(config, weigher, sampler):
    """Return why negatives cannot be shared by a window (str), which has several centres; None if they can."""
    flag, instead = "--share-negatives window", "use --share-negatives centre or leave it out"
    if config.inputs.plug.composes:
        return f"{flag} is for centres with a row of their own, not for --inputs {config.inputs.name}; {instead}"
    if not config.traversal.windows:
        return f"{flag} is for text and baskets: a row of pairs is not a window; {instead}"
    if getattr(config.source, "ordered", False):
        return f"{flag} swaps the two sides of every pair, which --ordered forbids; {instead}"
    if not sampler.context_free:
        name = config.sampler.name
        what = f"{flag} draws once for several centres, and sampler {name!r} draws for one centre"
        return f"{what}; {instead}, or choose --sampler popularity"
    if binds("prepare_group", _class_of(weigher)) or weigher.parameters:
        return f"{flag} has several centres, and weigher {config.weigher.name!r} needs a single one; {instead}"
    if config.exclude == "window":
        what = f"--exclude window has no effect with {flag}, whose one positive is the word in the middle"
        return f"{what}; use --exclude target"
    return None


def _class_of(plug):
    return plug if isinstance(plug, type) else type(plug)


def check_spec(config, given):
    """Raise ConfigError if options do not fit, whatever is drawn; config : RunSpec; given : TrainConfig."""
    inputs, flag = config.inputs.plug, f"--inputs {config.inputs.name}"
    if inputs.of_text and not config.traversal.of_words:
        noun = config.traversal.noun
        raise ConfigError(f"{flag} uses the spelling of words, and names of {noun}s are not words; leave it out")
    if inputs.around and not config.traversal.windows:
        raise ConfigError(f"{flag} makes a vector from the words around, and pairs have none; leave it out")
    if inputs.around and config.traversal.paired and config.source.ordered:
        what = f"{flag} with --ordered would predict a node from the nodes before it"
        raise ConfigError(f"{what}, and random walks give only the nodes after it; leave one of the two out")
    if inputs.composes and config.loss.plug.dense:
        what = f"loss {config.loss.name!r} scores every word against many rows of centres at once, and {flag} has none"
        raise ConfigError(f"{what}; use --loss sampled-softmax, or leave it out")
    if inputs.composes and config.sampler is not None and config.sampler.plug.draws_ahead(config.sampler):
        instead = "--method rolling" if "method" in options_of(config.sampler.plug) else "--sampler popularity"
        what = f"{_AHEAD} use the rows of centres, and {flag} has no such rows"
        raise ConfigError(f"{what}; use {instead}, or leave it out")
    if config.absolute_softmax and not config.loss.plug.takes_absolute_logits:
        what = f"--absolute-softmax makes no sense with loss {config.loss.name!r}: it rejects by a negative logit"
        raise ConfigError(f"{what}, and |s| is never negative; use a softmax (--loss sampled-softmax) or leave it out")
    if given.get("start") == "spectral":
        what = "--start spectral sets rows of targets for signed scores"
        if config.loss.plug.paths:
            raise ConfigError(f"{what}, and loss {config.loss.name!r} has inner nodes of a tree instead; leave it out")
        if config.absolute_softmax:
            raise ConfigError(f"{what}, and an absolute softmax has no signs; leave one of the two out")
    if given.l2_power is not None and not any(l2_strengths(config.l2)):
        raise ConfigError("--l2-power has no effect without a penalty; give --l2, or leave it out")
    if given.bias and not l2_strengths(config.l2)[0]:
        raise ConfigError("--bias needs a penalty on rows of centres; give --l2, or leave it out")
    if given.bias and config.dim == 1:
        raise ConfigError("--bias fixes the only number of --dim 1, so that none is left to train; give a larger --dim")


def check_diagnose(config):
    """Raise ConfigError if a run cannot be diagnosed: its groups have several centres, or it draws nothing."""
    if config.inputs.plug.around:
        what = f"--diagnose looks at vectors of single centres, and --inputs {config.inputs.name} has several"
        raise ConfigError(f"{what}; leave it out")
    if config.sampler is None:
        what = f"nothing to diagnose: loss {config.loss.name!r} draws no negatives, and its gradient is exact"
        raise ConfigError(f"{what}; leave --diagnose out")


def about_cosines(config):
    """Return a caution if the cosines of a run's vectors mean nothing (str); else None."""
    if not config.absolute_softmax or not config.traversal.of_words:
        return None
    cost = ""
    if config.sampler is not None and config.sampler.name == "kernel":
        time = "an epoch of 17 million words takes 7 to 45 minutes on two cores with 15,000 words known"
        cost = f": {time}; --loss css-is takes half a minute and gives vectors as good"
    what = "these vectors were trained on |x . y|, which does not change when a vector changes its sign"
    remedy = f"to compare vectors, train with --signed-softmax, which takes as long{cost}"
    return f"{what}, so their cosines mean nothing; {remedy}"


def settle_ranks(config, given):
    """Return the defaults of options of ranks left open (dict); ConfigError if given ones do not fit the run."""
    if config.engine == "local":
        for name in OF_RANKS:
            if getattr(given, name) is not None and (name, getattr(given, name)) != ("ranks", 1):
                what = f"--{name.replace('_', '-')} has no effect with --engine local"
                raise ConfigError(f"{what}; add --engine ray or virtual, or leave it out")
        return {}
    if given.ranks is None:
        raise ConfigError(f"--engine {config.engine} needs the number of ranks; add --ranks N")
    if config.ray_address is not None and config.engine != "ray":
        raise ConfigError("--ray-address is for --engine ray; leave it out")
    if config.rank_shares is not None and len(shares_in(config.rank_shares)) != config.ranks:
        given, flag = len(shares_in(config.rank_shares)), f"--rank-shares {config.rank_shares}"
        raise ConfigError(f"{flag} has {given} numbers for {config.ranks} ranks; give one for each")
    flag, several = f"--engine {config.engine}", config.ranks > 1
    if config.loss.plug.dense:
        what = f"loss {config.loss.name!r} changes every row at each step, which ranks cannot do in parallel"
        raise ConfigError(f"{what}; use --loss sampled-softmax, or leave {flag} out")
    if several and config.sampler is not None and config.sampler.plug.needs_neighbours:
        what = f"--sampler {config.sampler.name} counts neighbours in all data, and each rank has only a share"
        raise ConfigError(f"{what}; use another sampler, or leave {flag} out")
    if several and config.exclude == "known":
        what = "--exclude known looks pairs up in all data, and each rank has only a share"
        raise ConfigError(f"{what}; use --exclude window or target, or leave {flag} out")
    return {name: value for name, value in OF_RANKS.items() if getattr(config, name) is None}
