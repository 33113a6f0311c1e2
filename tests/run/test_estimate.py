"""The estimate of a run against what the run then takes; and that finding it out leaves no trace."""

import dataclasses
import json
import os
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from planted import as_text, two_topics

from w2vneg import Input, TrainConfig, Word2Vec
from w2vneg.data.encoded import EncodedPairs, encode_corpus
from w2vneg.data.encoded.pairs import read_pairs_file
from w2vneg.ground.errors import ConfigError
from w2vneg.run.estimate import PROGRAM, estimate
from w2vneg.run.validation import Validation

SMALL = {"loss": "ns", "dim": 8, "window": 3, "subsample": 0, "min_count": 1, "epochs": 2, "workers": 1}
SMALL["share_negatives"] = "no"

# A first run on a few words loads everything; what the second one takes is then the rise of the peak.
PEAK = """
import json, sys
import numpy as np
from w2vneg import Vocabulary, Word2Vec
from w2vneg.data.encoded import EncodedCorpus
from w2vneg.run.estimate import PROGRAM, estimate

def corpus(n):
    rng = np.random.default_rng(1)
    ids = np.minimum(n * rng.random(200_000) ** 3, n - 1).astype(np.int32)
    counts = np.arange(n, 0, -1)
    return EncodedCorpus(ids, np.arange(0, 200_001, 20), Vocabulary([f"{i:08}" for i in range(n)], counts))

def peak():  # getrusage would begin with the peak of the process that started this one
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) * 1024

def run(corpus):
    word2vec.model = word2vec.trainer(corpus).train()
    word2vec.vectors.save(sys.argv[2])

word2vec = Word2Vec(loss="ns", dim=104, epochs=1, workers=int(sys.argv[1]), subsample=0)
run(corpus(100))
before = peak()
large = corpus(150_000)
run(large)
taken = peak() - before
print(json.dumps([taken, estimate(word2vec.config, large, seconds=0.0).peak - PROGRAM]))
"""


@pytest.fixture(scope="module")
def planted():
    return encode_corpus(two_topics(), min_count=1)


