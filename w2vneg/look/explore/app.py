"""The server of the explorer: for this machine only, behind a token, without external resources.

Words come from untrusted corpora, and any web page may send requests to this machine. So the page inserts words as
text and may only contact its own server; requests need the token, which is in the address; and the Host header must be
that of this machine, which prevents DNS rebinding.
"""

import json
import os
import secrets
import sys
from contextlib import nullcontext, suppress
from http.server import BaseHTTPRequestHandler
from importlib.resources import files
from socketserver import ThreadingTCPServer
from threading import Lock
from urllib.parse import parse_qsl

from ...ground.errors import ConfigError, W2vnegError
from ..figures.interactive import bundle, page_script

HOST = "127.0.0.1"
_PAGES = {"": "page.html", "page.js": "page.js", "page.css": "page.css"}  # requested path -> file of this folder
_SCRIPTS = {"plotly.js": bundle, "figures.js": page_script}  # requested path -> function that returns it
_KINDS = {"html": "text/html", "js": "text/javascript", "css": "text/css"}
_ARGUMENTS = ("q", "a", "b", "items", "of", "row")
_HEADERS = {
    # Only scripts of our server run. Plotly sets inline styles, and compiles code for WebGL.
    "content-security-policy": "default-src 'none'; script-src 'self' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "connect-src 'self'; img-src data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "cache-control": "no-store",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}


class Server(ThreadingTCPServer):
    """Serves `Answers` under ``/token/``, each connection on a thread that Ctrl-C does not wait for.

    port : int, on this machine only, 0 for any free one; ConfigError if it cannot be used
    """

    allow_reuse_address, daemon_threads, request_queue_size = True, True, 128

    def __init__(self, answers, token, port=0):
        self.answers, self.token = answers, token
        self.questions, self.maps = Lock(), Lock()  # scoring functions reuse their arrays; maps take long
        self.reports = Lock()  # errors are printed one at a time, and none after the end
        try:
            super().__init__((HOST, port), _Handler)
        except OSError as error:
            raise ConfigError(f"port {port} cannot be used ({error.strerror}); name another with --port") from None

    @property
    def address(self):
        """Address to open in a browser (str)."""
        return f"http://{HOST}:{self.server_address[1]}/{self.token}/"

    def handle_error(self, request, client_address):
        """Report errors of the server, but not clients that disconnect."""
        if not isinstance(sys.exc_info()[1], OSError):
            with self.reports:
                super().handle_error(request, client_address)

    def leave(self):
        """End this process at once if a question is still being answered; otherwise do nothing.

        On a regular exit, OpenBLAS waits for its threads, forever if a daemon thread was about to use them.
        """
        if self.questions.locked() or self.maps.locked():
            for stream in (sys.stdout, sys.stderr):
                with suppress(OSError, ValueError):
                    stream.flush()
            os._exit(0)


class _Handler(BaseHTTPRequestHandler):
    protocol_version, timeout = "HTTP/1.1", 60
    disable_nagle_algorithm = True  # otherwise answers wait 40 ms for the client's acknowledgement

    def do_GET(self):
        path, _, query = self.path.partition("?")
        given, within, what = path.removeprefix("/").partition("/")
        if self.headers.get("host", "").partition(":")[0].lower() not in (HOST, "localhost"):
            self._send(400, "text/plain", "Invalid host header\n")
        elif not secrets.compare_digest(given.encode(), self.server.token.encode()):
            self._send(403, "text/plain", "Wrong address; w2vneg explore prints the right one.\n")
        elif not within:
            self._send(301, "text/plain", "", location=f"/{given}/")
        elif what in _PAGES:
            text = files(__package__).joinpath(_PAGES[what]).read_text("utf-8")
            self._send(200, _KINDS[_PAGES[what].rpartition(".")[2]], text)
        elif what in _SCRIPTS:
            self._send(200, "text/javascript", _SCRIPTS[what]())
        else:
            self._send(200, "application/json", self._answer(what.removeprefix("api/"), query))

    do_HEAD = do_GET  # `_send` omits the body

    def _answer(self, kind, query):
        given = {name: value for name, value in parse_qsl(query, keep_blank_values=True) if name in _ARGUMENTS}
        server = self.server
        with {"about": nullcontext(), "map": server.maps}.get(kind, server.questions):
            try:
                found = server.answers.answer(kind, **given)
            except W2vnegError as error:  # a half-typed word is unknown: that is an answer, too
                found = {"error": str(error)}
        return found if isinstance(found, str) else json.dumps(found)

    def _send(self, status, kind, text, **more):
        body = text.encode()
        self.send_response_only(status)
        headers = {"content-type": kind + "; charset=utf-8" * kind.startswith("text/"), "content-length": len(body)}
        for name, value in (headers | _HEADERS | more).items():
            self.send_header(name, str(value))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *about):
        """Do not log requests."""
