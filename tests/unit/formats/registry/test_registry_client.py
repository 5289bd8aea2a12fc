"""The client of a schema registry: requests, retries, several registries, credentials, caches, errors."""

from __future__ import annotations

import base64
import concurrent.futures
import gc
import gzip
import logging
import os
import socket
import threading
import time
import traceback
from collections.abc import Callable
from typing import Any

import pytest

from kafka.broker import EmbeddedBroker
from kafka.errors import (
    IllegalArgumentError,
    IllegalStateError,
    KafkaConfigurationError,
    KafkaConnectionError,
    KafkaError,
)
from kafka.formats.registry import exchange
from kafka.formats.registry import registry_clients as registry_client
from kafka.schema_registry import (
    AsyncSchemaRegistryClient,
    Metadata,
    MetadataProperties,
    MetadataTags,
    RegisteredSchema,
    Rule,
    RuleKind,
    RuleMode,
    RuleParams,
    RuleSet,
    Schema,
    SchemaReference,
    SchemaRegistryClient,
    SchemaRegistryConnectionError,
    SchemaRegistryError,
    ServerConfig,
)

from .scripted_registry import Request, ScriptedRegistry

pytestmark = pytest.mark.once

QUICK = {"retries.wait.ms": 1, "retries.max.wait.ms": 2}
NOT_FOUND = (404, {"error_code": 40401, "message": "Subject 's' not found."})


def client_of(*registries: ScriptedRegistry, **conf: Any) -> SchemaRegistryClient:
    named = {name.replace("_", "."): value for name, value in conf.items()}
    return SchemaRegistryClient({"url": ",".join(each.url for each in registries), **QUICK, **named})


def test_a_registered_schema_keeps_all_its_parts() -> None:
    rule = Rule(
        "check",
        kind=RuleKind.CONDITION,
        mode=RuleMode.WRITE,
        type="CEL",
        tags=["PII"],
        params=RuleParams({"a": "b"}),
        expr="true",
        on_failure="DLQ",
        disabled=False,
    )
    metadata = Metadata(MetadataTags({"f": ["PII"]}), MetadataProperties({"owner": "ada"}), ["owner"])
    schema = Schema("{}", "JSON", [SchemaReference("n", "s", 2)], metadata, RuleSet([], [rule], [], "now"))
    registered = RegisteredSchema("s", 3, 9, "guid", schema)
    assert RegisteredSchema.from_dict(registered.to_dict()) == registered
    assert Schema.from_dict(schema.to_dict()) == schema
    assert hash(Schema.from_dict(schema.to_dict())) == hash(schema)
    assert Rule.from_dict({"kind": "NEW", "mode": "WRITE"}).kind == "NEW"
    config = ServerConfig.from_dict({"compatibilityLevel": "FULL", "defaultMetadata": metadata.to_dict()})
    assert (config.compatibility_level, config.default_metadata) == ("FULL", metadata)
    assert config.to_dict()["compatibilityLevel"] == "FULL"


def test_ids_are_requested_once() -> None:
    with ScriptedRegistry((200, {"schema": '"int"'})) as registry, client_of(registry) as client:
        assert client.get_schema(7) == client.get_schema(7) == Schema('"int"')
        client.get_schema(7, subject_name="s")
        assert [each.path for each in registry.requests] == ["/schemas/ids/7", "/schemas/ids/7?subject=s"]
        client.clear_caches()
        client.get_schema(7)
        assert len(registry.requests) == 3


