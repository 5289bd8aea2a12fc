"""``kafka copy --groups``: translates the committed offsets of groups on a source topic to its copy.

Offsets of a copy differ from those of its source, so each committed offset is translated by counting: a group that has
n records of the source ahead of it, up to the copy's progress, gets the offset that has n records ahead of it in the
target. The records on both sides are compared, so that another writer or compaction cannot lead to a wrong offset.
Each translation reads as many records as the group has ahead of it, on both sides.

The counts are right only for a progress that covers exactly the records below the target's end. A commit that Ctrl-C
interrupts, or another copy that has replaced this one, may have added records that this copy does not know of. So the
progress is read from the target, where it is committed together with the records; see `_reached`.

The start offsets of share groups are translated in the same way. Groups of Kafka Streams are not translated: their
state is in changelog topics, which belong to the offsets of the source.
"""

import functools
import time
from array import array
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from kafka.admin import IsolationLevel, OffsetSpec
from kafka.cli.command_output import note
from kafka.cli.consume.source import Snapshot, closing, open_read
from kafka.cli.session import Session
from kafka.config.option import nearest
from kafka.errors import IllegalStateError, KafkaError, KafkaTimeoutError, error_text
from kafka.spark.exactly_once.decision import is_decision
from kafka.structs import OffsetAndMetadata, TopicPartition

if TYPE_CHECKING:
    from kafka.admin import KafkaAdminClient

_SLACK = 100
"""Offsets of transaction markers to expect among the last records of the target, at first."""
_TYPES = ("classic", "consumer", "")
_SHARE = "share"
_INTERVAL_S = 10.0
"""Seconds between translations while a copy follows its source."""
_SHARE_OF_TIME = 0.1
"""Maximum share of the time that translations take, because they read the lag of the groups."""
_ATTEMPTS = 5
"""Maximum number of times that the target's end is read while another copy changes it."""
_OPEN_S = 30.0
"""Maximum time to wait for the end of open transactions on the target."""
_PAUSE_S = 0.05


class Committed(NamedTuple):
    """The offsets of a group on the source, by partition.

    Arguments:
        offsets: committed offsets, or the start offsets of a share group.
        share: whether it is a share group.
    """

    offsets: dict[int, OffsetAndMetadata]
    share: bool


class Sides(NamedTuple):
    """The source and the target of a copy, with their sessions."""

    session: Session
    to: Session
    source: str
    target: str


class Reached(NamedTuple):
    """How far a copy has come, by partition.

    Arguments:
        progress: the next offset of the source to copy.
        starts: first offsets of the target.
        ends: offsets of the target after the records up to this progress.
    """

    progress: dict[int, int]
    starts: dict[int, int]
    ends: dict[int, int]


class Tail:
    """The records of one partition in a range of offsets: their offsets, and hashes of their content."""

    def __init__(self) -> None:
        self.offsets = array("q")
        self.hashes = array("q")

    def __len__(self) -> int:
        return len(self.offsets)


class GroupTranslation:
    """Translates the offsets of groups, as these groups and the copy advance.

    A group that has members on the target is not changed, and no group is moved back.

    Arguments:
        sides: the source and the target.
        own: the group of the copy, which is not translated.
        names: the groups to translate; empty: all groups that have offsets on the source topic.
        keeps_offsets: whether records have the same offsets on both sides, and the copy uses no transactions.

    Attributes:
        rows: the offsets after the last translation, one row for each group and partition.
    """

    def __init__(self, sides: Sides, own: str, names: Sequence[str] = (), *, keeps_offsets: bool = False) -> None:
        self._sides = sides
        self._own = own
        self._names = names
        self._keeps_offsets = keeps_offsets
        self._state: tuple[dict[str, Committed], dict[int, int]] | None = None
        self._due = 0.0
        self._notes: set[str] = set()
        self.rows: list[dict[str, Any]] = []

    def update(self, progress: Mapping[int, int]) -> None:
        """Translate the committed offsets, and commit them on the target.

        This does nothing more if neither the offsets nor the progress have changed since all were translated.

        Arguments:
            progress: the next offset of the source to copy, by partition.
        """
        with self._sides.session.admin() as admin:
            state = self._committed(admin), dict(progress)
        if state != self._state:
            reached = _equal if self._keeps_offsets else functools.partial(_reached, own=self._own)
            self.rows = _translate(self._sides, state[0], reached(self._sides, progress)) if state[0] else []
            self._state = None if any(row["error"] for row in self.rows) else state

    def update_if_due(self, progress: Mapping[int, int]) -> None:
        """Translate if the last time is long enough ago. If that fails, report it, and try again later."""
        began = time.monotonic()
        if began < self._due:
            return
        try:
            self.update(progress)
        except KafkaError as error:
            note(f"could not translate the offsets of groups, and will try again: {error_text(error)}")
        now = time.monotonic()
        self._due = now + max(_INTERVAL_S, (now - began) / _SHARE_OF_TIME)

    def _committed(self, admin: "KafkaAdminClient") -> dict[str, Committed]:
        """Return the offsets of groups on the source, by group."""
        topic = self._sides.source
        types = {each["group_id"]: str(each.get("group_type") or "").lower() for each in admin.list_groups()}
        found: dict[str, Committed] = {}
        for group in self._names or sorted(types):
            if group == self._own:
                continue
            share = types.get(group) == _SHARE
            if not share and types.get(group, "") not in _TYPES:
                self._note_once(f"{group}: a {types[group]} group is not translated")
                continue
            offsets = _start_offsets(admin, topic, group) if share else _group_offsets(admin, topic, group)
            if offsets:
                found[group] = Committed(offsets, share)
            elif group in self._names:
                hint = "" if group in types else nearest(group, types)
                self._note_once(f"{group}: no {'start' if share else 'committed'} offsets on {topic}{hint}")
        return found

    def _note_once(self, text: str) -> None:
        if text not in self._notes:
            self._notes.add(text)
            note(text)


