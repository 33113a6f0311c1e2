"""The key of compiled code: any change of code changes it, comments, docstrings and layout do not."""

import os

import pytest

from w2vneg.ground import jit
from w2vneg.ground.jit.disk import digest_of_files, syntax_digest

SOURCE = '''"""What the file is about."""

import math
from numba import njit

LEAF = {"reassoc"}
"""What the constant is for."""


@njit(fastmath=LEAF)
def scaled(x, power=2):
    """Scale."""
    total = 0.0  # a sum
    for k in range(3):
        total += x ** power * 0.5
    return total if total > -1 else math.inf


class Plug:
    """A plug."""

    name = "plug"
'''
SAYS_THE_SAME = {
    "a comment": SOURCE.replace("# a sum", "# the sum of all"),
    "a comment of its own line": SOURCE.replace("    total = 0.0", "    # begin\n    total = 0.0"),
    "docstring of the file": SOURCE.replace("What the file is about.", "Something else."),
    "docstring of a function": SOURCE.replace('"""Scale."""\n', '"""Scale x.\n\n    And more.\n    """\n'),
    "no docstring": SOURCE.replace('    """Scale."""\n', ""),
    "docstring of a class": SOURCE.replace("A plug.", "Another."),
    "text below a constant": SOURCE.replace("What the constant is for.", "Flags."),
    "layout": SOURCE.replace("range(3)", "range(\n        3,\n    )").replace("\n\n\n", "\n\n\n\n\n"),
    "quotes": SOURCE.replace('"plug"', "'plug'"),
}
SAYS_ANOTHER_THING = {
    "a number": SOURCE.replace("0.5", "0.25"),
    "an integer for a float": SOURCE.replace("total = 0.0", "total = 0"),
    "a sign": SOURCE.replace("-1", "1"),
    "an operator": SOURCE.replace("total +=", "total -="),
    "precedence": SOURCE.replace("x ** power * 0.5", "x ** (power * 0.5)"),
    "a comparison": SOURCE.replace("total > ", "total >= "),
    "a name": SOURCE.replace("math.inf", "math.nan"),
    "a default": SOURCE.replace("power=2", "power=3"),
    "order of arguments": SOURCE.replace("x, power=2", "power, x=2"),
    "an option of the decorator": SOURCE.replace("fastmath=LEAF", "fastmath=LEAF, nogil=True"),
    "a decorator less": SOURCE.replace("@njit(fastmath=LEAF)\n", ""),
    "a flag": SOURCE.replace("reassoc", "contract"),
    "a string": SOURCE.replace('"plug"', '"plugs"'),
    "bytes": SOURCE.replace('"plug"', 'b"plug"'),
    "an import": SOURCE.replace("import math", "import cmath as math"),
    "a block": SOURCE.replace("    return total", "        return total"),
    "a line less": SOURCE.replace("    total = 0.0  # a sum\n", ""),
    "a line moved": SOURCE.replace("import math\n", "").replace("LEAF =", "import math\nLEAF ="),
    "a comment made code": SOURCE.replace("  # a sum", "; x = 1"),
}


@pytest.mark.parametrize("change", SAYS_THE_SAME)
def test_what_the_compiler_does_not_see_does_not_count(change):
    assert SAYS_THE_SAME[change] != SOURCE
    assert syntax_digest(SAYS_THE_SAME[change].encode()) == syntax_digest(SOURCE.encode())


def test_every_change_of_code_counts():
    sources = [SOURCE, *SAYS_ANOTHER_THING.values()]
    assert len({syntax_digest(source.encode()) for source in sources}) == len(sources)


@pytest.mark.parametrize("source", [b"def (", b"\xff\xfe", b"x = 1\0", b""])
def test_what_is_no_python_counts_to_the_byte(source):
    assert syntax_digest(source) == syntax_digest(bytes(source))
    assert syntax_digest(source) != syntax_digest(source + b"def )")


@pytest.fixture
def files(tmp_path):
    for name, text in {"a.py": SOURCE, "b.py": "x = 1\n", "c.py": "x = 1\n"}.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def digest(files, *names, notes="notes"):
    return digest_of_files(files, [files / name for name in names], files / notes)


def test_the_digest_of_files_depends_on_each_and_on_its_name(files):
    before = digest(files, "a.py", "b.py")
    assert before == digest(files, "b.py", "a.py")
    assert before not in {digest(files, *names) for names in (["a.py", "c.py"], ["a.py"], ["a.py", "b.py", "c.py"])}
    (files / "b.py").write_text("x = 1  # as it was\n")
    assert digest(files, "a.py", "b.py") == before
    (files / "b.py").write_text("x = 2\n")
    assert digest(files, "a.py", "b.py") != before


def test_a_digest_is_noted_and_taken_again_where_the_note_is_damaged(files, monkeypatch):
    before = digest(files, "a.py")
    with monkeypatch.context() as patch:
        patch.setattr("w2vneg.ground.jit.disk.syntax_digest", None)
        assert digest(files, "a.py") == before
    (note,) = (files / "notes").iterdir()
    for damaged in (b"", note.read_bytes()[:40], b"\0" * 64, b"\xff" * 64):
        note.write_bytes(damaged)
        assert digest(files, "a.py") == before
        assert note.read_text() == before


def test_without_a_place_for_notes_the_digest_is_the_same(files):
    assert digest(files, "a.py", notes="b.py") == digest(files, "a.py")


def test_notes_and_folders_that_nobody_used_for_long_are_swept(tmp_path):
    for age, name in ((0, "new"), (jit._UNUSED_FOR + 60, "old")):
        (tmp_path / name).mkdir()
        (tmp_path / f"{name}.syntax").touch()
        for path in (tmp_path / name, tmp_path / f"{name}.syntax"):
            os.utime(path, (path.stat().st_atime, path.stat().st_mtime - age))
    jit._sweep(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"new", "new.syntax"}


def test_the_folder_of_compiled_code_is_named_by_the_syntax_of_all_that_holds_any(tmp_path, monkeypatch):
    real = jit._PACKAGE
    copies = {path: tmp_path / path.relative_to(real) for path in jit._files_of_rooms()}
    for path, copy in copies.items():
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
    monkeypatch.setattr(jit, "_PACKAGE", tmp_path)
    monkeypatch.setattr(jit, "_files_of_rooms", lambda: frozenset(copies.values()))
    before = jit._package_digest(tmp_path)
    path = tmp_path / "kernels" / "shard.py"
    source = path.read_bytes()
    for text, same in (("# nothing said\n", True), ("_ZERO = np.float32(1)\n", False)):
        path.write_bytes(source + text.encode())
        assert (jit._package_digest(tmp_path) == before) is same
