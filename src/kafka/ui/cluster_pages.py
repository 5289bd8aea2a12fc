"""The pages for the cluster: its health with the reasons, its brokers, and one broker with its configs and logs."""

import dataclasses
from collections.abc import Mapping
from typing import Any, NamedTuple

from kafka.display.page_elements import UNKNOWN, Html, count, facts, html, joined, link, size
from kafka.display.time_axis import duration_text
from kafka.errors import for_code
from kafka.ui.asked import asked
from kafka.ui.config_table import config_table, read_configs
from kafka.ui.health import health_of, missing_brokers
from kafka.ui.page_frame import live_address, live_page, not_yet, sentence, trouble
from kafka.ui.quorum import Quorum, QuorumNode
from kafka.ui.shared_state import Ui
from kafka.ui.snapshot import BrokerState, PartitionState, Snapshot
from kafka.ui.states import state
from kafka.ui.tables import Column, Columns, Table


class _Place(NamedTuple):
    topic: str
    partition: PartitionState


@dataclasses.dataclass(frozen=True, slots=True)
class _Load:
    """A broker with the numbers of its partitions.

    Arguments:
        leaders: the number of partitions that it leads.
        preferred: the number of partitions that it should lead, because it is their first replica.
    """

    broker: BrokerState
    leaders: int
    preferred: int
    replicas: int
    out_of_sync: int


async def health_page(ui: Ui) -> Html:
    """Return the page for the health of the cluster."""
    await ui.poller.snapshot()
    return live_page(ui, "Cluster health", "/health", health_part(ui), live_address(ui, "health"))


def health_part(ui: Ui) -> Html:
    """Return the live part of the page for the health of the cluster."""
    now, found = ui.poller.newest, health_of(ui.poller.newest, ui.poller.trouble)
    reasons = joined(html("<li>{}</li>", sentence(each.text)) for each in found.reasons)
    parts = [
        html('<p class="verdict">{}</p>', state(found.level, found.word.capitalize())),
        html('<ul class="reasons">{}</ul>', reasons) if reasons else Html(""),
    ]
    if now is None:
        return joined(parts)
    places = [_Place(topic.name, each) for topic in now.topics.values() for each in topic.partitions]
    short = [each for each in places if each.partition.is_offline or each.partition.is_under_replicated]
    offline = sum(each.partition.is_offline for each in short)
    pairs = [
        ("brokers", link(len(now.brokers), "/brokers")),
        ("controller", _controller(now)),
        ("topics", link(count(len(now.topics)), "/")),
        ("partitions", count(len(places))),
        ("offline", count(offline)),
        ("under-replicated", count(sum(each.partition.is_under_replicated for each in short))),
    ]
    notes = joined(html('<p class="note">Unavailable: {}</p>', note) for note in now.notes)
    heading = html("<h2>Offline and under-replicated partitions</h2>")
    quorum = html('<p class="quiet">{}</p>', now.quorum) if isinstance(now.quorum, str) else _quorum_table(now.quorum)
    table = _short_table().html(short)
    return joined([*parts, facts(pairs), notes, heading, table, html("<h2>Metadata quorum</h2>{}", quorum)])


def _short_table() -> Table[_Place]:
    columns: Columns[_Place] = (
        Column("topic", lambda each: link(each.topic, "/topic", name=each.topic), _key),
        Column("partition", lambda each: each.partition.number, _key, is_number=True),
        Column("state", _partition_state, lambda each: not each.partition.is_offline),
        Column("leader", lambda each: each.partition.leader if not each.partition.is_offline else "none"),
        Column("replicas", lambda each: ", ".join(map(str, each.partition.replicas))),
        Column("in sync", lambda each: ", ".join(map(str, each.partition.isr)) or "none"),
    )
    empty = "All partitions have a leader, and all replicas are in sync."
    return Table("Offline and under-replicated partitions", columns, lambda each: each.topic, sort="state", empty=empty)


def _key(place: _Place) -> tuple[str, int]:
    return place.topic, place.partition.number


def _partition_state(place: _Place) -> Html:
    return state("bad", "Offline") if place.partition.is_offline else state("warn", "Under-replicated")


