"""What a program of the trials sees: a session, a format, a broker, and data with the same names on both sides."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from harness.topics import create_topic, delete_topics, new_topic_name
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer
from kafka.spark import run_available
from kafka.structs import TopicPartition

OURS, THEIRS = "kafka_columnar", "kafka"
FIRST_MS = 1_700_000_000_000
"""The time of the first record of a topic; each later one is a second later."""
PATIENCE_S = 120.0
Row = tuple[Any, ...]


@dataclasses.dataclass(frozen=True)
class Program:
    """A program of the list.

    Arguments:
        name: what it tells of.
        run: gives what the program gave, in a form that is equal where both connectors do the same.
        differs: why ours does something else on purpose; "": it does not.
        fails: whether Spark's connector fails, so that nobody takes an error of the program itself for its result.
        quick: whether it is part of every test run.
        alone: whether it needs a broker that it may kill, with users and an authorizer.
    """

    name: str
    run: Callable[[Trial], Any]
    differs: str = ""
    fails: bool = False
    quick: bool = False
    alone: bool = False


class Failed(tuple[str]):
    """What a program gave that failed: equal to each other, as connectors say it in their own words."""

    said: str = ""


def failed(error: BaseException) -> Failed:
    """The outcome of a program that an error ended."""
    outcome = Failed(("it failed",))
    outcome.said = str(error)
    return outcome


class Trial:
    """One run of a program on one of the connectors.

    Arguments:
        spark: the session, which has both.
        format_name: `OURS` or `THEIRS`.
        broker: with `bootstrap_servers`.
        shared: topics that no program changes, by their names in the trials.
        folder: for checkpoints.
    """

    def __init__(self, spark: Any, format_name: str, broker: Any, shared: Mapping[str, str], folder: Path) -> None:
        self.spark = spark
        self.format = format_name
        self.broker = broker
        self.topics = dict(shared)
        self.folder = folder
        self._always: dict[str, str] = {"kafka.bootstrap.servers": self.servers}
        self._made: list[str] = []

    def log_in(self, listener: str, user: str, password: str) -> None:
        """What Spark does from here on is done by this user; what the trial itself does is not."""
        module = "org.apache.kafka.common.security.plain.PlainLoginModule"
        self._always = {
            "kafka.bootstrap.servers": self.broker.bootstrap(listener),
            "kafka.security.protocol": "SASL_PLAINTEXT",
            "kafka.sasl.mechanism": "PLAIN",
            "kafka.sasl.jaas.config": f'{module} required username="{user}" password="{password}";',
        }

    @property
    def servers(self) -> str:
        """The brokers."""
        return str(self.broker.bootstrap_servers)

    def topic(self, name: str, partitions: int = 1, **config: str) -> str:
        """Make a topic of the program's own; gives its name in the cluster."""
        made = new_topic_name(f"own-{name}")
        create_topic(self.servers, made, partitions, {"retention.ms": "-1", **config})
        self.topics[name] = made
        self._made.append(made)
        return made

    def make_again(self, name: str, partitions: int = 1) -> None:
        """Delete a topic of the program's own and make it again."""
        self.delete(name)
        deadline = time.monotonic() + PATIENCE_S
        while True:
            try:
                create_topic(self.servers, self.topics[name], partitions, {"retention.ms": "-1"})
            except Exception:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.2)
            else:
                return

    def delete(self, name: str) -> None:
        """Delete a topic of the program's own, and wait until it is gone."""
        delete_topics(self.servers, [self.topics[name]])
        with KafkaAdminClient(bootstrap_servers=self.servers) as admin:
            self.wait(lambda: self.topics[name] not in admin.list_topics())

    def clean(self) -> None:
        """Delete what the program made."""
        with contextlib.suppress(Exception):
            delete_topics(self.servers, self._made)

    @staticmethod
    def wait(condition: Callable[[], bool]) -> None:
        """Wait for something outside Spark."""
        deadline = time.monotonic() + PATIENCE_S
        while not condition():
            assert time.monotonic() < deadline, "it did not happen in time"
            time.sleep(0.05)

    def named(self, text: str) -> str:
        """Text with topics by their names in the cluster: `<name>` stands for one."""
        return re.sub(r"<(\w+)>", lambda match: self.topics[match[1]], text)

    def neutral(self, text: str) -> str:
        """Text with topics by their names in the trials."""
        for name, made in sorted(self.topics.items(), key=lambda item: -len(item[1])):
            text = text.replace(made, f"<{name}>")
        return text

    def options(self, given: Mapping[str, Any]) -> dict[str, str]:
        """Options for Spark; a dictionary becomes JSON, `<name>` a topic's name."""
        texts = {name: json.dumps(each) if isinstance(each, dict) else str(each) for name, each in given.items()}
        return self._always | {name: self.named(text) for name, text in texts.items()}

    def produce(self, name: str, values: Iterable[bytes | None], partition: int | None = 0, **given: Any) -> None:
        """Write records with these values, a second apart, each with its value as key."""
        with KafkaProducer(bootstrap_servers=self.servers) as producer:
            for number, value in enumerate(values):
                producer.send(
                    self.topics[name],
                    value=value,
                    key=given.get("key", value),
                    partition=partition,
                    timestamp_ms=FIRST_MS + 1_000 * number,
                    headers=given.get("headers", []),
                )

    def frame(self, **given: Any) -> Any:
        """A batch read."""
        return self.spark.read.format(self.format).options(**self.options(given)).load()

    def stream(self, **given: Any) -> Any:
        """A streaming read."""
        return self.spark.readStream.format(self.format).options(**self.options(given)).load()

    def rows(self, frame: Any) -> list[Row]:
        """The rows of a frame, sorted, with topics by their names here."""
        return sorted((self._row(row) for row in frame.collect()), key=repr)

    def _row(self, row: Any) -> Row:
        return tuple(self.neutral(each) if isinstance(each, str) else _plain(each) for each in row)

    def run(self, writer: Any, *, once: bool = False) -> None:
        """Run a stream to the end of what is there."""
        if self.format == OURS and not once:
            run_available(writer)
            return
        query = writer.trigger(**{"once" if once else "availableNow": True}).start()
        try:
            assert query.awaitTermination(int(PATIENCE_S)), "the query did not end"
        finally:
            query.stop()

    def drain(self, frame: Any, where: str = "q", mode: str = "append", once: bool = False) -> list[Any]:
        """Run a stream to the end of what is there; gives the batches: how far each went, and its rows."""
        batches: list[Any] = []
        found: dict[int, list[Row]] = {}

        def take(each: Any, number: int) -> None:
            found[number] = self.rows(each)

        writer = frame.writeStream.outputMode(mode).option("checkpointLocation", str(self.folder / where))
        self.run(writer.foreachBatch(take), once=once)
        ends = self.ends(where)
        for number in sorted(found):
            if found[number]:
                batches.append((ends[number], found[number]))
        return batches

    def ends(self, where: str = "q") -> dict[int, Any]:
        """The offsets of each batch in a checkpoint, a list of sources each."""
        files = (self.folder / where / "offsets").glob("[0-9]*")
        found = {}
        for each in files:
            sources = [json.loads(line) for line in each.read_text().splitlines()[2:]]
            found[int(each.name)] = [
                {self.neutral(topic): at for topic, at in source.items() if " " not in topic} for source in sources
            ]
        return found

    def written(self, name: str, *, partitions: bool = False, times: bool = False) -> list[Row]:
        """The records of a topic, sorted, as a client outside Spark reads them."""
        with KafkaConsumer(bootstrap_servers=self.servers, auto_offset_reset="earliest") as consumer:
            every = [
                TopicPartition(self.topics[name], each) for each in consumer.partitions_for_topic(self.topics[name])
            ]
            ends = consumer.end_offsets(every)
            consumer.assign(every)
            found: list[Row] = []
            while any(consumer.position(each) < ends[each] for each in every):
                for records in consumer.poll(timeout_ms=500).values():
                    for record in records:
                        row = (record.key, record.value, tuple(record.headers))
                        row += (record.partition,) * partitions + (record.timestamp,) * times
                        found.append(row)
        return sorted(found, key=repr)

    def write(self, frame: Any, mode: str | None = "append", **given: Any) -> None:
        """A batch write."""
        writer = frame.write.format(self.format).options(**self.options(given))
        (writer if mode is None else writer.mode(mode)).save()


