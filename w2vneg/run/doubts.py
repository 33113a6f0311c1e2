"""What is doubtful of a run that is over: a loss that has hardly fallen, things of which most occur once."""

import numpy as np

_FALL = 0.01  # of the loss at init
_FEWEST_PAIRS = 10_000  # trained: with fewer a run has hardly begun
_FEWEST = 100  # words, items or held-out pairs: fewer are too few to judge by


def doubts_of(trainer):
    """Return what may be wrong with the data of a `Trainer` that has trained, as sentences (list of str).

    The last epoch's loss is compared with that at init, as the first epoch's is low already, and so is that of a run
    that goes on or begins with vectors; with the first epoch's where that is higher, as after a bad start.
    """
    history = [record for record in trainer.model.history if record["event"] == "EpochDone"]
    return [*_of_loss(history), *_of_popularity(trainer), *_of_counts(trainer)] if history else []


def _of_loss(history):
    loss, at_init = history[-1]["loss"], history[-1]["untrained"]
    highest = max(at_init, history[0]["loss"])
    if sum(record["pairs"] for record in history) < _FEWEST_PAIRS or loss <= (1 - _FALL) * highest:
        return
    yield (
        f"the loss has hardly fallen ({at_init:.4f} at init, {loss:.4f} in the last epoch), so that the vectors are "
        "little better than chance: the data may not be what they were read as, or too few; look at what was read, "
        "then give more --epochs or a higher --alpha"
    )


def _of_popularity(trainer):
    """Yield a doubt of a model of items that is evaluated as it trains, and is worse than popularity."""
    validation, best = trainer.validation, getattr(trainer.model, "best", None)
    if validation is None or best is None or not best.figures:
        return
    popular, name = validation.of_popularity(trainer.model), validation.metric.name
    if popular is None or len(validation.held) < _FEWEST or not validation.metric.better(popular, best.figures[name]):
        return
    yield (
        f"on held-out pairs popularity alone is better ({name} {popular:.4f}, this model "
        f"{best.figures[name]:.4f}); give more --epochs, look at what was read, or take 'w2vneg slim'"
    )


def _of_counts(trainer):
    """Yield a doubt for each vocabulary of which more than half occur once.

    Counts of nodes are visits, and weights with decimals are no counts. Most words of many a text occur once, which
    matters where they are kept.
    """
    corpus, config = trainer.corpus, trainer.config
    traversal = config.traversal
    if config.min_count > 1 or not traversal.counts_occurrences(corpus):
        return
    model = trainer.model
    two = model.vocab_out is not model.vocab
    sides = {"centres": model.vocab, "targets": model.vocab_out} if two else {f"{traversal.noun}s": model.vocab}
    for noun, vocab in sides.items():
        n_once = int(np.count_nonzero(np.asarray(vocab.counts) == 1))
        if len(vocab) >= _FEWEST and 2 * n_once > len(vocab):
            why = "" if traversal.of_words else " another column or delimiter may be meant; check what was read, or"
            yield (
                f"{n_once:,} of {len(vocab):,} {noun} occur once, and little can be learnt of these:{why} leave them "
                "out with --min-count 2"
            )
