"""A provisioning script that may run twice: topics, partitions and configs from a plan, what is there already is left alone.

    python provision_topics.py localhost:9092 shop
"""

import sys
import time

from kafka import KafkaAdminClient
from kafka.admin import ConfigResource, ConfigResourceType, NewPartitions, NewTopic
from kafka.errors import InvalidPartitionsError, KafkaError, TopicAlreadyExistsError, UnknownTopicOrPartitionError

PLAN = {
    "orders": {"partitions": 3, "configs": {"cleanup.policy": "delete", "retention.ms": "604800000"}},
    "users": {"partitions": 1, "configs": {"retention.ms": "3600000", "max.message.bytes": "500000"}},
    "audit": {"partitions": 2, "configs": {}},
}


class Provisioner:
    def __init__(self, servers, prefix):
        self.prefix = prefix
        self.admin = KafkaAdminClient(bootstrap_servers=servers, client_id="provisioner", request_timeout_ms=15000)

    def name(self, short):
        return "%s-%s" % (self.prefix, short)

    def partitions(self, name):
        [found] = self.admin.describe_topics([name])
        return len(found["partitions"])

    def ensure(self, short, wanted):
        name = self.name(short)
        if name not in self.admin.list_topics():
            topic = NewTopic(name, wanted["partitions"], 1, topic_configs=wanted["configs"])
            try:
                response = self.admin.create_topics(new_topics=[topic], timeout_ms=10000, validate_only=False)
                return "created, errors %s" % [error[1] for error in response.topic_errors]
            except TopicAlreadyExistsError:
                return "created by somebody else"
        done = []
        if self.partitions(name) < wanted["partitions"]:
            self.admin.create_partitions({name: NewPartitions(total_count=wanted["partitions"])})
            done.append("partitions")
        current = self.configs(name, wanted["configs"])
        if current != wanted["configs"]:
            self.admin.alter_configs([ConfigResource(ConfigResourceType.TOPIC, name, configs=wanted["configs"])])
            done.append("configs")
        return "changed " + " and ".join(done) if done else "as planned"

    def configs(self, name, keys):
        responses = self.admin.describe_configs([ConfigResource(ConfigResourceType.TOPIC, name)])
        found = {}
        for response in responses:
            for resource in response.resources:
                error, _, kind, resource_name, entries = resource
                assert (error, kind, resource_name) == (0, 2, name), resource
                found.update((entry[0], entry[1]) for entry in entries)
        return {key: found[key] for key in keys}


def wait_for(condition):
    deadline = time.time() + 20
    while not condition():
        assert time.time() < deadline, "waited in vain"
        time.sleep(0.05)


def attempt(what, call, *arguments):
    try:
        call(*arguments)
    except KafkaError as error:
        print("%s:" % what, type(error).__name__, error.errno)
    else:
        print("%s: done" % what)


def main(servers, prefix):
    provisioner = Provisioner(servers, prefix)
    admin = provisioner.admin
    for turn in ("first", "second"):
        for short, wanted in sorted(PLAN.items()):
            print(turn, short, provisioner.ensure(short, wanted))
        wait_for(lambda: {provisioner.name(short) for short in PLAN} <= set(admin.list_topics()))
    grown = dict(PLAN["orders"], partitions=5, configs={"cleanup.policy": "delete", "retention.ms": "1000"})
    print("third orders", provisioner.ensure("orders", grown))
    wait_for(lambda: provisioner.configs(provisioner.name("orders"), grown["configs"]) == grown["configs"])
    print("then:", provisioner.partitions(provisioner.name("orders")))
    print("configs:", provisioner.configs(provisioner.name("orders"), ["cleanup.policy", "retention.ms"]))

    [topic] = admin.describe_topics([provisioner.name("audit")])
    print("audit:", topic["error_code"], topic["topic"] == provisioner.name("audit"), topic["is_internal"])
    for partition in sorted(topic["partitions"], key=lambda each: each["partition"]):
        same = partition["replicas"] == partition["isr"] == [partition["leader"]]
        print("partition:", partition["partition"], partition["error_code"], same, partition["offline_replicas"])
    cluster = admin.describe_cluster()
    print("cluster:", len(cluster["brokers"]), cluster["controller_id"] in [each["node_id"] for each in cluster["brokers"]])
    print("broker:", {"node_id", "host", "port", "rack"} <= set(cluster["brokers"][0]), isinstance(cluster["cluster_id"], str))

    orders = provisioner.name("orders")
    dry = admin.create_topics([NewTopic(provisioner.name("dry"), 1, 1)], validate_only=True)
    print("dry run:", [error[1] for error in dry.topic_errors], provisioner.name("dry") in admin.list_topics())
    attempt("again", admin.create_topics, [NewTopic(orders, 1, 1)])
    attempt("three copies", admin.create_topics, [NewTopic(provisioner.name("copies"), 1, 3)])
    attempt("no partitions", admin.create_topics, [NewTopic(provisioner.name("none"), 0, 1)])
    attempt("a wrong value", admin.create_topics, [NewTopic(provisioner.name("odd"), 1, 1, topic_configs={"retention.ms": "x"})])
    attempt("a wrong name", admin.create_topics, [NewTopic("not a name", 1, 1)])
    attempt("fewer", admin.create_partitions, {orders: NewPartitions(1)})
    attempt("of none", admin.create_partitions, {provisioner.name("none"): NewPartitions(2)})
    print("errors:", InvalidPartitionsError.errno, UnknownTopicOrPartitionError.errno, UnknownTopicOrPartitionError.retriable)
    deleted = admin.delete_topics([provisioner.name(short) for short in PLAN])
    print("deleted:", sorted(error[1] for error in deleted.topic_error_codes))
    attempt("deleted again", admin.delete_topics, [provisioner.name("users")])
    admin.close()


if __name__ == "__main__":
    main(*sys.argv[1:3])
