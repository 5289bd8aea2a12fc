"""Calls with several keys: one request per broker, one result per key, and retries after transient errors."""

import time

import pytest

from kafka.admin import ConfigResource, MemberToRemove, OffsetShift, OffsetSpec, ReplicaLogDir, SharePartitionOffset
from kafka.admin.transactions import FencedProducer
from kafka.consumer import bounds
from kafka.errors import (
    ClusterAuthorizationFailedError,
    GroupAuthorizationFailedError,
    GroupIdNotFoundError,
    IllegalArgumentError,
    InvalidConfigurationError,
    KafkaProtocolError,
    KafkaTimeoutError,
    LogDirNotFoundError,
    NoError,
    NonEmptyGroupError,
    NoOffsetForPartitionError,
    TopicAuthorizationFailedError,
    TransactionalIdAuthorizationFailedError,
    UnknownMemberIdError,
    UnsupportedVersionError,
)
from kafka.structs import OffsetAndMetadata, TopicPartition, TopicPartitionReplica
from kafka.wire.api import alter_replica_log_dirs as move
from kafka.wire.api import alter_share_group_offsets as alter_share
from kafka.wire.api import consumer_group_describe as consumer_api
from kafka.wire.api import delete_share_group_offsets as delete_share
from kafka.wire.api import describe_log_dirs as dirs
from kafka.wire.api import describe_share_group_offsets as share_offsets
from kafka.wire.api import incremental_alter_configs as alter
from kafka.wire.api import list_offsets as offsets_api
from kafka.wire.api import offset_commit as commit
from kafka.wire.api import offset_fetch as fetch
from kafka.wire.api import share_group_describe as share_api
from kafka.wire.api import streams_group_describe as streams_api
from kafka.wire.api.delete_groups import DeletableGroupResult, DeleteGroupsResponse
from kafka.wire.api.describe_groups import DescribedGroup, DescribedGroupMember, DescribeGroupsResponse
from kafka.wire.api.find_coordinator import Coordinator, FindCoordinatorResponse
from kafka.wire.api.init_producer_id import InitProducerIdResponse
from kafka.wire.api.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberResponse
from kafka.wire.api.list_groups import ListedGroup, ListGroupsResponse
from kafka.wire.api.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
)
from unit.admin.test_admin import reconnect
from unit.net.scripted import HANG_UP, SILENCE

TP = TopicPartition("t", 0)


@pytest.fixture(autouse=True)
def coordinators(cluster):
    """Coordinators by key: the second broker for keys that end in 2, otherwise the first. Tests may change the dict."""
    moved = {}

    def find(header, request):
        found = []
        for key in request.coordinator_keys:
            broker = cluster.brokers[moved.get(key, 1 if key.endswith("2") else 0)]
            found.append(Coordinator(key=key, node_id=broker.node_id, host=broker.host, port=broker.port))
        return FindCoordinatorResponse(coordinators=found)

    for broker in cluster.brokers:
        broker.on("FindCoordinator", find)
    return moved


def on(cluster, api, answer):
    """Let all brokers respond with `answer(broker id, request)`."""
    for broker in cluster.brokers:
        broker.on(api, lambda _, request, node=broker.node_id: answer(node, request))


def asked(cluster, api):
    return [(broker.node_id, request) for broker in cluster.brokers for request in broker.requests(api)]


def deleting(codes):
    def answer(_, request):
        names = request.groups_names
        return DeleteGroupsResponse(
            results=[DeletableGroupResult(group_id=name, error_code=codes.get(name, 0)) for name in names]
        )

    return answer


async def test_each_coordinator_is_asked_once_about_all_its_groups(admin, cluster):
    on(cluster, "DeleteGroups", deleting({"a1": 68, "b2": 30}))
    deleted = await admin.delete_consumer_groups(["a1", "a2", "b1", "b2"])
    assert deleted == [
        ("a1", NonEmptyGroupError),
        ("a2", NoError),
        ("b1", NoError),
        ("b2", GroupAuthorizationFailedError),
    ]
    requests = [(node, sorted(request.groups_names)) for node, request in asked(cluster, "DeleteGroups")]
    assert requests == [(1, ["a1", "b1"]), (2, ["a2", "b2"])]


