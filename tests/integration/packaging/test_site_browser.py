"""Headless Chromium measures pages as the site's check needs it: heights, widths, and tables that are cut."""

from __future__ import annotations

from pathlib import Path

import pytest
from scripts.site import __main__ as check

from harness.chromium import open_page

PAGES = {
    "good.html": "<p>short</p>",
    "long.html": '<div style="height: 13000px">long</div>',
    "wide.html": '<div style="width: 600px">wide</div>',
    "table.html": '<div class="table-wrapper" style="overflow: auto; width: 300px"><table><tr><td>'
    '<div style="width: 500px">a cell</div></td></tr></table></div>',
    "signatures.html": '<dl style="width: 300px; font: 16px monospace; overflow-wrap: break-word">'
    f'<dt class="sig">whole(<em>{"first, " * 20}</em>)</dt><dt class="sig">cut({"x" * 60})</dt></dl>',
    "faint.html": "<style>a { color: #777 } [data-theme=dark] { background: #222 } [data-theme=dark] p { color: #ddd }"
    "</style><p>clear</p><p><a>faint</a></p><p style='font-size: 24px'><a>large</a></p>",
}
"""By name: the content of a page. A phone is 390 pixels wide."""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    for name, body in PAGES.items():
        (tmp_path / name).write_text(f'<!doctype html><body style="margin: 0">{body}</body>')
    return tmp_path


def test_what_is_too_long_or_too_wide_is_found(site: Path, chromium: Path) -> None:
    assert sorted(check.sizes(site, str(chromium))) == [
        "faint.html has a text with a contrast of 3.55 in the dark theme, under 4.5: faint",
        "faint.html has a text with a contrast of 4.48 in the light theme, under 4.5: faint",
        "long.html is 13000 pixels high at 1400, over 12000: split it (scripts/site/chapters.py)",
        "long.html is 13000 pixels high at 390, over 12000: split it (scripts/site/chapters.py)",
        f"signatures.html has a signature that breaks inside a word at 1400 pixels: cut({'x' * 56}",
        f"signatures.html has a signature that breaks inside a word at 390 pixels: cut({'x' * 56}",
        "table.html has a table that does not fit 1400 pixels: a cell",
        "table.html has a table that does not fit 390 pixels: a cell",
        "wide.html is wider than 390 pixels",
    ]


def test_long_names_break_between_their_words_and_comments_as_a_whole(tmp_path: Path, chromium: Path) -> None:
    cell = '<div style="width: 90px">{}</div>'
    names = (
        '<table><tr><td><code class="literal"><span class="pre">datetime.datetime</span></code></td></tr></table>',
        "<dl><dt>Raises</dt><dd><strong>UnsupportedCompressionTypeError</strong></dd></dl>",
        (
            '<div class="highlight-properties"><pre>key<span class="o">=</span>'
            "<span>org.apache.kafka.Login required</span></pre></div>"
        ),
        (
            '<div class="highlight-sh"><pre><span></span><span class="c1"># before</span>\nkafka topics list  '
            '<span class="c1"># behind</span>\n<span class="w"> </span><span class="c1"># before</span></pre></div>'
        ),
    )
    page = tmp_path / "names.html"
    script = (Path(__file__).parents[3] / "docs" / "_static" / "site.js").as_uri()
    content = f"<article>{''.join(map(cell.format, names))}</article>"
    page.write_text(f'<!doctype html><title>names</title><body>{content}<script src="{script}"></script>')
    shown = open_page(chromium, page.as_uri(), ready="document.querySelectorAll('wbr').length >= 8", width=390).html
    assert "datetime.<wbr>datetime" in shown
    assert "Unsupported<wbr>Compression<wbr>Type<wbr>Error" in shown
    assert shown.count("trailing") == shown.count('<span class="c1 trailing"># behind</span>') == 1
    assert '<span class="o">=</span><wbr>' in shown
    assert "org.<wbr>apache.<wbr>kafka.<wbr>Login required" in shown
