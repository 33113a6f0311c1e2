"""How often ranks exchange what they have learnt, and what that does to the learning rate.

What counts is the number of exchanges in a run, not the tokens between two: training goes through the same course
however much text it is spread over. Measured on 17 million words: 120 exchanges of 8 ranks reach nearly what one rank
does, 600 all of it; with 30 several points of analogies are lost (docs/scaling.md).

Between exchanges each rank sees one R-th of the data, and where ranks agree the merge takes their mean. So rows move
less than they would in one rank's hands; a loss that gains by it says what to multiply alpha by (`Loss.rank_alpha`).
The more often ranks exchange, the less there is to make up for.
"""

import math

from ..ground.events import ExchangesPlanned

FEWEST = 120
"""Exchanges a run should have: with fewer, vectors get worse."""

ENOUGH = 500
"""Exchanges beyond which more gain nothing, and alpha is one rank's."""

FEW_RANKS, MANY_RANKS = 2, 8
"""Ranks up to which alpha is one rank's, and from which on it is raised in full."""

_SHORTEST = 1000  # tokens of a rank between exchanges: below, a round's fixed costs count


def plan_exchanges(config, n_positions, cost=None):
    """Decide how often ranks exchange.

    Parameters
    ----------
    config : RunSpec
    n_positions : int, of all ranks' walks together in an epoch
    cost : (float, float), optional
        Seconds of an exchange, and of an epoch's training; without, ``auto`` looks at the number of exchanges alone.

    Returns
    -------
    ExchangesPlanned
    """
    ranks, epochs = config.ranks, config.epochs
    each = max(1, n_positions // ranks)  # positions of a rank in an epoch
    if config.exchange_every == "auto":
        wanted = ENOUGH if cost is None else _by_cost(*cost, epochs)
        every = max(1, min(each // math.ceil(FEWEST / epochs), max(_SHORTEST, each // math.ceil(wanted / epochs))))
    else:
        every = min(each, int(config.exchange_every))
    an_epoch = -(-each // every)
    exchanges = an_epoch * epochs
    scale = rank_alpha(config.loss.plug, ranks, exchanges) if config.rank_alpha is None else config.rank_alpha
    efficiency = None if cost is None else cost[1] / (cost[1] + an_epoch * cost[0])
    return ExchangesPlanned(ranks, every, an_epoch, exchanges, FEWEST, scale, efficiency)


_WORTH = 0.9  # of the time is training, where the number of exchanges allows


def _by_cost(exchange, epoch, epochs):
    """Return how many exchanges in a run leave most of its time to training: at least `FEWEST`, at most `ENOUGH`."""
    affordable = (1 / _WORTH - 1) * epochs * epoch / max(exchange, 1e-9)
    return min(ENOUGH, max(FEWEST, int(affordable)))


def rank_alpha(loss, ranks, exchanges):
    """Return what alpha is multiplied by; loss : class of a `Loss`.

    All of the loss's `rank_alpha` for `MANY_RANKS` or more and `FEWEST` exchanges or fewer, nothing up to `FEW_RANKS`
    or from `ENOUGH` exchanges on, and between them by the logarithms of their numbers.
    """
    by_ranks = math.log(ranks / FEW_RANKS) / math.log(MANY_RANKS / FEW_RANKS)
    by_exchanges = math.log(ENOUGH / max(exchanges, 1)) / math.log(ENOUGH / FEWEST)
    return loss.rank_alpha ** (_share(by_ranks) * _share(by_exchanges))


def _share(x):
    return min(1.0, max(0.0, x))
