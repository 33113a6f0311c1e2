"""gensim's Phrases, over `w2vneg.data.phrases`."""

import os
from collections import Counter

from ..data.phrases import SCORES, Phrase, check_threshold, find_phrases, read_phrases, write_phrases
from ..ground.errors import ConfigError
from . import refused
from .word2vec import LineSentence

ENGLISH_CONNECTOR_WORDS = frozenset(
    ["a", "an", "the", "for", "of", "with", "without", "at", "from", "to", "in", "on", "by", "and", "or"]
)
_SCORINGS = {"default": "word2vec", "original_scorer": "word2vec", "npmi": "npmi", "npmi_scorer": "npmi"}


class Phrases:
    """Pairs of words that often occur together, joined by an underscore; frozen from the start.

    Connector words may stand between the two words of a pair; no phrase begins or ends with one.

    found : list of w2vneg.data.phrases.Phrase, connector words joined to the first word
    """

    def __init__(
        self, sentences=None, min_count=5, threshold=10.0, max_vocab_size=40000000, delimiter="_", progress_per=10000,
        scoring="default", connector_words=frozenset(),
    ):  # fmt: skip
        if isinstance(sentences, Phrases):  # Phraser(phrases)
            vars(self).update(vars(sentences))
            return
        refused.unless("_", "words are joined by an underscore", delimiter=delimiter)
        if scoring not in _SCORINGS:
            raise ConfigError(f"scoring must be 'default' or 'npmi', not {scoring!r}")
        check_threshold(_SCORINGS[scoring], threshold)
        self.min_count, self.threshold, self.scoring, self.delimiter = min_count, threshold, scoring, delimiter
        self.connector_words = frozenset(connector_words)
        self._hold([])
        if sentences is not None:
            self.add_vocab(sentences)

    def _hold(self, found):
        self.found = found
        self._scores = {f"{phrase.first}_{phrase.second}": phrase.score for phrase in found}

    def __getattr__(self, name):
        raise refused.attribute(self, name, refused.PHRASES)

    def add_vocab(self, sentences):
        """Find the phrases of sentences (iterable of lists of str, or a path); only once."""
        if self.found:
            raise ConfigError("phrases can be found only once; pass all sentences together: Phrases([*first, *second])")
        find = self._find if self.connector_words else find_phrases
        options = {"min_count": self.min_count, "threshold": self.threshold, "scoring": _SCORINGS[self.scoring]}
        self._hold(find(sentences, **options))

    def _find(self, sentences, min_count, threshold, scoring):
        """Find phrases as `find_phrases` does, with connector words in between; these count as tokens, not as words."""
        if min_count < 1:
            raise ConfigError("min_count must be at least 1")
        words, pairs, n_tokens, found = Counter(), Counter(), 0, []
        for sentence in LineSentence(sentences) if isinstance(sentences, str | os.PathLike) else sentences:
            begun = ()  # a word, and the connector words after it
            for word in sentence:
                n_tokens += 1
                if word in self.connector_words:
                    begun = begun and (*begun, word)
                    continue
                words[word] += 1
                pairs.update([(*begun, word)] if begun else ())
                begun = (word,)
        for (*first, second), seen in pairs.items():
            counts = float(seen), float(words[first[0]]), float(words[second])
            score = SCORES[scoring](*counts, n_tokens, len(words) + len(pairs), min_count)
            if seen >= min_count and score > threshold:
                found.append(Phrase("_".join(first), second, float(score), seen))
        return sorted(found, key=lambda phrase: (-phrase.score, phrase.first, phrase.second))

    def analyze_sentence(self, sentence):
        """Yield each word or phrase of a sentence, and the score of the phrase or None."""
        begun = []  # a word, and the connector words after it
        for word in sentence:
            if word in self.connector_words:
                if begun:
                    begun.append(word)
                else:
                    yield word, None
                continue
            whole = "_".join([*begun, word])
            score = self._scores.get(whole) if begun else None
            if score is None:
                yield from ((part, None) for part in begun)
                begun = [word]
            else:
                yield whole, score
                begun = []
        yield from ((part, None) for part in begun)

    def __getitem__(self, sentence):
        """Return a sentence with its phrases joined; for several sentences, an iterable that can be restarted."""
        if isinstance(sentence, list | tuple) and all(isinstance(word, str) for word in sentence):
            return [word for word, _ in self.analyze_sentence(sentence)]
        return _Joined(self, sentence)

    def export_phrases(self):
        """Return the score of each phrase, dict of str -> float."""
        return dict(self._scores)

    phrasegrams = property(export_phrases)

    def find_phrases(self, sentences):
        """Return the score of each phrase that occurs in sentences, dict of str -> float."""
        pairs = (pair for sentence in sentences for pair in self.analyze_sentence(sentence))
        return {word: score for word, score in pairs if score is not None}

    def freeze(self):
        """Return self: only the phrases are kept anyway."""
        return self

    def save(self, fname, **kwargs):
        """Write lines of text, as ``w2vneg phrases`` does; arguments for pickles are ignored."""
        if self.connector_words:
            raise ConfigError("a file of phrases keeps no connector words; write the sentences with phrases joined")
        write_phrases(fname, self.found)

    @classmethod
    def load(cls, fname):
        """Read what `save` or ``w2vneg phrases`` wrote."""
        refused.pickle_at(fname, "find the phrases again: Phrases(sentences)")
        phrases = cls()
        del phrases.min_count, phrases.threshold, phrases.scoring  # not in the file
        phrases._hold(read_phrases(fname))
        return phrases

    def __len__(self):
        return len(self.found)

    def __str__(self):
        by = [f", {name}={vars(self)[name]}" for name in ("min_count", "threshold") if name in vars(self)]
        return f"Phrases<{len(self.found)} phrases{''.join(by)}>"


class _Joined:
    def __init__(self, phrases, sentences):
        self.phrases, self.sentences = phrases, sentences

    def __iter__(self):
        return (self.phrases[list(sentence)] for sentence in self.sentences)


FrozenPhrases = Phraser = Phrases
