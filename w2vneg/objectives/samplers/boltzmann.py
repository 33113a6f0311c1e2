"""Boltzmann negatives (Tanielian and Vasile 2019, eq. 8): hard ones, close to the centre in the current model.

    Q_i(j) = D(j) e^{s_ij / T} / Σ_j' D(j') e^{s_ij' / T}

D, the degeneracy, is uniform or popularity; T → ∞ leaves D, T → 0 the hardest target. Four methods:

`rolling`
    A shard keeps M candidates drawn from D and replaces a few of them for each centre, so that their rows stay in the
    nearest cache; it draws from them with weights e^{s/T} (they already follow D): sampling-importance-resampling
    (Rubin 1988) in which neighbouring centres share proposals. Candidates are scored for two neighbours at once and
    replaced after the second, whose scores are corrected for the rows moved by the first one's step.
`sir`
    The same with all M candidates replaced after each centre.
`exact`
    All V targets scored by a matrix product, for a batch of centres before they are trained.
`pool`
    `exact` for the next `visits` visits of a centre at once, and any others in the same launch. A launch has half as
    many visits as there are centres. 16 launches are foreseen together, fewer if the copies of the output vectors would
    be large; no draws are kept beyond them.

log q of `rolling` and `sir` replaces the sum over D by the candidates' mean of e^{s/T}: exact as M → ∞.

Self-play (the CIS paper's g(·|i)) is D uniform and T = 1: the model's own softmax draws the negatives. If the model's
logit is |s| (kernel paper, eq. 11), the s above is |s|, too.
"""

import dataclasses
import math
from dataclasses import dataclass

import numpy as np

from ...ground.option import option, refuse_idle
from ...kernels.rng import alias_table
from ..plugs import About, Sampler
from . import SAMPLERS
from ._boltzmann import Boltzmann, BoltzmannExact
from .popularity import NoiseOptions, log_popularity


def candidates(default):
    return option(default, "Candidates M that rolling, sir and dns choose from.", at_least=1, at_most=65536)


@dataclass(frozen=True, kw_only=True)
class MethodOptions:
    method: str = option(
        "rolling",
        "How to draw Boltzmann negatives: rolling or sir, from candidates; exact, from all words; pool, from all words "
        "for many visits of a centre at once.",
        choices=("rolling", "sir", "exact", "pool"),
    )
    candidates: int = candidates(64)
    replaced: int = option(2, "Candidates that rolling replaces per centre.", at_least=1)
    visits: float = option(8.0, "Visits of a centre that share one pool.", above=0, default_text="pool: 8")


@dataclass(frozen=True, kw_only=True)
class BoltzmannOptions(NoiseOptions, MethodOptions):
    temp: float = option(
        1.0,
        "Temperature of Boltzmann negatives. inf draws from the degeneracy distribution.",
        above=0,
        common=True,
        infinite=True,
    )
    degeneracy: str = option(
        "popularity",
        "D in the distribution D e^(s/T) of the negatives: uniform, or popularity (counts ^ noise-exponent).",
        choices=("uniform", "popularity"),
    )


def log_degeneracy(options, counts):
    """Return log D as float64, (n_vocab,), for the degeneracy that the options name."""
    return log_popularity(counts, options.noise_exponent if options.degeneracy == "popularity" else 0.0)


def without_idle(options, given):
    """Return options with None for those that the method does not read; ConfigError if one was given."""
    idle = {"rolling": (), "sir": ("replaced",)}.get(options.method, ("candidates", "replaced"))
    idle += () if options.method == "pool" else ("visits",)
    return dataclasses.replace(options, **refuse_idle(idle, f"--method {options.method}", given))


