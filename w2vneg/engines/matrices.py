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
        matrices = model.matrices()
        self.workers, self.n_rows = workers, {name: len(matrix) for name, matrix in matrices.items()}
        self.n_private = min(n_private, *self.n_rows.values()) if workers > 1 else 0
        self.tall = {name: self._copied(matrix) for name, matrix in matrices.items()}
        self._kept = None
        model.adopt({name: self._shared(name) for name in self.tall})

    def _shared(self, name):
        """Return the rows that are not anybody's copies."""
        return self.tall[name][: self.n_rows[name]]

    @property
    def vectors_in(self):
        return self._shared("vectors_in")

    @property
    def vectors_out(self):
        return self._shared("vectors_out")

    def _copied(self, matrix):
        """Return a tall matrix: `matrix`, then each worker's copies of its first rows."""
        tall = np.empty((len(matrix) + self.workers * self.n_private, matrix.shape[1]), np.float32)
        self._spread(tall, matrix)
        return tall

    def _spread(self, tall, matrix):
        tall[: len(matrix)] = matrix
        for worker in range(self.workers):
            start = len(matrix) + worker * self.n_private
            tall[start : start + self.n_private] = matrix[: self.n_private]

    def healthy(self):
        """Tell whether every number is finite and of a sane size."""
        with threads(self.workers):
            return all(largest_magnitude(tall, 4 * self.workers) < _EXPLODED for tall in self.tall.values())

    def keep(self):
        """Remember this state, in place of the one kept before, for `go_back`."""
        if self._kept is None:
            self._kept = {name: np.empty_like(self._shared(name)) for name in self.tall}
        for name, kept in self._kept.items():
            np.copyto(kept, self._shared(name))

    def go_back(self):
        """Return to the state kept last: shared rows and every worker's copies."""
        for name, kept in self._kept.items():
            self._spread(self.tall[name], kept)
