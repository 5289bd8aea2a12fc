"""Checks that the sink can write the columns of the query: its key, its schema, and the compatibility of the schema.

The columns are encoded as the Spark sink encodes them, without rows.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kafka.errors import KafkaConfigurationError, KafkaError
from kafka.pipelines.checks.columns import Columns, close, listed, one_of
from kafka.pipelines.checks.problem import Findings
from kafka.pipelines.declaration import Declaration, FieldFormat, Location, Sink
from kafka.spark.options.field_options import PLAIN_FORMATS, REGISTRY_FORMATS

if TYPE_CHECKING:
    from kafka.formats.registry.schema_objects import Schema
    from kafka.spark.options.parsing import WriteOptions
    from kafka.spark.typed.writer_schema import WriterSchema

_NO_SUBJECT = 40401
_NO_VERSION = 40402


def check_sink(
    findings: Findings, declaration: Declaration, options: WriteOptions, result: Columns | None, *, has_registry: bool
) -> None:
    """Check the sink.

    Arguments:
        findings: collects the problems.
        declaration: the declaration.
        options: the parsed options of the sink.
        result: the columns of the query; None if they are unknown.
        has_registry: whether the schema registry can be asked, if there is one.
    """
    sink = declaration.topic_sink
    if sink is None:
        return
    if result is not None:
        _check_columns(findings, sink, result)
    at: Location = ("sink", "value")
    for key, value in (("schema", sink.value.text), ("schema_file", sink.value.file), ("subject", sink.value.subject)):
        if value is not None:
            at = ("sink", "value", key)
            break
    try:
        schema = _schema(findings, at, sink.topic, sink.value, options, result, has_registry)
    except ModuleNotFoundError as error:
        findings.error(at, f"the format {sink.value.format} needs {error.name}, which is not installed")
        return
    if schema is not None and result is not None:
        _check_fields(findings, at, schema, result)


def _check_columns(findings: Findings, sink: Sink, result: Columns) -> None:
    if not result.names:
        findings.error(("query",), "the query returns no columns for the sink")
    if sink.key is not None:
        if sink.key not in result.names:
            hint = one_of(sink.key, result.names, "the query returns")
            findings.error(("sink", "key"), f"the query returns no column {sink.key!r}{hint}")
        else:
            findings.passed(("sink", "key"), f"the query returns the column {sink.key!r}")
    if sink.value.format in (*PLAIN_FORMATS, "bytes") and "value" not in result.names:
        findings.error(
            ("sink", "value", "format"),
            f"the format {sink.value.format} writes the column 'value', but the query returns {listed(result.names)}: "
            "rename a column with 'as value', or choose a format with fields, such as json",
        )


def _schema(
    findings: Findings,
    at: Location,
    topic: str,
    value: FieldFormat,
    options: WriteOptions,
    result: Columns | None,
    has_registry: bool,
) -> WriterSchema | None:
    """Return the schema with which the sink will write; None if it is unknown or derived from the columns."""
    from kafka.spark.typed.reader_schema import schema_text
    from kafka.spark.typed.writer_schema import WriterSchema

    typed = options.typed.of("value")
    if typed is None:
        return None
    try:
        text = schema_text(typed)
    except KafkaConfigurationError as error:
        findings.error(at, str(error.args[0]))
        return None
    if value.format not in REGISTRY_FORMATS or not options.typed.registry:
        return WriterSchema("value", value.format, text or "", message=value.message or "") if text else None
    if not has_registry:
        return None if text is None else WriterSchema("value", value.format, text, message=value.message or "")
    subject = value.subject or f"{topic}-value"
    return _registered(findings, at, subject, value, options, text, result)


def _registered(
    findings: Findings,
    at: Location,
    subject: str,
    value: FieldFormat,
    options: WriteOptions,
    text: str | None,
    result: Columns | None,
) -> WriterSchema | None:
    """Return the schema that the sink will find in the registry, or register there."""
    from kafka.formats.registry._sync.named_schemas import referenced_texts
    from kafka.formats.registry.errors import SchemaRegistryError
    from kafka.formats.registry.schema_objects import Schema
    from kafka.spark.typed.registry import client_of
    from kafka.spark.typed.writer_schema import WriterSchema

    client = client_of(options.typed.registry)
    kind = REGISTRY_FORMATS[value.format]
    registers = options.typed.register
    is_derived = text is None and registers and value.format == "avro" and value.version == "latest"
    if is_derived:
        text = _derived(findings, subject, result)
        if text is None:
            return None
    try:
        if text is None:
            version: Any = "latest" if value.version == "latest" else int(value.version)
            found = client.get_version(subject, version)
            if (found.schema.schema_type or "AVRO") != kind:
                findings.error(
                    at, f"subject {subject!r} has schemas of the type {found.schema.schema_type}, not {kind}"
                )
                return None
            findings.passed(at, f"version {found.version} of subject {subject!r}")
            references = tuple(referenced_texts(found.schema, client, kind).items())
            return WriterSchema(
                "value", value.format, found.schema.schema_str or "", references, 1, value.message or ""
            )
        schema = Schema(text, kind)
        if registers:
            report = findings.warning if is_derived else findings.error  # Spark may derive other types
            _check_compatibility(findings, report, at, client, subject, schema)
        else:
            client.lookup_schema(subject, schema)
            findings.passed(at, f"the schema is registered under subject {subject!r}")
        return WriterSchema("value", value.format, text, (), 1, value.message or "")
    except SchemaRegistryError as error:
        if error.error_code in (_NO_SUBJECT, _NO_VERSION):
            findings.error(at, f"{error}{_similar(client, subject)}: register the schema, or set another subject")
        else:
            findings.error(at, f"the schema registry refuses subject {subject!r}: {error}")
    except (KafkaError, ValueError) as error:
        findings.error(at, f"the schema of subject {subject!r} cannot be used: {error}")
    return None


def _similar(client: Any, subject: str) -> str:
    try:
        return close(subject, client.get_subjects())
    except KafkaError:
        return ""


def _check_compatibility(
    findings: Findings, report: Callable[[Location, str], None], at: Location, client: Any, subject: str, schema: Schema
) -> None:
    """Report why the registry will refuse a schema that the sink is going to register."""
    reasons = [each for each in client.compatibility_errors(subject, schema) if not each.startswith(_DETAILS)]
    for each in reasons:
        found = _REASON.search(each)
        why = " ".join((found[2] if found is not None else each).split())
        report(at, f"the schema is not compatible with subject {subject!r}: {why}")
    if not reasons:
        findings.passed(at, f"the schema is compatible with subject {subject!r}, or the subject is new")


_REASON = re.compile(r"description: ?(['\"])(.*?)\1(?:, additionalInfo|\})", re.DOTALL)
"""The text in a reason of Confluent's registries."""
_DETAILS = ("{oldSchemaVersion", "{oldSchema", "{compatibility", "{validateFields")
"""What registries add to their reasons."""


