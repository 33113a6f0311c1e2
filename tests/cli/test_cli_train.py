"""`w2vneg train`: what it writes, what it says, and what it does about every mistake."""

import bz2
import errno
import gzip
import io
import json
import os
import re
import signal
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
from planted import as_text, same_topic, two_topics
from reading import change_options

import w2vneg
from w2vneg import Vectors, Vocabulary, Word2Vec
from w2vneg.cli import progress
from w2vneg.config.spec import FORMAT
from w2vneg.data.inputs import Input
from w2vneg.ground.events import RoundDone
from w2vneg.ground.files import atomic, locks
from w2vneg.ground.files.locks import owned
from w2vneg.ground.progress import SHOW
from w2vneg.objectives.readout import READOUTS, Chain
from w2vneg.run import checkpoints
from w2vneg.run.model import Model
from w2vneg.run.trainer import Trainer

SMALL = ["--loss=ns", "--dim=8", "--window=3", "--subsample=0", "--min-count=1", "--epochs=2", "--workers=1"]
SMALL += ["--output=vectors.txt", "--force"]  # beside a model, too, and time and again


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder, with corpus.txt in it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "corpus.txt").write_text(as_text(two_topics()))
    return tmp_path


@pytest.fixture
def begun(folder):
    """A model folder of a run that has not gone far, on corpus.txt."""
    word2vec = Word2Vec(loss="ns", dim=4, min_count=1, subsample=0.0, workers=1)
    given = Input("corpus", "corpus.txt")
    model = word2vec.trainer(word2vec.encode(given)).model
    model.origin.input = given.absolute().as_dict()
    model.save(folder / "model")
    return folder / "model"


@pytest.fixture
def train(folder, run_cli):
    """A function that runs ``w2vneg train --corpus corpus.txt`` with small options and further arguments."""
    return lambda *arguments: run_cli("train", "--corpus", "corpus.txt", *SMALL, *arguments)


@pytest.fixture
def no_training(monkeypatch):
    """Whatever is wrong must be told before a corpus is read."""

    def refuse(*arguments, **options):
        raise AssertionError("the corpus was read")

    monkeypatch.setattr("w2vneg.data.inputs.encode_input", refuse)


def assert_one_message(result, message, code=1):
    assert (result.code, result.out) == (code, "")
    assert message in result.err
    assert result.err.count("Error: ") == 1
    assert result.err.splitlines()[-1].startswith("Error: ")
    assert "Traceback" not in result.err


def test_what_is_there_is_replaced_only_by_force_which_is_said_before_anything_is_read(folder, run_cli):
    train = ["train", "--corpus=corpus.txt", *SMALL[:-2]]
    assert run_cli(*train, "--save-model=model").code == 0
    assert sorted(os.listdir(folder)) == ["corpus.txt", "model"]  # no vectors.txt that nobody has asked for
    assert run_cli(*train).code == 0
    before = Path("vectors.txt").read_bytes()
    for words, message in (
        ([], "vectors.txt exists; replace it with --force, or name another file with --output"),
        (["--save-model=model"], "model holds a model; continue it with --resume model, replace it with --force"),
        (["--save-model=m", "--output=vectors.txt"], "vectors.txt exists"),
    ):
        read = ["train", "--corpus=corpus.txt", *SMALL[:-2], "--seed=2", *words]
        assert_one_message(run_cli(*read), message)
        assert run_cli(*read, "--dry-run", "--quiet").code == 0
    assert Path("vectors.txt").read_bytes() == before
    assert run_cli("train", "--resume=model", "--epochs=3").code == 0  # its own folder
    assert run_cli("train", "--resume=model", "--epochs=4", "--output=mine.txt").code == 0
    assert run_cli("train", "--resume=model", "--epochs=5").code == 0  # and its own vectors
    assert_one_message(run_cli("train", "--resume=model", "--output=vectors.txt"), "vectors.txt exists")
    assert run_cli(*train, "--seed=2", "--force").code == 0
    assert Path("vectors.txt").read_bytes() != before


def test_vectors_txt_is_word2vec_text_that_gensim_reads(train, folder):
    result = train()
    assert (result.code, result.out) == (0, "")
    assert sorted(os.listdir(folder)) == ["corpus.txt", "vectors.txt"]
    vectors = Vectors.load("vectors.txt")
    assert (len(vectors), vectors.dim) == (40, 8)
    keyed = pytest.importorskip("gensim.models").KeyedVectors.load_word2vec_format("vectors.txt")
    assert keyed.index_to_key == vectors.words
    assert np.array_equal(keyed.vectors, vectors.matrix)
    lines = [line for line in result.err.splitlines() if "%: " not in line]  # compiling may take its time
    assert "6,400 tokens" in lines[0] and "40 types" in lines[0]
    assert re.match(r"epoch 1/2: loss \d\.\d+ \(at init 4\.1589\), [\d,]+ pairs, [\d.]+ s$", lines[2])
    assert lines[1] == "compiling or loading the kernels"
    assert lines[3].startswith("epoch 2/2: ")
    assert lines[4].startswith("Loss: ")
    assert lines[5] == "Wrote 40 vectors of 8 numbers to vectors.txt."
    assert re.fullmatch(r"Next: w2vneg nearest [ab]\d+, or in a browser w2vneg explore vectors.txt", lines[6])
    assert len(lines) == 7


def test_vectors_are_packed_as_they_are_called_and_a_resumed_run_knows_them(train, run_cli):
    assert train("--output=v.txt.gz", "--save-model=model").code == 0
    assert gzip.decompress(Path("v.txt.gz").read_bytes()).startswith(b"40 8\n")
    change_options("model", epochs=3)
    resumed = run_cli("train", "--resume", "model")
    assert resumed.code == 0 and "Wrote 40 vectors of 8 numbers to v.txt.gz." in resumed.err
    assert np.array_equal(Vectors.load("v.txt.gz").matrix, Vectors.load("model").matrix)


