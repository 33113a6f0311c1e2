"""`w2vneg tune`: better options win, what is done is kept, and nothing but training and held-out files is read."""

import csv
import dataclasses
import errno
import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from planted import as_text, two_topics

import w2vneg
from w2vneg import Word2Vec
from w2vneg.cli import progress
from w2vneg.cli.tune import _report_edges
from w2vneg.config import TrainConfig
from w2vneg.data.encoded import encode_corpus
from w2vneg.data.encoded.pairs import HeldOut
from w2vneg.ground.errors import ConfigError, InputError, OutputError
from w2vneg.ground.events import EpochDone, RoundDone, TrialDone, TrialStarted
from w2vneg.ground.files.locks import owned
from w2vneg.objectives.presets import PRESETS, Preset
from w2vneg.run.folder import as_flags_of_validation
from w2vneg.run.search.trials import Trial, TrialFolder
from w2vneg.run.search.tuning import tune
from w2vneg.run.validation import Metric, Validation

SMALL = {
    "dim": 8,
    "window": 3,
    "subsample": 0,
    "min_count": 1,
    "epochs": 2,
    "workers": 1,
    "loss": "ns",
    "share_negatives": "no",
}
CONFIG = TrainConfig(**SMALL)
ALPHAS = [{"alpha": alpha} for alpha in (1e-4, 0.1, 0.02)]
COMMAND = shlex.split(
    "tune --corpus corpus.txt --valid valid.tsv --metric nll --out out --dim 8 --window 3 --subsample 0 --min-count 1 "
    "--epochs 2 --workers 1 --loss ns"
)


@pytest.fixture(scope="module")
def planted():
    return encode_corpus(two_topics(), min_count=1)


def pairs_of_topics(seed=5):
    rng = np.random.default_rng(seed)
    return [("ab"[n % 2], *rng.choice(20, 2, replace=False)) for n in range(60)]


@pytest.fixture(scope="module")
def validation(planted):
    ids = [[planted.vocab.id(f"{topic}{i}") for topic, *pair in pairs_of_topics() for i in [pair[k]]] for k in (0, 1)]
    return Validation(HeldOut(*np.array(ids), np.ones(60), 0, 60), metric="nll")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder, with corpus.txt, valid.tsv and test.tsv in it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "corpus.txt").write_text(as_text(two_topics()))
    for name, seed in (("valid.tsv", 5), ("test.tsv", 6)):
        lines = [f"{topic}{i}\t{topic}{j}\t1\n" for topic, i, j in pairs_of_topics(seed)]
        (tmp_path / name).write_text("item\ttarget\tweight\n" + "".join(lines))
    return tmp_path


