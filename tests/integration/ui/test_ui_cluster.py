"""``kafka ui`` about topics, groups, transactions and configs: its pages say what the cluster's own answers say."""

from __future__ import annotations

import asyncio
import uuid
from typing import TYPE_CHECKING

import pytest

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer
from kafka.admin import OffsetSpec
from kafka.structs import OffsetAndMetadata, TopicPartition
from unit.ui.ui_support import Pages, pages_of, rows_of, settings, text_of

if TYPE_CHECKING:
    from conftest import Broker, MakeTopic

pytestmark = [pytest.mark.integration, pytest.mark.once, pytest.mark.needs(broker=(4, 0), why="KRaft and KIP-848")]


async def test_pages_say_what_the_cluster_says(broker: Broker, make_topic: MakeTopic) -> None:
    servers, marker = broker.bootstrap_servers, uuid.uuid4().hex[:12]
    compacted = make_topic(2, {"cleanup.policy": "compact", "max.message.bytes": "123456"})
    dead, live, transaction = f"dead-{marker}", f"live-{marker}", f"transaction-{marker}"
    options = {"bootstrap_servers": servers, "group_id": live, "group_protocol": "consumer"}
    with (
        KafkaAdminClient(bootstrap_servers=servers) as admin,
        KafkaProducer(bootstrap_servers=servers) as plain,
        KafkaProducer(bootstrap_servers=servers, transactional_id=transaction) as producer,
        KafkaConsumer(compacted, **options) as consumer,
    ):
        for number in range(10):
            plain.send(compacted, b"%d" % number, key=b"k", partition=number % 2)
        plain.flush()
        place = TopicPartition(compacted, 0)
        admin.alter_group_offsets(dead, {place: OffsetAndMetadata(2, "", None)})
        producer.init_transactions()
        producer.begin_transaction()
        producer.send(compacted, b"open", key=b"k", partition=1).get(60)
        while len(consumer.assignment()) < 2:
            consumer.poll(100)
        async with pages_of(settings(servers)) as pages:
            await _check_topic(pages, admin, compacted)
            await _check_groups(pages, admin, compacted, dead, live)
            (row,) = rows_of(await pages.get("/transactions", q=marker), "Transactions")
            listed = admin.describe_transactions([transaction])[transaction]
        producer.abort_transaction()
    assert row[:2] == [transaction, "Ongoing"]
    assert row[4:6] == [compacted, str(listed.producer_id)]


async def _check_topic(pages: Pages, admin: KafkaAdminClient, topic: str) -> None:
    (row,) = rows_of(await pages.get("/", q=topic), "Topics")
    assert row[:4] == [topic, "2", "1", "11"], "ten records, and one in an open transaction"
    page = await pages.get("/topic", name=topic)
    configs = {name: (value, source) for name, value, source in rows_of(page, "Configs")}
    assert configs["cleanup.policy"] == ("compact", "this topic")
    assert configs["max.message.bytes"] == ("123456", "this topic")
    (described,) = admin.describe_topics([topic])
    offsets = admin.list_partition_offsets({TopicPartition(topic, number): OffsetSpec.LATEST for number in range(2)})
    logs = admin.describe_log_dirs({topic: [0, 1]})
    sizes = {
        part["partition_index"]: part["partition_size"]
        for node in logs for folder in node["log_dirs"] for each in folder["topics"] for part in each["partitions"]
    }  # fmt: skip
    for row, part in zip(rows_of(page, "Partitions"), described["partitions"], strict=True):
        end = offsets[TopicPartition(topic, part["partition"])].offset
        assert row[:2] == [str(part["partition"]), str(part["leader"])]
        assert row[2:4] == [", ".join(map(str, part[each])) for each in ("replicas", "isr")]
        assert row[4:7] == ["0", str(end), str(end)]
        assert row[7] == f"{sizes[part['partition']]} B"


async def _check_groups(pages: Pages, admin: KafkaAdminClient, topic: str, dead: str, live: str) -> None:
    marker = dead.removeprefix("dead-")
    rows = {row[0]: row[1:6] for row in rows_of(await pages.get("/groups", q=marker), "Groups")}
    assert rows[dead] == ["Empty, lagging", "classic", "0", topic, "3"]
    assert rows[live][:3] == ["Stable", "consumer", "1"]
    assert "no consumer reads the 3 waiting records" in text_of(await pages.get("/group", id=dead))
    page = await pages.get("/group", id=live)
    (member,) = (await asyncio.to_thread(admin.describe_groups, [live]))[live]["members"]
    assert [row[:2] for row in rows_of(page, "Partitions")] == [[topic, "0"], [topic, "1"]]
    assert {tuple(row[6:]) for row in rows_of(page, "Partitions")} == {
        (member["member_id"], member["client_id"], "127.0.0.1")
    }
