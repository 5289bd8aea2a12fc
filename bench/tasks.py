"""What is measured: tasks, the topics they are done on, who does them, and what is asked. The table grows here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal

from bench.figures import Measure, Row, Target
from bench.roster import BEFORE
from bench.topics import CODECS, PARTITIONS, Topic

Use = Literal["read", "write", "trips", "own"]
"""Topics are read as they were filled, or new ones are written to and read back, or both at once, record by record; or
the task writes records of its own kind to new ones, and checks itself what it reads."""
SPARK_TIMEOUT_S = 600
CONFLUENT = ("confluent", "confluent-large")
"""How batches are read with it: at its best here, and with the large fetches and batches that are recommended."""
FEW = 5
"""How many records a small batch has."""
TRIPS = 2_200
"""Round trips, with those that are warm-up."""


@dataclass(frozen=True)
class Task:
    """A row of the tables, or several: one per topic.

    Arguments:
        name: the function in a client's module that runs it, with hyphens.
        title: its title in the tables.
        clients: names in `bench.roster`; the first is ours, and the ratios compare it with each of the others.
        topics: the topics to read, or those whose records are written to new topics.
        use: how the topics are used.
        measure: which figures count.
        targets: the ratios that our client must reach against the others.
        shorter: what slow clients do instead: fewer of the same records, so that a round does not wait for them. The
            rate does not depend on it: no client is faster with the second million.
        kafka: the release of the broker; if empty, the current one.
        keys: whether the records written have keys.
        timeout_s: seconds after which a process counts as failed.
        absent: clients that are left out of this run.
    """

    name: str
    title: str
    clients: tuple[str, ...]
    topics: tuple[Topic, ...] = field(repr=False)
    use: Use = "read"
    measure: Measure = "rate"
    targets: tuple[Target, ...] = ()
    shorter: Mapping[str, Topic] = field(default_factory=dict, repr=False)
    kafka: str = ""
    keys: bool = True
    timeout_s: float = 120
    absent: frozenset[str] = frozenset()

    @property
    def reads(self) -> bool:
        """Whether it needs topics with records."""
        return self.use == "read"

    def topic_for(self, client: str, topic: Topic) -> Topic:
        """Return the topic that a client uses in place of `topic`."""
        return self.shorter.get(client, topic)

    def moved(self) -> set[Topic]:
        """Return the topics that any of the clients reads or writes."""
        return {self.topic_for(client, topic) for client in self.running for topic in self.topics}

    @property
    def running(self) -> tuple[str, ...]:
        """The clients to run."""
        return tuple(client for client in self.clients if client not in self.absent)


def row(task: Task, topic: Topic) -> Row:
    """Return a row for the results of a task on one of its topics."""
    return Row(task.name, task.title, topic.title, task.measure, task.clients, task.targets)


def narrowed(task: Task, wants_client: Callable[[str], bool], wants_topic: Callable[[Topic], bool]) -> Task:
    """Return a task with only the clients and topics that are wanted."""
    absent = task.absent.union(client for client in task.clients if not wants_client(client))
    return replace(task, absent=absent, topics=tuple(filter(wants_topic, task.topics)))


@dataclass(frozen=True)
class Sizes:
    """How many records each kind of task moves; the defaults are those of `make bench`."""

    columns: int = 2_000_000
    large: int = 500_000
    records: int = 1_000_000
    sparse: int = 500_000
    written: int = 1_000_000
    slow: int = 200_000
    slowest: int = 50_000
    singles: int = 5_000
    transactions: int = 30_000
    trips: int = TRIPS
    streamed: int = 2_000
    events: int = 300_000
    partitions: int = 1_000
    codecs: tuple[str, ...] = CODECS


SMALL = Sizes(
    columns=300_000,
    large=100_000,
    records=100_000,
    sparse=50_000,
    written=50_000,
    slow=20_000,
    slowest=10_000,
    transactions=1_000,
    trips=300,
    streamed=320,
    events=20_000,
    partitions=100,
    codecs=("none", "lz4"),
)
QUICK = replace(SMALL, columns=600_000, records=300_000, written=300_000, trips=700)
_QUICK_TASKS = {"poll-arrow", "poll", "getmany", "send", "send-arrow", "round-trip", "memory"}
_QUICK_CLIENTS = {"ours", "ours-async", "confluent", "kafka-python", "aiokafka", "raw-socket"}


def full() -> list[Task]:
    """The tasks of `make bench-full`: every row with every client."""
    return _tasks(Sizes())


def usual() -> list[Task]:
    """The tasks of `make bench`: those with targets, and the clients whom they name."""
    return [narrowed(task, _asked_of(task).__contains__, lambda topic: True) for task in full() if task.targets]


def _asked_of(task: Task) -> set[str]:
    return {task.clients[0], *(target.client for target in task.targets)}


def against_other_tree() -> list[Task]:
    """The tasks of `make bench`, done by this tree and by another one in turn."""
    return [_with_other_tree(task) for task in full()]


def _with_other_tree(task: Task) -> Task:
    ours = task.clients[0]
    shorter = {name: task.shorter[ours] for name in (ours, ours + BEFORE) if ours in task.shorter}
    return replace(task, clients=(ours, ours + BEFORE), targets=(), shorter=shorter)


def small() -> list[Task]:
    """Nearly the same tasks, small: to show that everything works, not how fast it is.

    Ours does its tasks on every topic, the others once each. Spark does without the rows whose code the others run too;
    those with a broker of their own are left out.
    """
    noop = narrowed(_spark(SMALL)[0], lambda client: True, lambda topic: topic.size == 100)
    tasks = [task for task in _tasks(SMALL) if task.name not in (noop.name, "spark-parquet") and not task.kafka] + [
        noop
    ]
    did: set[tuple[str, str]] = set()
    rows = []
    for task, topic in ((each, topic) for each in tasks for topic in each.topics):
        new = {client for client in task.clients[1:] if (task.name, client) not in did}
        did |= {(task.name, client) for client in new}
        rows.append(narrowed(replace(task, topics=(topic,)), {task.clients[0], *new}.__contains__, lambda topic: True))
    return rows


def quick() -> list[Task]:
    """The tasks of `make bench-quick`: a first impression in a minute, without Spark, which takes that to start."""
    rows = [
        narrowed(task, _QUICK_CLIENTS.__contains__, partial(_is_quick, task.name))
        for task in _tasks(QUICK)
        if task.name in _QUICK_TASKS and task.clients[0] in _QUICK_CLIENTS
    ]
    return [task for task in rows if task.topics]


def _is_quick(name: str, topic: Topic) -> bool:
    """Whether a task does a topic in `quick`."""
    usual = topic.size == 100 and not topic.per_batch and topic.partitions == PARTITIONS
    return usual and (topic.codec == "none" or name == "poll-arrow")


def _tasks(sizes: Sizes) -> list[Task]:
    read = [*_columns(sizes), *_records(sizes), *_small_batches(sizes), *_shares(sizes)]
    return [*read, *_written(sizes), *_trips(sizes), *_memory(sizes), *_spark(sizes), *_simple(sizes)]


def _columns(sizes: Sizes) -> list[Task]:
    """`poll_arrow`, on each codec."""
    asked = {"none": 6.0, "gzip": 3.0}
    task = Task("poll-arrow", "`poll_arrow()`", ("ours", *CONFLUENT, "raw-socket"), ())
    rows = []
    for codec in sizes.codecs:
        confluent = CONFLUENT if codec in ("none", "lz4") else CONFLUENT[:1]  # these show that it is the quicker one
        others: tuple[str, ...] = (*confluent, "raw-socket")
        targets = _against(confluent, asked.get(codec, 5.0))
        if codec == "none":
            others = (*confluent, "kafkarrow", "java", "raw-socket")
            targets = (*targets, Target("raw-socket", 0.55))
        topics = (Topic(codec, 100, sizes.columns),)
        rows.append(replace(task, clients=("ours", *others), topics=topics, targets=targets))
    large = tuple(Topic(codec, 1000, sizes.large) for codec in ("none", "lz4"))
    return [*rows, replace(task, topics=large, targets=_against(CONFLUENT, 3.0))]


def _against(clients: tuple[str, ...], ratio: float) -> tuple[Target, ...]:
    return tuple(Target(client, ratio) for client in clients)


def _records(sizes: Sizes) -> list[Task]:
    """Return the tasks that deliver one object per record."""
    topics = (Topic("none", 100, sizes.records),)
    slow = {name: Topic("none", 100, sizes.slow) for name in ("kafka-python", "ours-plain")}
    against_python = Target("kafka-python", 4.0)
    many = (*_against(CONFLUENT, 1.3), Target("kafka-python", 6.0))
    clients = ("ours", *CONFLUENT, "kafka-python", "java")
    row = Task("poll", "`poll()`", clients, topics, targets=many, shorter=slow)
    return [
        row,
        replace(row, title="`poll()`, not compiled", clients=("ours-plain", "kafka-python"), targets=(_plain(),)),
        Task(
            "iterate",
            "`for record in consumer`",
            ("ours", "confluent", "kafka-python"),
            topics,
            targets=(against_python,),
            shorter=slow,
        ),
        Task("getmany", "asyncio `getmany()`", ("ours-async", "aiokafka"), topics, targets=(Target("aiokafka", 1.3),)),
        Task(
            "iterate-async",
            "asyncio `async for`",
            ("ours-async", "aiokafka"),
            topics,
            targets=(Target("aiokafka", 2.0),),
            shorter={"aiokafka": slow["kafka-python"]},
        ),
    ]


def _small_batches(sizes: Sizes) -> list[Task]:
    """Reading what producers write that do not linger, or that spread it widely: what is done once a batch counts."""
    topics = tuple(Topic(codec, 100, sizes.sparse, FEW) for codec in ("none", "lz4"))
    columns = Task("poll-arrow", "`poll_arrow()`", ("ours", CONFLUENT[0]), topics)
    records = replace(columns, name="poll", title="`poll()`", targets=_against(CONFLUENT[:1], 1.3))
    spread = (Topic("none", 100, sizes.sparse, partitions=sizes.partitions),)
    return [columns, records, replace(records, topics=spread, targets=_against(CONFLUENT[:1], 1.0))]


def _shares(sizes: Sizes) -> list[Task]:
    """Reading as the one consumer of a share group: the broker writes each acknowledgement down before it goes on."""
    topics = (Topic("none", 100, sizes.slow),)
    row = Task(
        "share", "`KafkaShareConsumer.poll()`", ("ours", "confluent"), topics, targets=(Target("confluent", 2.0),)
    )
    arrow = replace(
        row, name="share-arrow", title="`KafkaShareConsumer.poll_arrow()`", targets=(Target("confluent", 5.0),)
    )
    return [row, arrow]


def _plain() -> Target:
    return Target("kafka-python", 0.7)


def _written(sizes: Sizes) -> list[Task]:
    """Return the tasks that write."""
    plain, packed = (Topic(codec, 100, sizes.written) for codec in ("none", "lz4"))
    slow = {"kafka-python": Topic("none", 100, sizes.slowest), "aiokafka": Topic("none", 100, sizes.slow)}
    asked = (Target("confluent", 1.2), Target("kafka-python", 8.0))
    send = Task(
        "send",
        "`send()` with futures",
        ("ours", "confluent", "kafka-python", "java"),
        (plain,),
        use="write",
        targets=asked,
        shorter=slow,
    )
    arrow = (Target("confluent", 4.0), Target("java", 1.0))
    return [
        send,
        replace(send, clients=("ours", "confluent", "java"), topics=(packed,), targets=asked[:1]),
        replace(send, name="send-callback", title="`send()` with callbacks", clients=send.clients[:3]),
        replace(
            send,
            name="send-async",
            title="asyncio `send()`",
            clients=("ours-async", "aiokafka"),
            targets=(Target("aiokafka", 3.0),),
        ),
        replace(
            send,
            name="transactions",
            title="transactions of 100 records",
            clients=("ours", "confluent"),
            topics=(Topic("none", 100, sizes.transactions),),
            targets=(Target("confluent", 1.0),),
        ),
        replace(
            send,
            name="send-arrow",
            title="`send_arrow()`",
            clients=("ours", "confluent", "java", "raw-socket"),
            topics=(plain, packed),
            targets=arrow,
        ),
    ]


def _trips(sizes: Sizes) -> list[Task]:
    """A record there and back, and only then the next."""
    targets = (Target("confluent", 1.0, "median"), Target("confluent", 1.0, "p99"))
    sync = Task(
        "round-trip",
        "round trip",
        ("ours", "confluent", "kafka-python", "raw-socket"),
        (Topic("none", 100, sizes.trips),),
        use="trips",
        measure="latency",
        targets=targets,
    )
    clients = ("ours-async", "confluent", "aiokafka", "raw-socket")
    return [sync, replace(sync, name="round-trip-async", title="round trip, asyncio", clients=clients)]


def _memory(sizes: Sizes) -> list[Task]:
    """The largest resident memory while consuming, everyone with their defaults."""
    topics = (Topic("none", 100, sizes.records), Topic("lz4", 1000, sizes.large))
    lean = Task(
        "memory",
        "memory, `poll()`",
        ("ours", "confluent"),
        topics,
        measure="peak",
        targets=(Target("confluent", 1.0, "peak"),),
    )
    return [lean, replace(lean, name="memory-arrow", title="memory, `poll_arrow()`")]


def _spark(sizes: Sizes) -> list[Task]:
    """Our source and sink, and Spark's own."""
    clients = ("spark-ours", "spark-connector")
    small, large = Topic("none", 100, sizes.records), Topic("none", 1000, sizes.large)
    other = clients[1]

    def asked(ratio: float, figure: str = "rate") -> tuple[Target, ...]:
        return (Target(other, ratio, figure),)

    noop = Task("spark-noop", "Spark, to `noop`", clients, (small,), targets=asked(4.0), timeout_s=SPARK_TIMEOUT_S)
    stream = replace(
        noop, name="spark-stream", title="Spark, a micro-batch", topics=(Topic("none", 100, sizes.streamed),)
    )
    return [
        noop,
        replace(noop, topics=(large,), targets=asked(3.0)),
        replace(noop, name="spark-parquet", title="Spark, to Parquet", targets=asked(2.2)),
        replace(
            noop,
            name="spark-write",
            title="Spark, write",
            topics=(Topic("none", 100, sizes.written),),
            use="write",
            targets=asked(1.7),
        ),
        replace(stream, measure="latency", targets=asked(1.1, "median")),
        replace(
            stream,
            name="spark-start",
            title="Spark, from start() to the end of the first micro-batch",
            measure="latency",
            targets=asked(0.77, "median"),  # at most 1.3 times as long
        ),
        *_typed(replace(noop, topics=(Topic("none", 104, sizes.events),), use="own"), asked),
        *_once(sizes),
        _rules(sizes),
    ]


