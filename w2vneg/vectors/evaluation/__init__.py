"""Evaluation of vectors, independent of the trainer.

Each evaluator returns a dataclass with ``as_dict()``; those over a file are called as ``evaluate(vectors, path,
**options)``.
"""

from .analogy import AnalogyResult, evaluate_analogy, read_questions
from .graph_tasks import evaluate_classes, evaluate_links
from .likelihood import evaluate_likelihood
from .metrics import METRICS
from .ranking import KS, evaluate_ranking
from .scores import LogitScores, cooccurrence_scores, popularity_scores, scores_of
from .similarity import SimilarityResult, evaluate_similarity, read_pairs

__all__ = ["KS", "METRICS", "AnalogyResult", "LogitScores", "SimilarityResult", "cooccurrence_scores"]
__all__ += ["evaluate_analogy", "evaluate_classes", "evaluate_likelihood", "evaluate_links", "evaluate_ranking"]
__all__ += ["evaluate_similarity", "popularity_scores", "read_pairs", "read_questions", "scores_of"]
