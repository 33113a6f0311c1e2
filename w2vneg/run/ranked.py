"""From a configuration and data to the engine that it names: this machine's own, or one of several ranks; and how often
ranks exchange what they have learnt.

What counts is the number of exchanges in a run, not the tokens between two. On 17 million words 120 exchanges of 8
ranks reach nearly what one rank does, 600 all of it; with 30 several points of analogies are lost (docs/scaling.md).
Where ranks agree the merge takes the mean of what each learnt from its part, so rows move less than for one rank;
a loss that gains by it says what to multiply alpha by (`Loss.rank_alpha`), the less the more often ranks exchange.
"""

import dataclasses
import math

from ..config.options import borders
from ..data.encoded.ranked import RANK, RankedCorpus, Reading, encode_ranked, ranked_corpus, united, vocabulary_of
from ..data.sources import SOURCES
from ..engines.ranks import Rank, RanksEngine, VirtualCrew
from ..engines.ray import Crew
from ..ground.errors import ConfigError
from ..ground.events import ExchangesPlanned
from .assembly import assemble_local
from .model import Model

FEWEST = 120
"""Exchanges a run should have: with fewer, vectors get worse."""

ENOUGH = 500
"""Exchanges beyond which more gain nothing, and alpha is one rank's."""

FEW_RANKS, MANY_RANKS = 2, 8
"""Ranks up to which alpha is one rank's, and from which on it is raised in full."""

_WORTH = 0.9  # of the time is training, where the number of exchanges allows
_SHORTEST = 1000  # tokens of a rank between exchanges: below, a round's fixed costs count


