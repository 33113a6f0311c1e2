"""The model folder: what is in it, that it comes back, and every way in which it can be damaged."""

import json
import os
import pickle

import numpy as np
import pytest

from w2vneg import Vectors, Vocabulary
from w2vneg.config import TrainConfig
from w2vneg.ground.errors import ConfigError, InputError, OutputError
from w2vneg.ground.events import EpochDone, Interrupted
from w2vneg.ground.files.npy import read_matrix
from w2vneg.run.folder import check_place
from w2vneg.run.model import Model
from w2vneg.run.state import LastGoodState, Progress

FILES = [
    "config.json",
    "corpus.json",
    "extra.json",
    "good.json",
    "history.jsonl",
    "law.json",
    "learned.npy",
    "log_noise.npy",
    "position.json",
    "run.toml",
    "validation.json",
    "vectors_in.npy",
    "vectors_out.npy",
    "versions.json",
    "vocab.tsv",
]

ENDLESS = b'{"epoch": 0, "round": 0, "alpha_factor": 1, "pairs": 0, "loss_sum": 1' + b"0" * 400 + b"}"

_MAY_BE_MISSING = {
    "law.json",
    "log_noise.npy",
    "run.toml",
    "versions.json",
}


@pytest.fixture
def model():
    vocab = Vocabulary(["the", "zwölf", "a"], [9, 5, 2])
    model = Model.fresh(vocab, TrainConfig(dim=4, seed=7).resolved())
    model.vectors_out[:] = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)
    model.position = Progress(epoch=2, round=3, alpha_factor=0.25, loss_sum=1 / 3, pairs=10**12)
    model.extra = {"learned": np.arange(3, dtype=np.float32)[:, None]}
    model.history = [EpochDone(1, 2, 9, 9, 0.1, 0.7, 0.02, 0.5).as_dict(), Interrupted(1, 0.5).as_dict()]
    return model


@pytest.fixture
def folder(model, tmp_path):
    model.save(tmp_path / "model")
    return tmp_path / "model"


def test_fresh_follows_word2vec_and_the_seed():
    vocab = Vocabulary.from_counts({f"w{i}": 1 for i in range(1000)})
    first, second, other = (Model.fresh(vocab, TrainConfig(dim=50, seed=seed)) for seed in (1, 1, 2))
    assert first.vectors_in.dtype == first.vectors_out.dtype == np.float32
    assert first.vectors_in.shape == first.vectors_out.shape == (1000, 50)
    assert not first.vectors_out.any()
    assert np.abs(first.vectors_in).max() <= 0.5 / 50
    assert first.vectors_in.std() == pytest.approx(1 / 50 / np.sqrt(12), rel=0.02)
    assert abs(first.vectors_in.mean()) < 1e-4
    assert np.array_equal(first.vectors_in, second.vectors_in)
    assert not np.array_equal(first.vectors_in, other.vectors_in)


def test_matrices_larger_than_the_memory_there_is_are_refused(monkeypatch):
    vocab, others = Vocabulary(["a", "b", "c"], [3, 2, 1]), Vocabulary(["x"], [6])
    monkeypatch.setattr("w2vneg.run.model.memory_size", lambda: 4 * 6 * 50)
    assert Model.fresh(vocab, TrainConfig(dim=50)).vectors_in.shape == (3, 50)
    with pytest.raises(ConfigError, match=r"3 words by 51 take .* use a smaller --dim or --max-vocab"):
        Model.fresh(vocab, TrainConfig(dim=51))
    assert Model.fresh(vocab, TrainConfig(dim=75), others).vectors_out.shape == (1, 75)


def test_everything_comes_back(model, folder):
    assert sorted(os.listdir(folder)) == FILES
    back = Model.load(folder)
    assert back.vocab == model.vocab
    assert list(back.extra) == ["learned"]
    np.testing.assert_array_equal(back.extra["learned"], model.extra["learned"])
    assert back.config == model.config
    assert back.position == model.position
    assert back.history == model.history
    for name in ("vectors_in", "vectors_out"):
        assert getattr(back, name).tobytes() == getattr(model, name).tobytes()
        assert getattr(back, name).flags.writeable


