"""Consumer groups: how a subscription becomes partitions (`membership`), and committed offsets (`offsets`).

Layer 5: may import `kafka.cluster` and what lies below it. Everything here runs on one asyncio loop and waits for no
thread. Rebalance listeners belong to the caller's thread; `kafka.consumer` calls them.

Each way to get partitions is a `membership.Membership`. `classic` is the group protocol of JoinGroup, SyncGroup and
Heartbeat; `ungrouped` is a subscription without a group.
"""
