"""Options in scikit-learn's manner, and gensim's names for them."""

import inspect

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.validation import check_is_fitted

from w2vneg import TrainConfig, Word2Vec
from w2vneg.config.synonyms import GENSIM, GENSIM_METHODS, SYNONYMS
from w2vneg.config.table import options_of_users
from w2vneg.data.sources import TRAVERSALS, Traversal
from w2vneg.ground.errors import ConfigError
from w2vneg.ground.option import option
from w2vneg.objectives.presets import PRESETS

GIVEN = {"loss": "relaxed", "dim": 30, "alpha": 1, "degeneracy": "uniform", "temp": "inf", "share_negatives": True}


def test_nothing_is_no_data():
    for call in (Word2Vec(dim=4).fit, Word2Vec(dim=4).encode):
        with pytest.raises(ConfigError, match="there are no data: give sentences"):
            call(None)


def test_the_signature_lists_all_options_with_their_defaults():
    parameters = dict(inspect.signature(Word2Vec).parameters)
    assert parameters.pop("config").default is None
    assert {name: one.default for name, one in parameters.items()} == Word2Vec().get_params()
    assert {"dim", "window", "temp", "noise_exponent"} <= parameters.keys()
    assert not {"source", "rectangular", "preset", "absent"} & parameters.keys()


def test_the_signature_has_options_of_plugs_that_are_registered_later():
    class Late(Traversal):
        class Options:
            lateness: float = option(0.5, "How late.")

    TRAVERSALS.register("late")(Late)
    try:
        assert "lateness" in inspect.signature(Word2Vec).parameters
    finally:
        TRAVERSALS.unregister("late")
    assert "lateness" not in inspect.signature(Word2Vec).parameters


def test_params_are_read_set_and_cloned():
    word2vec = Word2Vec(**GIVEN)
    params = word2vec.get_params()
    assert (params["dim"], params["alpha"], params["degeneracy"], params["window"]) == (30, 1.0, "uniform", None)
    copy = clone(word2vec)
    assert copy is not word2vec and copy.get_params() == params and not copy.complete
    assert copy.set_params(dim=40, window=2) is copy
    assert (copy.config.dim, copy.config.get("window"), word2vec.config.dim) == (40, 2, 30)
    assert clone(copy).config == copy.config
    assert Word2Vec(**params).config == word2vec.config
    assert word2vec.get_params(deep=False) == params


def test_it_stands_in_a_pipeline_and_is_searched():
    word2vec = Word2Vec(loss="ns", dim=8, epochs=1, subsample=0, min_count=1, workers=1)
    with pytest.raises(NotFittedError):
        check_is_fitted(word2vec)
    lines = np.array(["a b c", "b c d"] * 20)
    pipeline = make_pipeline(FunctionTransformer(lambda texts: [line.split() for line in texts]), word2vec).fit(lines)
    check_is_fitted(pipeline[-1])
    assert sorted(pipeline[-1].wv.words) == ["a", "b", "c", "d"]
    sizes = GridSearchCV(word2vec, {"dim": [8, 4]}, cv=2, scoring=lambda fitted, lines, y=None: -fitted.wv.dim)
    assert sizes.fit([line.split() for line in lines]).best_params_ == {"dim": 4}


def test_values_of_numpy_and_paths_are_values(tmp_path):
    (tmp_path / "its.py").write_text(
        "from w2vneg.objectives.presets import Preset, register_preset\n"
        "register_preset('its-ns', Preset('ns', {}, 'ns', 'none'))\n"
    )
    try:
        word2vec = Word2Vec(loss="its-ns", plugin=tmp_path / "its.py", lowercase=np.True_, dim=np.int64(8))
        assert (word2vec.config.lowercase, word2vec.config.dim) == (True, 8)
        assert word2vec.config.plugin == str(tmp_path / "its.py")
    finally:
        PRESETS.pop("its-ns", None)


