"""SASL mechanisms: each has a row and a class, and programs can register their own as with kafka-python."""

from __future__ import annotations

import importlib
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from kafka import KafkaAdminClient
from kafka.broker import EmbeddedBroker
from kafka.config.sasl_mechanisms import BUILT_IN_NAMES, find_mechanism, mechanism_names, unregister_mechanism
from kafka.errors import (
    IllegalArgumentError,
    IllegalArgumentTypeError,
    KafkaConfigurationError,
    NoBrokersAvailable,
    SaslAuthenticationFailedError,
    UnsupportedSaslMechanismError,
)
from kafka.net.sasl import get_sasl_mechanism, register_sasl_mechanism
from kafka.net.sasl.abc import SaslMechanism
from kafka.net.sasl.plain import Plain

pytestmark = pytest.mark.once


class OwnPlain(SaslMechanism):
    """PLAIN with kafka-python's interface."""

    accepts = True

    def __init__(self, **config: Any) -> None:
        self.config = config
        self._done = False

    def auth_bytes(self) -> bytes:
        return f"\0{self.config['sasl_plain_username']}\0{self.config['sasl_plain_password']}".encode()

    def receive(self, auth_bytes: bytes) -> None:
        self._done = not auth_bytes

    def is_done(self) -> bool:
        return self._done

    def is_authenticated(self) -> bool:
        return self._done and self.accepts


class Suspicious(OwnPlain):
    """A mechanism that rejects every broker."""

    accepts = False


@pytest.fixture
def registering() -> Iterator[Any]:
    """Register mechanisms until the test ends."""
    names = []

    def register(name: str, klass: type[Any], **more: Any) -> None:
        register_sasl_mechanism(name, klass, **more)
        names.append(name)

    yield register
    for name in names:
        unregister_mechanism(name)


def login(broker: EmbeddedBroker, mechanism: str) -> dict[str, Any]:
    return {
        "bootstrap_servers": broker.bootstrap_servers,
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": mechanism,
        "sasl_plain_username": "ann",
        "sasl_plain_password": "secret",
        "bootstrap_timeout_ms": 5000,
    }


def test_each_built_in_mechanism_has_a_class_that_creates_an_exchange() -> None:
    for name in BUILT_IN_NAMES:
        row = find_mechanism(name)
        assert row is not None
        assert all(callable(getattr(row.load(), each)) for each in ("of", "first", "answer"))


def test_a_registered_mechanism_logs_in(registering: Any) -> None:
    made = []

    class Kept(OwnPlain):
        def __init__(self, **config: Any) -> None:
            super().__init__(**config)
            made.append(self)

    registering("PLAIN", Kept, overwrite=True)
    assert get_sasl_mechanism("PLAIN") is Kept
    with EmbeddedBroker(users={"ann": "secret"}) as broker:
        admin = KafkaAdminClient(**login(broker, "plain"))
        assert admin.list_topics() == []
        admin.close()
    assert made
    assert all(each.config["host"] in ("localhost", "127.0.0.1") for each in made)
    assert made[0].config["security_protocol"] == "SASL_PLAINTEXT"


def test_a_mechanism_that_rejects_the_brokers_answer_fails(registering: Any) -> None:
    registering("PLAIN", Suspicious, overwrite=True)
    with (
        EmbeddedBroker(users={"ann": "secret"}) as broker,
        pytest.raises(SaslAuthenticationFailedError, match="Suspicious did not accept the broker's last message"),
    ):
        KafkaAdminClient(**login(broker, "PLAIN"))


def test_a_mechanism_unknown_to_the_broker_is_named(registering: Any) -> None:
    registering("own", OwnPlain)
    with (
        EmbeddedBroker(users={"ann": "secret"}) as broker,
        pytest.raises((UnsupportedSaslMechanismError, NoBrokersAvailable), match="sasl_mechanism is 'own'"),
    ):
        KafkaAdminClient(**login(broker, "own"))


