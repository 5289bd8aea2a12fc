"""Looking up offsets, against a cluster in memory and in virtual time."""

from __future__ import annotations

import asyncio
import gc
import logging
from collections.abc import Awaitable, Callable

import pytest

from fakes.cluster import FakeCluster
from kafka.cluster import Backoff, RetryPolicy, anything_unexpected
from kafka.consumer.position.offset_requests import ListOffsets
from kafka.consumer.position.offset_search import OffsetsForTimes
from kafka.consumer.position.special_timestamps import EARLIEST, LATEST, MAX_TIMESTAMP
from kafka.errors import (
    KafkaConnectionError,
    KafkaError,
    KafkaTimeoutError,
    TopicAuthorizationFailedError,
    UnknownTopicOrPartitionError,
    UnsupportedForMessageFormatError,
    UnsupportedVersionError,
)
from kafka.structs import OffsetAndTimestamp, TopicPartition
from unit.consumer.log_ends import LogEnds
from unit.virtual_loop import simulate

T = [TopicPartition("t", number) for number in range(4)]
REQUEST_TIMEOUT_MS = 1_000


class OffsetSearchHarness:
    """Two brokers, which lead the four partitions of `t` in turn."""

    def __init__(self) -> None:
        self.cluster = FakeCluster({"t": 4}, brokers=2)
        self.cluster.publish(["t"])
        self.ends = LogEnds()
        self.cluster.serve("ListOffsets", self.ends)
        policy = RetryPolicy(Backoff(100, 1_000), logging.getLogger("test"), fatal=anything_unexpected)
        self.lookup = OffsetsForTimes(ListOffsets(self.cluster, "read_uncommitted", REQUEST_TIMEOUT_MS), policy).find


def with_harness(scenario: Callable[[OffsetSearchHarness], Awaitable[None]]) -> None:
    async def main() -> None:
        harness = OffsetSearchHarness()
        await scenario(harness)
        await harness.cluster.close()
        await asyncio.sleep(0)
        assert asyncio.all_tasks() == {asyncio.current_task()}

    simulate(main)


def test_each_leader_is_asked_once_for_all_of_its_partitions() -> None:
    async def scenario(harness: OffsetSearchHarness) -> None:
        found = await harness.lookup({T[0]: EARLIEST, T[1]: 55, T[2]: LATEST}, 1_000)
        assert found == {
            T[0]: OffsetAndTimestamp(0, 1, -1),
            T[1]: OffsetAndTimestamp(55, 56, -1),
            T[2]: OffsetAndTimestamp(100, 101, -1),
        }
        assert sorted(harness.ends.asked) == [(1, [0, 2]), (2, [1])]

    with_harness(scenario)


def test_an_empty_lookup_sends_nothing() -> None:
    async def scenario(harness: OffsetSearchHarness) -> None:
        assert await harness.lookup({}, 1_000) == {}
        assert harness.ends.asked == []

    with_harness(scenario)


def test_transient_errors_are_retried_with_fresh_metadata() -> None:
    async def scenario(harness: OffsetSearchHarness) -> None:
        harness.ends.errors = {0: [6, 74, 78]}
        found = await harness.lookup({T[0]: LATEST, T[2]: LATEST}, 10_000)
        assert len(found) == 2
        assert harness.ends.asked == [(1, [0, 2]), (1, [0]), (1, [0]), (1, [0])]
        assert harness.cluster.refreshes == 3

    with_harness(scenario)


def test_a_partition_that_has_moved_is_asked_for_at_its_new_leader() -> None:
    async def scenario(harness: OffsetSearchHarness) -> None:
        harness.ends.errors = {0: [6]}
        harness.cluster.lead(0, 2, 1)
        await harness.lookup({T[0]: LATEST}, 10_000)
        assert harness.ends.asked == [(1, [0]), (2, [0])]

    with_harness(scenario)


def test_a_leader_that_appears_later_is_found() -> None:
    async def scenario(harness: OffsetSearchHarness) -> None:
        harness.cluster.lead(0, -1, 1)
        harness.cluster.publish(["t"])
        asyncio.get_running_loop().call_later(5, harness.cluster.lead, 0, 2, 2)
        assert (await harness.lookup({T[0]: LATEST}, 10_000))[T[0]].offset == 100

    with_harness(scenario)


