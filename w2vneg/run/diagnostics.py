"""Diagnostics of a sampler's draws and of the gradients that the loss gives them: ``w2vneg train --diagnose``.

For a fixed sample of training pairs (a centre and one of its positives), sets of negatives are drawn repeatedly, and
nothing is trained. With p the full softmax, Q_i the sampler's target and ĝ the gradient of a pair with respect to its
centre's vector:

    total variation     ½ Σ_b |share of draws in bin b − 1/B|      bins of equal mass of Q_i, along the logit
    effective size      (Σ w)² / Σ w² of a set,                    w_k = p(j_k) / Q_i(j_k)
    true positives      share of the negatives with a weight that co-occur with the centre in the corpus
    negative gradient   mean of |∂L/∂s_k| · ‖x‖
    cosine, error       of E ĝ against g = Σ_j p_j y_j − y_positive, over all pairs as one long vector
    noise               √(E ‖ĝ − E ĝ‖²) / ‖g‖
    slopes a, b         s_ij ≈ c_i + a log P(j) + b PMI_ij,    least squares over frequent pairs of these centres
    drift               ½ Σ_j |Q_i(j) of the latest draws made ahead − Q_i(j) of the current model|

Words are sorted by logit, so that the bins of all pairs can be added up: draws that are too soft or too hard are so for
all pairs. The figure is then that of the distributions themselves, without the noise of thousands of words with a few
draws each. Distortions unrelated to the logit average out. The norm of E ĝ and its error are corrected for the variance
of a mean over finitely many sets.
"""

import time

import numpy as np

from ..ground.events import Diagnosis
from ..kernels.contracts import binds
from ..kernels.linalg import Rows
from ..kernels.observe import Pairs, Seen, enumerate_noise, observe, sample_groups
from ..kernels.schedule import stream_key

_PAIRS, _SETS, _BINS = 200, 200, 20
_WORDS = 30_000_000  # pairs times words to enumerate
_NUMBERS = 4_000_000  # negatives kept at a time; scores held at a time
_PRODUCTS = 1.5e10  # most multiplications for draws made ahead; about two seconds
_STRETCH = 200  # tokens in which to look for a group
_OFTEN, _FEWEST = 20, 100  # for slopes: least count of a pair, and least number of such pairs
_PLACES, _DRAWN = 7, 8  # first part of a random stream's name


