"""Evaluation of vectors: one file per evaluator, registered by name. An evaluator never sees the trainer.

Each returns a dataclass with ``as_dict()``; those over a file are called as ``evaluate(vectors, path, **options)``.
"""

from ...ground.registry import Registry

EVALUATORS: Registry = Registry("evaluator")

from .analogy import AnalogyResult, SectionScore, evaluate_analogy, read_questions  # noqa: E402
from .likelihood import LikelihoodResult, evaluate_likelihood  # noqa: E402
from .metrics import METRICS  # noqa: E402
from .ranking import KS, RankingResult, evaluate_ranking  # noqa: E402
from .scores import LogitScores, cooccurrence_scores, history_scores, popularity_scores, scores_of  # noqa: E402
from .similarity import SimilarityResult, evaluate_similarity, read_pairs  # noqa: E402

__all__ = [
    "EVALUATORS",
    "KS",
    "METRICS",
    "AnalogyResult",
    "LikelihoodResult",
    "LogitScores",
    "RankingResult",
    "SectionScore",
    "SimilarityResult",
    "cooccurrence_scores",
    "evaluate_analogy",
    "evaluate_likelihood",
    "evaluate_ranking",
    "evaluate_similarity",
    "history_scores",
    "popularity_scores",
    "read_pairs",
    "read_questions",
    "scores_of",
]
