"""The table of options for the Spark source and sink. Pure.

Names and meanings are those of Spark's own Kafka connector, so that a query can switch by changing its format. Spark
passes option names in lower case.

To add an option: a row here, with a parser from `value_parsers`; the field that the row names, in `parsing` (or in
`field_options` for typed columns); and a sample value in tests/unit/spark/options/test_parsing.py. Then run ``python
scripts/spark_options.py``, which writes the row into docs/SPARK.md.
"""

import dataclasses
import enum
from collections.abc import Callable
from typing import Any

from kafka.spark.options import value_parsers
from kafka.spark.options.value_parsers import named_token_provider


class Use(enum.Flag):
    """The kinds of reads and writes that an option applies to."""

    STREAM = enum.auto()
    """Streaming reads."""
    BATCH = enum.auto()
    """Batch reads."""
    SINK = enum.auto()
    """Writes."""
    READ = STREAM | BATCH
    """All reads."""
    ALL = STREAM | BATCH | SINK
    """All reads and writes."""


NOWHERE = Use(0)
USE_NAMES = {
    Use.STREAM: "a streaming read",
    Use.BATCH: "a batch read",
    Use.READ: "a read",
    Use.SINK: "a write",
}


@dataclasses.dataclass(frozen=True, slots=True)
class SparkOption:
    """An option of the Spark source or sink.

    Arguments:
        name: the name of the option in programs; not case-sensitive.
        default: the default as text; "" if it has none.
        uses: the reads and writes that accept the option; others reject it.
        parse: converts the name and the text to a value, or raises `KafkaConfigurationError`.
        doc: the effect of the option, in a sentence.
        tolerated: the reads and writes that accept the option with a warning, although it has no effect.
        refusal: why other reads and writes reject the option.
        field: the field that the option sets, in `ReadOptions`, `WriteOptions`, `ExactlyOnceOptions`, `TypedOptions` or
            `FieldOptions`; "" if the field depends on other options as well. If several options set one field, the
            first in the table takes precedence.
        batch_default: the default for a batch read, if it differs.
    """

    name: str
    default: str
    uses: Use
    parse: Callable[[str, str], Any]
    doc: str
    tolerated: Use = NOWHERE
    refusal: str = ""
    field: str = ""
    batch_default: str = ""

    def parsed_default(self, use: Use) -> Any:
        """Return the parsed default; None if there is no default.

        Arguments:
            use: the kind of read or write, because a batch read may have another default.
        """
        text = self.batch_default if use is Use.BATCH and self.batch_default else self.default
        return self.parse(self.name, text) if text else None


_NO_END = "a stream has no end"
_STREAM_ONLY = "it limits the batches of a stream"

