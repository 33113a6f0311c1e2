"""Vectors by name, as gensim's catalog has them: glove-wiki-gigaword-100 and the like, fetched once and kept.

gensim's own downloader runs code that comes with the file. Here the file is checked against the catalog and read.
"""

import json
import os
from pathlib import Path

from ...ground.errors import DataError
from ...ground.files.caches import cache_dir
from .download import Unreachable, answer_of, download
from .manifests import Form

NAMES = (
    "conceptnet-numberbatch-17-06-300",
    "fasttext-wiki-news-subwords-300",
    *(f"glove-twitter-{dim}" for dim in (25, 50, 100, 200)),
    *(f"glove-wiki-gigaword-{dim}" for dim in (50, 100, 200, 300)),
    "word2vec-google-news-300",
    "word2vec-ruscorpora-300",
)
_CATALOG = "https://raw.githubusercontent.com/RaRe-Technologies/gensim-data/master/list.json"
_RELEASES = "https://github.com/RaRe-Technologies/gensim-data/releases/download"
_LARGEST_CATALOG = 1 << 22  # bytes


def located(path):
    """Return the Path of vectors: where a file or folder of that name is, there; else those of `NAMES` are fetched.

    They are looked for where gensim keeps its own (``GENSIM_DATA_DIR``, ``~/gensim-data``), in the cache, in the folder
    ``gensim-data`` of a mirror (``W2VNEG_MIRROR``, laid out as gensim's), and at the address of gensim's catalog.

    Raises
    ------
    DataError
        If they cannot be had, or are not what the catalog says.
    """
    name = os.fspath(path)
    if name not in NAMES or os.path.exists(name):
        return Path(path)
    mirror = os.path.expanduser(os.environ.get("W2VNEG_MIRROR") or "")
    web = mirror.lower().startswith(("http://", "https://"))
    kept = cache_dir("vectors", f"{name}.gz")
    own = Path(os.path.expanduser(os.environ.get("GENSIM_DATA_DIR") or "~/gensim-data"), name, f"{name}.gz")
    beside = [Path(mirror, "gensim-data", name, f"{name}.gz")] if mirror and not web else []
    for place in (own, kept, *beside):
        if place.is_file():
            return place
    tried = []  # of str, what was in the way
    places = [(_CATALOG, f"{_RELEASES}/{name}/{{}}")]
    if web:
        top = f"{mirror.rstrip('/')}/gensim-data"
        places.insert(0, (f"{top}/list.json", f"{top}/{name}/{{}}"))
    for catalog, address in places:
        try:
            _fetch(name, catalog, address, kept)
            return kept
        except Unreachable as error:
            tried.append(str(error))
    raise DataError(
        f"{name} is not on this machine, and {' and '.join(tried)}; put the file at {kept}, or name a folder or an "
        f"address that has gensim-data/{name}/{name}.gz with W2VNEG_MIRROR"
    )


def _fetch(name, catalog, address, kept):
    from tqdm import tqdm

    facts = _facts(catalog, name)
    if facts.get("parts", 1) != 1:
        raise DataError(f"{catalog} has {name} in {facts['parts']} parts; download and join them, and name that file")
    form = Form(f"{name}.gz", 0, "", facts["checksum"])
    with tqdm(desc=f"fetching {name}", unit="B", unit_scale=True, disable=None) as bar:

        def progress(done, total):
            bar.total = total
            bar.update(done - bar.n)

        download(address.format(facts["file_name"]), form, kept, progress)


def _facts(catalog, name):
    """Return what a catalog tells about vectors (dict); DataError if it has nothing of use."""
    with answer_of(catalog) as answer:
        content = answer.read(_LARGEST_CATALOG)
    try:
        facts = json.loads(content)["models"][name]
        usable = all(isinstance(facts[key], str) for key in ("checksum", "file_name"))
    except (ValueError, KeyError, TypeError):
        usable = False
    if not usable or "/" in facts["file_name"]:
        raise DataError(f"{catalog} does not tell the file and the checksum of {name}; download the file by hand")
    return facts
