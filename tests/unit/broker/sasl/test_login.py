"""Logins to a broker with users: successful and failed ones, requests out of order, and malicious bytes."""

from __future__ import annotations

import hashlib
import logging
import random
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from kafka.broker import EmbeddedBroker
from kafka.broker.broker_server import BrokerServer
from kafka.broker.broker_settings import BrokerSettings
from kafka.errors import KafkaConfigurationError
from kafka.wire import Request
from kafka.wire.api.alter_user_scram_credentials import AlterUserScramCredentialsRequest, ScramCredentialUpsertion
from kafka.wire.api.api_versions import ApiVersionsRequest
from kafka.wire.api.describe_user_scram_credentials import DescribeUserScramCredentialsRequest, UserName
from kafka.wire.api.metadata import MetadataRequest
from kafka.wire.api.sasl_authenticate import SaslAuthenticateRequest
from kafka.wire.api.sasl_handshake import SaslHandshakeRequest
from kafka.wire.framing import encode_request
from unit.broker.clock import VirtualClock
from unit.broker.sasl_client import MECHANISMS, ScramClient, handshake, log_in, say
from unit.broker.wireclient import WireClient

USERS = {"alice": "secret", "a=b,c": "käse", "bob": "secret"}
UNSUPPORTED_MECHANISM, ILLEGAL_STATE, REFUSED = 33, 34, 58


@pytest.fixture
async def broker() -> AsyncIterator[EmbeddedBroker]:
    async with EmbeddedBroker(users=USERS) as running:
        yield running


@pytest.fixture
async def client(broker: EmbeddedBroker) -> AsyncIterator[WireClient]:
    async with WireClient(broker) as connected:
        yield connected


async def is_served(client: WireClient) -> bool:
    return bool((await client.call(MetadataRequest(), 12)).brokers)


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("mechanism", MECHANISMS)
async def test_every_user_can_log_in_with_every_mechanism(client: WireClient, mechanism: str, user: str) -> None:
    answer = await log_in(client, mechanism, user, USERS[user])
    assert (answer.error_code, answer.session_lifetime_ms) == (0, 0), answer
    assert await is_served(client)


@pytest.mark.parametrize("version", [0, 1, 2])
async def test_every_version_of_the_exchange_works(client: WireClient, version: int) -> None:
    await client.call(ApiVersionsRequest(client_software_name="x", client_software_version="1"), 4)
    assert (await handshake(client, "PLAIN")).mechanisms == MECHANISMS
    assert (await say(client, b"\0alice\0secret", version)).error_code == 0
    assert await is_served(client)


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize(("user", "password"), [("alice", "Secret"), ("carol", "secret"), ("alice", "secret2")])
async def test_wrong_passwords_and_unknown_users_get_the_same_error(
    client: WireClient, mechanism: str, user: str, password: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "kafka.broker"):
        answer = await log_in(client, mechanism, user, password)
        assert (answer.error_code, answer.error_message) == (REFUSED, "wrong name or password")
        assert await client.is_closed()
    assert f"the login failed: {mechanism}" in caplog.text
    assert user not in caplog.text
    assert password not in caplog.text


@pytest.mark.parametrize("mechanism", MECHANISMS[1:])
async def test_two_attempts_do_not_reveal_an_unknown_user(broker: EmbeddedBroker, mechanism: str) -> None:
    salts: dict[str, set[tuple[str, int]]] = {"alice": set(), "carol": set(), "dave": set()}
    for user, seen in salts.items():
        for _ in range(2):
            async with WireClient(broker) as client:
                await handshake(client, mechanism)
                scram = ScramClient(mechanism, user, "guess")
                scram.take((await say(client, scram.first())).auth_bytes)
                seen.add((scram.salt, scram.iterations))
    assert all(len(seen) == 1 for seen in salts.values()), salts
    kinds = {(len(salt), iterations) for seen in salts.values() for salt, iterations in seen}
    assert len(kinds) == 1, kinds
    assert len(set.union(*salts.values())) == 3


