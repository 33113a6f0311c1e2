"""Baskets of items, one per line. With a separator other than blanks, names may contain blanks."""

import functools
import re
import shlex
from collections import Counter
from dataclasses import replace
from itertools import pairwise

from ...ground.errors import ConfigError, DoubtError, InputError
from ...ground.option import option
from . import SOURCES, TRAVERSALS, Source, Traversal, as_gone_through, check_pairs
from ._options import delimiter, ordered, plain, subsample

_FEW = 20  # lines; with fewer, baskets of two are no sign of a log
_FLAGS = {"0", "1", "true", "false", "t", "f"}
_NAMES_OUT = (
    r"""awk -F {sign} '{{gsub(/"|\r$/, "")}} {head}{{s = ""; for (i = {first}; i <= NF; i++) """
    r"""if ($i + 0 > 0 || $i ~ /^[Tt]/) s = s "\t" {name}; print substr(s, 2)}}' FILE > baskets.tsv"""
)
_COUNT = re.compile(r"\d+(\.\d+)?")
_WHITE = bytes([9, 11, 12, 13, 28, 29, 30, 31, 32])  # ASCII white space but the line feed
_UNICODE_WHITE = re.compile(r"[^\S\x00-\x7f]")
_OPENED = re.compile(rb'(?:^|[ \n])("(?:[^ \n]*[^ \n"])?)(?=[ \n]|$)')
_BESIDE = re.compile(rb"(?<!\0)\0+(?=[ \n])|(?<=[ \n])\0+")  # NUL represents a blank; text itself contains none


@SOURCES.register("baskets")
class Baskets(Source):
    help = "Baskets of items, one per line."
    kept = "items in {:,} baskets"
    unit = "baskets"
    traversal = "baskets"

    class Options:
        delimiter: str | None = delimiter()
        plain: bool = plain()

    @classmethod
    def encode(cls, given, vocab_out=None, **shaping):
        """Read baskets like text, through the cache; items are separated by blanks or another sign."""
        from ..encoded import encode_corpus
        from ..readers.layout import named

        delimiter = _delimiter_of(given, shaping.get("encoding", "utf-8"))
        corpus = encode_corpus(list(given.files), reader=basket_reader(delimiter or " "), **shaping)
        report = _report(given, corpus, shaping.get("vocab") is not None)
        if not given.delimiter and delimiter not in (None, " "):
            report = replace(report, columns=(f"separated by {named(delimiter)}, as detected; else give --delimiter",))
        return replace(corpus, report=report)


def _report(given, corpus, fixed):
    """Return the ItemsReport of baskets; InputError if none has two items. fixed : bool, the vocabulary is given"""
    from ..encoded.corpus import ItemsReport

    found, n_items = corpus.report, len(corpus.vocab)
    single = int((corpus.offsets[1:] - corpus.offsets[:-1] == 1).sum())
    if single == found.sentences:
        guess = "; give the sign between items with --delimiter if it is not a blank"
        hint = guess if given.delimiter in (None, " ") else ""
        raise InputError(f"none of the {single:,} baskets has two items, so there is no pair{hint}")
    which = "unknown items" if fixed else "rare items"
    left_out = {
        which: found.discarded[1],
        f"occurrences of {which}": found.discarded[0],
        "empty baskets": found.lines - found.sentences,
        "baskets of one item, which give no pairs": single,
    }
    sizes = {"items": n_items, "targets": n_items, "kept": found.kept_tokens, "groups": found.sentences}
    same = {name: getattr(found, name) for name in ("seconds", "cached", "damage")}
    return ItemsReport("baskets", found.files, found.bytes, found.lines, left_out=left_out, **sizes, **same)


def _delimiter_of(given, encoding):
    """Return the separator of the items of an `Input`, as given or detected; refuse files that are not baskets."""
    from ..readers import foreign
    from ..readers.layout import delimiter_of, named

    chosen = delimiter_of(given.delimiter)
    if given.plain:
        return chosen
    for name, data in foreign.beginnings(given.files):
        foreign.refuse(name, data, "baskets", encoding)
        lines = foreign.Head.of(data, encoding).lines
        signs = [chosen] if chosen else ",;|\t "
        command = next(filter(None, (names_of_flags(_rows(lines, sign), sign) for sign in signs)), None)
        if command:
            raise DoubtError(
                f"{name}: looks like a table with a column for each item, 0 or False if a basket lacks it, not like "
                f"baskets; write the names: {command} (give --plain if these are items)"
            )
        chosen = chosen or guess_delimiter(name, lines)
        rows = _rows(lines, chosen)
        quoted = next((item for row in rows for item in row if len(item) > 2 and item[0] == item[-1] == '"'), None)
        if quoted:
            raise DoubtError(
                f"{name}: items are in quotes, as in {quoted[:60]}, which would be part of their names; remove them "
                f"(tr -d '\"' < FILE > baskets.txt), or give --plain --delimiter {named(chosen)} to keep them"
            )
        if why := looks_like_log(rows):
            sign = "" if all("\t" in line for line in lines) else f"-d{shlex.quote(chosen)} "
            raise DoubtError(
                f"{name}: looks like a log, not like baskets: {why}; use --ratings or --pairs for a log, drop a first "
                f"column that is not an item (cut {sign}-f2- FILE > baskets.txt), or give --plain if these are items"
            )
    return chosen


