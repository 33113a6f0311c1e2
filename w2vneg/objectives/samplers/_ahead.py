"""Draws made ahead, between launches, from all words: by a matrix product for a batch of centres.

If the centres of several launches are known in advance, the draws for a centre are made in the launch of its first
visit, for many visits at once, and again after that many. So a frequent centre's draws lag behind the model by that
many visits or by one launch, and a rare centre costs one row of the product in all of these launches. log q of a
positive comes from the same rows as the draws and their log q.
"""

from typing import NamedTuple

import numpy as np

from ...ground.jit import njit
from ...kernels.contracts import implement_draw, implement_open_sampler
from ...kernels.dense.draws import Drawn, exact_draws, scratch_size
from ...kernels.linalg import dot
from ..plugs import Sampler

_LOOKED_AT = 64  # about how many places of a launch `drift` looks at


class Origin(NamedTuple):
    """The rows from which draws were made, kept so that other targets are scored with the same rows.

    centres : float32, (n_in, dim), current for the centres that were drawn for last, older for the others
    targets : float32, (launches, n_vocab, dim), as they were at each launch
    """

    centres: np.ndarray
    targets: np.ndarray

    def keep(self, vectors_in, vectors_out, centre_ids, launch):
        """Copy the rows; centre_ids : int32, any shape, −1 for empty places."""
        there = np.unique(centre_ids[centre_ids >= 0])
        self.centres[there] = vectors_in[there]
        np.copyto(self.targets[launch], vectors_out)


@njit(borrows=True)
def score_then(origin, launch, centre_id, target_id):
    """Return the dot product of a group's centre and a target (float32) as it was when the group's draws were made."""
    return dot(origin.centres[centre_id], origin.targets[launch, target_id])