def test_events_are_lines_of_json_that_a_resumed_run_goes_on_with(train, run_cli):
    assert train("--save-model=model", "--log-json=run.jsonl", "--track=csv=run.csv").code == 0
    resumed = run_cli("train", "--resume=model", "--epochs=3", "--log-json=-")
    assert run_cli("train", "--resume=model", "--epochs=4", "--log-json=run.jsonl").code == 0
    lines = [json.loads(line) for line in Path("run.jsonl").read_text().splitlines()]
    assert [line["epoch"] for line in lines if line["event"] == "EpochDone"] == [1, 2, 4]
    (first, *_) = (line for line in lines if line["event"] == "RoundDone")
    assert {"time", "epoch", "loss", "alpha", "words_per_s", "pairs_per_s"} <= first.keys()
    assert first["words_per_s"] == round(first["tokens"] / first["seconds"])
    assert {json.loads(line)["event"] for line in resumed.out.splitlines()} == {"RoundDone", "EpochDone"}
    assert "%" not in resumed.err
    for words, message in (
        (["--log-json=corpus.txt"], "corpus.txt"),
        (["--log-json=-", "--json"], "both write to standard output"),
    ):
        result = train(*words)
        assert result.code != 0 and message in result.err


def test_events_go_on_after_a_line_that_was_cut_short(train):
    for former in ('{"event": "Ro', '{"event": "RoundDone"}\n{"event"'):
        Path("run.jsonl").write_text(former)
        assert train("--log-json=run.jsonl").code == 0
        begun, rest = Path("run.jsonl").read_text()[: len(former) + 1], Path("run.jsonl").read_text()[len(former) + 1 :]
        assert begun == former + "\n" and [json.loads(line)["event"] for line in rest.splitlines()][-1] == "EpochDone"


def test_events_are_added_to_events_only(train, no_training):
    for mine in ("a line\n", "no line", "[1]\n", "\n", "\x00"):
        Path("mine").write_text(mine)
        message = "cannot write mine: it holds something other than events; name another file"
        assert_one_message(train("--log-json=mine"), message)
        assert Path("mine").read_text() == mine