async def test_an_unknown_mechanism_fails_with_the_supported_ones(client: WireClient) -> None:
    answer = await handshake(client, "GSSAPI")
    assert (answer.error_code, answer.mechanisms) == (UNSUPPORTED_MECHANISM, MECHANISMS)
    assert await client.is_closed()


async def test_only_api_versions_is_served_before_a_login(client: WireClient, caplog: pytest.LogCaptureFixture) -> None:
    served = await client.call(ApiVersionsRequest(client_software_name="x", client_software_version="1"), 4)
    assert {17, 36} <= {api.api_key for api in served.api_keys}
    with caplog.at_level(logging.WARNING, "kafka.broker"):
        await client.send(MetadataRequest(), 12)
        assert await client.is_closed()
    assert "Metadata before a login: this listener requires SASL" in caplog.text


async def test_an_exchange_without_a_handshake_closes_the_connection(client: WireClient) -> None:
    await client.send(SaslAuthenticateRequest(auth_bytes=b"\0alice\0secret"), 2)
    assert await client.is_closed()


@pytest.mark.parametrize("mechanism", MECHANISMS)
async def test_no_other_request_is_served_during_an_exchange(broker: EmbeddedBroker, mechanism: str) -> None:
    for request, version in ((SaslHandshakeRequest(mechanism="PLAIN"), 1), (ApiVersionsRequest(), 0)):
        async with WireClient(broker) as client:
            await handshake(client, mechanism)
            assert (await client.call(request, version)).error_code == ILLEGAL_STATE
            assert await client.is_closed()
    async with WireClient(broker) as client:
        await handshake(client, mechanism)
        await client.send(MetadataRequest(), 12)
        assert await client.is_closed()


async def test_a_completed_login_cannot_be_repeated(client: WireClient) -> None:
    await log_in(client, "PLAIN")
    assert (await handshake(client, "PLAIN")).error_code == ILLEGAL_STATE
    assert (await say(client, b"\0bob\0secret")).error_code == ILLEGAL_STATE
    assert await is_served(client)


async def test_a_listener_without_users_rejects_logins() -> None:
    async with EmbeddedBroker() as broker, WireClient(broker) as client:
        answer = await handshake(client, "PLAIN")
        assert (answer.error_code, answer.mechanisms) == (ILLEGAL_STATE, [])
        assert (await say(client, b"\0alice\0secret")).error_code == ILLEGAL_STATE
        assert await is_served(client)


# -- bare frames ------------------------------------------------------------------------------------------------------


async def say_bare(client: WireClient, message: bytes) -> bytes:
    await client.write(len(message).to_bytes(4, "big") + message)
    return await client.read_frame()


async def test_messages_are_bare_after_a_version_0_handshake(broker: EmbeddedBroker) -> None:
    async with WireClient(broker) as client:
        await handshake(client, "PLAIN", 0)
        assert await say_bare(client, b"\0bob\0secret") == b""
        assert await is_served(client)
    async with WireClient(broker) as client:
        await handshake(client, "SCRAM-SHA-256", 0)
        scram = ScramClient("SCRAM-SHA-256", "alice", "secret")
        scram.take(await say_bare(client, scram.first()))
        assert await say_bare(client, scram.final()) == scram.expected()
        assert await is_served(client)


@pytest.mark.parametrize("message", [b"", b"\0alice\0wrong", b"\0" * 100])
async def test_an_invalid_bare_message_closes_the_connection(client: WireClient, message: bytes) -> None:
    await handshake(client, "PLAIN", 0)
    await client.write(len(message).to_bytes(4, "big") + message)
    assert await client.is_closed()


