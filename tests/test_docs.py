"""What docstrings and pages say of the code itself: names that are there, and papers by their authors."""

import re
from importlib import import_module
from pathlib import Path

import w2vneg
from w2vneg.evaluation import similarity
from w2vneg.losses import relaxed_softmax

ROOT = Path(w2vneg.__file__).parent


def test_what_is_named_with_its_module_is_there():
    text = "".join(path.read_text(encoding="utf-8") for path in ROOT.rglob("*.py"))
    for name in sorted(set(re.findall(r"`(w2vneg(?:\.\w+)+)`", text))):
        parent, _, last = name.rpartition(".")
        assert hasattr(import_module(parent), last) or import_module(name)


def test_similarity_credits_the_authors_of_the_relaxed_softmax():
    authors = re.search(r"\((\w+ and \w+ \d{4})", relaxed_softmax.__doc__)[1]
    assert f"({authors}, relaxed softmax)" in similarity.__doc__


def test_the_list_of_studies_names_nothing_private():
    from w2vneg.reproduce import STUDIES

    assert not [name for name in STUDIES if "`_" in STUDIES[name].__doc__]
