"""A group's committed offsets and lag, by partition."""

from typing import TYPE_CHECKING, Any

from kafka.admin import OffsetSpec
from kafka.config.option import nearest
from kafka.errors import GroupIdNotFoundError, KafkaError
from kafka.spark.exactly_once.decision import is_decision
from kafka.structs import TopicPartition

if TYPE_CHECKING:
    from kafka.admin import KafkaAdminClient


def kind_of(admin: "KafkaAdminClient", group: str) -> str:
    """Return the type of a group: "classic", "consumer", "share" or "streams"; "classic" if brokers do not report it.

    Raises `GroupIdNotFoundError`.
    """
    listed = admin.list_groups()
    for each in listed:
        if each["group_id"] == group:
            return str(each.get("group_type") or "classic").lower()
    hint = nearest(group, [str(each["group_id"]) for each in listed]) or "; see 'kafka groups list'"
    raise GroupIdNotFoundError(f"there is no group {group!r}{hint}")


def described(admin: "KafkaAdminClient", group: str, kind: str) -> dict[str, Any]:
    """Return the state, protocol and members of a group, in the same format for all group types."""
    if kind == "share":
        found = admin.describe_share_groups([group])[group]
    elif kind == "streams":
        found = admin.describe_streams_groups([group])[group]
    else:
        found = admin.describe_groups([group])[group]
    members = [
        {
            "member": each["member_id"],
            "instance": each.get("group_instance_id") or each.get("instance_id"),
            "client": each["client_id"],
            "host": each["client_host"].lstrip("/"),
            "partitions": sorted(_assigned(each)),
        }
        for each in found["members"]
    ]
    return {
        "group": group,
        "type": kind,
        "state": found["group_state"],
        "assignor": found.get("protocol_data") or found.get("assignor_name"),
        "members": members,
    }


def _assigned(member: dict[str, Any]) -> list[str]:
    """Return the partitions assigned to a member, in a group with any protocol."""
    assignment = member.get("member_assignment") or member.get("assignment") or {}
    if not isinstance(assignment, dict):
        return []
    topics = assignment.get("assigned_partitions") or assignment.get("topic_partitions") or []
    return [
        f"{each.get('topic') or each.get('topic_name')}:{number}" for each in topics for number in each["partitions"]
    ]


def standing(admin: "KafkaAdminClient", group: str, kind: str) -> list[dict[str, Any]]:
    """Return a row for each partition with a committed offset: committed offset, latest offset, lag and reader.

    The group in which Spark's sink stores its commit decisions has no lag: its offsets are batch numbers.
    """
    owners = {name: each for each in described(admin, group, kind)["members"] for name in each["partitions"]}
    decisions: set[TopicPartition] = set()
    if kind == "share":
        starts = admin.list_share_group_offsets([group])[group]
        offsets = {tp: each.start_offset for tp, each in starts.items()}
    else:
        committed = admin.list_group_offsets([group])[group]
        offsets = {tp: each.offset for tp, each in committed.items()}
        decisions = {tp for tp, each in committed.items() if is_decision(group, each.metadata)}
    ends = (
        admin.list_partition_offsets(dict.fromkeys(offsets, OffsetSpec.LATEST), raise_errors=False) if offsets else {}
    )
    rows = []
    for tp in sorted(offsets):
        end = None if isinstance(ends[tp], KafkaError) else ends[tp].offset
        offset = offsets[tp] if offsets[tp] >= 0 else None
        lag = None if end is None or offset is None or tp in decisions else max(0, end - offset)
        owner = owners.get(f"{tp.topic}:{tp.partition}", {})
        rows.append(
            {
                "group": group,
                "topic": tp.topic,
                "partition": tp.partition,
                "committed": offset,
                "latest": end,
                "lag": lag,
                "client": owner.get("client"),
                "host": owner.get("host"),
                "member": owner.get("member"),
            }
        )
    return rows


def names(partitions: "list[TopicPartition]") -> str:
    """Format partitions as text."""
    return ", ".join(f"{tp.topic}:{tp.partition}" for tp in partitions)
