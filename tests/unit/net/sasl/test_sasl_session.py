"""The SASL exchange over a connection, with a scripted broker."""

import asyncio
import threading

import pytest

from kafka import AsyncKafkaAdminClient
from kafka.config import parse_admin
from kafka.config.sasl_mechanisms import unregister_mechanism
from kafka.errors import (
    IllegalSaslStateError,
    KafkaConfigurationError,
    KafkaConnectionError,
    KafkaError,
    KafkaTimeoutError,
    SaslAuthenticationFailedError,
    UnsupportedSaslMechanismError,
)
from kafka.net import open_connection
from kafka.net.sasl import register_sasl_mechanism
from kafka.wire.api.heartbeat import HeartbeatRequest, HeartbeatResponse
from kafka.wire.api.metadata import MetadataResponse, MetadataResponseBroker
from kafka.wire.api.sasl_authenticate import SaslAuthenticateResponse
from kafka.wire.api.sasl_handshake import SaslHandshakeResponse
from unit.net.scripted import HANG_UP, SILENCE, ScriptedBroker
from unit.waiting import let_pass, until

PLAIN = {"sasl_mechanism": "PLAIN", "sasl_plain_username": "ann", "sasl_plain_password": "secret"}
MODERN = ("ApiVersions", "SaslHandshake", "SaslAuthenticate", "Heartbeat")
OLD = ("ApiVersions", "SaslHandshake", "Heartbeat")


@pytest.fixture
async def broker():
    async with ScriptedBroker(served=MODERN) as broker:
        accept_all(broker)
        yield broker


@pytest.fixture
async def old_broker():
    async with ScriptedBroker(served=OLD) as broker:
        accept_all(broker)
        yield broker


def accept_all(broker, lifetime_ms=0):
    broker.on("SaslHandshake", lambda *_: SaslHandshakeResponse(mechanisms=["PLAIN"]))
    broker.on("SaslAuthenticate", lambda *_: SaslAuthenticateResponse(session_lifetime_ms=lifetime_ms))
    broker.on("Heartbeat", lambda *_: HeartbeatResponse())


async def connect(broker, **options):
    parsed = parse_admin(
        {"security_protocol": "SASL_PLAINTEXT", "socket_connection_setup_timeout_ms": 3_000, **PLAIN, **options}
    )
    return await open_connection(broker.host, broker.port, parsed.connection, parsed.security)


def heartbeat():
    return HeartbeatRequest(group_id="g", generation_id=1, member_id="m")


async def test_a_connection_is_authenticated_before_it_is_returned(broker):
    connection = await connect(broker)
    assert [type(request).__name__ for _, request in broker.seen] == [
        "ApiVersionsRequest",
        "SaslHandshakeRequest",
        "SaslAuthenticateRequest",
    ]
    assert broker.requests("SaslAuthenticate")[0].auth_bytes == b"\0ann\0secret"
    assert await connection.send(heartbeat()) == HeartbeatResponse()
    await connection.close()


async def test_the_error_contains_the_brokers_reason(broker):
    refusal = SaslAuthenticateResponse(error_code=58, error_message="no such user")
    broker.on("SaslAuthenticate", lambda *_: refusal)
    with pytest.raises(SaslAuthenticationFailedError, match="PLAIN credentials: no such user"):
        await connect(broker)


async def test_an_unsupported_mechanism_is_reported_with_the_supported_ones(broker):
    broker.on("SaslHandshake", lambda *_: SaslHandshakeResponse(error_code=33, mechanisms=["GSSAPI", "OAUTHBEARER"]))
    with pytest.raises(UnsupportedSaslMechanismError, match="offers GSSAPI, OAUTHBEARER; sasl_mechanism is 'PLAIN'"):
        await connect(broker)


HOSTILE = "no\r\n2026 ERROR all is lost\x1b[2J\u2028"


@pytest.mark.parametrize("code", [58, 33])
async def test_control_characters_in_a_brokers_reason_are_escaped(broker, code):
    refusal = SaslAuthenticateResponse(error_code=code, error_message=HOSTILE)
    broker.on("SaslAuthenticate", lambda *_: refusal)
    with pytest.raises(KafkaError, match=r"no\\r\\n2026 ERROR all is lost\\x1b\[2J\\u2028") as caught:
        await connect(broker)
    assert str(caught.value).isprintable()


