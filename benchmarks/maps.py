"""The map of a report in headless Chromium, compared with TensorBoard's projector: time to draw, and frame rate.

A frame counts when the page could have drawn it, while a mouse drags the map. Chromium renders in software here; a
graphics card is faster.
"""

import contextlib
import shutil
import socket
import subprocess
import time
from pathlib import Path
from typing import NamedTuple

from .explore import made_up

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--enable-unsafe-swiftshader"]
_SIZE = {"width": 1000, "height": 800}
_PATIENCE = 240  # seconds until a page counts as failing to draw
_COUNT = """() => {
  window.framesSeen = 0;
  const next = () => { window.framesSeen++; requestAnimationFrame(next); };
  requestAnimationFrame(next);
}"""
_DRAWN = (
    "() => document.querySelector('.map .plot')?._fullData?.[0]?.x.length && document.querySelector('.map .gl-canvas')"
)
_SHOWN = "() => document.querySelector('.map .plot')._fullData[0].x.length"

_PROJECTED = """() => {
  const inside = (root, name) => root.querySelector(name) ||
    [...root.querySelectorAll("*")].map((one) => one.shadowRoot && inside(one.shadowRoot, name)).find(Boolean);
  const told = inside(document, ".numDataPoints"), message = inside(document, "#notification-dialog");
  return +told?.textContent.replace(/\\D/g, "") > 0 && !message?.opened && inside(document, "#scatter canvas");
}"""


class Look(NamedTuple):
    """page : str; words, drawn : int, points in total and points drawn; megabytes : float, of the page
    made, opened, found : float, seconds to write the page, from opening to the map, and until a searched word is marked
    frames : float, per second while dragged
    """

    page: str
    words: int
    drawn: int
    megabytes: float
    made: float
    opened: float
    found: float | None
    frames: float


@contextlib.contextmanager
def browser():
    """Start headless Chromium; RuntimeError if it is missing."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium")
    if chromium is None:
        raise RuntimeError("no chromium: apt-get install chromium")
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield opened
        opened.close()


def look_at_map(opened, n, dim, seconds, folder):
    """Write a report with only a map, and use it."""
    from w2vneg import Vectors
    from w2vneg.look.report import Report, maps
    from w2vneg.look.report.subjects import Subject

    words, matrix = made_up(n, dim)
    began = time.perf_counter()
    path = Path(folder) / "map.html"
    Report("made up", [maps.section_of([Subject("made up", "", Vectors(words, matrix))], "pca")]).write(path)
    made = time.perf_counter() - began
    page = _page(opened)
    began = time.perf_counter()
    page.goto(path.as_uri())
    page.wait_for_function(_DRAWN)
    waited = time.perf_counter() - began
    page.locator(".map .plot").scroll_into_view_if_needed()
    frames = _dragged(page, page.locator(".map .plot"), seconds)
    drawn = page.evaluate(_SHOWN)
    began = time.perf_counter()
    page.locator(".map .search").fill(words[n // 2])
    page.wait_for_selector(".map .annotation-text")
    found = time.perf_counter() - began
    page.close()
    return Look("report", n, drawn, path.stat().st_size / 1e6, made, waited, found, frames)


def look_at_projector(opened, n, dim, seconds, folder, tensorboard):
    """Write the same vectors for TensorBoard's projector, and use it; `tensorboard` is its command."""
    from w2vneg import Vectors

    words, matrix = made_up(n, dim)
    began = time.perf_counter()
    Vectors(words, matrix).save(Path(folder) / "projector", format="projector")
    made = time.perf_counter() - began
    size = sum(file.stat().st_size for file in (Path(folder) / "projector").iterdir())
    with _tensorboard(tensorboard, Path(folder) / "projector") as address:
        page = _page(opened)
        began = time.perf_counter()
        page.goto(f"{address}/data/plugin/projector/projector_binary.html")
        page.wait_for_function(_PROJECTED)
        waited = time.perf_counter() - began
        drawn = int(page.locator(".numDataPoints").first.text_content().replace(",", ""))
        frames = _dragged(page, page.locator("#scatter canvas").first, seconds)
        page.close()
    return Look("TensorBoard's projector", n, drawn, size / 1e6, made, waited, None, frames)


@contextlib.contextmanager
def _tensorboard(command, folder):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [command, "--logdir", str(folder), "--port", str(port), "--host", "127.0.0.1"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        for _ in range(600):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
                break
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()


def _page(opened):
    page = opened.new_page(viewport=_SIZE)
    page.set_default_timeout(1000 * _PATIENCE)
    return page


def _dragged(page, place, seconds):
    """Drag the element at `place` for `seconds`; return frames per second."""
    box = place.bounding_box()
    x, y = box["x"] + 0.4 * box["width"], box["y"] + 0.4 * box["height"]
    page.wait_for_timeout(1000)
    page.evaluate(_COUNT)
    page.mouse.move(x, y)
    page.mouse.down()
    began, n, before = time.perf_counter(), 0, page.evaluate("window.framesSeen")
    while time.perf_counter() - began < seconds:
        n += 1
        page.mouse.move(x + 3 * (n % 40), y + 2 * (n % 30))
    frames = (page.evaluate("window.framesSeen") - before) / (time.perf_counter() - began)
    page.mouse.up()
    return frames


def table(looks):
    """Return Markdown, one line per Look."""
    lines = [
        "| page | points | drawn | MB | to write, s | until drawn, s | until found, s | frames/s, dragged |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for one in looks:
        found = "–" if one.found is None else f"{one.found:.1f}"
        lines.append(
            f"| {one.page} | {one.words:,} | {one.drawn:,} | {one.megabytes:.1f} | {one.made:.1f} | {one.opened:.1f} | "
            f"{found} | {one.frames:.1f} |"
        )
    return "\n".join(lines)
