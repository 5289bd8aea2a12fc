"""Compares the declarations in `kafka.wire.api` with a release of Kafka, and drafts what is new.

    python scripts/draft_messages.py kafka-clients-4.4.0.jar

The facts of a release are the JSON files in the jar of kafka-clients (`common/message/*.json`), or a file with one such
object a line. What is printed: versions that were added, new fields as lines to be put into a class, fields that are
declared otherwise or in another order, fields that have another name now, and for messages that are not declared at all
whole classes. Names of structs and docstrings of new
classes are to be looked at; nothing is written to disk. Exit status 1: there was something to draft.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kafka.wire import Struct, message_class, message_names
from kafka.wire.jsonform import json_name
from kafka.wire.kinds import Kind
from kafka.wire.message import Message
from kafka.wire.structs import NEVER, Field

FACTS_IN_JAR = re.compile(r"common/message/\w+\.json")
COMMENT = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*')
DECLARED_BY = {"bool": "boolean", "bytes": "binary", "records": "record_bytes"}
PYTHON = {
    "bool": "bool",
    "string": "str",
    "bytes": "bytes",
    "records": "RecordBytes",
    "uuid": "UUID",
    "float64": "float",
}
LINE = 120


@dataclass(frozen=True)
class FieldFacts:
    """A field as a release has it."""

    name: str
    type: str
    since: int
    until: int
    null_since: int
    null_until: int
    tag: int
    default: Any
    ignorable: bool
    fields: tuple[FieldFacts, ...] = ()

    @property
    def element(self) -> str:
        """The type without the mark of an array."""
        return self.type.removeprefix("[]")

    @property
    def is_struct(self) -> bool:
        """Whether it holds structs."""
        return self.element[:1].isupper()


@dataclass(frozen=True)
class MessageFacts:
    """A message as a release has it."""

    name: str
    api_key: int
    first: int
    last: int
    flexible_since: int
    fields: tuple[FieldFacts, ...]
    structs: dict[str, tuple[FieldFacts, ...]] = field(default_factory=dict)


# -- reading facts ----------------------------------------------------------------------------------------------------


def read_facts(path: Path) -> list[MessageFacts]:
    """The messages in a jar of kafka-clients, or in a file of one JSON object a line; those of Kafka's own logs are
    left out."""
    if path.suffix == ".jar":
        with zipfile.ZipFile(path) as jar:
            texts = [jar.read(name).decode() for name in sorted(jar.namelist()) if FACTS_IN_JAR.fullmatch(name)]
    else:
        texts = path.read_text(encoding="utf-8").splitlines()
    objects = [json.loads(COMMENT.sub(lambda found: found.group(1) or "", text)) for text in texts if text.strip()]
    known = set(message_names())
    return [
        message_facts(one)
        for one in objects
        if one["validVersions"] != "none" and (one["type"] in ("request", "response") or one["name"] in known)
    ]


def message_facts(one: dict[str, Any]) -> MessageFacts:
    """A message of its JSON object."""
    first, last = versions(one["validVersions"])
    structs: dict[str, tuple[FieldFacts, ...]] = {}
    common = {struct["name"]: struct["fields"] for struct in one.get("commonStructs", ())}
    for name, rows in common.items():
        structs[name] = tuple(field_facts(row, structs) for row in rows)
    fields = tuple(field_facts(row, structs) for row in one["fields"])
    return MessageFacts(
        one["name"], one.get("apiKey", -1), first, last, versions(one["flexibleVersions"])[0], fields, structs
    )


def field_facts(row: dict[str, Any], structs: dict[str, tuple[FieldFacts, ...]]) -> FieldFacts:
    """A field of its JSON object; the structs it brings are added to `structs`."""
    since, until = versions(row["versions"])
    if "taggedVersions" in row:
        since, until = versions(row["taggedVersions"])
    inner = tuple(field_facts(one, structs) for one in row.get("fields", ()))
    if inner:
        structs[row["type"].removeprefix("[]")] = inner
    null_since, null_until = versions(row.get("nullableVersions", "none"))
    return FieldFacts(
        row["name"],
        row["type"],
        since,
        until,
        null_since,
        null_until,
        row.get("tag", -1),
        row.get("default"),
        row.get("ignorable", False),
        inner,
    )


def versions(text: str) -> tuple[int, int]:
    """The first and the last version of "3", "3-5", "3+" or "none"."""
    if text == "none":
        return NEVER, -1
    first, dash, last = text.removesuffix("+").partition("-")
    return int(first), NEVER if text.endswith("+") else int(last if dash else first)


# -- comparing --------------------------------------------------------------------------------------------------------


def drafts(facts: Iterable[MessageFacts]) -> Iterator[str]:
    """Yield a text for each message that must change; none for those declared correctly."""
    known = set(message_names())
    for one in facts:
        lines = list(compared(one, message_class(one.name))) if one.name in known else [whole(one)]
        if lines:
            yield "\n".join([f"# {one.name}", *lines])


def compared(facts: MessageFacts, declared: type[Message]) -> Iterator[str]:
    """Yield the differences between a release and our declaration."""
    if facts.last > declared.MAX_VERSION:
        yield f"versions=({declared.MIN_VERSION}, {facts.last})  # was {declared.MAX_VERSION}"
    if facts.flexible_since != declared.FLEXIBLE_SINCE and facts.flexible_since <= facts.last:
        yield f"flexible_since={facts.flexible_since}  # was {declared.FLEXIBLE_SINCE}"
    yield from _struct_differences(facts, facts.fields, declared, declared.__name__, set())


def _struct_differences(
    facts: MessageFacts, fields: tuple[FieldFacts, ...], declared: type[Struct], place: str, seen: set[type[Struct]]
) -> Iterator[str]:
    if declared in seen:
        return
    seen.add(declared)
    by_name = {json_name(one.name): one for one in declared.FIELDS}
    there = {_key(one) for one in fields}
    gone = [known for name, known in by_name.items() if name not in there and known.until >= facts.first]
    after = "at the start"
    for one in fields:
        known = by_name.get(_key(one))
        before = None if known is not None else _renamed(facts, one, gone)
        if before is not None:
            gone.remove(before)
            yield (
                f"{place}.{before.name} has another name now: rename it {attribute(one.name)}, in all versions, and "
                f"say so in RENAMED of tests/unit/wire/messages.py: {json_name(before.name)!r}: {_key(one)!r}"
            )
        elif known is None:
            yield from _new_structs(facts, one).values()
            yield f"{place}, {after}:\n    {declaration(one)}"
        else:
            wrong = _field_differences(facts, one, known)
            if wrong:
                yield f"{place}.{known.name}: {'; '.join(wrong)}; now:\n    {declaration(one)}"
            if known.struct is not None and one.is_struct:
                inner = facts.structs[one.element]
                yield from _struct_differences(facts, inner, known.struct, known.struct.__name__, seen)
        after = f"after {attribute(one.name)}"
    for known in gone:
        yield f"{place}.{known.name} is not in the release: it was removed, or renamed and changed"
    here = [_key(one) for one in fields if one.tag < 0 and _key(one) in by_name]
    ours = [name for name, known in by_name.items() if name in set(here)]
    if here != ours:
        yield f"{place}: its fields stand in another order: {', '.join(map(attribute, here))}"


def _key(one: FieldFacts) -> str:
    """The field's name in JSON."""
    return one.name[:1].lower() + one.name[1:]


