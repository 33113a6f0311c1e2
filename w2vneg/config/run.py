"""Options of the run: the model, the groups that the data give, the vocabulary, and how training goes."""

from dataclasses import dataclass

from ..ground.option import option


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """What is trained on, how large, how long; see each field's help."""

    dim: int = option(100, "Length of the vectors.", at_least=1, at_most=65536, group="model")
    readout: str | None = option(
        None,
        "How vectors are made of the two trained matrices: in, out, sum, both, context, each alone or with +letters; "
        "'w2vneg objectives' lists them.",
        metavar="NAME",
        group="model",
        shown="text: both, items: in",
    )
    source: str = option("text", "What is read; set by the option that names it.", group=None)
    rectangular: bool = option(False, "Centres and targets are two kinds of things; set by what is read.", group=None)
    min_count: int | None = option(
        None,
        "Leave out words (or items) seen less often.",
        at_least=1,
        group="corpus",
        shown="text: 5, items: 1",
    )
    max_vocab: int | None = option(
        None, "Keep only this many of the most frequent words.", at_least=2, group="corpus", shown="all"
    )
    encoding: str = option("utf-8", "Encoding of the corpus.", group="corpus")
    lowercase: bool = option(False, "Lower-case the corpus.", off="keep-case", group="corpus")
    epochs: int = option(5, "Passes over the corpus.", at_least=1, group="training")
    alpha: float | None = option(
        None,
        "Learning rate at the start; it falls linearly.",
        above=0,
        group="training",
        shown="the preset's: 0.05, on text us 0.1, nce 0.025, mle 0.0125, ranking and hinge 0.006, …",
    )
    min_alpha: float | None = option(
        None, "Learning rate at the end.", at_least=0, group="training", shown="alpha / 10000"
    )
    workers: int | None = option(
        None,
        "Parallel workers. A seed repeats to the bit with one worker; with several, while all rows are private.",
        at_least=1,
        at_most=1024,
        group="training",
        shown="all cores",
    )
    seed: int = option(1, "Seed of every random choice.", at_least=0, at_most=2**63 - 1, group="training")
    private_rows: int | None = option(
        None,
        "Rows of the most frequent words of which each worker trains a copy, merged after every round; "
        "0 is plain Hogwild.",
        at_least=0,
        group="training",
        shown="16,000 / workers",
    )
    bounded_steps: bool = option(
        True,
        "Hold the step of a centre to about one unit of logit; off only for experiments.",
        off="unbounded-steps",
        group="training",
    )
