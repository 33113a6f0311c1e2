"""A model folder, which may be somebody else's, neither runs code nor chooses what is overwritten."""

import json
import os
import re
import sys
from pathlib import Path

import pytest
from reading import change_options

from w2vneg import Word2Vec
from w2vneg.ground.errors import ConfigError
from w2vneg.objectives.presets import PRESETS
from w2vneg.objectives.readout import READOUTS

PLUGIN = """
from pathlib import Path

from w2vneg.objectives.presets import Preset, register_preset

register_preset("mine", Preset("ns", {"sampler": "popularity", "exclude": "target"}, "ns by another name", "ours"))
Path("ran").touch()
"""


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("W2VNEG_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def foreign(tmp_path, run_cli):
    """A model folder of another user's, whose output and plug-in exist: (folder, output)."""
    (tmp_path / "corpus.txt").write_text("a b c a b c\n" * 50)
    (tmp_path / "plug.py").write_text(PLUGIN)
    options = ["--plugin", "plug.py", "--loss", "mine", "--dim=4", "--min-count=1", "--epochs=1", "--workers=1"]
    options += ["--subsample=0", "--output", "theirs.txt", "--save-model", "model"]
    done = run_cli("train", "--corpus", "corpus.txt", *options)
    assert done.code == 0, done.err
    change_options(tmp_path / "model", epochs=2)
    (tmp_path / "theirs.txt").write_text("precious")
    (tmp_path / "ran").unlink(missing_ok=True)
    forget_plugin()  # as a fresh process would
    yield tmp_path / "model"
    forget_plugin()


def forget_plugin():
    sys.modules.pop("w2vneg_plugin_plug", None)
    PRESETS.pop("mine", None)


def test_a_plugin_that_a_folder_names_runs_only_if_it_is_named_again(foreign, run_cli):
    result = run_cli("train", "--resume", foreign, "--output", "mine.txt")
    assert result.code == 1
    own = os.path.abspath("plug.py")
    remedy = f"runs {own}; if you trust that code, name it: --plugin {own}, in Python plugin={own!r}"
    assert f"continuing from {foreign} {remedy}" in result.err
    assert not Path("ran").exists()
    with pytest.raises(ConfigError, match=re.escape(remedy)):
        Word2Vec.load(foreign)
    assert not Path("ran").exists()
    assert Word2Vec.load(foreign, plugin="plug.py").config.plugin.endswith("plug.py")
    assert Path("ran").exists()
    assert Word2Vec.load(foreign).config.plugin.endswith("plug.py")  # it has run in this process already


def test_all_plugins_of_a_folder_are_named_again_where_some_do_not_do(foreign, run_cli, request):
    others = {"mix.py": "mix", "moved.py": "mix", "same.py": "other"}
    for file, name in others.items():
        Path(file).write_text(
            f"from w2vneg.objectives.readout import READOUTS, Readout\n@READOUTS.register('{name}')\n"
            "class Mix(Readout):\n    def read(self, trained, vectors):\n        return trained.vectors_in\n"
        )

    def forget():
        for file, name in others.items():
            READOUTS.unregister(name)
            sys.modules.pop(f"w2vneg_plugin_{Path(file).stem}", None)

    request.addfinalizer(forget)
    mix, plug = (os.path.abspath(file) for file in ("mix.py", "plug.py"))
    both = f"{mix},{plug}"
    change_options(foreign, readout="mix", plugin=both)
    for given, missing in (("plug.py", mix), ("same.py", f"{mix}, {plug}")):
        result = run_cli("train", "--resume", foreign, "--plugin", given)
        assert result.code == 1, result.err
        assert f"trained with {missing}, too: unknown read-out 'mix'" in result.err
        assert f"if you trust that code, name it: --plugin {both}, in Python plugin={both!r}" in result.err
        forget_plugin()
    assert Word2Vec.load(foreign, plugin="moved.py,plug.py").config.readout == "mix"


def test_a_folder_does_not_choose_what_is_overwritten(foreign, run_cli):
    harmless = change_options(foreign, plugin=None, preset="ns")
    (foreign / "config.json").write_text(json.dumps(harmless | {"loss": {"name": "ns"}}))
    Path("vectors.txt").write_text("mine")
    result = run_cli("train", "--resume", foreign)
    assert result.code == 0, result.err
    assert "No vectors are written to" in result.err and "Name a file with --output" in result.err
    assert Path("theirs.txt").read_text() == "precious" and Path("vectors.txt").read_text() == "mine"
    result = run_cli("train", "--resume", foreign, "--epochs=3", "--output", "new.txt")
    assert result.code == 0 and Path("new.txt").read_text().startswith("3 4\n")
    before = Path("new.txt").read_bytes()
    result = run_cli("train", "--resume", foreign, "--epochs=4")  # there are vectors of this shape
    assert result.code == 0 and Path("new.txt").read_bytes() != before


def test_a_folder_does_not_choose_a_place_elsewhere(foreign, run_cli, tmp_path, monkeypatch):
    harmless = change_options(foreign, plugin=None, preset="ns")
    (foreign / "config.json").write_text(json.dumps(harmless | {"loss": {"name": "ns"}}))
    Path("theirs.txt").unlink()
    Path("below").mkdir()
    monkeypatch.chdir("below")
    result = run_cli("train", "--resume", foreign)
    assert result.code == 0 and "No vectors are written to" in result.err
    assert not (tmp_path / "theirs.txt").exists()