def _translate(sides: Sides, committed: Mapping[str, Committed], reached: Reached) -> list[dict[str, Any]]:
    """Commit the translated offsets of groups on the target, and return a row for each group and partition."""
    progress, starts, ends = reached
    firsts, _ = offset_range(sides.session, sides.source, progress)
    wanted = {
        number: min(each.offsets[number].offset for each in committed.values() if number in each.offsets)
        for number in {number for each in committed.values() for number in each.offsets}
        if number in progress
    }
    tails = {
        number: _tails(
            sides, number, max(wanted[number], firsts[number]), progress[number], starts[number], ends[number]
        )
        for number in wanted
    }
    rows = []
    with sides.to.admin() as admin:
        for group, found in committed.items():
            moved = {
                number: translated(each.offset, *tails[number], starts[number], ends[number])
                for number, each in found.offsets.items()
                if number in tails
            }
            rows += _commit(admin, sides.target, group, found, moved)
    return rows


def _reached(sides: Sides, progress: Mapping[int, int], *, own: str) -> Reached:
    """Return a progress of the copy with the offsets of the target that belong to it.

    Transactions commit records and progress together. So if all records below the end of the target are decided, and
    the progress is then still the one that was known before, it covers these records and no others.

    Arguments:
        progress: the progress that is known.
        own: the group of the copy.

    Raises `KafkaTimeoutError` if a transaction remains open, and `IllegalStateError` while another copy makes progress.
    """
    known = dict(progress)
    for _ in range(_ATTEMPTS):
        starts, ends = offset_range(sides.to, sides.target, known)
        with sides.to.admin() as admin:
            _await_decisions(admin, sides.target, ends)
            found = copy_progress(admin, own, sides.target)
        stored = {number: found[number].offset if number in found else offset for number, offset in known.items()}
        if stored == known:
            return Reached(known, starts, ends)
        known = stored
    raise IllegalStateError(f"another copy with the name {own} is writing to {sides.target}")


def _await_decisions(admin: "KafkaAdminClient", target: str, ends: Mapping[int, int]) -> None:
    """Wait until no transaction is open below these offsets. Raises `KafkaTimeoutError`."""
    wanted = {TopicPartition(target, number): OffsetSpec.LATEST for number in ends}
    deadline = time.monotonic() + _OPEN_S
    while wanted:
        stable = admin.list_partition_offsets(wanted, isolation_level=IsolationLevel.READ_COMMITTED)
        wanted = {tp: spec for tp, spec in wanted.items() if stable[tp].offset < ends[tp.partition]}
        if wanted and time.monotonic() >= deadline:
            names = ", ".join(f"{tp.topic}:{tp.partition}" for tp in sorted(wanted))
            raise KafkaTimeoutError(f"a transaction on {names} has been open for {_OPEN_S:g} s")
        if wanted:
            time.sleep(_PAUSE_S)


def _equal(sides: Sides, progress: Mapping[int, int]) -> Reached:
    """Return the same for a copy with equal offsets. Records that it has not confirmed yet are left out."""
    starts, ends = offset_range(sides.to, sides.target, progress)
    return Reached(dict(progress), starts, {number: min(ends[number], each) for number, each in progress.items()})


def copy_progress(admin: "KafkaAdminClient", name: str, target: str) -> dict[int, OffsetAndMetadata]:
    """Return the source offsets that a copy has reached, by partition, with the source's topic id as metadata.

    Arguments:
        admin: an admin client for the cluster of the target.
        name: the group of the copy.
        target: the target of the copy.
    """
    from kafka.errors import GroupIdNotFoundError

    try:
        committed = admin.list_group_offsets([name], require_stable=True)[name]
    except GroupIdNotFoundError:
        return {}
    return {tp.partition: each for tp, each in committed.items() if tp.topic == target and each.offset >= 0}


