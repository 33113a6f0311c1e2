"""--plugin before a command, files of options that name plug-ins, and what a model folder keeps of them."""

import sys
from itertools import takewhile
from pathlib import Path

import pytest
from planted import as_text, two_topics

from w2vneg.data.sources import SOURCES, TRAVERSALS
from w2vneg.objectives.losses import LOSSES
from w2vneg.objectives.plugins import _module_of
from w2vneg.objectives.presets import PRESETS
from w2vneg.objectives.readout import READOUTS
from w2vneg.run.model import Model

PAGE = (Path(__file__).parents[2] / "docs" / "extending.md").read_text(encoding="utf-8")
PRESET = """
from w2vneg.objectives.presets import Preset, register_preset
register_preset('NAME', Preset('ns', {'sampler': 'uniform'}))
"""
SMALL = ["--corpus=corpus.txt", "--dim=4", "--min-count=1", "--epochs=1", "--workers=1", "--subsample=0", "--quiet"]
TABLES = LOSSES, PRESETS, READOUTS, SOURCES, TRAVERSALS


def example(title):
    """Return the plug-in of docs/extending.md whose docstring begins so."""
    begun = PAGE[PAGE.index(f'"""{title}') :].splitlines()
    return "\n".join(takewhile(lambda line: line != "```", begun)) + "\n"


def forget():
    """Be another process, in which no plug-in is loaded."""
    for name in [name for name in sys.modules if name.startswith("w2vneg_plugin_")]:
        del sys.modules[name]
    for table in TABLES:
        for name in [
            name for name in table if name in ("mixed", "clicks", "visits", "squared-hinge", "one", "two", "other")
        ]:
            table.unregister(name) if hasattr(table, "unregister") else table.pop(name)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "corpus.txt").write_text(as_text(two_topics()))
    (tmp_path / "valid.tsv").write_text("a1\ta2\t1\nb1\tb2\t2\n")
    (tmp_path / "clicks.txt").write_text("".join(f"{i % 40} p{i * i % 83 % 30}\n" for i in range(800)))
    (tmp_path / "mixed.py").write_text(example("mixed.py"))
    (tmp_path / "clicks.py").write_text(example("Clicks on a web site"))
    (tmp_path / "one.py").write_text(PRESET.replace("NAME", "one"))
    (tmp_path / "two.py").write_text(PRESET.replace("NAME", "two"))
    yield tmp_path
    forget()


def run(run_cli, *arguments, code=0):
    """Run a command as a process of its own would."""
    forget()
    result = run_cli(*arguments)
    assert result.code == code, result.out + result.err
    return result


def test_vectors_of_a_readout_of_one_s_own_serve_every_command(folder, run_cli):
    run(run_cli, "train", *SMALL, "--loss=ns", "--plugin=mixed.py", "--readout=mixed:share=0.25", "--save-model=model")
    assert Model.load("model").config.plugin == str(folder / "mixed.py")
    assert f'plugin = "{folder / "mixed.py"}"' in Path("model/run.toml").read_text()
    refused = run(run_cli, "nearest", "a1", "--vectors=model", code=1).err
    assert f"'w2vneg --plugin {folder / 'mixed.py'} eval …'" in refused
    assert "It comes first: w2vneg --plugin" in run(run_cli, "nearest", "a1", "--plugin=mixed.py", code=2).err
    for words in ("nearest a1 --vectors model", "export model model.npz", "report model --out page.html"):
        run(run_cli, "--plugin", "mixed.py", *words.split())
    assert Path("model.npz").exists() and Path("page.html").exists()
    run(run_cli, "--plugin=one.py", "--plugin=mixed.py", "train", *SMALL, "--plugin=two.py", "--loss=two", "--force")
    said = run(run_cli, "nearest", "a1", "--vectors=model", "--readout=in", "--json").out
    assert '"a2"' in said


def test_several_plugins_add_up(folder, run_cli):
    named = ["--plugin=one.py", "train", "--plugin=two.py", "--plugin", "mixed.py"]
    run(run_cli, *named, *SMALL, "--loss=one", "--save-model=model")
    assert Model.load("model").config.plugin == ",".join(str(folder / f"{name}.py") for name in ("one", "two", "mixed"))
    resumed = ["--plugin=one.py", "train", "--resume=model", "--epochs=2", "--corpus=corpus.txt", "--quiet"]
    run(run_cli, *resumed)
    assert Model.load("model").config.plugin == str(folder / "one.py")


def test_data_of_a_source_of_one_s_own_can_be_split(folder, run_cli):
    run(run_cli, "--plugin", "clicks.py", "split", "--clicks", "clicks.txt", "--window=2", "--out=parts")
    assert Path("parts/test.tsv").exists()
    assert "--clicks" in run(run_cli, "--plugin", "clicks.py", "split", "--help").out


def test_runs_that_are_compared_bring_their_plugins(folder, run_cli):
    for name in ("one", "two"):
        Path(f"{name}.toml").write_text(f"loss = '{name}'\nplugin = '{name}.py'\nnegatives = {len(name)}\n")
    rest = [*SMALL, "--valid=valid.tsv", "--seeds=1", "--files=md"]
    run(run_cli, "compare", "one.toml", "two.toml", *rest, "--out=both")
    assert {"one", "two"} <= set(Path("both/compare.md").read_text().split())
    Path("other.py").write_text(PRESET.replace("NAME", "other"))
    run(run_cli, "compare", "one.toml", "two.toml", *rest, "--plugin=other.py", "--out=beside")
    run(run_cli, "train", *SMALL, "--plugin=one.py", "--loss=one", "--save-model=model")
    refused = run(run_cli, "compare", "model", "two.toml", *rest, "--out=none", code=1).err
    assert (
        f"model needs the plug-in {folder / 'one.py'}, which is not loaded" in refused and "w2vneg --plugin" in refused
    )
    run(run_cli, "--plugin=one.py,two.py", "compare", "model", *rest, "--out=loaded")


def test_the_best_of_a_search_names_its_plugin_for_any_folder(folder, run_cli, monkeypatch):
    rest = [*SMALL, "--valid=valid.tsv", "--plugin=one.py", "--loss=one", "--grid=negatives=2,3"]
    run(run_cli, "tune", *rest, "--out=search")
    assert f'plugin = "{folder / "one.py"}"' in Path("search/best.toml").read_text()
    assert _module_of("one.py") in sys.modules
