"""`python -m bench.trip --time`: the time of trips and of other small requests, against the peers of `make bench`.

Each row runs twice: against a real broker, and against the small server that answers trips itself (`replay`), which
leaves the processor's caches to the client and takes the same time for all. Clients take turns, each time in a new
process, as in `make bench`, and the rows are those of its table of tasks; `ROWS` names them.
"""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

from bench import tasks
from bench.figures import MEDIAN, P99, Row
from bench.job import TRANSACTION_RECORDS, Result
from bench.roster import CLIENTS, lacks
from bench.runner import Runner
from bench.tasks import Task
from bench.trip.broker import broker_process
from bench.workload import storage, store
from harness.apache import ApacheKafka
from harness.fetch import FetchError
from harness.zookeeper_kafka import ZooKeeperKafka

HEAP = "512m"
ROUNDS = 5
REPLAY, BROKER = "replay", "broker"
Say = Callable[[str], None]


@dataclass(frozen=True)
class TimedTask:
    """A task of `make bench`, with the peer to compare with.

    Arguments:
        name: the task's.
        peer: a name in `bench.roster`.
        records: how many records one unit of work has, whose time is shown.
    """

    name: str
    peer: str
    records: int = 1


ROWS = {
    "sync": TimedTask("round-trip", "confluent"),
    "asyncio": TimedTask("round-trip-async", "confluent"),
    "transactions": TimedTask("transactions", "confluent", TRANSACTION_RECORDS),
    "simple": TimedTask("simple-send", "simple-original"),
}
"""By the name of the row."""


@dataclass(frozen=True)
class Times:
    """A client's times in a row: medians over rounds, in milliseconds per unit of work.

    Arguments:
        median: of a round's units; of those that are only timed together, the mean.
        lowest: the lowest of the rounds' medians.
        highest: the highest of them.
        p99: what one unit in a hundred exceeds; None if units are only timed together.
        cpu: the processor time of the client.
    """

    median: float
    lowest: float
    highest: float
    p99: float | None
    cpu: float


def times(results: Sequence[Result], records: int) -> Times:
    """Return the times of a client's rounds."""
    single = bool(results[0].latencies_ms)
    if single:
        medians = [MEDIAN.of(result) for result in results]
        cpu = [result.cpu_seconds * 1000 / len(result.latencies_ms) for result in results]
    else:
        medians = [result.seconds * 1000 * records / result.timed for result in results]
        cpu = [result.cpu_seconds * 1000 * records / result.timed for result in results]
    p99 = statistics.median(P99.of(result) for result in results) if single else None
    return Times(statistics.median(medians), min(medians), max(medians), p99, statistics.median(cpu))


def measure(names: Sequence[str], servers: Sequence[str], rounds: int, say: Say) -> Iterator[str]:
    """Run rows; yield the lines of a table, each when its row is done.

    Arguments:
        names: of rows.
        servers: `REPLAY`, `BROKER` or both.
        rounds: how often each client runs.
        say: gets a line for each run.
    """
    heads = ("median ms", "lowest - highest", "p99 ms", "CPU ms", "ratio", "p99 ratio")
    yield f"{'row':14}{'server':9}{'client':28}" + "".join(f"{head:>{len(head) + 2}}" for head in heads)
    chosen = {name: _task(ROWS[name]) for name in names}
    with storage():
        for kafka in sorted({task.kafka for task in chosen.values()}):
            todays = {name: task for name, task in chosen.items() if task.kafka == kafka}
            missing = [
                reason for task in todays.values() for client in task.running if (reason := lacks(CLIENTS[client]))
            ]
            try:
                if missing:
                    raise FetchError(missing[0])
                with (
                    ZooKeeperKafka(kafka, heap=HEAP, full_jit=True)
                    if kafka
                    else ApacheKafka(heap=HEAP, full_jit=True) as real
                ):
                    for name, task in todays.items():
                        for server in servers:
                            with _address(server, real.bootstrap_servers) as address:
                                yield from lines_of(name, server, task, _row(task, address, rounds, say))
            except FetchError as error:
                yield f"skipped: {', '.join(todays)}: {error}"


def _task(timed: TimedTask) -> Task:
    """The task of `make bench`, with two clients. What it writes is only counted: the small server keeps nothing."""
    found = next(task for task in tasks.full() if task.name == timed.name)
    chosen = tasks.narrowed(found, {found.clients[0], timed.peer}.__contains__, lambda topic: True)
    return chosen if chosen.use == "trips" else dataclasses.replace(chosen, use="own")


def _address(server: str, broker: str) -> AbstractContextManager[str]:
    return broker_process("bench.trip.replay", "--upstream", broker) if server == REPLAY else nullcontext(broker)


def _row(task: Task, bootstrap_servers: str, rounds: int, say: Say) -> Row:
    """Run all rounds of a task."""
    (topic,) = task.topics
    say(f"{task.title} on {bootstrap_servers}")
    store(topic.count, topic.size)
    row = tasks.row(task, topic)
    runner = Runner(bootstrap_servers, say)
    for _ in range(rounds):
        runner.round(task, topic, row)
    return row


def lines_of(name: str, server: str, task: Task, row: Row) -> Iterator[str]:
    """Yield the lines of one row, the first client's first; ratios above 1 say that it is faster than the peer."""
    ours = task.clients[0]
    found = {client: times(results, ROWS[name].records) for client, results in row.results.items()}
    for client in task.running:
        title = f"{name:14}{server:9}{CLIENTS[client].title:28}"
        if client in row.failures:
            yield f"{title}failed: {row.failures[client]}"
            continue
        each = found[client]
        cells = [f"{each.median:.3f}", f"{each.lowest:.3f} - {each.highest:.3f}", _shown(each.p99), f"{each.cpu:.3f}"]
        if client != ours and ours in found:
            mine = found[ours]
            cells.append(f"{each.median / mine.median:.2f}")
            cells.append(f"{each.p99 / mine.p99:.2f}" if each.p99 and mine.p99 else "")
        widths = (11, 18, 8, 8, 7, 11)
        yield title + "".join(f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=False))


def _shown(p99: float | None) -> str:
    return "" if p99 is None else f"{p99:.3f}"
