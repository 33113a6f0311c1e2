"""How many words answer an analogy better than the right one: counted over products of single words, then made exact.

The score of w for "a is to b as c is to ?" is q · w with q = b − a + c. As q · w is close to b·w − a·w + c·w, the
products of the few distinct words of all questions with a tile of the vocabulary serve every question. Whatever comes
within `margin` of the right answer is scored again, in double precision and from q itself.
"""

import numpy as np

from ...ground.jit import njit, prange

_STRETCH = 512  # words looked at again together if one of them is close


@njit
def _exact(unit, question, row):
    """Return q · w in float64, q rounded to float32 as a vector would be."""
    a, b, c = question[0], question[1], question[2]
    total = 0.0
    for k in range(unit.shape[1]):
        total += np.float64(np.float32(np.float32(unit[b, k] - unit[a, k]) + unit[c, k])) * np.float64(unit[row, k])
    return total


@njit(borrows=True)
def _count(first, second, third, low, high):
    """Count the scores from `low` on, and those above `high`."""
    near = above = np.int32(0)
    for j in range(first.shape[0]):
        score = np.float32(first[j] - second[j]) + third[j]
        near += np.int32(score >= low)
        above += np.int32(score > high)
    return near, above


@njit
def _better(unit, question, products, places, start, right, margin):
    """Return how many words of one tile answer one question better."""
    a, b, c, d = question
    low, high = np.float32(right - margin), np.float32(right + margin)
    better = np.int64(0)
    for begin in range(0, products.shape[1], _STRETCH):
        end = min(begin + _STRETCH, products.shape[1])
        first, second, third = (
            products[places[1], begin:end],
            products[places[0], begin:end],
            products[places[2], begin:end],
        )
        near, above = _count(first, second, third, low, high)
        better += above
        for asked, repeated in ((a, False), (b, b == a), (c, c in (a, b))):
            j = asked - start - begin
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
    """Count the words that are better answers than the right one, or as good and in a lower row.

    Parameters
    ----------
    unit : ndarray, float32, (n, dim)
        Vectors of length one or zero; C-contiguous.
    questions : ndarray, int64, (n_questions, 4)
        Rows of a, b, c and d; a, b and c are no answers.
    products_at_once : int
        How many products are held at a time.

    Returns
    -------
    ndarray, int64, (n_questions,)
    """
    asked, places = np.unique(questions[:, :3], return_inverse=True)
    places = places.reshape(-1, 3)
    right, better = np.empty(len(questions)), np.zeros(len(questions), np.int64)
    _right_scores(unit, questions, right)
    # Each product is off by at most dim roundings of 2^-24, q and the two sums by a few: on both sides of a comparison.
    margin = 2 * (3 * unit.shape[1] + 12) * 2.0**-24
    rows = unit[asked]
    width = max(64, products_at_once // len(asked))
    products = np.empty(len(asked) * width, np.float32)
    for start in range(0, len(unit), width):
        tile = unit[start : start + width]
        out = products[: len(asked) * len(tile)].reshape(len(asked), len(tile))
        _add_tile(unit, questions, places, np.matmul(rows, tile.T, out=out), start, right, margin, better)
    return better
