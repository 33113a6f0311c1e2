"""gensim's KeyedVectors: `w2vneg.Vectors` that may be empty, grow and change."""

import os
import warnings
from functools import cached_property

import numpy as np

from ..data.readers.sources import ByteStream
from ..data.words import PackedStrings
from ..ground.errors import ConfigError, InputError, UnknownNameError
from ..ground.files.atomic import atomic_file
from ..ground.files.bounded import decoded
from ..ground.files.packing import packed
from ..vectors import Vectors
from . import refused

_OF_GRAMS = {"min_n": "minn", "max_n": "maxn", "bucket": "buckets"}  # by the names of `GramSpellings`

_LOST = "\ufffd"  # replaces bytes that are not UTF-8


class KeyedVectors(Vectors):
    """Words and their vectors, with gensim's names and signatures; float32 only.

    Each call of `add_vectors` that adds words copies the matrix: add many at once.
    """

    def __init__(self, vector_size, count=0, dtype=np.float32, mapfile_path=None):
        refused.unless(np.float32, "vectors are float32; leave it out", dtype=dtype)
        refused.unless(None, "call KeyedVectors.load(path)", mapfile_path=mapfile_path)
        self._attributes = {}
        self._become([], np.zeros((0, vector_size), np.float32))

    @classmethod
    def of(cls, vectors):
        """Return `vectors` (Vectors) as KeyedVectors, sharing the matrix."""
        keyed = cls(vectors.dim)
        keyed._become(vectors.words, vectors.matrix, vectors.counts, vectors.spellings)
        return keyed

    def _become(self, words, matrix, counts=None, spellings=None):
        self.__dict__ = {"_attributes": self._attributes}  # without what is cached for the former matrix
        if len(words):
            super().__init__(words, matrix, None if counts is None else np.array(counts), spellings)
        else:  # Vectors have at least one word
            self.words, self.matrix, self.counts = PackedStrings.of([]), matrix, None
            self.spellings, self.noun, self.rules, self.lowercase = spellings, "word", None, False

    def __getattr__(self, name):
        if name in _OF_GRAMS and hasattr(self.spellings, _OF_GRAMS[name]):
            return getattr(self.spellings, _OF_GRAMS[name])
        raise refused.attribute(self, name, refused.KEYED)

    def __setattr__(self, name, value):
        refused.set_to(self, name, refused.KEYED_SET)
        super().__setattr__(name, value)

    def __repr__(self):
        return f"KeyedVectors<vector_size={self.dim}, {len(self)} keys>"

    def __contains__(self, word):
        return self._is_key(word) and self._has_vector(word)

    def _by_spelling(self, word):
        """Return zeros for a spelling without a trained n-gram, as a fastText ``.bin`` file does."""
        found = super()._by_spelling(word)
        unseen = found is None and self.spellings is not None and isinstance(word, str)
        return np.zeros(self.dim, np.float32) if unseen else found

    @cached_property
    def index_to_key(self):
        """The words in the order of the rows (list of str)."""
        return list(self.words)

    @cached_property
    def key_to_index(self):
        """The row of each word (dict)."""
        return {word: row for row, word in enumerate(self.words)}

    @property
    def norms(self):
        """The lengths of the rows, float32 (n,)."""
        return np.linalg.norm(self.matrix, axis=1)

    def add_vector(self, key, vector):
        """Add or replace the vector of one word; return its row."""
        self.add_vectors([key], [vector], replace=True)
        return self.get_index(key)

    def add_vectors(self, keys, weights, extras=None, replace=False):
        """Add vectors of words; those of known words are replaced if `replace` is set, else kept.

        extras : dict of str -> sequence, optional, an attribute with a value per word
        """
        keys, weights = ([keys], [weights]) if isinstance(keys, str) else (list(keys), weights)
        weights = np.asarray(weights, np.float32)
        if weights.size != len(keys) * self.dim:
            raise ConfigError(f"{len(keys)} words need as many vectors of {self.dim} numbers, not {weights.shape}")
        weights = weights.reshape(len(keys), self.dim)
        last = {key: place for place, key in enumerate(keys)}
        new = [key for key in last if key not in self.words]
        matrix = self.matrix
        if new or not matrix.flags.writeable:
            matrix = np.concatenate([matrix, weights[[last[key] for key in new]]])
        for key in last.keys() - set(new) if replace else ():
            matrix[self.id(key)] = weights[last[key]]
        counts = None if self.counts is None else np.concatenate([self.counts, np.zeros(len(new), np.int64)])
        self._become([*self.words, *new], matrix, counts, self.spellings)
        for attr, values in (extras or {}).items():
            for key in last if replace else new:
                self.set_vecattr(key, attr, values[last[key]])

    def __setitem__(self, keys, weights):
        self.add_vectors(keys, weights, replace=True)

    def set_vecattr(self, key, attr, val):
        """Set an attribute of a word; ``"count"`` is how often it occurred."""
        row = self.id(key)
        if attr != "count":
            self._attributes.setdefault(attr, {})[self.words[row]] = val
            return
        if self.counts is None:
            self.counts = np.zeros(len(self), np.int64)
        self.counts[row] = val

    def get_vecattr(self, key, attr):
        """Return an attribute of a word; UnknownNameError if it has none."""
        if attr not in self._attributes:
            return super().get_vecattr(key, attr)
        word = self.words[self.id(key)]
        if word not in self._attributes[attr]:
            raise UnknownNameError(f"{word!r} has no attribute {attr!r}; set it with set_vecattr")
        return self._attributes[attr][word]

    def _by_count(self):
        """Return the words, the matrix and the counts, by falling counts."""
        if self.counts is None:
            return list(self.words), self.matrix.copy(), None
        rows = np.argsort(-self.counts, kind="stable")
        return [self.words[row] for row in rows.tolist()], self.matrix[rows], self.counts[rows]

    def sort_by_descending_frequency(self):
        """Sort the rows by falling counts."""
        self._become(*self._by_count(), self.spellings)

    def unit_normalize_all(self):
        """Scale all rows to length one."""
        self._become(self.words, self.unit, self.counts, self.spellings)

    def most_similar(  # type: ignore[override]
        self, positive=None, negative=None, topn=10, clip_start=0, clip_end=None, restrict_vocab=None, indexer=None
    ):
        """Return the words nearest to the sum of the positive minus the negative ones, as `Vectors.most_similar`.

        For a spelling without a trained n-gram, all cosines are 0, with a warning.
        """
        refused.unless(0, "use vectors_for_all(index_to_key[start:end])", clip_start=clip_start)
        refused.unless(None, "all words are searched, which is fast; leave it out", indexer=indexer)
        if isinstance(topn, int) and topn < 1:
            return []
        last = restrict_vocab or clip_end
        items = self._items(positive, negative) if self.spellings is not None else ()
        if items and not any(vector.any() for vector, _, _ in items):
            warnings.warn(f"no n-gram of {positive!r:.60} was trained, so no word is near it", stacklevel=2)
            first = self.words[: len(self) if topn is None else topn][:last]
            return np.zeros(len(first)) if topn is None else [(word, 0.0) for word in first]
        return super().most_similar(positive, negative, topn=topn, restrict_vocab=last)

    def vectors_for_all(self, keys, allow_inference=True, copy_vecattrs=False):
        """Return the KeyedVectors of these words, with their counts but no other attributes."""
        return super().vectors_for_all(keys, allow_inference)

    def _alike(self, words, matrix, counts):
        return type(self).of(Vectors(words, matrix, counts, self.spellings))

    @staticmethod
    def cosine_similarities(vector_1, vectors_all):
        """Return the cosines of a vector with each row, (n,)."""
        return vectors_all @ vector_1 / (np.linalg.norm(vectors_all, axis=1) * np.linalg.norm(vector_1))

    def get_sentence_vector(self, sentence):
        """Return the mean of the words' vectors, each scaled to length one, float32 (dim,)."""
        return self.get_mean_vector(sentence)

    words_closer_than, word_vec = Vectors.closer_than, Vectors.get_vector

    def evaluate_word_pairs(  # type: ignore[override]
        self, pairs, delimiter="\t", encoding="utf8", restrict_vocab=300000, case_insensitive=True, dummy4unknown=False
    ):
        """Compare cosines with human scores, as `Vectors`; the delimiter is detected from the first line."""
        refused.unless("utf8", "files are UTF-8; convert it", encoding=_plain(encoding))
        options = {"case_insensitive": case_insensitive, "dummy4unknown": dummy4unknown}
        return super().evaluate_word_pairs(pairs, restrict_vocab=restrict_vocab, **options)

    def evaluate_word_analogies(  # type: ignore[override]
        self, analogies, restrict_vocab=300000, case_insensitive=True, dummy4unknown=False,
        similarity_function="most_similar",
    ):  # fmt: skip
        """Answer analogy questions by 3CosAdd, as `Vectors`; if none can be answered, warn and return 0."""
        refused.unless("most_similar", "questions are answered by 3CosAdd", similarity_function=similarity_function)
        options = {"case_insensitive": case_insensitive, "dummy4unknown": dummy4unknown, "may_be_empty": True}
        score, sections = super().evaluate_word_analogies(analogies, restrict_vocab=restrict_vocab, **options)
        if not sections[-1]["correct"] + sections[-1]["incorrect"]:
            warnings.warn(f"{analogies}: no question has vectors for all four words; 0 is not a score", stacklevel=2)
        return score, sections

    def save(self, fname, **kwargs):  # type: ignore[override]
        """Write words, vectors and counts as npz, whatever the name; arguments for pickles are ignored.

        `load` here reads it. gensim's own reads only pickles: use `save_word2vec_format` for it.
        """
        if self.spellings is not None:
            raise ConfigError("a file of vectors keeps no n-grams: use model.save(path), then FastText.load(path).wv")
        self.check_attributes()
        super().save(fname, format="npz")

    def check_attributes(self):
        """Raise ConfigError if words have attributes, which no file keeps."""
        if self._attributes:
            raise ConfigError(f"files keep no attributes but count; keep {', '.join(self._attributes)} elsewhere")

    @classmethod
    def load(cls, fname, mmap=None):  # type: ignore[override]
        """Read any file of vectors that `Vectors.load` reads; gensim's pickles are refused, with what to do."""
        return cls.of(Vectors.load(fname))

    def save_word2vec_format(
        self, fname, fvocab=None, binary=False, total_vec=None, write_header=True, prefix="", append=False,
        sort_attr="count",
    ):  # fmt: skip
        """Write word2vec's text or binary format, by falling counts; counts go to `fvocab`.

        A file name that ends in ``.gz``, ``.bz2``, ``.xz`` or ``.zst`` is compressed accordingly.
        """
        n_words = len(self) if total_vec is None else total_vec
        refused.unless(len(self), "the header has the number of words in this file; leave it out", total_vec=n_words)
        refused.unless(True, "remove the first line from the file", write_header=write_header)
        refused.unless(False, "write all words at once", append=append)
        refused.unless("count", "words are sorted by count", sort_attr=sort_attr)
        words, matrix, counts = self._by_count()
        words = [prefix + word for word in words]
        Vectors(words, matrix, counts).save(fname, format="word2vec-binary" if binary else "word2vec")
        if fvocab is not None and counts is not None:
            with atomic_file(fvocab) as file, packed(file, fvocab) as stream:
                stream.writelines(f"{word} {n}\n".encode() for word, n in zip(words, counts.tolist(), strict=True))

    @classmethod
    def load_word2vec_format(
        cls, fname, fvocab=None, binary=False, encoding="utf8", unicode_errors="strict", limit=None,
        datatype=np.float32, no_header=False,
    ):  # fmt: skip
        """Read word2vec's text or binary format; the content decides which, and whether there is a header.

        limit : int, optional, number of words to keep, the first ones
        unicode_errors : str, invalid UTF-8 becomes U+FFFD, with a warning; "ignore" drops it and words then repeated
        InputError, with file and line, if `fvocab` has anything but a word and its count
        """
        refused.unless("utf8", "files are UTF-8; convert it", encoding=_plain(encoding))
        refused.unless(np.float32, "vectors are float32; leave it out", datatype=datatype)
        found = Vectors.load(fname)
        if unicode_errors == "ignore" and _LOST.encode() in found.words.data:
            first = {word.replace(_LOST, ""): row for row, word in [*enumerate(found.words)][::-1]}
            words = sorted(filter(None, first), key=first.__getitem__)
            found = found.vectors_for_all([found.words[first[word]] for word in words])
            found = Vectors(words, found.matrix, found.counts)
        counts = found.counts
        if fvocab is not None:
            known = _counts_in(fvocab)
            counts = np.array([known.get(word, 0) for word in found.words])
        return cls.of(Vectors(found.words[:limit], found.matrix[:limit], None if counts is None else counts[:limit]))


def _counts_in(path):
    """Return the counts of a file with a word and its count per line, compressed or not: dict of str -> int."""
    with ByteStream(os.fspath(path)) as stream:
        text = decoded(path, b"".join(map(bytes, stream.pieces())))
    known = {}
    for number, line in enumerate(text.split("\n"), 1):
        word, _, count = line.strip().replace("\t", " ").rpartition(" ")
        if word and count.isdecimal() and len(count) < 19:
            known[word] = int(count)
        elif line.strip():
            remedy = "correct the line, or leave fvocab out"
            raise InputError(f"{path}:{number}: expected a word and its count, found {line[:60]!r}; {remedy}")
    return known


def _plain(encoding):
    """Return the name of an encoding without hyphens, in lower case."""
    return encoding.lower().replace("-", "")
