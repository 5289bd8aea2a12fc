"""`MultiProcessConsumer` and its processes, each of which fetches messages and sends them to the parent on request."""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
import os
import signal
import threading
import time
import warnings
from collections import deque
from collections.abc import Iterator, Sequence
from multiprocessing import connection
from multiprocessing.connection import Connection
from typing import Any

from kafka.errors import KafkaError
from kafka.legacy.consumer.consumer_base import (
    AUTO_COMMIT_INTERVAL,
    AUTO_COMMIT_MSG_COUNT,
    MAX_BACKOFF_SECONDS,
    Consumer,
)
from kafka.legacy.consumer.simple import SimpleConsumer
from kafka.legacy.payloads import OffsetAndMessage
from kafka.legacy.simple.apis import message_of

log = logging.getLogger("kafka.consumer")


Handed = list[tuple[int, int, bytes | None, bytes | None]]
"""Messages for the parent: partition, offset, key and value of each."""

_WAIT_S = 1.0
_PARENT_CHECK_S = 0.5


class _Allowance:
    """The number of messages that the parent still wants. Each number received from the pipe is added to it.

    This object ends the process when the parent ends, which closes the pipe. The pipe stays open if another child has
    inherited the parent's end of it; therefore, the parent's process id is checked too.
    """

    def __init__(self, pipe: Connection[Handed, int], parent: int) -> None:
        self._left = 0
        self._changed = threading.Condition()
        threading.Thread(target=self._listen, args=(pipe, parent), name="kafka-allowance", daemon=True).start()

    def _listen(self, pipe: Connection[Handed, int], parent: int) -> None:
        try:
            while True:
                if os.getppid() != parent:
                    break
                if pipe.poll(_PARENT_CHECK_S):
                    self.change(pipe.recv())
        finally:
            os._exit(0)

    def change(self, number: int) -> None:
        with self._changed:
            self._left += number
            self._changed.notify()

    def wait(self) -> int:
        """Wait until the number is positive, and return it."""
        with self._changed:
            self._changed.wait_for(lambda: self._left > 0)
            return self._left


def work(
    client: Any,
    group: str | None,
    topic: str,
    pipe: Connection[Handed, int],
    inherited: Sequence[Connection[int, Handed]],
    parent: int,
    options: dict[str, Any],
) -> None:
    """Fetch messages for the parent until the parent ends or closes its end of the pipe; do not commit offsets.

    Arguments:
        client: a client that only this process uses.
        inherited: the parent's ends of pipes, copied by a fork.
        parent: the parent's process id.
        options: options for the `SimpleConsumer`.
    """
    for each in inherited:
        each.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    allowance = _Allowance(pipe, parent)
    handed: dict[int, int] = {}
    pause_s = 1.0
    while True:
        try:
            reader = _reader(client, group, topic, options)
            for partition, offset in handed.items():  # the parent may already have later messages
                reader.seek(offset, None, partition)
            _hand_over(reader, pipe, allowance, handed)
        except OSError:
            return  # the reader has closed the pipe
        except KafkaError as error:
            log.error("Problem communicating with Kafka (%s), retrying in %d seconds...", error, pause_s)
            time.sleep(pause_s)
            pause_s = min(pause_s * 2, MAX_BACKOFF_SECONDS)


