"""A deployment script's topics: create what is missing, add partitions, describe, delete.

    python topic_admin.py localhost:9092 shop
"""

import sys
import time

from kafka import KafkaAdminClient
from kafka.admin import NewPartitions, NewTopic
from kafka.errors import (
    InvalidPartitionsError,
    InvalidReplicationFactorError,
    KafkaError,
    TopicAlreadyExistsError,
    UnknownTopicOrPartitionError,
)


def wait_until(condition):
    end = time.time() + 20
    while not condition():
        assert time.time() < end, "waited in vain"
        time.sleep(0.1)


def main(servers, prefix):
    admin = KafkaAdminClient(bootstrap_servers=servers, client_id="deployment", request_timeout_ms=10000)

    def short(name):
        return name[len(prefix) :]

    wanted = [
        NewTopic(name=prefix + "-orders", num_partitions=3, replication_factor=1),
        NewTopic(prefix + "-audit", 1, 1, topic_configs={"cleanup.policy": "compact"}),
        NewTopic(prefix + "-placed", -1, -1, replica_assignments={0: [broker_id(admin)], 1: [broker_id(admin)]}),
    ]
    there = set(admin.list_topics())
    missing = [topic for topic in wanted if topic.name not in there]
    print("missing:", [short(topic.name) for topic in missing])
    checked = admin.create_topics(missing, validate_only=True)
    print("checked:", sorted((short(name), code, text) for name, code, text in checked.topic_errors))
    made = admin.create_topics(new_topics=missing, timeout_ms=10000)
    print("made:", sorted((short(entry[0]), entry[1]) for entry in made.topic_errors))
    wait_until(lambda: {topic.name for topic in wanted} <= set(admin.list_topics()))

    for topics in (
        [wanted[0]],
        [NewTopic(prefix + "-none", 0, 1)],
        [NewTopic(prefix + "-many", 1, 30)],
    ):
        try:
            admin.create_topics(topics)
        except (TopicAlreadyExistsError, InvalidPartitionsError, InvalidReplicationFactorError) as error:
            print("refused:", type(error).__name__, error.errno)

    grown = admin.create_partitions({prefix + "-orders": NewPartitions(total_count=5)})
    print("grown:", [(short(name), code) for name, code, _ in grown.topic_errors])
    try:
        admin.create_partitions({prefix + "-orders": NewPartitions(2)})
    except KafkaError as error:
        print("not shrunk:", type(error).__name__)

    def described(name):
        return admin.describe_topics([prefix + name])[0]

    wait_until(lambda: len(described("-orders")["partitions"]) == 5)
    for name in ("-orders", "-audit", "-placed"):
        topic = described(name)
        partitions = sorted(topic["partitions"], key=lambda each: each["partition"])
        print(
            short(topic["topic"]),
            topic["error_code"],
            topic["is_internal"],
            [each["partition"] for each in partitions],
            {(len(each["replicas"]), len(each["isr"]), each["error_code"]) for each in partitions},
        )
    print("unknown:", described("-nowhere")["error_code"])
    cluster = admin.describe_cluster()
    print("cluster:", len(cluster["brokers"]), cluster["controller_id"] == broker_id(admin), bool(cluster["cluster_id"]))

    gone = admin.delete_topics([topic.name for topic in wanted], timeout_ms=10000)
    print("gone:", sorted((short(name), code) for name, code in gone.topic_error_codes))
    wait_until(lambda: not [name for name in admin.list_topics() if name.startswith(prefix)])
    try:
        admin.delete_topics([prefix + "-orders"])
    except UnknownTopicOrPartitionError as error:
        print("gone already:", error.message, error.retriable, error.invalid_metadata)
    admin.close()


def broker_id(admin):
    return admin.describe_cluster()["brokers"][0]["node_id"]


if __name__ == "__main__":
    main(*sys.argv[1:3])