def _typed(task: Task, asked: Callable[[float], tuple[Target, ...]]) -> list[Task]:
    """Events of seven fields, decoded: by our source, and by Spark's functions behind its connector."""
    return [
        replace(task, name="spark-json", title="Spark, JSON decoded, to Parquet", targets=asked(2.5)),
        replace(task, name="spark-avro", title="Spark, Avro decoded, to Parquet", targets=asked(1.5)),
    ]


def _once(sizes: Sizes) -> list[Task]:
    """The exactly-once sink, compared with the same sink delivering at least once."""
    write = Task(
        "spark-write-once",
        "Spark, write, exactly once",
        ("spark-once", "spark-ours"),
        (Topic("none", 100, sizes.written),),
        use="write",
        targets=(Target("spark-ours", 0.9),),
        timeout_s=SPARK_TIMEOUT_S,
    )
    tasks_of_eight = (Topic("none", 100, sizes.streamed, partitions=8),)
    copy = replace(
        write,
        name="spark-copy",
        title="Spark, a micro-batch of 8 tasks to a topic, exactly once",
        topics=tasks_of_eight,
        use="read",
        measure="latency",
        targets=(),
    )
    return [write, copy]


def _rules(sizes: Sizes) -> Task:
    """A pipeline's query from topic to topic with ten rules, compared with the same query without rules."""
    return Task(
        "spark-rules",
        "Spark, JSON from topic to topic, ten rules",
        ("spark-rules", "spark-ours"),
        (Topic("none", 104, sizes.events),),
        use="own",
        targets=(Target("spark-ours", 0.85),),
        timeout_s=SPARK_TIMEOUT_S,
    )


