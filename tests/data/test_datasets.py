"""Named data: manifests, order of resolution, verified arrival. Everything is served from this machine."""

import hashlib
import http.server
import io
import os
import socket
import sys
import tarfile
import threading
import zipfile
from contextlib import nullcontext
from dataclasses import fields
from pathlib import Path

import pytest

from w2vneg.data import catalog as datasets
from w2vneg.data.catalog import Dataset, download, places
from w2vneg.ground.errors import ConfigError, DataError, InputError, OutputError, UnknownNameError, how_to_install
from w2vneg.ground.files.bounded import parse_toml
from w2vneg.ground.files.caches import cache_dir
from w2vneg.ground.progress import SHOW

CONTENT = b"sun\tmoon\t7.5\nsea\tship\t8.0\n"
PACKED = b"packed form of the above"
OTHER = b"something else of another length altogether\n"


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def toy(name="toy", **facts):
    """A data set whose content is CONTENT; keyword arguments replace or add facts."""
    plain = {
        "kind": "similarity",
        "title": "A toy set",
        "licence": "none",
        "citation": "nobody",
        "file": f"{name}.txt",
        "size": len(CONTENT),
        "sha256": sha256(CONTENT),
        "mirror": f"toys/{name}.txt",
    }
    return Dataset(name=name, **(plain | facts))