def table(path="out/trials.csv"):
    with open(path, encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def without_seconds(rows):
    return [{name: value for name, value in row.items() if name != "seconds"} for row in rows]


def search(encoded, combinations, validation, **options):
    """Tune; return (Search, events)."""
    events = []
    found = tune(encoded, options.pop("config", CONFIG), combinations, validation, listeners=[events.append], **options)
    return found, events


def of_kind(events, kind):
    return [event for event in events if isinstance(event, kind)]


def test_the_better_options_win_and_the_table_is_sorted(planted, validation):
    found, events = search(planted, ALPHAS, validation)
    assert found.complete
    assert [row.options["alpha"] for row in found.rows] == [0.1, 0.02, 1e-4]
    assert found.best is found.rows[0]
    assert [row.value for row in found.rows] == sorted(row.value for row in found.rows)
    done = of_kind(events, TrialDone)
    assert [event.options for event in done] == ALPHAS
    assert [event.best for event in done] == list(np.minimum.accumulate([event.value for event in done]))
    trainer = Word2Vec(**SMALL, alpha=0.1).trainer(planted, validation=validation)
    trainer.train()
    assert found.best.figures == trainer.model.best.figures
    assert found.best.figures["nll"] == found.best.value == found.best.low == found.best.high


def test_a_trial_has_its_presets_alpha_unless_the_grid_gives_one(planted, validation, monkeypatch):
    monkeypatch.setitem(PRESETS, "calm", Preset("ns", PRESETS["ns"].values, text_alpha=0.01))
    events = []
    combinations = [{"loss": "ns"}, {"loss": "calm"}, {"loss": "calm", "alpha": 0.2}]
    config = dataclasses.replace(CONFIG, loss=None, min_alpha=0.0)
    assert tune(planted, config, combinations, validation, listeners=[events.append]).complete
    halves = [event.alpha for event in of_kind(events, EpochDone) if event.epoch == 1]  # of two epochs
    assert halves == pytest.approx([0.025, 0.005, 0.1])


def test_a_metric_of_which_more_is_better(planted, validation):
    found, _ = search(planted, ALPHAS, Validation(validation.held, metric="mpr"))
    values = [row.value for row in found.rows]
    assert values == sorted(values, reverse=True)
    assert found.rows[-1].options == {"alpha": 1e-4}


def test_several_seeds_give_mean_and_range(planted, validation):
    found, events = search(planted, ALPHAS[:2], validation, seeds=3)
    assert [event.seed for event in of_kind(events, TrialStarted)] == [1, 2, 3, 1, 2, 3]
    values = [event.value for event in of_kind(events, TrialDone) if event.options == {"alpha": 0.1}]
    best = found.best
    assert (best.options, best.seeds) == ({"alpha": 0.1}, 3)
    assert (best.value, best.low, best.high) == (pytest.approx(np.mean(values)), min(values), max(values))
    assert len(set(values)) == 3


def test_what_fails_is_a_row_with_the_reason(planted, validation, tmp_path):
    combinations = [
        {"alpha": 1e6, "bounded_steps": False},
        {"alpha": 0.1},
        {"temp": 2.0},
        {"loss": "nonesuch"},
        {"alpha": 0.1, "min_alpha": 0.5},
    ]
    found, events = search(planted, combinations, validation, seeds=2, folder=tmp_path / "out")
    assert found.complete and found.best.options == {"alpha": 0.1}
    reasons = {str(row.options): row.reason for row in found.rows}
    assert reasons[str(combinations[0])].startswith("training diverged 6 times")
    assert reasons[str(combinations[1])] is None
    assert "--temp has no effect with sampler 'popularity'" in reasons[str(combinations[2])]
    assert "unknown loss 'nonesuch'" in reasons[str(combinations[3])]
    assert "min_alpha (0.5) is above alpha" in reasons[str(combinations[4])]
    assert len(of_kind(events, TrialStarted)) == 2 + 4  # what fails is not tried under a second seed
    rows = table(tmp_path / "out" / "trials.csv")
    assert [row["rank"] for row in rows] == ["1", "", "", "", ""]
    _, events = search(planted, combinations, validation, seeds=2, folder=tmp_path / "out")
    assert not of_kind(events, TrialStarted)


def test_patience_ends_trials(planted, validation):
    patient = Validation(validation.held, metric="nll", patience=np.int64(1), every=0.25)
    assert json.loads(json.dumps(patient.settings))["patience"] == 1
    config = TrainConfig(**SMALL | {"epochs": 40})
    found, events = search(planted, [{"alpha": 0.4}], patient, config=config)
    assert of_kind(events, RoundDone)[-1].fraction < 0.9
    assert found.best.epoch < 36


def test_a_folder_is_gone_on_with(planted, validation, tmp_path):
    out = tmp_path / "out"
    first, _ = search(planted, ALPHAS[:2], validation, folder=out)
    again, events = search(planted, ALPHAS[:2], validation, folder=out)
    assert not events and again.rows == first.rows
    more, events = search(planted, [*ALPHAS, {"alpha": 0.1, "negatives": 2}], validation, folder=out)
    assert [event.options for event in of_kind(events, TrialStarted)] == [
        {"alpha": 0.02},
        {"alpha": 0.1, "negatives": 2},
    ]
    assert len(more.rows) == 4
    seeds, events = search(planted, ALPHAS[:2], validation, folder=out, seeds=2)
    assert [event.seed for event in of_kind(events, TrialStarted)] == [2, 2]
    assert seeds.best.seeds == 2  # those with one seed less do not win by luck
    names = ["best.toml", "search.json", "trials.csv", "trials.jsonl", "trials.md"]
    assert sorted(os.listdir(out)) == names


def test_a_line_cut_short_runs_again_and_a_damaged_one_is_told(planted, validation, tmp_path):
    out = tmp_path / "out"
    search(planted, ALPHAS, validation, folder=out)
    lines = (out / "trials.jsonl").read_bytes()
    (out / "trials.jsonl").write_bytes(lines[:-20])
    before = table(out / "trials.csv")
    _, events = search(planted, ALPHAS, validation, folder=out)
    assert [event.options for event in of_kind(events, TrialStarted)] == [ALPHAS[-1]]
    assert without_seconds(table(out / "trials.csv")) == without_seconds(before)
    (out / "trials.jsonl").write_text('{"options": {}}\n')
    with pytest.raises(InputError, match=r"trials.jsonl:1: not a trial .*; remove the line to run it again"):
        search(planted, ALPHAS, validation, folder=out)


def test_a_search_killed_while_it_made_its_folder_is_simply_run_again(planted, validation, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / ".search.json.abcd1234.part").write_text("{")
    search(planted, ALPHAS[:1], validation, folder=tmp_path / "out")
    assert sorted(os.listdir(tmp_path / "out")) == [
        "best.toml",
        "search.json",
        "trials.csv",
        "trials.jsonl",
        "trials.md",
    ]


def test_a_disk_that_fills_up_costs_no_trial_that_was_done(planted, validation, tmp_path, monkeypatch):
    search(planted, ALPHAS[:1], validation, folder=tmp_path)
    before = (tmp_path / "trials.jsonl").read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", full)
        with pytest.raises(OutputError, match="No space left on device; earlier trials are kept"):
            search(planted, ALPHAS[:2], validation, folder=tmp_path)
    assert (tmp_path / "trials.jsonl").read_bytes() == before
    assert len(search(planted, ALPHAS[:2], validation, folder=tmp_path)[0].rows) == 2


def full(descriptor):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_two_searches_do_not_share_a_folder(planted, validation, tmp_path):
    with owned(tmp_path / "out"), pytest.raises(OutputError, match=f"process {os.getpid()} on "):
        search(planted, ALPHAS, validation, folder=tmp_path / "out")


GOOD = {"options": {"alpha": 0.1}, "seed": 1, "figures": {"nll": 2.0}, "epoch": 1.0, "seconds": 3.0, "reason": None}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"\xff\xfe{", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"3", "expected an object, found 3"),
        (json.dumps(GOOD | {"figures": {}}).encode(), "it has no nll"),
        (json.dumps(GOOD | {"figures": {"mpr": 1.0}}).encode(), "it has no nll"),
        (json.dumps(GOOD | {"figures": {"nll": float("nan")}}).encode(), "NaN is not a finite number"),
        (json.dumps(GOOD | {"figures": {"nll": "2"}}).encode(), "figures is {'nll': '2'}"),
        (json.dumps(GOOD | {"figures": [2]}).encode(), "figures is"),
        (json.dumps(GOOD | {"options": 3}).encode(), "options is 3"),
        (json.dumps(GOOD | {"options": {"alhpa": 3}}).encode(), "unknown option 'alhpa'; did you mean 'alpha'"),
        (json.dumps(GOOD | {"options": {"alpha": -3}}).encode(), "alpha must be above 0"),
        (json.dumps(GOOD | {"seed": "1"}).encode(), "seed is 1"),
        (json.dumps(GOOD | {"epoch": None}).encode(), "epoch is None"),
        (json.dumps(GOOD | {"seconds": 10**400}).encode(), "seconds is 1000"),
        (json.dumps(GOOD | {"reason": 3}).encode(), "epoch is 1.0"),
        (json.dumps(GOOD | {"more": 3}).encode(), "unexpected keyword argument 'more'"),
    ],
)
def test_a_line_that_is_no_trial_is_told(tmp_path, line, message):
    search = lambda: TrialFolder(tmp_path, {}, TrainConfig(), Metric.parse("nll"))  # noqa: E731
    search()
    (tmp_path / "trials.jsonl").write_bytes(json.dumps(GOOD).encode() + b"\n" + line + b"\n")
    with pytest.raises(InputError, match=r"trials.jsonl:2: not a trial .*; remove the line to run it again") as caught:
        search()
    assert message in str(caught.value)
    (tmp_path / "trials.jsonl").write_bytes(json.dumps(GOOD).encode() + b"\n" + line)  # cut short
    assert [trial.options for trial in search().trials] == [{"alpha": 0.1}]