async def test_only_moved_groups_are_looked_up_and_requested_again(admin, cluster, coordinators):
    def answer(node, request):
        if node == 1 and "b1" in request.groups_names:
            coordinators["b1"] = 1
            return deleting({"b1": 16})(node, request)
        return deleting({})(node, request)

    on(cluster, "DeleteGroups", answer)
    assert await admin.delete_groups(["a1", "b1"]) == {"a1": "OK", "b1": "OK"}
    assert [(node, sorted(request.groups_names)) for node, request in asked(cluster, "DeleteGroups")] == [
        (1, ["a1", "b1"]),
        (2, ["b1"]),
    ]


async def test_a_lost_coordinator_delays_only_its_own_groups(admin, cluster, coordinators):
    def answer(node, request):
        if node == 2:
            coordinators["a2"] = 0
            return HANG_UP
        return deleting({})(node, request)

    on(cluster, "DeleteGroups", answer)
    assert await admin.delete_groups(["a1", "a2"]) == {"a1": "OK", "a2": "OK"}
    assert [request.groups_names for node, request in asked(cluster, "DeleteGroups") if node == 1] == [["a1"], ["a2"]]


async def test_the_call_fails_only_if_no_coordinator_answers(admin, cluster):
    on(
        cluster,
        "DeleteGroups",
        lambda node, request: deleting({})(node, request) if node == 1 else DeleteGroupsResponse(),
    )
    assert await admin.delete_consumer_groups(["a1", "a2"]) == [("a1", NoError), ("a2", KafkaProtocolError)]
    with pytest.raises(KafkaProtocolError, match="response lacks 'a2'"):
        await admin.delete_consumer_groups(["a2"])


def described(group_id, **fields):
    return DescribedGroup(group_id=group_id, **fields)


def consumer_group(group_id):
    there = consumer_api.TopicPartitions(topic_name="t", partitions=[0, 1])
    member = consumer_api.Member(
        member_id="m",
        instance_id="i",
        client_id="c",
        client_host="h",
        subscribed_topic_names=["t"],
        assignment=consumer_api.Assignment(topic_partitions=[there]),
    )
    return consumer_api.DescribedGroup(
        group_id=group_id, group_state="Stable", group_epoch=4, assignor_name="uniform", members=[member]
    )


async def test_classic_and_consumer_groups_have_the_same_description(admin, cluster):
    def classic(_, request):
        groups = [
            described(name, group_state="Stable", protocol_type="consumer")
            if name == "old"
            else described(name, group_state="Dead", error_code=69, error_message="no classic group")
            for name in request.groups
        ]
        return DescribeGroupsResponse(groups=groups)

    def consumer(_, request):
        groups = [
            consumer_group(name) if name == "new" else consumer_api.DescribedGroup(group_id=name, error_code=69)
            for name in request.group_ids
        ]
        return consumer_api.ConsumerGroupDescribeResponse(groups=groups)

    on(cluster, "DescribeGroups", classic)
    on(cluster, "ConsumerGroupDescribe", consumer)
    found = await admin.describe_consumer_groups(["old", "new", "none"])
    assert [(each.group, each.state) for each in found] == [("old", "Stable"), ("new", "Stable"), ("none", "Dead")]
    (member,) = found["new"].members
    assert (found["new"].protocol, member.member_metadata.topics) == ("uniform", ["t"])
    assert member.member_assignment.partitions() == [TP, TopicPartition("t", 1)]
    dicts = await admin.describe_groups(["old", "new", "none"])
    assert [each["error"] is None for each in dicts.values()] == [True, True, False]
    assert (dicts["new"]["protocol_type"], dicts["new"]["protocol_data"], dicts["new"]["group_epoch"]) == (
        *("consumer", "uniform"),
        4,
    )
    assert dicts["new"]["members"][0]["member_assignment"]["assigned_partitions"] == [
        {"topic": "t", "partitions": [0, 1]}
    ]
    assert (await admin.describe_classic_groups(["new"]))["new"]["group_state"] == "Dead"


