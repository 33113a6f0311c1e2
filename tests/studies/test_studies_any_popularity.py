"""The study of one model for every popularity: its split, its figures, and the study in small."""

import numpy as np
import pytest

from studies import STUDIES, any_popularity
from studies.memo import Memo


def test_items_are_numbered_by_their_training_counts_and_parts_are_apart():
    task = any_popularity.made_up(3)
    counts = np.asarray(task.train.matrix.sum(axis=0)).ravel()
    np.testing.assert_array_equal(counts, task.train.vocab_out.counts)
    assert (np.diff(counts) <= 0).all()
    assert task.known["valid"].multiply(task.held["valid"]).nnz == 0
    assert task.known["test"].multiply(task.held["test"]).nnz == 0
    assert task.train.matrix.nnz + task.held["valid"].nnz + task.held["test"].nnz == 1200


def test_precision_by_tenths_agrees_with_lists_made_by_hand():
    task = any_popularity.made_up(1)
    scores = np.random.default_rng(1).normal(size=task.train.matrix.shape)
    found = any_popularity.figures(task, lambda users: scores[users].copy(), "test")
    known, held = task.known["test"].toarray() > 0, task.held["test"].toarray() > 0
    best = np.argsort(-np.where(known, -np.inf, scores), axis=1)[:, :10]
    listed = np.zeros_like(held)
    np.put_along_axis(listed, best, True, axis=1)
    tenth = 10 * np.arange(held.shape[1]) // held.shape[1]
    for name, (first, end) in any_popularity._TENTHS.items():
        some = (tenth >= first) & (tenth < end)
        assert found[name] == pytest.approx((held & listed)[:, some].sum() / held[:, some].sum())


@pytest.mark.slow
def test_the_study_runs_in_small():
    told = []
    study = STUDIES["any-popularity"](told.append, True, 1, Memo())
    assert len(told) == 5 and len(study.verdicts) == 16
    table = study.tables["along λ"]
    assert table["model"].tolist() == ["one model", *["its own", "one model"] * 4, "popularity"]
    assert {row for claim in any_popularity.claims() for row in (claim.better, claim.worse)} <= {
        f"{model}, λ = {share}" for model, share in zip(table["model"], table["λ"], strict=True)
    }
