"""``kafka ui`` about groups of each kind, on the embedded broker and on Apache Kafka."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

import pytest

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, KafkaShareConsumer
from kafka.admin import ConfigResource, ConfigResourceType
from unit.ui.ui_support import HOSTILE, pages_of, rows_of, settings

if TYPE_CHECKING:
    from conftest import Broker, MakeTopic

pytestmark = [
    pytest.mark.integration,
    pytest.mark.once,
    pytest.mark.needs(broker=(4, 2), why="share groups (KIP-932)"),
]


async def test_a_share_group_with_its_lag_and_members(broker: Broker, make_topic: MakeTopic) -> None:
    servers, topic, group = broker.bootstrap_servers, make_topic(), f"{HOSTILE}{uuid.uuid4()}"
    with KafkaAdminClient(bootstrap_servers=servers) as admin:
        row = {"share.auto.offset.reset": "earliest"}
        admin.alter_configs([ConfigResource(ConfigResourceType.GROUP, group, row)])
    with KafkaProducer(bootstrap_servers=servers) as producer:
        for number in range(5):
            producer.send(topic, b"%d" % number)
    with KafkaShareConsumer(topic, bootstrap_servers=servers, group_id=group) as consumer:
        found = 0
        while found < 5:
            found += len(list(consumer.poll(500)))
        consumer.commit()
        with KafkaProducer(bootstrap_servers=servers) as producer:
            producer.send(topic, b"more")
        async with pages_of(settings(servers, allow_writes=True)) as pages:
            (listed,) = [row for row in rows_of(await pages.get("/groups"), "Groups") if row[0] == group]
            page = await pages.get("/group", id=group)
    assert listed[1:5] == ["Stable", "share", "1", topic]
    ((*place, _committed, _end, _lag, _behind, _member, _client, host),) = rows_of(page, "Partitions")
    assert (place, host) == ([topic, "0"], "127.0.0.1")
    assert "Reset offsets" not in page
    assert "<img" not in page


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
async def test_a_group_of_consumers_with_its_lag(broker: Broker, make_topic: MakeTopic, protocol: str) -> None:
    servers, topic, group = broker.bootstrap_servers, make_topic(), f"{HOSTILE}{uuid.uuid4()}"
    with KafkaProducer(bootstrap_servers=servers) as producer:
        for number in range(5):
            producer.send(topic, b"%d" % number)
    options: Any = {
        "group_id": group,
        "group_protocol": protocol,
        "auto_offset_reset": "earliest",
        "max_poll_records": 3,
    }
    with KafkaConsumer(topic, bootstrap_servers=servers, **options) as consumer:
        while not consumer.poll(500):
            pass
        consumer.commit()
        async with pages_of(settings(servers)) as pages:
            page = await pages.get("/group", id=group)
    ((*numbers, _behind, member, client, host),) = rows_of(page, "Partitions")
    assert numbers == [topic, "0", "3", "5", "2"]
    assert client in member or protocol == "consumer"
    assert host == "127.0.0.1"
    assert "<img" not in page
