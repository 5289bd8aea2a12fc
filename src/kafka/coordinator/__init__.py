"""Consumer groups: how a subscription becomes partitions (`membership`), and `committed_offsets`.

Layer 5: may import `kafka.cluster` and the layers below it. Everything here runs on one asyncio loop and never blocks.
Rebalance listeners run in the caller's thread; `kafka.consumer` calls them.

Each way to get partitions is a `membership.Membership`: `classic` implements the group protocol of JoinGroup, SyncGroup
and Heartbeat, `consumer_group` that of KIP-848, and `ungrouped` a subscription without a group. To add an assignor, see
`assignors`.
"""

from typing import Any

from kafka import _old_names


def __getattr__(name: str) -> Any:
    """Load a submodule on first access (PEP 562): in kafka-python, submodules are available with the package."""
    return _old_names.of_a_package(__name__, name, {})
