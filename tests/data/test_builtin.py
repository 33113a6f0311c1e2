"""The built-in corpus: what is read, what is left out, and that nothing of the library is executed."""

import sys

import pytest

from w2vneg.data import builtin
from w2vneg.data import catalog as datasets
from w2vneg.ground.errors import DataError, OutputError


@pytest.fixture
def library(monkeypatch, tmp_path):
    """A small standard library in a folder; topics and compiled-in modules are taken away."""
    folder = tmp_path / "lib"
    folder.mkdir()
    monkeypatch.setattr(builtin, "_library", lambda: folder)
    monkeypatch.setattr(builtin, "_topics", lambda: iter(()))
    monkeypatch.setattr(builtin, "_docstrings_compiled_in", lambda: iter(()))
    monkeypatch.setenv("W2VNEG_CACHE", str(tmp_path / "cache"))
    return folder


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """The real corpus of this Python as (path, lines)."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("W2VNEG_CACHE", str(tmp_path_factory.mktemp("builtin")))
        path = datasets.builtin_corpus()
        assert datasets.where("builtin") == ("cache", path)
        assert datasets.resolve("builtin") == datasets.fetch("builtin") == path == datasets.cache_place("builtin")
    return path, path.read_text(encoding="ascii").splitlines()


@pytest.mark.slow
def test_real_corpus(corpus):
    path, lines = corpus
    words = [word for line in lines for word in line.split(" ")]
    assert len(words) > 250_000  # some builds leave out parts; about 350 000 in a full one
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
    with pytest.raises(DataError, match="carries no documentation"):
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
    monkeypatch.setattr(builtin, "_texts", lambda progress: pytest.fail("read again"))
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
