"""The pages for the cluster: health with its reasons, brokers, and what of the cluster is read."""

import asyncio
import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

from kafka.admin import AsyncKafkaAdminClient
from kafka.broker import EmbeddedBroker
from kafka.display.page_elements import UNKNOWN
from kafka.errors import ClusterAuthorizationFailedError
from kafka.structs import OffsetAndMetadata, TopicPartition
from kafka.ui import cluster_state, quorum
from kafka.ui.cluster_state import complete, look
from kafka.ui.health import health_of
from kafka.ui.quorum import read_quorum
from kafka.ui.snapshot import BrokerState, Need, PartitionState, Snapshot, TopicState
from unit.ui.ui_support import HOSTILE, Pages, pages_of, rows_of, settings, text_of

pytestmark = pytest.mark.once


def snapshot(*partitions: PartitionState, controller: int = 1) -> Snapshot:
    """A cluster of brokers 1 and 2 with a topic."""
    brokers = {node: BrokerState(node, f"b{node}:9092", "rack a") for node in (1, 2)}
    return Snapshot(0.0, "c", controller, brokers, {"t": TopicState("t", False, partitions)}, {})


FINE = PartitionState(0, 1, (1, 2), (1, 2))


@pytest.mark.parametrize(
    ("now", "word", "reasons"),
    [
        (None, "unknown", []),
        (snapshot(FINE), "healthy", []),
        (
            snapshot(FINE, PartitionState(1, 1, (1, 2), (1,))),
            "degraded",
            ["1 partition has replicas that are not in sync", "1 partition has only one replica in sync"],
        ),
        (
            snapshot(PartitionState(0, 1, (1, 3), (1, 3)), PartitionState(1, 3, (3, 1), (3, 1))),
            "degraded",
            ["broker 3 has replicas, but is not running"],
        ),
        (
            snapshot(PartitionState(0, -1, (1,), (1,)), PartitionState(1, -1, (1,), (1,))),
            "critical",
            ["2 partitions have no leader, and cannot be read or written"],
        ),
        (
            snapshot(FINE, controller=-1),
            "critical",
            ["the cluster has no controller: topics cannot be created, and leaders cannot change"],
        ),
    ],
)
def test_health_is_one_word_with_reasons(now: Snapshot | None, word: str, reasons: list[str]) -> None:
    found = health_of(now)
    assert (found.word, [each.text for each in found.reasons]) == (word, reasons)


def test_an_unreachable_cluster_is_not_healthy() -> None:
    found = health_of(snapshot(FINE), f"no broker answers {HOSTILE}")
    assert found.word == "unreachable"
    assert "no broker answers" in found.reasons[0].text


def described_by(pages: Pages, monkeypatch: pytest.MonkeyPatch) -> AsyncKafkaAdminClient:
    """An admin client of a cluster whose controllers are nodes of their own; 4 is stopped, and 5 was never heard of."""

    async def describe_metadata_quorum() -> dict[str, Any]:
        def node(number: int, end: int, fetched_ms: int) -> dict[str, int]:
            return {"replica_id": number, "log_end_offset": end, "last_fetch_timestamp": fetched_ms}

        voters = [node(3, 100, 1_000_000), node(4, 90, 958_000), node(5, -1, -1)]
        partition = {"leader_id": 3, "leader_epoch": 7, "high_watermark": 100}
        observers = [node(6, 100, 999_500)]
        return {"topics": [{"partitions": [{**partition, "current_voters": voters, "observers": observers}]}]}

    monkeypatch.setattr(pages.ui.admin, "describe_metadata_quorum", describe_metadata_quorum)
    return pages.ui.admin


async def test_the_controller_is_the_leader_of_the_quorum_on_all_pages(
    pages: Pages, monkeypatch: pytest.MonkeyPatch
) -> None:
    described_by(pages, monkeypatch)
    await pages.ui.poller._observe()
    assert "controller 3 (not a broker)" in text_of(await pages.get("/health"))
    page = await pages.get("/brokers")
    assert "controller 3 (not a broker)" in text_of(page)
    assert rows_of(page, "Brokers")[0][3] == "broker", "the broker names itself, as brokers with KRaft do"


