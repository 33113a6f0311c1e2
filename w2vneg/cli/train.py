"""``w2vneg train``: from a corpus to vectors."""

import dataclasses
import os
import sys
from contextlib import nullcontext

import click

from ..ground.files.atomic import check_writable
from . import flags, results
from .options import command, option, quiet_or_json, read_config, together
from .progress import TrainingProgress, check_log, json_lines, noter, report_compiling
from .progress import note as loud
from .tables import echo_json, table
from .validation_options import check_valid, of_resumed, run_options, validation_of

_run_modes = together(  # in a command's ``**given``, from which `_prior_of` takes them
    option("--resume DIR", "Resume a run; raise --epochs to train longer."),
    option(
        "--update MODEL",
        "Train a model further, on newer data. Its words and options are kept, new words are added, counts are "
        "summed; options of the run, such as --epochs and --alpha, may change.",
    ),
    option(
        "--init MODEL|VECTORS", "Start from a model or vectors. Words that these lack start at random.", common=False
    ),
    option(
        "--freeze",
        "Keep the rows of the former model or vectors fixed; other rows are still trained against them.",
        common=False,
        readers="with --init or --update",
    ),
)


@command("Train vectors on text, items or graphs.")
@option("--cbow", "CBOW: predict a word from its context. Same as --inputs window, or window+subwords.")
@option(
    "--subwords",
    "Add character n-grams, as fastText does. Same as --inputs subwords, or window+subwords.",
    kinds=("text",),
)
@run_options
@_run_modes
@option(
    "--config FILE.toml",
    "Read options from a file. It may name the data too; the command line wins.",
    name="config_path",
)
@option("--dry-run", "Estimate memory, disk and time; train nothing.")
@option("--diagnose", "Print statistics of the negatives after each epoch; see docs/diagnostics.md.", common=False)
@option(
    "--output PATH",
    "Vectors, as word2vec text. A resumed run writes to the same file as before.",
    default_text="vectors.txt; none with --save-model",
)
@option(
    "--save-model DIR",
    "Model folder, to resume or export. Saved during training: matrices, vocabulary, options, history.",
)
@option(
    "--checkpoint-every MINUTES",
    "Save the model this often within an epoch, using at most 1 % of the time.",
    type=float,
    common=False,
    readers="with --save-model",
    default_text="10",
)
@option("--force", "Overwrite existing vectors or models.")
@option(
    "--track NAME=PLACE",
    "Log metrics to a tracker. NAME is csv, tensorboard, wandb or mlflow; may be repeated.",
    name="trackers",
    multiple=True,
)
@option("--log-json FILE|-", "Append events as JSON lines; - is standard output, without a progress bar.", common=False)
@quiet_or_json
def train(output, save_model, force, config_path, mirror, diagnose, dry_run, log_json, quiet, as_json, **given):
    """Train vectors and write them in word2vec text format.

    The default --loss is relaxed for text, a softmax over Boltzmann negatives; ns, negative sampling, for graphs; us
    for items; top-n for users and items. Losses of different objectives are not comparable: use 'w2vneg eval'. Ctrl-C
    ends the round and writes the vectors.
    """
    note = noter(quiet)
    if log_json == "-" and as_json:
        raise click.UsageError("--log-json - and --json both write to standard output; name a file with --log-json")
    given["inputs"] = _inputs(given.pop("cbow"), given.pop("subwords"), given["inputs"])
    trackers, minutes = given.pop("trackers"), given.pop("checkpoint_every")
    named, resume = flags.input_of(given, needed=False), given["resume"]
    held_out, fixed = check_valid(given, resume), flags.fixed_of(given)
    flags.refuse_dash("--save-model", save_model)
    checkpoints = _checkpoints(save_model or resume, minutes, dry_run, note)
    config, prior, data = _prior_of(given, config_path, named)
    model = prior and prior.resumed
    held_out = of_resumed(held_out, model)
    output = results.vectors_of(output, checkpoints, model, note)
    others = [*fixed.values(), *filter(None, (config_path, held_out.valid, held_out.known))]
    _check_places(output, checkpoints, log_json, trackers, [*(data.files if data else ()), *others])
    if not (force or dry_run):
        results.refuse_replacing(output, checkpoints, model, resume)
    from ..look.tracking import Tracking
    from ..run.conductor import Run
    from ..run.warmup import beside

    run = Run(config, data, prior, diagnose=diagnose, mirror=mirror, **fixed)  # fetches what is named
    prior = run.prior
    tracking = Tracking(trackers, run.config, note)
    flags.check_fixed(fixed, run.data, f"--{prior.way}" if prior.model else None)
    if named is None and not prior.model:
        note(flags.NO_CORPUS)
    report_compiling(quiet)
    if not prior.model:
        click.get_current_context().with_resource(beside(run.given, run.given.source))
    _keep_files(output, log_json, flags.files_of(run.located))
    encoded = flags.encode_run(run, fixed, given, quiet, note)
    validation = validation_of(held_out, run, encoded, model, note, mirror)
    if dry_run:
        from ..run.estimate import estimate

        note("Measuring a few rounds on a temporary model; compiling or loading the kernels first ...")
        done = 0.0 if model is None else min(1.0, model.position.epoch / model.config.epochs)
        found = estimate(run.given, encoded, validation=validation, done=done, of_command=True)
        return _print_estimate(found, as_json, note)
    if run.chooses:
        note(f"Choosing --l2 on held-out pairs; give --l2 {run.config.l2} to skip this ...")
    run.choose([lambda event: note(f"{event.line()}.")], validation, of_command=True)
    trainer = run.trainer(validation=validation, checkpoints=checkpoints)
    trainer.model.origin.output = os.path.abspath(output) if output else ""
    _report_prior(run, trainer, given["epochs"], note)
    word2vec = _train(run, trainer, tracking, log_json, quiet, output, checkpoints, note)
    folder = checkpoints and checkpoints.folder
    if not quiet:
        results.report_results(word2vec, trainer.complete, output, folder, mirror, note)
    if as_json:
        echo_json(_report(trainer, encoded, output, folder), allow_nan=False)
    if not trainer.complete:
        hint = f"; continue with --resume {folder}" if folder else ""
        what = "the vectors trained so far" if validation is None else "the best vectors so far"
        note(f"Interrupted: kept {what}{hint}.")
        sys.exit(130)


