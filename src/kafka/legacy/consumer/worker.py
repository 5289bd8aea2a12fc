"""A process of a `MultiProcessConsumer`: hands its partitions' messages over, as many as it is allowed to."""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
import warnings
from collections.abc import Sequence
from multiprocessing.connection import Connection
from typing import Any

from kafka.errors import KafkaError
from kafka.legacy.consumer.base import MAX_BACKOFF_SECONDS
from kafka.legacy.consumer.simple import SimpleConsumer

log = logging.getLogger("kafka.consumer")

Handed = list[tuple[int, int, bytes | None, bytes | None]]
"""What goes to the parent: partition, offset, key and value of each message."""

_WAIT_S = 1.0
_PARENT_CHECK_S = 0.5


class _Allowance:
    """How many messages the parent still wants; each number that comes through the pipe adds to it.

    Ends the process with its parent: when the pipe is closed, or, where another child has inherited the parent's end,
    when the parent is no longer the one that it was.
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
        """Give the number, once there is one."""
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
    """Run in the process until the parent ends or closes its end of the pipe. Nothing is committed here.

    Arguments:
        client: a client of this process's own.
        inherited: the parent's ends of pipes, which a fork has copied.
        parent: the id of its process.
        options: of the `SimpleConsumer`.
    """
    for each in inherited:
        each.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's affair
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    allowance = _Allowance(pipe, parent)
    handed: dict[int, int] = {}
    pause_s = 1.0
    while True:
        try:
            reader = _reader(client, group, topic, options)
            for partition, offset in handed.items():  # the group's offsets are behind what the parent has already
                reader.seek(offset, None, partition)
            _hand_over(reader, pipe, allowance, handed)
        except OSError:
            return  # nobody reads the pipe any more
        except KafkaError as error:
            log.error("Problem communicating with Kafka (%s), retrying in %d seconds...", error, pause_s)
            time.sleep(pause_s)
            pause_s = min(pause_s * 2, MAX_BACKOFF_SECONDS)


def _reader(client: Any, group: str | None, topic: str, options: dict[str, Any]) -> SimpleConsumer:
    """A consumer that commits nothing, of which nobody needs to be warned."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return SimpleConsumer(
            client, group, topic, auto_commit=False, auto_commit_every_n=None, auto_commit_every_t=None, **options
        )


def _hand_over(
    consumer: SimpleConsumer, pipe: Connection[Handed, int], allowance: _Allowance, handed: dict[int, int]
) -> None:
    """Read and hand over; `handed` gets the offsets behind what the parent has."""
    consumer.provide_partition_info()
    started = False
    while True:
        found = consumer.get_messages(allowance.wait(), block=1, timeout=_WAIT_S)
        if found or not started:  # the parent learns that this process has looked
            pipe.send([(partition, each.offset, each.message.key, each.message.value) for partition, each in found])
            allowance.change(-len(found))
            handed.update(consumer.offsets)
            started = True
