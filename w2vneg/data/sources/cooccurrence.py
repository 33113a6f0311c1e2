"""Counts of items seen together: a sparse matrix, or a table of pairs."""

import os

from ...ground.errors import InputError
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
        from ..encoded.matrices import is_matrix, load_matrix, numbered, words_of
        from ..encoded.pairs import encode_pairs
        from ..readers.sources import find_files
        from ..vocab import VocabOptions
        from .pairs import Pairs

        files, names = find_files(list(given.files)), given.names
        if len(files) != 1 or not is_matrix(files[0]):
            if names:
                raise InputError(f"{files[0]}: names apply only to one sparse matrix, in a .npz file; leave them out")
            return Pairs.encode(given, **shaping)
        shaping, rectangular, file = VocabOptions(**shaping).checked(), bool(given.rectangular), files[0]
        matrix = load_matrix(file, rectangular, bool(names))
        if names:
            rows, columns, words = matrix.row, matrix.col, words_of(matrix, file, names, shaping, rectangular)
        else:
            rows, columns, words = numbered(matrix, rectangular)
        size = os.path.getsize(file) if isinstance(file, str) else file.bytes
        if shaping.progress:
            shaping.progress(size, size)
        report = ItemsReport("cooccurrence", 1, size, matrix.nnz, rectangular=rectangular)
        try:
            return encode_pairs(rows, columns, matrix.data.astype("float64"), words, shaping, report)
        except InputError as error:
            raise InputError(f"{file}: {error}") from error