def _quorum_table(quorum: Quorum) -> Html:
    def lag(node: QuorumNode) -> int | None:
        """Return how many records a node has not read; None if the leader has not heard from the node."""
        return None if node.end is None else max(0, quorum.end - node.end)

    def silent(node: QuorumNode) -> str:
        is_known = node.silent_s is not None and node.role != "Leader"
        return f"{duration_text(node.silent_s or 0.0)} ago" if is_known else UNKNOWN

    columns: Columns[QuorumNode] = (
        Column("node", lambda each: each.node, lambda each: each.node),
        Column("role", lambda each: each.role, lambda each: each.role),
        Column("log end offset", lambda each: count(each.end), lambda each: each.end, is_number=True),
        Column("lag", lambda each: count(lag(each)), lag, is_number=True),
        Column("last fetch", silent, lambda each: each.silent_s, is_number=True, is_wide=True),
    )
    leader = quorum.leader if quorum.leader >= 0 else "none"
    pairs = [("leader", leader), ("epoch", quorum.epoch), ("high watermark", count(quorum.end))]
    table = Table("Metadata quorum", columns, lambda each: f"{each.node} {each.role}", sort="node", prefix="quorum.")
    return joined([facts(pairs), table.html(quorum.nodes)])


async def brokers_page(ui: Ui) -> Html:
    """Return the page that lists the brokers."""
    await ui.poller.snapshot()
    features = await asked(ui, "The cluster does not describe its features", lambda: _features(ui), is_optional=True)
    still = html("<h2>Features</h2>{}", features) if not ui.poller.trouble else Html("")
    return live_page(ui, "Brokers", "/brokers", brokers_part(ui), live_address(ui, "brokers"), still)


def brokers_part(ui: Ui) -> Html:
    """Return the live part of the page that lists the brokers."""
    now = ui.poller.newest
    if now is None:
        return not_yet(ui)
    missing = joined(trouble(each.text) for each in missing_brokers(now))
    pairs = [("brokers", count(len(now.brokers))), ("controller", _controller(now))]
    return joined([trouble(ui.poller.trouble), facts(pairs), missing, _broker_table(now).html(_loads(now))])


def _controller(now: Snapshot) -> str:
    """Return the node id of the controller. With KRaft, it may be a node of its own, which is not a broker."""
    if now.controller < 0:
        return "none"
    return str(now.controller) if now.controller in now.brokers else f"{now.controller} (not a broker)"


def _loads(now: Snapshot) -> list[_Load]:
    parts = [each for topic in now.topics.values() for each in topic.partitions]
    return [
        _Load(
            broker,
            leaders=sum(each.leader == node for each in parts),
            preferred=sum(each.replicas[:1] == (node,) for each in parts),
            replicas=sum(node in each.replicas for each in parts),
            out_of_sync=sum(node in each.replicas and node not in each.isr for each in parts),
        )
        for node, broker in now.brokers.items()
    ]


def _broker_link(load: _Load) -> Html:
    return link(load.broker.node, "/broker", id=load.broker.node)


def _broker_table(now: Snapshot) -> Table[_Load]:
    def role(each: _Load) -> Html:
        is_controller = each.broker.node == now.controller
        return html("broker{}", html(" {}", state("good", "controller")) if is_controller else "")

    columns: Columns[_Load] = (
        Column("broker", _broker_link, lambda each: each.broker.node),
        Column("address", lambda each: each.broker.address, lambda each: each.broker.address),
        Column("rack", lambda each: each.broker.rack or UNKNOWN, lambda each: each.broker.rack),
        Column("role", role),
        Column("leaders", lambda each: count(each.leaders), lambda each: each.leaders, is_number=True,
               note="Partitions that it leads"),
        Column("preferred leaders", lambda each: count(each.preferred), lambda each: each.preferred, is_number=True,
               note="Partitions whose first replica it has"),
        Column("replicas", lambda each: count(each.replicas), lambda each: each.replicas, is_number=True),
        Column("out of sync", lambda each: count(each.out_of_sync), lambda each: each.out_of_sync, is_number=True),
    )  # fmt: skip
    return Table("Brokers", columns, lambda each: f"{each.broker.node} {each.broker.address}", sort="broker")


