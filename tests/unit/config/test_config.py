"""The option table: names, checks, and the conversion of each client's keyword arguments."""

import contextlib
import dataclasses
import inspect
import logging
import math
import pathlib
import subprocess
import sys
from typing import Any, ClassVar

import pytest

from kafka import AsyncKafkaConsumer, KafkaAdminClient, KafkaConsumer, KafkaProducer
from kafka.config import (
    AdminConfigs,
    CommonConfigs,
    ConsumerConfigs,
    ProducerConfigs,
    from_java_names,
    option_table,
    parse_admin,
    parse_consumer,
    parse_producer,
)
from kafka.config.java_names import from_text
from kafka.config.secrecy import GivenConfigs
from kafka.errors import KafkaConfigurationError

pytestmark = pytest.mark.once


def test_consumer_defaults_match_kafka_python_2() -> None:
    config = parse_consumer({})
    assert config.connection.bootstrap_servers == (("localhost", 9092),)
    assert config.fetch.max_partition_fetch_bytes == 1_048_576
    assert config.fetch.auto_offset_reset == "latest"
    assert (config.group.session_timeout_ms, config.group.heartbeat_interval_ms) == (10_000, 3_000)
    assert config.consumer.max_poll_records == 500
    assert config.consumer.consumer_timeout_ms == math.inf


def test_producer_defaults_are_the_safe_ones() -> None:
    options = parse_producer({}).producer
    assert (options.acks, options.retries, options.delivery_timeout_ms) == (-1, math.inf, 120_000)
    assert options.enable_idempotence is None


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("a:1", (("a", 1),)),
        ("a:1, b", (("a", 1), ("b", 9092))),
        (" a:1,,b , ", (("a", 1), ("b", 9092))),
        (["a:1", "[::1]:92"], (("a", 1), ("::1", 92))),
        ("PLAINTEXT://h:9", (("h", 9),)),
        (("h", 9), (("h", 9),)),
        ("::1", (("::1", 9092),)),
    ],
)
def test_bootstrap_servers_are_accepted_in_every_usual_form(given: object, expected: object) -> None:
    assert parse_admin({"bootstrap_servers": given}).connection.bootstrap_servers == expected


@pytest.mark.parametrize("given", ["", " , ", [], "a:b", "a:70000", 9092, [9092], None])
def test_other_bootstrap_servers_are_rejected(given: object) -> None:
    with pytest.raises(KafkaConfigurationError, match="bootstrap_servers"):
        parse_admin({"bootstrap_servers": given})


def test_an_unknown_option_is_rejected_with_the_nearest_one() -> None:
    with pytest.raises(KafkaConfigurationError, match=r"'fetch_min_byte' is unknown; did you mean 'fetch_min_bytes'"):
        parse_consumer({"fetch_min_byte": 1})


def test_an_option_of_another_client_is_rejected_as_such() -> None:
    with pytest.raises(KafkaConfigurationError, match="'acks' is an option of the producer, not of the consumer"):
        parse_consumer({"acks": 1})


@pytest.mark.parametrize(
    "configs",
    [
        {"acks": 2},
        {"acks": True},
        {"batch_size": -1},
        {"batch_size": "many"},
        {"linger_ms": -1},
        {"linger_ms": math.nan},
        {"compression_type": "brotli"},
        {"partitioner": 3},
        {"retries": -1},
        {"enable_idempotence": "yes"},
        {"enable_idempotence": True, "acks": 1},
        {"enable_idempotence": True, "retries": 0},
        {"enable_idempotence": True, "max_in_flight_requests_per_connection": 6},
        {"transactional_id": "t", "enable_idempotence": False},
        {"transactional_id": "t", "acks": 1},
        {"transactional_id": "t", "retries": 0},
        {"transactional_id": "t", "max_in_flight_requests_per_connection": 6},
        {"enable_idempotence": True, "api_version": (0, 10, 2)},
        {"transactional_id": "t", "api_version": "0.10"},
        {"ssl_cafile": "no/such/file.pem"},
        {"security_protocol": "TLS"},
        {"security_protocol": "SASL_SSL"},
        {"api_version": "newest"},
    ],
)
def test_an_invalid_value_is_rejected_with_the_options_name(configs: dict[str, object]) -> None:
    with pytest.raises(KafkaConfigurationError, match=next(iter(configs))):
        parse_producer(configs)


