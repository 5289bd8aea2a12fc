"""How a subscription becomes partitions (`membership`), and the offsets that a group commits (`offsets`).

Layer 5: may import `kafka.cluster` and what lies below it. Nothing here waits for a thread: everything runs on one
asyncio loop, and what belongs to the user's thread (rebalance callbacks) is left to `kafka.consumer`.

Each way to get partitions is a `membership.Membership`: `classic` is the group of JoinGroup, SyncGroup and Heartbeat,
`ungrouped` a subscription without a group.
"""
