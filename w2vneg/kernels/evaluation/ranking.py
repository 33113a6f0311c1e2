"""Where held-out targets stand in their rows of scores: counted, not sorted, so that ties are known exactly."""

from typing import NamedTuple

import numpy as np

from ...ground.jit import LEAF, njit, prange
from ..functions import fast_exp

_CHUNK = 1024  # exponentials summed in float32 before they join a float64 sum
_ZERO = np.float32(0.0)


class Question(NamedTuple):
    """Which targets each row of scores asks for, and which are left out of it.

    starts : int64, (b + 1,); targets : int32, (n,); row r asks for targets[starts[r] : starts[r + 1]], all different
    known_starts : int64, (b + 1,); known : int32; those to be left out in the same way, unless they are asked for
    """

    starts: np.ndarray
    targets: np.ndarray
    known_starts: np.ndarray
    known: np.ndarray


class Answer(NamedTuple):
    """own : float64, (n,), each target's score
    above, equal : int64, (n,), how many of its row are above it, how many others are equal
    log_z : float64, (b,), log Σ e^score of what is left in a row, error below 1e-5; NaN where a score is no number
    gone : int64, (b,), how many were left out
    """

    own: np.ndarray
    above: np.ndarray
    equal: np.ndarray
    log_z: np.ndarray
    gone: np.ndarray


@njit(borrows=True)
def _count(line, first, second, third, fourth, counts):
    """Count the scores above, and at or above, each of four bounds: counts is int64 (2, 4).

    Four at a time share each load; comparisons are added up as they are, without a branch.
    """
    a = b = c = d = np.int32(0)
    e = f = g = h = np.int32(0)
    for j in range(line.shape[0]):
        v = line[j]
        a += np.int32(v > first)
        b += np.int32(v > second)
        c += np.int32(v > third)
        d += np.int32(v > fourth)
        e += np.int32(v >= first)
        f += np.int32(v >= second)
        g += np.int32(v >= third)
        h += np.int32(v >= fourth)
    counts[0, 0], counts[0, 1], counts[0, 2], counts[0, 3] = a, b, c, d
    counts[1, 0], counts[1, 1], counts[1, 2], counts[1, 3] = e, f, g, h


@njit(fastmath=LEAF, borrows=True)
def _sum_of_exponentials(line, low, high, top):
    total = _ZERO
    for j in range(low, high):
        total += fast_exp(np.float32(line[j] - top))
    return total


@njit(borrows=True)
def _highest(line):
    """Return the largest score of a row without NaN; four chains hide a comparison's latency."""
    a = b = c = d = line[0]
    quarter = line.shape[0] // 4
    for k in range(quarter):
        v, w, x, y = line[k], line[quarter + k], line[2 * quarter + k], line[3 * quarter + k]
        a = v if v > a else a
        b = w if w > b else b
        c = x if x > c else c
        d = y if y > d else d
    for k in range(4 * quarter, line.shape[0]):
        a = line[k] if line[k] > a else a
    return max(max(a, b), max(c, d))


@njit(borrows=True)
def _log_normaliser(line):
    """Return log Σ e^score of a row; NaN if a score is NaN or the largest is infinite."""
    n = line.shape[0]
    top = _highest(line)
    ordered = np.int32(0)
    for j in range(n):
        ordered += np.int32(line[j] <= top)
    if ordered < n or not np.isfinite(top):
        return np.nan
    total = 0.0
    for low in range(0, n, _CHUNK):
        total += np.float64(_sum_of_exponentials(line, low, min(low + _CHUNK, n), top))
    return np.float64(top) + np.log(total)


@njit(borrows=True)
def _leave_out(line, known, targets, own):
    """Set the scores of known targets to −∞, those of `targets` excepted; return how many became so."""
    gone = 0
    for k in range(known.shape[0]):
        gone += line[known[k]] != -np.inf
        line[known[k]] = -np.inf
    for k in range(targets.shape[0]):
        gone -= line[targets[k]] == -np.inf
        line[targets[k]] = own[k]
    return gone


@njit
def _place_row(r, scores, question, answer):
    line, counts = scores[r], np.empty((2, 4), np.int64)
    targets, first, last = question.targets, question.starts[r], question.starts[r + 1]
    for k in range(first, last):
        answer.own[k] = line[targets[k]]
    known = question.known[question.known_starts[r] : question.known_starts[r + 1]]
    answer.gone[r] = _leave_out(line, known, targets[first:last], answer.own[first:last])
    answer.log_z[r] = _log_normaliser(line)
    for k in range(first, last, 4):
        b, c, d = min(k + 1, last - 1), min(k + 2, last - 1), min(k + 3, last - 1)
        _count(line, line[targets[k]], line[targets[b]], line[targets[c]], line[targets[d]], counts)
        for n in range(k, min(k + 4, last)):
            answer.above[n] = counts[0, n - k]
            answer.equal[n] = counts[1, n - k] - counts[0, n - k] - 1


@njit(parallel=True)
def _place_rows(scores, question, answer):
    for r in prange(scores.shape[0]):
        _place_row(r, scores, question, answer)


def find_places(scores, question):
    """Place targets among the scores of their rows.

    Parameters
    ----------
    scores : float32 or float64, (b, V)
        Updated in place: what is left out gets −∞.
    question : Question

    Returns
    -------
    Answer
    """
    n, b = len(question.targets), len(scores)
    answer = Answer(np.empty(n), np.empty(n, np.int64), np.empty(n, np.int64), np.empty(b), np.empty(b, np.int64))
    _place_rows(scores, question, answer)
    return answer
