"""Text: one sentence per line, trained on by windows."""

import dataclasses
import functools
import os
import re
import warnings
from collections import Counter
from contextlib import suppress
from unicodedata import category, normalize

from ...ground.errors import ConfigError, FileNote, InputError, did_you_mean
from ...ground.files.bounded import scheme_of
from ...ground.option import option
from . import SOURCES, TRAVERSALS, Source, Traversal, as_gone_through, check_pairs
from ._options import TableOptions, column, dynamic_window, ordered, plain, subsample, window

AUTO = "auto"  # instead of a tokenizer or a phrase file
_READERS = {"whitespace": "text"}  # tokenizer -> reader, if their names differ
_OURS = (AUTO, "whitespace", "words")  # for plain text; a plug-in may read anything
_STRIPPED = ("markup", "urls")
_JOINED = (  # joins lines up to a blank one, or to the tag of a sentence
    r"""awk '{sub(/\r$/, "")} !NF || /^[ \t]*<\/?s[ >]/ {print ""; next} {printf "%s ", $0}' FILE > text.txt"""
)
_FEW = 20  # lines of one token; fewer are no sign of anything


def _check_tokenizer(name):
    from ..readers import READERS

    known = [AUTO, *_READERS, *(reader for reader in READERS if reader not in _READERS.values())]
    if name not in known:
        raise ConfigError(f"tokenizer {name!r} is unknown{did_you_mean(name, known)}")


def _names(strip):
    return strip.split(",") if strip else []


def _check_strip(names):
    unknown = [name for name in names.split(",") if name not in _STRIPPED]
    if unknown:
        raise ConfigError(f"strip takes {' and '.join(_STRIPPED)}, separated by a comma, not {unknown[0]!r}")


