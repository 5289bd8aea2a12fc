"""Tables of topics and groups as described by admin clients."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from kafka.display.html_tables import table, titled, value
from kafka.display.markup import Html

_TOPIC = ("topic", "partitions", "replicas", "without a leader", "out of sync", "internal", "error code")
_PARTITION = ("partition", "leader", "replicas", "in sync", "offline")
_GROUP = ("group", "state", "type", "assignor", "members", "error")
_MEMBER = ("member", "client", "host", "assigned")


def topics(described: Sequence[Mapping[str, Any]]) -> Html:
    """Return a table of topics; for a single topic also its partitions.

    Arguments:
        described: the result of `describe_topics`.
    """
    parts = [table(_TOPIC, map(_topic, described), len(described))]
    if len(described) == 1:
        of_one = described[0]["partitions"]
        parts.append(table(_PARTITION, map(_partition, of_one), len(of_one)))
    return titled(f"{len(described):,} topic(s)", *parts)


def groups(described: Collection[Any]) -> Html:
    """Return a table of groups; for a single group also its members.

    Arguments:
        described: dicts as returned by `describe_groups` and `list_groups`, or named tuples.
    """
    parts = [table(_GROUP, map(_group, described), len(described))]
    if len(described) == 1:
        members = _named(next(iter(described))).get("members") or ()
        parts += [table(_MEMBER, map(_member, members), len(members))] if members else []
    return titled(f"{len(described):,} group(s)", *parts)


def _topic(topic: Mapping[str, Any]) -> list[object]:
    partitions = topic["partitions"]
    return [
        topic["name"] or topic["topic_id"],
        len(partitions),
        max((len(each["replicas"]) for each in partitions), default=0),
        sum(each["leader"] < 0 for each in partitions),
        sum(len(each["isr"]) < len(each["replicas"]) for each in partitions),
        "yes" if topic["is_internal"] else "",
        topic["error_code"] or "",
    ]


def _partition(partition: Mapping[str, Any]) -> list[object]:
    lists = (partition[name] for name in ("replicas", "isr", "offline_replicas"))
    return [partition["partition"], partition["leader"], *(", ".join(map(str, each or ())) for each in lists)]


def _group(given: Any) -> list[object]:
    group = _named(given)
    members = group.get("members")
    return [
        _first(group, "group_id", "group"),
        _first(group, "group_state", "state"),
        _first(group, "protocol_type", "group_type"),
        _first(group, "protocol_data", "protocol", "assignor_name"),
        None if members is None else len(members),
        _first(group, "error", "error_code"),
    ]


def _member(given: Any) -> list[object]:
    member = _named(given)
    return [member.get("member_id"), member.get("client_id"), member.get("client_host"), _assigned(member)]


def _assigned(member: Mapping[str, Any]) -> str:
    """Return topics with their partitions, from any form of a member's assignment."""
    given = _first(member, "member_assignment", "assignment")
    if given is None:
        return ""
    try:
        form = _named(given)
        pairs = [_pair(each) for each in _first(form, "assigned_partitions", "topic_partitions", "assignment") or ()]
    except (AttributeError, KeyError, TypeError, ValueError):  # an application's own protocol
        return value(given)
    return "; ".join(f"{topic}: {', '.join(map(str, partitions))}" for topic, partitions in pairs)


def _pair(given: Any) -> tuple[object, list[object]]:
    if isinstance(given, Mapping):
        return _first(given, "topic", "topic_name"), list(given["partitions"])
    topic, partitions = given
    return topic, list(partitions)


def _named(given: Any) -> Mapping[str, Any]:
    """Return a dict unchanged, a named tuple as a dict."""
    if isinstance(given, Mapping):
        return given
    named: dict[str, Any] = given._asdict()
    return named


def _first(found: Mapping[str, Any], *names: str) -> Any:
    """Return the value of the first name that exists."""
    return next((found[name] for name in names if found.get(name)), None)
