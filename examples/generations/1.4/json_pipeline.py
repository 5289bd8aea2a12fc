"""JSON in, JSON out: a pipeline that reads all topics of a pattern, and writes what it makes of them to another.

Bad input does not stop it: the deserializer gives None. It reads with the iterator until nothing has come for a while.

    python json_pipeline.py localhost:9092 shop
"""

import json
import sys

from kafka import KafkaConsumer, KafkaProducer


def from_json(data):
    try:
        return json.loads(data.decode("utf-8"))
    except ValueError:
        return None


def main(servers, prefix):
    producer = KafkaProducer(
        bootstrap_servers=servers.split(","),
        key_serializer=lambda key: key.encode("utf-8"),
        value_serializer=lambda value: json.dumps(value, sort_keys=True).encode("utf-8"),
        compression_type="gzip",
        acks="all",
    )
    for shop, prices in (("berlin", (3, 5)), ("paris", (7,))):
        for price in prices:
            producer.send("{}-sales-{}".format(prefix, shop), key=shop, value={"price": price, "currency": "EUR"})
    producer.send(prefix + "-other", key="x", value={"price": 1000})
    producer.flush()
    raw = KafkaProducer(bootstrap_servers=servers)
    raw.send(prefix + "-sales-berlin", key=b"berlin", value=b"{not json").get(10)
    raw.close()

    consumer = KafkaConsumer(
        bootstrap_servers=servers,
        group_id=prefix + "-totals",
        key_deserializer=lambda key: key.decode("utf-8"),
        value_deserializer=from_json,
        auto_offset_reset="earliest",
        consumer_timeout_ms=3000,
    )
    consumer.subscribe(pattern="^{}-sales-.*".format(prefix))
    totals, bad = {}, 0
    for message in consumer:
        if message.value is None:
            bad += 1
        else:
            totals[message.key] = totals.get(message.key, 0) + message.value["price"]
            producer.send(prefix + "-totals", key=message.key, value={"total": totals[message.key]})
    print("totals:", sorted(totals.items()), "bad:", bad)
    print("subscription:", sorted(topic[len(prefix) :] for topic in consumer.subscription()))
    print("assignment:", sorted((tp.topic[len(prefix) :], tp.partition) for tp in consumer.assignment()))
    print("known:", sorted(topic[len(prefix) :] for topic in consumer.topics() if topic.startswith(prefix)))
    consumer.close()
    producer.flush()
    producer.close()

    reader = KafkaConsumer(
        prefix + "-totals", bootstrap_servers=servers, auto_offset_reset="earliest", consumer_timeout_ms=2000
    )
    latest = {}
    for message in reader:
        latest[message.key] = message.value
    print("latest:", sorted(latest.items()))
    reader.close()


if __name__ == "__main__":
    main(*sys.argv[1:3])
