"""Report and explorer in a real browser: headless Chromium, which Playwright drives."""

import shutil
import threading
from html import escape

import numpy as np
import pytest
from item_models import LOGITS, model_of
from planted import with_kin

from w2vneg import Vectors
from w2vneg.look.explore import Answers
from w2vneg.look.explore.app import Server
from w2vneg.look.figures.interactive import page_script
from w2vneg.look.report import make_report
from w2vneg.look.report.subjects import Subject

pytestmark = pytest.mark.slow
EVIL = [
    "<script>window.hacked=1</script>",
    "<img/src=x/onerror=window.hacked=2>",
    "</script><script>window.hacked=3</script>",
]
WHERE = """() => {
  const plot = document.querySelector(".map .plot"), { xaxis, yaxis } = plot._fullLayout, [trace] = plot._fullData;
  const box = plot.querySelector(".nsewdrag").getBoundingClientRect();
  return { x: box.x + xaxis.d2p(trace.x[0]), y: box.y + yaxis.d2p(trace.y[0]) };
}"""
MARKS = "(document.querySelector('.map .plot').layout.annotations ?? []).filter((one) => one.showarrow)"
MARKED = f"{MARKS}.map((one) => one.text)"
SERIOUS = {"serious", "critical"}
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--enable-unsafe-swiftshader"]


def vectors():
    words = ["king", "queen", "kings", *EVIL, *(f"word{i}" for i in range(200))]
    return with_kin(words, [(f"word{i}", f"word{i}0") for i in range(1, 20)], [EVIL[::2]])


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason='no Playwright: pip install "w2vneg[browser]"')
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("no chromium: apt-get install chromium")
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=chromium, args=FLAGS)
        yield opened
        opened.close()


