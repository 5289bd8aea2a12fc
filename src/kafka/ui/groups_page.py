"""The pages for groups: all groups with their lag over time; one group with its partitions and members."""

from typing import Any

from kafka.display.page_elements import Html, address, count, facts, html, joined, link, table
from kafka.errors import KafkaError, error_text
from kafka.ui.charts import chart
from kafka.ui.page_frame import live_address, live_page, trouble
from kafka.ui.shared_state import Ui
from kafka.ui.snapshot import GroupState

_COLUMNS = ("group", "type", "state", "topics", "lag")
_PARTITIONS = ("topic", "partition", "committed", "lag")
_MEMBERS = ("member", "client", "host", "partitions")


async def groups_page(ui: Ui) -> Html:
    """Return the page that lists all groups."""
    await ui.poller.snapshot()
    return live_page(ui, "Groups", "/groups", groups_part(ui), live_address("groups"))


def groups_part(ui: Ui) -> Html:
    """Return the live part of the page that lists all groups."""
    now = ui.poller.newest
    if now is None:
        return trouble(ui.poller.trouble)
    rows = [
        [
            link(each.name or "(no name)", "/group", id=each.name),
            each.kind,
            each.state,
            ", ".join(each.lag_by_topic()),
            count(each.lag),
        ]
        for _, each in sorted(now.groups.items())
    ]
    lags = {each.name: _lags(ui, each) for each in now.groups.values()}
    return joined(
        [trouble(ui.poller.trouble), chart("Lag", lags, "offsets"), table(_COLUMNS, rows, ("lag",), "Groups")]
    )


def _lags(ui: Ui, group: GroupState) -> list[tuple[float, float]]:
    """Return a group's total lag over time."""
    total: dict[float, float] = {}
    for topic in group.lag_by_topic():
        for time, lag in ui.poller.history.lags.get((group.name, topic), ()):
            total[time] = total.get(time, 0) + lag
    return sorted(total.items())


async def group_page(ui: Ui, name: str) -> Html | None:
    """Return the page for a group; None if the group does not exist."""
    now = await ui.poller.snapshot()
    if now is not None and name not in now.groups:
        return None
    parts = []
    if now is not None:
        parts = [await _members(ui, now.groups[name])]
        if ui.may_write and now.groups[name].kind != "share":
            parts.append(_reset(ui, now.groups[name]))
    return live_page(ui, name, "/groups", group_part(ui, name), live_address("group"), joined(parts))


def group_part(ui: Ui, name: str) -> Html:
    """Return the live part of a group's page."""
    now = ui.poller.newest
    if now is None or name not in now.groups:
        return trouble(ui.poller.trouble or f"group {name!r} no longer exists")
    group = now.groups[name]
    series = {topic: list(ui.poller.history.lags.get((name, topic), ())) for topic in group.lag_by_topic()}
    rows = [
        [link(tp.topic, "/topic", name=tp.topic), tp.partition, count(offset), count(group.lags[tp])]
        for tp, offset in group.committed.items()
    ]
    pairs = [("type", group.kind), ("state", group.state), ("lag", count(group.lag))]
    return joined(
        [
            trouble(ui.poller.trouble),
            facts(pairs),
            chart("Lag by topic", series, "offsets"),
            html("<h2>Partitions</h2>"),
            table(_PARTITIONS, rows, _PARTITIONS[1:], "Partitions"),
        ]
    )


async def _members(ui: Ui, group: GroupState) -> Html:
    calls = {"share": ui.admin.describe_share_groups, "streams": ui.admin.describe_streams_groups}
    try:
        found = (await calls.get(group.kind, ui.admin.describe_groups)([group.name]))[group.name]
    except KafkaError as error:
        return trouble(error_text(error))
    rows = [
        [each["member_id"], each["client_id"], str(each["client_host"]).lstrip("/"), ", ".join(_assigned(each))]
        for each in found.get("members") or ()
    ]
    return html("<h2>Members</h2>{}", table(_MEMBERS, rows, (), "Members"))


def _assigned(member: dict[str, Any]) -> list[str]:
    """Return the partitions that are assigned to a member, in a group of any protocol."""
    assignment = member.get("member_assignment") or member.get("assignment") or {}
    if not isinstance(assignment, dict):
        return []
    topics = assignment.get("assigned_partitions") or assignment.get("topic_partitions") or []
    return [f"{each.get('topic') or each.get('topic_name')}:{part}" for each in topics for part in each["partitions"]]


def _reset(ui: Ui, group: GroupState) -> Html:
    options = joined(html("<option>{}</option>", topic) for topic in sorted({tp.topic for tp in group.committed}))
    return html(
        '<h2>Reset offsets</h2><p class="quiet">The group must have no members. The next page previews the offsets.</p>'
        '<form method="post" action="{}"><input type="hidden" name="token" value="{}">'
        '<label>Topic<select name="topic">{}</select></label>'
        '<label>To<input name="to" required placeholder="earliest, latest, 1234, 15m"></label>'
        "<button>Show</button></form>",
        address("/reset-group", id=group.name),  # not a form field, because browsers change line endings there
        ui.forms.token,
        options,
    )