def _train(run, trainer, tracking, log_json, quiet, output, checkpoints, note):
    """Train, report progress and write the results; return the `Word2Vec` that has the model."""
    from ..run.conductor import doubts_of
    from ..run.trainer import first_signal
    from ..run.word2vec import Word2Vec

    word2vec, source = Word2Vec(run.given), trainer.config.source.name
    word2vec.model, tracking.config = trainer.model, trainer.config
    trained = False

    def after_the_first():
        """Handle a second signal in training by ending at once, or a first one after it by finishing the output."""
        if not trained:
            raise KeyboardInterrupt
        note("Writing the results; interrupt once more to stop at once.")

    with first_signal(after_the_first, of_command=True), tracking:
        with (
            json_lines(log_json, source) if log_json else nullcontext() as log,
            nullcontext() if quiet or log_json == "-" else TrainingProgress(source=source) as progress,
        ):
            trainer.listeners += filter(None, (progress, tracking, log))
            if log and run.chosen:
                log(run.chosen)
            trainer.train(of_command=True)
            trained = True
        results.report_loss(trainer.model.history, note)
        for doubt in doubts_of(trainer) if trainer.complete else ():
            loud(f"Warning: {doubt}.")
        results.write_results(word2vec, output, checkpoints, note)
        if tracking.trackers:
            tracking.keep_vectors(word2vec.vectors, trainer.model.vocab.counts)
    return word2vec