def test_the_newest_version_is_cached_for_a_limited_time(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = {"subject": "s", "version": 1, "id": 7, "schema": '"int"'}
    with ScriptedRegistry((200, answer)) as registry, client_of(registry, cache_latest_ttl_sec=60) as client:
        now = 0.0
        client._latest._clock = lambda: now
        first = client.get_latest_version("s")
        now = 59.0
        assert client.get_latest_version("s") is first
        now = 60.0
        client.get_latest_version("s")
        assert len(registry.requests) == 2


def test_changing_a_subject_clears_its_cache() -> None:
    version = {"subject": "s", "version": 1, "id": 7, "schema": '"int"'}
    with ScriptedRegistry((200, version), (200, {"id": 8}), (200, version), (200, 1), (200, version)) as registry:
        with client_of(registry) as client:
            client.get_latest_version("s")
            assert client.register_schema("s", Schema('"long"')) == 8
            client.get_latest_version("s")
            client.delete_version("s", 1)
            client.get_latest_version("s")
        assert [each.method for each in registry.requests] == ["GET", "POST", "GET", "DELETE", "GET"]


def test_requests_match_the_api() -> None:
    def echoed(request: Request) -> tuple[int, Any]:
        return 200, {"schema": "{}", "id": 1, "mode": "IMPORT", "compatibility": "FULL"}

    with ScriptedRegistry(echoed) as registry, client_of(registry) as client:
        client.register_schema("a/b", Schema('"int"'), normalize_schemas=True)
        client.update_mode("a/b", "IMPORT", force=True)
        client.get_latest_with_metadata("s", {"k": "v", "x": "y"})
        first, second, third = registry.requests
        assert (first.method, first.path) == ("POST", "/subjects/a%2Fb/versions?normalize=true")
        assert first.body == {"schema": '"int"', "schemaType": "AVRO", "references": []}
        assert first.headers["content-type"] == "application/vnd.schemaregistry.v1+json"
        assert (second.method, second.path, second.body) == ("PUT", "/mode/a%2Fb?force=true", {"mode": "IMPORT"})
        assert third.path == "/subjects/s/metadata?deleted=false&key=k&key=x&value=v&value=y"


def test_a_rejection_names_request_and_response() -> None:
    with ScriptedRegistry(NOT_FOUND) as registry, client_of(registry) as client:
        with pytest.raises(SchemaRegistryError) as caught:
            client.get_versions("s")
        error = caught.value
        assert (error.http_status_code, error.error_code) == (404, 40401)
        assert error.error_message == "Subject 's' not found."
        assert str(error) == (
            f"GET /subjects/s/versions at {registry.url}: Subject 's' not found. (HTTP status code 404, SR code 40401)"
        )
        assert len(registry.requests) == 1


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_transient_errors_are_retried(status: int) -> None:
    with ScriptedRegistry((status, b"busy"), (status, b"busy"), (200, [])) as registry, client_of(registry) as client:
        assert client.get_subjects() == []
        assert len(registry.requests) == 3


def test_retries_end() -> None:
    with ScriptedRegistry((503, {"error_code": 50301, "message": "no leader"})) as registry:
        with client_of(registry, max_retries=2) as client, pytest.raises(SchemaRegistryError, match="no leader"):
            client.get_subjects()
        assert len(registry.requests) == 3


def test_the_next_registry_is_tried_and_remembered() -> None:
    with ScriptedRegistry((503, b"")) as down, ScriptedRegistry((200, ["a"])) as up, client_of(down, up) as client:
        assert client.get_subjects() == ["a"]
        assert client.get_subjects() == ["a"]
        assert (len(down.requests), len(up.requests)) == (1, 2)


def test_a_rejected_request_is_not_sent_to_the_next_registry() -> None:
    with ScriptedRegistry(NOT_FOUND) as one, ScriptedRegistry((200, [1])) as two, client_of(one, two) as client:
        with pytest.raises(SchemaRegistryError, match="40401"):
            client.get_versions("s")
        assert two.requests == []


def test_an_unreachable_registry_is_named() -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))  # does not listen
        url = f"http://ada:secret@127.0.0.1:{bound.getsockname()[1]}"
        client = SchemaRegistryClient({"url": url, "max.retries": 1, **QUICK})
        with client, pytest.raises(SchemaRegistryConnectionError) as caught:
            client.get_subjects()
    assert caught.value.http_status_code == 0
    assert "GET /subjects at http://127.0.0.1" in str(caught.value)
    assert "secret" not in str(caught.value)


def test_requests_time_out() -> None:
    over = threading.Event()

    def silent(request: Request) -> tuple[int, Any]:
        over.wait(30)
        return 200, []

    with ScriptedRegistry(silent) as registry:
        client = client_of(registry, timeout=0.05, max_retries=0)
        with (
            client,
            pytest.raises(SchemaRegistryConnectionError, match=r"no response in 0\.05 s; the option 'timeout'"),
        ):
            client.get_subjects()
        over.set()


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ((200, b"<html>welcome</html>"), "the response is not JSON; is it the URL of a schema registry"),
        ((404, b"no such page"), "'no such page'; is it the URL of a schema registry's API?"),
        ((302, b""), "an empty answer; is it the URL"),
        ((401, {"error_code": 401, "message": "Unauthorized"}), "check 'basic.auth.user.info'"),
        ((403, {"error_code": 40301, "message": "Denied"}), "lacks the right"),
        ((200, {"not": "a list"}), "expected a response of type list, got dict"),
        ((200, b"[" * 100_000), "is not JSON"),
    ],
)
def test_invalid_responses(answer: tuple[int, Any], text: str) -> None:
    with ScriptedRegistry(answer) as registry, client_of(registry, max_retries=0) as client:
        with pytest.raises(SchemaRegistryError) as caught:
            client.get_subjects()
        assert text in str(caught.value)


