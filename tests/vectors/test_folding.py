"""Users whom training did not see: their vectors against a minimum found numerically, and what the commands do."""

import copy
import json
import pickle
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.optimize
import scipy.sparse
import scipy.special
from item_models import model_of

from w2vneg import Input, Word2Vec
from w2vneg.config import TrainConfig
from w2vneg.data.vocab import Vocabulary
from w2vneg.ground.errors import ConfigError, InputError, UnknownNameError
from w2vneg.run.model import Model
from w2vneg.vectors.evaluation import folding
from w2vneg.vectors.evaluation.folding import _PRIOR, _pairs_of_1, fold_in, user_vector, user_vectors
from w2vneg.vectors.evaluation.recommend import recommend, recommend_new
from w2vneg.vectors.evaluation.scores import SlimScores, default_of, fit_weights, scores_of

RNG = np.random.default_rng(8)
N_USERS, N_ITEMS, DIM = 30, 20, 4


def made_up(**options):
    config = TrainConfig(dim=DIM, source="pairs", rectangular=True, **options).resolved()
    users = Vocabulary([f"u{i:02}" for i in range(N_USERS)], np.arange(N_USERS, 0, -1))
    items = Vocabulary([f"i{i:02}" for i in range(N_ITEMS)], np.arange(N_ITEMS, 0, -1))
    vectors = (RNG.normal(0.3, 1.0, (rows, DIM)).astype(np.float32) for rows in (N_USERS, N_ITEMS))
    return Model(users, config, *vectors, vocab_out=items)


@pytest.mark.parametrize(
    ("options", "factor", "exponent"),
    [
        ({"loss": "us"}, 1.0, 0.0),
        ({"loss": "relaxed"}, 2.0, 0.75),
        ({"loss": "dns"}, 1.0, 0.0),
        ({"loss": "top-n", "l2": "0.9,0.2", "l2_power": 0.3}, 1.0, 0.0),
        ({"loss": "ns", "l2": 0.5, "noise_exponent": 1.0}, 1.0, 1.0),
        ({"loss": "top-n", "l2": "0.9,0.2", "bias": 0.7}, 1.0, 0.0),
    ],
)
def test_a_vector_is_the_minimum_that_it_stands_for(options, factor, exponent):
    """A softmax over the targets under the noise; and the penalty of training, or the trained users as prior."""
    model = made_up(**options)
    has = {"new": ["i03", "i07", "i11"], "u05": ["i02"]}
    folded = fold_in(model, [(user, item) for user, items in has.items() for item in items])
    noise = np.asarray(model.vocab_out.counts, float) ** exponent
    out, users = factor * model.vectors_out.astype(float), model.vectors_in.astype(float)
    for user, items in has.items():
        own = out[model.vocab_out.words.find_all(items)]
        mean, precision = users.mean(axis=0), _PRIOR * np.linalg.inv(np.cov(users.T, ddof=0))
        if "l2" in options:
            strength = float(str(options["l2"]).split(",")[0])
            mean, precision = 0.0, strength * len(own) ** options.get("l2_power", 0.5) * np.eye(DIM)

        def value(x, own=own, mean=mean, precision=precision):
            log_z = scipy.special.logsumexp(out @ x, b=noise)
            return len(own) * log_z - own.sum(axis=0) @ x + (x - mean) @ precision @ (x - mean) / 2

        held = [model.config.bias] if model.config.bias else []  # numbers that are not sought

        def of_free(x, value=value, held=held):
            return value(np.append(held, x))

        best = np.append(held, scipy.optimize.minimize(of_free, np.zeros(DIM - len(held))).x)
        found = folded.model.vectors_in[folded.model.vocab.id(user)]
        assert found == pytest.approx(best, abs=2e-3)