@SOURCES.register("corpus")
class Corpus(Source):
    help = "Text: file, folder, glob, named corpus or - (stdin). 'w2vneg data list' lists corpora."
    metavar = "PATH|NAME"
    catalog = "corpus"
    noun = "word"
    tables = True

    class Options(TableOptions):
        text_col: str | None = column(
            "Column of text, by name or number. For CSV, JSON lines or Parquet.", "plain text", common=True
        )
        tokenizer: str = option(
            AUTO,
            "Tokens: auto, whitespace or words (letters and digits). auto: words if the first megabyte is raw text.",
            metavar="NAME",
            common=True,
            check=_check_tokenizer,
        )
        strip: str | None = option(
            None,
            "Remove markup (HTML and XML tags, scripts, entities), urls (also e-mail addresses), or both.",
            metavar="markup,urls",
            check=_check_strip,
        )
        numbers: str = option(
            "keep",
            "keep: leave numbers as they are. digit: write each digit as 0. drop: remove standalone numbers.",
            choices=("keep", "digit", "drop"),
            metavar="keep|digit|drop",
        )
        phrases: str | None = option(
            None,
            "Join phrases: a file from 'w2vneg phrases', or auto. auto finds phrases in this text, with defaults.",
            common=True,
            metavar="FILE|auto",
            files=True,
            choices=(AUTO,),
        )
        plain: bool = plain()

    @classmethod
    def check(cls, given):
        from ..readers.column_names import column_of_text

        if given.text_col is not None:
            return
        if given.in_memory and len(given.files[0].columns) > 1:
            frame = given.files[0]
            columns = {name: cells[:_FEW] for name, cells in zip(frame.head, frame.columns, strict=True)}
            named, names = column_of_text(columns), ", ".join(map(repr, columns))[:200]
            raise ConfigError(f"name the table's column of text: text_col={named!r}; columns: {names}")
        of_tables = [item.name for item in dataclasses.fields(TableOptions) if item.name in given.options]
        if of_tables:
            raise ConfigError(f"{of_tables[0]} applies to tables; name their column of text: text_col (--text-col)")

    @classmethod
    def settled(cls, given, encoding, mirror=None):
        if given.tokenizer != AUTO:
            return given
        from ..catalog import info, names

        if all(file in names() and info(file).made_here for file in given.files):  # with blanks between words
            return given.replace(tokenizer="whitespace")
        files, table = given.located(mirror).files, cls._table(given)
        return given.replace(tokenizer=tokenizer_of(files, table, encoding, _names(given.strip)))

    @classmethod
    def encode(cls, given, vocab_out=None, phrases=None, **shaping):
        from ..encoded import encode_corpus
        from ..phrases import lowered

        given = cls.settled(given, shaping["encoding"])
        reading = cls.reading(given, shaping["encoding"])
        phrases = list(phrases or cls._phrases(given, reading, shaping))
        phrases = lowered(phrases) if shaping["lowercase"] else phrases
        encoded = encode_corpus(list(given.files), phrases=phrases, **reading, **shaping)
        if reading["table"] is None and (note := _about_lines(encoded)):
            warnings.warn(note, FileNote, stacklevel=2)
        report = dataclasses.replace(encoded.report, tokens_by=getattr(given.tokenizer, "why", ""))
        return dataclasses.replace(encoded, phrases=tuple(phrases), report=report)

    @classmethod
    def _phrases(cls, given, reading, shaping):
        from ..phrases import phrases_in, read_phrases

        if AUTO not in given.phrases:
            return [phrase for path in given.phrases for phrase in read_phrases(path)]
        if len(given.phrases) > 1:
            raise ConfigError("--phrases auto cannot be combined with files; leave one out (./auto is a file)")
        also = {name: shaping[name] for name in ("encoding", "lowercase", "progress")}
        return phrases_in(list(given.files), **reading, **also)

    @classmethod
    def reading(cls, given, encoding="utf-8"):
        """Return `reader`, `strip` and `table` of `encode_corpus`, by which an `Input` becomes words (dict)."""
        from ..readers import foreign

        given, table = cls.settled(given, encoding), cls._table(given)
        if not given.plain and given.tokenizer in _OURS:
            once = {"-"} if AUTO in given.phrases else ()  # standard input is then refused unread
            begun = foreign.beginnings([file for file in given.files if table is None and file not in once])
            if table is not None:  # texts in a table may have tags, too
                begun = [(given.files[0], _beginning(given.files, table, encoding, ())[0].encode())]
            remarked = "markup" in (given.strip or "")
            for name, data in begun:
                if table is None:
                    foreign.refuse(name, data, "text", encoding)
                if not remarked and (tag := foreign.tag_in(data, encoding if table is None else "utf-8")):
                    note = f"{name}: tags such as {tag!r} are read as words; remove them with --strip markup"
                    warnings.warn(note, FileNote, stacklevel=3)
                    remarked = True
        strip = [*_names(given.strip), *({given.numbers} - {"keep"})]
        return {"reader": _READERS.get(given.tokenizer, given.tokenizer), "strip": strip, "table": table}

    @staticmethod
    def _table(given):
        """Return the `TextColumn` that an `Input` names, or its only one; None for plain text."""
        from ..readers.columns import NONE
        from ..readers.layout import delimiter_of
        from ..readers.tables import TextColumn

        if given.text_col in (None, NONE) and not given.in_memory:
            return None
        delimiter = delimiter_of(given.delimiter)
        return TextColumn(given.text_col or 1, delimiter, given.header, given.quoting, given.bad_rows)

    @classmethod
    def advice(cls, given, words):
        return about_words(words) if given.tokenizer in _OURS else None


def _about_lines(encoded):
    """Return advice (str) on a text in which most lines have one token, else None; a text without pairs is an error.

    Discarding words can have shortened at most as many sentences as words were discarded.
    """
    n, single = encoded.n_sentences, int((encoded.offsets[1:] - encoded.offsets[:-1] == 1).sum())
    if not _FEW <= single < n or 2 * (single - encoded.report.discarded[0]) <= n:
        return None
    return (
        f"{single:,} of {n:,} sentences have only one token, so they give no pairs; if sentences "
        f"span several lines, join these: {_JOINED}"
    )


