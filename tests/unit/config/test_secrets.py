"""Secrets are never shown: neither in errors, whatever is wrong with an option, nor when clients are printed."""

from __future__ import annotations

import gc
import logging
import traceback
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import kafka
import kafka.aio
from kafka.broker import EmbeddedBroker
from kafka.cli.client_settings import settings
from kafka.config import from_java_names, from_librdkafka_names, load_properties, option_table, parse_admin
from kafka.config.java_names import java_names
from kafka.config.secrecy import is_secret, shown_number, shown_setting
from kafka.config.table import parse_consumer, parse_producer
from kafka.spark.options.client_options import client_configs

pytestmark = pytest.mark.once

SECRET = "MIIEvQIBADANBgkqhkiG9w0BAQ"
PEM = f"-----BEGIN PRIVATE KEY-----\n{SECRET}\n-----END PRIVATE KEY-----\n"
NAMES = list(option_table())
JAVA = sorted({*java_names(), "sasl.jaas.config", "ssl.key.pem", "ssl.certificate.pem", "ssl.ca.pem"})
CONNECTION = ("profile", "config_file", "security_protocol", "sasl_mechanism", "sasl_user", "sasl_password")
NOTHING: dict[str, Any] = dict.fromkeys((*CONNECTION, "bootstrap_servers"))
WRONG = {
    "PEM text": PEM,
    "bytes": PEM.encode(),
    "a dictionary": {"sasl.password": SECRET},
    "a list": [PEM],
    "a partial": partial(print, password=SECRET),
    "half a surrogate": f"{PEM}\ud800",
}
"""Invalid values of options that contain a secret."""


def told(attempt: Callable[[], object], caplog: pytest.LogCaptureFixture) -> str:
    """Return all output of an attempt: the error, its causes, and the log."""
    with caplog.at_level(logging.DEBUG):
        try:
            attempt()
        except Exception as error:
            return "".join(traceback.format_exception(error)) + repr(error) + caplog.text
    return caplog.text


def on_the_command_line(*pairs: str, variables: Mapping[str, str] | None = None) -> object:
    environment = {"XDG_CONFIG_HOME": "/no/such", **(variables or {})}
    return settings({**NOTHING, "extra_config": pairs}, environment)


@pytest.mark.slow
@pytest.mark.parametrize("kind", WRONG)
def test_no_option_shows_a_secret_value(kind: str, caplog: pytest.LogCaptureFixture) -> None:
    value = WRONG[kind]
    for name in NAMES:
        for client in (parse_admin, parse_consumer, parse_producer):
            assert SECRET not in told(lambda: client({name: value}), caplog), name  # noqa: B023


@pytest.mark.slow
@pytest.mark.parametrize("kind", WRONG)
def test_no_property_shows_a_secret_value(kind: str, caplog: pytest.LogCaptureFixture) -> None:
    value = WRONG[kind]
    for name in JAVA:
        for given in (from_java_names, from_librdkafka_names, lambda each: client_configs(each, "consumer")):
            assert SECRET not in told(lambda: given({name: value, f"kafka.{name}": value}), caplog), name  # noqa: B023


def test_unknown_names_show_no_secret(caplog: pytest.LogCaptureFixture) -> None:
    takers: list[Callable[[dict[str, Any]], object]] = [parse_admin, parse_consumer, parse_producer, from_java_names]
    takers += [from_librdkafka_names, lambda each: client_configs(each, "producer")]
    for name in ("sasl_plain_pasword", "sasl.passwort", "kafka.ssl.key", "SSL.KEYSTORE.KEY", SECRET, f"{SECRET}+/="):
        for take in takers:
            seen = told(lambda: take({name: PEM}), caplog)  # noqa: B023
            assert SECRET not in seen, name
            assert "unknown" in seen or take is takers[-1], name