def test_weights_count_as_pairs_and_users_do_not_depend_on_each_other(monkeypatch):
    model = made_up(loss="top-n")
    weights = RNG.integers(0, 3, (40, N_ITEMS)).astype(np.float32)
    weights[:, 0] = 1.0
    has = scipy.sparse.csr_matrix(weights)
    whole = user_vectors(model, has)
    twice = scipy.sparse.csr_matrix(np.repeat(np.eye(N_ITEMS, dtype=np.float32), 2, axis=0)[:2].sum(axis=0))
    assert not np.allclose(user_vectors(model, twice), user_vectors(model, twice / 2))
    monkeypatch.setattr(folding, "_SCORES", 3 * N_ITEMS)
    np.testing.assert_allclose(user_vectors(model, has), whole, atol=1e-4)
    again = user_vectors(model, has, start=whole)
    np.testing.assert_allclose(again, whole, atol=1e-3)


def test_weights_are_scaled_as_training_scales_them():
    """Small ones to a mean of 1, or to --pairs-per-epoch; a pair without a weight is a usual one."""
    items = [f"i{k:02}" for k in range(0, 20, 3)]
    known, has = np.ones((N_USERS, N_ITEMS)), np.isin(np.arange(N_ITEMS), range(0, 20, 3))[None].astype(float)
    model = made_up(loss="top-n")

    def trained_on(weight, **options):
        config = TrainConfig(dim=DIM, source="pairs", rectangular=True, loss="top-n", **options).resolved()
        own = replace(model, config=config, known=scipy.sparse.csr_matrix(weight * known))
        return own, user_vectors(own, scipy.sparse.csr_matrix(weight * has))

    expected, twice = (user_vectors(model, scipy.sparse.csr_matrix(times * has)) for times in (1.0, 2.0))
    assert np.array_equal(trained_on(1.0)[1], expected)
    drawn = trained_on(1.0, pair_weights="sample", pairs_per_epoch=2 * known.size)
    np.testing.assert_allclose(drawn[1], twice, atol=1e-5)
    small, found = trained_on(0.001)
    np.testing.assert_allclose(found, expected, atol=1e-5)
    for own, vectors in (drawn, (small, found)):
        whole = fold_in(own, [("new", item) for item in items])
        folded = whole.model
        np.testing.assert_allclose(folded.vectors_in[folded.vocab.id("new")], vectors[0], atol=1e-5)
        np.testing.assert_allclose(user_vector(own, items), vectors[0], atol=1e-5)
        listed = recommend(folded, "new", 5, whole.known)
        assert [name for name, _ in recommend_new(own, items, 5)] == [name for name, _ in listed]
    again = fold_in(folded, [("other", item) for item in items]).model
    np.testing.assert_allclose(again.vectors_in[again.vocab.id("other")], found[0], atol=1e-5)
    unpenalized = {"loss": "relaxed", "pair_weights": "sample"}
    few, many = (replace(made_up(pairs_per_epoch=n, **unpenalized), known=small.known) for n in (1, 10**6))
    assert _pairs_of_1(few, False) == _pairs_of_1(many, False) == pytest.approx(1000)


def test_large_counts_reach_the_minimum_and_no_step_goes_up(monkeypatch):
    model = made_up(loss="top-n")
    weights = np.ceil(np.random.default_rng(4).lognormal(3, 1.5, (60, N_ITEMS))) * (np.arange(N_ITEMS) % 4 == 0)
    weights[:, 8] *= 300.0
    has = scipy.sparse.csr_matrix(weights.astype(np.float32))
    whole = user_vectors(model, has)
    np.testing.assert_allclose(user_vectors(model, has, start=whole), whole, atol=1e-3)
    way_of = folding._conjugate_gradients
    monkeypatch.setattr(folding, "_conjugate_gradients", lambda times, right: np.float32(1e6) * way_of(times, right))
    start = np.tile(folding._Loss(model).mean, (60, 1))
    assert np.array_equal(user_vectors(model, has), start)  # nothing lower was found


