"""Deletes groups and offsets, and removes members."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from kafka.cli.common_options import (
    at_least_one,
    confirm,
    connected,
    group_option,
    one,
    partition_of,
    without_effect,
    yes_option,
)
from kafka.cli.session import Session
from kafka.cli.suggestions import suggesting
from kafka.config.option import nearest

if TYPE_CHECKING:
    from kafka.admin import KafkaAdminClient


@click.command()
@group_option
@yes_option
@connected
def delete(session: Session, groups: list[str], yes: bool) -> None:
    """Delete groups without members, including their offsets."""
    confirm(f"Delete {', '.join(at_least_one('group', groups))} with all offsets?", yes)
    with session.admin() as admin:
        result = admin.delete_groups(groups)
        failed = {name: None if told == "OK" else told for name, told in result.items()}
        hints = _hints(admin, [name for name, told in failed.items() if told == "GroupIdNotFoundError"])
    _report(session, "group", failed, hints)


@click.command(name="delete-offsets")
@group_option
@click.option(
    "-p",
    "--partition",
    "partitions",
    multiple=True,
    required=True,
    metavar="TOPIC:PARTITION",
    help="Partition whose offsets to delete; repeatable.",
)
@yes_option
@without_effect("--group-coordinator-id", type=int)
@connected
def delete_offsets(session: Session, groups: list[str], partitions: tuple[str, ...], yes: bool) -> None:
    """Delete a group's offsets for partitions that no member reads."""
    from kafka.structs import TopicPartition

    group = one("group", groups)
    wanted = [TopicPartition(*partition_of(each)) for each in partitions]
    confirm(f"Delete the offsets of {group} in {', '.join(partitions)}?", yes)
    with session.admin() as admin, suggesting(admin, {tp.topic for tp in wanted}, [group]):
        result = admin.delete_group_offsets(group, wanted)
    _report(session, "partition", {f"{tp.topic}:{tp.partition}": _name(error) for tp, error in result.items()})


@click.command(name="remove-members")
@group_option
@click.option(
    "-m", "--member-id", "members", multiple=True, metavar="ID", help="Member id; repeatable. [default: all members]"
)
@click.option(
    "-i",
    "--group-instance-id",
    "instances",
    multiple=True,
    metavar="ID",
    help="Static member id (group.instance.id); repeatable.",
)
@click.option("--reason", metavar="TEXT", help="Reason, for the broker's log.")
@yes_option
@without_effect("--group-coordinator-id", type=int)
@connected
def remove_members(
    session: Session,
    groups: list[str],
    members: tuple[str, ...],
    instances: tuple[str, ...],
    reason: str | None,
    yes: bool,
) -> None:
    """Remove members from a group; live members rejoin."""
    from kafka.admin import MemberToRemove

    group = one("group", groups)
    wanted = [MemberToRemove(member_id=each, reason=reason) for each in members]
    wanted += [MemberToRemove(group_instance_id=each, reason=reason) for each in instances]
    confirm(f"Remove {len(wanted) or 'all'} members of {group}?", yes)
    with session.admin() as admin, suggesting(admin, groups=[group]):
        result = admin.remove_group_members(group, wanted or None)
    _report(session, "member", {str(member): _name(error) for member, error in result.items()})


def _name(error: type[Any]) -> str | None:
    return None if error.errno == 0 else error.__name__


def _described(name: str) -> str:
    """Return Kafka's description of an error, with its name."""
    from kafka import errors

    description = getattr(getattr(errors, name), "description", None)
    return f"{description.removesuffix('.')} ({name})" if description else name


def _hints(admin: "KafkaAdminClient", names: list[str]) -> dict[str, str]:
    """Return the most similar name of an existing group, as a hint, for the names that do not exist."""
    known = [str(each["group_id"]) for each in admin.list_groups()] if names else []
    return {name: nearest(name, known) for name in names}


def _report(
    session: Session, what: str, result: Mapping[str, str | None], hints: Mapping[str, str] | None = None
) -> None:
    """Report each result; exit with status 1 if something failed."""
    rows = [{what: name, "error": error} for name, error in result.items()]
    if session.output.as_json:
        session.output.data(rows)
    else:
        for name, error in result.items():
            text = f"Error: {name}: {_described(error)}{(hints or {}).get(name, '')}" if error else f"{name}: deleted"
            click.echo(text, err=bool(error))
    if any(result.values()):
        raise click.exceptions.Exit(1)