def renewals(centre_ids, size, visits):
    """Return the launch in which each place's draws are made: int32, in the shape of `centre_ids`.

    That is the first launch in which its centre occurs, then each one in which another `visits` of it begin. All visits
    within a launch are served alike, so that there is one version of a centre at a time.

    centre_ids : int32, (workers, groups), −1 for empty places; size : int, groups of a launch; visits : float, above 0
    """
    launches = np.broadcast_to(np.arange(centre_ids.shape[1]) // size, centre_ids.shape)
    n_launches = -(-centre_ids.shape[1] // size)
    # one number for each centre and launch, in order of both
    distinct, group, counts = np.unique(
        centre_ids.astype(np.int64) * n_launches + launches, return_inverse=True, return_counts=True
    )
    centres, launch = np.divmod(distinct, n_launches)
    first = np.r_[True, centres[1:] != centres[:-1]]
    before = np.cumsum(counts) - counts
    before = before - before[np.maximum.accumulate(np.where(first, np.arange(len(first)), 0))]
    begins = np.ceil(before / visits) * visits < before + counts
    latest = np.maximum.accumulate(np.where(first | begins, np.arange(len(first)), 0))
    return launch[latest][group].reshape(centre_ids.shape).astype(np.int32)


class DrawnAhead(Sampler, base=True, fields=True):
    """Draws made between launches, for the centres of one launch or of several that are foreseen.

    ids : int32, (workers, groups, max_draws), groups of one launch or of several; log_q : float32, the same
    log_z : float32, (workers, groups), log of the sum of all weights
    centres, due : int32, (workers, groups), the centres, and the launch in which each one's draws are made
    done : int64, (1,), how many of these launches have their draws
    visits : float, visits of a centre served at once; origin : Origin; scratch : float32, memory for drawing
    """

    ids: np.ndarray
    log_q: np.ndarray
    log_z: np.ndarray
    centres: np.ndarray
    due: np.ndarray
    done: np.ndarray
    visits: float
    origin: Origin
    scratch: np.ndarray

    gives_log_q = True

    def law(self):
        """Return the law of its draws, as in `kernels.dense.draws`."""
        raise NotImplementedError

    @classmethod
    def room(cls, batch, context, launches=1, visits=1.0):
        """Return these fields, sized for `batch` centres per worker and launch, with `launches` known at once."""
        n_vocab, groups = len(context.counts), launches * batch
        origin = Origin(
            np.zeros((context.n_centres, context.dim), np.float32),
            np.zeros((launches, n_vocab, context.dim), np.float32),
        )
        scratch = np.empty(scratch_size(context.workers * groups, n_vocab), np.float32)
        centres = np.full((context.workers, groups), -1, np.int32)
        drawn = Drawn.room(context.workers, groups, context.max_draws)
        return *drawn, centres, np.zeros_like(centres), np.zeros(1, np.int64), visits, origin, scratch

    def products(self, weights):
        rng, size = np.random.default_rng(0), self.batch_groups
        centres = rng.choice(len(weights), self.ids.shape[:2], p=weights / weights.sum())
        due = renewals(centres, size, self.visits)
        return len(np.unique(centres * due.shape[1] + due)) / centres.size

    @property
    def batch_groups(self):  # type: ignore[override]  # it depends on the instance
        return self.foreseen // len(self.origin.targets) if self.foreseen else self.ids.shape[1]

    @property
    def foreseen(self):  # type: ignore[override]  # it depends on the instance
        return self.ids.shape[1] if len(self.origin.targets) > 1 else 0

    def foresee(self, centre_ids):
        size, n = self.batch_groups, centre_ids.shape[1]
        self.centres.fill(-1)
        self.centres[:, :n] = centre_ids
        if n > size:  # else the one launch makes all draws
            self.due[:, :n] = renewals(centre_ids, size, self.visits)
        else:
            self.due.fill(0)
        self.done[0] = 0

    def refresh(self, vectors_in, vectors_out, centre_ids, key):
        size, launch = self.batch_groups, self.done[0]
        if not np.array_equal(centre_ids, self.centres[:, launch * size : (launch + 1) * size]):  # not foreseen
            self.foresee(centre_ids)
            launch = 0
        now = np.where(self.due == launch, self.centres, np.int32(-1))
        self.origin.keep(vectors_in, vectors_out, now, launch)
        drawn = Drawn(self.ids, self.log_q, self.log_z).flat()
        exact_draws(self.law(), vectors_in, vectors_out, now.ravel(), key, drawn, self.scratch)
        self.done[0] = launch + 1

    def drift(self, vectors_in, vectors_out):
        size, done = self.batch_groups, self.done[0]
        here = np.s_[:, max(done - 1, 0) * size : done * size]
        there = np.flatnonzero(self.centres[here] >= 0)
        found = []
        for place in there[:: max(1, len(there) // _LOOKED_AT)]:
            centre, launch = self.centres[here].flat[place], self.due[here].flat[place]
            scores = self.origin.targets[launch] @ self.origin.centres[centre], vectors_out @ vectors_in[centre]
            weights = [self.log_target(centre, each.astype(np.float64)) for each in scores]
            if weights[0] is None:
                return None
            then, now = (np.exp(each - each.max()) for each in weights)
            found.append(np.abs(then / then.sum() - now / now.sum()).sum() / 2)
        return float(np.mean(found)) if found else None


@njit(borrows=True)
def place_of(sampler, group):
    """Return the place of a launch's group among all foreseen groups (int)."""
    launches = sampler.origin.targets.shape[0]
    return group + (sampler.done[0] - 1) * (sampler.ids.shape[1] // launches)


def implement_ahead(plug):
    """Bind the functions that hand out the draws of a class; the state is the worker's number."""
    implement_open_sampler(plug)(_open_drawn)
    implement_draw(plug)(_hand_out)


def _open_drawn(sampler, n_draws):
    return np.zeros(1, np.int64)


def _hand_out(sampler, state, group, centre_id, centre, out, rng, n, ids, log_q, logits):
    worker, place = out.worker, place_of(sampler, group)
    state[0] = worker
    for k in range(n):
        ids[k] = sampler.ids[worker, place, k]
    for k in range(min(n, log_q.shape[0])):
        log_q[k] = sampler.log_q[worker, place, k]
    return False
