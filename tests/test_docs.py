"""What docstrings and pages say of the code itself: names that are there, and papers by their authors."""

import csv
import dataclasses
import json
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import w2vneg
from w2vneg.objectives.losses import relaxed_softmax
from w2vneg.vectors.evaluation import similarity

ROOT = Path(w2vneg.__file__).parent
HOME = Path(__file__).parent.parent
DOCS = HOME / "docs"
PAGES = [HOME / "README.md", HOME / "CHANGELOG.md", *sorted(DOCS.rglob("*.md"))]


def prose(page):
    """Return a page without its fenced blocks."""
    return re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)


def anchors(page):
    """Return what headings of a page are called in links to them."""
    titles = re.findall(r"^#+ (.*)$", prose(page), flags=re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(HOME)))
def test_links_lead_to_what_is_there(page):
    links = re.findall(r"\]\(([^)\s]+)\)", prose(page))
    for link in links:
        if re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


def test_every_page_stands_in_the_list_of_pages():
    listed = set(re.findall(r"\]\(([^)#]+)\)", prose(DOCS / "README.md")))
    pages = {path.name for path in DOCS.glob("*.md")} - {"README.md"}
    assert pages <= listed, f"docs/README.md should have a line for {', '.join(sorted(pages - listed))}"


def test_every_page_stands_in_the_navigation_of_the_site():
    """The journal's days apart, which its first page lists, and what studies write, which the page of claims does."""
    from studies import STUDIES

    text = (HOME / "mkdocs.yml").read_text(encoding="utf-8")
    listed = set(re.findall(r"[\w/-]+\.md", text.split("\nnav:")[1]))
    pages = {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")}
    pages = {page for page in pages if not page.startswith("journal/2")}
    assert pages - {f"reproductions/{name}.md" for name in STUDIES} <= listed <= pages


def test_the_journal_is_not_linked_from_the_readme():
    assert "journal" not in prose(HOME / "README.md")


def test_figures_of_the_benchmarks_stand_in_the_files_beside_them():
    """A table with a CSV named before the next heading shows nothing that the file does not hold."""
    sections = re.split(r"^## ", prose(DOCS / "benchmarks.md"), flags=re.MULTILINE)
    checked = 0
    for section in sections:
        files = re.findall(r"\]\((benchmarks/[\w-]+\.csv)\)", section)
        rows = [line.split("|")[2:-1] for line in section.splitlines() if re.match(r"\| .*\d.*\|$", line)]
        if not files:
            continue
        lines = [line for name in files for line in (DOCS / name).read_text(encoding="utf-8").splitlines()]
        known = {float(cell) for row in csv.reader(lines) for cell in row if re.fullmatch(r"-?[\d.]+", cell)}
        for row in rows:
            for cell in (cell.strip().replace(",", "") for cell in row):
                if re.fullmatch(r"\.?\d[\d.]*", cell):
                    checked += 1
                    assert float(cell) in known, (section.splitlines()[0], cell)
    assert checked > 50


def test_the_citation_names_this_version():
    text = (HOME / "CITATION.cff").read_text(encoding="utf-8")
    fields = dict(line.split(": ", 1) for line in text.splitlines() if re.match(r"[a-z-]+: ", line))
    assert (fields["title"], fields["version"], fields["type"]) == ("w2vneg", w2vneg.__version__, "software")


def test_what_is_named_with_its_module_is_there():
    text = "".join(path.read_text(encoding="utf-8") for path in ROOT.rglob("*.py"))
    for name in sorted(set(re.findall(r"`(w2vneg(?:\.\w+)+)`", text))):
        parent, _, last = name.rpartition(".")
        assert hasattr(import_module(parent), last) or import_module(name)


def test_similarity_credits_the_authors_of_the_relaxed_softmax():
    authors = re.search(r"\((\w+ and \w+ \d{4})", relaxed_softmax.__doc__)[1]
    assert f"({authors}, relaxed softmax)" in similarity.__doc__


def test_the_list_of_studies_names_nothing_private():
    from studies import STUDIES

    assert not [name for name in STUDIES if "`_" in STUDIES[name].__doc__]


def test_generated_pages_are_those_of_the_code():
    """In a process of its own, as other tests register plugs."""
    code = (
        "import json, runpy, sys; pages = runpy.run_path('docs/generate.py')['PAGES'];"
        "json.dump({name: make() for name, make in pages.items()}, sys.stdout)"
    )
    run = subprocess.run([sys.executable, "-c", code], cwd=HOME, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    pages = json.loads(run.stdout)
    for page, made in pages.items():
        assert made == (DOCS / page).read_text(encoding="utf-8"), f"docs/{page} is of an earlier state: make docs"


def test_public_classes_have_type_hints():
    """Every argument and every result, of what `w2vneg` exports."""
    import inspect

    for name in ("Word2Vec", "Slim", "TrainConfig", "Input", "Vectors", "Vocabulary"):
        cls = getattr(w2vneg, name)
        bases = [base for base in cls.__mro__ if base.__module__.startswith("w2vneg")]
        for method, value in [pair for base in bases for pair in vars(base).items()]:
            function = value.__func__ if isinstance(value, classmethod | staticmethod) else value
            function = function.fget if isinstance(function, property) else function
            if not inspect.isfunction(function) or (method.startswith("_") and method != "__init__"):
                continue
            signature = inspect.signature(function)
            arguments = [one for one in signature.parameters.values() if one.name not in ("self", "cls")]
            hinted = all(one.annotation is not one.empty for one in arguments)
            assert hinted and signature.return_annotation is not signature.empty, f"{name}.{method}"


@pytest.mark.skipif(sys.version_info < (3, 11), reason="overloads are not kept before Python 3.11")
@pytest.mark.parametrize("name", ["most_similar", "similar_by_key", "similar_by_vector", "most_similar_cosmul"])
def test_checkers_of_types_know_lists_of_the_nearest_from_cosines_of_all(name):
    from typing import get_overloads

    nearest, cosines = (one.__annotations__ for one in get_overloads(getattr(w2vneg.Vectors, name)))
    assert (nearest["topn"], nearest["return"], cosines["topn"], cosines["return"]) == (
        "int", "Near", "None", "np.ndarray")  # fmt: skip


def test_checkers_of_types_take_names_and_arrays_of_texts():
    assert w2vneg.Vectors.__contains__.__annotations__["word"] == "Name"
    assert w2vneg.Vectors.encode.__annotations__["texts"].endswith("| np.ndarray")


def test_a_page_names_all_fields_of_events():
    from w2vneg.ground import events

    page = (DOCS / "exit-codes.md").read_text(encoding="utf-8").partition("## Events")[2].partition("## ")[0]
    rows = [line.split("|")[1:3] for line in page.splitlines() if line.startswith("| `")]
    named = {name: set(re.findall(r"`(\w+)`", told)) for names, told in rows for name in re.findall(r"`(\w+)`", names)}
    assert len(named) == 7
    for name, fields in named.items():
        assert fields | {"epoch"} == {field.name for field in dataclasses.fields(getattr(events, name))}, name
    assert "in `--log-json`, `time`" in " ".join(page.split())  # the history has none
