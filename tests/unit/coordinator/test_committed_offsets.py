"""Offset commits and fetches, on the cluster in memory."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID

import pytest

from fakes.cluster import SILENCE, FakeCluster
from kafka.cluster import Backoff
from kafka.cluster.metadata_snapshot import ClusterMetadata, TopicMetadata
from kafka.coordinator.committed_offsets import GroupOffsets
from kafka.coordinator.membership import NO_GENERATION, Generation
from kafka.coordinator.offset_arguments import ReadOffsets
from kafka.errors import (
    CommitFailedError,
    FencedInstanceIdError,
    GroupAuthorizationFailedError,
    KafkaConnectionError,
    KafkaError,
    KafkaTimeoutError,
    OffsetMetadataTooLargeError,
    RetriableCommitFailedError,
    TopicAuthorizationFailedError,
    UnknownMemberIdError,
)
from kafka.structs import OffsetAndMetadata, PartitionMetadata, TopicPartition
from kafka.wire.api import offset_commit, offset_fetch
from unit.virtual_loop import simulate

TP = TopicPartition("t", 3)
MEMBER = Generation(5, "me", "range")


def committed(code: int = 0) -> offset_commit.OffsetCommitResponse:
    partition = offset_commit.OffsetCommitResponsePartition(partition_index=3, error_code=code)
    topic = offset_commit.OffsetCommitResponseTopic(name="t", partitions=[partition])
    return offset_commit.OffsetCommitResponse(topics=[topic])


def error_of(response: offset_commit.OffsetCommitResponse) -> int:
    return response.topics[0].partitions[0].error_code


def sent(cluster: FakeCluster) -> list[int]:
    """The offsets that were sent to be committed, in order."""
    requests = cluster.requests("OffsetCommit")
    return [each.committed_offset for request in requests for topic in request.topics for each in topic.partitions]


def fetched(offset: int, code: int = 0, group_code: int = 0) -> offset_fetch.OffsetFetchResponse:
    partition = offset_fetch.OffsetFetchResponsePartitions(
        partition_index=3, committed_offset=offset, committed_leader_epoch=2, metadata="m", error_code=code
    )
    topic = offset_fetch.OffsetFetchResponseTopics(name="t", partitions=[partition])
    group = offset_fetch.OffsetFetchResponseGroup(group_id="g", topics=[topic], error_code=group_code)
    return offset_fetch.OffsetFetchResponse(groups=[group])


def play(scenario: Callable[[FakeCluster, GroupOffsets], Awaitable[None]], **options: Any) -> list[Any]:
    """Run a scenario; returns what the group was told of refused commits."""
    refused: list[Any] = []

    async def main() -> None:
        cluster = FakeCluster({"t": 4})
        await cluster.start()
        version = options.pop("fetch_version", 9)
        if version is not None:
            cluster.versions["OffsetFetch"] = 0, version
            await cluster.connection(cluster.coordinator_id)  # only then a client knows a broker's versions
        stable = options.pop("require_stable", False)
        newest = options.pop("newest", lambda: NO_GENERATION)
        offsets = GroupOffsets(
            cluster, "g", None, lambda *news: refused.append(news), stable, Backoff(100, 1_000), None, newest
        )
        await scenario(cluster, offsets)
        await cluster.close()

    simulate(main)
    return refused


def test_a_commit_carries_the_membership_and_the_offsets() -> None:
    async def scenario(cluster: FakeCluster, offsets: GroupOffsets) -> None:
        cluster.script("OffsetCommit", committed())
        await offsets.commit({TP: OffsetAndMetadata(42, "note", 7)}, MEMBER, 1_000)
        (request,) = cluster.requests("OffsetCommit")
        assert (request.group_id, request.generation_id_or_member_epoch, request.member_id) == ("g", 5, "me")
        (topic,) = request.topics
        (partition,) = topic.partitions
        assert (topic.name, partition.partition_index, partition.committed_offset) == ("t", 3, 42)
        assert (partition.committed_metadata, partition.committed_leader_epoch) == ("note", 7)

    assert play(scenario) == []


def test_nothing_is_sent_for_nothing() -> None:
    async def scenario(cluster: FakeCluster, offsets: GroupOffsets) -> None:
        await offsets.commit({}, MEMBER, 1_000)
        assert await offsets.fetch([], 1_000) == {}
        assert cluster.calls == []

    play(scenario)


@pytest.mark.parametrize("code", [14, 3])
def test_a_commit_is_tried_again_at_the_same_coordinator(code: int) -> None:
    async def scenario(cluster: FakeCluster, offsets: GroupOffsets) -> None:
        cluster.script("OffsetCommit", committed(code), committed(code), committed())
        await offsets.commit({TP: OffsetAndMetadata(1)}, NO_GENERATION, 10_000)
        assert len(cluster.requests("OffsetCommit")) == 3
        assert cluster.forgotten == 0

    play(scenario)


def test_a_commit_is_tried_again_at_another_coordinator() -> None:
    async def scenario(cluster: FakeCluster, offsets: GroupOffsets) -> None:
        cluster.script("OffsetCommit", KafkaConnectionError("gone"), committed(16), committed(15), committed())
        await offsets.commit({TP: OffsetAndMetadata(1)}, NO_GENERATION, 10_000)
        assert cluster.forgotten == 3

    play(scenario)


def test_a_commit_beside_a_group_with_members_names_the_cause() -> None:
    async def scenario(cluster: FakeCluster, offsets: GroupOffsets) -> None:
        cluster.script("OffsetCommit", committed(25))
        with pytest.raises(CommitFailedError, match=r"group 'g' has members.* uses assign\(\)") as raised:
            await offsets.commit({TP: OffsetAndMetadata(1)}, NO_GENERATION, 10_000)
        assert "max_poll_interval_ms" not in str(raised.value)
        assert isinstance(raised.value.__cause__, UnknownMemberIdError)

    play(scenario)


@pytest.mark.parametrize("code", [22, 25, 27])
def test_a_late_commit_fails_and_notifies_the_member(code: int) -> None:
    async def scenario(cluster: FakeCluster, offsets: GroupOffsets) -> None:
        cluster.script("OffsetCommit", committed(code))
        with pytest.raises(CommitFailedError):
            await offsets.commit({TP: OffsetAndMetadata(1)}, MEMBER, 10_000)

    assert play(scenario) == [(code, MEMBER)]


def test_a_commit_of_a_fenced_member_says_so_and_tells_the_member() -> None:
    async def scenario(cluster: FakeCluster, offsets: GroupOffsets) -> None:
        cluster.script("OffsetCommit", committed(82))
        with pytest.raises(FencedInstanceIdError):
            await offsets.commit({TP: OffsetAndMetadata(1)}, MEMBER, 10_000)

    assert play(scenario) == [(82, MEMBER)]


def test_other_refusals_are_raised_as_they_are() -> None:
    async def scenario(cluster: FakeCluster, offsets: GroupOffsets) -> None:
        cluster.script("OffsetCommit", committed(12), committed(30))
        with pytest.raises(OffsetMetadataTooLargeError):
            await offsets.commit({TP: OffsetAndMetadata(1, "x" * 5_000)}, MEMBER, 10_000)
        with pytest.raises(GroupAuthorizationFailedError):
            await offsets.commit({TP: OffsetAndMetadata(1)}, MEMBER, 10_000)

    assert play(scenario) == []


def test_a_commit_gives_up_when_its_time_is_up_and_names_the_last_error() -> None:
    async def scenario(cluster: FakeCluster, offsets: GroupOffsets) -> None:
        cluster.script("OffsetCommit", *[committed(15)] * 100)
        with pytest.raises(KafkaTimeoutError, match="CoordinatorNotAvailable"):
            await offsets.commit({TP: OffsetAndMetadata(1)}, MEMBER, 3_000)
        times = cluster.times("OffsetCommit")
        assert times[-1] - times[0] < 3

    play(scenario)


@pytest.mark.parametrize(
    "failure", [committed(15), committed(16), committed(14), KafkaConnectionError("gone"), SILENCE]
)
def test_an_async_commit_is_sent_once(failure: Any) -> None:
    async def scenario(cluster: FakeCluster, offsets: GroupOffsets) -> None:
        cluster.script("OffsetCommit", failure)
        with pytest.raises(RetriableCommitFailedError) as caught:
            await offsets.commit({TP: OffsetAndMetadata(1)}, MEMBER, 40_000, resend=False)
        assert isinstance(caught.value.__cause__, KafkaError)
        assert sent(cluster) == [1]
        still_there = isinstance(failure, offset_commit.OffsetCommitResponse) and error_of(failure) == 14
        assert cluster.forgotten == (0 if still_there else 1)

    play(scenario)


def test_an_async_commit_waits_for_a_coordinator() -> None:
    async def scenario(cluster: FakeCluster, offsets: GroupOffsets) -> None:
        cluster.coordinator_error = 15
        asyncio.get_running_loop().call_later(50, setattr, cluster, "coordinator_error", 0)
        cluster.script("OffsetCommit", committed())
        await offsets.commit({TP: OffsetAndMetadata(1)}, MEMBER, 60_000, resend=False)
        assert sent(cluster) == [1]

    play(scenario)


def test_a_commit_is_not_tried_again_once_a_newer_one_was_sent() -> None:
    async def scenario(cluster: FakeCluster, offsets: GroupOffsets) -> None:
        cluster.script("OffsetCommit", committed(16), committed())
        older = asyncio.create_task(offsets.commit({TP: OffsetAndMetadata(1)}, MEMBER, 60_000))
        await asyncio.sleep(0.01)
        await offsets.commit({TP: OffsetAndMetadata(2)}, MEMBER, 60_000)
        with pytest.raises(RetriableCommitFailedError, match=r"1 of 1 partitions .* newer commit"):
            await older
        assert sent(cluster) == [1, 2]

    play(scenario)


def test_the_rest_of_an_outdated_commit_is_retried() -> None:
    other = TopicPartition("t", 0)

    async def scenario(cluster: FakeCluster, offsets: GroupOffsets) -> None:
        cluster.script("OffsetCommit", committed(16), committed(), committed())
        both = {TP: OffsetAndMetadata(1), other: OffsetAndMetadata(11)}
        older = asyncio.create_task(offsets.commit(both, MEMBER, 60_000))
        await asyncio.sleep(0.01)
        await offsets.commit({TP: OffsetAndMetadata(2)}, MEMBER, 60_000)
        with pytest.raises(RetriableCommitFailedError, match=r"1 of 2 partitions .* newer commit"):
            await older
        assert sent(cluster) == [1, 11, 2, 11]

    play(scenario)


def test_of_commits_waiting_for_a_coordinator_the_newest_wins() -> None:
    async def scenario(cluster: FakeCluster, offsets: GroupOffsets) -> None:
        cluster.coordinator_error = 15
        cluster.serve("OffsetCommit", lambda call: committed())
        asyncio.get_running_loop().call_later(20, setattr, cluster, "coordinator_error", 0)
        commits = [
            offsets.commit({TP: OffsetAndMetadata(number)}, MEMBER, 60_000, resend=False) for number in range(50)
        ]
        outcomes = await asyncio.gather(*commits, return_exceptions=True)
        assert outcomes[-1] is None
        assert sent(cluster) == sorted(sent(cluster))
        assert [isinstance(each, RetriableCommitFailedError) for each in outcomes] == [
            number not in sent(cluster) for number in range(50)
        ]

    play(scenario)


@pytest.mark.parametrize("version", [8, 9])
def test_committed_offsets_are_read_from_a_list_of_groups(version: int) -> None:
    async def scenario(cluster: FakeCluster, offsets: GroupOffsets) -> None:
        cluster.script("OffsetFetch", fetched(42))
        assert await offsets.fetch([TP, TopicPartition("t", 1)], 1_000) == {TP: OffsetAndMetadata(42, "m", 2)}
        (request,) = cluster.requests("OffsetFetch")
        assert request.groups[0].topics[0].partition_indexes == [3, 1]
        assert request.encode(version)

    play(scenario, fetch_version=version)


@pytest.mark.parametrize("version", [0, 1, 5, 7])
def test_committed_offsets_are_read_from_older_brokers(version: int) -> None:
    async def scenario(cluster: FakeCluster, offsets: GroupOffsets) -> None:
        partition = offset_fetch.OffsetFetchResponsePartition(partition_index=3, committed_offset=9, metadata=None)
        topic = offset_fetch.OffsetFetchResponseTopic(name="t", partitions=[partition])
        cluster.script("OffsetFetch", offset_fetch.OffsetFetchResponse(topics=[topic]))
        assert await offsets.fetch([TP], 1_000) == {TP: OffsetAndMetadata(9, "", -1)}
        (request,) = cluster.requests("OffsetFetch")
        assert request.encode(version)
        assert request.require_stable is (version == 7)

    play(scenario, fetch_version=version, require_stable=True)


def test_the_first_request_to_a_coordinator_waits_for_open_transactions_too() -> None:
    """Which versions the coordinator has, and so whether it can wait, is asked before the request is made."""

    async def scenario(cluster: FakeCluster, offsets: GroupOffsets) -> None:
        cluster.script("OffsetFetch", fetched(42))
        await offsets.fetch([TP], 1_000)
        (request,) = cluster.requests("OffsetFetch")
        assert request.require_stable
        assert request.encode(9)

    play(scenario, fetch_version=None, require_stable=True)


def test_a_partition_without_a_commit_is_left_out() -> None:
    async def scenario(cluster: FakeCluster, offsets: GroupOffsets) -> None:
        cluster.script("OffsetFetch", fetched(-1))
        assert await offsets.fetch([TP], 1_000) == {}

    play(scenario)


def test_offsets_of_an_open_transaction_are_waited_for() -> None:
    async def scenario(cluster: FakeCluster, offsets: GroupOffsets) -> None:
        cluster.script("OffsetFetch", fetched(-1, code=88), fetched(-1, code=88), fetched(5))
        assert (await offsets.fetch([TP], 10_000))[TP].offset == 5
        assert cluster.forgotten == 0

    play(scenario)


def test_refused_reads_are_raised() -> None:
    async def scenario(cluster: FakeCluster, offsets: GroupOffsets) -> None:
        cluster.script("OffsetFetch", fetched(-1, code=29), fetched(-1, group_code=30))
        with pytest.raises(TopicAuthorizationFailedError) as caught:
            await offsets.fetch([TP], 1_000)
        assert caught.value.args == ({"t"},)
        with pytest.raises(GroupAuthorizationFailedError):
            await offsets.fetch([TP], 1_000)

    play(scenario)


def test_all_topics_that_may_not_be_read_are_named_at_once() -> None:
    def topic(name: str, code: int) -> offset_fetch.OffsetFetchResponseTopics:
        entry = offset_fetch.OffsetFetchResponsePartitions(partition_index=0, committed_offset=-1, error_code=code)
        return offset_fetch.OffsetFetchResponseTopics(name=name, partitions=[entry])

    async def scenario(cluster: FakeCluster, offsets: GroupOffsets) -> None:
        topics = [topic("waits", 88), topic("a", 29), topic("fine", 0), topic("b", 29)]
        group = offset_fetch.OffsetFetchResponseGroup(group_id="g", topics=topics)
        cluster.script("OffsetFetch", offset_fetch.OffsetFetchResponse(groups=[group]))
        with pytest.raises(TopicAuthorizationFailedError) as caught:
            await offsets.fetch([TopicPartition(name, 0) for name in ("waits", "a", "fine", "b")], 10_000)
        assert caught.value.args == ({"a", "b"},)
        assert len(cluster.requests("OffsetFetch")) == 1

    play(scenario)


# Epochs (KIP-848) -----------------------------------------------------------------------------------------------------

EPOCHS = [Generation(epoch, "me", None, membership=1) for epoch in (5, 6)]


class Epochs:
    """The credentials of a member, which change."""

    def __init__(self) -> None:
        self.now = EPOCHS[0]

    def __call__(self) -> Generation:
        return self.now


def test_a_commit_with_a_stale_epoch_is_resent_with_the_new_one() -> None:
    newest = Epochs()

    async def scenario(cluster: FakeCluster, offsets: GroupOffsets) -> None:
        def stale(call: Any) -> Any:
            newest.now = EPOCHS[1]
            return committed(113)

        cluster.script("OffsetCommit", stale, committed())
        await offsets.commit({TP: OffsetAndMetadata(1)}, EPOCHS[0], 10_000)
        asked = [each.generation_id_or_member_epoch for each in cluster.requests("OffsetCommit")]
        assert asked == [5, 6]
        assert cluster.forgotten == 0

    assert play(scenario, newest=newest) == [(113, EPOCHS[0])]


def test_a_commit_whose_epoch_stays_stale_times_out() -> None:
    async def scenario(cluster: FakeCluster, offsets: GroupOffsets) -> None:
        cluster.serve("OffsetCommit", lambda call: committed(113))
        with pytest.raises(KafkaTimeoutError):
            await offsets.commit({TP: OffsetAndMetadata(1)}, EPOCHS[0], 5_000)
        with pytest.raises(RetriableCommitFailedError):
            await offsets.commit({TP: OffsetAndMetadata(1)}, EPOCHS[0], 5_000, resend=False)

    play(scenario, newest=Epochs())


@pytest.mark.parametrize("newest", [NO_GENERATION, Generation(7, "me", None, membership=3)])
def test_a_commit_of_a_membership_that_is_over_is_not_sent_with_another(newest: Generation) -> None:
    epochs = Epochs()

    async def scenario(cluster: FakeCluster, offsets: GroupOffsets) -> None:
        def stale(call: Any) -> Any:
            epochs.now = newest
            return committed(113)

        cluster.script("OffsetCommit", stale)
        with pytest.raises(CommitFailedError):
            await offsets.commit({TP: OffsetAndMetadata(1)}, EPOCHS[0], 10_000)
        assert len(cluster.requests("OffsetCommit")) == 1

    play(scenario, newest=epochs)


@pytest.mark.parametrize("code", [113, 25])
def test_offsets_are_fetched_with_the_member_and_its_newest_epoch(code: int) -> None:
    newest = Epochs()

    async def scenario(cluster: FakeCluster, offsets: GroupOffsets) -> None:
        def refuse(call: Any) -> Any:
            newest.now = EPOCHS[1]
            return fetched(-1, group_code=code)

        cluster.script("OffsetFetch", refuse, fetched(42))
        assert (await offsets.fetch([TP], 10_000))[TP].offset == 42
        groups = [each.groups[0] for each in cluster.requests("OffsetFetch")]
        assert [(each.member_id, each.member_epoch) for each in groups] == [("me", 5), ("me", 6)]

    play(scenario, newest=newest)


def test_a_member_of_a_classic_group_fetches_offsets_without_naming_itself() -> None:
    async def scenario(cluster: FakeCluster, offsets: GroupOffsets) -> None:
        cluster.script("OffsetFetch", fetched(42))
        await offsets.fetch([TP], 10_000)
        group = cluster.requests("OffsetFetch")[0].groups[0]
        assert (group.member_id, group.member_epoch) == (None, -1)

    play(scenario, newest=lambda: MEMBER)


# Topics by their ids --------------------------------------------------------------------------------------------------

OLD, NEW = UUID(int=1), UUID(int=2)


def know(cluster: FakeCluster, topic_id: UUID | None) -> None:
    """The newest metadata have the topic by this id."""
    partitions = {3: PartitionMetadata("t", 3, 1, 0, [1], [1], [])}
    cluster.metadata = ClusterMetadata(cluster.metadata.brokers(), [TopicMetadata("t", topic_id, False, partitions)])


def read_from(topic_id: UUID) -> ReadOffsets:
    offsets = ReadOffsets()
    offsets[TP] = OffsetAndMetadata(10)
    offsets.topic_ids[TP] = topic_id
    return offsets


def by_id(topic_id: UUID, code: int = 0) -> offset_commit.OffsetCommitResponse:
    response = committed(code)
    response.topics[0].name, response.topics[0].topic_id = "", topic_id
    return response


def test_each_topic_has_the_id_that_it_was_read_from_though_the_metadata_have_none() -> None:
    other = UUID(int=77)

    async def scenario(cluster: FakeCluster, offsets: GroupOffsets) -> None:
        know(cluster, NEW)
        given = read_from(OLD)  # of a topic that was created again since
        for name, topic_id in (("u", OLD), ("v", other)):
            given[TopicPartition(name, 3)] = OffsetAndMetadata(10)
            given.topic_ids[TopicPartition(name, 3)] = topic_id
        cluster.script("OffsetCommit", by_id(OLD))
        await offsets.commit(given, NO_GENERATION, 10_000)
        (call,) = [call for call in cluster.calls if call.api == "OffsetCommit"]
        assert [topic.topic_id for topic in call.request.topics] == [OLD, other]

    play(scenario)


@pytest.mark.parametrize(("newest", "named"), [(10, ("", OLD)), (9, ("t", UUID(int=0)))])
def test_a_commit_uses_topic_ids_if_the_broker_accepts_them(newest: int, named: tuple[str, UUID]) -> None:
    async def scenario(cluster: FakeCluster, offsets: GroupOffsets) -> None:
        cluster.versions["OffsetCommit"] = 0, newest
        know(cluster, OLD)
        cluster.script("OffsetCommit", by_id(OLD) if newest == 10 else committed())
        await offsets.commit({TP: OffsetAndMetadata(1)}, NO_GENERATION, 10_000)
        (call,) = [call for call in cluster.calls if call.api == "OffsetCommit"]
        (topic,) = call.request.topics
        assert (call.version, (topic.name, topic.topic_id)) == (newest, named)

    play(scenario)


def test_a_topic_without_a_known_id_is_named() -> None:
    async def scenario(cluster: FakeCluster, offsets: GroupOffsets) -> None:
        cluster.versions["OffsetCommit"] = 0, 10
        know(cluster, None)
        cluster.script("OffsetCommit", committed())
        await offsets.commit({TP: OffsetAndMetadata(1)}, NO_GENERATION, 10_000)
        (call,) = [call for call in cluster.calls if call.api == "OffsetCommit"]
        assert call.version == 9

    play(scenario)


def test_offsets_of_a_recreated_topic_are_not_committed(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario(cluster: FakeCluster, offsets: GroupOffsets) -> None:
        know(cluster, NEW)
        with caplog.at_level(logging.INFO, "kafka.coordinator.committed_offsets"):
            await offsets.commit(read_from(OLD), NO_GENERATION, 10_000)
        assert sent(cluster) == []
        assert "the topic was deleted and recreated after these were read: t-3 at 10" in caplog.text
        cluster.script("OffsetCommit", committed())
        await offsets.commit(read_from(NEW), NO_GENERATION, 10_000)
        assert sent(cluster) == [10]

    play(scenario)


def test_an_unknown_topic_id_refreshes_the_metadata() -> None:
    async def scenario(cluster: FakeCluster, offsets: GroupOffsets) -> None:
        cluster.versions["OffsetCommit"] = 0, 10
        know(cluster, OLD)
        cluster.script("OffsetCommit", by_id(OLD, 100))
        refreshed: list[Any] = []
        cluster.request_refresh = lambda topics=None: (refreshed.append(topics), know(cluster, NEW))  # type: ignore[method-assign]
        await offsets.commit(read_from(OLD), NO_GENERATION, 10_000)
        assert refreshed == [None]
        assert (sent(cluster), cluster.forgotten) == ([10], 0)

    play(scenario)


def test_an_automatic_commit_does_not_wait_for_a_topic_that_was_deleted() -> None:
    async def scenario(cluster: FakeCluster, offsets: GroupOffsets) -> None:
        cluster.versions["OffsetCommit"] = 0, 10
        know(cluster, OLD)
        cluster.script("OffsetCommit", by_id(OLD, 100))
        with pytest.raises(RetriableCommitFailedError, match="OffsetCommit of t-3"):
            await offsets.commit(read_from(OLD), NO_GENERATION, 10_000, await_topics=False)

    play(scenario)
