"""What a run can be told: the only home of defaults. The command line's options are made from these fields.

A field left at None is filled in by `TrainConfig.resolved` from the preset that the loss names, so that
``--loss relaxed`` alone means what the papers mean by it and every part can still be chosen by itself.
"""

import dataclasses
import math
from dataclasses import dataclass, field

from .errors import ConfigError, did_you_mean

PRESETS = {  # loss -> what it fills in; chosen by measurement, see docs/measurements.md
    "ns": {"sampler": "popularity", "negatives": 5, "share_negatives": False, "alpha": 0.05, "exclude": "target"},
    "relaxed": {"sampler": "boltzmann", "negatives": 10, "share_negatives": False, "alpha": 0.05, "exclude": "none"},
}
_OTHER = {"sampler": "popularity", "negatives": 5, "share_negatives": False, "alpha": 0.05, "exclude": "none"}
_BOLTZMANN = {"temp": 1.0, "degeneracy": "popularity", "method": "rolling", "candidates": 64, "replaced": 4}
EXCLUSIONS = ("none", "target")
METHODS = ("rolling", "sir", "exact")
DEGENERACIES = ("uniform", "popularity")


def option(kind, default, help, *, at_least=None, above=None, below=None, at_most=None, off=None, group, shown=None):
    """Declare one field: its type, default, help and the range that `TrainConfig` holds it to.

    off : str, the flag that switches a bool off; shown : str, the default as the help prints it
    """
    if kind is int and at_most is None:
        at_most = 2**31 - 1  # what compiled code counts with, and more than anybody needs
    limits = {"at_least": at_least, "above": above, "below": below, "at_most": at_most}
    about = {"kind": kind, "help": help, "limits": limits, "off": off, "group": group, "shown": shown}
    return field(default=default, metadata=about)


