"""What the site is built from: chapters of guides, links and anchors that follow them, programs, words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from scripts.site import chapters, programs, sources, texts

pytestmark = pytest.mark.once

GUIDE = """\
# Spark

Intro with a [link](#exactly-once).

## Reading
See [below](#time), [itself](#reading) and [START.md](START.md#install).

```sh
## not a heading
```

### Time
One.

## Exactly once
### Time
Two.
"""


def test_a_long_guide_has_a_page_for_each_chapter() -> None:
    guide = chapters.split("SPARK", GUIDE)
    assert [page.name for page in guide.pages] == ["SPARK", "SPARK/reading", "SPARK/exactly-once"]
    top, reading, exactly = (page.text for page in guide.pages)
    assert top.startswith("# Spark\n\nIntro")
    assert "[Exactly once](/SPARK/exactly-once.md)" in top
    assert "Reading <SPARK/reading>\nExactly once <SPARK/exactly-once>\n" in top
    assert reading.startswith("# Spark: Reading\n")
    assert "```sh\n## not a heading\n```\n\n## Time\nOne.\n" in reading
    assert exactly == "# Spark: Exactly once\n## Time\nTwo.\n"


def test_old_anchors_lead_to_the_chapters() -> None:
    guide = chapters.split("SPARK", GUIDE)
    assert guide.anchors == {
        "spark": ("SPARK", "spark"),
        "reading": ("SPARK/reading", ""),
        "time": ("SPARK/reading", "time"),
        "exactly-once": ("SPARK/exactly-once", ""),
        "time-1": ("SPARK/exactly-once", "time"),
    }
    assert '<span id="time-1" data-page="SPARK/exactly-once.html#time"></span>' in guide.pages[0].text
    assert '<span id="reading" data-page="SPARK/reading.html"></span>' in guide.pages[0].text


def test_chapters_below_a_chapter_are_listed_there() -> None:
    text = "# Command line\n## Reference\n### kafka topics\n### kafka topics list\n### kafka groups\nx\n"
    guide = chapters.split("COMMAND_LINE", text)
    assert [page.name for page in guide.pages] == [
        "COMMAND_LINE",
        "COMMAND_LINE/reference",
        "COMMAND_LINE/kafka-topics",
        "COMMAND_LINE/kafka-groups",
    ]
    assert "kafka topics <kafka-topics>\nkafka groups <kafka-groups>\n" in guide.pages[1].text
    assert guide.pages[2].text == "# Command line: kafka topics\n## kafka topics list\n"
    assert 'id="kafka-topics-list" data-page="COMMAND_LINE/kafka-topics.html#kafka-topics-list"' in guide.pages[0].text


def test_the_changelog_begins_with_the_newest_changes() -> None:
    text = "# Changelog\n## Unreleased\n### Added\n- a\n### Changed\n- b\n## 1.0\n### Added\n- c\n"
    guide = chapters.split("CHANGES", text)
    assert [page.name for page in guide.pages] == ["CHANGES", "CHANGES/changed", "CHANGES/10", "CHANGES/added-1"]
    assert guide.pages[0].text.startswith("# Changelog\n## Unreleased\n### Added\n- a\n\n## More changes\n")
    assert "[Changed](/CHANGES/changed.md)" in guide.pages[0].text
    assert guide.anchors["added"] == ("CHANGES", "added")
    assert guide.anchors["changed"] == ("CHANGES/changed", "")


def test_a_short_guide_stays_as_it_is() -> None:
    guide = chapters.split("START", GUIDE)
    assert [page.text for page in guide.pages] == [GUIDE]
    assert guide.anchors["time-1"] == ("START", "time-1")


def test_links_follow_their_targets_except_in_code() -> None:
    text = "[a](A.md) `[b](B.md)`\n```\n[c](C.md)\n```\n![d](d.png) [E.md](E.md#e)\n"
    moved = sources.linked(text, lambda target: (f"x/{target}", "The title"))
    assert moved == "[a](x/A.md) `[b](B.md)`\n```\n[c](C.md)\n```\n![d](x/d.png) [The title](x/E.md#e)\n"


def test_the_links_of_the_pages_lead_to_pages_that_exist() -> None:
    site = sources.Site()
    names = {page.name for guide in site.guides.values() for page in guide.pages}
    spark = site.guides["SPARK"]

    def moved(*arguments: Any) -> str:
        return site.moved(*arguments)[0]

    assert moved("SPARK.md#exactly-once", sources.DOCS, "START", "START") == "SPARK/exactly-once.md"
    assert moved("../SPARK.md#rights", sources.DOCS / "recipes", "recipes/x", "recipes/x") == "../SPARK/rights.md"
    assert moved("#rights", sources.DOCS, "SPARK", "SPARK/reading") == "rights.md"
    assert moved("#memory", sources.DOCS, "SPARK", spark.anchors["memory"][0]) == "#memory"
    assert moved("docs/UI.md", sources.ROOT, "HELPING", "HELPING") == "UI.md"
    assert moved("pictures/ui-topics.png", sources.DOCS, "UI", "UI/pages") == "../pictures/ui-topics.png"
    assert moved("https://example.org/#x", sources.DOCS, "UI", "UI") == "https://example.org/#x"
    assert site.moved("SPARK.md#exactly-once", sources.DOCS, "START", "START")[1] == "Exactly once"
    assert site.moved("UI.md", sources.DOCS, "START", "START")[1] == "Web UI"
    with pytest.raises(ValueError, match=r"the link to ../Makefile on UI leads out of the site"):
        moved("../Makefile", sources.DOCS, "UI", "UI")
    assert {"CHANGES/changed", "HELPING", "recipes/index", "SPARK/exactly-once"} <= names
    assert len(list(site.pages())) == len(names)


def test_search_words_are_of_pages_that_exist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = {page.name for guide in sources.Site().guides.values() for page in guide.pages}
    assert sources.KEYWORDS.keys() - names == set()
    monkeypatch.setitem(sources.KEYWORDS, "NOTHING", ("words",))
    with pytest.raises(ValueError, match="names pages that do not exist: NOTHING"):
        sources.write(tmp_path)


def test_a_long_list_of_changes_comes_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "PART_LINES", 2)
    text = "# Changelog\n## Unreleased\n### Added\n- a\n- b\n  c\n- d\n### Changed\n- e\n"
    assert sources.in_parts(text) == text.replace("- d\n", "\n### Added, part 2\n- d\n")


def test_a_link_of_its_own_to_a_program_becomes_the_program(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "app.py").write_text("print(1)\n")
    cells = [{"cell_type": "markdown", "source": ["# A title\n", "text"]}, {"cell_type": "code", "source": ["1 + 1"]}]
    (tmp_path / "book.ipynb").write_text(json.dumps({"cells": cells}))
    page = tmp_path / "docs" / "page.md"
    page.write_text("# P\n\n[app](../app.py)\n\n[book](../book.ipynb)\n\nsee `app.py`\n")
    assert programs.shown(page) == (
        "# P\n\n```python\nprint(1)\n```\n\n\n**A title**\ntext\n\n```python\n1 + 1\n```\n\nsee `app.py`\n"
    )
    page.write_text("# P\n\n[none](../none.py)\n\nx\n")
    with pytest.raises(FileNotFoundError, match=r"none\.py"):
        programs.shown(page)


def test_the_sources_have_no_typographic_dashes_or_quotes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(texts.sources()) > 40
    assert [each for path in texts.sources() for each in texts.typographic(path)] == []
    monkeypatch.setattr(texts, "ROOT", tmp_path)
    (tmp_path / "page.md").write_text("good -- text\nbad \u2014 text\n", encoding="utf-8")
    assert list(texts.typographic(tmp_path / "page.md")) == ["page.md:2 has U+2014: write - or \" or '"]
