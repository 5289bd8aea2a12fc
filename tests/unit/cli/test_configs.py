"""`kafka configs`, `acls`, `users` and `quotas` on the embedded broker, which has no ACLs and quotas."""

from collections.abc import Callable

import pytest

from kafka import KafkaAdminClient
from kafka.admin import ACLOperation, ACLPermissionType, ResourcePattern, ResourceType
from kafka.admin.acls import MatchedACL
from kafka.errors import NoError, UnknownError
from unit.cli.cli_support import Cli

pytestmark = pytest.mark.once
MakeTopic = Callable[..., str]
RESOURCE = ("--resource-type", "topic", "--resource-name", "t")


def test_configs_are_described_changed_and_reset(cli: Cli, topic: MakeTopic) -> None:
    name = topic()
    assert cli("configs", "describe", "topic", name) == ""
    assert cli("configs", "alter", "topic", name, "retention.ms=1000") == f"topic {name}: changed\n"
    assert cli("configs", "describe", "topic", name).split("\t")[1:3] == ["retention.ms", "1000"]
    described = cli.json("configs", "describe", "-r", "topic", "-n", name, "-c", "retention.ms")
    assert described[0]["value"] == "1000"
    assert len(cli("configs", "describe", "topic", name, "--all").splitlines()) > 5
    assert cli("configs", "set", "topic", name, "retention.ms=2000", "--dry-run") == f"topic {name}: would be changed\n"
    assert cli("configs", "describe", "topic", name).split("\t")[2] == "1000"
    assert cli("configs", "reset", "topic", name, "retention.ms") == f"topic {name}: reset\n"
    assert cli("configs", "describe", "topic", name) == ""


def test_list_values_are_added_and_removed(cli: Cli, topic: MakeTopic) -> None:
    name = topic()

    def policy() -> str:
        return str(cli.json("configs", "describe", "topic", name, "cleanup.policy")[0]["value"])

    cli("configs", "alter", "topics", name, "cleanup.policy+=compact")
    assert policy() == "delete,compact"
    cli("configs", "alter", "topic", name, "cleanup.policy-=delete")
    assert policy() == "compact"
    cli("configs", "alter", "topic", name, "cleanup.policy=add(delete)")  # kafka-python's syntax
    assert policy() == "compact,delete"
    cli("configs", "alter", "topic", name, "cleanup.policy=del()")
    assert policy() == "delete"


def test_resources_with_configs_are_listed(cli: Cli, topic: MakeTopic) -> None:
    assert f"topic\t{topic()}\n" in cli("configs", "list")
    assert "broker\t1\n" in cli("configs", "list", "-r", "broker")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["describe"], "a resource type"),
        (["describe", "subject", "x"], "got 'subject'"),
        (["describe", "topic"], "the name of a topic"),
        (["alter", "topic", "x"], "at least one change"),
        (["alter", "topic", "x", "retention.ms"], "NAME+=VALUE"),
        (["reset", "topic", "x"], "at least one config"),
    ],
)
def test_wrong_use_exits_with_2(cli: Cli, arguments: list[str], said: str) -> None:
    assert said in cli.fails("configs", *arguments, status=2)


def test_an_unknown_config_is_named(cli: Cli, topic: MakeTopic) -> None:
    assert "retention.mss" in cli.run("configs", "alter", "topic", topic(), "retention.mss=5").stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["acls", "list"],
        [
            "acls",
            "create",
            "--principal",
            "User:a",
            "--operation",
            "READ",
            "--resource-type",
            "topic",
            "--resource-name",
            "t",
        ],
        ["quotas", "list"],
        ["quotas", "set", "--user", "a", "consumer_byte_rate=5"],
    ],
    ids=lambda each: " ".join(each[:2]),
)
def test_an_unsupported_api_is_a_one_line_error(cli: Cli, arguments: list[str]) -> None:
    assert "UnsupportedVersionError" in cli.fails(*arguments)


def test_users_are_set_listed_and_deleted(cli: Cli) -> None:
    assert cli("users", "set", "zoe", "-m", "SCRAM-SHA-256", "--iterations", "5000", stdin="secret\n") == "zoe: set\n"
    assert {"user": "zoe", "mechanism": "SCRAM-SHA-256", "iterations": 5000} in cli.json("users", "list")
    assert cli("users", "delete", "zoe", "-m", "SCRAM-SHA-256", "--yes") == "zoe: deleted\n"
    assert "zoe" not in cli("users", "list")
    assert "no credential of SCRAM-SHA-256" in cli.fails("users", "delete", "zoe", "-m", "SCRAM-SHA-256", "--yes")


def test_users_named_twice_are_listed_and_unknown_users_reported(cli: Cli) -> None:
    cli("users", "set", "uma", "-m", "SCRAM-SHA-256", stdin="secret\n")
    assert cli("users", "list", "uma", "--user", "uma") == "uma\tSCRAM-SHA-256\t4096\n"
    told = cli.run("users", "list", "uma", "nobody")
    assert (told.exit_code, told.stdout) == (0, "user\tmechanism\titerations\numa\tSCRAM-SHA-256\t4096\n")
    assert "nobody: " in told.stderr
    assert "no credential of SCRAM" in told.stderr


def test_acls_that_were_not_deleted_are_reported(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    pattern = ResourcePattern(ResourceType.TOPIC, "orders")
    deleted, kept = (
        MatchedACL(user, "*", ACLOperation.READ, ACLPermissionType.ALLOW, pattern) for user in ("User:a", "User:b")
    )
    kept.error = UnknownError
    monkeypatch.setattr(KafkaAdminClient, "delete_acls", lambda _, filters: [(filters[0], [deleted, kept], NoError)])
    told = cli.run("acls", "delete", "--resource-name", "orders", "-y")
    assert (told.exit_code, told.stdout) == (
        1,
        "principal\thost\tpermission\toperation\tresource_type\tresource_name\tpattern\nUser:a\t*\tallow\tread\ttopic\torders\tliteral\n",
    )
    assert told.stderr == "not deleted (UnknownError): User:b * allow read topic orders literal\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["acls", "create", "--principal", "User:a"], "Missing option"),
        (["acls", "list", "--operation", "rule"], "'rule'"),
        (["users", "set", "u"], "a password"),
        (["users", "set", "u", "--iterations", "0"], "expected a whole number from 1 to 2147483647, got '0'"),
        (
            ["users", "alter-scram-credentials", "--upsert", "u:SCRAM-SHA-256:p", "--iterations", "0"],
            "expected a whole number from 1 to 2147483647, got '0'",
        ),
        (
            ["users", "set", "u", "--iterations", "99999999999"],
            "expected a whole number from 1 to 2147483647, got '99999999999'",
        ),
        (["users", "alter-scram-credentials"], "--upsert or --delete"),
        (["users", "alter-scram-credentials", "--upsert", "u:SCRAM-SHA-256"], "USER:MECHANISM:PASSWORD"),
        (["quotas", "set", "a=1"], "to select the quotas"),
        (["quotas", "set", "--user", "u", "a=fast"], "got 'fast'"),
    ],
)
def test_wrong_use_of_access_control_exits_with_2(cli: Cli, arguments: list[str], said: str) -> None:
    assert said in cli.fails(*arguments, status=2)