def test_a_value_that_is_not_utf_8_is_in_all_tables_as_it_was_typed(tmp_path):
    found = TrialFolder(tmp_path, {}, TrainConfig(), Metric.parse("nll"))
    found.add(Trial({"loss": "\udcff"}, 1, {}, None, 1.0, "unknown loss"))
    found.write_tables(1)
    assert all(b"\xff" in (tmp_path / name).read_bytes() for name in ("trials.csv", "trials.md"))


@pytest.mark.parametrize("content", [b"3", b"[]", b"null", b"{", b"\xff", b'{"a": NaN}', b"[" * 100_000])
def test_a_search_of_another_kind_is_told(tmp_path, content):
    (tmp_path / "search.json").write_bytes(content)
    with pytest.raises(InputError, match=r"search.json.*name another folder"):
        TrialFolder(tmp_path, {"a": 1}, TrainConfig(), Metric.parse("nll"))


def test_another_search_in_the_folder_is_refused(planted, validation, tmp_path):
    out = tmp_path / "out"
    search(planted, ALPHAS[:1], validation, folder=out)
    held = validation.held
    other = HeldOut(held.centres[1:], held.targets[1:], held.weights[1:], 0, 59)
    for arguments, message in (
        (
            (planted, ALPHAS, Validation(held, metric="mpr")),
            "another search .metric nll, now mpr.; name another folder",
        ),
        ((planted, ALPHAS, Validation(other, metric="nll")), "other held-out pairs"),
        ((encode_corpus(two_topics(seed=9), min_count=1), ALPHAS, validation), "other training data"),
    ):
        with pytest.raises(ConfigError, match=message):
            search(*arguments, folder=out)
    with pytest.raises(ConfigError, match="dim 8, now 9"):
        search(planted, ALPHAS, validation, folder=out, config=TrainConfig(**SMALL | {"dim": 9}))
    (tmp_path / "file").touch()
    for place in (tmp_path, tmp_path / "file"):
        with pytest.raises(OutputError, match="cannot write"):
            search(planted, ALPHAS, validation, folder=place)
    with pytest.raises(ConfigError, match="nothing to try"):
        search(planted, [], validation)


