"""Options of a run by several ranks, each of which trains on a share of the data, and what cannot be trained so."""

import itertools
import math
from dataclasses import dataclass, replace

from ..ground.errors import ConfigError
from ..ground.option import option

ENGINES = ("local", "virtual", "ray")
DTYPES = ("float16", "float32")


def _check_every(text):
    if text != "auto" and not (text.isdecimal() and 0 < int(text) < 2**62):
        raise ConfigError(f"exchange_every must be a number of tokens or auto, not {text!r}")


def shares_in(text):
    """Return the numbers of a text like 1,1,0.5, a list of float above 0; ConfigError if it is another."""
    try:
        shares = [float(part) for part in text.split(",")]
    except ValueError:
        shares = []
    if not shares or not all(0 < share < math.inf for share in shares):
        raise ConfigError(f"rank_shares takes numbers above 0 with commas between, as 1,1,0.5, not {text!r}")
    return shares


def _from_number(value):
    if isinstance(value, bool) or not isinstance(value, int):
        raise ConfigError(f"exchange_every must be a number of tokens or auto, not {value!r}")
    return str(value)


@dataclass(frozen=True, kw_only=True)
class RanksOptions:
    """Who trains, and how often ranks exchange what they have learnt; see docs/scaling.md."""

    engine: str = option(
        "local",
        "Where to train: local, on this machine; ray, on ranks of a Ray cluster; virtual, such ranks in turn, here.",
        choices=ENGINES,
        group="ranks",
    )
    ranks: int | None = option(
        None, "Number of ranks that share the data.", at_least=1, at_most=1024, group="ranks", default_text="local: 1"
    )
    rank_shares: str | None = option(
        None,
        "Relative share of the data of each rank, less for slow ones: 1,1,0.5.",
        metavar="NUMBERS",
        check=lambda text: text is None or shares_in(text),
        group="ranks",
        default_text="equal shares",
    )
    ray_address: str | None = option(
        None,
        "Running Ray cluster: HOST:PORT or auto.",
        metavar="ADDRESS",
        group="ranks",
        default_text="a new one on this machine",
    )
    exchange_every: str | None = option(
        None,
        "Tokens that a rank trains on between exchanges.",
        metavar="TOKENS|auto",
        check=lambda text: text is None or _check_every(text),
        coerce=_from_number,
        group="ranks",
        default_text="auto",
    )
    exchange_dtype: str | None = option(
        None, "Number format of exchanges.", choices=DTYPES, group="ranks", default_text="float16"
    )
    rank_alpha: float | None = option(
        None,
        "Factor on alpha, as ranks exchange seldom.",
        above=0,
        group="ranks",
        default_text="by the number of ranks and exchanges",
    )


_OF_RANKS = {  # option -> what it is where it is left open
    "ranks": 1,
    "rank_shares": None,
    "ray_address": None,
    "exchange_every": "auto",
    "exchange_dtype": "float16",
    "rank_alpha": None,
}


def settle_ranks(config, given):
    """Return what becomes of the options of ranks that are left open (dict); config : RunSpec; given : TrainConfig.

    Raises
    ------
    ConfigError
        If one was given that nobody reads, or these ranks cannot train this.
    """
    if config.engine == "local":
        for name in _OF_RANKS:
            if getattr(given, name) is not None and (name, getattr(given, name)) != ("ranks", 1):
                raise ConfigError(
                    f"--{name.replace('_', '-')} has no effect with --engine local; add --engine ray or virtual, or "
                    "leave it out"
                )
        return {}
    if given.ranks is None:
        raise ConfigError(f"--engine {config.engine} needs the number of ranks; add --ranks N")
    if config.ray_address is not None and config.engine != "ray":
        raise ConfigError("--ray-address is for --engine ray; leave it out")
    if config.rank_shares is not None and len(shares_in(config.rank_shares)) != config.ranks:
        given, flag = len(shares_in(config.rank_shares)), f"--rank-shares {config.rank_shares}"
        raise ConfigError(f"{flag} has {given} numbers for {config.ranks} ranks; give one for each")
    _check_sharing(config)
    return {name: value for name, value in _OF_RANKS.items() if getattr(config, name) is None}


def borders(config):
    """Return where each rank's share begins and ends, in parts of the whole: list of float, (ranks + 1,), 0 … 1."""
    shares = [1.0] * config.ranks if config.rank_shares is None else shares_in(config.rank_shares)
    ends = list(itertools.accumulate(shares, initial=0.0))
    return [end / ends[-1] for end in ends]


def without_ranks(config):
    """Return a TrainConfig with the same options for a run on this machine alone."""
    return replace(config, engine="local", **dict.fromkeys(_OF_RANKS))


def workers_of(config, cores):
    """Return the workers of a rank (int) where none are given; cores : int, of this machine."""
    here = config.engine == "ray" and config.ray_address is None and config.ranks
    return max(1, cores // config.ranks) if here else cores


def _check_sharing(config):
    """Refuse what each step needs the whole data for, or the whole model."""
    flag = f"--engine {config.engine}"
    if config.loss.plug.dense:
        raise ConfigError(
            f"loss {config.loss.name!r} changes every row at each step, which no two ranks can do side by side; take "
            f"--loss sampled-softmax, or leave {flag} out"
        )
    if config.ranks > 1 and config.sampler is not None and config.sampler.plug.needs_neighbours:
        raise ConfigError(
            f"--sampler {config.sampler.name} counts neighbours in the whole data, of which each rank has a share; "
            f"take another, or leave {flag} out"
        )
    if config.ranks > 1 and config.exclude == "known":
        raise ConfigError(
            "--exclude known looks pairs up in the whole data, of which each rank has a share; take --exclude window "
            f"or target, or leave {flag} out"
        )
