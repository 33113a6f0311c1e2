"""The study of words by CIS: what is counted and shown, and that it runs in small."""

import math

import numpy as np
import pytest

from studies import STUDIES, cis_words
from studies.cis_words import Pairs, analogies, neighbours
from studies.kernel_task import Scale, make_task, sentences_of
from studies.memo import Memo
from w2vneg.data.vocab import Vocabulary

_WORDS = ("king", "queen", "man", "woman", "run")
_MATRIX = [[1.0, 1.0, 0.0], [1.0, -1.0, 0.0], [0.0, 1.0, 0.2], [0.0, -1.0, 0.2], [0.1, 0.0, 1.0]]


@pytest.fixture
def vectors():
    return cis_words._vectors(Vocabulary(_WORDS, [5, 4, 3, 2, 1]), _MATRIX)


def test_analogies_are_counted_by_kind(vectors, tmp_path):
    questions = tmp_path / "questions.txt"
    questions.write_text(": family\nman king woman queen\nman king woman run\n: gram1-verbs\nman king gone went\n")
    row = analogies(vectors, questions)
    assert row["semantic P@1"] == 50
    assert row["semantic P@5"] == 100  # two words are left when those of the question are out
    assert row["semantic questions"] == 2
    assert math.isnan(row["syntactic P@1"])


def test_neighbours_are_by_cosine_and_words_without_a_vector_are_named(vectors):
    found = neighbours(vectors, ("man", "gone"))
    assert found["man"].split(", ")[0] == "king"
    assert found["gone"] == "unknown"


def test_pairs_are_those_next_to_each_other_once_rare_words_are_out():
    sentences = [["a", "rare", "b"], ["a", "b", "c"]] * 4 + [["a", "b", "c"]] * 12
    task = make_task(sentences, Scale({}, 3, 30, 4, 1, window=1), 1)
    pairs = Pairs(task)
    words = list(task.train.vocab.words)
    assert words == ["a", "b", "c"]
    matrix = pairs.train.matrix.toarray()
    np.testing.assert_array_equal(matrix, matrix.T)
    assert matrix[0, 1] > 0
    assert matrix[0, 2] == matrix.trace() == 0
    assert pairs.drawn == matrix.sum()


def test_means_over_seeds():
    runs = {("cis", "MPR"): [1.0, 2.0, 3.0]}
    table = cis_words._means(runs, ("MPR",))
    assert table["MPR"][0] == "2.00 ± 2.48"
    assert cis_words._means(runs, ("MPR",), 12_000)["paper's P@1"][0] == 8.9


def test_sentences_of_a_text_without_words_that_are_not_kept(tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("a b rare\n" + "b a\n" * 30)
    whole = sentences_of(str(text), max_vocab=2)
    assert whole == [["a", "b"]] + [["b", "a"]] * 30
    assert 5 <= len(sentences_of(str(text), max_vocab=2, most=10)) <= 6


@pytest.mark.slow
def test_the_study_runs_in_small():
    told = []
    memo = Memo()
    study = STUDIES["cis-words-12k"](told.append, True, 1, memo)
    table = study.tables["table 2"].set_index("method")
    assert len(told) == len(table) == 1
    assert float(table.loc["unis", "MPR"].split()[0]) > 60
    assert len(study.tables["nearest"]["unis"][0].split(", ")) == 6
    parts = len(memo)
    again = STUDIES["cis-words-12k"](told.append, True, 1, memo)
    assert len(memo) == parts and again.tables["table 2"].equals(study.tables["table 2"])


def test_claims_name_rows_that_there_are():
    rows = set(cis_words.methods_of())
    assert {row for claim in cis_words.CLAIMS for row in (claim.better, claim.worse)} <= rows
    assert cis_words.methods_of()["cis"]["method"] == "exact"
