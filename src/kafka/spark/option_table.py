"""The one table of options that the Spark source and sink take. Pure. docs/SPARK.md shows it; a test compares.

The names, and what they mean, are those of the Kafka connector that comes with Spark, so that a query moves over by
its format's name alone. Spark hands option names over in lower case.
"""

import dataclasses
import enum
from collections.abc import Callable
from typing import Any

from kafka.spark import values
from kafka.spark.token_provider import named_token_provider


class Use(enum.Flag):
    """What an option is for."""

    STREAM = enum.auto()
    BATCH = enum.auto()
    SINK = enum.auto()
    READ = STREAM | BATCH
    ALL = STREAM | BATCH | SINK


NOWHERE = Use(0)
USE_NAMES = {
    Use.STREAM: "a streaming read",
    Use.BATCH: "a batch read",
    Use.READ: "a read",
    Use.SINK: "a write",
}


@dataclasses.dataclass(frozen=True, slots=True)
class SparkOption:
    """A row of the table.

    Arguments:
        name: as it is written in programs; matched without regard to case.
        default: the default as text, "" where there is none.
        uses: what it is for; elsewhere it is refused.
        parse: takes name and text, gives the value or raises `KafkaConfigurationError`.
        doc: what it does, in a sentence.
        tolerated: where it is accepted, with a warning, though it has no effect.
        refusal: why it is refused in places where it is not for.
    """

    name: str
    default: str
    uses: Use
    parse: Callable[[str, str], Any]
    doc: str
    tolerated: Use = NOWHERE
    refusal: str = ""


_NO_END = "a stream has no end"
_STREAM_ONLY = "it limits the batches of a stream"

