"""Lists and describes groups, and shows their lag."""

import datetime
import time
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import click

from kafka.cli.command_output import note
from kafka.cli.common_options import at_least_one, connected, group_option
from kafka.cli.position_syntax import DURATION
from kafka.cli.session import Session

if TYPE_CHECKING:
    from kafka.admin import KafkaAdminClient

_LAG = ("group", "topic", "partition", "committed", "latest", "lag", "client", "host")


@click.command(name="list")
@click.option("--state", "states", multiple=True, metavar="STATE", help="Show only groups in this state; repeatable.")
@click.option(
    "--type",
    "kinds",
    multiple=True,
    metavar="TYPE",
    help="Show only groups of this type: classic, consumer, share or streams.",
)
@connected
def list_groups(session: Session, states: tuple[str, ...], kinds: tuple[str, ...]) -> None:
    """List groups."""
    with session.admin() as admin:
        found = admin.list_groups(states_filter=states or None, types_filter=kinds or None)
    rows = [
        {
            "group": each["group_id"],
            "type": str(each.get("group_type") or "").lower(),
            "state": each.get("group_state") or "",
            "protocol": each["protocol_type"],
        }
        for each in sorted(found, key=lambda each: each["group_id"])
    ]
    session.output.table(rows, ["group", "type", "state", "protocol"])


@click.command()
@group_option
@connected
def describe(session: Session, groups: list[str]) -> None:
    """Show the state, members, offsets and lag of groups."""
    from kafka.cli.groups.standing import described, kind_of, standing

    found = []
    at_least_one("group", groups)
    with session.admin() as admin:
        for group in groups:
            kind = kind_of(admin, group)
            found.append({**described(admin, group, kind), "offsets": standing(admin, group, kind)})
    if session.output.as_json:
        session.output.data(found)
        return
    for each in found:
        session.output.title(f"{each['group']}  {each['type']}  {each['state']}  {each['assignor'] or ''}".rstrip())
        if each["members"] and session.output.terminal:
            session.output.table(each["members"], ["member", "instance", "client", "host", "partitions"])
        if not session.output.terminal:
            count = len(each["members"])
            members = "1 member" if count == 1 else f"{count} members"
            note(f"group {each['group']}: {each['type']}, {each['state']}, {members}; use --json to list them")
        if each["offsets"] or not session.output.terminal:
            session.output.table(each["offsets"], _LAG if not session.output.terminal else _LAG[1:])
        _note_without_offsets([each["group"]], each["offsets"])


@click.command()
@group_option
@click.option("-w", "--watch", type=DURATION, help="Repeat at this interval until Ctrl-C.")
@click.option("--total", is_flag=True, help="Show one row per group and topic.")
@connected
def lag(session: Session, groups: list[str], watch: datetime.timedelta | None, total: bool) -> None:
    """Show the lag of groups in each partition. Without GROUP, shows all groups.

    With --watch, rows written to a file or a pipe end with the time in UTC.
    """
    with session.admin() as admin:
        while True:
            rows = _rows(admin, groups, total)
            columns = ("group", "topic", "lag") if total else _LAG
            if watch is not None and session.output.terminal:
                click.clear()
            elif watch is not None:
                now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
                rows, columns = [{**row, "time": now} for row in rows], (*columns, "time")
            session.output.table(rows, columns)
            _note_without_offsets(groups, rows)
            if watch is None:
                return
            time.sleep(watch.total_seconds())


def _note_without_offsets(groups: Iterable[str], rows: Iterable[Mapping[str, Any]]) -> None:
    """Report the requested groups that have no rows."""
    there = {row["group"] for row in rows}
    for group in dict.fromkeys(groups):
        if group not in there:
            note(f"group {group} has no committed offsets")


def _rows(admin: "KafkaAdminClient", groups: list[str], total: bool) -> list[dict[str, Any]]:
    from kafka.cli.groups.standing import kind_of, standing

    kinds = {group: kind_of(admin, group) for group in groups} if groups else _all(admin)
    rows = [row for group, kind in kinds.items() for row in standing(admin, group, kind)]
    if not total:
        return rows
    sums: dict[tuple[str, str], int] = {}
    for row in rows:
        key = row["group"], row["topic"]
        sums[key] = sums.get(key, 0) + (row["lag"] or 0)
    return [{"group": group, "topic": topic, "lag": behind} for (group, topic), behind in sums.items()]


def _all(admin: "KafkaAdminClient") -> dict[str, str]:
    listed = sorted(admin.list_groups(), key=lambda each: each["group_id"])
    return {
        each["group_id"]: str(each.get("group_type") or "classic").lower()
        for each in listed
        if each["protocol_type"] in ("", "consumer", "share", "streams")
    }