def test_the_folder_is_plain_and_strict(folder):
    def refuse(text):
        raise AssertionError(f"{text} is no JSON")

    for name in ("config.json", "position.json", "versions.json"):
        json.loads((folder / name).read_text("utf-8"), parse_constant=refuse)
    versions = json.loads((folder / "versions.json").read_text("utf-8"))
    assert set(versions) >= {"w2vneg", "python", "numpy", "numba"}
    assert (folder / "vocab.tsv").read_text("utf-8") == "the\t9\nzwölf\t5\na\t2\n"
    assert len((folder / "history.jsonl").read_text("utf-8").splitlines()) == 2
    vectors = Vectors.load(folder)
    assert vectors.words == ["the", "zwölf", "a"]
    assert vectors.counts.tolist() == [9, 5, 2]


def test_saving_again_replaces_and_keeps_what_others_put_there(model, folder):
    (folder / "notes.txt").write_text("mine")
    model.vectors_in[:] = 1
    model.history = []
    model.save(folder)
    assert sorted(os.listdir(folder)) == sorted([*FILES, "notes.txt"])
    assert (folder / "notes.txt").read_text() == "mine"
    assert (Model.load(folder).vectors_in == 1).all()
    assert Model.load(folder).history == []
    assert os.listdir(folder.parent) == ["model"]


def test_an_empty_folder_may_become_a_model(model, tmp_path):
    (tmp_path / "empty").mkdir()
    model.save(tmp_path / "empty")
    Model.load(tmp_path / "empty")
    model.save(tmp_path / "deep" / "er")
    Model.load(tmp_path / "deep" / "er")


def test_a_folder_of_something_else_is_never_replaced(model, tmp_path):
    photos = tmp_path / "photos"
    photos.mkdir()
    for name in ("a.jpg", "b.jpg", "c.jpg", "d.jpg"):
        (photos / name).write_text(name)
    for act in (check_place, model.save):
        with pytest.raises(OutputError) as caught:
            act(photos)
        assert str(caught.value) == (
            f"cannot write {photos}: the folder exists and is not a w2vneg model "
            "(it holds a.jpg, b.jpg, c.jpg, …); choose another folder or empty this one"
        )
    assert len(os.listdir(photos)) == 4
    (tmp_path / "file").write_text("mine")
    with pytest.raises(OutputError, match="it is a file; name a folder"):
        model.save(tmp_path / "file")
    assert (tmp_path / "file").read_text() == "mine"
    assert sorted(os.listdir(tmp_path)) == ["file", "photos"]


def test_a_failure_half_way_leaves_the_former_model(model, folder, monkeypatch):
    def fail(path):
        raise OSError(28, os.strerror(28))

    former = Model.load(folder)
    monkeypatch.setattr(Vocabulary, "save", lambda self, path: fail(path))
    model.vectors_in[:] = 1
    with pytest.raises(OutputError, match="No space left on device; nothing was left behind"):
        model.save(folder)
    monkeypatch.undo()
    assert np.array_equal(Model.load(folder).vectors_in, former.vectors_in)
    assert os.listdir(folder.parent) == ["model"]


def test_no_folder(tmp_path):
    with pytest.raises(InputError, match=r"no such model folder; name one that --save-model or save\(\) wrote"):
        Model.load(tmp_path / "none")
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="a file, not a model folder"):
        Model.load(tmp_path / "file")


@pytest.mark.parametrize("name", [name for name in FILES if name not in _MAY_BE_MISSING])
def test_missing_files(folder, name):
    (folder / name).unlink()
    with pytest.raises(InputError, match=f"{name}: missing; the folder is not a complete model"):
        Model.load(folder)