@pytest.mark.parametrize(
    ("arguments", "flags"),
    [
        (["--log-json=vectors.txt"], "--output and --log-json"),
        (["--track=csv=link"], "--output and --track"),
        (["--save-model=m", "--log-json=m"], "the model folder and --log-json"),
        (["--log-json=x", "--track=csv=./x"], "--log-json and --track"),
        (["--track=csv=x", "--track=csv=x"], "--track and --track"),
        (["--log-json=-", "--track=csv=/dev/stdout"], "--log-json and --track"),
    ],
)
def test_two_things_are_not_written_to_one_file(train, no_training, folder, arguments, flags):
    (folder / "link").symlink_to("vectors.txt")
    result = train(*arguments)
    assert result.code == 2 and f"Error: {flags} are both written to " in result.err and "name two places" in result.err
    assert sorted(os.listdir(folder)) == ["corpus.txt", "link"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full on this system")
def test_a_log_that_breaks_is_warned_of_once_and_ends_no_run(train):
    result = train("--log-json=/dev/full", "--quiet")
    assert (result.code, result.out) == (0, "")
    reason = "No space left on device"
    assert result.err == f"Warning: cannot log to /dev/full ({reason}); training continues without it.\n"
    assert len(Vectors.load("vectors.txt")) == 40


@pytest.mark.parametrize("flag", ["--log-json", "--save-model", "--output", "--track=csv"])
def test_links_that_lead_round_in_a_circle(train, no_training, folder, flag):
    (folder / "loop").symlink_to("loop")
    assert_one_message(train(f"{flag}=loop"), f"cannot write loop: {os.strerror(errno.ELOOP)}; choose another place")


def test_the_words_of_the_issue(folder, run_cli):
    options = "--loss relaxed --temp 1.0 --min-count 1 --dim 8 --subsample 0 --epochs 2"
    assert run_cli("train", "--corpus", "corpus.txt", *options.split()).code == 0
    assert same_topic(Vectors.load("vectors.txt")) >= 0.95


def test_the_same_seed_writes_the_same_bytes(train):
    train("--output", "one.txt")
    train("--output", "two.txt")
    train("--output", "three.txt", "--seed", "2")
    assert Path("one.txt").read_bytes() == Path("two.txt").read_bytes() != Path("three.txt").read_bytes()


def test_the_last_line_tells_of_vectors_whose_cosines_mean_nothing(train):
    result = train("--loss=relaxed", "--absolute-softmax")
    assert result.code == 0
    *_, wrote, note = result.err.splitlines()
    assert wrote.startswith("Wrote 40 vectors")
    assert note.startswith("Note: these vectors were trained on |x . y|") and "train with --signed-softmax" in note
    assert train("--loss=relaxed", "--absolute-softmax", "--quiet").err == ""
    assert "Note" not in train("--loss=relaxed").err


def test_json_is_one_document_on_stdout(train):
    result = train("--json", "--save-model", "model", "--temp", "inf", "--sampler", "boltzmann")
    assert result.code == 0

    def refuse(text):
        raise AssertionError(f"{text} is no JSON")

    report = json.loads(result.out, parse_constant=refuse)
    assert (report["output"], report["model"], report["interrupted"]) == ("vectors.txt", "model", False)
    assert report["corpus"]["kept_tokens"] == 6400
    assert report["config"]["dim"] == 8
    assert report["config"]["sampler"] == "popularity"
    assert [record["event"] for record in report["history"]] == ["EpochDone", "EpochDone"]
    assert "epoch 1/2" in result.err


def test_quiet_says_nothing(train):
    result = train("--quiet", "--save-model", "model")
    assert result == (0, "", "")
    result = train("--quiet", "--json")
    assert (result.code, result.err) == (0, "")
    json.loads(result.out)


def test_the_model_folder(train, folder):
    result = train("--save-model", "deep/model", "--private-rows", "3")
    assert result.code == 0
    assert result.err.splitlines()[-2] == "Model saved in deep/model."
    plain = {"config.json", "corpus.json", "extra.json", "history.jsonl", "position.json", "versions.json", "vocab.tsv"}
    plain |= {"validation.json", "good.json", "run.toml", "law.json", "log_noise.npy"}
    assert set(os.listdir("deep/model")) == plain | {"vectors_in.npy", "vectors_out.npy"}
    config = json.loads(Path("deep/model/config.json").read_text("utf-8"))
    assert (config["format"], config["loss"]["name"], config["run"]["private_rows"]) == (FORMAT, "ns", 3)
    assert config["sampler"] == {"name": "popularity", "noise_exponent": 0.75}
    history = [json.loads(line) for line in Path("deep/model/history.jsonl").read_text("utf-8").splitlines()]
    assert [record["epoch"] for record in history] == [1, 2]
    assert json.loads(Path("deep/model/versions.json").read_text("utf-8"))["w2vneg"] == w2vneg.__version__
    assert Vocabulary.load("deep/model/vocab.tsv").counts.sum() == 6400
    written = Vectors.load("vectors.txt")
    for loaded in (Vectors.load("deep/model"), Word2Vec.load("deep/model").vectors):
        assert loaded.words == written.words
        assert np.array_equal(loaded.matrix, written.matrix)


def test_the_built_in_corpus_is_said_aloud(folder, run_cli, monkeypatch):
    asked = []

    def made(name):
        asked.append(name)
        return folder / "corpus.txt"

    monkeypatch.setattr("w2vneg.data.catalog.places.builtin_path", made)
    result = run_cli("train", *SMALL)
    assert result.code == 0 and asked == ["builtin"]
    assert result.err.startswith("No --corpus given: training on the built-in corpus, the documentation of Python")
    assert len(Vectors.load("vectors.txt")) == 40
    assert run_cli("train", "--corpus", "builtin", *SMALL).code == 0


def test_places_are_checked_before_the_built_in_corpus_is_made(folder, run_cli, monkeypatch):
    monkeypatch.setattr("w2vneg.data.catalog.places.builtin_path", lambda name: pytest.fail(f"{name} was made"))
    Path("vectors.txt").write_text("mine\n")
    assert_one_message(run_cli("train", *SMALL[:-1]), "vectors.txt exists; replace it with --force")
    assert Path("vectors.txt").read_text() == "mine\n"


@pytest.mark.parametrize("quiet", [(), ("--quiet",)])
def test_the_making_of_data_is_shown(folder, run_cli, monkeypatch, quiet):
    shown = []

    def made(name):
        with SHOW.get()(f"making {name}"):
            return folder / "corpus.txt"

    monkeypatch.setattr("w2vneg.data.catalog.places.builtin_path", made)
    monkeypatch.setattr("w2vneg.cli.byte_progress", lambda what: nullcontext(shown.append(what)))
    assert run_cli("train", "--dry-run", *SMALL, *quiet).code == 0
    assert set(shown) == (set() if quiet else {"making builtin"})


def test_a_vocabulary_is_used_again(train, folder):
    train("--save-model", "model")
    (folder / "few.tsv").write_text("b1\t9\na1\t9\nunseen\t1\n".replace("b1\t9\na1\t9", "a1\t9\nb1\t9"))
    assert train("--vocab", "model/vocab.tsv", "--output", "same.txt").code == 0
    assert Path("same.txt").read_bytes() == Path("vectors.txt").read_bytes()
    few = train("--vocab", "few.tsv")
    assert few.code == 0 and "1 of 3 words of --vocab do not occur here, so nothing is learnt about them." in few.err
    assert "Warning: --vocab" not in few.err
    assert Vectors.load("vectors.txt").words == ["a1", "b1", "unseen"]
    (folder / "blank.txt").write_text("a1 9\nb1 9\n")  # as fastText and word2vec.c write it
    alike = train("--vocab", "blank.txt", "--quiet")
    assert alike.code == 0 and len(Vectors.load("vectors.txt")) == 2
    assert alike.err.startswith("Warning: --vocab has a count of 9 for each word, unlike this text, and noise and ")
    assert_one_message(train("--vocab", "none.tsv"), "none.tsv: cannot read the vocabulary (No such file or directory)")
    (folder / "foreign.tsv").write_text("x\t9\ny\t9\n")
    assert_one_message(train("--vocab", "foreign.tsv"), "no token of the corpus is in the given vocabulary")
    (folder / "bad.tsv").write_text("a1\t9\nb1\n")
    assert_one_message(train("--vocab", "bad.tsv"), "bad.tsv:2: expected word, tab, count")


def test_several_packed_and_piped_corpora(folder, run_cli, monkeypatch):
    halves = as_text(two_topics()[:400]), as_text(two_topics()[400:])
    (folder / "one.weird").write_bytes(gzip.compress(halves[0].encode()))
    (folder / "two.txt").write_bytes(bz2.compress(halves[1].encode()))
    assert run_cli("train", "--corpus", "one.weird", "--corpus", "two.txt", *SMALL).code == 0
    both = Path("vectors.txt").read_bytes()
    assert run_cli("train", "--corpus", "corpus.txt", *SMALL).code == 0
    assert Path("vectors.txt").read_bytes() == both
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("".join(halves).encode())))
    result = run_cli("train", "--corpus", "-", *SMALL)
    assert result.code == 0
    assert Path("vectors.txt").read_bytes() == both


