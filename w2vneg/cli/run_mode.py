"""What a run begins with: --init, --update, --resume, or nothing."""

import click

from ..data.inputs import Input
from .options import option, read_config, together

run_mode_options = together(  # in a command's ``**given``, from which `prior_of` takes them
    option("--resume DIR", "Resume a run; raise --epochs to train longer."),
    option(
        "--update MODEL",
        "Train a model further, on newer data. Its words and options stay, new words join, counts add up; options "
        "of the run, such as --epochs and --alpha, may change.",
    ),
    option(
        "--init MODEL|VECTORS",
        "Start from a model or vectors. Words that they do not have start at random.",
        common=False,
    ),
    option(
        "--freeze",
        "Keep the rows of the former model or vectors as they are; the others are trained against them, too.",
        common=False,
        readers="with --init or --update",
    ),
)


def prior_of(given, config_path, named):
    """Take the options of `run_mode_options` out of `given`, a command's options.

    named : Input or None, the data that the command line names. Returns (TrainConfig, Prior or None, Input or None),
    the data None where they are those of the model. UsageError if options exclude each other, ConfigError or InputError
    if a model cannot be read or does not go on with them.
    """
    ways = {name: given.pop(name) for name in ("resume", "init", "update", "freeze")}
    _check_ways(ways)
    chosen = {name: value for name, value in given.items() if value is not None}
    resume, init, update, freeze = ways.values()
    if not (resume or init or update):
        return read_config(config_path, given), None, named or Input("corpus", "builtin")
    from ..run.model import Model
    from ..run.prior import Prior, config_to_grow, gentler, input_of_model

    if resume:
        free = ("plugin", "epochs", "ray_address")
        _refuse_options(chosen, free, config_path, "--resume takes its options from the model folder")
        model = Model.load(resume)
        config = model.config_to_run(resume, *(given[name] for name in free))
        if named is None and (not model.origin.input or "-" in input_of_model(model, resume).files):
            raise click.UsageError(f"{resume} was not trained on files; name the same data again, as with --corpus")
        return config, Prior.resume(model, resume), named
    if update:
        if named is None or "-" in named.files:
            why = "reads the data twice, and standard input can be read once" if named else "goes on with newer data"
            raise click.UsageError(f"--update {why}; name a file, as with --corpus")
        _refuse_options((), (), config_path, "--update takes its options from the model folder")
        model = Model.load(update)
        prior = Prior.update(model, update, freeze, "alpha" in chosen)
        return config_to_grow(model, update, gentler(model, chosen) | chosen), prior, named
    return read_config(config_path, given), Prior.init(init, freeze), named or Input("corpus", "builtin")


def tell_of_prior(run, trainer, epochs, note):
    """Tell what a `Run` begins with; epochs : int or None, as given."""
    prior, model, config = run.prior, trainer.model, trainer.config
    place, n_words = " and stay there" if prior.freeze else "", len(model.vocab)
    if prior.way == "init":
        note(f"{trainer.started:,} of {n_words:,} words begin with their vectors of {prior.place}{place}.")
    if prior.way == "update":
        before, noun = len(prior.model.vocab), "users" if model.known is not None else "words"
        note(f"The {before:,} {noun} of {prior.place} begin with their vectors{place}; {n_words - before:,} joined.")
        if prior.model.known is not None:
            how = f"--epochs {config.epochs} --alpha {config.alpha:g}"
            note(f"Going on with its {prior.model.known.nnz:,} pairs and the new ones: {how}.")
    if run.alpha_share < 1:
        note(run.told_of_alpha())
    if trainer.complete:
        by_epochs = trainer.validation is None
        done = f"{config.epochs} epochs" if by_epochs else "its best state is restored"
        remedy = f"; for more give --epochs {config.epochs + 1} or above" if by_epochs else ""
        note(f"The run in {prior.place} is complete ({done}); nothing is left to train{remedy}.")
    elif prior.resumed is not None and epochs:
        note(f"Alpha goes on at {trainer.alpha:.3g}, as in a run of {config.epochs} epochs.")


def _check_ways(ways):
    named = [f"--{name}" for name in ("resume", "init", "update") if ways[name]]
    if ways["resume"] and len(named) > 1:
        raise click.UsageError(f"--resume goes on with the model folder's own vectors; leave {named[1]} out")
    if len(named) > 1:
        raise click.UsageError("--update begins with the model's rows, and --init with others; give one of the two")
    if ways["freeze"] and named in ([], ["--resume"]):
        what = "a resumed run keeps what it has frozen; leave it out" if named else "give --init or --update with it"
        raise click.UsageError(f"--freeze is for rows that a run begins with: {what}")


def _refuse_options(chosen, allowed, config_path, why):
    others = [name for name in chosen if name not in allowed]
    if others or config_path:
        what = "--" + others[0].replace("_", "-") if others else "--config"
        raise click.UsageError(f"{why}; leave {what} out")
