"""Share groups of the broker on virtual time: locks, limits, stored state, members, and configs."""

from __future__ import annotations

import random
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka.broker.broker_settings import BrokerSettings
from kafka.broker.error_codes import ErrorCode, RequestFailed
from kafka.broker.group_configs import GroupConfigs, duration_ms
from kafka.broker.log.batch_head import Marker
from kafka.broker.log.partition import PartitionLog
from kafka.broker.share.record_state import RecordState, Runs
from kafka.broker.share.share_coordinator import ShareCoordinator
from kafka.broker.share.share_group import ShareGroup, ShareMember
from kafka.broker.share.share_journal import ShareJournal
from kafka.broker.share.share_partition import Acknowledged, AcquireRequest, SharePartition
from kafka.broker.topic_store import Topic, TopicStore
from unit.broker.batches import append
from unit.broker.clock import VirtualClock

ACCEPT, RELEASE, REJECT, RENEW = [1], [2], [3], [4]
GROUP = "g"


class ShareCoordinatorHarness:
    """A coordinator on a folder; `restart` simulates a crash and a restart."""

    def __init__(self, folder: Path, **settings: object) -> None:
        self.clock = VirtualClock()
        self._folder = folder
        self._settings = BrokerSettings.from_names(settings)
        self.coordinator = self._open()
        self.topic = self.topics.create("t", 2, {})

    def _open(self) -> ShareCoordinator:
        self.topics = TopicStore(self._folder, self._settings, random.Random(1))
        self.configs = GroupConfigs(self._folder / "group-configs.json", self._settings)
        journal = ShareJournal(self._folder / "shares.log", False)
        return ShareCoordinator(
            self.clock, self._settings, self.configs, self.topics, journal, lambda name: name == "classic"
        )

    def restart(self) -> None:
        self.coordinator.close()
        self.topics.close(in_order=False)
        self.coordinator = self._open()
        self.topic = self.topics.get("t")

    def log(self) -> PartitionLog:
        return self.topic.log(0)

    def partition(self, group: str = GROUP) -> SharePartition:
        return self.coordinator.partition(group, self.topic.topic_id, 0)

    def acquire(
        self, member: str = "m", most: int = 500, strict: bool = False, size: int = 500
    ) -> list[tuple[int, int, int]]:
        return self.partition().acquire(AcquireRequest(member, most, size, strict), 1 << 20).ranges

    def acknowledge(self, *batches: tuple[int, int, list[int]], member: str = "m") -> None:
        self.partition().acknowledge(member, [Acknowledged(*one) for one in batches])

    def states(self) -> list[tuple[int, int, RecordState, int]]:
        return [(run.first, run.last, run.state, run.count) for run in self.partition().runs.rows]


@pytest.fixture
def shares(tmp_path: Path) -> Iterator[ShareCoordinatorHarness]:
    made = ShareCoordinatorHarness(tmp_path)
    made.configs.replace(GROUP, {"share.auto.offset.reset": "earliest"})
    yield made
    made.coordinator.close()
    made.topics.close()


def values(count: int) -> list[bytes]:
    return [b"%d" % number for number in range(count)]


# -- records ----------------------------------------------------------------------------------------------------------


def test_an_expired_lock_releases_its_record(shares: ShareCoordinatorHarness) -> None:
    append(shares.log(), values(3))
    assert shares.acquire() == [(0, 2, 1)]
    shares.clock.advance(20)
    shares.acknowledge((0, 0, RENEW), (1, 1, ACCEPT))
    shares.clock.advance(9.9)
    assert shares.acquire("other") == []
    shares.clock.advance(0.2)
    assert shares.acquire("other") == [(2, 2, 2)]
    shares.clock.advance(20)
    assert shares.acquire() == [(0, 0, 2)], "the renewed one, later"


def test_waiting_fetches_are_notified_of_expired_locks(shares: ShareCoordinatorHarness) -> None:
    append(shares.log(), values(1))
    heard: list[float] = []
    shares.coordinator.waiters[lambda: heard.append(shares.clock.time())] = None
    shares.acquire()
    shares.clock.advance(60)
    assert heard == [30.0]


