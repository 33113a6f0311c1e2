"""Folders of model2vec and of sentence-transformers' StaticEmbedding: a tokenizer and a row of numbers a token.

Both average the rows of a text's tokens. Ours have a token a word, and one of zeros for all other words. Text is
lower-cased if no word has a capital, and split around punctuation if that splits no word; otherwise at blanks.
"""

import json
from pathlib import Path

import numpy as np

from ...data.words import PackedStrings
from ...ground.errors import ConfigError, InputError, OutputError, require
from ...ground.files.atomic import atomic_folder
from .common import FORMATS, Format, Stored, check_parts, check_words
from .tensors import tensors_of

_HOLDS = "`tokenizer.json` with a token a word, `model.safetensors`, `modules.json`, the program's own configuration"
_MODULES = [{"idx": 0, "name": "0", "path": ".", "type": "sentence_transformers.models.StaticEmbedding"}]
_MATRIX, _TOKENIZER = "model.safetensors", "tokenizer.json"
_TENSORS = ("embeddings", "embedding.weight")  # of model2vec, of sentence-transformers
_REMEDY = "; it is damaged or no folder of model2vec or sentence-transformers"


def looks_like_it(folder):
    """Tell whether a folder (Path) has a tokenizer and a matrix."""
    return (folder / _MATRIX).is_file() and (folder / _TOKENIZER).is_file()


def write_model2vec(path, stored):
    """Write a folder that ``model2vec.StaticModel.from_pretrained`` reads; see `formats.save`."""
    config = {"model_type": "model2vec", "architectures": ["StaticModel"], "hidden_dim": stored.matrix.shape[1]}
    _write(path, stored, "embeddings", "config.json", config | {"normalize": False, "embedding_dtype": "float32"})


def write_sentence_transformers(path, stored):
    """Write a folder that ``SentenceTransformer(path)`` reads, and model2vec, too; see `formats.save`."""
    config = {"model_type": "SentenceTransformer", "prompts": {}, "default_prompt_name": None}
    _write(
        path, stored, "embedding.weight", "config_sentence_transformers.json", config | {"similarity_fn_name": "cosine"}
    )


def _write(path, stored, tensor, config_name, config):
    library = require("safetensors.numpy", "tokenizers", f"the folder {path}")
    check_words(path, stored.words)
    if (Path(path) / "vocab.tsv").exists():
        raise OutputError(f"cannot write {path}: it is a model folder of w2vneg's; name another folder")
    tokenizer = _tokenizer(stored.words)
    matrix = np.concatenate([stored.matrix, np.zeros((1, stored.matrix.shape[1]), np.float32)])
    with atomic_folder(path, keep=lambda name: True) as folder:
        (folder / _MATRIX).write_bytes(library.save({tensor: matrix}, {"format": "np"}))
        (folder / _TOKENIZER).write_text(tokenizer.to_str(), encoding="utf-8")
        for name, content in ((config_name, config), ("modules.json", _MODULES)):
            (folder / name).write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def _tokenizer(words):
    """Return a ``tokenizers.Tokenizer`` whose tokens are the words, by their rows, and behind them the unknown one."""
    tokenizers = require("tokenizers", "tokenizers", "a tokenizer of words")
    unknown = "[UNK]"
    while unknown in words:
        unknown = f"[{unknown}]"
    vocab = {word: row for row, word in enumerate([*words, unknown])}
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocab, unk_token=unknown))
    if all(word == word.lower() for word in words):
        made.normalizer = tokenizers.normalizers.Lowercase()
    around = tokenizers.pre_tokenizers.Whitespace()
    splits_none = all(len(around.pre_tokenize_str(word)) == 1 for word in words)
    made.pre_tokenizer = around if splits_none else tokenizers.pre_tokenizers.WhitespaceSplit()
    return made


def read(folder, spell=False):
    """Read the tokens and their rows, as they are averaged; see `w2vneg.vectors.formats.read`."""
    if spell:
        raise ConfigError(f"{folder} has vectors of known words only; leave oov out")
    tokenizers = require("tokenizers", "tokenizers", f"reading {folder}")
    try:
        tokenizer = tokenizers.Tokenizer.from_file(str(folder / _TOKENIZER))
    except Exception as error:  # the library raises nothing narrower
        raise InputError(f"{folder / _TOKENIZER}: cannot be read ({error}){_REMEDY}") from None
    found = tensors_of(folder / _MATRIX)
    matrix = next((found[name] for name in _TENSORS if name in found), None)
    if matrix is None or matrix.ndim != 2:
        raise InputError(f"{folder / _MATRIX}: expected a matrix {' or '.join(_TENSORS)}{_REMEDY}")
    vocab = tokenizer.get_vocab()
    words = sorted(vocab, key=vocab.get)
    matrix = _rows(folder, matrix, found.get("mapping"), found.get("weights"), len(words))
    unknown = getattr(tokenizer.model, "unk_token", None)
    if unknown == words[-1] and not matrix[-1].any() and len(words) > 1:  # of our own writing
        words, matrix = words[:-1], matrix[:-1]
    words = PackedStrings(words)
    check_parts(folder, words, matrix, None, _REMEDY)
    return Stored(words, matrix, None)


def _rows(folder, matrix, mapping, weights, n):
    """Return a row a token, float32 (n, dim): of several tokens it may be the same one, each with its weight."""
    try:
        matrix = matrix if mapping is None else matrix[mapping]
        matrix = matrix.astype(np.float32)
        matrix = matrix if weights is None else matrix * weights[:, None].astype(np.float32)
    except (IndexError, ValueError) as error:
        raise InputError(f"{folder / _MATRIX}: mapping and weights do not fit the matrix ({error}){_REMEDY}") from None
    if len(matrix) != n:
        raise InputError(f"{folder}: {n:,} tokens do not go with {len(matrix):,} rows{_REMEDY}")
    return np.ascontiguousarray(matrix)


FORMATS.register("model2vec")(Format(_HOLDS, "tokenizers", write_model2vec, folder=True))
FORMATS.register("sentence-transformers")(Format(_HOLDS, "tokenizers", write_sentence_transformers, folder=True))
FORMATS.register("static")(Format(read=read, folder=True, recognises=looks_like_it))