# -- malicious bytes --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "message",
    [
        b"",
        b"alice",
        b"\0",
        b"\0\0",
        b"\0alice\0",
        b"\0\0secret",
        b"\0alice\0secret\0",
        b"\0alice\0secret\0more",
        b"bob\0alice\0secret",
        b"\xff\0alice\0secret",
        b"\0al\xffice\0secret",
        b"\0" * 100_000,
        b"\0alice\0" + b"s" * 100_000,
    ],
    ids=lambda message: repr(message[:20]),
)
async def test_an_invalid_plain_message_is_rejected(client: WireClient, message: bytes) -> None:
    await handshake(client, "PLAIN")
    assert (await say(client, message)).error_code == REFUSED
    assert await client.is_closed()


@pytest.mark.parametrize(
    "message",
    [
        b"",
        b"n,,",
        b"n,,n=alice",
        b"n,,n=,r=nonce",
        b"n,,n=alice,r=",
        b"n,,r=nonce,n=alice",
        b"n=alice,r=nonce",
        b"p=tls-unique,,n=alice,r=nonce",
        b"x,,n=alice,r=nonce",
        b"n,a=bob,n=alice,r=nonce",
        b"n,,m=ext,n=alice,r=nonce",
        b"n,,n=al=ice,r=nonce",
        b"n,,n=al=2cice,r=nonce",
        b"n,,n=alice,r=no nce",
        b"n,,n=alice,r=no\x07nce",
        b"n,,n=alice,r=nonce,",
        b"n,,n=alice,r=nonce,tokenauth",
        b"n,,n=alice,r=nonce,tokenauth=true",
        b"n,,n=alice\0,r=nonce",
        b"n,,n=\xff,r=nonce",
        b"n,,n=alice,r=" + b"n" * 5_000,
        b"n,,n=" + b"=2C" * 2_000 + b",r=nonce",
        b"n,,n=alice,r=nonce" + b",a=b" * 30_000,
        b"\0alice\0secret",
    ],
    ids=lambda message: repr(message[:34]),
)
async def test_an_invalid_first_scram_message_is_rejected(client: WireClient, message: bytes) -> None:
    await handshake(client, "SCRAM-SHA-512")
    answer = await say(client, message)
    assert (answer.error_code, answer.auth_bytes) == (REFUSED, b"")
    assert await client.is_closed()


def without_proof(final: bytes) -> bytes:
    return final.rpartition(b",p=")[0]


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param(lambda final: b"", id="nothing"),
        pytest.param(without_proof, id="no proof"),
        pytest.param(lambda final: without_proof(final) + b",p=", id="an empty proof"),
        pytest.param(lambda final: without_proof(final) + b",p=AAAA", id="a short proof"),
        pytest.param(lambda final: without_proof(final) + b",p=A=AA", id="a proof that is no base64"),
        pytest.param(lambda final: final[:-8] + b"AAAAAA==", id="another proof"),
        pytest.param(lambda final: final.replace(b"r=clients", b"r=another"), id="another nonce"),
        pytest.param(lambda final: final.replace(b"c=biws", b"c=eSws"), id="another header"),
        pytest.param(lambda final: final.replace(b"c=biws", b"c=!"), id="a header that is no base64"),
        pytest.param(lambda final: final + b",x=y", id="more after the proof"),
        pytest.param(lambda final: b"\xff" + final, id="no text"),
        pytest.param(lambda final: final * 200, id="too long"),
    ],
)
async def test_an_invalid_last_scram_message_is_rejected(client: WireClient, changed: Callable[[bytes], bytes]) -> None:
    await handshake(client, "SCRAM-SHA-256")
    scram = ScramClient("SCRAM-SHA-256", "alice", "secret")
    scram.take((await say(client, scram.first())).auth_bytes)
    answer = await say(client, changed(scram.final()))
    assert (answer.error_code, answer.auth_bytes) == (REFUSED, b"")
    assert await client.is_closed()


