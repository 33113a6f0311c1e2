"""The matrices that an engine trains: the model's two and what plugs train, each with the workers' copies below it."""

import numpy as np

from ..jit import threads
from ..kernels.round import largest_magnitude

_EXPLODED = 1e4  # a coordinate beyond this is no embedding any more


class Matrices:
    """What all engines have: tall matrices, a check of them, and a state to go back to.

    Parameters
    ----------
    model : Model
        Its matrices become views into the tall ones.
    workers : int
    n_private : int
        First rows of which every worker has copies.
    """

    def __init__(self, model, workers, n_private):
        self.n_vocab, self.workers = len(model.vectors_in), workers
        self.n_private = min(n_private, self.n_vocab) if workers > 1 else 0
        self.tall = {name: self._copied(matrix) for name, matrix in model.matrices().items()}
        self._kept = None
        model.adopt({name: tall[: self.n_vocab] for name, tall in self.tall.items()})

    @property
    def vectors_in(self):
        return self.tall["vectors_in"][: self.n_vocab]

    @property
    def vectors_out(self):
        return self.tall["vectors_out"][: self.n_vocab]

    def _copied(self, matrix):
        """Return a tall matrix: `matrix`, then each worker's copies of its first rows."""
        tall = np.empty((self.n_vocab + self.workers * self.n_private, matrix.shape[1]), np.float32)
        self._spread(tall, matrix)
        return tall

    def _spread(self, tall, matrix):
        tall[: self.n_vocab] = matrix
        for worker in range(self.workers):
            start = self.n_vocab + worker * self.n_private
            tall[start : start + self.n_private] = matrix[: self.n_private]

    def healthy(self):
        """Tell whether every number is finite and of a sane size."""
        with threads(self.workers):
            return all(largest_magnitude(tall, 4 * self.workers) < _EXPLODED for tall in self.tall.values())

    def keep(self):
        """Remember this state, in place of the one kept before, for `go_back`."""
        if self._kept is None:
            self._kept = {name: np.empty_like(tall[: self.n_vocab]) for name, tall in self.tall.items()}
        for name, kept in self._kept.items():
            np.copyto(kept, self.tall[name][: self.n_vocab])

    def go_back(self):
        """Return to the state kept last: shared rows and every worker's copies."""
        for name, kept in self._kept.items():
            self._spread(self.tall[name], kept)