@pytest.mark.parametrize(
    ("api", "module", "call"),
    [
        ("ShareGroupDescribe", share_api, "describe_share_groups"),
        ("StreamsGroupDescribe", streams_api, "describe_streams_groups"),
    ],
)
async def test_share_and_streams_groups_have_their_own_errors(admin, cluster, api, module, call):
    def answer(_, request):
        assert request.include_authorized_operations
        groups = [module.DescribedGroup(group_id="a1", group_state="Empty", authorized_operations=8)]
        if "b1" in request.group_ids:
            groups.append(module.DescribedGroup(group_id="b1", error_code=30, error_message="no"))
        return getattr(module, f"{api}Response")(groups=groups)

    on(cluster, api, answer)
    found = await getattr(admin, call)(["a1", "b1"])
    assert (found["a1"]["error"], found["a1"]["group_state"]) == (None, "Empty")
    assert found["a1"]["authorized_operations"] == ["READ"]
    assert "GroupAuthorizationFailedError" in found["b1"]["error"]
    assert len(asked(cluster, api)) == 1


async def test_a_broker_that_cannot_list_groups_does_not_hide_others(admin, cluster):
    def answer(node, _):
        if node == 2:
            return ListGroupsResponse(error_code=29)
        groups = [ListedGroup(group_id=name, protocol_type=name) for name in ("consumer", "share")]
        return ListGroupsResponse(groups=groups)

    on(cluster, "ListGroups", answer)
    with pytest.raises(TopicAuthorizationFailedError, match="broker 2"):
        await admin.list_groups()
    listed = await admin.list_groups(protocol_types=["share"], raise_errors=False)
    assert [each["group_id"] for each in listed] == ["share"]
    assert list(listed.errors) == [2]


async def test_a_broker_that_is_loading_groups_is_retried(admin, cluster):
    answers = iter([ListGroupsResponse(error_code=14), ListGroupsResponse(groups=[ListedGroup(group_id="g")])])
    cluster.brokers[0].on("ListGroups", lambda *_: next(answers))
    assert [each["group_id"] for each in await admin.list_groups([1])] == ["g"]


async def test_groups_of_a_broker_that_leaves_the_cluster_are_asked_of_the_others(admin, cluster):
    gone = cluster.brokers[1]

    def answer(node, _):
        if node == gone.node_id:
            cluster.brokers = [each for each in cluster.brokers if each is not gone]
            return HANG_UP
        names = ["g1"] if gone in cluster.brokers else ["g1", "g2"]
        return ListGroupsResponse(groups=[ListedGroup(group_id=name) for name in names])

    on(cluster, "ListGroups", answer)
    try:
        listed = await admin.list_groups()
        assert [each["group_id"] for each in listed] == ["g1", "g2"]
        assert listed.errors == {}
    finally:
        cluster.brokers.append(gone)


async def test_a_named_broker_that_leaves_the_cluster_is_named_in_the_error(admin, cluster):
    gone = cluster.brokers[1]

    def answer(node, _):
        cluster.brokers = [each for each in cluster.brokers if each is not gone]
        return HANG_UP

    gone.on("ListGroups", lambda _, request: answer(2, request))
    try:
        with pytest.raises(KafkaTimeoutError, match=r"groups of broker 2: timed out, .* no broker with id 2"):
            await admin.list_groups([2])
    finally:
        cluster.brokers.append(gone)


# Committed offsets


