"""Judging vectors: one file per evaluator, registered by name. An evaluator never sees the trainer.

Each returns a dataclass with ``as_dict()``; those over a file are called as ``evaluate(vectors, path, **options)``.
"""

from ..registry import Registry

EVALUATORS = Registry("evaluator")

from .analogy import AnalogyResult, SectionScore, evaluate_analogy, read_questions  # noqa: E402
from .likelihood import LikelihoodResult, evaluate_likelihood  # noqa: E402
from .similarity import SimilarityResult, evaluate_similarity, read_pairs  # noqa: E402

__all__ = [
    "EVALUATORS",
    "AnalogyResult",
    "LikelihoodResult",
    "SectionScore",
    "SimilarityResult",
    "evaluate_analogy",
    "evaluate_likelihood",
    "evaluate_similarity",
    "read_pairs",
    "read_questions",
]
