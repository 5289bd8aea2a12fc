"""SimpleProducer and SimpleConsumer, which kafka-python had up to 1.4, ours or the originals.

This is one text for both: the originals run it with Python 3.6, started by `bench/old_job.py`, so it uses nothing newer
and nothing of the other modules.
"""

import logging
import os
import warnings
from typing import Any

import kafka
from kafka import SimpleClient, SimpleConsumer, SimpleProducer

VERSION = str(getattr(kafka.version, "DISTRIBUTION_VERSION", kafka.__version__))
FOLDER_VARIABLE = "KAFKA_BENCH_RECORDS"
"""As in `bench.workload`."""
CALL_MESSAGES = 200
BUFFER_BYTES = 1 << 20
TIMEOUT_S = 60
LATEST = -1
warnings.simplefilter("ignore", DeprecationWarning)
logging.getLogger("kafka").setLevel(logging.ERROR)


def _values(job: Any) -> Any:
    """The values to write; messages of a SimpleProducer have no keys."""
    with open(os.path.join(os.environ[FOLDER_VARIABLE], f"{job.size}.values"), "rb") as file:
        return [file.read(job.size) for _ in range(job.count)]


def _client(job: Any) -> Any:
    client = SimpleClient(job.bootstrap_servers)
    client.ensure_topic_exists(job.topic)
    return client


def _end(job: Any, watch: Any, client: Any) -> None:
    """Stop the clock, and tell how many messages the broker has."""
    watch.stop()
    numbers = client.get_partition_ids_for_topic(job.topic)
    asked = [kafka.structs.OffsetRequestPayload(job.topic, number, LATEST, 1) for number in numbers]
    watch.acknowledged(sum(answer.offsets[0] for answer in client.send_offset_request(asked)))
    client.close()


def simple_send(job: Any, watch: Any) -> None:
    """One message a call, which waits for the broker."""
    values = _values(job)
    client = _client(job)
    producer = SimpleProducer(client)
    watch.start()
    for value in values:
        producer.send_messages(job.topic, value)
    _end(job, watch, client)


def simple_send_many(job: Any, watch: Any) -> None:
    """Many messages a call."""
    values = _values(job)
    client = _client(job)
    producer = SimpleProducer(client)
    watch.start()
    for at in range(0, len(values), CALL_MESSAGES):
        producer.send_messages(job.topic, *values[at : at + CALL_MESSAGES])
    _end(job, watch, client)


def simple_send_background(job: Any, watch: Any) -> None:
    """One message a call, sent in the background."""
    values = _values(job)
    client = _client(job)
    producer = SimpleProducer(client, async_send=True, batch_send_every_n=CALL_MESSAGES, batch_send_every_t=1)
    watch.start()
    for value in values:
        producer.send_messages(job.topic, value)
    producer.stop(TIMEOUT_S)
    _end(job, watch, client)


def _consumer(job: Any) -> Any:
    return SimpleConsumer(
        _client(job),
        None,
        job.topic,
        auto_commit=False,
        buffer_size=BUFFER_BYTES,
        max_buffer_size=8 * BUFFER_BYTES,
        iter_timeout=TIMEOUT_S,
    )


def simple_iterate(job: Any, watch: Any) -> None:
    """One message after the other."""
    consumer = _consumer(job)
    keys, values, left = [], [], job.count
    for each in consumer:
        keys.append(each.message.key)
        values.append(each.message.value)
        left -= 1
        if len(keys) == CALL_MESSAGES or not left:
            watch.sums.add(keys, values)
            keys, values = [], []
            if watch.done():
                break
    consumer.client.close()


def simple_get_messages(job: Any, watch: Any) -> None:
    """Lists of messages."""
    consumer = _consumer(job)
    while not watch.done():
        wanted = min(CALL_MESSAGES, job.count - watch.sums.count)
        messages = [each.message for each in consumer.get_messages(wanted, block=True, timeout=TIMEOUT_S)]
        watch.sums.add([each.key for each in messages], [each.value for each in messages])
    consumer.client.close()
