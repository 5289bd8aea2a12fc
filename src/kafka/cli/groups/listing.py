"""Lists and describes groups, and shows their lag."""

import datetime
import time
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import click

from kafka.cli.command_output import note
from kafka.cli.common_options import at_least_one, connected, count_option, group_option
from kafka.cli.failures import ABOVE_LIMIT
from kafka.cli.name_search import search_options
from kafka.cli.position_syntax import DURATION
from kafka.cli.session import Session

if TYPE_CHECKING:
    from kafka.admin import KafkaAdminClient

_TOLD = 3
"""Maximum number of partitions to name in a note."""
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
@search_options
@connected
def list_groups(
    session: Session, states: tuple[str, ...], kinds: tuple[str, ...], matches: Callable[[str], bool]
) -> None:
    """List groups. With TEXT, lists groups whose names contain it, in any case."""
    from kafka.errors import IllegalArgumentError

    with session.admin() as admin:
        try:
            found = admin.list_groups(states_filter=states or None, types_filter=kinds or None)
        except IllegalArgumentError as error:
            text = str(error).replace("states_filter", "--state").replace("types_filter", "--type")
            raise click.UsageError(text) from None
    rows = [
        {
            "group": each["group_id"],
            "type": str(each.get("group_type") or "").lower(),
            "state": each.get("group_state") or "",
            "protocol": each["protocol_type"],
        }
        for each in sorted(found, key=lambda each: each["group_id"])
        if matches(each["group_id"])
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
@count_option(
    "--above",
    minimum=0,
    metavar="N",
    help="Show only rows with a lag above N, the largest first; exit with status 4 if there are any.",
)
@connected
def lag(session: Session, groups: list[str], watch: datetime.timedelta | None, total: bool, above: int | None) -> None:
    """Show the lag of groups in each partition. Without GROUP, shows all groups.

    With --watch, rows written to a file or a pipe end with the time in UTC.
    """
    with session.admin() as admin:
        while True:
            every = rows = _rows(admin, groups, total)
            if above is not None:
                rows = _above(every, above)
            columns = ("group", "topic", "lag") if total else _LAG
            if watch is not None and session.output.terminal:
                click.clear()
            elif watch is not None:
                now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
                rows, columns = [{**row, "time": now} for row in rows], (*columns, "time")
            session.output.table(rows, columns)
            _note_without_offsets(groups, every)
            if above is not None:
                _note_unknown(every)
            if watch is None:
                break
            time.sleep(watch.total_seconds())
    if above is not None and rows:
        raise click.exceptions.Exit(ABOVE_LIMIT)


def _above(rows: Iterable[dict[str, Any]], limit: int) -> list[dict[str, Any]]:
    """Return the rows with a lag above a limit, the largest first."""
    return sorted((row for row in rows if (row["lag"] or 0) > limit), key=lambda row: -row["lag"])


def _note_unknown(rows: Iterable[Mapping[str, Any]]) -> None:
    """Report the partitions whose lag is unknown, because an alert cannot cover them."""
    unknown = [f"{row['group']} in {row['topic']}:{row['partition']}" for row in rows if _is_unknown(row)]
    if unknown:
        more = f" and {len(unknown) - _TOLD:,} more" if len(unknown) > _TOLD else ""
        note(f"the lag is unknown for {', '.join(unknown[:_TOLD])}{more}: the topic does not exist or has no leader")


def _is_unknown(row: Mapping[str, Any]) -> bool:
    return row["lag"] is None and "latest" in row and row["latest"] is None


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
