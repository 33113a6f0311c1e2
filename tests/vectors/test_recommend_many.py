"""Lists for many at once agree with single queries; files of them; scores corrected for popularity."""

import csv
import json

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from test_ranking_evaluation import LOGITS, TEST, model_of, write

from w2vneg import Word2Vec
from w2vneg.config import TrainConfig
from w2vneg.data.vocab import Vocabulary
from w2vneg.ground.errors import ConfigError, InputError, UnknownNameError
from w2vneg.kernels.evaluation.best import LeftOut, Lists, best_of_rows, best_of_tile
from w2vneg.objectives.law import settle_alike, settled
from w2vneg.objectives.plugs import Weigher
from w2vneg.objectives.weighers import WEIGHERS
from w2vneg.run.model import Model
from w2vneg.vectors.evaluation import recommend as module
from w2vneg.vectors.evaluation import scores as scores_module
from w2vneg.vectors.evaluation import scores_of
from w2vneg.vectors.evaluation.recommend import recommend, recommend_many
from w2vneg.vectors.formats.recommendations import write_recommendations

RNG = np.random.default_rng(6)


def made_up(n_users=40, n_items=30, rectangular=True, **options):
    """A model whose dot products are whole numbers, many of them equal."""
    config = TrainConfig(dim=4, source="pairs", rectangular=rectangular, **options).resolved()
    users = Vocabulary([f"u{i:02}" for i in range(n_users)], np.arange(n_users, 0, -1))
    items = Vocabulary([f"i{i:02}" for i in range(n_items)], np.arange(n_items, 0, -1)) if rectangular else None
    vectors = (RNG.integers(-2, 3, (rows, 4)).astype(np.float32) for rows in (n_users, n_items))
    return Model(users, config, *vectors, vocab_out=items)


@pytest.mark.parametrize("rectangular", [True, False])
@pytest.mark.parametrize("k", [1, 5, 99])
def test_many_are_as_one_by_one(monkeypatch, rectangular, k):
    """In blocks of 3 by 3 centres and tiles of 12 targets, by integers: equal scores in all of them."""
    model = made_up(n_items=30 if rectangular else 40, rectangular=rectangular)
    monkeypatch.setattr(scores_module, "TILE", 12)
    monkeypatch.setattr(scores_module.LogitScores, "rows", 3)
    monkeypatch.setattr(module, "_SCORES", 0)
    monkeypatch.setattr(module, "_BLOCKS", 3)
    known = scipy.sparse.random(40, len(model.vocab_out), 0.3, "csr", rng=RNG)
    for left_out in (None, known):
        found = recommend_many(model, k=k, known=left_out)
        assert found.ids.shape == found.scores.shape == (40, min(k, len(model.vocab_out)))
        for name, items in found:
            assert items == recommend(model, name, k, left_out)
    some = recommend_many(model, ["u07", "u03", "u07"], k)
    assert some.queries == ["u07", "u03", "u07"]
    assert np.array_equal(some.ids[0], some.ids[2])
    assert dict(some)["u03"] == recommend(model, "u03", k)


def test_where_a_list_ends():
    model = made_up(n_items=3)
    known = scipy.sparse.csr_matrix(([1, 1], ([4, 4], [0, 2])), (40, 3))
    found = recommend_many(model, ["u04", "u05"], 3, known)
    assert found.ids[0].tolist() == [1, -1, -1]
    assert found.scores[0, 1:].tolist() == [-np.inf, -np.inf]
    assert sorted(found.ids[1]) == [0, 1, 2]


@pytest.mark.parametrize("rectangular", [True, False])
@pytest.mark.parametrize("score", ["raw", "corrected"])
def test_only_what_is_named_is_listed_as_if_the_rest_were_taken_out(monkeypatch, rectangular, score):
    model = made_up(n_items=30 if rectangular else 40, rectangular=rectangular)
    monkeypatch.setattr(scores_module, "TILE", 12)
    some = [*model.vocab_out.words[3:20:2], *model.vocab_out.words[25:29], "not yet known"]
    known = scipy.sparse.random(40, len(model.vocab_out), 0.3, "csr", rng=RNG)
    for name, items in recommend_many(model, k=5, known=known, score=score, only=some):
        kept = [pair for pair in recommend(model, name, 99, known, score) if pair[0] in some]
        assert items == kept[:5] == recommend(model, name, 5, known, score, only=some)
    ((_, popular),) = recommend_many(model, ["nobody"], 99, unknown="popular", only=some)
    assert [item for item, _ in popular] == some[:-1]
    for nothing in ([], ["none"]):
        with pytest.raises(ConfigError, match=f"knows none of the {len(nothing)} names"):
            recommend_many(model, only=nothing)


