"""The studies of networks in small, and their parts: sequences, losses on held-out data, choices, shares, ranks."""

import math

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("torch", reason='PyTorch is not installed: pip install "w2vneg[torch]"')

import torch

from studies import (
    STUDIES,
    css_figure_3,
    kernel_lstm,
    networks,
    next_of_history,
    sequences,
)
from studies.climb import Rates
from studies.memo import Memo
from studies.networks import Method, Plan, Run
from studies.sequences import Sequences, Task
from w2vneg.data.encoded import encode_corpus


def test_windows_of_text_are_each_word_and_the_next_with_rare_words_as_one():
    texts = {"train": [["b", "a"], ["a", "c"], ["a", "b"]], "valid": [["a", "z"]], "test": [["c"]]}
    task = sequences.language("toy", texts, dict.fromkeys(texts, 100), 4, 2)
    names = {0: "<eos>", 1: "a", 2: "b", 3: "other"}  # a and <eos> occur thrice, b twice, c once
    train = task.parts["train"]
    running = [names[k] for k in train.inputs.ravel()]
    assert running == ["b", "a", "<eos>", "a", "other", "<eos>", "a", "b"]
    assert [names[k] for k in train.targets.ravel()] == [*running[1:], "<eos>"]
    assert [names[k] for k in task.parts["valid"].inputs.ravel()] == ["a", "other"]
    assert task.counts.tolist() == [3, 3, 1, 1]  # as targets: the first word is none
    follows = task.neighbours().toarray()
    assert follows[2].tolist() == [1, 1, 0, 0]  # after b: a and the end of a line
    assert follows.sum() == train.targets.size


def test_histories_are_each_item_after_those_before_it_and_users_stand_in_one_part():
    lines = [[f"{user}i{k}" for k in range(4)] for user in "abcdefghijklmnopqrst"]
    common = encode_corpus([["x", *line, "y"] for line in lines], min_count=1)
    task = sequences.next_items("toy", common, 3, 1)
    train = task.parts["train"]
    assert len(train) == 16 * 4  # x is never a target, so what has x alone before it is left out
    assert (np.diff(task.counts) <= 0).all() and task.counts.min() > 0
    assert task.counts[0] == 16  # y
    assert (train.inputs[:, 0] < 0).sum() == 16 * 2
    short = train.inputs[:, 1] < 0
    assert len(np.unique(train.inputs[short, 2])) == 16
    some = sequences.next_items("toy", common, 3, 1, most=30)
    assert 0 < len(some.parts["train"]) <= 30  # of thirty examples, those whose last item is a target too
    assert some.counts.sum() == 30
    assert len(task.parts["test"]) == 0  # two users of whose items no other has any


def small():
    rng = np.random.default_rng(1)
    parts = {name: Sequences(*rng.integers(0, 12, (2, 30, 5))) for name in ("train", "valid", "test")}
    return Task("toy", np.bincount(parts["train"].targets.ravel(), minlength=12), parts)


@pytest.mark.parametrize("net", ["gru", "lstm"])
def test_the_loss_on_held_out_data_is_that_of_the_softmax(net, monkeypatch):
    monkeypatch.setattr(networks, "_CHUNK", 12 * 5 * 7)  # blocks of 7 rows
    task = small()
    run = Run(task, Plan(net, 6, 1, 10, 1), Method("css", {"loss": "css"}), 3)
    inputs, targets = run.parts["valid"]
    scores = run.net(inputs) @ run.loss.output.weight.T
    expected = torch.nn.functional.cross_entropy(scores.flatten(0, 1), targets.flatten())
    assert run.nll("valid") == pytest.approx(expected.item(), rel=1e-5)
    spread = networks.log_z(run)
    of_test = (run.net(run.parts["test"][0]) @ run.loss.output.weight.T).logsumexp(dim=-1)
    assert spread["log Z"] == pytest.approx(of_test.mean().item(), rel=1e-5)
    assert spread["sd of log Z"] == pytest.approx(of_test.std().item(), rel=1e-4)


@pytest.mark.parametrize("net", ["mlp", "last", "mean", "gru-last"])
def test_networks_of_histories_give_a_row_each_and_mean_passes_over_nothing(net):
    ids = torch.tensor([[-1, 3, 4], [5, 3, 4]])
    torch.manual_seed(1)
    network = networks.network(Plan(net, 6, 1, 10, 1), 12, 3)
    rows = network(ids)
    assert rows.shape == (2, 6)
    if net == "last":
        torch.testing.assert_close(rows[0], rows[1])
    if net == "mean":
        torch.testing.assert_close(rows[0], network.project(network.embedding(ids[0, 1:]).mean(dim=0)))


def test_a_seed_decides_a_run_and_training_lowers_the_loss():
    task = small()
    task.parts["train"].targets[:] = (task.parts["train"].inputs + 1) % 12  # something to learn
    task.parts["valid"].targets[:] = (task.parts["valid"].inputs + 1) % 12
    plan, method = Plan("gru", 8, 15, 10, 1), Method("css", {"loss": "css", "negatives": 4, "shared": True, "spare": 2})
    first, again, other = (Run(task, plan, method, seed).train(0.03) for seed in (1, 1, 2))
    assert first == again != other
    assert first[-1] < 0.8 * math.log(12)