@pytest.mark.parametrize(("name", "value"), [("header", "y,,"), ("header", "n,a=alice,"), ("bare", ",ext=1")])
async def test_optional_parts_of_scram_messages_are_accepted(client: WireClient, name: str, value: str) -> None:
    await handshake(client, "SCRAM-SHA-256")
    scram = ScramClient("SCRAM-SHA-256", "alice", "secret")
    setattr(scram, name, value if name == "header" else scram.bare + value)
    scram.take((await say(client, scram.first())).auth_bytes)
    answer = await say(client, scram.final())
    assert (answer.error_code, answer.auth_bytes) == (0, scram.expected()), answer


async def test_a_replayed_scram_proof_is_rejected(broker: EmbeddedBroker) -> None:
    """An eavesdropper cannot log in with the messages of another login."""
    async with WireClient(broker) as client:
        await handshake(client, "SCRAM-SHA-256")
        scram = ScramClient("SCRAM-SHA-256", "alice", "secret")
        scram.take((await say(client, scram.first())).auth_bytes)
        heard = scram.final()
        assert (await say(client, heard)).error_code == 0
    async with WireClient(broker) as client:
        await handshake(client, "SCRAM-SHA-256")
        await say(client, scram.first())
        assert (await say(client, heard)).error_code == REFUSED


