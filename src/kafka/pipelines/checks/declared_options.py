"""Checks the options of a declaration for Kafka's clients, the Spark source and sink, and the schema registry.

The options are parsed as Spark's source and sink parse them, without Spark.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kafka.errors import KafkaConfigurationError
from kafka.pipelines.checks.problem import Findings
from kafka.pipelines.declaration import Declaration, Location
from kafka.pipelines.kafka_rows import write_options
from kafka.pipelines.source_rows import read_options, start_options, topic_options

if TYPE_CHECKING:
    from kafka.spark.options.parsing import ReadOptions, WriteOptions


def checked_source(findings: Findings, declaration: Declaration, name: str) -> ReadOptions | None:
    """Return the parsed options for reading a source; None if they are invalid."""
    from kafka.spark.options.parsing import parse_read

    source = declaration.all_sources[name]
    given = read_options(declaration, source) | topic_options(source) | start_options(source)
    try:
        return parse_read(_lowered(given), streaming=True)
    except KafkaConfigurationError as error:
        own = _key_of(str(error), source.options)
        _report(findings, ("sources", name), error, ("options", own) if own else (), declaration.kafka)
        return None


def checked_sink(findings: Findings, declaration: Declaration) -> WriteOptions | None:
    """Return the parsed options for writing to the sink; None if they are invalid, or if it is not a topic."""
    from kafka.spark.options.parsing import parse_write

    sink = declaration.topic_sink
    if sink is None:
        return None
    given = {"topic": sink.topic} | write_options(declaration, sink, declaration.pipeline)
    try:
        return parse_write(_lowered(given), streaming=True)
    except KafkaConfigurationError as error:
        own = _key_of(str(error), sink.options)
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


def _lowered(given: Mapping[str, str]) -> dict[str, Any]:
    """Return options as Spark passes them, with lower-case names."""
    return {name.lower(): text for name, text in given.items()}
