"""The command line on an embedded broker."""

import itertools
from collections.abc import Callable, Iterator

import pytest

from kafka.broker import EmbeddedBroker
from unit.cli.cli_support import Cli

_NUMBERS = itertools.count()


@pytest.fixture(scope="module")
def broker() -> Iterator[EmbeddedBroker]:
    """A broker for the tests of a module, which use different topic names."""
    with EmbeddedBroker(group_initial_rebalance_delay_ms=0) as embedded:
        yield embedded


@pytest.fixture
def cli(broker: EmbeddedBroker, tmp_path_factory: pytest.TempPathFactory) -> Cli:
    """The command line."""
    return Cli(broker.bootstrap_servers, str(tmp_path_factory.mktemp("config")))


@pytest.fixture
def topic(cli: Cli, request: pytest.FixtureRequest) -> Callable[..., str]:
    """A function that creates a topic named after the test."""

    def make(partitions: int = 1, suffix: str = "") -> str:
        test = "".join(each if each.isalnum() else "-" for each in request.node.name)[:100]
        name = f"{test}-{next(_NUMBERS)}{suffix}"
        cli("topics", "create", name, "-p", str(partitions))
        return name

    return make
