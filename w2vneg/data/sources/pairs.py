"""Tables of pairs: item, target and perhaps a weight; each row is visited with its columns."""

from dataclasses import replace

from ...ground.errors import ConfigError
from ...ground.option import option
from . import SOURCES, TRAVERSALS, Source, Traversal
from ._options import PairOptions

_VISIT = 8  # pairs of one visit of a row: they share a copy of the centre's vector
_DENSE_VISIT = 64  # where a centre costs as much as all targets, however many pairs it has
_MOST = 1 << 31  # pairs of an epoch; their visits are listed in memory
_LISTED = 1 << 26  # pairs an epoch may hold to be listed without being asked for: 270 MB
_ORDER = 11  # first word of a random stream's name


@SOURCES.register("pairs")
class Pairs(Source):
    help = "Pairs of items, a pair a row: item, target and perhaps a weight. Delimited text or Parquet."
    tables = True
    paired = True
    rows = unit = "rows"
    traversal = "pairs"
    Options = PairOptions

    @classmethod
    def encode(cls, given, **shaping):
        from ..encoded import encode_pairs

        return encode_pairs(list(given.files), **given.values(), **shaping)


@TRAVERSALS.register("pairs")
class WeightedPairs(Traversal):
    """Pairs with weights: a row and its columns."""

    data = "--pairs and --cooccurrence"
    unit = None
    windows = False
    paired = True
    example = "pairs"

    class Options:
        pair_weights: str | None = option(
            None,
            "How weights of pairs count: enumerate (each pair so often in an epoch) or sample (drawn in proportion).",
            shown="enumerate, if they are whole numbers and few enough",
            choices=("enumerate", "sample"),
        )
        pairs_per_epoch: int | None = option(
            None,
            "Pairs that an epoch draws when weights are sampled.",
            at_least=1,
            at_most=2**31,
            shown="the sum of the weights, at least the number of pairs",
        )

    @classmethod
    def of(cls, pairs, config):
        if pairs.row_weights is None:
            return cls._over(pairs.matrix, config)
        drawn = config.pairs_per_epoch
        if drawn is not None:
            part = float(pairs.matrix.sum(dtype="float64")) / pairs.row_weights.sum()
            config = replace(config, pairs_per_epoch=max(1, round(part * drawn)))
        return replace(cls._over(pairs.matrix, config), centre_weights=pairs.row_weights)

    @classmethod
    def _over(cls, matrix, config):
        import numpy as np

        weights = matrix.data.astype(np.float64)
        total = float(weights.sum())
        visit = _VISIT if config.batch is None else _DENSE_VISIT
        counts = bool((weights == np.floor(weights)).all())
        how = config.pair_weights
        if how is None:
            how = "enumerate" if counts and total <= _LISTED and config.pairs_per_epoch is None else "sample"
        if how == "enumerate":
            if not counts:
                raise ConfigError(
                    "--pair-weights enumerate needs whole numbers as weights, and some of these have fractions; take "
                    "--pair-weights sample"
                )
            if config.pairs_per_epoch is not None:
                raise ConfigError(
                    "--pairs-per-epoch has no effect with --pair-weights enumerate; take sample or leave it out"
                )
            if total > _MOST:
                raise ConfigError(
                    f"the weights add up to {total:.3g} pairs an epoch, too many to list; take --pair-weights sample "
                    "(and --pairs-per-epoch)"
                )
            return cls._listed(matrix, visit, config.seed)
        if total > _MOST and config.pairs_per_epoch is None:
            raise ConfigError(
                f"the weights add up to {total:.3g} pairs, too many for an epoch; say with --pairs-per-epoch how "
                "many to draw"
            )
        return cls._drawn(matrix, config.pairs_per_epoch or max(matrix.nnz, total), visit, config.seed)

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

        from ...kernels.alias import alias_rows
        from ...kernels.pairs import DrawnPairs

        starts = matrix.indptr.astype(np.int64)
        rows = np.asarray(matrix.sum(axis=1, dtype=np.float64)).ravel()
        expected = rows * (n_pairs / rows.sum())
        visits = np.ceil(expected / visit).astype(np.int64)
        means = (expected / np.maximum(visits, 1)).astype(np.float32)
        centres = np.random.default_rng([_ORDER, seed]).permutation(
            np.repeat(np.arange(len(rows), dtype=np.int32), visits)
        )
        table = alias_rows(starts, matrix.data)
        source = DrawnPairs(centres, means, starts, matrix.indices.astype(np.int32), table)
        return cls(source, len(centres), visit, float(n_pairs / len(centres)), 1, 0, visits.astype(np.float64))

    @classmethod
    def counts_occurrences(cls, pairs):
        return bool((pairs.matrix.data == pairs.matrix.data.round()).all())

    @classmethod
    def counts(cls, pairs, config, window=None):
        return pairs.matrix

    @classmethod
    def cooccurs(cls, pairs, config, centres):
        return pairs.matrix[centres].toarray() > 0
