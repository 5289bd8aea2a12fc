"""A service that hangs its own work on the futures of what it sends: callbacks, errbacks, chains, results.

    python future_chains.py localhost:9092 shop
"""

import sys

from kafka import KafkaAdminClient, KafkaProducer
from kafka.admin import NewTopic
from kafka.errors import KafkaError, MessageSizeTooLargeError
from kafka.future import Future


def main(servers, prefix):
    topic = prefix + "-orders"
    admin = KafkaAdminClient(bootstrap_servers=servers)
    admin.create_topics([NewTopic(topic, 1, 1)])
    admin.close()

    seen = []
    future = Future()
    future.add_callback(seen.append).add_errback(lambda error: seen.append(repr(error)))
    future.add_both(lambda value: seen.append(("both", value)))
    print("before:", future.is_done, future.succeeded(), future.failed(), seen)
    future.success(7)
    print("after:", future.is_done, future.succeeded(), future.failed(), future.value, seen)

    first, second = Future(), Future()
    first.chain(second)
    first.failure(KafkaError("no room"))
    print("chained:", second.failed(), type(second.exception).__name__, second.exception.args, first.retriable())
    late = []
    first.add_errback(late.append)
    print("late:", [type(error).__name__ for error in late])
    with_more = Future()
    with_more.add_callback(lambda *args, **more: seen.append((args, sorted(more.items()))), "order", shop=3)
    with_more.success(None)
    print("arguments:", seen[-1])

    producer = KafkaProducer(bootstrap_servers=servers, value_serializer=str.encode, acks="all", linger_ms=5)
    told = []
    sent = [producer.send(topic, "order %d" % number, timestamp_ms=1000 + number) for number in range(5)]
    for number, each in enumerate(sent):
        each.add_callback(lambda metadata, number=number: told.append((number, metadata.offset)))
    producer.flush(timeout=20)
    results = [each.get(timeout=10) for each in sent]
    print("sent:", [(result.partition, result.offset, result.timestamp) for result in results])
    print("sizes:", [(result.serialized_key_size, result.serialized_value_size) for result in results[:1]])
    print("told:", sorted(told))
    metadata = results[0]
    print("where:", metadata.topic == topic, metadata.topic_partition == (topic, 0), metadata.checksum)

    large = producer.send(topic, "x" * 2000000)
    large.add_errback(lambda error: told.append(type(error).__name__))
    try:
        large.get(timeout=10)
    except MessageSizeTooLargeError as error:
        print("too large:", error.errno, error.retriable, large.failed())
    producer.close(timeout=10)
    try:
        producer.send(topic, "after the end")
    except AssertionError:
        print("closed")


if __name__ == "__main__":
    main(*sys.argv[1:3])