def committed(codes=None):
    def answer(_, request):
        groups = [
            fetch.OffsetFetchResponseGroup(
                group_id=group.group_id,
                error_code=(codes or {}).get(group.group_id, 0),
                topics=[
                    fetch.OffsetFetchResponseTopics(
                        name="t",
                        partitions=[
                            fetch.OffsetFetchResponsePartitions(
                                partition_index=index, committed_offset=-1 if index else 7, metadata="note"
                            )
                            for index in (0, 1)
                        ],
                    )
                ],
            )
            for group in request.groups
        ]
        return fetch.OffsetFetchResponse(groups=groups)

    return answer


async def test_group_offsets_are_requested_together_with_separate_errors(admin, cluster):
    on(cluster, "OffsetFetch", committed({"b1": 30}))
    found = await admin.list_group_offsets(["a1", "b1", "c2"], require_stable=True, raise_errors=False)
    assert found["a1"][TP] == found["c2"][TP] == OffsetAndMetadata(7, "note", -1)
    assert isinstance(found["b1"], GroupAuthorizationFailedError)
    requests = asked(cluster, "OffsetFetch")
    assert [sorted(each.group_id for each in request.groups) for _, request in requests] == [["a1", "b1"], ["c2"]]
    assert all(request.require_stable for _, request in requests)
    with pytest.raises(GroupAuthorizationFailedError):
        await admin.list_group_offsets(["a1", "b1"])


@pytest.fixture
def log(cluster):
    """Partitions with offsets 5 to 20; the record from one second ago has offset 11."""

    def answer(_, request):
        topics = []
        for topic in request.topics:
            found = [
                offsets_api.ListOffsetsPartitionResponse(
                    partition_index=each.partition_index, offset={-2: 5, -1: 20}.get(each.timestamp, 11)
                )
                for each in topic.partitions
            ]
            topics.append(offsets_api.ListOffsetsTopicResponse(name=topic.name, partitions=found))
        return offsets_api.ListOffsetsResponse(topics=topics)

    def take(_, request):
        topics = [
            commit.OffsetCommitResponseTopic(
                name=topic.name,
                partitions=[
                    commit.OffsetCommitResponsePartition(partition_index=each.partition_index)
                    for each in topic.partitions
                ],
            )
            for topic in request.topics
        ]
        return commit.OffsetCommitResponse(topics=topics)

    on(cluster, "ListOffsets", answer)

    def no_group(_, request):
        dead = [DescribedGroup(group_id=each, group_state="Dead", error_code=69) for each in request.groups]
        return DescribeGroupsResponse(groups=dead)

    def no_streams_group(_, request):
        absent = [streams_api.DescribedGroup(group_id=each, error_code=69) for each in request.group_ids]
        return streams_api.StreamsGroupDescribeResponse(groups=absent)

    on(cluster, "OffsetCommit", take)
    on(cluster, "OffsetFetch", committed())
    on(cluster, "DescribeGroups", no_group)
    on(cluster, "StreamsGroupDescribe", no_streams_group)


async def test_offsets_are_reset_by_shift_time_and_topic_and_a_dry_run_commits_nothing(admin, cluster, log):
    from datetime import UTC, datetime, timedelta

    second = TopicPartition("t", 1)
    dry = await admin.reset_group_offsets("g", {"t": OffsetShift(3), second: timedelta(seconds=1)}, dry_run=True)
    assert dry == {TP: {"error": NoError, "offset": 10}, second: {"error": NoError, "offset": 11}}
    assert asked(cluster, "OffsetCommit") == []
    moved = await admin.reset_group_offsets("g", {TP: OffsetShift(-9), second: OffsetShift(1)})
    assert moved == {
        TP: {"error": NoError, "offset": 5},
        second: {"error": NoOffsetForPartitionError, "offset": -1},
    }
    ((_, request),) = asked(cluster, "OffsetCommit")
    assert [each.committed_offset for each in request.topics[0].partitions] == [5]
    assert (await admin.reset_group_offsets("g", OffsetSpec.LATEST))[second]["offset"] == 20
    at = datetime(2026, 1, 1, tzinfo=UTC)
    assert (await admin.reset_group_offsets("g", {TP: at}))[TP]["offset"] == 11
    times = {each.timestamp for _, asking in asked(cluster, "ListOffsets") for each in asking.topics[0].partitions}
    assert round(at.timestamp() * 1000) in times


