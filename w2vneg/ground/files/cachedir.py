"""Where downloaded, encoded and compiled things are kept: ``W2VNEG_CACHE``, or the platform's own cache folder."""

import os
from pathlib import Path

from ..errors import ConfigError


def cache_dir(*parts):
    """Return the folder ``<cache>/parts…`` as a Path; it is not created.

    ``W2VNEG_CACHE`` names another folder than the platform's (``~/.cache/w2vneg`` on Linux).
    """
    root = os.environ.get("W2VNEG_CACHE")
    if not root:
        from platformdirs import user_cache_dir

        root = user_cache_dir("w2vneg", appauthor=False)
    return at_home(root, "W2VNEG_CACHE").joinpath(*parts)


def at_home(path, variable):
    """Return a Path with ``~`` and ``~user`` put in full.

    ConfigError, naming the variable of the environment that sets it, where there is no such home.
    """
    try:
        return Path(path).expanduser()
    except RuntimeError:
        raise ConfigError(f"{path}: no such home folder; set {variable} to the full path of a folder") from None
