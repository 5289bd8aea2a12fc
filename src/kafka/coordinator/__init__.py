"""Consumer groups: how a subscription becomes partitions (`membership`), and `committed_offsets`.

Layer 5: may import `kafka.cluster` and what lies below it. Everything here runs on one asyncio loop and waits for no
thread. Rebalance listeners belong to the caller's thread; `kafka.consumer` calls them.

Each way to get partitions is a `membership.Membership`. `classic` is the group protocol of JoinGroup, SyncGroup and
Heartbeat; `ungrouped` is a subscription without a group.
"""

from typing import Any

from kafka import _old_names


def __getattr__(name: str) -> Any:
    """Load a submodule when it is requested (PEP 562): kafka-python's are available with the package."""
    return _old_names.of_a_package(__name__, name, {})
