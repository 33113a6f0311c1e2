"""Read text: bytes are checked or transcoded, lower-cased and, if requested, split into words. Before that, tags,
entities, URLs, e-mail addresses and numbers may be removed. Sentences in memory take the same form.

Patterns match UTF-8 bytes; next to tags, any byte from 0x80 counts as a letter. Numbers, which are many, are found by
compiled code (`kernels.text.words`).
"""

import codecs
import functools
import glob
import html
import numbers
import os
import re
import string
import warnings
from collections.abc import Mapping
from contextlib import suppress
from itertools import chain

import numpy as np

from ...ground.errors import ConfigError, FileNote, InputError, did_you_mean
from ...ground.files.bounded import is_special, scheme_of
from .sources import PIECE, STDIN, ByteStream, taken

LONGEST_TOKEN = 1 << 24
_NOT_BY_CHANCE = 4  # non-ASCII characters in valid UTF-8
_ASCII = bytes(range(128))
_MARKS = {  # encoding -> byte-order marks, of which it needs one
    "utf-16": (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE),
    "utf-32": (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE),
}


def codec_name(encoding):
    """Return Python's own name of a text encoding (str); ConfigError if it is unknown."""
    try:
        info = codecs.lookup(encoding)
    except (LookupError, TypeError, ValueError):
        from encodings.aliases import aliases

        hint = did_you_mean(encoding, sorted({*aliases, *aliases.values()} - {encoding}), shown=-1)
        raise ConfigError(f"unknown encoding {encoding!r}{hint} Use one of Python's names, such as latin-1") from None
    if not info._is_text_encoding:
        raise ConfigError(f"{encoding!r} does not turn bytes into text; name a text encoding, such as utf-8")
    return "utf-8" if info.name == "utf-8-sig" else info.name


def _marked(head):
    """Return the encoding (str) that a byte-order mark shows, or "" without one."""
    return next((name for name in ("utf-32", "utf-16") if head.startswith(_MARKS[name])), "")


def utf8_or_latin_1(path):
    """Return the encoding (str) of a file kept beside the training data: UTF-8, or else Latin-1.

    A byte-order mark comes first, and Windows' cp1252 before Latin-1. Pipes and tables are UTF-8.
    """
    if not isinstance(path, str | os.PathLike) or str(path) == STDIN or is_special(path):
        return "utf-8"
    with ByteStream(path) as source:
        if marked := _marked(source.first()):
            return marked
    for encoding in ("utf-8", "cp1252"):
        with suppress(UnicodeDecodeError), ByteStream(path) as source:
            for _ in codecs.iterdecode(source.pieces(), encoding):
                pass
            return encoding
    return "iso-8859-1"


def read_text(source, *, encoding="utf-8", lowercase=False):
    """Yield a text file as UTF-8, without a byte-order mark at its start.

    source : sources.ByteStream; encoding : str, any of Python's text codecs; lowercase : bool, by Unicode's rules
    InputError, with file, line and place, for a byte that is invalid in this encoding, or a NUL byte (a binary file)
    A `FileNote`, also added to the source's notes, if it is likely to be in another encoding
    """
    return _Text(source.name, codec_name(encoding), getattr(source, "notes", [])).transcoded(source.pieces(), lowercase)


