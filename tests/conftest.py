"""Fixtures of the whole test suite: the two brokers, and topics on them.

A test that takes `broker` runs twice, on the embedded broker and on Apache Kafka. Without Java or the network the
second is skipped; where the environment says `CI=true` it fails instead, so that nothing is passed over unseen.
"""

from __future__ import annotations

import gc
import os
import re
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pytest
from _pytest.assertion.rewrite import AssertionRewritingHook
from hypothesis import settings
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants

from kafka._variant import plain_is_forced

if TYPE_CHECKING:
    from harness.releases import Kafka
    from harness.scheduling import KeepTogether
    from harness.tools import JavaTools
    from kafka.broker import EmbeddedBroker

_ALL_ONCE = re.compile(r"^pytestmark = (\[[^\]]*|[^\n\[]*)\bonce\b", re.MULTILINE)
TESTS = Path(__file__).resolve().parent
LOG_LINES = 80
if plain_is_forced():  # who has no compiler has no Cython either; its `cast` and types are not those of `kafka._cython`
    sys.modules["cython"] = None  # type: ignore[assignment]

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # under nohup, say: processes that tests start would inherit it
    signal.signal(signal.SIGINT, signal.default_int_handler)

# The same examples each time, and no clock: a test that fails has found something. To look for more:
# pytest --hypothesis-profile=explore
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("explore", max_examples=2000, deadline=None)
settings.load_profile("repeatable")
# Hypothesis would read all modules imported so far, for seconds, and draw constants that it finds there: other ones in
# another order of the tests.
providers._get_local_constants = Constants


class Broker(Protocol):
    """What tests know of a broker."""

    @property
    def bootstrap_servers(self) -> str:
        """`host:port`."""

    @property
    def kind(self) -> str:
        """`"embedded"` or `"apache"`."""


BUSY_SPARK = "Python worker failed to connect back"
"""What Spark says where a Python process of it has not started within ten seconds, which it lets nobody change. A busy
machine takes longer now and then: a test that fails of that, and of nothing else, is run again."""


class MakeTopic(Protocol):
    """The type of the fixture `make_topic`."""

    def __call__(self, partitions: int = 1, config: Mapping[str, str] | None = None) -> str:
        """Create a topic with a new name, wait until it is ready, and return the name."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--kafka-release 1.1.1`: what runs on Apache Kafka runs on that release, not on the newest.

    `--once-too`: the plain variant is the only one that is run, so what is marked `once` runs with it.
    """
    parser.addoption("--kafka-release", metavar="RELEASE", help="run on this release of Apache Kafka")
    parser.addoption("--once-too", action="store_true", help="with the plain variant: run what is marked `once`, too")


def pytest_configure(config: pytest.Config) -> None:
    """Rewrite the asserts of tests alone, which the main thread imports before the first test.

    pytest also rewrites all modules of packages with a plugin, such as `kafka`. The threads of the embedded broker, and
    of the checks of pipelines, import many of them when they first need them, while the main thread imports others.
    CPython 3.11 can only parse in one thread at a time: it may fail ("AST constructor recursion depth mismatch").
    """
    if isinstance(hook := config.pluginmanager.rewrite_hook, AssertionRewritingHook):
        hook._must_rewrite.clear()
        hook._marked_for_rewrite_cache.clear()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """A file of which all is marked `once` is not even imported for the plain variant."""
    if not _leaves_out_once(config) or collection_path.suffix != ".py":
        return None
    return True if _ALL_ONCE.search(collection_path.read_text(encoding="utf-8")) else None


def _leaves_out_once(config: pytest.Config) -> bool:
    return plain_is_forced() and not config.getoption("--once-too")


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark a test by its folder: `integration` needs a broker, and `integration/spark` needs Spark, too."""
    if TESTS / "integration" in item.path.parents:
        item.add_marker("integration")
        if item.path.parent.name == "spark":
            item.add_marker("spark")
            item.add_marker(pytest.mark.flaky(reruns=2, only_rerun=[BUSY_SPARK]))


@pytest.hookimpl(tryfirst=True)  # before pytest chooses by the marks
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What is the same in both variants runs in the compiled one; what a release of Kafka lacks is skipped there."""
    mark_samples_of_spark(items)
    if _leaves_out_once(config):
        again = [item for item in items if item.get_closest_marker("once") is None]
        config.hook.pytest_deselected(items=[item for item in items if item.get_closest_marker("once")])
        items[:] = again
    from harness.fetch import KAFKA_VERSION
    from harness.releases import missing_in

    release = config.getoption("--kafka-release") or KAFKA_VERSION
    for item in items:
        for reason in missing_in(release, item.iter_markers("needs")):
            item.add_marker(pytest.mark.skip(reason))


SPARK_STRIDE = 3


