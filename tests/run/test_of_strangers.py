"""Model folders, vectors, splits and comparisons of strangers: they choose no place, and damage is an error."""

import json
import os
import shutil

import numpy as np
import pytest

from w2vneg import Vectors, Word2Vec
from w2vneg.data.splitfiles import known_beside, parts_beside, shown_beside, trained_on
from w2vneg.ground.errors import InputError, OutputError, plain
from w2vneg.ground.files.locks import lock_file, owned
from w2vneg.run.model import Model
from w2vneg.run.search.comparing import read_compared


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("stranger")
    text = "\n".join(" ".join(f"w{(n * k) % 13}" for k in range(1, 9)) for n in range(60))
    (place / "text.txt").write_text(text)
    trained = Word2Vec(dim=4, epochs=1, min_count=1, subsample=0, seed=1)
    trained.fit(str(place / "text.txt"))
    trained.model.save(place / "model")
    return place / "model"


def changed(folder, place, name, change):
    """Copy a model and change one of its JSON files (dict) by a function."""
    copy = place / "model"
    shutil.copytree(folder, copy)
    values = json.loads((copy / name).read_text())
    (copy / name).write_text(json.dumps(change(values)))
    return copy


@pytest.mark.parametrize("name", ["../elsewhere/vectors.txt", ".envrc", "sub/.git/config", "link/vectors.txt", "a\0b"])
def test_a_resumed_model_chooses_no_place(folder, tmp_path, run_cli, monkeypatch, name):
    (tmp_path / "here").mkdir()
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    os.symlink(tmp_path / "elsewhere", "link")
    copy = changed(folder, tmp_path, "corpus.json", lambda own: {**own, "output": f"{os.getcwd()}/{name}"})
    found = run_cli("train", "--resume", str(copy))
    assert (found.code == 0 and "No vectors are written to" in found.err) or "\0" in name
    assert not list((tmp_path / "elsewhere").iterdir())
    assert sorted(path.name for path in (tmp_path / "here").iterdir()) == ["link"]


def test_a_lock_is_no_link(tmp_path):
    os.symlink(tmp_path / "made", lock_file(tmp_path / "model"))
    with pytest.raises(OutputError, match="cannot write"), owned(tmp_path / "model"):
        pass
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("corpus.json", lambda own: {**own, "input": {"kind": ["corpus"], "files": []}}),
        ("corpus.json", lambda own: {**own, "input": {"kind": "corpus", "files": 5}}),
        ("history.jsonl", lambda own: [1]),
        ("history.jsonl", lambda own: {"event": "EpochDone"}),
        ("history.jsonl", lambda own: {**own, "event": ["EpochDone"]}),
    ],
)
def test_damaged_records_are_named(folder, tmp_path, name, change):
    if name == "corpus.json":
        copy = changed(folder, tmp_path, name, change)
    else:
        copy = tmp_path / "model"
        shutil.copytree(folder, copy)
        first = (copy / name).read_text().splitlines()[0]
        (copy / name).write_text(json.dumps(change(json.loads(first))))
    with pytest.raises(InputError, match=name):
        Model.load(copy)


def test_a_lost_number_is_nan(folder, tmp_path):
    copy = tmp_path / "model"
    shutil.copytree(folder, copy)
    records = [json.loads(line) for line in (copy / "history.jsonl").read_text().splitlines()]
    lines = [json.dumps({**one, "loss": None} if one["event"] == "EpochDone" else one) for one in records]
    (copy / "history.jsonl").write_text("\n".join(lines))
    assert np.isnan([one["loss"] for one in Model.load(copy).history if one["event"] == "EpochDone"]).all()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_pipe_in_a_folder_is_refused(folder, tmp_path):
    copy = tmp_path / "model"
    shutil.copytree(folder, copy)
    (copy / "config.json").unlink()
    os.mkfifo(copy / "config.json")
    for read in (Model.load, Vectors.load):
        with pytest.raises(InputError, match="a device or a pipe"):
            read(copy)