@pytest.mark.skipif(sys.platform != "linux", reason="peaks are in other units elsewhere")
@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="too slow as Python")
@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_memory_is_within_a_quarter_of_the_measured_peak(workers, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", PEAK, str(workers), str(tmp_path / "vectors.txt")],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    taken, estimated = json.loads(done.stdout)
    assert estimated == pytest.approx(taken, rel=0.25)
    assert estimated > 8 * 150_000 * 104


def test_parts_by_hand(planted):
    n, dim = len(planted.vocab), 8
    found = estimate(Word2Vec(**SMALL | {"workers": 3, "private_rows": 4}).config, planted, seconds=0.0)
    assert (found.tokens, found.n_vocab, found.n_out, found.dim, found.workers) == (len(planted), n, n, dim, 3)
    assert found.alpha == 0.05
    assert found.memory["matrices"] == found.memory["snapshot to go back to"] == 2 * n * dim * 4
    assert found.memory["private copies of workers"] == 2 * 3 * 4 * dim * 4
    assert found.memory["best state"] == found.memory["data in memory"] == 0
    assert found.mapped == planted.ids.nbytes + planted.offsets.nbytes
    tables = n * (8 + 4 + 8 + 8)  # alias table, log q, chances to survive subsampling, weights of the centres
    assert found.memory["tables of the plugs"] == tables
    assert found.peak == sum(found.memory.values())
    assert found.memory["program"] == PROGRAM
    assert found.disk["model folder, if kept"] > 2 * n * dim * 4
    json.dumps(found.as_dict(), allow_nan=False)


def test_a_pool_counts_with_all_that_it_holds(planted):
    given = SMALL | {"loss": "relaxed", "share_negatives": "centre"}
    rolling, pool = (
        estimate(Word2Vec(**given, method=method).config, planted, seconds=0.0).memory["tables of the plugs"]
        for method in ("rolling", "pool")
    )
    sampler = Word2Vec(**given, method="pool").trainer(planted).engine.plugs.sampler
    held = [sampler.ids, sampler.log_q, sampler.log_z, sampler.centres, sampler.due, sampler.scratch, *sampler.origin]
    of_vocabulary = len(planted.vocab) * 64  # tables of either method
    assert pool - rolling == pytest.approx(sum(array.nbytes for array in held), abs=of_vocabulary)


def test_the_vectors_file_is_about_as_large_as_told(planted, tmp_path):
    word2vec = Word2Vec(**SMALL)
    told = estimate(word2vec.config, planted, seconds=0.0).disk["vectors as text"]
    word2vec.fit(planted).save(tmp_path / "vectors.txt", format="word2vec")
    assert told == pytest.approx((tmp_path / "vectors.txt").stat().st_size, rel=0.15)


def test_pairs_of_a_whole_train_are_those_it_trains(planted):
    word2vec = Word2Vec(**SMALL | {"dynamic_window": False})
    found = estimate(word2vec.config, planted, seconds=60.0)
    word2vec.fit(planted)
    trained = sum(record.get("pairs", 0) for record in word2vec.model.history if record["event"] == "EpochDone")
    assert found.measured == 1.0  # so short a run is measured to its end
    assert found.pairs == trained
    assert estimate(word2vec.config, planted, done=0.5, seconds=60.0).pairs == round(trained / 2)


def test_nothing_of_the_callers_changes(planted):
    word2vec = Word2Vec(**SMALL)
    word2vec.fit(planted)
    before, config, history = word2vec.vectors.matrix.copy(), word2vec.config, list(word2vec.model.history)
    model = word2vec.model
    estimate(word2vec.config, planted, seconds=0.0)
    assert word2vec.model is model
    assert (word2vec.config, model.history) == (config, history)
    np.testing.assert_array_equal(word2vec.vectors.matrix, before)
    assert Word2Vec(**SMALL).fit(planted).matrix.tobytes() == before.tobytes()


def test_a_dense_loss_and_pairs_in_memory(planted):
    from scipy.sparse import csr_matrix

    matrix = csr_matrix(np.ones((len(planted.vocab),) * 2, np.float32))
    pairs = EncodedPairs(matrix, planted.vocab, planted.vocab)
    word2vec = Word2Vec(loss="softmax", dim=8, epochs=1, workers=1)
    found = estimate(word2vec.config, pairs, seconds=0.0)
    assert found.mapped == found.disk["encoded data"] == 0
    assert found.memory["data in memory"] == matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes
    assert found.memory["scratch of rounds"] > 4 * len(planted.vocab) ** 2


@pytest.mark.parametrize("most", [1, 3])
def test_what_users_had_takes_place_in_the_model_folder(tmp_path, most):
    rng = np.random.default_rng(5)
    rows = {"user": rng.integers(0, 200, 9000), "item": rng.integers(0, 300, 9000)}
    table = pd.DataFrame(rows).drop_duplicates()
    table["weight"] = rng.integers(1, most + 1, len(table))
    word2vec = Word2Vec(dim=8, epochs=1, workers=1, min_count=1, rectangular=True)
    encoded = word2vec.encode(Input("pairs", table))
    found = estimate(word2vec.config, encoded, seconds=0.0)
    word2vec.trainer(encoded).train().save(tmp_path / "model")
    there = sum(file.stat().st_size for file in (tmp_path / "model").iterdir())
    assert there > 8 * len(table)
    assert found.disk["model folder, if kept"] == pytest.approx(there, rel=0.1)


def test_held_out_pairs_keep_a_best_state(planted, tmp_path):
    a, b = planted.vocab.words[:2]
    (tmp_path / "valid.tsv").write_text(f"{a}\t{b}\t1\n")
    validation = Validation(read_pairs_file(tmp_path / "valid.tsv", planted.vocab, planted.vocab))
    found = estimate(Word2Vec(**SMALL).config, planted, validation=validation, seconds=0.0)
    assert found.memory["best state"] == found.memory["matrices"]


def test_what_a_train_refuses_an_estimate_refuses(planted):
    word2vec = Word2Vec(**SMALL | {"loss": "relaxed", "method": "exact", "workers": 2, "private_rows": 5})
    with pytest.raises(ConfigError, match="draws made ahead"):
        estimate(word2vec.config, planted)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "corpus.txt").write_text(as_text(two_topics()))
    return tmp_path


