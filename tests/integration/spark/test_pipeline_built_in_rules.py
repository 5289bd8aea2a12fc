"""The built-in rules of pipelines on records of the embedded broker: what fails them, and what the causes say."""

from __future__ import annotations

import dataclasses
import datetime
import json
from collections.abc import Iterator
from typing import Any

import pytest
from pyspark.sql import functions as f

from kafka.broker import EmbeddedBroker
from kafka.pipelines.declaration import Otherwise, Source, TimeBounds
from kafka.pipelines.pipeline import kafka_source, rule
from kafka.pipelines.rules import Evaluation, built_in, cause

from .spark_support import FORMAT, Rec, options, produce, spark

__all__ = ["spark"]

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]

SCHEMA = (
    "id int, name string, big bigint, price double, ok boolean, at timestamp, day date, "
    "tags array<string>, who struct<age:int>"
)


@pytest.fixture(scope="module")
def broker() -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker() as running:
        yield running


@dataclasses.dataclass(frozen=True)
class Outcome:
    """Names of the rules that a record fails, and the cause."""

    names: list[str]
    cause: str


def outcomes(spark: Any, broker: EmbeddedBroker, source: Source, **more: str) -> list[Outcome]:
    """Evaluate the rules of a source for all records of its topic, in the order of offsets."""
    given = {"valueFormat": source.value.format, "valueSchema": source.value.text, "valueErrors": "column"}
    if source.key.format != "bytes":
        given |= {"keyFormat": source.key.format, "keyErrors": "column"}
    reader = spark.read.format(FORMAT).options(**options(broker, subscribe=source.topic, **given, **more))
    frame = reader.load()
    errors = [name for name in frame.columns if name.endswith("_error")]
    value = "value.*" if frame.schema["value"].dataType.typeName() == "struct" else "value"
    frame = frame.select(value, f.struct("topic", "partition", "offset", "timestamp", "key").alias("kafka"), *errors)
    rules = (*built_in(source), *source.rules)
    evaluation = Evaluation(rules, f.col("kafka.offset"))
    failures = f.col("failures")
    found = (
        frame.withColumn("failures", evaluation.failures())
        .select(
            "kafka.offset",
            evaluation.failed_names(failures).alias("names"),
            cause(rules, failures, source).alias("cause"),
        )
        .orderBy("offset")
        .collect()
    )
    return [Outcome(list(row["names"]), row["cause"]) for row in found]


DECODES, REQUIRED, TIMES = "decodes", "required fields are present", "times are within bounds"

GOOD = [
    b'{"id": 1, "name": "a", "big": 2, "price": 1.5, "ok": true}',
    b'{"id": 1, "at": "2024-01-01T00:00:00Z", "day": "2024-01-01", "tags": ["x", null], "who": {"age": 3}}',
    b'{"id": 1.0, "big": 1e2, "price": 1, "who": {}}',  # whole numbers in other notations
    b'{"id": 1, "unknown": {"a": [1]}, "name": null}',
    b'\xef\xbb\xbf {"id": 1}\n',  # a byte order mark and white space
]
"""Documents that pass all rules."""

ABSENT = [b"{}", b'{"id": null}', b'{"ID": 1}', None]
"""Documents that decode, but have no id. Keys are compared with their case."""

BROKEN = {
    b'{"id": "x"}': 'id: expected a whole number of 32 bits, got the string "x", at byte 7',
    b'{"id": "1"}': 'id: expected a whole number of 32 bits, got the string "1", at byte 7',
    b'{"id": 1.5}': "id: expected a whole number of 32 bits, got 1.5, at byte 7",
    b'{"id": {"a": 1}}': "id: expected a whole number of 32 bits, got an object, at byte 7",
    b'{"name": {"a": 1}}': "name: expected a string, got an object, at byte 9",
    b'{"name": ["a"]}': "name: expected a string, got an array, at byte 9",
    b'{"name": 5}': "name: expected a string, got 5, at byte 9",
    b'{"ok": 1}': "ok: expected true or false, got 1, at byte 7",
    b'{"id": 3000000000}': "id: expected a whole number of 32 bits, got 3000000000, at byte 7",
    b'{"big": 9223372036854775808}': "big: expected a whole number of 64 bits, got 9223372036854775808, at byte 8",
    b'{"price": 1e400}': "price: expected a number within the range of a double, got 1e400, at byte 10",
    b'{"price": NaN}': "price: expected a number, got NaN, at byte 10",
    b'{"price": "1.5"}': 'price: expected a number, got the string "1.5", at byte 10',
    b'{"at": "soon"}': 'at: expected a timestamp such as 2026-01-31T23:59:59.999Z, got the string "soon", at byte 7',
    b'{"at": 1700000000}': "at: expected a timestamp such as 2026-01-31T23:59:59.999Z, got 1700000000, at byte 7",
    b'{"day": "2024-02-30"}': 'day: expected a date such as 2026-01-31, got the string "2024-02-30", at byte 8',
    b'{"tags": [1]}': "tags[0]: expected a string, got 1, at byte 10",
    b'{"who": {"age": "x"}}': 'who.age: expected a whole number of 32 bits, got the string "x", at byte 16',
    b"null": "expected an object, got null, at byte 0",
    b"[]": "expected an object, got an array, at byte 0",
    b"": "expected an object, got the end of the value, at byte 0",
    b"text": "expected an object, got text, at byte 0",
    b'{"id": 1} {"id": 2}': "expected the end of the value, got an object, at byte 10",
    b'{"id": 1': "expected a comma or '}', got the end of the value, at byte 8",
    b'{"id": 1, "id": 2}': "id: expected each key once, got this one again, at byte 15",
    b'{"name": "\xff"}': "name: expected a string in UTF-8, at byte 10",
}