def test_what_gensim_has_is_told_where_it_is():
    word2vec = Word2Vec()
    with pytest.raises(AttributeError, match=r"no attribute 'train'; .* fit\(corpus, update=True\)"):
        word2vec.train([["a"]])
    with pytest.raises(AttributeError, match=r"no attribute 'most_similar'; use its vectors: \.wv\.most_similar"):
        word2vec.most_similar("a")
    with pytest.raises(AttributeError, match=r"no attribute 'trains'$"):
        word2vec.trains()
    assert not any(hasattr(Word2Vec, name) for name in GENSIM_METHODS)


def test_a_plugin_stays_the_same_through_a_clone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(
        "from w2vneg.objectives.presets import Preset, register_preset\n"
        "register_preset('cloned-ns', Preset('ns', {}, 'ns', 'none'))\n"
    )
    word2vec = Word2Vec(loss="cloned-ns", plugin="mine.py")
    try:
        assert clone(word2vec).get_params()["plugin"] == str(tmp_path / "mine.py")
    finally:
        PRESETS.pop("cloned-ns")


def test_options_are_no_attributes():
    word2vec = Word2Vec(window=4, dim=30)
    for name, value in {"dim": 77, "vector_size": 77, "window": 7, "sg": 1, "lowercase": True}.items():
        with pytest.raises(ConfigError, match=rf"{name} is an option and cannot .*; call set_params\({name}={value}\)"):
            setattr(word2vec, name, value)
        assert not hasattr(word2vec, name)
    for name, place in {"dim": "dim", "vector_size": "dim", "window": r"get\('window'\)"}.items():
        with pytest.raises(AttributeError, match=rf"no attribute '{name}'; it is an option: \.config\.{place}$"):
            getattr(word2vec, name)
    word2vec.note = "mine"
    assert (word2vec.config.dim, word2vec.config.get("window"), word2vec.note) == (30, 4, "mine")


@pytest.mark.parametrize(
    "other",
    [
        *({"loss": "relaxed"}, {"loss": "softmax"}, {"loss": "hierarchical"}, {"loss": "us"}, {"sampler": "uniform"}),
        *({"inputs": "window"}, {"inputs": "subwords"}, {"loss": "sampled-softmax", "alpha": 1e-6}),
    ],
)
def test_what_the_objective_of_a_model_filled_in_is_left_open_for_another(tmp_path, other):
    given = {"loss": "ns", "dim": 8, "epochs": 1, "subsample": 0, "min_count": 1, "workers": 1, "window": 3}
    word2vec = Word2Vec(**given)
    word2vec.fit([["a", "b", "c"]] * 20)
    word2vec.save(tmp_path / "model")
    assert Word2Vec.load(tmp_path / "model").set_params(**other).config == Word2Vec(**given | other).config
    word2vec = Word2Vec.load(tmp_path / "model")
    assert word2vec.set_params(**word2vec.get_params()).config.resolved() == word2vec.model.config
    word2vec.set_params(**other).set_params(loss="ns", sampler=None, inputs="row", alpha=None)
    assert word2vec.config.resolved() == word2vec.model.config


@pytest.mark.slow
def test_what_a_model_was_given_stays_with_another_objective(tmp_path):
    given = {"sampler": "boltzmann", "temp": 2.0, "alpha": 0.1, "negatives": 7, "subsample": 0, "min_count": 1}
    word2vec = Word2Vec(loss="ns", workers=1, **given)
    word2vec.fit([["a", "b", "c"]] * 20)
    word2vec.save(tmp_path / "model")
    loaded = Word2Vec.load(tmp_path / "model").set_params(loss="relaxed")
    assert {name: loaded.config.get(name) for name in given} == given
    assert loaded.config.min_alpha is None