def _checkpoints(folder, minutes, dry_run, note):
    """Return the `Checkpoints` of a model folder, which this command owns from now on; None without a folder."""
    if not folder:
        if minutes is not None:
            raise click.UsageError("--checkpoint-every needs a model folder; name one with --save-model")
        return None
    from ..run.checkpoints import Checkpoints

    checkpoints = Checkpoints(folder, warn=note, **({} if minutes is None else {"minutes": minutes}))
    if not dry_run:
        click.get_current_context().with_resource(checkpoints.owning())
        results.warn_without_locks(folder, note)
    return checkpoints


def _print_estimate(found, as_json, note):
    size = lambda n: f"{n / 2**20:,.1f} MB"  # noqa: E731
    if found.peak > found.room:
        sizes = f"{size(found.peak)} of memory, and this process may use {size(found.room)}"
        loud(f"Warning: the run would take {sizes}; use a smaller --dim or --max-vocab, or raise the limit.")
    if as_json:
        return echo_json(found.as_dict(), allow_nan=False)
    listed = lambda parts: [[f"  {name}", size(n)] for name, n in parts.items() if n]  # noqa: E731
    rows = [
        ["what", "how much"],
        ["tokens or pairs of the data", f"{found.tokens:,}"],
        ["vectors", f"{found.n_vocab:,} and {found.n_out:,} of {found.dim}"],
        ["workers", f"{found.workers}"],
        ["alpha at the start", f"{found.alpha:g}"],
        ["pairs to train on, about", f"{found.pairs:,}"],
        ["memory", size(found.peak)],
        *listed(found.memory),
        ["memory available", size(found.room)],
        ["encoded data, mapped", size(found.mapped)],
        ["disk", size(sum(found.disk.values()))],
        *listed(found.disk),
        ["training, about", _in_words(found.seconds)],
        *([["  choosing --l2, at most", _in_words(found.choosing)]] if found.choosing else []),
    ]
    click.echo(table(rows))
    click.echo(f"Measured on {found.measured:.2%} of the run; nothing was trained or written.")


def _in_words(seconds):
    if seconds < 120:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"


def _inputs(cbow, subwords, given):
    named = "+".join(name for name, given_it in (("window", cbow), ("subwords", subwords)) if given_it)
    if named and given not in (None, named):
        raise click.UsageError(f"--inputs {given} contradicts --cbow or --subwords ({named}); give one of the two")
    return named or given


def _check_places(output, checkpoints, log_json, trackers, files):
    """Raise an error before training if an output cannot be written, is named twice, or is one of the `files` read."""
    places = [("the model folder", checkpoints and checkpoints.folder), ("--output", output)]
    places += [("--log-json", "/dev/stdout" if log_json == "-" else log_json)]
    places += [("--track", one.removeprefix("csv=")) for one in trackers if one.startswith("csv=")]
    writers = {}
    for writer, place in places:
        if place and (written := os.path.realpath(place)) != os.devnull:
            if written in writers:
                raise click.UsageError(f"{writers[written]} and {writer} are both written to {place}; name two places")
            writers[written] = writer
    if output:
        check_writable(output)
    if checkpoints is not None:
        from ..run.folder import check_place

        check_place(checkpoints.folder)
    _keep_files(output, log_json, files)
    if log_json and log_json != "-":
        check_log(log_json)


def _keep_files(output, log_json, files):
    flags.refuse_overwriting("--output", output, files)
    if log_json and log_json != "-":
        flags.refuse_overwriting("--log-json", log_json, files)


def _report(trainer, encoded, output, folder):
    return {
        "output": output,
        "model": folder,
        "interrupted": not trainer.complete,
        "corpus": dataclasses.asdict(encoded.report),
        "phrases": len(encoded.phrases),
        "config": trainer.model.config.as_dict(),
        "validation": trainer.model.best and trainer.model.best.as_dict(),
        "history": trainer.model.history,
    }


