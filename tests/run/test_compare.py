"""Runs side by side: the figures are those of the runs, the intervals SciPy's, the differences paired by seed."""

import csv
import json
import shlex
import signal
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from planted import as_text, two_blocks, two_topics
from scipy import stats

from w2vneg.data.inputs import Input
from w2vneg.data.splitfiles import held_out_in
from w2vneg.ground.errors import ConfigError
from w2vneg.ground.events import RoundDone
from w2vneg.look.searches import charts_of_comparison
from w2vneg.run.model import Model
from w2vneg.run.search.comparing import PAIRED, as_latex, as_rows, compared, corrected, said_below, student
from w2vneg.run.search.trials import Trial
from w2vneg.vectors.evaluation import scores_of

SMALL = shlex.split("--dim 8 --window 3 --subsample 0 --min-count 1 --epochs 2 --workers 1 --loss ns")


def trial(alpha, seed, value, reason=None):
    return Trial({"alpha": alpha}, seed, {} if reason else {"nll": value}, None if reason else 1.0, 2.0, reason)


def test_means_and_paired_differences_are_those_of_scipy():
    rng = np.random.default_rng(3)
    one = rng.normal(3, 1, 6)
    two = one + rng.normal(0.5, 0.1, 6)  # a small difference within a large spread
    trials = [trial(0.1, seed, value) for seed, value in enumerate(one)]
    trials += [trial(0.2, seed, value) for seed, value in enumerate(two)][::-1]
    first, second = compared(trials, [{"alpha": 0.1}, {"alpha": 0.2}], ["a", "b"], "nll")
    expected = stats.ttest_1samp(one, 0).confidence_interval()
    assert (first.mean, first.low, first.high) == pytest.approx((one.mean(), *expected))
    expected = stats.ttest_rel(two, one).confidence_interval()
    assert (second.difference, second.difference_low, second.difference_high) == pytest.approx(
        (np.mean(two - one), *expected)
    )
    assert second.difference_low > 0 and first.high > second.low  # what only pairs can tell
    assert first.difference is None and first.p is None and second.seconds == 2.0
    assert second.p == pytest.approx(stats.ttest_rel(two, one).pvalue)


def test_one_seed_has_no_interval_and_a_run_that_failed_has_its_reason():
    trials = [trial(0.1, 1, None, "diverged"), trial(0.2, 1, 4.0), trial(0.3, 1, 5.0), trial(0.3, 2, 7.0)]
    names = ["a", "b", "c", "d"]
    runs = compared(trials, [{"alpha": a} for a in (0.1, 0.2, 0.3, 0.4)], names, "nll")
    assert [run.reason for run in runs] == ["diverged", None, None, "was not run"]
    assert (runs[1].mean, runs[1].low, runs[2].mean) == (4.0, None, 6.0)
    assert (runs[2].difference, runs[2].difference_low) == (1.0, None)  # over the one seed of both
    rows = as_rows(runs)
    assert [row[0] for row in rows[1:]] == names and rows[1][2] == "diverged"
    assert [row[3] for row in rows[1:]] == ["–", "baseline", "+1.0000", "–"]
    assert said_below(runs).endswith(" The first run failed: differences are from b.")
    assert charts_of_comparison(runs)[1].y == "nll, difference from b"
    assert PAIRED.endswith("– no p value: one seed, or all differences are equal.")
    assert said_below(runs[1:]) == PAIRED and as_rows(runs[1:])[1][3] == "–"
    assert student([]) == (None, None, None, None)


def test_p_is_corrected_as_by_holm_and_never_falls():
    runs = compared([trial(0.1, 1, 4.0), trial(0.1, 2, 5.0)], [{"alpha": 0.1}], ["a"], "nll") * 5
    runs = [replace(run, p=p) for run, p in zip(runs, (0.04, None, 0.01, 0.03, 0.005), strict=True)]
    assert [run.p for run in corrected(runs)] == [pytest.approx(p) if p else p for p in (0.06, None, 0.03, 0.06, 0.02)]


