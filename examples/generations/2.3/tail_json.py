"""A tail program over all topics of a pattern: JSON that may be damaged, a loop that ends after a silence.

    python tail_json.py localhost:9092 shop
"""

import json
import logging
import sys

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer
from kafka.admin import NewTopic
from kafka.errors import IllegalStateError

log = logging.getLogger("tail")


def forgiving_json(raw):
    if raw is None:
        return None
    try:
        return json.loads(raw.decode("utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError):
        log.warning("damaged: %r", raw)
        return {"damaged": len(raw)}


def main(servers, prefix):
    names = ["%s-log.%s" % (prefix, part) for part in ("api", "web", "db")]
    admin = KafkaAdminClient(bootstrap_servers=servers)
    admin.create_topics([NewTopic(name, 1, 1) for name in names + [prefix + "-other"]])
    admin.close()

    producer = KafkaProducer(bootstrap_servers=[servers], acks=1, compression_type="gzip")
    for number, name in enumerate(names):
        producer.send(name, json.dumps({"from": name.split(".")[1], "level": number}).encode(), key=b"a")
        producer.send(name, b"\xff\xfe no text", key=b"b", headers=[("trace", b"\x00\x01")])
        producer.send(name, b"{not json", key=b"c")
        producer.send(name, None, key=b"d")
    producer.send(prefix + "-other", b"{}")
    producer.flush()
    producer.close()

    consumer = KafkaConsumer(
        bootstrap_servers=[servers],
        group_id=prefix + "-tail",
        client_id="tail",
        auto_offset_reset="earliest",
        enable_auto_commit=True,
        auto_commit_interval_ms=100,
        consumer_timeout_ms=3000,
        value_deserializer=forgiving_json,
        key_deserializer=lambda raw: raw.decode(),
    )
    consumer.subscribe(pattern="^%s-log\\..*" % prefix)
    lines = []
    for message in consumer:
        value = message.value
        lines.append("%s:%d:%d: key=%s value=%s headers=%s" % (
            message.topic.rsplit(".", 1)[1],
            message.partition,
            message.offset,
            message.key,
            value,
            message.headers,
        ))
        if len(lines) == 12:
            break
    for line in sorted(lines):
        print(line)
    print("subscription:", sorted(name.rsplit(".", 1)[1] for name in consumer.subscription()))
    print("assigned:", sorted(tp.topic.rsplit(".", 1)[1] for tp in consumer.assignment()))
    print("known:", set(names) <= consumer.topics(), prefix + "-other" in consumer.topics())
    print("silence:", [message.offset for message in consumer])
    consumer.close()

    successor = KafkaConsumer(*names, bootstrap_servers=servers, group_id=prefix + "-tail", auto_offset_reset="earliest")
    while not successor.assignment():
        successor.poll(timeout_ms=50)
    print("where it goes on:", sorted(successor.position(tp) for tp in successor.assignment()))
    print("committed:", sorted(successor.committed(tp) for tp in successor.assignment()))
    successor.unsubscribe()
    print("nothing left:", successor.subscription(), successor.assignment())
    try:
        successor.subscribe(topics=names, pattern=".*")
    except IllegalStateError as error:
        print("refused:", type(error).__name__)
    successor.close()


if __name__ == "__main__":
    logging.basicConfig(level=logging.CRITICAL)
    main(*sys.argv[1:3])
