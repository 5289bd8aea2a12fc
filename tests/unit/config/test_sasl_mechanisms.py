"""The table of SASL mechanisms: names ignore case, and a class that replaces another one inherits its other fields."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka.config import load_properties, parse_admin
from kafka.config.sasl_mechanisms import (
    BUILT_IN_NAMES,
    find_mechanism,
    mechanism,
    mechanism_names,
    unregister_mechanism,
)
from kafka.errors import KafkaConfigurationError
from kafka.net.sasl import check_mechanism, get_sasl_mechanism, register_sasl_mechanism

pytestmark = pytest.mark.once

LOGIN = {"security_protocol": "SASL_PLAINTEXT", "sasl_plain_username": "ann", "sasl_plain_password": "secret"}


class Own:
    """A mechanism that is never used."""

    def auth_bytes(self) -> bytes:
        return b""

    def receive(self, auth_bytes: bytes) -> None:
        pass

    def is_done(self) -> bool:
        return True

    def is_authenticated(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    before = mechanism_names()
    yield
    for name in mechanism_names():
        unregister_mechanism(name)
    assert mechanism_names() == BUILT_IN_NAMES == before


@pytest.mark.parametrize("given", ["Custom", "custom", "CUSTOM"])
def test_registered_mechanisms_ignore_case(given: str) -> None:
    register_sasl_mechanism("Custom", Own)
    assert parse_admin(LOGIN | {"sasl_mechanism": given}).security.sasl_mechanism == "Custom"
    assert get_sasl_mechanism(given) is Own
    assert mechanism_names() == (*BUILT_IN_NAMES, "Custom")


def test_mechanism_names_ignore_case() -> None:
    with pytest.raises(ValueError, match="'PLAIN' is already registered"):
        register_sasl_mechanism("plain", Own)
    register_sasl_mechanism("Custom", Own)
    with pytest.raises(ValueError, match="'Custom' is already registered"):
        register_sasl_mechanism("cUSTOM", Own)
    register_sasl_mechanism("cUSTOM", Own, overwrite=True)
    assert mechanism_names() == (*BUILT_IN_NAMES, "cUSTOM")
    unregister_mechanism("custom")
    assert find_mechanism("Custom") is None


@pytest.mark.parametrize("given", ["PLAIN", "plain"])
def test_a_class_that_replaces_a_built_in_one_inherits_the_rest_of_its_row(given: str) -> None:
    before = mechanism("PLAIN")
    register_sasl_mechanism(given, Own, overwrite=True)
    row = mechanism("PLAIN")
    assert get_sasl_mechanism(given) is Own
    assert (row.name, row.login_modules, row.sends_in_clear) == ("PLAIN", before.login_modules, "password")


def test_an_unencrypted_secret_still_causes_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    register_sasl_mechanism("PLAIN", Own, overwrite=True)
    security = parse_admin(LOGIN | {"sasl_mechanism": "PLAIN"}).security
    assert "sasl_mechanism='PLAIN' sends the password unencrypted" in caplog.text
    check_mechanism(security)


def test_a_class_that_replaces_a_built_in_one_decides_itself_what_it_needs() -> None:
    bare = parse_admin({"security_protocol": "SASL_SSL", "sasl_mechanism": "PLAIN"}).security
    with pytest.raises(KafkaConfigurationError, match="needs 'sasl_plain_username' and 'sasl_plain_password'"):
        check_mechanism(bare)
    register_sasl_mechanism("PLAIN", Own, overwrite=True)
    check_mechanism(bare)


def test_the_java_login_module_is_kept(tmp_path: Path) -> None:
    register_sasl_mechanism("PLAIN", Own, overwrite=True)
    file = tmp_path / "client.properties"
    file.write_text(
        "security.protocol=SASL_SSL\nsasl.mechanism=PLAIN\n"
        "sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required "
        'username="ann" password="secret";\n'
    )
    found = load_properties(file)
    assert (found["sasl_mechanism"], found["sasl_plain_username"]) == ("PLAIN", "ann")