OPTIONS: tuple[SparkOption, ...] = (
    SparkOption("kafka.bootstrap.servers", "", Use.ALL, value_parsers.text, "Bootstrap brokers: host:port,host:port."),
    SparkOption(
        "kafka.bootstrap.timeout.ms",
        "30000",
        Use.ALL,
        value_parsers.positive,
        "Maximum time to find the first broker before the query fails.",
    ),
    SparkOption(
        "kafka.sasl.oauth.token.provider",
        "",
        Use.ALL,
        named_token_provider,
        "With OAUTHBEARER: module:attribute of a class or object whose token() returns a token; must be importable "
        "in every task.",
    ),
    SparkOption(
        "subscribe", "", Use.READ, value_parsers.topics, "Topics to read, separated by commas.", field="selection"
    ),
    SparkOption(
        "subscribePattern",
        "",
        Use.READ,
        value_parsers.matching,
        "Regular expression in Java's syntax that may match anywhere in a topic's name. Internal topics are excluded.",
        field="selection",
    ),
    SparkOption(
        "assign", "", Use.READ, value_parsers.assigned, 'Partitions to read: {"topic":[0,1]}.', field="selection"
    ),
    SparkOption(
        "startingTimestamp",
        "",
        Use.READ,
        value_parsers.time_ms,
        "Timestamp at which a new query starts, in ms since 1970 UTC or as 2026-11-01T00:00:00 (UTC, or with an "
        "offset); takes precedence over startingOffsetsByTimestamp and startingOffsets.",
        field="start",
    ),
    SparkOption(
        "startingOffsetsByTimestamp",
        "",
        Use.READ,
        value_parsers.times_ms,
        'Timestamp at which a new query starts, for each partition: {"topic":{"0":1735689600000,"1":-2}}; takes '
        "precedence over startingOffsets.",
        field="start",
    ),
    SparkOption(
        "startingOffsets",
        "latest",
        Use.READ,
        value_parsers.offsets,
        'Where a new query starts: earliest, latest or {"topic":{"0":42},"another":"earliest"}, with -2 for earliest '
        "and -1 for latest.",
        field="start",
        batch_default="earliest",
    ),
    SparkOption(
        "startingOffsetsByTimestampStrategy",
        "error",
        Use.READ,
        value_parsers.latest_on_request,
        "If no record has the timestamp or a later one: error, or latest to start at the end.",
        field="latest_if_no_match",
    ),
    SparkOption(
        "endingTimestamp",
        "",
        Use.BATCH,
        value_parsers.time_ms,
        "Timestamp at which a batch ends, as in startingTimestamp; takes precedence over endingOffsetsByTimestamp "
        "and endingOffsets.",
        refusal=_NO_END,
        field="end",
    ),
    SparkOption(
        "endingOffsetsByTimestamp",
        "",
        Use.BATCH,
        value_parsers.times_ms,
        "Timestamp at which a batch ends, for each partition; takes precedence over endingOffsets.",
        refusal=_NO_END,
        field="end",
    ),
    SparkOption(
        "endingOffsets",
        "latest",
        Use.BATCH,
        value_parsers.offsets,
        'Where a batch ends (exclusive): latest or {"topic":{"0":42}} with -1 for latest.',
        refusal=_NO_END,
        field="end",
    ),
    SparkOption(
        "maxOffsetsPerTrigger",
        "",
        Use.STREAM,
        value_parsers.positive,
        "Maximum number of offsets in a micro-batch, divided among the partitions in proportion to their backlog.",
        tolerated=Use.BATCH,
        refusal=_STREAM_ONLY,
        field="max_offsets",
    ),
    SparkOption(
        "minOffsetsPerTrigger",
        "",
        Use.STREAM,
        value_parsers.positive,
        "Minimum number of offsets that starts a micro-batch, unless maxTriggerDelay has passed.",
        tolerated=Use.BATCH,
        refusal=_STREAM_ONLY,
        field="min_offsets",
    ),
    SparkOption(
        "maxTriggerDelay",
        "15m",
        Use.STREAM,
        value_parsers.delay_ms,
        "Maximum time that minOffsetsPerTrigger may delay a micro-batch.",
        tolerated=Use.BATCH,
        refusal=_STREAM_ONLY,
        field="max_delay_ms",
    ),
    SparkOption(
        "minPartitions",
        "",
        Use.READ,
        value_parsers.positive,
        "Approximate minimum number of Spark tasks per read: large ranges are split, small ones no longer share a "
        "task.",
        field="min_partitions",
    ),
    SparkOption(
        "maxRecordsPerPartition",
        "",
        Use.READ,
        value_parsers.positive,
        "Maximum number of offsets per Spark task; larger ranges are split.",
        field="max_records",
    ),
    SparkOption(
        "failOnDataLoss",
        "true",
        Use.READ,
        value_parsers.boolean,
        "Whether missing topics and offsets are an error or only a warning.",
        field="fail_on_data_loss",
    ),
    SparkOption(
        "includeHeaders",
        "false",
        Use.ALL,
        value_parsers.boolean,
        "Whether a read includes the column headers; a write uses the column if it exists.",
    ),
    SparkOption(
        "columns",
        "all",
        Use.READ,
        value_parsers.names,
        "Columns to read, separated by commas. A user schema does the same.",
    ),
    SparkOption(
        "kafkaConsumer.pollTimeoutMs",
        "120000",
        Use.READ,
        value_parsers.positive,
        "Maximum time a task waits for records in its planned range.",
        field="poll_timeout_ms",
    ),
    SparkOption(
        "fetchOffset.numRetries",
        "3",
        Use.READ,
        value_parsers.whole,
        "Number of retries when looking up offsets.",
        field="retries",
    ),
    SparkOption(
        "fetchOffset.retryIntervalMs",
        "1000",
        Use.READ,
        value_parsers.whole,
        "Time between these retries.",
        field="retry_interval_ms",
    ),
    SparkOption(
        "groupIdPrefix",
        "",
        Use.READ,
        value_parsers.text,
        "Accepted without effect: reading does not use a consumer group, so it needs no permissions for one.",
    ),
    SparkOption(
        "commitGroup",
        "",
        Use.STREAM,
        value_parsers.text,
        "Group to which the offsets of finished micro-batches are committed, for tools that monitor lag.",
        refusal="a batch read has no lag once it is done",
        field="commit_group",
    ),
    SparkOption(
        "reportLogBytes",
        "false",
        Use.STREAM,
        value_parsers.boolean,
        "Whether progress reports include the sizes of logs, which are requested once a minute in the background.",
        refusal="a batch read has no progress reports",
        field="report_log_bytes",
    ),
    SparkOption(
        "invalidTimestamp",
        "fail",
        Use.READ,
        value_parsers.null_on_request,
        "What to do with a timestamp that Spark cannot represent or that exceeds maxTimestampAhead: fail, or read "
        "null with a warning.",
        field="invalid_time_as_null",
    ),
    SparkOption(
        "maxTimestampAhead",
        "",
        Use.READ,
        value_parsers.delay_ms,
        "How far a record's timestamp may be in the future, such as 1h; by default, as far as Spark can represent.",
        field="max_time_ahead_ms",
    ),
    SparkOption(
        "includeTimestamp",
        "false",
        Use.SINK,
        value_parsers.boolean,
        "Whether a column `timestamp` of that type sets the records' timestamps. If false, it is ignored, as in "
        "Spark's connector.",
        field="timestamps",
    ),
    SparkOption(
        "valueFormat",
        "bytes",
        Use.ALL,
        value_parsers.format_of_field,
        "Format of values: avro, json, json-schema, protobuf, string, short, int, long, float or double. The column "
        "`value` then has the corresponding type. See Typed keys and values.",
        field="format",
    ),
    SparkOption(
        "keyFormat",
        "bytes",
        Use.ALL,
        value_parsers.format_of_field,
        "Format of keys, as for values; the options below exist for keys too.",
        field="format",
    ),
    SparkOption(
        "schemaRegistryUrl",
        "",
        Use.ALL,
        value_parsers.text,
        "URLs of the schema registry, separated by commas; avro, json-schema and protobuf values then start with a "
        "schema id.",
    ),
    SparkOption("schemaRegistryUser", "", Use.ALL, value_parsers.text, "User name for the registry."),
    SparkOption("schemaRegistryPassword", "", Use.ALL, value_parsers.text, "Password for the registry."),
    SparkOption(
        "schemaRegistryToken", "", Use.ALL, value_parsers.text, "Bearer token for the registry, instead of a user name."
    ),
    SparkOption(
        "schemaRegistryWait",
        "10m",
        Use.ALL,
        value_parsers.delay_ms,
        "Maximum time that a task, or the planning of a write, waits for a registry that does not answer; it logs "
        "warnings. Known schema ids are cached and need no registry.",
        field="registry_wait_ms",
    ),
    *(
        row
        for field in ("value", "key")
        for row in (
            SparkOption(
                f"{field}Schema",
                "",
                Use.ALL,
                value_parsers.text,
                "The schema: Avro, JSON Schema, the text of a .proto file, or, for json, columns in Spark's DDL or "
                "the JSON form of a Spark type.",
                field="schema",
            ),
            SparkOption(
                f"{field}SchemaFile",
                "",
                Use.ALL,
                value_parsers.text,
                "File that contains the schema, read where the query is planned; for Protobuf, a descriptor set "
                "works too.",
                field="schema_file",
            ),
            SparkOption(
                f"{field}Subject",
                "",
                Use.ALL,
                value_parsers.text,
                f"Subject of the schema; by default TOPIC-{field}.",
                field="subject",
            ),
            SparkOption(
                f"{field}Message",
                "",
                Use.ALL,
                value_parsers.text,
                "Protobuf message within the schema; by default the first one.",
                field="message",
            ),
            SparkOption(
                f"{field}Version",
                "latest",
                Use.ALL,
                value_parsers.version,
                "Version number within the subject.",
                field="version",
            ),
            SparkOption(
                f"{field}Errors",
                "fail",
                Use.READ,
                value_parsers.errors_of_field,
                f"What to do with a {field} that cannot be decoded: fail; null, with a warning; or column: null, with "
                f"cause and bytes in a column {field}_error.",
                field="errors",
            ),
        )
    ),
    SparkOption(
        "originalBytes",
        "false",
        Use.ALL,
        value_parsers.boolean,
        "Whether a read has columns `value_bytes` and `key_bytes` with the bytes of typed values and keys, and whether "
        "a write uses them, where they are not null, instead of encoding `value` and `key`.",
        field="original_bytes",
    ),
    SparkOption(
        "autoRegister",
        "true",
        Use.SINK,
        value_parsers.boolean,
        "Whether a write registers its schema; if false, it only looks it up.",
        field="register",
    ),
    SparkOption(
        "topic",
        "",
        Use.SINK,
        value_parsers.text,
        "Topic to write to; takes precedence over a column `topic`.",
        field="topic",
    ),
    SparkOption(
        "exactlyOnce",
        "false",
        Use.SINK,
        value_parsers.boolean,
        "Whether to deliver each row exactly once, in transactions; if false, at least once.",
    ),
    SparkOption(
        "transactionalIdPrefix",
        "",
        Use.SINK,
        value_parsers.text,
        "With exactlyOnce: prefix for this query's transactional ids and decisions in Kafka; must be unique for each "
        "query.",
        field="prefix",
    ),
    SparkOption(
        "transactionalBatchId",
        "",
        Use.SINK,
        value_parsers.text,
        "With exactlyOnce, in a batch write: id of the write; a write already committed under this id is not "
        "repeated. No effect in foreachBatch, where micro-batches are numbered.",
        field="batch_id",
    ),
)

BY_KEY: dict[str, SparkOption] = {row.name.lower(): row for row in OPTIONS}
"""The rows of the table by lower-case name, because Spark passes lower-case names."""

KAFKA_PREFIX = "kafka."
"""Prefix of the clients' options, which have the same names as in Kafka's Java clients."""

_CREDENTIAL = (
    "is for Databricks' own Kafka connector: authenticate with kafka.sasl.mechanism=AWS_MSK_IAM and the machine's "
    "role, or with OAUTHBEARER and kafka.sasl.oauth.token.provider"
)
OTHERS = {"databricks.servicecredential": _CREDENTIAL, "databricks.servicecredential.scope": _CREDENTIAL}
"""Options of other connectors, each with the alternative to use."""

SPARKS_OWN = frozenset(
    {
        "checkpointlocation",
        "queryname",
        "outputmode",
        "asyncprogresstrackingenabled",
        "asyncprogresstrackingcheckpointintervalms",
    }
)
"""Spark's own options, which it also passes to sources and sinks."""
