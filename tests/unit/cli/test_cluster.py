"""`kafka cluster`, `kafka transactions` and `kafka groups lag --watch` on the embedded broker."""

import datetime
import json
import time
from collections.abc import Callable

import pytest

from kafka import KafkaAdminClient, KafkaProducer
from unit.cli.cli_support import Cli

pytestmark = pytest.mark.once
MakeTopic = Callable[..., str]


def test_brokers_features_versions_and_directories_are_described(cli: Cli, topic: MakeTopic) -> None:
    host, port = cli.bootstrap_servers.split(":")
    assert cli("cluster", "describe") == f"1\t{host}\t{port}\t\ttrue\n"
    assert cli.json("cluster", "describe")["controller"] == 1
    assert "transaction.version\t" in cli("cluster", "features")
    assert len(cli("cluster", "describe-features", "-f", "share.version").splitlines()) == 1
    for options in ([], ["--broker", "1"]):
        assert "\n3\tMetadata\t0\t" in cli("cluster", "api-versions", *options)
    name = topic(2)
    rows = cli.json("cluster", "log-dirs", "-t", name)
    assert [(row["broker"], row["partition"]) for row in rows] == [(1, 0), (1, 1)]


def test_levels_of_features_are_numbers(cli: Cli) -> None:
    assert "expected a number" in cli.fails("cluster", "update-features", "share.version=one", status=2)
    assert "UnsupportedVersionError" in cli.fails("cluster", "describe-quorum")


def test_transactions_are_listed_and_described(cli: Cli, topic: MakeTopic) -> None:
    name = topic()
    with KafkaProducer(bootstrap_servers=cli.bootstrap_servers, transactional_id=name) as producer:
        producer.init_transactions()
        producer.begin_transaction()
        producer.send(name, b"x").get(timeout=10)
        for options in (
            ["--state", "Ongoing"],
            ["--broker-id", "1"],
            ["--id-pattern", f"{name}.*"],
            ["--longer-than", "0"],
        ):
            assert f"{name}\t" in cli("transactions", "list", *options)
        (described,) = cli.json("transactions", "describe", name)
        assert (described["state"], described["partitions"]) == ("Ongoing", [f"{name}:0"])
        assert cli("transactions", "hanging") == ""
        ids = ["--producer-id", str(described["producer_id"]), "--producer-epoch", str(described["producer_epoch"])]
        assert "is aborted" in cli("transactions", "abort", "-t", name, "-p", "0", *ids, "-y")
        producer.abort_transaction()
    assert cli("consume", name, "--read-committed") == ""
    assert "at least one transactional id" in cli.fails("transactions", "describe", status=2)


def test_lag_is_shown_repeatedly_until_interrupted(cli: Cli, topic: MakeTopic, monkeypatch: pytest.MonkeyPatch) -> None:
    name, pauses = topic(), []
    cli("produce", name, stdin="a\nb\n")
    cli("consume", name, "-g", name, "-n", "1")

    def sleep(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(time, "sleep", sleep)
    result = cli.run("groups", "lag", name, "--total", "--watch", "5s")
    assert (result.exit_code, pauses) == (130, [5.0, 5.0, 5.0])
    titles, *rows, end = (line.rpartition("\t") for line in result.stdout.split("\n"))
    assert titles == ("group\ttopic\tlag", "\t", "time")
    assert ([row for row, _, _ in rows], end[2]) == ([f"{name}\t{name}\t1"] * 3, "")
    assert all(datetime.datetime.fromisoformat(at).tzinfo is datetime.UTC for _, _, at in rows)


def test_each_json_object_of_a_watched_lag_has_a_time(
    cli: Cli, topic: MakeTopic, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = topic()
    cli("produce", name, stdin="a\nb\n")
    cli("consume", name, "-g", name, "-n", "1")
    monkeypatch.setattr(time, "sleep", lambda _: (_ for _ in ()).throw(KeyboardInterrupt))
    (row,) = json.loads(cli.run("groups", "lag", name, "--watch", "5s", "--json").stdout)
    assert (row["lag"], datetime.datetime.fromisoformat(row["time"]).tzinfo) == (1, datetime.UTC)
    assert "time" not in cli.json("groups", "lag", name)[0]


def test_partitions_are_added_and_described(cli: Cli, topic: MakeTopic) -> None:
    name = topic()
    assert cli("partitions", "create", f"{name}:2", "--dry-run") == f"{name} would have 2 partitions\n"
    assert cli("partitions", "create", "-p", f"{name}:2") == f"{name} has 2 partitions\n"
    described = cli.json("partitions", "describe", "-t", name)
    assert [(each["partition"], each["leader"], each["replicas"]) for each in described] == [(0, 1, [1]), (1, 1, [1])]
    assert cli("partitions", "list-offsets", name) == f"{name}\t0\t0\t0\n{name}\t1\t0\t0\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["create"], "at least one TOPIC:COUNT"),
        (["move", "t:0=x"], "got 't:0=x'"),
        (["move", "t=1"], "TOPIC:PARTITION"),
        (["elect", "-t", "t", "-p", "t:0"], "are mutually exclusive"),
    ],
)
def test_wrong_use_of_partitions_exits_with_2(cli: Cli, arguments: list[str], said: str) -> None:
    assert said in cli.fails("partitions", *arguments, status=2)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([], (0, None)),
        (["--type", "preferred", "-p", "a:0", "-p", "a:2"], (0, {"a": [0, 2]})),
        (["--election-type", "unclean", "-t", "b"], (1, ["b"])),
    ],
)
def test_leaders_are_elected_as_requested(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, options: list[str], expected: tuple[int, object]
) -> None:
    asked = []
    codes = {0: "elected", 84: "already the leader"}
    parts = [{"partition_id": code, "error_code": code, "error_message": None} for code in codes]

    def elect(admin: object, kind: int, wanted: object, raise_errors: bool) -> object:
        assert not raise_errors
        asked.append((kind, wanted))
        return {"replica_election_results": [{"topic": "a", "partition_result": parts}]}

    monkeypatch.setattr(KafkaAdminClient, "elect_leaders", elect)
    assert cli("partitions", "elect", *options) == "".join(f"a\t{code}\t{told}\n" for code, told in codes.items())
    assert asked == [expected]