class Diagnoser:
    """Diagnoses the model of an engine repeatedly, always on the same pairs.

    engine : LocalEngine; data : EncodedCorpus or EncodedPairs; config : RunSpec
    n_pairs, n_sets : int, at most; fewer if the vocabulary or the sets are large
    trains : bool, this engine's own draws train the model, rather than those of remote ranks
    """

    def __init__(self, engine, data, config, n_pairs=_PAIRS, n_sets=_SETS, trains=True):
        self.engine, self.seed, self.trains = engine, config.seed, trains
        n_vocab, dim = engine.vectors_out.shape
        n = engine.shape.n_negatives
        n_pairs = max(5, min(n_pairs, _WORDS // n_vocab, _NUMBERS // (8 * n)))
        most = _NUMBERS // (n_pairs * n)
        if engine.plugs.sampler.batch_groups:
            most = min(most, int(_PRODUCTS / (n_pairs * n_vocab * dim)))
        self.n_sets = max(8, min(n_sets, most))
        self.pairs = _sample_pairs(engine, config.seed, n_pairs)
        beside = data.traversal.cooccurrences(data, config, self.pairs.centres)
        self.known, self.law = beside > 0, _parts_of_the_law(beside, self.pairs.centres, data.vocab_out.counts)

    def diagnose(self, epoch):
        """Return the `Diagnosis` of the current model, None if there is no pair. epoch : int, from 1"""
        begun = time.perf_counter()
        if not len(self.pairs.centres):
            return None
        model = self.engine.vectors_in, self.engine.vectors_out
        drift = self.engine.plugs.sampler.drift(*model) if self.trains else None
        seen = self._draw(epoch)
        figures = [_evaluate(*part) for part in self._parts(epoch, seen)]
        size = len(self.pairs.centres), self.n_sets, seen.ids.shape[2]
        return Diagnosis(epoch, *size, *_summary(figures), *self._slopes(), drift, time.perf_counter() - begun)

    def _slopes(self):
        """Return the slopes of the logits on log P(j) and on PMI (float, float), or (None, None) for too few pairs."""
        if self.law is None:
            return None, None
        centres, targets, counts, parts = self.law
        logits = np.einsum("nd,nd->n", self.engine.vectors_in[centres], self.engine.vectors_out[targets])
        logits = np.abs(logits) if self.engine.shape.absolute else logits
        logits = _centred(logits.astype(np.float64), centres, counts)
        slopes = np.linalg.lstsq((parts * counts) @ parts.T, (parts * counts) @ logits, rcond=None)[0]
        return tuple(slopes.tolist()) if np.isfinite(slopes).all() else (None, None)

    def _rows(self):
        engine = self.engine
        return tuple(Rows(m, 0, len(m), 0, engine.width) for m in (engine.vectors_in, engine.vectors_out))

    def _refresh(self, centres, key):
        """If the sampler draws ahead, let it draw for these centres, in its first places."""
        engine, sampler = self.engine, self.engine.plugs.sampler
        if sampler.batch_groups:
            places = np.full((engine.workers, sampler.batch_groups), -1, np.int32)
            places[0, : len(centres)] = centres
            sampler.refresh(engine.vectors_in, engine.vectors_out, places, key)

    def _draw(self, epoch):
        """Return a `Seen` whose arrays are (n_sets, n_pairs, …)."""
        plugs, shape = self.engine.plugs, self.engine.shape
        n_pairs, n = len(self.pairs.centres), shape.n_negatives
        tasks = np.tile(np.arange(n_pairs), self.n_sets)
        size = len(tasks), 1 + n
        seen = Seen(np.empty((len(tasks), n), np.int32), np.empty(size, np.float32), np.empty(size, np.float32))
        rng = np.array([stream_key(_DRAWN, self.seed, epoch)], np.uint64)
        batch = min(plugs.sampler.batch_groups or len(tasks), len(tasks))
        for start in range(0, len(tasks), batch):
            part = slice(start, start + batch)
            self._refresh(self.pairs.centres[tasks[part]], stream_key(_DRAWN, self.seed, epoch, start))
            observe(plugs, shape, *self._rows(), self.pairs, tasks[part], n_pairs, rng, Seen(*(a[part] for a in seen)))
        return Seen(*(array.reshape(self.n_sets, n_pairs, -1) for array in seen))

    def _parts(self, epoch, seen):
        """Yield the arguments of `_evaluate` for every pair, scoring all words for a few centres at a time."""
        engine = self.engine
        vectors_in, vectors_out = engine.vectors_in, engine.vectors_out
        size = max(1, _NUMBERS // len(vectors_out))
        size = min(size, engine.plugs.sampler.batch_groups or size)
        for start in range(0, len(self.pairs.centres), size):
            centres = self.pairs.centres[start : start + size]
            x = vectors_in[centres]
            scores = x @ vectors_out.T
            targets = self._log_targets(epoch, centres, scores)
            signs = np.where(scores < 0, -1.0, 1.0) if engine.shape.absolute else None
            for c, row in enumerate(scores):
                pair = start + c
                sign, target = (None if each is None else each[c] for each in (signs, targets))
                positive, of_pair = int(self.pairs.positives[pair, 0]), Seen(*(array[:, pair] for array in seen))
                logits = row.astype(np.float64)
                yield x[c], vectors_out, logits, sign, target, positive, self.known[pair], of_pair

    def _log_targets(self, epoch, centres, scores):
        """Return the log of the sampler's target, up to a constant per row, (n_centres, n_vocab), or None."""
        sampler = self.engine.plugs.sampler
        targets = [sampler.log_target(c, row) for c, row in zip(centres, scores.astype(np.float64), strict=True)]
        if targets and targets[0] is not None:
            return np.array(targets)
        if not (sampler.gives_log_q and binds("log_prob", type(sampler))):
            return None
        log_q, words = np.zeros_like(scores), np.arange(scores.shape[1], dtype=np.int32)
        rng = np.array([stream_key(_DRAWN, self.seed, epoch, len(centres))], np.uint64)
        self._refresh(centres, rng[0])
        n = self.engine.shape.n_negatives
        enumerate_noise(sampler, *self._rows(), centres, n, rng, words, scores, log_q)
        return log_q.astype(np.float64)


def _parts_of_the_law(beside, centres, totals):
    """Return centres, targets, counts, and log P(j) and PMI, (2, n), of frequent pairs; None if there are too few.

    beside : co-occurrence counts, (n_centres, n_vocab); totals : int64, (n_vocab,), counts of targets
    """
    distinct, first = np.unique(centres, return_index=True)
    beside = beside[first].astype(np.float64)
    row, targets = np.nonzero(beside >= _OFTEN)
    if len(row) < _FEWEST:
        return None
    counts, centres = beside[row, targets], distinct[row]
    popular = np.log(totals[targets] / totals.sum())
    parts = popular, np.log(counts / beside.sum(axis=1)[row]) - popular
    return centres, targets, counts, np.stack([_centred(part, centres, counts) for part in parts])


def _centred(values, centres, counts):
    """Return values minus their mean for each centre, weighted by counts."""
    total = np.maximum(np.bincount(centres, counts), 1e-300)
    return values - (np.bincount(centres, counts * values) / total)[centres]


def _sample_pairs(engine, seed, n_pairs):
    """Return `Pairs` as in training: from the whole corpus, after subsampling, fixed by the seed."""
    shape = engine.shape
    rng = np.random.default_rng(stream_key(_PLACES, seed))
    starts = rng.integers(0, engine.walk.n_positions, 4 * n_pairs)
    ranges = np.stack([starts, np.minimum(starts + _STRETCH, engine.walk.n_positions)], axis=1)
    n = len(ranges)
    pairs = Pairs(np.zeros(n, np.int32), np.zeros((n, shape.max_positives), np.int32), np.zeros(n, np.int64))
    tokens = np.empty(engine.walk.room(_STRETCH), np.int32)
    stream = np.array([stream_key(_PLACES, seed, 1)], np.uint64)
    sample_groups(engine.plugs.source, ranges, stream[0], stream, tokens, pairs)
    found = np.flatnonzero(pairs.sizes)[:n_pairs]
    pairs = Pairs(*(np.ascontiguousarray(array[found]) for array in pairs))
    for positives, size in zip(pairs.positives, pairs.sizes, strict=True):
        positives[:size] = rng.permutation(positives[:size])
    return pairs


def _evaluate(x, vectors_out, logits, signs, log_target, positive, known, seen):
    """Return draws in each bin, float64 (_BINS,), and effective sizes of sets, both None if unknown; numbers of a pair.

    Numbers: draws, draws with a weight, and true positives among these; the sum of the negatives' norms; ⟨Eĝ, g⟩,
    ‖Eĝ‖², ‖g‖², and the variance of one set's ĝ.

    x : float32, (dim,); vectors_out : float32, (n_vocab, dim); logits : float64, (n_vocab,)
    signs : float64, (n_vocab,), of the logits if the model takes their absolute values, else None
    log_target : float64, (n_vocab,), up to a constant, or None; positive : int; known : bool, (n_vocab,)
    seen : Seen, its arrays (n_sets, …)
    """
    energies = logits if signs is None else logits * signs
    from scipy import special

    p = special.softmax(energies)
    there = seen.ids >= 0
    counts = there & (seen.weights[:, 1:] > 0)
    bins = effective = None
    if log_target is not None:
        bins = _bins(logits, special.softmax(log_target), seen.ids[there])
        log_w = np.where(there, energies[seen.ids] - log_target[seen.ids], -np.inf)
        w = np.exp(log_w - np.maximum(log_w.max(axis=1, keepdims=True), -1e300))
        squares = (w**2).sum(axis=1)
        effective = w.sum(axis=1) ** 2 / np.where(squares > 0, squares, 1)
    size = np.abs(seen.gradients[:, 1:][counts].astype(np.float64)).sum() * np.linalg.norm(x)
    full = (p if signs is None else p * signs).astype(np.float32) @ vectors_out
    full = full - vectors_out[positive] * np.float32(1.0 if signs is None else signs[positive])
    each = np.einsum("rk,rkd->rd", seen.gradients[:, 1:], vectors_out[seen.ids])
    each = (each + seen.gradients[:, :1] * vectors_out[positive]).astype(np.float64)
    mean = each.mean(axis=0)
    spread = ((each - mean) ** 2).sum() / (len(each) - 1)
    gradient = float(mean @ full), float(mean @ mean - spread / len(each)), float(full.astype(np.float64) @ full)
    drawn = int(there.sum()), int(counts.sum()), int((known[seen.ids] & counts).sum())
    return bins, effective, (*drawn, size, *gradient, float(spread))


def _bins(logits, target, ids):
    """Return the number of draws in each bin, float64 (_BINS,).

    In order of logits, each word covers a segment of [0, 1] as long as its probability under the target. Bins divide
    [0, 1] into equal parts, and a draw is spread over the segment of its word.
    """
    order = np.argsort(logits)
    upper = np.empty(len(target))
    upper[order] = np.cumsum(target[order])
    words, counts = np.unique(ids, return_counts=True)
    width = np.maximum(target[words], 1e-12)
    top = np.minimum(upper[words], 1.0)[:, None]
    edges = np.linspace(0, 1, _BINS + 1)
    covered = np.minimum(top, edges[1:]) - np.maximum(top - width[:, None], edges[:-1])
    shares = np.maximum(covered, 0)
    return counts @ (shares / np.maximum(shares.sum(axis=1, keepdims=True), 1e-300))


def _ratio(above, below):
    """Return the quotient (float), or None if the divisor is not positive or the result not finite."""
    return float(above / below) if below > 0 and np.isfinite(above / below) else None


def _summary(figures):
    """Combine the figures of all pairs into those of a `Diagnosis`, from total variation to noise."""
    bins, sizes, numbers = zip(*figures, strict=True)
    drawn, counted, true, norms, inner, own, full, spread = map(sum, zip(*numbers, strict=True))
    distance = floor = effective = None
    if bins[0] is not None and drawn:
        distance = float(np.abs(sum(bins) / drawn - 1 / _BINS).sum() / 2)
        floor = float(np.sqrt((_BINS - 1) / (2 * np.pi * drawn)))
        effective = float(np.mean([of_sets.mean() for of_sets in sizes]))
    own = max(own, 0.0)
    cosine = _ratio(inner, np.sqrt(own * full))
    error = _ratio(np.sqrt(max(own - 2 * inner + full, 0.0)), np.sqrt(full))
    found = distance, floor, effective, _ratio(true, counted), _ratio(norms, counted)
    gradient = None if cosine is None else min(1.0, cosine), error, _ratio(np.sqrt(spread), np.sqrt(full))
    return *found, *gradient
