"""One run: brokers, producers and groups on a simulated loop, trouble for a while, and then everything is checked."""

import asyncio
import gc
import logging
import random
import tempfile
import threading
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kafka.cluster import ClusterClient
from kafka.config import parse_admin
from kafka.consumer import AsyncKafkaConsumer
from kafka.net.buffers import FrameBuffer
from kafka.structs import TopicPartition
from kafka.testing.actors import MemberActor, ProducerActor
from kafka.testing.chaos import Chaos
from kafka.testing.cluster import SimulatedCluster
from kafka.testing.ledger import Ledger
from kafka.testing.loop import SimulatedLoop, SimulationStuckError
from kafka.testing.story import Story
from kafka.wire.api.create_topics import CreatableTopic, CreateTopicsRequest

DRAIN_S = 900.0
"""How much virtual time groups get to read everything once nothing is wrong any more."""

LIMIT_S = 4 * 3_600.0
"""How much virtual time a run gets; one that needs more hangs."""


@dataclass(frozen=True)
class Report:
    """What came of a seed.

    Attributes:
        seed: the seed.
        problems: what was not as promised, in words; empty where all is well.
        story: what happened, line by line.
        digest: the same for the same story.
        sent, acknowledged: records.
        virtual_s: seconds that passed on the simulated clock.
    """

    seed: int
    problems: list[str]
    story: list[str]
    digest: str
    sent: int
    acknowledged: int
    virtual_s: float


@dataclass
class Plan:
    """The parameters of a run, all of them drawn from the seed."""

    topics: list[tuple[str, int]]
    producers: list[tuple[dict[str, Any], int]]
    groups: list[list[dict[str, Any]]]
    trouble_s: float
    segment_bytes: int
    broker: dict[str, object] = field(default_factory=dict)

    @classmethod
    def draw(cls, rng: random.Random) -> "Plan":
        """Draw one."""
        producers = [
            (
                {
                    "linger_ms": rng.choice((0, 5, 100)),
                    "batch_size": rng.choice((200, 16_384)),
                    "compression_type": rng.choice((None, None, "lz4", "gzip", "snappy", "zstd")),
                    "delivery_timeout_ms": rng.choice((20_000, 120_000)),
                    "request_timeout_ms": rng.choice((5_000, 10_000)),
                    "max_in_flight_requests_per_connection": rng.choice((1, 5)),
                },
                rng.randrange(20, 200),
            )
            for _ in range(rng.randrange(1, 4))
        ]
        groups = [
            [
                {
                    "auto_offset_reset": "earliest",
                    "auto_commit_interval_ms": rng.choice((200, 5_000)),
                    "max_poll_records": rng.choice((1, 10, 500)),
                    "fetch_max_wait_ms": rng.choice((50, 500)),
                    "session_timeout_ms": rng.choice((6_000, 10_000)),
                    "heartbeat_interval_ms": 2_000,
                    "request_timeout_ms": 15_000,
                }
                for _ in range(rng.randrange(1, 4))
            ]
            for _ in range(rng.randrange(1, 3))
        ]
        return cls(
            topics=[(f"topic-{number}", rng.randrange(1, 5)) for number in range(rng.randrange(1, 3))],
            producers=producers,
            groups=groups,
            trouble_s=rng.choice((0.0, 30.0, 120.0)),
            segment_bytes=rng.choice((0, 0, 7, 1_000)),
            broker={"fsync": rng.random() < 0.3},
        )