def _items(line, delimiter):
    return line.split() if delimiter == " " else [item for part in line.split(delimiter) if (item := part.strip())]


def _rows(lines, delimiter):
    return [row for line in lines if (row := _items(line, delimiter))]


def names_of_flags(rows, delimiter):
    """Return a command that replaces flags by the names of items, or None if rows (list of list of str) are not flags
    below a header, or many rows of flags without one. A first column may number the rows; then the flags may be counts,
    some of them 0.
    """
    below = rows[1:]
    if len(below) < 2 or len(set(map(len, below))) > 1:
        return None
    numbered = any(row[0].lower() not in _FLAGS for row in below)
    flags = {cell.lower() for row in below for cell in row[numbered:]}
    counts = numbered and "0" in flags and all(map(_COUNT.fullmatch, flags))
    if not flags or (flags - _FLAGS and not counts) or (numbered and len({row[0] for row in below}) < len(below)):
        return None
    n_flags, above = len(below[0]) - numbered, {cell.lower() for cell in rows[0]}
    headed = not above & _FLAGS and not any(map(_COUNT.fullmatch, above)) and len(rows[0]) - n_flags in (0, numbered)
    if n_flags < 2 or not (headed or (len(rows) >= _FEW and not numbered and not above - _FLAGS)):
        return None
    sign = shlex.quote(delimiter.replace("\t", "\\t"))
    head, name = ("NR == 1 {n = split($0, name); next} ", "name[i - NF + n]") if headed else ("", "i")
    return _NAMES_OUT.format(sign=sign, head=head, first=1 + numbered, name=name)


def looks_like_log(rows):
    """Return why rows of items (list of list of str) look like a log of one event per line (str), or None."""
    from ..readers.columns import are_times

    if len(rows) < _FEW:
        return None
    firsts, seen = [row[0] for row in rows], Counter(item for row in rows for item in row)
    if all(len(row) == 2 for row in rows):
        if sum(n == 1 for n in seen.values()) >= 0.9 * len(seen):
            return "every line has two entries, and nine of ten entries occur once"
        runs = 1 + sum(a != b for a, b in pairwise(firsts))
        if runs == len(set(firsts)) <= len(rows) / 2 and not set(firsts) & {row[1] for row in rows}:
            return "every line has two entries, and the first repeats over several lines, as in a log by basket"
    sizes = set(map(len, rows))
    if len(sizes) == 1 and len(rows[0]) > 2 and sum(map(are_times, zip(*rows, strict=True))) == 1:
        return "every line has the same number of entries, and a time in the same place"
    numbers = [int(first) for first in firsts if re.fullmatch(r"\d{1,15}", first)]
    if len(numbers) == len(firsts) and all(b - a == 1 for a, b in pairwise(numbers)):
        return "the first entries number the lines, like numbers of baskets"
    if len(sizes) > 1 and all(row[0] == str(len(row) - 1) for row in rows):
        return "the first entries count the others on their lines"
    n_rest, n_again = seen.total() - len(rows), sum(n for n in seen.values() if n > 1)
    if max(sizes) > 2 and all(seen[first] == 1 for first in firsts) and 2 * n_again >= n_rest:
        return "the first entries occur once and most others repeatedly, like names of baskets"
    return None


def guess_delimiter(name, lines):
    """Return the separator of items (str, one sign): the one with the fewest distinct items; DoubtError if unclear.

    name : str, of the file; lines : list of str, its first lines
    """
    from ..readers.layout import named

    signs = [sign for sign in ",;|\t" if sum(sign in line for line in lines) >= 0.3 * len(lines)]
    if not signs:
        return " "
    n_items, sign = min((len({item for line in lines for item in _items(line, sign)}), sign) for sign in signs)
    if not any(re.search(r"\s", item) for line in lines for item in _items(line, sign)):
        return " " if sign == "\t" else sign
    words = [word for line in lines for word in line.split()]
    n_words, glued = len(set(words)), sum(sign in word.strip(sign) for word in words)
    if (n_items < n_words and (sign == "\t" or glued * 5 >= len(words))) or n_items * 2 <= n_words:
        return sign
    if n_words * 2 <= n_items:
        return " "
    raise DoubtError(
        f"{name}: items may be separated by {named(sign)} ({n_items:,} items in the first {len(lines):,} lines) or by "
        f"blanks ({n_words:,} items); choose --delimiter {named(sign)} or --delimiter blank"
    )


