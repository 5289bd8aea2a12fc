"""Clients of all kinds log in to the embedded broker, and are told what is wrong where they do not."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import aiokafka
import confluent_kafka
import pytest
from aiokafka.errors import KafkaError as AioKafkaError

from harness.cache import ROOT
from harness.peers import peers_environment
from kafka import (
    AsyncKafkaAdminClient,
    AsyncKafkaConsumer,
    AsyncKafkaProducer,
    KafkaAdminClient,
    KafkaConsumer,
    KafkaProducer,
)
from kafka.admin import UserScramCredentialDeletion, UserScramCredentialUpsertion
from kafka.broker import EmbeddedBroker
from kafka.errors import (
    IllegalSaslStateError,
    NoBrokersAvailable,
    SaslAuthenticationFailedError,
    UnsupportedSaslMechanismError,
)

MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
PATIENCE_S = 60
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning:aiokafka")


@pytest.fixture(scope="module")
def secured() -> Iterator[EmbeddedBroker]:
    """A broker with users."""
    with EmbeddedBroker(users={"alice": "alice-secret", "bob": "bob-secret"}) as broker:
        yield broker


def login(broker: EmbeddedBroker, mechanism: str, password: str = "alice-secret") -> dict[str, Any]:
    """Options of kafka-python."""
    return {
        "bootstrap_servers": broker.bootstrap_servers,
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": mechanism,
        "sasl_plain_username": "alice",
        "sasl_plain_password": password,
    }


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_our_clients_log_in(secured: EmbeddedBroker, mechanism: str) -> None:
    options, topic = login(secured, mechanism), f"ours-{mechanism}"
    with KafkaAdminClient(**options) as admin, contextlib.closing(KafkaProducer(**options)) as producer:
        producer.send(topic, b"v").get(PATIENCE_S)
        assert topic in admin.list_topics()
    reading = {"auto_offset_reset": "earliest", "group_id": topic, "consumer_timeout_ms": PATIENCE_S * 1000}
    with contextlib.closing(KafkaConsumer(topic, **options, **reading)) as consumer:
        assert next(consumer).value == b"v"


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_our_asyncio_clients_log_in(secured: EmbeddedBroker, mechanism: str) -> None:
    options, topic = login(secured, mechanism), f"asyncio-{mechanism}"

    async def exchange() -> bytes | None:
        async with AsyncKafkaAdminClient(**options) as admin, AsyncKafkaProducer(**options) as producer:
            await producer.send_and_wait(topic, b"v")
            assert topic in await admin.list_topics()
        async with AsyncKafkaConsumer(topic, auto_offset_reset="earliest", group_id=topic, **options) as consumer:
            async with asyncio.timeout(PATIENCE_S):
                return (await consumer.getone()).value

    assert asyncio.run(exchange()) == b"v"


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_confluent_kafka_logs_in(secured: EmbeddedBroker, mechanism: str) -> None:
    topic = f"confluent-{mechanism}"
    options = {
        "bootstrap.servers": secured.bootstrap_servers,
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": mechanism,
        "sasl.username": "alice",
        "sasl.password": "alice-secret",
    }
    producer = confluent_kafka.Producer(options)
    errors: list[object] = []
    producer.produce(topic, b"v", on_delivery=lambda error, _message: errors.append(error))
    producer.flush(PATIENCE_S)
    assert errors == [None]
    consumer = confluent_kafka.Consumer({**options, "group.id": topic, "auto.offset.reset": "earliest"})
    try:
        consumer.subscribe([topic])
        message = consumer.poll(PATIENCE_S)
        assert message is not None, "nothing was read"
        assert message.error() is None, message.error()
        assert message.value() == b"v"
    finally:
        consumer.close()


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_aiokafka_logs_in(secured: EmbeddedBroker, mechanism: str) -> None:
    options, topic = login(secured, mechanism), f"aiokafka-{mechanism}"

    async def exchange() -> Any:
        producer = aiokafka.AIOKafkaProducer(**options)
        await producer.start()
        try:
            await producer.send_and_wait(topic, b"v")
        finally:
            await producer.stop()
        consumer = aiokafka.AIOKafkaConsumer(topic, auto_offset_reset="earliest", group_id=topic, **options)
        await consumer.start()
        try:
            async with asyncio.timeout(PATIENCE_S):
                return (await consumer.getone()).value
        finally:
            await consumer.stop()

    assert asyncio.run(exchange()) == b"v"


_KAFKA_PYTHON = """
import json, sys
import kafka
for options in json.loads(sys.argv[1]):
    topic = f"kafka-python-{options['sasl_mechanism']}"
    producer = kafka.KafkaProducer(**options)
    producer.send(topic, b"v").get(60)
    producer.close()
    reading = dict(auto_offset_reset="earliest", group_id=topic, consumer_timeout_ms=60_000)
    consumer = kafka.KafkaConsumer(topic, **options, **reading)
    assert next(iter(consumer)).value == b"v"
    consumer.close()
    print(options["sasl_mechanism"], "kafka-python", kafka.__version__)
