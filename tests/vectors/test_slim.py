"""Slim: the regression against its closed form and EASE, threads, folders, commands; and what users had is left out."""

import json
import shlex
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from w2vneg import Input, Slim, Word2Vec
from w2vneg.ground.errors import ConfigError, FileNote, InputError, UnknownNameError
from w2vneg.run import state
from w2vneg.run.slim import load_recommender
from w2vneg.vectors.evaluation import scores as scores_module
from w2vneg.vectors.evaluation.scores import SlimScores, default_of, fit_weights, scores_of


def made_up(n_users=60, n_items=12, seed=3):
    rng = np.random.default_rng(seed)
    chance = rng.uniform(0.1, 0.6, n_items) * rng.uniform(0.5, 1.5, (n_users, 1))
    has = (rng.random((n_users, n_items)) < chance).astype(np.float32)
    has[0, :2] = 1.0
    return scipy.sparse.csr_matrix(has)


def closed_form(has, neighbours, l2):
    """The same in dense float64, item by item; return (items, base)."""
    wide = np.hstack([has.toarray(), np.ones((has.shape[0], 1))]).astype(float)
    products, n = wide.T @ wide, has.shape[1]
    items, base = np.zeros((n, n)), np.zeros(n)
    for j in range(n):
        merits = products[j, :n] ** 2 / (np.diag(products)[:n] + l2)
        merits[j] = 0.0
        nearest = [i for i in np.argsort(-merits, kind="stable")[:neighbours] if merits[i] > 0]
        chosen = [n, *nearest]
        found = np.linalg.solve(products[np.ix_(chosen, chosen)] + l2 * np.eye(len(chosen)), products[chosen, j])
        base[j], items[nearest, j] = found[0], found[1:]
    return items, base


@pytest.mark.parametrize("neighbours", [1, 4, 30])
@pytest.mark.parametrize("l2", [0.5, 20.0])
def test_weights_are_those_of_the_closed_form(neighbours, l2):
    has = made_up()
    found = fit_weights(has, neighbours, l2, workers=1)
    items, base = closed_form(has, neighbours, l2)
    np.testing.assert_allclose(found.items.toarray(), items, atol=1e-5)
    np.testing.assert_allclose(found.base, base, atol=1e-5)
    assert (found.items.diagonal() == 0).all()


def test_with_all_items_as_neighbours_it_is_ease():
    """EASE: B = I − P / diag(P), P = (G + λ I)⁻¹, over the items and the column of ones."""
    has, l2 = made_up(400), 7.0
    assert (has.T @ has).nnz == has.shape[1] ** 2  # else items never seen together are no neighbours here
    wide = np.hstack([has.toarray(), np.ones((has.shape[0], 1))]).astype(float)
    inverse = np.linalg.inv(wide.T @ wide + l2 * np.eye(wide.shape[1]))
    ease = -inverse / np.diag(inverse)
    np.fill_diagonal(ease, 0.0)
    found = fit_weights(has, has.shape[1], l2)
    np.testing.assert_allclose(found.items.toarray(), ease[:-1, :-1], atol=1e-5)
    np.testing.assert_allclose(found.base, ease[-1, :-1], atol=1e-5)


def test_threads_agree_to_the_bit_and_repeats_do_not_count():
    has = made_up(200, 40)
    one, three = (fit_weights(has, 8, 3.0, workers=workers) for workers in (1, 3))
    assert (one.items != three.items).nnz == 0 and np.array_equal(one.base, three.base)
    again = fit_weights(has * 5, 8, 3.0)
    assert (one.items != again.items).nnz == 0


def test_a_table_is_read_as_it_is_for_vectors():
    frame = pd.DataFrame({"user": ["a", "b", "a", "b"], "item": ["x", "y", "y", "x"]})
    model = Slim(l2=1.0).fit(frame).model
    assert sorted(model.vocab.words) == ["a", "b"] and sorted(model.vocab_out.words) == ["x", "y"]
    with pytest.raises(ConfigError, match="give a table of them, or an Input"):
        Slim().fit([["x", "y"]])


