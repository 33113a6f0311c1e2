"""Ten thousand damaged files of every kind: each is read rightly, or refused in one message that names it.

No traceback, no hang, no crash, no silent nonsense. A case is known by its kind, its seed and its number, and can be
had again by them: ``W2VNEG_MUTATIONS=SEED,COUNT python -m pytest tests/nightly/test_mutations.py -k many``.
"""

import os
import random
import shutil
import signal
import warnings
from contextlib import contextmanager

import click
import pytest
from mutated_kinds import kinds, put_beside
from mutating import damaged

from w2vneg.ground.errors import FileNote, W2vnegError

pytestmark = pytest.mark.nightly
_HANGS = 20  # seconds
SEED, COUNT = map(int, os.environ.get("W2VNEG_MUTATIONS", "1,10000").split(","))
_FEW = 4  # cases of each kind that every run of the tests tries


class Hang(BaseException):
    """Reading takes so long that it may never end."""


@contextmanager
def no_hang():
    def ring(*_):
        raise Hang

    former = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, _HANGS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, former)


@pytest.fixture(scope="module")
def examples(tmp_path_factory):
    return kinds(tmp_path_factory.mktemp("examples"))


def complaint(kind, content, folder):
    """Read a damaged file in a folder of its own; return in words what is wrong with how that went, or None."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    put_beside(kind, folder)
    path = folder / kind.name
    path.unlink(missing_ok=True)  # some are kept read-only
    path.write_bytes(content)
    try:
        with no_hang(), warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", FileNote)
            kind.read(str(path))
    except (W2vnegError, click.ClickException) as error:
        text = str(error)
        named = str(folder) in text or any(words in text for words in kind.about)
        return None if named and len(text) < 2000 else f"a message that names no file or has no end: {text[:300]}"
    except Hang:
        return f"more than {_HANGS} s"
    except BaseException as error:
        return f"{type(error).__name__}: {error}"[:600]
    return None


def found_wrong(examples, names, seed, first, count, folder):
    """Try cases of some kinds; return what is wrong, a line for each."""
    wrong = []
    others = [kind.content for kind in examples.values()]
    for name in names:
        for number in range(first, first + count):
            rng = random.Random(f"{seed} {name} {number}")
            content = damaged(examples[name].content, rng, others)
            said = complaint(examples[name], content, folder)
            if said is not None:
                wrong.append(f"{name}, seed {seed}, number {number}: {said}")
    return wrong


def test_right_examples_are_read(examples, tmp_path):
    for name, kind in examples.items():
        assert complaint(kind, kind.content, tmp_path / "here") is None, name


def test_a_few_damaged_files_of_every_kind(examples, tmp_path):
    wrong = found_wrong(examples, examples, seed=0, first=0, count=_FEW, folder=tmp_path / "here")
    assert not wrong, "\n".join(wrong)


@pytest.mark.slow
def test_many_damaged_files_of_every_kind(examples, tmp_path):
    each = -(-COUNT // len(examples))
    wrong = found_wrong(examples, examples, SEED, 0, each, tmp_path / "here")
    assert not wrong, f"{len(wrong)} of {each * len(examples)}\n" + "\n".join(wrong[:60])
