"""Changes of topics and groups for operators: configs, partitions, deleting records, topics and groups.

Each function prepares a `Change`: it checks the fields of a form, and has the cluster validate the change if Kafka can.
"""

from collections.abc import Mapping
from typing import Any

from kafka.admin import ConfigResource, OffsetSpec
from kafka.display.page_elements import Html, count, facts, html, joined, link, table
from kafka.errors import KafkaError
from kafka.structs import TopicPartition
from kafka.ui.changes import Change, first_step
from kafka.ui.config_table import read_configs
from kafka.ui.shared_state import Ui
from kafka.ui.snapshot import Need, TopicState

_MOST_PARTITIONS = 100_000


def change_forms(ui: Ui, topic: TopicState) -> Html:
    """Return the forms for changing a topic; internal topics have none but that of their configs."""
    name = topic.name
    config = html(
        '<label>Config<input name="config" required autocomplete="off" placeholder="retention.ms"></label>'
        '<label>New value<input name="value" autocomplete="off" placeholder="empty: the default"></label>'
    )
    parts = [first_step(ui, "/change-config", name, config, "Preview the config")]
    if not topic.internal:
        partitions = html('<label>Partitions<input name="partitions" inputmode="numeric" required></label>')
        before = html(
            '<label>Delete records before<input name="before" required placeholder="1234, latest, 2d"></label>'
            '<label>Partition<input name="partition" inputmode="numeric" placeholder="all"></label>'
        )
        parts += [
            first_step(ui, "/add-partitions", name, partitions, "Preview more partitions"),
            first_step(ui, "/delete-records", name, before, "Preview what is deleted"),
            first_step(ui, "/delete-topic", name, Html(""), "Delete the topic"),
        ]
    note = html('<p class="quiet">The next page shows what would change before anything does.</p>')
    return html("<h2>Change the topic</h2>{}{}", note, joined(parts))


async def change_config(ui: Ui, given: Mapping[str, str]) -> Change:
    """Prepare to set a config of a topic, or to return it to its default."""
    name, config, value = given.get("name", ""), given.get("config", "").strip(), given.get("value", "").strip()
    known = {each.name: each for each in await read_configs(ui, "TOPIC", name)}
    if config not in known:
        raise ValueError(f"expected the name of a topic config, such as retention.ms, got {config!r:.60}")
    resource = ConfigResource("TOPIC", name, {config: value} if value else [config])
    alter = ui.admin.alter_configs if value else ui.admin.reset_configs
    await alter([resource], validate_only=True, incremental=True)
    before = known[config]
    if given.get("confirmed") == "yes" and given.get("before", before.value or "") != (before.value or ""):
        raise ValueError(f"{config} was changed to {before.value!r:.60} after the preview: go back to the topic")
    rows = [[config, f"{before.value} ({before.source})", value or "the default"]]
    return Change(
        f"Change {config} of {name}",
        {"topic": name, "config": config, "value": value or None},
        table(("config", "now", "new value"), rows, (), "Configs"),
        lambda: alter([resource], incremental=True),
        html("{} of {} was changed.", config, _topic(name)),
        {"config": config, "value": value, "before": before.value or ""},
    )


async def add_partitions(ui: Ui, given: Mapping[str, str]) -> Change:
    """Prepare to add partitions to a topic."""
    topic = await _own(ui, given)
    total = _number("partitions", given.get("partitions", ""), _MOST_PARTITIONS)
    await ui.admin.create_partitions({topic.name: total}, validate_only=True)
    preview = html(
        "{}<p>Records of a key may go to another partition than before, so that their order is lost, and partitions "
        "cannot be removed.</p>",
        facts([("partitions now", len(topic.partitions)), ("then", total)]),
    )
    return Change(
        f"Add partitions to {topic.name}",
        {"topic": topic.name, "partitions": total},
        preview,
        lambda: ui.admin.create_partitions({topic.name: total}),
        html("{} has {} partitions.", _topic(topic.name), total),
        {"partitions": str(total), "topic_id": topic.topic_id},
    )


async def delete_records(ui: Ui, given: Mapping[str, str]) -> Change:
    """Prepare to delete records before an offset or time. The form that confirms it has the offsets of the preview."""
    topic = await _own(ui, given)
    if given.get("confirmed") == "yes":
        kept = offsets_of(topic.name, given.get("offsets", ""))
    else:
        kept = await _first_kept(ui, topic, given)
    first = await _list_offsets(ui, dict.fromkeys(kept, OffsetSpec.EARLIEST))
    rows = [
        [tp.partition, count(first[tp]), count(offset), count(max(0, offset - first[tp]))]
        for tp, offset in sorted(kept.items())
    ]
    titles = ("partition", "first offset", "then", "deleted offsets")
    preview = html(
        "{}<p>Deleted records cannot be restored. Groups that have not read them miss them.</p>",
        table(titles, rows, titles[1:], "Deleted records"),
    )
    offsets = {tp: offset for tp, offset in kept.items() if offset > first[tp]}
    if not offsets:
        raise ValueError("there are no records before this position")
    return Change(
        f"Delete records of {topic.name}",
        {"topic": topic.name, "before": {str(tp.partition): offset for tp, offset in offsets.items()}},
        preview,
        lambda: ui.admin.delete_records(offsets),
        html("The records of {} were deleted.", _topic(topic.name)),
        {"offsets": offsets_field(offsets), "topic_id": topic.topic_id},
        typed=topic.name,
    )


