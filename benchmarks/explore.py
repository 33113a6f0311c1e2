"""Response times of the explorer: whole HTTP requests over synthetic vectors served by another process."""

import asyncio
import http.client
import json
import multiprocessing
import time
from contextlib import contextmanager
from typing import NamedTuple
from urllib.parse import urlencode

import numpy as np

TOKEN = "benchmark"
_CLUSTERS = 2000
_BLOCK = 50_000  # vectors generated at a time
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
BASKET = 5
PATIENCE = 20  # timeout in seconds of concurrent requests
KINDS = {
    "nothing but HTTP": lambda words: ("about", {}),
    "completing, one letter": lambda words: ("complete", {"q": words[0][0]}),
    "completing, three letters": lambda words: ("complete", {"q": words[0][:3]}),
    "nearest of a word": lambda words: ("near", {"q": words[0]}),
    "nearest of a misspelt word": lambda words: ("near", {"q": words[0] + words[1][0]}),
    "nearest of a sum": lambda words: ("near", {"q": f"{words[0]} - {words[1]} + {words[2]}"}),
    "two words compared": lambda words: ("compare", {"a": words[0], "b": words[1]}),
    "next after five items": lambda words: ("next", {"items": "\n".join(words[:BASKET])}),
}  # kind of question, str -> function of some words that returns the explorer's request


class Waits(NamedTuple):
    """kind : str, of `KINDS`; seconds : list of float, from sending each request to reading its answer"""

    kind: str
    seconds: list


def made_up(n, dim, seed=1):
    """Return words, and vectors around the centres of 2,000 clusters, float32 (n, dim)."""
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((_CLUSTERS, dim), np.float32)
    matrix = np.empty((n, dim), np.float32)
    for start in range(0, n, _BLOCK):
        part = matrix[start : start + _BLOCK]
        rng.standard_normal(dtype=np.float32, out=part)
        part += centres[rng.integers(_CLUSTERS, size=len(part))]
    letters = rng.choice(list(_LETTERS), (n, 4))
    return [f"{''.join(four)}{row}" for row, four in enumerate(letters)], matrix


def _serve(n, dim, ready):
    """Serve the explorer on vectors that are both words and items; send the port and some words when it is ready."""
    from w2vneg import Vectors
    from w2vneg.config import TrainConfig
    from w2vneg.data.vocab import Vocabulary
    from w2vneg.look.explore import Answers
    from w2vneg.look.explore.app import Server
    from w2vneg.look.report.subjects import Subject
    from w2vneg.run.model import Model

    words, matrix = made_up(n, dim)
    vocab = Vocabulary(words, np.arange(n, 0, -1))
    model = Model(vocab, TrainConfig(dim=dim, source="baskets").resolved(), matrix, matrix)
    answers = Answers([Subject("made up", "made up", Vectors(vocab.words, matrix, vocab.counts), model)])
    allow_files(4096)
    with Server(answers, TOKEN) as server:
        ready.send((server.server_address[1], words[:: max(1, n // 5000)]))
        server.serve_forever()


def allow_files(count):
    """Raise this process's limit of open files to `count`, or to the highest the system allows."""
    import resource

    allowed, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    count = count if most == resource.RLIM_INFINITY else min(count, most)
    if allowed != resource.RLIM_INFINITY and allowed < count:
        resource.setrlimit(resource.RLIMIT_NOFILE, (count, most))


@contextmanager
def served(n, dim, say):
    """Serve synthetic vectors in a separate process; yield its port and some of the words."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    server = context.Process(target=_serve, args=(n, dim, theirs), daemon=True)
    say(f"Making {n:,} vectors in {dim} dimensions")
    server.start()
    try:
        yield ours.recv()
    finally:
        server.terminate()
        server.join()


def measure(port, words, asked, say):
    """Send each kind of question `asked` times, one after another, all kinds in turn; return a list of Waits."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    rng = np.random.default_rng(2)
    waits = {kind: [] for kind in KINDS}
    for number in range(asked + 1):
        for kind, question in KINDS.items():
            some = rng.choice(words, BASKET, replace=False).tolist()
            seconds = _ask(connection, *question(some))
            waits[kind] += [seconds] if number else []  # the first compiles or loads compiled code
        if number % 50 == 0:
            say(f"{number} of {asked} rounds")
    connection.close()
    return [Waits(kind, seconds) for kind, seconds in waits.items()]


def crowd(port, words, count, say, kinds=KINDS):
    """Send `count` questions of each kind at once, each on its own connection; return a list of Waits.

    Requests without an answer after `PATIENCE` are not included.
    """
    allow_files(count + 200)  # each connection needs one
    rng = np.random.default_rng(3)
    waits = []
    for kind in kinds:
        say(f"{count:,} at once: {kind}")
        asked = [KINDS[kind](rng.choice(words, BASKET, replace=False).tolist()) for _ in range(count)]
        waits.append(Waits(kind, asyncio.run(_all_at_once(port, asked))))
    return waits


async def _all_at_once(port, asked):
    found = await asyncio.gather(*(_ask_alone(port, *one) for one in asked), return_exceptions=True)
    return [seconds for seconds in found if not isinstance(seconds, OSError | asyncio.TimeoutError)]


async def _ask_alone(port, kind, asked):
    """Send a question on its own connection; return the seconds from opening it to reading the answer."""
    began = time.perf_counter()
    answer = await asyncio.wait_for(_fetched(port, f"/{TOKEN}/api/{kind}?{urlencode(asked)}"), PATIENCE)
    seconds = time.perf_counter() - began
    _check(answer.partition(b"\r\n\r\n")[2], kind, asked)
    return seconds


async def _fetched(port, path):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode())
        return await reader.read()
    finally:
        writer.close()


def _ask(connection, kind, asked):
    began = time.perf_counter()
    connection.request("GET", f"/{TOKEN}/api/{kind}?{urlencode(asked)}")
    answer = connection.getresponse().read()
    seconds = time.perf_counter() - began
    _check(answer, kind, asked)
    return seconds


def _check(answer, kind, asked):
    """Raise RuntimeError for an error, except the suggestion for a misspelt word."""
    if "did you mean" not in json.loads(answer).get("error", "did you mean"):
        raise RuntimeError(f"{kind} {asked}: {answer.decode()}")


def table(waits):
    """Return Markdown: number of answered questions of each kind, and milliseconds."""
    lines = ["| question | answered | p50, ms | p99, ms | longest, ms |", "|---|---|---|---|---|"]
    for kind, seconds in waits:
        p50, p99, longest = 1e3 * np.percentile(seconds or [np.nan], [50, 99, 100])
        lines.append(f"| {kind} | {len(seconds):,} | {p50:.1f} | {p99:.1f} | {longest:.1f} |")
    return "\n".join(lines)