def _derived(findings: Findings, subject: str, result: Columns | None) -> str | None:
    """Return the Avro schema that the sink derives from the columns; None if their types are unknown."""
    import json

    from kafka.formats.avro.arrow_types import avro_schema_of
    from kafka.spark.typed.writer_schema import record_name

    type_ = None if result is None else arrow_type_of(result)
    if type_ is None:
        return None
    try:
        return json.dumps(avro_schema_of(type_, record_name(subject)))
    except ValueError as error:
        findings.error(("query",), f"the columns of the query have no Avro schema: {error}")
        return None


def _check_fields(findings: Findings, at: Location, schema: WriterSchema, result: Columns) -> None:
    """Report columns that do not fit the schema's fields."""
    import pyarrow as pa

    from kafka.spark.typed.encoding import Encoder, RowEncodingError

    type_ = arrow_type_of(result)
    is_exact = type_ is not None
    if type_ is None:
        type_ = pa.struct([pa.field(each, pa.null()) for each in result.names])
    try:
        encoder = Encoder(schema)
    except (KafkaError, ValueError) as error:
        findings.error(at, f"not a valid schema: {error}")
        return
    try:
        encoder.encode(pa.nulls(0, type_))
    except RowEncodingError as error:
        text = str(error).partition(": ")[2] or str(error)
        if is_exact or "lack" in text or "no field" in text:
            findings.error(at, f"the columns of the query ({listed(result.names)}) do not fit the schema: {text}")
        return
    findings.passed(at, "the schema has the columns of the query")


def arrow_type_of(columns: Columns) -> Any:
    """Return the struct of columns; None if the type of one is unknown."""
    import pyarrow as pa

    from kafka.formats.json.errors import JsonSchemaError
    from kafka.formats.json.spark_schema import type_of_ddl

    fields = []
    for each in columns:
        if each.type is None:
            return None
        try:
            fields.append(pa.field(each.name, type_of_ddl(each.type.sql("spark"))))
        except JsonSchemaError:
            return None
    return pa.struct(fields)
