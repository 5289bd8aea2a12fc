"""Fault injection: the requests that rules match, and the effects of rules."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import numpy
import pytest

from kafka.broker import EmbeddedBroker, client_connection
from kafka.broker.api import APIS, Api
from kafka.broker.error_responses import error_answer
from kafka.broker.faults import Faults, RequestFacts
from kafka.errors import KafkaConfigurationError, NotLeaderForPartitionError
from kafka.wire import request_class
from kafka.wire.api.api_versions import ApiVersionsRequest
from kafka.wire.api.fetch import FetchRequest
from kafka.wire.api.find_coordinator import FindCoordinatorRequest
from kafka.wire.api.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from kafka.wire.api.metadata import MetadataRequest, MetadataRequestTopic
from kafka.wire.api.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup, OffsetFetchRequestTopics
from kafka.wire.api.produce import ProduceRequest
from kafka.wire.framing import decode_request
from unit.broker.batches import make_batch
from unit.broker.requests import create, fetch_request, fetched, produce_request, produced, values
from unit.broker.wireclient import WireClient

NOT_LEADER = 6


@pytest.fixture
async def broker(tmp_path: Path) -> AsyncIterator[EmbeddedBroker]:
    async with EmbeddedBroker(tmp_path) as running:
        yield running


@pytest.fixture
async def client(broker: EmbeddedBroker) -> AsyncIterator[WireClient]:
    async with WireClient(broker) as connected:
        yield connected


async def write(client: WireClient, topic: str = "t", text: bytes = b"a") -> int:
    return produced(await client.call(produce_request(topic, make_batch([text])), 9)).error_code


async def read(client: WireClient, topic: str = "t") -> list[bytes | None]:
    return values(fetched(await client.call(fetch_request(topic), 11)))


# -- matching requests ------------------------------------------------------------------------------------------------


def facts(api: str = "Produce", topics: tuple[str, ...] = ("t",), client_id: str = "c") -> RequestFacts:
    return RequestFacts(api, topics, client_id)


def test_all_conditions_must_match() -> None:
    faults = Faults()
    rule = faults.hang_up(api=0, topic="t", client_id="c")
    for other in (facts(api="Fetch"), facts(topics=("u",)), facts(topics=()), facts(client_id="d")):
        assert faults.for_request(other) is None
    assert faults.for_request(facts(topics=("u", "t"))) is rule
    assert rule.hits == 1


def test_the_first_matching_rule_with_hits_left_applies() -> None:
    faults = Faults()
    first = faults.fail(NotLeaderForPartitionError, api="Produce", after=1, times=2)
    second = faults.delay(1.0)
    assert [faults.for_request(facts()) for _ in range(5)] == [second, first, first, second, second]
    first.remove()
    assert faults.rules == (second,)
    faults.clear()
    assert faults.for_request(facts()) is None


def test_connection_rules_are_separate() -> None:
    faults = Faults()
    rule = faults.refuse_connections(times=1)
    assert faults.for_request(facts()) is None
    assert [faults.for_connection(), faults.for_connection()] == [rule, None]


def test_an_unknown_api_is_rejected() -> None:
    with pytest.raises(KafkaConfigurationError, match="Produse"):
        Faults().drop_answers(api="Produse")


@pytest.mark.parametrize("add", ["fail", "delay", "cut_answers"])
def test_invalid_arguments_are_rejected(add: str) -> None:
    faults = Faults()
    with pytest.raises(TypeError, match="topics"):
        getattr(faults, add)(6, api="Produce", topics="t")
    assert faults.rules == ()


def test_a_thread_can_wait_for_a_rule_to_be_hit() -> None:
    faults = Faults()
    rule = faults.drop_answers()
    assert not rule.wait(timeout_s=0)
    asking = threading.Thread(target=lambda: [faults.for_request(facts()) for _ in range(2)])
    asking.start()
    assert rule.wait(hits=2)
    asking.join()


# -- errors -----------------------------------------------------------------------------------------------------------


def codes_in(value: Any) -> set[int]:
    if isinstance(value, list):
        return {code for one in value for code in codes_in(one)}
    if not hasattr(value, "FIELDS"):
        return set()
    found = {code for field in value.FIELDS for code in codes_in(getattr(value, field.name))}
    return found | {getattr(value, name) for name in ("error_code", "partition_error_code") if hasattr(value, name)}


def filled(request: Any, version: int) -> Any:
    """Return the request with one entry in each of its lists."""
    for field in request.FIELDS:
        if field.in_version(version) and field.kind.name == "ARRAY":
            element = (
                field.struct() if field.struct is not None else {"STRING": "x", "INT32": 3}.get(field.element.name)
            )
            setattr(request, field.name, [element if field.struct is None else filled(element, version)])
    return request


@pytest.mark.parametrize("api", APIS.values(), ids=lambda api: api.name)
def test_every_version_of_every_api_can_return_an_error(api: Api) -> None:
    for version in range(api.min_version, api.max_version + 1):
        if api.name == "Metadata":
            continue
        request = filled(request_class(api.key)(), version)
        answer = error_answer(request, version, 41)
        assert codes_in(type(answer).decode(answer.encode(version), version)) - {0} == {41}, version


async def test_a_failed_request_is_not_executed(broker: EmbeddedBroker, client: WireClient) -> None:
    await create(client, "t")
    rule = broker.faults.fail(NotLeaderForPartitionError, api="Produce", times=2)
    assert [await write(client) for _ in range(3)] == [NOT_LEADER, NOT_LEADER, 0]
    assert rule.hits == 2
    assert await read(client) == [b"a"]


async def test_only_the_matching_topic_fails(broker: EmbeddedBroker, client: WireClient) -> None:
    topic_id = await create(client, "t")
    other_id = await create(client, "u")
    broker.faults.fail(NOT_LEADER, topic="t")
    request = produce_request(topic_id, make_batch([b"a"]))
    request.topic_data += produce_request(other_id, make_batch([b"b"])).topic_data
    response = await client.call(request, 13)
    codes = {one.topic_id: one.partition_responses[0].error_code for one in response.responses}
    assert codes == {topic_id: NOT_LEADER, other_id: 0}
    row = ListOffsetsPartition(partition_index=0, timestamp=-1)
    topics = [ListOffsetsTopic(name=name, partitions=[row]) for name in ("t", "u")]
    listed = await client.call(ListOffsetsRequest(replica_id=-1, topics=topics), 5)
    assert {one.name: one.partitions[0].error_code for one in listed.topics} == {"t": NOT_LEADER, "u": 0}
    named = await client.call(MetadataRequest(topics=[MetadataRequestTopic(name=one) for one in ("t", "u")]), 12)
    assert {one.name: one.error_code for one in named.topics} == {"t": NOT_LEADER, "u": 0}
    assert named.brokers


async def test_a_fetch_fails_within_its_session(broker: EmbeddedBroker, client: WireClient) -> None:
    await create(client, "t")
    opened = await client.call(fetch_request("t", session_epoch=0), 12)
    rule = broker.faults.fail(NOT_LEADER, api="Fetch", topic="t", times=1)
    await write(client)

    def more(epoch: int) -> FetchRequest:
        return FetchRequest(max_bytes=1 << 20, max_wait_ms=60_000, session_id=opened.session_id, session_epoch=epoch)

    refused = fetched(await client.call(more(1), 12))
    assert (refused.error_code, refused.records, rule.hits) == (NOT_LEADER, b"", 1)
    assert values(fetched(await client.call(more(2), 12))) == [b"a"]
    broker.faults.fail(70, api="Fetch", times=1)
    assert (await client.call(more(3), 12)).error_code == 70


async def test_groups_fail_by_name(broker: EmbeddedBroker, client: WireClient) -> None:
    broker.faults.fail(15, api="FindCoordinator")
    found = await client.call(FindCoordinatorRequest(coordinator_keys=["g", "h"]), 6)
    assert [(one.key, one.error_code) for one in found.coordinators] == [("g", 15), ("h", 15)]
    broker.faults.fail(16, api="OffsetFetch")
    asked = OffsetFetchRequestGroup(group_id="g", topics=[OffsetFetchRequestTopics(name="t", partition_indexes=[0])])
    (group,) = (await client.call(OffsetFetchRequest(groups=[asked]), 8)).groups
    assert (group.group_id, group.error_code) == ("g", 16)


# -- delayed, missing and cut responses -------------------------------------------------------------------------------


@pytest.mark.parametrize("handled", [False, True])
async def test_a_response_is_delayed(broker: EmbeddedBroker, client: WireClient, handled: bool) -> None:
    await create(client, "t")
    broker.faults.delay(0.05, api="Produce", handled=handled, times=1)
    request = produce_request("t", make_batch([b"a"]))
    began = asyncio.get_running_loop().time()
    async with WireClient(broker) as other:
        number = await client.send(request, 9)
        if handled:
            while await read(other) != [b"a"]:
                await asyncio.sleep(0)
        assert produced(await client.receive(ProduceRequest, 9, number)).base_offset == 0
        assert asyncio.get_running_loop().time() - began >= 0.05
        assert await read(other) == [b"a"]


async def test_a_rule_added_during_a_request_applies_to_the_next_one(
    broker: EmbeddedBroker, client: WireClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    await create(client, "t")

    def add_meanwhile(frame: memoryview) -> object:
        if not broker.faults.rules:
            broker.faults.delay(0.01, api="Produce")
        return decode_request(frame)

    monkeypatch.setattr(client_connection, "decode_request", add_meanwhile)
    first = await client.send(produce_request("t", make_batch([b"a" * 50])), 9)
    second = await client.send(produce_request("t", make_batch([b"b" * 50])), 9)
    for number in (first, second):
        assert produced(await client.receive(ProduceRequest, 9, number)).error_code == 0
    assert await read(client) == [b"a" * 50, b"b" * 50]
    assert [rule.hits for rule in broker.faults.rules] == [1]


async def test_a_request_without_a_response_can_be_delayed(broker: EmbeddedBroker, client: WireClient) -> None:
    await create(client, "t")
    broker.faults.delay(0.01, api="Produce")
    await client.send(produce_request("t", make_batch([b"a"]), acks=0), 9)
    assert await read(client) == [b"a"]


async def test_a_delayed_long_poll_survives_its_client(broker: EmbeddedBroker, client: WireClient) -> None:
    await create(client, "t")
    rule = broker.faults.delay(0.0, api="Fetch")
    async with WireClient(broker) as other:
        await other.send(fetch_request("t", max_wait_ms=60_000), 11)
        while not rule.hits:
            await asyncio.sleep(0)
    assert await write(client) == 0


@pytest.mark.parametrize("handled", [False, True])
async def test_a_connection_becomes_unresponsive(broker: EmbeddedBroker, client: WireClient, handled: bool) -> None:
    await create(client, "t")
    rule = broker.faults.drop_answers(api="Produce", handled=handled, times=1)
    async with WireClient(broker) as silent:
        await silent.send(produce_request("t", make_batch([b"a"])), 9)
        number = await silent.send(MetadataRequest(topics=None), 12)
        while not rule.hits:
            await asyncio.sleep(0)
        assert await read(client) == ([b"a"] if handled else [])
        waiting = asyncio.ensure_future(silent.receive(MetadataRequest, 12, number))
        assert await write(client, text=b"b") == 0
        assert not waiting.done()
        waiting.cancel()


@pytest.mark.parametrize("handled", [False, True])
async def test_a_connection_is_closed_instead_of_responding(
    broker: EmbeddedBroker, client: WireClient, handled: bool
) -> None:
    await create(client, "t")
    broker.faults.hang_up(api="Produce", handled=handled, times=1)
    async with WireClient(broker) as other:
        await other.send(produce_request("t", make_batch([b"a"])), 9)
        assert await other.is_closed()
    assert await read(client) == ([b"a"] if handled else [])


@pytest.mark.parametrize("nbytes", [0, 3, 10])
async def test_a_response_is_cut(broker: EmbeddedBroker, client: WireClient, nbytes: int) -> None:
    await create(client, "t")
    broker.faults.cut_answers(nbytes, api="Produce", times=1)
    async with WireClient(broker) as other:
        await other.send(produce_request("t", make_batch([b"a"])), 9)
        assert len(await other.read_to_the_end()) == nbytes
    assert await read(client) == [b"a"]


async def test_connections_are_refused_and_cut(broker: EmbeddedBroker) -> None:
    broker.faults.refuse_connections(times=1)
    async with WireClient(broker) as refused:
        assert await refused.is_closed()
    rule = broker.faults.cut_connections(100, times=1)
    async with WireClient(broker) as cut:
        for _ in range(3):
            await cut.send(ApiVersionsRequest(), 0)
        assert len(await cut.read_to_the_end()) == 100
    async with WireClient(broker) as good:
        assert (await good.call(ApiVersionsRequest(), 0)).error_code == 0
    assert rule.hits == 1


async def test_rules_survive_a_restart(broker: EmbeddedBroker, client: WireClient) -> None:
    await create(client, "t")
    broker.faults.fail(NOT_LEADER, api="Produce")
    await broker.restart_async()
    async with WireClient(broker) as again:
        assert await write(again) == NOT_LEADER


def test_a_broker_on_a_thread_restarts_on_its_port() -> None:
    with EmbeddedBroker() as broker:
        port = broker.port
        broker.restart()
        assert broker.port == port


def test_invalid_fault_arguments_are_explained() -> None:
    faults: Any = Faults()
    with pytest.raises(TypeError, match=r"such as NotLeaderForPartitionError, or such a code, got str: 'NOT_LEADER'"):
        faults.fail("NOT_LEADER")
    with pytest.raises(TypeError, match="NotLeaderForPartitionError"):
        faults.fail(KafkaConfigurationError)
    with pytest.raises(
        TypeError, match=r"no argument 'count', only after, api, client_id, times, topic; did you mean 'times'\?"
    ):
        faults.fail(NotLeaderForPartitionError, count=2)
    with pytest.raises(TypeError, match=r"no argument 'topic', only after, times$"):
        faults.refuse_connections(topic="orders")
    assert not faults.rules


def test_the_repr_of_a_rule_describes_it() -> None:
    faults = Faults()
    rule = faults.fail(NotLeaderForPartitionError, api="Produce", topic="orders", times=3)
    assert repr(rule) == "<FaultRule: answer with an error, api='Produce', topic='orders', times=3, error=6; 0 hits>"
    assert faults.for_request(RequestFacts("Produce", ["orders"], "me")) is rule
    assert repr(rule).endswith("; 1 hits>")
    assert (
        repr(faults.delay(0.5, handled=True, after=2))
        == "<FaultRule: wait, after=2, seconds=0.5, handled=True; 0 hits>"
    )


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"times": "2"}, r"times of a fault: expected a whole number, got '2' \(str\)"),
        ({"times": True}, r"times of a fault: expected a whole number, got True"),
        ({"after": 1.5}, r"after of a fault: expected a whole number, got 1\.5"),
        ({"after": None}, r"after of a fault: expected a whole number, got None"),
        ({"times": -1}, r"times of a fault: expected a whole number of at least 0, got -1"),
    ],
)
def test_numbers_of_faults_are_checked(given: dict[str, Any], said: str) -> None:
    faults = Faults()
    with pytest.raises((TypeError, ValueError), match=said):
        faults.hang_up(**given)
    assert faults.rules == ()


def test_numbers_of_faults_may_be_numpys() -> None:
    faults = Faults()
    rule = faults.fail(numpy.int16(6), api=numpy.int8(0), after=numpy.int64(1), times=numpy.uint8(2))  # type: ignore[arg-type]
    assert (rule.api, rule.error, rule.after, rule.times) == ("Produce", 6, 1, 2)
    assert {type(each) for each in (rule.error, rule.after, rule.times)} == {int}
    assert faults.cut_connections(numpy.int64(9)).nbytes == 9  # type: ignore[arg-type]
    assert faults.delay(numpy.float32(0.5)).seconds == 0.5  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"times of a fault: expected a whole number, got"):
        faults.hang_up(times=numpy.bool_(True))  # type: ignore[arg-type]


def test_the_delay_of_a_fault_is_checked() -> None:
    with pytest.raises(TypeError, match=r"seconds of a fault: expected a number of seconds, got '5' \(str\)"):
        Faults().delay("5")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"seconds of a fault: expected a number of seconds of at least 0, got nan"):
        Faults().delay(float("nan"))
