"""Where a run begins: afresh, with rows of another (--init), with a model that grows (--update), or in its middle
(--resume).
"""

import os
from contextlib import nullcontext
from dataclasses import dataclass, replace

import click

from ..data.inputs import of_as_many_kinds, settled
from .options import read_config
from .progress import byte_progress
from .vocabularies import vocabularies

_OPTIONS = (
    click.option(
        "--init",
        metavar="MODEL|VECTORS",
        help="Begin with the rows of another model or of vectors, where words are the same.",
    ),
    click.option(
        "--update",
        metavar="MODEL",
        help="Go on with newer data: all words and options of the model stay, new words join, counts add up. --epochs, "
        "--alpha and others of the run may change.",
    ),
    click.option(
        "--freeze",
        is_flag=True,
        help="With --init or --update: rows that begin so do not move; the others are trained, also against them.",
    ),
    click.option("--resume", metavar="DIR", help="Go on with a model folder; beyond its end with more --epochs."),
)


def beginning_options(command):
    """Decorate `command` with the options; they reach it in its ``**given``, from which `beginning_of` takes them."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@dataclass(frozen=True)
class Beginning:
    """config : TrainConfig; resume, init, update : str or None, as given; freeze : bool
    model : Model or None, the run that goes on; former : Model or None, the one that grows
    named : Input or None, the data that the command line names
    """

    config: object
    named: object
    resume: str | None = None
    init: str | None = None
    update: str | None = None
    freeze: bool = False
    model: object = None
    former: object = None

    @property
    def way(self):
        """The flag of a model that goes on (str), or None."""
        return "--resume" if self.resume else "--update" if self.update else None

    def kept(self):
        """Return what a model folder keeps of how its run began, a dict of options; a resumed run has it already."""
        if self.model is not None:
            return self.model.origin.begun
        places = {"init": self.init, "update": self.update}
        found = {name: os.path.abspath(place) for name, place in places.items() if place}
        return found | ({"freeze": True} if self.freeze else {})

    def start(self):
        """Return the `Start` that --init or --update means, or None."""
        if self.former is None and self.init is None:
            return None
        from ..run.start import Start

        if self.former is None:
            return Start.of(self.init, self.freeze)
        return replace(Start.of(self.former, self.freeze), name=self.update)

    def data(self, note, mirror=None):
        """Return the `Input` to train on, as it was named: now, or when the model was trained."""
        if self.former is not None:
            return _read_as_before(self.named, self.former, self.update)
        if self.model is not None:
            return of_as_many_kinds(self.named or _input_of(self.model, self.resume), self.model.config)
        return _built_in(note) if self.named is None else settled(self.named, self.config.encoding, mirror)

    def with_phrases(self, read):
        """Return `read` with the phrases of the model folder, unless others were given now."""
        from ..data.sources.corpus import AUTO
        from ..run.folder import PHRASES

        model = self.model or self.former
        given = () if self.named is None else self.named.phrases
        if model is None or not model.phrases or given not in ((), (AUTO,)):
            return read
        return read.replace(phrases=os.path.join(self.resume or self.update, PHRASES))

    def vocabularies(self, fixed, word2vec, located, quiet):
        """Return the vocabularies to encode with, by name, and whether they are chosen from the data.

        fixed : dict of name -> path, as of `vocabularies.fixed_of`; word2vec : Word2Vec; located : Input
        """
        if self.former is not None:
            word2vec.model = self.former
            with nullcontext() if quiet else byte_progress("reading") as progress:
                vocab, vocab_out = word2vec.grown(located, progress)
            return {"vocab": vocab, "vocab_out": vocab_out}, False
        if self.model is None:
            return vocabularies(fixed), not fixed
        if self.model.origin.own_vocab:  # the options choose it again, and what was encoded is found again
            return {}, True
        return {"vocab": self.model.vocab, "vocab_out": self.model.vocab_out}, False

    def tell(self, trainer, note):
        """Tell what a run begins with."""
        place = " and stay there" if self.freeze else ""
        n_words = len(trainer.model.vocab)
        if self.init is not None:
            note(f"{trainer.started:,} of {n_words:,} words begin with their vectors of {self.init}{place}.")
        if self.former is not None:
            before = len(self.former.vocab)
            note(f"The {before:,} words of {self.update} begin with their vectors{place}; {n_words - before:,} joined.")


def beginning_of(given, config_path, named):
    """Take the options of `beginning_options` out of `given`, a command's options, and return the `Beginning`.

    named : Input or None, the data that the command line names

    Raises
    ------
    click.UsageError
        If they exclude each other or what else was given.
    ConfigError, InputError
        If a model cannot be read or does not go on with these options.
    """
    ways = {name: given.pop(name) for name in ("resume", "init", "update", "freeze")}
    _check_ways(ways)
    chosen = {name: value for name, value in given.items() if value is not None}
    if ways["resume"]:
        free = ("plugin", "epochs", "ray_address")
        _refuse_options(chosen, free, config_path, "--resume takes its options from the model folder")
        model = _model(ways["resume"])
        config = model.config_to_run(ways["resume"], *(given[name] for name in free))
        return Beginning(config, named, **ways, model=model)
    if ways["update"]:
        from ..run.growing import check_growing, config_to_grow

        if named is None or "-" in named.files:
            why = "reads the data twice, and standard input can be read once" if named else "goes on with newer data"
            raise click.UsageError(f"--update {why}; name a file, as with --corpus")
        _refuse_options({}, (), config_path, "--update takes its options from the model folder")
        model = _model(ways["update"])
        check_growing(model, _read_as_before(named, model, ways["update"]))
        return Beginning(config_to_grow(model, ways["update"], chosen), named, **ways, former=model)
    return Beginning(read_config(config_path, given), named, **ways)


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


def _model(folder):
    from ..run.model import Model

    return Model.load(folder)


def _built_in(note):
    from ..data.inputs import Input

    note("No --corpus given: training on the built-in corpus, the documentation of Python's standard library.")
    return Input("corpus", "builtin")


def _input_from(model, folder):
    """Return what a model folder says that it was trained on; InputError if that is no `Input`."""
    from ..data.inputs import Input
    from ..ground.errors import ConfigError, InputError

    try:
        return Input.from_dict(model.origin.input)
    except ConfigError as error:
        place = os.path.join(folder, "corpus.json")
        raise InputError(f"{place}: {error}; name the data again, as with --corpus") from error


def _read_as_before(named, model, folder):
    """Return newer data (Input), read as those that a model folder was trained on unless its options say otherwise."""
    before = _input_from(model, folder) if model.origin.input else named
    read = before.replace(files=named.files, **named.options) if before.kind == named.kind else named
    return of_as_many_kinds(read, model.config)


def _input_of(model, folder):
    """Return what a model folder was trained on, as it was named then."""
    read = _input_from(model, folder) if model.origin.input else None
    if read is None or "-" in read.files:
        raise click.UsageError(f"{folder} was not trained on files; name the same data again, as with --corpus")
    return read
