"""Counts of items seen together: a sparse matrix, or a table of pairs."""

import os
import time

from ...ground.errors import ConfigError, InputError
from ...ground.option import option
from . import SOURCES, Source
from ._options import PairOptions


@SOURCES.register("cooccurrence")
class Cooccurrence(Source):
    help = "Co-occurrence counts: a sparse .npz or a table. The .npz is from SciPy; the table has one pair per row."
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
        """Read a sparse matrix, whose entry (i, j) is how often j was seen with i; or a table, as `Pairs` does."""
        from ..encoded.corpus import ItemsReport
        from ..encoded.matrices import is_matrix, load_matrix, numbered
        from ..encoded.pairs import encode_pairs
        from ..readers.sources import find_files
        from ..vocab import VocabOptions
        from .pairs import Pairs

        started, names = time.perf_counter(), given.names
        files = find_files(list(given.files))
        if len(files) != 1 or not is_matrix(files[0]):
            if names:
                raise InputError(f"{files[0]}: names apply only to one sparse matrix, in a .npz file; leave them out")
            return Pairs.encode(given, **shaping)
        shaping, rectangular, file = VocabOptions(**shaping).checked(), bool(given.rectangular), files[0]
        matrix = load_matrix(file, rectangular, bool(names))
        if names:
            rows, columns, words = matrix.row, matrix.col, _words_of(matrix, file, names, shaping, rectangular)
        else:
            rows, columns, words = numbered(matrix, rectangular)
        size = os.path.getsize(file) if isinstance(file, str) else file.bytes
        if shaping.progress:
            shaping.progress(size, size)
        report = ItemsReport("cooccurrence", 1, size, matrix.nnz, rectangular=rectangular)
        try:
            return encode_pairs(rows, columns, matrix.data.astype("float64"), words, shaping, report, started)
        except InputError as error:
            raise InputError(f"{file}: {error}") from error


def _words_of(matrix, path, files, shaping, rectangular):
    """Read the names of rows and columns from files, and check their numbers against the shape."""
    from ..encoded.matrices import read_names

    words = [read_names(file, encoding=shaping.encoding, lowercase=shaping.lowercase) for file in files]
    if len(files) != 1 + rectangular:
        wanted = "two files of names, for rows and for columns" if rectangular else "one file of names"
        raise ConfigError(f"this matrix needs {wanted}; {len(files)} were given")
    for file, names, size, side in zip(files, words, matrix.shape, ("rows", "columns"), strict=False):
        if len(names) != size:
            raise InputError(f"{file}: {len(names):,} names, but {path} has {size:,} {side}; give one a line, in order")
    return words if rectangular else words * 2
