"""run.toml of a model folder repeats its run, and --config may name all of a run."""

import dataclasses
import io
import os
import shlex
import sys
from pathlib import Path

import numpy as np
import pytest
from planted import as_text, two_topics

from w2vneg import Word2Vec
from w2vneg.config import TrainConfig
from w2vneg.config.spec import to_toml
from w2vneg.config.table import options_of_users
from w2vneg.ground.errors import W2vnegError
from w2vneg.objectives.presets import PRESETS
from w2vneg.run.folder import run_as_toml
from w2vneg.run.model import Model

SMALL = ["--loss=ns", "--dim=8", "--min-count=1", "--epochs=2", "--workers=1", "--quiet"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "corpus.txt").write_text(as_text(two_topics()))
    (tmp_path / "valid.tsv").write_text("a1\ta2\t1\nb1\tb2\t2\n")
    rows = (f"u{i % 7};i{i % 11};{1 + i % 3}\n" for i in range(200))
    (tmp_path / "pairs.csv").write_text("user;item;n\n" + "".join(rows))
    return tmp_path


@pytest.fixture
def piped(monkeypatch):
    return lambda text: monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))


def train(run_cli, *arguments):
    result = run_cli("train", *arguments)
    assert result.code == 0, result.err
    return result


@pytest.mark.parametrize(
    "flags",
    [
        "--corpus corpus.txt --window=3 --subsample=0.01",
        "--corpus corpus.txt --valid valid.tsv --metric nll --eval-every .5 --patience 2",
        "--pairs pairs.csv --delimiter ; --header",
    ],
)
def test_a_run_repeats_to_the_bit_from_another_folder(folder, run_cli, monkeypatch, flags):
    train(run_cli, *SMALL, *flags.split(), "--save-model=one")
    (folder / "elsewhere").mkdir()
    monkeypatch.chdir(folder / "elsewhere")
    train(run_cli, "--config=../one/run.toml", "--save-model=two")
    one, two = Model.load("../one"), Model.load("two")
    assert all(np.array_equal(matrix, two.matrices()[name]) for name, matrix in one.matrices().items())
    assert (one.config, one.origin) == (two.config, two.origin)
    assert Path("../one/run.toml").read_text() == Path("two/run.toml").read_text()
    train(run_cli, "--config=../one/run.toml", "--seed=2", "--save-model=three")
    assert not np.array_equal(one.vectors_in, Model.load("three").vectors_in)  # the command line wins


def test_rows_that_it_began_with_and_a_vocabulary_that_was_fixed_are_named(folder, run_cli):
    train(run_cli, *SMALL, "--corpus=corpus.txt", "--save-model=first")
    whole = ["--subsample=0", "--save-model=one"]
    Path("words.tsv").write_text("a1\t3\na2\t2\nb1\t2\nunseen\t1\n")
    train(run_cli, *SMALL, "--corpus=corpus.txt", "--init=first", "--freeze", "--vocab=words.tsv", *whole)
    Path("words.tsv").unlink()  # the model folder has it
    train(run_cli, "--config=one/run.toml", "--save-model=two")
    one, two = Model.load("one"), Model.load("two")
    assert two.vocab.words == one.vocab.words and np.array_equal(one.vectors_in, two.vectors_in)
    assert two.origin.begun == {"init": str(folder / "first"), "freeze": True}


def test_the_vocabulary_of_a_folder_that_moved_or_is_portable_lies_beside_its_file(folder, run_cli):
    """Not in the current folder; a file that is named and there is taken as it is named."""
    Path("words.tsv").write_text("a1\t3\na2\t2\nb1\t2\n")
    train(run_cli, *SMALL, "--corpus=corpus.txt", "--subsample=0", "--vocab=words.tsv", "--save-model=one")
    assert run_cli("export", "one", "bare", "--portable").code == 0
    Path("one").rename("moved")
    Path("vocab.tsv").write_text("b2\t1\nb3\t1\n")
    for place in ("moved", "bare"):
        train(run_cli, f"--config={place}/run.toml", "--save-model=again", "--force")
        assert np.array_equal(Model.load("again").vectors_in, Model.load("moved").vectors_in)
    toml = Path("moved/run.toml")
    toml.write_text(toml.read_text().replace(f"{folder / 'one'}", f"{folder}"))
    train(run_cli, "--config=moved/run.toml", "--save-model=again", "--force")
    assert list(Model.load("again").vocab.words) == ["b2", "b3"]