@pytest.mark.parametrize("more", [0.0, 0.1])
def test_seeds_that_all_differ_alike_do_not_say_how_sure_that_is(more):
    """Three ties would be p = 0 and an interval of no width, though rounding keeps 0.35 - 0.25 from 0.1."""
    trials = [trial(a, s, 0.15 + s / 10 + (a > 0.1) * more) for a in (0.1, 0.2) for s in (1, 2, 3)]
    first, second = compared(trials, [{"alpha": 0.1}, {"alpha": 0.2}], "ab", "nll")
    assert second.difference == pytest.approx(more) and first.low < first.mean < first.high
    assert (second.difference_low, second.difference_high, second.p) == (None, None, None)
    assert as_rows(corrected([first, second]))[2][4:6] == ["–", "–"]
    assert student([0.5] * 3) == (0.5, None, None, None)


def test_a_table_of_latex_escapes_its_signs():
    table = as_latex([["run", "95 % interval"], ["min_count 5", "-0.1 … +0.2"]])
    assert table.splitlines()[2] == r"run & 95 \% interval \\"
    assert r"min\_count 5 & $-$0.1 \ldots{} $+$0.2 \\" in table and table.startswith(r"\begin{tabular}{lr}")


def test_a_difference_of_nothing_has_no_sign():
    trials = [trial(alpha, seed, 4.0 - alpha * 1e-6 * seed) for alpha in (0.1, 0.2) for seed in (1, 2)]
    runs = compared(trials, [{"alpha": 0.1}, {"alpha": 0.2}], ["a", "b"], "nll")
    assert runs[1].difference < 0
    assert as_rows(runs)[2][3:5] == ["+0.0000", "+0.0000 … +0.0000"]


def test_an_end_near_nothing_and_a_p_near_5_per_cent_show_their_side():
    (run,) = compared([trial(0.1, 1, 4.0), trial(0.1, 2, 5.0)], [{"alpha": 0.1}], ["a"], "nll")
    ends = {"difference": 0.02, "difference_low": -0.00003, "difference_high": 0.0375}
    assert as_rows([replace(run, p=0.0502, **ends)])[1][4:6] == ["-3e-05 … +0.0375", "0.0502"]
    ends |= {"difference_low": 0.00003}
    assert as_rows([replace(run, p=0.04999, **ends)])[1][4:6] == ["+3e-05 … +0.0375", "0.04999"]
    assert as_rows([replace(run, p=0.05, **ends)])[1][5] == "0.05"


def test_a_folder_of_a_split_is_its_held_out_part(folder, run_cli):
    (folder / "edges.tsv").write_text("".join(f"{one}\t{other}\n" for one, other in two_blocks()))
    for shares, held in (((), "valid.tsv"), (("--train=0.8", "--valid=0"), "test.tsv")):
        assert run_cli("split", "--edges=edges.tsv", *shares, f"--out={held}-split").code == 0
        assert held_out_in(f"{held}-split") == str(Path(f"{held}-split", held))
    for other in ("valid.tsv-split/test.tsv", "corpus.txt", "builtin", "."):
        assert held_out_in(other) == other


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "corpus.txt").write_text(as_text(two_topics()))
    (tmp_path / "valid.tsv").write_text("".join(f"a{i}\ta{i + 1}\t1\nb{i}\tb{i + 2}\t1\n" for i in range(12)))
    return tmp_path


def figures(path, metric="nll"):
    with open(path, encoding="utf-8", newline="") as stream:
        return {(row["run"], int(row["seed"])): float(row[metric]) for row in csv.DictReader(stream)}


