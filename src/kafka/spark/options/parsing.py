"""Parses the options of a read or a write into frozen objects. Rejects unknown and contradictory options. Pure."""

import dataclasses
import functools
import logging
from collections.abc import Mapping, Sequence
from typing import Any

from kafka.config import parse_producer
from kafka.config.option import nearest
from kafka.errors import KafkaConfigurationError
from kafka.spark.options.client_options import client_configs, idle_warnings
from kafka.spark.options.field_options import REGISTRY_PREFIX, UNTYPED, TypedOptions, parse_typed
from kafka.spark.options.option_table import (
    BY_KEY,
    KAFKA_PREFIX,
    OPTIONS,
    OTHERS,
    SPARKS_OWN,
    USE_NAMES,
    SparkOption,
    Use,
)
from kafka.spark.options.row_schema import COLUMNS, HEADERS, TIMESTAMP, check_columns, check_user_schema
from kafka.spark.options.value_parsers import (
    EARLIEST,
    LATEST,
    AtOffsets,
    AtTime,
    AtTimes,
    Boundary,
    Everywhere,
    Selection,
)

log = logging.getLogger(__name__)

_READER_FETCH = {
    "fetch_max_wait_ms": 5,
    "max_partition_fetch_bytes": 8 * 1024 * 1024,
    "receive_message_max_bytes": 256 * 1024 * 1024,
}
"""Defaults of a task's consumer that differ from those of `KafkaConsumer`.

A task reads few partitions as fast as possible, and its records already exist. A broker that waits for more records
would only keep the connection busy when the next task needs it.
"""

_told: set[str] = set()


def log_warnings(warnings: Sequence[str]) -> None:
    """Log warnings about options, each once per process."""
    for each in warnings:
        if each not in _told:
            _told.add(each)
            log.warning("%s", each)


@dataclasses.dataclass(frozen=True, slots=True)
class ReadOptions:
    """The options of a read. Times are in milliseconds, and None means no limit.

    Arguments:
        streaming: True for a stream, False for a batch.
        columns: the columns that the option `columns` or `includeHeaders` selects, in order.
        configs: keyword arguments of the consumers, sorted for use as a cache key.
        warnings: the warnings to pass to `log_warnings` when the read is planned.
    """

    streaming: bool
    selection: Selection
    start: Boundary
    end: Boundary
    latest_if_no_match: bool
    max_offsets: int | None
    min_offsets: int | None
    max_delay_ms: int
    min_partitions: int | None
    max_records: int | None
    fail_on_data_loss: bool
    columns: tuple[str, ...]
    poll_timeout_ms: int
    retries: int
    retry_interval_ms: int
    commit_group: str | None
    report_log_bytes: bool
    invalid_time_as_null: bool
    max_time_ahead_ms: int | None
    configs: tuple[tuple[str, Any], ...] = dataclasses.field(repr=False)
    warnings: tuple[str, ...] = ()
    typed: TypedOptions = UNTYPED


@dataclasses.dataclass(frozen=True, slots=True)
class ExactlyOnceOptions:
    """The options of a write in transactions.

    Arguments:
        prefix: the option `transactionalIdPrefix`.
        batch_id: the option `transactionalBatchId` of a batch write.
        timeout_ms: the transaction timeout; None for the longest that the brokers allow, but at most 15 minutes.
    """

    prefix: str
    batch_id: str | None
    timeout_ms: int | None


@dataclasses.dataclass(frozen=True, slots=True)
class WriteOptions:
    """The options of a write.

    Arguments:
        topic: the option `topic`; None if a column names the topic.
        configs: keyword arguments of the producers, sorted for use as a cache key.
        warnings: the warnings to pass to `log_warnings` when the write is planned.
        timestamps: the option `includeTimestamp`.
        exactly_once: the options of a write in transactions; None for at-least-once delivery.
    """

    topic: str | None
    configs: tuple[tuple[str, Any], ...] = dataclasses.field(repr=False)
    warnings: tuple[str, ...] = ()
    timestamps: bool = False
    exactly_once: ExactlyOnceOptions | None = None
    typed: TypedOptions = UNTYPED