def test_what_a_file_cannot_say_stands_in_it_as_a_sentence(folder):
    word2vec = Word2Vec(loss="ns", dim=8, epochs=2, min_count=1, workers=1, subsample=0)
    word2vec.fit([["a", "b", "c"], ["b", "c", "d"]] * 20)
    text = run_as_toml(word2vec.model, "m")
    assert "# Its data were not files: here they come from standard input." in text and 'corpus = ["-"]' in text
    word2vec.fit([["a", "b", "c"], ["b", "c", "d"]] * 20, update=True)
    assert 'update = ""' in run_as_toml(word2vec.model, "m") and "update =" not in text


@pytest.mark.parametrize(
    "command",
    [
        "train --config grown/run.toml --save-model=again",
        "train --config grown/run.toml --init first --corpus corpus.txt --save-model=again",
        "tune --config grown/run.toml --valid valid.tsv --grid alpha=0.1,0.2 --out=again",
        "compare first grown --valid valid.tsv --out=again",
    ],
)
def test_the_file_of_an_update_is_refused_with_the_command_that_repeats_it(folder, run_cli, command):
    """It would train from scratch, with the alpha of the update."""
    train(run_cli, *SMALL, "--corpus=corpus.txt", "--save-model=first")
    Path("newer text.txt").write_text(Path("corpus.txt").read_text()[:2000])
    train(run_cli, "--update=first", "--corpus=newer text.txt", "--save-model=grown", "--quiet")
    result = run_cli(*command.split(), "--quiet")
    newer = folder / "newer text.txt"
    again = f"w2vneg train --update {folder / 'first'} --corpus '{newer}' --save-model DIR"
    assert result.code == 1 and f"grown/run.toml: this run updated {folder / 'first'}" in result.err, result.err
    assert f"type {again}, with the same options, or leave update out of the file" in result.err
    assert not Path("again").exists()
    if command.startswith("train"):
        train(run_cli, *shlex.split(again.replace("DIR", "again"))[2:], "--quiet")
        grown, again = Model.load("grown"), Model.load("again")
        assert np.array_equal(grown.vectors_in, again.vectors_in) and grown.origin.begun == again.origin.begun
        assert run_cli("warmup", "--config=grown/run.toml", "--quiet").code == 0


def test_a_run_on_standard_input_is_repeated_on_standard_input(folder, run_cli, piped):
    """With all that says how it is read; never on the built-in corpus."""
    text = Path("corpus.txt").read_text().replace("a1", "a1,").replace("b2", "<b>b2</b>")
    Path("raw.txt").write_text(text)
    reading = "--tokenizer=words", "--strip=markup"
    piped(text)
    train(run_cli, *SMALL, "--corpus=-", *reading, "--subsample=0", "--save-model=one")
    piped(text)
    train(run_cli, "--config=one/run.toml", "--save-model=two")
    one, two = Model.load("one"), Model.load("two")
    assert two.vocab.words == one.vocab.words and np.array_equal(one.vectors_in, two.vectors_in)
    train(run_cli, "--config=one/run.toml", "--corpus=raw.txt", "--save-model=four")  # the same kind, read alike
    assert np.array_equal(one.vectors_in, Model.load("four").vectors_in)
    piped("")
    found = run_cli("train", "--config=one/run.toml", "--save-model=three")
    assert found.code == 1 and "built-in" not in found.err, found.err
    piped(text)
    tuned = run_cli("tune", *SMALL, "--corpus=-", *reading, "--valid=valid.tsv", "--grid=alpha=0.02", "--out=search")
    assert tuned.code == 0, tuned.err
    best = Path("search/best.toml").read_text()
    assert 'corpus = ["-"]' in best and 'strip = "markup"' in best


