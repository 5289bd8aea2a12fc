"""Every error code of Kafka, in every place of a response to the admin client.

A scripted broker answers each call with the code, always or once, on a loop in virtual time. The call ends within its
time limit, reports the code for the right resource, and retries transient errors.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, NamedTuple

import pytest

from fakes.cluster import Call, FakeCluster
from kafka.admin import AsyncKafkaAdminClient, KafkaAdminClient
from kafka.admin.acls import MatchedACL
from kafka.admin.admin_requests import AdminRequests
from kafka.cluster.client_core import ClientCore
from kafka.cluster.telemetry.collector import Identity
from kafka.errors import (
    BrokerResponseError,
    GroupIdNotFoundError,
    KafkaError,
    KafkaStorageError,
    KafkaTimeoutError,
    TransactionalIdNotFoundError,
    for_code,
    kafka_errors,
)
from kafka.metrics.client_metrics import ClientMetrics
from kafka.net.statistics import NetworkTraffic
from kafka.wire import message_class
from unit.admin.admin_calls import CALLS, OTHER_METHODS, TP
from unit.admin.answering import Path, error_paths, good_answer, with_code
from unit.virtual_loop import simulate

pytestmark = pytest.mark.once

CODES = [code for code in kafka_errors if code]
LIMIT_MS = 600
MARGIN_S = 10.0
"""Time that a call may take beyond its limit: twice the margin for a controller's response."""

SAMPLE = ("create_topics", "delete_groups", "delete_records", "describe_configs")
"""One call of each kind: to the controller, to coordinators, to leaders, and to any broker."""
NOTHING: frozenset[int] = frozenset()
CONTROLLER = frozenset({41})
WITHIN_QUOTA = frozenset({41, 89})
COORDINATOR = frozenset({14, 15, 16})
RETRIABLE = frozenset(code for code in CODES if kafka_errors[code].retriable)
OF_THINGS = RETRIABLE - {3, 100}
"""Codes that are retried for a resource. An unknown topic is not, because it is most likely a typo."""

TRIED_AGAIN = {
    "AddRaftVoter error_code": NOTHING,
    "AlterClientQuotas entries.error_code": CONTROLLER,
    "AlterConfigs responses.error_code": OF_THINGS,
    "AlterPartitionReassignments error_code": CONTROLLER,
    "AlterPartitionReassignments responses.partitions.error_code": NOTHING,
    "AlterReplicaLogDirs results.partitions.error_code": OF_THINGS,
    "AlterShareGroupOffsets error_code": COORDINATOR,
    "AlterShareGroupOffsets responses.partitions.error_code": NOTHING,
    "AlterUserScramCredentials results.error_code": CONTROLLER,
    "ApiVersions error_code": RETRIABLE,
    "CreateAcls results.error_code": NOTHING,
    "CreateDelegationToken error_code": NOTHING,
    "CreatePartitions results.error_code": WITHIN_QUOTA,
    "CreateTopics topics.error_code": WITHIN_QUOTA,
    "CreateTopics topics.topic_config_error_code": NOTHING,
    "DeleteAcls filter_results.error_code": NOTHING,
    "DeleteAcls filter_results.matching_acls.error_code": NOTHING,
    "DeleteGroups results.error_code": OF_THINGS,
    "DeleteRecords topics.partitions.error_code": OF_THINGS,
    "DeleteShareGroupOffsets error_code": COORDINATOR,
    "DeleteShareGroupOffsets responses.error_code": NOTHING,
    "DeleteTopics responses.error_code": WITHIN_QUOTA,
    "DescribeAcls error_code": RETRIABLE,
    "DescribeClientQuotas error_code": RETRIABLE,
    "DescribeCluster error_code": RETRIABLE,
    "DescribeConfigs results.error_code": OF_THINGS,
    "DescribeDelegationToken error_code": RETRIABLE,
    "DescribeGroups groups.error_code": OF_THINGS,
    "DescribeLogDirs error_code": OF_THINGS,
    "DescribeLogDirs results.error_code": NOTHING,
    "DescribeProducers topics.partitions.error_code": OF_THINGS,
    "DescribeQuorum error_code": RETRIABLE,
    "DescribeQuorum topics.partitions.error_code": NOTHING,
    "DescribeShareGroupOffsets groups.error_code": OF_THINGS,
    "DescribeShareGroupOffsets groups.topics.partitions.error_code": NOTHING,
    "DescribeTopicPartitions topics.error_code": NOTHING,
    "DescribeTopicPartitions topics.partitions.error_code": NOTHING,
    "DescribeTransactions transaction_states.error_code": OF_THINGS,
    "DescribeUserScramCredentials error_code": RETRIABLE,
    "DescribeUserScramCredentials results.error_code": NOTHING,
    "ElectLeaders error_code": CONTROLLER,
    "ElectLeaders replica_election_results.partition_result.error_code": NOTHING,
    "ExpireDelegationToken error_code": NOTHING,
    "IncrementalAlterConfigs responses.error_code": OF_THINGS,
    "InitProducerId error_code": OF_THINGS,
    "LeaveGroup error_code": OF_THINGS,
    "LeaveGroup members.error_code": NOTHING,
    "ListConfigResources error_code": RETRIABLE,
    "ListGroups error_code": OF_THINGS,
    "ListOffsets topics.partitions.error_code": OF_THINGS,
    "ListPartitionReassignments error_code": CONTROLLER,
    "ListTransactions error_code": OF_THINGS,
    "OffsetCommit topics.partitions.error_code": COORDINATOR,
    "OffsetDelete error_code": COORDINATOR,
    "OffsetDelete topics.partitions.error_code": NOTHING,
    "OffsetFetch groups.error_code": OF_THINGS,
    "OffsetFetch groups.topics.partitions.error_code": OF_THINGS,
    "RemoveRaftVoter error_code": NOTHING,
    "RenewDelegationToken error_code": RETRIABLE,
    "ShareGroupDescribe groups.error_code": OF_THINGS,
    "StreamsGroupDescribe groups.error_code": OF_THINGS,
    "UnregisterBroker error_code": RETRIABLE,
    "UnregisterController error_code": RETRIABLE,
    "UpdateFeatures error_code": CONTROLLER,
    "WriteTxnMarkers markers.topics.partitions.error_code": OF_THINGS,
}
"""Retried codes, by request and place of the code in the response."""

