"""The measurements measure what they say: tables from known numbers, clean splits, rivals on the same text."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
from planted import as_text, two_topics

from benchmarks import contenders, dense, io, quality, speed
from benchmarks.rivals import train_gensim, write_sentences
from w2vneg.data.encoded import encode_corpus

COMMON = {"dim": 8, "window": 2, "epochs": 1, "workers": 1}


def test_heldout_part_is_the_end_and_not_in_the_training_part():
    corpus = encode_corpus(two_topics(), min_count=1)
    head, tail = quality.split(corpus, share=0.1)
    assert np.array_equal(np.concatenate([head.ids, tail.ids]), corpus.ids)
    assert head.n_sentences == 720 and tail.n_sentences == 80
    assert tail.offsets[0] == 0 and tail.offsets[-1] == len(tail.ids)


@pytest.mark.usefixtures("gensim")
def test_rivals_read_the_same_tokens(tmp_path):
    sentences = two_topics(n_sentences=30)
    corpus = encode_corpus(sentences, min_count=1)
    path = write_sentences(corpus, tmp_path / "text.txt")
    assert [line.split() for line in path.read_text().splitlines()] == sentences
    model, seconds = train_gensim(path, 0.05, 1, COMMON)
    assert set(model.wv.index_to_key) == set(corpus.vocab.words) and seconds > 0


def test_quality_table_gives_mean_and_range():
    runs = [
        quality.Run("ns", 0.05, seed, 10.0 + seed, {"men-dev": 0.5 + seed / 10, "sem-dev": 0.3, "nll": None}, n)
        for seed, n in ((0, 20_000_000), (1, 11_000_000))
    ]
    row = quality.table(runs, ("men-dev", "sem-dev", "nll")).splitlines()[-1]
    expected = "| ns | 0.05 | in | 2 | 0.550 (0.500–0.600) | 30.0 (30.0–30.0) | – | 10.5 (10.0–11.0) | 0.0 (0.0–0.0) |"
    assert row == f"{expected} 1.50 (1.00–2.00) |"


def test_speed_table_takes_ratios_within_a_round():
    timings = [
        contenders.Timing(name, repeat, seconds, 1_000_000, 0)
        for name, times in (("ns shared", (1, 4)), (contenders.REFERENCE, (10, 20)))
        for repeat, seconds in enumerate(times)
    ]
    lines = speed.speed_table(timings).splitlines()
    assert lines[2] == "| ns shared | 625 (250–1,000) | – | 7.5 (5.0–10.0) |"
    assert lines[3] == f"| {contenders.REFERENCE} | 75 (50–100) | – | 1.0 (1.0–1.0) |"


@pytest.mark.slow
@pytest.mark.usefixtures("gensim")
def test_interleaved_times_everyone_in_every_round():
    corpus = encode_corpus(two_topics(), min_count=1)
    names = ["ns shared", contenders.REFERENCE]
    timings = contenders.interleaved([contenders.CONTENDERS[name] for name in names], corpus, COMMON, 2)
    assert [(t.contender, t.repeat) for t in timings] == [(name, r) for r in (0, 1) for name in names]
    assert all(t.seconds > 0 and t.words == len(corpus) for t in timings)
    assert timings[0].pairs > 0


@pytest.mark.parametrize(("rounds", "begins"), [("12.5 100\n13.0 300\n", 12.25), ("12.5 100\n", None)])
def test_training_begins_before_the_first_round_is_done(monkeypatch, rounds, begins):
    monkeypatch.setattr(speed.time, "time", lambda: 0.0)
    monkeypatch.setattr(speed.subprocess, "run", lambda *_, **__: SimpleNamespace(stdout=rounds))
    assert speed.seconds_to_train("text", {}) == (begins, 12.5)


@pytest.mark.slow
def test_startup_command_starts_fresh_processes(run_bench, tmp_path, monkeypatch):
    monkeypatch.setenv("W2VNEG_CACHE", str(tmp_path / "cache"))
    text = tmp_path / "text.txt"
    text.write_text(as_text(two_topics()))
    options = ("--corpus", text, "--loss", "ns", "--dim", "8", "--workers", "1", "--min-count", "1", "--repeats", "2")
    result = run_bench("startup", *options)
    assert result.code == 0, result.err
    rows = [line.split("|")[1].strip() for line in result.out.splitlines()[2:]]
    assert rows == ["training begins", "its first round is done"]


@pytest.mark.realdata
def test_quality_command_on_development_data(mirror, run_bench, tmp_path):
    """A tenth of the work of the documented command; the vectors must have learnt something."""
    arguments = (
        "--max-vocab",
        5000,
        "--epochs",
        1,
        "--dim",
        32,
        "--objective",
        "relaxed",
        "--out",
        tmp_path / "runs.json",
    )
    result = run_bench("quality", *arguments)
    assert result.code == 0, result.err
    cells = [cell.strip() for cell in result.out.splitlines()[-1].split("|")]
    assert cells[1] == "relaxed" and float(cells[4]) > 0.4  # MEN's development part
    assert (tmp_path / "runs.json").is_file()
    assert run_bench("quality", "--objective", "nonsense").code == 1


def test_dense_table_takes_shares_within_a_round():
    timings = [
        dense.Timing(name, repeat, seconds, 12e9)
        for name, times in ((dense.PRODUCT, (1, 2)), (dense.SQUARE, (0.5, 1)), ("step", (4, 2)))
        for repeat, seconds in enumerate(times)
    ]
    line = dense.table(timings).splitlines()[-1]
    assert line == "| step | 4 (3–6) | 0.62 (0.25–1.00) | 0.31 (0.12–0.50) |"


@pytest.mark.slow
def test_dense_command_measures_everyone(run_bench, tmp_path):
    arguments = ("--vocab-size", 600, "--dim", 8, "--batch", 16, "--draws", 5, "--repeats", 2)
    result = run_bench("dense", *arguments, "--out", tmp_path / "runs.json")
    assert result.code == 0, result.err
    names = [line.split("|")[1].strip() for line in result.out.splitlines() if line.startswith("| ")][1:]
    assert names == [dense.PRODUCT, dense.SQUARE, "full softmax, whole step", "exact Boltzmann, 5 draws a centre"]
    assert (tmp_path / "runs.json").is_file()


def test_io_table_takes_ratios_within_a_round():
    timings = [
        io.Timing(name, repeat, seconds, 2 * seconds, 8, "MB", rival)
        for name, rival, times in (("ours", "theirs", (1, 4)), ("theirs", None, (4, 8)))
        for repeat, seconds in enumerate(times)
    ]
    lines = io.table(timings).splitlines()
    assert lines[2] == "| ours | 2.500 (1.000–4.000) | 5.00 | 5 (2–8) MB/s | 3.00 (2.00–4.00) × theirs |"
    assert lines[3] == "| theirs | 6.000 (4.000–8.000) | 12.00 | 1.5 (1–2) MB/s | – |"


@pytest.mark.usefixtures("gensim")
def test_io_command_measures_everything(run_bench, tmp_path, monkeypatch):
    (tmp_path / "analogies").write_text(": one\na b c d\nb a d c\n")
    (tmp_path / "similarity").write_text("a b 3\na c 2\nb c 5\nc d 1\n")
    (tmp_path / "text").write_text("some words make sentences\n" * 3000)
    monkeypatch.setattr(
        "w2vneg.data.catalog.resolve",
        lambda name, mirror, kind: tmp_path / {"analogy": "analogies"}.get(kind, kind),
    )
    monkeypatch.setattr(io.Sizes, "short", lambda: io.Sizes(50_000, 30, 40, 50, dim=4))
    result = run_bench("io", "--corpus", tmp_path / "text", "--repeats", 2, "--out", tmp_path / "runs.json")
    assert result.code == 0, result.err
    rows = {line.split("|")[1].strip(): line for line in result.out.splitlines() if line.startswith("| ")}
    for name in ("plain: counted and encoded", "xz: unpacked alone", "text written by gensim", "similarity", "--help"):
        assert name in rows
    assert (
        "× text read by gensim" in rows["text read"] and "× gzip: unpacked alone" in rows["gzip: counted and encoded"]
    )
    runs = json.loads((tmp_path / "runs.json").read_text())
    assert len(runs["timings"]) == 2 * (len(rows) - 1) and "cores" in runs["machine"]
