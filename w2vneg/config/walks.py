"""Options of the ways in which data are walked: text, baskets and histories, pairs, graphs."""

from ..ground.option import option
from ..ground.registry import Registry

WALKS = Registry("walk")
"""Name, as ``TrainConfig.source`` -> a class with ``Options``; `data`, the flags that name such data; `loss`, the
objective where none is named; `alpha_scale`, which a preset's alpha is multiplied by where none is named; and `kind`,
"text", "items" or "graph", as ``--help-all`` is asked for."""

PAIR_WEIGHTS = ("enumerate", "sample")


def _subsample(default):
    return option(
        default,
        "Downsample words above this frequency; 0 keeps all.",
        at_least=0,
        below=1,
        common=True,
    )


def _window(default):
    return option(default, "Context size: tokens on each side.", at_least=1, at_most=1000, common=True)


def _dynamic_window():
    return option(
        True,
        "Draw each centre's window from 1 to --window, as word2vec does.",
        off="fixed-window",
    )


def _bias(help):
    return option(1.0, help, at_least=0.001, at_most=1000)


def _ordered():
    return option(
        False,
        "Take positives from after the centre only: next words, later purchases.",
        off="both-sides",
    )


@WALKS.register("text")
class Text:
    """Sentences: a word and the words near it."""

    kind = "text"
    data = "text (--corpus)"
    loss = "relaxed"
    alpha_scale = 1.0

    class Options:
        window: int = _window(5)
        dynamic_window: bool = _dynamic_window()
        subsample: float = _subsample(1e-4)
        ordered: bool = _ordered()


@WALKS.register("graph")
class Graph:
    """Random walks on a graph: a node and the nodes near it in a walk."""

    kind = "graph"
    data = "graphs (--edges)"
    loss = "ns"
    alpha_scale = 0.5  # better by every measure on planted graphs (docs/journal/2026-11-25-graphs.md)

    class Options:
        window: int = _window(10)
        dynamic_window: bool = _dynamic_window()
        subsample: float = _subsample(0.0)
        ordered: bool = _ordered()
        walks_per_node: int = option(10, "Random walks per node and epoch.", at_least=1)
        walk_length: int = option(80, "Nodes per random walk.", at_least=2, at_most=10_000)
        p: float = _bias("node2vec's return parameter: above 1 a walk seldom turns straight back, below 1 often.")
        q: float = _bias("node2vec's in-out parameter: above 1 a walk stays near the last node, below 1 it moves away.")


@WALKS.register("baskets")
class Baskets:
    """Baskets and histories: an item and the others of its basket."""

    kind = "items"
    data = "--baskets and --ratings without --rectangular"
    loss = "us"
    alpha_scale = 1.0

    class Options:
        subsample: float = _subsample(0.0)
        ordered: bool = _ordered()
        pairs_per_item: int = option(
            32,
            "Positives per item of a basket or history: all others, or a random sample of this many.",
            at_least=1,
            at_most=10000,
        )


@WALKS.register("pairs")
class Pairs:
    """Pairs with weights: a row and its columns."""

    kind = "items"
    data = "--pairs and --cooccurrence"
    loss = "us"
    alpha_scale = 1.0

    class Options:
        pair_weights: str | None = option(
            None,
            "enumerate: repeat each pair by its weight in an epoch. sample: draw pairs in proportion to their weights.",
            shown="enumerate, for few whole numbers",
            choices=PAIR_WEIGHTS,
        )
        pairs_per_epoch: int | None = option(
            None,
            "Pairs per epoch when weights are sampled.",
            at_least=1,
            at_most=2**31,
            shown="the sum of the weights, at least the number of pairs",
        )