def test_a_tree_serves_too():
    model = made_up(loss="hierarchical")
    for name, items in recommend_many(model, k=5):
        expected = recommend(model, name, 5)
        assert [score for _, score in items] == pytest.approx([score for _, score in expected], rel=1e-6)


def test_many_mistakes():
    with pytest.raises(UnknownNameError, match="'U01'; did you mean 'u01'"):
        recommend_many(made_up(), ["U01"])
    for queries, k in ((["u01"], 0), ([], 3)):
        with pytest.raises(ConfigError):
            recommend_many(made_up(), queries, k)
    model = made_up()
    model.vectors_in[3] = np.nan
    with pytest.raises(InputError, match="scores are not finite"):
        recommend_many(model)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made_up().save("model")
    write(tmp_path / "known.tsv", [(f"u{n % 40:02}", f"i{n * 7 % 30:02}", 1) for n in range(200)])
    (tmp_path / "queries.txt").write_text("u05\nnobody\nu03\nu05\n")
    return tmp_path


def read_back(path):
    """Return {query: list of (item, score)} of a file; ranks count from 1 on."""
    if path.suffix == ".jsonl":
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        return {line["query"]: [(one["item"], one["score"]) for one in line["items"]] for line in lines}
    table = pd.read_csv(path) if path.suffix == ".csv" else pd.read_parquet(path)
    assert list(table.columns) == ["query", "rank", "item", "score"]
    found = {}
    for query, own in table.groupby("query"):
        assert own["rank"].tolist() == list(range(1, len(own) + 1))
        found[query] = list(zip(own["item"], own["score"].astype(float), strict=True))
    return found


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_the_command_writes_all_lists(folder, run_cli, form):
    result = run_cli("recommend", "model", "--all", "--k", 20, "--exclude-known", "known.tsv", "--out", f"recs.{form}")
    assert (result.code, result.out) == (0, "")
    assert f"Wrote 40 lists to recs.{form}." in result.err
    word2vec = Word2Vec.load("model")
    expected = word2vec.recommend_many(k=20, exclude_known="known.tsv")
    assert read_back(folder / f"recs.{form}") == dict(expected)
    assert dict(expected)["u07"] == word2vec.recommend("u07", k=20, exclude_known="known.tsv")


def test_the_command_lists_only_what_a_file_names(folder, run_cli):
    (folder / "stock.txt").write_text("i05\nnew\ni07\ni11\n")
    only = ["--only", "stock.txt"]
    assert run_cli("recommend", "model", "--all", "-k", 2, "--out", "recs.csv", *only).code == 0
    found = read_back(folder / "recs.csv")
    assert found == dict(Word2Vec.load("model").recommend_many(k=2, only=["i05", "i07", "i11"]))
    one = run_cli("recommend", "model", "u03", "-k", 2, "--json", *only)
    assert "stock.txt: 1 of 4 names are unknown to the model and appear in no list." in one.err
    assert [(item["item"], item["score"]) for item in json.loads(one.out)["recommended"]] == found["u03"]
    popular = run_cli("recommend", "model", "nobody", "-k", 9, "--unknown", "popular", "--json", *only)
    assert [item["item"] for item in json.loads(popular.out)["recommended"]] == ["i05", "i07", "i11"]
    (folder / "stock.txt").write_text("new\n")
    for arguments in (("u03",), ("--all", "--out", "other.csv")):
        result = run_cli("recommend", "model", *arguments, *only)
        assert result.code == 1 and "stock.txt: none of its 1 names is known to the model, such as 'new'" in result.err


def test_a_file_of_queries(folder, run_cli):
    result = run_cli("recommend", "model", "--queries", "queries.txt", "-k", 2, "--out", "recs.jsonl")
    assert result.code == 0
    assert "queries.txt: 1 of 4 names are unknown" in result.err
    queries = [json.loads(line)["query"] for line in (folder / "recs.jsonl").read_text().splitlines()]
    assert queries == ["u05", "u03", "u05"]