def _prior_of(given, config_path, named):
    """Take the options of `_run_modes` out of `given`; return (TrainConfig, Prior or None, Input or None).

    named : Input or None, the data named on the command line. The Input returned is None for the model's own data.
    """
    ways = {name: given.pop(name) for name in ("resume", "init", "update", "freeze")}
    _check_ways(ways)
    chosen = {name: value for name, value in given.items() if value is not None}
    resume, init, update, freeze = ways.values()
    if not (resume or init or update):
        return read_config(config_path, given), None, named or flags.builtin()
    from ..data.readers.sources import is_stream
    from ..run.model import Model
    from ..run.prior import Prior, config_to_grow, gentler, input_of_model

    if resume:
        free = ("plugin", "epochs", "ray_address")
        _refuse_options("--resume", [name for name in chosen if name not in free], config_path)
        model = Model.load(resume)
        config = model.config_to_run(resume, *(given[name] for name in free))
        if named is None and (not model.origin.input or any(map(is_stream, input_of_model(model, resume).files))):
            raise click.UsageError(f"{resume} was not trained on files; name the same data again, e.g. with --corpus")
        return config, Prior.resume(model, resume), named
    if update:
        if named is None or any(map(is_stream, named.files)):
            once = "reads the data twice, and standard input and pipes can be read only once"
            why = once if named else "needs newer data"
            raise click.UsageError(f"--update {why}; name a file, e.g. with --corpus")
        _refuse_options("--update", [], config_path)
        model = Model.load(update)
        prior = Prior.update(model, update, freeze, "alpha" in chosen)
        return config_to_grow(model, update, gentler(model, chosen) | chosen), prior, named
    return read_config(config_path, given), Prior.init(init, freeze), named or flags.builtin()


def _report_prior(run, trainer, epochs, note):
    """Report what a `Run` starts from; epochs : int or None, as given."""
    prior, model, config = run.prior, trainer.model, trainer.config
    place, n_words, noun = " and keep them" if prior.freeze else "", len(model.vocab), f"{config.traversal.noun}s"
    if prior.way == "init":
        shown = "; --readout in returns them unchanged" if prior.reading_out(run.given) != run.given else ""
        of_two = prior.rows.words_out is not None and model.vocab_out is not model.vocab
        n_names, noun = (n_words + len(model.vocab_out), "users and items") if of_two else (n_words, noun)
        note(f"{trainer.started:,} of {n_names:,} {noun} start from their vectors in {prior.place}{place}{shown}.")
    if prior.way == "update":
        before, noun = len(prior.model.vocab), "users" if model.vocab_out is not model.vocab else noun
        note(f"The {before:,} {noun} of {prior.place} start from their vectors{place}; {n_words - before:,} are new.")
        if prior.model.known is not None:
            how = f"--epochs {config.epochs} --alpha {config.alpha:g}"
            note(f"Training on its {prior.model.known.nnz:,} pairs and the new ones: {how}.")
    if run.alpha_share < 1:
        note(run.alpha_note())
    if trainer.complete:
        by_epochs = trainer.validation is None
        done = f"{config.epochs} epochs" if by_epochs else "its best state is restored"
        remedy = f"; for more give --epochs {config.epochs + 1} or above" if by_epochs else ""
        note(f"The run in {prior.place} is complete ({done}); nothing is left to train{remedy}.")
    elif prior.resumed is not None and epochs:
        note(f"Alpha continues at {trainer.alpha:.3g}, as in a run of {config.epochs} epochs.")


def _check_ways(ways):
    named = [f"--{name}" for name in ("resume", "init", "update") if ways[name]]
    if ways["resume"] and len(named) > 1:
        raise click.UsageError(f"--resume continues with the model folder's own vectors; leave {named[1]} out")
    if len(named) > 1:
        raise click.UsageError("--update starts from the model's rows, and --init from others; give one of the two")
    if ways["freeze"] and named in ([], ["--resume"]):
        what = "a resumed run keeps what it has frozen; leave it out" if named else "give --init or --update with it"
        raise click.UsageError(f"--freeze is for rows that a run starts from: {what}")


def _refuse_options(way, names, config_path):
    if names := [*names, *["config"] * bool(config_path)]:
        flag = f"--{names[0].replace('_', '-')}"
        raise click.UsageError(f"{way} takes its options from the model folder; leave {flag} out")
