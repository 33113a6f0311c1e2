"""The report: its page holds what it is told, as text, and nothing from elsewhere."""

import base64
import json
import sys
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from item_models import LOGITS, model_of
from planted import with_kin
from scipy.stats import spearmanr

from w2vneg import Vectors
from w2vneg.look.figures import Chart, Series, interactive
from w2vneg.look.report import make_report, maps, sections
from w2vneg.look.report.subjects import Subject, load_subjects, short_names

EVIL = ["<script>alert(1)</script>", "</script><img/src=x/onerror=alert(2)>", "{{7*7}}", "a&amp;b", "$x^2$"]


def vectors_of(words, dim=6, seed=1):
    return Vectors(words, np.random.default_rng(seed).normal(size=(len(words), dim)))


def told(epochs, resumed_at=None):
    """Return the history of a run whose epochs of 10 tokens take 2 seconds each, and 7 after it was resumed."""
    first = epochs if resumed_at is None else resumed_at
    common = {"event": "EpochDone", "epochs": epochs, "alpha": 0.1, "untrained": 4.0}
    records = []
    for i in range(epochs):
        done, took = (i + 1, 2.0) if i < first else (i + 1 - first, 7.0)
        counted = {"tokens": 10 * done, "seconds": took * done}
        records.append(common | counted | {"epoch": i + 1, "pairs": 100, "loss": 3.0 - i})
    return records


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder, with two files of vectors, of which one has a stranger's words, and a model."""
    monkeypatch.chdir(tmp_path)
    words = [*EVIL, *(f"word{i}" for i in range(40))]
    vectors_of(words).save("one.txt", format="word2vec")
    vectors_of(words, seed=2).save("two.txt", format="word2vec")
    model = model_of(LOGITS)
    model.history += told(2)
    model.save("model")
    return tmp_path


class Page(HTMLParser):
    """Elements by name, with the addresses that they load from and the text of scripts and cells."""

    def __init__(self, text):
        super().__init__()
        self.scripts, self.cells, self.tags, self.loaded, self._into = [], [], [], [], None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        given = dict(attributes)
        self.loaded += [given[name] for name in ("src", "href", "data", "srcset") if name in given]
        self._into = {"script": self.scripts, "td": self.cells}.get(tag)
        if self._into is not None:
            self._into.append("")

    def handle_endtag(self, tag):
        self._into = None

    def handle_data(self, data):
        if self._into is not None:
            self._into[-1] += data


@pytest.fixture
def without_bundle(monkeypatch):
    """Plotly's own four megabytes are not looked at."""
    monkeypatch.setattr("w2vneg.look.report.bundle", lambda: "/* plotly */")


def test_a_page_has_every_word_on_its_map_and_loads_nothing(folder, without_bundle):
    report = make_report(["one.txt", "two.txt"], words=[EVIL[0]])
    page = Page(report.html())
    assert all(address.startswith("#") for address in page.loaded)
    figures = [json.loads(script) for script in page.scripts[:-2]]
    assert len(figures) == len(report.charts)
    maps = [figure for figure, chart in zip(figures, report.charts, strict=True) if chart.kind == "map"]
    assert [len(figure["data"][0]["text"]) for figure in maps] == [45, 45]
    assert maps[0]["data"][0]["text"][3] == "a&amp;amp;b"


def test_words_of_strangers_are_text(folder, without_bundle):
    html = make_report(["one.txt"], words=EVIL).html()
    page = Page(html)
    assert "img" not in page.tags and page.tags.count("script") == len(page.scripts)
    assert not any("alert(" in script and "<" in script for script in page.scripts[:-2])
    assert any(EVIL[0] in cell for cell in page.cells)  # as text
    assert "<script>alert" not in html and "49" not in [cell.split("  ")[0] for cell in page.cells]