def translated(offset: int, source: Tail, target: Tail, start: int, end: int) -> int | None:
    """Translate a committed offset of the source to one of the target; None if the records do not agree.

    Arguments:
        offset: the next offset of the source that the group reads.
        source: the records of the source that were copied, from this offset or an earlier one on.
        target: the last records of the target.
        start: first offset of the target.
        end: end offset of the target.
    """
    ahead = sum(1 for each in source.offsets if each >= offset)
    if not ahead:
        return end
    paired = min(ahead, len(target))  # the target may begin later, for example with --from
    if paired == 0:
        return start
    if source.hashes[-paired:] != target.hashes[-paired:]:
        return None
    return start if paired < ahead else target.offsets[-paired]


def _group_offsets(admin: "KafkaAdminClient", topic: str, group: str) -> dict[int, OffsetAndMetadata]:
    return {
        tp.partition: each
        for tp, each in admin.list_group_offsets([group])[group].items()
        if tp.topic == topic and each.offset >= 0 and not is_decision(group, each.metadata)
    }


def _start_offsets(admin: "KafkaAdminClient", topic: str, group: str) -> dict[int, OffsetAndMetadata]:
    """Return the start offsets of a share group, without those that are still undecided (-1)."""
    return {
        tp.partition: OffsetAndMetadata(each.start_offset, "", None)
        for tp, each in admin.list_share_group_offsets([group])[group].items()
        if tp.topic == topic and each.start_offset >= 0
    }


def offset_range(session: Session, topic: str, numbers: Mapping[int, int]) -> tuple[dict[int, int], dict[int, int]]:
    """Return the first and the end offsets of partitions."""
    from kafka.cli.topic_ranges import offsets_at

    partitions = [TopicPartition(topic, number) for number in numbers]
    with session.admin() as admin:
        found = [offsets_at(admin, partitions, edge) for edge in ("earliest", "latest")]
    for each in (*found[0].values(), *found[1].values()):
        if isinstance(each, Exception):
            raise each
    first, last = ({tp.partition: offset for tp, offset in each.items()} for each in found)
    return first, last


def _tails(sides: Sides, number: int, offset: int, progress: int, start: int, end: int) -> tuple[Tail, Tail]:
    """Read the copied records of the source from an offset on, and as many of the target, back from its end."""
    source = read_tail(sides.session, TopicPartition(sides.source, number), offset, progress)
    begin = end
    target = Tail()
    ahead = len(source)
    reach = ahead + _SLACK
    while len(target) < ahead and begin > start:
        begin = max(start, end - reach)
        target = read_tail(sides.to, TopicPartition(sides.target, number), begin, end)
        reach *= 2
    return source, target


def read_tail(session: Session, tp: TopicPartition, begin: int, end: int) -> Tail:
    """Read the committed records of a partition in a range of offsets."""
    tail = Tail()
    if begin >= end:
        return tail
    session.settings["isolation_level"] = "read_committed"
    with closing(Snapshot(open_read(session, [tp], begin, end=end))) as reading:
        for columns in reading.columns():
            for row, offset in enumerate(columns.offsets):
                tail.offsets.append(offset)
                tail.hashes.append(hash((columns.key(row), columns.value(row), tuple(columns.headers(row)))))
    return tail


def _commit(
    admin: "KafkaAdminClient", target: str, group: str, found: Committed, moved: Mapping[int, int | None]
) -> list[dict[str, Any]]:
    """Set the new offsets of a group that are ahead of its present ones; return a row for each partition."""
    present = _present(admin, target, group, found.share)
    ahead = {
        TopicPartition(target, number): OffsetAndMetadata(offset, found.offsets[number].metadata, None)
        for number, offset in moved.items()
        if offset is not None and offset > present.get(number, -1)
    }
    result: Mapping[TopicPartition, Any] = {}
    if not found.share:
        result = admin.alter_group_offsets(group, ahead)
    elif ahead:
        result = _set_start_offsets(admin, group, {tp: each.offset for tp, each in ahead.items()})
    rows = []
    for number, offset in sorted(moved.items()):
        error = result.get(TopicPartition(target, number))
        rows.append(
            {
                "group": group,
                "topic": target,
                "partition": number,
                "source": found.offsets[number].offset,
                "offset": offset if offset is None else max(offset, present.get(number, -1)),
                "error": "RecordsDiffer" if offset is None else error.__name__ if error and error.errno else None,
            }
        )
    return rows


def _present(admin: "KafkaAdminClient", target: str, group: str, share: bool) -> dict[int, int]:
    """Return the offsets that a group has on the target; {} if there is no such group."""
    from kafka.errors import GroupIdNotFoundError

    try:
        found = _start_offsets(admin, target, group) if share else _group_offsets(admin, target, group)
    except GroupIdNotFoundError:
        return {}
    return {number: each.offset for number, each in found.items()}


def _set_start_offsets(
    admin: "KafkaAdminClient", group: str, offsets: Mapping[TopicPartition, int]
) -> Mapping[TopicPartition, Any]:
    """Set the start offsets of a share group; a group that has members gets the same error for each partition."""
    from kafka.errors import NonEmptyGroupError

    try:
        return admin.alter_share_group_offsets(group, offsets)
    except NonEmptyGroupError as error:
        return dict.fromkeys(offsets, type(error))
