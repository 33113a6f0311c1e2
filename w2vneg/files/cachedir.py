"""Where downloaded, encoded and compiled things are kept: ``W2VNEG_CACHE``, or the platform's own cache folder."""

import os
from pathlib import Path


def cache_dir(*parts):
    """Return the folder ``<cache>/parts…`` as a Path; it is not created.

    ``W2VNEG_CACHE`` names another folder than the platform's (``~/.cache/w2vneg`` on Linux).
    """
    root = os.environ.get("W2VNEG_CACHE")
    if not root:
        from platformdirs import user_cache_dir

        root = user_cache_dir("w2vneg", appauthor=False)
    return Path(root).expanduser().joinpath(*parts)