@dataclass(frozen=True, kw_only=True)
class TrainConfig:
    """The options of a training run; see each field's help. ConfigError on a value out of range."""

    loss: str = option(str, "relaxed", "Loss by name: ns, relaxed.", group="objective")
    sampler: str | None = option(
        str,
        None,
        "Where negatives come from: uniform, popularity, boltzmann.",
        group="objective",
        shown="ns: popularity, relaxed: boltzmann",
    )
    weigher: str = option(
        str, "none", "How much each negative counts: none, importance (self-normalised).", group="objective"
    )
    temp: float | None = option(
        float,
        None,
        "Temperature T of Boltzmann sampling; inf leaves the degeneracy distribution alone.",
        above=0,
        group="objective",
        shown="1.0",
    )
    degeneracy: str | None = option(
        str,
        None,
        "What Boltzmann sampling multiplies e^(s/T) by: uniform, popularity (counts ^ noise-exponent), "
        "or a file of word<TAB>weight.",
        group="objective",
        shown="popularity",
    )
    method: str | None = option(
        str,
        None,
        "How Boltzmann negatives are drawn: rolling or sir (among candidates), exact (all words).",
        group="objective",
        shown="rolling",
    )
    candidates: int | None = option(
        int,
        None,
        "Candidates M among which rolling and sir draw.",
        at_least=1,
        at_most=65536,
        group="objective",
        shown="64",
    )
    replaced: int | None = option(
        int, None, "Candidates that rolling replaces at each centre.", at_least=1, group="objective", shown="4"
    )
    noise_exponent: float = option(
        float, 0.75, "Exponent on counts in the popularity distribution.", at_least=-5, at_most=5, group="objective"
    )
    negatives: int | None = option(
        int,
        None,
        "Negatives for each positive (or for each centre, when shared).",
        at_least=1,
        at_most=10000,
        group="objective",
        shown="ns: 5, relaxed: 10",
    )
    share_negatives: bool | None = option(
        bool,
        None,
        "One set of negatives for all positives of a centre: faster, or more negatives in the same time.",
        off="no-share-negatives",
        group="objective",
        shown="no",
    )
    exclude: str | None = option(
        str,
        None,
        "What a negative must not be: target (one that is the positive itself does not count) or none.",
        group="objective",
        shown="ns: target, relaxed: none",
    )
    dim: int = option(int, 100, "Length of the vectors.", at_least=1, at_most=65536, group="model")
    window: int = option(
        int, 5, "Positives reach this many tokens to each side.", at_least=1, at_most=1000, group="model"
    )
    dynamic_window: bool = option(
        bool,
        True,
        "Draw each centre's window from 1 … window, as word2vec does, or keep it fixed.",
        off="fixed-window",
        group="model",
    )
    subsample: float = option(
        float, 1e-4, "Frequency above which words are thinned out; 0 keeps all.", at_least=0, below=1, group="model"
    )
    min_count: int = option(int, 5, "Leave out words seen less often.", at_least=1, group="corpus")
    max_vocab: int | None = option(
        int, None, "Keep only this many of the most frequent words.", at_least=2, group="corpus", shown="all"
    )
    encoding: str = option(str, "utf-8", "Encoding of the corpus.", group="corpus")
    lowercase: bool = option(bool, False, "Lower-case the corpus.", off="keep-case", group="corpus")
    epochs: int = option(int, 5, "Passes over the corpus.", at_least=1, group="training")
    alpha: float | None = option(
        float, None, "Learning rate at the start; it falls linearly.", above=0, group="training", shown="0.05"
    )
    min_alpha: float | None = option(
        float, None, "Learning rate at the end.", at_least=0, group="training", shown="alpha / 10000"
    )
    workers: int | None = option(
        int,
        None,
        "Parallel workers. A seed repeats to the bit with one worker; with several, while all rows are private.",
        at_least=1,
        at_most=1024,
        group="training",
        shown="all cores",
    )
    seed: int = option(int, 1, "Seed of every random choice.", at_least=0, at_most=2**63 - 1, group="training")
    private_rows: int | None = option(
        int,
        None,
        "Rows of the most frequent words of which each worker trains a copy, merged after every round; "
        "0 is plain Hogwild.",
        at_least=0,
        group="training",
        shown="all, up to 64 MB a worker and matrix and an eighth of memory",
    )
    bounded_steps: bool = option(
        bool,
        True,
        "Hold the step of a centre to about one unit of logit; off only for experiments.",
        off="unbounded-steps",
        group="training",
    )

    def __post_init__(self):
        for item in dataclasses.fields(self):
            object.__setattr__(self, item.name, _checked(item, getattr(self, item.name)))
        _check_choice("method", self.method, METHODS)
        _check_choice("exclude", self.exclude, EXCLUSIONS)

    @classmethod
    def from_mapping(cls, mapping, where=None):
        """Build from names and values; `where` (a file) is named in what is said about a wrong one."""
        place = f"{where}: " if where else ""
        if not isinstance(mapping, dict):
            raise ConfigError(f"{place}expected options by name, found {str(mapping)[:40]!r}")
        known = [f.name for f in dataclasses.fields(cls)]
        values = {}
        for name, value in mapping.items():
            key = name.replace("-", "_")
            if key not in known:
                raise ConfigError(f"{place}unknown option {name!r}{did_you_mean(key, known, shown=0)}")
            values[key] = value
        try:
            return cls(**values)
        except ConfigError as error:
            raise ConfigError(f"{place}{error}") from error

    def as_dict(self):
        """Return the options as values that JSON can hold: a given degeneracy as a list, an infinite temp as "inf"."""
        values = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        if isinstance(self.degeneracy, tuple):
            values["degeneracy"] = list(self.degeneracy)
        if self.temp is not None and math.isinf(self.temp):
            values["temp"] = "inf"
        return values

    def resolved(self, cores=1):
        """Return a copy in which nothing is left open (but `private_rows`, which depends on the vocabulary)."""
        preset = PRESETS.get(self.loss, _OTHER)
        values = {name: preset[name] for name in preset if getattr(self, name) is None}
        sampler = values.get("sampler", self.sampler)
        if sampler == "boltzmann":
            values |= {name: v for name, v in _BOLTZMANN.items() if getattr(self, name) is None}
            if math.isinf(values.get("temp", self.temp)) and isinstance(values.get("degeneracy", self.degeneracy), str):
                degeneracy = values.get("degeneracy", self.degeneracy)
                if degeneracy in DEGENERACIES:  # T → ∞ leaves the degeneracy: sample from it directly
                    values |= {"sampler": degeneracy} | dict.fromkeys(_BOLTZMANN)
            values |= self._without_effect(values.get("method", self.method))
        else:
            given = [name for name in _BOLTZMANN if getattr(self, name) is not None]
            if given:
                flag = "--" + given[0].replace("_", "-")
                raise ConfigError(
                    f"{flag} belongs to Boltzmann sampling, but the sampler is {sampler!r}; "
                    f"add --sampler boltzmann or leave {flag} out"
                )
        if self.workers is None:
            values["workers"] = cores
        config = dataclasses.replace(self, **values)
        if config.min_alpha is None:
            config = dataclasses.replace(config, min_alpha=config.alpha / 10000)
        if config.min_alpha > config.alpha:
            raise ConfigError(f"min_alpha ({config.min_alpha:g}) is above alpha ({config.alpha:g}); lower it")
        return config

    def _without_effect(self, method):
        """Return, as None, the options that `method` has no use for; ConfigError if one of them was given."""
        unused = {"sir": ("replaced",), "exact": ("candidates", "replaced")}.get(method, ())
        given = [name for name in unused if getattr(self, name) is not None]
        if given:
            raise ConfigError(f"--{given[0]} has no effect with --method {method}; leave it out")
        return dict.fromkeys(unused)