@pytest.mark.parametrize(
    ("name", "content", "error", "message"),
    [
        ("config.json", b"{", InputError, "config.json: not JSON"),
        ("config.json", b"\xff\xfe", InputError, "config.json:1: not UTF-8"),
        ("config.json", b"[1]", InputError, "config.json: the folder is of another version"),
        ("config.json", b'{"loss": "ns", "dim": 5}', InputError, "config.json: the folder is of another version"),
        ("config.json", b'{"format": 2, "run": {}}', InputError, "config.json: the folder is of another version"),
        ("config.json", b'{"format": 3, "run": {}}', InputError, "config.json: expected the name of source and its"),
        ("position.json", b"[]", InputError, "position.json: not the position of a run"),
        ("position.json", ENDLESS, InputError, "position.json: not the position of a run"),
        ("position.json", b"{}", InputError, "position.json: not the position of a run"),
        ("position.json", b'{"epoch": "2"}', InputError, "position.json: not the position of a run"),
        (
            "position.json",
            b'{"epoch": -1, "round": 0, "alpha_factor": 1, "loss_sum": 0, "pairs": 0}',
            InputError,
            "position.json: not the position of a run",
        ),
        (
            "position.json",
            b'{"epoch": 1, "round": 0, "alpha_factor": 1, "loss_sum": 0, "pairs": 0, "x": 0}',
            InputError,
            "position.json: not the position of a run",
        ),
        (
            "position.json",
            b'{"epoch": 1, "round": 0, "alpha_factor": 2, "loss_sum": 0, "pairs": 0}',
            InputError,
            "position.json: not the position of a run",
        ),
        (
            "position.json",
            b'{"epoch": 1, "round": 0, "alpha_factor": 1, "loss_sum": 1e999, "pairs": 0}',
            InputError,
            "position.json: not JSON .1e999 is not a finite number",
        ),
        ("config.json", b"[" * 100_000, InputError, "config.json: not JSON"),
        ("config.json", b'{"dim": ' + b"9" * 6000 + b"}", InputError, "config.json: not JSON"),
        ("config.json", b'{"alpha": NaN}', InputError, "config.json: not JSON .NaN is not a finite number"),
        ("corpus.json", b"3", InputError, "corpus.json: not the origin of a run"),
        ("extra.json", b'["vectors_in"]', InputError, "extra.json: not a list of matrix names"),
        ("extra.json", b'["learned", "learned"]', InputError, "extra.json: not a list of matrix names"),
        ("extra.json", b'{"learned": 1}', InputError, "extra.json: not a list of matrix names"),
        ("validation.json", b"3", InputError, "validation.json: not the validation of a run"),
        ("history.jsonl", b"{}\n{\n", InputError, "history.jsonl:2: not JSON"),
        ("vocab.tsv", b"the\t9\na\n", InputError, "vocab.tsv:2"),
        ("vocab.tsv", b"the\t9\na\t2\n", InputError, r"expected float32 of shape \(2, 4\)"),
        ("vectors_out.npy", b"", InputError, "vectors_out.npy: not a NumPy matrix"),
        ("vectors_out.npy", b"no matrix at all", InputError, "vectors_out.npy: not a NumPy matrix"),
        ("vectors_in.npy", pickle.dumps([1]), InputError, "vectors_in.npy: not a NumPy matrix"),
    ],
)
def test_damaged_files(folder, name, content, error, message):
    (folder / name).write_bytes(content)
    with pytest.raises(error, match=message):
        Model.load(folder)


@pytest.mark.parametrize(
    ("part", "changes", "message"),
    [
        ("format", 1, "config.json: the folder is of another version of w2vneg; train again with --save-model$"),
        ("source", {"windw": 3}, "config.json: unknown option 'windw'; did you mean 'window'"),
        ("source", {"window": 0}, "config.json: window must be at least 1"),
        ("run", {"dim": 5}, r"vectors_in.npy: expected float32 of shape \(3, 5\), found"),
        ("run", {"temp": 1.0}, "config.json: unknown option 'temp'"),
        ("run", [1], r"config.json: expected options by name, found '\[1\]'"),
        ("loss", {"name": 3}, "config.json: expected the name of loss and its options, found "),
        ("loss", None, "config.json: expected the name of loss and its options, found 'None'"),
    ],
)
def test_options_that_do_not_fit(folder, part, changes, message):
    path = folder / "config.json"
    values = json.loads(path.read_text())
    values[part] = values[part] | changes if isinstance(changes, dict) else changes
    path.write_text(json.dumps(values))
    with pytest.raises(InputError, match=message):
        Model.load(folder)


