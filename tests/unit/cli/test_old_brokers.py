"""Commands on a broker that supports only the APIs of Kafka 1.1: each works, or says which release it requires."""

from collections.abc import Iterator

import pytest

from kafka.broker import EmbeddedBroker
from kafka.broker.api import APIS
from unit.cli.cli_support import Cli

pytestmark = pytest.mark.once

KAFKA_1_1 = {0: 5, 1: 7, 2: 2, 3: 5, 8: 3, 9: 3, 10: 1, 11: 2, 12: 1, 13: 1, 14: 1, 15: 1, 16: 1, 18: 1, 19: 2, 20: 1}
KAFKA_1_1 |= {21: 0, 22: 0, 23: 0, 24: 0, 25: 0, 26: 0, 28: 0, 32: 1, 33: 0, 35: 0, 37: 0, 42: 0}
"""The newest version of each API."""


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    """The command line on a broker with the APIs of Kafka 1.1."""
    with pytest.MonkeyPatch.context() as patch:
        for key, api in list(APIS.items()):
            if key in KAFKA_1_1:
                patch.setitem(APIS, key, api._replace(max_version=KAFKA_1_1[key]))  # type: ignore[arg-type]
            else:
                patch.delitem(APIS, key)  # type: ignore[arg-type]
        with EmbeddedBroker(group_initial_rebalance_delay_ms=0) as broker:
            yield Cli(broker.bootstrap_servers, str(tmp_path_factory.mktemp("config")))


def test_commands_for_daily_work_run_on_an_old_broker(old: Cli) -> None:
    old("topics", "create", "orders", "-p", "2", "-r", "1")
    old("produce", "orders", "-K", ":", stdin="a:1\nb:2\n")
    assert sorted(old("consume", "orders", "--group", "g", "-n", "2").split()) == ["1", "2"]
    assert "orders\t2\t1\n" in old("topics", "list")
    assert [each["lag"] for each in old.json("groups", "lag", "g")] != []
    assert old("partitions", "describe", "orders") == "orders\t0\t1\t\t1\t1\t\norders\t1\t1\t\t1\t1\t\n"
    assert "there is no topic 'none'" in old.fails("partitions", "describe", "none")


@pytest.mark.parametrize(
    ("command", "release"),
    [
        ("groups list --state empty", "(Kafka 2.6)"),
        ("groups list --type share", "(Kafka 3.8)"),
        ("transactions list", "requires Kafka 3.0"),
        ("cluster describe-quorum", "requires Kafka 3.3 with KRaft"),
        ("cluster describe-features", "(Kafka 2.4)"),
        ("configs list", "requires Kafka 3.7 with KRaft"),
        ("users list", "requires Kafka 2.7"),
        ("quotas list", "requires Kafka 2.6"),
        ("partitions moves", "requires Kafka 2.4"),
        ("partitions describe orders --cursor-topic orders --cursor-partition 0", "requires Kafka 3.8 with KRaft"),
    ],
)
def test_a_command_that_needs_a_newer_broker_names_the_release(old: Cli, command: str, release: str) -> None:
    assert release in old.fails(*command.split())


def test_a_new_topic_needs_its_numbers(old: Cli) -> None:
    assert "pass --partitions and --replication-factor" in old.fails("topics", "create", "t", status=2)
    old("topics", "create", "source", "-p", "3", "-r", "1")
    old("produce", "source", stdin="a\n")
    assert "kafka topics create target -p 3 -r COUNT" in old.fails("copy", "source", "target")
