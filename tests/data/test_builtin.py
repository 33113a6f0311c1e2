"""The built-in corpus: what is read, what is left out, and that nothing of the library is executed."""

import sys

import pytest

from w2vneg.data import builtin
from w2vneg.data import catalog as datasets
from w2vneg.data.inputs import Input
from w2vneg.data.sources import SOURCES
from w2vneg.ground.errors import DataError, OutputError


@pytest.fixture
def library(monkeypatch, tmp_path):
    """A small standard library in a folder; topics, compiled-in modules and packages are taken away."""
    folder = tmp_path / "lib"
    folder.mkdir()
    monkeypatch.setattr(builtin, "_library", lambda: folder)
    monkeypatch.setattr(builtin, "_topics", lambda: iter(()))
    monkeypatch.setattr(builtin, "_docstrings_compiled_in", lambda: iter(()))
    monkeypatch.setattr(builtin, "_packages", list)
    monkeypatch.setenv("W2VNEG_CACHE", str(tmp_path / "cache"))
    return folder


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """The real corpus of this Python as (path, lines)."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("W2VNEG_CACHE", str(tmp_path_factory.mktemp("builtin")))
        path = builtin.builtin_path()
        assert datasets.where("builtin") == ("cache", path)
        assert datasets.resolve("builtin") == datasets.fetch("builtin") == path == datasets.cache_place("builtin")
    return path, path.read_text(encoding="ascii").splitlines()


@pytest.mark.slow
def test_real_corpus(corpus):
    path, lines = corpus
    words = [word for line in lines for word in line.split(" ")]
    assert len(words) > 1_000_000  # some builds leave out parts; about 1.65 million in a full one
    assert all(word.isascii() and word.isalpha() and word.islower() for word in set(words))
    assert {"file", "list", "string", "error"} <= set(words)
    assert path.name.startswith(f"builtin-cpython-{sys.version_info[0]}.{sys.version_info[1]}")


@pytest.mark.slow
def test_reading_executes_nothing(corpus):
    assert "antigravity" not in sys.modules
    assert "this" not in sys.modules


def test_what_is_read_and_in_which_order(library):
    (library / "b.py").write_text(
        '"""Module B, 2nd.\n\n  Its own_words\n    go on."""\n'
        "raise SystemExit('executed')\n"
        'class C:\n    """Of C."""\n    def method(self):\n        """Of a method."""\n'
        'if True:\n    async def f():\n        """Of f."""\nelse:\n    def g():\n        "Of g."\n'
        "def silent():\n    return 'not a docstring'\n"
    )
    (library / "a.py").write_text('"""First.\n\n>>> hidden(example)\nshown\n"""\n')
    (library / "sub").mkdir()
    (library / "sub" / "c.py").write_text('"""Of C."""\n"""Later string."""\n')
    assert list(builtin.builtin_sentences()) == [
        ["first"], ["shown"], ["module", "b", "nd"], ["its", "own", "words", "go", "on"],
        ["of", "c"], ["of", "a", "method"], ["of", "f"], ["of", "g"],
    ]  # fmt: skip


@pytest.mark.parametrize("folder", ["test", "tests", "site-packages", "dist-packages", "__pycache__", "a/tests"])
def test_folders_left_out(library, folder):
    (library / folder).mkdir(parents=True)
    (library / folder / "x.py").write_text('"""Left out."""')
    (library / "y.py").write_text('"""Read."""')
    assert list(builtin.builtin_sentences()) == [["read"]]


@pytest.mark.parametrize("source", [b"print 'old'", b"x = '\xff'", b"x = '\0'", b"def f(:"])
def test_sources_that_do_not_parse_are_passed_over(library, source):
    (library / "a.py").write_bytes(source)
    (library / "b.py").write_bytes(b'# coding: latin-1\n"""Caf\xe9 and \\d backslash."""')
    assert list(builtin.builtin_sentences()) == [["caf", "and", "d", "backslash"]]


@pytest.fixture
def package(library, monkeypatch):
    """A package called tool beside the small library, which has a module json."""
    (library / "json.py").write_text('"""Of json."""\nimport re, os.path\n')
    folder = library.parent / "beside" / "tool"
    (folder / "deep" / "sub").mkdir(parents=True)
    (folder / "__init__.py").write_text('"""Of a tool."""\nfrom .deep import f\nfrom . import cut, _own\n')
    (folder / "cut.py").write_text("import json\nimport tool.cut, _thread\n")
    (folder / "deep" / "sub" / "a.py").write_text(
        "import json\nfrom ... import cut\nfrom ..b import c\nfrom .. import x\nraise SystemExit('executed')\n"
        "def f():\n    try:\n        import urllib.request.more as late\n    except ImportError:\n        import os\n"
    )
    packages = [(str(folder), "1.0")]
    monkeypatch.setattr(builtin, "_packages", lambda: packages)
    return packages


def test_packages_follow_the_library(package):
    assert list(builtin.builtin_sentences()) == [["of", "json"], ["of", "a", "tool"]]


def test_baskets_are_what_a_module_imports(package):
    assert list(builtin.builtin_baskets()) == [
        ["os.path", "re"], ["tool.cut", "tool.deep"], ["json", "tool.cut", "urllib.request"],
    ]  # fmt: skip


def test_edges_are_who_imports_whom(package):
    assert [" to ".join(edge) for edge in builtin.builtin_edges()] == [
        "json to os.path", "json to re", "tool to tool.cut", "tool to tool.deep", "tool.cut to json",
        "tool.deep to json", "tool.deep to tool.cut", "tool.deep to urllib.request",
    ]  # fmt: skip


def test_another_version_of_a_package_makes_the_files_anew(package):
    before = builtin.builtin_place("builtin-edges")
    package[0] = (package[0][0], "1.1")
    assert builtin.builtin_place("builtin-edges") != before


@pytest.mark.parametrize("kind", ["baskets", "edges"])
def test_each_kind_has_its_own(package, kind, monkeypatch, tmp_path):
    given = Input(kind, "builtin")
    assert given == Input(kind, f"builtin-{kind}") == given.absolute()
    (file,) = given.located().files
    assert file == str(datasets.resolve(f"builtin-{kind}"))
    assert SOURCES[kind].encode(given.located(), min_count=1).vocab
    monkeypatch.chdir(tmp_path)
    (tmp_path / "builtin").write_text("a b\n")
    assert Input(kind, "builtin").files == ("builtin",)
    assert Input("corpus", "builtin").files == ("builtin",)


def test_progress(library):
    (library / "a.py").write_text('"""One."""')
    (library / "b.py").write_text('"""Two."""')
    seen = []
    list(builtin.builtin_sentences(lambda done, total: seen.append((done, total))))
    assert seen == [(10, 20), (20, 20)]


def test_topics_alone_will_do(library, monkeypatch):
    monkeypatch.setattr(builtin, "_topics", lambda: iter(["The only text."]))
    assert builtin.builtin_path().read_text() == "the only text\n"


def test_no_documentation_at_all(library):
    with pytest.raises(DataError, match="contains no documentation"):
        builtin.builtin_path()
    assert not builtin.builtin_place().exists()
    assert list(builtin.builtin_place().parent.iterdir()) == []


def test_python_without_topics(monkeypatch):
    monkeypatch.setitem(sys.modules, "pydoc_data.topics", None)
    assert list(builtin._topics()) == []


def test_made_once(library, monkeypatch):
    (library / "a.py").write_text('"""One."""')
    assert datasets.where("builtin") == ("made on first use", None)
    path = builtin.builtin_path()
    monkeypatch.setattr(builtin, "_modules", lambda progress: pytest.fail("read again"))
    assert builtin.builtin_path() == path


def test_each_python_has_a_file_of_its_own(library, monkeypatch):
    before = builtin.builtin_place()
    monkeypatch.setattr(sys, "version", "another build")
    assert builtin.builtin_place() != before


def test_unwritable_cache(library, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("W2VNEG_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(OutputError, match="set W2VNEG_CACHE"):
        builtin.builtin_path()
