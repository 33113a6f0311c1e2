"""Letters: words that are spelt alike are drawn together, rare ones most; and any spelling has a vector.

F: words by character n-grams of ``<word>``, those that occur in two words or more; rows of length one. Z is centred.

    B = argmin Σ_w n_w / (n_w + κ) ‖z_w − F_w B‖² + λ ‖B‖²      (conjugate gradients)
    z_w ← (1 − p_w) z_w + p_w F_w B,                            p_w = max(κ / (n_w + κ), φ)

n_w counts the word, κ is the prior's worth in occurrences, φ the share of spelling in the most frequent words. A word
never seen has the vector F_w B. The prior helps where meaning shows in the spelling: grammar, derived and rare words.
It knows nothing of meaning by itself; a larger φ costs semantic analogies.
"""

import numpy as np

from ...ground.jit import available_threads, launch
from ...kernels.sparse import COLUMNS, multiply
from . import READOUTS, About, Readout, option

_STEPS = 8  # of conjugate gradients: more fit the vectors' noise, and score the same or lower
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


class Spellings:
    """Vectors of any spelling, of n-grams of `shortest` to `longest` characters.

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
        prior: float = option(20.0, "Occurrences that spelling is worth.", above=0)
        ridge: float = option(0.3, "Ridge penalty on the coefficients of n-grams.", above=0)
        minn: int = option(3, "Shortest character n-gram.", at_least=1, at_most=20)
        maxn: int = option(6, "Longest character n-gram.", at_least=1, at_most=20)

    refines = True
    matrices = ()
    of_text = True
    about = About(
        summary="words that are spelt alike are drawn together, rare ones most; any spelling has a vector",
        equation="z_w ← (1 − p_w) z_w + p_w F_w B, p_w = max(κ / (n_w + κ), φ)",
        paper="our own; n-grams as in Bojanowski et al. 2017",
        cost="16 products of a sparse matrix, V by n-grams, with the vectors",
        use="text: rare words and grammar gain most; frequent words give up a little of what they mean",
    )

    def memory(self, n_vocab, dim):
        threads = min(available_threads(), -(-dim // COLUMNS))
        return 4 * n_vocab * dim + (600 + 550 * threads) * n_vocab  # of F and its transpose, and of what is solved for

    def read(self, trained, vectors):
        options = self.options
        grams, f = gram_matrix(trained.words, options.minn, max(options.minn, options.maxn))
        mean, kept = vectors.mean(axis=0, dtype=np.float64).astype(np.float32), trained.keeps(vectors)
        centred = np.subtract(vectors, mean, out=np.empty(vectors.shape, np.float32) if kept else vectors)
        counts = np.asarray(trained.counts, np.float64)
        sureness = (counts / (counts + options.prior)).astype(np.float32)[:, None]
        share = np.maximum(options.prior / (counts + options.prior), options.share).astype(np.float32)[:, None]
        dim, transposed = centred.shape[1], f.T.tocsr()
        coefficients = np.empty((len(grams), dim), np.float32) if trained.spell else None
        starts = range(0, dim, COLUMNS)

        def solve(part):
            columns = slice(starts[part], min(starts[part] + COLUMNS, dim))
            width = columns.stop - columns.start
            z = np.zeros((len(centred), COLUMNS), np.float32)
            z[:, :width] = centred[:, columns]
            b = _solve(f, transposed, sureness, z, np.float32(options.ridge))
            if coefficients is not None:
                coefficients[:, columns] = b[:, :width]
            fitted = _times(f, b, np.empty_like(z))
            fitted *= share
            fitted += np.multiply(z, 1 - share, out=z)
            centred[:, columns] = fitted[:, :width]
            if trained.progress is not None:
                trained.progress(part + 1, len(starts))

        launch(solve, len(starts))
        if coefficients is not None:
            self.spellings = Spellings(grams, coefficients, options.minn, max(options.minn, options.maxn))
        return centred


def characters(text):
    """Return the code points of a text, uint64 (n,)."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32).astype(np.uint64)


