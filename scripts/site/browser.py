"""Measures the pages of a built site in headless Chromium: heights, what does not fit the width, contrasts of texts.

The site is served on the loopback interface, because pages from files cannot look into each other. One page loads all
others in a frame, one after the other, and sends what it measured to the server. Change `_MEASURE` to measure more.
"""

from __future__ import annotations

import dataclasses
import json
import queue
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

WIDTHS = (1400, 390)
"""A desktop's and a phone's width in pixels."""
_TIMEOUT_S = 300
_NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
_MEASURE = """<!doctype html><iframe id="frame" style="border:0"></iframe><script>
const wide = (node) => node.scrollWidth > node.clientWidth + 1;
function breaks(signature) {
  const texts = signature.ownerDocument.createTreeWalker(signature, NodeFilter.SHOW_TEXT);
  const range = signature.ownerDocument.createRange();
  while (texts.nextNode()) for (const word of texts.currentNode.data.matchAll(/[\\w.]+/g)) {
    range.setStart(texts.currentNode, word.index);
    range.setEnd(texts.currentNode, word.index + word[0].length);
    if (range.getClientRects().length > 1) return true;
  }
  return false;
}
const beginning = (node) => node.textContent.trim().replace(/\\s+/g, " ").slice(0, 60);
const numbers = (color) => {
  const found = color.match(/[\\d.]+(?:e-?\\d+)?/g).map(Number);
  const scale = color.startsWith("color(") ? 255 : 1;
  return [...found.slice(0, 3).map((each) => each * scale), found[3] ?? 1];
};
const over = (front, back) => [0, 1, 2].map((at) => front[at] * front[3] + back[at] * (1 - front[3])).concat(1);
function luminance(color) {
  const [red, green, blue] = color.map((each) => each / 255)
    .map((each) => (each <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
function contrast(one, other) {
  const [light, dark] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}
/* The texts of a page whose contrast is less than WCAG's level AA asks for, once for each pair of colours. */
function faint(inner, theme) {
  inner.body.dataset.theme = theme;
  const backs = new Map([[null, [255, 255, 255, 1]]]);
  const back = (node) => {
    if (!backs.has(node)) {
      const own = numbers(inner.defaultView.getComputedStyle(node).backgroundColor);
      backs.set(node, over(own, back(node.parentElement)));
    }
    return backs.get(node);
  };
  const found = new Map();
  const texts = inner.createTreeWalker(inner.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const node = texts.currentNode.parentElement;
    const isShown = node.checkVisibility({ opacityProperty: true, visibilityProperty: true });
    if (!texts.currentNode.data.trim() || !isShown) continue;
    const style = inner.defaultView.getComputedStyle(node);
    const size = parseFloat(style.fontSize);
    const least = size >= 24 || (size >= 18.66 && style.fontWeight >= 700) ? 3 : 4.5;
    const ratio = contrast(over(numbers(style.color), back(node)), back(node));
    const key = `${style.color} ${back(node)} ${least}`;
    if (ratio < least && !found.has(key)) {
      found.set(key, `${ratio.toFixed(2)} in the ${theme} theme, under ${least}: ${beginning(texts.currentNode)}`);
    }
  }
  return [...found.values()];
}
async function measure(page, width) {
  const frame = document.getElementById("frame");
  frame.style.width = width + "px";
  frame.style.height = "900px";
  await new Promise((loaded) => { frame.onload = loaded; frame.src = "/" + page; });
  const inner = frame.contentDocument;
  await inner.fonts.ready;
  const still = inner.createElement("style");
  still.textContent = "* { transition: none !important }";
  inner.head.append(still);
  const cut = [...inner.querySelectorAll(".table-wrapper")].filter(wide);
  return {
    page, width,
    height: inner.documentElement.scrollHeight,
    overflows: wide(inner.documentElement),
    cut_tables: cut.map(beginning),
    broken_signatures: [...inner.querySelectorAll("dt.sig")].filter(breaks).map(beginning),
    faint_texts: width === WIDTHS[0] ? ["light", "dark"].flatMap((theme) => faint(inner, theme)) : [],
  };
}
(async () => {
  const found = [];
  for (const width of WIDTHS) for (const page of PAGES) found.push(await measure(page, width));
  await fetch("/__measured", { method: "POST", body: JSON.stringify(found) });
})();
</script>"""


@dataclasses.dataclass(frozen=True)
class Measured:
    """A page at one width: sizes in pixels, and whether the page scrolls sideways.

    Also the beginnings of tables that are cut, and of signatures that break inside a word; and, at the first width, of
    texts whose contrast is too low, with the contrast and the theme.
    """

    page: str
    width: int
    height: int
    overflows: bool
    cut_tables: list[str]
    broken_signatures: list[str]
    faint_texts: list[str]


class _Handler(SimpleHTTPRequestHandler):
    """Serves the site and the measuring page, and receives what it measured."""

    def __init__(self, *arguments: Any, results: queue.Queue[list[dict[str, Any]]], start: str, **named: Any) -> None:
        self.results, self.start = results, start
        super().__init__(*arguments, **named)

    def do_GET(self) -> None:
        """See `SimpleHTTPRequestHandler`."""
        if self.path != "/__measure":
            super().do_GET()
            return
        body = self.start.encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        """Receive the measurements."""
        self.results.put(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(204)
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing for each request."""


def find() -> str | None:
    """The path of Chromium or Chrome; None if there is none."""
    return next((path for name in _NAMES if (path := shutil.which(name))), None)


def measure(site: Path, chromium: str, pages: list[str], widths: tuple[int, ...] = WIDTHS) -> list[Measured]:
    """Measure pages of the site in a folder at the given widths in pixels.

    Raises `TimeoutError` if the browser does not answer within five minutes.
    """
    start = _MEASURE.replace("PAGES", json.dumps(pages)).replace("WIDTHS", json.dumps(widths))
    results: queue.Queue[list[dict[str, Any]]] = queue.Queue()
    handler = partial(_Handler, directory=str(site), results=results, start=start)
    with _serving(handler) as address, _browsing(chromium, f"{address}/__measure"):
        try:
            found = results.get(timeout=_TIMEOUT_S)
        except queue.Empty:
            raise TimeoutError(f"{chromium} did not measure {len(pages)} pages within {_TIMEOUT_S} s") from None
    return [Measured(**each) for each in found]


@contextmanager
def _serving(handler: Any) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def _browsing(chromium: str, url: str) -> Iterator[None]:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        flags = ("--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0", "--hide-scrollbars")
        command = [chromium, *flags, f"--user-data-dir={profile}", url]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            yield
        finally:
            process.terminate()
            process.wait()
