"""Options for held-out pairs on which a run is evaluated while it trains; train and tune share them."""

import dataclasses
import os
from contextlib import suppress
from dataclasses import dataclass

import click

from ..ground.errors import InputError, W2vnegError
from ..ground.files.bounded import check_reachable
from .flags import score_option, vocabulary_options
from .options import COUNT, mirror_option, option, together
from .progress import note

_valid_options = together(  # in a command's ``**given``, from which `check_valid` takes them
    option("--valid FILE", "Evaluate on held-out pairs, keep the best state. The file has item, target and weight."),
    option(
        "--metric NAME",
        "Metric to choose by. With --valid mpr, ndcg@10, nll or another of docs/ranking.md; without it a word "
        "set, such as men-dev or google-dev.",
        multiple=True,
        default_text="mpr",
    ),
    option("--patience N", "Stop after N evaluations without improvement.", type=COUNT, default_text="run all epochs"),
    option(
        "--eval-every EPOCHS", "Epochs between evaluations, such as 0.5.", type=float, common=False, default_text="1"
    ),
    option(
        "--valid-exclude-known FILE",
        "Leave these pairs out of the ranking; for splits by pair, the training pairs.",
        common=False,
    ),
    score_option,
)
run_options = together(vocabulary_options, mirror_option, _valid_options)  # of commands that train
HELD_OUT = ("valid", "metric", "patience", "eval_every", "valid_exclude_known", "score")


@dataclass(frozen=True)
class HeldOutFlags:
    """Values of the options; `chosen` are those for `Validation`."""

    valid: str | None
    known: str | None
    chosen: dict

    @property
    def there(self):
        """Whether there is something to evaluate on: held-out pairs or a word set."""
        return self.valid is not None or self.by_a_set

    @property
    def by_a_set(self):
        return "metric" in self.chosen and is_set(self.chosen["metric"])  # nothing heavy is imported for a run without


def is_set(metric):
    from ..run.validation import set_names

    return metric.strip().lower() in set_names()


def check_each(given):
    """Take the options out of `given`, with several metrics; return a `HeldOutFlags` for each (list)."""
    own = {name: given.pop(name) for name in HELD_OUT}
    metrics = list(dict.fromkeys(own["metric"]))
    sets = list(filter(is_set, metrics))
    of_pairs = {"valid": None, "valid_exclude_known": None, "score": "raw"}
    bare = own | of_pairs if len(sets) < len(metrics) else own  # options of pairs are not for sets beside them
    return [check_valid((bare if one in sets else own) | {"metric": (one,)}) for one in metrics] or [check_valid(own)]


def check_valid(given, resume=None):
    """Take the options out of `given` and check them before anything is read; return a `HeldOutFlags`.

    With --resume, --valid and --valid-exclude-known may say where the files have moved; no other option is allowed.
    """
    own = {name: given.pop(name) for name in HELD_OUT}
    valid, known, metrics = own["valid"], own["valid_exclude_known"], own["metric"]
    if len(metrics) > 1:
        raise click.UsageError("a run takes one --metric; 'w2vneg compare' takes several")
    chosen = {"metric": metrics[0] if metrics else None, "patience": own["patience"], "every": own["eval_every"]}
    chosen["score"] = None if own["score"] == "raw" else own["score"]
    chosen = {name: value for name, value in chosen.items() if value is not None}
    flags = ["--eval-every" if name == "every" else f"--{name}" for name in chosen]
    if resume and chosen:
        raise click.UsageError(f"--resume takes its options from the model folder; leave {flags[0]} out")
    found = HeldOutFlags(valid, known, chosen)
    if found.by_a_set and (valid or known):
        flag = "--valid" if valid else "--valid-exclude-known"
        raise click.UsageError(f"{chosen['metric']} is a word set, not a metric of held-out pairs; leave {flag} out")
    if found.by_a_set and "score" in chosen:
        raise click.UsageError(f"--score ranks held-out pairs, and {chosen['metric']} is a word set; leave it out")
    if found.there or chosen or known is not None:
        from ..run.validation import check_options

        check_options(**chosen)
    if not resume and not found.there and (chosen or known):
        flag = flags[0] if chosen else "--valid-exclude-known"
        raise click.UsageError(f"{flag} needs held-out pairs; name them with --valid")
    for path in (valid, known):
        if path is not None and not os.path.exists(path):
            check_reachable(path)
            raise InputError(f"{path}: no such file; name a file of held-out pairs, as 'w2vneg split' writes")
    return found


