"""`kafka.coordinator` of 1.0 to 2.x: a member of a group as a class to derive from, driven by the caller.

Who owns what:

- which broker coordinates the group: `kafka.cluster`, for all requests; `link` remembers what the program was told;
- credentials, state and heartbeats: `member.Member`. Heartbeats are those of today's consumer
  (`kafka.coordinator.classic.heartbeat`), on the client's loop, so that a program lives on that polls rarely; so is
  leaving. `timing.Heartbeat`, `HeartbeatTask` and `HeartbeatThread` look at them and steer them;
- joining: `base.BaseCoordinator`, in the caller's thread. Today's `JoinRound` cannot carry it: it knows the
  protocol "consumer" only, and its assignors run on the loop, while the hooks of a derived class belong to the thread
  that calls `ensure_active_group`, where they may poll the client themselves;
- committed offsets: today's `GroupOffsets`, on the loop; `offset_calls` waits for them. When positions are committed by
  themselves: `auto_commit.AutoCommitTask`;
- what is subscribed to, assigned and read: the program's `SubscriptionState` (`kafka.legacy.subscription`).

Requests are those of `kafka.wire`, in the newest version that the broker knows.
"""
