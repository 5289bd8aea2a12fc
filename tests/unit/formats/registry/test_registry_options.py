"""The configuration of a schema registry client."""

from __future__ import annotations

from typing import Any

import pytest

from kafka.errors import KafkaConfigurationError
from kafka.formats.registry.client_options import parse
from kafka.schema_registry import SchemaRegistryClient

pytestmark = pytest.mark.once

URL = {"url": "http://localhost:8081"}


def test_urls_lose_user_and_trailing_slash() -> None:
    options = parse({"url": "http://ada:se%40cret@one:8081/, https://two/path/"})
    assert [each.address for each in options.urls] == ["http://one:8081", "https://two/path"]
    assert [each.user for each in options.urls] == [("ada", "se@cret"), None]


def test_a_user_for_all_urls() -> None:
    options = parse({"url": "http://one,http://two", "basic.auth.user.info": "ada:with:colon"})
    assert [each.user for each in options.urls] == [("ada", "with:colon")] * 2


@pytest.mark.parametrize(
    ("user", "is_warned"),
    [
        ({"basic.auth.user.info": "ada:secret"}, True),
        ({"url": "http://ada:secret@localhost:8081"}, True),
        ({}, False),
    ],
)
def test_a_user_in_addition_to_a_token_is_warned_about(
    caplog: pytest.LogCaptureFixture, user: dict[str, str], is_warned: bool
) -> None:
    token = {"bearer.auth.credentials.source": "STATIC_TOKEN", "bearer.auth.token": "t"}
    parse({**URL, **user, **token})
    warned = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert [("sends the token" in each, "secret" in each) for each in warned] == [(True, False)] * is_warned
    caplog.clear()
    parse({**URL, **user})
    assert not caplog.records


AZURE = {**URL, "bearer.auth.credentials.source": "OAUTHBEARER_AZURE_IMDS"}


@pytest.mark.parametrize(
    ("url", "query", "asked"),
    [
        (
            None,
            "api-version=1&resource=a",
            "http://169.254.169.254/metadata/identity/oauth2/token?api-version=1&resource=a",
        ),
        ("https://azure/token?a=b", None, "https://azure/token?a=b"),
        ("https://azure/token?a=b#c", "c=d", "https://azure/token?c=d"),
    ],
)
def test_azure_token_endpoint(url: str | None, query: str | None, asked: str) -> None:
    bearer = parse(AZURE | {"bearer.auth.issuer.endpoint.url": url, "bearer.auth.issuer.endpoint.query": query}).bearer
    assert bearer is not None
    assert bearer.azure_url == asked


def test_defaults() -> None:
    options = parse(URL)
    assert (options.timeout_s, options.max_retries, options.cache_capacity) == (10, 3, 1000)
    assert (options.cache_latest_ttl_s, options.retries_wait_ms, options.retries_max_wait_ms) == (300, 1000, 20000)


@pytest.mark.parametrize(
    ("conf", "text"),
    [
        ({}, "'url' is needed"),
        ({"url": "localhost:8081"}, "expected http://HOST:PORT"),
        ({"url": "mock://test"}, "EmbeddedBroker"),
        ({"url": "http://:99999"}, "URL 1 of 'url' cannot be used"),
        ({**URL, "urls": "x"}, "did you mean 'url'"),
        ({**URL, "timeout": "5"}, "'timeout' must be a number"),
        ({**URL, "max.retries": -1}, "'max.retries' must be a number of at least 0"),
        ({**URL, "basic.auth.user.info": "secret"}, "USER:PASSWORD"),
        ({"url": "http://a:secret@b", "basic.auth.user.info": "a:secret"}, "remove one"),
        ({**URL, "ssl.key.location": "key.pem"}, "need 'ssl.certificate.location'"),
        ({**URL, "bearer.auth.token": "secret"}, "needs 'bearer.auth.credentials.source'"),
        ({**URL, "bearer.auth.credentials.source": "MAGIC"}, "or 'OAUTHBEARER_AZURE_IMDS' or 'CUSTOM'"),
        ({**AZURE}, "needs 'bearer.auth.issuer.endpoint.query'"),
        ({**AZURE, "bearer.auth.issuer.endpoint.url": "secret"}, "must be a URL"),
        ({**AZURE, "bearer.auth.issuer.endpoint.url": "http://[secret"}, "must be a URL"),
        ({**AZURE, "bearer.auth.issuer.endpoint.query": 7}, "must be a non-empty string"),
        ({**URL, "bearer.auth.credentials.source": "STATIC_TOKEN"}, "needs 'bearer.auth.token'"),
        ({**URL, "bearer.auth.credentials.source": "OAUTHBEARER", "bearer.auth.client.secret": "secret"}, "endpoint"),
        ({**URL, "bearer.auth.credentials.source": "CUSTOM"}, "must be a function"),
        ({**URL, "bearer.auth.credentials.source": "STATIC_TOKEN", "bearer.auth.token": ("secret",)}, "tuple"),
        ("http://localhost", "as a dict"),
    ],
)
def test_invalid_options_are_named_without_secrets(conf: Any, text: str) -> None:
    with pytest.raises(KafkaConfigurationError) as caught:
        parse(conf)
    assert text in str(caught.value)
    assert "secret" not in str(caught.value).replace("bearer.auth.client.secret", "")


def test_a_client_shows_no_secret() -> None:
    client = SchemaRegistryClient({"url": "http://ada:secret@one:8081", "ssl.ca.location": None})
    assert repr(client) == "SchemaRegistryClient(http://one:8081)"
    assert "secret" not in repr(client._options)
    client.close()


def test_a_client_is_not_pickled() -> None:
    import pickle

    with SchemaRegistryClient(URL) as client, pytest.raises(TypeError, match="make one where it is needed"):
        pickle.dumps(client)