def test_a_huge_response_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchange, "MAX_ANSWER_BYTES", 1000)
    huge = b'"' + b"x" * 2000 + b'"'
    with ScriptedRegistry((200, huge)) as registry:
        client = client_of(registry)
        with client, pytest.raises(SchemaRegistryError, match="more than 1,000 bytes"):
            client.get_subjects()


def test_a_user_and_a_password() -> None:
    with ScriptedRegistry((200, [])) as registry:
        with client_of(registry, basic_auth_user_info="ada:pass:word") as client:
            client.get_subjects()
        sent = registry.requests[0].headers["authorization"].removeprefix("Basic ")
        assert base64.b64decode(sent) == b"ada:pass:word"


def test_a_token_with_the_headers_of_confluent_cloud() -> None:
    conf = {
        "bearer.auth.credentials.source": "STATIC_TOKEN",
        "bearer.auth.token": "t0ken",
        "bearer.auth.logical.cluster": "lsrc-1",
        "bearer.auth.identity.pool.id": ["pool-1", "pool-2"],
    }
    with ScriptedRegistry((200, [])) as registry:
        with SchemaRegistryClient({"url": registry.url, **conf}) as client:
            client.get_subjects()
        headers = registry.requests[0].headers
    assert headers["authorization"] == "Bearer t0ken"
    assert (headers["target-sr-cluster"], headers["confluent-identity-pool-id"]) == ("lsrc-1", "pool-1,pool-2")


def test_tokens_from_a_function() -> None:
    def fields(config: dict[str, Any]) -> dict[str, Any]:
        return {"bearer.auth.token": f"token of {config['who']}", "bearer.auth.logical.cluster": "c"}

    conf = {
        "bearer.auth.credentials.source": "CUSTOM",
        "bearer.auth.custom.provider.function": fields,
        "bearer.auth.custom.provider.config": {"who": "ada"},
    }
    with ScriptedRegistry((200, [])) as registry:
        with SchemaRegistryClient({"url": registry.url, **conf}) as client:
            client.get_subjects()
        assert registry.requests[0].headers["authorization"] == "Bearer token of ada"


def test_tokens_from_an_endpoint_are_cached() -> None:
    def token(request: Request) -> tuple[int, Any]:
        return 200, {"access_token": "from-the-endpoint", "expires_in": 3600, "token_type": "Bearer"}

    with ScriptedRegistry(token) as endpoint, ScriptedRegistry((200, [])) as registry:
        conf = {
            "bearer.auth.credentials.source": "OAUTHBEARER",
            "bearer.auth.issuer.endpoint.url": f"{endpoint.url}/token",
            "bearer.auth.client.id": "me",
            "bearer.auth.client.secret": "s3cret",
            "bearer.auth.scope": "registry",
        }
        with SchemaRegistryClient({"url": registry.url, **conf}) as client:
            client.get_subjects()
            client.get_subjects()
        assert [each.headers["authorization"] for each in registry.requests] == ["Bearer from-the-endpoint"] * 2
        (asked,) = endpoint.requests
        assert asked.headers["authorization"] == "Basic " + base64.b64encode(b"me:s3cret").decode()
        assert "grant_type=client_credentials" in asked.body
        assert "scope=registry" in asked.body


def azure(endpoint: ScriptedRegistry, **further: Any) -> dict[str, Any]:
    return {
        "bearer.auth.credentials.source": "OAUTHBEARER_AZURE_IMDS",
        "bearer.auth.issuer.endpoint.url": f"{endpoint.url}/token",
        "bearer.auth.issuer.endpoint.query": "api-version=2018-02-01&resource=api://registry",
        **further,
    }