def test_all_options_that_prevent_idempotence_are_reported() -> None:
    wrong: dict[str, Any] = {
        "acks": 1,
        "retries": 0,
        "max_in_flight_requests_per_connection": 9,
        "api_version": (0, 10),
    }
    for configs in ({"enable_idempotence": True}, {"transactional_id": "x", "enable_idempotence": False}):
        with pytest.raises(KafkaConfigurationError) as refusal:
            parse_producer({**configs, **wrong})
        text = str(refusal.value)
        for part in ("acks='all', not acks=1", "retries=0", "at most 5", "0.11 or later, not api_version=(0, 10"):
            assert part in text
        assert ("leave out enable_idempotence=False" in text) == ("transactional_id" in configs)


def test_options_of_the_other_group_protocol_are_rejected() -> None:
    assert parse_consumer({"group_protocol": "CLASSIC"}).group.group_protocol == "classic"
    with pytest.raises(KafkaConfigurationError, match="'group_protocol' expects 'classic' or 'consumer', not 'eager'"):
        parse_consumer({"group_protocol": "eager"})
    for name, value in (
        ("partition_assignment_strategy", [object()]),
        ("session_timeout_ms", 20_000),
        ("heartbeat_interval_ms", 1_000),
    ):
        with pytest.raises(KafkaConfigurationError, match=f"'{name}' does not apply to group_protocol='consumer'"):
            parse_consumer({"group_protocol": "consumer", name: value})
    with pytest.raises(KafkaConfigurationError, match="'group_remote_assignor' applies to group_protocol='consumer'"):
        parse_consumer({"group_remote_assignor": "uniform"})
    parsed = parse_consumer(
        {"group_protocol": "Consumer", "group_remote_assignor": "range", "session_timeout_ms": 10_000}
    )
    assert (parsed.group.group_protocol, parsed.group.group_remote_assignor) == ("consumer", "range")


def test_heartbeats_have_to_be_more_frequent_than_the_session_timeout() -> None:
    with pytest.raises(KafkaConfigurationError, match="heartbeat_interval_ms"):
        parse_consumer({"heartbeat_interval_ms": 10_000, "session_timeout_ms": 10_000})


def test_older_spellings_are_accepted() -> None:
    config = parse_consumer({"auto_offset_reset": "smallest", "consumer_timeout_ms": -1, "api_version": "auto"})
    assert config.fetch.auto_offset_reset == "earliest"
    assert config.consumer.consumer_timeout_ms == math.inf
    assert config.connection.api_version is None
    assert parse_consumer({"selector": object, "metric_reporters": []}).connection.api_version is None


def test_java_names_become_keyword_arguments_of_the_right_type() -> None:
    found = from_java_names(
        {"bootstrap.servers": "a:1", "fetch.min.bytes": "5", "enable.auto.commit": "false"}, "consumer"
    )
    assert found == {"bootstrap_servers": "a:1", "fetch_min_bytes": 5, "enable_auto_commit": False}
    assert parse_consumer(found).fetch.fetch_min_bytes == 5


def test_an_unknown_java_name_is_rejected_with_the_nearest_one() -> None:
    with pytest.raises(KafkaConfigurationError, match=r"'fetch.min.byte' is unknown.*'fetch.min.bytes'"):
        from_java_names({"fetch.min.byte": "5"}, "consumer")
    with pytest.raises(KafkaConfigurationError, match=r"linger.ms"):
        from_java_names({"linger.msec": "5"}, "producer")
    with pytest.raises(KafkaConfigurationError, match=r"whole number"):
        from_java_names({"fetch.min.bytes": "five"}, "consumer")


def test_every_option_is_documented_once_and_its_default_passes_its_own_check() -> None:
    for name, row in option_table().items():
        assert row.clients, name
        assert row.inert or row.doc.endswith("."), name
        row.parse(name, row.default)


