"""A folder to serve from: ``index.faiss``, a graph of neighbours (HNSW) for Faiss, and ``words.txt``, line i for row i.

`write_cosine` puts rows of length one into it, so that its inner products are cosines: what `nearest` finds.
`write_dot` takes rows as they are: with ``--readout out`` and a user's input vector for a query, what `recommend`
finds. Not read back.
"""

from ...ground.errors import require
from ...ground.files.atomic import atomic_folder
from .common import check_text, enter

_HOLDS = "`index.faiss`, `words.txt`: see [serving](ranking.md#serve-from-an-index)"
_NEIGHBOURS = 32  # of a row, in the graph
_BUILDING, _SEARCHING = 200, 128  # candidates looked at; recall@10 is above .95 in tests/vectors/test_index.py


def write_cosine(path, vectors):
    """Write an index of directions."""
    _write(path, vectors.words, vectors.unit)


def write_dot(path, vectors):
    """Write an index of the rows as they are."""
    _write(path, vectors.words, vectors.matrix)


def _write(path, words, matrix):
    faiss = require("faiss", "faiss", "an index for serving")
    check_text(path, words)
    index = faiss.IndexHNSWFlat(matrix.shape[1], _NEIGHBOURS, faiss.METRIC_INNER_PRODUCT)
    index.hnsw.efConstruction, index.hnsw.efSearch = _BUILDING, _SEARCHING
    index.add(matrix)
    with atomic_folder(path) as folder:
        (folder / "index.faiss").write_bytes(faiss.serialize_index(index).tobytes())
        (folder / "words.txt").write_text("".join(f"{word}\n" for word in words), encoding="utf-8")


enter("faiss", _HOLDS, extra="faiss", write=write_cosine, folder=True)
enter("faiss-dot", _HOLDS, extra="faiss", write=write_dot, folder=True)
