"""The pages of the site: reference that is current, links that lead somewhere, every name on a page."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from scripts.reference import (
    docstrings,
    errors_page,
    history,
    links,
    names_pages,
    options_page,
    signatures,
    subjects,
    types_page,
)
from scripts.site import sources

import kafka
from kafka.config import option_table
from kafka.errors import IncompatibleBrokerVersion, RecordDeserializationError

pytestmark = pytest.mark.once
ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md"))
RECIPES = sorted((DOCS / "recipes").glob("*.md"))


def test_the_pages_of_options_and_errors_are_what_the_code_says() -> None:
    command = [sys.executable, "-m", "scripts.reference", "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_the_public_docstrings_name_every_argument() -> None:
    command = [sys.executable, "-m", "scripts.reference.docstrings"]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "KAFKA_PURE": "1"}, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "every argument is named\n"), done.stdout + done.stderr


def test_an_argument_that_is_not_named_is_found() -> None:
    def write(path: str, *, append: bool) -> None:
        """Write to a path."""

    assert docstrings.arguments(write) == ["path", "append"]
    assert [each for each in docstrings.arguments(write) if not docstrings.is_named(each, write.__doc__ or "")] == [
        "append"
    ]


def test_a_member_of_an_enumeration_without_a_text_is_found() -> None:
    text = 'class E(Enum):\n    """All."""\n\n    A = 1\n    """One."""\n    B = 2\n    _c = 3\n    C = 4\n'
    assert docstrings.undescribed(text) == ["B", "C"]


@pytest.mark.slow
def test_every_option_that_does_something_has_a_section() -> None:
    live = {name: row for name, row in option_table().items() if not row.inert}
    rows = [row.name for rows in options_page.sections(live).values() for row in rows]
    assert sorted(rows) == sorted(live)
    assert [name for name in live if f"\n### `{name}`\n" not in options_page.text()] == []


def test_the_history_of_options_names_only_options() -> None:
    assert history.FIRST_IN.keys() - option_table().keys() == set()


def test_every_error_says_what_it_means_and_what_to_do() -> None:
    assert [cls for cls in errors_page.classes() if not cls.remedy or not errors_page.says(cls)] == []


def test_a_remedy_that_names_a_guide_links_to_it() -> None:
    of_record = errors_page.remedy(RecordDeserializationError)
    assert "see [DELIVERY.md](DELIVERY.md#records-that-cannot-be-read)" in of_record
    assert "[COMPATIBILITY.md](COMPATIBILITY.md) has" in errors_page.remedy(IncompatibleBrokerVersion)


def test_every_page_is_in_the_table_of_contents() -> None:
    listed = set(re.findall(r"^([A-Z_]+|recipes/index)$", (DOCS / "index.md").read_text(), flags=re.MULTILINE))
    of_root = {name for name in sources.OF_ROOT.values() if name != "index"}
    assert listed == {page.stem for page in PAGES} - {"index"} | of_root | {"recipes/index"}


def test_every_recipe_is_in_the_list_of_recipes() -> None:
    rows, contents = (DOCS / "recipes" / "index.md").read_text().split("```{toctree}")
    names = [page.stem for page in RECIPES if page.stem != "index"]
    assert len(names) >= 12
    assert sorted(re.findall(r"\(([\w-]+)\.md\)", rows)) == names
    assert sorted(re.findall(r"^([\w-]+)$", contents, flags=re.MULTILINE)) == names


def test_the_front_page_leads_to_every_guide() -> None:
    text, *lists = (DOCS / "index.md").read_text().split("```{toctree}")
    guides = re.findall(r"^([A-Z_]+)$", "".join(lists[:5]), flags=re.MULTILINE)
    assert len(guides) > 20
    assert [name for name in guides if f"]({name}.md)" not in text] == []


def test_texts_come_to_the_site_as_they_stand() -> None:
    code = (
        "import conf\n"
        "assert conf.smartquotes is False\n"
        "texts, lines = conf.AttributeTexts(), ['How long: in milliseconds.']\n"
        "texts.keep(None, 'attribute', 'kafka.X.y', None, None, lines)\n"
        "lines[:] = ['in milliseconds.', '', ':type: How long']\n"
        "texts.put_back(None, 'attribute', 'kafka.X.y', None, None, lines)\n"
        "assert lines == ['How long: in milliseconds.'], lines\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=DOCS, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "page", [*PAGES, *RECIPES, ROOT / "README.md", ROOT / "CONTRIBUTING.md"], ids=lambda page: page.name
)
def test_a_link_of_a_page_leads_somewhere(page: Path) -> None:
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", text)):
        if target.startswith(("http://", "https://")):
            continue
        name, _, anchor = target.partition("#")
        file = page.parent / name if name else page
        assert file.is_file() or name.removeprefix("../").startswith("names/"), target
        assert not anchor or anchor in _anchors(file), target


def _anchors(page: Path) -> set[str]:
    """As GitHub and the site make them of headings."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_the_options_that_most_programs_need_exist_and_come_first() -> None:
    live = {name: row for name, row in option_table().items() if not row.inert}
    assert [name for name in options_page.FIRST if name not in live] == []
    assert set(options_page.SHOWN) == options_page.GROUPS.keys()
    (first, *_), *_ = options_page.sections(live).values()
    assert first.name == "bootstrap_servers"
    assert [rows[0].name for title, rows in options_page.sections(live).items() if title == "Consumer: the group"] == [
        "group_id"
    ]