def test_others_stay_and_what_somebody_has_is_known():
    model = made_up()
    folded = fold_in(model, [("u05", "i01"), ("zoe", "i02"), ("zoe", "i03"), ("zoe", "nothing known")])
    words = folded.model.vocab.words
    assert len(words) == N_USERS + 1
    for place, user in enumerate(model.vocab.words):
        same = np.array_equal(folded.model.vectors_in[words.find(user)], model.vectors_in[place])
        assert same == (user != "u05")
    assert sorted(words[user] for user in folded.users) == ["u05", "zoe"]
    rows, columns = folded.known.nonzero()
    pairs = {(words[i], model.vocab_out.words[j]) for i, j in zip(rows, columns, strict=True)}
    assert pairs == {("u05", "i01"), ("zoe", "i02"), ("zoe", "i03")}


def test_who_cannot_be_folded_in(tmp_path):
    with pytest.raises(ConfigError, match="items of one kind"):
        fold_in(model_of(np.eye(5)), [("x", "a")])
    for options in ({"loss": "hierarchical"}, {"loss": "relaxed", "absolute_softmax": True}):
        with pytest.raises(ConfigError, match="the scores of loss"):
            fold_in(made_up(**options), [("x", "i01")])
    (tmp_path / "new.tsv").write_text("x\ty\n")
    with pytest.raises(InputError, match="none of its 1 pairs"):
        fold_in(made_up(), str(tmp_path / "new.tsv"))


def test_a_table_in_memory_may_hold_nobody_known():
    word2vec = Word2Vec()
    word2vec.model = made_up()
    cold = pd.DataFrame({"user": ["cold"], "item": ["none"]})
    assert list(word2vec.recommend_many(fold_in=cold)) == []
    assert [len(items) for _, items in word2vec.recommend_many(fold_in=cold, k=3, unknown="popular")] == [3]
    expected = word2vec.recommend("u01", exclude_known=())
    no_history = cold.iloc[:0], Input("pairs", cold.iloc[:0]), cold, scipy.sparse.csr_matrix((40, N_ITEMS))
    for known in no_history:
        assert word2vec.recommend("u01", exclude_known=known) == expected
    test = [("u01", "i03"), ("u02", "i04")]
    rank = lambda known: word2vec.evaluate_ranking(test, exclude_known=known, bootstrap=0).model.mpr  # noqa: E731
    assert {rank(known) for known in no_history} == {rank(())}
    with pytest.raises(InputError, match=r"^DataFrame: none of its 1 pairs"):
        word2vec.evaluate_ranking(cold)


