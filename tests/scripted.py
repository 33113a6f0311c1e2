"""A sampler that draws what a test wrote down, so that an oracle knows the draws."""

import numpy as np

from w2vneg.kernels.contracts import implement_draw, implement_log_prob
from w2vneg.kernels.linalg import dot, row_of
from w2vneg.objectives.plugs import Sampler


class Scripted(Sampler):
    """ids : int32, (groups, draws); log_q : float32, the same; knows : bool, it hands over the logits as well"""

    ids: np.ndarray
    log_q: np.ndarray
    knows: bool

    gives_log_q = True


@implement_draw(Scripted)
def draw(sampler, state, group, centre_id, centre, out, rng, n, ids, log_q, logits):
    for k in range(n):
        ids[k] = sampler.ids[group, k]
        if sampler.knows:
            logits[k] = dot(out.matrix[row_of(out, ids[k])], centre)
    for k in range(min(n, log_q.shape[0])):
        log_q[k] = sampler.log_q[group, k]
    return sampler.knows


def noise_of(target_id):
    """Return the log q that the sampler claims for a positive: made up, different for each."""
    return -1.5 - target_id / 8


@implement_log_prob(Scripted)
def log_prob(sampler, state, group, centre_id, n, ids, logits, log_q):
    for k in range(n):
        log_q[k] = np.float32(-1.5) - np.float32(ids[k]) / np.float32(8)
