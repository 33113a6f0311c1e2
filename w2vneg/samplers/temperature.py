"""Temperature over a run: the T of Boltzmann sampling, set between rounds.

    linear      T = T₀ + (T₁ − T₀) f                       f: share of the run that is done
    cosine      T = T₁ + (T₀ − T₁) (1 + cos π f) / 2
    adaptive    T such that (Σ w)² / Σ w² = N on average,   w_j = e^{s_ij / T}, j ~ D

Tanielian and Vasile (2019) keep T fixed, find another best one for each task and degeneracy, and leave an adaptive
temperature to later work (section 4); what adapts, and to what, is our choice. We hold the effective number of
candidates: how many of the M among which a negative is chosen really compete. It has the same meaning at every stage
of training and for every vocabulary, while a fixed T means less and less as logits grow: the spread of s / T, and with
it the hardness of the draws, rises through the run. For ``--method exact`` all words are candidates, and the number is
1 / Σ_j Q_i(j)².

For fixed candidates the number falls as 1 / T rises: d log N / dβ = 2 (E_β[s] − E_2β[s]) ≤ 0 with β = 1 / T, so that
bisection finds T on a sample of centres. The sample's noise is damped: log T goes half of the way, and at most a
factor √2 in a round.
"""

import math
from typing import NamedTuple

import numpy as np

from ..errors import ConfigError
from ..kernels.schedule import linear, stream_key

LOWEST, HIGHEST = 0.5, 36.0  # of the adaptive T: the ends of the grid that the paper searched
_DAMPING = 0.5
_REACH = math.log(2.0)  # how far from the current log T a round looks
_HALVINGS = 8
_CENTRES = 64
_SCORES = 131_072  # dot products a round may cost when all words are candidates
_HOTTEST = 1e30  # largest 1 / T that compiled code is given
_CHOSEN, _PROPOSED = 5, 6  # first word of a random stream's name: centres, candidates


def inverse(temperature):
    """Return 1 / T as the float that a sampler holds."""
    return float(min(1.0 / temperature, _HOTTEST))


class Falling(NamedTuple):
    """From `start` to `end` by the share of the run that is done; cosine : bool, slowly at both ends, else linear."""

    start: float
    end: float
    cosine: bool

    def next(self, temperature, fraction, model, keys):
        """Return T for a round that begins after `fraction` of the run; the other arguments are `Adaptive`'s."""
        share = (1 - math.cos(math.pi * fraction)) / 2 if self.cosine else fraction
        return linear(self.start, self.end, share)


class Adaptive(NamedTuple):
    """Holds the effective number of candidates at `target`.

    start : float, T of the first round, before anything is measured
    centres : int32, (n_centres,), the fixed sample on which it is measured
    cumulative : float64, (n_vocab,), running sums of D; log_d : float32, (n_vocab,)
    n_candidates : int, M; 0 if all words are; absolute : bool, the logit is |x · y|
    """

    start: float
    target: float
    centres: np.ndarray
    cumulative: np.ndarray
    log_d: np.ndarray
    n_candidates: int
    absolute: bool = False

    def next(self, temperature, fraction, model, keys):
        """Return T for the coming round.

        Parameters
        ----------
        temperature : float, T of the round before, 0 for the first one of a run
        fraction : float, not looked at
        model : has vectors_in and vectors_out, float32, (n_vocab, dim), quiet; an engine
        keys : tuple of int, names the round: its candidates are drawn by it

        Returns
        -------
        float
            `temperature` itself if the model has left the finite numbers, which others deal with.
        """
        if temperature == 0:
            return self.start
        logits, log_d = self.sample(model.vectors_in, model.vectors_out, keys)
        if self.absolute:
            logits = np.abs(logits)
        if not np.isfinite(logits).all():
            return temperature
        now = math.log(temperature)
        low, high = max(now - _REACH, math.log(LOWEST)), min(now + _REACH, math.log(HIGHEST))
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            if effective_number(logits, log_d, math.exp(-middle)) < self.target:
                low = middle
            else:
                high = middle
        return math.exp(now + _DAMPING * ((low + high) / 2 - now))

    def sample(self, vectors_in, vectors_out, keys):
        """Return the logits of the sample's candidates, float32 (n_centres, n), and what their weights start from:
        log D, float32 (n_vocab,), or 0 for candidates that were drawn from D.
        """
        x = vectors_in[self.centres]
        with np.errstate(over="ignore", invalid="ignore"):
            if self.n_candidates == 0:
                return x @ vectors_out.T, self.log_d
            rng = np.random.default_rng(stream_key(_PROPOSED, *keys))
            units = rng.random((len(x), self.n_candidates))
            ids = np.minimum(np.searchsorted(self.cumulative, units), len(self.cumulative) - 1)
            return np.matmul(vectors_out[ids], x[:, :, None])[:, :, 0], np.float32(0.0)