# ---- choosing the tokenizer by the beginning of a text, and checking the words afterwards

_LOOKED_AT = 1 << 20  # bytes
_MOST_FILES = 8
_ENDS = ',;:!?")]}'
_OPENS = ".(“«[{"
_INSIDE = "’·׳״"  # of words, though Unicode classifies them as ends
_RAW = 0.01  # of the tokens; at most .0002 in plain and tokenised text, at least .067 in raw text
_MANY = 0.05  # of the words; 0 % in plain corpora, 13 % to 24 % in raw prose
_LONG = 8  # letters: most words in scripts without blanks have one to four
_WORDS = 20_000  # the most frequent ones
_LIGATURES = re.compile("[\ufb00-\ufb06]")
_INVISIBLE = (
    r"[\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff]"  # except joiners, which words need
)
_SCRIPTS = "\u0e00\u0eff", "\u1000\u109f", "\u1780\u17ff", "\u3041\u30ff", "\u3400\u9fff"  # first and last letters


@functools.cache
def _is_end(sign):
    """Return whether a sign is punctuation after a word, in any script, except a full stop, which may abbreviate."""
    return sign in _ENDS or (not sign.isascii() and sign not in _INSIDE and category(sign) in ("Pe", "Pf", "Po"))


class Chosen(str):
    """The name of a tokenizer; why : str, the reason for its choice"""

    why = ""


def tokenizer_of(files, table, encoding, strip=()):
    """Choose the tokenizer by the beginning of a text (`Chosen`): ``words`` for raw text, else ``whitespace``.

    Text is raw if one token in a hundred or more ends in punctuation, and more than are punctuation alone. A full stop,
    which may abbreviate, counts only at the end of a line. strip : sequence of str, what is removed first
    """
    text, where = _beginning(files, table, encoding, strip)
    tokens = Counter(text.split())
    last = Counter(line.rsplit(None, 1)[-1] for line in text.splitlines() if line.strip())
    at_words, example, alone = 0, "", 0
    for token, count in tokens.items():
        if any(map(str.isalnum, token)):
            count = count if _is_end(token[-1]) else last[token] if token[-1] == "." else 0
            at_words += count
            example = example or (token[:20] if count else "")
        elif token[0] in _OPENS or _is_end(token[0]):
            alone += count
    share = at_words / max(1, tokens.total())
    raw = share >= _RAW and at_words > alone
    chosen = Chosen("words" if raw else "whitespace")
    few = "punctuation is already separated" if alone > at_words else "hardly any word ends in punctuation"
    seen = f"{share:.0%} of the tokens end in punctuation, such as {example!r}" if raw else where or few
    other = "whitespace" if raw else "words"
    other = f"{'To keep it:' if raw else 'For raw text:'} --tokenizer {other}, or Input(…, tokenizer={other!r})"
    chosen.why = f"--tokenizer {chosen} chosen: {seen}. {other}"
    return chosen


