"""Ranks of targets, and of right answers to analogies, among scores: counted, not sorted, so that ties are known."""

from collections import namedtuple

import numpy as np

from ...ground.jit import LEAF, ZERO, njit, prange
from ..functions import fast_exp

_CHUNK = 1024  # exponentials summed in float32 before they join a float64 sum
_STRETCH = 512  # words of an analogy rescored together if one of them is close


Question = namedtuple("Question", "starts targets known_starts known")
"""The targets to rank in each row of scores, and the columns left out of it.

starts : int64, (b + 1,); targets : int32, (n,); row r ranks targets[starts[r] : starts[r + 1]], all distinct
known_starts : int64, (b + 1,); known : int32; columns to leave out, in the same layout, except for targets
"""


Answer = namedtuple("Answer", "own above equal log_z gone")
"""own : float64, (n,), each target's score
above, equal : int64, (n,), how many scores of its row are above it, how many others equal it
log_z : float64, (b,), log Σ e^score of the columns left in, error below 1e-5; NaN if a score is NaN or the top infinite
gone : int64, (b,), how many columns were left out
"""


@njit(borrows=True)
def _count(line, first, second, third, fourth, counts):
    """Count the scores above, and at or above, each of four bounds, into counts, int64 (2, 4).

    The four share each load; the results of comparisons are added up without a branch.
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
    total = ZERO
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
    """Set the scores of known columns to −∞, except for `targets`; return how many were newly set."""
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
    """Rank targets among the scores of their rows; return an `Answer`.

    scores : float32 or float64, (b, V), updated in place: columns left out are set to −∞
    """
    n, b = len(question.targets), len(scores)
    answer = Answer(np.empty(n), np.empty(n, np.int64), np.empty(n, np.int64), np.empty(b), np.empty(b, np.int64))
    _place_rows(scores, question, answer)
    return answer


@njit
def _exact(unit, question, row):
    """Return q · w in float64, with q rounded to float32 as a vector would be."""
    a, b, c = question[0], question[1], question[2]
    total = 0.0
    for k in range(unit.shape[1]):
        total += np.float64(np.float32(np.float32(unit[b, k] - unit[a, k]) + unit[c, k])) * np.float64(unit[row, k])
    return total


@njit(borrows=True)
def _count_close(first, second, third, low, high):
    near = above = np.int32(0)
    for j in range(first.shape[0]):
        score = np.float32(first[j] - second[j]) + third[j]
        near += np.int32(score >= low)
        above += np.int32(score > high)
    return near, above


@njit
def _better(unit, question, products, places, start, right, margin):
    a, b, c, d = question
    low, high = np.float32(right - margin), np.float32(right + margin)
    better = np.int64(0)
    for begin in range(0, products.shape[1], _STRETCH):
        end = min(begin + _STRETCH, products.shape[1])
        first, second = products[places[1], begin:end], products[places[0], begin:end]
        third = products[places[2], begin:end]
        near, above = _count_close(first, second, third, low, high)
        better += above
        for word, repeated in ((a, False), (b, b == a), (c, c in (a, b))):
            j = word - start - begin
            if 0 <= j < end - begin and not repeated:
                better -= np.float32(first[j] - second[j]) + third[j] > high
        if near == above:
            continue
        for j in range(end - begin):
            score, row = np.float32(first[j] - second[j]) + third[j], start + begin + j
            if score >= low and not score > high and row != a and row != b and row != c:
                exact = _exact(unit, question, row)
                better += exact > right or (exact == right and row < d)
    return better


@njit(parallel=True)
def _right_scores(unit, questions, right):
    for q in prange(len(questions)):
        right[q] = _exact(unit, questions[q], questions[q, 3])


@njit(parallel=True)
def _add_tile(unit, questions, places, products, start, right, margin, better):
    for q in prange(len(questions)):
        better[q] += _better(unit, questions[q], products, places[q], start, right[q], margin)


def count_better(unit, questions, products_at_once=1 << 22):
    """Count the words that score above the right answer, or equal it from a lower row: int64, (n_questions,).

    The score of w for "a is to b as c is to ?" is q · w with q = b − a + c. This is close to b·w − a·w + c·w, so the
    products of the few distinct words of all questions with a tile of the vocabulary serve every question. Words
    within `margin` of the right answer are scored again, in double precision and from q itself.

    unit : float32, (n, dim), contiguous, vectors of length one or zero
    questions : int64, (n_questions, 4), rows of a, b, c and d; a, b and c do not count as answers
    """
    words, places = np.unique(questions[:, :3], return_inverse=True)
    places = places.reshape(-1, 3)
    right, better = np.empty(len(questions)), np.zeros(len(questions), np.int64)
    _right_scores(unit, questions, right)
    # Each product is off by at most dim roundings of 2^-24, q and the two sums by a few; both scores compared are off.
    margin = 2 * (3 * unit.shape[1] + 12) * 2.0**-24
    rows = unit[words]
    width = max(64, products_at_once // len(words))
    products = np.empty(len(words) * width, np.float32)
    for start in range(0, len(unit), width):
        tile = unit[start : start + width]
        out = products[: len(words) * len(tile)].reshape(len(words), len(tile))
        _add_tile(unit, questions, places, np.matmul(rows, tile.T, out=out), start, right, margin, better)
    return better
