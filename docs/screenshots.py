"""Take the screenshots of docs/looking.md anew: ``make screenshots``; it needs Chromium and the extra ``browser``."""

import os
import shutil
import tempfile
import threading
from pathlib import Path

from PIL import Image

HERE = Path(__file__).resolve().parent
FLAGS = ["--no-sandbox", "--disable-gpu", "--enable-unsafe-swiftshader"]


def train(folder):
    """Train two models on the built-in corpus; return their folders."""
    from w2vneg import Word2Vec

    for loss in ("relaxed", "ns"):
        word2vec = Word2Vec(loss=loss, readout="context+letters:share=.1+paradigms", epochs=10, workers=1, seed=1)
        word2vec.fit("builtin", progress=False)
        word2vec.save(folder / loss)
    return [folder / "relaxed", folder / "ns"]


def serve(models):
    """Serve the explorer on a thread; return its address and what ends it."""
    from w2vneg.look.explore import Answers
    from w2vneg.look.explore.app import Server
    from w2vneg.look.report.subjects import load_subjects

    server = Server(Answers(load_subjects(models), "pca"), "docs")
    threading.Thread(target=server.serve_forever).start()
    return server.address, server.shutdown


def shoot(browser, address, name, size, scheme="light", prepare=None):
    """Open a page, let `prepare` use it, and keep what is seen then."""
    page = browser.new_page(viewport=dict(zip(("width", "height"), size, strict=True)), color_scheme=scheme)
    page.set_default_timeout(120_000)
    page.goto(address)
    page.wait_for_selector(".map .gl-canvas", state="attached")
    if prepare is not None:
        prepare(page)
    page.mouse.move(0, 0)
    page.wait_for_timeout(1500)
    page.screenshot(path=HERE / name)
    page.close()
    with Image.open(HERE / name) as picture:
        few = picture.convert("RGB").quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    few.save(HERE / name, optimize=True)


def ask(question):
    """Return what asks the explorer."""

    def prepare(page):
        page.locator("#near").fill(question)
        page.wait_for_selector("#near-answer .entry")
        page.keyboard.press("Escape")

    return prepare


def look_at_map(page):
    """Show the first map of a report, and nothing else."""
    page.locator(".map").first.evaluate(
        "map => { document.body.replaceChildren(map); map.querySelector('.controls').remove(); }"
    )


def main():
    from playwright.sync_api import sync_playwright

    from w2vneg.look.report import make_report

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        os.chdir(folder)  # the report names folders as they are given
        models = train(Path())
        make_report(models, words=["file", "list"]).write("report.html")
        report = Path("report.html").resolve().as_uri()
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        address, end = serve(models)
        try:
            shoot(browser, report, "map.png", (900, 720), prepare=look_at_map)
            shoot(browser, report, "report.png", (1000, 1000))
            shoot(browser, address, "explore.png", (1000, 1240), prepare=ask("file"))
        finally:
            end()
            browser.close()
            os.chdir(HERE)


if __name__ == "__main__":
    main()