def test_options_from_a_file_and_the_command_line_wins(folder, run_cli):
    (folder / "run.toml").write_text(
        'loss = "ns"\ndim = 6\nmin-count = 1\nepochs = 1\nsubsample = 0\n'
        "share-negatives = true\ndynamic_window = false\n"
    )
    result = run_cli("train", "--corpus", "corpus.txt", "--config", "run.toml", "--dim", "5", "--json")
    assert result.code == 0
    config = json.loads(result.out)["config"]
    assert (config["loss"], config["dim"], config["epochs"], config["share_negatives"]) == ("ns", 5, 1, "centre")
    result = run_cli(
        *("train", "--corpus", "corpus.txt", "--config", "run.toml", "--share-negatives", "no"),
        *("--dynamic-window", "--json", "--force"),
    )
    config = json.loads(result.out)["config"]
    assert (config["dim"], config["share_negatives"], config["dynamic_window"]) == (6, "no", True)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("windw = 3\n", "run.toml: unknown option 'windw'; did you mean 'window'"),
        ("min-count = 2\nmin_count = 30\n", "run.toml: min-count and min_count are the same option; leave one out"),
        ("window = 0\n", "run.toml: window must be at least 1, got 0"),
        ("temp = nan\n", "run.toml: temp must be a number, not nan"),
        ("[train]\ndim = 3\n", "run.toml: options belong at the top level, not in a table like [train]"),
        ("dim = \n", "run.toml: not TOML ("),
        ("dim = 1979-05-27\n", "run.toml: dim must be a whole number"),
        ("degeneracy = 1979-05-27\n", "run.toml: degeneracy must be"),
        (b"\xff", "run.toml:1: not UTF-8 text"),
        (None, "run.toml: no such file"),
        (f"{'.'.join('a' * 20_000)} = 1\n", "run.toml: a dotted key of more than 32 parts"),
        (f"x = [{{ 'q' . {'a . ' * 40} b = 1 }}]\n", "run.toml: a dotted key of more than 32 parts"),
        ("[[" + ".".join(['"a"'] * 40) + "]]\n", "run.toml: a dotted key of more than 32 parts"),
        ("# much\n" * 200_000, "run.toml: more than 1 MB of TOML; name many files by a folder or a glob"),
        (f"x = {'[' * 50_000}\n", "run.toml: not TOML ("),
        (f"x = {'{a=' * 50_000}\n", "run.toml: not TOML ("),
        ('save-model = "\\u0000"\n', "run.toml: a NUL in '\\x00'; no name or path has one"),
        ('init = ["a", "b\\u0000"]\n', "run.toml: a NUL in 'b\\x00'; no name or path has one"),
        (f"dim = {'9' * 5_000}\n", "run.toml: not TOML ("),
        (f"temp = 0x{'f' * 5_000}\n", "run.toml: a whole number of 20,000 bits; no option takes one so large"),
        (f"x = [[0b{'1' * 5_000}]]\n", "run.toml: a whole number of 5,000 bits; no option takes one so large"),
    ],
)
def test_a_bad_options_file(train, folder, no_training, content, message):
    if content is not None:
        (folder / "run.toml").write_bytes(content if isinstance(content, bytes) else content.encode())
    assert_one_message(train("--config", "run.toml"), message)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--window 0", "window must be at least 1, got 0"),
        ("--dim -3", "dim must be at least 1, got -3"),
        ("--min-count 0", "min_count must be at least 1, got 0"),
        ("--max-vocab 1", "max_vocab must be at least 2, got 1"),
        ("--epochs 0", "epochs must be at least 1, got 0"),
        ("--workers 0", "workers must be at least 1, got 0"),
        ("--negatives 0", "negatives must be at least 1, got 0"),
        ("--seed -1", "seed must be at least 0, got -1"),
        ("--temp 0", "temp must be above 0, got 0.0"),
        ("--temp -1", "temp must be above 0, got -1.0"),
        ("--temp nan", "temp must be a number, not nan"),
        ("--temp 1", "--temp has no effect with sampler 'popularity': only sampler boltzmann reads it"),
        (
            "--method exact",
            "--method has no effect with sampler 'popularity': only samplers boltzmann and selfplay",
        ),
        ("--alpha nan", "alpha must be a number, not nan"),
        ("--alpha inf", "alpha must be finite, got inf"),
        ("--alpha 0", "alpha must be above 0, got 0.0"),
        ("--min-alpha 1", "min_alpha (1) is above alpha"),
        ("--min-alpha nan", "min_alpha must be a number, not nan"),
        ("--subsample nan", "subsample must be a number, not nan"),
        ("--noise-exponent nan", "noise_exponent must be a number, not nan"),
        ("--noise-exponent inf", "noise_exponent must be at most 5, got inf"),
        (
            "--loss nss",
            "unknown loss 'nss'; did you mean 'ss' or 'ns' or 'dns'? 'w2vneg objectives' lists losses and presets.",
        ),
        ("--loss css --exclude none", "loss 'css' sums over all words but the positive"),
        ("--loss blackout --exclude none", "leave --exclude none out, or use --exclude target"),
        (
            "--loss nce --sampler dns",
            "loss 'nce' needs the probabilities of its draws, which sampler 'dns' cannot give",
        ),
        ("--sampler dns --weigher importance", "weigher 'importance' needs the probabilities of its draws"),
        ("--loss mle --sampler uniform", "--sampler has no effect with loss 'softmax', which scores every word"),
        ("--loss mle --private-rows 9", "--private-rows has no effect with loss 'softmax'"),
        ("--loss cis --temp 2", "--temp has no effect with sampler 'selfplay'"),
        ("--plugin none.py", "none.py: no such file; name a .py file or an importable module"),
        ("--sampler popular", "unknown sampler 'popular'; did you mean 'popularity'?"),
        ("--weigher non", "unknown weigher 'non'; did you mean 'none'?"),
        ("--sampler boltzmann --method rollin", "unknown method 'rollin'; did you mean 'rolling'?"),
        ("--sampler boltzmann --degeneracy popularty", "unknown degeneracy 'popularty'; did you mean 'popularity'?"),
        ("--output none/vectors.txt", "cannot write none/vectors.txt: No such file or directory; choose another place"),
        ("--output .", "cannot write .: it is a folder; name a file"),
        ("--save-model corpus.txt", "cannot write corpus.txt: it is a file; name a folder"),
        ("--save-model corpus.txt/model", "cannot write corpus.txt/model: "),
        ("--save-model .", "cannot write .: the folder exists and is not a w2vneg model (it holds bad.tsv"),
    ],
)
def test_mistakes_are_told_before_the_corpus_is_read(train, folder, no_training, arguments, message):
    (folder / "bad.tsv").write_text("a1\t1\na2\n")
    assert_one_message(train(*arguments.split()), message)
    assert sorted(os.listdir(folder)) == ["bad.tsv", "corpus.txt"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--dim many", "'many' is not a valid integer"),
        ("--dim 1.5", "'1.5' is not a valid integer"),
        ("--nonsense", "No such option"),
        ("--negativs 3", "--negatives"),
        ("corpus.txt", "unexpected extra argument"),
        ("--resume model --dim 3", "--resume takes its options from the model folder; leave --loss out"),
        (
            "--output ./corpus.txt",
            "--output ./corpus.txt would overwrite corpus.txt, which is read; choose another",
        ),
        ("--output -", "--output takes a path, not -; use /dev/stdout for standard output"),
        ("--save-model -", "--save-model takes a path, not -"),
        ("--output vocab.tsv --vocab vocab.tsv", "--output vocab.tsv would overwrite vocab.tsv, which is read"),
        (
            "--output model --save-model model",
            "the model folder and --output are both written to model; name two places",
        ),
    ],
)
def test_usage_errors(train, folder, no_training, arguments, message):
    (folder / "vocab.tsv").write_text("a1\t2\na2\t1\n")
    result = train(*arguments.split())
    assert (result.code, result.out) == (2, "")
    assert message in result.err


