"""`AsyncKafkaConsumer`: the consumer on the caller's own event loop, without a thread."""

from typing import TYPE_CHECKING, Any, Self, Unpack

from kafka.config import ConsumerConfigs, parse_consumer, with_options
from kafka.config.argument_errors import refuse_settings
from kafka.config.table import with_class_defaults
from kafka.consumer._async.calls import AsyncConsumerCalls
from kafka.consumer.subscription.subscription_state import AsyncConsumerRebalanceListener, ConsumerRebalanceListener
from kafka.errors import IllegalStateError
from kafka.record.records import Key, Value


@with_options("consumer")
class AsyncKafkaConsumer(AsyncConsumerCalls[Key, Value]):
    """Reads records from topics, in asyncio. Options and methods are those of `KafkaConsumer`; await calls that wait.

    Fetching, heartbeats and commits run on the loop on which `start` is called. `async with` starts and closes it.
    Rebalance listeners may be `ConsumerRebalanceListener` or, with coroutines, `AsyncConsumerRebalanceListener`.
    Example::

        consumer = AsyncKafkaConsumer("orders", bootstrap_servers="localhost:9092", group_id="billing")
        async with consumer:
            async for record in consumer:
                print(record.partition, record.offset, record.key, record.value)

    Arguments:
        topics: topics to subscribe to; without any, call `subscribe` or `assign`.
        configs: options; see `KafkaConsumer`.

    Before `start`, all methods except `health`, `close` and `stop` raise `IllegalStateError`.

    Raises `KafkaConfigurationError` for an unknown or invalid option.
    """

    _listener_types = (ConsumerRebalanceListener, AsyncConsumerRebalanceListener)

    def __init__(self, *topics: str, **configs: Unpack[ConsumerConfigs]) -> None:
        refuse_settings(topics, "AsyncKafkaConsumer", "consumer")
        self._topics = topics
        options = with_class_defaults(self.DEFAULT_CONFIG, configs)
        self._servers_given = options.get("bootstrap_servers", self.DEFAULT_CONFIG["bootstrap_servers"])
        self._make_parts(parse_consumer(options))

    async def start(self) -> None:
        """Find the cluster, and subscribe to the topics that the constructor got. ``async with`` calls this.

        Raises `NoBrokersAvailable`, which names each bootstrap server and its last error, and `IllegalStateError` if
        the consumer was started before.
        """
        if self._started:
            raise IllegalStateError("the consumer has been started already")
        self._make_poll_loop(self._parsed)
        try:
            await self._core.start()
            if self._topics:
                self.subscribe(self._topics)
                if self._topics_unknown():
                    await self._core.look_up_topics(self._api_timeout_ms)
        except BaseException:
            await self.close(autocommit=False, timeout_ms=1_000)
            raise

    async def stop(self) -> None:
        """Like `close`, under the name that other asyncio clients use."""
        await self.close()

    async def __aenter__(self) -> Self:
        """Return the consumer, which is closed at the end of the block."""
        await self.start()
        return self

    if not TYPE_CHECKING:  # otherwise type checkers would accept any name

        def __getattr__(self, name: str) -> Any:
            if name in ("_clock", "_core", "_poll_loop", "_events"):
                raise IllegalStateError("the consumer has not been started: await start(), or use 'async with'")
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
