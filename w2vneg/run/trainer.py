"""The trainer: it runs the rounds of an engine, does everything else between them, and handles the first Ctrl-C."""

import dataclasses
import math
import signal
import threading
import time
import warnings
from collections import deque
from contextlib import closing, contextmanager

from ..ground.errors import ConfigError, DivergenceError, InputError
from ..ground.events import EpochDone, Interrupted, RolledBack, RoundDone
from ..ground.jit import available_threads, watched
from ..kernels.schedule import linear
from .assembly import assemble
from .diagnostics import Diagnoser
from .model import Model, look_at_contexts
from .spectral import epochs_of, is_spectral, start_spectral
from .state import LastGoodState, Provenance, known_of

_HALVINGS = 5
_ABSURD = 5.0  # times the untrained loss, which only a diverging run reaches
_ENDING = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT")  # Ctrl-C, a scheduler, a dropped ssh, Ctrl-\\
_FREE = ("preset", "plugin", "epochs", "ray_address")  # options that may change when a run resumes


class Trainer:
    """Trains one model on one encoded corpus.

    corpus : EncodedCorpus or EncodedPairs; config : TrainConfig or RunSpec
    listeners : sequence of callables, called with each event of `w2vneg.ground.events`, in order, between rounds
    model : Model, optional, to resume from its position; its vocabulary and options must match
    diagnose : bool, examine the draws after each epoch and emit a `Diagnosis`; training is identical to the bit
    validation : Validation, optional, held-out pairs to evaluate the run on, which may end it early
    checkpoints : Checkpoints, optional, where to save the model during training, which is identical to the bit
    start : WarmStart, optional, initial rows of a new model; `started` is the number of names that have one
    ConfigError if the plugs are incompatible or the model does not fit, UnknownNameError if a plug is not registered,
        InputError if the corpus has no pair to train on; all before training
    """

    def __init__(
        self, corpus, config, listeners=(), model=None, diagnose=False, validation=None, checkpoints=None, start=None
    ):
        self.corpus, self.config = corpus, config.resolved(cores=available_threads())
        if self.config.epochs is None:
            self.config = dataclasses.replace(self.config, epochs=epochs_of(self.config, corpus, start))
        self.listeners, self.stopped = list(listeners), False
        self.diagnose, self._diagnoser = diagnose, None
        self.validation, self.checkpoints = validation, checkpoints
        if model is not None:
            if self.config.exchange_every == "auto":  # it is chosen once and kept
                self.config = dataclasses.replace(self.config, exchange_every=model.config.exchange_every)
            self._check_fits(model, validation)
        self.model = model or Model.fresh(corpus.vocab, self.config, corpus.vocab_out)
        if start is not None:
            start.check(self.config)
        elif model is None and is_spectral(self.config):
            start_spectral(self.model, corpus.matrix)
        self.model.config = self.config
        self.model.origin, self.model.phrases = Provenance.of(corpus), corpus.phrases
        self.model.known = known_of(corpus)
        if validation is not None:
            validation.begin(self.model)
        parts = assemble(corpus, self.config, self.model, start)
        self.engine, self.loss_at_init, self.started, self._start_events, self.model.config = parts
        self.config = self.model.config
        if self.model.position.round > self.engine.n_rounds:
            where = f"round {self.model.position.round:,} of an epoch that has {self.engine.n_rounds:,}"
            cause = "its position.json is damaged, or from another version"
            raise ConfigError(f"the model to resume stopped in {where}: {cause}; train again")

    def _check_fits(self, model, validation):
        if model.best is not None and validation is None:
            raise ConfigError("the model to resume was evaluated on held-out pairs while it trained; give them again")
        origin = Provenance.of(self.corpus)
        if (model.origin.n_tokens, model.origin.fingerprint) != (origin.n_tokens, origin.fingerprint):
            sizes = f"{model.origin.n_tokens:,} known tokens or pairs, now {origin.n_tokens:,}"
            raise ConfigError(f"the model to resume was trained on other data ({sizes}); use the same")
        same = model.vocab == self.corpus.vocab and model.vocab_out == self.corpus.vocab_out
        if not same or model.config.dim != self.config.dim:
            what = "the model to resume has another vocabulary or dim than this run"
            raise ConfigError(f"{what}; use the same corpus and options")
        given, own = self.config.as_dict(), model.config.as_dict()
        other = [name for name in given if given[name] != own[name] and name not in _FREE]
        if model.position.round and other:
            what = f"the model to resume stopped within an epoch with a different {other[0]}"
            raise ConfigError(f"{what} ({own[other[0]]}, now {given[other[0]]}); use the same options")

    @property
    def complete(self):
        """Whether all epochs are done, or validation has ended the run."""
        return self.model.complete

    @property
    def _through(self):
        return self.model.position.epoch >= self.config.epochs

    @property
    def alpha(self):
        """The learning rate of the next round (float)."""
        return self._alpha(self._fraction())

    def stop(self):
        """Request an end after the current round; safe in a signal handler or another thread."""
        self.stopped = True

    def train(self, of_command=False):
        """Train to the end, or to the end of the round in which `stop` is called or Ctrl-C pressed; return the Model.

        of_command : bool, as for `first_signal`: SIGTERM, SIGHUP and SIGQUIT act like Ctrl-C
        DivergenceError if values become infinite or NaN, or the loss exceeds 5 times the untrained one, repeatedly and
            at ever smaller alphas; the model then holds the last good state
        InputError if an epoch has no pair to train on, for example if subsampling leaves none
        """
        self._clock = clock = _Clock()
        self.model.contexts = None  # of an earlier state
        with first_signal(self.stop, of_command):
            with closing(self.engine):
                for event in () if self.complete else self._start_events:
                    self._emit(event)
                with watched(clock.leave_out):
                    while not self.complete and (self._through or not self.stopped):
                        if not self._evaluate():
                            self._epoch()
                self.engine.replica.compose()
                self.engine.replica.forget()
            try:
                look_at_contexts(self.model, self.corpus)
            except Exception as error:  # the model must not be lost by this: the read-out reports missing contexts
                said = f"{type(error).__name__}: {error}".removesuffix(": ")
                warnings.warn(f"the contexts of words could not be computed ({said})", stacklevel=2)
        if self.stopped and not self.complete:
            self._emit(Interrupted(self.model.position.epoch + 1, self._fraction()))
        return self.model

    def _epochs(self, rounds=0):
        """Return the number of epochs done, or after `rounds` more rounds."""
        return self.model.position.epoch + (self.model.position.round + rounds) / self.engine.n_rounds

    def _fraction(self, rounds=0):
        """Return the share of the whole run done, or after `rounds` more rounds."""
        return min(1.0, self._epochs(rounds) / self.config.epochs)

    def _epoch(self):
        """Run the remaining rounds of the current epoch."""
        position, clock = self.model.position, self._clock
        rounds = self.engine.plan(position.epoch)
        # copying and checking both matrices costs about 1 % of training on as many tokens as they have numbers
        affordable = self.engine.n_positions // (self.model.vectors_in.size + self.model.vectors_out.size)
        every = max(1, len(rounds) // min(4, max(1, affordable)))
        self._keep(self.model.good)  # that of an interrupted run, if any
        self.model.good = None
        while position.round < len(rounds) and not self.stopped:
            if self._evaluate() or self.stopped:
                break
            now = rounds[position.round]
            alphas = self._alpha(self._fraction()), self._alpha(self._fraction(rounds=1))
            self._check_data()
            loss, pairs = self.engine.run(now, alphas)
            last = position.round + 1 == len(rounds)
            kept = not last and ((position.round + 1) % every == 0 or self._due(rounds=1))
            checked = last or kept or self.stopped
            absurd = self.loss_at_init > 0 and loss > _ABSURD * self.loss_at_init * max(pairs, 1)
            if not math.isfinite(loss) or absurd or (checked and not self.engine.replica.healthy()):
                self._roll_back()
                continue
            position.round += 1
            position.loss_sum += loss
            position.pairs += pairs
            clock.add(loss, pairs, now.positions)
            if kept:
                self._keep()
            at, seconds = self._fraction(), clock.seconds()
            done = position.epoch + 1, at, clock.tokens, clock.pairs, self._alpha(at), clock.recent_loss()
            self._emit(RoundDone(*done, self.loss_at_init, seconds))
            if self.stopped and not checked and not self.engine.replica.healthy():
                self._roll_back()  # the returned state must be healthy
            elif not last and not self.stopped:
                self._checkpoint(checked)
        if position.round == len(rounds):
            self._end_epoch()
        else:
            self._prepare()  # a resumed run must roll back as far as an uninterrupted one

    def _check_data(self):
        """Raise InputError if the data can no longer be read; the model is saved first."""
        try:
            self.corpus.check()
        except InputError:
            self._checkpoint(now=True)
            raise

    def _checkpoint(self, healthy=False, now=False, **done):
        """Save the model if that is due, or `now`; healthy : bool, the latest state is known to be healthy."""
        if self.checkpoints is None or not (now or self.checkpoints.due(**done)):
            return
        if healthy or self.engine.replica.healthy():
            with self._clock.stopped():
                self.checkpoints.save(self.model, prepare=self._prepare)
            self.model.good = None

    def _prepare(self):
        """Bring the model up to date, with the state to roll back to if that is an earlier one."""
        self.engine.replica.compose()
        if self.model.position.round not in (0, self._good.round):
            self.model.good = LastGoodState(self._good, self.engine.replica.kept())

    def _due(self, rounds=0):
        """Return whether an evaluation on held-out pairs is due now, or after `rounds` more rounds."""
        return self.validation is not None and self.validation.due(self.model, self._epochs(rounds), self._through)

    def _evaluate(self):
        """Evaluate the model on held-out pairs if that is due; return whether the run is over."""
        if self._due():
            with self._clock.stopped():
                self.engine.replica.compose()
                for event in self.validation.evaluate(self.model, self._epochs(), self._through):
                    self._emit(event)
        return self.complete

    def _alpha(self, fraction):
        scale = self.engine.alpha_scale * self.model.position.alpha_factor
        return scale * linear(self.config.alpha, self.config.min_alpha, fraction)

    def _keep(self, state=None):
        """Keep the latest state, or a given `LastGoodState`, to return to."""
        self.engine.replica.keep(state and state.matrices)
        self._good = state.position if state else dataclasses.replace(self.model.position)

    def _roll_back(self):
        position = self.model.position
        self.engine.go_back()
        factor = position.alpha_factor / 2
        vars(position).update(vars(self._good) | {"alpha_factor": factor})
        if factor < 0.5**_HALVINGS:
            what = f"training diverged {_HALVINGS + 1} times, last at alpha {2 * factor * self.config.alpha:g}"
            remedy = self.config.loss.plug.unstable + ("" if self.config.bounded_steps else " or give --bounded-steps")
            raise DivergenceError(f"{what}; {remedy}")
        self._emit(RolledBack(position.epoch + 1, self._fraction(), factor))

    def _end_epoch(self):
        position, clock = self.model.position, self._clock
        if position.pairs == 0:
            noun = self.config.traversal.noun
            why = f"no two different {noun}s occur together; give more data"
            if getattr(self.config.source, "subsample", 0):
                why = f"subsampling left no two {noun}s together; give --subsample 0"
            raise InputError(f"no pair was trained in epoch {position.epoch + 1}: {why}")
        loss = position.loss_sum / position.pairs
        epoch, epochs = position.epoch + 1, self.config.epochs
        alpha, seconds = self._alpha(epoch / epochs), clock.seconds()
        done = EpochDone(epoch, epochs, clock.tokens, position.pairs, loss, self.loss_at_init, alpha, seconds)
        position.epoch += 1
        position.round, position.loss_sum, position.pairs = 0, 0.0, 0
        self._emit(done)
        self._emit(self.engine.report(position.epoch))
        if self.diagnose:
            with clock.stopped():
                engine = self.engine.replica
                trains = engine is self.engine
                self._diagnoser = self._diagnoser or Diagnoser(engine, self.corpus, self.config, trains=trains)
                diagnosis = self._diagnoser.diagnose(position.epoch)
            self._emit(diagnosis)
        self._checkpoint(healthy=True, epoch_done=True)

    def _emit(self, event):
        if event is None:  # nothing to report
            return
        if not event.passing:
            self.model.history.append(event.as_dict())
        for listener in self.listeners:
            listener(event)


class _Clock:
    """Counts what a run has done since it started, and keeps a running mean of the loss."""

    def __init__(self):
        self.begun = time.perf_counter()
        self.tokens = self.pairs = 0
        self._still = False
        self._recent = deque(maxlen=10)  # (loss, pairs) of the latest rounds

    def add(self, loss, pairs, tokens):
        self.tokens += tokens
        self.pairs += pairs
        self._recent.append((loss, pairs))

    def recent_loss(self):
        return sum(loss for loss, _ in self._recent) / max(1, sum(pairs for _, pairs in self._recent))

    def seconds(self):
        return time.perf_counter() - self.begun

    def leave_out(self, event):
        """Exclude the time of a `Compiled` event from training time, unless the clock is stopped anyway."""
        self.begun += 0.0 if self._still else getattr(event, "seconds", 0.0)

    @contextmanager
    def stopped(self):
        """Exclude the block from training time."""
        begun, self._still = time.perf_counter(), True
        yield
        self.begun, self._still = self.begun + time.perf_counter() - begun, False


@contextmanager
def first_signal(request, of_command=False):
    """Turn the first signal that would end the process into a call of `request`; a second one acts as usual.

    Main thread only; elsewhere nothing changes. A signal that is set to be ignored (nohup, the background of a script)
    stays ignored. request : callable without arguments; called by the handler, so it must do very little
    of_command : bool, the process is ours, so handle all of `_ENDING`; otherwise handle Ctrl-C alone, and only if it
        would raise KeyboardInterrupt, so that a program's own signal handlers stay in place
    """
    former = {}

    def handler(number, frame):
        restore()
        request()

    def restore():
        while former:
            number, before = former.popitem()
            signal.signal(number, before)

    if threading.current_thread() is threading.main_thread():
        for number in (getattr(signal, name) for name in _ENDING if hasattr(signal, name)):
            now = signal.getsignal(number)
            if now not in (signal.SIG_IGN, None) if of_command else now is signal.default_int_handler:
                former[number] = signal.signal(number, handler)
    try:
        yield
    finally:
        restore()
