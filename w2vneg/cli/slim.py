"""`w2vneg slim`: a matrix of items by items in closed form, to recommend without vectors."""

import click

from ..data.inputs import settled
from ..ground.errors import OutputError
from .flags import encode, files_of, input_of, refuse_overwriting, taken
from .options import COUNT, command, mirror_option, option, quiet_option
from .progress import noter
from .results import as_typed, plain_words

_CONFIG = ("min_count", "max_vocab", "encoding", "lowercase")


@command("Learn to recommend items in closed form, without vectors.", takes=_CONFIG, reads=("items",))
@option(
    "--neighbours K",
    "Nearest neighbours on which an item is regressed.",
    type=COUNT,
    default_text="50; 200 if users have many items",
)
@option(
    "--l2 X",
    "L2 penalty of the regression.",
    name="penalty",
    type=click.FloatRange(min=0, min_open=True),
    default_text="30; 300 if users have many items",
)
@option("--workers", "Threads.", type=COUNT, default_text="all cores")
@mirror_option
@option("--save-model DIR", "Model folder, for 'recommend' and 'eval ranking'.", required=True)
@option("--force", "Overwrite an existing model.")
@quiet_option
def slim(save_model, force, neighbours, penalty, workers, mirror, quiet, **given):
    """Learn to recommend items from users and items, or from baskets, in closed form.

    Each item is regressed on its nearest neighbours among the items: SLIM, or EASE with few neighbours. There are no
    vectors; a new user needs only a list of items. How often a user has an item does not count. Best for shops; see
    docs/choosing.md. Users have many items if their mean is above 60, as with films.
    """
    from ..config import TrainConfig
    from ..run.folder import check_place, holds_model
    from ..run.slim import Slim

    values = taken(given, _CONFIG)
    source = settled(input_of(given), values.get("encoding", "utf-8"), mirror)
    config = TrainConfig.from_mapping(values | {"source": source.source}).resolved()
    check_place(save_model)
    if not force and holds_model(save_model):
        raise OutputError(f"{save_model} holds a model; replace it with --force, or name another folder")
    located = source.located(mirror)
    refuse_overwriting("--save-model", save_model, files_of(located))
    data = encode(config, located, quiet)
    note = noter(quiet)
    learnt = Slim(neighbours, penalty, workers=workers, **values).fit(data)
    learnt.model.origin.input = located.absolute().as_dict()
    learnt.model.origin.names = list(getattr(data.report, "names", ()))
    learnt.save(save_model)
    model = learnt.model
    about = f"{model.options['neighbours']} neighbours, l2 {model.options['l2']:g}"
    note(f"{len(model.vocab_out):,} items with {about}: saved in {save_model}.")
    if names := plain_words(model.vocab.words[:1000]):
        note(f"Next: w2vneg recommend {as_typed(save_model)} {names[0]}")
