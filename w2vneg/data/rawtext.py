"""Whether words look like raw text that nobody has taken apart."""

_PUNCTUATION = tuple(',;:!?)"”»')
_MANY = 0.05  # of plain corpora 0 %, of raw prose 13 % to 24 %
_LONG = 8  # letters: most words of scripts without blanks have one to four
_LOOKED_AT = 20_000  # the most frequent words


def about_words(words):
    """Return what to do about a vocabulary that looks like raw text (str), or None.

    words : PackedStrings or list of str
    """
    some = list(words[:_LOOKED_AT])
    ends = [word for word in some if word.endswith(_PUNCTUATION) and any(map(str.isalnum, word))]
    if len(ends) > _MANY * len(some):
        return (
            f"{len(ends) / len(some):.0%} of the words end in punctuation, as {ends[0]!r}; "
            "--tokenizer words takes it off"
        )
    runs = [word for word in some if sum(map(_without_blanks, word)) >= _LONG]
    if len(runs) > _MANY * len(some):
        return (
            f"{len(runs) / len(some):.0%} of the words are whole phrases of a script without blanks, as {runs[0]!r}; "
            "segment the text first, and train on one blank between words, or give lists of words to Word2Vec.fit"
        )
    return None


def _without_blanks(letter):
    """Tell whether a letter is Thai, Lao, Burmese, Khmer, Japanese or Chinese."""
    return any(first <= letter <= last for first, last in _SCRIPTS)


_SCRIPTS = (
    ("\u0e00", "\u0eff"),
    ("\u1000", "\u109f"),
    ("\u1780", "\u17ff"),
    ("\u3041", "\u30ff"),
    ("\u3400", "\u9fff"),
)
