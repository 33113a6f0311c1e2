"""Options as keywords of a class, in scikit-learn's manner: seen in its signature, read and set by name, cloned.

A class that has them keeps its options as ``config``, a TrainConfig; the table of options says which there are.
"""

from __future__ import annotations

import dataclasses
import inspect
import os
from typing import TYPE_CHECKING, Any

from ..config import TrainConfig
from ..config.synonyms import from_gensim
from ..config.table import options_of_users, table
from ..ground.errors import ConfigError
from ..objectives.plugins import absolute_plugins, load_plugins

if TYPE_CHECKING:
    from typing import TypeVar

    Self = TypeVar("Self", bound="Estimator")


def with_options(config, options):
    """Return a configuration with other options, after loading the plug-in that they name.

    Parameters
    ----------
    config : TrainConfig or None
        None for one of defaults.
    options : dict of str -> value
        gensim's names are understood, too (`config.synonyms`).

    Raises
    ------
    ConfigError
        For an option that is unknown or out of range.
    """
    if isinstance(options.get("plugin"), os.PathLike):
        options = options | {"plugin": os.fspath(options["plugin"])}
    load_plugins(options.get("plugin"))  # some of the others may be its own
    options = from_gensim(options)
    if config is None:
        config = TrainConfig.from_mapping(options, "Word2Vec")
    elif options:
        config = dataclasses.replace(config, **options)
    plugin = absolute_plugins(config.plugin)
    return config if plugin == config.plugin else dataclasses.replace(config, plugin=plugin)


class _Signature:
    """The signature of a class as it is when somebody asks, with the options of all plugs registered by then."""

    def __get__(self, instance, owner):
        options = [
            inspect.Parameter(item.name, inspect.Parameter.KEYWORD_ONLY, default=item.default, annotation=item.type)
            for item in options_of_users()
        ]
        config = inspect.Parameter("config", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None)
        return inspect.Signature([config, *options])


class Estimator:
    """Holds ``config`` and shows it as scikit-learn's estimators show their parameters."""

    __signature__ = _Signature()

    config: TrainConfig

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return all options by name; None where one is left open. `deep` is scikit-learn's and changes nothing."""
        return {item.name: self.config.get(item.name) for item in options_of_users()}

    def set_params(self: Self, **params: Any) -> Self:
        """Change options, for the next `fit`; ConfigError for one that is unknown or out of range."""
        settled = params.keys() & table().keys() - {item.name for item in options_of_users()}
        if settled:
            raise ConfigError(f"{min(settled)} is no option to set; it follows from the others and from what is read")
        self.config = with_options(self.config, params)
        return self

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags; it alone asks for them."""
        from sklearn.utils import InputTags, Tags, TargetTags

        tags = InputTags(one_d_array=True, two_d_array=False, string=True)
        return Tags(estimator_type=None, target_tags=TargetTags(required=False), input_tags=tags)

    def __repr__(self):
        values = self.config.as_dict()
        given = {item.name: values[item.name] for item in options_of_users() if values[item.name] != item.default}
        shown = [f"{name}={value!r}" for name, value in given.items()]
        return f"{type(self).__name__}({', '.join(shown)})"