CORPORA = {
    "empty": (b"", "corpus.txt: the file is empty; name a file with text"),
    "blank": (b" \n\n \n", "corpus.txt: no token in 5 bytes"),
    "binary": (bytes(range(256)) * 40, "corpus.txt"),
    "latin-1": ("für ".encode("latin-1") * 50, "corpus.txt:1"),
    "truncated": (gzip.compress(as_text(two_topics()).encode())[:-20], "corpus.txt"),
    "rare": (b"each word stands here once\n", "no token reaches min_count=2 (largest count is 1); lower --min-count"),
    "one word": (b"word word word other\n", "only one word ('word') reaches min_count=2; training needs at least two"),
    "no pair": (b"a\nb\n" * 50, "pair"),
}


@pytest.mark.parametrize("content, message", CORPORA.values(), ids=CORPORA)
def test_a_corpus_that_cannot_be_trained_on(train, folder, content, message):
    (folder / "corpus.txt").write_bytes(content)
    (folder / "vectors.txt").write_text("former")
    assert_one_message(train("--min-count", "2", "--save-model", "model"), message)
    assert (folder / "vectors.txt").read_text() == "former"
    assert sorted(os.listdir(folder)) == ["corpus.txt", "vectors.txt"]


def test_a_corpus_that_is_not_there(folder, run_cli):
    assert_one_message(run_cli("train", "--corpus", "none.txt"), "no such file or folder: none.txt")
    assert_one_message(run_cli("train", "--corpus", "txet8"), "did you mean 'text8'?")
    assert_one_message(run_cli("train", "--corpus", "none*.txt"), "none*.txt")
    (folder / "empty").mkdir()
    assert_one_message(run_cli("train", "--corpus", "empty"), "empty")


def test_divergence_is_one_sentence_and_writes_nothing(train, folder):
    (folder / "vectors.txt").write_text("former")
    result = train("--alpha", "1e6", "--unbounded-steps", "--save-model", "model")
    assert_one_message(
        result, "Error: training diverged 6 times, last at alpha 31250; lower --alpha or give --bounded-steps"
    )
    assert result.err.count("training diverged; went back to the last good state") == 5
    assert (folder / "vectors.txt").read_text() == "former"
    assert sorted(os.listdir(folder)) == ["corpus.txt", "vectors.txt"]


def test_divergence_leaves_the_last_good_epoch_in_the_model_folder(train, folder, run_cli):
    assert train("--save-model", "model").code == 0
    before = Path("model/vectors_in.npy").read_bytes()
    change_options("model", epochs=4, alpha=1e6, min_alpha=1e6, bounded_steps=False)
    Path("vectors.txt").unlink()
    result = run_cli("train", "--corpus", "corpus.txt", "--resume", "model")
    assert_one_message(result, "training diverged 6 times")
    assert Path("model/vectors_in.npy").read_bytes() == before
    assert not Path("vectors.txt").exists()


FULL = "No space left on device; nothing was left behind"


@pytest.fixture
def full_places(monkeypatch):
    """A set of folders, of Paths, in which nothing more can be written once they are in it."""
    places, real = set(), atomic._new_part

    def make(target, **options):
        if any(target.is_relative_to(place) for place in places):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(target, **options)

    monkeypatch.setattr(atomic, "_new_part", make)
    return places


@pytest.fixture
def at_the_end(monkeypatch):
    """Let a function be called when training is over."""

    def then(act):
        real = Trainer.train
        monkeypatch.setattr(Trainer, "train", lambda self, **how: (real(self, **how), act()))

    return then


def test_a_full_disk_at_the_end_keeps_the_former_vectors_and_the_model(train, folder, full_places, at_the_end):
    (folder / "vectors.txt").write_text("former")
    at_the_end(lambda: full_places.add(folder / "vectors.txt"))
    result = train("--save-model", "my model", "--json")
    message = f"cannot write vectors.txt: {FULL}; the model folder has the vectors: w2vneg export 'my model' FILE"
    assert_one_message(result, message)
    assert "Model saved in my model." in result.err
    assert (folder / "vectors.txt").read_text() == "former"
    assert Model.load("my model").position.epoch == 2
    assert sorted(os.listdir(folder)) == ["corpus.txt", "my model", "vectors.txt"]


def test_vectors_that_have_no_model_folder_go_to_another_place(train, folder, full_places, at_the_end, monkeypatch):
    monkeypatch.setenv("HOME", str(folder / "home"))
    (folder / "home").mkdir()
    (folder / "home" / "rescued-vectors.txt").write_text("mine")
    at_the_end(lambda: full_places.update({folder / "vectors.txt", folder / "rescued-vectors.txt"}))
    result = train()
    place = folder / "home" / "rescued-vectors.txt.1"
    assert_one_message(result, f"cannot write vectors.txt: {FULL}; saved the vectors trained to this point to {place}")
    assert len(Vectors.load(place)) == 40
    assert (folder / "home" / "rescued-vectors.txt").read_text() == "mine"


