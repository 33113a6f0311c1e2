"""safetensors, and the folders of model2vec and of sentence-transformers' StaticEmbedding, which contain such a file.

Our files have the arrays of npz (`common.ARRAYS`) as tensors. Files of other programs contain no words; these are read
from a ``tokenizer.json`` in the same folder. The folders have a tokenizer and one row per token; both programs average
the rows of a text's tokens. Ours have one token per word, and a row of zeros for all other words. Text is lower-cased
if no word has a capital, and split around punctuation if that splits no word; otherwise at whitespace.
"""

import json
from pathlib import Path

import numpy as np

from ...ground.errors import ConfigError, InputError, OutputError, require
from ...ground.files.atomic import atomic_file, atomic_folder
from ...ground.files.memory import memory_size
from .common import ARRAYS, arrays_of, check_text, check_words, enter, vectors_of, words_of

_REMEDY = "; it was not written by w2vneg, or is damaged: write it again (w2vneg export … --format safetensors)"
_ARRAYS = "tensors: `matrix`, `word_bytes`, `word_offsets`, `counts` if known"
_HOLDS = "`tokenizer.json` with a token per word, `model.safetensors`, `modules.json`, the program's own configuration"
_MODULES = [{"idx": 0, "name": "0", "path": ".", "type": "sentence_transformers.models.StaticEmbedding"}]
_MATRIX, _TOKENIZER = "model.safetensors", "tokenizer.json"
_TENSORS = ("embeddings", "embedding.weight")  # of model2vec, of sentence-transformers
_BEFORE = "|".join(r"\p{Cased}" + n * r"\p{Case_Ignorable}" for n in range(3))  # its length must be fixed
_FINAL_SIGMA = rf"(?<={_BEFORE})Σ(?!\p{{Case_Ignorable}}*\p{{Cased}})"  # ς in lower case, as in str.lower
_DAMAGED = "; it is damaged or not a folder of model2vec or sentence-transformers"


def is_safetensors(head):
    """Return whether a file begins with the length of its header, and JSON."""
    return head[8:10] == b'{"' and int.from_bytes(head[:8], "little") < 1 << 30


def write(path, vectors):
    library = require("safetensors.numpy", "safetensors", "the format safetensors")
    check_text(path, vectors.words)
    with atomic_file(path) as stream:
        stream.write(library.save(arrays_of(vectors), {"format": "np", "writer": "w2vneg"}))


def read(path, spell=False):
    found = _tensors_of(path)
    if "word_bytes" not in found:
        if (Path(path).parent / "tokenizer.json").is_file():
            return read_folder(Path(path).parent, matrix=Path(path).name)
        remedy = "put tokenizer.json into the same folder, or write the vectors as word2vec text"
        raise InputError(f"{path}: the tensors {', '.join(sorted(found))[:200]} come without words; {remedy}")
    if missing := [name for name in ARRAYS if name not in found]:
        raise InputError(f"{path}: expected a tensor {missing[0]!r}, found {', '.join(sorted(found))}{_REMEDY}")
    words = words_of(path, found["word_bytes"], found["word_offsets"], _REMEDY)
    return vectors_of(path, _REMEDY, words, found["matrix"], found.get("counts"))


def _tensors_of(path):
    """Return the tensors of a file by name, dict of str -> ndarray; InputError if it cannot be read."""
    library = require("safetensors", "safetensors", f"reading {path}")
    try:
        with library.safe_open(path, framework="numpy") as tensors:
            return {name: tensors.get_tensor(name) for name in tensors.keys()}  # noqa: SIM118 (no mapping)
    except Exception as error:  # it raises its own errors, NumPy's and the system's
        raise InputError(f"{path}: cannot be read as safetensors ({error}){_REMEDY}") from None


def is_folder(folder):
    """Return whether a folder (Path) has a tokenizer and a matrix."""
    return (folder / _MATRIX).is_file() and (folder / _TOKENIZER).is_file()


def write_model2vec(path, vectors):
    """Write a folder that ``model2vec.StaticModel.from_pretrained`` reads; see `formats.save`."""
    config = {"model_type": "model2vec", "architectures": ["StaticModel"], "hidden_dim": vectors.dim}
    config |= {"normalize": False, "embedding_dtype": "float32"}
    _write_folder(path, vectors, "embeddings", "config.json", config)


def write_sentence_transformers(path, vectors):
    """Write a folder that both ``SentenceTransformer(path)`` and model2vec read; see `formats.save`."""
    config = {"model_type": "SentenceTransformer", "prompts": {}, "default_prompt_name": None}
    config |= {"similarity_fn_name": "cosine"}
    _write_folder(path, vectors, "embedding.weight", "config_sentence_transformers.json", config)


