"""The pages for schemas: the registry's subjects; one schema with its versions, settings and differences."""

import contextlib
import dataclasses
import difflib
from collections.abc import Mapping
from typing import NamedTuple

from kafka.display.page_elements import Html, facts, html, joined, link, table
from kafka.errors import KafkaError, error_text
from kafka.formats.registry.errors import SchemaRegistryError
from kafka.formats.registry.schema_objects import RegisteredSchema, readable
from kafka.ui.missing import Missing
from kafka.ui.page_frame import page
from kafka.ui.page_registry import PageRegistry
from kafka.ui.shared_state import Ui
from kafka.ui.tables import Column, Columns, Table

_REFERENCES = ("name", "subject", "version")
_LARGEST = 1 << 20
"""Maximum number of characters of a schema that are shown."""
_NO_REGISTRY = Html(
    "<p>Start <code>kafka ui --registry URL</code>, or set the environment variable "
    "<code>KAFKA_SCHEMA_REGISTRY_URL</code>, and the schemas are shown here.</p>"
)


class _Subject(NamedTuple):
    """A subject with its newest version; None if it was deleted in the meantime or is not on the page."""

    name: str
    newest: RegisteredSchema | None = None
    versions: int = 0


async def schemas_page(ui: Ui) -> Html:
    """Return the page that lists the subjects. The registry is asked for the versions of those on the page only."""
    if ui.registry is None:
        return page(ui, "Schemas", "/schemas", _NO_REGISTRY)
    names = await ui.registry.ask(ui.registry.client.get_subjects)
    table = _table()
    chosen = table.chosen(map(_Subject, sorted(names)))
    rows = await ui.registry.ask(lambda registry: [_summary(registry, each.name) for each in chosen.rows], ui.registry)
    return page(ui, "Schemas", "/schemas", table.html(dataclasses.replace(chosen, rows=rows)))


def _table() -> Table[_Subject]:
    columns: Columns[_Subject] = (
        Column("subject", lambda each: link(each.name, "/schema", subject=each.name), lambda each: each.name),
        Column("type", lambda each: each.newest.schema.schema_type if each.newest else "deleted"),
        Column("versions", lambda each: each.versions or "", is_number=True),
        Column("newest", lambda each: each.newest.version if each.newest else "", is_number=True),
        Column("id", lambda each: each.newest.schema_id if each.newest else "", is_number=True),
    )
    empty = "The schema registry has no subjects yet."
    return Table("Subjects", columns, lambda each: each.name, sort="subject", empty=empty)


def _summary(registry: PageRegistry, subject: str) -> _Subject:
    try:
        versions = registry.client.get_versions(subject)
        return _Subject(subject, registry.client.get_latest_version(subject), len(versions))
    except SchemaRegistryError as error:
        if error.is_missing:
            return _Subject(subject)
        raise


async def schema_page(ui: Ui, given: Mapping[str, str]) -> Html | None:
    """Return the page for a version of a subject, or for the schema with an id; None if it does not exist.

    Raises `ValueError` if the version or the id is not a number, and `KafkaError`.
    """
    registry = ui.registry
    if registry is None:
        return page(ui, "Schemas", "/schemas", _NO_REGISTRY)
    subject = given.get("subject", "")
    try:
        if not subject:
            schema_id = _number("id", given.get("id", ""))
            content = await registry.ask(_by_id, registry, schema_id)
            return page(ui, f"Schema {schema_id}", "/schemas", content)
        version = _number("version", given["version"]) if given.get("version") else None
        other = _number("version", given["with"]) if given.get("with") else None
        content = await registry.ask(_of_subject, registry, subject, version, other)
    except SchemaRegistryError as error:
        if error.is_missing:
            return None
        raise
    return page(ui, subject, "/schemas", content)


