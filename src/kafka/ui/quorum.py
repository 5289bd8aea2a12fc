"""The metadata quorum: the controllers that store the cluster's metadata (KRaft), and how far each has read it.

Its leader is the cluster's controller. A client that describes the cluster learns of another one: with KRaft, brokers
answer with any live broker (KIP-590).
"""

import asyncio
import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from kafka.errors import KafkaError, UnsupportedVersionError, error_text

if TYPE_CHECKING:
    from kafka.admin import AsyncKafkaAdminClient

_PATIENCE_S = 5.0
"""Seconds within which the leader has to answer. A quorum without a majority has none."""


class QuorumNode(NamedTuple):
    """A node that reads the metadata log.

    Arguments:
        role: "Leader", "Voter" or "Observer".
        end: the end of its log; None if the leader has not heard from the node.
        silent_s: seconds since the leader heard from the node; None if unknown.
    """

    node: int
    role: str
    end: int | None
    silent_s: float | None


@dataclasses.dataclass(frozen=True, slots=True)
class Quorum:
    """The metadata quorum.

    Arguments:
        leader: the node id of the controller; -1 if there is none.
        end: the high watermark of the metadata log.
    """

    leader: int
    epoch: int
    end: int
    nodes: tuple[QuorumNode, ...]


async def read_quorum(admin: "AsyncKafkaAdminClient") -> Quorum | str:
    """Return the metadata quorum, or why it is not known."""
    try:
        async with asyncio.timeout(_PATIENCE_S):
            described = await admin.describe_metadata_quorum()
    except UnsupportedVersionError:
        return "These brokers do not describe their quorum; Apache Kafka 3.3 and later does."
    except TimeoutError:
        return f"The cluster did not describe its quorum within {_PATIENCE_S:g} s."
    except KafkaError as error:
        return f"The cluster does not describe its quorum: {error_text(error)}"
    partitions = described["topics"][0]["partitions"]
    problem = partitions[0].get("error") if partitions else "the response contains no partition"
    return f"The cluster does not describe its quorum: {problem}" if problem else _quorum(partitions[0])


def _quorum(partition: Mapping[str, Any]) -> Quorum:
    leader, voters, observers = partition["leader_id"], partition["current_voters"], partition["observers"]
    now_ms = max((each.get("last_fetch_timestamp", -1) for each in (*voters, *observers)), default=-1)

    def node(described: Mapping[str, Any], role: str) -> QuorumNode:
        end, fetched_ms = described["log_end_offset"], described.get("last_fetch_timestamp", -1)
        silent_s = (now_ms - fetched_ms) / 1000 if fetched_ms >= 0 else None
        return QuorumNode(described["replica_id"], role, end if end >= 0 else None, silent_s)

    return Quorum(
        leader,
        partition["leader_epoch"],
        partition["high_watermark"],
        (
            *(node(each, "Leader" if each["replica_id"] == leader else "Voter") for each in voters),
            *(node(each, "Observer") for each in observers),
        ),
    )
