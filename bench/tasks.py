"""What is measured: tasks, the topics they are done on, and who does them. The table grows here."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from bench.topics import CODECS, Topic

Measure = Literal["rate", "latency", "peak"]
"""Records a second; milliseconds a trip; megabytes of memory."""


@dataclass(frozen=True)
class Task:
    """A row, or several, of the tables.

    `reads` tells whether the topics are read, or named so that the same records are written to new ones. `clients`
    names modules of `bench.clients`; the first is ours, and the ratios are those of the first to each other.
    """

    name: str
    title: str
    clients: tuple[str, ...]
    topics: tuple[Topic, ...] = field(repr=False)
    reads: bool = True
    measure: Measure = "rate"
    timeout_s: float = 300


PEERS_WITH_FOLDER = {"kafka-python", "kafkarrow"}
"""Those that are not in the environment of this package."""
UNCHECKED = {"raw-socket"}
"""Those that decode nothing, so that there is nothing to sum up."""


def full() -> list[Task]:
    """The tasks of `make bench`."""
    small = {codec: Topic(codec, 100, 2_000_000) for codec in CODECS}
    large = {codec: Topic(codec, 1000, 500_000) for codec in ("none", "lz4")}
    columns = tuple(small.values()) + tuple(large.values())
    written = (Topic("none", 100, 500_000), Topic("lz4", 100, 500_000))
    spark = _spark((small["none"], large["none"]), small["none"], Topic("none", 100, 1_000_000))
    return _tasks(columns, (small["none"],), written) + spark


def quick() -> list[Task]:
    """The tasks of `make bench-quick`: the same, small. It shows that everything works, not how fast it is."""
    topics = (Topic("none", 100, 300_000), Topic("lz4", 100, 300_000))
    spark = _spark(topics[:1], topics[0], Topic("none", 100, 50_000))
    return _tasks(topics, topics[:1], (Topic("none", 100, 50_000),)) + spark


def _tasks(columns: tuple[Topic, ...], records: tuple[Topic, ...], written: tuple[Topic, ...]) -> list[Task]:
    everyone = ("ours", "confluent", "kafka-python", "aiokafka")
    with_callbacks = ("ours", "confluent", "kafka-python")
    return [
        Task("poll-arrow", "`poll_arrow()`", ("ours", "confluent", "kafkarrow", "raw-socket"), columns[:1]),
        Task("poll-arrow", "`poll_arrow()`", ("ours", "confluent", "raw-socket"), columns[1:]),
        Task("poll", "`poll()`", everyone, records),
        Task("iterate", "`for record in consumer`", everyone, records),
        Task("send", "`send()` with futures", everyone, written, reads=False),
        Task("send-callback", "`send()` with callbacks", with_callbacks, written[:1], reads=False),
        Task("send-arrow", "`send_arrow()`", ("ours", "confluent"), written, reads=False),
    ]


def _spark(noop: tuple[Topic, ...], parquet: Topic, written: Topic) -> list[Task]:
    clients = ("spark-ours", "spark-connector")
    few = Topic("none", 100, 2_000)
    return [
        Task("spark-noop", "Spark, read to `noop`", clients, noop, timeout_s=600),
        Task("spark-parquet", "Spark, read to Parquet", clients, (parquet,), timeout_s=600),
        Task("spark-write", "Spark, write", clients, (written,), reads=False, timeout_s=600),
        Task("spark-stream", "Spark, a trigger of a stream", clients, (few,), measure="latency", timeout_s=600),
    ]