def _renamed(facts: MessageFacts, one: FieldFacts, gone: Iterable[Field]) -> Field | None:
    """The declared field, of those that the release does not have, that this is by all but its name."""
    return next((known for known in gone if not one.is_struct and not _field_differences(facts, one, known)), None)


def _field_differences(facts: MessageFacts, one: FieldFacts, known: Field) -> list[str]:
    """Return the differences in the versions that the release supports; older versions are not compared."""
    wrong = []
    kind = known.element if known.kind is Kind.ARRAY else known.kind
    kinds = {"STRUCT"} if one.is_struct else {one.element.upper()}
    if (kind is not None and kind.name not in kinds) or (known.kind is Kind.ARRAY) != one.type.startswith("[]"):
        wrong.append(f"declared as {known.kind.name.lower()}")
    present = [v for v in range(facts.first, facts.last + 1) if one.since <= v <= one.until]
    declared = [v for v in range(facts.first, facts.last + 1) if known.in_version(v)]
    if present != declared:
        wrong.append(f"declared for the versions {declared}, they are {present}")
    nullable = [v for v in present if one.null_since <= v <= one.null_until]
    if nullable != [v for v in present if known.nullable_in(v)]:
        wrong.append(f"may be null in the versions {nullable}")
    if present and one.tag != known.tag:
        wrong.append(f"declared with the tag {known.tag}")
    return wrong


