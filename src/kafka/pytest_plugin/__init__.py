"""A pytest plugin: fixtures for brokers in the test process, with real TCP connections, for topics and for clients.

It is installed with the package, so ``def test_it(kafka_broker): ...`` works without an import. Large modules are
imported only when a test uses a fixture that needs them. docs/TESTING.md contains examples.

| fixture | provides |
|---|---|
| `kafka_broker` | an `EmbeddedBroker` for this test |
| `kafka_shared_broker` | one for all tests of the process; faults are removed after each test |
| `kafka_session_broker` | the same, for session-scoped fixtures |
| `kafka_broker_settings` | the settings of the shared broker; override it |
| `kafka_bootstrap_servers` | the servers that the fixtures below use; override it to use another broker |
| `kafka_registry_url`, `kafka_registry` | the broker's schema registry, and a client for it |
| `kafka_topics` | a function that creates topics, which are deleted after the test |
| `kafka_topic` | the name of a new topic for this test |
| `kafka_producer`, `kafka_consumer`, `kafka_admin` | functions that create clients, which are closed after the test |
| `kafka_async_producer`, `kafka_async_consumer`, `kafka_async_admin` | the same for asyncio, with pytest-asyncio |
"""

from importlib import import_module

import pytest

from kafka.pytest_plugin.fixtures import (
    kafka_admin,
    kafka_bootstrap_servers,
    kafka_broker,
    kafka_broker_settings,
    kafka_consumer,
    kafka_producer,
    kafka_registry,
    kafka_registry_url,
    kafka_session_broker,
    kafka_shared_broker,
    kafka_topic,
    kafka_topics,
)

__all__ = [
    "kafka_admin",
    "kafka_bootstrap_servers",
    "kafka_broker",
    "kafka_broker_settings",
    "kafka_consumer",
    "kafka_producer",
    "kafka_registry",
    "kafka_registry_url",
    "kafka_session_broker",
    "kafka_shared_broker",
    "kafka_topic",
    "kafka_topics",
    "pytest_configure",
]

_MARKERS = (
    "kafka_broker(**settings): settings of the broker that the fixture kafka_broker starts for this test",
    "kafka_topic(num_partitions=-1, replication_factor=-1, configs=None): how the fixture kafka_topic makes its topic",
)


def pytest_configure(config: pytest.Config) -> None:
    """Register the markers and the asyncio fixtures, which fail with a hint if pytest-asyncio is missing.

    Arguments:
        config: the pytest config.
    """
    for marker in _MARKERS:
        config.addinivalue_line("markers", marker)
    module = "asyncio_fixtures" if config.pluginmanager.hasplugin("asyncio") else "asyncio_missing"
    config.pluginmanager.register(import_module(f"{__name__}.{module}"), "kafka_columnar_asyncio")