def test_handlers_of_a_program_that_searches_go_on(planted, validation):
    heard = []
    before = signal.signal(signal.SIGTERM, lambda *_: heard.append(1))
    try:
        press = lambda _: signal.raise_signal(signal.SIGTERM)  # noqa: E731
        found = tune(planted, CONFIG, ALPHAS[:1], validation, listeners=[press])
    finally:
        signal.signal(signal.SIGTERM, before)
    assert heard and found.complete


def test_an_edge_is_one_of_all_that_the_folder_has_tried():
    def told(tried, best, grid):
        notes, rows = [], [SimpleNamespace(options=options) for options in tried]
        _report_edges(SimpleNamespace(rows=rows, best=SimpleNamespace(options=best)), grid, notes.append)
        return notes

    alphas = [{"alpha": alpha} for alpha in (0.1, 0.2, 0.4)]
    assert told(alphas, {"alpha": 0.4}, ["alpha=0.2,0.4"]) == [
        "At the edge of the grid: alpha 0.4; values beyond may be better."
    ]
    assert told(alphas, {"alpha": 0.2}, ["alpha=0.2,0.4"]) == []  # 0.1 was tried before
    assert told([*alphas, {"dim": 4}], {"dim": 4}, ["alpha=0.2,0.4"]) == []  # the best is of another grid
    temps = [{"temp": temp} for temp in (0.5, 1.0, "inf")]
    assert told(temps, {"temp": 1.0}, ["temp=0.5,1,inf"]) == []