OLD_KAFKA = "1.1.1"
"""A release that kafka-python 1.4 and this package work with."""


def _simple(sizes: Sizes) -> list[Task]:
    """What kafka-python had up to 1.4, against the originals on their Python, both on a broker of the time."""
    original = "simple-original"
    read, written = (Topic("none", 100, count) for count in (sizes.slow, sizes.slowest))
    single = Topic("none", 100, sizes.singles)
    iterate = Task(
        "simple-iterate",
        f"`SimpleConsumer`, iterated over, Kafka {OLD_KAFKA}",
        ("simple", original),
        (read,),
        targets=_against((original,), 1.0),
        kafka=OLD_KAFKA,
    )
    send = replace(
        iterate,
        name="simple-send",
        title=f"`SimpleProducer`, one message a call, Kafka {OLD_KAFKA}",
        topics=(single,),
        use="write",
        keys=False,
    )
    return [
        iterate,
        replace(iterate, name="simple-get-messages", title=f"`SimpleConsumer.get_messages()`, Kafka {OLD_KAFKA}"),
        send,
        replace(
            send,
            name="simple-send-many",
            title=f"`SimpleProducer`, 200 messages a call, Kafka {OLD_KAFKA}",
            topics=(written,),
        ),
        replace(
            send,
            name="simple-send-background",
            title=f"`SimpleProducer` with `async_send`, Kafka {OLD_KAFKA}",
            topics=(written,),
        ),
    ]
