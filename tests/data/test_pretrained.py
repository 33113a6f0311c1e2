"""Vectors by the names of gensim's catalog: where they are looked for, and what arrives. Served from this machine."""

import functools
import gzip
import hashlib
import http.server
import json
import threading

import pytest

from w2vneg import Vectors
from w2vneg.data.catalog import places
from w2vneg.ground.errors import DataError, InputError
from w2vneg.ground.files.caches import cache_dir

NAME = "glove-wiki-gigaword-50"
PACKED = gzip.compress(b"2 3\nking 1 2 3\nqueen 4 5 6\n", mtime=0)  # ids of tests hold it


@pytest.fixture(autouse=True)
def alone(monkeypatch, tmp_path):
    """A home, a cache and a catalog's address in which nothing is."""
    monkeypatch.setenv("W2VNEG_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("GENSIM_DATA_DIR", str(tmp_path / "gensim-data"))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.delenv("W2VNEG_MIRROR", raising=False)
    for name in ("_CATALOG", "_RELEASES"):
        monkeypatch.setattr(places, name, "http://127.0.0.1:1/nobody")


@pytest.fixture
def served(tmp_path):
    """A folder and the address at which it is served."""
    folder = tmp_path / "served"
    folder.mkdir()

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *arguments):
            pass

    handler = functools.partial(Handler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield folder, f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def put(folder, content=PACKED, **facts):
    """Write vectors and a catalog that knows them as gensim's is laid out."""
    (folder / NAME).mkdir(parents=True)
    (folder / NAME / f"{NAME}.gz").write_bytes(content)
    known = {"checksum": hashlib.md5(PACKED).hexdigest(), "file_name": f"{NAME}.gz", "parts": 1} | facts
    (folder / "list.json").write_text(json.dumps({"models": {NAME: known}}))


def test_fetched_from_the_catalog_once(served, monkeypatch):
    folder, address = served
    put(folder)
    monkeypatch.setattr(places, "_CATALOG", f"{address}/list.json")
    monkeypatch.setattr(places, "_RELEASES", address)
    assert Vectors.load(NAME)["queen"].tolist() == [4, 5, 6]
    (folder / "list.json").unlink()
    assert list(Vectors.load(NAME).words) == ["king", "queen"]
    assert cache_dir("vectors", f"{NAME}.gz").read_bytes() == PACKED


@pytest.mark.parametrize("web", [True, False])
def test_fetched_from_a_mirror(served, monkeypatch, web):
    folder, address = served
    put(folder / "gensim-data")
    monkeypatch.setenv("W2VNEG_MIRROR", f"{address}/" if web else str(folder))
    assert "king" in Vectors.load(NAME)
    assert cache_dir("vectors", f"{NAME}.gz").exists() == web  # a folder's file is used in place


def test_what_gensim_has_fetched_is_used_in_place(tmp_path, run_cli):
    put(tmp_path / "gensim-data")
    assert run_cli("nearest", "king", "--vectors", NAME).out.split()[-2] == "queen"
    assert not cache_dir("vectors").exists()


def test_a_file_of_that_name_comes_first(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / NAME).write_text("1 2\nown 1 2\n")
    assert list(Vectors.load(NAME).words) == ["own"]


@pytest.mark.parametrize(
    ("content", "facts", "said"),
    [
        (b"other", {}, "did not give glove-wiki-gigaword-50.gz as known: expected md5 "),
        (PACKED, {"parts": 2}, "in 2 parts; download and join them"),
        (PACKED, {"checksum": None}, "has no file and checksum"),
        (PACKED, {"file_name": "../x.gz"}, "has no file and checksum"),
    ],
)
def test_what_is_not_as_the_catalog_says_is_refused(served, monkeypatch, content, facts, said):
    folder, address = served
    put(folder, content, **facts)
    monkeypatch.setattr(places, "_CATALOG", f"{address}/list.json")
    monkeypatch.setattr(places, "_RELEASES", address)
    with pytest.raises(DataError, match=said):
        Vectors.load(NAME)
    assert not cache_dir("vectors", f"{NAME}.gz").exists()


def test_without_a_network_the_remedy_is_told():
    with pytest.raises(DataError, match=r"is not on this machine, and .* cannot be reached .*; put the file at "):
        Vectors.load(NAME)


def test_other_names_ask_no_network():
    with pytest.raises(InputError, match="no such file"):
        Vectors.load("glove-wiki-gigaword-51")