def test_json_is_decoded_strictly(spark: Any, broker: EmbeddedBroker) -> None:
    documents = [*GOOD, *ABSENT, *BROKEN]
    produce(broker.bootstrap_servers, "documents", [Rec(each, b"k") for each in documents])
    source = kafka_source("documents", value_format="json", value_schema=SCHEMA, required=["id"])
    expected = [
        *[Outcome([], "") for _ in GOOD],
        *[Outcome([REQUIRED], f"{REQUIRED}: id is null") for _ in ABSENT],
        *[Outcome([DECODES], f"{DECODES}: {cause}") for cause in BROKEN.values()],
    ]
    found = outcomes(spark, broker, source)
    for document, each, right in zip(documents, found, expected, strict=True):
        assert (document, each) == (document, right)


def test_a_record_can_fail_several_rules(spark: Any, broker: EmbeddedBroker) -> None:
    values = [b'{"id": 1, "big": 0}', b'{"big": 5}', b'{"id": 7, "big": 5}', b"broken"]
    produce(broker.bootstrap_servers, "several", [Rec(each, b"k") for each in values])
    source = kafka_source("several", value_format="json", value_schema=SCHEMA, required=["id", "name"])
    source = source.model_copy(
        update={"rules": (rule("big", "100 / big > 1"), rule("small", f.col("id") < 5, otherwise="drop"))}
    )
    small = source.rules[1].expression  # Spark's text of a Column
    assert "id" in small
    assert outcomes(spark, broker, source) == [
        Outcome([REQUIRED, "big"], f"{REQUIRED}: name is null; big: 100 / big > 1 is not true"),
        Outcome([REQUIRED, "small"], f"{REQUIRED}: id, name is null; small: {small} is not true"),
        Outcome([REQUIRED, "small"], f"{REQUIRED}: name is null; small: {small} is not true"),
        Outcome([DECODES], f"{DECODES}: expected an object, got broken, at byte 0"),
    ]


def test_keys_must_decode_if_they_have_a_format(spark: Any, broker: EmbeddedBroker) -> None:
    records = [Rec(b"1", b"\0\0\0\x05"), Rec(b"2", b"five"), Rec(b"3", b"fivefive"), Rec(b"four", b"fives")]
    produce(broker.bootstrap_servers, "keys", records)
    source = kafka_source("keys", key_format="int", value_format="json", value_schema="int")
    found = outcomes(spark, broker, source)
    assert [each.names for each in found] == [[], [], [DECODES], [DECODES]], found
    assert [each.cause.count("; ") for each in found] == [0, 0, 0, 1], found


def test_bytes_decode_always(spark: Any, broker: EmbeddedBroker) -> None:
    assert built_in(kafka_source("t")) == ()
    (decodes,) = built_in(kafka_source("t", value_format="string", key_format="int"), Otherwise.FAIL)
    assert (decodes.holds, decodes.otherwise) == ("value_error is null and key_error is null", Otherwise.FAIL)


def test_times_are_within_bounds(spark: Any, broker: EmbeddedBroker) -> None:
    now = datetime.datetime.now(datetime.UTC)

    def at(**difference: float) -> str:
        return (now + datetime.timedelta(**difference)).isoformat()

    times = [at(), at(days=-9), at(days=-11), at(hours=5), at(hours=7), "9999-12-31T23:59:59Z", None]
    produce(broker.bootstrap_servers, "times", [Rec(json.dumps({"at": each}).encode(), b"k") for each in times])
    source = kafka_source(
        "times",
        value_format="json",
        value_schema="at timestamp",
        times=[{"column": "at", "past": "10 days", "future": "6 hours"}],
    )
    found = outcomes(spark, broker, source)
    assert [bool(each.names) for each in found] == [False, False, True, False, True, True, True]
    assert found[2].cause.endswith(", more than 10 days ago")
    assert found[4].cause.endswith(", more than 6 hours ahead")
    assert found[5].cause.startswith(f"{TIMES}: at is 9999-12-31 ") or found[5].cause.startswith(
        f"{TIMES}: at is +10000"
    )
    assert found[6].cause == f"{TIMES}: at is null"


