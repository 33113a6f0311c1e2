"""A model folder from somebody else neither runs code nor chooses what is overwritten."""

import json
import os
import shutil
import stat
import sys
from pathlib import Path

import pytest

from w2vneg import Word2Vec
from w2vneg.ground.errors import ConfigError
from w2vneg.ground.files import signature
from w2vneg.objectives.presets import PRESETS
from w2vneg.run.model import Model

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


def test_only_this_very_content_of_this_user_is_signed(tmp_path, monkeypatch):
    content = {"plugin": None, "output": "/a/vectors.txt"}
    assert not signature.is_signed(tmp_path, content)
    signature.write_signature(tmp_path, content)
    assert signature.is_signed(tmp_path, content)
    assert not signature.is_signed(tmp_path, content | {"plugin": "/evil.py"})
    monkeypatch.setenv("W2VNEG_CACHE", str(tmp_path / "of another user"))
    assert not signature.is_signed(tmp_path, content)
    signature.write_signature(tmp_path, {})  # makes a secret of that user's
    assert not signature.is_signed(tmp_path, content)


@pytest.mark.parametrize("damage", ["", "[]", "{}", '{"hmac-sha256": 3}', "\x00", '{"hmac-sha256": "é"}'])
def test_a_damaged_signature_is_none(tmp_path, damage):
    signature.write_signature(tmp_path, {})
    (tmp_path / "signature.json").write_text(damage)
    assert not signature.is_signed(tmp_path, {})


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="files have no owners on this system")
def test_the_secret_is_the_users_alone(tmp_path):
    signature.write_signature(tmp_path, {})
    (secret,) = (tmp_path / "cache").iterdir()
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600
    secret.chmod(0o640)  # now others may know it
    assert not signature.is_signed(tmp_path, {})


def test_without_a_place_for_the_secret_a_model_is_saved_all_the_same(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("W2VNEG_CACHE", str(tmp_path / "file" / "below"))
    signature.write_signature(tmp_path, {})
    assert not (tmp_path / "signature.json").exists()


@pytest.fixture
def foreign(tmp_path, run_cli):
    """A model folder of another user's, whose output and plug-in exist: (folder, output)."""
    (tmp_path / "corpus.txt").write_text("a b c a b c\n" * 50)
    (tmp_path / "plug.py").write_text(PLUGIN)
    options = ["--plugin", "plug.py", "--loss", "mine", "--dim=4", "--min-count=1", "--epochs=1", "--workers=1"]
    options += ["--subsample=0", "--output", "theirs.txt", "--save-model", "model"]
    done = run_cli("train", "--corpus", "corpus.txt", *options)
    assert done.code == 0, done.err
    config = json.loads((tmp_path / "model" / "config.json").read_text())
    (tmp_path / "model" / "config.json").write_text(json.dumps(config | {"epochs": 2}))
    (tmp_path / "theirs.txt").write_text("precious")
    (tmp_path / "ran").unlink(missing_ok=True)
    forget_plugin()  # as a fresh process would
    yield tmp_path / "model"
    forget_plugin()


def forget_plugin():
    sys.modules.pop("w2vneg_plugin_plug", None)
    PRESETS.pop("mine", None)


def test_ones_own_run_goes_on_where_it_was_to_go(foreign):
    model = Model.load(foreign)
    assert model.signed
    assert model.config_to_run(foreign) == model.config


def test_a_plugin_of_somebody_elses_folder_runs_only_if_it_is_named(foreign, run_cli):
    shutil.rmtree("cache")
    result = run_cli("train", "--resume", foreign, "--output", "mine.txt")
    assert result.code == 1
    assert "was not written by you on this machine" in result.err and "plug.py" in result.err
    assert "name it with --plugin" in result.err
    assert not Path("ran").exists()
    with pytest.raises(ConfigError, match="was not written by you"):
        Word2Vec.load(foreign)
    assert not Path("ran").exists()
    assert Word2Vec.load(foreign, plugin="plug.py").config.plugin.endswith("plug.py")


def test_somebody_elses_folder_does_not_choose_what_is_overwritten(foreign, run_cli):
    config = json.loads((foreign / "config.json").read_text())
    (foreign / "config.json").write_text(json.dumps(config | {"plugin": None, "loss": "ns"}))
    Path("vectors.txt").write_text("mine")
    result = run_cli("train", "--resume", foreign)
    assert result.code == 0, result.err
    assert "No vectors are written to" in result.err and "Name a file with --output" in result.err
    assert Path("theirs.txt").read_text() == "precious" and Path("vectors.txt").read_text() == "mine"
    result = run_cli("train", "--resume", foreign, "--output", "new.txt")  # which is one's own now
    assert result.code == 0 and Path("new.txt").read_text().startswith("3 4\n")