def mixed(codes):
    """Return numbers of characters, neighbouring ones far apart: uint64 (n,)."""
    codes = (codes + np.uint64(1)) * _MULTIPLIER
    return codes ^ codes >> np.uint64(29)


def hashed_grams(words, shortest, longest):
    """Return the character n-grams of each ``<word>``: their hashes, uint64 (n,), and the words' numbers, int32 (n,).

    Shortest first. That two of some millions share a hash has a chance of about one in a million.
    """
    found = [(np.empty(0, np.uint64), np.empty(0, np.int32)), *_by_length(words, shortest, longest)]
    hashes, owners = map(np.concatenate, zip(*found, strict=True))
    return hashes, owners


def _by_length(words, shortest, longest):
    """Yield what `hashed_grams` returns, n-grams of one length at a time."""
    marked = [f"<{word}>" for word in words]
    codes = mixed(characters("".join(marked)))
    owner = np.repeat(np.arange(len(marked), dtype=np.int32), [len(word) for word in marked])
    del marked
    last = np.zeros(len(codes), np.uint64)
    for n in range(1, min(longest, len(codes)) + 1):
        end = len(codes) - n + 1
        last = last[:end] * _MULTIPLIER + codes[n - 1 :]
        if n >= shortest:
            inside = owner[:end] == owner[n - 1 :]
            yield last[inside], owner[:end][inside]


def gram_matrix(words, shortest, longest):
    """Return the n-grams that occur in two words or more, uint64, (n_grams,), sorted hashes; and F, a csr_matrix,
    float32, (n_words, n_grams), zero for a word without any.
    """
    from scipy import sparse  # a quarter of a second, and most runs need it not

    empty = np.empty(0, np.uint64), np.empty(0, np.int32), np.empty(0, np.int64)
    found = [empty, *(_shared(*grams) for grams in _by_length(words, shortest, longest))]
    grams, owners, met = map(np.concatenate, zip(*found, strict=True))
    del found
    starts = np.concatenate([[0], np.cumsum(met)])
    order = np.argsort(grams)
    by_gram = sparse.csr_matrix((np.ones(len(owners), np.int8), owners, starts), (len(grams), len(words)))[order]
    f = by_gram.T.tocsr()
    sizes = np.diff(f.indptr)
    f.data = np.repeat(1 / np.sqrt(np.maximum(sizes, 1)).astype(np.float32), sizes)
    return grams[order], f


def _shared(hashes, owners):
    """Return the n-grams, of one length, of two words or more, the words of each, and how many; by rising hashes."""
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


def _times(matrix, x, out):
    """Return the product of a csr_matrix with `COLUMNS` numbers a row, in `out`."""
    multiply(matrix.indptr, matrix.indices, matrix.data, x, out)
    return out


def _solve(f, transposed, sureness, z, ridge):
    """Return B for `COLUMNS` of Z, float32 (n_grams, COLUMNS): each has its own steps of conjugate gradients."""
    b, fitted = np.zeros((f.shape[1], COLUMNS), np.float32), np.multiply(sureness, z)
    image, scratch = np.empty_like(b), np.empty_like(b)  # memory is asked for once, for it is large
    rest = _times(transposed, fitted, np.empty_like(b))
    along = rest.copy()
    size = np.einsum("ij,ij->j", rest, rest)
    for _ in range(_STEPS):
        np.multiply(_times(f, along, fitted), sureness, out=fitted)
        _times(transposed, fitted, image)
        image += np.multiply(along, ridge, out=scratch)
        step = size / np.maximum(np.einsum("ij,ij->j", along, image), np.float32(1e-30))
        b += np.multiply(along, step, out=scratch)
        rest -= np.multiply(image, step, out=scratch)
        before, size = size, np.einsum("ij,ij->j", rest, rest)
        along *= size / np.maximum(before, np.float32(1e-30))
        along += rest
    return b
