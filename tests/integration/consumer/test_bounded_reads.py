"""Bounded reads of what is deleted meanwhile, on both brokers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import kafka
from kafka import KafkaAdminClient, KafkaProducer, TopicPartition

if TYPE_CHECKING:
    from conftest import Broker, MakeTopic


def test_records_that_are_deleted_in_the_middle_of_a_read_are_left_out_and_counted(
    broker: Broker, make_topic: MakeTopic
) -> None:
    tp, whole = TopicPartition(make_topic(), 0), TopicPartition(make_topic(), 0)
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
        for number in range(30):  # each in a batch of its own, or one fetch would have them all
            for each in (tp, whole):
                producer.send(each.topic, b"%d" % number, partition=0)
            producer.flush()
    read = kafka.read(
        [tp, whole], on_missing="skip", max_partition_fetch_bytes=1, bootstrap_servers=broker.bootstrap_servers
    )
    came: dict[str, list[int]] = {tp.topic: [], whole.topic: []}
    with KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin:
        for record in read:
            if not any(came.values()):
                admin.delete_records({tp: 25})
            came[record.topic].append(record.offset)
        before = len(came[tp.topic]) - 5
        assert came == {tp.topic: [*range(before), *range(25, 30)], whole.topic: list(range(30))}
        assert 0 <= before < 25
        assert read.missing == {tp: 25 - before}
        again = kafka.read([tp, whole], on_missing="skip", bootstrap_servers=broker.bootstrap_servers)
        admin.delete_topics([tp.topic])
        assert [record.offset for record in again] == list(range(30))
        assert again.missing == {tp: 5}
