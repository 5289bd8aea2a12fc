"""Searches a built site as its search page does: Sphinx's own scripts and index, run in Node.

`WANTED` says what readers look for, and which page has to be among the first results.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

WANTED: dict[str, tuple[str, ...]] = {
    "web ui": ("UI",),
    "dlq": ("recipes/dead-letters", "PIPELINES/dead-letters"),
    "dead letters": ("recipes/dead-letters", "PIPELINES/dead-letters"),
    "schema registry": ("SCHEMA_REGISTRY",),
    "exactly once": ("recipes/exactly-once", "SPARK/exactly-once"),
    "install": ("START",),
    "lag": ("recipes/lag-alarm",),
    "acks": ("OPTIONS/producer",),
    "jupyter": ("recipes/notebook",),
    "fastapi": ("recipes/fastapi",),
    "litestar": ("recipes/litestar",),
    "django": ("recipes/django",),
    "celery": ("recipes/celery",),
    "airflow": ("recipes/airflow",),
    "dagster": ("recipes/dagster",),
    "limitations": ("LIMITS",),
    "poison message": ("recipes/dead-letters",),
    "time travel": ("recipes/read-from-a-point-in-time",),
    "dataframe": ("ARROW", "recipes/read-from-a-point-in-time"),
    "quickstart": ("START",),
    "embedded broker": ("START",),
    "eof": ("recipes/end-of-partition",),
    "mirrormaker": ("recipes/copy-a-topic-with-its-groups",),
    "another cluster": ("recipes/copy-a-topic-with-its-groups",),
    "checkpoint": ("SPARK",),
    "find message": ("UI",),
    "migrate": ("MIGRATION",),
    "upgrade": ("MIGRATION",),
}
"""By query: the pages that have to be among the first results."""
FIRST = 6
"""How many results count as the first."""
_SCRIPT = """
const fs = require("fs"), vm = require("vm"), path = require("path");
const [site, queries] = [process.argv[1], JSON.parse(process.argv[2])];
const nothing = () => {};
const root = { dataset: { content_root: "./" } };
const progress = { lastChild: null, children: [] };
const page = {
  addEventListener: nothing, documentElement: root, querySelector: () => null, getElementById: () => progress,
};
const context = vm.createContext({
  document: page, location: {}, addEventListener: nothing, URLSearchParams, console, Set, Map,
  DOCUMENTATION_OPTIONS: { FILE_SUFFIX: ".html", LINK_SUFFIX: ".html", BUILDER: "html" },
  localStorage: { setItem: nothing, getItem: nothing, removeItem: nothing }, _: (text) => text, _ready: nothing,
  Documentation: { ngettext: (one) => one }, SPHINX_HIGHLIGHT_ENABLED: false,
});
vm.runInContext("globalThis.window = globalThis", context);
const load = (name) => vm.runInContext(fs.readFileSync(path.join(site, name), "utf-8"), context);
["_static/language_data.js", "_static/searchtools.js"].forEach(load);
vm.runInContext("globalThis.Search = Search", context);
load("searchindex.js");
const answers = queries.map((query) => {
  const results = context.Search._performSearch(...context.Search._parseQuery(query));
  results.reverse(); // the page takes the best from the end
  return results.map((each) => each[0]);
});
console.log(JSON.stringify(answers));
"""


def results(site: Path, queries: list[str]) -> list[list[str]]:
    """The names of the pages that the site finds for each query, best first, each once.

    Raises `FileNotFoundError` if there is no Node, and `RuntimeError` with Node's message if it fails.
    """
    node = shutil.which("node")
    if node is None:
        raise FileNotFoundError("node is not in PATH: install Node.js")
    command = [node, "-e", _SCRIPT, str(site), json.dumps(queries)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return [list(dict.fromkeys(each)) for each in json.loads(done.stdout)]


def complaints(site: Path, wanted: dict[str, tuple[str, ...]] = WANTED) -> Iterator[str]:
    """What the search of a site does not find, a sentence each."""
    for (query, pages), found in zip(wanted.items(), results(site, list(wanted)), strict=True):
        for page in pages:
            if page not in found[:FIRST]:
                yield f"the search for {query!r} does not find {page} among the first {FIRST}, but {found[:FIRST]}"