@pytest.fixture
def likes(tmp_path, monkeypatch):
    """likes.csv: users who like six of the first or of the last ten of twenty items."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(2)
    rows = [(f"u{u}", f"i{10 * (u % 2) + i:02}") for u in range(80) for i in rng.permutation(10)[:6]]
    pd.DataFrame(rows, columns=["user", "item"]).to_csv("likes.csv", index=False)


def test_new_users_from_end_to_end(likes, run_cli):
    shares = "--train", ".7", "--valid", "0", "--test", ".3"
    assert (
        run_cli("split", "--pairs", "likes.csv", "--rectangular", "--by", "user", *shares, "--out", "split").code == 0
    )
    options = "--dim", "8", "--epochs", "60", "--workers", "1", "--quiet", "--save-model", "model"
    assert run_cli("train", "--pairs", "split/train.tsv", "--rectangular", *options).code == 0
    refused = run_cli("eval", "ranking", "model", "split/test.tsv")
    assert refused.code == 2 and "give --fold-in split/test-shown.tsv" in refused.err
    refused = run_cli("train", "--pairs", "split/train.tsv", "--rectangular", "--valid", "split/test.tsv", "--force")
    assert refused.code == 2 and "eval ranking --fold-in split/test-shown.tsv" in refused.err

    known = "--fold-in", "split/test-shown.tsv", "--train", "split/train.tsv"
    shown = json.loads(run_cli("eval", "ranking", "model", "split/test.tsv", *known, "--json").out)
    assert shown["test"]["evaluated"] == 1.0
    results = shown["results"]
    assert results["model"]["auc"] > 0.75 > results["popularity"]["auc"]
    assert results["slim"]["auc"] > 0.75  # it knows what new users have, too

    found = run_cli(
        "recommend", "model", "--all", "--fold-in", "split/test-shown.tsv", "--out", "lists.csv", "--k", "4"
    )
    assert found.code == 0, found.err
    test, lists = pd.read_csv("split/test-shown.tsv", sep="\t"), pd.read_csv("lists.csv")
    assert set(lists["query"]) == set(test["user"])
    had = set(zip(test["user"], test["item"], strict=True))
    assert not had & set(zip(lists["query"], lists["item"], strict=True))
    side = {name: int(name[1:]) % 2 for name in lists["query"]}
    assert np.mean([side[q] == (int(i[1:]) >= 10) for q, i in zip(lists["query"], lists["item"], strict=True)]) > 0.9

    word2vec = Word2Vec.load("model")
    many = dict(word2vec.recommend_many(k=4, fold_in="split/test-shown.tsv"))
    for user, own in lists.groupby("query"):
        assert [item for item, _ in many[user]] == own["item"].tolist()
    listed = word2vec.recommend(["i03", "i05"], k=8, new_user=True)
    assert {item for item, _ in listed} == {f"i{i:02}" for i in range(10)} - {"i03", "i05"}
    assert word2vec.recommend(["i03", "i05"], 8, new_user=True, only=["i03", listed[4][0]]) == listed[4:5]
    command = run_cli("recommend", "model", "i03", "i05", "--new-user", "-k", "8", "--json")
    assert [one["item"] for one in json.loads(command.out)["recommended"]] == [item for item, _ in listed]
    with pytest.raises(UnknownNameError, match="does not know the item 'i033'; did you mean 'i03'"):
        word2vec.recommend("i033", new_user=True)
    assert run_cli("recommend", "model", "i03", "--new-user", "--exclude-known", "split/train.tsv").code == 2


def test_users_of_a_split_may_be_trained_by_what_is_shown(likes, run_cli):
    shares = "--train=.7", "--valid=0", "--test=.3"
    assert run_cli("split", "--pairs=likes.csv", "--rectangular", "--by=user", *shares, "--out=split").code == 0
    parts = [Path(f"split/{name}.tsv").read_text().splitlines(keepends=True) for name in ("train", "test-shown")]
    for name, shown in (("all", parts[1][1:]), ("one", parts[1][1:2])):
        Path("both.tsv").write_text("".join(parts[0] + shown))
        options = "--rectangular", "--dim=8", "--epochs=1", "--workers=1", "--quiet", f"--save-model={name}"
        assert run_cli("train", "--pairs=both.tsv", *options, "--valid=split/test.tsv").code == 0
        found = run_cli("eval", "ranking", name, "split/test.tsv", "--json", "--bootstrap=0")
        assert (json.loads(found.out)["test"]["evaluated"] == 1) == (name == "all"), found.err


def test_things_are_called_what_they_are(tmp_path, run_cli):
    """Users and items as many as each other: which side is meant is not guessed by numbers."""
    config = TrainConfig(dim=DIM, source="pairs", rectangular=True).resolved()
    users, items = (Vocabulary([f"{side}{i}" for i in range(5)], np.ones(5)) for side in "ui")
    vectors = (RNG.normal(size=(5, DIM)).astype(np.float32) for _ in range(2))
    word2vec = Word2Vec()
    word2vec.model = Model(users, config, *vectors, vocab_out=items)
    word2vec.save(tmp_path / "model")
    folder = str(tmp_path / "model")
    assert repr(word2vec.read_out("in")) == "Vectors(5 users, dim=4)"
    assert next(name for name, _ in word2vec.similar_items("i3", k=2)).startswith("i")
    with pytest.raises(UnknownNameError, match="no vector for the item 'x9'"):
        word2vec.similar_items("x9")
    for side, noun in (("in", "user"), ("out", "item")):
        found = run_cli("nearest", "x9", "--vectors", folder, "--readout", side)
        assert found.code == 1 and f"no vector for the {noun} 'x9' among 5" in found.err
    model_of(np.eye(5)).save(tmp_path / "items")
    found = run_cli("nearest", "x9", "--vectors", str(tmp_path / "items"))
    assert "no vector for the item 'x9' among 5" in found.err


def test_a_user_that_was_seen_may_be_looked_at_anew():
    model = made_up()
    folded = fold_in(model, [("u01", "i04")])
    listed = recommend(folded.model, "u01", 30, folded.known)
    assert "i04" not in dict(listed) and len(listed) == N_ITEMS - 1
    word2vec = Word2Vec()
    word2vec.model = model
    again = word2vec.recommend_many(["u01", "u02"], k=3, fold_in=[("u01", "i04")])
    assert [item for item, _ in dict(again)["u01"]] == [item for item, _ in listed[:3]]
    assert [item for item, _ in dict(again)["u02"]] == [item for item, _ in recommend(model, "u02", 3)]


def test_tables_in_memory_are_folded_in():
    assert Input("pairs", [("a", "b")]).in_memory
    model = made_up()
    frame = pd.DataFrame({"user": ["x", "x"], "item": ["i01", "i02"]})
    one, other = fold_in(model, frame), fold_in(model, [("x", "i02"), ("x", "i01")])
    assert np.array_equal(one.model.vectors_in, other.model.vectors_in)
    assert scipy.sparse.issparse(one.known)


def test_a_file_is_read_as_the_data_of_the_model_were(tmp_path, monkeypatch, run_cli):
    """Quantities that weighed nothing in training weigh nothing here; and what was read is printed."""
    monkeypatch.chdir(tmp_path)
    rows = [f"u{i % 12},p{(i * 5 + i // 12) % 9}" for i in range(90)]
    Path("log.csv").write_text("customer,product\n" + "\n".join(rows))
    small = "--rectangular", "--dim=4", "--epochs=2", "--workers=1"
    assert run_cli("train", "--ratings=log.csv", *small, "--save-model=model").code == 0
    lists = []
    for name, quantities in (("plain.csv", ""), ("amounts.csv", ",quantity"), ("sevens.csv", ",quantity")):
        last = {"plain.csv": "", "amounts.csv": ",3", "sevens.csv": ",7"}[name]
        Path(name).write_text(f"customer,product{quantities}\nx,p1{last}\nx,p2{last}\nx,nothing{last}\n")
        found = run_cli("recommend", "model", "--fold-in", name, "--all", "--out=lists.csv", "-k3", "--force")
        assert found.code == 0 and f"{name}: separated by comma; " in found.err
        assert "left out: 1 rows of unknown items" in found.err
        lists.append(Path("lists.csv").read_text())
    assert lists[0] == lists[1] == lists[2]


def test_answers_that_are_folded_in_are_warned_of(tmp_path, run_cli):
    made_up(loss="us").save(tmp_path / "model")
    (tmp_path / "shown.tsv").write_text("x\ti01\nx\ti02\n")
    (tmp_path / "test.tsv").write_text("x\ti02\nx\ti03\n")
    for shown, n in (("shown.tsv", 1), ("test.tsv", 2)):
        found = run_cli("eval", "ranking", tmp_path / "model", tmp_path / "test.tsv", "--fold-in", tmp_path / shown)
        assert found.code == 0 and f"--fold-in has {n:,} of these pairs too" in found.out, found.err


@pytest.mark.parametrize("pairs", [5, b"x", {"a": ["b"]}, [1, 2], [()], np.zeros((0, 1))])
def test_what_is_no_table_of_pairs_is_refused(pairs):
    word2vec = Word2Vec()
    word2vec.model = made_up()
    for call in (
        lambda: word2vec.recommend("u01", exclude_known=pairs),
        lambda: word2vec.recommend_many(fold_in=pairs),
        lambda: word2vec.evaluate_ranking(pairs),
    ):
        with pytest.raises((ConfigError, InputError)):
            call()
    with pytest.raises(ConfigError, match="name the held-out pairs"):
        word2vec.evaluate_ranking([])


def test_a_purchase_takes_one_step_from_a_users_vector():
    word2vec = Word2Vec()
    word2vec.model = model = made_up(loss="top-n")
    items = [f"i{k:02}" for k in range(16)]
    whole = word2vec.user_vector(items)
    folded = fold_in(model, [("x", item) for item in items]).model
    np.testing.assert_allclose(whole, folded.vectors_in[folded.vocab.id("x")], atol=1e-6)
    model.vectors_in[model.vocab.id("u07")] = whole
    more = word2vec.user_vector([*items, "i17"], user="u07")
    np.testing.assert_allclose(more, word2vec.user_vector([*items, "i17"]), atol=0.02)
    assert np.abs(more - whole).max() > 0.03
    with pytest.raises(UnknownNameError, match="does not know the item 'i033'; did you mean 'i03'"):
        word2vec.user_vector(["i033"])
    assert np.array_equal(word2vec.user_vector("i12"), word2vec.user_vector(["i12"]))
    with pytest.raises(ConfigError, match="name at least one item"):
        word2vec.user_vector([])
    with pytest.raises(UnknownNameError):
        word2vec.user_vector(items, user="nobody")
    word2vec.model = model_of(np.eye(5))
    with pytest.raises(ConfigError, match="no users"):
        word2vec.user_vector(["a"])


def test_a_day_of_one_customer_updates_a_model(likes, run_cli):
    Path("day.csv").write_text("user,item\nnew,i00\nnew,i03\nnew,i05\n")
    options = "--dim", "8", "--epochs", "40", "--workers", "1", "--quiet"
    assert run_cli("train", "--pairs", "likes.csv", "--rectangular", *options, "--save-model", "model").code == 0
    alone = run_cli("train", "--pairs", "day.csv", "--rectangular", *options, "--save-model", "other")
    assert alone.code == 1 and "only one centre ('new') reaches min_count=1" in alone.err and not Path("other").exists()
    update = run_cli("train", "--update", "model", "--pairs", "day.csv", "--workers", "1", "--save-model", "grown")
    assert update.code == 0, update.err
    lists = run_cli("recommend", "grown", "new", "-k", "3", "--json")
    assert lists.code == 0
    assert {row["item"] for row in json.loads(lists.out)["recommended"]} <= {f"i{k:02}" for k in range(10)}


def test_what_all_users_share_is_computed_once_and_again_for_another_model(monkeypatch):
    """To the bit as anew; after another epoch, other rows or options, and in a copy it is not the former's."""
    made, plain = [], folding._Loss
    monkeypatch.setattr(folding, "_Loss", lambda model: made.append(model) or plain(model))
    word2vec, items = Word2Vec(), {"i03": 2, "i05": 1}
    word2vec.model = model = made_up(loss="relaxed")  # with a temperature, and users as the prior

    def found():
        once, again = word2vec.user_vector(items), word2vec.user_vector(items)
        vars(model).pop("_folding")
        anew = word2vec.user_vector(items)
        assert np.array_equal(once, again) and np.array_equal(once, anew)
        return anew.tobytes()

    seen = {found()}
    assert len(made) == 2
    model.vectors_in = 2 * model.vectors_in
    seen.add(found())
    model.vectors_out = model.vectors_out + np.float32(0.1)
    seen.add(found())
    model.config = made_up(loss="top-n", l2=0.5).config
    seen.add(found())
    model.known = scipy.sparse.csr_matrix(np.full((N_USERS, N_ITEMS), 0.01))
    seen.add(found())
    model.vectors_out *= 2  # as an epoch does
    model.position.epoch += 1
    seen.add(found())
    assert (len(seen), len(made)) == (6, 12)
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert vars(other)["_folding"] is None
        assert np.array_equal(user_vector(other, items), user_vector(model, items))


