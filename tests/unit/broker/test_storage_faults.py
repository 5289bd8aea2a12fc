"""Disk failures: errors while writing, a full disk, damaged files, and power failures."""

from __future__ import annotations

import errno
import json
import os
import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from kafka.broker import EmbeddedBroker, topic_store
from kafka.broker.broker_settings import BrokerSettings
from kafka.broker.disk_files import FilePool
from kafka.broker.error_codes import ErrorCode, RequestFailed
from kafka.broker.log.log_options import LogOptions
from kafka.broker.log.partition import PartitionLog
from kafka.broker.topic_store import Topic, TopicChanges, TopicStore
from kafka.record import BatchBuilder, decode_batches
from kafka.wire.api.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from kafka.wire.api.create_topics import CreatableTopic, CreateTopicsRequest
from kafka.wire.api.delete_topics import DeleteTopicsRequest, DeleteTopicState
from kafka.wire.api.init_producer_id import InitProducerIdRequest
from kafka.wire.api.metadata import MetadataRequest
from kafka.wire.api.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafka.wire.api.produce import ProduceResponse
from unit.broker.batches import NOW_MS, append, make_batch
from unit.broker.grouped import GROUP, GroupCoordinatorHarness
from unit.broker.requests import create, fetch_request, fetched, produce_request, produced, values
from unit.broker.wireclient import WireClient

OpenLog = Callable[..., PartitionLog]


def failing(error: int) -> Callable[..., int]:
    def fail(*_: object) -> int:
        raise OSError(error, os.strerror(error))

    return fail


# -- a partition's log ------------------------------------------------------------------------------------------------


def test_retention_uses_the_write_time_without_timestamps(open_log: OpenLog) -> None:
    for log in (open_log(retention_ms=1000), open_log(retention_ms=1000)):
        if not log.end_offset:
            append(log, [b"a"], timestamp=-1)
        log.apply_retention(NOW_MS + 900)
        assert (log.start_offset, log.end_offset) == (0, 1)
        log.close()
    log.apply_retention(NOW_MS + 1100)
    assert log.start_offset == 1


def test_a_log_is_unusable_after_a_failed_sync(open_log: OpenLog, monkeypatch: pytest.MonkeyPatch) -> None:
    log = open_log(flush_messages=1)
    append(log, [b"kept"])
    woken: list[int] = []
    log.waiters[woken.append] = None
    monkeypatch.setattr(os, "fsync", failing(errno.EIO))
    with pytest.raises(RequestFailed) as caught:
        append(log, [b"lost"])
    assert caught.value.code is ErrorCode.KAFKA_STORAGE_ERROR
    monkeypatch.undo()
    assert woken
    for step in (lambda: append(log, [b"next"]), lambda: log.read(0, 1000), lambda: log.offset_of_time(0)):
        with pytest.raises(RequestFailed) as caught:
            step()
        assert caught.value.code is ErrorCode.KAFKA_STORAGE_ERROR
    log.close()
    recovered = open_log(flush_messages=1)
    assert recovered.end_offset == 1
    assert append(recovered, [b"next"]) == 1


def test_a_full_disk_loses_nothing_and_recovers(open_log: OpenLog, monkeypatch: pytest.MonkeyPatch) -> None:
    log = open_log()
    append(log, [b"a"], producer=(7, 0, 0))
    monkeypatch.setattr(os, "pwrite", failing(errno.ENOSPC))
    with pytest.raises(RequestFailed) as caught:
        append(log, [b"b"], producer=(7, 0, 1))
    assert caught.value.code is ErrorCode.KAFKA_STORAGE_ERROR
    monkeypatch.undo()
    assert log.end_offset == 1
    assert append(log, [b"b"], producer=(7, 0, 1)) == 1


def test_fewer_log_files_stay_open_without_free_descriptors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    pool = FilePool(100)
    real, opened = os.open, 0

    def scarce(*args: object) -> int:
        nonlocal opened
        if len(pool._open) >= 8:
            raise OSError(errno.EMFILE, "Too many open files")
        opened += 1
        return real(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "open", scarce)
    for number in range(40):
        pool.open(tmp_path / f"{number}.log")
    assert (opened, len(pool._open)) == (40, 4)
    assert len(caplog.records) == 1
    pool.close()


