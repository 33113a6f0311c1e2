"""Answers from the network that keep a pace: a server that drips is given up, be it in its headers or in the file.

A timeout alone holds for each piece of an answer, so that a byte a second would go on for ever.
"""

import io
from http.client import HTTPResponse
from time import monotonic
from urllib.request import AbstractHTTPHandler, HTTPHandler, HTTPSHandler, build_opener

_SLOWEST = 1000  # bytes a second
_OVER = 60  # seconds of waiting over which that is measured


def paced_open(request, timeout):
    """Open an address as `urllib.request.urlopen` does.

    Reading the answer raises TimeoutError, an OSError, once fewer than `_SLOWEST` bytes a second have come for `_OVER`
    seconds; opening does so where the headers are as slow.
    """
    return build_opener(_Plain, _Secure).open(request, timeout=timeout)


class _Paced(AbstractHTTPHandler):
    """Has connections read their answers through a `PacedStream`."""

    def do_open(self, http_class, req, **http_conn_args):
        def paced(host, **arguments):
            connection = http_class(host, **arguments)
            connection.response_class = _Response
            return connection

        return super().do_open(paced, req, **http_conn_args)


class _Plain(_Paced, HTTPHandler):
    pass


class _Secure(_Paced, HTTPSHandler):
    pass


class _Response(HTTPResponse):
    def __init__(self, socket, *arguments, **options):
        super().__init__(socket, *arguments, **options)
        self.fp = io.BufferedReader(PacedStream(self.fp.detach()))


class PacedStream(io.RawIOBase):
    """The bytes of a raw stream while they keep the pace.

    Parameters
    ----------
    stream : io.RawIOBase
        Closed with this one.
    clock : callable, optional
        Seconds, from anywhere.
    """

    def __init__(self, stream, clock=None):
        self._stream = stream
        self._clock = clock or monotonic
        self._bytes = self._waited = 0

    def readable(self):
        return True

    def readinto(self, buffer):
        begun = self._clock()
        size = self._stream.readinto(buffer)
        self._waited += self._clock() - begun
        self._bytes += size or 0
        if self._waited >= _OVER:
            if self._bytes < _SLOWEST * self._waited:
                raise TimeoutError(f"it came at less than {_SLOWEST:,} bytes a second")
            self._bytes = self._waited = 0
        return size

    def close(self):
        self._stream.close()
        super().close()