@pytest.fixture
def shop():
    """A model that keeps what its users had: five items each of i00 to i09 or of i10 to i19."""
    word2vec = Word2Vec()
    word2vec.model = model = made_up(loss="relaxed")
    rng = np.random.default_rng(3)
    items = np.concatenate([10 * (u % 2) + rng.permutation(10)[:5] for u in range(N_USERS)])
    shape = N_USERS, N_ITEMS
    model.known = scipy.sparse.csr_matrix((np.full(len(items), 2.0), (np.repeat(range(N_USERS), 5), items)), shape)
    return word2vec


def test_what_a_known_user_had_stays_left_out(shop):
    had = {shop.model.vocab_out.words[i] for i in shop.model.known[shop.model.vocab.id("u04")].indices}
    assert len(had) == 5 and "i15" not in had
    many = dict(shop.recommend_many(k=N_ITEMS, fold_in=[("u04", "i15"), ("zoe", "i15")]))
    every = set(shop.model.vocab_out.words)
    assert {item for item, _ in many["u04"]} == every - had - {"i15"}
    assert {item for item, _ in many["zoe"]} == every - {"i15"}


def test_baselines_learn_from_known_users_that_are_folded_in(shop):
    names = shop.model.vocab.words, shop.model.vocab_out.words
    pairs = [(names[0][u], names[1][i]) for u, i in zip(*shop.model.known.nonzero(), strict=True)]
    left = [(u, f"i{i:02}") for u in names[0] for i in range(N_ITEMS) if (u, f"i{i:02}") not in set(pairs)][::7]
    before, folded = (shop.evaluate_ranking(left, bootstrap=0, fold_in=shown) for shown in (None, pairs))
    for name in ("popularity", "slim"):
        assert folded.results[name].by_name() == before.results[name].by_name()
    assert not folded.missing


