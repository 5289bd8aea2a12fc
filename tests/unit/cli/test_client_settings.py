"""Settings of the command line: options, variables, properties files, profiles, and their precedence."""

import pathlib
from typing import Any

import pytest

from kafka.cli.client_settings import of_client, settings
from kafka.cli.common_options import _NAMES
from kafka.errors import KafkaConfigurationError

pytestmark = pytest.mark.once


def given(**options: Any) -> dict[str, Any]:
    """Return options as commands pass them."""
    return {**dict.fromkeys(_NAMES), "extra_config": (), **options}


@pytest.fixture
def profiles(tmp_path: pathlib.Path) -> dict[str, str]:
    """Environment variables that name a profiles file."""
    file = tmp_path / "profiles.toml"
    (tmp_path / "client.properties").write_text("bootstrap.servers=java:9092\nclient.id=java\nretry.backoff.ms=7\n")
    file.write_text(
        'default = "local"\n[local]\nbootstrap_servers = "local:9092"\n'
        '[java]\nconfig = "client.properties"\nclient_id = "mine"\n"request.timeout.ms" = 5000\n'
        '[wrong]\nbootstrap_server = "x"\n'
    )
    return {"KAFKA_PROFILES": str(file)}


def test_a_profile_is_given_by_option_variable_or_default(profiles: dict[str, str]) -> None:
    assert settings(given(), profiles)["bootstrap_servers"] == "local:9092"
    java = settings(given(profile="java"), profiles)
    assert (java["bootstrap_servers"], java["client_id"]) == ("java:9092", "mine")
    assert (java["retry_backoff_ms"], java["request_timeout_ms"]) == (7, 5000)
    assert settings(given(), {**profiles, "KAFKA_PROFILE": "java"}) == java


def test_precedence_of_command_line_variables_and_default_profile(profiles: dict[str, str]) -> None:
    variables = {**profiles, "KAFKA_BOOTSTRAP_SERVERS": "variable:9092", "KAFKA_RETRY_BACKOFF_MS": "9"}
    assert settings(given(), variables)["bootstrap_servers"] == "variable:9092"
    assert settings(given(), variables)["retry_backoff_ms"] == 9
    assert settings(given(profile="java"), variables)["bootstrap_servers"] == "java:9092"
    option = given(profile="java", bootstrap_servers=("a:1", "b:2"), extra_config=("retry.backoff.ms=3",))
    assert settings(option, variables)["bootstrap_servers"] == "a:1,b:2"
    assert settings(option, variables)["retry_backoff_ms"] == 3