@SAMPLERS.register("boltzmann")
class BoltzmannFamily(Sampler):
    """Chooses the class by ``options.method``."""

    gives_log_q = True
    Options = BoltzmannOptions
    about = About(
        summary="hard negatives: a given distribution sharpened by the model's own scores",
        equation="Q_i(j) = D(j) e^{s_ij / T} / Σ D(j') e^{s_ij' / T}",
        paper="RS eq. 8 (UBS, PBS)",
        cost="rolling, sir: M dot products and e^s for each centre; exact: V of them, as a matrix product; pool: "
        "V for several visits",
        use="with the relaxed softmax, the best vectors measured here; lower T: harder negatives, better top ranks",
    )

    _batch = 128  # centres per matrix product and worker: large enough for BLAS, small enough to be fresh
    _launches = 16  # foreseen by pool, which redraws between them
    _numbers = 2**26  # of 4 bytes: upper limit of a pool's draws, and of the rows they are made from

    @classmethod
    def draws_ahead(cls, options):
        return options.method in ("exact", "pool")

    @classmethod
    def normalise_options(cls, options, given):
        """Set options without effect to None; at T = ∞, return those of the degeneracy's own sampler."""
        by_counts = options.degeneracy == "popularity"
        idle = {} if by_counts else refuse_idle(("noise_exponent",), "a degeneracy that is not popularity", given)
        if not math.isinf(options.temp):
            return dataclasses.replace(without_idle(options, given), **idle)
        by_method = "method", "candidates", "replaced", "visits"
        refuse_idle(by_method, "--temp inf, which draws from the degeneracy", given)
        own = {"noise_exponent": options.noise_exponent} if by_counts else {}
        return SAMPLERS[options.degeneracy].Options(**own)

    @classmethod
    def cost(cls, options, context):
        if not cls.draws_ahead(options):
            return 0.06 * context.dim * options.candidates
        _, _, launches, visits = cls._ahead(options, context)
        return 0.02 * context.dim * len(context.counts) * context.workers / max(1.0, min(visits, launches / 2))

    @classmethod
    def from_options(cls, options, context):
        return cls.build(options, context, log_degeneracy(options, context.counts), min(1.0 / options.temp, 1e30))

    @classmethod
    def _ahead(cls, options, context):
        """Return the arguments of `DrawnAhead.room`."""
        if options.method != "pool":
            return cls._batch, context, 1, 1.0
        n_vocab, workers = len(context.counts), context.workers
        launches = max(1, min(cls._launches, cls._numbers // (n_vocab * context.dim)))
        most = cls._numbers // (2 * workers * context.max_draws * launches)
        return max(cls._batch, min(most, context.n_centres // (2 * workers))), context, launches, options.visits

    @classmethod
    def build(cls, options, context, log_d, beta):
        """Return the sampler of degeneracy e^log_d (float64, (n_vocab,)) and inverse temperature beta."""
        if cls.draws_ahead(options):
            room = BoltzmannExact.room(*cls._ahead(options, context))
            return BoltzmannExact(log_d.astype(np.float32), beta, context.run.absolute_softmax, *room)
        m, table, log_d = options.candidates, alias_table(np.exp(log_d)), log_d.astype(np.float32)
        replaced = m if options.method == "sir" else max(1, min(options.replaced, m))
        return Boltzmann(table, log_d, beta, m, replaced, context.run.absolute_softmax)


@SAMPLERS.register("selfplay")
class Selfplay(Sampler):
    gives_log_q = True
    Options = MethodOptions
    about = About(
        summary="the model's own softmax draws the negatives: Boltzmann with a uniform degeneracy and T = 1",
        equation="Q_i(j) = e^{s_ij} / Σ e^{s_ij'}",
        paper="CIS §3.4 and §4 (SP)",
        cost="M dot products per centre (rolling, sir), V (exact), V for several visits (pool)",
        use="with the relaxed softmax; with the discriminator as weigher it is CIS",
    )

    cost = BoltzmannFamily.cost
    draws_ahead = BoltzmannFamily.draws_ahead

    @classmethod
    def normalise_options(cls, options, given):
        return without_idle(options, given)

    @classmethod
    def from_options(cls, options, context):
        return BoltzmannFamily.build(options, context, log_popularity(context.counts, 0.0), 1.0)