def effective_number(logits, log_d, inverse_temperature):
    """Return the mean over centres of (Σ w)² / Σ w², w = D e^{s / T}.

    Parameters
    ----------
    logits : float32, (n_centres, n); log_d : float32, (n,) or a number
    """
    powers = logits * np.float32(inverse_temperature) + log_d
    weights = np.exp(powers - powers.max(axis=1, keepdims=True))
    return float((weights.sum(axis=1) ** 2 / np.einsum("ij,ij->i", weights, weights)).mean())


def check_schedule(options):
    """Refuse a temperature's schedule that lacks what it needs, and what only another schedule reads."""
    schedule = options.temp_schedule
    if schedule is None:
        return
    moving = schedule in ("linear", "cosine")
    if moving and options.temp_end is None:
        raise ConfigError(f"--temp-schedule {schedule} needs the temperature at the end of the run; add --temp-end")
    if not moving and options.temp_end is not None:
        raise ConfigError(
            f"--temp-end has no effect with --temp-schedule {schedule}; add --temp-schedule linear or cosine, or leave "
            "it out"
        )
    if schedule != "constant" and math.isinf(options.temp):
        raise ConfigError(f"--temp-schedule {schedule} needs a finite temperature to start from; give another --temp")
    held, among = options.effective_candidates, options.candidates
    if schedule == "adaptive" and held is None:
        raise ConfigError(
            "--temp-schedule adaptive needs the effective number of candidates to hold; add --effective-candidates"
        )
    if schedule != "adaptive" and held is not None:
        raise ConfigError(
            f"--effective-candidates has no effect with --temp-schedule {schedule}; add --temp-schedule adaptive or "
            "leave it out"
        )
    if held is not None and among is not None and options.method != "exact" and held >= among:
        raise ConfigError(
            f"--effective-candidates ({held:g}) must be below --candidates ({among}), of which it is a part; lower it "
            "or raise --candidates"
        )


def make_schedule(config, sampler, centre_weights):
    """Return what sets T between rounds, or None where it stays as it is.

    Parameters
    ----------
    config : TrainConfig, resolved
    sampler : the run's, made by `config`
    centre_weights : float64, (n_in,), how often each id is the centre of a group

    Raises
    ------
    ConfigError
        If the adaptive temperature is to hold a number that no temperature gives.
    """
    if config.temp_schedule in (None, "constant"):
        return None
    if config.temp_schedule != "adaptive":
        return Falling(config.temp, config.temp_end, config.temp_schedule == "cosine")
    log_d = sampler.log_d
    d = np.exp(log_d.astype(np.float64))
    most = sampler.n_candidates or 1 / (d**2).sum()
    if config.effective_candidates >= most:
        remedy = "raise --candidates or lower it" if sampler.n_candidates else "lower it"
        raise ConfigError(
            f"effective_candidates must be below {most:g}, the number at an infinite temperature, "
            f"got {config.effective_candidates:g}; {remedy}"
        )
    n_candidates = sampler.n_candidates
    n_centres = max(4, min(_CENTRES, _SCORES // (16 * n_candidates or len(log_d))))
    rng = np.random.default_rng(stream_key(_CHOSEN, config.seed))
    centres = rng.choice(len(centre_weights), n_centres, p=centre_weights / centre_weights.sum()).astype(np.int32)
    cumulative = np.cumsum(d) / d.sum()
    return Adaptive(
        config.temp, config.effective_candidates, centres, cumulative, log_d, n_candidates, config.absolute_softmax
    )