def test_scores_are_sums_of_what_somebody_has():
    has, weights = made_up(), fit_weights(made_up(), 5, 2.0)
    scores = SlimScores(has, weights)
    np.testing.assert_allclose(scores(np.array([3])), has[[3]].toarray() @ weights.items.toarray() + weights.base, 1e-5)
    single = SlimScores(scipy.sparse.identity(12, np.float32, "csr"), weights)
    np.testing.assert_allclose(single.together(has[3].indices), scores(np.array([3]))[0], atol=1e-5)


def test_what_cannot_be_learnt_from_is_refused(monkeypatch):
    with pytest.raises(InputError, match="no user has two items"):
        fit_weights(scipy.sparse.identity(5, np.float32, "csr"), 50, 30.0)
    for neighbours, l2 in ((0, 1.0), (3, 0.0), (3, np.inf), (2.5, 1.0), (3, "x")):
        with pytest.raises(ConfigError, match="neighbours must be a whole number above 0, and l2 above 0"):
            fit_weights(made_up(), neighbours, l2)
    assert default_of(made_up()) == (50, 30.0)
    assert default_of(scipy.sparse.csr_matrix(np.ones((5, 61), np.float32))) == (200, 300.0)
    monkeypatch.setattr(scores_module, "memory_size", lambda: 1000)
    with pytest.raises(InputError, match="more than a quarter of the memory"):
        fit_weights(made_up(), 50, 30.0)
    for kind, rows in (("pairs", [("a", "b"), ("c", "d")]), ("edges", [("a", "b"), ("b", "c")])):
        with pytest.raises(ConfigError, match=r"slim learns from .* in Python rectangular=True"):
            Slim().fit(Input(kind, pd.DataFrame(rows, columns=["one", "other"])))
    with pytest.raises(ConfigError, match="no option 'dim'"):
        Slim(dim=3)
    for wrong in ({"neighbours": -1}, {"l2": float("nan")}, {"workers": 0}):
        with pytest.raises(ConfigError, match=next(iter(wrong))):
            Slim(**wrong)
    slim = Slim(l2=2.0, min_count=2)
    assert repr(slim.set_params(neighbours=5)) == "Slim(neighbours=5, l2=2.0, min_count=2)"
    assert slim.get_params() == Slim(**slim.get_params()).get_params()
    with pytest.raises(ConfigError, match="no vectors"):
        slim.read_out()
    with pytest.raises(ConfigError, match="nothing is learnt yet"):
        Slim().recommend("a")


