"""What is doubtful of a run that is over is said: a loss that has not fallen, things of which most occur once."""

import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from planted import as_text, two_topics
from scipy.sparse import csr_matrix

from w2vneg import Input, TrainConfig, Validate, Vocabulary, Word2Vec
from w2vneg.run.conductor import doubts_of


def trainer(losses=(1.0,), at_init=2.0, pairs=10_000, counts=(2,) * 100, source="baskets", min_count=1, **more):
    """What `doubts_of` looks at of a trainer."""
    history = [{"event": "Validated"}] + [
        {"event": "EpochDone", "loss": loss, "untrained": at_init, "pairs": pairs} for loss in losses
    ]
    vocab = Vocabulary([f"w{n:04}" for n in range(len(counts))], sorted(counts, reverse=True))
    position = SimpleNamespace(alpha_factor=more.get("alpha_factor", 1.0))
    model = SimpleNamespace(history=history, vocab=vocab, vocab_out=more.get("vocab_out", vocab), position=position)
    config = TrainConfig(source=source, min_count=min_count, alpha=0.05)
    corpus = SimpleNamespace(matrix=csr_matrix(np.array([[more.get("weight", 1.0)]])))
    return SimpleNamespace(model=model, config=config, corpus=corpus, validation=None)


@pytest.mark.parametrize(
    ("losses", "at_init", "pairs", "doubtful"),
    [
        ((1.99,), 2.0, 10_000, True),
        ((1.97,), 2.0, 10_000, False),
        ((1.999,), 2.0, 9_999, False),  # hardly begun
        ((1.999, 1.998), 2.0, 5_000, True),
        ((2.1,), 2.0, 10_000, True),
        ((1.0, 1.0, 1.0), 2.0, 10_000, False),  # a run that goes on, or begins with vectors
        ((0.0,), 0.0, 10_000, False),
        ((2.2, 1.99), 2.0, 10_000, False),
    ],
)
def test_a_loss_that_has_hardly_fallen(losses, at_init, pairs, doubtful):
    found = doubts_of(trainer(losses, at_init, pairs))
    assert [one.startswith("the loss has hardly fallen") for one in found] == [True] * doubtful


SMALL = {"dim": 4, "epochs": 1, "workers": 1, "seed": 1}


def letters(length=2, n_sentences=6000):
    """Sentences of five letters of one kind or five of another, by turns."""
    rng = np.random.default_rng(5)
    return [["pqrPQstuST"[i + 5 * (n % 2)] for i in rng.integers(0, 5, length)] for n in range(n_sentences)]


def test_subsampling_that_leaves_hardly_a_pair_is_told():
    """However few they are: of ten words each is far above the frequency from which on they are left out."""
    with pytest.warns(UserWarning, match=r"^subsampling left \d\d pairs of 12,000 tokens; give --subsample 0$"):
        Word2Vec(**SMALL).fit(letters(), progress=False)


def test_few_words_for_the_negatives_are_no_reason_to_doubt(recwarn):
    """The positive is among the draws, so that the loss stays where it was though words of a kind are found."""
    word2vec = Word2Vec(**SMALL | {"dim": 16, "epochs": 8}, subsample=0)
    vectors = word2vec.fit(letters(3), progress=False)
    epochs = [record for record in word2vec.model.history if record["event"] == "EpochDone"]
    assert epochs[-1]["loss"] > 0.99 * epochs[-1]["untrained"] and not recwarn.list
    for word in vectors.words:
        assert all((other in "pqrPQ") == (word in "pqrPQ") for other, _ in vectors.most_similar(word, k=4))


@pytest.mark.parametrize(("losses", "doubtful"), [((14.0,), True), ((9.0, 2.2), True), ((9.0, 1.9), False)])
def test_a_run_that_has_diverged_wants_a_lower_rate(losses, doubtful):
    found = doubts_of(trainer(losses, alpha_factor=0.25))
    assert [one.startswith("training diverged") and "give an --alpha below 0.0" in one for one in found] == [
        True
    ] * doubtful


ONCE, TWICE = (1,) * 51 + (2,) * 49, (1,) * 50 + (2,) * 50


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"counts": ONCE}, ["51 of 100 items occur once"]),
        ({"counts": TWICE}, []),
        ({"counts": ONCE[1:] + ONCE[:1], "source": "pairs"}, ["51 of 100 items occur once"]),
        ({"counts": ONCE, "source": "pairs", "weight": 0.25}, []),
        ({"counts": (1,) * 99}, []),  # too few to tell
        ({"counts": ONCE, "source": "text"}, ["51 of 100 words occur once"]),
        ({"counts": ONCE, "source": "text", "min_count": 2}, []),
        ({"counts": ONCE, "source": "graph"}, []),
        ({"counts": TWICE, "source": "pairs", "vocab_out": trainer(counts=ONCE).model.vocab},
         ["51 of 100 targets occur once"]),
        ({"counts": ONCE, "losses": ()}, []),
    ],
)  # fmt: skip
def test_things_of_which_most_occur_once(given, said):
    found = doubts_of(trainer(**given))
    assert len(found) == len(said) and all(one.startswith(start) for one, start in zip(found, said, strict=True))


