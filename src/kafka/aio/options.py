"""Translates aiokafka's options: names that exist only in aiokafka, and defaults on which other group members rely."""

import asyncio
import inspect
from collections.abc import Awaitable, Coroutine
from typing import Any

from kafka.aio.errors import BootstrapError
from kafka.config import AdminConfigs, ConsumerConfigs, ProducerConfigs
from kafka.config.table import given_options
from kafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from kafka.errors import KafkaConfigurationError, NoBrokersAvailable

NOT_GIVEN: Any = object()
"""aiokafka's default for ``acks``, which frameworks pass explicitly."""

_REQUEST_TIMEOUT_MS = 40_000
_GIVE_UP_AT_ONCE_MS = 1
"""Makes `start()` fail immediately if servers refuse connections, because programs call it in their own retry loop."""


class AIOConsumerConfigs(ConsumerConfigs, total=False):
    """Options of `AIOKafkaConsumer`: the options of `KafkaConsumer`, and those that only aiokafka has."""

    loop: Any
    """No effect: the client uses the loop that `start` runs on."""
    rebalance_timeout_ms: int | None
    """The time that members have to rejoin. No effect: ``max_poll_interval_ms`` applies instead."""


class AIOProducerConfigs(ProducerConfigs, total=False):
    """Options of `AIOKafkaProducer`: the options of `KafkaProducer`, and those that only aiokafka has."""

    loop: Any
    """No effect: the client uses the loop that `start` runs on."""
    max_batch_size: int
    """Same as ``batch_size``."""
    send_backoff_ms: int
    """No effect: failed requests are retried after ``retry_backoff_ms``. An option of older aiokafka releases."""


class AIOAdminConfigs(AdminConfigs, total=False):
    """Options of `AIOKafkaAdminClient`: the options of `KafkaAdminClient`, and those that only aiokafka has."""

    loop: Any
    """No effect: the client uses the loop that `start` runs on."""


class TokensOnLoop:
    """Allows authentication, which runs in another thread, to call a token provider whose ``token`` is a coroutine.

    Arguments:
        provider: the user's provider.

    Attributes:
        loop: the loop that runs the coroutines; clients set it when they start.
    """

    def __init__(self, provider: Any) -> None:
        self._provider = provider
        self.loop: asyncio.AbstractEventLoop | None = None

    def token(self) -> str:
        """Return the provider's token."""
        wanted: Coroutine[Any, Any, str] | str = self._provider.token()
        if not inspect.iscoroutine(wanted):
            return str(wanted)
        if self.loop is None:
            wanted.close()
            raise KafkaConfigurationError("a token was asked for before the client was started")
        token: str = asyncio.run_coroutine_threadsafe(wanted, self.loop).result()
        return token

    def extensions(self) -> Any:
        """Return the provider's extensions, if it has any."""
        given = getattr(self._provider, "extensions", None)
        return {} if given is None else given()


def consumer_options(given: AIOConsumerConfigs) -> dict[str, Any]:
    """Return options for an `AsyncKafkaConsumer`. If ``max_poll_records`` is None (no limit), it is omitted."""
    options = _common(given)
    options.pop("rebalance_timeout_ms", None)
    options.pop("consumer_timeout_ms", None)  # in aiokafka, the fetcher's pause; here, the option would end iteration
    if options.get("group_protocol", "classic") == "classic":  # with other protocols, the coordinator decides
        options.setdefault("session_timeout_ms", 10_000)
        if options.get("partition_assignment_strategy") is None:
            options["partition_assignment_strategy"] = (RoundRobinPartitionAssignor,)
    return options


def producer_options(given: AIOProducerConfigs) -> dict[str, Any]:
    """Return options for an `AsyncKafkaProducer`.

    As in aiokafka, records fail after about twice ``request_timeout_ms``.
    """
    options = _common(given)
    options.pop("send_backoff_ms", None)
    batch_size = options.pop("max_batch_size", None)
    if batch_size is not None:
        options["batch_size"] = batch_size
    timeout_ms = options["request_timeout_ms"]
    options.setdefault("max_block_ms", timeout_ms)
    options.setdefault("delivery_timeout_ms", 2 * timeout_ms + options.get("linger_ms", 0))
    return options


def admin_options(given: AIOAdminConfigs) -> dict[str, Any]:
    """Return options for an `AsyncKafkaAdminClient`."""
    return _common(given)


def _common(given: Any) -> dict[str, Any]:
    options = {name: value for name, value in given_options(given).items() if value is not NOT_GIVEN}
    options.pop("loop", None)
    if options.get("api_version") == "auto":
        del options["api_version"]
    options.setdefault("request_timeout_ms", _REQUEST_TIMEOUT_MS)
    if options.get("api_version_auto_timeout_ms") is None:
        options["api_version_auto_timeout_ms"] = _GIVE_UP_AT_ONCE_MS
    if options.get("security_protocol") in ("SASL_PLAINTEXT", "SASL_SSL") and options.get("sasl_mechanism") is None:
        options["sasl_mechanism"] = "PLAIN"
    provider = options.get("sasl_oauth_token_provider")
    if inspect.iscoroutinefunction(getattr(provider, "token", None)):
        options["sasl_oauth_token_provider"] = TokensOnLoop(provider)
    return options


async def start(client: Awaitable[None], options: dict[str, Any]) -> None:
    """Await a client's ``start()``. Raises `BootstrapError` if it cannot connect to a broker."""
    provider = options.get("sasl_oauth_token_provider")
    if isinstance(provider, TokensOnLoop):
        provider.loop = asyncio.get_running_loop()
    try:
        await client
    except NoBrokersAvailable as error:
        raise BootstrapError(*error.args) from error.__cause__
