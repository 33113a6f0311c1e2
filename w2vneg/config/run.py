"""Options of the run: the model, the groups that the data give, the vocabulary, and how training goes."""

from dataclasses import dataclass

from .option import option

SOURCES = ("text", "baskets", "pairs")
PAIR_WEIGHTS = ("enumerate", "sample")


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """What is trained on, how large, how long; see each field's help."""

    dim: int = option(int, 100, "Length of the vectors.", at_least=1, at_most=65536, group="model")
    window: int | None = option(
        int,
        None,
        "Positives reach this many tokens to each side.",
        at_least=1,
        at_most=1000,
        group="model",
        shown="5",
        used_by={"source": ("text",)},
        when_used=5,
    )
    dynamic_window: bool | None = option(
        bool,
        None,
        "Draw each centre's window from 1 … window, as word2vec does, or keep it fixed.",
        off="fixed-window",
        group="model",
        shown="yes",
        used_by={"source": ("text",)},
        when_used=True,
    )
    subsample: float | None = option(
        float,
        None,
        "Frequency above which words (or items of baskets) are thinned out; 0 keeps all.",
        at_least=0,
        below=1,
        group="model",
        shown="text: 0.0001, baskets: 0",
        used_by={"source": ("text", "baskets")},
        when_used={"text": 1e-4, "baskets": 0.0},
    )
    ordered: bool | None = option(
        bool,
        None,
        "Let only what comes after the centre be its positive: the next words, the items bought later.",
        off="both-sides",
        group="model",
        shown="no",
        used_by={"source": ("text", "baskets")},
        when_used=False,
    )
    pairs_per_item: int | None = option(
        int,
        None,
        "Positives of an item in a basket or history: all others up to this many, else so many of them drawn.",
        at_least=1,
        at_most=10000,
        group="model",
        shown="32",
        used_by={"source": ("baskets",)},
        when_used=32,
    )
    pair_weights: str | None = option(
        str,
        None,
        "How weights of pairs count: enumerate (each pair so often in an epoch) or sample (drawn in proportion).",
        group="model",
        shown="enumerate, if they are whole numbers and few enough",
        choices=PAIR_WEIGHTS,
        used_by={"source": ("pairs",)},
    )
    pairs_per_epoch: int | None = option(
        int,
        None,
        "Pairs that an epoch draws when weights are sampled.",
        at_least=1,
        at_most=2**31,
        group="model",
        shown="the sum of the weights, at least the number of pairs",
        used_by={"source": ("pairs",)},
    )
    source: str = option(str, "text", "What is read; set by the option that names it.", choices=SOURCES, group=None)
    rectangular: bool = option(
        bool, False, "Centres and targets are two kinds of things; set by what is read.", group=None
    )
    min_count: int | None = option(
        int,
        None,
        "Leave out words (or items) seen less often.",
        at_least=1,
        group="corpus",
        shown="text: 5, items: 1",
    )
    max_vocab: int | None = option(
        int, None, "Keep only this many of the most frequent words.", at_least=2, group="corpus", shown="all"
    )
    encoding: str = option(str, "utf-8", "Encoding of the corpus.", group="corpus")
    lowercase: bool = option(bool, False, "Lower-case the corpus.", off="keep-case", group="corpus")
    epochs: int = option(int, 5, "Passes over the corpus.", at_least=1, group="training")
    alpha: float | None = option(
        float,
        None,
        "Learning rate at the start; it falls linearly.",
        above=0,
        group="training",
        shown="the preset's: 0.05, on text us 0.1, nce 0.025, mle 0.0125, ranking and hinge 0.006, …",
    )
    min_alpha: float | None = option(
        float, None, "Learning rate at the end.", at_least=0, group="training", shown="alpha / 10000"
    )
    workers: int | None = option(
        int,
        None,
        "Parallel workers. A seed repeats to the bit with one worker; with several, while all rows are private.",
        at_least=1,
        at_most=1024,
        group="training",
        shown="all cores",
    )
    seed: int = option(int, 1, "Seed of every random choice.", at_least=0, at_most=2**63 - 1, group="training")
    private_rows: int | None = option(
        int,
        None,
        "Rows of the most frequent words of which each worker trains a copy, merged after every round; "
        "0 is plain Hogwild.",
        at_least=0,
        group="training",
        shown="16,000 / workers",
    )
    bounded_steps: bool = option(
        bool,
        True,
        "Hold the step of a centre to about one unit of logit; off only for experiments.",
        off="unbounded-steps",
        group="training",
    )
