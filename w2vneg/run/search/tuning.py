"""A search over options: each combination is trained on the same encoded data and evaluated on the same held-out pairs.

Held-out pairs select the state within a run and the run within a search, so an unbiased result needs pairs that neither
has seen. No trial ends the search: one that diverges or is refused becomes a row with the reason.
"""

import dataclasses
import os
import time
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial

from ...data.readers.sources import STDIN
from ...ground.errors import ConfigError, W2vnegError
from ...ground.events import TrialDone, TrialStarted, penalty_chosen
from ...ground.files.locks import owned
from ..conductor import Run, reading
from ..folder import as_flags_of_data, as_flags_of_validation
from ..model import Model
from ..spectral import epochs_of
from ..state import Provenance
from .space import Planned
from .trials import GIVEN_UP, Trial, TrialFolder, by_combination, key_of


@dataclass(frozen=True)
class Search:
    """The result of a search."""

    rows: list  # of Row, the best first
    best: object  # Row or None
    complete: bool  # not interrupted
    trials: list  # of Trial, in the order run, with those already in the folder


def tune(
    encoded, config, combinations, validation, *, seeds=1, folder=None, listeners=(), kept_at=None, read=None,
    fixed=None, of_command=False,
):  # fmt: skip
    """Train every combination under every seed, and rank them by the validation's metric.

    encoded : EncodedCorpus or EncodedPairs, encoded once, shared by all trials
    config : TrainConfig, the options that are not searched; trials use its seed and those after it
    combinations : list of dict of str -> value, options of each trial (see `search.space`), or a Tpe that proposes them
    validation : Validation, evaluates all trials, and ends each early if it has patience; seeds : int, per combination
    folder : path, optional, where to keep trials and tables; existing trials are not run again
    listeners : sequence of callables, called with `TrialStarted`, the trainer's events, and `TrialDone`
    kept_at : callable, optional, returns the folder in which to save the model of some options and a seed. An existing
        model is evaluated, not retrained.
    read : Input, optional, the data that were encoded, for best.toml and saved models
    fixed : dict of vocab or vocab_out -> path, optional, the files of vocabularies that were not built from it
    of_command : bool, as for `Trainer.train`
    Returns Search; after Ctrl-C, of the trials finished by then, without the one that was running
    ConfigError if there is nothing to try, the folder holds another search, or a folder of `kept_at` another run
    OutputError if another process searches in this folder, or it cannot be written
    """
    if not len(combinations) or seeds < 1:
        raise ConfigError("nothing to try: give at least one combination and one seed")
    proposals = Planned(combinations) if isinstance(combinations, list) else combinations
    config, metric, number = reading(config, encoded), validation.metric, 0
    given = {} if read is None else (read.replace(files=STDIN) if read.in_memory else read.absolute()).as_dict()
    origin = {"input": given, "own_vocab": not fixed} if given else {}
    words = {name.replace("_", "-"): os.path.abspath(path) for name, path in (fixed or {}).items()}
    with nullcontext() if folder is None else owned(folder):
        flags = as_flags_of_data(given, config.source) | as_flags_of_validation(validation.settings) | words
        kept = TrialFolder(folder, _common(encoded, config, validation), config, metric, flags)
        proposals.begin(kept.trials, metric)
        for options in proposals:
            for seed in range(config.seed, config.seed + seeds):
                number += 1
                own = by_combination(kept.trials).get(key_of(options), [])
                if any(trial.seed == seed or trial.reason is not None for trial in own):
                    continue  # a combination that failed with one seed is not tried with the next
                _emit(listeners, TrialStarted(number, seeds * len(proposals), options, seed))
                should_prune = partial(proposals.should_prune, first=seed == config.seed)
                seeded = dataclasses.replace(config, seed=seed)
                place = kept_at and kept_at(options, seed)
                there = place is not None and place.exists()
                trial, stopped = _run(
                    encoded, seeded, options, validation, listeners, should_prune, place, origin, of_command
                )
                if trial is not None:
                    kept.add(trial)
                    outcome = trial.seed, metric.name, trial.figures.get(metric.name), trial.epoch, kept.best_value()
                    done = number, seeds * len(proposals), trial.options
                    _emit(listeners, TrialDone(*done, *outcome, trial.reason, trial.seconds, there))
                    kept.write_tables(seeds)
                if stopped:
                    return Search(*kept.write_tables(seeds), False, kept.trials)
            proposals.tell(by_combination(kept.trials).get(key_of(options), []), metric)
        return Search(*kept.write_tables(seeds), True, kept.trials)


