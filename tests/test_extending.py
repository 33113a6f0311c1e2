"""docs/extending.md: every example is complete, passes its own checks, and its commands run."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from w2vneg import Vectors
from w2vneg.config import TrainConfig
from w2vneg.data.readers import READERS
from w2vneg.data.sources import SOURCES, TRAVERSALS
from w2vneg.objectives.inputs import INPUTS
from w2vneg.objectives.losses import LOSSES
from w2vneg.objectives.plugins import load_plugins
from w2vneg.objectives.presets import PRESETS
from w2vneg.objectives.readout import READOUTS
from w2vneg.objectives.samplers import SAMPLERS
from w2vneg.objectives.weighers import WEIGHERS
from w2vneg.run.model import Model

PAGE = (Path(__file__).parents[1] / "docs" / "extending.md").read_text(encoding="utf-8")
PYTHON = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
COMMANDS = re.findall(r"```sh\n(.*?)```", PAGE, flags=re.DOTALL)
KINDS = {
    "squared_hinge": ("loss", "lead"),
    "head": ("sampler", "tail"),
    "rarity": ("weigher", "rarity"),
    "nearest": ("inputs", "most"),
    "clicks": ("source", "min_pages"),
    "mixed": ("readout", "readout"),
}
*PLUGS, READER = [PYTHON[0], *PYTHON[2:]]
EXAMPLES = dict(zip(KINDS, zip(PLUGS, COMMANDS[:-1], strict=True), strict=True))


@pytest.fixture(params=EXAMPLES)
def example(request, tmp_path, monkeypatch):
    """(name of the file, its commands), in a folder with the file and a text."""
    text, commands = EXAMPLES[request.param]
    (tmp_path / f"{request.param}.py").write_text(text, encoding="utf-8")
    (tmp_path / "clicks.txt").write_text("1 a\n2 b\n1 c\n2 c\n1 b\n2 d\n" * 50, encoding="utf-8")
    (tmp_path / "corpus.txt").write_text("a b c d e f\n" * 200, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    yield request.param, [shlex.split(line)[1:] for line in commands.strip().splitlines()]
    for table, name in (
        (LOSSES, "squared-hinge"),
        (SAMPLERS, "head"),
        (WEIGHERS, "rarity"),
        (INPUTS, "nearest"),
        (SOURCES, "clicks"),
        (TRAVERSALS, "visits"),
        (READOUTS, "mixed"),
    ):
        table.unregister(name)


def test_each_example_passes_its_own_checks(run_cli, example):
    name, (check, _) = example
    result = run_cli(*check)
    assert result.code == 0, result.out + result.err
    if name not in ("nearest", "clicks", "mixed"):
        assert check[0] == "objectives" and "--check" in check
        assert result.out.count("pass") >= 2
    if name == "clicks":
        assert TrainConfig(source="visits").resolved().source.subsample == 0


@pytest.mark.slow
def test_each_example_trains_and_resumes_in_processes_of_their_own(example):
    name, (_, train) = example
    small = ["--dim=4", "--min-count=1", "--epochs=2", "--workers=1", "--subsample=0", "--save-model=model", "--quiet"]
    small.append("--output=vectors.txt")
    for words in ([*train, *small], ["train", "--resume", "model", "--plugin", f"{name}.py"]):
        run = subprocess.run([sys.executable, "-m", "w2vneg", *words], capture_output=True, text=True, check=False)
        assert run.returncode == 0, run.stderr
    assert np.isfinite(Vectors.load("vectors.txt").matrix).all()
    load_plugins(f"{name}.py")
    model = Model.load("model")
    kind, option = KINDS[name]
    value = model.origin.input[option] if kind == "source" else model.config.as_dict()[option]
    assert value == (train[-1] if kind == "readout" else float(train[-1]))


def test_the_reader_of_the_page_is_a_tokenizer(run_cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lines.py").write_text(READER, encoding="utf-8")
    (tmp_path / "plays.txt").write_text("Hamlet: to be or not\nGhost: to swear\nno one says\n" * 5, encoding="utf-8")
    small = ["--dim=4", "--loss=ns", "--epochs=1", "--min-count=1", "--subsample=0", "--save-model=model", "--quiet"]
    try:
        result = run_cli(*shlex.split(COMMANDS[-1])[1:], *small)
        assert result.code == 0, result.err
        model = Model.load("model")
        assert set(model.vocab.words) == {"to", "be", "or", "not", "swear"}
        assert model.origin.input["tokenizer"] == "no-speaker"
        READERS.unregister("no-speaker")  # edited, it reads anew what the cache has
        sys.modules.pop("w2vneg_plugin_lines", None)
        (tmp_path / "lines.py").write_text(READER.replace("[2] + b", "[0] + b"), encoding="utf-8")
        assert run_cli(*shlex.split(COMMANDS[-1])[1:], *small, "--force").code == 0
        assert set(Model.load("model").vocab.words) == {"Hamlet", "Ghost", "no", "one", "says"}
    finally:
        READERS.unregister("no-speaker")


def test_the_preset_of_the_page_is_one():
    (text,) = (block for block in PYTHON if "register_preset" in block)
    try:
        exec(text, {})
        assert PRESETS["sh-hard"].loss == "squared-hinge"
    finally:
        PRESETS.pop("sh-hard", None)


def test_the_hooks_of_the_page_are_there():
    from w2vneg.kernels import ahead, contracts

    for hook in re.findall(r"implement_\w+", PAGE):
        assert hasattr(contracts, hook) or hasattr(ahead, hook), hook
