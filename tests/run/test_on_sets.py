"""Runs evaluated by a word set: the figures are those of `w2vneg eval`, and the best state is kept."""

import json
from pathlib import Path

import numpy as np
import pytest

from w2vneg import Input, Validate, Vectors, Word2Vec
from w2vneg.data import catalog
from w2vneg.ground.errors import ConfigError, InputError
from w2vneg.ground.events import BestRestored, Validated
from w2vneg.run.validation import Metric, SetValidation
from w2vneg.vectors.evaluation import read_pairs, read_questions

pytest.importorskip("gensim", reason="gensim brings ws353 and google")
SMALL = ["--loss=ns", "--dim=8", "--min-count=1", "--workers=1", "--subsample=0"]


@pytest.fixture
def text(tmp_path, monkeypatch):
    """Sentences of words of ws353 and google, drawn so that halves of the words keep to themselves."""
    monkeypatch.chdir(tmp_path)
    words = {word for pair in read_pairs(catalog.resolve("ws353"))[:60] for word in pair[:2]}
    _, questions = read_questions(catalog.resolve("google"))[0]
    words |= {word for four in questions[:40] for word in four}
    halves = np.array_split(np.array(sorted(words)), 2)
    rng = np.random.default_rng(1)
    lines = [" ".join(rng.choice(halves[n % 2], 12)) for n in range(400)]
    Path("text").write_text("\n".join(lines) + "\n")
    return Path("text")


@pytest.mark.parametrize("metric", ["ws353", "google-dev"])
@pytest.mark.parametrize("readout", ["in", "context"])
def test_figures_are_those_of_the_vectors_at_that_time(text, metric, readout):
    word2vec = Word2Vec(loss="ns", dim=8, min_count=1, workers=1, subsample=0, epochs=3, readout=readout)
    encoded = word2vec.encode(str(text))
    heard = []
    trainer = word2vec.trainer(encoded, [heard.append], validation=SetValidation(encoded, metric=metric))
    word2vec.model = trainer.train()
    figures = [event.figures[metric] for event in heard if isinstance(event, Validated)]
    (restored,) = (event for event in heard if isinstance(event, BestRestored))
    assert len(figures) == 3 and len(set(figures)) > 1
    vectors = word2vec.vectors
    if metric == "ws353":
        expected = vectors.evaluate_similarity("ws353").spearman
    else:
        expected = vectors.evaluate_analogy("google", half="dev").overall.precision[1]
    assert restored.best[metric] == max(figures) == pytest.approx(expected, abs=1e-12)


def test_fit_is_evaluated_by_a_set_without_pairs(text):
    word2vec = Word2Vec(loss="ns", dim=8, min_count=1, workers=1, subsample=0, epochs=2)
    vectors = word2vec.fit(str(text), valid=Validate(metric="google-dev", every=0.5))
    best = word2vec.model.best
    assert best.finished and best.last_epoch == 2 and best.settings["metric"] == "google-dev"
    found = vectors.evaluate_analogy("google", half="dev").overall.precision[1]
    assert best.figures["google-dev"] == pytest.approx(found, abs=1e-12)
    with pytest.raises(ConfigError, match="ws353 is a word set, but these are items"):
        Word2Vec(dim=4).fit(Input("pairs", [("a", "b")] * 9), valid=Validate(metric="ws353"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pairs": "held.tsv", "metric": "WS353"}, r"ws353 is a word set, .*: Validate\(metric='ws353'\)"),
        ({"metric": "men", "exclude_known": "held.tsv"}, "men is a word set"),
        ({"metric": "men", "score": "corrected"}, "men is a word set"),
        ({}, r"mpr is a metric of held-out pairs, and there are none; give them: Validate\(pairs\)"),
        ({"metric": "ndcg@15"}, "ndcg@15 is a metric of held-out pairs"),
    ],
)
def test_pairs_and_a_set_do_not_go_together(options, message):
    with pytest.raises(ConfigError, match=message):
        Validate(**options)


def test_the_commands_choose_by_a_set_and_warn_of_a_test_set(text, run_cli):
    tune = ["tune", "--corpus=text", *SMALL, "--epochs=1", "--grid=alpha=0.02,0.1", "--out=search"]
    result = run_cli(*tune, "--metric=ws353")
    assert result.code == 0, result.err
    assert result.err.count("ws353 is a test set") == 1 and "choose by men-dev or google-dev" in result.err
    assert "ws353 pearson" in Path("search/trials.csv").read_text()
    result = run_cli("train", "--corpus=text", *SMALL, "--epochs=2", "--metric=google-dev", "--save-model=m", "--json")
    assert result.code == 0, result.err
    assert "is a test set" not in result.err
    figure = json.loads(result.out)["validation"]["figures"]["google-dev"]
    assert Vectors.load("m").evaluate_analogy("google", half="dev").overall.precision[1] == figure
    assert run_cli("train", "--resume=m").code == 0  # it knows by what it was evaluated
    assert run_cli("train", "--config=m/run.toml", "--save-model=n", "--quiet").code == 0
    assert (Vectors.load("m").matrix == Vectors.load("n").matrix).all()


def test_what_does_not_go_together(text, run_cli, tmp_path):
    Path("held").write_text("a\tb\t1\n")
    train = ["train", "--corpus=text", *SMALL]
    result = run_cli(*train, "--metric=ws353", "--valid=held")
    assert result.code == 2 and "ws353 is a word set" in result.err and "leave --valid out" in result.err
    result = run_cli(*train, "--metric=ws535")
    assert result.code == 1 and "did you mean 'ws353'" in result.err
    result = run_cli(*train, "--metric=mpr")
    assert result.code == 2 and "name them with --valid" in result.err
    result = run_cli("train", "--pairs=held", "--metric=ws353")
    assert result.code == 1 and "these are items" in result.err
    Path("strange").write_text("xx yy zz\n" * 20)
    result = run_cli("train", "--corpus=strange", *SMALL, "--metric=ws353")  # told before training
    assert result.code == 1 and "pairs have vectors for both words" in result.err and "epoch" not in result.err


def test_which_sets_are_for_choices():
    chosen = {name: Metric(name).for_choices for name in ("men-dev", "google-dev", "ws353", "google-test", "men")}
    assert chosen == {"men-dev": True, "google-dev": True, "ws353": False, "google-test": False, "men": False}
    assert (Metric.parse("MEN-dev").name, Metric.parse("google-dev").sign) == ("men-dev", 1)
    with pytest.raises(ConfigError, match="for words men, men-dev"):
        Metric.parse("accuracy")


def test_a_set_whose_words_are_unknown_is_refused_at_once():
    encoded = Word2Vec(min_count=1).encode([["xx", "yy"]] * 9)
    with pytest.raises(InputError, match="none of the"):
        SetValidation(encoded, metric="google-test")