def test_a_record_is_archived_after_the_last_delivery(shares: ShareCoordinatorHarness) -> None:
    append(shares.log(), values(1))
    for count in range(1, 6):
        assert shares.acquire() == [(0, 0, count)]
        shares.clock.advance(31)
    assert shares.acquire() == []
    assert shares.partition().runs.start == 1


def test_a_group_can_set_its_own_delivery_and_lock_limits(shares: ShareCoordinatorHarness) -> None:
    own = {"share.delivery.count.limit": "2", "share.record.lock.duration.ms": "15000"}
    shares.configs.replace(GROUP, {**shares.configs.of(GROUP), **own})
    append(shares.log(), values(1))
    for count in (1, 2):
        assert shares.acquire() == [(0, 0, count)]
        shares.clock.advance(15.1)
    assert shares.acquire() == []


def test_acknowledgements_are_all_or_nothing(shares: ShareCoordinatorHarness) -> None:
    append(shares.log(), values(4))
    shares.acquire()
    before = shares.states()
    with pytest.raises(RequestFailed) as failed:
        shares.acknowledge((0, 0, ACCEPT), (1, 2, ACCEPT), member="other")
    assert failed.value.code is ErrorCode.INVALID_RECORD_STATE
    assert shares.states() == before
    with pytest.raises(RequestFailed) as failed:
        shares.acknowledge((0, 1, ACCEPT), (2, 7, ACCEPT))
    assert failed.value.code is ErrorCode.INVALID_REQUEST
    assert shares.states() == before


def test_the_number_of_records_in_flight_is_limited(shares: ShareCoordinatorHarness) -> None:
    shares.configs.replace(GROUP, {**shares.configs.of(GROUP), "share.partition.max.record.locks": "100"})
    for _ in range(30):
        append(shares.log(), values(10))
    assert sum(last - first + 1 for first, last, _ in shares.acquire(most=1000)) == 100
    assert shares.acquire(most=1000) == []
    shares.acknowledge((0, 9, ACCEPT))
    assert shares.acquire(most=1000) == [(100, 109, 1)]


def test_deliveries_consist_of_whole_batches(shares: ShareCoordinatorHarness) -> None:
    for _ in range(6):
        append(shares.log(), values(4))
    assert shares.acquire(most=13, size=8) == [(0, 7, 1), (8, 15, 1)]
    assert shares.acquire(most=3, strict=True) == [(16, 18, 1)]


def test_records_in_the_middle_of_a_batch_come_with_the_whole_batch(shares: ShareCoordinatorHarness) -> None:
    append(shares.log(), values(10))
    shares.acquire()
    shares.acknowledge((0, 3, ACCEPT), (4, 4, RELEASE), (5, 9, ACCEPT))
    acquired = shares.partition().acquire(AcquireRequest("m", 1, 1, False), 1 << 20)
    assert acquired.ranges == [(4, 4, 2)]
    assert acquired.records == shares.log().read(0, 1 << 20)


def test_deleted_records_are_skipped(shares: ShareCoordinatorHarness) -> None:
    append(shares.log(), values(4))
    append(shares.log(), values(4))
    shares.acquire(most=1)
    shares.log().delete_before(6)
    assert shares.acquire() == [(6, 7, 1)]
    assert shares.partition().runs.start == 6


def test_read_committed_waits_for_transactions_and_skips_aborted_ones(shares: ShareCoordinatorHarness) -> None:
    shares.configs.replace(GROUP, {**shares.configs.of(GROUP), "share.isolation.level": "read_committed"})
    log = shares.log()
    append(log, values(2))
    append(log, values(2), producer=(7, 0, 0), transactional=True)
    append(log, values(1))
    assert shares.acquire() == [(0, 1, 1)]
    log.append_marker(7, 0, Marker(committed=False, coordinator_epoch=0), 0)
    assert shares.acquire() == [(4, 5, 1)], "a record and the marker"
    shares.acknowledge((0, 1, ACCEPT), (4, 5, ACCEPT))
    assert shares.partition().runs.start == 6


