"""All ranks in one process, one after the other: what several machines would find, on one.

It takes as long as all ranks together and is there to be looked at: the vectors are those of `ray` with as many ranks,
to the bit where a rank's own are (one worker, or all rows private). The first rank serves as the replica.
"""

from .ranks import RanksEngine


class VirtualEngine(RanksEngine):
    """Runs periods of several ranks.

    Parameters
    ----------
    ranks : list of Rank
        The matrices of the first one's engine are the model's.
    others : as of `RanksEngine`
    """

    side_by_side = False

    def __init__(self, ranks, *others):
        super().__init__(ranks[0].engine, *others)
        self.ranks = ranks

    def _period(self, task):
        works, merged = [rank.train(task) for rank in self.ranks], []
        if len(self.ranks) > 1:
            parts = [rank.changes() for rank in self.ranks]
            merged = [rank.merge(task, works, [part[rank.slot] for part in parts]) for rank in self.ranks]
        for rank in self.ranks:
            rank.apply(merged)
        return works

    def _send(self):
        for rank in self.ranks:
            rank.load(self.version, {name: self.replica.shared(name) for name in self.replica.trained})