def test_clusters_are_those_that_were_planted(tmp_path):
    rng = np.random.default_rng(3)
    planted = np.arange(400) % 8
    centres = np.linalg.qr(rng.normal(size=(12, 12)))[0][:8]
    matrix = (centres[planted] + rng.normal(size=(400, 12)) * 0.02) * rng.uniform(1, 9, (400, 1))
    vectors = Vectors([f"w{i}" for i in range(400)], matrix)
    numbers, centres = maps.clusters(vectors, seed=4)
    pairs = set(zip(planted.tolist(), numbers.tolist(), strict=True))
    assert 5 <= len({number for _, number in pairs}) == len(centres) <= 8
    assert len(pairs) == 8  # a planted group is never torn apart
    sizes = np.bincount(numbers)
    assert list(sizes) == sorted(sizes, reverse=True) and sizes.min() > 0
    looks = maps.looks_of(vectors, list(vectors.words))
    assert all(len({planted[int(word[1:])] for word in name.split(" · ")}) == 1 for name in looks.called)


def test_few_vectors_have_few_clusters():
    for n in (1, 2, 5):
        numbers, centres = maps.clusters(Vectors([f"w{i}" for i in range(n)], np.ones((n, 3))))
        assert list(numbers) == [0] * n and len(centres) == 1


def test_json_in_a_page_ends_no_script():
    text = interactive.safe_json(json.dumps({"a": "</script><!--\u2028&"}, ensure_ascii=False))
    assert not set("<>&\u2028") & set(text)
    assert json.loads(text) == {"a": "</script><!--\u2028&"}


def test_curves_are_those_of_the_history(folder):
    section = sections.learning(load_subjects(["model", "one.txt"]))
    loss, speed = section.charts  # what stays the same, as alpha here, is not drawn
    assert [(series.name, list(series.y)) for series in loss.series] == [
        ("model", [3, 2]),
        ("model, at init", [4, 4]),
    ]
    assert list(speed.series[0].x) == [1, 2] and loss.whole_x
    np.testing.assert_allclose(speed.series[0].y, 5e-6)
    assert not sections.learning(load_subjects(["one.txt"])) and not sections.draws(load_subjects(["model"]))


@pytest.mark.parametrize("resumed_at", [1, 2, 3])
def test_time_of_a_resumed_run_is_that_of_its_parts(resumed_at):
    tokens, seconds = sections._spent(told(4, resumed_at))
    assert list(tokens) == [10] * 4 and list(seconds) == [2] * resumed_at + [7] * (4 - resumed_at)


def test_an_epoch_that_was_run_again_counts_once():
    model = model_of(LOGITS)
    model.history += [*told(2), *told(3)]
    assert [record["epoch"] for record in Subject("a", "a", vectors_of("ab"), model).records("EpochDone")] == [1, 2, 3]


@pytest.mark.usefixtures("gensim")
def test_the_verdict_leaves_out_what_says_next_to_nothing(monkeypatch):
    from w2vneg.vectors.evaluation.similarity import read_pairs

    (ws353,) = sections.sets_at_hand(["ws353"])
    words = sorted({word.lower() for pair in read_pairs(ws353.path) for word in pair[:2]})
    many, few = Subject("many", "", vectors_of(words)), Subject("few", "", vectors_of(words[:9]))
    found = {one: results for one, results in sections.measured([many, few]).items() if one.name == "ws353"}
    ((result, none),) = found.values()
    assert result.scored > 300 and none is None and not sections.measured([few])
    (table,) = sections.verdict([many, few], found, {}).tables
    assert table.head == ["", "many", "few", "chance"] and table.rows[0] == ["training time", "–", "–", "–"]
    assert table.rows[1][0] == "ws353" and "…" in table.rows[1][1] and table.rows[1][2:] == ["–", "0"]


def test_differences_are_paired():
    rng = np.random.default_rng(1)
    human = rng.normal(size=300)
    noise, other = rng.normal(size=(2, 300))
    first, second = human + 2 * noise, human + 1.6 * noise + 0.1 * other
    difference, low, high = sections.paired_difference(human, first, second)
    expected = spearmanr(human, second).statistic - spearmanr(human, first).statistic
    assert difference == pytest.approx(expected)
    resampled = []
    for _ in range(500):
        rows = rng.integers(0, 300, 300)
        resampled.append(spearmanr(human[rows], second[rows])[0] - spearmanr(human[rows], first[rows])[0])
    np.testing.assert_allclose((low, high), np.percentile(resampled, (2.5, 97.5)), atol=0.015)
    assert low > 0 and sections.paired_difference(human, first, first) == (0.0, 0.0, 0.0)


