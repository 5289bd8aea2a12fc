"""A script that brings topics to what a file of settings says, and is run again and again.

It creates what is missing and waits for it, changes what differs, goes on where one topic is refused, and reports.

Differs: alter_configs without operations replaces the whole configuration, as in 2.x

    python reconcile_topics.py localhost:9092 shop
"""

import sys
import time

from kafka import KafkaAdminClient
from kafka.admin import ConfigResource, ConfigResourceType, NewTopic
from kafka.errors import InvalidPartitionsError, for_code

WANTED = {
    "orders": (3, {"retention.ms": "86400000", "compression.type": "lz4"}),
    "audit": (1, {"cleanup.policy": "delete", "max.message.bytes": "2000000"}),
}


def wait_until(condition):
    """Brokers tell of a change a moment after they have acknowledged it."""
    for _ in range(100):
        if condition():
            return True
        time.sleep(0.1)
    return False


def differences(admin, names, wanted):
    """The settings of each topic that are not as they should be."""
    resources = [ConfigResource(ConfigResourceType.TOPIC, name) for name in names]
    present = admin.describe_configs(resources, config_filter="modified")["topic"]
    found = {}
    for name in names:
        have = {key: entry["value"] for key, entry in present[name].items()}
        settings = wanted[name][1]
        found[name] = {key: value for key, value in sorted(settings.items()) if have.get(key) != value}
    return found


def reconcile(admin, wanted):
    there = set(admin.list_topics())
    missing = [NewTopic(name, size, 1) for name, (size, _) in sorted(wanted.items()) if name not in there]
    made = 0
    if missing:
        answer = admin.create_topics(missing, raise_errors=False, wait_for_metadata=True)
        made = sum(each["error_code"] == 0 for each in answer["topics"])
    changed = differences(admin, sorted(wanted), wanted)
    todo = [ConfigResource("TOPIC", name, configs=settings) for name, settings in changed.items() if settings]
    if todo:
        admin.alter_configs(todo)
        wait_until(lambda: not any(differences(admin, [each.name for each in todo], wanted).values()))
    return made, sum(len(settings) for settings in changed.values())


def main(servers, prefix):
    wanted = {"{}-{}".format(prefix, name): settings for name, settings in WANTED.items()}
    with KafkaAdminClient(bootstrap_servers=servers, client_id="reconciler") as admin:
        for attempt in ("first", "second"):
            print("{} run: {} topics made, {} settings changed".format(attempt, *reconcile(admin, wanted)))
        admin.alter_configs([ConfigResource("TOPIC", prefix + "-orders", configs={"retention.ms": "1000"})])
        wait_until(lambda: "retention.ms" in differences(admin, [prefix + "-orders"], wanted)[prefix + "-orders"])
        print("after somebody's change: {} topics made, {} settings changed".format(*reconcile(admin, wanted)))

        bad = [NewTopic(prefix + "-none", 0, 1), NewTopic(prefix + "-orders", 1, 1), NewTopic(prefix + "-new", 1, 1)]
        answer = admin.create_topics(bad, raise_errors=False)
        codes = {each["name"][len(prefix) + 1 :]: for_code(each["error_code"]).__name__ for each in answer["topics"]}
        print("one by one:", sorted(codes.items()))
        try:
            admin.create_topics(bad[:1])
        except InvalidPartitionsError as error:
            print("raised:", type(error).__name__, error.errno)
        print("checked only:", admin.create_topics([NewTopic(prefix + "-dry", 1, 1)], validate_only=True)["topics"][0]["error_code"])
        print("is it there:", prefix + "-dry" in admin.list_topics())

        orders = ConfigResource(ConfigResourceType.TOPIC, prefix + "-orders")
        everything = admin.describe_configs([orders], config_filter="all")["topic"][prefix + "-orders"]
        print("all settings:", len(everything) > 20, everything["retention.ms"]["config_source"])
        broker = admin.describe_cluster()["brokers"][0]
        print("cluster:", sorted(key for key in broker if key in ("broker_id", "host", "port", "rack")))
        sizes = {each["name"]: len(each["partitions"]) for each in admin.describe_topics(sorted(wanted))}
        print("sizes:", [sizes[name] for name in sorted(wanted)])
        admin.delete_topics([*sorted(wanted), prefix + "-new"])
        print("all gone:", wait_until(lambda: not any(name.startswith(prefix) for name in admin.list_topics())))


if __name__ == "__main__":
    main(*sys.argv[1:3])
