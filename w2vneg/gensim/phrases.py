"""gensim's Phrases, over `w2vneg.data.phrases`."""

from ..data.phrases import check_threshold, find_phrases, read_phrases, write_phrases
from ..ground.errors import ConfigError
from . import refused

_SCORINGS = {"default": "word2vec", "original_scorer": "word2vec", "npmi": "npmi", "npmi_scorer": "npmi"}


class Phrases:
    """Pairs of words that stand together often, joined by an underscore; frozen from the start.

    found : list of w2vneg.data.phrases.Phrase
    """

    def __init__(
        self,
        sentences=None,
        min_count=5,
        threshold=10.0,
        max_vocab_size=40000000,
        delimiter="_",
        progress_per=10000,
        scoring="default",
        connector_words=frozenset(),
    ):
        if isinstance(sentences, Phrases):  # Phraser(phrases)
            vars(self).update(vars(sentences))
            return
        refused.unless("_", "words are joined by an underscore", delimiter=delimiter)
        alone = "leave it out: phrases are of two words side by side"
        refused.unless(frozenset(), alone, connector_words=connector_words)
        if scoring not in _SCORINGS:
            raise ConfigError(f"scoring must be 'default' or 'npmi', not {scoring!r}")
        check_threshold(_SCORINGS[scoring], threshold)
        self.min_count, self.threshold, self.scoring, self.delimiter = min_count, threshold, scoring, delimiter
        self._hold([])
        if sentences is not None:
            self.add_vocab(sentences)

    def _hold(self, found):
        self.found = found
        self._scores = {phrase[:2]: phrase.score for phrase in found}

    def add_vocab(self, sentences):
        """Find the phrases of sentences (iterable of lists of str, or a path); once only."""
        if self.found:
            raise ConfigError("phrases are found once; give all sentences together: Phrases([*first, *second])")
        scoring = _SCORINGS[self.scoring]
        self._hold(find_phrases(sentences, min_count=self.min_count, threshold=self.threshold, scoring=scoring))

    def analyze_sentence(self, sentence):
        """Yield each word or phrase of a sentence, and the score of the phrase or None."""
        waiting = None
        for word in sentence:
            score = None if waiting is None else self._scores.get((waiting, word))
            if score is not None:
                yield f"{waiting}_{word}", score
            elif waiting is not None:
                yield waiting, None
            waiting = word if score is None else None
        if waiting is not None:
            yield waiting, None

    def __getitem__(self, sentence):
        """Return a sentence with its phrases joined; of several sentences what goes through them, again and again."""
        if isinstance(sentence, list | tuple) and all(isinstance(word, str) for word in sentence):
            return [word for word, _ in self.analyze_sentence(sentence)]
        return _Joined(self, sentence)

    def export_phrases(self):
        """Return the score of each phrase, dict of str -> float."""
        return {f"{first}_{second}": score for (first, second), score in self._scores.items()}

    @property
    def phrasegrams(self):
        """The score of each phrase, dict of str -> float."""
        return self.export_phrases()

    def find_phrases(self, sentences):
        """Return the score of each phrase that occurs in sentences, dict of str -> float."""
        pairs = (pair for sentence in sentences for pair in self.analyze_sentence(sentence))
        return {word: score for word, score in pairs if score is not None}

    def freeze(self):
        """Return itself: nothing but the phrases is kept."""
        return self

    def save(self, fname, **kwargs):
        """Write lines of text, as ``w2vneg phrases`` does; arguments for pickles are ignored."""
        write_phrases(fname, self.found)

    @classmethod
    def load(cls, fname):
        """Read what `save` or ``w2vneg phrases`` wrote."""
        refused.pickle_at(fname, "find the phrases anew: Phrases(sentences)")
        phrases = cls()
        phrases._hold(read_phrases(fname))
        return phrases

    def __len__(self):
        return len(self.found)

    def __str__(self):
        return f"Phrases<{len(self.found)} phrases, min_count={self.min_count}, threshold={self.threshold}>"


class _Joined:
    def __init__(self, phrases, sentences):
        self.phrases, self.sentences = phrases, sentences

    def __iter__(self):
        return (self.phrases[list(sentence)] for sentence in self.sentences)