@pytest.mark.parametrize("kind", [str, list])
def test_a_message_of_another_type_is_rejected_without_showing_it(registering: Any, kind: type[Any]) -> None:
    class Textual(OwnPlain):
        def auth_bytes(self) -> Any:
            return kind(super().auth_bytes().decode())

    registering("PLAIN", Textual, overwrite=True)
    with (
        EmbeddedBroker(users={"ann": "secret"}) as broker,
        pytest.raises(KafkaConfigurationError) as caught,
    ):
        KafkaAdminClient(**login(broker, "PLAIN"))
    assert str(caught.value) == f"Textual.auth_bytes() must return bytes, not {kind.__name__}"


@pytest.mark.parametrize("kind", [bytearray, memoryview])
def test_a_message_may_be_any_buffer(registering: Any, kind: type[Any]) -> None:
    class Buffered(OwnPlain):
        def auth_bytes(self) -> Any:
            return kind(super().auth_bytes())

    registering("PLAIN", Buffered, overwrite=True)
    with EmbeddedBroker(users={"ann": "secret"}) as broker:
        KafkaAdminClient(**login(broker, "PLAIN")).close()


@pytest.mark.parametrize("messages", [0, 1])
def test_a_mechanism_that_stops_early_has_not_logged_in(registering: Any, messages: int) -> None:
    class Silent(OwnPlain):
        def __init__(self, **config: Any) -> None:
            super().__init__(**config)
            self._left = messages

        def auth_bytes(self) -> Any:
            self._left -= 1
            return super().auth_bytes() if self._left >= 0 else None

        def is_done(self) -> bool:
            return False

    registering("PLAIN", Silent, overwrite=True)
    with (
        EmbeddedBroker(users={"ann": "secret"}) as broker,
        pytest.raises(
            SaslAuthenticationFailedError, match=r"Silent\.auth_bytes\(\) returned None before the exchange was done"
        ),
    ):
        KafkaAdminClient(**login(broker, "PLAIN"))


@pytest.mark.parametrize("where", ["__init__", "auth_bytes", "receive", "is_done", "is_authenticated"])
def test_an_os_error_counts_as_a_lost_connection_and_is_retried(registering: Any, where: str) -> None:
    raised: list[OSError] = []

    def fail_once(self: Any, *args: Any, **options: Any) -> Any:
        if not raised:
            raised.append(OSError("the vault is down"))
            raise raised[0]
        return getattr(OwnPlain, where)(self, *args, **options)

    registering("PLAIN", type("Vault", (OwnPlain,), {where: fail_once}), overwrite=True)
    with EmbeddedBroker(users={"ann": "secret"}) as broker:
        admin = KafkaAdminClient(**login(broker, "PLAIN"))
        assert admin.list_topics() == []
        admin.close()
    assert raised


class Bare:
    """A mechanism with only the required methods."""

    def __init__(self, **config: Any) -> None:
        self._own = OwnPlain(**config)

    def auth_bytes(self) -> bytes:
        return self._own.auth_bytes()

    def receive(self, auth_bytes: bytes) -> None:
        self._own.receive(auth_bytes)

    def is_done(self) -> bool:
        return self._own.is_done()

    def is_authenticated(self) -> bool:
        return self._own.is_authenticated()


class Indescribable(OwnPlain):
    """A mechanism that fails when it describes itself."""

    def auth_details(self) -> str:
        raise RuntimeError("who am I?")


@pytest.mark.parametrize("klass", [Bare, Indescribable])
def test_a_failing_description_does_not_fail_a_login(
    registering: Any, klass: type[Any], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "kafka")
    registering("PLAIN", klass, overwrite=True)
    with EmbeddedBroker(users={"ann": "secret"}) as broker:
        KafkaAdminClient(**login(broker, "PLAIN")).close()