def test_differences_are_of_the_pairs_that_both_have_scored(tmp_path):
    from w2vneg.vectors.evaluation.similarity import scored_pairs

    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("a\tb\t1\na\tc\t3\na\td\t2\nb\td\t4\na\te\t9\n")
    angles = np.radians([0, 1, 10, 20, 80])
    all_words = Vectors("abcde", np.column_stack([np.cos(angles), np.sin(angles)]))
    fewer = Vectors("abcd", all_words.matrix[[0, 3, 2, 1]])
    shown = sections._difference(*(scored_pairs(vectors, pairs) for vectors in (all_words, fewer)))
    assert shown.endswith("), 4") and sections._difference(None, scored_pairs(fewer, pairs)) == "–"


def test_outliers_are_the_pairs_that_people_and_cosines_put_furthest_apart(tmp_path):
    angles = np.radians([0, 1, 10, 20, 80])
    vectors = Vectors("abcde", np.column_stack([np.cos(angles), np.sin(angles)]))
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("a\tb\t1\na\tc\t8\na\td\t7\na\te\t5\n")
    from w2vneg.vectors.evaluation.similarity import scored_pairs

    rows = sections._outliers("set", "one", scored_pairs(vectors, pairs))
    assert rows[0] == ["set", "one", "a – b", "4", "1"]


def test_effective_rank_of_equal_axes_and_of_a_line():
    cross = np.vstack([np.eye(4), -np.eye(4)])
    shares = maps.spectrum(Vectors([f"w{i}" for i in range(8)], cross))
    np.testing.assert_allclose(shares, 0.25, rtol=1e-6)
    assert maps.effective_rank(shares) == pytest.approx(4)
    line = maps.spectrum(Vectors("abc", [[1, 1], [2, 2], [5, 5]]))
    assert maps.effective_rank(line) == pytest.approx(1, abs=1e-5)
    assert np.isfinite(maps.effective_rank(maps.spectrum(Vectors("a", [[0.0, 0.0]]))))


def test_a_map_by_principal_axes_keeps_distances_within_a_plane():
    rng = np.random.default_rng(3)
    angles = rng.uniform(0, 2 * np.pi, 30)
    plane = np.linalg.qr(rng.normal(size=(5, 2)))[0].T
    vectors = Vectors([f"w{i}" for i in range(30)], np.column_stack([np.cos(angles), np.sin(angles)]) @ plane)
    at = maps.places(vectors)
    apart = lambda points: np.linalg.norm(points[:, None] - points[None], axis=2)  # noqa: E731
    np.testing.assert_allclose(apart(at), apart(vectors.unit), atol=1e-5)


def test_names_are_as_short_as_tells_them_apart():
    assert short_names(["a/one", "b/two"]) == ["one", "two"]
    assert short_names(["a/one/", "b/one"]) == ["a/one", "b/one"]
    assert short_names(["x", "x"]) == ["x (1)", "x (2)"]


def test_the_command_writes_page_and_figures(folder, run_cli):
    result = run_cli("report", "model", "one.txt", "--out", "page.html", "--figures", "drawn")
    assert result.code == 0, result.err
    assert "Wrote page.html" in result.err
    assert 4e6 < (folder / "page.html").stat().st_size < 15e6  # with Plotly in it
    pngs, svgs = sorted((folder / "drawn").glob("*.png")), sorted((folder / "drawn").glob("*.svg"))
    assert [path.stem for path in pngs] == [path.stem for path in svgs]
    assert {"loss", "norms", "spectrum", "map-1", "map-2"} <= {path.stem for path in pngs}
    assert pngs[0].read_bytes().startswith(b"\x89PNG") and b"<svg" in svgs[0].read_bytes()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing"], "missing: no such file"),
        (["one.txt", "--word", "nosuchword"], "nosuchword"),
        (["one.txt", "--map", "tsne"], "unknown map 'tsne'"),
        (["one.txt", "--figures", "one.txt"], "cannot write figures to one.txt"),
        (["one.txt", "--out", "no/where.html"], "no/where.html"),
        (["one.txt", "--test", "one.txt"], "ranked by models of items, but none of these is one"),
    ],
)
def test_mistakes(folder, run_cli, arguments, message):
    result = run_cli("report", *arguments)
    assert result.code == 1 and message in result.err and "Traceback" not in result.err
    assert not list(folder.glob("*.html"))


