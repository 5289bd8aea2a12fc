"""The topics that belong to a broker itself.

Apache Kafka keeps offsets and transactions in them. This broker keeps those in files of its own, and names the topics
for who looks for them; a transaction's partitions name the one with a group's offsets.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple


class InternalTopic(NamedTuple):
    """One of them."""

    name: str
    partitions: int
    configs: Mapping[str, str]


_KEPT: Final = {"cleanup.policy": "compact", "segment.bytes": "104857600"}
CONSUMER_OFFSETS: Final = InternalTopic("__consumer_offsets", 50, {**_KEPT, "compression.type": "producer"})
TRANSACTION_STATE: Final = InternalTopic(
    "__transaction_state",
    50,
    {
        **_KEPT,
        "compression.type": "uncompressed",
        "min.insync.replicas": "1",
        "unclean.leader.election.enable": "false",
    },
)
INTERNAL_TOPICS: Final[Mapping[str, InternalTopic]] = {one.name: one for one in (CONSUMER_OFFSETS, TRANSACTION_STATE)}


def offsets_partition(group_id: str) -> int:
    """The partition of `CONSUMER_OFFSETS` that has a group's offsets: by the hash that Java gives a string."""
    code = 0
    units = group_id.encode("utf-16-be", "surrogatepass")
    for high, low in zip(units[::2], units[1::2], strict=True):
        code = (31 * code + (high << 8 | low)) & 0xFFFFFFFF
    signed = code - (1 << 32) if code >= 1 << 31 else code
    # As Java's `abs`, but 0 for the one number that has no positive counterpart.
    return (0 if signed == -(1 << 31) else abs(signed)) % CONSUMER_OFFSETS.partitions