class _Text:
    """Decode the bytes of one file, and keep track of line and place for messages.

    notes : list, receives notes (str) on the file
    """

    def __init__(self, name, encoding, notes):
        self.name, self.encoding, self._notes = name, encoding, notes
        self.lines = self.place = 0  # line feeds and bytes before the current piece
        self._ascii = True  # whether these bytes are ASCII
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._head, self._doubted = b"", encoding.startswith("utf")

    def transcoded(self, pieces, lowercase):
        held, fresh = "", True
        for piece in chain(filter(None, pieces), [b""]):
            self._head = (self._head + piece)[:4] if len(self._head) < 4 else self._head
            if self.encoding == "utf-8":
                self._refuse_nul(piece, self.place)
            text = self._decode(piece, final=not piece)
            if fresh and text:
                text, fresh = text.removeprefix("\ufeff"), False
            if not self._doubted:
                self._doubt(piece, text)
            lines = text.count("\n")
            if lowercase:
                text, held = _whole_words(held + text) if piece else (held + text, "")
                text = text.lower()
            if text or piece:
                yield self._encode(text)
            self.lines += lines
            self.place += len(piece)

    def _doubt(self, piece, text):
        """Note once if the text is likely UTF-8, or has control characters where cp1252 has quotes and dashes."""
        what, likely, found = "", "utf-8", None
        if self._ascii and not piece.isascii():
            self._ascii = False
            with suppress(UnicodeDecodeError):
                known = codecs.getincrementaldecoder("utf-8")().decode(piece)
                by_chance = "\0" in known or sum(not sign.isascii() for sign in known) < _NOT_BY_CHANCE
                what = "" if by_chance else f"the text read as {self.encoding} is also valid UTF-8"
                found = re.search(r"[^\x00-\x7f]", text)
        if not what and self.encoding.startswith("iso8859") and (found := re.search("[\x80-\x9f]", text)):
            what, likely = f"byte 0x{ord(found[0]):02x} is a control character in {self.encoding}", "cp1252"
        if what and found:
            self._doubted, line = True, self.lines + text.count("\n", 0, found.start()) + 1
            self._notes.append(f"{self.name}:{line}: {what}; it looks like {likely}: give --encoding {likely}")
            warnings.warn(self._notes[-1], FileNote, stacklevel=2)

    def _encode(self, text):
        try:
            data = text.encode()
        except UnicodeEncodeError as error:
            raise InputError(
                f"{self.name}: near line {self.lines + 1}: read as {self.encoding}, the text contains a lone "
                f"surrogate ({text[error.start]!r}); name its true encoding with --encoding"
            ) from error
        self._refuse_nul(data, None)
        return data

    def _refuse_nul(self, data, place):
        at = data.find(b"\0")
        if at < 0:
            return
        line = self.lines + data.count(b"\n", 0, at) + 1
        where = "" if place is None else f" (byte {place + at:,})"
        advice = self._by_its_mark() or "it is a binary file, or text in an encoding like UTF-16 (then give --encoding)"
        if self._head == b"PK\x03\x04":
            advice = "it is a zip archive or an Excel workbook: save its text or rows as text, or gzip them"
        raise InputError(f"{self.name}:{line}: a NUL byte{where}, which text does not contain; {advice}")

    def _by_its_mark(self):
        """Return what to do (str) if a byte-order mark shows another encoding, else ""."""
        said = _marked(self._head)  # without a mark "", with which every name begins
        return "" if self.encoding.startswith(said) else f"it looks like {said.upper()}: give --encoding {said}"

    def _decode(self, piece, final=False):
        before = self._decoder.getstate()
        try:
            return self._decoder.decode(piece, final)
        except UnicodeError as error:
            marks = _MARKS.get(self.encoding)
            if marks and not self._head.startswith(marks):
                raise InputError(
                    f"{self.name}: no byte-order mark, with which {self.encoding} begins; give --encoding "
                    f"{self.encoding}-le or {self.encoding}-be, or another encoding"
                ) from error
            if not isinstance(error, UnicodeDecodeError):  # a few codecs give no place
                raise InputError(
                    f"{self.name}: near line {self.lines + 1}: not {self.encoding} ({error}); "
                    "name its true encoding with --encoding"
                ) from error
            waiting = len(error.object) - len(piece)  # bytes of a character begun in the piece before
            self._decoder.setstate(before)
            good = self._decoder.decode(piece[: max(0, error.start - waiting)])
            line = self.lines + good.count("\n") + 1
            wrong = error.object[error.start : max(error.end, error.start + 1)]
            advice = self._by_its_mark() or f"name its true encoding with --encoding ({_likely(piece, wrong[0])} ...)"
            raise InputError(
                f"{self.name}:{line}: not {self.encoding}: {error.reason} at byte "
                f"{self.place - waiting + error.start:,} (0x{wrong[:4].hex()}); {advice}"
            ) from error


def _likely(text, wrong):
    """Return the likely encodings (str) of bytes that are not UTF-8; wrong : int, the first of these bytes."""
    if len(text.translate(None, _ASCII)) > len(text) - len(text.translate(None, string.ascii_letters.encode())):
        return "cp1251, iso8859-7, shift_jis, gb18030"
    return "cp1252, latin-1, utf-16" if 0x80 <= wrong < 0xA0 else "latin-1, cp1252, utf-16"


