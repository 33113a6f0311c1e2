"""Errors as types, and the hints that go with a wrong name."""

import pytest

from w2vneg.ground import errors
from w2vneg.ground.errors import MissingExtraError, UnknownNameError, W2vnegError, did_you_mean, how_to_install, require

TYPES = [value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, Exception)]
TYPES = [value for value in TYPES if not issubclass(value, Warning)]


@pytest.mark.parametrize("kind", TYPES)
def test_every_error_is_ours_and_shows_its_message(kind):
    assert issubclass(kind, W2vnegError)
    assert str(kind("what, where, what to do")) == "what, where, what to do"


@pytest.mark.parametrize(
    ("kind", "builtin"),
    [
        ("ConfigError", ValueError),
        ("UnknownNameError", KeyError),
        ("MissingExtraError", ImportError),
        ("DivergenceError", ArithmeticError),
    ],
)
def test_python_s_own_kinds_catch_them_too(kind, builtin):
    assert issubclass(getattr(errors, kind), builtin)


@pytest.mark.parametrize("kind", TYPES)
def test_a_message_with_a_word_of_a_million_letters_has_an_end(kind):
    shown = str(kind(f"file.txt:3: {'a' * 10**6!r} is no number; correct it"))
    assert len(shown) < 2000 and shown.startswith("file.txt:3: 'aaa") and shown.endswith("is no number; correct it")


def test_an_unknown_name_is_not_shown_as_a_repr():
    assert str(UnknownNameError("no 'x' here")) == "no 'x' here"


def test_did_you_mean():
    assert did_you_mean("nec", ["nce", "ns"]) == "; did you mean 'nce'? Known: nce, ns."
    assert did_you_mean("relaxd", ["relaxed", "ns"]) == "; did you mean 'relaxed'? Known: relaxed, ns."
    assert did_you_mean("xyz", ["relaxed", "ns"]) == ". Known: relaxed, ns."
    assert did_you_mean("relaxd", ["relaxed", "ns"], shown=0) == "; did you mean 'relaxed'?"
    assert did_you_mean(3, iter(["a"])) == ". Known: a."
    assert did_you_mean("NS", ["relaxed", "ns"], shown=0) == "; did you mean 'ns'?"


def test_require():
    assert require("json", "zstd", "reading") is __import__("json")
    with pytest.raises(MissingExtraError) as caught:
        require("no_such_package_w2vneg", "zstd", "reading x.zst")
    assert str(caught.value) == (
        "reading x.zst needs the package 'no_such_package_w2vneg', which is not installed; "
        'install it with: pip install "w2vneg[zstd]"'
    )


@pytest.mark.parametrize("version", [(3, 13), (3, 14)])
def test_gensim_is_no_extra_where_it_has_no_wheel(monkeypatch, version):
    """The extra of gensim is empty there, so that no installation asks for a compiler."""
    monkeypatch.setattr("sys.version_info", version)
    expected = 'pip install "w2vneg[gensim]"' if version == (3, 13) else "pip install gensim (it may need a C compiler"
    assert how_to_install("gensim").startswith(expected)
