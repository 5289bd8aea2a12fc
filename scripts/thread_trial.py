"""Shares clients between threads, and checks that no record is lost, repeated or out of order.

`python scripts/thread_trial.py --gil 0` is part of `make release-check` on a free-threaded Python. Threads share one
producer, and consumers of a group run in other threads, with an embedded broker in the same process. To try more:
``--threads 16 --records 100000``. Add what else threads may share to `Trial`.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer
from kafka._variant import variant
from kafka.admin import NewTopic
from kafka.broker import EmbeddedBroker
from kafka.producer import RecordMetadata
from kafka.structs import TopicPartition

TOPIC = "shared"
PATIENCE_S = 300.0
"""Maximum duration of a wait in seconds; then the trial has failed."""


class TrialError(AssertionError):
    """A record was lost, repeated or out of order, or a thread did not end."""


@dataclasses.dataclass
class Trial:
    """Threads that share clients of a broker.

    Arguments:
        servers: the address of the broker.
        threads: the number of threads that send with one producer.
        records: the number of records that each thread sends.
        consumers: the number of consumers in a group, each in a thread of its own.
        partitions: the number of partitions of the topic.
    """

    servers: str
    threads: int = 8
    records: int = 20_000
    consumers: int = 3
    partitions: int = 4

    def __post_init__(self) -> None:
        self.called_back: Counter[int] = Counter()
        self._called_back_lock = threading.Lock()
        self._all_read = threading.Event()
        self._read_lock = threading.Lock()
        self.read: dict[tuple[int, int], tuple[int, int]] = {}
        self.sent: list[list[RecordMetadata]] = []

    @property
    def total(self) -> int:
        """The number of records of all threads."""
        return self.threads * self.records

    def run(self) -> None:
        """Send and read in threads; raises `TrialError` if a record is lost, repeated or out of order."""
        with KafkaAdminClient(bootstrap_servers=self.servers) as admin:
            admin.create_topics([NewTopic(TOPIC, self.partitions, 1)])
        with ThreadPoolExecutor(self.threads + self.consumers + 1) as pool:
            reading = [pool.submit(self.consume) for _ in range(self.consumers)]
            try:
                with KafkaProducer(bootstrap_servers=self.servers, linger_ms=1, compression_type="lz4") as producer:
                    begin = threading.Barrier(self.threads + 1)
                    sending = [pool.submit(self.send, producer, begin, number) for number in range(self.threads)]
                    looking = pool.submit(self.look, producer, begin, lambda: all(each.done() for each in sending))
                    self.sent = [each.result(PATIENCE_S) for each in sending]
                    looking.result(PATIENCE_S)
                if not self._all_read.wait(PATIENCE_S):
                    raise TrialError(f"{len(self.read)} of {self.total} records were read in {PATIENCE_S:g} s")
            finally:
                self._all_read.set()
            for each in reading:
                each.result(PATIENCE_S)
        self.judge(self.sent)

    def send(self, producer: KafkaProducer, begin: threading.Barrier, number: int) -> list[RecordMetadata]:
        """Send the records of a thread, and return where they are."""
        begin.wait(PATIENCE_S)
        futures = []
        for index in range(self.records):
            future = producer.send(TOPIC, b"%d %d" % (number, index), partition=(number + index) % self.partitions)
            if index % 10 == 0:
                future.add_callback(self.count, number)
            futures.append(future)
            if index % 5_000 == 4_999:
                producer.flush(PATIENCE_S)
        return [future.get(PATIENCE_S) for future in futures]

    def count(self, number: int, _: RecordMetadata) -> None:
        """Count a call of a callback; producers call back in one thread, but tests may use several."""
        with self._called_back_lock:
            self.called_back[number] += 1

    def look(self, producer: KafkaProducer, begin: threading.Barrier, is_done: Callable[[], bool]) -> None:
        """Read the metrics and the partitions of the producer while other threads use it."""
        begin.wait(PATIENCE_S)
        while not is_done():
            if producer.partitions_for(TOPIC) != set(range(self.partitions)):
                raise TrialError("the producer does not know the partitions")
            if not producer.metrics():
                raise TrialError("the producer has no metrics")
            time.sleep(0.01)

    def consume(self) -> None:
        """Read as a member of the group until all records have been read."""
        with KafkaConsumer(
            TOPIC, bootstrap_servers=self.servers, group_id="g", auto_offset_reset="earliest", max_poll_records=1000
        ) as consumer:
            while not self._all_read.is_set():
                for partition, records in consumer.poll(100).items():
                    self.keep(partition, [(record.offset, record.value) for record in records])

    def keep(self, partition: TopicPartition, records: list[tuple[int, bytes | None]]) -> None:
        """Note which records were read; a rebalance may deliver some of them to two members."""
        with self._read_lock:
            for offset, value in records:
                number, index = map(int, (value or b"").split())
                place = (partition.partition, offset)
                if self.read.setdefault(place, (number, index)) != (number, index):
                    raise TrialError(f"offset {offset} of partition {partition.partition} has two records")
            if len(self.read) >= self.total:
                self._all_read.set()

    def judge(self, sent: list[list[RecordMetadata]]) -> None:
        """Compare what was sent with what was read, and look at the order of each thread's records."""
        expected: dict[tuple[int, int], tuple[int, int]] = {}
        for number, places in enumerate(sent):
            for partition in range(self.partitions):
                offsets = [place.offset for place in places if place.partition == partition]
                if offsets != sorted(set(offsets)):
                    raise TrialError(f"the records of thread {number} are out of order in partition {partition}")
            expected |= {(place.partition, place.offset): (number, index) for index, place in enumerate(places)}
        if len(expected) != self.total:
            raise TrialError(f"{self.total} records have {len(expected)} places")
        if wrong := [place for place, record in expected.items() if self.read.get(place) != record]:
            raise TrialError(f"{len(wrong)} records are not where their futures say, the first at {wrong[0]}")
        calls = -(-self.records // 10)
        if self.called_back != dict.fromkeys(range(self.threads), calls):
            raise TrialError(f"callbacks were called {dict(self.called_back)} times, not {calls} times for each thread")


@contextmanager
def broker() -> Iterator[str]:
    """Start an embedded broker, and give its address."""
    with tempfile.TemporaryDirectory() as folder, EmbeddedBroker(Path(folder)) as started:
        yield started.bootstrap_servers


def gil_is_enabled() -> bool:
    """Return whether only one thread at a time runs Python code; always true before Python 3.13."""
    return bool(getattr(sys, "_is_gil_enabled", lambda: True)())


def main() -> int:
    """See the module; gives 1 if the GIL is not as expected."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--threads", type=int, default=8, help="threads that share a producer [%(default)s]")
    parser.add_argument("--records", type=int, default=20_000, help="records of each thread [%(default)s]")
    parser.add_argument("--gil", type=int, choices=(0, 1), help="whether the GIL has to be enabled at the end")
    arguments = parser.parse_args()
    before = time.monotonic()
    with broker() as servers:
        trial = Trial(servers, arguments.threads, arguments.records)
        trial.run()
    duration = time.monotonic() - before
    if arguments.gil is not None and gil_is_enabled() != bool(arguments.gil):
        print(f"the GIL is {'enabled' if gil_is_enabled() else 'disabled'}", file=sys.stderr)
        return 1
    print(
        f"{trial.total} records of {trial.threads} threads in {duration:.1f} s, each read where it was written, in "
        f"order; {variant()}, the GIL is {'enabled' if gil_is_enabled() else 'disabled'}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
