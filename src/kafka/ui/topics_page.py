"""The topic pages: all topics with sizes and rates; one topic with its partitions, settings and rate over time."""

from typing import Any

from kafka.display.page_elements import Html, count, facts, html, joined, link, rate, size
from kafka.errors import KafkaError, error_text
from kafka.ui.charts import chart, sparkline
from kafka.ui.config_table import config_table, read_configs
from kafka.ui.page_frame import gone, live_address, live_page, not_yet, order_note, trouble
from kafka.ui.shared_state import Ui
from kafka.ui.snapshot import GroupState, Need, PartitionState, Snapshot, TopicState
from kafka.ui.states import BEYOND_END, group_state, state
from kafka.ui.tables import Column, Columns, Hiding, Table
from kafka.ui.topic_changes import change_forms
from kafka.ui.view import current_view

TITLE = "Topics"
_DETAILS = ("offsets", "size", "rate")
"""Columns whose order depends on the details of all topics."""


async def topics_page(ui: Ui) -> Html:
    """Return the page that lists all topics."""
    await ui.poller.snapshot()
    source = live_address(ui, "topics")
    still = _creation(ui) if ui.may_write else Html("")
    return live_page(ui, TITLE, "/", await topics_part(ui), source, still)


async def topics_part(ui: Ui) -> Html:
    """Return the live part of the page that lists all topics. It needs the details of the topics on the page only."""
    now = ui.poller.newest
    if now is None:
        return not_yet(ui)
    table, query = _table(ui), current_view().query
    depends_on_details = query.get("sort", "").lstrip("-") in _DETAILS or "empty" in query
    if depends_on_details:
        now = await ui.poller.collect(Need(topics=frozenset(now.topics))) or now
    chosen = table.chosen(now.topics.values())
    now = await ui.poller.detail(Need(topics=frozenset(each.name for each in chosen.rows))) or now
    topics = now.topics
    chosen = table.renewed(chosen, lambda each: topics.get(each.name, each))
    order = order_note(now, now.topics.values(), "topics") if depends_on_details else Html("")
    return joined([_standing(ui, now), order, table.html(chosen)])


def _table(ui: Ui) -> Table[TopicState]:
    """Return the table of all topics."""
    columns: Columns[TopicState] = (
        Column("topic", _name, lambda each: each.name),
        Column("partitions", lambda each: len(each.partitions), lambda each: len(each.partitions), is_number=True),
        Column("replicas", _replicas, lambda each: each.replicas, is_number=True, note="Replicas per partition"),
        Column(
            "offsets",
            lambda each: count(each.offsets),
            lambda each: each.offsets,
            is_number=True,
            note="Next offset minus first offset. With compaction or transactions, there are fewer records.",
        ),
        Column(
            "size", lambda each: size(each.size), lambda each: each.size, is_number=True, note="Logs of the leaders"
        ),
        Column("rate", lambda each: rate(_rate(ui, each), " records/s"), lambda each: _rate(ui, each), is_number=True),
        Column("last hour", lambda each: sparkline(f"rate of {each.name}", ui.poller.history.rates.get(each.name, ()))),
    )
    hiding: tuple[Hiding[TopicState], ...] = (
        Hiding("internal", "internal topics", lambda each: each.internal),
        Hiding("empty", "empty topics", lambda each: each.offsets == 0, is_hidden=False),
    )
    return Table("Topics", columns, lambda each: each.name, hiding, sort="topic", empty="There are no topics yet.")


def _name(topic: TopicState) -> Html:
    name = link(topic.name, "/topic", name=topic.name)
    return html('{} <span class="note">internal</span>', name) if topic.internal else name


def _replicas(topic: TopicState) -> Html:
    offline = sum(each.is_offline for each in topic.partitions)
    short = topic.short_of_replicas - offline
    parts = []
    if offline:
        parts.append(state("bad", f"{offline} offline", "Number of partitions without a leader"))
    if short:
        parts.append(state("warn", f"{short} short", "Number of partitions with replicas that are not in sync"))
    return joined([*parts, html("{}", topic.replicas)], " ")


def _rate(ui: Ui, topic: TopicState) -> float | None:
    rates = ui.poller.history.rates.get(topic.name)
    return rates[-1][1] if rates else None


def _standing(ui: Ui, now: Snapshot) -> Html:
    pairs = [
        ("topics", count(len(now.topics))),
        ("partitions", count(sum(len(each.partitions) for each in now.topics.values()))),
        ("brokers", link(len(now.brokers), "/brokers")),
    ]
    notes = joined(html('<p class="note">Unavailable: {}</p>', note) for note in now.notes)
    return joined([trouble(ui.poller.trouble), facts(pairs), notes])


async def topic_page(ui: Ui, name: str) -> Html | None:
    """Return the page for a topic; None if the topic does not exist."""
    now = await ui.poller.found(lambda now: name in now.topics)
    if now is not None and name not in now.topics:
        return None
    is_answering = now is not None and not ui.poller.trouble  # otherwise the request would time out
    still = html(
        "{}{}",
        html("<h2>Configs</h2>{}", await _configs(ui, name)) if is_answering else "",
        change_forms(ui, now.topics[name]) if now is not None and ui.may_write else "",
    )
    return live_page(ui, name, "/", await topic_part(ui, name), live_address(ui, "topic"), still)