async def delete_topic(ui: Ui, given: Mapping[str, str]) -> Change:
    """Prepare to delete a topic."""
    topic = await _own(ui, given)
    now = await ui.poller.detail(Need(topics=frozenset((topic.name,))))
    topic = now.topics.get(topic.name, topic) if now is not None else topic
    groups = now.groups.values() if now is not None else ()
    readers = sorted(each.name for each in groups if any(tp.topic == topic.name for tp in each.committed))
    pairs = [
        ("partitions", len(topic.partitions)),
        ("offsets", count(topic.offsets)),
        ("groups that read it", ", ".join(readers) or "none known"),
    ]
    return Change(
        f"Delete topic {topic.name}",
        {"topic": topic.name},
        html("{}<p>Its records cannot be restored.</p>", facts(pairs)),
        lambda: ui.admin.delete_topics([topic.name]),
        html("<p>Topic {} was deleted. {}</p>", topic.name, link("All topics", "/")),
        {"topic_id": topic.topic_id},
        typed=topic.name,
    )


async def delete_group(ui: Ui, given: Mapping[str, str]) -> Change:
    """Prepare to delete a group with its offsets."""
    name = given.get("name", "")
    now = await ui.poller.refreshed()
    group = now.groups.get(name) if now is not None else None
    if group is None:
        raise ValueError(f"there is no group {name!r:.300}")
    if group.state not in ("Empty", "Dead"):
        raise ValueError(f"group {name!r:.300} is {group.state}: stop its members first")

    async def apply() -> None:
        (told,) = (await ui.admin.delete_groups([name])).values()
        if told != "OK":
            raise KafkaError(f"the group was not deleted: {told}")

    pairs = [("state", group.state), ("partitions", len(group.committed)), ("lag", count(group.lag))]
    return Change(
        f"Delete group {name}",
        {"group": name},
        html("{}<p>Its committed offsets cannot be restored.</p>", facts(pairs)),
        apply,
        html("<p>Group {} was deleted. {}</p>", name, link("All groups", "/groups")),
        typed=name.strip() if name.isprintable() else "",
    )


async def _own(ui: Ui, given: Mapping[str, str]) -> TopicState:
    """Return the topic of a form.

    Raises `ValueError` if it does not exist, is one of Kafka's own, or is not the one of the preview.
    """
    name = given.get("name", "")
    now = await ui.poller.refreshed()
    if now is None or name not in now.topics:
        raise ValueError(f"there is no topic {name!r:.300}")
    if now.topics[name].internal:
        raise ValueError(f"topic {name} is internal: other programs depend on it, so only commands change it")
    previewed = given.get("topic_id", "") if given.get("confirmed") == "yes" else ""
    if previewed:  # ask the cluster, because the snapshot may be older if the cluster is slow
        (described,) = await ui.admin.describe_topics([name])
        if described["error_code"] or described.get("topic_id", "") != previewed:
            raise ValueError(f"topic {name} was deleted, or created again, after the preview: go back to the topic")
    return now.topics[name]


async def _first_kept(ui: Ui, topic: TopicState, given: Mapping[str, str]) -> dict[TopicPartition, int]:
    """Return the first offset to keep in each partition."""
    numbers = [each.number for each in topic.partitions]
    if given.get("partition", "").strip():
        wanted = _number("partition", given["partition"], 2**31 - 1)
        if wanted not in numbers:
            raise ValueError(f"expected a partition of {topic.name} (0 to {len(numbers) - 1}), got {wanted}")
        numbers = [wanted]
    places = [TopicPartition(topic.name, number) for number in numbers]
    ends = await _list_offsets(ui, dict.fromkeys(places, OffsetSpec.LATEST))
    position: Any = ui.settings.parse_position(given.get("before", "").strip())
    if position == "latest":
        return ends
    if position == "earliest":
        raise ValueError("there are no records before the earliest one")
    if isinstance(position, int):
        return {tp: min(position, end) for tp, end in ends.items()}
    found = await _list_offsets(ui, dict.fromkeys(places, _milliseconds(position)))
    return {tp: ends[tp] if offset < 0 else offset for tp, offset in found.items()}


def _milliseconds(position: Any) -> int:
    import datetime

    if isinstance(position, datetime.timedelta):
        position = datetime.datetime.now(datetime.UTC) - position
    return int(position.timestamp() * 1000)


def offsets_field(offsets: Mapping[TopicPartition, int]) -> str:
    """Return the offsets of a preview as text, for the form that confirms it."""
    return " ".join(f"{tp.partition}:{offset}" for tp, offset in sorted(offsets.items()))


def offsets_of(topic: str, text: str) -> dict[TopicPartition, int]:
    """Parse the offsets of a preview. Raises `ValueError` if the form has none, for example because it is forged."""
    try:
        pairs = [each.split(":") for each in text.split()]
        found = {TopicPartition(topic, int(number)): int(offset) for number, offset in pairs}
    except ValueError:
        found = {}
    if not found or any(tp.partition < 0 or offset < 0 for tp, offset in found.items()):
        raise ValueError("the form has no valid offsets: go back, and begin again with the preview")
    return found


async def _list_offsets(ui: Ui, specs: Mapping[TopicPartition, Any]) -> dict[TopicPartition, int]:
    found = await ui.admin.list_partition_offsets(specs)
    return {tp: each.offset for tp, each in found.items()}


def _number(field: str, text: str, most: int) -> int:
    text = text.strip()
    if not text.isascii() or not text.isdecimal() or len(text) > 10 or int(text) > most:
        raise ValueError(f"expected a number of {field} up to {most:,}, got {text!r:.60}")
    return int(text)


def _topic(name: str) -> Html:
    return link(name, "/topic", name=name)
