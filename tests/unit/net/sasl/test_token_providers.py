"""The built-in token providers: client credentials, signed assertions, files, and unsigned tokens."""

import base64
import json
import os
import threading
import time
import warnings

import pytest

from harness.oidc import CLIENTS, OidcServer
from kafka.config import parse_admin
from kafka.errors import KafkaConfigurationError, KafkaConnectionError, SaslAuthenticationFailedError
from kafka.net.sasl import token_providers
from kafka.net.sasl.mechanism import check_mechanism, make_mechanism
from kafka.net.sasl.token_endpoint import TokenEndpoint
from kafka.net.sasl.token_providers import token_provider

pytestmark = pytest.mark.once
CLIENT = {
    "sasl_oauthbearer_client_credentials_client_id": "alice",
    "sasl_oauthbearer_client_credentials_client_secret": CLIENTS["alice"],
}
WRONG = {"sasl_oauthbearer_client_credentials_client_secret": "hunter2"}


@pytest.fixture(scope="module")
def running():
    with OidcServer() as server:
        yield server


@pytest.fixture
def server(running):
    token_providers._shared.cache_clear()
    running.replies.clear()
    running.asked.clear()
    running.life_s = 600
    running.missing = 0
    return running


def security(server=None, **options):
    url = {"sasl_oauthbearer_token_endpoint_url": f"{server.url}/token"} if server else {}
    given = {"security_protocol": "SASL_SSL", "sasl_mechanism": "OAUTHBEARER", **url, **options}
    found = parse_admin(given).security
    check_mechanism(found)
    return found


def claims_of(token):
    body = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))


def test_a_token_from_client_credentials_is_shared_and_cached(server):
    options = {**CLIENT, "sasl_oauthbearer_scope": "a b", "sasl_oauthbearer_extensions": "logicalCluster=lkc-1"}
    first = make_mechanism(security(server, **options), "b").first()
    second = make_mechanism(security(server, **options), "other broker").first()
    assert first == second
    assert first.endswith(b"\x01logicalCluster=lkc-1\x01\x01")
    assert claims_of(first.split()[1].split(b"\x01")[0].decode())["sub"] == "alice"
    assert server.asked == [{"grant_type": "client_credentials", "scope": "a b"}]


def test_a_token_is_renewed_after_a_fraction_of_its_lifetime(server, monkeypatch):
    now = time.time()
    monkeypatch.setattr(token_providers.time, "time", lambda: now)
    provider = token_provider(security(server, **CLIENT))
    first = provider.token()
    now += 470
    assert provider.token() == first
    now += 20
    assert provider.token() != first
    assert len(server.asked) == 2


def test_an_old_token_is_used_while_it_is_valid_if_there_is_no_new_one(server, monkeypatch, caplog):
    now = time.time()
    monkeypatch.setattr(token_providers.time, "time", lambda: now)
    provider = token_provider(security(server, **CLIENT))
    first = provider.token()
    now += 500
    server.replies.append((503, b"busy"))
    assert provider.token() == first
    assert "the current one is used until it expires" in caplog.text
    now += 110
    server.replies.append((503, b"busy"))
    with pytest.raises(KafkaConnectionError, match="fails with HTTP status 503"):
        provider.token()


def test_an_aborted_answer_is_retriable_and_the_old_token_is_used_meanwhile(server, monkeypatch):
    now = time.time()
    monkeypatch.setattr(token_providers.time, "time", lambda: now)
    provider = token_provider(security(server, **CLIENT))
    first = provider.token()
    server.missing = 5
    now += 500
    assert provider.token() == first
    now += 110
    with pytest.raises(KafkaConnectionError, match="aborted its answer"):
        provider.token()


def test_an_answer_that_arrives_byte_by_byte_times_out(monkeypatch):
    now = 0.0
    monkeypatch.setattr(token_providers.time, "monotonic", lambda: now)

    class Slow:
        def read1(self, amount, decode_content):
            nonlocal now
            now += 9
            return b" "

    options = security(sasl_oauthbearer_token_endpoint_url="https://h/t", **CLIENT)
    with pytest.raises(KafkaConnectionError, match="did not finish its answer in 10000 ms"):
        TokenEndpoint(options)._body(Slow())
    assert now == 18


