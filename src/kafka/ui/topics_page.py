"""The topic pages: all topics with sizes and rates; one topic with its partitions, settings and rate over time."""

from collections.abc import Sequence

from kafka.admin import ConfigResource
from kafka.display.page_elements import Html, count, facts, html, joined, link, rate, size, table
from kafka.errors import KafkaError, error_text
from kafka.ui.charts import chart, sparkline
from kafka.ui.page_frame import live_address, live_page, trouble
from kafka.ui.shared_state import Ui
from kafka.ui.snapshot import Snapshot, TopicState
from kafka.ui.tables import Column, Hiding, Table

TITLE = "Topics"
_PARTITIONS = ("partition", "leader", "replicas", "in sync", "first offset", "next offset", "offsets", "size")


async def topics_page(ui: Ui) -> Html:
    """Return the page that lists all topics."""
    await ui.poller.snapshot()
    still = _creation(ui) if ui.may_write else Html("")
    return live_page(ui, TITLE, "/", topics_part(ui), live_address("topics"), still)


def topics_part(ui: Ui) -> Html:
    """Return the live part of the page that lists all topics."""
    now = ui.poller.newest
    if now is None:
        return trouble(ui.poller.trouble)
    return joined([_standing(ui, now), _table(ui).html(now.topics.values())])


def _table(ui: Ui) -> Table[TopicState]:
    """Return the table of all topics."""
    columns: Sequence[Column[TopicState]] = (
        Column[TopicState]("topic", lambda each: _name(each), lambda each: each.name),
        Column("partitions", lambda each: len(each.partitions), lambda each: len(each.partitions), is_number=True),
        Column("offsets", lambda each: count(each.offsets), lambda each: each.offsets, is_number=True),
        Column("size", lambda each: size(each.size), lambda each: each.size, is_number=True),
        Column(
            "rate",
            lambda each: rate(_newest_rate(ui, each.name), " records/s"),
            lambda each: _newest_rate(ui, each.name),
            is_number=True,
        ),
        Column(
            "last hour",
            lambda each: sparkline(f"rate of {each.name}", list(ui.poller.history.rates.get(each.name, ()))),
        ),
    )
    hiding = (
        Hiding[TopicState]("internal", "internal topics", lambda each: each.internal),
        Hiding[TopicState]("empty", "empty topics", lambda each: each.offsets == 0, is_hidden=False),
    )
    return Table("Topics", columns, lambda each: each.name, hiding, sort="topic", empty="There are no topics yet.")


def _name(topic: TopicState) -> Html:
    name = link(topic.name, "/topic", name=topic.name)
    return html('{} <span class="quiet">internal</span>', name) if topic.internal else name


def _standing(ui: Ui, now: Snapshot) -> Html:
    short = sum(each.short_of_replicas for each in now.topics.values())
    pairs = [
        ("cluster", now.cluster),
        ("brokers", ", ".join(f"{node}: {where}" for node, where in sorted(now.brokers.items()))),
        ("controller", now.controller),
        ("topics", len(now.topics)),
        ("under-replicated partitions", short),
    ]
    notes = joined(html('<p class="note">Unavailable: {}</p>', note) for note in now.notes)
    return joined([trouble(ui.poller.trouble), facts(pairs), notes])


def _newest_rate(ui: Ui, topic: str) -> float | None:
    rates = ui.poller.history.rates.get(topic)
    return rates[-1][1] if rates else None


async def topic_page(ui: Ui, name: str) -> Html | None:
    """Return the page for a topic; None if the topic does not exist."""
    now = await ui.poller.snapshot()
    if now is not None and name not in now.topics:
        return None
    still = html(
        "<h2>Messages</h2><p>{}</p><h2>Non-default configs</h2>{}",
        link("Browse and search messages", "/messages", topic=name),
        await _configs(ui, name) if now is not None and not ui.poller.trouble else "",  # the request would time out
    )
    return live_page(ui, name, "/", topic_part(ui, name), live_address("topic"), still)


def topic_part(ui: Ui, name: str) -> Html:
    """Return the live part of a topic's page."""
    now = ui.poller.newest
    if now is None or name not in now.topics:
        return trouble(ui.poller.trouble or f"topic {name!r} no longer exists")
    topic = now.topics[name]
    pairs = [
        ("partitions", len(topic.partitions)),
        ("offsets", count(topic.offsets)),
        ("size", size(topic.size)),
        ("rate", rate(_newest_rate(ui, name), " records/s")),
    ]
    picture = chart("Rate", {name: list(ui.poller.history.rates.get(name, ()))}, "records/s")
    return joined(
        [
            trouble(ui.poller.trouble),
            facts(pairs),
            picture,
            html("<h2>Partitions</h2>"),
            _partitions(topic),
            _groups(now, name),
        ]
    )


def _partitions(topic: TopicState) -> Html:
    rows = [
        [
            link(each.number, "/messages", topic=topic.name, partition=each.number),
            each.leader if each.leader >= 0 else "none",
            ", ".join(map(str, each.replicas)),
            ", ".join(map(str, each.isr)),
            count(each.first),
            count(each.end),
            count(each.offsets),
            size(each.size),
        ]
        for each in topic.partitions
    ]
    return table(_PARTITIONS, rows, _PARTITIONS[4:], "Partitions")


def _groups(now: Snapshot, name: str) -> Html:
    rows = [
        [link(each.name, "/group", id=each.name), each.state, count(lags[name])]
        for each in now.groups.values()
        if name in (lags := each.lag_by_topic())
    ]
    return html("<h2>Groups</h2>{}", table(("group", "state", "lag"), rows, ("lag",), "Groups"))


async def _configs(ui: Ui, name: str) -> Html:
    """Return a table of the topic's own settings. Sensitive values are never shown, even if the cluster sends them."""
    try:
        found = await ui.admin.describe_configs([ConfigResource("TOPIC", name)])
        entries = found["topic"][name]
    except KafkaError as error:
        return trouble(error_text(error))
    rows = [
        [config, html('<span class="quiet">not shown</span>') if each["is_sensitive"] else each["value"]]
        for config, each in sorted(entries.items())
    ]
    return table(("config", "value"), rows, (), "Configs")


def _creation(ui: Ui) -> Html:
    return html(
        '<h2>Create a topic</h2><form method="post" action="topics"><input type="hidden" name="token" value="{}">'
        '<label>Name<input name="name" required maxlength="249"></label>'
        '<label>Partitions<input name="partitions" inputmode="numeric" placeholder="broker\'s default"></label>'
        '<label>Replicas<input name="replicas" inputmode="numeric" placeholder="broker\'s default"></label>'
        "<button>Create</button></form>",
        ui.forms.token,
    )