def test_times_can_be_text_dates_and_timestamps_of_records(spark: Any, broker: EmbeddedBroker) -> None:
    old = Rec(b'{"a": "2024-01-01", "order": "2024-01-01"}', b"k", timestamp_ms=1_000)
    new = dataclasses.replace(old, timestamp_ms=1_700_000_000_000)
    bad = dataclasses.replace(new, value=b'{"a": "soon", "order": "2024-01-01"}')
    produce(broker.bootstrap_servers, "texts", [old, new, bad])
    source = kafka_source(
        "texts",
        value_format="json",
        value_schema="a string, order date",
        times=["a", "order", {"column": "kafka.timestamp", "past": "10000 days"}],
    )
    first, second, third = outcomes(spark, broker, source)
    assert first.cause.startswith(f"{TIMES}: kafka.timestamp is 1970-01-01 ")
    assert first.cause.endswith(", more than 10000 days ago")
    assert second == Outcome([], "")
    assert third == Outcome([TIMES], f"{TIMES}: a is soon, not a time")


def test_rows_without_the_time_of_a_step_fail_instead_of_vanishing(spark: Any, broker: EmbeddedBroker) -> None:
    records = [
        Rec(b'{"id": 1, "at": "2024-01-01T00:00:00Z"}'),
        Rec(b'{"id": 2}'),
        Rec(b'{"at": "2024-01-01T00:00:00Z"}'),
    ]
    produce(broker.bootstrap_servers, "untimed", records)
    source = kafka_source(
        "untimed",
        value_format="json",
        value_schema=SCHEMA,
        watermark={"time": "at", "delay": "1 minute"},
        dedupe={"by": "id", "within": "1 minute"},
    )
    assert outcomes(spark, broker, source) == [
        Outcome([], ""),
        Outcome(["required fields are present"], "required fields are present: at is null"),
        Outcome([], ""),
    ]
    timed = source.model_copy(update={"times": (TimeBounds(column="at"),)})
    assert outcomes(spark, broker, timed)[1].names == ["times are within bounds"]


def test_a_time_in_the_year_294247_does_not_overflow(spark: Any) -> None:
    source = kafka_source("t", times=["at"])
    frame = spark.sql("select 1L as offset, timestamp_micros(9223372036854775807L) as at")
    evaluation = Evaluation(built_in(source), f.col("offset"))
    (row,) = frame.select(cause(evaluation.rules, evaluation.failures(), source).alias("cause")).collect()
    assert row["cause"].startswith(f"{TIMES}: at is +294247-01-1")


@pytest.mark.parametrize("codegen", ["true", "false"])
def test_a_row_with_the_outcome_fail_stops_the_query_with_its_position(spark: Any, codegen: str) -> None:
    rules = [rule("positive", "100 / n > 0", otherwise="fail"), rule("small", "n < 10")]
    evaluation = Evaluation(rules, f.col("offset"))
    reasons = cause(rules, f.col("failures"), kafka_source("t"))
    stopping = evaluation.stopping(f.col("failures"), f.concat(f.lit("t/0/"), f.col("offset")), reasons)

    def with_failures(frame: Any) -> Any:
        return frame.withColumn("failures", evaluation.failures()).withColumn("failures", stopping)

    good = spark.range(1, 20).selectExpr("id as offset", "id as n")
    bad = spark.range(1, 20).selectExpr("id as offset", "if(id = 17, 0, id) as n")
    spark.conf.set("spark.sql.codegen.wholeStage", codegen)
    try:
        assert with_failures(good).where("failures = 0").count() == 9
        assert with_failures(good).where("failures <> 0").count() == 10
        assert len(with_failures(bad.where("offset <> 17")).collect()) == 18
        for condition in ("failures = 0", "failures <> 0"):
            with pytest.raises(Exception, match="USER_RAISED_EXCEPTION") as raised:
                with_failures(bad).where(condition).count()
            assert (
                "The record at TOPIC/PARTITION/OFFSET t/0/17 fails rules, at least one with the outcome 'fail': "
                "positive. Cause: positive: 100 / n > 0 is not true"
            ) in str(raised.value)
    finally:
        spark.conf.unset("spark.sql.codegen.wholeStage")


def test_without_the_outcome_fail_nothing_is_added(spark: Any) -> None:
    evaluation = Evaluation([rule("small", "n < 10")], f.col("offset"))
    failures = f.col("failures")
    assert evaluation.stopping(failures, f.lit("p"), f.lit("c")) is failures
