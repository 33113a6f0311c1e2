"""Letters: words with similar spellings move together, rare ones most; and any spelling has a vector.

F: words by character n-grams of ``<word>``, those that occur in two words or more; rows of length one. Z is centred.

    B = argmin Σ_w n_w / (n_w + κ) ‖z_w − F_w B‖² + λ ‖B‖²      (conjugate gradients)
    z_w ← (1 − p_w) z_w + p_w F_w B,                            p_w = max(κ / (n_w + κ), φ)

n_w is the word's count, κ the weight of the prior in occurrences, φ the share of spelling in the most frequent words.
An unseen word has the vector F_w B. The prior helps where spelling shows meaning: grammar, derived and rare words. It
knows no meaning beyond that; a larger φ costs semantic analogies.
"""

import numpy as np

from ...ground.jit import available_threads, launch
from ...kernels.sparse import COLUMNS, blend, descend, normal_product, right_side
from . import READOUTS, About, Readout, option

_STEPS = 8  # of conjugate gradients: more steps fit the vectors' noise, and score the same or lower
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


class Spellings:
    """Vectors of any spelling, from n-grams of `shortest` to `longest` characters.

    grams : uint64, (n_grams,), their sorted hashes; coefficients : float32, (n_grams, dim), B
    """

    def __init__(self, grams, coefficients, shortest, longest):
        self.grams, self.coefficients = grams, coefficients
        self.shortest, self.longest = shortest, longest

    def vector(self, word):
        """Return the vector of a spelling, float32 (dim,); None if none of its n-grams is known."""
        hashes = np.unique(hashed_grams([word], self.shortest, self.longest)[0])
        places = np.minimum(np.searchsorted(self.grams, hashes), len(self.grams) - 1)
        known = places[self.grams[places] == hashes] if len(self.grams) else places[:0]
        if not len(known):
            return None
        return self.coefficients[known].sum(axis=0) / np.float32(np.sqrt(len(known)))