def test_options_as_text_contain_no_secrets() -> None:
    config = parse_admin({"sasl_plain_password": "hunter2"})
    assert "hunter2" not in repr(config)


def test_a_server_with_a_password_is_rejected_and_not_shown() -> None:
    for servers in ("SASL_SSL://ann:hunter2@h:1", ["h:1", "ann:hunter2@h:1"]):
        with pytest.raises(KafkaConfigurationError, match="without a user") as caught:
            parse_admin({"bootstrap_servers": servers})
        assert "hunter2" not in str(caught.value)


def test_a_clients_config_contains_but_does_not_show_secrets() -> None:
    given = GivenConfigs(sasl_plain_password="hunter2", proxy_url=None, client_id="c")
    assert repr(given) == (
        "{'sasl_plain_password': <a value of type str (which is not shown)>, 'proxy_url': None, 'client_id': 'c'}"
    )
    assert given["sasl_plain_password"] == "hunter2"
    assert "hunter2" not in f"{given}"


def test_options_are_frozen(tmp_path: pathlib.Path) -> None:
    config = parse_admin({"ssl_cafile": __file__})
    with pytest.raises(dataclasses.FrozenInstanceError):
        config.connection.client_id = "x"  # type: ignore[misc]


# Secrets and options without effect


@pytest.mark.parametrize("option", ["sasl_plain_password", "socks5_proxy"])
def test_an_error_never_shows_a_secret(option: str) -> None:
    with pytest.raises(KafkaConfigurationError, match=option) as caught:
        parse_admin({option: b"hunter2"})
    assert "hunter2" not in str(caught.value)
    assert "bytes" in str(caught.value)


def test_no_options_show_secrets_in_their_text_form() -> None:
    config = parse_consumer(
        {"sasl_plain_password": "hunter2", "ssl_password": "hunter2", "socks5_proxy": "socks5://u:hunter2@p:1"}
    )
    assert "hunter2" not in repr(config)


def warnings_of(caplog: pytest.LogCaptureFixture, configs: dict[str, object]) -> list[str]:
    with caplog.at_level(logging.DEBUG, "kafka"):
        parse_producer(configs)
    return [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]


def test_sasl_and_ssl_options_that_the_protocol_does_not_use_are_named(caplog: pytest.LogCaptureFixture) -> None:
    told = warnings_of(
        caplog,
        {
            "sasl_mechanism": "PLAIN",
            "sasl_plain_username": "alice",
            "sasl_plain_password": "hunter2",
            "ssl_check_hostname": False,
            "ssl_cafile": None,
        },
    )
    assert len(told) == 2
    assert "'PLAINTEXT'" in told[0]
    assert "sasl_mechanism, sasl_plain_password, sasl_plain_username" in told[0]
    assert "ssl_check_hostname;" in told[1]
    assert "hunter2" not in caplog.text


def test_an_unencrypted_password_causes_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    credentials = {"sasl_mechanism": "PLAIN", "sasl_plain_username": "alice", "sasl_plain_password": "hunter2"}
    assert warnings_of(caplog, {**credentials, "security_protocol": "SASL_SSL"}) == []
    (told,) = warnings_of(caplog, {**credentials, "security_protocol": "SASL_PLAINTEXT"})
    assert "password unencrypted" in told
    assert "SASL_SSL" in told


@pytest.mark.parametrize(
    "given",
    [{"kafka_client": print}, {"selector": print}, {"sock_chunk_bytes": 1}],
)
def test_options_without_effect_cause_a_warning(given: dict[str, object], caplog: pytest.LogCaptureFixture) -> None:
    protocol = {"security_protocol": "SASL_SSL", "sasl_mechanism": "GSSAPI"}
    told = warnings_of(caplog, {**protocol, **given})
    assert told == [f"option {next(iter(given))!r} is accepted but has no effect"]