BEST = {"epoch": 1.0, "figures": {"mpr": 0.5}, "last_epoch": 1.0, "last_figures": {}, "stale": 0, "finished": True}
EVALUATED = {"metric": "mpr", "patience": None, "every": 1.0, "held": 1, "known": None, "files": {}}


@pytest.mark.parametrize(
    ("changed", "settings"),
    [
        ({"figures": {"mpr": "good"}}, {}),
        ({"figures": {"mpr": None}}, {}),
        ({"figures": {}}, {}),
        ({"stale": "1"}, {}),
        ({}, {"files": ["valid.tsv"]}),
        ({}, {"files": {"valid": 3}}),
        ({}, {"metric": ["mpr"]}),
    ],
)
def test_a_validation_of_other_kinds_is_refused(folder, changed, settings):
    (folder / "validation.json").write_text(json.dumps(BEST | {"settings": EVALUATED}))
    assert Model.load(folder).best.figures == {"mpr": 0.5}
    (folder / "validation.json").write_text(json.dumps(BEST | changed | {"settings": EVALUATED | settings}))
    with pytest.raises(InputError, match=r"validation\.json: not the validation of a run"):
        Model.load(folder)


def test_a_history_with_a_number_that_is_not_finite_does_not_lose_the_model(folder):
    (folder / "history.jsonl").write_text('{"loss": NaN}\n{"loss": 1e999}\n{"loss": 2}\n')
    assert Model.load(folder).history == [{"loss": None}, {"loss": None}, {"loss": 2}]


def test_a_state_to_go_back_to_comes_back_and_is_checked(model, folder):
    assert Model.load(folder).good is None
    model.good = LastGoodState(
        Progress(epoch=2, round=1), {name: matrix + 1 for name, matrix in model.matrices().items()}
    )
    model.save(folder)
    good = Model.load(folder).good
    assert good.position == model.good.position
    for name, matrix in model.good.matrices.items():
        np.testing.assert_array_equal(good.matrices[name], matrix)
    (folder / "good_learned.npy").unlink()
    with pytest.raises(InputError, match=r"good_learned.npy: missing"):
        Model.load(folder)
    (folder / "good.json").write_text('{"epoch": -1}')
    with pytest.raises(InputError, match=r"good.json: not the position of a run"):
        Model.load(folder)


def test_damaged_matrices(model, folder):
    path = folder / "vectors_in.npy"
    with pytest.raises(InputError, match=r"model: cannot be read \("):  # by the system: nothing is said of its form
        read_matrix(folder)
    whole = path.read_bytes()
    path.write_bytes(whole[:-4])
    with pytest.raises(InputError, match=r"vectors_in\.npy: cut short or damaged"):
        Model.load(folder)
    with open(path, "wb") as stream:
        np.savez(stream, model.vectors_in)
    with pytest.raises(InputError, match=r"not a NumPy matrix \(it does not begin like one\)"):
        Model.load(folder)
    np.save(path, model.vectors_in.astype(np.float64))
    with pytest.raises(InputError, match="expected a matrix of float32, found float64 of shape"):
        Model.load(folder)
    np.save(path, np.array([[object()]]), allow_pickle=True)
    with pytest.raises(InputError, match="not a NumPy matrix"):
        Model.load(folder)
    model.vectors_in[1, 1] = np.nan
    np.save(path, model.vectors_in)
    with pytest.raises(InputError, match=r"vectors_in\.npy: holds numbers that are not finite"):
        Model.load(folder)


def test_a_missing_or_misnamed_matrix_of_a_plug_is_told(folder):
    (folder / "learned.npy").unlink()
    with pytest.raises(InputError, match=r"learned\.npy: missing"):
        Model.load(folder)
    (folder / "extra.json").write_text('["../secret"]')
    with pytest.raises(InputError, match=r"extra\.json: not a list of matrix names"):
        Model.load(folder)
