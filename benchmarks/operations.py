"""Floating-point operations of training, and the bytes it moves: counted from the algorithm.

A group is a centre with m positives; it has n negatives if they are shared and m n if each pair has its own. By
window, each of the m pairs is compared with all n, which counts as m n, but the rows are those of 1 + n targets.
Over a run let G be the groups, P the positives (pairs), D the negatives, d the length of a vector, V the vocabulary:

    dots of the centre with its targets              2 d (P + D)
    updates of the targets and of the centre         4 d (P + D)

A multiplication and an addition are two operations. Some plugs do additional or other work:

    rolling, sir    the M candidates are scored, 2 d M G, and the negatives are among them, so they need no more dots:
                    2 d (M G + P) + 4 d (P + D)
    exact           all words are scored: 2 d V G more
    dns             M candidates for each negative: 2 d (M D + P) + 4 d (P + D)
    discriminator   a second pair of matrices, the same dots and updates again: 6 d (P + D)
    softmax         three products of centres with all words: 6 d V G. Equal centres of a batch share a row, so this
                    is the count without sharing; the machine does less.

Not counted: e^x, logarithms, random numbers, d for adding a centre's gradient to its row, and empty positions of a
sampler.

`moved` is the traffic between the core and memory if no row were ever in a cache: 8 d bytes for each centre, positive
and negative of a group (read and written back), 4 d for each fresh candidate (`replaced` for each centre; all M for sir
and dns), twice for a discriminator. Caches hold the frequent rows, so a share of the measured rate may well be above 1:
it shows how much the caches help, not how busy memory is.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Work:
    """operations : float, floating-point operations; moved : float, bytes of rows read and written"""

    operations: float
    moved: float


def work_of(config, n_vocab, pairs, groups):
    """Count the work of a run; see the top of this file.

    Parameters
    ----------
    config : RunSpec
    n_vocab : int, targets
    pairs, groups : float, positives and centres trained

    Returns
    -------
    Work or None
        None if no formula is known (the kernel sampler).
    """
    d, own = config.dim, config.sampler
    if config.loss.name == "softmax":
        return Work(6.0 * d * n_vocab * groups, 0.0)
    if own.name == "kernel":
        return None
    draws = config.negatives * (groups if config.share_negatives == "centre" else pairs)
    targets = pairs + draws
    dots, updates, fresh = 2.0 * d * targets, 4.0 * d * targets, 0.0
    if own.name in ("boltzmann", "selfplay"):
        if own.method in ("exact", "pool"):
            dots += 2.0 * d * n_vocab * groups / (own.visits if own.method == "pool" else 1.0)
        else:
            dots = 2.0 * d * (own.candidates * groups + pairs)
            fresh = groups * (own.candidates if own.method == "sir" else min(own.replaced, own.candidates))
    elif own.name == "dns":
        dots = 2.0 * d * (own.candidates * draws + pairs)
        fresh = own.candidates * draws
    rows = groups + targets
    if config.share_negatives == "window":  # the context words, the centre word, its negatives
        rows = pairs + (1 + config.negatives) * groups
    operations, moved = dots + updates, 8.0 * d * rows + 4.0 * d * fresh
    if config.weigher.name == "discriminator":
        operations += 6.0 * d * targets
        moved += 8.0 * d * (groups + targets)
    return Work(operations, moved)
