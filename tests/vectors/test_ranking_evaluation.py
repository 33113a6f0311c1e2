"""A model of items on a file of pairs: coverage, what is left out, baselines by hand; `w2vneg eval ranking`."""

import dataclasses
import json
import re
from functools import partial

import numpy as np
import pytest
from item_models import LOGITS, model_of

from w2vneg import Word2Vec
from w2vneg.data.sources import TRAVERSALS
from w2vneg.ground.errors import ConfigError, InputError
from w2vneg.run.model import Model
from w2vneg.vectors.evaluation import evaluate_ranking
from w2vneg.vectors.evaluation import ranking as ranking_module
from w2vneg.vectors.evaluation.baselines import (
    ALIKE,
    COOCCURRENCE,
    POPULARITY,
    SLIM,
    WORSE,
    evaluate_with_baselines,
    standing,
)

TRAIN = [("a", "b", 5), ("a", "c", 1), ("b", "c", 3), ("c", "a", 2), ("d", "e", 1)]
TEST = [("a", "d", 1), ("a", "e", 1), ("b", "a", 2), ("nobody", "a", 3), ("a", "nothing", 1)]


def write(path, rows):
    path.write_text("item\ttarget\tweight\n" + "".join(f"{i}\t{j}\t{w}\n" for i, j, w in rows), encoding="utf-8")
    return path


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder with a model, train.tsv and test.tsv."""
    monkeypatch.chdir(tmp_path)
    model_of(LOGITS).save("model")
    write(tmp_path / "train.tsv", TRAIN)
    write(tmp_path / "test.tsv", TEST)
    return tmp_path


def test_a_model_and_baselines_by_hand(folder):
    evaluation = evaluate_with_baselines(
        Model.load("model"), "test.tsv", exclude_known="train.tsv", ks=(1, 2), bootstrap=0, rank_itself=True
    )
    # a: b and c are known; left d > e > a. b: c is known; left e > d > a > b
    model = evaluation.model
    assert model.mpr == pytest.approx((1 + 1 / 2 + 2 * 1 / 3) / 4)
    assert model.precision == {1: 1 / 4, 2: 2 / 4}
    shares = np.exp([2, 1]) / np.exp([0, 2, 1]).sum()
    assert model.likelihood == pytest.approx((shares.sum() + 2 * np.e / np.exp([1, 0, 3, 4]).sum()) / 4, rel=1e-5)
    # popularity of targets in train: a 2, b 5, c 4, d 0, e 1. For a: a > e > d; for b: b > a > e > d
    popularity = evaluation.results[POPULARITY]
    assert popularity.mpr == pytest.approx((0 + 1 / 2 + 2 * 2 / 3) / 4)
    # d, never seen, counts as half of the least seen one: a has 2 + ½ + 1 left, b 2 + 5 + ½ + 1
    assert popularity.likelihood == pytest.approx((0.5 / 3.5 + 1 / 3.5 + 2 * 2 / 8.5) / 4, rel=1e-5)
    # what is left was never seen with a or b, so that popularity would decide
    assert evaluation.missing[COOCCURRENCE].startswith("the pairs that it counts are left out of the catalogue")
    at_2 = ["precision@2", "list_precision@2", "recall@2", "hit_rate@2", "ndcg@2"]  # it has b's a and one of a's two
    assert {n for n in evaluation.beside(POPULARITY) if model.above(popularity, n)[0] <= 0} == {"nll", *at_2}
    assert set(evaluation.beside(POPULARITY).values()) == {ALIKE}  # of two centres


def test_an_item_is_no_rival_of_its_own_targets(folder):
    model, options = Model.load("model"), {"exclude_known": "train.tsv", "ks": (1, 2), "bootstrap": 0}
    evaluation = evaluate_with_baselines(model, "test.tsv", **options)
    # a: b and c are known, and a is itself; left d > e. b: c is known; left e > d > a
    assert evaluation.model.mpr == pytest.approx((1 + 0 + 2 * 0) / 4)
    assert evaluation.model.known_held_out == 0
    write(folder / "loop.tsv", [("a", "a", 1), ("a", "d", 1)])
    found = evaluate_with_baselines(model, "loop.tsv", **options).model
    assert found.mpr == pytest.approx((0 + 1) / 2)  # held out with itself, it stays: d > e > a
    text = model_of(LOGITS)
    text.config = dataclasses.replace(text.config, source=TRAVERSALS["text"].Options())
    text = evaluate_with_baselines(text, "test.tsv", bootstrap=0, baselines=False)
    same = evaluate_with_baselines(model, "test.tsv", bootstrap=0, baselines=False, rank_itself=True)
    assert text.model.nll == pytest.approx(same.model.nll)  # a word may follow itself


def test_cooccurrence_ranks_by_counts_with_the_centre_and_then_by_popularity(folder):
    write(folder / "test.tsv", [("a", "c", 1), ("a", "e", 1), ("c", "b", 1)])
    evaluation = evaluate_with_baselines(
        Model.load("model"), "test.tsv", train="train.tsv", bootstrap=0, rank_itself=True
    )
    # a: b 5, c 1, then by popularity a, e, d; c: a 2, then b, c, e, d
    assert evaluation.results[COOCCURRENCE].mpr == pytest.approx((3 / 4 + 1 / 4 + 3 / 4) / 3)
    assert evaluation.results[COOCCURRENCE].nll is None
    assert evaluation.known is None
    assert not evaluation.model.known_left_out
    assert evaluation.train.read == len(TRAIN)


def test_users_and_items_have_names_and_baselines_of_their_own(folder):
    model = model_of([[0, 1, 2], [2, 1, 0]], words="uv", words_out="xyz")
    write(folder / "train.tsv", [("u", "x", 1), ("v", "x", 1), ("v", "y", 1)])
    write(folder / "test.tsv", [("u", "y", 1), ("v", "z", 1), ("x", "u", 1)])
    evaluation = evaluate_with_baselines(model, "test.tsv", exclude_known="train.tsv", bootstrap=0)
    assert (evaluation.test.read, evaluation.test.unknown) == (3, 1)
    assert evaluation.model.mpr == pytest.approx((0 + 1) / 2)  # u: z > y, x is known; v: z alone is left
    assert evaluation.results[SLIM].mpr == pytest.approx(1.0)  # y stands with u's x in v's history


def test_coverage_counts_pairs_and_weight(folder):
    evaluation = evaluate_with_baselines(Model.load("model"), folder / "test.tsv", bootstrap=0, rank_itself=True)
    assert (evaluation.test.read, evaluation.test.unknown) == (5, 2)
    assert (evaluation.test.evaluated, evaluation.test.weight) == (3 / 5, 4 / 8)
    assert evaluation.results.keys() == {"model", POPULARITY}  # by the model's counts
    assert evaluation.results[POPULARITY].mpr == pytest.approx((1 / 4 + 0 + 2 * 1) / 4)
    assert "not given" in evaluation.missing[COOCCURRENCE]
    alone = evaluate_with_baselines(Model.load("model"), "test.tsv", bootstrap=0, baselines=False)
    assert (alone.results.keys(), alone.missing) == ({"model"}, {})


def test_several_known_files_are_left_out_together(folder):
    write(folder / "valid.tsv", [("a", "a", 1), ("b", "a", 1)])
    evaluation = evaluate_with_baselines(
        Model.load("model"),
        "test.tsv",
        exclude_known=["train.tsv", "valid.tsv"],
        ks=(1,),
        bootstrap=0,
        rank_itself=True,
    )
    assert evaluation.model.known_held_out == 1  # (b, a) stays
    assert evaluation.model.mpr == pytest.approx((1 + 0 + 2 * 1 / 3) / 4)  # a: d > e
    assert evaluation.known.read == len(TRAIN) + 2


def test_an_absolute_softmax_is_ranked_by_the_size_of_its_logits(folder):
    model = model_of([[-3, 1, 2], [0, 0, 0], [0, 0, 0]], words="abc", loss="softmax", absolute_softmax=True)
    write(folder / "test.tsv", [("a", "a", 1)])
    assert evaluate_with_baselines(model, "test.tsv", bootstrap=0).model.mpr == 1.0


def test_counts_too_large_for_memory_are_not_made(folder, monkeypatch):
    monkeypatch.setattr("w2vneg.vectors.evaluation.scores.memory_size", lambda: 100)
    model = model_of([[0, 1, 2], [2, 1, 0]], words="uv", words_out="xyz")
    write(folder / "train.tsv", [("u", "x", 1), ("v", "x", 1), ("v", "y", 1)])
    write(folder / "test.tsv", [("u", "y", 1)])
    evaluation = evaluate_with_baselines(model, "test.tsv", train="train.tsv", bootstrap=0)
    assert "quarter of the memory" in evaluation.missing[SLIM]
    assert POPULARITY in evaluation.results


def test_from_python_in_two_lines(folder):
    evaluation = Word2Vec.load("model").evaluate_ranking("test.tsv", exclude_known="train.tsv")
    assert evaluation.model.intervals["mpr"][0] <= evaluation.model.mpr <= evaluation.model.intervals["mpr"][1]
    with pytest.raises(ConfigError, match="call fit first"):
        Word2Vec().evaluate_ranking("test.tsv")


def test_scores_that_are_no_numbers_are_told(folder):
    model = model_of(LOGITS)
    model.vectors_in = np.full_like(model.vectors_in, 1e30)
    model.vectors_out = np.full_like(model.vectors_out, 1e30)
    with pytest.raises(InputError, match="scores are not finite"):
        evaluate_with_baselines(model, "test.tsv", bootstrap=0)


def test_a_difference_s_interval_is_of_the_same_centres():
    """Half the scores are the same: the interval is that of resampling both alike, and narrower than either's own."""
    rng = np.random.default_rng(5)
    common, pairs = rng.normal(size=(400, 30)), (np.arange(400), rng.integers(0, 30, 400), rng.uniform(0.5, 2, 400))
    common[pairs[0], pairs[1]] += 1
    first, second = (common + 0.4 * rng.normal(size=common.shape) for _ in range(2))
    rank = lambda scores: evaluate_ranking(lambda c: scores[c].astype(np.float32), pairs, 30, ks=(5,))  # noqa: E731
    one, other, worse = rank(first), rank(second), rank(rng.normal(size=common.shape))
    for name in ("mpr", "ndcg@5", "nll"):
        difference, low, high = one.above(other, name)
        sign = -1 if name == "nll" else 1
        assert difference == pytest.approx(sign * (one.by_name()[name] - other.by_name()[name]))
        weights = rng.multinomial(400, np.full(400, 1 / 400), 4000).astype(float)
        means = [ranking_module._means(result.sums, weights)[name] for result in (one, other)]
        expected = np.quantile(sign * (means[0] - means[1]), (0.025, 0.975))
        assert (low, high) == pytest.approx(tuple(expected), abs=0.15 * (high - low))
        assert high - low < np.diff(one.intervals[name])[0]
        stands = [standing(*one.above(result, name)[1:]) for result in (worse, one)]
        assert stands == ["better than", "not distinguishable from"] and standing(*worse.above(one, name)[1:]) == WORSE