def _whole_words(text):
    """Split off the unfinished last word: the lower case of a letter (a final sigma) depends on its word."""
    last = "" if not text or text[-1].isspace() else text.rsplit(None, 1)[-1]
    last = "" if len(last) > LONGEST_TOKEN else last  # refused later
    return text.removesuffix(last), last


def read_words(source, *, encoding="utf-8", lowercase=False):
    """Yield text like `read_text`, without soft hyphens, and with blanks for punctuation; see `kernels.text.words`."""
    from ...kernels.text.words import SPACE, blank_others, kinds_of_characters

    kinds, before = kinds_of_characters(), SPACE

    def take(text, last):
        nonlocal before
        text = bytearray(text)
        done, before = blank_others(np.frombuffer(text, np.uint8), last, before, kinds)
        return text if last else text[:done], done

    pieces = read_text(source, encoding=encoding, lowercase=lowercase)
    return taken((one.replace(b"\xc2\xad", b"") if b"\xad" in one else one for one in pieces), take)


_STRIPPED = 1 << 20  # bytes that are cleaned together if no line ends
_MOST_HELD = 1 << 24  # bytes, if there is no blank either; readers refuse or cut such a long word

_ATTRIBUTE = rb"""\s+[\w:.-]+\s*=\s*(?:"[^"<>]*"|'[^'<>]*'|[^\s"'<>=]+)"""
_TAG = re.compile(  # across lines only a clear one, with a quoted value or nothing but a name
    rb"<(?=[/!?]?[A-Za-z][^<>]{0,2000}>)"
    rb"""(?:[^<>\n]*|[!?][^<>]*|/?[\w:.-]+(?:(?=[^<>]*=\s*["'])(?:%b|\s+[\w:.-]+)*)?\s*/?)>""" % _ATTRIBUTE
)
_WITHIN_WORDS = re.compile(  # between two letters
    rb"(?i)(?<=[\w\x80-\xff])</?(?:a|abbr|add|b|bd[io]|big|c|corr|del|em|ex|expan|font|g|hi|i|ins|kbd|mark|q|small|"
    rb"span|strong|su[bp]|supplied|tt|u|unclear|var)(?:%b)*\s*/?>(?=[\w\x80-\xff])" % _ATTRIBUTE
)
_BROKEN_WORD = re.compile(rb"""\s{0,99}<[clp]b\s(?=[^<>]*\bbreak\s*=\s*["']no["'])[^<>]{0,2000}>""")  # TEI's lb, pb, cb
_FAR = 1 << 18  # longest script or comment, in bytes
_PARTS = [  # beginning and end
    (re.compile(rb"(?i)<(?:script|style)(?=[\s>])"), re.compile(rb"(?i)</(?:script|style)\s*>")),
    (re.compile(rb"<!--"), re.compile(rb"-->")),
]
_MARKED = re.compile(rb"<!\[CDATA\[|<!\[[^<>\n]*\]>")  # sections of XML, and conditions of Internet Explorer
_OPEN_TAG = re.compile(rb"<[/!?]?[A-Za-z][^<>]*\Z")
_ENTITY = re.compile(rb"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")


def _run(without=rb""):
    """Return a pattern (bytes) of a run of bytes without white space, including Unicode's, and without some more."""
    plain = rb"[^\s\x1c-\x1f\xc2\xe1\xe2\xe3%b]" % without
    lead = (
        rb"(?!\xc2[\x85\xa0]|\xe1\x9a\x80|\xe2\x80[\x80-\x8a\xa8\xa9\xaf]|\xe2\x81\x9f|\xe3\x80\x80)[\xc2\xe1\xe2\xe3]"
    )
    return rb"(?:%b|%b)%b*(?:%b%b*)*" % (plain, lead, plain, lead, plain)