def mark_samples_of_spark(items: list[pytest.Item]) -> None:
    """Mark two of three cases of each Spark test as exhaustive, and one of two where there are two.

    A Spark test takes many seconds. Its cases differ in the broker or in details that the unit tests cover, too.
    """
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("spark") is None or item.get_closest_marker("all_cases") is not None:
            continue
        if getattr(item, "callspec", None) is not None:
            cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for number, alike in enumerate(cases.values()):
        stride = min(SPARK_STRIDE, len(alike))
        for at, item in enumerate(alike):
            if at % stride != number % stride:
                item.add_marker("exhaustive")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """Show with a failed test what the broker has logged last: by then nothing else tells what it was busy with."""
    report: pytest.TestReport = yield  # type: ignore[assignment]
    if report.failed:
        for broker in {id(each): each for each in getattr(item, "funcargs", {}).values()}.values():
            if getattr(broker, "kind", "") == "apache" and hasattr(broker, "log_text"):
                report.sections.append(("Apache Kafka's log", "\n".join(broker.log_text().splitlines()[-LOG_LINES:])))
    return report  # type: ignore[return-value]


def pytest_collection_finish() -> None:
    """Leave what was collected, thousands of tests and their modules, out of every later collection of garbage."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> KeepTogether:
    """Of the processes that share the tests one runs those that share something costly; else each takes the next."""
    from harness.scheduling import KeepTogether

    return KeepTogether(config, log)


def missing(what: str) -> None:
    """Skip a test that lacks something this machine may not have; fail it where everything must be there."""
    if os.environ.get("CI", "").lower() in ("1", "true"):
        pytest.fail(f"CI=true, and {what}", pytrace=False)
    pytest.skip(what)


@pytest.fixture(scope="session")
def chromium() -> Path:
    """Chromium, installed if need be."""
    from harness.chromium import chromium as found
    from harness.debian import PackagesMissing

    try:
        return found()
    except PackagesMissing as error:
        missing(f"Chromium is not to be had: {error}")
        raise


@pytest.fixture(scope="session")
def java_tools(pytestconfig: pytest.Config) -> JavaTools:
    """Apache Kafka's jars, fetched, and its Java tools."""
    from harness.fetch import KAFKA_VERSION, FetchError
    from harness.java import JavaError
    from harness.tools import JavaTools

    try:
        return JavaTools(pytestconfig.getoption("--kafka-release") or KAFKA_VERSION)
    except (FetchError, JavaError) as error:
        missing(f"Apache Kafka is not to be had: {error}")
        raise


@pytest.fixture(scope="session")
def apache_kafka(java_tools: JavaTools, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kafka]:
    """A running Apache Kafka of one node, shared by the session: a test uses topics and groups of its own."""
    from harness.releases import kafka_of

    # Nobody stops it, so its session need not end soon: under load the controller would fence it, and refuse topics.
    properties = {"broker.session.timeout.ms": "60000"}
    with kafka_of(java_tools.version, tmp_path_factory.mktemp("apache-kafka"), properties=properties) as kafka:
        yield kafka


@pytest.fixture(scope="session")
def embedded_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedBroker]:
    """A running embedded broker, shared by the session: a test uses topics and groups of its own."""
    from kafka.broker import EmbeddedBroker

    # As Apache Kafka in `harness.properties`: a new group does not wait for more members, and records stay, of which
    # tests write many of the past. Retention is looked at each second, so that records that it removes are missed
    # whenever a test runs, not only where a whole run takes minutes.
    data = tmp_path_factory.mktemp("embedded-broker")
    with EmbeddedBroker(
        data,
        topic_defaults={"retention.ms": "-1"},
        retention_check_interval_ms=1000,
        group_min_session_timeout_ms=1000,
        group_initial_rebalance_delay_ms=0,
        consumer_heartbeat_interval_ms=500,
        share_min_record_lock_duration_ms=1000,
        share_heartbeat_interval_ms=200,
    ) as broker:
        yield broker


class _Embedded:
    """The embedded broker as a `Broker`."""

    kind = "embedded"

    def __init__(self, broker: EmbeddedBroker) -> None:
        self.bootstrap_servers = broker.bootstrap_servers


@pytest.fixture(scope="session", params=["embedded", pytest.param("apache", marks=pytest.mark.apache)])
def broker(request: pytest.FixtureRequest) -> Broker:
    """The embedded broker, and then Apache Kafka."""
    if request.param == "embedded":
        return _Embedded(request.getfixturevalue("embedded_broker"))
    kafka: Kafka = request.getfixturevalue("apache_kafka")
    return kafka


@pytest.fixture
def make_topic(broker: Broker) -> MakeTopic:
    """Return a function that makes a topic on `broker`."""
    return topic_maker(broker)


@pytest.fixture
def make_topic_on() -> Callable[[Broker], MakeTopic]:
    """Return a function that gives a `make_topic` for any broker (one that a test started itself)."""
    return topic_maker


def topic_maker(broker: Broker) -> MakeTopic:
    """Return the function behind `make_topic`."""
    from harness.topics import create_topic, new_topic_name
    from harness.zookeeper_kafka import ZooKeeperKafka

    def make(partitions: int = 1, config: Mapping[str, str] | None = None) -> str:
        name = new_topic_name()
        if isinstance(broker, ZooKeeperKafka):
            broker.create_topic(name, partitions, config)
        else:
            create_topic(broker.bootstrap_servers, name, partitions, config)
        return name

    return make