def test_two_centres_that_differ_alike_prove_nothing():
    pairs = np.array([0, 1]), np.array([0, 1]), np.ones(2)
    good, bad = (evaluate_ranking(lambda c, s=s: s[c], pairs, 9, ks=(1,)) for s in (np.eye(2, 9), -np.eye(2, 9)))
    assert good.above(bad, "ndcg@1") == (1.0, -np.inf, np.inf)


def test_many_centres_are_resampled_in_groups(monkeypatch):
    rng = np.random.default_rng(2)
    scores = rng.normal(size=(900, 20)).astype(np.float32)
    pairs = np.arange(900), rng.integers(0, 20, 900), np.ones(900)
    results = []
    for groups in (10_000, 300):
        monkeypatch.setattr(ranking_module, "_GROUPS", groups)
        results.append(ranking_module.evaluate_ranking(lambda c: scores[c].copy(), pairs, 20, bootstrap=2000))
    each, grouped = results
    assert each.mpr == pytest.approx(grouped.mpr)
    width, as_groups = (np.diff(result.intervals["mpr"])[0] for result in results)
    assert as_groups == pytest.approx(width, rel=0.25)


# the command


def test_the_table(folder, run_cli):
    known = "--exclude-known", "train.tsv"
    short = run_cli("eval", "ranking", "model", "test.tsv", *known).out.splitlines()
    assert len(short) == 13
    assert next(cell for cell in short[5].split("  ") if cell).strip() == "NDCG@10"
    assert [line.split("  ")[0] for line in short[7:9]] == ["model", "popularity"]
    assert short[10].startswith("item-item co-occurrence is not shown: the pairs that it counts are left out")
    assert short[12].startswith("Warning: not distinguishable from popularity: NDCG@10 ")
    assert re.search(r", difference [+-]0\.\d{4} \(95 % interval [+-]\d+\.\d{4} … [+-]\d+\.\d{4}\)\. Train", short[12])
    alone = run_cli("eval", "ranking", "model", "test.tsv", *known, "--no-baselines", "--k", "1").out
    assert "recall@1" in alone and alone.endswith("More figures, with intervals: --all.\n")
    shown = run_cli("eval", "ranking", "model", "test.tsv", *known, "--k", "2,1", "--all", "--rank-itself")
    assert shown.code == 0
    lines = shown.out.splitlines()
    assert lines[0] == (
        "test.tsv: 3 of 5 pairs evaluated (60.0 %, 50.0 % of the weight); 3 distinct ones, 2 centres, 5 targets"
    )
    assert lines[1] == "Known targets (train.tsv) are left out of the catalogue."
    columns = "separated by tab; items = column 'item'; targets = column 'target'; weight = column 'weight'"
    assert lines[2:4] == [f"Columns of {name}: {columns}" for name in ("test.tsv", "train.tsv")]
    assert lines[5].split() == ["model", "popularity"]
    names = [line.split("  ")[0] for line in lines[7:] if line[:1] not in ("-", "")]
    assert names[:6] == ["MPR", "AUC", "MRR", "likelihood", "NLL, nats", "perplexity"]
    assert names[6:8] == ["P@1 of pairs", "P@2 of pairs"]
    assert names[8:16] == [f"{name}@{k}" for name in ("precision", "recall", "hit rate", "NDCG") for k in (1, 2)]
    assert next(line for line in lines if line.startswith("MPR")).split()[1] == "0.5417"
    assert "\nNot distinguishable from popularity: MPR, " in shown.out
    plain = run_cli("eval", "ranking", "model", "test.tsv", "--bootstrap", "0", "--no-baselines", "--mpr", "sampled")
    assert "--exclude-known TRAIN.tsv leaves those out" in plain.out
    assert "MPR, sampled" in plain.out
    assert "…" not in plain.out


