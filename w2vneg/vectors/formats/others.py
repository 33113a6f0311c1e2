"""Formats that are only written, for other programs: gensim's vectors, a Faiss index, TensorBoard's projector."""

from functools import partial

from ...ground.errors import OutputError, require
from ...ground.files.atomic import atomic_file, atomic_folder
from .common import check_text, enter, format_rows

_NEIGHBOURS = 32  # per row, in the graph of an index
_BUILDING, _SEARCHING = 200, 128  # candidates examined; recall@10 is above .95 in tests/vectors/test_index.py
_CONFIG = """embeddings {
  tensor_name: "vectors"
  tensor_path: "vectors.tsv"
  metadata_path: "metadata.tsv"
}
"""
_ROWS = 1 << 12  # written at a time


def write_index(path, vectors, cosine):
    """Write a folder for serving: ``index.faiss``, a graph of neighbours (HNSW), and ``words.txt``, line i for row i.

    Other files in the folder are kept.
    cosine : bool, scale rows to unit length, so that the index finds what `nearest` finds. Otherwise it finds what
        `recommend` finds, if made with ``--readout out`` and queried with a user's input vector
    """
    faiss = require("faiss", "faiss", "an index for serving")
    words, matrix = vectors.words, vectors.unit if cosine else vectors.matrix
    check_text(path, words)
    wrong = next((word for word in words if word and word.splitlines() != [word]), None)
    if wrong is not None:
        raise OutputError(f"cannot write {path}: the word {wrong!r} has a line end, which words.txt cannot hold")
    index = faiss.IndexHNSWFlat(matrix.shape[1], _NEIGHBOURS, faiss.METRIC_INNER_PRODUCT)
    index.hnsw.efConstruction, index.hnsw.efSearch = _BUILDING, _SEARCHING
    index.add(matrix)
    with atomic_folder(path, keep=lambda name: True) as folder:
        (folder / "index.faiss").write_bytes(faiss.serialize_index(index).tobytes())
        (folder / "words.txt").write_text("".join(f"{word}\n" for word in words), encoding="utf-8")


def write_pickle(path, vectors):
    """Write a pickle for gensim's ``KeyedVectors.load``, by gensim itself. MissingExtraError without it"""
    require("gensim.models", "gensim", "writing .kv files")
    keyed = vectors.to_gensim()
    with atomic_file(path) as stream:
        keyed.save(stream)  # into one file, however large


def write_projector(path, vectors):
    """Write ``vectors.tsv``, ``metadata.tsv`` with the words, and a file that links them; other files are kept.

    TensorBoard shows the folder as a log directory; projector.tensorflow.org takes the two tables as uploads.
    """
    words, matrix, counts = vectors.words, vectors.matrix, vectors.counts
    check_text(path, words)
    if wrong := next((word for word in words if any(sign in word for sign in "\t\n\r")), None):
        raise OutputError(f"cannot write {path}: the word {wrong!r} has a tab or line end, which a table cannot hold")
    with atomic_folder(path, keep=lambda name: True) as folder:
        with open(folder / "vectors.tsv", "wb") as stream:
            for start in range(0, len(words), _ROWS):
                rows = format_rows(matrix[start : start + _ROWS])
                stream.write(b"".join(bytes(row).replace(b" ", b"\t") for row in rows))
        with open(folder / "metadata.tsv", "w", encoding="utf-8", newline="\n") as stream:
            if counts is None:  # a table of one column has no header
                stream.writelines(f"{word}\n" for word in words)
            else:
                stream.write("word\tcount\n")
                stream.writelines(f"{word}\t{count}\n" for word, count in zip(words, counts.tolist(), strict=True))
        (folder / "projector_config.pbtxt").write_text(_CONFIG, encoding="utf-8")


_INDEX = "`index.faiss`, `words.txt`: see [serving](ranking.md#serve-from-an-index); not read"
enter("faiss", _INDEX, extra="faiss", write=partial(write_index, cosine=True), folder=True)
enter("faiss-dot", _INDEX, extra="faiss", write=partial(write_index, cosine=False), folder=True)
_PICKLE = "words, vectors, counts: a pickle that gensim writes; not read"
enter("gensim", _PICKLE, suffixes=(".kv",), extra="gensim", write=write_pickle)
_PROJECTOR = "`vectors.tsv`, `metadata.tsv`, `projector_config.pbtxt`; not read"
enter("projector", _PROJECTOR, write=write_projector, folder=True)