@pytest.fixture
def known(monkeypatch, tmp_path):
    """A function that makes its data sets the only known ones; cache, mirror and data folder are all bare."""
    monkeypatch.setenv("W2VNEG_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("W2VNEG_MIRROR", raising=False)
    monkeypatch.delenv("W2VNEG_DATA", raising=False)
    monkeypatch.setattr(places, "checkout", lambda: None)

    def only(*sets):
        table = {dataset.name: dataset for dataset in sets}
        monkeypatch.setattr(places, "_all", lambda: table)

    return only


@pytest.fixture
def closed():
    """An address at which nobody answers."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    return f"http://127.0.0.1:{port}"


class Server:
    """A web server on this machine: `pages` maps paths to bytes, `asked` lists the paths asked for."""

    reason = None  # str, of a 404

    def __init__(self):
        pages = self.pages = {}  # str -> bytes
        asked = self.asked = []
        running, short = self, set()
        self.short = short  # paths whose answers end early

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                asked.append(self.path)
                if self.path not in pages:
                    self.send_error(404, running.reason)
                    return
                body = pages[self.path]
                self.send_response(200)
                self.send_header("Content-Length", str(len(body) + (10 if self.path in short else 0)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *arguments):
                pass

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.http.server_port}"


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    running = Server()
    thread = threading.Thread(target=running.http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield running
    running.http.shutdown()
    running.http.server_close()
    thread.join()


@pytest.fixture
def fake_gensim(monkeypatch, tmp_path):
    """A folder of test data that an "installed gensim" carries; importing that gensim would fail."""
    folder = tmp_path / "site" / "gensim" / "test" / "test_data"
    folder.mkdir(parents=True)
    (tmp_path / "site" / "gensim" / "__init__.py").write_text("raise ImportError('must not be imported')")
    monkeypatch.delitem(sys.modules, "gensim", raising=False)
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    return folder


def kept():
    """The names of all files in the cache, hidden ones too."""
    return sorted(path.name for path in cache_dir("data").glob("**/*") if path.is_file())


def zipped(**members):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name.replace("__", "/"), data)
    return packed.getvalue()


def tarred(members):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, data in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return packed.getvalue()


class TestOrder:
    def test_each_place_comes_before_the_next(self, known, server, fake_gensim, monkeypatch, tmp_path):
        copy = fake_gensim / "copy.tsv"
        copy.write_bytes(b"# a comment\n" + CONTENT)
        mirrored = tmp_path / "mirror" / "toys" / "toy.txt"
        own = tmp_path / "own" / "toy.txt"
        cached = tmp_path / "cache" / "data" / "toy.txt"
        here = tmp_path / "toy"
        for path in (mirrored, own, cached, here):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(CONTENT)
        server.pages["/toy.txt"] = CONTENT
        known(toy(url=f"{server.address}/toy.txt", gensim_copy="copy.tsv", gensim_rows=sha256(CONTENT.strip())))
        monkeypatch.setenv("W2VNEG_MIRROR", str(tmp_path / "mirror"))
        monkeypatch.setenv("W2VNEG_DATA", str(tmp_path / "own"))
        monkeypatch.chdir(tmp_path)

        assert datasets.resolve("toy") == Path("toy")
        here.unlink()
        for expected, status in (
            (own, "data folder"),
            (cached, "cache"),
            (copy, "gensim"),
            (mirrored, "mirror"),
        ):
            assert datasets.where("toy") == (status, expected)
            assert datasets.resolve("toy") == expected
            expected.unlink()
        assert datasets.where("toy") == ("absent", None)
        assert server.asked == []
        assert datasets.resolve("toy") == cached
        assert cached.read_bytes() == CONTENT
        assert "gensim" not in sys.modules

    def test_data_folders_of_a_checkout(self, known, monkeypatch, tmp_path):
        for folder in ("data", "eval_sets"):
            (tmp_path / folder).mkdir()
        monkeypatch.setattr(places, "checkout", lambda: tmp_path)
        path = tmp_path / "eval_sets" / "toy.txt"
        path.write_bytes(CONTENT)
        known(toy())
        assert datasets.resolve("toy") == path

    def test_argument_goes_before_environment(self, known, monkeypatch, tmp_path):
        known(toy())
        for name in ("one", "two"):
            (tmp_path / name / "toys").mkdir(parents=True)
            (tmp_path / name / "toys" / "toy.txt").write_bytes(CONTENT)
        monkeypatch.setenv("W2VNEG_MIRROR", str(tmp_path / "one"))
        assert datasets.resolve("toy", mirror=tmp_path / "two") == tmp_path / "two" / "toys" / "toy.txt"

    def test_packed_form_is_used_in_place_and_fetched_by_copying(self, known, tmp_path):
        known(toy(mirror="toys/toy.txt.xz", mirror_size=len(PACKED), mirror_sha256=sha256(PACKED)))
        path = tmp_path / "mirror" / "toys" / "toy.txt.xz"
        path.parent.mkdir(parents=True)
        path.write_bytes(PACKED)
        assert datasets.resolve("toy", mirror=tmp_path / "mirror") == path
        assert kept() == []
        copied = datasets.fetch("toy", mirror=tmp_path / "mirror")
        assert copied == tmp_path / "cache" / "data" / "toy.txt.xz"
        assert datasets.resolve("toy") == copied

    def test_mirror_address_then_official_one(self, known, server):
        server.pages["/official.txt"] = CONTENT
        known(toy(url=f"{server.address}/official.txt"))
        path = datasets.resolve("toy", mirror=f"{server.address}/mirror/")
        assert server.asked == ["/mirror/toys/toy.txt", "/official.txt"]
        assert path.read_bytes() == CONTENT
        path.unlink()
        server.pages["/mirror/toys/toy.txt"] = CONTENT
        datasets.resolve("toy", mirror=f"{server.address}/mirror")
        assert server.asked[2:] == ["/mirror/toys/toy.txt"]

    @pytest.mark.parametrize("given", [b"<html>log in</html>", b"", CONTENT[:9], CONTENT[::-1], CONTENT * 9])
    @pytest.mark.parametrize("member", ["", "toy.txt"])
    def test_a_mirror_that_gives_something_else_is_passed_over(self, known, server, given, member):
        server.pages["/mirror/toys/toy.txt"] = given
        server.pages["/toy.zip"] = zipped(**{"toy.txt": CONTENT}) if member else CONTENT
        known(toy(url=f"{server.address}/toy.zip", member=member))
        assert datasets.resolve("toy", mirror=f"{server.address}/mirror").read_bytes() == CONTENT
        assert server.asked == ["/mirror/toys/toy.txt", "/toy.zip"]

    def test_second_time_nothing_is_downloaded(self, known, server):
        server.pages["/toy.txt"] = CONTENT
        known(toy(url=f"{server.address}/toy.txt"))
        assert datasets.fetch("toy") == datasets.fetch("toy") == datasets.resolve("toy")
        assert server.asked == ["/toy.txt"]

    def test_progress_is_told(self, known, server):
        server.pages["/toy.txt"] = CONTENT
        known(toy(url=f"{server.address}/toy.txt"))
        seen = []
        token = SHOW.set(lambda what: nullcontext(lambda done, total: seen.append((what, done, total))))
        datasets.resolve("toy")
        SHOW.reset(token)
        assert seen[-1] == ("fetching toy", len(CONTENT), len(CONTENT))

    def test_another_gensims_copy_is_passed_over(self, known, fake_gensim):
        (fake_gensim / "copy.tsv").write_bytes(OTHER)
        known(toy(gensim_copy="copy.tsv", gensim_rows=sha256(CONTENT.strip())))
        assert datasets.where("toy") == ("absent", None)

    def test_kind(self, known, tmp_path):
        known(toy(), toy("text", kind="corpus"))
        with pytest.raises(InputError, match=r"toy is of kind similarity, not corpus\. Known: text"):
            datasets.resolve("toy", kind="corpus")


class TestRefusals:
    def test_unknown_name(self, known):
        known(toy("text8"), toy("ws353"))
        with pytest.raises(UnknownNameError, match="'txt8' is neither a file nor a known name; did you mean 'text8'"):
            datasets.resolve("txt8")
        with pytest.raises(UnknownNameError, match="Known: text8, ws353"):
            datasets.info("quite different")
        with pytest.raises(UnknownNameError):
            datasets.resolve("")

    def test_missing_path(self, known):
        known(toy())
        with pytest.raises(InputError, match=r"no such file or folder: texts/mine\.txt"):
            datasets.resolve("texts/mine.txt")

    def test_wrong_checksum_of_a_download(self, known, server):
        wrong = CONTENT.replace(b"7", b"8")
        server.pages["/toy.txt"] = wrong
        known(toy(url=f"{server.address}/toy.txt"))
        with pytest.raises(DataError) as raised:
            datasets.resolve("toy")
        for words in (sha256(CONTENT), sha256(wrong), "nothing was kept", server.address):
            assert words in str(raised.value)
        assert kept() == []

    def test_md5_where_no_sha256_is_known(self, known, server):
        server.pages["/toy.txt"] = CONTENT
        right = hashlib.md5(CONTENT, usedforsecurity=False).hexdigest()
        known(
            toy(url=f"{server.address}/toy.txt", sha256="", md5=right),
            toy("bad", url=f"{server.address}/toy.txt", sha256="", md5="0" * 32),
        )
        assert datasets.resolve("toy").read_bytes() == CONTENT
        with pytest.raises(DataError, match=f"expected md5 {'0' * 32}"):
            datasets.resolve("bad")

    def test_answer_longer_than_known(self, known, server):
        server.pages["/toy.txt"] = CONTENT * 100
        known(toy(url=f"{server.address}/toy.txt"))
        with pytest.raises(DataError, match="more than the expected"):
            datasets.resolve("toy")
        assert kept() == []

    @pytest.mark.parametrize("page", [b"\n<html>log in</html>", b"<html>" + CONTENT * 9])
    def test_a_web_page_instead_of_the_file_is_called_so_with_what_to_do(self, known, server, page):
        server.pages["/toy.txt"] = page
        known(toy(url=f"{server.address}/toy.txt"))
        with pytest.raises(DataError) as raised:
            datasets.resolve("toy")
        for words in ("looks like a web page", f"download {server.address}/toy.txt and put it at", "--mirror"):
            assert words in str(raised.value)

    def test_what_a_server_says_is_escaped(self, known, server):
        server.reason = "\x1b[31mGone\x07"
        known(toy(url=f"{server.address}/toy.txt"))
        with pytest.raises(DataError, match=r"answered 404 \\x1b\[31mGone\\x07; download"):
            datasets.resolve("toy")

    @pytest.mark.parametrize("ask", [datasets.resolve, datasets.fetch, datasets.where])
    @pytest.mark.parametrize("user", ["me:secret", "me"])
    def test_a_mirror_with_a_user_is_refused_and_no_password_shown(self, known, server, ask, user):
        known(toy(url=f"{server.address}/toy.txt"))
        with pytest.raises(ConfigError, match="neither user nor password is sent to a mirror") as raised:
            ask("toy", mirror=f"HTTP://{user}@127.0.0.1/")
        assert "secret" not in str(raised.value)
        assert server.asked == []

    def test_connection_that_breaks_off(self, known, server):
        server.pages["/toy.txt"] = CONTENT[:9]
        server.short.add("/toy.txt")
        known(toy(url=f"{server.address}/toy.txt"))
        with pytest.raises(DataError, match="broke off after 9"):
            datasets.resolve("toy")
        assert kept() == []

    @pytest.mark.parametrize("place", ["cache/data", "mirror/toys", "own"])
    def test_wrong_file_at_hand(self, known, monkeypatch, tmp_path, place):
        known(toy())
        path = tmp_path / place / "toy.txt"
        path.parent.mkdir(parents=True)
        path.write_bytes(OTHER)
        monkeypatch.setenv("W2VNEG_DATA", str(tmp_path / "own"))
        assert datasets.where("toy", tmp_path / "mirror") == ("damaged", path)
        with pytest.raises(DataError, match=rf"toy\.txt is not the expected toy: expected {len(CONTENT)} bytes"):
            datasets.resolve("toy", mirror=tmp_path / "mirror")
        with pytest.raises(DataError, match="remove or replace it"):
            datasets.fetch("toy", mirror=tmp_path / "mirror")
        assert path.read_bytes() == OTHER

    def test_file_that_changes_is_read_again(self, known, tmp_path):
        known(toy())
        path = tmp_path / "cache" / "data" / "toy.txt"
        path.parent.mkdir(parents=True)
        path.write_bytes(CONTENT)
        assert datasets.resolve("toy") == path
        path.write_bytes(OTHER)
        with pytest.raises(DataError):
            datasets.resolve("toy")

    def test_no_network_and_no_mirror(self, known, closed, tmp_path):
        known(toy(url=f"{closed}/toy.zip", member="in/toy.txt", gensim_copy="nowhere", gensim_rows="0"))
        with pytest.raises(DataError) as raised:
            datasets.resolve("toy")
        message = str(raised.value)
        by_hand = f"download {closed}/toy.zip, extract in/toy.txt and put it at "
        assert by_hand + str(tmp_path / "cache" / "data" / "toy.txt") in message
        for words in ("no mirror is set", "--mirror", "W2VNEG_MIRROR", how_to_install("gensim")):
            assert words in message
        assert "\n" not in message
        assert kept() == []

    def test_nothing_offers_it(self, known):
        known(toy())
        with pytest.raises(DataError, match="no address offers this file ready-made; put the file at"):
            datasets.resolve("toy")

    def test_mirror_that_is_no_folder(self, known, tmp_path):
        known(toy())
        with pytest.raises(DataError, match="is not a folder; name an existing one"):
            datasets.resolve("toy", mirror=tmp_path / "nowhere")

    def test_unwritable_cache(self, known, server, monkeypatch, tmp_path):
        (tmp_path / "file").write_text("not a folder")
        monkeypatch.setenv("W2VNEG_CACHE", str(tmp_path / "file" / "cache"))
        server.pages["/toy.txt"] = CONTENT
        server.pages["/toy.zip"] = zipped(**{"toy.txt": CONTENT})
        known(
            toy(url=f"{server.address}/toy.txt"),
            toy("packed", url=f"{server.address}/toy.zip", member="toy.txt"),
        )
        for name in ("toy", "packed"):
            with pytest.raises(OutputError, match="set W2VNEG_CACHE to a writable folder"):
                datasets.resolve(name)


class TestArchives:
    def archive(self, server, known, data, name="toy.zip", member="inside/toy.txt"):
        server.pages[f"/{name}"] = data
        known(toy(url=f"{server.address}/{name}", member=member))

    @pytest.mark.parametrize("inside", ["inside/toy.txt", "./inside/toy.txt", "renamed/toy.txt"])
    @pytest.mark.parametrize("name", ["toy.zip", "toy.tar.gz", "toy.tgz"])
    def test_member(self, known, server, tmp_path, name, inside):
        members = {"inside/read.me": OTHER, inside: CONTENT}
        data = zipped(**members) if name == "toy.zip" else tarred(members)
        self.archive(server, known, data, name)
        path = datasets.resolve("toy")
        assert path == tmp_path / "cache" / "data" / "toy.txt"
        assert path.read_bytes() == CONTENT
        assert kept() == ["toy.txt"]

    @pytest.mark.parametrize("inside", ["../../toy.txt", "/etc/toy.txt", "inside/../../toy.txt"])
    @pytest.mark.parametrize("name", ["toy.zip", "toy.tgz"])
    def test_member_that_points_outside_is_refused(self, known, server, tmp_path, name, inside):
        data = zipped(**{inside: CONTENT}) if name == "toy.zip" else tarred({inside: CONTENT})
        self.archive(server, known, data, name)
        before = set(tmp_path.rglob("*.txt"))
        with pytest.raises(DataError, match=r"contains no file toy\.txt"):
            datasets.resolve("toy")
        assert kept() == []
        assert set(tmp_path.rglob("*.txt")) == before

    @pytest.mark.parametrize("name", ["toy.zip", "toy.tgz"])
    def test_missing_ambiguous_or_wrong_member(self, known, server, name):
        pack = (lambda members: zipped(**members)) if name == "toy.zip" else tarred
        for members, words in (
            ({"a/other.txt": CONTENT}, "contains no file"),
            ({"a/toy.txt": CONTENT, "b/toy.txt": CONTENT}, "more than one file"),
            ({"inside/toy.txt": CONTENT[::-1]}, "nothing was kept"),
            ({"inside/toy.txt": CONTENT * 50}, "more than the expected"),
        ):
            self.archive(server, known, pack(members), name)
            with pytest.raises(DataError, match=words):
                datasets.resolve("toy")
            assert kept() == []

    @pytest.mark.parametrize("name", ["toy.zip", "toy.tgz"])
    @pytest.mark.parametrize("broken", ["page", "cut", "beheaded"])
    def test_broken_archive(self, known, server, name, broken):
        data = zipped(**{"inside/toy.txt": CONTENT}) if name == "toy.zip" else tarred({"inside/toy.txt": CONTENT})
        data = {"page": b"<html>gone</html>", "cut": data[: len(data) // 2], "beheaded": data[20:]}[broken]
        self.archive(server, known, data, name)
        with pytest.raises(DataError, match="nothing was kept; download") as raised:
            datasets.resolve("toy")
        assert ("looks like a web page" in str(raised.value)) == (broken == "page")
        assert kept() == []

    def test_archive_with_a_file_without_a_name(self, known, server):
        """A NUL ends a name in a zip; an empty one is an IndexError of Python's own."""
        data = zipped(**{"inside/toy.txt": CONTENT}).replace(b"inside/toy.txt", b"\0inside/toy.tx")
        self.archive(server, known, data)
        with pytest.raises(DataError, match=r"not a readable zip archive|contains no file toy"):  # by version
            datasets.resolve("toy")
        assert kept() == []

    def test_symbolic_link_is_not_followed(self, known, server, tmp_path):
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w:gz") as archive:
            link = tarfile.TarInfo("inside/toy.txt")
            link.type, link.linkname = tarfile.SYMTYPE, "/etc/hostname"
            archive.addfile(link)
        self.archive(server, known, packed.getvalue(), "toy.tgz")
        with pytest.raises(DataError, match="contains no file"):
            datasets.resolve("toy")

    def test_sizes_are_bounded(self, known, server, monkeypatch):
        data = tarred({"inside/big": bytes(100_000), "inside/toy.txt": CONTENT})
        self.archive(server, known, data, "toy.tgz")
        with monkeypatch.context() as patch:
            patch.setattr(download, "_LARGEST_UNPACKED", 50_000)
            with pytest.raises(DataError, match="more than 50000 bytes inside"):
                datasets.resolve("toy")
        monkeypatch.setattr(download, "_LARGEST_ARCHIVE", 100)
        with pytest.raises(DataError, match="delivered more than 100 bytes"):
            datasets.resolve("toy")
        assert kept() == []

    def test_what_shares_the_archive_comes_along(self, known, server):
        url = f"{server.address}/both.zip"
        server.pages["/both.zip"] = zipped(**{"a.txt": CONTENT, "b.txt": CONTENT, "c.txt": OTHER})
        known(*(toy(name, url=url, member=f"{name}.txt") for name in "abc"))
        datasets.resolve("b")
        assert kept() == ["a.txt", "b.txt"]
        datasets.resolve("a")
        assert server.asked == ["/both.zip"]


NO_ADDRESS = ("enwiki2015-head", "online-retail", "ml-1m-pairs", "ml-1m-half")


class TestManifests:
    def test_all_expected_names(self):
        expected = """builtin builtin-baskets builtin-edges enwiki2015-head ptb-train ptb-valid ptb-test text8
            belgian-retail online-retail ml-100k ml-100k-titles ml-1m-pairs ml-1m-half ml-1m-titles
            ws353 ws353-sim ws353-rel simlex999 rw men men-dev men-test mturk287 google google-phrases"""
        assert sorted(datasets.names()) == sorted(expected.split())
        by_kind = [name for kind in places.KINDS for name in datasets.names(kind)]
        assert by_kind == datasets.names()

    @pytest.mark.parametrize("name", datasets.names())
    def test_well_formed(self, name):
        dataset = datasets.info(name)
        for fact in ("title", "licence", "citation", "notes"):
            assert getattr(dataset, fact).strip() == getattr(dataset, fact) != ""
        assert dataset.tags == (name in ("men-dev", "men-test"))
        if dataset.made_here:
            return
        assert dataset.file == os.path.basename(dataset.file) != "" and dataset.mirror
        assert not dataset.mirror.startswith("/") and ".." not in dataset.mirror.split("/")
        for form in dataset.forms:
            assert form.size > 0
            assert len(form.sha256 or form.md5 * 2) == 64
            assert set(form.sha256 + form.md5) <= set("0123456789abcdef")
        archived = dataset.url.endswith((".zip", ".tar.gz", ".tgz"))
        assert bool(dataset.member) == archived
        assert dataset.url.startswith(("http://", "https://")) or name in (
            "enwiki2015-head",
            "online-retail",
            "ml-1m-pairs",
            "ml-1m-half",
        )
        assert bool(dataset.gensim_copy) == bool(dataset.gensim_rows) == (name in ("ws353", "simlex999", "google"))

    def test_files_do_not_collide(self):
        forms = [form.name for name in datasets.names() for form in datasets.info(name).forms if form.name]
        assert len(set(forms)) == len(forms)

    def test_of_what_is_shipped_each_name_is_described_once_and_each_fact_is_of_its_kind(self):
        home, described = places._home(), []
        kinds = {field.name: field.type for field in fields(Dataset)}
        for path in [path for folder in places._FOLDERS for path in (home / folder).glob("*.toml")]:
            for name, table in parse_toml(path.read_text(), path).items():
                described.append(name)
                assert {key: type(value) for key, value in table.items()}.items() <= kinds.items(), name
        assert sorted(described) == sorted(datasets.names())

    @pytest.mark.parametrize("line", ["colour = 'red'", "title ="])
    def test_malformed_manifests_are_told(self, tmp_path, line):
        path = tmp_path / "bad.toml"
        path.write_text(f"[toy]\n{line}\n")
        with pytest.raises(DataError, match="cannot read the manifest") as raised:
            places.read_manifest(path)
        assert str(path) in str(raised.value)

    def test_found_beside_an_installed_package(self, monkeypatch, tmp_path):
        package = tmp_path / "lib" / "python3" / "site-packages" / "w2vneg" / "datasets"
        shared = tmp_path / "share" / "w2vneg"
        monkeypatch.setattr(places, "__file__", str(package / "places.py"))
        with pytest.raises(DataError, match="install w2vneg again"):
            places._home()
        (shared / "eval_sets").mkdir(parents=True)
        assert places._home() == shared


def test_copies_in_the_installed_gensim(monkeypatch, tmp_path):
    pytest.importorskip("gensim")
    monkeypatch.setenv("W2VNEG_CACHE", str(tmp_path))
    monkeypatch.delenv("W2VNEG_DATA", raising=False)
    monkeypatch.setattr(places, "checkout", lambda: None)
    for name in ("ws353", "simlex999", "google"):
        status, path = datasets.where(name)
        assert (status, path.name) == ("gensim", datasets.info(name).gensim_copy)
        assert datasets.resolve(name) == path


@pytest.mark.realdata
@pytest.mark.parametrize(
    "name", [name for name in datasets.names() if not (datasets.info(name).made_here or name == "text8")]
)
def test_mirror_holds_what_the_manifest_says(mirror, name):
    dataset = datasets.info(name)
    assert download.mismatch(mirror / dataset.mirror, dataset.mirrored) is None


@pytest.mark.realdata
def test_packed_mirror_files_unpack_to_the_stated_content(mirror):
    import lzma

    packed = [datasets.info(name) for name in datasets.names() if datasets.info(name).mirror_sha256]
    assert len(packed) == 9
    for dataset in packed:
        if dataset.size < 10_000_000:
            data = lzma.decompress((mirror / dataset.mirror).read_bytes())
            assert (len(data), sha256(data)) == (dataset.size, dataset.sha256)


@pytest.mark.realdata
@pytest.mark.parametrize(("name", "score"), [("ws353", 2), ("simlex999", 3)])
def test_gensims_copies_hold_the_same_pairs(mirror, name, score):
    pytest.importorskip("gensim")
    copy = next(places._in_folder("mirror", mirror, datasets.info(name)))[1]
    rows = [line.split("\t") for line in copy.read_text().splitlines()[1:]]
    theirs = places._gensim_copy(datasets.info(name)).read_text().splitlines()
    theirs = [line.split("\t") for line in theirs if not line.startswith("#")]
    assert [(a, b, float(c)) for a, b, c in theirs] == [(row[0], row[1], float(row[score])) for row in rows]