def _plain(value: Any) -> Any:
    if isinstance(value, bytearray):
        return bytes(value)
    if isinstance(value, list):
        return [_plain(each) for each in value]
    if isinstance(value, tuple):
        return tuple(_plain(each) for each in value)
    return value


def outcome(program: Program, trial: Trial) -> Any:
    """What a program gave on one connector; an error is an outcome too."""
    try:
        return program.run(trial)
    except AssertionError:
        raise
    except Exception as error:
        return failed(error)
    finally:
        trial.clean()


def fill(servers: str, make: Callable[..., str]) -> Iterator[tuple[str, str]]:
    """Make the topics that all programs share; gives their names in the trials and in the cluster."""
    with KafkaProducer(bootstrap_servers=servers) as producer:
        three, one, empty = make(partitions=3), make(), make(partitions=2)
        for number in range(60):
            producer.send(
                three,
                value=None if number % 20 == 7 else b"%d" % number,
                key=None if number % 5 == 0 else b"k%d" % (number % 7),
                partition=number % 3,
                timestamp_ms=FIRST_MS + number * 1_000,
                headers=[("n", b"%d" % number), ("none", None)] if number % 4 == 0 else [],
            )
        for number in range(10):
            producer.send(one, value=b"%d" % number, partition=0, timestamp_ms=FIRST_MS + number * 1_000)
        skewed = make(partitions=2)
        for number in range(210):
            producer.send(skewed, value=b"%d" % number, partition=int(number % 21 == 0), timestamp_ms=FIRST_MS + number)
        trimmed = make()
        for number in range(20):
            producer.send(trimmed, value=b"%d" % number, partition=0, timestamp_ms=FIRST_MS + number * 1_000)
        compacted = make(config={"cleanup.policy": "compact", "segment.ms": "100", "min.cleanable.dirty.ratio": "0.01"})
        for number in range(50):
            producer.send(compacted, value=b"%d" % number, key=b"k%d" % (number % 3), partition=0)
    with KafkaAdminClient(bootstrap_servers=servers) as admin:
        admin.delete_records({TopicPartition(trimmed, 0): 8})
    yield from {"three": three, "one": one, "empty": empty, "skewed": skewed}.items()
    yield from {"trimmed": trimmed, "compacted": compacted, "txn": _transactions(servers, make)}.items()


def _transactions(servers: str, make: Callable[..., str]) -> str:
    topic = make(partitions=2)
    with KafkaProducer(bootstrap_servers=servers, transactional_id=topic) as producer:
        producer.init_transactions()
        for number in range(12):
            producer.begin_transaction()
            for partition in range(2):
                producer.send(topic, value=b"%d" % number, partition=partition, timestamp_ms=FIRST_MS + number * 1_000)
            producer.flush()
            producer.abort_transaction() if number % 3 == 0 else producer.commit_transaction()
    return topic
