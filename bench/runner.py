"""Rounds: each client once, in turn, each in a fresh process; what it counted and summed must be right."""

from __future__ import annotations

import dataclasses
import json
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field

from bench import ROOT
from bench.figures import FIGURES, Row
from bench.job import Job, Result
from bench.roster import CLIENTS, process_command, process_environment
from bench.tasks import Task
from bench.topics import Topic
from bench.workload import Sums, expected
from harness.topics import create_topic, delete_topics, new_topic_name

VERIFY_TIMEOUT_S = 120
VERIFIERS = ("confluent", "ours")
"""The clients that read back what was written: a well-known one in the first round, then a faster one."""


class WrongAnswer(RuntimeError):
    """A client lost, doubled or changed records."""


class JobFailed(RuntimeError):
    """A client's process failed; the message is the last line of what it said."""


@dataclass
class Runner:
    """Runs tasks against one broker. `say` gets a line for each job."""

    bootstrap_servers: str
    say: Callable[[str], None]
    _expected: dict[tuple[int, int, bool], Sums] = field(default_factory=dict)

    def round(self, task: Task, topic: Topic, row: Row) -> None:
        """Run each client once, in the opposite order to the previous round: the first one is often slower.

        A client that fails is named in the row, and left out from then on.

        Raises:
            WrongAnswer: a client came to other records than those that were produced.
        """
        rounds = max(map(len, row.results.values()), default=0)
        for client in task.running[:: -1 if rounds % 2 else 1]:
            if client in row.failures:
                continue
            number = len(row.results.get(client, ())) + 1
            try:
                result = self._once(task, task.topic_for(client, topic), client, number)
            except JobFailed as error:
                row.failures[client] = str(error)
                self.say(f"{task.name:17}{topic.title:28}{client:16}failed: {error}")
                continue
            row.results.setdefault(client, []).append(result)
            figures = "  ".join(f"{each.of(result):9.3f} {each.unit}" for each in FIGURES[task.measure])
            self.say(f"{task.name:17}{topic.title:28}{client:16}round {number} {figures}  {result.peak_mb:5.0f} MB")

    def _once(self, task: Task, topic: Topic, client: str, number: int) -> Result:
        """Do a task once and check what came of it."""
        warms_up = task.measure == "rate" and CLIENTS[client].warms_up
        if task.use == "read":
            warm_up = topic.name if warms_up else ""
            result = self._job(task.name, client, topic, topic.name, task.timeout_s, warm_up)
            self._check(result, topic, client, CLIENTS[client].sums)
            return result
        name = new_topic_name("bench-out")
        names = [name, f"{name}-warm-up"] if warms_up else [name]
        for each in names:
            create_topic(self.bootstrap_servers, each, topic.partitions)
        try:
            result = self._job(task.name, client, topic, name, task.timeout_s, *names[1:])
            self._check(result, topic, client, task.use == "trips")
            if task.use == "write":
                self._read_back(topic, name, client, number, keys=task.keys)
            return result
        finally:
            delete_topics(self.bootstrap_servers, names)

    def _read_back(self, topic: Topic, name: str, client: str, number: int, *, keys: bool) -> None:
        """Check what lies on the broker. What Kafka's own tool writes has no keys and values that it draws by lot."""
        verifier = VERIFIERS[min(number, len(VERIFIERS)) - 1]
        sums = CLIENTS[client].sums
        seen = self._job("poll" if sums else "count", verifier, topic, name, VERIFY_TIMEOUT_S)
        self._check(seen, topic, client, sums, keys=keys)

    def _check(self, result: Result, topic: Topic, client: str, sums: bool, *, keys: bool = True) -> None:
        key = (topic.count, topic.size, keys)
        if key not in self._expected:
            self._expected[key] = expected(topic.count, topic.size, keys=keys)
        wanted = self._expected[key]
        if result.count != wanted.count or (sums and result.checksum != wanted.checksum):
            seen, right = f"{result.count} records, sum {result.checksum}", f"{wanted.count}, {wanted.checksum}"
            raise WrongAnswer(f"{client} on {topic.title}: {seen} instead of {right}")

    def _job(self, task: str, client: str, topic: Topic, name: str, timeout_s: float, warm_up: str = "") -> Result:
        size = (topic.partitions, topic.count, topic.size)
        job = Job(task, client, self.bootstrap_servers, name, *size, topic.codec, warm_up)
        who = CLIENTS[client]
        asked = dataclasses.asdict(job) | ({"module": who.module} if who.environment == "original" else {})
        command = [*process_command(who), json.dumps(asked)]
        environment = process_environment(who)
        try:
            done = subprocess.run(
                command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=timeout_s, check=False
            )
        except subprocess.TimeoutExpired:
            raise JobFailed(f"no end after {timeout_s:.0f} s") from None
        if done.returncode:
            raise JobFailed(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "no word")
        return Result(**json.loads(done.stdout.splitlines()[-1]))
