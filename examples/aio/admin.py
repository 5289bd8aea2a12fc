"""The admin client: topics, their configuration and partitions, records, groups."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewPartitions, NewTopic, RecordsToDelete
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType

SERVERS, GROUP = os.environ["KAFKA_BOOTSTRAP_SERVERS"], os.environ["GROUP"]
NAME = os.environ["TOPIC"] + "-made"


async def until(condition: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(20):
        while not await condition():
            await asyncio.sleep(0.02)


async def main() -> None:
    admin = AIOKafkaAdminClient(bootstrap_servers=SERVERS)
    await admin.start()
    try:
        topic = NewTopic(NAME, num_partitions=2, replication_factor=1, topic_configs={"retention.ms": "3600000"})
        made = await admin.create_topics([topic])
        print("created", [(code, text) for _, code, text in made.topic_errors])
        again = await admin.create_topics([topic])
        print("again", [code for _, code, _ in again.topic_errors])

        async def is_listed() -> bool:
            return NAME in await admin.list_topics()

        await until(is_listed)
        (described,) = await admin.describe_topics([NAME])
        print("described", described["topic"] == NAME, described["error_code"], described["is_internal"])
        print("partitions", sorted(each["partition"] for each in described["partitions"]))
        cluster = await admin.describe_cluster()
        print("cluster", sorted(set(cluster) & {"brokers", "cluster_id", "controller_id"}), len(cluster["brokers"]))
        grown = await admin.create_partitions({NAME: NewPartitions(3)})
        print("grown", [code for _, code, _ in grown.topic_errors])
        resource = ConfigResource(ConfigResourceType.TOPIC, NAME)
        for response in await admin.describe_configs([resource]):
            code, _, _, name, entries = response.resources[0]
            print("configs", code, name == NAME, [entry[1] for entry in entries if entry[0] == "retention.ms"])
        await admin.alter_configs([ConfigResource(ConfigResourceType.TOPIC, NAME, configs={"retention.ms": "7200000"})])

        async with AIOKafkaProducer(bootstrap_servers=SERVERS) as producer:
            for _ in range(4):
                await producer.send_and_wait(NAME, b"x", partition=0)
        tp = TopicPartition(NAME, 0)
        deleted = await admin.delete_records({tp: RecordsToDelete(2)})
        print("low watermark", deleted[tp])

        async with AIOKafkaConsumer(
            NAME, bootstrap_servers=SERVERS, group_id=GROUP, auto_offset_reset="earliest"
        ) as consumer:
            print("first left", (await consumer.getone()).offset)
            await consumer.commit()
            groups = await admin.list_consumer_groups()
            print(
                "group is listed",
                GROUP in {group[0] for group in groups},
                {group[1] for group in groups if group[0] == GROUP},
            )
            (answer,) = await admin.describe_consumer_groups([GROUP])
            print("group", answer.groups[0][1] == GROUP, answer.groups[0][2], len(answer.groups[0][5]))
        offsets = await admin.list_consumer_group_offsets(GROUP)
        print("offsets", sorted((each.partition, found.offset) for each, found in offsets.items()))
        print("coordinator", type(await admin.find_coordinator(GROUP)).__name__)
        gone = await admin.delete_topics([NAME])
        print("deleted", [code for _, code in gone.topic_error_codes])
    finally:
        await admin.close()


asyncio.run(main())
