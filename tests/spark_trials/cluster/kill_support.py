"""What the kill trials share: a driver that can be killed, who its processes are, and what readers see afterwards."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import json
import os
import random
import select
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.spark_usage import descendants

from harness.kill_points import DRIVER_POINTS, TASK_POINTS
from harness.spark_cluster import SMALL_JVM
from kafka import KafkaProducer

PROGRAM = Path(__file__).with_name("kill_program.py")
TREE = Path(__file__).resolve().parents[3]
PARTITIONS = 4
KEYS = 16
LIMIT_S = 300.0
VICTIMS = ("driver", "task", "executor", "planner", "broker")
KINDS = ("stateless", "stateful", "foreach")
SETTINGS = {
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.adaptive.coalescePartitions.minPartitionSize": "2k",  # so that it leaves some tasks to so few rows
    "spark.driver.extraJavaOptions": SMALL_JVM,
    "spark.executor.extraJavaOptions": SMALL_JVM,
    "spark.ui.showConsoleProgress": "false",
}
"""Of the trials' drivers, beyond those of all trials."""


@dataclasses.dataclass(frozen=True)
class Kill:
    """What a seed does.

    Arguments:
        kind: of the query.
        victim: one of `VICTIMS`.
        point: where a process has stopped when the victim is killed.
        time_number: the how manieth time that a process comes there.
        shuffle_partitions: of each start of the query; all differ.
    """

    kind: str
    victim: str
    point: str
    time_number: int
    shuffle_partitions: tuple[int, ...]


def kill_of(seed: int) -> Kill:
    """The kill of a seed: the victims in turn, so that each of five seeds in a row has another one."""
    dice = random.Random(seed)
    victim = VICTIMS[seed % len(VICTIMS)]
    points = TASK_POINTS if victim == "task" else (*DRIVER_POINTS, *TASK_POINTS)
    point = dice.choice(points)
    number = dice.randint(1, 3)  # there are more batches, each with a task at least
    return Kill(dice.choice(KINDS), victim, point, number, tuple(dice.sample(range(2, 9), 6)))


class Driver:
    """Runs queries in a Spark driver of its own, which is started where it does not run.

    Arguments:
        folder: for its log.
        settings: of Spark.
        worker_pids: of the processes whose descendants are the executors.
        program: what the driver runs.
    """

    def __init__(
        self, folder: Path, settings: Mapping[str, str], worker_pids: Sequence[int], program: Path = PROGRAM
    ) -> None:
        self.log = folder / "driver.log"
        self.starts = 0
        self._settings = dict(settings)
        self._worker_pids = worker_pids
        self._program = program
        self._process: subprocess.Popen[bytes] | None = None
        self._unread = b""
        self._application = ""

    def ask(self, run: Any) -> None:
        """Start a query; `answer` tells its end."""
        if self._process is None:
            self._start()
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(dataclasses.asdict(run)).encode() + b"\n")
        self._process.stdin.flush()

    def answer(self, timeout_s: float = LIMIT_S) -> dict[str, Any] | None:
        """What became of the query; None: not known yet, after so long."""
        assert self._process is not None
        assert self._process.stdout is not None
        deadline = time.monotonic() + timeout_s
        while b"\n" not in self._unread:
            ready, _, _ = select.select([self._process.stdout], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                return None
            piece = os.read(self._process.stdout.fileno(), 1 << 16)
            if not piece:
                self.end()
                return {"error": "the driver is dead"}
            self._unread += piece
        line, _, self._unread = self._unread.partition(b"\n")
        found: dict[str, Any] = json.loads(line)
        return found

    def kill(self) -> None:
        """Kill the driver: its Python program and its JVM."""
        assert self._process is not None
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def end(self) -> None:
        """End the driver, however it stands."""
        if self._process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            self.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            with contextlib.suppress(BrokenPipeError):
                pipe.close()
        self._process, self._unread = None, b""

    @property
    def planners(self) -> list[int]:
        """The Python processes below the driver's JVM, without the one that forks them."""
        assert self._process is not None
        return [pid for pid in below(self._process.pid) if is_python(pid) and is_python(parent(pid))]

    @property
    def executors(self) -> list[int]:
        """The JVMs of its executors."""
        below_workers = [pid for root in self._worker_pids for pid in below(root)]
        return [pid for pid in below_workers if name(pid) == "java" and self._application in command(pid)]

    @property
    def tasks(self) -> list[int]:
        """The Python processes of its tasks, without the ones that fork them."""
        return [
            pid for executor in self.executors for pid in below(executor) if is_python(pid) and is_python(parent(pid))
        ]

    def _start(self) -> None:
        environment = {**os.environ, "PYTHONWARNINGS": "ignore", "PYSPARK_PYTHON": sys.executable}
        environment["PYTHONPATH"] = os.pathsep.join(str(each) for each in (TREE / "src", TREE, TREE / "tests"))
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, str(self._program), json.dumps(self._settings)],
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                start_new_session=True,
            )
        self.starts += 1
        told = self.answer()
        assert told is not None, "the driver has not started"
        assert "application" in told, self.log.read_text()[-3_000:]
        self._application = told["application"]


