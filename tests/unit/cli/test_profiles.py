"""`kafka profiles`: the commands, and the file that they edit."""

import json
import os
import pathlib
import stat
import sys
import tomllib

import pytest
from click.testing import CliRunner, Result

from kafka.cli.commands import commands
from kafka.cli.profile_file import ProfileFile
from kafka.errors import KafkaConfigurationError
from unit.cli.cli_support import SETTINGS

pytestmark = pytest.mark.once
SECRET = "se'cr\"et"
WRITTEN = '''# clusters
default = 'local'   # mine

[local]
bootstrap_servers = "localhost:9092"
# the timeout
"request.timeout.ms" = 5000

# the other one
[ "b c" ]  # quoted
client_id = """x"""
'''


class Profiles:
    """Runs ``kafka profiles`` with a file of its own."""

    def __init__(self, file: pathlib.Path) -> None:
        self.file = file

    def run(self, *arguments: str, stdin: str | None = None, **env: str) -> Result:
        env = {**SETTINGS, "KAFKA_PROFILES": str(self.file), **env}  # type: ignore[dict-item]
        return CliRunner().invoke(commands, ["profiles", *arguments], input=stdin, env=env)

    def __call__(self, *arguments: str, stdin: str | None = None) -> str:
        result = self.run(*arguments, stdin=stdin)
        assert result.exit_code == 0, result.output
        return result.stdout

    def content(self) -> dict[str, object]:
        return tomllib.loads(self.file.read_text())


@pytest.fixture
def profiles(tmp_path: pathlib.Path) -> Profiles:
    return Profiles(tmp_path / "new" / "profiles.toml")


def test_a_profile_is_created_changed_used_and_removed(profiles: Profiles) -> None:
    assert profiles("list") == "profile\tdefault\tbootstrap_servers\tsecurity\tmechanism\tconfig\n"
    assert profiles("set", "prod", "-b", "a:1", "-b", "b:2", "-S", "SASL_SSL", "-M", "PLAIN", "-U", "me").startswith(
        "prod: created"
    )
    assert profiles("set", "local", "-b", "c:3", "-X", "request.timeout.ms=5000", "--default").startswith(
        "local: created"
    )
    assert profiles("set", "prod", "-X", "client_id=x", "--unset", "sasl_mechanism").startswith("prod: changed")
    assert profiles.content() == {
        "default": "local",
        "prod": {
            "bootstrap_servers": "a:1,b:2",
            "security_protocol": "SASL_SSL",
            "sasl_plain_username": "me",
            "client_id": "x",
        },
        "local": {"request.timeout.ms": 5000, "bootstrap_servers": "c:3"},
    }
    assert profiles("list", "--no-titles").splitlines() == ["local\t*\tc:3\t\t\t", "prod\t\ta:1,b:2\tSASL_SSL\t\t"]
    assert json.loads(profiles("show", "--json")) == {"request.timeout.ms": 5000, "bootstrap_servers": "c:3"}
    profiles("use", "prod")
    assert profiles.content()["default"] == "prod"
    profiles("remove", "prod", "-y")
    assert list(profiles.content()) == ["local"]
    profiles("set", "local", "--default")
    profiles("use", "--none")
    assert list(profiles.content()) == ["local"]


def test_secrets_are_stored_but_never_shown(profiles: Profiles) -> None:
    profiles(
        "set",
        "p",
        "-X",
        "ssl_password=" + SECRET,
        "-X",
        "sasl.mechanism=PLAIN",
        "-X",
        "sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required "
        'username="u" password="' + SECRET.replace('"', '\\"') + '";',
    )
    profiles(
        "set",
        "p",
        "-X",
        f"sasl_oauthbearer_token_endpoint_url=https://u:{SECRET}@host/",
        "--ask-password",
        stdin=SECRET,
    )
    assert SECRET in json.dumps(profiles.content()).replace("\\", "")
    for arguments in (["list"], ["show", "p"], ["list", "--json"], ["show", "p", "--json"]):
        assert SECRET not in profiles(*arguments).replace("\\", "")
    assert profiles("show", "p").count("(hidden)") == 4
    assert SECRET not in profiles.run("set", "p", "-X", "sasl.password:" + SECRET).output
    if sys.platform != "win32":
        assert stat.S_IMODE(profiles.file.stat().st_mode) == 0o600
        assert stat.S_IMODE(profiles.file.parent.stat().st_mode) == 0o700