def test_a_file_may_name_all_of_a_run_and_the_command_line_wins(folder, run_cli):
    run = {"corpus": "corpus.txt", "output": "mine.txt", "save-model": "m", "loss": "ns", "dim": 8, "epochs": 2}
    Path("run.toml").write_text(to_toml(run | {"min-count": 1, "workers": 1}))
    train(run_cli, "--config=run.toml", "--quiet")
    assert Path("mine.txt").exists() and len(Model.load("m").vocab) == 40
    train(run_cli, "--config=run.toml", "--quiet", "--output=other.txt", "--save-model=n")
    train(run_cli, "--config=run.toml", "--quiet", "--pairs=pairs.csv", "--delimiter=;", "--force")
    assert Model.load("m").origin.input["kind"] == "pairs"
    assert run_cli("warmup", "--config=run.toml", "--quiet").code == 0  # takes what means something to it


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("corpus = []", "corpus: the list is empty; name something for --corpus, or leave it out"),
        ("baskets = []", "baskets: the list is empty; name something for --baskets"),
        ("corpus = 3", "corpus: 3 is not what --corpus takes"),
        ("corpus = 'corpus.txt'\noutput = ['a']", "output: ['a'] is not what --output takes"),
        ("corpus = 'corpus.txt'\nfreeze = 'yes'", "freeze: 'yes' is not what --freeze takes"),
        ("corpus = 'corpus.txt'\neval-every = 'often'", "eval_every: 'often' is not what --eval-every takes"),
        ("corpus = 'corpus.txt'\nmetric = 'mpr'\npatience = inf", "patience: inf is not what --patience takes"),
        ("corpus = 'corpus.txt'\npatience = 2.5", "patience: 2.5 is not what --patience takes"),
        ("ratings = 'pairs.csv'\nmax-history = -inf", "max_history: -inf is not what --max-history takes"),
        (
            "corpus = 'corpus.txt'\npatience = [1, 2]",
            "patience: [1, 2] is not what --patience takes: a whole number, one",
        ),
        ("corpus = 'corpus.txt'\nmetric = [1]", "metric: [1] is not what --metric takes: text, or several in a list"),
        ("epochs = [1, 2]", "epochs is one whole number, not [1, 2]; 'w2vneg tune --grid' tries several"),
        ("alpha = [0.1]", "alpha is one number, not [0.1]"),
        ("seeds = [1, 2]", "unknown option 'seeds'; a run has one seed, a whole number; for several give --seeds N"),
        ("corpis = 'corpus.txt'", "unknown option 'corpis'"),
    ],
)
def test_what_a_file_should_not_say_is_one_message_with_its_name(folder, run_cli, text, message):
    Path("run.toml").write_text(text)
    result = run_cli("train", "--config=run.toml", *SMALL)
    assert (result.code, result.out) == (1, "")
    assert f"run.toml: {message}" in result.err and "Traceback" not in result.err


@pytest.mark.skipif(not os.path.exists("/dev/fd/0"), reason="no /dev/fd on this system")
@pytest.mark.parametrize(
    "command",
    ["train --config={}", "tune --config={} --grid=alpha=0.1 --metric=men --out=o", "compare {} {} --out=o"],
)
def test_a_file_of_options_that_can_be_read_once_is_refused(folder, run_cli, command):
    """Whoever reads it again finds nothing there, and would train something else."""
    reading, writing = os.pipe()
    os.write(writing, b"corpus = 'corpus.txt'\ndim = 8\n")
    os.close(writing)
    result = run_cli(*command.format(*[f"/dev/fd/{reading}"] * 2).split(), "--quiet")
    os.close(reading)
    assert result.code == 1 and "cannot be read twice; copy it to a file" in result.err
    assert sorted(os.listdir()) == ["corpus.txt", "pairs.csv", "valid.tsv"]


def test_the_options_of_every_preset_come_about_again_from_what_is_written():
    """Of a resolved configuration: nothing of it is refused, and nothing else is chosen."""
    tried = 0
    for name in PRESETS:
        for source in ("text", "baskets", "pairs"):
            for inputs in ("row", "window", "subwords"):
                try:
                    resolved = TrainConfig(loss=name, inputs=inputs, source=source, workers=1).resolved()
                except W2vnegError:
                    continue  # the data or the loss have no such inputs
                values = resolved.as_dict()
                names = [item.name for item in options_of_users()]
                given = {key: values[key] for key in names if values[key] is not None} | {"loss": resolved.preset}
                again = dataclasses.replace(TrainConfig.from_mapping(given), source=source).resolved()
                assert again == resolved, (name, source, inputs)
                tried += 1
    assert tried > 2 * len(PRESETS)