def _weights(values):
    """Return the weights of a given degeneracy as a tuple of float, so that configurations compare."""
    try:
        return tuple(float(value) for value in values)
    except (TypeError, ValueError) as error:
        raise ConfigError(
            f"degeneracy must be {', '.join(DEGENERACIES)}, a file or one weight for each word, not {str(values)[:60]}"
        ) from error


def _check_choice(name, value, known):
    if value is not None and value not in known:
        raise ConfigError(f"unknown {name} {value!r}{did_you_mean(value, known)}")


def _checked(item, value):
    """Return `value` converted to the field's kind and within its range, or raise ConfigError."""
    kind, limits = item.metadata["kind"], item.metadata["limits"]
    if value is None:
        if item.default is not None:
            raise ConfigError(f"{item.name} must have a value")
        return None
    if kind is str:
        if isinstance(value, str):
            return value
        if item.name == "degeneracy":
            return _weights(value)
        raise ConfigError(f"{item.name} must be text, not {value!r}")
    if kind is bool:
        if not isinstance(value, bool):
            raise ConfigError(f"{item.name} must be true or false, not {value!r}")
        return value
    if item.name == "temp" and value == "inf":
        value = math.inf
    try:
        number = kind(value)
        exact = not isinstance(value, bool | str) and number == value
    except (TypeError, ValueError, OverflowError):
        exact = False
    if not exact:
        what = "a whole number" if kind is int else "a number"
        raise ConfigError(f"{item.name} must be {what}, not {value!r}")
    low, above, below, high = limits["at_least"], limits["above"], limits["below"], limits["at_most"]
    bad = (
        f"at least {low}"
        if low is not None and number < low
        else f"above {above}"
        if above is not None and number <= above
        else f"below {below}"
        if below is not None and number >= below
        else f"at most {high}"
        if high is not None and number > high
        else None
    )
    if bad or (isinstance(number, float) and math.isinf(number) and item.name != "temp"):
        raise ConfigError(f"{item.name} must be {bad or 'finite'}, got {value}")
    return number