def test_a_grid_and_runs_of_model_folders_give_the_same_figures(folder, run_cli):
    pytest.importorskip("matplotlib")
    data = ["--corpus=corpus.txt", "--valid=valid.tsv", "--metric=nll"]
    result = run_cli("compare", *data, *SMALL, "--grid=alpha=0.02,0.1", "--seeds=2", "--out=grid")
    assert result.code == 0, result.err
    assert "alpha 0.02" in result.out and "difference" in result.out
    images = ("compare-means.png", "compare-differences.png")
    assert all(Path("grid", name).read_bytes().startswith(b"\x89PNG") for name in images)
    by_grid = figures("grid/compare.csv")
    assert len(by_grid) == 4
    for name, alpha in (("slow", 0.02), ("fast", 0.1)):
        result = run_cli("train", *data, *SMALL, f"--alpha={alpha}", f"--save-model={name}", "--eval-every=2", "--json")
        assert result.code == 0, result.err
        assert json.loads(result.out)["validation"]["figures"]["nll"] == by_grid[f"alpha {alpha}", 1]
    for other, said in (
        (["--metric=mpr"], "further metrics not given, now mpr"),
        (["--patience=3"], "patience not given, now 3"),
        (["--dim=9"], "dim 8, now 9"),
    ):
        result = run_cli("compare", *data, *SMALL, *other, "--grid=alpha=0.02,0.1", "--seeds=2", "--out=grid")
        assert result.code == 1 and f"grid holds another search ({said}); name another folder with --out" in result.err
    result = run_cli("compare", *data, *SMALL, "--grid=alpha=0.02,0.1", "--seeds=1", "--files=md", "--out=grid")
    assert result.code == 0 and "grid has more than 1 seeds from an earlier comparison; all count." in result.err
    result = run_cli("compare", "slow", "fast/run.toml", "--seeds=2", "--out=runs", "--json", "--quiet")
    assert result.code == 0, result.err
    of_runs = figures("runs/compare.csv")
    assert list(by_grid.values()) == list(of_runs.values()) and {name for name, _ in of_runs} == {"slow", "fast"}
    (_, run) = json.loads(result.out)["runs"]
    differences = [by_grid["alpha 0.1", seed] - by_grid["alpha 0.02", seed] for seed in (1, 2)]
    assert run["difference"] == pytest.approx(np.mean(differences))


def test_one_that_is_interrupted_in_its_first_run_says_so_and_goes_on(folder, run_cli, monkeypatch):
    rounds = []

    def press(event):
        rounds.extend([event] if isinstance(event, RoundDone) else [])
        if len(rounds) == 1:
            rounds.append(signal.raise_signal(signal.SIGINT))

    asked = ["compare", "--corpus=corpus.txt", "--valid=valid.tsv", *SMALL, "--grid=alpha=0.1", "--out=out"]
    with monkeypatch.context() as patch:
        patch.setattr("w2vneg.cli.compare.search_progress", lambda *_: nullcontext([press]))
        result = run_cli(*asked)
    assert result.code == 130 and "Error" not in result.err
    assert result.err.endswith("Interrupted: finished runs are kept; run the same command to resume.\n")
    assert run_cli(*asked).code == 0


def test_a_comparison_of_which_no_run_could_be_trained_says_why(folder, run_cli):
    asked = ["--corpus=corpus.txt", "--valid=valid.tsv", *SMALL, "--grid=alpha=1e9", "--seeds=1", "--out=out"]
    result = run_cli("compare", *asked)
    assert result.code == 1 and "Error: no run could be trained; the first reason: training diverged" in result.err


def test_a_comparison_by_several_metrics_goes_on_where_its_files_have_moved(folder, run_cli):
    for name in ("valid.tsv", "moved.tsv"):
        data = ["--corpus=corpus.txt", f"--valid={name}", "--metric=nll", "--metric=mpr"]
        result = run_cli("compare", *data, *SMALL, "--grid=alpha=0.02,0.1", "--seeds=1", "--out=grid")
        assert result.code == 0, result.err
        if name == "valid.tsv":
            Path(name).rename("moved.tsv")
    assert len(Path("grid", "trials.jsonl").read_text().splitlines()) == 2