class Simulation:
    """See the module.

    Arguments:
        loop: the loop it runs on.
        seed: what it was made from.
        data_dir: an empty folder for the brokers' data.
        story: takes down what happens.
    """

    def __init__(self, loop: SimulatedLoop, seed: int, data_dir: Path, story: Story) -> None:
        self._loop = loop
        self._seed = seed
        self._story = story
        self._rng = loop.random
        self._plan = Plan.draw(self._rng)
        self._ledger = Ledger()
        self._cluster = SimulatedCluster(loop, data_dir, auto_create_topics=False, **self._plan.broker)
        loop.network.segment_bytes = self._plan.segment_bytes

    async def run(self) -> Report:
        """Run it; never raises for what the clients do wrong, which is in the report."""
        self._loop.set_exception_handler(self._unhandled)
        try:
            async with asyncio.timeout(LIMIT_S):
                problems = await self._run()
        except TimeoutError:
            return self.report([f"it did not end within {LIMIT_S:g} virtual seconds"])
        except Exception as error:
            trace = "".join(traceback.format_exception(error))
            return self.report([*self._ledger.found, f"a program of it ended with {error!r}: {trace}"])
        return self.report(problems + await self._left_over())

    def _unhandled(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """An exception that nobody handled, in a callback or a task."""
        error = context.get("exception")
        trace = "".join(traceback.format_exception(error)) if error is not None else ""
        self._ledger.found.append(f"nobody handled: {context.get('message')} {error!r} {trace}")

    async def _run(self) -> list[str]:
        plan, story = self._plan, self._story
        story.tell("simulation", f"seed {self._seed}: {plan}")
        await self._cluster.start_all()
        await self._create_topics()
        chaos = Chaos(self._loop.network, self._cluster, self._fork(), story)
        producers = [
            ProducerActor(
                f"producer-{number}", self._common(options), plan.topics, count, self._fork(), self._ledger, story
            )
            for number, (options, count) in enumerate(plan.producers)
        ]
        members = [
            MemberActor(
                f"member-{group}-{number}",
                f"group-{group}",
                self._common(options),
                [topic for topic, _ in plan.topics],
                self._fork(),
                self._ledger,
                story,
            )
            for group, options_of in enumerate(plan.groups)
            for number, options in enumerate(options_of)
        ]
        reading = [asyncio.ensure_future(member.run()) for member in members]
        await asyncio.gather(chaos.run(plan.trouble_s), *(producer.run() for producer in producers))
        logs = await self._read_logs()
        await self._drain(logs)
        for member in members:
            member.stop()
        await asyncio.gather(*reading)
        await self._look_at_commits(logs)
        await self._cluster.stop_all()
        return self._ledger.problems(logs, [f"group-{number}" for number in range(len(plan.groups))], idempotent=True)

    def report(self, problems: list[str]) -> Report:
        """What came of it, with the problems that were found."""
        story = self._story
        for problem in problems:
            story.tell("PROBLEM", problem)
        sent = self._ledger.sent.values()
        acknowledged = sum(record.is_acknowledged for record in sent)
        story.tell("simulation", f"ends: {len(sent)} sent, {acknowledged} acknowledged, {len(problems)} problems")
        return Report(self._seed, problems, story.lines, story.digest(), len(sent), acknowledged, self._loop.time())

    # Steps ------------------------------------------------------------------------------------------------------------

    def _fork(self) -> random.Random:
        return random.Random(self._rng.getrandbits(64))

    def _common(self, options: dict[str, Any]) -> dict[str, Any]:
        return {"bootstrap_servers": self._cluster.bootstrap_servers, **options}

    async def _create_topics(self) -> None:
        config = parse_admin(self._common({}))
        client = ClusterClient(config.connection, config.security)
        await client.start()
        topics = [
            CreatableTopic(name=name, num_partitions=partitions, replication_factor=1)
            for name, partitions in self._plan.topics
        ]
        await client.send_controller(CreateTopicsRequest(topics=topics, timeout_ms=10_000))
        await client.close()

    async def _read_logs(self) -> dict[TopicPartition, list[str]]:
        """Read every partition from its beginning to its end."""
        partitions = [TopicPartition(topic, number) for topic, count in self._plan.topics for number in range(count)]
        logs: dict[TopicPartition, list[str]] = {tp: [] for tp in partitions}
        options = self._common({"auto_offset_reset": "earliest", "client_id": "reader"})
        async with AsyncKafkaConsumer(**options) as consumer:
            await consumer.assign(partitions)
            ends = await consumer.end_offsets(partitions)
            while any(len(logs[tp]) < ends[tp] for tp in partitions):
                for tp, records in dict(await consumer.poll(timeout_ms=1_000)).items():
                    logs[tp] += [record.value.split(b" ")[0].decode() for record in records]
        return logs

    async def _drain(self, logs: dict[TopicPartition, list[str]]) -> None:
        """Wait until every group has read everything."""
        total = sum(len(log) for log in logs.values())
        end = self._loop.time() + DRAIN_S
        groups = [f"group-{number}" for number in range(len(self._plan.groups))]
        while self._loop.time() < end and any(len(self._ledger.read[group]) < total for group in groups):
            await asyncio.sleep(1.0)

    async def _look_at_commits(self, logs: dict[TopicPartition, list[str]]) -> None:
        for number in range(len(self._plan.groups)):
            group = f"group-{number}"
            options = self._common({"group_id": group, "client_id": "reader", "enable_auto_commit": False})
            async with AsyncKafkaConsumer(**options) as consumer:
                found = {tp: await consumer.committed(tp) for tp in logs}
            self._ledger.committed(group, {tp: each.offset for tp, each in found.items() if each is not None})

    async def _left_over(self) -> list[str]:
        """What is still there although everything was closed."""
        for _ in range(5):
            await asyncio.sleep(self._loop.network.latency_s[1])
        gc.collect()
        here = asyncio.current_task()
        left = [f"the task {task.get_name()} is left" for task in asyncio.all_tasks() if task is not here]
        left += [f"the connection to {link.host} is left" for link in self._loop.network.links]
        left += [
            f"the timer {timer!r} is left"
            for timer in self._loop._scheduled  # type: ignore[attr-defined]
            if not timer.cancelled() and "broker.fault_serving" not in getattr(timer._callback, "__module__", "")
        ]
        left += [
            "a receive buffer is left"
            for each in gc.get_objects()
            if type(each) is FrameBuffer and each._buffer is not None
        ]
        return left


def run_seed(seed: int, echo: bool = False) -> Report:
    """Run the simulation that ``seed`` stands for.

    Arguments:
        echo: print the story as it happens.
    """
    threads = set(threading.enumerate())
    with tempfile.TemporaryDirectory(prefix="kafka-simulation-") as folder:
        loop = SimulatedLoop(seed)
        story = Story(loop, echo)
        logger = logging.getLogger("kafka")
        level = logger.level
        logger.addHandler(story)
        logger.setLevel(logging.INFO)
        try:
            with asyncio.Runner(loop_factory=lambda: loop) as runner:
                simulation = Simulation(loop, seed, Path(folder), story)
                try:
                    report = runner.run(simulation.run())
                except SimulationStuckError as stuck:
                    report = simulation.report([str(stuck)])
        finally:
            logger.removeHandler(story)
            logger.setLevel(level)
    report.problems.extend(
        f"the thread {thread.name} is left" for thread in threading.enumerate() if thread not in threads
    )
    return report