def test_slim_in_a_score_learns_from_training_and_knows_what_is_shown(shop):
    model, shown = shop.model, [("u04", "i15"), ("zoe", "i01"), ("zoe", "i02")]
    folded = fold_in(model, shown).model
    users = folded.vocab.words.find_all(["zoe", "u04", "u05"])
    weights = fit_weights(model.known, *default_of(model.known))
    expected = SlimScores(folded.known, weights)(users) + 0.5 * scores_of(folded)(users)
    np.testing.assert_allclose(scores_of(folded, "slim+0.5")(users), expected, atol=1e-5)
    one, more = (dict(shop.recommend_many(k=20, score="slim+0.5", fold_in=who))["zoe"] for who in (shown[1:], shown))
    assert dict(one) == pytest.approx(dict(more), abs=1e-5)


def test_amounts_of_items_weigh():
    word2vec, amounts = Word2Vec(), {"i01": 5.0, "i12": 1, "i07": np.float32(0.5)}
    word2vec.model = made_up(loss="us")
    folded = fold_in(word2vec.model, [("x", item, float(amount)) for item, amount in amounts.items()])
    found = word2vec.user_vector(amounts)
    np.testing.assert_allclose(found, folded.model.vectors_in[folded.users[0]], atol=1e-6)
    assert np.abs(found - word2vec.user_vector(list(amounts))).max() > 0.01
    assert word2vec.recommend(amounts, new_user=True) == recommend(folded.model, "x", 10, folded.known)
    plain = word2vec.recommend(list(amounts), new_user=True)
    assert word2vec.recommend(dict.fromkeys(amounts, 1), new_user=True) == plain
    np.testing.assert_array_equal(word2vec.user_vector({"i01": Decimal(2)}), word2vec.user_vector({"i01": 2}))
    for amount in (0, -1, np.nan, np.inf, 1e30, "2", True, None):
        for call in (word2vec.user_vector, lambda items: word2vec.recommend(items, new_user=True)):
            with pytest.raises(ConfigError, match="the amount of 'i12' must be a number above 0"):
                call({"i01": 2, "i12": amount})
