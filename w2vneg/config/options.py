"""Options that belong to no plug: choice of plugs, objective, model, corpus, run and ranks."""

import itertools
import math
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

from ..ground.errors import ConfigError
from ..ground.option import option
from ..ground.registry import Sharing

SHARINGS = tuple(sharing.name.lower() for sharing in Sharing)
EXCLUSIONS = ("none", "target", "window", "known")
ENGINES = ("local", "virtual", "ray")
DTYPES = ("float16", "float32")
L2_POWER = 0.5  # if there is a penalty
_STRONGER = 1.2, 1.4, 2.0  # factors on the penalty to try if histories are short
_NOISE = 2.1  # mean of both strengths at which almost no chance patterns are learnt
_INPUTS = {"cbow": "window", "skipgram": "row", "skip-gram": "row", "sg": "row", "fasttext": "subwords"}
_objective, _model, _corpus, _run, _ranks = (  # options that are left open unless they are given
    partial(option, None, group=group) for group in ("objective", "model", "corpus", "run", "ranks")
)


def _sharing(value):
    if not isinstance(value, bool):
        raise ConfigError(f"share_negatives must be {', '.join(SHARINGS)}, true or false, not {value!r}")
    return "centre" if value else "no"


def _numbers(text):
    """Return the numbers in a text with commas between them, a list of float; [] if it is anything else."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        return []


def l2_strengths(text) -> tuple[float, float]:
    """Return λ of the rows of centres and of targets, (float, float); ConfigError unless there are one or two."""
    values = _numbers(text)
    if not 1 <= len(values) <= 2 or not all(0 <= value < math.inf for value in values):
        raise ConfigError(f"l2 {text!r} must be a number of at least 0, or two with a comma: 1,1.1; 0 is none")
    return values[0], values[-1]


def penalties_to_try(l2):
    """Return the four penalties to try if histories are short, from `l2` up (list of str)."""
    return [l2, *(",".join(f"{more * strength:g}" for strength in l2_strengths(l2)) for more in _STRONGER)]


def beside_popularity(config, tried=False):
    """Return a remedy for a model of items that popularity beats (str): if rows have a penalty, a stronger one.

    Shorter histories need a stronger penalty, for lists closer to those of popularity; tried : bool, whether one was.
    """
    strengths = l2_strengths(getattr(config, "l2", None) or "0")
    mean = math.sqrt(strengths[0] * strengths[1]) or max(strengths)
    more = min(2.0, _NOISE / mean) if mean and not tried else 1.0
    l2 = ",".join(f"{more * strength:.2g}" for strength in strengths)
    return f"{f'--l2 {l2} if histories are short, ' * (more > 1.1)}more --epochs, or check the data"


def _check_inputs(name):
    if name in _INPUTS:
        raise ConfigError(f"inputs {name!r} is called {_INPUTS[name]!r} here")


def _check_every(text):
    if text != "auto" and not (text.isdecimal() and 0 < int(text) < 2**62):
        raise ConfigError(f"exchange_every must be a number of tokens or auto, not {text!r}")


def shares_in(text):
    """Return the numbers in a text such as 1,1,0.5, a list of float above 0; ConfigError if it is anything else."""
    shares = _numbers(text)
    if not shares or not all(0 < share < math.inf for share in shares):
        raise ConfigError(f"rank_shares takes numbers above 0 with commas between, such as 1,1,0.5, not {text!r}")
    return shares


@dataclass(frozen=True, kw_only=True)
class Choices:
    """Names of the plugs: loss, sampler, inputs, weigher and source."""

    loss: str | None = _objective(
        "Loss or preset; 'w2vneg objectives' lists them.",
        metavar="NAME",
        common=True,
        default_text="text: relaxed, graphs: ns, items: us, users and items: top-n",
    )
    sampler: str | None = _objective(
        "Noise sampler; 'w2vneg objectives' lists them.", metavar="NAME", common=True, default_text="the preset's"
    )
    inputs: str = option(
        "row",
        "What makes the input vector: row (skip-gram), window (CBOW), subwords (fastText) or window+subwords.",
        metavar="NAME",
        check=_check_inputs,
        group="objective",
    )
    weigher: str | None = _objective(
        "How negatives are weighted; 'w2vneg objectives' lists weighers.",
        metavar="NAME",
        default_text="the preset's, mostly none",
    )
    source: str = option("text", "The data source; set by the option that names it.", group=None)


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """Options of the objective, model, corpus, run and ranks that belong to no plug; see each field's help."""

    preset: str | None = option(
        None, "Name by which the objective was chosen, for reports; set by `resolved`.", group=None
    )
    absolute_softmax: bool | None = _objective(
        "Take |x . y| as the logit, as in eq. 11 of the kernel paper.",
        negative_flag="signed-softmax",
        default_text="the preset's, mostly no",
    )
    plugin: str | None = _objective(
        "First import a module or file that registers your own losses, samplers or weighers.",
        metavar="NAME|FILE",
        default_text="none",
    )
    negatives: int | None = _objective(
        "Negative samples per positive. If shared, per centre or window.",
        at_least=1,
        at_most=10000,
        common=True,
        default_text="ns: 5, relaxed: 10, …",
    )
    share_negatives: str | None = _objective(
        "centre: one set of negatives for all positives of a centre; the fastest, with fewer comparisons. window: one "
        "set for all words around a word, each compared with all of it; for noise that does not depend on the centre. "
        "The flag alone means centre.",
        coerce=_sharing,
        flag_value="centre",
        default_text="no, ns: window if possible",
        choices=SHARINGS,
    )
    exclude: str | None = _objective(
        "Negatives to skip: none; target, the positive itself; window, any positive of the centre; known, any word "
        "seen near the centre anywhere in the data.",
        default_text="the preset's",
        choices=EXCLUSIONS,
    )
    l2: str | None = _objective(
        "L2 penalty on rows of centres and targets. One number, or two such as 1,1.1; 0 is none.",
        metavar="LU[,LV]",
        common=True,
        default_text="the preset's, mostly 0; top-n, short histories: chosen on held-out pairs",
        coerce=lambda value: ",".join(map(str, value)) if isinstance(value, tuple | list) else str(value),
        check=l2_strengths,
    )
    l2_power: float | None = _objective(
        "Exponent of a row's penalty, which grows as c ^ l2-power with its number of pairs c.",
        at_least=0.0,
        at_most=1.0,
        default_text=f"{L2_POWER}",
    )
    bias: float | None = _objective(
        "Give targets a bias term: the first number of every centre's row is X, and the first of a target's its bias.",
        at_least=0.0,
        default_text="the preset's, mostly 0",
    )
    dim: int = option(100, "Vector size.", at_least=1, at_most=65536, common=True, group="model")
    readout: str | None = _model(
        "Read-out: in, out, sum, both or context. It makes vectors from the two trained matrices. Add +letters to use "
        "spelling too; 'w2vneg objectives' lists all.",
        metavar="NAME",
        common=True,
        default_text="text: both, items: in",
    )
    rectangular: bool = option(False, "Centres and targets differ in kind; set by the source.", group=None)
    min_count: int | None = _corpus(
        "Minimum count of words or items. Rarer ones are dropped.",
        at_least=1,
        common=True,
        default_text="text: 5, items: 1",
    )
    max_vocab: int | None = _corpus(
        "Keep only the most frequent words or items.", at_least=2, common=True, default_text="all"
    )
    encoding: str = option("utf-8", "Text encoding of the data.", metavar="NAME", group="corpus")
    lowercase: bool = option(False, "Lower-case the text.", negative_flag="keep-case", common=True, group="corpus")
    epochs: int | None = _run(
        "Passes over the data.", at_least=1, common=True, default_text="5, top-n: 3 (many pairs) to 50"
    )
    alpha: float | None = _run(
        "Initial learning rate; it decays linearly.",
        above=0,
        common=True,
        default_text="the preset's: 0.05, on text us 0.1, nce 0.025, mle 0.0125, ranking and hinge 0.006, …; half for "
        "graphs, twice for CBOW",
    )
    min_alpha: float | None = _run("Final learning rate.", at_least=0, default_text="alpha / 10000")
    workers: int | None = _run(
        "Parallel workers. Results repeat to the bit with one, or with several if all rows are private.",
        at_least=1,
        at_most=1024,
        common=True,
        default_text="all cores",
    )
    seed: int = option(1, "Random seed.", at_least=0, at_most=2**63 - 1, common=True, group="run")
    private_rows: int | None = _run(
        "Frequent rows that each worker copies, and merges after every round; 0 is plain Hogwild.",
        at_least=0,
        default_text="all if few, else 500; users: none, items: all up to 32,000",
    )
    bounded_steps: bool | None = _run(
        "Cap each update at about one unit of logit. Switch off for experiments only.",
        negative_flag="unbounded-steps",
        default_text="yes, top-n: no",
    )
    engine: str = option(
        "local",
        "Where to train: local, on this machine; ray, on ranks of a Ray cluster; virtual, on ranks simulated here.",
        choices=ENGINES,
        group="ranks",
    )
    ranks: int | None = _ranks(
        "Number of ranks that share the data.", at_least=1, at_most=1024, default_text="local: 1"
    )
    rank_shares: str | None = _ranks(
        "Relative share of the data of each rank, less for slow ones, such as 1,1,0.5.",
        metavar="NUMBERS",
        check=shares_in,
        default_text="equal shares",
    )
    ray_address: str | None = _ranks(
        "Running Ray cluster: HOST:PORT or auto.", metavar="ADDRESS", default_text="a new one on this machine"
    )
    exchange_every: str | None = _ranks(
        "Tokens that a rank trains on between exchanges.",
        metavar="TOKENS|auto",
        check=_check_every,
        coerce=str,
        default_text="auto",
    )
    exchange_dtype: str | None = _ranks("Number format of exchanges.", choices=DTYPES, default_text="float16")
    rank_alpha: float | None = _ranks(
        "Factor on alpha, as ranks exchange rarely.", above=0, default_text="by the number of ranks and exchanges"
    )

    @property
    def shaping(self) -> dict[str, Any]:
        """The options that affect the encoded data, by name, as `data.inputs.encode_input` takes them (dict)."""
        return {one.name: getattr(self, one.name) for one in fields(RunOptions) if one.metadata["group"] == "corpus"}


OF_RANKS = {  # option -> value if it is left open
    **{"ranks": 1, "exchange_every": "auto", "exchange_dtype": "float16"},
    **dict.fromkeys(("rank_shares", "ray_address", "rank_alpha")),
}


def borders(config):
    """Return the borders of the ranks' shares, as fractions of the data: list of float, (ranks + 1,), 0 … 1."""
    shares = [1.0] * config.ranks if config.rank_shares is None else shares_in(config.rank_shares)
    ends = list(itertools.accumulate(shares, initial=0.0))
    return [end / ends[-1] for end in ends]


def without_ranks(config):
    """Return a TrainConfig with the same options for a run on this machine alone."""
    return replace(config, engine="local", **dict.fromkeys(OF_RANKS))


def workers_of(config, cores):
    """Return the default number of workers of a rank (int); cores : int, of this machine."""
    here = config.engine == "ray" and config.ray_address is None and config.ranks
    return max(1, cores // config.ranks) if here else cores