async def test_the_first_login_hashes_every_password(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hashed: list[bytes] = []
    pbkdf2_hmac = hashlib.pbkdf2_hmac

    def hash_password(name: str, password: bytes, salt: bytes, iterations: int) -> bytes:
        hashed.append(password)
        return pbkdf2_hmac(name, password, salt, iterations)

    monkeypatch.setattr(hashlib, "pbkdf2_hmac", hash_password)
    async with EmbeddedBroker(users=USERS) as broker:
        for user in ("carol", "alice", "bob"):
            async with WireClient(broker) as client:
                await handshake(client, "SCRAM-SHA-256")
                assert (await say(client, ScramClient("SCRAM-SHA-256", user, "").first())).error_code == 0
                assert sorted(hashed) == sorted(password.encode() for password in USERS.values())


async def test_unauthenticated_connections_use_little_memory_and_time_out(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    clock = VirtualClock()
    server = BrokerServer(tmp_path, "127.0.0.1", 0, BrokerSettings.from_names({"users": USERS}), clock=clock)
    endpoint = await server.start()
    try:
        assert len(server.connection().get_buffer(-1)) <= 4096
        async with WireClient(endpoint) as client, WireClient(endpoint) as idle, WireClient(endpoint) as slow:
            await log_in(client, "SCRAM-SHA-256")
            await handshake(slow, "SCRAM-SHA-256")
            await slow.write((100).to_bytes(4, "big") + b"a few bytes")
            await idle.call(ApiVersionsRequest(), 0)
            clock.advance(599)
            assert await is_served(client)
            clock.advance(1)
            assert await idle.is_closed()
            assert await slow.is_closed()
            assert await is_served(client)
    finally:
        await server.stop()
    assert caplog.text.count("no login within 600 s") == 2


@pytest.mark.parametrize("size", [524_289, 2**31 - 1, -1])
async def test_large_frames_are_rejected_before_the_login(client: WireClient, size: int) -> None:
    await client.write(size.to_bytes(4, "big", signed=True))
    assert await client.is_closed()


async def test_large_frames_are_accepted_after_the_login(client: WireClient) -> None:
    await log_in(client, "PLAIN")
    request = SaslAuthenticateRequest(auth_bytes=b"x" * 600_000)
    assert (await client.call(request, 2)).error_code == ILLEGAL_STATE


@pytest.mark.parametrize("chunk", [1_000, 4_097, 70_000])
async def test_requests_of_all_sizes_are_accepted_in_sequence(client: WireClient, chunk: int) -> None:
    """The buffer is small before the login, and larger from the first larger request on."""
    requests: list[tuple[Request[Any], int]] = [(SaslHandshakeRequest(mechanism="PLAIN"), 1)]
    requests += [(SaslAuthenticateRequest(auth_bytes=b"\0alice\0secret"), 2)]
    sizes = [10, 4_000, 5_000, 20, 3_000, 66_000, 30, 60_000, 5_000, 200_000, 8]
    requests += [(SaslAuthenticateRequest(auth_bytes=b"x" * size), 2) for size in sizes]
    frames = [b"".join(encode_request(one, version, n, "")) for n, (one, version) in enumerate(requests)]
    sent = b"".join(frames)
    for start in range(0, len(sent), chunk):
        await client.write(sent[start : start + chunk])
    codes = []
    for number, (one, version) in enumerate(requests):
        codes.append((await client.receive(type(one), version, number)).error_code)
    assert codes == [0, 0] + [ILLEGAL_STATE] * len(sizes)


@pytest.mark.parametrize("state", ["new", "exchange", "bare"])
async def test_random_bytes_do_not_log_in_and_do_not_affect_others(broker: EmbeddedBroker, state: str) -> None:
    chance = random.Random(5)
    async with WireClient(broker) as other:
        await log_in(other, "SCRAM-SHA-256")
        for _ in range(50):
            async with WireClient(broker) as client:
                if state != "new":
                    await handshake(client, chance.choice(MECHANISMS), 0 if state == "bare" else 1)
                payload = chance.randbytes(chance.randrange(8, 80))
                if state == "exchange":
                    await client.send(SaslAuthenticateRequest(auth_bytes=payload), 2)
                else:
                    await client.write(len(payload).to_bytes(4, "big") + payload)
                await client.read_to_the_end()
        assert await is_served(other)


# -- expiring sessions (KIP-368) --------------------------------------------------------------------------------------


async def test_an_expired_session_is_renewed_or_the_connection_closed() -> None:
    async with EmbeddedBroker(users=USERS, connections_max_reauth_ms=3_600_000) as broker:
        async with WireClient(broker) as client:
            assert (await log_in(client, "SCRAM-SHA-256")).session_lifetime_ms == 3_600_000
            assert (await log_in(client, "SCRAM-SHA-256")).session_lifetime_ms == 3_600_000
            assert await is_served(client)
            answer = await log_in(client, "SCRAM-SHA-256", "bob")
            assert answer.error_code == REFUSED
            assert "cannot change" in (answer.error_message or "")
            assert await client.is_closed()
        async with WireClient(broker) as client:
            await log_in(client, "SCRAM-SHA-256")
            assert (await handshake(client, "PLAIN")).error_code == UNSUPPORTED_MECHANISM
            assert await client.is_closed()


async def test_a_session_is_renewed_with_bare_frames() -> None:
    async with EmbeddedBroker(users=USERS, connections_max_reauth_ms=3_600_000) as broker, WireClient(broker) as client:
        await log_in(client, "PLAIN")
        assert (await handshake(client, "PLAIN", 0)).error_code == 0
        assert await say_bare(client, b"\0alice\0secret") == b""
        assert await is_served(client)
        await handshake(client, "PLAIN", 0)
        await client.write((11).to_bytes(4, "big") + b"\0bob\0secret")
        assert await client.is_closed()


async def test_an_expired_session_accepts_only_another_login(tmp_path: Path) -> None:
    clock = VirtualClock()
    server = BrokerServer(
        tmp_path,
        "127.0.0.1",
        0,
        BrokerSettings.from_names({"users": USERS, "connections_max_reauth_ms": 1_000}),
        clock=clock,
    )
    endpoint = await server.start()
    try:
        async with WireClient(endpoint) as client:
            await log_in(client, "PLAIN")
            clock.advance(0.9)
            assert await is_served(client)
            clock.advance(0.2)
            assert (await log_in(client, "PLAIN")).session_lifetime_ms == 1_000
            assert await is_served(client)
            clock.advance(1.0)
            await client.send(MetadataRequest(), 12)
            assert await client.is_closed()
    finally:
        await server.stop()


# -- altered credentials (KIP-554) ------------------------------------------------------------------------------------


def upsertion(
    name: str = "dave", mechanism: int = 1, iterations: int = 4096, salt: bytes = b"s", salted: bytes = b"p"
) -> ScramCredentialUpsertion:
    return ScramCredentialUpsertion(
        name=name, mechanism=mechanism, iterations=iterations, salt=salt, salted_password=salted
    )


@pytest.mark.parametrize(
    ("upsertions", "code"),
    [
        ([upsertion(name="")], 93),
        ([upsertion(iterations=4095)], 93),
        ([upsertion(iterations=16_385)], 93),
        ([upsertion(salt=b"")], 93),
        ([upsertion(salted=b"")], 93),
        ([upsertion(mechanism=0)], 33),
        ([upsertion(mechanism=3)], 33),
        ([upsertion(), upsertion()], 92),
        ([upsertion(), upsertion(mechanism=2)], 92),
        ([upsertion(), upsertion(mechanism=3)], 33),
        ([upsertion(), upsertion(mechanism=2, salt=b"")], 93),
    ],
)
async def test_an_invalid_credential_does_not_change_its_user(
    upsertions: list[ScramCredentialUpsertion], code: int
) -> None:
    async with EmbeddedBroker() as broker, WireClient(broker) as client:
        request = AlterUserScramCredentialsRequest(upsertions=[*upsertions, upsertion("erin", 2)])
        answer = await client.call(request, 0)
        assert [each.error_code for each in answer.results] == [code, 0]
        described = await client.call(DescribeUserScramCredentialsRequest(users=None), 0)
        assert [each.user for each in described.results] == ["erin"]


async def test_a_user_can_be_described_once_per_request(client: WireClient) -> None:
    await log_in(client, "PLAIN")
    request = DescribeUserScramCredentialsRequest(users=[UserName(name=each) for each in ("bob", "bob", "alice", "x")])
    answer = await client.call(request, 0)
    told = {each.user: (each.error_code, [one.mechanism for one in each.credential_infos]) for each in answer.results}
    assert told == {"bob": (92, []), "alice": (0, [1, 2]), "x": (91, [])}


async def test_only_the_owner_can_read_the_credentials(tmp_path: Path) -> None:
    file = tmp_path / "scram-credentials.json"
    file.write_text('{"SCRAM-SHA-256": {}, "SCRAM-SHA-512": {}}')
    file.chmod(0o644)
    async with EmbeddedBroker(tmp_path) as broker, WireClient(broker) as client:
        assert (await client.call(AlterUserScramCredentialsRequest(upsertions=[upsertion()]), 0)).results
    assert file.stat().st_mode & 0o777 == 0o600


async def test_unreadable_credentials_are_an_error_at_start(tmp_path: Path) -> None:
    (tmp_path / "scram-credentials.json").mkdir()
    with pytest.raises(OSError, match=r"scram-credentials\.json"):
        async with EmbeddedBroker(tmp_path, users=USERS):
            pass


async def test_a_damaged_credentials_file_is_kept(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "scram-credentials.json").write_text('{"SCRAM-SHA-256": {"alice": [4096]}}')
    async with EmbeddedBroker(tmp_path, users=USERS) as broker, WireClient(broker) as client:
        assert (await log_in(client, "SCRAM-SHA-256")).error_code == 0
    assert "is damaged" in caplog.text
    assert not (tmp_path / "scram-credentials.json").exists()


# -- the setting ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "users",
    [
        None,
        ["alice"],
        "alice",
        {"": "x"},
        {"a": ""},
        {"a": 5},
        {5: "x"},
        {"a\0b": "x"},
        {"a": "geheim\0"},
        {"a": "geheim\udce9"},
        {"\udce9": "geheim"},
    ],
)
def test_invalid_users_are_rejected_without_showing_passwords(users: object) -> None:
    with pytest.raises(KafkaConfigurationError, match=r"users (contains|must)") as caught:
        EmbeddedBroker(users=users)
    assert "geheim" not in str(caught.value)


def test_passwords_are_not_shown() -> None:
    settings = BrokerSettings.from_names({"users": {"alice": "geheim"}})
    assert "geheim" not in repr(settings)
