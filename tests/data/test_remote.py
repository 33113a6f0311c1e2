"""Files named by URLs: those of a store in memory and of a web server of this machine, read as local ones are."""

import gzip
import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from w2vneg import Input
from w2vneg.data.encoded import encode_corpus
from w2vneg.data.inputs import encode_input
from w2vneg.data.readers.sources import ByteStream, find_files
from w2vneg.ground.errors import ConfigError, FileNote, InputError, MissingExtraError

fsspec = pytest.importorskip("fsspec")
TEXT = {name: b"".join(b"a%d b c%d\n" % (k % 7, k % 11) for k in range(n)) for name, n in (("one", 200), ("two", 90))}


@pytest.fixture
def memory():
    """A folder memory://texts of two files and a hidden one."""
    fs = fsspec.filesystem("memory")
    for name, text in TEXT.items():
        fs.pipe(f"/texts/{name}.txt", text)
    fs.pipe("/texts/.hidden", b"x")
    fs.pipe("/texts/_delta_log/0.json", b"x")
    fs.pipe("/texts/below/three.txt.gz", gzip.compress(TEXT["one"]))
    yield fs
    fs.rm("/texts", recursive=True)


class Server(SimpleHTTPRequestHandler):
    """Serves files, as a whole only, as some servers do."""

    def log_message(self, *arguments):
        pass

    def do_HEAD(self):
        self._answer(with_body=False)

    def do_GET(self):
        self._answer(with_body=True)

    def _answer(self, with_body):
        name = self.path.rpartition("/")[2]
        text = TEXT.get(name, b"")
        self.send_response(200 if name in TEXT else 404)
        self.send_header("Content-Length", str(len(text)))
        self.send_header("Accept-Ranges", "none")
        self.end_headers()
        if with_body:
            self.wfile.write(text)


@pytest.fixture(scope="module")
def web():
    """The address of a web server."""
    pytest.importorskip("aiohttp")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Server))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def read(path):
    with ByteStream(path) as source:
        return b"".join(source.pieces())


def test_files_folders_and_patterns_are_found(memory):
    below = [f"memory:///texts/{name}" for name in ("below/three.txt.gz", "one.txt", "two.txt")]
    assert find_files("memory://texts") == below
    assert find_files(["memory://texts/t*.txt", "memory://texts/one.txt"]) == [below[2], "memory://texts/one.txt"]
    with pytest.warns(FileNote, match="memory:///texts/two.txt is named more than once"):
        assert find_files(["memory://texts/t*.txt", below[2]]) == [below[2]]
    assert [read(path) for path in below] == [TEXT["one"], TEXT["one"], TEXT["two"]]


def test_a_corpus_is_read_as_the_same_files_here(memory, tmp_path):
    for name, text in TEXT.items():
        (tmp_path / name).write_bytes(text)
    local = encode_corpus([tmp_path / "one", tmp_path / "two"], min_count=2)
    urls = ["memory://texts/one.txt", "memory://texts/two.txt"]
    shaping = {"min_count": 2, "max_vocab": None, "encoding": "utf-8", "lowercase": False}
    remote = encode_input(Input("corpus", urls).located(), **shaping)
    assert list(remote.vocab.words) == list(local.vocab.words)
    assert np.array_equal(remote.vocab.counts, local.vocab.counts)
    assert np.array_equal(remote.ids, local.ids)
    assert Input("corpus", urls).absolute().files == tuple(urls)


def test_pairs_are_read_from_the_web(web):
    TEXT["pairs.csv"] = b"u1,u2\nu2,u3\nu1,u3\n"
    assert encode_input(Input("pairs", f"{web}/pairs.csv").located()).matrix.sum() == 3


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("memory://nowhere", "memory://nowhere: no such file or folder"),
        ("memory://texts/*.zst", "no file matches this pattern"),
        ("memory://texts/empty", "the file is empty"),
        ("nostore://x/y", r"nostore://x/y: cannot be reached \(.*nostore"),
        ("http://127.0.0.1:1/x", "no such file or folder"),
    ],
)
def test_what_is_not_there_is_told(memory, name, message):
    memory.pipe("/texts/empty", b"")
    with pytest.raises(InputError, match=message):
        find_files(name)


def test_a_file_that_fails_while_it_is_read_is_told(memory, monkeypatch):
    def fail(self, size):
        raise RuntimeError("the store went away")

    with ByteStream("memory://texts/one.txt") as source:
        monkeypatch.setattr(type(source._file), "read", fail)
        with pytest.raises(InputError, match=r"one.txt: cannot be read \(the store went away\)"):
            list(source.pieces())


def test_passwords_and_missing_packages_are_refused(monkeypatch):
    with pytest.raises(ConfigError, match="a password in a URL would be kept") as told:
        find_files("https://me:secret@127.0.0.1/x")
    assert "secret" not in str(told.value)
    with pytest.raises(MissingExtraError, match=r"reading s3://bucket/x needs a package.*s3fs"):
        find_files("s3://bucket/x")
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    with pytest.raises(MissingExtraError, match=r"w2vneg\[remote\]"):
        find_files("memory://x")
