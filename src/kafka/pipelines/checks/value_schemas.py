"""Finds the columns of a source from the schema of its values: text, a file, or a subject in a schema registry."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kafka.errors import KafkaConfigurationError, KafkaError
from kafka.pipelines.checks.columns import KAFKA, Columns, columns_of_source
from kafka.pipelines.checks.problem import Findings
from kafka.pipelines.declaration import FieldFormat, Location, Source

if TYPE_CHECKING:
    from kafka.spark.options.parsing import ReadOptions
    from kafka.spark.typed.reader_schema import ReaderSchema

_TIMESTAMPS = frozenset({"timestamp", "timestamp_ntz"})
_DATES_OR_TEXT = _TIMESTAMPS | {"date", "string"}


def columns(
    findings: Findings, name: str, source: Source, options: ReadOptions, *, has_registry: bool
) -> Columns | None:
    """Return the columns of a source; None if they are unknown.

    Arguments:
        findings: collects the problems.
        name: the name of the source.
        source: the source.
        options: its parsed options.
        has_registry: whether the schema registry can be asked, if there is one.
    """
    import pyarrow as pa

    schemas: dict[str, ReaderSchema | None] = {}
    for field, format_ in (("value", source.value), ("key", source.key)):
        if format_.format != "bytes":
            schemas[field] = _schema(findings, ("sources", name, field), field, format_, options, has_registry)
    types: dict[str, Any] = {"value": pa.binary(), "key": pa.binary()}
    for field, schema in schemas.items():
        types[field] = None if schema is None else schema.spark()
    if types["value"] is None:
        return None
    found = columns_of_source(types["value"], types["key"])
    _check_names(findings, name, types["value"])
    for index, each in enumerate(source.required):
        _check_column(findings, ("sources", name, "required", index), each, found)
    _check_times(findings, name, source, found)
    return found


def _schema(
    findings: Findings, location: Location, field: str, declared: FieldFormat, options: ReadOptions, has_registry: bool
) -> ReaderSchema | None:
    """Return the schema of keys or values; None if it cannot be found, which is a problem."""
    import dataclasses

    from kafka.spark.typed.reader_schema import find_reader_schemas

    typed = options.typed.of(field)
    assert typed is not None, "the format is not bytes"
    own = next((key for key, value in (("schema", declared.text), ("schema_file", declared.file)) if value), "")
    is_registered = not own and bool(options.typed.registry)
    if is_registered and not has_registry:
        return None
    at = (*location, own) if own else (*location, "subject") if declared.subject else location
    try:
        (found,) = find_reader_schemas(dataclasses.replace(options.typed, fields=(typed,)), options.selection)
    except KafkaConfigurationError as error:
        text = str(error.args[0]) if error.args else str(error)
        cause = text.partition(" as a column: ")[2]
        findings.error(at, f"not a schema of columns: {cause}" if cause else text)
    except ModuleNotFoundError as error:
        findings.error(at, f"the format {declared.format} needs {error.name}, which is not installed")
    except (KafkaError, ValueError) as error:
        findings.error(at, _registry_text(error) if is_registered else f"not a valid schema: {error}")
    else:
        findings.passed(at, f"schema of {field}s: {found.origin or declared.format}")
        return found
    return None


def _registry_text(error: Exception) -> str:
    return f"the schema registry has no usable schema: {error}"


def _check_names(findings: Findings, name: str, value: Any) -> None:
    """Report names of fields that Spark confuses with others."""
    import pyarrow as pa

    if not pa.types.is_struct(value):
        return
    names = [each.name for each in value]
    lowered = [each.lower() for each in names]
    for each in sorted({each for each in lowered if lowered.count(each) > 1}):
        same = " and ".join(repr(one) for one in names if one.lower() == each)
        findings.error(
            ("sources", name, "value"), f"the fields {same} differ only in case, so that Spark cannot tell them apart"
        )
    if KAFKA in names:
        findings.error(
            ("sources", name, "value"),
            f"the values have a field {KAFKA!r}, but this name is reserved for the record's topic, partition, offset, "
            "timestamp, key and headers: read the value as text, and parse it in the query",
        )


def _check_times(findings: Findings, name: str, source: Source, found: Columns) -> None:
    """Check the columns of time bounds, of the watermark, and of the removal of duplicates."""
    at: Location = ("sources", name)
    for index, each in enumerate(source.times):
        _check_time(findings, (*at, "times", index), each.column, found, _DATES_OR_TEXT)
    if source.watermark is not None:
        _check_time(findings, (*at, "watermark", "time"), source.watermark.time, found, _TIMESTAMPS)
    if source.dedupe is not None:
        for index, column in enumerate(source.dedupe.by):
            _check_column(findings, (*at, "dedupe", "by", index), column, found)
        if source.dedupe.time is not None:
            _check_time(findings, (*at, "dedupe", "time"), source.dedupe.time, found, _TIMESTAMPS)


def _check_time(findings: Findings, location: Location, path: str, found: Columns, types: frozenset[str]) -> None:
    if not _check_column(findings, location, path, found):
        return
    type_ = found.type_of(path.split("."))
    if type_ is not None and (text := type_.sql("spark").lower()) not in types:
        expected = " or ".join(sorted(types))
        findings.error(location, f"expected a column of type {expected}, got {path!r} of type {text}")


def _check_column(findings: Findings, location: Location, path: str, found: Columns) -> bool:
    """Return whether a column, or a field within a column, exists; add a problem if it does not."""
    problem = found.problem(path.split("."))
    if problem is not None:
        findings.error(location, problem)
    return problem is None