@pytest.mark.slow
@pytest.mark.parametrize("value", [PEM, SECRET, f"{SECRET} ", f"'{SECRET}"], ids=["PEM", "text", "blank", "quoted"])
def test_the_command_line_shows_no_secret(value: str, caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    paths = {name for name, row in option_table().items() if "PathLike" in row.accepts}
    for name in NAMES:
        if value != PEM and (name in paths or "str" in option_table()[name].accepts) and not is_secret(name):
            continue  # a path or a name, which users have to see to correct it
        for pair in (f"{name}={value}", f"{name}:{value}"):
            assert SECRET not in told(lambda: parse_admin(on_the_command_line(pair)), caplog), name  # type: ignore[arg-type]  # noqa: B023
        variables = {f"KAFKA_{name.upper()}": value}
        assert SECRET not in told(lambda: on_the_command_line(variables=variables), caplog), name  # noqa: B023
    for name in (name for name in JAVA if name.startswith("s")):
        file = tmp_path / "client.properties"
        file.write_text(f"{name}={value}")
        if value == PEM or is_secret(name):
            assert SECRET not in told(lambda: load_properties(file), caplog), name  # noqa: B023
        (tmp_path / "profiles.toml").write_text(f'default="x"\n[x]\n"{name}s"="""{value}"""')  # an unknown option
        variables = {"KAFKA_PROFILES": str(tmp_path / "profiles.toml")}
        assert SECRET not in told(lambda: on_the_command_line(variables=variables), caplog), name  # noqa: B023


def test_pem_text_instead_of_a_file_is_rejected_with_advice() -> None:
    with pytest.raises(kafka.errors.KafkaConfigurationError) as failure:
        kafka.KafkaProducer(security_protocol="SSL", ssl_keyfile=PEM)
    assert str(failure.value).endswith(
        "option 'ssl_keyfile' expects the path of a file or None, not a value of type str (which is not shown); pass "
        "PEM text as 'ssl_keystore_key' with 'ssl_keystore_certificate_chain'"
    )


@pytest.mark.parametrize(
    ("value", "expected"),
    [("30s", "'30s'"), ("1_000 ms", "'1_000 ms'"), ("yes", "'yes'"), ("hunter2", "not shown"), (PEM, "not shown")],
)
def test_only_text_that_resembles_a_number_is_shown(value: str, expected: str) -> None:
    assert expected in shown_number("linger_ms", value)


def test_only_the_name_of_a_setting_without_an_equals_sign_is_shown() -> None:
    assert shown_setting(f"sasl.password:{SECRET}") == "'sasl.password' with ':' instead of '='"
    assert shown_setting("request_timeout_ms") == "'request_timeout_ms' without '='"
    assert shown_setting(SECRET) == "text without '=' (which is not shown)"


# Objects of clients


@pytest.fixture(scope="module")
def broker() -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker() as embedded:
        yield embedded


def reachable(start: Any) -> Iterator[Any]:
    """Yield the objects that can be printed when inspecting a client: attributes, items, objects bound to functions."""
    seen: dict[int, Any] = {}
    waiting = [(start, 0)]
    while waiting:
        each, depth = waiting.pop()
        if id(each) in seen or depth > 6 or isinstance(each, type | type(gc) | str):
            continue
        seen[id(each)] = each
        yield each
        waiting += [(other, depth + 1) for other in gc.get_referents(each) if not callable(other) or depth < 4]


@pytest.mark.parametrize("client", ["KafkaProducer", "KafkaConsumer", "KafkaAdminClient"])
def test_no_object_of_a_client_shows_a_password(client: str, broker: EmbeddedBroker) -> None:
    given = {"sasl_plain_password": SECRET, "ssl_password": SECRET}
    with getattr(kafka, client)(bootstrap_servers=broker.bootstrap_servers, **given) as made:
        if client != "KafkaProducer":
            _ = made._client
        for each in (made, made.config, made.health(), *vars(made).values()):
            assert SECRET not in repr(each), type(each)
            for inner in vars(each).values() if hasattr(each, "__dict__") else ():
                assert SECRET not in repr(inner), type(inner)
        kinds = {type(each) for each in reachable(made) if type(each).__module__.startswith(("kafka", "functools"))}
        shown = [each for each in reachable(made) if type(each) in kinds and SECRET in repr(each)]
        assert not shown, [type(each) for each in shown]


@pytest.mark.parametrize("read", [from_java_names, from_librdkafka_names])
def test_a_line_of_dashes_as_a_name_is_rejected_quickly(
    read: Callable[[Mapping[str, Any]], object],
) -> None:
    with pytest.raises(kafka.errors.KafkaConfigurationError, match="text that is not a name and is not shown"):
        read({f"part {'-' * 80} (production)": "1"})


def test_a_number_with_many_digits_is_rejected_quickly() -> None:
    with pytest.raises(kafka.errors.KafkaConfigurationError, match="expects a whole number, not other text"):
        from_java_names({"batch.size": "1" * 500_000 + "!!!!"})