async def test_control_characters_in_a_brokers_mechanisms_are_escaped(broker):
    broker.on("SaslHandshake", lambda *_: SaslHandshakeResponse(error_code=33, mechanisms=["GSSAPI", HOSTILE]))
    with pytest.raises(UnsupportedSaslMechanismError, match=r"offers GSSAPI, no\\r\\n2026 ERROR") as caught:
        await connect(broker)
    assert str(caught.value).isprintable()


async def test_a_hang_up_on_authentication_hints_at_a_listener_without_sasl(broker):
    broker.on("SaslHandshake", lambda *_: HANG_UP)
    told = r"closed the connection when authentication began: does this listener ask for SASL\? \(security_protocol"
    with pytest.raises(KafkaConnectionError, match=told):
        await connect(broker)


async def test_a_listener_without_sasl_is_reported_at_once(broker):
    broker.on("SaslHandshake", lambda *_: SaslHandshakeResponse(error_code=34))
    with pytest.raises(
        IllegalSaslStateError, match=r"does not support SASL: does this listener ask for SASL\?"
    ) as caught:
        await connect(broker)
    assert not caught.value.retriable


async def test_options_are_checked_before_connecting(broker):
    with pytest.raises(KafkaConfigurationError, match="CRAM-MD5"):
        await connect(broker, sasl_mechanism="CRAM-MD5")
    assert broker.connections == 0


async def test_a_failing_token_provider_is_reported_and_leaves_no_connection(broker):
    class Provider:
        def token(self):
            raise OSError("the token server is down")

    told = (
        r"cannot get a token to authenticate: token\(\) of sasl_oauth_token_provider "
        r"raised OSError\('the token server"
    )
    with pytest.raises(KafkaConnectionError, match=told) as caught:
        await connect(broker, sasl_mechanism="OAUTHBEARER", sasl_oauth_token_provider=Provider())
    assert caught.value.retriable
    assert isinstance(caught.value.__cause__, OSError)
    await until(lambda: not broker._writers)


async def test_a_token_provider_that_fails_once_at_the_first_login_is_retried():
    asked = []

    class Provider:
        def token(self):
            asked.append(None)
            if len(asked) == 1:
                raise OSError("the token server is down")
            return "t"

    login = {"sasl_mechanism": "OAUTHBEARER", "sasl_oauth_token_provider": Provider()}
    async with ScriptedBroker(served=(*MODERN, "Metadata")) as broker:
        accept_all(broker)
        itself = MetadataResponseBroker(node_id=1, host=broker.host, port=broker.port)
        broker.on("Metadata", lambda *_: MetadataResponse(brokers=[itself]))
        servers = f"{broker.host}:{broker.port}"
        client = AsyncKafkaAdminClient(bootstrap_servers=servers, security_protocol="SASL_PLAINTEXT", **login)
        await client.start()
        await client.close()
    assert len(asked) == 2


async def test_a_renewal_without_a_token_is_a_warning_without_a_traceback(broker, caplog):
    asked = []

    class Provider:
        def token(self):
            asked.append(None)
            if len(asked) > 1:
                raise OSError("the token server is down")
            return "t"

    accept_all(broker, lifetime_ms=20)
    connection = await connect(broker, sasl_mechanism="OAUTHBEARER", sasl_oauth_token_provider=Provider())
    await until(lambda: connection.closed)
    (record,) = [each for each in caplog.records if "reauthentication" in each.message]
    assert (record.levelname, record.exc_info) == ("WARNING", None)
    assert "the token server is down" in record.message


class Vault:
    """A registered mechanism that reads its password from a server that is down."""

    def __init__(self, down_in, **config):
        self._down_in = down_in

    def auth_bytes(self):
        return self._ask("auth_bytes")

    def receive(self, auth_bytes):
        self._ask("receive")

    def is_done(self):
        return True

    def is_authenticated(self):
        return True

    def _ask(self, method):
        if method == self._down_in:
            raise TimeoutError("the vault is down")
        return b"\0ann\0secret"


@pytest.fixture(params=["auth_bytes", "receive"])
def vault(request):
    class VaultDown(Vault):
        def __init__(self, **config):
            super().__init__(request.param, **config)

    register_sasl_mechanism("PLAIN", VaultDown, overwrite=True)
    yield r"cannot authenticate: VaultDown raised TimeoutError\('the vault is down'\)"
    unregister_mechanism("PLAIN")


async def test_an_os_error_of_a_registered_mechanism_is_a_connection_error(broker, vault):
    with pytest.raises(KafkaConnectionError, match=vault) as caught:
        await connect(broker)
    assert caught.value.retriable
    assert isinstance(caught.value.__cause__, TimeoutError)
    await until(lambda: not broker._writers)