def check_names(options: Mapping[str, str]) -> None:
    """Raise a `KafkaConfigurationError` for an unknown option. The error suggests the most similar name."""
    for key in options:
        if key in BY_KEY or key.startswith((KAFKA_PREFIX, REGISTRY_PREFIX)) or key in SPARKS_OWN:
            continue
        if key == "path":
            raise KafkaConfigurationError(
                f"kafka_columnar does not accept a path, but got {options[key]!r}; name topics with the option "
                "'subscribe' to read and 'topic' to write"
            )
        if key in OTHERS:
            raise KafkaConfigurationError(f"option {key!r} {OTHERS[key]}")
        if key == "provider":
            raise KafkaConfigurationError(
                "kafka_columnar cannot be a catalog table, because Spark does not pass a table's options to Python "
                "data sources when it reads the table; use CREATE TEMPORARY VIEW instead of CREATE TABLE"
            )
        known = {**{each: row.name for each, row in BY_KEY.items()}, **{each: each for each in _kafka_names()}}
        hint = nearest(key, known)
        for lowered, name in known.items():
            hint = hint.replace(f"{lowered!r}", f"{name!r}")
        raise KafkaConfigurationError(f"option {key!r} is unknown to kafka_columnar{hint}")


@functools.cache
def _kafka_names() -> tuple[str, ...]:
    from kafka.config import option_table

    return tuple(KAFKA_PREFIX + row.java for row in option_table().values() if row.java)


def _parse(options: Mapping[str, str], use: Use, warnings: list[str]) -> dict[str, Any]:
    """Parse the given options; return the values, keyed by the names in the table."""
    check_names(options)
    parsed = {}
    for key, row in BY_KEY.items():
        if key not in options:
            continue
        if use in row.uses:
            parsed[row.name] = row.parse(row.name, options[key])
        elif use in row.tolerated:
            warnings.append(f"option {row.name!r} has no effect on {USE_NAMES[use]}: {row.refusal}")
        else:
            raise _misplaced(row, use)
    if "kafka.bootstrap.servers" not in parsed:
        raise KafkaConfigurationError(
            "option 'kafka.bootstrap.servers' is missing: set it to one or more brokers as host:port"
        )
    return parsed


def _fields(of: type, parsed: Mapping[str, Any], use: Use, warnings: list[str]) -> dict[str, Any]:
    """Return the fields of a dataclass that are set by options; each is the given value, the default, or None."""
    rows = [row for row in OPTIONS if row.field in {each.name for each in dataclasses.fields(of)}]
    setters: dict[str, SparkOption] = {}
    for row in rows:
        if row.name not in parsed:
            continue
        if row.field in setters:
            warnings.append(f"option {row.name!r} has no effect because {setters[row.field].name!r} takes precedence")
        else:
            setters[row.field] = row
    found = {field: parsed[row.name] for field, row in setters.items()}
    for row in rows:
        if row.field not in setters and found.get(row.field) is None:
            found[row.field] = row.parsed_default(use)
    return found


def _given_or_default(parsed: Mapping[str, Any], name: str, use: Use = Use.READ) -> Any:
    """Return an option's value, or its default."""
    return parsed[name] if name in parsed else BY_KEY[name.lower()].parsed_default(use)


def _misplaced(row: SparkOption, use: Use) -> KafkaConfigurationError:
    places = " and ".join(USE_NAMES[each] for each in (row.uses if row.uses != Use.READ else [row.uses]))
    why = row.refusal or f"it is for {places}"
    return KafkaConfigurationError(f"option {row.name!r} cannot be used for {USE_NAMES[use]}: {why}")


def parse_read(options: Mapping[str, str], *, streaming: bool) -> ReadOptions:
    """Parse and check all options of a read.

    Arguments:
        options: the options that Spark passes, with lower-case names.
        streaming: True for a stream, False for a batch.

    Raises a `KafkaConfigurationError` that names the option.
    """
    use = Use.STREAM if streaming else Use.BATCH
    warnings: list[str] = []
    parsed = _parse(options, use, warnings)
    typed = _typed(parsed, options, use)
    configs, idle = client_configs(options, "consumer")
    warnings += idle_warnings(idle, "consumer")
    fields = _fields(ReadOptions, parsed, use, warnings)
    _check_boundaries(fields["start"], fields["end"], streaming)
    low, high = fields["min_offsets"], fields["max_offsets"]
    if low is not None and high is not None and low > high:
        raise KafkaConfigurationError(
            f"option 'minOffsetsPerTrigger' ({low}) must not be greater than 'maxOffsetsPerTrigger' ({high})"
        )
    _check_selection(parsed)
    return ReadOptions(
        **fields,
        streaming=streaming,
        columns=_columns(parsed, typed),
        configs=tuple(sorted({**_READER_FETCH, **configs}.items())),
        warnings=tuple(warnings),
        typed=typed,
    )