def _reader(client: Any, group: str | None, topic: str, options: dict[str, Any]) -> SimpleConsumer:
    """Create a consumer that does not commit, without a `DeprecationWarning`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return SimpleConsumer(
            client, group, topic, auto_commit=False, auto_commit_every_n=None, auto_commit_every_t=None, **options
        )


def _hand_over(
    consumer: SimpleConsumer, pipe: Connection[Handed, int], allowance: _Allowance, handed: dict[int, int]
) -> None:
    """Fetch messages, send them to the parent, and store the next offset of each partition in `handed`."""
    consumer.provide_partition_info()
    started = False
    while True:
        found = consumer.get_messages(allowance.wait(), block=1, timeout=_WAIT_S)
        if found or not started:  # also tells the parent that this process has looked for messages
            pipe.send([(partition, each.offset, each.message.key, each.message.value) for partition, each in found])
            allowance.change(-len(found))
            handed.update(consumer.offsets)
            started = True


_AHEAD = 1024
"""Number of messages that each process may fetch ahead during iteration."""
_ITERATION_WAIT_S = 1.0
_START_S = 30.0
_STOP_S = 5.0


class _Worker:
    """A process, and the parent's end of its pipe.

    Attributes:
        allowed: number of messages that the process may still send.
        started: whether the process has looked for messages.
    """

    def __init__(self, process: Any, pipe: Connection[int, Handed]) -> None:
        self.process = process
        self.pipe = pipe
        self.allowed = 0
        self.started = False

    def allow(self, count: int) -> None:
        """Allow the process to send up to this many messages."""
        more = min(count, _AHEAD) - self.allowed
        if more > 0:
            with contextlib.suppress(OSError):  # _receive() notices if the process has ended
                self.pipe.send(more)
                self.allowed += more


class MultiProcessConsumer(Consumer):
    """Reads a topic's partitions in several processes, with a `SimpleConsumer` each.

    The processes only read; this process commits the offsets of the messages that it has returned. The processes end
    with `stop()`, and when this process ends for any reason.

    Arguments:
        client, group, topic, partitions, auto_commit, auto_commit_every_n, auto_commit_every_t: see `Consumer`.
        num_procs: number of processes that share the partitions.
        partitions_per_proc: maximum number of partitions per process; overrides `num_procs` unless it is 0.
        simple_consumer_options: options for each `SimpleConsumer`.

    Attributes:
        procs: the processes, as `multiprocessing` objects.
    """

    def __init__(
        self,
        client: Any,
        group: str | bytes | None,
        topic: str | bytes,
        partitions: Sequence[int] | None = None,
        auto_commit: bool = True,
        auto_commit_every_n: int | None = AUTO_COMMIT_MSG_COUNT,
        auto_commit_every_t: float | None = AUTO_COMMIT_INTERVAL,
        num_procs: int = 1,
        partitions_per_proc: int = 0,
        **simple_consumer_options: Any,
    ) -> None:
        super().__init__(client, group, topic, partitions, auto_commit, auto_commit_every_n, auto_commit_every_t)
        self._received: deque[tuple[int, OffsetAndMessage]] = deque()
        chosen = list(self.offsets)
        if partitions_per_proc:
            num_procs = -(-len(chosen) // partitions_per_proc)
        simple_consumer_options.pop("partitions", None)
        self._workers: list[_Worker] = []
        for number in range(min(num_procs, len(chosen))):
            self._workers.append(self._start({"partitions": chosen[number::num_procs], **simple_consumer_options}))
        self.procs = [worker.process for worker in self._workers]

    def __repr__(self) -> str:
        return f"<MultiProcessConsumer group={self.group}, topic={self.topic}, consumers={len(self.procs)}>"

    def _start(self, options: dict[str, Any]) -> _Worker:
        """Start a process, by forking if possible: old programs do not expect their main module to be reimported."""
        forks = "fork" in multiprocessing.get_all_start_methods()
        context: Any = multiprocessing.get_context("fork" if forks else "spawn")
        ours, theirs = context.Pipe()
        inherited = [worker.pipe for worker in self._workers] + [ours] if forks else []
        arguments = (self.client.copy(), self.group, self.topic, theirs, inherited, os.getpid(), options)
        process = context.Process(target=work, args=arguments, name="kafka-consumer", daemon=True)
        with warnings.catch_warnings():  # the client's loop supports forks
            warnings.filterwarnings("ignore", ".*use of fork", DeprecationWarning)
            process.start()
        theirs.close()
        return _Worker(process, ours)

    def stop(self) -> None:
        """Stop the processes, and commit as `SimpleConsumer.stop` does."""
        if os.getpid() != self._pid:
            return  # a forked child: the processes belong to the parent
        for worker in self._workers:
            worker.pipe.close()
        self._workers = []
        for process in self.procs:
            process.join(_STOP_S)
            if process.is_alive():
                process.kill()
                process.join()
        super().stop()

    def __iter__(self) -> Iterator[Any]:
        """Iterate over messages until none has arrived for a second."""
        deadline = time.monotonic() + _START_S
        while True:
            if not self._received:
                self._allow(_AHEAD)
                if not self._receive(_ITERATION_WAIT_S):
                    if all(worker.started for worker in self._workers) or time.monotonic() > deadline:
                        return
                    continue
            got = self._received.popleft()
            self._hand_out([got], self._received.extendleft)
            yield got[1]

    def get_messages(self, count: int = 1, block: bool | int = True, timeout: float | None = 10) -> list[Any]:
        """Return up to `count` messages.

        Arguments:
            block: whether to wait for all of them; a number: wait for that many.
            timeout: maximum time to wait in seconds; None: forever.

        Raises `KafkaError` if all processes have ended and all their messages have been returned.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        found: list[tuple[int, OffsetAndMessage]] = []
        try:
            self._gather(found, count, block, deadline)
        except KafkaError:
            if not found:
                raise
        except BaseException:
            self._received.extendleft(reversed(found))
            raise
        self._hand_out(found, self._received.extendleft)
        return list(found) if self.partition_info else [message for _, message in found]

    def _gather(
        self, found: list[tuple[int, OffsetAndMessage]], count: int, block: bool | int, deadline: float | None
    ) -> None:
        """Add messages to `found` until it contains `count`. If this is interrupted, `found` is still consistent."""
        while len(found) < count:
            if not self._received:
                self._allow(count - len(found))
                wait = block is True or block > len(found)
                left = 0.0 if not wait else None if deadline is None else max(0.0, deadline - time.monotonic())
                if not self._receive(left):
                    return
            found.append(self._received.popleft())

    def _allow(self, count: int) -> None:
        for worker in self._workers:
            worker.allow(count)

    def _receive(self, timeout_s: float | None) -> bool:
        """Wait until a process has sent messages. Return False on a timeout."""
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        while not self._received:
            if not self._workers and self.procs:
                raise KafkaError("all processes of this consumer have ended: create a new one")
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            ready = connection.wait([worker.pipe for worker in self._workers], left)
            for worker in [each for each in self._workers if each.pipe in ready]:
                self._take_from(worker)
            if not ready:
                return False
        return True

    def _take_from(self, worker: _Worker) -> None:
        try:
            handed = worker.pipe.recv()
            self._received.extend(
                [
                    (partition, OffsetAndMessage(offset, message_of(key, value)))
                    for partition, offset, key, value in handed
                ]
            )
        except (EOFError, OSError):
            self._let_go(worker)
            worker.process.join(_STOP_S)
            log.error("process %s of %r has ended with exit code %s", worker.process.pid, self, worker.process.exitcode)
            return
        except BaseException:  # some messages may be lost, so later ones must not be returned
            self._let_go(worker)
            log.error("stopping process %s of %r: receiving its messages was interrupted", worker.process.pid, self)
            raise
        worker.started = True
        worker.allowed -= len(handed)

    def _let_go(self, worker: _Worker) -> None:
        """Make a process end by closing its pipe."""
        self._workers.remove(worker)
        worker.pipe.close()
