"""Vectors by the names of gensim's catalog: where they are looked for, and what arrives. Served from this machine."""

import functools
import gzip
import hashlib
import http.server
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
    """A home, a cache and an address in which nothing is."""
    monkeypatch.setenv("W2VNEG_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("GENSIM_DATA_DIR", str(tmp_path / "gensim-data"))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.delenv("W2VNEG_MIRROR", raising=False)
    monkeypatch.setattr(places, "_RELEASES", "http://127.0.0.1:1/nobody")
    monkeypatch.setitem(places.VECTORS, NAME, hashlib.md5(PACKED).hexdigest())


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


def put(folder, content=PACKED):
    """Write vectors where gensim has them in its own folder."""
    (folder / NAME).mkdir(parents=True)
    (folder / NAME / f"{NAME}.gz").write_bytes(content)


def test_fetched_once(served, monkeypatch):
    folder, address = served
    put(folder)
    monkeypatch.setattr(places, "_RELEASES", address)
    assert Vectors.load(NAME)["queen"].tolist() == [4, 5, 6]
    (folder / NAME / f"{NAME}.gz").unlink()
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


def test_what_is_not_as_the_catalog_says_is_refused(served, monkeypatch):
    folder, address = served
    put(folder, b"other")
    monkeypatch.setattr(places, "_RELEASES", address)
    with pytest.raises(DataError, match=r"did not deliver the expected glove-wiki-gigaword-50.gz: expected md5 "):
        Vectors.load(NAME)
    assert not cache_dir("vectors", f"{NAME}.gz").exists()


@pytest.mark.parametrize("given", [b"<html>log in</html>", PACKED[:9]])
def test_a_mirror_that_gives_something_else_is_passed_over(served, monkeypatch, given):
    folder, address = served
    put(folder)
    put(folder / "mirror" / "gensim-data", given)
    monkeypatch.setattr(places, "_RELEASES", address)
    monkeypatch.setenv("W2VNEG_MIRROR", f"{address}/mirror")
    assert Vectors.load(NAME)["queen"].tolist() == [4, 5, 6]


def test_without_a_network_the_remedy_is_told():
    with pytest.raises(DataError, match=r"is not on this machine, and .* cannot be reached .*; put the file at "):
        Vectors.load(NAME)


def test_other_names_ask_no_network():
    with pytest.raises(InputError, match="no such file"):
        Vectors.load("glove-wiki-gigaword-51")
