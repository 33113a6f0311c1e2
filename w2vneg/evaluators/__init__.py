"""Judging vectors: one file per evaluator, registered by name. An evaluator never sees the trainer.

Each returns a dataclass with ``as_dict()``; those over a file are called as ``evaluate(vectors, path, **options)``.
"""

from ..registry import Registry

EVALUATORS = Registry("evaluator")

from .analogy import AnalogyResult, SectionScore, evaluate_analogy, read_questions  # noqa: E402
from .likelihood import LikelihoodResult, evaluate_likelihood  # noqa: E402
from .ranking import (  # noqa: E402
    RankingResult,
    cooccurrence_scores,
    evaluate_ranking,
    logits_of,
    popularity_scores,
)
from .similarity import SimilarityResult, evaluate_similarity, read_pairs  # noqa: E402

__all__ = [
    "EVALUATORS",
    "AnalogyResult",
    "LikelihoodResult",
    "RankingResult",
    "SectionScore",
    "SimilarityResult",
    "cooccurrence_scores",
    "evaluate_analogy",
    "evaluate_likelihood",
    "evaluate_ranking",
    "evaluate_similarity",
    "logits_of",
    "popularity_scores",
    "read_pairs",
    "read_questions",
]
