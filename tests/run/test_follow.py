"""What follows a run of `fit`: the log, and a bar in a notebook; and corpora that are mistaken for sentences."""

import logging
import sys
from types import SimpleNamespace

import pytest

from w2vneg import Word2Vec
from w2vneg.ground.errors import ConfigError, InputError
from w2vneg.ground.events import Compiled, Compiling, EpochDone, RolledBack, RoundDone

SENTENCES = [["a", "b", "c"], ["b", "c", "d"]] * 20


def word2vec():
    return Word2Vec(loss="ns", dim=8, epochs=2, subsample=0, min_count=1, workers=1)


class Bar:
    """Stands for tqdm: remembers what it was told."""

    def __init__(self, total=None, desc="", **options):
        self.total, self.desc, self.n, self.closed, self.postfix = total, desc, 0, False, ""

    def update(self, more):
        assert not self.closed and more >= 0
        self.n += more

    def set_postfix_str(self, text, refresh=True):
        self.postfix = text

    def close(self):
        self.closed = True


@pytest.fixture
def bars(monkeypatch):
    made = []

    def make(**options):
        made.append(Bar(**options))
        return made[-1]

    monkeypatch.setattr("tqdm.auto.tqdm", make)
    return made


@pytest.fixture
def notebook(monkeypatch):
    shell = SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "text"
    path.write_text("".join(" ".join(words) + "\n" for words in SENTENCES))
    return path


def test_a_notebook_shows_bars_of_reading_and_of_training(notebook, bars, text):
    word2vec().fit(text)
    assert [bar.desc for bar in bars] == ["reading", "training"]
    assert bars[0].n == bars[0].total == text.stat().st_size
    assert bars[1].n == pytest.approx(1.0) and bars[1].postfix.startswith("epoch 2, loss ")
    assert all(bar.closed for bar in bars)


def test_no_bar_where_nobody_looks_or_wants_one(bars, text, monkeypatch):
    word2vec().fit(text)
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: None))
    word2vec().fit(text)
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=1)))
    word2vec().fit(text, progress=False)
    heard = []
    word2vec().fit(text, progress=lambda done, total: heard.append(done))
    assert not bars


def test_a_bar_is_shown_anywhere_if_asked_for_and_closed_after_a_failure(bars):
    def stop(event):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        word2vec().fit(SENTENCES, progress=True, listeners=[stop])
    assert [bar.desc for bar in bars] == ["training"] and bars[0].closed


def test_the_real_bar_writes_what_it_should(capsys):
    word2vec().fit(SENTENCES, progress=True)
    shown = capsys.readouterr().err
    assert "training 100%" in shown and "epoch 2, loss" in shown


def test_the_log_has_the_events(caplog):
    heard = []
    with caplog.at_level(logging.DEBUG, "w2vneg"):
        word2vec().fit(SENTENCES, listeners=[heard.append])
    records = [record for record in caplog.records if record.name == "w2vneg"]
    records = [record for record in records if not isinstance(record.event, Compiling | Compiled)]
    assert [record.event for record in records] == heard
    levels = {type(record.event): record.levelno for record in records}
    assert levels == {RoundDone: logging.DEBUG, EpochDone: logging.INFO}
    ended = next(record.getMessage() for record in records if isinstance(record.event, EpochDone))
    assert ended.startswith("EpochDone: epoch 1, epochs 2, tokens 120, ")


def test_setbacks_are_warnings(caplog):
    from w2vneg.run.follow import log

    log(RolledBack(2, 0.25, 0.5))
    assert [(record.levelname, record.getMessage()) for record in caplog.records] == [
        ("WARNING", "RolledBack: epoch 2, fraction 0.25, alpha_factor 0.5")
    ]


def test_nothing_is_written_where_no_log_is_set_up(capfd):
    word2vec().fit(SENTENCES)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("corpus", "message"),
    [
        (["the cat sat", "how are you?"], r"'the cat sat' is not one; give lists of words: \[line\.split\(\)"),
        (["the", "cat"], "give lists of words"),
        (
            [("ann", "book"), ("bob", "lamp")],
            r"\('ann', 'book'\) looks like a pair.*Input\('pairs', PAIRS, rectangular=True\)",
        ),
        ([(1, 2), (3, 4)], "looks like a pair"),
        ([("ann", "book", 2.0)], "looks like a pair"),
        ((("ann", "book"), ("bob", "lamp")), "looks like a pair"),
        ((line for line in ["the cat sat"]), r"sentence 1 is a str; give a list of tokens \(\.split\(\)"),
    ],
)
def test_what_is_mistaken_for_sentences_is_answered(corpus, message):
    with pytest.raises(InputError, match=message):
        word2vec().fit(corpus)


def test_a_spent_generator_is_answered():
    sentences = (words for words in SENTENCES)
    word2vec().fit(sentences)
    with pytest.raises(InputError, match="a generator can be read only once: create one for each fit, or give a list"):
        word2vec().fit(sentences)


def test_sentences_of_two_words_are_sentences(text, tmp_path):
    assert len(word2vec().fit([["a", "b"], ["b", "c"]] * 9)) == 3
    assert len(word2vec().fit([("a", "b"), ("b", "c", "d")] * 9)) == 4
    assert len(word2vec().fit([("a", "b", "c")] * 9)) == 3
    (tmp_path / "more").write_text("a b\n" * 9)
    assert len(word2vec().fit([str(text), str(tmp_path / "mo*")])) == 4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"progress": "yes"}, "progress must be True, False, None or a function, not 'yes'"),
        ({"listeners": print}, r"listeners must be a list of callables taking an event: fit\(…, listeners=\[print\]\)"),
        ({"listeners": ["csv"]}, "listeners must be a list of callables"),
        ({"checkpoints": True}, "checkpoints must be the folder to save to, not True"),
    ],
)
def test_followers_that_are_none_are_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        word2vec().fit(SENTENCES, **options)
