"""The option originalBytes on Spark: good records are encoded anew, and bad ones are copied as they are."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

import kafka
from kafka import KafkaProducer
from kafka.broker import EmbeddedBroker
from kafka.spark import run_available

from .spark_support import FORMAT, spark

__all__ = ["spark"]

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]

COLUMNS = "id bigint, item string"
ORDER = '{"type":"record","name":"Order","fields":[{"name":"id","type":"long"},{"name":"item","type":"string"}]}'
HEADERS: list[tuple[str, bytes | None]] = [("trace", b"t1"), ("trace", None)]
RECORDS: list[bytes | None] = [
    b'{ "id": 1, "item": "a" }',
    b"not JSON",
    b'{"id": "one"}',
    None,
    b"",
    b'{"id": 2, "item": "b"}',
]
SPLIT = (
    "key",
    "if(value is null, null, named_struct('id', value.id, 'item', upper(value.item))) value",
    "if(value_error is null, null, value_bytes) value_bytes",
    "if(value_error is null, 'TARGET', 'TARGET.dead') topic",
    "headers",
)
"""Good values in upper case, and all others as they are in a topic of their own."""


@pytest.fixture(scope="module")
def broker() -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker() as running:
        yield running


def send(broker: EmbeddedBroker, topic: str, values: Sequence[bytes | None]) -> None:
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
        for number, value in enumerate(values):
            producer.send(topic, value, key=b"k%d" % number, headers=HEADERS)


def records(broker: EmbeddedBroker, topic: str) -> list[tuple[bytes | None, bytes | None]]:
    read = kafka.read(topic, bootstrap_servers=broker.bootstrap_servers, isolation_level="read_committed")
    found = list(read)
    assert all(list(each.headers) == HEADERS for each in found)
    return [(each.key, each.value) for each in found]


def options(broker: EmbeddedBroker, **more: str) -> dict[str, str]:
    given = {"kafka.bootstrap.servers": broker.bootstrap_servers, "valueFormat": "json", "originalBytes": "true"}
    return {**given, **more}


def source(broker: EmbeddedBroker, topic: str, **more: str) -> dict[str, str]:
    reading = {"valueSchema": COLUMNS, "valueErrors": "column", "includeHeaders": "true"}
    return options(broker, subscribe=topic, startingOffsets="earliest", **reading, **more)


def test_a_batch_copies_records_unchanged(spark: Any, broker: EmbeddedBroker) -> None:
    send(broker, "batch", RECORDS)
    frame = spark.read.format(FORMAT).options(**source(broker, "batch", keyFormat="string")).load()
    types = dict(frame.dtypes)
    assert (types["key"], types["key_bytes"], types["value_bytes"]) == ("string", "binary", "binary")
    sink = options(broker, topic="batch-copy", keyFormat="string")
    frame.write.format(FORMAT).options(**sink).mode("append").save()
    assert records(broker, "batch-copy") == records(broker, "batch")
    assert [value for _, value in records(broker, "batch-copy")] == RECORDS
    rows = frame.select("offset", "value_bytes").where("value_error is not null").collect()
    assert {row["offset"]: bytes(row["value_bytes"]) for row in rows} == {
        1: b"not JSON",
        2: b'{"id": "one"}',
        4: b"",
    }


def test_a_stream_writes_new_values_and_old_bytes_in_one_transaction(
    spark: Any, broker: EmbeddedBroker, tmp_path: pathlib.Path
) -> None:
    send(broker, "stream", RECORDS)
    split = [each.replace("TARGET", "shouted") for each in SPLIT]
    for _ in range(2):
        frame = spark.readStream.format(FORMAT).options(**source(broker, "stream")).load().selectExpr(*split)
        sink = options(broker, exactlyOnce="true", transactionalIdPrefix="of-shouted")
        writer = frame.writeStream.format(FORMAT).options(**sink)
        run_available(writer.option("checkpointLocation", str(tmp_path)))
    assert sorted(records(broker, "shouted")) == [
        (b"k0", b'{"id":1,"item":"A"}'),
        (b"k3", None),
        (b"k5", b'{"id":2,"item":"B"}'),
    ]
    assert sorted(records(broker, "shouted.dead")) == [(b"k1", b"not JSON"), (b"k2", b'{"id": "one"}'), (b"k4", b"")]


def test_an_avro_write_in_which_most_rows_are_bytes(spark: Any, broker: EmbeddedBroker) -> None:
    send(broker, "to-avro", [*[b"bad"] * 50, b'{"id": 1, "item": "a"}', None])
    frame = spark.read.format(FORMAT).options(**source(broker, "to-avro")).load()
    split = [each.replace("TARGET", "avro") for each in SPLIT]
    sink = {
        **options(broker, valueFormat="avro", valueSchema=ORDER, exactlyOnce="true"),
        "transactionalIdPrefix": "avro",
    }
    frame.selectExpr(*split).write.format(FORMAT).options(**sink).mode("append").save()
    assert sorted(records(broker, "avro")) == [(b"k50", b"\2\2A"), (b"k51", None)]
    assert [value for _, value in records(broker, "avro.dead")] == [b"bad"] * 50


def test_a_write_without_the_bytes_is_rejected_by_name(spark: Any, broker: EmbeddedBroker) -> None:
    rows = spark.range(1).selectExpr("struct(*) as value")
    with pytest.raises(Exception, match="'originalBytes' and 'valueFormat' require a column 'value_bytes'"):
        rows.write.format(FORMAT).options(**options(broker, topic="none")).mode("append").save()
