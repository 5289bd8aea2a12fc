"""The pages for groups: all groups with their lag over time; one group with a row for each of its partitions.

`group_members.py` describes the members, and `lag_times.py` determines the lag in time.
"""

import dataclasses
from collections.abc import Mapping

from kafka.display.page_elements import UNKNOWN, Html, address, count, facts, html, joined, link
from kafka.display.time_charts import Points
from kafka.errors import KafkaError, error_text
from kafka.structs import TopicPartition
from kafka.ui.changes import first_step
from kafka.ui.charts import chart, sparkline
from kafka.ui.group_members import Member, describe_members
from kafka.ui.lag_times import Behind, by_history, longest
from kafka.ui.page_frame import gone, live_address, live_page, not_yet, order_note, trouble
from kafka.ui.shared_state import Ui
from kafka.ui.snapshot import GroupState, Need
from kafka.ui.states import BEYOND_END, group_state, level_of
from kafka.ui.tables import Column, Columns, Hiding, Table, long_name
from kafka.ui.view import current_view

_KINDS = {"classic": "classic", "consumer": "consumer (KIP-848)", "share": "share", "streams": "streams"}
_DETAILS = ("topics", "lag", "behind", "state")
"""Columns whose order depends on the details of all groups."""
_HISTORY_NOTE = "How long ago the partition ended where the group is now, as far as this page has observed it"


@dataclasses.dataclass(frozen=True, slots=True)
class _Place:
    """A partition of a group.

    Arguments:
        committed: the committed offset; None if the group has not committed one.
        member: the member to which the partition is assigned.
    """

    tp: TopicPartition
    committed: int | None
    end: int | None
    lag: int | None
    behind: Behind
    member: Member | None


async def groups_page(ui: Ui) -> Html:
    """Return the page that lists all groups."""
    await ui.poller.snapshot()
    source = live_address(ui, "groups")
    return live_page(ui, "Groups", "/groups", await groups_part(ui), source)


async def groups_part(ui: Ui) -> Html:
    """Return the live part of the page that lists all groups. It needs the details of the groups on the page only."""
    now = ui.poller.newest
    if now is None:
        return not_yet(ui)
    members: dict[str, int] = {}
    table, query = _table(ui, members), current_view().query
    depends_on_details = query.get("sort", "").lstrip("-") in _DETAILS or "idle" in query
    if depends_on_details:
        now = await ui.poller.collect(Need(groups=frozenset(now.groups))) or now
    chosen = table.chosen(now.groups.values())
    now = await ui.poller.detail(Need(groups=frozenset(each.name for each in chosen.rows))) or now
    groups = now.groups
    chosen = table.renewed(chosen, lambda each: groups.get(each.name, each))
    members.update(await ui.member_counts.of(chosen.rows, now))
    lags = {each.name: _lags(ui, each) for each in chosen.rows}
    idle = sum(level_of(each) == "bad" for each in now.groups.values())
    pairs = [
        ("groups", count(len(now.groups))),
        ("lag", count(sum(each.lag or 0 for each in now.groups.values()))),
        ("without members, lagging", count(idle)),
    ]
    notes = joined(html('<p class="note">Unavailable: {}</p>', note) for note in now.notes)
    title = "Lag of the groups below" if chosen.pages > 1 else "Lag"
    order = order_note(now, now.groups.values(), "groups") if depends_on_details else Html("")
    parts = [trouble(ui.poller.trouble), facts(pairs), notes, order, table.html(chosen), _lag_chart(title, lags)]
    return joined(parts)


def _lag_chart(title: str, lags: Mapping[str, Points]) -> Html:
    """Draw what had a lag; lines of zeros would hide each other."""
    if not lags:
        return Html("")
    lagging = {name: points for name, points in lags.items() if any(lag for _, lag in points)}
    if not lagging and any(len(points) > 1 for points in lags.values()):
        return html('<figure><figcaption>{}</figcaption><p class="quiet">There was no lag.</p></figure>', title)
    return chart(title, lagging, "records", is_whole=True)


def _table(ui: Ui, members: Mapping[str, int]) -> Table[GroupState]:
    """Return the table of all groups.

    Arguments:
        members: the numbers of members of the groups on the page; filled in after the rows are chosen.
    """
    history = ui.poller.history
    columns: Columns[GroupState] = (
        Column("group", lambda each: link(each.name or "(no name)", "/group", id=each.name), lambda each: each.name),
        Column("state", group_state, lambda each: (each.state, -(each.lag or 0))),
        Column("type", lambda each: each.kind, lambda each: each.kind),
        Column("members", lambda each: count(members.get(each.name)), is_number=True),
        Column("topics", _topics, lambda each: len(_topic_names(each))),
        Column("lag", _lag, lambda each: each.lag, is_number=True, note="In records"),
        Column(
            "behind",
            lambda each: longest(history, each).text(),
            lambda each: longest(history, each).seconds,
            is_number=True,
            note=_HISTORY_NOTE,
            is_wide=True,
        ),
        Column("last hour", lambda each: sparkline(f"lag of {each.name}", _lags(ui, each))),
    )
    hiding: tuple[Hiding[GroupState], ...] = (
        Hiding(
            "idle", "groups without members and lag", lambda each: level_of(each) == "off" and each.is_detailed,
            is_hidden=False,
        ),
    )  # fmt: skip
    empty = "There are no groups yet. A group appears when a consumer with a group_id joins or commits."
    return Table("Groups", columns, lambda each: f"{each.name} {each.state} {each.kind}", hiding, "group", empty=empty)


