"""Consumer groups: the assignment of partitions to members (`membership`), and their committed offsets.

Layer 5: may import `kafka.cluster` and the layers below it. Everything here runs on one asyncio loop and never blocks.
Rebalance listeners run in the caller's thread; `kafka.consumer` calls them.

Each way to get partitions is a `membership.Membership`: `classic` implements the classic group protocol (JoinGroup,
SyncGroup and Heartbeat), `consumer_group` implements the KIP-848 protocol, and `ungrouped` handles subscriptions
without a group. To add an assignor, see `assignors`.
"""

from typing import Any

from kafka import _old_names


def __getattr__(name: str) -> Any:
    """Load a submodule on first access (PEP 562). In kafka-python, importing the package imports its submodules."""
    return _old_names.of_a_package(__name__, name, {})
