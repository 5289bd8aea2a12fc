"""Searches by name: `topics list`, `groups list`, and `consume --regex`; and `groups lag --above`."""

import pytest

from unit.cli.cli_support import Cli

pytestmark = pytest.mark.once


@pytest.fixture(scope="module")
def named(broker: object) -> None:
    """Topics and groups that no other test uses."""
    cli = Cli(broker.bootstrap_servers, "/no/such")  # type: ignore[attr-defined]
    cli("topics", "create", "eu.orders", "us.Orders", "eu.bills")
    for name in ("eu.orders", "us.Orders", "eu.bills"):
        cli("produce", name, stdin=f"{name}\nsecond\n")
    cli("groups", "set-offsets", "eu-readers", "-o", "eu.orders:0:0", "-o", "eu.bills:0:1")
    cli("groups", "set-offsets", "us-readers", "-o", "us.Orders:0:2")


@pytest.mark.usefixtures("named")
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["orders"], ["eu.orders", "us.Orders"]),
        (["ORD", "bill"], ["eu.bills", "eu.orders", "us.Orders"]),
        (["-r", "eu[.].*"], ["eu.bills", "eu.orders"]),
        (["-r", "orders"], []),
        (["-r", "us.*", ".*bills"], ["eu.bills", "us.Orders"]),
    ],
)
def test_topics_are_searched_by_name(cli: Cli, arguments: list[str], expected: list[str]) -> None:
    assert [line.split("\t")[0] for line in cli("topics", "list", *arguments).splitlines()] == expected


@pytest.mark.usefixtures("named")
def test_groups_are_searched_by_name(cli: Cli) -> None:
    assert [each["group"] for each in cli.json("groups", "list", "-r", "us-.*")] == ["us-readers"]
    assert [each["group"] for each in cli.json("groups", "list", "READERS")] == ["eu-readers", "us-readers"]


@pytest.mark.usefixtures("named")
def test_topics_are_read_by_a_regular_expression(cli: Cli) -> None:
    found = cli("consume", "-r", "eu[.].*", "-f", "%t=%s ").split()
    assert sorted(found) == ["eu.bills=eu.bills", "eu.bills=second", "eu.orders=eu.orders", "eu.orders=second"]
    assert cli("consume", "-r", "us.*", "xx", "-n", "1") == "us.Orders\n"
    assert "no topic matches" in cli.fails("consume", "-r", "eu")
    assert "expected a regular expression, got '('" in cli.fails("consume", "-r", "(", status=2)


@pytest.mark.usefixtures("named")
def test_a_group_reads_the_topics_that_match(cli: Cli) -> None:
    assert cli("consume", "-r", "us[.]O.*", "-g", "regex-group", "-n", "2") == "us.Orders\nsecond\n"
    assert cli.json("groups", "lag", "regex-group")[0]["topic"] == "us.Orders"


@pytest.mark.usefixtures("named")
def test_lags_above_a_limit_are_listed_and_give_a_status(cli: Cli) -> None:
    result = cli.run("groups", "lag", "eu-readers", "us-readers", "--above", "0")
    assert result.exit_code == 4
    titles, *rows = (line.split("\t") for line in result.stdout.splitlines())
    assert [(row[titles.index("topic")], row[titles.index("lag")]) for row in rows] == [
        ("eu.orders", "2"),
        ("eu.bills", "1"),
    ]
    assert cli("groups", "lag", "eu-readers", "--above", "2") == ""
    total = cli.run("groups", "lag", "eu-readers", "--above", "1", "--total", "--json")
    assert (total.exit_code, total.stdout) == (4, '[{"group": "eu-readers", "topic": "eu.orders", "lag": 2}]\n')


def test_a_limit_does_not_hide_that_a_lag_is_unknown(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    row = {"group": "g", "topic": "t", "partition": 0, "committed": 5, "latest": None, "lag": None}
    monkeypatch.setattr("kafka.cli.groups.listing._rows", lambda *_: [row])
    result = cli.run("groups", "lag", "g", "--above", "0")
    assert result.exit_code == 0
    assert result.stderr == "the lag is unknown for g in t:0: the topic does not exist or has no leader\n"
