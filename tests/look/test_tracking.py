"""Figures of a run in trackers, read back by their own readers where those are installed."""

import csv
import struct
from pathlib import Path

import numpy as np
import pytest
from planted import as_text, two_topics

from w2vneg import Vectors, Word2Vec
from w2vneg.ground.errors import ConfigError, MissingExtraError, OutputError, UnknownNameError
from w2vneg.ground.events import BestRestored, Diagnosis, EpochDone, RolledBack, RoundDone, Validated
from w2vneg.look.tracking import TRACKERS, Tracker, Tracking, step_of
from w2vneg.run.model import Model

SMALL = ["--loss=ns", "--dim=8", "--window=3", "--subsample=0", "--min-count=1", "--workers=1", "--quiet"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "corpus.txt").write_text(as_text(two_topics()))
    (tmp_path / "valid.tsv").write_text("a1\ta2\t1\nb1\tb2\t2\n")
    return tmp_path


@pytest.fixture
def tracked(folder, run_cli):
    """A function that trains with a tracker and returns the history of the model folder."""

    def run(track, *flags):
        evaluated = ["--valid=valid.tsv", "--metric=nll"]
        result = run_cli(
            "train",
            "--corpus=corpus.txt",
            *SMALL,
            *evaluated,
            "--epochs=3",
            f"--track={track}",
            "--save-model=m",
            *flags,
        )
        assert result.code == 0, result.err
        return Model.load("m").history

    return run


def losses(history):
    return {event["epoch"]: event["loss"] for event in history if event["event"] == "EpochDone"}


def evaluations(history):
    return {event["epoch"]: event["figures"]["nll"] for event in history if event["event"] == "Validated"}


