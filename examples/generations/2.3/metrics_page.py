"""A page of figures for a monitoring system, from metrics() of a producer and of a consumer.

    python metrics_page.py localhost:9092 shop

Differs: metrics() of a client without metrics is an empty dict, not None, so that names can be looked up in it
"""

import numbers
import sys

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer
from kafka.admin import NewTopic

PRODUCER = {
    "producer-metrics": [
        "batch-size-avg",
        "compression-rate-avg",
        "connection-count",
        "incoming-byte-rate",
        "io-wait-time-ns-avg",
        "outgoing-byte-rate",
        "record-error-rate",
        "record-queue-time-max",
        "record-retry-rate",
        "record-send-rate",
        "record-size-avg",
        "record-size-max",
        "records-per-request-avg",
        "request-latency-avg",
        "request-rate",
        "requests-in-flight",
    ],
}
CONSUMER = {
    "consumer-fetch-manager-metrics": [
        "bytes-consumed-rate",
        "fetch-latency-avg",
        "fetch-rate",
        "fetch-size-avg",
        "fetch-size-max",
        "records-consumed-rate",
        "records-lag-max",
        "records-per-request-avg",
    ],
    "consumer-coordinator-metrics": [
        "assigned-partitions",
        "commit-latency-max",
        "commit-rate",
        "heartbeat-rate",
        "join-rate",
        "join-time-avg",
        "sync-rate",
    ],
    "consumer-metrics": ["connection-count", "incoming-byte-rate", "request-rate", "response-rate"],
}


def page(metrics, wanted):
    for group, names in sorted(wanted.items()):
        missing = [name for name in names if name not in metrics.get(group, {})]
        odd = [name for name in names if name not in missing and not isinstance(metrics[group][name], numbers.Number)]
        print("%s: %d figures, missing %s, no numbers %s" % (group, len(names), missing, odd))


def main(servers, prefix):
    topic = prefix + "-figures"
    admin = KafkaAdminClient(bootstrap_servers=servers)
    admin.create_topics([NewTopic(topic, 1, 1)])
    admin.close()
    producer = KafkaProducer(bootstrap_servers=servers, client_id="figures")
    for number in range(200):
        producer.send(topic, b"%05d" % number, key=b"k")
    producer.flush()
    figures = producer.metrics()
    page(figures, PRODUCER)
    own = figures["producer-metrics"]
    print("sent:", own["record-send-rate"] > 0, own["record-error-rate"], own["record-size-max"] >= 6, own["connection-count"] > 0)
    topics = figures["producer-topic-metrics.%s" % topic]
    print("of the topic:", sorted(name for name in topics if name in ("byte-rate", "record-send-rate", "record-error-rate")))
    raw = producer.metrics(raw=True)
    rates = [metric for name, metric in raw.items() if name.name == "record-send-rate" and name.group == "producer-metrics"]
    print("raw:", len(rates) == 1, rates[0].value() > 0, rates[0].metric_name.tags)
    producer.close()

    consumer = KafkaConsumer(
        topic, bootstrap_servers=servers, group_id=prefix + "-page", auto_offset_reset="earliest", max_poll_records=100
    )
    seen = 0
    while seen < 200:
        seen += sum(map(len, consumer.poll(timeout_ms=500).values()))
    consumer.commit()
    print("nothing more:", len(consumer.poll(timeout_ms=100)))
    figures = consumer.metrics()
    page(figures, CONSUMER)
    fetched, group = figures["consumer-fetch-manager-metrics"], figures["consumer-coordinator-metrics"]
    print("read:", fetched["records-consumed-rate"] > 0, fetched["bytes-consumed-rate"] > 0, fetched["fetch-size-avg"] > 0)
    print("lag:", fetched["records-lag-max"] >= 0, "partitions:", group["assigned-partitions"])
    print("joined:", group["join-rate"] > 0, group["commit-rate"] > 0, group["commit-latency-max"] >= 0)
    consumer.close()
    silent = KafkaConsumer(bootstrap_servers=servers, metrics_enabled=False)
    print("switched off:", silent.metrics())
    silent.close()


if __name__ == "__main__":
    main(*sys.argv[1:3])
