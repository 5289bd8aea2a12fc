"""A producer with callbacks, errbacks and a loop that tries again, in the ways its users had.

    python send_with_callbacks.py localhost:9092 shop
"""

import logging
import sys
import threading

from kafka import KafkaConsumer, KafkaProducer
from kafka.errors import KafkaError, KafkaTimeoutError, MessageSizeTooLargeError, NoBrokersAvailable

logging.getLogger("kafka").setLevel(logging.CRITICAL)


def good(results, number, metadata):
    results.append((number, metadata.partition, metadata.offset))


def main(servers, prefix):
    topic = prefix + "-events"
    producer = KafkaProducer(
        bootstrap_servers=servers, acks=1, retries=5, retry_backoff_ms=50, linger_ms=5, max_request_size=10000
    )

    results = []
    for number in range(5):
        producer.send(topic, b"event %d" % number).add_callback(good, results, number)
    producer.flush(timeout=20)
    print("callbacks:", sorted(results))

    errors = []
    try:
        future = producer.send(topic, b"x" * 20000)
        future.add_errback(errors.append)
        future.get(timeout=5)
    except MessageSizeTooLargeError as error:
        print("too large:", type(error).__name__, error.errno, len(errors) <= 1)

    def send_surely(value, attempts=3):
        for attempt in range(attempts):
            try:
                return producer.send(topic, value).get(timeout=10)
            except KafkaTimeoutError:
                print("time is up at attempt", attempt)
            except KafkaError as error:
                print("no success:", type(error).__name__)
                raise
        return None

    print("surely:", send_surely(b"event 5").offset)

    done = threading.Event()
    chained = producer.send(topic, b"event 6")
    chained.add_both(lambda *_: done.set())
    metadata = chained.get(timeout=10)
    done.wait(10)
    print("both:", done.is_set(), chained.succeeded(), chained.failed(), chained.is_done, metadata.offset)
    print("value:", chained.value == metadata, "exception:", chained.exception)

    for arguments in ({"topic": topic}, {"topic": topic, "value": "text"}):
        try:
            producer.send(**arguments)
        except (AssertionError, TypeError) as error:
            print("refused:", isinstance(error, (AssertionError, TypeError)))
    producer.close(timeout=10)
    try:
        producer.send(topic, b"late")
    except (AssertionError, KafkaError) as error:
        print("closed:", isinstance(error, (AssertionError, KafkaError)))

    try:
        KafkaProducer(bootstrap_servers="localhost:1", api_version_auto_timeout_ms=1000)
    except NoBrokersAvailable as error:
        print("no broker:", type(error).__name__, isinstance(error, KafkaError), error.retriable)

    consumer = KafkaConsumer(
        topic, bootstrap_servers=servers, auto_offset_reset="earliest", consumer_timeout_ms=3000, group_id=None
    )
    values = []
    for record in consumer:
        values.append(record.value.decode())
        if len(values) == 7:
            break
    consumer.close()
    print("read:", values)


if __name__ == "__main__":
    main(*sys.argv[1:3])
