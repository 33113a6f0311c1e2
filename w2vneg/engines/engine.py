"""What the trainer asks of an engine, wherever its matrices lie."""

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np


class Round(NamedTuple):
    """A round of an epoch: every worker's block of the data.

    epoch, number : int, from 0; number : its place among the rounds of the epoch
    blocks : int64, (workers, 2), [from, to) in positions of the walk
    """

    epoch: int
    number: int
    blocks: np.ndarray

    @property
    def positions(self):
        """How many positions of the walk it covers (int)."""
        return int((self.blocks[:, 1] - self.blocks[:, 0]).sum())


class Engine(ABC):
    """Trains a model round by round. Between rounds the model is quiet: whoever looks at it then sees it whole.

    Attributes
    ----------
    n_rounds, n_positions : int
        Rounds of an epoch, and positions of the walk through the data that they cover.
    vectors_in, vectors_out : float32, (n_vocab, dim)
        The model's matrices, views that stay the same ones.
    alpha_scale : float
        What the learning rate is multiplied by.
    """

    alpha_scale = 1.0

    @property
    def replica(self):
        """The engine of this machine to look at closely: its plugs, walk and matrices. Mostly the engine itself."""
        return self

    @abstractmethod
    def plan(self, epoch):
        """Return the rounds of an epoch, a list of `Round`; the same for the same seed."""

    @abstractmethod
    def run(self, round, alphas):
        """Train one round.

        Parameters
        ----------
        round : Round, of `plan`
        alphas : (float, float), learning rate at both ends

        Returns
        -------
        (loss, pairs) : (float, int)
            Sum of the losses, NaN if a row left the finite numbers; number of pairs.
        """

    @abstractmethod
    def compose(self):
        """Bring matrices that are made of others, not trained, up to date."""

    @abstractmethod
    def healthy(self):
        """Tell whether every number is finite and of a sane size."""

    @abstractmethod
    def keep(self, state=None):
        """Remember this state, or another one given as its matrices by name, in place of the one kept before."""

    @abstractmethod
    def kept(self):
        """Return the state kept last (dict of str -> float32 array)."""

    @abstractmethod
    def go_back(self):
        """Return to the state kept last."""

    @abstractmethod
    def forget(self):
        """Let go of the state kept last."""

    def report(self, epoch):
        """Return an event about the rounds since the last one, for the end of `epoch`, from 1; None: nothing to say."""
        return None

    def close(self):  # noqa: B027, most have nothing elsewhere
        """Let go of what lies elsewhere; the matrices stay, as they were at last."""