# -- the disk ---------------------------------------------------------------------------------------------------------


def test_acknowledgements_survive_a_crash(shares: ShareCoordinatorHarness) -> None:
    append(shares.log(), values(10))
    shares.acquire()
    shares.acknowledge((0, 1, ACCEPT), (3, 3, ACCEPT), (4, 4, RELEASE), (5, 5, REJECT))
    shares.acquire()
    shares.restart()
    assert shares.partition().runs.start == 2
    assert shares.acquire() == [(2, 2, 1), (4, 4, 2), (6, 9, 1)], "a lock is gone, and was not known to be delivered"


def test_a_restart_continues_even_with_reset_to_latest(shares: ShareCoordinatorHarness) -> None:
    append(shares.log(), values(2))
    shares.acquire()
    shares.configs.replace(GROUP, {})
    shares.restart()
    assert shares.acquire() == [(0, 1, 1)]


@pytest.mark.slow
def test_the_file_is_rewritten_when_most_of_it_is_out_of_date(shares: ShareCoordinatorHarness, tmp_path: Path) -> None:
    path = tmp_path / "shares.log"
    while path.stat().st_size < 1 << 20:
        append(shares.log(), values(50))
        for first, last, _ in shares.acquire():
            for offset in range(first, last, 2):
                shares.acknowledge((offset, offset, ACCEPT))
            shares.acknowledge(*((offset, offset, REJECT) for offset in range(first + 1, last + 1, 2)))
        shares.coordinator._journal.group("g2", 1)
    kept = shares.states()
    shares.coordinator.compact_if_worthwhile()
    assert path.stat().st_size < 100_000
    shares.restart()
    assert shares.states() == kept


def test_a_full_disk_changes_nothing(shares: ShareCoordinatorHarness, monkeypatch: pytest.MonkeyPatch) -> None:
    append(shares.log(), values(2))
    shares.acquire()
    before = shares.states()

    def full(*_: object) -> None:
        raise OSError(28, "no room")

    with monkeypatch.context() as patch:
        patch.setattr(shares.coordinator._journal._file, "append", full)
        with pytest.raises(OSError, match="no room"):
            shares.acknowledge((0, 1, ACCEPT))
    assert shares.states() == before
    shares.acknowledge((0, 1, ACCEPT))
    assert shares.partition().runs.start == 2


def test_stored_runs_are_restored() -> None:
    runs = Runs(5)
    runs.paint(8, 9, RecordState.ACKNOWLEDGED, 1)
    runs.paint(3, 6, RecordState.AVAILABLE, 2)
    runs.advance()
    found = [(run.first, run.last, run.state, run.count) for run in runs.rows]
    assert found == [(5, 6, 0, 2), (7, 7, 0, 0), (8, 9, 2, 1)]
    assert runs.kept() == [(5, 6, 0, 2), (8, 9, 2, 1)]


# -- start offsets ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reset", "found"),
    [("latest", 3), ("earliest", 0), ("by_duration:PT2S", 1), ("by_duration:PT1S", 2), ("by_duration:P1D", 0)],
)
def test_a_new_group_starts_according_to_its_config(shares: ShareCoordinatorHarness, reset: str, found: int) -> None:
    shares.configs.replace(GROUP, {"share.auto.offset.reset": reset})
    now = shares.clock.wall_ms()
    for age in (60_000, 2_000, 500):
        append(shares.log(), [b"v"], timestamp=now - age)
    assert shares.partition().runs.start == found


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("PT1H30M", 5400000),
        ("P2D", 172800000),
        ("PT0.5S", 500),
        ("P1DT1S", 86401000),
        ("PT", None),
        ("P", None),
        ("1H", None),
        ("PT-1S", None),
        ("pt1m", 60000),
    ],
)
def test_durations(text: str, ms: int | None) -> None:
    assert duration_ms(text) == ms


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("share.auto.offset.reset", "never"),
        ("share.auto.offset.reset", "by_duration:5"),
        ("share.record.lock.duration.ms", "100"),
        ("share.isolation.level", "some"),
        ("share.delivery.count.limit", "x"),
        ("share.unknown", "1"),
    ],
)
def test_invalid_configs_are_rejected(shares: ShareCoordinatorHarness, name: str, value: str) -> None:
    with pytest.raises(RequestFailed) as failed:
        shares.configs.check(name, value)
    assert failed.value.code is ErrorCode.INVALID_CONFIG


