"""A topic's configuration, read and written: what was set, by whom, and what is left when one key changes.

    python config_admin.py localhost:9092 shop
"""

import sys
import time

from kafka import KafkaAdminClient
from kafka.admin import ConfigResource, ConfigResourceType, NewTopic
from kafka.errors import UnknownTopicOrPartitionError

KEYS = ("cleanup.policy", "max.message.bytes", "retention.ms", "segment.bytes")


def configuration(admin, topic):
    """Return the keys as they are, and those among them that are the topic's own."""
    [answer] = admin.describe_configs([ConfigResource(ConfigResourceType.TOPIC, topic)])
    [(error_code, _, resource_type, resource_name, entries)] = answer.resources
    assert (error_code, resource_type, resource_name) == (0, 2, topic)
    values, own = {}, []
    for entry in entries:
        name, value, _read_only, source = entry[:4]
        if name in KEYS:
            values[name] = value
            if source == 1:
                own.append(name)
    return [values[name] for name in KEYS if name in own], sorted(own)


def wait_for(admin, topic, own):
    end = time.time() + 20
    while not is_set(admin, topic, own):
        assert time.time() < end, configuration(admin, topic)
        time.sleep(0.1)


def is_set(admin, topic, own):
    """Return whether these keys are the topic's own; False as long as the broker does not know the new topic."""
    try:
        return configuration(admin, topic)[1] == own
    except (AssertionError, UnknownTopicOrPartitionError):
        return False


def main(servers, prefix):
    topic = prefix + "-configured"
    admin = KafkaAdminClient(bootstrap_servers=servers.split(","))
    settings = {"retention.ms": "3600000", "cleanup.policy": "delete"}
    admin.create_topics([NewTopic(topic, 1, 1, topic_configs=settings)])
    wait_for(admin, topic, ["cleanup.policy", "retention.ms"])
    print("created:", *configuration(admin, topic))

    changed = admin.alter_configs([ConfigResource("topic", topic, {"max.message.bytes": "2000000"})])
    for error_code, error_message, resource_type, name in changed.resources:
        print("changed:", error_code, error_message or None, resource_type, name == topic)
    wait_for(admin, topic, ["max.message.bytes"])
    print("replaced:", *configuration(admin, topic))

    both = {"retention.ms": "7200000", "segment.bytes": "1048576"}
    admin.alter_configs([ConfigResource(ConfigResourceType.TOPIC, topic, configs=both)])
    wait_for(admin, topic, ["retention.ms", "segment.bytes"])
    print("both:", *configuration(admin, topic))

    one = ConfigResource(ConfigResourceType.TOPIC, topic, configs={"retention.ms": None})
    [answer] = admin.describe_configs([one])
    print("asked for:", [entry[0] for entry in answer.resources[0][4]])

    [(_, brokers)] = [("brokers", admin.describe_cluster()["brokers"])]
    [answer] = admin.describe_configs([ConfigResource(ConfigResourceType.BROKER, brokers[0]["node_id"])])
    names = {entry[0] for entry in answer.resources[0][4]}
    print("broker:", answer.resources[0][0], bool(names))
    admin.delete_topics([topic])
    admin.close()


if __name__ == "__main__":
    main(*sys.argv[1:3])
