"""The result of `kafka.read` is shown in a notebook as a table of its first rows, with types."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import kafka
from kafka import KafkaProducer
from kafka.broker import EmbeddedBroker
from kafka.consumer.bounds import OffsetRange
from kafka.consumer.records import read_display
from kafka.consumer.records.read_display import first_ranges
from kafka.structs import TopicPartition
from unit.display.shown import SCRIPT, Shown


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A broker with 40 records in a topic of two partitions, and an empty topic."""
    with EmbeddedBroker(tmp_path_factory.mktemp("broker"), num_partitions=2) as broker:
        with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
            for number in range(40):
                value = json.dumps({"id": number, "name": SCRIPT}).encode()
                producer.send("orders", value, key=b"k", partition=number % 2, headers=[("h", SCRIPT.encode())])
            producer.partitions_for("empty")
        yield broker.bootstrap_servers


def test_the_first_rows_are_shown_in_order_with_types(servers: str) -> None:
    read = kafka.read("orders", bootstrap_servers=servers)
    html = read._repr_html_()
    assert "<script" not in html
    shown = Shown(html)
    assert shown.texts[0] == "BoundedRead: at most 40 record(s) of 2 partition(s)"
    assert shown.rows[0][:4] == ["topic: str", "partition: int", "offset: int", "timestamp: time"]
    assert shown.rows[0][4:] == ["key: bytes", "value: bytes", "headers: list"]
    assert [row[1:3] for row in shown.rows[1:]] == [["0", str(at)] for at in range(10)]
    assert shown.rows[1][5].startswith('b\'{"id": 0, "name": "<script>')
    assert shown.texts[-1] == "10 of at most 40 shown"
    assert len(list(read)) == 40  # the table has read nothing of it
    assert read._repr_html_() == html


def test_it_can_be_shown_while_it_is_read(servers: str) -> None:
    records = iter(read := kafka.read("orders", bootstrap_servers=servers))
    next(records)
    assert "10 of at most 40 shown" in read._repr_html_()
    assert len(list(records)) == 39


def test_deserialized_values_have_the_types_of_their_objects(servers: str) -> None:
    with kafka.read("orders", last=2, bootstrap_servers=servers, value_deserializer=json.loads) as read:
        shown = Shown(read._repr_html_())
    assert shown.rows[0][5] == "value: dict"
    assert shown.texts[-1] == "all 4 shown"


def test_typed_columns_have_the_types_of_arrow(servers: str) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from kafka.formats import Json

    schema = pyarrow.schema([("id", pyarrow.int64()), ("name", pyarrow.string())])
    with kafka.read("orders", bootstrap_servers=servers, value=Json(schema)) as read:
        shown = Shown(read._repr_html_())
    assert "value: struct<id: int64, name: string>" in shown.rows[0]
    assert "offset: int64" in shown.rows[0]
    assert not any("timestamp_type" in each for each in shown.rows[0])
    assert len(shown.rows) == 11


def test_an_empty_topic_is_a_line(servers: str) -> None:
    with kafka.read("empty", bootstrap_servers=servers) as read:
        assert Shown(read._repr_html_()).texts == ["BoundedRead: at most 0 record(s) of 2 partition(s)"]


def test_an_error_is_shown_with_the_offsets(servers: str) -> None:
    def unwilling(value: bytes) -> None:
        raise ValueError(SCRIPT)

    with kafka.read("orders", bootstrap_servers=servers, value_deserializer=unwilling) as read:
        shown = Shown(read._repr_html_())
    assert shown.rows[1:] == [["orders", "0", "0", "20"], ["orders", "1", "0", "20"]]
    assert shown.texts[-1].startswith("The rows cannot be shown: RecordDeserializationError")


@pytest.mark.slow
def test_a_broker_that_is_gone_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(read_display.SMALL_FETCHES, "bootstrap_timeout_ms", 50)  # type: ignore[arg-type]
    with EmbeddedBroker(tmp_path / "broker") as broker:
        with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
            producer.send("t", b"v").get(60)
        read = kafka.read("t", bootstrap_servers=broker.bootstrap_servers)
    with read:
        assert "The rows cannot be shown: NoBrokersAvailable" in read._repr_html_()


async def test_an_asyncio_read_shows_its_offsets(servers: str) -> None:
    read = await kafka.read_async("orders", bootstrap_servers=servers)
    shown = Shown(read._repr_html_())
    await read.close()
    assert shown.rows[0] == ["topic", "partition", "from offset", "to offset, exclusive"]
    assert shown.texts[-1].startswith("To see rows: await .to_arrow()")


def test_only_as_many_partitions_are_read_as_are_needed() -> None:
    ranges = {TopicPartition("t", number): OffsetRange(0, 4) for number in range(5)}
    ranges[TopicPartition("t", 0)] = OffsetRange(3, 3)
    assert [tp.partition for tp in first_ranges(ranges, 10)] == [1, 2, 3]