def plan_exchanges(config, n_positions, cost=None):
    """Decide how often ranks exchange; return ExchangesPlanned. n_positions : int, of all ranks' walks in an epoch

    cost : (float, float), optional, seconds of an exchange, and of an epoch's training; without, ``auto`` looks at the
        number of exchanges alone
    """
    ranks, epochs = config.ranks, config.epochs
    each = max(1, n_positions // ranks)  # positions of a rank in an epoch
    if config.exchange_every == "auto":
        wanted = ENOUGH
        if cost is not None:  # most of the time is left to training
            wanted = min(ENOUGH, max(FEWEST, int((1 / _WORTH - 1) * epochs * cost[1] / max(cost[0], 1e-9))))
        every = max(1, min(each // math.ceil(FEWEST / epochs), max(_SHORTEST, each // math.ceil(wanted / epochs))))
    else:
        every = min(each, int(config.exchange_every))
    an_epoch = -(-each // every)
    exchanges = an_epoch * epochs
    scale = rank_alpha(config.loss.plug, ranks, exchanges) if config.rank_alpha is None else config.rank_alpha
    efficiency = None if cost is None else cost[1] / (cost[1] + an_epoch * cost[0])
    return ExchangesPlanned(ranks, every, an_epoch, exchanges, FEWEST, scale, efficiency)


def rank_alpha(loss, ranks, exchanges):
    """Return what alpha is multiplied by; loss : class of a `Loss`.

    All of the loss's `rank_alpha` for `MANY_RANKS` or more and `FEWEST` exchanges or fewer, nothing up to `FEW_RANKS`
    or from `ENOUGH` exchanges on, and between them by the logarithms of their numbers.
    """
    by_ranks = math.log(ranks / FEW_RANKS) / math.log(MANY_RANKS / FEW_RANKS)
    by_exchanges = math.log(ENOUGH / max(exchanges, 1)) / math.log(ENOUGH / FEWEST)
    return loss.rank_alpha ** (min(1.0, max(0.0, by_ranks)) * min(1.0, max(0.0, by_exchanges)))


def assemble(data, config, model, start=None):
    """Make the engine of a run; arguments, `Assembly` and errors are those of `assembly.assemble_local`."""
    if config.engine == "local":
        return assemble_local(data, config, model, start)
    n_ranks, shares, crew = config.ranks, None, None
    if not isinstance(data, RankedCorpus):
        shares = [data.share(slot, borders(config)) for slot in range(n_ranks)]
    else:
        shares, crew = data.shares, data.crew
    crew = crew or (VirtualCrew() if config.engine == "virtual" else Crew(n_ranks, config.workers, config.ray_address))
    with crew.beginning():
        if shares:
            crew.open(map(ShareOfRank, shares, range(n_ranks)))
        n_positions = crew.ready(config)
        plan = plan_exchanges(config, n_positions)
        if config.engine == "ray" and n_ranks > 1 and config.exchange_every == "auto":
            crew.begin(plan, {})
            plan = plan_exchanges(config, n_positions, crew.measure(plan.an_epoch))
        parts = assemble_local(shares[0] if shares else data.sample(), config, model, start, plan=plan)
        crew.begin(plan, model.frozen)
        if n_ranks == 1:  # nothing is exchanged, and rounds are those of a run on this machine
            engine, events = RanksEngine(crew, parts.engine, parts.engine.n_rounds, n_positions, 1.0), ()
        else:
            engine = RanksEngine(crew, parts.engine, plan.an_epoch, n_positions, plan.alpha_scale)
            events = (plan,)
    config = dataclasses.replace(config, exchange_every=str(plan.every))
    return parts._replace(engine=engine, start_events=(*parts.start_events, *events), config=config)


@dataclasses.dataclass(frozen=True)
class Read:
    """How an actor gets its data by reading. reading : Reading; slot : int; vocab : Vocabulary, once it is known"""

    reading: Reading
    slot: int
    vocab: object = None

    def open(self, progress):
        """Return this rank's data; progress : as of `RankText`."""
        data = ShareOfRank(self.reading.text(self.slot, progress), self.slot)
        if self.vocab is not None:
            data.encode(self.vocab)
        return data


class ShareOfRank:
    """A rank's data, as crews want them, and how a rank gets them where this machine has them.

    share : EncodedCorpus or EncodedPairs; or RankText, until `encode`
    slot : int
    """

    def __init__(self, share, slot):
        self.share, self.slot = share, slot

    def open(self, progress):
        """Return itself; nothing is read."""
        return self

    def counts(self):
        return self.share.counts()

    def unite(self, first, second):
        return united([first, second])

    def encode(self, vocab):
        """Encode what was read; return its report, and how many of its lines have one word."""
        self.share = self.share.encoded(vocab)
        return self.share.report, self.share.n_single

    def ready(self, config):
        """Prepare for a run with `config`, resolved; return how many positions an epoch has (int)."""
        self.config, self.walk = config, self.share.walk(config)
        return self.walk.n_positions

    def begin(self, plan, frozen):
        """Return the `Rank`; its rows are still to be loaded. plan : ExchangesPlanned; frozen : as of `Model`."""
        share, config = self.share, self.config
        model = Model.fresh(share.vocab, config, share.vocab_out if config.rectangular else None)
        model.frozen = frozen
        engine = assemble_local(share, config, model, walk=self.walk, plan=plan).engine
        return Rank(engine, self.slot, config.ranks, config.exchange_dtype)


def reads_by_rank(given, config):
    """Tell whether ranks read parts of an `Input`: a path says so (ConfigError without parts), or a cluster."""
    if config.engine == "local" or given.in_memory or "-" in given.files:
        return False
    of_ranks = any(RANK in file for file in given.files)
    if SOURCES[given.kind].reading is None:
        if of_ranks:
            raise ConfigError(
                f"{RANK} is for text and baskets, whose lines can be told apart; --{given.kind} is read here and then "
                "dealt out: name all of its files"
            )
        return False
    return of_ranks or config.ray_address is not None


def read_by_rank(given, config, vocab=None, progress=None, phrases=None):
    """Let each rank read its part of a located `Input` and encode it, with one vocabulary for all: RankedCorpus.

    progress : callable, optional, called with (stored bytes read, stored bytes in all) now and then
    phrases : tuple of Phrase, optional, in the place of those that the Input names
    """
    if config.rank_shares is not None and any(RANK in file for file in given.files):
        raise ConfigError(f"--rank-shares deals a text out, and {RANK} says who reads what; leave one of the two out")
    reading = Reading.of(given, borders(config), vocab, phrases, **config.shaping)
    if config.engine == "virtual":
        return encode_ranked(reading, progress)
    crew = Crew(config.ranks, config.workers, config.ray_address)
    with crew.beginning():
        crew.open((Read(reading, slot) for slot in range(config.ranks)), progress)
        run = crew.gather("counts", "unite")
        vocab = vocabulary_of(run, reading.settings)
        found = crew.ask("encode", vocab)
        crew.give(Read(reading, slot, vocab) for slot in range(config.ranks))
        return ranked_corpus(reading, found, len(run.counts), vocab, crew=crew)
