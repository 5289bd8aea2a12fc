"""Changes the committed offsets of groups."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from kafka.cli.common_options import confirm, connected, dry_run_option, group_option, one, without_effect, yes_option
from kafka.cli.position_syntax import POSITION, Position, parse_duration, parse_position
from kafka.cli.session import Session

if TYPE_CHECKING:
    from kafka.admin import KafkaAdminClient
    from kafka.structs import TopicPartition


def _to(name: str) -> Any:
    """Return the callback for an option of kafka-python's or Kafka's command line that sets the new position."""

    def convert(context: click.Context, parameter: click.Parameter, value: Any) -> Any:
        if value is None or value is False:
            return None
        try:
            if name == "edge":
                return str(parameter.name).removeprefix("to_")
            if name == "duration":
                if (found := parse_duration(value)) is None:
                    raise ValueError(f"expected a duration such as PT1H, 15m or 2h, got {value!r}")
                return found
            if name == "spec" and value.isdecimal():
                return parse_position(f"@{value}")
            return parse_position(value)
        except (ValueError, OverflowError, OSError) as error:
            raise click.BadParameter(str(error)) from None

    return convert


_NO_PARTITION = "UnknownTopicOrPartitionError"
_OF_MEMBERS = frozenset({"UnknownMemberIdError", "NonEmptyGroupError", "RebalanceInProgressError"})
"""Errors that brokers return for groups with members."""
_OTHERS = ("to_earliest", "to_latest", "to_offset", "to_datetime", "by_duration", "spec")


@click.command()
@group_option
@click.option("--to", type=POSITION, help="New position: an offset, earliest, latest, a time, or how long ago.")
@click.option(
    "--shift",
    "--shift-by",
    type=int,
    metavar="N",
    help="Move by N records from the committed offset; a negative N moves back.",
)
@click.option("--to-current", is_flag=True, help="Keep the committed offset, but move it into the log's range.")
@click.option("--to-earliest", is_flag=True, callback=_to("edge"), hidden=True)
@click.option("--to-latest", is_flag=True, callback=_to("edge"), hidden=True)
@click.option("--to-offset", callback=_to("offset"), hidden=True)
@click.option("--to-datetime", callback=_to("datetime"), hidden=True)
@click.option("--by-duration", callback=_to("duration"), hidden=True)
@click.option("-s", "--spec", callback=_to("spec"), hidden=True)
@click.option(
    "-t",
    "--topic",
    "-p",
    "--partition",
    "scope",
    multiple=True,
    metavar="TOPIC[:PARTITION]",
    help="Move only this topic or partition; repeatable. [default: all committed]",
)
@click.option("--execute", is_flag=True, hidden=True, help="Accepted for compatibility with Kafka's script; always on.")
@yes_option
@dry_run_option
@connected
def reset(
    session: Session,
    groups: list[str],
    to: Position | None,
    shift: int | None,
    to_current: bool,
    scope: tuple[str, ...],
    execute: bool,
    yes: bool,
    dry_run: bool,
    **others: Position | None,
) -> None:
    """Reset the offsets of a group that has no members. --dry-run shows the new offsets."""
    from kafka.admin import OffsetShift
    from kafka.cli.topic_ranges import partitions_of, place

    group = one("group", groups)
    targets: list[Any] = [OffsetShift(shift)] if shift is not None else []
    targets += [OffsetShift(0)] if to_current else []
    targets += [place(each) for each in (to, *(others[name] for name in _OTHERS)) if each is not None]
    if len(targets) != 1:
        raise click.UsageError(
            "expected --to, --shift or --to-current as the new position of the group, got "
            f"{'none of them' if not targets else 'more than one of them'}"
        )
    with session.admin() as admin:
        wanted = partitions_of(admin, scope)
        moves = _Moves(admin, group, targets[0], wanted)
        planned = moves.make(dry_run=True)
        possible = [row for row in planned if row["error"] is None]
        if possible and not moves.exists:
            click.echo(f"group {group} did not exist; it is created with these offsets{moves.hint}", err=True)
        if possible and not dry_run:
            if any(row["committed"] != row["new"] for row in possible):
                confirm(f"Move {group} in {len(possible)} partitions?", yes)
            planned = moves.make(dry_run=False)
        _show(session, admin, planned, dry_run)


class _Moves:
    """A change to a group's offsets."""

    def __init__(self, admin: "KafkaAdminClient", group: str, target: Any, wanted: "list[TopicPartition]") -> None:
        from kafka.cli.groups.standing import kind_of
        from kafka.errors import GroupIdNotFoundError

        self._admin = admin
        self._group = group
        self._target = target
        self._wanted = wanted
        self.exists, self.hint = True, ""
        try:
            self._kind = kind_of(admin, group)
        except GroupIdNotFoundError as error:
            if not wanted:
                raise
            self._kind = "classic"  # committing offsets creates the group
            self.exists = False
            _, found, name = str(error.args[0]).partition("; did you mean ")
            self.hint = found + name

    def make(self, dry_run: bool) -> list[dict[str, Any]]:
        """Change the offsets, or only find the new offsets; return a row for each partition."""
        before = self._committed()
        if self._kind == "share":
            found = self._share(before, dry_run)
        else:
            target = dict.fromkeys(self._wanted, self._target) if self._wanted else self._target
            result = self._admin.reset_group_offsets(self._group, target, dry_run=dry_run)
            found = {tp: (each["offset"], each["error"]) for tp, each in result.items()}
        return [
            {
                "group": self._group,
                "topic": tp.topic,
                "partition": tp.partition,
                "committed": before.get(tp),
                "new": offset if offset >= 0 else None,
                "error": None if error.errno == 0 else error.__name__,
            }
            for tp, (offset, error) in sorted(found.items())
        ]

    def _committed(self) -> "dict[TopicPartition, int | None]":
        from kafka.errors import KafkaError

        if self._kind == "share":
            found = self._admin.list_share_group_offsets([self._group])[self._group]
            return {tp: each.start_offset for tp, each in found.items()}
        committed: Any = self._admin.list_group_offsets([self._group], raise_errors=False)[self._group]
        if isinstance(committed, KafkaError):
            return {}
        return {tp: None if isinstance(each, KafkaError) else each.offset for tp, each in committed.items()}

    def _share(
        self, before: "Mapping[TopicPartition, int | None]", dry_run: bool
    ) -> "dict[TopicPartition, tuple[int, Any]]":
        from kafka.admin import OffsetShift, OffsetSpec, OffsetTimestamp
        from kafka.cli.groups.standing import described
        from kafka.cli.topic_ranges import offsets_at
        from kafka.errors import KafkaError, NoError, NonEmptyGroupError

        target = self._target
        partitions = self._wanted or list(before)
        if isinstance(target, OffsetShift):
            found: dict[TopicPartition, Any] = {tp: max(0, (before.get(tp) or 0) + target) for tp in partitions}
        elif isinstance(target, OffsetSpec):
            found = offsets_at(self._admin, partitions, "earliest" if target is OffsetSpec.EARLIEST else "latest")
        elif isinstance(target, OffsetTimestamp):
            found = offsets_at(self._admin, partitions, parse_position(f"@{int(target)}"))
        else:
            found = offsets_at(self._admin, partitions, int(target))
        good = {tp: offset for tp, offset in found.items() if not isinstance(offset, KafkaError)}
        errors: Mapping[Any, Any] = dict.fromkeys(good, NoError)
        if good and dry_run and described(self._admin, self._group, "share")["members"]:
            errors = dict.fromkeys(good, NonEmptyGroupError)
        elif good and not dry_run:
            errors = self._admin.alter_share_group_offsets(self._group, good)
        return {
            tp: (-1, type(offset)) if isinstance(offset, KafkaError) else (offset, errors[tp])
            for tp, offset in found.items()
        }


