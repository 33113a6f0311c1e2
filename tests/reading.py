"""Files of each source, encoded with the options of the source and of the vocabulary in one call; model folders."""

import json
from functools import partial
from pathlib import Path

from w2vneg.data.inputs import Input, encode_input
from w2vneg.data.sources import options_of


def encode(kind, files, **options):
    own = {name: options.pop(name) for name in list(options) if name in options_of(kind)}
    if "rectangular" in options_of(kind):
        own.setdefault("rectangular", False)
    return encode_input(Input(kind, files, **own), **options)


encode_baskets = partial(encode, "baskets", plain=True)
encode_cooccurrence = partial(encode, "cooccurrence")
encode_edges = partial(encode, "edges")
encode_pairs = partial(encode, "pairs")
encode_ratings = partial(encode, "ratings")


def change_options(folder, **changes):
    """Give options of the run in a model folder's config.json other values; return them all (dict)."""
    path = Path(folder, "config.json")
    values = json.loads(path.read_text("utf-8"))
    values["run"] |= changes
    path.write_text(json.dumps(values), "utf-8")
    return values
