"""Checks of a plug: gradients against finite differences, draws against the probabilities that it reports.

For ``w2vneg objectives NAME --check``, and for authors of plugs.
"""

import math
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from scipy import sparse, stats

from ..config import TrainConfig
from ..data.words import PackedStrings
from ..ground.errors import ConfigError
from ..ground.jit import njit
from ..ground.registry import RunContext
from ..kernels.contracts import draw, gather, log_prob, open_sampler, open_weigher, require_bodies, step, weigh
from ..kernels.functions import exp_into
from ..kernels.linalg import Rows
from ..vectors.evaluation.scores import PathScores

_V, _DIM, _N = 60, 8, 5
_CENTRES = 2 * _V  # as in rectangular data, where ids of centres and of targets differ
_SEEDS = 400  # for the mean of a loss that draws by itself
_STEP = 2.0**-6  # of finite differences; float32 logits allow no smaller one
_GROUPS = 4000
_COUNTS = (1e4 / np.arange(1, _V + 1) ** 0.8).astype(np.int64)
_UNLIKELY = 1e-6  # p-value below which draws do not follow the reported probabilities
_FENCE = 64  # guard values behind an array
_NEAR = 0.01  # rounding error allowed in a sum of probabilities
_FAR = 0.1  # total variation allowed for draws among candidates


@dataclass(frozen=True)
class Check:
    """The result of a check: what was checked, whether it passed, and the value found."""

    what: str
    passed: bool
    found: str


def _check(what, passed, found=None):
    """Return a `Check`; passed may be a NumPy bool."""
    return Check(what, bool(passed), found or ("yes" if passed else "no"))


def check_plug(kind, name, options=None):
    """Check one registered plug; return a list of `Check`, empty if nothing can be checked in isolation.

    kind : str, "loss", "sampler", "weigher" or "inputs"
    options : dict, optional, name -> value, options that the plug reads; the others keep their defaults
    ConfigError if the plug lacks a required function or writes past the end of an array, or if an option is out of
        range or has no effect
    """
    with np.errstate(over="ignore", invalid="ignore"):
        check = {"loss": _check_loss, "sampler": _check_sampler, "weigher": _check_weigher, "inputs": _check_inputs}
        return check[kind](name, options or {})


