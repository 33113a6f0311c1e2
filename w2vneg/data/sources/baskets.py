"""Baskets of items, one per line. With a separator other than blanks, names may contain blanks."""

import functools
import re
from dataclasses import replace

from ...ground.errors import ConfigError, InputError
from ...ground.option import option
from . import SOURCES, TRAVERSALS, Source, Traversal, as_gone_through, check_pairs
from ._options import delimiter, ordered, plain, subsample

_LOOKED_AT, _FREQUENT = 100, 0.1  # items, the most frequent first; and in this share of the baskets
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
        from ..readers.item_lines import separator_of
        from ..readers.layout import named

        delimiter = separator_of(given, shaping.get("encoding", "utf-8"))
        corpus = encode_corpus(list(given.files), reader=basket_reader(delimiter or " "), **shaping)
        report = _report(given, corpus, shaping.get("vocab") is not None)
        if not given.delimiter and delimiter:
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
    same["hints"] = _hints_of_missing(corpus)
    return ItemsReport("baskets", found.files, found.bytes, found.lines, left_out=left_out, **sizes, **same)


def _hints_of_missing(corpus):
    """Return a hint (tuple of str) for each frequent item whose name stands for a missing one, as NA does."""
    from ..readers.columns import NOBODY

    frequent = [(word, int(n)) for word, n in zip(corpus.vocab.words[:_LOOKED_AT], corpus.vocab.counts, strict=False)]
    return tuple(
        f"{n:,} items are {word!r}; if it means that an item is missing, remove them"
        for word, n in frequent
        if word.lower() in NOBODY and _FREQUENT * corpus.report.sentences <= n > 1
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
