"""The study of the law, in small."""

import dataclasses
import itertools
import math

import numpy as np
import pytest

from studies import STUDIES, item_runs, one_law
from studies.item_runs import POPULARITY
from studies.item_tasks import communities, make_task
from studies.law_fit import PMI, POPULAR
from studies.memo import Memo


def test_every_failure_takes_the_alpha_of_an_objective_and_the_reference_is_first():
    objectives = one_law.objectives()
    assert {like for _, like in one_law._FAILURES.values()} <= set(objectives)
    assert next(iter(objectives)) == one_law.REFERENCE
    assert {"ml-100k", "text", "belgian"} <= {name.removeprefix("one-law-") for name in STUDIES}
    assert objectives["uniform, T = 1"]["method"] == "exact"
    assert objectives["uniform, T = 1, rolling"]["method"] == "rolling"


@pytest.mark.parametrize(("most", "method"), [(10**6, "exact"), (10, "pool")])
def test_a_large_task_draws_from_pools_throughout(most, method, monkeypatch):
    monkeypatch.setattr(item_runs, "_POOLED", most)
    scale = dataclasses.replace(one_law.QUICK, few=False)
    bench = one_law.Laboratory(make_task("made-up", communities(1), 1, "baskets"), scale, 1, Memo())
    figures = {"log-likelihood": -6.0, "P@15": 0.1}
    run = figures | {PMI: 1.0, POPULAR: 1.0, "R²": 1.0, "raw": -7.0, "raw P@15": 0.1, "bins": [], "weights": {}}
    run["shares"] = {f"{share:g}": figures for share in scale.shares}
    tried = []
    monkeypatch.setattr(bench, "alpha", lambda options: tried.append(options) or 0.1)
    monkeypatch.setattr(bench, "runs", lambda options, *look: tried.append(options) or [run, run])
    monkeypatch.setattr(bench, "nulls", lambda: {POPULARITY: {"log-likelihood, law": -8.0, "P@15": 0.1}})
    claims = one_law.law_tables(bench, print)[1] + one_law.cooperation_table(bench, print)[1]
    one_law.failure_rows(bench, print)
    assert {options["method"] for options in tried if "method" in options} == {method, "rolling"}
    assert {claim.draws for claim in claims} == {"", method, "rolling"}


P, D = np.array([0.45, 0.3, 0.2, 0.05]), np.array([0.1, 0.5, 0.15, 0.25])


def noise(scores, temp):
    weights = D if math.isinf(temp) else D * np.exp(scores / temp)
    return weights / weights.sum()


def step(scores, q, n):
    """Return the expected step of the relaxed softmax, −∂L/∂s, over all positives and draws of q."""
    candidates = np.array(list(itertools.product(range(len(P)), repeat=n + 1)))  # the positive first
    chance = P[candidates[:, 0]] * q[candidates[:, 1:]].prod(axis=1)
    pushes = -np.exp(scores)[candidates]
    pushes *= (chance / -pushes.sum(axis=1))[:, None]
    pushes[:, 0] += chance
    return np.bincount(candidates.ravel(), pushes.ravel(), len(P))


def jacobian(function, scores, small=1e-5):
    ends = [[function(scores + sign * small * one) for sign in (1, -1)] for one in np.eye(len(scores))]
    return np.array([(up - down) / (2 * small) for up, down in ends]).T


@pytest.mark.parametrize("n", [1, 3])
@pytest.mark.parametrize("temp", [0.5, 2.0, math.inf])
def test_the_fixed_point_is_one_and_pulls_1_plus_1_over_t_times_as_hard(n, temp):
    share = 1.0 if math.isinf(temp) else temp / (1 + temp)
    settled = share * (np.log(P) - np.log(D))
    steps = lambda scores: step(scores, noise(scores, temp), n)  # noqa: E731
    assert np.abs(steps(settled)).max() < 1e-12
    hessian = -jacobian(lambda scores: step(scores, noise(settled, temp), n), settled)
    assert np.linalg.eigvalsh(hessian)[0] == pytest.approx(0, abs=1e-8)  # a constant on all scores
    assert np.linalg.eigvalsh(hessian)[1] > 1e-3
    np.testing.assert_allclose(jacobian(steps, settled), -hessian / share, atol=1e-7)
    for seed in range(3):
        scores = np.random.default_rng(seed).normal(0, 2, len(P))
        for _ in range(1000):
            scores += 2.0 * steps(scores)
        np.testing.assert_allclose(scores - scores.mean(), settled - settled.mean(), atol=1e-3)


@pytest.mark.slow
def test_scores_settle_where_the_law_says(tmp_path):
    memo = Memo(tmp_path / "parts.jsonl")
    study = STUDIES["one-law-text"](lambda line: None, True, 1, memo)
    table = study.tables["law"].set_index("objective")
    assert list(table.index[:2]) == ["popularity", "counts and popularity"]
    table = table[table["alpha"] != "–"]
    for slope in (POPULAR, PMI):
        found = table[slope].map(lambda cell: float(cell.split()[0]))
        assert found[["popularity", "popularity, T = 1"]].to_numpy() == pytest.approx(1.0, abs=0.15)
    along = study.tables["along λ"].set_index(["objective", "λ"])
    for name in ("popularity", "popularity, T = 1"):
        best = along.loc[name]["log-likelihood"]
        assert best[1.0] > max(best[0.0], best[1.5])
        assert along.loc[name]["P@15"][1.0] > along.loc[name]["P@15"][0.0]
    assert along.loc[one_law.REFERENCE]["P@15"].nunique() == 1  # no noise, no correction
    assert {"law", "along"} == set(study.figures)
    assert {verdict.comparisons for verdict in study.verdicts} == {len(study.verdicts)}
    assert {"", "exact", "rolling"} == {verdict.draws for verdict in study.verdicts}
    number = len(memo)
    STUDIES["one-law-text"](lambda line: None, True, 1, memo)
    assert len(memo) == number
