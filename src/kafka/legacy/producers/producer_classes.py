"""`Producer`, and its subclasses `SimpleProducer` and `KeyedProducer`, the producers of 0.9 to 1.4."""

from __future__ import annotations

import contextlib
import itertools
import logging
import random
from collections.abc import Iterator
from typing import Any, ClassVar

from kafka.errors import UnsupportedCodecError
from kafka.legacy.deprecation import warn_deprecated
from kafka.legacy.partitioners import HashedPartitioner, Partitioner
from kafka.legacy.payloads import ProduceRequestPayload
from kafka.legacy.producers.background import BackgroundOptions, BackgroundSender
from kafka.legacy.protocol.message_sets import ALL_CODECS, CODEC_NONE, create_message_set
from kafka.structs import RetryOptions, TopicPartition

log = logging.getLogger("kafka.producer")

BATCH_SEND_DEFAULT_INTERVAL = 20
BATCH_SEND_MSG_COUNT = 20
ASYNC_QUEUE_MAXSIZE = 0
ASYNC_QUEUE_PUT_TIMEOUT = 0
ASYNC_RETRY_LIMIT = None
ASYNC_RETRY_BACKOFF_MS = 100
ASYNC_RETRY_ON_TIMEOUTS = True
ASYNC_LOG_MESSAGES_ON_ERROR = True
ASYNC_STOP_TIMEOUT_SECS = 30
STOP_ASYNC_PRODUCER = -1
SYNC_FAIL_ON_ERROR_DEFAULT = True


class Producer:
    """Sends messages to partitions chosen by the caller, immediately or in the background.

    Arguments:
        client: a `SimpleClient`; a background thread uses its own copy.
        req_acks: number of required acknowledgements; see `SimpleClient.send_produce_request`.
        ack_timeout: maximum time that a broker waits for the acknowledgements, in milliseconds.
        codec: `CODEC_GZIP`, `CODEC_SNAPPY` or `CODEC_NONE`.
        codec_compresslevel: the gzip compression level.
        sync_fail_on_error: True: raise errors; False: return errors in the responses.
        async_send: whether to send in the background; ``async`` in `kwargs` and ``batch_send`` mean the same.
        batch_send_every_n: maximum number of messages to send at once in the background.
        batch_send_every_t: time in seconds that a message waits for others.
        async_retry_limit: maximum number of retries; None: no limit.
        async_retry_backoff_ms: the pause before a retry.
        async_retry_on_timeouts: whether to retry messages that `req_acks` brokers did not receive in time.
        async_queue_maxsize: maximum number of waiting messages; 0: no limit.
        async_queue_put_timeout: seconds to wait while the queue is full; 0: do not wait; None: no limit.
        async_log_messages_on_error: False: log only hashes of messages that could not be sent.
        async_stop_timeout: seconds for which `stop` continues sending.

    Raises `UnsupportedCodecError` for any other codec.
    """

    ACK_NOT_REQUIRED: ClassVar[int] = 0
    ACK_AFTER_LOCAL_WRITE: ClassVar[int] = 1
    ACK_AFTER_CLUSTER_COMMIT: ClassVar[int] = -1
    DEFAULT_ACK_TIMEOUT: ClassVar[int] = 1000

    def __init__(
        self,
        client: Any,
        req_acks: int = ACK_AFTER_LOCAL_WRITE,
        ack_timeout: int = DEFAULT_ACK_TIMEOUT,
        codec: int | None = None,
        codec_compresslevel: int | None = None,
        sync_fail_on_error: bool = SYNC_FAIL_ON_ERROR_DEFAULT,
        async_send: bool = False,
        batch_send: bool = False,
        batch_send_every_n: int = BATCH_SEND_MSG_COUNT,
        batch_send_every_t: float = BATCH_SEND_DEFAULT_INTERVAL,
        async_retry_limit: int | None = ASYNC_RETRY_LIMIT,
        async_retry_backoff_ms: int = ASYNC_RETRY_BACKOFF_MS,
        async_retry_on_timeouts: bool = ASYNC_RETRY_ON_TIMEOUTS,
        async_queue_maxsize: int = ASYNC_QUEUE_MAXSIZE,
        async_queue_put_timeout: float | None = ASYNC_QUEUE_PUT_TIMEOUT,
        async_log_messages_on_error: bool = ASYNC_LOG_MESSAGES_ON_ERROR,
        async_stop_timeout: float = ASYNC_STOP_TIMEOUT_SECS,
        **kwargs: Any,
    ) -> None:
        name = type(self).__name__
        warn_deprecated(f"{name} is deprecated: use kafka.KafkaProducer")
        self._background: BackgroundSender | None = None
        self.stopped = False
        async_send = kwargs.pop("async", async_send) or batch_send
        if kwargs:
            raise TypeError(f"{name}() got an unexpected keyword argument {next(iter(kwargs))!r}")
        if codec is not None and codec not in ALL_CODECS:
            raise UnsupportedCodecError(f"Codec 0x{codec:02x} unsupported")
        self.client = client
        self.req_acks = req_acks
        self.ack_timeout = ack_timeout
        self.codec = CODEC_NONE if codec is None else codec
        self.codec_compresslevel = codec_compresslevel
        self.sync_fail_on_error = sync_fail_on_error
        self.async_send = async_send
        vars(self)["async"] = async_send  # the attribute's old name, now a keyword
        if not async_send:
            return
        if batch_send_every_n <= 0 or batch_send_every_t <= 0 or async_queue_maxsize < 0:
            raise AssertionError("batch_send_every_n and batch_send_every_t must be > 0, async_queue_maxsize >= 0")
        self._background = BackgroundSender(
            client.copy(),
            BackgroundOptions(
                acks=req_acks,
                ack_timeout_ms=ack_timeout,
                codec=self.codec,
                compresslevel=codec_compresslevel,
                batch_size=batch_send_every_n,
                batch_time=batch_send_every_t,
                retries=RetryOptions(async_retry_limit, async_retry_backoff_ms, async_retry_on_timeouts),
                queue_size=async_queue_maxsize,
                put_timeout=async_queue_put_timeout,
                log_messages=async_log_messages_on_error,
                stop_timeout=async_stop_timeout,
            ),
        )
        self.queue = self._background.queue
        self.thread = self._background.thread
        self.thread_stop_event = self._background.stopping

    def send_messages(self, topic: str, partition: int, *msg: bytes | None) -> list[Any]:
        """Send messages without a key.

        Returns the broker's responses, or an empty list in the background. Raises `TypeError` for messages that are not
        bytes, the errors of `SimpleClient.send_produce_request`, and `AsyncProducerQueueFull` in the background.
        """
        return self._send_messages(topic, partition, *msg)

    def _send_messages(self, topic: str, partition: int, *msg: bytes | None, key: bytes | None = None) -> list[Any]:
        """Send messages with a key, like `send_messages`."""
        for message in msg:
            if message is None and key is None:
                raise TypeError("key and payload can't be null in one")
            if message is not None and not isinstance(message, bytes):
                raise TypeError("all produce message payloads must be null or type bytes")
        if key is not None and not isinstance(key, bytes):
            raise TypeError("the key must be type bytes")
        if self._background is not None:
            self._background.put(TopicPartition(topic, partition), msg, key)
            return []
        messages = create_message_set([(m, key) for m in msg], self.codec, key, self.codec_compresslevel)
        try:
            answers: list[Any] = self.client.send_produce_request(
                [ProduceRequestPayload(topic, partition, messages)],
                acks=self.req_acks,
                timeout=self.ack_timeout,
                fail_on_error=self.sync_fail_on_error,
            )
        except Exception:
            log.exception("Unable to send messages")
            raise
        return answers

    def stop(self, timeout: float | None = None) -> None:
        """Stop sending in the background once all messages are sent or ``async_stop_timeout`` has passed.

        Arguments:
            timeout: accepted for compatibility, without effect.
        """
        if timeout is not None:
            log.warning("timeout argument to stop() is deprecated - it has no effect")
        if self._background is None:
            log.warning("producer.stop() called, but producer is not async")
        elif self.stopped:
            log.warning("producer.stop() called, but producer is already stopped")
        else:
            self._background.stop()
            self.stopped = True

    def __del__(self) -> None:
        background = getattr(self, "_background", None)
        if background is not None and not self.stopped:
            with contextlib.suppress(Exception):  # the interpreter may be shutting down
                background.begin_to_stop()  # does not wait: this may run in the loop's thread, which is needed to send