class Watched:
    """A page, what its console complained of, and what it asked of a network."""

    def __init__(self, page):
        self.page, self.errors, self.asked = page, [], []
        page.on("console", lambda message: self.errors.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", lambda request: self.asked.append(request.url))


@pytest.fixture
def watched(browser):
    page = browser.new_page(viewport={"width": 1000, "height": 800})
    page.set_default_timeout(20_000)
    yield Watched(page)
    page.close()


@pytest.fixture
def explorer():
    """The address of an explorer of words and items, served on a thread."""
    model = model_of(LOGITS)
    items = Subject("items", "items", Vectors(model.vocab.words, model.vectors_in), model)
    words = Subject("words", "words", vectors(), titles={"b": "Brazil <b>"})
    with Server(Answers([words, items], "pca"), "token") as server:
        threading.Thread(target=server.serve_forever).start()
        yield server.address
        server.shutdown()


def test_a_report_opens_from_disk_and_its_map_answers(watched, tmp_path):
    vectors().save(tmp_path / "one.txt", format="word2vec")
    path = tmp_path / "report.html"
    make_report([tmp_path / "one.txt"], words=EVIL).write(path)
    page = watched.page
    page.goto(path.as_uri())
    page.wait_for_selector(".chart.map .plot .gl-canvas")
    drawn = page.locator(".chart .plot.js-plotly-plot")
    assert drawn.count() == page.locator(".chart").count() == 3
    n_points = page.evaluate("document.querySelector('.map .plot')._fullData[0].x.length")
    assert n_points == 206
    before = page.evaluate("document.querySelector('.map .plot')._fullLayout.xaxis.range[0]")
    page.locator(".map .search").fill("Queen")
    page.wait_for_function(f"{MARKED}[0] === 'queen'")
    assert page.locator(".map .annotation-text").first.text_content() == "queen"
    assert page.evaluate("document.querySelector('.map .plot')._fullLayout.xaxis.range[0]") != before
    page.locator(".map .search").fill(EVIL[0])
    page.wait_for_function("document.querySelector('.map .annotation-text')?.textContent.includes('script')")
    assert page.locator(".map .annotation-text").first.text_content() == EVIL[0]
    page.locator(".map .search").fill("nobody")
    page.wait_for_function(f"{MARKED}.length === 0")
    assert page.locator(".map .found").text_content() == "not on the map"
    assert page.evaluate("window.hacked") is None
    assert watched.errors == [] and all(url.startswith(("file:", "data:", "blob:")) for url in watched.asked)


def test_a_map_answers_a_hover(watched, tmp_path):
    Vectors(["<b>only</b>", "other"], np.eye(2)).save(tmp_path / "two.txt", format="word2vec")
    path = tmp_path / "report.html"
    make_report([tmp_path / "two.txt"]).write(path)
    watched.page.goto(path.as_uri())
    watched.page.wait_for_selector(".chart.map .plot .gl-canvas")
    watched.page.locator(".map .plot").scroll_into_view_if_needed()
    at = watched.page.evaluate(WHERE)
    watched.page.mouse.move(at["x"] - 30, at["y"])
    watched.page.mouse.move(at["x"], at["y"], steps=4)
    watched.page.wait_for_selector(".map .hovertext")
    assert watched.page.locator(".map .hovertext").text_content() == "<b>only</b>"


def test_a_map_of_many_points_draws_the_most_frequent_in_view(watched, tmp_path, monkeypatch):
    script = page_script().replace("POINTS = 75_000", "POINTS = 50")
    monkeypatch.setattr("w2vneg.look.report.page_script", lambda: script)
    vectors().save(tmp_path / "one.txt", format="word2vec")
    make_report([tmp_path / "one.txt"]).write(tmp_path / "report.html")
    page = watched.page
    page.goto((tmp_path / "report.html").as_uri())
    page.wait_for_selector(".chart.map .plot .gl-canvas")
    drawn = "document.querySelector('.map .plot')._fullData[0].text"
    assert page.evaluate(drawn) == [escape(word) for word in vectors().words[:50]]
    assert "50 of 206 points are drawn" in page.locator(".map .controls").text_content()
    page.locator(".map .search").fill("word199")  # the last one, and not drawn before
    page.wait_for_function(f"{drawn}.includes('word199')")
    assert page.evaluate(f"{drawn}.length") < 50
    assert "All points in view" in page.locator(".map .controls").text_content()
    colours = "document.querySelector('.map .plot')._fullData[0].marker.color.length"
    assert page.evaluate(colours) == page.evaluate(f"{drawn}.length") and watched.errors == []


def test_the_explorer_answers_the_keyboard(watched, explorer):
    page = watched.page
    page.goto(explorer)
    assert page.evaluate("document.activeElement.id") == "near"
    page.keyboard.type("king - word1 + que")
    page.wait_for_selector("#near-list [role=option]")
    page.keyboard.press("ArrowDown")
    assert page.locator("#near").get_attribute("aria-activedescendant") == "near-list-0"
    page.keyboard.press("Enter")
    assert page.locator("#near").input_value() == "king - word1 + queen"
    page.wait_for_selector("#near-answer .entry")
    first = page.locator("#near-answer .entry button").first
    assert first.text_content() == vectors().analogy("word1", "king", "queen", k=1)[0][0]
    first.click()
    assert page.locator("#near").input_value() == first.text_content()
    page.locator("#a").fill("king")
    page.locator("#b").fill("queen")
    page.keyboard.press("Escape")
    page.wait_for_selector("#compare-answer .entry")
    assert page.locator("#compare-answer .error").count() == 1  # that of the items, which have neither
    assert watched.errors == [] and all(url.startswith(explorer) for url in watched.asked)


def test_kin_have_their_rules_and_answer_a_click(watched, explorer):
    page = watched.page
    page.goto(explorer)
    page.locator("#near").fill("word7")
    kin = page.locator("#near-answer ol + p + ol .entry")
    kin.wait_for()
    assert kin.locator("span").text_content() == "+0, 19 pairs"
    kin.locator("button").click()
    page.wait_for_function("document.querySelector('#near-answer ol + p + ol .score')?.textContent == '-0, 19 pairs'")
    assert page.locator("#near").input_value() == "word70" and kin.locator("button").text_content() == "word7"
    page.locator("#near").fill("king")
    kin.wait_for(state="detached")
    assert watched.errors == []


def test_a_basket_is_filled_and_emptied_by_the_keyboard(watched, explorer):
    page = watched.page
    page.goto(explorer)
    page.wait_for_selector("#item")
    page.locator("#item").focus()
    page.keyboard.type("b")
    page.keyboard.press("Enter")
    page.wait_for_selector("#next-answer .entry")
    assert page.locator("#next-answer .entry button").first.text_content() == "e"
    assert page.locator("#chosen button").text_content() == "Brazil <b> ×"
    assert "because of Brazil <b> 4.00" in page.locator("#next-answer .why").first.text_content()
    page.locator("#chosen button").press("Enter")
    page.locator("#next-answer .entry").first.wait_for(state="detached")
    assert page.locator("#chosen button").count() == 0 and watched.errors == []


def test_a_map_has_labels_without_hover_and_names_of_clusters(watched, explorer):
    watched.page.set_viewport_size({"width": 390, "height": 800})
    watched.page.goto(explorer)
    watched.page.wait_for_selector("#map .annotation-text")
    assert 5 < watched.page.locator("#map .annotation-text").count() < 60
    assert watched.page.locator("#map .clusters span").count() == 8 and watched.errors == []


def test_the_map_marks_what_is_asked_and_asks_for_what_is_clicked(watched, explorer):
    page = watched.page
    page.goto(explorer)
    page.wait_for_selector("#map .gl-canvas")
    page.locator("#near").fill("king - word1 + queen")
    page.wait_for_function(f"{MARKED}.length === 15")
    page.wait_for_function("document.querySelector('#map .annotation-text').textContent == 'king'")
    assert page.locator("#map .annotation-text").all_text_contents()[:3] == ["king", "queen", "word1"]
    page.locator("#near").fill("word7")
    page.wait_for_function("document.querySelector('#map .annotation-text').textContent == 'word7'")
    page.locator("#near").fill("nobody")
    page.wait_for_function(f"{MARKED}.length === 0")
    page.locator("#map .plot").scroll_into_view_if_needed()
    page.evaluate(
        "Plotly.relayout(document.querySelector('#map .plot'), {'xaxis.autorange': true, 'yaxis.autorange': true})"
    )
    at = page.evaluate(WHERE)  # of the first word
    page.mouse.move(at["x"] - 30, at["y"])
    page.mouse.move(at["x"], at["y"], steps=4)
    page.wait_for_selector("#map .hovertext")
    page.mouse.click(at["x"], at["y"])
    page.wait_for_function("document.querySelector('#near').value == 'king'")
    page.locator("#map-of select").select_option("items")
    page.wait_for_function("document.querySelector('#map .plot')?._fullData?.[0].text.length == 5")
    assert watched.errors == [] and page.evaluate("window.hacked") is None


def test_words_of_strangers_do_not_run(watched, explorer):
    page = watched.page
    page.goto(explorer)
    for word in EVIL:
        page.locator("#near").fill(word)
        page.wait_for_selector("#near-list [role=option]", state="attached")
        page.wait_for_selector("#near-answer .entry")
    rule = "-/script><script>window.hacked=3</script> +script>window.hacked=1</script>, 1 pairs"
    page.wait_for_function(
        "(rule) => document.querySelector('#near-answer ol + p + ol .score')?.textContent == rule", arg=rule
    )
    page.locator("#near").fill("<")
    page.wait_for_selector("#near-list-2")
    assert sorted(page.locator("#near-list [role=option]").all_text_contents()) == sorted(EVIL)
    assert page.evaluate("window.hacked") is None and page.locator("main img, main script").count() == 0


def test_a_wrong_token_is_refused(watched, explorer):
    response = watched.page.goto(explorer.replace("/token/", "/tokem/"))
    assert response.status == 403 and watched.page.locator("input").count() == 0


@pytest.mark.parametrize(("scheme", "width"), [("light", 1000), ("dark", 360)])
def test_pages_have_no_serious_violation_of_accessibility(browser, explorer, tmp_path, scheme, width):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason='no axe: pip install "w2vneg[browser]"')
    vectors().save(tmp_path / "one.txt", format="word2vec")
    make_report([tmp_path / "one.txt"], words=EVIL).write(tmp_path / "report.html")
    page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    for address in ((tmp_path / "report.html").as_uri(), explorer):
        page.goto(address)
        page.wait_for_selector(".map .gl-canvas", state="attached")
        if address == explorer:
            page.locator("#a").fill("king")
            page.locator("#b").fill("b")
            page.wait_for_selector("#compare-answer .error")
            page.locator("#near").fill("kin")
            page.wait_for_selector("#near-list [role=option]")
        found = axe.Axe().run(page).response
        assert len(found["passes"]) > 15
        serious = [(one["id"], one["nodes"][0]["html"]) for one in found["violations"] if one["impact"] in SERIOUS]
        assert serious == [], address
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_explorer_fits_a_phone_in_light_and_dark(browser, explorer, scheme):
    page = browser.new_page(viewport={"width": 360, "height": 640}, color_scheme=scheme)
    page.goto(explorer)
    page.locator("#near").fill("king")
    page.wait_for_selector("#near-answer .entry")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, paper[4:-1].split(","))) > 380) == (scheme == "light")
    page.close()
