"""The test cases of a pipeline, and the YAML files that contain them.

To add a key: a field here with its description.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field, ValidationError, model_validator

from kafka.pipelines.declaration import SOURCE, Declaration, InvalidDeclaration, Location, Model
from kafka.pipelines.field_types import DIRECTORY, Identifier, PathText, Text, Topic
from kafka.pipelines.problems import problem_text
from kafka.pipelines.yaml_file import read

_RECORD_KEYS = ("value", "raw", "hex", "key", "timestamp", "headers", "topic")
_CONTENT = ("value", "raw", "hex")


def _record(given: Any) -> Any:
    """Accept a record, or only its value: JSON without one of the keys `value`, `raw` and `hex`, or bytes."""
    if isinstance(given, Mapping) and any(name in given for name in _CONTENT) and set(given) <= set(_RECORD_KEYS):
        return given
    if isinstance(given, (bytes, bytearray, memoryview)):
        return {"hex": bytes(given).hex()}
    return {"value": given}


def _time(given: Any) -> Any:
    """Convert a date or time to milliseconds since 1970; in UTC if it contains no time zone."""
    if isinstance(given, datetime.date) and not isinstance(given, datetime.datetime):
        given = datetime.datetime.combine(given, datetime.time())
    if isinstance(given, datetime.datetime):
        moment = given if given.tzinfo is not None else given.replace(tzinfo=datetime.UTC)
        return round(moment.timestamp() * 1000)
    return given


class InputRow(Model):
    """A record of a source."""

    value: Any = Field(default=None, description="The value as JSON; null for a record without a value.")
    raw: str | None = Field(default=None, description="The value as text that is not encoded, instead of value.")
    hex: str | None = Field(default=None, description="The bytes of the value in hexadecimal, instead of value.")
    key: Any = Field(default=None, description="The key as JSON.")
    timestamp: Annotated[int | None, BeforeValidator(_time)] = Field(
        default=None, description="The timestamp in ms since 1970, or a time; by default, the current time."
    )
    headers: dict[str, str | None] = Field(default={}, description="The headers, as text.")
    topic: Topic | None = Field(
        default=None, description="The topic, if the source reads several; by default, the first one."
    )

    @model_validator(mode="after")
    def _check(self) -> InputRow:
        given = [name for name in _CONTENT if name in self.model_fields_set]
        if len(given) > 1:
            raise ValueError(f"expected one of value, raw and hex, got {' and '.join(given)}")
        try:
            bytes.fromhex(self.hex or "")
        except ValueError:
            raise ValueError(f"hex: expected bytes in hexadecimal, got {self.hex!r}") from None
        return self

    @property
    def undecoded(self) -> bytes | None:
        """The bytes of `raw` or `hex`; None if the value has to be encoded."""
        if self.raw is not None:
            return self.raw.encode()
        return bytes.fromhex(self.hex) if self.hex is not None else None


class OutputRow(Model):
    """An expected record of the sink."""

    value: Any = Field(default=None, description="The value as JSON. Fields that are null may be left out.")
    key: Any = Field(default=None, description="The key as text; by default, the key is not compared.")
    headers: dict[str, str | None] = Field(default={}, description="Headers that the record must have, as text.")
    raw: ClassVar[None] = None


class DeadRow(Model):
    """An expected dead letter."""

    row: Annotated[int, Field(ge=0)] = Field(description="Index of the row within its source, from 0 on.")
    source: Identifier | None = Field(default=None, description="The source, if there are several.")
    rules: tuple[str, ...] | None = Field(
        default=None, description="The names of all rules that the row fails; by default, they are not compared."
    )


Input = Annotated[InputRow, BeforeValidator(_record)]
Output = Annotated[OutputRow, BeforeValidator(_record)]


def _by_source(given: Any) -> Any:
    return {SOURCE: given} if isinstance(given, (list, tuple)) else given


def _dead(given: Any) -> Any:
    """Accept a list of dead letters, or a mapping of index to names of rules."""
    if isinstance(given, Mapping):
        return [{"row": row, "rules": rules} for row, rules in given.items()]
    return [{"row": each} if isinstance(each, int) and not isinstance(each, bool) else each for each in given]


class Case(Model):
    """A test case: rows in, and what the pipeline must do with them."""

    name: Text = Field(description="Name of the case.")
    rows: Annotated[dict[str, tuple[Input, ...]], BeforeValidator(_by_source)] = Field(
        description="The rows of each source by its name, or a list for the only source. A row is the value as JSON, "
        "or a record with value, raw or hex, and key, timestamp, headers or topic."
    )
    expect: tuple[Output, ...] | None = Field(
        default=None,
        description="The expected rows of the sink: values as JSON, or records with value and key or headers. By "
        "default, the rows are not compared.",
    )
    ordered: bool = Field(default=False, description="Whether the order of the expected rows matters.")
    dead: Annotated[tuple[DeadRow, ...], BeforeValidator(_dead)] = Field(
        default=(), description="The expected dead letters; by default, none."
    )
    dropped: Annotated[int, Field(ge=0)] = Field(default=0, description="Number of rows that rules drop.")
    fails: Text | None = Field(
        default=None, description="Text in the error with which the run must fail; by default, it must not fail."
    )


class TestSchema(Model):
    """A schema for the embedded registry."""

    __test__ = False
    subject: Text = Field(description="The subject.")
    text: Text | None = Field(default=None, alias="schema", description="The schema.")
    file: PathText | None = Field(default=None, alias="schema_file", description="File that contains the schema.")
    format: Annotated[str, Field(pattern="^(avro|json-schema|protobuf)$")] = Field(
        default="avro", description="Format of the schema: avro, json-schema or protobuf."
    )

    @model_validator(mode="after")
    def _check(self) -> TestSchema:
        if (self.text is None) == (self.file is None):
            raise ValueError("expected one of schema and schema_file, got " + ("none" if self.text is None else "both"))
        return self

    @property
    def content(self) -> str:
        """The text of the schema. Raises `OSError`."""
        return self.text if self.text is not None else Path(self.file or "").read_text(encoding="utf-8")


class TestFile(Model):
    """The content of a test file."""

    __test__ = False
    schemas: tuple[TestSchema, ...] = Field(
        default=(), description="Schemas that are in the registry before a case begins."
    )
    cases: tuple[Case, ...] = Field(description="The cases.")

    @model_validator(mode="after")
    def _check(self) -> TestFile:
        names = [each.name for each in self.cases]
        if not names:
            raise ValueError("cases: expected at least one case, got none")
        if repeated := [name for name in names if names.count(name) > 1]:
            raise ValueError(f"cases: expected unique names, got {repeated[0]!r} twice")
        return self


def load_cases(path: str | Path) -> TestFile:
    """Read the test cases in a YAML file.

    Raises an `InvalidDeclaration` with a line for each problem.
    """
    path = Path(path)
    content, line = read(path)
    return validated_cases(content, lambda location: f"{path}:{line(_written(location))}: ", path.absolute().parent)


def _written(location: Location) -> Location:
    """Return the location of a row in a list of rows, which belongs to the only source."""
    return (*location[:3], *location[4:]) if location[2:4] == ("rows", SOURCE) else location


def validated_cases(
    content: Mapping[str, Any], place: Callable[[Location], str], directory: Path | None = None
) -> TestFile:
    """Return the test cases in nested mappings and lists.

    Arguments:
        content: the keys of `TestFile` with their values.
        place: returns the prefix for an error at a location.
        directory: the directory that relative paths start from.

    Raises `InvalidDeclaration`.
    """
    try:
        return TestFile.model_validate(content, context={DIRECTORY: directory})
    except ValidationError as error:
        problems = [place(each["loc"]) + problem_text(each["loc"], each, TestFile) for each in error.errors()]
        raise InvalidDeclaration("\n".join(problems)) from None


def check_names(case: Case, declaration: Declaration) -> Case:
    """Return the case with the names of the declaration's sources.

    Rows without a source belong to the only source. Raises `InvalidDeclaration` for names that the declaration does not
    contain, and for expected dead letters that are not rows.
    """
    sources = declaration.all_sources
    rows = dict(case.rows)
    if set(rows) == {SOURCE} and SOURCE not in sources:
        if len(sources) != 1:
            raise InvalidDeclaration(
                f"case {case.name!r}: rows: expected the rows of each source by its name ({', '.join(sources)}), got a "
                "list"
            )
        rows = {next(iter(sources)): rows[SOURCE]}
    for name in rows:
        if name not in sources:
            raise InvalidDeclaration(
                f"case {case.name!r}: rows.{name}: there is no such source; the sources are {', '.join(sources)}"
            )
    rules = {name: {rule.name for rule in source.rules} for name, source in sources.items()}
    dead = []
    for each in case.dead:
        if each.source is None and len(rows) != 1:
            raise InvalidDeclaration(f"case {case.name!r}: dead: expected a source for row {each.row}")
        source = each.source or next(iter(rows))
        if source not in rows or each.row >= len(rows[source]):
            raise InvalidDeclaration(f"case {case.name!r}: dead: source {source!r} has no row {each.row}")
        _check_rules(case, each, rules.get(source, set()))
        dead.append(each.model_copy(update={"source": source}))
    return case.model_copy(update={"rows": rows, "dead": tuple(dead)})


def _check_rules(case: Case, dead: DeadRow, known: set[str]) -> None:
    from kafka.config.option import nearest
    from kafka.pipelines.declaration import RESERVED

    names = {*known, *RESERVED}
    for rule in dead.rules or ():
        if rule not in names:
            raise InvalidDeclaration(
                f"case {case.name!r}: dead: row {dead.row}: there is no rule {rule!r}"
                + (nearest(rule, names) or f"; the rules are {', '.join(sorted(names))}")
            )


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema for test files, for editors."""
    schema = TestFile.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "tests of a pipeline"} | schema
