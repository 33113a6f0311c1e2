"""Counts of items seen together: a sparse matrix, or a table of pairs."""

import time

from ...ground.errors import ConfigError, InputError
from ...ground.option import option
from . import SOURCES, Source
from ._options import PairOptions


@SOURCES.register("cooccurrence")
class Cooccurrence(Source):
    help = "Co-occurrence counts: a sparse .npz or a table. The .npz is of scipy.sparse; the table has a pair per row."
    tables = True
    paired = True
    repeatable = False
    rows, unit = "entries", "rows"
    traversal = "pairs"

    class Options(PairOptions):
        names: str | None = option(
            None,
            "Names of a matrix's items, one per line; give it twice if rectangular.",
            default_text="0, 1, 2, ...",
            metavar="FILE",
            files=True,
        )

    @classmethod
    def encode(cls, given, **shaping):
        """Read a sparse matrix, whose row i, column j holds how often j was seen with i; any table as `Pairs` does.

        A matrix may be damaged or malformed, not fit into memory, not be square (unless rectangular), have entries that
        are negative or not finite, or another number of rows than there are names: InputError.
        """
        import numpy as np

        from ..encoded.corpus import ItemsReport
        from ..encoded.matrices import is_matrix, load_matrix, matrix_of, numbered, read_names
        from ..encoded.pairs import RawPairs
        from ..readers.frames import InMemoryTable
        from ..readers.sources import ByteStream, find_files
        from ..vocab import VocabOptions
        from .pairs import Pairs

        started, names = time.perf_counter(), given.names
        files = find_files(list(given.files))
        if len(files) != 1 or not is_matrix(files[0]):
            if names:
                raise InputError(f"{files[0]}: names go with one sparse matrix, in a .npz file, which this is not")
            return Pairs.encode(given, **shaping)
        shaping = VocabOptions(**shaping).checked()
        rectangular = bool(given.rectangular)
        in_memory = isinstance(files[0], InMemoryTable)
        matrix = matrix_of(files[0], rectangular) if in_memory else load_matrix(files[0], rectangular, bool(names))
        rows, columns = matrix.row, matrix.col
        if names:
            words = [read_names(path, encoding=shaping.encoding, lowercase=shaping.lowercase) for path in names]
            words = _words_of(matrix, files[0], names, words, rectangular)
        else:
            rows, columns, words = numbered(matrix, rectangular)
        pairs = RawPairs(rows, columns, matrix.data.astype(np.float64), *words)
        with files[0] if in_memory else ByteStream(files[0]) as stored:
            size = stored.bytes if in_memory else stored.stamp[0]
        if shaping.progress:
            shaping.progress(size, size)
        report = ItemsReport("cooccurrence", 1, size, matrix.nnz, rectangular=rectangular)
        try:
            return pairs.encoded(shaping, rectangular, report, started)
        except InputError as error:
            raise InputError(f"{files[0]}: {error}") from error


def _words_of(matrix, path, files, words, rectangular):
    """Return the names of rows and of columns, checked against the shape."""
    if len(files) != 1 + rectangular:
        wanted = "two files of names, of rows and of columns" if rectangular else "one file of names"
        raise ConfigError(f"this matrix takes {wanted}; {len(files)} were given")
    for file, names, size, side in zip(files, words, matrix.shape, ("rows", "columns"), strict=False):
        if len(names) != size:
            raise InputError(f"{file}: {len(names):,} names, but {path} has {size:,} {side}; give one a line, in order")
    return words if rectangular else words * 2