@pytest.mark.slow
def test_scores_are_corrected_where_that_is_asked_for(folder, run_cli):
    """With ns raw dot products lack the noise that us does not; corrected ones are those of eval ranking."""
    (folder / "pairs.tsv").write_text("".join(f"{a}\t{b}\n" for a, b in zip("aabbccddab", "xyxzyzwxxw", strict=True)))
    (folder / "held.tsv").write_text("a\tz\nb\ty\n")
    data = ["--pairs=pairs.tsv", "--rectangular", "--valid=held.tsv", "--metric=nll", "--dim=8", "--epochs=2"]
    data += ["--workers=1", "--loss=ns", "--min-count=1"]
    grid = ["--grid=noise_exponent=0,0.75", "--out"]
    raw = run_cli("tune", *data, *grid, "raw")
    assert (
        raw.code == 0
        and "treat popular items differently, so raw scores are not comparable; add --score corrected." in raw.err
    )
    unknown = run_cli("tune", *data, "--grid=sampler=popularity,dns", "--out=unknown")
    assert unknown.code == 0 and "not comparable." in unknown.err and "--score" not in unknown.err
    same = run_cli("tune", *data, "--grid=alpha=0.02,0.1", "--out=alike")
    assert same.code == 0 and "--score" not in same.err
    result = run_cli("tune", *data, *grid, "best", "--score=corrected", "--json")
    assert result.code == 0 and "not comparable" not in result.err, result.err
    values = {row["options"]["noise_exponent"]: row["value"] for row in json.loads(result.out)["rows"]}
    for exponent, value in values.items():
        model = f"model{exponent}"
        options = f"--noise-exponent={exponent}", f"--save-model={model}", "--score=corrected", "--quiet"
        assert run_cli("train", *data, *options).code == 0
        found = run_cli("eval", "ranking", model, "held.tsv", "--score=corrected", "--no-baselines", "--json")
        assert json.loads(found.out)["results"]["model"]["nll"] == pytest.approx(value, rel=1e-5)
    law = json.loads(Path("model0.75/law.json").read_text("utf-8"))
    model = Model.load("model0.75")
    logits = law["factor"] * model.vectors_in @ model.vectors_out.T + np.load("model0.75/log_noise.npy")
    assert logits == pytest.approx(scores_of(model, "corrected")(np.arange(len(model.vocab))), rel=1e-5)
    refused = run_cli("train", *data, "--sampler=dns", "--score=corrected", "--save-model=none")
    assert refused.code == 1 and "it is not known where scores settle with the sampler dns" in refused.err


@pytest.mark.parametrize("command", ["compare", "tune"])
def test_without_data_it_is_the_built_in_corpus_as_in_train(folder, run_cli, monkeypatch, command):
    monkeypatch.setattr("w2vneg.data.builtin.builtin_path", lambda *_: folder / "corpus.txt")
    monkeypatch.setattr("w2vneg.data.catalog.places.builtin_path", lambda *_: folder / "corpus.txt")
    result = run_cli(command, *SMALL, "--grid=alpha=0.02", "--seeds=1", "--out=out", "--valid=valid.tsv")
    assert result.code == 0 and "training on the built-in corpus" in result.err, result.err
    result = run_cli(command, "--text-col=text", "--grid=alpha=0.02", "--out=other", "--valid=valid.tsv")
    assert result.code == 2 and "no source is named" in result.err
    result = run_cli(command, "--loss=ns", "--grid=temp=1,2", "--out=other", "--valid=valid.tsv")  # errors come first
    assert result.code == 1 and result.err.startswith("Error: --temp has no effect"), result.err


def test_what_does_not_go_together(folder, run_cli):
    data = ["--corpus=corpus.txt", "--out=out", *SMALL]
    result = run_cli("compare", *data, "--grid=alpha=0.1")
    assert result.code == 2 and "--valid, or on a word set, --metric" in result.err
    result = run_cli("compare", *data, "--valid=valid.tsv")
    assert result.code == 2 and "name either runs, or values of options with --grid" in result.err
    Path("one.toml").write_text("alpha = 0.1\nmin-count = 1\n")
    Path("two.toml").write_text("alpha = 0.1\nmin-count = 2\n")
    given = ["--corpus=corpus.txt", "--valid=valid.tsv", "--out=out"]
    result = run_cli("compare", "one.toml", "two.toml", *given)
    assert result.code == 1 and "min_count differs between one.toml and two.toml" in result.err
    result = run_cli("compare", "one.toml", "two.toml", "--min-count=1", *given)
    assert result.code == 1 and "two of the runs have the same options" in result.err
    assert not Path("out").exists()


