"""Draws made a few steps ahead of their use, so that their rows can be prefetched.

A sampler whose draws are independent of each other and of everything else binds one socket instead of `draw`:

    pick(sampler, rng) -> int       one draw

A picked id is returned up to `_DRAWS` draws later, and its row is fetched meanwhile. log q, if the sampler gives it,
comes from its `log_prob`.
"""

from collections import namedtuple

import numpy as np

from .contracts import implement_draw, implement_fetches, implement_open_sampler, log_prob, socket
from .linalg import fetch_row, row_of

_DRAWS = 8  # more would evict rows in use if each pair has draws of its own

_bind_pick, pick = socket("pick", "sampler rng", returns=True)


Upcoming = namedtuple("Upcoming", "ids place")
"""Scratch of one shard: ids int32, a ring of draws; place int64 (1,), index of the oldest, −1 before the first draw."""


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


def implement_pick(plug):
    """Return a decorator that binds a function as a sampler's `pick`, together with a `draw` that uses it."""
    implement_open_sampler(plug)(open_upcoming)
    implement_draw(plug)(draw_upcoming)
    implement_fetches(plug)(lambda sampler: True)
    return _bind_pick(plug)