def _common(encoded, config, validation):
    """Return the settings that all trials of a folder share (dict of JSON values)."""
    origin = Provenance.of(encoded)
    data = [origin.fingerprint, origin.n_tokens, encoded.vocab.digest(), encoded.vocab_out.digest()]
    settings = {name: value for name, value in validation.settings.items() if name != "files"}
    return {"data": data, "validation": settings, "options": config.as_dict()}


def run_to_read(config, combinations, data, **run):
    """Return the `Run` that reads the data of a search: that of the first combination that is not refused.

    config, combinations : as for `tune`, but not a plain list; data, **run : as for `Run`
    W2vnegError, the first one, if every combination is refused, for example because the data cannot be read
    """
    first = None
    for options in combinations.corners():
        try:
            return Run(dataclasses.replace(config, **options), data, **run)
        except W2vnegError as error:
            first = first or error
    raise first


def _run(encoded, config, options, validation, listeners, should_prune, place, origin, of_command):
    """Train one trial; return (Trial, None if it was interrupted; whether Ctrl-C was pressed).

    place : path of its model, or None; origin : dict, fields of its `Provenance` about the data
    """
    if place is not None and place.exists():
        return _evaluated(place, encoded, config, options, validation), False
    begun, hopeless = time.perf_counter(), []

    def look(event):
        if not hopeless and should_prune(event):
            hopeless.append(event)
            trainer.stop()

    took = lambda: time.perf_counter() - begun  # noqa: E731
    try:
        run = Run(dataclasses.replace(config, **options), encoded)
        run.choose(listeners, validation, of_command)
        trainer = run.trainer([*listeners, look], validation)
        trainer.train(of_command=of_command)
    except KeyboardInterrupt:
        return None, True
    except (W2vnegError, MemoryError) as error:
        return Trial(options, config.seed, {}, None, took(), str(error) or "not enough memory"), False
    if hopeless and not trainer.complete:
        why = f"{GIVEN_UP} at epoch {hopeless[0].epoch:.4g} with {hopeless[0].metric} {hopeless[0].value:.4f}"
        return Trial(options, config.seed, {}, None, took(), why), False
    if not trainer.complete:
        return None, True
    best = trainer.model.best
    if place is not None:
        vars(trainer.model.origin).update(origin)
        trainer.model.save(place)
    seconds, l2 = _choosing(trainer.model)
    return Trial(options, config.seed, best.figures, best.epoch, seconds, l2=l2), trainer.stopped


def _evaluated(place, encoded, config, options, validation):
    """Return the Trial of a saved model; ConfigError if it has other options or data."""
    model, run = Model.load(place), Run(dataclasses.replace(config, **options), encoded)
    same = model.origin.fingerprint == Provenance.of(encoded).fingerprint
    same = same and model.vocab == encoded.vocab and model.vocab_out == encoded.vocab_out
    own, planned = model.config.as_dict(), run.config.as_dict()
    if run.config.epochs is None:
        planned["epochs"] = epochs_of(run.config, encoded)
    if run.chooses and penalty_chosen(model.history):
        planned["l2"] = own["l2"]
    if not same or own != planned:
        raise ConfigError(f"{place} holds a model with other data or options; keep models in another folder")
    epoch = model.config.epochs if model.best is None else model.best.epoch
    seconds, l2 = _choosing(model)
    return Trial(options, config.seed, validation.figures(model), epoch, seconds, l2=l2)


def _choosing(model):
    """Return the seconds that a run trained and chose a penalty (float), and that penalty (str or None).

    Time for compiling, evaluating and saving is not included.
    """
    chosen = penalty_chosen(model.history) or {"seconds": 0.0, "l2": None}
    trained = next((one["seconds"] for one in reversed(model.history) if one.get("event") == "EpochDone"), 0.0)
    return chosen["seconds"] + trained, chosen["l2"]


def _emit(listeners, event):
    for listener in listeners:
        listener(event)