def test_azure_tokens_are_cached_for_part_of_their_lifetime(monkeypatch: pytest.MonkeyPatch) -> None:
    tokens = (200, {"access_token": "first", "expires_in": "86400"}), (200, {"access_token": "second"})
    with ScriptedRegistry(*tokens) as endpoint, ScriptedRegistry((200, [])) as registry:
        monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")  # a proxy that cannot reach the endpoint
        monkeypatch.setenv("NO_PROXY", registry.url)
        conf = azure(endpoint, **{"bearer.auth.logical.cluster": "lsrc-1"})
        with SchemaRegistryClient({"url": registry.url, **conf}) as client:
            client.get_subjects()
            client.get_subjects()
            now = time.time()
            monkeypatch.setattr(time, "time", lambda: now + 80_000)
            client.get_subjects()
        sent = [each.headers["authorization"] for each in registry.requests]
        assert sent == ["Bearer first", "Bearer first", "Bearer second"]
        assert registry.requests[0].headers["target-sr-cluster"] == "lsrc-1"
        assert [each.path for each in endpoint.requests] == [
            "/token?api-version=2018-02-01&resource=api://registry"
        ] * 2
        assert endpoint.requests[0].headers["metadata"] == "true"


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ((400, {"error": "invalid_resource"}), "answered with HTTP status 400 and no token"),
        ((200, b"<html>"), "HTTP status 200 and no token"),
        ((200, {"access_token": 7}), "HTTP status 200 and no token"),
        ((200, b"[" * 2_000_000), "HTTP status 200 and no token"),
        ((404, b""), "fails with HTTP status 404"),
        ((500, b""), "fails with HTTP status 500"),
    ],
)
def test_an_azure_endpoint_without_a_token(answer: tuple[int, Any], text: str) -> None:
    with ScriptedRegistry(answer) as endpoint, ScriptedRegistry((200, [])) as registry:
        conf = {"url": registry.url, "max.retries": 0, **azure(endpoint)}
        with SchemaRegistryClient(conf) as client, pytest.raises(KafkaError, match=text) as caught:
            client.get_subjects()
        assert f"the token endpoint {endpoint.url}/token" in str(caught.value)
        assert registry.requests == []


def test_a_machine_outside_azure() -> None:
    with ScriptedRegistry((200, [])) as registry:
        nowhere = {"bearer.auth.issuer.endpoint.url": "http://127.0.0.1:1"}
        conf = {"url": registry.url, "max.retries": 0, **azure(registry, **nowhere)}
        with SchemaRegistryClient(conf) as client, pytest.raises(KafkaConnectionError, match="only on Azure machines"):
            client.get_subjects()


def test_secrets_are_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with ScriptedRegistry((503, b"")) as registry:
        url = registry.url.replace("http://", "http://ada:s3cret@")
        client = SchemaRegistryClient({"url": url, "max.retries": 1, **QUICK})
        with client, pytest.raises(SchemaRegistryError):
            client.get_subjects()
    assert "GET /subjects" in caplog.text
    assert "s3cret" not in caplog.text
    assert base64.b64encode(b"ada:s3cret").decode() not in caplog.text