def test_the_command_writes_tables_and_options_that_train_takes(folder, run_cli):
    result = run_cli(*COMMAND, "--grid", "alpha=0.0001,0.1", "--grid", "loss=ns,relaxed", "--noise-exponent", "0.5")
    assert result.code == 2 and "loss is searched, so --loss has no effect" in result.err
    result = run_cli(*COMMAND, "--grid", "alpha=0.0001,0.1", "--grid", "negatives=2,4", "--seed", "7", "--json")
    assert result.code == 0, result.err
    rows = table()
    assert [row["rank"] for row in rows] == ["1", "2", "3", "4"]
    values = [float(row["nll"]) for row in rows]
    assert values == sorted(values)
    assert {row["alpha"] for row in rows[:2]} == {"0.1"}
    assert all(row["reason"] == "" for row in rows)
    lines = Path("out/trials.md").read_text().splitlines()
    assert len(lines) == 6
    assert [cell.strip() for cell in lines[2].strip("|").split("|")] == list(rows[0].values())
    document = json.loads(result.out)
    assert document["metric"] == "nll" and document["complete"] is True
    assert document["rows"][0]["options"] == document["best"]
    assert all(row["seconds"] > 0 for row in document["rows"])
    assert re_best(Path("out/best.toml").read_text()) == {
        "corpus": [os.path.abspath("corpus.txt")],
        "tokenizer": "whitespace",
        "valid": os.path.abspath("valid.tsv"),
        "metric": "nll",
        "eval_every": 1.0,
        "loss": "ns",
        "negatives": int(rows[0]["negatives"]),
        "alpha": 0.1,
        "seed": 7,
        **{name: SMALL[name] for name in ("dim", "window", "subsample", "min_count", "epochs", "workers")},
    }
    images = {path.name: path.read_bytes()[:4] for path in Path("out").glob("*.png")}
    assert images == {"tune-alpha.png": b"\x89PNG", "tune-negatives.png": b"\x89PNG"}
    train = run_cli("train", "--config=out/best.toml", "--json")
    assert train.code == 0, train.err
    assert json.loads(train.out)["validation"]["figures"]["nll"] == document["rows"][0]["value"]
    lines = result.err.splitlines()
    assert lines[-3].startswith("Best of 4 combinations: alpha 0.1, negatives ")
    assert lines[-1].startswith("At the edge of the grid: alpha 0.1, negatives ")
    assert "trial 4/4: alpha 0.1, negatives 4, seed 7: nll " in result.err


def test_a_given_vocabulary_is_among_the_best_options(folder, run_cli):
    words = sorted({word for line in Path("corpus.txt").read_text().splitlines() for word in line.split()})[:20]
    Path("few.tsv").write_text("".join(f"{word}\t9\n" for word in words))
    assert run_cli(*COMMAND, "--grid", "alpha=0.1", "--vocab", "few.tsv").code == 0
    assert re_best(Path("out/best.toml").read_text())["vocab"] == os.path.abspath("few.tsv")
    train = run_cli("train", "--config=out/best.toml", "--save-model=m", "--output=v.txt")
    assert train.code == 0, train.err
    assert len(Path("m/vocab.tsv").read_text().splitlines()) == 20


def test_files_of_runs_name_options_of_validation_as_python_does():
    settings = {"files": {"valid": "v.tsv", "known": "k.tsv"}, "metric": "nll", "patience": 3, "every": 0.5}
    named = as_flags_of_validation(settings)
    assert named["valid_exclude_known"] == "k.tsv" and all(map(str.isidentifier, named))


def re_best(text):
    from w2vneg.ground.files.bounded import parse_toml

    found = parse_toml(text, "best.toml")
    assert all(map(str.isidentifier, found)), found  # with _ for -, as the page of options says
    return found


@pytest.mark.slow
def test_values_of_every_kind_survive_the_way_to_a_file(planted, validation, tmp_path):
    from w2vneg.cli.options import options_in

    combinations = [{"loss": "ubs", "temp": "inf", "share_negatives": True, "dynamic_window": False, "alpha": 0.1}]
    config = TrainConfig(**{name: value for name, value in SMALL.items() if name != "loss"})
    found, _ = search(planted, combinations, validation, config=config, folder=tmp_path / "out")
    assert found.best is not None, found.rows[0].reason
    read = TrainConfig.from_mapping(options_in(str(tmp_path / "out" / "best.toml")))
    assert read == TrainConfig(**SMALL | combinations[0])


def test_where_there_are_no_locks_a_search_says_so(folder, run_cli, monkeypatch):
    monkeypatch.setattr("w2vneg.ground.files.locks.claim", lambda descriptor: None)
    result = run_cli(*COMMAND, "--grid", "alpha=0.1")
    assert result.code == 0
    assert result.err.count("nothing keeps a second run from writing there too.") == 1