class SimpleProducer(Producer):
    """Sends the messages of each call to the topic's next partition.

    Arguments: those of `Producer`, and:
        random_start: whether to start with a random partition of a topic instead of partition 0.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.partition_cycles: dict[Any, Iterator[int]] = {}
        self.random_start = kwargs.pop("random_start", True)
        super().__init__(*args, **kwargs)

    def _next_partition(self, topic: Any) -> int:
        if topic not in self.partition_cycles:
            if not self.client.has_metadata_for_topic(topic):
                self.client.ensure_topic_exists(topic)
            partitions = self.client.get_partition_ids_for_topic(topic)
            first = random.randrange(len(partitions)) if self.random_start else 0
            self.partition_cycles[topic] = itertools.cycle(partitions[first:] + partitions[:first])
        return next(self.partition_cycles[topic])

    def send_messages(self, topic: str, *msg: bytes | None) -> list[Any]:  # type: ignore[override]  # as it was
        """Send messages to the next partition; see `Producer.send_messages`."""
        return super().send_messages(topic, self._next_partition(topic), *msg)

    def __repr__(self) -> str:
        return f"<SimpleProducer batch={self.async_send}>"


class _Hashed(HashedPartitioner):
    """A `HashedPartitioner` that issues no deprecation warning, because the producer has already issued one."""

    def __init__(self, partitions: Any) -> None:
        Partitioner.__init__(self, partitions)


class KeyedProducer(Producer):
    """Sends messages to partitions that a partitioner chooses by key.

    Arguments: those of `Producer`, and:
        partitioner: a class that is created with the partitions of a topic, and has `partition(key)`.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.partitioner_class = kwargs.pop("partitioner", None) or HashedPartitioner
        self.partitioners: dict[Any, Any] = {}
        super().__init__(*args, **kwargs)

    def _next_partition(self, topic: Any, key: Any) -> int:
        if topic not in self.partitioners:
            if not self.client.has_metadata_for_topic(topic):
                self.client.load_metadata_for_topics(topic, ignore_leadernotavailable=True)
            made_by = _Hashed if self.partitioner_class is HashedPartitioner else self.partitioner_class
            self.partitioners[topic] = made_by(self.client.get_partition_ids_for_topic(topic))
        partition: int = self.partitioners[topic].partition(key)
        return partition

    def send_messages(self, topic: str, key: Any, *msg: bytes | None) -> list[Any]:
        """Send messages with a key; see `Producer.send_messages`."""
        return self._send_messages(topic, self._next_partition(topic, key), *msg, key=key)

    def send(self, topic: str, key: Any, msg: bytes | None) -> list[Any]:
        """Send one message, like `send_messages`; deprecated."""
        warn_deprecated("KeyedProducer.send is deprecated in favor of send_messages")
        return self.send_messages(topic, key, msg)

    def __repr__(self) -> str:
        return f"<KeyedProducer batch={self.async_send}>"
