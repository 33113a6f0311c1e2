"""Phrases that a run finds in its own text: looked for once, then kept in the cache."""

from contextlib import suppress

from ...ground.errors import ConfigError, InputError, OutputError
from ...ground.files.cachedir import cache_dir
from ..phrases import find_phrases, read_phrases, write_phrases
from ..readers.frames import InMemoryTable
from ..readers.sources import file_stamp, find_files
from .cache import Cache
from .count import Settings

_VERSION = 1  # of what `find_phrases` finds by its defaults


def phrases_in(source, *, progress=None, **reading):
    """Return what `data.phrases.find_phrases` finds by its defaults, from the cache if it is there.

    Parameters
    ----------
    source : path, list of paths or of `InMemoryTable`
    progress : as for `encode_corpus`
    **reading
        encoding, lowercase, reader, strip, table: as for `encode_corpus`.

    Returns
    -------
    list of Phrase

    Raises
    ------
    ConfigError
        If the text can be read only once.
    InputError, OutputError
        As `encode_corpus`.
    """
    files = find_files(source)
    stamps = list(map(file_stamp, files))
    if all(isinstance(file, InMemoryTable) for file in files):
        return find_phrases(files, progress=progress, **reading)
    if None in stamps:
        raise ConfigError(
            "--phrases auto reads the text twice, and standard input and pipes can be read once; save the text to a "
            "file, or name a file of 'w2vneg phrases'"
        )
    settings = Settings.checked(1, None, None, phrases=(), **reading)
    place = cache_dir("phrases") / f"{_VERSION}-{Cache(files, stamps, settings).key(progress)}.tsv"
    if place.exists():
        with suppress(InputError):  # a damaged one is found and written again
            return read_phrases(place)
    found = find_phrases(files, progress=progress, **reading)
    with suppress(OSError, OutputError):  # costs the next run another look, no more
        place.parent.mkdir(parents=True, exist_ok=True)
        write_phrases(place, found)
    return found
