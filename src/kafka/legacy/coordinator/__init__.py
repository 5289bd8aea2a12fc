"""`kafka.coordinator` of 1.0 to 2.x: base classes for group members that the caller drives.

Responsibilities:

- The group's coordinator: `kafka.cluster` looks it up for all requests, and `coordinator_link` stores the coordinator
  as last seen by the program.
- Credentials, state and heartbeats: `group_member.Member`. It uses the heartbeats of today's consumer
  (`kafka.coordinator.classic.heartbeat`). Heartbeats and requests to leave the group are sent on the client's loop, so
  a program that polls rarely stays a member. `heartbeat_times.Heartbeat`, `HeartbeatTask` and `HeartbeatThread` observe
  and control the heartbeats.
- Joining: `base_coordinator.BaseCoordinator`, in the caller's thread. Today's `JoinRound` cannot be used: it supports
  only the protocol "consumer", and its assignors run on the loop. The hooks of a subclass must run in the thread that
  calls `ensure_active_group`, where they may poll the client themselves.
- Committed offsets: today's `GroupOffsets`, on the loop. `offset_commits` waits for it, and contains `AutoCommitTask`.
- Subscription, assignment and positions: the program's `SubscriptionState` (`kafka.legacy.subscription_state`).

Requests are messages of `kafka.wire`, in the newest version that the broker supports.
"""
