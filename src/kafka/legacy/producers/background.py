"""The thread of a producer that sends in the background: takes batches from a queue, sends them and retries them."""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import queue
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from kafka.errors import (
    RETRY_BACKOFF_ERROR_TYPES,
    RETRY_ERROR_TYPES,
    RETRY_REFRESH_ERROR_TYPES,
    AsyncProducerQueueFull,
    FailedPayloadsError,
    ForkedClientError,
    IllegalStateError,
    KafkaError,
    RequestTimedOutError,
    for_code,
)
from kafka.legacy.payloads import ProduceRequestPayload
from kafka.legacy.protocol.message_sets import create_message_set
from kafka.net import interruptible
from kafka.structs import RetryOptions, TopicPartition

log = logging.getLogger("kafka.producer")

_ROOM_LOOK_S = 0.1
"""Interval in seconds at which a caller that waits for space in the queue checks whether the producer was stopped."""
Entry = tuple[TopicPartition, bytes | None, bytes | None]
"""A message: its partition, value and key."""


class BackgroundOptions(NamedTuple):
    """Settings for sending in the background; times are in seconds.

    Attributes:
        acks, ack_timeout_ms: arguments of `SimpleClient.send_produce_request`.
        codec, compresslevel: arguments of `create_message_set`.
        batch_size: maximum number of messages to send at once.
        batch_time: time that a message waits for others.
        retries: which errors to retry, the pauses, and the number of retries.
        queue_size: maximum number of waiting messages; 0: no limit.
        put_timeout: time to wait for space in the queue; None: no limit.
        log_messages: whether failed messages are logged in full; False: only their hash is logged.
        stop_timeout: time to continue sending after `stop`.
    """

    acks: int
    ack_timeout_ms: int
    codec: int
    compresslevel: int | None
    batch_size: int
    batch_time: float
    retries: RetryOptions
    queue_size: int
    put_timeout: float | None
    log_messages: bool
    stop_timeout: float