@pytest.mark.parametrize(
    ("raised", "said"),
    [(MemoryError(), "not enough memory; a smaller --dim"), (ValueError("odd"), "ValueError: odd")],
)
def test_a_read_out_that_fails_loses_nothing(folder, train, monkeypatch, raised, said):
    assert train("--readout", "in", "--output", "plain.txt").code == 0

    def read(self, trained, vectors):
        raise raised

    monkeypatch.setattr(READOUTS["both"], "read", read)
    result = train("--readout", "both")
    assert result.code == 1 and "Traceback" not in result.err
    message = f"read-out both has failed, so the vectors are the rows of --readout in: {said}"
    warned, wrote, failed = " ".join(result.err.split()).partition("Wrote 40 vectors")
    assert message in warned and wrote and message in failed  # before vectors are said to be written, and at the end
    assert (folder / "vectors.txt").read_bytes() == (folder / "plain.txt").read_bytes()
    result = train("--readout", "both", "--save-model", "model", "--output", "other.txt")
    assert result.code == 1 and "w2vneg export model FILE --readout in" in " ".join(result.err.split())
    assert len(Vectors.load("model", readout="in")) == 40


def test_without_any_vectors_the_model_is_kept(folder, train, monkeypatch):
    def fail(self, trained):
        raise MemoryError

    monkeypatch.setattr(Chain, "read", fail)
    result = train("--readout", "in")
    assert result.code == 1 and "Traceback" not in result.err
    assert f"saved the model trained to this point to {folder}/rescued-model" in " ".join(result.err.split())
    monkeypatch.undo()
    monkeypatch.chdir(folder)
    assert len(Vectors.load("rescued-model")) == 40
    result = train("--readout", "in", "--save-model", "model", "--output", "other.txt")
    assert result.code == 0


def test_vectors_are_kept_where_no_place_takes_the_model(folder, run_cli, monkeypatch):
    def fail(self, folder):
        raise ValueError("odd")

    monkeypatch.setattr(Model, "save", fail)
    small = ["--dim=4", "--min-count=1", "--epochs=1", "--workers=1", "--quiet"]
    result = run_cli("train", "--corpus", "corpus.txt", "--save-model", "model", *small)
    said = " ".join(result.err.split())
    assert result.code == 1 and "Traceback" not in said
    assert "cannot write model: ValueError: odd" in said and "no other place took the model either" in said
    assert f"saved the vectors trained to this point to {folder}/rescued-vectors.txt instead" in said
    assert len(Vectors.load(folder / "rescued-vectors.txt")) == 40


def test_what_is_told_at_the_end_needs_memory_and_loses_nothing(folder, train, monkeypatch):
    from w2vneg.cli import results

    def fail(*arguments):
        raise MemoryError

    monkeypatch.setattr(results, "suggest_next", fail)
    result = train()
    assert result.code == 0
    assert result.err.endswith("The vectors are not scored: not enough memory.\n")


@pytest.mark.skipif(os.name != "posix" or sys.platform == "darwin", reason="names are UTF-8 on this system")
def test_names_that_are_not_utf_8(folder, train, run_cli, monkeypatch):
    monkeypatch.chdir(folder)
    odd = os.fsdecode(b"odd\xff.txt")
    try:
        os.rename("corpus.txt", odd)
    except OSError:
        pytest.skip("names are UTF-8 on this file system")
    small = ["--dim=4", "--min-count=1", "--epochs=1", "--workers=1", "--subsample=0", "--lowercase", "--quiet"]
    model = os.fsdecode(b"model\xff")
    result = run_cli("train", "--corpus", odd, *small, "--save-model", model, "--output", "vectors.txt")
    assert (result.code, result.err) == (0, "")
    result = run_cli("train", "--config", os.path.join(model, "run.toml"), "--save-model", "again", "--quiet")
    assert (result.code, result.err) == (0, "")
    assert Model.load("again").origin.input["files"] == [os.path.abspath(odd)]
    assert run_cli("train", "--resume", model, "--epochs", "2", "--quiet").code == 0
    result = run_cli("split", "--corpus", odd, "--out", "parts", "--quiet")
    assert (result.code, result.err) == (0, "")
    assert odd in json.loads((folder / "parts" / "manifest.json").read_text())["input"]["files"][0]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full on this system")
def test_a_full_device(train, folder):
    assert_one_message(train("--output", "/dev/full"), "cannot write /dev/full: No space left on device")
    assert os.listdir(folder) == ["corpus.txt"]


def test_a_model_that_cannot_be_kept_goes_to_another_place(train, folder, full_places, at_the_end):
    (folder / "far").mkdir()
    (folder / "near").mkdir()
    at_the_end(lambda: full_places.add(folder / "near"))
    result = train("--save-model", "near/model", "--output", "far/vectors.txt")
    epoch = Model.load("near/model").position.epoch
    message = f"cannot write near/model: {FULL}; near/model holds an earlier state: {epoch} epochs and 0 rounds; "
    message += f"saved the model trained to this point to {folder}/far/rescued-model instead"
    assert_one_message(result, message)
    assert len(Vectors.load("far/vectors.txt")) == 40
    assert (Model.load("far/rescued-model").position.epoch, epoch >= 1) == (2, True)


def test_a_model_that_no_place_takes_does_not_end_the_training(train, folder, monkeypatch):
    def full(self, path):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Vocabulary, "save", full)
    result = train("--save-model", "model")
    assert result.code == 1
    message = f"cannot write model: {FULL}"
    assert result.err.count(f"Warning: {message}; training continues.") == 1
    assert result.err.splitlines()[-1].startswith(f"Error: {message}; no other place took the model either: {folder}")
    assert len(Vectors.load("vectors.txt")) == 40
    assert sorted(os.listdir(folder)) == ["corpus.txt", "vectors.txt"]


