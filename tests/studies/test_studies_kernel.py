"""The study of bias against the number of samples, in small, and its parts."""

import os

import numpy as np
import pandas as pd
import pytest

from studies import STUDIES, kernel_task
from studies import kernel_figure_2 as study
from studies.memo import Memo
from w2vneg.vectors.evaluation import LogitScores
from w2vneg.vectors.evaluation.likelihood import evaluate_likelihood

compiled_only = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="too long for plain Python")


@pytest.fixture(scope="module")
def task():
    scale = kernel_task.Scale({}, n_vocab=40, tokens=2_000, dim=5, epochs=3)
    return kernel_task.make_task(kernel_task.word_chain(50, 4_000, 1), scale, 1)


@pytest.mark.slow
@compiled_only
def test_the_study_in_small_finds_quadratic_nearer_than_uniform():
    told = []
    result = STUDIES["kernel-figure-2"](told.append, True, 1, Memo())
    table = result.tables["loss"].set_index(["sampler", "m"])["above full, %"]
    assert table["uniform", 64] < 0.2 * table["uniform", 1]  # bias falls as m grows
    assert table["quadratic", 64] < 0.2 * table["quadratic", 1]
    for m in (1, 64):
        assert table["quadratic", m] < 0.5 * table["uniform", m]
    assert abs(table["quadratic", 64]) < 1
    assert len(told) == 8
    assert table["relaxed, unigram + log Q", 1] < table["quadratic", 1]  # one draw, nothing corrected but afterwards
    assert (result.tables["loss"]["seconds"] > 0).all()


@pytest.mark.slow
@compiled_only
def test_one_negative_by_number_of_words():
    reported = []
    result = STUDIES["one-negative"](reported.append, True, 1, Memo())
    table = result.tables["loss"].set_index(["words", "objective", "m"])["test loss"]
    for size in (100, 300):
        assert table[size, "relaxed, unigram + log Q", 1] < table[size, "unigram", 1] - 0.5
        assert table[size, "full softmax", 0] < table[size, "relaxed, unigram + log Q", 1]
    assert len(reported) == 10 and len(result.verdicts) == 6
    assert [verdict.seeds for verdict in result.verdicts] == [2] * 6


def test_the_figure_is_drawn_on_the_figure_it_is_given():
    figure = pytest.importorskip("matplotlib.figure").Figure()
    table = pd.DataFrame(
        [
            ("full softmax", "common", 0, 5.0),
            ("full softmax", "absolute", 0, 5.1),
            ("uniform", "common", 1, 7.0),
            ("uniform", "common", 4, 6.0),
        ],
        columns=["sampler", "softmax", "m", "test loss"],
    )
    study._draw(table)(figure)
    assert len(figure.axes[0].lines) == 3


def test_parts_share_no_sentence_and_the_vocabulary_is_that_of_the_first(task):
    assert len(task.train.vocab) == 40
    assert 1_500 < len(task.train) < 2_100
    assert {name: int(pairs[2].sum()) > 0 for name, pairs in task.pairs.items()} == {"dev": True, "test": True}


@pytest.mark.parametrize("rows", [7, 1024])
def test_the_loss_is_that_of_held_out_likelihood(task, monkeypatch, rows):
    monkeypatch.setattr(kernel_task, "_ROWS", rows)
    rng = np.random.default_rng(1)
    vectors_in, vectors_out = rng.normal(size=(2, 40, 5)).astype(np.float32)
    centres, contexts, counts = task.pairs["test"]
    for absolute in (False, True):
        logits = vectors_in.astype(float) @ vectors_out.T.astype(float)
        logits = np.abs(logits) if absolute else logits
        p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
        expected = -(np.log(p[centres, contexts]) * counts).sum() / counts.sum()
        assert task.loss("test", vectors_in, vectors_out, absolute) == pytest.approx(expected, rel=1e-6)
    train = kernel_task.Task(task.train, {"x": kernel_task._pairs(task.train, task.scale)}, task.scale)
    nll = evaluate_likelihood(LogitScores(vectors_in, vectors_out), task.train, 2).nll
    assert train.loss("x", vectors_in, vectors_out, False) == pytest.approx(nll, rel=1e-5)


def test_samples_needed_counts_from_where_the_loss_stays_near():
    rows = [("uniform", m, above) for m, above in [(1, 9.0), (4, 1.0), (16, 3.0), (64, 1.0), (256, 0.5)]]
    rows += [("quadratic", 1, 5.0), ("quadratic", 4, 1.9), ("softmax", 1, 0.0), ("softmax", 4, 0.1)]
    rows += [("quartic", 1, 5.0), ("quartic", 4, 4.0), ("full softmax", 0, 0.0)]
    needed = study.samples_needed(pd.DataFrame(rows, columns=["sampler", "m", "above full, %"]))
    assert dict(zip(needed["sampler"], needed.iloc[:, 1], strict=True)) == {
        "uniform": 64,
        "quadratic": 4,
        "softmax": 1,
        "quartic": "",
    }


def test_claims_speak_of_rows_that_there_are():
    rows = {f"{name}, m = {m}" for name, tried in study.FULL.samples.items() for m in tried} | {"full"}
    assert {row for claim in study.claims() for row in (claim.better, claim.worse)} <= rows


def test_null_models_lose_what_counts_say(task):
    nulls = task.nulls().set_index("null model")["loss"]
    counts = np.zeros((40, 40))
    for a, b in zip(task.train.offsets[:-1], task.train.offsets[1:], strict=True):
        ids = np.asarray(task.train.ids[a:b])
        for k, distance in ((k, d) for k in range(len(ids)) for d in (1, 2)):
            if k + distance < len(ids):
                counts[ids[k], ids[k + distance]] += 1
                counts[ids[k + distance], ids[k]] += 1
    popularity = (counts.sum(axis=0) + 1) / (counts.sum() + 40)
    _, targets, weights = task.pairs["test"]
    assert nulls["popularity"] == pytest.approx(-(weights @ np.log(popularity[targets])) / weights.sum(), rel=1e-6)
    assert nulls["counts and popularity"] <= nulls["popularity"]