async def test_an_os_error_of_a_registered_mechanism_does_not_count_as_a_refusal_by_an_old_broker(old_broker, vault):
    old_broker.raw_replies = [b""]
    with pytest.raises(KafkaConnectionError, match=vault):
        await connect(old_broker)


async def test_old_brokers_receive_bare_tokens(old_broker):
    old_broker.raw_replies = [b""]
    connection = await connect(old_broker)
    assert old_broker.raw_tokens == [b"\0ann\0secret"]
    assert old_broker.seen[1][0].request_api_version == 0
    assert await connection.send(heartbeat()) == HeartbeatResponse()
    await connection.close()


async def test_a_hang_up_of_an_old_broker_means_refused_credentials(old_broker):
    old_broker.raw_replies = [HANG_UP]
    with pytest.raises(SaslAuthenticationFailedError, match="closed the connection during the PLAIN exchange"):
        await connect(old_broker)


async def test_an_old_broker_that_never_answers_times_out(old_broker):
    old_broker.raw_replies = [SILENCE]
    connecting = asyncio.create_task(connect(old_broker, socket_connection_setup_timeout_ms=60_000))
    await until(lambda: old_broker.raw_tokens)
    let_pass(60)
    with pytest.raises(KafkaTimeoutError, match="SASL exchange"):
        await connecting


async def test_a_limited_session_is_renewed_while_requests_wait(broker):
    may_finish = asyncio.Event()
    accept_all(broker, lifetime_ms=20)

    async def authenticate(header, request):
        if len(broker.requests("SaslAuthenticate")) == 1:
            return SaslAuthenticateResponse(session_lifetime_ms=20)
        await may_finish.wait()
        return SaslAuthenticateResponse()

    broker.on("SaslAuthenticate", authenticate)
    connection = await connect(broker)
    await until(lambda: len(broker.requests("SaslAuthenticate")) == 2)
    held = [connection.post(heartbeat()) for _ in range(3)]
    assert len(connection._send_queue) == 3
    may_finish.set()
    assert await asyncio.gather(*held) == [HeartbeatResponse()] * 3
    assert broker.connections == 1
    await connection.close()


async def test_requests_continue_while_the_renewal_waits_for_a_token(broker):
    may_finish = threading.Event()
    asked = []

    class Provider:
        def token(self):
            asked.append(None)
            if len(asked) > 1:
                may_finish.wait(60)
            return "t"

    accept_all(broker, lifetime_ms=20)
    connection = await connect(
        broker,
        sasl_mechanism="OAUTHBEARER",
        sasl_plain_username=None,
        sasl_plain_password=None,
        sasl_oauth_token_provider=Provider(),
    )
    try:
        await until(lambda: len(asked) == 2)
        waiting = connection.post(heartbeat())
        assert not connection._send_queue
        assert await waiting == HeartbeatResponse()
        accept_all(broker)
    finally:
        may_finish.set()
    await until(lambda: len(broker.requests("SaslAuthenticate")) == 2)
    assert await connection.send(heartbeat()) == HeartbeatResponse()
    await connection.close()


async def test_a_refused_renewal_closes_the_connection(broker):
    def authenticate(header, request):
        first = len(broker.requests("SaslAuthenticate")) == 1
        return SaslAuthenticateResponse(error_code=0 if first else 58, session_lifetime_ms=20)

    broker.on("SaslAuthenticate", authenticate)
    broker.on("Heartbeat", lambda *_: SILENCE)
    connection = await connect(broker)
    waiting = connection.post(heartbeat())
    await until(lambda: connection.closed)
    with pytest.raises(SaslAuthenticationFailedError):
        await waiting


async def test_a_closed_connection_is_not_renewed(broker):
    accept_all(broker, lifetime_ms=60_000)
    connection = await connect(broker)
    await connection.close()
    assert len(broker.requests("SaslAuthenticate")) == 1


async def test_closing_a_connection_during_its_renewal_is_not_a_failure(broker, caplog):
    accept_all(broker, lifetime_ms=20)
    connection = await connect(broker)
    broker.on("SaslAuthenticate", lambda *_: SILENCE)
    await until(lambda: len(broker.requests("SaslAuthenticate")) == 2)
    await connection.close()
    for _ in range(5):  # the renewal is logged
        await asyncio.sleep(0)
    assert not [each for each in caplog.messages if "again" in each]


async def test_a_hang_up_during_the_exchange_is_a_connection_error(broker):
    broker.on("SaslAuthenticate", lambda *_: HANG_UP)
    with pytest.raises(KafkaConnectionError):
        await connect(broker)