def rows_of(path="run.csv"):
    with open(path, encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def test_a_csv_file_has_all_figures_of_all_its_runs(tracked, run_cli):
    history = tracked("csv=run.csv")
    rows = rows_of()
    found = {float(row["epoch"]): float(row["value"]) for row in rows if row["figure"] == "epoch/loss"}
    assert found == losses(history)
    found = {float(row["epoch"]): float(row["value"]) for row in rows if row["figure"] == "valid/nll"}
    assert found == evaluations(history)
    rounds = [float(row["epoch"]) for row in rows if row["figure"] == "train/loss"]
    assert len(rounds) >= 3 and rounds == sorted(set(rounds)) and rounds[-1] == 3
    tracked("csv=run.csv", "--force")
    assert rows_of()[: len(rows)] == rows and len(rows_of()) == 2 * len(rows)
    with open("run.csv", "a") as stream:
        stream.write("killed,2,tr")
    tracked("csv=run.csv", "--force")
    assert rows_of()[2 * len(rows)]["run"] == "killed" and len(rows_of()) == 3 * len(rows) + 1
    Path("other.csv").write_text("mine\n")
    result = run_cli(
        "train", "--corpus=corpus.txt", *SMALL, "--track=csv=other.csv", "--force"
    )  # told before anything is read
    assert result.code == 1 and "other.csv: it holds something other than figures" in result.err
    assert Path("other.csv").read_text() == "mine\n"


def test_tensorboard_reads_scalars_and_the_projector_vectors(tracked):
    pytest.importorskip("tensorboardX", reason="the extra tensorboard is not installed")
    accumulator = pytest.importorskip(
        "tensorboard.backend.event_processing.event_accumulator",
        reason="TensorBoard, whose reader this is, is not here",
    )
    history = tracked("tensorboard=log", "--output=v.txt")
    reader = accumulator.EventAccumulator("log").Reload()
    found = {event.step: event.value for event in reader.Scalars("epoch/loss")}
    assert found == pytest.approx({step_of(epoch): loss for epoch, loss in losses(history).items()}, rel=1e-6)
    found = {event.step: event.value for event in reader.Scalars("valid/nll")}
    assert found == pytest.approx({step_of(epoch): value for epoch, value in evaluations(history).items()}, rel=1e-6)
    vectors = Vectors.load("v.txt")
    assert [line.split("\t")[0] for line in Path("log/metadata.tsv").read_text().splitlines()[1:]] == list(
        vectors.words
    )
    np.testing.assert_allclose(np.loadtxt("log/vectors.tsv", delimiter="\t"), vectors.matrix, atol=1e-5)


def records_of(path):
    """Yield the records of a file of W&B: LevelDB's log format behind seven bytes, in blocks of 32 KiB."""
    data, place, parts = Path(path).read_bytes(), 7, b""
    while place + 7 <= len(data):
        if 32768 - place % 32768 < 7:
            place += 32768 - place % 32768
            continue
        _, length, kind = struct.unpack_from("<IHB", data, place)
        parts += data[place + 7 : place + 7 + length]
        place += 7 + length
        if kind in (1, 4):  # whole, or the last part
            yield parts
            parts = b""


@pytest.mark.slow
def test_weights_and_biases_keeps_a_run_offline(tracked):
    pytest.importorskip("wandb", reason="the extra wandb is not installed")
    messages = pytest.importorskip("wandb.proto.wandb_internal_pb2", reason="W&B's own messages are not here")
    history = tracked("wandb=log")
    (path,) = Path("log").rglob("*.wandb")
    found = {}
    for data in records_of(path):
        record = messages.Record()
        record.ParseFromString(data)
        items = {item.key or ".".join(item.nested_key): item.value_json for item in record.history.item}
        if "epoch/loss" in items:
            found[float(items["epoch"])] = float(items["epoch/loss"])
    assert found == losses(history)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # MLflow's own, of its database
def test_mlflow_has_metrics_and_options(tracked):
    mlflow = pytest.importorskip("mlflow", reason="the extra mlflow is not installed")
    pytest.importorskip("sqlalchemy", reason="MLflow is here without its database")
    history = tracked("mlflow=log")
    client = mlflow.MlflowClient(f"sqlite:///{Path('log/mlflow.db').resolve()}")
    (run,) = client.search_runs([client.get_experiment_by_name("w2vneg").experiment_id])
    assert (run.data.params["loss"], run.data.params["dim"], run.info.status) == ("ns", "8", "FINISHED")
    found = {metric.step: metric.value for metric in client.get_metric_history(run.info.run_id, "epoch/loss")}
    assert found == {step_of(epoch): loss for epoch, loss in losses(history).items()}


class Failing(Tracker):
    def log(self, epoch, figures):
        raise RuntimeError("no more room")


def test_a_tracker_that_fails_ends_no_training():
    word2vec, warned = Word2Vec(loss="ns", dim=8, epochs=2, min_count=1, workers=1, subsample=0), []
    with Tracking([Failing("there")], word2vec.config, warned.append) as tracking:
        word2vec.fit([["a", "b", "c"], ["b", "c", "d"]] * 20, listeners=[tracking])
    assert word2vec.model.position.epoch == 2
    assert warned == ["Warning: cannot track to there (no more room); training continues without it."]


def test_what_is_no_tracker_is_said_before_anything_is_read(folder, run_cli, monkeypatch):
    result = run_cli("train", "--corpus=corpus.txt", *SMALL, "--track=csv=none/run.csv")
    assert result.code == 1 and "cannot write none/run.csv" in result.err
    monkeypatch.setitem(__import__("sys").modules, "tensorboardX", None)
    config = Word2Vec(loss="ns").config
    for track, error, message in (
        ("csv", ConfigError, "expected NAME=PLACE, such as csv=run.csv"),
        ("tensorbord=x", UnknownNameError, "did you mean 'tensorboard'"),
        ("tensorboard=x", MissingExtraError, r"w2vneg\[tensorboard\]"),
        ("csv=none/x", OutputError, "cannot write none/x"),
    ):
        with pytest.raises(error, match=message):
            Tracking([track], config)
    assert set(TRACKERS) >= {"csv", "mlflow", "tensorboard", "wandb"}


@pytest.mark.parametrize(
    ("event", "figures"),
    [
        (
            RoundDone(1, 0.5, 9, 8, 0.1, 2.0, 3.0, 4.0),
            {"train/loss": 2.0, "train/alpha": 0.1, "train/pairs per s": 2.0},
        ),
        (
            EpochDone(1, 2, 9, 8, 2.0, 3.0, 0.1, 4.0),
            {"epoch/loss": 2, "epoch/seconds": 4},
        ),
        (
            Validated(1.0, "nll", {"nll": 2.0, "mpr": 0.5}, 2.0, 2.0, 1.0, True, 0, 0.1),
            {"valid/nll": 2, "valid/mpr": 0.5},
        ),
        (BestRestored(3.0, 1.0, "nll", {"nll": 2.0}, {"nll": 4.0}, False), {"best/nll": 2, "best/epoch": 1}),
        (Diagnosis(1, 9, 9, 5, 0.1, 0.2, None, 0.3, 0.4, *(None,) * 6, 1.0), {"draws/total_variation": 0.1}),
        (RolledBack(1, 0.5, 0.25), {"train/alpha factor": 0.25}),
    ],
)
def test_what_an_event_says_in_numbers(event, figures):
    found = event.metrics()
    assert {name: found[name] for name in figures} == figures
    assert None not in found.values()
