"""The classic group protocol: JoinGroup, SyncGroup, Heartbeat and LeaveGroup, with assignors on the client side."""
