"""The fixtures that need only pytest."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Protocol

import pytest

if TYPE_CHECKING:
    from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer
    from kafka.broker import EmbeddedBroker
    from kafka.schema_registry import SchemaRegistryClient

_LONGEST_NAME = 200
"""Maximum length of a test's name in a topic name. Topic names can have 249 characters."""


class MakeTopic(Protocol):
    """The function that `kafka_topics` provides."""

    def __call__(
        self,
        name: str | None = None,
        *,
        num_partitions: int = -1,
        replication_factor: int = -1,
        configs: Mapping[str, str] | None = None,
    ) -> str:
        """Create a topic, wait until all brokers know it, and return its name.

        Arguments:
            name: the name; None: a unique one.
            num_partitions: number of partitions; -1: the broker's default.
            replication_factor: the replication factor; -1: the broker's default.
            configs: the topic's configs, such as ``{"cleanup.policy": "compact"}``.

        Raises the exceptions of `KafkaAdminClient.create_topics`.
        """


def settings_of(request: pytest.FixtureRequest, marker: str) -> dict[str, Any]:
    """Return the arguments of all markers named `marker`. Markers closer to the test take precedence.

    Raises:
        pytest.UsageError: a marker has positional arguments.
    """
    found: dict[str, Any] = {}
    for mark in request.node.iter_markers(marker):
        if mark.args:
            raise pytest.UsageError(
                f"Expected {marker} with arguments by name, as @pytest.mark.{marker}(num_partitions=3), "
                f"got {', '.join(map(repr, mark.args))} in {request.node.nodeid}"
            )
        found = {**mark.kwargs, **found}
    return found


def topic_name(request: pytest.FixtureRequest) -> str:
    """Return a unique topic name that contains the test's name."""
    test = re.sub(r"[^a-zA-Z0-9._-]+", "-", request.node.name)[:_LONGEST_NAME].strip("-")
    return f"{test}-{uuid.uuid4().hex[:8]}"


_BROKERS = pytest.StashKey["list[EmbeddedBroker]"]()


def end_faults(request: pytest.FixtureRequest) -> None:
    """Remove a test's faults before its clients are closed and its topics are deleted."""
    for broker in request.node.stash.get(_BROKERS, ()):
        broker.faults.clear()


def login_at(request: pytest.FixtureRequest, bootstrap_servers: str) -> dict[str, Any]:
    """Return client options to log in to the test's broker as its first user; empty if the broker has no users."""
    for broker in request.node.stash.get(_BROKERS, ()):
        if broker.bootstrap_servers == bootstrap_servers and broker.users:
            user, password = next(iter(broker.users.items()))
            return {
                "security_protocol": "SASL_PLAINTEXT",
                "sasl_mechanism": "SCRAM-SHA-256",
                "sasl_plain_username": user,
                "sasl_plain_password": password,
            }
    return {}


