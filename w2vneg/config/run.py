"""Options of the run: the model, the groups that the data give, the vocabulary, and how training goes."""

from dataclasses import dataclass, fields
from typing import Any

from ..ground.option import option


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """What is trained on, how large, how long; see each field's help."""

    dim: int = option(100, "Vector size.", at_least=1, at_most=65536, group="model", common=True)
    readout: str | None = option(
        None,
        "Read-out: in, out, sum, both or context. It makes vectors of the two trained matrices. Add +letters to draw "
        "on spelling, too; 'w2vneg objectives' lists all.",
        metavar="NAME",
        group="model",
        common=True,
        default_text="text: both, items: in",
    )
    rectangular: bool = option(False, "Centres and targets are two kinds of things; set by what is read.", group=None)
    min_count: int | None = option(
        None,
        "Minimum count of words or items. Rarer ones are dropped.",
        at_least=1,
        group="corpus",
        common=True,
        default_text="text: 5, items: 1",
    )
    max_vocab: int | None = option(
        None, "Keep only the most frequent words or items.", at_least=2, group="corpus", common=True, default_text="all"
    )
    encoding: str = option("utf-8", "Text encoding of the data.", metavar="NAME", group="corpus")
    lowercase: bool = option(False, "Lower-case the text.", negative_flag="keep-case", group="corpus", common=True)
    epochs: int | None = option(
        None,
        "Passes over the data.",
        at_least=1,
        group="run",
        common=True,
        default_text="5, top-n: 20 at 800,000 pairs",
    )
    alpha: float | None = option(
        None,
        "Initial learning rate; it decays linearly.",
        above=0,
        group="run",
        common=True,
        default_text="the preset's: 0.05, on text us 0.1, nce 0.025, mle 0.0125, ranking and hinge 0.006, …",
    )
    min_alpha: float | None = option(
        None, "Final learning rate.", at_least=0, group="run", default_text="alpha / 10000"
    )
    workers: int | None = option(
        None,
        "Parallel workers. With one a seed repeats to the bit; with several, while all rows are private.",
        at_least=1,
        at_most=1024,
        group="run",
        common=True,
        default_text="all cores",
    )
    seed: int = option(1, "Random seed.", at_least=0, at_most=2**63 - 1, group="run", common=True)
    private_rows: int | None = option(
        None,
        "Rows of the most frequent words that each worker copies; merged after every round. 0 is plain Hogwild.",
        at_least=0,
        group="run",
        default_text="all of few, else 500",
    )
    bounded_steps: bool | None = option(
        None,
        "Limit the step of a centre to about one unit of logit. Switch it off for experiments only.",
        negative_flag="unbounded-steps",
        group="run",
        default_text="yes, top-n: no",
    )

    @property
    def shaping(self) -> dict[str, Any]:
        """The options that shape encoded data, by name: what `data.inputs.encode_input` takes (dict)."""
        return {one.name: getattr(self, one.name) for one in fields(RunOptions) if one.metadata["group"] == "corpus"}