@pytest.mark.parametrize("parse", [parse_admin, parse_producer, parse_consumer])
def test_explicit_defaults_cause_no_warning(parse: Any, caplog: pytest.LogCaptureFixture) -> None:
    client = parse.__name__.removeprefix("parse_")
    with caplog.at_level(logging.DEBUG, "kafka"):
        parse({name: row.default for name, row in option_table().items() if client in row.clients})
    assert caplog.records == []


# Types and documents


@pytest.mark.parametrize("client", [KafkaConsumer, KafkaProducer, KafkaAdminClient])
def test_a_subclass_may_have_other_defaults(client: Any) -> None:
    class Mine(client):  # type: ignore[misc]  # a parameter
        DEFAULT_CONFIG: ClassVar[dict[str, Any]] = {
            **client.DEFAULT_CONFIG,
            "bootstrap_servers": "127.0.0.1:9",
            "request_timeout_ms": 12_345,
            "retry_backoff_ms": 77,
            "not_an_option": 1,
        }

    with contextlib.closing(Mine(api_version=(2, 5), retry_backoff_ms=99)) as made:
        config = made.config
    assert config["bootstrap_servers"] == "127.0.0.1:9"
    assert (config["request_timeout_ms"], config["retry_backoff_ms"]) == (12_345, 99)


async def test_subclasses_of_asyncio_clients_may_have_other_defaults() -> None:
    class Mine(AsyncKafkaConsumer):
        DEFAULT_CONFIG: ClassVar[dict[str, Any]] = {**AsyncKafkaConsumer.DEFAULT_CONFIG, "group_id": "mine"}

    assert Mine()._parsed.group.group_id == "mine"
    assert Mine(group_id=None)._parsed.group.group_id is None


