"""Checks the options of a declaration for Kafka's clients, the Spark source and sink, and the schema registry.

The options are parsed as Spark's source and sink parse them, without Spark.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kafka.errors import KafkaConfigurationError
from kafka.pipelines.checks.problem import Findings
from kafka.pipelines.declaration import Declaration, FieldFormat, Location, Source
from kafka.spark.options.field_options import REGISTRY_FORMATS, REGISTRY_PREFIX

if TYPE_CHECKING:
    from kafka.spark.options.parsing import ReadOptions, WriteOptions

_REGISTRY_NAMES = ("url", "user", "password", "token", "wait")
"""Options of the registry that have a name of their own in Spark, such as schemaRegistryUrl."""


def checked_source(findings: Findings, declaration: Declaration, name: str) -> ReadOptions | None:
    """Return the parsed options for reading a source; None if they are invalid."""
    from kafka.spark.options.parsing import parse_read

    source = declaration.all_sources[name]
    given = read_options(declaration, source)
    try:
        return parse_read(_lowered(given), streaming=True)
    except KafkaConfigurationError as error:
        own = _key_of(str(error), source.options)
        _report(findings, ("sources", name), error, ("options", own) if own else (), declaration.kafka)
        return None


def checked_sink(findings: Findings, declaration: Declaration) -> WriteOptions | None:
    """Return the parsed options for writing to the sink; None if they are invalid."""
    from kafka.spark.options.parsing import parse_write

    given = write_options(declaration)
    try:
        return parse_write(_lowered(given), streaming=True)
    except KafkaConfigurationError as error:
        own = _key_of(str(error), declaration.sink.options)
        _report(findings, ("sink",), error, ("options", own) if own else (), declaration.kafka)
        return None


def _report(
    findings: Findings,
    location: Location,
    error: KafkaConfigurationError,
    own: Location,
    clients: Mapping[str, str],
) -> None:
    """Report an error at the key that it is about: the client's options have one place for all sources and the sink."""
    text = str(error.args[0]) if error.args else str(error)
    for field in ("value", "key"):
        if not own and f"option '{field}" in text:
            own = (field,)
    if own:
        findings.error((*location, *own), text)
    elif "'kafka." in text:
        name = text.partition("'kafka.")[2].partition("'")[0]
        given = next((each for each in clients if each.lower() == name), "")
        where = ("kafka", given) if given else ("kafka",)
        if not any(each.place == findings.places(*where) for each in findings.problems):  # once for all clients
            findings.error(where, text.replace("'kafka.", "'"))
    elif "schemaRegistry" in text:
        findings.error(("registry",), text)
    else:
        findings.error(location, text)


def _key_of(text: str, options: Mapping[str, str]) -> str:
    """Return the declared option that an error is about; "" if it is about none of them."""
    return next((name for name in options if f"option {name.lower()!r}" in text.lower()), "")


def read_options(declaration: Declaration, source: Source) -> dict[str, str]:
    """Return the options of the Spark source for a source."""
    if source.pattern is not None:
        given = {"subscribePattern": source.pattern}
    else:
        given = {"subscribe": ",".join([source.topic] if source.topic is not None else source.topics or ())}
    given["startingTimestamp" if source.start.isdecimal() else "startingOffsets"] = source.start
    given |= _common(declaration, source.key, source.value)
    return given | source.options


def write_options(declaration: Declaration) -> dict[str, str]:
    """Return the options of the Spark sink for the sink."""
    sink = declaration.sink
    given = {"topic": sink.topic}
    if sink.exactly_once:
        given |= {"exactlyOnce": "true", "transactionalIdPrefix": declaration.pipeline}
    return given | _common(declaration, None, sink.value) | sink.options


def _common(declaration: Declaration, key: FieldFormat | None, value: FieldFormat) -> dict[str, str]:
    given = {f"kafka.{name}": text for name, text in declaration.kafka.items()}
    needs_registry = False
    for field, each in (("key", key), ("value", value)):
        if each is None or each.format == "bytes":
            continue
        needs_registry = needs_registry or each.format in REGISTRY_FORMATS
        given[f"{field}Format"] = each.format
        others = {"Schema": each.text, "SchemaFile": each.file, "Subject": each.subject, "Message": each.message}
        given |= {f"{field}{name}": text for name, text in others.items() if text is not None}
        if each.version != "latest":
            given[f"{field}Version"] = each.version
    if needs_registry:
        for name, text in declaration.registry.items():
            prefix = "schemaRegistry" + name.capitalize() if name in _REGISTRY_NAMES else REGISTRY_PREFIX + name
            given[prefix] = text
    return given


def _lowered(given: Mapping[str, str]) -> dict[str, Any]:
    """Return options as Spark passes them, with lower-case names."""
    return {name.lower(): text for name, text in given.items()}