def _context(sampler=None):
    ring = sparse.diags([np.ones(_V - 1), np.ones(_V - 1)], [1, -1])
    neighbours = sparse.vstack([ring] * (_CENTRES // _V), format="csr")
    return RunContext(_COUNTS, _DIM, 1, _N, lambda: neighbours, sampler, _CENTRES)


@njit
def _ask(loss, rng, logits, exp_logits, log_q, weights, gradients):
    exp_into(logits, logits.shape[0], np.float32(1), np.float32(0), exp_logits)
    return step(loss, 0, np.float32(0), rng, logits, exp_logits, log_q, weights, gradients)


@njit
def _draw(sampler, centre_id, centre, out, rng, places, everything):
    """Draw for all groups of `places`; if the sampler gives log q, write that of all targets to `noise`.

    places : (ids int32 (groups, n), log_q float32 (groups, n or 0), logits float32 (groups, n), noise float32 (groups,
        n_vocab)), written in place; everything : ids int32 (n_vocab,) and dot products float32 of all targets
    """
    ids, log_q, logits, noise = places
    n = ids.shape[1]
    state = open_sampler(sampler, n)
    for group in range(ids.shape[0]):
        draw(sampler, state, group, centre_id, centre, out, rng, n, ids[group], log_q[group], logits[group])
        if log_q.shape[1] > 0:
            words, all_logits = everything
            log_prob(sampler, state, group, centre_id, words.shape[0], words, all_logits, noise[group])


@njit
def _weigh(weigher, ids, logits, exp_logits, log_q, weights):
    state = open_weigher(weigher, 1, ids.shape[0] - 1)
    return weigh(weigher, state, 0, 0, ids, logits, exp_logits, log_q, weights)


def _check_loss(name, options):
    config = TrainConfig(loss=name, **options).resolved()
    if config.loss.plug.dense:
        return []
    if config.loss.plug.paths:
        return _check_paths(config.make("loss", _context()))
    sampler = TrainConfig(sampler="popularity").resolved().make("sampler", _context())
    loss = config.make("loss", _context(sampler))
    require_bodies("loss", type(loss))
    rng = np.random.default_rng(1)
    worst, worst_absent, finite = 0.0, 0.0, True
    for n in (1, _N, 3 * _N):
        for _ in range(4):
            logits = rng.normal(0, 1.5, 1 + n).astype(np.float32)
            weights = np.where(rng.random(1 + n) < 0.5, 1, rng.uniform(0.2, 2, 1 + n)).astype(np.float32)
            weights[0] = 1
            log_q = _log_q(loss, rng.normal(-4, 1, 1 + n) if loss.needs_log_q else [])
            worst = max(worst, _gradient_error(loss, logits, weights, log_q))
            worst_absent = max(worst_absent, _absent_error(loss, logits, weights, log_q))
            for end in (-80, 80):
                value, gradients = _answer(loss, np.full(1 + n, end, np.float32), weights, log_q)
                finite &= math.isfinite(value) and bool(np.isfinite(gradients).all())
    log_q = _log_q(loss, [-math.log(_V)] * (1 + _N) if loss.needs_log_q else [])
    zeros, ones = np.zeros(1 + _N, np.float32), np.ones(1 + _N, np.float32)
    values = [_answer(loss, zeros, ones, log_q, seed)[0] for seed in range(1, 1 + _SEEDS)]
    value, said = float(np.mean(values)), loss.loss_at_init(_N)
    near = 0.05 * abs(said) + 4 * float(np.std(values)) / math.sqrt(_SEEDS) + 1e-6
    return [
        _check("gradient against finite differences", worst < 0.01, f"largest error {worst:.1g}"),
        _check("a negative of weight 0 has no effect", worst_absent < 1e-3, f"largest change {worst_absent:.1g}"),
        _check("finite at logits of 80 and -80", finite),
        _check("loss_at_init", abs(value - said) <= near, f"{said:.4g}; the loss is {value:.4g}"),
    ]


def _log_q(loss, values):
    log_q = np.array(values, np.float32)
    if len(log_q) and not loss.needs_positive_log_q:
        log_q[0] = 0
    return log_q


def _answer(loss, logits, weights, log_q, seed=1):
    rng = np.array([seed], np.uint64)
    with _fenced(logits, logits, log_q, weights, np.full_like(logits, np.nan)) as arrays:
        value = _ask(loss, rng, *arrays)
    return value, arrays[-1]


@contextmanager
def _fenced(*arrays):
    """Yield copies of arrays, each guarded by NaN or -1 behind it in memory; ConfigError if a guard is overwritten."""
    fences, copies = [], []
    for array in arrays:
        behind = np.full(_FENCE, np.nan if array.dtype.kind == "f" else -1, array.dtype)
        memory = np.concatenate([array.ravel(), behind])
        copies.append(memory[: array.size].reshape(array.shape))
        fences.append((memory[array.size :], behind))
    yield copies
    if not all(np.array_equal(found, behind, equal_nan=True) for found, behind in fences):
        raise ConfigError("it writes past the end of an array; see the arguments of its function in docs/extending.md")


def _gradient_error(loss, logits, weights, log_q):
    """Return the largest difference between a gradient and a slope, relative to the larger of 1 and the slope."""
    value, gradients = _answer(loss, logits, weights, log_q)
    worst = 0.0
    for k in range(len(logits)):
        sides = []
        for sign in (-1, 1):
            moved = logits.copy()
            moved[k] += np.float32(sign * _STEP)
            sides.append(sign * (_answer(loss, moved, weights, log_q)[0] - value) / _STEP)
        if abs(sides[0] - sides[1]) > 0.1 * max(1.0, abs(sides[0])):
            continue  # a kink between the two: no slope to compare with
        slope = sum(sides) / 2
        worst = max(worst, abs(slope - gradients[k]) / max(1.0, abs(slope)))
    return worst if np.isfinite(gradients).all() else math.inf


def _absent_error(loss, logits, weights, log_q):
    value, gradients = _answer(loss, logits, weights, log_q)
    more = [np.append(logits, np.float32(3)), np.append(weights, np.float32(0))]
    padded, padded_gradients = _answer(loss, *more, np.append(log_q, np.float32(-2)) if len(log_q) else log_q)
    change = np.abs(np.append(gradients, 0) - padded_gradients).max()
    return float(max(abs(padded - value), change))


def _check_sampler(name, options):
    config = TrainConfig(sampler=name, negatives=_N, workers=1, **options).resolved()
    sampler = config.make("sampler", _context())
    require_bodies("sampler", type(sampler))
    n = config.sampler.plug.max_negatives(config.negatives)
    vectors = np.random.default_rng(2).normal(0, 0.6, (_CENTRES + _V, _DIM)).astype(np.float32)
    seen = [_draws(sampler, n, centre, np.split(vectors, [_CENTRES])) for centre in (0, 1, _CENTRES - 1)]
    ids = np.stack([ids for ids, _, _ in seen])  # (3, groups, n)
    inside, some = ((ids >= -1) & (ids < _V)).all(), (ids >= 0).any(axis=(1, 2)).all()
    full = some and ((ids >= 0).all() or n > config.negatives)
    wrong = "an empty place" if inside else f"an id out of range; there are {_V} targets and {_CENTRES} centres"
    checks = [_check("draws are targets", inside and full, None if inside and full else wrong)]
    if not (inside and some):
        return checks
    if sampler.gives_log_q:
        checks += _against_log_q(sampler, seen[0])
    if sampler.context_free:
        tables = np.array([np.bincount(own[own >= 0], minlength=_V) for own in ids])
        p = stats.chi2_contingency(tables[:, tables.sum(axis=0) > 0]).pvalue
        checks.append(_check("draws do not depend on the centre", p > _UNLIKELY, f"p = {p:.2g}"))
    return checks


def _draws(sampler, n, centre_id, vectors):
    """Return ids int32 and log q float32, (groups, n), and the log q of all targets, (groups, n_vocab)."""
    vectors_in, vectors_out = vectors
    out = Rows(vectors_out, 0, _V, 0)
    everything = np.arange(_V, dtype=np.int32), vectors_out @ vectors_in[centre_id]
    rng = np.array([3 + centre_id], np.uint64)
    size = sampler.batch_groups or _GROUPS
    parts = []
    for start in range(0, _GROUPS, size):
        groups = min(size, _GROUPS - start)
        if sampler.batch_groups:
            centres = np.full((1, size), centre_id, np.int32)
            sampler.refresh(vectors_in, vectors_out, centres, start)
        ids, noise = np.full((groups, n), -2, np.int32), np.zeros((groups, _V), np.float32)
        log_q = np.full((groups, n if sampler.gives_log_q else 0), np.nan, np.float32)
        logits = np.zeros((groups, n), np.float32)
        with _fenced(ids, log_q, noise, logits) as (ids, log_q, noise, logits):
            _draw(sampler, centre_id, vectors_in[centre_id], out, rng, (ids, log_q, logits, noise), everything)
        parts.append((ids, log_q, noise))
    return tuple(np.concatenate(each) for each in zip(*parts, strict=True))


def _against_log_q(sampler, seen):
    ids, log_q, noise = seen
    drawn = ids >= 0
    own = np.take_along_axis(noise, np.maximum(ids, 0), axis=1)
    apart = float(np.abs(np.where(drawn, log_q - own, 0)).max())
    said = np.exp(noise.astype(np.float64)).mean(axis=0)
    total = said.sum()
    counted = np.bincount(ids[drawn], minlength=_V)
    checks = [_check("log q of draws equals that of log_prob", apart < 1e-3, f"largest difference {apart:.1g}")]
    if not sampler.independent:
        within = _FAR if sampler.n_candidates else _NEAR
        checks.append(_check("probabilities sum to 1", abs(total - 1) < within, f"{total:.4g}"))
    said = said / total
    strange = (counted[said * counted.sum() < 1e-3] > 3).any()
    if sampler.n_candidates or sampler.independent or strange:  # neighbouring draws share candidates: no chi-square
        far = float(np.abs(counted / counted.sum() - said).sum() / 2)
        return [*checks, _check("draws follow log q", far < _FAR, f"total variation {far:.2g}")]
    often = said * counted.sum() >= 5
    observed = np.append(counted[often], counted[~often].sum())
    expected = np.append(said[often], said[~often].sum()) * counted.sum()
    kept = expected > 0
    p = stats.chisquare(observed[kept], expected[kept] * observed[kept].sum() / expected[kept].sum()).pvalue
    return [*checks, _check("draws follow log q", p > _UNLIKELY, f"p = {p:.2g}")]


def _check_paths(loss):
    starts, n_targets = loss.starts, len(loss.starts) - 1
    if n_targets != _V or starts[0] != 0 or (np.diff(starts) < 0).any() or starts[-1] != len(loss.turns):
        found = f"starts go from {starts[0]} to {starts[-1]} for {n_targets} targets"
        return [_check("every target has a path", False, found)]
    nodes = loss.turns >> 1
    if len(nodes) and not 0 <= nodes.min() <= nodes.max() < _V - 1:
        return [_check("inner nodes are numbered from 0 to V - 2", False, f"from {nodes.min()} to {nodes.max()}")]
    rng = np.random.default_rng(1)
    x, y = (rng.normal(0, 1, (n, 8)).astype(np.float32) for n in (4, _V))
    log_p = PathScores(x, y, loss.starts, loss.turns)(np.arange(4)).astype(np.float64)
    total = np.exp(log_p).sum(axis=1)
    far = float(np.abs(total - 1).max())
    said = loss.loss_at_init(7.0)
    return [
        _check("probabilities of all targets sum to 1", far < 1e-3, f"{total[0]:.4g}"),
        _check("loss_at_init", math.isclose(said, 7 * math.log(2)), f"{said:.4g} for a path of 7; log 2 per node"),
    ]


def _check_weigher(name, options):
    config = TrainConfig(loss="relaxed", sampler="popularity", weigher=name, workers=1, **options).resolved()
    weigher = config.make("weigher", _context())
    require_bodies("weigher", type(weigher))
    if weigher.parameters:
        return []  # its weights depend on what it learns from whole groups
    rng = np.random.default_rng(4)
    fine, kept = True, True
    for n in (1, _N, 3 * _N):
        ids = np.arange(1 + n, dtype=np.int32)
        logits = rng.normal(0, 2, 1 + n).astype(np.float32)
        log_q = rng.normal(-4, 1, 1 + n).astype(np.float32) if weigher.needs_log_q else np.empty(0, np.float32)
        weights = np.ones(1 + n, np.float32)
        weights[-1] = 0 if n > 1 else 1
        with _fenced(ids, logits, np.exp(logits), log_q, weights) as arrays:
            _weigh(weigher, *arrays)
        found = arrays[-1]
        fine &= bool(np.isfinite(found).all() and (found >= 0).all())
        kept &= bool((found[weights == 0] == 0).all())
    return [_check("weights are finite and not negative", fine), _check("a weight of 0 stays 0", kept)]


@njit
def _gather(inputs, tokens, position, m, positives, words, grams):
    return gather(inputs, tokens, position, m, positives, words, grams)


def _check_inputs(name, options):
    config = TrainConfig(loss="ns", inputs=name, workers=1, dim=_DIM, **options).resolved()
    spellings = PackedStrings.of([f"{k:b}" for k in range(_V)])
    inputs = config.make("inputs", RunContext(_COUNTS, _DIM, words=spellings))
    require_bodies("inputs", type(inputs))
    limits = [len(getattr(inputs, matrix, spellings)) for matrix in inputs.rows]  # rows of words, and of n-grams
    tokens = np.arange(_V, dtype=np.int32)
    room = tuple(int(n) for n in inputs.room(_N))
    right = fits = rows = True
    for position in range(_V):
        for m in range(1, 1 + _N):
            around = ((position + 1 + np.arange(_N)) % _V).astype(np.int32)
            places = [np.full(n, -1, np.int32) for n in room]
            with _fenced(tokens, around, *places) as arrays:
                positives, *counts = _gather(inputs, arrays[0], position, m, *arrays[1:])
            right &= positives == (1 if inputs.around else m)
            fits &= 1 <= counts[0] <= room[0] and 0 <= counts[1] <= room[1]
            parts = [place[: max(0, n)] for place, n in zip(arrays[2:], counts, strict=True)]
            rows &= all(((part >= 0) & (part < limit)).all() for part, limit in zip(parts, limits, strict=True))
    return [
        _check("the number of positives is right", right),
        _check("words and n-grams fit into its room", fits, f"room for {room[0]} and {room[1]}"),
        _check("ids are rows of their matrix", rows),
    ]
