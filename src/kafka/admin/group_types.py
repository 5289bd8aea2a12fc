"""What groups are, and who shall leave them."""

from enum import Enum
from typing import NamedTuple

from kafka.admin.enum_names import EnumHelper


class GroupState(EnumHelper, str, Enum):  # noqa: UP042  # its text is kafka-python's
    """The states of a group (KIP-518, KIP-848, KIP-932, KIP-1071)."""

    UNKNOWN = "Unknown"
    PREPARING_REBALANCE = "PreparingRebalance"
    COMPLETING_REBALANCE = "CompletingRebalance"
    STABLE = "Stable"
    DEAD = "Dead"
    EMPTY = "Empty"
    ASSIGNING = "Assigning"
    RECONCILING = "Reconciling"
    NOT_READY = "NotReady"


class GroupType(EnumHelper, str, Enum):  # noqa: UP042  # its text is kafka-python's
    """The protocols of groups (KIP-848, KIP-932, KIP-1071)."""

    UNKNOWN = "Unknown"
    CLASSIC = "classic"
    CONSUMER = "consumer"
    SHARE = "share"
    STREAMS = "streams"


class MemberToRemove(NamedTuple):
    """A member that shall leave its group.

    Arguments:
        member_id: of a dynamic member, as the coordinator named it.
        group_instance_id: of a static member (KIP-345, Kafka 2.3).
        reason: for the broker's log (KIP-800, Kafka 3.2).
    """

    member_id: str | None = None
    group_instance_id: str | None = None
    reason: str | None = None
