"""A scheduler that forks a process for each run of a task, as Airflow's LocalExecutor does.

What is to be run comes from a topic. The scheduler has a consumer, and goes on with it after each fork; the runs make
producers of their own, as they must not use what the scheduler has. A run that fails leaves its offset uncommitted, so
that the scheduler's next start has it again: at least once.

    pip install kafka-columnar
    KAFKA_BOOTSTRAP_SERVERS=localhost:9092 python scheduler.py
    echo 'report:{"day": "2026-11-25"}' | kafka produce runs --key-delimiter :
"""

import json
import multiprocessing
import os
import signal
from types import FrameType

from kafka import KafkaConsumer, KafkaProducer
from kafka.errors import WakeupError
from kafka.record import ConsumerRecord

SERVERS = os.environ.get("KAFKA_BOOTSTRAP_SERVERS", "localhost:9092")
RUNS, RESULTS = os.environ.get("KAFKA_RUNS", "runs"), os.environ.get("KAFKA_RESULTS", "results")
AT_ONCE = 4

fork = multiprocessing.get_context("fork")


def report(day: str) -> str:
    return f"the report of {day}"


TASKS = {"report": report}


def run(name: str, arguments: dict[str, str]) -> None:
    """One run, in a process of its own."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    with KafkaProducer(bootstrap_servers=SERVERS, key_serializer=str.encode, value_serializer=str.encode) as producer:
        result = TASKS[name](**arguments)
        producer.send(RESULTS, key=name, value=result).get(timeout=30)


def run_all(records: list[ConsumerRecord[str, dict[str, str]]]) -> None:
    """Run tasks side by side, each in a fork. Raises `RuntimeError` if one fails."""
    processes = [fork.Process(target=run, args=(record.key, record.value)) for record in records]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    failed = sum(process.exitcode != 0 for process in processes)
    if failed:
        raise RuntimeError(f"{failed} of {len(records)} runs failed; they are run again at the next start")


def main() -> None:
    with KafkaConsumer(
        RUNS,
        bootstrap_servers=SERVERS,
        group_id="scheduler",
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        max_poll_records=AT_ONCE,
        key_deserializer=bytes.decode,
        value_deserializer=json.loads,
    ) as consumer:

        def stop(number: int, frame: FrameType | None) -> None:
            consumer.wakeup()

        signal.signal(signal.SIGTERM, stop)
        print("waiting for runs", flush=True)
        try:
            while True:
                records = consumer.poll(timeout_ms=60_000)
                if records:
                    run_all([record for each in records.values() for record in each])
                    consumer.commit()
        except WakeupError:
            print("stopped", flush=True)


if __name__ == "__main__":
    main()
