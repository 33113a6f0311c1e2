"""Vectors made of several rows: n-grams against fastText's numbers, whole runs, what is refused."""

import naive
import numpy as np
import pytest
from plain import in_plain_python
from planted import same_topic, two_topics

from w2vneg import Vectors, Word2Vec
from w2vneg.config import TrainConfig
from w2vneg.data.encoded import EncodedCorpus, encode_corpus
from w2vneg.data.vocab import Vocabulary
from w2vneg.data.words import PackedStrings
from w2vneg.ground.errors import ConfigError, UnknownNameError
from w2vneg.ground.events import RoundDone
from w2vneg.kernels.text.words import buckets_of
from w2vneg.objectives.inputs import INPUTS
from w2vneg.objectives.inputs.subwords import rows_of_grams
from w2vneg.objectives.presets import PRESETS
from w2vneg.run.model import Model
from w2vneg.run.trainer import Trainer

COMPOSED = [name for name in INPUTS if INPUTS[name].composes]
SMALL = {
    "dim": 8,
    "window": 3,
    "epochs": 3,
    "min_count": 1,
    "workers": 1,
    "subsample": 0,
    "alpha": 0.1,
}


WORDS = ["a", "ab", "king", "naïve", "日本語", "x" * 40, "œuvre", "\udc80odd", "don't"]


@pytest.mark.parametrize(("shortest", "longest"), [(3, 6), (1, 2), (2, 2), (5, 20), (4, 3)])
@pytest.mark.parametrize("buckets", [2_000_000, 7])
def test_n_grams_have_fasttexts_numbers(shortest, longest, buckets):
    starts, found = buckets_of(PackedStrings(WORDS), shortest, longest, buckets)
    for place, word in enumerate(WORDS):
        expected = [naive.fnv1a(gram) % buckets for gram in naive.character_grams(word, shortest, longest)]
        assert found[starts[place] : starts[place + 1]].tolist() == expected


def test_the_oracles_hash_is_fnv1a():
    assert naive.fnv1a("a") == 0xE40C292C and naive.fnv1a("foobar") == 0xBF9CF968  # of its authors' test vectors
    assert naive.character_grams("ab", 1, 3) == ["<a", "<ab", "a", "ab", "ab>", "b", "b>"]


def test_n_grams_are_gensims():
    hashes = pytest.importorskip("gensim.models.fasttext").ft_ngram_hashes
    starts, found = buckets_of(PackedStrings(WORDS[:5]), 3, 6, 2_000_000)
    for place, word in enumerate(WORDS[:5]):
        assert found[starts[place] : starts[place + 1]].tolist() == list(hashes(word, 3, 6, 2_000_000))


def test_rows_of_n_grams_are_those_in_use_frequent_ones_first():
    words = PackedStrings(["that", "what", "zoo"])
    starts, grams, used = rows_of_grams(words, np.array([5, 4, 1]), 3, 3, 1000)
    of = {gram: naive.fnv1a(gram) % 1000 for gram in ("<th", "tha", "hat", "at>", "<wh", "wha", "<zo", "zoo", "oo>")}
    assert len(set(of.values())) == len(used) == 9
    listed = [[int(used[g]) for g in grams[starts[w] : starts[w + 1]]] for w in range(3)]
    assert listed[0] == [of[g] for g in ("<th", "tha", "hat", "at>")]
    assert listed[2] == [of[g] for g in ("<zo", "zoo", "oo>")]
    often = {of[g]: n for g, n in zip(of, [5, 5, 9, 9, 4, 4, 1, 1, 1], strict=True)}
    assert [often[int(bucket)] for bucket in used] == [9, 9, 5, 5, 4, 4, 1, 1, 1]


@pytest.fixture(scope="module")
def planted():
    return encode_corpus(two_topics(), min_count=1)


def trained(corpus, **options):
    word2vec = Word2Vec(**{"loss": "ns"} | SMALL | options)
    word2vec.fit(corpus)
    return word2vec


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if "+" in name else []) for name in COMPOSED]
)
def test_planted_topics_are_recovered(planted, name):
    word2vec = trained(planted, inputs=name, epochs=5)
    assert same_topic(word2vec.vectors) >= 0.95
    ends = [record for record in word2vec.model.history if record["event"] == "EpochDone"]
    assert ends[-1]["loss"] < ends[0]["loss"] < ends[0]["untrained"]
    assert ends[0]["pairs"] == (6400 if INPUTS[name].around else ends[0]["pairs"])


EVERY = """
import json
import warnings
import numpy as np
from planted import same_topic, two_topics
from w2vneg import Word2Vec
from w2vneg.objectives.presets import PRESETS
from w2vneg.ground.errors import ConfigError

np.seterr(over="ignore")
warnings.filterwarnings("ignore", "these vectors were trained on")
corpus = two_topics(n_sentences=60, words=6, length=6)
small = {"dim": 6, "window": 3, "subsample": 0, "min_count": 1, "epochs": 5, "workers": 1, "alpha": 0.1}
for inputs in ("window", "subwords"):
    for loss in PRESETS:
        few = {"negatives": 5} if loss == "css-bernoulli" else {}
        try:
            found = same_topic(Word2Vec(loss=loss, inputs=inputs, **small, **few).fit(corpus), k=3)
        except ConfigError as error:
            found = str(error)
        print(json.dumps([inputs, loss, found]))
"""
REFUSED = {"mle", "fs", "softmax", "kernel-quadratic", "kernel-quartic"}