@pytest.fixture
def in_a_zone(monkeypatch):
    """Set the local time to five hours ahead of UTC."""
    monkeypatch.setenv("TZ", "PKT-5")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


async def test_a_time_without_a_zone_is_local_as_in_read(admin, cluster, log, in_a_zone):
    from datetime import UTC, datetime

    naive = datetime(2026, 1, 1, 12)
    for given in (naive, {TP: naive}, {"t": naive}):
        await admin.reset_group_offsets("g", given, dry_run=True)
    times = {each.timestamp for _, asking in asked(cluster, "ListOffsets") for each in asking.topics[0].partitions}
    noon = round(datetime(2026, 1, 1, 7, tzinfo=UTC).timestamp() * 1000)
    assert noon in times
    assert bounds.parse_bound("start", naive, 0) == bounds.Time(noon)


@pytest.mark.parametrize("given", ["1969-12-31T23:59:59.999+00:00", "1969-12-01", "0001-01-01"])
async def test_an_invalid_time_is_rejected(admin, given):
    from datetime import datetime

    with pytest.raises(IllegalArgumentError, match="expected a time since 1970"):
        await admin.reset_group_offsets("g", {TP: datetime.fromisoformat(given)})


@pytest.mark.parametrize("protocol", ["classic", "consumer", "streams"])
@pytest.mark.parametrize(("state", "error"), [("Stable", UnknownMemberIdError), ("Empty", NoError), ("Dead", NoError)])
async def test_a_dry_run_finds_the_members_that_the_real_reset_would(admin, cluster, log, protocol, state, error):
    def described(kind, response, group, name):
        def answer(_, request):
            found = group(group_id="g", group_state=state)
            if protocol != name:
                found = group(group_id="g", group_state="Dead", error_code=GroupIdNotFoundError.errno)
            return response(groups=[found])

        on(cluster, kind, answer)

    described("DescribeGroups", DescribeGroupsResponse, DescribedGroup, "classic")
    described(
        "ConsumerGroupDescribe", consumer_api.ConsumerGroupDescribeResponse, consumer_api.DescribedGroup, "consumer"
    )
    described("StreamsGroupDescribe", streams_api.StreamsGroupDescribeResponse, streams_api.DescribedGroup, "streams")
    second = TopicPartition("t", 1)
    dry = await admin.reset_group_offsets("g", {TP: 7, second: OffsetShift(1)}, dry_run=True)
    assert dry[TP] == {"error": error, "offset": 7}
    assert dry[second] == {"error": NoOffsetForPartitionError, "offset": -1}
    assert asked(cluster, "OffsetCommit") == []


async def test_a_dry_run_reports_why_members_are_unknown(admin, cluster, log):
    refused = DescribedGroup(group_id="g", error_code=GroupAuthorizationFailedError.errno)
    on(cluster, "DescribeGroups", lambda *_: DescribeGroupsResponse(groups=[refused]))
    with pytest.raises(GroupAuthorizationFailedError):
        await admin.reset_group_offsets("g", {TP: 7}, dry_run=True)


async def test_a_lost_coordinator_is_looked_up_again(admin, cluster, coordinators, log):
    assert await admin.alter_group_offsets("a2", {TP: OffsetAndMetadata(1, "", -1)}) == {TP: NoError}
    await cluster.brokers[1].stop()
    coordinators["a2"] = 0
    assert await admin.alter_group_offsets("a2", {TP: OffsetAndMetadata(2, "", -1)}) == {TP: NoError}
    assert [node for node, _ in asked(cluster, "OffsetCommit")] == [1, 2]