def test_several_names_in_a_line_are_one(folder, run_cli):
    said = "'u05_u03' is looked up as one name: give names separately, one per line in a file"
    for lines, code in (("u05\nu05 u03\nu05 x\n", 0), ("u05 u03\n", 1)):
        (folder / "queries.txt").write_text(lines)
        result = run_cli("recommend", "model", "--queries", "queries.txt", "--out", f"{code}.csv")
        assert result.code == code and said in result.err
    (folder / "queries.txt").write_text("u05\nu05 x\n")
    assert "as one name" not in run_cli("recommend", "model", "--queries", "queries.txt", "--out", "recs.csv").err
    with pytest.raises(UnknownNameError, match=said):
        Word2Vec.load("model").recommend_many(["u05 u03"])


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_titles_stand_beside_items(folder, run_cli, form):
    (folder / "titles.csv").write_text('id,name\ni03,"Tea, green"\ni04,Jam\n')
    result = run_cli("recommend", "model", "--all", "--k", 20, "--titles", "titles.csv", "--out", f"recs.{form}")
    assert result.code == 0, result.err
    if form == "jsonl":
        rows = [one for line in (folder / "recs.jsonl").read_text().splitlines() for one in json.loads(line)["items"]]
        table = pd.DataFrame(rows)
    else:
        table = pd.read_csv(f"recs.{form}") if form == "csv" else pd.read_parquet(f"recs.{form}")
        assert list(table.columns) == ["query", "rank", "item", "title", "score"]
    titles = {"i03": "Tea, green", "i04": "Jam"}
    assert table["title"].fillna("").tolist() == [titles.get(item, "") for item in table["item"]]


def test_a_title_of_several_lines_stays_in_its_cell(tmp_path):
    blocks = [(np.array([0]), np.array([[1, 0]], np.int32), np.array([[2.0, 1.0]], np.float32))]
    write_recommendations(tmp_path / "recs.csv", blocks, ["u"], ["i", "j"], {"i": "One\nother", "j": "Two\rmore"})
    with open(tmp_path / "recs.csv", encoding="utf-8", newline="") as stream:
        rows = list(csv.reader(stream))
    assert rows[1:] == [["u", "1", "j", "Two\rmore", "2.0"], ["u", "2", "i", "One\nother", "1.0"]]


def test_names_that_need_quotes(tmp_path, monkeypatch, run_cli):
    monkeypatch.chdir(tmp_path)
    model_of(LOGITS, words=['say_"hi"', "a,b", "naïve", "7", "007"]).save("model")
    for form in ("csv", "jsonl"):
        assert run_cli("recommend", "model", "--all", "--out", f"recs.{form}").code == 0
        again = run_cli("recommend", "model", "--all", "--out", f"recs.{form}")
        assert again.code == 1 and f"recs.{form} exists; replace it with --force" in again.err
    table = pd.read_csv("recs.csv", dtype=str)
    lists = read_back(tmp_path / "recs.jsonl")
    assert {query: own["item"].tolist() for query, own in table.groupby("query")} == {
        query: [item for item, _ in own] for query, own in lists.items()
    }
    assert lists["a,b"][0] == ("007", 4.0)


def test_mistakes_of_the_command(folder, run_cli):
    for arguments, code, message in (
        (("--all",), 2, "--all writes a file; name it with --out"),
        (("--all", "u01", "--out", "r.csv"), 2, "one of the three"),
        (("--all", "--json", "--out", "r.csv"), 2, "--all does not go with --json"),
        (("u01", "--out", "r.csv"), 2, "--out is for"),
        (("--all", "--out", "r.txt"), 1, "written as csv, jsonl, parquet"),
        (("--queries", "none.txt", "--out", "r.csv"), 1, "none.txt"),
        (("--queries", "queries.txt", "--out", "queries.txt"), 1, "written as csv"),
        (("--all", "--out", "none/r.csv"), 1, "none"),
        (("--all", "--score", "best", "--out", "r.csv"), 2, "raw, corrected or a number"),
        (("--all", "--exclude-known", "none.tsv", "--out", "r.csv"), 1, "none.tsv"),
    ):
        result = run_cli("recommend", "model", *arguments)
        assert (result.code, result.out) == (code, ""), (arguments, result.err)
        assert message in result.err
    assert sorted(path.name for path in folder.iterdir()) == ["known.tsv", "model", "queries.txt"]


