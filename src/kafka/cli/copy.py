"""``kafka copy``: copies a topic to another one, on the same cluster or another, exactly once and resumably.

Each transaction on the target contains records and the position in the source, committed as offsets of the copy's own
group. An interrupted copy therefore resumes after the last record written. Copies with the same name fence each other.
"""

import datetime
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from kafka.cli.command_output import note
from kafka.cli.common_options import complete_group, complete_topic, connected
from kafka.cli.copy_clusters import partitions_to_copy, target_session
from kafka.cli.position_syntax import POSITION, Position
from kafka.cli.session import Session

if TYPE_CHECKING:
    from uuid import UUID

    from kafka.cli.consume.source import Source
    from kafka.cli.copied_groups import GroupTranslation
    from kafka.producer import KafkaProducer
    from kafka.record import Columns
    from kafka.structs import TopicPartition

_TRANSACTION_RECORDS = 20_000
_TRANSACTION_S = 2.0
_NO_OTHER = (
    ". If there is no other copy, this one was paused during a transaction for longer than transaction_timeout_ms, for "
    "instance on a suspended machine: start it again"
)
"""What else may have happened if it is not known that another copy runs: brokers answer with the same error."""
_NO_EFFECT = {
    "transactional_id": "use --name",
    "group_id": "use --name",
    "auto_offset_reset": "use --from",
    "isolation_level": "records of aborted transactions are not copied",
    "enable_auto_commit": "the copy keeps its own progress",
    "on_topic_recreated": "the copy ends there; --restart copies all of the new topic",
}
"""Settings that have no effect because the command sets them, each with an explanation or an alternative."""


@click.command(name="copy")
@click.argument("source", shell_complete=complete_topic)
@click.argument("target")
@click.option(
    "--to-bootstrap-servers", "--to-brokers", multiple=True, metavar="HOST:PORT", help="Brokers of the target cluster."
)
@click.option("--to-profile", metavar="NAME", help="Profile of the target cluster.")
@click.option(
    "--to-config", type=click.Path(exists=True, dir_okay=False), help="Properties file of the target cluster."
)
@click.option(
    "--to-extra-config", multiple=True, metavar="NAME=VALUE", help="Client option for the target cluster; repeatable."
)
@click.option("--from", "start", type=POSITION, help="Position at which a new copy starts. [default: earliest]")
@click.option("--to", "end", type=POSITION, help="Position to stop at. [default: the current end]")
@click.option("-F", "--follow", is_flag=True, help="Keep copying new records.")
@click.option(
    "--name",
    metavar="TEXT",
    help="Name under which progress is stored. [default: derived from the cluster and the topics]",
)
@click.option(
    "--groups",
    "with_groups",
    is_flag=True,
    help="Also translate the committed offsets of all groups on the source to the target.",
)
@click.option(
    "--group",
    "groups",
    multiple=True,
    metavar="GROUP",
    help="Translate only the offsets of this group; repeatable.",
    shell_complete=complete_group,
)
@click.option(
    "--keep-offsets",
    is_flag=True,
    help="Give each record its offset of the source. Requires an empty target, and a source without gaps.",
)
@click.option("--restart", is_flag=True, help="Start again at --from, even if the copy was started before.")
@click.option("--dry-run", is_flag=True, help="Show what would be copied.")
@connected
def command(
    session: Session,
    source: str,
    target: str,
    start: Position | None,
    end: Position | None,
    follow: bool,
    name: str | None,
    with_groups: bool,
    groups: tuple[str, ...],
    keep_offsets: bool,
    restart: bool,
    dry_run: bool,
    **where: Any,
) -> None:
    """Copy a topic: partitions, order, keys, headers and timestamps are preserved.

    A missing target is created with the same number of partitions. Without --to-... options, it is on the same cluster.

    --groups lets consumer groups continue on the target: each gets the offset of the first record that it has not
    committed on the source. With --follow, this is repeated every ten seconds, and once more when the copy is stopped.
    """
    from kafka.coordinator.offset_arguments import check_topic_name

    if target:
        check_topic_name(target)
    if follow and end is not None:
        raise click.UsageError("--follow never ends: leave out --to or --follow")
    if keep_offsets and (start is not None or restart or name or dry_run):
        raise click.UsageError(
            "--keep-offsets cannot be used with --from, --restart, --name or --dry-run: it continues at the end of the "
            "target"
        )
    to = target_session(session, where)
    for each in (session, to):
        each.refuse_settings(_NO_EFFECT)
    if not source or not target:
        raise click.UsageError("expected the names of two topics, got an empty one")
    if to is session and source == target:
        raise click.UsageError(
            "a topic cannot be copied to itself: name another topic, or another cluster with --to-bootstrap-servers"
        )
    with session.admin() as admin, to.admin() as other:
        if not name:  # topic names contain no colon
            name = f"kafka-copy.{admin.describe_cluster()['cluster_id']}.{source}:{target}"
        partitions = partitions_to_copy(admin, other, source, target, create=not dry_run)
        topic_id = admin.describe_topics([source])[0]["topic_id"]
    copy = _Copy(session, to, _Topic(source, topic_id or ""), target, name)
    if with_groups or groups:
        from kafka.cli.copied_groups import GroupTranslation

        copy.groups = GroupTranslation(copy.sides, name, groups, keeps_offsets=keep_offsets)
    bounds = _Bounds(partitions, start, end, follow, restart)
    if dry_run:
        copy.open(bounds).close()
        session.output.table(copy.plan(), ["topic", "partition", "from", "to", "offsets"])
        return
    began = time.monotonic()
    try:
        copy.run_equal(bounds) if keep_offsets else copy.run(bounds)
    except (KeyboardInterrupt, SystemExit):  # SIGTERM raises SystemExit
        copy.stop()
        raise
    finally:
        seconds = max(time.monotonic() - began, 1e-6)
        told = {"source": source, "target": target, "records": copy.records, "seconds": round(seconds, 3), "name": name}
        rows = [] if copy.groups is None else copy.groups.rows
        if session.output.as_json:
            session.output.data(told if copy.groups is None else {**told, "groups": rows})
        else:
            note(f"{copy.records:,} records copied in {seconds:.1f} s")
            if copy.groups is not None:
                session.output.table(rows, ["group", "topic", "partition", "source", "offset", "error"])
    if any(row["error"] for row in rows):
        raise click.ClickException(_explained(rows))
    if missing := set(groups) - {row["group"] for row in rows}:
        names = ", ".join(sorted(missing))
        raise click.ClickException(f"nothing was translated for {names}: check the names with 'kafka groups list'")


