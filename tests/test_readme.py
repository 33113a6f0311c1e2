"""What README and docs promise: their commands run, their Python runs, their example of a loss trains."""

import re
import shlex
import shutil
import warnings
from itertools import pairwise
from pathlib import Path

import click
import numpy as np
import pytest
from made_up import write_item_files, write_movielens_folders

from benchmarks.commands import bench
from studies.__main__ import studies as study
from w2vneg.cli import cli
from w2vneg.data import catalog as datasets
from w2vneg.ground.errors import InputError

ROOT = Path(__file__).parent.parent
DOCUMENTS = ["README.md", *(f"docs/{path.name}" for path in sorted((ROOT / "docs").glob("*.md")))]
REPRODUCTIONS = [f"docs/reproductions/{path.name}" for path in sorted((ROOT / "docs/reproductions").glob("*.md"))]
PAGES = ["CHANGELOG.md", *DOCUMENTS, *REPRODUCTIONS]  # not the journal: its commands are those of their day
RUNNING = [
    f"docs/{name}.md" for name in ("text", "items", "choosing", "formats", "splits", "ranking", "tuning", "graphs")
]


def blocks(document, language):
    """Return the fenced blocks of one language in a document at the root."""
    text = (ROOT / document).read_text(encoding="utf-8")
    return [block.replace("\\\n", " ") for block in re.findall(rf"```{language}\n(.*?)```", text, flags=re.DOTALL)]


@pytest.fixture
def text(tmp_path, gensim):
    """A text with every word that the README asks about, and those of the evaluation sets at hand."""
    words = {"france", "man", "king", "woman", "queen", "paris", "germany", "berlin"}
    for name in ("ws353", "simlex999", "google"):
        lines = datasets.resolve(name).read_text(encoding="utf-8").lower().splitlines()
        words.update(word for line in lines for word in re.findall(r"[a-z]{3,}", line)[:4])
    rng = np.random.default_rng(1)
    order = sorted(words)
    path = tmp_path / "text.txt"
    path.write_text("\n".join(" ".join(rng.choice(order, 20)) for _ in range(2500)) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def no_network(monkeypatch):
    """Sets that are not on this machine are told as missing rather than fetched."""

    def refuse(*arguments, **options):
        raise OSError("no network in this test")

    monkeypatch.setattr("urllib.request.urlopen", refuse)
    monkeypatch.setattr("urllib.request.OpenerDirector.open", refuse)


def commands(document):
    """Return the arguments of each command of a document, in order."""
    lines = [shlex.split(line, comments=True) for block in blocks(document, "sh") for line in block.splitlines()]
    lines = [words for words in lines if words]
    assert {words[0] for words in lines} <= {"w2vneg", "make", "pip", "python"}
    return [words[1:] for words in lines if words[0] == "w2vneg"]


def measurements(document):
    """Return the arguments of each ``python -m benchmarks`` in the blocks of a document."""
    lines = [shlex.split(line, comments=True) for block in blocks(document, "sh") for line in block.splitlines()]
    return [words[3:] for words in lines if words[:3] == ["python", "-m", "benchmarks"]]


def smaller(command):
    """Return the command with fewer epochs and numbers than the document asks for; of an option given twice the last
    counts. What it trains is compiled for no length of its own.
    """
    searched = {word.partition("=")[0] for flag, word in pairwise(command) if flag == "--grid"}
    if command[0] == "warmup":
        return [*command, "--dim=8"]
    if command[0] not in ("train", "tune") or {"--resume", "--update"} & set(command):
        return command
    command = ["dim=4,8" if word == "dim=50,100" else word for word in command]
    force = ["--force"] if command[0] == "train" else []  # a page shows several runs, not one after the other
    small = (f"--{name}={value}" for name, value in (("epochs", 2), ("dim", 8)) if name not in searched)
    return [*command, *force, *small]


def run_python(document):
    """Run the Python of a document, training 8 numbers where it takes 100 or says nothing."""
    for block in blocks(document, "python"):
        block = re.sub(r"\b(Word2Vec|TrainConfig)\((?=\w+=)", r"\1(dim=8, ", block.replace("dim=100, ", ""))
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "the loss has hardly fallen")  # of words drawn at random
            exec(compile(block, document, "exec"), {})


def run_all(document, run_cli):
    for command in commands(document):
        result = run_cli(*smaller(command))
        assert result.code == 0, (command, result.err)
        assert "Traceback" not in result.err
        assert "yet all compete" not in result.err  # a warning that our own examples should not earn


@pytest.fixture
def folder(tmp_path, monkeypatch, text):
    """The current folder, with files of the names that README and docs use."""
    monkeypatch.chdir(tmp_path)
    write_item_files(tmp_path)
    write_movielens_folders(tmp_path)
    (tmp_path / "valid.tsv").write_text("france\tparis\t1\nking\tqueen\t2\n")
    edges = [f"n{i},n{(i * step) % 31},{step}\n" for i in range(1, 31) for step in (2, 3, 5)]
    (tmp_path / "graph.csv").write_text("source,target,weight\n" + "".join(edges))
    (tmp_path / "labels.tsv").write_text("".join(f"n{i}\t{'ab'[i % 2]}\n" for i in range(31)))
    (tmp_path / "articles").mkdir()
    for name in ("corpus.txt", "newer.txt", "text8", "articles/one.zst"):  # packed or not is told by the content
        shutil.copy(text, name)
    return tmp_path


