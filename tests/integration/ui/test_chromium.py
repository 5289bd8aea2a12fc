"""The headless browser with which pages are tested."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from PIL import Image

from harness.chromium import PageFailed, open_page

pytestmark = pytest.mark.once

PAGE = """<!doctype html><html lang="en"><title>A page</title>
<style>body { background: #00ff00 } @media (prefers-color-scheme: dark) { body { background: #0000ff } }</style>
<h1>Here</h1><img src="missing.png" alt=""><script>
console.error("it is", "bad"); console.log("all is well")
setTimeout(() => { document.body.append("and there"); nothing.there }, 0)
</script></html>"""


@pytest.fixture
def address(tmp_path: Path) -> str:
    page = tmp_path / "page.html"
    page.write_text(PAGE)
    return page.as_uri()


def corner(screenshot: bytes) -> tuple[int, ...]:
    picture = Image.open(io.BytesIO(screenshot)).convert("RGB")
    assert picture.size == (400, 300)
    colour = picture.getpixel((399, 299))
    assert isinstance(colour, tuple)
    return colour


def test_a_page_gives_its_text_its_picture_and_its_complaints(chromium: Path, address: str) -> None:
    page = open_page(chromium, address, ready="document.body.innerText.includes('and there')", width=400, height=300)
    assert page.title == "A page"
    assert page.text.split() == ["Here", "and", "there"]
    assert "<h1>Here</h1>" in page.html
    assert corner(page.screenshot) == (0, 255, 0)
    console, *others = sorted(page.errors, key=lambda each: "it is bad" not in each)
    assert console == "it is bad"
    assert len(others) == 2
    assert any("missing.png" in each for each in others)
    assert any("nothing is not defined" in each for each in others)
    assert page.requests == [address, address.replace("page.html", "missing.png")]


def test_a_page_is_seen_as_by_one_who_prefers_the_dark_and_runs_no_scripts(chromium: Path, address: str) -> None:
    page = open_page(chromium, address, dark=True, scripts=False, width=400, height=300)
    assert corner(page.screenshot) == (0, 0, 255)
    assert page.text.strip() == "Here"


def test_a_page_that_is_not_there_or_not_ready_in_time_is_an_error(chromium: Path, address: str) -> None:
    with pytest.raises(PageFailed, match="ERR_FILE_NOT_FOUND"):
        open_page(chromium, address.replace("page.html", "no-page.html"))
    with pytest.raises(PageFailed, match="did not come in time"):
        open_page(chromium, address, timeout_s=0)