"""


def test_kafka_python_logs_in(secured: EmbeddedBroker) -> None:
    options = json.dumps([login(secured, mechanism) for mechanism in MECHANISMS])
    done = subprocess.run(
        [sys.executable, "-c", _KAFKA_PYTHON, options],
        env=peers_environment(),
        capture_output=True,
        text=True,
        timeout=5 * PATIENCE_S,
        check=False,
    )
    assert [line.split()[0] for line in done.stdout.splitlines()] == list(MECHANISMS), done.stderr[-1000:]


# -- what goes wrong --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_wrong_password_is_told_at_once(secured: EmbeddedBroker, mechanism: str) -> None:
    told = f"refused the {mechanism} credentials: wrong name or password"
    with pytest.raises(SaslAuthenticationFailedError, match=told):
        KafkaAdminClient(**login(secured, mechanism, "bob-secret"))

    async def start() -> None:
        async with AsyncKafkaProducer(**login(secured, mechanism, "bob-secret")):
            pass

    with pytest.raises(SaslAuthenticationFailedError, match=told):
        asyncio.run(start())


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_others_are_told_of_a_wrong_password(secured: EmbeddedBroker, mechanism: str) -> None:
    async def start() -> None:
        producer = aiokafka.AIOKafkaProducer(**login(secured, mechanism, "bob-secret"))
        try:
            await producer.start()
        finally:
            await producer.stop()

    with pytest.raises(AioKafkaError):
        asyncio.run(start())
    errors: list[confluent_kafka.KafkaError] = []
    producer = confluent_kafka.Producer(
        {
            "bootstrap.servers": secured.bootstrap_servers,
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": mechanism,
            "sasl.username": "alice",
            "sasl.password": "bob-secret",
            "error_cb": errors.append,
        }
    )
    for _ in range(PATIENCE_S):
        if any(error.code() == confluent_kafka.KafkaError._AUTHENTICATION for error in errors):
            break
        producer.poll(1)
    assert any("wrong name or password" in error.str() for error in errors), [error.str() for error in errors]


def test_a_mechanism_that_is_not_offered_is_told_with_those_that_are(secured: EmbeddedBroker) -> None:
    options = {
        "bootstrap_servers": secured.bootstrap_servers,
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": "OAUTHBEARER",
        "sasl_oauthbearer_unsecured_claims": {"sub": "alice"},
    }
    with pytest.raises(UnsupportedSaslMechanismError, match="offers PLAIN, SCRAM-SHA-256, SCRAM-SHA-512"):
        KafkaAdminClient(**options)


def test_a_client_without_sasl_is_told_at_once_that_the_listener_asks_for_it(secured: EmbeddedBroker) -> None:
    with pytest.raises(NoBrokersAvailable) as failure:
        KafkaAdminClient(bootstrap_servers=secured.bootstrap_servers, bootstrap_timeout_ms=10 * PATIENCE_S * 1000)
    assert str(failure.value).endswith(
        f"could be used: {secured.bootstrap_servers} requires SASL authentication (PLAIN, SCRAM-SHA-256, "
        "SCRAM-SHA-512), but security_protocol is 'PLAINTEXT': set it to 'SASL_PLAINTEXT', and set the credentials"
    )


def test_a_client_with_sasl_is_told_that_the_listener_does_not_ask_for_it() -> None:
    told = r"does not support SASL: does this listener ask for SASL\? \(security_protocol is 'SASL_PLAINTEXT'\)"
    with EmbeddedBroker() as broker, pytest.raises(IllegalSaslStateError, match=told):
        KafkaAdminClient(**login(broker, "PLAIN"))


# -- users that administrators make -----------------------------------------------------------------------------------


def test_users_are_set_described_and_deleted_and_outlive_a_restart(tmp_path: Path) -> None:
    with EmbeddedBroker(tmp_path, users={"alice": "alice-secret"}) as broker:
        with KafkaAdminClient(**login(broker, "PLAIN")) as admin:
            changes = [
                UserScramCredentialUpsertion("carol", "SCRAM-SHA-256", "carol-secret", iterations=8192),
                UserScramCredentialUpsertion("alice", "SCRAM-SHA-512", "another"),
            ]
            assert admin.alter_user_scram_credentials(changes) == {"carol": None, "alice": None}
            deletion = UserScramCredentialDeletion("alice", "SCRAM-SHA-256")
            assert "twice" in str(admin.alter_user_scram_credentials([changes[1], deletion])["alice"])
            assert admin.alter_user_scram_credentials([deletion]) == {"alice": None}
            again = [UserScramCredentialDeletion("alice", "SCRAM-SHA-256")]
            assert "no credential of SCRAM-SHA-256" in str(admin.alter_user_scram_credentials(again)["alice"])
            dave = [UserScramCredentialUpsertion("dave", "SCRAM-SHA-256", "p", iterations=20_000)]
            assert "4096 to 16384 iterations" in str(admin.alter_user_scram_credentials(dave)["dave"])
            told = admin.describe_user_scram_credentials(["dave"])["dave"]
            assert (told["credential_infos"], "no credential" in told["error"]) == ([], True), told
        broker.restart()
        for user, mechanism, password, is_right in (
            ("carol", "SCRAM-SHA-256", "carol-secret", True),
            ("carol", "SCRAM-SHA-512", "carol-secret", False),
            ("carol", "PLAIN", "carol-secret", False),
            ("alice", "SCRAM-SHA-512", "another", True),
            ("alice", "SCRAM-SHA-512", "alice-secret", False),
            ("alice", "SCRAM-SHA-256", "alice-secret", False),
            ("alice", "PLAIN", "alice-secret", True),
        ):
            options = {**login(broker, mechanism, password), "sasl_plain_username": user}
            if not is_right:
                with pytest.raises(SaslAuthenticationFailedError):
                    KafkaAdminClient(**options)
                continue
            with KafkaAdminClient(**options) as admin:
                found = admin.describe_user_scram_credentials()
            iterations = {name: [one["iterations"] for one in told["credential_infos"]] for name, told in found.items()}
            assert iterations == {"alice": [4096], "carol": [8192]}


# -- docs/SECURITY_GUIDE.md -------------------------------------------------------------------------------------------


def shown(kind: str) -> list[str]:
    """The blocks of that kind in the section about a broker with users."""
    guide = (ROOT / "docs" / "SECURITY_GUIDE.md").read_text(encoding="utf-8")
    section = guide.partition("\n## Try it on a broker with users\n")[2].partition("\n## ")[0]
    return re.findall(rf"```{kind}\n(.*?)```", section, re.DOTALL)


def run_shown(command: list[str], folder: Path, **variables: str) -> str:
    """What a program prints."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("KAFKA_") or "PURE" in name}
    env = {**clean, "XDG_CONFIG_HOME": str(folder), **variables}
    done = subprocess.run(
        command, env=env, cwd=folder, capture_output=True, text=True, timeout=2 * PATIENCE_S, check=False
    )
    assert done.returncode == 0, done.stderr[-1000:]
    return done.stdout