def test_a_topic_that_is_not_known_yet_costs_one_refresh_and_no_pause() -> None:
    async def scenario(harness: OffsetSearchHarness) -> None:
        harness.cluster.topics["u"] = 1
        before = asyncio.get_running_loop().time()
        await harness.lookup({TopicPartition("u", 0): LATEST}, 10_000)
        assert harness.cluster.refreshes == 1
        assert asyncio.get_running_loop().time() - before < 0.11

    with_harness(scenario)


def test_a_lookup_that_times_out_names_the_cause() -> None:
    async def scenario(harness: OffsetSearchHarness) -> None:
        harness.cluster.lead(1, -1, 1)
        harness.cluster.publish(["t"])
        with pytest.raises(KafkaTimeoutError, match=r"1 of 2 partitions.*t-1.*LeaderNotAvailableError"):
            await harness.lookup({T[0]: LATEST, T[1]: LATEST}, 2_000)

    with_harness(scenario)


def test_a_partition_that_two_answers_lack_does_not_exist() -> None:
    async def scenario(harness: OffsetSearchHarness) -> None:
        before = asyncio.get_running_loop().time()
        with pytest.raises(
            UnknownTopicOrPartitionError, match="topic 't' has no partition 7, only the partitions 0 to 3"
        ):
            await harness.lookup({T[0]: LATEST, TopicPartition("t", 7): LATEST}, 60_000)
        assert harness.cluster.refreshes == 2
        assert asyncio.get_running_loop().time() - before < 1

    with_harness(scenario)


def test_a_partition_that_is_added_meanwhile_is_found() -> None:
    async def scenario(harness: OffsetSearchHarness) -> None:
        harness.cluster.metadata_errors = [KafkaConnectionError("on purpose")] * 3  # outdated metadata do not count
        asyncio.get_running_loop().call_later(0.3, harness.cluster.topics.__setitem__, "t", 8)
        found = await harness.lookup({TopicPartition("t", 7): LATEST}, 60_000)
        assert found[TopicPartition("t", 7)].offset == 100

    with_harness(scenario)


def test_a_topic_that_stays_unknown_does_not_exist() -> None:
    async def scenario(harness: OffsetSearchHarness) -> None:
        before = asyncio.get_running_loop().time()
        with pytest.raises(UnknownTopicOrPartitionError, match="there is no topic 'u'"):
            await harness.lookup({TopicPartition("u", 0): LATEST}, 60_000)
        assert 5 <= asyncio.get_running_loop().time() - before < 8

    with_harness(scenario)


def test_a_topic_that_is_created_within_five_seconds_is_found() -> None:
    async def scenario(harness: OffsetSearchHarness) -> None:
        asyncio.get_running_loop().call_later(4, harness.cluster.topics.__setitem__, "u", 1)
        assert (await harness.lookup({TopicPartition("u", 0): LATEST}, 60_000))[TopicPartition("u", 0)].offset == 100

    with_harness(scenario)


def test_a_silent_leader_is_named_and_the_others_have_answered_long_before() -> None:
    async def scenario(harness: OffsetSearchHarness) -> None:
        harness.ends.silent = {2}
        with pytest.raises(KafkaTimeoutError, match=r"1 of 2 partitions within 5000 ms \(t-1: .*no answer"):
            await harness.lookup({T[0]: LATEST, T[1]: LATEST}, 5_000)
        assert harness.ends.asked.count((1, [0])) == 1
        assert harness.ends.asked.count((2, [1])) > 2

    with_harness(scenario)


@pytest.mark.parametrize(
    ("code", "error"), [(29, TopicAuthorizationFailedError), (43, UnsupportedForMessageFormatError)]
)
def test_permanent_errors_are_raised_despite_unresponsive_brokers(code: int, error: type[KafkaError]) -> None:
    async def scenario(harness: OffsetSearchHarness) -> None:
        harness.ends.errors = {0: code}
        harness.ends.silent = {2}
        before = asyncio.get_running_loop().time()
        with pytest.raises(error):
            await harness.lookup({T[0]: 5, T[1]: 5}, 60_000)
        assert asyncio.get_running_loop().time() - before < 0.1

    with_harness(scenario)


@pytest.mark.parametrize("failure", ["answer", "leader"])
def test_pauses_grow_while_it_fails(failure: str) -> None:
    async def scenario(harness: OffsetSearchHarness) -> None:
        if failure == "answer":
            harness.ends.errors = {0: 6}
        else:
            harness.cluster.lead(0, -1, 1)
            harness.cluster.publish(["t"])
        with pytest.raises(KafkaTimeoutError):
            await harness.lookup({T[0]: LATEST}, 60_000)
        assert 40 < harness.cluster.refreshes < 65  # a second each, and the tenth that a refresh takes

    with_harness(scenario)