def test_random_search(folder, run_cli):
    random = ["--random", "4", "--range", "alpha=0.001..0.2:log", "--grid", "negatives=2,4", "--range", "dim=4..9"]
    command = list(COMMAND)
    at = command.index("--dim")
    del command[at : at + 2]
    assert run_cli(*command, *random).code == 0
    rows = table()
    assert len(rows) == 4
    assert all(0.001 <= float(row["alpha"]) <= 0.2 and 4 <= int(row["dim"]) <= 9 for row in rows)
    more = run_cli(*command, *random, "--random", "6")
    assert more.code == 0 and more.err.count("trial ") == 2
    assert len(table()) == 6


def test_an_interrupted_search_keeps_its_rows_and_goes_on(folder, run_cli, monkeypatch):
    grid = ["--grid", "alpha=0.0001,0.1,0.02"]
    whole = [*COMMAND[: COMMAND.index("out")], "whole", *COMMAND[COMMAND.index("out") + 1 :]]
    assert run_cli(*whole, *grid).code == 0
    real, seen = progress._SearchProgress.__call__, []

    def listen(self, event):
        real(self, event)
        seen.append(event)
        if isinstance(event, RoundDone) and len(of_kind(seen, TrialDone)) == 1:
            signal.raise_signal(signal.SIGINT)  # in the second trial

    with monkeypatch.context() as patch:
        patch.setattr(progress._SearchProgress, "__call__", listen)
        result = run_cli(*COMMAND, *grid, "--json")
    assert result.code == 130
    assert json.loads(result.out)["complete"] is False
    assert "run the same command to resume" in result.err
    assert [row["alpha"] for row in table()] == ["0.0001"]
    result = run_cli(*COMMAND, *grid)
    assert result.code == 0
    assert result.err.count("trial ") == 2
    assert without_seconds(table()) == without_seconds(table("whole/trials.csv"))
    assert Path("out/best.toml").read_bytes() == Path("whole/best.toml").read_bytes()


@pytest.mark.parametrize(
    "arguments, code, message",
    [
        ("", 2, "nothing to try; name options with --grid"),
        ("--range alpha=0.1..0.2", 2, "--range is to draw from; give the number of draws with --random N"),
        ("--grid alpha=0.1 --alpha 0.2", 2, "alpha is searched, so --alpha has no effect"),
        ("--grid alpha=0.1,x", 1, "'x' is not a number"),
        ("--grid temp=1,2", 1, "--temp has no effect with sampler 'popularity'"),
        ("--grid alpha=0.1 --metric mprr", 2, "a run takes one --metric"),
        ("--grid alpha=0.1 --valid none.tsv", 1, "none.tsv: no such file"),
        ("--grid alpha=0.1 --out full", 1, "cannot write full: the folder is not empty and holds no search"),
        ("--grid alpha=0.1 --out corpus.txt", 1, "cannot write corpus.txt: it is a file"),
        ("--grid alpha=0.1 --test test.tsv", 2, "No such option"),
        ("--grid alpha=0.1 --vocab none.tsv", 1, "none.tsv: cannot read the vocabulary (No such file or directory)"),
        ("--grid alpha=0.1 --vocab-out none.tsv", 2, "--corpus has one vocabulary, set by --vocab"),
    ],
)
def test_mistakes_are_told_before_the_corpus_is_read(folder, run_cli, monkeypatch, arguments, code, message):
    def refuse(*arguments, **options):
        raise AssertionError("the corpus was read")

    monkeypatch.setattr("w2vneg.data.inputs.encode_input", refuse)
    (folder / "full").mkdir()
    (folder / "full" / "letter.txt").touch()
    result = run_cli(*COMMAND, *arguments.split())
    assert (result.code, result.out) == (code, "")
    assert message in result.err and "Traceback" not in result.err
    assert not (folder / "out").exists()