def _typed(parsed: Mapping[str, Any], options: Mapping[str, str], use: Use) -> TypedOptions:
    """Return the types of keys and values."""
    settings = _fields(TypedOptions, parsed, use, [])
    return parse_typed(parsed, options, OPTIONS, **settings)


def parse_write(options: Mapping[str, str], *, streaming: bool = False) -> WriteOptions:
    """Parse and check all options of a write.

    Arguments:
        options: the options that Spark passes, with lower-case names.
        streaming: True for the sink of a stream, False for a batch write.

    Raises a `KafkaConfigurationError` that names the option.
    """
    warnings: list[str] = []
    parsed = _parse(options, Use.SINK, warnings)
    configs, idle = client_configs(options, "producer")
    warnings += idle_warnings(idle, "producer")
    exactly_once = _exactly_once(parsed, configs, streaming=streaming)
    return WriteOptions(
        **_fields(WriteOptions, parsed, Use.SINK, warnings),
        configs=tuple(sorted(configs.items())),
        warnings=tuple(warnings),
        exactly_once=exactly_once,
        typed=_typed(parsed, options, Use.SINK),
    )


def _exactly_once(parsed: Mapping[str, Any], configs: dict[str, Any], *, streaming: bool) -> ExactlyOnceOptions | None:
    """Return the options of a write in transactions; None for at-least-once delivery.

    Raises `KafkaConfigurationError` for conflicting options.
    """
    fields = _fields(ExactlyOnceOptions, parsed, Use.SINK, [])
    if not _given_or_default(parsed, "exactlyOnce"):
        for row in OPTIONS:
            if row.field in fields and row.name in parsed:
                raise KafkaConfigurationError(f"option {row.name!r} requires 'exactlyOnce' set to true")
        return None
    if fields["prefix"] is None:
        raise KafkaConfigurationError(
            "option 'exactlyOnce' requires 'transactionalIdPrefix', a name used by no other query: its transactions "
            "and the record of what it has committed are stored in Kafka under this name"
        )
    if fields["batch_id"] is not None and streaming:
        raise KafkaConfigurationError(
            "option 'transactionalBatchId' is for batch writes: the micro-batches of a stream are numbered"
        )
    try:
        parse_producer({**configs, "transactional_id": fields["prefix"]})
    except KafkaConfigurationError as error:
        raise KafkaConfigurationError(f"option 'exactlyOnce' conflicts with another one: {error.args[0]}") from None
    return ExactlyOnceOptions(**fields, timeout_ms=configs.pop("transaction_timeout_ms", None))


def _check_selection(parsed: Mapping[str, Any]) -> None:
    names = [row.name for row in OPTIONS if row.field == "selection"]
    given = [name for name in names if name in parsed]
    if len(given) != 1:
        raise KafkaConfigurationError(
            "a read requires exactly one of the options 'subscribe', 'subscribePattern' and 'assign', not "
            + (" and ".join(repr(name) for name in given) or "none")
        )


def _check_boundaries(start: Boundary, end: Boundary, streaming: bool) -> None:
    """Raise `KafkaConfigurationError` if the options alone show that a read is empty."""
    if not streaming and _uses(start, LATEST):
        raise KafkaConfigurationError(
            f"option {start.option!r} cannot be latest (-1) for a batch read: it would be empty"
        )
    if _uses(end, EARLIEST):
        raise KafkaConfigurationError(f"option {end.option!r} cannot be earliest (-2): the read would be empty")
    _check_order(start, end)