def test_typed_keywords_match_the_table() -> None:
    root = pathlib.Path(__file__).resolve().parents[3]
    done = subprocess.run(
        [sys.executable, "scripts/options.py", "--check"], cwd=root, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, "run scripts/options.py: kafka/config/keywords.py is not what the table says"


@pytest.mark.parametrize(
    ("client", "keywords"), [("admin", AdminConfigs), ("producer", ProducerConfigs), ("consumer", ConsumerConfigs)]
)
def test_each_client_has_its_options_as_typed_keywords(client: str, keywords: Any) -> None:
    table = {name for name, row in option_table().items() if client in row.clients}
    assert set(keywords.__annotations__) | set(CommonConfigs.__annotations__) == table
    assert keywords.__optional_keys__ == table


@pytest.mark.parametrize("client", ["admin", "producer", "consumer"])
def test_help_of_a_client_has_every_option_with_its_type_and_default(client: str) -> None:
    import kafka
    from kafka.consumer.async_consumer import AsyncKafkaConsumer
    from kafka.producer.async_producer import AsyncKafkaProducer

    classes = {
        "admin": [kafka.KafkaAdminClient, kafka.AsyncKafkaAdminClient],
        "producer": [kafka.KafkaProducer, AsyncKafkaProducer],
        "consumer": [kafka.KafkaConsumer, AsyncKafkaConsumer],
    }
    for cls in classes[client]:
        text = inspect.cleandoc(cls.__doc__ or "")  # already done by Python 3.13
        for name, row in option_table().items():
            assert (f"\n{name}: {row.accepts}\n" in text) == (client in row.clients)
        assert "default 30000" in text


def test_integers_of_other_types_are_accepted_but_bools_are_not() -> None:
    class Number:
        def __init__(self, number: int) -> None:
            self._number = number

        def __index__(self) -> int:
            return self._number

    config = parse_producer(
        {
            "bootstrap_servers": ("localhost", Number(9093)),
            "api_version": (Number(2), Number(8)),
            "batch_size": Number(1_000),
            "retries": Number(3),
            "acks": Number(1),
            "linger_ms": Number(5),
            "compression_level": Number(3),
        }
    )
    options = config.producer
    given = [options.batch_size, options.retries, options.acks, options.linger_ms, options.compression_level]
    given += [config.connection.bootstrap_servers[0][1], *(config.connection.api_version or ())]
    assert given == [1_000, 3, 1, 5, 3, 9093, 2, 8]
    assert {type(each) for each in given} == {int}
    for name in ("batch_size", "linger_ms", "acks"):
        with pytest.raises(KafkaConfigurationError, match=name):
            parse_producer({name: True})


def test_every_option_is_converted_from_text_to_its_type() -> None:
    for row in option_table().values():
        kinds = set(row.accepts.split(" | "))
        if "bool" in kinds and "str" not in kinds:
            assert from_text(row.name, row, "True") is True, row.name
        elif kinds & {"int", "float"} and "str" not in kinds:
            assert from_text(row.name, row, "5") == 5, row.name
            with pytest.raises(KafkaConfigurationError, match=r"expects a (whole )?number, not other text"):
                from_text(row.name, row, "five")


@pytest.mark.parametrize("value", [None, 0, False])
def test_false_values_of_kafka_python_are_false(value: Any) -> None:
    assert parse_consumer({"enable_auto_commit": value}).group.enable_auto_commit is False


def test_1_is_true_and_text_is_rejected() -> None:
    assert parse_consumer({"check_crcs": 1}).fetch.check_crcs is True
    for value in ("false", "True", 2, 1.0, []):
        with pytest.raises(KafkaConfigurationError, match="True or False"):
            parse_consumer({"check_crcs": value})


def test_host_names_are_checked_by_default() -> None:
    assert parse_consumer({"ssl_check_hostname": None}).security.ssl_check_hostname is True
    assert parse_consumer({"ssl_check_hostname": False}).security.ssl_check_hostname is False
    with pytest.raises(KafkaConfigurationError, match="True or False"):
        parse_consumer({"ssl_check_hostname": "false"})


@pytest.mark.parametrize(("given", "expected"), [(30_000.0, 30_000), (1.5 * 1000, 1500), (0.1 * 3 * 1000, 301)])
def test_milliseconds_may_have_a_fraction(given: float, expected: int) -> None:
    assert parse_admin({"request_timeout_ms": given}).connection.request_timeout_ms == expected
    with pytest.raises(KafkaConfigurationError, match="request_timeout_ms"):
        parse_admin({"request_timeout_ms": math.nan})
    with pytest.raises(KafkaConfigurationError, match="max_poll_records"):
        parse_consumer({"max_poll_records": 0.5 * 3})


def test_infinite_milliseconds_become_the_maximum() -> None:
    assert parse_admin({"connections_max_idle_ms": math.inf}).connection.connections_max_idle_ms == 2**31 - 1
    for given in ({"connections_max_idle_ms": -math.inf}, {"max_in_flight_requests_per_connection": math.inf}):
        with pytest.raises(KafkaConfigurationError, match="expects a whole number"):
            parse_admin(given)


@pytest.mark.parametrize("value", [0, -2])
def test_a_buffer_of_size_0_is_rejected(value: int) -> None:
    for option in ("receive_buffer_bytes", "send_buffer_bytes"):
        with pytest.raises(KafkaConfigurationError, match=option):
            parse_admin({option: value})


def test_the_default_consumer_timeout_is_infinite() -> None:
    assert parse_consumer({"consumer_timeout_ms": None}).consumer.consumer_timeout_ms == math.inf


@pytest.mark.parametrize(
    ("codec", "level"),
    [("gzip", -1), ("gzip", 0), ("gzip", 9), ("lz4", 17), ("zstd", -131_072), ("zstd", 22), ("snappy", 5), (None, 5)],
)
def test_levels_of_a_codec_are_accepted_and_ignored_by_codecs_without_levels(codec: str | None, level: int) -> None:
    config = parse_producer({"compression_type": codec, "compression_level": level})
    assert config.producer.compression_level == level


@pytest.mark.parametrize(
    ("codec", "level", "levels"), [("gzip", 10, "1 to 9"), ("lz4", 18, "1 to 17"), ("zstd", 23, "-131072 to 22")]
)
def test_an_invalid_level_is_rejected(codec: str, level: int, levels: str) -> None:
    with pytest.raises(KafkaConfigurationError, match=f"{codec} has the levels {levels}, got {level}"):
        parse_producer({"compression_type": codec, "compression_level": level})