@pytest.mark.parametrize("said", [1e999, float("nan"), 10**400, "x", None])
def test_a_token_with_an_invalid_expiry_is_not_cached(said):
    body = base64.urlsafe_b64encode(json.dumps({"exp": said}).encode()).decode()
    for token in (f"h.{body}.s", "opaque"):
        assert token_providers._expiry(token, said, 1_000.0) == 1_000.0


def test_concurrent_connections_request_one_token(server):
    provider = token_provider(security(server, **CLIENT))
    found = []
    threads = [threading.Thread(target=lambda: found.append(provider.token())) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 1
    assert len(server.asked) == 1


def test_id_and_secret_are_encoded_on_request(server, monkeypatch):
    monkeypatch.setitem(CLIENTS, "alice", "alice%3A+secret%25")
    options = {**CLIENT, "sasl_oauthbearer_client_credentials_client_secret": "alice: secret%"}
    assert token_provider(security(server, **options, sasl_oauthbearer_header_urlencode=True)).token()


@pytest.mark.parametrize("password", [None, "passphrase"])
def test_a_signed_assertion_yields_a_token(server, tmp_path, password):
    key, template = tmp_path / "key.pem", tmp_path / "template.json"
    key.write_text(server.assertion_pem(password))
    template.write_text('{"header": {"kid": "mine"}, "payload": {"sub": "of the template", "extra": 1}}')
    options = {
        "sasl_oauthbearer_assertion_private_key_file": str(key),
        "sasl_oauthbearer_assertion_private_key_passphrase": password,
        "sasl_oauthbearer_assertion_template_file": str(template),
        "sasl_oauthbearer_assertion_claim_sub": "bob",
        "sasl_oauthbearer_assertion_claim_iss": "me",
        "sasl_oauthbearer_assertion_claim_aud": "it",
        "sasl_oauthbearer_assertion_claim_jti_include": True,
    }
    assert claims_of(token_provider(security(server, **options)).token())["sub"] == "bob"
    (asked,) = server.asked
    claims = claims_of(asked["assertion"])
    assert claims["exp"] - claims["iat"] == 300
    assert claims["iat"] - claims["nbf"] == 60
    assert (claims["iss"], claims["aud"], claims["extra"]) == ("me", "it", 1)
    assert claims["jti"]
    assert "client_id" not in asked


def test_a_ready_assertion_is_read_from_its_file_each_time(server, tmp_path):
    path = tmp_path / "assertion"
    path.write_text("no assertion\n")
    options = security(server, sasl_oauthbearer_assertion_file=str(path))
    with pytest.raises(SaslAuthenticationFailedError, match="rejected the request: invalid_grant"):
        token_provider(options).token()
    assert server.asked[-1]["assertion"] == "no assertion"


@pytest.mark.parametrize(
    ("replies", "options", "error", "message"),
    [
        (
            [],
            WRONG,
            SaslAuthenticationFailedError,
            "rejected the request: invalid_client: no client with the secret .not shown",
        ),
        ([(500, b"hunter2")], {}, KafkaConnectionError, "HTTP status 500"),
        (
            [(400, b'{"error": "no", "error_description": "\\u001b[2J\\nWARNING"}')],
            {},
            SaslAuthenticationFailedError,
            r"\\x1b",
        ),
        ([(429, b"{}")], {}, KafkaConnectionError, "HTTP status 429"),
        ([(200, b"[" * 100_000)], {}, SaslAuthenticationFailedError, "no token"),
        ([(404, b"<html>")], {}, SaslAuthenticationFailedError, "is it the URL of a token endpoint"),
        ([(200, b"[]")], {}, SaslAuthenticationFailedError, "is it the URL of a token endpoint"),
        ([(200, b"{}")], {}, SaslAuthenticationFailedError, "no 'access_token'"),
        ([(200, b'{"access_token": 7}')], {}, SaslAuthenticationFailedError, "no 'access_token'"),
        ([(200, b" " * 1_100_000)], {}, SaslAuthenticationFailedError, "no token"),
        ([(302, b"{}")], {}, SaslAuthenticationFailedError, "HTTP status 302"),
        ([(200, b"\xff\xfe")], {}, SaslAuthenticationFailedError, "no token"),
    ],
)
def test_errors_of_the_server_are_reported_without_secrets(server, replies, options, error, message):
    server.replies += replies
    with pytest.raises(error, match=message) as caught:
        token_provider(security(server, **{**CLIENT, **options})).token()
    assert "hunter2" not in str(caught.value)
    assert str(caught.value).isprintable(), "it would move a terminal's cursor, or begin a line of the log"
    assert f"http://127.0.0.1:{server.port}/token" in str(caught.value)


def test_an_unreachable_server_is_retriable_and_its_url_shows_no_password():
    url = "http://user:hunter2@127.0.0.1:1/token?key=hunter2"
    with pytest.raises(KafkaConnectionError, match=r"http://127\.0\.0\.1:1/token cannot be reached") as caught:
        token_provider(security(sasl_oauthbearer_token_endpoint_url=url, **CLIENT)).token()
    assert "hunter2" not in str(caught.value)


def test_an_http_url_causes_a_warning(server, caplog):
    token_provider(security(server, **CLIENT))
    assert "sent unencrypted" in caplog.text


def test_a_key_that_cannot_sign_is_named(server, tmp_path):
    key = tmp_path / "key.pem"
    key.write_text(server.assertion_pem("right"))
    for options in (
        {"sasl_oauthbearer_assertion_private_key_passphrase": "hunter2"},
        {"sasl_oauthbearer_assertion_private_key_passphrase": "right", "sasl_oauthbearer_assertion_algorithm": "ES256"},
    ):
        given = {"sasl_oauthbearer_assertion_private_key_file": str(key), **options}
        with pytest.raises(KafkaConfigurationError, match=r"key\.pem cannot sign with") as caught:
            token_provider(security(server, **given)).token()
        assert "hunter2" not in str(caught.value)


def test_a_token_from_a_file_is_read_each_time(tmp_path):
    path = tmp_path / "a token"
    path.write_text("first\n")
    provider = token_provider(security(sasl_oauthbearer_token_endpoint_url=path.as_uri()))
    assert provider.token() == "first"
    path.write_text("second")
    assert provider.token() == "second"
    path.unlink()
    with pytest.raises(KafkaConfigurationError, match="a token cannot be read"):
        provider.token()


def test_unsigned_tokens_have_the_configured_claims():
    options = security(sasl_oauthbearer_unsecured_claims={"sub": "ann", "scope": ["a", "b"]})
    claims = claims_of(token_provider(options).token())
    assert (claims["sub"], claims["scope"]) == ("ann", ["a", "b"])
    assert claims["exp"] - claims["iat"] == 3_600


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "0 are set"),
        ({"sasl_oauthbearer_token_endpoint_url": "https://h/t", "sasl_oauth_token_provider": 1}, "2 are set"),
        ({"sasl_oauth_token_provider": 1}, "whose token"),
        ({"sasl_oauthbearer_token_endpoint_url": "ftp://h/t"}, "https:, http: or file:"),
        ({"sasl_oauthbearer_token_endpoint_url": "https://h/t"}, "client_secret"),
        ({"sasl_oauthbearer_token_endpoint_url": "https://h:hunter2/t"}, "https:, http: or file:"),
        ({"sasl_oauthbearer_token_endpoint_url": "https:///t"}, "https:, http: or file:"),
        ({"sasl_oauthbearer_extensions": "novalue", "sasl_oauthbearer_token_endpoint_url": 7}, "expects a string"),
    ],
)
def test_options_that_cannot_yield_a_token_are_rejected(options, message):
    with pytest.raises(KafkaConfigurationError, match=message):
        security(**options)


def test_a_forked_child_is_not_blocked_by_a_lock_of_its_parent(server):
    provider = token_provider(security(server, **CLIENT))
    with provider._lock, warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # about threads during a fork, which this test needs
        child = os.fork()
        if child == 0:
            os._exit(0 if token_provider(security(server, **CLIENT)) is not provider else 1)
        assert os.waitpid(child, 0)[1] == 0