def basket_reader(delimiter):
    """Return the name (str) of the reader of baskets with this delimiter; ConfigError unless it is one ASCII sign."""
    from ..readers import READERS

    if delimiter == " ":
        return "text"
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter in "_\n\r\0":
        raise ConfigError(
            f"items of baskets must be separated by one ASCII sign, not {delimiter!r}; replace it in the file"
        )
    name = f"baskets {delimiter!r}"
    if name not in READERS:
        READERS.register(name)(functools.partial(read_baskets, delimiter=delimiter))
    return name


def read_baskets(source, *, delimiter, encoding="utf-8", lowercase=False):
    """Yield baskets as text: the delimiter becomes a blank, a blank inside a name ``_``; blanks around names vanish.

    InputError, too, if two names of a file become one, or a name opens a quote that it does not close
    """
    from ..readers.sources import taken
    from ..readers.text import LONGEST_TOKEN, read_text

    names, sign = _Names(source.name, delimiter), delimiter.encode()

    def take(text, last):
        end = max(text.rfind(sign), text.rfind(b"\n")) + 1
        if len(text) - end > LONGEST_TOKEN:
            raise InputError(f"{source.name}: no {delimiter!r} and no line end in {len(text):,} bytes, so not baskets")
        return names.joined(text + sign if last else text[:end]), end

    return taken(read_text(source, encoding=encoding, lowercase=lowercase), take)


class _Names:
    """Joins the parts of names, and remembers the original of each name that then contains ``_``."""

    def __init__(self, file, delimiter):
        table = bytearray(bytes.maketrans(_WHITE, bytes(len(_WHITE))))
        table[ord(delimiter)] = 32
        self._file, self._table = file, bytes(table)
        self._forms = {}  # word -> the name with NUL for blanks
        self._lines = 0  # before the current text

    def joined(self, text):
        """Return whole names, given with their delimiters and line feeds, with single blanks between them."""
        if not text.isascii():
            text = _UNICODE_WHITE.sub("\v", text.decode()).encode()
        text = text.translate(self._table)
        if b"\0" in text:
            text = _BESIDE.sub(b"", b"\n" + text)[1:]
        opened = _OPENED.search(text) if b'"' in text else None
        if opened:
            line = self._lines + text.count(b"\n", 0, opened.end()) + 1
            name = opened[1].replace(b"\0", b" ").decode()
            raise InputError(
                f"{self._file}:{line}: the item {name[:60]!r} begins with a quote that it does not close; in baskets "
                "quotes do not protect a delimiter inside a name: use another delimiter, or remove the quote"
            )
        self._lines += text.count(b"\n")
        names = set(text.replace(b"\n", b" ").split(b" ")) if b"\0" in text or b"_" in text else ()
        for name in names:
            word = name.replace(b"\0", b"_")
            first = self._forms.setdefault(word, name) if b"_" in word else name
            if first != name:
                one, other = (form.replace(b"\0", b" ").decode() for form in sorted((first, name)))
                raise InputError(
                    f"{self._file}: the names {one!r} and {other!r} would both become {word.decode()!r}, as white "
                    "space inside a name becomes '_'; rename one of them"
                )
        return text.replace(b"\0", b"_")


@TRAVERSALS.register("baskets")
class WholeBaskets(Traversal):
    """Baskets and histories: an item and the others of its basket."""

    data = "--baskets and --ratings without --rectangular"

    class Options:
        subsample: float = subsample(0.0)
        ordered: bool = ordered()
        pairs_per_item: int = option(
            32,
            "Positives per item of a basket or history: all others, or a random sample of this many.",
            at_least=1,
            at_most=10000,
        )

    @classmethod
    def of(cls, corpus, config):
        import numpy as np

        from ...kernels.schedule import keep_thresholds
        from ...kernels.walk import Baskets as Groups

        check_pairs(corpus.offsets, "basket", "item")
        own = config.source
        keep = keep_thresholds(corpus.vocab.counts, own.subsample)
        sizes = np.diff(corpus.offsets)
        longest = int(sizes.max())
        most = min(own.pairs_per_item, longest - 1)
        source = Groups(*as_gone_through(corpus, config), keep, most, own.ordered)
        weights = corpus.vocab.counts * (keep / 2.0**32)
        mean = float(sizes @ np.minimum(sizes - 1, most) / sizes.sum()) / (2 if own.ordered else 1)
        return cls(source, len(corpus), most, mean, 2, 2 * longest, weights)

    @classmethod
    def counts(cls, corpus, config, window=None):
        pairs = super().counts(corpus, config)
        pairs.setdiag(0)  # no item is its own positive
        pairs.eliminate_zeros()
        return pairs
