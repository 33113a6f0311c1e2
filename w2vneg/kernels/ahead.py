"""Handing out draws that were made ahead, between launches, for a whole batch of centres."""

from ..jit import njit


@njit(borrows=True)
def hand_out(drawn, drawn_log_q, worker, group, n, ids, log_q):
    """Copy a group's n draws, int32 and float32 (workers, batch, max_draws), into `ids` and, unless empty, `log_q`."""
    for k in range(n):
        ids[k] = drawn[worker, group, k]
    for k in range(min(n, log_q.shape[0])):
        log_q[k] = drawn_log_q[worker, group, k]
