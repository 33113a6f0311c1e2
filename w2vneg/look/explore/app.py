"""The server of the explorer: for this machine alone, behind a token, and with nothing from anywhere else.

Words come from strangers' corpora, and a page of a stranger's may send requests to this machine. So the page writes
words as text and may load and ask nothing but its own server; requests need the token, which is in the address; and the
Host header must be this machine's, as otherwise a name that a stranger lets point here (DNS rebinding) would do.
"""

import asyncio
import json
import logging
import os
import secrets
import socket
import sys
import threading
from contextlib import suppress
from importlib.resources import files
from time import monotonic

from ...ground.errors import ConfigError, W2vnegError, require
from ..figures.interactive import bundle, page_script

HOST = "127.0.0.1"
_PAGES = {"": "page.html", "page.js": "page.js", "page.css": "page.css"}  # what is asked for -> file beside this one
_SCRIPTS = {"plotly.js": bundle, "figures.js": page_script}  # what is asked for -> function that returns it
_KINDS = {"html": "text/html", "js": "text/javascript", "css": "text/css"}
_ASKED = ("q", "a", "b", "k", "items", "of", "row")
_HEADERS = {
    # Scripts are our server's alone. Plotly styles its elements itself, and compiles what feeds WebGL.
    "content-security-policy": "default-src 'none'; script-src 'self' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "connect-src 'self'; img-src data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "cache-control": "no-store",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}
_PURPOSE = "explore", "w2vneg explore"
_THREAD = "w2vneg explore"
_FILES = 4096  # open ones, of which each connection is one; some systems allow 256 unless asked
_TOGETHER = 0.02  # seconds that a thread answers questions for, before it tells what it has


class Desk:
    """Answers questions outside the server's own thread: one at a time, as scoring functions write into arrays of their
    own, and those that wait together, as threads take long to hand over. Equal ones are answered once.

    The thread is a daemon: Ctrl-C waits for no answer. See `leave`, too.

    answer : function of the parts of a question, which can be hashed
    """

    def __init__(self, answer):
        self._answer, self._busy = answer, False
        self._waiting = {}  # question -> Future of its answer

    async def ask(self, *question):
        """Return the answer, or raise what the function raises."""
        loop = asyncio.get_running_loop()
        told = self._waiting.get(question) or self._waiting.setdefault(question, loop.create_future())
        if not self._busy:
            self._begin(loop)
        return await asyncio.shield(told)  # who asks may be cut off, while others wait for the same

    def _begin(self, loop):
        self._busy = bool(self._waiting)
        if self._busy:
            work = {"target": self._work, "args": (loop, list(self._waiting))}
            threading.Thread(**work, name=_THREAD, daemon=True).start()

    def _work(self, loop, questions):
        began, found = monotonic(), []
        for question in questions:
            try:
                found.append((question, self._answer(*question), None))
            except Exception as error:
                found.append((question, None, error))
            if monotonic() - began > _TOGETHER:
                break
        with suppress(RuntimeError):  # the loop has ended meanwhile
            loop.call_soon_threadsafe(self._tell, loop, found)

    def _tell(self, loop, found):
        for question, answer, error in found:
            told = self._waiting.pop(question)
            told.set_result(answer) if error is None else told.set_exception(error)
        self._begin(loop)


def make_app(answers, token):
    """Return the ASGI application of `Answers` under ``/token/`` (str); MissingExtraError without Starlette."""
    applications = require("starlette.applications", *_PURPOSE)
    responses = require("starlette.responses", *_PURPOSE)
    routing = require("starlette.routing", *_PURPOSE)
    hosts = require("starlette.middleware.trustedhost", *_PURPOSE).TrustedHostMiddleware
    middleware = require("starlette.middleware", *_PURPOSE).Middleware
    in_thread = require("starlette.concurrency", *_PURPOSE).run_in_threadpool
    pages = {name: files(__package__).joinpath(file).read_text("utf-8") for name, file in _PAGES.items()}

    def told(kind, asked):
        try:
            found = answers.answer(kind, **dict(asked))
        except W2vnegError as error:  # half a word is unknown, too: that is an answer
            found = {"error": str(error)}
        return found if isinstance(found, str) else json.dumps(found)

    questions, maps = Desk(told), Desk(told)  # a map may take long

    async def respond(request):
        given = request.path_params["token"]
        if not secrets.compare_digest(given.encode("utf-8", "surrogatepass"), token.encode()):
            return responses.PlainTextResponse("Wrong address; w2vneg explore prints the right one.\n", 403, _HEADERS)
        what = request.path_params["what"]
        if what in pages:
            kind = _KINDS[_PAGES[what].rpartition(".")[2]]
            return responses.Response(pages[what], media_type=kind, headers=_HEADERS)
        if what in _SCRIPTS:
            return responses.Response(await in_thread(_SCRIPTS[what]), media_type="text/javascript", headers=_HEADERS)
        kind = what.removeprefix("api/")
        asked = {name: value for name, value in request.query_params.items() if name in _ASKED}
        question = kind, tuple(sorted(asked.items()))
        if kind == "about":  # at once, whatever is being worked at
            found = told(*question)
        else:
            found = await (maps if kind == "map" else questions).ask(*question)
        return responses.Response(found, media_type="application/json", headers=_HEADERS)

    return applications.Starlette(
        routes=[routing.Route("/{token}/{what:path}", respond)],
        middleware=[middleware(hosts, allowed_hosts=[HOST, "localhost"], www_redirect=False)],
    )


def listen(port=0):
    """Return a socket bound to a port of this machine only, any free one for 0; ConfigError if it cannot be had."""
    # TCP by name: asyncio lets answers wait for the reader's word on their beginnings, 40 ms, where it cannot tell.
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((HOST, port))
        listening.listen()
    except OSError as error:
        listening.close()
        raise ConfigError(f"port {port} cannot be used ({error.strerror}); name another with --port") from None
    return listening


def serve(app, listening):
    """Answer on a socket that listens, until Ctrl-C; MissingExtraError without uvicorn."""
    uvicorn = require("uvicorn", *_PURPOSE)
    allow_files(_FILES)
    quiet = {"log_level": "error", "access_log": False, "server_header": False}
    config = uvicorn.Config(app, lifespan="off", ws="none", timeout_graceful_shutdown=0, **quiet)
    logging.getLogger("uvicorn.error").addFilter(_is_a_defect)
    uvicorn.Server(config).run(sockets=[listening])


def allow_files(count):
    """Let this process have so many files open, or as many as the system lets it ask for; never fewer than now."""
    with suppress(ImportError, OSError, ValueError):  # there is nothing to ask where there is no `resource`
        import resource

        allowed, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        count = count if most == resource.RLIM_INFINITY else min(count, most)
        if allowed != resource.RLIM_INFINITY and allowed < count:
            resource.setrlimit(resource.RLIMIT_NOFILE, (count, most))


def _is_a_defect(record):
    """Whether a record of the server's log tells more than that the end has cut requests off."""
    error = record.exc_info[1] if record.exc_info else None
    return not (isinstance(error, asyncio.CancelledError) or "graceful shutdown" in str(record.msg))


def leave():
    """End this process now if a question is still worked at; else nothing.

    Leaving the usual way, OpenBLAS waits for its threads, and forever for what a daemon was about to do with them.
    """
    if any(thread.name == _THREAD for thread in threading.enumerate()):
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(0)
