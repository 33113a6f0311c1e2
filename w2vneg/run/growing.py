"""Going on with newer data: a model's words stay, others join them, and its objective remains."""

import dataclasses

from ..config.ranks import RanksOptions
from ..config.run import RunOptions
from ..ground.errors import ConfigError
from ..ground.option import flag_of

_FIXED = {"dim", "source", "rectangular"}
_OF_RANKS = {item.name for item in dataclasses.fields(RanksOptions)}
MAY_CHANGE = frozenset(item.name for item in dataclasses.fields(RunOptions)) - _FIXED | {"plugin"} | _OF_RANKS
"""Options that a model may go on with newly set: those of the run, but for what its rows are."""


def config_to_grow(model, folder, changes):
    """Return the configuration (TrainConfig) with which a model goes on with newer data.

    model : Model; folder : str, where it was read; changes : dict of option -> value, those that are given anew

    Raises
    ------
    ConfigError
        If one of them would make the objective or the size another, or as `Model.config_to_run`.
    """
    config = model.config_to_run(folder, changes.get("plugin"), ray_address=changes.get("ray_address"))
    config = dataclasses.replace(config, exchange_every=None)  # chosen by other data
    known = {item.name: item for item in dataclasses.fields(config)}
    for name, value in changes.items():
        if name in known and name not in MAY_CHANGE:
            raise ConfigError(
                f"{folder} goes on with its own objective and size; leave {flag_of(known[name], value)} out, or begin "
                f"a run of your own with its rows: --init {folder}"
            )
    if "alpha" in changes:  # its floor follows, unless that is given too
        changes = {"min_alpha": None} | changes
    return dataclasses.replace(config, **{name: value for name, value in changes.items() if name != "plugin"})


def check_growing(model, data):
    """Raise ConfigError unless a model and newer data are of one kind; data : Input or TrainConfig, of the newer."""
    if (data.source, bool(data.rectangular)) != (model.config.source, model.config.rectangular):
        raise ConfigError(
            f"the model was trained on {model.config.traversal.data}, so its vocabulary grows by such data only; give "
            "some, with the same --rectangular"
        )
