"""Pictures for notebooks: they show the figures of vectors and runs."""

import sys

import numpy as np
import pandas as pd
import pytest
from item_models import LOGITS, model_of

from w2vneg import Vectors, Word2Vec
from w2vneg.ground.errors import ConfigError, MissingExtraError

pytest.importorskip("matplotlib")
pytest.importorskip("plotly")


def vectors_of(n=50):
    return Vectors([f"<w{i}>" for i in range(n)], np.random.default_rng(1).normal(size=(n, 6)), np.arange(n, 0, -1))


def test_a_map_has_every_word_coloured_by_cluster_and_large_if_frequent():
    (points,) = vectors_of().map(titles={"<w1>": "one"}).data
    assert points.text[:2] == ("&lt;w0&gt;", "one")
    (again,) = vectors_of().map(titles=pd.Series({"<w1>": "one"})).data
    assert again.text == points.text
    groups = len(points.marker.colorbar.ticktext)
    assert set(points.marker.color) == set(range(groups)) and groups > 3
    assert (np.diff(points.marker.size) < 0).all() and points.marker.size[[0, -1]].tolist() == [14, 3]
    for way in ("none", "tsne"):
        with pytest.raises(ConfigError):
            vectors_of().map(way)


def test_neighbours_are_dots_at_their_cosines():
    vectors = vectors_of()
    figure = vectors.plot_neighbours("<w3>", k=5)
    (axes,) = figure.axes
    expected = vectors.most_similar("<w3>", k=5)
    assert [label.get_text() for label in axes.get_yticklabels()] == [word for word, _ in expected]
    np.testing.assert_allclose(axes.collections[0].get_offsets()[:, 0], [cosine for _, cosine in expected])
    for one, k in ((Vectors(["a"], np.ones((1, 2))), 10), (vectors, None)):
        with pytest.raises(ConfigError, match="there must be another word, and a k of at least 1"):
            one.plot_neighbours(one.words[0], k=k)
    assert axes.get_xlabel() == "cosine" and figure._repr_png_().startswith(b"\x89PNG")


def test_history_is_drawn_by_epoch():
    word2vec = Word2Vec(dim=8)
    with pytest.raises(ConfigError, match="call fit first"):
        word2vec.plot_history()
    word2vec.model = model_of(LOGITS)
    with pytest.raises(ConfigError, match="no epoch was trained"):
        word2vec.plot_history()
    common = {"event": "EpochDone", "epochs": 2, "pairs": 9, "untrained": 4.0}
    for epoch, loss in ((1, 3.0), (2, 2.5)):
        more = {"epoch": epoch, "alpha": 0.1 / epoch, "tokens": 10 * epoch, "seconds": 2.0 * epoch, "loss": loss}
        word2vec.model.history.append(common | more)
    drawn = {axes.get_title(): axes for axes in word2vec.plot_history().axes}
    assert list(drawn) == ["Loss", "Learning rate", "Speed"]
    assert list(drawn["Loss"].lines[0].get_ydata()) == [3.0, 2.5] and drawn["Loss"].get_xlabel() == "epoch"


def test_a_missing_package_is_told_with_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "plotly.graph_objects", None)
    with pytest.raises(MissingExtraError, match=r"w2vneg\[report\]"):
        vectors_of().map()
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"w2vneg\[plot\]"):
        vectors_of().plot_neighbours("<w1>")