def test_the_repr_has_the_options_that_were_given():
    assert repr(Word2Vec()) == "Word2Vec()"
    assert repr(Word2Vec(loss="ns", vector_size=30)) == "Word2Vec(loss='ns', dim=30)"
    assert eval(repr(Word2Vec(**GIVEN))).config == Word2Vec(**GIVEN).config


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"source": "pairs"}, "source cannot be set"),
        ({"dimm": 3}, "unknown option 'dimm'; did you mean 'dim'"),
        ({"regularization": 0.1}, "unknown option 'regularization'; it is called l2 here"),
        ({"num_walks": 3}, "unknown option 'num_walks'; it is called walks_per_node here"),
        ({"dim": 0}, "dim must be at least 1"),
    ],
)
def test_set_params_refuses(params, message):
    word2vec = Word2Vec(dim=30)
    with pytest.raises(ConfigError, match=message):
        word2vec.set_params(**params)
    assert word2vec.config.dim == 30


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ({"vector_size": 30}, {"dim": 30}),
        ({"size": 30, "iter": 2}, {"dim": 30, "epochs": 2}),
        ({"sample": 1e-3, "negative": 3}, {"subsample": 1e-3, "negatives": 3}),
        ({"ns_exponent": 0.5, "max_final_vocab": 9}, {"noise_exponent": 0.5, "max_vocab": 9}),
        ({"shrink_windows": False}, {"dynamic_window": False}),
        ({"sg": 1}, {"inputs": "row"}),
        ({"sg": 0, "hs": 0, "cbow_mean": 1}, {"inputs": "window"}),
        ({"sorted_vocab": 1, "null_word": 0, "compute_loss": False}, {}),
        (
            {"alpha": 0.025, "min_alpha": 1e-4, "window": 3, "seed": 4},
            {"alpha": 0.025, "min_alpha": 1e-4, "window": 3, "seed": 4},
        ),
    ],
)
def test_names_of_gensim_that_mean_the_same(theirs, ours):
    assert Word2Vec(**theirs).config == TrainConfig(**ours)
    assert Word2Vec().set_params(**theirs).config == TrainConfig(**ours)


def test_names_of_gensim_lead_to_options_that_are_there():
    assert {SYNONYMS[name] for name in GENSIM} <= {item.name for item in options_of_users()}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"vector_size": 3, "dim": 4}, "dim and vector_size both set dim"),
        ({"sg": 1, "inputs": "subwords"}, "inputs and sg both"),
        ({"sg": 2}, "sg=2 has no counterpart; sg is 0 or 1"),
        ({"hs": 1}, "loss='hierarchical'"),
        ({"cbow_mean": 0}, "mean of its vectors"),
        ({"compute_loss": True}, "model.history"),
        ({"sentences": [["a"]]}, r"Word2Vec\(…\)\.fit\(sentences\)"),
        ({"callbacks": ()}, r"fit\(…, listeners=\[…\]\)"),
        ({"negative": 0}, "negatives must be at least 1"),
        ({"sample": 5}, "subsample must be below 1"),
        ({"max_vocab_size": 5}, "called max_vocab here"),
        ({"lr": 0.1}, "called alpha here"),
        ({"vectorsize": 8}, "'vectorsize'; it is called dim here"),
        ({"cbow": True}, "use inputs='window'"),
        ({"plugin": 5}, "plugin must be text, .* not 5"),
        ({"lowercase": np.array([True])}, "lowercase must be true or false"),
    ],
)
def test_names_of_others_that_mean_something_else_are_answered(options, message):
    with pytest.raises(ConfigError, match=message):
        Word2Vec(**dict(sorted(options.items(), reverse=True)))


def test_a_corpus_is_no_option():
    with pytest.raises(ConfigError, match=r"Word2Vec\(…\)\.fit\(corpus\)"):
        Word2Vec([["a", "b"]])


def test_hierarchical_softmax_is_a_loss():
    word2vec = Word2Vec(hs=1, negative=0)
    word2vec.check()
    assert word2vec.config.loss == "hierarchical"


def test_vectors_by_the_name_of_gensim_are_made_once():
    word2vec = Word2Vec(loss="ns", dim=8, epochs=1, subsample=0, min_count=1, workers=1)
    word2vec.fit([["a", "b", "c"]] * 20)
    first = word2vec.wv
    assert word2vec.wv is first
    assert (first.matrix == word2vec.vectors.matrix).all()
    word2vec.fit([["a", "b", "d"]] * 20)
    assert list(word2vec.wv) == ["a", "b", "d"]
