"""Ctrl-C ends the explorer at once, whatever it is doing and whoever waits."""

import signal
import socket
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager

import numpy as np
import pytest

from w2vneg import Vectors

pytestmark = pytest.mark.slow
FOREVER = """
import sys
import numpy as np
from w2vneg.cli import main
from w2vneg.look.explore import Answers

def near(self, q=""):
    large = np.ones((1000, 1000))
    while True:
        large @ large

Answers.near = near
main(sys.argv[1:])
"""
BROKEN = FOREVER.replace("large = np.ones((1000, 1000))", "raise TypeError('a defect')")


@contextmanager
def explorer(*arguments):
    """Run Python with `arguments` that start an explorer; yields its process and the parts of its address."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, *arguments], **pipes) as process:
        try:
            address, _, token = process.stdout.readline().strip().removeprefix("http://").partition("/")
            yield process, int(address.partition(":")[2]), token
        finally:
            process.kill()


def request(token, asked):
    return f"GET /{token}api/{asked} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()


def waiting(process, port, token, asked):
    """Send `asked` on 50 connections, seconds; then Ctrl-C. Returns seconds that the end took, and what was told."""
    with ExitStack() as connections:
        for _ in range(50):
            one = connections.enter_context(socket.create_connection(("127.0.0.1", port), 20))
            one.sendall(asked)
        with socket.create_connection(("127.0.0.1", port), 20) as one:
            one.sendall(request(token, "about"))
            assert b"200 OK" in one.recv(100)  # so the others have been taken
        process.send_signal(signal.SIGINT)
        began = time.monotonic()
        told = process.communicate(timeout=30)[1]
        return time.monotonic() - began, told


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model") / "model"
    options = ["--dim", "20", "--epochs", "1", "--max-vocab", "2000", "--workers", "1", "--save-model", folder]
    subprocess.run([sys.executable, "-m", "w2vneg", "train", "--corpus", "builtin", *options], check=True)
    return folder


@pytest.mark.parametrize(
    "asked",
    [
        lambda token: 99 * request(token, "near?q=the"),
        lambda token: request(token, "map"),
        lambda token: request(token, "near?q=the")[:-5],
    ],
    ids=["questions", "maps", "half a request"],
)
def test_ctrl_c_ends_it_while_fifty_wait(model, asked):
    with explorer("-m", "w2vneg", "explore", model) as (process, port, token):
        seconds, told = waiting(process, port, token, asked(token))
    assert told.splitlines()[-1] == "Ended." and "Traceback" not in told and "ERROR" not in told
    assert process.returncode == 0 and seconds < 2


def test_ctrl_c_ends_it_while_an_answer_takes_for_ever(tmp_path):
    Vectors(["a", "b"], np.eye(2)).save(tmp_path / "vectors.txt", format="word2vec")
    with explorer("-c", FOREVER, "explore", tmp_path / "vectors.txt") as (process, port, token):
        seconds, told = waiting(process, port, token, request(token, "near?q=a"))
    assert told.splitlines()[-1] == "Ended." and "Traceback" not in told and "ERROR" not in told
    assert process.returncode == 0 and seconds < 2


def test_a_defect_is_told_with_its_traceback_and_others_are_answered(tmp_path):
    Vectors(["a", "b"], np.eye(2)).save(tmp_path / "vectors.txt", format="word2vec")
    with explorer("-c", BROKEN, "explore", tmp_path / "vectors.txt") as (process, port, token):
        _, told = waiting(process, port, token, request(token, "near?q=a"))
    assert "TypeError: a defect" in told and told.splitlines()[-1] == "Ended."