EXCEPTIONS = {
    ("describe_replica_log_dirs", "DescribeLogDirs results.error_code"): OF_THINGS - {KafkaStorageError.errno},
}
"""Calls with other retried codes."""

NO_ERRORS = {
    ("describe_replica_log_dirs", "DescribeLogDirs results.error_code"): KafkaStorageError,
    ("describe_consumer_groups", "DescribeGroups groups.error_code"): GroupIdNotFoundError,
    ("find_hanging_transactions", "DescribeTransactions transaction_states.error_code"): TransactionalIdNotFoundError,
}
"""Codes that are not errors: an offline directory; a group that is not classic or does not exist, according to its
state; a transactional id that has expired since it was listed.
"""

OWN_NAMES: dict[str, dict[str, Any]] = {
    "DescribeQuorum": {"topic_name": "__cluster_metadata"},
    "DescribeGroups": {"group_state": "Stable"},
    "DescribeConfigs": {"name": "a", "config_source": 1},
}


class ErrorPlace(NamedTuple):
    """A place in a response that may contain an error code."""

    api: str
    path: Path

    def __str__(self) -> str:
        return f"{self.api} {'.'.join(self.path)}"


class Outcome(NamedTuple):
    """The outcome of a call: its result or error, the requests, and its duration."""

    result: Any
    calls: list[Call]
    seconds: float

    def requests(self, api: str) -> int:
        return sum(call.api == api for call in self.calls)


class InMemoryAdmin(AsyncKafkaAdminClient):
    """A client of an in-memory cluster whose responses can have an error code in a given place."""

    def __init__(self) -> None:
        super().__init__(request_timeout_ms=LIMIT_MS)
        self.fake = FakeCluster({"t": 1}, request_timeout_ms=LIMIT_MS)
        for api in {str(place).split()[0] for place in TRIED_AGAIN} | {"ConsumerGroupDescribe"}:
            self.fake.serve(api, self._answer)
        self._place: ErrorPlace | None = None
        self._code = 0
        self._left: int | None = None

    def _make_parts(self, loop: Any, reporting: Any) -> ClientCore:
        connection = self._parsed.connection
        metrics = ClientMetrics(connection, loop.time)
        traffic, identity = NetworkTraffic(metrics, "a", loop), Identity("a", "a")
        core = self._core = ClientCore(
            connection, self._parsed.security, loop, traffic, metrics, identity, reporting.submit, self.fake
        )
        self._requests = AdminRequests(core.cluster, connection, core.telemetry)
        return core

    def _answer(self, call: Call) -> Any:
        made = good_answer(call.request.RESPONSE, call.version, **OWN_NAMES.get(call.api, {}))
        if self._place is not None and call.api == self._place.api and self._left != 0:
            self._left = None if self._left is None else self._left - 1
            with_code(made, self._place.path, self._code)
        return made

    async def play(
        self, name: str, place: ErrorPlace | None = None, code: int = 0, times: int | None = None
    ) -> Outcome:
        """Make a call; responses have a code in a place, always or a given number of times."""
        self._place, self._code, self._left = place, code, times
        self.fake.calls.clear()
        loop = asyncio.get_running_loop()
        began = loop.time()
        try:
            result = await CALLS[name](self)
        except KafkaError as error:
            result = error
        return Outcome(result, list(self.fake.calls), loop.time() - began)


def with_admin(scenario: Callable[[InMemoryAdmin], Awaitable[None]]) -> None:
    """Run a scenario on a loop in virtual time."""

    async def run() -> None:
        async with InMemoryAdmin() as admin:
            await scenario(admin)

    simulate(run)


def places(good: Outcome) -> Iterator[ErrorPlace]:
    """Yield the places where the responses to these requests may have error codes."""
    for api, version in sorted({(call.api, call.version) for call in good.calls}):
        for path in error_paths(message_class(f"{api}Response"), version):
            yield ErrorPlace(api, path)


