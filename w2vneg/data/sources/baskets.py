"""Baskets of items, one a line."""

from dataclasses import replace

from ...ground.option import option
from . import SOURCES, TRAVERSALS, Source, Traversal, check_pairs
from ._options import delimiter, ordered, plain, subsample


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
        """Read baskets as text is, into the cache: they may be larger than memory. The report is an `ItemsReport`.

        Blanks part the items, or another sign; then blanks inside names become _, and those beside the sign vanish.
        """
        from ..encoded import encode_corpus
        from ..readers.layout import named

        delimiter = cls._delimiter(given)
        corpus = encode_corpus(list(given.files), **cls._reading(delimiter), **shaping)
        fixed = shaping.get("vocab") is not None
        report = cls.report(given, corpus.report, len(corpus.vocab), corpus.n_single, fixed)
        if not given.delimiter and delimiter not in (None, " "):
            report = replace(report, columns=(f"parted by {named(delimiter)}, as it looks; else give --delimiter",))
        return replace(corpus, report=report)

    @classmethod
    def reading(cls, given):
        return cls._reading(cls._delimiter(given))

    @staticmethod
    def _reading(delimiter):
        from ..readers.baskets import basket_reader

        return {"reader": basket_reader(delimiter or " "), "strip": ()}

    @classmethod
    def report(cls, given, found, n_items, single, fixed):
        from ...ground.errors import InputError
        from ..readers.report import ItemsReport

        if single == found.sentences:
            guess = "; name the sign between items with --delimiter if it is not a blank"
            hint = guess if given.delimiter in (None, " ") else ""
            raise InputError(f"none of the {single:,} baskets has two items, so nothing was bought together{hint}")
        which = "unknown items" if fixed else "rare items"
        return ItemsReport(
            kind="baskets",
            files=found.files,
            bytes=found.bytes,
            rows=found.lines,
            items=n_items,
            targets=n_items,
            kept=found.kept_tokens,
            groups=found.sentences,
            seconds=found.seconds,
            cached=found.cached,
            damage=found.damage,
            left_out={
                which: found.discarded_types,
                f"times that {which} were seen": found.discarded_tokens,
                "empty baskets": found.lines - found.sentences,
                "baskets of one item (kept, but nothing to learn from)": single,
            },
        )

    @classmethod
    def _delimiter(cls, given):
        """Return what parts the items, as asked or as the first file looks; refuse what are no baskets."""
        from ...ground.errors import DoubtError
        from ..readers import baskets, foreign
        from ..readers.layout import delimiter_of, named

        chosen = delimiter_of(given.delimiter)
        if given.plain:
            return chosen
        for name, data in foreign.beginnings(given.files):
            foreign.refuse(name, data, "baskets")
            chosen = chosen or baskets.guess_delimiter(name, data)
            rows = [baskets.split_items(line, chosen) for line in foreign.Head.of(data).lines]
            if quoted := baskets.quoted_item(rows):
                raise DoubtError(
                    f"{name}: items stand in quotes, as {quoted[:60]}, which would be part of their names; take them "
                    f"off, tr -d '\"' < FILE > baskets.txt, or give --plain --delimiter {named(chosen)} to keep them"
                )
            why = baskets.looks_like_log(rows)
            if why:
                raise DoubtError(
                    f"{name}: looks like a log, not like baskets: {why}; give a log to --ratings or --pairs, cut a "
                    "first column of numbers off, or give --plain if these are items"
                )
        return chosen


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
        source = Groups(corpus.ids, corpus.offsets, keep, most, own.ordered)
        weights = corpus.vocab.counts * (keep / 2.0**32)
        mean = float(sizes @ np.minimum(sizes - 1, most) / sizes.sum()) / (2 if own.ordered else 1)
        return cls(source, len(corpus), most, mean, 2, 2 * longest, weights)

    @classmethod
    def counts(cls, corpus, config, window=None):
        from ...kernels.cooccurrence import pair_counts

        pairs = pair_counts(corpus.ids, corpus.offsets, len(corpus.vocab), None, ordered=config.source.ordered)
        pairs.setdiag(0)  # nothing is its own positive
        pairs.eliminate_zeros()
        return pairs

    @classmethod
    def cooccurs(cls, corpus, config, centres):
        return cls.counts(corpus, config)[centres].toarray() > 0