async def topic_part(ui: Ui, name: str) -> Html:
    """Return the live part of a topic's page."""
    now = ui.poller.newest
    if now is not None and name in now.topics:
        now = await ui.poller.detail(Need(topics=frozenset((name,))))
    if now is None or name not in now.topics:
        return not_yet(ui) if now is None else gone(ui, f"topic {name!r}", "topics", "/")
    readers = frozenset(each.name for each in _readers(now, name))
    topic, now = now.topics[name], await ui.poller.detail(Need(groups=readers)) or now
    pairs = [
        ("partitions", len(topic.partitions)),
        ("replicas", _replicas(topic)),
        ("offsets", count(topic.offsets)),
        ("size", size(topic.size)),
        ("rate", rate(_rate(ui, topic), " records/s")),
    ]
    picture = chart("Records written per second", {name: list(ui.poller.history.rates.get(name, ()))}, "records/s")
    return joined(
        [
            trouble(ui.poller.trouble),
            facts(pairs),
            html("<p>{}</p>", link("Browse and search messages", "/messages", topic=name)),
            picture,
            html("<h2>Partitions</h2>{}", _partitions(topic)),
            html("<h2>Groups</h2>{}", _groups(now, name)),
        ]
    )


def _partitions(topic: TopicState) -> Html:
    columns: Columns[PartitionState] = (
        Column(
            "partition",
            lambda each: link(each.number, "/messages", topic=topic.name, partition=each.number),
            lambda each: each.number,
        ),
        Column("leader", _leader, lambda each: each.leader),
        Column("replicas", lambda each: ", ".join(map(str, each.replicas))),
        Column("in sync", _in_sync, lambda each: len(each.isr) - len(each.replicas)),
        Column("first offset", lambda each: count(each.first), lambda each: each.first, is_number=True),
        Column("next offset", lambda each: count(each.end), lambda each: each.end, is_number=True),
        Column("offsets", lambda each: count(each.offsets), lambda each: each.offsets, is_number=True),
        Column("size", lambda each: size(each.size), lambda each: each.size, is_number=True),
    )
    table = Table("Partitions", columns, _partition_text, sort="partition", prefix="partitions.")
    return table.html(topic.partitions)


def _partition_text(partition: PartitionState) -> str:
    """Return the text in which a search looks: the number, "leader:N", and "offline" or "under-replicated"."""
    wrong = "offline" if partition.is_offline else "under-replicated" if partition.is_under_replicated else ""
    return f"{partition.number} leader:{partition.leader} {wrong}"


def _leader(partition: PartitionState) -> Any:
    return state("bad", "none") if partition.is_offline else partition.leader


def _in_sync(partition: PartitionState) -> Html:
    listed = ", ".join(map(str, partition.isr)) or "none"
    if partition.is_offline or not partition.is_under_replicated:
        return html("{}", listed)
    return html("{} {}", listed, state("warn", "under-replicated"))


def _readers(now: Snapshot, name: str) -> list[GroupState]:
    return [each for each in now.groups.values() if any(tp.topic == name for tp in each.committed)]


def _groups(now: Snapshot, name: str) -> Html:
    """Return the groups that read the topic; for large clusters, those among the groups that were shown recently."""
    columns: Columns[GroupState] = (
        Column("group", lambda each: link(each.name, "/group", id=each.name), lambda each: each.name),
        Column("state", group_state, lambda each: each.state),
        Column(
            "lag",
            lambda each: _lag(each, name),
            lambda each: each.lag_by_topic().get(name),
            is_number=True,
        ),
    )
    table = Table(
        "Groups", columns, lambda each: each.name, sort="group", prefix="groups.", empty="No group reads this topic."
    )
    unknown = sum(not each.is_detailed for each in now.groups.values())
    note = html('<p class="note">The offsets of {} groups have not been read.</p>', count(unknown))
    return joined([table.html(_readers(now, name)), note if unknown else Html("")])


def _lag(group: GroupState, name: str) -> Html:
    is_beyond = any(tp.topic == name for tp in group.beyond_end)
    return html("{}{}", count(group.lag_by_topic().get(name)), html(" {}", BEYOND_END) if is_beyond else "")


async def _configs(ui: Ui, name: str) -> Html:
    """Return a table of the topic's own settings, or of all settings if the URL asks for them."""
    try:
        return config_table(await read_configs(ui, "TOPIC", name))
    except KafkaError as error:
        return trouble(f"the cluster does not describe the configs: {error_text(error)}")


def _creation(ui: Ui) -> Html:
    return html(
        '<h2>Create a topic</h2><form method="post" action="topics"><input type="hidden" name="token" value="{}">{}'
        '<label>Name<input name="name" required maxlength="249"></label>'
        '<label>Partitions<input name="partitions" inputmode="numeric" placeholder="broker\'s default"></label>'
        '<label>Replicas<input name="replicas" inputmode="numeric" placeholder="broker\'s default"></label>'
        "<button>Create</button></form>",
        ui.forms.token,
        ui.submissions.field(),
    )
