"""Small values and structs that the old modules had in addition to their messages."""

from __future__ import annotations

from enum import IntEnum
from typing import Any, NamedTuple

from kafka.legacy.protocol.layouts import schema_of
from kafka.legacy.protocol.struct import Struct
from kafka.legacy.protocol.types import Int16, Schema

DEFAULT_GENERATION_ID = -1
UNKNOWN_MEMBER_ID = ""
UNKNOWN_OFFSET = -1


def _behind_version(message: str) -> Schema:
    """The fields of the first version of a message, with the version before them."""
    fields = schema_of(message, 0)
    return Schema(("version", Int16), *zip(fields.names, fields.fields, strict=True))


class ProtocolMetadata(Struct):
    """What a member tells when it joins."""

    SCHEMA = _behind_version("ConsumerProtocolSubscription")


class MemberAssignment(Struct):
    """What the leader assigns to a member."""

    SCHEMA = _behind_version("ConsumerProtocolAssignment")


class GroupMember(NamedTuple):
    """A member of a group, as the leader is told of it."""

    member_id: str | None = None
    group_instance_id: str | None = None
    metadata_bytes: bytes | None = None


class OffsetResetStrategy:
    """Where to start reading, as the timestamp that asks for it."""

    LATEST = -1
    EARLIEST = -2
    NONE = 0


class AbortedTransaction(NamedTuple):
    """A transaction that was aborted, in an answer to Fetch."""

    producer_id: int
    first_offset: int


class ElectionType(IntEnum):
    """Which replica becomes leader."""

    PREFERRED = 0
    UNCLEAN = 1


BESIDE: dict[str, dict[str, Any]] = {
    "admin": {"ElectionType": ElectionType},
    "fetch": {"AbortedTransaction": AbortedTransaction},
    "group": {
        "DEFAULT_GENERATION_ID": DEFAULT_GENERATION_ID,
        "UNKNOWN_MEMBER_ID": UNKNOWN_MEMBER_ID,
        "GroupMember": GroupMember,
        "MemberAssignment": MemberAssignment,
        "ProtocolMetadata": ProtocolMetadata,
    },
    "list_offsets": {"OffsetResetStrategy": OffsetResetStrategy, "UNKNOWN_OFFSET": UNKNOWN_OFFSET},
    "offset": {"OffsetResetStrategy": OffsetResetStrategy, "UNKNOWN_OFFSET": UNKNOWN_OFFSET},
}
"""By module, the values that it had in addition to its messages."""
