"""Runs simulations: brokers, producers and groups on a simulated loop, with failures for a while, then final checks.

`reports` runs several seeds, each in its own process. Where the system supports it, the processes are forked from one
that has done nothing but import modules, so that a seed does not depend on earlier seeds.
"""

import asyncio
import dataclasses
import functools
import gc
import logging
import multiprocessing
import os
import random
import signal
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kafka.cluster import ClusterClient
from kafka.config import parse_admin
from kafka.consumer import AsyncKafkaConsumer
from kafka.net.buffers import FrameBuffer, shared_pool
from kafka.structs import TopicPartition
from kafka.testing.chaos import Chaos
from kafka.testing.group_actors import MemberActor, ProducerActor
from kafka.testing.ledger import GroupPartition, Ledger
from kafka.testing.share_trial import ShareTrial
from kafka.testing.simulated_cluster import SimulatedCluster
from kafka.testing.simulated_loop import SimulatedLoop, SimulationStuckError
from kafka.testing.simulation_plan import Plan
from kafka.testing.story import Story
from kafka.testing.transaction_trial import PARTITIONS, TOPIC, TransactionTrial
from kafka.wire.api.create_topics import CreatableTopic, CreateTopicsRequest

DRAIN_S = 900.0
"""Virtual time after the last failure within which groups must read everything, in seconds."""

COMMIT_S = 120.0
"""Additional virtual time within which the groups must commit everything, in seconds."""

LIMIT_S = 4 * 3_600.0
"""Limit on the virtual time of a run, in seconds. A longer run counts as deadlocked."""

_SHARED_MEMORY = "/dev/shm"
_REFERENCES_HERE = 3
"""Expected references to a returned buffer: the list, the loop variable, and the argument of `getrefcount`."""


@dataclass(frozen=True)
class Report:
    """The result of running a seed.

    Attributes:
        seed: the seed.
        problems: descriptions of violated guarantees; empty if there are none.
        story: the lines of the event log.
        digest: a digest of the event log.
        sent: number of records that the producers sent.
        acknowledged: number of records that the brokers acknowledged.
        virtual_s: the virtual duration, in seconds.
    """

    seed: int
    problems: list[str]
    story: list[str]
    digest: str
    sent: int
    acknowledged: int
    virtual_s: float


class LeakCheck:
    """Finds resources that a run leaves behind: tasks, connections, timers, receive buffers and threads.

    Create it when the run begins.
    """

    def __init__(self) -> None:
        self._threads = set(threading.enumerate())
        self._buffers: list[FrameBuffer] = []

    @contextmanager
    def watch(self) -> Iterator[None]:
        """Record the receive buffers that this thread takes from the pool, and disable the garbage collector."""
        take, here = shared_pool.take, threading.get_ident()

        def recorded(size: int) -> FrameBuffer:
            buffer = take(size)
            if threading.get_ident() == here:  # Clients on other threads are not part of the run.
                self._buffers.append(buffer)
            return buffer

        shared_pool.take = recorded  # type: ignore[method-assign]
        gc.disable()  # its timing depends on earlier runs
        gc.freeze()  # Existing objects are not checked, and would slow down the collection.
        try:
            yield
        finally:
            gc.unfreeze()
            gc.enable()
            shared_pool.take = take  # type: ignore[method-assign]

    async def found(self, loop: SimulatedLoop, in_calm: bool) -> Iterable[str]:
        """Describe the resources left on the loop after the last bytes have arrived, except for the calling task.

        Arguments:
            in_calm: whether there were no failures; if so, every receive buffer must have been returned. After
                failures, the buffers of closed connections may have been dropped.
        """
        for _ in range(5):
            await asyncio.sleep(loop.network.latency_s[1])
        gc.collect()
        here = asyncio.current_task()
        left = [f"the task {task.get_name()} is left" for task in asyncio.all_tasks() if task is not here]
        left += [f"the connection to {link.host} is left" for link in loop.network.links]
        left += [f"the timer {timer!r} is left" for timer in loop.timers() if not _is_of_a_fault(timer)]
        for buffer in self._buffers:
            if buffer._buffer is not None and (in_calm or sys.getrefcount(buffer) > _REFERENCES_HERE):
                left.append(f"a receive buffer of {len(buffer.view)} bytes is left")
        return left

    def threads(self) -> list[str]:
        """Describe the threads that the run has started and that are still running."""
        return [f"the thread {thread.name} is left" for thread in threading.enumerate() if thread not in self._threads]


def _is_of_a_fault(timer: asyncio.TimerHandle) -> bool:
    """Return whether a timer belongs to a response that is delayed by a fault."""
    return "broker.fault_injection" in getattr(timer._callback, "__module__", "")  # type: ignore[attr-defined]