@pytest.mark.slow
def test_every_objective_goes_with_them_or_says_why_not():
    records = in_plain_python(EVERY)
    assert len(records) == 2 * len(PRESETS)
    refused = {"window": REFUSED | {"cis"}, "subwords": REFUSED}
    told = ("draws made ahead", "needs a single centre", "scores every word", "looks up the", "looks at single")
    for name, objective, found in records:
        if objective in refused[name]:
            assert f"--inputs {name}" in found and any(why in found for why in told), (name, objective)
        else:
            assert found >= 0.9, (name, objective)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "objective"),
    [
        ("window", "relaxed"),  # the sampler takes the dot products itself
        ("window", "css-bernoulli"),  # draws leave places empty
        ("subwords", "cis"),  # the weigher trains rows of its own
        ("subwords", "dns"),  # draws depend on the vector
    ],
)
def test_the_compiled_loop_takes_what_others_do_beside_it(planted, name, objective):
    assert same_topic(trained(planted, epochs=5, inputs=name, loss=objective).vectors) >= 0.9


@pytest.mark.parametrize(("name", "workers"), [("window", 1), ("window", 2), ("subwords", 1)])
def test_a_seed_repeats_to_the_bit(planted, name, workers):
    options = {"inputs": name, "workers": workers}
    first, second = (trained(planted, **options).model for _ in range(2))
    for one, other in zip(first.matrices().values(), second.matrices().values(), strict=True):
        assert one.tobytes() == other.tobytes()


def stopped_after(word2vec, corpus, n_rounds, **more):
    trainer, seen = word2vec.trainer(corpus, **more), []

    def stop(event):
        seen.append(event)
        if sum(isinstance(one, RoundDone) for one in seen) == n_rounds:
            trainer.stop()

    trainer.listeners.append(stop)
    trainer.train()
    assert not trainer.complete
    return trainer.model


@pytest.mark.parametrize("name", ["window", "subwords"])
@pytest.mark.parametrize("n_rounds", [1, 3])
def test_resumed_equals_uninterrupted_to_the_bit(planted, tmp_path, name, n_rounds):
    options = {"inputs": name, "epochs": 2}
    whole = trained(planted, **options).model
    stopped_after(Word2Vec(**{"loss": "ns"} | SMALL | options), planted, n_rounds).save(tmp_path / "model")
    model = Model.load(tmp_path / "model")
    Word2Vec(model.config).trainer(planted, model=model).train()
    assert whole.matrices().keys() == model.matrices().keys()
    for matrix in whole.matrices():
        assert whole.matrices()[matrix].tobytes() == model.matrices()[matrix].tobytes()


def test_vectors_of_n_grams_are_in_the_folder_for_everybody(planted, tmp_path):
    word2vec = trained(planted, inputs="subwords", minn=2, maxn=3, buckets=50)
    model = word2vec.model
    assert model.extra.keys() == {"words_in", "grams_in"} and len(model.extra["grams_in"]) < 50
    for place, word in enumerate(planted.vocab.words):
        _, found = buckets_of(PackedStrings([word]), 2, 3, 50)
        _, _, used = rows_of_grams(planted.vocab.words, planted.vocab.counts, 2, 3, 50)
        rows = [model.extra["grams_in"][np.flatnonzero(used == bucket)[0]] for bucket in found]
        mean = np.mean([model.extra["words_in"][place], *rows], axis=0)
        np.testing.assert_allclose(model.vectors_in[place], mean, atol=1e-6)
    word2vec.save(tmp_path / "model")
    read = Vectors.load(tmp_path / "model")
    np.testing.assert_array_equal(read.matrix, word2vec.vectors.matrix)


def test_private_rows_of_two_workers_are_merged(planted):
    alone = trained(planted, inputs="subwords", workers=2, private_rows=0)
    merged = trained(planted, inputs="subwords", workers=2, private_rows=40)
    assert merged.model.extra["grams_in"].tobytes() != alone.model.extra["grams_in"].tobytes()
    assert same_topic(merged.vectors) >= 0.9


