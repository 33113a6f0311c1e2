"""Encoded data, ready for training: a text or baskets as int32 ids on disk, pairs and graphs as a sparse matrix."""

from .corpus import Encoded, EncodedCorpus
from .encode import encode_corpus
from .pairs import EncodedGraph, EncodedPairs, HeldOut, read_labels_file, read_pairs_file

__all__ = [
    "Encoded",
    "EncodedCorpus",
    "EncodedGraph",
    "EncodedPairs",
    "HeldOut",
    "encode_corpus",
    "read_labels_file",
    "read_pairs_file",
]