def test_several_corpora_are_read_as_options_say(folder, run_cli, monkeypatch):
    read = []

    def run_to_read(config, combinations, data, **more):
        read.append(data)
        if len(read) == 2:
            raise ConfigError("enough is known")
        return SimpleNamespace(data=data)

    monkeypatch.setattr("w2vneg.run.search.tuning.run_to_read", run_to_read)
    given = ["--grid=window=2,3", "--metric=men", "--out=out", "--on=one.csv,two.csv"]
    result = run_cli("compare", *given, "--text-col=text", "--tokenizer=words")
    assert result.code == 1 and "enough is known" in result.err
    assert read == [Input("corpus", name, text_col="text", tokenizer="words") for name in ("one.csv", "two.csv")]


def test_words_of_a_vocabulary_that_do_not_occur_are_counted(folder, run_cli):
    words = sorted(set(as_text(two_topics()).split()))
    Path("vocab.tsv").write_text("none\t10\n" + "".join(f"{word}\t9\n" for word in words))
    small = [*SMALL, "--valid=valid.tsv", "--seeds=1", "--files=md", "--out=out", "--corpus=corpus.txt"]
    result = run_cli("compare", *small, "--vocab=vocab.tsv", "--grid=window=2")
    assert result.code == 0 and f"1 of {len(words) + 1} words of --vocab do not occur here" in result.err


def test_runs_of_other_data_than_the_first_are_refused(folder, run_cli):
    Path("vocab.tsv").write_text("a0\t9\na1\t8\nb1\t7\n")
    Path("same.tsv").write_text("a0\t9\na1\t8\nb1\t7\n")
    Path("other.tsv").write_text("a0\t9\na1\t8\n")
    first = "corpus = 'corpus.txt'\nvocab = 'vocab.tsv'\n"
    alike = f"corpus = ['{folder / 'corpus.txt'}']\ntokenizer = 'whitespace'\nnumbers = 'keep'\nvocab = 'same.tsv'\n"
    given = [*SMALL, "--valid=valid.tsv", "--out=out", "--quiet"]
    for other, name, remedy in (
        ("corpus = 'valid.tsv'\nvocab = 'same.tsv'", "corpus", "--corpus=corpus.txt"),
        ("pairs = 'valid.tsv'\nvocab = 'same.tsv'", "corpus", "--corpus=corpus.txt"),
        (alike + "strip = 'urls'", "strip", "--strip=urls"),
        ("tokenizer = 'words'", "tokenizer", "--tokenizer=words"),
        ("vocab = 'other.tsv'", "vocab", "--vocab=vocab.tsv"),
        (alike.replace("vocab", "# vocab"), "vocab", "--vocab=vocab.tsv"),
        (alike, None, None),
        ("", None, None),
    ):
        Path("one.toml").write_text(first)
        Path("two.toml").write_text(other)
        same = "two of the runs have the same options"  # which is looked for behind the data
        result = run_cli("compare", "one.toml", "two.toml", *given)
        said = f"{name} differs between one.toml and two.toml, and data are encoded once; give --{name} for all"
        assert result.code == 1 and (said if name else same) in result.err
        assert not name or same in run_cli("compare", "one.toml", "two.toml", *given, remedy).err


def test_where_the_first_run_names_no_data_those_of_a_later_one_are_proposed(folder, run_cli):
    Path("one.toml").touch()
    Path("two.toml").write_text("pairs = ['valid.tsv', 'more pairs.tsv']\n")
    Path("more pairs.tsv").write_text(Path("valid.tsv").read_text())
    given = ["--valid=valid.tsv", "--out=out"]
    same = "two of the runs have the same options"  # which is looked for behind the data
    result = run_cli("compare", "one.toml", "two.toml", *given)
    flags = "--pairs valid.tsv --pairs 'more pairs.tsv'"
    assert result.code == 1 and f"one.toml names no data; give {flags} for all, or two.toml first" in result.err
    for again in (["one.toml", "two.toml", *shlex.split(flags)], ["two.toml", "one.toml"]):
        assert same in run_cli("compare", *again, *given).err
    Path("two.toml").write_text("corpus = 'builtin'\n")  # as where none is named
    assert same in run_cli("compare", "one.toml", "two.toml", *given).err


