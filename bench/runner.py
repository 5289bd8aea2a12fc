"""Rounds: each client once, in turn, each in a fresh process; what it counted and summed must be right."""

from __future__ import annotations

import dataclasses
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from bench import ROOT
from bench.job import Job, Result
from bench.tasks import PEERS_WITH_FOLDER, UNCHECKED, Task
from bench.topics import PARTITIONS, Topic
from bench.workload import Sums, expected
from harness.peers import peers_environment
from harness.topics import create_topic, delete_topics, new_topic_name

VERIFY_TIMEOUT_S = 300
VERIFIER = "confluent"
"""The client that reads back what was written."""


class WrongAnswer(RuntimeError):
    """A client lost, doubled or changed records."""


@dataclass
class Row:
    """The results of one task on one topic: a list a client, one result a round."""

    task: Task
    topic: Topic
    results: dict[str, list[Result]] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)


@dataclass
class Runner:
    """Runs tasks against one broker. `say` gets a line for each job."""

    bootstrap_servers: str
    say: Callable[[str], None]
    _expected: dict[tuple[int, int], Sums] = field(default_factory=dict)

    def run(self, task: Task, topic: Topic, clients: Sequence[str], rounds: int) -> Row:
        """Run one row. A client that fails is left out of the following rounds, and named in the row.

        Raises:
            WrongAnswer: a client came to other records than those that were produced.
        """
        row = Row(task, topic)
        for number in range(1, rounds + 1):
            for client in clients:
                if client in row.failures:
                    continue
                try:
                    result = self._read(task, topic, client) if task.reads else self._write(task, topic, client)
                except JobFailed as error:
                    row.failures[client] = str(error)
                    self.say(f"{task.name:14}{topic.title:22}{client:16}failed: {error}")
                    continue
                row.results.setdefault(client, []).append(result)
                figure = f"{result.rate / 1e6:7.3f} million/s"
                if task.measure == "latency":
                    figure = f"{statistics.median(result.latencies_ms):7.3f} ms"
                line = f"{task.name:14}{topic.title:22}{client:16}round {number}  {figure}"
                self.say(f"{line}  {result.peak_mb:6.0f} MB")
        return row

    def _read(self, task: Task, topic: Topic, client: str) -> Result:
        result = self._job(task.name, client, topic, topic.name, task.timeout_s)
        self._check(result, topic, client, client not in UNCHECKED)
        return result

    def _write(self, task: Task, topic: Topic, client: str) -> Result:
        """Write to a new topic, and read back what came of it with a client that everybody trusts."""
        name = new_topic_name("bench-out")
        create_topic(self.bootstrap_servers, name, PARTITIONS)
        try:
            result = self._job(task.name, client, topic, name, task.timeout_s)
            self._check(result, topic, client, False)
            self._check(self._job("poll", VERIFIER, topic, name, VERIFY_TIMEOUT_S), topic, client, True)
            return result
        finally:
            delete_topics(self.bootstrap_servers, [name])

    def _check(self, result: Result, topic: Topic, client: str, sums: bool) -> None:
        key = (topic.count, topic.size)
        if key not in self._expected:
            self._expected[key] = expected(*key)
        wanted = self._expected[key]
        if result.count != wanted.count or (sums and result.checksum != wanted.checksum):
            seen, right = f"{result.count} records, sum {result.checksum}", f"{wanted.count}, {wanted.checksum}"
            raise WrongAnswer(f"{client} on {topic.title}: {seen} instead of {right}")

    def _job(self, task: str, client: str, topic: Topic, name: str, timeout_s: float) -> Result:
        job = Job(task, client, self.bootstrap_servers, name, PARTITIONS, topic.count, topic.size, topic.codec)
        environment = peers_environment() if client in PEERS_WITH_FOLDER else dict(os.environ)
        command = [sys.executable, "-m", "bench.job", json.dumps(dataclasses.asdict(job))]
        try:
            done = subprocess.run(
                command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=timeout_s, check=False
            )
        except subprocess.TimeoutExpired:
            raise JobFailed(f"no end after {timeout_s:.0f} s") from None
        if done.returncode:
            raise JobFailed(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "no word")
        return Result(**json.loads(done.stdout.splitlines()[-1]))


class JobFailed(RuntimeError):
    """A client's process failed; the message is the last line of what it said."""