@pytest.fixture
def likes(tmp_path, monkeypatch):
    """likes.csv: users who like one to nine of the first or of the last ten of twenty items."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(2)
    many = [(u, 10 * (u % 2) + i) for u in range(200) for i in rng.permutation(10)[: rng.integers(1, 10)]]
    rows = [(f"u{u}", f"i{i:02}") for u, i in many]
    pd.DataFrame(rows, columns=["user", "item"]).to_csv("likes.csv", index=False)
    with open("orders.txt", "w", encoding="utf-8") as stream:
        for user in range(200):
            stream.write(" ".join(item for name, item in rows if name == f"u{user}") + "\n")
    return rows


def test_users_and_items_from_end_to_end(likes, run_cli):
    made = run_cli("slim", "--pairs", "likes.csv", "--save-model", "shop", "--l2", "2")
    assert made.code == 0 and "20 items with 50 neighbours, l2 2: saved in shop" in made.err
    had = {item for user, item in likes if user == "u3"}
    rest = 10 - len(had)
    listed = json.loads(run_cli("recommend", "shop", "u3", "-k", str(rest), "--json").out)
    assert listed["known_left_out"] and 0 < rest < 10
    assert {one["item"] for one in listed["recommended"]} == {f"i{i:02}" for i in range(10, 20)} - had
    with_known = json.loads(run_cli("recommend", "shop", "u3", "-k", "10", "--include-known", "--json").out)
    assert {one["item"] for one in with_known["recommended"]} == {f"i{i:02}" for i in range(10, 20)}
    new = json.loads(run_cli("recommend", "shop", "i01", "i02", "--new-user", "-k", "5", "--json").out)
    assert {one["item"] for one in new["recommended"]} < {f"i{i:02}" for i in range(10)} - {"i01", "i02"}
    word = Slim.load("shop")
    assert [item for item, _ in word.recommend("u3", k=rest)] == [one["item"] for one in listed["recommended"]]
    many = dict(word.recommend_many(k=4, fold_in=[("zoe", "i01"), ("zoe", "i02"), ("u3", "i05")]))
    assert set(many) == {"zoe", "u3"} and all(int(item[1:]) < 10 for item, _ in many["zoe"])
    pd.DataFrame([("u3", "i01"), ("u3", next(iter(had)))]).to_csv("test.csv", index=False, header=False)
    told = run_cli("eval", "ranking", "shop", "test.csv").out
    assert "the model was trained on 1 of these pairs" in told and "slim" in told
    pd.DataFrame([("u3", "i00"), ("zoe", "i01")]).to_csv("shown.csv", index=False, header=False)
    pd.DataFrame([("u3", next(iter(had))), ("zoe", "i02")]).to_csv("new.csv", index=False, header=False)
    told = run_cli("eval", "ranking", "shop", "new.csv", "--fold-in", "shown.csv").out
    assert "the model was trained on 1 of these pairs" in told
    assert json.loads(run_cli("eval", "ranking", "shop", "test.csv", "--json").out)["results"]["model"]["nll"] is None
    for command in (
        ("export", "shop", "x.txt"),
        ("nearest", "i01", "--vectors", "shop"),
        ("train", "--update", "shop", "--pairs", "likes.csv"),
        ("recommend", "shop", "u3", "--score", "corrected"),
    ):
        refused = run_cli(*command)
        assert refused.code == 1 and "slim model" in refused.err, refused.err
    for question in (lambda: word.vectors, lambda: word.similar_items("i01"), lambda: word.user_vector(["i01"])):
        with pytest.raises(ConfigError, match="no vectors"):
            question()
    refused = run_cli("slim", "--corpus", "likes.csv", "--save-model", "other")
    assert refused.code == 2 and "slim reads one of --baskets, --cooccurrence, --pairs, --ratings" in refused.err


def test_fused_scores_are_sums_and_know_new_users(likes, run_cli):
    run_cli("train", "--pairs", "likes.csv", "--rectangular", "--save-model", "vectors", "--dim", "8", "--epochs", "2")
    word = Word2Vec.load("vectors")
    known, some = word.model.known, np.arange(5)
    items = SlimScores(known, fit_weights(known, *default_of(known)))(some)
    fused = scores_of(word.model, "slim+0.5")
    np.testing.assert_allclose(fused(some), items + 0.5 * scores_of(word.model)(some), atol=1e-5)
    assert [first for first, _ in fused.tiles(some)] == [0] and np.array_equal(next(fused.tiles(some))[1], fused(some))
    listed = json.loads(run_cli("recommend", "vectors", "u3", "--score", "slim+0.001", "--json").out)["recommended"]
    assert [one["item"] for one in listed] == [item for item, _ in word.recommend("u3", score="slim+.001")]
    new = word.recommend(["i01", "i02"], k=5, score="slim+0.001", new_user=True)
    assert {item for item, _ in new} < {f"i{i:02}" for i in range(10)} - {"i01", "i02"}
    pd.DataFrame([("u3", "i01"), ("u3", "i02")]).to_csv("test.csv", index=False, header=False)
    told = json.loads(run_cli("eval", "ranking", "vectors", "test.csv", "--score", "slim+0.001", "--json").out)
    assert told["options"]["score"] == "slim+0.001" and told["results"]["model"]["nll"] is None
    for weight in ("", "0", "-1", "x", "inf"):
        refused = run_cli("recommend", "vectors", "u3", "--score", f"slim+{weight}")
        assert refused.code == 2 and "no number above 0 after slim+" in refused.err
    run_cli("slim", "--pairs", "likes.csv", "--save-model", "shop")
    refused = run_cli("recommend", "shop", "u3", "--score", "slim+1")
    assert refused.code == 1 and "needs a model with vectors of users and items" in refused.err


def test_what_it_suggests_can_be_typed(tmp_path, monkeypatch, run_cli):
    monkeypatch.chdir(tmp_path)
    Path("likes.csv").write_text("-u,a\n-u,b\n-u,c\nu 2,a\nu 2,b\nu3,a\nu3,c\n", encoding="utf-8")
    made = run_cli("slim", "--pairs", "likes.csv", "--rectangular", "--save-model=-my shop")
    *_, suggested = made.err.splitlines()
    assert suggested == "Next: w2vneg recommend './-my shop' u3", made.err
    assert run_cli(*shlex.split(suggested)[2:]).code == 0


def test_slim_replaces_no_model_unless_forced(likes, run_cli):
    learn = "slim", "--pairs", "likes.csv", "--save-model", "shop"
    for first in (learn, ("train", "--pairs", "likes.csv", "--save-model", "shop", "--dim", "4", "--epochs", "1")):
        assert run_cli(*first, "--force").code == 0
        before = {path.name: path.read_bytes() for path in Path("shop").iterdir()}
        refused = run_cli(*learn)
        assert refused.code == 1 and "shop holds a model; replace it with --force" in refused.err
        assert before == {path.name: path.read_bytes() for path in Path("shop").iterdir()}
    assert run_cli(*learn, "--force").code == 0 and Slim.load("shop")
    refused = run_cli("train", "--pairs", "likes.csv", "--save-model", "shop", "--dim", "4", "--epochs", "1")
    assert refused.code == 1 and "shop holds a model; replace it with --force, or name another folder" in refused.err
    assert Slim.load("shop")


def test_an_update_keeps_weights(tmp_path):
    table = pd.DataFrame([("ann", "tea", 5), ("ann", "milk", 1), ("bob", "tea", 2)], columns=["user", "item", "weight"])
    word2vec = Word2Vec(dim=4, epochs=1, workers=1)
    word2vec.fit(Input("pairs", table, rectangular=True))
    word2vec.save(tmp_path / "shop")
    assert (tmp_path / "shop" / "known_weights.npy").exists()
    newer = pd.DataFrame([("ann", "tea", 3), ("eve", "milk", 4)], columns=["user", "item", "weight"])
    again = Word2Vec.load(tmp_path / "shop")
    again.fit(Input("pairs", newer, rectangular=True), update=True)
    known, model = again.model.known, again.model
    weights = {
        (model.vocab.words[i], model.vocab_out.words[j]): w
        for i, j, w in zip(*known.nonzero(), known[known.nonzero()].A1, strict=True)
    }
    assert weights == {("ann", "tea"): 8, ("ann", "milk"): 1, ("bob", "tea"): 2, ("eve", "milk"): 4}
    again.save(tmp_path / "shop")
    np.save(tmp_path / "shop" / "known_weights.npy", np.zeros((4, 1), np.float32))
    with pytest.raises(InputError, match="known_weights"):
        Word2Vec.load(tmp_path / "shop")
    Word2Vec(dim=4, epochs=1).fit(Input("pairs", table.iloc[:, :2], rectangular=True))


def test_users_without_a_known_item_are_counted(likes, run_cli):
    run_cli("slim", "--pairs", "likes.csv", "--save-model", "shop")
    pd.DataFrame([("zoe", "i01"), ("new", "none")], columns=["user", "item"]).to_csv("new.csv", index=False)
    ask = "recommend", "shop", "--all", "--fold-in", "new.csv", "--out", "lists.csv", "-k", "2", "--force"
    told = run_cli(*ask)
    assert told.code == 0 and "1 of 2 users have no known item: no list" in told.err
    assert set(pd.read_csv("lists.csv")["query"]) == {"zoe"}
    assert run_cli(*ask, "--unknown", "popular").code == 0
    assert set(pd.read_csv("lists.csv")["query"]) == {"zoe", "new"}
    refused = run_cli(*ask, "--unknown", "error")
    assert refused.code == 1 and "'new' has no item that the model knows" in refused.err


def test_baskets_answer_by_items(likes, run_cli):
    assert run_cli("slim", "--baskets", "orders.txt", "--save-model", "shop", "--l2", "2", "--quiet").code == 0
    listed = json.loads(run_cli("recommend", "shop", "i01", "i02", "-k", "5", "--json").out)
    assert {one["item"] for one in listed["recommended"]} < {f"i{i:02}" for i in range(10)} - {"i01", "i02"}
    model = load_recommender("shop")
    assert model.vocab is model.vocab_out and model.known is None
    assert isinstance(Slim(l2=2).fit(Input("baskets", "orders.txt")).recommend("i01", k=1)[0][1], float)


def test_whatever_names_a_path_of_pairs_does(likes):
    class Place:
        def __fspath__(self):
            return "likes.csv"

    slim = Slim(l2=2).fit(Input("pairs", Place(), rectangular=True))
    for place in (Place(), [Place()]):
        found = slim.evaluate_ranking(place, exclude_known=(), train=place, bootstrap=0)
        assert found.test == found.train and found.test.files == ["likes.csv"]
        assert slim.recommend("u3", exclude_known=place) == slim.recommend("u3", exclude_known="likes.csv")
        assert slim.recommend_many(["u3"], exclude_known=place).ids.tolist() == slim.recommend_many(["u3"]).ids.tolist()


def test_a_damaged_folder_is_refused(likes):
    Slim(l2=2).fit(Input("pairs", "likes.csv", rectangular=True)).save("shop")
    Slim.load("shop").save("shop")  # over itself
    for name, content in (
        ("weights.npy", b"no matrix"),
        ("neighbours.npy", b"no matrix"),
        ("known.npy", b""),
        ("slim.json", b"[]"),
        ("slim.json", b'{"format": 99}'),
    ):
        Slim(l2=2).fit(Input("pairs", "likes.csv", rectangular=True)).save("shop")
        with open(f"shop/{name}", "wb") as stream:
            stream.write(content)
        with pytest.raises(InputError, match=name):
            Slim.load("shop")


def test_a_loaded_model_has_its_options_for_the_next_fit(likes, run_cli):
    data = Input("pairs", "likes.csv", rectangular=True)
    slim = Slim(neighbours=3, l2=7, min_count=2, workers=1).fit(data)
    learn = "slim", "--pairs", "likes.csv", "--neighbours", "3", "--l2", "7", "--min-count", "2", "--save-model", "shop"
    for save in (
        lambda: slim.save("shop"),
        lambda: Slim.load("shop").save("shop"),
        lambda: run_cli(*learn, "--force"),
    ):
        save()
        loaded = Slim.load("shop")
        assert loaded.get_params() | {"workers": 1} == slim.get_params()
        again = loaded.fit(data)
        assert again.recommend("u3", k=5) == slim.recommend("u3", k=5)
    about = json.loads(Path("shop/slim.json").read_text("utf-8"))
    for given in ({"l2": -1}, {"dim": 3}, [1]):
        Path("shop/slim.json").write_text(json.dumps(about | {"given": given}), "utf-8")
        with pytest.raises(InputError, match=r"slim\.json: 'given' does not hold options"):
            Slim.load("shop")
    del about["given"]  # as the message says
    Path("shop/slim.json").write_text(json.dumps(about), "utf-8")
    assert Slim.load("shop").get_params() == Slim().get_params()


def test_slim_warns_of_what_was_read_as_word2vec_does(tmp_path, caplog):
    lines = "".join(f"u{user}\ti{(user + step) % 7}\t{3 + step}\n" for user in range(9) for step in range(3))
    (tmp_path / "rated.tsv").write_text(lines, encoding="utf-8")
    data, caught = Input("pairs", tmp_path / "rated.tsv", rectangular=True), []
    for model in (Slim(), Word2Vec(dim=4, epochs=1, workers=1)):
        with caplog.at_level("INFO", "w2vneg.reading"), pytest.warns(UserWarning, match="looks like a rating") as told:
            model.fit(data)
        assert told[0].filename == __file__
        caught.append((next(str(one.message) for one in told), caplog.messages[0].partition(" in ")[0]))
        caplog.clear()
    assert caught[0] == caught[1]


def test_a_model_keeps_what_users_had_over_an_update(likes):
    word2vec = Word2Vec(dim=4, epochs=1, workers=1)
    word2vec.fit(Input("pairs", "likes.csv", rectangular=True))
    had = {item for user, item in likes if user == "u3"}
    listed = dict(word2vec.recommend("u3", k=30))
    assert set(listed) == {f"i{i:02}" for i in range(20)} - had
    assert len(word2vec.recommend("u3", k=30, exclude_known=())) == 20
    own = Input("ratings", "likes.csv", rectangular=True, user_col="user", item_col="item")
    assert dict(word2vec.recommend("u3", k=30, exclude_known=own)) == listed
    own = Input("pairs", "likes.csv", rectangular=True, item_col="user", target_col="item")
    assert dict(word2vec.recommend("u3", k=30, exclude_known=own)) == listed
    word2vec.save("model")
    loaded = Word2Vec.load("model")
    assert dict(loaded.recommend("u3", k=30)) == listed
    new = pd.DataFrame([("u3", "i01"), ("zoe", "i99"), ("zoe", "i02")], columns=["user", "item"])
    loaded.fit(Input("pairs", new, rectangular=True), update=True)
    assert "i99" in dict(loaded.recommend("u3", k=30))
    assert not {*had, "i01"} & {*dict(loaded.recommend("u3", k=30))}
    assert not {"i99", "i02"} & {*dict(loaded.recommend("zoe", k=30))}
    assert loaded.model.known.nnz == len({*likes, ("u3", "i01"), ("zoe", "i99"), ("zoe", "i02")})
    assert loaded.model.config.alpha == 0.02  # a fifth
    again = Word2Vec.load("model", alpha=0.5)
    again.fit(Input("pairs", new, rectangular=True), update=True)
    assert again.model.config.alpha == 0.5


def test_an_update_of_a_model_without_its_pairs_says_so_and_hardly_forgets(likes, run_cli, monkeypatch):
    """Above a number of pairs a model keeps none; then alpha falls with the share of the newer pairs."""
    monkeypatch.setattr(state, "_MOST", 100)
    likes, new = set(likes), [("u3", "i01"), ("zoe", "i99"), ("zoe", "i02")]
    data, options = Input("pairs", "likes.csv", rectangular=True), {"dim": 4, "epochs": 2, "workers": 1}
    word2vec = Word2Vec(**options)
    word2vec.fit(data)
    assert word2vec.model.known is None and word2vec.model.origin.n_tokens == len(likes)
    word2vec.save("model")
    pd.DataFrame(new, columns=["user", "item"]).to_csv("new.csv", index=False)
    newer, alpha = Input("pairs", "new.csv", rectangular=True), word2vec.model.config.alpha
    before = word2vec.model.vectors_in.copy()
    for n_before in (len(likes), len(likes) + 3):  # pairs of earlier updates count, too
        said = f"does not keep the {n_before:,} pairs it was trained on, so only the 3 newer ones are trained on"
        with pytest.warns(FileNote, match=said) as told:
            word2vec.fit(newer, update=True)
        assert told[0].filename == __file__
        assert word2vec.model.config.alpha == pytest.approx(alpha * 3 / (3 + n_before))
        assert (word2vec.model.config.epochs, word2vec.model.known) == (2, None)
    moved = word2vec.model.vectors_in[word2vec.model.vocab.words.find_all(Word2Vec.load("model").model.vocab.words)]
    assert 0 < np.abs(moved - before).max() < 0.05 * np.abs(before).max()

    own = Word2Vec.load("model", alpha=0.5)
    with pytest.warns(FileNote, match="better give all pairs, old and new, or --freeze$"):
        own.fit(newer, update=True)
    assert own.model.config.alpha == 0.5
    with warnings.catch_warnings():
        warnings.simplefilter("error", FileNote)
        Word2Vec.load("model").fit(newer, update=True, freeze=True)  # the old rows forget nothing
        whole = Word2Vec.load("model")
        whole.fit(Input("pairs", [*likes, *new], rectangular=True), update=True)
    assert whole.model.config.alpha == alpha and "words_before" not in whole.model.origin.begun
    told = run_cli("train", "--update", "model", "--pairs", "new.csv", "--save-model", "newer")
    assert told.code == 0, told.err
    assert f"Note: model does not keep the {len(likes):,} pairs" in told.err
    assert f"The newer data are under 1% of all training data: --alpha {alpha * 3 / (3 + len(likes)):.3g}" in told.err


def test_the_gentleness_of_an_update_is_its_own(likes, run_cli):
    data = Input("pairs", "likes.csv", rectangular=True)
    word2vec = Word2Vec(dim=4, alpha=0.2, epochs=30, workers=1)
    for _ in range(2):
        word2vec.fit(data)
        assert (word2vec.model.config.alpha, word2vec.model.config.epochs) == (0.2, 30)
        for _ in range(2):
            word2vec.fit(data, update=True)
            assert (word2vec.model.config.alpha, word2vec.model.config.epochs) == (0.02, 5)
    word2vec.save("model")
    loaded = Word2Vec.load("model")
    assert (loaded.config.alpha, loaded.config.epochs) == (0.02, 5)
    word2vec.set_params(epochs=7)
    word2vec.fit(data, update=True)
    assert (word2vec.model.config.alpha, word2vec.model.config.epochs) == (0.02, 7)
    told = run_cli("train", "--update", "model", "--pairs", "likes.csv", "--save-model", "newer", "--alpha", "0.01")
    assert told.code == 0 and "--epochs 5 --alpha 0.01." in told.err, told.err


def test_what_unknown_users_get(likes, run_cli):
    made = run_cli("slim", "--pairs", "likes.csv", "--save-model", "shop", "--l2", "2")
    assert made.code == 0
    refused = run_cli("recommend", "shop", "zoe")
    assert refused.code == 1 and "does not know the user 'zoe'" in refused.err
    skipped = run_cli("recommend", "shop", "zoe", "--unknown", "skip")
    assert skipped.code == 0 and skipped.out == "" and "There is no list." in skipped.err
    counts = pd.Series([item for _, item in likes]).value_counts()
    popular = json.loads(run_cli("recommend", "shop", "zoe", "--unknown", "popular", "-k", "3", "--json").out)
    assert [counts[one["item"]] for one in popular["recommended"]] == sorted(counts, reverse=True)[:3]
    with open("who.txt", "w", encoding="utf-8") as stream:
        stream.write("u1\nzoe\nu2\n")
    asked = "recommend", "shop", "--queries", "who.txt", "--out", "lists.csv", "-k", "3", "--force"
    assert run_cli(*asked, "--unknown", "error").code == 1
    for unknown, names in ((None, {"u1", "u2"}), ("popular", {"u1", "u2", "zoe"})):
        told = run_cli(*asked, *(("--unknown", unknown) if unknown else ()))
        assert told.code == 0 and f"Wrote {len(names)} lists" in told.err, told.err
        assert "1 of 3 names are unknown" in told.err
        found = pd.read_csv("lists.csv")
        assert set(found["query"]) == names
    best = [one["item"] for one in popular["recommended"]]
    assert found[found["query"] == "zoe"]["item"].tolist() == best
    slim = Slim.load("shop")
    with pytest.raises(UnknownNameError, match="does not know the user 'zoe'"):
        slim.recommend_many(["u1", "zoe"], k=3)
    with pytest.raises(ConfigError, match="unknown must be one of error, skip, popular"):
        slim.recommend_many(["u1"], unknown="none")
    known = dict(slim.recommend_many(["u1", "u2"], k=3))
    assert dict(slim.recommend_many(["u1", "zoe", "u2"], k=3, unknown="skip")) == known
    many = dict(slim.recommend_many(["u1", "zoe", "u2"], k=3, unknown="popular"))
    assert [item for item, _ in many.pop("zoe")] == best and many == known
    shown = [("ann", "i01"), ("bob", "nowhere")]
    assert list(dict(slim.recommend_many(k=3, fold_in=shown))) == ["ann"]
    with pytest.raises(UnknownNameError, match="'bob' has no item that the model knows"):
        slim.recommend_many(["ann", "bob"], k=3, fold_in=shown)
    assert [item for item, _ in dict(slim.recommend_many(k=3, fold_in=shown, unknown="popular"))["bob"]] == best


def test_either_model_takes_the_place_of_the_other(likes):
    data = Input("pairs", "likes.csv", rectangular=True)
    slim, word2vec = Slim(l2=2).fit(data), Word2Vec(dim=4, epochs=1, workers=1)
    word2vec.fit(data)
    slim.save("shop")
    word2vec.save("shop")
    assert Word2Vec.load("shop").recommend("u3", k=1)
    slim.save("shop")
    assert Slim.load("shop").recommend("u3", k=1) == slim.recommend("u3", k=1)
    with pytest.raises(InputError, match="a slim model, which has no vectors"):
        Word2Vec.load("shop")
