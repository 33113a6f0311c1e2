"""What README and docs promise: their commands run, their Python runs, their example of a loss trains."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from w2vneg import Vectors, datasets

ROOT = Path(__file__).parent.parent


def blocks(document, language):
    """Return the fenced blocks of one language in a document at the root."""
    text = (ROOT / document).read_text(encoding="utf-8")
    return [block.replace("\\\n", " ") for block in re.findall(rf"```{language}\n(.*?)```", text, flags=re.DOTALL)]


@pytest.fixture
def text(tmp_path):
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


def liked(folder):
    """Write ratings and titles of the form of MovieLens 100K, and baskets, with the ids that the README asks about."""
    rng = np.random.default_rng(2)
    rows = [
        f"{u}\t{i}\t{rng.integers(3, 6)}\t{rng.integers(10**6)}"
        for u in range(180, 220)
        for i in rng.permutation(60)[:25]
    ]
    (folder / "u.data").write_text("\n".join(rows) + "\n")
    (folder / "u.item").write_text("".join(f"{i}|Movie {i} (1990)|x\n" for i in range(60)))
    (folder / "baskets.txt").write_text("".join(" ".join(map(str, rng.permutation(60)[:8])) + "\n" for _ in range(100)))


@pytest.fixture
def no_network(monkeypatch):
    """Sets that are not on this machine are told as missing rather than fetched."""

    def refuse(*arguments, **options):
        raise OSError("no network in this test")

    monkeypatch.setattr("urllib.request.urlopen", refuse)
    monkeypatch.setattr("urllib.request.OpenerDirector.open", refuse)


def test_commands_of_the_readme_run(run_cli, text, tmp_path, monkeypatch, no_network):
    commands = [
        shlex.split(line, comments=True)[1:]
        for block in blocks("README.md", "sh")
        for line in block.splitlines()
        if line.startswith("w2vneg ")
    ]
    assert [c[:2] for c in commands[:3]] == [["train", "--corpus"], ["eval", "similarity"], ["nearest", "france"]]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "valid.tsv").write_text("france\tparis\t1\nking\tqueen\t2\n")
    liked(tmp_path)
    stand_in = {"text8": str(text), "articles/*.zst": str(text), "belgian-retail": "baskets.txt"}
    stand_in |= {"ml-100k": "u.data", "ml-100k-titles": "u.item"}
    for command in commands:
        result = run_cli(*(stand_in.get(word, word) for word in command))
        assert result.code == 0, (command, result.err)
        assert "Traceback" not in result.err


def test_every_command_has_help_and_stands_in_the_readme(run_cli):
    from w2vneg.cli import _COMMANDS

    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for command in _COMMANDS:
        assert run_cli(command, "--help").code == 0
        assert f"w2vneg {command}" in text, command


def test_python_of_the_readme_runs(run_cli, text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text.rename(tmp_path / "corpus.txt")
    liked(tmp_path)
    split = "split --ratings u.data --min-rating 4 --rectangular --out liked/"
    assert run_cli(*split.split()).code == 0
    for block in blocks("README.md", "python"):
        exec(compile(block, "README.md", "exec"), {})


def test_the_loss_of_the_architecture_document_trains_as_a_plugin(tmp_path):
    """Its own commands, each in a process of its own as a user would run them."""
    (tmp_path / "squared_hinge.py").write_text(blocks("docs/architecture.md", "python")[0], encoding="utf-8")
    (tmp_path / "text8").write_text("a b c d\n" * 300, encoding="utf-8")
    commands = [line for line in blocks("docs/architecture.md", "sh")[0].splitlines() if line.startswith("w2vneg ")]
    small = ["--dim=4", "--min-count=1", "--epochs=2", "--workers=1", "--subsample=0", "--save-model=model"]
    outputs = []
    for command in [*commands, "w2vneg train --resume model"]:
        words = shlex.split(command)[1:]
        small, more = ([], small) if "--corpus" in words else (small, [])
        run = subprocess.run(
            [sys.executable, "-m", "w2vneg", *words, *more], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert run.returncode == 0, run.stderr
        outputs.append(run.stdout)
    assert np.isfinite(Vectors.load(tmp_path / "vectors.txt").matrix).all()
    assert "squared-hinge-hard (preset): squared hinge, hard negatives" in outputs[1]
    config = json.loads((tmp_path / "model" / "config.json").read_text(encoding="utf-8"))
    assert (config["loss"], config["plugin"]) == ("squared-hinge", str(tmp_path / "squared_hinge.py"))
    history = (tmp_path / "model" / "history.jsonl").read_text(encoding="utf-8").splitlines()
    first, last = (json.loads(line)["loss"] for line in (history[0], history[-1]))
    assert last < first < json.loads(history[0])["untrained"] == 2.5