def test_the_program_that_the_guide_shows_logs_in(tmp_path: Path) -> None:
    (program,) = shown("python")
    assert run_shown([sys.executable, "-W", "error", "-c", program], tmp_path) == "hello\n"


def test_the_commands_and_the_properties_that_the_guide_shows_log_in(tmp_path: Path) -> None:
    started, listed = shown("sh")
    variable, *command = started.split()
    name, _, password = variable.partition("=")
    kafka = [sys.executable, "-m", "kafka"]
    with subprocess.Popen(
        [*kafka, *command[1:], "--port", "0"],
        env={**os.environ, name: password},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    ) as broker:
        try:
            assert broker.stdout is not None
            address = broker.stdout.readline().split()[-1]
            variable, *command = listed.replace("localhost:9092", address).split()
            name, _, password = variable.partition("=")
            run_shown([*kafka, *command[1:-2], "topics", "create", "greetings"], tmp_path, **{name: password})
            assert "greetings" in run_shown([*kafka, *command[1:]], tmp_path, **{name: password})
            (properties,) = shown("properties")
            (tmp_path / "client.properties").write_text(properties.replace("localhost:9092", address))
            assert "greetings" in run_shown([*kafka, "--config", "client.properties", "topics", "list"], tmp_path)
        finally:
            broker.terminate()