def test_runs_that_begin_with_vectors_are_refused(folder, run_cli):
    Path("one.toml").write_text("corpus = 'corpus.txt'\n")
    for begun, flag in (("init = 'm'\nfreeze = true", "--init m"), ("freeze = true", "--freeze")):
        Path("two.toml").write_text(f"alpha = 0.1\n{begun}\n")
        given = [*SMALL, "--valid=valid.tsv", "--out=out"]
        for command in (["compare", "one.toml", "two.toml"], ["tune", "--config=two.toml", "--grid=window=2,3"]):
            result = run_cli(*command, *given)
            said = f"two.toml uses {flag}, which {command[0]} does not support; name a copy of two.toml without init"
            assert result.code == 1 and said in result.err
    assert not Path("out").exists()


def test_several_metrics_and_splits_and_models_that_are_kept(folder, run_cli):
    pytest.importorskip("matplotlib")
    pytest.importorskip("plotly")
    for seed in ("1", "2"):
        (folder / "edges.tsv").write_text("".join(f"{one}\t{other}\n" for one, other in two_blocks()))
        assert run_cli("split", "--edges=edges.tsv", f"--seed={seed}", f"--out=split{seed}").code == 0
    small = shlex.split("--dim 8 --epochs 1 --workers 1 --walk-length 10 --walks-per-node 2 --loss ns --quiet")
    asked = ["--on=split1/test.tsv,split2/test.tsv", "--grid=alpha=0.02,0.1", "--seeds=2", *small, "--keep=kept"]
    result = run_cli("compare", *asked, "--metric=mpr", "--out=first")
    assert result.code == 0, result.err
    assert Model.load("kept/split1/alpha-0.02/seed-2").config.seed == 2
    files = "--files=md,csv,tex,svg"
    loud = [word for word in asked if word != "--quiet"]
    result = run_cli("compare", *loud, "--metric=nll", "--metric=mpr", "--out=second", "--json", files)
    assert result.code == 0, result.err
    assert result.err.count("existing model, not retrained") == 8
    runs = json.loads(result.out)["runs"]
    assert [(run["data"], run["metric"], run["name"]) for run in runs] == [
        (data, metric, f"alpha {alpha}")
        for data in ("split1", "split2")
        for metric in ("nll", "mpr")
        for alpha in ("0.02", "0.1")
    ]
    with open("second/compare.csv", encoding="utf-8", newline="") as stream:
        again = [row["mpr"] for row in csv.DictReader(stream)]
    with open("first/compare.csv", encoding="utf-8", newline="") as stream:
        assert [row["mpr"] for row in csv.DictReader(stream)] == again and len(again) == 8
    assert Path("second/compare.tex").is_file() and Path("second/compare-means-split2-nll.svg").is_file()
    assert not Path("second/compare-means-split2-nll.png").exists()
    runs = [f"kept/split1/alpha-{alpha}/seed-1" for alpha in ("0.02", "0.1")]
    _they_know_their_data(run_cli, runs)
    asked_of = ["compare", *runs, "--seeds=1", "--quiet", "--metric=mpr"]
    of_runs = run_cli(*asked_of, "--on=split2/valid.tsv", "--out=runs")
    assert of_runs.code == 0, of_runs.err
    of_folder = run_cli(*asked_of, "--on=split2", "--out=folder")
    assert of_folder.code == 0 and figures("folder/compare.csv", "mpr") == figures("runs/compare.csv", "mpr")
    other = run_cli("compare", *asked, "--dim=9", "--metric=mpr", "--out=third")
    assert other.code == 1 and "holds a model with other data or options" in other.err
    report = run_cli("report", "second")
    assert report.code == 0 and "Comparison second" in Path("report.html").read_text("utf-8"), report.err
    both = run_cli("report", "second", "kept/split1/alpha-0.02/seed-1", "--map=none")
    assert both.code == 0 and ">Runs<" in Path("report.html").read_text("utf-8"), both.err


