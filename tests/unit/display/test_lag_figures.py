"""Figures of lag: a consumer's according to its fetches, a group's according to the brokers."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from harness.topics import create_topic
from kafka import AsyncKafkaConsumer, KafkaAdminClient, KafkaConsumer, KafkaProducer, OffsetAndMetadata, TopicPartition
from kafka.broker import EmbeddedBroker
from kafka.display.figures import LARGEST_DRAWN, lag_figure
from kafka.errors import IllegalStateError
from kafka.spark.monitoring.query_monitor import Watch

PNG = b"\x89PNG\r\n\x1a\n"
READING: dict[str, Any] = {"auto_offset_reset": "earliest", "max_poll_records": 1}


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with EmbeddedBroker(tmp_path_factory.mktemp("broker"), group_initial_rebalance_delay_ms=0) as broker:
        servers = broker.bootstrap_servers
        create_topic(servers, "t", 2, {"retention.ms": "-1"})
        with KafkaProducer(bootstrap_servers=servers) as producer:
            for _ in range(5):
                producer.send("t", b"x", partition=1)
        yield servers


def shown(figure: Any) -> tuple[str, dict[str, str]]:
    """The title, and the number of each bar by its name, after checking the picture."""
    assert figure._repr_png_().startswith(PNG)
    (axes,) = figure.axes
    names = [label.get_text() for label in axes.get_yticklabels()]
    return axes.get_title(), dict(zip(names, [text.get_text() for text in axes.texts], strict=True))


def test_a_consumer_shows_its_lag(servers: str) -> None:
    consumer = KafkaConsumer(bootstrap_servers=servers, client_id="reader", **READING)
    consumer.assign([TopicPartition("t", 7)])  # does not exist
    assert shown(consumer.plot_lag()) == ("lag of reader: not known", {"t-7": "not known"})
    consumer.assign([TopicPartition("t", 1)])
    while not consumer.poll(60_000):
        pass
    assert shown(consumer.plot_lag()) == ("lag of reader: 4", {"t-1": "4"})
    consumer.close()
    with pytest.raises(IllegalStateError, match="closed"):
        consumer.plot_lag()


def test_the_asyncio_consumer_shows_its_lag(servers: str) -> None:
    async def read() -> Any:
        async with AsyncKafkaConsumer(bootstrap_servers=servers, client_id="reader", **READING) as consumer:
            await consumer.assign([TopicPartition("t", 1)])
            await consumer.getone()
            return consumer.plot_lag()

    assert shown(asyncio.run(read())) == ("lag of reader: 4", {"t-1": "4"})


@pytest.mark.slow
def test_groups_show_their_lag(servers: str) -> None:
    with KafkaAdminClient(bootstrap_servers=servers) as admin:
        committed = {TopicPartition("t", number): OffsetAndMetadata(0, "", None) for number in range(2)}
        for group in "first", "$sum_second$":
            admin.alter_group_offsets(group, committed)
        admin.alter_group_offsets("gone", {TopicPartition("no such", 0): OffsetAndMetadata(0, "", None)})
        assert shown(admin.plot_lag("first")) == ("lag of first: 5", {"t-0": "0", "t-1": "5"})
        title, bars = shown(admin.plot_lag(["first", "$sum_second$"]))
        assert title == "lag of first, $sum_second$: 10"
        assert bars["$sum_second$: t-1"] == "5"
        assert shown(admin.plot_lag("none")) == ("lag of none: 0", {})


@pytest.mark.slow
def test_the_partitions_with_the_largest_lag_are_drawn_and_all_are_counted() -> None:
    lags: dict[str, int | None] = {f"t-{number}": number for number in range(100)}
    title, bars = shown(lag_figure("many", lags))
    assert title == "lag of many: 4,950; the 20 of 100 partitions that lag most"
    assert list(bars) == [f"t-{number}" for number in range(100 - LARGEST_DRAWN, 100)]
    assert shown(lag_figure("new", {"t-0": None})) == ("lag of new: not known", {"t-0": "not known"})


def test_a_missing_matplotlib_is_named(servers: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in "matplotlib", "matplotlib.figure":
        monkeypatch.setitem(sys.modules, name, None)
    with KafkaAdminClient(bootstrap_servers=servers) as admin, KafkaConsumer(bootstrap_servers=servers) as consumer:
        for plot in consumer.plot_lag, lambda: admin.plot_lag("first"), Watch().plot:
            with pytest.raises(ImportError, match=r"plot.*needs matplotlib.*pip install 'kafka-columnar\[plot\]'"):
                plot()