def _is_fenced(error: BaseException | None) -> bool:
    """Return whether an error, or its cause, says that another producer has the transactional id."""
    from kafka.errors import InvalidProducerEpochError, ProducerFencedError

    while error is not None:
        if isinstance(error, ProducerFencedError | InvalidProducerEpochError):
            return True
        error = error.__cause__ or error.__context__
    return False


def _explained(rows: list[dict[str, Any]]) -> str:
    """Say why offsets of groups were not translated."""
    failed = [row for row in rows if row["error"]]
    groups = ", ".join(dict.fromkeys(row["group"] for row in failed))
    if any(row["error"] == "RecordsDiffer" for row in failed):
        return (
            f"offsets of {groups} were not translated: the last records of the target are not those of the source, "
            "because others have written to it, or because of compaction"
        )
    return f"offsets of {groups} were not translated ({failed[0]['error']}): a group must have no members on the target"


class _Topic(NamedTuple):
    """The source topic's name and id; a recreated topic has another id. The id is "" if brokers have no topic ids."""

    name: str
    id: str


class _Bounds(NamedTuple):
    """The partitions to copy, and the range of records; see the command's options."""

    partitions: list[int]
    start: Position | None
    end: Position | None
    follow: bool
    restart: bool


class _Copy:
    """One run of a copy.

    Attributes:
        records: number of records copied in committed transactions.
        sides: the source and the target.
        groups: translates the offsets of groups; None: no groups.
    """

    def __init__(self, session: Session, to: Session, source: _Topic, target: str, name: str) -> None:
        from kafka.cli.copied_groups import Sides

        self._session = session
        self._to = to
        self._source = source
        self._target = target
        self._name = name
        self._ranges: Mapping[Any, Any] = {}
        self._offsets: dict[Any, Any] = {}
        self._follow = False
        self._target_id: UUID | None = None
        self._progress: dict[int, int] = {}
        self.records = 0
        self.sides = Sides(session, to, source.name, target)
        self.groups: GroupTranslation | None = None

    def open(self, bounds: _Bounds) -> "Source":
        """Find the start and end positions."""
        from kafka.cli.consume.source import Following, Snapshot, open_read
        from kafka.structs import OffsetAndMetadata, TopicPartition

        every = [TopicPartition(self._source.name, number) for number in bounds.partitions]
        begin: Any = {} if bounds.restart else self._done(every)
        self._session.settings["isolation_level"] = "read_committed"
        if len(begin) < len(every):
            with open_read(self._session, every, "earliest" if bounds.start is None else bounds.start) as first:
                begin = {**{tp: each.start for tp, each in first.ranges.items()}, **begin}
        ends: dict[str, Any] = {} if bounds.end is None else {"end": bounds.end}
        read = open_read(self._session, every, begin, **ends)
        self._ranges = dict(read.ranges)
        self._follow = bounds.follow
        for tp, each in self._ranges.items():  # committing these replaces the progress of earlier copies
            self._offsets[TopicPartition(self._target, tp.partition)] = OffsetAndMetadata(
                each.start, self._source.id, None
            )
        return Following(self._session, read, None, on_topic_recreated="raise") if bounds.follow else Snapshot(read)

    def _done(self, every: "list[TopicPartition]") -> "dict[TopicPartition, int]":
        """Return the progress of an earlier copy. Raises `click.ClickException` if it copied another topic."""
        from kafka.cli.copied_groups import copy_progress
        from kafka.cli.topic_ranges import offsets_at

        with self._to.admin() as other:
            found = copy_progress(other, self._name, self._target)
        done = {tp: found[tp.partition] for tp in every if tp.partition in found}
        if not done:
            return {}
        with self._session.admin() as admin:
            first, ends = offsets_at(admin, done, "earliest"), offsets_at(admin, done, "latest")
        for tp, each in done.items():
            for offset in (first[tp], ends[tp]):
                if isinstance(offset, Exception):
                    raise offset
            if each.offset > ends[tp] or (each.metadata and self._source.id not in ("", each.metadata)):
                raise click.ClickException(
                    f"a copy reached offset {each.offset} of {tp.topic}:{tp.partition}, but the topic was recreated "
                    f"or has lost records since: its offsets are now {first[tp]} to {ends[tp]}. --restart copies all "
                    "of it"
                )
            if each.offset < first[tp]:
                note(
                    f"{tp.topic}:{tp.partition}: offsets {each.offset} to {first[tp]} were deleted before they were "
                    "copied"
                )
        return {tp: each.offset for tp, each in done.items()}

    def plan(self) -> list[dict[str, Any]]:
        """Return the ranges to copy, with one row per partition."""
        return [
            {
                "topic": tp.topic,
                "partition": tp.partition,
                "from": each.start,
                "to": each.end,
                "offsets": each.end - each.start,
            }
            for tp, each in self._ranges.items()
        ]

    def run(self, bounds: _Bounds) -> None:
        """Copy until the source ends. If interrupted, abort the current transaction."""
        from kafka.cli.consume.source import closing
        from kafka.errors import KafkaError, TopicRecreatedError

        with self._to.producer(transactional_id=self._name) as producer:
            producer.init_transactions()  # fences other copies with this name, so that their progress is final
            with closing(self.open(bounds)) as reading:
                reading.on_pause = self._follow_groups
                try:
                    producer.begin_transaction()
                    self._commit(producer, 0)  # lets the next run know where this one began, even if it copies nothing
                    self._copy(reading, producer)
                except TopicRecreatedError:
                    raise click.ClickException(
                        f"{self._source.name} was deleted and recreated during the copy: start the copy again with "
                        "--restart, which copies all of the new topic"
                    ) from None
                except KafkaError as error:
                    if not _is_fenced(error):
                        raise
                    raise click.ClickException(self._replaced()) from error
        if self.groups is not None:
            self.groups.update(self._progress)

    def stop(self) -> None:
        """After an interruption, translate the offsets of groups as far as the copy has come, and say what remains."""
        from kafka.cli.copied_groups import offset_range
        from kafka.errors import KafkaError, error_text

        if not self._progress:
            return
        try:
            _, ends = offset_range(self._session, self._source.name, self._progress)
            remaining = sum(max(0, ends[number] - each) for number, each in self._progress.items())
            note(
                f"stopped: up to {remaining:,} records remain; the same command continues there"
                if remaining
                else "stopped: no record remains"
            )
            if self._follow and self.groups is not None:
                note("translating the offsets of groups; Ctrl-C skips this")
                self.groups.update(self._progress)
                if failed := [row for row in self.groups.rows if row["error"]]:
                    note(_explained(failed))
        except KafkaError as error:
            note(f"stopped without a last look at the clusters: {error_text(error)}")

    def _replaced(self) -> str:
        """Return the message after another copy with the same name has started."""
        since = self._since()
        return (
            f"another copy with the same name (transactional id {self._name}) has {'' if since else 'probably '}started"
            f"{since}, and has replaced this one. No record is lost or copied twice: the other copy continues after "
            "the last transaction of this one. Let it run, or stop it and start this copy again. A copy of other "
            f"topics, or to another target, needs another --name{'' if since else _NO_OTHER}"
        )

    def _since(self) -> str:
        """Return when the other copy began its current transaction; "" if it is not known."""
        from kafka.errors import KafkaError

        try:
            with self._to.admin() as other:
                began_ms = other.describe_transactions([self._name])[self._name].transaction_start_time_ms
        except (KafkaError, KeyError):
            return ""
        if began_ms < 0:
            return ""
        began = datetime.datetime.fromtimestamp(began_ms / 1000).astimezone()
        return f" (its current transaction began at {began.isoformat(' ', 'seconds')})"

    def run_equal(self, bounds: _Bounds) -> None:
        """Copy so that offsets are equal, until the source ends; see `equal_offsets`."""
        from kafka.cli.consume.source import closing
        from kafka.cli.equal_offsets import EqualOffsets, open_equal

        self._follow = bounds.follow
        equal = EqualOffsets(self.sides, bounds.partitions)
        with self._to.producer(acks="all", enable_idempotence=True) as producer, self._to.admin() as admin:
            equal.fill(producer, admin)
            self._progress = dict(equal.next)
            with closing(open_equal(self.sides, equal.next, bounds.end, bounds.follow)) as reading:
                reading.on_pause = self._follow_groups
                for columns in reading.columns():
                    equal.check(columns)
                    self.records += self._send(producer, columns)
                    producer.flush()
                    equal.confirm()
                    self._progress = dict(equal.next)
                    self._follow_groups()
        if self.groups is not None:
            self.groups.update(self._progress)

    def _follow_groups(self) -> None:
        """Translate the offsets of groups from time to time while the copy follows its source."""
        if self._follow and self.groups is not None:
            self.groups.update_if_due(self._progress)

    def _copy(self, reading: "Source", producer: "KafkaProducer") -> None:
        waiting, began = 0, time.monotonic()
        for columns in reading.columns():
            if not waiting:
                producer.begin_transaction()
                began = time.monotonic()
            waiting += self._send(producer, columns)
            if self._follow or waiting >= _TRANSACTION_RECORDS or time.monotonic() - began >= _TRANSACTION_S:
                self._commit(producer, waiting)
                waiting = 0
                self._follow_groups()
        if waiting:
            self._commit(producer, waiting)

    def _send(self, producer: "KafkaProducer", columns: "Columns") -> int:
        from kafka.structs import OffsetAndMetadata, TopicPartition

        for index, record in enumerate(columns.to_records()):
            if record.key is None and record.value is None:  # send() rejects these, but other clients write them
                producer.send_arrow(self._target, columns.to_arrow().slice(index))
                break
            timestamp = record.timestamp if record.timestamp is not None and record.timestamp >= 0 else None
            producer.send(self._target, record.value, record.key, record.headers, record.partition, timestamp)
        at = TopicPartition(self._target, columns.partition)
        self._offsets[at] = OffsetAndMetadata(columns.next_offset, self._source.id, None)
        return len(columns)

    def _commit(self, producer: "KafkaProducer", count: int) -> None:
        producer.flush()
        self._check_target(producer)
        producer.send_offsets_to_transaction(self._offsets, self._name)
        producer.commit_transaction()
        self._progress |= {tp.partition: each.offset for tp, each in self._offsets.items()}
        self._offsets = {}
        self.records += count

    def _check_target(self, producer: "KafkaProducer") -> None:
        """Raise `click.ClickException` if the target was recreated and lacks records that were copied before."""
        topic_id = producer._core.cluster.metadata.topic_id(self._target)
        if self._target_id is None:
            self._target_id = topic_id
        elif topic_id not in (None, self._target_id):
            raise click.ClickException(
                f"{self._target} was deleted and recreated and has lost the records copied before: start the copy "
                "again, which copies everything"
            )