def test_checkpoints_within_an_epoch(train, folder, run_cli, monkeypatch):
    """What is in the folder after each round, resumed, ends as the whole run does."""
    assert train("--output", "whole.txt").code == 0
    saved, real = [], Model.save

    def save(self, path):
        real(self, path)
        real(self, f"state-{len(saved)}")
        saved.append((self.position.epoch, self.position.round))

    monkeypatch.setattr(Model, "save", save)
    monkeypatch.setattr(checkpoints, "_RATIO", 0)
    assert train("--save-model", "model", "--checkpoint-every", "1e-9").code == 0
    assert len(saved) > 10 and saved[0] == (0, 1) and saved[-1] == (2, 0)
    monkeypatch.setattr(Model, "save", real)
    for k in (0, len(saved) // 3, len(saved) - 4):
        assert run_cli("train", "--resume", f"state-{k}", "--output", "resumed.txt", "--force").code == 0
        assert Path("resumed.txt").read_bytes() == Path("whole.txt").read_bytes()


def test_checkpoints_need_a_folder_and_a_time(train):
    result = train("--checkpoint-every", "3")
    assert result.code == 2 and "name one with --save-model" in result.err
    for minutes in ("0", "-1", "nan", "inf"):
        result = train("--save-model", "model", "--checkpoint-every", minutes)
        assert_one_message(result, "checkpoint_every must be a number of minutes above 0")


def test_where_there_are_no_locks_a_run_says_so(train, folder, monkeypatch):
    what = "Note: the file system of model has no locks; nothing keeps a second run from writing there too."
    locked = locks.claim
    monkeypatch.setattr(locks, "claim", lambda descriptor: None)
    assert train("--save-model", "model", "--output", "a.txt").err.count(what) == 1
    monkeypatch.setattr(locks, "claim", locked)
    if locks.fcntl is not None:
        assert what not in train("--save-model", "model", "--output", "a.txt", "--force").err


def test_two_runs_do_not_share_a_model_folder(train, folder, run_cli):
    with owned("model"):
        for arguments in (["--save-model", "model"], ["--save-model", "./model", "--seed", "2"]):
            assert_one_message(train(*arguments), f"model: process {os.getpid()} on ")
    assert os.listdir(folder) == ["corpus.txt"]
    assert train("--save-model", "model").code == 0
    with owned("model"):
        assert_one_message(run_cli("train", "--resume", "model"), "wait for it or choose another folder")


@pytest.mark.parametrize("stream", ["closed", "full", "gone", "none"])
def test_training_ends_well_whatever_happens_to_its_messages(train, folder, monkeypatch, stream):
    broken = None if stream == "none" else Broken(stream)
    if stream == "closed":
        broken.close()
    monkeypatch.setattr(sys, "stderr", broken)
    assert train("--save-model", "model").code == 0
    assert len(Vectors.load("vectors.txt")) == 40
    assert Model.load("model").position.epoch == 2


class Broken(io.StringIO):
    """A terminal on which the third write fails, and all after it."""

    def __init__(self, how):
        super().__init__()
        self.left, self.how = 3, how

    def isatty(self):
        super().isatty()  # a closed one says so
        return self.how == "gone"

    def write(self, text):
        self.left -= 1
        if self.left <= 0:
            raise OSError(errno.EIO if self.how == "gone" else errno.ENOSPC, "it broke")
        return super().write(text)


def test_ctrl_c_and_resume(folder, run_cli):
    """A real process: its first line of an epoch is waited for, then comes the signal."""
    command = [sys.executable, "-m", "w2vneg", "train", "--corpus", "corpus.txt", "--save-model", "model", *SMALL]
    command += ["--epochs", "1000000"]
    path = os.pathsep.join([str(Path(w2vneg.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    environment = os.environ | {"PYTHONPATH": path}
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment) as run:
        try:
            seen = [run.stderr.readline()]
            while seen[-1] and not seen[-1].startswith("epoch 1/"):
                seen.append(run.stderr.readline())
            run.send_signal(signal.SIGINT)
            out, rest = run.communicate(timeout=60)
        finally:
            run.kill()
    assert (run.returncode, out) == (130, ""), "".join(seen) + rest
    lines = rest.splitlines()
    assert any(re.match(r"interrupted after 0\.\d% of the run$", line) for line in lines)
    assert lines[-1] == "Interrupted: kept the vectors trained so far; continue with --resume model."
    model = Model.load("model")
    assert np.array_equal(Vectors.load("vectors.txt").matrix, Vectors.load("model").matrix)
    assert model.position.epoch >= 1
    assert model.history[-1]["event"] == "Interrupted"
    epochs = model.position.epoch + 1  # a million would take a while
    change_options("model", epochs=epochs)
    resumed = run_cli("train", "--corpus", "corpus.txt", "--resume", "model")
    assert resumed.code == 0
    assert f"epoch {epochs}/{epochs}: " in resumed.err
    assert Model.load("model").position.epoch == epochs
    assert same_topic(Vectors.load("vectors.txt")) >= 0.95


@pytest.fixture
def pressing(monkeypatch):
    """Let Ctrl-C be pressed so many times, or another signal come, after the second round: a function of both."""

    def press(times, number=signal.SIGINT):
        rounds = []
        real = progress.TrainingProgress.__call__

        def listen(self, event):
            real(self, event)
            rounds.extend([event] if isinstance(event, RoundDone) else [])
            if isinstance(event, RoundDone) and len(rounds) == 2:
                for _ in range(times):
                    signal.raise_signal(number)

        monkeypatch.setattr(progress.TrainingProgress, "__call__", listen)

    return press


def test_an_interrupted_run_resumes_to_the_same_bytes(train, run_cli, pressing):
    assert train("--output", "whole.txt").code == 0
    pressing(1)
    result = train("--save-model", "model", "--json")
    assert result.code == 130
    assert json.loads(result.out)["interrupted"] is True
    assert len(Vectors.load("vectors.txt")) == 40
    position = Model.load("model").position
    assert (position.epoch, position.round) == (0, 2)
    result = run_cli("train", "--corpus", "corpus.txt", "--resume", "model", "--json")
    assert result.code == 0
    assert json.loads(result.out)["interrupted"] is False
    history = json.loads(result.out)["history"]
    assert [record["event"] for record in history] == ["Interrupted", "EpochDone", "EpochDone"]
    assert Path("vectors.txt").read_bytes() == Path("whole.txt").read_bytes()
    again = run_cli("train", "--corpus", "corpus.txt", "--resume", "model")
    assert again.code == 0
    assert Path("vectors.txt").read_bytes() == Path("whole.txt").read_bytes()


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGQUIT"])
def test_other_signals_that_end_a_process_end_the_round(train, run_cli, pressing, request, name):
    before = signal.signal(getattr(signal, name), signal.SIG_DFL)  # ignored where the tests run in the background
    request.addfinalizer(lambda: signal.signal(getattr(signal, name), before))
    pressing(1, getattr(signal, name))
    assert train("--save-model", "model").code == 130
    assert Model.load("model").position.round == 2
    assert signal.getsignal(getattr(signal, name)) is signal.SIG_DFL


def test_a_signal_while_results_are_written_waits_for_them(train, folder, monkeypatch):
    real = Vectors.save

    def save(self, *arguments, **options):
        signal.raise_signal(signal.SIGTERM)
        real(self, *arguments, **options)

    monkeypatch.setattr(Vectors, "save", save)
    result = train("--save-model", "model")
    assert result.code == 0, result.err
    assert "Writing the results" in result.err
    assert len(Vectors.load("vectors.txt")) == 40


def test_a_signal_after_the_last_epoch_loses_nothing(train, folder, monkeypatch):
    from w2vneg.run import trainer

    real = trainer.look_at_contexts

    def look(*given):
        signal.raise_signal(signal.SIGTERM)
        real(*given)

    monkeypatch.setattr(trainer, "look_at_contexts", look)
    result = train("--readout", "context")
    assert result.code == 0, result.err
    assert len(Vectors.load("vectors.txt")) == 40


def test_a_second_ctrl_c_interrupts_at_once_and_writes_nothing(train, folder, pressing):
    pressing(2)
    result = train("--save-model", "model")
    assert (result.code, result.out) == (130, "")
    assert result.err.splitlines()[-1] == "Interrupted."
    assert "Traceback" not in result.err
    assert os.listdir(folder) == ["corpus.txt"]


def test_resuming_what_does_not_fit(train, folder, run_cli):
    train("--save-model", "model")
    (folder / "other.txt").write_text(as_text(two_topics(words=19)))
    result = run_cli("train", "--corpus", "other.txt", "--resume", "model")
    assert result.code == 1 and "the model to resume was trained on other data" in result.err
    assert_one_message(run_cli("train", "--resume", "none"), "none: no such model folder")
    result = run_cli("train", "--corpus", "corpus.txt", "--resume", "model", "--dim", "9")
    assert result.code == 2 and "leave --dim out" in result.err
    result = run_cli("train", "--corpus", "corpus.txt", "--resume", "model", "--config", "x.toml")
    assert result.code == 2 and "leave --config out" in result.err
    (folder / "model" / "vectors_out.npy").write_bytes(b"damaged")
    result = run_cli("train", "--corpus", "corpus.txt", "--resume", "model")
    assert_one_message(result, "vectors_out.npy: not a NumPy matrix")


def test_resuming_finds_the_corpus_again_from_anywhere(train, folder, run_cli, monkeypatch):
    train("--save-model", "model", "--min-count", "2")
    (folder / "elsewhere").mkdir()
    monkeypatch.chdir(folder / "elsewhere")
    result = run_cli("train", "--resume", folder / "model")
    assert result.code == 0, result.err
    assert not (folder / "elsewhere" / "vectors.txt").exists()  # they go where they were to go
    (folder / "corpus.txt").unlink()
    assert_one_message(run_cli("train", "--resume", folder / "model"), "no such file")


@pytest.mark.parametrize("options", [[], ["--vocab", "words.tsv"]])
def test_resuming_encodes_nothing_again(train, folder, run_cli, monkeypatch, options):
    monkeypatch.setenv("W2VNEG_CACHE", str(folder / "cache"))
    Path("words.tsv").write_text("".join(f"{word}\t1\n" for word in ["a1", "a2", "a3", "b1", "b2", "b3"]))
    assert train("--save-model", "model", *options).code == 0
    entries = sorted(os.listdir("cache/corpora"))
    result = run_cli("train", "--resume", "model")
    assert result.code == 0 and "from the cache" in result.err, result.err
    assert sorted(os.listdir("cache/corpora")) == entries


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"kind": "corpus"}, "corpus.json: not an input; kind and files are required"),
        ({"files": ["corpus.txt"]}, "corpus.json: not an input"),
        ({"kind": 3, "files": ["corpus.txt"]}, "corpus.json: unknown kind of input 3"),
        ({"kind": "corpus", "files": 3}, "corpus.json: files of an input must be a path or a list of paths, not '3'"),
        ({"kind": "corpus", "files": [3]}, "corpus.json: files of an input must be"),
        ({"kind": "corpus", "files": ["a\0b"]}, "corpus.json: files of an input: invalid file name"),
        ({"kind": "pairs", "files": ["corpus.txt"], "delimiter": 5}, "corpus.json: delimiter of an input must be text"),
        ({"kind": "cooccurrence", "files": ["m.npz"], "names": {"a": 1}}, "corpus.json: names of an input must be"),
    ],
)
def test_resuming_what_was_trained_on_something_odd(begun, run_cli, changed, message):
    origin = json.loads((begun / "corpus.json").read_text())
    (begun / "corpus.json").write_text(json.dumps(origin | {"input": changed}))
    assert_one_message(run_cli("train", "--resume", begun), message)