class Simulation:
    """One run of a simulation.

    Arguments:
        loop: the loop on which everything runs.
        seed: the seed.
        data_dir: an empty folder for the brokers' data.
        story: records events.
        leftovers: finds leaks.
    """

    def __init__(self, loop: SimulatedLoop, seed: int, data_dir: Path, story: Story, leftovers: LeakCheck) -> None:
        self._loop = loop
        self._seed = seed
        self._story = story
        self._leftovers = leftovers
        self._rng = loop.random
        self._plan = Plan.draw(self._rng)
        self._groups = [f"group-{number}" for number in range(len(self._plan.groups))]
        self._ledger = Ledger(self._is_calm)
        self._cluster = SimulatedCluster(
            loop, data_dir, self._ledger.commits, auto_create_topics=False, **self._plan.broker
        )
        self._chaos = Chaos(loop.network, self._cluster, self._fork(), story)
        loop.network.segment_bytes = self._plan.segment_bytes
        self._transactions = TransactionTrial(
            self._plan.transactions, self._cluster.bootstrap_servers, self._fork(), self._ledger, story
        )
        self._shares = ShareTrial(
            self._plan.shares,
            self._cluster.bootstrap_servers,
            [topic for topic, _ in self._plan.topics],
            self._fork(),
            self._ledger,
            story,
        )

    async def run(self) -> Report:
        """Run the simulation. Errors in clients are not raised, but appear in the report."""
        self._loop.set_exception_handler(self._unhandled)
        try:
            async with asyncio.timeout(LIMIT_S):
                problems = await self._run()
        except TimeoutError:
            return self.report([f"it did not end within {LIMIT_S:g} virtual seconds"])
        except Exception as error:
            trace = "".join(traceback.format_exception(error))
            return self.report([*self._ledger.found, f"a program of it ended with {error!r}: {trace}"])
        seen = len(self._ledger.found)
        left = await self._leftovers.found(self._loop, in_calm=not self._plan.trouble_s)
        return self.report([*problems, *self._ledger.found[seen:], *left])

    def _is_calm(self) -> bool:
        return self._chaos.is_over()

    def _unhandled(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Record an unhandled exception in a callback or task."""
        error = context.get("exception")
        trace = "".join(traceback.format_exception(error)) if error is not None else ""
        self._ledger.found.append(f"nobody handled: {context.get('message')} {error!r} {trace}")

    async def _run(self) -> list[str]:
        plan, story = self._plan, self._story
        story.tell("simulation", f"seed {self._seed}: {plan}")
        await self._cluster.start_all()
        await self._create_topics()
        producers, members = self._producers(), self._members()
        reading = [asyncio.ensure_future(member.run()) for member in members]
        await self._shares.start()
        await asyncio.gather(
            self._chaos.run(plan.trouble_s), self._transactions.run(), *(producer.run() for producer in producers)
        )
        await self._transactions.check()
        logs = await self._read_logs()
        await self._drain(sum(len(log) for log in logs.values()))
        await self._shares.check(logs)
        await self._stop(members, reading)
        await self._look_at_commits(logs)
        await self._cluster.stop_all()
        return self._ledger.problems(logs, self._groups, idempotent=True)

    def report(self, problems: list[str]) -> Report:
        """Return a report that lists the given problems."""
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

    def _common(self, **options: object) -> dict[str, Any]:
        return {"bootstrap_servers": self._cluster.bootstrap_servers, **options}

    def _producers(self) -> list[ProducerActor]:
        return [
            ProducerActor(
                f"producer-{number}",
                each,
                self._cluster.bootstrap_servers,
                self._plan.topics,
                self._fork(),
                self._ledger,
                self._story,
            )
            for number, each in enumerate(self._plan.producers)
        ]

    def _members(self) -> list[MemberActor]:
        return [
            MemberActor(
                f"member-{group}-{number}",
                f"group-{group}",
                each,
                self._cluster.bootstrap_servers,
                [topic for topic, _ in self._plan.topics],
                self._fork(),
                self._ledger,
                self._story,
            )
            for group, members in enumerate(self._plan.groups)
            for number, each in enumerate(members)
        ]

    async def _create_topics(self) -> None:
        config = parse_admin(self._common())
        client = ClusterClient(config.connection, config.security)
        await client.start()
        topics = [
            CreatableTopic(name=name, num_partitions=partitions, replication_factor=1)
            for name, partitions in [*self._plan.topics, (TOPIC, PARTITIONS)]
        ]
        await client.send_controller(CreateTopicsRequest(topics=topics, timeout_ms=10_000))
        await client.close()

    async def _read_logs(self) -> dict[TopicPartition, list[str]]:
        """Read every partition from its beginning to its end."""
        partitions = [TopicPartition(topic, number) for topic, count in self._plan.topics for number in range(count)]
        logs: dict[TopicPartition, list[str]] = {tp: [] for tp in partitions}
        options = self._common(auto_offset_reset="earliest", client_id="reader")
        async with AsyncKafkaConsumer(**options) as consumer:
            await consumer.assign(partitions)
            ends = await consumer.end_offsets(partitions)
            while any(len(logs[tp]) < ends[tp] for tp in partitions):
                for tp, records in dict(await consumer.poll(timeout_ms=1_000)).items():
                    logs[tp] += [record.value.split(b" ")[0].decode() for record in records]
        return logs

    async def _drain(self, records: int) -> None:
        """Wait until every group has read and committed everything."""
        read, commits = self._ledger.read, self._ledger.commits
        await self._wait_until(lambda: all(len(read[group]) >= records for group in self._groups), DRAIN_S)
        await self._wait_until(lambda: not any(commits.behind()), COMMIT_S)
        self._ledger.found.extend(commits.behind())

    async def _wait_until(self, condition: Callable[[], bool], seconds: float) -> None:
        end = self._loop.time() + seconds
        while self._loop.time() < end and not condition():
            await asyncio.sleep(1.0)

    async def _stop(self, members: list[MemberActor], reading: list[asyncio.Task[None]]) -> None:
        """Stop the members, either together or one after the other."""
        together = self._rng.random() < 0.5
        for member, task in zip(members, reading, strict=True):
            member.stop()
            if not together:
                await task
        await asyncio.gather(*reading)

    async def _look_at_commits(self, partitions: Iterable[TopicPartition]) -> None:
        """Fetch committed offsets with a client, and check them."""
        found: dict[GroupPartition, int] = {}
        for group in self._groups:
            options = self._common(group_id=group, client_id="reader", enable_auto_commit=False)
            async with AsyncKafkaConsumer(**options) as consumer:
                for tp in partitions:
                    committed = await consumer.committed(tp)
                    if committed is not None:
                        found[group, tp] = committed.offset
        self._ledger.commits.stored("at the end", found)


def _memory_folder() -> str | None:
    """Return a folder in memory if the system has one, as simulated brokers need no real disk."""
    return _SHARED_MEMORY if os.access(_SHARED_MEMORY, os.W_OK | os.X_OK) else None


def run_seed(seed: int, echo: bool = False) -> Report:
    """Run the simulation for one seed.

    Arguments:
        echo: whether to print the event log during the run.
    """
    leftovers = LeakCheck()
    with tempfile.TemporaryDirectory(prefix="kafka-simulation-", dir=_memory_folder()) as folder:
        loop = SimulatedLoop(seed)
        story = Story(loop, echo)
        with _logging_to(story), leftovers.watch(), asyncio.Runner(loop_factory=lambda: loop) as runner:
            simulation = Simulation(loop, seed, Path(folder), story, leftovers)
            try:
                report = runner.run(simulation.run())
            except SimulationStuckError as stuck:
                report = simulation.report([str(stuck)])
    report.problems.extend(leftovers.threads())
    return report


@contextmanager
def _logging_to(story: Story) -> Iterator[None]:
    """Send the package's log only to the story, as other handlers might keep tracebacks and thus objects alive."""
    logger = logging.getLogger("kafka")
    level, propagates = logger.level, logger.propagate
    logger.addHandler(story)
    logger.setLevel(logging.INFO)
    logger.propagate = False
    try:
        yield
    finally:
        logger.removeHandler(story)
        logger.setLevel(level)
        logger.propagate = propagates


_SERVER = "forkserver"


def reports(seeds: Sequence[int], jobs: int, told: bool = False) -> Iterator[Report]:
    """Run seeds, and yield their reports in the order of the seeds, without the event logs.

    Arguments:
        seeds: the seeds.
        jobs: number of seeds that run in parallel.
        told: whether to print the event logs during the runs.
    """
    if _SERVER in multiprocessing.get_all_start_methods():
        context = multiprocessing.get_context(_SERVER)
        context.set_forkserver_preload([Report.__module__])
    else:
        context = multiprocessing.get_context("spawn")
    with context.Pool(min(jobs, len(seeds)), _leave_interrupts_alone, maxtasksperchild=1) as pool:
        yield from pool.imap(functools.partial(_report, told=told), seeds)


def _leave_interrupts_alone() -> None:
    """Ignore Ctrl-C, which reaches every process in a terminal. The main process stops the others."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _report(seed: int, told: bool) -> Report:
    """Run a seed, and return the report without the event log, which is printed if `told`."""
    report = run_seed(seed, told)
    sys.stdout.flush()
    return dataclasses.replace(report, story=[])