def test_an_error_is_raised_if_no_file_can_be_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none_left(*args: object) -> int:
        raise OSError(errno.EMFILE, "Too many open files")

    pool = FilePool(100)
    pool.open(tmp_path / "0.log")
    monkeypatch.setattr(os, "open", none_left)
    with pytest.raises(OSError, match="Too many open files"):
        pool.open(tmp_path / "1.log")
    assert not pool._open


def test_with_fsync_the_folders_above_a_new_log_are_synced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: set[str] = set()
    original = os.fsync

    def fsync(fd: int) -> None:
        synced.add(os.readlink(f"/proc/self/fd/{fd}"))
        original(fd)

    monkeypatch.setattr(os, "fsync", fsync)
    pool = FilePool(4)
    log = PartitionLog(tmp_path / "logs" / "topic" / "0", LogOptions(flush_messages=1), pool, tmp_path)
    append(log, [b"a"])
    pool.close()
    for folder in (tmp_path, tmp_path / "logs", tmp_path / "logs" / "topic", tmp_path / "logs" / "topic" / "0"):
        assert str(folder) in synced


def test_a_batch_larger_than_a_segment_is_rejected(open_log: OpenLog) -> None:
    log = open_log(segment_bytes=500)
    with pytest.raises(RequestFailed) as caught:
        append(log, [b"x" * 600])
    assert caught.value.code is ErrorCode.RECORD_LIST_TOO_LARGE


def test_a_segment_rolls_when_its_first_record_is_old(open_log: OpenLog, tmp_path: Path) -> None:
    log = open_log(segment_ms=100)
    for timestamp in (1000, 1050, 1100, 1101, 1150):
        append(log, [b"x"], timestamp=timestamp)
    assert sorted(one.stem for one in (tmp_path / "log").glob("*.log")) == [f"{0:020d}", f"{3:020d}"]


# -- a full disk ------------------------------------------------------------------------------------------------------


async def test_a_change_that_cannot_be_saved_has_no_effect(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with EmbeddedBroker(tmp_path) as broker, WireClient(broker) as client:
        await create(client, "kept")
        monkeypatch.setattr(os, "replace", failing(errno.ENOSPC))
        asked = CreatableTopic(name="new", num_partitions=1, replication_factor=1)
        (made,) = (await client.call(CreateTopicsRequest(topics=[asked]), 7)).topics
        gone = await client.call(DeleteTopicsRequest(topics=[DeleteTopicState(name="kept")]), 6)
        more = await client.call(
            CreatePartitionsRequest(topics=[CreatePartitionsTopic(name="kept", count=3, assignments=None)]), 3
        )
        codes = [made.error_code, gone.responses[0].error_code, more.results[0].error_code]
        assert codes == [ErrorCode.KAFKA_STORAGE_ERROR] * 3
        monkeypatch.undo()
        answer = produced(await client.call(produce_request("new", make_batch([b"a"])), 9))
        assert answer.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        (topic,) = (await client.call(MetadataRequest(topics=None), 12)).topics
        assert (topic.name, len(topic.partitions)) == ("kept", 1)


# -- a crash while topics are deleted ---------------------------------------------------------------------------------


class Crash(BaseException):
    """The process is killed here."""


def crash(*_: object) -> None:
    raise Crash


def store_with(tmp_path: Path, *names: str, fsync: bool = False) -> TopicStore:
    """Create a store with topics, each of which contains a record."""
    store = TopicStore(tmp_path, BrokerSettings(fsync=fsync), random.Random(1))
    for name in names:
        append(store.create(name, 2, {}).log(0), [name.encode()])
    return store


def delete(store: TopicStore, name: str) -> None:
    changes = TopicChanges()
    changes.deleted[name] = store.get(name)
    store.apply(changes)


def contents(tmp_path: Path) -> dict[str, list[bytes | None]]:
    """Return the topics after a restart, with the values in their first partitions."""
    store = TopicStore(tmp_path, BrokerSettings(), random.Random(1))
    found = {one.name: list(decode_batches(one.log(0).read(0, 1 << 20)).to_records()) for one in store}
    store.close()
    return {name: [record.value for record in records] for name, records in found.items()}


def folders(tmp_path: Path) -> list[str]:
    """Return the names of the log folders, without the topic ids."""
    return sorted(re.sub("-[0-9a-f]{32}", "", one.name) for one in (tmp_path / "logs").iterdir())


@pytest.mark.parametrize("damaged", [False, True])
@pytest.mark.parametrize("fsync", [False, True])
def test_a_deleted_topic_does_not_reappear_after_a_crash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damaged: bool, fsync: bool
) -> None:
    store = store_with(tmp_path, "kept", "gone", fsync=fsync)
    with monkeypatch.context() as patch:
        patch.setattr(Topic, "remove", crash)
        with pytest.raises(Crash):
            delete(store, "gone")
    store.close(in_order=False)
    if damaged:
        (tmp_path / "topics.json").write_bytes(b"\0" * 50)
    assert contents(tmp_path) == {"kept": [b"kept"]}
    assert folders(tmp_path) == ["kept"]