async def test_all_members_are_removed_static_ones_by_instance_id(admin, cluster):
    members = [DescribedGroupMember(member_id="m", group_instance_id="i"), DescribedGroupMember(member_id="n")]
    on(cluster, "DescribeGroups", lambda *_: DescribeGroupsResponse(groups=[described("g", members=members)]))
    on(
        cluster,
        "LeaveGroup",
        lambda _, request: LeaveGroupResponse(
            members=[
                MemberResponse(member_id=each.member_id, group_instance_id=each.group_instance_id)
                for each in request.members
            ]
        ),
    )
    assert await admin.remove_group_members("g") == {"i": NoError, "n": NoError}
    ((_, request),) = asked(cluster, "LeaveGroup")
    assert [(each.member_id, each.group_instance_id) for each in request.members] == [("", "i"), ("n", None)]
    assert await admin.remove_group_members("g", [MemberToRemove("n")]) == {"n": NoError}
    on(cluster, "DescribeGroups", lambda *_: DescribeGroupsResponse(groups=[described("g", group_state="Dead")]))
    on(
        cluster,
        "ConsumerGroupDescribe",
        lambda *_: consumer_api.ConsumerGroupDescribeResponse(
            groups=[consumer_api.DescribedGroup(group_id="g", error_code=69)]
        ),
    )
    with pytest.raises(GroupIdNotFoundError):
        await admin.remove_group_members("g")


def left_with(code):
    def answer(_, request):
        members = [MemberResponse(member_id=each.member_id) for each in request.members]
        return LeaveGroupResponse(error_code=code, members=members)

    return answer


@pytest.mark.parametrize("version", [2, 5])
async def test_members_are_removed_after_the_coordinator_moves(admin, cluster, coordinators, version):
    for broker in cluster.brokers:
        broker.versions[LeaveGroupRequest.API_KEY] = (0, version)
    await reconnect(admin, cluster)
    first, second = cluster.brokers
    second.on("LeaveGroup", left_with(0))
    leaving = [MemberToRemove("m"), MemberToRemove("n")]

    def moves(*given):
        coordinators["g2"] = 1
        return left_with(16)(*given)

    coordinators["g2"] = 0
    first.on("LeaveGroup", moves)
    assert await admin.remove_group_members("g2", leaving) == {"m": NoError, "n": NoError}
    assert {node for node, _ in asked(cluster, "LeaveGroup")} == {1, 2}
    await second.stop()
    coordinators["g2"] = 0
    first.on("LeaveGroup", left_with(0))
    assert await admin.remove_group_members("g2", leaving[:1]) == {"m": NoError}, "what is known of it is old"


async def test_a_member_that_has_left_is_not_removed_twice(admin, cluster, coordinators):
    for broker in cluster.brokers:
        broker.versions[LeaveGroupRequest.API_KEY] = (0, 2)
    await reconnect(admin, cluster)
    codes = {"m": [0], "n": [14, 25], "o": [15, 0]}
    on(cluster, "LeaveGroup", lambda _, request: LeaveGroupResponse(error_code=codes[request.member_id].pop(0)))
    found = await admin.remove_group_members("g", [MemberToRemove(each) for each in codes])
    assert found == {"m": NoError, "n": UnknownMemberIdError, "o": NoError}
    with pytest.raises(UnsupportedVersionError, match="static"):
        await admin.remove_group_members("g", [MemberToRemove("m"), MemberToRemove(group_instance_id="i")])
    with pytest.raises(IllegalArgumentError, match="member_id"):
        await admin.remove_group_members("g", [MemberToRemove("m"), MemberToRemove()])


async def test_listing_reassignments_is_retried_after_a_lost_connection(admin, cluster):
    for broker in cluster.brokers:
        broker.versions[ListPartitionReassignmentsRequest.API_KEY] = (0, 0)
    await reconnect(admin, cluster)
    answers = iter([HANG_UP, ListPartitionReassignmentsResponse(error_code=41), ListPartitionReassignmentsResponse()])
    on(cluster, "ListPartitionReassignments", lambda *_: next(answers))
    assert await admin.list_partition_reassignments() == {}
    assert [node for node, _ in asked(cluster, "ListPartitionReassignments")] == [1, 1, 1]