def test_a_missing_http_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    real: Callable[..., Any] = exchange.http_library.__globals__["importlib"].import_module

    def missing(name: str) -> Any:
        if name in ("httpx", "httpx2"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return real(name)

    monkeypatch.setattr(exchange.http_library.__globals__["importlib"], "import_module", missing)
    client = SchemaRegistryClient({"url": "http://localhost:1"})
    with client, pytest.raises(KafkaConfigurationError, match=r"pip install 'kafka-columnar\[schema-registry\]'"):
        client.get_subjects()


def test_either_http_library_works(monkeypatch: pytest.MonkeyPatch) -> None:
    real: Callable[..., Any] = exchange.http_library.__globals__["importlib"].import_module

    def older(name: str) -> Any:
        if name == "httpx2":
            raise ModuleNotFoundError("No module named 'httpx2'", name="httpx2")
        return real(name)

    monkeypatch.setattr(exchange.http_library.__globals__["importlib"], "import_module", older)
    with ScriptedRegistry((200, ["a"])) as registry, client_of(registry) as client:
        assert client.get_subjects() == ["a"]


def test_a_closed_client_rejects_requests() -> None:
    with ScriptedRegistry((200, [])) as registry:
        client = client_of(registry)
        client.get_subjects()
        client.close()
        client.close()
        with pytest.raises(IllegalStateError, match="closed"):
            client.get_subjects()


def test_many_threads_share_a_client() -> None:
    found: list[Any] = []
    with ScriptedRegistry((200, ["a"])) as registry, client_of(registry) as client:
        threads = [threading.Thread(target=lambda: found.append(client.get_subjects())) for _ in range(8)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
    assert found == [["a"]] * 8


async def test_the_asyncio_client() -> None:
    with ScriptedRegistry((200, {"schema": '"int"'})) as registry:
        async with AsyncSchemaRegistryClient({"url": registry.url}) as client:
            assert await client.get_schema(7) == await client.get_schema(7) == Schema('"int"')
        assert len(registry.requests) == 1
        with pytest.raises(IllegalStateError, match="closed"):
            await client.get_schema(8)


def test_importing_does_not_load_an_http_library() -> None:
    import subprocess
    import sys

    code = "import kafka.schema_registry, sys; print([n for n in sys.modules if n.startswith(('httpx', 'h11'))])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", [".", "..", "../x", "a/b", "a?b#c", "%2e", ""])
def test_a_subjects_name_stays_one_part_of_the_path(name: str) -> None:
    """HTTP libraries resolve dots: with ".", setting a subject's level would set that of all subjects."""
    with EmbeddedBroker(registry=True) as broker, SchemaRegistryClient({"url": broker.registry_url}) as client:
        if name:
            client.set_compatibility(name, "NONE")
            assert client.get_compatibility(name) == "NONE"
            assert client.register_schema(name, Schema('"int"')) == 1
            assert (client.get_subjects(), client.get_versions(name)) == ([name], [1])
        else:
            with pytest.raises(IllegalArgumentError, match="got an empty text"):
                client.set_compatibility(name, "NONE")
        assert client.get_compatibility() == "BACKWARD"


SCHEMA = {"schema": '"int"', "id": 1, "version": 1, "subject": "s"}


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"schema": 7},
        SCHEMA | {"id": "seven"},
        SCHEMA | {"id": True},
        SCHEMA | {"id": -1},
        SCHEMA | {"id": 2**32},
        SCHEMA | {"id": 1.5},
        SCHEMA | {"version": "1"},
        SCHEMA | {"subject": 5},
        SCHEMA | {"references": 5},
        SCHEMA | {"references": [5]},
        SCHEMA | {"references": [{"name": 5}]},
        SCHEMA | {"metadata": 5},
        SCHEMA | {"metadata": {"tags": 5}},
        SCHEMA | {"ruleSet": {"domainRules": [5]}},
    ],
    ids=str,
)
def test_an_invalid_schema_is_an_error_and_not_cached(answer: Any) -> None:
    calls: list[Callable[[SchemaRegistryClient], Any]] = [
        lambda client: client.get_schema(7),
        lambda client: client.get_schema_by_guid("g"),
        lambda client: client.get_version("s", 1),
        lambda client: client.get_latest_version("s"),
        lambda client: client.get_latest_with_metadata("s", {}),
        lambda client: client.lookup_schema("s", Schema('"int"')),
        lambda client: client.register_schema("s", Schema('"int"')),
    ]
    with ScriptedRegistry((200, answer)) as registry, client_of(registry) as client:
        for call in calls:
            with pytest.raises(SchemaRegistryError, match=r"expected|cannot be read") as caught:
                call(client)
            assert caught.value.request.split()[0] in ("GET", "POST")
        registry.answers = [(200, SCHEMA)]
        for call in calls:
            call(client)


@pytest.mark.parametrize("answer", [[5], ["a", None], [{"subject": 5}], [[]], [True]], ids=str)
def test_a_list_of_other_things_is_an_error(answer: Any) -> None:
    with ScriptedRegistry((200, answer)) as registry, client_of(registry) as client:
        with pytest.raises(SchemaRegistryError, match="expected 'item' of type str"):
            client.get_subjects()
        with pytest.raises(SchemaRegistryError, match=r"expected '(version|subject)'"):
            client.get_schema_versions(1)
        registry.answers = [(200, {"defaultMetadata": 5})]
        with pytest.raises(SchemaRegistryError, match="settings that cannot be read"):
            client.get_config()