_HTTP = rb"[hH][tT]{2}[pP]"
# letters and digits; beyond ASCII only in scripts with blanks: in others, a word may touch an address on both sides
_OF_HOST = rb"(?:[\w-]|(?:[\xc3-\xdf]|\xe0[\xa4-\xb7]|\xe1[\xb8-\xbf])[\x80-\xbf])+"
_BEFORE_HOST = rb"(?:[\w.+-]|[\x80-\xbf](?:[\xc3-\xdf]|[\xa4-\xb7]\xe0|[\xb8-\xbf]\xe1))+"  # reversed
_ADDRESSES = [  # a marker with what follows, as one byte is found quickly; and what precedes it, reversed
    tuple(map(re.compile, sides))
    for sides in (
        (rb"://(?:(?<=%b://)|(?<=%b[sS]://)|(?<=[fF][tT][pP]://))%b" % (_HTTP, _HTTP, _run()), rb"(?i)s?ptth|ptf"),
        (rb"\.(?<=[wW]{3}\.)%b\.%b" % (_run(rb"."), _run()), rb"[wW]{3}"),
        (rb"@%b(?:\.%b)+" % (_OF_HOST, _OF_HOST), _BEFORE_HOST),
    )
]
_TO_ZERO = bytes.maketrans(b"123456789", b"000000000")
_LEADS = b"\xd9\xdb\xdf\xe0\xe1\xea\xef\xf0"  # first bytes of all decimal digits beyond ASCII, and of other letters
_DIGIT = re.compile(r"(?![0-9])\d")  # one of these


def _without_markup(text):
    def plain(entity):
        return " ".join(html.unescape(entity.group().decode()).split()).encode() or b" "

    for begin, end in _PARTS:
        text = _without_parts(text, begin, end)
    if b"<![" in text:
        text = _MARKED.sub(b" ", text.replace(b"]]>", b" ") if b"<![CDATA[" in text else text)
    if b"break" in text:
        text = _BROKEN_WORD.sub(b"", text)
    text = _TAG.sub(b" ", _WITHIN_WORDS.sub(b"", text))
    return _ENTITY.sub(plain, text)


def _without_parts(text, begin, end):
    """Return a text with a blank for each part; it loops over the ends, so that no beginning searches for its end."""
    kept, done, seen = [], 0, 0
    for close in end.finditer(text):
        found = begin.search(text, max(seen, close.start() - _FAR), close.start())
        seen = close.start()
        if found:
            kept += [text[done : found.start()], b" "]
            done = seen = close.end()
    return b"".join([*kept, text[done:]])


def _markup_taken(text, last):
    """Return the beginning of a text without markup, and how long it was, for `taken`; no markup continues after it."""
    end = len(text) if last else _end_of_lines(text)
    if not last and end:
        tag = _OPEN_TAG.search(text, max(0, end - 2048), end)
        end = tag.start() if tag else end
        for begin, close in _PARTS * 4:  # one may have begun in another
            start = max(0, end - _FAR)
            start = max((one.end() for one in close.finditer(text, start, end)), default=start)
            found = begin.search(text, start, end)
            end = found.start() if found else end
        some = text[max(0, end - 99) : end]
        end -= len(some) - len(some.rstrip())  # white space before the break of a word belongs to it
        end = end or (len(text) if len(text) > _MOST_HELD else 0)
    return _without_markup(text[:end]), end


def _end_of_lines(text):
    """Return where whole lines end (int), or whole words of a very long line; 0 if more text is needed."""
    end = text.rfind(b"\n") + 1
    if not end and len(text) > _STRIPPED:
        end = text.rfind(b" ") + 1 or (len(text) if len(text) > _MOST_HELD else 0)
    return end


def _without_urls(text):
    """Remove addresses, from a marker to both sides: from the beginning, e-mail would take quadratic time in a word."""
    for sign, before in _ADDRESSES:
        kept, end = [], 0
        for found in sign.finditer(text):
            place = found.start()
            begin = max(end, text.rfind(text[place : place + 1], end, place) + 1)
            front = before.match(text[begin:place][::-1])
            if front:
                kept += [text[end : place - front.end()], b" "]
                end = found.end()
        text = b"".join([*kept, text[end:]])
    return text


def _without_numbers(text):
    from ...kernels.text.tokens import MARGIN, with_margins
    from ...kernels.text.words import blank_numbers

    touching, number = _numbers()
    block = with_margins(text)
    blank_numbers(block, len(text), touching)
    return _with_other_digits(block[MARGIN:-MARGIN].tobytes(), number, " ")


@functools.cache
def _numbers():
    """Return the code points that join a number to a word, bool, (0x110000,), and a pattern of non-ASCII numbers."""
    from ...kernels.text.words import kinds_of_characters, of_words, ranges_of

    touching = of_words(kinds_of_characters())
    one = f"[{ranges_of(touching)}]"
    return touching, re.compile(rf"\d(?<![0-9])(?<!{one}.)[\d.,:\u066b\u066c]*(?!{one})")