def of_resumed(flags, model):
    """Return `flags`, or those of a resumed model's run; `flags` may say where its files have moved."""
    best = None if model is None else model.best
    if best is None:
        if model is not None and (flags.valid or flags.known):
            raise click.UsageError("the run to resume was not evaluated on held-out pairs; leave --valid out")
        return flags
    settings, files = best.settings, best.settings["files"]
    chosen = {name: settings[name] for name in ("metric", "patience", "every", "score") if name in settings}
    found = HeldOutFlags(flags.valid or files.get("valid"), flags.known or files.get("known"), chosen)
    if not found.by_a_set and (found.valid is None or (found.known is None and settings["known"] is not None)):
        raise click.UsageError("the run to resume was evaluated on pairs that are not in a file; resume it in Python")
    return found


def validation_of(flags, run, encoded, model, note, mirror=None, chooses=True):
    """Return the `Validation` of a `Run`, or None; chooses : bool, whether something is chosen by it."""
    if not flags.there:
        return None
    from ..run.validation import SetValidation, Validate

    valid, known, chosen = flags.valid, flags.known, flags.chosen
    if flags.by_a_set:
        validation = SetValidation(encoded, mirror=mirror, **chosen)
        if chooses and model is None and not validation.metric.for_choices:
            why = "Choosing by it makes its figures too good, so do not report them; choose by men-dev or google-dev"
            note(f"Warning: {validation.metric.name} is a test set. {why}.")
        return validation
    if model is None:
        remedy = "evaluate after training, with eval ranking --fold-in {}"
        known_aside = known or encoded.vocab_out is not encoded.vocab
        check_split(valid, encoded.vocab, run.given.lowercase, known_aside, "--valid-exclude-known", remedy)
    validation = Validate(valid, exclude_known=known, **chosen).of(encoded, run.given.lowercase, run.own_input)
    held = validation.held
    unknown = f", {held.n_unknown:,} more have an item unknown to the training data" if held.n_unknown else ""
    read = "".join(f"; {part}" for part in held.columns)
    note(f"{valid}: {len(held.centres):,} held-out pairs to evaluate the model on{unknown}{read}.")
    return validation


def warn_of_raw(validation, config, combinations, encoded, note):
    """Warn if objectives, `combinations` as of `tune`, are compared by raw dot products that settle differently."""
    from ..config.table import table
    from ..objectives.law import are_known, settle_alike
    from ..run.validation import Validation, set_names
    from ..vectors.evaluation.scores import share_of

    if not isinstance(validation, Validation) or validation.metric.name in set_names() or share_of(validation.score):
        return
    # options that affect where scores settle: those of the objective and of samplers
    facts = {name: item.metadata for name, item in table().items()}
    moving = {name for name in facts if facts[name]["group"] == "objective" or "sampler" in facts[name]["readers"]}
    configs = {}  # by these options, which are few even in a large search
    for options in combinations.corners():
        key = tuple(sorted((name, repr(value)) for name, value in options.items() if name in moving))
        with suppress(W2vnegError):  # its row gives the reason
            configs[key] = configs.get(key) or dataclasses.replace(config, **options).resolved()
    configs, counts = list(configs.values()), encoded.vocab_out.counts
    if len(configs) > 1 and not settle_alike(configs, counts):
        remedy = "; add --score corrected" * are_known(configs, counts)
        note(f"Warning: these objectives treat popular items differently, so raw scores are not comparable{remedy}.")


def check_split(held, vocab, lowercase, known, flag, remedy):
    """Raise UsageError if training saw none of the users of a split's pairs; warn if training pairs compete with them.

    vocab : Vocabulary, of the users that training saw; lowercase : bool, whether their names were lower-cased
    known : what `flag` leaves out; remedy : str, with {} for the file of the other items of those users
    """
    from ..data.encoded.pairs import count_centres
    from ..data.splitfiles import known_beside, shown_beside

    if (shown := shown_beside(held)) is not None:
        users = count_centres(held, lowercase=lowercase).words
        if (vocab.words.find_all(users) < 0).all():
            raise click.UsageError(f"{held} is of users that training did not see; {remedy.format(shown)}")
    if not known and (train := known_beside(held)) is not None:
        remedy = f"leave them out with {flag} {train}"
        note(f"Warning: pairs of {train} compete with those of {held} but are never right; {remedy}.")


def warn_of_trained(files, held):
    """Warn if the files of a model's data include a file of held-out pairs, or those that it was split from."""
    from ..data.splitfiles import trained_on

    if (file := trained_on(held, files)) is not None:
        note(f"Warning: the model was trained on {file}, which has these pairs too; that says nothing about new ones.")