def _show(session: Session, admin: "KafkaAdminClient", rows: list[dict[str, Any]], dry_run: bool) -> None:
    session.output.table(rows, ["group", "topic", "partition", "committed", "new", "error"])
    if dry_run and not session.output.as_json:
        click.echo("nothing was changed", err=True)
    failed = sorted({row["error"] for row in rows if row["error"]})
    if failed:
        why = ", ".join(failed)
        if _OF_MEMBERS.issuperset(failed):
            why = _members(admin, rows[0]["group"])
        elif failed == [_NO_PARTITION]:
            missing = [f"{row['topic']}:{row['partition']}" for row in rows if row["error"]]
            why = (
                f"there is no partition {', '.join(missing)}; see 'kafka topics describe {rows[0]['topic']}' "
                f"({_NO_PARTITION})"
            )
        raise click.ClickException(f"offsets {'would not be' if dry_run else 'were not'} changed: {why}")


def _members(admin: "KafkaAdminClient", group: str) -> str:
    """Explain that the group's offsets cannot be changed because of its members."""
    from kafka.cli.groups.standing import described, kind_of

    count = len(described(admin, group, kind_of(admin, group))["members"])
    number, them = ("1 member", "it") if count == 1 else (f"{count or 'some'} members", "them")
    return f"the group has {number}: stop {them} first; 'kafka groups describe {group}' shows {them}"


@click.command(name="set-offsets")
@group_option
@click.option(
    "-o",
    "--offset",
    "offsets",
    multiple=True,
    required=True,
    metavar="TOPIC:PARTITION:OFFSET",
    help="Offset to commit; repeatable.",
)
@without_effect("--group-coordinator-id", type=int)
@connected
def set_offsets(session: Session, groups: list[str], offsets: tuple[str, ...]) -> None:
    """Commit offsets for a group that has no members, even offsets outside the range of the logs."""
    from kafka.cli.topic_ranges import triple
    from kafka.structs import OffsetAndMetadata

    group = one("group", groups)
    wanted = {tp: OffsetAndMetadata(offset, "", None) for tp, offset in map(triple, offsets)}
    with session.admin() as admin:
        result = admin.alter_group_offsets(group, wanted)
        rows = [
            {
                "group": group,
                "topic": tp.topic,
                "partition": tp.partition,
                "new": wanted[tp].offset,
                "error": None if error.errno == 0 else error.__name__,
            }
            for tp, error in sorted(result.items())
        ]
        _show(session, admin, rows, dry_run=False)
