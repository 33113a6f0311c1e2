"""Options of the ways in which data are walked: text, baskets and histories, pairs, graphs."""

from ..ground.option import option
from ..ground.registry import Registry

WALKS = Registry("walk")
"""Name, as ``TrainConfig.source`` -> a class with ``Options``; `data`, the flags that name such data; `loss`, the
objective where none is named; and `alpha_scale`, which a preset's alpha is multiplied by where none is named."""

PAIR_WEIGHTS = ("enumerate", "sample")


def _subsample(default):
    return option(
        default,
        "Frequency above which words (or items of baskets) are thinned out; 0 keeps all.",
        at_least=0,
        below=1,
    )


def _window(default):
    return option(default, "Positives reach this many tokens to each side.", at_least=1, at_most=1000)


def _dynamic_window():
    return option(
        True,
        "Draw each centre's window from 1 … window, as word2vec does, or keep it fixed.",
        off="fixed-window",
    )


def _bias(help):
    return option(1.0, help, at_least=0.001, at_most=1000)


def _ordered():
    return option(
        False,
        "Let only what comes after the centre be its positive: the next words, the items bought later.",
        off="both-sides",
    )


@WALKS.register("text")
class Text:
    """Sentences: a word and the words near it."""

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

    data = "graphs (--edges)"
    loss = "ns"
    alpha_scale = 0.5  # better by every measure on planted graphs (docs/journal/2026-11-25-graphs.md)

    class Options:
        window: int = _window(10)
        dynamic_window: bool = _dynamic_window()
        subsample: float = _subsample(0.0)
        ordered: bool = _ordered()
        walks_per_node: int = option(10, "Random walks from each node in an epoch.", at_least=1)
        walk_length: int = option(80, "Nodes of a random walk.", at_least=2, at_most=10_000)
        p: float = _bias("Steps of a random walk: above 1 it seldom goes straight back, below 1 often.")
        q: float = _bias("Steps of a random walk: above 1 it stays near the node before, below 1 it goes on.")


@WALKS.register("baskets")
class Baskets:
    """Baskets and histories: an item and the others of its basket."""

    data = "--baskets and --ratings without --rectangular"
    loss = "us"
    alpha_scale = 1.0

    class Options:
        subsample: float = _subsample(0.0)
        ordered: bool = _ordered()
        pairs_per_item: int = option(
            32,
            "Positives of an item in a basket or history: all others up to this many, else so many of them drawn.",
            at_least=1,
            at_most=10000,
        )


@WALKS.register("pairs")
class Pairs:
    """Pairs with weights: a row and its columns."""

    data = "--pairs and --cooccurrence"
    loss = "us"
    alpha_scale = 1.0

    class Options:
        pair_weights: str | None = option(
            None,
            "How weights of pairs count: enumerate (each pair so often in an epoch) or sample (drawn in proportion).",
            shown="enumerate, if they are whole numbers and few enough",
            choices=PAIR_WEIGHTS,
        )
        pairs_per_epoch: int | None = option(
            None,
            "Pairs that an epoch draws when weights are sampled.",
            at_least=1,
            at_most=2**31,
            shown="the sum of the weights, at least the number of pairs",
        )
