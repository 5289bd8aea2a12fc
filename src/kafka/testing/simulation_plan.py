"""The parameters of a simulation, all drawn from its seed."""

import enum
import random
from dataclasses import dataclass, field
from typing import Any

from kafka._compression import Compression
from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor


class CommitMode(enum.Enum):
    """The way in which a group member commits offsets."""

    AUTOMATIC = "by itself, from time to time and when it gives partitions up"
    SYNC = "by commit(), after records and when it gives partitions up"
    ASYNC = "by commit_async(), after records"


class GroupProtocol(enum.Enum):
    """The rebalance protocol of a group's members."""

    EAGER = "classic, with the assignors of every consumer"
    COOPERATIVE = "classic, with `CooperativeStickyAssignor` (KIP-429)"
    CONSUMER = "that of KIP-848"


@dataclass(frozen=True)
class MemberPlan:
    """A group member: its commit mode, and its consumer's options."""

    commits: CommitMode
    options: dict[str, Any]

    @classmethod
    def draw(cls, rng: random.Random, protocol: GroupProtocol) -> "MemberPlan":
        """Draw the plan of a member that uses this protocol."""
        commits = rng.choice((CommitMode.AUTOMATIC, CommitMode.AUTOMATIC, CommitMode.SYNC, CommitMode.ASYNC))
        options = {
            "auto_offset_reset": "earliest",
            "enable_auto_commit": commits is CommitMode.AUTOMATIC,
            "auto_commit_interval_ms": rng.choice((200, 5_000)),
            "max_poll_records": rng.choice((1, 10, 500)),
            "fetch_max_wait_ms": rng.choice((50, 500)),
            "request_timeout_ms": 15_000,
        }
        session_timeout_ms = rng.choice((6_000, 10_000))
        if protocol is GroupProtocol.CONSUMER:
            options |= {"group_protocol": "consumer", "group_remote_assignor": rng.choice((None, "uniform", "range"))}
        else:
            options |= {"session_timeout_ms": session_timeout_ms, "heartbeat_interval_ms": 2_000}
        if protocol is GroupProtocol.COOPERATIVE:
            options["partition_assignment_strategy"] = [CooperativeStickyAssignor]
        return cls(commits, options)


@dataclass(frozen=True)
class ProducerPlan:
    """A producer: its number of records, and its options."""

    records: int
    options: dict[str, Any]

    @classmethod
    def draw(cls, rng: random.Random) -> "ProducerPlan":
        """Draw the plan of a producer."""
        options = {
            "linger_ms": rng.choice((0, 5, 100)),
            "batch_size": rng.choice((200, 16_384)),
            "compression_type": rng.choice((None, *(each.option for each in Compression))),
            "delivery_timeout_ms": rng.choice((20_000, 120_000)),
            "request_timeout_ms": rng.choice((5_000, 10_000)),
            "max_in_flight_requests_per_connection": rng.choice((1, 5)),
        }
        return cls(rng.randrange(20, 200), options)


@dataclass(frozen=True)
class TransactionPlan:
    """A transactional producer: its number of transactions, and its options."""

    transactions: int
    options: dict[str, Any]

    @classmethod
    def draw(cls, rng: random.Random) -> "TransactionPlan":
        """Draw the plan of a transactional producer."""
        options = {
            **ProducerPlan.draw(rng).options,
            "transaction_timeout_ms": rng.choice((5_000, 60_000)),
            "max_block_ms": rng.choice((3_000, 60_000)),
        }
        return cls(rng.randrange(5, 30), options)


@dataclass(frozen=True)
class ShareMemberPlan:
    """A member of a share group: its consumer's options."""

    options: dict[str, Any]

    @classmethod
    def draw(cls, rng: random.Random) -> "ShareMemberPlan":
        """Draw the plan of a member of a share group."""
        return cls(
            {
                "share_acknowledgement_mode": rng.choice(("implicit", "explicit")),
                "share_acquire_mode": rng.choice(("batch_optimized", "record_limit")),
                "max_poll_records": rng.choice((1, 10, 500)),
                "fetch_max_wait_ms": rng.choice((50, 500)),
                "request_timeout_ms": 15_000,
            }
        )


@dataclass(frozen=True)
class Plan:
    """The parameters of a simulation.

    Attributes:
        topics: pairs of a name and a partition count.
        producers, groups: the producers, and the members of each group.
        transactions: the transactional producers.
        shares: the members of each share group.
        trouble_s: the duration of the failures, in seconds.
        segment_bytes: see `Network`.
        broker: the settings of the brokers.
    """

    topics: list[tuple[str, int]]
    producers: list[ProducerPlan]
    groups: list[list[MemberPlan]]
    transactions: list[TransactionPlan]
    shares: list[list[ShareMemberPlan]]
    trouble_s: float
    segment_bytes: int
    broker: dict[str, object] = field(default_factory=dict)

    @classmethod
    def draw(cls, rng: random.Random) -> "Plan":
        """Draw all parameters."""
        return cls(
            producers=[ProducerPlan.draw(rng) for _ in range(rng.randrange(1, 4))],
            groups=[_draw_group(rng) for _ in range(rng.randrange(1, 3))],
            topics=[(f"topic-{number}", rng.randrange(1, 5)) for number in range(rng.randrange(1, 3))],
            trouble_s=rng.choice((0.0, 30.0, 120.0)),
            segment_bytes=rng.choice((0, 0, 7, 1_000)),
            broker={
                "fsync": rng.random() < 0.3,
                "transaction_version": rng.choice((1, 2, 2)),
                "consumer_heartbeat_interval_ms": 2_000,
                "consumer_session_timeout_ms": 10_000,
            },
            transactions=[TransactionPlan.draw(rng) for _ in range(rng.choice((0, 0, 1, 2)))],
            shares=[_draw_share_group(rng) for _ in range(rng.choice((0, 0, 1, 2)))],
        )


def _draw_group(rng: random.Random) -> list[MemberPlan]:
    protocol = rng.choice(tuple(GroupProtocol))
    return [MemberPlan.draw(rng, protocol) for _ in range(rng.randrange(1, 4))]


def _draw_share_group(rng: random.Random) -> list[ShareMemberPlan]:
    return [ShareMemberPlan.draw(rng) for _ in range(rng.randrange(1, 4))]