def kill_process(pid: int) -> None:
    """SIGKILL, unless it has ended meanwhile."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def below(root: int) -> list[int]:
    """The processes below one."""
    return [pid for pid in descendants(root) if pid != root]


def status(pid: int) -> dict[str, str]:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:  # it ended meanwhile
        return {}
    return {key: value.strip() for key, _, value in (line.partition(":") for line in lines)}


def name(pid: int) -> str:
    return status(pid).get("Name", "")


def parent(pid: int) -> int:
    return int(status(pid).get("PPid", "0"))


def is_python(pid: int) -> bool:
    return name(pid).startswith("python")


def command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


def executor_of(pid: int, executors: Sequence[int]) -> int | None:
    """The executor below which a process runs."""
    return next((each for each in executors if pid in below(each)), None)


def produce_ids(servers: str, topic: str, ids: int, *, some_twice: bool) -> None:
    """Write numbers to a topic, each under the key of its remainder by `KEYS`; every tenth twice if wanted."""
    with KafkaProducer(bootstrap_servers=servers) as producer:
        for number in range(ids):
            for _ in range(2 if some_twice and number % 10 == 0 else 1):
                key = number % KEYS
                producer.send(topic, value=b"%d" % number, key=b"k%d" % key, partition=key % PARTITIONS)
        producer.flush()


def seen_by_readers(servers: str, topic: str) -> list[tuple[str, int]]:
    """The keys and numbers that confluent-kafka's consumer of committed records sees, in its order."""
    from confluent_kafka import Consumer, KafkaError, TopicPartition

    consumer = Consumer(
        {
            "bootstrap.servers": servers,
            "group.id": f"readers-of-{topic}",
            "isolation.level": "read_committed",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
        }
    )
    consumer.assign([TopicPartition(topic, number, 0) for number in range(PARTITIONS)])
    found: list[tuple[str, int]] = []
    ended: set[int] = set()
    deadline = time.monotonic() + LIMIT_S
    while len(ended) < PARTITIONS:
        assert time.monotonic() < deadline, f"{topic} could not be read to its end"
        message = consumer.poll(1.0)
        if message is None:
            continue
        error = message.error()
        if error is None:
            found.append((message.key().decode(), int(message.value())))
        elif error.code() == KafkaError._PARTITION_EOF:
            ended.add(message.partition())
    consumer.close()
    return found


def faults(found: Sequence[tuple[str, int]], ids: int) -> dict[str, Any]:
    """What is wrong with what readers have seen; empty: nothing."""
    times = collections.Counter(number for _, number in found)
    by_key: dict[str, list[int]] = {}
    for key, number in found:
        by_key.setdefault(key, []).append(number)
    wrong: dict[str, Any] = {
        "lost": sorted(set(range(ids)) - set(times)),
        "more than once": sorted(number for number, count in times.items() if count > 1),
        "out of order": sorted(key for key, numbers in by_key.items() if numbers != sorted(numbers)),
    }
    return {what: some for what, some in wrong.items() if some}