def _beginning(files, table, encoding, strip):
    """Return the beginning of a text (str), stripped, and the reason if there is none (str)."""
    from ..readers.sources import STDIN, begun, find_files, start_of
    from ..readers.text import Stripped, codec_name

    encoding, text = codec_name(encoding), ""
    found = find_files(files)
    again = [one for one in found if not isinstance(one, str) or one == STDIN or scheme_of(one) or os.path.isfile(one)]
    chosen = again[:: -(-len(again) // _MOST_FILES) or 1]
    for file in chosen:
        size = _LOOKED_AT // len(chosen)
        with suppress(InputError, UnicodeError), begun(file) as source:  # reported when all of it is read
            if table is None:
                some = start_of(source.pieces(), size).decode(encoding, errors="replace")[:size]
            else:
                some = start_of(table.pieces(source, encoding, Counter()), size).decode()
            if strip:
                some = b"".join(Stripped(source.name, [some.encode()], strip).pieces()).decode()
            text += some + "\n"
    return text, "" if again else "data that can be read only once are not inspected"


def about_words(words):
    """Return advice (str) if words (sequence of str) look like text that is not tokenised, else None."""
    some = list(words[:_WORDS])
    if label := next((word for word in some if word.startswith("__label__")), ""):
        out = "sed 's/__label__[^ ]* *//g' FILE > text.txt"
        return f"fastText labels such as {label!r} are read as words in every window; remove them first: {out}"
    ends = [word for word in some if _is_end(word[-1]) and any(map(str.isalnum, word))]
    if len(ends) > _MANY * len(some):
        return (
            f"{len(ends) / len(some):.0%} of the words end in punctuation, such as {ends[0]!r}; "
            "--tokenizer words removes it"
        )
    runs = [word for word in some if sum(any(a <= letter <= z for a, z in _SCRIPTS) for letter in word) >= _LONG]
    if len(runs) > _MANY * len(some):
        return (
            f"{len(runs) / len(some):.0%} of the words are phrases in a script without blanks, such as {runs[0]!r}; "
            "segment the text first, with a blank between words, or give lists of words to Word2Vec.fit"
        )
    return _about_spellings(some)


def _about_spellings(words):
    """Return advice (str) on words with several spellings in Unicode or lower-cased Turkish, else None."""
    composed, known = {}, set(words)
    for word in words:
        if not word.isascii():
            form = "NFKC" if _LIGATURES.search(word) else "NFC"
            composed[word] = normalize(form, re.sub(_INVISIBLE, "", word))
    twins = [(plain, word) for word, plain in composed.items() if plain != word and plain in known]
    if twins:
        form = "NFKC" if any(_LIGATURES.search(word) for _, word in twins) else "NFC"
        line = f"re.sub('{_INVISIBLE}', '', line)"
        program = f"[print(unicodedata.normalize('{form}', {line}), end='') for line in sys.stdin]"
        return (
            f"words with two Unicode spellings: {len(twins):,}, such as {twins[0][0]!r} and {twins[0][1]!a}; "
            f'unify them first: python -X utf8 -c "import re, sys, unicodedata; {program}" < FILE > text.txt'
        )
    dotted = next((word for word in composed if "i\u0307" in word), "")
    advice = f"{dotted!r} has an i with a dot above: İ in lower case; lower-case Turkish first: sed 's/İ/i/g; s/I/ı/g'"
    return advice if dotted else None


@TRAVERSALS.register("text")
class Text(Traversal):
    """Sentences: a word and the words near it."""

    data = "text (--corpus)"
    kind = "text"
    loss = "relaxed"
    min_count = 5
    readout = "both"
    noun = "word"
    unit = "words"
    of_words = True
    divisible = True
    recommends = False

    class Options:
        window: int = window(5)
        dynamic_window: bool = dynamic_window()
        subsample: float = subsample(1e-4)
        ordered: bool = ordered()

    @classmethod
    def of(cls, corpus, config):
        from ...kernels.schedule import keep_thresholds
        from ...kernels.walk import TextWindows

        check_pairs(corpus.offsets, "sentence", cls.noun, f"; to join lines of one token: {_JOINED}")
        own = config.source
        keep = keep_thresholds(corpus.vocab.counts, own.subsample)
        source = TextWindows(*as_gone_through(corpus, config), keep, own.window, own.dynamic_window, own.ordered)
        sides = 1 if own.ordered else 2
        weights = corpus.vocab.counts * (keep / 2.0**32)
        mean = own.window * sides * (0.5 if own.dynamic_window else 1.0)
        return cls(source, len(corpus), sides * own.window, mean, 2, 2 * own.window, weights)
