"""`kafka.coordinator` of 1.0 to 2.x: a member of a group as a class to derive from, driven by the caller.

Who owns what:

- which broker coordinates the group: `kafka.cluster`, for all requests; `coordinator_link` remembers what the program
  was told;
- credentials, state and heartbeats: `group_member.Member`. The heartbeats are those of today's consumer
  (`kafka.coordinator.classic.heartbeat`) and run on the client's loop, so that a program that polls rarely stays a
  member; so does leaving. `heartbeat_times.Heartbeat`, `HeartbeatTask` and `HeartbeatThread` observe and control them;
- joining: `base_coordinator.BaseCoordinator`, in the caller's thread. Today's `JoinRound` does not fit: it supports
  only the protocol "consumer", and its assignors run on the loop, while the hooks of a derived class belong to the
  thread that calls `ensure_active_group`, where they may poll the client themselves;
- committed offsets: today's `GroupOffsets`, on the loop; `offset_commits` waits for them, and has the `AutoCommitTask`;
- what is subscribed, assigned and read: the program's `SubscriptionState` (`kafka.legacy.subscription_state`).

Requests are those of `kafka.wire`, in the newest version that the broker supports.
"""