async def test_offsets_of_share_groups_are_listed_altered_and_deleted(admin, cluster):
    def listed(_, request):
        groups = []
        for group in request.groups:
            partition = share_offsets.DescribeShareGroupOffsetsResponsePartition(start_offset=3, leader_epoch=1, lag=4)
            topic = share_offsets.DescribeShareGroupOffsetsResponseTopic(topic_name="t", partitions=[partition])
            code = 30 if group.group_id == "b1" else 0
            groups.append(
                share_offsets.DescribeShareGroupOffsetsResponseGroup(
                    group_id=group.group_id, topics=[topic], error_code=code
                )
            )
        return share_offsets.DescribeShareGroupOffsetsResponse(groups=groups)

    on(cluster, "DescribeShareGroupOffsets", listed)
    found = await admin.list_share_group_offsets({"a1": None, "b1": [TP]}, raise_errors=False)
    assert found["a1"] == {TP: SharePartitionOffset(3, 1, 4)}
    assert isinstance(found["b1"], GroupAuthorizationFailedError)
    ((_, request),) = asked(cluster, "DescribeShareGroupOffsets")
    assert [group.topics and group.topics[0].partitions for group in request.groups] == [None, [0]]
    partition = alter_share.AlterShareGroupOffsetsResponsePartition(error_code=68)
    topic = alter_share.AlterShareGroupOffsetsResponseTopic(topic_name="t", partitions=[partition])
    answers = iter([16, 0])
    on(
        cluster,
        "AlterShareGroupOffsets",
        lambda *_: alter_share.AlterShareGroupOffsetsResponse(error_code=next(answers), responses=[topic]),
    )
    assert await admin.alter_share_group_offsets("a1", {TP: 9}) == {TP: NonEmptyGroupError}
    gone = delete_share.DeleteShareGroupOffsetsResponseTopic(topic_name="t")
    on(
        cluster,
        "DeleteShareGroupOffsets",
        lambda *_: delete_share.DeleteShareGroupOffsetsResponse(responses=[gone]),
    )
    assert await admin.delete_share_group_offsets("a1", ["t"]) == {"t": NoError}


# Transactions, configurations, log directories


async def test_fencing_is_retried_while_a_transaction_ends(admin, cluster):
    codes = {"a1": iter([51, 0]), "b1": iter([53]), "c2": iter([0, 0])}

    def answer(node, request):
        assert request.transaction_timeout_ms == 3_000
        return InitProducerIdResponse(
            error_code=next(codes[request.transactional_id]), producer_id=node, producer_epoch=5
        )

    on(cluster, "InitProducerId", answer)
    fenced = await admin.fence_producers(["a1", "b1", "c2"], raise_errors=False)
    assert (fenced["a1"], fenced["c2"]) == (FencedProducer(1, 5), FencedProducer(2, 5))
    assert isinstance(fenced["b1"], TransactionalIdAuthorizationFailedError)
    assert await admin.force_terminate_transaction("c2") is None


async def test_broker_settings_are_altered_at_each_broker_with_separate_errors(admin, cluster):
    def answer(node, request):
        results = [
            alter.AlterConfigsResourceResponse(
                error_code=40 if each.resource_name == "2" else 0,
                error_message="no",
                resource_type=each.resource_type,
                resource_name=each.resource_name,
            )
            for each in request.resources
        ]
        return alter.IncrementalAlterConfigsResponse(responses=results)

    on(cluster, "IncrementalAlterConfigs", answer)
    resources = [ConfigResource("broker", "1", {"a": "1"}), ConfigResource("broker", "2", {"a": "1"})]
    result = await admin.alter_configs(resources, incremental=True, raise_errors=False)
    assert result["broker"]["1"] == "OK"
    assert "no" in result["broker"]["2"]
    assert result.resources[1][0] == 40
    with pytest.raises(InvalidConfigurationError, match="broker '2': no"):
        await admin.alter_configs(resources, incremental=True)
    nodes = {node: request.resources[0].resource_name for node, request in asked(cluster, "IncrementalAlterConfigs")}
    assert nodes == {1: "1", 2: "2"}