OPTIONS: tuple[SparkOption, ...] = (
    SparkOption("kafka.bootstrap.servers", "", Use.ALL, values.text, "Brokers to ask first: host:port,host:port."),
    SparkOption(
        "kafka.bootstrap.timeout.ms",
        "30000",
        Use.ALL,
        values.positive,
        "How long a first broker is looked for before the query fails.",
    ),
    SparkOption(
        "kafka.sasl.oauth.token.provider",
        "",
        Use.ALL,
        named_token_provider,
        "With OAUTHBEARER: module:attribute of a class or object whose token() gives a token, there in every task.",
    ),
    SparkOption("subscribe", "", Use.READ, values.topics, "Topics to read, with commas between."),
    SparkOption(
        "subscribePattern",
        "",
        Use.READ,
        values.matching,
        "Regular expression in Java's syntax, found anywhere in a topic's name. Internal topics are left out.",
    ),
    SparkOption("assign", "", Use.READ, values.assigned, 'Partitions to read: {"topic":[0,1]}.'),
    SparkOption(
        "startingOffsets",
        "latest (stream), earliest (batch)",
        Use.READ,
        values.offsets,
        'Where a new query begins: earliest, latest or {"topic":{"0":42},"another":"earliest"}, with -2 for earliest '
        "and -1 for latest.",
    ),
    SparkOption(
        "startingTimestamp",
        "",
        Use.READ,
        values.time_ms,
        "The same by time, in ms since 1970 UTC or as 2026-11-01T00:00:00 (UTC, or with an offset); takes precedence "
        "over the other two.",
    ),
    SparkOption(
        "startingOffsetsByTimestamp",
        "",
        Use.READ,
        values.times_ms,
        'The same by time for each partition: {"topic":{"0":1735689600000,"1":-2}}; takes precedence over '
        "startingOffsets.",
    ),
    SparkOption(
        "startingOffsetsByTimestampStrategy",
        "error",
        Use.READ,
        values.strategy,
        "Where no record is that late: error, or latest: begin at the end.",
    ),
    SparkOption(
        "endingOffsets",
        "latest",
        Use.BATCH,
        values.offsets,
        'Where a batch ends (exclusive): latest or {"topic":{"0":42}} with -1 for latest.',
        refusal=_NO_END,
    ),
    SparkOption(
        "endingTimestamp",
        "",
        Use.BATCH,
        values.time_ms,
        "The same by time, as startingTimestamp; takes precedence over the other two.",
        refusal=_NO_END,
    ),
    SparkOption(
        "endingOffsetsByTimestamp",
        "",
        Use.BATCH,
        values.times_ms,
        "The same by time for each partition; takes precedence over endingOffsets.",
        refusal=_NO_END,
    ),
    SparkOption(
        "maxOffsetsPerTrigger",
        "",
        Use.STREAM,
        values.positive,
        "Most offsets in one micro-batch, shared out over the partitions by what each has waiting.",
        tolerated=Use.BATCH,
        refusal=_STREAM_ONLY,
    ),
    SparkOption(
        "minOffsetsPerTrigger",
        "",
        Use.STREAM,
        values.positive,
        "Fewest offsets for which a micro-batch starts, unless maxTriggerDelay is over.",
        tolerated=Use.BATCH,
        refusal=_STREAM_ONLY,
    ),
    SparkOption(
        "maxTriggerDelay",
        "15m",
        Use.STREAM,
        values.delay_ms,
        "How long minOffsetsPerTrigger may hold a micro-batch back.",
        tolerated=Use.BATCH,
        refusal=_STREAM_ONLY,
    ),
    SparkOption(
        "minPartitions",
        "",
        Use.READ,
        values.positive,
        "Fewest Spark tasks to make of a read, about: large ranges are split, small ones no longer share a task.",
    ),
    SparkOption(
        "maxRecordsPerPartition", "", Use.READ, values.positive, "Most offsets in one Spark task: more are split."
    ),
    SparkOption(
        "failOnDataLoss",
        "true",
        Use.READ,
        values.boolean,
        "Whether topics and offsets that are no longer there are an error, or else a warning.",
    ),
    SparkOption(
        "includeHeaders",
        "false",
        Use.ALL,
        values.boolean,
        "Whether a read has the column headers; a write takes it as it comes.",
    ),
    SparkOption(
        "columns",
        "all",
        Use.READ,
        values.names,
        "Columns to read, with commas between: the others stay behind. A user schema does the same.",
    ),
    SparkOption(
        "kafkaConsumer.pollTimeoutMs",
        "120000",
        Use.READ,
        values.positive,
        "How long a task waits for data that the plan says is there.",
    ),
    SparkOption("fetchOffset.numRetries", "3", Use.READ, values.whole, "How often looking up offsets is tried again."),
    SparkOption("fetchOffset.retryIntervalMs", "1000", Use.READ, values.whole, "The pause before that."),
    SparkOption(
        "groupIdPrefix",
        "",
        Use.READ,
        values.text,
        "Accepted without effect: reading takes no part in a group, so it needs no group's permissions.",
    ),
    SparkOption(
        "commitGroup",
        "",
        Use.STREAM,
        values.text,
        "A group to which the offsets of finished micro-batches are committed, for tools that watch lag.",
        refusal="a batch read is over when it is done, and has no lag",
    ),
    SparkOption(
        "reportLogBytes",
        "false",
        Use.STREAM,
        values.boolean,
        "Whether progress reports also say how large the logs are, asked for once a minute beside the micro-batches.",
        refusal="a batch read has no progress reports",
    ),
    SparkOption(
        "invalidTimestamp",
        "fail",
        Use.READ,
        values.null_on_request,
        "A record's time that Spark cannot hold, or beyond maxTimestampAhead: fail, or read null with a warning.",
    ),
    SparkOption(
        "maxTimestampAhead",
        "",
        Use.READ,
        values.delay_ms,
        "How far ahead of now the time of a record may be, such as 1h; without it, as far as Spark can hold.",
    ),
    SparkOption(
        "includeTimestamp",
        "false",
        Use.SINK,
        values.boolean,
        "Whether a column `timestamp` of that type becomes the records' time, or else is left out as with Spark's "
        "connector.",
    ),
    SparkOption(
        "valueFormat",
        "bytes",
        Use.ALL,
        values.format_of_field,
        "What values are: avro, json, json-schema, protobuf, string, short, int, long, float or double; `value` is a "
        "column of that type then. See Typed keys and values.",
    ),
    SparkOption(
        "keyFormat", "bytes", Use.ALL, values.format_of_field, "The same of keys, and so are the options below."
    ),
    SparkOption(
        "schemaRegistryUrl",
        "",
        Use.ALL,
        values.text,
        "Schema registries, with commas between; values of avro, json-schema and protobuf then begin with a schema id.",
    ),
    SparkOption("schemaRegistryUser", "", Use.ALL, values.text, "The user there."),
    SparkOption("schemaRegistryPassword", "", Use.ALL, values.text, "The user's password."),
    SparkOption("schemaRegistryToken", "", Use.ALL, values.text, "A bearer token, instead of a user."),
    SparkOption(
        "schemaRegistryWait",
        "10m",
        Use.ALL,
        values.delay_ms,
        "How long a task, or a write that is planned, waits for a registry that does not answer, with warnings. Ids "
        "that are known already need no registry.",
    ),
    *(
        row
        for field in ("value", "key")
        for row in (
            SparkOption(
                f"{field}Schema",
                "",
                Use.ALL,
                values.text,
                "The schema: Avro, JSON Schema, the text of a .proto file, or for json columns as in SQL or the JSON "
                "of a Spark type.",
            ),
            SparkOption(
                f"{field}SchemaFile",
                "",
                Use.ALL,
                values.text,
                "A file with it, where the query is planned; of Protobuf also a set of descriptors.",
            ),
            SparkOption(
                f"{field}Subject",
                "",
                Use.ALL,
                values.text,
                f"The subject with the schema, else that of the topic: TOPIC-{field}.",
            ),
            SparkOption(
                f"{field}Message", "", Use.ALL, values.text, "The message in a schema of Protobuf, else its first one."
            ),
            SparkOption(f"{field}Version", "latest", Use.ALL, values.version, "The version of the subject, a number."),
            SparkOption(
                f"{field}Errors",
                "fail",
                Use.READ,
                values.errors_of_field,
                f"What a {field} is that cannot be read: fail; null, with a warning; or column: null, with cause and "
                f"bytes in a column {field}_error.",
            ),
        )
    ),
    SparkOption(
        "autoRegister",
        "true",
        Use.SINK,
        values.boolean,
        "Whether a write registers its schema, or else only looks it up.",
    ),
    SparkOption("topic", "", Use.SINK, values.text, "The topic to write to; takes precedence over a column `topic`."),
    SparkOption(
        "exactlyOnce",
        "false",
        Use.SINK,
        values.boolean,
        "Whether each row is delivered exactly once, in transactions, or else at least once.",
    ),
    SparkOption(
        "transactionalIdPrefix",
        "",
        Use.SINK,
        values.text,
        "With exactlyOnce: the name of this query's transactions and decisions in Kafka, one for each query.",
    ),
    SparkOption(
        "transactionalBatchId",
        "",
        Use.SINK,
        values.text,
        "With exactlyOnce, of a batch write: one that was committed under this name is not written again. "
        "Without effect in foreachBatch, whose micro-batches have numbers.",
    ),
)

