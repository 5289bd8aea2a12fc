"""The file that stores groups of the type "consumer" (KIP-848). Each entry is a group's whole state, or its removal.

As with Kafka's topic __consumer_offsets, members, epochs and assignments survive a broker restart: members continue
without rejoining, and no epoch is used again.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from kafka.broker.groups.consumer_group import Basis, ConsumerGroup, ConsumerMember, TopicPartition
from kafka.broker.log.entry_file import EntryFile

_SMALLEST_REWRITE: Final = 1024 * 1024


class ConsumerGroupJournal:
    """The journal of consumer groups in `path`. With `sync` each change is synced before the response is sent."""

    def __init__(self, path: Path, sync: bool) -> None:
        self._file = EntryFile(path, sync, "group")
        self._written: dict[str, str] = {}
        """The last written state of each existing group."""

    def load(self) -> dict[str, ConsumerGroup]:
        """Open the file and return its groups. Must be called once, before other methods."""
        kept: dict[str, Any] = {}
        for entry in self._file.load():
            if entry["kept"] is None:
                kept.pop(entry["group"], None)
            else:
                kept[entry["group"]] = entry["kept"]
        self._written = {group_id: json.dumps(one) for group_id, one in kept.items()}
        self._file.replace_if_damaged(_entries(kept))
        return {group_id: _group(one) for group_id, one in kept.items()}

    def store(self, group_id: str, group: ConsumerGroup | None) -> None:
        """Write a group's state if it has changed, or the removal of a group that is no longer of this type (None).

        Raises OSError. If a state cannot be written now, it is written with the next change.
        """
        kept = None if group is None else _kept(group)
        text = None if kept is None else json.dumps(kept)
        if text == self._written.get(group_id):
            return
        self._file.append({"group": group_id, "kept": kept})
        if text is None:
            del self._written[group_id]
        else:
            self._written[group_id] = text
        if self._file.is_wasteful(_SMALLEST_REWRITE):
            self._file.rewrite(_entries({name: json.loads(one) for name, one in self._written.items()}))

    def discard_unsynced(self) -> None:
        """Discard data that a machine failure could lose. Do not use the journal afterwards."""
        self._file.discard_unsynced()

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _entries(kept: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for group_id, one in kept.items():
        yield {"group": group_id, "kept": one}


def _kept(group: ConsumerGroup) -> dict[str, Any]:
    basis = group.basis
    return {
        "epoch": group.epoch,
        "target_epoch": group.target_epoch,
        "assignor": group.assignor,
        "members": [_kept_member(one) for one in group.members.values()],
        "targets": {name: _rows(target) for name, target in group.targets.items()},
        "basis": basis
        and {
            "subscriptions": {name: [sorted(topics), regex] for name, (topics, regex) in basis.subscriptions.items()},
            "counts": {str(topic_id): count for topic_id, count in basis.counts.items()},
            "assignor": basis.assignor,
        },
    }


def _kept_member(member: ConsumerMember) -> dict[str, Any]:
    return {
        "member_id": member.member_id,
        "instance_id": member.instance_id,
        "client_id": member.client_id,
        "client_host": member.client_host,
        "rack_id": member.rack_id,
        "topics": sorted(member.topics),
        "regex": member.regex,
        "server_assignor": member.server_assignor,
        "rebalance_timeout_ms": member.rebalance_timeout_ms,
        "epoch": member.epoch,
        "previous_epoch": member.previous_epoch,
        "assigned": _rows(member.assigned),
        "revoking": _rows(member.revoking),
        "waits": member.waits,
    }


def _rows(partitions: Iterable[TopicPartition]) -> list[list[Any]]:
    return sorted([str(topic_id), number] for topic_id, number in partitions)


def _partitions(rows: Iterable[list[Any]]) -> set[TopicPartition]:
    return {(UUID(topic_id), number) for topic_id, number in rows}


def _group(kept: Mapping[str, Any]) -> ConsumerGroup:
    group = ConsumerGroup()
    group.epoch, group.target_epoch, group.assignor = kept["epoch"], kept["target_epoch"], kept["assignor"]
    group.members = {each["member_id"]: _member(each) for each in kept["members"]}
    group.targets = {name: _partitions(rows) for name, rows in kept["targets"].items()}
    basis = kept["basis"]
    if basis is not None:
        group.basis = Basis(
            {name: (frozenset(topics), regex) for name, (topics, regex) in basis["subscriptions"].items()},
            {UUID(topic_id): count for topic_id, count in basis["counts"].items()},
            basis["assignor"],
        )
    return group


def _member(kept: Mapping[str, Any]) -> ConsumerMember:
    sets = {name: _partitions(kept[name]) for name in ("assigned", "revoking")}
    return ConsumerMember(**{**kept, **sets, "topics": frozenset(kept["topics"])})