def test_a_page_does_not_take_the_place_of_what_it_is_of(folder, run_cli):
    before = (folder / "one.txt").read_bytes()
    for arguments in (["one.txt"], ["model", "--titles", "one.txt"]):
        result = run_cli("report", *arguments, "--out", "one.txt")
        assert result.code == 2 and "--out one.txt would overwrite one.txt" in " ".join(result.err.split())
    assert (folder / "one.txt").read_bytes() == before
    result = run_cli("report", "model", "--out", "model/vocab.tsv")
    assert result.code == 2 and "would overwrite" in result.err
    for _ in range(2):
        assert run_cli("report", "model", "--out", "model/report.html").code == 0
    (folder / "notes.html").write_text("<!doctype html>\n<title>Mine</title>\n")
    result = run_cli("report", "model", "--out", "notes.html")
    assert result.code == 1 and "notes.html exists and is not a page of 'w2vneg report'; name another" in result.err
    assert (folder / "notes.html").read_text().endswith("Mine</title>\n")


@pytest.mark.parametrize(
    ("module", "arguments", "extra"),
    [("plotly.offline", [], "report"), ("jinja2", [], "report"), ("umap", ["--map", "umap"], "umap")],
)
def test_a_missing_package_is_told_with_its_extra(folder, run_cli, monkeypatch, module, arguments, extra):
    monkeypatch.setitem(sys.modules, module, None)
    result = run_cli("report", "one.txt", *arguments)
    assert result.code == 1 and f'pip install "w2vneg[{extra}]"' in result.err
    assert not list(folder.glob("*.html"))


def test_bars_have_intervals_around_them():
    y, low, high = np.array([[5.0, 6.0], [4.0, 4.0], [7.0, 9.0]])
    bars = Chart("a", "a", "", "%", [Series("one", ["p", "q"], y, None, low, high)], "bars")
    error = json.loads(interactive.figure_json(bars))["data"][0]["error_y"]
    decoded = [np.frombuffer(base64.b64decode(error[key]["bdata"])) for key in ("array", "arrayminus")]
    assert [list(one) for one in decoded] == [[2, 3], [1, 2]]


def test_what_is_shown_of_files_beside_models(folder):
    model = model_of(LOGITS)
    model.history += [*told(2), {"event": "Interrupted", "epoch": 3, "fraction": 0.5}]
    one = Subject("file", "file", vectors_of("abcde"))
    two = Subject("run", "run", Vectors("abcde", np.eye(5), [9, 7, 5, 3, 1], noun="item"), model)
    section = sections.runs([one, two])
    assert [table.title for table in section.tables] == ["", "All options"]  # a file has none that differ
    assert section.tables[1].head == ["", "run"]
    facts = {row[0]: row[1:] for row in section.tables[0].rows}
    assert facts["vectors"] == ["5 words", "5 items"]
    assert facts["epochs"] == ["–", f"2 of {model.config.epochs}, interrupted"]
    norms = maps.shape([one, two]).charts[0]  # not places of one beside counts of the other
    assert norms.x.startswith("rank") and all(series.x[0] == 1 for series in norms.series)
    assert maps.shape([two]).charts[0].series[0].x[0] == 9


def test_words_that_are_asked_for_are_shown_or_told_to_be_unknown():
    one, two = Subject("one", "", vectors_of("abcde")), Subject("two", "", vectors_of("xyz"))
    first, second = sections.neighbours([one, two], ["a", "nobody"]).tables
    assert first.title == "a" and len(first.rows) == 4 and first.rows[0][1] == "no such word"
    assert second.rows == [["no such word", "no such word"]]


