"""Draws made ahead of their use: a few, so that their rows are on their way; or a batch of centres', between launches.

A sampler whose draws are independent of each other and of everything else binds one socket instead of `draw`:

    pick(sampler, rng) -> int       one draw

What it picks is handed out up to `_DRAWS` draws later, and its row is fetched meanwhile. log q, if it gives one, comes
from its `log_prob`.
"""

from typing import NamedTuple

import numpy as np

from ..ground.jit import njit
from .contracts import Socket, implement_draw, implement_fetches, implement_open_sampler, log_prob
from .linalg import dot, fetch_row, row_of

_DRAWS = 8  # more would be in the way of the rows that are used now, where each pair has draws of its own

_pick = Socket("pick", "sampler rng", returns=True)
pick = _pick.call


class Upcoming(NamedTuple):
    """Scratch of one shard: ids int32, a ring of draws; place int64 (1,), of the oldest, −1 while there are none."""

    ids: np.ndarray
    place: np.ndarray


def open_upcoming(sampler, n_draws):
    return Upcoming(np.empty(min(n_draws, _DRAWS), np.int32), np.full(1, -1, np.int64))


def draw_upcoming(sampler, state, group, centre_id, centre, out, rng, n, ids, log_q, logits):
    ring, place = state.ids, state.place[0]
    if place < 0:
        place = 0
        for k in range(ring.shape[0]):
            ring[k] = pick(sampler, rng)
    for k in range(n):
        ids[k] = ring[place]
        ring[place] = pick(sampler, rng)
        fetch_row(out.matrix, row_of(out, ring[place]))
        place += 1
        if place == ring.shape[0]:
            place = 0
    state.place[0] = place
    if log_q.shape[0] > 0:
        log_prob(sampler, state, group, centre_id, n, ids, logits, log_q)
    return False


def _fetches_all(sampler):
    return True


def implement_pick(plug):
    """Return a decorator that binds a function to a sampler as its `pick`, and with it a `draw` that uses it."""
    implement_open_sampler(plug)(open_upcoming)
    implement_draw(plug)(draw_upcoming)
    implement_fetches(plug)(_fetches_all)
    return _pick.implement(plug)


class Origin(NamedTuple):
    """The rows that a batch's draws were made of, kept so that other targets are scored by the same rows.

    centres : float32, (n_in, dim), of the batch's centres, older in the other places; targets : float32, (n_vocab, dim)
    """

    centres: np.ndarray
    targets: np.ndarray

    @classmethod
    def room(cls, n_in, n_vocab, dim):
        """Return arrays of zeros."""
        return cls(np.zeros((n_in, dim), np.float32), np.zeros((n_vocab, dim), np.float32))

    def keep(self, vectors_in, vectors_out, centre_ids):
        """Copy the rows; centre_ids : int32, (workers, batch), −1 where nobody is."""
        there = np.unique(centre_ids[centre_ids >= 0])
        self.centres[there] = vectors_in[there]
        np.copyto(self.targets, vectors_out)


@njit(borrows=True)
def score_then(origin, centre_id, target_id):
    """Return the dot product of a group's centre and a target (float32) as it was when the group's draws were made."""
    return dot(origin.centres[centre_id], origin.targets[target_id])


@njit(borrows=True)
def hand_out(drawn, drawn_log_q, worker, group, n, ids, log_q):
    """Copy a group's n draws, int32 and float32 (workers, batch, max_draws), into `ids` and, unless empty, `log_q`."""
    for k in range(n):
        ids[k] = drawn[worker, group, k]
    for k in range(min(n, log_q.shape[0])):
        log_q[k] = drawn_log_q[worker, group, k]