def test_every_public_name_is_on_a_page() -> None:
    pages = names_pages.pages()
    for name in set(kafka.__all__) - names_pages.OLD:
        value = getattr(kafka, name)
        if isinstance(value, type) or callable(value):
            assert any(f"::  {name}".replace("  ", " kafka.") in text for text in pages.values()), name
    for module in names_pages.MODULES:
        loaded = importlib.import_module(module)
        assert f"{module}.md" in pages
        assert loaded.__doc__


def test_records_and_results_of_calls_are_on_pages() -> None:
    pages = names_pages.pages()
    for name in ("BoundedRead()", "Columns()", "ConsumerRecord", "ConsumerRecords"):
        assert f":: kafka.consumer.{name}\n" in pages["kafka.consumer.md"]
    assert ":: kafka.admin.results.LogDirsResult()" in pages["kafka.admin-results.md"]
    assert not any("._async" in name or "._sync" in name for name in pages)
    assert pages["kafka.admin.md"].partition("## What calls return")[2].count("list-table::") == 1


def test_the_methods_of_foreign_classes_are_not_repeated() -> None:
    listed = names_pages.pages()["kafka.admin-results.md"].split("kafka.admin.results.LogDirsResult()")[1]
    assert listed.partition("```")[0].split(":inherited-members: ")[1].split() == ["list,", "object"]


