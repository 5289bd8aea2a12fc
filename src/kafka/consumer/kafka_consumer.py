"""`KafkaConsumer`: the synchronous consumer, with kafka-python's names and arguments."""

import functools
import math
from typing import Any, ClassVar, Self, Unpack

from kafka._loop_services import wall_clock_ns
from kafka.cluster.kafka_python_client import HasPolledClient
from kafka.config import ConsumerConfigs, parse_consumer, with_options
from kafka.config.argument_errors import refuse_settings
from kafka.config.secrecy import GivenConfigs
from kafka.config.table import with_class_defaults
from kafka.consumer import kafka_python_0_9
from kafka.consumer._sync.calls import ConsumerCalls
from kafka.consumer.runners.thread_runner import close_at_exit
from kafka.consumer.subscription.subscription_state import ConsumerRebalanceListener, SubscriptionState
from kafka.errors import IterationTimeout
from kafka.record import ConsumerRecord
from kafka.record.records import Key, Value


@with_options("consumer")
class KafkaConsumer(kafka_python_0_9.OldMethods, ConsumerCalls[Key, Value], HasPolledClient):
    """Reads records from topics. Java: ``KafkaConsumer``; arguments and defaults are kafka-python's.

    Use a consumer in one thread; other threads may only call `close` and `wakeup`. Heartbeats, fetches and commits run
    on a loop thread that all clients of the process share, so a slow handler does not delay them. A consumer whose
    handler takes longer than ``max_poll_interval_ms`` loses its partitions. Example::

        with KafkaConsumer("orders", bootstrap_servers="localhost:9092", group_id="billing") as consumer:
            for record in consumer:  # until the program ends the loop
                print(record.partition, record.offset, record.key, record.value)

    Arguments:
        topics: topics to subscribe to; without any, call `subscribe` or `assign`.
        configs: options, such as ``bootstrap_servers``, ``group_id``, ``auto_offset_reset``, ``enable_auto_commit``,
            ``max_poll_records``, ``consumer_timeout_ms``; `kafka.config` declares all of them.

    The consumer turns into kafka-python 0.9's if the program uses an option, a form of topics or a method that only 0.9
    had; see `kafka.consumer.kafka`.

    Raises `KafkaConfigurationError` for an unknown or invalid option, `NoBrokersAvailable` if no bootstrap server
    answers within ``bootstrap_timeout_ms``. With ``api_version`` the constructor does not wait for a server, and the
    consumer connects in the background.
    """

    DEFAULT_SESSION_TIMEOUT_MS_0_9: ClassVar[int] = 30_000
    """Older clients' default for brokers before 0.10.1, which have no rebalance timeout."""
    DEFAULT_SESSION_TIMEOUT_MS_PRE_KIP_735: ClassVar[int] = 30_000
    """kafka-python 3's default for brokers that reject the default session timeout of Kafka 3.0."""
    _listener_types = (ConsumerRebalanceListener,)

    def __init__(self, *topics: str, **configs: Unpack[ConsumerConfigs]) -> None:
        refuse_settings(topics, "KafkaConsumer", "consumer")
        if kafka_python_0_9.wants_0_9(topics, configs):
            kafka_python_0_9.switch_to_0_9(self, topics, dict(configs))
            return
        options = with_class_defaults(self.DEFAULT_CONFIG, configs)
        config = parse_consumer(options)
        self._given = (topics, GivenConfigs(configs))
        self._servers_given = options.get("bootstrap_servers", self.DEFAULT_CONFIG["bootstrap_servers"])
        self._make_parts(config)
        self._make_poll_loop(config)
        try:
            self._poll_loop.run(self._core.start(in_background=config.connection.api_version is not None))
            close_at_exit(self._core, self._poll_loop.runner, config.group.group_id)
            if topics:
                self.subscribe(topics)
        except BaseException:
            self._poll_loop.abandon()
            raise

    _consumer_timeout = math.inf
    """The Unix time in seconds at which iteration ends, for subclasses that iterate with `poll`."""

    def _set_consumer_timeout(self) -> None:
        """Start the timeout ``consumer_timeout_ms`` for iteration in a subclass that uses `poll`."""
        limit_ms = self._core.config.consumer.consumer_timeout_ms
        self._consumer_timeout = wall_clock_ns()() / 1e9 + limit_ms / 1000

    @property
    def _subscription(self) -> SubscriptionState:
        """The subscription, under the name by which tracing packages read the topics."""
        return self._core.subscription

    def next(self) -> ConsumerRecord[Key, Value]:
        """Return ``next(consumer)``, under the method's name in Python 2.

        Raises `IterationTimeout`, which is a `StopIteration` and a `ConsumerTimeout`, at the end of iteration.
        """
        try:
            return self.__next__()
        except StopIteration as end:
            raise IterationTimeout("no record came within consumer_timeout_ms, or the consumer is closed") from end

    def next_v1(self) -> ConsumerRecord[Key, Value]:
        """Return ``next(consumer)``: one of the two iterators of kafka-python 1.4.7."""
        return self.__next__()

    def next_v2(self) -> ConsumerRecord[Key, Value]:
        """Return ``next(consumer)``: the other iterator of kafka-python 1.4.7."""
        return self.__next__()

    def __enter__(self) -> Self:
        """Return the consumer, which is closed at the end of the block."""
        return self

    def close(self, autocommit: bool = True, timeout_ms: float | None = None) -> None:
        self._close_polled_client()
        super().close(autocommit, timeout_ms)

    close.__doc__ = ConsumerCalls.close.__doc__

    def _drive(self, polled: Any) -> None:
        self._core.poll_along = functools.partial(polled.poll, timeout_ms=0)
        polled.poll_when(self._core.events.happened)

    def _take_ahead(self, timeout_ms: float | None = None) -> None:
        super()._take_ahead()
        if self._topics_unknown():
            limit = self._api_timeout_ms if timeout_ms is None else min(timeout_ms, self._api_timeout_ms)
            self._poll_loop.run(self._core.look_up_topics(limit), self._api_timeout_ms)
            super()._take_ahead()

    def _options_given(self) -> dict[str, Any]:
        return self._given[1]

    def _is_closed(self) -> bool:
        return self._core.closed