BY_KEY: dict[str, SparkOption] = {row.name.lower(): row for row in OPTIONS}
"""The table by lower-case name, which is how Spark hands names over."""

KAFKA_PREFIX = "kafka."
"""Options with this prefix are the clients' own, in the spelling of Kafka's Java clients."""

_BINARY = "valueFormat and keyFormat say what values and keys are; without these they are read as binary"
_STRINGS = "valueFormat and keyFormat say what values and keys are written as; without these, as they are"
_CHECKPOINT = "the offsets of a query are kept in its checkpoint"
_INTERCEPTORS = "interceptors are Java classes"

REFUSED_READING = {
    "kafka.auto.offset.reset": "say where to begin with startingOffsets",
    "kafka.key.deserializer": _BINARY,
    "kafka.value.deserializer": _BINARY,
    "kafka.enable.auto.commit": _CHECKPOINT,
    "kafka.interceptor.classes": _INTERCEPTORS,
}
"""Client options that a read refuses, and why."""

_NO_GROUP = "reading takes no part in a group"

IDLE_READING = {
    "kafka.auto.commit.interval.ms": _CHECKPOINT,
    **dict.fromkeys(
        (
            "kafka.group.id",
            "kafka.group.instance.id",
            "kafka.group.protocol",
            "kafka.group.remote.assignor",
            "kafka.heartbeat.interval.ms",
            "kafka.max.poll.interval.ms",
            "kafka.partition.assignment.strategy",
            "kafka.session.timeout.ms",
        ),
        _NO_GROUP,
    ),
    "kafka.allow.auto.create.topics": "a read creates no topics",
    "kafka.exclude.internal.topics": "a pattern never finds internal topics",
    "kafka.max.poll.records": "whole batches are read, not polls",
    "kafka.partitioner.class": "it is not for a read",
}
"""Client options that have no meaning for a read, and why."""

REFUSED_WRITING = {
    "kafka.key.serializer": _STRINGS,
    "kafka.value.serializer": _STRINGS,
    "kafka.interceptor.classes": _INTERCEPTORS,
    "kafka.partitioner.class": "partitioners are Java classes; a column `partition` chooses the partition",
    "kafka.transactional.id": "write in transactions with exactlyOnce and transactionalIdPrefix",
}
"""Client options that a write refuses, and why."""

IDLE_WRITING: dict[str, str] = {}
"""Client options that have no meaning for a write, and why."""

_CREDENTIAL = (
    "is for Databricks' own Kafka connector: log in with kafka.sasl.mechanism=AWS_MSK_IAM and the machine's role, or "
    "with OAUTHBEARER and kafka.sasl.oauth.token.provider"
)
OTHERS = {"databricks.servicecredential": _CREDENTIAL, "databricks.servicecredential.scope": _CREDENTIAL}
"""Options of other connectors, and what to write instead."""

SPARKS_OWN = frozenset(
    {
        "checkpointlocation",
        "queryname",
        "outputmode",
        "asyncprogresstrackingenabled",
        "asyncprogresstrackingcheckpointintervalms",
    }
)
"""Options of Spark itself that reach a source or sink beside its own."""
