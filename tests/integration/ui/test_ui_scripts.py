"""The scripts of the pages in a browser: local times, copying, the live tail, live parts, and keys."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import kafka.ui
from harness.chromium import open_page

pytestmark = [pytest.mark.integration, pytest.mark.once]
STATIC = Path(kafka.ui.__file__).parent / "static"

PAGE = """<!doctype html><html lang="en"><title>t</title><body>
<header><span data-health>healthy</span><details open><summary>Menu</summary></details></header>
<input name="topic" list="topics"><datalist id="topics" data-source="topic-names"></datalist>
<input name="zone"><input data-search value="words">
<p><time data-ms="1767225600123">2026-01-01 00:00:00.123</time></p>
<p><time data-ms="1782864000000">2026-07-01 00:00:00.000</time></p>
<p><time data-ms="nonsense">unknown</time></p>
<h3>Value</h3><pre data-copy>the value</pre>
<div data-live="live/topics?seen=3"><div class="wide"><a href="#one">one</a></div></div>
<div data-tail="tail-events?topic=t"><span data-told></span><button data-pause hidden></button>
<table><tbody></tbody></table></div>
<script>
class FakeSource {
  static made = [];
  constructor(address) { this.address = address; this.heard = {}; this.closed = false; FakeSource.made.push(this); }
  addEventListener(name, heard) { this.heard[name] = heard; }
  close() { this.closed = true; }
  message(data, lastEventId) { (this.onmessage ?? this.heard.message)({ data, lastEventId }); }
}
window.EventSource = FakeSource;
window.copied = [];
window.asked = [];
window.fetch = async (address) => { asked.push(address); return { ok: true, json: async () => ["a<b", "ab"] }; };
Object.defineProperty(navigator, "clipboard", { value: { writeText: async (text) => { copied.push(text); } } });
</script>
<script src="[static]/live.js"></script><script src="[static]/messages.js"></script>
<script>
(async () => {
  const found = {};
  const text = (part) => part.textContent.trim();
  found.times = [...document.querySelectorAll("p")].map((each) => [...each.children].map(text));
  found.zone = document.querySelector("[name=zone]").value;
  const copy = document.querySelector("button.copy");
  copy.click();
  await Promise.resolve(); await Promise.resolve();
  found.copied = [copied, text(copy)];

  const [live, tail] = FakeSource.made;
  found.sources = FakeSource.made.map((each) => each.address);
  live.message('<template data-health>critical</template><div class="wide"><a href="#one">two</a></div>');
  found.health = document.querySelector("span[data-health]").textContent;
  found.live = [text(document.querySelector("[data-live]"))];
  document.querySelector("[data-live] a").focus();
  live.message('<div class="wide"><a href="#one">three</a></div>');
  found.live.push(document.activeElement.textContent);
  live.message('<details open><summary>m</summary>open</details>');
  live.message("lost");
  found.live.push(text(document.querySelector("[data-live]")));

  const button = tail.addEventListener ? document.querySelector("[data-pause]") : null;
  const told = () => text(document.querySelector("[data-told]"));
  const rows = () => [...document.querySelectorAll("[data-tail] tr")].map(text);
  const row = (name) => `<tr><td>${name}</td></tr>`;
  tail.message(row("first") + row("second") + '<tr data-skipped="1200"></tr>', "0:2");
  found.tail = [rows(), told(), button.hidden, text(button)];
  button.click();
  found.paused = [told(), text(button), tail.closed];
  button.click();
  const next = FakeSource.made[2];
  found.continued = [next.address, text(button)];
  next.message(Array.from({ length: 510 }, (_, number) => row(number)).join(""), "0:512");
  found.kept = [rows().length, rows()[0], told()];
  next.heard.health({ data: '<a href="health">unreachable</a>' });
  found.tailed = document.querySelector("span[data-health]").innerHTML;
  next.heard.silent({ data: "No broker answers" });
  found.silent = told();
  next.heard.ended({ data: "the server is stopping" });
  found.ended = [told(), next.closed];
  const field = document.querySelector("[name=topic]");
  for (const typed of ["a", "a b"]) {
    field.value = typed;
    field.dispatchEvent(new Event("input"));
  }
  const options = document.querySelector("#topics").options;
  while (!options.length) await new Promise((done) => requestAnimationFrame(done));
  found.suggested = [asked, [...options].map((each) => each.value)];
  const added = document.createElement("p");
  added.innerHTML = '<time data-ms="0">1970-01-01 00:00:00.000</time>';
  document.body.append(added);

  const press = (key, target = document.body) =>
    target.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
  document.activeElement.blur();
  press("/");
  found.slash = document.activeElement.dataset.search === "";
  press("Escape");
  found.menu = document.querySelector("header details").open;
  document.querySelector("header details").open = true;
  document.body.click();
  found.outside = document.querySelector("header details").open;
  await new Promise((done) => requestAnimationFrame(done));
  found.later = [...added.children].map(text);
  const shown = document.createElement("output");
  shown.textContent = JSON.stringify(found);
  document.body.append(shown);
})();
</script></body></html>"""


def results(chromium: Path, folder: Path, zone: str) -> dict[str, object]:
    """Run the scripts, and return what the page found."""
    path = folder / "page.html"
    path.write_text(PAGE.replace("[static]", STATIC.as_uri()), encoding="utf-8")
    page = open_page(chromium, path.as_uri(), ready="document.querySelector('output') !== null", zone=zone)
    assert page.errors == []
    found = re.search(r"<output>(.*?)</output>", page.html, re.DOTALL)
    assert found is not None
    parsed: dict[str, object] = json.loads(found[1].replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
    return parsed


def test_local_times_copying_live_parts_and_the_tail(chromium: Path, tmp_path: Path) -> None:
    found = results(chromium, tmp_path, "America/New_York")
    assert found["times"] == [
        ["2025-12-31 19:00:00.123", "2026-01-01 00:00:00.123"],
        ["2026-06-30 20:00:00.000", "2026-07-01 00:00:00.000"],
        ["unknown"],
    ], "local time with UTC next to it, also in summer"
    assert found["later"] == ["1969-12-31 19:00:00.000", "1970-01-01 00:00:00.000"], "what is added later, too"
    assert found["zone"] == "America/New_York"
    assert found["copied"] == [["the value"], "Copied"]
    assert found["sources"] == ["live/topics?seen=3", "tail-events?topic=t"]
    assert found["health"] == "critical", "the header follows the live part"
    assert found["tailed"] == '<a href="health">unreachable</a>', "and the tail"
    assert found["suggested"] == [["topic-names?q=a%20b"], ["a<b", "ab"]], "asked once, as soon as typing pauses"
    assert found["live"] == ["two", "three", "mopen"], "the focus stays, and an open part is not replaced"
    assert found["tail"] == [["second", "first"], "Following: 2 messages, 1,200 more were not shown", False, "Pause"]
    assert found["paused"] == ["Paused: 2 messages, 1,200 more were not shown", "Continue", True]
    assert found["continued"] == ["tail-events?topic=t&after=0%3A2", "Pause"], "a pause loses nothing"
    assert found["kept"] == [500, "509", "Following: 512 messages, 1,200 more were not shown"]
    assert found["silent"] == "Waiting for the cluster, 512 messages so far. No broker answers"
    assert found["ended"] == ["Ended: the server is stopping", True]
    assert [found["slash"], found["menu"], found["outside"]] == [True, False, False]


def test_in_utc_no_time_is_shown_twice(chromium: Path, tmp_path: Path) -> None:
    found = results(chromium, tmp_path, "UTC")
    assert found["times"] == [["2026-01-01 00:00:00.123"], ["2026-07-01 00:00:00.000"], ["unknown"]]
