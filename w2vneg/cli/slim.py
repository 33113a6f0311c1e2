"""`w2vneg slim`: items by items in closed form, for lists without vectors."""

from functools import partial

import click

from . import progress
from .inputs import encode, input_of, input_options, refuse_overwriting, tell_of_reading
from .options import GroupedCommand, config_options, mirror_option, option, quiet_option

_CONFIG = ("min_count", "max_vocab", "encoding", "lowercase")


@click.command(cls=GroupedCommand, short_help="Learn lists of items in closed form, without vectors.")
@input_options
@option(
    "--neighbours",
    type=click.IntRange(min=1),
    metavar="K",
    section="model",
    default_text="50; 200 for users of many items",
    help="How many items say something of an item.",
)
@option(
    "--l2",
    "penalty",
    type=click.FloatRange(min=0, min_open=True),
    metavar="X",
    section="model",
    default_text="30; 300 for users of many items",
    help="L2 penalty of the regression.",
)
@option("--workers", type=click.IntRange(min=1), section="model", default_text="all cores", help="Threads.")
@mirror_option
@option(
    "--save-model",
    required=True,
    metavar="DIR",
    section="output",
    help="Model folder, for 'recommend' and 'eval ranking'.",
)
@quiet_option
@partial(config_options, takes=lambda item: item.name in _CONFIG)
def slim(save_model, neighbours, penalty, workers, mirror, quiet, **given):
    """Learn lists of items from users and items, or from baskets, in closed form.

    Each item is regressed on its nearest neighbours among the items: SLIM, or EASE with few neighbours. There are no
    vectors; new users need nothing but their items. Best for shops; see docs/choosing.md. Many items are more than 60 a
    user, on average, as of films.
    """
    from ..config import TrainConfig
    from ..data.inputs import settled
    from ..data.readers.sources import find_files
    from ..run.folder import check_place
    from ..run.slim import Slim

    chosen = {name: given.pop(name) for name in _CONFIG}
    source = input_of(given)
    values = {name: value for name, value in chosen.items() if value is not None}
    source = settled(source, values.get("encoding", "utf-8"), mirror)
    config = TrainConfig.from_mapping(values | {"source": source.source}).resolved()
    check_place(save_model)
    located = source.located(mirror)
    refuse_overwriting("--save-model", save_model, find_files([*located.files, *located.names]))
    data = encode(config, located, quiet)
    tell_of_reading(data.report, quiet)
    note = progress.noter(quiet)
    learnt = Slim(neighbours, penalty, workers=workers, lowercase=config.lowercase).fit(data)
    learnt.model.origin.input = located.absolute().as_dict()
    learnt.save(save_model)
    model = learnt.model
    about = f"{model.options['neighbours']} neighbours, l2 {model.options['l2']:g}"
    note(f"{len(model.vocab_out):,} items with {about}: kept in {save_model}.")
    note(f"Next: w2vneg recommend {save_model} {model.vocab.words[0]}")