async def no_schema(ui: Ui, given: Mapping[str, str]) -> Missing:
    """Return what is missing if there is no such schema."""
    subject, known = given.get("subject", ""), list[str]()
    if not subject:
        text = f"the schema registry has no schema with id {given.get('id', '')!r:.60}"
    else:
        version = f"version {given['version']} of " if given.get("version") else ""
        text = f"the schema registry has no {version}subject {subject!r:.300}"
    with contextlib.suppress(KafkaError, TimeoutError):
        known = await ui.registry.ask(ui.registry.client.get_subjects) if ui.registry is not None else []
    return Missing(text, "subjects", "/schemas", "/schema", "subject", subject, known)


def _number(name: str, text: str) -> int:
    if not text.isascii() or not text.isdecimal() or len(text) > 10:
        raise ValueError(f"expected a number as {name}, got {text!r:.60}")
    return int(text)


def _by_id(registry: PageRegistry, schema_id: int) -> Html:
    schema = registry.client.get_schema(schema_id)
    users = registry.client.get_schema_versions(schema_id)
    rows = [[link(each.subject, "/schema", subject=each.subject, version=each.version), each.version] for each in users]
    return joined(
        [
            facts([("id", schema_id), ("type", schema.schema_type)]),
            _text(readable(schema)),
            html("<h2>Subjects that use it</h2>{}", table(("subject", "version"), rows, ("version",), "Subjects")),
        ]
    )


def _of_subject(registry: PageRegistry, subject: str, version: int | None, other: int | None) -> Html:
    versions = sorted(registry.client.get_versions(subject))
    number = versions[-1] if version is None else version
    shown = registry.client.get_version(subject, number)
    before = max((each for each in versions if each < number), default=None)
    pairs = [
        ("version", number),
        ("id", shown.schema_id),
        ("type", shown.schema.schema_type),
        ("compatibility", _compatibility(registry, subject)),
        ("versions", joined((link(each, "/schema", subject=subject, version=each) for each in versions), " · ")),
    ]
    if before is not None and other is None:
        text = f"from version {before} to {number}"
        pairs.append(("difference", link(text, "/schema", subject=subject, version=number, with_=before)))
    parts = [facts(pairs)]
    if other is None:
        parts += [_text(readable(shown.schema)), _references(shown)]
    else:
        parts.append(_difference(registry.client.get_version(subject, other), shown))
    return joined(parts)


def _compatibility(registry: PageRegistry, subject: str) -> str:
    """Return the subject's compatibility level, or the global one."""
    try:
        return registry.client.get_compatibility(subject)
    except SchemaRegistryError as error:
        if not error.is_missing:
            return error_text(error)
    try:
        return f"{registry.client.get_compatibility()} (the default)"
    except KafkaError as error:
        return error_text(error)


def _references(shown: RegisteredSchema) -> Html:
    rows = [
        [each.name, link(each.subject, "/schema", subject=each.subject, version=each.version), each.version]
        for each in shown.schema.references or ()
    ]
    if not rows:
        return Html("")
    return html("<h2>References</h2>{}", table(_REFERENCES, rows, ("version",), "References"))


def _difference(old: RegisteredSchema, new: RegisteredSchema) -> Html:
    """Return the line-by-line difference between two schemas, with context."""
    before, after = (readable(each.schema).splitlines() for each in (old, new))
    lines = list(difflib.unified_diff(before, after, n=8, lineterm=""))[2:]
    title = html("<h2>From version {} to version {}</h2>", old.version, new.version)
    if not lines:
        return html('{}<p class="quiet">The schemas are identical.</p>', title)
    return html('{}<pre tabindex="0">\n{}</pre>', title, joined(map(_line, lines), "\n"))


def _line(line: str) -> Html:
    if line.startswith("+"):
        return html("<ins>{}</ins>", line)
    return html("<del>{}</del>" if line.startswith("-") else "{}", line)


def _text(text: str) -> Html:
    note = f"the first {_LARGEST:,} of {len(text):,} characters" if len(text) > _LARGEST else ""
    return html('<pre tabindex="0">\n{}</pre><p class="note">{}</p>', text[:_LARGEST], note)
