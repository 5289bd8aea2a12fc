"""A topic that is deleted and made again, as docs/ADMIN.md tells, by `KafkaConsumer` and `AsyncKafkaConsumer` alike."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kafka import KafkaAdminClient, KafkaProducer
from kafka.broker import EmbeddedBroker
from kafka.errors import TopicAlreadyExistsError
from unit.consumer.scene import Scene


@pytest.fixture
def admin(broker: EmbeddedBroker) -> Iterator[KafkaAdminClient]:
    with KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as client:
        yield client


async def test_a_deleted_topic_comes_back_where_a_subscriber_may_create_it(
    scene: Scene, admin: KafkaAdminClient
) -> None:
    consumer = await scene.face.open(scene.topic, enable_auto_commit=False, metadata_max_age_ms=100)
    await consumer.read(20)
    admin.delete_topics([scene.topic])
    await consumer.poll_until(lambda: scene.topic in admin.list_topics())
    with pytest.raises(TopicAlreadyExistsError):
        admin.create_topics({scene.topic: {"num_partitions": 2}})


async def test_it_does_not_where_the_option_forbids_it(scene: Scene, admin: KafkaAdminClient) -> None:
    consumer = await scene.face.open(
        scene.topic, enable_auto_commit=False, metadata_max_age_ms=100, allow_auto_create_topics=False
    )
    await consumer.read(20)
    admin.delete_topics([scene.topic])
    for _ in range(3):
        await consumer.poll(200)
    admin.create_topics({scene.topic: {"num_partitions": 2}})


async def test_a_group_that_was_stopped_reads_the_new_topic_from_its_beginning(
    scene: Scene, admin: KafkaAdminClient, broker: EmbeddedBroker
) -> None:
    consumer = await scene.face.open(scene.topic)
    await consumer.read(20)
    await consumer.close()
    assert offsets_of_the_group(scene, admin) == {10}
    admin.delete_topics([scene.topic])
    admin.create_topics({scene.topic: {"num_partitions": 2}}, wait_for_metadata=True)
    assert offsets_of_the_group(scene, admin) == set()
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
        for number in range(24):
            producer.send(scene.topic, b"new %d" % number, partition=number % 2)
    other = await scene.face.another().open(scene.topic)
    assert {record.value for record in await other.read(24)} == {b"new %d" % number for number in range(24)}


def offsets_of_the_group(scene: Scene, admin: KafkaAdminClient) -> set[int]:
    """The offsets that the scene's group has committed."""
    return {each.offset for each in admin.list_consumer_group_offsets(f"g-{scene.topic}").values()}