@pytest.mark.skipif(sys.platform == "win32", reason="modes and links of POSIX")
def test_an_existing_file_becomes_private_and_a_link_remains(profiles: Profiles, tmp_path: pathlib.Path) -> None:
    target = tmp_path / "target.toml"
    target.write_text(WRITTEN)
    os.chmod(target, 0o644)
    profiles.file.parent.mkdir()
    profiles.file.symlink_to(target)
    profiles("set", "local", "-b", "x:1")
    assert profiles.file.is_symlink()
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert list(tmp_path.glob(".*")) == []


def test_comments_and_the_order_remain(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "profiles.toml"
    path.write_text(WRITTEN)
    file = ProfileFile(path)
    file.change("local", {"request.timeout.ms": 7, "client_id": "é\x7f", "bootstrap_servers": None})
    file.change("new one", {"a": True})
    file.set_default("b c")
    file.save()
    assert path.read_text() == (
        '# clusters\ndefault = "b c"\n\n[local]\n# the timeout\n"request.timeout.ms" = 7\n\n# the other one\n'
        'client_id = "é\\u007f"\n[ "b c" ]  # quoted\nclient_id = """x"""\n\n["new one"]\na = true\n'
    )
    file = ProfileFile(path)
    file.remove("local")
    file.save()
    assert "# the other one" in path.read_text() or "# the timeout" not in path.read_text()
    assert set(ProfileFile(path).profiles) == {"b c", "new one"}


@pytest.mark.parametrize(
    "text", ["local.client_id = 'x'\n", "local = {a = 1}\n", '[local]\nclient_id = """\n[x]\n"""\n']
)
def test_a_layout_that_cannot_be_edited_is_left_alone(text: str, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "profiles.toml"
    path.write_text(text)
    file = ProfileFile(path)
    file.change("local", {"client_id": "y"})
    with pytest.raises(KafkaConfigurationError, match="use an editor"):
        file.save()
    assert path.read_text() == text


@pytest.mark.parametrize(
    ("arguments", "said", "status"),
    [
        (["show", "pord"], "there is no profile 'pord'; {} has prod; did you mean 'prod'?", 1),
        (["remove", "x", "-y"], "there is no profile 'x'", 1),
        (["use", "x"], "there is no profile 'x'", 1),
        (["use"], "expected the name of a profile, or --none", 2),
        (["show"], "there is no default profile", 2),
        (["set", "prod"], "expected settings, such as -b", 2),
        (["set", "default", "-b", "x"], "'default' cannot be the name", 2),
        (["set", "p", "-X", "request_timeout_m=1"], "did you mean 'request_timeout_ms'", 2),
        (["set", "p", "-X", "request_timeout_ms=soon"], "request_timeout_ms", 2),
        (["set", "prod", "--unset", "client_id"], "the profile has bootstrap_servers", 2),
        (["set", "p", "--ask-password"], "expected a password as the first line", 2),
    ],
)
def test_mistakes_are_reported(profiles: Profiles, arguments: list[str], said: str, status: int) -> None:
    profiles("set", "prod", "-b", "a:1")
    result = profiles.run(*arguments, stdin="")
    assert result.exit_code == status
    assert said.format(profiles.file) in " ".join(result.stderr.split())
    assert list(profiles.content()) == ["prod"]


def test_a_file_in_another_encoding_is_named(profiles: Profiles) -> None:
    profiles.file.parent.mkdir(parents=True, exist_ok=True)
    profiles.file.write_text("[prod]\n", encoding="utf-16")
    for arguments in (("list",), ("set", "p", "-b", "x:1")):
        result = profiles.run(*arguments)
        assert result.exit_code == 2
        assert result.stderr == f"Error: {profiles.file} is not text in UTF-8, as TOML files are\n"


def test_a_command_uses_the_default_profile_and_names_complete(profiles: Profiles) -> None:
    profiles("set", "prod", "-b", "127.0.0.1:1", "-X", "bootstrap_timeout_ms=1", "--default")
    result = CliRunner().invoke(commands, ["topics", "list"], env={**SETTINGS, "KAFKA_PROFILES": str(profiles.file)})
    assert (result.exit_code, "127.0.0.1:1" in result.stderr) == (3, True)
    words = "kafka --profile pr"
    env = {
        "_KAFKA_COMPLETE": "bash_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": "2",
        "KAFKA_PROFILES": str(profiles.file),
    }
    assert CliRunner().invoke(commands, [], env=env, prog_name="kafka").output == "plain,prod\n"