def test_of_several_errors_the_first_is_raised_and_none_is_kept(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario(harness: OffsetSearchHarness) -> None:
        harness.ends.errors = {0: 29, 1: 29, 2: 43}
        with pytest.raises((TopicAuthorizationFailedError, UnsupportedForMessageFormatError)):
            await harness.lookup({T[0]: LATEST, T[1]: LATEST, T[2]: LATEST}, 1_000)

    with_harness(scenario)
    gc.collect()  # a task that failed unseen says so when it is collected
    assert [record.getMessage() for record in caplog.records if record.name == "asyncio"] == []


def test_an_old_broker_tells_the_ends_but_not_the_offsets_of_times() -> None:
    async def scenario(harness: OffsetSearchHarness) -> None:
        harness.cluster.versions["ListOffsets"] = (0, 0)
        found = await harness.lookup({T[0]: EARLIEST, T[1]: LATEST}, 1_000)
        assert {tp.partition: each.offset for tp, each in found.items()} == {0: 0, 1: 100}
        for times in ({T[0]: 0}, {T[0]: 5, T[2]: LATEST}):
            with pytest.raises(UnsupportedVersionError):
                await harness.lookup(times, 1_000)
        harness.cluster.versions["ListOffsets"] = (0, 6)
        harness.cluster.cut(1)
        assert (await harness.lookup({T[0]: 0}, 1_000))[T[0]].offset == 0
        with pytest.raises(UnsupportedVersionError):
            await harness.lookup({T[0]: MAX_TIMESTAMP}, 1_000)

    with_harness(scenario)


def test_other_errors_than_kafkas_reach_the_caller() -> None:
    async def scenario(harness: OffsetSearchHarness) -> None:
        harness.cluster.script("ListOffsets", OSError("on purpose"))
        with pytest.raises(OSError, match="on purpose"):
            await harness.lookup({T[0]: 5}, 60_000)

    with_harness(scenario)


def test_failing_metadata_requests_are_logged_and_repeated(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario(harness: OffsetSearchHarness) -> None:
        harness.ends.errors = {0: [6, 6]}
        harness.cluster.metadata_errors = [KafkaConnectionError("on purpose")]
        assert (await harness.lookup({T[0]: LATEST}, 10_000))[T[0]].offset == 100

    with_harness(scenario)
    told = [record.getMessage() for record in caplog.records if "on purpose" in record.getMessage()]
    assert len(told) == 1
    assert told[0].startswith("refreshing metadata to look up offsets failed")


def test_a_broker_that_answers_again_is_said_to_work(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario(harness: OffsetSearchHarness) -> None:
        harness.ends.errors = {0: [6]}
        await harness.lookup({T[0]: LATEST}, 10_000)

    with caplog.at_level(logging.INFO, "test"):
        with_harness(scenario)
    told = [record.getMessage() for record in caplog.records if record.name == "test"]
    assert told[-1] == "looking up offsets on broker 1 works again"


def test_only_the_first_permanent_error_is_reported(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario(harness: OffsetSearchHarness) -> None:
        harness.ends.errors = {0: 29, 2: 43}  # one broker leads both
        with pytest.raises(TopicAuthorizationFailedError):
            await harness.lookup({T[0]: LATEST, T[2]: LATEST}, 1_000)

    with_harness(scenario)
    gc.collect()
    assert [record.getMessage() for record in caplog.records if record.name == "asyncio"] == []


def test_partitions_of_several_leaders_are_all_asked_for_once_these_are_known() -> None:
    async def scenario(harness: OffsetSearchHarness) -> None:
        harness.cluster.topics["u"] = 4
        wanted = {TopicPartition("u", number): LATEST for number in range(4)}
        assert (await harness.lookup(wanted, 10_000)).keys() == wanted.keys()

    with_harness(scenario)


def test_the_first_pause_is_that_of_one_failure() -> None:
    async def scenario(harness: OffsetSearchHarness) -> None:
        harness.ends.errors = {0: [6]}
        await harness.lookup({T[0]: LATEST}, 10_000)
        first, second = harness.cluster.times("ListOffsets")
        assert second - first < 0.12 + 0.1 + 0.01  # the pause, the refresh, the answers

    with_harness(scenario)