async def _features(ui: Ui) -> Html:
    """Describe the versions of the cluster's features, which determine what clients can use (KIP-584)."""
    found = await ui.admin.describe_features()
    columns: Columns[tuple[str, Mapping[str, Any]]] = (
        Column("feature", lambda each: each[0], lambda each: each[0]),
        Column("level", lambda each: each[1]["finalized"][1] if each[1].get("finalized") else "off", is_number=True),
        Column("supported levels", lambda each: _levels(each[1].get("supported")), is_number=True, is_wide=True),
    )
    table = Table("Features", columns, lambda each: each[0], sort="feature", prefix="features.")
    return table.html(sorted(found.items()))


def _levels(pair: Any) -> str:
    return " to ".join(str(each) for each in dict.fromkeys(pair)) if pair else UNKNOWN


async def broker_page(ui: Ui, given: Mapping[str, str]) -> Html | None:
    """Return the page for a broker; None if it does not exist. Raises `ValueError` if its id is not a number."""
    text = given.get("id", "")
    if not text.isascii() or not text.isdecimal() or len(text) > 10:
        raise ValueError(f"expected the id of a broker, which is a number, got {text!r:.60}")
    now = await ui.poller.snapshot()
    if now is None:
        return live_page(ui, f"Broker {text}", "/brokers", not_yet(ui), live_address(ui, "broker"))
    if int(text) not in now.brokers:
        return None
    still = await _broker_details(ui, int(text))
    return live_page(ui, f"Broker {text}", "/brokers", broker_part(ui, text), live_address(ui, "broker"), still)


def broker_part(ui: Ui, text: str) -> Html:
    """Return the live part of the page for a broker."""
    now = ui.poller.newest
    loads = _loads(now) if now is not None else []
    load = next((each for each in loads if str(each.broker.node) == text), None)
    if load is None or now is None:
        return trouble(ui.poller.trouble or f"broker {text} is not running")
    pairs = [
        ("address", load.broker.address),
        ("rack", load.broker.rack or UNKNOWN),
        ("controller", "yes" if load.broker.node == now.controller else "no"),
        ("leaders", count(load.leaders)),
        ("replicas", count(load.replicas)),
        ("out of sync", count(load.out_of_sync)),
    ]
    return joined([trouble(ui.poller.trouble), facts(pairs)])


async def _broker_details(ui: Ui, node: int) -> Html:
    """Return the log directories and configs of a broker."""

    async def read_logs() -> Html:
        return _log_table().html(await _logs(ui, node))

    async def configs_of() -> Html:
        return config_table(await read_configs(ui, "BROKER", str(node)))

    logs = await asked(ui, "The broker does not describe its log directories", read_logs)
    configs = await asked(ui, "The broker does not describe its configs", configs_of)
    return html("<h2>Log directories</h2>{}<h2>Configs</h2>{}", logs, configs)


async def _logs(ui: Ui, node: int) -> list[Mapping[str, Any]]:
    found: Any = await ui.admin.describe_log_dirs(brokers=[node])
    return [
        {**folder, "size": sum(each["partition_size"] for topic in folder["topics"] for each in topic["partitions"]),
         "replicas": sum(len(topic["partitions"]) for topic in folder["topics"])}
        for broker in found for folder in broker.get("log_dirs", ())
    ]  # fmt: skip


def _log_state(folder: Mapping[str, Any]) -> Html:
    code = folder["error_code"]
    return state("bad", "Failed", for_code(code).__name__) if code else state("good", "Online")


def _log_table() -> Table[Mapping[str, Any]]:
    def known(value: Any) -> str:
        return size(value) if value is not None and value >= 0 else UNKNOWN

    columns: Columns[Mapping[str, Any]] = (
        Column("directory", lambda each: each["log_dir"], lambda each: each["log_dir"]),
        Column("state", _log_state, lambda each: not each["error_code"]),
        Column("replicas", lambda each: count(each["replicas"]), is_number=True),
        Column("size", lambda each: size(each["size"]), lambda each: each["size"], is_number=True),
        Column("free", lambda each: known(each.get("usable_bytes")), is_number=True, note="On its file system"),
        Column("total", lambda each: known(each.get("total_bytes")), is_number=True, note="Size of its file system"),
    )
    return Table("Log directories", columns, lambda each: str(each["log_dir"]), sort="directory", prefix="logs.")