def test_a_run_that_diverges_has_an_infinite_loss():
    task = small()
    run = Run(task, Plan("gru", 6, 2, 10, 1), Method("is", {"loss": "importance", "negatives": 2}), 1)
    run.loss.output.weight.data.fill_(math.nan)
    assert run.train(0.01) == [math.inf, math.inf]


def test_each_row_has_a_rate_of_its_own():
    task = small()
    methods = [Method("full", {"loss": "softmax"}), Method("us", {"loss": "us"}, "corrected")]
    told = []
    plan = Plan("gru", 4, 1, 10, 2, rates=Rates(0.001, 10.0, (0, 1), 0))
    memo = Memo()
    found = networks.measure(task, plan, methods, 1, told.append, memo)
    table, rates = found.table, found.rates
    assert table["method"].to_list() == ["full", "us"]
    assert len(told) == 2 and (table["seconds"] > 0).all()
    assert len(found.curves) == 4 and len(rates) == 4
    for row in table.itertuples():
        assert row.rate == rates[rates["method"] == row.method].sort_values("valid")["rate"].iloc[0]
    assert (table["loss ±"] > 0).all()
    assert len(memo) == 8
    again = networks.measure(task, plan, methods, 1, told.append, memo)
    assert len(memo) == 8 and again.runs == found.runs  # nothing is trained again


def test_shares_of_the_gain():
    curves = pd.DataFrame(
        [("a", 0, 1, 5.0), ("a", 0, 2, 4.0), ("a", 1, 1, 5.0), ("a", 1, 2, 4.0), ("b", 0, 1, 9.0), ("b", 0, 2, 8.0)],
        columns=["method", "seed", "epoch", "valid"],
    )
    assert kernel_lstm.speed(curves, 6.0).to_dict() == {"a": 0.5}  # b never gains


def test_ranks_count_what_scores_higher_and_half_of_ties():
    scores = torch.tensor([[3.0, 2.0, 2.0, 1.0], [0.0, 0.0, 0.0, 0.0]])
    assert next_of_history.ranks(scores, torch.tensor([1, 3])).tolist() == [1.5, 1.5]
    row = next_of_history.popularity(
        Task("toy", np.array([5, 3, 2]), {"test": Sequences(np.zeros((2, 1), int), np.array([0, 2]))})
    )
    assert row["MPR"] == pytest.approx(50.0)
    assert row["loss"] == pytest.approx(-0.5 * (math.log(0.5) + math.log(0.2)))


@pytest.mark.realdata
def test_named_data_become_sequences(mirror):
    """Counts that the data's own description gives: 929,589 tokens with line ends, ratings of 4 and more."""
    text = sequences.treebank({"train": 10**7, "valid": 10**7, "test": 10**7}, 10_000, 1)
    sizes = [len(part) for part in text.parts.values()]
    assert sizes == [929_588, 73_759, 82_429]
    movies = sequences.histories("ml-100k", 10, 1)
    assert 55_375 * 0.75 < len(movies.parts["train"]) < 55_375 * 0.85
    assert sum(map(len, movies.parts.values())) < 55_375 - 900  # the first of each of 942 users is no target


@pytest.mark.slow
@pytest.mark.parametrize("name", ["css-figure-3", "kernel-lstm", "kernel-mlp", "next-of-history"])
def test_studies_in_small(name):
    told = []
    done = STUDIES[name](told.append, True, 1, Memo())
    assert told
    losses = done.tables["ranking" if name == "next-of-history" else "loss"]
    assert np.isfinite(losses["loss"]).all()
    assert done.verdicts
    for draw in done.figures.values():
        draw(pytest.importorskip("matplotlib.figure").Figure())
    if name == "kernel-lstm":
        above = done.tables["bias"].set_index(["sampler", "m"])["above full, %"]
        assert above["quadratic", 2] < above["uniform", 2]
        assert above["uniform", 50] < above["uniform", 2]


def test_the_figure_of_the_css_paper_leaves_nothing_out():
    names = {method.name for method in css_figure_3.methods(5)}
    assert {method.options["loss"] for method in css_figure_3.methods(5)} >= {"css", "blackout", "ranking", "ns", "nce"}
    assert "full softmax" in names
    names |= {method.name for method in css_figure_3.by_noise(5) + css_figure_3.by_draws()}
    assert {row for claim in css_figure_3.CLAIMS for row in (claim.better, claim.worse)} <= names


def test_a_learned_normaliser_starts_where_its_method_says():
    task, plan = sequences.made_up(12, 400, 5, 1), Plan("gru", 6, 1, 10, 1)
    given = {"loss": "nce", "log_z": "learned", "negatives": 2}
    starts = [Run(task, plan, Method("nce", given | more), 1).loss.log_z.item() for more in ({}, {"log_z_start": 0.0})]
    assert starts == [pytest.approx(np.log(12)), 0.0]


def test_runs_take_one_thread_and_give_the_others_back():
    t = networks.torch()
    former = t.get_num_threads()
    with networks.one_thread():
        assert t.get_num_threads() == 1
    assert t.get_num_threads() == former