def test_a_topic_survives_a_crash_before_its_deletion_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = store_with(tmp_path, "kept", "stays")
    with monkeypatch.context() as patch:
        patch.setattr(topic_store, "save", crash)
        with pytest.raises(Crash):
            delete(store, "stays")
    store.close(in_order=False)
    assert contents(tmp_path) == {"kept": [b"kept"], "stays": [b"stays"]}
    assert folders(tmp_path) == ["kept", "stays"]


@pytest.mark.parametrize("call", ["rename", "replace"])
def test_a_failed_deletion_leaves_the_topic_readable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    store = store_with(tmp_path, "t")
    with monkeypatch.context() as patch:
        patch.setattr(os, call, failing(errno.EIO))
        with pytest.raises(RequestFailed) as caught:
            delete(store, "t")
    assert caught.value.code is ErrorCode.KAFKA_STORAGE_ERROR
    assert append(store.get("t").log(0), [b"more"]) == 1
    store.close()
    assert contents(tmp_path) == {"t": [b"t", b"more"]}


def test_a_deleted_topic_leaves_no_files(tmp_path: Path) -> None:
    store = store_with(tmp_path, "kept", "gone")
    store.create("never-written", 1, {})
    delete(store, "gone")
    delete(store, "never-written")
    assert folders(tmp_path) == ["kept"]
    append(store.create("gone", 1, {}).log(0), [b"again"])
    store.close()
    assert contents(tmp_path) == {"kept": [b"kept"], "gone": [b"again"]}