def _check_order(start: Boundary, end: Boundary) -> None:
    """Raise `KafkaConfigurationError` if the options alone show that a batch ends before its start."""
    if isinstance(start, AtTime) and isinstance(end, AtTime) and end.timestamp_ms < start.timestamp_ms:
        raise KafkaConfigurationError(
            f"option {end.option!r} ({end.timestamp_ms}) is before {start.option!r} ({start.timestamp_ms})"
        )
    if isinstance(start, AtOffsets) and isinstance(end, AtOffsets):
        begins, ends = start.offsets, end.offsets
    elif isinstance(start, AtTimes) and isinstance(end, AtTimes):
        begins, ends = start.timestamps_ms, end.timestamps_ms
    else:
        return
    for partition, where in begins.items():
        if 0 <= ends.get(partition, LATEST) < where:
            raise KafkaConfigurationError(
                f"option {end.option!r} ends {partition.topic}-{partition.partition} at {ends[partition]}, before "
                f"{start.option!r} starts it at {where}"
            )


def _uses(boundary: Boundary, where: int) -> bool:
    if isinstance(boundary, Everywhere):
        return boundary.where == where
    if isinstance(boundary, AtTime):
        return False
    given = boundary.offsets if isinstance(boundary, AtOffsets) else boundary.timestamps_ms
    return where in given.values() or where in boundary.topics.values()


def _columns(parsed: Mapping[str, Any], typed: TypedOptions) -> tuple[str, ...]:
    headers = parsed.get("includeHeaders")
    if "columns" in parsed:
        columns: tuple[str, ...] = parsed["columns"]
        check_columns("option 'columns'", columns, (*COLUMNS, *typed.error_columns, *typed.bytes_columns))
        if headers is not None and headers != (HEADERS in columns):
            verb = "leaves out" if headers else "names"
            raise KafkaConfigurationError(
                f"option 'includeHeaders' is {str(headers).lower()}, but 'columns' {verb} {HEADERS!r}; "
                "'columns' alone is enough"
            )
        return columns
    usual = (name for name in COLUMNS if name != HEADERS or headers)
    return (*usual, *typed.error_columns, *typed.bytes_columns)


def check_read(options: Mapping[str, str]) -> ReadOptions:
    """Parse the options of a batch or a stream. Raises `KafkaConfigurationError` if they are valid for neither."""
    for name in options:
        if name in BY_KEY and not (BY_KEY[name].uses | BY_KEY[name].tolerated) & Use.READ:
            raise _misplaced(BY_KEY[name], Use.READ)
    streaming = not any(name.startswith("ending") for name in options)
    try:
        return parse_read(options, streaming=streaming)
    except KafkaConfigurationError as error:
        try:
            return parse_read(options, streaming=not streaming)
        except KafkaConfigurationError:
            raise error from None


def read_columns(options: Mapping[str, str]) -> tuple[str, ...]:
    """Return the columns that the options request."""
    parsed = _parsed_alone(options)
    return _columns(parsed, _typed(parsed, options, Use.READ))


def _parsed_alone(options: Mapping[str, str]) -> dict[str, Any]:
    """Parse the given options without checking where they are used."""
    return {row.name: row.parse(row.name, options[key]) for key, row in BY_KEY.items() if key in options}


def requested_columns(
    options: Mapping[str, str], fields: Sequence[tuple[str, str, bool]], types: Mapping[str, str] = COLUMNS
) -> tuple[str, ...]:
    """Return the columns of the schema that Spark passes to a reader: the user's own, or the result of `read_columns`.

    Arguments:
        options: the options of the read.
        fields: for each field, its name, its type in Spark's notation, and whether it is nullable.
        types: the types of all columns.
    """
    names = check_user_schema(fields, types)
    declared = {name for name, _, nullable in fields if not nullable}
    if TIMESTAMP in declared and _given_or_default(_parsed_alone(options), "invalidTimestamp"):
        raise KafkaConfigurationError(
            "option 'invalidTimestamp' reads invalid timestamps as null, but the schema declares 'timestamp' as not "
            "null"
        )
    if "columns" in options and names != read_columns(options):
        raise KafkaConfigurationError(
            f"option 'columns' requests {', '.join(read_columns(options))}, but the schema {', '.join(names)}; use "
            "only one of them"
        )
    return names
