"""Subwords: a word's vector is the mean of its own row and those of its character n-grams, as in fastText.

    x_w = (v_w + Σ_g u_g) / (1 + |G_w|),    each of these rows ← itself − α dL/dx

G_w are the n-grams of ``<word>`` with minn to maxn characters, identified by bucket: FNV-1a of their bytes modulo the
number of buckets, as in fastText. Only buckets that the vocabulary uses have rows, the most frequent first.
"""

import numpy as np

from ...ground.errors import ConfigError
from ...kernels.bags import mean_rows
from ...kernels.contracts import implement_gather
from ...kernels.text.words import buckets_of
from ..plugs import About, Inputs, option, small_rows
from . import INPUTS

_WORDS, _GRAMS = 1, 2  # first part of a random stream's seed


class _Options:
    minn: int = option(3, "Shortest character n-gram.", at_least=1, at_most=20, common=True)
    maxn: int = option(6, "Longest character n-gram.", at_least=1, at_most=20, common=True)
    buckets: int = option(2_000_000, "Hash buckets of n-grams.", at_least=1, at_most=2**31 - 1)


class Grams(Inputs, base=True, fields=True):
    """Base of the inputs with n-grams.

    starts : int64, (n_vocab + 1,); grams : int32, those of word w are the rows ``grams[starts[w]:starts[w + 1]]``
    words_in, grams_in : float32, (n_vocab, dim) and (n_grams, dim), trained
    """

    starts: np.ndarray
    grams: np.ndarray
    words_in: np.ndarray
    grams_in: np.ndarray

    parameters = ("words_in", "grams_in")
    rows = ("words_in", "grams_in")
    derived = ("vectors_in",)
    of_text = True

    @classmethod
    def from_options(cls, options, context):
        starts, grams, used = rows_of_grams(context.words, context.counts, options.minn, options.maxn, options.buckets)
        dim, seed, bias = context.dim, context.run.seed, context.run.bias
        words_in = small_rows((len(starts) - 1, dim), [_WORDS, seed], bias)
        return cls(starts, grams, words_in, small_rows((max(1, len(used)), dim), [_GRAMS, seed], bias))

    @classmethod
    def normalise_options(cls, options, given):
        if options.minn > options.maxn:
            raise ConfigError(f"minn ({options.minn}) is above maxn ({options.maxn}), so no n-gram fits; lower minn")
        return options

    def room(self, most):
        longest = int(np.diff(self.starts).max())
        return (most, most * longest) if self.around else (1, longest)

    def compose(self, matrices):
        mean_rows(self.starts, self.grams, matrices["words_in"], matrices["grams_in"], matrices["vectors_in"])

    def touched(self, name, walk):
        often = super().touched(name, walk) * (walk.mean_group if self.around else 1)
        if name != "grams_in":
            return often
        by_gram = np.repeat(often, np.diff(self.starts))
        return np.bincount(self.grams, by_gram, minlength=len(self.grams_in))


@INPUTS.register("subwords")
class Subwords(Grams):
    Options = _Options
    about = About(
        summary="the mean of the word's row and those of its character n-grams: fastText",
        equation="x = (v_w + Σ_g u_g) / (1 + |G_w|)",
        paper="Bojanowski et al. 2017",
        cost="about 15 rows per centre, once for all of its pairs",
        use="rare words, highly inflected languages; in files of export --format fasttext, any spelling has a vector",
    )


@INPUTS.register("window+subwords")
class WindowSubwords(Grams):
    Options = _Options
    around = True
    alpha_scale = 2.0
    about = About(
        summary="the mean of the rows and n-grams of the context words: fastText's CBOW",
        equation="x = mean of v_w and u_g over all words w of the context and their n-grams g",
        paper="Bojanowski et al. 2017; Joulin et al. 2017",
        cost="about 15 rows per context word",
        use="as subwords, with CBOW instead of skip-gram",
    )


@implement_gather(Subwords)
def gather(inputs, tokens, position, m, positives, words, grams):
    word = words[0] = tokens[position]
    start = inputs.starts[word]
    n = inputs.starts[word + 1] - start
    for k in range(n):
        grams[k] = inputs.grams[start + k]
    return m, 1, n


@implement_gather(WindowSubwords)
def gather_around(inputs, tokens, position, m, positives, words, grams):
    n = 0
    for k in range(m):
        word = words[k] = positives[k]
        for place in range(inputs.starts[word], inputs.starts[word + 1]):
            grams[n] = inputs.grams[place]
            n += 1
    positives[0] = tokens[position]
    return 1, m, n


def rows_of_grams(words, counts, shortest, longest, buckets):
    """Return the n-grams of words (PackedStrings) as rows.

    starts, grams : int64, (n_words + 1,), int32, (n,); the rows of word w are ``grams[starts[w]:starts[w + 1]]``
    used : int64, (n_rows,), the bucket of each row; the most frequent rows first
    """
    starts, hashed = buckets_of(words, shortest, longest, buckets)
    found, places = np.unique(hashed, return_inverse=True)
    often = np.bincount(places, np.repeat(np.asarray(counts, np.float64), np.diff(starts)), minlength=len(found))
    order = np.argsort(-often, kind="stable")
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    return starts, rank[places].astype(np.int32, copy=False), found[order].astype(np.int64)
