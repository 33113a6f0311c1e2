"""Held-out likelihood: against a double loop, at its closed-form ends, and from the command line."""

import json
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy.special import logsumexp

from w2vneg import Input, Word2Vec
from w2vneg.data.encoded import encode_corpus
from w2vneg.ground.errors import InputError
from w2vneg.kernels.cooccurrence import pair_counts
from w2vneg.vectors.evaluation import LogitScores, likelihood
from w2vneg.vectors.evaluation.likelihood import evaluate_likelihood

SENTENCES = [["a", "b", "a", "c"], ["c", "b"], ["a"], ["d", "d", "a", "b", "c"]]


def loop_pairs(sentences, window):
    for sentence in sentences:
        for p, centre in enumerate(sentence):
            for q, context in enumerate(sentence):
                if p != q and abs(p - q) <= window:
                    yield centre, context


@pytest.mark.parametrize("window", [1, 2, 9])
def test_pairs_equal_the_double_loop(window):
    corpus = encode_corpus(SENTENCES, min_count=1)
    counts = pair_counts(corpus.ids, corpus.offsets, len(corpus.vocab), window).tocoo()
    words = corpus.vocab.words
    found = {(words[i], words[j]): n for i, j, n in zip(counts.row, counts.col, counts.data, strict=True)}
    expected = {}
    for pair in loop_pairs(SENTENCES, window):
        expected[pair] = expected.get(pair, 0) + 1
    assert found == expected


@pytest.mark.parametrize("held_at_a_time", [1, 8, 10**6])
def test_nll_equals_the_double_loop(monkeypatch, held_at_a_time):
    monkeypatch.setattr(likelihood, "_SCORES", held_at_a_time)
    corpus = encode_corpus(SENTENCES, min_count=1)
    rng = np.random.default_rng(3)
    inputs, outputs = rng.normal(size=(2, 4, 5)).astype(np.float32)
    terms = []
    for centre, context in loop_pairs(SENTENCES, 2):
        scores = outputs.astype(float) @ inputs[corpus.vocab.id(centre)]
        terms.append(logsumexp(scores) - scores[corpus.vocab.id(context)])
    result = evaluate_likelihood(LogitScores(inputs, outputs), corpus, window=2)
    assert result.nll == pytest.approx(np.mean(terms), rel=1e-5)
    assert result.perplexity == pytest.approx(np.exp(np.mean(terms)), rel=1e-4)
    assert result.pairs == len(terms)


def test_zero_vectors_know_nothing():
    corpus = encode_corpus(SENTENCES, min_count=1)
    zeros = np.zeros((4, 3), np.float32)
    result = evaluate_likelihood(LogitScores(zeros, zeros), corpus, window=5)
    assert result.nll == pytest.approx(np.log(4)) == pytest.approx(result.uniform)


def test_text_without_pairs_is_refused():
    corpus = encode_corpus([["a"], ["b"]], min_count=1)
    zeros = np.zeros((2, 3), np.float32)
    with pytest.raises(InputError, match="no pair"):
        evaluate_likelihood(LogitScores(zeros, zeros), corpus, window=5)


def test_command_scores_a_model_folder(run_cli, tmp_path):
    text = tmp_path / "heldout.txt"
    text.write_text("\n".join(" ".join(s) for s in SENTENCES) + "\n", encoding="utf-8")
    word2vec = Word2Vec(loss="relaxed", dim=8, min_count=1, epochs=2, workers=1, subsample=0)
    word2vec.fit(SENTENCES * 50)
    word2vec.save(tmp_path / "model")
    code, out, _ = run_cli("eval", "likelihood", tmp_path / "model", "--corpus", text, "--json")
    assert code == 0
    report = json.loads(out)
    assert report["pairs"] == len(list(loop_pairs(SENTENCES, 5)))
    code, out, _ = run_cli("eval", "likelihood", tmp_path / "model", "--corpus", text)
    assert code == 0 and f"{report['nll']:.4f}" in out


