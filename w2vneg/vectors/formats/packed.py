"""Packed files of vectors: unpacked beside the temporary files of the system, and gone when they have been read."""

import tempfile
from contextlib import contextmanager
from pathlib import Path

from ...data.readers.sources import ByteStream
from ...ground.errors import InputError, W2vnegError

MAGIC = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd")  # gzip, bzip2, xz, zstd

_MOST, _LITTLE = (
    100,
    1 << 26,
)  # how many times smaller packing makes vectors, at most; bytes that may be unpacked anyway


@contextmanager
def unpacked(path):
    """Yield the path of what `path` holds, for as long as the block lasts; errors in the block name `path`."""
    with tempfile.TemporaryDirectory(prefix="w2vneg-") as folder:
        plain = Path(folder, path.stem or path.name)
        try:
            with ByteStream(str(path)) as source, open(plain, "wb") as stream:
                most = max(_LITTLE, _MOST * path.stat().st_size)
                for piece in source.pieces():
                    stream.write(piece)
                    if stream.tell() > most:
                        raise InputError(f"{path}: unpacks to more than {_MOST} times its size, as no vectors do")
        except OSError as error:
            raise InputError(
                f"{path}: cannot be unpacked into {tempfile.gettempdir()} ({error.strerror or error}); make room "
                "there, or unpack it elsewhere"
            ) from error
        try:
            yield plain
        except W2vnegError as error:
            raise type(error)(str(error).replace(str(plain), str(path))) from error