def _write_folder(path, vectors, tensor, config_name, config):
    library = require("safetensors.numpy", "tokenizers", f"the folder {path}")
    check_words(path, vectors.words)
    if (Path(path) / "vocab.tsv").exists():
        raise OutputError(f"cannot write {path}: it is a w2vneg model folder; name another folder")
    tokenizer = _tokenizer(vectors.words)
    matrix = np.concatenate([vectors.matrix, np.zeros((1, vectors.dim), np.float32)])
    with atomic_folder(path, keep=lambda name: True) as folder:
        (folder / _MATRIX).write_bytes(library.save({tensor: matrix}, {"format": "np"}))
        (folder / _TOKENIZER).write_text(tokenizer.to_str(), encoding="utf-8")
        for name, content in ((config_name, config), ("modules.json", _MODULES)):
            (folder / name).write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def _tokenizer(words):
    """Return a ``tokenizers.Tokenizer`` whose tokens are the words in row order, then the unknown token."""
    tokenizers = require("tokenizers", "tokenizers", "a tokenizer of words")
    unknown = "[UNK]"
    while unknown in words:
        unknown = f"[{unknown}]"
    vocab = {word: row for row, word in enumerate([*words, unknown])}
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocab, unk_token=unknown))
    if all(word == word.lower() for word in words):
        lower = tokenizers.normalizers.Lowercase()
        sigma = tokenizers.normalizers.Replace(tokenizers.Regex(_FINAL_SIGMA), "ς")
        greek = any("σ" in word or "ς" in word for word in words)
        made.normalizer = tokenizers.normalizers.Sequence([sigma, lower]) if greek else lower
    around = tokenizers.pre_tokenizers.Whitespace()
    splits_none = all(len(around.pre_tokenize_str(word)) == 1 for word in words)
    made.pre_tokenizer = around if splits_none else tokenizers.pre_tokenizers.WhitespaceSplit()
    return made


def read_folder(folder, spell=False, matrix=_MATRIX):
    """Read the tokens and their rows, with their weights applied; see `w2vneg.vectors.formats.read`.

    matrix : str, the file of the rows in the folder
    """
    if spell:
        raise ConfigError(f"{folder} has vectors of known words only; leave oov out")
    tokenizers = require("tokenizers", "tokenizers", f"reading {folder}")
    try:
        tokenizer = tokenizers.Tokenizer.from_file(str(folder / _TOKENIZER))
        vocab = tokenizer.get_vocab()
    except BaseException as error:  # the library raises nothing narrower, and panics are no Exception
        if isinstance(error, KeyboardInterrupt | SystemExit):
            raise
        raise InputError(f"{folder / _TOKENIZER}: cannot be read ({error}){_DAMAGED}") from None
    path = folder / matrix
    found = _tensors_of(path)
    matrix = next((found[name] for name in _TENSORS if name in found), None)
    if matrix is None or matrix.ndim != 2:
        raise InputError(f"{path}: expected a matrix {' or '.join(_TENSORS)}{_DAMAGED}")
    words = sorted(vocab, key=vocab.get)
    n = len(words)
    if not words or sorted(vocab.values()) != list(range(n)):
        raise InputError(f"{folder / _TOKENIZER}: it has no tokens, or their ids do not count from 0{_DAMAGED}")
    of_tokens = [found[name].shape for name in ("mapping", "weights") if name in found]
    if any(shape != (n,) for shape in of_tokens) or 8 * n * matrix.shape[1] > memory_size():
        raise InputError(
            f"{path}: mapping and weights do not fit the matrix and {n:,} tokens, or the memory here{_DAMAGED}"
        )
    try:  # several tokens may share a row, each with its own weight
        matrix = matrix[found["mapping"]] if "mapping" in found else matrix
        matrix = matrix.astype(np.float32)
        matrix = matrix * found["weights"][:, None].astype(np.float32) if "weights" in found else matrix
    except (IndexError, ValueError) as error:
        raise InputError(f"{path}: mapping and weights do not fit the matrix ({error}){_DAMAGED}") from None
    if len(matrix) != len(words):
        raise InputError(f"{folder}: {len(words):,} tokens do not match {len(matrix):,} rows{_DAMAGED}")
    unknown = getattr(tokenizer.model, "unk_token", None)
    if unknown == words[-1] and not matrix[-1].any() and n > 1:  # as we write it
        words, matrix = words[:-1], matrix[:-1]
    return vectors_of(folder, _DAMAGED, words, matrix)


_FILE = {"extra": "safetensors", "suffixes": (".safetensors",), "recognises": is_safetensors}
_FOLDER = {"extra": "tokenizers", "folder": True}
enter("safetensors", _ARRAYS, write=write, read=read, **_FILE)
enter("model2vec", _HOLDS, write=write_model2vec, **_FOLDER)
enter("sentence-transformers", _HOLDS, write=write_sentence_transformers, **_FOLDER)
enter("static", read=read_folder, folder=True, recognises=is_folder)