def _with_other_digits(text, pattern, new):
    """Return a text with `new` in place of each match of a pattern that begins with a non-ASCII digit."""
    return text if len(text.translate(None, _LEADS)) == len(text) else pattern.sub(new, text.decode()).encode()


CLEANERS = {
    "markup": _without_markup,
    "urls": _without_urls,
    "drop": _without_numbers,
    "digit": lambda text: _with_other_digits(text.translate(_TO_ZERO), _DIGIT, "0"),
}
"""Name -> function of whole lines (bytes to bytes), in order of use."""


class Stripped:
    """A source of UTF-8 from which the named cleaners remove things; for a reader, like `sources.ByteStream`."""

    def __init__(self, name, pieces, cleaners):
        self.name, self._pieces = name, taken(pieces, _markup_taken) if "markup" in cleaners else pieces
        self._cleaners = [clean for cleaner, clean in CLEANERS.items() if cleaner in cleaners and cleaner != "markup"]

    def pieces(self):
        return taken(self._pieces, self._lines) if self._cleaners else self._pieces

    def _lines(self, text, last):
        end = len(text) if last else _end_of_lines(text)
        text = text[:end]
        for clean in self._cleaners:
            text = clean(text)
        return bytes(text), end


_SOME = 100  # sentences that are checked before they are read


def read_sentences(sentences, *, lowercase=False):
    """Yield lists of tokens as UTF-8, one sentence per line.

    sentences : iterable of iterables of str, iterated once; a token is not empty, and has no white space or NUL
    InputError, with the sentence's number from 1, if one is a string or holds anything but such tokens
    """
    try:
        sentences = iter(sentences)
    except TypeError:
        raise InputError(f"a corpus is a path, paths or an iterable of token lists, not {sentences!r:.60}") from None
    lines, size = [], 0
    for number, sentence in enumerate(sentences, 1):
        line = _line(sentence, number)
        lines.append(line.lower() if lowercase else line)
        size += len(line) + 1
        if size >= PIECE:
            yield _joined(lines, number)
            lines, size = [], 0
    if lines:
        yield _joined(lines, number)


def check_sentences(corpus):
    """Raise InputError for what is easily mistaken for sentences: strings that name no files, and pairs."""
    if not isinstance(corpus, (list, tuple)) or not corpus:
        return
    some = list(corpus[:_SOME])
    if all(isinstance(one, str) for one in some) and not any(_names_a_file(one) for one in some):
        raise InputError(
            f"a list of strings must name files, but {some[0][:60]!r} is not one; give lists of words: "
            "[line.split() for line in lines]"
        )
    tuples = [one for one in some if isinstance(one, tuple)]
    if some == [one for one in tuples if len(one) == 2 or (len(one) == 3 and isinstance(one[2], numbers.Real))]:
        raise InputError(
            f"{some[0]!r:.60} looks like a pair, not a sentence; give Input('pairs', PAIRS, rectangular=True) for "
            "users and items, Input('pairs', PAIRS) for items seen together; give sentences of two words as lists"
        )


def _names_a_file(name):
    path = os.path.expanduser(name)
    return name == STDIN or scheme_of(name) is not None or os.path.exists(path) or bool(glob.glob(path))


def _line(sentence, number):
    what = f"sentence {number} is a {type(sentence).__name__}"
    if isinstance(sentence, (str, bytes)):
        raise InputError(f"{what}; give a list of tokens (.split() makes one)")
    if isinstance(sentence, Mapping):
        raise InputError(f"{what}, a record, not a sentence; give records as a table: pandas.DataFrame(RECORDS)")
    if isinstance(sentence, (set, frozenset)):
        raise InputError(
            f"{what}, whose order would differ in another run of Python; give a list of tokens (sorted() makes one)"
        )
    try:
        tokens = list(sentence)
        line = " ".join(tokens)
    except TypeError:
        raise InputError(f"sentence {number} is not a list of strings: {str(sentence)[:60]}") from None
    if line.split() != tokens or "\0" in line:
        wrong = next(token for token in tokens if token.split() != [token] or "\0" in token)
        raise InputError(
            f"sentence {number}: the token {wrong!r} is empty or contains white space or NUL; "
            "leave it out or join its parts"
        )
    return line


def _joined(lines, number):
    try:
        return ("\n".join(lines) + "\n").encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"sentence {number} or one shortly before: a token contains a lone surrogate "
            f"({error.object[error.start]!r}), which is not a character; decode the text properly"
        ) from error
