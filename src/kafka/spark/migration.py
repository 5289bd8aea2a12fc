"""Describes what changes for a query that has used Spark's own Kafka connector. Pure."""

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from kafka.errors import KafkaConfigurationError
from kafka.spark.options.client_options import Effect, handling_of
from kafka.spark.options.option_table import KAFKA_PREFIX
from kafka.spark.options.parsing import check_names, parse_read, parse_write

Options = Mapping[str, str]


class Difference(NamedTuple):
    """A difference other than the effect of a single option.

    Arguments:
        applies: returns whether the difference applies to a query with the given options, with names in lower case.
        text: the difference, in sentences.
    """

    applies: Callable[[Options], bool]
    text: str


def _given(*names: str) -> Callable[[Options], bool]:
    return lambda options: any(name in options for name in names)


def _always(options: Options) -> bool:
    return True


def _lenient(options: Options) -> bool:
    return options.get("failondataloss", "true").strip().lower() == "false"


_READING = (
    Difference(
        _given("subscribepattern"),
        "subscribePattern is translated from Java's regular expressions to Python's; syntax that Python does not "
        "support is refused.",
    ),
    Difference(
        _lenient,
        "failOnDataLoss=false: if a topic is deleted while the query runs, it leaves the checkpoint and the other "
        "topics continue; Spark's connector fails. A recreated topic is read from its beginning, and a log truncated "
        "by an unclean leader election from the truncated offset.",
    ),
    Difference(
        lambda options: not _lenient(options),
        "A deleted and recreated topic ends the query, because its offsets belong to another log. So does a log "
        "truncated by an unclean leader election. Spark's connector notices either only while the log is shorter "
        "than what was read.",
    ),
    Difference(
        _given("groupidprefix", "kafka.group.id"),
        "No consumer group is used, so no permissions for groups are needed.",
    ),
    Difference(
        _given("minpartitions"),
        "minPartitions also applies if it is less than the number of partitions: small partitions then share tasks.",
    ),
    Difference(
        _given("kafka.ssl.truststore.location", "kafka.ssl.keystore.location"),
        "Key and trust stores are read by Python (with the extra 'keystores'): they must be where the Python "
        "processes of driver and tasks run.",
    ),
    Difference(_always, "A batch DataFrame is a snapshot: its offsets are determined once per load(), not per action."),
    Difference(
        _always,
        "Partitions with few records share a task, while Spark's connector uses one task per partition; set "
        "minPartitions to keep them apart.",
    ),
    Difference(
        _always,
        "A streaming query resumes from the other connector's checkpoint after that connector's first completed "
        "batch; a query that started here can go back after two.",
    ),
)
_WRITING = (
    "A batch write requires .mode('append'): Spark does not support its default mode, errorifexists, for Python sinks.",
    "A column timestamp is ignored, as in Spark's connector, unless includeTimestamp=true.",
    "Spark does not support outputMode('update') for Python sinks: use kafka.spark.upsert(...) with foreachBatch.",
)


def migrate(options: Mapping[str, str], *, writing: bool | None = None) -> list[str]:
    """Describe the differences when a query's format changes from ``kafka`` to ``kafka_columnar``.

    Arguments:
        options: the query's options for Spark's connector; names are not case-sensitive.
        writing: whether the query is a write; if None, it is a write unless it has subscribe, subscribePattern or
            assign.

    Returns sentences: first about rejected options, then about options without effect, then about other differences.
    The sentences contain no secrets. This function does not connect to anything.
    """
    lowered = {name.lower(): str(value) for name, value in options.items()}
    if writing is None:
        writing = not lowered.keys() & {"subscribe", "subscribepattern", "assign"}
    refused = _refused(lowered, writing)
    idle = _idle(lowered, writing)
    if writing:
        return [*refused, *idle, *_WRITING]
    return [*refused, *idle, *(each.text for each in _READING if each.applies(lowered))]


def _refused(options: Options, writing: bool) -> list[str]:
    """Return the errors of options that end the query, up to the first error that is not about a single option."""
    rest, found = dict(options), []
    while True:
        try:
            _parse(rest, writing)
        except KafkaConfigurationError as error:
            said = str(error.args[0])
            ignored = " Spark's connector ignores it." if "is unknown" in said else ""
            found.append(f"Refused: {said}.{ignored}")
            option = _named(said, rest)
            if option is None:
                return found
            del rest[option]
        else:
            return found


def _named(said: str, options: Options) -> str | None:
    """Return the option that a message names, if any."""
    match = re.search(r"option '([^']+)'", said)
    if match is None:
        return None
    return match[1].lower() if match[1].lower() in options else None


def _parse(options: Options, writing: bool) -> None:
    check_names(options)
    if writing:
        parse_write(options)
        return
    ends = any(name.startswith("ending") for name in options)
    parse_read(options, streaming=not ends)


def _idle(options: Options, writing: bool) -> list[str]:
    client = "producer" if writing else "consumer"
    found = []
    for option in options:
        handling = handling_of(option, client) if option.startswith(KAFKA_PREFIX) else None
        if handling is not None and handling.effect is Effect.IDLE:
            found.append(f"Option {option!r} has no effect: {handling.why}.")
    return found
