"""`HeartbeatTask` and `HeartbeatThread`: what programs of 1.0, and of 1.4 to 2.x, steer heartbeats with.

Heartbeats go out on the client's loop, so neither sends any itself.
"""

from __future__ import annotations

import threading

from kafka.legacy.coordinator.status import MemberStatus


class HeartbeatTask:
    """Starts and stops the heartbeats of a coordinator (1.0)."""

    def __init__(self, coordinator: MemberStatus) -> None:
        self._coordinator = coordinator

    def disable(self) -> None:
        """Send no heartbeats."""
        self._coordinator._member.stop_heartbeats()

    def reset(self) -> None:
        """Count the session from now, and send heartbeats if the group is joined."""
        self()

    def __call__(self) -> None:
        """Send heartbeats if the group is joined."""
        if not self._coordinator.need_rejoin():
            self._coordinator._member.start_heartbeats()


class HeartbeatThread(threading.Thread):
    """Starts and stops the heartbeats of a coordinator (1.4 to 2.x); the thread itself only waits for `close`.

    Attributes:
        enabled: whether heartbeats are sent.
    """

    def __init__(self, coordinator: MemberStatus) -> None:
        super().__init__(name=f"{coordinator.group_id}-heartbeat", daemon=True)
        self.coordinator = coordinator
        self.enabled = False
        self._closing = threading.Event()

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._closing.is_set()

    @property
    def failed(self) -> Exception | None:
        """What ended the heartbeats, until `poll_heartbeat` raises it."""
        return self.coordinator._member.failure

    def enable(self) -> None:
        """Send heartbeats."""
        self.enabled = True
        self.coordinator._member.start_heartbeats()

    def disable(self) -> None:
        """Send none."""
        self.enabled = False
        self.coordinator._member.stop_heartbeats()

    def close(self, timeout_ms: float | None = None) -> None:
        """Send none, and end the thread if it was started."""
        self.disable()
        self._closing.set()
        if self.is_alive() and threading.current_thread() is not self:
            limit_ms = self.coordinator.config["heartbeat_interval_ms"] if timeout_ms is None else timeout_ms
            self.join(limit_ms / 1000)

    def run(self) -> None:
        """Wait for `close`."""
        self._closing.wait()
