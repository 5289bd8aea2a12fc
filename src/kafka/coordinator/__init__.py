"""Group membership: joining, heartbeats, assignors, and the offsets that a group commits.

Layer 5: may import `kafka.cluster` and what lies below it. Nothing here waits for a thread: everything runs on one
asyncio loop, and what belongs to the user's thread (rebalance callbacks) is left to `kafka.consumer`.
"""
