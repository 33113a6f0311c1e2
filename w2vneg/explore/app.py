"""The server of the explorer: for this machine alone, behind a token, and with nothing from anywhere else.

Words come from strangers' corpora, and a page of a stranger's may send requests to this machine. So the page writes
words as text and may load and ask nothing but its own server; requests need the token, which is in the address; and the
Host header must be this machine's, as otherwise a name that a stranger lets point here (DNS rebinding) would do.
"""

import asyncio
import secrets
import socket
from importlib.resources import files

from ..errors import ConfigError, W2vnegError, require
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


def new_token():
    """Return what must stand in the address (str)."""
    return secrets.token_urlsafe(24)


def make_app(answers, token):
    """Return the ASGI application that answers under ``/token/``; MissingExtraError without Starlette.

    Parameters
    ----------
    answers : Answers
    token : str
    """
    applications = require("starlette.applications", *_PURPOSE)
    responses = require("starlette.responses", *_PURPOSE)
    routing = require("starlette.routing", *_PURPOSE)
    hosts = require("starlette.middleware.trustedhost", *_PURPOSE).TrustedHostMiddleware
    middleware = require("starlette.middleware", *_PURPOSE).Middleware
    in_thread = require("starlette.concurrency", *_PURPOSE).run_in_threadpool
    pages = {name: files(__package__).joinpath(file).read_text("utf-8") for name, file in _PAGES.items()}
    # Scoring functions write into arrays of their own. Requests wait here, not in threads, which Ctrl-C cannot end.
    one_at_a_time, one_map = asyncio.Lock(), asyncio.Lock()

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
        try:
            if kind == "map":
                async with one_map:
                    figure = await in_thread(answers.map, **asked)
                return responses.Response(figure, media_type="application/json", headers=_HEADERS)
            if kind == "about":
                found = answers.about()
            else:
                async with one_at_a_time:
                    found = await in_thread(answers.answer, kind, **asked)
        except W2vnegError as error:  # half a word is unknown, too: that is an answer
            found = {"error": str(error)}
        except TypeError:
            return responses.JSONResponse({"error": f"{kind} is asked otherwise"}, 400, _HEADERS)
        return responses.JSONResponse(found, headers=_HEADERS)

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
    # Requests that the end cuts off are no errors to tell.
    quiet = {"log_level": "critical", "access_log": False, "server_header": False}
    config = uvicorn.Config(app, lifespan="off", ws="none", timeout_graceful_shutdown=1, **quiet)
    uvicorn.Server(config).run(sockets=[listening])