def test_commands_and_python_of_the_readme_run(run_cli, folder, no_network):
    assert [c[:2] for c in commands("README.md")[:3]] == [
        ["train", "--corpus"],
        ["eval", "similarity"],
        ["nearest", "france"],
    ]
    run_all("README.md", run_cli)
    run_python("README.md")


COMPILES_MUCH = ("docs/choosing.md",)  # cis, which is trained by slow tests alone


@pytest.mark.parametrize(
    "document", [pytest.param(name, marks=[pytest.mark.slow] if name in COMPILES_MUCH else []) for name in RUNNING]
)
def test_commands_and_python_of_the_pages_run(run_cli, folder, no_network, as_python, monkeypatch, document):
    monkeypatch.setattr("w2vneg.run.diagnostics._NUMBERS", 2000)  # that many draws are looked at
    assert commands(document)
    run_all(document, run_cli)
    run_python(document)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_what_stands_in_for_named_sets_has_their_names(document):
    """A stand-in of a name that is none would hide it."""
    sources = {"--corpus", "--baskets", "--ratings", "--pairs", "--titles"}
    named = {
        word
        for command in commands(document)
        for flag, word in pairwise(command)
        if flag in sources and re.fullmatch(r"[\w-]+", word)
    }
    assert named <= set(datasets.names())


@pytest.mark.parametrize("document", PAGES)
def test_commands_named_in_a_document_have_the_options_they_are_named_with(document):
    """Those in blocks and those within sentences, most of which no test runs."""
    text = re.sub(r"```.*?```", "", (ROOT / document).read_text(encoding="utf-8"), flags=re.DOTALL)
    spans = [" ".join(span.split()) for span in re.findall(r"`([a-z][^`]*)`", text)]
    within = [shlex.split(span.removeprefix("w2vneg ")) for span in spans if " --" in span]
    within = [words for words in within if words[0] in cli.list_commands(None)]
    start = "python -m benchmarks "
    measured = [shlex.split(span.removeprefix(start)) for span in spans if span.startswith(start)]
    for tree, calls in ((cli, [*commands(document), *within]), (bench, [*measurements(document), *measured])):
        for words in calls:
            check_options(tree, words)


HELP = {"help_option_names": ["-h", "--help"]}  # as in w2vneg.cli; commands remember those of their first context


def check_options(command, words):
    """Raise NoSuchOption if a command has not all the options it is named with."""
    context = click.Context(command, info_name="w2vneg", **HELP)
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        name, command, words = command.resolve_command(context, words)
        context = click.Context(command, info_name=name, parent=context)
    try:
        command.make_context(context.info_name, list(words), context.parent)
    except click.NoSuchOption:
        raise
    except (click.UsageError, click.exceptions.Exit, InputError):
        pass  # a plug-in or options file that is not there; a command by its name alone, `--seed N`, `…`; --help


@pytest.mark.parametrize("document", PAGES)
def test_options_named_in_a_document_exist(document):
    def flags(command):
        context = click.Context(command, **HELP)
        yield from (flag for one in command.get_params(context) for flag in (*one.opts, *one.secondary_opts))
        if isinstance(command, click.Group):
            for name in command.list_commands(context):
                yield from flags(command.get_command(context, name))

    text = re.sub(r"```python.*?```", "", (ROOT / document).read_text(encoding="utf-8"), flags=re.DOTALL)
    own = {
        "docs/extending.md": {
            "--clicks",
            "--head",
            "--lead",
            "--min-pages",
            "--rarity",
            "--tail",
        },  # examples
        "docs/migrating.md": {
            "--dimensions",
            "--extend",
            "--input",
            "--mode",
            "--num-walks",
            "--output",
            "--random",
            "--verbose",
            "--weighted",
            "--window-size",
        },  # PecanPy's and node2vec's
        "docs/scaling.md": {"--address", "--generate", "--head"},  # Ray's
    }.get(document, set())
    known = {*flags(cli), *flags(bench), *flags(study), *own}
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]*[a-z]", text)) - known <= {"--help", "--version"}


@pytest.mark.realdata
def test_the_line_that_the_document_on_items_shows_is_printed(mirror, run_cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs" / "items.md").read_text(encoding="utf-8")
    command, line = re.search(r"\(`w2vneg (train [^`]*)`\):\n\n    (.*) in [0-9.]+ s\n", text).groups()
    assert line in run_cli(*smaller(command.split()), "--dry-run").err


def test_every_command_has_help_and_stands_in_a_page():
    from w2vneg.cli import _COMMANDS

    text = "".join((ROOT / document).read_text(encoding="utf-8") for document in PAGES)
    for command in _COMMANDS:
        assert cli.get_command(None, command).help
        assert f"w2vneg {command}" in text, command