def options_for(
    request: pytest.FixtureRequest, bootstrap_servers: str, defaults: Mapping[str, Any], given: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the options of a test's client. A client that sets `security_protocol` must also set its login options."""
    login = {} if "security_protocol" in given else login_at(request, bootstrap_servers)
    return {"bootstrap_servers": bootstrap_servers, **login, **defaults, **given}


def _remember(request: pytest.FixtureRequest, broker: EmbeddedBroker) -> EmbeddedBroker:
    request.node.stash.setdefault(_BROKERS, []).append(broker)
    return broker


@pytest.fixture
def kafka_broker(request: pytest.FixtureRequest) -> Iterator[EmbeddedBroker]:
    """An empty `EmbeddedBroker` for this test, on a free port of the loopback interface.

    ``@pytest.mark.kafka_broker(num_partitions=3, auto_create_topics=False)`` configures it. Its `faults` make it fail
    on demand. With ``users={"alice": "secret"}`` the clients that the fixtures create log in as the first user.
    """
    from kafka.broker import EmbeddedBroker

    registry = {"registry": True} if "kafka_registry_url" in request.fixturenames else {}
    with EmbeddedBroker(**{**registry, **settings_of(request, "kafka_broker")}) as broker:
        yield _remember(request, broker)


@pytest.fixture(scope="session")
def kafka_broker_settings() -> dict[str, Any]:
    """The settings of `kafka_session_broker`, as keyword arguments of `EmbeddedBroker`; empty by default.

    Override this fixture in a conftest.py.
    """
    return {}


@pytest.fixture(scope="session")
def kafka_session_broker(kafka_broker_settings: Mapping[str, Any]) -> Iterator[EmbeddedBroker]:
    """One `EmbeddedBroker` for all tests of this process. With pytest-xdist each worker has its own.

    It keeps records with old timestamps, however long the tests run, as time-based retention is off unless
    `kafka_broker_settings` contains `topic_defaults` with a "retention.ms".
    """
    from kafka.broker import EmbeddedBroker

    defaults = {"retention.ms": "-1", **kafka_broker_settings.get("topic_defaults", {})}
    with EmbeddedBroker(**{**kafka_broker_settings, "topic_defaults": defaults}) as broker:
        yield broker


@pytest.fixture
def kafka_shared_broker(
    request: pytest.FixtureRequest, kafka_session_broker: EmbeddedBroker
) -> Iterator[EmbeddedBroker]:
    """`kafka_session_broker`, with faults that are removed after the test.

    All tests share its topics, so use `kafka_topic`.
    """
    _refuse_other_settings(request)
    kafka_session_broker.faults.clear()
    yield _remember(request, kafka_session_broker)
    kafka_session_broker.faults.clear()


def _refuse_other_settings(request: pytest.FixtureRequest) -> None:
    """Fail if a marker's settings have no effect, because the test uses a shared broker with other settings."""
    if "kafka_broker" in request.fixturenames:
        return
    shared: Mapping[str, Any] = request.getfixturevalue("kafka_broker_settings")
    wanted = settings_of(request, "kafka_broker")
    if other := {name: value for name, value in wanted.items() if name not in shared or shared[name] != value}:
        raise pytest.UsageError(
            f"{request.node.nodeid} uses the broker that all tests share, which cannot follow its marker kafka_broker "
            f"({', '.join(other)}): set that for all of them in the fixture kafka_broker_settings, or let the test "
            "connect to kafka_broker, a broker of its own"
        )


@pytest.fixture
def kafka_bootstrap_servers(request: pytest.FixtureRequest) -> str:
    """The bootstrap servers for the test's topics and clients.

    They are those of `kafka_shared_broker` if the test uses it, otherwise those of `kafka_broker`.

    Override it to use other brokers: return ``kafka_shared_broker.bootstrap_servers`` or the servers of a real broker.
    """
    name = "kafka_shared_broker" if "kafka_shared_broker" in request.fixturenames else "kafka_broker"
    broker: EmbeddedBroker = request.getfixturevalue(name)
    return broker.bootstrap_servers


@pytest.fixture
def kafka_registry_url(request: pytest.FixtureRequest) -> str:
    """The URL of the schema registry of the test's broker. Override it to use another registry.

    If the test uses `kafka_shared_broker`, it is that broker's registry, and `kafka_broker_settings` must contain
    ``"registry": True``.
    """
    name = "kafka_shared_broker" if "kafka_shared_broker" in request.fixturenames else "kafka_broker"
    broker: EmbeddedBroker = request.getfixturevalue(name)
    return broker.registry_url


@pytest.fixture
def kafka_registry(kafka_registry_url: str) -> Iterator[SchemaRegistryClient]:
    """A `SchemaRegistryClient` for `kafka_registry_url`. It is closed after the test."""
    from kafka.schema_registry import SchemaRegistryClient

    with SchemaRegistryClient({"url": kafka_registry_url}) as registry:
        yield registry


@pytest.fixture
def kafka_admin(
    request: pytest.FixtureRequest, kafka_bootstrap_servers: str
) -> Iterator[Callable[..., KafkaAdminClient]]:
    """Creates a `KafkaAdminClient` with the given options. It is closed after the test."""
    from kafka import KafkaAdminClient

    yield from _making(request, KafkaAdminClient, kafka_bootstrap_servers)


@pytest.fixture
def kafka_topics(request: pytest.FixtureRequest, kafka_admin: Callable[..., KafkaAdminClient]) -> Iterator[MakeTopic]:
    """Creates topics; see `MakeTopic`. They are deleted after the test."""
    from kafka.admin import NewTopic

    made: list[str] = []
    admin = kafka_admin()

    def make(
        name: str | None = None,
        *,
        num_partitions: int = -1,
        replication_factor: int = -1,
        configs: Mapping[str, str] | None = None,
    ) -> str:
        topic = topic_name(request) if name is None else name
        wanted = NewTopic(topic, num_partitions, replication_factor, topic_configs=dict(configs or {}))
        admin.create_topics([wanted], wait_for_metadata=True)
        made.append(topic)
        return topic

    yield make
    end_faults(request)
    if made:
        admin.delete_topics(made, raise_errors=False)


@pytest.fixture
def kafka_topic(request: pytest.FixtureRequest, kafka_topics: MakeTopic) -> str:
    """The name of a topic for this test; ``@pytest.mark.kafka_topic(num_partitions=3)`` configures it."""
    return kafka_topics(**settings_of(request, "kafka_topic"))


@pytest.fixture
def kafka_producer(
    request: pytest.FixtureRequest, kafka_bootstrap_servers: str
) -> Iterator[Callable[..., KafkaProducer[Any, Any]]]:
    """Creates a `KafkaProducer` with the given options. It is flushed and closed after the test."""
    from kafka import KafkaProducer

    yield from _making(request, KafkaProducer, kafka_bootstrap_servers)


@pytest.fixture
def kafka_consumer(
    request: pytest.FixtureRequest, kafka_bootstrap_servers: str
) -> Iterator[Callable[..., KafkaConsumer[Any, Any]]]:
    """Creates a `KafkaConsumer` with the given topics and options. It is closed after the test.

    Unlike a consumer with default options, it reads from the first record (``auto_offset_reset="earliest"``).
    """
    from kafka import KafkaConsumer

    yield from _making(request, KafkaConsumer, kafka_bootstrap_servers, auto_offset_reset="earliest")


def _making(
    request: pytest.FixtureRequest, client: Callable[..., Any], bootstrap_servers: str, **defaults: Any
) -> Iterator[Callable[..., Any]]:
    """Yield a function that creates clients, and close the clients at the end, newest first."""
    with ExitStack() as clients:

        def make(*topics: str, **options: Any) -> Any:
            made = client(*topics, **options_for(request, bootstrap_servers, defaults, options))
            clients.callback(made.close)
            return made

        yield make
        end_faults(request)
