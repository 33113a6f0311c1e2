"""Numba's disk cache of compiled code, made safe against damage.

Numba trusts its files: an empty index ends every command, and machine code with one wrong bit runs. Here each file ends
with a digest of all that stands before it, and each function is stored beside the signature that it is for, because two
processes that save at one time may choose the same name. What is not whole, cannot be read or is for another signature
counts as missing: the function is compiled again, and what was there is replaced. Nor does it matter if that fails.
"""

import hashlib
from contextlib import contextmanager, suppress
from io import BytesIO

from numba.core import config
from numba.core.caching import (
    CompileResultCacheImpl,
    FunctionCache,
    IndexDataCacheFile,
    NullCache,
    UserProvidedCacheLocator,
)

_DIGEST = hashlib.sha256
_SIZE = _DIGEST().digest_size


def keep_code(dispatcher, folder):
    """Let a dispatcher find its compiled code below a folder, and leave it there.

    Parameters
    ----------
    dispatcher : numba.core.registry.CPUDispatcher
    folder : Path or None
        Without one, or where it cannot be made, nothing is kept.
    """
    dispatcher._cache = NullCache()
    if folder is None:
        return
    before, config.CACHE_DIR = config.CACHE_DIR, str(folder)
    try:
        with suppress(RuntimeError):  # a file is in the way, or there is no permission
            dispatcher._cache = _Cache(dispatcher.py_func)
    finally:
        config.CACHE_DIR = before


class _Place(CompileResultCacheImpl):
    _locator_classes = (UserProvidedCacheLocator,)  # not beside the sources, where code would outlive its helpers


class _Cache(FunctionCache):
    _impl_class = _Place

    def __init__(self, py_func):
        super().__init__(py_func)
        place = self._impl.locator
        self._cache_file = _Files(place.get_cache_path(), self._impl.filename_base, place.get_source_stamp())

    def load_overload(self, sig, target_context):
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # of whatever kind: compiling does without
            return None

    def save_overload(self, sig, data):
        with suppress(OSError):  # a full disk: this process has its code, and the next one compiles again
            super().save_overload(sig, data)


class _Files(IndexDataCacheFile):
    """An index and data files, each with its digest; each datum with its key."""

    def save(self, key, data):
        super().save(key, (key, data))

    def load(self, key):
        found = super().load(key)
        return found[1] if found is not None and found[0] == key else None

    def _load_index(self):
        try:
            _check(self._index_path)
            return super()._load_index()
        except Exception:  # missing, damaged, or with a class that is no longer there
            return {}

    def _load_data(self, name):
        _check(self._data_path(name))
        return super()._load_data(name)

    @contextmanager
    def _open_for_write(self, path):
        with super()._open_for_write(path) as file:
            content = BytesIO()
            yield content
            file.write(content.getvalue() + _DIGEST(content.getvalue()).digest())


def _check(path):
    """Raise OSError unless a file ends with the digest of what stands before it."""
    with open(path, "rb") as file:
        content = file.read()
    if _DIGEST(content[:-_SIZE]).digest() != content[-_SIZE:]:
        raise OSError(f"{path} is damaged")
