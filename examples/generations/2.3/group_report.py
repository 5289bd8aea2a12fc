"""A report of consumer groups: state, members and what each of them reads, committed offsets and lag, from the admin client.

    python group_report.py localhost:9092 shop
"""

import sys
import time

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import NewTopic


def report(admin, consumer, group, topic):
    [description] = admin.describe_consumer_groups([group])
    print("group:", description.error_code, description.group == group, description.state, description.protocol_type)
    assigned = {}
    for member in sorted(description.members, key=lambda each: each.client_id):
        own = []
        if member.member_assignment:
            for name, partitions in member.member_assignment.assignment:
                own += [TopicPartition(name, number) for number in partitions]
            assigned.update(dict.fromkeys(own, member.client_id))
        print(
            "member:",
            member.client_id,
            member.member_id.startswith(member.client_id + "-"),
            member.client_host.startswith("/"),
            sorted(tp.partition for tp in own),
        )
    offsets = admin.list_consumer_group_offsets(group)
    ends = consumer.end_offsets(list(offsets))
    total = 0
    print("%-10s %6s %6s %6s  %s" % ("PARTITION", "OFFSET", "END", "LAG", "CLIENT"))
    for tp, (offset, metadata, *_) in sorted(offsets.items()):
        lag = ends[tp] - offset
        total += lag
        assert tp.topic == topic
        print("%-10d %6d %6d %6d  %s" % (tp.partition, offset, ends[tp], lag, assigned.get(tp, "-")))
    print("lag:", total)


def main(servers, prefix):
    topic, group = prefix + "-clicks", prefix + "-reader"
    admin = KafkaAdminClient(bootstrap_servers=servers)
    admin.create_topics([NewTopic(topic, 4, 1)])
    producer = KafkaProducer(bootstrap_servers=servers, linger_ms=5)

    def send(count):
        for number in range(count):
            producer.send(topic, b"click", partition=number % 4)
        producer.flush()

    send(40)
    readers = [
        KafkaConsumer(
            topic,
            bootstrap_servers=servers,
            group_id=group,
            client_id=name,
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            heartbeat_interval_ms=200,
        )
        for name in ("reader-a", "reader-b")
    ]
    asking = KafkaConsumer(bootstrap_servers=servers)
    deadline = time.time() + 30
    while [len(reader.assignment()) for reader in readers] != [2, 2]:
        assert time.time() < deadline
        for reader in readers:
            reader.poll(timeout_ms=20)
    seen = 0
    for reader in readers:
        reader.seek_to_beginning()
        while [reader.position(tp) for tp in reader.assignment()] != [10, 10]:
            seen += sum(map(len, reader.poll(timeout_ms=100).values()))
        reader.commit()
    print("read:", seen)
    send(10)
    report(admin, asking, group, topic)

    for reader in readers:
        reader.close()
    while admin.describe_consumer_groups([group])[0].state != "Empty":
        assert time.time() < deadline
    report(admin, asking, group, topic)
    print("listed:", (group, "consumer") in admin.list_consumer_groups())
    [nobody] = admin.describe_consumer_groups([prefix + "-nobody"])
    print("nobody:", nobody.state, nobody.members)
    print("nothing:", admin.list_consumer_group_offsets(prefix + "-nobody"))
    for consumer in (asking, producer, admin):
        consumer.close()


if __name__ == "__main__":
    main(*sys.argv[1:3])
