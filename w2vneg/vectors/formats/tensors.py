"""safetensors: the arrays of npz (`common.ARRAYS`) as tensors, for whatever reads safetensors.

Other programs' files have no words in them; then a ``tokenizer.json`` beside them is looked for (`static`).
"""

from pathlib import Path

from ...ground.errors import InputError, require
from ...ground.files.atomic import atomic_file
from .common import ARRAYS, FORMATS, Format, Stored, arrays_of, check_parts, check_text, words_of

_REMEDY = "; it was not written by w2vneg, or is damaged: write it again (w2vneg export … --format safetensors)"


def looks_like_it(head):
    """Tell safetensors by its beginning (bytes): the length of its header, and JSON."""
    return head[8:10] == b'{"' and int.from_bytes(head[:8], "little") < 1 << 30


def write(path, stored):
    """Write a safetensors file; see `w2vneg.vectors.formats.save`."""
    library = require("safetensors.numpy", "safetensors", "the format safetensors")
    check_text(path, stored.words)
    with atomic_file(path) as stream:
        stream.write(library.save(arrays_of(stored), {"format": "np", "writer": "w2vneg"}))


def read(path, spell=False):
    """Read a safetensors file, strictly; see `w2vneg.vectors.formats.read`."""
    found = tensors_of(path)
    if "word_bytes" not in found:
        if (Path(path).parent / "tokenizer.json").is_file():
            from . import static

            return static.read(Path(path).parent)
        raise InputError(
            f"{path}: the tensors {', '.join(sorted(found))[:200]} have no words with them; put tokenizer.json into "
            "the same folder, or write the vectors as word2vec text"
        )
    missing = [name for name in ARRAYS if name not in found]
    if missing:
        raise InputError(f"{path}: expected a tensor {missing[0]!r}, found {', '.join(sorted(found))}{_REMEDY}")
    words = words_of(path, found["word_bytes"], found["word_offsets"], _REMEDY)
    check_parts(path, words, found["matrix"], found.get("counts"), _REMEDY)
    return Stored(words, found["matrix"], found.get("counts"))


def tensors_of(path):
    """Return the tensors of a file by name, dict of str -> ndarray; InputError if it is none."""
    library = require("safetensors", "safetensors", f"reading {path}")
    try:
        with library.safe_open(path, framework="numpy") as tensors:
            return {name: tensors.get_tensor(name) for name in tensors.keys()}  # noqa: SIM118 (no mapping)
    except Exception as error:  # it has errors of its own, of NumPy's and of the system's
        raise InputError(f"{path}: cannot be read as safetensors ({error}){_REMEDY}") from None


FORMATS.register("safetensors")(
    Format(
        "tensors: `matrix`, `word_bytes`, `word_offsets`, `counts` if known",
        "safetensors",
        write,
        read,
        suffixes=(".safetensors",),
        recognises=looks_like_it,
    )
)