def test_pairs_both_known_and_held_out_are_told(folder, run_cli):
    shown = run_cli("eval", "ranking", "model", "test.tsv", "--exclude-known", "test.tsv")
    assert "3 held-out pairs are also known, and stay" in shown.out


def test_the_json_document_holds_everything(folder, run_cli):
    options = ["--train", "train.tsv", "--mpr", "sampled", "--samples", "7", "--bootstrap", "20", "--seed", "3"]
    document = json.loads(run_cli("eval", "ranking", "model", "test.tsv", *options, "--k", "1,3", "--json").out)
    assert document["model"] == "model"
    assert document["options"] == {"ks": [1, 3], "samples": 7, "bootstrap": 20, "seed": 3, "score": "raw"}
    columns = document["test"].pop("columns")
    assert columns == [
        "separated by tab",
        "items = column 'item'",
        "targets = column 'target'",
        "weight = column 'weight'",
    ]
    assert document["test"] == {"files": ["test.tsv"], "read": 5, "unknown": 2, "evaluated": 0.6, "weight": 0.5}
    assert (document["known"], document["train"]["files"]) == (None, ["train.tsv"])
    expected = evaluate_with_baselines(
        Model.load("model"), "test.tsv", train="train.tsv", ks=(1, 3), samples=7, bootstrap=20, seed=3
    )
    assert document["results"] == json.loads(json.dumps(expected.as_dict()["results"]))
    found = document["differences"]["popularity"]["ndcg@1"]
    assert (
        found[0] == pytest.approx(expected.model.ndcg[1] - expected.results["popularity"].ndcg[1]) and len(found) == 3
    )
    assert set(document["results"]["model"]["intervals"]) >= {"mpr", "nll", "perplexity", "ndcg@3", "list_precision@1"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("none", "test.tsv"), "none: no such model folder"),
        (("model", "none.tsv"), "none.tsv"),
        (("model", "others.tsv"), "others.tsv: none of its 2 pairs has a weight above 0 and two known items"),
        (("model", "test.tsv", "--exclude-known", "others.tsv"), "others.tsv: none of its 2 pairs"),
        (("model", "test.tsv", "--train", "negative.tsv"), "negative.tsv:2"),
    ],
)
def test_mistakes(folder, run_cli, arguments, message):
    write(folder / "others.tsv", [("x", "y", 1), ("a", "y", 2)])
    write(folder / "negative.tsv", [("a", "b", -1), ("a", "c", 2)])
    result = run_cli("eval", "ranking", *arguments)
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith("Error: ")
    assert message in result.err
    assert "Traceback" not in result.err


@pytest.mark.parametrize(
    "arguments", [("--k", "0,5"), ("--k", "five"), ("--samples", "5"), ("--no-baselines", "--train", "train.tsv")]
)
def test_usage_mistakes(folder, run_cli, arguments):
    assert run_cli("eval", "ranking", "model", "test.tsv", *arguments).code == 2


def test_cut_offs_and_numbers_of_draws_are_checked_at_the_door(folder):
    rank = partial(evaluate_with_baselines, Model.load("model"), "test.tsv", baselines=False)
    expected = rank(ks=(1, 2), bootstrap=0)
    for ks in ((k for k in (1, 2)), np.array([1, 2])):
        found = rank(ks=ks, bootstrap=0)
        assert found.model == expected.model and found.options == expected.options
        assert {type(k) for k in found.model.precision} == {int}
    for wrong in (
        {"ks": 10},
        {"ks": ()},
        {"ks": (1.5,)},
        {"ks": (0,)},
        {"bootstrap": -1},
        {"samples": -1},
        {"seed": -1},
    ):
        with pytest.raises(ConfigError, match=f"{next(iter(wrong))} must be"):
            rank(**wrong)