def test_fit_warns_of_a_log_of_row_numbers():
    rows = [(f"row{n}", f"item{n % 7}") for n in range(150)]
    with pytest.warns(UserWarning, match=r"150 of 150 centres occur once"):
        Word2Vec(**SMALL).fit(Input("pairs", rows, rectangular=True), progress=False)


def test_train_says_so_and_ends_well(tmp_path, run_cli):
    generator = np.random.default_rng(1)
    file = tmp_path / "noise.txt"
    file.write_text("".join(" ".join(f"i{n}" for n in row) + "\n" for row in generator.integers(0, 60, (600, 6))))
    flags = ["--dim=4", "--epochs=1", "--workers=1", "--seed=1", "--output", str(tmp_path / "v.txt")]
    result = run_cli("train", "--baskets", str(file), *flags, "--quiet")
    said = [line for line in result.err.splitlines() if line.startswith("Warning: the loss has hardly fallen")]
    assert result.code == 0 and len(said) == 1 and (tmp_path / "v.txt").exists()
    (tmp_path / "topics.txt").write_text(as_text(two_topics()))
    result = run_cli("train", "--corpus", str(tmp_path / "topics.txt"), *flags, "--force", "--subsample=0")
    assert result.code == 0 and "Warning" not in result.err


def test_a_model_that_popularity_beats_is_told():
    """Everybody has the first items, and nothing else is to be learnt."""
    rng = np.random.default_rng(1)
    shares = 1 / np.arange(1, 41) ** 1.5
    rows = [(f"u{u}", f"i{i}") for u in range(120) for i in rng.choice(40, 8, replace=False, p=shares / shares.sum())]
    train, valid = rows[::2] + rows[1::4], rows[3::4]
    word2vec = Word2Vec(loss="us", dim=4, epochs=1, alpha=0.001, workers=1)
    data = Input("pairs", train, rectangular=True)
    with pytest.warns(UserWarning, match=r"on held-out pairs this model is not better than popularity alone \(ndcg@10"):
        word2vec.fit(data, valid=Validate(valid, metric="ndcg@10"))


def test_histories_that_are_too_short_to_learn_from_are_advised_a_stronger_penalty():
    """With items drawn by popularity alone `top-n` learns each user by heart; with the advice it does not."""
    rng, shares = np.random.default_rng(2), 1 / np.arange(1, 201)
    draw = lambda: rng.choice(200, 6, replace=False, p=shares / shares.sum())  # noqa: E731
    rows = [(f"u{u}", f"i{i}") for u in range(1500) for i in draw()]
    train, valid = [row for k, row in enumerate(rows) if k % 6], rows[::6]
    valid = [row for row in valid if row[1] in {item for _, item in train}]
    data, held_out = Input("pairs", train, rectangular=True), Validate(valid, metric="ndcg@10", every=200)
    by_heart, advised = (Word2Vec(loss="top-n", dim=32, workers=1, **l2) for l2 in ({"l2": "1,1.1"}, {"l2": "2,2.2"}))
    with pytest.warns(UserWarning, match="popularity alone .*; give --l2 2,2.2 if histories are short"):
        by_heart.fit(data, valid=held_out)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it is nearly as good as popularity, and not better
        advised.fit(data, valid=held_out)
    found, better = (word2vec.model.best.figures["ndcg@10"] for word2vec in (by_heart, advised))
    assert better > 1.3 * found


@pytest.mark.parametrize("data", ["--pairs=train.tsv --rectangular", "--pairs=train.tsv", "--edges=train.tsv"])
def test_slim_is_advised_where_it_reads_the_data(tmp_path, monkeypatch, run_cli, data):
    """Of a graph it does not, nor of items of one kind.

    A model trained on a ring is worse than popularity on edges to a hub.
    """
    monkeypatch.chdir(tmp_path)
    ring = [(f"n{i}", f"n{(i + step) % 20}") for i in range(20) for step in (1, 2)]
    (tmp_path / "train.tsv").write_text(
        "".join(f"{a}\t{b}\n" for a, b in [*ring, *[("n0", f"n{i}") for i in range(9)]])
    )
    (tmp_path / "test.tsv").write_text("".join(f"n{i}\tn0\n" for i in range(9, 17)))
    flags = ["--dim=4", "--epochs=1", "--workers=1", "--alpha=0.0001", "--save-model=model", "--quiet"]
    assert run_cli("train", *data.split(), *flags).code == 0
    said = run_cli("eval", "ranking", "model", "test.tsv", "--bootstrap=0").out
    assert (
        " popularity: NDCG@10" in said
        and "Warning: " in said
        and ("'w2vneg slim'" in said) == ("--rectangular" in data)
    )