def test_a_fixed_vocabulary_is_that_of_all_trials(folder, run_cli):
    Path("few.tsv").write_text("".join(f"{topic}{i}\t{20 - i}\n" for i in range(20) for topic in "ab")[:-6])
    given = ["--vocab", "few.tsv", "--grid", "alpha=0.1,0.02"]
    result = run_cli(*COMMAND, *given)
    assert result.code == 0, result.err
    assert "The words are those of --vocab; --min-count and --max-vocab have no effect." in result.err
    train = ["train", "--corpus=corpus.txt", "--valid=valid.tsv", "--metric=nll", "--config=out/best.toml", "--json"]
    train.append("--force")
    run = run_cli(*train)  # whose file names the vocabulary
    assert run.code == 0, run.err
    assert table()[0]["nll"] == f"{json.loads(run.out)['validation']['figures']['nll']:.6g}"
    other = run_cli(*COMMAND, "--grid", "alpha=0.1,0.02")
    assert other.code == 1 and "out holds another search (other training data)" in other.err


def test_vocabularies_of_rows_and_columns(folder, run_cli):
    Path("seen.tsv").write_text("user\tfilm\n" + "".join(f"u{n % 9}\tm{n % 7}\n" for n in range(200)))
    Path("held.tsv").write_text("user\tfilm\tweight\nu1\tm1\t1\nu2\tm6\t1\n")
    Path("films.tsv").write_text("m6\t9\nm1\t7\nm3\t7\n")
    options = "--valid held.tsv --out films --grid alpha=0.1 --dim 4 --epochs 1 --workers 1 --vocab-out films.tsv"
    result = run_cli("tune", "--pairs", "seen.tsv", "--rectangular", "--max-vocab", "5", *options.split())
    assert result.code == 0, result.err
    assert "The columns are those of --vocab-out; --min-count and --max-vocab affect the rows only." in result.err
    for name in ("vocab", "vocab_out"):
        swapped = ["--pairs", "seen.tsv", "--rectangular", f"--{name.replace('_', '-')}", "none.tsv"]
        result = run_cli("tune", *options.split()[:-2], *swapped)
        assert result.code == 1 and "none.tsv: cannot read the vocabulary (No such file" in result.err


def test_what_the_first_combination_names_and_is_not_there_is_a_row(folder, run_cli):
    result = run_cli(*COMMAND, "--grid", "sampler=nonesuch,popularity")
    assert result.code == 0, result.err
    scored, failed = table()
    assert scored["reason"] == "" and "nonesuch" in failed["reason"]


def test_held_out_pairs_are_needed(folder, run_cli):
    at = COMMAND.index("--valid")
    result = run_cli(*COMMAND[:at], *COMMAND[at + 2 :], "--grid", "alpha=0.1")
    assert result.code == 2 and "name them with --valid" in result.err


def test_a_search_in_which_everything_diverges(folder, run_cli):
    result = run_cli(*COMMAND, "--grid", "alpha=1e6", "--unbounded-steps")
    assert result.code == 1
    assert result.err.splitlines()[-1].startswith(
        "Error: no combination could be trained; the first reason: training div"
    )
    assert table()[0]["reason"].startswith("training diverged")
    assert not Path("out/best.toml").exists()


_WATCH = """
import sys
opened = set()
sys.addaudithook(lambda name, details: opened.add(str(details[0])) if name == "open" else None)
from w2vneg.cli import main
try:
    main(sys.argv[1:])
finally:
    import os
    print("\\n".join(sorted(os.path.relpath(path) for path in opened if os.path.exists(path))))
"""


def test_data_are_encoded_once_and_only_the_files_that_are_named_are_opened(folder, tmp_path_factory):
    path = os.pathsep.join([str(Path(w2vneg.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    environment = os.environ | {"PYTHONPATH": path, "W2VNEG_CACHE": str(tmp_path_factory.mktemp("cache"))}
    command = [sys.executable, "-c", _WATCH, *COMMAND, "--grid", "alpha=0.0001,0.1"]
    run = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert run.returncode == 0, run.stderr
    here = [name for name in run.stdout.splitlines() if not name.startswith("..")]
    assert {"corpus.txt", "valid.tsv"} <= set(here)
    assert "test.tsv" not in here
    assert {name for name in here if not name.startswith("out")} - {"corpus.txt", "valid.tsv", "."} == set()
    assert run.stderr.count(" in 800 lines ") == 1


def test_the_metric_of_a_row_is_never_hidden_by_the_others(planted, validation):
    found, _ = search(planted, ALPHAS[:1], Validation(validation.held, metric="ndcg@4"))
    assert found.rows[0].value == found.rows[0].figures[Metric.parse("ndcg@4").name]
