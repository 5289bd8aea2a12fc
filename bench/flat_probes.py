"""The probes of `bench.flat`, each run in a separate process: `python -m bench.flat_probes NAME JSON`."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

IDLE_S = 20.0
SETTLE_S = 5.0
PASSES = 6
BATCH_ROWS = 50_000
FETCH_BYTES = 64 << 20
PATIENCE_S = 60.0


def idle(servers: str, topic: str, partitions: int, group: str | None) -> dict[str, float]:
    """The share of a core that a consumer takes to which nothing comes."""
    from kafka import KafkaConsumer, TopicPartition

    consumer = KafkaConsumer(bootstrap_servers=servers, group_id=group, auto_offset_reset="earliest")
    if group is None:
        consumer.assign([TopicPartition(topic, number) for number in range(partitions)])
    else:
        consumer.subscribe([topic])
    until = time.monotonic() + SETTLE_S
    while len(consumer.assignment()) < partitions or time.monotonic() < until:
        consumer.poll(timeout_ms=100)
        if time.monotonic() > until + PATIENCE_S:
            raise TimeoutError(f"{len(consumer.assignment())} of {partitions} partitions were assigned")
    cpu, start = time.process_time(), time.monotonic()
    while time.monotonic() - start < IDLE_S:
        consumer.poll(timeout_ms=1000)
    share = (time.process_time() - cpu) / (time.monotonic() - start)
    consumer.close()
    return {"share": share}


def read(servers: str, topic: str, partitions: int, records: int) -> dict[str, float]:
    """The quickest of some passes over a topic as Arrow batches, after the first."""
    from kafka import KafkaConsumer, TopicPartition

    consumer = KafkaConsumer(bootstrap_servers=servers, group_id=None, fetch_max_bytes=FETCH_BYTES)
    everything = [TopicPartition(topic, number) for number in range(partitions)]
    consumer.assign(everything)

    def once() -> None:
        consumer.seek_to_beginning(*everything)
        left, deadline = records, time.monotonic() + PATIENCE_S
        while left:
            left -= consumer.poll_arrow(timeout_ms=1000).num_rows
            if time.monotonic() > deadline:
                raise TimeoutError(f"{left} of {records} records did not come")

    figures = _best(once)
    consumer.close()
    return figures


def write(servers: str, topic: str, partitions: int, records: int) -> dict[str, float]:
    """The quickest of some passes that write Arrow batches to a topic, after the first."""
    import pyarrow as pa

    from bench.flat_topics import VALUE_SIZE
    from bench.workload import make_records
    from kafka import KafkaProducer

    keys, values = make_records(records, VALUE_SIZE)
    table: Any = pa.table({"key": pa.array(keys, pa.binary()), "value": pa.array(values, pa.binary())})
    batches = table.to_batches(max_chunksize=BATCH_ROWS)
    producer = KafkaProducer(bootstrap_servers=servers, linger_ms=20, batch_size=256 << 10, buffer_memory=256 << 20)
    if len(producer.partitions_for(topic)) != partitions:
        raise RuntimeError(f"{topic} has {len(producer.partitions_for(topic))} partitions, not {partitions}")

    def once() -> None:
        for sent in [producer.send_arrow(topic, batch) for batch in batches]:
            sent.get(PATIENCE_S)

    figures = _best(once)
    producer.close()
    return figures


def _best(once: Callable[[], None]) -> dict[str, float]:
    """The least seconds, and the least processor seconds, of the passes after the first."""
    seconds, cpu = [], []
    for number in range(PASSES):
        start, used = time.perf_counter(), time.process_time()
        once()
        if number:
            seconds.append(time.perf_counter() - start)
            cpu.append(time.process_time() - used)
    return {"seconds": min(seconds), "cpu": min(cpu)}


def start_up(started: float, servers: str, topic: str, client: str) -> dict[str, float]:
    """Milliseconds until the first record: from the start of the process, and from when the client is imported."""
    run = {"ours": _first_of_ours, "confluent": _first_of_confluent}[client]
    imported = run(servers, topic)
    now = time.time()
    return {"process": (now - started) * 1000, "client": (now - imported) * 1000}


def _first_of_ours(servers: str, topic: str) -> float:
    from kafka import KafkaConsumer, TopicPartition

    imported = time.time()
    consumer = KafkaConsumer(bootstrap_servers=servers, group_id=None, auto_offset_reset="earliest")
    consumer.assign([TopicPartition(topic, 0)])
    while not consumer.poll(timeout_ms=1000, max_records=1):
        pass
    return imported


def _first_of_confluent(servers: str, topic: str) -> float:
    from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition

    imported = time.time()
    consumer = Consumer({"bootstrap.servers": servers, "group.id": "flat", "enable.auto.commit": False})
    consumer.assign([TopicPartition(topic, 0, OFFSET_BEGINNING)])
    while consumer.poll(1.0) is None:
        pass
    return imported


def decode(threads: int) -> dict[str, float]:
    """Records a second of several threads that decode at once, and how many cores they keep busy."""
    from concurrent.futures import ThreadPoolExecutor

    from bench.decode import RECORDS, partition_data
    from kafka.record import Compression, decode_batches

    data = partition_data(RECORDS, 10_000, Compression.NONE)
    rounds = 40

    def work() -> None:
        for _ in range(rounds):
            decode_batches(data)

    decode_batches(data)
    with ThreadPoolExecutor(threads) as pool:
        start, used = time.perf_counter(), time.process_time()
        for each in [pool.submit(work) for _ in range(threads)]:
            each.result()
        seconds, cpu = time.perf_counter() - start, time.process_time() - used
    return {"rate": threads * rounds * RECORDS / seconds, "busy": cpu / seconds}


def beside_busy_ones(servers: str, busy: int, dials: int) -> dict[str, float]:
    """See `bench.neighbours`."""
    from bench.neighbours import neighbours

    return neighbours(servers, busy, dials)


PROBES: dict[str, Callable[..., dict[str, float]]] = {
    "idle": idle,
    "read": read,
    "write": write,
    "start_up": start_up,
    "decode": decode,
    "beside_busy_ones": beside_busy_ones,
}


def main() -> None:
    """Run the probe that the command line names, and print what it tells as JSON."""
    arguments = json.loads(sys.argv[2])
    if sys.argv[1] != "start_up":
        arguments.pop("started")
    print(json.dumps(PROBES[sys.argv[1]](**arguments)))


if __name__ == "__main__":
    main()