def test_the_arguments_of_a_constructor_are_on_the_page_of_its_class() -> None:
    code = (
        "from scripts.reference.signatures import constructor_text as text\n"
        "from kafka import KafkaConsumer\n"
        "from kafka.formats import Avro, AvroDecodeError, AvroSchemaError\n"
        "assert text(Avro)[:2] == ['', 'Args:'], text(Avro)\n"
        "assert '    reason: what was expected and found.' in text(AvroDecodeError)\n"
        "assert text(AvroSchemaError) == text(KafkaConsumer) == text(int) == []\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_methods_are_on_the_page_of_their_subject_and_old_anchors_lead_there() -> None:
    pages = names_pages.pages()
    file, anchor = "kafka.KafkaAdminClient-topics-and-partitions", "kafka.KafkaAdminClient.create_topics"
    assert f".. automethod:: {anchor}\n" in pages[f"{file}.md"]
    own = pages["kafka.KafkaAdminClient.md"]
    assert f'<span id="{anchor}" data-page="{file}.html#{anchor}"></span>' in own
    assert "   * - :py:obj:`~kafka.KafkaAdminClient.create_topics`\n     - Create topics" in own
    with pytest.raises(ValueError, match=r"no subject for new_call of KafkaConsumer"):
        subjects.of_names("KafkaConsumer", ["poll", "new_call"])


def test_the_examples_of_a_page_are_python() -> None:
    page = names_pages.pages()["kafka.KafkaConsumer.md"]
    assert page.index(".. highlight:: python\n") < page.index(".. autoclass::")


def test_the_first_sentence_ends_at_a_colon_or_full_stop_outside_of_code() -> None:
    assert names_pages.summary("Use `a: b` for it. More.\n\nEven more.") == "Use `a: b` for it"
    assert names_pages.summary("Return some: one or more") == "Return some"
    assert names_pages.summary("Compare them (Java: `A`). More.") == "Compare them (Java: `A`)"


def test_signatures_show_types_and_defaults_as_programs_write_them() -> None:
    shown = "(timestamp_ms: long long, key: bytes | None, is_last: bint) -> Py_ssize_t"
    assert signatures.readable(shown) == "(timestamp_ms: int, key: bytes | None, is_last: bool) -> int"
    assert signatures.readable("(belong_longer: str)") == "(belong_longer: str)"
    assert signatures.readable("(uses: Use = <Use: 0>, refusal: str = <factory>)") == (
        "(uses: Use = Use(0), refusal: str = ...)"
    )
    assert signatures.readable("(*given: ~typing.Never, **configs: Options)") == "(**configs: Options)"
    assert signatures.readable("(function: F = unchanged)") == "(function: F = ...)"
    assert signatures.readable("(timeout: Seconds = None)") == "(timeout: float | None = None)"


def test_errors_of_a_section_become_a_paragraph() -> None:
    section = [
        "Do it.",
        "",
        "Raises:",
        "    A: it is",
        "        wrong.",
        "    b.B, C: none.",
        "",
        "Returns:",
        "    One.",
    ]
    joined = ["Do it.", "", "", "Raises `A`: it is wrong; `b.B`, `C`: none.", "", "Returns:", "    One."]
    assert signatures.with_errors_in_a_paragraph(section) == joined
    assert signatures.with_errors_in_a_paragraph(section[:4])[-2:] == ["Raises `A`: it is.", ""]
    assert signatures.with_errors_in_a_paragraph(["Raises `A` if so."]) == ["Raises `A` if so."]


def test_a_type_in_a_signature_without_a_link_is_found(tmp_path: Path) -> None:
    linked = '<a class="reference internal" href="x"><span class="pre">Known</span></a>'
    parameters = f"one: int, two: {linked} | Unknown = Default, three: Literal['Text']".split(", ")
    shown = ", ".join(f'<em class="sig-param"><span class="n">{each}</span></em>' for each in parameters)
    returned = '<span class="sig-return-typehint"><span class="pre">Missing</span></span>'
    (tmp_path / "names").mkdir()
    text = f'<dt class="sig sig-object py" id="kafka.f">f({shown}) {returned}</dt>'
    (tmp_path / "names" / "kafka.html").write_text(text)
    found = list(types_page.complaints(tmp_path))
    assert [each.partition(" has ")[2].split()[0] for each in found] == ["Missing", "Unknown"]


def test_types_that_no_module_offers_have_entries() -> None:
    page = types_page.text()
    assert "   :canonical: ColumnReader | Avro | Json | Protobuf | str\n" in page
    assert ".. autoclass:: kafka.metrics.sensor.Sensor()\n   :members:\n" in page
    assert types_page.path_of("RecordMetadata", "kafka.aio") == "kafka.aio.structs.RecordMetadata"
    assert types_page.path_of("Nothing", "kafka") is None


def test_results_of_calls_have_no_constructor() -> None:
    page = names_pages.pages()["kafka.consumer.md"]
    for name in ("AsyncBoundedRead", "BoundedRead", "Columns"):
        assert f":: kafka.consumer.{name}()\n" in page


def test_signatures_wrap_where_they_do_not_fit() -> None:
    assert signatures.wrapping(38, 20) == ""
    assert signatures.wrapping(60, 38) == ""
    assert signatures.wrapping(60, 39) == "wraps-on-phones"
    assert signatures.wrapping(93, 20) == "wraps"


def test_only_short_values_of_attributes_are_shown() -> None:
    assert not signatures.is_long_value(" = 30000")
    assert signatures.is_long_value(" = 'Check `url`.'")
    assert not signatures.is_long_value(f": Literal[{'a, ' * 30}]")
    assert signatures.is_long_value(f" = {dict.fromkeys(range(30))}")


def test_a_dead_link_and_a_foreign_asset_are_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<h1 id="here">x</h1><a href="b.html">dead</a><a href="#here">good</a><a href="#there">dead</a>'
        '<a href="https://example.org/">elsewhere</a><script src="https://example.org/x.js"></script>'
    )
    found = list(links.complaints(tmp_path))
    assert [each.split()[3 if "links" in each else 2] for each in found] == [
        "b.html,",
        "#there,",
        "https://example.org/x.js",
    ]