@READOUTS.register("letters")
class Letters(Readout):
    class Options:
        share: float = option(0.3, "Share of spelling in the vector of a frequent word.", at_least=0, at_most=1)
        prior: float = option(20.0, "Weight of spelling, in occurrences of a word.", above=0)
        ridge: float = option(0.3, "Ridge penalty on the coefficients of n-grams.", above=0)
        minn: int = option(3, "Shortest character n-gram.", at_least=1, at_most=20)
        maxn: int = option(6, "Longest character n-gram.", at_least=1, at_most=20)

    refines = True
    matrices = ()
    of_text = True
    about = About(
        summary="words with similar spellings move together, rare ones most; any spelling has a vector",
        equation="z_w ← (1 − p_w) z_w + p_w F_w B, p_w = max(κ / (n_w + κ), φ)",
        paper="our own; n-grams as in Bojanowski et al. 2017",
        cost="16 products of a sparse matrix, V by n-grams, with the vectors",
        use="text: rare words and grammar gain most; frequent words lose a little of their meaning",
    )

    def memory(self, n_vocab, dim):
        threads = min(available_threads(), -(-dim // COLUMNS))
        return 4 * n_vocab * dim + (300 + 650 * threads) * n_vocab  # for F and for the solver

    def read(self, trained, vectors):
        options, words = self.options, list(trained.words)
        order = np.array(sorted(range(len(words)), key=words.__getitem__), np.int64)  # kin share cached rows
        longest = max(options.minn, options.maxn)
        grams, f = gram_matrix([words[row] for row in order.tolist()], options.minn, longest)
        del words
        mean, kept = vectors.mean(axis=0, dtype=np.float64).astype(np.float32), trained.keeps(vectors)
        centred = np.subtract(vectors, mean, out=np.empty(vectors.shape, np.float32) if kept else vectors)
        counts = np.asarray(trained.counts, np.float64)[order]
        sureness = (counts / (counts + options.prior)).astype(np.float32)
        share = np.maximum(options.prior / (counts + options.prior), options.share).astype(np.float32)
        scale = (1 / np.sqrt(np.maximum(np.diff(f.indptr), 1))).astype(np.float32)
        spelt, dim = (f.indptr, f.indices, scale), centred.shape[1]
        coefficients = np.empty((len(grams), dim), np.float32) if trained.spell else None
        starts = range(0, dim, COLUMNS)

        def solve(part):
            first, width = starts[part], min(COLUMNS, dim - starts[part])
            row = np.empty(3 * COLUMNS, np.float32)[COLUMNS : 2 * COLUMNS]  # no other thread writes to its lines
            place = centred, order, first, width
            b = _solve(spelt, sureness, place, np.float32(options.ridge), len(grams), row)
            if coefficients is not None:
                coefficients[:, first : first + width] = b[:, :width]
            blend(*spelt, share, b, *place, row, 1)

        launch(solve, len(starts))
        if coefficients is not None:
            by_hash = np.argsort(grams)
            self.spellings = Spellings(grams[by_hash], coefficients[by_hash], options.minn, longest)
        return centred


def hashed_grams(words, shortest, longest):
    """Return the character n-grams of each ``<word>``: their hashes, uint64 (n,), and the words' numbers, int32 (n,).

    Shortest first. The chance that any two of a few million hashes collide is about one in a million.
    """
    found = [(np.empty(0, np.uint64), np.empty(0, np.int32)), *_by_length(words, shortest, longest)]
    hashes, owners = map(np.concatenate, zip(*found, strict=True))
    return hashes, owners


def _by_length(words, shortest, longest):
    """Yield what `hashed_grams` returns, n-grams of one length at a time."""
    marked = [f"<{word}>" for word in words]
    codes = np.frombuffer("".join(marked).encode("utf-32-le", "surrogatepass"), np.uint32).astype(np.uint64)
    codes = (codes + np.uint64(1)) * _MULTIPLIER
    codes ^= codes >> np.uint64(29)  # neighbouring characters are now far apart
    owner = np.repeat(np.arange(len(marked), dtype=np.int32), [len(word) for word in marked])
    del marked
    last: np.ndarray = np.zeros(len(codes), np.uint64)
    for n in range(1, min(longest, len(codes)) + 1):
        end = len(codes) - n + 1
        last = last[:end] * _MULTIPLIER + codes[n - 1 :]
        if n >= shortest:
            inside = owner[:end] == owner[n - 1 :]
            yield last[inside], owner[:end][inside]


def gram_matrix(words, shortest, longest):
    """Return the n-grams that occur in two words or more, uint64, (n_grams,), hashes in the order of their first words;
    and F, a csr_matrix, float32, (n_words, n_grams), zero for a word without one.
    """
    from scipy import sparse  # takes a quarter of a second, and most runs do not need it

    empty = np.empty(0, np.uint64), np.empty(0, np.int32), np.empty(0, np.int64)
    found = [empty, *(_shared(*grams) for grams in _by_length(words, shortest, longest))]
    grams, owners, met = map(np.concatenate, zip(*found, strict=True))
    del found
    starts = np.concatenate([[0], np.cumsum(met)])
    order = np.argsort(owners[starts[:-1]], kind="stable")
    by_gram = sparse.csr_matrix((np.ones(len(owners), np.int8), owners, starts), (len(grams), len(words)))[order]
    f = by_gram.T.tocsr()
    sizes = np.diff(f.indptr)
    f.data = np.repeat(1 / np.sqrt(np.maximum(sizes, 1)).astype(np.float32), sizes)
    return grams[order], f


def _shared(hashes, owners):
    """Return the n-grams of one length in two words or more, sorted by hash, the words of each, and their number."""
    order = np.argsort(hashes, kind="stable")
    hashes, owners = hashes[order], owners[order]
    del order
    fresh = np.ones(len(hashes), bool)  # a word counts once for an n-gram that it has twice
    fresh[1:] = (hashes[1:] != hashes[:-1]) | (owners[1:] != owners[:-1])
    hashes, owners = hashes[fresh], owners[fresh]
    fresh = np.ones(len(hashes), bool)
    fresh[1:] = hashes[1:] != hashes[:-1]
    firsts = np.flatnonzero(fresh)
    met = np.diff(firsts, append=len(hashes))
    return hashes[firsts[met > 1]], owners[np.repeat(met > 1, met)], met[met > 1]


def _solve(spelt, sureness, place, ridge, n_grams, row):
    """Return B for some columns of Z, float32 (n_grams, COLUMNS): each has its own steps of conjugate gradients.

    spelt, sureness, place, row : as `kernels.sparse.right_side` takes them
    """
    rest = np.empty((n_grams, COLUMNS), np.float32)
    right_side(*spelt, sureness, *place, rest, row, 1)
    b, image, along = np.zeros_like(rest), np.empty_like(rest), rest.copy()
    products, size = np.empty(COLUMNS), np.einsum("ij,ij->j", rest, rest, dtype=np.float64)
    for _ in range(_STEPS):
        normal_product(*spelt, sureness, ridge, along, image, row, products, 1)
        before, step = size.copy(), (size / np.maximum(products, 1e-30)).astype(np.float32)
        descend(step, along, image, b, rest, size, 1)
        along *= (size / np.maximum(before, 1e-30)).astype(np.float32)
        along += rest
    return b