# -- damaged files ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("content", [b"", b"\0" * 50, b'{"topics": [{"name": "t"}]}', b'{"topics": 7}', b"[]"])
async def test_a_damaged_topic_list_is_rebuilt_from_the_logs(
    tmp_path: Path, content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    async with EmbeddedBroker(tmp_path) as broker, WireClient(broker) as client:
        topic_id = await create(client, "my-topic", 3)
        await client.call(produce_request("my-topic", make_batch([b"a"]), partition=1), 9)
    (tmp_path / "topics.json").write_bytes(content)
    async with EmbeddedBroker(tmp_path) as broker, WireClient(broker) as client:
        (topic,) = (await client.call(MetadataRequest(topics=None), 12)).topics
        assert (topic.name, topic.topic_id, len(topic.partitions)) == ("my-topic", topic_id, 2)
        found = (await client.call(fetch_request("my-topic", partitions=2), 11)).responses[0].partitions
        assert [values(one) for one in found] == [[], [b"a"]]
    assert str(tmp_path / "topics.json") in caplog.text
    assert (tmp_path / "topics.json.damaged-0").read_bytes() == content
    assert json.loads((tmp_path / "topics.json").read_bytes())["topics"][0]["name"] == "my-topic"


async def test_a_damaged_identity_does_not_repeat_producer_ids(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with EmbeddedBroker(tmp_path) as broker, WireClient(broker) as client:
        before = (await client.call(InitProducerIdRequest(transactional_id=None), 4)).producer_id
    (tmp_path / "meta.json").write_bytes(b"")
    async with EmbeddedBroker(tmp_path) as broker, WireClient(broker) as client:
        assert (await client.call(InitProducerIdRequest(transactional_id=None), 4)).producer_id > before + 1000
    assert str(tmp_path / "meta.json") in caplog.text


def test_a_damaged_entry_does_not_lose_other_commits(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    group = GroupCoordinatorHarness(tmp_path)
    for partition in range(4):
        group.commit("", -1, 10 + partition, partition=partition)
    path = tmp_path / "offsets.log"
    data = bytearray(path.read_bytes())
    data[20] ^= 1
    data[-3] ^= 1
    path.write_bytes(data)
    found = {key[1]: one.offset for key, one in group.reopened().groups[GROUP].offsets.items()}
    assert found == {1: 11, 2: 12}
    assert str(path) in caplog.text
    assert (tmp_path / "offsets.log.damaged-0").read_bytes() == bytes(data)
    group.commit("", -1, 99, partition=3)
    found = {key[1]: one.offset for key, one in group.reopened().groups[GROUP].offsets.items()}
    assert found == {1: 11, 2: 12, 3: 99}


def test_a_failed_sync_prevents_further_commits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    group = GroupCoordinatorHarness(tmp_path, fsync=True)
    group.commit("", -1, 1)
    monkeypatch.setattr(os, "fsync", failing(errno.EIO))
    with pytest.raises(OSError, match="Input/output"):
        group.commit("", -1, 2)
    monkeypatch.undo()
    with pytest.raises(OSError, match="has failed"):
        group.commit("", -1, 3)
    assert {one.offset for one in group.reopened().groups[GROUP].offsets.values()} == {1}


# -- power failures ---------------------------------------------------------------------------------------------------


async def written(client: WireClient, *texts: bytes) -> ProduceResponse:
    return await client.call(produce_request("t", make_batch(list(texts))), 9)


@pytest.mark.parametrize(
    ("fsync", "lose_unsynced", "kept"), [(True, True, True), (False, True, False), (False, False, True)]
)
async def test_restarts_lose_only_unsynced_data(tmp_path: Path, fsync: bool, lose_unsynced: bool, kept: bool) -> None:
    async with EmbeddedBroker(tmp_path, fsync=fsync) as broker:
        port = broker.port
        async with WireClient(broker) as client:
            await create(client, "t")
            await written(client, b"a", b"b")
        await broker.restart_async(lose_unsynced=lose_unsynced)
        assert broker.port == port
        async with WireClient(broker) as client:
            answer = fetched(await client.call(fetch_request("t"), 11))
            assert values(answer) == ([b"a", b"b"] if kept else [])
            assert produced(await written(client, b"c")).base_offset == (2 if kept else 0)


async def test_old_messages_without_timestamps_survive_retention(tmp_path: Path) -> None:
    builder = BatchBuilder(0, size_limit=1000)
    builder.append(-1, b"k", b"v", ())
    async with EmbeddedBroker(tmp_path) as broker, WireClient(broker) as client:
        await create(client, "t", retention_ms="60000")
        assert produced(await client.call(produce_request("t", builder.build()), 1)).error_code == 0
        parts = broker._running()._broker
        assert parts is not None
        for _ in parts.clean():
            pass
        assert values(fetched(await client.call(fetch_request("t"), 11))) == [b"v"]


async def test_retention_applies_to_unopened_logs(tmp_path: Path) -> None:
    async with EmbeddedBroker(tmp_path) as broker:
        async with WireClient(broker) as client:
            await create(client, "t", retention_ms="1000")
            await written(client, b"old")
        await broker.restart_async()
        parts = broker._running()._broker
        assert parts is not None
        for _ in parts.clean():
            pass
        async with WireClient(broker) as client:
            assert fetched(await client.call(fetch_request("t"), 11)).error_code == ErrorCode.OFFSET_OUT_OF_RANGE
            assert produced(await written(client, b"new")).base_offset == 1


async def test_offsets_that_cannot_be_stored_fail_and_can_be_retried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = OffsetCommitRequestPartition(partition_index=0, committed_offset=7)
    request = OffsetCommitRequest(
        group_id="g",
        generation_id_or_member_epoch=-1,
        topics=[OffsetCommitRequestTopic(name="t", partitions=[row])],
    )
    async with EmbeddedBroker(tmp_path) as broker, WireClient(broker) as client:
        await create(client, "t")
        codes = []
        for full in (False, True, False):
            with monkeypatch.context() as patch:
                if full:
                    patch.setattr(os, "pwrite", failing(errno.ENOSPC))
                codes.append((await client.call(request, 8)).topics[0].partitions[0].error_code)
        assert codes == [0, ErrorCode.NOT_COORDINATOR, 0]
