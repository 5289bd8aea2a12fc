"""The asyncio fixtures. pytest-asyncio runs them on the test's loop."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio

from kafka.pytest_plugin.fixtures import end_faults, options_for

if TYPE_CHECKING:
    from kafka import AsyncKafkaAdminClient, AsyncKafkaConsumer, AsyncKafkaProducer


@pytest_asyncio.fixture(loop_scope="function")
async def kafka_async_producer(
    request: pytest.FixtureRequest,
    kafka_bootstrap_servers: str,
) -> AsyncIterator[Callable[..., Awaitable[AsyncKafkaProducer[Any, Any]]]]:
    """Creates and starts an `AsyncKafkaProducer`, as in ``await kafka_async_producer()``.

    It is closed after the test.
    """
    from kafka import AsyncKafkaProducer

    async with AsyncExitStack() as clients:
        yield _maker(request, clients, AsyncKafkaProducer, kafka_bootstrap_servers)
        end_faults(request)


@pytest_asyncio.fixture(loop_scope="function")
async def kafka_async_consumer(
    request: pytest.FixtureRequest,
    kafka_bootstrap_servers: str,
) -> AsyncIterator[Callable[..., Awaitable[AsyncKafkaConsumer[Any, Any]]]]:
    """Creates and starts an `AsyncKafkaConsumer` that reads from the first record. It is closed after the test."""
    from kafka import AsyncKafkaConsumer

    async with AsyncExitStack() as clients:
        yield _maker(request, clients, AsyncKafkaConsumer, kafka_bootstrap_servers, auto_offset_reset="earliest")
        end_faults(request)


@pytest_asyncio.fixture(loop_scope="function")
async def kafka_async_admin(
    request: pytest.FixtureRequest,
    kafka_bootstrap_servers: str,
) -> AsyncIterator[Callable[..., Awaitable[AsyncKafkaAdminClient]]]:
    """Creates and starts an `AsyncKafkaAdminClient`. It is closed after the test."""
    from kafka import AsyncKafkaAdminClient

    async with AsyncExitStack() as clients:
        yield _maker(request, clients, AsyncKafkaAdminClient, kafka_bootstrap_servers)
        end_faults(request)


def _maker(
    request: pytest.FixtureRequest,
    clients: AsyncExitStack,
    client: Callable[..., Any],
    bootstrap_servers: str,
    **defaults: Any,
) -> Callable[..., Awaitable[Any]]:
    async def make(*topics: str, **options: Any) -> Any:
        made = client(*topics, **options_for(request, bootstrap_servers, defaults, options))
        return await clients.enter_async_context(made)

    return make