async def test_replicas_are_found_in_their_brokers_directories(admin, cluster):
    def answer(node, request):
        if node == 2:
            return dirs.DescribeLogDirsResponse(error_code=31)
        here = dirs.DescribeLogDirsPartition(partition_index=0, offset_lag=1, is_future_key=False)
        coming = dirs.DescribeLogDirsPartition(partition_index=0, offset_lag=2, is_future_key=True)
        results = [
            dirs.DescribeLogDirsResult(
                log_dir=f"/{name}", topics=[dirs.DescribeLogDirsTopic(name="t", partitions=[partition])]
            )
            for name, partition in (("old", here), ("new", coming))
        ]
        return dirs.DescribeLogDirsResponse(results=[*results, dirs.DescribeLogDirsResult(error_code=56)])

    on(cluster, "DescribeLogDirs", answer)
    first, second, other = (TopicPartitionReplica("t", *each) for each in ((0, 1), (0, 2), (3, 1)))
    found = await admin.describe_replica_log_dirs([first, second, other], raise_errors=False)
    assert found[first] == ReplicaLogDir("/old", 1, "/new", 2)
    assert found[other] == ReplicaLogDir()
    assert isinstance(found[second], ClusterAuthorizationFailedError)
    assert len(asked(cluster, "DescribeLogDirs")) == 2
    both = await admin.describe_log_dirs(raise_errors=False)
    assert [each["broker"] for each in both] == [1, 2]
    assert isinstance(both[1]["error"], ClusterAuthorizationFailedError)
    with pytest.raises(ClusterAuthorizationFailedError):
        await admin.describe_log_dirs()


async def test_replicas_are_moved_with_one_request_per_broker(admin, cluster):
    def answer(node, request):
        results = [
            move.AlterReplicaLogDirTopicResult(
                topic_name=topic.name,
                partitions=[
                    move.AlterReplicaLogDirPartitionResult(partition_index=each, error_code=57 if node == 2 else 0)
                    for each in topic.partitions
                ],
            )
            for directory in request.dirs
            for topic in directory.topics
        ]
        return move.AlterReplicaLogDirsResponse(results=results)

    on(cluster, "AlterReplicaLogDirs", answer)
    first, second, third = (TopicPartitionReplica("t", *each) for each in ((0, 1), (1, 1), (0, 2)))
    moved = await admin.alter_replica_log_dirs({first: "/a", second: "/b", third: "/a"})
    assert moved == {first: NoError, second: NoError, third: LogDirNotFoundError}
    assert sorted(node for node, _ in asked(cluster, "AlterReplicaLogDirs")) == [1, 2]


async def test_answers_received_before_a_timeout_are_kept(cluster):
    from kafka.admin import AsyncKafkaAdminClient
    from unit.admin.conftest import options

    on(cluster, "DeleteGroups", lambda node, request: deleting({})(node, request) if node == 1 else SILENCE)
    async with AsyncKafkaAdminClient(**{**options(cluster), "request_timeout_ms": 200}) as client:
        assert await client.delete_consumer_groups(["a1", "a2"]) == [("a1", NoError), ("a2", KafkaTimeoutError)]


async def test_a_missing_api_fails_only_the_groups_of_that_broker(admin, cluster):
    cluster.brokers[1].versions.pop(77)
    on(
        cluster,
        "ShareGroupDescribe",
        lambda *_: share_api.ShareGroupDescribeResponse(
            groups=[share_api.DescribedGroup(group_id="a1", group_state="Stable")]
        ),
    )
    cluster.brokers[1].hang_up()
    found = await admin.describe_share_groups(["a1", "a2"])
    assert found["a1"]["group_state"] == "Stable"
    assert UnsupportedVersionError.__name__ in found["a2"]["error"] or "ShareGroupDescribe" in found["a2"]["error"]
