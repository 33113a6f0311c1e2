"""The suite, time to quality and many workers: what they count by hand, what they choose, what they refuse."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from planted import as_text, two_topics

from benchmarks import many_workers, quality, scaling, suite, time_to_quality
from benchmarks.contenders import CONTENDERS, REFERENCE, Timing, head, time_contender, zipf_text
from benchmarks.gauges import Gauge, measure_machine, peak_memory, reset_peak_memory
from benchmarks.operations import work_of
from benchmarks.quality import Run
from benchmarks.rivals import train_gensim, write_sentences
from w2vneg.config import TrainConfig
from w2vneg.ground.errors import ConfigError, UnknownNameError


def work(pairs=1000, groups=100, n_vocab=50, **options):
    return work_of(TrainConfig(dim=10, **options).resolved(), n_vocab, pairs, groups)


@pytest.mark.parametrize(
    ("options", "operations", "moved"),
    [
        # 1000 positives and 5000 negatives: 6000 targets, 60 operations each; 80 bytes for them and for 100 centres
        ({"loss": "ns", "negatives": 5, "share_negatives": "no"}, 360_000, 488_000),
        # 1000 positives, 500 negatives
        ({"loss": "ns", "negatives": 5, "share_negatives": "centre"}, 90_000, 128_000),
        # as many operations as without sharing; the rows of 1000 words around, of 100 in the middle and 500 negatives
        ({"loss": "ns", "negatives": 5, "share_negatives": "window"}, 360_000, 128_000),
        # 64 candidates for 100 centres and 1000 positives are scored (20), 6000 targets updated (40); 2 fresh rows
        ({"loss": "relaxed", "negatives": 5}, 20 * 7400 + 40 * 6000, 488_000 + 40 * 200),
        ({"loss": "relaxed", "negatives": 5, "method": "sir"}, 20 * 7400 + 40 * 6000, 488_000 + 40 * 6400),
        ({"loss": "relaxed", "negatives": 5, "method": "exact"}, 360_000 + 20 * 50 * 100, 488_000),
        ({"loss": "dns", "negatives": 5}, 20 * (8 * 5000 + 1000) + 40 * 6000, 488_000 + 40 * 40_000),
        ({"loss": "cis", "negatives": 5}, 20 * 7400 + 40 * 6000 + 360_000, 2 * 488_000 + 40 * 200),
        ({"loss": "mle"}, 60 * 50 * 100, 0),
    ],
)
def test_operations_by_hand(options, operations, moved):
    done = work(**options)
    assert (done.operations, done.moved) == (operations, moved)


def test_no_formula_for_the_kernel_sampler():
    assert work(loss="kernel-quadratic") is None


def test_zipf_text_follows_its_shares():
    text = zipf_text(1000, 200_000)
    found = np.bincount(text.ids, minlength=1000)
    shares = np.log1p(1 / np.arange(1, 1001)) / np.log(1001)
    assert abs(shares.sum() - 1) < 1e-12
    assert np.all(np.abs(found - 200_000 * shares) < 6 * np.sqrt(200_000 * shares) + 1)
    assert text.offsets[-1] == len(text.ids) == 200_000 and not text.ids.flags.writeable
    assert np.array_equal(zipf_text(1000, 200_000).ids, text.ids)
    assert not np.array_equal(zipf_text(1000, 200_000, seed=2).ids, text.ids)


def test_head_keeps_whole_sentences_and_the_vocabulary():
    text = zipf_text(50, 1000, length=30)
    part = head(text, 100)
    assert len(part) == 90 and part.n_sentences == 3 and part.vocab is text.vocab
    assert len(head(text, 5)) == 30


@pytest.mark.usefixtures("gensim")
def test_gensim_on_a_part_has_the_words_of_the_whole(tmp_path):
    text = zipf_text(300, 20_000)
    part = head(text, 2000)
    path = write_sentences(part, tmp_path / "part.txt")
    model, seconds = train_gensim(path, 0.05, 1, {"dim": 8, "window": 2, "epochs": 1, "workers": 1}, part)
    assert len(model.wv) == 300 > len(np.unique(part.ids)) and seconds > 0


def test_ours_stops_with_the_round_that_has_enough(tmp_path):
    text, common = zipf_text(300, 60_000), {"dim": 8, "window": 5, "epochs": 1, "workers": 1}
    some = time_contender(CONTENDERS["ns shared"], text, common, 10_000, tmp_path)
    assert 10_000 <= some.words < 20_000 and some.memory >= some.grown >= 0
    whole = time_contender(CONTENDERS["ns shared"], text, common, None, tmp_path)
    assert whole.words == 60_000
    # pairs and groups of a part are in proportion, and so are the operations counted from them
    assert some.operations / some.words == pytest.approx(whole.operations / whole.words, rel=0.1)


def test_the_machine_has_rates_and_a_peak():
    gauge = measure_machine(3, 10, 1, length=100_000)
    assert gauge.repeat == 3 and min(gauge.product, gauge.triad, gauge.gather) > 0
    before = reset_peak_memory()
    assert len(np.ones(2**25, np.uint8)) and peak_memory() >= before > 0


def test_the_grid():
    every = {(cell.vocabulary, cell.dim) for cell in suite.grid(long=True)}
    assert every == {(v, d) for v in ("15k", "whole", "1M") for d in (100, 300)}
    for cell in suite.grid(long=True):
        assert ("mle" in cell.contenders) == (cell.vocabulary == "15k")
        assert ("itembed, one thread" in cell.contenders) == (cell.workers == 1)
        assert ("fastText maxn=0" in cell.contenders) == (cell.vocabulary != "1M")
    chosen = suite.grid(vocabularies=("1M",), workers=(1, 2), names=("ns shared", "itembed, one thread"))
    assert [(c.vocabulary, c.dim, c.workers) for c in chosen] == [("1M", 100, 1), ("1M", 100, 2)]
    assert [len(c.contenders) for c in chosen] == [2, 1]
    needed = {"ns shared", "ns per window", "ns per pair", "relaxed shared", "us per pair", "pbs per pair"}
    needed |= {"css-is per pair", "selfplay per pair", "cis per pair", REFERENCE}
    assert needed <= set(suite.grid()[0].contenders)


def test_suite_table_takes_shares_and_ratios_within_a_round():
    cell = suite.Cell("whole", 100, 1, ())
    timings = [
        Timing("ns shared", repeat, seconds, 1_000_000, 3_000_000, 8e9, 2e9, 500_000_000, 100_000_000)
        for repeat, seconds in enumerate((1.0, 2.0))
    ]
    timings += [Timing(REFERENCE, repeat, seconds, 1_000_000, 0) for repeat, seconds in enumerate((8.0, 4.0))]
    gauges = [Gauge(0, 80e9, 10e9, 4e9), Gauge(1, 40e9, 10e9, 2e9)]
    lines = suite.table(suite.Measured(cell, 70, gauges, suite.with_expected_pairs(timings))).splitlines()
    assert lines[0] == "### 70 words (whole), 100 numbers, 1 worker"
    assert lines[2] == ("product GFLOP/s 60 (40–80), memory GB/s in order 10.0 (10.0–10.0), by rows 3.0 (2.0–4.0)")
    assert (
        lines[-2] == "| ns shared | 750 (500–1,000) | 2.25 | 6.0 | 0.100 | 0.15 | 0.50 | 500 (100) | 5.00 (2.00–8.00) |"
    )
    assert lines[-1] == f"| {REFERENCE} | 188 (125–250) | 0.56 | – | – | – | – | – | 1.00 (1.00–1.00) |"


def test_scaling_takes_ratios_within_a_round_and_tells_rounds_of_all_threads_apart():
    seconds = {1: (4.0, 3.0, 4.0), 2: (2.0, 2.0, 2.5)}
    timings = {n: [Timing("ns", k, s, 1_000_000, 0) for k, s in enumerate(some)] for n, some in seconds.items()}
    gauges = {
        1: [Gauge(k, 100e9, 1, 1) for k in range(3)],
        2: [Gauge(k, p, 1, 1) for k, p in enumerate((2e11, 13e10, 19e10))],
    }
    lines = scaling.table(scaling.Measured(2, gauges, {"ns": timings})).splitlines()
    assert "in the 2 rounds whose product was 1.85 times as fast or more" in lines[0]
    assert lines[2] == "| ns | 250 | 500 | 1.60 (1.50–2.00) | 1.80 (1.60–2.00) |"
    assert lines[3] == "| NumPy's product, GFLOP/s | 100 | 190 | 1.90 (1.30–2.00) | 1.95 (1.90–2.00) |"


def test_scaling_command(run_bench, tmp_path, monkeypatch):
    monkeypatch.setattr(scaling.measure, "__defaults__", (lambda text: None, lambda *_: Gauge(0, 1e9, 1e9, 1e9)))
    (tmp_path / "text").write_text(as_text(two_topics()))
    arguments = ("scaling", "--corpus", tmp_path / "text", "--dim", 8, "--min-count", 1, "--tokens", 3000)
    result = run_bench(*arguments, "--only", "ns shared", "--repeats", 2, "--out", tmp_path / "runs.json")
    assert result.code == 0, result.err
    rows = [line.split("|")[1].strip() for line in result.out.splitlines() if line.startswith("| ")]
    assert rows == ["trainer", "ns shared", "NumPy's product, GFLOP/s"]
    runs = json.loads((tmp_path / "runs.json").read_text())
    assert {n: len(some) for n, some in runs["timings"]["ns shared"].items()} == {"1": 2, "2": 2}
    for wrong, message in (("--workers", "give two or more"), ("--only", "no trainer of ours '1'")):
        result = run_bench(*arguments, wrong, 1)
        assert result.code == 1 and message in result.err


@pytest.mark.usefixtures("gensim")
def test_suite_command(run_bench, tmp_path, monkeypatch):
    monkeypatch.setattr(suite.measure_cell, "__defaults__", (lambda text: None, lambda *_: Gauge(0, 1e9, 1e9, 1e9)))
    (tmp_path / "text").write_text(as_text(two_topics()))
    arguments = ("suite", "--corpus", tmp_path / "text", "--dim", 8, "--workers", 1, "--tokens", 3000)
    chosen = ("--only", "ns shared", "--only", REFERENCE, "--repeats", 1)
    result = run_bench(*arguments, *chosen, "--out", tmp_path / "runs.json")
    assert result.code == 0, result.err
    rows = [line.split("|")[1].strip() for line in result.out.splitlines() if line.startswith("| ")]
    assert rows == ["trainer", "ns shared", REFERENCE]
    (cell,) = json.loads((tmp_path / "runs.json").read_text())["cells"]
    assert cell["n_vocab"] == 40 and [t["contender"] for t in cell["timings"]] == rows[1:]
    assert all(t["pairs"] > 0 for t in cell["timings"]) and len(cell["gauges"]) == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("suite", "--only", "ns sharde"), "did you mean 'ns shared'"),
        (("suite", "--only", "itembed, one thread", "--workers", 2), "itembed needs --workers 1"),
        (("time-to-quality", "--objective", "nonsens"), "unknown objective 'nonsens'"),
        (("time-to-quality", "--at", "ns"), "OBJECTIVE=ALPHA"),
        (("time-to-quality", "--objective", "ns", "--at", "relaxed=0.1"), "does not take part"),
        (("time-to-quality", "--objective", "ns", "--budget", "relaxed=3"), "does not take part"),
        (("time-to-quality", "--budget", "ns="), "not 'ns='"),
        (("time-to-quality", "--objective", "ns", "--budget", "gensim=3"), "no budget for 'ns'"),
        (("time-to-quality", "--objective", "ns", "--plot", "no/such/folder/p.png"), "no/such/folder"),
        (("workers", "--workers", 4), "--workers 1"),
        (("workers", "--objective", "gensim"), "no merge"),
    ],
)
@pytest.mark.usefixtures("gensim")
def test_bad_options_are_refused_before_any_work(run_bench, monkeypatch, arguments, said):
    def never(*args, **kwargs):
        raise AssertionError("work was begun")

    monkeypatch.setattr("w2vneg.run.word2vec.Word2Vec.encode", never)
    monkeypatch.setattr(suite, "zipf_million", never)
    result = run_bench(*arguments)
    assert result.code == 1 and said in result.err


def run(name, epochs, analogies, men, seconds, seed=1):
    scores = {"sem-dev": analogies + 0.05, "syn-dev": analogies - 0.05, "men-dev": men}
    return Run(name, 0.05, seed, seconds, scores, None, {"epochs": epochs})


RUNS = [
    run("gensim", 1, 0.30, 0.60, 20.0),
    run("gensim", 5, 0.40, 0.70, 100.0),
    run("ns", 1, 0.40, 0.60, 5.0),  # one of the two is not enough
    run("ns", 2, 0.397, 0.696, 10.0),  # both within the tolerance
    run("ns", 5, 0.50, 0.80, 25.0),
    run("relaxed", 1, 0.39, 0.80, 8.0),
    run("relaxed", 5, 0.394, 0.80, 40.0),  # misses by more than the tolerance
]


def test_the_smallest_budget_that_reaches_both_targets():
    found = {one.contender: one for one in time_to_quality.reached(time_to_quality.points_of(RUNS, "dev"), 5, 0.005)}
    assert (found["gensim"].epochs, found["gensim"].shares) == (5, [1.0])
    assert (found["ns"].epochs, found["ns"].seconds, found["ns"].shares) == (2, [10.0], [0.1])
    assert (found["relaxed"].epochs, found["relaxed"].shares) == (None, [])
    strict = time_to_quality.reached(time_to_quality.points_of(RUNS, "dev"), 5, 0.0)
    assert [one.epochs for one in strict] == [5, 5, None]
    loose = time_to_quality.reached(time_to_quality.points_of(RUNS, "dev"), 5, 0.2)
    assert [one.epochs for one in loose] == [1, 1, 1]


def test_time_to_quality_tables():
    points = time_to_quality.points_of([*RUNS, run("ns", 2, 0.403, 0.704, 14.0, seed=2)], "dev")
    lines = time_to_quality.table(points).splitlines()
    assert lines[2] == "| gensim | 1 | 1 | 20.0 | 0.300 | 0.600 |"
    assert lines[5] == "| ns | 2 | 2 | 12.0 (10.0–14.0) | 0.400 (0.397–0.403) | 0.700 (0.696–0.704) |"
    lines = time_to_quality.reached_table(time_to_quality.reached(points, 5, 0.005), 5).splitlines()
    assert lines[-2:] == ["| ns | 2 | 12.0 (10.0–14.0) | 0.10 |", "| relaxed | not reached | – | – |"]


def test_test_data_are_read_where_they_are_reported():
    scores = {"sem-test P@1": 0.4, "syn-test P@1": 0.2, "men-test": 0.7, "men": 0.1, "sem P@1": 0.0, "syn P@1": 0.0}
    (point,) = time_to_quality.points_of([Run("gensim", 0.05, 1, 9.0, scores, None, {"epochs": 5})], "test").values()
    assert point.analogies == [pytest.approx(0.3)] and point.men == [0.7]


def test_the_reference_is_always_run_and_all_are_interleaved():
    plan = time_to_quality.Plan.checked(("ns",), {}, [(None, 2), (None, 1)], 5, (7, 8))
    one = [(1, "gensim"), (1, "ns"), (2, "gensim"), (2, "ns"), (5, "gensim")]
    assert list(plan.runs()) == [(seed, *rest) for seed in (7, 8) for rest in one]


def test_a_trainer_may_have_budgets_of_its_own():
    budgets = [("ns", 6), (None, 3), ("ns", 4), ("gensim", 5)]
    plan = time_to_quality.Plan.checked(("ns", "relaxed"), {}, budgets, 5, (1,))
    assert [run[1:] for run in plan.runs()] == [(3, "relaxed"), (4, "ns"), (5, "gensim"), (6, "ns")]


@pytest.mark.usefixtures("gensim")
def test_time_to_quality_command(run_bench, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    scores = {"sem-dev": 0.2, "syn-dev": 0.3, "men-dev": 0.5, "mean-dev": 1 / 3, "nll": None}
    monkeypatch.setattr(quality, "development_scores", lambda *_: scores)
    (tmp_path / "text").write_text(as_text(two_topics()))
    result = run_bench(
        *("time-to-quality", "--corpus", tmp_path / "text", "--dim", 8, "--workers", 1, "--objective", "ns"),
        *("--budget", 1, "--target-epochs", 2, "--out", tmp_path / "runs.json", "--plot", tmp_path / "p.png"),
    )
    assert result.code == 0, result.err
    assert "| ns | 1 | 1 |" in result.out and "share of gensim's seconds at 2 epochs" in result.out
    runs = json.loads((tmp_path / "runs.json").read_text())["runs"]
    assert [(r["objective"], r["setting"]["epochs"]) for r in runs] == [("gensim", 1), ("ns", 1), ("gensim", 2)]
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")


def worked(objective, workers, seed, mean):
    scores = {"men-dev": 0.5, "sem-dev": 0.4, "syn-dev": 0.3, "mean-dev": mean, "nll": 8.0}
    return Run(objective, 0.05, seed, 3.0, scores, 1, {"workers": workers})


def test_differences_from_one_worker_by_hand():
    one, four = (0.50, 0.52), (0.40, 0.42)
    runs = [worked("ns", w, seed, mean) for w, means in ((1, one), (4, four)) for seed, mean in enumerate(means)]
    # both pairs deviate by 0.01 from their means: variance 4 · 0.0001 / 2, error √(variance (1/2 + 1/2))
    apart, error = many_workers.differences(runs, "ns")[4]
    assert apart == pytest.approx(-0.1) and error == pytest.approx(np.sqrt(0.0002))
    lines = many_workers.table(runs).splitlines()
    assert lines[2].split("|")[9].strip() == "–" and lines[2].split("|")[2:4] == [" 1 ", " 2 "]
    assert lines[3].split("|")[9].strip() == "-0.100 ± 0.028, beyond noise"
    near = [worked("ns", w, s, m) for w, ms in ((1, one), (4, (0.51, 0.53))) for s, m in enumerate(ms)]
    assert "within noise" in many_workers.table(near)
    single = [worked("ns", 1, 1, 0.5), worked("ns", 2, 1, 0.6)]
    assert "| +0.100 |" in many_workers.table(single)


def test_workers_command_trains_with_more_workers_than_cores(run_bench, tmp_path, monkeypatch):
    monkeypatch.setattr(
        quality,
        "development_scores",
        lambda vectors, *_: {name: float(abs(vectors.matrix).mean()) for name in quality.DEV},
    )
    (tmp_path / "text").write_text(as_text(two_topics()))
    result = run_bench(
        *("workers", "--corpus", tmp_path / "text", "--dim", 8, "--epochs", 1, "--objective", "ns"),
        *("--workers", 1, "--workers", 8, "--seed", 1, "--out", tmp_path / "runs.json"),
    )
    assert result.code == 0, result.err
    runs = json.loads((tmp_path / "runs.json").read_text())["runs"]
    assert [r["setting"]["workers"] for r in runs] == [1, 8] and all(r["pairs"] > 0 for r in runs)


def test_unknown_names():
    with pytest.raises(UnknownNameError, match="did you mean"):
        suite.grid(names=("gensim",))
    with pytest.raises(ConfigError, match="fasttext"):
        quality.check_objective("nonsense")
    quality.check_objective("fasttext")


class _FastText:
    """What we ask of fastText, which needs a C++ compiler and now and then stops with a NaN of its own."""

    words = "w02", "</s>", "w00"

    def train_unsupervised(self, path, dim, **options):
        assert (options["model"], options["maxn"], options["lr"]) == ("skipgram", 0, 0.05)
        self.dim, self.text = dim, Path(path).read_text(encoding="utf-8")
        return self

    def get_words(self):
        return list(self.words)

    def get_input_matrix(self):
        return np.repeat(np.arange(3, dtype=np.float32), self.dim).reshape(3, self.dim)


@pytest.mark.slow
def test_read_outs_of_one_training_are_scored_each(tmp_path, monkeypatch):
    monkeypatch.setattr(quality, "development_scores", lambda vectors, outs, *rest: {"men-dev": float(vectors.dim)})
    evaluate = quality.Evaluator(zipf_text(30, 4000), {"dim": 8, "window": 2, "workers": 1}, "dev")
    runs = evaluate.measure_all("best", None, 1, tmp_path, ("in", "both", "context+letters"), subsample=0)
    assert [run.readout for run in runs] == ["in", "both", "context+letters"]
    assert runs[0].seconds < runs[1].seconds and {run.scores["men-dev"] for run in runs} == {8.0}
    assert evaluate.measure("ns", None, 1, tmp_path, epochs=1).readout == "in"


def test_vectors_of_fasttext_are_those_of_the_words(tmp_path, monkeypatch):
    stand_in = _FastText()
    monkeypatch.setitem(sys.modules, "fasttext", stand_in)
    evaluate = quality.Evaluator(zipf_text(30, 2000), {"dim": 8, "window": 2, "epochs": 1, "workers": 1}, "test")
    vectors, outs, seconds = evaluate._rival("fasttext", 0.05, 1, tmp_path, evaluate.common)
    found = dict(zip(vectors.words, vectors.matrix[:, 0].tolist(), strict=True))
    assert found == {"w02": 0.0, "w00": 2.0}
    assert len(stand_in.text.split()) == 2000
    assert seconds > 0 and outs is None