def test_held_out_text_is_read_as_the_model_s_own(run_cli, tmp_path, monkeypatch):
    """Its tokenizer, what was removed, and the phrases that it joined, unless options say otherwise."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text").write_text("New York, new york in 1999. <i>Old</i> york!\n" * 9)
    (tmp_path / "held").write_text("<b>new</b> York: old, in 2024. In\n")
    (tmp_path / "phrases").write_text("new york\n")
    flags = "--loss=ns", "--dim=8", "--epochs=1", "--min-count=1", "--workers=1", "--subsample=0"
    reading = "--tokenizer=words", "--strip=markup", "--numbers=digit", "--lowercase", "--phrases=phrases"
    run = run_cli("train", "--corpus=text", *flags, *reading, "--save-model=m")
    assert run.code == 0, run.err
    (tmp_path / "phrases").unlink()
    for given, tokens, unknown in (
        ((), 5, 0),  # new_york old in 0000 in
        (("--numbers=keep",), 5, 1),
        (("--numbers=drop",), 4, 0),
        (("--tokenizer=whitespace", "--strip=urls"), 6, 4),
    ):
        run = run_cli("eval", "likelihood", "m", "--corpus=held", "--json", *given)
        assert run.code == 0, run.err
        found = json.loads(run.out)
        assert (found["tokens"], found["unknown"]) == (tokens, unknown)
    assert "; 1 of 5 tokens are unknown" in run_cli("eval", "likelihood", "m", "--corpus=held", "--numbers=keep").out


def test_held_out_text_may_have_another_encoding(run_cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = "für die und die größte Straße\n"
    (tmp_path / "text").write_bytes(text.encode("latin-1") * 20)
    flags = "--dim=4", "--epochs=1", "--min-count=1", "--subsample=0", "--workers=1", "--encoding=latin-1"
    run_cli("train", "--corpus=text", *flags, "--save-model=m")
    (tmp_path / "utf-8").write_text(text, encoding="utf-8")
    scored = "eval", "likelihood", "m", "--json", "--corpus"
    assert json.loads(run_cli(*scored, "text").out)["unknown"] == 0
    run = run_cli(*scored, "utf-8")
    assert json.loads(run.out)["unknown"] == 3
    assert "utf-8:1: " in run.err and "it looks like utf-8: give --encoding utf-8" in run.err
    assert json.loads(run_cli(*scored, "utf-8", "--encoding", "utf-8").out)["unknown"] == 0


def test_of_a_model_of_a_table_held_out_text_is_one_too(run_cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = pd.DataFrame({"n": 1, "text": [" ".join(s) for s in SENTENCES]})
    word2vec = Word2Vec(loss="ns", dim=8, min_count=1, epochs=1, workers=1, subsample=0)
    word2vec.fit(Input("corpus", rows, text_col="text"))
    word2vec.save("m")
    rows.to_csv("held.csv", index=False)
    (tmp_path / "held").write_text("\n".join(rows["text"]) + "\n")
    found = [
        json.loads(run_cli("eval", "likelihood", "m", "--json", "--corpus", *args).out)
        for args in (("held.csv",), ("held", "--text-col=none"))
    ]
    assert found[0] == found[1] and found[0]["tokens"] == 12
    assert "--text-col none" in run_cli("eval", "likelihood", "m", "--corpus", "held").err


def test_of_an_ordered_model_the_words_that_follow_count(run_cli, tmp_path):
    text = tmp_path / "heldout.txt"
    text.write_text("\n".join(" ".join(s) for s in SENTENCES) + "\n", encoding="utf-8")
    word2vec = Word2Vec(loss="relaxed", dim=8, min_count=1, epochs=1, workers=1, subsample=0, ordered=True, window=1)
    word2vec.fit(SENTENCES * 50)
    word2vec.save(tmp_path / "model")
    report = json.loads(run_cli("eval", "likelihood", tmp_path / "model", "--corpus", text, "--json").out)
    assert report["pairs"] == sum(len(sentence) - 1 for sentence in SENTENCES)
    score, vocab = LogitScores(word2vec.model.vectors_in, word2vec.model.vectors_out), word2vec.model.vocab
    scores = score(np.arange(4)).astype(float)
    following = [(vocab.id(a), vocab.id(b)) for one in SENTENCES for a, b in pairwise(one)]
    assert report["nll"] == pytest.approx(
        np.mean([logsumexp(scores[a]) - scores[a, b] for a, b in following]), rel=1e-5
    )
    table = tmp_path / "heldout.csv"
    table.write_text(
        "number,text\n" + "".join(f"{i},{' '.join(s)}\n" for i, s in enumerate(SENTENCES)), encoding="utf-8"
    )
    asked = "eval", "likelihood", tmp_path / "model", "--json", "--corpus", table
    code, _, err = run_cli(*asked)
    assert code == 1 and "--text-col text (give --plain to read it as it is)" in err
    assert json.loads(run_cli(*asked, "--text-col", "text").out) == report
    assert json.loads(run_cli(*asked, "--plain", "--tokenizer", "words").out)["pairs"] == report["pairs"]
    code, _, err = run_cli("eval", "likelihood", tmp_path / "nowhere", "--corpus", text)
    assert code == 1 and "no such model folder" in err
