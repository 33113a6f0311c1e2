"""Baskets of items, one a line."""

from ...ground.option import option
from . import SOURCES, TRAVERSALS, Source, Traversal, check_pairs
from ._options import delimiter, ordered, plain, subsample


@SOURCES.register("baskets")
class Baskets(Source):
    help = "Baskets of items, one a line."
    kept = "items in {:,} baskets"
    unit = "baskets"
    traversal = "baskets"

    class Options:
        delimiter: str | None = delimiter()
        plain: bool = plain()

    @classmethod
    def encode(cls, given, vocab_out=None, **shaping):
        from ..encoded import encode_baskets

        return encode_baskets(
            list(given.files), delimiter=cls._delimiter(given), guessed=not given.delimiter, **shaping
        )

    @classmethod
    def reading(cls, given):
        from ..encoded.histories import reader_of_baskets

        return {"reader": reader_of_baskets(cls._delimiter(given)), "strip": ()}

    @classmethod
    def report(cls, given, found, n_items, single, fixed):
        from ..encoded.histories import report_of_baskets

        return report_of_baskets(found, n_items, single, fixed, given.delimiter)

    @classmethod
    def _delimiter(cls, given):
        """Return what parts the items, as asked or as the first file looks; refuse what are no baskets."""
        from ...ground.errors import DoubtError
        from ..readers import foreign
        from ..readers.layout import delimiter_of, named

        chosen = delimiter_of(given.delimiter)
        if given.plain:
            return chosen
        for name, data in foreign.beginnings(given.files):
            foreign.refuse(name, data, "baskets")
            chosen = chosen or foreign.guess_delimiter(name, data)
            rows = [foreign.split_items(line, chosen) for line in foreign.Head.of(data).lines]
            if quoted := foreign.quoted_item(rows):
                raise DoubtError(
                    f"{name}: items stand in quotes, as {quoted[:60]}, which would be part of their names; take them "
                    f"off, tr -d '\"' < FILE > baskets.txt, or give --plain --delimiter {named(chosen)} to keep them"
                )
            why = foreign.looks_like_log(rows)
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
            "Positives of an item in a basket or history: all others up to this many, else so many of them drawn.",
            at_least=1,
            at_most=10000,
        )

    @classmethod
    def of(cls, corpus, config):
        import numpy as np

        from ...kernels.baskets import Baskets as Groups
        from ...kernels.schedule import keep_thresholds

        check_pairs(corpus.offsets, "basket", "item")
        keep = keep_thresholds(corpus.vocab.counts, config.subsample)
        sizes = np.diff(corpus.offsets)
        longest = int(sizes.max())
        most = min(config.pairs_per_item, longest - 1)
        source = Groups(corpus.ids, corpus.offsets, keep, most, config.ordered)
        weights = corpus.vocab.counts * (keep / 2.0**32)
        mean = float(sizes @ np.minimum(sizes - 1, most) / sizes.sum()) / (2 if config.ordered else 1)
        return cls(source, len(corpus), most, mean, 2, 2 * longest, weights)

    @classmethod
    def counts(cls, corpus, config, window=None):
        from ...kernels.cooccurrence import pair_counts

        pairs = pair_counts(corpus.ids, corpus.offsets, len(corpus.vocab), None, ordered=config.ordered)
        pairs.setdiag(0)  # nothing is its own positive
        pairs.eliminate_zeros()
        return pairs

    @classmethod
    def cooccurs(cls, corpus, config, centres):
        return cls.counts(corpus, config)[centres].toarray() > 0
