"""Encoded data, ready for training: a text or baskets as int32 ids on disk, pairs and graphs as a sparse matrix."""

from .corpus import EncodedCorpus
from .encode import encode_corpus
from .graphs import EncodedGraph, encode_edges
from .heldout import HeldOut, read_pairs_file
from .histories import encode_baskets, encode_ratings
from .items import encode_cooccurrence, encode_pairs
from .pairs import EncodedPairs

__all__ = [
    "EncodedCorpus",
    "EncodedGraph",
    "EncodedPairs",
    "HeldOut",
    "encode_baskets",
    "encode_cooccurrence",
    "encode_corpus",
    "encode_edges",
    "encode_pairs",
    "encode_ratings",
    "read_pairs_file",
]
