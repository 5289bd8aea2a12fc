"""`AsyncKafkaShareConsumer`: the share consumer on the caller's own event loop, without a thread."""

from typing import TYPE_CHECKING, Any, Self, Unpack

from kafka.config import ShareConfigs, parse_share, with_options
from kafka.config.argument_errors import refuse_settings
from kafka.consumer.share._async.calls import AsyncShareCalls
from kafka.errors import IllegalStateError


@with_options("share consumer")
class AsyncKafkaShareConsumer(AsyncShareCalls):
    """Reads records as a member of a share group, in asyncio; see `KafkaShareConsumer`. Await calls that wait.

    `async with` starts and closes it. Only one task at a time may call it, because a call would acknowledge the records
    returned to another task.

    Arguments:
        topics: topics to subscribe to; without any, call `subscribe`.
        configs: options; see `KafkaShareConsumer`.

    Before `start`, all methods except `health`, `close` and `stop` raise `IllegalStateError`.

    Raises `KafkaConfigurationError` for an option that is unknown, invalid, or meaningless for share groups.
    """

    def __init__(self, *topics: str, **configs: Unpack[ShareConfigs]) -> None:
        refuse_settings(topics, "AsyncKafkaShareConsumer", "share consumer")
        self._topics = topics
        self._servers_given = configs.get("bootstrap_servers", self.DEFAULT_CONFIG["bootstrap_servers"])
        self._make_parts(parse_share(configs))

    async def start(self) -> None:
        """Find the cluster, and subscribe to the topics that the constructor got. ``async with`` calls this.

        Raises `NoBrokersAvailable`, which names each bootstrap server and its last error, and `IllegalStateError` if
        the consumer was started before.
        """
        if self._started:
            raise IllegalStateError("the consumer has been started already")
        self._make_poll_loop(self._config)
        try:
            await self._core.start()
            if self._topics:
                await self.subscribe(self._topics)
        except BaseException:
            await self.close(timeout_ms=1_000)
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
            if name in ("_core", "_runner"):
                raise IllegalStateError("the consumer has not been started: await start(), or use 'async with'")
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