# Scores corrected for popularity


def log_share(counts, exponent):
    weights = np.asarray(counts, float) ** exponent
    return np.log(weights / weights.sum())


@pytest.mark.parametrize(
    ("options", "factor", "exponent"),
    [
        ({"loss": "ps", "noise_exponent": 0.5}, 1.0, 0.5),
        ({"loss": "ns"}, 1.0, 0.75),
        ({"loss": "us"}, 1.0, 0.0),
        ({"loss": "relaxed"}, 2.0, 0.75),
        ({"loss": "ubs"}, 3.0, 0.0),
        ({"loss": "relaxed", "temp": np.inf}, 1.0, 0.75),
        ({"loss": "relaxed", "temp": 0.25}, 5.0, 0.75),
        ({"loss": "fs"}, 1.0, None),
        ({"loss": "nce"}, 1.0, None),
        ({"loss": "ps", "weigher": "importance"}, 1.0, None),
        ({"loss": "pbs", "temp": 0.5, "weigher": "importance"}, 1.0, None),
        ({"loss": "ps", "weigher": "importance", "negatives": 1}, 1.0, 1.0),
        ({"loss": "ps", "weigher": "self-adversarial", "negatives": 1}, 1.0, 1.0),
        ({"loss": "cis"}, 2.0, None),
        ({"loss": "bpr"}, 1.0, 0.0),
    ],
)
def test_the_law_of_corrected_scores(options, factor, exponent):
    model = made_up(**options)
    raw = scores_of(model)(np.arange(5)).copy()
    log_noise = 0.0 if exponent is None else log_share(model.vocab_out.counts, exponent)
    for score, share in (("corrected", 1.0), (0.5, 0.5), ("-1", -1.0)):
        found = scores_of(model, score)(np.arange(5))
        assert found == pytest.approx(factor * raw + share * log_noise, abs=1e-5)
    assert np.array_equal(scores_of(model, 0)(np.arange(5)), raw)


@pytest.mark.parametrize(
    ("options", "whose"),
    [
        ({"loss": "dns"}, "sampler dns"),
        ({"loss": "ps", "weigher": "self-adversarial"}, "weigher self-adversarial"),
        ({"loss": "css", "weigher": "importance"}, "weigher importance"),
        ({"loss": "ranking"}, "margin of loss ranking"),
        ({"loss": "hinge", "margin": 0.0}, "margin of loss hinge"),
        ({"loss": "ps", "weigher": "of-a-plug-in"}, "weigher of-a-plug-in"),
    ],
)
def test_what_settles_nowhere_known_is_refused(options, whose, tmp_path):
    WEIGHERS.register("of-a-plug-in")(type("OfAPlugIn", (Weigher,), {"__module__": __name__}))
    try:
        model = made_up(**options)
        with pytest.raises(ConfigError, match=f"it is not known where scores settle with the {whose}; use raw"):
            scores_of(model, "corrected")
        scores_of(model)
        model.save(tmp_path / "model")
        assert not list((tmp_path / "model").glob("l[ao][wg]*"))
        if "margin" in whose:  # for fold-in and a spectral start it is near enough
            assert settled(model, roughly=True)[0] == 1.0
        WEIGHERS.unregister("of-a-plug-in")
        if "of-a-plug-in" in options.values():
            with pytest.raises(UnknownNameError, match="unknown weigher 'of-a-plug-in': plug-in not loaded"):
                scores_of(Model.load(tmp_path / "model"), "corrected")
    finally:
        WEIGHERS.unregister("of-a-plug-in")


def test_a_score_is_one_of_three():
    with pytest.raises(ConfigError, match="raw, corrected or a number, not 'some'"):
        scores_of(made_up(), "some")


def test_which_objectives_settle_alike():
    counts = np.arange(9, 0, -1)

    def config(loss, **options):
        return TrainConfig(loss=loss, source="pairs", **options).resolved()

    assert settle_alike([config("us"), config("us", alpha=0.1)], counts)
    assert settle_alike([config("us"), config("fs")], counts)  # log D is the same for all
    assert settle_alike([config("ns"), config("ps", noise_exponent=0.75)], counts)
    for one, other in (("us", "ns"), ("relaxed", "ps"), ("ns", "dns")):
        assert not settle_alike([config(one), config(other)], counts)
    assert settle_alike([config("dns"), config("dns", alpha=0.1)], counts)
    assert settle_alike([config("ps", weigher="importance"), config("us")], counts)
    assert not settle_alike([config("ps", weigher="importance"), config("ps")], counts)
    assert not settle_alike([config("ps", weigher="self-adversarial"), config("ps")], counts)