async def test_a_quorum_that_does_not_answer_does_not_delay_the_rest(
    pages: Pages, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def never() -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(pages.ui.admin, "describe_metadata_quorum", never)
    monkeypatch.setattr(quorum, "_PATIENCE_S", 0.05)
    now = await look(pages.ui.admin, 0.0, Need())
    assert now.quorum == "The cluster did not describe its quorum within 0.05 s."
    assert now.controller == 1


@pytest.mark.parametrize(
    ("partitions", "reason"),
    [
        ([], "the response contains no partition"),
        ([{"error": "NotLeaderForPartitionError: moved", "leader_id": 0}], "NotLeaderForPartitionError: moved"),
    ],
)
async def test_a_quorum_without_a_description_has_a_reason_and_hides_nothing_else(
    pages: Pages, monkeypatch: pytest.MonkeyPatch, partitions: list[dict[str, Any]], reason: str
) -> None:
    async def describe_metadata_quorum() -> dict[str, Any]:
        return {"topics": [{"partitions": partitions}]}

    monkeypatch.setattr(pages.ui.admin, "describe_metadata_quorum", describe_metadata_quorum)
    now = await look(pages.ui.admin, 0.0, Need())
    assert now.quorum == f"The cluster does not describe its quorum: {reason}"
    assert now.controller == 1


async def test_the_page_of_health_lists_partitions_in_trouble(pages: Pages, monkeypatch: pytest.MonkeyPatch) -> None:
    page = await pages.get("/health")
    assert "Healthy" in text_of(page)
    assert "All partitions have a leader, and all replicas are in sync." in text_of(page)
    assert "These brokers do not describe their quorum" in text_of(page), "the embedded broker has none"
    bad = snapshot(FINE, PartitionState(1, 1, (1, 2), (1,)), PartitionState(2, -1, (1, 2), ()))
    bad = dataclasses.replace(bad, quorum=await read_quorum(described_by(pages, monkeypatch)))
    monkeypatch.setattr(pages.ui.poller, "newest", bad)

    page = await pages.get("/health")
    assert rows_of(page, "Offline and under-replicated partitions") == [
        ["t", "2", "Offline", "none", "1, 2", "none"],
        ["t", "1", "Under-replicated", "1", "1, 2", "1"],
    ]
    assert rows_of(page, "Metadata quorum") == [
        ["3", "Leader", "100", "0", UNKNOWN],
        ["4", "Voter", "90", "10", "42 s ago"],
        ["5", "Voter", UNKNOWN, UNKNOWN, UNKNOWN],
        ["6", "Observer", "100", "0", "500 ms ago"],
    ]
    assert "Controller 4 has not read the metadata for 42 s" in text_of(page)
    assert 'href="health"><span class="state bad">critical' in page


async def test_brokers_with_their_leaders_features_configs_and_logs(
    pages: Pages, topic: Callable[..., str], broker: EmbeddedBroker
) -> None:
    topic(b"v", partitions=3)
    page = await pages.get("/brokers")
    assert "brokers 1 controller 1" in text_of(page)
    ((node, address, _, role, leaders, preferred, replicas, out_of_sync),) = rows_of(page, "Brokers")
    assert (node, address, role, out_of_sync) == ("1", broker.bootstrap_servers, "broker controller", "0")
    assert int(leaders) == int(preferred) == int(replicas) >= 3
    assert any(row[0] == "metadata.version" for row in rows_of(page, "Features"))
    page = await pages.get("/broker", id=1)
    ((directory, state, *_),) = rows_of(page, "Log directories")
    assert directory.startswith("/")
    assert state == "Online"
    assert ["auto.create.topics.enable", "true", "broker's file read-only"] in rows_of(page, "Configs")
    assert "There is no broker 9" in text_of(await pages.get("/broker", 404, id=9))
    page = await pages.get("/broker", 400, id=HOSTILE)
    assert "Expected the id of a broker, which is a number" in page
    assert "<script>alert" not in page


async def test_a_broker_without_topics_has_its_log_directory() -> None:
    with EmbeddedBroker() as empty:
        async with pages_of(settings(empty.bootstrap_servers)) as pages:
            ((_, state, replicas, *_),) = rows_of(await pages.get("/broker", id=1), "Log directories")
    assert (state, replicas) == ("Online", "0")


async def test_a_broker_that_forbids_the_details_is_still_shown(pages: Pages, monkeypatch: pytest.MonkeyPatch) -> None:
    async def forbidden(*_: object, **__: object) -> None:
        raise ClusterAuthorizationFailedError("not for <b>you</b>")

    for name in ("describe_configs", "describe_log_dirs", "describe_features", "describe_metadata_quorum"):
        monkeypatch.setattr(pages.ui.admin, name, forbidden)
    await pages.ui.poller._observe()
    for path in ("/broker", "/brokers", "/health"):
        page = await pages.get(path, id=1)
        assert "not for <b>you</b>" in text_of(page)


async def test_only_needed_details_of_large_clusters_are_read(
    pages: Pages, topic: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_state, "SMALL_PARTITIONS", 0)
    monkeypatch.setattr(cluster_state, "SMALL_GROUPS", 0)
    names = sorted(topic(b"v") for _ in range(3))
    place = TopicPartition(names[0], 0)
    await pages.ui.admin.alter_group_offsets(f"reader-of-{names[0]}", {place: OffsetAndMetadata(0, "", None)})
    now = await look(pages.ui.admin, 0.0, Need(topics=frozenset(names[1:2])))
    assert [now.topics[name].is_detailed for name in names] == [False, True, False]
    assert [now.topics[name].offsets for name in names] == [None, 1, None]
    group = now.groups[f"reader-of-{names[0]}"]
    assert (group.is_detailed, group.lag) == (False, None)
    full = await complete(pages.ui.admin, now, Need(frozenset(names[2:]), frozenset((group.name,))))
    assert full.topics[names[2]].offsets == full.topics[names[1]].offsets == 1
    assert (full.groups[group.name].lag, full.groups[group.name].ends) == (1, {place: 1})
    assert await complete(pages.ui.admin, full, Need()) is full
    assert now.completed_from(dataclasses.replace(full, notes=("later",))).notes == ("later",)


async def test_pages_of_large_clusters_ask_for_what_they_show(
    pages: Pages, topic: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_state, "SMALL_PARTITIONS", 0)
    monkeypatch.setattr(cluster_state, "SMALL_GROUPS", 0)
    names = sorted(topic(b"v") for _ in range(4))
    query = {"q": names[0][:6], "rows": 2, "sort": "topic"}
    shown = [row[0] for row in rows_of(await pages.get("/", **query), "Topics")]
    assert len(shown) == 2
    newest = pages.ui.poller.newest
    assert newest is not None
    assert {name for name, each in newest.topics.items() if each.is_detailed} == set(shown)
    await pages.get("/", **{**query, "sort": "-size"})
    newest = pages.ui.poller.newest
    assert newest is not None
    assert all(each.is_detailed for each in newest.topics.values()), "the order needs the sizes of all topics"
    for number in range(3):
        place = {TopicPartition(names[0], 0): OffsetAndMetadata(0, "", None)}
        await pages.ui.admin.alter_group_offsets(f"large-{number}", place)
    await pages.ui.poller._observe()
    page = await pages.get("/groups", q="large-", rows=2, sort="-group")
    assert [row[0] for row in rows_of(page, "Groups")] == ["large-2", "large-1"]
    newest = pages.ui.poller.newest
    assert newest is not None
    assert {name for name, each in newest.groups.items() if each.is_detailed} == {"large-1", "large-2"}


async def test_a_feature_may_be_supported_and_off(pages: Pages, monkeypatch: pytest.MonkeyPatch) -> None:
    async def describe_features() -> dict[str, Any]:
        return {"kraft.version": {"supported": (0, 1)}, "old": {"finalized": (3, 3)}}

    monkeypatch.setattr(pages.ui.admin, "describe_features", describe_features)
    rows = rows_of(await pages.get("/brokers"), "Features")
    assert rows == [["kraft.version", "off", "0 to 1"], ["old", "3", "\N{EN DASH}"]]


async def test_offsets_of_partitions_without_a_leader_are_not_asked_for(
    pages: Pages, topic: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    name = topic(b"a", b"b", partitions=2)
    now = await look(pages.ui.admin, 0.0, Need())
    found = now.topics[name]
    offline = dataclasses.replace(found.partitions[1], leader=-1, isr=())
    broken = dataclasses.replace(found, partitions=(found.partitions[0], offline), is_detailed=False)
    asked, list_offsets = [], pages.ui.admin.list_partition_offsets

    async def recorded(specs: Any, **options: Any) -> Any:
        asked.extend(specs)
        return await list_offsets(specs, **options)

    monkeypatch.setattr(pages.ui.admin, "list_partition_offsets", recorded)
    before = dataclasses.replace(now, topics={name: broken})
    full = await complete(pages.ui.admin, before, Need(frozenset((name,))))
    assert {tp.partition for tp in asked} == {0}
    assert [each.offsets for each in full.topics[name].partitions] == [1, None]


async def test_a_broker_that_does_not_list_its_groups_does_not_delay_the_others(
    pages: Pages, topic: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    place = {TopicPartition(topic(b"v"), 0): OffsetAndMetadata(0, "", None)}
    await pages.ui.admin.alter_group_offsets("listed", place)
    describe, known = pages.ui.admin.describe_cluster, await pages.ui.admin.list_groups([1])

    async def describe_cluster() -> Any:
        found = await describe()
        dead = [{**found["brokers"][0], "node_id": node} for node in (7, 8)]
        return {**found, "brokers": [*found["brokers"], *dead]}

    async def listed(nodes: list[int]) -> Any:
        if nodes == [7]:
            await asyncio.Event().wait()
        if nodes == [8]:
            raise ClusterAuthorizationFailedError("not yours")
        return known

    monkeypatch.setattr(pages.ui.admin, "describe_cluster", describe_cluster)
    monkeypatch.setattr(pages.ui.admin, "list_groups", listed)
    monkeypatch.setattr(cluster_state, "_PATIENCE_S", 0.05)
    now = await look(pages.ui.admin, 0.0, Need())
    assert "listed" in now.groups
    assert len(now.notes) == 2
    assert "groups of broker 8: " in "".join(now.notes)
    assert any(note.startswith("groups of broker 7: it did not answer within") for note in now.notes)


async def test_details_that_do_not_arrive_do_not_hide_the_rest(
    pages: Pages, topic: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    name = topic(b"v")

    async def never(*_: object, **__: object) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(pages.ui.admin, "list_partition_offsets", never)
    monkeypatch.setattr(cluster_state, "_DETAILS_S", 0.05)
    now = await look(pages.ui.admin, 0.0, Need())
    assert (now.topics[name].is_detailed, now.is_partial) == (False, True)
    assert "offsets and sizes: the brokers did not answer" in now.notes[-1]