def _lag(group: GroupState) -> Html:
    """Return the lag of a group; a lag of zero may hide that the group committed offsets beyond the end."""
    return html("{}{}", count(group.lag), html(" {}", BEYOND_END) if group.beyond_end else "")


def _topic_names(group: GroupState) -> list[str]:
    return list(dict.fromkeys(tp.topic for tp in group.committed))


def _topics(group: GroupState) -> Html:
    names = _topic_names(group)
    return long_name(", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else ""))


def _lags(ui: Ui, group: GroupState) -> list[tuple[float, float]]:
    """Return a group's total lag over time."""
    total: dict[float, float] = {}
    for topic in group.lag_by_topic():
        for time, lag in ui.poller.history.lags.get((group.name, topic), ()):
            total[time] = total.get(time, 0) + lag
    return sorted(total.items())


async def group_page(ui: Ui, name: str) -> Html | None:
    """Return the page for a group; None if the group does not exist."""
    now = await ui.poller.found(lambda now: name in now.groups)
    if now is not None and name not in now.groups:
        return None
    live = await group_part(ui, name)  # also reads the details for the form below
    now, still = ui.poller.newest, Html("")
    if now is not None and ui.may_write and name in now.groups:
        group = now.groups[name]
        reset = _reset(ui, group) if group.kind != "share" and group.committed else Html("")
        delete = first_step(ui, "/delete-group", name, Html(""), "Delete the group")
        still = html("{}<h2>Delete the group</h2>{}", reset, delete)
    return live_page(ui, name, "/groups", live, live_address(ui, "group"), still)


async def group_part(ui: Ui, name: str) -> Html:
    """Return the live part of a group's page."""
    now = ui.poller.newest
    if now is not None and name in now.groups:
        now = await ui.poller.detail(Need(groups=frozenset((name,))))
    if now is None or name not in now.groups:
        return not_yet(ui) if now is None else gone(ui, f"group {name!r}", "groups", "/groups")
    group, members, failed = now.groups[name], list[Member](), ""
    try:
        members = [] if ui.poller.trouble else await describe_members(ui.admin, group)
    except KafkaError as error:
        failed = f"the cluster does not describe the members: {error_text(error)}"
    is_known = not (failed or ui.poller.trouble)
    places = await _places(ui, group, members)
    slowest = max(
        (each.behind for each in places if each.behind.seconds), key=lambda each: each.seconds or 0, default=None
    )
    series = {topic: list(ui.poller.history.lags.get((name, topic), ())) for topic in group.lag_by_topic()}
    pairs = [
        ("state", group_state(group)),
        ("type", _KINDS.get(group.kind, group.kind)),
        ("members", count(len(members)) if is_known else UNKNOWN),
        ("lag", count(group.lag)),
        ("behind", slowest.text() if slowest is not None else UNKNOWN if group.lag != 0 or group.beyond_end else "0 s"),
    ]
    idle = [each for each in members if not each.partitions]
    return joined(
        [
            trouble(ui.poller.trouble),
            trouble(failed),
            facts(pairs),
            _warning(group),
            _beyond_end(group),
            _place_table(is_known).html(places),
            _sources(places),
            html("<h2>Members without partitions</h2>{}", _idle_table().html(idle)) if idle else Html(""),
            _lag_chart("Lag by topic", series),
        ]
    )


def _warning(group: GroupState) -> Html:
    if level_of(group) != "bad":
        return Html("")
    return html(
        '<p class="trouble">This group has no members: no consumer reads the {} waiting records.</p>',
        count(group.lag or 0),
    )


def _beyond_end(group: GroupState) -> Html:
    """Explain committed offsets that do not exist, which happens after a topic is deleted and created again."""
    number = len(group.beyond_end)
    if not number:
        return Html("")
    return html(
        '<p class="trouble">{} beyond the end of the partition, for example because the topic was deleted and created '
        "again. Consumers continue there at the position that their auto_offset_reset determines. Reset the offsets to "
        "choose the position.</p>",
        "1 committed offset is" if number == 1 else f"{count(number)} committed offsets are",
    )


async def _places(ui: Ui, group: GroupState, members: list[Member]) -> list[_Place]:
    """Return the partitions that the group has committed or that are assigned to a member."""
    assigned = {tp: each for each in members for tp in each.partitions}
    found: dict[TopicPartition, Behind] = {tp: by_history(ui.poller.history, group, tp) for tp in group.committed}
    unknown = {
        tp: group.committed[tp]
        for tp, each in found.items()
        if group.lags[tp] and (each.is_minimum or each.seconds is None)
    }
    if unknown and not ui.poller.trouble:
        read = await ui.lag_times.seconds(unknown)
        found |= {tp: Behind(seconds, by_timestamps=True) for tp, seconds in read.items()}
    return [
        _Place(
            tp,
            committed=group.committed.get(tp),
            end=group.ends.get(tp),
            lag=group.lags.get(tp),
            behind=found.get(tp, Behind(None)),
            member=assigned.get(tp),
        )
        for tp in sorted({*group.committed, *assigned})
    ]


def _place_table(is_known: bool) -> Table[_Place]:
    columns: Columns[_Place] = (
        Column(
            "topic", lambda each: long_name(link(each.tp.topic, "/topic", name=each.tp.topic)), lambda each: each.tp
        ),
        Column("partition", lambda each: each.tp.partition, lambda each: each.tp.partition, is_number=True),
        Column("committed", _committed, lambda each: each.committed, is_number=True),
        Column("end offset", lambda each: count(each.end), lambda each: each.end, is_number=True),
        Column("lag", _place_lag, lambda each: each.lag, is_number=True, note="In records"),
        Column("behind", _behind, lambda each: each.behind.seconds, is_number=True, is_wide=True),
        Column("member", _member if is_known else lambda each: UNKNOWN, lambda each: _of(each, "name")),
        Column("client", lambda each: long_name(_of(each, "client")), lambda each: _of(each, "client")),
        Column("host", lambda each: _of(each, "host"), lambda each: _of(each, "host")),
    )
    hiding: tuple[Hiding[_Place], ...] = (
        Hiding("current", "partitions without lag", lambda each: each.lag == 0, is_hidden=False),
    )
    empty = "The group has committed nothing, and no partitions are assigned."
    return Table("Partitions", columns, _text, hiding, "topic", empty=empty)


def _place_lag(place: _Place) -> Html:
    is_beyond = place.committed is not None and place.end is not None and place.committed > place.end
    return BEYOND_END if is_beyond else html("{}", count(place.lag))


def _member(place: _Place) -> Html:
    if place.member is None:
        return html('<span class="quiet">none</span>')
    return long_name(place.member.name)


def _of(place: _Place, field: str) -> str:
    return str(getattr(place.member, field)) if place.member is not None else ""


def _text(place: _Place) -> str:
    return f"{place.tp.topic} {place.tp.partition} {_of(place, 'name')} {_of(place, 'client')} {_of(place, 'host')}"


def _committed(place: _Place) -> Html:
    if place.committed is None:
        return html('<span class="quiet">none</span>')
    where: Mapping[str, object] = {"topic": place.tp.topic, "partition": place.tp.partition, "offset": place.committed}
    return link(count(place.committed), "/message", **where) if place.lag else html("{}", count(place.committed))


def _behind(place: _Place) -> str:
    return f"{place.behind.text()}{' *' if place.behind.by_timestamps else ''}"


def _sources(places: list[_Place]) -> Html:
    """Say from what the lag in time was determined."""
    known = [each.behind for each in places if each.behind.seconds]
    notes = []
    if any(not each.by_timestamps for each in known):
        notes.append(f"Behind: {_HISTORY_NOTE[0].lower()}{_HISTORY_NOTE[1:]}.")
    if any(each.by_timestamps for each in known):
        notes.append("* The timestamp of the newest record minus that of the group's next record.")
    return html('<p class="note">{}</p>', " ".join(notes)) if notes else Html("")


def _idle_table() -> Table[Member]:
    columns: Columns[Member] = (
        Column("member", lambda each: each.name, lambda each: each.name),
        Column("client", lambda each: each.client, lambda each: each.client),
        Column("host", lambda each: each.host, lambda each: each.host),
    )
    return Table("Members without partitions", columns, lambda each: f"{each.name} {each.client}", prefix="members.")


def _reset(ui: Ui, group: GroupState) -> Html:
    options = joined(html("<option>{}</option>", topic) for topic in sorted({tp.topic for tp in group.committed}))
    return html(
        '<h2>Reset offsets</h2><p class="quiet">The group must have no members. The next page previews the offsets '
        "before anything changes.</p>"
        '<form method="post" action="{}"><input type="hidden" name="token" value="{}">'
        '<label>Topic<select name="topic">{}</select></label>'
        '<label>To<input name="to" required size="24" placeholder="earliest, latest, 1234, 15m"></label>'
        "<button>Preview</button></form>",
        address("/reset-group", id=group.name),  # not a form field, because browsers change line endings there
        ui.forms.token,
        options,
    )