def test_names_are_not_case_sensitive(registering: Any) -> None:
    with pytest.raises(ValueError, match="the SASL mechanism 'PLAIN' is already registered: pass overwrite=True"):
        registering("plain", OwnPlain)
    registering("Custom", OwnPlain)
    assert get_sasl_mechanism("cusTOM") is OwnPlain
    with pytest.raises(ValueError, match="'Custom' is already registered"):
        registering("CUSTOM", Suspicious)
    with (
        EmbeddedBroker(users={"ann": "secret"}) as broker,
        pytest.raises(UnsupportedSaslMechanismError, match="sasl_mechanism is 'Custom'"),
    ):
        KafkaAdminClient(**login(broker, "custom"))


def test_a_mechanism_that_replaces_plain_may_be_spelled_differently(registering: Any) -> None:
    registering("plain", Suspicious, overwrite=True)
    with (
        EmbeddedBroker(users={"ann": "secret"}) as broker,
        pytest.raises(SaslAuthenticationFailedError, match="Suspicious did not accept"),
    ):
        KafkaAdminClient(**login(broker, "plain"))


class Async(OwnPlain):
    """A mechanism whose coroutines would always be truthy."""

    async def is_authenticated(self) -> bool:  # type: ignore[override]
        return False


@pytest.mark.parametrize(
    ("klass", "told"),
    [
        (None, "klass: expected a class, got an instance of NoneType"),
        ("OwnPlain", "klass: expected a class, got an instance of str"),
        (OwnPlain(), "klass: expected a class, got an instance of OwnPlain"),
        (SaslMechanism, "klass: SaslMechanism is abstract; it does not define __init__, auth_bytes, is_authenticated,"),
        (Plain, "klass: Plain does not define auth_bytes, receive, is_done, is_authenticated"),
        (Async, "klass: Async must not define is_authenticated with 'async'"),
    ],
)
def test_an_invalid_class_is_not_registered(registering: Any, klass: Any, told: str) -> None:
    with pytest.raises(IllegalArgumentTypeError, match=told):
        registering("OWN", klass)
    assert find_mechanism("OWN") is None


@pytest.mark.parametrize(
    ("name", "error"),
    [
        (5, IllegalArgumentTypeError),
        (None, IllegalArgumentTypeError),
        (b"OWN", IllegalArgumentTypeError),
        ("", IllegalArgumentError),
        (" ", IllegalArgumentError),
    ],
)
def test_a_name_must_be_a_string(name: Any, error: type[Exception]) -> None:
    before = mechanism_names()
    try:
        with pytest.raises(error, match="name: expected "):
            register_sasl_mechanism(name, OwnPlain)
        assert mechanism_names() == before
    finally:
        if mechanism_names() != before:
            unregister_mechanism(name)


def test_a_name_can_be_registered_once(registering: Any) -> None:
    registering("OWN", OwnPlain)
    with pytest.raises(ValueError, match="the SASL mechanism 'OWN' is already registered: pass overwrite=True"):
        register_sasl_mechanism("OWN", OwnPlain)
    with pytest.raises(ValueError, match="'PLAIN' is already registered"):
        register_sasl_mechanism("PLAIN", OwnPlain)
    unregister_mechanism("OWN")
    with pytest.raises(KeyError):
        get_sasl_mechanism("OWN")
    with (
        EmbeddedBroker(users={"ann": "secret"}) as broker,
        pytest.raises(KafkaConfigurationError, match="'OWN' is unknown; supported are PLAIN, SCRAM-SHA-256"),
    ):
        KafkaAdminClient(**login(broker, "OWN"))
    registering("PLAIN", OwnPlain, overwrite=True)
    unregister_mechanism("PLAIN")
    assert get_sasl_mechanism("PLAIN") is Plain


def test_the_functions_have_the_import_paths_of_kafka_python_2() -> None:
    old = importlib.import_module("kafka.sasl")
    assert (old.register_sasl_mechanism, old.get_sasl_mechanism) == (register_sasl_mechanism, get_sasl_mechanism)
