"""What a run can be told: the only home of defaults. The command line's options are made from these fields.

A field left at None is filled in by `TrainConfig.resolved` from the preset that the loss names, so that
``--loss relaxed`` alone means what the papers mean by it and every part can still be chosen by itself.
"""

import dataclasses
import math
from dataclasses import dataclass

from .errors import ConfigError, did_you_mean
from .option import checked, option
from .presets import PRESETS, preset_of
from .rules import DEGENERACIES, at_infinity, check_schedule, for_plugs, unread, without_negatives

EXCLUSIONS = ("none", "target", "window", "known")
METHODS = ("rolling", "sir", "exact")
TEMP_SCHEDULES = ("constant", "linear", "cosine", "adaptive")
KERNELS = ("quadratic", "quartic")
TREES = ("bulk", "update")
SOURCES = ("text", "baskets", "pairs")
PAIR_WEIGHTS = ("enumerate", "sample")
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


@dataclass(frozen=True, kw_only=True)
class TrainConfig:
    """The options of a training run; see each field's help. ConfigError on a value out of range."""

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
        "Candidates that rolling replaces at each centre.",
        at_least=1,
        group="objective",
        shown="4",
        used_by={"sampler": _BOLTZMANNS},
        when_used=4,
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
        "How the kernel's sums follow the vectors: bulk (rebuilt between launches) or update (at every step).",
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
        "Negatives for each positive (or for each centre, when shared).",
        at_least=1,
        at_most=10000,
        group="objective",
        shown="the preset's: ns 5, relaxed 10, …",
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
        "Which negatives do not count: none; target, the positive itself; window, any positive of the centre; known, "
        "any word seen beside the centre in the whole corpus.",
        group="objective",
        shown="the preset's",
        choices=EXCLUSIONS,
    )
    dim: int = option(int, 100, "Length of the vectors.", at_least=1, at_most=65536, group="model")
    window: int | None = option(
        int,
        None,
        "Positives reach this many tokens to each side.",
        at_least=1,
        at_most=1000,
        group="model",
        shown="5",
        used_by={"source": ("text",)},
        when_used=5,
    )
    dynamic_window: bool | None = option(
        bool,
        None,
        "Draw each centre's window from 1 … window, as word2vec does, or keep it fixed.",
        off="fixed-window",
        group="model",
        shown="yes",
        used_by={"source": ("text",)},
        when_used=True,
    )
    subsample: float | None = option(
        float,
        None,
        "Frequency above which words (or items of baskets) are thinned out; 0 keeps all.",
        at_least=0,
        below=1,
        group="model",
        shown="text: 0.0001, baskets: 0",
        used_by={"source": ("text", "baskets")},
        when_used={"text": 1e-4, "baskets": 0.0},
    )
    ordered: bool | None = option(
        bool,
        None,
        "Let only what comes after the centre be its positive: the next words, the items bought later.",
        off="both-sides",
        group="model",
        shown="no",
        used_by={"source": ("text", "baskets")},
        when_used=False,
    )
    pairs_per_item: int | None = option(
        int,
        None,
        "Positives of an item in a basket or history: all others up to this many, else so many of them drawn.",
        at_least=1,
        at_most=10000,
        group="model",
        shown="32",
        used_by={"source": ("baskets",)},
        when_used=32,
    )
    pair_weights: str | None = option(
        str,
        None,
        "How weights of pairs count: enumerate (each pair so often in an epoch) or sample (drawn in proportion).",
        group="model",
        shown="enumerate, if they are whole numbers and few enough",
        choices=PAIR_WEIGHTS,
        used_by={"source": ("pairs",)},
    )
    pairs_per_epoch: int | None = option(
        int,
        None,
        "Pairs that an epoch draws when weights are sampled.",
        at_least=1,
        at_most=2**31,
        group="model",
        shown="the sum of the weights, at least the number of pairs",
        used_by={"source": ("pairs",)},
    )
    source: str = option(str, "text", "What is read; set by the option that names it.", choices=SOURCES, group=None)
    rectangular: bool = option(
        bool, False, "Centres and targets are two kinds of things; set by what is read.", group=None
    )
    min_count: int | None = option(
        int,
        None,
        "Leave out words (or items) seen less often.",
        at_least=1,
        group="corpus",
        shown="text: 5, items: 1",
    )
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
            object.__setattr__(self, item.name, checked(item, getattr(self, item.name)))

    @classmethod
    def from_mapping(cls, mapping, where=None, saved=False):
        """Build from names and values; `where` (a file) is named in what is said about a wrong one.

        saved : bool, these are the options of a run, as `as_dict` gave them
        """
        place = f"{where}: " if where else ""
        if not isinstance(mapping, dict):
            raise ConfigError(f"{place}expected options by name, found {str(mapping)[:40]!r}")
        known = [f.name for f in dataclasses.fields(cls)]
        values = {}
        for name, value in mapping.items():
            key = name.replace("-", "_")
            if key not in known:
                raise ConfigError(f"{place}unknown option {name!r}{did_you_mean(key, known, shown=0)}")
            if key == "preset" and not saved:
                raise ConfigError(f"{place}preset is no option of its own; write loss = {value!r}")
            values[key] = value
        try:
            return cls(**values)
        except ConfigError as error:
            raise ConfigError(f"{place}{error}") from error

    def as_dict(self):
        """Return the options as values that JSON can hold: weights as a list, an infinite number as "inf"."""
        values = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        for name, value in values.items():
            if isinstance(value, tuple):
                values[name] = list(value)
            elif isinstance(value, float) and math.isinf(value):
                values[name] = "inf"
        return values

    @property
    def shaping(self):
        """The options that shape encoded data, by name: what `inputs.encode_input` takes (dict)."""
        return {f.name: getattr(self, f.name) for f in dataclasses.fields(self) if f.metadata["group"] == "corpus"}

    def resolved(self, cores=1):
        """Return a copy in which nothing is left open but what a plug decides (`margin`, …) and `private_rows`.

        The loss becomes that of the preset, whose name `preset` keeps; what the chosen plugs do not read becomes None.
        Resolving again changes nothing. ConfigError if an option was given that none of them reads, or options were
        that do not go together.
        """
        name = self._called()
        preset = preset_of(name)
        values = {key: value for key, value in preset.values.items() if getattr(self, key) is None}
        values |= {"loss": preset.loss, "preset": name}
        chosen = dataclasses.replace(self, **values)
        chosen = dataclasses.replace(chosen, **without_negatives(chosen, self))
        chosen = dataclasses.replace(chosen, **for_plugs(chosen, self))
        check_schedule(chosen)
        chosen = dataclasses.replace(chosen, **at_infinity(chosen, self))
        chosen = dataclasses.replace(chosen, **unread(chosen, self))
        values = {}
        if chosen.workers is None:
            values["workers"] = cores
        if chosen.min_alpha is None:
            values["min_alpha"] = chosen.alpha / 10000
        if chosen.min_count is None:
            values["min_count"] = 5 if chosen.source == "text" else 1
        config = dataclasses.replace(chosen, **values)
        if config.min_alpha > config.alpha:
            raise ConfigError(f"min_alpha ({config.min_alpha:g}) is above alpha ({config.alpha:g}); lower it")
        return config

    def _called(self):
        """Return the name by which the objective was chosen; a configuration that was resolved remembers it."""
        known = PRESETS.get(self.preset)
        if known is not None and self.loss in (None, known.loss):
            return self.preset
        return self.loss or ("relaxed" if self.source == "text" else "us")