def test_configs_survive_a_restart(shares: ShareCoordinatorHarness) -> None:
    shares.restart()
    assert shares.configs.of(GROUP) == {"share.auto.offset.reset": "earliest"}


# -- members ----------------------------------------------------------------------------------------------------------


def member(name: str, *topics: str) -> ShareMember:
    made = ShareMember(name, "c", "/h")
    made.topics = frozenset(topics)
    return made


def join(shares: ShareCoordinatorHarness, name: str, *topics: str) -> ShareMember:
    found = shares.coordinator.join(GROUP, member(name, *(topics or ("t",))))
    shares.coordinator.settle(GROUP, found)
    return found


def test_an_expired_members_partitions_are_reassigned(shares: ShareCoordinatorHarness) -> None:
    one, two = join(shares, "a"), join(shares, "b")
    shares.coordinator.settle(GROUP, one)
    assert [sum(map(len, each.assignment.values())) for each in (one, two)] == [1, 1]
    for _ in range(5):
        shares.clock.advance(10)
        shares.coordinator.touch(GROUP, one)
    assert list(shares.coordinator.group(GROUP).members) == ["a"]
    assert sum(map(len, one.assignment.values())) == 2
    with pytest.raises(RequestFailed) as failed:
        shares.coordinator.member(GROUP, "b", 1)
    assert failed.value.code is ErrorCode.UNKNOWN_MEMBER_ID


def test_a_group_of_another_type_is_not_a_share_group(shares: ShareCoordinatorHarness) -> None:
    with pytest.raises(RequestFailed) as failed:
        shares.coordinator.join("classic", member("a", "t"))
    assert failed.value.code is ErrorCode.GROUP_ID_NOT_FOUND


def test_the_number_of_members_is_limited(tmp_path: Path) -> None:
    shares = ShareCoordinatorHarness(tmp_path, share_max_size=1)
    join(shares, "a")
    with pytest.raises(RequestFailed) as failed:
        join(shares, "b")
    assert failed.value.code is ErrorCode.GROUP_MAX_SIZE_REACHED
    shares.coordinator.close()


@pytest.mark.parametrize(("members", "partitions"), [(1, 4), (2, 5), (3, 3), (5, 2)])
def test_every_partition_and_every_member_is_assigned(members: int, partitions: int) -> None:
    group, topic_id = ShareGroup("g"), uuid.UUID(int=5)
    for number in range(members):
        group.members[str(number)] = member(str(number), "t")
    group.assign({"t": (topic_id, partitions)})
    given = [each.assignment[topic_id] for each in group.members.values()]
    assert {number for numbers in given for number in numbers} == set(range(partitions))
    assert max(map(len, given)) - min(map(len, given)) <= 1
    epoch = group.epoch
    group.assign({"t": (topic_id, partitions)})
    assert group.epoch == epoch, "nothing has changed"


def test_only_an_empty_group_can_be_deleted(shares: ShareCoordinatorHarness) -> None:
    append(shares.log(), values(1))
    one = join(shares, "a")
    shares.acquire()
    with pytest.raises(RequestFailed) as failed:
        shares.coordinator.delete_group(GROUP)
    assert failed.value.code is ErrorCode.NON_EMPTY_GROUP
    shares.coordinator.leave(GROUP, one)
    shares.coordinator.delete_group(GROUP)
    shares.restart()
    assert GROUP not in shares.coordinator.groups
    assert list(shares.coordinator.keys(GROUP)) == []


def test_a_deleted_topic_is_removed_from_groups(shares: ShareCoordinatorHarness) -> None:
    shares.partition()
    topic: Topic = shares.topic
    shares.coordinator.forget_topic(topic.topic_id)
    shares.restart()
    assert list(shares.coordinator.keys(GROUP)) == []
