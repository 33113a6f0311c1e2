"""The registered losses, with and without their options, and how to ask them: shared by the tests of losses."""

import math
import os
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import NamedTuple

import naive
import numpy as np

from w2vneg.config import TrainConfig
from w2vneg.ground.jit import njit
from w2vneg.ground.registry import RunContext
from w2vneg.kernels import contracts
from w2vneg.kernels.contracts import step
from w2vneg.kernels.functions import exp_into
from w2vneg.objectives.losses import LOSSES

ALL = sorted(name for name in LOSSES if LOSSES[name] in contracts.SOCKETS["step"].bodies)  # not the dense and tree ones
N_VOCAB = 1000
SETTING = RunContext(np.arange(N_VOCAB, 0, -1), sampler=SimpleNamespace(independent=False))
BERNOULLI = RunContext(np.arange(N_VOCAB, 0, -1), sampler=SimpleNamespace(independent=True))
SLOW = os.environ.get("NUMBA_DISABLE_JIT") == "1"


class Case(NamedTuple):
    """loss : str, as registered; options : dict; oracle : what it must equal; setting : RunContext"""

    loss: str
    options: dict
    oracle: Callable
    setting: RunContext = SETTING


OPTIONS = {  # what a loss does with options of its own
    "ns, mean": Case("ns", {"mean_negatives": True}, partial(naive.negative_sampling, mean=True)),
    "relaxed, eq. 5": Case(
        "relaxed", {"positive_in_normaliser": False}, partial(naive.relaxed_softmax, positive_in=False)
    ),
    "relaxed, penalised": Case("relaxed", {"self_normalise": "0.1"}, partial(naive.relaxed_softmax, penalty=0.1)),
    "relaxed, eq. 5, penalised": Case(
        "relaxed",
        {"positive_in_normaliser": False, "self_normalise": "0.1"},
        partial(naive.relaxed_softmax, positive_in=False, penalty=0.1),
    ),
    "sampled-softmax, both corrected": Case("sampled-softmax", {"correct_positive": True}, naive.large_vocabulary),
    "sampled-softmax, target excluded": Case("sampled-softmax", {"exclude": "target"}, naive.complementary_sum),
    "sampled-softmax, penalised": Case(
        "sampled-softmax", {"self_normalise": "0.1"}, partial(naive.sampled_softmax, penalty=0.1)
    ),
    "large-vocab, penalised": Case(
        "large-vocab", {"self_normalise": "0.1,1"}, partial(naive.large_vocabulary, penalty=0.1)
    ),
    "css, penalised": Case("css", {"self_normalise": "0.1"}, partial(naive.complementary_sum, penalty=0.1)),
    "css, Bernoulli": Case(
        "css", {}, lambda s, w, q: naive.complementary_sum(s, w, q, drawn=len(s) - 1), setting=BERNOULLI
    ),
    "importance, penalised": Case(
        "importance", {"self_normalise": "0.1"}, partial(naive.importance_sampling, penalty=0.1)
    ),
    "nce, Z = e^2": Case("nce", {"log_z": "2"}, partial(naive.noise_contrastive, log_z=2.0)),
    "nce, learned": Case("nce", {"log_z": "learned"}, partial(naive.noise_contrastive, log_z=math.log(N_VOCAB))),
    "nce, Bernoulli": Case(
        "nce", {}, lambda s, w, q: naive.noise_contrastive(s, w, q, drawn=len(s) - 1), setting=BERNOULLI
    ),
    "bpr": Case("ranking", {"margin": 0.0}, partial(naive.ranking, margin=0.0)),
    "hinge, 2": Case("hinge", {"margin": 2.0}, partial(naive.hinge, margin=2.0)),
}
CASES = {name: Case(name, {}, naive.LOSSES.get(name)) for name in ALL} | OPTIONS


@njit
def take_step(loss, rng, logits, exp_logits, log_q, weights, gradients):
    exp_into(logits, logits.shape[0], np.float32(1), np.float32(0), exp_logits)
    return step(loss, 0, np.float32(0), rng, logits, exp_logits, log_q, weights, gradients)


@njit
def take_step_at(loss, centre_row, alpha, rng, logits, exp_logits, log_q, weights, gradients):
    return step(loss, centre_row, alpha, rng, logits, exp_logits, log_q, weights, gradients)


def of(name):
    case = CASES[name]
    exclude = {} if LOSSES[case.loss].needs_exclusion else {"exclude": "none"}
    options = TrainConfig(loss=case.loss, **exclude | case.options).resolved()
    return options.make("loss", case.setting)


def ask(loss, logits, weights=None, log_q=None, seed=0):
    """Return (L, dL/ds) as the socket gives them; log_q is that of uniform draws unless given."""
    logits = np.array(logits, np.float32)
    weights = np.ones_like(logits) if weights is None else np.array(weights, np.float32)
    if loss.needs_log_q:
        log_q = np.full_like(logits, -math.log(N_VOCAB)) if log_q is None else np.array(log_q, np.float32)
        if not loss.needs_positive_log_q:
            log_q[0] = 0
    else:
        log_q = np.empty(0, np.float32)
    gradients = np.full_like(logits, np.nan)
    rng = np.full(1, seed, np.uint64)
    return take_step(loss, rng, logits, np.empty_like(logits), log_q, weights, gradients), gradients


def example(n, seed, spread=2.0):
    """Return random (logits, weights, log_q) of a positive and n negatives; the positive weighs 1."""
    rng = np.random.default_rng([seed, n])
    weights = rng.uniform(0.1, 3, 1 + n)
    weights[rng.random(1 + n) < 0.4] = 1
    weights[0] = 1
    return spread * rng.normal(size=1 + n), weights, np.minimum(rng.normal(-4, 1.5, 1 + n), -0.1)


def off_kinks(name, logits):
    """Return the logits, moved where a hinge's slope jumps nearby."""
    if "hinge" not in name:
        return logits
    margin = of(name).margin
    near = np.abs(logits - logits[0] + margin) < 0.2
    near[0] = False
    return logits + 0.4 * near
