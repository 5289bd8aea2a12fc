"""The schema registry client over TLS: trusted authorities and client certificates."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kafka.errors import KafkaConfigurationError
from kafka.formats.registry import exchange
from kafka.schema_registry import SchemaRegistryClient, SchemaRegistryConnectionError
from unit.net.certificates import authority, issued

from .scripted_registry import ScriptedRegistry

pytestmark = pytest.mark.once


class Files:
    """PEM files of an authority, a server and a client."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.ca = self._file("ca.pem", authority().pem)
        self.server = self._identity("server")
        self.client = self._identity("client", password="of the key")

    def _identity(self, name: str, password: str | None = None) -> tuple[str, str]:
        one = issued(name)
        return self._file(f"{name}.pem", one.pem), self._file(f"{name}.key", one.key_pem(password))

    def _file(self, name: str, text: str) -> str:
        path = self._folder / name
        path.write_text(text)
        return str(path)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    return Files(tmp_path_factory.mktemp("tls"))


@pytest.fixture
def registry(files: Files) -> Iterator[ScriptedRegistry]:
    """A registry that requires no client certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*files.server)
    with ScriptedRegistry((200, ["a"]), context=context) as scripted:
        yield scripted


@pytest.fixture
def strict_registry(files: Files) -> Iterator[ScriptedRegistry]:
    """A registry that requires a client certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*files.server)
    context.load_verify_locations(files.ca)
    context.verify_mode = ssl.CERT_REQUIRED
    with ScriptedRegistry((200, ["a"]), context=context) as scripted:
        yield scripted


def asked(registry: ScriptedRegistry, **conf: Any) -> list[str]:
    named = {name.replace("_", "."): value for name, value in conf.items()}
    with SchemaRegistryClient({"url": registry.url, "max.retries": 0, **named}) as client:
        return client.get_subjects()


def test_the_configured_authority_is_trusted(registry: ScriptedRegistry, files: Files) -> None:
    assert asked(registry, ssl_ca_location=files.ca) == ["a"]


def test_a_registry_with_an_unknown_authority_is_rejected(registry: ScriptedRegistry) -> None:
    with pytest.raises(SchemaRegistryConnectionError, match="CERTIFICATE_VERIFY_FAILED"):
        asked(registry)


def test_any_registry_is_trusted_on_request(registry: ScriptedRegistry) -> None:
    assert asked(registry, ssl_ca_location=False) == ["a"]


@pytest.mark.parametrize("verified", [True, False])
def test_a_client_sends_its_certificate(strict_registry: ScriptedRegistry, files: Files, verified: bool) -> None:
    certificate, key = files.client
    conf = {"ssl_certificate_location": certificate, "ssl_key_location": key, "ssl_key_password": "of the key"}
    assert asked(strict_registry, ssl_ca_location=files.ca if verified else False, **conf) == ["a"]


def test_a_registry_that_requires_a_certificate_rejects_clients_without(
    strict_registry: ScriptedRegistry, files: Files
) -> None:
    with pytest.raises(SchemaRegistryConnectionError):
        asked(strict_registry, ssl_ca_location=files.ca)


def test_a_rejection_while_reading_is_a_connection_error(
    registry: ScriptedRegistry, files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With TLS 1.3, the client's handshake may be complete before the registry rejects it."""

    async def refused(*_: Any, **__: Any) -> Any:
        raise ssl.SSLError(1, "[SSL: TLSV13_ALERT_CERTIFICATE_REQUIRED] tlsv13 alert certificate required")

    monkeypatch.setattr(exchange, "_sent", refused)
    with pytest.raises(SchemaRegistryConnectionError, match="certificate required"):
        asked(registry, ssl_ca_location=files.ca)


def test_unusable_files_are_named(registry: ScriptedRegistry, files: Files) -> None:
    certificate, key = files.client
    with pytest.raises(KafkaConfigurationError, match="TLS options cannot be used"):
        asked(registry, ssl_ca_location="/no/such/file.pem")
    for ca in (files.ca, False):
        conf = {"ssl_certificate_location": certificate, "ssl_key_location": key, "ssl_key_password": "wr0ng"}
        with pytest.raises(KafkaConfigurationError, match=r"client\.pem") as caught:
            asked(registry, ssl_ca_location=ca, **conf)
        assert "wr0ng" not in str(caught.value)