def test_resuming_at_a_round_that_is_not_there(begun, run_cli):
    position = json.loads((begun / "position.json").read_text())
    (begun / "position.json").write_text(json.dumps(position | {"round": 10**9}))
    assert_one_message(run_cli("train", "--resume", begun, "--quiet"), "stopped in round 1,000,000,000 of an epoch")


def test_a_model_to_be_handed_on_tells_no_place_of_this_machine(train, run_cli, folder):
    assert train("--save-model=model").code == 0
    assert run_cli("export", "model", "handed", "--portable").code == 0
    files = [path for path in (folder / "handed").iterdir() if path.suffix in (".json", ".jsonl", ".toml", ".tsv")]
    assert len(files) > 6 and not any(str(folder) in path.read_text() for path in files)
    assert str(folder) in (folder / "model" / "corpus.json").read_text()
    own, handed = Model.load("model"), Model.load("handed")
    assert np.array_equal(own.vectors_in, handed.vectors_in) and handed.origin.input["files"] == ["corpus.txt"]
    assert run_cli("train", "--resume=handed", "--epochs=3", "--output=more.txt").code == 0  # beside the same file
    assert run_cli("export", "model", "x.txt", "--portable", "--precision=3").code == 1
    assert_one_message(run_cli("export", "model", "handed", "--portable"), "handed exists; replace it with --force")