ARGUMENTS = ("train", "--corpus", "corpus.txt", "--loss=ns", "--dim=8", "--min-count=1", "--epochs=2", "--workers=1")


def test_the_command_says_it_all_and_writes_nothing(folder, run_cli):
    result = run_cli(*ARGUMENTS, "--dry-run", "--save-model", "model")
    assert result.code == 0, result.err
    for word in ("matrices", "vectors as text", "model folder", "training, about", "nothing was trained or written"):
        assert word in result.out
    assert re.search(r"alpha at the start +0\.05$", result.out, re.MULTILINE)
    assert [entry.name for entry in folder.iterdir()] == ["corpus.txt"]


def test_the_command_as_json_and_for_a_train_to_resume(folder, run_cli):
    assert run_cli(*ARGUMENTS, "--save-model", "model").code == 0
    before = {path.name: path.read_bytes() for path in (folder / "model").iterdir()}
    whole = json.loads(run_cli(*ARGUMENTS, "--dry-run", "--json", "--quiet").out)
    rest = json.loads(run_cli("train", "--resume", "model", "--dry-run", "--json", "--quiet").out)
    assert whole["pairs"] > 0 == rest["pairs"]
    assert whole["peak"] == sum(whole["memory"].values())
    assert {path.name: path.read_bytes() for path in (folder / "model").iterdir()} == before
    assert set(whole) == {field.name for field in dataclasses.fields(estimate_type())} | {"peak"}


def test_more_memory_than_the_process_may_use_is_told(folder, run_cli, monkeypatch):
    from w2vneg.run import estimate

    assert "may use " not in run_cli(*ARGUMENTS, "--dry-run").err
    room = PROGRAM + 6000  # the matrices and their snapshot, and not what else the run holds
    monkeypatch.setattr(estimate, "memory_size", lambda: room)
    result = run_cli(*ARGUMENTS, "--dry-run")
    assert re.search(
        r"^Warning: the run would take \d+\.\d MB of memory, and this process may use 170\.0 MB; use a smaller --dim",
        result.err,
        re.MULTILINE,
    )
    assert re.search(r"memory available +170\.0 MB$", result.out, re.MULTILINE)
    assert json.loads(run_cli(*ARGUMENTS, "--dry-run", "--json", "--quiet").out)["room"] == room


def test_memory_that_cannot_do_is_told_before_a_model_is_made(folder, run_cli, monkeypatch):
    from w2vneg.run import estimate

    monkeypatch.setattr(estimate, "memory_size", lambda: PROGRAM)
    monkeypatch.setattr(estimate, "_train", None)
    result = run_cli(*ARGUMENTS, "--dry-run")
    assert (result.code, result.out) == (1, "")
    assert "the run would take at least 170 MB of memory, and this process may use 170 MB; use a smaller" in result.err


def estimate_type():
    from w2vneg.run.estimate import Estimate

    return Estimate


def test_mistakes_are_told_as_by_a_train(folder, run_cli):
    result = run_cli("train", "--corpus", "missing.txt", "--dry-run")
    assert (result.code, result.out) == (1, "")
    assert "missing.txt" in result.err


def test_an_interruption_before_the_first_round_is_one():
    from types import SimpleNamespace

    from w2vneg.run.estimate import _train

    model = SimpleNamespace(config=TrainConfig())
    trainer = SimpleNamespace(listeners=[], model=model, train=lambda of_command: None)
    with pytest.raises(KeyboardInterrupt):
        _train(SimpleNamespace(trainer=lambda: trainer), 0.0, False)