class BackgroundSender:
    """Sends in a daemon thread until `stop` is called or the process exits; both first try to send the queued messages.

    Retried messages are sent before newer ones, to preserve the order within a partition.

    Arguments:
        client: a client that only this thread uses.
    """

    def __init__(self, client: Any, options: BackgroundOptions) -> None:
        self._client = client
        self._options = options
        self._stop_at = float("inf")
        self._pid = os.getpid()
        self._putting = threading.RLock()  # a signal handler may call `stop` in the thread that holds the lock
        self._batches: dict[ProduceRequestPayload, int] = {}
        self.queue = MessageQueue(options.queue_size)
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self._run, name="kafka-simple-producer", daemon=True)
        self.thread.start()
        atexit.register(self.stop)

    def put(self, place: TopicPartition, messages: Sequence[bytes | None], key: bytes | None) -> None:
        """Add messages to the queue.

        Raises `AsyncProducerQueueFull`, which contains the messages that did not fit; `IllegalStateError` after `stop`,
        even if `stop` is called during the wait; and `ForkedClientError` in a forked child.
        """
        timeout_s = self._options.put_timeout
        for number, message in enumerate(messages):
            deadline = float("inf") if timeout_s is None else time.monotonic() + timeout_s
            while not self._put_now((place, message, key)):
                left_s = deadline - time.monotonic()
                if left_s <= 0:
                    raise AsyncProducerQueueFull(
                        messages[number:],
                        f"Producer async queue overfilled. Current queue size {self.queue.qsize()}.",
                    )
                self.queue.wait_for_room(min(left_s, _ROOM_LOOK_S))

    def _put_now(self, entry: Entry) -> bool:
        """Add a message to the queue; return False if it is full. Callers wait for space without holding the lock."""
        if self._pid != os.getpid():
            raise ForkedClientError("the producer was created before the process forked; create a new one in the child")
        with self._putting:  # ensures that nothing is added after the thread's last check
            if self.stopping.is_set() or not self.thread.is_alive():
                raise _stopped()
            if self.queue.full():
                return False
            self.queue.put(entry)
            # Between the check above and now, a signal handler may have called stop(), and the thread may have ended.
            if self.stopping.is_set() and any(each is entry for each in self._waiting()):
                raise _stopped()
            return True

    def begin_to_stop(self) -> None:
        """Make the thread end once it has sent the messages in the queue. Has no effect in a forked child."""
        if self._pid != os.getpid():
            return
        with self._putting:
            self._stop_at = min(self._stop_at, time.monotonic() + self._options.stop_timeout)
            self.stopping.set()
        self.queue.put(None)  # wakes the thread

    def stop(self) -> None:
        """Call `begin_to_stop`, and wait until the thread ends."""
        self.begin_to_stop()
        if self._pid == os.getpid():
            self.thread.join()

    # In the thread

    def _run(self) -> None:
        self._connect()
        while not self._is_finished():
            if not self._batches:
                self._collect()
            if self._batches:
                self._send()
        unsent = sum(len(batch.messages) for batch in self._batches) + sum(1 for _ in self._waiting())
        if unsent:
            log.error("Stopped producer with %d unsent messages", unsent)
        self._client.close()
        atexit.unregister(self.stop)

    def _connect(self) -> None:
        while not self.stopping.is_set():
            try:
                self._client.reinit()
            except Exception as error:
                log.warning("Async producer failed to connect to brokers, retrying: %s", error)
                self._pause()
            else:
                return

    def _is_finished(self) -> bool:
        if not self.stopping.is_set():
            return False
        return time.monotonic() > self._stop_at or (not self._batches and self.queue.empty())

    def _pause(self) -> None:
        pause_s = self._options.retries.backoff_ms / 1000
        if self.stopping.is_set():
            time.sleep(pause_s)
        else:
            self.stopping.wait(pause_s)

    def _waiting(self) -> Iterator[Entry]:
        """Remove and yield the messages in the queue."""
        while True:
            try:
                entry = self.queue.get_nowait()
            except queue.Empty:
                return
            self.queue.tell_room()
            if entry is not None:
                yield entry

    def _collect(self) -> None:
        """Take messages from the queue until a batch is full or its time has passed."""
        by_place: dict[TopicPartition, list[Any]] = defaultdict(list)
        deadline: float | None = None
        for _ in range(self._options.batch_size):
            wait_s = None if deadline is None else max(0.0, deadline - time.monotonic())
            try:
                entry = self.queue.get(not self.stopping.is_set(), wait_s)
            except queue.Empty:
                break
            self.queue.tell_room()
            if entry is None:  # added by stop() to wake the thread
                continue
            place, message, key = entry
            by_place[place].append((message, key))
            if deadline is None:
                deadline = time.monotonic() + self._options.batch_time
        for place, pairs in by_place.items():
            key = pairs[-1][1]
            try:
                messages = create_message_set(pairs, self._options.codec, key, self._options.compresslevel)
            except Exception:  # an error of a codec's library, or too little memory: continue with later messages
                log.exception("%d messages to %s:%d could not be encoded, and were dropped", len(pairs), *place)
                continue
            self._batches[ProduceRequestPayload(*place, tuple(messages))] = 0  # type: ignore[arg-type]  # as it was

    def _send(self) -> None:
        """Send the batches, and keep those to be retried."""
        batches = list(self._batches)
        failed = self._failures(batches)
        for number, batch in enumerate(batches):
            if batch in failed:
                messages: Any = batch.messages if self._options.log_messages else hash(batch.messages)
                error = failed[batch].__name__
                place = (number + 1, len(batches), batch.topic, batch.partition)
                log.error("%s sending ProduceRequestPayload (#%d of %d) to %s:%d with msgs %s", error, *place, messages)
        limit = self._options.retries.limit
        self._batches = {
            batch: tries + 1
            for batch, tries in self._batches.items()
            if batch in failed and self._is_retriable(failed[batch]) and (limit is None or tries < limit)
        }
        if not self._batches:
            return
        again = [failed[batch] for batch in self._batches]
        if any(issubclass(error, (*RETRY_BACKOFF_ERROR_TYPES, RequestTimedOutError)) for error in again):
            self._pause()
        if any(issubclass(error, RETRY_REFRESH_ERROR_TYPES) for error in again):
            self._refresh()

    def _failures(self, batches: list[ProduceRequestPayload]) -> dict[ProduceRequestPayload, type[Exception]]:
        """Send batches, and return the errors of those that the brokers did not write."""
        options = self._options
        try:
            answers = self._client.send_produce_request(
                batches, acks=options.acks, timeout=options.ack_timeout_ms, fail_on_error=False
            )
        except Exception as error:
            if len(batches) > 1:  # the error may concern only one of them, for example an unauthorized topic
                return {batch: why for each in batches for batch, why in self._failures([each]).items()}
            log.warning("Async producer could not send: %s", error, exc_info=not isinstance(error, KafkaError))
            return {batches[0]: type(error)}
        failed: dict[ProduceRequestPayload, type[Exception]] = {}
        places = {(batch.topic, batch.partition): batch for batch in batches}
        for answer in answers:
            if isinstance(answer, FailedPayloadsError):
                payload: Any = answer.payload
                failed[places[payload.topic, payload.partition]] = type(answer)
            elif answer.error:
                failed[places[answer.topic, answer.partition]] = for_code(answer.error)
        return failed

    def _is_retriable(self, error: type[Exception]) -> bool:
        if issubclass(error, RequestTimedOutError):
            return self._options.retries.retry_on_timeouts
        return issubclass(error, RETRY_ERROR_TYPES)

    def _refresh(self) -> None:
        try:
            self._client.load_metadata_for_topics()
        except Exception:
            log.exception("Async producer couldn't reload topic metadata.")


def _stopped() -> IllegalStateError:
    return IllegalStateError("the producer is stopped")


class MessageQueue(queue.SimpleQueue[Any]):
    """A bounded queue whose operations are atomic, without a lock held by Python code.

    Signal handlers and finalizers may therefore add entries at any point. With a `queue.Queue`, they could wait for a
    lock that their own thread holds.

    Arguments:
        maxsize: number of entries at which the queue is full; 0: no limit.
    """

    def __init__(self, maxsize: int) -> None:
        self.maxsize = maxsize
        self._room = threading.Lock()
        self._room.acquire()

    def full(self) -> bool:
        """Return whether the queue is full."""
        return 0 < self.maxsize <= self.qsize()

    def tell_room(self) -> None:
        """Wake callers that wait for space, because an entry has been removed."""
        if self._room.locked():
            with contextlib.suppress(RuntimeError):  # another thread has already done so
                self._room.release()

    def wait_for_room(self, timeout_s: float) -> None:
        """Wait up to `timeout_s` seconds until an entry is removed."""
        interruptible.acquire(self._room, timeout_s)