def test_ranking_and_recommending_by_corrected_scores(tmp_path, monkeypatch, run_cli):
    """Logits that are log P − log D rank by P once they are corrected."""
    monkeypatch.chdir(tmp_path)
    counts = np.arange(5, 0, -1)
    shares = np.random.default_rng(0).dirichlet(np.ones(5), 5)
    model = model_of(np.log(shares) - log_share(counts, 0.75), loss="ps", noise_exponent=0.75)
    model.save("model")
    order = [item for item in np.argsort(-shares[0]) if item]
    found = run_cli("recommend", "model", "a", "--score", "corrected", "--json")
    listed = json.loads(found.out)["recommended"]
    assert [one["item"] for one in listed] == ["abcde"[i] for i in order]
    assert [one["score"] for one in listed] == pytest.approx(np.log(shares[0][order]), abs=1e-5)
    write(tmp_path / "test.tsv", TEST)
    shown = run_cli(
        "eval", "ranking", "model", "test.tsv", "--score", "corrected", "--no-baselines", "--rank-itself", "--json"
    )
    nll = json.loads(shown.out)["results"]["model"]["nll"]
    assert nll == pytest.approx(-(np.log(shares[0, 3]) + np.log(shares[0, 4]) + 2 * np.log(shares[1, 0])) / 4, abs=1e-5)


def test_the_best_of_long_rows():
    """Rows of many chunks, with equal scores, gaps and NaN."""
    scores = RNG.integers(-50, 50, (6, 1000)).astype(np.float32)
    scores[1] = np.sort(scores[1])  # every chunk has something for the list
    scores[2, :990] = -np.inf
    scores[3, 700] = np.nan
    expected = [np.argsort(-row, kind="stable")[:20] for row in scores]
    lists = best_of_rows(scores.copy(), 20)
    assert lists.sound.tolist() == [True, True, True, False, True, True]
    for r in (0, 1, 4, 5):
        assert np.array_equal(lists.ids[r], expected[r])
        assert np.array_equal(lists.scores[r], scores[r, expected[r]])
    assert lists.ids[2, :10].tolist() == expected[2][:10].tolist()
    assert set(lists.ids[2, 10:]) == {-1}


@pytest.mark.parametrize("width", [64, 100, 1000])
def test_the_best_of_tiles(width):
    """Tile by tile as all at once; what is left out stands in several tiles, in any order."""
    scores = RNG.integers(-9, 10, (6, 1000)).astype(np.float32)
    known = scipy.sparse.random(6, 1000, 0.4, "csr", rng=RNG)
    known.indices[:] = np.concatenate([RNG.permutation(row) for row in np.split(known.indices, known.indptr[1:-1])])
    own = np.array([-1, 0, 999, 64, -1, 100])
    lists, left_out = Lists.empty(6, 20), LeftOut.of(own, known.copy())
    for first in range(0, 1000, width):
        best_of_tile(scores[:, first : first + width].copy(), first, left_out, lists)
    scores[known.nonzero()] = -np.inf
    scores[own >= 0, own[own >= 0]] = -np.inf
    assert np.array_equal(lists.ids, np.argsort(-scores, axis=1, kind="stable")[:, :20])
    assert np.array_equal(lists.scores, -np.sort(-scores, axis=1)[:, :20])


@pytest.mark.parametrize(("options", "score"), [({}, 0.5), ({"loss": "softmax", "absolute_softmax": True}, "raw")])
def test_tiles_are_parts_of_rows(monkeypatch, options, score):
    monkeypatch.setattr(scores_module, "TILE", 12)
    scores, centres = scores_of(made_up(**options), score), np.arange(40)
    parts = [(first, part.copy()) for first, part in scores.tiles(centres)]
    assert [first for first, _ in parts] == [0, 12, 24]
    assert np.array_equal(np.hstack([part for _, part in parts]), scores(centres))
