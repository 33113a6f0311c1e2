"""Which known words a misspelt one may have meant: all are compared with it, as arrays."""

import numpy as np

from .words import END

_LONGEST = 40  # letters of a word that is compared at all
_TWICE = range(4, 13)  # letters of a word that two edits leave recognisable
_BLOCK = 1 << 12  # words that are looked at together
_SWAPS = (2, 2, 1), (2, 3, 2), (3, 2, 2)  # letters of the word, of the other, edits: neighbours, and one edit between


def near_spellings(word, words, shown=3):
    """Return known words that differ from `word` in letter case or by one or two edits, the nearest first.

    An edit removes, adds or replaces a letter, or swaps two neighbours. Of equally near words those in lower rows come
    first.

    Parameters
    ----------
    word : str
    words : PackedStrings
        The known ones; those in lower rows are taken to be more frequent.

    Returns
    -------
    list of str, at most `shown`
    """
    if not 0 < len(word) <= _LONGEST:
        return []
    most = 2 if len(word) in _TWICE else 1
    found = [form for form in (word.lower(), word.capitalize(), word.upper(), word.title()) if form in words]
    code = _codes(word)
    blocks = [_likely(code, words, first, most) for first in range(0, len(words), _BLOCK)]
    if blocks:
        rows, others, lengths = (np.concatenate(parts, axis=-1) for parts in zip(*blocks, strict=True))
        edits = _edits(code, others, lengths, most)
        best = rows[np.argsort(edits, kind="stable")][: (edits <= most).sum()][: shown + len(found) + 1]
        found += [words[row] for row in best.tolist()]
    return [other for other in dict.fromkeys(found) if other != word][:shown]


def near_hint(word, words, otherwise="."):
    """Return ``"; did you mean …?"`` with the near spellings of a word, `otherwise` if there are none (str)."""
    near = near_spellings(word, words)
    return f"; did you mean {' or '.join(map(repr, near))}?" if near else otherwise


def _codes(text):
    """Return the code points of a str, uint32 (n,)."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)


def _likely(word, words, first, most):
    """Return those of a block of words, from row `first` on, that may be `most` edits or fewer away from `word`.

    word : uint32 (m,); words : PackedStrings
    Returns rows, int64 (n,); their letters, uint32 (m + most, n), and whatever stands behind their ends; and
    lengths, int64 (n,).
    """
    offsets = words.offsets[first : first + _BLOCK + 1]
    data = words.data[offsets[0] : offsets[-1]]
    begins = (np.frombuffer(data, np.uint8) & 0xC0) != 0x80  # bytes that begin a letter, or end a word
    starts = np.concatenate([[0], np.cumsum(begins)])[offsets - offsets[0]]
    letters = _codes(data.replace(END, b"\0").decode("utf-8", "surrogatepass"))
    lengths = np.diff(starts) - 1
    # An edit changes the length by one at most, and at most one letter gets lost.
    held = np.bitwise_or.reduceat(_bits(letters), starts[:-1])
    lost = sum((held & bit == 0).view(np.int8) for bit in np.unique(_bits(word)))
    rows = np.flatnonzero((np.abs(lengths - len(word)) <= most) & (lost <= most))
    places = starts[rows] + np.arange(len(word) + most)[:, None]
    return first + rows, letters.take(places, mode="clip"), lengths[rows]


def _bits(letters):
    """Return one of 64 bits for each letter, uint64: few letters share one."""
    return np.uint64(1) << (letters & 63).astype(np.uint64)


def _edits(word, others, lengths, most):
    """Return how many edits make others of a word: int8 (n,), right up to `most`; others, lengths : as of `_likely`

    The table of Damerau and Levenshtein, its middle only: cell (i, j) is what makes j letters of i.
    """
    m, n = len(word), len(lengths)
    far = np.full(n, most + 1, np.int8)
    cells, edits = {}, far.copy()
    for i in range(m + 1):
        for j in range(max(0, i - most), i + most + 1):
            best = np.full(n, min(max(i, j), most + 1), np.int8) if i * j == 0 else far
            if i * j:
                best = cells[i - 1, j - 1] + (word[i - 1] != others[j - 1])
                for beside in (cells.get((i - 1, j)), cells.get((i, j - 1))):
                    best = best if beside is None else np.minimum(best, beside + np.int8(1))
                for a, b, cost in _SWAPS:
                    if cost <= most and (i - a, j - b) in cells:
                        crossed = (word[i - a] == others[j - 1]) & (word[i - 1] == others[j - b])
                        best = np.where(crossed, np.minimum(best, cells[i - a, j - b] + np.int8(cost)), best)
            cells[i, j] = best
            if i == m:
                edits = np.where(lengths == j, best, edits)
    return edits