@pytest.mark.parametrize(
    "change",
    [
        lambda made: made["options"].update(by=["user"]),
        lambda made: made.update(options=["by"]),
        lambda made: made["parts"]["train"].update(file=5),
        lambda made: made["parts"]["train"].update(file="../../etc/passwd"),
        lambda made: made["parts"]["test"].update(shown="x"),
        lambda made: made.update(sources=5),
        lambda made: made.update(sources=[{}]),
        lambda made: made.update(sources=[{"file": "f", "bytes": [1], "sha256": "a"}]),
    ],
)
def test_a_damaged_manifest_is_none(tmp_path, run_cli, change):
    lines = [f"u{n % 9}\ti{(n * n) % 7}\n" for n in range(90)]
    (tmp_path / "p.tsv").write_text("user\titem\n" + "".join(lines))
    done = run_cli("split", "--pairs", str(tmp_path / "p.tsv"), "--out", str(tmp_path / "split"), "--by", "pair")
    assert done.code == 0, done.err
    held, manifest = tmp_path / "split" / "test.tsv", tmp_path / "split" / "manifest.json"
    assert known_beside(held) == tmp_path / "split" / "train.tsv"
    values = json.loads(manifest.read_text())
    change(values)
    manifest.write_text(json.dumps(values))
    assert (known_beside(held), parts_beside(held), shown_beside(held)) == (None, {}, None)
    assert trained_on(held, [tmp_path / "p.tsv"]) is None


@pytest.mark.parametrize(
    "change",
    [
        {"mean": "x"},
        {"mean": 10**400},
        {"seconds": None},
        {"metric": ["x"]},
        {"name": 5},
        {"values": {}},
        {"reason": [1]},
    ],
)
def test_a_damaged_comparison_is_named(tmp_path, change):
    names = ("low", "high", "difference", "difference_low", "difference_high", "p")
    run = {"name": "a", "metric": "NDCG@10", "data": "", "values": {"1": 0.5}, "mean": 0.5, "seconds": 1}
    run |= dict.fromkeys(names) | {"reason": None, "l2": {}}
    path = tmp_path / "compare.json"
    path.write_text(json.dumps({"runs": [run]}))
    assert read_compared(tmp_path)[0].values == {1: 0.5}
    for runs in ([run | change], []):
        path.write_text(json.dumps({"runs": runs}))
        with pytest.raises(InputError, match="not what 'w2vneg compare' writes"):
            read_compared(tmp_path)


def test_small_files_hold_no_vectors_of_gigabytes(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    feather, parquet = (pytest.importorskip(f"pyarrow.{name}") for name in ("feather", "parquet"))

    n = 20_000_000
    rows = arrow.LargeListArray.from_arrays([0, n], arrow.array(np.ones(n, np.float32)))
    table = arrow.table({"word": ["a"], "vector": rows})
    parquet.write_table(table, tmp_path / "v.parquet")
    feather.write_feather(table, tmp_path / "v.arrow", compression="zstd")
    for name in ("v.parquet", "v.arrow"):
        with pytest.raises(InputError, match="numbers, more than vectors in"):
            Vectors.load(tmp_path / name)


def test_folders_of_tokens_are_checked(tmp_path):
    numpy = pytest.importorskip("safetensors.numpy")
    pytest.importorskip("tokenizers")
    words = {"type": "WordLevel", "vocab": {"a": 0, "b": 1}, "unk_token": "a"}
    (tmp_path / "tokenizer.json").write_text(json.dumps({"version": "1.0", "model": words}))
    rows = np.arange(4, dtype=np.float32).reshape(2, 2)

    def load(name="model.safetensors", **tensors):
        numpy.save_file({"embeddings": rows} | tensors, tmp_path / name)
        return Vectors.load(tmp_path if name == "model.safetensors" else tmp_path / name)

    assert load()["b"].tolist() == [2, 3]
    assert load("other.safetensors", embeddings=rows + 1)["b"].tolist() == [3, 4]  # the file that is named
    for bad in ({"mapping": np.zeros((2, 2), np.int64)}, {"mapping": np.zeros(9, np.int64)}, {"weights": np.ones(1)}):
        with pytest.raises(InputError, match="do not fit the matrix and 2 tokens"):
            load(**bad)
    for vocab in ({}, {"a": 0, "b": 7}, {"a": 1, "b": 1}):
        words["vocab"] = vocab
        (tmp_path / "tokenizer.json").write_text(json.dumps({"version": "1.0", "model": words}))
        with pytest.raises(InputError, match="no tokens, or their ids"):
            load()


def test_control_characters_are_shown_not_obeyed(tmp_path, run_cli):
    assert plain("a\x1b[2J\x9b\u202eb\tc\n\u200d") == "a\\x1b[2J\\x9b\\u202eb\tc\n\u200d"
    found = run_cli("nearest", "w\x1b[31m", "--vectors", str(tmp_path / "none\x1b]0;x\x07.txt"))
    assert "\x1b" not in found.err and "\\x1b" in found.err