def tells(result: Any, code: int) -> bool:
    """Return whether a result or an error contains a code."""
    kind = for_code(code)
    if isinstance(result, KafkaTimeoutError) and f"[Error {code}]" in str(result):
        return True
    if result is None or isinstance(result, bool | int | float):
        return False
    if isinstance(result, BrokerResponseError) or (isinstance(result, type) and issubclass(result, KafkaError)):
        return getattr(result, "errno", None) == code
    if isinstance(result, str):
        return f"[Error {code}]" in result or result in (kind.description, kind.__name__)
    if isinstance(result, dict):
        numbers = {key: each for key, each in result.items() if isinstance(key, str) and key.endswith("error_code")}
        inner = [*result.values(), getattr(result, "errors", None)]
        return code in numbers.values() or any(tells(each, code) for each in inner)
    inner = [getattr(result, "error", None), getattr(result, "errors", None)]
    if isinstance(result, list | tuple) and not isinstance(result, MatchedACL):
        inner += result
    return any(tells(each, code) for each in inner)


@pytest.fixture(autouse=True)
def quiet(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    """Silence warnings, of which hundreds would be captured, and fix the time of day."""
    caplog.set_level(logging.CRITICAL)
    monkeypatch.setattr("kafka.admin.transactions.wall_clock_ns", lambda: lambda: 10**18)


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name in SAMPLE else pytest.mark.exhaustive) for name in CALLS],
)
def test_each_error_code_ends_a_call_and_is_reported(name: str) -> None:
    async def scenario(admin: InMemoryAdmin) -> None:
        good = await admin.play(name)
        assert not isinstance(good.result, Exception), good.result
        assert not any(tells(good.result, code) for code in CODES)
        assert list(places(good))
        for place in places(good):
            for code in CODES:
                check(name, place, code, good, await admin.play(name, place, code))

    with_admin(scenario)


def check(name: str, place: ErrorPlace, code: int, good: Outcome, outcome: Outcome) -> None:
    expected = EXCEPTIONS.get((name, str(place)), TRIED_AGAIN[str(place)])
    nothing = NO_ERRORS.get((name, str(place)))
    where = f"{place} = {code} ({for_code(code).__name__}): {outcome.result!r:.300}"
    assert outcome.seconds <= LIMIT_MS / 1000 + MARGIN_S, where
    assert (outcome.requests(place.api) > good.requests(place.api)) == (code in expected), where
    if nothing is not None and code == nothing.errno:
        assert not isinstance(outcome.result, Exception), where
    elif name == "reset_group_offsets" and code in expected and place.api == "ListOffsets":
        assert outcome.result[TP]["error"] is KafkaTimeoutError, "it has the class alone"
    else:
        assert tells(outcome.result, code), where


def test_the_list_of_calls_is_complete() -> None:
    methods = {name for name, _ in inspect.getmembers(KafkaAdminClient, inspect.isfunction) if name[0] != "_"}
    assert {name.partition(",")[0] for name in CALLS} | OTHER_METHODS == methods
    assert not OTHER_METHODS & set(CALLS)


@pytest.mark.parametrize("name", CALLS)
def test_transient_errors_leave_no_trace_in_the_result(name: str) -> None:
    async def scenario(admin: InMemoryAdmin) -> None:
        good = await admin.play(name)
        for place in places(good):
            for code in sorted(EXCEPTIONS.get((name, str(place)), TRIED_AGAIN[str(place)])):
                outcome = await admin.play(name, place, code, times=1)
                assert repr(outcome.result) == repr(good.result), f"{place} = {code}"

    with_admin(scenario)


def test_unknown_error_codes_are_reported_without_retrying() -> None:
    async def scenario(admin: InMemoryAdmin) -> None:
        for name in CALLS:
            good = await admin.play(name)
            for place in places(good):
                outcome = await admin.play(name, place, 999)
                assert outcome.requests(place.api) == good.requests(place.api), place
                assert tells(outcome.result, 999), (place, outcome.result)

    with_admin(scenario)


@pytest.mark.parametrize("name", ["delete_groups", "alter_group_offsets", "remove_group_members", "fence_producers"])
def test_each_error_code_of_a_coordinator_lookup_ends_a_call(name: str) -> None:
    async def scenario(admin: InMemoryAdmin) -> None:
        for code in CODES:
            admin.fake.coordinator_error = code
            outcome = await admin.play(name)
            assert tells(outcome.result, code), outcome.result
            assert outcome.seconds <= LIMIT_MS / 1000 + MARGIN_S

    with_admin(scenario)


@pytest.mark.parametrize("name", ["delete_records", "list_partition_offsets", "describe_producers"])
def test_each_error_code_of_a_topic_ends_a_call_for_its_partitions(name: str) -> None:
    async def scenario(admin: InMemoryAdmin) -> None:
        for code in CODES:
            admin.fake.topic_errors = {"t": code}
            outcome = await admin.play(name)
            assert tells(outcome.result, code), outcome.result
            assert outcome.seconds <= LIMIT_MS / 1000 + MARGIN_S

    with_admin(scenario)