def _they_know_their_data(run_cli, runs):
    """Models that were kept are compared, and trained again to the bit; so is the best."""
    kept, best = Path(runs[0], "run.toml").read_text("utf-8"), Path("first/split1/best.toml").read_text("utf-8")
    for said in (kept, best):
        assert str(Path("split1").absolute()) in said and '"-"' not in said and "vocab =" not in said
        assert "eval_every = 1\n" in said or "eval_every = 1.0\n" in said
    assert run_cli("train", f"--config={runs[0]}/run.toml", "--save-model=again", "--quiet").code == 0
    again, first = Model.load("again"), Model.load(runs[0])
    assert np.array_equal(again.vectors_in, first.vectors_in) and again.origin.input == first.origin.input
    result = run_cli("compare", *runs, "--seeds=1", "--quiet", "--out=again-compared")
    assert result.code == 0, result.err
    assert run_cli("train", "--config=first/split1/best.toml", "--save-model=best", "--quiet").code == 0


def test_runs_evaluated_at_the_end_of_the_first_are_evaluated_at_their_ends(folder, run_cli):
    for epochs in ("1", "3"):
        Path(f"e{epochs}.toml").write_text(
            f"corpus = 'corpus.txt'\nvalid = 'valid.tsv'\nmetric = 'nll'\neval-every = 1\nepochs = {epochs}\n"
        )
    small = [*SMALL[:8], *SMALL[10:]]  # without --epochs
    result = run_cli("compare", "e1.toml", "e3.toml", *small, "--seeds=1", "--out=out", "--quiet")
    assert result.code == 0, result.err
    trials = [json.loads(line) for line in Path("out/trials.jsonl").read_text().splitlines()]
    assert [trial["epoch"] for trial in trials] == [1, 3]
    assert json.loads(Path("out/search.json").read_text())["validation"]["every"] == 1e9


def test_metrics_and_data_that_do_not_go_together(folder, run_cli):
    data = ["--corpus=corpus.txt", "--valid=valid.tsv", *SMALL]
    twice = run_cli("train", *data, "--metric=nll", "--metric=mpr")
    assert twice.code == 2 and "a run takes one --metric; 'w2vneg compare' takes several" in twice.err
    grid = ["--grid=alpha=0.1,0.2", "--out=out", *SMALL]
    (folder / "edges.tsv").write_text("".join(f"{one}\t{other}\n" for one, other in two_blocks()))
    assert run_cli("split", "--edges=edges.tsv", "--out=split").code == 0
    for on, how in (("corpus.txt", " and"), ("split,corpus.txt", "; splits define how they are read and")):
        given = ["--valid=valid.tsv", "--baskets=corpus.txt", "--tokenizer=words"]
        for more in given if "split" in on else given[:2]:
            result = run_cli("compare", f"--on={on}", more, *grid)
            flag = more.partition("=")[0]
            assert result.code == 2 and f"--on names the data{how} their held-out pairs; leave {flag} out" in result.err
    for more in ("--rectangular", "--min-rating=0"):
        result = run_cli("compare", "--on=corpus.txt", "--metric=ws353", more, *grid)
        assert result.code == 2 and more.partition("=")[0] in result.err and "--corpus does not read it" in result.err
    for on in ("--on=corpus.txt", "--on=none"):
        result = run_cli("compare", on, "--metric=nll", *grid)
        assert result.code == 2 and "is not a held-out part of a split, such as split/test.tsv" in result.err
        assert "--valid" not in result.err
    result = run_cli("compare", *data, *grid, "--keep=corpus.txt")
    assert result.code == 1 and "cannot write corpus.txt" in result.err
    result = run_cli("compare", *data, "--files=doc", *grid)
    assert result.code == 2 and "known: md, csv, tex, png, pdf, svg" in result.err
    assert not Path("out").exists()