def test_properties_files_have_javas_syntax(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "client.properties"
    file.write_text(
        "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=SCRAM-SHA-256\nacks=1\nsasl.jaas.config="
        'org.apache.kafka.common.security.scram.ScramLoginModule required username="u" password="p";\n'
    )
    found = settings(given(config_file=str(file)), {})
    assert (found["sasl_plain_username"], found["sasl_plain_password"]) == ("u", "p")
    assert "acks" not in of_client(found, "admin")
    assert "acks" in of_client(found, "producer")
    assert settings(given(), {"KAFKA_CONFIG": str(file)}) == found


def test_settings_are_converted_by_either_name() -> None:
    texts = ("enable_idempotence=false", "fetch.min.bytes=5", "api_version=None", "sasl_plain_username=a=b")
    found = settings(given(extra_config=texts), {})
    assert found["enable_idempotence"] is False
    assert found["fetch_min_bytes"] == 5
    assert found["api_version"] is None
    assert found["sasl_plain_username"] == "a=b"
    assert found["sasl_mechanism"] == "PLAIN"  # the default of kafka-python's command line


@pytest.mark.parametrize(
    ("options", "environ", "said"),
    [
        ({"extra_config": ("ack=1",)}, {}, "'acks'"),
        ({"extra_config": ("fetch.min.byte=1",)}, {}, "'fetch.min.bytes'"),
        ({"extra_config": ("fetch.min.bytes=x",)}, {}, "a whole number"),
        ({"extra_config": ("auto_offset_reset=foo",)}, {}, "'auto_offset_reset' expects one of"),
        ({"extra_config": ("compression.type=foo",)}, {}, "'compression.type' expects"),
        ({"extra_config": ("retries",)}, {}, "NAME=VALUE"),
        (
            {},
            {"KAFKA_AUTO_OFFSET_RESET": "foo"},
            "^variable KAFKA_AUTO_OFFSET_RESET: option 'auto_offset_reset' expects",
        ),
        ({"profile": "prod"}, {"KAFKA_PROFILES": "/no/such/file"}, "/no/such/file"),
        ({}, {"KAFKA_PROFILES": "/no/such/file"}, "KAFKA_PROFILES names a file that does not exist: /no/such/file"),
        ({}, {"KAFKA_RETRY_BACKOFF_MS": "soon"}, "retry_backoff_ms"),
    ],
)
def test_invalid_settings_are_named(options: dict[str, Any], environ: dict[str, str], said: str) -> None:
    with pytest.raises(KafkaConfigurationError, match=said):
        settings(given(**options), environ)


def test_an_invalid_value_in_a_properties_file_is_named(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "client.properties"
    file.write_text("isolation.level=read_sometimes\n")
    with pytest.raises(KafkaConfigurationError, match=r"'isolation\.level' expects"):
        settings(given(config_file=str(file)), {})


@pytest.mark.parametrize(("name", "said"), [("lokal", "did you mean 'local'"), ("wrong", "'bootstrap_servers'")])
def test_errors_in_profiles_are_named(profiles: dict[str, str], name: str, said: str) -> None:
    with pytest.raises(KafkaConfigurationError, match=said):
        settings(given(profile=name), profiles)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("default = 5", "default must be the name of a profile, not 5"),
        ('default = ["x"]', "default must be the name of a profile"),
        ('default = "x"\n[x]\nconfig = 3', "config must be the name of a properties file, not 3"),
        ('default = "x"\n[x]\nconfig = "a\\u0000b"', "config must be the name of a properties file"),
        ('default = "x"\n[x]\nconfig = "nowhere"', "config names a file that cannot be read"),
    ],
)
def test_an_invalid_profiles_file_is_wrong_use(tmp_path: pathlib.Path, content: str, said: str) -> None:
    file = tmp_path / "profiles.toml"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(KafkaConfigurationError, match=said):
        settings(given(), {"KAFKA_PROFILES": str(file)})


def test_a_profiles_file_may_come_from_windows(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "profiles.toml"
    file.write_bytes(b'\xef\xbb\xbfdefault = "x"\r\n[x]\r\nclient_id = "me"\r\n')
    assert settings(given(), {"KAFKA_PROFILES": str(file)}) == {"client_id": "me"}


def test_unreadable_settings_files_are_wrong_use(tmp_path: pathlib.Path) -> None:
    for name in ("KAFKA_CONFIG", "KAFKA_PROFILES"):
        with pytest.raises(KafkaConfigurationError, match="cannot be read"):
            settings(given(), {"XDG_CONFIG_HOME": str(tmp_path / "none"), name: str(tmp_path)})


def test_empty_variables_are_ignored(tmp_path: pathlib.Path) -> None:
    assert settings(given(), {"KAFKA_CONFIG": "", "XDG_CONFIG_HOME": str(tmp_path), "KAFKA_CLIENT_ID": ""}) == {}


def test_other_variables_are_ignored() -> None:
    environ = {"KAFKA_HEAP_OPTS": "-Xmx1g", "KAFKA_LOG_LEVEL": "INFO", "KAFKA_PURE": "1", "XDG_CONFIG_HOME": "/no"}
    assert settings(given(), environ) == {}


def test_errors_contain_no_secrets() -> None:
    with pytest.raises(KafkaConfigurationError) as failure:
        settings(given(extra_config=("sasl_plain_passwort=hunter2",)), {})
    assert "hunter2" not in str(failure.value)


@pytest.mark.parametrize("mechanism", [None, "SCRAM-SHA-256"])
def test_a_missing_password_is_explained(mechanism: str | None) -> None:
    options = given(sasl_user="alice", sasl_mechanism=mechanism)
    with pytest.raises(KafkaConfigurationError, match="'alice' has no password: set KAFKA_SASL_PLAIN_PASSWORD"):
        settings(options, {"XDG_CONFIG_HOME": "/no/such"})
    assert settings(options, {"XDG_CONFIG_HOME": "/no/such", "KAFKA_SASL_PLAIN_PASSWORD": "p"})
