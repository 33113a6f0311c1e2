"""A page of one's own machine on which vectors answer as one types: `answers` to questions, `app` that serves them."""

from .answers import Answers
from .app import make_app

__all__ = ["Answers", "make_app"]
