"""Letters: words that are spelt alike are drawn together, rare ones most; and any spelling has a vector.

F: words by character n-grams of ``<word>``, those that occur in two words or more; rows of length one. Z is centred.

    B = argmin Σ_w n_w / (n_w + κ) ‖z_w − F_w B‖² + λ ‖B‖²      (conjugate gradients)
    z_w ← (1 − p_w) z_w + p_w F_w B,                            p_w = max(κ / (n_w + κ), φ)

n_w counts the word, κ is the prior's worth in occurrences, φ the share of spelling in the most frequent words. A word
never seen has the vector F_w B. The prior helps where meaning shows in the spelling: grammar, derived and rare words.
It knows nothing of meaning by itself; a larger φ costs semantic analogies.
"""

import numpy as np

from ...ground.jit import launch
from . import READOUTS, About, Readout, option

_STEPS = 8  # of conjugate gradients: more fit the vectors' noise, and score the same or lower
_COLUMNS = 16  # columns solved for at a time: what a product reads stays in the cache
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


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
        return 4 * n_vocab * dim + 600 * n_vocab  # of F and its transpose, and of sorting n-grams

    def read(self, trained, vectors):
        options = self.options
        grams, f = gram_matrix(trained.words, options.minn, max(options.minn, options.maxn))
        centred = np.empty((len(vectors), vectors.shape[1]), np.float32)
        np.subtract(vectors, vectors.mean(axis=0, dtype=np.float64).astype(np.float32), out=centred)
        counts = np.asarray(trained.counts, np.float64)
        sureness = (counts / (counts + options.prior)).astype(np.float32)[:, None]
        share = np.maximum(options.prior / (counts + options.prior), options.share).astype(np.float32)[:, None]
        dim, transposed = centred.shape[1], f.T.tocsr()
        kept = np.empty((len(grams), dim), np.float32) if trained.spell else None
        starts = range(0, dim, _COLUMNS)

        def solve(part):
            columns = slice(starts[part], starts[part] + _COLUMNS)
            z = np.ascontiguousarray(centred[:, columns])
            b = _solve(f, transposed, sureness, z, np.float32(options.ridge))
            if kept is not None:
                kept[:, columns] = b
            centred[:, columns] = (1 - share) * z + share * (f @ b)
            if trained.progress is not None:
                trained.progress(part + 1, len(starts))

        launch(solve, len(starts))
        if kept is not None:
            self.spellings = Spellings(grams, kept, options.minn, max(options.minn, options.maxn))
        return centred


def characters(text):
    """Return the code points of a text, uint64 (n,)."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32).astype(np.uint64)


def mixed(codes):
    """Return numbers of characters, neighbouring ones far apart: uint64 (n,)."""
    codes = (codes + np.uint64(1)) * MULTIPLIER
    return codes ^ codes >> np.uint64(29)


def hashed_grams(words, shortest, longest):
    """Return the character n-grams of each ``<word>``: their hashes, uint64 (n,), and the words' numbers, int32 (n,).

    Shortest first. That two of some millions share a hash has a chance of about one in a million.
    """
    marked = [f"<{word}>" for word in words]
    codes = mixed(characters("".join(marked)))
    owner = np.repeat(np.arange(len(marked), dtype=np.int32), [len(word) for word in marked])
    hashes, owners, last = [], [], np.zeros(len(codes), np.uint64)
    for n in range(1, longest + 1):
        end = len(codes) - n + 1
        if end <= 0:
            break
        last = last[:end] * MULTIPLIER + codes[n - 1 :]
        if n >= shortest:
            inside = owner[:end] == owner[n - 1 :]
            hashes.append(last[inside])
            owners.append(owner[:end][inside])
    if not hashes:
        return np.empty(0, np.uint64), np.empty(0, np.int32)
    return np.concatenate(hashes), np.concatenate(owners)


def gram_matrix(words, shortest, longest):
    """Return the n-grams that occur in two words or more, uint64, (n_grams,), sorted hashes; and F, a csr_matrix,
    float32, (n_words, n_grams), zero for a word without any.
    """
    from scipy import sparse  # a quarter of a second, and most runs need it not

    hashes, owners = hashed_grams(words, shortest, longest)
    order = np.lexsort((owners, hashes))
    hashes, owners = hashes[order], owners[order]
    fresh = np.ones(len(hashes), bool)  # a word counts once for an n-gram that it has twice
    fresh[1:] = (hashes[1:] != hashes[:-1]) | (owners[1:] != owners[:-1])
    hashes, owners = hashes[fresh], owners[fresh]
    grams, columns, met = np.unique(hashes, return_inverse=True, return_counts=True)
    shared = met[columns] > 1
    number = np.cumsum(met > 1, dtype=np.int64) - 1
    rows, columns = owners[shared], number[columns[shared]].astype(np.int32)
    lengths = np.sqrt(np.bincount(rows, minlength=len(words))).astype(np.float32)
    f = sparse.csr_matrix((1 / lengths[rows], (rows, columns)), (len(words), int((met > 1).sum())), dtype=np.float32)
    return grams[met > 1], f


def _solve(f, transposed, sureness, z, ridge):
    """Return B for some columns of Z, float32 (n_grams, k): each column has its own steps of conjugate gradients."""
    b = np.zeros((f.shape[1], z.shape[1]), np.float32)
    rest = transposed @ (sureness * z)
    along = rest.copy()
    size = np.einsum("ij,ij->j", rest, rest)
    for _ in range(_STEPS):
        image = transposed @ (sureness * (f @ along)) + ridge * along
        step = size / np.maximum(np.einsum("ij,ij->j", along, image), np.float32(1e-30))
        b += step * along
        rest -= step * image
        before, size = size, np.einsum("ij,ij->j", rest, rest)
        along *= size / np.maximum(before, np.float32(1e-30))
        along += rest
    return b