# -- drafting ---------------------------------------------------------------------------------------------------------


def attribute(name: str) -> str:
    """Our name of a field: `MaxWaitMs` is `max_wait_ms`."""
    return re.sub("(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def declaration(one: FieldFacts) -> str:
    """The line that declares a field."""
    plain = one.element if one.is_struct else PYTHON.get(one.element, "int")
    maker = one.element if one.is_struct else DECLARED_BY.get(one.element, one.element)
    arguments = []
    if one.type.startswith("[]"):
        plain, arguments, maker = f"list[{plain}]", [maker], "array"
    elif one.is_struct:
        arguments, maker = [maker], "struct"
    if one.since > 0:
        arguments.append(f"since={one.since}")
    if one.until < NEVER:
        arguments.append(f"until={one.until}")
    if one.tag >= 0:
        arguments.append(f"tag={one.tag}")
    if one.null_since < NEVER:
        plain += " | None"
        arguments.append("nullable=True")
        if one.null_since > one.since:
            arguments.append(f"null_since={one.null_since}")
    default = _default(one)
    if default is not None:
        arguments.append(f"default={default}")
    if one.ignorable:
        arguments.append("ignorable=True")
    line = f"{attribute(one.name)}: {plain} = {maker}({', '.join(arguments)})"
    if len(line) + 4 <= LINE:
        return line
    return f"{attribute(one.name)}: {plain} = {maker}(\n        {', '.join(arguments)}\n    )"


def _default(one: FieldFacts) -> str | None:
    """The default where it is not the type's own."""
    text = one.default
    if text is None or text == "" or str(text).lower() in ("0", "false"):
        return None
    if text == "null":
        return "None"
    if one.element == "string":
        return json.dumps(text)
    if one.element == "bool":
        return str(text).capitalize()
    number = int(str(text), 0)
    return f"{number:_}" if abs(number) >= 10_000 else str(number)


def _new_structs(facts: MessageFacts, one: FieldFacts) -> dict[str, str]:
    """The classes that a new field needs by their names, the innermost first."""
    if not one.is_struct:
        return {}
    fields = facts.structs[one.element]
    found: dict[str, str] = {}
    for inner in fields:
        found.update((name, text) for name, text in _new_structs(facts, inner).items() if name not in found)
    lines = "\n    ".join(map(declaration, fields))
    found[one.element] = (
        f'class {one.element}(Struct):\n    """An element of `{attribute(one.name)}`."""\n\n    {lines}\n'
    )
    return found


def whole(facts: MessageFacts) -> str:
    """The classes of a message that is not declared yet."""
    structs: dict[str, str] = {}
    for one in facts.fields:
        structs.update(_new_structs(facts, one))
    flexible = f", flexible_since={facts.flexible_since}" if facts.flexible_since <= facts.last else ""
    api = facts.name.removesuffix("Request").removesuffix("Response")
    head = f'class {facts.name}(Response, request={api}Request):\n    """The response to `{api}Request`."""'
    if facts.name.endswith("Request"):
        head = (
            f'class {facts.name}(Request["{api}Response"], api_key={facts.api_key}, '
            f'versions=({facts.first}, {facts.last}){flexible}):\n    """TODO: say what it asks for."""'
        )
    elif facts.api_key < 0:
        head = f'class {facts.name}(Message, versions=({facts.first}, {facts.last}){flexible}):\n    """TODO."""'
    lines = "".join(f"\n    {declaration(one)}" for one in facts.fields)
    return "\n".join([*structs.values(), f"{head}\n{lines}"])


def main(arguments: list[str] | None = None) -> int:
    """Run as a command."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("facts", type=Path, help="a jar of kafka-clients, or a file with one message's JSON a line")
    found = list(drafts(read_facts(parser.parse_args(arguments).facts)))
    print("\n\n".join(found) or "everything is declared as in this release")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
