"""Tables of pairs: item, target and optional weight; training visits each row with its columns."""

from dataclasses import replace

from ...ground.errors import ConfigError, DoubtError
from ...ground.option import option
from . import SOURCES, TRAVERSALS, Source, Traversal
from ._options import PairOptions, pair_columns, tables_of

_VISIT = 8  # pairs of one visit of a row: they share a copy of the centre's vector
_DENSE_VISIT = 64  # if a centre costs as much as all targets, however many pairs it has
_MOST = 1 << 31  # pairs of an epoch; their visits are listed in memory
_LISTED = 1 << 26  # most pairs of an epoch that are listed by default: 270 MB
_ORDER = 11  # first part of a random stream's name


@SOURCES.register("pairs")
class Pairs(Source):
    help = "Pairs, one per row: item, target, optional weight. Delimited text or Parquet."
    tables = True
    paired = True
    rows = unit = "rows"
    traversal = "pairs"
    Options = PairOptions

    @classmethod
    def encode(cls, given, **shaping):
        """Read tables of pairs; weights of equal pairs are summed. Pairs of an item with itself are left out."""
        from ..encoded.corpus import ItemsReport
        from ..encoded.pairs import encode_pairs, read_ends
        from ..readers.columns import hint_of_weights
        from ..vocab import VocabOptions
        from ..words import NameIndex

        shaping, rectangular = VocabOptions(**shaping).checked(), bool(given.rectangular)
        tables = tables_of(given, pair_columns(given), shaping)
        names = NameIndex(shaping.lowercase)
        names_out = NameIndex(shaping.lowercase) if rectangular else names

        def batches():
            for batch in tables:
                if given.rectangular is None and tables.labels.two_kinds:
                    raise DoubtError(
                        f"{batch.where(0)}: {batch.labels['item']} and {batch.labels['target']} seem to be two kinds "
                        "of things, but may be one; give --rectangular, or --no-rectangular if the same name is the "
                        "same thing in both"
                    )
                yield batch

        gathered = read_ends(batches(), ("item", "target"), (names, names_out))
        report = ItemsReport.of(given.kind, tables, {names, names_out}, rectangular)
        if rectangular and tables.labels.two_kinds:
            report = replace(report, columns=(*report.columns, "two kinds of things, else give --no-rectangular"))
        report = replace(report, hints=report.hints + hint_of_weights(tables.labels, gathered[2]))
        return encode_pairs(*gathered, (names.words, names_out.words), shaping, report)