def test_kin_of_words_and_the_largest_rules_are_shown(folder, without_bundle):
    words = ["walk", "walking", "talk", "talking", "un", *EVIL[:2]]
    vectors = with_kin(words, [EVIL[:2]], [("walk", "walking"), ("talk", "talking")])
    vectors.save("rules.npz")
    (section,) = [one for one in make_report(["rules.npz", "one.txt"]).sections if one.title == "Kin"]
    *_, rules = section.tables
    assert rules.title == "Largest rules of rules.npz"
    assert rules.rows[0] == ["+ing", "2", "walk → walking, talk → talking"] and rules.rows[1][1] == "1"
    one = Subject("one", "", vectors)
    first, second, _ = sections.kin([one, Subject("two", "", vectors_of("xy"))], ["walking", "un"]).tables
    assert (first.title, first.head, first.rows) == ("walking", ["one"], [["walk  -ing, 2 pairs"]])
    assert second.rows == [["no kin"]]
    page = Page(make_report(["rules.npz"], words=EVIL[:1]).html())
    assert "img" not in page.tags and page.tags.count("script") == len(page.scripts)
    assert any(cell.startswith(f"{EVIL[1]}  -") for cell in page.cells)  # as text
    unrelated = with_kin(["a", "b"], [("a", "b")])
    unrelated.rules.pairs.keep(np.array([False]))
    for none in (unrelated, vectors_of("ab")):
        assert not sections.kin([Subject("one", "", none)], ["a"])


def test_of_users_and_items_the_page_shows_items_their_lists_and_how_good_these_are(folder, without_bundle):
    model = model_of([[3, 2, 1, 0], [0, 1, 2, 3], [1, 3, 0, 2]], words="uvw", words_out="abcd")
    model.known = scipy.sparse.csr_matrix(np.array([[1, 0, 0, 0], [0, 0, 0, 1], [0, 1, 0, 1]], np.float32))
    model.save("shop")
    (folder / "test.tsv").write_text("user\titem\nu\tb\nv\tc\nw\td\n")
    (shop,) = load_subjects(["shop"], titles={"a": "Apples", "b": "Bread"})
    assert shop.has_users and shop.vectors.words == list("abcd") and shop.title("a") == "Apples"
    report = make_report(["shop"], titles=shop.titles, test="test.tsv")
    by_title = {section.title: section for section in report.sections}
    (table,) = report.sections[0].tables
    assert table.head[:3] == ["lists of 10", "shop", "popularity"] and table.rows[0][0] == "NDCG@10"
    assert "Lists of shop are not distinguishable from the most popular items, by NDCG" in report.sections[0].text
    assert "test.tsv" in report.sections[0].text
    (own,) = by_title["Lists for users"].tables  # of who has most
    assert own.title == "shop: user w, who has Bread, d"
    assert [row[:2] for row in own.rows] == [["Apples", "1.00"], ["c", "0.00"]] and own.rows[0][2].startswith(
        "Bread 0."
    )
    (near,) = by_title["People who liked this also liked"].tables
    assert near.title == "c" and {row[0].split("  ")[0] for row in near.rows} == {"Apples", "Bread", "d"}
    assert "--test FILE" in make_report(["shop"]).sections[0].text


def test_what_was_trained_on_does_not_compete_in_lists_of_items_of_one_kind(tmp_path, monkeypatch, run_cli):
    monkeypatch.chdir(tmp_path)
    rows = {(i, (i * 7 + k * k) % 30) for i in range(30) for k in range(1, 9)}
    Path("all.csv").write_text("item,target\n" + "".join(f"i{a},i{b}\n" for a, b in sorted(rows) if a != b))
    assert run_cli("split", "--pairs", "all.csv", "--out", "parts").code == 0
    small = "--dim=4", "--epochs=1", "--workers=1", "--save-model=model", "--quiet"
    assert run_cli("train", "--pairs", "parts/train.tsv", *small).code == 0
    said = run_cli("eval", "ranking", "model", "parts/test.tsv", "--exclude-known=parts/train.tsv", "--json").out
    (one,) = sections.ranked(load_subjects(["model"]), "parts/test.tsv").values()
    assert one.model.mrr == json.loads(said)["results"]["model"]["mrr"]
    Path("test.tsv").write_text(Path("parts/test.tsv").read_text())
    made = run_cli("report", "model", "--test", "test.tsv", "--map=none")
    assert made.code == 0 and "They may contain training pairs" in Path("report.html").read_text("utf-8"), made.err


def test_a_search_is_no_run(tmp_path, run_cli):
    (tmp_path / "search.json").write_text("{}")
    result = run_cli("report", str(tmp_path), "--out", str(tmp_path / "page.html"))
    assert result.code == 1 and "holds a search, not vectors; its table is" in result.err