def test_compressed_responses_are_read_up_to_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Decompression bombs: a small part of a response may expand a thousandfold, and again if compressed twice."""
    monkeypatch.setattr(exchange, "MAX_ANSWER_BYTES", 100_000)
    with ScriptedRegistry((200, gzip.compress(b'["s"]'))) as registry, client_of(registry) as client:
        registry.headers = {"Content-Encoding": "gzip"}
        assert client.get_subjects() == ["s"]
        assert registry.requests[0].headers["accept-encoding"] == "gzip"
        registry.answers = [(200, gzip.compress(b" " * 99_998 + b"[]"))]
        assert client.get_subjects() == []
        bad: list[tuple[bytes, str]] = [
            (gzip.compress(b" " * 99_999 + b"[]"), "more than 100,000 bytes"),
            (gzip.compress(b'["s"]')[:-4], "compressed data is truncated"),
            (b"no gzip", "cannot be decompressed"),
        ]
        for data, why in bad:
            registry.answers = [(200, data)]
            with pytest.raises(SchemaRegistryError, match=why):
                client.get_subjects()
        for encoding in ("gzip, gzip", "zstd", "br"):
            registry.headers = {"Content-Encoding": encoding}
            with pytest.raises(SchemaRegistryError, match=f"compressed as '{encoding}', which was not requested"):
                client.get_subjects()


@pytest.mark.parametrize("token", ["s3cret\n", "s3cret\r\nX: y", "s3cret\N{SNOWMAN}", " s3cret"], ids=ascii)
def test_an_invalid_token_is_not_shown(token: str, caplog: pytest.LogCaptureFixture) -> None:
    conf = {"bearer.auth.credentials.source": "STATIC_TOKEN", "bearer.auth.token": token}
    with (
        ScriptedRegistry((200, [])) as registry,
        client_of(registry, **conf) as client,
        pytest.raises(KafkaConfigurationError, match=r"'bearer\.auth\.token' must be ASCII text without") as caught,
    ):
        client.get_subjects()
    assert "s3cret" not in "".join(traceback.format_exception(caught.value)) + caplog.text
    assert registry.requests == []


@pytest.mark.parametrize(
    ("conf", "expected"),
    [
        ({"url": "http://localhost\x7f"}, "'url' cannot be used: http://localhost"),
        ({"url": "http://\N{SNOWMAN}.\N{ZERO WIDTH SPACE}"}, "'url' cannot be used"),
        ({"proxy": "nonsense"}, "the proxy, .* cannot be used: expected http"),
        ({"proxy": "ftp://u:s3cret@host"}, "the proxy, .* cannot be used: expected http"),
        ({"proxy": "http://u:s3cret/@host"}, "the proxy, .* cannot be used: expected http"),
    ],
    ids=str,
)
def test_invalid_addresses(conf: dict[str, Any], expected: str) -> None:
    with (
        SchemaRegistryClient({"url": "http://127.0.0.1:9", **QUICK, **conf}) as client,
        pytest.raises(KafkaConfigurationError, match=expected) as caught,
    ):
        client.get_subjects()
    assert "s3cret" not in "".join(traceback.format_exception(caught.value))


def test_pending_requests_end_when_the_client_is_closed() -> None:
    """Previously, they were retried over new connections that nothing closed."""
    arrived = threading.Event()

    def hold(connection: socket.socket) -> None:
        with connection:
            connection.recv(65536)
            arrived.set()
            connection.recv(65536)

    with socket.create_server(("127.0.0.1", 0)) as silent, concurrent.futures.ThreadPoolExecutor() as pool:
        client = SchemaRegistryClient({"url": f"http://127.0.0.1:{silent.getsockname()[1]}", "timeout": 60, **QUICK})
        asked = pool.submit(client.get_subjects)
        held = pool.submit(hold, silent.accept()[0])
        assert arrived.wait(30)
        client.close()
        with pytest.raises(IllegalStateError, match="was closed"):
            asked.result(30)
        held.result(30)


def test_a_forked_child_opens_its_own_connections() -> None:
    ports: list[int] = []
    with ScriptedRegistry((200, ["s"]), ports=ports) as registry, client_of(registry) as client:
        assert client.get_subjects() == ["s"]
        child = os.fork()
        if child == 0:
            ok = False
            try:
                ok = client.get_subjects() == ["s"] == client.get_subjects()
                client.close()
            finally:
                os._exit(0 if ok else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert client.get_subjects() == ["s"]
        assert len(ports) == 4
        assert ports[0] == ports[3] != ports[1] == ports[2]


def test_a_client_in_a_garbage_cycle_closes_its_connections() -> None:
    """Previously, the collector finalized the connections first, with an asyncio warning in unrelated code."""
    with ScriptedRegistry((200, ["s"])) as registry:
        client: Any = client_of(registry)
        assert client.get_subjects() == ["s"]
        connections = client._exchange
        assert connections in registry_client._open
        client.itself = client
        del client
        gc.collect()
        deadline = time.monotonic() + 30
        while connections in registry_client._open:
            assert time.monotonic() < deadline
            time.sleep(0.005)
        assert connections._session is None