@TRAVERSALS.register("pairs")
class WeightedPairs(Traversal):
    """Pairs with weights: a row and its columns."""

    data = "--pairs and --cooccurrence"
    unit = None
    windows = False
    paired = True
    bipartite_loss = "top-n"
    example = "pairs"

    class Options:
        pair_weights: str | None = option(
            None,
            "enumerate: repeat each pair by its weight in an epoch. sample: draw pairs in proportion to their weights.",
            default_text="enumerate for few whole weights, else sample",
            choices=("enumerate", "sample"),
        )
        pairs_per_epoch: int | None = option(
            None,
            "Pairs per epoch when weights are sampled.",
            at_least=1,
            at_most=2**31,
            default_text="the sum of the weights, at least the number of pairs",
        )
        start: str | None = option(
            None,
            "Initial rows: random, or spectral, by the leading singular vectors of the pairs. --init replaces them.",
            default_text="random, top-n: spectral",
            choices=("random", "spectral"),
        )

    @classmethod
    def of(cls, pairs, config):
        from ..encoded.pairs import sums_of

        if pairs.sums is None:
            return cls._over(pairs, config.source, config)._counted(*sums_of(pairs.matrix))
        (rows, columns), own, drawn = pairs.sums, config.source, config.source.pairs_per_epoch
        total = float(pairs.matrix.sum(dtype="float64"))
        if drawn is not None:
            own = replace(own, pairs_per_epoch=max(1, round(total / rows.sum() * drawn)))
        whole = replace(cls._over(pairs, own, config), centre_weights=rows)
        return whole._counted(rows, columns, drawn or rows.sum() * max(1.0, pairs.matrix.nnz / total))

    def _counted(self, rows, columns, n_pairs=None):
        """Return a copy with `pairs_of` in proportion to row and column weights; n_pairs : float, pairs in an epoch"""
        n_pairs = self.n_positions * self.mean_group if n_pairs is None else n_pairs
        return replace(self, pairs_of=(rows * (n_pairs / rows.sum()), columns * (n_pairs / rows.sum())))

    @classmethod
    def _over(cls, pairs, own, config):
        matrix, counts, how = pairs.matrix, cls.counts_occurrences(pairs), own.pair_weights
        total = float(matrix.data.astype("float64").sum())
        visit = _DENSE_VISIT if config.loss.plug.dense else _VISIT
        if how is None:
            how = "enumerate" if counts and total <= _LISTED and own.pairs_per_epoch is None else "sample"
        problem = ""
        if how == "enumerate" and not counts:
            problem = "--pair-weights enumerate needs whole numbers as weights, but some have fractions; use "
            problem += "--pair-weights sample"
        elif how == "enumerate" and own.pairs_per_epoch is not None:
            problem = "--pairs-per-epoch has no effect with --pair-weights enumerate; use sample or leave it out"
        elif how == "enumerate" and total > _MOST:
            problem = f"the weights add up to {total:.3g} pairs per epoch, too many to list; use --pair-weights sample "
            problem += "(and --pairs-per-epoch)"
        elif total > _MOST and own.pairs_per_epoch is None:
            problem = f"the weights add up to {total:.3g} pairs, too many for an epoch; choose with --pairs-per-epoch "
            problem += "how many to draw"
        if problem:
            raise ConfigError(problem)
        if how == "enumerate":
            return cls._listed(matrix, visit, config.seed)
        return cls._drawn(matrix, own.pairs_per_epoch or max(matrix.nnz, total), visit, config.seed)

    @classmethod
    def _listed(cls, matrix, visit, seed):
        import numpy as np

        from ...kernels.pairs import ListedPairs, list_pairs
        from ...kernels.schedule import stream_key

        starts, counts = matrix.indptr.astype(np.int64), matrix.data.astype(np.int64)
        rows = np.add.reduceat(np.append(counts, 0), starts[:-1]) * (np.diff(starts) > 0)
        visits = -(-rows // visit)
        n_visits = int(visits.sum())
        centres, sizes = np.empty(n_visits, np.int32), np.empty(n_visits, np.int32)
        begins, targets = np.empty(n_visits, np.int64), np.empty(int(rows.sum()), np.int32)
        rng = np.array([stream_key(_ORDER, seed)], np.uint64)
        columns = matrix.indices.astype(np.int32)
        list_pairs(starts, columns, counts, visit, rng, centres, begins, sizes, targets)
        order = np.random.default_rng([_ORDER, seed]).permutation(n_visits)
        source = ListedPairs(centres[order], begins[order], sizes[order], targets)
        return cls(source, n_visits, visit, rows.sum() / n_visits, 1, 0, visits.astype(np.float64))

    @classmethod
    def _drawn(cls, matrix, n_pairs, visit, seed):
        import numpy as np

        from ...kernels.pairs import DrawnPairs
        from ...kernels.rng import alias_rows

        starts = matrix.indptr.astype(np.int64)
        rows = np.asarray(matrix.sum(axis=1, dtype=np.float64)).ravel()
        expected = rows * (n_pairs / rows.sum())
        visits = np.ceil(expected / visit).astype(np.int64)
        means = (expected / np.maximum(visits, 1)).astype(np.float32)
        centres = np.repeat(np.arange(len(rows), dtype=np.int32), visits)
        centres = np.random.default_rng([_ORDER, seed]).permutation(centres)
        table = alias_rows(starts, matrix.data)
        source = DrawnPairs(centres, means, starts, matrix.indices.astype(np.int32), table)
        return cls(source, len(centres), visit, float(n_pairs / len(centres)), 1, 0, visits.astype(np.float64))

    @classmethod
    def counts_occurrences(cls, pairs):
        return bool((pairs.matrix.data == pairs.matrix.data.round()).all())

    @classmethod
    def counts(cls, pairs, config, window=None):
        return pairs.matrix
