"""w2vneg: word2vec-style embeddings with pluggable negative objectives.

The names below load their modules on first use, so that ``import w2vneg`` and the command line's help stay fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # what type checkers see
    from .config import TrainConfig as TrainConfig
    from .data.inputs import Input as Input
    from .data.vocab import Vocabulary as Vocabulary
    from .ground.errors import DivergenceError as DivergenceError
    from .ground.errors import W2vnegError as W2vnegError
    from .run.slim import Slim as Slim
    from .run.validation import Validate as Validate
    from .run.word2vec import Word2Vec as Word2Vec
    from .vectors import Vectors as Vectors

__version__ = "0.1.0"

_HOME = {  # public name -> module that defines it
    "Word2Vec": "w2vneg.run.word2vec",
    "Slim": "w2vneg.run.slim",
    "Input": "w2vneg.data.inputs",
    "Vectors": "w2vneg.vectors",
    "Vocabulary": "w2vneg.data.vocab",
    "TrainConfig": "w2vneg.config",
    "Validate": "w2vneg.run.validation",
    "W2vnegError": "w2vneg.ground.errors",
    "DivergenceError": "w2vneg.ground.errors",
}
__all__ = ["__version__", *_HOME]


def __getattr__(name):
    if name not in _HOME:
        raise AttributeError(f"module 'w2vneg' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__():
    return sorted(__all__)
