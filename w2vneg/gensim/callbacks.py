"""gensim's callbacks, called from the events of a run."""

from ..ground.events import EpochDone


class CallbackAny2Vec:
    """What a callback may define; each method gets the model."""

    def on_train_begin(self, model):
        """Before the first epoch."""

    def on_epoch_begin(self, model):
        """Before each epoch."""

    def on_epoch_end(self, model):
        """After each epoch."""

    def on_train_end(self, model):
        """After the last epoch."""


def call(callbacks, moment, model):
    """Call the method called `moment` of each callback that has it."""
    for callback in callbacks:
        getattr(callback, moment, lambda model: None)(model)


def listener(callbacks, model):
    """Return a listener that calls `callbacks` between epochs; those before and after all are not its own."""

    def hear(event):
        if isinstance(event, EpochDone):
            call(callbacks, "on_epoch_end", model)
            if event.epoch < event.epochs:
                call(callbacks, "on_epoch_begin", model)

    return hear
