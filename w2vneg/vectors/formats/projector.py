"""A folder for TensorBoard's projector: ``vectors.tsv``, ``metadata.tsv`` with the words, and which belongs to which.

TensorBoard shows it as a log directory; projector.tensorflow.org takes the two tables by hand. Not read back.
"""

from ...ground.errors import OutputError
from ...ground.files.atomic import atomic_folder
from .common import check_text, enter, format_rows

_CONFIG = """embeddings {
  tensor_name: "vectors"
  tensor_path: "vectors.tsv"
  metadata_path: "metadata.tsv"
}
"""
_ROWS = 1 << 12  # written at a time


def write(path, vectors):
    """Write such a folder; other files in it stay. See `w2vneg.vectors.formats.save`."""
    words, matrix, counts = vectors.words, vectors.matrix, vectors.counts
    check_text(path, words)
    wrong = next((word for word in words if any(sign in word for sign in "\t\n\r")), None)
    if wrong is not None:
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


enter("projector", "`vectors.tsv`, `metadata.tsv`, `projector_config.pbtxt`", write=write, folder=True)