@pytest.mark.slow
def test_baskets_train():
    rng = np.random.default_rng(3)
    lists = [rng.choice(np.arange(half, 40, 2), rng.integers(2, 8), replace=False) for half in (0, 1) * 300]
    offsets = np.cumsum([0, *map(len, lists)]).astype(np.int64)
    ids = np.concatenate(lists).astype(np.int32)
    ids.flags.writeable = offsets.flags.writeable = False
    vocab = Vocabulary([f"item{i:02}" for i in range(40)], np.sort(np.bincount(ids, minlength=40))[::-1])
    corpus = EncodedCorpus(ids, offsets, vocab, source="baskets")
    config = TrainConfig(source="baskets", loss="ns", inputs="window", epochs=20, dim=16, workers=1, alpha=0.1)
    unit = Trainer(corpus, config).train().vectors_in
    unit = unit / np.linalg.norm(unit, axis=1, keepdims=True)
    np.fill_diagonal(similar := unit @ unit.T, -1)
    assert (similar.argmax(axis=1) % 2 == np.arange(40) % 2).mean() >= 0.9


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"inputs": "window", "loss": "ns", "sampler": "bigram"}, "sampler 'bigram' needs a single centre"),
        ({"inputs": "window", "loss": "cis"}, "weigher 'discriminator' needs a single centre"),
        ({"inputs": "window", "loss": "ns", "exclude": "known"}, "--exclude known looks up the neighbours"),
        ({"inputs": "window", "loss": "ns", "exclude": "window"}, "the word in the middle; use --exclude target"),
        ({"inputs": "window", "loss": "ns", "share_negatives": "window"}, "use --share-negatives centre"),
        ({"inputs": "window", "loss": "ns", "source": "pairs"}, "pairs have none"),
        ({"inputs": "window", "loss": "ns", "source": "graph", "ordered": True}, "leave one of the two out"),
        ({"inputs": "subwords", "loss": "ns", "source": "baskets"}, "names of items are not words"),
        ({"inputs": "subwords", "loss": "mle"}, "scores every word"),
        ({"inputs": "subwords", "loss": "kernel-quadratic"}, "draws made ahead .* use --sampler popularity, or leave"),
        ({"inputs": "window", "loss": "selfplay", "method": "exact"}, "draws made ahead .* use --method rolling, or"),
        ({"inputs": "window", "loss": "ns", "minn": 2}, "--minn has no effect with inputs 'window'"),
        ({"inputs": "subwords", "loss": "ns", "minn": 7}, r"minn \(7\) is above maxn \(6\)"),
        ({"loss": "ns", "buckets": 5}, "use --inputs subwords or leave --buckets out"),
    ],
)
def test_what_they_cannot_stand_beside_is_refused_before_any_work(options, message):
    with pytest.raises(ConfigError, match=message):
        Word2Vec(**options).check()


@pytest.mark.parametrize(
    "options", [{"loss": "kernel-quadratic", "sampler": "popularity"}, {"loss": "selfplay", "method": "rolling"}]
)
def test_what_to_take_instead_of_draws_made_ahead_works(options):
    Word2Vec(inputs="window", **options).check()


def test_an_unknown_name_and_diagnosis():
    with pytest.raises(UnknownNameError, match="unknown inputs 'windows'; did you mean 'window'"):
        Word2Vec(inputs="windows").check()
    with pytest.raises(ConfigError, match="inputs 'cbow' is called 'window' here"):
        Word2Vec(inputs="cbow")
    with pytest.raises(ConfigError, match="--diagnose looks at vectors of single centres"):
        Word2Vec(inputs="window", loss="ns").fit([["a", "b"]], diagnose=True)


def test_a_normaliser_of_each_centre_is_refused_when_it_is_made(planted):
    with pytest.raises(ConfigError, match="loss 'nce' needs a single centre"):
        Word2Vec(loss="nce", log_z="learned", inputs="window").trainer(planted)


def test_rows_of_another_run_are_refused_where_vectors_are_made_of_n_grams(planted):
    with pytest.raises(ConfigError, match="for which the vectors has no rows"):
        Word2Vec(**SMALL, loss="ns", inputs="subwords").fit(planted, init=Vectors(["a1"], np.ones((1, 8))))


@pytest.mark.parametrize(
    ("flags", "inputs"),
    [
        (["--cbow"], "window"),
        (["--subwords", "--minn", "2"], "subwords"),
        pytest.param(["--cbow", "--subwords"], "window+subwords", marks=pytest.mark.slow),
        (["--cbow", "--inputs", "window"], "window"),
    ],
)
def test_the_usual_flags(run_cli, tmp_path, flags, inputs):
    path = tmp_path / "text.txt"
    path.write_text("the cat sat on the mat\n" * 20)
    model = tmp_path / "model"
    options = [
        "--loss",
        "ns",
        "--min-count",
        "1",
        "--dim",
        "8",
        "--epochs",
        "1",
        "--subsample",
        "0",
        "--output",
        tmp_path / "v.txt",
    ]
    result = run_cli("train", "--corpus", path, *options, *flags, "--save-model", model)
    assert result.code == 0, result.err
    assert Model.load(model).config.inputs.name == inputs


def test_flags_that_disagree(run_cli):
    result = run_cli("train", "--cbow", "--inputs", "subwords")
    assert result.code == 2 and "contradicts --cbow or --subwords (window)" in result.err


def test_pairs_are_not_scored_where_words_around_predict(planted, tmp_path, run_cli):
    trained(planted, inputs="window").save(tmp_path / "model")
    (tmp_path / "text.txt").write_text("a1 a2 a3\n")
    result = run_cli("eval", "likelihood", tmp_path / "model", "--corpus", tmp_path / "text.txt")
    assert result.code == 1 and "predicts a word from the mean of the words around" in result.err
